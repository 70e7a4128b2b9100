//! Random loss of a link. The table describes bursts by their length and the long-run loss; the
//! plan has `network::Loss`, whose chain has both properties.

use crate::report::WrongKey;
use network::{GilbertElliott, LossPlace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use units::{PROBABILITY, ValidRange};

/// Random loss: independent for each packet or, with `burst`, by a chain of a good and a bad state
/// (Gilbert 1960, Elliott 1963).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Loss probability of each packet; with `burst`, the mean loss probability in the long run.
    #[schemars(extend("range" = PROBABILITY.right))]
    pub probability: f64,
    /// Mean number of consecutive packets that find the bad state; without it there is no chain.
    #[serde(default)]
    #[schemars(extend("range" = BURST.right))]
    pub burst: Option<f64>,
    /// Loss probability in the good state of the chain.
    #[serde(default)]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub good: f64,
    /// Loss probability in the bad state of the chain.
    #[serde(default = "certain")]
    #[schemars(extend("range" = PROBABILITY.right))]
    pub bad: f64,
    /// Where random loss occurs: before the queue, or on the line as on a radio.
    #[serde(default)]
    pub place: LossPlace,
}

const BURST: ValidRange<f64> =
    ValidRange { holds: |burst| (1.0..=1e9).contains(burst), right: "it is at least 1 packet" };

fn certain() -> f64 {
    1.0
}

/// Random loss as it is written, among the keys of its link.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LossKeys {
    /// Probability that a packet is lost, in the long run.
    loss: f64,
    /// Where random loss occurs, if there is any.
    loss_place: Option<LossPlace>,
    /// The chain of a good and a bad state, if there is one.
    loss_chain: Option<GilbertElliott>,
}

impl LossKeys {
    pub(crate) fn write<S: Serializer>(
        loss: &Option<network::Loss>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = LossKeys {
            loss: loss.map_or(0.0, |loss| loss.probability),
            loss_place: loss.map(|loss| loss.place),
            loss_chain: loss.and_then(|loss| loss.chain),
        };
        keys.serialize(serializer)
    }
}

impl Loss {
    pub(crate) fn check(&self) -> Result<(), WrongKey> {
        PROBABILITY.check("loss.probability", &self.probability)?;
        PROBABILITY.check("loss.good", &self.good)?;
        PROBABILITY.check("loss.bad", &self.bad)?;
        BURST.check("loss.burst", &self.burst)?;
        let Some(burst) = self.burst else {
            let chain = self.good != 0.0 || self.bad != 1.0;
            let what = "its loss has `good` or `bad`, but no `burst`";
            return match chain {
                true => Err(WrongKey::new("loss", what, "give the mean length of a `burst` too")),
                false => Ok(()),
            };
        };
        let share = self.share();
        if !(self.good < self.bad && (0.0..1.0).contains(&share)) {
            let right = "with `burst` it is at least `good` and below `bad`, the losses of the two \
                         states";
            return Err(WrongKey::value("loss.probability", self.probability, right));
        }
        if share / (1.0 - share) > burst {
            let right = "for this `probability` it is at least share / (1 - share), where share = \
                         (probability - good) / (bad - good)";
            return Err(WrongKey::value("loss.burst", burst, right));
        }
        Ok(())
    }

    /// The fraction of packets that find the chain in its bad state.
    fn share(&self) -> f64 {
        (self.probability - self.good) / (self.bad - self.good)
    }

    /// The chain whose stationary loss is `probability`.
    pub(crate) fn expand(&self) -> network::Loss {
        let Loss { probability, burst, good, bad, place } = *self;
        let chain = burst.map(|burst| {
            let (share, to_good) = (self.share(), 1.0 / burst);
            GilbertElliott { to_bad: to_good * share / (1.0 - share), to_good, good, bad }
        });
        network::Loss { probability, place, chain }
    }
}
