//! Writes pcapng for tshark and Wireshark (draft-ietf-opsawg-pcapng). Little-endian, times in
//! nanoseconds, packets without a link layer.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use units::Time;

/// Largest packet in the file, as declared in it.
const SNAP_LENGTH: u32 = 262_144;

/// Link type of packets that begin with an IP header.
const LINK_TYPE_RAW: u16 = 101;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;

/// A file being written.
pub struct Writer<W: Write> {
    out: W,
}

/// An option of a block: its code, and its value padded to whole words.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

impl<W: Write> Writer<W> {
    /// Begins a file written by `application`; `comment` describes its content.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written; the same holds for all other writes.
    pub fn new(out: W, application: &str, comment: &str) -> io::Result<Self> {
        let mut writer = Writer { out };
        let mut body = Vec::new();
        body.extend(0x1a2b_3c4du32.to_le_bytes());
        body.extend(1u16.to_le_bytes()); // version 1.0
        body.extend(0u16.to_le_bytes());
        body.extend(u64::MAX.to_le_bytes()); // section length not given
        option(&mut body, 1, comment.as_bytes());
        option(&mut body, 4, application.as_bytes());
        option(&mut body, 0, &[]);
        writer.block(SECTION, &body)?;
        Ok(writer)
    }

    /// Describes the next interface; packets refer to it by its number, from 0 on.
    pub fn interface(&mut self, name: &str, description: &str) -> io::Result<()> {
        let mut body = Vec::new();
        body.extend(LINK_TYPE_RAW.to_le_bytes());
        body.extend(0u16.to_le_bytes());
        body.extend(SNAP_LENGTH.to_le_bytes());
        option(&mut body, 2, name.as_bytes());
        option(&mut body, 3, description.as_bytes());
        option(&mut body, 9, &[9]); // nanoseconds
        option(&mut body, 0, &[]);
        self.block(INTERFACE, &body)
    }

    /// Writes the names of addresses.
    pub fn names(&mut self, names: &[(Ipv4Addr, String)]) -> io::Result<()> {
        let mut body = Vec::new();
        for (address, name) in names {
            option(&mut body, 1, &[&address.octets(), name.as_bytes(), &[0]].concat());
        }
        option(&mut body, 0, &[]);
        self.block(NAMES, &body)
    }

    /// Writes a packet of `interface`, at most its first `keep` bytes.
    pub fn packet(
        &mut self,
        interface: u32,
        at: Time,
        packet: &[u8],
        keep: usize,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let kept = &packet[..packet.len().min(keep)];
        let mut body = Vec::with_capacity(kept.len() + 32);
        body.extend(interface.to_le_bytes());
        body.extend(((at.0 >> 32) as u32).to_le_bytes());
        body.extend((at.0 as u32).to_le_bytes());
        body.extend((kept.len() as u32).to_le_bytes());
        body.extend((packet.len() as u32).to_le_bytes());
        body.extend(kept);
        pad(&mut body);
        if let Some(comment) = comment {
            option(&mut body, 1, comment.as_bytes());
            option(&mut body, 0, &[]);
        }
        self.block(PACKET, &body)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(body)?;
        self.out.write_all(&length)
    }

    /// Ends the file: writes buffered data.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
