//! Where nodes are: places, and trajectories from one to the next.
//!
//! Nobody's move depends on anybody's packets, so a [`Trajectory`] is known before a run begins.

mod highway;
mod waypoint;

pub use highway::Highway;
pub use waypoint::{Waypoint, scattered};

use units::{Span, Time};

/// Where a node is, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
}

impl Place {
    /// Metres to another place.
    pub fn distance(self, other: Place) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }
}

/// From a time on a node is at a place, and moves from there with a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Since when.
    pub at: Time,
    /// Where it is then.
    pub from: Place,
    /// Metres per second east and north.
    pub velocity: (f64, f64),
}

/// A leg that would take longer has no end, so that sums of times stay below 2⁶³ ns: 146 years.
const LONGEST: Span = Span(1 << 62);

impl Leg {
    /// Straight from a place to another at a speed in m/s, and when the node is there, if ever.
    /// With a speed of zero (or less) it stands.
    fn towards(at: Time, from: Place, to: Place, speed: f64) -> (Leg, Option<Time>) {
        let distance = from.distance(to);
        let still = Leg { at, from, velocity: (0.0, 0.0) };
        if distance == 0.0 {
            return (still, Some(at));
        }
        if speed.is_nan() || speed <= 0.0 {
            return (still, None);
        }
        // It arrives at a whole nanosecond and exactly there, so the speed gives way, by half a
        // nanosecond of way.
        let took = Span::from_seconds(distance / speed).max(Span(1));
        let (ends, seconds) = match took <= LONGEST {
            true => (Some(at + took), took.seconds()),
            false => (None, distance / speed),
        };
        let velocity = ((to.x - from.x) / seconds, (to.y - from.y) / seconds);
        (Leg { velocity, ..still }, ends)
    }
}

/// The legs of one node, in order of time; the first begins at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory(pub Vec<Leg>);

impl Trajectory {
    /// Of a node that stays where it is.
    pub fn still(place: Place) -> Self {
        Trajectory(vec![Leg { at: Time::ZERO, from: place, velocity: (0.0, 0.0) }])
    }

    /// Of a node that is told where to go, as by `setdest` of ns-2: a time, a place and a speed in
    /// m/s each, in any order.
    ///
    /// From where the node is at the time it moves straight to the place, and stops there. A later
    /// move interrupts it, of two at one time the second one counts, and a speed of zero stops it
    /// where it is.
    pub fn through(start: Place, moves: &[(Time, Place, f64)]) -> Self {
        let mut moves = moves.to_vec();
        moves.sort_by_key(|(at, ..)| *at); // is stable
        let mut path = Trajectory::still(start);
        for (at, to, speed) in moves {
            path.go(at, to, speed);
        }
        path
    }

    /// Sends the node to a place from `at` on, which no move before is later than. Gives the time
    /// at which it is there, if ever.
    fn go(&mut self, at: Time, to: Place, speed: f64) -> Option<Time> {
        let (leg, ends) = Leg::towards(at, self.at(at), to, speed);
        // What begins now or later is the old move's, or its end.
        self.0.truncate(self.0.partition_point(|before| before.at < at));
        self.0.push(leg);
        if let Some(ends) = ends.filter(|ends| *ends > at) {
            self.0.push(Leg { at: ends, from: to, velocity: (0.0, 0.0) });
        }
        ends
    }

    /// Whether it never moves.
    pub fn is_still(&self) -> bool {
        self.0.len() == 1 && self.0[0].velocity == (0.0, 0.0)
    }

    /// Where the node is at a time.
    pub fn at(&self, now: Time) -> Place {
        let legs = self.0.partition_point(|leg| leg.at <= now);
        let Some(leg) = legs.checked_sub(1).map(|last| self.0[last]) else {
            return Place::default();
        };
        let seconds = now.since(leg.at).seconds();
        Place { x: leg.from.x + leg.velocity.0 * seconds, y: leg.from.y + leg.velocity.1 * seconds }
    }

    /// How long until it moves otherwise than now, if ever.
    pub fn until(&self, now: Time) -> Option<Span> {
        let next = self.0.get(self.0.partition_point(|leg| leg.at <= now))?;
        Some(next.at.since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_node_is_where_its_leg_has_taken_it() {
        let at = |s: u64| Time(s * units::NANOS);
        let legs = vec![
            Leg { at: at(0), from: Place { x: 1.0, y: 2.0 }, velocity: (0.5, 0.0) },
            Leg { at: at(4), from: Place { x: 3.0, y: 2.0 }, velocity: (0.0, -1.0) },
        ];
        let moves = Trajectory(legs);
        assert_eq!(moves.at(at(2)), Place { x: 2.0, y: 2.0 });
        assert_eq!(moves.at(at(6)), Place { x: 3.0, y: 0.0 });
        assert_eq!(moves.until(at(1)), Some(Span::millis(3_000)));
        assert!(moves.until(at(4)).is_none() && !moves.is_still());
    }

    /// As a movement file has them: seconds, metres and metres per second.
    fn told(start: (f64, f64), moves: &[(f64, f64, f64, f64)]) -> Trajectory {
        let told = |&(at, x, y, speed): &(f64, f64, f64, f64)| {
            (Time::ZERO + Span::from_seconds(at), Place { x, y }, speed)
        };
        let moves: Vec<_> = moves.iter().map(told).collect();
        Trajectory::through(Place { x: start.0, y: start.1 }, &moves)
    }

    fn is_at(path: &Trajectory, seconds: f64, x: f64, y: f64) {
        let place = path.at(Time::ZERO + Span::from_seconds(seconds));
        assert!(place.distance(Place { x, y }) < 1e-6, "{place:?} at {seconds} s, not {x}, {y}");
    }

    #[test]
    fn a_node_goes_where_it_is_told_and_stops_there() {
        // 3-4-5: 50 m in 10 s.
        let path = told((150.0, 100.0), &[(2.0, 180.0, 140.0, 5.0)]);
        is_at(&path, 1.0, 150.0, 100.0);
        is_at(&path, 7.0, 165.0, 120.0);
        is_at(&path, 12.0, 180.0, 140.0);
        is_at(&path, 99.0, 180.0, 140.0);
        assert_eq!(path.at(Time(12 * units::NANOS)), Place { x: 180.0, y: 140.0 });
        assert_eq!(path.0.len(), 3);
    }

    #[test]
    fn a_later_move_interrupts_and_a_speed_of_zero_stops() {
        let moves = [(4.0, 0.0, 0.0, 0.0), (0.0, 100.0, 0.0, 10.0), (2.0, 20.0, 30.0, 5.0)];
        let path = told((0.0, 0.0), &moves);
        is_at(&path, 1.0, 10.0, 0.0);
        is_at(&path, 2.0, 20.0, 0.0);
        is_at(&path, 3.0, 20.0, 5.0);
        is_at(&path, 9.0, 20.0, 10.0);
        assert_eq!(path.0.len(), 3); // nothing is left of what was interrupted
    }

    #[test]
    fn of_two_moves_at_one_time_the_second_counts_and_one_at_the_end_of_another_follows_it() {
        let path = told((0.0, 0.0), &[(1.0, 9.0, 9.0, 1.0), (1.0, 2.0, 0.0, 1.0)]);
        is_at(&path, 2.0, 1.0, 0.0);
        let path = told((0.0, 0.0), &[(0.0, 2.0, 0.0, 1.0), (2.0, 2.0, 2.0, 1.0)]);
        is_at(&path, 3.0, 2.0, 1.0);
        assert_eq!(path.0.len(), 3);
        assert!(told((1.0, 1.0), &[(0.0, 1.0, 1.0, 3.0)]).is_still());
        assert_eq!(told((1.0, 1.0), &[]), Trajectory::still(Place { x: 1.0, y: 1.0 }));
    }

    #[test]
    fn a_way_that_takes_longer_than_a_run_is_begun_all_the_same() {
        let path = told((0.0, 0.0), &[(0.0, 1e9, 0.0, 1e-9)]);
        is_at(&path, 1e6, 1e-3, 0.0);
        assert!(path.until(Time::ZERO).is_none());
    }

    proptest! {
        #[test]
        fn a_node_that_is_told_where_to_go_does_not_jump_and_keeps_its_speed(
            moves in prop::collection::vec((0.0..100.0, -50.0..50.0, -50.0..50.0, 0.0..30.0), 0..12)
        ) {
            let path = told((0.0, 0.0), &moves);
            let fastest = moves.iter().map(|told| told.3).fold(0.0, f64::max);
            prop_assert!(path.0[0].at == Time::ZERO);
            prop_assert!(path.0.windows(2).all(|pair| pair[0].at < pair[1].at));
            for pair in path.0.windows(2) {
                let seconds = pair[1].at.since(pair[0].at).seconds();
                let (leg, (east, north)) = (pair[0], pair[0].velocity);
                let end = Place { x: leg.from.x + east * seconds, y: leg.from.y + north * seconds };
                prop_assert!(end.distance(pair[1].from) < 1e-6);
                prop_assert!(libm::hypot(east, north) * seconds <= fastest * (seconds + 1e-9) + 1e-9);
            }
        }
    }
}
