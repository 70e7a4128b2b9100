//! Packets that leave: SYNs, acknowledgements and data.

use super::Connection;
use super::opening::{VERSION, most_payload};
use crate::retry::Retry;
use crate::subflow::State;
use transport::SendingEndpoint;
use units::Time;
use wire::mptcp::{Mapping, Mptcp, checksum};
use wire::packet::{Ecn, TcpSegment};
use wire::tcp::{self, TcpOption};
use wire::{Ack, Data, Flags, Range};

/// Most packets that are made in one turn: a window of any size leaves in turns, so that ACKs that
/// arrive meanwhile are read.
const TURN: usize = 64;

impl Connection {
    /// A packet of `path` without payload: the headers of an open subflow.
    pub(super) fn header(&mut self, now: Time, path: usize, ack: &Ack) -> Option<TcpSegment> {
        let (scale, edge) = (self.own_scale(), self.edge());
        let data_ack = self.receiver_next();
        let stamps = self.stamps;
        let subflow = self.subflows[path].as_mut()?;
        let scale = if subflow.terms.scale.is_some() { scale } else { 0 };
        let window = (edge.saturating_sub(data_ack) >> scale).min(u64::from(u16::MAX));
        self.announced = self.announced.max(data_ack + (window << scale));
        let mut options = Vec::with_capacity(3);
        if subflow.terms.timestamps {
            options.push(TcpOption::Timestamps { value: stamps.value(now), echo: subflow.recent });
        }
        subflow.last_ack = ack.ack + u64::from(subflow.peer_closed);
        subflow.packets = subflow.packets.wrapping_add(1);
        Some(TcpSegment {
            from: subflow.local,
            to: subflow.remote,
            id: subflow.packets,
            ecn: Ecn::None,
            seq: 0,
            ack: Some(subflow.back.wire(subflow.last_ack)),
            syn: false,
            fin: false,
            reset: false,
            echo: subflow.terms.ecn && ack.flags.has(Flags::ECHO),
            reduced: false,
            window: window as u16,
            options,
        })
    }

    /// The next byte of the peer's data, in whole: all that has arrived in order.
    pub(super) fn receiver_next(&self) -> u64 {
        transport::ReceivingEndpoint::delivered(&self.receiver)
    }

    /// The acknowledgement of the peer's data, with its end, as an option takes it.
    pub(super) fn data_ack(&self) -> Option<(u64, bool)> {
        let session = self.session.as_ref()?;
        let next = self.receiver_next() + u64::from(self.closing.peer_closed);
        Some((session.back.wire(next), session.wide))
    }

    /// Number of the next byte that this host sends on `path`: after its data, and after its FIN.
    pub(super) fn next_on(&self, path: usize) -> u64 {
        let fin = self.subflows[path].as_ref().is_some_and(|it| it.fin.is_some());
        let sent = self.sender.as_ref().map_or(0, |it| it.outstanding_on(path).end);
        let joined = self.subflows[path].as_ref().is_some_and(|it| it.is_open());
        if joined { sent + u64::from(fin) } else { 0 }
    }

    /// Number of a packet without payload on `path`. Linux takes back a part of its window when its
    /// memory is used up, and drops what stands beyond it, acknowledgements too (RFC 9293
    /// §3.10.7.4, first): such a packet stands at the edge of the window then.
    pub(super) fn acceptable(&self, path: usize) -> u64 {
        let next = self.next_on(path);
        let unacknowledged = self.sender.as_ref().map_or(0, |it| it.outstanding_on(path).start);
        self.subflows[path].as_ref().map_or(next, |it| next.min(it.edge.max(unacknowledged)))
    }

    /// Sends the SYN or the SYN/ACK of `path`.
    pub(super) fn greet(&mut self, now: Time, path: usize) {
        let (offered, option) = (self.offered(), self.greeting(path));
        // A join finds a window that is partly used.
        let next = self.receiver_next();
        let window = self.edge().saturating_sub(next).min(u64::from(u16::MAX));
        self.announced = self.announced.max(next + window);
        let Some(subflow) = &mut self.subflows[path] else { return };
        let answer = subflow.state == State::Granted;
        let agreed = if answer { subflow.terms } else { offered };
        let mut options = vec![TcpOption::MaxSegment(offered.mss)];
        if agreed.sack {
            options.push(TcpOption::SackPermitted);
        }
        if agreed.timestamps {
            let value = self.stamps.value(now);
            options.push(TcpOption::Timestamps { value, echo: subflow.recent });
        }
        if agreed.scale.is_some() {
            options.extend(offered.scale.map(TcpOption::WindowScale));
        }
        options.extend(option.map(TcpOption::Mptcp));
        let segment = TcpSegment {
            from: subflow.local,
            to: subflow.remote,
            id: 0,
            ecn: Ecn::None,
            seq: subflow.iss,
            ack: answer.then(|| subflow.back.wire(0)),
            syn: true,
            fin: false,
            reset: false,
            echo: agreed.ecn, // RFC 3168 §6.1.1: both bits ask, one answers
            reduced: agreed.ecn && !answer,
            window: window as u16,
            options,
        };
        self.packets.push_back(segment.encode(&[]));
    }

    /// Sends the third packet of a handshake.
    pub(super) fn confirm(&mut self, now: Time, path: usize) {
        let option = self.confirmation(path);
        let ack = self.receiver.ack_now(path);
        self.send_plain(now, path, &ack, option);
    }

    /// Acknowledges what has arrived on `path`.
    pub(super) fn acknowledge(&mut self, now: Time, path: usize) {
        let ack = self.receiver.ack_now(path);
        self.send_ack(now, path, &ack);
    }

    /// Sends `ack` in a packet without payload.
    pub(super) fn send_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        let signal =
            self.data_ack().map(|ack| Mptcp::Data { ack: Some(ack), mapping: None, fin: false });
        self.send_plain(now, path, ack, signal);
    }

    /// Sends a packet without payload, with `ack` and one option of MPTCP.
    pub(super) fn send_plain(&mut self, now: Time, path: usize, ack: &Ack, option: Option<Mptcp>) {
        let next = self.acceptable(path);
        let Some(mut segment) = self.header(now, path, ack) else { return };
        let Some(subflow) = &self.subflows[path] else { return };
        segment.seq = subflow.out.wire(next);
        segment.options.extend(option.map(TcpOption::Mptcp));
        if subflow.terms.sack && !ack.sacks.is_empty() {
            let back = subflow.back;
            let block = |it: &Range| (back.wire(it.start), back.wire(it.end));
            let mut blocks: Vec<_> = ack.sacks.blocks().iter().map(block).collect();
            // RFC 2018 §3: as many as fit, the newest first.
            while !blocks.is_empty() {
                segment.options.push(TcpOption::Sack(blocks.clone()));
                if tcp::bytes(&segment.options) <= tcp::MAX_BYTES {
                    break;
                }
                segment.options.pop();
                blocks.pop();
            }
        }
        self.packets.push_back(segment.encode(&[]));
    }

    /// Sends an option that is not about data, and acknowledges data in the same packet if there is
    /// room (40 bytes of options).
    pub(super) fn send_signal(&mut self, now: Time, path: usize, option: Mptcp) {
        let (next, ack) = (self.acceptable(path), self.receiver.ack_now(path));
        let signal =
            self.data_ack().map(|ack| Mptcp::Data { ack: Some(ack), mapping: None, fin: false });
        let Some(mut segment) = self.header(now, path, &ack) else { return };
        let Some(subflow) = &self.subflows[path] else { return };
        segment.seq = subflow.out.wire(next);
        segment.options.push(TcpOption::Mptcp(option));
        segment.options.extend(signal.map(TcpOption::Mptcp));
        if tcp::bytes(&segment.options) > tcp::MAX_BYTES {
            segment.options.pop();
        }
        self.packets.push_back(segment.encode(&[]));
    }

    /// A packet that makes the peer answer with its window: one byte before what it expects (RFC
    /// 9293 §3.8.6.1, as Linux does it).
    pub(super) fn ask(&mut self, now: Time, path: usize) {
        let next = self.acceptable(path);
        let ack = self.receiver.ack_now(path);
        let signal =
            self.data_ack().map(|ack| Mptcp::Data { ack: Some(ack), mapping: None, fin: false });
        let Some(mut segment) = self.header(now, path, &ack) else { return };
        let Some(subflow) = &self.subflows[path] else { return };
        segment.seq = subflow.out.wire(next).wrapping_sub(1);
        segment.options.extend(signal.map(TcpOption::Mptcp));
        self.packets.push_back(segment.encode(&[]));
    }

    /// Makes packets of what the sender may send now.
    pub(super) fn send_data(&mut self, now: Time) {
        while self.packets.len() < TURN {
            let Some(sender) = &mut self.sender else { return };
            let Some(transmit) = sender.poll_transmit(now) else { return };
            sender.on_sent(transmit.path, transmit.segment.len);
            self.send_segment(now, transmit.path, &transmit.segment);
        }
    }

    /// Sends `data` on `path`, in as many packets as the path's MSS needs.
    fn send_segment(&mut self, now: Time, path: usize, data: &Data) {
        let Some(subflow) = &self.subflows[path] else { return };
        let most = most_payload(subflow.terms, self.session.is_some());
        let mut sent = 0;
        while sent < data.len {
            let len = (data.len - sent).min(most);
            let at = u64::from(sent);
            let part = Data { seq: data.seq + at, dsn: data.dsn + at, len, ..*data };
            self.send_part(now, path, &part);
            sent += len;
        }
    }

    fn send_part(&mut self, now: Time, path: usize, data: &Data) {
        let again = self.subflows[path].as_ref().is_some_and(|it| data.seq < it.sent.end());
        let Some(payload) = self.payload(path, data) else { return };
        let ack = self.receiver.ack_now(path);
        let option = self.mapping_option(path, data, &payload);
        let Some(mut segment) = self.header(now, path, &ack) else { return };
        let Some(subflow) = &mut self.subflows[path] else { return };
        segment.seq = subflow.out.wire(data.seq);
        segment.reduced = subflow.terms.ecn && data.flags.has(Flags::REDUCED);
        if subflow.terms.ecn && data.flags.has(Flags::CAPABLE) {
            segment.ecn = Ecn::Capable;
        }
        segment.options.extend(option.map(TcpOption::Mptcp));
        match again {
            true => subflow.timed = None, // Karn: its ACK could be that of either copy
            false => _ = subflow.timed.get_or_insert((data.seq + u64::from(data.len), now)),
        }
        // RFC 9293 §3.9.1.2: PSH with the last of what was written. With each segment it would keep
        // a receiver's card from passing on several at once.
        self.packets.push_back(match data.dsn + u64::from(data.len) < self.outbox.end() {
            true => segment.encode_followed(&payload),
            false => segment.encode(&payload),
        });
    }

    /// The bytes of `data`: those of the connection if it is sent for the first time on `path`,
    /// which keeps a copy, and the same again later.
    fn payload(&mut self, path: usize, data: &Data) -> Option<Vec<u8>> {
        let sent = &mut self.subflows[path].as_mut()?.sent;
        let len = u64::from(data.len);
        if data.seq != sent.end() {
            return sent.copy(Range { start: data.seq, end: data.seq + len });
        }
        let payload = self.outbox.copy(Range { start: data.dsn, end: data.dsn + len })?;
        sent.write(&payload);
        Some(payload)
    }

    /// The option that tells where `payload` stands: the keys with the first data of a connection
    /// (RFC 8684 §3.1), and a mapping with all other.
    fn mapping_option(&self, path: usize, data: &Data, payload: &[u8]) -> Option<Mptcp> {
        let session = self.session.as_ref()?;
        let subflow = self.subflows[path].as_ref()?;
        let mut mapping = Mapping {
            data_sequence: session.out.wire(data.dsn),
            wide: true,
            subflow_sequence: subflow.out.wire(data.seq).wrapping_sub(subflow.iss),
            length: payload.len() as u16,
            checksum: None,
        };
        mapping.checksum = session.checksums.then(|| checksum(&mapping, payload));
        let first = self.role == super::Role::Initiator && !subflow.join && data.seq == 0;
        match self.confirmation(path) {
            Some(Mptcp::Capable { flags, sender, receiver, .. }) if first && !session.confirmed => {
                let (length, checksum) = (Some(mapping.length), mapping.checksum);
                Some(Mptcp::Capable { version: VERSION, flags, sender, receiver, length, checksum })
            }
            _ => Some(Mptcp::Data { ack: self.data_ack(), mapping: Some(mapping), fin: false }),
        }
    }

    /// RFC 9293 §3.8.6.1: while the peer's window is closed and nothing is in flight, asks for its
    /// size from time to time; what fits into a window smaller than a segment is sent then.
    pub(super) fn look_at_window(&mut self, now: Time) {
        let Some(sender) = &mut self.sender else { return };
        let (outstanding, edge) = (sender.outstanding(), sender.window_edge());
        let segment = u64::from(self.settings.options.segment());
        let waits = self.outbox.end() > outstanding.end
            && outstanding.is_empty()
            && edge < (outstanding.end + segment).min(self.outbox.end());
        if !waits {
            self.persist = Retry::OFF;
            return;
        }
        if self.persist.at == Time::NEVER {
            let rto = self.best().and_then(|path| self.report(path)).map(|it| it.rto);
            self.persist = Retry::begin(now, rto.unwrap_or(self.settings.options.rto_initial));
        }
        if !self.persist.is_due(now) {
            return;
        }
        if edge > outstanding.end {
            self.written.set(edge);
            if let Some(sender) = &mut self.sender {
                sender.on_written();
            }
            self.send_data(now);
            self.tell_sender(now);
        } else if let Some(path) = self.best() {
            self.ask(now, path);
        }
    }
}
