//! The topology set from TC messages (RFC 3626 §4.4, §9.5), and the routing table (§10).

use super::WILL_NEVER;
use super::message::{Tc, newer};
use super::neighbours::Neighbours;
use crate::routing::Node;
use std::collections::BTreeMap;
use units::Time;

/// The topology tuples with the same T_last_addr. A TC has all neighbours that its node advertises,
/// so that these tuples have one T_seq and one T_time.
#[derive(Clone, Debug)]
struct Advertised {
    /// T_seq.
    ansn: u16,
    /// T_time.
    until: Time,
    /// T_dest_addr of each.
    nodes: Vec<Node>,
}

/// The topology set, by T_last_addr.
#[derive(Clone, Debug, Default)]
pub(super) struct Topology(BTreeMap<Node, Advertised>);

impl Topology {
    /// Processes a TC (§9.5). Returns whether it changes routes.
    ///
    /// Deviation: the ANSN of an empty TC is remembered while the TC is valid. The RFC has no tuple
    /// for it, and would accept an older TC that is late.
    pub(super) fn on_tc(&mut self, now: Time, last: Node, tc: &Tc, until: Time) -> bool {
        let known = self.0.get(&last).filter(|known| known.until > now);
        if known.is_some_and(|known| newer(known.ansn, tc.ansn)) {
            return false; // 2.
        }
        let before = known.map_or(&[][..], |known| &known.nodes);
        let changed = before != tc.advertised;
        let advertised = Advertised { ansn: tc.ansn, until, nodes: tc.advertised.clone() };
        self.0.insert(last, advertised); // 3. and 4.
        changed
    }

    /// Removes expired tuples. Returns whether there were any.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        let before = self.0.len();
        self.0.retain(|_, advertised| advertised.until > now);
        self.0.len() != before
    }

    /// When the first tuple expires.
    pub(super) fn earliest(&self) -> Time {
        self.0.values().map(|advertised| advertised.until).min().unwrap_or(Time::NEVER)
    }

    fn advertised_by(&self, now: Time, last: Node) -> &[Node] {
        let known = self.0.get(&last).filter(|known| known.until > now);
        known.map_or(&[], |known| &known.nodes)
    }
}

/// The next hop to each destination, by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<Option<Node>>);

impl Table {
    /// §10: the shortest routes over symmetric neighbours, 2-hop neighbours and topology tuples.
    pub(super) fn new(me: Node, now: Time, neighbours: &Neighbours, topology: &Topology) -> Self {
        let mut table = Table::default();
        // 3.2: among routes of two hops those over neighbours of higher willingness and over MPR
        // selectors are preferred. Nodes are visited in that order, which then decides between
        // longer routes as well.
        let near = neighbours.by_preference(now);
        for (node, _) in &near {
            table.insert(*node, *node); // 1.
        }
        let mut front = Vec::new();
        for (node, neighbour) in &near {
            let willing = neighbour.willingness != WILL_NEVER;
            for two_hop in neighbour.two_hop(now).into_iter().filter(|_| willing) {
                if table.insert(two_hop, *node) {
                    front.push(two_hop); // 2.
                }
            }
        }
        while !front.is_empty() {
            let mut next_front = Vec::new();
            for last in front {
                let Some(next) = table.next(last) else { continue };
                for node in topology.advertised_by(now, last) {
                    if *node != me && table.insert(*node, next) {
                        next_front.push(*node); // 3.1
                    }
                }
            }
            front = next_front;
        }
        table
    }

    /// The next hop to a node.
    pub(super) fn next(&self, destination: Node) -> Option<Node> {
        self.0.get(usize::from(destination)).copied().flatten()
    }

    /// Adds a route over `next`, unless there is one already. Returns whether it was added.
    fn insert(&mut self, node: Node, next: Node) -> bool {
        let at = usize::from(node);
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        let new = self.0[at].is_none();
        self.0[at].get_or_insert(next);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    const HOLD: Span = Span::millis(15_000);

    fn tc(ansn: u16, advertised: &[Node]) -> Tc {
        Tc { ansn, advertised: advertised.to_vec() }
    }

    #[test]
    fn an_older_tc_changes_nothing_and_a_newer_one_replaces_all() {
        let mut topology = Topology::default();
        let now = Time::ZERO;
        assert!(topology.on_tc(now, 1, &tc(65_535, &[2, 3]), now + HOLD));
        assert!(!topology.on_tc(now, 1, &tc(65_534, &[4]), now + HOLD));
        assert_eq!(topology.advertised_by(now, 1), [2, 3]);
        assert!(topology.on_tc(now, 1, &tc(0, &[3]), now + HOLD));
        assert_eq!(topology.advertised_by(now, 1), [3]);
        assert!(topology.on_tc(now, 1, &tc(1, &[]), now + HOLD));
        assert!(!topology.on_tc(now, 1, &tc(0, &[3]), now + HOLD));
        assert!(topology.advertised_by(now, 1).is_empty());
    }

    #[test]
    fn tuples_expire_without_another_tc() {
        let mut topology = Topology::default();
        let end = Time::ZERO + HOLD;
        topology.on_tc(Time::ZERO, 1, &tc(9, &[2]), end);
        assert_eq!(topology.earliest(), end);
        assert!(!topology.expire(Time(end.0 - 1)));
        assert!(topology.advertised_by(end, 1).is_empty());
        // An old ANSN expires with its tuples.
        assert!(topology.on_tc(end, 1, &tc(3, &[2]), end + HOLD));
        assert!(topology.expire(end + HOLD));
        assert_eq!(topology.earliest(), Time::NEVER);
    }
}
