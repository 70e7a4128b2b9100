//! The host under test, in virtual time: packets in and out, and what goes on while time passes.

use crate::configured;
use crate::paths::{FIRST_PORT, Paths};
use crate::sockets::{Errno, Link, Sockets};
use host::{Host, Id, Read};
use rand_core::Rng;
use rand_pcg::Pcg64;
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use units::{Span, Time};
use wire::packet::Endpoint;

/// Virtual time begins here: a stamp that a script echoes from before its begin is in the past.
const BEGIN: Time = Time(1_000_000_000_000);

/// Each look at the clock takes this long: packetdrill spins on it before an event.
const LOOK: Span = Span(1_000);

/// All that is tested.
pub(crate) struct Stack {
    pub(crate) now: Time,
    /// Absent before the first socket, which decides whether there is MPTCP.
    host: Option<(Host, bool)>,
    paths: Paths,
    pub(crate) sockets: Sockets,
    /// Connections whose sockets are closed.
    orphans: Vec<Id>,
    /// Packets that have left, and when.
    sent: VecDeque<(Time, Vec<u8>)>,
    /// When a call that blocks gives up.
    pub(crate) alarm: Time,
    /// This host's address.
    local: Ipv4Addr,
    port: u16,
}

impl Stack {
    pub(crate) fn new(local: Ipv4Addr) -> Self {
        Stack {
            now: BEGIN,
            host: None,
            paths: Paths::default(),
            sockets: Sockets::default(),
            orphans: Vec::new(),
            sent: VecDeque::new(),
            alarm: Time::NEVER,
            local,
            port: FIRST_PORT,
        }
    }

    /// Prepares the host for a socket, with or without MPTCP.
    pub(crate) fn prepare(&mut self, multipath: bool) -> Result<(), Errno> {
        match &self.host {
            // One host has one setting for all of its connections.
            Some((_, before)) if *before != multipath => Err(Errno(libc::EPROTONOSUPPORT)),
            Some(_) => Ok(()),
            None => {
                let mut random = Pcg64::new(8684, 1);
                let settings = configured::settings(multipath);
                let made = Host::new(settings, move || random.next_u64());
                self.host = Some((made.map_err(|_| Errno(libc::EINVAL))?, multipath));
                Ok(())
            }
        }
    }

    /// The host, and the time for its calls.
    pub(crate) fn host(&mut self) -> Result<(&mut Host, Time), Errno> {
        let now = self.now;
        self.host.as_mut().map(|(host, _)| (host, now)).ok_or(Errno(libc::EBADF))
    }

    /// Connects from `local`, or from a free port.
    pub(crate) fn connect(
        &mut self,
        local: Option<Endpoint>,
        remote: Endpoint,
    ) -> Result<Link, Errno> {
        self.port += 1;
        let chosen = Endpoint { address: self.local, port: self.port };
        let local = local.filter(|end| end.port != 0).unwrap_or(chosen);
        self.paths = Paths::configured();
        let (host, now) = self.host()?;
        let id = host.connect(now, local, remote).map_err(|_| Errno(libc::EADDRINUSE))?;
        Ok(Link::new(id))
    }

    /// Listens.
    pub(crate) fn listen(&mut self, port: u16) -> Result<(), Errno> {
        self.paths = Paths::configured();
        self.host()?.0.listen(port);
        Ok(())
    }

    /// A connection has no socket any more: what arrives is dropped, and it ends.
    pub(crate) fn orphan(&mut self, id: Id, drop: bool) -> Result<(), Errno> {
        let (host, now) = self.host()?;
        // RFC 1122 §4.2.2.13: a reset tells the peer that data was lost. RFC 9293 §3.10.4: an
        // attempt to connect ends at once.
        match drop || host.readable(id) > 0 || !host.is_established(id) {
            true => host.abort(now, id),
            false => host.close(now, id),
        }
        self.orphans.push(id);
        Ok(())
    }

    /// A packet of the script.
    pub(crate) fn arrive(&mut self, packet: &[u8]) {
        if let Ok((host, now)) = self.host() {
            host.on_packet(now, packet);
        }
        self.settle();
    }

    /// Collects what has come of the last call.
    pub(crate) fn settle(&mut self) {
        let now = self.now;
        let Some((host, _)) = &mut self.host else { return };
        loop {
            while let Some(id) = host.accept() {
                if let Some((_, local, remote, _)) = host.subflows(id).first() {
                    self.sockets.queue(id, *local, *remote);
                }
            }
            for id in self.sockets.connections() {
                self.paths.look(now, host, id);
            }
            let mut scratch = [0; 4096];
            self.orphans.retain(|id| {
                while let Ok(Read::Bytes(_)) = host.read(now, *id, &mut scratch) {}
                !host.is_over(*id)
            });
            match host.poll(now) {
                Some(packet) => self.sent.push_back((now, packet)),
                None => return,
            }
        }
    }

    /// When something happens by itself.
    pub(crate) fn next(&self) -> Time {
        let host = self.host.as_ref().map_or(Time::NEVER, |(host, _)| host.next_deadline());
        host.min(self.alarm)
    }

    /// Goes to `to`, or to what happens before that; returns whether it is at `to`.
    pub(crate) fn step(&mut self, to: Time) -> bool {
        let next = self.next();
        if next > to {
            self.now = self.now.max(to);
            return true;
        }
        self.now = self.now.max(next);
        if self.alarm <= self.now {
            self.alarm = Time::NEVER; // who has set it looks at the time
        }
        let now = self.now;
        if let Some((host, _)) = &mut self.host
            && host.next_deadline() <= now
        {
            host.on_deadline(now);
            self.settle();
        }
        false
    }

    /// When the next look at the clock ends.
    pub(crate) fn after_look(&self) -> Time {
        self.now + LOOK
    }

    /// The next packet that has left, and when.
    pub(crate) fn take(&mut self) -> Option<(Time, Vec<u8>)> {
        self.sent.pop_front()
    }

    /// Whether a packet waits to be taken.
    pub(crate) fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }
}
