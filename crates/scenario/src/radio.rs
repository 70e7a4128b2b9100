//! Propagation of signals between stations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{InvalidParameter, ValidRange};

/// Log-distance propagation, with the noise and the carrier sensing of receivers.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Transmitted power in dBm.
    #[serde(default = "power")]
    #[schemars(extend("range" = POWER.right))]
    pub power_dbm: f64,
    /// Path loss at one metre in dB; by default that of the band.
    #[serde(default)]
    #[schemars(extend("range" = LOSS.right))]
    pub loss_at_1m_db: Option<f64>,
    /// Path-loss exponent: the power of the distance with which received power falls.
    #[serde(default = "exponent")]
    #[schemars(extend("range" = EXPONENT.right))]
    pub exponent: f64,
    /// Noise in dBm, including the receiver's noise figure.
    #[serde(default = "noise")]
    #[schemars(extend("range" = RECEIVED.right))]
    pub noise_dbm: f64,
    /// Least power at which the medium counts as busy, in dBm.
    #[serde(default = "sense")]
    #[schemars(extend("range" = RECEIVED.right))]
    pub sense_dbm: f64,
}

const POWER: ValidRange<f64> = ValidRange {
    holds: |power| (-50.0..=60.0).contains(power),
    right: "it lies from -50 to 60 dBm",
};

const LOSS: ValidRange<f64> =
    ValidRange { holds: |loss| (0.0..=150.0).contains(loss), right: "it lies from 0 to 150 dB" };

const EXPONENT: ValidRange<f64> =
    ValidRange { holds: |exponent| (1.0..=10.0).contains(exponent), right: "it lies from 1 to 10" };

const RECEIVED: ValidRange<f64> = ValidRange {
    holds: |power| (-150.0..=0.0).contains(power),
    right: "it lies from -150 to 0 dBm",
};

fn power() -> f64 {
    16.0
}

fn exponent() -> f64 {
    3.0
}

fn noise() -> f64 {
    -94.0
}

fn sense() -> f64 {
    -88.0
}

impl Radio {
    /// The radio of a plan; the path loss at one metre is `loss_at_1m_db` unless the scenario gives
    /// another.
    pub(crate) fn expand(self, loss_at_1m_db: f64) -> network::Radio {
        let Radio { power_dbm, exponent, noise_dbm, sense_dbm, .. } = self;
        let loss_at_1m_db = self.loss_at_1m_db.unwrap_or(loss_at_1m_db);
        network::Radio { power_dbm, loss_at_1m_db, exponent, noise_dbm, sense_dbm }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidParameter> {
        POWER.check("radio.power_dbm", &self.power_dbm)?;
        LOSS.check("radio.loss_at_1m_db", &self.loss_at_1m_db)?;
        EXPONENT.check("radio.exponent", &self.exponent)?;
        RECEIVED.check("radio.noise_dbm", &self.noise_dbm)?;
        RECEIVED.check("radio.sense_dbm", &self.sense_dbm)
    }
}
