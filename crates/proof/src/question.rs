//! What is asked, and what comes out.

/// Most paths of a connection.
pub const MOST_PATHS: usize = 8;

/// The domain for which a law's text is checked, outside which its divisors may be zero and the
/// bases of its powers negative (`crates/formula/src/range.rs`): windows in segments, round trips
/// in seconds, segments between losses.
const LEAST_WINDOW: f64 = 1.0;
/// See [`LEAST_WINDOW`].
const ROUND_TRIPS: (f64, f64) = (1e-6, 2_147.483_648);
/// See [`LEAST_WINDOW`].
const MOST_SEGMENTS: f64 = 4_294_967_295.0;

/// A claim about all fixed points of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Through one bottleneck, so with one loss, all paths together send at most as much as a TCP
    /// with the smallest of their round trips.
    TcpShare,
    /// With a loss of its own on every path, each sends at most as much as a TCP in its place.
    DoNoHarm,
    /// With a loss of its own on every path, all together send at least as much as a TCP on the
    /// path where that is fastest.
    BestPath,
}

impl Claim {
    /// Whether all paths meet the same loss.
    pub fn shares_loss(self) -> bool {
        self == Claim::TcpShare
    }

    /// Whether the claim bounds the ratio to TCP's rate from above.
    pub fn is_upper(self) -> bool {
        self != Claim::BestPath
    }
}

/// A claim, and the ranges over which it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// What is claimed.
    pub claim: Claim,
    /// The part of TCP's rate by which the claim may be missed.
    pub within: f64,
    /// Number of paths, from 1 to [`MOST_PATHS`].
    pub paths: usize,
    /// Loss probabilities, from the least to the most.
    pub losses: (f64, f64),
    /// Round trips in seconds.
    pub rtts: (f64, f64),
    /// The least window in segments.
    pub floor: f64,
    /// Most boxes that are looked at.
    pub boxes: u64,
}

impl Question {
    /// The ratio to TCP's rate that the claim allows.
    pub fn allowed(&self) -> f64 {
        if self.claim.is_upper() { 1.0 + self.within } else { 1.0 - self.within }
    }

    /// What is wrong with the question, and what would be right; `None` if nothing is.
    pub fn fault(&self) -> Option<String> {
        let Question { within, paths, losses, rtts, floor, .. } = *self;
        let range = |(low, high): (f64, f64), (least, most): (f64, f64)| {
            least <= low && low <= high && high <= most
        };
        if !(1..=MOST_PATHS).contains(&paths) {
            return Some(format!("paths is {paths}; a proof is of 1 to {MOST_PATHS} paths"));
        }
        let most = if self.claim.is_upper() { f64::MAX } else { 1.0 };
        if !(0.0 <= within && within <= most) {
            let below = if self.claim.is_upper() { "" } else { ", and 1 at most" };
            return Some(format!("within is {within}; it is 0 or above{below}"));
        }
        let least = 1.0 / MOST_SEGMENTS;
        if !range(losses, (least, 1.0)) {
            let (low, high) = losses;
            return Some(format!(
                "losses are from {low} to {high}; they are probabilities, from 1/{MOST_SEGMENTS} to 1, the least first"
            ));
        }
        if !range(rtts, ROUND_TRIPS) {
            let ((low, high), (least, most)) = (rtts, ROUND_TRIPS);
            return Some(format!(
                "round trips are from {low} to {high} s; they are from {least} to {most} s, for which laws \
                 are checked, the shortest first"
            ));
        }
        let tcp = libm::sqrt(2.0 / losses.1);
        if !(LEAST_WINDOW <= floor && floor <= tcp) {
            return Some(format!(
                "the floor is {floor} segments; it is from {LEAST_WINDOW}, the least window for which laws are \
                 checked, to {tcp}, the window of a TCP at the largest loss"
            ));
        }
        (self.boxes == 0).then(|| "boxes is 0; a proof looks at one at least".into())
    }

    /// Whether a ratio breaks the claim.
    pub fn is_broken(&self, ratio: f64) -> bool {
        if self.claim.is_upper() { ratio > self.allowed() } else { ratio < self.allowed() }
    }
}

/// The end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds for every fixed point in the ranges.
    Proved,
    /// There is a fixed point in the ranges for which it does not hold.
    Disproved,
    /// Boxes are left in which it may not hold.
    Open,
}

/// A fixed point.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    /// For each path, segments.
    pub windows: Vec<f64>,
    /// For each path, seconds.
    pub rtts: Vec<f64>,
    /// For each path, a probability.
    pub losses: Vec<f64>,
    /// For each path, whether the floor holds its window.
    pub at_floor: Vec<bool>,
    /// The path that the claim is about: that of the largest ratio, or that of the fastest TCP.
    pub path: usize,
    /// The rate that the claim is about, over TCP's.
    pub ratio: f64,
    /// The ratio lies between these, and the fixed point within a relative 1e-6 of the windows:
    /// proved for the given round trips and losses. `None` if it is a number alone.
    pub certain: Option<(f64, f64)>,
    /// Whether the law's own program rests there with this ratio. The tape was rewritten, and a
    /// fixed point of the tape alone means that it is wrong.
    pub confirmed: bool,
}

/// What is left of the ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Number of boxes.
    pub boxes: usize,
    /// Their part of the volume of losses and round trips, in logarithms, at most.
    pub share: f64,
    /// What contains them: a quantity, and its least and largest value.
    pub ranges: Vec<(String, f64, f64)>,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// Number of boxes that were looked at.
    pub boxes: u64,
    /// A fixed point that breaks the claim, if one was found.
    pub witness: Option<FixedPoint>,
    /// Of the fixed points that were computed at some points of the ranges, that of the least room
    /// to the claim; `None` if none was found there.
    pub nearest: Option<FixedPoint>,
    /// How many different ones were computed.
    pub computed: usize,
    /// Where the tape and the law's own program differ, if they do; then nothing is proved.
    pub doubt: Option<String>,
    /// What is left; `None` unless the verdict is [`Verdict::Open`].
    pub open: Option<Open>,
}
