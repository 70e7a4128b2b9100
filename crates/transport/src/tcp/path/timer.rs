//! Timers of a path: one timer, set for the first of several events.

use super::Path;
use crate::settings::SenderSettings;
use crate::tcp::scoreboard::Progress;
use control::{Cause, CongestionController, Phase};
use units::{Span, Time};

/// The event for which the timer is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimerKind {
    /// The retransmission timeout.
    #[default]
    Retransmission,
    /// A tail-loss probe (RFC 8985 §7.2).
    Probe,
    /// The end of the reordering window (RFC 8985 §6.2).
    Reordering,
    /// A packet of the handshake may be lost.
    Opening,
    /// The next probe of a suspended path.
    Suspension,
}

/// The result of a fired timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fired {
    /// A retransmission timeout.
    Timeout,
    /// Another event, which concerns this path alone.
    Other,
}

impl Path {
    /// The timer's deadline has come.
    pub(crate) fn on_timer(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) -> Fired {
        self.standing.calm = false;
        match std::mem::take(&mut self.timer.kind) {
            TimerKind::Retransmission => {
                self.on_timeout(now, settings, control, me);
                return Fired::Timeout;
            }
            TimerKind::Opening => self.ask_again(),
            TimerKind::Suspension => self.probe_again(now),
            TimerKind::Probe => {
                if let Some(probe) =
                    self.tracking.as_mut().and_then(|tracking| tracking.probe.as_mut())
                {
                    probe.due = true;
                }
                // §7.3: the answer to the probe has a full timeout to arrive
                self.restart_timer(now, settings);
            }
            TimerKind::Reordering => {
                self.timer.deadline =
                    self.tracking.as_ref().map_or(now, |tracking| tracking.rto_at.max(now));
                let lost = self.detect(now, settings);
                if lost && self.recovery.phase == Phase::Open {
                    self.enter_recovery(now, Progress::default(), settings, control, me);
                }
                self.arm(now);
            }
        }
        Fired::Other
    }

    /// The retransmission timer fired (RFC 6298 §5.4 to §5.6).
    fn on_timeout(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        // At most one decrease in a window: a timeout in recovery does not lower ssthresh again.
        let cause = match self.recovery.phase {
            Phase::Open => Cause::Timeout,
            Phase::Recovery | Phase::Loss => Cause::TimeoutAgain,
        };
        if cause == Cause::Timeout {
            self.before_reduction();
        }
        self.tally.timeouts += 1;
        self.timer.backoff += 1;
        self.recovery.dupacks = 0;
        self.recovery.phase = Phase::Loss;
        self.recovery.point = self.board.nxt;
        self.board.on_reneging();
        match &mut self.tracking {
            Some(tracking) => tracking.on_timeout(now, &mut self.board, cause == Cause::Timeout),
            None => self.board.lose_all(),
        }
        control.on_congestion(me, cause);
        self.restart_timer(now, settings);
    }

    /// Restarts the retransmission timer.
    #[inline(always)] // runs for every ACK
    pub(in crate::tcp) fn restart_timer(&mut self, now: Time, settings: &SenderSettings) {
        self.timer.kind = TimerKind::Retransmission;
        self.timer.deadline = match self.board.outstanding() {
            0 => Time::NEVER,
            _ => now + self.rtt.rto(&settings.options, self.timer.backoff),
        };
    }

    /// [`Path::restart_timer`] after an ACK of new data, which ends all doublings of the timeout.
    #[inline(always)] // runs for every ACK
    pub(in crate::tcp) fn restart_calm_timer(&mut self, now: Time, settings: &SenderSettings) {
        debug_assert_eq!(self.timer.backoff, 0, "no ACK of new data has arrived");
        self.timer.kind = TimerKind::Retransmission;
        self.timer.deadline = match self.board.outstanding() {
            0 => Time::NEVER,
            _ => now + self.rtt.rto_once(&settings.options),
        };
    }

    /// Sets the timer for an event before the retransmission timeout, if there is one.
    pub(super) fn arm(&mut self, now: Time) {
        let Some(tracking) = &mut self.tracking else {
            return;
        };
        if self.timer.kind == TimerKind::Retransmission {
            tracking.rto_at = self.timer.deadline;
        }
        let outstanding = self.board.outstanding();
        if outstanding == 0 || self.timer.kind == TimerKind::Suspension {
            return;
        }
        if let Some(at) = tracking.late {
            (self.timer.kind, self.timer.deadline) = (TimerKind::Reordering, at.max(now));
            return;
        }
        (self.timer.kind, self.timer.deadline) = (TimerKind::Retransmission, tracking.rto_at);
        let calm = self.recovery.phase == Phase::Open
            && self.timer.backoff == 0
            && self.board.nothing_sacked();
        let one_segment = tracking.last_segment().is_some_and(|last| last.len() == outstanding);
        let wait = |srtt: Span| tracking.probe.as_ref()?.timeout(srtt, one_segment);
        if let Some(pto) = wait(self.rtt.srtt()).filter(|_| calm)
            && now + pto < tracking.rto_at
        {
            (self.timer.kind, self.timer.deadline) = (TimerKind::Probe, now + pto);
        }
    }
}
