//! Users send to a host that reads: what they transfer arrives whole, over one path and over two.
#![cfg(target_os = "linux")]

mod common;

use common::pair;
use control::ControllerSpec;
use driver::{Driver, Endpoints, Sockets};
use emulator::{Clock, sleep};
use host::{Host, Id, Read, Settings};
use rustix::event::{PollFd, PollFlags};
use scenario::Plan;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use units::Span;

const BYTES: u64 = 200_000;

fn plan(paths: usize, controller: &str) -> Plan {
    let links = r#"path = [{ links = ["wire"] }, { links = ["wire"] }]"#;
    let path = if paths == 1 { r#"path = [{ links = ["wire"] }]"# } else { links };
    let text = format!(
        "name = \"it\"\nduration = \"9 s\"\n[[link]]\nname = \"wire\"\nrate = \"10 Mb/s\"\n\
         [[flow]]\nname = \"user\"\ncount = 3\ncontroller = \"{controller}\"\n\
         transfer = \"{BYTES} B\"\n{path}\n"
    );
    Plan::read(&text, "it", &[]).expect("a right scenario")
}

/// A server that counts what each connection brings, until `ends` connections have ended.
fn serve(sockets: &[(Ipv4Addr, OwnedFd)], ports: u16, ends: usize) -> Vec<u64> {
    let settings = Settings::new("reno".parse::<ControllerSpec>().expect("a controller"));
    let mut number = 0;
    let draw = move || {
        number = u64::wrapping_add(number, 0x9e37_79b9_7f4a_7c15);
        number
    };
    let mut host = Host::new(settings, draw).expect("right settings");
    (0..ports).for_each(|port| host.listen(10_000 + port));
    let (clock, mut open, mut counts) = (Clock::start(), Vec::<(Id, u64)>::new(), Vec::new());
    let mut buffer = vec![0; 65_535];
    while counts.len() < ends {
        for (_, socket) in sockets {
            while let Ok(bytes) = rustix::io::read(socket, &mut buffer) {
                host.on_packet(clock.now(), &buffer[..bytes]);
            }
        }
        open.extend(std::iter::from_fn(|| host.accept()).map(|id| (id, 0)));
        open.retain_mut(|(id, count)| {
            loop {
                match host.read(clock.now(), *id, &mut buffer).expect("it does not fail") {
                    Read::Bytes(bytes) => *count += bytes as u64,
                    Read::Nothing => return true,
                    Read::End => {
                        host.close(clock.now(), *id);
                        counts.push(*count);
                        return false;
                    }
                }
            }
        });
        if host.next_deadline() <= clock.now() {
            host.on_deadline(clock.now());
        }
        while let Some(packet) = host.poll(clock.now()) {
            let to = Ipv4Addr::new(packet[16], packet[17], packet[18], packet[19]);
            let (_, socket) = sockets.iter().find(|(own, _)| *own == to).expect("a path");
            rustix::io::write(socket, &packet).expect("there is room");
        }
        let mut polls: Vec<_> =
            sockets.iter().map(|(_, it)| PollFd::new(it, PollFlags::IN)).collect();
        sleep(&mut polls, Span::millis(1)).expect("it sleeps");
    }
    counts
}

fn transfers(paths: usize, controller: &str) {
    let plan = plan(paths, controller);
    let addresses: Vec<_> = (0..paths).map(|path| Ipv4Addr::new(10, 1, path as u8, 1)).collect();
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..paths).map(|_| pair()).unzip();
    let ends = Endpoints {
        class: 0,
        addresses: addresses.clone(),
        server: Ipv4Addr::new(10, 1, 0, 2),
        first_port: 10_000,
        starts: vec![Span::ZERO, Span::millis(10), Span::millis(20)],
        send_buffer: 100_000,
    };
    let sockets: Vec<_> = addresses.into_iter().zip(theirs).collect();
    let driver = Driver::new(&plan, vec![(ends, Sockets { senders: ours, receivers: None })], 1)
        .expect("what a host can have");
    let counts = std::thread::scope(|scope| {
        let running = scope.spawn(|| driver.run(Span::ZERO).expect("sockets do not fail"));
        let counts = serve(&sockets, 3, 3);
        while driver.states().iter().any(|user| user.completed.is_none()) {
            std::thread::yield_now();
        }
        driver.stop();
        let report = running.join().expect("no panic");
        assert!(report.unsent == 0 && report.sent > 3 * BYTES / 1500 && report.arrived > 0);
        counts
    });
    assert_eq!(counts, [BYTES; 3]);
    assert!(driver.states().iter().all(|user| user.trouble.is_empty()));
}

#[test]
fn transfers_over_one_path_are_whole() {
    transfers(1, "reno");
}

#[test]
fn transfers_over_two_paths_are_whole_under_a_controller_that_no_kernel_has() {
    transfers(2, "multi-priority");
}
