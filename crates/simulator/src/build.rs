//! From a plan to a world.

use crate::agenda::Agenda;
use crate::controller::Controller;
use crate::event_source::Numbering;
use crate::packed::{PackedSegment, SackStore};
use crate::traffic;
use crate::world::{Action, Flow, Fork, PathCount, Route, Totals, World};
use control::{CongestionController, Settings};
use scenario::schema;
use scenario::{Class, Plan, PlanPath};
use std::iter;
use std::sync::Arc;
use topology::{Copies, Hop, SharedMedia, Stream, Wiring};
use transport::{
    AUTOTUNED_FROM, Coding, ModernSettings, Receiver, ReceiverSettings, RtoSettings, Sender,
    SenderSettings, Source,
};
use units::{Span, Time};

/// Builds the world of `plan` for the run with `seed`, and says for each of its links which link of the
/// plan it is, or is a copy of.
pub(crate) fn build(plan: &Plan, seed: u64) -> (World, Vec<u32>) {
    let (duration, wiring) = (plan.duration, Wiring::new(plan, seed));
    let mut builder = Builder { seed, duration, world: empty(), wiring };
    builder.script_links();
    for (index, class) in plan.classes.iter().enumerate() {
        builder.add_class(index as u32, class);
    }
    let Builder { mut world, wiring, .. } = builder;
    let planned = wiring.planned;
    (world.links, world.streams, world.hops) = (wiring.links, wiring.streams, wiring.hops);
    world.media = wiring.media;
    world.sources = Numbering::new(world.links.len(), world.flows.len());
    world.agenda = Agenda::new(world.sources.count(world.media.count()));
    // What happens at one time happens in the order of the file; the next action stands last.
    world.script.sort_by_key(|(at, _)| *at);
    world.script.reverse();
    world.begin();
    (world, planned)
}

struct Builder<'a> {
    seed: u64,
    duration: Span,
    world: World,
    wiring: Wiring<'a, PackedSegment>,
}

/// What the connections of a class have in common.
struct Common<'a> {
    index: u32,
    class: &'a Class,
    sender: Arc<SenderSettings>,
    receiver: Arc<ReceiverSettings>,
    control: Controller,
}

fn empty() -> World {
    World {
        now: Time::ZERO,
        links: Vec::new(),
        streams: Vec::new(),
        flows: Vec::new(),
        classes: Vec::new(),
        routes: Vec::new(),
        counts: Vec::new(),
        hops: Vec::new(),
        forks: Vec::new(),
        media: SharedMedia::default(),
        outcomes: Vec::new(),
        script: Vec::new(),
        sources: Numbering::default(),
        agenda: Agenda::new(0),
        watch: None,
        sacks: SackStore::default(),
        totals: Totals::default(),
    }
}

impl Builder<'_> {
    /// Takes the changes of the links that were laid last into the script.
    fn script_links(&mut self) {
        let changes = self.wiring.changes.drain(..);
        let actions = changes.map(|(at, link, change)| (at, Action::Change { link, change }));
        self.world.script.extend(actions);
    }

    fn add_class(&mut self, index: u32, class: &Class) {
        let mut starts = Stream::new(self.seed, "flow", &class.name, 0);
        let common = Common {
            index,
            class,
            sender: Arc::new(sender_settings(class, self.source(class, 0))),
            receiver: Arc::new(receiver_settings(class)),
            control: control(class),
        };
        for user in 0..class.count {
            let start = Time::from(class.start) + starts.within(class.spread);
            self.add_flow(&common, start, user);
        }
    }

    fn source(&self, class: &Class, user: u32) -> Source {
        traffic::source(class, user, self.seed, self.duration)
    }

    fn add_flow(&mut self, common: &Common<'_>, start: Time, user: u32) {
        let Common { index, class, .. } = *common;
        let flow = self.world.flows.len() as u32;
        let first_path = self.world.routes.len() as u32;
        let owner = (class.name.as_str(), user);
        let mut copies = Copies::new();
        for path in &class.paths {
            let ways = iter::once((&path.links, &path.back));
            let ways = ways.chain(path.turns.iter().map(|(links, back)| (links, back)));
            let (forward, back) = ways
                .map(|(links, back)| {
                    [links, back].map(|way| self.wiring.lay(way, &mut copies, owner))
                })
                .map(|[forward, back]| (forward, back))
                .unzip();
            let (forward, back) = (self.join_ways(forward), self.join_ways(back));
            self.world.routes.push(Route { flow, forward, back });
            self.world.counts.push(PathCount::default());
        }
        self.script_links();
        let paths = class.paths.len();
        let settings = match traffic::differs(class) {
            false => common.sender.clone(),
            true => Arc::new(sender_settings(class, self.source(class, user))),
        };
        let mut sender = Sender::new(settings, common.control.clone(), paths, start);
        let mut receiver = Receiver::new(common.receiver.clone(), paths);
        for (path, planned) in class.paths.iter().enumerate() {
            if let Some(schema::Coding { redundancy, window }) = planned.coding {
                sender.set_coding(path, Coding { redundancy, window });
                receiver.set_coding(path);
            }
            self.script_path(&mut sender, path, planned, first_path);
        }
        self.world.classes.push(index);
        self.world.flows.push(Flow {
            sender,
            receiver,
            first_path,
            header: (class.transport.packet.0 - class.transport.payload.0) as u16,
            small_queue: class.transport.small_queue.is_some()
                || class.transport.small_queue_time.is_some(),
        });
    }

    /// Where a path begins that takes `ways` in turn; the only way, if there is one.
    fn join_ways(&mut self, ways: Vec<u32>) -> u32 {
        if let [only] = *ways {
            return only;
        }
        let begin = self.wiring.hops.len() as u32;
        self.wiring.hops.push(Hop::fork(self.world.forks.len() as u32));
        self.world.forks.push(Fork { ways, next: 0 });
        begin
    }

    /// A path that joins late is absent at first; joining and leaving stand in the script.
    fn script_path(
        &mut self,
        sender: &mut Sender<Controller>,
        path: usize,
        planned: &PlanPath,
        first: u32,
    ) {
        let number = first + path as u32;
        if planned.backup {
            sender.set_backup(path);
        }
        if planned.join > Span::ZERO {
            sender.leave(path);
            self.world.script.push((Time::from(planned.join), Action::Join { path: number }));
        }
        if let Some(leave) = planned.leave {
            self.world.script.push((Time::from(leave), Action::Leave { path: number }));
        }
    }
}

fn control(class: &Class) -> Controller {
    let options = &class.transport;
    let settings = Settings {
        min_window: options.min_window,
        min_ssthresh: options.min_ssthresh,
        initial_window: options.initial_window,
        initial_ssthresh: options.initial_ssthresh.unwrap_or(f64::INFINITY),
        carry_over: options.slow_start_carry_over,
        base: class.base,
    };
    Controller::new(&class.controller, settings, class.paths.len())
}

fn sender_settings(class: &Class, source: Source) -> SenderSettings {
    let options = &class.transport;
    SenderSettings {
        segment: options.payload.0 as u32,
        sack: options.sack,
        limited_transmit: options.limited_transmit,
        modern: ModernSettings {
            rack: options.rack,
            tlp: options.tlp,
            eifel: options.eifel,
            dsack: options.dsack,
            frto: options.frto,
            rate: class.controller.needs().rates,
            ecn: options.ecn,
        },
        prr: !class.controller.needs().rate_based,
        idle: options.idle,
        initial_window: options.initial_window,
        rto: RtoSettings::from(options),
        receive_buffer: match options.autotune {
            true => options.receive_buffer.0.min(AUTOTUNED_FROM),
            false => options.receive_buffer.0,
        },
        handshake: options.handshake,
        opportunistic: options.opportunistic,
        penalise: options.penalise,
        scheduler: options.scheduler.clone(),
        host_limit: options.small_queue.map_or(u64::MAX, |limit| limit.0),
        host_time: options.small_queue_time.unwrap_or_default(),
        datagrams: class.protocol == schema::Protocol::Udp,
        tfrc: rated(class),
        source,
    }
}

fn receiver_settings(class: &Class) -> ReceiverSettings {
    let options = &class.transport;
    ReceiverSettings {
        transit: control(class).reads_delay(),
        sack: options.sack,
        dsack: options.dsack,
        delayed_ack: (options.delayed_ack > Span::ZERO).then_some(options.delayed_ack),
        buffer: options.receive_buffer.0,
        autotune: options.autotune,
        tfrc: rated(class),
        echo: class.echo,
    }
}

/// Whether TFRC carries the class.
fn rated(class: &Class) -> bool {
    class.protocol == schema::Protocol::Tcp && class.controller.needs().reports
}
