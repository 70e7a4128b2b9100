//! The processor's cost of a transfer between two noq endpoints in virtual time: counted in
//! instructions by callgrind, it does not depend on the load of the machine. The README of the
//! crate has the command and the figures.

#[path = "../tests/common/mod.rs"]
mod common;

use anabranch_noq::Group;
use common::{CLIENT, Link, Pair, SERVES};
use noq_proto::congestion::{ControllerFactory, NewRenoConfig};
use std::sync::Arc;
use std::time::Duration;

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

fn factory(controller: &str) -> Factory {
    match controller {
        "newreno" => Arc::new(NewRenoConfig::default()),
        name => Group::named(name).expect("a controller that noq can run"),
    }
}

/// `cost CONTROLLER MEGABYTES PATHS`: `newreno` is noq's own. Without arguments, as `cargo bench`
/// runs it, a small transfer of each.
fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match arguments.next() {
        None => ["newreno", "reno", "olia"].iter().for_each(|own| transfer(own, 4, 2)),
        Some(controller) => {
            let mut number = || arguments.next().and_then(|text| text.parse().ok());
            let (megabytes, paths) = (number().unwrap_or(100), number().unwrap_or(1));
            transfer(&controller, megabytes, paths);
        }
    }
}

fn transfer(controller: &str, megabytes: u64, paths: u64) {
    // 100 Mb/s each, and a buffer of 20 ms, so that windows and not the receiver are the limit.
    let link = |path| Link { queue: 250_000.0, ..Link::new(12.5e6, 10 + 2 * path) };
    let links = (0..paths).map(link).collect();
    let factories = [controller, "newreno"].map(factory);
    let mut pair = Pair::new(links, factories, 8, 1);
    pair.run(Duration::from_millis(200), |_| {});
    for link in 1..paths as usize {
        pair.open(link).expect("the server gives numbers for paths");
    }
    pair.run(Duration::from_millis(200), |_| {});
    pair.ends[CLIENT].to_send = megabytes * 1_000_000;
    let mut seconds = 0;
    while pair.ends[SERVES].received < megabytes * 1_000_000 {
        pair.run(Duration::from_secs(1), |_| {});
        seconds += 1;
        assert!(seconds < 10_000, "the transfer hangs");
    }
    let stats = pair.connection(CLIENT).stats();
    println!(
        "{controller}: {megabytes} MB over {paths} paths in {seconds} s of virtual time; {} datagrams, {} packets lost",
        stats.udp_tx.datagrams, stats.lost_packets
    );
}
