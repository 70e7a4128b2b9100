//! The sending side of one path: a TCP sender without its data.
//!
//! ```text
//!          loss detected                    recovery point acknowledged
//!   Open ────────────────► Recovery (PRR) ────────────────► Open
//!     │ timeout                │ timeout                      ▲
//!     └────────► Loss ◄────────┘ ─────────────────────────────┘
//! ```

use crate::mapping::Mapping;
use crate::prr::Prr;
use crate::rtt::Rtt;
use crate::scoreboard::{Progress, Scoreboard};
use crate::settings::SenderSettings;
use control::{Acked, Cause, Ensemble, Phase};
use units::{Span, Time};
use wire::{Ack, Range};

/// Duplicate ACKs that mean a loss when there is no SACK (RFC 5681 §3.2).
const DUP_ACKS: u32 = 3;

/// A path's counters and state, for observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathReport {
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite before the first congestion event.
    pub ssthresh: f64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// The newest round-trip sample.
    pub latest_rtt: Span,
    /// Retransmission timeout, not backed off.
    pub rto: Span,
    /// Bytes thought to be in the network.
    pub pipe: u64,
    /// Whether the path belongs to the connection now; if not, the window says nothing.
    pub member: bool,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
}

/// One path of a sender.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) board: Scoreboard,
    pub(crate) rtt: Rtt,
    pub(crate) tally: Tally,
    /// When the retransmission timer fires; never while nothing is outstanding.
    pub(crate) deadline: Time,
    /// Whether the window was what ended the last sending.
    pub(crate) cwnd_limited: bool,
    /// Whether new data may be sent, as of the last poll.
    pub(crate) ready: bool,
    /// Whether the path belongs to the connection now.
    pub(crate) member: bool,
    /// A timeout hit and no ACK has come since: the scheduler avoids it ("potentially failed").
    pub(crate) failed: bool,
    /// Bytes handed to the host that have not left it.
    pub(crate) queued: u64,
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
}

impl Path {
    pub(crate) fn new(multipath: bool) -> Self {
        Path {
            board: Scoreboard::default(),
            rtt: Rtt::default(),
            tally: Tally::default(),
            deadline: Time::NEVER,
            cwnd_limited: true,
            ready: false,
            member: true,
            failed: false,
            queued: 0,
            offered: 0,
            mapping: multipath.then(Box::default),
            window: 0,
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            backoff: 0,
            partial: false,
            prr: Prr::default(),
        }
    }

    /// An ACK of this path arrived.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        settings: &SenderSettings,
        control: &mut impl Ensemble,
        me: usize,
    ) {
        let segment = u64::from(settings.segment);
        let duplicate = ack.ack == self.board.una && self.board.outstanding() > 0;
        let sacks = if settings.sack { ack.sacks.blocks() } else { &[] };
        let mut progress = self.board.on_ack(ack.ack, sacks);
        if progress.acked > 0 {
            self.on_progress(now, ack, progress, settings, control, me);
        } else if duplicate {
            self.dupacks += 1;
            if !settings.sack && self.duplicates_count() {
                self.board.on_duplicate(segment);
                progress.delivered = segment;
            }
        }
        if self.phase == Phase::Recovery {
            self.reduce(progress, settings, control, me);
        } else if self.phase == Phase::Open && self.loss_detected(settings) {
            self.enter_recovery(progress, settings, control, me);
        }
    }

    /// New data was acknowledged: estimate, grow, and leave recovery when it is complete.
    fn on_progress(
        &mut self,
        now: Time,
        ack: &Ack,
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl Ensemble,
        me: usize,
    ) {
        self.rtt.sample(now.since(ack.echo));
        self.backoff = 0;
        self.dupacks = 0;
        self.failed = false;
        if let Some(mapping) = &mut self.mapping {
            mapping.remove_below(self.board.una);
        }
        control.on_ack(
            me,
            &Acked {
                segments: progress.acked as i64 as f64 / f64::from(settings.segment),
                srtt: self.rtt.srtt().seconds(),
                cwnd_limited: self.cwnd_limited,
                phase: self.phase,
            },
        );
        let complete = self.board.una >= self.recover;
        let impatient = self.phase == Phase::Recovery && !settings.sack && !complete;
        if !(impatient && self.partial) {
            self.restart_timer(now, settings);
        }
        match self.phase {
            Phase::Recovery if complete => {
                control.on_recovered(me);
                self.board.forget_duplicates();
                self.phase = Phase::Open;
            }
            Phase::Recovery if !settings.sack => {
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
        if settings.sack {
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
        progress: Progress,
        settings: &SenderSettings,
        control: &mut impl Ensemble,
        me: usize,
    ) {
        let segment = u64::from(settings.segment);
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        self.partial = false;
        self.tally.recoveries += 1;
        self.prr = Prr::enter(self.board.outstanding(), segment);
        control.on_congestion(me, Cause::FastRetransmit);
        self.reduce(progress, settings, control, me);
        self.prr.allow_first(segment);
    }

    /// One ACK's worth of recovery: find further losses, then let PRR say what may be sent.
    fn reduce(
        &mut self,
        progress: Progress,
        settings: &SenderSettings,
        control: &impl Ensemble,
        me: usize,
    ) {
        let segment = u64::from(settings.segment);
        if settings.sack {
            self.board.detect_loss(segment);
        }
        let ssthresh = control.window(me).ssthresh;
        self.prr.on_ack(progress.delivered, self.board.pipe(), ssthresh, segment);
    }

    /// The retransmission timer fired (RFC 6298 §5.4 to §5.6).
    pub(crate) fn on_timeout(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl Ensemble,
        me: usize,
    ) {
        // At most one decrease for a window: a timeout in recovery does not lower ssthresh again.
        let cause = match self.phase {
            Phase::Open => Cause::Timeout,
            Phase::Recovery | Phase::Loss => Cause::TimeoutAgain,
        };
        self.tally.timeouts += 1;
        self.backoff += 1;
        self.dupacks = 0;
        self.phase = Phase::Loss;
        self.recover = self.board.nxt;
        self.board.lose_all();
        control.on_congestion(me, cause);
        self.restart_timer(now, settings);
    }

    fn restart_timer(&mut self, now: Time, settings: &SenderSettings) {
        self.deadline = match self.board.outstanding() {
            0 => Time::NEVER,
            _ => now + self.rtt.rto(&settings.rto, self.backoff),
        };
    }

    /// Takes over the window that control has set.
    pub(crate) fn refresh(&mut self, cwnd: f64, segment: u32) {
        self.window = u64::from(cwnd as u32) * u64::from(segment);
    }

    /// Whether a segment of `bytes` may be sent: by the window, by membership and by the host.
    pub(crate) fn has_space(&self, bytes: u64, settings: &SenderSettings) -> bool {
        self.may_use_host(settings) && self.window_has_room(bytes, settings)
    }

    /// Whether the path belongs to the connection and its part of the host's queue has room.
    pub(crate) fn may_use_host(&self, settings: &SenderSettings) -> bool {
        self.member && self.queued < settings.host_limit
    }

    /// Whether recovery or the window allows `bytes` more.
    #[inline(always)] // on the way of every ACK
    pub(crate) fn window_has_room(&self, bytes: u64, settings: &SenderSettings) -> bool {
        if self.phase == Phase::Recovery {
            return self.prr.allows(bytes);
        }
        // Limited transmit (RFC 3042) lets what duplicate ACKs report make room for new data.
        let in_flight = match settings.limited_transmit || self.phase == Phase::Loss {
            true => self.board.pipe(),
            false => self.board.outstanding(),
        };
        in_flight + bytes <= self.window
    }

    /// The next segment to send again, if any is known to be lost.
    pub(crate) fn next_retransmission(&self, segment: u32) -> Option<Range> {
        let gap = self.board.next_lost()?;
        let mut len = gap.len().min(u64::from(segment));
        if let Some(mapping) = &self.mapping {
            len = len.min(mapping.find(gap.start)?.1); // a segment carries one mapping
        }
        Some(Range { start: gap.start, end: gap.start + len })
    }

    /// A segment was handed over for transmission.
    pub(crate) fn on_transmit(&mut self, now: Time, bytes: u64, settings: &SenderSettings) {
        self.queued += bytes;
        if self.phase == Phase::Recovery {
            self.prr.on_sent(bytes);
        }
        if self.deadline == Time::NEVER {
            self.restart_timer(now, settings);
        }
    }

    /// Data ranges that were sent on this path, have not arrived and have not been offered to other
    /// paths before.
    pub(crate) fn offer(&mut self) -> Vec<Range> {
        let Some(mapping) = &self.mapping else {
            return Vec::new();
        };
        let beyond = |range: Range| Range { start: range.start.max(self.offered), end: range.end };
        let missing = self.board.missing().map(beyond).filter(|range| !range.is_empty());
        let data = missing.flat_map(|range| mapping.data_ranges(range)).collect();
        self.offered = self.board.nxt;
        data
    }

    /// The path leaves the connection: nothing of it is outstanding any more.
    pub(crate) fn leave(&mut self) {
        let nxt = self.board.nxt;
        let tally = self.tally;
        *self = Path::new(self.mapping.is_some());
        self.board.nxt = nxt;
        self.board.abandon();
        self.tally = tally;
        self.member = false;
    }
}
