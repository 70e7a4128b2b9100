//! Krawczyk's operator: a fixed point of a box is close to where the drift, linear about the
//! middle, is zero; and there is one if all such places lie inside the box (Krawczyk, Computing 4,
//! 1969; Moore, SIAM J. Numer. Anal. 14, 1977).

use crate::branches::{About, Linear, minus, plus};
use crate::case::{Case, Kind};
use crate::contract::Excluded;
use crate::gradient::times;
use crate::linear::inverse;
use formula::Enclosure;

/// The approximate inverse of the drifts' derivatives by the windows that move.
pub(crate) struct Inverse {
    inverse: Vec<Vec<f64>>,
    /// The drifts, which are those of the paths that move.
    rows: Vec<usize>,
    variables: Vec<usize>,
}

impl Inverse {
    /// `None` if there is none, or the law jumps in the box.
    pub(crate) fn new(case: &Case, about: &About<'_>) -> Option<Self> {
        let [branch] = about.branches.as_slice() else {
            return None;
        };
        let rows: Vec<usize> = (0..case.free.len()).filter(|path| case.free[*path]).collect();
        let variable = |path: &usize| {
            let own = |kind: &Kind| *kind == Kind::Window(*path);
            case.kinds.iter().position(own)
        };
        let variables = rows.iter().map(variable).collect::<Option<Vec<usize>>>()?;
        let row = |path: &usize| {
            let slopes = &branch.drifts[*path].slopes;
            variables.iter().map(|variable| slopes[*variable].middle()).collect::<Vec<f64>>()
        };
        let matrix: Vec<Vec<f64>> = rows.iter().map(row).collect();
        Some(Inverse { inverse: inverse(&matrix)?, rows, variables })
    }

    fn drifts<'a>(&'a self, about: &'a About<'_>) -> impl Iterator<Item = &'a Linear> + Clone {
        self.rows.iter().map(|row| &about.branches[0].drifts[*row])
    }

    /// The windows that move, at any fixed point in the box. And whether they lie inside it, so
    /// that there is a fixed point for all round trips and losses of the box.
    pub(crate) fn krawczyk(
        &self,
        about: &About<'_>,
        bounds: &mut [Enclosure],
    ) -> Result<bool, Excluded> {
        let zero = Enclosure::point(0.0);
        let mut inside = !self.rows.is_empty();
        let mut found = Vec::new();
        for (line, variable) in self.inverse.iter().zip(&self.variables) {
            let weighted = |of: &dyn Fn(&Linear) -> Enclosure| {
                let parts = line.iter().zip(self.drifts(about));
                parts
                    .fold(zero, |sum, (y, drift)| plus(sum, times(Enclosure::point(*y), of(drift))))
            };
            let mut all =
                minus(Enclosure::point(about.middle[*variable]), weighted(&|drift| drift.middle));
            for (column, offset) in about.offsets.iter().enumerate() {
                let unit = Enclosure::point(if column == *variable { 1.0 } else { 0.0 });
                let slope = minus(unit, weighted(&|drift| drift.slopes[column]));
                all = plus(all, times(slope, *offset));
            }
            let bound = bounds[*variable];
            inside &= all.low() > bound.low() && all.high() < bound.high();
            found.push((*variable, bound.meet(all).ok_or(Excluded)?));
        }
        found.into_iter().for_each(|(variable, bound)| bounds[variable] = bound);
        Ok(inside)
    }

    /// Newton's step from the middle of the box: pairs of a variable and its new value.
    pub(crate) fn step(&self, about: &About<'_>) -> Vec<(usize, f64)> {
        let moved = |(line, variable): (&Vec<f64>, &usize)| {
            let parts = line.iter().zip(self.drifts(about));
            let step: f64 = parts.map(|(y, drift)| y * drift.middle.middle()).sum();
            (*variable, about.middle[*variable] - step)
        };
        self.inverse.iter().zip(&self.variables).map(moved).collect()
    }
}
