//! The registry of laws: one file each, one line each.

use crate::{Law, Note, PathView};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// How a law is named and described to people.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The names it answers to, the first one preferred.
    pub names: &'static [&'static str],
    /// What may follow a name after a colon, and what it means.
    pub options: &'static [(&'static str, &'static str)],
    /// One sentence.
    pub summary: &'static str,
    /// Growth per acknowledged segment and window after a congestion event.
    pub formula: &'static str,
    /// Where the rule is published.
    pub source: &'static str,
    /// Whether growth or backoff jumps where paths tie, so that an equilibrium may lie on a jump: theory
    /// then averages over states that differ by its mesh.
    pub set_valued: bool,
    /// Whether the kernel runs it as `kernel:NAME`: there is a port of it in `bpf/include`.
    pub ported: bool,
}

/// What a law's file provides besides the law, so that it can be named in a scenario.
pub trait Registered: Law + Sized {
    /// Names, summary, formula and source.
    const DESCRIBED: Described;

    /// The law with what followed the colon; `None` when that is not one of its options.
    fn with_option(option: Option<&str>) -> Option<Self>;
}

/// A controller name that no law answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLaw {
    /// The name as it was given.
    pub name: String,
    /// Names that exist, nearest first.
    pub nearest: Vec<&'static str>,
    /// If the name exists and what follows the colon is wrong: what may follow.
    pub options: Option<&'static [(&'static str, &'static str)]>,
}

impl fmt::Display for UnknownLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(options) = self.options {
            write!(f, "`{}` is not complete or its option is unknown; the options are", self.name)?;
            let name = self.nearest.first().copied().unwrap_or_default();
            return match options {
                [] => write!(f, " none: write {name}"),
                _ => {
                    options.iter().try_for_each(|(o, meaning)| write!(f, " {name}:{o} ({meaning})"))
                }
            };
        }
        let nearest = self.nearest.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        write!(f, "there is no controller `{}`; the nearest are {nearest}", self.name)
    }
}

/// Makes the enum over all laws, its dispatch and its parser, from one line a law.
macro_rules! laws {
    ($($file:ident::$type:ident),* $(,)?) => {
        $(mod $file;)*

        /// Any of the shipped laws; dispatch is a match, without boxing.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnyLaw {
            $(
                #[doc = concat!("See `", stringify!($file), ".rs`.")]
                $type($file::$type),
            )*
        }

        impl Law for AnyLaw {
            fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
                match self { $(AnyLaw::$type(law) => law.growth(me, paths),)* }
            }
            fn backoff(&self, me: usize, paths: &[PathView]) -> f64 {
                match self { $(AnyLaw::$type(law) => law.backoff(me, paths),)* }
            }
            fn coupled(&self) -> bool {
                match self { $(AnyLaw::$type(law) => law.coupled(),)* }
            }
            fn note_acked(&self, note: &mut Note, segments: f64) {
                match self { $(AnyLaw::$type(law) => law.note_acked(note, segments),)* }
            }
            fn note_lost(&self, note: &mut Note) {
                match self { $(AnyLaw::$type(law) => law.note_lost(note),)* }
            }
            fn steady_note(&self, loss: f64) -> Note {
                match self { $(AnyLaw::$type(law) => law.steady_note(loss),)* }
            }
        }

        /// Every law in the order of the registry.
        pub fn described() -> Vec<Described> {
            alloc::vec![$(<$file::$type as Registered>::DESCRIBED),*]
        }

        /// The law behind a name, if the name is its own and the option is one of its options.
        fn by_name(name: &str, option: Option<&str>) -> Option<AnyLaw> {
            $(
                if <$file::$type as Registered>::DESCRIBED.names.contains(&name) {
                    return <$file::$type as Registered>::with_option(option).map(AnyLaw::$type);
                }
            )*
            None
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
}

/// TCP, for schemes that have one inside.
pub(crate) const RENO: AnyLaw = AnyLaw::Reno(reno::Reno);

/// LIA, for the scheme that has it inside.
pub(crate) const LIA: AnyLaw = AnyLaw::Lia(lia::Lia::Capped);

/// LIA with an increment that a path's note makes larger, but not than the cap 1/w_r if it is `capped`.
pub(crate) const fn boosted(capped: bool) -> AnyLaw {
    AnyLaw::Lia(if capped { lia::Lia::BoostedWithin } else { lia::Lia::Boosted })
}

/// Reduced aggression with its TCP on path `base`.
pub(crate) const fn reduced_but_on(base: usize) -> AnyLaw {
    AnyLaw::Hacker(hacker::Hacker::On(base))
}

impl core::str::FromStr for AnyLaw {
    type Err = UnknownLaw;

    /// Reads `name` or `name:option`, as in `phi:0.5`.
    fn from_str(text: &str) -> Result<Self, UnknownLaw> {
        let (name, option) = match text.split_once(':') {
            Some((name, option)) => (name, Some(option)),
            None => (text, None),
        };
        by_name(name, option).ok_or_else(|| UnknownLaw::new(text))
    }
}

impl UnknownLaw {
    /// What to say of `text`, which names no law and no scheme.
    pub(crate) fn new(text: &str) -> Self {
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        let all = || described().into_iter().chain(crate::schemes::described());
        let mut nearest: Vec<&'static str> = all().flat_map(|law| law.names).copied().collect();
        nearest.sort_by_key(|known| distance(known, name));
        let known = all().find(|law| law.names.contains(&name));
        UnknownLaw { name: text.into(), nearest, options: known.map(|law| law.options) }
    }
}

/// Levenshtein distance, to offer the names that were probably meant.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j].min(diagonal) + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_described_name_and_option_parses() {
        for law in described() {
            for name in law.names {
                assert!(name.parse::<AnyLaw>().is_ok() || !law.options.is_empty(), "{name}");
            }
        }
        assert!("phi:0.5".parse::<AnyLaw>().is_ok());
        assert!("olia:draft".parse::<AnyLaw>().is_ok());
    }

    #[test]
    fn a_misspelt_controller_is_answered_with_the_nearest_names() {
        let error = "oila".parse::<AnyLaw>().unwrap_err();
        assert!(error.nearest[..2].contains(&"olia"), "{error}");
        assert!("olia:nonsense".parse::<AnyLaw>().unwrap_err().to_string().contains("olia"));
    }
}
