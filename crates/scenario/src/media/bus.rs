//! Buses shared by stations.

use super::example::Alternatives;
use super::{MOST_STATIONS, MediumTable};
use crate::error::Error;
use crate::link::Links;
use crate::name::Name;
use crate::queue::check_host_queue;
use crate::report::Located;
use crate::station::PlanStation;
use network::{BusSettings, DropTail, MediumSettings, Queue};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Described, Rate, Span};

/// A shared Ethernet that carries one frame at a time (CSMA as ns-3 models it). Its stations are
/// the nodes at the ends of its links, and the nodes in `nodes`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Name by which links refer to it, as their `medium`.
    pub name: Name,
    /// Rate at which frames are sent.
    pub rate: Rate,
    /// Propagation delay between any two stations, during which the bus stays busy.
    #[serde(default)]
    pub delay: Span,
    /// The queue of each station; by default drop-tail of 100 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Further nodes on the bus, which are not ends of links.
    #[serde(default)]
    pub nodes: Vec<Name>,
}

/// The queue of a device on a bus, as in ns-3.
const BUS_QUEUE: Queue = Queue::DropTail(DropTail::of(100));

impl MediumTable for Bus {
    fn described() -> Described {
        Described {
            names: &["bus"],
            summary: "Buses that stations share.",
            source: "ns-3, module csma (CsmaChannel, CsmaNetDevice)",
        }
    }

    fn examples() -> &'static [(&'static str, Alternatives)] {
        &[(
            "base",
            &[
                &["rate = '1 Mb/s'", "rate = '10 Mb/s'", "rate = '100 Mb/s'"],
                &["", "delay = '9 us'", "delay = '450 us'"],
                &["", "nodes = ['points']"],
            ],
        )]
    }

    fn name(&self) -> &Name {
        &self.name
    }

    fn stations(&self, links: Links<'_>) -> Vec<String> {
        links.stations(&self.name.text, &self.nodes)
    }

    fn check(&self, links: Links<'_>) -> Result<(), Located> {
        let name = &self.name.text;
        match self.stations(links).len() {
            2..=MOST_STATIONS => {}
            0 | 1 => {
                let error = Error::new(format!("bus `{name}` has no stations"));
                let help = format!("write links with `medium = \"{name}\"`, `from` and `to`");
                return Err(Located::at(&self.name, error.help(help)));
            }
            many => {
                let error = Error::new(format!("bus `{name}` has {many} stations"));
                return Err(Located::at(&self.name, error.help("a bus has at most 1000")));
            }
        }
        let queue = self.queue.as_ref().map_or(Ok(()), check_host_queue);
        queue.map_err(|wrong| wrong.of("bus", name))
    }

    fn expand(&self, _links: Links<'_>, _stations: &[String]) -> MediumSettings {
        MediumSettings::Bus(BusSettings { rate: self.rate, delay: self.delay })
    }

    fn expand_station(&self, links: Links<'_>, name: &str) -> PlanStation {
        PlanStation::bare(links, name, self.queue.clone().unwrap_or(BUS_QUEUE))
    }
}
