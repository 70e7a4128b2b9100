//! What a datagram shows of its packets without their keys (RFC 9000 §17).

/// The last packet of a datagram; the others, if there are some, are of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    /// Its type, by its name in qlog.
    pub(crate) kind: &'static str,
    /// Its bytes.
    pub(crate) bytes: usize,
}

/// The first bit of a long header (§17.2).
const LONG: u8 = 0x80;

/// The last packet of a datagram that a stack sent.
pub(crate) fn last_packet(datagram: &[u8]) -> Last {
    let mut rest = datagram;
    loop {
        let kind = kind(rest);
        match length(rest) {
            Some(length) if length < rest.len() => rest = &rest[length..],
            _ => return Last { kind, bytes: rest.len() },
        }
    }
}

/// Bytes of the authentication tag at the end of a packet (RFC 9001 §5.3).
const TAG: usize = 16;

/// Bytes of the frames of a packet with a short header, of `bytes` bytes with a connection ID of
/// `id` bytes. Its number is encoded in as few bytes as §17.1 and appendix A.2 permit, as the
/// stack does it; the header's protection hides how many these are.
pub(crate) fn frame_bytes(bytes: usize, id: usize, number: u64, largest_acked: u64) -> usize {
    let range = number.saturating_sub(largest_acked).saturating_mul(2);
    let encoded = (1..4).find(|bytes| range < 1 << (8 * bytes)).unwrap_or(4);
    bytes.saturating_sub(1 + id + encoded + TAG)
}

fn kind(packet: &[u8]) -> &'static str {
    match packet.first() {
        Some(first) if first & LONG == 0 => "1RTT",
        Some(first) => ["initial", "0RTT", "handshake", "retry"][usize::from(first >> 4 & 3)],
        None => "unknown",
    }
}

/// Bytes of a packet that says it: one with a long header (§17.2.2 to §17.2.4).
fn length(packet: &[u8]) -> Option<usize> {
    let kind = kind(packet);
    if !matches!(kind, "initial" | "0RTT" | "handshake") {
        return None;
    }
    let mut at = 5; // the first byte and the version
    for _ in 0..2 {
        at += 1 + usize::from(*packet.get(at)?); // a connection ID
    }
    if kind == "initial" {
        let (token, bytes) = number(packet.get(at..)?)?;
        at += bytes + token;
    }
    let (length, bytes) = number(packet.get(at..)?)?;
    Some(at + bytes + length)
}

/// A number of variable length (§16), and its own bytes.
fn number(from: &[u8]) -> Option<(usize, usize)> {
    let first = *from.first()?;
    let bytes = 1 << (first >> 6);
    let value = from
        .get(1..bytes)?
        .iter()
        .fold(u64::from(first & 0x3f), |value, next| value << 8 | u64::from(*next));
    // No datagram has more; a larger one would not be in it.
    Some((u16::try_from(value).ok()?.into(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet with a long header of `kind` and `length` bytes after its length.
    fn long(kind: u8, token: Option<&[u8]>, length: u16) -> Vec<u8> {
        let mut packet = vec![0xc0 | kind << 4, 0, 0, 0, 1, 2, 7, 7, 3, 9, 9, 9];
        if let Some(token) = token {
            packet.push(token.len() as u8);
            packet.extend(token);
        }
        packet.extend((0x4000 | length).to_be_bytes());
        packet.extend(vec![0; length.into()]);
        packet
    }

    #[test]
    fn a_packet_has_its_first_byte_its_id_its_number_and_a_tag_beside_its_frames() {
        assert_eq!(frame_bytes(1200, 8, 5, 3), 1200 - 1 - 8 - 1 - 16);
        // RFC 9000, appendix A.2: with 0xabe8b3 acknowledged.
        assert_eq!(frame_bytes(1200, 8, 0xac5c02, 0xabe8b3), 1200 - 1 - 8 - 2 - 16);
        assert_eq!(frame_bytes(1200, 8, 0xace8fe, 0xabe8b3), 1200 - 1 - 8 - 3 - 16);
        assert_eq!(frame_bytes(20, 8, 0, 0), 0);
    }

    #[test]
    fn packets_of_the_handshake_before_the_last_are_passed_over() {
        let (initial, handshake) = (long(0, Some(&[5; 9]), 40), long(2, None, 1000));
        let short = [0x41; 30];
        let alone = last_packet(&initial);
        assert_eq!(alone, Last { kind: "initial", bytes: initial.len() });
        let two = [&initial[..], &handshake].concat();
        assert_eq!(last_packet(&two), Last { kind: "handshake", bytes: handshake.len() });
        let three = [&two[..], &short].concat();
        assert_eq!(last_packet(&three), Last { kind: "1RTT", bytes: 30 });
        assert_eq!(last_packet(&short), Last { kind: "1RTT", bytes: 30 });
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_last_packet_within_them(bytes: Vec<u8>) {
            prop_assert!(last_packet(&bytes).bytes <= bytes.len());
        }
    }
}
