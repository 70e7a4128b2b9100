//! Optional tracking of a path beyond its scoreboard: each part is an option, and no state exists
//! while all are off.
//!
//! ```text
//!   log.rs    when each outstanding segment was sent, and what had been delivered then
//!    ├─ rack.rs   losses by time instead of by count            (RFC 8985 §6)
//!    └─ rate.rs   delivery rates                                (for controllers that are paced)
//!   probe.rs  a segment sent again when ACKs stay away          (RFC 8985 §7)
//!   undo.rs   reductions that need not have been                (RFC 3522, 2883)
//!   frto.rs   timeouts that need not have been                  (RFC 5682)
//!   pacing.rs when the next segment may go                      (for controllers that are paced)
//! ```

use crate::options::Options;
use crate::settings::SenderSettings;
use crate::tcp::scoreboard::{Progress, Scoreboard};
use frto::Frto;
use log::SentLog;
use pacing::Pacing;
use probe::Probe;
use rack::Rack;
use rate::Rate;
use undo::Undo;
use units::Time;
use wire::{Ack, Flags, Range};

mod frto;
mod log;
mod pacing;
mod probe;
mod rack;
mod rate;
mod undo;

/// The tracking state of one path.
#[derive(Debug)]
pub(crate) struct Tracking {
    log: SentLog,
    pub(crate) rack: Option<Rack>,
    pub(crate) probe: Option<Probe>,
    pub(crate) undo: Option<Undo>,
    pub(crate) frto: Option<Frto>,
    rate: Option<Rate>,
    pub(crate) ecn: Option<Ecn>,
    pub(crate) pacing: Pacing,
    /// When the retransmission timeout expires, whatever the timer is set for.
    pub(crate) rto_at: Time,
    /// RACK: when the segments that are late now will be lost.
    pub(crate) late: Option<Time>,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    /// Whether the next new data reports that the window was reduced (CWR).
    pub(crate) reduced: bool,
    /// Marks of data below this byte are answered already.
    pub(crate) answered: u64,
}

/// The findings from an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Findings {
    /// The last reduction was spurious.
    pub(crate) spurious: bool,
    /// A probe repaired a loss that was not detected otherwise.
    pub(crate) repaired: bool,
    /// The receiver echoes a mark (ECN).
    pub(crate) echo: bool,
}

impl Tracking {
    /// Whether any part is on.
    pub(crate) fn is_needed(settings: &SenderSettings) -> bool {
        let Options { rack, tlp, eifel, dsack, frto, ecn, .. } = settings.options;
        rack || tlp || eifel || dsack || frto || ecn || settings.rate
    }

    /// `None` if every part is off.
    pub(crate) fn new(settings: &SenderSettings) -> Option<Box<Self>> {
        let Options { rack, tlp, eifel, dsack, frto, ecn, .. } = settings.options;
        Tracking::is_needed(settings).then(|| {
            Box::new(Tracking {
                log: SentLog::default(),
                rack: rack.then(Rack::default),
                probe: tlp.then(Probe::default),
                undo: (eifel || dsack).then(|| Undo::new(eifel, dsack)),
                frto: frto.then(Frto::default),
                rate: settings.rate.then(Rate::default),
                ecn: ecn.then(Ecn::default),
                pacing: Pacing::default(),
                rto_at: Time::NEVER,
                late: None,
            })
        })
    }

    /// `range` was sent, for the first time or again; `pipe` was in flight before it.
    pub(crate) fn on_transmit(&mut self, now: Time, range: Range, pipe: u64) {
        let again = self.log.end() > range.start;
        let stamp = self.rate.as_mut().map(|rate| rate.on_transmit(now, pipe)).unwrap_or_default();
        self.log.on_transmit(now, range, stamp);
        if again && let Some(undo) = &mut self.undo {
            undo.on_retransmit(now, range);
        }
    }

    /// An ACK arrived; the scoreboard was updated before, with this progress.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        board: &Scoreboard,
        progress: Progress,
    ) -> Findings {
        let advanced = progress.acked > 0;
        let Tracking { log, rack, probe, undo, frto, rate, .. } = self;
        let dsack = duplicate(ack);
        if let Some(rate) = rate {
            rate.begin();
        }
        log.on_ack(board.una, ack.sacks.blocks(), |sent| {
            if let Some(rack) = rack {
                rack.on_delivered(now, sent, ack.echo);
            }
            if let Some(rate) = rate {
                rate.on_delivered(now, sent);
            }
        });
        if let Some(rack) = rack.as_mut().filter(|_| dsack.is_some()) {
            rack.on_duplicate(board.una, board.nxt);
        }
        let undone = undo.as_mut().is_some_and(|undo| undo.on_ack(ack, advanced, dsack));
        let mistaken = frto.as_mut().is_some_and(|frto| frto.on_ack(board, progress));
        let probed = |probe: &mut Probe| probe.on_ack(board.una, advanced, ack, dsack);
        let repaired = probe.as_mut().is_some_and(probed);
        let echo = self.ecn.is_some() && ack.flags.has(Flags::ECHO);
        Findings { spurious: undone || mistaken, repaired, echo }
    }

    /// RACK: marks segments that are lost by now, and sets the time at which the other late ones
    /// will be lost.
    pub(crate) fn detect_loss(&mut self, now: Time, board: &mut Scoreboard, patience: Patience) {
        if let Some(rack) = &mut self.rack {
            self.late = rack.detect(now, &self.log, board, patience);
        }
    }

    /// The retransmission timer fired, `first` for this data. All outstanding data is lost; under
    /// RACK, only segments outstanding for long enough, and always the oldest one (RFC 8985 §6.3).
    pub(crate) fn on_timeout(&mut self, now: Time, board: &mut Scoreboard, first: bool) {
        self.late = None;
        self.pacing.release(now);
        match &self.rack {
            None => board.lose_all(),
            Some(rack) => {
                let oldest = self.log.sent().next().into_iter();
                let overdue = self.log.sent().filter(|sent| rack.overdue(now, sent));
                let edge = oldest.chain(overdue).map(|sent| sent.range.end).max();
                board.lose_all_below(edge.unwrap_or(board.nxt));
            }
        }
        if let Some(frto) = &mut self.frto {
            frto.on_timeout(board, first);
        }
    }

    /// F-RTO: whether retransmissions wait for the answer to new data.
    pub(crate) fn holds_back(&self) -> bool {
        self.frto.is_some_and(Frto::holds_back)
    }

    /// The delivery-rate sample of the last ACK; `lost_total` bytes have been found lost so far.
    /// `None` if rates are not tracked.
    pub(crate) fn sample(&mut self, lost_total: u64) -> Option<rate::Sample> {
        self.rate.as_mut().map(|rate| rate.sample(lost_total))
    }

    /// The application has nothing to send while `pipe` is in flight.
    pub(crate) fn on_app_limited(&mut self, pipe: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_app_limited(pipe);
        }
    }

    /// The last segment sent for the first time, if it is still outstanding.
    pub(crate) fn last_segment(&self) -> Option<Range> {
        self.log.sent().last().filter(|sent| !sent.arrived).map(|sent| sent.range)
    }
}

/// RFC 2883 §4: the first block reports data that arrived again, if it lies below the cumulative
/// ACK or inside the second block.
fn duplicate(ack: &Ack) -> Option<Range> {
    let blocks = ack.sacks.blocks();
    let first = *blocks.first()?;
    let inside =
        blocks.get(1).is_some_and(|next| next.start <= first.start && first.end <= next.end);
    (first.end <= ack.ack || inside).then_some(first)
}

pub(crate) use rack::Patience;
