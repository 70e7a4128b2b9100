//! What TFRC's division reads of a path at each report of any path. The shares of all paths lie
//! together, and need no branches: a sum has zero for a path that does not count.

use crate::tfrc::{Allowed, throughput};

/// A path's part in the division.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Its allowed rate `R_i`, in segments per second.
    pub(super) rate: f64,
    /// Its receive rate.
    pub(super) received: f64,
    /// The factor that damps oscillation.
    pub(super) damping: f64,
    /// The allowed rate of a member.
    member: f64,
    heard: Heard,
}

/// The same of a member with at least one report, and its loss event rate and round-trip time in
/// seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Heard {
    rate: f64,
    received: f64,
    loss: f64,
    rtt: f64,
}

/// Sums over the members, in segments per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Of the allowed rates of all members.
    pub(super) members: f64,
    /// Of the allowed rates of those with at least one report.
    pub(super) heard: f64,
    /// Of the receive rates of these.
    pub(super) received: f64,
}

impl Share {
    /// The share of a path with this TFRC.
    pub(super) fn of(own: &Allowed, member: bool) -> Self {
        let (rate, received, damping) = (own.rate(), own.received(), own.damping());
        let heard = match member && own.rtt() > 0.0 {
            true => Heard { rate, received, loss: own.loss(), rtt: own.rtt() },
            false => Heard::default(),
        };
        Share { rate, received, damping, member: if member { rate } else { 0.0 }, heard }
    }
}

impl Sums {
    pub(super) fn of(shares: &[Share]) -> Self {
        shares.iter().fold(Sums::default(), |sums, share| Sums {
            members: sums.members + share.member,
            heard: sums.heard + share.heard.rate,
            received: sums.received + share.heard.received,
        })
    }
}

/// Loss event rate and round-trip time in seconds: means over the members with at least one report,
/// weighted by their rates, of which `total` is the sum.
pub(super) fn means(shares: &[Share], total: f64) -> (f64, f64) {
    shares.iter().fold((0.0, 0.0), |(loss, rtt), Share { heard, .. }| {
        let weight = heard.rate / total;
        (loss + weight * heard.loss, rtt + weight * heard.rtt)
    })
}

/// A value of the response function, kept because most reports change that of few paths; zero
/// without a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Response {
    loss: f64,
    rtt: f64,
    /// Segments per second.
    pub(super) rate: f64,
}

impl Response {
    /// The response at another loss or round-trip time.
    pub(super) fn moved(self, loss: Option<f64>, rtt: f64) -> Self {
        match loss {
            None => Response::default(),
            Some(loss) if loss == self.loss && rtt == self.rtt => self,
            Some(loss) => Response { loss, rtt, rate: throughput(loss, rtt) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfrc::Report;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// TFRC of a path after a report with loss intervals of this length, or before its first one.
    fn own(interval: Option<u16>, received: u16, rtt: u8) -> Allowed {
        let mut own = Allowed::new(3.0, false);
        if let Some(interval) = interval {
            let (rtt, received) = (f64::from(rtt) / 100.0, f64::from(received));
            let intervals = [u64::from(interval); 9];
            let (now, sample, events, limited) = (1.0, rtt, 20, false);
            let intervals = &intervals;
            let report = Report { now, rtt, sample, received, events, intervals, limited };
            own.on_feedback(&report, 1.0);
        }
        own
    }

    proptest! {
        #[test]
        fn sums_and_means_are_those_of_the_paths_that_count(
            paths in prop::collection::vec(
                (prop::option::of(1..2000_u16), 1..1000_u16, 1..200_u8, any::<bool>()), 1..8),
        ) {
            let paths: Vec<_> = paths.into_iter()
                .map(|(interval, received, rtt, member)| (own(interval, received, rtt), member))
                .collect();
            let share = |(own, member): &(Allowed, bool)| Share::of(own, *member);
            let shares: Vec<_> = paths.iter().map(share).collect();
            let members: Vec<_> = paths.iter().filter(|it| it.1).map(|it| &it.0).collect();
            let heard: Vec<_> = members.iter().filter(|own| own.rtt() > 0.0).collect();
            let sums = Sums::of(&shares);
            // To the last bit: results depend on it.
            prop_assert_eq!(sums.members, members.iter().fold(0.0, |sum, own| sum + own.rate()));
            let total = heard.iter().fold(0.0, |sum, own| sum + own.rate());
            prop_assert_eq!(sums.heard, total);
            prop_assert_eq!(sums.received, heard.iter().fold(0.0, |sum, own| sum + own.received()));
            let mean = |of: fn(&Allowed) -> f64| {
                heard.iter().fold(0.0, |mean, own| mean + own.rate() / total * of(own))
            };
            if total > 0.0 {
                prop_assert_eq!(means(&shares, total), (mean(Allowed::loss), mean(Allowed::rtt)));
            }
        }

        #[test]
        fn a_kept_response_is_that_of_its_loss_and_round_trip_time(
            steps in prop::collection::vec((prop::option::of(1..4_u8), 1..3_u8), 0..20),
        ) {
            let mut kept = Response::default();
            for (loss, rtt) in steps {
                let (loss, rtt) = (loss.map(|it| f64::from(it) / 100.0), f64::from(rtt) / 10.0);
                kept = kept.moved(loss, rtt);
                prop_assert_eq!(kept.rate, loss.map_or(0.0, |loss| throughput(loss, rtt)));
            }
        }
    }
}
