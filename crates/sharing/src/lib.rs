//! Which paths share a bottleneck, found from the delays and losses of their packets alone.
//!
//! Samples go in, groups of paths come out, with a confidence for each pair. A [`Detection`] is one
//! [`Detector`] at work; the detectors are kinds, one file each in `detectors`. The crate knows no
//! connection: a simulated controller, a capture and a live host feed it alike.
//!
//! ```
//! use anabranch_sharing::{AnyDetector, Detection, Sample};
//! use units::{Span, Time};
//!
//! let mut detection = Detection::new(AnyDetector::DEFAULT, 2);
//! for ms in 0..20_000_u64 {
//!     let queue = Span::millis(20 + ms * ms / 1000 % 40); // one queue, and both paths cross it
//!     for path in 0..2 {
//!         let (sent, rtt) = (Time::ZERO + Span::millis(ms), Span::millis(50));
//!         detection.on_delay(path, &Sample { sent, delay: queue, rtt });
//!     }
//!     detection.look(Time::ZERO + Span::millis(ms));
//! }
//! assert!(detection.confidence(0, 1) > 0.9);
//! assert_eq!(detection.group(0), detection.group(1));
//! ```
#![no_std]

extern crate alloc;

mod detection;
mod detectors;
mod groups;
mod statistics;
mod traced;

pub use detection::{Detection, LOOK};
pub use detectors::{AnyDetector, Correlation, Described, Detector, Dwc, Losses, Rfc8382, Sample};
pub use groups::groups;
pub use traced::{Traced, follow};
