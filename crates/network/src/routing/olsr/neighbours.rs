//! The links of a node and who is at their other ends (RFC 3626 §4.2, §4.3, §7, §8, §13).

use super::message::{Body, Envelope, Hello, LinkCode, LinkType, NeighbourType};
use super::mpr::{self, Candidate};
use crate::routing::Node;
use std::collections::BTreeMap;
use units::{Span, Time};

/// What follows from a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Routes may be others.
    pub(super) routes: bool,
    /// So may be the relays.
    pub(super) relays: bool,
    /// A link has failed to a neighbour that had this node as relay.
    pub(super) selector_lost: bool,
}

impl Changed {
    /// The symmetric neighbours or theirs are others.
    const NEIGHBOURHOOD: Changed = Changed { routes: true, relays: true, selector_lost: false };

    fn merge(&mut self, other: Changed) {
        self.routes |= other.routes;
        self.relays |= other.relays;
        self.selector_lost |= other.selector_lost;
    }
}

/// A link tuple (§4.2.1) and, since a neighbour has one interface and so one link, what else is
/// known of the neighbour (§4.3). A time is over when it is reached.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    /// L_ASYM_time: until then it is heard.
    heard_until: Time,
    /// L_SYM_time: until then it hears this node as well.
    symmetric_until: Time,
    /// L_LOST_LINK_time: until then the MAC's word holds that the link is broken (§13).
    lost_until: Time,
    /// L_time: then the tuple is removed.
    until: Time,
    /// N_willingness.
    pub(super) willingness: u8,
    /// Whether the link was symmetric when it was last looked at: N_status.
    symmetric: bool,
    /// Whether it is a relay of this node: a member of the MPR set.
    relay: bool,
    /// MS_time, if this node is its relay.
    selects_until: Option<Time>,
    /// The 2-hop tuples: N_time by N_2hop_addr.
    beyond: BTreeMap<Node, Time>,
}

impl Neighbour {
    /// §7.1.1, 1.
    fn new(until: Time) -> Self {
        Neighbour {
            heard_until: Time::ZERO,
            symmetric_until: Time::ZERO,
            lost_until: Time::ZERO,
            until,
            willingness: super::WILL_DEFAULT,
            symmetric: false,
            relay: false,
            selects_until: None,
            beyond: BTreeMap::new(),
        }
    }

    fn is_symmetric(&self, now: Time) -> bool {
        self.symmetric_until > now && self.lost_until <= now
    }

    /// §6.2, and §13 for a link that the MAC found broken.
    fn code(&self, now: Time) -> LinkCode {
        if self.is_symmetric(now) {
            let relay = if self.relay { NeighbourType::Mpr } else { NeighbourType::Symmetric };
            return (LinkType::Symmetric, relay);
        }
        let heard = self.heard_until > now && self.lost_until <= now;
        (if heard { LinkType::Asymmetric } else { LinkType::Lost }, NeighbourType::Not)
    }

    /// Its symmetric neighbours but this node.
    pub(super) fn beyond(&self, now: Time) -> impl Iterator<Item = Node> + '_ {
        self.beyond.iter().filter(move |(_, until)| **until > now).map(|(node, _)| *node)
    }

    /// The neighbour appears, or is lost and with it what it has said (§8.5).
    fn settle(&mut self, now: Time) -> Changed {
        let symmetric = self.is_symmetric(now);
        if symmetric == self.symmetric {
            return Changed::default();
        }
        self.symmetric = symmetric;
        let mut changed = Changed::NEIGHBOURHOOD;
        if !symmetric {
            self.beyond.clear();
            self.relay = false;
            changed.selector_lost = self.selects_until.take().is_some();
        }
        changed
    }

    /// §8.2.1: who the symmetric neighbours of a symmetric neighbour are.
    fn update_beyond(&mut self, me: Node, hello: &Hello, until: Time) -> Changed {
        let mut changed = Changed::default();
        for ((_, kind), nodes) in &hello.groups {
            for node in nodes.iter().filter(|node| **node != me) {
                let news = match kind {
                    NeighbourType::Not => self.beyond.remove(node).is_some(),
                    _ => self.beyond.insert(*node, until).is_none(),
                };
                if news {
                    changed = Changed::NEIGHBOURHOOD;
                }
            }
        }
        changed
    }

    /// Forgets what holds no longer; the link itself is not looked at.
    fn sweep(&mut self, now: Time) -> Changed {
        let before = self.beyond.len();
        self.beyond.retain(|_, until| *until > now);
        let mut changed = Changed::default();
        if self.beyond.len() != before {
            changed = Changed::NEIGHBOURHOOD;
        }
        if self.selects_until.is_some_and(|until| until <= now) {
            self.selects_until = None;
            changed.routes = true;
        }
        changed
    }

    fn earliest(&self, now: Time) -> Time {
        let link = [self.symmetric_until, self.lost_until, self.until];
        let all = link.into_iter().chain(self.selects_until).chain(self.beyond.values().copied());
        all.filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }
}

/// The link set, the neighbour set, the 2-hop neighbour set, the MPR set and the MPR selector set.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours(BTreeMap<Node, Neighbour>);

impl Neighbours {
    /// A HELLO came from its originator. `hold` is NEIGHB_HOLD_TIME.
    pub(super) fn on_hello(
        &mut self,
        me: Node,
        now: Time,
        envelope: &Envelope,
        hold: Span,
    ) -> Changed {
        let Body::Hello(hello) = &envelope.body else { return Changed::default() };
        let until = now + envelope.validity;
        let new = || Neighbour::new(until);
        let neighbour = self.0.entry(envelope.originator).or_insert_with(new);
        // §7.1.1, 2.
        neighbour.heard_until = until;
        let said = hello.code_of(me);
        match said {
            Some((LinkType::Lost, _)) => neighbour.symmetric_until = Time::ZERO,
            Some(_) => {
                neighbour.symmetric_until = until;
                neighbour.until = until + hold;
            }
            None => {}
        }
        neighbour.until = neighbour.until.max(neighbour.heard_until);

        let mut changed = neighbour.settle(now);
        if neighbour.willingness != hello.willingness {
            neighbour.willingness = hello.willingness; // §8.1.1
            changed.merge(Changed::NEIGHBOURHOOD);
        }
        if neighbour.symmetric {
            changed.merge(neighbour.update_beyond(me, hello, until));
            if said.is_some_and(|(_, kind)| kind == NeighbourType::Mpr) {
                // §8.4.1, but not while the MAC's word holds against the link: §8.5 has just
                // removed the tuple.
                changed.routes |= neighbour.selects_until.replace(until).is_none();
            }
        }
        changed
    }

    /// The MAC found the link broken (§13): for `lost` it stays so, whatever HELLOs say. L_SYM_time
    /// is over as well, so that the link comes back by a HELLO and not by itself.
    pub(super) fn on_broken(&mut self, now: Time, node: Node, lost: Span, hold: Span) -> Changed {
        let Some(neighbour) = self.0.get_mut(&node) else { return Changed::default() };
        neighbour.lost_until = now + lost;
        neighbour.symmetric_until = Time::ZERO;
        neighbour.until = now + hold.max(lost);
        neighbour.settle(now)
    }

    /// Forgets what holds no longer.
    pub(super) fn sweep(&mut self, now: Time) -> Changed {
        let mut changed = Changed::default();
        self.0.retain(|_, neighbour| {
            changed.merge(neighbour.settle(now));
            changed.merge(neighbour.sweep(now));
            neighbour.until > now
        });
        changed
    }

    /// When a sweep will change something.
    pub(super) fn earliest(&self, now: Time) -> Time {
        self.0.values().map(|neighbour| neighbour.earliest(now)).min().unwrap_or(Time::NEVER)
    }

    /// Whether a node is a symmetric neighbour.
    pub(super) fn is_symmetric(&self, now: Time, node: Node) -> bool {
        self.0.get(&node).is_some_and(|neighbour| neighbour.is_symmetric(now))
    }

    /// Whether this node is a relay of another one.
    pub(super) fn is_selector(&self, node: Node) -> bool {
        self.0.get(&node).is_some_and(|neighbour| neighbour.selects_until.is_some())
    }

    /// The nodes that have chosen this one as relay, in order of their numbers.
    pub(super) fn selectors(&self) -> Vec<Node> {
        self.0.keys().copied().filter(|node| self.is_selector(*node)).collect()
    }

    /// Chooses relays anew (§8.3).
    pub(super) fn choose_relays(&mut self, now: Time) {
        let symmetric = self.0.iter().filter(|(_, neighbour)| neighbour.is_symmetric(now));
        let candidates = symmetric.map(|(node, neighbour)| Candidate {
            node: *node,
            willingness: neighbour.willingness,
            reaches: neighbour.beyond(now).collect(),
        });
        let relays = mpr::select(candidates.collect());
        for (node, neighbour) in &mut self.0 {
            neighbour.relay = relays.binary_search(node).is_ok();
        }
    }

    /// All links, for a HELLO (§6.2).
    pub(super) fn groups(&self, now: Time) -> Vec<(LinkCode, Vec<Node>)> {
        let mut groups: BTreeMap<LinkCode, Vec<Node>> = BTreeMap::new();
        for (node, neighbour) in &self.0 {
            groups.entry(neighbour.code(now)).or_default().push(*node);
        }
        groups.into_iter().collect()
    }

    /// The symmetric neighbours: the most willing first, then those that have this node as relay,
    /// then by number (§10, 3.2).
    pub(super) fn by_preference(&self, now: Time) -> Vec<(Node, &Neighbour)> {
        let symmetric = self.0.iter().filter(|(_, neighbour)| neighbour.is_symmetric(now));
        let mut all: Vec<_> = symmetric.map(|(node, neighbour)| (*node, neighbour)).collect();
        let selects = |neighbour: &Neighbour| neighbour.selects_until.is_some_and(|at| at > now);
        all.sort_by_key(|(node, neighbour)| {
            (u8::MAX - neighbour.willingness, !selects(neighbour), *node)
        });
        all
    }

    /// The relays of this node, in order of their numbers.
    #[cfg(test)]
    pub(super) fn relays(&self) -> Vec<Node> {
        self.0.iter().filter(|(_, neighbour)| neighbour.relay).map(|(node, _)| *node).collect()
    }
}
