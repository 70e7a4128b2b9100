//! Random early detection.
//!
//! Source: Floyd and Jacobson 1993 (symbols `min_th`, `max_th`, `max_p`, `w_q`, `avg`, `count`); the
//! gentle form as in Floyd 2000. With `gentle`, (25, 50, 0.1) is exactly the two-slope curve of
//! Khalili draft-04 §3. The queue length excludes the packet in transmission and the arriving one.

use crate::Rng;
use crate::queue::{Backlog, Verdict};
use units::Time;

/// How drops are spread over arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Every arrival is dropped with the curve's probability, independently.
    Independent,
    /// `p_b / (1 − count · p_b)` (Floyd and Jacobson §4): gaps are uniform, so that the long-run
    /// drop fraction is about `2 p_b / (1 + p_b)`.
    Count,
}

/// The parameters of a RED queue; lengths in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSettings {
    /// Below this average nothing is dropped.
    pub min_th: f64,
    /// Here the drop probability reaches `max_p`.
    pub max_th: f64,
    /// Drop probability at `max_th`.
    pub max_p: f64,
    /// Whether the probability then rises linearly to 1 at `2 · max_th`, instead of jumping to 1.
    pub gentle: bool,
    /// Weight of a new sample in the average; 1 takes the instantaneous queue.
    pub w_q: f64,
    /// How drops are spread.
    pub spacing: Spacing,
    /// Whether packets that can be marked are marked instead of dropped early (RFC 3168 §7), as long as
    /// the curve is below 1.
    pub ecn: bool,
    /// Packets that fit at all.
    pub limit: u64,
    /// Mean time in seconds to send a typical packet, for the decay of the average while idle.
    pub packet_time: f64,
}

/// A RED queue's state.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    settings: RedSettings,
    avg: f64,
    /// Arrivals since the last early drop while the average was above `min_th`.
    count: f64,
    /// The idle period that ended at or after this time has been accounted for.
    decayed_until: Time,
}

impl RedSettings {
    /// The drop probability at average queue length `avg`.
    pub fn curve(&self, avg: f64) -> f64 {
        let RedSettings { min_th, max_th, max_p, gentle, .. } = *self;
        if avg < min_th {
            0.0
        } else if avg < max_th {
            max_p * (avg - min_th) / (max_th - min_th)
        } else if gentle && avg < 2.0 * max_th {
            max_p + (1.0 - max_p) * (avg - max_th) / max_th
        } else {
            1.0
        }
    }
}

impl Red {
    /// An empty queue.
    pub fn new(settings: RedSettings) -> Self {
        Red { settings, avg: 0.0, count: 0.0, decayed_until: Time::ZERO }
    }

    /// The average queue length in packets.
    pub fn average(&self) -> f64 {
        self.avg
    }

    pub(crate) fn judge(
        &mut self,
        now: Time,
        capable: bool,
        backlog: Backlog,
        rng: &mut impl Rng,
    ) -> Verdict {
        self.update(now, backlog);
        if backlog.packets >= self.settings.limit {
            self.count = 0.0;
            return Verdict::Full;
        }
        let p_b = self.settings.curve(self.avg);
        if p_b <= 0.0 {
            self.count = 0.0;
            return Verdict::Accept;
        }
        let p_a = match self.settings.spacing {
            Spacing::Independent => p_b,
            Spacing::Count if self.count * p_b < 1.0 => p_b / (1.0 - self.count * p_b),
            Spacing::Count => 1.0,
        };
        if p_a >= 1.0 || rng.uniform() < p_a {
            self.count = 0.0;
            let mark = self.settings.ecn && capable && p_b < 1.0;
            return if mark { Verdict::Mark } else { Verdict::Early };
        }
        self.count += 1.0;
        Verdict::Accept
    }

    /// Floyd and Jacobson §4: after an idle time the average decays as if small packets had arrived.
    fn update(&mut self, now: Time, backlog: Backlog) {
        let w_q = self.settings.w_q;
        let idle_from = backlog.idle_since.max(self.decayed_until);
        if backlog.packets == 0 && now > idle_from {
            let missed = now.since(idle_from).seconds() / self.settings.packet_time;
            self.avg *= libm::pow(1.0 - w_q, missed);
        }
        self.decayed_until = now;
        self.avg += w_q * (backlog.packets as f64 - self.avg);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;

    /// Khalili draft-04 §3 for 10 Mb/s.
    const DRAFT: RedSettings = RedSettings {
        min_th: 25.0,
        max_th: 50.0,
        max_p: 0.1,
        gentle: true,
        w_q: 1.0,
        spacing: Spacing::Independent,
        ecn: false,
        limit: 200,
        packet_time: 0.0012,
    };

    fn busy(packets: u64) -> Backlog {
        Backlog { packets, bytes: 1500 * packets, idle_since: Time::NEVER }
    }

    /// Fraction of 100,000 arrivals dropped at a constant queue length.
    fn drop_fraction(settings: RedSettings, queue: u64) -> f64 {
        let mut red = Red::new(settings);
        let mut rng = Lcg(1);
        let drops = (0..100_000)
            .filter(|i| {
                red.judge(Time(i * 1_200_000), false, busy(queue), &mut rng) != Verdict::Accept
            })
            .count();
        drops as f64 / 100_000.0
    }

    #[test]
    fn the_curve_passes_through_the_points_of_the_draft() {
        let points = [
            (25.0, 0.0),
            (26.0, 0.004),
            (37.5, 0.05),
            (50.0, 0.1),
            (60.0, 0.28),
            (75.0, 0.55),
            (100.0, 1.0),
        ];
        for (q, p) in points {
            assert!((DRAFT.curve(q) - p).abs() < 1e-12, "at {q}");
        }
        assert_eq!(RedSettings { gentle: false, ..DRAFT }.curve(50.0), 1.0);
    }

    #[test]
    fn independent_drops_follow_the_curve_and_count_spacing_nearly_doubles_it() {
        let p_b = 0.02;
        assert!((drop_fraction(DRAFT, 30) - p_b).abs() < 2e-3);
        let spaced = RedSettings { spacing: Spacing::Count, ..DRAFT };
        let expected = 2.0 * p_b / (1.0 + p_b);
        assert!((drop_fraction(spaced, 30) - expected).abs() < 2e-3);
    }

    #[test]
    fn the_average_decays_over_an_idle_time() {
        let mut red = Red::new(RedSettings { w_q: 0.5, ..DRAFT });
        red.judge(Time(0), false, busy(20), &mut Lcg(1));
        assert_eq!(red.average(), 10.0);
        let idle = Backlog { packets: 0, bytes: 0, idle_since: Time(0) };
        red.judge(Time(2_400_000), false, idle, &mut Lcg(1)); // idle for two packet times
        assert!((red.average() - 10.0 / 4.0 / 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_full_queue_drops_whatever_the_average_says() {
        let mut red = Red::new(RedSettings { w_q: 0.002, ..DRAFT });
        assert_eq!(red.judge(Time(0), false, busy(200), &mut Lcg(1)), Verdict::Full);
    }

    #[test]
    fn with_ecn_frames_that_can_be_marked_are_marked_where_others_are_dropped() {
        let ecn = RedSettings { ecn: true, ..DRAFT };
        let verdicts = |capable, queue| {
            let (mut red, mut rng) = (Red::new(ecn), Lcg(1));
            let at = |i: u64| Time(i * 1_200_000);
            (0..1000).map(|i| red.judge(at(i), capable, busy(queue), &mut rng)).collect::<Vec<_>>()
        };
        let marked = |verdict: Verdict| match verdict {
            Verdict::Mark => Verdict::Early,
            other => other,
        };
        assert!(verdicts(true, 40).contains(&Verdict::Mark));
        let translated: Vec<_> = verdicts(true, 40).into_iter().map(marked).collect();
        assert_eq!(translated, verdicts(false, 40));
        assert!(
            !verdicts(true, 120).contains(&Verdict::Mark),
            "beyond twice max_th all are dropped"
        );
    }
}
