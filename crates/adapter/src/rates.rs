//! The delivery rate of a path.
//!
//! Source: Cheng, Cardwell, Hassas Yeganeh and Jacobson,
//! draft-cheng-iccrg-delivery-rate-estimation-00 (symbols `C.delivered`, `C.delivered_time`,
//! `C.first_sent_time`, `C.app_limited`, `P.…`).
//!
//! Deviations, because of what a stack tells: the state that a packet took with it (`P.…`) is found
//! by the time at which the packet was sent, since packets of one instant took the same. Whether
//! nothing was in flight when a packet was sent is known from the last acknowledgement: if the
//! packets before were lost and not acknowledged, the sample counts the silence too, and is lower.
//! Losses that an acknowledgement reveals are told after it, and count with the next one.

use alloc::collections::VecDeque;
use control::{Delivered, Phase, SegmentRate, Span, Time};

/// Round trips after which a packet is acknowledged or lost (RFC 9002 §6.1.2 has 9/8).
const FORGOTTEN: u64 = 4;

/// What packets that were sent at one instant took with them.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    sent: Time,
    /// Bytes.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: bool,
}

/// What an acknowledgement says of a path beside its packets.
#[derive(Clone, Copy, Debug)]
pub struct AckEnd {
    /// When it arrived.
    pub now: Time,
    /// Bytes that are in flight after it.
    pub in_flight: u64,
    /// Whether the application has nothing to send.
    pub app_limited: bool,
    /// Its round-trip sample; zero if it has none.
    pub rtt: Span,
    /// Smoothed round trip.
    pub srtt: Span,
    /// Bytes of a full packet.
    pub mtu: u64,
    /// Which part of loss recovery the path is in.
    pub phase: Phase,
}

/// The state of one path. Numbers are bytes.
#[derive(Clone, Debug)]
pub struct Rates {
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// Samples are application-limited until so much is delivered; zero if they are not limited.
    app_limited: u64,
    min_rtt: Span,
    /// Nothing is in flight, as far as the last acknowledgement said.
    idle: bool,
    /// Declared lost since the last sample.
    lost: u64,
    /// Delivered by the acknowledgement in progress.
    now_delivered: u64,
    /// The newest packet that the acknowledgement in progress named.
    newest: Option<Stamp>,
    /// Oldest first.
    stamps: VecDeque<Stamp>,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent_time: Time::ZERO,
            app_limited: 0,
            min_rtt: Span(u64::MAX),
            idle: true,
            lost: 0,
            now_delivered: 0,
            newest: None,
            stamps: VecDeque::new(),
        }
    }
}

impl Rates {
    /// §3.2: a packet is sent.
    pub fn on_sent(&mut self, now: Time) {
        if core::mem::take(&mut self.idle) {
            (self.first_sent_time, self.delivered_time) = (now, now);
            self.stamps.clear();
        }
        if self.stamps.back().is_none_or(|last| last.sent < now) {
            self.stamps.push_back(Stamp {
                sent: now,
                delivered: self.delivered,
                delivered_time: self.delivered_time,
                first_sent_time: self.first_sent_time,
                app_limited: self.app_limited > 0,
            });
        }
    }

    /// §3.3: a packet of `bytes` bytes, sent at `sent`, was acknowledged.
    pub fn on_ack(&mut self, now: Time, sent: Time, bytes: u64) {
        self.delivered += bytes;
        self.now_delivered += bytes;
        self.delivered_time = now;
        self.min_rtt = self.min_rtt.min(now.since(sent));
        let found = self.stamps.binary_search_by_key(&sent, |stamp| stamp.sent);
        if let Ok(place) = found
            && self.newest.is_none_or(|newest| newest.sent <= sent)
        {
            self.newest = Some(self.stamps[place]);
            self.first_sent_time = sent;
        }
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// So many bytes were declared lost.
    pub fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// The acknowledgement ends: its sample, if it acknowledged something.
    pub fn on_end_acks(&mut self, end: AckEnd) -> Option<Delivered> {
        self.idle = end.in_flight == 0;
        if end.app_limited {
            self.app_limited = (self.delivered + end.in_flight).max(1); // §3.4
        }
        let newest = self.newest.take();
        let bytes = core::mem::take(&mut self.now_delivered);
        if bytes == 0 {
            return None;
        }
        let segments = |bytes: u64| bytes as f64 / end.mtu as f64;
        let delivered = Delivered {
            now: end.now,
            rtt: end.rtt,
            srtt: end.srtt,
            segments: segments(bytes),
            total: segments(self.delivered),
            pipe: segments(end.in_flight),
            lost: segments(core::mem::take(&mut self.lost)),
            phase: end.phase,
            ..Delivered::default()
        };
        let Some(stamp) = newest else {
            return Some(delivered);
        };
        let patience = Span(end.srtt.0.max(self.min_rtt.0).saturating_mul(FORGOTTEN));
        while self.stamps.front().is_some_and(|old| stamp.sent.since(old.sent) > patience) {
            self.stamps.pop_front();
        }
        let send_elapsed = stamp.sent.since(stamp.first_sent_time);
        let ack_elapsed = self.delivered_time.since(stamp.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        let valid = interval >= self.min_rtt && interval > Span::ZERO;
        let rate = segments(self.delivered - stamp.delivered) / interval.seconds();
        Some(Delivered {
            prior: Some(segments(stamp.delivered)),
            rate: SegmentRate(if valid { rate } else { 0.0 }),
            app_limited: stamp.app_limited,
            ..delivered
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn end(at_ms: u64, in_flight: u64, app_limited: bool) -> AckEnd {
        let (rtt, srtt) = (Span::millis(40), Span::millis(40));
        let phase = Phase::Open;
        AckEnd { now: ms(at_ms), in_flight, app_limited, rtt, srtt, mtu: 1000, phase }
    }

    #[test]
    fn acks_that_come_every_ms_for_one_packet_mean_a_thousand_packets_a_second() {
        let mut rates = Rates::default();
        (0..40).for_each(|at| rates.on_sent(ms(at)));
        let mut last = None;
        for at in 40..240 {
            rates.on_ack(ms(at), ms(at - 40), 1000);
            last = rates.on_end_acks(end(at, 39_000, false));
            rates.on_sent(ms(at));
        }
        let last = last.expect("it acknowledged a packet");
        assert!((last.rate.0 - 1000.0).abs() < 1.0, "{last:?}");
        assert_eq!((last.total, last.segments, last.pipe), (200.0, 1.0, 39.0));
        assert_eq!(last.prior, Some(160.0));
        assert!(rates.stamps.len() <= 40 * (FORGOTTEN as usize + 1) + 1);
    }

    #[test]
    fn one_acknowledgement_of_many_packets_is_one_sample() {
        let mut rates = Rates::default();
        for at in [0, 10, 20, 30] {
            rates.on_sent(ms(at));
        }
        for at in [0, 10, 20, 30] {
            rates.on_ack(ms(70), ms(at), 1000);
        }
        let sample = rates.on_end_acks(end(70, 0, false)).expect("it acknowledged packets");
        assert!((sample.rate.0 - 4.0 / 0.070).abs() < 1e-9, "{sample:?}");
        assert!(rates.on_end_acks(end(71, 0, false)).is_none());
    }

    #[test]
    fn a_sample_of_packets_sent_while_the_application_was_silent_says_so_until_they_are_delivered()
    {
        let mut rates = Rates::default();
        let (mut limited, mut next) = (Vec::new(), 0);
        for at in (0..400).step_by(10) {
            if at >= 40 {
                rates.on_ack(ms(at), ms(at - 40), 1000);
                let sample = rates.on_end_acks(end(at, 3000, at == 100));
                limited.push(sample.expect("it acknowledged a packet").app_limited);
            }
            rates.on_sent(ms(at));
            next = at;
        }
        assert_eq!(next, 390);
        assert_eq!(limited.iter().filter(|limited| **limited).count(), 4);
        assert!(!limited[0] && !limited[limited.len() - 1]);
    }

    #[test]
    fn a_pause_with_nothing_in_flight_does_not_lower_the_next_sample() {
        let mut rates = Rates::default();
        rates.on_sent(ms(0));
        rates.on_ack(ms(40), ms(0), 1000);
        rates.on_end_acks(end(40, 0, false));
        rates.on_sent(ms(5000));
        rates.on_ack(ms(5040), ms(5000), 1000);
        let sample = rates.on_end_acks(end(5040, 0, false)).expect("it acknowledged a packet");
        assert!((sample.rate.0 - 25.0).abs() < 1e-9, "{sample:?}");
    }

    #[test]
    fn lost_bytes_are_told_once_with_the_next_acknowledgement() {
        let mut rates = Rates::default();
        (0..3).for_each(|at| rates.on_sent(ms(at)));
        rates.on_lost(2000);
        rates.on_ack(ms(42), ms(2), 1000);
        let lost = |rates: &mut Rates| rates.on_end_acks(end(42, 0, false)).map(|it| it.lost);
        assert_eq!(lost(&mut rates), Some(2.0));
        rates.on_sent(ms(50));
        rates.on_ack(ms(90), ms(50), 1000);
        assert_eq!(lost(&mut rates), Some(0.0));
    }
}
