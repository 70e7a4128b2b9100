//! Processing of ACKs on a path with tracked segments, before and after the processing common to
//! all paths.

use super::Path;
use crate::settings::SenderSettings;
use crate::tcp::scoreboard::Progress;
use crate::tcp::tracking::{Ecn, Findings, Patience};
use control::{Cause, CongestionController, Delivered, Phase, SegmentRate};
use units::{Span, Time};
use wire::Ack;

impl Path {
    /// Runs after the scoreboard's update and before all other effects of an ACK; `None` if all
    /// tracking is off.
    #[inline(always)] // runs for every ACK
    pub(super) fn track(&mut self, now: Time, ack: &Ack, progress: Progress) -> Option<Findings> {
        let tracking = self.tracking.as_mut()?;
        let findings = tracking.on_ack(now, ack, &self.board, progress);
        if findings.echo {
            // RFC 3168 §6.1.2: no growth on an ACK that echoes a mark
            self.standing.cwnd_limited = false;
        }
        Some(findings)
    }

    /// Runs after all other effects of an ACK: losses, reductions and the timer.
    #[inline(never)]
    pub(super) fn act_on(
        &mut self,
        findings: Findings,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        if findings.echo {
            self.on_echo(control, me);
        }
        if findings.spurious {
            self.undo(control, me);
        } else if self.recovery.phase == Phase::Recovery {
            self.reduce(now, progress, settings, control, me);
        } else {
            let lost = match settings.options.rack {
                true => self.detect(now, settings),
                false => self.recovery.phase == Phase::Open && self.loss_detected(settings),
            };
            if lost && self.recovery.phase == Phase::Open {
                self.enter_recovery(now, progress, settings, control, me);
            }
        }
        if findings.repaired && self.recovery.phase == Phase::Open {
            self.forget_reduction();
            control.on_congestion(me, Cause::FastRetransmit);
            control.on_recovered(me);
        }
        if progress.delivered > 0 {
            self.tell_delivered(now, progress, settings, control, me);
        }
        self.refresh(control.window(me).cwnd, settings);
        self.set_pace(control.pacing(me), settings);
        self.arm(now);
    }

    /// Reports the delivery rate of the path to control, if it needs it.
    fn tell_delivered(
        &mut self,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        let lost = self.board.lost_total();
        let Some(sample) = self.tracking.as_mut().and_then(|tracking| tracking.sample(lost)) else {
            return;
        };
        let segments = |bytes: u64| bytes as f64 / f64::from(settings.segment());
        let delivered = Delivered {
            now,
            rtt: if progress.acked > 0 { self.rtt.latest() } else { Span::ZERO },
            srtt: self.rtt.srtt(),
            segments: segments(progress.delivered),
            total: segments(sample.delivered),
            prior: sample.prior.map(segments),
            rate: SegmentRate(sample.rate / f64::from(settings.segment())),
            app_limited: sample.app_limited,
            pipe: segments(self.board.pipe()),
            lost: segments(sample.lost),
            phase: self.recovery.phase,
        };
        control.on_delivered(me, &delivered);
    }

    /// The receiver echoes a mark (RFC 3168 §6.1.2): reduces the window once for a window of data.
    fn on_echo(&mut self, control: &mut impl CongestionController, me: usize) {
        let una = self.board.una;
        let Some(ecn) = self.tracking.as_mut().and_then(|tracking| tracking.ecn.as_mut()) else {
            return;
        };
        if ecn.answered > 0 && una <= ecn.answered {
            return;
        }
        // In recovery the window was reduced already, but the receiver must be told that it was.
        *ecn = Ecn { reduced: true, answered: self.board.nxt };
        if self.recovery.phase == Phase::Open {
            self.tally.marks += 1;
            self.forget_reduction();
            control.on_congestion(me, Cause::Mark);
        }
    }

    /// Marks of data below this byte are answered already.
    pub(super) fn answered_marks(&self) -> u64 {
        let ecn = self.tracking.as_ref().and_then(|tracking| tracking.ecn.as_ref());
        ecn.map_or(0, |ecn| ecn.answered)
    }

    /// The last reduction was spurious.
    fn undo(&mut self, control: &mut impl CongestionController, me: usize) {
        self.tally.undone += 1;
        self.board.unlose();
        self.board.forget_duplicates();
        self.recovery.phase = Phase::Open;
        if let Some(ecn) = self.tracking.as_mut().and_then(|tracking| tracking.ecn.as_mut()) {
            ecn.answered = 0;
        }
        control.undo(me);
    }

    /// RACK searches for losses; returns whether there is a segment to send again.
    pub(super) fn detect(&mut self, now: Time, settings: &SenderSettings) -> bool {
        let segment = u64::from(settings.segment());
        let urgent = self.recovery.phase != Phase::Open || self.board.many_sacked(segment);
        let patience = Patience { srtt: self.rtt.srtt(), urgent };
        if let Some(tracking) = &mut self.tracking {
            tracking.detect_loss(now, &mut self.board, patience);
        }
        self.board.next_lost().is_some()
    }

    /// A reduction begins that cannot be undone; then no earlier one can be.
    pub(super) fn forget_reduction(&mut self) {
        if let Some(undo) = self.tracking.as_mut().and_then(|tracking| tracking.undo.as_mut()) {
            undo.forget();
        }
    }

    /// A reduction for a loss begins: saves the state to undo it, and cancels the probe.
    pub(super) fn before_reduction(&mut self) {
        let Some(tracking) = &mut self.tracking else {
            return;
        };
        if let Some(undo) = &mut tracking.undo {
            undo.on_reduction();
        }
        if let Some(probe) = &mut tracking.probe {
            probe.forget();
        }
        if let Some(frto) = &mut tracking.frto {
            frto.forget();
        }
    }
}
