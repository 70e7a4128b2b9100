//! Multi-Priority TCP: one TCP on the base path, TCP-LP or TCP Nice in the background on all
//! others.
//!
//! Source: Tse 2006, §2.2 and §3.1 (`cwnd_B` is `w_B` here). A background flow at window one
//! probes. *Borrowing* (§3.1.1) charges its packet to the base window while it is outstanding,
//! *returning* (§3.1.2) gives the base flow the growth that the packet would have earned, `1/w_B`,
//! if the answer is slow, and all background flows together send one probe in a round trip of the
//! base flow. Until the base flow has been answered, and while it has timed out, there is no base
//! window to borrow from: then background flows probe on their own.
//!
//! `multi-priority:naive` neither borrows nor returns; `:literal` takes a packet off the base
//! window for good, as §3.1.1 can be read; `:switching` and `:trial` move the base (`switching.rs`,
//! `trial.rs`). With `:nice` TCP Nice is in the background. Its windows fall below one: a packet is
//! a probe then too, and is due in 1/w round trips.

use super::background::Background;
use super::lp::LpControl;
use super::nice::NiceControl;
use super::switching::Switching;
use super::trial::Trial;
use crate::controller::forward;
use crate::kind::{Choice, Described, Kind};
use crate::laws::Reno;
use crate::scheme::Scheme;
use crate::{
    Acked, Cause, CongestionController, Needs, Phase, SegmentRate, Settings, Shell, Span, Window,
};
use alloc::boxed::Box;

/// Which reading of the thesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiPriority {
    /// With borrowing and returning; a packet is borrowed until it is acknowledged.
    #[default]
    Borrowing,
    /// Every background flow probes for itself.
    Naive,
    /// A borrowed packet does not come back.
    Literal,
    /// As `Borrowing`, and the base role moves to the path with the highest response-function rate.
    Switching,
    /// As `Borrowing`, with TCP Nice in the background.
    Nice,
    /// As `Borrowing`, and the base role moves where all paths together turn out to be faster.
    Trial,
}

/// Multi-Priority TCP over all paths of a connection; [`Settings::base`] begins as its base.
#[derive(Clone, Debug)]
pub(crate) struct MultiPriorityControl<B> {
    priorities: MultiPriority,
    settings: Settings,
    base: usize,
    /// The base flow: Reno over one path.
    tcp: Shell<Reno>,
    /// Whether background flows have no base window to borrow from: the base flow has timed out or
    /// left, or no path could send, and no ACK of the base flow has arrived since.
    base_lost: bool,
    base_recovers: bool,
    /// Whether the last congestion event of the base path reduced the base flow, which can undo it.
    base_reduced: bool,
    base_srtt: f64,
    now: f64,
    paths: Box<[Path<B>]>,
    /// Earliest time of the next loan of a probe, in seconds.
    lends_at: f64,
    /// The last path to borrow a packet.
    turn: usize,
    switching: Switching,
    trial: Trial,
    /// Whether background flows probed freely when the windows were last told; `None` if any of
    /// these may have changed since.
    told: Option<bool>,
}

#[derive(Clone, Debug)]
struct Path<B> {
    flow: B,
    member: bool,
    /// At window one: it may send its borrowed packet, or repair it.
    may_send: bool,
    /// It has borrowed a packet that is not yet answered.
    lent: bool,
    /// Until when that packet is charged to the base flow, in seconds; a path that does not send
    /// it, since it stands by or is not established, does not cost the base a packet for ever.
    charged_until: f64,
    /// It has timed out again, and no ACK arrived since.
    failed: bool,
    /// Its window may have changed since the windows were last told.
    moved: bool,
}

/// Round trips for which a packet is charged if it is not answered: those of the base flow or of
/// the path that it was lent to, whichever is longer. Its answer takes one of the latter, so only a
/// packet that is not sent is given up.
const CHARGED: f64 = 4.0;

impl<B: Background> Path<B> {
    /// A background flow begins with a probe.
    fn new(settings: Settings, member: bool) -> Self {
        let settings = Settings { initial_window: settings.min_window, ..settings };
        let flow = B::probing(settings);
        let charged_until = 0.0;
        Path {
            flow,
            member,
            may_send: false,
            lent: false,
            charged_until,
            failed: false,
            moved: true,
        }
    }

    /// Whether it may have only the smallest window outstanding.
    fn probes(&self) -> bool {
        self.flow.at_floor()
    }

    /// Its window in the background. A probe waits for its turn, unless background flows probe
    /// `freely`.
    #[inline]
    fn window(&self, freely: bool) -> Window {
        let window = self.flow.window();
        match self.probes() && !self.may_send && !freely {
            true => Window { cwnd: 0.0, ..window },
            false => window,
        }
    }
}

impl<B: Background> MultiPriorityControl<B> {
    /// # Panics
    /// If the base is not one of the paths.
    pub(crate) fn new(priorities: MultiPriority, settings: Settings, paths: usize) -> Self {
        assert!(settings.base < paths, "path {} is the base, of {paths} paths", settings.base);
        let fresh = Path::new(settings, true);
        MultiPriorityControl {
            priorities,
            settings,
            base: settings.base,
            tcp: Shell::new(Reno, settings, 1),
            base_lost: false,
            base_recovers: false,
            base_reduced: false,
            base_srtt: 0.0,
            now: 0.0,
            paths: alloc::vec![fresh; paths].into(),
            lends_at: 0.0,
            turn: 0,
            switching: Switching::new(paths),
            trial: Trial::new(),
            told: None,
        }
    }

    fn borrows(&self) -> bool {
        self.priorities != MultiPriority::Naive
    }

    /// Whether background flows probe on their own.
    fn probe_freely(&self) -> bool {
        !self.borrows() || self.base_lost || self.base_srtt == 0.0
    }

    /// Packets charged to the base window.
    fn outstanding(&self) -> f64 {
        self.paths.iter().filter(|path| path.charged_until > self.now).count() as f64
    }

    /// `w_B` less borrowed packets, at least the smallest window.
    fn usable(&self) -> f64 {
        let lent = if self.base_lost { 0.0 } else { self.outstanding() };
        (self.tcp.window(0).cwnd - lent).max(self.settings.min_window)
    }

    /// Moves `w_B` by this many segments.
    fn move_base(&mut self, by: f64) {
        let Window { cwnd, ssthresh } = self.tcp.window(0);
        self.tcp.restart(0, Window { cwnd: (cwnd + by).max(self.settings.min_window), ssthresh });
    }

    /// Lends at most one probe in a round trip of the base flow, in turn.
    fn lend(&mut self) {
        let ready = self.base_srtt > 0.0 && !self.base_recovers && self.now >= self.lends_at;
        if !self.borrows() || !ready || self.usable() < self.settings.min_window + 1.0 {
            return;
        }
        let mut next = (self.turn + 1..self.paths.len()).chain(0..=self.turn);
        let wants = |path: &Path<B>| {
            path.member && path.probes() && !path.may_send && path.flow.due(self.now)
        };
        let Some(me) = next.find(|&me| me != self.base && wants(&self.paths[me])) else {
            return;
        };
        let path = &mut self.paths[me];
        (path.may_send, path.lent, path.moved) = (true, true, true);
        match self.priorities {
            MultiPriority::Literal => self.move_base(-1.0),
            _ => {
                let longer = self.base_srtt.max(self.switching.srtt(me));
                self.paths[me].charged_until = self.now + CHARGED * longer;
            }
        }
        (self.turn, self.lends_at) = (me, self.now + self.base_srtt);
    }

    /// The borrowed packet of `me` was answered. The base flow gets its packet back and, if the
    /// answer was slow, the growth that the packet would have earned.
    fn give_back(&mut self, me: usize, repairs: bool) {
        let path = &mut self.paths[me];
        let lent = core::mem::take(&mut path.lent);
        path.may_send &= repairs; // repairs of other losses do not wait for turns either
        path.charged_until = 0.0;
        if lent && path.flow.slow() {
            self.move_base(1.0 / self.tcp.window(0).cwnd);
        }
    }

    /// The path to which the base moves after an ACK of `path`, if it moves.
    fn better_base(&mut self, path: usize, ack: &Acked) -> Option<usize> {
        self.switching.on_ack(path, ack);
        self.trial.count(ack.segments);
        if self.base_recovers {
            return None; // it would abandon its recovery
        }
        let to = match self.priorities {
            MultiPriority::Switching => self.switching.better(self.base, ack.now.seconds()),
            MultiPriority::Trial => {
                let backed_off = |me: usize| {
                    let path = &self.paths[me];
                    me != self.base && path.member && !path.failed && path.probes()
                };
                let candidate = self.switching.best(backed_off);
                let slowest = self.switching.slowest();
                self.trial.turn(ack.now.seconds(), slowest, self.base, candidate)
            }
            _ => None,
        };
        to.filter(|&to| self.paths[to].member && !self.paths[to].failed && to != self.base)
    }

    /// The base role moves to `to`: both paths keep their windows.
    fn switch(&mut self, to: usize) {
        self.told = None;
        let from = self.base;
        let window = self.paths[to].flow.window();
        let Window { cwnd, .. } = self.tcp.window(0);
        self.paths[from].flow.restart(Window { cwnd, ssthresh: cwnd });
        self.paths[from].may_send = self.base_lost; // it may finish its repairs
        self.paths[to].charged_until = 0.0;
        self.tcp.restart(0, window);
        self.base_srtt = self.switching.srtt(to);
        (self.base_lost, self.base_recovers, self.base_reduced) = (false, false, false);
        self.base = to;
    }
}

impl<B: Background> CongestionController for MultiPriorityControl<B> {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.now = ack.now.seconds();
        (self.paths[path].failed, self.paths[path].moved) = (false, true);
        if path == self.base {
            (self.base_srtt, self.base_lost) = (ack.srtt.seconds(), false);
            self.base_recovers = ack.phase == Phase::Recovery;
            self.paths[path].flow.listen(ack);
            self.tcp.on_ack(0, ack);
        } else {
            self.paths[path].flow.on_ack(ack);
            self.give_back(path, ack.phase == Phase::Loss);
        }
        if let Some(to) = self.better_base(path, ack) {
            self.switch(to);
        }
        self.lend();
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        let timeout = matches!(cause, Cause::Timeout | Cause::TimeoutAgain);
        self.switching.on_congestion(path, cause);
        self.paths[path].failed |= cause == Cause::TimeoutAgain;
        self.paths[path].moved = true;
        if path == self.base {
            self.base_lost = timeout;
            self.base_recovers = cause == Cause::FastRetransmit;
            self.base_reduced = true;
            return self.tcp.on_congestion(0, cause);
        }
        let background = &mut self.paths[path];
        background.flow.on_congestion(cause);
        // A lost packet is no longer charged; its repair does not wait for a turn.
        (background.charged_until, background.lent, background.may_send) = (0.0, false, true);
    }

    fn on_recovered(&mut self, path: usize) {
        self.paths[path].moved = true;
        match path == self.base {
            true => {
                self.base_recovers = false;
                self.tcp.on_recovered(0);
            }
            false => self.paths[path].flow.on_recovered(),
        }
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path::new(self.settings, member);
        self.told = None;
        self.switching.forget(path);
        self.trial.reset();
        if path == self.base {
            self.tcp.set_member(0, member);
            (self.base_srtt, self.base_reduced) = (0.0, false);
            (self.base_lost, self.base_recovers) = (!member, false);
        }
        // There must be a base: the first member that answers or, without one, the first member.
        let answers = self.paths.iter().position(|path| path.member && !path.failed);
        let first = answers.or(self.paths.iter().position(|path| path.member));
        if let Some(first) = first.filter(|_| !self.paths[self.base].member) {
            self.switch(first);
        }
    }

    fn undo(&mut self, path: usize) {
        self.paths[path].moved = true;
        match path == self.base {
            true => {
                (self.base_lost, self.base_recovers) = (false, false);
                if core::mem::take(&mut self.base_reduced) {
                    self.tcp.undo(0);
                }
            }
            false => self.paths[path].flow.undo(),
        }
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.paths[path].moved = true;
        match path == self.base {
            true => self.tcp.restart(0, window),
            false => self.paths[path].flow.restart(window),
        }
    }

    fn window(&self, path: usize) -> Window {
        match path == self.base {
            true => Window { cwnd: self.usable(), ..self.tcp.window(0) },
            false => self.paths[path].window(self.probe_freely()),
        }
    }

    fn windows(&mut self, paths: usize, mut see: impl FnMut(usize, Window)) {
        let freely = self.probe_freely();
        let all = self.told.replace(freely) != Some(freely);
        see(self.base, self.window(self.base));
        for (me, path) in self.paths[..paths].iter_mut().enumerate() {
            if (core::mem::take(&mut path.moved) || all) && me != self.base {
                see(me, path.window(freely));
            }
        }
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        // A borrowed packet was due: it goes at once, as a repair does.
        let own = path != self.base && !self.paths[path].may_send && self.probe_freely();
        if own { self.paths[path].flow.pacing() } else { None }
    }

    fn on_delay(&mut self, path: usize, delay: Span) {
        self.paths[path].flow.on_delay(delay);
        self.paths[path].moved = true;
    }

    fn on_stalled(&mut self) {
        self.base_lost = true;
    }
}

/// Multi-Priority TCP with either kind of background flow.
#[derive(Clone, Debug)]
pub(crate) enum Running {
    /// TCP-LP.
    Lp(MultiPriorityControl<LpControl>),
    /// TCP Nice.
    Nice(MultiPriorityControl<NiceControl>),
}

forward! {
    impl CongestionController for Running { Running::Lp, Running::Nice, }
}

impl Kind for MultiPriority {
    const DESCRIBED: Described = Described {
        names: &["multi-priority"],
        aliases: &["multi-priority-tcp"],
        summary: "Multi-Priority TCP: TCP on the first path, TCP-LP on the others, whose probes reduce the window of the first.",
        formula: "base: Reno, window less probes outstanding, + 1/w_B for a slow one; others: TCP-LP",
        source: "Tse 2006, §2.2 and §3.1",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(MultiPriority::Borrowing);
    const CHOICES: &'static [Choice<Self>] = &[
        Choice::word("naive", MultiPriority::Naive, "without borrowing and returning"),
        Choice::word("literal", MultiPriority::Literal, "a borrowed packet is not returned"),
        Choice::word("nice", MultiPriority::Nice, "TCP Nice in the background"),
        Choice::word(
            "switching",
            MultiPriority::Switching,
            "the base moves to the path with the highest response-function rate",
        ),
        Choice::word(
            "trial",
            MultiPriority::Trial,
            "the base moves to a path if a trial there raises the total rate of all paths",
        ),
    ];
}

impl Scheme for MultiPriority {
    type Control = Running;

    fn needs(self) -> Needs {
        match self {
            MultiPriority::Nice => Needs { rates: true, siblings: true, ..Needs::NONE },
            _ => Needs { delays: true, siblings: true, ..Needs::NONE },
        }
    }

    fn control(self, settings: Settings, paths: usize) -> Running {
        match self {
            MultiPriority::Nice => Running::Nice(MultiPriorityControl::new(self, settings, paths)),
            _ => Running::Lp(MultiPriorityControl::new(self, settings, paths)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lp::LpControl;
    use super::super::nice::NiceControl;
    use super::*;
    use crate::Time;
    use crate::schemes::each::Single;

    const RTT: f64 = 0.1;

    fn ack(seconds: f64, una: u64) -> Acked {
        let now_ns = (seconds * 1e9) as u64;
        let (segments, srtt, cwnd_limited) = (1.0, Span::from_seconds(RTT), true);
        let nxt = una + 1000;
        Acked { segments, srtt, cwnd_limited, now: Time(now_ns), una, nxt, ..Acked::default() }
    }

    /// A base flow in congestion avoidance with `cwnd` segments, and backed-off flows in the
    /// background.
    fn backed_off(
        priorities: MultiPriority,
        cwnd: f64,
        paths: usize,
    ) -> MultiPriorityControl<LpControl> {
        with_background(priorities, cwnd, paths)
    }

    fn with_background<B: Background>(
        priorities: MultiPriority,
        cwnd: f64,
        paths: usize,
    ) -> MultiPriorityControl<B> {
        let mut ensemble = MultiPriorityControl::new(priorities, Settings::default(), paths);
        ensemble.restart(0, Window { cwnd, ssthresh: 1.0 });
        ensemble.base_srtt = RTT;
        for path in 1..paths {
            ensemble.on_congestion(path, Cause::Timeout);
            ensemble.paths[path].may_send = false;
        }
        ensemble
    }

    #[test]
    fn each_probe_is_charged_to_the_base_window_by_one_until_it_is_answered() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 3);
        ensemble.on_ack(0, &ack(1.0, 1000));
        assert_eq!((ensemble.window(0).cwnd, ensemble.window(1).cwnd), (9.1, 1.0));
        assert_eq!(ensemble.window(2).cwnd, 0.0, "one in a round trip");
        ensemble.on_ack(0, &ack(1.11, 2000));
        assert_eq!(ensemble.window(2).cwnd, 1.0);
        let before = ensemble.window(0).cwnd;
        ensemble.lends_at = f64::INFINITY;
        ensemble.on_ack(1, &ack(1.12, 1000));
        assert_eq!(ensemble.window(0).cwnd, before + 1.0, "the answer was fast: nothing more");
        assert_eq!(ensemble.window(1).cwnd, 2.0);
    }

    #[test]
    fn a_slow_answer_also_gives_what_the_packet_would_have_earned() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        ensemble.on_ack(0, &ack(1.0, 1000));
        let w_b = ensemble.tcp.window(0).cwnd;
        ensemble.paths[1].flow.listen(&ack(1.0, 1000));
        ensemble.paths[1].flow.on_congestion(Cause::FastRetransmit); // an inference begins
        ensemble.lends_at = f64::INFINITY;
        ensemble.on_ack(1, &ack(1.1, 2000));
        assert_eq!(ensemble.tcp.window(0).cwnd, w_b + 1.0 / w_b);
        assert_eq!(ensemble.window(1).cwnd, 0.0, "it waits for its next turn");
    }

    #[test]
    fn the_base_window_never_falls_below_one_and_lends_nothing_it_has_not() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 3.0, 9);
        let mut most: f64 = 0.0;
        for round in 1..40 {
            let now = 0.1 * f64::from(round);
            ensemble.on_ack(0, &Acked { cwnd_limited: false, ..ack(now, 1000) });
            assert!(ensemble.window(0).cwnd >= 1.0);
            most = most.max(ensemble.outstanding());
        }
        assert_eq!(most, 2.0);
    }

    #[test]
    fn sixteen_flows_send_one_probe_in_a_base_round_trip() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 20.0, 17);
        let mut probes = 0;
        for step in 0..1000 {
            // ten seconds, ten ACKs of the base in a round trip
            let now = 1.0 + 0.01 * f64::from(step);
            ensemble.on_ack(0, &Acked { cwnd_limited: false, ..ack(now, 1000) });
            for path in 1..17 {
                if ensemble.window(path).cwnd > 0.0 {
                    probes += 1;
                    ensemble.paths[path].flow.on_congestion(Cause::Timeout);
                    ensemble.give_back(path, false);
                }
            }
        }
        assert!((90..=110).contains(&probes), "{probes} in 100 round trips");
    }

    #[test]
    fn nothing_is_lent_while_the_base_flow_repairs_losses() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        ensemble.on_congestion(0, Cause::FastRetransmit);
        ensemble.on_ack(0, &Acked { phase: Phase::Recovery, ..ack(1.0, 1000) });
        assert_eq!((ensemble.window(0).cwnd, ensemble.window(1).cwnd), (5.0, 0.0));
    }

    #[test]
    fn without_a_base_that_answers_background_flows_probe_for_themselves() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 3);
        ensemble.on_congestion(0, Cause::Timeout);
        assert_eq!((ensemble.window(1).cwnd, ensemble.window(2).cwnd), (1.0, 1.0));
        ensemble.set_member(0, false);
        assert_eq!(ensemble.base, 1);
    }

    #[test]
    fn what_another_path_s_tcp_had_reduced_is_not_taken_back_on_the_new_base() {
        let mut ensemble = backed_off(MultiPriority::Switching, 80.0, 2);
        ensemble.on_congestion(0, Cause::FastRetransmit);
        ensemble.on_recovered(0);
        ensemble.paths[1].flow.restart(Window { cwnd: 5.0, ssthresh: 5.0 });
        ensemble.switch(1);
        ensemble.undo(1);
        assert_eq!(ensemble.window(1).cwnd, 5.0);
        ensemble.undo(0);
        assert_eq!(ensemble.window(0).cwnd, 40.0);
    }

    #[test]
    fn a_loss_of_its_own_returns_nothing_and_its_repair_waits_for_no_turn() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        ensemble.paths[1].flow.restart(Window { cwnd: 8.0, ssthresh: 8.0 });
        ensemble.lends_at = f64::INFINITY;
        ensemble.on_congestion(1, Cause::Timeout);
        let w_b = ensemble.tcp.window(0).cwnd;
        ensemble.on_ack(1, &Acked { phase: Phase::Loss, ..ack(1.0, 1000) });
        assert_eq!(ensemble.tcp.window(0).cwnd, w_b);
        assert!(ensemble.window(1).cwnd >= 1.0 && ensemble.paths[1].may_send);
    }

    #[test]
    fn a_loan_that_is_never_sent_is_not_charged_for_ever() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        let still = |seconds| Acked { cwnd_limited: false, ..ack(seconds, 1000) };
        ensemble.on_ack(0, &still(1.0));
        assert_eq!(ensemble.window(0).cwnd, 9.0);
        ensemble.on_ack(0, &still(1.5));
        assert_eq!(ensemble.window(0).cwnd, 10.0);
    }

    #[test]
    fn a_loan_to_a_path_of_seven_base_round_trips_comes_back_with_its_answer_and_not_before() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        let slow = Acked { srtt: Span::from_seconds(7.0 * RTT), ..ack(1.0, 1000) };
        ensemble.switching.on_ack(1, &slow);
        let still = |seconds| Acked { cwnd_limited: false, ..ack(seconds, 1000) };
        for step in 0..7 {
            ensemble.on_ack(0, &still(1.0 + RTT * f64::from(step)));
            assert_eq!(ensemble.window(0).cwnd, 9.0, "after {step} base round trips");
        }
        let w_b = ensemble.tcp.window(0).cwnd;
        ensemble.lends_at = f64::INFINITY;
        ensemble.on_ack(1, &Acked { now: Time(1_700_000_000), ..slow });
        assert_eq!((w_b, ensemble.window(0).cwnd), (10.0, 10.0));
    }

    #[test]
    fn if_no_path_can_send_without_a_loan_background_flows_probe_freely() {
        let mut ensemble = backed_off(MultiPriority::Borrowing, 10.0, 2);
        assert_eq!(ensemble.window(1).cwnd, 0.0);
        ensemble.on_stalled();
        assert_eq!(ensemble.window(1).cwnd, 1.0);
        ensemble.on_ack(0, &ack(1.0, 1000));
        assert!(!ensemble.base_lost);
    }

    #[test]
    fn a_path_that_does_not_answer_never_becomes_the_base() {
        let mut ensemble = backed_off(MultiPriority::Switching, 10.0, 3);
        for path in 0..3 {
            ensemble.on_ack(path, &ack(1.0, 1000));
        }
        ensemble.on_congestion(1, Cause::TimeoutAgain);
        ensemble.set_member(0, false);
        assert_eq!(ensemble.base, 2);
    }

    #[test]
    fn until_the_base_flow_is_answered_others_probe_for_themselves() {
        let ensemble = MultiPriorityControl::<LpControl>::new(
            MultiPriority::Borrowing,
            Settings::default(),
            3,
        );
        assert_eq!((ensemble.window(1).cwnd, ensemble.window(2).cwnd), (1.0, 1.0));
    }

    #[test]
    fn naive_flows_probe_whenever_they_like_and_a_literal_loan_is_for_good() {
        let naive = backed_off(MultiPriority::Naive, 10.0, 3);
        assert_eq!((naive.window(0).cwnd, naive.window(2).cwnd), (10.0, 1.0));
        let mut literal = backed_off(MultiPriority::Literal, 10.0, 2);
        literal.on_ack(0, &Acked { cwnd_limited: false, ..ack(1.0, 1000) });
        literal.lends_at = f64::INFINITY;
        literal.on_ack(1, &ack(9.0, 1000));
        assert_eq!(literal.window(0).cwnd, 9.0);
    }

    #[test]
    fn the_base_moves_without_loss_or_burst() {
        let mut ensemble = backed_off(MultiPriority::Switching, 12.0, 2);
        ensemble.paths[1].flow.restart(Window { cwnd: 5.0, ssthresh: 5.0 });
        let before = (ensemble.window(0).cwnd, ensemble.window(1).cwnd);
        ensemble.switch(1);
        assert_eq!((ensemble.window(0).cwnd, ensemble.window(1).cwnd), before);
        assert_eq!(ensemble.base, 1);
    }

    #[test]
    fn what_is_due_in_many_round_trips_is_lent_then_and_accounted_for_as_other_probes_are() {
        let mut ensemble: MultiPriorityControl<NiceControl> =
            with_background(MultiPriority::Nice, 10.0, 2);
        let late = |seconds, rtt_ns, una| Acked { rtt: Span(rtt_ns), ..ack(seconds, una) };
        for (una, rtt_ns) in (1..).zip([100_000_000, 200_000_000, 200_000_000]) {
            ensemble.paths[1].flow.on_ack(&late(1.0, rtt_ns, 1000 * una)); // 1.5, 0.75, 0.375
        }
        let still = |seconds| Acked { cwnd_limited: false, ..ack(seconds, 1000) };
        ensemble.on_ack(0, &still(1.1));
        assert_eq!((ensemble.window(0).cwnd, ensemble.window(1).cwnd), (10.0, 0.0));
        ensemble.on_ack(0, &still(2.0));
        assert_eq!((ensemble.window(0).cwnd, ensemble.window(1).cwnd), (9.0, 1.0));
        assert_eq!(ensemble.pacing(1), None);
        ensemble.lends_at = f64::INFINITY;
        ensemble.on_ack(1, &late(2.2, 200_000_000, 9000));
        assert_eq!(ensemble.tcp.window(0).cwnd, 10.1, "the answer is late");
        ensemble.on_congestion(0, Cause::Timeout);
        assert!(ensemble.pacing(1).is_some_and(|rate| rate.0 < 1.0 / RTT), "by itself it is paced");
    }
}
