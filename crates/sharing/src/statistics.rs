//! The correlation of two series with gaps, and what can be said of it.

/// Φ, the distribution function of the normal distribution.
pub(crate) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
}

/// Fisher's transformation, under which estimates of a correlation have the standard deviation
/// `1/√(n − 3)`, whatever the correlation is (Fisher 1915).
pub(crate) fn fisher(correlation: f64) -> f64 {
    let bounded = correlation.clamp(-0.9999, 0.9999);
    0.5 * libm::log((1.0 + bounded) / (1.0 - bounded))
}

/// Pearson's correlation, and of how many pairs; `None` where a series does not vary.
pub(crate) fn correlation<'a>(
    pairs: impl Iterator<Item = (&'a f64, &'a f64)>,
) -> Option<(f64, f64)> {
    let (mut n, mut x, mut y) = (0.0, 0.0, 0.0);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs.filter(|(a, b)| !a.is_nan() && !b.is_nan()) {
        n += 1.0;
        (x, y) = (x + a, y + b);
        (xx, yy, xy) = (xx + a * a, yy + b * b, xy + a * b);
    }
    let (vx, vy) = (n * xx - x * x, n * yy - y * y);
    // Rounding of sums leaves that much of a series that does not vary.
    let varies = vx > 1e-12 * n * xx && vy > 1e-12 * n * yy;
    varies.then(|| (((n * xy - x * y) / libm::sqrt(vx * vy)).clamp(-1.0, 1.0), n))
}

/// The correlation of a series with itself one place later; zero if it does not vary.
pub(crate) fn persistence(series: &[f64]) -> f64 {
    let later = series.get(1..).unwrap_or_default();
    correlation(series.iter().zip(later)).map_or(0.0, |(own, _)| own.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_and_fishers_transformation_have_their_known_values() {
        assert!((normal(0.0) - 0.5).abs() < 1e-15 && (normal(1.96) - 0.975).abs() < 1e-4);
        assert!((fisher(0.5) - 0.5493).abs() < 1e-4 && fisher(1.0).is_finite());
    }

    #[test]
    fn gaps_are_left_out_of_a_correlation_and_a_constant_series_has_none() {
        let (a, b) = ([1.0, f64::NAN, 2.0, 3.0, 4.0], [2.0, 9.0, 4.0, f64::NAN, 8.0]);
        let (found, n) = correlation(a.iter().zip(&b)).expect("both vary");
        assert!((found - 1.0).abs() < 1e-12 && n == 3.0);
        assert_eq!(correlation([0.1; 9].iter().zip(&a)), None);
    }
}
