//! What a transfer was like: by path, and over time.

use crate::lanes::{Ends, Life, Paths};
use crate::message::SendingPath;
use serde::Serialize;
use tokio::time::Instant;

/// Interval of samples in seconds.
const SAMPLE_S: f64 = 1.0;

/// A pair of addresses, with all paths that were open between them one after the other.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lane {
    /// Local address; empty if the kernel chose it.
    pub local: String,
    /// The server's address.
    pub remote: String,
    /// How often a path was opened.
    pub opened: u32,
    /// How often one did not open, or ended before the transfer.
    pub failures: u32,
    /// Whether one is open.
    pub open: bool,
    /// The last failure; empty if there was none.
    pub trouble: String,
    /// Bytes of UDP payload that came.
    pub received_bytes: u64,
    /// Those after the warm-up.
    pub measured_bytes: u64,
    /// Share of the bytes after the warm-up, between 0 and 1.
    pub share: f64,
    /// Round-trip time in seconds, as this side knows it.
    pub srtt_s: f64,
    /// Packets that the server sent on it.
    pub sent_packets: u64,
    /// Packets of those that it declared lost.
    pub lost_packets: u64,
    /// Congestion events of its controller.
    pub congestion_events: u64,
    /// The server's numbers of its paths.
    pub ids: Vec<String>,
}

/// How far it was at a time.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// Seconds since the server's answer.
    pub t_s: f64,
    /// Bytes of the file that came by then.
    pub received_bytes: u64,
    /// Bytes of UDP payload by then, for each path.
    pub lane_bytes: Vec<u64>,
}

/// What was transferred, how fast, and over what.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// HOST:PORT/NAME.
    pub target: String,
    /// Whether the whole file is here, and its digest right.
    pub complete: bool,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Bytes that were here before.
    pub resumed_at_bytes: u64,
    /// Bytes that came.
    pub received_bytes: u64,
    /// Seconds in which they came.
    pub duration_s: f64,
    /// Bytes that came after the warm-up.
    pub measured_bytes: u64,
    /// Seconds after the warm-up.
    pub measured_s: f64,
    /// Bits of the file per second after the warm-up.
    pub goodput_bps: f64,
    /// Digest of the whole file; none if it is not complete.
    pub sha256: Option<String>,
    /// Fingerprint of the server.
    pub fingerprint: String,
    /// The server's controller.
    pub controller: String,
    /// The paths, in the order of the options.
    pub lanes: Vec<Lane>,
    /// One for each second.
    pub samples: Vec<Sample>,
}

/// The state of all lanes.
pub(crate) fn lanes(ends: &[Ends], lives: &[Life], paths: &Paths) -> Vec<Lane> {
    ends.iter()
        .zip(lives)
        .map(|(ends, life)| {
            let (received_bytes, srtt_s) = paths.received(&life.ids);
            Lane {
                local: ends.local.map_or_else(String::new, |local| local.to_string()),
                remote: ends.remote.to_string(),
                opened: u32::try_from(life.ids.len()).unwrap_or(u32::MAX),
                failures: life.failures,
                open: life.open,
                trouble: life.trouble.clone(),
                received_bytes,
                srtt_s,
                ids: life.ids.iter().map(|id| id.to_string()).collect(),
                ..Lane::default()
            }
        })
        .collect()
}

/// Adds what the sender knows: both sides number paths alike.
pub(crate) fn with_sending(mut lanes: Vec<Lane>, sending: &[SendingPath]) -> Vec<Lane> {
    for lane in &mut lanes {
        for path in sending.iter().filter(|path| lane.ids.contains(&path.id)) {
            lane.sent_packets += path.sent_packets;
            lane.lost_packets += path.lost_packets;
            lane.congestion_events += path.congestion_events;
        }
    }
    lanes
}

/// A state at a time.
#[derive(Debug, Clone)]
struct Mark {
    at: Instant,
    received_bytes: u64,
    lane_bytes: Vec<u64>,
}

/// Counts what comes.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) received_bytes: u64,
    pub(crate) controller: String,
    warm_up_s: f64,
    began: Option<Mark>,
    warm: Option<Mark>,
    ended: Option<Mark>,
    samples: Vec<Sample>,
}

impl Meter {
    pub(crate) fn new(warm_up_s: f64) -> Self {
        Self {
            received_bytes: 0,
            controller: String::new(),
            warm_up_s,
            began: None,
            warm: None,
            ended: None,
            samples: Vec::new(),
        }
    }

    /// The server has answered.
    pub(crate) fn start(&mut self, lanes: Vec<Lane>) {
        let mark = self.mark(&lanes);
        if self.warm_up_s == 0.0 {
            self.warm = Some(mark.clone());
        }
        self.began = Some(mark);
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, lanes: &[Lane]) {
        let Some(began) = &self.began else { return };
        let t_s = began.at.elapsed().as_secs_f64();
        if self.warm.is_none() && t_s >= self.warm_up_s {
            self.warm = Some(self.mark(lanes));
        }
        if t_s >= SAMPLE_S * self.samples.len() as f64 {
            self.samples.push(Sample {
                t_s,
                received_bytes: self.received_bytes,
                lane_bytes: lanes.iter().map(|lane| lane.received_bytes).collect(),
            });
        }
    }

    /// The last byte that counts has come.
    pub(crate) fn end(&mut self, lanes: Vec<Lane>) {
        self.ended = Some(self.mark(&lanes));
    }

    fn mark(&self, lanes: &[Lane]) -> Mark {
        Mark {
            at: Instant::now(),
            received_bytes: self.received_bytes,
            lane_bytes: lanes.iter().map(|lane| lane.received_bytes).collect(),
        }
    }

    /// Fills in what it has counted. A transfer that ends in its warm-up is measured whole.
    pub(crate) fn report(mut self, mut report: Report) -> Report {
        report.received_bytes = self.received_bytes;
        report.controller = std::mem::take(&mut self.controller);
        report.samples = std::mem::take(&mut self.samples);
        let ended = self.ended.take().unwrap_or_else(|| self.mark(&report.lanes));
        let Some(began) = self.began else { return report };
        let warm = self.warm.unwrap_or_else(|| began.clone());
        report.duration_s = (ended.at - began.at).as_secs_f64();
        report.measured_s = (ended.at - warm.at).as_secs_f64();
        report.measured_bytes = ended.received_bytes - warm.received_bytes;
        if report.measured_s > 0.0 {
            report.goodput_bps = 8.0 * report.measured_bytes as f64 / report.measured_s;
        }
        let counts = ended.lane_bytes.iter().zip(&warm.lane_bytes);
        let counts: Vec<u64> =
            counts.map(|(after, before)| after.saturating_sub(*before)).collect();
        let all = counts.iter().sum::<u64>().max(1) as f64;
        for (lane, bytes) in report.lanes.iter_mut().zip(counts) {
            lane.measured_bytes = bytes;
            lane.share = bytes as f64 / all;
        }
        report
    }
}
