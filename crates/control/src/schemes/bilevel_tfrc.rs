//! Bilevel TFRC: a master rate, divided in proportion to the rates of the paths' own TFRC. The rule
//! is in `tfrc.rs`.

use super::tfrc::{Division, NEEDS, TfrcControl};
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::{Needs, Settings};

/// The loss history of the master, and the scale of a path's receive rate in the cap on its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BilevelTfrc {
    /// The mean over the paths.
    Plain,
    /// The mean over the paths, with discounting.
    Discounting,
    /// The mean over the paths, with the receive rate of a path scaled up.
    Scaled,
    /// One history for all paths, with discounting.
    Pooled,
}

impl Kind for BilevelTfrc {
    const DESCRIBED: Described = Described {
        names: &["bilevel-tfrc"],
        summary: "Bilevel TFRC: a master rate from the mean loss of the paths, divided in proportion to their own TFRC rates.",
        formula: "path i: R_M R_i / ΣR, R_M = X(f_M), f_M = Σ f_i R_i / ΣR",
        source: "Tse 2006, §3.2, eq. 3.1 and 3.3",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(BilevelTfrc::Plain);
    const CHOICES: &'static [Choice<Self>] = &[
        Choice::word(
            "discounting",
            BilevelTfrc::Discounting,
            "old loss intervals weigh less while the open interval is long",
        ),
        Choice::word(
            "scaled",
            BilevelTfrc::Scaled,
            "the receive rate of a path is scaled up by its own TFRC rate over its share of the master rate",
        ),
        Choice::word(
            "pooled",
            BilevelTfrc::Pooled,
            "with discounting, and one loss history of all paths for the master rate",
        ),
    ];
}

impl Scheme for BilevelTfrc {
    type Control = TfrcControl;

    fn needs(self) -> Needs {
        NEEDS
    }

    fn control(self, settings: Settings, paths: usize) -> TfrcControl {
        let (division, discounting) = match self {
            BilevelTfrc::Plain => (Division::Bilevel { scaled: false }, false),
            BilevelTfrc::Discounting => (Division::Bilevel { scaled: false }, true),
            BilevelTfrc::Scaled => (Division::Bilevel { scaled: true }, false),
            BilevelTfrc::Pooled => (Division::Pooled, true),
        };
        TfrcControl::new(division, discounting, settings, paths)
    }
}
