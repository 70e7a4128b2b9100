//! The short way of TFRC's packets through the world, if nobody observes them: they are not
//! converted to a segment of any protocol, and a report is written to where it stays until it
//! arrives.

use crate::controller::Controller;
use crate::ends::{Ends, Pair};
use crate::event_source::Wake;
use crate::packed::{Envelope, PackedSegment};
use crate::world::{Flow, Path, World};
use transport::{ReceivingEndpoint, SendingEndpoint, Transmit, tfrc};
use units::Time;

type Tfrc = Pair<tfrc::Sender<Controller>, tfrc::Receiver>;

impl World {
    /// Both ends of `flow`, if they are of TFRC and nobody observes them; its sender limits no
    /// packets in the host.
    fn unobserved(&mut self, flow: u32) -> Option<(&mut Tfrc, u32, u16)> {
        match &mut self.flows[flow as usize] {
            Flow { ends: Ends::Tfrc(tfrc), first_path, header, small_queue: false }
                if self.watch.is_none() =>
            {
                Some((tfrc, *first_path, *header))
            }
            _ => None,
        }
    }

    /// A packet arrived at its receiver. Returns whether it was one of TFRC.
    pub(crate) fn on_tfrc_data(&mut self, flow: u32, path: usize, packet: &PackedSegment) -> bool {
        let now = self.now;
        let Some(((tfrc, ..), data)) = self.unobserved(flow).zip(packet.as_tfrc_data()) else {
            return false;
        };
        if let Some(due) = tfrc.receiver.on_packet(now, path, &data) {
            self.agenda.advance(self.sources.source(Wake::Receiver(flow)), due);
        }
        true
    }

    /// A report arrived at its sender. Returns whether it was one of TFRC.
    pub(crate) fn on_report(&mut self, flow: u32, path: usize, packet: &PackedSegment) -> bool {
        let World { flows, store, watch: None, now, .. } = self else { return false };
        let Flow { ends: Ends::Tfrc(tfrc), small_queue: false, .. } = &mut flows[flow as usize]
        else {
            return false;
        };
        let Some(report) = packet.report(store) else { return false };
        tfrc.sender.on_answer(*now, path, report);
        packet.discard(store);
        true
    }

    /// A sender's timer has fired, or a turn has come. Returns when it wakes next if it is one of
    /// TFRC.
    #[inline(never)] // keeps the code of TCP's wake-ups short
    pub(crate) fn wake_tfrc(&mut self, flow: u32) -> Option<Time> {
        let now = self.now;
        let (tfrc, ..) = self.unobserved(flow)?;
        tfrc.sender.on_deadline(now);
        self.pump_tfrc(flow)
    }

    /// Sends all packets that a sender may send. Returns its next deadline if it is one of TFRC.
    pub(crate) fn pump_tfrc(&mut self, flow: u32) -> Option<Time> {
        let now = self.now;
        while let Some((tfrc, first_path, header)) = self.unobserved(flow) {
            if tfrc.sender.waits() {
                return Some(tfrc.sender.next_deadline().max(now));
            }
            let Some(Transmit { path, segment }) = tfrc.sender.poll_transmit(now) else {
                continue; // it waits now
            };
            let path = first_path + path as u32;
            let Path { forward: cursor, lower_effort, count, .. } = &mut self.paths[path as usize];
            count.sent += 1;
            let (cursor, lower_effort) = (*cursor, *lower_effort);
            let envelope = Envelope { header: u32::from(header), path, cursor, lower_effort };
            self.launch(PackedSegment::tfrc_data(&segment, envelope));
        }
        None
    }

    /// Sends a report of a receiver that is due. Returns whether it was one of TFRC.
    pub(crate) fn send_report(&mut self, flow: u32) -> bool {
        let World { flows, store, watch: None, now, .. } = self else { return false };
        let Flow { ends: Ends::Tfrc(tfrc), first_path, header, .. } = &mut flows[flow as usize]
        else {
            return false;
        };
        if tfrc.receiver.next_deadline() > *now {
            return false;
        }
        let (place, report) = store.new_report();
        let path = tfrc.receiver.write_report(*now, report).expect("one is due");
        let (bytes, path) = (report.bytes(), *first_path + path as u32);
        let Path { back: cursor, lower_effort, .. } = self.paths[path as usize];
        let envelope = Envelope { header: u32::from(*header), path, cursor, lower_effort };
        self.launch(PackedSegment::stored_report(place, bytes, envelope));
        true
    }
}
