//! Small matrices of numbers.

/// The inverse of a square matrix by elimination; `None` if it has none, or nearly so.
pub(crate) fn inverse(rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let count = rows.len();
    let unit = |place: usize, row: usize| if place == row { 1.0 } else { 0.0 };
    let mut left = rows.to_vec();
    let mut right: Vec<Vec<f64>> =
        (0..count).map(|row| (0..count).map(|place| unit(place, row)).collect()).collect();
    for place in 0..count {
        let size = |row: &usize| left[*row][place].abs();
        let pivot = (place..count).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        left.swap(place, pivot);
        right.swap(place, pivot);
        let by = left[place][place];
        let row_size = left[place].iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        if by.is_nan() || by.abs() <= 1e-12 * row_size {
            return None;
        }
        for matrix in [&mut left, &mut right] {
            matrix[place].iter_mut().for_each(|one| *one /= by);
        }
        for row in (0..count).filter(|row| *row != place) {
            let factor = left[row][place];
            for matrix in [&mut left, &mut right] {
                let above = matrix[place].clone();
                matrix[row].iter_mut().zip(above).for_each(|(own, above)| *own -= factor * above);
            }
        }
    }
    right.iter().flatten().all(|one| one.is_finite()).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let rows = vec![vec![0.0, 2.0, 1.0], vec![1.0, 0.5, -1.0], vec![3.0, 0.0, 1.0]];
        let found = inverse(&rows).unwrap();
        for (i, row) in rows.iter().enumerate() {
            for (j, unit) in (0..3).map(|j| (j, if i == j { 1.0 } else { 0.0 })) {
                let sum: f64 = row.iter().zip(&found).map(|(one, line)| one * line[j]).sum();
                assert!((sum - unit).abs() < 1e-12);
            }
        }
        assert_eq!(inverse(&[vec![1.0, 2.0], vec![2.0, 4.0]]), None);
    }
}
