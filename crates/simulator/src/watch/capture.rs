//! A capture at the sending hosts: every data packet when it leaves, every ACK when it arrives.
//!
//! A packet is written with the headers of a real one. Packets that the simulation omits are added,
//! with a comment: the handshakes of a run that begins with open connections, and the packets that
//! announce and withdraw addresses.

use super::subflow::{Sent, Subflow, Terms, word};
use scenario::{Class, Plan};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use topology::Stream;
use transport::coded;
use units::{Span, Time};
use wire::mptcp::{Hash, Keys, Mptcp};
use wire::packet::{Endpoint, MAX_PAYLOAD, TcpSegment, datagram, ruler};
use wire::pcapng::Writer;
use wire::{
    Ack, CodedAck, Combination, Data, Datagram, Echo, Flags, QuicAnswer, Range, Segment, TfrcData,
};

/// An ACK in flight.
#[derive(Clone, Debug)]
struct Transit {
    ack: Ack,
    sent: Time,
    /// Its subflow, which may have ended meanwhile, and whether that joined.
    subflow: Subflow,
    join: bool,
}

/// A path of a connection.
struct Path {
    flow: usize,
    interface: u32,
    subflow: Subflow,
    /// Whether its handshake was written.
    open: bool,
    member: bool,
    /// The path's next byte to send for the first time.
    next: u64,
    /// Newest time of the receiver's clock that the sender has received.
    heard: u32,
    /// Packets sent, in each direction.
    counts: [u16; 2],
    transit: VecDeque<Transit>,
    /// Since when the receiver must confirm this path's address.
    unconfirmed: Option<Time>,
}

/// A connection.
struct Flow {
    terms: Terms,
    paths: std::ops::Range<usize>,
    /// The path whose handshake opened it.
    initial: Option<usize>,
    /// Highest data ack that its sender has received.
    data_ack: u64,
}

/// A capture that is being written.
pub(super) struct Capture {
    writer: Writer<Box<dyn Write + Send>>,
    keep: usize,
    flows: Vec<Flow>,
    paths: Vec<Path>,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
}

/// Comment on packets that the run omits.
const ADDED: &str = "added: the simulated run does without this packet";

/// Names in one block; readers keep whole blocks in memory.
const NAMES: usize = 1000;

/// Checks that the packets of `plan` fit the addresses and lengths of IPv4.
fn check(plan: &Plan) -> io::Result<()> {
    let impossible = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let flows: u64 = plan.classes.iter().map(|class| u64::from(class.count)).sum();
    let paths = |class: &Class| u64::from(class.count) * class.paths.len() as u64;
    let paths: u64 = plan.classes.iter().map(paths).sum();
    if flows >= 1 << 20 || paths >= 1 << 24 {
        let most = "a capture has addresses for 1048575 connections and 16777215 paths";
        return impossible(format!("there are {flows} connections and {paths} paths; {most}"));
    }
    match plan.classes.iter().find(|class| class.transport.payload.0 > u64::from(MAX_PAYLOAD)) {
        Some(Class { name, transport, .. }) => impossible(format!(
            "flow.{name}.transport.payload is {} B; with its headers an IP packet holds at most {MAX_PAYLOAD} B",
            transport.payload.0
        )),
        None => Ok(()),
    }
}

/// An address of `10.0.0.0/8` for each path's sender, one of `172.16.0.0/12` for each receiver.
pub(super) fn addresses(path: usize, flow: usize) -> (Ipv4Addr, Ipv4Addr) {
    let (path, flow) = (path as u32 + 1, flow as u32 + 1);
    (Ipv4Addr::from_bits(0x0a00_0000 | path), Ipv4Addr::from_bits(0xac10_0000 | flow))
}

fn terms(class: &Class, rng: &mut Stream) -> Terms {
    let mut key = || u64::from(word(rng)) << 32 | u64::from(word(rng));
    let keys = Keys { initiator: key(), responder: key(), hash: Hash::Sha256 };
    let options = &class.transport;
    let scale = (0..14).find(|shift| options.receive_buffer.0 >> shift <= 65_535).unwrap_or(14);
    Terms {
        keys: (class.paths.len() > 1).then_some(keys),
        payload: options.payload.0 as u32,
        scale,
        sack: options.sack,
        ecn: options.ecn,
    }
}

impl Capture {
    pub(super) fn new(
        out: Box<dyn Write + Send>,
        plan: &Plan,
        seed: u64,
        keep: usize,
    ) -> io::Result<Self> {
        check(plan)?;
        let application = concat!("anabranch ", env!("CARGO_PKG_VERSION"));
        let comment = format!("scenario {} with seed {seed}, at the hosts that send", plan.name);
        let writer = Writer::new(out, application, &comment)?;
        let (flows, paths) = (Vec::new(), Vec::new());
        let mut capture = Capture { writer, keep, flows, paths, failed: None };
        let mut interface = 0;
        for class in &plan.classes {
            for path in 0..class.paths.len() {
                capture.writer.interface(&format!("{}.path{path}", class.name), &class.name)?;
            }
            for user in 0..class.count {
                let mut rng = Stream::new(seed, "capture", &class.name, u64::from(user));
                capture.add_flow(class, interface, &mut rng);
            }
            interface += class.paths.len() as u32;
        }
        capture.name(plan)?;
        Ok(capture)
    }

    fn add_flow(&mut self, class: &Class, interface: u32, rng: &mut Stream) {
        let (flow, first) = (self.flows.len(), self.paths.len());
        let terms = terms(class, rng);
        for (local, planned) in class.paths.iter().enumerate() {
            let (here, there) = addresses(first + local, flow);
            let here = Endpoint { address: here, port: 40_000 };
            let there = Endpoint { address: there, port: 5201 };
            // RFC 8684 §3.2: zero is the address of the first subflow.
            let id = (local % 255 + 1) as u8;
            let mut subflow = Subflow::new(here, there, id, rng);
            subflow.backup = planned.backup;
            self.paths.push(Path {
                flow,
                interface: interface + local as u32,
                subflow,
                open: false,
                member: planned.join == units::Span::ZERO,
                next: 0,
                heard: 0,
                counts: [0; 2],
                transit: VecDeque::new(),
                unconfirmed: None,
            });
        }
        let paths = first..self.paths.len();
        self.flows.push(Flow { terms, paths, initial: None, data_ack: 0 });
    }

    /// Writes the names of the addresses.
    fn name(&mut self, plan: &Plan) -> io::Result<()> {
        let users = plan.classes.iter().flat_map(|c| (0..c.count).map(move |user| (c, user)));
        let mut names = Vec::new();
        for (flow, (class, user)) in self.flows.iter().zip(users) {
            let owner = format!("{}.{user}", class.name);
            for (local, path) in self.paths[flow.paths.clone()].iter().enumerate() {
                names.push((path.subflow.here.address, format!("{owner}.path{local}")));
            }
            let server = self.paths[flow.paths.start].subflow.there.address;
            names.push((server, format!("{owner}.server")));
        }
        names.chunks(NAMES).try_for_each(|names| self.writer.names(names))
    }

    /// A sender has sent `segment`; for a combination, `ranges` has its data.
    pub(super) fn sent(&mut self, now: Time, path: u32, segment: &Segment, ranges: &[Range]) {
        let path = path as usize;
        match segment {
            Segment::Data(data) => self.write_data(now, path, data),
            Segment::Datagram(Datagram { offset: start, len, .. })
            | Segment::TfrcData(TfrcData { dsn: start, len, .. }) => {
                self.write_datagram(now, path, &ruler(*start, *len));
            }
            Segment::Combination(combination) => {
                self.write_combination(now, path, combination, ranges);
            }
            Segment::QuicDatagram(datagram) => self.write_datagram(now, path, &datagram.bytes),
            Segment::Ack(_)
            | Segment::TfrcReport(_)
            | Segment::Echo(_)
            | Segment::CodedAck(_)
            | Segment::QuicAnswer(_) => {}
        }
    }

    fn write_combination(&mut self, now: Time, path: usize, what: &Combination, of: &[Range]) {
        let symbols = of.iter().map(|range| ruler(range.start, range.len() as u32));
        let payload = coded::packet(what, &symbols.collect::<Vec<_>>());
        self.write_datagram(now, path, &payload);
    }

    /// A sender of TCP has sent `data`.
    fn write_data(&mut self, now: Time, path: usize, data: &Data) {
        if data.flags.has(Flags::SYN) {
            let join = self.begin(now, path);
            return self.forth(now, path, None, None, |subflow, sent| subflow.request(sent, join));
        }
        if data.flags.has(Flags::CONFIRM) {
            return self.forth(now, path, None, None, |subflow, sent| subflow.confirm(sent, true));
        }
        if !self.paths[path].open {
            self.open(now, path);
        }
        let initial = self.flows[self.paths[path].flow].initial == Some(path);
        let next = &mut self.paths[path].next;
        *next = (*next).max(data.seq + u64::from(data.len));
        self.forth(now, path, Some(data), None, |subflow, sent| subflow.data(sent, data, initial));
    }

    /// A path's handshake begins; returns whether it is a join, which announces its address first.
    fn begin(&mut self, now: Time, path: usize) -> bool {
        let flow = &mut self.flows[self.paths[path].flow];
        let initial = *flow.initial.get_or_insert(path);
        let again = self.paths[path].unconfirmed.is_some();
        if initial != path && !again {
            self.announce(now, path);
        }
        initial != path
    }

    /// Writes the handshake of a run that begins with open paths.
    fn open(&mut self, now: Time, path: usize) {
        let join = self.begin(now, path);
        self.paths[path].open = true;
        self.forth(now, path, None, Some(ADDED), |subflow, sent| subflow.request(sent, join));
        self.back(now, path, |subflow, sent| subflow.grant(sent, join));
        self.paths[path].heard = Subflow::clock(now);
        self.forth(now, path, None, Some(ADDED), |subflow, sent| subflow.confirm(sent, join));
        if join {
            let Flow { data_ack, terms, .. } = self.flows[self.paths[path].flow];
            let fourth = |subflow: &Subflow| fourth(subflow, &terms, data_ack, now);
            self.back(now, path, |subflow, sent| subflow.ack(sent, &fourth(subflow), None, 0));
        }
    }

    /// Another open path of the connection.
    fn sibling(&self, path: usize) -> Option<usize> {
        let mut siblings = self.flows[self.paths[path].flow].paths.clone();
        siblings.find(|&other| other != path && self.paths[other].open && self.paths[other].member)
    }

    fn announce(&mut self, now: Time, path: usize) {
        let (flow, subflow) = (self.paths[path].flow, self.paths[path].subflow);
        let (Some(keys), Some(other)) = (self.flows[flow].terms.keys, self.sibling(path)) else {
            return;
        };
        let (id, address) = (subflow.id, subflow.here.address.into());
        let code = Some(keys.address_code(id, address, None));
        self.notify(now, other, Mptcp::AddAddress { echo: false, id, address, port: None, code });
        self.paths[path].unconfirmed = Some(now);
    }

    /// Sends `option` on `path` in a packet of its own.
    fn notify(&mut self, now: Time, path: usize, option: Mptcp) {
        let next = self.paths[path].next;
        let notice = |subflow: &Subflow, sent: &Sent<'_>| subflow.notice(sent, next, option);
        self.forth(now, path, None, Some(ADDED), notice);
    }

    /// `path` has joined and numbers its bytes from `seq` on: a new subflow.
    pub(super) fn joined(&mut self, path: u32, seq: u64) {
        let path = &mut self.paths[path as usize];
        if path.next > 0 || path.open {
            path.subflow.again(seq);
        }
        (path.open, path.member, path.next, path.heard) = (false, true, seq, 0);
        path.unconfirmed = None;
    }

    /// `path` has left: its address is withdrawn.
    pub(super) fn left(&mut self, now: Time, path: u32) {
        let path = path as usize;
        let (was_open, id) = (self.paths[path].open, self.paths[path].subflow.id);
        (self.paths[path].open, self.paths[path].member) = (false, false);
        let flow = &mut self.flows[self.paths[path].flow];
        let initial = flow.initial == Some(path);
        if initial && !was_open {
            // its request was not granted: the next path requests the connection
            flow.initial = None;
        }
        if let Some(other) = self.sibling(path).filter(|_| was_open) {
            let ids = vec![if initial { 0 } else { id }];
            self.notify(now, other, Mptcp::RemoveAddress { ids });
        }
    }

    /// A receiver has sent `answer`. An ACK's stamps depend on its sending time: the ACK is kept
    /// until it arrives.
    pub(super) fn answered(&mut self, now: Time, path: u32, answer: &Segment) {
        let Segment::Ack(ack) = *answer else {
            return;
        };
        let number = path as usize;
        let path = &mut self.paths[number];
        let join = self.flows[path.flow].initial != Some(number);
        path.transit.push_back(Transit { ack, sent: now, subflow: path.subflow, join });
    }

    /// The index of `answer` among the ACKs in flight, if it is an ACK.
    fn find(&self, path: u32, answer: &Segment) -> Option<usize> {
        let Segment::Ack(ack) = answer else {
            return None;
        };
        self.paths[path as usize].transit.iter().position(|transit| transit.ack == *ack)
    }

    /// `answer` was lost.
    pub(super) fn gone(&mut self, path: u32, answer: &Segment) {
        if let Some(index) = self.find(path, answer) {
            self.paths[path as usize].transit.remove(index);
        }
    }

    /// `answer` was duplicated.
    pub(super) fn copied(&mut self, path: u32, answer: &Segment) {
        if let Some(index) = self.find(path, answer) {
            let transit = &mut self.paths[path as usize].transit;
            let copy = transit[index].clone();
            transit.insert(index, copy);
        }
    }

    /// `answer` arrived at the sender; it is written if `write`.
    pub(super) fn heard(&mut self, now: Time, path: u32, answer: &Segment, write: bool) {
        let number = path as usize;
        match answer {
            Segment::Ack(ack) => self.write_ack(now, path, ack, write),
            _ if !write => {}
            Segment::TfrcReport(report) => {
                self.write_answer(now, number, &vec![0; report.bytes() as usize]);
            }
            Segment::Echo(Echo(Datagram { offset, len, .. })) => {
                self.write_answer(now, number, &ruler(*offset, *len));
            }
            Segment::CodedAck(ack) => self.write_coded_ack(now, number, ack),
            Segment::QuicAnswer(QuicAnswer(datagram)) => {
                self.write_answer(now, number, &datagram.bytes);
            }
            Segment::Data(_)
            | Segment::QuicDatagram(_)
            | Segment::TfrcData(_)
            | Segment::Datagram(_)
            | Segment::Combination(_) => {}
        }
    }

    fn write_coded_ack(&mut self, now: Time, path: usize, ack: &CodedAck) {
        let flow = &mut self.flows[self.paths[path].flow];
        flow.data_ack = flow.data_ack.max(ack.data_ack);
        self.write_answer(now, path, &coded::answer(ack));
    }

    /// The receiver's answer on a path without TCP arrived at the sender.
    fn write_answer(&mut self, now: Time, path: usize, payload: &[u8]) {
        let Path { subflow, counts, .. } = &mut self.paths[path];
        counts[1] = counts[1].wrapping_add(1);
        let packet = datagram(subflow.there, subflow.here, counts[1], payload);
        self.write(now, path, &packet, None);
    }

    /// An ACK of TCP arrived at the sender.
    fn write_ack(&mut self, now: Time, path: u32, ack: &Ack, write: bool) {
        let Some(index) = self.find(path, &(*ack).into()) else {
            return;
        };
        let path = path as usize;
        let Some(transit) = self.paths[path].transit.remove(index).filter(|_| write) else {
            return;
        };
        let flow = &mut self.flows[self.paths[path].flow];
        flow.data_ack = flow.data_ack.max(ack.data_ack);
        let join = transit.join;
        self.paths[path].heard = self.paths[path].heard.max(Subflow::clock(transit.sent));
        if ack.flags.has(Flags::SYN) {
            self.arrive(now, path, &transit, |subflow, sent| subflow.grant(sent, join));
            if !join && !self.paths[path].open {
                self.paths[path].open = true;
                self.forth(now, path, None, Some(ADDED), |subflow, sent| {
                    subflow.confirm(sent, false)
                });
            }
            return;
        }
        self.paths[path].open |= ack.flags.has(Flags::CONFIRM);
        let confirmed = self.confirmable(path, ack);
        self.arrive(now, path, &transit, |subflow, sent| {
            let (address, id) = confirmed.unzip();
            subflow.ack(sent, ack, address, id.unwrap_or(0))
        });
    }

    /// The address of a sibling that this ACK may confirm: it answers a packet sent after the
    /// announcement.
    fn confirmable(&mut self, path: usize, ack: &Ack) -> Option<(Ipv4Addr, u8)> {
        if ack.sacks.blocks().len() > 1 {
            return None; // the option does not fit
        }
        let mut siblings = self.flows[self.paths[path].flow].paths.clone();
        let due = |at: Option<Time>| at.is_some_and(|at| at != Time::NEVER && ack.echo >= at);
        let sibling =
            siblings.find(|&other| other != path && due(self.paths[other].unconfirmed))?;
        self.paths[sibling].unconfirmed = Some(Time::NEVER);
        let subflow = &self.paths[sibling].subflow;
        Some((subflow.here.address, subflow.id))
    }

    /// Writes a packet of the sender on `path`, with the payload of `data`.
    fn forth(
        &mut self,
        now: Time,
        path: usize,
        data: Option<&Data>,
        comment: Option<&str>,
        make: impl FnOnce(&Subflow, &Sent<'_>) -> TcpSegment,
    ) {
        let Path { flow, subflow, heard, counts, .. } = &mut self.paths[path];
        counts[0] = counts[0].wrapping_add(1);
        let terms = &self.flows[*flow].terms;
        let segment = make(subflow, &Sent { at: now, echo: *heard, count: counts[0], terms });
        let payload = data.map_or(Vec::new(), |data| ruler(data.dsn, data.len));
        self.write(now, path, &segment.encode(&payload), comment);
    }

    /// Writes a packet of the receiver that the run omits.
    fn back(
        &mut self,
        now: Time,
        path: usize,
        make: impl FnOnce(&Subflow, &Sent<'_>) -> TcpSegment,
    ) {
        let Path { flow, subflow, counts, .. } = &mut self.paths[path];
        counts[1] = counts[1].wrapping_add(1);
        let terms = &self.flows[*flow].terms;
        let echo = Subflow::clock(now);
        let segment = make(subflow, &Sent { at: now, echo, count: counts[1], terms });
        self.write(now, path, &segment.encode(&[]), Some(ADDED));
    }

    /// Writes an ACK that arrived.
    fn arrive(
        &mut self,
        now: Time,
        path: usize,
        transit: &Transit,
        make: impl FnOnce(&Subflow, &Sent<'_>) -> TcpSegment,
    ) {
        let Path { flow, counts, .. } = &mut self.paths[path];
        counts[1] = counts[1].wrapping_add(1);
        let terms = &self.flows[*flow].terms;
        let echo = Subflow::echo(&transit.ack);
        let sent = Sent { at: transit.sent, echo, count: counts[1], terms };
        let segment = make(&transit.subflow, &sent);
        self.write(now, path, &segment.encode(&[]), None);
    }

    /// Writes a packet of the sender on a path without TCP.
    fn write_datagram(&mut self, now: Time, path: usize, payload: &[u8]) {
        let Path { subflow, counts, .. } = &mut self.paths[path];
        counts[0] = counts[0].wrapping_add(1);
        let packet = datagram(subflow.here, subflow.there, counts[0], payload);
        self.write(now, path, &packet, None);
    }

    fn write(&mut self, now: Time, path: usize, packet: &[u8], comment: Option<&str>) {
        if self.failed.is_none() {
            let interface = self.paths[path].interface;
            let written = self.writer.packet(interface, now, packet, self.keep, comment);
            self.failed = written.err();
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish().map(drop),
        }
    }
}

/// The ACK that ends a join (RFC 8684 §3.2): no data has arrived on `subflow` yet.
fn fourth(subflow: &Subflow, terms: &Terms, data_ack: u64, now: Time) -> Ack {
    let (ack, window_edge) = (subflow.base(), data_ack + (65_535 << terms.scale));
    let (sacks, flags) = (wire::Sacks::default(), Flags::NONE);
    Ack { ack, data_ack, window_edge, echo: now, transit: Span::ZERO, sacks, flags }
}
