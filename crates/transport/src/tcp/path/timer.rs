//! What time does to a path: it has one timer, which stands for the first thing that it waits for.

use super::Path;
use crate::settings::SenderSettings;
use crate::tcp::scoreboard::Progress;
use control::{Cause, CongestionController, Phase};
use units::{Span, Time};

/// What the timer stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Timer {
    /// The retransmission timeout.
    #[default]
    Retransmission,
    /// A tail-loss probe (RFC 8985 §7.2).
    Probe,
    /// The end of the reordering window (RFC 8985 §6.2).
    Reordering,
    /// A packet of the handshake was not answered.
    Opening,
}

/// What came of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fired {
    /// A retransmission timeout.
    Timeout,
    /// Something else, which concerns this path alone.
    Other,
}

impl Path {
    /// The time of `deadline` has come.
    pub(crate) fn on_timer(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) -> Fired {
        match std::mem::take(&mut self.timer) {
            Timer::Retransmission => {
                self.on_timeout(now, settings, control, me);
                return Fired::Timeout;
            }
            Timer::Opening => self.ask_again(),
            Timer::Probe => {
                if let Some(probe) = self.modern.as_mut().and_then(|modern| modern.probe.as_mut()) {
                    probe.due = true;
                }
                self.restart_timer(now, settings); // §7.3: the probe has a full timeout to be answered
            }
            Timer::Reordering => {
                self.deadline = self.modern.as_ref().map_or(now, |modern| modern.rto_at.max(now));
                let lost = self.detect(now, settings);
                if lost && self.phase == Phase::Open {
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
        // At most one decrease for a window: a timeout in recovery does not lower ssthresh again.
        let cause = match self.phase {
            Phase::Open => Cause::Timeout,
            Phase::Recovery | Phase::Loss => Cause::TimeoutAgain,
        };
        if cause == Cause::Timeout {
            self.before_reduction();
        }
        self.tally.timeouts += 1;
        self.backoff += 1;
        self.dupacks = 0;
        self.phase = Phase::Loss;
        self.next_send = self.next_send.min(now); // pacing does not delay what has waited for a timeout
        self.recover = self.board.nxt;
        self.board.on_reneging();
        match &mut self.modern {
            Some(modern) => modern.on_timeout(now, &mut self.board, cause == Cause::Timeout),
            None => self.board.lose_all(),
        }
        control.on_congestion(me, cause);
        self.restart_timer(now, settings);
    }

    /// The retransmission timeout begins anew.
    pub(super) fn restart_timer(&mut self, now: Time, settings: &SenderSettings) {
        self.timer = Timer::Retransmission;
        self.deadline = match self.board.outstanding() {
            0 => Time::NEVER,
            _ => now + self.rtt.rto(&settings.rto, self.backoff),
        };
    }

    /// Sets the timer for what comes before the retransmission timeout, if anything does.
    pub(super) fn arm(&mut self, now: Time) {
        let Some(modern) = &mut self.modern else {
            return;
        };
        if self.timer == Timer::Retransmission {
            modern.rto_at = self.deadline;
        }
        let outstanding = self.board.outstanding();
        if outstanding == 0 {
            return;
        }
        if let Some(at) = modern.late {
            (self.timer, self.deadline) = (Timer::Reordering, at.max(now));
            return;
        }
        (self.timer, self.deadline) = (Timer::Retransmission, modern.rto_at);
        let calm = self.phase == Phase::Open && self.backoff == 0 && self.board.nothing_sacked();
        let one_segment = modern.last_segment().is_some_and(|last| last.len() == outstanding);
        let wait = |srtt: Span| modern.probe.as_ref()?.timeout(srtt, one_segment);
        if let Some(pto) = wait(self.rtt.srtt()).filter(|_| calm)
            && now + pto < modern.rto_at
        {
            (self.timer, self.deadline) = (Timer::Probe, now + pto);
        }
    }
}
