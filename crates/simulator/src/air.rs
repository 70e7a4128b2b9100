//! Packets on a medium: they wait in the queue of a station, and the sender that is on the same host is told when they
//! have left it.

use crate::event_source::Wake;
use crate::packed::PackedSegment;
use crate::trace::EventKind;
use crate::world::World;
use topology::{Aired, Hop, Step};

impl World {
    /// A packet comes to the station at the beginning of a lane.
    pub(crate) fn offer_air(&mut self, packet: PackedSegment, lane: u32) {
        if !self.air.offer(self.now, lane, packet) {
            self.lose_air(packet, EventKind::Dropped);
            self.leave_host(&packet, lane);
        }
        self.schedule_medium(self.air.medium_of(lane));
    }

    /// A packet is lost before the line behind its lane.
    fn lose_air(&mut self, packet: PackedSegment, kind: EventKind) {
        let behind = self.hops[packet.cursor() as usize].step();
        let Step::Link(link) = behind else {
            unreachable!("{behind:?} behind a lane, where a line is");
        };
        self.lose(packet, link, kind);
    }

    /// Has a medium woken when it next has something to do.
    pub(crate) fn schedule_medium(&mut self, medium: u32) {
        let source = self.sources.source(Wake::Medium(medium));
        self.agenda.reschedule(source, self.air.next_wake(medium));
    }

    /// Something happens on a medium.
    pub(crate) fn wake_air(&mut self, medium: u32) {
        let mut aired = std::mem::take(&mut self.aired);
        self.air.wake(self.now, medium, &mut aired);
        for outcome in aired.drain(..) {
            match outcome {
                Aired::Out(packet) => self.enter(packet),
                Aired::Lost(packet) => self.lose_air(packet, EventKind::Lost),
                Aired::Done { lane, frame, lost } => {
                    let flow = self.leave_host(&frame, lane);
                    if lost {
                        self.lose_air(frame, EventKind::Lost);
                    }
                    if let Some(flow) = flow {
                        self.pump(flow);
                    }
                }
            }
        }
        self.aired = aired;
        self.schedule_medium(medium);
    }

    /// A data packet has left its sender's host, if `lane` is where it left from; returns whose it is.
    fn leave_host(&mut self, packet: &PackedSegment, lane: u32) -> Option<u32> {
        let first = packet.cursor().checked_sub(1)?; // it stands at the hop behind the lane
        let number = packet.path();
        let route = self.routes[number as usize];
        let begins = first == route.forward && self.hops[first as usize] == Hop::lane(lane);
        let own = !packet.is_ack() && begins;
        if !own {
            return None;
        }
        let flow = &mut self.flows[route.flow as usize];
        if !flow.small_queue {
            return None;
        }
        flow.sender.on_sent((number - flow.first_path) as usize, packet.as_data().len);
        Some(route.flow)
    }
}
