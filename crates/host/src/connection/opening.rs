//! Handshakes of a connection and of its joins (RFC 9293 §3.5, RFC 8684 §3.1 and §3.2).

use super::{Connection, Failure, Role, Session};
use crate::settings::Settings;
use crate::stamps::Stamps;
use crate::subflow::{PLAIN_HEADERS, State, Subflow, Terms};
use control::{AnyController, CongestionController};
use std::sync::Arc;
use transport::tcp::Sender;
use transport::{ReceivingEndpoint, SenderSettings, SendingEndpoint, Source};
use units::{Bytes, Time};
use wire::mptcp::{Hash, Mptcp, token};
use wire::packet::{Endpoint, TcpSegment};
use wire::tcp::TcpOption;

/// RFC 8684 §3.1: HMAC-SHA256.
pub(super) const SHA256: u8 = 1;

/// The same: checksums are wanted.
pub(super) const CHECKSUMS: u8 = 0x80;

/// The same: what follows is of a later extension, and the option is to be ignored.
const EXTENDED: u8 = 0x40;

/// Whether MPTCP is possible with a peer that sends these flags: it knows the hash, and wants no
/// extension.
fn is_known(flags: u8) -> bool {
    flags & (SHA256 | EXTENDED) == SHA256
}

/// Version of MPTCP.
pub(super) const VERSION: u8 = 1;

/// A SYN without answer is sent so often (Linux: `tcp_syn_retries` = 6).
const SYNS: u32 = 7;

/// After so many of them MPTCP is not asked for: a middlebox may drop what it does not know (RFC
/// 8684 §3.8; Linux does after two).
const SYNS_WITH_MPTCP: u32 = 2;

/// Bytes of options in a data segment: timestamps, and a data sequence signal with acknowledgement
/// (64 bits), mapping and checksum.
const DATA_OPTIONS: [u32; 2] = [12, 28];

/// Most bytes of data in a segment under `terms`.
pub(super) fn most_payload(terms: Terms, multipath: bool) -> u32 {
    let [stamps, signal] = DATA_OPTIONS;
    let options = stamps * u32::from(terms.timestamps) + signal * u32::from(multipath);
    u32::from(terms.mss).saturating_sub(options).max(64)
}

/// Random numbers that a new subflow needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance {
    /// Sequence number of the SYN (RFC 6528 wants one that nobody else can guess).
    pub(crate) iss: u32,
    /// The nonce of a join.
    pub(crate) nonce: u32,
}

impl Connection {
    /// Opens a connection: sends the SYN. `key` is the key of this host, if it asks for MPTCP.
    pub(crate) fn open(
        settings: Arc<Settings>,
        now: Time,
        (local, remote): (Endpoint, Endpoint),
        key: Option<u64>,
        stamps: Stamps,
        chance: Chance,
    ) -> Self {
        let session = key.map(|key| Session::new(key, settings.checksums));
        let mut connection = Connection::new(settings, Role::Initiator, session, stamps);
        connection.progress = now;
        connection.subflows[0] = Some(Subflow::new(local, remote, State::Requested, chance.iss));
        connection.begin(now, 0);
        connection
    }

    /// Grants the connection that `syn` asks for: sends the SYN/ACK.
    pub(crate) fn grant(
        settings: Arc<Settings>,
        now: Time,
        syn: &TcpSegment,
        key: Option<u64>,
        stamps: Stamps,
        chance: Chance,
    ) -> Self {
        let asked = syn.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::Capable { version, flags, .. }) if *version >= VERSION => {
                is_known(*flags).then_some(*flags)
            }
            _ => None,
        });
        let session = key
            .zip(asked)
            .map(|(key, flags)| Session::new(key, settings.checksums || flags & CHECKSUMS != 0));
        let mut connection = Connection::new(settings, Role::Responder, session, stamps);
        connection.progress = now;
        let mut subflow = Subflow::new(syn.to, syn.from, State::Granted, chance.iss);
        subflow.agree(connection.offered(), syn);
        connection.subflows[0] = Some(subflow);
        connection.begin(now, 0);
        connection
    }

    /// Asks for a further subflow; returns its slot, or `None` if there is no free slot, or no
    /// peer that would take it.
    pub(crate) fn join(
        &mut self,
        now: Time,
        (local, remote): (Endpoint, Endpoint),
        ids: [u8; 2],
        backup: bool,
        chance: Chance,
    ) -> Option<usize> {
        let ready = self.role == Role::Initiator
            && self.is_established()
            && !self.closing.is_done()
            && self.session.as_ref().is_some_and(|session| session.confirmed);
        let path = self.subflows.iter().position(Option::is_none).filter(|_| ready)?;
        let mut subflow = Subflow::new(local, remote, State::Requested, chance.iss);
        (subflow.join, subflow.backup, subflow.ids) = (true, backup, ids);
        subflow.nonces[0] = chance.nonce;
        self.subflows[path] = Some(subflow);
        self.changed = true;
        self.begin(now, path);
        Some(path)
    }

    /// Grants the join that `syn` asks for with `nonce`; returns whether there was a free slot.
    pub(crate) fn grant_join(&mut self, now: Time, syn: &TcpSegment, chance: Chance) -> bool {
        let asked = syn.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::JoinRequest { backup, address, nonce, .. }) => {
                Some((*backup, *address, *nonce))
            }
            _ => None,
        });
        let free = self.subflows.iter().position(Option::is_none);
        let (Some((backup, address, nonce)), Some(path)) = (asked, free) else {
            return false;
        };
        if !self.is_established() || self.session.is_none() || self.closing.is_done() {
            return false;
        }
        let mut subflow = Subflow::new(syn.to, syn.from, State::Granted, chance.iss);
        subflow.agree(self.offered(), syn);
        (subflow.join, subflow.backup) = (true, backup);
        let own = self.signals.name_of(syn.to.address);
        (subflow.nonces, subflow.ids) = ([chance.nonce, nonce], [own, address]);
        self.subflows[path] = Some(subflow);
        self.changed = true;
        self.begin(now, path);
        true
    }

    /// What this host offers in a SYN.
    pub(super) fn offered(&self) -> Terms {
        let Settings { options, mtu, .. } = &*self.settings;
        Terms {
            scale: Some(self.own_scale()),
            timestamps: true,
            sack: options.sack,
            ecn: options.ecn,
            mss: mtu - PLAIN_HEADERS,
        }
    }

    /// Bits by which this host shifts its window fields: the fewest with which a field can tell of
    /// the whole receive buffer.
    pub(super) fn own_scale(&self) -> u8 {
        let buffer = self.settings.options.receive_buffer.0;
        (0..14).find(|shift| buffer >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    /// Sends the first packet of a handshake.
    fn begin(&mut self, now: Time, path: usize) {
        let wait = self.settings.options.rto_initial;
        let Some(subflow) = &mut self.subflows[path] else { return };
        subflow.began = now;
        subflow.retry = crate::retry::Retry::begin(now, wait);
        self.greet(now, path);
    }

    /// The MPTCP option of a SYN or SYN/ACK.
    pub(super) fn greeting(&self, path: usize) -> Option<Mptcp> {
        let (session, subflow) = (self.session.as_ref()?, self.subflows[path].as_ref()?);
        let [nonce, peers] = subflow.nonces;
        match (subflow.join, subflow.state) {
            (false, State::Requested) if subflow.retry.count > SYNS_WITH_MPTCP => None,
            (false, state) => Some(Mptcp::Capable {
                version: VERSION,
                flags: SHA256 | if session.checksums { CHECKSUMS } else { 0 },
                sender: (state == State::Granted).then_some(session.local_key),
                receiver: None,
                length: None,
                checksum: None,
            }),
            (true, State::Granted) => Some(Mptcp::JoinGrant {
                backup: subflow.backup,
                address: subflow.ids[0],
                code: session.keys_of_peer().responder_code(peers, nonce),
                nonce,
            }),
            (true, _) => Some(Mptcp::JoinRequest {
                backup: subflow.backup,
                address: subflow.ids[0],
                token: token(Hash::Sha256, session.remote_key),
                nonce,
            }),
        }
    }

    /// The option that ends a handshake: both keys, or the proof of a join.
    pub(super) fn confirmation(&self, path: usize) -> Option<Mptcp> {
        let (session, subflow) = (self.session.as_ref()?, self.subflows[path].as_ref()?);
        let [nonce, peers] = subflow.nonces;
        Some(match subflow.join {
            true => Mptcp::JoinProof { code: session.keys().initiator_code(nonce, peers) },
            false => Mptcp::Capable {
                version: VERSION,
                flags: SHA256 | if session.checksums { CHECKSUMS } else { 0 },
                sender: Some(session.local_key),
                receiver: Some(session.remote_key),
                length: None,
                checksum: None,
            },
        })
    }

    /// A SYN/ACK for a request of this host; `segment` acknowledges it.
    pub(super) fn on_grant(&mut self, now: Time, path: usize, segment: &TcpSegment) {
        let offered = self.offered();
        let Some(subflow) = &mut self.subflows[path] else { return };
        subflow.agree(offered, segment);
        let join = subflow.join;
        let granted = match join {
            false => self.take_key(segment),
            true => self.take_proof(path, segment),
        };
        if !granted {
            return self.reset_subflow(now, path, Some(super::signals::MPTCP_ERROR));
        }
        if join {
            let Some(subflow) = &mut self.subflows[path] else { return };
            subflow.state = State::Confirming;
            subflow.retry = crate::retry::Retry::begin(now, self.settings.options.rto_initial);
            return self.confirm(now, path);
        }
        self.establish(now, path, u64::from(segment.window));
        self.confirm(now, path);
    }

    /// The key in a SYN/ACK, or a fallback to TCP where there is none.
    fn take_key(&mut self, segment: &TcpSegment) -> bool {
        let granted = segment.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::Capable { version, flags, sender, .. }) => {
                (*version == VERSION).then_some((*flags, (*sender)?))
            }
            _ => None,
        });
        match (&mut self.session, granted) {
            (Some(session), Some((flags, key))) if is_known(flags) => {
                session.set_remote_key(key);
                session.checksums |= flags & CHECKSUMS != 0;
            }
            _ => self.session = None,
        }
        true
    }

    /// The proof in a SYN/ACK that grants a join.
    fn take_proof(&mut self, path: usize, segment: &TcpSegment) -> bool {
        let granted = segment.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::JoinGrant { backup, address, code, nonce }) => {
                Some((*backup, *address, *code, *nonce))
            }
            _ => None,
        });
        let (Some(session), Some(subflow)) = (&self.session, &mut self.subflows[path]) else {
            return false;
        };
        let Some((backup, address, code, nonce)) = granted else { return false };
        subflow.nonces[1] = nonce;
        subflow.ids[1] = address;
        subflow.backup |= backup;
        code == session.keys().responder_code(subflow.nonces[0], nonce)
    }

    /// The third packet of a handshake, or the first data if that packet was lost. Returns whether
    /// the segment may be processed further.
    pub(super) fn on_confirmation(&mut self, now: Time, path: usize, segment: &TcpSegment) -> bool {
        let Some(subflow) = &self.subflows[path] else { return false };
        let nonces = subflow.nonces;
        let window = subflow.window(segment.window);
        if !subflow.join {
            self.take_keys(segment);
            self.establish(now, path, window);
            return true;
        }
        let proof = segment.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::JoinProof { code }) => Some(*code),
            _ => None,
        });
        let Some(session) = &self.session else { return false };
        match proof {
            Some(code) if code == session.keys_of_peer().initiator_code(nonces[1], nonces[0]) => {
                self.admit(now, path);
                self.acknowledge(now, path); // the fourth packet, for which the peer waits
                true
            }
            Some(_) => {
                self.reset_subflow(now, path, Some(super::signals::MPTCP_ERROR));
                false
            }
            None => false, // the proof was lost, and comes again
        }
    }

    /// The keys in the third packet, or a fallback to TCP where they are not.
    fn take_keys(&mut self, segment: &TcpSegment) {
        let keys = segment.options.iter().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::Capable { version, flags, sender, receiver, .. }) => {
                let right = *version == VERSION && is_known(*flags);
                sender.zip(*receiver).filter(|_| right)
            }
            _ => None,
        });
        match (&mut self.session, keys) {
            (Some(session), Some((theirs, ours))) if ours == session.local_key => {
                session.set_remote_key(theirs);
            }
            _ => self.session = None,
        }
    }

    /// The first subflow is open: the sender can be built. `window` is the peer's in bytes.
    fn establish(&mut self, now: Time, path: usize, window: u64) {
        let Some(subflow) = &mut self.subflows[path] else { return };
        let slots = self.settings.slots();
        let rtt = (subflow.retry.count == 1).then(|| now.since(subflow.began));
        let mut options = self.settings.options.clone();
        let most = u64::from(most_payload(subflow.terms, self.session.is_some()));
        options.payload = Bytes(options.payload.0.min(most));
        options.receive_buffer = Bytes(window);
        options.autotune = false;
        options.handshake = false;
        options.sack &= subflow.terms.sack;
        if !options.sack {
            (options.rack, options.tlp, options.dsack, options.frto) = (false, false, false, false);
        }
        let control = self.settings.options.control(self.settings.base);
        let Some(control) = AnyController::new(&self.settings.controller, control, slots) else {
            return self.fail(now, Failure::Broken); // `Host::new` refuses such a controller
        };
        let source = Source::Live(self.written.clone());
        let settings = Arc::new(SenderSettings::new(options, control.needs(), source));
        let mut sender = Sender::new(settings, control, slots, now);
        (0..slots).filter(|other| *other != path).for_each(|other| sender.leave(other));
        if let Some(rtt) = rtt {
            sender.on_established(path, rtt);
        }
        (subflow.state, subflow.retry) = (State::Open, crate::retry::Retry::OFF);
        self.sender = Some(sender);
        self.heard = now;
        self.progress = now;
        self.tell_sender(now);
    }

    /// A join is complete: its subflow may carry data.
    pub(super) fn admit(&mut self, now: Time, path: usize) {
        let (Some(sender), Some(subflow)) = (&mut self.sender, &mut self.subflows[path]) else {
            return;
        };
        let first = sender.join(path);
        subflow.out = crate::sequence::Sequence::after_syn(subflow.iss, first);
        subflow.sent = crate::outbox::Outbox::new(first, usize::MAX);
        sender.set_backup(path, subflow.backup);
        if subflow.retry.count == 1 {
            sender.on_established(path, now.since(subflow.began));
        }
        (subflow.state, subflow.retry) = (State::Open, crate::retry::Retry::OFF);
        self.receiver.join(path, 0);
        self.changed = true;
    }

    /// Sends packets of handshakes again whose answers are late.
    pub(super) fn repeat_handshakes(&mut self, now: Time) {
        for path in 0..self.subflows.len() {
            let Some(subflow) = &mut self.subflows[path] else { continue };
            if subflow.is_open() || !subflow.retry.is_due(now) {
                continue;
            }
            let (count, state, join) = (subflow.retry.count, subflow.state, subflow.join);
            match state {
                _ if count > SYNS && join => self.drop_subflow(now, path),
                _ if count > SYNS => self.fail(now, Failure::TimedOut),
                State::Confirming => self.confirm(now, path),
                _ => self.greet(now, path),
            }
        }
    }
}
