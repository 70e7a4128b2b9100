//! The registry of shared media: one line for each kind.

#[cfg(test)]
mod tests;

use crate::bus::BusSettings;
use crate::cell::CellSettings;
use crate::shared::{Ends, Kind, SharedMedium, Station};
use crate::wifi::WifiSettings;
use crate::{Packet, Rng};
use schemars::JsonSchema;
use serde::Serialize;

/// Registers kinds of media: the word for it in a plan, and its parameters.
macro_rules! media {
    ($($(#[$doc:meta])* $name:ident($settings:ty)),* $(,)?) => {
        /// The parameters of a shared medium of any kind.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[schemars(rename = "PlanKind")]
        #[serde(tag = "kind", rename_all = "lowercase")]
        pub enum MediumSettings {
            $($(#[$doc])* $name($settings)),*
        }

        impl Kind for MediumSettings {
            fn build<P: Packet>(
                &self,
                stations: &[Station],
                links: &[Ends],
                rng: &mut dyn Rng,
            ) -> Box<dyn SharedMedium<P>> {
                match self {
                    $(MediumSettings::$name(settings) => settings.build(stations, links, rng)),*
                }
            }

            fn examples() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend(<$settings>::examples().into_iter().map(MediumSettings::$name));)*
                all
            }
        }
    };
}

media! {
    /// A channel of IEEE 802.11.
    Wifi(WifiSettings),
    /// A bus.
    Bus(BusSettings),
    /// A cell.
    Cell(CellSettings),
}
