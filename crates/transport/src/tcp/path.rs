//! The sending side of one path: a TCP sender without its data.
//!
//! ```text
//!          loss detected                    recovery point acknowledged
//!   Open ────────────────► Recovery (PRR) ────────────────► Open
//!     │ timeout                │ timeout                      ▲
//!     └────────► Loss ◄────────┘ ─────────────────────────────┘
//! ```
//!
//! What arrives is here, and in `path/look.rs` what stacks of today read from it; what is sent is in
//! `path/sending.rs`, what time does in `path/timer.rs`, and how a path comes to be in `path/opening.rs`.

use super::mapping::Mapping;
use super::modern::Modern;
use super::prr::Prr;
use super::scoreboard::{Progress, Scoreboard};
use crate::rtt::Rtt;
use crate::settings::SenderSettings;
use control::{Acked, Cause, CongestionController, Phase};
use opening::Opening;
use timer::Timer;
use units::Time;
use wire::Ack;

mod look;
mod opening;
mod sending;
mod timer;

pub(crate) use timer::Fired;

/// Duplicate ACKs that mean a loss when there is no SACK (RFC 5681 §3.2).
const DUP_ACKS: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
    pub(crate) marks: u64,
    pub(crate) undone: u64,
    pub(crate) probes: u64,
}

/// One path of a sender.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) board: Scoreboard,
    pub(crate) rtt: Rtt,
    pub(crate) tally: Tally,
    /// When the timer fires; never while nothing is outstanding.
    pub(crate) deadline: Time,
    timer: Timer,
    /// Whether the window was what ended the last sending.
    pub(crate) cwnd_limited: bool,
    /// Whether new data may be sent, as of the last poll.
    pub(crate) ready: bool,
    /// Whether the path belongs to the connection now.
    pub(crate) member: bool,
    /// Whether selective acknowledgements are read; otherwise recovery is NewReno's.
    pub(crate) sack: bool,
    /// A timeout hit and no ACK has come since: the scheduler avoids it ("potentially failed").
    pub(crate) failed: bool,
    /// Bytes handed to the host that have not left it.
    pub(crate) queued: u64,
    /// How many of them there may be.
    host_limit: u64,
    /// Everything below was outstanding when the path last failed, and was offered to other paths then.
    offered: u64,
    /// Kept only when the connection has several paths.
    pub(crate) mapping: Option<Box<Mapping>>,
    /// The congestion window in bytes of whole segments, as control last gave it.
    window: u64,
    pub(crate) phase: Phase,
    /// Recovery ends when everything below has been acknowledged (RecoveryPoint, `recover`).
    recover: u64,
    dupacks: u32,
    backoff: u32,
    /// Without SACK: a partial ACK has come, later ones do not restart the timer (RFC 6582 §4).
    partial: bool,
    prr: Prr,
    /// When something was sent last.
    last_sent: Time,
    /// Paced: the time that a byte takes in ns, zero without pacing; and when the next may go.
    pace: f64,
    next_send: Time,
    /// Whether it is a member and pacing does not hold it back, as of the last poll.
    usable: bool,
    /// ECN: whether the next new data says that the window was reduced.
    reduced: bool,
    /// ECN: marks of what was sent below this are answered already.
    answered: u64,
    pub(crate) modern: Option<Box<Modern>>,
    opening: Opening,
    /// A packet of the handshake is to be sent now.
    ask: bool,
    /// It is used only while no other path works (RFC 8684 §3.3.8).
    pub(crate) backup: bool,
    /// Opportunistic retransmission: it has sent what the receiver waited for below this.
    pub(crate) helped: u64,
    /// Penalisation: its window is not halved again before.
    pub(crate) punished_until: Time,
}

impl Path {
    pub(crate) fn new(multipath: bool, settings: &SenderSettings) -> Self {
        Path {
            board: Scoreboard::new(settings.modern.rate),
            rtt: Rtt::default(),
            tally: Tally::default(),
            deadline: Time::NEVER,
            timer: Timer::Retransmission,
            cwnd_limited: true,
            ready: false,
            member: true,
            sack: settings.sack,
            failed: false,
            queued: 0,
            host_limit: settings.host_limit,
            offered: 0,
            mapping: multipath.then(Box::default),
            window: 0,
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            backoff: 0,
            partial: false,
            prr: Prr::default(),
            last_sent: Time::ZERO,
            pace: 0.0,
            next_send: Time::ZERO,
            usable: true,
            reduced: false,
            answered: 0,
            modern: Modern::new(settings.modern),
            opening: if settings.handshake { Opening::Closed } else { Opening::Done },
            ask: false,
            backup: false,
            helped: 0,
            punished_until: Time::ZERO,
        }
    }

    /// An ACK of this path arrived.
    #[inline(always)] // on the way of every ACK
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment);
        let duplicate = ack.ack == self.board.una && self.board.outstanding() > 0;
        let sacks = if self.sack { ack.sacks.blocks() } else { &[] };
        let mut progress = self.board.on_ack(ack.ack, sacks);
        let seen = self.look(now, ack, progress);
        if progress.acked > 0 {
            self.on_progress(now, ack, progress, settings, control, me);
        } else if duplicate {
            self.dupacks += 1;
            if !self.sack && self.duplicates_count() {
                self.board.on_duplicate(segment);
                progress.delivered = segment;
            }
        }
        if let Some(seen) = seen {
            return self.after_look(now, progress, seen, settings, control, me);
        }
        if self.phase == Phase::Recovery {
            self.reduce(now, progress, settings, control, me);
        } else if self.phase == Phase::Open && self.loss_detected(settings) {
            self.enter_recovery(now, progress, settings, control, me);
        }
    }

    /// New data was acknowledged: estimate, grow, and leave recovery when it is complete.
    #[inline(always)] // on the way of every ACK
    fn on_progress(
        &mut self,
        now: Time,
        ack: &Ack,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        self.rtt.sample(now.since(ack.echo));
        self.backoff = 0;
        self.dupacks = 0;
        self.failed = false;
        if let Some(mapping) = &mut self.mapping {
            mapping.remove_below(self.board.una);
        }
        control.on_ack_of(me, || Acked {
            segments: progress.acked as i64 as f64 / f64::from(settings.segment),
            srtt: self.rtt.srtt().seconds(),
            cwnd_limited: self.cwnd_limited,
            phase: self.phase,
            now,
            rtt: self.rtt.latest(),
            una: self.board.una,
            nxt: self.board.nxt,
        });
        let complete = self.board.una >= self.recover;
        let impatient = self.phase == Phase::Recovery && !self.sack && !complete;
        if !(impatient && self.partial) {
            self.restart_timer(now, settings);
        }
        match self.phase {
            Phase::Recovery if complete => {
                control.on_recovered(me);
                if let Some(rack) = self.modern.as_mut().and_then(|modern| modern.rack.as_mut()) {
                    rack.on_recovered();
                }
                self.board.forget_duplicates();
                self.phase = Phase::Open;
            }
            Phase::Recovery if !self.sack => {
                self.partial = true;
                self.board.lose_oldest(u64::from(settings.segment));
            }
            Phase::Loss if complete => self.phase = Phase::Open,
            _ => {}
        }
    }

    /// Without SACK: whether a duplicate ACK says that a segment has left the network. After a timeout
    /// everything outstanding counts as lost already; outside recovery the first two let new segments
    /// out (RFC 3042) and the third begins a recovery, if one may begin.
    fn duplicates_count(&self) -> bool {
        match self.phase {
            Phase::Open => self.dupacks < DUP_ACKS || self.third_duplicate(),
            Phase::Recovery => true,
            Phase::Loss => false,
        }
    }

    /// RFC 6582 §3.2 step 2: the third duplicate ACK, for data beyond `recover`; at it, duplicate ACKs
    /// come from copies sent in the last recovery.
    fn third_duplicate(&self) -> bool {
        let beyond = self.board.una > self.recover || self.recover == 0;
        self.dupacks == DUP_ACKS && beyond
    }

    /// RFC 6675 §5 or, without SACK, RFC 6582 §3.2 step 2.
    fn loss_detected(&mut self, settings: &SenderSettings) -> bool {
        let segment = u64::from(settings.segment);
        if self.sack {
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
        let segment = u64::from(settings.segment);
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        self.partial = false;
        self.tally.recoveries += 1;
        self.prr = Prr::enter(self.board.outstanding(), segment);
        self.before_reduction();
        // What a mark has reduced in this window of data is not reduced again for a loss, nor taken back.
        match self.board.una >= self.answered {
            true => control.on_congestion(me, Cause::FastRetransmit),
            false => self.forget_reduction(),
        }
        self.reduce(now, progress, settings, control, me);
        self.prr.allow_first(segment);
    }

    /// Control has found that what coding has not repaired was lost in congestion: recovery begins without duplicate
    /// ACKs.
    #[cold]
    pub(crate) fn recover_now(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) {
        self.board.lose_oldest(u64::from(settings.segment));
        self.enter_recovery(now, Progress::default(), settings, control, me);
    }

    /// One ACK's worth of recovery: find further losses, then let PRR say what may be sent.
    fn reduce(
        &mut self,
        now: Time,
        progress: Progress,
        settings: &SenderSettings,
        control: &impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment);
        if settings.modern.rack {
            self.detect(now, settings);
        } else if self.sack {
            self.board.detect_loss(segment);
        }
        let ssthresh = control.window(me).ssthresh;
        self.prr.on_ack(progress.delivered, self.board.pipe(), ssthresh, segment);
        if !self.sack && progress.acked > 0 {
            self.prr.allow_first(segment); // RFC 6582 §3.2: a partial ACK sends the next hole at once
        }
    }

    /// The path leaves the connection: nothing of it is outstanding any more.
    pub(crate) fn leave(&mut self, settings: &SenderSettings) {
        let (nxt, tally, backup) = (self.board.nxt, self.tally, self.backup);
        let sack = self.sack;
        *self = Path::new(self.mapping.is_some(), settings);
        self.board.nxt = nxt;
        self.board.abandon();
        (self.tally, self.backup, self.sack) = (tally, backup, sack);
        (self.member, self.usable) = (false, false);
    }

    /// Retransmission timeouts since the last ACK of new data.
    pub(crate) fn timeouts(&self) -> u32 {
        self.backoff
    }

    /// The path joins the connection, again or late.
    pub(crate) fn join(&mut self) {
        (self.member, self.usable) = (true, true);
    }
}
