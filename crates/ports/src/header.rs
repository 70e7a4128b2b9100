//! Laws that are written in C, in `bpf/laws`: what the language of laws does not have, such as
//! growth that follows time. Each has its formulas in real numbers beside it, in [`Readable`].
#![expect(
    unsafe_code,
    reason = "each function reads structures, writes at most one, and keeps nothing"
)]

use crate::cubic;
use crate::readable::Readable;
use crate::step::{SeenViews, View, Views};
use formula::Event;
use formula::integer::{NOTES, News};

/// A law in C, built natively.
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) readable: &'static Readable,
    native: Native,
    /// `AB_NOTES`, `AB_LEAST`, `AB_COUPLED`, `AB_MIN_SSTHRESH`.
    told: &'static [u32; 4],
}

/// The formulas of each law in C: one file and one line each.
const READABLE: [&Readable; 1] = [&cubic::COUPLED];

/// Those of the law `name`.
///
/// # Panics
/// If it has none.
const fn readable(name: &str) -> &'static Readable {
    let mut place = 0;
    while place < READABLE.len() {
        if same(READABLE[place].name, name) {
            return READABLE[place];
        }
        place += 1;
    }
    panic!("a law in bpf/laws has its formulas in READABLE")
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut place = 0;
    while place < a.len() && place < b.len() && a[place] == b[place] {
        place += 1;
    }
    place == a.len() && place == b.len()
}

/// `struct ab_notes`, with room for the notes of any law.
type RawNotes = [u64; NOTES];

/// `struct ab_news`.
#[repr(C)]
struct RawNews {
    acked: u32,
    rtt: u32,
    srtt: u32,
    since_loss: u32,
    between_losses: u32,
    cwnd: u32,
    now: u32,
    slow: u32,
}
layout!(ab_news, RawNews);

#[derive(Clone, Copy)]
struct Native {
    growth: unsafe extern "C" fn(*const SeenViews) -> i64,
    backoff: unsafe extern "C" fn(*const SeenViews) -> i64,
    first_notes: unsafe extern "C" fn(*mut RawNotes),
    note_ack: unsafe extern "C" fn(*mut RawNotes, *const RawNews),
    note_loss: unsafe extern "C" fn(*mut RawNotes, *const RawNews),
    note_growth: unsafe extern "C" fn(*mut RawNotes, *const RawNews, *const SeenViews),
}

macro_rules! headers {
    ($(
        $law:literal: $growth:ident $backoff:ident $first_notes:ident $note_ack:ident
        $note_loss:ident $note_growth:ident $told:ident
    ),* $(,)?) => {
        unsafe extern "C" {
            $(
                fn $growth(views: *const SeenViews) -> i64;
                fn $backoff(views: *const SeenViews) -> i64;
                fn $first_notes(notes: *mut RawNotes);
                fn $note_ack(notes: *mut RawNotes, news: *const RawNews);
                fn $note_loss(notes: *mut RawNotes, news: *const RawNews);
                fn $note_growth(notes: *mut RawNotes, news: *const RawNews, views: *const SeenViews);
                safe static $told: [u32; 4];
            )*
        }

        /// Every law in C with a shipped kernel controller.
        pub(crate) static HEADERS: &[Header] = &[$(Header {
            name: $law,
            readable: const { readable($law) },
            native: Native {
                growth: $growth,
                backoff: $backoff,
                first_notes: $first_notes,
                note_ack: $note_ack,
                note_loss: $note_loss,
                note_growth: $note_growth,
            },
            told: &$told,
        }),*];
    };
}
// One row for each controller of a law in `bpf/laws`.
include!(concat!(env!("OUT_DIR"), "/headers.rs"));

impl Header {
    /// `AB_NOTES`, `AB_LEAST`, `AB_COUPLED`, `AB_MIN_SSTHRESH`.
    pub(crate) fn told(&self) -> &'static [u32; 4] {
        self.told
    }

    pub(crate) fn notes(&self) -> usize {
        self.told[0] as usize
    }

    pub(crate) fn growth(&self, views: &Views) -> i64 {
        // SAFETY: the views are those of `struct ab_views` with the law's notes, and the pointer is
        // valid for the call.
        unsafe { (self.native.growth)(&views.seen(self.notes())) }
    }

    pub(crate) fn backoff(&self, views: &Views) -> i64 {
        // SAFETY: as above.
        unsafe { (self.native.backoff)(&views.seen(self.notes())) }
    }

    pub(crate) fn first_notes(&self) -> RawNotes {
        let mut notes = [0; NOTES];
        // SAFETY: there is room for the notes of any law, and the pointer is valid for the call.
        unsafe { (self.native.first_notes)(&mut notes) };
        notes
    }

    pub(crate) fn noted(&self, event: Event, view: View, news: News) -> RawNotes {
        let (mut notes, news) = (view.notes, raw(view, news));
        // SAFETY: as above; `RawNews` has the layout of `struct ab_news`.
        match event {
            Event::Ack => unsafe { (self.native.note_ack)(&mut notes, &news) },
            Event::Loss => unsafe { (self.native.note_loss)(&mut notes, &news) },
        }
        notes
    }

    pub(crate) fn noted_growth(&self, views: &Views, news: News) -> RawNotes {
        let view = views.path[views.me as usize];
        let (mut notes, news) = (view.notes, raw(view, news));
        // SAFETY: as above.
        unsafe { (self.native.note_growth)(&mut notes, &news, &views.seen(self.notes())) };
        notes
    }
}

fn raw(view: View, news: News) -> RawNews {
    let News { acked, rtt, cwnd, now, slow } = news;
    let View { srtt, since_loss, between_losses, .. } = view;
    RawNews { acked, rtt, srtt, since_loss, between_losses, cwnd, now, slow: slow.into() }
}
