//! The registry of controllers that are not a law in a shell: they act on time, delay or rate, and
//! so have no drift. One file each, one line each.

use crate::controller::forward;
use crate::kind::kinds;
use crate::scheme::Scheme;
use crate::slow_start::AnySlowStart;
use crate::{Needs, Settings};

mod background;
mod delay;
mod each;
mod filter;
mod pooled;
mod switching;
mod trial;

macro_rules! schemes {
    ($($file:ident::$type:ident => $variant:ident,)*) => {
        $(mod $file;)*

        kinds! {
            /// Any of the shipped controllers that are not laws, with its option.
            AnyScheme { $($file::$type => $variant,)* }
        }

        impl AnyScheme {
            /// What it needs to be told.
            pub fn needs(self) -> Needs {
                match self { $(AnyScheme::$variant(scheme) => scheme.needs(),)* }
            }

            /// The same with another slow start, if it can have one.
            pub(crate) fn with_slow_start(self, slow_start: AnySlowStart) -> Option<Self> {
                match self {
                    $(AnyScheme::$variant(scheme) => {
                        scheme.with_slow_start(slow_start).map(AnyScheme::$variant)
                    })*
                }
            }
        }

        /// Any of them at work on one connection.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyControl {
            $($variant(<$file::$type as Scheme>::Control),)*
        }

        impl AnyControl {
            pub(crate) fn new(scheme: AnyScheme, settings: Settings, paths: usize) -> Self {
                match scheme {
                    $(AnyScheme::$variant(scheme) => {
                        AnyControl::$variant(scheme.control(settings, paths))
                    })*
                }
            }
        }

        forward! {
            impl CongestionController for AnyControl { $(AnyControl::$variant,)* }
        }
    };
}
schemes! {
    cubic::Options => Cubic,
    wvegas::Options => Wvegas,
    bbr::Options => Bbr,
    lp::Options => Lp,
    nice::Options => Nice,
    multi_priority::Priorities => MultiPriority,
    bilevel::Options => Bilevel,
    hacker_switching::Options => HackerSwitching,
    mtcp::Options => Mtcp,
    tfrc::Options => Tfrc,
    bilevel_tfrc::Options => BilevelTfrc,
    best_path::Options => BestPath,
    couple_plus::Reading => CouplePlus,
    dwc::Options => Dwc,
    compound::Options => Compound,
}
