//! Timing of the physical layers of IEEE 802.11: the air time of a frame.
//!
//! Source: IEEE 802.11-2012, clauses 17 (DSSS and HR/DSSS: b), 18 (OFDM: a), 19 (ERP: g) and 20
//! (HT: n). A frame of `bytes` is an IP packet with LLC/SNAP, MAC header and frame check sequence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// LLC/SNAP (8 bytes), MAC header (24) and frame check sequence (4) around an IP packet.
const ENVELOPE: u32 = 36;
/// With QoS control, for n.
const QOS_ENVELOPE: u32 = 38;
/// Bytes of an acknowledgement, and of a clear-to-send.
const ACK: u32 = 14;
/// Bytes of a compressed block acknowledgement.
const BLOCK_ACK: u32 = 32;
/// Bytes before each frame inside an aggregate; the frame is padded to whole words.
const DELIMITER: u32 = 4;
/// Bytes of the largest aggregate.
const LARGEST_AGGREGATE: u32 = 65_535;
/// Frames that one block acknowledgement can name.
const BLOCK: usize = 64;
/// Longest transmission of an aggregate (`aPPDUMaxTime` in the mixed format; §20.4.3).
const LONGEST: Span = Span(5_484_000);

/// The amendment of 802.11, with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhyKind {
    /// Up to 11 Mb/s at 2.4 GHz.
    B {
        /// 96 µs before each frame instead of 192.
        short_preamble: bool,
    },
    /// OFDM at 5 GHz.
    A,
    /// OFDM at 2.4 GHz.
    G {
        /// Stations of b are present: long slots, and a CTS to self at 2 Mb/s before each frame.
        protected: bool,
    },
    /// HT in the mixed format, with aggregates of frames.
    N {
        /// At 5 GHz instead of 2.4.
        five_ghz: bool,
        /// A channel of 40 MHz instead of 20.
        wide: bool,
        /// A guard interval of 400 ns instead of 800.
        short_guard: bool,
        /// Spatial streams, 1 to 4.
        streams: u8,
    },
}

/// A modulation and coding of bits on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Its rate.
    pub rate: Rate,
    /// Bits of a symbol; `None` for DSSS, which has no symbols of several bits.
    bits_per_symbol: Option<u32>,
    /// Signal-to-noise ratio in dB at which half of all frames of 1500 bytes are received.
    pub threshold_db: f64,
    /// Duration of the acknowledgement of a frame in this mode.
    pub ack: Span,
    /// Duration of the block acknowledgement of an aggregate in this mode.
    pub block_ack: Span,
}

/// Interframe space that the other stations wait after transmissions that began within one slot,
/// before they count slots again.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum AfterCollision {
    /// EIFS, as after any frame that a station cannot decode (IEEE 802.11-2012 §9.3.2.3.7).
    #[default]
    Eifs,
    /// DIFS, as in ns-3 by default for frames of similar power: its receivers detect no preamble in
    /// frames that begin together, so no reception fails.
    //
    // ns-3 (ns-3-dev, commit 01138ef) waits EIFS after a reception that ended with an error
    // (channel-access-manager.cc, `GetAccessGrantStart` and `NotifyRxEndErrorNow`), and a reception
    // begins only when a preamble was detected. Since ns-3.30 that needs by default 4 dB of signal
    // to noise and interference and −82 dBm over the first 4 µs (wifi-helper.cc, `WifiPhyHelper`;
    // threshold-preamble-detection-model.cc; phy-entity.cc, `EndPreambleDetectionPeriod`). A
    // station at which one frame is 4 dB stronger than the others and noise receives it, and waits
    // EIFS if that fails, as do all stations after `DisablePreambleDetectionModel`.
    Difs,
}

/// Timing of one standard.
#[derive(Clone, Debug, PartialEq)]
pub struct Phy {
    /// A slot: the time in which a station notices that another station has begun.
    pub slot: Span,
    /// Between a frame and its acknowledgement.
    pub sifs: Span,
    /// Largest backoff in slots, of a first attempt and of the last attempts.
    pub cw: (u32, u32),
    /// From slowest to fastest.
    pub modes: Vec<Mode>,
    /// Preamble and header before each frame, and signal extension after it.
    overhead: Span,
    symbol: Span,
    /// Announcement of each frame.
    protection: Span,
    /// How long a station waits for an acknowledgement to begin.
    pub ack_timeout: Span,
    /// How long other stations wait after a collision.
    pub after_collision: AfterCollision,
    /// Acknowledgement at the lowest basic rate.
    slowest_ack: Span,
    envelope: u32,
    aggregates: bool,
}

/// Bits of an OFDM symbol at 6 to 54 Mb/s, and the thresholds.
const OFDM: [(u32, f64); 8] = [
    (24, 6.0),
    (36, 8.0),
    (48, 10.0),
    (72, 12.0),
    (96, 16.0),
    (144, 19.0),
    (192, 24.0),
    (216, 25.0),
];
/// Bits of an HT symbol of one stream (MCS 0 to 7) in 20 and 40 MHz; thresholds as those
/// modulations have in OFDM.
const HT: [(u32, u32, f64); 8] = [
    (26, 54, 6.0),
    (52, 108, 10.0),
    (78, 162, 12.0),
    (104, 216, 16.0),
    (156, 324, 19.0),
    (208, 432, 24.0),
    (234, 486, 25.0),
    (260, 540, 27.0),
];
/// Rates of b in bit/s, and thresholds from usual sensitivities.
const DSSS: [(u64, f64); 4] =
    [(1_000_000, 1.0), (2_000_000, 4.0), (5_500_000, 6.0), (11_000_000, 9.0)];

const fn micros(us: u64) -> Span {
    Span(us * 1_000)
}

/// Whole symbols for service bits, bytes and tail.
fn symbols(bytes: u32, bits_per_symbol: u32) -> u64 {
    u64::from((16 + 8 * bytes + 6).div_ceil(bits_per_symbol))
}

fn ofdm(bytes: u32, bits_per_symbol: u32, extension: Span) -> Span {
    micros(20 + 4 * symbols(bytes, bits_per_symbol)) + extension
}

/// Rounded up to whole microseconds, as in the header of the frame.
fn dsss(bytes: u32, rate: u64, preamble: Span) -> Span {
    preamble + micros((8_000_000 * u64::from(bytes)).div_ceil(rate))
}

/// Bits per symbol of the highest basic rate (6, 12 or 24 Mb/s) that is not above
/// `bits_per_symbol`.
fn control(bits_per_symbol: u32) -> u32 {
    [96, 48].into_iter().find(|bits| *bits <= bits_per_symbol).unwrap_or(24)
}

impl Phy {
    /// The timing of `standard`.
    pub fn new(standard: PhyKind) -> Phy {
        match standard {
            PhyKind::B { short_preamble } => Phy::dsss(short_preamble),
            PhyKind::A => Phy::ofdm(micros(16), Span::ZERO),
            PhyKind::G { protected: false } => Phy::ofdm(micros(10), micros(6)),
            PhyKind::G { protected: true } => {
                let phy = Phy::ofdm(micros(10), micros(6));
                let protection = dsss(ACK, 2_000_000, micros(192)) + phy.sifs;
                let slot = micros(20);
                Phy { slot, protection, ack_timeout: phy.ack_timeout - phy.slot + slot, ..phy }
            }
            PhyKind::N { five_ghz, wide, short_guard, streams } => {
                let (sifs, extension) = match five_ghz {
                    true => (micros(16), Span::ZERO),
                    false => (micros(10), micros(6)),
                };
                Phy::ht(
                    Phy::ofdm(sifs, extension),
                    extension,
                    wide,
                    short_guard,
                    streams.clamp(1, 4),
                )
            }
        }
    }

    fn dsss(short_preamble: bool) -> Phy {
        let preamble = micros(if short_preamble { 96 } else { 192 });
        let (slot, sifs) = (micros(20), micros(10));
        let mode = |(rate, threshold_db): (u64, f64)| {
            let ack = dsss(ACK, rate.min(2_000_000), preamble);
            Mode { rate: Rate(rate), bits_per_symbol: None, threshold_db, ack, block_ack: ack }
        };
        Phy {
            slot,
            sifs,
            cw: (31, 1023),
            modes: DSSS.into_iter().map(mode).collect(),
            overhead: preamble,
            symbol: Span::ZERO,
            protection: Span::ZERO,
            ack_timeout: sifs + slot + preamble,
            after_collision: AfterCollision::Eifs,
            slowest_ack: dsss(ACK, 1_000_000, preamble),
            envelope: ENVELOPE,
            aggregates: false,
        }
    }

    fn ofdm(sifs: Span, extension: Span) -> Phy {
        let slot = micros(9);
        let mode = |(bits, threshold_db): (u32, f64)| Mode {
            rate: Rate(u64::from(bits) * 250_000),
            bits_per_symbol: Some(bits),
            threshold_db,
            ack: ofdm(ACK, control(bits), extension),
            block_ack: ofdm(BLOCK_ACK, control(bits), extension),
        };
        Phy {
            slot,
            sifs,
            cw: (15, 1023),
            modes: OFDM.into_iter().map(mode).collect(),
            overhead: micros(20) + extension,
            symbol: micros(4),
            protection: Span::ZERO,
            ack_timeout: sifs + slot + micros(25), // aPHY-RX-START-Delay
            after_collision: AfterCollision::Eifs,
            slowest_ack: ofdm(ACK, 24, extension),
            envelope: ENVELOPE,
            aggregates: false,
        }
    }

    fn ht(base: Phy, extension: Span, wide: bool, short_guard: bool, streams: u8) -> Phy {
        let symbol = Span(if short_guard { 3_600 } else { 4_000 });
        let mode = |(narrow, doubled, threshold_db): (u32, u32, f64)| {
            let bits = u32::from(streams) * if wide { doubled } else { narrow };
            Mode {
                rate: Rate(u64::from(bits) * 1_000_000_000 / symbol.0),
                bits_per_symbol: Some(bits),
                threshold_db,
                ack: ofdm(ACK, control(bits), extension),
                block_ack: ofdm(BLOCK_ACK, control(bits), extension),
            }
        };
        // One long training field for each stream, four for three.
        let fields = if streams == 3 { 4 } else { u64::from(streams) };
        Phy {
            modes: HT.into_iter().map(mode).collect(),
            overhead: micros(32 + 4 * fields) + extension,
            symbol,
            envelope: QOS_ENVELOPE,
            aggregates: true,
            ..base
        }
    }

    /// Idle time before a backoff.
    pub fn difs(&self) -> Span {
        self.sifs + self.slot + self.slot
    }

    /// Idle time before a backoff, after a frame that could not be decoded.
    pub fn eifs(&self) -> Span {
        self.sifs + self.slowest_ack + self.difs()
    }

    /// Bytes on the air of an IP packet.
    pub fn framed(&self, packet: u32) -> u32 {
        packet + self.envelope
    }

    /// Bytes that a packet adds to an aggregate.
    pub fn padded(&self, packet: u32) -> u32 {
        DELIMITER + self.framed(packet).next_multiple_of(4)
    }

    /// Most packets in one transmission.
    pub fn most_aggregated(&self) -> usize {
        if self.aggregates { BLOCK } else { 1 }
    }

    /// Whether an aggregate of this many bytes may be sent in `mode`.
    pub fn fits(&self, bytes: u32, mode: usize) -> bool {
        bytes <= LARGEST_AGGREGATE && self.duration(bytes, mode) <= LONGEST
    }

    /// Air time in `mode` of a frame with this many bytes on the air.
    #[inline] // runs for every frame
    pub fn duration(&self, bytes: u32, mode: usize) -> Span {
        let mode = &self.modes[mode];
        let content = match mode.bits_per_symbol {
            Some(bits) => Span(self.symbol.0 * symbols(bytes, bits)),
            None => dsss(bytes, mode.rate.0, Span::ZERO),
        };
        self.protection + self.overhead + content
    }

    /// The mode with this rate, to a tenth of a megabit.
    pub fn mode(&self, rate: Rate) -> Option<usize> {
        let tenths = |rate: Rate| (rate.0 + 50_000) / 100_000;
        self.modes.iter().position(|mode| tenths(mode.rate) == tenths(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fastest(standard: PhyKind, packet: u32) -> (Span, Span) {
        let phy = Phy::new(standard);
        let mode = phy.modes.len() - 1;
        (phy.duration(phy.framed(packet), mode), phy.modes[mode].ack)
    }

    #[test]
    fn a_full_packet_takes_what_the_standard_s_formula_says() {
        // 192 + ⌈1536 · 8 / 11⌉ and 192 + 14 · 8 / 2; 20 + 4 ⌈(16 + 8 · 1536 + 6) / 216⌉ and 20 + 4
        // ⌈134 / 96⌉.
        let b = fastest(PhyKind::B { short_preamble: false }, 1500);
        assert_eq!(b, (micros(1310), micros(248)));
        assert_eq!(fastest(PhyKind::B { short_preamble: true }, 1500), (micros(1214), micros(152)));
        assert_eq!(fastest(PhyKind::A, 1500), (micros(248), micros(28)));
        assert_eq!(fastest(PhyKind::G { protected: false }, 1500), (micros(254), micros(34)));
        // CTS at 2 Mb/s and SIFS before it: 192 + 56 + 10.
        assert_eq!(fastest(PhyKind::G { protected: true }, 1500), (micros(254 + 258), micros(34)));
    }

    #[test]
    fn interframe_spaces_are_those_of_the_standard() {
        let spaces = |standard| {
            let phy = Phy::new(standard);
            [phy.slot, phy.sifs, phy.difs(), phy.eifs(), phy.ack_timeout].map(|span| span.0 / 1000)
        };
        assert_eq!(spaces(PhyKind::B { short_preamble: false }), [20, 10, 50, 364, 222]);
        assert_eq!(spaces(PhyKind::A), [9, 16, 34, 94, 50]);
        assert_eq!(spaces(PhyKind::G { protected: false }), [9, 10, 28, 88, 44]);
        assert_eq!(spaces(PhyKind::G { protected: true })[..3], [20, 10, 50]);
    }

    #[test]
    fn rates_of_n_are_those_of_its_tables() {
        let rates = |wide, short_guard, streams| {
            let n = PhyKind::N { five_ghz: true, wide, short_guard, streams };
            let modes = Phy::new(n).modes;
            [modes[0].rate, modes[7].rate].map(|rate| (rate.0 + 50_000) / 100_000)
        };
        assert_eq!(rates(false, false, 1), [65, 650]);
        assert_eq!(rates(false, true, 1), [72, 722]);
        assert_eq!(rates(true, false, 1), [135, 1350]);
        assert_eq!(rates(true, true, 2), [300, 3000]);
        let n =
            Phy::new(PhyKind::N { five_ghz: true, wide: false, short_guard: false, streams: 1 });
        assert_eq!(n.mode(Rate(65_000_000)), Some(7));
        assert_eq!(n.mode(Rate(11_000_000)), None);
        assert_eq!(n.duration(n.framed(1500), 7), micros(36 + 4 * 48));
    }

    #[test]
    fn acknowledgements_use_the_highest_basic_rate_below_that_of_the_data() {
        let g = Phy::new(PhyKind::A);
        let acks: Vec<u64> = g.modes.iter().map(|mode| mode.ack.0 / 1000).collect();
        assert_eq!(acks, [44, 44, 32, 32, 28, 28, 28, 28]);
    }
}
