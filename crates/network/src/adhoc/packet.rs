//! Packets of an ad-hoc network with their routes so far, and routing messages.

use crate::Packet;
use crate::routing::{Message, Node};
use std::collections::BTreeMap;
use std::sync::Arc;

/// In place of a link: marks a routing message.
const MESSAGE: u32 = u32::MAX;

/// A packet, or a routing message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoutedPacket<P> {
    pub(super) inner: P,
    /// Number of its link.
    pub(super) link: u32,
    /// The route so far, in [`Trails`]; for a message its index in [`Messages`].
    pub(super) trail: u32,
    /// Bytes of a message.
    bytes: u32,
}

impl<P: Packet> RoutedPacket<P> {
    pub(super) fn new(inner: P, link: u32, trail: u32) -> Self {
        RoutedPacket { inner, link, trail, bytes: 0 }
    }

    pub(super) fn message(index: u32, bytes: u32) -> Self {
        RoutedPacket { inner: P::default(), link: MESSAGE, trail: index, bytes }
    }

    pub(super) fn is_message(&self) -> bool {
        self.link == MESSAGE
    }
}

impl<P: Packet> Packet for RoutedPacket<P> {
    fn bytes(&self) -> u32 {
        if self.is_message() { self.bytes } else { self.inner.bytes() }
    }

    fn path(&self) -> u32 {
        self.inner.path()
    }

    fn ecn_capable(&self) -> bool {
        !self.is_message() && self.inner.ecn_capable()
    }

    fn mark(&mut self) {
        self.inner.mark();
    }

    fn lower_effort(&self) -> bool {
        !self.is_message() && self.inner.lower_effort()
    }
}

/// A node on a trail, the route of a packet so far.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: Node,
    before: Option<u32>,
    hops: u32,
    /// The trail that extended it last, and its last node: most packets follow the one before.
    newest: Option<(Node, u32)>,
}

/// Routes of packets, as a tree from their sources: a packet carries one number, however long its
/// route.
#[derive(Debug, Default)]
pub(super) struct Trails {
    steps: Vec<Step>,
    next: BTreeMap<(Option<u32>, Node), u32>,
}

impl Trails {
    /// The trail that extends `before` by `node`, or begins at `node`.
    #[inline] // runs for every hop
    pub(super) fn step(&mut self, before: Option<u32>, node: Node) -> u32 {
        let newest = before.and_then(|before| self.steps[before as usize].newest);
        if let Some((_, trail)) = newest.filter(|(last, _)| *last == node) {
            return trail;
        }
        let Trails { steps, next } = self;
        let trail = *next.entry((before, node)).or_insert_with(|| {
            let hops = before.map_or(0, |before| steps[before as usize].hops + 1);
            steps.push(Step { node, before, hops, newest: None });
            steps.len() as u32 - 1
        });
        if let Some(before) = before {
            steps[before as usize].newest = Some((node, trail));
        }
        trail
    }

    /// The last node of a trail.
    pub(super) fn node(&self, trail: u32) -> Node {
        self.steps[trail as usize].node
    }

    /// The node before the last.
    pub(super) fn previous(&self, trail: u32) -> Option<Node> {
        self.steps[trail as usize].before.map(|before| self.node(before))
    }

    /// Hops of a trail.
    pub(super) fn hops(&self, trail: u32) -> u32 {
        self.steps[trail as usize].hops
    }

    /// All nodes of a trail, from its source.
    pub(super) fn nodes(&self, trail: u32) -> Vec<Node> {
        let mut nodes = vec![self.node(trail)];
        let mut at = trail;
        while let Some(before) = self.steps[at as usize].before {
            nodes.push(self.node(before));
            at = before;
        }
        nodes.reverse();
        nodes
    }

    /// The first node of a trail.
    pub(super) fn source(&self, trail: u32) -> Node {
        let mut at = trail;
        while let Some(before) = self.steps[at as usize].before {
            at = before;
        }
        self.node(at)
    }
}

/// Routing messages in transmission or in queues, each stored once.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Each with the number of its remaining uses.
    entries: Vec<(Option<Arc<Message>>, u8)>,
    free: Vec<u32>,
}

impl Messages {
    /// Stores a message for this number of uses.
    pub(super) fn put(&mut self, message: Message, times: u8) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push((None, 0));
            self.entries.len() as u32 - 1
        });
        self.entries[index as usize] = (Some(Arc::new(message)), times);
        index
    }

    pub(super) fn get(&self, index: u32) -> Option<Arc<Message>> {
        self.entries[index as usize].0.clone()
    }

    /// Ends one use of a message, or all.
    pub(super) fn drop(&mut self, index: u32, all: bool) {
        let (message, times) = &mut self.entries[index as usize];
        *times = if all { 0 } else { times.saturating_sub(1) };
        if *times == 0 && message.take().is_some() {
            self.free.push(index);
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_with_the_same_route_carry_the_same_number() {
        let mut trails = Trails::default();
        let along = |trails: &mut Trails, nodes: &[Node]| {
            let mut at = None;
            for node in nodes {
                at = Some(trails.step(at, *node));
            }
            at.unwrap()
        };
        let one = along(&mut trails, &[3, 1, 2]);
        assert_eq!(along(&mut trails, &[3, 1, 2]), one);
        assert_ne!(along(&mut trails, &[3, 4, 2]), one);
        assert_eq!(along(&mut trails, &[3, 1, 2]), one, "after another one");
        assert_eq!(trails.nodes(one), [3, 1, 2]);
        assert_eq!((trails.hops(one), trails.previous(one), trails.source(one)), (2, Some(1), 3));
    }
}
