//! Packets on lines: see `lines.rs`.

use crate::agenda::Place;
use crate::event_source::{EventSource, Wake};
use crate::lines::OnLine;
use crate::packed::{PackedSegment, Pair};
use crate::world::World;
use network::{Packet, Passing};
use units::Time;

impl World {
    /// A packet takes the next step of its route, into a line.
    #[inline(never)] // keeps the code of other hops short
    pub(crate) fn convey(&mut self, first: Pair, second: Pair, third: Pair, line: u32) {
        let mut packet = PackedSegment::of_words(first, second, third);
        packet.advance();
        self.convey_at(self.now, packet, line);
    }

    /// A packet enters a line at `enters`.
    #[inline(always)] // runs for every hop
    pub(crate) fn convey_at(&mut self, enters: Time, packet: PackedSegment, line: u32) {
        let Passing { starts, out, with_last } =
            self.links[line as usize].convey(enters, packet.bytes());
        let place = self.lines.put(OnLine { enters, starts, packet });
        let source = self.sources.source(Wake::Link(line));
        match with_last {
            false => self.agenda.carry(source, out, place),
            true => self.lines.follow(source, out, place),
        }
    }

    /// A packet comes out of a line.
    #[inline(never)] // keeps the code of worlds without lines short
    pub(crate) fn leave_line(&mut self, line: EventSource, place: Place) {
        let packet = self.lines.take(place);
        if let Some(next) = self.lines.next_together(line, self.now) {
            self.agenda.carry(line, self.now, next);
        }
        self.totals.hops += 1;
        self.hop(packet);
    }

    /// Shows the links their packets, until [`World::hide_lines`].
    pub(crate) fn show_lines(&mut self) {
        let World { agenda, lines, links, now, .. } = self;
        lines.shown = true;
        for (line, place) in agenda.packets().chain(lines.all_together()) {
            links[line.index()].show(*now, lines.conveyed(place));
        }
    }

    /// Ends [`World::show_lines`], if it was called.
    pub(crate) fn hide_lines(&mut self) {
        let World { agenda, lines, links, now, .. } = self;
        if std::mem::take(&mut lines.shown) {
            for (line, place) in agenda.packets().chain(lines.all_together()) {
                links[line.index()].hide(*now, lines.conveyed(place));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agenda::Agenda;
    use crate::build::{build, lay_lines};
    use crate::run::run_changed;
    use crate::{Observe, run};
    use proptest::prelude::*;
    use scenario::Plan;
    use topology::HopTarget;
    use units::Span;

    impl World {
        /// Gives the world the agenda of one with many sources, and lines.
        fn have_lines(&mut self) {
            self.agenda =
                Agenda::new(&vec![0; self.sources.count(self.media.count())], Time::NEVER);
            lay_lines(self);
            self.begin();
        }
    }

    /// Users whose own links may be lines and may change, around a shared link.
    fn plan(count: u32, spread: u64, own: &str, shared: &str, changes: &str) -> Plan {
        let text = format!(
            "name = 'x'\nduration = '2 s'\nwarmup = '500 ms'\nsample = '7 ms'\n\
             [[link]]\nname = 'own'\n{own}\nper_user = true\n{changes}\n\
             [[link]]\nname = 'shared'\n{shared}\n\
             [[link]]\nname = 'own-back'\n{own}\nper_user = true\n\
             [[flow]]\nname = 'many'\ncount = {count}\nspread = '{spread} us'\n\
             controller = 'lia'\npath = [{{ links = ['own', 'shared'], back = ['own-back'] }}, \
             {{ links = ['shared'], back = ['own-back', 'own'] }}]\n\
             [[flow]]\nname = 'one'\ncontroller = 'reno'\n\
             path = [{{ links = ['own', 'shared', 'own-back'], back = ['own'] }}]\n"
        );
        Plan::read(&text, "x.toml", &[]).unwrap()
    }

    const OWN: [&str; 5] = [
        "rate = '20 Mb/s'\ndelay = '1 ms'\nqueue = 'unlimited'",
        "rate = '7 Gb/s'\ndelay = '0 s'\nqueue = 'unlimited'",
        "delay = '5 ms'",
        "",
        "rate = '500 Gb/s'\ndelay = '5 ms'\nqueue = 'unlimited'",
    ];

    const CHANGE: &str = "change = [{ at = '1 s', delay = '3 ms' }]";

    const SHARED: [&str; 3] = [
        "rate = '9 Mb/s'\ndelay = '5 ms'\nqueue = 'unlimited'",
        "rate = '9 Mb/s'\ndelay = '5 ms'\nqueue = { droptail = { packets = '20 packets' } }",
        "rate = '90 Mb/s'\ndelay = '5 ms'\nloss = { probability = 0.01 }",
    ];

    #[test]
    fn constant_links_with_room_for_all_packets_are_lines() {
        let lines = |own: &str, shared: &str, changes: &str| {
            let (mut world, _) = build(&plan(1, 0, own, shared, changes), 1, false);
            world.have_lines();
            let targets = world.hops.iter().map(|hop| hop.target());
            targets.filter(|target| matches!(target, HopTarget::Line(_))).count()
        };
        assert_eq!(lines(OWN[0], SHARED[0], ""), 10, "all hops");
        assert_eq!(lines(OWN[0], SHARED[1], ""), 7, "those into the links of users");
        assert_eq!(lines(OWN[2], SHARED[1], ""), 7, "pure delays");
        assert_eq!(lines("", SHARED[1], ""), 0, "links that take no time are none");
        assert_eq!(lines(OWN[0], SHARED[1], CHANGE), 3, "nor is what changes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn whether_lines_keep_their_packets_shows_in_nothing(
            (own, shared) in (0..OWN.len(), 0..SHARED.len()),
            (count, spread) in (1u32..60, prop_oneof![Just(0), 1u64..100_000]),
            (changes, watched, seed) in (any::<bool>(), any::<bool>(), 0u64..100),
        ) {
            let changes = if changes { CHANGE } else { "" };
            let plan = plan(count, spread, OWN[own], SHARED[shared], changes);
            let observe = Observe { series: true, events: watched.then_some(1000) };
            let usual = run(&plan, seed, observe, &Default::default()).unwrap();
            let lines = run_changed(&plan, seed, observe, World::have_lines);
            prop_assert_eq!(format!("{usual:?}"), format!("{lines:?}"));
        }
    }

    #[test]
    fn the_shipped_scenarios_have_the_same_results_with_lines() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let record = std::fs::read_to_string(root.join("tests/golden/digests.txt")).unwrap();
        let names = record.lines().filter_map(|line| line.split(' ').next());
        let lines = names.map(|name| {
            let file = root.join(format!("python/anabranch/scenarios/{name}.toml"));
            let text = std::fs::read_to_string(&file).unwrap();
            let mut plan = Plan::read(&text, name, &[]).unwrap();
            plan.duration = plan.duration.min(plan.warmup + Span::millis(3000));
            let observe = Observe { series: true, events: None };
            let usual = run(&plan, 1, observe, &Default::default()).unwrap();
            let mut lines = 0;
            let other = run_changed(&plan, 1, observe, |world| {
                world.have_lines();
                let targets = world.hops.iter().map(|hop| hop.target());
                lines = targets.filter(|to| matches!(to, HopTarget::Line(_))).count();
            });
            assert_eq!(format!("{usual:?}"), format!("{other:?}"), "{name}");
            lines
        });
        assert!(lines.sum::<usize>() > 100, "hops into lines");
    }
}
