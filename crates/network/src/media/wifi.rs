//! The parameters of a Wi-Fi network in a scenario: one 802.11 channel, with or without routing
//! over it.

use crate::adhoc::{Adhoc, AdhocSettings, Routing};
use crate::dot11::{AfterCollision, Channel, ChannelSettings, ModeChoice, Phy, PhyKind};
use crate::radio::Radio;
use crate::shared::{Ends, Kind, SharedMedium, Station};
use crate::{Packet, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// Margin in dB of the signal over the threshold of the mode that the ideal rate control chooses.
const MARGIN_DB: f64 = 2.0;

/// An amendment of IEEE 802.11.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
pub enum Standard {
    /// 2.4 GHz, up to 11 Mb/s, long preamble.
    #[serde(rename = "b")]
    B,
    /// As `b`, with the short preamble.
    #[serde(rename = "b-short")]
    BShort,
    /// 5 GHz, OFDM, up to 54 Mb/s.
    #[serde(rename = "a")]
    A,
    /// 2.4 GHz, OFDM, up to 54 Mb/s.
    #[serde(rename = "g")]
    G,
    /// As `g` with stations of `b` present: long slots, and a CTS to self before each frame.
    #[serde(rename = "g-protected")]
    GProtected,
    /// 2.4 GHz, HT with aggregation.
    #[serde(rename = "n-2.4")]
    N2,
    /// 5 GHz, HT with aggregation.
    #[serde(rename = "n-5")]
    N5,
}

/// How the rate of a packet is chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum RateControl {
    /// Always the same rate.
    #[default]
    Fixed,
    /// Auto rate fallback: a faster rate after ten packets that were acknowledged, a slower rate
    /// after two that were not.
    Arf,
    /// The fastest rate that the signal allows with a margin of 2 dB; needs `radio`.
    Ideal,
}

/// A channel of IEEE 802.11.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "PlanWifi")]
pub struct WifiSettings {
    /// The amendment of the standard.
    pub standard: Standard,
    /// A channel of 40 MHz.
    pub wide: bool,
    /// A guard interval of 400 ns.
    pub short_guard: bool,
    /// Spatial streams.
    pub streams: u32,
    /// Rate at which data is sent, one of the standard's rates.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// How stations choose the rate of a packet.
    pub control: RateControl,
    /// Rate at which broadcasts are sent, one of the standard's rates.
    #[serde(rename = "broadcast_bps")]
    pub broadcast: Rate,
    /// Attempts to send a packet, at least 1.
    pub attempts: u32,
    /// How long a sender waits for an acknowledgement to begin; null for the time of the standard.
    #[serde(rename = "ack_timeout_s")]
    pub ack_timeout: Option<Span>,
    /// How long the other stations wait after a collision.
    pub after_collision: AfterCollision,
    /// Propagation, with the loss at one metre.
    pub radio: Option<Radio>,
    /// Routing of packets, if links are not single hops.
    pub routing: Option<Routing>,
    /// The stations that are access points.
    #[serde(skip)]
    pub access: Vec<usize>,
}

impl Standard {
    /// Whether it is n.
    pub fn high_throughput(self) -> bool {
        matches!(self, Standard::N2 | Standard::N5)
    }

    /// Whether its channels are at 5 GHz instead of 2.4.
    pub fn five_ghz(self) -> bool {
        matches!(self, Standard::A | Standard::N5)
    }

    /// Path loss at one metre in dB.
    pub fn loss_at_1m_db(self) -> f64 {
        if self.five_ghz() { 46.7 } else { 40.0 }
    }

    /// Its rates, from slowest to fastest. The options are those of n.
    pub fn rates(self, wide: bool, short_guard: bool, streams: u32) -> Vec<Rate> {
        let phy = Phy::new(self.phy(wide, short_guard, streams));
        phy.modes.iter().map(|mode| mode.rate).collect()
    }

    fn phy(self, wide: bool, short_guard: bool, streams: u32) -> PhyKind {
        match self {
            Standard::B => PhyKind::B { short_preamble: false },
            Standard::BShort => PhyKind::B { short_preamble: true },
            Standard::A => PhyKind::A,
            Standard::G => PhyKind::G { protected: false },
            Standard::GProtected => PhyKind::G { protected: true },
            Standard::N2 | Standard::N5 => {
                let (five_ghz, streams) = (self.five_ghz(), streams as u8);
                PhyKind::N { five_ghz, wide, short_guard, streams }
            }
        }
    }
}

impl WifiSettings {
    fn channel(&self) -> ChannelSettings {
        let kind = self.standard.phy(self.wide, self.short_guard, self.streams);
        let phy = Phy::new(kind);
        let mode = |rate| phy.mode(rate).unwrap_or_default();
        ChannelSettings {
            phy: kind,
            mode: match self.control {
                RateControl::Fixed => ModeChoice::Fixed(mode(self.rate)),
                RateControl::Arf => ModeChoice::Arf,
                RateControl::Ideal => ModeChoice::Ideal(MARGIN_DB),
            },
            broadcast: mode(self.broadcast),
            attempts: self.attempts,
            ack_timeout: self.ack_timeout,
            after_collision: self.after_collision,
            radio: self.radio,
        }
    }
}

impl Kind for WifiSettings {
    fn build<P: Packet>(
        &self,
        stations: &[Station],
        links: &[Ends],
        rng: &mut dyn Rng,
    ) -> Box<dyn SharedMedium<P>> {
        let channel = self.channel();
        match self.routing {
            Some(routing) => {
                let settings = AdhocSettings { channel, routing, access: self.access.clone() };
                Box::new(Adhoc::new(settings, stations, links.to_vec(), rng))
            }
            None => {
                let links: Vec<_> =
                    links.iter().map(Ends::first).map(|(from, to)| (from, Some(to))).collect();
                Box::new(Channel::new(channel, stations, &links, rng))
            }
        }
    }

    fn examples() -> Vec<Self> {
        let rates = Standard::N5.rates(false, false, 1);
        let plain = WifiSettings {
            standard: Standard::N5,
            wide: false,
            short_guard: false,
            streams: 1,
            rate: rates[3],
            control: RateControl::Fixed,
            broadcast: rates[0],
            attempts: 4,
            ack_timeout: None,
            after_collision: AfterCollision::Eifs,
            radio: None,
            routing: None,
            access: Vec::new(),
        };
        let propagation = WifiSettings {
            radio: Some(Radio::default()),
            control: RateControl::Arf,
            ..plain.clone()
        };
        let routed = |routing| WifiSettings { routing: Some(routing), ..propagation.clone() };
        let mut all: Vec<_> = [Routing::Oracle, Routing::Aodv, Routing::Olsr].map(routed).into();
        all.push(WifiSettings { access: vec![0], ..routed(Routing::Association) });
        all.extend([plain, propagation]);
        all
    }
}
