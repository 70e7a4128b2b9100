//! Builds a world from a plan.

use crate::agenda::Agenda;
use crate::controller::Controller;
use crate::ends::{Ends, Pair};
use crate::event_source::{EventSource, Numbering, Wake};
use crate::feeders::{self, Answering, Feeders};
use crate::lines::{self, Lines};
use crate::packed::{PackedSegment, SideStore};
use crate::traffic;
use crate::world::{Action, Flow, Fork, Path, PathCount, Totals, World};
use control::CongestionController;
#[cfg(feature = "quic")]
use network::Rng;
use network::reserve_in_huge_pages;
use scenario::schema;
use scenario::{Class, Plan};
use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;
use topology::{Hop, HopTarget, SharedMedia, Stream, Streams, TopologyBuilder, UserLinks};
use transport::tcp::ReceiverSettings;
use transport::{SenderSettings, SendingEndpoint, Source, coded, tcp, tfrc, udp};
use units::{Span, Time};

/// Builds the world of `plan` for the run with `seed`, which observers will watch or not. Returns
/// it with, for each link of the world, the number of the plan's link that it is or copies.
pub(crate) fn build(plan: &Plan, seed: u64, watched: bool) -> (World, Vec<u32>) {
    let (duration, topology) = (plan.duration, TopologyBuilder::new(plan, seed));
    let mut builder = Builder { seed, duration, world: empty(), topology };
    builder.script_links();
    for (index, class) in plan.classes.iter().enumerate() {
        builder.add_class(index as u32, class);
    }
    let Builder { mut world, topology, .. } = builder;
    let planned = topology.planned;
    (world.links, world.streams, world.hops) = (topology.links, topology.streams, topology.hops);
    world.media = topology.media;
    lay_feeders(&mut world, watched);
    world.sources = Numbering::new(world.links.len(), world.flows.len());
    world.agenda = Agenda::new(&wake_ups(&world), Time::from(duration));
    lay_lines(&mut world);
    // Actions at the same time run in the order of the file; the next action is the last element.
    world.script.sort_by_key(|(at, _)| *at);
    world.script.reverse();
    world.begin();
    (world, planned)
}

/// Finds the feeders of a world. Observers are shown each arrival at its time, so with them no
/// receiver answers ahead of time: the feeders that only lead to receivers are woken.
fn lay_feeders(world: &mut World, watched: bool) {
    let changed = changed(world);
    let answering = answering(world);
    let World { hops, links, .. } = world;
    let seen = watched.then(|| hops.clone());
    answering.iter().for_each(|path| path.mark(hops));
    let mut uncounted = BTreeSet::new();
    if let Some(seen) = seen {
        uncounted.extend(feeders::numbers(hops, links, &changed).into_iter().map(EventSource));
        *hops = seen;
    }
    world.feeders = Feeders::lay(hops, links, &changed);
    world.feeders.list.iter().for_each(|it| _ = uncounted.remove(&EventSource(it.number)));
    world.uncounted = uncounted;
}

/// Finds the lines of a world, if it has many sources.
pub(crate) fn lay_lines(world: &mut World) {
    let changed = changed(world);
    let World { agenda, hops, links, flows, .. } = world;
    if agenda.carries() {
        let least = flows.iter().map(|flow| flow.header).min().unwrap_or_default();
        lines::lay(hops, links, &changed, least.into());
    }
}

/// The links that the script changes, in the order of their numbers.
fn changed(world: &World) -> Vec<u32> {
    let links: BTreeSet<u32> = world.script.iter().filter_map(|(_, act)| act.link()).collect();
    links.into_iter().collect()
}

/// Most connections of a world in which receivers answer ahead of time. The ACKs that wait for
/// their time take memory: with 1000 connections that fill 10 Gb/s, a third more in all.
const MOST_AHEAD: usize = 500;

/// The paths whose receivers may answer ahead of time, in the order of their numbers: those of
/// connections of TCP over one path that neither joins nor leaves, whose receivers answer every
/// segment at once.
fn answering(world: &World) -> Vec<Answering> {
    if world.flows.len() > MOST_AHEAD {
        return Vec::new();
    }
    let scripted: BTreeSet<u32> =
        world.script.iter().filter_map(|(_, action)| action.path()).collect();
    let answers = |flow: &&Flow| match &flow.ends {
        Ends::Tcp(tcp) => tcp.sender.paths() == 1 && tcp.receiver.answers_at_once(),
        _ => false,
    };
    let paths = world.flows.iter().filter(answers).map(|flow| flow.first_path);
    let paths = paths.filter(|path| !scripted.contains(path)).map(|path| {
        let Path { forward, back, .. } = world.paths[path as usize];
        Answering { path, forward, back }
    });
    paths.collect()
}

/// Wake-ups of a medium for each packet: it is sent, has arrived, and is acknowledged.
const WAKE_UPS_OF_MEDIUM: u32 = 3;

/// For each event source about how often it is woken, compared with the others: a link for each
/// path through it, a medium several times, a sender of TFRC, which is woken for each packet, for
/// each of its paths, and all else hardly ever.
fn wake_ups(world: &World) -> Vec<u32> {
    let World { sources, media, hops, .. } = world;
    let mut often = vec![0; sources.count(media.count())];
    for hop in hops {
        match hop.target() {
            HopTarget::Link(link) => often[link as usize] += 1,
            HopTarget::MediumLink(link) => {
                let medium = sources.source(Wake::Medium(media.medium_of(link)));
                often[medium.index()] += WAKE_UPS_OF_MEDIUM;
            }
            _ => {}
        }
    }
    for (flow, Flow { ends, .. }) in (0..).zip(&world.flows) {
        if let Ends::Tfrc(tfrc) = ends {
            let sender = sources.source(Wake::Sender(flow));
            often[sender.index()] = tfrc.sender.paths() as u32;
        }
    }
    often
}

struct Builder<'a> {
    seed: u64,
    duration: Span,
    world: World,
    topology: TopologyBuilder<'a, PackedSegment>,
}

/// Settings shared by the connections of a class.
struct Common<'a> {
    index: u32,
    class: &'a Class,
    protocol: Protocol,
}

/// The protocol of a class, with the settings shared by its connections.
enum Protocol {
    Tcp(Arc<SenderSettings>, Arc<ReceiverSettings>, Controller),
    Tfrc(Arc<tfrc::Settings>, Controller),
    Udp(Arc<udp::Settings>),
    #[cfg(feature = "quic")]
    Quic(Arc<quic::Settings>),
}

fn empty() -> World {
    World {
        now: Time::ZERO,
        links: Vec::new(),
        streams: Streams::default(),
        flows: Vec::new(),
        classes: Vec::new(),
        paths: Vec::new(),
        hops: Vec::new(),
        forks: Vec::new(),
        feeders: Feeders::default(),
        lines: Lines::default(),
        media: SharedMedia::default(),
        outcomes: Vec::new(),
        woken_medium: None,
        script: Vec::new(),
        sources: Numbering::default(),
        agenda: Agenda::new(&[], Time::ZERO),
        watch: None,
        uncounted: BTreeSet::new(),
        store: SideStore::default(),
        totals: Totals::default(),
    }
}

impl Builder<'_> {
    /// Adds the changes of the last built links to the script.
    fn script_links(&mut self) {
        let changes = self.topology.changes.drain(..);
        let actions = changes.map(|(at, link, change)| (at, Action::Change { link, change }));
        self.world.script.extend(actions);
    }

    fn add_class(&mut self, index: u32, class: &Class) {
        let mut starts = Stream::new(self.seed, "flow", &class.name, 0);
        let common = Common { index, class, protocol: protocol(class, self.source(class, 0)) };
        let before = self.topology.size();
        for user in 0..class.count {
            let start = Time::from(class.start) + starts.within(class.spread);
            self.add_flow(&common, start, user);
            if user == 0 {
                self.reserve(class.count - 1, class.paths.len());
                self.topology.reserve(class.count - 1, before);
            }
        }
    }

    /// Reserves memory for `users` more users with so many paths each.
    fn reserve(&mut self, users: u32, paths: usize) {
        let World { flows, classes, paths: all, .. } = &mut self.world;
        let users = users as usize;
        reserve_in_huge_pages(flows, users);
        reserve_in_huge_pages(classes, users);
        reserve_in_huge_pages(all, users * paths);
    }

    fn source(&self, class: &Class, user: u32) -> Source {
        traffic::source(class, user, self.seed, self.duration)
    }

    fn add_flow(&mut self, common: &Common<'_>, start: Time, user: u32) {
        let Common { index, class, .. } = *common;
        let flow = self.world.flows.len() as u32;
        let first_path = self.world.paths.len() as u32;
        let owner = (class.name.as_str(), user);
        let mut copies = UserLinks::new();
        for path in &class.paths {
            let ways = iter::once((&path.links, &path.back));
            let ways = ways.chain(path.turns.iter().map(|(links, back)| (links, back)));
            let (forward, back) = ways
                .map(|(links, back)| {
                    [links, back].map(|way| self.topology.add_route(way, &mut copies, owner))
                })
                .map(|[forward, back]| (forward, back))
                .unzip();
            let (forward, back) = (self.join_ways(forward), self.join_ways(back));
            let lower_effort = path.lower_effort;
            let count = PathCount::default();
            self.world.paths.push(Path { flow, forward, back, lower_effort, count });
        }
        self.script_links();
        let own = traffic::differs(class).then(|| protocol(class, self.source(class, user)));
        let ends = ends(class, own.as_ref().unwrap_or(&common.protocol), start, self.seed, user);
        let ends = self.script_paths(ends, class, first_path);
        self.world.classes.push(index);
        self.world.flows.push(Flow {
            ends,
            first_path,
            header: header(class),
            small_queue: class.transport.small_queue.is_some()
                || class.transport.small_queue_time.is_some(),
        });
    }

    /// The start of a path that takes `ways` in turn; with a single way, the start of that one.
    fn join_ways(&mut self, ways: Vec<u32>) -> u32 {
        if let [only] = *ways {
            return only;
        }
        let begin = self.topology.hops.len() as u32;
        self.topology.hops.push(Hop::fork(self.world.forks.len() as u32));
        self.world.forks.push(Fork { ways, next: 0 });
        begin
    }

    /// Paths that join late are absent at first; joining and leaving are in the script.
    fn script_paths(&mut self, mut ends: Ends, class: &Class, first: u32) -> Ends {
        for (path, planned) in class.paths.iter().enumerate() {
            let number = first + path as u32;
            if planned.join > Span::ZERO {
                ends.leave(path);
                self.world.script.push((Time::from(planned.join), Action::Join { path: number }));
            }
            if let Some(leave) = planned.leave {
                self.world.script.push((Time::from(leave), Action::Leave { path: number }));
            }
        }
        ends
    }
}

/// Bytes of headers besides what a segment counts.
fn header(class: &Class) -> u16 {
    match class.protocol {
        #[cfg(feature = "quic")]
        schema::Protocol::Quic => quic::HEADER_BYTES as u16,
        _ => (class.transport.packet.0 - class.transport.payload.0) as u16,
    }
}

/// Both ends of a connection of `user` of `class` that starts at `start`, in the run with `seed`.
#[cfg_attr(not(feature = "quic"), expect(unused_variables, reason = "QUIC alone draws numbers"))]
fn ends(class: &Class, protocol: &Protocol, start: Time, seed: u64, user: u32) -> Ends {
    let paths = class.paths.len();
    match protocol {
        Protocol::Tcp(sending, receiving, control) => {
            let mut sender = tcp::Sender::new(sending.clone(), control.clone(), paths, start);
            for path in (0..paths).filter(|path| class.paths[*path].backup) {
                sender.set_backup(path, true);
            }
            let receiver = tcp::Receiver::new(receiving.clone(), paths);
            if class.paths.iter().all(|path| path.coding.is_none()) {
                return Ends::Tcp(Pair { sender, receiver });
            }
            let codings = class.paths.iter().map(|path| path.coding);
            let receiver = coded::Receiver::new(receiver, codings.clone().map(|it| it.is_some()));
            Ends::Coded(Box::new(Pair { sender: coded::Sender::new(sender, codings), receiver }))
        }
        Protocol::Tfrc(settings, control) => Ends::Tfrc(Box::new(Pair {
            sender: tfrc::Sender::new(settings.clone(), control.clone(), paths, start),
            receiver: tfrc::Receiver::new(settings.receive_buffer, paths),
        })),
        Protocol::Udp(settings) => Ends::Udp(Box::new(Pair {
            sender: udp::Sender::new(settings.clone(), start),
            receiver: udp::Receiver::new(class.echo),
        })),
        #[cfg(feature = "quic")]
        Protocol::Quic(settings) => {
            let own = Stream::new(seed, "quic", &class.name, user.into()).uniform();
            Ends::Quic(Box::new(Pair {
                receiver: quic::Receiver::new(settings, own.to_bits()),
                sender: quic::Sender::new(settings.clone(), start, own.to_bits()),
            }))
        }
    }
}

fn protocol(class: &Class, source: Source) -> Protocol {
    match class.protocol {
        schema::Protocol::Udp => {
            let (options, window) = (class.transport.clone(), control(class).window(0));
            Protocol::Udp(Arc::new(udp::Settings { options, source, window }))
        }
        schema::Protocol::Tcp if class.controller.needs().reports => {
            let (segment, receive_buffer) =
                (class.transport.segment(), class.transport.first_buffer());
            let settings = tfrc::Settings { segment, source, receive_buffer };
            Protocol::Tfrc(Arc::new(settings), control(class))
        }
        schema::Protocol::Tcp => {
            let (options, needs) = (class.transport.clone(), class.controller.needs());
            let receiving = ReceiverSettings { options: options.clone(), transit: needs.delays };
            let sending = SenderSettings::new(options, needs, source);
            Protocol::Tcp(Arc::new(sending), Arc::new(receiving), control(class))
        }
        #[cfg(feature = "quic")]
        schema::Protocol::Quic => Protocol::Quic(Arc::new(quic::Settings {
            options: class.transport.clone(),
            source,
            control: quic_control(class).expect("a plan with another controller is refused"),
            backup: class.paths.iter().map(|path| path.backup).collect(),
        })),
        #[cfg(not(feature = "quic"))]
        schema::Protocol::Quic => unreachable!("a plan with QUIC is refused"),
    }
}

/// Congestion control of a class over QUIC.
///
/// # Errors
/// Why the stack cannot run the class's controller.
#[cfg(feature = "quic")]
pub(crate) fn quic_control(class: &Class) -> Result<quic::Control, String> {
    quic::Control::new(&class.controller, class.transport.control(class.base), class.paths.len())
        .map_err(|refused| refused.to_string())
}

fn control(class: &Class) -> Controller {
    Controller::new(&class.controller, class.transport.control(class.base), class.paths.len())
}
