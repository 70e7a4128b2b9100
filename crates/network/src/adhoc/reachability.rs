//! Reception probabilities between stations, and the shortest routes.

use crate::Packet;
use crate::dot11::{Channel, LEAST_SUCCESS};
use crate::routing::Node;

/// Quality of the links between stations at their current positions.
#[derive(Debug)]
pub(super) struct Reachability {
    nodes: usize,
    /// Probability that a full packet is received without interference, by sender and receiver.
    success: Vec<f64>,
    /// Signal-to-noise ratio in dB, by sender and receiver.
    snr_db: Vec<f64>,
}

impl Reachability {
    pub(super) fn of<P: Packet>(channel: &Channel<P>) -> Self {
        let nodes = channel.stations();
        let pairs = || (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let of_pair = |value: &dyn Fn(usize, usize) -> f64| {
            pairs().map(|(from, to)| if from == to { 0.0 } else { value(from, to) }).collect()
        };
        Reachability {
            nodes,
            success: of_pair(&|from, to| channel.success(from, to)),
            snr_db: of_pair(&|from, to| channel.snr_db(from, to)),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn success(&self, from: usize, to: usize) -> f64 {
        self.success[from * self.nodes + to]
    }

    pub(super) fn snr_db(&self, from: usize, to: usize) -> f64 {
        self.snr_db[from * self.nodes + to]
    }

    /// For each node the next neighbour on the shortest route to one of `targets`, and the length
    /// of that route: the sum of the transmissions that each link takes on average (ETX, De Couto
    /// et al. 2003, without collisions).
    pub(super) fn shortest_routes(&self, targets: &[usize]) -> Vec<(Option<Node>, f64)> {
        let nodes = self.nodes;
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
                let (there, back) = (self.success(node, near), self.success(near, node));
                let length = all[near].1 + 1.0 / (there * back);
                if there.min(back) >= LEAST_SUCCESS && length < all[node].1 {
                    all[node] = (Some(near as Node), length);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(nodes: usize, success: impl Fn(usize, usize) -> f64) -> Reachability {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let success: Vec<f64> = pairs.map(|(from, to)| success(from, to)).collect();
        Reachability { nodes, snr_db: success.clone(), success }
    }

    #[test]
    fn two_good_hops_are_shorter_than_a_bad_one() {
        let good = |a: usize, b: usize| if a.abs_diff(b) == 1 { 1.0 } else { 0.65 };
        let all = reach(3, good).shortest_routes(&[2]);
        assert_eq!(all[0], (Some(1), 2.0));
        assert_eq!(all[2], (None, 0.0));
        let apart = reach(3, |a, b| f64::from(u8::from(a + b == 3))).shortest_routes(&[2]);
        assert_eq!((apart[0].0, apart[1].0), (None, Some(2)));
        assert!(apart[0].1.is_infinite());
    }
}
