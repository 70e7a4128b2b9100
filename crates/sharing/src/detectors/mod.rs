//! The registry of detectors: one file each, one line each; controllers select one as
//! `LAW+sbd:NAME`.

use units::{Span, Time};

/// The delay of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it was sent.
    pub sent: Time,
    /// How long it took, one way or there and back: only differences mean anything.
    pub delay: Span,
    /// The smoothed round trip of its path.
    pub rtt: Span,
}

/// Names and description of a detector.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its names, the preferred one first.
    pub names: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The rule in symbols.
    pub formula: &'static str,
    /// The publication.
    pub source: &'static str,
}

/// A rule by which two paths are found to share a bottleneck. A value has what it remembers of all
/// paths.
pub trait Detector: Clone + core::fmt::Debug {
    /// Names and description.
    const DESCRIBED: Described;

    /// A detector of this many paths that has seen nothing.
    fn new(paths: usize) -> Self;

    /// A packet of `path` arrived.
    fn on_delay(&mut self, path: usize, sample: &Sample);

    /// Packets of `path` were lost, as was learned `at` that time: one loss event, whatever their
    /// number.
    fn on_loss(&mut self, path: usize, at: Time);

    /// The last loss event of `path` was none.
    fn on_spurious(&mut self, _path: usize) {}

    /// Forgets what it knows of `path`, which is another one now.
    fn forget(&mut self, path: usize);

    /// Draws conclusions from what came until `now`; called about once a second.
    fn conclude(&mut self, now: Time);

    /// How sure it is that two paths share a bottleneck: from 0, surely not, to 1; a half if
    /// nothing is known.
    fn confidence(&self, a: usize, b: usize) -> f64;
}

/// Confidence while nothing is known.
pub(crate) const UNKNOWN: f64 = 0.5;

macro_rules! detectors {
    ($($file:ident::$type:ident,)*) => {
        $(mod $file; pub use $file::$type;)*

        /// The detectors, by kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnyDetector {
            $(
                #[doc = concat!("See `", stringify!($file), ".rs`.")]
                $type,
            )*
        }

        impl AnyDetector {
            /// Every detector in the order of the registry.
            pub const ALL: &'static [AnyDetector] = &[$(AnyDetector::$type),*];

            /// Names and description.
            pub fn described(self) -> Described {
                match self { $(AnyDetector::$type => <$type as Detector>::DESCRIBED,)* }
            }
        }

        /// A detector at work; each event dispatches once.
        #[derive(Clone, Debug)]
        pub(crate) enum AtWork {
            $($type($type),)*
        }

        impl AtWork {
            pub(crate) fn new(kind: AnyDetector, paths: usize) -> Self {
                match kind {
                    $(AnyDetector::$type => AtWork::$type(<$type as Detector>::new(paths)),)*
                }
            }
            pub(crate) fn on_delay(&mut self, path: usize, sample: &Sample) {
                match self { $(AtWork::$type(own) => own.on_delay(path, sample),)* }
            }
            pub(crate) fn on_loss(&mut self, path: usize, at: Time) {
                match self { $(AtWork::$type(own) => own.on_loss(path, at),)* }
            }
            pub(crate) fn on_spurious(&mut self, path: usize) {
                match self { $(AtWork::$type(own) => own.on_spurious(path),)* }
            }
            pub(crate) fn forget(&mut self, path: usize) {
                match self { $(AtWork::$type(own) => own.forget(path),)* }
            }
            pub(crate) fn conclude(&mut self, now: Time) {
                match self { $(AtWork::$type(own) => own.conclude(now),)* }
            }
            pub(crate) fn confidence(&self, a: usize, b: usize) -> f64 {
                match self { $(AtWork::$type(own) => own.confidence(a, b),)* }
            }
        }
    };
}
detectors! {
    correlation::Correlation,
    rfc8382::Rfc8382,
    losses::Losses,
    dwc::Dwc,
}

impl AnyDetector {
    /// The detector that errs least: docs/explanation/shared-bottlenecks.md has the figures.
    pub const DEFAULT: AnyDetector = AnyDetector::Correlation;

    /// The detector with this name, in any spelling.
    pub fn named(text: &str) -> Option<AnyDetector> {
        let known = |kind: &AnyDetector| {
            units::name::find(text, kind.described().names.iter().copied()).is_some()
        };
        AnyDetector::ALL.iter().copied().find(known)
    }
}
