//! The shortest way as somebody knows it who sees everything at once.

use crate::routing::Node;

/// Links that fewer packets survive than this are none.
pub(super) const LEAST: f64 = 0.5;

/// For each node the neighbour that is next on the shortest way to one of `targets`, and how long that way is: the sum
/// of the transmissions that each link takes on average (ETX, De Couto et al. 2003, without collisions).
pub(super) fn towards(
    nodes: usize,
    targets: &[usize],
    success: impl Fn(usize, usize) -> f64,
) -> Vec<(Option<Node>, f64)> {
    let mut all = vec![(None, f64::INFINITY); nodes];
    let mut open = vec![true; nodes];
    targets.iter().for_each(|target| all[*target].1 = 0.0);
    // Dijkstra on a dense graph: the nearest open node settles its neighbours.
    while let Some(near) = (0..nodes)
        .filter(|node| open[*node] && all[*node].1 < f64::INFINITY)
        .min_by(|a, b| all[*a].1.total_cmp(&all[*b].1))
    {
        open[near] = false;
        for node in (0..nodes).filter(|node| open[*node]) {
            let (there, back) = (success(node, near), success(near, node));
            let length = all[near].1 + 1.0 / (there * back);
            if there.min(back) >= LEAST && length < all[node].1 {
                all[node] = (Some(near as Node), length);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_good_hops_are_shorter_than_a_bad_one() {
        let good = |a: usize, b: usize| if a.abs_diff(b) == 1 { 1.0 } else { 0.65 };
        let all = towards(3, &[2], good);
        assert_eq!(all[0], (Some(1), 2.0));
        assert_eq!(all[2], (None, 0.0));
        let apart = towards(3, &[2], |a, b| f64::from(u8::from(a + b == 3)));
        assert_eq!((apart[0].0, apart[1].0), (None, Some(2)));
        assert!(apart[0].1.is_infinite());
    }
}
