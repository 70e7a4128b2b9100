//! Instants of a stack as times of a controller, whose zero is when its first path was made.

use control::{Span, Time};
use core::time::Duration;
use std::time::Instant;

const NANOS: u64 = 1_000_000_000;

/// The controller's time of `instant`; what lies before `base` is zero.
#[inline]
pub fn since(base: Instant, instant: Instant) -> Time {
    Time(span(instant.saturating_duration_since(base)).0)
}

/// A duration in the controller's unit; it wraps after 584 years.
#[inline]
pub fn span(duration: Duration) -> Span {
    Span(duration.as_secs().wrapping_mul(NANOS).wrapping_add(duration.subsec_nanos().into()))
}
