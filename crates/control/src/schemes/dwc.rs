//! DWC, Dynamic Window Coupling, as reconstructed: one TCP for each group of paths that are found
//! to share a bottleneck.
//!
//! Source: Hassayoun, Iyengar and Ros, ICNP 2011. The published part is this: a loss on a path
//! asks, losses and increased delays of others answer; paths that share are one TCP together, and
//! groups are independent. The rest is reconstructed. A loss event on `r` opens an observation of
//! one interval `I`, the longest smoothed round trip of the connection. When it closes, every other
//! path that had a loss event within `±I` of `r`'s, or whose smoothed delay was above
//! `base + 0.5 (max − base)` and rising when `r` lost, leaves its group for `r`'s. A member of
//! `r`'s group without a sign at three events of others running is a group of its own. In a group
//! `G`, `w_G = Σ_{s∈G} w_s`: an acknowledged segment adds `1/w_G`, a loss takes `w_G/2`. A group of
//! one is Reno.
//!
//! What that leaves open:
//! * The whole group halves at once, each member its own window. If only the path that lost did,
//!   two equal paths would give up `w_G/4`, and have √2 of a TCP's window.
//! * A member's loss within a round trip of the group after another's belongs to the same event: it
//!   neither reduces again nor is observed.
//! * A path's own events do not count in its favour: otherwise two that lose in turn would never
//!   part.
//! * The slow start that ends for all members when it ends for one is the first. After a timeout a
//!   path slow-starts by itself: growth and halving keep the ratios of windows, so that it would
//!   have no other way back.
//!
//! A drop-tail queue that holds a bandwidth-delay product is in the upper half of its range, and
//! fills, half of the time: by delays, paths over such queues are one group wherever they lead.
//! `dwc:losses` goes by losses alone, which on a shared link coincide less often than delays do:
//! there it is a little more than one TCP.

use super::delay::Delay;
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::slow_start::{ACK_LIMIT, ACK_LIMIT_AFTER_TIMEOUT};
use crate::{
    Acked, Cause, CongestionController, Needs, Phase, SINGLE_PATH_SSTHRESH, Settings, Window,
};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Length of an observation and of an answer, in longest smoothed round trips.
const INTERVAL: f64 = 1.0;
/// Position between its extremes above which the smoothed delay is a sign.
const THRESHOLD: f64 = 0.5;
/// `k`: events of others without a sign, after which a member leaves.
const PATIENCE: u32 = 3;

/// A loss on path `of`, after which DWC looks which other paths share its bottleneck.
#[derive(Clone, Debug)]
struct Observation {
    of: usize,
    opened: f64,
    interval: f64,
    /// For each path, whether its delay was increased when path `of` lost.
    delayed: Box<[bool]>,
}

#[derive(Clone, Debug)]
struct Path {
    member: bool,
    group: usize,
    window: Window,
    /// The window before its last reduction, which answered a loss of path `by`.
    before: Window,
    by: usize,
    /// Until then its losses belong to an event that the group has answered.
    answered_until: f64,
    lost_at: f64,
    delay: Delay,
    /// Events of others in a row at which it showed no sign.
    misses: u32,
}

/// DWC over all paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct DwcControl {
    settings: Settings,
    /// Whether delays are signs as well as losses.
    delays: bool,
    paths: Box<[Path]>,
    /// In the order of their opening, at most one of each path.
    observations: Vec<Observation>,
    /// Number of groups formed so far.
    groups: usize,
    now: f64,
}

/// The longest smoothed round trip of these paths.
fn longest<'a>(paths: impl Iterator<Item = &'a Path>) -> f64 {
    paths.map(|path| path.delay.smoothed).fold(0.0, f64::max)
}

impl DwcControl {
    pub(crate) fn new(settings: Settings, delays: bool, paths: usize) -> Self {
        let all = (0..paths).map(|me| Self::path(&settings, me, me, true)).collect();
        DwcControl {
            settings,
            delays,
            paths: all,
            observations: Vec::new(),
            groups: paths,
            now: 0.0,
        }
    }

    fn path(settings: &Settings, me: usize, group: usize, member: bool) -> Path {
        let Settings { initial_window: cwnd, initial_ssthresh: ssthresh, .. } = *settings;
        let (window, never) = (Window { cwnd, ssthresh }, f64::NEG_INFINITY);
        let (before, by, delay) = (window, me, Delay::default());
        Path {
            member,
            group,
            window,
            before,
            by,
            answered_until: never,
            lost_at: never,
            delay,
            misses: 0,
        }
    }

    fn members(&self, group: usize) -> impl Iterator<Item = &Path> {
        self.paths.iter().filter(move |path| path.member && path.group == group)
    }

    /// `w_G` of the group of `me`.
    fn total(&self, me: usize) -> f64 {
        self.members(self.paths[me].group).map(|path| path.window.cwnd).sum()
    }

    /// Smallest ssthresh of `me`: the floor of an uncoupled path, or of a coupled one.
    fn floor(&self, me: usize) -> f64 {
        let coupled = self.members(self.paths[me].group).nth(1).is_some();
        let asked = self.settings.min_ssthresh.filter(|_| coupled);
        let least = asked.unwrap_or(SINGLE_PATH_SSTHRESH);
        least.max(self.settings.min_window)
    }

    /// Whether a path is in its first slow start: no event has set its threshold.
    fn begins(&self, Window { cwnd, ssthresh }: Window) -> bool {
        cwnd < ssthresh && ssthresh == self.settings.initial_ssthresh
    }

    /// Slow start, then avoidance for what is left of the acknowledged segments; as in the shell.
    fn grow(&mut self, me: usize, mut segments: f64) {
        let Window { cwnd, ssthresh } = self.paths[me].window;
        if cwnd < ssthresh {
            let room = ssthresh - cwnd;
            if segments <= room {
                self.paths[me].window.cwnd = cwnd + segments;
                return;
            }
            self.paths[me].window.cwnd = ssthresh;
            self.end_slow_start(self.paths[me].group);
            segments -= room;
            if !self.settings.carry_over {
                return;
            }
        }
        self.paths[me].window.cwnd += segments * (1.0 / self.total(me));
    }

    /// If a member of `group` has left its first slow start, all members leave it.
    fn end_slow_start(&mut self, group: usize) {
        if self.members(group).all(|path| self.begins(path.window)) {
            return;
        }
        for me in 0..self.paths.len() {
            let Path { member, group: its, window, .. } = self.paths[me];
            if member && its == group && self.begins(window) {
                self.paths[me].window.ssthresh = window.cwnd;
            }
        }
    }

    /// The group of `me` halves its window after a loss on `me`.
    fn halve(&mut self, me: usize) {
        let (group, floor) = (self.paths[me].group, self.floor(me));
        let answered = self.now + INTERVAL * longest(self.members(group));
        for other in 0..self.paths.len() {
            let Path { member, group: its, window, .. } = self.paths[other];
            if !member || its != group {
                continue;
            }
            let Window { cwnd, ssthresh } = window;
            // A sibling in slow start after a timeout grows back to its ssthresh: halve that too.
            let returns = other != me && cwnd < ssthresh && !self.begins(window);
            let least = if returns { self.settings.min_window } else { floor };
            let goal = if returns { ssthresh } else { cwnd };
            let halved =
                Window { cwnd: (cwnd / 2.0).max(least), ssthresh: (goal / 2.0).max(floor) };
            let path = &mut self.paths[other];
            (path.before, path.by, path.window) = (window, me, halved);
            if other != me {
                path.answered_until = answered;
            }
        }
    }

    /// Opens an observation after a loss on path `of`. Which delays are increased is recorded now,
    /// while the queue is full; which other paths lose is looked up at the end of the interval.
    /// Until then further losses on `of` open no other observation.
    fn observe(&mut self, of: usize) {
        let interval = INTERVAL * longest(self.paths.iter().filter(|path| path.member));
        let (opened, since) = (self.now, self.now - interval);
        let increased = |path: &Path| self.delays && path.delay.increased(THRESHOLD, since);
        let delayed = self.paths.iter().map(increased).collect();
        if self.observations.iter().all(|other| other.of != of) {
            self.observations.push(Observation { of, opened, interval, delayed });
        }
    }

    /// An observation is over: paths join the group of the path that lost, or leave it.
    fn regroup(&mut self, Observation { of, opened, interval, delayed }: &Observation) {
        let group = self.paths[*of].group;
        for other in (0..self.paths.len()).filter(|other| other != of) {
            let path = &mut self.paths[other];
            if !path.member || !path.delay.known() {
                continue;
            }
            if delayed[other] || path.lost_at >= opened - interval {
                (path.group, path.misses) = (group, 0);
            } else if path.group == group {
                path.misses += 1;
                if path.misses == PATIENCE {
                    (path.group, path.misses) = (self.groups, 0);
                    self.groups += 1;
                }
            }
        }
        self.end_slow_start(group);
    }
}

impl CongestionController for DwcControl {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now.seconds();
        self.paths[path].delay.sample(ack);
        let over = |seen: &Observation| ack.now.seconds() > seen.opened + seen.interval;
        while let Some(first) = self.observations.iter().position(over) {
            let seen = self.observations.remove(first);
            self.regroup(&seen);
        }
        let limit = match ack.phase {
            Phase::Open => ACK_LIMIT,
            Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
            Phase::Recovery => return,
        };
        if ack.cwnd_limited {
            self.grow(path, self.settings.counted(ack).min(limit));
        }
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            if self.now < self.paths[path].answered_until {
                let floor = self.floor(path);
                let Path { window, before, by, .. } = &mut self.paths[path];
                let cwnd = window.cwnd.max(floor);
                (*before, *by, *window) = (*window, path, Window { cwnd, ssthresh: cwnd });
            } else {
                self.halve(path);
                self.observe(path);
            }
            self.paths[path].lost_at = self.now;
        }
        if matches!(cause, Cause::Timeout | Cause::TimeoutAgain) {
            self.paths[path].window.cwnd = self.settings.min_window;
        }
    }

    fn on_recovered(&mut self, path: usize) {
        self.paths[path].window.cwnd = self.paths[path].window.ssthresh;
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Self::path(&self.settings, path, self.groups, member);
        self.groups += 1;
        self.observations.retain(|seen| seen.of != path);
    }

    fn undo(&mut self, path: usize) {
        for Path { window, before, answered_until, .. } in
            self.paths.iter_mut().filter(|other| other.by == path)
        {
            window.ssthresh = window.ssthresh.max(before.ssthresh);
            window.cwnd = window.cwnd.max(before.cwnd);
            *answered_until = f64::NEG_INFINITY;
        }
        self.paths[path].lost_at = f64::NEG_INFINITY;
        self.observations.retain(|seen| seen.of != path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        let cwnd = window.cwnd.max(self.settings.min_window);
        self.paths[path].window = Window { cwnd, ..window };
    }

    fn window(&self, path: usize) -> Window {
        self.paths[path].window
    }
}

/// Signs of a shared bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dwc {
    /// A loss on another path at about the same time, or a high delay there.
    LossesAndDelays,
    /// Losses alone.
    Losses,
}

impl Kind for Dwc {
    const DESCRIBED: Described = Described {
        names: &["dwc"],
        summary: "DWC as reconstructed: one TCP for each group of paths that are found to share a bottleneck.",
        formula: "group: 1/w_G, decrease to w_G/2; beside a loss, one of another or delay > base + 0.5 (max − base): joins",
        source: "Hassayoun, Iyengar and Ros, ICNP 2011; details reconstructed",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Dwc::LossesAndDelays);
    const CHOICES: &'static [Choice<Self>] = &[Choice::word(
        "losses",
        Dwc::Losses,
        "only losses, not delays, are signs of a shared bottleneck",
    )];
}

impl Scheme for Dwc {
    type Control = DwcControl;

    fn needs(self) -> Needs {
        Needs { siblings: true, ..Needs::NONE }
    }

    fn control(self, settings: Settings, paths: usize) -> DwcControl {
        DwcControl::new(settings, self == Dwc::LossesAndDelays, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    /// Two paths of 100 ms with 8 segments each, in avoidance, that lose at these times.
    fn lost(events: &[(f64, usize)]) -> DwcControl {
        let settings =
            Settings { initial_window: 8.0, initial_ssthresh: 1.0, ..Settings::default() };
        let mut dwc = DwcControl::new(settings, true, 2);
        (0..2).for_each(|path| heard(&mut dwc, path, 0.0, 0.0));
        for (seconds, path) in events {
            heard(&mut dwc, *path, *seconds, 0.0);
            dwc.on_congestion(*path, Cause::FastRetransmit);
            dwc.on_recovered(*path);
        }
        heard(&mut dwc, 0, events.last().map_or(0.0, |(at, _)| at + 0.5), 0.0);
        dwc
    }

    fn heard(dwc: &mut DwcControl, path: usize, seconds: f64, segments: f64) {
        let (now_ns, cwnd_limited) = ((seconds * 1e9) as u64, true);
        let (srtt, now) = (Span::millis(100), Time(now_ns));
        dwc.on_ack(path, &Acked { segments, srtt, cwnd_limited, now, ..Acked::default() });
    }

    fn together(dwc: &DwcControl) -> bool {
        dwc.paths[0].group == dwc.paths[1].group
    }

    const JOINED: [(f64, usize); 2] = [(1.0, 0), (1.05, 1)];

    #[test]
    fn paths_that_lose_within_a_round_trip_are_one_group() {
        assert!(together(&lost(&JOINED)) && together(&lost(&[(1.0, 1), (1.05, 0)])));
        assert!(!together(&lost(&[(1.0, 0), (1.15, 1)])));
    }

    #[test]
    fn a_member_leaves_at_the_third_event_of_others_without_a_sign() {
        let after = |events: &[(f64, usize)]| together(&lost(&[&JOINED, events].concat()));
        assert!(after(&[(2.0, 0), (3.0, 0)]) && !after(&[(2.0, 0), (3.0, 0), (4.0, 0)]));
        assert!(!after(&[(2.0, 0), (3.0, 1), (4.0, 0), (5.0, 1), (6.0, 0)]), "they lose in turn");
        assert!(
            after(&[(2.0, 0), (3.0, 0), (4.0, 0), (4.05, 1), (5.0, 0), (6.0, 0)]),
            "a sign between"
        );
    }

    #[test]
    fn a_group_grows_as_one_tcp_and_gives_up_half_once_in_a_round_trip() {
        let mut dwc = lost(&JOINED);
        assert_eq!(dwc.total(0), 8.0);
        heard(&mut dwc, 0, 2.0, 1.0);
        assert_eq!([0, 1].map(|path| dwc.window(path).cwnd), [4.0 + 1.0 / 8.0, 4.0]);
        dwc.on_congestion(0, Cause::FastRetransmit);
        dwc.on_congestion(1, Cause::FastRetransmit);
        assert_eq!(dwc.total(0), (8.0 + 1.0 / 8.0) / 2.0);
    }
}
