//! Two hosts and two links between them, in virtual time.
#![allow(dead_code, reason = "each test file uses a part")]

use host::{Failure, Host, Id, Read, Settings, Unready};
use rand_core::Rng;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use units::{Span, Time};
use wire::packet::{Endpoint, Received};
use wire::tcp::TcpOption;

const fn end(net: u8, host: u8, port: u16) -> Endpoint {
    Endpoint { address: Ipv4Addr::new(10, 0, net, host), port }
}

/// The server's address on each link.
pub(crate) const SERVER: [Endpoint; 2] = [end(0, 2, 80), end(1, 2, 80)];

/// What a middlebox does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Removes MPTCP's option from SYNs.
    StripSyn,
    /// Removes it from all packets but SYNs.
    StripData,
    /// Changes a byte of data, and corrects the checksum of TCP.
    Rewrite,
}

/// Two hosts: 0 is the client, 1 the server.
pub(crate) struct Pair {
    pub(crate) hosts: [Host; 2],
    pub(crate) now: Time,
    /// Links that carry nothing.
    pub(crate) dead: [bool; 2],
    pub(crate) fault: Fault,
    /// Packets that the hosts get besides.
    pub(crate) strangers: Vec<Vec<u8>>,
    /// Resets that were carried.
    pub(crate) resets: u32,
    under_way: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    count: u64,
    port: u16,
    chance: Pcg64,
    odds: [u64; 3],
}

impl Pair {
    pub(crate) fn new(change: impl Fn(&mut Settings)) -> Self {
        let mut settings = Settings::new("lia".parse().expect("a name"));
        change(&mut settings);
        let host = |seed: u128| {
            let mut random = Pcg64::new(seed, 7);
            Host::new(settings.clone(), move || random.next_u64()).expect("settings in range")
        };
        let mut hosts = [host(1), host(2)];
        hosts[1].listen(80);
        Pair {
            hosts,
            now: Time::ZERO,
            dead: [false; 2],
            fault: Fault::None,
            strangers: Vec::new(),
            resets: 0,
            under_way: BTreeMap::new(),
            count: 0,
            port: 1024,
            chance: Pcg64::new(5, 5),
            odds: [0; 3],
        }
    }

    /// Percentages of packets lost, delayed beyond later ones, and copied.
    pub(crate) fn trouble(&mut self, seed: u64, loss: u64, reorder: u64, copies: u64) {
        self.chance = Pcg64::new(seed.into(), 3);
        self.odds = [loss, reorder, copies];
    }

    fn happens(&mut self, which: usize) -> bool {
        self.chance.next_u64() % 100 < self.odds[which]
    }

    pub(crate) fn connect(&mut self, server: Endpoint) -> Id {
        self.port = self.port.wrapping_add(1).max(1024);
        let ends = (end(0, 1, self.port), server);
        let id = self.hosts[0].connect(self.now, ends.0, ends.1).expect("a free port");
        self.collect();
        id
    }

    /// A connection over link 0, and its two ends.
    pub(crate) fn connected(&mut self) -> (Id, Id) {
        let client = self.connect(SERVER[0]);
        loop {
            if let Some(server) = self.hosts[1].accept() {
                return (client, server);
            }
            // The server may have to see data before it knows that its SYN/ACK has arrived.
            self.step();
            assert!(self.now < Time::ZERO + Span::millis(1_000_000_000), "it is never accepted");
        }
    }

    /// A further subflow over `link`.
    pub(crate) fn join(&mut self, id: Id, link: usize) -> Result<usize, Unready> {
        self.port += 1;
        let ends = (end(link as u8, 1, self.port), SERVER[link]);
        let joined = self.hosts[0].join(self.now, id, ends, [link as u8, link as u8], false);
        self.collect();
        joined
    }

    pub(crate) fn write(&mut self, host: usize, id: Id, bytes: &[u8]) -> usize {
        let taken = self.hosts[host].write(self.now, id, bytes);
        self.collect();
        taken
    }

    pub(crate) fn close(&mut self, host: usize, id: Id) {
        self.hosts[host].close(self.now, id);
        self.collect();
    }

    pub(crate) fn abort(&mut self, host: usize, id: Id) {
        self.hosts[host].abort(self.now, id);
        self.collect();
    }

    /// Reads all that is there.
    pub(crate) fn drain(
        &mut self,
        host: usize,
        id: Id,
        out: &mut Vec<u8>,
    ) -> Result<Read, Failure> {
        let mut buffer = [0; 4096];
        loop {
            match self.hosts[host].read(self.now, id, &mut buffer)? {
                Read::Bytes(count) => out.extend(&buffer[..count]),
                other => {
                    self.collect();
                    return Ok(other);
                }
            }
        }
    }

    /// Carries what the hosts send: 10 ms on link 0, 15 ms on link 1.
    fn collect(&mut self) {
        for from in 0..2 {
            while let Some(packet) = self.hosts[from].poll(self.now) {
                self.carry(1 - from, packet);
            }
        }
    }

    fn carry(&mut self, to: usize, packet: Vec<u8>) {
        let link = usize::from(packet[14]);
        let packet = self.meddle(packet);
        self.resets += u32::from(packet[33] & 4 != 0);
        if self.dead[link] || self.happens(0) {
            return;
        }
        let copies = 1 + u64::from(self.happens(2));
        for _ in 0..copies {
            let late = if self.happens(1) {
                Span::millis(self.chance.next_u64() % 30)
            } else {
                Span::ZERO
            };
            let delay = Span::millis(10 + 5 * link as u64) + late;
            self.count += 1;
            self.under_way.insert((self.now + delay, self.count), (to, packet.clone()));
        }
    }

    fn meddle(&mut self, packet: Vec<u8>) -> Vec<u8> {
        let Received { mut segment, payload } =
            Received::read(&packet).expect("packets are intact");
        let strip = match self.fault {
            Fault::None => return packet,
            Fault::StripSyn => segment.syn,
            Fault::StripData => !segment.syn,
            Fault::Rewrite => false,
        };
        if strip {
            segment.options.retain(|option| !matches!(option, TcpOption::Mptcp(_)));
        }
        let mut payload = payload.to_vec();
        if self.fault == Fault::Rewrite {
            payload.iter_mut().take(1).for_each(|byte| *byte ^= 1);
        }
        segment.encode(&payload)
    }

    /// Goes to the next event.
    pub(crate) fn step(&mut self) {
        let arrival = self.under_way.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let deadlines = [0, 1].map(|host| self.hosts[host].next_deadline());
        let next = arrival.min(deadlines[0]).min(deadlines[1]);
        let limit = self.now + Span::millis(1_000);
        self.now = self.now.max(next.min(limit));
        if let Some(packet) = self.strangers.pop() {
            self.hosts[0].on_packet(self.now, &packet);
            self.hosts[1].on_packet(self.now, &packet);
        }
        for (host, deadline) in self.hosts.iter_mut().zip(deadlines) {
            if deadline <= self.now {
                host.on_deadline(self.now);
            }
        }
        if arrival <= self.now
            && let Some((_, (to, packet))) = self.under_way.pop_first()
        {
            self.hosts[to].on_packet(self.now, &packet);
        }
        self.collect();
    }

    pub(crate) fn run(&mut self, time: Span) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }
}
