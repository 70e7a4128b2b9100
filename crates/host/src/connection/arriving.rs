//! Packets that arrive: checks in the order of RFC 9293 §3.10.7, with those of RFC 5961.

use super::{Connection, Failure};
use crate::mappings::Placed;
use crate::subflow::State;
use std::borrow::Cow;
use transport::SendingEndpoint;
use units::Time;
use wire::mptcp::{Mapping, Mptcp};
use wire::packet::{Ecn, Received, TcpSegment};
use wire::tcp::TcpOption;
use wire::{Ack, Data, Flags, Range, Sacks};

/// Most separate ranges of data out of order: a peer that makes more of them has its packets
/// dropped, as each costs memory and a search.
const FRAGMENTS: usize = 2048;

/// What an acknowledgement number of the peer is.
enum Acknowledged {
    /// A number of something that was sent.
    Valid(u64),
    /// No acknowledgement, or one that is too old to be of use.
    Useless,
    /// A number of something that was never sent (RFC 5961 §5).
    Wrong,
}

impl Connection {
    /// A segment of `path` arrived.
    pub(crate) fn on_segment(&mut self, now: Time, path: usize, received: &Received<'_>) {
        let Some(subflow) = &self.subflows[path] else { return };
        match subflow.state {
            State::Requested => self.on_answer(now, path, &received.segment),
            _ => self.on_synchronised(now, path, received),
        }
        self.advance(now);
    }

    /// RFC 9293 §3.10.7.3: a SYN was sent.
    fn on_answer(&mut self, now: Time, path: usize, segment: &TcpSegment) {
        let Some(subflow) = &self.subflows[path] else { return };
        if segment.ack != Some(subflow.iss.wrapping_add(1)) {
            return; // the answer to another SYN
        }
        match (segment.reset, segment.syn) {
            (true, _) if subflow.join => self.drop_subflow(now, path),
            (true, _) => self.fail_quietly(Failure::Refused),
            (false, true) => self.on_grant(now, path, segment),
            (false, false) => {}
        }
    }

    /// A SYN of the peer has arrived before.
    fn on_synchronised(&mut self, now: Time, path: usize, received: &Received<'_>) {
        let segment = &received.segment;
        let next = self.expected(path);
        let window = self.announced.saturating_sub(self.receiver_next()).max(1);
        let Some(subflow) = &mut self.subflows[path] else { return };
        let Some(first) = subflow.back.inside(segment.seq, next) else {
            return self.on_early(now, path, segment);
        };
        if segment.reset {
            // RFC 5961 §3.2: only the exact number resets.
            return match first == next {
                true => self.on_reset(now, path, segment),
                false => self.challenge(now, path),
            };
        }
        if segment.syn {
            return self.on_early(now, path, segment); // RFC 5961 §4.2
        }
        if segment.ack.is_none() {
            return; // RFC 9293 §3.10.7.4, fifth
        }
        if first >= next + window && received.sequence_bytes() > 0 || first > next + window {
            return self.challenge(now, path);
        }
        if first + u64::from(received.sequence_bytes()) < subflow.last_ack {
            return self.on_old(now, path, first, received);
        }
        if subflow.is_stale(segment) {
            return self.challenge(now, path);
        }
        if !self.on_acknowledgement_of_handshake(now, path, segment) {
            return;
        }
        (self.heard, self.probes) = (now, 0);
        let acknowledged = self.judge(path, segment);
        if matches!(acknowledged, Acknowledged::Wrong) {
            return self.challenge(now, path);
        }
        // Not before: a stamp of the future would make PAWS refuse all that follows.
        if let Some(subflow) = &mut self.subflows[path] {
            subflow.take_stamp(segment, first);
        }
        if let Acknowledged::Valid(number) = acknowledged {
            self.on_acknowledgement(now, path, received, number);
        }
        self.on_options(now, path, segment);
        if self.subflows[path].is_none() || self.failure().is_some() {
            return;
        }
        self.on_payload(now, path, first, received);
    }

    /// A segment that ends before what was acknowledged (RFC 9293 §3.10.7.4): it is answered, and
    /// neither its acknowledgement nor its options count. Data that arrived twice is reported.
    fn on_old(&mut self, now: Time, path: usize, first: u64, received: &Received<'_>) {
        match received.payload.is_empty() {
            true => self.challenge(now, path),
            false => self.on_payload(now, path, first, received),
        }
    }

    /// The next byte that the peer has to send on `path`, its FIN counted.
    pub(super) fn expected(&self, path: usize) -> u64 {
        let closed = self.subflows[path].as_ref().is_some_and(|it| it.peer_closed);
        self.receiver.next_on(path) + u64::from(closed)
    }

    /// A SYN, or a number before the first byte: a packet of the handshake again, or a forged one.
    fn on_early(&mut self, now: Time, path: usize, segment: &TcpSegment) {
        let unconfirmed = self.unconfirmed(path);
        let Some(subflow) = &mut self.subflows[path] else { return };
        if !subflow.may_challenge(now) {
            return;
        }
        let again = segment.syn && segment.seq == subflow.back.wire(0).wrapping_sub(1);
        match subflow.state {
            State::Granted if again && segment.ack.is_none() => self.greet(now, path),
            State::Confirming if again => self.confirm(now, path),
            State::Open if again && unconfirmed => self.confirm(now, path),
            State::Granted => {}
            _ => self.acknowledge(now, path),
        }
    }

    /// Whether the peer may not have seen this host's keys yet.
    fn unconfirmed(&self, path: usize) -> bool {
        let joined = self.subflows[path].as_ref().is_some_and(|it| it.join);
        !joined && self.session.as_ref().is_some_and(|session| !session.confirmed)
    }

    /// RFC 5961 §3.2: the answer to a packet that may be forged.
    fn challenge(&mut self, now: Time, path: usize) {
        let may = self.subflows[path].as_mut().is_some_and(|it| it.may_challenge(now));
        if may {
            self.acknowledge(now, path);
        }
    }

    /// Completes a handshake that waits for this packet. Returns whether the subflow is open now.
    fn on_acknowledgement_of_handshake(
        &mut self,
        now: Time,
        path: usize,
        segment: &TcpSegment,
    ) -> bool {
        let Some(subflow) = &self.subflows[path] else { return false };
        let acknowledges = segment.ack == Some(subflow.iss.wrapping_add(1));
        match subflow.state {
            State::Requested => false,
            State::Granted => acknowledges && self.on_confirmation(now, path, segment),
            State::Confirming => {
                if acknowledges {
                    self.admit(now, path);
                }
                acknowledges
            }
            State::Open => true,
        }
    }

    fn judge(&self, path: usize, segment: &TcpSegment) -> Acknowledged {
        /// RFC 5961 §5: numbers further below belong to no packet that can still be under way.
        const OLD: u64 = 1 << 30;
        let (Some(sender), Some(subflow), Some(ack)) =
            (&self.sender, &self.subflows[path], segment.ack)
        else {
            return Acknowledged::Useless;
        };
        let sent = sender.outstanding_on(path);
        match subflow.out.inside(ack, sent.start) {
            Some(number) if number > self.next_on(path) => Acknowledged::Wrong,
            Some(number) if number + OLD < sent.start => Acknowledged::Wrong,
            Some(number) if number < sent.start => Acknowledged::Useless,
            Some(number) => Acknowledged::Valid(number),
            None => Acknowledged::Useless,
        }
    }

    /// The peer expects byte `number` of `path` next.
    fn on_acknowledgement(&mut self, now: Time, path: usize, received: &Received<'_>, number: u64) {
        let segment = &received.segment;
        let signal = data_ack(segment);
        let before = self.oldest_data();
        if self.session.is_some() && signal.is_none() && !self.tolerates(path, received, number) {
            self.fall_back();
        }
        let Some(subflow) = &mut self.subflows[path] else { return };
        if subflow.fin.is_some_and(|fin| number > fin) {
            subflow.fin_acknowledged = true;
            subflow.retry = crate::retry::Retry::OFF;
        }
        let number = subflow.fin.map_or(number, |fin| number.min(fin));
        let window = subflow.window(segment.window);
        subflow.edge = number + window;
        let (data_ack, edge) = match (&mut self.session, signal) {
            (None, _) => (number, number + window),
            // RFC 8684 §3.3.5: a window begins at the data acknowledgement beside it.
            (Some(session), None) if session.confirmed => (before, 0),
            (Some(_), None) => (before, before + window),
            (Some(session), Some((wire, wide))) => {
                session.confirmed = true;
                let Some(inside) = session.out.inside(wire, wide, before) else { return };
                (inside, inside + window)
            }
        };
        self.closing.on_data_ack(data_ack, self.outbox.end());
        let ack = self.answer(now, path, segment, number, data_ack.min(self.outbox.end()), edge);
        let (Some(sender), Some(subflow)) = (&mut self.sender, &mut self.subflows[path]) else {
            return;
        };
        let moved = number > sender.outstanding_on(path).start;
        // RFC 5681 §2: a segment with data, or with another window, is not a duplicate ACK.
        let duplicate = received.payload.is_empty() && edge <= sender.window_edge();
        if moved || duplicate || !ack.sacks.is_empty() {
            sender.on_answer(now, path, &ack);
        } else {
            sender.on_data_ack(ack.data_ack, edge);
            sender.on_written();
        }
        if moved || sender.outstanding().start > before || sender.outstanding().is_empty() {
            self.progress = now;
        }
        subflow.sent.acknowledge(number);
        self.outbox.acknowledge(sender.outstanding().start);
        self.look_at_window(now);
        self.look_at_data(now, before);
    }

    /// The fields of an ACK as the sender takes them.
    fn answer(
        &mut self,
        now: Time,
        path: usize,
        segment: &TcpSegment,
        ack: u64,
        data_ack: u64,
        window_edge: u64,
    ) -> Ack {
        let srtt = self.report(path).map_or(units::Span::ZERO, |it| it.srtt);
        let stamps = self.stamps;
        let sent = self.sender.as_ref().map_or(Range::default(), |it| it.outstanding_on(path));
        let mut echo = Time(now.0.saturating_sub(srtt.0));
        let mut blocks = Vec::new();
        let Some(subflow) = &mut self.subflows[path] else { unreachable!("it has just answered") };
        for option in &segment.options {
            match option {
                TcpOption::Timestamps { echo: value, .. } if subflow.terms.timestamps => {
                    echo = stamps.when(*value, now).unwrap_or(echo);
                }
                TcpOption::Sack(given) if subflow.terms.sack => {
                    let inside = |wire| subflow.out.inside(wire, sent.start);
                    let block =
                        |&(start, end)| Some(Range { start: inside(start)?, end: inside(end)? });
                    blocks.extend(given.iter().filter_map(block));
                }
                _ => {}
            }
        }
        blocks.retain(|block| !block.is_empty() && block.end <= sent.end);
        if !subflow.terms.timestamps
            && let Some((_, at)) = subflow.timed.take_if(|(end, _)| *end <= ack)
        {
            echo = at;
        }
        let flags = match segment.echo && subflow.terms.ecn {
            true => Flags::ECHO,
            false => Flags::NONE,
        };
        let transit = now.since(echo); // the only delay that is known; its differences are right
        Ack { ack, data_ack, window_edge, echo, transit, sacks: Sacks::new(blocks), flags }
    }

    /// Data and FIN of the subflow: `first` is its first byte.
    fn on_payload(&mut self, now: Time, path: usize, first: u64, received: &Received<'_>) {
        let next = self.receiver.next_on(path);
        let skip = next.saturating_sub(first).min(received.payload.len() as u64);
        let payload = &received.payload[skip as usize..];
        let end = first + received.payload.len() as u64;
        let closed = self.subflows[path].as_ref().is_some_and(|it| it.peer_closed);
        if !received.payload.is_empty() && !closed {
            let flags = match received.segment.ecn {
                Ecn::Marked => Flags::MARKED,
                _ => Flags::NONE,
            };
            let flags = if received.segment.reduced { flags.with(Flags::REDUCED) } else { flags };
            let at = if payload.is_empty() { first } else { first + skip };
            let len = if payload.is_empty() { received.payload.len() } else { payload.len() };
            let data = Data { seq: at, dsn: 0, len: len as u32, stamp: now, flags };
            if !payload.is_empty() && !self.deliver(now, path, at, payload) {
                return; // not taken, and therefore sent again
            }
            if let Some(ack) = self.receiver.on_segment(now, path, &data) {
                self.send_ack(now, path, &ack);
            }
        } else if first < self.expected(path) || closed && !received.payload.is_empty() {
            self.challenge(now, path); // a probe: keep-alive, or of a closed window
        }
        self.on_fin(now, path, received.segment.fin.then_some(end));
    }

    /// Puts data into its place in the connection. Returns whether it was taken.
    fn deliver(&mut self, now: Time, path: usize, seq: u64, payload: &[u8]) -> bool {
        let next = self.receiver.next_on(path);
        if seq > next && self.receiver.fragments(path) > FRAGMENTS {
            return false;
        }
        let placed = match (&self.session, &mut self.subflows[path]) {
            (None, _) => Placed::Data(vec![(seq, Cow::Borrowed(payload))]),
            (Some(_), Some(subflow)) => subflow.mappings.place(seq, payload),
            (Some(_), None) => return false,
        };
        let pieces = match placed {
            Placed::Data(pieces) => pieces,
            Placed::Corrupt(dsn) => {
                self.on_corrupt(now, path, dsn);
                return false;
            }
            Placed::Unmapped if seq > next => return false,
            // RFC 8684 §3.8: no options pass; with one subflow the connection goes on as TCP.
            Placed::Unmapped if self.may_fall_back(path) => {
                self.fall_back();
                vec![(seq, Cow::Borrowed(payload))]
            }
            Placed::Unmapped => {
                self.reset_subflow(now, path, Some(super::signals::BAD_MAPPING));
                return false;
            }
        };
        let edge = self.announced;
        if pieces.iter().any(|(dsn, bytes)| dsn + bytes.len() as u64 > edge) {
            self.challenge(now, path); // beyond the window that the peer knows
            return false;
        }
        for (dsn, bytes) in pieces {
            self.inbox.put(dsn, &bytes);
            self.receiver.deliver(Range { start: dsn, end: dsn + bytes.len() as u64 });
        }
        if let Some(subflow) = &mut self.subflows[path] {
            subflow.mappings.forget_below(next);
        }
        true
    }

    /// A mapping of the peer, whose first byte is `subflow_sequence` after its SYN.
    pub(super) fn on_mapping(&mut self, path: usize, mapping: &Mapping, fin: bool) {
        let next = self.receiver.next_on(path);
        let delivered = self.receiver_next();
        let (Some(session), Some(subflow)) = (&mut self.session, &mut self.subflows[path]) else {
            return;
        };
        session.confirmed = true;
        let back = crate::sequence::Sequence::after_syn(0, 0);
        let place = session.back.inside(mapping.data_sequence, mapping.wide, delivered);
        let Some(dsn) = place else { return };
        let data = u64::from(mapping.length) - u64::from(fin && mapping.length > 0);
        if data > 0 || fin {
            session.wide = mapping.wide;
        }
        if fin {
            self.closing.peer_fin.get_or_insert(dsn + data);
        }
        let Some(seq) = back.inside(mapping.subflow_sequence, next) else { return };
        // Mappings do not overlap: this bounds the memory of data that waits for its checksum. One
        // that begins in the window may reach beyond it.
        let window = self.announced.saturating_sub(delivered) + u64::from(u16::MAX);
        if seq + data > next + window {
            return;
        }
        let checked = session.checksums.then_some(mapping.checksum).flatten();
        let whole =
            Mapping { data_sequence: session.back.wire(dsn), checksum: checked, ..*mapping };
        subflow.mappings.add(seq, dsn, data, whole);
    }
}

/// The acknowledgement of data in a segment, and whether it has 64 bits.
fn data_ack(segment: &TcpSegment) -> Option<(u64, bool)> {
    segment.options.iter().find_map(|option| match option {
        TcpOption::Mptcp(Mptcp::Data { ack, .. }) => *ack,
        _ => None,
    })
}
