//! Both ends of a courier connection, with a stranger between them who loses, repeats, cuts and
//! changes datagrams and sends its own. Nothing may panic; afterwards, when it is gone, every byte
//! must arrive once and in order, or the connection must have ended as its rules say.
#![no_main]

use arbitrary::{Result, Unstructured};
use courier::{Event, Initiator, Read, Responder, Route, SecretKey, Settings, Streams, Transmit};
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;
use units::{Span, Time};

const BYTES: usize = 20_000;

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

/// Bytes that follow from a count.
fn entropy(count: &mut u64) -> impl FnMut(&mut [u8]) + '_ {
    move |into: &mut [u8]| {
        for byte in into {
            *count = count.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            *byte = (*count >> 56) as u8;
        }
    }
}

fn route(local: usize, port: u16) -> Route {
    Route { local, remote: ([192, 0, 2, 1 + local as u8], port).into() }
}

struct Ends {
    initiator: Initiator,
    responder: Responder,
    number: Option<u64>,
    now: Time,
    count: u64,
    /// Datagrams under way: whether to the responder, route, bytes.
    moving: VecDeque<(bool, Route, Vec<u8>)>,
}

impl Ends {
    fn send(&mut self) {
        while let Some(Transmit { route: to, bytes }) = self.initiator.poll_transmit(self.now) {
            self.moving.push_back((true, route(to.local, 7), bytes));
        }
        while let Some(Transmit { route: to, bytes }) = self.responder.poll_transmit(self.now) {
            self.moving.push_back((false, route(to.local, 9), bytes));
        }
        while let Some(event) = self.responder.poll_event() {
            match event {
                Event::Connected(number, _) => self.number = Some(number),
                Event::Ended(..) => self.number = None,
            }
        }
    }

    fn deliver(&mut self, up: bool, from: Route, bytes: &[u8]) {
        match up {
            true => {
                self.responder.on_datagram(self.now, from, bytes, &mut entropy(&mut self.count));
            }
            false => {
                self.initiator.on_datagram(self.now, from, bytes, &mut entropy(&mut self.count));
            }
        }
        self.send();
    }

    fn wait(&mut self, span: Span) {
        self.now = self.now + span;
        self.initiator.on_deadline(self.now, &mut entropy(&mut self.count));
        self.responder.on_deadline(self.now, &mut entropy(&mut self.count));
        self.initiator.renew(self.now);
        self.send();
    }

    fn fate(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let Some((up, from, mut datagram)) = self.moving.pop_front() else {
            self.wait(Span::millis(bytes.int_in_range(1..=900)?));
            return Ok(());
        };
        match bytes.int_in_range(0..=11u8)? {
            0 => return Ok(()),
            1 => self.moving.push_back((up, from, datagram.clone())),
            2 => {
                let at = bytes.choose_index(datagram.len())?;
                datagram[at] ^= bytes.arbitrary::<u8>()?;
            }
            3 => datagram.truncate(bytes.choose_index(datagram.len())?),
            4 => {
                let own: Vec<u8> = bytes.arbitrary()?;
                self.deliver(bytes.arbitrary()?, route(0, 8), &own);
            }
            5 => {
                self.moving.push_back((up, from, datagram));
                return Ok(());
            }
            6 => {
                let elsewhere = Route { local: from.local, remote: ([203, 0, 113, 5], 5).into() };
                self.deliver(up, elsewhere, &datagram);
            }
            _ => {}
        }
        self.deliver(up, from, &datagram);
        Ok(())
    }
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let paths = bytes.int_in_range(1..=3usize)?;
    let controller =
        *bytes.choose(&["couple+", "lia", "reno", "multi-priority", "bilevel-tfrc"])?;
    let mut settings = Settings::new(controller.parse().expect("it is registered"));
    settings.buffer = 64 << 10;
    if bytes.arbitrary()? {
        settings.coding = None;
    }
    let (client, host, mut count) =
        (SecretKey::new(&mut entropy(&mut 1)), SecretKey::new(&mut entropy(&mut 2)), 3);
    let routes: Vec<_> = (0..paths).map(|local| route(local, 9)).collect();
    let (allowed, now) = ([client.public()], Time::ZERO);
    let responder =
        Responder::new(host.clone(), allowed, settings.clone(), now, &mut entropy(&mut count));
    let initiator = Initiator::new(client, host.public(), settings, &routes);
    let mut ends = Ends { initiator, responder, number: None, now, count, moving: VecDeque::new() };
    ends.wait(Span::millis(1));
    let mut steps = 0;
    while !bytes.is_empty() && steps < 3000 {
        ends.fate(bytes)?;
        steps += 1;
    }
    finish(&mut ends);
    Ok(())
}

/// The stranger is gone: a new stream carries everything.
fn finish(ends: &mut Ends) {
    let data: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    let (mut stream, mut sent, mut got) = (None, 0, Vec::<u8>::new());
    for _ in 0..20_000 {
        match ends.moving.pop_front() {
            Some((up, from, datagram)) => ends.deliver(up, from, &datagram),
            None => {
                let next = ends.initiator.next_deadline().min(ends.responder.next_deadline());
                // Without a deadline a connection has ended, and waiting begins a new one.
                ends.wait(next.since(ends.now).clamp(Span::millis(1), Span::millis(1000)));
            }
        }
        if let Some(connection) = ends.initiator.connection() {
            if stream.is_none() {
                (stream, sent) = (connection.open(b"x").ok(), 0);
                got.clear();
            }
            if let Some(id) = stream {
                match connection.write(id, &data[sent..]) {
                    Ok(count) => sent += count,
                    Err(_) => stream = None, // that connection has ended
                }
            }
        }
        let Some(id) = stream else { continue };
        let Some(connection) = ends.number.and_then(|own| ends.responder.connection(own)) else {
            continue;
        };
        let mut part = [0; 4096];
        while let Ok(Read::Bytes(count)) = connection.read(id, &mut part) {
            got.extend(&part[..count]);
        }
        ends.send();
        if got.len() == BYTES {
            assert!(got == data, "other bytes than were sent");
            return;
        }
    }
    panic!("{} of {BYTES} arrived, {sent} were sent", got.len());
}
