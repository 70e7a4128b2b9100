//! Private lines: a link that takes every packet, and that packets reach from one other link alone.
//!
//! When a packet enters that other link, its feeder, it is known when it will come out: links run
//! in virtual time, and no other packet can come to the line before it. So it enters the line at
//! once, for that later time, and the feeder needs no events: of the three links of a path with a
//! shared bottleneck before a line of one's own, one is not woken. Every packet comes out of the
//! line when it would have, so results are the same; digests count fewer events.
//!
//! A feeder keeps its packets until they have come out, for its queue and its counters. Whoever
//! looks at a world finds in a line only what has entered it by then: see [`World::pause`].

use crate::event_source::Wake;
use crate::packed::PackedSegment;
use crate::trace::EventKind;
use crate::world::{Action, World};
use network::{Link, Offer};
use std::collections::BTreeMap;
use topology::{Hop, HopTarget, LazyStream};
use units::Time;

/// The feeders of a world.
#[derive(Default)]
pub(crate) struct Feeders {
    /// Their links.
    links: Vec<u32>,
    /// Lines, and how many packets they withhold because these are still in the feeder.
    withheld: BTreeMap<u32, u32>,
}

/// From where packets reach a link.
#[derive(Clone, Copy, PartialEq)]
enum Reached {
    /// From nowhere so far.
    Never,
    /// From this link alone.
    From(u32),
    /// From several places, or from one that is no link.
    Otherwise,
}

impl Reached {
    fn also(self, from: Reached) -> Reached {
        match self {
            Reached::Never => from,
            same if same == from => same,
            _ => Reached::Otherwise,
        }
    }
}

impl Feeders {
    /// Finds the feeders among `links`, and marks the hops into them. What the script changes is
    /// neither a feeder nor a private line.
    pub(crate) fn find(
        hops: &mut [Hop],
        links: &[Link<PackedSegment>],
        script: &[(Time, Action)],
    ) -> Self {
        let mut constant: Vec<bool> = links.iter().map(Link::is_plain).collect();
        for (_, action) in script {
            if let Action::Change { link, .. } = action {
                constant[*link as usize] = false;
            }
        }
        let mut reached = vec![Reached::Never; links.len()];
        for (before, link) in pairs(hops) {
            if let HopTarget::Link(link) = link {
                let from = match before {
                    HopTarget::Link(feeder) => Reached::From(feeder),
                    _ => Reached::Otherwise,
                };
                let known = &mut reached[link as usize];
                *known = known.also(from);
            }
        }
        let is_line = |link: u32| {
            let link = link as usize;
            constant[link]
                && links[link].is_unlimited()
                && matches!(reached[link], Reached::From(_))
        };
        let mut feeds = constant.clone();
        for pair in pairs(hops) {
            match pair {
                (HopTarget::Link(_), HopTarget::Link(next)) if is_line(next) => {}
                // What is lost on a medium counts as lost on the link behind it, which is woken.
                (HopTarget::Link(link), _) | (HopTarget::MediumLink(_), HopTarget::Link(link)) => {
                    feeds[link as usize] = false;
                }
                _ => {}
            }
        }
        // A line that leads to a line is woken: no packet enters two links ahead of time.
        let is_feeder = |link: u32| feeds[link as usize] && !is_line(link);
        for hop in hops {
            if let HopTarget::Link(link) = hop.target()
                && is_feeder(link)
            {
                *hop = Hop::feeder(link);
            }
        }
        let links = (0..links.len() as u32).filter(|link| is_feeder(*link)).collect();
        Feeders { links, withheld: BTreeMap::new() }
    }
}

/// Each hop behind the one before it; what begins a route stands behind the end of another.
fn pairs(hops: &[Hop]) -> impl Iterator<Item = (HopTarget, HopTarget)> {
    let before = std::iter::once(&Hop::ARRIVED).chain(hops);
    before.zip(hops).map(|(before, hop)| (before.target(), hop.target()))
}

impl World {
    /// A packet enters a feeder, and the private line behind it for the time when it comes out.
    #[inline(never)] // it would crowd the way of other hops
    pub(crate) fn feed(&mut self, mut packet: PackedSegment, feeder: u32) {
        packet.advance();
        let own = &mut self.links[feeder as usize];
        self.totals.hops += own.release(self.now);
        let mut rng = LazyStream { streams: &mut self.streams, index: feeder };
        let Some(enters) = own.pass(self.now, &mut packet, &mut rng) else {
            return self.lose(packet, feeder, EventKind::Dropped);
        };
        let HopTarget::Link(line) = self.hops[packet.cursor() as usize].target() else {
            unreachable!("behind a feeder is a private line");
        };
        packet.advance();
        let mut rng = LazyStream { streams: &mut self.streams, index: line };
        if let Offer::Wake(at) = self.links[line as usize].offer(enters, packet, &mut rng) {
            self.agenda.schedule(self.sources.source(Wake::Link(line)), at);
        }
    }

    /// Before somebody looks: feeders let out what has come out, and lines withhold what has not
    /// entered them.
    pub(crate) fn pause(&mut self) {
        for feeder in &self.feeders.links {
            let own = &mut self.links[*feeder as usize];
            self.totals.hops += own.release(self.now);
            for packet in own.inside() {
                if let HopTarget::Link(line) = self.hops[packet.cursor() as usize].target() {
                    *self.feeders.withheld.entry(line).or_default() += 1;
                }
            }
        }
        for (line, packets) in &self.feeders.withheld {
            self.links[*line as usize].withhold(*packets);
        }
    }

    /// Every link is woken from the beginning on.
    #[cfg(test)]
    pub(crate) fn wake_feeders(&mut self) {
        self.feeders = Feeders::default();
        for hop in &mut self.hops {
            if let HopTarget::Feeder(link) = hop.target() {
                *hop = Hop::link(link);
            }
        }
    }

    /// The world goes on after a pause.
    pub(crate) fn go_on(&mut self) {
        while let Some((line, packets)) = self.feeders.withheld.pop_first() {
            self.links[line as usize].readmit(packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::build;
    use crate::{Observe, Outcome, run};
    use proptest::prelude::*;
    use scenario::Plan;

    /// Users with lines behind a shared link, which may be their own, and users of those lines alone.
    fn plan(queue: &str, [own, shared, delay]: [u64; 3], per_user: bool, alone: u32) -> Plan {
        let text = format!(
            "name = 'x'\nduration = '3 s'\nwarmup = '500 ms'\nsample = '100 ms'\n\
             [transport]\necn = true\n\
             [[link]]\nname = 'shared'\nrate = '{shared} kb/s'\ndelay = '{delay} us'\n\
             queue = {queue}\n\
             [[link]]\nname = 'own'\nrate = '{own} kb/s'\ndelay = '3 ms'\nqueue = 'unlimited'\nper_user = {per_user}\n\
             [[link]]\nname = 'back'\ndelay = '5 ms'\n\
             [[link]]\nname = 'own-back'\nrate = '2 Mb/s'\ndelay = '1 ms'\nqueue = 'unlimited'\nper_user = true\n\
             [[flow]]\nname = 'behind'\ncount = 3\nspread = '50 ms'\ncontroller = 'reno'\n\
             path = [{{ links = ['shared', 'own'], back = ['back', 'own-back'] }}]\n\
             [[flow]]\nname = 'alone'\ncount = {alone}\ncontroller = 'reno'\n\
             path = [{{ links = ['own'], back = ['own-back'] }}]\n"
        );
        Plan::read(&text, "x.toml", &[]).unwrap()
    }

    /// All that there is to see of a run, without what counts events.
    fn seen(outcome: &Outcome) -> String {
        format!("{:?}", Outcome { digest: 0, events: 0, ..outcome.clone() })
    }

    #[test]
    fn only_a_link_that_leads_to_private_lines_alone_is_a_feeder() {
        let drop_tail = "{ droptail = { packets = '20 packets' } }";
        let feeders = |plan: &Plan| build(plan, 1).0.feeders.links;
        let mut plan = plan(drop_tail, [4000, 8000, 1000], true, 1);
        assert_eq!(feeders(&plan), [0, 1], "shared and back");
        plan.classes[0].paths[0].links.truncate(1);
        assert_eq!(feeders(&plan), [1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn whether_a_feeder_is_woken_shows_in_nothing_but_the_number_of_events(
            own in 500u64..20_000, shared in 500u64..20_000, delay in 0u64..20_000,
            queue in 0usize..4, per_user: bool, alone in 0u32..2, seed in 0u64..100,
        ) {
            let queue = [
                "'unlimited'",
                "{ droptail = { packets = '20 packets' } }",
                "{ droptail = { bytes = '20 kB' } }",
                "{ red = { min = '4 packets', max = '12 packets', max_p = 0.1, weight = 1, ecn = true, limit = '40 packets' } }",
            ][queue];
            let plan = plan(queue, [own, shared, delay], per_user, alone);
            let observe = Observe { series: true, events: Some(1000) };
            let usual = run(&plan, seed, observe, &Default::default()).unwrap();
            let woken = crate::run::run_without_feeders(&plan, seed, observe);
            prop_assert_eq!(seen(&usual), seen(&woken));
            prop_assert!(usual.events < woken.events);
        }
    }
}
