//! Notes of a path in the kernel: the segments between losses, counted for every law, and the law's
//! own notes.

use super::{FromWhole, IntegerLaw, Truncated, View};
use crate::collect::MOST_NOTES;
use crate::error::{LawError, Mistake};
use crate::graph::{NodeId, Symbol, Two};
use crate::law::TextLaw;
use crate::number::Number;
use crate::prelude;
use crate::program::{Inputs, Program};
use crate::range::{COUNTED, LEAST_RTT};
use crate::statement::Event;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most own notes of a law in the kernel: the rest of `icsk_ca_priv`.
pub const NOTES: usize = 4;

/// The event of an ACK: `struct ab_news` of `bpf/include/intf.h`, without the fields of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Segments acknowledged by the ACK.
    pub acked: u32,
    /// The newest round-trip sample in µs; zero before the first.
    pub rtt: u32,
    /// Window before the event in segments; no law in text reads it, nor the two below.
    pub cwnd: u32,
    /// Time in µs, modulo 2^32.
    pub now: u32,
    /// Whether the path is in slow start.
    pub slow: bool,
}

/// The place of a note in the kernel.
#[derive(Clone, Debug, PartialEq)]
enum Kept {
    /// A whole number kept for every path, by the name of its field.
    Counted(&'static str),
    /// One of the law's own notes, by its index.
    Own(usize),
}

/// The update of an own note by an event, in terms of the text.
#[derive(Clone, Debug)]
pub(super) struct Written {
    event: Event,
    place: usize,
    pub(super) value: NodeId,
}

/// The same update in whole numbers.
#[derive(Clone, Debug)]
pub(super) struct Update {
    event: Event,
    /// The index of the note.
    pub(super) place: usize,
    pub(super) value: (NodeId, Program),
}

/// The notes of a law.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    kept: Vec<Kept>,
    /// Its own notes: their names, and their values when the path joins.
    own: Vec<(String, f64)>,
    updates: Vec<Update>,
}

impl Notes {
    /// The notes of a law, and their updates by events.
    pub(super) fn of(law: &TextLaw) -> Result<(Self, Vec<Written>), LawError> {
        let (mut kept, mut own) = (Vec::new(), Vec::new());
        for note in law.notes() {
            kept.push(match COUNTED.iter().find(|name| **name == note.name) {
                Some(name) => Kept::Counted(name),
                None => {
                    own.push((note.name.clone(), note.initial));
                    Kept::Own(own.len() - 1)
                }
            });
            if own.len() > NOTES {
                let shown = if note.name == LEAST_RTT { "rtt_min" } else { &note.name };
                let message = format!(
                    "the kernel has room for {NOTES} notes of a path, and `{shown}` is one more"
                );
                let mention = prelude::mention(law.text(), shown);
                return Err(LawError::new(law.text(), Mistake::new(message, mention)));
            }
        }
        let mut written = Vec::new();
        for event in [Event::Ack, Event::Loss] {
            for (note, value) in law.updates(event) {
                if let Kept::Own(place) = kept[note] {
                    written.push(Written { event, place, value });
                }
            }
        }
        Ok((Notes { kept, own, updates: Vec::new() }, written))
    }

    /// The same with updates; `written` has their values in whole numbers.
    pub(super) fn with(
        self,
        written: &[Written],
        values: &[NodeId],
        program: impl Fn(NodeId) -> Program,
    ) -> Self {
        let update = |(written, value): (&Written, &NodeId)| {
            let Written { event, place, .. } = *written;
            Update { event, place, value: (*value, program(*value)) }
        };
        Notes { updates: written.iter().zip(values).map(update).collect(), ..self }
    }

    /// Number of the law's own notes.
    pub(super) fn count(&self) -> usize {
        self.own.len()
    }

    /// The names of its own notes, and their values when the path joins.
    pub(super) fn own(&self) -> &[(String, f64)] {
        &self.own
    }

    pub(super) fn updates(&self, event: Event) -> impl Iterator<Item = &Update> {
        self.updates.iter().filter(move |update| update.event == event)
    }

    /// The field that counts a note, if it is counted.
    pub(super) fn field(&self, note: u8) -> Option<&'static str> {
        match self.kept[usize::from(note)] {
            Kept::Counted(field) => Some(field),
            Kept::Own(_) => None,
        }
    }

    /// A note in C.
    pub(super) fn text(&self, note: u8, path: &str) -> String {
        match self.kept[usize::from(note)] {
            Kept::Counted(field) => format!("ab_whole({path}->{field})"),
            Kept::Own(place) => format!("{path}->note[{place}]"),
        }
    }

    pub(super) fn read<N: FromWhole>(&self, note: u8, view: &View) -> N {
        match self.kept[usize::from(note)] {
            Kept::Counted("since_loss") => N::whole_number(view.since_loss),
            Kept::Counted(_) => N::whole_number(view.between_losses),
            Kept::Own(place) => N::of_truncated(Truncated::from_bits(view.notes[place])),
        }
    }
}

/// The input of updates: the path before the event, and the event.
struct Happened<'a> {
    law: &'a IntegerLaw,
    view: View,
    news: News,
}

impl Inputs<Truncated> for Happened<'_> {
    fn paths(&self) -> usize {
        1
    }

    fn usable(&self, _path: usize) -> bool {
        true
    }

    fn read(&self, symbol: Symbol, _path: usize) -> Truncated {
        match symbol {
            Symbol::Acked => Truncated::whole(self.news.acked.into()),
            Symbol::Rtt => seconds(self.view.srtt),
            Symbol::LastRtt => seconds(self.news.rtt),
            Symbol::Note(note) => self.law.notes.read(note, &self.view),
            Symbol::Window | Symbol::Loss => Truncated::default(), // not read by updates
        }
    }
}

fn seconds(micros: u32) -> Truncated {
    Truncated::two(Two::Over, Truncated::whole(micros.into()), Truncated::whole(1_000_000))
}

impl IntegerLaw {
    /// The notes of a path that has just joined.
    pub fn initial(&self) -> [u64; NOTES] {
        let mut notes = [0; NOTES];
        for (note, (_, value)) in notes.iter_mut().zip(self.notes.own()) {
            *note = Truncated::real(*value).bits();
        }
        notes
    }

    /// All notes of a path in the order of the text, as real numbers.
    pub fn real_notes(&self, view: &View) -> [f64; MOST_NOTES] {
        let mut notes = [0.0; MOST_NOTES];
        for (place, note) in notes.iter_mut().take(self.notes.kept.len()).enumerate() {
            let value: Truncated = self.notes.read(place as u8, view);
            *note = value.real_value();
        }
        notes
    }

    /// The notes of a path after an event; `view` is its state before. Identical to the C, bit by
    /// bit.
    pub fn update(&self, event: Event, view: View, news: News) -> [u64; NOTES] {
        let mut happened = Happened { law: self, view, news };
        for Update { place, value: (_, program), .. } in self.notes.updates(event) {
            let value: Truncated = program.value(0, &happened);
            happened.view.notes[*place] = value.bits();
        }
        happened.view.notes
    }
}
