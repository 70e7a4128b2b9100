//! What receivers do: data that is not usual arrives, and answers leave, at once or later. Usual
//! data is in `world.rs`, and data that is answered ahead of time in `feeding.rs`.

use crate::ends::Ends;
use crate::event_source::Wake;
use crate::packed::{Envelope, PackedSegment};
use crate::world::{Flow, Path, World};
use transport::tcp::DelayedData;
use transport::{ReceivingEndpoint, Transmit};
use units::Time;
use wire::{Ack, Data, Segment};

impl World {
    pub(crate) fn wake_receiver(&mut self, flow: u32) {
        if matches!(self.flows[flow as usize].ends, Ends::Tfrc(_)) {
            while self.send_report(flow) {}
        }
        while let Some(answer) = self.flows[flow as usize].ends.poll_answer(self.now) {
            self.answer(flow, answer);
        }
        self.expect_answer(flow);
    }

    /// When the receiver's next answer is due, if none is due now: the one of this wake-up has left
    /// meanwhile.
    pub(crate) fn moved_answer(&self, flow: u32) -> Option<Time> {
        let due = self.flows[flow as usize].ends.receiver_deadline();
        (due > self.now).then_some(due)
    }

    /// Schedules the receiver's next answer.
    fn expect_answer(&mut self, flow: u32) {
        let due = self.flows[flow as usize].ends.receiver_deadline();
        self.agenda.advance(self.sources.source(Wake::Receiver(flow)), due);
    }

    /// Data of TCP arrived that is not usual, or whose ACK may wait.
    #[inline(never)] // keeps the code of usual data short
    pub(crate) fn arrive_unusual_data(&mut self, flow: u32, path: usize, data: &Data) {
        let Flow { ends: Ends::Tcp(tcp), header, first_path, .. } = &mut self.flows[flow as usize]
        else {
            unreachable!("data of TCP arrived at a receiver of another protocol")
        };
        let delayed = match self.watch {
            None => tcp.receiver.on_delayed_data(self.now, path, data),
            Some(_) => DelayedData::No,
        };
        match delayed {
            DelayedData::Acked(ack, transit) => {
                let path = *first_path + path as u32;
                let Path { back, lower_effort, .. } = self.paths[path as usize];
                let header = u32::from(*header);
                let envelope = Envelope { header, path, cursor: back, lower_effort };
                let packet = PackedSegment::timed_ack(&ack, transit, envelope, &mut self.store);
                self.launch(packet);
            }
            DelayedData::Due(at) => {
                self.agenda.advance(self.sources.source(Wake::Receiver(flow)), at);
            }
            DelayedData::No => match tcp.receiver.on_data(self.now, path, data) {
                Some(ack) => self.send_ack(flow, path, &ack),
                None => self.expect_answer(flow),
            },
        }
    }

    /// Data arrived at its receiver, of any protocol.
    #[inline(never)] // keeps the code of TCP's data short
    pub(crate) fn arrive_data(&mut self, flow: u32, path: usize, packet: &PackedSegment) {
        if !self.on_tfrc_data(flow, path, packet) {
            self.arrive_any_data(flow, path, packet);
        }
    }

    #[inline(never)] // keeps the code of TFRC's data short
    fn arrive_any_data(&mut self, flow: u32, path: usize, packet: &PackedSegment) {
        let segment = packet.unpack(&mut self.store);
        match self.flows[flow as usize].ends.on_data(self.now, path, segment) {
            Some(segment) => self.answer(flow, Transmit { path, segment }),
            None => self.expect_answer(flow),
        }
    }

    #[inline(always)] // runs for every segment
    fn send_ack(&mut self, flow: u32, path: usize, ack: &Ack) {
        if self.watch.is_some() {
            return self.answer(flow, Transmit { path, segment: (*ack).into() });
        }
        let Flow { first_path, header, .. } = self.flows[flow as usize];
        let path = first_path + path as u32;
        let Path { back, lower_effort, .. } = self.paths[path as usize];
        let envelope = Envelope { header: u32::from(header), path, cursor: back, lower_effort };
        let packet = PackedSegment::ack(ack, envelope, &mut self.store);
        self.launch(packet);
    }

    /// A receiver sends an answer of any protocol.
    #[cold]
    fn answer(&mut self, flow: u32, Transmit { path, segment }: Transmit<Segment>) {
        let Flow { first_path, header, .. } = self.flows[flow as usize];
        let path = first_path + path as u32;
        let Path { back, lower_effort, .. } = self.paths[path as usize];
        let envelope = Envelope { header: u32::from(header), path, cursor: back, lower_effort };
        let packet = PackedSegment::pack(segment, envelope, &mut self.store);
        if let Some(watch) = &mut self.watch {
            watch.answered(self.now, path, &packet.segment(&self.store));
        }
        self.launch(packet);
    }
}
