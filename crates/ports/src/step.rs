//! Input and output of a law in C: the structures of `bpf/include/intf.h`, here with room for the
//! notes of any law. In C they end after the paths and notes of the law.

use core::fmt;
use core::str::FromStr;
use formula::integer::NOTES;

/// Most paths of a coupled connection, by the law's own notes: without notes, with up to two, with
/// more.
const MOST: [usize; 3] = layout!(AB_PATHS);

/// Most paths of a connection coupled by a law without notes of its own.
pub const PATHS: usize = MOST[0];

/// Most paths of a connection coupled by a law with this many notes of its own.
pub(crate) fn paths_with(notes: usize) -> usize {
    MOST[notes.div_ceil(2).min(2)]
}

/// A law's view of one path; a round-trip time of zero marks a place without a path.
pub use formula::integer::View;

/// A law's view of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Views {
    /// Usable paths.
    pub paths: u32,
    /// The path being evaluated, below [`PATHS`].
    pub me: u32,
    /// The paths.
    pub path: [View; PATHS],
}

/// A law's view of a connection in C, under a law with notes of its own.
#[repr(C, align(8))]
pub(crate) struct SeenViews([u8; SEEN]);

/// Room for the view under any law.
const SEEN: usize = size_of::<RawViews>();

/// The view of one path in C under a law without notes of its own.
#[derive(Clone, Copy)]
#[repr(C)]
struct RawView {
    cwnd: u32,
    srtt: u32,
    since_loss: u32,
    between_losses: u32,
}
layout!(ab_view, RawView);

/// The view of a connection in C under a law without notes of its own.
#[repr(C)]
pub(crate) struct RawViews {
    paths: u32,
    me: u32,
    path: [RawView; PATHS],
}
layout!(ab_views, RawViews);

impl From<&Views> for RawViews {
    fn from(views: &Views) -> Self {
        let path = views.path.map(|View { cwnd, srtt, since_loss, between_losses, .. }| RawView {
            cwnd,
            srtt,
            since_loss,
            between_losses,
        });
        RawViews { paths: views.paths, me: views.me, path }
    }
}

/// A window with separate whole segments and fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Window {
    /// Fraction in 2^-32 segments.
    pub(crate) credit: i64,
    /// Whole segments.
    pub(crate) cwnd: u32,
}
layout!(ab_window, Window);

/// A step of a window: the law's views, its answer, and the window after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Segments acknowledged.
    pub acked: u32,
    /// Window in whole segments before the step.
    pub before_cwnd: u32,
    /// Window in whole segments after the step.
    pub after_cwnd: u32,
    /// Smoothed round-trip time of the socket itself in µs.
    pub srtt: u32,
    /// The socket: a hash of its ports and its own address.
    pub socket: u32,
    /// Changes when a cause other than the law may have moved the window: a congestion event, slow
    /// start.
    pub breaks: u32,
    /// Fraction of the window in 2^-32 segments before the step.
    pub before_credit: i64,
    /// Fraction of the window in 2^-32 segments after the step.
    pub after_credit: i64,
    /// Growth per acknowledged segment, in 2^-32 segments.
    pub growth: i64,
    /// Window after a congestion event in segments, not floored; zero in a record.
    pub backoff: i64,
    /// The law's views.
    pub views: Views,
}

/// A step in C under a law without notes of its own.
#[repr(C)]
struct RawStep {
    acked: u32,
    before_cwnd: u32,
    after_cwnd: u32,
    srtt: u32,
    socket: u32,
    breaks: u32,
    before_credit: i64,
    after_credit: i64,
    growth: i64,
    backoff: i64,
    views: RawViews,
}
layout!(ab_step, RawStep);

/// Writes numbers for C, in the byte order of the machine.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        self.0.extend(values.into_iter().flat_map(u32::to_ne_bytes));
    }

    fn i64s(&mut self, values: impl IntoIterator<Item = i64>) {
        self.0.extend(values.into_iter().flat_map(i64::to_ne_bytes));
    }
}

/// Reads numbers from C; `None` at the end.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_ne_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.bytes().map(i64::from_ne_bytes)
    }
}

impl Views {
    /// `struct ab_views` under a law with this many notes of its own, where C finds it.
    pub(crate) fn seen(&self, notes: usize) -> SeenViews {
        let mut seen = SeenViews([0; SEEN]);
        let mut place = 0;
        let mut put = |bytes: &[u8]| {
            seen.0[place..place + bytes.len()].copy_from_slice(bytes);
            place += bytes.len();
        };
        put(&self.paths.to_ne_bytes());
        put(&self.me.to_ne_bytes());
        for view in &self.path[..paths_with(notes)] {
            for number in [view.cwnd, view.srtt, view.since_loss, view.between_losses] {
                put(&number.to_ne_bytes());
            }
            view.notes[..notes].iter().for_each(|note| put(&note.to_ne_bytes()));
        }
        seen
    }

    /// `struct ab_views` under a law with this many notes of its own.
    pub fn to_bytes(&self, notes: usize) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u32s([self.paths, self.me]);
        for view in &self.path[..paths_with(notes)] {
            writer.u32s([view.cwnd, view.srtt, view.since_loss, view.between_losses]);
            writer.i64s(view.notes[..notes].iter().map(|note| *note as i64));
        }
        writer.0
    }

    fn from_reader(reader: &mut Reader<'_>, notes: usize) -> Option<Self> {
        let mut views = Views { paths: reader.u32()?, me: reader.u32()?, ..Views::default() };
        for view in &mut views.path[..paths_with(notes)] {
            (view.cwnd, view.srtt) = (reader.u32()?, reader.u32()?);
            (view.since_loss, view.between_losses) = (reader.u32()?, reader.u32()?);
            for note in &mut view.notes[..notes] {
                *note = reader.i64()? as u64;
            }
        }
        Some(views)
    }
}

impl Step {
    /// `struct ab_step` under a law with this many notes of its own.
    pub fn to_bytes(&self, notes: usize) -> Vec<u8> {
        let Step { acked, before_cwnd, after_cwnd, srtt, socket, breaks, .. } = *self;
        let Step { before_credit, after_credit, growth, backoff, .. } = *self;
        let mut writer = Writer::default();
        writer.u32s([acked, before_cwnd, after_cwnd, srtt, socket, breaks]);
        writer.i64s([before_credit, after_credit, growth, backoff]);
        writer.0.extend(self.views.to_bytes(notes));
        writer.0
    }

    /// Reads the output of [`Step::to_bytes`] or of C; `None` if the bytes are too short.
    pub fn from_bytes(bytes: &[u8], notes: usize) -> Option<Self> {
        let reader = &mut Reader(bytes);
        Some(Step {
            acked: reader.u32()?,
            before_cwnd: reader.u32()?,
            after_cwnd: reader.u32()?,
            srtt: reader.u32()?,
            socket: reader.u32()?,
            breaks: reader.u32()?,
            before_credit: reader.i64()?,
            after_credit: reader.i64()?,
            growth: reader.i64()?,
            backoff: reader.i64()?,
            views: Views::from_reader(reader, notes)?,
        })
    }
}

/// A step in a file: usable paths, `me`, the four numbers of each place in use, then the rest in
/// order; at the end the notes of those places, if the law has any.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views = &self.views;
        let places =
            views.path.iter().rposition(|view| *view != View::default()).map_or(0, |i| i + 1);
        write!(f, "{} {} {places}", views.paths, views.me)?;
        for view in &views.path[..places] {
            let View { cwnd, srtt, since_loss, between_losses, .. } = view;
            write!(f, " {cwnd} {srtt} {since_loss} {between_losses}")?;
        }
        let Step { acked, before_cwnd, after_cwnd, before_credit, after_credit, .. } = self;
        write!(f, " {acked} {before_cwnd} {after_cwnd} {before_credit} {after_credit}")?;
        write!(f, " {} {} {} {}", self.growth, self.srtt, self.socket, self.breaks)?;
        let kept = |view: &View| view.notes.iter().rposition(|note| *note != 0);
        let notes = views.path[..places].iter().map(|view| kept(view).map_or(0, |i| i + 1)).max();
        for view in &views.path[..places] {
            for note in &view.notes[..notes.unwrap_or(0)] {
                write!(f, " {}", *note as i64)?;
            }
        }
        Ok(())
    }
}

impl FromStr for Step {
    type Err = String;

    /// Parses the output of `Display`.
    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_ascii_whitespace().map(|word| {
            word.parse::<i64>()
                .map_err(|_| format!("`{word}` in a step is no whole number: {line}"))
        });
        let mut next = || words.next().unwrap_or_else(|| Err(format!("a step ends early: {line}")));
        let mut step = Step::default();
        step.views.paths = next()? as u32;
        step.views.me = next()? as u32;
        let places = next()?.clamp(0, PATHS as i64) as usize;
        for view in &mut step.views.path[..places] {
            *view = View {
                cwnd: next()? as u32,
                srtt: next()? as u32,
                since_loss: next()? as u32,
                between_losses: next()? as u32,
                ..View::default()
            };
        }
        step.acked = next()? as u32;
        (step.before_cwnd, step.after_cwnd) = (next()? as u32, next()? as u32);
        (step.before_credit, step.after_credit) = (next()?, next()?);
        step.growth = next()?;
        (step.srtt, step.socket, step.breaks) = (next()? as u32, next()? as u32, next()? as u32);
        let notes: Vec<i64> = words.collect::<Result<_, _>>()?;
        let of_each = (notes.len() / places.max(1)).clamp(1, NOTES);
        for (view, notes) in step.views.path[..places].iter_mut().zip(notes.chunks(of_each)) {
            for (note, bits) in view.notes.iter_mut().zip(notes) {
                *note = *bits as u64;
            }
        }
        Ok(step)
    }
}
