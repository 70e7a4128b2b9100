//! Transport options: settings of users, each declared once.
//!
//! The declaration generates [`OptionTable`], the options of a file; [`Options`], with every
//! default filled in; their documentation; and the check of each range. An option takes effect
//! where [`Options`] is read.

use crate::scheduler::Scheduler;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Display;
use units::{Bytes, InvalidParameter, Span, ValidRange, ensure};

/// Makes both structs and their checks from one entry an option: `name: Type = default, range;`. An
/// option without a range takes every value of its type.
macro_rules! options {
    ($($(#[$about:meta])* $name:ident: $type:ty = $default:expr $(, $range:expr)?;)*) => {
        /// Transport options with every default filled in.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        pub struct Options {
            $($(#[$about])* pub $name: $type,)*
        }

        impl Default for Options {
            fn default() -> Self {
                Options { $($name: $default,)* }
            }
        }

        /// Transport options. An option that is left out has the value of the scenario, or else the
        /// default.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Transport")]
        pub struct OptionTable {
            $(
                $(#[$about])*
                #[schemars(extend(
                    "default" = Options::default().$name
                    $(, "range" = $range.right)?
                ))]
                pub $name: Option<$type>,
            )*
        }

        impl OptionTable {
            /// These options; one that is left out has the value in `general`, or else the default.
            pub fn over(&self, general: &OptionTable) -> Options {
                Options {
                    $($name: {
                        let chosen = self.$name.as_ref().or(general.$name.as_ref());
                        chosen.cloned().unwrap_or_else(|| $default)
                    },)*
                }
            }
        }

        impl Options {
            fn check_ranges(&self) -> Result<(), InvalidParameter> {
                $($($range.check(stringify!($name), &self.$name)?;)?)*
                Ok(())
            }
        }
    };
}

options! {
    /// Bytes of a full packet on the wire.
    #[serde(rename(serialize = "packet_bytes"))]
    packet: Bytes = Bytes(1500), PACKET;
    /// Payload bytes of a full packet. The rest of it is the header; an ACK is a header alone.
    #[serde(rename(serialize = "payload_bytes"))]
    payload: Bytes = Bytes(1448), PAYLOAD;
    /// Selective acknowledgements (SACK); without them, loss recovery is NewReno.
    sack: bool = true;
    /// New data on the first two duplicate ACKs (RFC 3042).
    limited_transmit: bool = true;
    /// RACK (RFC 8985 §6): detects losses by time instead of by the number of later segments; needs
    /// `sack`.
    rack: bool = false;
    /// Tail-loss probes (RFC 8985 §7); needs `sack`.
    tlp: bool = false;
    /// Eifel (RFC 3522): detects spurious retransmissions by timestamps, and undoes the window
    /// reductions that came with them.
    eifel: bool = false;
    /// D-SACK (RFC 2883): receivers report segments that arrived twice. A window reduction is
    /// undone when every retransmission arrived twice; needs `sack`.
    dsack: bool = false;
    /// F-RTO (RFC 5682 §3.1): detects spurious timeouts by the ACKs that follow them; needs `sack`.
    frto: bool = false;
    /// Explicit congestion notification (RFC 3168): queues with `ecn` mark packets.
    ecn: bool = false;
    /// Effect on the window of an idle time longer than the retransmission timeout.
    idle: Idle = Idle::Keep;
    /// Longest time that an ACK waits for a second segment. "0 ms" acknowledges every segment;
    /// "linux" adapts the time as Linux does and needs `handshake`. A plan has the constant time,
    /// or null for "linux".
    #[serde(rename(serialize = "delayed_ack_s"))]
    delayed_ack: DelayedAck = DelayedAck::After(Span::ZERO);
    /// Initial window in segments.
    initial_window: f64 = 10.0, WINDOW;
    /// Initial slow-start threshold in segments; without it slow start lasts until the first loss.
    initial_ssthresh: Option<f64> = None, WINDOW;
    /// Smallest window in segments, in congestion avoidance and after a timeout; above
    /// `initial_window` only if `initial_ssthresh` rules out slow start.
    min_window: f64 = 1.0, WINDOW;
    /// Smallest ssthresh of coupled paths in segments, instead of the law's own: 1 under OLIA and
    /// BALIA, 2 under any other. A single path has 2.
    min_ssthresh: Option<f64> = None, WINDOW;
    /// Whether an ACK grows the window as if it acknowledged one segment, as in Linux 3.0.
    /// Otherwise it counts for the segments that it acknowledges, at most two (RFC 3465).
    growth_per_ack: bool = false;
    /// When an ACK ends slow start, the segments that it acknowledges beyond ssthresh count in
    /// congestion avoidance.
    slow_start_carry_over: bool = true;
    /// Smallest retransmission timeout; at most `rto_max`.
    #[serde(rename(serialize = "rto_min_s"))]
    rto_min: Span = Span::millis(200), TIMEOUT;
    /// Whether `rto_min` bounds the whole timeout (RFC 6298) or its variance term (Linux).
    rto_floor: RtoFloor = RtoFloor::Variance;
    /// Largest retransmission timeout.
    #[serde(rename(serialize = "rto_max_s"))]
    rto_max: Span = Span::millis(120_000), TIMEOUT;
    /// Timeout before the first round-trip sample.
    #[serde(rename(serialize = "rto_initial_s"))]
    rto_initial: Span = Span::millis(1_000), TIMEOUT;
    /// Receive buffer of a connection; with `autotune`, its largest size.
    #[serde(rename(serialize = "receive_buffer_bytes"))]
    receive_buffer: Bytes = Bytes(64 << 20), RECEIVE_BUFFER;
    /// Limit on the bytes of one path that wait in the sending host (TCP Small Queues); without it
    /// only the window limits them.
    #[serde(rename(serialize = "small_queue_bytes"))]
    small_queue: Option<Bytes> = None, SMALL_QUEUE;
    /// The same limit as a time: the bytes that the path sends in it at the pacing rate of Linux,
    /// at least two packets (TCP Small Queues since 2013).
    #[serde(rename(serialize = "small_queue_time_s"))]
    small_queue_time: Option<Span> = None, SMALL_QUEUE_TIME;
    /// The receive buffer begins with 128 KiB and grows to twice the data of a round trip.
    autotune: bool = false;
    /// Connections and joins begin with their handshakes; otherwise they are established at once.
    handshake: bool = false;
    /// Opportunistic retransmission: when the receive window is full, the data that the receiver
    /// waits for is also sent on another path (Raiciu et al. 2012).
    opportunistic: bool = false;
    /// Penalisation: an opportunistic retransmission also halves the window of the path that holds
    /// this data up; needs `opportunistic`.
    penalise: bool = false;
    /// Suspends a path on which far less data is acknowledged than before, while another path does
    /// better. The path is used again when a probe on it is answered.
    suspend: bool = false;
    /// Packet scheduler: it chooses the path of the next data.
    scheduler: Scheduler = Scheduler::default();
}

const PACKET: ValidRange<Bytes> = ValidRange {
    holds: |packet| (1..=65_535).contains(&packet.0),
    right: "a packet has 1 to 65535 bytes",
};

const PAYLOAD: ValidRange<Bytes> = ValidRange {
    holds: |payload| payload.0 > 0,
    right: "it is above 0 B and leaves room for headers in `packet`",
};

const WINDOW: ValidRange<f64> = ValidRange {
    holds: |segments| (1.0..=1e9).contains(segments),
    right: "it is at least 1 segment",
};

const TIMEOUT: ValidRange<Span> =
    ValidRange { holds: |span| *span > Span::ZERO, right: "it is above zero, such as \"200 ms\"" };

const RECEIVE_BUFFER: ValidRange<Bytes> =
    ValidRange { holds: |buffer| buffer.0 > 0, right: "at least one payload must fit" };

const SMALL_QUEUE: ValidRange<Bytes> = ValidRange {
    holds: |limit| limit.0 > 0,
    right: "it is above 0 B: the last packet may exceed it",
};

const SMALL_QUEUE_TIME: ValidRange<Span> =
    ValidRange { holds: |span| *span > Span::ZERO, right: "it is above zero, such as \"1 ms\"" };

impl Options {
    /// Payload bytes of a full segment.
    #[inline(always)] // runs for every segment
    pub fn segment(&self) -> u32 {
        self.payload.0 as u32
    }

    /// The settings of congestion control among them, for a connection whose path `base` begins as
    /// a TCP under schemes with a base flow.
    pub fn control(&self, base: usize) -> control::Settings {
        control::Settings {
            min_window: self.min_window,
            min_ssthresh: self.min_ssthresh,
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh.unwrap_or(f64::INFINITY),
            carry_over: self.slow_start_carry_over,
            growth_per_ack: self.growth_per_ack,
            base,
        }
    }

    /// Checks every range, and combinations of options.
    ///
    /// # Errors
    /// The option that is wrong.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        self.check_ranges()?;
        let wrong = |key, value: &dyn Display, right| ensure(false, key, value, right);
        if self.payload >= self.packet {
            return wrong("payload", &self.payload, PAYLOAD.right);
        }
        let need_sack =
            [("rack", self.rack), ("tlp", self.tlp), ("dsack", self.dsack), ("frto", self.frto)];
        if let Some((field, _)) = need_sack.into_iter().find(|(_, on)| *on && !self.sack) {
            return wrong(field, &"true without sack", "it needs SACK: leave out `sack = false`");
        }
        if self.penalise && !self.opportunistic {
            let right = "set `opportunistic = true` too";
            return wrong("penalise", &"true without opportunistic", right);
        }
        if self.receive_buffer < self.payload {
            return wrong("receive_buffer", &self.receive_buffer, RECEIVE_BUFFER.right);
        }
        // Slow start begins with the initial window and has no floor.
        let slow_start = self.initial_ssthresh.is_none_or(|end| end > self.initial_window);
        if self.min_window > self.initial_window && slow_start {
            let right = "it is at most `initial_window`: raise that too, or rule out slow start \
                         with an `initial_ssthresh` that is not above it";
            return wrong("min_window", &self.min_window, right);
        }
        if self.delayed_ack == DelayedAck::AsLinux && !self.handshake {
            let right =
                "set `handshake = true` too: a receiver measures the round trip in the handshake";
            return wrong("delayed_ack", &"linux without handshake", right);
        }
        if self.rto_min > self.rto_max {
            return wrong("rto_min", &self.rto_min, "it is at most rto_max");
        }
        self.scheduler.check()
    }
}

/// When a receiver acknowledges segments in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "Option<Span>")]
pub enum DelayedAck {
    /// The second at once, one alone after a constant time (RFC 1122 §4.2.3.2); after zero each.
    After(Span),
    /// As Linux does: quick ACKs and a timer that adapts (`linux_ack.rs`).
    AsLinux,
}

impl TryFrom<String> for DelayedAck {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "linux" {
            return Ok(DelayedAck::AsLinux);
        }
        match text.parse() {
            Ok(time) => Ok(DelayedAck::After(time)),
            Err(error) => Err(format!("{error}; it is a time such as \"40 ms\", or \"linux\"")),
        }
    }
}

impl From<DelayedAck> for Option<Span> {
    fn from(rule: DelayedAck) -> Self {
        match rule {
            DelayedAck::After(time) => Some(time),
            DelayedAck::AsLinux => None,
        }
    }
}

impl JsonSchema for DelayedAck {
    fn schema_name() -> Cow<'static, str> {
        "DelayedAck".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            return Option::<Span>::json_schema(generator);
        }
        let time = generator.subschema_for::<Span>();
        json_schema!({ "anyOf": [time, { "type": "string", "const": "linux" }] })
    }
}

/// Effect of an idle time on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Idle {
    /// The window does not change.
    Keep,
    /// The window falls to the initial window (RFC 5681 §4.1).
    Restart,
    /// The window is halved for each retransmission timeout of idle time, down to the initial
    /// window (RFC 2861, Linux).
    Decay,
}

/// Where the minimum of the timeout applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// `RTO = SRTT + max(4 RTTVAR, minimum)`, as Linux does.
    Variance,
    /// `RTO = max(SRTT + 4 RTTVAR, minimum)`, RFC 6298 §2.4.
    Total,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_flow_leaves_out_is_the_scenarios_and_then_the_default() {
        let flow = OptionTable { rto_min: Some(Span::millis(1)), ..OptionTable::default() };
        let general = OptionTable {
            rto_min: Some(Span::millis(2)),
            small_queue: Some(Some(Bytes(3000))),
            ..OptionTable::default()
        };
        let chosen = flow.over(&general);
        assert_eq!((chosen.rto_min, chosen.small_queue), (Span::millis(1), Some(Bytes(3000))));
        let rest = Options {
            rto_min: chosen.rto_min,
            small_queue: chosen.small_queue,
            ..Options::default()
        };
        assert_eq!(chosen, rest);
    }

    #[test]
    fn a_delayed_ack_is_a_time_or_linux() {
        let read = |text: &str| DelayedAck::try_from(text.to_owned());
        assert_eq!(read("40 ms"), Ok(DelayedAck::After(Span::millis(40))));
        assert_eq!(read("linux"), Ok(DelayedAck::AsLinux));
        assert!(read("windows").unwrap_err().contains("or \"linux\""));
    }

    #[test]
    fn defaults_are_right_and_what_does_not_go_together_is_not() {
        assert_eq!(Options::default().check(), Ok(()));
        let wrong = |options: Options| options.check().unwrap_err().key;
        assert_eq!(wrong(Options { frto: true, sack: false, ..Options::default() }), "frto");
        assert_eq!(wrong(Options { packet: Bytes(1448), ..Options::default() }), "payload");
        assert_eq!(
            wrong(Options { small_queue: Some(Bytes(0)), ..Options::default() }),
            "small_queue"
        );
        let delayed_ack = DelayedAck::AsLinux;
        assert_eq!(wrong(Options { delayed_ack, ..Options::default() }), "delayed_ack");
        assert_eq!(wrong(Options { penalise: true, ..Options::default() }), "penalise");
    }
}
