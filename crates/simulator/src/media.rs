//! Packets on shared media: they wait in the queue of a station. A sender on the same host is
//! notified when they leave it.

use crate::ends::Ends;
use crate::event_source::{EventSource, Wake};
use crate::packed::PackedSegment;
use crate::trace::EventKind;
use crate::world::World;
use network::Outcome;
use topology::{Hop, HopTarget};
use units::Time;

impl World {
    /// A packet arrives at the first station of a medium link.
    #[inline(always)] // runs for every packet on a medium
    pub(crate) fn offer_medium(&mut self, packet: PackedSegment, link: u32) {
        if !self.media.offer(self.now, link, packet) {
            self.lose_on_medium(packet, EventKind::Dropped);
            self.leave_host(&packet, link);
        }
        let medium = self.media.medium_of(link);
        if self.woken_medium != Some(medium) {
            self.schedule_medium(medium);
        }
    }

    /// A packet is lost on a medium link, and so counts as lost on the line after it.
    fn lose_on_medium(&mut self, packet: PackedSegment, kind: EventKind) {
        let behind = self.hops[packet.cursor() as usize].target();
        let (HopTarget::Link(line) | HopTarget::Line(line)) = behind else {
            unreachable!("{behind:?} behind a medium link, where its line is");
        };
        self.lose(packet, line, kind);
    }

    /// Schedules the next wake-up of a medium that is not being woken.
    #[inline] // runs for many packets
    pub(crate) fn schedule_medium(&mut self, medium: u32) {
        let source = self.sources.source(Wake::Medium(medium));
        self.agenda.reschedule(source, self.media.next_wake(medium));
    }

    /// A wake-up of a medium.
    #[inline(always)] // it has one caller
    pub(crate) fn wake_medium(&mut self, source: EventSource, medium: u32) {
        self.media.wake(self.now, medium, &mut self.outcomes);
        if !self.outcomes.is_empty() {
            self.woken_medium = Some(medium);
            self.pass_outcomes_on(medium);
            self.woken_medium = None;
        }
        let next = self.media.next_wake(medium);
        self.agenda.follow(source, Some(next).filter(|at| *at < Time::NEVER));
    }

    /// Packets have come out of a medium, or have left the queues of its stations.
    #[inline(never)] // mostly a medium has only begun to send
    fn pass_outcomes_on(&mut self, medium: u32) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Arrived { link, packet, .. } => {
                    self.media.count_arrived(medium, link, &packet);
                    self.enter(packet);
                }
                Outcome::Lost { link, packet } => {
                    self.media.count_left(medium, link, true);
                    self.lose_on_medium(packet, EventKind::Lost);
                }
                Outcome::Left { link, packet, lost } => {
                    let link = self.media.count_left(medium, link, lost);
                    let flow = self.leave_host(&packet, link);
                    if lost {
                        self.lose_on_medium(packet, EventKind::Lost);
                    }
                    if let Some(flow) = flow {
                        self.pump(flow);
                    }
                }
            }
        }
        self.outcomes = outcomes;
    }

    /// A data packet has left its sender's host, if `link` begins its route. Returns the flow, if
    /// its sender limits its packets in the host, and may send now.
    #[inline(always)] // runs for every packet on a medium
    fn leave_host(&mut self, packet: &PackedSegment, link: u32) -> Option<u32> {
        let first = packet.cursor().checked_sub(1)?; // one hop after the medium link
        let number = packet.path();
        let route = self.paths[number as usize];
        let begins = first == route.forward && self.hops[first as usize] == Hop::medium_link(link);
        if packet.is_answer() || !begins {
            return None;
        }
        let flow = &mut self.flows[route.flow as usize];
        if !flow.small_queue {
            return None;
        }
        flow.ends.on_sent((number - flow.first_path) as usize, packet.payload());
        let settled = matches!(&flow.ends, Ends::Tcp(tcp) if tcp.sender.is_settled());
        (!settled).then_some(route.flow)
    }
}
