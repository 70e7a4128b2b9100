//! Users whose both ends are here: what they transfer arrives whole, coded and under TFRC.
#![cfg(target_os = "linux")]

mod common;

use common::pair;
use driver::{Driver, Endpoints, Sockets};
use emulator::sleep;
use rustix::event::{PollFd, PollFlags};
use scenario::Plan;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Span;

const BYTES: u64 = 300_000;

fn plan(controller: &str, path: &str) -> Plan {
    let text = format!(
        "name = \"it\"\nduration = \"9 s\"\n[[link]]\nname = \"wire\"\nrate = \"10 Mb/s\"\n\
         [[flow]]\nname = \"user\"\ncount = 2\ncontroller = \"{controller}\"\n\
         transfer = \"{BYTES} B\"\npath = [{path}]\n"
    );
    Plan::read(&text, "it", &[]).expect("a right scenario")
}

/// Carries packets between the sockets of each pair, and loses every `nth` packet of data.
fn relay(pairs: &[(OwnedFd, OwnedFd)], nth: usize, stop: &AtomicBool) -> usize {
    let (mut buffer, mut count) = (vec![0; 65_535], 0);
    while !stop.load(Ordering::Relaxed) {
        for (one, other) in pairs {
            for (from, to) in [(one, other), (other, one)] {
                while let Ok(bytes) = rustix::io::read(from, &mut buffer) {
                    count += usize::from(bytes > 1000);
                    if bytes <= 1000 || !count.is_multiple_of(nth) {
                        rustix::io::write(to, &buffer[..bytes]).expect("there is room");
                    }
                }
            }
        }
        let mut polls: Vec<_> = pairs
            .iter()
            .flat_map(|(a, b)| [a, b])
            .map(|it| PollFd::new(it, PollFlags::IN))
            .collect();
        sleep(&mut polls, Span::millis(1)).expect("it sleeps");
    }
    count
}

fn transfers(controller: &str, path: &str) {
    let plan = plan(controller, path);
    let paths = plan.classes[0].paths.len();
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..2 * paths).map(|_| pair()).unzip();
    let (mut ours, mut theirs) = (ours, theirs);
    let (receivers, far) = (ours.split_off(paths), theirs.split_off(paths));
    let pairs: Vec<_> = theirs.into_iter().zip(far).collect();
    let ends = Endpoints {
        class: 0,
        addresses: (0..paths).map(|path| Ipv4Addr::new(10, 1, path as u8, 1)).collect(),
        server: Ipv4Addr::new(10, 1, 0, 2),
        first_port: 10_000,
        starts: vec![Span::ZERO, Span::millis(20)],
        send_buffer: 100_000,
    };
    let sockets = Sockets { senders: ours, receivers: Some(receivers) };
    let driver = Driver::new(&plan, vec![(ends, sockets)], 1).expect("what a courier can have");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| driver.run(Span::ZERO).expect("sockets do not fail"));
        let carrying = scope.spawn(|| relay(&pairs, 50, &stop));
        while driver.states().iter().any(|user| user.completed.is_none() && user.trouble.is_empty())
        {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        driver.stop();
        let report = running.join().expect("no panic");
        stop.store(true, Ordering::Relaxed);
        let data = carrying.join().expect("no panic") as u64;
        assert!(data * 1_400 > 2 * BYTES && report.unsent == 0 && report.arrived > 0);
    });
    for user in driver.states() {
        assert_eq!((user.received, user.trouble.as_str()), (Some(BYTES), ""));
    }
}

#[test]
fn transfers_of_which_one_path_is_coded_are_whole() {
    let coded = "{ links = [\"wire\"], coding = { redundancy = 1.1, window = 6 } }";
    transfers("couple+", &format!("{{ links = [\"wire\"] }}, {coded}"));
}

#[test]
fn transfers_under_a_controller_that_goes_by_reports_are_whole() {
    transfers("bilevel-tfrc", "{ links = [\"wire\"] }, { links = [\"wire\"] }");
}
