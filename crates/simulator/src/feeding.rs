//! Packets in feeders: see `feeders.rs`.
//!
//! A feeder keeps a record of its packets until they have come out, for its queue and its counters.
//! An observer sees only the steps that have been taken by then: see [`World::pause`].

use crate::ends::Ends;
use crate::event_source::Wake;
use crate::feeders::{Entered, Feeder, Leap, Received};
use crate::packed::{Envelope, PackedSegment};
use crate::trace::EventKind;
use crate::world::{Flow, Path, World};
use network::{Offer, Packet};
use topology::{Hop, HopTarget, LazyStream};
use transport::ReceivingEndpoint;
use units::Time;

impl World {
    /// Puts a packet into a feeder. It takes its next steps at once, for the times at which it
    /// comes out of this and further feeders.
    #[inline(never)] // keeps the code of other hops short
    pub(crate) fn feed(&mut self, mut packet: PackedSegment, feeder: u32) {
        let cursor = packet.cursor() + 1;
        let next = self.hops[cursor as usize];
        let Feeder { number, link } = &mut self.feeders.list[feeder as usize];
        self.totals.hops += link.make_room(self.now);
        let number = *number;
        let kept = Entered { bytes: packet.bytes(), next };
        let passed = link.pass(self.now, &mut packet, kept, || LazyStream {
            streams: &mut self.streams,
            index: number,
        });
        match passed {
            Some(out) => self.go_ahead(&packet, cursor, next, out),
            None => self.lose(packet, number, EventKind::Dropped),
        }
    }

    /// A packet comes out of a feeder at `at`, and takes its `next` steps, from `cursor` on. It is
    /// moved in the copy that enters a line: a processor waits for a part that was just written
    /// before it copies the whole.
    #[inline(always)] // runs for every packet in a feeder
    fn go_ahead(&mut self, packet: &PackedSegment, mut cursor: u32, mut next: Hop, mut at: Time) {
        while let HopTarget::Feeder(line) = next.target() {
            cursor += 1;
            next = self.hops[cursor as usize];
            let Feeder { link, .. } = &mut self.feeders.list[line as usize];
            self.totals.hops += link.make_room(self.now);
            at = link.pass_unlimited(at, Entered { bytes: packet.bytes(), next });
        }
        match next.target() {
            HopTarget::Link(line) => self.enter_ahead(packet.moved(cursor + 1), line, at),
            HopTarget::Line(line) => self.convey_at(at, packet.moved(cursor + 1), line),
            HopTarget::Answered(_) => {
                let ack = self.answer_ahead(packet, at);
                let cursor = ack.cursor();
                let next = self.hops[cursor as usize];
                match next.target() {
                    HopTarget::Link(line) => self.enter_ahead(ack.moved(cursor + 1), line, at),
                    HopTarget::Line(line) => self.convey_at(at, ack.moved(cursor + 1), line),
                    _ => self.answer_into_feeder(&ack, next, at),
                }
            }
            other => unreachable!("{other:?} is not behind a feeder"),
        }
    }

    /// An ACK enters a feeder at `at`.
    #[inline(never)] // keeps the code of other answers short
    fn answer_into_feeder(&mut self, ack: &PackedSegment, next: Hop, at: Time) {
        self.go_ahead(ack, ack.cursor(), next, at);
    }

    /// A packet enters a private line at `at`.
    #[inline(always)] // runs for every packet in a feeder
    fn enter_ahead(&mut self, packet: PackedSegment, line: u32, at: Time) {
        if let Offer::Wake(out) = self.links[line as usize].offer_unlimited(at, packet) {
            self.agenda.schedule(self.sources.source(Wake::Link(line)), out);
        }
    }

    /// The ACK of a segment of TCP that arrives at `at`.
    #[inline(always)] // it has one caller
    fn answer_ahead(&mut self, packet: &PackedSegment, at: Time) -> PackedSegment {
        debug_assert!(self.watch.is_none(), "an observer would be shown the future");
        let number = packet.path();
        let Path { flow, back, lower_effort, count, .. } = &mut self.paths[number as usize];
        let Flow { ends: Ends::Tcp(tcp), header, .. } = &mut self.flows[*flow as usize] else {
            unreachable!("a receiver of another protocol is not behind a feeder")
        };
        self.totals.delivered += 1;
        self.totals.sent += 1;
        count.arrived_bytes += u64::from(packet.bytes());
        let header = u32::from(*header);
        let envelope =
            Envelope { header, path: number, cursor: *back, lower_effort: *lower_effort };
        let data = packet.as_data();
        match tcp.receiver.on_usual_data(0, &data) {
            Some(ack) => {
                if ack.ack != data.seq + u64::from(data.len) {
                    self.leap(number, at, data.len, Received::behind_a_hole(data.len.into()));
                }
                PackedSegment::usual_ack(&ack, envelope)
            }
            None => self.answer_unusual_ahead(packet, at, envelope),
        }
    }

    /// The ACK of a segment that is not usual.
    #[inline(never)] // keeps the code of usual segments short
    fn answer_unusual_ahead(
        &mut self,
        packet: &PackedSegment,
        at: Time,
        envelope: Envelope,
    ) -> PackedSegment {
        let (path, data) = (packet.path(), packet.as_data());
        let flow = self.paths[path as usize].flow as usize;
        let before = Received::by(&self.flows[flow].ends, 0);
        let Ends::Tcp(tcp) = &mut self.flows[flow].ends else {
            unreachable!("a receiver of another protocol is not behind a feeder")
        };
        let Some(ack) = tcp.receiver.on_data(at, 0, &data) else {
            unreachable!("a receiver that waits is not behind a feeder")
        };
        let change = Received::by(&self.flows[flow].ends, 0).since(before);
        self.leap(path, at, data.len, change);
        PackedSegment::ack(&ack, envelope, &mut self.store)
    }

    /// Notes the `change` of a receiver's counters by a segment of `len` bytes that arrives at `at`
    /// and is not in order.
    #[inline(never)] // keeps the code of segments in order short
    fn leap(&mut self, path: u32, at: Time, len: u32, change: Received) {
        let beyond = change.since(Received::in_order(len.into()));
        let leaps = &mut self.feeders.leaps;
        if leaps.len() == leaps.capacity() {
            leaps.retain(|leap| leap.at > self.now);
        }
        leaps.push(Leap { path, at, beyond });
    }

    /// Prepares the world for an observer: feeders release packets that have come out, and the next
    /// steps of the others are withheld.
    pub(crate) fn pause(&mut self) {
        for Feeder { link, .. } in &mut self.feeders.list {
            self.totals.hops += link.release(self.now);
            self.feeders.withheld.extend(link.inside());
        }
        for number in 0..self.feeders.withheld.len() {
            self.withhold(self.feeders.withheld[number]);
        }
        self.feeders.leaps.retain(|leap| leap.at > self.now);
        for Leap { path, beyond, .. } in &self.feeders.leaps {
            self.feeders.unseen.entry(*path).or_default().add(*beyond);
        }
        self.show_lines();
    }

    /// Withholds the next step of a packet that is still in a feeder.
    fn withhold(&mut self, Entered { bytes, next }: Entered) {
        match next.target() {
            HopTarget::Link(line) => self.links[line as usize].withhold(1),
            HopTarget::Line(_) => {} // it is shown when its packets enter
            HopTarget::Feeder(line) => self.feeders.list[line as usize].link.withhold(1),
            HopTarget::Answered(path) => {
                self.totals.delivered -= 1;
                self.totals.sent -= 1;
                let Path { flow, back, count, .. } = &mut self.paths[path as usize];
                count.arrived_bytes -= u64::from(bytes);
                let payload = bytes - u32::from(self.flows[*flow as usize].header);
                let unseen = self.feeders.unseen.entry(path).or_default();
                unseen.add(Received::in_order(payload.into()));
                // Its ACK has taken a step of its own.
                let next = self.hops[*back as usize];
                self.withhold(Entered { bytes: 0, next });
            }
            other => unreachable!("{other:?} is not behind a feeder"),
        }
    }

    /// The world goes on after a pause.
    pub(crate) fn go_on(&mut self) {
        while let Some(entered) = self.feeders.withheld.pop() {
            self.readmit(entered);
        }
        self.feeders.unseen.clear();
        self.hide_lines();
    }

    /// Ends [`World::withhold`].
    fn readmit(&mut self, Entered { bytes, next }: Entered) {
        match next.target() {
            HopTarget::Link(line) => self.links[line as usize].readmit(1),
            HopTarget::Line(_) => {}
            HopTarget::Feeder(line) => self.feeders.list[line as usize].link.readmit(1),
            HopTarget::Answered(path) => {
                self.totals.delivered += 1;
                self.totals.sent += 1;
                let Path { back, count, .. } = &mut self.paths[path as usize];
                count.arrived_bytes += u64::from(bytes);
                let next = self.hops[*back as usize];
                self.readmit(Entered { bytes: 0, next });
            }
            other => unreachable!("{other:?} is not behind a feeder"),
        }
    }

    /// The counters of the receiver of a path, during a pause.
    pub(crate) fn received(&self, path: u32) -> Received {
        let Path { flow, .. } = self.paths[path as usize];
        let Flow { ends, first_path, .. } = &self.flows[flow as usize];
        let all = Received::by(ends, (path - first_path) as usize);
        match self.feeders.unseen.get(&path) {
            Some(unseen) => all.since(*unseen),
            None => all,
        }
    }
}

impl Received {
    /// The counters of the receiver of a connection; bytes taken are those of one `path`.
    fn by(ends: &Ends, path: usize) -> Self {
        Received { delivered: ends.delivered(), held: ends.held(), taken: ends.taken(path) }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::build;
    use crate::feeders::{Feeder, Feeders};
    use crate::run::run_changed;
    use crate::world::World;
    use crate::{Observe, Outcome, run};
    use proptest::prelude::*;
    use scenario::Plan;
    use topology::{Hop, HopTarget};

    /// The parameters that differ between plans.
    #[derive(Clone, Copy, Debug)]
    struct Different {
        queue: usize,
        /// Rates in kb/s.
        own: u64,
        shared: u64,
        /// Delays in µs.
        delays: [u64; 2],
        /// Whether each user has private lines, or all share them.
        per_user: bool,
        /// Whether the lines come first in the file.
        first: bool,
        /// Number of users that have the lines to themselves.
        alone: u32,
    }

    const QUEUES: [&str; 4] = [
        "'unlimited'",
        "{ droptail = { packets = '20 packets' } }",
        "{ droptail = { bytes = '20 kB' } }",
        "{ red = { min = '4 packets', max = '12 packets', max_p = 0.1, weight = 1, ecn = true, \
         limit = '40 packets' } }",
    ];

    /// A class behind a shared link with private or common lines, and a class on those lines alone.
    fn plan(it: Different) -> Plan {
        let Different { own, shared, delays: [delay, behind], per_user, alone, .. } = it;
        let queue = QUEUES[it.queue];
        let line = format!(
            "[[link]]\nname = 'own'\nrate = '{own} kb/s'\ndelay = '{behind} us'\n\
             queue = 'unlimited'\nper_user = {per_user}\n\
             [[link]]\nname = 'own-back'\ndelay = '{behind} us'\nper_user = {per_user}\n"
        );
        let common = format!(
            "[[link]]\nname = 'shared'\nrate = '{shared} kb/s'\ndelay = '{delay} us'\n\
             queue = {queue}\n[[link]]\nname = 'back'\ndelay = '5 ms'\n"
        );
        let links = if it.first { line + &common } else { common + &line };
        let text = format!(
            "name = 'x'\nduration = '3 s'\nwarmup = '500 ms'\nsample = '100 ms'\n\
             [transport]\necn = true\n{links}\
             [[flow]]\nname = 'behind'\ncount = 3\nspread = '50 ms'\ncontroller = 'lia'\n\
             path = [{{ links = ['shared', 'own'], back = ['back', 'own-back'] }}]\n\
             [[flow]]\nname = 'alone'\ncount = {alone}\ncontroller = 'reno'\n\
             path = [{{ links = ['own'], back = ['own-back'] }}]\n\
             [[flow]]\nname = 'striped'\ncount = 1\ncontroller = 'reno'\nstriped = true\n\
             path = [{{ links = ['shared', 'own'], back = ['back', 'own-back'] }}, \
             {{ links = ['shared', 'own'], back = ['back', 'own-back'] }}]\n"
        );
        Plan::read(&text, "x.toml", &[]).unwrap()
    }

    const USUAL: Different = Different {
        queue: 1,
        own: 4000,
        shared: 8000,
        delays: [1000, 3000],
        per_user: true,
        first: false,
        alone: 1,
    };

    /// The numbers of the feeders of a plan.
    fn feeders(plan: &Plan) -> Vec<u32> {
        build(plan, 1, false).0.feeders.list.iter().map(|feeder| feeder.number).collect()
    }

    /// All observable results of a run, without counts of events.
    fn seen(outcome: &Outcome) -> String {
        format!("{:?}", Outcome { digest: 0, events: 0, ..outcome.clone() })
    }

    /// The places at which two texts begin to differ, if they do.
    fn difference(one: &str, other: &str) -> Option<String> {
        let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| {
            text.get(same.saturating_sub(200)..text.len().min(same + 100)).map(str::to_owned)
        };
        (one != other).then(|| format!("{:?}, and {:?}", around(one), around(other)))
    }

    #[test]
    fn a_link_that_leads_to_private_lines_alone_is_a_feeder() {
        assert_eq!(feeders(&plan(USUAL)), [0, 1, 8], "shared and back");
        let mut beside = plan(USUAL);
        beside.classes[0].paths[0].links.truncate(1);
        assert_eq!(feeders(&beside), [1, 5], "some packets of the shared link go nowhere else");
        let common = plan(Different { per_user: false, ..USUAL });
        assert_eq!(feeders(&common), [0u32; 0], "others reach the line too");
        let (mut world, _) = build(&plan(USUAL), 1, false);
        world.wake_feeders();
        let own = 2; // the line of the first user
        let found = Feeders::lay(&mut world.hops, &mut world.links, &[own]);
        assert_eq!(found.list.len(), 1);
        assert_eq!(found.list[0].number, 1, "that line changes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn whether_a_feeder_is_woken_shows_in_nothing_but_the_number_of_events(
            (queue, own, shared) in (0usize..4, 500u64..20_000, 500u64..20_000),
            delays in [0u64..20_000, 0u64..3],
            (per_user, first, alone, seed) in (any::<bool>(), any::<bool>(), 0u32..2, 0u64..100),
        ) {
            let different = Different { queue, own, shared, delays, per_user, first, alone };
            let plan = plan(different);
            let observe = Observe { series: true, events: Some(1000) };
            let usual = run(&plan, seed, observe, &Default::default()).unwrap();
            let woken = run_changed(&plan, seed, observe, World::wake_feeders);
            prop_assert_eq!(difference(&seen(&usual), &seen(&woken)), None);
            prop_assert_eq!(usual.events < woken.events, !feeders(&plan).is_empty());
        }

        #[test]
        fn whether_a_receiver_answers_ahead_of_time_shows_in_nothing_but_the_number_of_events(
            (queue, shape, shared) in (0usize..4, 0usize..SHAPES.len(), 500u64..20_000),
            delays in [0u64..20_000, 0u64..3],
            (sack, dsack, buffer) in (any::<bool>(), any::<bool>(), 5u64..100),
            (ms, seed) in (1u64..200, 0u64..100),
        ) {
            let plan = answered(SHAPES[shape], QUEUES[queue], shared, delays, &format!(
                "sack = {sack}\ndsack = {}\nreceive_buffer = '{buffer} kB'\n", sack && dsack
            ), ms);
            let observe = Observe { series: true, events: None };
            let usual = run(&plan, seed, observe, &Default::default()).unwrap();
            let woken = run_changed(&plan, seed, observe, World::wake_feeders);
            prop_assert_eq!(difference(&seen(&usual), &seen(&woken)), None);
            prop_assert!(usual.events < woken.events, "{} events", woken.events);
            let observe = Observe { series: true, events: Some(1000) };
            let mut watched = run(&plan, seed, observe, &Default::default()).unwrap();
            watched.events_log = None;
            let watched = format!("{watched:?}");
            prop_assert_eq!(difference(&format!("{usual:?}"), &watched), None);
        }
    }

    /// Routes of data and of ACKs on which receivers answer ahead of time.
    const SHAPES: [[&str; 2]; 5] = [
        ["'shared'", "'back'"],
        ["'shared', 'own'", "'own-back', 'back'"],
        ["'access', 'shared', 'own'", "'own-back', 'back', 'home'"],
        ["'shared', 'own', 'own-too'", "'own-back', 'home'"],
        ["'access', 'shared'", "'back', 'home'"],
    ];

    /// Users of TCP whose receivers answer every segment at once, and a user that does not.
    fn answered(
        [links, back]: [&str; 2],
        queue: &str,
        shared: u64,
        [delay, behind]: [u64; 2],
        transport: &str,
        ms: u64,
    ) -> Plan {
        let own: String = ["access", "own", "own-too", "own-back", "home"]
            .map(|name| {
                format!("[[link]]\nname = '{name}'\ndelay = '{behind} us'\nper_user = true\n")
            })
            .concat();
        let text = format!(
            "name = 'x'\nduration = '3 s'\nwarmup = '500 ms'\nsample = '{ms} ms'\n\
             [transport]\ndelayed_ack = '0 s'\n{transport}{own}\
             [[link]]\nname = 'shared'\nrate = '{shared} kb/s'\ndelay = '{delay} us'\n\
             queue = {queue}\n[[link]]\nname = 'back'\ndelay = '5 ms'\n\
             [[link]]\nname = 'else'\nrate = '3 Mb/s'\ndelay = '{delay} us'\n\
             [[link]]\nname = 'else-back'\ndelay = '1 ms'\n\
             [[flow]]\nname = 'bulk'\ncount = 3\nspread = '50 ms'\ncontroller = 'reno'\n\
             path = [{{ links = [{links}], back = [{back}] }}]\n\
             [[flow]]\nname = 'short'\ncount = 2\nspread = '900 ms'\ncontroller = 'reno'\n\
             transfer = '40 kB'\npath = [{{ links = [{links}], back = [{back}] }}]\n\
             [[flow]]\nname = 'two'\ncontroller = 'lia'\npath = [\
             {{ links = ['else'], back = ['else-back'] }}, \
             {{ links = ['else'], back = ['else-back'] }}]\n"
        );
        Plan::read(&text, "x.toml", &[]).unwrap()
    }

    impl World {
        /// Wakes every link from the start of the run.
        pub(crate) fn wake_feeders(&mut self) {
            let Feeders { list, .. } = std::mem::take(&mut self.feeders);
            for hop in &mut self.hops {
                match hop.target() {
                    HopTarget::Feeder(feeder) => *hop = Hop::link(list[feeder as usize].number),
                    HopTarget::Answered(_) => *hop = Hop::ARRIVED,
                    _ => {}
                }
            }
            for Feeder { number, link } in list {
                self.links[number as usize] = link.retyped();
            }
        }
    }
}
