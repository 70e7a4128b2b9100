//! The forwarder: handles a packet from the read to the write.
//!
//! Every event has its due time: [`Forwarder::advance`] handles due events in the order of time,
//! however late it is called, so that several hops add no jitter. Simultaneous events happen as in
//! the simulator: links by their number, then changes in the order of the file, then measurement.

use crate::capture::Capture;
use crate::clock::Clock;
use crate::device::{Device, SetupError, Side, check};
use crate::measure::{Meter, PathCount, Rows};
use crate::packet::{Packet, mark, parse};
use crate::report::{Conservation, Drops, LatenessMeter, Own, Processor, Reason, Report};
use crate::routes::{Routes, is_data, path};
use crate::slab::Slab;
use network::{Change, Link, Offer, Passage};
use rustix::io::Errno;
use scenario::Plan;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use topology::{Hop, HopTarget, LazyStream, SharedMedia, Streams, TopologyBuilder};
use units::{Span, Time};

/// Most packets read from one device before due packets are written and the next device is read.
const BATCH: usize = 16;

/// Largest IPv4 packet in bytes.
const LARGEST: u32 = 65_535;

/// Settings of an emulation besides its plan.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The receiver's port of the first user of each class; the next users have the next ports.
    pub first_port: u16,
    /// Seed of the named random streams.
    pub seed: u64,
    /// Whether to keep samples over time.
    pub series: bool,
}

/// The surroundings of the network: the devices, and the clock that measures the lateness of a
/// write.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'a> {
    pub(crate) devices: &'a [Device],
    pub(crate) clock: &'a Clock,
}

/// A wake-up on the agenda; their order is that of simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wake {
    /// The link with this number: a packet comes out of it.
    Link(u32),
    /// The shared medium with this number.
    Medium(u32),
}

/// The network and the packets inside it.
pub(crate) struct Forwarder {
    links: Vec<Link<Packet>>,
    streams: Streams,
    hops: Vec<Hop>,
    routes: Routes,
    pub(crate) media: SharedMedia<Packet>,
    /// The valid entry of each medium; never without one.
    pub(crate) media_pending: Vec<Time>,
    /// Wake-ups of busy links and of media; entries may be stale.
    pub(crate) agenda: BinaryHeap<Reverse<(Time, Wake)>>,
    /// The valid entry of each link; never without one.
    pending: Vec<Time>,
    /// Changes of links sorted by time, the next one last.
    script: Vec<(Time, u32, Change)>,
    slab: Slab,
    counts: Vec<PathCount>,
    meter: Meter,
    /// All events due until then have been handled.
    pub(crate) now: Time,
    read: u64,
    written: u64,
    /// Copied by links.
    copied: u64,
    /// Dropped or lost by links.
    dropped: u64,
    drops: Drops,
    lateness: LatenessMeter,
    waiting: LatenessMeter,
    largest: u32,
    /// A capture, if requested.
    pub(crate) capture: Option<Capture>,
}

impl Forwarder {
    /// The network of `plan` between `devices`.
    pub(crate) fn new(
        plan: &Plan,
        devices: &[Device],
        settings: Settings,
    ) -> Result<Self, SetupError> {
        check(plan, devices, settings.first_port)?;
        let mut builder = TopologyBuilder::new(plan, settings.seed);
        let routes = Routes::new(plan, devices, settings.first_port, &mut builder);
        let TopologyBuilder { links, streams, planned, hops, media, mut changes, .. } = builder;
        changes.sort_by_key(|(at, ..)| *at);
        changes.reverse();
        let packets =
            plan.classes.iter().map(|class| (class.transport.packet.0 as u32).min(LARGEST));
        let mut forwarder = Forwarder {
            agenda: BinaryHeap::with_capacity(links.len()),
            pending: vec![Time::NEVER; links.len()],
            media_pending: vec![Time::NEVER; media.count() as usize],
            media,
            counts: vec![PathCount::default(); routes.paths()],
            meter: Meter::new(plan, planned, settings.series),
            slab: Slab::new(packets.max().unwrap_or(0) as usize),
            links,
            streams,
            hops,
            routes,
            script: changes,
            now: Time::ZERO,
            read: 0,
            written: 0,
            copied: 0,
            dropped: 0,
            drops: Drops::default(),
            lateness: LatenessMeter::default(),
            waiting: LatenessMeter::default(),
            largest: 0,
            capture: None,
        };
        (0..forwarder.media.count()).for_each(|medium| forwarder.expect_medium(medium));
        Ok(forwarder)
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Time {
        let link = self.agenda.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        let change = self.script.last().map_or(Time::NEVER, |(at, ..)| *at);
        link.min(change).min(self.meter.next())
    }

    /// Handles all events due until `until`, in order. Packets at the end of their route are
    /// written.
    pub(crate) fn advance(&mut self, until: Time, outside: Outside<'_>) {
        loop {
            let due = self.next();
            if due > until {
                break;
            }
            self.now = due;
            if let Some(wake) = pop_due(&mut self.agenda, due) {
                match wake {
                    Wake::Link(link) => self.wake_link(link, outside),
                    Wake::Medium(medium) => self.wake_medium(medium, outside),
                }
            } else if let Some((_, link, change)) = self.script.pop_if(|(at, ..)| *at == due) {
                self.change(link, due, change);
            } else {
                self.meter.look(due, &mut self.links, &self.media, &self.counts);
            }
        }
        self.now = until;
    }

    /// Changes a link; its wake-up may move.
    fn change(&mut self, link: u32, now: Time, change: Change) {
        let changed = &mut self.links[link as usize];
        changed.change(now, change);
        let due = changed.due().max(now);
        self.agenda.retain(|Reverse((_, pending))| *pending != Wake::Link(link));
        self.pending[link as usize] = due;
        if due != Time::NEVER {
            self.agenda.push(Reverse((due, Wake::Link(link))));
        }
    }

    /// Writes a packet at a sender's device into the capture, if there is one.
    fn record(&mut self, slot: u32, device: u32, bytes: usize) {
        if let Some(capture) = &mut self.capture {
            capture.packet(self.now, device, &self.slab.buffer(Some(slot))[..bytes]);
        }
    }

    /// Reads packets that have waited at `devices[index]`, for at most `waited`, up to a batch, and
    /// offers them at the present time. Returns whether there were any.
    ///
    /// # Errors
    /// The device has failed.
    pub(crate) fn read(
        &mut self,
        index: usize,
        waited: Span,
        outside: Outside<'_>,
    ) -> io::Result<bool> {
        for packet in 0..BATCH {
            let slot = self.slab.next();
            match rustix::io::read(&outside.devices[index].fd, self.slab.buffer(slot)) {
                Ok(bytes) => {
                    self.waiting.add(waited);
                    self.enter(index, slot, bytes, outside);
                }
                Err(Errno::AGAIN) => return Ok(packet > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// A packet of `bytes` was read from `devices[index]` into `slot`, or into the spare buffer.
    fn enter(&mut self, index: usize, slot: Option<u32>, bytes: usize, outside: Outside<'_>) {
        self.read += 1;
        let device = &outside.devices[index];
        let header = parse(&self.slab.buffer(slot)[..bytes]);
        let bytes = bytes as u32;
        self.largest = self.largest.max(header.map_or(bytes, |header| header.total.max(bytes)));
        let route = header.and_then(|header| self.routes.find(device, header, bytes));
        let admitted = route.and_then(|route| Ok((route, slot.ok_or(Reason::SlabExhausted)?)));
        match admitted {
            Err(reason) => self.drops.count(reason),
            Ok((route, slot)) => {
                self.slab.take();
                self.counts[path(route)].sent += u64::from(is_data(route));
                if device.side == Side::Sender {
                    self.record(slot, index as u32, bytes as usize);
                }
                let hop = self.routes.get(route).hop;
                let traffic = header.map_or(0, |header| header.traffic);
                let bytes = bytes as u16; // no longer than a packet of its class
                self.hop(Packet { bytes, traffic, marked: false, slot, route, hop }, outside);
            }
        }
    }

    /// Handles the exits of `link` at the present time.
    fn wake_link(&mut self, link: u32, outside: Outside<'_>) {
        let index = link as usize;
        if self.pending[index] != self.now {
            return; // an earlier entry replaced it
        }
        self.pending[index] = Time::NEVER;
        while let Some(passage) = {
            let mut rng = LazyStream { streams: &mut self.streams, index: link };
            self.links[index].wake(self.now, &mut rng)
        } {
            match passage {
                Passage::Out(packet) => self.hop(packet, outside),
                Passage::Lost(packet) => self.lose(packet),
                Passage::Copy(packet) => self.copy(packet, outside),
            }
        }
        self.lose_dropped(link);
        self.expect(link);
    }

    /// Schedules the next wake-up of a link.
    fn expect(&mut self, link: u32) {
        let due = self.links[link as usize].due();
        if due < self.pending[link as usize] {
            self.pending[link as usize] = due;
            self.agenda.push(Reverse((due, Wake::Link(link))));
        }
    }

    /// Removes packets that the queue of a link dropped after accepting them.
    fn lose_dropped(&mut self, link: u32) {
        while let Some(packet) = self.links[link as usize].take_dropped() {
            self.lose(packet);
        }
    }

    /// A link copies a packet: the copy gets its own buffer, if one is free.
    fn copy(&mut self, packet: Packet, outside: Outside<'_>) {
        let Some(slot) = self.slab.copy(packet.slot) else {
            return;
        };
        self.copied += 1;
        self.hop(Packet { slot, ..packet }, outside);
    }

    /// A packet enters the next link of its route, or has arrived.
    pub(crate) fn hop(&mut self, mut packet: Packet, outside: Outside<'_>) {
        let target = self.hops[packet.hop as usize].target();
        packet.hop += 1;
        match target {
            HopTarget::Link(link) => self.offer(packet, link),
            HopTarget::MediumLink(link) => self.offer_medium(packet, link),
            HopTarget::Arrived => self.arrive(packet, outside),
            HopTarget::Fork(_)
            | HopTarget::Feeder(_)
            | HopTarget::Answered(_)
            | HopTarget::Line(_) => {
                unreachable!("the emulator lays neither forks nor feeders nor lines")
            }
        }
    }

    /// Offers a packet to a link.
    fn offer(&mut self, packet: Packet, link: u32) {
        let mut rng = LazyStream { streams: &mut self.streams, index: link };
        match self.links[link as usize].offer(self.now, packet, &mut rng) {
            Offer::Dropped | Offer::Lost => self.lose(packet),
            Offer::Carried | Offer::Wake(_) | Offer::Taken => {
                self.lose_dropped(link);
                self.expect(link);
            }
        }
    }

    pub(crate) fn lose(&mut self, packet: Packet) {
        self.dropped += 1;
        self.counts[path(packet.route)].lost += u64::from(is_data(packet.route));
        self.slab.release(packet.slot);
    }

    /// A packet at the end of its route is written.
    fn arrive(&mut self, packet: Packet, outside: Outside<'_>) {
        let exit = self.routes.get(packet.route).exit;
        let bytes = usize::from(packet.bytes);
        if packet.marked {
            mark(&mut self.slab.buffer(Some(packet.slot))[..bytes]);
        }
        if !is_data(packet.route) {
            self.record(packet.slot, exit, bytes);
        }
        let exit = &outside.devices[exit as usize].fd;
        let contents = &mut self.slab.buffer(Some(packet.slot))[..usize::from(packet.bytes)];
        // Measured before the write: the receiving system handles the packet, and often answers,
        // within the write.
        self.lateness.add(outside.clock.now().since(self.now));
        let data = is_data(packet.route);
        let count = &mut self.counts[path(packet.route)];
        if rustix::io::write(exit, contents) == Ok(usize::from(packet.bytes)) {
            self.written += 1;
            count.arrived_bytes += if data { u64::from(packet.bytes) } else { 0 };
        } else {
            self.drops.count(Reason::WriteError);
            count.lost += u64::from(data);
        }
        self.slab.release(packet.slot);
    }

    /// Counts of packets since the start.
    pub(crate) fn conservation(&self) -> Conservation {
        Conservation {
            read: self.read,
            copied: self.copied,
            written: self.written,
            dropped: self.dropped + self.drops.all(),
            in_flight: self.links.iter().map(|link| link.carried() as u64).sum::<u64>()
                + self.media.packets_inside(),
        }
    }

    /// Buffers in use: one for each packet in flight.
    pub(crate) fn buffers(&self) -> u64 {
        self.slab.used() as u64
    }

    /// The results at the present time.
    pub(crate) fn finish(self, processor: Processor) -> Report {
        let own = Own {
            lateness: self.lateness.get(),
            waiting: self.waiting.get(),
            processor,
            largest_packet_bytes: self.largest,
            elapsed_s: self.now.seconds(),
            drops: self.drops,
            conservation: self.conservation(),
        };
        let Rows { links, stations, paths, series } =
            self.meter.finish(self.now, &self.links, &self.media, &self.counts);
        Report { links, stations, paths, series, own }
    }
}

/// The first wake-up due at `due`.
fn pop_due(agenda: &mut BinaryHeap<Reverse<(Time, Wake)>>, due: Time) -> Option<Wake> {
    let Reverse((at, wake)) = *agenda.peek()?;
    if at > due {
        return None;
    }
    agenda.pop();
    Some(wake)
}
