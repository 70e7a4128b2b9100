//! Association: each station belongs to one access point at a time, the one with the strongest
//! signal.

use crate::routing::Node;
use units::{Span, Time};

/// Margin by which another access point's signal must be stronger before a station changes, in dB.
const HYSTERESIS_DB: f64 = 3.0;

/// Duration of a handover, in which a station has no access point: scanning, authentication and
/// association take 60 to 400 ms (Mishra, Shin and Arbaugh 2003).
pub(super) const HANDOVER: Span = Span::millis(100);

/// The association of one station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Association {
    at: Option<Node>,
    /// When the association with `at` begins.
    from: Time,
    /// Whether the handover to `at` is under way.
    changing: bool,
    /// Handovers and losses of the access point so far.
    pub(super) changes: u64,
}

impl Association {
    /// The access point of the station at `now`.
    pub(super) fn access_point(&self, now: Time) -> Option<Node> {
        self.at.filter(|_| self.from <= now)
    }

    /// When the handover under way ends; never without one.
    pub(super) fn completes_at(&self) -> Time {
        if self.changing { self.from } else { Time::NEVER }
    }

    /// Ends the handover.
    pub(super) fn complete(&mut self) {
        self.changing = false;
    }

    /// The station moved: `heard` has the access points in reach, with the signal strength of each
    /// in dB.
    pub(super) fn update(&mut self, now: Time, heard: impl Iterator<Item = (Node, f64)>) {
        let mut own = None;
        let mut best: Option<(Node, f64)> = None;
        for (point, db) in heard {
            if self.at == Some(point) {
                own = Some(db);
            }
            if best.is_none_or(|(_, most)| db > most) {
                best = Some((point, db));
            }
        }
        let better = |own: f64| best.filter(|(_, db)| *db > own + HYSTERESIS_DB);
        let to = match own {
            Some(own) => better(own).map(|(point, _)| point),
            None => best.map(|(point, _)| point),
        };
        match (to, own) {
            (Some(to), _) => {
                self.changes += u64::from(self.at.is_some());
                let first = now == Time::ZERO; // a run begins with stations associated
                (self.at, self.from) = (Some(to), if first { now } else { now + HANDOVER });
                self.changing = !first;
            }
            (None, None) if self.at.is_some() => {
                self.changes += 1;
                (self.at, self.changing) = (None, false);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_changes_when_another_access_point_is_clearly_better_and_is_then_away_for_a_while()
    {
        let at = |ms: u64| Time::ZERO + Span::millis(ms);
        let mut own = Association::default();
        own.update(at(0), [(4, -60.0), (7, -62.0)].into_iter());
        assert_eq!(own.access_point(at(0)), Some(4));
        own.update(at(100), [(4, -64.0), (7, -62.0)].into_iter());
        assert_eq!((own.access_point(at(100)), own.changes), (Some(4), 0), "2 dB are not enough");
        own.update(at(200), [(4, -66.0), (7, -62.0)].into_iter());
        assert_eq!((own.access_point(at(250)), own.completes_at()), (None, at(300)));
        assert_eq!((own.access_point(at(300)), own.changes), (Some(7), 1));
        own.update(at(400), [].into_iter());
        assert_eq!((own.access_point(at(400)), own.changes), (None, 2));
    }
}
