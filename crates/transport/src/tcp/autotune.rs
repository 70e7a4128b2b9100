//! Sizing of the receive buffer: twice the data of the last round trip.
//!
//! Source: Fisk and Feng, "Dynamic right-sizing in TCP", 2001; amounts as in Linux
//! (`tcp_rcv_space_adjust`). A receiver has no round-trip samples of its own. But data beyond the
//! edge of its window can only have been sent after the ACK that moved the edge. So the time until
//! that data arrives is a round trip or more, and the shortest such time is taken as the round
//! trip.

use crate::options::Options;
use units::{Span, Time};

/// The buffer at the start, in bytes (Linux' `tcp_rmem[1]`).
const AUTOTUNED_FROM: u64 = 131_072;

impl Options {
    /// The first announced receive buffer, in bytes.
    pub fn first_buffer(&self) -> u64 {
        match self.autotune {
            true => self.receive_buffer.0.min(AUTOTUNED_FROM),
            false => self.receive_buffer.0,
        }
    }
}

/// The buffer of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Autotune {
    buffer: u64,
    most: u64,
    /// The estimated round trip, once known.
    rtt: Option<Span>,
    /// The right edge of the last announced window.
    edge: u64,
    /// The ACK being timed: its time, and the edge that it moved.
    timed: (Time, u64),
    /// The present measurement of the amount: its start, and its first byte.
    measured: (Time, u64),
}

impl Autotune {
    /// A buffer that may grow up to `most` bytes.
    pub(crate) fn new(most: u64) -> Self {
        let buffer = AUTOTUNED_FROM.min(most);
        let start = (Time::ZERO, 0);
        Autotune { buffer, most, rtt: None, edge: buffer, timed: start, measured: start }
    }

    /// The buffer now, in bytes.
    pub(crate) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// All data below `data_next` has arrived at `now`; segments have `segment` bytes.
    pub(crate) fn on_data(&mut self, now: Time, data_next: u64, segment: u64) {
        let (since, edge) = self.timed;
        if data_next > edge {
            if edge > 0 {
                let took = now.since(since);
                self.rtt = Some(self.rtt.map_or(took, |rtt| rtt.min(took)));
            }
            self.timed = (now, self.edge);
        }
        let (since, from) = self.measured;
        if self.rtt.is_some_and(|rtt| now.since(since) >= rtt) {
            let wanted = 2 * (data_next - from) + 16 * segment;
            self.buffer = self.buffer.max(wanted.min(self.most));
            self.measured = (now, data_next);
        }
        self.edge = self.edge.max(data_next + self.buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_grows_to_twice_the_window_that_arrives_and_no_further_than_it_may() {
        for (most, expected) in
            [(64 << 20, 2_000_000..2_100_000), (1 << 20, (1 << 20)..(1 << 20) + 1)]
        {
            // A sender with a window of 1 MB, a line of 50 ms each way, in steps of 1 ms.
            let mut tune = Autotune::new(most);
            // the announced window reaches the sender 50 ms later
            let mut edges = vec![tune.buffer(); 101];
            let mut sent = vec![0; 101]; // and the data sent for it arrives after 50 ms more
            for ms in 101..5_000_usize {
                let arrived = sent[ms - 50];
                tune.on_data(Time(ms as u64 * 1_000_000), arrived, 1_000);
                edges.push(arrived + tune.buffer());
                let acknowledged = sent[ms - 100];
                sent.push(
                    (acknowledged + 1_000_000).min(edges[ms - 50]).min(sent[ms - 1] + 20_000),
                );
            }
            assert!(expected.contains(&tune.buffer()), "{}", tune.buffer());
        }
    }
}
