//! Where a sender's data comes from.

use units::{Bytes, Rate, Span, Time};

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Always more.
    Bulk,
    /// So many bytes, then nothing.
    Transfer(Bytes),
    /// Writes of one segment at a constant rate of payload.
    Paced(Rate),
}

impl Source {
    /// Payload bytes written in the first `since_start` of the connection, in whole segments of
    /// `segment` bytes for a paced source.
    pub(crate) fn written(&self, since_start: Span, segment: u32) -> u64 {
        match self {
            Source::Bulk => u64::MAX,
            Source::Transfer(Bytes(bytes)) => *bytes,
            Source::Paced(Rate(bps)) => {
                let bits = u128::from(since_start.0) * u128::from(*bps) / 1_000_000_000;
                let segments = bits / (8 * u128::from(segment)) + 1; // the first one at once
                segments as u64 * u64::from(segment)
            }
        }
    }

    /// When more than `bytes` will have been written, if the source is waiting for time to pass.
    pub(crate) fn next_write(&self, start: Time, bytes: u64) -> Option<Time> {
        let Source::Paced(Rate(bps)) = self else {
            return None;
        };
        let ns = (u128::from(bytes) * 8 * 1_000_000_000).div_ceil(u128::from(*bps));
        Some(start + Span(ns as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paced_source_writes_a_segment_whenever_its_rate_has_earned_one() {
        let source = Source::Paced(Rate(8_000_000)); // 1000 B each ms
        assert_eq!(source.written(Span::ZERO, 1000), 1000);
        let next = source.next_write(Time::ZERO, 1000).unwrap();
        assert_eq!(next, Time(1_000_000));
        assert_eq!(source.written(next.since(Time::ZERO), 1000), 2000);
        assert_eq!(source.written(Span(next.0 - 1), 1000), 1000);
    }
}
