//! Selection of multipoint relays, MPRs (RFC 3626 §8.3.1).

use super::{WILL_ALWAYS, WILL_NEVER};
use crate::routing::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A symmetric neighbour: a member of N.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) node: Node,
    /// 0 to 7.
    pub(super) willingness: u8,
    /// Its symmetric neighbours except the selecting node; [`select`] keeps the members of N2.
    pub(super) reaches: Vec<Node>,
}

/// The MPRs, in order of their numbers, by the RFC's heuristic: they cover all strict 2-hop
/// neighbours that a willing neighbour reaches. Ties go to the smaller number.
pub(super) fn select(mut neighbours: Vec<Candidate>) -> Vec<Node> {
    let n: BTreeSet<Node> = neighbours.iter().map(|y| y.node).collect();
    for y in &mut neighbours {
        // N2 excludes neighbours, and so does the degree D(y): it is the length of the rest.
        y.reaches.retain(|node| !n.contains(node));
    }
    // N2 excludes nodes that only neighbours with WILL_NEVER reach.
    neighbours.retain(|y| y.willingness != WILL_NEVER);
    let mut ways: BTreeMap<Node, u32> = BTreeMap::new();
    for node in neighbours.iter().flat_map(|y| &y.reaches) {
        *ways.entry(*node).or_default() += 1;
    }
    let mut uncovered: BTreeSet<Node> = ways.keys().copied().collect();

    // 1. Neighbours with WILL_ALWAYS. 3. The only neighbours that reach a node of N2.
    let alone = |y: &Candidate| y.reaches.iter().any(|node| ways[node] == 1);
    let must = |y: &&Candidate| y.willingness == WILL_ALWAYS || alone(y);
    let mut relays: Vec<&Candidate> = neighbours.iter().filter(must).collect();
    for y in &relays {
        cover(&mut uncovered, y);
    }
    // 4. While a node is not covered: the neighbour of the highest willingness, then of the highest
    //    reachability, then of the highest degree.
    while !uncovered.is_empty() {
        let reachability =
            |y: &Candidate| y.reaches.iter().filter(|z| uncovered.contains(z)).count();
        let useful = neighbours.iter().filter(|y| reachability(y) > 0).rev();
        let Some(best) = useful.max_by_key(|y| (y.willingness, reachability(y), y.reaches.len()))
        else {
            break;
        };
        cover(&mut uncovered, best);
        relays.push(best);
    }
    // 5. Remove MPRs that are not needed, in order of increasing willingness.
    relays.sort_by_key(|y| (y.willingness, y.node));
    let mut at = 0;
    while at < relays.len() {
        match relays[at].willingness < WILL_ALWAYS && is_spare(&relays, at) {
            true => drop(relays.remove(at)),
            false => at += 1,
        }
    }
    let mut chosen: Vec<Node> = relays.iter().map(|y| y.node).collect();
    chosen.sort_unstable();
    chosen
}

fn cover(uncovered: &mut BTreeSet<Node>, y: &Candidate) {
    for node in &y.reaches {
        uncovered.remove(node);
    }
}

/// Whether the other MPRs cover the same nodes.
fn is_spare(relays: &[&Candidate], at: usize) -> bool {
    relays[at].reaches.iter().all(|node| {
        let mut others = relays.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(_, y)| y.reaches.contains(node))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(node: Node, willingness: u8, reaches: &[Node]) -> Candidate {
        Candidate { node, willingness, reaches: reaches.to_vec() }
    }

    /// Neighbours 1 to 8 of a node 0, each with the neighbours and 2-hop neighbours that it
    /// reaches.
    fn neighbourhood() -> impl Strategy<Value = Vec<Candidate>> {
        let reaches = proptest::collection::btree_set(1..20u16, 0..8);
        proptest::collection::vec((0..=7u8, reaches), 0..8).prop_map(|all| {
            let make = |(at, (willingness, reaches)): (usize, (u8, BTreeSet<Node>))| Candidate {
                node: at as Node + 1,
                willingness,
                reaches: reaches.into_iter().filter(|node| *node != at as Node + 1).collect(),
            };
            all.into_iter().enumerate().map(make).collect()
        })
    }

    proptest! {
        #[test]
        fn relays_cover_all_strict_two_hop_neighbours_and_none_is_spare(all in neighbourhood()) {
            let relays = select(all.clone());
            let is_relay = |y: &&Candidate| relays.contains(&y.node);
            let strict = |z: &Node| all.iter().all(|y| y.node != *z);
            let reached = |by: &dyn Fn(&&Candidate) -> bool| -> BTreeSet<Node> {
                let nodes = all.iter().filter(by).flat_map(|y| y.reaches.clone());
                nodes.filter(strict).collect()
            };
            let covered = reached(&is_relay);
            prop_assert_eq!(&covered, &reached(&|y| y.willingness != WILL_NEVER));
            for y in all.iter().filter(is_relay) {
                prop_assert!(y.willingness != WILL_NEVER);
                let without = reached(&|other| is_relay(other) && other.node != y.node);
                prop_assert!(y.willingness == WILL_ALWAYS || without != covered, "{} is spare", y.node);
            }
            for y in all.iter().filter(|y| y.willingness == WILL_ALWAYS) {
                prop_assert!(is_relay(&y));
            }
        }
    }

    #[test]
    fn higher_willingness_is_preferred_then_higher_reachability_then_higher_degree() {
        let pair = |a, b| select(vec![a, b]);
        assert_eq!(pair(candidate(1, 3, &[9]), candidate(2, 6, &[9])), [2]);
        assert_eq!(pair(candidate(1, 3, &[9]), candidate(2, 3, &[9, 8])), [2]);
        assert_eq!(pair(candidate(1, 3, &[9]), candidate(2, 3, &[9])), [1]);
        // 8 is only reached through 3. Then 1 and 2 reach 9 alike, and 2 reaches 8 as well.
        let all = vec![candidate(1, 3, &[9]), candidate(2, 3, &[9, 8]), candidate(3, 3, &[8, 7])];
        assert_eq!(select(all), [2, 3]);
    }

    #[test]
    fn a_neighbour_that_is_never_willing_is_no_relay() {
        assert!(select(vec![candidate(1, WILL_NEVER, &[9])]).is_empty());
    }

    #[test]
    fn among_nodes_that_all_hear_each_other_only_the_always_willing_are_relays() {
        let all = |will| {
            vec![candidate(1, will, &[2, 3]), candidate(2, 3, &[1, 3]), candidate(3, 3, &[1, 2])]
        };
        assert!(select(all(3)).is_empty());
        assert_eq!(select(all(WILL_ALWAYS)), [1]);
    }
}
