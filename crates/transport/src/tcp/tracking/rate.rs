//! The delivery rate of a path.
//!
//! Source: Cheng, Cardwell, Hassas Yeganeh and Jacobson,
//! draft-cheng-iccrg-delivery-rate-estimation-00 (symbols `C.delivered`, `C.delivered_time`,
//! `C.first_sent_time`, `C.app_limited`, `P.…`).

use super::log::{Sent, Stamp};
use units::{Span, Time};

/// The sample of the last ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// Bytes delivered so far (`C.delivered`).
    pub(crate) delivered: u64,
    /// The same when the newest delivered segment was sent (`rs.prior_delivered`).
    pub(crate) prior: Option<u64>,
    /// Bytes per second; zero if there is no sample.
    pub(crate) rate: f64,
    /// Whether the application limited it.
    pub(crate) app_limited: bool,
    /// Bytes found lost since the previous sample.
    pub(crate) lost: u64,
}

/// The state of one path.
#[derive(Debug)]
pub(crate) struct Rate {
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// Samples are application-limited until this many bytes are delivered; zero if they are not
    /// limited.
    app_limited: u64,
    min_rtt: Span,
    /// Bytes found lost as of the last sample.
    lost: u64,
    /// The newest segment that this ACK delivered: its stamp, and when it was sent.
    newest: Option<(Stamp, Time)>,
}

impl Default for Rate {
    fn default() -> Self {
        Rate {
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent_time: Time::ZERO,
            app_limited: 0,
            min_rtt: Span(u64::MAX),
            lost: 0,
            newest: None,
        }
    }
}

impl Rate {
    /// §3.2: a segment is sent while `pipe` is in flight.
    pub(crate) fn on_transmit(&mut self, now: Time, pipe: u64) -> Stamp {
        if pipe == 0 {
            (self.first_sent_time, self.delivered_time) = (now, now);
        }
        Stamp {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            app_limited: self.app_limited > 0,
        }
    }

    /// An ACK is about to be processed.
    pub(crate) fn begin(&mut self) {
        self.newest = None;
    }

    /// §3.3: the ACK delivered `sent`.
    pub(crate) fn on_delivered(&mut self, now: Time, sent: &Sent) {
        self.delivered += sent.range.len();
        self.delivered_time = now;
        if !sent.again {
            self.min_rtt = self.min_rtt.min(now.since(sent.at));
        }
        if self.newest.is_none_or(|(stamp, _)| sent.stamp.delivered >= stamp.delivered) {
            self.newest = Some((sent.stamp, sent.at));
            self.first_sent_time = sent.at;
        }
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// The application has nothing to send while `pipe` is in flight (§3.4).
    pub(crate) fn on_app_limited(&mut self, pipe: u64) {
        self.app_limited = (self.delivered + pipe).max(1);
    }

    /// §3.3: the sample of the last ACK; `lost_total` bytes have been found lost so far.
    pub(crate) fn sample(&mut self, lost_total: u64) -> Sample {
        let lost = lost_total - std::mem::replace(&mut self.lost, lost_total);
        let none = Sample { delivered: self.delivered, lost, ..Sample::default() };
        let Some((stamp, at)) = self.newest else {
            return none;
        };
        let send_elapsed = at.since(stamp.first_sent_time);
        let ack_elapsed = self.delivered_time.since(stamp.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        // An interval below the round trip occurs when a retransmitted segment is acknowledged by
        // the original's ACK.
        let valid = interval >= self.min_rtt && interval > Span::ZERO;
        let delivered = (self.delivered - stamp.delivered) as f64;
        Sample {
            prior: Some(stamp.delivered),
            rate: if valid { delivered / interval.seconds() } else { 0.0 },
            app_limited: stamp.app_limited,
            ..none
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Range;

    #[test]
    fn acks_that_come_every_ms_for_1000_bytes_mean_a_megabyte_a_second() {
        // A window of 40 segments over a round trip of 40 ms; every ACK releases one more.
        let mut rate = Rate::default();
        let ms = |ms: u64| Time(ms * 1_000_000);
        let mut out: Vec<(u64, Stamp)> = (0..40).map(|i| (i, rate.on_transmit(ms(i), i))).collect();
        for i in 0..200u64 {
            let (at, stamp) = out[i as usize];
            let range = Range { start: 1000 * i, end: 1000 * i + 1000 };
            rate.begin();
            let sent = Sent { range, at: ms(at), again: false, arrived: false, stamp };
            rate.on_delivered(ms(at + 40), &sent);
            out.push((at + 40, rate.on_transmit(ms(at + 40), 39_000)));
        }
        let last = rate.sample(0);
        assert!((last.rate - 1e6).abs() < 1e3, "{last:?}");
        assert_eq!(last.delivered, 200_000);
    }

    #[test]
    fn a_sample_taken_while_the_application_was_silent_says_so() {
        let mut rate = Rate::default();
        rate.on_transmit(Time(1), 0);
        rate.on_app_limited(2_000);
        let stamp = rate.on_transmit(Time(5), 1_000);
        let range = Range { start: 1_000, end: 2_000 };
        rate.on_delivered(
            Time(9),
            &Sent { range, at: Time(5), again: false, arrived: false, stamp },
        );
        assert!(rate.sample(0).app_limited);
    }
}
