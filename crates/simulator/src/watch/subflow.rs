//! The headers of one subflow, with numbers in the formats of TCP and MPTCP.

use network::Rng;
use std::net::Ipv4Addr;
use units::Time;
use wire::mptcp::{Keys, Mapping, Mptcp, initial_data_sequence, token};
use wire::packet::{Ecn, Endpoint, TcpSegment};
use wire::tcp::{MAX_BYTES, TcpOption, bytes};
use wire::{Ack, Data, Flags};

/// Settings shared by all subflows of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Keys, if it speaks MPTCP.
    pub(super) keys: Option<Keys>,
    /// Bytes of payload of a full segment.
    pub(super) payload: u32,
    /// Window scale in bits.
    pub(super) scale: u8,
    pub(super) sack: bool,
    pub(super) ecn: bool,
}

/// A subflow: its addresses, and the start of its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subflow {
    pub(super) here: Endpoint,
    pub(super) there: Endpoint,
    /// Sequence numbers of the two SYNs.
    isn: [u32; 2],
    nonces: [u32; 2],
    /// The path's number of the subflow's first byte.
    base: u64,
    /// Identifies the sender's address.
    pub(super) id: u8,
    pub(super) backup: bool,
}

/// 32 random bits.
pub(super) fn word(rng: &mut impl Rng) -> u32 {
    (rng.uniform() * 4_294_967_296.0) as u32
}

/// A host's clock in milliseconds, which never shows zero (RFC 7323 §3.2: zero is "no echo").
fn clock(at: Time) -> u32 {
    ((at.0 / 1_000_000) as u32).wrapping_add(1).max(1)
}

/// A packet that a host sends.
pub(super) struct Sent<'a> {
    /// When it is sent.
    pub(super) at: Time,
    /// The echoed time stamp of the other clock; 0 for none.
    pub(super) echo: u32,
    /// Number of the packet at its sender.
    pub(super) count: u16,
    pub(super) terms: &'a Terms,
}

impl Subflow {
    pub(super) fn new(here: Endpoint, there: Endpoint, id: u8, rng: &mut impl Rng) -> Self {
        let isn = [word(rng), word(rng)];
        let nonces = [word(rng), word(rng)];
        Subflow { here, there, isn, nonces, base: 0, id, backup: false }
    }

    /// The next subflow over the same path, with `base` as its first byte.
    pub(super) fn again(&mut self, base: u64) {
        self.here.port = self.here.port.wrapping_add(1).max(1024);
        self.isn = self.isn.map(|isn| isn.wrapping_add(0x0010_0000));
        self.nonces = self.nonces.map(|nonce| nonce.wrapping_add(0x9e37_79b9));
        self.base = base;
    }

    /// The path's number of the subflow's first byte.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    fn seq(&self, seq: u64) -> u32 {
        self.isn[0].wrapping_add(1).wrapping_add(seq.wrapping_sub(self.base) as u32)
    }

    /// A packet from the sender of data.
    fn forth(&self, sent: &Sent<'_>, seq: u32, options: Vec<TcpOption>) -> TcpSegment {
        TcpSegment {
            from: self.here,
            to: self.there,
            id: sent.count,
            ecn: Ecn::None,
            seq,
            ack: Some(self.isn[1].wrapping_add(1)),
            syn: false,
            fin: false,
            reset: false,
            echo: false,
            reduced: false,
            window: 512, // only ACKs come back
            options: [
                vec![TcpOption::Timestamps { value: clock(sent.at), echo: sent.echo }],
                options,
            ]
            .concat(),
        }
    }

    /// A packet from the receiver of data.
    fn back(&self, sent: &Sent<'_>, ack: u32, options: Vec<TcpOption>) -> TcpSegment {
        let forth = self.forth(sent, self.isn[1].wrapping_add(1), options);
        TcpSegment { from: self.there, to: self.here, ack: Some(ack), ..forth }
    }

    /// The options of both SYNs, without MPTCP's.
    fn greeting(sent: &Sent<'_>, option: Option<Mptcp>) -> Vec<TcpOption> {
        // RFC 6691: options are not subtracted
        let most = (sent.terms.payload + 12).min(65_495) as u16;
        let mut options = vec![TcpOption::MaxSegment(most)];
        if sent.terms.sack {
            options.push(TcpOption::SackPermitted);
        }
        options.push(TcpOption::Timestamps { value: clock(sent.at), echo: sent.echo });
        options.push(TcpOption::WindowScale(sent.terms.scale));
        options.extend(option.map(TcpOption::Mptcp));
        options
    }

    /// The request of the connection, or of a join.
    pub(super) fn request(&self, sent: &Sent<'_>, join: bool) -> TcpSegment {
        let option = sent.terms.keys.map(|keys| match join {
            false => capable(None, None, None),
            true => Mptcp::JoinRequest {
                backup: self.backup,
                address: self.id,
                token: token(keys.hash, keys.responder),
                nonce: self.nonces[0],
            },
        });
        let options = Subflow::greeting(sent, option);
        let (syn, echo, reduced) = (true, sent.terms.ecn, sent.terms.ecn); // RFC 3168 §6.1.1
        let plain = self.forth(sent, self.isn[0], Vec::new());
        TcpSegment { syn, echo, reduced, ack: None, window: u16::MAX, options, ..plain }
    }

    /// The answer to the request.
    pub(super) fn grant(&self, sent: &Sent<'_>, join: bool) -> TcpSegment {
        let option = sent.terms.keys.map(|keys| match join {
            false => capable(Some(keys.responder), None, None),
            true => Mptcp::JoinGrant {
                backup: self.backup,
                address: 0,
                code: keys.responder_code(self.nonces[0], self.nonces[1]),
                nonce: self.nonces[1],
            },
        });
        let options = Subflow::greeting(sent, option);
        let plain = self.back(sent, self.isn[0].wrapping_add(1), Vec::new());
        let (seq, window) = (self.isn[1], u16::MAX);
        TcpSegment { syn: true, echo: sent.terms.ecn, seq, window, options, ..plain }
    }

    /// The end of the handshake of a connection, or the proof of a join.
    pub(super) fn confirm(&self, sent: &Sent<'_>, join: bool) -> TcpSegment {
        let option = sent.terms.keys.map(|keys| match join {
            false => capable(Some(keys.initiator), Some(keys.responder), None),
            true => Mptcp::JoinProof { code: keys.initiator_code(self.nonces[0], self.nonces[1]) },
        });
        let options = option.map(TcpOption::Mptcp).into_iter().collect();
        self.forth(sent, self.isn[0].wrapping_add(1), options)
    }

    /// A data segment; the first one of a connection repeats its keys (RFC 8684 §3.1).
    pub(super) fn data(&self, sent: &Sent<'_>, data: &Data, initial: bool) -> TcpSegment {
        let option = sent.terms.keys.map(|keys| match initial && data.seq == self.base {
            true => capable(Some(keys.initiator), Some(keys.responder), Some(data.len as u16)),
            false => {
                let mapping = Mapping {
                    data_sequence: first_byte(&keys, keys.initiator).wrapping_add(data.dsn),
                    wide: true,
                    subflow_sequence: (data.seq.wrapping_sub(self.base) as u32).wrapping_add(1),
                    length: data.len as u16,
                    checksum: None,
                };
                let ack = Some((first_byte(&keys, keys.responder), false));
                Mptcp::Data { ack, mapping: Some(mapping), fin: false }
            }
        });
        let options = option.map(TcpOption::Mptcp).into_iter().collect();
        let ecn = if data.flags.has(Flags::CAPABLE) { Ecn::Capable } else { Ecn::None };
        let reduced = data.flags.has(Flags::REDUCED);
        TcpSegment { ecn, reduced, ..self.forth(sent, self.seq(data.seq), options) }
    }

    /// A packet without data that announces or withdraws an address of the sender.
    pub(super) fn notice(&self, sent: &Sent<'_>, next: u64, option: Mptcp) -> TcpSegment {
        let mut options = Vec::new();
        if let Some(keys) = &sent.terms.keys {
            let ack = Some((first_byte(keys, keys.responder), false));
            options.push(TcpOption::Mptcp(Mptcp::Data { ack, mapping: None, fin: false }));
        }
        options.push(TcpOption::Mptcp(option));
        self.forth(sent, self.seq(next), options)
    }

    /// An acknowledgement, with as many SACK blocks as fit, and a confirmation of an address if it
    /// fits.
    pub(super) fn ack(
        &self,
        sent: &Sent<'_>,
        ack: &Ack,
        heard: Option<Ipv4Addr>,
        id: u8,
    ) -> TcpSegment {
        let timestamps = TcpOption::Timestamps { value: clock(sent.at), echo: sent.echo };
        let mut options = vec![timestamps];
        if let Some(keys) = &sent.terms.keys {
            let data_ack = first_byte(keys, keys.initiator).wrapping_add(ack.data_ack);
            let signal = Mptcp::Data { ack: Some((data_ack, false)), mapping: None, fin: false };
            options.push(TcpOption::Mptcp(signal));
        }
        if let Some(address) = heard {
            let (address, port, code) = (address.into(), None, None);
            options.push(TcpOption::Mptcp(Mptcp::AddAddress {
                echo: true,
                id,
                address,
                port,
                code,
            }));
        }
        let blocks = ack.sacks.blocks().iter().map(|b| (self.seq(b.start), self.seq(b.end)));
        let room = MAX_BYTES - bytes(&options);
        let blocks: Vec<_> = blocks.take(room.saturating_sub(4) / 8).collect();
        if !blocks.is_empty() {
            options.insert(1, TcpOption::Sack(blocks));
        }
        let window = (ack.window_edge - ack.data_ack) >> sent.terms.scale;
        let (window, echo) = (window.min(65_535) as u16, ack.flags.has(Flags::ECHO));
        TcpSegment { window, echo, options, ..self.back(sent, self.seq(ack.ack), Vec::new()) }
    }

    /// The sender's clock when it sent the packet that `ack` answers.
    pub(super) fn echo(ack: &Ack) -> u32 {
        clock(ack.echo)
    }

    /// The time on a host's clock.
    pub(super) fn clock(at: Time) -> u32 {
        clock(at)
    }
}

/// The data sequence number of the first byte of the host with `key`.
fn first_byte(keys: &Keys, key: u64) -> u64 {
    initial_data_sequence(keys.hash, key).wrapping_add(1)
}

/// MP_CAPABLE of version 1 with SHA-256 (bit H) and without checksums.
fn capable(sender: Option<u64>, receiver: Option<u64>, length: Option<u16>) -> Mptcp {
    Mptcp::Capable { version: 1, flags: 1, sender, receiver, length, checksum: None }
}
