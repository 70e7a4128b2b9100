//! The shared sensing state of stations that have sensed the same. Where all stations hear each
//! other, nearly all of them share it at any time. Their sensing is stored once, and only the first
//! backoff to end is looked at, so that the cost of a frame does not depend on the number of
//! listening stations.

use super::phy::Phy;
use super::sensing::Sensing;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// Stations with one sensing state that count the same slots.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) sensing: Sensing,
    /// Slots that they have counted from the start of the run until the last start of the count.
    counted: u64,
    /// Stations with a packet to send, by the count at which their backoff ends.
    ends: BinaryHeap<Reverse<End>>,
}

/// The count at which a backoff ends and, in the lower bits, its station: one integer, because a
/// heap compares a lot. Its 48 bits of slots of 9 µs are eighty years.
type End = u64;

/// Bits of the station in an [`End`].
const STATION_BITS: u32 = 16;

fn end_of(count: u64, station: usize) -> End {
    debug_assert!(station < 1 << STATION_BITS, "too many stations");
    debug_assert!(count < 1 << (u64::BITS - STATION_BITS), "too many slots");
    count << STATION_BITS | station as u64
}

/// The count and the station.
fn parts(end: End) -> (u64, usize) {
    (end >> STATION_BITS, (end & ((1 << STATION_BITS) - 1)) as usize)
}

impl Together {
    pub(super) fn new() -> Self {
        Together { sensing: Sensing::IDLE, counted: 0, ends: BinaryHeap::new() }
    }

    /// Adds `station` with `slots` left of its backoff; `sends` says that it has a packet to send.
    /// Returns the count at which the backoff ends.
    pub(super) fn join(&mut self, station: usize, slots: u32, sends: bool) -> u64 {
        let end = self.counted + u64::from(slots);
        if sends {
            self.ends.push(Reverse(end_of(end, station)));
        }
        end
    }

    /// Slots left of a backoff that ends at this count.
    pub(super) fn left(&self, end: u64) -> u32 {
        end.saturating_sub(self.counted) as u32
    }

    /// When the first of the stations sends, if nothing happens before.
    pub(super) fn sends_at(&self, phy: &Phy) -> Time {
        match self.ends.peek() {
            None => Time::NEVER,
            Some(Reverse(end)) => {
                self.sensing.ends(parts(*end).0.saturating_sub(self.counted), phy)
            }
        }
    }

    /// Takes out the next station that sends before `before`, with its time.
    pub(super) fn take_before(&mut self, before: Time, phy: &Phy) -> Option<(usize, Time)> {
        let at = self.sends_at(phy);
        let Reverse(end) = if at < before { self.ends.pop()? } else { return None };
        Some((parts(end).1, at))
    }

    /// A transmission begins; all of the stations sense it.
    #[inline] // runs twice for every frame
    pub(super) fn sense(&mut self, now: Time, phy: &Phy) {
        self.counted += u64::from(self.sensing.sense(now, phy));
    }

    /// Removes all stations.
    pub(super) fn dissolve(&mut self) {
        self.ends.clear();
    }
}
