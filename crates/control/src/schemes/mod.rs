//! The registry of controllers that are not a law in a shell: they act on time, delay or rate, and
//! so have no drift, except in the mean. One file each, one line each.

use crate::controller::forward;
use crate::kind::kinds;
use crate::scheme::Scheme;
use crate::slow_start::AnySlowStart;
use crate::{LawVisitor, Needs, Settings};

mod background;
mod bbr_linux;
mod delay;
mod each;
mod filter;
mod pooled;
mod share;
mod switching;
mod trial;

macro_rules! schemes {
    ($($file:ident::$type:ident,)*) => {
        $(mod $file;)*

        kinds! {
            /// Any of the shipped controllers that are not laws, with its option.
            AnyScheme { $($file::$type => $type,)* }
        }

        impl AnyScheme {
            /// The needs of its controller from the endpoints.
            pub fn needs(self) -> Needs {
                match self { $(AnyScheme::$type(scheme) => scheme.needs(),)* }
            }

            /// Calls `visitor` with the law that the scheme is in the mean, if it is one.
            pub(crate) fn visit_mean<V: LawVisitor>(self, visitor: V) -> Option<V::Output> {
                match self { $(AnyScheme::$type(scheme) => scheme.visit_mean(visitor),)* }
            }

            /// Whether it can couple paths in groups.
            pub(crate) fn groups(self) -> bool {
                match self { $(AnyScheme::$type(_) => <$file::$type as Scheme>::GROUPS,)* }
            }

            /// The same scheme with another slow start; `None` if it has its own.
            pub(crate) fn with_slow_start(self, slow_start: AnySlowStart) -> Option<Self> {
                match self {
                    $(AnyScheme::$type(scheme) => {
                        scheme.with_slow_start(slow_start).map(AnyScheme::$type)
                    })*
                }
            }
        }

        /// The controller of any scheme, for one connection.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyControl {
            $($type(<$file::$type as Scheme>::Control),)*
        }

        impl AnyControl {
            pub(crate) fn new(scheme: AnyScheme, settings: Settings, paths: usize) -> Self {
                match scheme {
                    $(AnyScheme::$type(scheme) => {
                        AnyControl::$type(scheme.control(settings, paths))
                    })*
                }
            }

            /// Gives `path` to another controller of the same scheme; see [`Scheme::hand_over`].
            ///
            /// # Panics
            /// If it is another scheme, or has no groups.
            pub(crate) fn hand_over(&mut self, path: usize, to: &mut Self) {
                let done = match (self, to) {
                    $((AnyControl::$type(own), AnyControl::$type(to)) => {
                        <$file::$type as Scheme>::hand_over(own, path, to)
                    })*
                    _ => false,
                };
                assert!(done, "a path goes to a group of its own scheme");
            }
        }

        forward! {
            impl CongestionController for AnyControl { $(AnyControl::$type,)* }
        }
    };
}
schemes! {
    cubic::Cubic,
    wvegas::Wvegas,
    bbr::Bbr,
    lp::Lp,
    nice::Nice,
    multi_priority::MultiPriority,
    bilevel::Bilevel,
    hacker_switching::HackerSwitching,
    mtcp::Mtcp,
    tfrc::Tfrc,
    bilevel_tfrc::BilevelTfrc,
    best_path::BestPath,
    couple_plus::CouplePlus,
    dwc::Dwc,
    compound::Compound,
    coupled_cubic::CoupledCubic,
}
