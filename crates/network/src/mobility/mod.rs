//! Mobility models: the trajectory of each node.
//!
//! No movement depends on packets, so a [`Trajectory`] is known before a run begins.

mod highway;
mod waypoint;

pub use highway::Highway;
pub use waypoint::{RandomWaypoint, uniform_position};

use units::{Span, Time};

/// A position in the plane, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
}

impl Position {
    /// Distance to another position in metres.
    pub fn distance(self, other: Position) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }
}

/// A part of a trajectory with one velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// When it begins.
    pub at: Time,
    /// The position of the node then.
    pub from: Position,
    /// Metres per second east and north.
    pub velocity: (f64, f64),
}

/// Longest leg; a longer one never ends, so that sums of times stay below 2⁶³ ns, or 146 years.
const LONGEST: Span = Span(1 << 62);

impl Leg {
    /// A leg straight from `from` to `to` at a speed in m/s, and the time of arrival, if the node
    /// ever arrives. With a speed of zero or less it does not move.
    fn towards(at: Time, from: Position, to: Position, speed: f64) -> (Leg, Option<Time>) {
        let distance = from.distance(to);
        let still = Leg { at, from, velocity: (0.0, 0.0) };
        if distance == 0.0 {
            return (still, Some(at));
        }
        if speed.is_nan() || speed <= 0.0 {
            return (still, None);
        }
        // It arrives exactly at `to` and at a whole nanosecond; rounding changes the speed by at
        // most half a nanosecond of travel.
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
    /// The trajectory of a node that does not move.
    pub fn fixed(position: Position) -> Self {
        Trajectory(vec![Leg { at: Time::ZERO, from: position, velocity: (0.0, 0.0) }])
    }

    /// The trajectory that `setdest` commands of ns-2 describe: a time, a destination and a speed
    /// in m/s each, in any order.
    ///
    /// At that time the node begins to move straight from its position to the destination, and
    /// stops there. A later command interrupts an earlier one; if two commands have the same time,
    /// the second one counts. A speed of zero stops the node.
    pub fn from_setdest(start: Position, moves: &[(Time, Position, f64)]) -> Self {
        let mut moves = moves.to_vec();
        moves.sort_by_key(|(at, ..)| *at); // a stable sort
        let mut path = Trajectory::fixed(start);
        for (at, to, speed) in moves {
            path.go(at, to, speed);
        }
        path
    }

    /// Appends a movement to `to` that begins at `at`, no earlier than all movements before it.
    /// Returns the time of arrival, if the node ever arrives.
    fn go(&mut self, at: Time, to: Position, speed: f64) -> Option<Time> {
        let (leg, ends) = Leg::towards(at, self.at(at), to, speed);
        // Legs that begin at `at` or later belong to the movement that is interrupted.
        self.0.truncate(self.0.partition_point(|before| before.at < at));
        self.0.push(leg);
        if let Some(ends) = ends.filter(|ends| *ends > at) {
            self.0.push(Leg { at: ends, from: to, velocity: (0.0, 0.0) });
        }
        ends
    }

    /// Whether the node never moves.
    pub fn is_fixed(&self) -> bool {
        self.0.len() == 1 && self.0[0].velocity == (0.0, 0.0)
    }

    /// The position of the node at a time.
    pub fn at(&self, now: Time) -> Position {
        let legs = self.0.partition_point(|leg| leg.at <= now);
        let Some(leg) = legs.checked_sub(1).map(|last| self.0[last]) else {
            return Position::default();
        };
        let seconds = now.since(leg.at).seconds();
        Position {
            x: leg.from.x + leg.velocity.0 * seconds,
            y: leg.from.y + leg.velocity.1 * seconds,
        }
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
            Leg { at: at(0), from: Position { x: 1.0, y: 2.0 }, velocity: (0.5, 0.0) },
            Leg { at: at(4), from: Position { x: 3.0, y: 2.0 }, velocity: (0.0, -1.0) },
        ];
        let moves = Trajectory(legs);
        assert_eq!(moves.at(at(2)), Position { x: 2.0, y: 2.0 });
        assert_eq!(moves.at(at(6)), Position { x: 3.0, y: 0.0 });
        assert!(!moves.is_fixed());
    }

    /// A trajectory from commands in seconds, metres and metres per second, as in a movement file.
    fn setdest(start: (f64, f64), moves: &[(f64, f64, f64, f64)]) -> Trajectory {
        let command = |&(at, x, y, speed): &(f64, f64, f64, f64)| {
            (Time::ZERO + Span::from_seconds(at), Position { x, y }, speed)
        };
        let moves: Vec<_> = moves.iter().map(command).collect();
        Trajectory::from_setdest(Position { x: start.0, y: start.1 }, &moves)
    }

    fn is_at(path: &Trajectory, seconds: f64, x: f64, y: f64) {
        let position = path.at(Time::ZERO + Span::from_seconds(seconds));
        assert!(
            position.distance(Position { x, y }) < 1e-6,
            "{position:?} at {seconds} s, not {x}, {y}"
        );
    }

    #[test]
    fn a_node_moves_to_its_destination_and_stops_there() {
        // 3-4-5: 50 m in 10 s.
        let path = setdest((150.0, 100.0), &[(2.0, 180.0, 140.0, 5.0)]);
        is_at(&path, 1.0, 150.0, 100.0);
        is_at(&path, 7.0, 165.0, 120.0);
        is_at(&path, 12.0, 180.0, 140.0);
        is_at(&path, 99.0, 180.0, 140.0);
        assert_eq!(path.at(Time(12 * units::NANOS)), Position { x: 180.0, y: 140.0 });
        assert_eq!(path.0.len(), 3);
    }

    #[test]
    fn a_later_move_interrupts_and_a_speed_of_zero_stops() {
        let moves = [(4.0, 0.0, 0.0, 0.0), (0.0, 100.0, 0.0, 10.0), (2.0, 20.0, 30.0, 5.0)];
        let path = setdest((0.0, 0.0), &moves);
        is_at(&path, 1.0, 10.0, 0.0);
        is_at(&path, 2.0, 20.0, 0.0);
        is_at(&path, 3.0, 20.0, 5.0);
        is_at(&path, 9.0, 20.0, 10.0);
        assert_eq!(path.0.len(), 3); // the interrupted movement keeps no leg
    }

    #[test]
    fn of_two_moves_at_one_time_the_second_counts_and_one_at_the_end_of_another_follows_it() {
        let path = setdest((0.0, 0.0), &[(1.0, 9.0, 9.0, 1.0), (1.0, 2.0, 0.0, 1.0)]);
        is_at(&path, 2.0, 1.0, 0.0);
        let path = setdest((0.0, 0.0), &[(0.0, 2.0, 0.0, 1.0), (2.0, 2.0, 2.0, 1.0)]);
        is_at(&path, 3.0, 2.0, 1.0);
        assert_eq!(path.0.len(), 3);
        assert!(setdest((1.0, 1.0), &[(0.0, 1.0, 1.0, 3.0)]).is_fixed());
        assert_eq!(setdest((1.0, 1.0), &[]), Trajectory::fixed(Position { x: 1.0, y: 1.0 }));
    }

    #[test]
    fn a_way_that_takes_longer_than_a_run_is_begun_all_the_same() {
        let path = setdest((0.0, 0.0), &[(0.0, 1e9, 0.0, 1e-9)]);
        is_at(&path, 1e6, 1e-3, 0.0);
        assert_eq!(path.0.len(), 1);
    }

    proptest! {
        #[test]
        fn a_node_with_setdest_commands_does_not_jump_and_keeps_its_speed(
            moves in prop::collection::vec((0.0..100.0, -50.0..50.0, -50.0..50.0, 0.0..30.0), 0..12)
        ) {
            let path = setdest((0.0, 0.0), &moves);
            let fastest = moves.iter().map(|command| command.3).fold(0.0, f64::max);
            prop_assert!(path.0[0].at == Time::ZERO);
            prop_assert!(path.0.windows(2).all(|pair| pair[0].at < pair[1].at));
            for pair in path.0.windows(2) {
                let seconds = pair[1].at.since(pair[0].at).seconds();
                let (leg, (east, north)) = (pair[0], pair[0].velocity);
                let end = Position { x: leg.from.x + east * seconds, y: leg.from.y + north * seconds };
                prop_assert!(end.distance(pair[1].from) < 1e-6);
                prop_assert!(libm::hypot(east, north) * seconds <= fastest * (seconds + 1e-9) + 1e-9);
            }
        }
    }
}
