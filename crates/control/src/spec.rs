//! [`ControllerSpec`]: the congestion control of a flow, parsed from its name in this one place.

use crate::kind::{Called, Described, Listed};
use crate::slow_start::AnySlowStart;
use crate::{AnyDetector, AnyLaw, AnyScheme, LawVisitor, Needs, Outside, Written};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use formula::{Reference, TextLaw, is_text};
use units::name::{offer, strip};

/// Prefix of a law that runs with the kernel's arithmetic.
const KERNEL: &str = "kernel:";

/// Prefix of a controller of the running kernel's own, such as `linux:westwood`.
const LINUX: &str = "linux:";
/// Prefix of a controller of the QUIC stack's own, such as `noq:cubic`.
const NOQ: &str = "noq:";
/// The stack's own controllers; each path has one of its own.
pub const NOQ_NAMES: [&str; 3] = ["newreno", "cubic", "bbr3"];

/// Longest name of a controller of the kernel (`TCP_CA_NAME_MAX` without its end).
const LONGEST_LINUX: usize = 15;

/// Suffix of a law that couples only paths that share a bottleneck.
const SBD: &str = "sbd";

/// A controller parsed from a scenario: from its name, or from the text of a law. `Display` gives
/// the name used in results, whatever the spelling was.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSpec {
    text: Arc<str>,
    kind: ControllerKind,
}

/// The kinds of [`ControllerSpec`].
#[derive(Clone, Debug)]
pub enum ControllerKind {
    /// A law in the readable shell, with this slow start.
    Law(AnyLaw, AnySlowStart),
    /// A law written as text in the readable shell, with this slow start.
    Written(Written, AnySlowStart),
    /// The port of this law to the kernel, in the kernel's shell.
    Kernel(AnyLaw),
    /// The port of this scheme to the kernel, in the kernel's shell.
    KernelScheme(AnyScheme),
    /// The generated port of a law written as text, in the kernel's shell.
    KernelWritten(Written),
    /// A law in the readable shell that couples only paths that share a bottleneck, as this
    /// detector finds.
    WhenShared(Arc<ControllerKind>, AnyDetector),
    /// A controller that is not a law.
    Scheme(AnyScheme),
    /// A controller of the running kernel's own, by the kernel's name. It is not simulated.
    Linux(Arc<str>),
    /// A controller of the QUIC stack's own, by the stack's name. Flows over QUIC alone have it.
    Noq(&'static str),
    /// A controller from outside, without a textual form.
    Outside(Arc<dyn Outside>),
}

impl PartialEq for ControllerKind {
    /// Controllers from outside are equal only if they are the same object.
    fn eq(&self, other: &Self) -> bool {
        use ControllerKind::{
            Kernel, KernelScheme, KernelWritten, Law, Linux, Noq, Outside, Scheme, WhenShared,
            Written,
        };
        match (self, other) {
            (Law(a, s), Law(b, t)) => (a, s) == (b, t),
            (Written(a, s), Written(b, t)) => (a, s) == (b, t),
            (Kernel(a), Kernel(b)) => a == b,
            (KernelScheme(a), KernelScheme(b)) => a == b,
            (KernelWritten(a), KernelWritten(b)) => a == b,
            (WhenShared(a, d), WhenShared(b, e)) => (a, d) == (b, e),
            (Scheme(a), Scheme(b)) => a == b,
            (Linux(a), Linux(b)) => a == b,
            (Noq(a), Noq(b)) => a == b,
            (Outside(a), Outside(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl ControllerSpec {
    /// The kind of controller.
    pub fn kind(&self) -> &ControllerKind {
        &self.kind
    }

    /// A controller from outside, under its own name.
    pub fn outside(outside: Arc<dyn Outside>) -> Self {
        ControllerSpec { text: outside.name().into(), kind: ControllerKind::Outside(outside) }
    }

    /// The needs of the controller from the endpoints.
    pub fn needs(&self) -> Needs {
        match self.kind {
            ControllerKind::Scheme(scheme) => scheme.needs(),
            ControllerKind::WhenShared(..) => Needs { delays: true, ..Needs::NONE },
            ControllerKind::Outside(ref outside) => outside.needs(),
            _ => Needs::NONE,
        }
    }

    /// The description in its file, whatever its option, slow start and shell. `None` for a law
    /// written as text.
    pub fn described(&self) -> Option<Described> {
        match self.kind.law() {
            ControllerKind::Law(law, _) | ControllerKind::Kernel(law) => Some(law.described()),
            ControllerKind::Scheme(scheme) | ControllerKind::KernelScheme(scheme) => {
                Some(scheme.described())
            }
            ControllerKind::Written(..)
            | ControllerKind::WhenShared(..)
            | ControllerKind::KernelWritten(_)
            | ControllerKind::Linux(_)
            | ControllerKind::Noq(_)
            | ControllerKind::Outside(_) => None,
        }
    }

    /// The kernel's name of a controller that only the running kernel has; it cannot be simulated.
    pub fn linux(&self) -> Option<&str> {
        match &self.kind {
            ControllerKind::Linux(name) => Some(name),
            _ => None,
        }
    }

    /// The stack's name of a controller that only the QUIC stack has.
    pub fn noq(&self) -> Option<&'static str> {
        match self.kind {
            ControllerKind::Noq(name) => Some(name),
            _ => None,
        }
    }

    /// The law, if it is written as text.
    pub fn written(&self) -> Option<&Written> {
        match self.kind.law() {
            ControllerKind::Written(law, _) | ControllerKind::KernelWritten(law) => Some(law),
            _ => None,
        }
    }

    /// The text that parses to this controller: the text of a written law, otherwise its name.
    pub fn source(&self) -> &str {
        self.written().map_or(&self.text, |law| law.text())
    }

    /// The rule in symbols.
    pub fn formula(&self) -> String {
        match self.described() {
            Some(described) => described.formula.into(),
            None => self.written().map_or(String::new(), |law| law.formula().into()),
        }
    }

    /// Whether growth or backoff jumps: see [`Described::set_valued`].
    pub fn set_valued(&self) -> bool {
        match self.described() {
            Some(described) => described.set_valued,
            None => self.written().is_some_and(|law| law.jumps()),
        }
    }

    /// Whether the kernel runs it: a port, or a law with a port, without option and slow start.
    /// Such a law may couple only paths that share, as the default detector finds.
    pub fn ported(&self) -> bool {
        self.kind.ported()
    }

    /// The detector of a law that couples only paths that share a bottleneck.
    pub fn detector(&self) -> Option<AnyDetector> {
        match self.kind {
            ControllerKind::WhenShared(_, detector) => Some(detector),
            _ => None,
        }
    }

    /// Calls `visitor` with the law as mathematics, without the kernel's arithmetic and slow start,
    /// or with the law that the controller is in the mean. `None` if it is neither, and of a law
    /// whose paths are coupled at times.
    pub fn visit_law<V: LawVisitor>(&self, visitor: V) -> Option<V::Output> {
        match &self.kind {
            ControllerKind::Scheme(scheme) | ControllerKind::KernelScheme(scheme) => {
                scheme.visit_mean(visitor)
            }
            kind => kind.visit(visitor),
        }
    }

    /// See [`Law::min_ssthresh`](crate::Law::min_ssthresh); `None` for a law that couples no paths,
    /// and for a controller that is not a law.
    pub fn min_ssthresh(&self) -> Option<f64> {
        struct Floor;
        impl LawVisitor for Floor {
            type Output = Option<f64>;
            fn visit<L: crate::Law + 'static>(self, law: L) -> Option<f64> {
                law.coupled().then(|| law.min_ssthresh())
            }
        }
        self.kind.law().visit(Floor).flatten()
    }

    /// Every registered controller: laws and schemes with each of their options, laws with each
    /// slow start, and the kernel's. Tests and fuzz targets iterate over these.
    pub fn all() -> Vec<ControllerSpec> {
        let mut texts: Vec<String> = listed().iter().flat_map(Listed::texts).collect();
        for slow_start in AnySlowStart::listed() {
            let name = slow_start.described.names[0];
            let laws = AnyLaw::listed().into_iter().filter_map(|law| law.texts().next());
            texts.extend(laws.map(|law| format!("{law}+{name}")));
        }
        let laws = AnyLaw::listed().into_iter().filter_map(|law| law.texts().next());
        texts.extend(laws.map(|law| format!("{law}+{SBD}")));
        let schemes = AnyScheme::listed().into_iter().filter_map(|own| own.texts().next());
        let schemes = schemes.map(|own| format!("{own}+{SBD}"));
        texts.extend(schemes.filter(|text| text.parse::<ControllerSpec>().is_ok()));
        let others = AnyDetector::ALL.iter().filter(|kind| **kind != AnyDetector::DEFAULT);
        texts.extend(others.map(|kind| format!("lia+{SBD}:{}", kind.described().names[0])));
        texts.extend(ported().iter().map(|law| format!("{KERNEL}{law}")));
        texts.iter().map(|text| text.parse().expect("a registered kind parses")).collect()
    }
}

impl ControllerKind {
    /// The law within, for one that couples only paths that share.
    fn law(&self) -> &ControllerKind {
        match self {
            ControllerKind::WhenShared(law, _) => law,
            own => own,
        }
    }

    fn ported(&self) -> bool {
        match self {
            ControllerKind::Kernel(_)
            | ControllerKind::KernelScheme(_)
            | ControllerKind::KernelWritten(_) => true,
            ControllerKind::Law(law, AnySlowStart::STANDARD) => {
                let plain = kernel(law.described().names[0]).map(|(kind, _)| kind);
                plain == Ok(ControllerKind::Kernel(*law))
            }
            ControllerKind::Written(law, AnySlowStart::STANDARD) => law.integer().is_ok(),
            ControllerKind::Scheme(scheme) => {
                let plain = kernel(scheme.described().names[0]).map(|(kind, _)| kind);
                plain == Ok(ControllerKind::KernelScheme(*scheme))
            }
            ControllerKind::WhenShared(law, AnyDetector::DEFAULT) => law.ported(),
            _ => false,
        }
    }

    fn visit<V: LawVisitor>(&self, visitor: V) -> Option<V::Output> {
        match self {
            ControllerKind::Law(law, _) | ControllerKind::Kernel(law) => Some(law.visit(visitor)),
            ControllerKind::Written(law, _) | ControllerKind::KernelWritten(law) => {
                Some(visitor.visit(law.clone()))
            }
            ControllerKind::WhenShared(..)
            | ControllerKind::Scheme(_)
            | ControllerKind::KernelScheme(_)
            | ControllerKind::Linux(_)
            | ControllerKind::Noq(_)
            | ControllerKind::Outside(_) => None,
        }
    }
}

/// Laws, then controllers that are not laws, in the order of the registry.
fn listed() -> Vec<Listed> {
    let mut all = AnyLaw::listed();
    all.extend(AnyScheme::listed());
    all
}

/// Names of the laws and schemes that the kernel runs.
fn ported() -> Vec<&'static str> {
    let all = listed().into_iter().map(|own| own.described);
    all.filter(|own| own.ported).map(|own| own.names[0]).collect()
}

impl FromStr for ControllerSpec {
    type Err = UnknownController;

    /// Parses `NAME`, `NAME:OPTION`, either with `+SLOW_START`, `+sbd` or `+sbd:DETECTOR` after it,
    /// `kernel:NAME`, `linux:NAME` or `noq:NAME`; or the text of a law. Case, hyphens, underscores
    /// and spaces of names are ignored.
    fn from_str(text: &str) -> Result<Self, UnknownController> {
        if is_text(text) {
            return written(text);
        }
        let (kind, text) = match (strip(KERNEL, text), strip(LINUX, text)) {
            (Some(law), _) => kernel(law)?,
            (_, Some(name)) => linux(name)?,
            _ => match strip(NOQ, text) {
                Some(name) => noq(name)?,
                None => readable(text)?,
            },
        };
        Ok(ControllerSpec { text: text.into(), kind })
    }
}

impl FromStr for AnyLaw {
    type Err = UnknownController;

    /// Parses the name of a law, with its option.
    fn from_str(text: &str) -> Result<Self, UnknownController> {
        match text.parse::<ControllerSpec>()?.kind {
            ControllerKind::Law(law, _) | ControllerKind::Kernel(law) => Ok(law),
            _ => Err(UnknownController(format!("`{text}` is not a law that ships"))),
        }
    }
}

/// The file of a law that a text names, with the values that the text sets in it.
pub fn law_file(text: &str) -> Option<Reference<'_>> {
    Reference::of(text).filter(|_| !is_text(text))
}

/// Parses the text of a law.
fn written(text: &str) -> Result<ControllerSpec, UnknownController> {
    let law = TextLaw::read(text).map_err(|wrong| UnknownController(wrong.to_string()))?;
    let mut label = law.label();
    let mut slow = AnySlowStart::STANDARD;
    if let Some(name) = law.slow_start() {
        let (found, name) = slow_start(&label, name)?;
        label = format!("{label}+{name}");
        slow = found;
    }
    let shared = match law.coupling() {
        None => None,
        Some(text) => {
            let (detector, name) = detector(&label, text)?;
            label = format!("{label}+{name}");
            Some(detector)
        }
    };
    let kind = match law.in_kernel() {
        true if shared.is_some() => {
            let why = "couples all paths in the kernel's arithmetic";
            return Err(UnknownController(format!("`{label}` {why}")));
        }
        true if slow != AnySlowStart::STANDARD => {
            let why = "in the kernel's arithmetic has the kernel's slow start";
            return Err(UnknownController(format!("`{label}` {why}")));
        }
        true => {
            law.integer().map_err(|wrong| UnknownController(wrong.to_string()))?;
            label = format!("{KERNEL}{label}");
            ControllerKind::KernelWritten(Written::from(law))
        }
        false => when_shared(ControllerKind::Written(Written::from(law), slow), shared),
    };
    Ok(ControllerSpec { text: label.into(), kind })
}

/// A controller and its name in results.
type Read = Result<(ControllerKind, String), UnknownController>;

fn kernel(name: &str) -> Read {
    let laws = AnyLaw::called(name, None).into_iter();
    let schemes = AnyScheme::called(name, None).into_iter();
    let laws = laws.map(|own| own.map(|law| (law.described(), ControllerKind::Kernel(law))));
    let schemes =
        schemes.map(|own| own.map(|own| (own.described(), ControllerKind::KernelScheme(own))));
    let mut found: Vec<_> = laws.chain(schemes).collect();
    if found.len() == 1
        && let Some(Called { kind: Some(((described, kind), text)), .. }) = found.pop()
        && described.ported
        && !text.contains(':')
    {
        return Ok((kind, format!("{KERNEL}{text}")));
    }
    let all: Vec<String> = ported().iter().map(|law| format!("{KERNEL}{law}")).collect();
    let all = all.join(", ");
    Err(UnknownController(format!("there is no controller `{KERNEL}{name}`; there are {all}")))
}

/// A controller of the running kernel's own: whether it has it is known only there.
fn linux(name: &str) -> Read {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST_LINUX || !name.chars().all(plain) {
        let right = "write linux: and a name of net.ipv4.tcp_available_congestion_control";
        return Err(UnknownController(format!("`{LINUX}{name}`: {right}")));
    }
    Ok((ControllerKind::Linux(name.into()), format!("{LINUX}{name}")))
}

/// A controller of the QUIC stack's own.
fn noq(name: &str) -> Read {
    let own = NOQ_NAMES.into_iter().find(|own| own.eq_ignore_ascii_case(name));
    let own = own.ok_or_else(|| {
        let all = NOQ_NAMES.map(|own| format!("{NOQ}{own}")).join(", ");
        UnknownController(format!("there is no controller `{NOQ}{name}`; there are {all}"))
    })?;
    Ok((ControllerKind::Noq(own), format!("{NOQ}{own}")))
}

fn readable(text: &str) -> Read {
    // A name may contain a plus itself: Couple+.
    if let Some(read) = called(text, text, None, None) {
        return read;
    }
    let mut parts = text.split('+');
    let controller = parts.next().unwrap_or_default();
    let (mut slow, mut shared) = (None, None);
    for part in parts {
        match strip(SBD, part) {
            Some(_) if shared.is_none() => shared = Some(detector(text, part)?),
            None if slow.is_none() && shared.is_none() => slow = Some(slow_start(text, part)?),
            _ => {
                let right = "write LAW, then +SLOW_START, then +sbd, each at most once";
                return Err(UnknownController(format!("`{text}`: {right}")));
            }
        }
    }
    let (name, option) = match controller.split_once(':') {
        Some((name, option)) => (name, Some(option)),
        None => (controller, None),
    };
    let (kind, own) = called(text, name, option, slow).unwrap_or_else(|| Err(unknown(text)))?;
    match (shared, &kind) {
        (None, _) => Ok((kind, own)),
        (Some((detector, suffix)), ControllerKind::Law(..)) => {
            Ok((when_shared(kind, Some(detector)), format!("{own}+{suffix}")))
        }
        (Some((detector, suffix)), ControllerKind::Scheme(scheme)) if scheme.groups() => {
            Ok((when_shared(kind, Some(detector)), format!("{own}+{suffix}")))
        }
        (Some(_), _) => {
            let problem = format!("`{own}` is not a law");
            let right = "laws can be coupled when paths share, as in lia+sbd";
            Err(UnknownController(format!("`{text}`: {problem}; {right}")))
        }
    }
}

/// A law that couples only paths that share, if a detector is given.
fn when_shared(law: ControllerKind, detector: Option<AnyDetector>) -> ControllerKind {
    match detector {
        Some(detector) => ControllerKind::WhenShared(Arc::new(law), detector),
        None => law,
    }
}

/// The detector of `sbd` or `sbd:NAME`, and the suffix in results.
fn detector(text: &str, suffix: &str) -> Result<(AnyDetector, String), UnknownController> {
    let name = strip(SBD, suffix).unwrap_or(suffix);
    if name.is_empty() {
        return Ok((AnyDetector::DEFAULT, SBD.into()));
    }
    let name = name.strip_prefix(':').unwrap_or(name);
    if let Some(found) = AnyDetector::named(name) {
        let suffix = match found == AnyDetector::DEFAULT {
            true => SBD.into(),
            false => format!("{SBD}:{}", found.described().names[0]),
        };
        return Ok((found, suffix));
    }
    let all: Vec<&str> =
        AnyDetector::ALL.iter().flat_map(|kind| kind.described().names).copied().collect();
    let near = offer(name, all.iter().copied());
    let all: Vec<String> = all.iter().map(|name| format!("{SBD}:{name}")).collect();
    let there = if near.is_empty() { "; there" } else { " There" };
    let problem = format!("there is no detector of shared bottlenecks `{suffix}`{near}");
    Err(UnknownController(format!("`{text}`: {problem}{there} are {SBD}, {}", all.join(", "))))
}

/// Looks up `name` with this option and slow start; `None` if no controller has this name.
fn called(
    text: &str,
    name: &str,
    option: Option<&str>,
    slow_start: Option<(AnySlowStart, String)>,
) -> Option<Read> {
    let law = |law| ControllerKind::Law(law, AnySlowStart::STANDARD);
    let laws = AnyLaw::called(name, option).into_iter().map(|called| called.map(law));
    let schemes = AnyScheme::called(name, option).into_iter();
    let mut all: Vec<_> = laws.chain(schemes.map(|own| own.map(ControllerKind::Scheme))).collect();
    let first = all.pop()?;
    if !all.is_empty() {
        return Some(Err(ambiguous(name, all.iter().chain([&first]))));
    }
    let Some((kind, own)) = first.kind else {
        return Some(Err(wrong_option(text, first.name)));
    };
    Some(match slow_start {
        None => Ok((kind, own)),
        Some((slow_start, name)) => {
            let kind = with_slow_start(&kind, slow_start).ok_or_else(|| {
                let problem = format!("`{own}` has a slow start of its own");
                let right = "laws take another one, as in lia+hystart";
                UnknownController(format!("`{text}`: {problem}; {right}"))
            });
            kind.map(|kind| (kind, format!("{own}+{name}")))
        }
    })
}

fn with_slow_start(kind: &ControllerKind, slow_start: AnySlowStart) -> Option<ControllerKind> {
    match kind {
        ControllerKind::Law(law, _) => Some(ControllerKind::Law(*law, slow_start)),
        ControllerKind::Scheme(own) => own.with_slow_start(slow_start).map(ControllerKind::Scheme),
        ControllerKind::Kernel(_)
        | ControllerKind::KernelScheme(_)
        | ControllerKind::WhenShared(..)
        | ControllerKind::Written(..)
        | ControllerKind::KernelWritten(_)
        | ControllerKind::Linux(_)
        | ControllerKind::Noq(_)
        | ControllerKind::Outside(_) => None,
    }
}

/// The slow start called `name`, and its name in results.
fn slow_start(text: &str, name: &str) -> Result<(AnySlowStart, String), UnknownController> {
    let found = AnySlowStart::called(name, None).pop();
    found.and_then(|called| called.kind).ok_or_else(|| {
        let all = AnySlowStart::listed().into_iter().flat_map(|kind| kind.described.names);
        let all: Vec<&str> = all.copied().collect();
        let (offer, all) = (offer(name, all.iter().copied()), all.join(", "));
        let there = if offer.is_empty() { "; there" } else { " There" };
        let problem = format!("there is no slow start `{name}`{offer}");
        UnknownController(format!("`{text}`: {problem}{there} are {all}"))
    })
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The error for a text that does not name a controller, with the names or options that were
/// probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownController(String);

/// The error for `text`, which is not a name.
fn unknown(text: &str) -> UnknownController {
    if let Some(Reference { file, .. }) = law_file(text) {
        let why = "is a law in a file, and files are not read here: give its text";
        return UnknownController(format!("`{file}` {why}"));
    }
    let all = listed();
    let name = text.split([':', '+']).next().unwrap_or(text);
    let offer = match offer(name, all.iter().flat_map(Listed::names)) {
        none if none.is_empty() => "; `anabranch list controllers` shows all".into(),
        near => near,
    };
    UnknownController(format!("there is no controller `{text}`{offer}"))
}

/// The error for `text` if the option of the kind `name` is missing or unknown.
fn wrong_option(text: &str, name: &str) -> UnknownController {
    let known = listed().into_iter().find(|kind| kind.described.names[0] == name);
    let options = known.map(|kind| kind.options).unwrap_or_default();
    let all = options.iter().map(|(option, meaning)| format!("{name}:{option} ({meaning})"));
    let all = match options.is_empty() {
        true => format!("none: write {name}"),
        false => all.collect::<Vec<_>>().join(" "),
    };
    let problem = "is not complete or its option is unknown; the options are";
    UnknownController(format!("`{text}` {problem} {all}"))
}

/// The error for a name that papers use for several kinds.
fn ambiguous<'a>(
    name: &str,
    all: impl Iterator<Item = &'a Called<ControllerKind>>,
) -> UnknownController {
    let listed = listed();
    let meaning = |called: &Called<ControllerKind>| {
        let own = listed.iter().find(|kind| kind.described.names[0] == called.name);
        let summary = own.map_or("", |kind| kind.described.summary);
        format!("`{}` ({summary})", called.name)
    };
    let all: Vec<String> = all.map(meaning).collect();
    let all = all.join(" or ");
    UnknownController(format!("`{name}` has more than one meaning: write {all}"))
}

impl fmt::Display for UnknownController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for UnknownController {}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<ControllerSpec>().expect_err(text).to_string()
    }

    #[test]
    fn a_controller_prints_as_results_call_it_however_it_is_written() {
        for (text, name) in [
            ("lia", "lia"),
            ("OLIA", "olia"),
            ("Uncoupled", "uncoupled"),
            ("RTT Compensator", "lia"),
            ("Linked Increases", "lia:uncapped"),
            ("SEMI-COUPLED", "semicoupled"),
            ("tcp", "reno"),
            ("NewReno", "reno"),
            ("Couple+", "couple-plus"),
            ("phi:0.50", "phi:0.5"),
            ("EWTCP:Literal", "ewtcp:literal"),
            ("cs218:ACKS 7", "cs218:acks-7"),
            ("Kernel:TCP", "kernel:reno"),
            ("Cubic:HyStart", "cubic:hystart"),
            ("rtt-compensator+HYSTART", "lia+hystart"),
            ("OLIA+hystart+SBD", "olia+hystart+sbd"),
            ("lia+sbd:RFC 8382", "lia+sbd:rfc8382"),
            ("Linux:westwood", "linux:westwood"),
            ("NOQ:Cubic", "noq:cubic"),
        ] {
            assert_eq!(text.parse::<ControllerSpec>().expect(text).to_string(), name);
        }
    }

    #[test]
    fn a_name_of_the_kernels_own_is_one_that_the_kernel_could_have() {
        for text in ["linux:", "linux:a name", "linux:sixteen-letters-"] {
            assert!(error(text).contains("tcp_available_congestion_control"), "{text}");
        }
        let own: ControllerSpec = "linux:dctcp".parse().expect("a name");
        assert_eq!((own.linux(), own.ported()), (Some("dctcp"), false));
        assert!(crate::AnyController::new(&own, crate::Settings::default(), 1).is_none());
    }

    #[test]
    fn a_name_of_the_quic_stacks_own_is_one_that_it_has() {
        assert!(error("noq:reno").contains("noq:newreno, noq:cubic, noq:bbr3"));
        let own: ControllerSpec = "noq:bbr3".parse().expect("a name");
        assert_eq!((own.noq(), own.linux(), own.ported()), (Some("bbr3"), None, false));
        assert!(crate::AnyController::new(&own, crate::Settings::default(), 1).is_none());
    }

    #[test]
    fn every_name_of_the_registry_is_found_and_what_it_prints_is_read_as_the_same() {
        for name in listed().iter().flat_map(Listed::names) {
            match name.parse::<ControllerSpec>() {
                Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec)),
                Err(UnknownController(why)) => assert!(
                    why.contains("more than one meaning") || why.contains("the options are"),
                    "{why}"
                ),
            }
        }
    }

    #[test]
    fn a_name_that_papers_give_to_two_laws_is_refused_with_both() {
        for text in ["COUPLED", "coupled", "coupled+hystart"] {
            let why = error(text);
            assert!(why.contains("`fully-coupled` (") && why.contains("`lia` ("), "{why}");
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
    fn what_the_kernel_runs_has_neither_an_option_nor_another_slow_start() {
        let ported = |text: &str| text.parse::<ControllerSpec>().expect(text).ported();
        for text in ["lia", "kernel:lia", "uncoupled", "tcp", "RTT compensator", "olia+sbd"] {
            assert!(ported(text), "{text}");
        }
        for text in ["coupled-cubic", "kernel:coupled-cubic", "coupled-cubic+sbd"] {
            assert!(ported(text), "{text}");
        }
        for text in [
            "lia:uncapped",
            "linked increases",
            "lia+hystart",
            "phi:1",
            "cubic",
            "lia+hystart+sbd",
            "lia+sbd:dwc",
            "coupled-cubic+hystart",
        ] {
            assert!(!ported(text), "{text}");
        }
    }

    #[test]
    fn a_misspelt_controller_is_answered_with_the_name_that_is_near() {
        assert_eq!(error("oila"), "there is no controller `oila`; did you mean `olia`?");
        let none = "there is no controller `quick`; `anabranch list controllers` shows all";
        assert_eq!(error("quick"), none);
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
    fn laws_and_cubic_take_another_slow_start_and_laws_a_detector() {
        let same = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| text.parse::<ControllerSpec>().unwrap().kind);
            assert_eq!(a, b);
        };
        same("lia", "lia+standard");
        same("cubic:hystart", "cubic+hystart");
        let why = error("lia+hystrat");
        assert!(why.contains("did you mean `hystart`? There are standard, hystart"), "{why}");
        assert!(error("lia+quick").contains("no slow start `quick`; there are standard"));
        same("lia+sbd", "lia+standard+sbd:correlation");
        let why = error("lia+sbd:loses");
        assert!(why.contains("did you mean `losses`? There are sbd, sbd:correlation"), "{why}");
        assert!(error("lia+sbd+hystart").contains("write LAW, then +SLOW_START, then +sbd"));
        assert!(error("bbr+sbd").contains("`bbr` is not a law"));
        assert!(error("bbr+hystart").contains("`bbr` has a slow start of its own"));
    }
}
