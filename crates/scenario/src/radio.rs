//! Propagation of signals between stations.

use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Log-distance propagation, and what a receiver makes of it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Transmitted power in dBm.
    #[serde(default = "power")]
    pub power_dbm: f64,
    /// Path loss at one metre in dB; by default that of the band.
    #[serde(default)]
    pub loss_at_1m_db: Option<f64>,
    /// The power of the distance with which it grows.
    #[serde(default = "exponent")]
    pub exponent: f64,
    /// Noise with the receiver's noise figure in dBm.
    #[serde(default = "noise")]
    pub noise_dbm: f64,
    /// Least power at which the medium counts as busy, in dBm.
    #[serde(default = "sense")]
    pub sense_dbm: f64,
}

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

    pub(crate) fn check(&self) -> Result<(), WrongKey> {
        for (key, value, least, most) in [
            ("radio.power_dbm", self.power_dbm, -50.0, 60.0),
            ("radio.loss_at_1m_db", self.loss_at_1m_db.unwrap_or_default(), 0.0, 150.0),
            ("radio.exponent", self.exponent, 1.0, 10.0),
            ("radio.noise_dbm", self.noise_dbm, -150.0, 0.0),
            ("radio.sense_dbm", self.sense_dbm, -150.0, 0.0),
        ] {
            if !(least..=most).contains(&value) {
                return Err(WrongKey::value(key, value, "a number that a radio has"));
            }
        }
        Ok(())
    }
}
