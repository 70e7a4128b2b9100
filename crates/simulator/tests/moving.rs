//! Whole scenarios with moving nodes, media of all kinds and echoes: conservation, and results that
//! can be computed by hand.

mod common;

use common::{drawn, kinds, plan, run, with_queues};
use proptest::prelude::*;
use scenario::{MediumExample, medium_examples};
use simulator::{Observe, Outcome, Progress, Series, replicate};

const BASE: &str = "
name = 'mixed'
duration = '2 s'
[area]
width = 250.0
height = 250.0
[[node]]
name = 'base'
x = 125.0
y = 125.0
";

/// The movement of a group; its first node has number `first` in the file.
fn moves(first: usize, count: usize) -> impl Strategy<Value = String> {
    let legs = prop::collection::vec((0..2000_u32, 0..250_u32, 0..250_u32, 0..300_u32), 0..4);
    prop_oneof![
        Just("moves = 'still'".to_owned()),
        (1..100_u32, 0..500_u32, any::<bool>()).prop_map(|(speed, pause, stationary)| format!(
            "moves = {{ waypoint = {{ speed = [{speed}.0, 100.0], pause = ['0 s', '{pause} ms'], \
             stationary = {stationary} }} }}"
        )),
        (1..50_u32, 0..250_u32).prop_map(|(speed, start)| format!(
            "moves = {{ highway = {{ speed = [{speed}.0, 60.0], gap = 62.0, hold = '200 ms', start = {start}.0 }} }}"
        )),
        prop::collection::vec((0..250_u32, 0..250_u32, legs), count).prop_map(move |nodes| {
            let mut text = String::new();
            for (node, (x, y, legs)) in (first..).zip(nodes) {
                text += &format!("$node_({node}) set X_ {x}\n$node_({node}) set Y_ {y}\n");
                for (ms, x, y, speed) in legs {
                    let at = f64::from(ms) / 1e3;
                    text += &format!("$ns_ at {at} \"$node_({node}) setdest {x} {y} {speed}\"\n");
                }
            }
            format!("moves = {{ trace = {{ text = '''\n{text}''' }} }}")
        }),
    ]
}

/// A medium of every kind of the registry, with its links.
fn media() -> impl Strategy<Value = String> {
    let all = medium_examples();
    let numbers = prop::collection::vec(any::<u64>(), all.len());
    numbers.prop_map(move |numbers| {
        all.iter().zip(numbers).map(|(medium, number)| medium.text(number)).collect()
    })
}

/// A flow of each node over one or several of these.
fn flow(number: usize, nodes: u32) -> impl Strategy<Value = String> {
    let way = prop::sample::select(MediumExample::paths(&medium_examples()));
    let ways = prop::collection::vec(way, 1..4);
    let channel =
        prop::sample::select(vec!["", "channel = 'each'", "channel = 'turn'", "channel = 1"]);
    let kind = prop::sample::select(vec![
        "controller = 'lia'",
        "controller = 'bbr'",
        "transport = { small_queue = '8 kB' }\ncontroller = 'olia'",
        "striped = true",
        "protocol = 'udp'\napp_rate = '300 kb/s'",
        "protocol = 'udp'\napp_rate = '3 Mb/s'\necho = true",
    ]);
    let users = prop_oneof![
        (1..=nodes).prop_map(|n| format!("count = {n}")),
        Just("arrivals = 3.0".to_owned())
    ];
    (ways, channel, kind, users).prop_map(move |(mut ways, channel, kind, users)| {
        let udp = kind.contains("udp");
        ways.truncate(if udp { 1 } else { 3 });
        let channel = if udp && channel.contains("each") { "" } else { channel };
        let mut text = format!("[[flow]]\nname = 'f{number}'\n{kind}\n{users}\n");
        for (links, back) in ways {
            text += &format!("[[flow.path]]\nlinks = {links}\nback = {back}\n{channel}\n");
        }
        text
    })
}

fn scenario() -> impl Strategy<Value = String> {
    let flows = (1..=4_u32).prop_flat_map(|nodes| {
        (Just(nodes), moves(1, nodes as usize), flow(0, nodes), flow(1, nodes))
    });
    (flows, 2..4_u32, media(), any::<u8>()).prop_map(
        |((nodes, moves, one, two), points, media, step)| {
            let step = 20 + u32::from(step);
            let base = BASE.replace("height", &format!("step = '{step} ms'\nheight"));
            format!(
                "{base}[[node]]\nname = 'n'\ncount = {nodes}\n{moves}\n\
                 [[node]]\nname = 'points'\ncount = {points}\n\
                 [[node]]\nname = 'server'\nx = 125.0\ny = 100.0\n{media}{one}{two}"
            )
        },
    )
}

/// Without a warm-up all counts are since the start, so that they must add up.
fn check(outcome: &Outcome) -> Result<(), TestCaseError> {
    let all = outcome.conservation;
    prop_assert!(all.holds(), "{all:?}");
    let lost: u64 = outcome.links.iter().map(|link| link.dropped_packets + link.lost_packets).sum();
    prop_assert_eq!(lost, all.dropped);
    for path in &outcome.paths {
        prop_assert!(path.lost_packets <= path.sent_packets, "{:?}", path);
        prop_assert!(path.echoed_packets <= path.sent_packets, "{:?}", path);
    }
    for way in &outcome.ways {
        let link = &outcome.links[way.link as usize];
        prop_assert!(way.unreachable_packets <= link.dropped_packets + link.lost_packets);
        prop_assert!((0.0..=1.0).contains(&way.connected));
    }
    for route in &outcome.routes {
        let mut nodes = route.nodes.clone();
        nodes.sort_unstable();
        nodes.dedup();
        prop_assert!(nodes.len() > 1 && route.first_s <= route.last_s, "{:?}", route);
    }
    Ok(())
}

#[test]
fn random_scenarios_have_every_medium() {
    let plans = drawn(scenario(), 100).map(|text| plan(&text, &[]));
    let missing = kinds::unreached(kinds::media(), plans);
    assert!(missing.is_empty(), "no scenario has {missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::with_cases(96) })]
    #[test]
    fn every_packet_is_accounted_for_on_any_mixture_of_media_and_moves(
        text in scenario(),
        seed in any::<u64>(),
        (first, limit, ecn) in (0..100_usize, 1..40_u64, any::<bool>()),
    ) {
        let plan = with_queues(plan(&text, &[]), first, limit, ecn);
        let outcome = run(&plan, seed);
        check(&outcome)?;
        let (seen, _) = observed(&plan, seed);
        prop_assert_eq!(outcome.digest, seen.digest, "looking changes nothing");
    }
}

fn observed(plan: &scenario::Plan, seed: u64) -> (Outcome, Series) {
    let observe = Observe { series: true, events: Some(usize::MAX) };
    let outcome = simulator::run(plan, seed, observe, &Progress::default());
    let mut outcome = outcome.expect("nobody stopped it");
    let series = outcome.series.take().expect("it was asked for");
    (outcome, *series)
}

#[test]
fn two_links_between_the_same_stations_are_one_hop() {
    let mut text = "name = 'twice'\nduration = '2 s'\nsample = '500 ms'\n\
                    [[medium]]\nname = 'air'\nstandard = 'g'\n"
        .to_owned();
    for (link, rate) in [("one", 200), ("two", 600)] {
        text += &format!(
            "[[link]]\nname = '{link}'\nmedium = 'air'\nfrom = 'a'\nto = 'b'\n\
             [[flow]]\nname = '{link}'\nprotocol = 'udp'\napp_rate = '{rate} kb/s'\n\
             path = [{{ links = ['{link}'] }}]\n"
        );
    }
    let (outcome, series) = observed(&plan(&text, &[]), 1);
    let hops = &series.nodes.hops;
    let bits: f64 = outcome.paths.iter().map(|path| path.throughput_bps * 2.0).sum();
    assert_eq!(hops.bytes.iter().sum::<u64>() as f64, (bits / 8.0).round());
    let mut samples = hops.sample.clone();
    samples.dedup();
    assert_eq!(samples, hops.sample, "a row for each sample");
}

/// Nodes of all kinds on a medium with routing.
fn crowd(routing: &str) -> String {
    format!(
        "{BASE}
[[node]]
name = 'walker'
count = 4
moves = {{ waypoint = {{ speed = [5.0, 50.0] }} }}
[[node]]
name = 'car'
count = 3
moves = {{ highway = {{ speed = [20.0, 40.0], gap = 60.0, hold = '300 ms' }} }}
[[node]]
name = 'still'
count = 2
[[medium]]
name = 'air'
standard = 'g'
rate = '6 Mb/s'
radio = {{}}
routing = '{routing}'
nodes = ['still']
[[link]]
name = 'up'
medium = 'air'
from = 'walker'
to = 'base'
[[link]]
name = 'down'
medium = 'air'
from = 'base'
to = 'walker'
[[link]]
name = 'road'
medium = 'air'
from = 'car'
to = 'base'
[[flow]]
name = 'talk'
count = 4
path = [{{ links = ['up'], back = ['down'] }}]
[[flow]]
name = 'drive'
count = 3
protocol = 'udp'
app_rate = '100 kb/s'
path = [{{ links = ['road'], back = ['road'] }}]
"
    )
}

#[test]
fn a_seed_gives_one_history_on_any_number_of_threads() {
    for routing in ["oracle", "aodv", "olsr"] {
        let plan = plan(&crowd(routing), &[]);
        let digests = |threads| {
            let seeds = [1, 2, 3, 4, 1];
            let all = replicate(&plan, &seeds, Observe::default(), threads, &Progress::default());
            all.iter().map(|outcome| outcome.digest).collect::<Vec<_>>()
        };
        let one = digests(1);
        assert_eq!((digests(2), digests(5)), (one.clone(), one.clone()), "{routing}");
        assert!(one[0] == one[4] && one[0] != one[1], "{routing}: {one:?}");
    }
}

/// The position of some nodes at every sample.
fn tracks(text: &str, names: &[&str]) -> Vec<Vec<(f64, f64)>> {
    let plan = plan(text, &[]);
    let (_, series) = observed(&plan, 5);
    let count = plan.nodes.len();
    let column = |name: &&str| {
        let at = plan.nodes.iter().position(|node| node.name == **name).expect("it is there");
        let rows = series.nodes.x_m.chunks(count).zip(series.nodes.y_m.chunks(count));
        rows.map(|(x, y)| (x[at], y[at])).collect()
    };
    names.iter().map(column).collect()
}

#[test]
fn nodes_that_come_disturb_no_other_node_on_its_way() {
    let names = ["walker-1", "walker-4", "car-1", "car-3", "still-2", "base"];
    let text = crowd("aodv");
    let alone = tracks(&text, &names);
    let group =
        "[[node]]\nname = 'new'\ncount = 5\nmoves = { waypoint = { speed = [1.0, 9.0] } }\n";
    let first = text.find("[[node]]").expect("it has nodes");
    let before = format!("{}{group}{}", &text[..first], &text[first..]);
    assert_eq!(tracks(&before, &names), alone);
    assert_eq!(tracks(&text.replace("[[medium]]", &format!("{group}[[medium]]")), &names), alone);
    assert_eq!(tracks(&crowd("olsr").replace("100 kb/s", "300 kb/s"), &names), alone);
    assert_eq!(tracks(&text.replace("count = 4\nmoves", "count = 6\nmoves"), &names), alone);
    assert!(alone[0][0] != alone[0][9] && alone[4][0] == alone[4][9]);
}

const ECHO: &str = "
name = 'echo'
duration = '20 s'
[transport]
packet = '1000 B'
payload = '960 B'
[[link]]
name = 'there'
rate = '1 Mb/s'
delay = '10 ms'
[[link]]
name = 'back'
rate = '500 kb/s'
delay = '5 ms'
[[flow]]
name = 'ping'
protocol = 'udp'
echo = true
app_rate = '96 kb/s'
path = [{ links = ['there'], back = ['back'] }]
";

/// 1000 B at 1 Mb/s are 8 ms, and 10 ms of delay; the way back takes 16 ms and 5 ms.
#[test]
fn an_echo_takes_as_long_as_both_ways() {
    let outcome = run(&plan(ECHO, &[]), 1);
    let (path, class) = (&outcome.paths[0], &outcome.classes[0]);
    assert!((class.rtt_mean_s - 0.039).abs() < 1e-6, "{}", class.rtt_mean_s);
    assert!(path.sent_packets - path.echoed_packets <= 1, "{path:?}");
    assert_eq!(path.lost_packets, 0);
}

#[test]
fn what_is_echoed_is_what_was_delivered_but_for_lost_replies() {
    let text = ECHO.replace("delay = '10 ms'", "delay = '10 ms'\nloss = { probability = 0.1 }");
    let text = text.replace("delay = '5 ms'", "delay = '5 ms'\nloss = { probability = 0.2 }");
    // The application is silent in the last second of each four, including the last second of the
    // run.
    let text = text.replace(
        "echo = true",
        "echo = true\npauses = { on = '3 s', off = '1 s', random = false }",
    );
    let outcome = run(&plan(&text, &[]), 1);
    let (path, links) = (&outcome.paths[0], &outcome.links);
    assert_eq!((outcome.conservation.in_flight, links[0].arrived_packets), (0, path.sent_packets));
    let delivered = path.sent_packets - links[0].lost_packets;
    assert_eq!((path.lost_packets, links[1].arrived_packets), (links[0].lost_packets, delivered));
    assert_eq!(path.echoed_packets, delivered - links[1].lost_packets);
    assert!(links[0].lost_packets > 10 && links[1].lost_packets > 20, "{links:?}");
}

/// A node with a wire, two radios and a cell, and a server behind each.
const FOUR: &str = "
name = 'four'
duration = '5 s'
warmup = '1 s'
[[link]]
name = 'wire'
rate = '4 Mb/s'
delay = '5 ms'
[[medium]]
name = 'one'
standard = 'g'
rate = '6 Mb/s'
channel = 1
[[medium]]
name = 'two'
standard = 'g'
rate = '6 Mb/s'
channel = 6
[[medium.station]]
name = 'ap-2'
[[cell]]
name = 'tower'
base = 'enb'
snr_db = 10.0
[[link]]
name = 'one-up'
medium = 'one'
from = 'n'
to = 'ap-1'
[[link]]
name = 'one-down'
medium = 'one'
from = 'ap-1'
to = 'n'
[[link]]
name = 'two-up'
medium = 'two'
from = 'n'
to = 'ap-2'
[[link]]
name = 'two-down'
medium = 'two'
from = 'ap-2'
to = 'n'
[[link]]
name = 'call'
medium = 'tower'
from = 'n'
to = 'enb'
[[link]]
name = 'answer'
medium = 'tower'
from = 'enb'
to = 'n'
";

#[test]
fn a_node_uses_a_wire_two_radios_and_a_cell_at_once() {
    let text = format!(
        "{FOUR}[[flow]]\nname = 'all'\ncontroller = 'uncoupled'\n[[flow.path]]\nlinks = ['wire']\n\
         [[flow.path]]\nlinks = ['one-up']\nback = ['one-down']\n\
         [[flow.path]]\nlinks = ['two-up']\nback = ['two-down']\n\
         [[flow.path]]\nlinks = ['call']\nback = ['answer']\n"
    );
    let outcome = run(&plan(&text, &["duration=20 s"]), 1);
    let rates: Vec<_> = outcome.paths.iter().map(|path| path.throughput_bps / 1e6).collect();
    println!("wire, radios, cell: {rates:.2?} Mb/s");
    assert!(rates[0] > 3.8 && rates[1] > 3.5 && rates[2] > 3.5 && rates[3] > 10.0, "{rates:?}");
    // Data that waits for the slower paths' queues is not delivered yet.
    let sum: f64 = outcome.paths.iter().map(|path| path.goodput_bps).sum();
    let part = outcome.flows[0].goodput_bps / sum;
    assert!((0.8..=1.001).contains(&part), "{part}");
}

#[test]
fn noise_on_one_channel_is_none_on_another() {
    let udp = |name: &str, up: &str, down: &str| {
        format!(
            "[[flow]]\nname = '{name}'\nprotocol = 'udp'\necho = true\napp_rate = '8 Mb/s'\n\
             path = [{{ links = ['{up}'], back = ['{down}'] }}]\n"
        )
    };
    let text =
        format!("{FOUR}{}{}", udp("a", "one-up", "one-down"), udp("b", "two-up", "two-down"));
    let quiet = run(&plan(&text, &[]), 3);
    let noisy = text.replace(
        "name = 'ap-2'\n[[cell",
        "name = 'ap-2'\nnoise = '50 ms'\nresidual_loss = 0.1\n[[cell",
    );
    let noisy = run(&plan(&noisy, &[]), 3);
    assert_eq!(quiet.stations[..2], noisy.stations[..2]);
    assert_ne!(quiet.stations[2..4], noisy.stations[2..4]);
    assert_eq!(quiet.paths[0], noisy.paths[0]);
    assert!(noisy.paths[1].echoed_packets < quiet.paths[1].echoed_packets);
}

/// Packets in sequence, each with 18 B of framing, its propagation and a gap of 96 bits.
#[test]
fn a_saturated_source_gets_of_a_bus_what_frame_propagation_and_gap_leave() {
    let (rate, delay) = (10e6, 20e-6);
    let text = "
        name = 'bus'
        duration = '10 s'
        warmup = '1 s'
        [[bus]]
        name = 'wire'
        rate = '10 Mb/s'
        delay = '20 us'
        [[link]]
        name = 'forth'
        medium = 'wire'
        from = 'a'
        to = 'b'
        [[link]]
        name = 'home'
        medium = 'wire'
        from = 'b'
        to = 'a'
        [[flow]]
        name = 'full'
        protocol = 'udp'
        app_rate = '20 Mb/s'
        path = [{ links = ['forth'], back = ['home'] }]
    ";
    for packet in [1500.0, 600.0, 30.0] {
        let size = format!("transport.packet={packet} B");
        let outcome =
            run(&plan(text, &[&size, &format!("transport.payload={} B", packet - 20.0)]), 1);
        let frame = f64::max(packet, 46.0) + 18.0;
        let expected = 8.0 * packet / (8.0 * frame / rate + delay + 96.0 / rate);
        let measured = outcome.paths[0].throughput_bps;
        assert!((measured / expected - 1.0).abs() < 1e-3, "{packet} B: {measured}, not {expected}");
    }
}

/// Saturated users of a cell with these signals, in dB; their rates down in bit/s.
fn cell(signals: &[f64]) -> Vec<f64> {
    let mut text = "name = 'cell'\nduration = '8 s'\nwarmup = '3 s'\n\
                    [[cell]]\nname = 'tower'\nbase = 'enb'\nsnr_db = 0.0\n"
        .to_owned();
    for (user, snr) in signals.iter().enumerate() {
        text += &format!("[[cell.user]]\nname = 'u{user}'\nsnr_db = {snr:.1}\n");
    }
    for (user, _) in signals.iter().enumerate() {
        text += &format!(
            "[[link]]\nname = 'down{user}'\nmedium = 'tower'\nfrom = 'enb'\nto = 'u{user}'\n\
             [[flow]]\nname = 'f{user}'\nprotocol = 'udp'\napp_rate = '60 Mb/s'\n\
             path = [{{ links = ['down{user}'] }}]\n"
        );
    }
    let outcome = run(&plan(&text, &[]), 1);
    outcome.paths.iter().map(|path| path.throughput_bps).collect()
}

/// With constant signals proportional fairness gives all users an equal part of the time, whatever
/// their rates.
#[test]
fn users_of_a_cell_have_equal_times_under_proportional_fairness() {
    for snr in [3.0, 18.0] {
        let peak = cell(&[snr])[0];
        for users in [2, 5] {
            let rates = cell(&vec![snr; users]);
            let part = |rate: &f64| rate * users as f64 / peak;
            assert!(rates.iter().all(|rate| (part(rate) - 1.0).abs() < 0.02), "{rates:?}, {peak}");
        }
    }
    let signals = [0.0, 8.0, 22.0];
    let peaks: Vec<_> = signals.iter().map(|snr| cell(&[*snr])[0]).collect();
    let rates = cell(&signals);
    println!("alone {peaks:.0?} bit/s, together {rates:.0?} bit/s");
    for (rate, peak) in rates.iter().zip(&peaks) {
        assert!((3.0 * rate / peak - 1.0).abs() < 0.03, "{rates:?}, {peaks:?}");
    }
    assert!(peaks[2] > 3.0 * peaks[0], "{peaks:?}");
}

/// The signal of a user with its own value is fixed at any position; `radio` gives the signals of
/// the others.
#[test]
fn a_signal_that_is_told_holds_beside_a_radio() {
    let text = |own: &str| {
        format!(
            "{BASE}[[node]]\nname = 'u'\nx = 0.0\ny = 0.0\n[[cell]]\nname = 'tower'\nbase = 'base'\n{own}\n\
             [[link]]\nname = 'down'\nmedium = 'tower'\nfrom = 'base'\nto = 'u'\n\
             [[flow]]\nname = 'f'\nprotocol = 'udp'\napp_rate = '60 Mb/s'\npath = [{{ links = ['down'] }}]\n"
        )
    };
    let rate = |own: &str| run(&plan(&text(own), &[]), 1).paths[0].throughput_bps;
    let told = rate("radio = {}\nuser = [{ name = 'u', snr_db = 3.0 }]");
    assert_eq!(told, rate("snr_db = 3.0"));
    assert!(rate("radio = { power_dbm = 40.0 }") > 2.0 * told);
}
