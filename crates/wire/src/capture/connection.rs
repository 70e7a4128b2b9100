//! Which subflows of a capture belong together: by the token that a join names (RFC 8684 §3.2).

use super::dissect::Seen;
use super::subflow::{Subflow, unwrap};
use crate::mptcp::{Hash, Keys, Mptcp, initial_data_sequence, token};
use crate::tcp::TcpOption;
use std::collections::BTreeMap;

/// A connection: a TCP connection, or one over several subflows.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// Numbers of its subflows, the first one first.
    pub subflows: Vec<usize>,
    /// Token of its initiator, if the keys were seen.
    pub token: Option<u32>,
    /// Payload that the connection has acknowledged, each byte once: of data acks where it has several
    /// paths, both ways together.
    pub acked_bytes: u64,
    /// Joins whose proofs are right, and those whose proofs are wrong; only where all was seen.
    pub proofs: (u64, u64),
    /// Addresses that were announced.
    pub announced: u64,
    /// Addresses that were withdrawn.
    pub withdrawn: u64,
}

/// What is known about a subflow's place.
#[derive(Clone, Debug, Default)]
struct Opening {
    keys: [Option<u64>; 2],
    version: u8,
    /// Token that its join names.
    names: Option<u32>,
    nonces: [Option<u32>; 2],
    codes: (Option<u64>, Option<[u8; 20]>),
    /// First and last data ack: of the responder, and of the initiator.
    data_acks: [Option<(u64, u64)>; 2],
    announced: u64,
    withdrawn: u64,
}

/// Openings of all subflows so far.
#[derive(Default)]
pub(super) struct Connections {
    openings: Vec<Opening>,
}

impl Connections {
    pub(super) fn add(&mut self, number: usize, seen: &Seen, subflow: &Subflow) {
        self.openings.resize(self.openings.len().max(number + 1), Opening::default());
        let opening = &mut self.openings[number];
        let me = usize::from(seen.from != subflow.initiator);
        for option in seen.options.iter().flatten() {
            if let TcpOption::Mptcp(option) = option {
                opening.add(option, me);
            }
        }
    }

    /// Puts subflows together.
    pub(super) fn finish(self, subflows: &[Subflow]) -> Vec<Connection> {
        let mut connections: Vec<Connection> = Vec::new();
        let mut by_token = BTreeMap::new();
        for (number, opening) in self.openings.iter().enumerate() {
            let at = opening.names.and_then(|token| by_token.get(&token).copied());
            let at = at.unwrap_or_else(|| {
                connections.push(Connection::default());
                connections.len() - 1
            });
            let connection = &mut connections[at];
            connection.subflows.push(number);
            connection.announced += opening.announced;
            connection.withdrawn += opening.withdrawn;
            for (key, who) in
                opening.keys.iter().zip(0..).filter_map(|(k, who)| Some((k.as_ref()?, who)))
            {
                let token = token(Hash::of_version(opening.version), *key);
                by_token.insert(token, at);
                if who == 0 {
                    connection.token = Some(token);
                }
            }
        }
        for connection in &mut connections {
            connection.judge(&self.openings, subflows);
        }
        connections
    }
}

impl Connection {
    /// Counts what was acknowledged, and looks at the proofs of its joins.
    fn judge(&mut self, openings: &[Opening], subflows: &[Subflow]) {
        let first = &openings[self.subflows[0]];
        for &number in &self.subflows {
            match first.keys().and_then(|keys| openings[number].proof(&keys)) {
                Some(true) => self.proofs.0 += 1,
                Some(false) => self.proofs.1 += 1,
                None => {}
            }
        }
        if !self.subflows.iter().any(|&number| subflows[number].multipath) {
            let tcp = &subflows[self.subflows[0]];
            self.acked_bytes = tcp.forth.acked() + tcp.back.acked();
            return;
        }
        self.acked_bytes = (0..2).map(|who| self.data_acked(openings, who)).sum();
    }

    /// Payload that data acks of `who` cover.
    fn data_acked(&self, openings: &[Opening], who: usize) -> u64 {
        let acks = self.subflows.iter().filter_map(|&number| openings[number].data_acks[who]);
        let (low, high) =
            acks.fold((None, None), |(low, high): (Option<u64>, Option<u64>), (a, b)| {
                let base = low.unwrap_or(a);
                let (a, b) = (unwrap(base, a as u32), unwrap(base, b as u32));
                (Some(low.map_or(a, |low| low.min(a))), Some(high.map_or(b, |high| high.max(b))))
            });
        let (Some(low), Some(high)) = (low, high) else {
            return 0;
        };
        // The key of the other side says where its data began, be it before the first data ack.
        let opening = &openings[self.subflows[0]];
        let begun = opening.keys[1 - who].map(|key| {
            let first = initial_data_sequence(Hash::of_version(opening.version), key);
            unwrap(low, (first as u32).wrapping_add(1))
        });
        high - begun.map_or(low, |begun| begun.min(low))
    }
}

impl Opening {
    /// `me` is 0 for the initiator of the subflow, 1 for its responder.
    fn add(&mut self, option: &Mptcp, me: usize) {
        match *option {
            Mptcp::Capable { version, sender, receiver, .. } => {
                self.version = version;
                self.keys[me] = sender.or(self.keys[me]);
                self.keys[1 - me] = receiver.or(self.keys[1 - me]);
            }
            Mptcp::JoinRequest { token, nonce, .. } => {
                self.names = Some(token);
                self.nonces[0] = Some(nonce);
            }
            Mptcp::JoinGrant { code, nonce, .. } => {
                self.nonces[1] = Some(nonce);
                self.codes.0 = Some(code);
            }
            Mptcp::JoinProof { code } => self.codes.1 = Some(code),
            Mptcp::Data { ack: Some((ack, _)), .. } => {
                let (low, high) =
                    self.data_acks[me].unwrap_or((BASE + (ack & LOW), BASE + (ack & LOW)));
                let ack = unwrap(high, ack as u32);
                self.data_acks[me] = Some((low.min(ack), high.max(ack)));
            }
            Mptcp::AddAddress { echo: false, .. } => self.announced += 1,
            Mptcp::RemoveAddress { ref ids } => self.withdrawn += ids.len() as u64,
            _ => {}
        }
    }

    fn keys(&self) -> Option<Keys> {
        let hash = Hash::of_version(self.version);
        Some(Keys { initiator: self.keys[0]?, responder: self.keys[1]?, hash })
    }

    /// Whether the proofs of this join are right; `None` if not all of it was seen.
    fn proof(&self, keys: &Keys) -> Option<bool> {
        let (ours, theirs) = (self.nonces[0]?, self.nonces[1]?);
        let granted = self.codes.0? == keys.responder_code(ours, theirs);
        Some(granted && self.codes.1? == keys.initiator_code(ours, theirs))
    }
}

const LOW: u64 = 0xffff_ffff;
/// Where unwrapped data sequence numbers begin.
const BASE: u64 = 1 << 40;
