//! Packets on a medium: they wait in the queue of a station, and the sender that is on the same host is told when they
//! have left it.

use crate::parcel::Parcel;
use crate::trace::EventKind;
use crate::world::World;
use topology::{Aired, LANES};

impl World {
    /// A parcel comes to the station at the beginning of a lane.
    pub(crate) fn offer_air(&mut self, parcel: Parcel, lane: u32) {
        if !self.air.offer(self.now, lane, parcel) {
            self.lose_air(parcel, EventKind::Dropped);
            self.leave_host(&parcel, lane);
        }
        self.schedule_medium(self.air.medium_of(lane));
    }

    /// A parcel is lost before the line behind its lane.
    fn lose_air(&mut self, parcel: Parcel, kind: EventKind) {
        self.lose(parcel, self.hops[parcel.cursor() as usize], kind);
    }

    /// Has a medium woken when it next has something to do.
    pub(crate) fn schedule_medium(&mut self, medium: u32) {
        let element = (self.links.len() + 2 * self.flows.len() + 1) as u32 + medium;
        self.agenda.reschedule(element, self.air.next_wake(medium));
    }

    /// Something happens on a medium.
    pub(crate) fn wake_air(&mut self, medium: u32) {
        let mut aired = std::mem::take(&mut self.aired);
        self.air.wake(self.now, medium, &mut aired);
        for outcome in aired.drain(..) {
            match outcome {
                Aired::Out(parcel) => self.enter(parcel),
                Aired::Lost(parcel) => self.lose_air(parcel, EventKind::Lost),
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
    fn leave_host(&mut self, parcel: &Parcel, lane: u32) -> Option<u32> {
        let first = parcel.cursor().checked_sub(1)?; // it stands at the hop behind the lane
        let number = parcel.path();
        let route = self.routes[number as usize];
        let own =
            !parcel.is_ack() && first == route.forward && self.hops[first as usize] == LANES + lane;
        if !own {
            return None;
        }
        let flow = &mut self.flows[route.flow as usize];
        if !flow.small_queue {
            return None;
        }
        flow.sender.on_sent((number - flow.first_path) as usize, parcel.as_data().len);
        Some(route.flow)
    }
}
