//! From a plan to a world.

use crate::agenda::Agenda;
use crate::parcel::SackStore;
use crate::stream::Stream;
use crate::world::{ARRIVED, Action, Flow, PathCount, Route, Totals, World};
use control::{AnyLaw, Coupled, Settings};
use network::{Change, Link, LinkSettings, Loss, LossPlace, Queue, Red, RedSettings, Spacing};
use scenario::schema;
use scenario::{Class, Plan, PlanLink, PlanPath, PlanQueue, Transport};
use std::sync::Arc;
use transport::{
    Receiver, ReceiverSettings, RtoFloor, RtoSettings, Scheduler, Sender, SenderSettings, Source,
};
use units::{Span, Time};

/// Which link of the plan each link of the world is, and whose copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalogue {
    /// Index of the plan's link.
    pub(crate) planned: Vec<u32>,
}

/// Builds the world of `plan` for the run with `seed`.
pub(crate) fn build(plan: &Plan, seed: u64) -> (World, Catalogue) {
    let mut builder =
        Builder { plan, seed, world: empty(), catalogue: Catalogue::default(), shared: Vec::new() };
    for (index, link) in plan.links.iter().enumerate() {
        let shared = (!link.per_user).then(|| builder.add_link(index, None));
        builder.shared.push(shared);
    }
    for (index, class) in plan.classes.iter().enumerate() {
        builder.add_class(index as u32, class);
    }
    let Builder { mut world, catalogue, .. } = builder;
    world.agenda = Agenda::new(World::elements(world.links.len(), world.flows.len()));
    // What happens at one time happens in the order of the file; the next action stands last.
    world.script.sort_by_key(|(at, _)| *at);
    world.script.reverse();
    world.begin();
    (world, catalogue)
}

struct Builder<'a> {
    plan: &'a Plan,
    seed: u64,
    world: World,
    catalogue: Catalogue,
    /// For each link of the plan its number in the world, unless every user has a copy.
    shared: Vec<Option<u32>>,
}

/// What the connections of a class have in common.
struct Common<'a> {
    index: u32,
    class: &'a Class,
    sender: Arc<SenderSettings>,
    receiver: Arc<ReceiverSettings>,
    control: Coupled,
}

fn empty() -> World {
    World {
        now: Time::ZERO,
        links: Vec::new(),
        streams: Vec::new(),
        flows: Vec::new(),
        routes: Vec::new(),
        counts: Vec::new(),
        hops: Vec::new(),
        script: Vec::new(),
        agenda: Agenda::new(0),
        trace: None,
        sacks: SackStore::default(),
        totals: Totals::default(),
    }
}

impl Builder<'_> {
    /// Adds a link of the plan. A per-user link has a stream for each user, by the name of the class, so
    /// that a class that comes or goes disturbs nobody else.
    fn add_link(&mut self, planned: usize, user: Option<(&str, u32)>) -> u32 {
        let link = &self.plan.links[planned];
        let number = self.world.links.len() as u32;
        self.world.links.push(Link::new(link_settings(link)));
        self.world.streams.push(match user {
            None => Stream::new(self.seed, "link", &link.name, 0),
            Some((class, user)) => {
                let name = format!("{}.{class}", link.name); // no name has a dot
                Stream::new(self.seed, "link of a user", &name, u64::from(user))
            }
        });
        self.catalogue.planned.push(planned as u32);
        for change in &link.changes {
            let at = Time::from(change.at);
            let change =
                Change { rate: change.rate, delay: change.delay, loss: change.loss, up: change.up };
            self.world.script.push((at, Action::Change { link: number, change }));
        }
        number
    }

    fn add_class(&mut self, index: u32, class: &Class) {
        let mut starts = Stream::new(self.seed, "flow", &class.name, 0);
        let common = Common {
            index,
            class,
            sender: Arc::new(sender_settings(class)),
            receiver: Arc::new(receiver_settings(&class.transport)),
            control: control(class),
        };
        for user in 0..class.count {
            let start = Time::from(class.start) + starts.within(class.spread);
            self.add_flow(&common, start, user);
        }
    }

    fn add_flow(&mut self, common: &Common<'_>, start: Time, user: u32) {
        let Common { index, class, .. } = *common;
        let flow = self.world.flows.len() as u32;
        let first_path = self.world.routes.len() as u32;
        let owner = (class.name.as_str(), user);
        let mut copies = Vec::new();
        for path in &class.paths {
            let forward = self.add_way(&path.links, &mut copies, owner);
            let back = self.add_way(&path.back, &mut copies, owner);
            self.world.routes.push(Route { flow, forward, back });
            self.world.counts.push(PathCount::default());
        }
        let paths = class.paths.len();
        let mut sender = Sender::new(common.sender.clone(), common.control.clone(), paths, start);
        for (path, planned) in class.paths.iter().enumerate() {
            self.script_path(&mut sender, path, planned, first_path);
        }
        self.world.flows.push(Flow {
            sender,
            receiver: Receiver::new(common.receiver.clone(), paths),
            first_path,
            class: index,
            header: class.transport.packet - class.transport.payload,
        });
    }

    /// Lays a route down among the hops; per-user links are copied once for each user.
    fn add_way(
        &mut self,
        links: &[usize],
        copies: &mut Vec<(usize, u32)>,
        owner: (&str, u32),
    ) -> u32 {
        let begin = self.world.hops.len() as u32;
        for planned in links {
            let known = copies.iter().find(|(own, _)| own == planned).map(|(_, link)| *link);
            let link = self.shared[*planned].or(known).unwrap_or_else(|| {
                let link = self.add_link(*planned, Some(owner));
                copies.push((*planned, link));
                link
            });
            self.world.hops.push(link);
        }
        self.world.hops.push(ARRIVED);
        begin
    }

    /// A path that joins late is absent at first; joining and leaving stand in the script.
    fn script_path(&mut self, sender: &mut Sender, path: usize, planned: &PlanPath, first: u32) {
        let number = first + path as u32;
        if planned.join > Span::ZERO {
            sender.leave(path);
            self.world.script.push((Time::from(planned.join), Action::Join { path: number }));
        }
        if let Some(leave) = planned.leave {
            self.world.script.push((Time::from(leave), Action::Leave { path: number }));
        }
    }
}

fn link_settings(link: &PlanLink) -> LinkSettings {
    LinkSettings {
        rate: link.rate,
        delay: link.delay,
        queue: queue(link),
        loss: link.loss.map(|(probability, place)| Loss {
            probability,
            place: match place {
                schema::LossPlace::Before => LossPlace::Before,
                schema::LossPlace::After => LossPlace::After,
            },
        }),
    }
}

/// Packet whose transmission time is RED's unit of idle time.
const TYPICAL_PACKET_BITS: f64 = 8.0 * 1500.0;

fn queue(link: &PlanLink) -> Queue {
    match link.queue {
        PlanQueue::Unlimited => Queue::Unlimited,
        PlanQueue::DropTail { packets, bytes } => Queue::DropTail {
            packets: packets.unwrap_or(u64::MAX),
            bytes: bytes.unwrap_or(u64::MAX),
        },
        PlanQueue::Red { min, max, max_p, gentle, weight, spacing, limit } => {
            let rate = link.rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
            Queue::Red(Box::new(Red::new(RedSettings {
                min_th: min,
                max_th: max,
                max_p,
                gentle,
                w_q: weight,
                spacing: match spacing {
                    schema::Spacing::Independent => Spacing::Independent,
                    schema::Spacing::Count => Spacing::Count,
                },
                limit,
                packet_time: TYPICAL_PACKET_BITS / rate,
            })))
        }
    }
}

fn control(class: &Class) -> Coupled {
    // The plan was checked against the same registry.
    let law: AnyLaw = class.controller.parse().expect("the controller was validated");
    let options = &class.transport;
    let settings = Settings {
        min_window: options.min_window,
        min_ssthresh: options.min_ssthresh,
        initial_window: options.initial_window,
        initial_ssthresh: options.initial_ssthresh.unwrap_or(f64::INFINITY),
        carry_over: options.slow_start_carry_over,
    };
    Coupled::new(law, settings, class.paths.len())
}

fn sender_settings(class: &Class) -> SenderSettings {
    let options = &class.transport;
    SenderSettings {
        segment: options.payload,
        sack: options.sack,
        limited_transmit: options.limited_transmit,
        rto: RtoSettings {
            min: options.rto_min,
            floor: match options.rto_floor {
                schema::RtoFloor::Variance => RtoFloor::Variance,
                schema::RtoFloor::Total => RtoFloor::Total,
            },
            max: options.rto_max,
            initial: options.rto_initial,
        },
        receive_buffer: options.receive_buffer,
        scheduler: match options.scheduler {
            schema::Scheduler::MinRtt => Scheduler::MinRtt,
            schema::Scheduler::RoundRobin => Scheduler::RoundRobin,
        },
        host_limit: u64::MAX, // no host queue stands before the first link yet
        source: match (class.transfer, class.app_rate) {
            (Some(bytes), _) => Source::Transfer(bytes),
            (None, Some(rate)) => Source::Paced(rate),
            (None, None) => Source::Bulk,
        },
    }
}

fn receiver_settings(options: &Transport) -> ReceiverSettings {
    ReceiverSettings {
        sack: options.sack,
        delayed_ack: (options.delayed_ack > Span::ZERO).then_some(options.delayed_ack),
        buffer: options.receive_buffer,
    }
}
