//! Which congestion control a flow has: the one place where its name is parsed.

use crate::kind::Listed;
use crate::slow_start::AnySlowStart;
use crate::{AnyLaw, AnyScheme, Needs};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Before the name of a law that is to run as the kernel runs it.
const KERNEL: &str = "kernel:";

/// A controller as a scenario names it, parsed; `Display` gives the name back as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    text: Arc<str>,
    kind: ControllerKind,
}

/// What a [`ControllerSpec`] names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControllerKind {
    /// A law in the readable shell, with this slow start.
    Law(AnyLaw, AnySlowStart),
    /// The port of this law to the kernel, in the kernel's shell.
    Kernel(AnyLaw),
    /// A controller that is not a law.
    Scheme(AnyScheme),
}

impl ControllerSpec {
    /// What it names.
    pub fn kind(&self) -> &ControllerKind {
        &self.kind
    }

    /// What it needs from the endpoints.
    pub fn needs(&self) -> Needs {
        match self.kind {
            ControllerKind::Law(..) | ControllerKind::Kernel(_) => Needs::NONE,
            ControllerKind::Scheme(scheme) => scheme.needs(),
        }
    }

    /// The law that it is, as far as mathematics goes: neither the kernel's arithmetic nor slow
    /// start matter there.
    pub fn law(&self) -> Option<AnyLaw> {
        match self.kind {
            ControllerKind::Law(law, _) | ControllerKind::Kernel(law) => Some(law),
            ControllerKind::Scheme(_) => None,
        }
    }

    /// Every registered controller: laws and schemes under each of their options, laws with each
    /// slow start, and those of the kernel. Tests and fuzz targets run over these.
    pub fn all() -> Vec<ControllerSpec> {
        let mut texts: Vec<String> = listed().iter().flat_map(Listed::texts).collect();
        for slow_start in AnySlowStart::listed() {
            let name = slow_start.described.names[0];
            let laws = AnyLaw::listed().into_iter().filter_map(|law| law.texts().next());
            texts.extend(laws.map(|law| format!("{law}+{name}")));
        }
        texts.extend(ported().iter().map(|law| format!("{KERNEL}{law}")));
        texts.iter().map(|text| text.parse().expect("a registered kind parses")).collect()
    }
}

/// Laws, then controllers that are not laws, in the order of the registry.
fn listed() -> Vec<Listed> {
    let mut all = AnyLaw::listed();
    all.extend(AnyScheme::listed());
    all
}

/// Names of the laws that the kernel runs.
fn ported() -> Vec<&'static str> {
    let laws = AnyLaw::listed().into_iter().map(|law| law.described);
    laws.filter(|law| law.ported).map(|law| law.names[0]).collect()
}

impl FromStr for ControllerSpec {
    type Err = UnknownController;

    /// Reads `NAME`, `NAME:OPTION`, either with `+SLOW_START` behind it, or `kernel:NAME`.
    fn from_str(text: &str) -> Result<Self, UnknownController> {
        let kind = match text.strip_prefix(KERNEL) {
            Some(law) => kernel(law)?,
            None => readable(text)?,
        };
        Ok(ControllerSpec { text: text.into(), kind })
    }
}

impl FromStr for AnyLaw {
    type Err = UnknownController;

    /// Reads the name of a law, with its option.
    fn from_str(text: &str) -> Result<Self, UnknownController> {
        let law = text.parse::<ControllerSpec>()?.law();
        law.ok_or_else(|| {
            UnknownController(format!("`{text}` is not a law: it has no growth per ACK"))
        })
    }
}

fn kernel(name: &str) -> Result<ControllerKind, UnknownController> {
    match ported().contains(&name).then(|| AnyLaw::find(name, None)).flatten() {
        Some(law) => Ok(ControllerKind::Kernel(law)),
        None => {
            let all: Vec<String> = ported().iter().map(|law| format!("{KERNEL}{law}")).collect();
            let all = all.join(", ");
            Err(UnknownController(format!(
                "there is no controller `{KERNEL}{name}`; there are {all}"
            )))
        }
    }
}

fn readable(text: &str) -> Result<ControllerKind, UnknownController> {
    let (controller, slow_start) = match text.split_once('+') {
        Some((controller, name)) => (controller, Some(slow_start(text, name)?)),
        None => (text, None),
    };
    let (name, option) = match controller.split_once(':') {
        Some((name, option)) => (name, Some(option)),
        None => (controller, None),
    };
    if let Some(law) = AnyLaw::find(name, option) {
        return Ok(ControllerKind::Law(law, slow_start.unwrap_or(AnySlowStart::STANDARD)));
    }
    let scheme = AnyScheme::find(name, option).ok_or_else(|| unknown(text, name))?;
    match slow_start {
        None => Some(scheme),
        Some(slow_start) => scheme.with_slow_start(slow_start),
    }
    .map(ControllerKind::Scheme)
    .ok_or_else(|| {
        let problem = format!("`{controller}` has a slow start of its own");
        UnknownController(format!("`{text}`: {problem}; laws take another one, as in lia+hystart"))
    })
}

fn slow_start(text: &str, name: &str) -> Result<AnySlowStart, UnknownController> {
    AnySlowStart::find(name, None).ok_or_else(|| {
        let all = AnySlowStart::listed().into_iter().flat_map(|kind| kind.described.names);
        let all: Vec<&str> = all.copied().collect();
        let all = all.join(", ");
        UnknownController(format!("`{text}`: there is no slow start `{name}`; there are {all}"))
    })
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text names no controller, with names or options that were probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownController(String);

/// What to say of `text`, whose `name` is unknown, or has another option.
fn unknown(text: &str, name: &str) -> UnknownController {
    let all = listed();
    let Some(known) = all.iter().find(|kind| kind.described.names.contains(&name)) else {
        let mut nearest: Vec<&str> =
            all.iter().flat_map(|kind| kind.described.names).copied().collect();
        nearest.sort_by_key(|known| distance(known, name));
        nearest.truncate(3);
        let nearest = nearest.join(", ");
        return UnknownController(format!(
            "there is no controller `{text}`; the nearest are {nearest}"
        ));
    };
    let options =
        known.options.iter().map(|(option, meaning)| format!("{name}:{option} ({meaning})"));
    let options = match known.options.is_empty() {
        true => format!("none: write {name}"),
        false => options.collect::<Vec<_>>().join(" "),
    };
    let problem = "is not complete or its option is unknown; the options are";
    UnknownController(format!("`{text}` {problem} {options}"))
}

impl fmt::Display for UnknownController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for UnknownController {}

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

    fn error(text: &str) -> String {
        text.parse::<ControllerSpec>().expect_err(text).to_string()
    }

    #[test]
    fn a_controller_prints_as_it_was_written() {
        for text in
            ["lia", "rtt-compensator", "phi:0.50", "kernel:olia", "cubic:hystart", "lia+hystart"]
        {
            assert_eq!(text.parse::<ControllerSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn no_name_and_no_option_stands_for_two_kinds() {
        let all = listed();
        let mut names: Vec<&str> =
            all.iter().flat_map(|kind| kind.described.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let all = ControllerSpec::all();
        for (i, a) in all.iter().enumerate() {
            let twin = all[..i].iter().find(|b| b.kind == a.kind);
            let same = ["cubic:hystart", "acks", "+standard"].map(|part| a.text.contains(part));
            assert!(twin.is_none() || same.contains(&true), "{a} is {}", twin.unwrap());
        }
    }

    #[test]
    fn the_kernel_has_ports_of_some_laws_alone() {
        for text in
            ["kernel:phi", "kernel:cubic", "kernel:lia:uncapped", "kernel:lia+hystart", "kernel:"]
        {
            assert!(
                error(text).contains(text) && error(text).contains("kernel:lia"),
                "{}",
                error(text)
            );
        }
    }

    #[test]
    fn a_misspelt_controller_is_answered_with_the_nearest_names() {
        assert!(error("oila").contains("nearest are") && error("oila").contains("olia"));
        assert!(error("olia:nonsense").contains("olia:draft (path quality"));
        assert!(error("reno:1").contains("none: write reno"));
        assert!(
            error("phi").contains("phi:0.5 (φ itself, above 0 and at most 2)"),
            "{}",
            error("phi")
        );
    }

    #[test]
    fn numbers_of_options_are_read_in_their_range_alone() {
        for text in ["phi:0.1", "phi:2", "cs218:acks-0", "cs218:acks-7", "cs218:acks-1000"] {
            assert!(text.parse::<ControllerSpec>().is_ok(), "{text}");
        }
        for text in
            ["phi:0", "phi:2.1", "phi:nan", "cs218:acks-", "cs218:acks-1001", "cs218:acks--1"]
        {
            assert!(error(text).contains("the options are"), "{}", error(text));
        }
    }

    #[test]
    fn laws_and_cubic_take_another_slow_start() {
        let same = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| text.parse::<ControllerSpec>().unwrap().kind);
            assert_eq!(a, b);
        };
        same("lia", "lia+standard");
        same("cubic:hystart", "cubic+hystart");
        assert!(error("lia+hystrat").contains("there are standard, hystart"));
        assert!(error("bbr+hystart").contains("`bbr` has a slow start of its own"));
    }
}
