//! The registry of shared media: one line for each kind.
//!
//! A kind is a file here: its parameters, which the plan holds unchanged, and the element that they
//! build. Code common to all kinds is in `shared.rs`.

#[cfg(test)]
mod tests;

use crate::shared::{Ends, Kind, SharedMedium, Station};
use crate::{Packet, Rng};
use schemars::JsonSchema;
use serde::Serialize;

/// Registers kinds of media: what a plan calls it, its file, and its parameters there.
macro_rules! media {
    ($($name:ident: $file:ident::$settings:ident),* $(,)?) => {
        $(pub(crate) mod $file; pub use $file::$settings;)*

        /// The parameters of a shared medium of any kind.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[schemars(rename = "PlanKind")]
        #[serde(tag = "kind", rename_all = "lowercase")]
        pub enum MediumSettings {
            $(
                #[allow(missing_docs, reason = "the parameters are documented in their file")]
                $name($file::$settings),
            )*
        }

        impl Kind for MediumSettings {
            fn build<P: Packet>(
                &self,
                stations: &[Station],
                links: &[Ends],
                rng: &mut dyn Rng,
            ) -> Box<dyn SharedMedium<P>> {
                match self {
                    $(MediumSettings::$name(settings) => settings.build(stations, links, rng),)*
                }
            }

            fn examples() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($file::$settings::examples().into_iter().map(MediumSettings::$name));)*
                all
            }
        }
    };
}

media! {
    Wifi: wifi::WifiSettings,
    Bus: bus::BusSettings,
    Cell: cell::CellSettings,
}
