//! [`Readable`]: what a law in C is held to.

use crate::step::Views;

/// The formulas of a law in C, in real numbers.
pub(crate) struct Readable {
    pub(crate) name: &'static str,
    /// Growth in segments for each one acknowledged, and the bound on the error of the C; `None`
    /// where truncation may decide a condition.
    pub(crate) growth: fn(&Views) -> (f64, Option<f64>),
    /// The window after a congestion event, in segments.
    pub(crate) backoff: fn(&Views) -> f64,
}
