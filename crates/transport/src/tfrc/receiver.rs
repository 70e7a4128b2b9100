//! A receiver of TFRC: packets in, a report for each path once in a round trip.

use super::arrivals::Arrivals;
use super::times::Times;
use crate::endpoint::{ReceivingEndpoint, Transmit};
use crate::reassembly::Reassembly;
use units::Time;
use wire::{Range, TfrcData, TfrcReport};

/// Most missing ranges in a report.
const MISSING: usize = 64;

/// The receiving end of one connection.
#[derive(Debug)]
pub struct Receiver {
    paths: Box<[Path]>,
    /// When the next report of each path is due; never if no packet has arrived since the last one.
    due: Times,
    data: Reassembly,
}

/// The receiving side of one path.
#[derive(Debug)]
struct Path {
    arrivals: Arrivals,
    /// Payload bytes received.
    taken: u64,
}

impl Receiver {
    /// A receiver over `paths` paths with a buffer of `buffer` bytes.
    pub fn new(buffer: u64, paths: usize) -> Self {
        let due = Times::new(paths, Time::NEVER);
        let path = || Path { arrivals: Arrivals::default(), taken: 0 };
        let paths = std::iter::repeat_with(path).take(paths).collect();
        Receiver { paths, due, data: Reassembly::new(buffer) }
    }

    /// A packet arrived on `path`. Returns when the next report is due if that is earlier than
    /// before. It is [`ReceivingEndpoint::on_data`] for a driver that has set a timer.
    pub fn on_packet(&mut self, now: Time, path: usize, data: &TfrcData) -> Option<Time> {
        let before = self.due.first();
        let side = &mut self.paths[path];
        let due = side.arrivals.on_data(now, data);
        side.taken += u64::from(data.len);
        if due < self.due.all()[path] {
            self.due.set(path, due);
        }
        self.data.insert(Range { start: data.dsn, end: data.dsn + u64::from(data.len) });
        Some(due).filter(|due| *due < before)
    }

    /// Writes a report that is due at `now`, and returns its path; call until `None`. It is
    /// [`ReceivingEndpoint::on_deadline`] for a driver that keeps the memory of reports.
    pub fn write_report(&mut self, now: Time, report: &mut TfrcReport) -> Option<usize> {
        let path = self.due.lowest_by(now)?;
        self.due.set(path, Time::NEVER);
        self.paths[path].arrivals.write_report(now, report);
        (report.data_ack, report.window_edge) = (self.data.next, self.data.edge());
        report.missing.clear();
        report.missing.extend(self.data.missing().take(MISSING));
        Some(path)
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = TfrcData;
    type Answer = TfrcReport;

    fn on_data(&mut self, now: Time, path: usize, data: &TfrcData) -> Option<TfrcReport> {
        self.on_packet(now, path, data);
        None
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<TfrcReport>> {
        let mut segment = TfrcReport::default();
        self.write_report(now, &mut segment).map(|path| Transmit { path, segment })
    }

    fn join(&mut self, path: usize, _first: u64) {
        let taken = self.paths[path].taken;
        self.paths[path] = Path { arrivals: Arrivals::default(), taken };
        self.due.set(path, Time::NEVER);
    }

    fn next_deadline(&self) -> Time {
        self.due.first()
    }

    fn delivered(&self) -> u64 {
        self.data.next
    }

    fn held(&self) -> u64 {
        self.data.held()
    }

    fn taken(&self, path: usize) -> u64 {
        self.paths[path].taken
    }
}
