//! Two hosts over links that lose, reorder, copy and change packets, in virtual time: what is read
//! is what was written.

mod network;

use host::{Failure, Host, Id, Read, Settings};
use network::{Fault, Pair, SERVER};
use proptest::prelude::*;
use units::Span;

/// Moves `bytes` one way and `back` the other, and closes both.
fn exchange(pair: &mut Pair, bytes: &[u8], back: &[u8]) {
    let (client, server) = pair.connected();
    let (mut sent, mut returned) = (0, 0);
    let (mut there, mut here) = (Vec::new(), Vec::new());
    let mut ends = [false; 2];
    while ends != [true; 2] {
        sent += pair.write(0, client, &bytes[sent..]);
        returned += pair.write(1, server, &back[returned..]);
        if sent == bytes.len() {
            pair.close(0, client);
        }
        if returned == back.len() {
            pair.close(1, server);
        }
        ends[0] = ends[0] || pair.drain(1, server, &mut there) == Ok(Read::End);
        ends[1] = ends[1] || pair.drain(0, client, &mut here) == Ok(Read::End);
        pair.step();
    }
    assert!(there == bytes && here == back, "{} and {} bytes", there.len(), here.len());
    pair.run(Span::millis(400_000));
    assert!(pair.hosts.iter().all(|host| host.is_empty()), "nothing is left: {:?}", pair.hosts);
}

/// Writes `bytes` from the client and reads them at the server, after `each` step.
fn pour(
    pair: &mut Pair,
    (client, server): (Id, Id),
    bytes: &[u8],
    mut each: impl FnMut(&mut Pair, usize),
) {
    let mut sent = 0;
    let mut there = Vec::new();
    while there.len() < bytes.len() {
        each(pair, there.len());
        sent += pair.write(0, client, &bytes[sent..]);
        pair.drain(1, server, &mut there).expect("it does not fail");
        pair.step();
    }
    assert_eq!(there, bytes);
}

/// A connection of two subflows.
fn joined(pair: &mut Pair) -> (Id, Id) {
    let (client, server) = pair.connected();
    pour(pair, (client, server), b"first", |_, _| {});
    pair.run(Span::millis(100));
    pair.join(client, 1).expect("a free slot");
    (client, server)
}

fn data(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8 ^ seed)).collect()
}

#[test]
fn data_goes_both_ways_over_tcp_and_over_mptcp_with_checksums_and_without() {
    for (multipath, checksums) in [(false, false), (true, false), (true, true)] {
        let mut pair = Pair::new(|settings| {
            (settings.multipath, settings.checksums) = (multipath, checksums);
        });
        exchange(&mut pair, &data(1, 300_000), &data(2, 100_000));
        assert_eq!(pair.resets, 0, "multipath {multipath}, checksums {checksums}");
    }
}

#[test]
fn a_second_subflow_carries_its_part() {
    let mut pair = Pair::new(|_| {});
    let ends = joined(&mut pair);
    pour(&mut pair, ends, &data(3, 3_000_000), |_, _| {});
    let taken = [0, 1].map(|path| pair.hosts[1].taken(ends.1, path));
    assert!(taken.iter().all(|bytes| *bytes > 0), "{taken:?}");
}

#[test]
fn a_path_that_fails_and_returns_costs_no_byte() {
    let mut pair = Pair::new(|_| {});
    let ends = joined(&mut pair);
    pour(&mut pair, ends, &data(4, 4_000_000), |pair, there| {
        pair.dead[0] = (1_000_000..2_500_000).contains(&there);
    });
}

#[test]
fn a_dead_subflow_does_not_outlive_the_data_of_both_ends() {
    let mut pair = Pair::new(|_| {});
    let (client, server) = joined(&mut pair);
    let (mut sent, mut there, bytes) = (0, Vec::new(), data(13, 400_000));
    // Path 1 fails while it carries data; the other one delivers that too.
    while there.len() < bytes.len() {
        pair.dead[1] = there.len() > 100_000;
        sent += pair.write(0, client, &bytes[sent..]);
        pair.drain(1, server, &mut there).expect("it does not fail");
        pair.step();
    }
    for (host, id) in [(0, client), (1, server)] {
        pair.close(host, id);
    }
    let mut ended = [false; 2];
    while ended != [true; 2] {
        ended[0] |= pair.drain(0, client, &mut Vec::new()) == Ok(Read::End);
        ended[1] |= pair.drain(1, server, &mut Vec::new()) == Ok(Read::End);
        pair.step();
    }
    pair.run(Span::millis(60_000));
    assert!(pair.hosts.iter().all(Host::is_empty), "{:?}", pair.hosts);
}

#[test]
fn a_middlebox_that_strips_options_makes_it_tcp() {
    for strip in [Fault::StripSyn, Fault::StripData] {
        let mut pair = Pair::new(|_| {});
        pair.fault = strip;
        exchange(&mut pair, &data(5, 200_000), &data(6, 50_000));
    }
}

#[test]
fn changed_data_is_found_by_the_checksum() {
    let mut pair = Pair::new(|settings| settings.checksums = true);
    let (client, server) = pair.connected();
    pair.fault = Fault::Rewrite;
    pair.write(0, client, &data(7, 5000));
    pair.run(Span::millis(2_000));
    let mut there = Vec::new();
    assert_eq!(pair.drain(1, server, &mut there), Err(Failure::Broken));
    assert!(there.is_empty());
}

#[test]
fn a_controller_of_others_or_of_tfrc_does_not_run_here() {
    for name in ["linux:cubic", "kernel:lia", "noq:cubic", "tfrc", "bilevel-tfrc"] {
        let spec = name.parse().expect("a controller");
        let refused = Host::new(Settings::new(spec), || 4).expect_err(name);
        assert_eq!(refused.key, "controller", "{name}");
    }
}

#[test]
fn a_port_without_listener_refuses() {
    let mut pair = Pair::new(|_| {});
    let closed = wire::packet::Endpoint { port: 9, ..SERVER[0] };
    let client = pair.connect(closed);
    pair.run(Span::millis(100));
    assert_eq!(pair.hosts[0].failure(client), Some(Failure::Refused));
}

#[test]
fn a_peer_that_is_gone_is_given_up_after_the_timeout() {
    let mut pair = Pair::new(|settings| settings.user_timeout = Span::millis(20_000));
    let (client, _) = pair.connected();
    pair.write(0, client, b"is anybody there?");
    pair.dead = [true; 2];
    pair.run(Span::millis(19_000));
    assert_eq!(pair.hosts[0].failure(client), None);
    pair.run(Span::millis(3_000));
    assert_eq!(pair.hosts[0].failure(client), Some(Failure::TimedOut));
}

#[test]
fn a_reader_that_pauses_stops_the_writer_and_starts_it_again() {
    let mut pair = Pair::new(|settings| settings.options.receive_buffer = units::Bytes(50_000));
    let (client, server) = pair.connected();
    let bytes = data(8, 200_000);
    let mut sent = 0;
    for _ in 0..20_000 {
        sent += pair.write(0, client, &bytes[sent..]);
        pair.step();
    }
    assert_eq!(pair.hosts[1].readable(server), 50_000);
    let mut there = Vec::new();
    while there.len() < bytes.len() {
        sent += pair.write(0, client, &bytes[sent..]);
        pair.drain(1, server, &mut there).unwrap();
        pair.step();
    }
    assert_eq!(there, bytes);
}

#[test]
fn an_aborted_connection_is_reset_at_the_other_end() {
    let mut pair = Pair::new(|_| {});
    let (client, server) = pair.connected();
    pair.write(0, client, b"x");
    pair.run(Span::millis(100));
    pair.abort(0, client);
    pair.run(Span::millis(100));
    assert_eq!(pair.hosts[1].failure(server), Some(Failure::Reset));
}

#[test]
fn ten_thousand_short_connections_leave_nothing() {
    let mut pair = Pair::new(|settings| settings.time_wait = Span::millis(1_000));
    for index in 0..10_000_u32 {
        let (client, server) = pair.connected();
        let word = index.to_be_bytes();
        pair.write(0, client, &word);
        pair.close(0, client);
        let mut there = Vec::new();
        while pair.drain(1, server, &mut there).unwrap() != Read::End {
            pair.step();
        }
        pair.close(1, server);
        while pair.drain(0, client, &mut Vec::new()).unwrap() != Read::End {
            pair.step();
        }
        assert_eq!(there, word);
    }
    pair.run(Span::millis(10_000));
    assert!(pair.hosts.iter().all(|host| host.is_empty()) && pair.resets == 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_loss_order_and_copies_leave_the_bytes_as_they_were(
        seed in any::<u64>(), loss in 0..20_u64, reorder in 0..30_u64, copies in 0..20_u64,
        multipath in any::<bool>(), checksums in any::<bool>(), sizes in (0..120_000_usize, 0..60_000_usize)
    ) {
        let mut pair = Pair::new(|settings| {
            (settings.multipath, settings.checksums) = (multipath, checksums);
        });
        pair.trouble(seed, loss, reorder, copies);
        exchange(&mut pair, &data(9, sizes.0), &data(10, sizes.1));
    }

    #[test]
    fn packets_of_strangers_change_nothing(
        seed in any::<u64>(), packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..50)
    ) {
        let mut pair = Pair::new(|_| {});
        pair.trouble(seed, 0, 0, 0);
        pair.strangers = packets;
        exchange(&mut pair, &data(11, 50_000), &data(12, 50_000));
    }
}
