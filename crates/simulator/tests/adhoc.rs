//! Ad-hoc networks in whole scenarios: routing protocols find existing routes, and other routes
//! after a break.

mod common;

use common::{plan, run};
use simulator::{Observe, Outcome, Progress, Series};

/// Nodes of a random network.
const NODES: usize = 25;

/// Small packets, whose collisions are rare.
const SMALL: &str = "transport = { packet = '200 B', payload = '160 B' }";

/// Nodes at random positions in a square, with a flow between each two of them. At 6 Mb/s, the
/// basic rate, packets and messages have the same range: 136 m, where the power falls below the
/// least that stations sense. So a link that carries HELLOs also carries packets, and no pair is
/// left out.
fn scattered(side: u32, routing: &str) -> String {
    let mut text = format!(
        "name = 'scattered'\nduration = '60 s'\nwarmup = '25 s'\n\
         area = {{ width = {side}.0, height = {side}.0 }}\n\
         [[node]]\nname = 'n'\ncount = {NODES}\n[[medium]]\nname = 'air'\nstandard = 'g'\n\
         rate = '6 Mb/s'\nradio = {{}}\nrouting = '{routing}'\nnodes = ['n']\n"
    );
    for pair in 0..NODES / 2 {
        let (from, to, start) = (2 * pair + 1, 2 * pair + 2, 33 * pair);
        text += &format!(
            "[[link]]\nname = 'way-{pair}'\nmedium = 'air'\nfrom = 'n-{from}'\nto = 'n-{to}'\n\
             [[flow]]\nname = 'f-{pair}'\nprotocol = 'udp'\napp_rate = '3200 b/s'\n\
             start = '{start} ms'\n{SMALL}\npath = [{{ links = ['way-{pair}'] }}]\n"
        );
    }
    text
}

/// For each flow of [`scattered`], whether the positions allow a route, and whether packets arrive.
fn reached(outcome: &Outcome) -> Vec<(bool, bool)> {
    assert!(outcome.ways.iter().all(|way| way.connected == 0.0 || way.connected == 1.0));
    let ways = outcome.ways.iter().map(|way| way.connected == 1.0);
    ways.zip(outcome.paths.iter().map(|path| path.throughput_bps > 0.0)).collect()
}

#[test]
fn protocols_deliver_exactly_where_there_is_a_way() {
    for side in [400, 600, 800] {
        let (mut pairs, mut connected, mut least) = (0, 0, 1.0_f64);
        for seed in 1..=8 {
            let oracle = run(&plan(&scattered(side, "oracle"), &[]), seed);
            assert!(reached(&oracle).iter().all(|(way, comes)| way == comes));
            for routing in ["aodv", "olsr"] {
                let outcome = run(&plan(&scattered(side, routing), &[]), seed);
                assert_eq!(reached(&outcome), reached(&oracle), "{routing}, {side} m, seed {seed}");
                for (path, way) in outcome.paths.iter().zip(&outcome.ways) {
                    match way.connected == 1.0 {
                        true => {
                            let part = 1.0 - path.lost_packets as f64 / path.sent_packets as f64;
                            least = least.min(part);
                        }
                        false => assert!(way.unreachable_packets > 0, "{routing}: {way:?}"),
                    }
                }
            }
            pairs += oracle.ways.len();
            connected += reached(&oracle).iter().filter(|(way, _)| *way).count();
        }
        println!(
            "{side} m: {connected} of {pairs} pairs are connected, {least:.3} arrive at least"
        );
        assert!(least > 0.9, "{least} of the packets of a connected pair arrive");
    }
}

/// `a` reaches `b` over `near`, which drives away, or over both of `far`.
const DETOUR: &str = "
name = 'detour'
duration = '80 s'
warmup = '20 s'
sample = '10 ms'

[area]
width = 300.0
height = 1200.0

[[node]]
name = 'a'
x = 0.0
y = 1000.0

[[node]]
name = 'b'
x = 200.0
y = 1000.0

[[node]]
name = 'near'
moves = { trace = { text = '''
$node_(2) set X_ 100.0
$node_(2) set Y_ 1000.0
$ns_ at 30.0 \"$node_(2) setdest 100.0 0.0 500.0\"
$ns_ at 50.0 \"$node_(2) setdest 100.0 1000.0 500.0\"
''' } }

[[node]]
name = 'far-1'
x = 40.0
y = 1110.0

[[node]]
name = 'far-2'
x = 160.0
y = 1110.0

[[medium]]
name = 'air'
standard = 'g'
rate = '6 Mb/s'
radio = {}
routing = 'oracle'
nodes = ['near', 'far-1', 'far-2']

[[link]]
name = 'there'
medium = 'air'
from = 'a'
to = 'b'

[[link]]
name = 'back'
medium = 'air'
from = 'b'
to = 'a'

[[flow]]
name = 'talk'
protocol = 'udp'
app_rate = '64 kb/s'
transport = { packet = '200 B', payload = '160 B' }
path = [{ links = ['there'], back = ['back'] }]
";

/// The same without a detour: while `near` is away there is no route.
fn bridge() -> String {
    DETOUR
        .replace("x = 40.0\ny = 1110.0", "x = 40.0\ny = 0.0")
        .replace("x = 160.0\ny = 1110.0", "x = 160.0\ny = 0.0")
}

fn observed(text: &str, overrides: &[&str], seed: u64) -> (Outcome, Series) {
    let observe = Observe { series: true, events: None };
    let outcome = simulator::run(&plan(text, overrides), seed, observe, &Progress::default());
    let mut outcome = outcome.expect("nobody stopped it");
    let series = outcome.series.take().expect("it was asked for");
    (outcome, *series)
}

/// The longest gap in seconds between arrivals over the first path, of the gaps that begin between
/// two times.
fn longest_gap(series: &Series, paths: usize, from: f64, until: f64) -> f64 {
    let (mut gap, mut since, mut had) = (0.0_f64, 0.0, -1.0);
    for (t, row) in series.t_s.iter().zip(series.paths.arrived_bytes.chunks(paths)) {
        if row[0] > had {
            gap = if (from..until).contains(&since) { gap.max(t - since) } else { gap };
            (since, had) = (*t, row[0]);
        }
    }
    let end = series.t_s[series.t_s.len() - 1];
    if (from..until).contains(&since) { gap.max(end - since) } else { gap }
}

/// AODV learns of the break from the MAC, after 7 attempts of a packet. The route had 2 hops, so
/// the first RREQ travels 4 hops, and its wait is 2 · 40 ms · (4 + 2) (RFC 3561 §6.4); if it is
/// lost, the wait of the next is 2 · 40 ms · (6 + 2). OLSR's nodes take 6 s to forget a silent
/// neighbour, and 5 s to tell others (RFC 3626 §18); after a report of the MAC they have another
/// route at once if TCs have advertised it.
#[test]
fn after_a_break_packets_come_again_within_the_protocols_own_times() {
    let step = 0.1; // sampling interval of positions
    for (routing, bound) in [("oracle", step), ("aodv", 0.48 + step), ("olsr", 6.0 + 5.0 + step)] {
        let mut worst = 0.0_f64;
        for seed in 1..=10 {
            let change = format!("medium.air.routing={routing}");
            let (outcome, series) = observed(DETOUR, &[&change], seed);
            let gap = longest_gap(&series, 1, 29.0, 45.0);
            assert!(gap <= bound + 0.02, "{routing}, seed {seed}: {gap} s");
            worst = worst.max(gap);
            let routes = |hops: usize| outcome.routes.iter().any(|it| it.nodes.len() == hops + 1);
            assert!(routes(2) && routes(3), "{routing}: {:?}", outcome.routes);
            assert!(outcome.ways[0].connected == 1.0 && outcome.ways[0].route_changes > 0);
        }
        println!("{routing}: {worst:.2} s without a packet after the break at most");
    }
}

/// A restored route is found at AODV's next RREQ, at most 11.2 s after the last one (2.8 s · 2²).
/// OLSR finds it when the nodes have exchanged HELLOs (two HELLOs, 4 s), not before 6 s after the
/// MAC's last report, and have told others (5 s).
#[test]
fn after_a_partition_packets_come_again_when_there_is_a_way() {
    for (routing, bound) in [("oracle", 0.1), ("aodv", 11.2), ("olsr", 4.0 + 6.0 + 5.0)] {
        let mut worst = 0.0_f64;
        for seed in 1..=10 {
            let change = format!("medium.air.routing={routing}");
            let (outcome, series) = observed(&bridge(), &[&change], seed);
            let away = longest_gap(&series, 1, 29.0, 45.0);
            // Out of reach from 30.2 s to 51.8 s.
            assert!((21.0..21.9 + bound).contains(&away), "{routing}, seed {seed}: {away} s");
            worst = worst.max(30.2 + away - 51.8);
            assert!(outcome.ways[0].unreachable_packets > 100, "{:?}", outcome.ways);
            let connected = outcome.ways[0].connected;
            assert!((connected - (1.0 - 21.6 / 60.0)).abs() < 0.01, "{connected}");
        }
        println!("{routing}: {worst:.2} s until a packet comes over a way that is there again");
    }
}

/// A connection survives breaks and partitions, under any routing.
#[test]
fn a_connection_goes_on_after_breaks_and_partitions() {
    for routing in ["oracle", "aodv", "olsr"] {
        for (number, text) in [DETOUR.into(), bridge()].iter().enumerate() {
            let text = text.replace("protocol = 'udp'\napp_rate = '64 kb/s'\n", "");
            let text = text.replace("transport = {", "transport = { rto_max = '2 s',");
            let (outcome, series) =
                observed(&text, &[&format!("medium.air.routing={routing}")], number as u64 + 1);
            let taken = |t: f64| series.paths.taken_bytes[(t / 0.01) as usize];
            assert!(taken(80.0) > taken(72.0) && taken(29.0) > taken(25.0), "{routing}");
            println!("{routing}: {:.0} kb/s", outcome.flows[0].goodput_bps / 1e3);
        }
    }
}

/// No station is in reach: each packet is counted, its sender is notified, and the run ends.
#[test]
fn packets_to_nowhere_are_unreachable_and_lost() {
    let text = bridge().replace("$ns_ at 50.0", "# $ns_ at 50.0").replace("Y_ 1000.0", "Y_ 0.0");
    for routing in ["oracle", "olsr", "aodv"] {
        let changes = [&format!("medium.air.routing={routing}"), "warmup=0 s"];
        let outcome = run(&plan(&text, &changes), 1);
        let (way, path, link) = (outcome.ways[0], &outcome.paths[0], &outcome.links[0]);
        assert_eq!((way.connected, path.throughput_bps), (0.0, 0.0));
        assert_eq!(path.lost_packets, link.lost_packets + link.dropped_packets);
        assert_eq!(path.sent_packets, path.lost_packets + outcome.conservation.in_flight);
        // With AODV, 64 packets may wait for a route during a discovery.
        let waiting = if routing == "aodv" { 64 } else { 0 };
        assert!(outcome.conservation.in_flight <= waiting, "{routing}: {way:?} {path:?}");
        assert_eq!(way.unreachable_packets, path.lost_packets, "{routing}");
    }
}

/// A car drives past two access points.
const DRIVE: &str = "
name = 'drive'
duration = '30 s'

[area]
width = 400.0
height = 50.0

[[node]]
name = 'car'
moves = { trace = { text = '''
$node_(0) set X_ 10.0
$node_(0) set Y_ 0.0
$ns_ at 5.0 \"$node_(0) setdest 210.0 0.0 10.0\"''' } }

[[node]]
name = 'points'
count = 2
places = [[10.0, 20.0], [210.0, 20.0]]

[[medium]]
name = 'air'
standard = 'g'
rate = '6 Mb/s'
radio = {}
routing = 'association'
access = 'points'

[[link]]
name = 'up'
medium = 'air'
from = 'car'
to = 'points'

[[link]]
name = 'down'
medium = 'air'
from = 'points'
to = 'car'

[[flow]]
name = 'call'
protocol = 'udp'
echo = true
app_rate = '64 kb/s'
path = [{ links = ['up'], back = ['down'] }]
";

#[test]
fn a_station_that_drives_by_is_handed_over_and_loses_little() {
    let text = format!("{DRIVE}{SMALL}\n");
    let outcome = run(&plan(&text, &[]), 1);
    assert_eq!(outcome.stations[0].handovers, 1);
    let path = &outcome.paths[0];
    assert_eq!(path.lost_packets, 0, "packets up wait for the new access point: {path:?}");
    let lost = outcome.links[1].lost_packets + outcome.links[1].dropped_packets;
    assert!(lost <= 6, "what comes down within 100 ms is for nobody: {lost}");
    let routes: Vec<_> = outcome.routes.iter().map(|route| route.nodes.clone()).collect();
    assert_eq!(routes, [[0, 1], [0, 2], [1, 0], [2, 0]]);
    // With one access point only, it is out of reach at the other end.
    let one = ["to", "from", "access"].iter().fold(text, |text, key| {
        text.replace(&format!("{key} = 'points'"), &format!("{key} = 'points-1'"))
    });
    let outcome = run(&plan(&one, &[]), 1);
    assert_eq!((outcome.stations[0].handovers, outcome.routes.len()), (1, 2));
    assert!(outcome.paths[0].echoed_packets > 800, "{:?}", outcome.paths[0]);
}
