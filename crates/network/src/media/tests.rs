//! Invariants of every registered kind of medium.

use super::*;
use crate::Position;
use crate::shared::Outcome;
use crate::testing::{Lcg, TestPacket, queues};
use proptest::prelude::*;
use units::{Span, Time};

/// A run of one medium: packets by number, and the outcome of each.
struct Run {
    medium: Box<dyn SharedMedium<TestPacket>>,
    rng: Lcg,
    now: Time,
    taken: Vec<bool>,
    left: Vec<u32>,
    ended: Vec<u32>,
}

impl Run {
    fn offer(&mut self, at: Time, link: u32, bytes: u32) {
        self.wake_until(at);
        self.now = at;
        let packet = TestPacket { number: self.taken.len() as u32, ..TestPacket::of(bytes) };
        self.taken.push(self.medium.offer(at, link, packet, &mut self.rng));
        self.left.push(0);
        self.ended.push(0);
        assert!(self.medium.next_wake() >= at, "a wake-up in the past");
    }

    /// Runs all events due before `end`, and takes the outcomes.
    fn wake_until(&mut self, end: Time) {
        while self.medium.next_wake() < end {
            let now = self.medium.next_wake();
            assert!(now >= self.now, "a wake-up in the past");
            self.now = now;
            self.medium.wake(now, &mut self.rng);
            for outcome in self.medium.outcomes().drain(..) {
                let (packet, left, ended) = match outcome {
                    Outcome::Arrived { packet, .. } | Outcome::Lost { packet, .. } => {
                        (packet, false, true)
                    }
                    Outcome::Left { packet, lost, .. } => (packet, true, lost),
                };
                self.left[packet.number as usize] += u32::from(left);
                self.ended[packet.number as usize] += u32::from(ended);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_packet_that_is_taken_leaves_once_and_arrives_or_is_lost_once_and_time_never_goes_back(
        mut offers in prop::collection::vec((0u64..200_000, 0u32..4, 1u32..1500), 1..100),
        queue in queues(),
        seed in any::<u64>(),
    ) {
        offers.sort();
        let links = [(0, 1), (1, 0), (0, 2), (2, 0)]
            .map(|(from, to)| Ends { from: vec![from], to: vec![to] });
        let positions = [0.0, 20.0, -60.0].map(|x| Position { x, y: 0.0 });
        let stations =
            positions.map(|position| Station { position, queue: queue.clone(), ..Station::default() });
        for settings in MediumSettings::examples() {
            let mut rng = Lcg(seed);
            let medium = settings.build(&stations, &links, &mut rng);
            let (taken, left, ended) = (Vec::new(), Vec::new(), Vec::new());
            let mut run = Run { medium, rng, now: Time::ZERO, taken, left, ended };
            for (us, link, bytes) in &offers {
                run.offer(Time(us * 1_000), *link, *bytes);
            }
            run.wake_until(Time::ZERO + Span::millis(60_000));
            for (number, taken) in run.taken.iter().enumerate() {
                let counts = (run.left[number], run.ended[number]);
                let once = u32::from(*taken);
                prop_assert_eq!(counts, (once, once), "packet {} of {:?}", number, settings);
            }
            let backlog: u32 = (0..3).map(|station| run.medium.backlog(station)).sum();
            prop_assert_eq!(backlog, 0, "{:?}", settings);
        }
    }
}
