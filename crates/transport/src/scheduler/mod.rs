//! The choice of the path for the next data (RFC 8684 leaves it open): the registry of schedulers,
//! one file each, one line each.

use form::Content;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use units::InvalidParameter;
use units::name::find;
use wire::Range;

mod form;
mod view;

pub use units::Described;
pub(crate) use view::{Choice, PathState, View};

/// The trait of a scheduler's file: a struct of its parameters, as in a scenario.
pub(crate) trait Kind:
    Clone + PartialEq + Serialize + for<'de> Deserialize<'de> + JsonSchema
{
    /// Names, summary and source.
    const DESCRIBED: Described;

    /// The scheduler of one connection. Boxed if it is larger than a word.
    type State: Schedule;

    /// An example as in a scenario: for tests, fuzzing and the reference.
    fn example() -> Self;

    /// Checks the ranges of the parameters.
    fn check(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }

    /// The state at the start of a connection over `paths` paths.
    fn start(&self, paths: usize) -> Self::State;
}

/// The scheduler of one connection.
pub(crate) trait Schedule {
    /// The data to send next, and its path; `None` if no path may send, or if it is better to wait
    /// for one. The chosen path has [`View::may_send`]. A scheduler may wait only for a path with
    /// data in flight: the path's next ACK or timeout calls this again.
    fn choose(&mut self, view: &mut impl View) -> Option<Choice>;

    /// Whether it chooses new data on a path that is the only one that may send, without keeping a
    /// memory of it.
    #[inline(always)]
    fn takes_only_path(&self) -> bool {
        false
    }

    /// The new data in `range` has been sent on `path`.
    #[inline(always)]
    fn on_new(&mut self, _path: usize, _range: Range) {}

    /// `path` leaves the connection.
    #[inline(always)]
    fn on_leave(&mut self, _path: usize) {}
}

impl<S: Schedule> Schedule for Box<S> {
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        (**self).choose(view)
    }
    fn on_new(&mut self, path: usize, range: Range) {
        (**self).on_new(path, range);
    }
    fn on_leave(&mut self, path: usize) {
        (**self).on_leave(path);
    }
}

/// Makes the enums over all schedulers, their dispatch and their parser, from one line a scheduler.
macro_rules! schedulers {
    ($($file:ident::$type:ident),* $(,)?) => {
        $(mod $file;)*
        $(pub use $file::$type;)*

        /// A packet scheduler.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Scheduler {
            $(
                #[doc = concat!("See `", stringify!($file), ".rs`.")]
                $type($type),
            )*
        }

        /// Any scheduler at work; dispatch is a match, without boxing the common ones.
        #[derive(Debug)]
        pub(crate) enum Scheduling {
            $($type(<$type as Kind>::State),)*
        }

        impl Schedule for Scheduling {
            #[inline(always)] // runs for every segment
            fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
                match self { $(Scheduling::$type(state) => state.choose(view),)* }
            }
            #[inline(always)] // runs for every segment
            fn takes_only_path(&self) -> bool {
                match self { $(Scheduling::$type(state) => state.takes_only_path(),)* }
            }
            #[inline(always)] // runs for every segment
            fn on_new(&mut self, path: usize, range: Range) {
                match self { $(Scheduling::$type(state) => state.on_new(path, range),)* }
            }
            fn on_leave(&mut self, path: usize) {
                match self { $(Scheduling::$type(state) => state.on_leave(path),)* }
            }
        }

        impl Scheduler {
            /// Every scheduler in the order of the registry.
            pub const DESCRIBED: &'static [Described] = &[$(<$type as Kind>::DESCRIBED),*];

            /// One of each kind, in the order of the registry.
            pub fn examples() -> Vec<Scheduler> {
                vec![$(Scheduler::$type($type::example())),*]
            }

            const NAMES: &'static [&'static str] = &[$(<$type as Kind>::DESCRIBED.names[0]),*];

            /// Checks the ranges of the parameters.
            ///
            /// # Errors
            /// The parameter that is wrong.
            pub fn check(&self) -> Result<(), InvalidParameter> {
                match self { $(Scheduler::$type(kind) => kind.check(),)* }
            }

            pub(crate) fn start(&self, paths: usize) -> Scheduling {
                match self { $(Scheduler::$type(kind) => Scheduling::$type(kind.start(paths)),)* }
            }

            /// The scheduler called `name` with the parameters in `content`.
            fn read<'de, D: Deserializer<'de>>(name: &str, content: D) -> Result<Self, D::Error> {
                $(
                    if find(name, <$type as Kind>::DESCRIBED.names.iter().copied()).is_some() {
                        return $type::deserialize(content).map(Scheduler::$type);
                    }
                )*
                Err(serde::de::Error::unknown_variant(name, Self::NAMES))
            }
        }

        impl Serialize for Scheduler {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Scheduler::$type(kind) => $type::DESCRIBED.write(kind, serializer),)* }
            }
        }

        impl JsonSchema for Scheduler {
            fn schema_name() -> Cow<'static, str> {
                "Scheduler".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let kinds = [$(form::schema::<$type>(generator)),*];
                schemars::json_schema!({
                    "description": "A packet scheduler.",
                    "oneOf": kinds.concat(),
                })
            }
        }
    };
}
schedulers! {
    min_rtt::MinRtt,
    round_robin::RoundRobin,
    redundant::Redundant,
    weighted::Weighted,
    blest::Blest,
    ecf::Ecf,
    linux::Linux,
}

impl Default for Scheduler {
    fn default() -> Self {
        Scheduler::MinRtt(MinRtt {})
    }
}

impl<'de> Deserialize<'de> for Scheduler {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Content)
    }
}

#[cfg(test)]
mod tests;
