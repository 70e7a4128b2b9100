//! Packets in feeders: see `feeders.rs`.
//!
//! A feeder keeps its packets until they have come out, for its queue and its counters. An observer
//! of a line sees only the packets that have entered it by then: see [`World::pause`].

use crate::event_source::Wake;
use crate::feeders::{Entered, Feeder, Feeders};
use crate::packed::PackedSegment;
use crate::trace::EventKind;
use crate::world::World;
use network::{Offer, Packet};
use topology::{HopTarget, LazyStream};

impl World {
    /// Puts a packet into a feeder, and into the private line after it for the time when it leaves
    /// the feeder.
    #[inline(never)] // keeps the code of other hops short
    pub(crate) fn feed(&mut self, mut packet: PackedSegment, feeder: u32) {
        packet.advance();
        let HopTarget::Link(line) = self.hops[packet.cursor() as usize].target() else {
            unreachable!("a line is behind a feeder")
        };
        let Feeder { number, link } = &mut self.feeders.list[feeder as usize];
        self.totals.hops += link.release(self.now);
        let number = *number;
        let kept = Entered { bytes: packet.bytes(), line };
        let passed = link.pass(self.now, &mut packet, kept, || LazyStream {
            streams: &mut self.streams,
            index: number,
        });
        let Some(enters) = passed else {
            return self.lose(packet, number, EventKind::Dropped);
        };
        packet.advance();
        if let Offer::Wake(at) = self.links[line as usize].offer_unlimited(enters, packet) {
            self.agenda.schedule(self.sources.source(Wake::Link(line)), at);
        }
    }

    /// Prepares the world for an observer: feeders release packets that have come out, and lines
    /// withhold packets that have not entered them.
    pub(crate) fn pause(&mut self) {
        let Feeders { list, withheld } = &mut self.feeders;
        for Feeder { link, .. } in list {
            self.totals.hops += link.release(self.now);
            for Entered { line, .. } in link.inside() {
                self.links[*line as usize].withhold(1);
                withheld.push(*line);
            }
        }
    }

    /// The world goes on after a pause.
    pub(crate) fn go_on(&mut self) {
        for line in self.feeders.withheld.drain(..) {
            self.links[line as usize].readmit(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::build;
    use crate::feeders::{Feeder, Feeders};
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
        build(plan, 1).0.feeders.list.iter().map(|feeder| feeder.number).collect()
    }

    /// All observable results of a run, without counts of events.
    fn seen(outcome: &Outcome) -> String {
        format!("{:?}", Outcome { digest: 0, events: 0, ..outcome.clone() })
    }

    #[test]
    fn a_link_that_leads_to_private_lines_alone_is_a_feeder() {
        assert_eq!(feeders(&plan(USUAL)), [0, 1], "shared and back");
        let mut beside = plan(USUAL);
        beside.classes[0].paths[0].links.truncate(1);
        assert_eq!(feeders(&beside), [1], "some packets of the shared link go nowhere else");
        let common = plan(Different { per_user: false, ..USUAL });
        assert_eq!(feeders(&common), [0u32; 0], "others reach the line too");
        let (mut world, _) = build(&plan(USUAL), 1);
        world.wake_feeders();
        let own = 2; // the line of the first user
        let found = Feeders::find(&mut world.hops, &mut world.links, [own].into_iter());
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
            let woken = crate::run::run_without_feeders(&plan, seed, observe);
            prop_assert_eq!(seen(&usual), seen(&woken));
            prop_assert_eq!(usual.events < woken.events, !feeders(&plan).is_empty());
        }
    }

    impl super::World {
        /// Wakes every link from the start of the run.
        pub(crate) fn wake_feeders(&mut self) {
            let Feeders { list, .. } = std::mem::take(&mut self.feeders);
            for hop in &mut self.hops {
                if let HopTarget::Feeder(feeder) = hop.target() {
                    *hop = Hop::link(list[feeder as usize].number);
                }
            }
            for Feeder { number, link } in list {
                self.links[number as usize] = link.retyped();
            }
        }
    }
}
