//! The laws in whole numbers: from their text, of which those with a shipped kernel controller are
//! built natively and others are evaluated, or from C.
#![expect(
    unsafe_code,
    reason = "each function reads structures, writes at most one, and keeps nothing"
)]

use crate::header::Header;
use crate::step::{RawViews, Step, View, Views, Window, paths_with};
use control::{Acked, AnyLaw, Law, LawVisitor, Notes, PathView, TextLaw, Written};
use core::fmt;
use formula::Event;
use formula::LawError;
use formula::integer::{IntegerLaw, NOTES, News};
use std::sync::{Arc, LazyLock};

/// One segment in the unit of growth and credit.
const SEGMENT: f64 = (1u64 << 32) as f64;

/// A law in whole numbers.
#[derive(Clone)]
pub struct Port {
    form: Form,
    coupled: bool,
    min_ssthresh: u32,
    least: usize,
}

/// Where a law comes from.
#[derive(Clone)]
enum Form {
    /// A text.
    Text { readable: Readable, integer: Arc<IntegerLaw>, native: Option<Native> },
    /// C in `bpf/laws`.
    Header(&'static Header),
}

/// The law of the simulator and of theory.
#[derive(Clone)]
enum Readable {
    /// A law in Rust.
    Registered(AnyLaw),
    /// A law in text.
    Written(Written),
}

/// The C of a law, built natively.
#[derive(Clone, Copy)]
struct Native {
    growth: unsafe extern "C" fn(*const RawViews) -> i64,
    backoff: unsafe extern "C" fn(*const RawViews) -> i64,
}

unsafe extern "C" {
    fn ab_native_grow(window: *mut Window, growth: i64, acked: u32);
}

macro_rules! ports {
    ($($law:literal: $text:literal $growth:ident $backoff:ident),* $(,)?) => {
        unsafe extern "C" {
            $(
                fn $growth(views: *const RawViews) -> i64;
                fn $backoff(views: *const RawViews) -> i64;
            )*
        }

        /// Every law in text with a shipped kernel controller.
        fn texts() -> Vec<Port> {
            vec![$(
                Port::shipped($law, include_str!($text), Native { growth: $growth, backoff: $backoff })
            ),*]
        }
    };
}

/// Every law with a shipped kernel controller.
pub static PORTS: LazyLock<Vec<Port>> = LazyLock::new(|| {
    let own = crate::header::HEADERS.iter().map(Port::of_header);
    texts().into_iter().chain(own).collect()
});

// One row for each controller of a law in `bpf`.
include!(concat!(env!("OUT_DIR"), "/laws.rs"));

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel:{}", self.name())
    }
}

impl Port {
    /// The port of the shipped law or scheme `name`.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(name: &str) -> Self {
        let found = PORTS.iter().find(|port| port.name() == name);
        found.expect("laws that are ported have a port").clone()
    }

    fn of_header(header: &'static Header) -> Self {
        let [_, least, coupled, min_ssthresh] = *header.told();
        let (coupled, least) = (coupled != 0, least as usize);
        Port { form: Form::Header(header), coupled, min_ssthresh, least }
    }

    /// The port of a law written as text.
    ///
    /// # Errors
    /// The place in the text of a feature that the kernel's arithmetic does not have.
    pub fn written(law: &Written) -> Result<Self, LawError> {
        let integer = Arc::new(law.integer()?);
        Ok(Self::new(Readable::Written(law.clone()), law, integer, None))
    }

    /// The port of a shipped law, by its name and text.
    fn shipped(name: &str, text: &str, native: Native) -> Self {
        let law = TextLaw::read(text).expect("build.rs has read it");
        let integer = Arc::new(law.integer().expect("build.rs has written its C"));
        let readable = name.parse().expect("a controller in bpf has the name of its law");
        Self::new(Readable::Registered(readable), &law, integer, Some(native))
    }

    fn new(
        readable: Readable,
        law: &TextLaw,
        integer: Arc<IntegerLaw>,
        native: Option<Native>,
    ) -> Self {
        let min_ssthresh = law.min_ssthresh().ceil() as u32;
        let form = Form::Text { readable, integer, native };
        Port { form, coupled: law.couples(), min_ssthresh, least: 2 }
    }

    /// The name of the law.
    pub fn name(&self) -> &str {
        match &self.form {
            Form::Text { readable: Readable::Registered(law), .. } => law.described().names[0],
            Form::Text { readable: Readable::Written(law), .. } => law.name(),
            Form::Header(header) => header.name,
        }
    }

    /// Growth of the window of `views.me` for one acknowledged segment, in 2^-32 segments.
    pub fn growth(&self, views: &Views) -> i64 {
        match &self.form {
            // SAFETY: `RawViews` has the layout of `struct ab_views`, and the pointer is valid for
            // the call.
            Form::Text { native: Some(native), .. } => unsafe { (native.growth)(&views.into()) },
            Form::Text { integer, .. } => integer.growth(views.me as usize, &views.path),
            Form::Header(header) => header.growth(views),
        }
    }

    /// The window of `views.me` after a congestion event in segments, not floored.
    pub fn backoff(&self, views: &Views) -> i64 {
        match &self.form {
            // SAFETY: as above.
            Form::Text { native: Some(native), .. } => unsafe { (native.backoff)(&views.into()) },
            Form::Text { integer, .. } => integer.backoff(views.me as usize, &views.path),
            Form::Header(header) => header.backoff(views),
        }
    }

    /// Number of the law's own notes of each path.
    pub fn notes(&self) -> usize {
        match &self.form {
            Form::Text { integer, .. } => integer.notes(),
            Form::Header(header) => header.notes(),
        }
    }

    /// Most subflows of a coupled connection.
    pub fn most_paths(&self) -> usize {
        paths_with(self.notes())
    }

    /// The fewest usable paths that the law decides for; below it the kernel's Reno does.
    pub fn least_paths(&self) -> usize {
        self.least
    }

    /// The notes of a path that has just joined.
    pub fn first_notes(&self) -> [u64; NOTES] {
        match &self.form {
            Form::Text { integer, .. } => integer.initial(),
            Form::Header(header) => header.first_notes(),
        }
    }

    /// The notes of a path after an event; `view` is its state before.
    pub fn noted(&self, event: Event, view: View, news: News) -> [u64; NOTES] {
        match &self.form {
            Form::Text { integer, .. } => integer.update(event, view, news),
            Form::Header(header) => header.noted(event, view, news),
        }
    }

    /// The notes of `views.me` after an ACK in congestion avoidance, before it grows.
    pub fn noted_growth(&self, views: &Views, news: News) -> [u64; NOTES] {
        match &self.form {
            Form::Text { .. } => views.path[views.me as usize].notes,
            Form::Header(header) => header.noted_growth(views, news),
        }
    }

    /// Whether paths influence each other.
    pub fn coupled(&self) -> bool {
        self.coupled
    }

    /// Smallest ssthresh of coupled paths in segments, by default.
    pub fn min_ssthresh(&self) -> u32 {
        self.min_ssthresh
    }

    /// The window after `acked` segments that add `growth` each: its whole segments and its
    /// fraction in 2^-32 segments.
    pub fn grow(cwnd: u32, credit: i64, growth: i64, acked: u32) -> (u32, i64) {
        let mut window = Window { credit, cwnd };
        // SAFETY: `Window` has the layout of `struct ab_window`, and the pointer is valid for the
        // call.
        unsafe { ab_native_grow(&mut window, growth, acked) };
        (window.cwnd, window.credit)
    }

    /// The growth of the readable law at the step, in segments for each one acknowledged.
    pub fn readable_growth(&self, step: &Step) -> f64 {
        match &self.form {
            Form::Text { readable, integer, .. } => {
                readable.value(integer, &step.views, Formula::Growth)
            }
            Form::Header(header) => (header.readable.growth)(&step.views).0,
        }
    }

    /// The window of `views.me` after a congestion event by the readable law, in segments.
    pub fn readable_backoff(&self, views: &Views) -> f64 {
        match &self.form {
            Form::Text { readable, integer, .. } => {
                readable.value(integer, views, Formula::Backoff)
            }
            Form::Header(header) => (header.readable.backoff)(views),
        }
    }

    /// Whether the readable law agrees with the step, within the bound of the arithmetic. Where
    /// truncation may decide a condition, either answer is right.
    pub fn is_readable(&self, step: &Step) -> bool {
        let growth = step.growth as f64 / SEGMENT;
        match &self.form {
            Form::Text { integer, .. } => {
                let within = integer.growth_within(step.views.me as usize, &step.views.path);
                within.is_none_or(|(_, error)| (growth - self.readable_growth(step)).abs() <= error)
            }
            Form::Header(header) => {
                let (exact, error) = (header.readable.growth)(&step.views);
                error.is_none_or(|error| (growth - exact).abs() <= error)
            }
        }
    }

    /// Computes the step again from its views.
    pub fn replay(&self, step: &Step) -> Step {
        let growth = self.growth(&step.views);
        let (after_cwnd, after_credit) =
            Self::grow(step.before_cwnd, step.before_credit, growth, step.acked);
        let backoff = self.backoff(&step.views);
        Step { growth, backoff, after_cwnd, after_credit, ..*step }
    }
}

impl Readable {
    fn value(&self, integer: &IntegerLaw, views: &Views, formula: Formula) -> f64 {
        match self {
            Readable::Registered(law) => law.visit(Seen { views, formula }),
            Readable::Written(law) => {
                formula.value(law, views, |view| Notes(integer.real_notes(view)))
            }
        }
    }
}

/// A formula of a readable law, evaluated on the views of a law in C.
struct Seen<'a> {
    views: &'a Views,
    formula: Formula,
}

enum Formula {
    Growth,
    Backoff,
}

impl Formula {
    fn value<L: Law>(self, law: &L, views: &Views, note: impl Fn(&View) -> L::Note) -> f64 {
        let paths = views.path.each_ref().map(|view| PathView {
            cwnd: f64::from(view.cwnd),
            srtt: f64::from(view.srtt) * 1e-6,
            note: note(view),
            usable: view.srtt > 0,
        });
        match self {
            Formula::Growth => law.growth(views.me as usize, &paths),
            Formula::Backoff => law.backoff(views.me as usize, &paths),
        }
    }
}

impl LawVisitor for Seen<'_> {
    type Output = f64;

    fn visit<L: Law + 'static>(self, law: L) -> f64 {
        self.formula.value(&law, self.views, |view| note(&law, view))
    }
}

/// The law's note of a path with this history of losses.
fn note<L: Law>(law: &L, view: &View) -> L::Note {
    let acked = |segments: u32| Acked { segments: f64::from(segments), ..Acked::default() };
    let mut note = law.new_note();
    law.note_acked(&mut note, &acked(view.between_losses));
    law.note_lost(&mut note);
    law.note_acked(&mut note, &acked(view.since_loss));
    note
}
