//! The laws in whole numbers: those in C, and those that are generated from text.
#![expect(
    unsafe_code,
    reason = "each function reads one structure, writes at most another, and keeps nothing"
)]

use crate::step::{PATHS, Step, View, Views, Window};
use control::{Acked, AnyLaw, Law, LawVisitor, PathView, Written};
use core::fmt;
use formula::LawError;
use formula::integer::{self, IntegerLaw};
use std::sync::{Arc, LazyLock};

/// One segment in the unit of growth and credit.
const SEGMENT: f64 = (1u64 << 32) as f64;

/// The bound on the relative error of one operation of `number.h`.
const OPERATION: f64 = 1.0 / (1u64 << 31) as f64;

/// A law in whole numbers.
#[derive(Clone)]
pub struct Port {
    law: Source,
    grow: unsafe extern "C" fn(*mut Window, i64, u32),
    coupled: bool,
    min_ssthresh: u32,
}

/// Where a law in whole numbers comes from.
#[derive(Clone)]
enum Source {
    /// A header of `bpf/include`.
    Header {
        readable: AnyLaw,
        growth: unsafe extern "C" fn(*const Views) -> i64,
        backoff: unsafe extern "C" fn(*const Views) -> i64,
        bound: Bound,
    },
    /// The text of a law, of which the C is generated: the same arithmetic in Rust.
    Text { readable: Written, integer: Arc<IntegerLaw> },
}

/// What the header of a law states of the error of its growth: see `bpf/include/views.h`.
#[derive(Clone, Copy)]
struct Bound {
    relative: u32,
    of_reno: u32,
    absolute: u32,
}

macro_rules! ports {
    ($($law:literal: $growth:ident $backoff:ident $grow:ident
        $coupled:literal $floor:literal $relative:literal $of_reno:literal $absolute:literal),* $(,)?) => {
        unsafe extern "C" {
            $(
                fn $growth(views: *const Views) -> i64;
                fn $backoff(views: *const Views) -> i64;
                fn $grow(window: *mut Window, growth: i64, acked: u32);
            )*
        }

        /// Every law that the kernel can run.
        pub static PORTS: LazyLock<Vec<Port>> = LazyLock::new(|| vec![$(Port {
            law: Source::Header {
                readable: $law.parse().expect("a header in bpf/include has the name of its law"),
                growth: $growth,
                backoff: $backoff,
                bound: Bound { relative: $relative, of_reno: $of_reno, absolute: $absolute },
            },
            grow: $grow,
            coupled: $coupled != 0,
            min_ssthresh: $floor,
        }),*]);
    };
}
// One row for each header of a law in `bpf/include`.
include!(concat!(env!("OUT_DIR"), "/laws.rs"));

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel:{}", self.name())
    }
}

impl Port {
    /// The port of `law`.
    ///
    /// # Panics
    /// If the law says that it has one, and has none.
    pub fn of(law: AnyLaw) -> Self {
        let port = PORTS.iter().find(|port| port.header() == Some(law));
        port.expect("laws that are ported have a port").clone()
    }

    /// The port of a law that is written as text.
    ///
    /// # Errors
    /// The place in the text of what the kernel's arithmetic does not have.
    pub fn written(law: &Written) -> Result<Self, LawError> {
        let integer = Arc::new(law.integer()?);
        Ok(Port {
            grow: PORTS[0].grow, // windows move in the same way under every law
            coupled: law.couples(),
            min_ssthresh: law.min_ssthresh().ceil() as u32,
            law: Source::Text { readable: law.clone(), integer },
        })
    }

    /// The law of a header.
    fn header(&self) -> Option<AnyLaw> {
        match self.law {
            Source::Header { readable, .. } => Some(readable),
            Source::Text { .. } => None,
        }
    }

    /// Whether growth jumps where paths tie.
    pub fn set_valued(&self) -> bool {
        match &self.law {
            Source::Header { readable, .. } => readable.described().set_valued,
            Source::Text { readable, .. } => readable.jumps(),
        }
    }

    /// The name of the law.
    pub fn name(&self) -> &str {
        match &self.law {
            Source::Header { readable, .. } => readable.described().names[0],
            Source::Text { readable, .. } => readable.name(),
        }
    }

    /// What one acknowledged segment adds to the window of `views.me`, in 2^-32 segments.
    pub fn growth(&self, views: &Views) -> i64 {
        match &self.law {
            // SAFETY: `Views` has the layout of `struct ab_views`, and the pointer is valid for the
            // call.
            Source::Header { growth, .. } => unsafe { growth(views) },
            Source::Text { integer, .. } => integer.growth(views.me as usize, &seen(views)),
        }
    }

    /// The window of `views.me` after a congestion event in segments, not floored.
    pub fn backoff(&self, views: &Views) -> i64 {
        match &self.law {
            // SAFETY: as above.
            Source::Header { backoff, .. } => unsafe { backoff(views) },
            Source::Text { integer, .. } => integer.backoff(views.me as usize, &seen(views)),
        }
    }

    /// Whether paths influence each other.
    pub fn coupled(&self) -> bool {
        self.coupled
    }

    /// Smallest ssthresh of coupled paths in segments, unless another is asked for.
    pub fn min_ssthresh(&self) -> u32 {
        self.min_ssthresh
    }

    /// The window after `acked` segments that add `growth` each: its whole segments and its
    /// fraction in 2^-32 segments.
    pub fn grow(&self, cwnd: u32, credit: i64, growth: i64, acked: u32) -> (u32, i64) {
        let mut window = Window { credit, cwnd };
        // SAFETY: `Window` has the layout of `struct ab_window`, and the pointer is valid for the
        // call.
        unsafe { (self.grow)(&mut window, growth, acked) };
        (window.cwnd, window.credit)
    }

    /// What the readable law says of the step, in segments for each one acknowledged.
    pub fn readable_growth(&self, step: &Step) -> f64 {
        self.readable(&step.views, Formula::Growth)
    }

    /// What the readable law says of the window of `views.me` after a congestion event, in
    /// segments.
    pub fn readable_backoff(&self, views: &Views) -> f64 {
        self.readable(views, Formula::Backoff)
    }

    fn readable(&self, views: &Views, formula: Formula) -> f64 {
        let readable = Readable { views, formula };
        match &self.law {
            Source::Header { readable: law, .. } => law.visit(readable),
            Source::Text { readable: law, .. } => readable.visit(law.clone()),
        }
    }

    /// Whether the readable law says the same as the step, within the bound that the law's header
    /// states.
    pub fn is_readable(&self, step: &Step) -> bool {
        let Bound { relative, of_reno, absolute } = match &self.law {
            Source::Header { bound, .. } => *bound,
            Source::Text { integer, .. } => {
                let within = integer.growth_within(step.views.me as usize, &seen(&step.views));
                // Where truncation may decide a condition either answer is right.
                return within.is_none_or(|(growth, error)| {
                    (step.growth as f64 / SEGMENT - growth).abs() <= error
                });
            }
        };
        let readable = self.readable_growth(step);
        let reno = 1.0 / f64::from(step.views.path[step.views.me as usize].cwnd);
        let scaled = f64::from(relative) * readable.abs() + f64::from(of_reno) * reno;
        let bound = scaled * OPERATION + f64::from(absolute) / SEGMENT;
        (step.growth as f64 / SEGMENT - readable).abs() <= bound
    }

    /// The step again, from what the law saw.
    pub fn replay(&self, step: &Step) -> Step {
        let growth = self.growth(&step.views);
        let (after_cwnd, after_credit) =
            self.grow(step.before_cwnd, step.before_credit, growth, step.acked);
        let backoff = self.backoff(&step.views);
        Step { growth, backoff, after_cwnd, after_credit, ..*step }
    }
}

/// The paths of views as a generated law sees them.
fn seen(views: &Views) -> [integer::View; PATHS] {
    views.path.map(|View { cwnd, srtt, since_loss, between_losses }| integer::View {
        cwnd,
        srtt,
        since_loss,
        between_losses,
    })
}

/// The formulas of a readable law for what a law in C sees.
struct Readable<'a> {
    views: &'a Views,
    formula: Formula,
}

enum Formula {
    Growth,
    Backoff,
}

impl LawVisitor for Readable<'_> {
    type Output = f64;

    fn visit<L: Law + 'static>(self, law: L) -> f64 {
        let paths = self.views.path.each_ref().map(|view| PathView {
            cwnd: f64::from(view.cwnd),
            srtt: f64::from(view.srtt) * 1e-6,
            note: note(&law, view),
            usable: view.srtt > 0,
        });
        match self.formula {
            Formula::Growth => law.growth(self.views.me as usize, &paths),
            Formula::Backoff => law.backoff(self.views.me as usize, &paths),
        }
    }
}

/// What a law remembers of a path with this history of losses.
fn note<L: Law>(law: &L, view: &View) -> L::Note {
    let acked = |segments: u32| Acked { segments: f64::from(segments), ..Acked::default() };
    let mut note = law.new_note();
    law.note_acked(&mut note, &acked(view.between_losses));
    law.note_lost(&mut note);
    law.note_acked(&mut note, &acked(view.since_loss));
    note
}
