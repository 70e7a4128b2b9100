//! A platoon on a straight road: cars behind one another in a lane, as in a vehicular network
//! (VANET).
//!
//! The leader draws a new speed at fixed intervals, and each car adopts the speed of the car ahead
//! after its reaction time: car i drives the leader's profile i reaction times later. Before the
//! run the leader has driven its first speed for ever, so that the platoon begins with equal gaps
//! and one speed.
//!
//! The number of cars does not widen the bounds of the gaps. With v the leader's speed, v(0) before
//! the run, and r the reaction time, car i has driven the integral of v from −i r to t − i r. The
//! car ahead of it has driven the integral from −(i − 1) r to t − (i − 1) r. The common part
//! cancels; the last r of the car ahead and the first r of the car behind remain,
//!
//! gap(t) = gap(0) + ∫ v from t − i r to t − (i − 1) r − r v(0).
//!
//! Both terms lie between r vmin and r vmax, so that gap(t) differs from gap(0) by at most
//! r (vmax − vmin).

use super::{Leg, Position, Trajectory};
use crate::Rng;
use units::{NANOS, Span, Time};

/// A lane of a straight road eastwards from x = 0, and the parameters of a platoon on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Highway {
    /// Length of the road in metres, above 0. A car that reaches its end continues at its
    /// beginning, as on a ring.
    pub length: f64,
    /// Least and largest speed of the leader in m/s, from 0 on.
    pub speed: (f64, f64),
    /// Metres from one car to the next at the start. The road is long enough for all cars.
    pub gap: f64,
    /// How long the leader keeps a speed, above 0.
    pub hold: Span,
    /// Reaction time: how much later than the car ahead a car adopts its speed.
    pub reaction: Span,
    /// Starting position of the leader, in metres from the beginning of the road.
    pub start_m: f64,
    /// Position of the lane: y in metres.
    pub y: f64,
}

impl Highway {
    /// The cars' trajectories until a time, at which they stop; the first is the leader's.
    ///
    /// Where a car continues at the beginning of the road a leg begins, and its position jumps back
    /// by the length of the road.
    pub fn platoon(&self, cars: usize, until: Time, rng: &mut impl Rng) -> Vec<Trajectory> {
        let profile = self.profile(until, rng);
        (0..cars).map(|car| self.drive(car, &profile, until)).collect()
    }

    /// Lower bound of all gaps of a platoon, in metres: gap − reaction · (vmax − vmin). If it is
    /// above 0, no car overtakes another one.
    pub fn min_gap(&self) -> f64 {
        self.gap - self.reaction.seconds() * (self.speed.1 - self.speed.0)
    }

    /// The leader's speeds in m/s, each with its start time.
    fn profile(&self, until: Time, rng: &mut impl Rng) -> Vec<(Time, f64)> {
        let (slowest, fastest) = self.speed;
        let mut profile = Vec::new();
        let mut now = Time::ZERO;
        while now < until {
            profile.push((now, slowest + (fastest - slowest) * rng.uniform()));
            now = later(now, self.hold.max(Span(1)));
        }
        profile
    }

    /// The trajectory of car number `car`, from 0 for the leader.
    fn drive(&self, car: usize, profile: &[(Time, f64)], until: Time) -> Trajectory {
        let lag = Span(self.reaction.0.saturating_mul(car as u64));
        // The first speed is that from before the run.
        let since = |at: Time| if at == Time::ZERO { at } else { later(at, lag) };
        let speeds = profile.iter().map(|(at, speed)| (since(*at), *speed));
        let ends = profile.iter().skip(1).map(|(at, _)| since(*at)).chain([until]);
        let mut legs = Vec::new();
        let mut x = self.on_road((self.start_m - car as f64 * self.gap).rem_euclid(self.length));
        for ((begin, speed), end) in speeds.zip(ends).filter(|((begin, _), _)| *begin < until) {
            x = self.keep(speed, x, (begin, end.min(until)), &mut legs);
        }
        legs.push(Leg { at: until, from: Position { x, y: self.y }, velocity: (0.0, 0.0) });
        Trajectory(legs)
    }

    /// Adds the legs of a car that keeps a speed from `x` on. Returns its x at the end.
    fn keep(&self, speed: f64, x: f64, (begin, end): (Time, Time), legs: &mut Vec<Leg>) -> f64 {
        let (mut at, mut x) = (begin, x);
        loop {
            legs.push(Leg { at, from: Position { x, y: self.y }, velocity: (speed, 0.0) });
            // The first whole nanosecond at which it is beyond the end of the road; never at a
            // speed of 0.
            let beyond = libm::ceil((self.length - x) / speed * NANOS as f64) as u64;
            let wrap = later(at, Span(beyond.max(1)));
            let until = wrap.min(end);
            x = self.on_road(x + speed * until.since(at).seconds());
            if wrap >= end {
                return x;
            }
            // Rounding may leave it short of the end, by less than a nanosecond of travel.
            x = if x > self.length / 2.0 { 0.0 } else { x };
            at = wrap;
        }
    }

    /// The position on the road of an x that is less than a road's length beyond its end.
    fn on_road(&self, x: f64) -> f64 {
        if x >= self.length { x - self.length } else { x }
    }
}

/// A time that may be later than all times.
fn later(at: Time, span: Span) -> Time {
    Time(at.0.saturating_add(span.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, Lcg};
    use proptest::prelude::*;

    /// Returns recorded numbers in turn.
    struct Recorded(Vec<f64>);
    impl crate::Rng for Recorded {
        fn uniform(&mut self) -> f64 {
            self.0.rotate_left(1);
            self.0[self.0.len() - 1]
        }
    }

    fn seconds(s: f64) -> Time {
        Time::ZERO + Span::from_seconds(s)
    }

    fn road() -> Highway {
        let (hold, reaction) = (Span::millis(10_000), Span::millis(500));
        let speed = (20.0, 40.0);
        Highway { length: 1000.0, speed, gap: 50.0, hold, reaction, start_m: 200.0, y: 4.0 }
    }

    /// Distance along the road from each car to the one ahead of it at a time, in metres.
    fn gaps(road: &Highway, cars: &[Trajectory], at: Time) -> Vec<f64> {
        let x: Vec<f64> = cars.iter().map(|car| car.at(at).x).collect();
        x.windows(2).map(|pair| (pair[0] - pair[1]).rem_euclid(road.length)).collect()
    }

    fn speed(car: &Trajectory, at: Time) -> f64 {
        car.0[car.0.partition_point(|leg| leg.at <= at) - 1].velocity.0
    }

    #[test]
    fn a_platoon_of_one_speed_goes_round_and_keeps_its_gaps() {
        let cars = road().platoon(6, seconds(200.0), &mut Always); // 20 m/s, a round in 50 s
        for (car, begin) in cars.iter().zip([200.0, 150.0, 100.0, 50.0, 0.0, 950.0]) {
            for second in 0..=200 {
                let expected = (begin + 20.0 * f64::from(second)) % 1000.0;
                let position = car.at(seconds(second.into()));
                assert!(
                    (position.x - expected).abs() < 1e-6 && position.y == 4.0,
                    "{position:?} {expected}"
                );
            }
            assert_eq!(car.at(seconds(200.0)), car.at(seconds(300.0)));
        }
        let at = |leg: &Leg| leg.at.seconds();
        let begins: Vec<f64> = cars[0].0.iter().filter(|leg| leg.from.x < 1.0).map(at).collect();
        assert_eq!(begins, [40.0, 90.0, 140.0, 190.0]); // a new leg at each of these
    }

    #[test]
    fn a_follower_drives_the_leaders_speeds_a_reaction_later_each() {
        let cars = road().platoon(4, seconds(120.0), &mut Lcg(3));
        for at in (0..1180).map(|tenth| f64::from(tenth) / 10.0 + 0.03) {
            for (lag, car) in [(0.5, &cars[1]), (1.0, &cars[2]), (1.5, &cars[3])] {
                assert_eq!(speed(car, seconds(at + lag)), speed(&cars[0], seconds(at)));
            }
        }
        let speeds: Vec<f64> = cars[0].0.iter().map(|leg| leg.velocity.0).collect();
        assert!(speeds.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 11);
    }

    #[test]
    fn a_leader_that_brakes_from_the_largest_speed_to_the_least_makes_every_gap_the_tightest() {
        let road = road();
        assert_eq!(road.min_gap(), 40.0);
        let cars = road.platoon(8, seconds(100.0), &mut Recorded(vec![1.0, 0.0]));
        // Car 1 follows 0.5 s late, at 10.5 s; car 7 at 13.5 s, and at 20 s the leader accelerates
        // again.
        for (at, expected) in [(9.9, 50.0), (13.5, 40.0), (19.9, 40.0), (23.5, 50.0)] {
            for gap in gaps(&road, &cars, seconds(at)) {
                assert!((gap - expected).abs() < 1e-6, "{gap} m at {at} s, not {expected}");
            }
        }
    }

    #[test]
    fn the_leaders_speeds_are_uniform() {
        let road = Highway { hold: Span::millis(100), ..road() };
        let car = &road.platoon(1, seconds(2000.0), &mut Lcg(4))[0];
        let drawn = (0..20_000).map(|k| speed(car, seconds(0.1 * f64::from(k) + 0.05)));
        let mut quarters = [0; 4];
        drawn.for_each(|speed| quarters[((speed - 20.0) / 5.0) as usize] += 1);
        // 5000 each, with a standard deviation of 61.
        assert!(quarters.iter().all(|count| (4755..=5245).contains(count)), "{quarters:?}");
    }

    #[test]
    fn the_same_chance_gives_the_same_platoon_and_more_cars_change_none() {
        let platoon = |cars, seed| road().platoon(cars, seconds(300.0), &mut Lcg(seed));
        assert_eq!(platoon(3, 1), platoon(3, 1));
        assert_eq!(platoon(3, 1)[..], platoon(5, 1)[..3]);
        assert_ne!(platoon(3, 1), platoon(3, 2));
        assert_eq!(road().platoon(2, Time::ZERO, &mut Lcg(1))[1].at(Time::ZERO).x, 150.0);
    }

    #[test]
    fn cars_that_stand_do_not_move() {
        let road = Highway { speed: (0.0, 0.0), ..road() };
        let cars = road.platoon(2, seconds(100.0), &mut Lcg(1));
        assert_eq!(cars[1].at(seconds(77.0)), Position { x: 150.0, y: 4.0 });
    }

    proptest! {
        #[test]
        fn gaps_stay_within_what_a_reaction_can_change_however_many_cars_there_are(
            slowest in 0.0..20.0, more in 0.0..30.0, reaction in 0u64..3000, hold in 50u64..20_000,
            slack in 0.1..100.0_f64, rest in 1.0..5000.0, start_m in -100.0..1e4, cars in 2usize..20, seed: u64
        ) {
            let change = more * Span::millis(reaction).seconds();
            let gap = change + slack;
            let road = Highway {
                length: gap + change + rest, speed: (slowest, slowest + more), gap, hold: Span::millis(hold),
                reaction: Span::millis(reaction), start_m, y: 0.0,
            };
            prop_assert!((road.min_gap() - slack).abs() < 1e-9);
            let cars = road.platoon(cars, seconds(120.0), &mut Lcg(seed));
            for at in (0..=1200).map(|tenth| seconds(f64::from(tenth) / 10.0)) {
                for gap in gaps(&road, &cars, at) {
                    prop_assert!(gap > road.min_gap() - 1e-5 && gap < road.gap + change + 1e-5, "{}", gap);
                }
            }
        }

        #[test]
        fn cars_stay_on_the_road_and_jump_only_from_its_end_to_its_beginning(
            length in 10.0..3000.0, slowest in 0.0..20.0, more in 0.0..30.0, hold in 50u64..20_000, seed: u64
        ) {
            let road = Highway { length, speed: (slowest, slowest + more), hold: Span::millis(hold), ..road() };
            for car in road.platoon(3, seconds(120.0), &mut Lcg(seed)) {
                prop_assert!(car.0[0].at == Time::ZERO);
                prop_assert!(car.0.iter().all(|leg| (0.0..length).contains(&leg.from.x)));
                for pair in car.0.windows(2) {
                    let speed = pair[0].velocity.0;
                    prop_assert!(pair[0].at < pair[1].at && speed >= slowest && speed <= slowest + more);
                    let end = pair[0].from.x + speed * pair[1].at.since(pair[0].at).seconds();
                    let jump = end - pair[1].from.x;
                    prop_assert!(jump.abs() < 1e-6 || (jump - length).abs() < 1e-6, "{}", jump);
                    prop_assert!(end < length + 1e-6);
                }
            }
        }
    }
}
