//! Random loss: each packet by itself, or in bursts.

use crate::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where random loss strikes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossPlace {
    /// Before the queue: a lost packet uses no capacity.
    Before,
    /// On the line: it has used capacity.
    #[default]
    After,
}

/// Random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// How losses follow one another.
    pub model: LossModel,
    /// Where it strikes.
    pub place: LossPlace,
}

/// How losses follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet with this probability, independently.
    Independent(f64),
    /// By a chain of two states.
    GilbertElliott(GilbertElliott),
}

/// Gilbert 1960 and Elliott 1963: a good and a bad state, each with its loss; the state may change
/// with every packet. The stationary loss is `(r · loss_good + p · loss_bad) / (p + r)`, and
/// packets spend `1 / r` in a row in the bad state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability of going from good to bad (`p`).
    pub to_bad: f64,
    /// Probability of going from bad to good (`r`).
    pub to_good: f64,
    /// Loss in the good state (`1 − k`).
    pub loss_good: f64,
    /// Loss in the bad state (`1 − h`).
    pub loss_bad: f64,
    /// Whether the present state is the bad one.
    pub bad: bool,
}

impl LossModel {
    /// Whether the next packet is lost.
    pub(crate) fn strikes(&mut self, rng: &mut impl Rng) -> bool {
        match self {
            LossModel::Independent(probability) => rng.uniform() < *probability,
            LossModel::GilbertElliott(chain) => chain.strikes(rng),
        }
    }
}

impl GilbertElliott {
    fn strikes(&mut self, rng: &mut impl Rng) -> bool {
        let leave = if self.bad { self.to_good } else { self.to_bad };
        self.bad ^= rng.uniform() < leave;
        let loss = if self.bad { self.loss_bad } else { self.loss_good };
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
        let mut chain =
            GilbertElliott { to_bad, to_good, loss_good: 0.0, loss_bad: 1.0, bad: false };
        let mut rng = Lcg(1);
        let fates: Vec<bool> = (0..1_000_000).map(|_| chain.strikes(&mut rng)).collect();
        let losses = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((losses / 1e6 - to_bad / (to_bad + to_good)).abs() < 1e-3, "{losses}");
        assert!((losses / bursts - 1.0 / to_good).abs() < 0.1, "{}", losses / bursts);
    }
}
