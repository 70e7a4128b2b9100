//! Rates in segments.

/// A rate in segments per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct SegmentRate(pub f64);
