//! One host and packets made by hand: what it answers, as the RFCs have it.

use host::{Failure, Host, Id, Settings};
use rand_core::Rng;
use rand_pcg::Pcg64;
use std::net::Ipv4Addr;
use units::{Bytes, Span, Time};
use wire::mptcp::{Hash, Keys, Mapping, Mptcp, initial_data_sequence, token};
use wire::packet::{Ecn, Endpoint, Received, TcpSegment};
use wire::tcp::TcpOption;

const HOST: Endpoint = Endpoint { address: Ipv4Addr::new(10, 0, 0, 2), port: 80 };
const OTHER: Endpoint = Endpoint { address: Ipv4Addr::new(10, 0, 1, 2), port: 80 };
const PEER: Endpoint = Endpoint { address: Ipv4Addr::new(10, 0, 0, 1), port: 5000 };

/// The peer's key, and its flag of HMAC-SHA256.
const KEY: u64 = 2;
const SHA256: u8 = 1;

/// A packet that the host has sent, and its bytes.
#[derive(Clone, Debug)]
struct Sent {
    segment: TcpSegment,
    payload: Vec<u8>,
    push: bool,
}

impl Sent {
    fn mptcp(&self) -> Vec<Mptcp> {
        let options = self.segment.options.iter().filter_map(|option| match option {
            TcpOption::Mptcp(option) => Some(option.clone()),
            _ => None,
        });
        options.collect()
    }

    /// The acknowledgement of data, and whether it has 64 bits.
    fn data_ack(&self) -> Option<(u64, bool)> {
        self.mptcp().into_iter().find_map(|option| match option {
            Mptcp::Data { ack, .. } => ack,
            _ => None,
        })
    }
}

/// The test's end of the wire.
struct Wire {
    host: Host,
    now: Time,
}

impl Wire {
    fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::new("lia".parse().expect("a name"));
        change(&mut settings);
        let mut random = Pcg64::new(7, 7);
        let mut host = Host::new(settings, move || random.next_u64()).expect("settings in range");
        host.listen(HOST.port);
        Wire { host, now: Time::ZERO + Span::millis(10_000) }
    }

    /// What the host sends in the next `milliseconds`.
    fn after(&mut self, milliseconds: u64) -> Vec<Sent> {
        let until = self.now + Span::millis(milliseconds);
        let mut sent = self.collect();
        while self.host.next_deadline() <= until {
            self.now = self.now.max(self.host.next_deadline());
            self.host.on_deadline(self.now);
            sent.extend(self.collect());
        }
        self.now = until;
        sent
    }

    fn collect(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some(packet) = self.host.poll(self.now) {
            let Received { segment, payload } = Received::read(&packet).expect("an intact packet");
            sent.push(Sent { segment, payload: payload.to_vec(), push: packet[33] & 8 != 0 });
        }
        sent
    }

    fn send(&mut self, segment: &TcpSegment, payload: &[u8]) -> Vec<Sent> {
        self.host.on_packet(self.now, &segment.encode(payload));
        self.collect()
    }
}

fn capable(version: u8, flags: u8, keys: [Option<u64>; 2]) -> TcpOption {
    let [sender, receiver] = keys;
    let (length, checksum) = (None, None);
    TcpOption::Mptcp(Mptcp::Capable { version, flags, sender, receiver, length, checksum })
}

fn mapped(dsn: u64, wide: bool, subflow_sequence: u32, length: u16, fin: bool) -> TcpOption {
    let data_sequence = if wide { dsn } else { dsn & 0xffff_ffff };
    let mapping = Mapping { data_sequence, wide, subflow_sequence, length, checksum: None };
    TcpOption::Mptcp(Mptcp::Data { ack: None, mapping: Some(mapping), fin })
}

fn segment(from: Endpoint, to: Endpoint, seq: u32, ack: Option<u32>) -> TcpSegment {
    let (syn, fin, reset) = (false, false, false);
    let (echo, reduced, ecn) = (false, false, Ecn::None);
    let (id, window, options) = (0, 60_000, Vec::new());
    TcpSegment { from, to, id, ecn, seq, ack, syn, fin, reset, echo, reduced, window, options }
}

/// A subflow as its peer has it.
#[derive(Clone, Copy)]
struct Subflow {
    from: Endpoint,
    to: Endpoint,
    /// The number of the host's SYN.
    iss: u32,
    /// The host's key.
    key: u64,
}

impl Subflow {
    /// A segment whose first byte is the one with this number after the SYN.
    fn segment(&self, at: u32, options: Vec<TcpOption>) -> TcpSegment {
        let ack = Some(self.iss.wrapping_add(1));
        TcpSegment { options, ..segment(self.from, self.to, at, ack) }
    }
}

/// The peer's SYN, and the host's answer to it.
fn asked(wire: &mut Wire, option: Vec<TcpOption>) -> Sent {
    let syn = TcpSegment { syn: true, options: option, ..segment(PEER, HOST, 0, None) };
    wire.send(&syn, &[]).pop().expect("a SYN/ACK")
}

/// A connection that the peer has opened with MPTCP.
fn opened(wire: &mut Wire) -> (Subflow, Id) {
    let answer = asked(wire, vec![capable(1, SHA256, [None; 2])]);
    let [Mptcp::Capable { sender: Some(key), .. }] = answer.mptcp()[..] else {
        panic!("a key: {answer:?}")
    };
    let subflow = Subflow { from: PEER, to: HOST, iss: answer.segment.seq, key };
    wire.send(&subflow.segment(1, vec![capable(1, SHA256, [Some(KEY), Some(key)])]), &[]);
    (subflow, wire.host.accept().expect("a connection"))
}

/// A connection that the peer has opened without MPTCP.
fn opened_as_tcp(wire: &mut Wire) -> (Subflow, Id) {
    let answer = asked(wire, Vec::new());
    let subflow = Subflow { from: PEER, to: HOST, iss: answer.segment.seq, key: 0 };
    wire.send(&subflow.segment(1, Vec::new()), &[]);
    (subflow, wire.host.accept().expect("a connection"))
}

/// The number of the first byte of the peer's data.
fn first_data() -> u64 {
    initial_data_sequence(Hash::Sha256, KEY).wrapping_add(1)
}

/// A second subflow, to the other address; its address identifier in the host's answer.
fn joined(wire: &mut Wire, first: Subflow) -> (Subflow, u8) {
    let (from, nonce) = (Endpoint { port: 5001, ..PEER }, 9);
    let request = Mptcp::JoinRequest {
        backup: false,
        address: 3,
        token: token(Hash::Sha256, first.key),
        nonce,
    };
    let options = vec![TcpOption::Mptcp(request)];
    let syn = TcpSegment { syn: true, options, ..segment(from, OTHER, 0, None) };
    let answer = wire.send(&syn, &[]).pop().expect("a SYN/ACK");
    let [Mptcp::JoinGrant { address, nonce: theirs, .. }] = answer.mptcp()[..] else {
        panic!("a grant: {answer:?}")
    };
    let subflow = Subflow { from, to: OTHER, iss: answer.segment.seq, key: first.key };
    let keys = Keys { initiator: KEY, responder: first.key, hash: Hash::Sha256 };
    let proof = Mptcp::JoinProof { code: keys.initiator_code(nonce, theirs) };
    wire.send(&subflow.segment(1, vec![TcpOption::Mptcp(proof)]), &[]);
    (subflow, address)
}

#[test]
fn a_number_of_64_bits_is_acknowledged_with_64_bits_and_one_of_32_with_32() {
    let mut wire = Wire::new(|_| {});
    let (subflow, _) = opened(&mut wire);
    for (at, wide) in [(0, true), (10, false), (20, true)] {
        let option = mapped(first_data() + at, wide, 1 + at as u32, 10, false);
        let mut sent = wire.send(&subflow.segment(1 + at as u32, vec![option]), &[7; 10]);
        sent.extend(wire.after(50));
        let next = first_data() + at + 10;
        let expected = if wide { next } else { next & 0xffff_ffff };
        let found: Vec<_> = sent.iter().filter_map(Sent::data_ack).collect();
        assert_eq!(found, [(expected, wide)], "RFC 8684 §3.3.2");
    }
}

#[test]
fn flags_and_versions_that_are_not_known_make_it_tcp() {
    const EXTENDED: u8 = 0x40;
    for (version, flags) in [(1, SHA256 | EXTENDED), (1, 0), (0, SHA256)] {
        let mut wire = Wire::new(|_| {});
        let answer = asked(&mut wire, vec![capable(version, flags, [None; 2])]);
        assert!(answer.mptcp().is_empty(), "in a SYN: {answer:?}");

        let mut wire = Wire::new(|_| {});
        let answer = asked(&mut wire, vec![capable(1, SHA256, [None; 2])]);
        let [Mptcp::Capable { sender: Some(key), .. }] = answer.mptcp()[..] else {
            panic!("a key")
        };
        let subflow = Subflow { from: PEER, to: HOST, iss: answer.segment.seq, key };
        wire.send(&subflow.segment(1, vec![capable(version, flags, [Some(KEY), Some(key)])]), &[]);
        let id = wire.host.accept().expect("a connection");
        assert!(!wire.host.is_multipath(id), "in the third packet: {version} {flags:x}");

        let mut wire = Wire::new(|_| {});
        let id = wire.host.connect(wire.now, HOST, PEER).expect("a free port");
        let syn = wire.collect().pop().expect("a SYN");
        let options = vec![capable(version, flags, [Some(KEY), None])];
        let ack = Some(syn.segment.seq.wrapping_add(1));
        let answer = TcpSegment { syn: true, options, ..segment(PEER, HOST, 0, ack) };
        let sent = wire.send(&answer, &[]);
        assert!(wire.host.is_established(id) && !wire.host.is_multipath(id));
        assert!(sent.iter().all(|it| it.mptcp().is_empty()), "in a SYN/ACK: {sent:?}");
    }
}

#[test]
fn a_fast_close_is_answered_by_a_plain_reset_of_each_subflow() {
    let mut wire = Wire::new(|_| {});
    let (first, id) = opened(&mut wire);
    let (second, _) = joined(&mut wire, first);
    let close = |key| vec![TcpOption::Mptcp(Mptcp::FastClose { key })];
    wire.send(&second.segment(1, close(first.key ^ 1)), &[]);
    assert_eq!(wire.host.failure(id), None, "the key is not this host's");
    let sent = wire.send(&second.segment(1, close(first.key)), &[]);
    assert_eq!(wire.host.failure(id), Some(Failure::Reset));
    assert_eq!(sent.len(), 2);
    for it in sent {
        assert!(it.segment.reset, "RFC 8684 §3.5");
        assert_eq!(it.mptcp(), [Mptcp::Reset { flags: 0, reason: 0 }]);
    }
}

#[test]
fn an_unknown_token_is_reset_with_its_reason() {
    let mut wire = Wire::new(|_| {});
    let request = Mptcp::JoinRequest { backup: false, address: 0, token: 1, nonce: 1 };
    let answer = asked(&mut wire, vec![TcpOption::Mptcp(request)]);
    assert!(answer.segment.reset);
    assert_eq!(answer.mptcp(), [Mptcp::Reset { flags: 0, reason: 1 }], "RFC 8684 §3.6");
}

#[test]
fn an_announced_address_keeps_its_identifier_in_a_join_and_data_are_acknowledged_beside_it() {
    let mut wire = Wire::new(|_| {});
    let (first, id) = opened(&mut wire);
    wire.host.announce(wire.now, id, 4, OTHER.address, None);
    let sent = wire.collect();
    assert!(matches!(sent[0].mptcp()[..], [Mptcp::AddAddress { .. }, Mptcp::Data { .. }]));
    assert_eq!(joined(&mut wire, first).1, 4);
    let mut wire = Wire::new(|_| {});
    let (first, _) = opened(&mut wire);
    assert_eq!(joined(&mut wire, first).1, 0, "an address of which the peer was not told");
}

#[test]
fn a_priority_with_an_address_is_of_version_0_and_not_followed() {
    let mut wire = Wire::new(|_| {});
    let (first, id) = opened(&mut wire);
    let (second, _) = joined(&mut wire, first);
    let prefer = |backup, address| TcpOption::Mptcp(Mptcp::Priority { backup, address });
    wire.send(&first.segment(1, vec![prefer(true, None)]), &[]);
    wire.send(&second.segment(1, vec![prefer(true, Some(1))]), &[]);
    wire.host.write(wire.now, id, b"data");
    let to: Vec<_> = wire.collect().iter().map(|it| it.segment.to).collect();
    assert_eq!(to, [second.from], "the first one is a backup, the second one is not");
}

#[test]
fn a_packet_from_before_what_was_acknowledged_is_answered_and_changes_nothing() {
    let mut wire = Wire::new(|_| {});
    let (subflow, id) = opened(&mut wire);
    wire.send(&subflow.segment(1, vec![mapped(first_data(), true, 1, 10, false)]), &[7; 10]);
    wire.after(200);
    let old = vec![TcpOption::Mptcp(Mptcp::FastClose { key: subflow.key })];
    let sent = wire.send(&subflow.segment(1, old), &[]);
    assert_eq!(wire.host.failure(id), None, "RFC 9293 §3.10.7.4");
    assert_eq!(sent.iter().map(|it| it.segment.ack).collect::<Vec<_>>(), [Some(11)]);
}

#[test]
fn data_without_an_acknowledgement_are_dropped() {
    let mut wire = Wire::new(|settings| settings.multipath = false);
    let (subflow, id) = opened_as_tcp(&mut wire);
    wire.send(&TcpSegment { ack: None, ..subflow.segment(1, Vec::new()) }, &[7; 10]);
    assert_eq!(wire.host.readable(id), 0, "RFC 9293 §3.10.7.4, fifth");
    wire.send(&subflow.segment(1, Vec::new()), &[7; 10]);
    assert_eq!(wire.host.readable(id), 10);
}

#[test]
fn a_stamp_beside_a_wrong_acknowledgement_is_not_kept() {
    let mut wire = Wire::new(|settings| settings.multipath = false);
    let stamped = |value| vec![TcpOption::Timestamps { value, echo: 0 }];
    let answer = asked(&mut wire, stamped(100));
    let subflow = Subflow { from: PEER, to: HOST, iss: answer.segment.seq, key: 0 };
    wire.send(&subflow.segment(1, stamped(200)), &[]);
    let id = wire.host.accept().expect("a connection");
    let forged = TcpSegment {
        ack: Some(subflow.iss.wrapping_add(9_999)),
        ..subflow.segment(1, stamped(200_000))
    };
    wire.send(&forged, &[]);
    wire.send(&subflow.segment(1, stamped(201)), &[7; 10]);
    assert_eq!(wire.host.readable(id), 10, "PAWS would refuse it after a stamp of the future");
}

#[test]
fn who_gives_up_a_request_says_nothing_and_resets_the_answer() {
    let mut wire = Wire::new(|_| {});
    let id = wire.host.connect(wire.now, HOST, PEER).expect("a free port");
    let syn = wire.collect().pop().expect("a SYN");
    wire.host.forget(wire.now, id);
    assert!(wire.collect().is_empty(), "RFC 9293 §3.10.5");
    let ack = syn.segment.seq.wrapping_add(1);
    let answer = TcpSegment { syn: true, ..segment(PEER, HOST, 0, Some(ack)) };
    let sent = wire.send(&answer, &[]);
    assert!(sent.len() == 1 && sent[0].segment.reset && sent[0].segment.seq == ack);
}

#[test]
fn only_the_last_segment_of_what_was_written_is_pushed() {
    let mut wire = Wire::new(|_| {});
    let (_, id) = opened(&mut wire);
    wire.host.write(wire.now, id, &[7; 4000]);
    let sent = wire.collect();
    let pushed: Vec<_> = sent.iter().map(|it| it.push).collect();
    assert!(sent.iter().map(|it| it.payload.len()).sum::<usize>() == 4000 && sent.len() > 2);
    assert!(pushed.iter().rev().skip(1).all(|push| !push) && pushed.ends_with(&[true]));
}

#[test]
fn the_end_of_the_data_is_acknowledged_on_each_subflow() {
    let mut wire = Wire::new(|_| {});
    let (first, _) = opened(&mut wire);
    let (second, _) = joined(&mut wire, first);
    let sent = wire.send(&first.segment(1, vec![mapped(first_data(), true, 0, 1, true)]), &[]);
    let to: Vec<_> = sent.iter().map(|it| (it.segment.to, it.data_ack())).collect();
    let ack = Some((first_data() + 1, true));
    assert_eq!(to, [(first.from, ack), (second.from, ack)]);
}

#[test]
fn a_join_opens_no_more_of_the_window_than_the_buffer_has_room_for() {
    let mut wire = Wire::new(|settings| settings.options.receive_buffer = Bytes(40_000));
    let (first, id) = opened(&mut wire);
    let send = |wire: &mut Wire, bytes: std::ops::Range<u32>| {
        for at in bytes.step_by(1000) {
            let option = mapped(first_data() + u64::from(at), true, 1 + at, 1000, false);
            wire.send(&first.segment(1 + at, vec![option]), &[7; 1000]);
        }
    };
    send(&mut wire, 0..20_000);
    joined(&mut wire, first);
    send(&mut wire, 20_000..60_000);
    assert_eq!(wire.host.readable(id), 40_000);
}

#[test]
fn an_acknowledgement_stands_within_a_window_that_was_taken_back() {
    let mut wire = Wire::new(|settings| settings.multipath = false);
    let (subflow, id) = opened_as_tcp(&mut wire);
    wire.host.write(wire.now, id, &[7; 5_000]);
    let next = subflow.iss.wrapping_add(1 + 5_000);
    assert_eq!(wire.collect().iter().map(|it| it.payload.len()).sum::<usize>(), 5_000);
    let mut answers = |window, at| {
        let data = TcpSegment { window, ..subflow.segment(at, Vec::new()) };
        let mut sent = wire.send(&data, &[7; 1_000]);
        sent.extend(wire.after(50));
        sent.iter().map(|it| it.segment.seq).next()
    };
    assert_eq!(answers(60_000, 1), Some(next));
    assert_eq!(answers(2_000, 1_001), Some(subflow.iss.wrapping_add(1 + 2_000)));
    assert_eq!(answers(0, 2_001), Some(subflow.iss.wrapping_add(1)));
}

/// The place of a packet's payload in the data, counted from the first byte.
fn place(sent: &Sent, key: u64) -> Option<u64> {
    let first = initial_data_sequence(Hash::Sha256, key).wrapping_add(1);
    sent.mptcp().into_iter().find_map(|option| match option {
        Mptcp::Data { mapping: Some(it), .. } => Some(it.data_sequence.wrapping_sub(first)),
        _ => None,
    })
}

/// An acknowledgement of bytes of the subflow, and of data if `data` is given.
fn acknowledged(subflow: Subflow, bytes: u32, data: Option<u64>) -> TcpSegment {
    let first = initial_data_sequence(Hash::Sha256, subflow.key).wrapping_add(1);
    let data = data.map(|data| (first.wrapping_add(data), true));
    let option = data.map(|ack| Mptcp::Data { ack: Some(ack), mapping: None, fin: false });
    let ack = Some(subflow.iss.wrapping_add(1 + bytes));
    let options = option.map(TcpOption::Mptcp).into_iter().collect();
    TcpSegment { ack, ..subflow.segment(1, options) }
}

#[test]
fn data_that_the_connection_lacks_are_sent_again_though_the_subflow_has_acknowledged_them() {
    let mut wire = Wire::new(|_| {});
    let (subflow, id) = opened(&mut wire);
    wire.host.write(wire.now, id, &[7; 4_000]);
    let sent = wire.collect();
    let first = sent[0].payload.len() as u64;
    assert!(wire.send(&acknowledged(subflow, 4_000, Some(0)), &[]).is_empty());
    let places = |sent: &[Sent]| {
        let data = sent.iter().filter(|it| !it.payload.is_empty());
        data.map(|it| place(it, subflow.key).expect("a mapping")).collect::<Vec<_>>()
    };
    let again = wire.after(1_000);
    assert!(places(&again).iter().all(|at| *at == 0) && !again.is_empty(), "RFC 8684 §3.3.6");
    assert_eq!(again[0].segment.seq, subflow.iss.wrapping_add(1 + 4_000), "as new bytes");
    let bytes = 4_000 + first as u32;
    let next = wire.send(&acknowledged(subflow, bytes, Some(first)), &[]);
    assert_eq!(places(&next), [first], "what comes next is missing too, most likely");
    wire.send(&acknowledged(subflow, bytes + first as u32, Some(4_000)), &[]);
    assert_eq!((places(&wire.after(5_000)), wire.host.unacknowledged(id)), (vec![], 0));
}

#[test]
fn a_window_beside_no_acknowledgement_of_data_opens_nothing() {
    let mut wire = Wire::new(|_| {});
    let (first, id) = opened(&mut wire);
    wire.host.write(wire.now, id, &[7; 200_000]);
    let bytes = |sent: Vec<Sent>| sent.iter().map(|it| it.payload.len() as u32).sum::<u32>();
    let mut sent = bytes(wire.collect());
    for _ in 0..10 {
        let ack = acknowledged(first, sent, Some(u64::from(sent)));
        sent += bytes(wire.send(&TcpSegment { window: 60_000 - sent as u16, ..ack }, &[]));
    }
    wire.send(&TcpSegment { window: 0, ..acknowledged(first, sent, Some(sent.into())) }, &[]);
    let (second, _) = joined(&mut wire, first);
    assert!((59_000..=60_000).contains(&sent));
    assert_eq!(bytes(wire.send(&second.segment(1, Vec::new()), &[])), 0, "RFC 8684 §3.3.5");
}

#[test]
fn a_subflow_does_not_repeat_for_long_what_others_have_delivered() {
    let mut wire = Wire::new(|_| {});
    let (first, id) = opened(&mut wire);
    wire.host.write(wire.now, id, &[7; 4_000]);
    wire.collect();
    let (second, _) = joined(&mut wire, first);
    wire.host.close(wire.now, id);
    wire.collect();
    let mut end = acknowledged(second, 0, Some(4_001));
    end.options.push(mapped(first_data(), true, 0, 1, true));
    wire.send(&end, &[]);
    let resets: Vec<_> = wire.after(500).into_iter().filter(|it| it.segment.reset).collect();
    assert_eq!(resets.len(), 1);
    assert_eq!(resets[0].segment.to, first.from);
    assert_eq!(resets[0].mptcp(), [Mptcp::Reset { flags: 0, reason: 4 }], "RFC 8684 §3.3.3");
}

#[test]
fn a_reset_does_not_overtake_what_waits_to_be_sent() {
    let mut wire = Wire::new(|_| {});
    let (_, id) = opened(&mut wire);
    wire.host.write(wire.now, id, &[7; 10]);
    let stray = segment(Endpoint { port: 9, ..PEER }, HOST, 1, Some(1));
    let sent = wire.send(&stray, &[]);
    let resets: Vec<_> = sent.iter().map(|it| it.segment.reset).collect();
    assert_eq!(resets, [false, true]);
}
