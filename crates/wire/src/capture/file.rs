//! Reads the packets of a capture file: pcapng, and pcap of both byte orders and precisions.

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, NameRecord, NameRecordType, PcapBlockOwned, PcapError, create_reader};
use std::fmt;
use std::io::Read;
use std::net::IpAddr;
use units::Time;

/// Bytes of a file that are buffered; no packet may be larger.
const WINDOW: usize = 1 << 21;

/// A packet of a file.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// When it was captured, since the epoch of the capture.
    pub at: Time,
    /// Type of its first header (LINKTYPE_… of tcpdump.org).
    pub link: i32,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Its original length.
    pub length: u32,
}

/// The place at which a file broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Packets that were read before.
    pub packets: u64,
    /// Bytes of the file that were read before.
    pub offset: u64,
    /// The error there.
    pub why: &'static str,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { packets, offset, why } = self;
        let noun = if *packets == 1 { "packet" } else { "packets" };
        write!(f, "{why} at byte {offset}, after {packets} {noun}")
    }
}

/// The error when nothing was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file begins neither as pcapng nor as pcap.
    NotACapture,
    /// It could not be read.
    Unreadable,
}

/// Times of an interface: ticks in a second.
#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    ticks: u64,
    offset_s: i64,
}

impl Interface {
    fn time(&self, ticks: u64) -> Time {
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks.max(1));
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        let at = (ns as i128).saturating_add(offset).clamp(0, i128::from(u64::MAX - 1));
        Time(at as u64)
    }
}

/// Ticks in a second: a power of ten or, with the highest bit, of two.
fn ticks(resolution: u8) -> Option<u64> {
    let exponent = u32::from(resolution & 0x7f);
    match resolution & 0x80 {
        0 => 10_u64.checked_pow(exponent),
        _ => 1_u64.checked_shl(exponent),
    }
}

/// Passes every packet to `visit`, and every address with a name in the file to `name`; returns
/// where the file broke off, if it did.
///
/// # Errors
///
/// If the file is not a capture, or its beginning cannot be read.
pub fn packets(
    input: impl Read + Send,
    mut visit: impl FnMut(&Packet<'_>),
    mut name: impl FnMut(IpAddr, String),
) -> Result<Option<Broken>, Error> {
    let mut reader = create_reader(WINDOW, input).map_err(|error| match error {
        PcapError::ReadError => Error::Unreadable,
        _ => Error::NotACapture,
    })?;
    let (mut interfaces, mut count) = (Vec::new(), 0);
    loop {
        let why = match reader.next() {
            Ok((bytes, block)) => {
                if let PcapBlockOwned::NG(Block::NameResolution(names)) = &block {
                    names.nr.iter().filter_map(named).for_each(|(who, what)| name(who, what));
                }
                match look(&block, &mut interfaces, &mut visit) {
                    Ok(seen) => count += u64::from(seen),
                    Err(why) => {
                        let offset = reader.consumed() as u64;
                        return Ok(Some(Broken { packets: count, offset, why }));
                    }
                }
                reader.consume(bytes);
                continue;
            }
            Err(PcapError::Eof) => return Ok(None),
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() {
                    return Err(Error::Unreadable);
                }
                continue;
            }
            Err(PcapError::UnexpectedEof) => "the file ends in the middle of a packet",
            Err(PcapError::BufferTooSmall) => "a packet is longer than any can be",
            Err(PcapError::ReadError) => return Err(Error::Unreadable),
            Err(_) => "what follows is not a packet",
        };
        return Ok(Some(Broken { packets: count, offset: reader.consumed() as u64, why }));
    }
}

/// The address of a name record and its first name, without control characters.
fn named(record: &NameRecord<'_>) -> Option<(IpAddr, String)> {
    let length = match record.record_type {
        NameRecordType::Ipv4 => 4,
        NameRecordType::Ipv6 => 16,
        _ => return None,
    };
    let (address, names) = record.record_value.split_at_checked(length)?;
    let address = match <[u8; 4]>::try_from(address) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(address).ok()?),
    };
    let first = names.split(|&byte| byte == 0).next()?;
    let text: String = String::from_utf8_lossy(first).chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some((address, text))
}

/// Handles one block; returns whether it was a packet.
fn look(
    block: &PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
    visit: &mut impl FnMut(&Packet<'_>),
) -> Result<bool, &'static str> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let ticks = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            interfaces.push(Interface { link: header.network.0, ticks, offset_s: 0 });
        }
        PcapBlockOwned::Legacy(packet) => {
            let interface = interfaces.first().ok_or("a packet stands before the header")?;
            let ticks = u64::from(packet.ts_sec) * interface.ticks + u64::from(packet.ts_usec);
            let at = interface.time(ticks);
            let (link, length) = (interface.link, packet.origlen);
            visit(&Packet { at, link, bytes: packet.data, length });
            return Ok(true);
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
        PcapBlockOwned::NG(Block::InterfaceDescription(described)) => {
            let ticks = ticks(described.if_tsresol).ok_or("the unit of times is not known")?;
            let (link, offset_s) = (described.linktype.0, described.ts_offset());
            interfaces.push(Interface { link, ticks, offset_s });
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let interface = interfaces
                .get(packet.if_id as usize)
                .ok_or("a packet is of an interface that is not described")?;
            let at = interface.time(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low));
            let (bytes, length) = (packet.packet_data(), packet.origlen);
            visit(&Packet { at, link: interface.link, bytes, length });
            return Ok(true);
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => return Err("a packet has no time"),
        PcapBlockOwned::NG(_) => {}
    }
    Ok(false)
}
