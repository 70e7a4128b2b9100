//! Best-path: couples rates instead of windows. All paths together send at the rate of a TCP on the
//! best path.
//!
//! Ours, for hosts whose own interface is the bottleneck. There windows meet no loss, however
//! large, so that coupling them changes nothing: every interface always has packets, and the medium
//! gives each the share of a station. Here each path has the window of a TCP, and measures its rate
//! while only that window limits it (`b_i`). This takes two round trips, one to fill the host and
//! one to measure. Then it holds `max_j b_j / Σ_j b_j` of that rate by pacing for six round trips.
//! So the connection has the rate of its best path, except in the round trips in which it measures.
//! The queue in the host is bounded by a window of twice `b_i` times the round trip at the held
//! rate.
//!
//! Unlike LIA and OLIA, it does not move traffic to the less congested path.

use crate::kind::{Described, Kind};
use crate::laws::Reno;
use crate::scheme::Scheme;
use crate::{
    Acked, Cause, CongestionController, Delivered, Needs, SegmentRate, Settings, Shell, Window,
};
use alloc::boxed::Box;

/// Round trips at the held rate.
const HOLD: u32 = 6;
/// Start-up ends when the rate grows by less than this factor in a round trip.
const GROWING: f64 = 1.25;
/// Segments by which the window may exceed its bound, so that a slow path is still measured.
const SLACK: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The window has not found its path's rate yet.
    Start,
    /// The host fills.
    Fill,
    Measure,
    /// Round trips left at the held rate.
    Hold(u32),
}

#[derive(Clone, Debug)]
struct Path {
    tcp: Shell<Reno>,
    member: bool,
    stage: Stage,
    /// Delivery rate in segments per second; zero before it is known.
    b: f64,
    /// The round trip ends when a segment is delivered that was sent after this many deliveries.
    round: f64,
    /// When the round trip began, in seconds.
    since: f64,
    /// The last rate in start-up.
    rate: f64,
    /// Smoothed round trip at the held rate, in seconds.
    srtt: f64,
}

/// TCPs on all paths of a connection, paced together.
#[derive(Clone, Debug)]
pub(crate) struct BestPathControl {
    settings: Settings,
    paths: Box<[Path]>,
}

impl Path {
    fn new(settings: Settings, member: bool) -> Self {
        let tcp = Shell::new(Reno, settings, 1);
        let (b, round, since, rate, srtt) = (0.0, 0.0, 0.0, 0.0, 0.0);
        Path { tcp, member, stage: Stage::Start, b, round, since, rate, srtt }
    }

    /// A round trip ended; its delivery rate was `rate` segments per second.
    fn turn(&mut self, rate: f64, srtt: f64) {
        self.stage = match self.stage {
            Stage::Start if rate > GROWING * self.rate => Stage::Start,
            Stage::Start => {
                (self.b, self.srtt) = (rate, srtt);
                Stage::Hold(HOLD)
            }
            Stage::Fill => Stage::Measure,
            Stage::Measure => {
                self.b += (rate - self.b) / 2.0;
                Stage::Hold(HOLD)
            }
            Stage::Hold(rounds) if rounds > 1 => Stage::Hold(rounds - 1),
            Stage::Hold(_) => {
                self.srtt = srtt;
                Stage::Fill
            }
        };
        self.rate = rate;
    }
}

impl BestPathControl {
    pub(crate) fn new(settings: Settings, paths: usize) -> Self {
        BestPathControl { settings, paths: alloc::vec![Path::new(settings, true); paths].into() }
    }

    /// Rate of the best path divided by the rate of all paths.
    fn share(&self) -> f64 {
        let known = self.paths.iter().filter(|path| path.member).map(|path| path.b);
        let (best, sum) = known.fold((0.0, 0.0), |(best, sum), b| (f64::max(best, b), sum + b));
        if sum > 0.0 { best / sum } else { 1.0 }
    }
}

impl CongestionController for BestPathControl {
    /// While the path is held, its window still follows TCP: growth and losses both apply.
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        let path = &mut self.paths[path];
        let cwnd_limited = ack.cwnd_limited || matches!(path.stage, Stage::Hold(_));
        path.tcp.on_ack(0, &Acked { cwnd_limited, ..*ack });
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        self.paths[path].tcp.on_congestion(0, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.paths[path].tcp.on_recovered(0);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path::new(self.settings, member);
    }

    fn undo(&mut self, path: usize) {
        self.paths[path].tcp.undo(0);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.paths[path].tcp.restart(0, window);
    }

    fn window(&self, path: usize) -> Window {
        let path = &self.paths[path];
        let Window { cwnd, ssthresh } = path.tcp.window(0);
        let most = match path.stage {
            Stage::Start => f64::INFINITY,
            _ => 2.0 * path.b * path.srtt + SLACK,
        };
        Window { cwnd: cwnd.min(most), ssthresh }
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        let Delivered { total, srtt, .. } = *delivered;
        let now = delivered.now.seconds();
        let path = &mut self.paths[path];
        if delivered.prior.is_none_or(|prior| prior < path.round) {
            return;
        }
        if now > path.since && path.round > 0.0 {
            path.turn((total - path.round) / (now - path.since), srtt.seconds());
        }
        (path.round, path.since) = (total, now);
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        let share = self.share();
        let Path { stage, b, .. } = self.paths[path];
        let holds = matches!(stage, Stage::Hold(_)) && share < 1.0 && b > 0.0;
        holds.then_some(SegmentRate(share * b))
    }
}

/// The kind `best-path`, without options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestPath;

impl Kind for BestPath {
    const DESCRIBED: Described = Described {
        names: &["best-path"],
        summary: "A TCP on every path, paced so that together they send at the rate of the best path.",
        formula: "two round trips by the window, then six at b_i max_j b_j / Σ_j b_j",
        source: "none: docs/explanation/air.md",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(BestPath);
}

impl Scheme for BestPath {
    type Control = BestPathControl;

    fn needs(self) -> Needs {
        Needs { rates: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> BestPathControl {
        BestPathControl::new(settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    /// Round trips of 50 ms on paths that carry these rates in segments/s; returns the rate of each
    /// in the last 40 of them.
    fn carried<const N: usize>(rates: [f64; N]) -> [f64; N] {
        let mut control = BestPathControl::new(Settings::default(), N);
        let (mut total, mut late) = ([0.0; N], [0.0; N]);
        for round in 1..=200 {
            let now = f64::from(round) * 0.05;
            for path in 0..N {
                let window = control.window(path).cwnd / 0.05;
                let rate = control
                    .pacing(path)
                    .map_or(f64::INFINITY, |rate| rate.0)
                    .min(window)
                    .min(rates[path]);
                let segments = rate * 0.05;
                let (now_ns, srtt, cwnd_limited) = ((now * 1e9) as u64, Span::millis(50), true);
                control.on_ack(
                    path,
                    &Acked { segments, srtt, cwnd_limited, now: Time(now_ns), ..Acked::default() },
                );
                let prior = Some(total[path]);
                total[path] += segments;
                late[path] += if round > 160 { segments } else { 0.0 };
                let sample = Delivered {
                    now: Time(now_ns),
                    srtt,
                    total: total[path],
                    prior,
                    ..Delivered::default()
                };
                control.on_delivered(path, &sample);
            }
        }
        late.map(|segments| segments / 2.0)
    }

    #[test]
    fn two_equal_paths_have_what_one_would_but_for_the_round_trips_in_which_they_measure() {
        // Two of eight round trips in full, six by half: 5/8 each.
        for rate in carried([1000.0, 1000.0]) {
            assert!((rate / 1000.0 - 0.625).abs() < 0.03, "{rate}");
        }
    }

    #[test]
    fn a_small_path_beside_a_large_one_costs_it_no_more_than_it_carries_itself() {
        let [large, small] = carried([1000.0, 100.0]);
        let held = 1000.0 / 1100.0;
        let expected = 0.25 + 0.75 * held;
        assert!((large / 1000.0 - expected).abs() < 0.03, "{large}");
        assert!((small / 100.0 - expected).abs() < 0.05, "{small}");
    }

    #[test]
    fn a_path_alone_is_a_tcp_with_a_bounded_window() {
        let [rate] = carried([1000.0]);
        assert!(rate > 990.0, "{rate}");
    }
}
