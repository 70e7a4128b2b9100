//! Any small scenario that is right, simulated and captured: packets are neither made nor lost, and
//! the capture that is read back has the packets of the run.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use network::Queue;
use scenario::{Plan, PlanLink};
use simulator::{Observe, PathResult, Progress, Recording, record, run};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use transport::Scheduler;
use units::Span;

/// A file in memory that several may hold.
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
    let Ok(text) = scenario_text(&mut bytes) else {
        return;
    };
    let Ok(mut plan) = Plan::read(&text, "fuzz", &[]) else {
        return;
    };
    if choose_queues(&mut plan, &mut bytes).is_err() {
        return;
    }
    let file = Shared::default();
    let recording = Recording { pcap: Some(Box::new(file.clone())), ..Recording::default() };
    let observe = Observe { series: true, events: true };
    let progress = Progress::default();
    let outcome = record(&plan, 1, observe, recording, &progress).expect("memory takes everything");
    let outcome = outcome.expect("nobody stops it");
    assert!(outcome.conservation.holds());
    let unseen = run(&plan, 1, Observe::default(), &progress).expect("nobody stops it");
    assert_eq!(outcome.digest, unseen.digest, "looking changes nothing: {text}");
    let written = file.0.lock().expect("nobody panicked");
    let capture = wire::capture::read(&**written, Span::millis(100)).expect("it is a capture");
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

/// Gives each link with a transmitter, and each host before a medium, a queue of any kind.
fn choose_queues(plan: &mut Plan, bytes: &mut Unstructured<'_>) -> Result<()> {
    let for_hosts = |queue: &Queue| queue.kind().is_none_or(|kind| kind.for_hosts);
    let wired = |link: &&mut PlanLink| link.rate.is_some() && link.attachments.is_empty();
    for link in plan.links.iter_mut().filter(wired) {
        link.queue = choose_queue(bytes, |_| true)?;
    }
    for station in plan.media.iter_mut().flat_map(|medium| &mut medium.stations) {
        station.settings.queue = choose_queue(bytes, for_hosts)?;
    }
    Ok(())
}

fn choose_queue(bytes: &mut Unstructured<'_>, suits: impl FnMut(&Queue) -> bool) -> Result<Queue> {
    let limit = u64::from(bytes.int_in_range(1..=60u8)?);
    let mut queues = Queue::short(limit, bool::arbitrary(bytes)?);
    queues.retain(suits);
    let kind = bytes.choose_index(queues.len())?;
    Ok(queues.swap_remove(kind))
}

fn scenario_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = "name = 'fuzz'\nduration = '400 ms'\nwarmup = '0 s'\n".to_owned();
    let links = bytes.int_in_range(1..=3u8)?;
    for link in 0..links {
        let rate = bytes.int_in_range(100..=20_000u16)?;
        let delay = bytes.int_in_range(0..=40u8)?;
        let loss = f64::from(bytes.int_in_range(0..=30u8)?) / 100.0;
        let other = *bytes.choose(&[
            "",
            "duplicate = 0.1\n",
            "reorder = { probability = 0.1, delay = '9 ms' }\n",
        ])?;
        text += &format!(
            "[[link]]\nname = '{link}'\nrate = '{rate} kb/s'\ndelay = '{delay} ms'\n\
             loss = {{ probability = {loss} }}\n{other}"
        );
        if bool::arbitrary(bytes)? {
            let (at, rate) = (bytes.int_in_range(0..=400u16)?, bytes.int_in_range(1..=9_000u16)?);
            text += &format!("[[link.change]]\nat = '{at} ms'\nrate = '{rate} kb/s'\n");
        }
    }
    for flow in 0..bytes.int_in_range(1..=3u8)? {
        text += &flow_text(bytes, flow, links)?;
    }
    if bool::arbitrary(bytes)? {
        text += &air_text(bytes)?;
    }
    if bool::arbitrary(bytes)? {
        text += &ground_text(bytes)?;
    }
    Ok(text)
}

/// How a group of two nodes moves.
fn moves_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let (least, more) = (bytes.int_in_range(1..=200u8)?, bytes.int_in_range(0..=200u8)?);
    let most = u16::from(least) + u16::from(more);
    let pause = bytes.int_in_range(0..=100u8)?;
    Ok(match bytes.int_in_range(0..=3u8)? {
        0 => "'still'".into(),
        1 => format!(
            "{{ waypoint = {{ speed = [{least}.0, {most}.0], pause = ['0 s', '{pause} ms'], stationary = {} }} }}",
            bool::arbitrary(bytes)?
        ),
        2 => format!(
            "{{ highway = {{ speed = [{least}.0, {most}.0], hold = '100 ms', reaction = '{pause} ms', gap = 50.0 }} }}"
        ),
        _ => {
            let mut told = String::new();
            for node in 2..4u8 {
                let [x, y, to, at] = <[u8; 4]>::arbitrary(bytes)?;
                told += &format!(
                    "$node_({node}) set X_ {x}\n$node_({node}) set Y_ {y}\n\
                     $ns_ at 0.{at} \"$node_({node}) setdest {to} {y} {most}\"\n"
                );
            }
            format!("{{ trace = {{ text = \'\'\'{told}\'\'\' }} }}")
        }
    })
}

/// Nodes on the ground that meet on a medium with routing, a bus and a cell, with connections over
/// all of them.
fn ground_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = format!(
        "[area]\nwidth = 300.0\nheight = 300.0\nstep = '{} ms'\n",
        bytes.int_in_range(1..=99u8)?
    );
    for (name, place) in [("base", bytes.int_in_range(0..=255u8)?), ("server", 0)] {
        text += &format!("[[node]]\nname = '{name}'\nx = {place}.0\ny = 100.0\n");
    }
    text += &format!("[[node]]\nname = 'n'\ncount = 2\nmoves = {}\n", moves_text(bytes)?);
    text += &format!("[[node]]\nname = 'relay'\ncount = {}\n", bytes.int_in_range(2..=4u8)?);
    let (routing, access) = *bytes.choose(&[
        ("oracle", ""),
        ("oracle", "access = 'relay'\n"),
        ("association", "access = 'base'\n"),
        ("association", "access = 'relay'\n"),
        ("aodv", ""),
        ("olsr", ""),
    ])?;
    let channels = bytes.int_in_range(1..=2u8)?;
    let end = if access.contains("relay") { "relay" } else { "base" };
    let others = if end == "base" { "nodes = ['relay']\n" } else { "" };
    text += &format!(
        "[[medium]]\nname = 'net'\nstandard = 'g'\nrate = '6 Mb/s'\nradio = {{}}\nrouting = '{routing}'\n\
         channels = {channels}\n{access}{others}"
    );
    let ring = bytes.int_in_range(1..=5u8)?;
    text += &format!("[[medium.station]]\nname = 'n'\nring = '{ring} packets'\n");
    let fading = *bytes.choose(&["", "fading = { deviation_db = 6.0, coherence = '20 ms' }\n"])?;
    let signal = *bytes.choose(&[
        "snr_db = 12.0\n",
        "radio = {}\n",
        "radio = {}\nuser = [{ name = 'n-2', snr_db = -9.0 }]\n",
    ])?;
    let scheduler = *bytes.choose(&["proportional-fair", "round-robin", "max-rate"])?;
    let rate = bytes.int_in_range(1..=100u8)?;
    text += &format!(
        "[[bus]]\nname = 'wire'\nrate = '{rate} Mb/s'\ndelay = '{} us'\n\
         [[cell]]\nname = 'tower'\nbase = 'base'\nscheduler = '{scheduler}'\n{signal}{fading}",
        bytes.int_in_range(0..=9u8)?
    );
    for (name, medium, from, to) in [
        ("up", "net", "n", end),
        ("down", "net", end, "n"),
        ("call", "tower", "n", "base"),
        ("answer", "tower", "base", "n"),
        ("forth", "wire", "base", "server"),
        ("home", "wire", "server", "base"),
    ] {
        text += &format!(
            "[[link]]\nname = '{name}'\nmedium = '{medium}'\nfrom = '{from}'\nto = '{to}'\n"
        );
    }
    let channel = *bytes.choose(&["", "channel = 'each'", "channel = 'turn'"])?;
    let (far, back) = match end {
        "base" => ("links = ['up', 'forth']", "back = ['home', 'down']"),
        _ => ("links = ['up']", "back = ['down']"),
    };
    let size = *bytes.choose(&[
        "",
        "transport = { small_queue = '8 kB' }",
        "transport = { packet = '200 B', payload = '160 B' }",
    ])?;
    let echo = bool::arbitrary(bytes)?;
    let controller = fuzz::controller(bytes)?;
    text += &format!(
        "[[flow]]\nname = 'all'\ncount = 2\ncontroller = '{controller}'\n{size}\n[[flow.path]]\n{far}\n{back}\n{channel}\n\
         [[flow.path]]\nlinks = ['call', 'forth']\nback = ['home', 'answer']\n\
         [[flow]]\nname = 'datagrams'\ncount = 2\nprotocol = 'udp'\necho = {echo}\napp_rate = '{rate}00 kb/s'\n\
         [[flow.path]]\n{far}\n{back}\n"
    );
    Ok(text)
}

/// A medium with three stations, and connections of two of them to the third one, one of which also
/// has a wire.
fn air_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let standard = *bytes.choose(&["b", "a", "g-protected", "n-5"])?;
    let attempts = bytes.int_in_range(1..=7u8)?;
    let (control, radio) = *bytes.choose(&[
        ("fixed", ""),
        ("arf", ""),
        ("arf", "radio = {}\n"),
        ("ideal", "radio = {}\n"),
    ])?;
    let mut text = format!(
        "[[medium]]\nname = 'air'\nstandard = '{standard}'\nattempts = {attempts}\ncontrol = '{control}'\n{radio}"
    );
    for station in ["a", "b", "c"] {
        let (x, ring) = (bytes.int_in_range(0..=40u8)?, bytes.int_in_range(1..=70u8)?);
        let loss = *bytes.choose(&["", "noise = '50 ms'\n", "residual_loss = 0.05\n"])?;
        text += &format!(
            "[[medium.station]]\nname = '{station}'\nx = {x}.0\nring = '{ring} packets'\n{loss}"
        );
    }
    for (name, from, to) in [("ab", "a", "b"), ("ba", "b", "a"), ("cb", "c", "b"), ("bc", "b", "c")]
    {
        text += &format!(
            "[[link]]\nname = '{name}'\nmedium = 'air'\nfrom = '{from}'\nto = '{to}'\ndelay = '2 ms'\n"
        );
    }
    let small = *bytes.choose(&["", "small_queue = '8 kB'", "small_queue_time = '1 ms'"])?;
    let controller = fuzz::controller(bytes)?;
    text += &format!(
        "[[flow]]\nname = 'both'\ncontroller = '{controller}'\ntransport = {{ {small} }}\n\
         path = [{{ links = ['ab'], back = ['ba'] }}, {{ links = ['0'] }}]\n\
         [[flow]]\nname = 'down'\npath = [{{ links = ['bc'], back = ['cb'] }}]\n"
    );
    Ok(text)
}

fn flow_text(bytes: &mut Unstructured<'_>, flow: u8, links: u8) -> Result<String> {
    let controller = fuzz::controller(bytes)?;
    let mut options = String::new();
    for option in ["handshake", "ecn", "eifel", "opportunistic", "autotune", "limited_transmit"] {
        options += &format!("{option} = {}, ", bool::arbitrary(bytes)?);
    }
    let sack = bool::arbitrary(bytes)?;
    for option in ["rack", "tlp", "dsack", "frto"] {
        options += &format!("{option} = {}, ", sack && bool::arbitrary(bytes)?);
    }
    let scheduler = bytes.choose(&Scheduler::examples())?.clone();
    let mut parameters = toml::Table::try_from(scheduler).expect("it is a table");
    let kind = parameters.remove("kind").expect("a plan names the kind");
    let scheduler = format!("{{ {kind} = {} }}", toml::Value::Table(parameters));
    let end = *bytes.choose(&["", "transfer = '20 kB'\n", "app_rate = '1 Mb/s'\n"])?;
    let mut text = format!(
        "[[flow]]\nname = 'f{flow}'\ncontroller = '{controller}'\n{end}\
         transport = {{ {options}sack = {sack}, scheduler = {scheduler} }}\n"
    );
    for path in 0..bytes.int_in_range(1..=3u8)? {
        let link = bytes.int_in_range(0..=links - 1)?;
        let join = bytes.int_in_range(0..=300u16)?;
        let join =
            if path > 0 && join > 100 { format!("join = '{join} ms'\n") } else { String::new() };
        let leave = bytes.int_in_range(0..=900u16)?;
        let leave = if leave > 300 && leave < 400 {
            format!("leave = '{leave} ms'\n")
        } else {
            String::new()
        };
        let coding = match bytes.int_in_range(0..=3u8)? {
            0 => format!(
                "coding = {{ redundancy = 1.2, window = {} }}\n",
                bytes.int_in_range(1..=40u8)?
            ),
            _ => String::new(), // one that does not go with an option is no scenario
        };
        text += &format!("[[flow.path]]\nlinks = ['{link}']\n{join}{leave}{coding}");
    }
    Ok(text)
}
