//! The registry of laws: one file each, one line each.

use crate::controller::forward;
use crate::kind::kinds;
use crate::written::Written;
use crate::{Law, Settings, Shell, SlowStart};
use alloc::sync::Arc;

/// An operation on a law of any type; see [`AnyLaw::visit`].
pub trait LawVisitor {
    /// The result.
    type Output;

    /// Applies the operation to `law`.
    fn visit<L: Law + 'static>(self, law: L) -> Self::Output;
}

macro_rules! laws {
    ($($file:ident::$type:ident,)*) => {
        $(mod $file; pub use $file::$type;)*

        kinds! {
            /// Any of the shipped laws, with its option.
            AnyLaw { $($file::$type => $type,)* }
        }

        impl AnyLaw {
            /// Calls `visitor` with the law by its own type.
            pub fn visit<V: LawVisitor>(self, visitor: V) -> V::Output {
                match self { $(AnyLaw::$type(law) => visitor.visit(law),)* }
            }

            /// See [`Law::min_ssthresh`]; `None` for a law that couples no paths.
            pub fn min_ssthresh(self) -> Option<f64> {
                match self {
                    $(AnyLaw::$type(law) => law.coupled().then(|| law.min_ssthresh()),)*
                }
            }
        }

        /// The shell around any law; each event dispatches on the law once.
        #[derive(Clone, Debug)]
        pub enum AnyShell<S> {
            $(
                #[doc = concat!("See `", stringify!($file), ".rs`.")]
                $type(Shell<$file::$type, S>),
            )*
            /// A law written as text.
            Written(Shell<Written, S>),
        }

        impl<S: SlowStart> AnyShell<S> {
            /// The shell around `law`.
            pub fn new(
                law: AnyLaw,
                slow_start: S,
                settings: impl Into<Arc<Settings>>,
                paths: usize,
            ) -> Self {
                match law {
                    $(AnyLaw::$type(law) => {
                        AnyShell::$type(Shell::with_slow_start(law, slow_start, settings, paths))
                    })*
                }
            }

            /// The shell around a law written as text.
            pub fn written(
                law: Written,
                slow_start: S,
                settings: impl Into<Arc<Settings>>,
                paths: usize,
            ) -> Self {
                AnyShell::Written(Shell::with_slow_start(law, slow_start, settings, paths))
            }

            /// Gives `path` to another shell around the same law.
            ///
            /// # Panics
            /// If it is another law.
            pub(crate) fn hand_over(&mut self, path: usize, to: &mut Self) {
                match (self, to) {
                    $((AnyShell::$type(own), AnyShell::$type(to)) => own.hand_over(path, to),)*
                    (AnyShell::Written(own), AnyShell::Written(to)) => own.hand_over(path, to),
                    _ => panic!("the shells have different laws"),
                }
            }
        }

        forward! {
            #[inline(always)] // runs for every ACK
            impl<S: SlowStart> CongestionController for AnyShell<S> {
                $(AnyShell::$type,)*
                AnyShell::Written,
            }
        }
    };
}
laws! {
    reno::Reno,
    ewtcp::Ewtcp,
    fully_coupled::FullyCoupled,
    semicoupled::SemiCoupled,
    phi::Phi,
    lia::Lia,
    olia::Olia,
    balia::Balia,
    hacker::Hacker,
    cs218::Cs218,
}
