//! Queues: the registry of their kinds, one file each, one line each.
//!
//! A kind decides when a packet arrives, or when it departs. On arrival it sees the backlog and
//! accepts the packet, marks it or drops it; accepted packets wait in order, outside of it. On
//! departure it holds the packets itself, and may drop some of them instead of sending them. Before
//! a transmitter the first way is cheaper: when a packet will come out is then known as soon as it
//! arrives (see `link.rs`).

use crate::{Packet, Rng};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, DeserializeOwned, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use units::{Described, InvalidParameter, Packets, Rate, Time, ValidRange, name};

mod fifo;

pub(crate) use fifo::{Dropped, Fifo};

/// The trait of all kinds: the parameters of a queue in a scenario.
pub(crate) trait Kind:
    Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema
{
    const DESCRIBED: Described;

    /// Whether a host may have this kind. A host does not know when its driver falls idle, nor how
    /// long it takes to send its backlog.
    const FOR_HOSTS: bool = true;

    /// Checks that the parameters can be used.
    fn check(&self) -> Result<(), InvalidParameter>;

    /// A short queue for tests: it holds `limit` packets at most and acts within milliseconds. With
    /// `ecn` it marks packets, if the kind can mark.
    fn short(limit: u64, ecn: bool) -> Self;
}

/// A kind that decides when a packet arrives.
pub(crate) trait ArrivalKind: Kind {
    type State: JudgeArrival + fmt::Debug;

    /// An empty queue before a transmitter of this rate, if it has one.
    fn start(&self, rate: Option<Rate>) -> Self::State;
}

/// A kind that decides when a packet departs.
pub(crate) trait DepartureKind: Kind {
    /// The running queue; it implements [`HoldPackets`].
    type State<P>;

    /// An empty queue.
    fn start<P: Packet>(&self) -> Self::State<P>;
}

/// A running queue that decides when a packet arrives.
pub(crate) trait JudgeArrival {
    /// While fewer packets than this wait, it accepts every arrival and need not be called.
    fn unasked(&self) -> u32 {
        0
    }

    /// At least one packet was accepted without a call since the last one.
    fn accepted_unasked(&mut self) {}

    fn judge(&mut self, arrival: Arrival, rng: &mut impl Rng) -> Verdict;
}

/// A running queue that decides when a packet departs.
pub(crate) trait HoldPackets<P> {
    /// Accepts a packet if there is room; returns whether it does. Other packets dropped for it go
    /// to `dropped`.
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Dropped<P>) -> bool;

    /// The next packet to send. Packets that are dropped before it go to `dropped`.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P>;

    /// Waiting packets and their bytes.
    fn backlog(&self) -> (u64, u64);
}

/// The waiting packets, without the one in transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the transmitter falls idle; later than now while it is busy.
    pub idle_since: Time,
}

/// An arriving packet, and the queue that it finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) now: Time,
    pub(crate) bytes: u32,
    /// Whether it can be marked.
    pub(crate) ecn_capable: bool,
    pub(crate) backlog: Backlog,
}

/// The verdict of a queue on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accept,
    /// Accepts it and marks it (CE).
    Mark,
    Drop,
}

/// A running queue.
pub(crate) enum State<P> {
    Unlimited,
    Arrival(ArrivalQueue),
    Departure(DepartureQueue<P>),
}

/// The name of the queue without a limit, which has no parameters.
const UNLIMITED: &str = "unlimited";

/// Makes the enums over all kinds, their dispatch and their texts, from one line a kind.
macro_rules! queues {
    (
        on arrival { $($afile:ident::$akind:ident),+ $(,)? }
        on departure { $($dfile:ident::$dkind:ident),+ $(,)? }
    ) => {
        $(mod $afile;)+
        $(mod $dfile;)+
        $(pub use $afile::$akind;)+
        $(pub use $dfile::$dkind;)+

        /// A queue discipline. Its limits count waiting packets, without the packet in
        /// transmission.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum Queue {
            /// No limit.
            #[default]
            Unlimited,
            $(#[doc = concat!("See `", stringify!($afile), ".rs`.")] $akind($akind),)+
            $(#[doc = concat!("See `", stringify!($dfile), ".rs`.")] $dkind($dkind),)+
        }

        /// Any queue that decides when a packet arrives; dispatch is a match.
        #[derive(Debug)]
        pub(crate) enum ArrivalQueue {
            $($akind(<$akind as ArrivalKind>::State),)+
        }

        /// Any queue that decides when a packet departs; dispatch is a match.
        pub(crate) enum DepartureQueue<P> {
            $($dkind(<$dkind as DepartureKind>::State<P>),)+
        }

        /// The names of all kinds.
        const NAMES: &[&str] =
            &[UNLIMITED, $($akind::DESCRIBED.names[0],)+ $($dkind::DESCRIBED.names[0],)+];

        impl Queue {
            /// Every kind that has parameters, in the order of the registry.
            pub const KINDS: &[Described] = &[$($akind::DESCRIBED,)+ $($dkind::DESCRIBED,)+];

            /// The name of its kind.
            pub fn name(&self) -> &'static str {
                match self {
                    Queue::Unlimited => UNLIMITED,
                    $(Queue::$akind(_) => $akind::DESCRIBED.names[0],)+
                    $(Queue::$dkind(_) => $dkind::DESCRIBED.names[0],)+
                }
            }

            /// The names of the kinds that a host may have.
            fn names_for_hosts() -> Vec<&'static str> {
                let kinds = [
                    $(($akind::DESCRIBED, $akind::FOR_HOSTS),)+
                    $(($dkind::DESCRIBED, $dkind::FOR_HOSTS),)+
                ];
                kinds.iter().filter(|(_, fits)| *fits).map(|(kind, _)| kind.names[0]).collect()
            }

            /// Whether a host may have it.
            pub fn fits_host(&self) -> bool {
                match self {
                    Queue::Unlimited => true,
                    $(Queue::$akind(_) => $akind::FOR_HOSTS,)+
                    $(Queue::$dkind(_) => $dkind::FOR_HOSTS,)+
                }
            }

            /// Whether it decides when a packet departs.
            pub fn decides_on_departure(&self) -> bool {
                matches!(self, $(Queue::$dkind(_))|+)
            }

            /// Checks the parameters.
            ///
            /// # Errors
            /// The parameter, below the name of the kind.
            pub fn check(&self) -> Result<(), InvalidParameter> {
                match self {
                    Queue::Unlimited => Ok(()),
                    $(Queue::$akind(own) => own.check(),)+
                    $(Queue::$dkind(own) => own.check(),)+
                }
                .map_err(|error| error.inside(self.name()))
            }

            /// A short queue of every kind, for tests: it holds `limit` packets at most and acts
            /// within milliseconds. With `ecn` it marks, if it can.
            pub fn short(limit: u64, ecn: bool) -> Vec<Queue> {
                vec![
                    Queue::Unlimited,
                    $(Queue::$akind($akind::short(limit, ecn)),)+
                    $(Queue::$dkind($dkind::short(limit, ecn)),)+
                ]
            }

            /// An empty queue before a transmitter of `rate`, if it has one.
            pub(crate) fn start<P: Packet>(&self, rate: Option<Rate>) -> State<P> {
                match self {
                    Queue::Unlimited => State::Unlimited,
                    $(Queue::$akind(own) => State::Arrival(ArrivalQueue::$akind(own.start(rate))),)+
                    $(Queue::$dkind(own) => State::Departure(DepartureQueue::$dkind(own.start())),)+
                }
            }
        }

        impl ArrivalQueue {
            /// See [`JudgeArrival::unasked`].
            pub(crate) fn unasked(&self) -> u32 {
                match self { $(ArrivalQueue::$akind(queue) => queue.unasked(),)+ }
            }

            /// See [`JudgeArrival::accepted_unasked`].
            #[inline(always)] // runs for every hop into a queue
            pub(crate) fn accepted_unasked(&mut self) {
                match self { $(ArrivalQueue::$akind(queue) => queue.accepted_unasked(),)+ }
            }

            /// Each kind puts `arrival` together by itself: drop-tail needs little of it.
            #[inline(always)] // runs for every hop into a queue
            pub(crate) fn judge(
                &mut self,
                arrival: impl FnOnce() -> Arrival,
                rng: &mut impl Rng,
            ) -> Verdict {
                match self { $(ArrivalQueue::$akind(queue) => queue.judge(arrival(), rng),)+ }
            }
        }

        impl<P: Packet> DepartureQueue<P> {
            pub(crate) fn enqueue(
                &mut self,
                now: Time,
                packet: P,
                dropped: &mut Dropped<P>,
            ) -> bool {
                match self {
                    $(DepartureQueue::$dkind(queue) => queue.enqueue(now, packet, dropped),)+
                }
            }

            pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P> {
                match self {
                    $(DepartureQueue::$dkind(queue) => queue.dequeue(now, dropped),)+
                }
            }

            /// Waiting packets and their bytes.
            pub(crate) fn backlog(&self) -> (u64, u64) {
                match self { $(DepartureQueue::$dkind(queue) => queue.backlog(),)+ }
            }
        }

        /// The queue called `name` from what stands behind its name.
        fn read<'de, A: VariantAccess<'de>>(name: &str, content: A) -> Result<Queue, A::Error> {
            $(if $akind::DESCRIBED.names.contains(&name) {
                return content.newtype_variant().map(Queue::$akind);
            })+
            $(if $dkind::DESCRIBED.names.contains(&name) {
                return content.newtype_variant().map(Queue::$dkind);
            })+
            content.unit_variant().map(|()| Queue::Unlimited)
        }

        /// A plan has the kind among the parameters, and nothing of a queue without a limit.
        impl Serialize for Queue {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Queue::Unlimited => serializer.serialize_none(),
                    $(Queue::$akind(own) => $akind::DESCRIBED.write(own, serializer),)+
                    $(Queue::$dkind(own) => $dkind::DESCRIBED.write(own, serializer),)+
                }
            }
        }

        /// The schema of each kind that has parameters.
        fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
            vec![$(schema_of::<$akind>(generator),)+ $(schema_of::<$dkind>(generator),)+]
        }
    };
}
queues! {
    on arrival {
        droptail::DropTail,
        red::Red,
        pie::Pie,
        random::Random,
    }
    on departure {
        codel::Codel,
        fq_codel::FqCodel,
        priority::Priority,
    }
}

pub use red::Spacing;

impl Queue {
    /// The kinds that a host may have, as error messages list them.
    pub fn for_hosts() -> String {
        format!("a host has {} or \"{UNLIMITED}\"", Queue::names_for_hosts().join(", "))
    }
}

/// `"unlimited"`, or a table with the name of the kind and its parameters.
impl<'de> Deserialize<'de> for Queue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Queue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a queue")
            }
            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Queue, A::Error> {
                let (Named(name), content) = data.variant()?;
                read(&name, content)
            }
        }
        deserializer.deserialize_enum("Queue", NAMES, Whole)
    }
}

/// A name of a kind.
struct Named(String);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Named;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a kind of queue")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Named, E> {
                let all = Queue::KINDS.iter().flat_map(|kind| kind.names).copied();
                let found = name::find(text, all.chain([UNLIMITED]));
                found.map(|name| Named(name.into())).ok_or_else(|| E::unknown_variant(text, NAMES))
            }
        }
        deserializer.deserialize_identifier(Name)
    }
}

impl JsonSchema for Queue {
    fn schema_name() -> Cow<'static, str> {
        "Queue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut kinds = schemas(generator);
        if !generator.contract().is_serialize() {
            let unlimited =
                json_schema!({ "description": "No limit.", "type": "string", "const": UNLIMITED });
            kinds.insert(0, unlimited);
        }
        json_schema!({
            "description": "A queue discipline. Waiting packets are counted; the one in transmission is not.",
            "oneOf": kinds,
        })
    }
}

/// In a scenario, a table with the kind's name as its key; in a plan, the parameters with their
/// `kind`.
fn schema_of<K: Kind>(generator: &mut SchemaGenerator) -> Schema {
    let Described { names, summary, .. } = K::DESCRIBED;
    let name = names[0];
    let mut parameters = generator.subschema_for::<K>();
    if generator.contract().is_serialize() {
        parameters.insert("description".into(), summary.into());
        parameters.insert("type".into(), "object".into());
        let kind = json_schema!({ "kind": { "type": "string", "const": name } });
        parameters.insert("properties".into(), kind.into());
        parameters.insert("required".into(), vec!["kind"].into());
        return parameters;
    }
    json_schema!({
        "description": summary,
        "type": "object",
        "properties": { name: parameters },
        "required": [name],
        "additionalProperties": false,
    })
}

/// The range of a queue's room: at least one packet.
const ROOM: ValidRange<Packets> =
    ValidRange { holds: |limit| limit.0 >= 1.0, right: "it is at least 1 packet" };

#[cfg(test)]
mod tests;
