//! Proportional rate reduction: the bytes that recovery may send for the bytes delivered.
//!
//! Source: RFC 6937 §3, with the slow-start reduction bound. In whole segments, as in its examples.

/// The state of one recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Prr {
    /// Bytes delivered since recovery began (`prr_delivered`).
    delivered: u64,
    /// Bytes sent since recovery began (`prr_out`).
    out: u64,
    /// Bytes outstanding when recovery began (`RecoverFS`), at least one segment.
    recover_fs: u64,
    /// Bytes that may be sent before the next ACK (`sndcnt`).
    allowance: u64,
}

impl Prr {
    pub(crate) fn enter(outstanding: u64, segment: u64) -> Self {
        Prr { recover_fs: outstanding.max(segment), ..Prr::default() }
    }

    /// An ACK delivered `delivered` bytes and left `pipe` in flight; `ssthresh` in segments.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: f64, segment: u64) {
        self.delivered += delivered;
        let (segment, segment_bytes) = (float(segment), segment);
        let segments = |bytes: u64| float(bytes) / segment;
        let target = ssthresh * segment;
        let count = if float(pipe) > target {
            // Never a fraction of a segment: round up, as CEIL does over segments.
            let due = ceil(segments(self.delivered) * ssthresh / segments(self.recover_fs));
            due - segments(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + segment_bytes;
            (segments(whole(target)) - segments(pipe)).min(segments(bound))
        };
        self.allowance = whole(count.max(0.0) * segment + 0.5);
    }

    /// The fast retransmission that opens recovery is sent whatever the proportion allows.
    pub(crate) fn allow_first(&mut self, segment: u64) {
        self.allowance = self.allowance.max(segment);
    }

    /// Bytes that may be sent before the next ACK.
    pub(crate) fn allowance(&self) -> u64 {
        self.allowance
    }

    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.allowance = self.allowance.saturating_sub(bytes);
    }
}

/// A number of bytes, which is below 2^63: then a processor converts it in one step.
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// The whole part of a positive number below 2^63.
fn whole(x: f64) -> u64 {
    x as i64 as u64
}

/// Round up, forgiving the last bits of a quotient that should be whole.
fn ceil(x: f64) -> f64 {
    let down = float(whole(x + 1e-9));
    if x > down + 1e-9 { down + 1.0 } else { down }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_delivered_is_sent_while_the_pipe_is_above_the_target() {
        // RecoverFS 10, ssthresh 5, one segment delivered for each ACK: 1, 0, 1, 0, …
        let mut prr = Prr::enter(10_000, 1_000);
        let mut pipe = 9_000;
        let sent: Vec<u64> = (0..6)
            .map(|_| {
                prr.on_ack(1_000, pipe, 5.0, 1_000);
                let mut sent = 0;
                while prr.allowance() >= 1_000 {
                    prr.on_sent(1_000);
                    sent += 1;
                }
                pipe = pipe - 1_000 + 1_000 * sent;
                sent
            })
            .collect();
        assert_eq!(sent, [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn below_the_target_it_grows_by_at_most_one_segment_more_than_was_delivered() {
        let mut prr = Prr::enter(10_000, 1_000);
        prr.on_ack(1_000, 1_000, 5.0, 1_000);
        assert_eq!(prr.allowance(), 2_000);
    }
}
