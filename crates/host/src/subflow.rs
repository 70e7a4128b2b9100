//! One subflow: a TCP connection between two addresses, without its data.
//!
//! ```text
//!   initiator   Requested ──────────────────────► Open      SYN ►   ◄ SYN/ACK   ACK ►
//!               Requested ───► Confirming ──────► Open      a join: … and ◄ ACK (RFC 8684 §3.2)
//!   responder   Granted ────────────────────────► Open      ► SYN   SYN/ACK ◄   ► ACK
//! ```
//!
//! An open subflow closes in two halves, each by a FIN and its ACK: `fin` and `peer_fin`.

use crate::mappings::Mappings;
use crate::outbox::Outbox;
use crate::retry::Retry;
use crate::sequence::Sequence;
use crate::stamps;
use units::{Span, Time};
use wire::packet::{Endpoint, TcpSegment};
use wire::tcp::TcpOption;

/// Where the handshake stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A SYN was sent.
    Requested,
    /// A SYN/ACK was sent.
    Granted,
    /// The proof of a join was sent, and no packet after the SYN/ACK has arrived.
    Confirming,
    /// Data may flow.
    Open,
}

/// What both SYNs agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Bits by which the peer's window fields are shifted; `None` without window scaling.
    pub(crate) scale: Option<u8>,
    /// Timestamps.
    pub(crate) timestamps: bool,
    /// Selective acknowledgements.
    pub(crate) sack: bool,
    /// Explicit congestion notification.
    pub(crate) ecn: bool,
    /// Most bytes of TCP options and payload in a segment.
    pub(crate) mss: u16,
}

/// Without the option: RFC 9293 §3.7.1.
const DEFAULT_MSS: u16 = 536;

/// Smallest MTU that a report of a router is believed: RFC 1191 §3 has 68 bytes, but a forged
/// report would make segments of a few bytes. Linux has this value (`min_pmtu`).
const LEAST_MTU: u16 = 552;

/// IPv4 and TCP headers without options.
pub(crate) const PLAIN_HEADERS: u16 = 40;

/// RFC 5961 §7: answers to packets that are not acceptable are limited to one in this time.
const CHALLENGES: Span = Span::millis(100);

/// One subflow.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub(crate) local: Endpoint,
    pub(crate) remote: Endpoint,
    pub(crate) state: State,
    /// Whether it joins a connection that another subflow has opened.
    pub(crate) join: bool,
    /// The sequence number of this host's SYN.
    pub(crate) iss: u32,
    /// The bytes that this host sends.
    pub(crate) out: Sequence,
    /// The bytes that the peer sends; by its SYN.
    pub(crate) back: Sequence,
    pub(crate) terms: Terms,
    /// TS.Recent of RFC 7323 §4.3.
    pub(crate) recent: u32,
    /// The next byte of the peer that the last packet asked for.
    pub(crate) last_ack: u64,
    /// The first byte of this host that the peer has no room for, by its last acknowledgement.
    pub(crate) edge: u64,
    /// Random numbers of a join: this host's, and the peer's.
    pub(crate) nonces: [u32; 2],
    /// Identifiers of the addresses: this host's, and the peer's.
    pub(crate) ids: [u8; 2],
    /// Whether either side made it a backup.
    pub(crate) backup: bool,
    /// The packet of the handshake or the FIN that is sent again.
    pub(crate) retry: Retry,
    /// When the first packet was sent.
    pub(crate) began: Time,
    /// The number of this host's FIN, once it was sent.
    pub(crate) fin: Option<u64>,
    pub(crate) fin_acknowledged: bool,
    /// The number of the peer's FIN, once it has arrived.
    pub(crate) peer_fin: Option<u64>,
    /// Whether everything before that FIN has arrived.
    pub(crate) peer_closed: bool,
    /// Whether the FIN of this host was sent before the peer's was taken.
    pub(crate) closed_first: bool,
    pub(crate) mappings: Mappings,
    /// Bytes that were sent and are not acknowledged on this subflow.
    pub(crate) sent: Outbox,
    /// Number of the next IP packet.
    pub(crate) packets: u16,
    /// No packet that is not acceptable is answered before.
    challenge_from: Time,
    /// Without timestamps: the end of a segment whose round trip is timed, and when it was sent.
    pub(crate) timed: Option<(u64, Time)>,
}

impl Subflow {
    pub(crate) fn new(local: Endpoint, remote: Endpoint, state: State, iss: u32) -> Self {
        Subflow {
            local,
            remote,
            state,
            join: false,
            iss,
            out: Sequence::after_syn(iss, 0),
            back: Sequence::after_syn(0, 0),
            terms: Terms::default(),
            recent: 0,
            last_ack: 0,
            edge: u64::MAX,
            nonces: [0; 2],
            ids: [0; 2],
            backup: false,
            retry: Retry::OFF,
            began: Time::ZERO,
            fin: None,
            fin_acknowledged: false,
            peer_fin: None,
            peer_closed: false,
            closed_first: false,
            mappings: Mappings::default(),
            sent: Outbox::new(0, usize::MAX),
            packets: 0,
            challenge_from: Time::ZERO,
            timed: None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether data may be sent: it is open, and no FIN ended that.
    pub(crate) fn may_send(&self) -> bool {
        self.is_open() && self.fin.is_none()
    }

    /// Both halves are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.fin_acknowledged && self.peer_closed
    }

    /// Takes the terms of the peer's SYN, of which `offered` says what this host offers.
    pub(crate) fn agree(&mut self, offered: Terms, syn: &TcpSegment) {
        self.back = Sequence::after_syn(syn.seq, 0);
        let mut terms = Terms { mss: DEFAULT_MSS, ..Terms::default() };
        for option in &syn.options {
            match option {
                TcpOption::MaxSegment(mss) => terms.mss = (*mss).max(1),
                // RFC 7323 §2.3: a larger shift counts as 14.
                TcpOption::WindowScale(shift) if offered.scale.is_some() => {
                    terms.scale = Some((*shift).min(14));
                }
                TcpOption::SackPermitted => terms.sack = offered.sack,
                TcpOption::Timestamps { value, .. } => {
                    terms.timestamps = offered.timestamps;
                    self.recent = *value;
                }
                _ => {}
            }
        }
        // RFC 3168 §6.1.1: a SYN asks with both bits, a SYN/ACK answers with one.
        let asked = syn.echo && (syn.reduced || syn.ack.is_some());
        terms.ecn = offered.ecn && asked;
        terms.mss = terms.mss.min(offered.mss);
        self.terms = terms;
    }

    /// The peer's window field as bytes.
    pub(crate) fn window(&self, field: u16) -> u64 {
        u64::from(field) << self.terms.scale.unwrap_or(0)
    }

    /// The peer's stamp of a segment; `None` without timestamps. RFC 7323 §3.2 wants a segment
    /// without them dropped, but some middleboxes strip the option.
    fn stamp(&self, segment: &TcpSegment) -> Option<u32> {
        let value = segment.options.iter().find_map(|option| match option {
            TcpOption::Timestamps { value, .. } => Some(*value),
            _ => None,
        });
        value.filter(|_| self.terms.timestamps)
    }

    /// Whether PAWS refuses the segment (RFC 7323 §5.3 R1).
    pub(crate) fn is_stale(&self, segment: &TcpSegment) -> bool {
        self.stamp(segment).is_some_and(|value| stamps::is_older(value, self.recent))
    }

    /// Takes the stamp of an acceptable segment as TS.Recent, if it begins at or before what was
    /// last acknowledged (RFC 7323 §4.3).
    pub(crate) fn take_stamp(&mut self, segment: &TcpSegment, first: u64) {
        if let Some(value) = self.stamp(segment).filter(|_| first <= self.last_ack) {
            self.recent = value;
        }
    }

    /// Whether a packet that is not acceptable may be answered at `now`.
    pub(crate) fn may_challenge(&mut self, now: Time) -> bool {
        let may = self.challenge_from <= now;
        if may {
            self.challenge_from = now + CHALLENGES;
        }
        may
    }

    /// The sequence number after this host's FIN.
    pub(crate) fn last_sequence(&self) -> u32 {
        self.fin.map_or(self.iss.wrapping_add(1), |fin| self.out.wire(fin + 1))
    }

    /// A router reports that packets of more than `mtu` bytes do not pass.
    pub(crate) fn on_mtu(&mut self, mtu: u16) {
        self.terms.mss = self.terms.mss.min(mtu.max(LEAST_MTU) - PLAIN_HEADERS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use wire::packet::Ecn;

    fn end(port: u16) -> Endpoint {
        Endpoint { address: Ipv4Addr::LOCALHOST, port }
    }

    fn syn(options: Vec<TcpOption>) -> TcpSegment {
        TcpSegment {
            from: end(2),
            to: end(1),
            id: 0,
            ecn: Ecn::None,
            seq: 99,
            ack: None,
            syn: true,
            fin: false,
            reset: false,
            echo: true,
            reduced: true,
            window: 1000,
            options,
        }
    }

    const OFFERED: Terms =
        Terms { scale: Some(7), timestamps: true, sack: true, ecn: true, mss: 1460 };

    #[test]
    fn only_what_both_offer_is_agreed() {
        let mut subflow = Subflow::new(end(1), end(2), State::Requested, 5);
        subflow.agree(OFFERED, &syn(vec![TcpOption::MaxSegment(900), TcpOption::WindowScale(20)]));
        let agreed = Terms { scale: Some(14), timestamps: false, sack: false, ecn: true, mss: 900 };
        assert_eq!(subflow.terms, agreed);
        assert_eq!(subflow.window(2), 2 << 14);
        assert_eq!(subflow.back.wire(0), 100);
        let plain = Terms { scale: None, sack: false, ..OFFERED };
        subflow.agree(plain, &syn(vec![TcpOption::SackPermitted, TcpOption::WindowScale(3)]));
        assert!(!subflow.terms.sack && subflow.terms.scale.is_none());
        assert_eq!(subflow.terms.mss, DEFAULT_MSS);
    }

    #[test]
    fn an_old_stamp_is_refused_and_one_of_later_data_is_not_kept() {
        let mut subflow = Subflow::new(end(1), end(2), State::Open, 5);
        let stamped = |value| syn(vec![TcpOption::Timestamps { value, echo: 0 }]);
        subflow.agree(OFFERED, &stamped(100));
        assert!(subflow.is_stale(&stamped(99)) && !subflow.is_stale(&stamped(200)));
        subflow.take_stamp(&stamped(200), 1);
        assert_eq!(subflow.recent, 100);
        subflow.take_stamp(&stamped(150), 0);
        assert_eq!(subflow.recent, 150);
    }

    #[test]
    fn a_forged_report_does_not_make_segments_tiny() {
        let mut subflow = Subflow::new(end(1), end(2), State::Open, 5);
        subflow.agree(OFFERED, &syn(vec![TcpOption::MaxSegment(1460)]));
        subflow.on_mtu(1400);
        assert_eq!(subflow.terms.mss, 1360);
        subflow.on_mtu(68);
        assert_eq!(subflow.terms.mss, 512);
    }

    #[test]
    fn answers_to_unacceptable_packets_are_limited() {
        let mut subflow = Subflow::new(end(1), end(2), State::Open, 5);
        let answers = (0..1000).filter(|ms| subflow.may_challenge(Time::ZERO + Span::millis(*ms)));
        assert_eq!(answers.count(), 10);
    }
}
