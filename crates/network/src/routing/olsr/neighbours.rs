//! Links and neighbours of a node (RFC 3626 §4.2, §4.3, §7, §8, §13).

use super::message::{LinkCode, LinkType, MessageBody, NeighbourType, OlsrMessage};
use super::mpr::{self, Candidate};
use super::two_hop::TwoHop;
use crate::routing::Node;
use std::collections::BTreeMap;
use units::{Span, Time};

/// Consequences of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// The routing table is out of date.
    pub(super) routes: bool,
    /// The MPR set is out of date.
    pub(super) relays: bool,
    /// The link to an MPR selector has failed.
    pub(super) selector_lost: bool,
}

impl Changed {
    /// Symmetric neighbours or 2-hop neighbours have changed.
    const NEIGHBOURHOOD: Changed = Changed { routes: true, relays: true, selector_lost: false };

    fn merge(&mut self, other: Changed) {
        self.routes |= other.routes;
        self.relays |= other.relays;
        self.selector_lost |= other.selector_lost;
    }
}

/// A link tuple (§4.2.1) with the neighbour's other tuples (§4.3): a neighbour has one interface
/// and so one link. A time is over when it is reached.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    /// L_ASYM_time: until when it is heard.
    asym_until: Time,
    /// L_SYM_time: until when the link is symmetric.
    sym_until: Time,
    /// L_LOST_LINK_time: until when the link counts as lost by report of the MAC (§13).
    lost_until: Time,
    /// L_time: when the tuple is removed.
    until: Time,
    /// N_willingness.
    pub(super) willingness: u8,
    /// N_status: whether the link was symmetric at the last check.
    symmetric: bool,
    /// Whether this node selected it as MPR.
    relay: bool,
    /// MS_time, if it selected this node as MPR.
    selector_until: Option<Time>,
    two_hop: TwoHop,
}

impl Neighbour {
    /// §7.1.1, 1.
    fn new(me: Node, until: Time) -> Self {
        Neighbour {
            asym_until: Time::ZERO,
            sym_until: Time::ZERO,
            lost_until: Time::ZERO,
            until,
            willingness: super::WILL_DEFAULT,
            symmetric: false,
            relay: false,
            selector_until: None,
            two_hop: TwoHop::new(me),
        }
    }

    fn is_symmetric(&self, now: Time) -> bool {
        self.sym_until > now && self.lost_until <= now
    }

    /// §6.2, and §13 for a link that the MAC found broken.
    fn code(&self, now: Time) -> LinkCode {
        if self.is_symmetric(now) {
            let relay = if self.relay { NeighbourType::Mpr } else { NeighbourType::Symmetric };
            return (LinkType::Symmetric, relay);
        }
        let heard = self.asym_until > now && self.lost_until <= now;
        (if heard { LinkType::Asymmetric } else { LinkType::Lost }, NeighbourType::Not)
    }

    /// Its symmetric neighbours except this node.
    pub(super) fn two_hop(&self, now: Time) -> Vec<Node> {
        self.two_hop.at(now)
    }

    /// The neighbour becomes symmetric, or is lost with its 2-hop and selector tuples (§8.5).
    fn update_status(&mut self, now: Time) -> Changed {
        let symmetric = self.is_symmetric(now);
        if symmetric == self.symmetric {
            return Changed::default();
        }
        self.symmetric = symmetric;
        let mut changed = Changed::NEIGHBOURHOOD;
        if !symmetric {
            self.two_hop.clear();
            self.relay = false;
            changed.selector_lost = self.selector_until.take().is_some();
        }
        changed
    }

    /// Removes expired 2-hop and selector tuples.
    fn expire(&mut self, now: Time) -> Changed {
        let mut changed = match self.two_hop.expire(now) {
            true => Changed::NEIGHBOURHOOD,
            false => Changed::default(),
        };
        if self.selector_until.is_some_and(|until| until <= now) {
            self.selector_until = None;
            changed.routes = true;
        }
        changed
    }

    fn earliest(&self, now: Time) -> Time {
        let link = [self.sym_until, self.lost_until, self.until];
        let all = link.into_iter().chain(self.selector_until).chain(self.two_hop.times());
        all.filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }
}

/// The link set, the neighbour set, the 2-hop neighbour set, the MPR set and the MPR selector set.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours(BTreeMap<Node, Neighbour>);

impl Neighbours {
    /// Processes a HELLO. `hold` is NEIGHB_HOLD_TIME.
    pub(super) fn on_hello(
        &mut self,
        me: Node,
        now: Time,
        message: &OlsrMessage,
        hold: Span,
    ) -> Changed {
        let MessageBody::Hello(hello) = &message.body else { return Changed::default() };
        let until = now + message.validity;
        let new = || Neighbour::new(me, until);
        let neighbour = self.0.entry(message.originator).or_insert_with(new);
        // §7.1.1, 2.
        neighbour.asym_until = until;
        let said = hello.code_of(me);
        match said {
            Some((LinkType::Lost, _)) => neighbour.sym_until = Time::ZERO,
            Some(_) => {
                neighbour.sym_until = until;
                neighbour.until = until + hold;
            }
            None => {}
        }
        neighbour.until = neighbour.until.max(neighbour.asym_until);

        let mut changed = neighbour.update_status(now);
        if neighbour.willingness != hello.willingness {
            neighbour.willingness = hello.willingness; // §8.1.1
            changed.merge(Changed::NEIGHBOURHOOD);
        }
        if neighbour.symmetric {
            if neighbour.two_hop.update(hello, until) {
                changed.merge(Changed::NEIGHBOURHOOD); // §8.2.1
            }
            if said.is_some_and(|(_, kind)| kind == NeighbourType::Mpr) {
                // §8.4.1, but not while the link is lost by report of the MAC: §8.5 has just
                // removed the tuple.
                changed.routes |= neighbour.selector_until.replace(until).is_none();
            }
        }
        changed
    }

    /// The MAC found the link broken (§13): it counts as lost for `lost`, whatever HELLOs say.
    /// L_SYM_time is over as well, so that only a HELLO makes the link symmetric again.
    pub(super) fn on_link_break(
        &mut self,
        now: Time,
        node: Node,
        lost: Span,
        hold: Span,
    ) -> Changed {
        let Some(neighbour) = self.0.get_mut(&node) else { return Changed::default() };
        neighbour.lost_until = now + lost;
        neighbour.sym_until = Time::ZERO;
        neighbour.until = now + hold.max(lost);
        neighbour.update_status(now)
    }

    /// Removes expired tuples.
    pub(super) fn expire(&mut self, now: Time) -> Changed {
        let mut changed = Changed::default();
        self.0.retain(|_, neighbour| {
            changed.merge(neighbour.update_status(now));
            changed.merge(neighbour.expire(now));
            neighbour.until > now
        });
        changed
    }

    /// When the first tuple expires.
    pub(super) fn earliest(&self, now: Time) -> Time {
        self.0.values().map(|neighbour| neighbour.earliest(now)).min().unwrap_or(Time::NEVER)
    }

    /// Whether a node is a symmetric neighbour.
    pub(super) fn is_symmetric(&self, now: Time, node: Node) -> bool {
        self.0.get(&node).is_some_and(|neighbour| neighbour.is_symmetric(now))
    }

    /// Whether `node` selected this node as MPR.
    pub(super) fn is_selector(&self, node: Node) -> bool {
        self.0.get(&node).is_some_and(|neighbour| neighbour.selector_until.is_some())
    }

    /// The MPR selectors of this node, in order of their numbers.
    pub(super) fn selectors(&self) -> Vec<Node> {
        self.0.keys().copied().filter(|node| self.is_selector(*node)).collect()
    }

    /// Selects the MPRs (§8.3).
    pub(super) fn select_mprs(&mut self, now: Time) {
        let symmetric = self.0.iter().filter(|(_, neighbour)| neighbour.is_symmetric(now));
        let candidates = symmetric.map(|(node, neighbour)| Candidate {
            node: *node,
            willingness: neighbour.willingness,
            reaches: neighbour.two_hop(now),
        });
        let relays = mpr::select(candidates.collect());
        for (node, neighbour) in &mut self.0 {
            neighbour.relay = relays.binary_search(node).is_ok();
        }
    }

    /// All links by link code, for a HELLO (§6.2).
    pub(super) fn groups(&self, now: Time) -> Vec<(LinkCode, Vec<Node>)> {
        let mut groups: BTreeMap<LinkCode, Vec<Node>> = BTreeMap::new();
        for (node, neighbour) in &self.0 {
            groups.entry(neighbour.code(now)).or_default().push(*node);
        }
        groups.into_iter().collect()
    }

    /// The symmetric neighbours by willingness, then MPR selectors first, then by number (§10,
    /// 3.2).
    pub(super) fn by_preference(&self, now: Time) -> Vec<(Node, &Neighbour)> {
        let symmetric = self.0.iter().filter(|(_, neighbour)| neighbour.is_symmetric(now));
        let mut all: Vec<_> = symmetric.map(|(node, neighbour)| (*node, neighbour)).collect();
        let selects = |neighbour: &Neighbour| neighbour.selector_until.is_some_and(|at| at > now);
        all.sort_by_key(|(node, neighbour)| {
            (u8::MAX - neighbour.willingness, !selects(neighbour), *node)
        });
        all
    }

    /// The MPRs of this node, in order of their numbers.
    #[cfg(test)]
    pub(super) fn mprs(&self) -> Vec<Node> {
        self.0.iter().filter(|(_, neighbour)| neighbour.relay).map(|(node, _)| *node).collect()
    }
}
