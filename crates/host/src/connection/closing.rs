//! The end of a connection: DATA_FIN (RFC 8684 §3.3.3), FINs of the subflows (RFC 9293 §3.6) and
//! resets.
//!
//! ```text
//!   MPTCP   close ► DATA_FIN ► acknowledged ─┐
//!                                            ├─► a FIN on each subflow, both ways ► done
//!           DATA_FIN of the peer, in order ──┘
//!   TCP     close ► FIN ► acknowledged, and the peer's FIN ► done
//! ```

use super::{Connection, Failure};
use crate::retry::Retry;
use crate::subflow::Subflow;
use transport::SendingEndpoint;
use units::{Span, Time};
use wire::mptcp::{Mapping, Mptcp, checksum};
use wire::packet::TcpSegment;
use wire::tcp::TcpOption;

/// A FIN without answer is sent so often (Linux: `tcp_orphan_retries` = 8).
const FINS: u32 = 8;

/// The shortest wait for the answer to a FIN.
const LEAST_WAIT: Span = Span::millis(200);

/// How far the end has come.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// The application writes no more.
    pub(super) write_closed: bool,
    /// A DATA_FIN was sent and is not acknowledged.
    pub(super) retry: Retry,
    /// The peer has acknowledged everything, the end too.
    acknowledged: bool,
    /// The number of the peer's DATA_FIN, once it has arrived.
    pub(super) peer_fin: Option<u64>,
    /// All of the peer's data has arrived, and its end.
    pub(super) peer_closed: bool,
    /// The application knows of the end, or of the failure.
    pub(super) told: bool,
}

impl Closing {
    /// Whether an answer of the peer is waited for.
    pub(super) fn waits(&self) -> bool {
        self.write_closed && !(self.acknowledged && self.peer_closed) && self.retry.at < Time::NEVER
            || self.is_done()
    }

    /// Both directions of the data are closed.
    pub(super) fn is_done(&self) -> bool {
        self.acknowledged && self.peer_closed
    }

    /// The peer's connection expects byte `data_ack` next, and `end` is the end of the data.
    pub(super) fn on_data_ack(&mut self, data_ack: u64, end: u64) {
        if self.retry.at < Time::NEVER && data_ack > end {
            (self.acknowledged, self.retry) = (true, Retry::OFF);
        }
    }
}

impl Connection {
    /// The application writes no more; the other direction stays open.
    pub(crate) fn close(&mut self, now: Time) {
        self.closing.write_closed = true;
        self.advance(now);
    }

    /// Drops the connection: the peer is told, and data that waits is lost.
    pub(crate) fn abort(&mut self, now: Time) {
        self.fail(now, Failure::Reset);
    }

    /// Whether nothing is left to be done or to be sent.
    pub(crate) fn is_over(&self) -> bool {
        let ended = self.failure.is_some() || self.closing.is_done();
        ended && self.subflows().next().is_none() && self.packets.is_empty()
    }

    /// Ends what can be ended now.
    pub(super) fn advance(&mut self, now: Time) {
        if self.failure.is_some() || !self.is_established() {
            return;
        }
        let sent = self.sender.as_ref().map_or(0, |it| it.outstanding().end);
        let at_end = self.closing.write_closed && sent == self.outbox.end();
        match self.session.is_some() {
            true => self.advance_data(now, at_end),
            false => self.advance_plain(now, at_end),
        }
        self.repeat_fins(now);
        self.remove_closed();
    }

    fn advance_data(&mut self, now: Time, at_end: bool) {
        if at_end && !self.closing.acknowledged {
            let first = self.closing.retry.at == Time::NEVER;
            if first {
                self.closing.retry = Retry::begin(now, self.wait());
                self.progress = now;
            }
            if first || self.closing.retry.is_due(now) {
                self.send_data_fin(now);
            }
        }
        if !self.closing.peer_closed && self.closing.peer_fin == Some(self.receiver_next()) {
            self.closing.peer_closed = true;
            // On all subflows, as the DATA_FIN was sent: one of them may have failed.
            let open: Vec<usize> =
                self.subflows().filter(|(_, it)| it.is_open()).map(|(path, _)| path).collect();
            open.into_iter().for_each(|path| self.acknowledge(now, path));
        }
        for path in 0..self.subflows.len() {
            let Some(subflow) = self.subflows[path].as_ref() else { continue };
            match (self.closing.is_done(), subflow.is_open()) {
                (true, false) => self.reset_subflow(now, path, None),
                (true, true) => self.finish(now, path),
                // The peer ends this subflow alone: what waits on it goes elsewhere.
                (false, true) if subflow.peer_closed => self.follow(now, path),
                _ => {}
            }
        }
    }

    fn advance_plain(&mut self, now: Time, at_end: bool) {
        let Some(path) = self.subflows().next().map(|(path, _)| path) else { return };
        if at_end {
            self.finish(now, path);
        }
        let Some(subflow) = &self.subflows[path] else { return };
        self.closing.peer_closed |= subflow.peer_closed;
        self.closing.acknowledged |= subflow.fin_acknowledged;
    }

    /// A wait for an answer: the longest of the subflows' timeouts.
    pub(super) fn wait(&self) -> Span {
        let timeouts = (0..self.subflows.len()).filter_map(|path| Some(self.report(path)?.rto));
        timeouts.max().unwrap_or(LEAST_WAIT).max(LEAST_WAIT)
    }

    /// A DATA_FIN takes one byte of the connection's numbers and none of a subflow's.
    fn send_data_fin(&mut self, now: Time) {
        let Some(session) = &self.session else { return };
        let mut mapping = Mapping {
            data_sequence: session.out.wire(self.outbox.end()),
            wide: true,
            subflow_sequence: 0,
            length: 1,
            checksum: None,
        };
        mapping.checksum = session.checksums.then(|| checksum(&mapping, &[]));
        let signal = Mptcp::Data { ack: self.data_ack(), mapping: Some(mapping), fin: true };
        // Every try on all subflows: one of them may have failed.
        let open: Vec<usize> =
            self.subflows().filter(|(_, it)| it.may_send()).map(|(path, _)| path).collect();
        for path in open {
            let ack = wire::Ack { sacks: wire::Sacks::default(), ..self.receiver.ack_now(path) };
            self.send_plain(now, path, &ack, Some(signal.clone()));
        }
    }

    /// Sends the FIN of `path` once its data is acknowledged.
    fn finish(&mut self, now: Time, path: usize) {
        let sent = self.sender.as_ref().map_or(0, |it| it.outstanding_on(path).end);
        let wait = self.wait();
        let plain = self.session.is_none();
        let idle = self.sender.as_ref().is_none_or(|it| it.outstanding_on(path).is_empty());
        let Some(subflow) = self.subflows[path].as_mut().filter(|it| it.fin.is_none()) else {
            return;
        };
        if !plain && !idle {
            return self.linger(now, path, wait);
        }
        subflow.fin = Some(sent);
        subflow.closed_first = !subflow.peer_closed;
        subflow.retry = Retry::begin(now, wait);
        self.progress = now;
        self.send_fin(now, path);
    }

    /// Other subflows have delivered what is not acknowledged on `path`: its FIN waits a timeout
    /// for that. Then the subflow is reset (RFC 8684 §3.3.3), as it is if it has timed out: Linux
    /// answers what is sent again with a reset, once its application has closed.
    fn linger(&mut self, now: Time, path: usize, wait: Span) {
        let dead = self.sender.as_ref().is_some_and(|it| it.repairs_timeout(path));
        let Some(subflow) = &mut self.subflows[path] else { return };
        if dead || subflow.retry.is_due(now) {
            self.reset_subflow(now, path, Some(super::signals::OUTSTANDING));
        } else if subflow.retry.at == Time::NEVER {
            subflow.retry = Retry::begin(now, wait);
        }
    }

    /// The peer ended `path` while the connection goes on.
    fn follow(&mut self, now: Time, path: usize) {
        let idle = self.sender.as_ref().is_none_or(|it| it.outstanding_on(path).is_empty());
        let last = self.subflows().count() == 1;
        if idle && !last {
            self.finish(now, path);
        } else if !idle && !last {
            self.reset_subflow(now, path, None);
        }
    }

    fn send_fin(&mut self, now: Time, path: usize) {
        let ack = self.receiver.ack_now(path);
        let signal =
            self.data_ack().map(|ack| Mptcp::Data { ack: Some(ack), mapping: None, fin: false });
        let Some(mut segment) = self.header(now, path, &ack) else { return };
        let Some(subflow) = &self.subflows[path] else { return };
        let Some(fin) = subflow.fin else { return };
        segment.seq = subflow.out.wire(fin);
        segment.fin = true;
        segment.options.extend(signal.map(TcpOption::Mptcp));
        self.packets.push_back(segment.encode(&[]));
    }

    fn repeat_fins(&mut self, now: Time) {
        for path in 0..self.subflows.len() {
            let Some(subflow) = &mut self.subflows[path] else { continue };
            if subflow.fin.is_none() || subflow.fin_acknowledged || !subflow.retry.is_due(now) {
                continue;
            }
            match subflow.retry.count > FINS {
                true => self.reset_subflow(now, path, None),
                false => self.send_fin(now, path),
            }
        }
    }

    fn remove_closed(&mut self) {
        for path in 0..self.subflows.len() {
            let closed = self.subflows[path].as_ref().is_some_and(Subflow::is_closed);
            if closed
                && (self.session.is_none() || self.subflows().count() > 1 || self.closing.is_done())
            {
                self.retire(path);
            }
        }
    }

    /// A subflow that both ends have closed is forgotten; the host keeps its addresses for a while.
    fn retire(&mut self, path: usize) {
        let Some(subflow) = self.subflows[path].take() else { return };
        self.changed = true;
        if let Some(sender) = &mut self.sender {
            sender.leave(path);
        }
        if subflow.closed_first {
            self.retired.push(subflow);
        }
    }

    /// The FIN of the peer stands after byte `end` of `path`.
    pub(super) fn on_fin(&mut self, now: Time, path: usize, end: Option<u64>) {
        let next = self.receiver.next_on(path);
        let Some(subflow) = &mut self.subflows[path] else { return };
        if let Some(end) = end.filter(|_| subflow.is_open()) {
            subflow.peer_fin.get_or_insert(end);
        }
        if subflow.peer_fin == Some(next) && (!subflow.peer_closed || end.is_some()) {
            subflow.peer_closed = true;
            self.acknowledge(now, path);
        }
    }

    /// A reset of the peer with the right number.
    pub(super) fn on_reset(&mut self, now: Time, path: usize, segment: &TcpSegment) {
        let own = self.local_key();
        let fast = segment.options.iter().any(|option| {
            matches!(option, TcpOption::Mptcp(Mptcp::FastClose { key }) if Some(*key) == own)
        });
        self.drop_subflow(now, path);
        if fast || self.session.is_none() {
            return match self.closing.is_done() {
                true => {}
                false if fast => self.on_dropped(now),
                false => self.fail_quietly(Failure::Reset),
            };
        }
        // §3.6: a reset ends the subflow alone. Without any, the peer may come back.
        if self.subflows().next().is_none() && self.closing.write_closed && self.closing.peer_closed
        {
            self.fail_quietly(Failure::Reset);
        }
    }

    /// Resets `path` and tells the peer why.
    pub(super) fn reset_subflow(&mut self, now: Time, path: usize, reason: Option<u8>) {
        self.reset_with(now, path, reason.map(|reason| Mptcp::Reset { flags: 0, reason }));
    }

    pub(super) fn reset_with(&mut self, now: Time, path: usize, option: Option<Mptcp>) {
        let next = self.acceptable(path);
        let ack = self.receiver.ack_now(path);
        // RFC 9293 §3.10.5: who gives up a request says nothing, and resets an answer that comes.
        let asks = self.subflows[path]
            .as_ref()
            .is_some_and(|it| it.state == crate::subflow::State::Requested && !it.join);
        if !asks
            && let Some(mut segment) = self.header(now, path, &ack)
            && let Some(subflow) = &self.subflows[path]
        {
            segment.seq = match subflow.is_open() {
                true => subflow.out.wire(next),
                false => subflow.iss.wrapping_add(1),
            };
            segment.reset = true;
            if subflow.state == crate::subflow::State::Requested {
                segment.ack = None;
            }
            segment.options = option.map(TcpOption::Mptcp).into_iter().collect();
            self.packets.push_back(segment.encode(&[]));
        }
        self.drop_subflow(now, path);
    }

    /// Ends the connection and tells the peer: MP_FASTCLOSE in resets (§3.5), or a reset alone.
    pub(super) fn fail(&mut self, now: Time, why: Failure) {
        let key = self.session.as_ref().map(|session| session.remote_key);
        for path in 0..self.subflows.len() {
            if self.subflows[path].is_some() {
                self.reset_with(now, path, key.map(|key| Mptcp::FastClose { key }));
            }
        }
        self.fail_quietly(why);
    }

    /// Ends the connection without a word.
    pub(super) fn fail_quietly(&mut self, why: Failure) {
        self.failure.get_or_insert(why);
        self.subflows.iter_mut().for_each(|slot| *slot = None);
        self.sender = None;
        (self.closing.retry, self.persist, self.signals.retry) =
            (Retry::OFF, Retry::OFF, Retry::OFF);
        self.repeating.retry = Retry::OFF;
        (self.progress, self.changed) = (Time::NEVER, true);
    }
}
