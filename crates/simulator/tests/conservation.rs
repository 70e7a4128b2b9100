//! Conservation: packets and bytes neither appear nor vanish, for arbitrary networks.

mod common;

use common::{PACKET, PAYLOAD, drawn, kinds, plan, run, with_queues};
use control::ControllerSpec;
use proptest::prelude::*;
use simulator::Outcome;
use transport::Scheduler;

const SECONDS: f64 = 3.0;

/// A link: its transmitter, its delay in ms, and the rest as text.
fn link(name: &'static str) -> impl Strategy<Value = String> {
    let queue = prop_oneof![
        Just(String::new()),
        Just("queue = \"unlimited\"".to_owned()),
        (1_u32..60)
            .prop_map(|n| format!("queue = {{ droptail = {{ packets = \"{n} packets\" }} }}")),
        (2_u32..60).prop_map(|n| format!("queue = {{ droptail = {{ bytes = \"{n} kB\" }} }}")),
        (1_u32..20, 0.01..1.0, 0.01..1.0, any::<bool>(), any::<bool>()).prop_map(
            |(min, max_p, weight, gentle, count)| {
                let spacing = if count { "count" } else { "independent" };
                format!(
                    "queue = {{ red = {{ min = \"{min} packets\", max = \"{} packets\", \
                     max_p = {max_p}, weight = {weight}, gentle = {gentle}, \
                     spacing = \"{spacing}\", ecn = {gentle}, limit = \"{} packets\" }} }}",
                    2 * min,
                    5 * min
                )
            }
        ),
    ];
    let loss = prop_oneof![
        2 => Just(String::new()),
        1 => (0.0..0.3, prop::sample::select(vec!["before", "after"])).prop_map(|(p, place)| {
            format!("loss = {{ probability = {p}, place = \"{place}\" }}")
        }),
        1 => (0.0..0.3, 1.6..9.0, 0.5..1.0).prop_map(|(p, burst, bad)| {
            format!("loss = {{ probability = {p}, burst = {burst}, bad = {bad} }}")
        }),
    ];
    let fault = prop_oneof![
        3 => Just(String::new()),
        1 => (0.0..0.3, 0_u32..50).prop_map(|(p, ms)| {
            format!("reorder = {{ probability = {p}, delay = \"{ms} ms\" }}")
        }),
        1 => (0.0..0.3).prop_map(|p| format!("duplicate = {p}")),
    ];
    let changes = prop::collection::vec(change(), 0..5);
    let parts = (transmitter(), 0_u32..80, queue, loss, fault, changes);
    parts.prop_map(move |(transmitter, delay, queue, loss, fault, mut changes)| {
        let rated = transmitter.starts_with("rate");
        changes.retain(|change| rated || !change.contains("rate"));
        format!(
            "[[link]]\nname = \"{name}\"\n{transmitter}\ndelay = \"{delay} ms\"\n\
             {queue}\n{loss}\n{fault}\n{}\n",
            changes.concat()
        )
    })
}

/// A rate, or opportunities within a quarter of a second.
fn transmitter() -> impl Strategy<Value = String> {
    let times = prop::collection::vec(0_u32..250, 1..100);
    prop_oneof![
        3 => (100_u32..20_000).prop_map(|rate| format!("rate = \"{rate} kb/s\"")),
        1 => (times, 0_u32..400).prop_map(|(mut times, start)| {
            times.push(250);
            times.sort_unstable();
            let times: Vec<_> = times.iter().map(u32::to_string).collect();
            let times = times.join(" ");
            format!("opportunities = {{ times = \"{times}\", start = \"{start} ms\" }}")
        }),
    ]
}

/// A change of a link within the run.
fn change() -> impl Strategy<Value = String> {
    let what = prop_oneof![
        (50_u32..30_000).prop_map(|rate| format!("rate = \"{rate} kb/s\"")),
        (0_u32..200).prop_map(|delay| format!("delay = \"{delay} ms\"")),
        (0.0..0.9).prop_map(|loss| format!("loss = {loss}")),
        any::<bool>().prop_map(|up| format!("up = {up}")),
    ];
    (0_u32..3000, what)
        .prop_map(|(at, what)| format!("[[link.change]]\nat = \"{at} ms\"\n{what}\n"))
}

/// An example of each kind of scheduler, as in a scenario.
fn schedulers() -> Vec<String> {
    let written = |scheduler: Scheduler| {
        let mut parameters = toml::Table::try_from(scheduler).expect("it is a table");
        let kind = parameters.remove("kind").expect("a plan names the kind");
        format!("{{ {kind} = {} }}", toml::Value::Table(parameters))
    };
    Scheduler::examples().into_iter().map(written).collect()
}

/// Transport options.
fn transport() -> impl Strategy<Value = String> {
    let scheduler = prop::sample::select(schedulers());
    let delayed = prop::sample::select(vec!["0 ms", "40 ms", "linux"]);
    let modern = (any::<[bool; 11]>(), prop::sample::select(vec!["keep", "restart", "decay"]));
    (any::<bool>(), any::<bool>(), modern, delayed, 1_u32..20, 3_u32..200, scheduler).prop_map(
        |(sack, limited, (modern, idle), delayed, window, buffer, scheduler)| {
            let [rack, tlp, eifel, dsack, frto, ecn, handshake, autotune, help, penalise, suspend] =
                modern;
            let handshake = handshake || delayed == "linux";
            format!(
                "[transport]\nsack = {sack}\nlimited_transmit = {limited}\nrack = {}\ntlp = {}\n\
                 dsack = {}\neifel = {eifel}\nfrto = {}\necn = {ecn}\nidle = \"{idle}\"\n\
                 handshake = {handshake}\nautotune = {autotune}\nopportunistic = {help}\n\
                 penalise = {}\nsuspend = {suspend}\n\
                 delayed_ack = \"{delayed}\"\ninitial_window = {window}\n\
                 receive_buffer = \"{buffer} kB\"\nscheduler = {scheduler}\n",
                sack && rack,
                sack && tlp,
                sack && dsack,
                sack && frto,
                help && penalise
            )
        },
    )
}

/// A flow over one or two paths; the second may join late and leave early.
fn flow(number: usize) -> impl Strategy<Value = String> {
    let controllers = ControllerSpec::all();
    let amount = prop_oneof![
        4 => Just(String::new()),
        2 => (1_u32..300).prop_map(|kb| format!("transfer = \"{kb} kB\"")),
        1 => (1_u32..300, prop::sample::select(vec!["\"exponential\"", "{ pareto = 1.3 }", "{ lognormal = 1.0 }"]))
            .prop_map(|(kb, law)| format!("transfer = \"{kb} kB\"\nsizes = {law}")),
        2 => (50_u32..3000).prop_map(|kbps| format!("app_rate = \"{kbps} kb/s\"")),
        1 => (50_u32..3000, 1_u32..900, any::<bool>()).prop_map(|(kbps, ms, random)| {
            format!(
                "app_rate = \"{kbps} kb/s\"\npauses = {{ on = \"{ms} ms\", off = \"{} ms\", random = {random} }}",
                1000 - ms
            )
        }),
        1 => (50_u32..3000).prop_map(|kbps| format!("app_rate = \"{kbps} kb/s\"\nprotocol = \"udp\"")),
    ];
    let way = || prop::sample::select(vec!["[\"a\"]", "[\"b\"]", "[\"a\", \"b\"]"]);
    let back = prop_oneof![Just(String::new()), Just("back = [\"b\"]\n".to_owned())];
    let second = prop::option::of((way(), 0_u32..2000, prop::option::of(1_u32..1000)));
    let users = prop_oneof![
        4 => (1_u32..4).prop_map(|count| format!("count = {count}\nspread = \"500 ms\"")),
        1 => (0.5..5.0).prop_map(|rate| format!("arrivals = {rate}")),
    ];
    let parts = (prop::sample::select(controllers), users, amount, way(), back, second);
    parts.prop_map(move |(controller, users, amount, first, back, second)| {
        let mut text = format!(
            "[[flow]]\nname = \"class{number}\"\ncontroller = \"{controller}\"\n{users}\n\
             {amount}\n[[flow.path]]\nlinks = {first}\n{back}"
        );
        let second = second.filter(|_| !amount.contains("udp"));
        if let Some((links, join, stay)) = second {
            text += &format!("[[flow.path]]\nlinks = {links}\njoin = \"{join} ms\"\n");
            text += if join % 3 == 0 { "backup = true\n" } else { "" };
            text += if join % 2 == 0 { "lower_effort = true\n" } else { "" };
            if let Some(stay) = stay {
                text += &format!("leave = \"{} ms\"\n", join + stay);
            }
        }
        text
    })
}

fn scenario() -> impl Strategy<Value = String> {
    (transport(), link("a"), link("b"), flow(0), flow(1)).prop_map(|(transport, a, b, one, two)| {
        format!("name = \"random\"\nduration = \"{SECONDS} s\"\n{transport}{a}{b}{one}{two}")
    })
}

/// Without a warm-up all counts are since the start, so that they must add up.
fn check(outcome: &Outcome) -> Result<(), TestCaseError> {
    prop_assert!(outcome.conservation.holds(), "{:?}", outcome.conservation);
    let mut lost = 0;
    for link in &outcome.links {
        let carried = link.throughput_bps * SECONDS / 8.0;
        prop_assert!(link.dropped_packets <= link.arrived_packets);
        prop_assert!(link.lost_packets + link.dropped_packets <= link.arrived_packets);
        prop_assert!(carried <= link.arrived_packets as f64 * PACKET + 0.5);
        lost += link.dropped_packets + link.lost_packets;
    }
    prop_assert_eq!(lost, outcome.conservation.dropped);
    let mut data_lost = 0;
    let copied = outcome.conservation.copied;
    for path in &outcome.paths {
        let arrived = path.throughput_bps * SECONDS / 8.0 / PACKET;
        prop_assert!((path.sent_packets + copied) as f64 + 1e-6 >= arrived, "{path:?}");
        prop_assert!(path.lost_packets <= path.sent_packets + copied);
        prop_assert!(path.retransmits <= path.sent_packets);
        data_lost += path.lost_packets;
    }
    prop_assert!(data_lost <= lost);
    for flow in &outcome.flows {
        // Each payload byte is counted once, so its sum cannot exceed the bytes that arrived on the
        // wire.
        prop_assert!(
            flow.goodput_bps <= flow.throughput_bps * PAYLOAD / PACKET * (1.0 + 1e-9) + 1e-6
        );
    }
    Ok(())
}

#[test]
fn random_scenarios_have_every_controller_queue_and_scheduler() {
    let all = &(&kinds::controllers() | &kinds::queues()) | &kinds::schedulers();
    let plans = drawn((scenario(), 0..100_usize), 5_000);
    let missing = kinds::unreached(
        all,
        plans.map(|(text, first)| with_queues(plan(&text, &[]), first, 9, true)),
    );
    assert!(missing.is_empty(), "no scenario has {missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(600) })]
    #[test]
    fn every_packet_and_every_byte_is_accounted_for(
        text in scenario(),
        seed in any::<u64>(),
        queues in prop::option::weighted(0.7, (0..100_usize, 1..60_u64, any::<bool>())),
    ) {
        let mut plan = plan(&text, &[]);
        if let Some((first, limit, ecn)) = queues {
            plan = with_queues(plan, first, limit, ecn);
        }
        let outcome = run(&plan, seed);
        check(&outcome)?;
        prop_assert_eq!(outcome.digest, run(&plan, seed).digest);
    }
}

const TRANSFER: &str = r#"
name = "transfer"
duration = "60 s"

[[link]]
name = "a"
rate = "4 Mb/s"
delay = "15 ms"
loss = { probability = 0.03 }

[[link.change]]
at = "2 s"
up = false

[[link.change]]
at = "3 s"
up = true

[[link]]
name = "b"
rate = "1 Mb/s"
delay = "60 ms"
queue = { droptail = { packets = "6 packets" } }

[[flow]]
name = "one"
transfer = "1234567 B"

[[flow.path]]
links = ["a"]

[[flow]]
name = "two"
controller = "olia"
transfer = "1234567 B"

[[flow.path]]
links = ["a"]
leave = "2.5 s"

[[flow.path]]
links = ["b"]
join = "500 ms"
"#;

#[test]
fn a_transfer_is_delivered_whole_and_once_over_loss_outage_and_lost_paths() {
    for seed in 1..=5 {
        for sack in ["transport.sack=true", "transport.sack=false"] {
            let outcome = run(&plan(TRANSFER, &[sack]), seed);
            for flow in &outcome.flows {
                assert!(flow.completed_s > flow.start_s && flow.completed_s < 60.0, "{flow:?}");
                let bytes = flow.goodput_bps * 60.0 / 8.0;
                assert!((bytes - 1_234_567.0).abs() < 1e-3, "{sack}, seed {seed}: {bytes} bytes");
            }
            assert_eq!(outcome.conservation.in_flight, 0);
        }
    }
}

#[test]
fn an_application_that_writes_faster_than_its_path_carries_is_held_back_by_the_window() {
    let text = r#"
        name = "eager"
        duration = "5 s"
        [[link]]
        name = "slow"
        rate = "500 kb/s"
        delay = "20 ms"
        queue = { droptail = { packets = "5 packets" } }
        [[flow]]
        name = "one"
        app_rate = "2 Mb/s"
        [[flow.path]]
        links = ["slow"]
    "#;
    let outcome = run(&plan(text, &[]), 1);
    assert!(outcome.events < 10_000, "{} events: a timer that is always due", outcome.events);
    assert!(outcome.links[0].utilisation > 0.9);
}

#[test]
fn a_delayed_ack_is_sent_when_it_is_due_though_an_earlier_one_left_before_its_time() {
    // The second of three segments triggers the first one's ACK; the third waits its 40 ms.
    let text = r#"
        name = "three segments"
        duration = "5 s"
        [transport]
        delayed_ack = "40 ms"
        [[link]]
        name = "line"
        rate = "10 Mb/s"
        delay = "5 ms"
        [[flow]]
        name = "one"
        transfer = "4344 B"
        [[flow.path]]
        links = ["line"]
    "#;
    let outcome = run(&plan(text, &[]), 1);
    assert_eq!((outcome.paths[0].timeouts, outcome.paths[0].sent_packets), (0, 3));
    let completed = outcome.flows[0].completed_s;
    assert!((completed - (0.050 + 3.0 * 0.0012)).abs() < 1e-9, "{completed} s");
}
