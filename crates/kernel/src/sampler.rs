//! Round trips of the subflows under our controllers over time, from repeated reading of what TCP
//! keeps of the last packet that was delivered.
//!
//! That is the last round trip itself, and the time at which the newest delivered packet was sent:
//! a smoothed round trip would be a mean over a time of its own, and the queue of a moment is what
//! subflows of one bottleneck have in common. A reading gives at most one round trip of a subflow.

use crate::subflow::{Reader, Subflow};
use libbpf_rs::Error;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Most samples that are kept of a subflow: ten minutes of a hundred a second.
const MOST: usize = 60_000;

/// What was read of a subflow, in the order of time.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The number of its network namespace.
    pub namespace: u64,
    /// As it was read last.
    pub last: Subflow,
    /// When packets were sent, µs since boot.
    pub sent_us: Vec<u64>,
    /// Their round trips in µs.
    pub rtt_us: Vec<u32>,
    /// The smoothed round trip at that time in µs.
    pub srtt_us: Vec<u32>,
    /// When congestion events were found, µs since boot.
    pub lost_us: Vec<u64>,
}

/// A subflow: its namespace, its addresses, and its connection, for ports are used again.
type Key = (u64, SocketAddr, SocketAddr, u64);

/// Reads the subflows again and again, and keeps their round trips.
pub struct Sampler {
    reader: Reader,
    sampled: BTreeMap<Key, Sampled>,
}

impl Sampler {
    /// # Errors
    /// As [`Reader::new`].
    pub fn new() -> Result<Self, Error> {
        Ok(Sampler { reader: Reader::new()?, sampled: BTreeMap::new() })
    }

    /// Reads the calling thread's network namespace, which has this number. Returns how many
    /// subflows were found.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn look(&mut self, namespace: u64) -> Result<usize, Error> {
        let rows = self.reader.read()?;
        let begun: Vec<Subflow> = rows.into_iter().filter(|row| row.begun).collect();
        let found = begun.len();
        for row in begun {
            let key = (namespace, row.local, row.remote, row.connection);
            self.sampled
                .entry(key)
                .and_modify(|own| own.take(&row))
                .or_insert_with(|| Sampled::new(namespace, row));
        }
        Ok(found)
    }

    /// All subflows that were found, in the order of their names.
    pub fn sampled(&self) -> impl Iterator<Item = &Sampled> {
        self.sampled.values()
    }
}

impl Sampled {
    fn new(namespace: u64, last: Subflow) -> Self {
        Sampled {
            namespace,
            last,
            sent_us: Vec::new(),
            rtt_us: Vec::new(),
            srtt_us: Vec::new(),
            lost_us: Vec::new(),
        }
    }

    /// Takes a new reading, which has a sample if a packet was delivered since the last one.
    fn take(&mut self, row: &Subflow) {
        let newer = row.sent_us > self.last.sent_us;
        if newer && row.rtt_us > 0 && self.sent_us.len() < MOST {
            self.sent_us.push(row.sent_us);
            self.rtt_us.push(row.rtt_us);
            self.srtt_us.push(row.srtt_us);
        }
        if row.losses != self.last.losses && self.lost_us.len() < MOST {
            self.lost_us.push(row.sent_us + u64::from(row.srtt_us));
        }
        self.last = row.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sent_us: u64, rtt_us: u32, losses: u32) -> Subflow {
        Subflow {
            controller: "ab_lia".into(),
            begun: true,
            backup: false,
            departed: false,
            local: SocketAddr::from(([10, 0, 0, 1], 1)),
            remote: SocketAddr::from(([10, 0, 0, 2], 2)),
            state: 1,
            ca_state: 0,
            cwnd: 10,
            ssthresh: 5,
            srtt_us: 20_000,
            delivered: 0,
            rtt_us,
            sent_us,
            mss: 1448,
            rate: (0, 0),
            connection: 7,
            credit: 0,
            growth: 0,
            since_loss: 0,
            between_losses: 0,
            losses,
            missed: 0,
            repairs: 0,
            paths: 2,
            group: 0,
        }
    }

    #[test]
    fn a_reading_without_a_newer_packet_is_no_sample_and_the_first_one_is_none() {
        let mut own = Sampled::new(1, row(100, 5_000, 3));
        assert!(own.sent_us.is_empty() && own.lost_us.is_empty());
        for (sent_us, rtt_us) in [(100, 5_000), (200, 6_000), (200, 7_000), (300, 0), (400, 8_000)]
        {
            own.take(&row(sent_us, rtt_us, 3));
        }
        assert_eq!((own.sent_us, own.rtt_us), (vec![200, 400], vec![6_000, 8_000]));
        assert!(own.lost_us.is_empty());
    }

    #[test]
    fn several_losses_between_two_readings_are_one_event_about_now() {
        let mut own = Sampled::new(1, row(100, 5_000, 3));
        own.take(&row(1_000_000, 6_000, 5));
        own.take(&row(1_010_000, 6_000, 5));
        assert_eq!(own.lost_us, vec![1_020_000]);
    }
}
