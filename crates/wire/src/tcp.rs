//! TCP options as values and as bytes (RFC 9293 §3.2, RFC 2018, RFC 7323).

use crate::mptcp::{self, Mptcp};

/// An option of the TCP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// Maximum segment size of its sender, in bytes.
    MaxSegment(u16),
    /// Window scale of its sender, in bits (RFC 7323 §2.2).
    WindowScale(u8),
    /// SACK is permitted (RFC 2018 §2).
    SackPermitted,
    /// Received blocks, as sequence numbers (RFC 2018 §3).
    Sack(Vec<(u32, u32)>),
    /// The sender's clock, and the echoed clock (RFC 7323 §3.2).
    Timestamps {
        /// TSval.
        value: u32,
        /// TSecr.
        echo: u32,
    },
    /// Multipath TCP.
    Mptcp(Mptcp),
    /// Another option, by its kind.
    Other(u8),
}

/// Most bytes of the options in a header (RFC 9293 §3.1: 60 bytes less 20).
pub const MAX_BYTES: usize = 40;

const END: u8 = 0;
const NOP: u8 = 1;
const MAX_SEGMENT: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

impl TcpOption {
    /// Offset within a word at which it begins if `next` follows, so that its numbers are aligned
    /// to words. The layouts of SYNs are those of Linux: some middleboxes have seen no other.
    fn place(&self, next: Option<&TcpOption>) -> usize {
        match (self, next) {
            (TcpOption::SackPermitted, Some(TcpOption::Timestamps { .. })) => 0,
            (TcpOption::Timestamps { .. } | TcpOption::Sack(_) | TcpOption::SackPermitted, _) => 2,
            (TcpOption::WindowScale(_), _) => 1,
            _ => 0,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            TcpOption::MaxSegment(bytes) => {
                out.extend([MAX_SEGMENT, 4]);
                out.extend(bytes.to_be_bytes());
            }
            TcpOption::WindowScale(shift) => out.extend([WINDOW_SCALE, 3, *shift]),
            TcpOption::SackPermitted => out.extend([SACK_PERMITTED, 2]),
            TcpOption::Sack(blocks) => {
                out.extend([SACK, 2 + 8 * blocks.len() as u8]);
                for (start, end) in blocks {
                    out.extend(start.to_be_bytes());
                    out.extend(end.to_be_bytes());
                }
            }
            TcpOption::Timestamps { value, echo } => {
                out.extend([TIMESTAMPS, 10]);
                out.extend(value.to_be_bytes());
                out.extend(echo.to_be_bytes());
            }
            TcpOption::Mptcp(option) => option.write(out),
            TcpOption::Other(kind) => out.extend([*kind, 2]),
        }
    }
}

/// Options in the format of a header, in whole words.
pub fn write(options: &[TcpOption]) -> Vec<u8> {
    let mut out = Vec::with_capacity(MAX_BYTES);
    for (at, option) in options.iter().enumerate() {
        let place = option.place(options.get(at + 1));
        while out.len() % 4 != place {
            out.push(NOP);
        }
        option.write(&mut out);
    }
    while !out.len().is_multiple_of(4) {
        out.push(NOP);
    }
    out
}

/// Bytes that `options` take in a header.
pub fn bytes(options: &[TcpOption]) -> usize {
    write(options).len()
}

/// The options of a header; `None` if they are malformed.
pub fn read(mut bytes: &[u8]) -> Option<Vec<TcpOption>> {
    let mut options = Vec::new();
    while let Some(&kind) = bytes.first() {
        match kind {
            END => break,
            NOP => bytes = &bytes[1..],
            _ => {
                let length = usize::from(*bytes.get(1)?);
                let content = bytes.get(2..length)?;
                options.push(read_one(kind, content)?);
                bytes = &bytes[length..];
            }
        }
    }
    Some(options)
}

fn read_one(kind: u8, content: &[u8]) -> Option<TcpOption> {
    let word =
        |at: usize| content.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
    Some(match (kind, content.len()) {
        (MAX_SEGMENT, 2) => TcpOption::MaxSegment(u16::from_be_bytes([content[0], content[1]])),
        (WINDOW_SCALE, 1) => TcpOption::WindowScale(content[0]),
        (SACK_PERMITTED, 0) => TcpOption::SackPermitted,
        (SACK, length) if length > 0 && length.is_multiple_of(8) => {
            let blocks = (0..length).step_by(8).map(|at| Some((word(at)?, word(at + 4)?)));
            TcpOption::Sack(blocks.collect::<Option<_>>()?)
        }
        (TIMESTAMPS, 8) => TcpOption::Timestamps { value: word(0)?, echo: word(4)? },
        (mptcp::KIND, _) => TcpOption::Mptcp(Mptcp::read(content)?),
        (MAX_SEGMENT | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return None,
        _ => TcpOption::Other(kind),
    })
}

#[cfg(test)]
mod tests;
