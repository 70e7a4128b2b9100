//! Random loss: independent for each packet, or in bursts.
//!
//! Bursts are those of Gilbert 1960 and Elliott 1963: a good and a bad state, each with its loss.
//! The stationary loss is `(r · good + p · bad) / (p + r)`, and the mean run of packets in the bad
//! state is `1 / r`. In the papers' letters `good` is `1 − k` and `bad` is `1 − h`.

use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where random loss occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossPlace {
    /// Before the queue: a lost packet uses no capacity.
    Before,
    /// On the line: a lost packet has used capacity.
    #[default]
    After,
}

/// Random loss of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Probability that a packet is lost, in the long run: with a chain, its stationary loss.
    pub probability: f64,
    /// The place at which it strikes.
    pub place: LossPlace,
    /// The chain of a good and a bad state, if there is one; otherwise losses are independent.
    pub chain: Option<GilbertElliott>,
}

/// A chain of two states, each with its own loss probability (Gilbert and Elliott).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GilbertElliott {
    /// Probability of going from good to bad (p).
    pub to_bad: f64,
    /// Probability of going from bad to good (r): one over the mean burst.
    pub to_good: f64,
    /// Loss probability in the good state.
    pub good: f64,
    /// Loss probability in the bad state.
    pub bad: f64,
}

/// Random loss of a running link.
pub(crate) struct LossProcess {
    settings: Loss,
    /// Whether the present state of the chain is the bad one.
    is_bad: bool,
}

impl LossProcess {
    /// A chain begins in its good state.
    pub(crate) fn new(settings: Loss) -> Self {
        LossProcess { settings, is_bad: false }
    }

    /// Whether loss strikes at `place`.
    pub(crate) fn is(&self, place: LossPlace) -> bool {
        self.settings.place == place
    }

    /// Sets an independent loss probability for each packet from now on.
    pub(crate) fn set_probability(&mut self, probability: f64) {
        (self.settings.probability, self.settings.chain) = (probability, None);
    }

    /// Whether the next packet is lost. The state of a chain may change with every packet.
    pub(crate) fn strikes(&mut self, rng: &mut impl Rng) -> bool {
        let Some(chain) = self.settings.chain else {
            return rng.uniform() < self.settings.probability;
        };
        let leave = if self.is_bad { chain.to_good } else { chain.to_bad };
        self.is_bad ^= rng.uniform() < leave;
        let loss = if self.is_bad { chain.bad } else { chain.good };
        rng.uniform() < loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;

    #[test]
    fn bursts_have_the_mean_length_and_losses_the_stationary_probability_of_the_chain() {
        let (to_bad, to_good) = (0.01, 0.25);
        let probability = to_bad / (to_bad + to_good);
        let chain = Some(GilbertElliott { to_bad, to_good, good: 0.0, bad: 1.0 });
        let mut process = LossProcess::new(Loss { probability, place: LossPlace::After, chain });
        let mut rng = Lcg(1);
        let fates: Vec<bool> = (0..1_000_000).map(|_| process.strikes(&mut rng)).collect();
        let losses = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((losses / 1e6 - probability).abs() < 1e-3, "{losses}");
        assert!((losses / bursts - 1.0 / to_good).abs() < 0.1, "{}", losses / bursts);
    }
}
