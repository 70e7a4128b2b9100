//! Traffic of applications: sizes, rates and pauses.

use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use units::{InvalidParameter, Span, ValidRange};

/// Distribution of the sizes of transfers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Sizes {
    /// Exponential distribution.
    Exponential,
    /// Pareto distribution with this shape, above 1: a smaller shape has a heavier tail.
    Pareto(f64),
    /// Lognormal distribution with this standard deviation of the logarithm.
    Lognormal(f64),
}

/// Sizes of transfers as they are written.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum SizesKeys {
    /// Exponential distribution.
    Exponential,
    /// Pareto distribution.
    Pareto {
        /// Its shape.
        shape: f64,
    },
    /// Lognormal distribution.
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl SizesKeys {
    pub(crate) fn write<S: Serializer>(
        sizes: &Option<Sizes>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = sizes.map(|sizes| match sizes {
            Sizes::Exponential => SizesKeys::Exponential,
            Sizes::Pareto(shape) => SizesKeys::Pareto { shape },
            Sizes::Lognormal(sigma) => SizesKeys::Lognormal { sigma },
        });
        keys.serialize(serializer)
    }
}

/// An application that writes and pauses in turn, beginning with writing.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    /// Mean writing time.
    #[serde(rename(serialize = "on_s"))]
    #[schemars(extend("range" = PERIOD.right))]
    pub on: Span,
    /// Mean pause.
    #[serde(rename(serialize = "off_s"))]
    #[schemars(extend("range" = PERIOD.right))]
    pub off: Span,
    /// Whether writing times and pauses are exponentially distributed; otherwise they are constant.
    #[serde(default = "yes")]
    pub random: bool,
}

fn yes() -> bool {
    true
}

/// Shorter times of writing and pausing would dominate the run.
const PERIOD: ValidRange<Span> =
    ValidRange { holds: |time| *time >= Span::millis(1), right: "it is at least 1 ms" };

impl Sizes {
    pub(crate) fn check(&self) -> Result<(), WrongKey> {
        match *self {
            Sizes::Pareto(shape) if !(shape > 1.0 && shape.is_finite()) => {
                let what = format!("sizes.pareto is {shape}");
                Err(WrongKey::new(
                    "sizes",
                    what,
                    "it is above 1: only then does the distribution have a mean",
                ))
            }
            Sizes::Lognormal(sigma) if !(sigma > 0.0 && sigma <= 10.0) => {
                let what = format!("sizes.lognormal is {sigma}");
                Err(WrongKey::new("sizes", what, "it lies above 0 and at most at 10"))
            }
            _ => Ok(()),
        }
    }
}

impl Pauses {
    pub(crate) fn check(&self) -> Result<(), InvalidParameter> {
        PERIOD.check("pauses.on", &self.on)?;
        PERIOD.check("pauses.off", &self.off)
    }
}
