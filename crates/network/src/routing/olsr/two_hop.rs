//! The 2-hop tuples of one neighbour (RFC 3626 §4.3.2, §8.2.1).

use super::message::Hello;
use crate::routing::Node;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// N_time by N_2hop_addr. A HELLO names nearly all of them, and is the same for all its receivers:
/// they share its list. With a list for each receiver, 163 nodes on 8 channels took 762 MB.
#[derive(Clone, Debug)]
pub(super) struct TwoHop {
    /// The node that keeps these tuples; the list may contain it, but it is not a 2-hop neighbour.
    me: Node,
    /// Nodes that the last HELLO named as symmetric, in order, and its N_time.
    named: Arc<[Node]>,
    until: Time,
    /// Nodes that only older HELLOs named.
    older: BTreeMap<Node, Time>,
}

impl TwoHop {
    pub(super) fn new(me: Node) -> Self {
        TwoHop { me, named: Arc::new([]), until: Time::ZERO, older: BTreeMap::new() }
    }

    /// Applies a HELLO that is valid until `until`; returns whether the 2-hop neighbours change.
    pub(super) fn update(&mut self, hello: &Hello, until: Time) -> bool {
        let named = hello.symmetric();
        let before = std::mem::replace(&mut self.named, named.clone());
        let before_until = std::mem::replace(&mut self.until, until);
        let mut changed = false;
        if before != *named {
            let new = |node: &&Node| {
                **node != self.me && !holds(&before, **node) && !self.older.contains_key(node)
            };
            changed = named.iter().any(|node| new(&node));
            let gone = before.iter().filter(|node| **node != self.me && !holds(named, **node));
            self.older.extend(gone.map(|node| (*node, before_until)));
        }
        let asymmetric = |node: Node| hello.names_as_asymmetric(node);
        self.older.retain(|node, _| {
            let lost = asymmetric(*node);
            changed |= lost;
            !lost && !holds(named, *node)
        });
        changed
    }

    /// The link to the neighbour is lost: removes its tuples.
    pub(super) fn clear(&mut self) {
        *self = TwoHop::new(self.me);
    }

    /// Removes expired tuples; returns whether there were any.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        let before = self.older.len();
        self.older.retain(|_, until| *until > now);
        let mut changed = self.older.len() != before;
        if self.until <= now {
            changed |= self.named.iter().any(|node| *node != self.me);
            self.named = Arc::new([]);
        }
        changed
    }

    /// When each of them expires.
    pub(super) fn times(&self) -> impl Iterator<Item = Time> + '_ {
        let named = self.named.iter().any(|node| *node != self.me).then_some(self.until);
        named.into_iter().chain(self.older.values().copied())
    }

    /// The 2-hop neighbours at `now`, in order of their numbers.
    pub(super) fn at(&self, now: Time) -> Vec<Node> {
        let named = self.named.iter().filter(|node| self.until > now && **node != self.me);
        let older = self.older.iter().filter(|(_, until)| **until > now).map(|(node, _)| node);
        let mut all: Vec<Node> = named.chain(older).copied().collect();
        if !self.older.is_empty() {
            all.sort_unstable();
        }
        all
    }
}

fn holds(sorted: &[Node], node: Node) -> bool {
    sorted.binary_search(&node).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::message::{LinkCode, LinkType, NeighbourType};
    use super::*;
    use proptest::prelude::*;

    const SYMMETRIC: LinkCode = (LinkType::Symmetric, NeighbourType::Symmetric);
    const RELAY: LinkCode = (LinkType::Symmetric, NeighbourType::Mpr);
    const LOST: LinkCode = (LinkType::Lost, NeighbourType::Not);

    proptest! {
        /// Compared with a plain map of tuples, as in the RFC.
        #[test]
        fn tuples_are_those_of_the_rfc(
            hellos in prop::collection::vec((prop::collection::vec(0u8..4, 9), 1u64..9, 1u64..9), 1..30),
        ) {
            let me = 4;
            let (mut two_hop, mut model) = (TwoHop::new(me), BTreeMap::<Node, Time>::new());
            let mut now = Time::ZERO;
            for (codes, gap, validity) in hellos {
                now = Time(now.0 + gap);
                let before = model.len();
                model.retain(|_, until| *until > now);
                prop_assert_eq!(two_hop.expire(now), model.len() != before);
                let of = |code: u8| {
                    let nodes = codes.iter().zip(0..).filter(move |(it, _)| **it == code);
                    nodes.map(|(_, node)| node).collect::<Vec<Node>>()
                };
                let groups = vec![(SYMMETRIC, of(0)), (RELAY, of(1)), (LOST, of(2))];
                let (until, mut changed) = (Time(now.0 + validity), false);
                for (code, nodes) in &groups {
                    for node in nodes.iter().filter(|node| **node != me) {
                        changed |= match *code == LOST {
                            true => model.remove(node).is_some(),
                            false => model.insert(*node, until).is_none(),
                        };
                    }
                }
                prop_assert_eq!(two_hop.update(&Hello::new(3, groups), until), changed);
                prop_assert_eq!(two_hop.at(now), model.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(two_hop.times().min(), model.values().copied().min());
            }
        }
    }
}
