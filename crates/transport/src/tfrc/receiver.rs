//! A receiver of TFRC: packets in, a report for each path once in a round trip.

use super::arrivals::Arrivals;
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
    data: Reassembly,
}

/// The receiving side of one path.
#[derive(Debug)]
struct Path {
    arrivals: Arrivals,
    /// When the next report is due; never if no packet has arrived since the last one.
    due: Time,
    /// Payload bytes received.
    taken: u64,
}

impl Receiver {
    /// A receiver over `paths` paths with a buffer of `buffer` bytes.
    pub fn new(buffer: u64, paths: usize) -> Self {
        let path = || Path { arrivals: Arrivals::default(), due: Time::NEVER, taken: 0 };
        let paths = std::iter::repeat_with(path).take(paths).collect();
        Receiver { paths, data: Reassembly::new(buffer) }
    }
}

impl ReceivingEndpoint for Receiver {
    type Data = TfrcData;
    type Answer = TfrcReport;

    fn on_data(&mut self, now: Time, path: usize, data: &TfrcData) -> Option<TfrcReport> {
        let side = &mut self.paths[path];
        side.due = side.due.min(side.arrivals.on_data(now, data));
        side.taken += u64::from(data.len);
        self.data.insert(Range { start: data.dsn, end: data.dsn + u64::from(data.len) });
        None
    }

    fn on_deadline(&mut self, now: Time) -> Option<Transmit<TfrcReport>> {
        let path = self.paths.iter().position(|side| side.due <= now)?;
        let side = &mut self.paths[path];
        side.due = Time::NEVER;
        let segment = TfrcReport {
            data_ack: self.data.next,
            window_edge: self.data.edge(),
            missing: self.data.missing().take(MISSING).collect(),
            ..side.arrivals.report(now)
        };
        Some(Transmit { path, segment })
    }

    fn join(&mut self, path: usize, _first: u64) {
        let taken = self.paths[path].taken;
        self.paths[path] = Path { arrivals: Arrivals::default(), due: Time::NEVER, taken };
    }

    fn next_deadline(&self) -> Time {
        self.paths.iter().map(|side| side.due).min().unwrap_or(Time::NEVER)
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
