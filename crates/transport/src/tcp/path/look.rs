//! What stacks of today read from an ACK, around what all of them do with it.

use super::Path;
use crate::settings::SenderSettings;
use crate::tcp::modern::{Patience, Seen};
use crate::tcp::scoreboard::Progress;
use control::{Cause, CongestionController, Delivered, Phase, SegmentRate};
use units::{Span, Time};
use wire::Ack;

impl Path {
    /// Before an ACK has any effect but on the scoreboard; `None` if nothing of the kind is on.
    #[inline(always)] // on the way of every ACK
    pub(super) fn look(&mut self, now: Time, ack: &Ack, progress: Progress) -> Option<Seen> {
        let modern = self.modern.as_mut()?;
        let seen = modern.on_ack(now, ack, &self.board, progress);
        if seen.echo {
            self.cwnd_limited = false; // RFC 3168 §6.1.2: no growth on an ACK that echoes a mark
        }
        Some(seen)
    }

    /// When it has acknowledged what it does: losses, reductions and the timer.
    #[inline(never)]
    pub(super) fn after_look(
        &mut self,
        now: Time,
        progress: Progress,
        seen: Seen,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        if seen.echo {
            self.on_echo(control, me);
        }
        if seen.spurious {
            self.undo(control, me);
        } else if self.phase == Phase::Recovery {
            self.reduce(now, progress, settings, control, me);
        } else {
            let lost = match settings.modern.rack {
                true => self.detect(now, settings),
                false => self.phase == Phase::Open && self.loss_detected(settings),
            };
            if lost && self.phase == Phase::Open {
                self.enter_recovery(now, progress, settings, control, me);
            }
        }
        if seen.repaired && self.phase == Phase::Open {
            self.forget_reduction();
            control.on_congestion(me, Cause::FastRetransmit);
            control.on_recovered(me);
        }
        if progress.delivered > 0 {
            self.tell_delivered(now, progress, settings, control, me);
        }
        self.set_pace(control.pacing(me), settings);
        self.arm(now);
    }

    /// Control hears at which rate the path delivers, if it asked.
    fn tell_delivered(
        &mut self,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        let lost = self.board.lost_total();
        let Some(sample) = self.modern.as_mut().and_then(|modern| modern.sample(lost)) else {
            return;
        };
        let segments = |bytes: u64| bytes as f64 / f64::from(settings.segment);
        let delivered = Delivered {
            now,
            rtt: if progress.acked > 0 { self.rtt.latest() } else { Span::ZERO },
            srtt: self.rtt.srtt().seconds(),
            segments: segments(progress.delivered),
            total: segments(sample.delivered),
            prior: sample.prior.map(segments),
            rate: SegmentRate(sample.rate / f64::from(settings.segment)),
            app_limited: sample.app_limited,
            pipe: segments(self.board.pipe()),
            lost: segments(sample.lost),
            phase: self.phase,
        };
        control.on_delivered(me, &delivered);
    }

    /// The receiver echoes a mark (RFC 3168 §6.1.2): the window is reduced, but once for a window
    /// of data.
    fn on_echo(&mut self, control: &mut impl CongestionController, me: usize) {
        if self.answered > 0 && self.board.una <= self.answered {
            return;
        }
        // In recovery the window was reduced already, and the receiver must hear of it all the
        // same.
        self.reduced = true;
        self.answered = self.board.nxt;
        if self.phase == Phase::Open {
            self.tally.marks += 1;
            self.forget_reduction();
            control.on_congestion(me, Cause::Mark);
        }
    }

    /// The last reduction need not have been.
    fn undo(&mut self, control: &mut impl CongestionController, me: usize) {
        self.tally.undone += 1;
        self.board.unlose();
        self.board.forget_duplicates();
        self.phase = Phase::Open;
        self.answered = 0;
        control.undo(me);
    }

    /// RACK looks for losses; whether there is something to send again.
    pub(super) fn detect(&mut self, now: Time, settings: &SenderSettings) -> bool {
        let segment = u64::from(settings.segment);
        let urgent = self.phase != Phase::Open || self.board.many_sacked(segment);
        let patience = Patience { srtt: self.rtt.srtt(), urgent };
        if let Some(modern) = &mut self.modern {
            modern.detect_loss(now, &mut self.board, patience);
        }
        self.board.next_lost().is_some()
    }

    /// A reduction is about to begin that is not taken back: nor is any before it.
    pub(super) fn forget_reduction(&mut self) {
        if let Some(undo) = self.modern.as_mut().and_then(|modern| modern.undo.as_mut()) {
            undo.forget();
        }
    }

    /// A reduction for a loss is about to begin: what is needed to take it back, and no probe any
    /// more.
    pub(super) fn before_reduction(&mut self) {
        let Some(modern) = &mut self.modern else {
            return;
        };
        if let Some(undo) = &mut modern.undo {
            undo.on_reduction();
        }
        if let Some(probe) = &mut modern.probe {
            probe.forget();
        }
        if let Some(frto) = &mut modern.frto {
            frto.forget();
        }
    }
}
