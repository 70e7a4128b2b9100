//! Where nodes are: places, and trajectories from one to the next.
//!
//! Nobody's move depends on anybody's packets, so a [`Trajectory`] is known before a run begins.

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

/// The legs of one node, in order of time; the first begins at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory(pub Vec<Leg>);

impl Trajectory {
    /// Of a node that stays where it is.
    pub fn still(place: Place) -> Self {
        Trajectory(vec![Leg { at: Time::ZERO, from: place, velocity: (0.0, 0.0) }])
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
}
