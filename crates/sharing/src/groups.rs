//! Groups of paths from confidences of pairs.

use alloc::vec::Vec;

/// The groups of `paths` paths: for each path the first path of its group.
///
/// The two groups whose pairs have the highest mean confidence are merged, as long as that is at
/// least a half (average linkage, Sokal and Michener 1958). So a pair that is wrong is outvoted,
/// and a path of which nothing is known joins one group and does not merge two.
pub fn groups(paths: usize, confidence: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut of: Vec<usize> = (0..paths).collect();
    let mean = |of: &[usize], first: usize, second: usize| {
        let members = |group: usize| (0..paths).filter(move |&path| of[path] == group);
        let (mut sum, mut pairs) = (0.0, 0.0);
        for a in members(first) {
            for b in members(second) {
                (sum, pairs) = (sum + confidence(a, b), pairs + 1.0);
            }
        }
        if pairs > 0.0 { sum / pairs } else { 0.0 }
    };
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for first in (0..paths).filter(|&path| of[path] == path) {
            for second in (first + 1..paths).filter(|&path| of[path] == path) {
                let found = mean(&of, first, second);
                if found >= 0.5 && best.is_none_or(|(most, ..)| found > most) {
                    best = Some((found, first, second));
                }
            }
        }
        let Some((_, first, second)) = best else { return of };
        of.iter_mut().filter(|group| **group == second).for_each(|group| *group = first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wrong_pair_is_outvoted_and_an_unknown_path_merges_no_groups() {
        let wrong = |a, b| if (a, b) == (0, 1) { 0.1 } else { 0.9 };
        assert_eq!(groups(4, wrong), [0; 4]);
        let apart = |a, b| if a == 2 || b == 2 { 0.5 } else { 0.0 };
        assert_eq!(groups(3, apart), [0, 1, 0]);
        assert_eq!(groups(3, |_, _| 0.5), [0; 3]);
        assert!(groups(0, |_, _| 0.5).is_empty());
    }

    proptest! {
        #[test]
        fn every_group_is_named_by_its_first_path(
            table in prop::collection::vec(0.0..1.0_f64, 64),
            paths in 0_usize..8,
        ) {
            let found = groups(paths, |a, b| table[a.min(b) * 8 + a.max(b)]);
            prop_assert_eq!(found.len(), paths);
            for (path, group) in found.iter().enumerate() {
                prop_assert!(*group <= path && found[*group] == *group);
            }
        }
    }
}
