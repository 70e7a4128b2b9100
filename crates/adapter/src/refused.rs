//! Which controllers and settings an adapter takes, and why it refuses the others.

use alloc::string::{String, ToString};
use control::{ControllerKind, ControllerSpec, Needs, Settings, UnknownController};
use core::fmt;

/// Most paths that a group can hold.
pub const MOST_PATHS: usize = 32;

/// Why a controller cannot run in a QUIC stack.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// The text names no controller.
    Unknown(UnknownController),
    /// It needs what the stack does not tell.
    Needs {
        /// The controller by its name in results.
        controller: String,
        /// What it needs.
        needs: Wanted,
    },
    /// It has the kernel's arithmetic, or only the running kernel has it.
    Kernel {
        /// The controller by its name in results.
        controller: String,
    },
    /// The stack itself has it.
    Stack {
        /// The controller by its name in results.
        controller: String,
    },
    /// A setting is outside its range.
    Setting {
        /// The field of [`Settings`].
        field: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// A group has 1 to [`MOST_PATHS`] paths.
    Paths(usize),
}

/// What a stack gives its controllers beyond acknowledgements and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offered {
    /// It tells all that samples of the delivery rate take, and sends at a controller's rate.
    pub rates: bool,
}

impl Offered {
    /// Acknowledgements and losses alone.
    pub const NOTHING: Offered = Offered { rates: false };
    /// Delivery rates, and pacing by the controller.
    pub const RATES: Offered = Offered { rates: true };
}

/// What a controller can need beyond acknowledgements and losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// One-way delays, for which both ends would have to stamp their packets.
    Delays,
    /// Samples of the delivery rate, to which it answers with a rate to send at.
    Rates,
    /// Reports of a TFRC receiver instead of acknowledgements.
    Reports,
}

impl Refused {
    /// Whether `spec` with `settings` can control `paths` paths of a connection of a stack that
    /// offers that.
    ///
    /// # Errors
    /// If it cannot.
    pub fn unless_fit(
        spec: &ControllerSpec,
        settings: &Settings,
        paths: usize,
        offered: Offered,
    ) -> Result<(), Refused> {
        let controller = || spec.to_string();
        let Needs { delays, rates, rate_based, reports, siblings: _ } = spec.needs();
        let wanted = [
            (reports, Wanted::Reports),
            (delays, Wanted::Delays),
            ((rates || rate_based) && !offered.rates, Wanted::Rates),
        ];
        if let Some((_, needs)) = wanted.into_iter().find(|(needed, _)| *needed) {
            return Err(Refused::Needs { controller: controller(), needs });
        }
        if let ControllerKind::Kernel(_)
        | ControllerKind::KernelScheme(_)
        | ControllerKind::KernelWritten(_)
        | ControllerKind::Linux(_) = spec.kind()
        {
            return Err(Refused::Kernel { controller: controller() });
        }
        if let ControllerKind::Noq(_) = spec.kind() {
            return Err(Refused::Stack { controller: controller() });
        }
        if !(1..=MOST_PATHS).contains(&paths) {
            return Err(Refused::Paths(paths));
        }
        let Settings { min_window, min_ssthresh, initial_window, initial_ssthresh, .. } = *settings;
        for (field, value) in [
            ("min_window", min_window),
            ("min_ssthresh", min_ssthresh.unwrap_or(1.0)),
            ("initial_window", initial_window),
        ] {
            if !(value.is_finite() && value >= 1.0) {
                return Err(Refused::Setting { field, value, right: "a number from 1 segment up" });
            }
        }
        match initial_ssthresh >= 1.0 {
            true => Ok(()),
            false => Err(Refused::Setting {
                field: "initial_ssthresh",
                value: initial_ssthresh,
                right: "a number from 1 segment up, or infinity",
            }),
        }
    }
}

impl From<UnknownController> for Refused {
    fn from(unknown: UnknownController) -> Self {
        Refused::Unknown(unknown)
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Delays => {
                "needs one-way delays, and QUIC's acknowledgements carry no time of arrival"
            }
            Wanted::Rates => {
                "needs a stack that sends at the controller's rate, and this one paces by the window \
                 alone"
            }
            Wanted::Reports => {
                "needs the reports of a TFRC receiver, and a QUIC receiver acknowledges instead"
            }
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unknown(unknown) => unknown.fmt(f),
            Refused::Needs { controller, needs } => {
                write!(f, "`{controller}` {needs}; take lia, olia, balia or reno, for example")
            }
            Refused::Kernel { controller } => write!(
                f,
                "`{controller}` runs in the kernel alone; without its prefix it is a law that \
                 runs here"
            ),
            Refused::Stack { controller } => write!(
                f,
                "`{controller}` is noq's own, for each path by itself; `anabranch_noq::factory` makes it"
            ),
            Refused::Setting { field, value, right } => {
                write!(f, "the setting `{field}` is {value}; it must be {right}")
            }
            Refused::Paths(paths) => {
                write!(f, "a group of {paths} paths; it must have 1 to {MOST_PATHS}")
            }
        }
    }
}

impl core::error::Error for Refused {}
