//! Any small valid scenario, simulated and captured: packets are conserved, and the capture
//! contains the packets of the run.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use simulator::{Observe, PathResult, Progress, Recording, record, run};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use units::Span;

/// A file in memory with several owners.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let Some((text, plan)) = fuzz::whole::plan(&mut bytes) else {
        return;
    };
    let file = Shared::default();
    let recording = Recording { pcap: Some(Box::new(file.clone())), ..Recording::default() };
    let observe = Observe { series: true, events: Some(usize::MAX) };
    let progress = Progress::default();
    let outcome = record(&plan, 1, observe, recording, &progress).expect("memory takes everything");
    let outcome = outcome.expect("nobody stops it");
    assert!(outcome.conservation.holds());
    let unseen = run(&plan, 1, Observe::default(), &progress).expect("nobody stops it");
    assert_eq!(outcome.digest, unseen.digest, "looking changes nothing: {text}");
    let written = file.0.lock().expect("nobody panicked");
    let capture =
        wire::capture::read(&**written, Span::millis(100), wire::capture::Part::default())
            .expect("it is a capture");
    assert!(capture.broken.is_none() && capture.malformed == 0, "{text}");
    let again: u64 = capture.subflows.iter().map(|subflow| subflow.forth.again_packets).sum();
    // Segments that TCP retransmits on a coded path leave it in other combinations, and TFRC is
    // captured as datagrams.
    let coded = |path: &PathResult| {
        outcome.coding.iter().any(|coded| (coded.flow, coded.path) == (path.flow, path.path))
    };
    let tfrc = |path: &PathResult| {
        let class = outcome.flows[path.flow as usize].class;
        plan.classes[class as usize].controller.needs().reports
    };
    let tcp = outcome.paths.iter().filter(|path| !coded(path) && !tfrc(path));
    let retransmits: u64 = tcp.map(|path| path.retransmits).sum();
    assert_eq!(again, retransmits, "{text}");
    for connection in &capture.connections {
        assert_eq!(connection.proofs.1, 0, "{text}");
        let sent = |number: &usize| capture.subflows[*number].forth.payload_bytes;
        let all = connection.subflows.iter().map(sent).sum();
        assert!(connection.acked_bytes <= all || !outcome.coding.is_empty(), "{text}");
    }
});
