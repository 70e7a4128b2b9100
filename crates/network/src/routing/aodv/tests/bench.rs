//! A test bench for one router: calls at milliseconds, and its answers.

use crate::routing::aodv::{Aodv, AodvSettings, Message, Rerr, Rrep, Rreq};
use crate::routing::{self, Action, NextHop, Node, PacketHeader, RoutingProtocol};
use units::{Span, Time};

pub(super) const ME: Node = 0;

pub(super) fn at(millis: u64) -> Time {
    Time::ZERO + Span::millis(millis)
}

/// A router, called at milliseconds.
pub(super) struct Bench {
    pub(super) router: Aodv,
}

pub(super) fn bench(settings: AodvSettings) -> Bench {
    Bench { router: Aodv::new(ME, settings) }
}

/// Without HELLOs.
pub(super) fn quiet() -> Bench {
    bench(AodvSettings { hello: false, ..AodvSettings::default() })
}

impl Bench {
    pub(super) fn hear(&mut self, now: u64, from: Node, message: Message) -> Vec<Action> {
        let mut out = Vec::new();
        self.router.on_message(at(now), from, &message.into(), &mut out);
        out
    }

    /// A RREP for a route to `destination` of these hops from here, meant for this node.
    pub(super) fn update(
        &mut self,
        now: u64,
        destination: Node,
        from: Node,
        sequence: u32,
        hops: u8,
    ) {
        self.hear(now, from, rrep(destination, sequence, hops - 1, ME));
    }

    pub(super) fn route(
        &mut self,
        now: u64,
        source: Node,
        destination: Node,
        previous: Node,
    ) -> (NextHop, Vec<Action>) {
        let mut out = Vec::new();
        let previous = (source != ME).then_some(previous);
        let packet = PacketHeader { source, destination, previous };
        (self.router.next_hop(at(now), packet, &mut out), out)
    }

    pub(super) fn send(&mut self, now: u64, destination: Node) -> Vec<Action> {
        let (hop, out) = self.route(now, ME, destination, ME);
        assert_eq!(hop, NextHop::Buffer);
        out
    }

    pub(super) fn broken(&mut self, now: u64, neighbour: Node) -> Vec<Action> {
        let mut out = Vec::new();
        self.router.on_link_break(at(now), neighbour, &mut out);
        out
    }

    pub(super) fn unheard(&mut self, now: u64, neighbour: Node, message: Message) {
        self.router.on_message_lost(at(now), neighbour, &message.into());
        self.broken(now, neighbour);
    }

    /// Actions of its timer up to `end`, with their milliseconds.
    pub(super) fn wait(&mut self, end: u64) -> Vec<(u64, Action)> {
        let mut all = Vec::new();
        while self.router.next_timer() <= at(end) {
            let now = self.router.next_timer();
            let mut out = Vec::new();
            self.router.on_timer(now, &mut out);
            all.extend(out.into_iter().map(|action| (now.0 / 1_000_000, action)));
        }
        all
    }

    pub(super) fn route_to(&self, now: u64, destination: Node) -> Option<Node> {
        self.router.route_to(at(now), destination)
    }

    pub(super) fn sequence(&mut self, now: u64, destination: Node) -> Option<u32> {
        self.router.table.get(at(now), destination).and_then(|route| route.sequence)
    }
}

pub(super) fn rrep(destination: Node, sequence: u32, hops: u8, originator: Node) -> Message {
    let lifetime = Span::millis(6000);
    Message::Rrep(Rrep { hops, destination, destination_sequence: sequence, originator, lifetime })
}

/// A RREQ from node 9, two hops away.
pub(super) fn rreq(id: u32, destination: Node, destination_sequence: Option<u32>) -> Rreq {
    Rreq {
        ttl: 5,
        hops: 1,
        id,
        destination,
        destination_sequence,
        originator: 9,
        originator_sequence: 100 + id,
        gratuitous: false,
        destination_only: false,
    }
}

pub(super) fn rerr(unreachable: &[(Node, u32)]) -> Message {
    Message::Rerr(Rerr { unreachable: unreachable.to_vec() })
}

pub(super) fn broadcast(message: Message) -> Action {
    Action::Broadcast(message.into())
}

pub(super) fn unicast(to: Node, message: Message) -> Action {
    Action::Unicast { to, message: message.into() }
}

pub(super) fn sent_rreq(action: &Action) -> Option<Rreq> {
    match action {
        Action::Broadcast(routing::Message::Aodv(Message::Rreq(rreq))) => Some(*rreq),
        _ => None,
    }
}

pub(super) fn answered(out: &[Action]) -> Option<(Node, Rrep)> {
    out.iter().find_map(|action| match action {
        Action::Unicast { to, message: routing::Message::Aodv(Message::Rrep(rrep)) } => {
            Some((*to, *rrep))
        }
        _ => None,
    })
}

/// A router that receives altered messages.
pub(super) struct Altered {
    pub(super) router: Aodv,
    /// Replaces received messages; with the number of messages so far.
    pub(super) hear: fn(u32, &Message) -> Message,
    pub(super) heard: u32,
    /// Whether the MAC reports links that are broken.
    pub(super) feedback: bool,
}

impl Altered {
    pub(super) fn new(me: Node, settings: AodvSettings) -> Self {
        let router = Aodv::new(me, settings);
        Altered { router, hear: |_, message| message.clone(), heard: 0, feedback: true }
    }
}

impl RoutingProtocol for Altered {
    fn next_hop(&mut self, now: Time, packet: PacketHeader, out: &mut Vec<Action>) -> NextHop {
        self.router.next_hop(now, packet, out)
    }

    fn on_message(
        &mut self,
        now: Time,
        from: Node,
        message: &routing::Message,
        out: &mut Vec<Action>,
    ) {
        let routing::Message::Aodv(message) = message else { return };
        self.heard += 1;
        let message = (self.hear)(self.heard, message);
        self.router.on_message(now, from, &message.into(), out);
    }

    fn on_delivered(&mut self, now: Time, packet: PacketHeader) {
        self.router.on_delivered(now, packet);
    }

    fn on_message_lost(&mut self, now: Time, neighbour: Node, message: &routing::Message) {
        if self.feedback {
            self.router.on_message_lost(now, neighbour, message);
        }
    }

    fn on_link_break(&mut self, now: Time, neighbour: Node, out: &mut Vec<Action>) {
        if self.feedback {
            self.router.on_link_break(now, neighbour, out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Action>) {
        self.router.on_timer(now, out);
    }

    fn next_timer(&self) -> Time {
        self.router.next_timer()
    }

    fn route_to(&self, now: Time, destination: Node) -> Option<Node> {
        self.router.route_to(now, destination)
    }
}
