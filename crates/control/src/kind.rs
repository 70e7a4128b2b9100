//! Names, options and descriptions of controllers, laws and slow starts, declared in the file of
//! each kind.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use units::name::{find, same, strip};

/// Names and description of a kind: the fields of `units::Described`, and those that only
/// controllers have.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The names that results call it by, the first one preferred.
    pub names: &'static [&'static str],
    /// Names in papers and in other programs. If two kinds share one, the name is refused with an
    /// error that names both kinds.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The rule in symbols. For a law: growth per acknowledged segment and window after a
    /// congestion event.
    pub formula: &'static str,
    /// The publication of the rule.
    pub source: &'static str,
    /// For a law: whether growth or backoff jumps where paths tie, so that an equilibrium may lie
    /// on a jump. Theory then averages over states that differ by its mesh.
    pub set_valued: bool,
    /// Whether the kernel runs it as `kernel:NAME`: from the C of a law's text, or from C in
    /// `bpf/laws`.
    pub ported: bool,
}

impl Described {
    /// Defaults of the fields that most kinds leave unchanged.
    pub const DEFAULT: Described = Described {
        names: &[],
        aliases: &[],
        summary: "",
        formula: "",
        source: "",
        set_valued: false,
        ported: false,
    };
}

/// A kind named in scenarios as `NAME` or `NAME:OPTION`. A value of the type is the kind with its
/// option.
pub trait Kind: Copy + 'static {
    /// Names, summary, formula and source.
    const DESCRIBED: Described;

    /// The kind without an option; `None` if it needs one.
    const PLAIN: Option<Self>;

    /// Options: the text after the name and a colon.
    const CHOICES: &'static [Choice<Self>] = &[];
}

/// A kind found by one of its names.
pub(crate) struct Called<K> {
    /// Its first name.
    pub(crate) name: &'static str,
    /// The kind and its name in results; `None` if the kind has no such option.
    pub(crate) kind: Option<(K, String)>,
}

impl<K: Kind> Called<K> {
    /// Looks up `name` with this option in the kind; `None` if the kind does not have this name.
    pub(crate) fn of(name: &str, option: Option<&str>) -> Option<Self> {
        let Described { names, aliases, .. } = K::DESCRIBED;
        let of = |name: &str, option| {
            let kind = Self::with_option(option).map(|(kind, option)| match option {
                Some(option) => (kind, format!("{name}:{option}")),
                None => (kind, name.to_owned()),
            });
            Called { name: names[0], kind }
        };
        if let Some(name) = find(name, names.iter().copied()) {
            return Some(of(name, option));
        }
        if find(name, aliases.iter().copied()).is_some() {
            return Some(of(names[0], option));
        }
        let mut choices = K::CHOICES.iter().filter(|_| option.is_none());
        let choice = choices.find(|choice| find(name, choice.aliases.iter().copied()).is_some())?;
        Some(of(names[0], Some(choice.text)))
    }

    /// The kind with this option, and the option as lists show it; `None` if the kind has no such
    /// option.
    fn with_option(option: Option<&str>) -> Option<(K, Option<String>)> {
        let Some(text) = option else {
            return K::PLAIN.map(|kind| (kind, None));
        };
        let found = K::CHOICES.iter().find_map(|choice| choice.read(text));
        found.map(|(kind, option)| (kind, Some(option)))
    }
}

impl<K> Called<K> {
    /// Maps the kind to the enum in which it is a variant.
    pub(crate) fn map<T>(self, of: impl FnOnce(K) -> T) -> Called<T> {
        Called { name: self.name, kind: self.kind.map(|(kind, text)| (of(kind), text)) }
    }
}

/// An option of a kind, or a family of them.
pub struct Choice<K: 'static> {
    /// The word, or the text before the number.
    text: &'static str,
    meaning: &'static str,
    /// Names of the kind with this option in papers.
    aliases: &'static [&'static str],
    value: Value<K>,
}

enum Value<K: 'static> {
    Word(K),
    Count { least: u32, most: u32, examples: &'static [u32], kind: fn(u32) -> K },
    Number { above: f64, most: f64, examples: &'static [f64], kind: fn(f64) -> K },
}

impl<K: Copy> Choice<K> {
    /// The word `text`.
    pub const fn word(text: &'static str, kind: K, meaning: &'static str) -> Self {
        Choice { text, meaning, aliases: &[], value: Value::Word(kind) }
    }

    /// `text` and a whole number in `range`. The examples stand for all in tests and lists.
    pub const fn count(
        text: &'static str,
        range: core::ops::RangeInclusive<u32>,
        examples: &'static [u32],
        kind: fn(u32) -> K,
        meaning: &'static str,
    ) -> Self {
        let (least, most) = (*range.start(), *range.end());
        Choice { text, meaning, aliases: &[], value: Value::Count { least, most, examples, kind } }
    }

    /// `text` and a number above `above` and at most `most`. The examples stand for all in tests
    /// and lists.
    pub const fn number(
        text: &'static str,
        (above, most): (f64, f64),
        examples: &'static [f64],
        kind: fn(f64) -> K,
        meaning: &'static str,
    ) -> Self {
        Choice { text, meaning, aliases: &[], value: Value::Number { above, most, examples, kind } }
    }

    /// The same option with aliases beside `NAME:OPTION`: names from papers.
    pub const fn aliased(self, aliases: &'static [&'static str]) -> Self {
        Choice { aliases, ..self }
    }

    /// The kind, and the option as lists show it.
    fn read(&self, text: &str) -> Option<(K, String)> {
        let own = self.text;
        if let Value::Word(kind) = self.value {
            return same(own, text).then(|| (kind, own.to_owned()));
        }
        let after = strip(own, text)?;
        match self.value {
            Value::Word(_) => None,
            Value::Count { least, most, kind, .. } => {
                let digits = after.bytes().all(|byte| byte.is_ascii_digit());
                let count = digits.then(|| after.parse().ok()).flatten()?;
                (least <= count && count <= most).then(|| (kind(count), format!("{own}{count}")))
            }
            Value::Number { above, most, kind, .. } => {
                let number = after.parse().ok()?;
                (above < number && number <= most).then(|| (kind(number), format!("{own}{number}")))
            }
        }
    }

    fn texts(&self) -> Vec<String> {
        match &self.value {
            Value::Word(_) => alloc::vec![self.text.to_owned()],
            Value::Count { examples, .. } => {
                examples.iter().map(|n| format!("{}{n}", self.text)).collect()
            }
            Value::Number { examples, .. } => {
                examples.iter().map(|x| format!("{}{x}", self.text)).collect()
            }
        }
    }

    fn meaning(&self) -> String {
        let meaning = self.own_meaning();
        match self.aliases.is_empty() {
            true => meaning,
            false => format!("{meaning}, also called {}", self.aliases.join(", ")),
        }
    }

    fn own_meaning(&self) -> String {
        match self.value {
            Value::Word(_) => self.meaning.to_owned(),
            Value::Count { least, most, .. } => {
                format!("{}; a whole number from {least} to {most}", self.meaning)
            }
            Value::Number { above, most, .. } => {
                format!("{}, above {above} and at most {most}", self.meaning)
            }
        }
    }
}

/// A kind as lists show it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The description in the kind's file.
    pub described: Described,
    /// Options and their meanings; a family of options is shown by its first example.
    pub options: Vec<(String, String)>,
    /// Whether it has a name without an option.
    pub plain: bool,
    /// All options used in tests.
    examples: Vec<String>,
    /// Aliases of the kind with one of its options.
    option_aliases: Vec<&'static str>,
}

impl Listed {
    pub(crate) fn of<K: Kind>() -> Self {
        let options =
            K::CHOICES.iter().map(|choice| (choice.texts().swap_remove(0), choice.meaning()));
        Listed {
            described: K::DESCRIBED,
            options: options.collect(),
            plain: K::PLAIN.is_some(),
            examples: K::CHOICES.iter().flat_map(Choice::texts).collect(),
            option_aliases: K::CHOICES.iter().flat_map(|choice| choice.aliases).copied().collect(),
        }
    }

    /// All names and aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let Described { names, aliases, .. } = self.described;
        names.iter().chain(aliases).copied().chain(self.option_aliases.iter().copied())
    }

    /// The name with each of the options.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let name = self.described.names[0];
        let plain = self.plain.then(|| name.to_owned());
        plain.into_iter().chain(self.examples.iter().map(move |option| format!("{name}:{option}")))
    }
}

/// Makes the enum over all kinds of a folder and its parser, from one line for each of them.
macro_rules! kinds {
    ($(#[$doc:meta])* $any:ident { $($file:ident::$type:ident => $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $any {
            $(
                #[doc = concat!("See `", stringify!($file), ".rs`.")]
                $variant($file::$type),
            )*
        }

        impl $any {
            /// Every kind in the order of the registry.
            pub fn listed() -> alloc::vec::Vec<$crate::kind::Listed> {
                alloc::vec![$($crate::kind::Listed::of::<$file::$type>()),*]
            }

            /// The description in the kind's file.
            pub fn described(&self) -> $crate::kind::Described {
                match self {
                    $($any::$variant(_) => <$file::$type as $crate::kind::Kind>::DESCRIBED,)*
                }
            }

            /// The kinds with this name and this option.
            pub(crate) fn called(
                name: &str,
                option: Option<&str>,
            ) -> alloc::vec::Vec<$crate::kind::Called<Self>> {
                let all = [$(
                    $crate::kind::Called::<$file::$type>::of(name, option)
                        .map(|called| called.map($any::$variant)),
                )*];
                all.into_iter().flatten().collect()
            }
        }
    };
}
pub(crate) use kinds;
