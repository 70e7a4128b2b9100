//! The controllers in the running kernel. Only as root: otherwise each test reports that it was
//! skipped, and `ANABRANCH_LINUX=required` makes that a failure.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use kernel::{Controller, ErrorKind, PROGRAMS, Settings, program, subflows};
use ports::{PATHS, Port, Step, View, Views};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

/// Only one test at a time may load a controller: names are global in the kernel.
static KERNEL: Mutex<()> = Mutex::new(());

/// Whether the kernel may be used; prints the reason if not.
fn usable() -> bool {
    let root = rustix::process::geteuid().is_root();
    let types = std::path::Path::new("/sys/kernel/btf/vmlinux").exists();
    if root && types {
        return true;
    }
    assert!(
        std::env::var("ANABRANCH_LINUX").as_deref() != Ok("required"),
        "the kernel cannot be used"
    );
    eprintln!(
        "1 test of the kernel skipped: {}",
        if root { "this kernel has no BTF" } else { "not root" }
    );
    false
}

/// Settings with which steps can be replayed.
fn recording() -> Settings {
    Settings { record: true, ..Settings::default() }
}

fn available() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap()
}

/// A step as the law sees it: as many paths, and as many notes.
fn fitted(port: &Port, step: &Step) -> Step {
    let mut step = *step;
    let views = &mut step.views;
    views.paths = views.paths.min(port.most_paths() as u32);
    views.me %= port.most_paths() as u32;
    let (seen, unseen) = views.path.split_at_mut(views.paths as usize);
    unseen.fill(View::default());
    seen.iter_mut().for_each(|view| view.notes[port.notes()..].fill(0));
    step
}

fn steps() -> impl Strategy<Value = Step> {
    let sized =
        |bits: u32| (0..bits, any::<u64>()).prop_map(|(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let y = (sized(49), any::<bool>())
        .prop_map(|(y, below)| if below { u64::wrapping_neg(y) } else { y });
    let large = (sized(31), sized(24)).prop_map(|(most, prior)| prior << 32 | most);
    // The notes of Coupled CUBIC, which no other law that ships sees.
    let notes = (y, sized(56), large, any::<u64>())
        .prop_map(|(y, reno, large, times)| [y, reno, large, times]);
    let number =
        |bits: u32| (0..bits, any::<u32>()).prop_map(|(b, x)| (1 << b) | (x & ((1 << b) - 1)));
    let view = (number(24), number(31), number(24), number(24), notes).prop_map(
        |(cwnd, srtt, since_loss, between_losses, notes)| View {
            cwnd,
            srtt,
            since_loss,
            between_losses,
            notes,
        },
    );
    let paths = prop::collection::vec(view, 1..=PATHS);
    (paths, 0..PATHS as u32, 1u32..1 << 20, 0i64..1 << 32, 0u32..100).prop_map(
        |(path, me, before_cwnd, before_credit, acked)| {
            let mut views = Views { paths: path.len() as u32, me, ..Views::default() };
            views.path[..path.len()].copy_from_slice(&path);
            Step { views, acked, before_cwnd, before_credit, ..Step::default() }
        },
    )
}

#[test]
fn every_controller_can_be_selected_while_it_is_loaded_and_not_after() {
    let _alone = KERNEL.lock();
    if !usable() {
        return;
    }
    for program in PROGRAMS.iter() {
        let controller = Controller::load(program, &Settings::default()).unwrap();
        assert!(available().split_whitespace().any(|name| name == program.kernel_name));
        let again = Controller::load(program, &Settings::default()).err().unwrap();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists, "{again:?}");
        drop(controller);
        assert!(!available().contains(&*program.kernel_name), "{}", program.kernel_name);
    }
}

#[test]
fn the_bytecode_and_the_native_law_agree_in_every_bit() {
    let _alone = KERNEL.lock();
    if !usable() {
        return;
    }
    for program in PROGRAMS.iter() {
        let controller = Mutex::new(Controller::load(program, &recording()).unwrap());
        TestRunner::new(ProptestConfig::with_cases(2000))
            .run(&steps(), |step| {
                let port = program.port.as_ref().unwrap();
                let step = fitted(port, &step);
                let in_kernel = controller.lock().unwrap().replay(&step).unwrap();
                prop_assert_eq!(in_kernel, port.replay(&step), "{:?}", port);
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn the_bytecode_repeats_a_trace_of_an_attached_controller_in_every_bit() {
    let _alone = KERNEL.lock();
    if !usable() {
        return;
    }
    for program in PROGRAMS.iter().filter(|program| program.port.as_ref().unwrap().coupled()) {
        let law = program.law();
        let file = format!("{}/../ports/tests/traces/{law}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let mut controller = Controller::load(program, &recording()).unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let step: Step = line.parse().unwrap();
            let again = controller.replay(&step).unwrap();
            assert_eq!(Step { backoff: 0, ..again }, step, "{law}");
        }
    }
}

/// Sends `megabytes` over loopback under a controller.
fn transfer(name: &str, megabytes: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        let mut stream = listener.accept().unwrap().0;
        while stream.read(&mut bytes).unwrap() > 0 {}
    });
    let mut stream = TcpStream::connect(address).unwrap();
    rustix::net::sockopt::set_tcp_congestion(&stream, name).unwrap();
    for _ in 0..megabytes {
        stream.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let own = subflows().unwrap().into_iter().find(|row| row.remote == address).unwrap();
    assert_eq!((own.controller.as_str(), own.connection, own.growth), (name, 0, 0));
    drop(stream);
    reader.join().unwrap();
}

#[test]
fn a_plain_socket_is_reno_and_its_state_can_be_read() {
    let _alone = KERNEL.lock();
    if !usable() {
        return;
    }
    let controller = Controller::load(program("olia").unwrap(), &Settings::default()).unwrap();
    transfer("ab_olia", 8);
    let counters = controller.counters().unwrap();
    assert!(counters.acks > 0 && counters.coupled == 0 && counters.repairs == 0, "{counters:?}");
}
