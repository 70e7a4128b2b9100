//! Reachability of stations at their present positions, and shortest routes.

use crate::Packet;
use crate::dot11::{Channel, LEAST_SUCCESS};
use crate::routing::Node;

/// The view that routing has of the stations' positions.
pub(super) trait Reachability {
    /// Number of nodes.
    fn nodes(&self) -> usize;

    /// Probability that a full packet is received without interference.
    fn success(&self, from: usize, to: usize) -> f64;

    /// Signal-to-noise ratio in dB.
    fn snr_db(&self, from: usize, to: usize) -> f64;
}

impl<P: Packet> Reachability for Channel<P> {
    fn nodes(&self) -> usize {
        self.stations()
    }

    fn success(&self, from: usize, to: usize) -> f64 {
        Channel::success(self, from, to)
    }

    fn snr_db(&self, from: usize, to: usize) -> f64 {
        Channel::snr_db(self, from, to)
    }
}

/// Whether two nodes have a link in both directions.
fn linked(reach: &dyn Reachability, one: usize, other: usize) -> bool {
    reach.success(one, other).min(reach.success(other, one)) >= LEAST_SUCCESS
}

/// For each node, the first of the nodes to which it has a route.
pub(super) fn components(reach: &dyn Reachability) -> Vec<usize> {
    let nodes = reach.nodes();
    let (mut component, mut open) = (vec![0; nodes], (0..nodes).collect::<Vec<_>>());
    while let Some(&first) = open.first() {
        let mut reached = vec![first];
        open.remove(0);
        while let Some(near) = reached.pop() {
            component[near] = first;
            open.retain(|node| {
                let found = linked(reach, near, *node);
                if found {
                    reached.push(*node);
                }
                !found
            });
        }
    }
    component
}

/// For each node, the next neighbour on the shortest route to one of several targets, and the
/// length of that route.
pub(super) type Table = Vec<(Option<Node>, f64)>;

/// The shortest routes to `targets`. The length of a route is the sum of the expected transmissions
/// on each link (ETX, De Couto et al. 2003, without collisions).
pub(super) fn shortest_routes(reach: &dyn Reachability, targets: &[usize]) -> Table {
    let nodes = reach.nodes();
    let mut all = vec![(None, f64::INFINITY); nodes];
    let mut open = vec![true; nodes];
    targets.iter().for_each(|target| all[*target].1 = 0.0);
    // Dijkstra on a dense graph: the nearest open node settles its neighbours.
    loop {
        let (mut nearest, mut least, mut most) = (None, f64::INFINITY, 0.0);
        for node in (0..nodes).filter(|node| open[*node]) {
            let length = all[node].1;
            most = if length > most { length } else { most };
            if length < least {
                (nearest, least) = (Some(node), length);
            }
        }
        // A further hop takes at least one transmission.
        let Some(near) = nearest.filter(|_| most > least + 1.0) else {
            return all;
        };
        open[near] = false;
        for node in (0..nodes).filter(|node| open[*node]) {
            if all[node].1 <= least + 1.0 {
                continue;
            }
            let (there, back) = (reach.success(node, near), reach.success(near, node));
            if there.min(back) < LEAST_SUCCESS {
                continue;
            }
            let length = least + 1.0 / (there * back);
            if length < all[node].1 {
                all[node] = (Some(near as Node), length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Given(usize, Vec<f64>);

    impl Reachability for Given {
        fn nodes(&self) -> usize {
            self.0
        }
        fn success(&self, from: usize, to: usize) -> f64 {
            self.1[from * self.0 + to]
        }
        fn snr_db(&self, from: usize, to: usize) -> f64 {
            self.success(from, to)
        }
    }

    fn reach(nodes: usize, success: impl Fn(usize, usize) -> f64) -> Given {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        Given(nodes, pairs.map(|(from, to)| success(from, to)).collect())
    }

    /// Dijkstra's search over every link, without an early end.
    fn whole_search(reach: &Given, targets: &[usize]) -> Vec<(Option<Node>, f64)> {
        let mut all = vec![(None, f64::INFINITY); reach.0];
        let mut open: Vec<usize> = (0..reach.0).collect();
        targets.iter().for_each(|target| all[*target].1 = 0.0);
        while let Some(near) =
            open.iter().copied().min_by(|one, other| all[*one].1.total_cmp(&all[*other].1))
        {
            open.retain(|node| *node != near);
            for node in open.iter().copied().filter(|node| linked(reach, *node, near)) {
                let both = reach.success(node, near) * reach.success(near, node);
                let length = all[near].1 + 1.0 / both;
                if length < all[node].1 {
                    all[node] = (Some(near as Node), length);
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn a_search_that_ends_early_finds_the_same_routes_and_components_have_them(
            nodes in 1usize..14,
            success in prop::collection::vec(prop_oneof![0.0..1.0f64, Just(1.0), Just(0.0)], 14 * 14),
            targets in prop::collection::vec(0usize..14, 1..3),
        ) {
            let reach = reach(nodes, |from, to| success[14 * from + to]);
            let targets: Vec<usize> = targets.into_iter().map(|target| target % nodes).collect();
            let routes = shortest_routes(&reach, &targets);
            prop_assert_eq!(&routes, &whole_search(&reach, &targets));
            let component = components(&reach);
            for node in 0..nodes {
                let connected = targets.iter().any(|target| component[*target] == component[node]);
                prop_assert_eq!(connected, routes[node].1.is_finite());
            }
        }
    }

    #[test]
    fn two_good_hops_are_shorter_than_a_bad_one() {
        let good = |a: usize, b: usize| if a.abs_diff(b) == 1 { 1.0 } else { 0.65 };
        let all = shortest_routes(&reach(3, good), &[2]);
        assert_eq!(all[0], (Some(1), 2.0));
        assert_eq!(all[2], (None, 0.0));
        let apart = reach(3, |a, b| f64::from(u8::from(a + b == 3)));
        assert_eq!(components(&apart), [0, 1, 1]);
        let apart = shortest_routes(&apart, &[2]);
        assert_eq!((apart[0].0, apart[1].0), (None, Some(2)));
        assert!(apart[0].1.is_infinite());
    }
}
