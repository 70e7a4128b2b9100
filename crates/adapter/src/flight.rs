//! What the packets of one path tell: bytes as segments, the epoch of recovery, round trips.

use crate::event::Event;
use control::{Acked, Cause, Phase, Span, Time, Window};

/// Smallest window of a QUIC path in packets (RFC 9002 §7.2).
pub const FLOOR: f64 = 2.0;

/// The packets of one network path, from one sender's view.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Bytes of a full packet: the segment of the controller.
    mtu: f64,
    /// Packet number after the largest that was acknowledged.
    una: u64,
    /// Packet number after the largest that was sent.
    nxt: u64,
    /// Packet number after the largest that an earlier acknowledgement named.
    ended: u64,
    /// Round trip of the packet that the acknowledgement in progress named last.
    last: Span,
    /// Newest round-trip sample; zero before the first.
    rtt: Span,
    recovery: Recovery,
    /// Whether the last congestion event may still turn out to be spurious.
    undoable: bool,
}

/// Packets sent until then belong to the congestion event that began then (RFC 9002 §7.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// Nothing is outstanding.
    None,
    /// Since then, after a loss, so that the controller is told of its end.
    Loss(Time),
    /// Since then, after a mark or after persistent congestion.
    Quiet(Time),
}

/// A congestion event as a QUIC stack reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// When it was found.
    pub now: Time,
    /// When the newest packet was sent that was lost or marked.
    pub sent: Time,
    /// Whether all packets of some round trips were lost (RFC 9002 §7.6).
    pub persistent: bool,
    /// Whether the network marked instead of dropping.
    pub ecn: bool,
}

impl Flight {
    /// A path with packets of `mtu` bytes.
    pub fn new(mtu: u16) -> Self {
        Flight {
            mtu: f64::from(mtu.max(1)),
            una: 0,
            nxt: 0,
            ended: 0,
            last: Span::ZERO,
            rtt: Span::ZERO,
            recovery: Recovery::None,
            undoable: false,
        }
    }

    /// Bytes of a full packet.
    pub fn mtu(&self) -> u64 {
        self.mtu as u64
    }

    /// Newest round-trip sample; zero before the first.
    pub fn rtt(&self) -> Span {
        self.rtt
    }

    /// The window in bytes: its whole packets, two at least.
    #[inline]
    pub fn bytes(&self, window: Window) -> u64 {
        // A float-to-integer cast saturates.
        (window.cwnd.max(FLOOR) as u64).saturating_mul(self.mtu as u64)
    }

    /// The slow-start threshold in bytes; `None` while it is infinite.
    pub fn ssthresh(&self, window: Window) -> Option<u64> {
        window.ssthresh.is_finite().then_some((window.ssthresh * self.mtu) as u64)
    }

    /// A rate in segments per second as bytes per second.
    pub fn rate(&self, segments: f64) -> u64 {
        (segments * self.mtu) as u64
    }

    /// A packet that asks for an acknowledgement was sent.
    #[inline]
    pub fn on_sent(&mut self, packet: u64) {
        self.nxt = self.nxt.max(packet.saturating_add(1));
    }

    /// A packet of `bytes` bytes was acknowledged: whether recovery ended by that, and what the
    /// controller is told. A stack that gives no packet numbers has them from
    /// [`Flight::on_end_acks`] alone.
    ///
    /// The stack's estimate `srtt` counts from the second acknowledgement of a path on: before, it
    /// is a guess.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        sent: Time,
        bytes: u64,
        packet: Option<u64>,
        app_limited: bool,
        srtt: Span,
    ) -> (bool, Acked) {
        let before = match self.recovery {
            Recovery::None => false,
            Recovery::Loss(start) | Recovery::Quiet(start) => sent <= start,
        };
        let recovered = !before && matches!(self.recovery, Recovery::Loss(_));
        if !before {
            self.recovery = Recovery::None;
        }
        if let Some(packet) = packet {
            self.una = self.una.max(packet.saturating_add(1));
            self.nxt = self.nxt.max(self.una);
        }
        self.last = now.since(sent);
        let acked = Acked {
            segments: bytes as f64 / self.mtu,
            srtt: if self.rtt > Span::ZERO { srtt } else { Span::ZERO },
            cwnd_limited: !app_limited,
            phase: if before { Phase::Recovery } else { Phase::Open },
            now,
            rtt: self.rtt,
            una: self.una,
            nxt: self.nxt,
        };
        (recovered, acked)
    }

    /// Which part of loss recovery the path is in.
    pub fn phase(&self) -> Phase {
        match self.recovery {
            Recovery::None => Phase::Open,
            Recovery::Loss(_) | Recovery::Quiet(_) => Phase::Recovery,
        }
    }

    /// The acknowledgement ends. If it named a larger packet than all before, that one's round trip
    /// is a sample (RFC 9002 §5.1); zero if there is none.
    #[inline]
    pub fn on_end_acks(&mut self, largest: Option<u64>) -> Span {
        let end = largest.map_or(0, |largest| largest.saturating_add(1));
        if end > self.ended {
            self.ended = end;
            self.una = self.una.max(end);
            self.nxt = self.nxt.max(end);
            if self.last > Span::ZERO {
                self.rtt = self.last;
            }
            return self.last;
        }
        Span::ZERO
    }

    /// A congestion event: what the controller is told, if it is not told of it already.
    pub fn on_congestion(&mut self, event: Congestion) -> Option<Cause> {
        let Congestion { now, sent, persistent, ecn } = event;
        if let Recovery::Loss(start) | Recovery::Quiet(start) = self.recovery
            && sent <= start
        {
            // Of the same event: no second reduction, but persistent congestion closes the window.
            return persistent.then(|| {
                self.recovery = Recovery::Quiet(start);
                Cause::TimeoutAgain
            });
        }
        let cause = match (persistent, ecn) {
            (true, _) => Cause::Timeout,
            (false, true) => Cause::Mark,
            (false, false) => Cause::FastRetransmit,
        };
        self.recovery = match cause {
            Cause::FastRetransmit => Recovery::Loss(now),
            _ => Recovery::Quiet(now),
        };
        self.undoable = cause != Cause::Mark; // a mark is no loss that may be an error
        Some(cause)
    }

    /// A packet that is not counted in flight was lost. If it arrives after all, the stack calls
    /// that spurious, although no congestion event was of it: so none is undone.
    pub fn on_uncounted_loss(&mut self) {
        self.undoable = false;
    }

    /// The packets of the last congestion event arrived after all: whether the controller is told.
    pub fn on_spurious(&mut self) -> bool {
        let undo = core::mem::take(&mut self.undoable);
        if undo {
            self.recovery = Recovery::None;
        }
        undo
    }

    /// Packets have another size from now on; the window keeps its bytes.
    pub fn on_mtu(&mut self, mtu: u16, window: Window) -> Option<Event> {
        let (before, now) = (self.mtu, f64::from(mtu.max(1)));
        if before == now {
            return None;
        }
        self.mtu = now;
        self.undoable = false; // what would be restored is in packets of the old size
        let part = before / now;
        let cwnd = (window.cwnd * part).max(FLOOR);
        Some(Event::Restart(Window { cwnd, ssthresh: (window.ssthresh * part).max(FLOOR) }))
    }
}
