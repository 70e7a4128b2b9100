//! Pairs of datagram sockets stand for TUN devices: they also read and write whole packets. The
//! scheduler of a busy machine may delay anything, so times have exact lower bounds and loose upper
//! ones.

use super::*;
use crate::device::Side;
use crate::packet::tests::{built, checksum};
use crate::report::Reason;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

const PORT: u16 = 5000;
const TCP: u8 = 6;
const FLOW: &str = "[[flow]]\nname = 'tcp'\n[[flow.path]]\nlinks = ['a']\n";

/// An emulation and the hosts' ends of its devices: for each path of each class the sender's and
/// the receiver's.
struct Laboratory {
    emulator: Emulator,
    ends: Vec<[UnixDatagram; 2]>,
}

fn plan(links_and_flows: &str) -> Plan {
    let text = format!("name = 'x'\nduration = '60 s'\nsample = '10 ms'\n{links_and_flows}");
    Plan::read(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Devices for these paths, each given as class and path, and the hosts' ends of them.
fn devices(paths: &[(usize, usize)]) -> (Vec<Device>, Vec<[UnixDatagram; 2]>) {
    let mut devices = Vec::new();
    let ends = paths.iter().map(|(class, path)| {
        [Side::Sender, Side::Receiver].map(|side| {
            let (own, host) = UnixDatagram::pair().unwrap();
            host.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            devices.push(Device { fd: own.into(), class: *class, path: *path, side });
            host
        })
    });
    let ends = ends.collect();
    (devices, ends)
}

fn settings(seed: u64) -> Settings {
    Settings { first_port: PORT, seed, series: true }
}

fn laboratory(text: &str, seed: u64) -> Laboratory {
    let plan = plan(text);
    let classes = plan.classes.iter().enumerate();
    let paths = classes.flat_map(|(index, class)| (0..class.paths.len()).map(move |p| (index, p)));
    let (devices, ends) = devices(&paths.collect::<Vec<_>>());
    let emulator = Emulator::new(&plan, devices, settings(seed)).unwrap();
    Laboratory { emulator, ends }
}

/// Sends packet number `tag` of `bytes` to `user`, from a host's end on the sender's side.
fn send(end: &UnixDatagram, user: u16, bytes: u16, tag: u8) {
    let mut packet = built(TCP, 0, 40_000, PORT + user, bytes);
    packet[30] = tag;
    end.send(&packet).unwrap();
}

/// Runs for this many milliseconds while it reads `end`; returns the report, and the time and the
/// number of each packet that came out.
fn run(emulator: Emulator, ms: u64, end: &UnixDatagram) -> (Report, Vec<(Time, u8)>) {
    let clock = Clock::start();
    let watch = Watch::default();
    std::thread::scope(|scope| {
        let report = scope.spawn(|| emulator.run(&watch, Some(Span::millis(ms))));
        let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
        loop {
            let over = report.is_finished();
            match end.recv(&mut buffer) {
                Ok(_) => out.push((clock.now(), buffer[30])),
                Err(_) if over => break,
                Err(_) => {}
            }
        }
        (report.join().unwrap().unwrap(), out)
    })
}

fn tags(out: &[(Time, u8)]) -> Vec<u8> {
    out.iter().map(|(_, tag)| *tag).collect()
}

#[test]
fn packets_cross_a_link_in_order_at_its_rate_and_after_its_delay() {
    let link = "[[link]]\nname = 'a'\nrate = '10 Mb/s'\ndelay = '20 ms'\n";
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    (0..60).for_each(|tag| send(sender, 0, 1250, tag)); // 1 ms each
    let (report, out) = run(emulator, 400, receiver);
    assert_eq!(tags(&out), (0..60).collect::<Vec<_>>());
    for (at, tag) in &out {
        let due = Span::millis(20 + u64::from(*tag) + 1);
        assert!(at.0 >= due.0, "packet {tag} at {at} before {due}");
        assert!(at.since(Time::ZERO + due) < Span::millis(200), "packet {tag} at {at}");
    }
    assert_eq!(report.own.conservation.written, 60);
    assert_eq!(report.own.largest_packet_bytes, 1250);
    assert!(report.own.lateness.p50_s < 0.1, "{:?}", report.own);
    assert!((0.0..0.1).contains(&report.own.waiting.p50_s), "{:?}", report.own);
    let expected = 8.0 * 60.0 * 1250.0 / 0.4;
    assert!((report.links[0].throughput_bps / expected - 1.0).abs() < 1e-9, "{:?}", report.links);
    assert!((report.paths[0].throughput_bps / expected - 1.0).abs() < 1e-9, "{:?}", report.paths);
    assert_eq!((report.paths[0].sent_packets, report.paths[0].lost_packets), (60, 0));
}

#[test]
fn packets_leave_a_link_with_opportunities_by_two_when_it_has_one() {
    for queue in ["{ droptail = { packets = '80 packets' } }", "{ codel = { target = '5 s' } }"] {
        let cell = "delay = '20 ms'\nopportunities = { times = '5' }";
        let link = format!("[[link]]\nname = 'a'\n{cell}\nqueue = {queue}\n");
        let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
        let [sender, receiver] = &ends[0];
        (0..40).for_each(|tag| send(sender, 0, 750, tag));
        let (report, out) = run(emulator, 500, receiver);
        assert_eq!(tags(&out), (0..40).collect::<Vec<_>>());
        for (at, tag) in &out {
            let due = Span::millis(20 + 5 * (u64::from(*tag) / 2 + 1));
            assert!(at.0 >= due.0, "packet {tag} at {at} before {due}");
            assert!(at.since(Time::ZERO + due) < Span::millis(200), "packet {tag} at {at}");
        }
        assert_eq!(report.own.conservation.written, 40);
    }
}

#[test]
fn a_packet_from_the_receiver_takes_the_way_back_and_is_no_data() {
    let link = "[[link]]\nname = 'a'\nrate = '10 Mb/s'\ndelay = '20 ms'\n";
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    receiver.send(&built(TCP, 0, PORT, 40_000, 60)).unwrap();
    let (report, out) = run(emulator, 200, sender);
    assert_eq!(out.len(), 1);
    assert!(out[0].0 >= Time::ZERO + Span::millis(20), "{out:?}");
    assert_eq!((report.links[0].arrived_packets, report.links[1].arrived_packets), (0, 1));
    assert_eq!(report.paths[0].sent_packets, 0);
}

#[test]
fn several_hops_add_their_delays_and_no_lateness() {
    let links = "[[link]]\nname = 'a'\ndelay = '30 ms'\n[[link]]\nname = 'b'\ndelay = '30 ms'\n\
                 [[link]]\nname = 'c'\nrate = '1 Mb/s'\n\
                 [[flow]]\nname = 'tcp'\n[[flow.path]]\nlinks = ['a', 'b', 'c']\n";
    let Laboratory { emulator, ends } = laboratory(links, 1);
    let [sender, receiver] = &ends[0];
    send(sender, 0, 1250, 0);
    send(sender, 0, 1250, 1);
    let (report, out) = run(emulator, 300, receiver);
    assert!(out[0].0 >= Time::ZERO + Span::millis(70), "{out:?}");
    assert!(out[1].0 >= Time::ZERO + Span::millis(80), "{out:?}");
    assert!(report.own.lateness.max_s < 0.2, "{:?}", report.own);
}

#[test]
fn a_full_queue_drops_and_what_is_dropped_is_counted() {
    // 20 ms for each packet: one in transmission, five waiting, and fourteen find the queue full.
    let link = "[[link]]\nname = 'a'\nrate = '400 kb/s'\nqueue = { droptail = { packets = '5 packets' } }\n";
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    (0..20).for_each(|tag| send(sender, 0, 1000, tag));
    let (report, out) = run(emulator, 400, receiver);
    let dropped = report.links[0].dropped_packets;
    assert!((10..=14).contains(&dropped), "{:?}", report.links);
    assert_eq!(out.len() as u64, 20 - dropped);
    assert_eq!(report.paths[0].lost_packets, dropped);
    let series = report.series.expect("it was asked for");
    assert_eq!(series.links.dropped_packets.len(), 2 * series.t_s.len());
    assert_eq!(series.t_s[..2], [0.0, 0.01]);
    let last = series.links.dropped_packets.len() - 2;
    assert_eq!(series.links.dropped_packets[last], dropped as f64);
}

#[test]
fn red_drops_early_and_conservation_holds_with_packets_in_flight() {
    let red = "{ min = '2 packets', max = '6 packets', max_p = 0.5, limit = '50 packets', \
               weight = 1.0, gentle = true, spacing = 'independent' }";
    let link = format!("[[link]]\nname = 'a'\nrate = '400 kb/s'\nqueue = {{ red = {red} }}\n");
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    (0..60).for_each(|tag| send(sender, 0, 1000, tag));
    let (report, _) = run(emulator, 70, receiver);
    let counts = report.own.conservation;
    assert!(report.links[0].dropped_packets > 10 && counts.in_flight > 0, "{report:?}");
    assert!(counts.holds() && counts.read == 60, "{counts:?}");
}

#[test]
fn one_seed_loses_the_same_packets_in_every_run_and_another_seed_others() {
    for place in ["before", "after"] {
        let loss = format!("loss = {{ probability = 0.3, place = '{place}' }}");
        let text =
            format!("[[link]]\nname = 'a'\nrate = '50 Mb/s'\ndelay = '5 ms'\n{loss}\n{FLOW}");
        let survivors = |seed| {
            let Laboratory { emulator, ends } = laboratory(&text, seed);
            let [sender, receiver] = &ends[0];
            (0..60).for_each(|tag| send(sender, 0, 500, tag));
            let (report, out) = run(emulator, 150, receiver);
            assert_eq!(report.links[0].lost_packets, 60 - out.len() as u64);
            assert_eq!(report.paths[0].lost_packets, 60 - out.len() as u64);
            tags(&out)
        };
        let first = survivors(1);
        assert!((25..60).contains(&first.len()), "{first:?}");
        assert_eq!(first, survivors(1));
        assert_ne!(first, survivors(2));
    }
}

#[test]
fn users_do_not_meet_on_links_of_their_own() {
    let text = "[[link]]\nname = 'a'\nrate = '400 kb/s'\nper_user = true\n\
                queue = { droptail = { packets = '2 packets' } }\n\
                [[flow]]\nname = 'tcp'\ncount = 3\n[[flow.path]]\nlinks = ['a']\n";
    let Laboratory { emulator, ends } = laboratory(text, 1);
    let [sender, receiver] = &ends[0];
    (0..20).for_each(|tag| send(sender, 0, 1000, tag));
    send(sender, 2, 1000, 100);
    let (report, out) = run(emulator, 300, receiver);
    assert_eq!(report.links[0].copies, 3);
    let lost = [0, 1, 2].map(|user| report.paths[user].lost_packets);
    assert!(lost[0] >= 10 && lost[1..] == [0, 0], "{lost:?}");
    assert_eq!([0, 1, 2].map(|user| report.paths[user].sent_packets), [20, 0, 1]);
    let alone = out.iter().find(|(_, tag)| *tag == 100).expect("it arrives").0;
    assert!(alone >= Time::ZERO + Span::millis(20), "{alone}");
}

#[test]
fn a_link_that_is_down_drops_until_it_comes_up() {
    let text = format!(
        "[[link]]\nname = 'a'\nrate = '10 Mb/s'\n[[link.change]]\nat = '0 s'\nup = false\n\
         [[link.change]]\nat = '200 ms'\nup = true\n{FLOW}"
    );
    let Laboratory { emulator, ends } = laboratory(&text, 1);
    let [sender, receiver] = &ends[0];
    (0..10).for_each(|tag| send(sender, 0, 1000, tag));
    let late = sender.try_clone().unwrap();
    let (report, out) = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(700));
            send(&late, 0, 1000, 77);
        });
        run(emulator, 1200, receiver)
    });
    assert_eq!(report.links[0].lost_packets, 10, "{:?}", report.links);
    assert_eq!(tags(&out), [77]);
}

#[test]
fn what_no_user_sent_is_dropped_and_counted_by_its_reason() {
    let text = format!("[[link]]\nname = 'a'\nrate = '10 Mb/s'\n{FLOW}");
    let Laboratory { emulator, ends } = laboratory(&text, 1);
    let [sender, receiver] = &ends[0];
    sender.send(&[0x60; 48]).unwrap();
    sender.send(&built(1, 0, 1, 2, 60)).unwrap();
    let mut fragment = built(TCP, 0, 40_000, PORT, 60);
    fragment[6] = 0x20;
    sender.send(&fragment).unwrap();
    sender.send(&built(TCP, 0, PORT, PORT - 1, 60)).unwrap();
    sender.send(&built(TCP, 0, PORT, PORT + 1, 60)).unwrap();
    sender.send(&built(TCP, 0, 40_000, PORT, 1501)).unwrap();
    sender.send(&built(TCP, 0, 40_000, PORT, 9000)).unwrap();
    send(sender, 0, 1500, 5);
    let (report, out) = run(emulator, 100, receiver);
    assert_eq!(tags(&out), [5]);
    let drops = Reason::ALL.map(|reason| report.own.drops.get(reason));
    assert_eq!(drops, [2, 1, 2, 2, 0, 0]);
    assert_eq!(report.own.largest_packet_bytes, 9000);
    assert_eq!(report.links[0].arrived_packets, 1);
    assert_eq!(report.own.conservation.read, 8);
}

#[test]
fn a_packet_that_the_device_refuses_is_counted_and_lost() {
    let text = format!("[[link]]\nname = 'a'\nrate = '10 Mb/s'\n{FLOW}");
    let Laboratory { emulator, ends } = laboratory(&text, 1);
    let [[sender, receiver]] = <[_; 1]>::try_from(ends).unwrap();
    send(&sender, 0, 1000, 0);
    drop(receiver);
    let (report, _) = run(emulator, 50, &sender);
    assert_eq!(report.own.drops.get(Reason::WriteError), 1);
    assert_eq!((report.paths[0].lost_packets, report.own.conservation.written), (1, 0));
}

#[test]
fn nothing_counts_before_the_end_of_the_warm_up() {
    let text = format!("warmup = '150 ms'\n[[link]]\nname = 'a'\nrate = '10 Mb/s'\n{FLOW}");
    let Laboratory { emulator, ends } = laboratory(&text, 1);
    let [sender, receiver] = &ends[0];
    send(sender, 0, 1000, 0);
    let (report, out) = run(emulator, 300, receiver);
    assert_eq!(out.len(), 1);
    assert_eq!((report.links[0].arrived_packets, report.paths[0].sent_packets), (0, 0));
    assert_eq!(report.paths[0].throughput_bps, 0.0);
    assert_eq!(report.own.conservation.written, 1);
    let Laboratory { emulator, ends } = laboratory(&text, 1);
    let (report, _) = run(emulator, 50, &ends[0][0]);
    assert!(report.paths[0].throughput_bps.is_nan(), "nothing was measured: {report:?}");
}

#[test]
fn a_run_is_stopped_from_another_thread_and_gives_what_it_has() {
    let text = format!("[[link]]\nname = 'a'\nrate = '10 Mb/s'\n{FLOW}");
    let Laboratory { emulator, ends: _ends } = laboratory(&text, 1);
    let watch = Watch::default();
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| emulator.run(&watch, None));
        while watch.elapsed_s() < 0.05 {
            std::thread::sleep(Duration::from_millis(1));
        }
        watch.stop();
        running.join().unwrap().unwrap()
    });
    assert!((0.05..30.0).contains(&report.own.elapsed_s), "{:?}", report.own);
    assert!(report.own.processor.used < 0.5, "an idle emulator sleeps: {:?}", report.own);
}

#[test]
fn devices_that_do_not_fit_the_plan_are_refused() {
    let link = "[[link]]\nname = 'a'\nrate = '10 Mb/s'\n";
    let two = plan(&format!("{link}{}", FLOW.replace("'tcp'", "'tcp'\ncount = 2")));
    let plan = plan(&format!("{link}{FLOW}"));
    let refused = |paths: &[(usize, usize)], lack: usize, first_port: u16| {
        let (mut devices, _ends) = devices(paths);
        devices.truncate(devices.len() - lack);
        let settings = Settings { first_port, ..settings(1) };
        Emulator::new(&plan, devices, settings).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(&[(0, 0)], 1, PORT).contains("0 devices on the receiver's side"));
    assert!(refused(&[(0, 0), (0, 0)], 1, PORT).contains("2 devices on the sender's side"));
    assert!(refused(&[(0, 0), (0, 1)], 0, PORT).contains("no such path"));
    assert!(refused(&[(1, 0)], 0, PORT).contains("no such path"));
    let (devices, _ends) = devices(&[(0, 0)]);
    let settings = Settings { first_port: u16::MAX, ..settings(1) };
    let error = Emulator::new(&two, devices, settings).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("2 users") && error.contains("only 1"), "{error}");
}

#[test]
fn a_link_that_copies_writes_every_packet_twice_and_gives_its_buffers_back() {
    let link = "[[link]]\nname = 'a'\nrate = '10 Mb/s'\ndelay = '5 ms'\nduplicate = 1.0\n";
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    (0..20).for_each(|tag| send(sender, 0, 1250, tag));
    let (report, out) = run(emulator, 300, receiver);
    assert_eq!(tags(&out), (0..20).flat_map(|tag| [tag, tag]).collect::<Vec<_>>());
    let counts = report.own.conservation;
    assert_eq!((counts.read, counts.copied, counts.written, counts.in_flight), (20, 20, 40, 0));
}

#[test]
fn what_is_held_back_comes_out_so_much_later() {
    let link = "[[link]]\nname = 'a'\nrate = '10 Mb/s'\nreorder = { probability = 1.0, delay = '60 ms' }\n";
    let Laboratory { emulator, ends } = laboratory(&format!("{link}{FLOW}"), 1);
    let [sender, receiver] = &ends[0];
    (0..20).for_each(|tag| send(sender, 0, 1250, tag));
    let (_, out) = run(emulator, 400, receiver);
    assert_eq!(tags(&out), (0..20).collect::<Vec<_>>());
    for (at, tag) in &out {
        assert!(at.0 >= Span::millis(60 + u64::from(*tag) + 1).0, "packet {tag} at {at}");
    }
}

#[test]
fn codel_marks_real_packets_with_ce_and_a_right_checksum() {
    let codel = "queue = { codel = { target = '1 ms', interval = '20 ms', ecn = true } }";
    let link = format!("[[link]]\nname = 'a'\nrate = '2 Mb/s'\n{codel}\n");
    let plan = plan(&format!("{link}{FLOW}"));
    let (devices, ends) = devices(&[(0, 0)]);
    let emulator = Emulator::new(&plan, devices, settings(1)).unwrap();
    let [sender, receiver] = &ends[0];
    for tag in 0..60 {
        let mut packet = built(TCP, 0, 40_000, PORT, 1250);
        (packet[1], packet[30]) = (2, tag); // ECT(0)
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        sender.send(&packet).unwrap();
    }
    let clock = Clock::start();
    let watch = Watch::default();
    let mut marked = 0;
    let report = std::thread::scope(|scope| {
        let report = scope.spawn(|| emulator.run(&watch, Some(Span::millis(600))));
        let mut buffer = [0; 2048];
        while clock.now() < Time::ZERO + Span::millis(650) {
            if receiver.recv(&mut buffer).is_ok() {
                assert_eq!(checksum(&buffer[..20]), 0);
                marked += u64::from(buffer[1] & 3 == 3);
            }
        }
        report.join().unwrap().unwrap()
    });
    assert!(marked > 3, "{marked}");
    assert_eq!((report.links[0].marked_packets, report.links[0].dropped_packets), (marked, 0));
    assert_eq!(report.own.conservation.written, 60);
}

#[test]
fn a_capture_has_what_passes_the_senders_device_each_way() {
    let text = format!("[[link]]\nname = 'a'\nrate = '10 Mb/s'\ndelay = '1 ms'\n{FLOW}");
    let mut laboratory = laboratory(&text, 1);
    let (file, plan) = (tempfile(), plan(&text));
    laboratory.emulator.record(&plan, Box::new(file.try_clone().unwrap()), 60).unwrap();
    let [sender, receiver] = &laboratory.ends[0];
    (0..3).for_each(|tag| send(sender, 0, 1000, tag));
    receiver.send(&built(TCP, 0, PORT, 40_000, 52)).unwrap();
    run(laboratory.emulator, 30, receiver);
    let capture =
        wire::capture::read(rewound(file), Span::millis(100), wire::capture::Part::default())
            .unwrap();
    assert_eq!(capture.packets, 4);
    // The packet from the receiver is written after the delay.
    assert!(capture.broken.is_none() && capture.last.since(capture.first) >= Span(1_000_000));
}

fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("anabranch-{}.pcapng", std::process::id()));
    let options =
        std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path);
    std::fs::remove_file(&path).unwrap(); // the open file stays
    options.unwrap()
}

fn rewound(mut file: std::fs::File) -> std::fs::File {
    use std::io::Seek;
    file.rewind().unwrap();
    file
}

#[test]
fn a_new_rate_is_that_of_the_frame_in_transmission_on_every_kind_of_link() {
    for queue in ["droptail = { packets = '9 packets' }", "codel = { limit = '9 packets' }"] {
        let text = format!(
            "[[link]]\nname = 'a'\nrate = '10 kb/s'\ndelay = '1 ms'\nqueue = {{ {queue} }}\n\
             [[link.change]]\nat = '20 ms'\nrate = '10 Mb/s'\n{FLOW}"
        );
        let Laboratory { emulator, ends } = laboratory(&text, 1);
        (0..3).for_each(|tag| send(&ends[0][0], 0, 1000, tag)); // 0.8 s each at first
        let (report, out) = run(emulator, 80, &ends[0][1]);
        assert_eq!(tags(&out), [0, 1, 2], "{queue}: {:?}", report.own.conservation);
    }
}
