//! What a law in C sees and says: the structures of `bpf/include/intf.h`.

use core::fmt;
use core::str::FromStr;
use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(env!("AB_LAYOUT"));

/// Most paths of a connection that is coupled.
pub const PATHS: usize = 16;
layout!(AB_PATHS, PATHS);

/// What a law sees of one path; a round-trip time of zero marks a place without a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct View {
    /// Window in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time in µs.
    pub srtt: u32,
    /// Segments acknowledged since the last loss.
    pub since_loss: u32,
    /// Segments acknowledged between the last two losses.
    pub between_losses: u32,
}
layout!(ab_view, View);

/// What a law sees of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Views {
    /// Usable paths.
    pub paths: u32,
    /// The path that asks, below [`PATHS`].
    pub me: u32,
    /// The paths.
    pub path: [View; PATHS],
}
layout!(ab_views, Views);

/// A window whose whole segments and fraction stand apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Window {
    /// Fraction in 2^-32 segments.
    pub(crate) credit: i64,
    /// Whole segments.
    pub(crate) cwnd: u32,
}
layout!(ab_window, Window);

/// A step of a window: what the law saw, what it said, what became of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Step {
    /// What the law saw.
    pub views: Views,
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
    /// Changes when something beside the law may have moved the window: a congestion event, slow
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
}
layout!(ab_step, Step);

/// A step in a file: usable paths, `me`, the four numbers of each place in use, then the rest in
/// order.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views = &self.views;
        let places =
            views.path.iter().rposition(|view| *view != View::default()).map_or(0, |i| i + 1);
        write!(f, "{} {} {places}", views.paths, views.me)?;
        for view in &views.path[..places] {
            let View { cwnd, srtt, since_loss, between_losses } = view;
            write!(f, " {cwnd} {srtt} {since_loss} {between_losses}")?;
        }
        let Step { acked, before_cwnd, after_cwnd, before_credit, after_credit, .. } = self;
        write!(f, " {acked} {before_cwnd} {after_cwnd} {before_credit} {after_credit}")?;
        write!(f, " {} {} {} {}", self.growth, self.srtt, self.socket, self.breaks)
    }
}

impl FromStr for Step {
    type Err = String;

    /// Reads what `Display` wrote.
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
            };
        }
        step.acked = next()? as u32;
        (step.before_cwnd, step.after_cwnd) = (next()? as u32, next()? as u32);
        (step.before_credit, step.after_credit) = (next()?, next()?);
        step.growth = next()?;
        (step.srtt, step.socket, step.breaks) = (next()? as u32, next()? as u32, next()? as u32);
        Ok(step)
    }
}
