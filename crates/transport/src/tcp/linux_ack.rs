//! Delayed ACKs of a Linux receiver for data in order: `delayed_ack = "linux"`.
//!
//! Source: Linux 3.0, `tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_incr_quickack` and
//! `tcp_enter_quickack_mode` in net/ipv4/tcp_input.c, `tcp_send_delayed_ack` in tcp_output.c,
//! `tcp_delack_timer` in tcp_timer.c, `tcp_cleanup_rbuf` in tcp.c. The kernel's names stand beside
//! ours. All constants are the kernel's.
//!
//! * A second full segment, a short one, and every segment while there is a hole are acknowledged
//!   at once. So are up to 16 ACKs at the start, after a gap of more than a timeout, and after data
//!   that had arrived before (quick ACKs).
//! * Any other segment waits for `ato`: 40 ms at first, doubled each time that the timer fires,
//!   shrunk by segments that arrive sooner.
//! * `ato` is bounded by the receiver's estimate of the round trip. A receiver sends no data, so
//!   it knows the round trip of the handshake alone.
//!
//! Deviations: times are not rounded to clock ticks. The window here is the whole receive buffer
//! from the start; in Linux it grows, and each segment that lets it grow adds a quick ACK
//! (`tcp_grow_window`). On Linux 6.18 with a buffer of 16 MiB a sparse path is acknowledged at once
//! for minutes; with one of 1 MiB it waits as here (docs/explanation, why-olia-did-better-in-2012).
//! Since Linux 6.6 a full segment that carries PSH is acknowledged at once too, when the
//! application has read all that there is (`tcp_measure_rcv_mss`); senders here set no PSH. Since
//! Linux 5.10 no wait is longer than 200 ms (`icsk_delack_max`). tests/linux/test_delayed_ack.py
//! compares the timer of a real receiver with this.

use crate::options::Options;
use crate::rtt::Rtt;
use units::{Span, Time};

/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`: the shortest wait.
const ATO_MIN: Span = Span::millis(40);
/// `max_ato` in `tcp_send_delayed_ack`: the longest wait without an estimate of the round trip.
const ATO_MAX: Span = Span::millis(500);
/// `TCP_MAX_QUICKACKS`.
const MAX_QUICKACKS: u64 = 16;

/// The state of one path's receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxAck {
    /// `icsk_ack.ato`: how long an ACK may wait; zero before the first data.
    ato: Span,
    /// `icsk_ack.quick`: how many of the next ACKs are sent at once.
    quick: u64,
    /// `icsk_ack.lrcvtime`: when data last arrived in order.
    last: Time,
    /// `rcv_wup`: next expected byte when the last ACK was sent.
    acknowledged: u64,
    /// When the SYN/ACK was sent; its answer gives a round-trip sample.
    answered: Option<Time>,
    rtt: Rtt,
}

/// The decision about the ACK of a segment in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Send it now.
    Now,
    /// It may wait for this long.
    Within(Span),
}

impl LinuxAck {
    /// The state of a joining subflow with first byte `first`.
    pub(crate) fn joined(first: u64) -> Self {
        LinuxAck { acknowledged: first, ..LinuxAck::default() }
    }

    /// A SYN was answered at `now`.
    pub(crate) fn on_syn(&mut self, now: Time) {
        self.answered = Some(now);
    }

    /// The answer to the SYN/ACK has arrived: an ACK, or the first data.
    pub(crate) fn on_established(&mut self, now: Time) {
        if let Some(answered) = self.answered.take() {
            self.rtt.sample(now.since(answered));
        }
    }

    /// `len` bytes arrived in order without a hole after them, and `next` is expected now.
    #[inline(always)] // runs for every segment
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        next: u64,
        len: u32,
        options: &Options,
    ) -> Decision {
        self.on_established(now);
        let gap = now.since(self.last);
        let half = Span(self.ato.0 / 2);
        if self.ato == Span::ZERO {
            self.ato = ATO_MIN;
            self.acknowledge_quickly(options);
        } else if gap <= Span(ATO_MIN.0 / 2) {
            self.ato = half + Span(ATO_MIN.0 / 2);
        } else if gap < self.ato {
            self.ato = (half + gap).min(self.rto(options));
        } else if gap > self.rto(options) {
            self.acknowledge_quickly(options);
        }
        self.last = now;
        let segment = options.segment();
        let second = next - self.acknowledged > u64::from(segment);
        match second || len < segment || self.quick > 0 {
            true => Decision::Now,
            false => Decision::Within(self.wait()),
        }
    }

    /// Data arrived again.
    pub(crate) fn on_duplicate(&mut self, options: &Options) {
        self.acknowledge_quickly(options);
        self.ato = ATO_MIN;
    }

    /// The timer of a delayed ACK fires.
    pub(crate) fn on_timer(&mut self, options: &Options) {
        self.ato = Span(self.ato.0 * 2).min(self.rto(options));
    }

    /// An ACK was sent; `next` is expected.
    pub(crate) fn on_ack_sent(&mut self, next: u64) {
        self.acknowledged = next;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ATO_MIN;
            }
        }
    }

    /// `tcp_incr_quickack`: half a window of ACKs, at least two.
    fn acknowledge_quickly(&mut self, options: &Options) {
        let half_window = options.first_buffer() / (2 * u64::from(options.segment()));
        self.quick = self.quick.max(half_window.clamp(2, MAX_QUICKACKS));
    }

    /// `tcp_send_delayed_ack`: the wait, bounded by the round trip.
    fn wait(&self) -> Span {
        let most = match self.rtt.srtt() {
            Span::ZERO => ATO_MAX,
            srtt => srtt.max(ATO_MIN).min(ATO_MAX),
        };
        self.ato.min(most)
    }

    fn rto(&self, options: &Options) -> Span {
        self.rtt.rto(options, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::DelayedAck;
    use proptest::prelude::*;

    const SEGMENT: u32 = 1448;

    /// A receiver with its sender's clock: segments arrive one at a time.
    struct Timeline {
        ack: LinuxAck,
        options: Options,
        now: Time,
        next: u64,
    }

    impl Timeline {
        /// The handshake took `rtt` milliseconds.
        fn new(rtt: u64) -> Self {
            let delayed_ack = DelayedAck::AsLinux;
            let options = Options { delayed_ack, handshake: true, ..Options::default() };
            let mut ack = LinuxAck::default();
            ack.on_syn(Time::ZERO);
            let now = Time::ZERO + Span::millis(rtt);
            ack.on_established(now);
            Timeline { ack, options, now, next: 0 }
        }

        /// A segment of `len` bytes arrives `gap` ms later: how many ms its ACK may wait.
        fn arrives(&mut self, gap: u64, len: u32) -> Option<u64> {
            self.now = self.now + Span::millis(gap);
            self.next += u64::from(len);
            match self.ack.on_data(self.now, self.next, len, &self.options) {
                Decision::Within(wait) => Some(wait.0 / 1_000_000),
                Decision::Now => {
                    self.ack.on_ack_sent(self.next);
                    None
                }
            }
        }

        /// A segment arrives `gap` ms later and is acknowledged by the timer: its wait in ms.
        fn alone(&mut self, gap: u64) -> u64 {
            let wait = self.arrives(gap, SEGMENT).expect("the segment is alone");
            self.now = self.now + Span::millis(wait);
            self.ack.on_timer(&self.options);
            self.ack.on_ack_sent(self.next);
            wait
        }

        /// The quick ACKs of the start are over.
        fn begun(mut self) -> Self {
            assert!((0..MAX_QUICKACKS).all(|_| self.arrives(10, SEGMENT).is_none()));
            self
        }
    }

    #[test]
    fn the_first_sixteen_acks_are_quick() {
        let mut line = Timeline::new(100).begun();
        assert_eq!(line.arrives(10, SEGMENT), Some(40));
    }

    #[test]
    fn a_path_with_one_segment_in_flight_waits_longer_each_time_up_to_its_round_trip() {
        let mut line = Timeline::new(110).begun();
        let waits: Vec<u64> = (0..6).map(|_| line.alone(110)).collect();
        assert_eq!(waits, [40, 80, 110, 110, 110, 110]);
    }

    #[test]
    fn a_short_round_trip_keeps_the_wait_at_forty_milliseconds() {
        let mut line = Timeline::new(8).begun();
        assert!((0..6).all(|_| line.alone(60) == 40));
    }

    #[test]
    fn a_second_full_segment_and_a_short_one_are_acknowledged_at_once() {
        let mut line = Timeline::new(100).begun();
        assert_eq!(line.arrives(10, SEGMENT), Some(40));
        assert_eq!(line.arrives(1, SEGMENT), None);
        assert_eq!(line.arrives(10, 100), None);
    }

    #[test]
    fn arrivals_in_quick_succession_shrink_an_inflated_wait() {
        let mut line = Timeline::new(200).begun();
        assert_eq!([line.alone(200), line.alone(200), line.alone(200)], [40, 80, 160]);
        (0..8).for_each(|_| assert!(line.arrives(5, SEGMENT).is_none() || line.next > 0));
        line.ack.on_ack_sent(line.next);
        assert!(line.arrives(5, SEGMENT).unwrap() <= 41, "{:?}", line.ack);
    }

    #[test]
    fn a_duplicate_and_a_gap_beyond_the_timeout_bring_quick_acks_again() {
        let mut line = Timeline::new(100).begun();
        assert!(line.arrives(10, SEGMENT).is_some());
        line.ack.on_duplicate(&line.options);
        line.ack.on_ack_sent(line.next);
        assert!((1..MAX_QUICKACKS).all(|_| line.arrives(10, SEGMENT).is_none()));
        assert_eq!(line.alone(10), 40);
        assert!((0..MAX_QUICKACKS).all(|_| line.arrives(500, SEGMENT).is_none()));
    }

    proptest! {
        #[test]
        fn the_wait_lies_between_forty_milliseconds_and_the_round_trip(
            rtt in 1_u64..2000,
            gaps in prop::collection::vec((0_u64..1500, 1_u32..=SEGMENT, any::<bool>()), 1..200),
        ) {
            let mut line = Timeline::new(rtt);
            for (gap, len, fires) in gaps {
                if let Some(wait) = line.arrives(gap, len) {
                    prop_assert!(wait >= 40 && wait <= rtt.clamp(40, 500), "{wait}");
                    if fires {
                        line.now = line.now + Span::millis(wait);
                        line.ack.on_timer(&line.options);
                        line.ack.on_ack_sent(line.next);
                    }
                }
            }
        }
    }
}
