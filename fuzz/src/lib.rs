//! Parts shared by the targets: transports to fuzz, and arbitrary choices from lists.

use arbitrary::{Arbitrary, Result, Unstructured};
use control::{ControllerSpec, Needs, Settings};
use simulator::Controller;
use transport::coded::{self, Coding};
use transport::tcp::{self, Usual, UsualAck};
use transport::{
    Idle, Options, PathReport, RtoFloor, Scheduler, SenderSettings, SendingEndpoint, Source,
    Transmit, tfrc,
};
use units::{Bytes, Span, Time};
use wire::{Ack, Segment};

pub mod whole;

/// Payload bytes of a segment.
pub const SEGMENT: u32 = 1000;

/// Any registered controller.
pub fn controller(bytes: &mut Unstructured<'_>) -> Result<ControllerSpec> {
    Ok(bytes.choose(&ControllerSpec::all())?.clone())
}

/// Windows that a scenario may set.
pub fn windows(bytes: &mut Unstructured<'_>) -> Result<Settings> {
    let min_window = 1.0 + f64::from(bytes.int_in_range(0..=3u8)?);
    let finite = bool::arbitrary(bytes)?;
    Ok(Settings {
        min_window,
        min_ssthresh: match bytes.int_in_range(0..=3u8)? {
            0 => None,
            more => Some(min_window + f64::from(more - 1)),
        },
        initial_window: min_window + f64::from(bytes.int_in_range(0..=20u8)?),
        initial_ssthresh: if finite {
            4.0 + f64::from(u8::arbitrary(bytes)?)
        } else {
            f64::INFINITY
        },
        carry_over: bool::arbitrary(bytes)?,
        growth_per_ack: bool::arbitrary(bytes)?,
        base: 0,
    })
}

/// Any valid combination of a sender's options.
fn options(bytes: &mut Unstructured<'_>) -> Result<Options> {
    let sack = bool::arbitrary(bytes)?;
    let rack = sack && bool::arbitrary(bytes)?;
    let tlp = sack && bool::arbitrary(bytes)?;
    let eifel = bool::arbitrary(bytes)?;
    let dsack = sack && bool::arbitrary(bytes)?;
    let frto = sack && bool::arbitrary(bytes)?;
    let ecn = bool::arbitrary(bytes)?;
    let opportunistic = bool::arbitrary(bytes)?;
    let limited_transmit = bool::arbitrary(bytes)?;
    Ok(Options {
        payload: Bytes(SEGMENT.into()),
        sack,
        rack,
        tlp,
        eifel,
        dsack,
        frto,
        ecn,
        limited_transmit,
        idle: *bytes.choose(&[Idle::Keep, Idle::Restart, Idle::Decay])?,
        rto_floor: *bytes.choose(&[RtoFloor::Variance, RtoFloor::Total])?,
        receive_buffer: Bytes(1 << bytes.int_in_range(12..=20u8)?),
        handshake: bool::arbitrary(bytes)?,
        scheduler: bytes.choose(&Scheduler::examples())?.clone(),
        opportunistic,
        suspend: bool::arbitrary(bytes)?,
        penalise: opportunistic && bool::arbitrary(bytes)?,
        small_queue: *bytes.choose(&[None, Some(Bytes(3_000))])?,
        small_queue_time: *bytes.choose(&[None, Some(Span::millis(1))])?,
        ..Options::default()
    })
}

/// A sender of any protocol with congestion control.
pub enum AnySender {
    Tcp(tcp::Sender<Controller>),
    Coded(coded::Sender<Controller>),
    Tfrc(tfrc::Sender<Controller>),
}

/// Runs the same code for any sender.
macro_rules! with {
    ($any:expr, $sender:ident => $what:expr) => {
        match $any {
            AnySender::Tcp($sender) => $what,
            AnySender::Coded($sender) => $what,
            AnySender::Tfrc($sender) => $what,
        }
    };
}

impl SendingEndpoint for AnySender {
    type Sent = Segment;
    type Answer = Segment;

    /// An answer of another protocol's receiver is ignored. As in the simulator, a usual ACK takes
    /// the fast path.
    fn on_answer(&mut self, now: Time, path: usize, answer: &Segment) {
        if let (AnySender::Tcp(sender), Segment::Ack(ack)) = (&mut *self, answer) {
            let Ack { ack: next, data_ack, window_edge, echo, .. } = *ack;
            let usual = UsualAck { ack: next, data_ack, window_edge, echo };
            // Polling sends what the ACK releases.
            if Ack::from(usual) == *ack
                && sender.on_usual_ack(now, path, &usual, false) == Usual::Processed
            {
                return;
            }
        }
        with!(self, sender => if let Ok(answer) = answer.clone().try_into() {
            sender.on_answer(now, path, &answer);
        })
    }

    fn on_deadline(&mut self, now: Time) {
        with!(self, sender => sender.on_deadline(now))
    }

    fn on_sent(&mut self, path: usize, bytes: u32) {
        with!(self, sender => sender.on_sent(path, bytes))
    }

    fn join(&mut self, path: usize) -> u64 {
        with!(self, sender => sender.join(path))
    }

    fn leave(&mut self, path: usize) {
        with!(self, sender => sender.leave(path))
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Segment>> {
        with!(self, sender => {
            let Transmit { path, segment } = sender.poll_transmit(now)?;
            Some(Transmit { path, segment: segment.into() })
        })
    }

    fn next_deadline(&self) -> Time {
        with!(self, sender => sender.next_deadline())
    }

    fn start(&self) -> Time {
        with!(self, sender => sender.start())
    }

    fn completed(&self) -> Option<Time> {
        with!(self, sender => sender.completed())
    }

    fn paths(&self) -> usize {
        with!(self, sender => sender.paths())
    }

    fn report(&self, path: usize) -> PathReport {
        with!(self, sender => sender.report(path))
    }
}

/// A sender of any protocol, with its settings.
pub struct Chosen {
    pub sender: AnySender,
    /// The settings of TCP, which other protocols ignore.
    pub settings: SenderSettings,
    /// Its controller.
    pub controller: ControllerSpec,
    /// Which of its paths are coded.
    pub coded: Vec<bool>,
}

/// Any sender over `paths` paths.
pub fn sender(bytes: &mut Unstructured<'_>, paths: usize, transfer: Option<u64>) -> Result<Chosen> {
    let source = transfer.map_or(Source::Bulk, |bytes| Source::Transfer(Bytes(bytes)));
    let (mut options, windows) = (options(bytes)?, windows(bytes)?);
    options.initial_window = windows.initial_window;
    let controller = controller(bytes)?;
    let needs = controller.needs();
    let more = Needs {
        rates: needs.rates | bool::arbitrary(bytes)?,
        rate_based: needs.rate_based | bool::arbitrary(bytes)?,
        ..needs
    };
    let settings = SenderSettings::new(options, more, source);
    let control = Controller::new(&controller, windows, paths);
    if needs.reports {
        let SenderSettings { ref options, ref source, .. } = settings;
        let (segment, receive_buffer) = (options.segment(), options.first_buffer());
        let own = tfrc::Settings { segment, source: source.clone(), receive_buffer };
        let sender = AnySender::Tfrc(tfrc::Sender::new(own.into(), control, paths, Time::ZERO));
        return Ok(Chosen { sender, settings, controller, coded: vec![false; paths] });
    }
    let tcp = tcp::Sender::new(settings.clone().into(), control, paths, Time::ZERO);
    let codings = codings(bytes, &settings, paths)?;
    let coded: Vec<bool> = codings.iter().map(Option::is_some).collect();
    let sender = match coded.contains(&true) {
        true => AnySender::Coded(coded::Sender::new(tcp, codings)),
        false => AnySender::Tcp(tcp),
    };
    Ok(Chosen { sender, settings, controller, coded })
}

/// The coding of each path, if paths can be coded.
fn codings(
    bytes: &mut Unstructured<'_>,
    settings: &SenderSettings,
    paths: usize,
) -> Result<Vec<Option<Coding>>> {
    let Options { rack, tlp, dsack, frto, eifel, ecn, .. } = settings.options;
    if rack || tlp || dsack || frto || eifel || ecn || !bool::arbitrary(bytes)? {
        return Ok(vec![None; paths]);
    }
    let mut codings = Vec::new();
    for _ in 0..paths {
        let coding = match bool::arbitrary(bytes)? {
            false => None,
            true => {
                let redundancy = 1.0 + f64::from(bytes.int_in_range(0..=100u8)?) / 100.0;
                Some(Coding {
                    redundancy,
                    window: bytes.int_in_range(1..=255u8)?,
                    up_to: bool::arbitrary(bytes)?.then_some(redundancy.max(1.3)),
                })
            }
        };
        codings.push(coding);
    }
    Ok(codings)
}

#[cfg(test)]
#[path = "../../crates/simulator/tests/common/kinds.rs"]
mod kinds;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Inputs of noise: bytes of a linear congruential generator (Knuth, MMIX).
    fn inputs(count: u64) -> impl Iterator<Item = Vec<u8>> {
        (0..count).map(|seed| {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            };
            (0..1000).map(|_| next()).collect()
        })
    }

    #[test]
    fn whole_runs_have_every_controller_queue_scheduler_and_medium() {
        let all = [kinds::controllers(), kinds::queues(), kinds::schedulers(), kinds::media()];
        let plan = |input: Vec<u8>| Some(whole::plan(&mut Unstructured::new(&input))?.1);
        let missing =
            kinds::unreached(all.into_iter().flatten().collect(), inputs(10_000).filter_map(plan));
        assert!(missing.is_empty(), "no whole run has {missing:?}");
    }

    #[test]
    fn senders_have_every_controller_and_every_scheduler() {
        let mut missing: BTreeSet<String> =
            ControllerSpec::all().iter().map(ControllerSpec::to_string).collect();
        missing.extend(Scheduler::examples().iter().map(|kind| format!("{kind:?}")));
        for input in inputs(10_000) {
            if let Ok(chosen) = sender(&mut Unstructured::new(&input), 2, None) {
                missing.remove(&chosen.controller.to_string());
                missing.remove(&format!("{:?}", chosen.settings.options.scheduler));
            }
        }
        assert!(missing.is_empty(), "no sender has {missing:?}");
    }
}
