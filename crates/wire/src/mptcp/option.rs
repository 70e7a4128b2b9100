//! The MPTCP option (RFC 8684 §3; the differences of version 0, RFC 6824 §3, are read).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The mapping of payload to the connection's data (RFC 8684 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte; with 32 bits if not `wide`.
    pub data_sequence: u64,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// The same byte in the subflow, where the SYN is 0.
    pub subflow_sequence: u32,
    /// Bytes.
    pub length: u16,
    /// Checksum of data and mapping, if checksums were negotiated.
    pub checksum: Option<u16>,
}

/// The MPTCP option by its subtypes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mptcp {
    /// Opens a connection (§3.1). In version 1 the SYN has no key, the SYN/ACK the key of its
    /// sender, the third packet both keys, and the first data packet its length as well.
    Capable {
        /// Version of the protocol.
        version: u8,
        /// Bits A to H; H selects the hash, A requests checksums.
        flags: u8,
        /// Key of the sender of the option.
        sender: Option<u64>,
        /// Key of the receiver of the option.
        receiver: Option<u64>,
        /// Bytes of data in this packet.
        length: Option<u16>,
        /// Their checksum.
        checksum: Option<u16>,
    },
    /// Requests a subflow (§3.2), in a SYN.
    JoinRequest {
        /// Whether it is a backup.
        backup: bool,
        /// Identifier of the source address.
        address: u8,
        /// Token of the connection.
        token: u32,
        /// A random number.
        nonce: u32,
    },
    /// Grants the subflow, in a SYN/ACK.
    JoinGrant {
        /// Whether it is a backup.
        backup: bool,
        /// Identifier of the source address.
        address: u8,
        /// Proves knowledge of both keys.
        code: u64,
        /// A random number.
        nonce: u32,
    },
    /// The initiator's proof.
    JoinProof {
        /// The proof.
        code: [u8; 20],
    },
    /// Data sequence signal (§3.3).
    Data {
        /// Next byte of the connection expected, and whether it has 64 bits.
        ack: Option<(u64, bool)>,
        /// The mapping of the payload.
        mapping: Option<Mapping>,
        /// Whether the data ends here.
        fin: bool,
    },
    /// Announces an address (§3.4.1), or confirms an announcement.
    AddAddress {
        /// Whether it confirms.
        echo: bool,
        /// Identifier of the address.
        id: u8,
        /// The address.
        address: IpAddr,
        /// A port, if it differs from the subflow's.
        port: Option<u16>,
        /// Proves knowledge of both keys.
        code: Option<u64>,
    },
    /// Withdraws addresses (§3.4.2).
    RemoveAddress {
        /// Their identifiers.
        ids: Vec<u8>,
    },
    /// Changes the priority of the subflow (§3.3.8).
    Priority {
        /// Whether it is a backup from now on.
        backup: bool,
        /// Identifier of the address meant; in version 1 always that of the subflow itself.
        address: Option<u8>,
    },
    /// A checksum was wrong (§3.7).
    Fail {
        /// Data sequence number of the first byte that was not accepted.
        data_sequence: u64,
    },
    /// Closes the connection at once (§3.5).
    FastClose {
        /// Key of the receiver of the option.
        key: u64,
    },
    /// Why the subflow is reset (§3.6).
    Reset {
        /// Bits U, V, W and T; T says that the reason is transient.
        flags: u8,
        /// The reason, by its registered code.
        reason: u8,
    },
    /// Another subtype, kept unchanged: subtype and content.
    Other {
        /// Subtype.
        subtype: u8,
        /// The whole content, which begins with the nibble of the subtype.
        bytes: Vec<u8>,
    },
}

/// Kind of the option among TCP options.
pub(crate) const KIND: u8 = 30;

const CAPABLE: u8 = 0;
const JOIN: u8 = 1;
const DATA: u8 = 2;
const ADD_ADDRESS: u8 = 3;
const REMOVE_ADDRESS: u8 = 4;
const PRIORITY: u8 = 5;
const FAIL: u8 = 6;
const FAST_CLOSE: u8 = 7;
const RESET: u8 = 8;

impl Mptcp {
    /// Appends the option, kind and length included.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([KIND, 0]);
        self.write_content(out);
        out[start + 1] = (out.len() - start) as u8;
    }

    fn write_content(&self, out: &mut Vec<u8>) {
        match self {
            Mptcp::Capable { version, flags, sender, receiver, length, checksum } => {
                out.extend([CAPABLE << 4 | version, *flags]);
                for key in [sender, receiver].into_iter().flatten() {
                    out.extend(key.to_be_bytes());
                }
                for half in [length, checksum].into_iter().flatten() {
                    out.extend(half.to_be_bytes());
                }
            }
            Mptcp::JoinRequest { backup, address, token, nonce } => {
                out.extend([JOIN << 4 | u8::from(*backup), *address]);
                out.extend(token.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Mptcp::JoinGrant { backup, address, code, nonce } => {
                out.extend([JOIN << 4 | u8::from(*backup), *address]);
                out.extend(code.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Mptcp::JoinProof { code } => {
                out.extend([JOIN << 4, 0]);
                out.extend(code);
            }
            Mptcp::Data { ack, mapping, fin } => write_signal(out, *ack, mapping.as_ref(), *fin),
            Mptcp::AddAddress { echo, id, address, port, code } => {
                out.extend([ADD_ADDRESS << 4 | u8::from(*echo), *id]);
                match address {
                    IpAddr::V4(address) => out.extend(address.octets()),
                    IpAddr::V6(address) => out.extend(address.octets()),
                }
                out.extend(port.iter().flat_map(|port| port.to_be_bytes()));
                out.extend(code.iter().flat_map(|code| code.to_be_bytes()));
            }
            Mptcp::RemoveAddress { ids } => {
                out.push(REMOVE_ADDRESS << 4);
                out.extend(ids);
            }
            Mptcp::Priority { backup, address } => {
                out.push(PRIORITY << 4 | u8::from(*backup));
                out.extend(address);
            }
            Mptcp::Fail { data_sequence } => {
                out.extend([FAIL << 4, 0]);
                out.extend(data_sequence.to_be_bytes());
            }
            Mptcp::FastClose { key } => {
                out.extend([FAST_CLOSE << 4, 0]);
                out.extend(key.to_be_bytes());
            }
            Mptcp::Reset { flags, reason } => out.extend([RESET << 4 | flags, *reason]),
            Mptcp::Other { bytes, .. } => out.extend(bytes),
        }
    }

    /// Parses the content after kind and length; `None` if it is malformed.
    pub fn read(content: &[u8]) -> Option<Self> {
        let subtype = *content.first()? >> 4;
        match subtype {
            CAPABLE => read_capable(content),
            JOIN => read_join(content),
            DATA => read_signal(content),
            ADD_ADDRESS => read_address(content),
            REMOVE_ADDRESS => Some(Mptcp::RemoveAddress { ids: content[1..].to_vec() }),
            PRIORITY | FAIL | FAST_CLOSE | RESET => read_rare(subtype, content),
            _ => Some(Mptcp::Other { subtype, bytes: content.to_vec() }),
        }
    }
}

/// Reads numbers from the front of an option.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn number(&mut self, wide: bool) -> Option<u64> {
        if wide { self.u64() } else { self.u32().map(u64::from) }
    }

    /// `value` if no bytes are left.
    fn done<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

/// Bits of a data sequence signal.
mod bit {
    pub(super) const ACK: u8 = 1;
    pub(super) const ACK_WIDE: u8 = 2;
    pub(super) const MAPPING: u8 = 4;
    pub(super) const MAPPING_WIDE: u8 = 8;
    pub(super) const FIN: u8 = 16;
}

fn write_number(out: &mut Vec<u8>, value: u64, wide: bool) {
    match wide {
        true => out.extend(value.to_be_bytes()),
        false => out.extend((value as u32).to_be_bytes()),
    }
}

fn write_signal(out: &mut Vec<u8>, ack: Option<(u64, bool)>, mapping: Option<&Mapping>, fin: bool) {
    let mut flags = if fin { bit::FIN } else { 0 };
    if let Some((_, wide)) = ack {
        flags |= if wide { bit::ACK | bit::ACK_WIDE } else { bit::ACK };
    }
    if let Some(mapping) = mapping {
        flags |= if mapping.wide { bit::MAPPING | bit::MAPPING_WIDE } else { bit::MAPPING };
    }
    out.extend([DATA << 4, flags]);
    if let Some((value, wide)) = ack {
        write_number(out, value, wide);
    }
    if let Some(mapping) = mapping {
        write_number(out, mapping.data_sequence, mapping.wide);
        out.extend(mapping.subflow_sequence.to_be_bytes());
        out.extend(mapping.length.to_be_bytes());
        out.extend(mapping.checksum.iter().flat_map(|sum| sum.to_be_bytes()));
    }
}

fn read_signal(content: &[u8]) -> Option<Mptcp> {
    let mut cursor = Cursor(&content[1..]);
    let flags = cursor.u8()?;
    let has = |bit: u8| flags & bit != 0;
    let ack = match has(bit::ACK) {
        true => Some((cursor.number(has(bit::ACK_WIDE))?, has(bit::ACK_WIDE))),
        false => None,
    };
    let mapping = match has(bit::MAPPING) {
        true => Some(Mapping {
            data_sequence: cursor.number(has(bit::MAPPING_WIDE))?,
            wide: has(bit::MAPPING_WIDE),
            subflow_sequence: cursor.u32()?,
            length: cursor.u16()?,
            checksum: cursor.u16(),
        }),
        false => None,
    };
    cursor.done(Mptcp::Data { ack, mapping, fin: has(bit::FIN) })
}

fn read_capable(content: &[u8]) -> Option<Mptcp> {
    let mut cursor = Cursor(&content[1..]);
    let flags = cursor.u8()?;
    let (sender, receiver) = (cursor.u64(), cursor.u64());
    let (length, checksum) = (cursor.u16(), cursor.u16());
    let version = content[0] & 15;
    cursor.done(Mptcp::Capable { version, flags, sender, receiver, length, checksum })
}

fn read_join(content: &[u8]) -> Option<Mptcp> {
    let mut cursor = Cursor(&content[1..]);
    let (backup, address) = (content[0] & 1 == 1, cursor.u8()?);
    match content.len() {
        10 => {
            let (token, nonce) = (cursor.u32()?, cursor.u32()?);
            Some(Mptcp::JoinRequest { backup, address, token, nonce })
        }
        14 => {
            let (code, nonce) = (cursor.u64()?, cursor.u32()?);
            Some(Mptcp::JoinGrant { backup, address, code, nonce })
        }
        22 => Some(Mptcp::JoinProof { code: cursor.array()? }),
        _ => None,
    }
}

/// The options of few packets, which have a fixed form.
fn read_rare(subtype: u8, content: &[u8]) -> Option<Mptcp> {
    let nibble = content[0] & 15;
    let mut cursor = Cursor(&content[1..]);
    let option = match subtype {
        PRIORITY => Mptcp::Priority { backup: nibble & 1 == 1, address: cursor.u8() },
        RESET => Mptcp::Reset { flags: nibble, reason: cursor.u8()? },
        _ => {
            cursor.u8()?; // reserved
            let number = cursor.u64()?;
            match subtype {
                FAIL => Mptcp::Fail { data_sequence: number },
                _ => Mptcp::FastClose { key: number },
            }
        }
    };
    cursor.done(option)
}

/// ADD_ADDR of both versions of MPTCP. The nibble after the subtype is the echo flag in version 1
/// (RFC 8684 §3.4.1), and the version of IP in version 0 (RFC 6824 §3.4.1).
fn read_address(content: &[u8]) -> Option<Mptcp> {
    let mut cursor = Cursor(&content[1..]);
    let (nibble, id) = (content[0] & 15, cursor.u8()?);
    let address = match cursor.0.len() {
        4 | 6 | 12 | 14 => IpAddr::V4(Ipv4Addr::from(cursor.array::<4>()?)),
        16 | 18 | 24 | 26 => IpAddr::V6(Ipv6Addr::from(cursor.array::<16>()?)),
        _ => return None,
    };
    let port = if matches!(cursor.0.len(), 2 | 10) { cursor.u16() } else { None };
    let code = cursor.u64();
    cursor.done(Mptcp::AddAddress { echo: nibble == 1, id, address, port, code })
}
