//! The registry of slow starts: how a path grows below ssthresh, and when it stops. One file each,
//! one line each; scenarios select one as `LAW+NAME`.

use crate::kind::kinds;
use crate::{Acked, Phase};

/// How a path grows below ssthresh, and when that ends before it has reached ssthresh.
///
/// A value is the state of one path.
pub trait SlowStart: Copy + core::fmt::Debug + PartialEq {
    /// The growth of a window below ssthresh for an ACK of new data.
    fn on_ack(&mut self, ack: &Acked) -> Step;

    /// A congestion event began on the path: the next slow start has a finite ssthresh.
    fn on_congestion(&mut self) {}
}

/// The growth for one ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Segments that the ACK counts for at most.
    pub limit: f64,
    /// Segments that the window gains for each of them; `None` ends slow start at the present
    /// window.
    pub growth: Option<f64>,
}

/// Segments that one ACK may count for (RFC 3465 §2.2: L = 2), and after a timeout (§2.3: L = 1).
pub(crate) const ACK_LIMIT: f64 = 2.0;
pub(crate) const ACK_LIMIT_AFTER_TIMEOUT: f64 = 1.0;

/// Segments that one ACK may count for in `phase`, in which the window may grow.
#[inline(always)] // runs for every ACK
pub(crate) fn ack_limit(phase: Phase) -> f64 {
    match phase {
        Phase::Loss => ACK_LIMIT_AFTER_TIMEOUT,
        Phase::Open | Phase::Recovery => ACK_LIMIT,
    }
}

macro_rules! slow_starts {
    ($($file:ident::$type:ident,)*) => {
        $(mod $file; pub use $file::$type;)*

        kinds! {
            /// Any slow start, and its state on one path.
            AnySlowStart { $($file::$type => $type,)* }
        }

        impl SlowStart for AnySlowStart {
            fn on_ack(&mut self, ack: &Acked) -> Step {
                match self { $(AnySlowStart::$type(kind) => kind.on_ack(ack),)* }
            }
            fn on_congestion(&mut self) {
                match self { $(AnySlowStart::$type(kind) => kind.on_congestion(),)* }
            }
        }
    };
}
slow_starts! {
    standard::Standard,
    hystart::HyStart,
}

impl AnySlowStart {
    /// The default slow start.
    pub const STANDARD: AnySlowStart = AnySlowStart::Standard(Standard);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_slow_start_takes_window_away_whatever_round_trips_and_losses_come(
            acks in prop::collection::vec((0_u64..500, prop::bool::weighted(0.02)), 1..300),
        ) {
            for kind in AnySlowStart::listed() {
                let name = kind.described.names[0];
                let called = AnySlowStart::called(name, None).pop().expect("it is registered");
                let (mut slow_start, _) = called.kind.expect("it needs no option");
                for (una, (rtt, lost)) in (0..).zip(&acks) {
                    if *lost {
                        slow_start.on_congestion();
                    }
                    let ack = Acked { rtt: Span::millis(*rtt), una, nxt: una + 10, ..Acked::default() };
                    let Step { limit, growth } = slow_start.on_ack(&ack);
                    prop_assert!(limit > 0.0 && limit.is_finite(), "{name}: {limit}");
                    let grows = growth.is_none_or(|growth| growth >= 0.0 && growth.is_finite());
                    prop_assert!(grows, "{name}: {growth:?}");
                }
            }
        }
    }
}
