//! MPTCP's signals besides data: addresses, priorities, failures (RFC 8684 §3.3.8 to §3.7), and the
//! fallback to TCP (§3.8).

use super::{Connection, Failure};
use crate::retry::Retry;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use transport::SendingEndpoint;
use units::Time;
use wire::mptcp::{Mapping, Mptcp};
use wire::packet::{Received, TcpSegment};
use wire::tcp::TcpOption;

/// RFC 8684 §3.6: nothing more is said.
const UNSPECIFIED: u8 = 0x00;

/// The same: a token or a proof is wrong.
pub(crate) const MPTCP_ERROR: u8 = 0x01;

/// The same, "too much outstanding data".
pub(super) const OUTSTANDING: u8 = 0x04;

/// The same, "middlebox interference": data without a mapping.
pub(super) const BAD_MAPPING: u8 = 0x06;

/// An announcement without echo is sent so often (Linux: `mptcp_pm_add_timer`).
const ANNOUNCEMENTS: u32 = 3;

/// Most addresses of a peer that wait to be looked at.
const ADDRESSES: usize = 16;

/// An address that the peer announced or withdrew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The peer may be reached there, with this port if it is not that of the first subflow.
    Announced {
        /// Its identifier.
        id: u8,
        /// The address.
        address: Ipv4Addr,
        /// The port.
        port: Option<u16>,
    },
    /// Subflows to it were closed.
    Withdrawn {
        /// Its identifier.
        id: u8,
    },
}

/// Signals that wait, in both directions.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Announcements of this host that are not echoed yet; the first one is being sent.
    announcing: VecDeque<Mptcp>,
    pub(super) retry: Retry,
    /// Addresses of this host that the peer was told of, and their identifiers.
    own: Vec<(Ipv4Addr, u8)>,
    /// What the peer has told, for the application.
    told: VecDeque<Address>,
}

impl Signals {
    /// The identifier of an address of this host: 0 is that of the first subflow (§3.2).
    pub(super) fn name_of(&self, address: Ipv4Addr) -> u8 {
        self.own.iter().find(|(own, _)| *own == address).map_or(0, |(_, id)| *id)
    }
}

impl Connection {
    /// Tells the peer that this host may be reached at `address` too.
    pub(crate) fn announce(&mut self, now: Time, id: u8, address: Ipv4Addr, port: Option<u16>) {
        let Some(session) = &self.session else { return };
        let code = Some(session.keys().address_code(id, address.into(), port));
        let option = Mptcp::AddAddress { echo: false, id, address: address.into(), port, code };
        self.signals.own.push((address, id));
        self.signals.announcing.push_back(option);
        if self.signals.announcing.len() == 1 {
            self.send_announcement(now);
        }
    }

    fn send_announcement(&mut self, now: Time) {
        self.signals.retry = Retry::OFF;
        if let Some(option) = self.signals.announcing.front().cloned() {
            self.signals.retry = Retry::begin(now, self.settings.options.rto_initial);
            self.notify(now, option);
        }
    }

    /// Withdraws the address `id` of this host, and closes the subflows from it.
    pub(crate) fn withdraw(&mut self, now: Time, id: u8) {
        let from: Vec<usize> =
            self.subflows().filter(|(_, it)| it.ids[0] == id).map(|(path, _)| path).collect();
        from.into_iter().for_each(|path| self.reset_subflow(now, path, None));
        self.signals.own.retain(|(_, own)| *own != id);
        self.notify(now, Mptcp::RemoveAddress { ids: vec![id] });
    }

    /// Makes `path` a backup, or an equal of the others, in both directions (MP_PRIO).
    pub(crate) fn set_backup(&mut self, now: Time, path: usize, backup: bool) {
        let (Some(sender), Some(subflow)) = (&mut self.sender, &mut self.subflows[path]) else {
            return;
        };
        subflow.backup = backup;
        sender.set_backup(path, backup);
        self.send_signal(now, path, Mptcp::Priority { backup, address: None });
    }

    /// Sends an option on an open subflow.
    fn notify(&mut self, now: Time, option: Mptcp) {
        if let Some(path) = self.best() {
            self.send_signal(now, path, option);
        }
    }

    /// An announcement is sent again, or given up.
    pub(super) fn repeat_signals(&mut self, now: Time) {
        if !self.signals.retry.is_due(now) {
            return;
        }
        if self.signals.retry.count > ANNOUNCEMENTS {
            self.signals.announcing.pop_front();
            self.send_announcement(now);
        } else if let Some(option) = self.signals.announcing.front().cloned() {
            self.notify(now, option);
        }
    }

    /// The next address of which the peer has told.
    pub(crate) fn poll_address(&mut self) -> Option<Address> {
        self.signals.told.pop_front()
    }

    /// The options of a segment, other than those of its acknowledgement.
    pub(super) fn on_options(&mut self, now: Time, path: usize, segment: &TcpSegment) {
        for option in &segment.options {
            let TcpOption::Mptcp(option) = option else { continue };
            if self.session.is_none() || self.subflows[path].is_none() {
                return;
            }
            match option {
                Mptcp::Data { mapping: Some(mapping), fin, .. } => {
                    self.on_mapping(path, mapping, *fin);
                }
                Mptcp::Capable { length: Some(length), checksum, .. } => {
                    self.on_first_mapping(path, *length, *checksum);
                }
                // §3.3.8: about its own subflow; with an address it is of version 0.
                Mptcp::Priority { backup, address: None } => {
                    let (Some(sender), Some(subflow)) =
                        (&mut self.sender, &mut self.subflows[path])
                    else {
                        continue;
                    };
                    subflow.backup = *backup;
                    sender.set_backup(path, *backup);
                }
                Mptcp::AddAddress { .. } => self.on_address(now, path, option),
                Mptcp::RemoveAddress { ids } => self.on_withdrawn(now, ids),
                Mptcp::FastClose { key } => self.on_fast_close(now, *key),
                Mptcp::Fail { .. } => self.on_failed(now, path),
                _ => {}
            }
        }
    }

    /// The first data of the initiator, which begins the connection (RFC 8684 §3.1).
    fn on_first_mapping(&mut self, path: usize, length: u16, checksum: Option<u16>) {
        let joined = self.subflows[path].as_ref().is_some_and(|it| it.join);
        let Some(session) = self.session.as_ref().filter(|_| !joined) else { return };
        let mapping = Mapping {
            data_sequence: session.back.wire(0),
            wide: true,
            subflow_sequence: 1,
            length,
            checksum,
        };
        self.on_mapping(path, &mapping, false);
    }

    /// An address of the peer (§3.4.1): only with a valid code; or the echo of an announcement.
    fn on_address(&mut self, now: Time, path: usize, option: &Mptcp) {
        let Mptcp::AddAddress { echo, id, address: IpAddr::V4(address), port, code } = option
        else {
            return; // IPv6: not echoed, so the peer stops after some tries
        };
        if *echo {
            let ours = |it: &Mptcp| matches!(it, Mptcp::AddAddress { id: own, .. } if own == id);
            if self.signals.announcing.front().is_some_and(ours) {
                self.signals.announcing.pop_front();
                self.send_announcement(now);
            }
            return;
        }
        let Some(session) = &self.session else { return };
        let right = session.keys_of_peer().address_code(*id, (*address).into(), *port);
        if *code != Some(right) {
            return;
        }
        let told = Address::Announced { id: *id, address: *address, port: *port };
        if !self.signals.told.contains(&told) && self.signals.told.len() < ADDRESSES {
            self.signals.told.push_back(told);
        }
        let (address, port) = ((*address).into(), *port);
        let echo = Mptcp::AddAddress { echo: true, id: *id, address, port, code: None };
        self.send_signal(now, path, echo);
    }

    fn on_withdrawn(&mut self, now: Time, ids: &[u8]) {
        for id in ids {
            // §3.4.2: address 0 is that of the first subflow.
            let to: Vec<usize> =
                self.subflows().filter(|(_, it)| it.ids[1] == *id).map(|(path, _)| path).collect();
            to.into_iter().for_each(|path| self.reset_subflow(now, path, None));
            if self.signals.told.len() < ADDRESSES {
                self.signals.told.push_back(Address::Withdrawn { id: *id });
            }
        }
    }

    /// MP_FASTCLOSE (§3.5): the peer has dropped the connection; valid with the key of this host.
    fn on_fast_close(&mut self, now: Time, key: u64) {
        if self.session.as_ref().is_some_and(|session| session.local_key == key) {
            self.on_dropped(now);
        }
    }

    /// The peer has dropped the connection: §3.5 has it answered by a reset of each subflow.
    pub(super) fn on_dropped(&mut self, now: Time) {
        for path in 0..self.subflows.len() {
            if self.subflows[path].is_some() {
                self.reset_subflow(now, path, Some(UNSPECIFIED));
            }
        }
        self.fail_quietly(Failure::Reset);
    }

    /// MP_FAIL (§3.7): the peer found a wrong checksum. One subflow goes on as TCP; one of several
    /// was reset by the peer.
    fn on_failed(&mut self, now: Time, path: usize) {
        match self.subflows().count() {
            1 if self.may_fall_back(path) => self.fall_back(),
            1 => self.fail(now, Failure::Broken),
            _ => self.reset_subflow(now, path, None),
        }
    }

    /// The checksum of data from `dsn` on is wrong (§3.7): the subflow cannot be used.
    pub(super) fn on_corrupt(&mut self, now: Time, path: usize, dsn: u64) {
        let Some(session) = &self.session else { return };
        let fail = Mptcp::Fail { data_sequence: session.back.wire(dsn) };
        self.reset_with(now, path, Some(fail));
        if self.subflows().next().is_none() {
            self.fail_quietly(Failure::Broken);
        }
    }

    /// Whether the connection may go on as TCP on `path`: it is its only subflow, and nothing of
    /// MPTCP was confirmed.
    pub(super) fn may_fall_back(&self, path: usize) -> bool {
        let only = self.subflows().all(|(other, _)| other == path);
        only && self.session.as_ref().is_some_and(|session| !session.confirmed)
    }

    /// Whether a segment without signal is in order although the connection uses MPTCP: it
    /// acknowledges nothing new, or MPTCP was confirmed and only this segment lacks the signal.
    pub(super) fn tolerates(&self, path: usize, received: &Received<'_>, number: u64) -> bool {
        let una = self.sender.as_ref().map_or(0, |it| it.outstanding_on(path).start);
        let keys =
            received.segment.options.iter().any(|option| matches!(option, TcpOption::Mptcp(_)));
        keys || !self.may_fall_back(path) || (number <= una && received.payload.is_empty())
    }

    /// The connection goes on as TCP on its only subflow (§3.8).
    pub(super) fn fall_back(&mut self) {
        self.session = None;
        self.changed = true;
    }

    /// The state of a path leaves the sender with its subflow.
    pub(super) fn drop_subflow(&mut self, now: Time, path: usize) {
        if let Some(subflow) = self.subflows[path].take() {
            self.changed = true;
            if let Some(sender) = self.sender.as_mut().filter(|_| subflow.is_open()) {
                sender.leave(path);
            }
            if self.subflows().next().is_none() {
                self.progress = now; // from here on the peer has to come back
            }
        }
    }
}
