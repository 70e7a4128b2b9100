//! Controllers that are no law in a shell: they act on time, delay or rate, and so have no drift.

use crate::laws::{Described, UnknownLaw};
use crate::tfrc::Feedback;
use crate::{
    Acked, Cause, CongestionController, Decoding, Delivered, Needs, Settings, Verdicts, Window,
};
use alloc::vec::Vec;
use bbr::Bbr;
use best_path::BestPath;
use bilevel::Bilevel;
use compound::Compound;
use couple_plus::CouplePlus;
use cs218::Cs218;
use cubic::Cubic;
use dwc::Dwc;
use each::Each;
use hacker_switching::HackerSwitching;
use lp::Lp;
use mtcp::Mtcp;
use multi_priority::MultiPriority;
use nice::Nice;
use tfrc::Tfrc;
use wvegas::Wvegas;

mod bbr;
mod best_path;
mod bilevel;
mod compound;
mod couple_plus;
mod cs218;
mod cubic;
mod delay;
mod dwc;
mod each;
mod filter;
mod hacker_switching;
mod hystart;
mod lp;
mod mtcp;
mod multi_priority;
mod nice;
mod pooled;
mod switching;
mod tfrc;
mod trial;
mod wvegas;

pub use couple_plus::Reading;
pub use multi_priority::Priorities;
pub use tfrc::Division;

/// Which scheme, with its option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// CUBIC on each path; `true`: its first slow start is HyStart++'s.
    Cubic(bool),
    /// Weighted Vegas; `true`: it drains queues that have doubled, as Linux' did.
    Wvegas(bool),
    /// BBR on each path.
    Bbr,
    /// TCP-LP on each path; `true`: as Linux does it.
    Lp(bool),
    /// TCP Nice on each path.
    Nice,
    /// TCP on one path, TCP-LP on the others.
    MultiPriority(Priorities),
    /// A master window, divided by the windows of the paths.
    Bilevel,
    /// A TCP where it is fastest, and flows that grow N times as slowly.
    HackerSwitching,
    /// A TCP on each path but for those that share a bottleneck.
    Mtcp,
    /// TFRC; `true`: with history discounting.
    Tfrc(Division, bool),
    /// TCPs whose rates together are that of the best.
    BestPath,
    /// LIA that asks whether a loss on a coded path is noise or congestion.
    CouplePlus(Reading),
    /// DWC, a TCP for each group of paths that share a bottleneck; `true`: delays are signs of it too.
    Dwc(bool),
    /// CS218_ALGO: LIA that is boosted after so many ACKs; `true`: within LIA's cap.
    Cs218(u32, bool),
    /// Compound TCP on each path.
    Compound,
}

/// What is known of each scheme, in the order of [`Scheme`].
const DESCRIBED: [Described; 16] = [
    Described {
        names: &["cubic"],
        options: &[("hystart", "HyStart++ in the first slow start")],
        summary: "CUBIC on every path by itself; a cubic function of the time since the last loss.",
        formula: "W(t) = C (t − K)³ + W_max; decrease to 0.7 w",
        source: "RFC 9438; HyStart++: RFC 9406",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["wvegas"],
        options: &[("nodrain", "without draining queues that have doubled")],
        summary: "Weighted Vegas; delay-based, equalises queueing over the paths.",
        formula: "once a round trip: ±1 towards alpha_r = 10 x_r / Σx queued packets; decrease to w/2",
        source: "Cao, Xu and Fu, ICNP 2012; Internet-Draft of Xu et al.",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["bbr"],
        options: &[],
        summary: "BBR version 1 on every path by itself; paced at the delivery rate, as a competitor.",
        formula: "pacing = gain · max delivery rate; window = 2 · max rate · min rtt",
        source: "Cardwell et al. 2016; Internet-Draft of 2017",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["lp"],
        options: &[(
            "reset",
            "extremes of the delay are forgotten at each indication, as in Linux",
        )],
        summary: "TCP-LP on every path by itself; a background transport that yields when a queue grows.",
        formula: "Reno; one-way delay above d_min + 0.15 (d_max − d_min): w/2, within 3 round trips again: 1",
        source: "Kuzmanovic and Knightly, ToN 2006; Tse 2006, §2.2",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["nice"],
        options: &[],
        summary: "TCP Nice on every path by itself; a background transport that may send less than a packet in a round trip.",
        formula: "Vegas (1, 3); more than w/2 packets later than 0.9 minRTT + 0.1 maxRTT in a round: w/2, at least 1/48",
        source: "Venkataramani, Kokku and Dahlin, OSDI 2002",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["multi-priority"],
        options: &[
            ("naive", "without borrowing and returning"),
            ("literal", "a borrowed packet does not come back"),
            ("nice", "TCP Nice in the background"),
            ("switching", "the base moves to the path with the highest response-function rate"),
            ("trial", "the base moves where all paths together turn out to be faster"),
        ],
        summary: "Multi-Priority TCP: TCP on the first path, TCP-LP on the others, whose probes it pays for.",
        formula: "base: Reno, window less probes outstanding, + 1/w_B for a slow one; others: TCP-LP",
        source: "Tse 2006, §2.2 and §3.1",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["bilevel"],
        options: &[],
        summary: "Bilevel TCP: a window for each path says how the paths divide a master window.",
        formula: "path i: w_M w_i / Σw, at most w_i; an ACK adds 1/w_i and 1/w_M, a loss halves w_i and w_M",
        source: "Tse 2006, §2.3, eq. 2.2",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["hacker-switching"],
        options: &[],
        summary: "Reduced aggression whose TCP moves to the path with the highest response-function rate.",
        formula: "growth 1/w_B on the base path, 1/(N w_r) on the others, backoff w_r/2",
        source: "Hacker, Noble and Athey, INFOCOM 2004; Tse 2006, §4.4",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["mtcp"],
        options: &[],
        summary: "A TCP on every path, but only on the better one of two that lose at the same times.",
        formula: "Reno; more than half of the fast retransmits within a round trip: one bottleneck",
        source: "Zhang et al., USENIX 2004; Tse 2006, §2.1",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["tfrc"],
        options: &[
            ("discounting", "old loss intervals count less while the open one is long"),
            ("fractional", "each of N paths sends 1/N of what TFRC allows"),
            ("fractional-discounting", "both"),
        ],
        summary: "TFRC on every path by itself: a rate by TCP's response function, without a window.",
        formula: "X = 1 / (R √(2p/3) + 12 R √(3p/8) p (1 + 32 p²)), at most twice what arrived",
        source: "RFC 5348; fractional: Tse 2006, §2.1",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["bilevel-tfrc"],
        options: &[
            ("discounting", "old loss intervals count less while the open one is long"),
            ("pooled", "with discounting, and one loss history of all paths for the master"),
        ],
        summary: "Bilevel TFRC: a master rate of the paths' mean loss, divided as their own TFRCs have it.",
        formula: "path i: R_M R_i / ΣR, R_M = X(f_M), f_M = Σ f_i R_i / ΣR",
        source: "Tse 2006, §3.2, eq. 3.1 and 3.3",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["best-path"],
        options: &[],
        summary: "A TCP on every path, paced so that all together send what the best of them would.",
        formula: "two round trips by the window, then six at b_i max_j b_j / Σ_j b_j",
        source: "none: docs/explanation/air.md",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["couple-plus"],
        options: &[
            (
                "decode-only",
                "what is not decoded within a cycle is congestion, however short the round trip",
            ),
            ("counted", "ours: congestion is what loses more than the redundancy is there for"),
            ("twnd-3/4", "the transient window begins at 3/4 of the window"),
            ("twnd-19/20", "the transient window begins at 19/20 of the window"),
        ],
        summary: "Couple+: LIA that asks why a coded path lost packets before it backs off; plain LIA on other paths.",
        formula: "loss flag: twnd = 7/8 w; decoded within r/(r − 1) packets: w; if not, and rtt ≥ 2 minRTT: min(w, twnd)/2",
        source: "Xue et al., TVT 2017, §IV",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["dwc"],
        options: &[("losses", "losses alone are signs of a shared bottleneck, not delays")],
        summary: "DWC as reconstructed: one TCP for each group of paths that are found to share a bottleneck.",
        formula: "group: 1/w_G, decrease to w_G/2; beside a loss, one of another or delay > base + 0.5 (max − base): joins",
        source: "Hassayoun, Iyengar and Ros, ICNP 2011; details reconstructed",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["cs218"],
        options: &[
            ("capped", "what is boosted stays within the cap 1/w_r"),
            ("acks-0", "boosted from the first ACK on"),
            ("acks-1", "after one ACK"),
            ("acks-2", "after two"),
            ("acks-3", "after three"),
            ("acks-10", "after ten"),
            ("acks-20", "after twenty"),
        ],
        summary: "CS218_ALGO: LIA, up to twice as fast on a path without a loss for five ACKs and without a queue.",
        formula: "growth min(α/w_tot, 1/w_r) (1 + bestRTT/lastRTT) after five ACKs since a loss, backoff w_r/2",
        source: "CS 218 project report, 2017, §3.2.3",
        set_valued: false,
        ported: false,
    },
    Described {
        names: &["compound"],
        options: &[],
        summary: "Compound TCP on every path by itself; a window of Reno's and one that grows while no queue does.",
        formula: "w = cwnd + dwnd; in a round trip: dwnd + w^¾/8 − 1, or from 30 queued packets on less these; decrease to w/2",
        source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006",
        set_valued: false,
        ported: false,
    },
];

/// Every scheme in the order of the registry.
pub fn described() -> Vec<Described> {
    DESCRIBED.into()
}

impl core::str::FromStr for Scheme {
    type Err = UnknownLaw;

    /// Reads `name` or `name:option`, as in `cubic:hystart`.
    fn from_str(text: &str) -> Result<Self, UnknownLaw> {
        match text {
            "cubic" => Ok(Scheme::Cubic(false)),
            "cubic:hystart" => Ok(Scheme::Cubic(true)),
            "wvegas" => Ok(Scheme::Wvegas(true)),
            "wvegas:nodrain" => Ok(Scheme::Wvegas(false)),
            "bbr" => Ok(Scheme::Bbr),
            "best-path" => Ok(Scheme::BestPath),
            "bilevel" => Ok(Scheme::Bilevel),
            "couple-plus" => Ok(Scheme::CouplePlus(Reading::Published)),
            "couple-plus:decode-only" => Ok(Scheme::CouplePlus(Reading::DecodeOnly)),
            "couple-plus:counted" => Ok(Scheme::CouplePlus(Reading::Counted)),
            "couple-plus:twnd-3/4" => Ok(Scheme::CouplePlus(Reading::ThreeQuarters)),
            "couple-plus:twnd-19/20" => Ok(Scheme::CouplePlus(Reading::NineteenTwentieths)),
            "dwc" => Ok(Scheme::Dwc(true)),
            "dwc:losses" => Ok(Scheme::Dwc(false)),
            "compound" => Ok(Scheme::Compound),
            "cs218" => Ok(Scheme::Cs218(cs218::ACKS, false)),
            "cs218:capped" => Ok(Scheme::Cs218(cs218::ACKS, true)),
            "cs218:acks-0" => Ok(Scheme::Cs218(0, false)),
            "cs218:acks-1" => Ok(Scheme::Cs218(1, false)),
            "cs218:acks-2" => Ok(Scheme::Cs218(2, false)),
            "cs218:acks-3" => Ok(Scheme::Cs218(3, false)),
            "cs218:acks-10" => Ok(Scheme::Cs218(10, false)),
            "cs218:acks-20" => Ok(Scheme::Cs218(20, false)),
            "hacker-switching" => Ok(Scheme::HackerSwitching),
            "mtcp" => Ok(Scheme::Mtcp),
            "tfrc" => Ok(Scheme::Tfrc(Division::Alone, false)),
            "tfrc:discounting" => Ok(Scheme::Tfrc(Division::Alone, true)),
            "tfrc:fractional" => Ok(Scheme::Tfrc(Division::Fractional, false)),
            "tfrc:fractional-discounting" => Ok(Scheme::Tfrc(Division::Fractional, true)),
            "bilevel-tfrc" => Ok(Scheme::Tfrc(Division::Bilevel, false)),
            "bilevel-tfrc:discounting" => Ok(Scheme::Tfrc(Division::Bilevel, true)),
            "bilevel-tfrc:pooled" => Ok(Scheme::Tfrc(Division::Pooled, true)),
            "lp" => Ok(Scheme::Lp(false)),
            "lp:reset" => Ok(Scheme::Lp(true)),
            "multi-priority" => Ok(Scheme::MultiPriority(Priorities::Borrowing)),
            "multi-priority:naive" => Ok(Scheme::MultiPriority(Priorities::Naive)),
            "multi-priority:literal" => Ok(Scheme::MultiPriority(Priorities::Literal)),
            "nice" => Ok(Scheme::Nice),
            "multi-priority:nice" => Ok(Scheme::MultiPriority(Priorities::Nice)),
            "multi-priority:switching" => Ok(Scheme::MultiPriority(Priorities::Switching)),
            "multi-priority:trial" => Ok(Scheme::MultiPriority(Priorities::Trial)),
            _ => Err(UnknownLaw::new(text)),
        }
    }
}

impl Scheme {
    /// What it needs from the endpoints of its connection.
    pub fn needs(self) -> Needs {
        Needs {
            rates: matches!(
                self,
                Scheme::Bbr
                    | Scheme::BestPath
                    | Scheme::Bilevel
                    | Scheme::Nice
                    | Scheme::MultiPriority(Priorities::Nice)
            ),
            rate_based: self == Scheme::Bbr,
            reports: matches!(self, Scheme::Tfrc(..)),
        }
    }
}

/// A scheme at work on one connection; dispatch is a match.
#[derive(Clone, Debug)]
pub struct AnyScheme(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Cubic(Each<Cubic>),
    Wvegas(Wvegas),
    Bbr(Each<Bbr>),
    BestPath(BestPath),
    CouplePlus(CouplePlus),
    Lp(Each<Lp>),
    Nice(Each<Nice>),
    MultiPriority(MultiPriority<Lp>),
    MultiPriorityNice(MultiPriority<Nice>),
    Bilevel(Bilevel),
    Compound(Each<Compound>),
    Cs218(Cs218),
    Dwc(Dwc),
    HackerSwitching(HackerSwitching),
    Mtcp(Mtcp),
    Tfrc(Tfrc),
}

impl AnyScheme {
    /// `scheme` over `paths` paths, all members, none with a round-trip sample yet.
    pub fn new(scheme: Scheme, settings: Settings, paths: usize) -> Self {
        AnyScheme(match scheme {
            Scheme::Cubic(hystart) => Inner::Cubic(Each::new(Cubic::new(settings, hystart), paths)),
            Scheme::Wvegas(drains) => Inner::Wvegas(Wvegas::new(settings, drains, paths)),
            Scheme::Bbr => Inner::Bbr(Each::new(Bbr::new(settings), paths)),
            Scheme::BestPath => Inner::BestPath(BestPath::new(settings, paths)),
            Scheme::CouplePlus(reading) => {
                Inner::CouplePlus(CouplePlus::new(reading, settings, paths))
            }
            Scheme::HackerSwitching => {
                Inner::HackerSwitching(HackerSwitching::new(settings, paths))
            }
            Scheme::Compound => Inner::Compound(Each::new(Compound::new(settings), paths)),
            Scheme::Cs218(acks, capped) => Inner::Cs218(Cs218::new(acks, capped, settings, paths)),
            Scheme::Dwc(delays) => Inner::Dwc(Dwc::new(settings, delays, paths)),
            Scheme::Mtcp => Inner::Mtcp(Mtcp::new(settings, paths)),
            Scheme::Tfrc(division, discounting) => {
                Inner::Tfrc(Tfrc::new(division, discounting, settings, paths))
            }
            Scheme::Bilevel => Inner::Bilevel(Bilevel::new(settings, paths)),
            Scheme::Lp(resets) => Inner::Lp(Each::new(Lp::new(settings, resets), paths)),
            Scheme::Nice => Inner::Nice(Each::new(Nice::new(settings), paths)),
            Scheme::MultiPriority(priorities @ Priorities::Nice) => {
                Inner::MultiPriorityNice(MultiPriority::new(priorities, settings, paths))
            }
            Scheme::MultiPriority(priorities) => {
                Inner::MultiPriority(MultiPriority::new(priorities, settings, paths))
            }
        })
    }
}

/// Passes a call on to whichever it is.
macro_rules! pass {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        match &mut $self.0 {
            Inner::Cubic(control) => control.$call($($argument),*),
            Inner::Wvegas(control) => control.$call($($argument),*),
            Inner::Bbr(control) => control.$call($($argument),*),
            Inner::BestPath(control) => control.$call($($argument),*),
            Inner::CouplePlus(control) => control.$call($($argument),*),
            Inner::Lp(control) => control.$call($($argument),*),
            Inner::Nice(control) => control.$call($($argument),*),
            Inner::MultiPriority(control) => control.$call($($argument),*),
            Inner::MultiPriorityNice(control) => control.$call($($argument),*),
            Inner::Bilevel(control) => control.$call($($argument),*),
            Inner::Compound(control) => control.$call($($argument),*),
            Inner::Cs218(control) => control.$call($($argument),*),
            Inner::Dwc(control) => control.$call($($argument),*),
            Inner::HackerSwitching(control) => control.$call($($argument),*),
            Inner::Mtcp(control) => control.$call($($argument),*),
            Inner::Tfrc(control) => control.$call($($argument),*),
        }
    };
    (&$self:ident.$call:ident($($argument:expr),*)) => {
        match &$self.0 {
            Inner::Cubic(control) => control.$call($($argument),*),
            Inner::Wvegas(control) => control.$call($($argument),*),
            Inner::Bbr(control) => control.$call($($argument),*),
            Inner::BestPath(control) => control.$call($($argument),*),
            Inner::CouplePlus(control) => control.$call($($argument),*),
            Inner::Lp(control) => control.$call($($argument),*),
            Inner::Nice(control) => control.$call($($argument),*),
            Inner::MultiPriority(control) => control.$call($($argument),*),
            Inner::MultiPriorityNice(control) => control.$call($($argument),*),
            Inner::Bilevel(control) => control.$call($($argument),*),
            Inner::Compound(control) => control.$call($($argument),*),
            Inner::Cs218(control) => control.$call($($argument),*),
            Inner::Dwc(control) => control.$call($($argument),*),
            Inner::HackerSwitching(control) => control.$call($($argument),*),
            Inner::Mtcp(control) => control.$call($($argument),*),
            Inner::Tfrc(control) => control.$call($($argument),*),
        }
    };
}

impl CongestionController for AnyScheme {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        pass!(self.on_ack(path, ack));
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        pass!(self.on_congestion(path, cause));
    }

    fn on_recovered(&mut self, path: usize) {
        pass!(self.on_recovered(path));
    }

    fn set_member(&mut self, path: usize, member: bool) {
        pass!(self.set_member(path, member));
    }

    fn undo(&mut self, path: usize) {
        pass!(self.undo(path));
    }

    fn restart(&mut self, path: usize, window: Window) {
        pass!(self.restart(path, window));
    }

    fn window(&self, path: usize) -> Window {
        pass!(&self.window(path))
    }

    fn on_delivered(&mut self, path: usize, delivered: &Delivered) {
        pass!(self.on_delivered(path, delivered));
    }

    fn pacing(&self, path: usize) -> Option<f64> {
        pass!(&self.pacing(path))
    }

    fn on_delay(&mut self, path: usize, delay: f64) {
        pass!(self.on_delay(path, delay));
    }

    fn reads_delay(&self) -> bool {
        pass!(&self.reads_delay())
    }

    fn on_stalled(&mut self) {
        pass!(self.on_stalled());
    }

    fn on_decoding(&mut self, path: usize, decoding: &Decoding) -> bool {
        pass!(self.on_decoding(path, decoding))
    }

    fn verdicts(&self, path: usize) -> Verdicts {
        pass!(&self.verdicts(path))
    }

    fn on_feedback(&mut self, path: usize, feedback: &Feedback<'_>) {
        pass!(self.on_feedback(path, feedback));
    }

    fn on_silence(&mut self, path: usize, now: f64, idle: bool) {
        pass!(self.on_silence(path, now, idle));
    }

    fn moves_siblings(&self) -> bool {
        pass!(&self.moves_siblings())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_described_name_and_option_is_a_scheme() {
        for scheme in described() {
            let options = scheme.options.iter().map(|(option, _)| *option);
            for name in scheme.names {
                assert!(name.parse::<Scheme>().is_ok());
                for option in options.clone() {
                    assert!(alloc::format!("{name}:{option}").parse::<Scheme>().is_ok());
                }
            }
        }
        assert!("cubic:nonsense".parse::<Scheme>().unwrap_err().options.is_some());
    }
}
