//! The sending side of one path: a TCP sender without its data.
//!
//! ```text
//!          loss detected                    recovery point acknowledged
//!   Open ────────────────► Recovery (PRR) ────────────────► Open
//!     │ timeout                │ timeout                      ▲
//!     └────────► Loss ◄────────┘ ─────────────────────────────┘
//! ```
//!
//! Arrivals are here, in `path/duplicates.rs` for most duplicate ACKs, and in `path/tracked.rs` for
//! tracked segments. Sending is in
//! `path/sending.rs`, timers in `path/timer.rs`, handshakes in `path/opening.rs`, and suspension in
//! `path/suspension.rs`.

use super::mapping::Mapping;
use super::prr::Prr;
use super::scoreboard::{Progress, Scoreboard};
use super::tracking::Tracking;
use crate::rtt::Rtt;
use crate::settings::SenderSettings;
use control::{Acked, Cause, CongestionController, Phase, Window};
use opening::Handshake;
use suspension::Suspension;
use timer::TimerKind;
use units::Time;
use wire::Ack;

mod duplicates;
mod opening;
mod sending;
mod suspension;
mod timer;
mod tracked;

pub(crate) use timer::Fired;

/// Duplicate ACKs that indicate a loss without SACK (RFC 5681 §3.2).
const DUP_ACKS: u32 = 3;

/// Counters of a path. All but the retransmissions count at most once in a round trip, or in a
/// timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u32,
    pub(crate) recoveries: u32,
    pub(crate) marks: u32,
    pub(crate) undone: u32,
    pub(crate) probes: u32,
}

/// One path of a sender.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) board: Scoreboard,
    pub(crate) rtt: Rtt,
    pub(crate) timer: Timer,
    pub(crate) recovery: Recovery,
    pub(crate) standing: Standing,
    pub(crate) host: HostQueue,
    /// The congestion window in bytes of whole segments, as last set by control.
    window: u64,
    /// When the last segment was sent.
    last_sent: Time,
    /// Kept only for connections with several paths.
    pub(crate) mapping: Option<Box<Mapping>>,
    handshake: Handshake,
    suspension: Suspension,
    /// Absent while all its parts are off.
    pub(crate) tracking: Option<Box<Tracking>>,
    pub(crate) tally: Tally,
}

/// The one timer of a path.
#[derive(Debug)]
pub(crate) struct Timer {
    /// When it fires; never while nothing is outstanding.
    pub(crate) deadline: Time,
    /// The event for which it runs.
    kind: TimerKind,
    /// How many times the timeout has been doubled.
    backoff: u32,
}

/// Loss recovery.
#[derive(Debug)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// Whether selective acknowledgements are read; otherwise recovery is NewReno's.
    pub(crate) sack: bool,
    /// Without SACK: a partial ACK has arrived; later ones do not restart the timer (RFC 6582 §4).
    partial: bool,
    dupacks: u32,
    /// Recovery ends when all data below is acknowledged (RecoveryPoint, `recover`).
    point: u64,
    /// Of the present or the last recovery; absent before the first one.
    prr: Option<Box<Prr>>,
}

/// Whether the path may be chosen for new data.
#[derive(Debug)]
pub(crate) struct Standing {
    /// Whether it belongs to the connection now.
    pub(crate) member: bool,
    /// Whether it is a member, established, and not held back by pacing, as of the last poll.
    usable: bool,
    /// Whether new data may be sent, as of the last poll.
    pub(crate) ready: bool,
    /// Whether it is a member without data that is lost, SACKed or under repair, as of the last
    /// ACK; never if that has changed since.
    pub(crate) calm: bool,
    /// Whether the window ended the last sending.
    pub(crate) cwnd_limited: bool,
    /// A timeout hit and no ACK has arrived since: the scheduler avoids it ("potentially failed").
    pub(crate) failed: bool,
    /// It is used only while no other path works (RFC 8684 §3.3.8).
    pub(crate) backup: bool,
}

/// Bytes queued in the sending host.
#[derive(Debug)]
pub(crate) struct HostQueue {
    /// Bytes handed to the host that have not left it.
    pub(crate) queued: u64,
    /// Most bytes that may be queued.
    limit: u64,
}

impl Path {
    pub(crate) fn new(multipath: bool, settings: &SenderSettings) -> Self {
        Path {
            board: Scoreboard::new(settings.rate),
            rtt: Rtt::default(),
            timer: Timer { deadline: Time::NEVER, kind: TimerKind::Retransmission, backoff: 0 },
            recovery: Recovery {
                phase: Phase::Open,
                sack: settings.options.sack,
                partial: false,
                dupacks: 0,
                point: 0,
                prr: None,
            },
            standing: Standing {
                member: true,
                usable: true,
                ready: false,
                calm: true,
                cwnd_limited: true,
                failed: false,
                backup: false,
            },
            host: HostQueue {
                queued: 0,
                limit: settings.options.small_queue.map_or(u64::MAX, |limit| limit.0),
            },
            window: 0,
            last_sent: Time::ZERO,
            mapping: multipath.then(Box::default),
            handshake: Handshake::new(settings.options.handshake),
            suspension: Suspension::No,
            tracking: Tracking::new(settings),
            tally: Tally::default(),
        }
    }

    /// An ACK of this path arrived.
    #[inline(always)] // runs for every ACK
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment());
        let duplicate = ack.ack == self.board.una && self.board.outstanding() > 0;
        let sacks = if self.recovery.sack { ack.sacks.blocks() } else { &[] };
        let mut progress = self.board.on_ack(ack.ack, sacks);
        let findings = self.track(now, ack, progress);
        if progress.acked > 0 {
            self.on_progress(now, ack, progress, settings, control, me);
        } else if duplicate {
            self.recovery.dupacks += 1;
            if !self.recovery.sack && self.duplicates_count() {
                self.board.on_duplicate(segment);
                progress.delivered = segment;
            }
        }
        if let Some(findings) = findings {
            return self.act_on(findings, now, progress, settings, control, me);
        }
        if self.recovery.phase == Phase::Recovery {
            self.reduce(now, progress, settings, control, me);
        } else if self.recovery.phase == Phase::Open && self.loss_detected(settings) {
            self.enter_recovery(now, progress, settings, control, me);
        }
    }

    /// New data was acknowledged: estimate, grow, and leave recovery when it is complete.
    #[inline(always)] // runs for every ACK
    fn on_progress(
        &mut self,
        now: Time,
        ack: &Ack,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        self.grow(now, ack.echo, progress.acked, settings, control, me);
        let complete = self.board.una >= self.recovery.point;
        let impatient = self.recovery.phase == Phase::Recovery && !self.recovery.sack && !complete;
        if !(impatient && self.recovery.partial) {
            self.restart_timer(now, settings);
        }
        match self.recovery.phase {
            Phase::Recovery if complete => {
                control.on_recovered(me);
                self.refresh(control.window(me).cwnd, settings);
                if let Some(rack) =
                    self.tracking.as_mut().and_then(|tracking| tracking.rack.as_mut())
                {
                    rack.on_recovered();
                }
                self.board.forget_duplicates();
                self.recovery.phase = Phase::Open;
            }
            Phase::Recovery if !self.recovery.sack => {
                self.recovery.partial = true;
                self.board.lose_oldest(u64::from(settings.segment()));
            }
            Phase::Loss if complete => self.recovery.phase = Phase::Open,
            _ => {}
        }
    }

    /// `acked` bytes of new data were acknowledged, and `echo` is when the newest of them was sent:
    /// estimate the round trip and let control move the window.
    #[inline(always)] // runs for every ACK
    pub(super) fn grow(
        &mut self,
        now: Time,
        echo: Time,
        acked: u64,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        self.rtt.sample(now.since(echo));
        self.timer.backoff = 0;
        self.recovery.dupacks = 0;
        self.standing.failed = false;
        let (path, segment) = (&*self, settings.segment());
        let Window { cwnd, .. } = control.grow(me, move || path.acked(now, acked, segment));
        self.refresh(cwnd, settings);
    }

    /// The fields of an ACK for `acked` bytes that control may use.
    #[inline(always)] // runs for every ACK
    fn acked(&self, now: Time, acked: u64, segment: u32) -> Acked {
        Acked {
            segments: acked as i64 as f64 / f64::from(segment),
            srtt: self.rtt.srtt(),
            cwnd_limited: self.standing.cwnd_limited,
            phase: self.recovery.phase,
            now,
            rtt: self.rtt.latest(),
            una: self.board.una,
            nxt: self.board.nxt,
        }
    }

    /// Without SACK: whether a duplicate ACK reports that a segment has left the network. After a
    /// timeout all outstanding data counts as lost already; outside recovery the first two release
    /// new segments (RFC 3042) and the third begins a recovery, if recovery may begin.
    fn duplicates_count(&self) -> bool {
        match self.recovery.phase {
            Phase::Open => self.recovery.dupacks < DUP_ACKS || self.third_duplicate(),
            Phase::Recovery => true,
            Phase::Loss => false,
        }
    }

    /// RFC 6582 §3.2 step 2: the third duplicate ACK, for data beyond `recover`; at it, duplicate
    /// ACKs come from copies sent in the last recovery.
    fn third_duplicate(&self) -> bool {
        let beyond = self.board.una > self.recovery.point || self.recovery.point == 0;
        self.recovery.dupacks == DUP_ACKS && beyond
    }

    /// RFC 6675 §5 or, without SACK, RFC 6582 §3.2 step 2.
    fn loss_detected(&mut self, settings: &SenderSettings) -> bool {
        let segment = u64::from(settings.segment());
        if self.recovery.sack {
            return !self.board.nothing_sacked() && self.board.detect_loss(segment);
        }
        let lost = self.third_duplicate();
        if lost {
            self.board.lose_oldest(segment);
        }
        lost
    }

    fn enter_recovery(
        &mut self,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment());
        self.recovery.phase = Phase::Recovery;
        self.recovery.point = self.board.nxt;
        self.recovery.partial = false;
        self.tally.recoveries += 1;
        **self.recovery.prr.get_or_insert_default() = Prr::enter(self.board.outstanding(), segment);
        self.before_reduction();
        // A reduction by a mark in this window of data is neither repeated for a loss, nor undone.
        match self.board.una >= self.answered_marks() {
            true => control.on_congestion(me, Cause::FastRetransmit),
            false => self.forget_reduction(),
        }
        self.refresh(control.window(me).cwnd, settings);
        self.reduce(now, progress, settings, control, me);
        if let Some(prr) = &mut self.recovery.prr {
            prr.allow_first(segment);
        }
    }

    /// Control has judged losses that coding did not repair to be congestion: recovery begins
    /// without duplicate ACKs.
    #[cold]
    pub(crate) fn recover_now(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        self.standing.calm = false;
        self.board.lose_oldest(u64::from(settings.segment()));
        self.enter_recovery(now, Progress::default(), settings, control, me);
    }

    /// The step of recovery for one ACK: finds further losses, then asks PRR for the allowance.
    #[inline(always)] // runs for every ACK in a recovery
    fn reduce(
        &mut self,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment());
        if settings.options.rack {
            self.detect(now, settings);
        } else if self.recovery.sack {
            self.board.detect_loss(segment);
        }
        self.allow(progress, segment, control, me);
    }

    /// Asks PRR how much recovery may send after an ACK.
    #[inline(always)] // it has two callers
    fn allow(
        &mut self,
        progress: Progress,
        segment: u64,
        control: &impl CongestionController,
        me: usize,
    ) {
        let ssthresh = control.window(me).ssthresh;
        let pipe = self.board.pipe();
        let Some(prr) = &mut self.recovery.prr else {
            return;
        };
        prr.on_ack(progress.delivered, pipe, ssthresh, segment);
        if !self.recovery.sack && progress.acked > 0 {
            prr.allow_first(segment); // RFC 6582 §3.2: a partial ACK sends the next hole at once
        }
    }

    /// The path leaves the connection: none of its data is outstanding any more.
    pub(crate) fn leave(&mut self, settings: &SenderSettings) {
        let mut fresh = Path::new(self.mapping.is_some(), settings);
        fresh.board.nxt = self.board.nxt;
        fresh.board.abandon();
        fresh.tally = self.tally;
        fresh.recovery.sack = self.recovery.sack;
        fresh.standing.backup = self.standing.backup;
        (fresh.standing.member, fresh.standing.usable) = (false, false);
        fresh.standing.calm = false;
        *self = fresh;
    }

    /// Retransmission timeouts since the last ACK of new data.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timer.backoff
    }

    /// The path joins the connection, again or late.
    pub(crate) fn join(&mut self) {
        (self.standing.member, self.standing.usable) = (true, true);
    }
}
