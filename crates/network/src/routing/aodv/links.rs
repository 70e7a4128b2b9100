//! Neighbours and lost routes (RFC 3561 §6.8 to §6.11).

use super::Aodv;
use super::message::{Hello, Message, Rerr};
use super::table::News;
use crate::routing::{Action, Node};
use std::collections::BTreeSet;
use units::Time;

/// Destinations that the count of a RERR has room for (§5.3).
const MOST_UNREACHABLE: usize = 255;

/// What is known of a neighbour besides the route to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    /// When anything came from it last.
    heard: Time,
    /// When its last HELLO came; none before the first and after its link was lost.
    hello: Option<Time>,
    /// Until when its RREQs are ignored.
    ignored: Time,
}

impl Aodv {
    fn neighbour(&mut self, now: Time, node: Node) -> &mut Neighbour {
        let new = Neighbour { heard: now, hello: None, ignored: Time::ZERO };
        self.neighbours.entry(node).or_insert(new)
    }

    /// Anything came from a neighbour, so that its link is there (§6.9).
    pub(super) fn heard(&mut self, now: Time, from: Node) {
        if let Some(neighbour) = self.neighbours.get_mut(&from) {
            neighbour.heard = now;
        }
    }

    /// §6.8: whether RREQs from a neighbour are ignored, since it does not hear this node.
    pub(super) fn ignored(&self, now: Time, from: Node) -> bool {
        self.neighbours.get(&from).is_some_and(|neighbour| neighbour.ignored > now)
    }

    /// §6.8: a RREP did not come through, though the RREQ did: the link is one-way.
    pub(super) fn suspect(&mut self, now: Time, node: Node) {
        let until = now + self.settings.blacklist_timeout();
        self.neighbour(now, node).ignored = until;
    }

    /// This node is a part of an active route, and says so by HELLOs until that expires (§6.9).
    pub(super) fn used(&mut self, now: Time, until: Time) {
        self.active_until = self.active_until.max(until);
        if self.settings.hello && self.hello_due == Time::NEVER {
            self.hello_due = now + self.settings.hello_interval;
            self.timer = self.timer.min(self.hello_due);
        }
    }

    /// §6.9: a HELLO, unless another broadcast did its work within the interval.
    pub(super) fn greet(&mut self, now: Time, out: &mut Vec<Action>) {
        let interval = self.settings.hello_interval;
        self.hello_due = match self.last_broadcast {
            _ if self.active_until <= now => Time::NEVER,
            Some(last) if last + interval > now => last + interval,
            _ => {
                let lifetime = self.settings.hello_lifetime();
                let hello = Hello { sequence: self.sequence, lifetime };
                self.broadcast(now, Message::Hello(hello), out);
                now + interval
            }
        };
    }

    /// §6.9: there is a route to a neighbour that says HELLO, with the number that it says.
    pub(super) fn on_hello(&mut self, now: Time, from: Node, hello: Hello, out: &mut Vec<Action>) {
        let until = now + hello.lifetime;
        let loss = now + self.settings.hello_lifetime();
        self.neighbour(now, from).hello = Some(now);
        self.loss_due = self.loss_due.min(loss);
        self.timer = self.timer.min(loss);
        self.table.meet(now, from, until);
        let lifetime = self.table.valid(now, from).map_or(until, |route| route.lifetime);
        let sequence = hello.sequence;
        let news = News { destination: from, sequence, hops: 1, via: from, until: lifetime };
        self.table.learn(now, news);
        self.fulfil(now, from, out);
    }

    /// §6.9: links to neighbours that said HELLO and are silent now are lost.
    pub(super) fn miss(&mut self, now: Time, out: &mut Vec<Action>) {
        let patience = self.settings.hello_lifetime();
        let period = self.settings.delete_period();
        let mut lost = Vec::new();
        self.loss_due = Time::NEVER;
        for (node, neighbour) in &mut self.neighbours {
            let Some(hello) = neighbour.hello else { continue };
            let end = neighbour.heard + patience;
            if end > now {
                self.loss_due = self.loss_due.min(end);
                continue;
            }
            neighbour.hello = None;
            if now.since(hello) <= period {
                lost.push(*node);
            }
        }
        for node in lost {
            self.lose(now, node, out);
        }
    }

    /// §6.11 case (i): the link to a neighbour is lost, and with it what leads over it.
    pub(super) fn lose(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        if let Some(neighbour) = self.neighbours.get_mut(&neighbour) {
            neighbour.hello = None;
        }
        let lost = self.table.lose(now, neighbour);
        self.send_rerr(now, &lost, None, out);
    }

    /// §6.11 case (iii). A RERR whose number is not newer than that of the route was sent before
    /// the route was made: it ends nothing.
    pub(super) fn on_rerr(&mut self, now: Time, from: Node, rerr: &Rerr, out: &mut Vec<Action>) {
        let unreachable = rerr.unreachable.iter().filter(|(node, _)| *node != self.me);
        let mut lost: Vec<Node> = Vec::new();
        for (node, sequence) in unreachable {
            if self.table.fail(now, *node, from, *sequence) {
                lost.push(*node);
            }
        }
        self.send_rerr(now, &lost, None, out);
    }

    /// §6.11: tells precursors which destinations are lost, and besides them the neighbour that
    /// sent a packet in vain.
    pub(super) fn send_rerr(
        &mut self,
        now: Time,
        lost: &[Node],
        sender: Option<Node>,
        out: &mut Vec<Action>,
    ) {
        let mut receivers: BTreeSet<Node> = sender.into_iter().collect();
        let mut unreachable = Vec::new();
        for node in lost {
            let Some(route) = self.table.get(now, *node) else { continue };
            // Without a number nobody has a route over this node.
            let Some(sequence) = route.sequence else { continue };
            if sender.is_some() || !route.precursors.is_empty() {
                receivers.extend(&route.precursors);
                unreachable.push((*node, sequence));
            }
        }
        for part in unreachable.chunks(MOST_UNREACHABLE) {
            if self.rerrs.free() > now {
                // RERR_RATELIMIT: packets that come for the lost routes give another occasion.
                return;
            }
            self.rerrs.spend(now);
            for (node, _) in part {
                if let Some(route) = self.table.get(now, *node) {
                    route.precursors.clear(); // They know now.
                }
            }
            let message = Message::Rerr(Rerr { unreachable: part.to_vec() });
            match receivers.first() {
                Some(only) if receivers.len() == 1 => {
                    out.push(Action::Unicast { to: *only, message: message.into() });
                }
                _ => self.broadcast(now, message, out),
            }
        }
    }
}
