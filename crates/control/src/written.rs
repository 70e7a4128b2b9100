//! A law written as text: see `formula`.
//!
//! A growth that is not finite counts as zero. A window after a loss that is not finite counts as
//! half of the window. Both happen only to laws whose notes grow without bound.

use crate::law::PathView;
use crate::{Acked, Law, See, Span};
use alloc::sync::Arc;
use core::ops::Deref;
use formula::{Event, Inputs, MOST_NOTES, Symbol, TextLaw};

/// A law written as text, shared by the connections under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written(Arc<TextLaw>);

impl From<TextLaw> for Written {
    fn from(law: TextLaw) -> Self {
        Written(Arc::new(law))
    }
}

impl Deref for Written {
    type Target = TextLaw;

    fn deref(&self) -> &TextLaw {
        &self.0
    }
}

/// Notes of a written law on one path; places beyond its notes are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Notes(pub [f64; MOST_NOTES]);

/// Input of formulas: the published state of the paths.
struct Paths<'a>(&'a [PathView<Notes>]);

impl Inputs<f64> for Paths<'_> {
    #[inline(always)] // an operation of the evaluator
    fn paths(&self) -> usize {
        self.0.len()
    }

    #[inline(always)] // an operation of the evaluator
    fn usable(&self, path: usize) -> bool {
        self.0[path].usable
    }

    #[inline(always)] // an operation of the evaluator
    fn read(&self, symbol: Symbol, path: usize) -> f64 {
        let view = &self.0[path];
        match symbol {
            Symbol::Window => view.cwnd,
            Symbol::Rtt => view.srtt,
            Symbol::Note(note) => view.note.0[usize::from(note) % MOST_NOTES],
            Symbol::Acked | Symbol::LastRtt | Symbol::Loss => f64::NAN, // not read by formulas
        }
    }
}

/// Input of note updates and steady values: the path itself, and the event.
#[derive(Clone, Copy, Default)]
struct Happened {
    notes: Notes,
    acked: f64,
    rtt: f64,
    last_rtt: f64,
    loss: f64,
}

impl Inputs<f64> for Happened {
    fn paths(&self) -> usize {
        1
    }

    fn usable(&self, _path: usize) -> bool {
        true
    }

    fn read(&self, symbol: Symbol, _path: usize) -> f64 {
        match symbol {
            Symbol::Window => f64::NAN, // not read by updates
            Symbol::Rtt => self.rtt,
            Symbol::Note(note) => self.notes.0[usize::from(note) % MOST_NOTES],
            Symbol::Acked => self.acked,
            Symbol::LastRtt => self.last_rtt,
            Symbol::Loss => self.loss,
        }
    }
}

impl Written {
    fn update(&self, event: Event, notes: &mut Notes, happened: Happened) {
        self.0.update(event, &mut notes.0, |now: &[f64]| {
            let mut happened = happened;
            happened.notes.0.copy_from_slice(now);
            happened
        });
    }
}

impl Law for Written {
    type Note = Notes;

    #[inline] // runs for every ACK
    fn growth(&self, me: usize, paths: &[PathView<Notes>]) -> f64 {
        let growth: f64 = self.0.growth(me, &Paths(paths));
        if growth.is_finite() { growth } else { 0.0 }
    }

    fn backoff(&self, me: usize, paths: &[PathView<Notes>]) -> f64 {
        let backoff: f64 = self.0.backoff(me, &Paths(paths));
        if backoff.is_finite() { backoff } else { paths[me].cwnd / 2.0 }
    }

    fn coupled(&self) -> bool {
        self.0.couples()
    }

    fn new_note(&self) -> Notes {
        let mut notes = Notes::default();
        self.0.initial(&mut notes.0);
        notes
    }

    fn min_ssthresh(&self) -> f64 {
        self.0.min_ssthresh()
    }

    #[inline] // runs for every ACK
    fn note_acked(&self, note: &mut Notes, ack: &Acked) {
        if self.0.notes_acks() {
            let Acked { segments: acked, srtt, rtt, .. } = *ack;
            let [rtt, last_rtt] = [srtt, rtt].map(Span::seconds);
            self.update(Event::Ack, note, Happened { acked, rtt, last_rtt, ..Happened::default() });
        }
    }

    fn note_lost(&self, note: &mut Notes) {
        self.update(Event::Loss, note, Happened::default());
    }

    fn observe(&self, me: usize, paths: &[PathView<Notes>], see: See<'_>) {
        let quantities = self.0.quantities();
        self.0.observe(me, &Paths(paths), |place, value: f64| see(&quantities[place].name, value));
    }

    fn steady_note(&self, loss: f64, rtt: f64) -> Notes {
        let mut notes = Notes::default();
        self.0.steady(&mut notes.0, &Happened { loss, rtt, ..Happened::default() });
        notes
    }
}
