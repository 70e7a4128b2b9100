//! The results of an emulation: measures of links and paths, and the emulator's own timing errors.

use topology::{Histogram, LinkResult, LinkSeries, StationResult};
use units::Span;

/// The results of one emulation. Measures of links and paths cover the time after the warm-up.
#[derive(Clone, Debug)]
pub struct Report {
    /// One row for each link of the plan.
    pub links: Vec<LinkResult>,
    /// One row for each station of each medium.
    pub stations: Vec<StationResult>,
    /// One row for each path of each user: classes in their order, users in theirs, then paths.
    pub paths: Vec<PathResult>,
    /// Samples over time, if requested.
    pub series: Option<Box<Series>>,
    /// The emulator's own errors and cost.
    pub own: Own,
}

/// A path of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct PathResult {
    /// Index of its class.
    pub class: u32,
    /// Which user of the class.
    pub user: u32,
    /// Which of its paths.
    pub path: u32,
    /// IP bytes that came out in the direction of data, in bit/s.
    pub throughput_bps: f64,
    /// Packets that entered in the direction of data.
    pub sent_packets: u64,
    /// Packets of these that were dropped or lost.
    pub lost_packets: u64,
}

/// Samples over time. Matrices are stored row by row, one row for each sample.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Times of the samples.
    pub t_s: Vec<f64>,
    /// IP bytes arrived since the start, one column for each path.
    pub arrived_bytes: Vec<f64>,
    /// One column for each link of the plan.
    pub links: LinkSeries,
}

/// The emulator's own error and cost since the start.
#[derive(Clone, Debug)]
pub struct Own {
    /// How late packets were written.
    pub lateness: Lateness,
    /// Upper bound on the wait of packets at a device while the emulator was awake: the delay with
    /// which they entered the network.
    pub waiting: Lateness,
    /// Use of processors by the forwarding thread.
    pub processor: Processor,
    /// The largest IP packet seen, in bytes.
    pub largest_packet_bytes: u32,
    /// How long it ran.
    pub elapsed_s: f64,
    /// Packets that the emulator itself dropped.
    pub drops: Drops,
    /// The places of all packets.
    pub conservation: Conservation,
}

/// The forwarding thread's time on a processor and waiting for one, as fractions of the elapsed
/// time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processor {
    /// Running.
    pub used: f64,
    /// Ready to run but waiting; `NaN` if the kernel does not report it.
    pub waited: f64,
}

/// Lateness of an event, over all packets; `NaN` without packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lateness {
    /// Median.
    pub p50_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// Maximum.
    pub max_s: f64,
}

/// Collects lateness.
#[derive(Clone, Debug, Default)]
pub struct LatenessMeter {
    histogram: Histogram,
    max: Span,
}

impl LatenessMeter {
    /// Adds an event.
    pub fn add(&mut self, late: Span) {
        self.histogram.add(late.seconds());
        self.max = self.max.max(late);
    }

    /// The lateness of all events.
    pub fn get(&self) -> Lateness {
        let [p50_s, p99_s, p999_s] = [0.5, 0.99, 0.999].map(|q| self.histogram.quantile(q));
        let max_s = if p50_s.is_nan() { f64::NAN } else { self.max.seconds() };
        Lateness { p50_s, p99_s, p999_s, max_s }
    }
}

/// The reason why the emulator, instead of a link, dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not TCP or UDP over IPv4; systems send a few such packets on any device, which is harmless.
    Foreign,
    /// A fragment of an IP packet, which has no ports.
    Fragment,
    /// The receiver's port belongs to no user of the class.
    NoSuchUser,
    /// Larger than the packets of the class: an offload is on, or the MTU is wrong.
    Oversize,
    /// The device refused it.
    WriteError,
    /// The links hold more packets than there are buffers.
    SlabExhausted,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 6] = [
        Reason::Foreign,
        Reason::Fragment,
        Reason::NoSuchUser,
        Reason::Oversize,
        Reason::WriteError,
        Reason::SlabExhausted,
    ];

    /// The reason as a word in results.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Foreign => "foreign",
            Reason::Fragment => "fragment",
            Reason::NoSuchUser => "no_such_user",
            Reason::Oversize => "oversize",
            Reason::WriteError => "write_error",
            Reason::SlabExhausted => "slab_exhausted",
        }
    }
}

/// Packets that the emulator itself dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Reason::ALL.len()]);

impl Drops {
    /// Packets dropped for `reason`.
    pub fn get(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    pub(crate) fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// Packets dropped for any reason.
    pub fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Packets of all kinds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Read from a device.
    pub read: u64,
    /// Duplicated by a link.
    pub copied: u64,
    /// Written to a device.
    pub written: u64,
    /// Dropped by a queue, lost at random, or dropped by the emulator itself.
    pub dropped: u64,
    /// Inside a link.
    pub in_flight: u64,
}

impl Conservation {
    /// Read + copied = written + dropped + in flight.
    pub fn holds(&self) -> bool {
        self.read + self.copied == self.written + self.dropped + self.in_flight
    }
}
