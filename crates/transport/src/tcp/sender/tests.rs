//! Two endpoints, one clock, and a network controlled by each test.

use super::*;
use crate::endpoint::ReceivingEndpoint;
use crate::options::Options;
use crate::scheduler::Scheduler;
use crate::source::Source;
use crate::tcp::{Receiver, ReceiverSettings, Usual, UsualAck};
use control::{AnyController, Needs, Phase, Settings};
use proptest::prelude::*;
use units::{Bytes, Rate, Span};
use wire::{Flags, Sacks};

const MSS: u32 = 1000;

/// Options of the tests.
fn options() -> Options {
    Options { payload: Bytes(MSS.into()), receive_buffer: Bytes(1 << 20), ..Options::default() }
}

/// Settings for a controller that needs only ACKs and losses.
fn settings(options: Options, source: Source) -> SenderSettings {
    SenderSettings::new(options, Needs::NONE, source)
}

fn sender(settings: SenderSettings, law: &str, paths: usize) -> Sender<AnyController> {
    sender_with(settings, law, Settings::default(), paths)
}

fn sender_with(
    settings: SenderSettings,
    law: &str,
    windows: Settings,
    paths: usize,
) -> Sender<AnyController> {
    let control = AnyController::new(&law.parse().unwrap(), windows, paths).unwrap();
    Sender::new(Arc::new(settings), control, paths, Time::ZERO)
}

/// Packets in flight, in the order of arrival.
enum Moving {
    Data(usize, Data),
    Ack(usize, Ack),
}

/// A sender and a receiver with a line of fixed delay for each path and direction.
struct Pair {
    sender: Sender<AnyController>,
    receiver: Receiver,
    delays: Vec<Span>,
    moving: Vec<(Time, Moving)>,
    now: Time,
    /// The earliest deadline of which the sender has told its driver.
    known: Time,
    sent: Vec<(usize, Data)>,
    /// Whether usual segments and ACKs take the fast path.
    short: bool,
    /// Number of segments and ACKs that took it.
    shortened: usize,
    /// The segment that a usual ACK has just released.
    released: Option<Transmit<Data>>,
}

impl Pair {
    fn new(settings: SenderSettings, law: &str, delays: Vec<Span>) -> Self {
        Pair::with_windows(settings, law, Settings::default(), delays)
    }

    fn with_windows(
        settings: SenderSettings,
        law: &str,
        windows: Settings,
        delays: Vec<Span>,
    ) -> Self {
        let options = settings.options.clone();
        let sender = sender_with(settings, law, windows, delays.len());
        let receiver = ReceiverSettings { options, transit: sender.needs.delays };
        Pair {
            receiver: Receiver::new(receiver, delays.len()),
            sender,
            delays,
            moving: Vec::new(),
            now: Time::ZERO,
            known: Time::NEVER,
            sent: Vec::new(),
            short: false,
            shortened: 0,
            released: None,
        }
    }

    /// Sends all that may be sent; `fate` gives the extra delay of a segment, or `None` for a loss.
    fn transmit(&mut self, fate: &mut impl FnMut(usize, &Data) -> Option<Span>) {
        let now = self.now;
        while let Some(Transmit { path, segment: data }) =
            self.released.take().or_else(|| self.sender.poll_transmit(now))
        {
            self.sender.on_sent(path, data.len);
            self.sent.push((path, data));
            if let Some(extra) = fate(path, &data) {
                let at = self.now + self.delays[path] + extra;
                self.moving.push((at, Moving::Data(path, data)));
            }
        }
    }

    /// Runs until `end`, or until nothing moves and no timer runs.
    fn run(&mut self, end: Time, mut fate: impl FnMut(usize, &Data) -> Option<Span>) {
        self.transmit(&mut fate);
        loop {
            let arrival = self.moving.iter().enumerate().min_by_key(|(_, (at, _))| *at);
            let (index, at) = arrival.map_or((None, Time::NEVER), |(i, (at, _))| (Some(i), *at));
            let deadline = self.sender.next_deadline();
            let earlier = self.sender.earlier_deadline().unwrap_or(Time::NEVER);
            self.known = self.known.min(earlier);
            assert!(self.known <= deadline, "a driver would miss {deadline:?}");
            // A driver that has not heard of a later deadline wakes the sender too early.
            let wake = if self.short { self.known } else { deadline };
            self.now = at.min(wake);
            if self.now >= end {
                return;
            }
            match index.filter(|_| at <= wake) {
                Some(index) => self.arrive(index),
                None => {
                    let moved = self.short.then(|| self.sender.moved_deadline(self.now)).flatten();
                    self.known = moved.unwrap_or(Time::NEVER);
                    if moved.is_none() {
                        self.sender.on_deadline(self.now);
                    }
                }
            }
            self.transmit(&mut fate);
        }
    }

    fn arrive(&mut self, index: usize) {
        match self.moving.remove(index).1 {
            Moving::Data(path, data) => {
                let usual = self.short.then(|| self.receiver.on_usual_data(path, &data)).flatten();
                self.shortened += usize::from(usual.is_some());
                let ack = usual.map(Ack::from);
                let ack = ack.or_else(|| self.receiver.on_data(self.now, path, &data));
                if let Some(ack) = ack {
                    self.moving.push((self.now + self.delays[path], Moving::Ack(path, ack)));
                }
            }
            Moving::Ack(path, ack) => {
                let Ack { ack: next, data_ack, window_edge, echo, .. } = ack;
                let usual = UsualAck { ack: next, data_ack, window_edge, echo };
                let done = match self.short && Ack::from(usual) == ack {
                    true => self.sender.on_usual_ack(self.now, path, &usual, true),
                    false => Usual::No,
                };
                match done {
                    Usual::No => self.sender.on_answer(self.now, path, &ack),
                    Usual::Processed => self.shortened += 1,
                    Usual::Releases(segment) => {
                        (self.released, self.shortened) =
                            (Some(Transmit { path, segment }), self.shortened + 2);
                    }
                }
            }
        }
    }
}

const MINUTES: Time = Time(600_000_000_000);

fn transfer(segments: u64) -> Source {
    Source::Transfer(Bytes(segments * u64::from(MSS)))
}

#[test]
fn one_loss_costs_one_retransmission_and_half_the_window() {
    for sack in [true, false] {
        let settings = settings(Options { sack, ..options() }, transfer(200));
        let mut pair = Pair::new(settings, "reno", vec![Span::millis(50)]);
        let mut lost = false;
        pair.run(MINUTES, |_, data| {
            let first = data.seq == 20_000 && !lost;
            lost |= first;
            (!first).then_some(Span::ZERO)
        });
        let report = pair.sender.report(0);
        assert_eq!((report.retransmits, report.recoveries, report.timeouts), (1, 1, 0));
        assert_eq!(pair.receiver.delivered(), 200_000);
        assert!(report.ssthresh < 30.0, "sack {sack}: {report:?}");
    }
}

#[test]
fn losing_a_whole_window_ends_in_a_timeout_and_the_transfer_completes() {
    let mut pair = Pair::new(settings(options(), transfer(100)), "reno", vec![Span::millis(50)]);
    let mut losses = 10;
    pair.run(MINUTES, |_, _| {
        losses -= 1;
        (losses < 0).then_some(Span::ZERO)
    });
    let report = pair.sender.report(0);
    assert_eq!((report.timeouts, report.recoveries), (1, 0));
    assert_eq!(report.ssthresh, 5.0); // half the initial window of 10
    assert_eq!(pair.receiver.delivered(), 100_000);
    assert!(pair.sender.completed().is_some());
}

#[test]
fn a_paced_source_never_builds_up_a_window_it_does_not_use() {
    let source = Source::Paced(Rate(800_000)); // 100 segments a second, 10 in a round trip
    let mut pair = Pair::new(settings(options(), source), "reno", vec![Span::millis(50)]);
    pair.run(Time(20_000_000_000), |_, _| Some(Span::ZERO));
    let delivered = pair.receiver.delivered() / u64::from(MSS);
    assert!((1_990..=2_000).contains(&delivered), "{delivered}");
    assert!(pair.sender.report(0).cwnd <= 12.0, "{:?}", pair.sender.report(0));
}

#[test]
fn the_receive_window_is_never_exceeded() {
    let options = Options { receive_buffer: Bytes(7_500), ..options() };
    let settings = settings(options, transfer(50));
    let mut pair = Pair::new(settings, "reno", vec![Span::millis(50)]);
    pair.run(Time(1), |_, _| Some(Span::ZERO));
    assert_eq!(pair.sent.len(), 7);
    pair.run(MINUTES, |_, _| Some(Span::ZERO));
    assert_eq!(pair.receiver.delivered(), 50_000);
}

#[test]
fn the_host_limit_holds_back_what_has_not_left_the_host() {
    let options = Options { small_queue: Some(Bytes(3_000)), ..options() };
    let settings = settings(options, Source::Bulk);
    let mut sender = sender(settings, "reno", 1);
    let burst = std::iter::from_fn(|| sender.poll_transmit(Time::ZERO)).count();
    assert_eq!(burst, 3);
    sender.on_sent(0, MSS);
    assert!(sender.poll_transmit(Time::ZERO).is_some());
    assert!(sender.poll_transmit(Time::ZERO).is_none());
}

#[test]
fn a_dead_path_loses_no_byte_and_stalls_for_about_one_timeout() {
    let delays = vec![Span::millis(20), Span::millis(40)];
    let mut pair = Pair::new(settings(options(), transfer(20_000)), "lia", delays);
    let cut = Time(500_000_000);
    let mut now_sent = 0;
    pair.run(cut, |_, _| Some(Span::ZERO));
    let before = pair.receiver.delivered();
    pair.moving.retain(|(_, moving)| matches!(moving, Moving::Data(1, _) | Moving::Ack(1, _)));
    pair.run(MINUTES, |path, _| {
        now_sent += 1;
        (path == 1).then_some(Span::ZERO)
    });
    assert_eq!(pair.receiver.delivered(), 20_000_000);
    assert!(before < 20_000_000);
    let stalled = pair.sender.completed().unwrap().since(cut);
    assert!(stalled < Span::millis(5_000), "{stalled}");
}

#[test]
fn a_path_that_dies_again_soon_after_it_came_back_loses_no_byte_either() {
    // At 0.5 s path 0 fails for 0.6 s; it fails for good shortly after its retransmissions arrived.
    for again in (1_100..1_700).step_by(10) {
        let delays = vec![Span::millis(20), Span::millis(40)];
        let options = Options { receive_buffer: Bytes(1 << 17), ..options() };
        let settings = settings(options, transfer(6_000));
        let mut pair = Pair::new(settings, "lia", delays);
        let (first, back, last) =
            (Time(500_000_000), Time(1_100_000_000), Time::ZERO + Span::millis(again));
        pair.run(first, |_, _| Some(Span::ZERO));
        pair.run(back, |path, _| (path == 1).then_some(Span::ZERO));
        pair.run(last, |_, _| Some(Span::ZERO));
        pair.moving.retain(|(_, moving)| matches!(moving, Moving::Data(1, _) | Moving::Ack(1, _)));
        pair.run(MINUTES, |path, _| (path == 1).then_some(Span::ZERO));
        let completed = pair.sender.completed();
        let soon = |at: Time| at > last && at < last + Span::millis(8_000);
        assert!(completed.is_some_and(soon), "{again}: {completed:?}");
    }
}

#[test]
fn limited_transmit_sends_two_new_segments_on_two_duplicate_acks_and_none_when_off() {
    for (sack, limited_transmit) in [(true, true), (true, false), (false, true), (false, false)] {
        let options = Options { sack, limited_transmit, ..options() };
        let settings = settings(options, Source::Bulk);
        let mut sender = sender(settings, "reno", 1);
        let now = Time(100_000_000);
        let burst = std::iter::from_fn(|| sender.poll_transmit(now)).count() as u64;
        let mut new = Vec::new();
        for duplicate in 1..=2 {
            let block = Range { start: 1_000, end: 1_000 * (1 + duplicate) };
            sender.on_answer(now, 0, &duplicate_ack(0, sack.then_some(block)));
            new.extend(
                std::iter::from_fn(|| sender.poll_transmit(now)).map(|sent| sent.segment.seq),
            );
        }
        let expected =
            if limited_transmit { vec![1_000 * burst, 1_000 * (burst + 1)] } else { vec![] };
        assert_eq!(new, expected, "sack {sack}, limited {limited_transmit}");
        assert_eq!(sender.report(0).recoveries, 0);
    }
}

#[test]
fn without_sack_duplicate_acks_after_a_recovery_release_no_more_than_two_segments() {
    let settings = settings(Options { sack: false, ..options() }, Source::Bulk);
    let mut sender = sender(settings, "reno", 1);
    let now = Time(100_000_000);
    let poll = |sender: &mut Sender<AnyController>| {
        std::iter::from_fn(|| sender.poll_transmit(now)).count()
    };
    poll(&mut sender);
    (0..3).for_each(|_| sender.on_answer(now, 0, &duplicate_ack(0, None)));
    poll(&mut sender);
    let recover = sender.paths[0].board.nxt;
    sender.on_answer(now, 0, &duplicate_ack(recover, None)); // recovery ends exactly at its point
    poll(&mut sender);
    let sent: usize = (0..20)
        .map(|_| {
            sender.on_answer(now, 0, &duplicate_ack(recover, None));
            poll(&mut sender)
        })
        .sum();
    assert_eq!((sent, sender.report(0).recoveries), (2, 1));
}

#[test]
fn timeouts_double_and_lower_ssthresh_once_until_an_ack_brings_progress() {
    let mut sender = sender(settings(options(), Source::Bulk), "reno", 1);
    let send =
        |sender: &mut Sender<AnyController>, now| while sender.poll_transmit(now).is_some() {};
    send(&mut sender, Time::ZERO);
    let (mut last, mut intervals) = (Time::ZERO, Vec::new());
    for _ in 0..4 {
        let now = sender.next_deadline();
        intervals.push(now.since(last).0 / 1_000_000);
        sender.on_deadline(now);
        send(&mut sender, now);
        assert_eq!((sender.report(0).cwnd, sender.report(0).ssthresh), (1.0, 5.0));
        last = now;
    }
    assert_eq!(intervals, [1_000, 2_000, 4_000, 8_000]); // RFC 6298 §5.5 from the initial 1 s
    let now = last + Span::millis(50);
    sender.on_answer(now, 0, &Ack { echo: last, ..duplicate_ack(1_000, None) });
    assert_eq!(sender.next_deadline().since(now), Span::millis(250)); // 50 ms and the minimum
}

#[test]
fn recovery_ends_with_no_more_in_flight_than_ssthresh() {
    let mut pair = Pair::new(settings(options(), transfer(400)), "reno", vec![Span::millis(50)]);
    let mut lost = false;
    pair.run(Time(320_000_000), |_, data| {
        let first = data.seq == 40_000 && !lost;
        lost |= first;
        (!first).then_some(Span::ZERO)
    });
    while pair.sender.report(0).recoveries == 0
        || pair.sender.paths[0].recovery.phase == Phase::Recovery
    {
        pair.run(pair.now + Span(1), |_, _| Some(Span::ZERO)); // the events of one instant
    }
    let report = pair.sender.report(0);
    assert!(report.pipe <= report.ssthresh as u64 * u64::from(MSS), "{report:?}");
    assert!((0.0..1.0).contains(&(report.cwnd - report.ssthresh)), "{report:?}");
}

#[test]
fn a_path_that_leaves_hands_its_data_over_and_may_join_again() {
    let delays = vec![Span::millis(20), Span::millis(40)];
    let mut pair = Pair::new(settings(options(), transfer(30_000)), "olia", delays);
    pair.run(Time(300_000_000), |_, _| Some(Span::ZERO));
    pair.sender.leave(0);
    pair.moving.retain(|(_, moving)| !matches!(moving, Moving::Data(0, _)));
    pair.run(Time(900_000_000), |path, _| {
        assert_eq!(path, 1, "nothing is sent on a path that left");
        Some(Span::ZERO)
    });
    let seq = pair.sender.join(0);
    pair.receiver.join(0, seq);
    pair.run(MINUTES, |_, _| Some(Span::ZERO));
    assert_eq!(pair.receiver.delivered(), 30_000_000);
    assert!(pair.sender.report(0).srtt > Span::ZERO);
}

#[test]
fn a_path_that_joins_again_carries_what_it_had_when_it_left_if_no_other_path_can() {
    let delays = vec![Span::millis(20), Span::millis(40)];
    let options = Options { receive_buffer: Bytes(1 << 17), ..options() };
    let settings = settings(options, transfer(3_000));
    let mut pair = Pair::new(settings, "lia", delays);
    pair.run(Time(300_000_000), |_, _| Some(Span::ZERO));
    pair.sender.leave(1);
    pair.sender.leave(0);
    pair.moving.clear();
    pair.now = Time(900_000_000);
    let seq = pair.sender.join(0);
    pair.receiver.join(0, seq);
    pair.run(MINUTES, |_, _| Some(Span::ZERO));
    assert_eq!(pair.receiver.delivered(), 3_000_000);
}

/// Reno, paced at one segment in a thousand seconds.
struct Slow(AnyController);

impl CongestionController for Slow {
    fn on_ack(&mut self, path: usize, ack: &control::Acked) {
        self.0.on_ack(path, ack);
    }
    fn on_congestion(&mut self, path: usize, cause: control::Cause) {
        self.0.on_congestion(path, cause);
    }
    fn on_recovered(&mut self, path: usize) {
        self.0.on_recovered(path);
    }
    fn set_member(&mut self, path: usize, member: bool) {
        self.0.set_member(path, member);
    }
    fn undo(&mut self, path: usize) {
        self.0.undo(path);
    }
    fn restart(&mut self, path: usize, window: control::Window) {
        self.0.restart(path, window);
    }
    fn window(&self, path: usize) -> control::Window {
        self.0.window(path)
    }
    fn pacing(&self, _path: usize) -> Option<control::SegmentRate> {
        Some(control::SegmentRate(1e-3))
    }
}

#[test]
fn pacing_does_not_delay_what_has_waited_for_a_timeout() {
    let settings = SenderSettings { rate: true, ..settings(options(), transfer(3_000)) };
    let reno = AnyController::new(&"reno".parse().unwrap(), Settings::default(), 1);
    let control = Slow(reno.unwrap());
    let mut sender = Sender::new(Arc::new(settings), control, 1, Time::ZERO);
    assert_eq!(sender.poll_transmit(Time::ZERO).map(|sent| sent.segment.seq), Some(0));
    assert!(sender.poll_transmit(Time::ZERO).is_none());
    let timeout = Time(1_000_000_000);
    assert_eq!(sender.next_deadline(), timeout);
    sender.on_deadline(timeout);
    assert_eq!(sender.poll_transmit(timeout).map(|sent| sent.segment.seq), Some(0));
}

/// An ACK with `ack` and at most one SACK block.
fn duplicate_ack(ack: u64, sack: Option<Range>) -> Ack {
    let sacks = Sacks::new(sack);
    Ack {
        ack,
        data_ack: ack,
        window_edge: 1 << 20,
        echo: Time::ZERO,
        transit: Span::ZERO,
        sacks,
        flags: Flags::NONE,
    }
}

/// Losses and delays from a fixed list, repeated.
fn scripted(script: &[u8]) -> impl FnMut(usize, &Data) -> Option<Span> + '_ {
    let mut fates = script.iter().cycle();
    move |_, _| match fates.next() {
        Some(0..=2) => None,
        Some(3) => Some(Span::millis(15)),
        _ => Some(Span::ZERO),
    }
}

/// A selection of tracked state.
#[derive(Clone, Debug)]
struct Tracked([bool; 7]);

impl Tracked {
    fn settings(&self, sack: bool, source: Source) -> SenderSettings {
        let [rack, tlp, eifel, dsack, frto, rate, ecn] = self.0;
        let [rack, tlp, dsack, frto] = [rack, tlp, dsack, frto].map(|on| on && sack);
        let options = Options { sack, rack, tlp, eifel, dsack, frto, ecn, ..options() };
        SenderSettings { rate, ..settings(options, source) }
    }
}

fn tracking() -> impl Strategy<Value = Tracked> {
    any::<[bool; 7]>().prop_map(Tracked)
}

/// What a sender sends while ACKs arrive and segments leave the host, after which they are received
/// or lost, in the order of `steps`. If it `looks`, it looks for more whenever a segment has left.
fn sent_from_host(
    steps: &[(u8, u64)],
    (paths, limit, sack): (usize, u64, bool),
    looks: bool,
) -> Vec<(Time, usize, Data)> {
    let small_queue = Some(Bytes(limit * u64::from(MSS)));
    let options = Options { small_queue, sack, ..options() };
    let mut sender = sender(settings(options.clone(), Source::Bulk), "lia", paths);
    let mut receiver = Receiver::new(ReceiverSettings { options, transit: false }, paths);
    let (mut acks, mut sent) = (VecDeque::new(), Vec::new());
    let mut host = VecDeque::<(usize, Data)>::new();
    let mut now = Time::ZERO;
    for (what, ms) in steps {
        now = now + Span::millis(*ms);
        if sender.next_deadline() <= now {
            sender.on_deadline(now);
        }
        match what {
            0..5 => {
                if let Some((path, ack)) = acks.pop_front() {
                    sender.on_answer(now, path, &ack);
                }
            }
            _ => {
                if let Some((path, data)) = host.pop_front() {
                    if looks {
                        sender.unblock();
                    }
                    sender.on_sent(path, data.len);
                    let arrived = (*what > 5).then(|| receiver.on_data(now, path, &data)).flatten();
                    acks.extend(arrived.map(|ack| (path, ack)));
                }
            }
        }
        while let Some(Transmit { path, segment }) = sender.poll_transmit(now) {
            host.push_back((path, segment));
            sent.push((now, path, segment));
        }
    }
    sent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// With arbitrary losses and delays, every byte arrives once and in order, under every
    /// recovery.
    #[test]
    fn every_byte_arrives_under_any_loss_and_reordering(
        script in prop::collection::vec(0u8..40, 37..120),
        paths in 1usize..4,
        sack: bool,
        tracking in tracking(),
        law in prop::sample::select(vec!["reno", "lia", "olia", "balia", "fully-coupled", "phi:0.5"]),
    ) {
        let settings = tracking.settings(sack, transfer(300));
        let delays = (1..=paths).map(|i| Span::millis(10 * i as u64)).collect();
        let mut pair = Pair::new(settings, law, delays);
        pair.run(Time(3_600_000_000_000), scripted(&script));
        prop_assert_eq!(pair.receiver.delivered(), 300_000);
        prop_assert!(pair.sender.completed().is_some());
        prop_assert_eq!(pair.sender.next_deadline(), Time::NEVER);
    }

    /// The fast path has the same results as the full processing, and it is taken.
    #[test]
    fn usual_segments_and_acks_may_take_the_short_way(
        script in prop::collection::vec(0u8..100, 37..120),
        paths in 1usize..4,
        sack: bool,
        limited: bool,
        law in prop::sample::select(vec!["reno", "lia", "olia", "balia"]),
    ) {
        let delays: Vec<Span> = (1..=paths).map(|i| Span::millis(10 * i as u64)).collect();
        let receive_buffer = Bytes(if limited { 40_000 } else { 1 << 20 });
        let options = Options { sack, receive_buffer, ..options() };
        let [whole, short] = [false, true].map(|short| {
            let mut pair = Pair::new(settings(options.clone(), transfer(400)), law, delays.clone());
            pair.short = short;
            pair.run(Time(3_600_000_000_000), scripted(&script));
            pair
        });
        prop_assert_eq!(whole.sent, short.sent);
        prop_assert_eq!((whole.now, whole.receiver.delivered()), (short.now, 400_000));
        for path in 0..paths {
            prop_assert_eq!(whole.sender.report(path), short.sender.report(path));
        }
        prop_assert!(short.shortened > 0);
    }

    /// A connection without extensions, or whose extensions have ended, sends the same segments as
    /// with all extensions checked at every event.
    #[test]
    fn the_usual_way_does_what_the_extended_one_does_with_everything_off(
        script in prop::collection::vec(0u8..100, 37..120),
        paths in 1usize..4,
        sack: bool,
        handshake: bool,
        law in prop::sample::select(vec!["reno", "lia", "olia", "multi-priority", "mtcp", "dwc"]),
    ) {
        let delays: Vec<Span> = (1..=paths).map(|i| Span::millis(10 * i as u64)).collect();
        let options = Options { sack, handshake, ..options() };
        let [extended, usual] = [true, false].map(|extended| {
            let mut pair = Pair::new(settings(options.clone(), transfer(400)), law, delays.clone());
            if extended {
                pair.sender.stay_extended();
            }
            pair.run(Time(3_600_000_000_000), scripted(&script));
            pair
        });
        prop_assert!(extended.sender.extensions.is_some() && usual.sender.extensions.is_none());
        prop_assert_eq!(extended.sent, usual.sent);
        prop_assert_eq!((extended.now, extended.receiver.delivered()), (usual.now, 400_000));
        for path in 0..paths {
            prop_assert_eq!(extended.sender.report(path), usual.sender.report(path));
        }
    }

    #[test]
    fn a_segment_that_leaves_a_host_with_room_gives_a_sender_nothing_to_send(
        steps in prop::collection::vec((0u8..16, 0u64..60), 1..400),
        host in (1usize..4, 1u64..12, any::<bool>()),
    ) {
        prop_assert_eq!(
            sent_from_host(&steps, host, false),
            sent_from_host(&steps, host, true)
        );
    }

    /// A peer may send arbitrary acknowledgements: no panic, and never more in flight than the
    /// windows allow.
    #[test]
    fn no_acknowledgement_makes_the_sender_panic_or_overrun_its_window(
        acks in prop::collection::vec((0u64..60, 0u64..60, 0u64..60, 0u64..60, 0usize..2, any::<bool>()), 1..80),
        sack: bool,
        tracking in tracking(),
    ) {
        let settings = tracking.settings(sack, Source::Bulk);
        let mut sender = sender(settings, "olia", 2);
        let mut now = Time::ZERO;
        for (ack, data_ack, start, len, path, timeout) in acks {
            now = now + Span::millis(7);
            if timeout {
                now = now.max(sender.next_deadline().min(now + Span::millis(60_000)));
                sender.on_deadline(now);
            }
            let block = Range { start: start * 500, end: (start + len) * 500 };
            sender.on_answer(now, path, &Ack {
                ack: ack * 500,
                data_ack: data_ack * 500,
                window_edge: 1 << 20,
                echo: Time::ZERO,
                transit: Span::ZERO,
                sacks: Sacks::new([block]),
                flags: if start % 7 == 0 { Flags::ECHO } else { Flags::NONE },
            });
            while let Some(Transmit { path, segment: data }) = sender.poll_transmit(now) {
                sender.on_sent(path, data.len);
                let report = sender.report(path);
                prop_assert!(report.cwnd.is_finite() && report.cwnd >= 1.0, "{report:?}");
                prop_assert!(data.seq + u64::from(data.len) <= 1 << 20);
            }
        }
    }
}

proptest! {
    // rare: without the rule one input in a thousand fails
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// A control may close the window of a path to which a scheduler has handed data.
    #[test]
    fn every_byte_arrives_whatever_waits_for_a_closed_window(
        script in prop::collection::vec(0u8..12, 20..120),
        paths in 2usize..4,
        eifel: bool,
        windows in 1u8..30,
        scheduler in prop::sample::select(Scheduler::examples()),
        law in prop::sample::select(vec!["multi-priority", "multi-priority:nice", "mtcp"]),
    ) {
        let options = Options { eifel, scheduler, ..options() };
        let spec: control::ControllerSpec = law.parse().unwrap();
        let settings = SenderSettings::new(options, spec.needs(), transfer(60));
        let windows = Settings { initial_window: windows.into(), ..Settings::default() };
        let delays = (1..=paths).map(|i| Span::millis(10 * i as u64)).collect();
        let mut pair = Pair::with_windows(settings, law, windows, delays);
        // then the network carries everything
        let mut fates = script.iter().chain(std::iter::repeat(&40)).copied();
        pair.run(Time(3_600_000_000_000), |_, _| match fates.next() {
            Some(0..=2) => None,
            Some(3) => Some(Span::millis(15)),
            _ => Some(Span::ZERO),
        });
        prop_assert_eq!(pair.receiver.delivered(), 60_000);
        prop_assert!(pair.sender.completed().is_some());
    }
}

#[test]
fn a_path_that_joins_again_opens_again() {
    let options = Options { handshake: true, ..options() };
    let mut pair = Pair::new(settings(options, Source::Bulk), "lia", vec![Span::millis(20); 2]);
    // Early losses keep the windows below the receive window, which path 0 would fill.
    let fate = |_: usize, data: &Data| {
        (data.len == 0 || data.seq > 30_000 || data.stamp > Time(150_000_000)).then_some(Span::ZERO)
    };
    pair.run(Time(1_000_000_000), fate);
    assert!(pair.sender.extensions.is_none(), "all is established");
    pair.sender.leave(1);
    let first = pair.sender.join(1);
    pair.receiver.join(1, first);
    let before = pair.sent.len();
    pair.run(Time(2_000_000_000), fate);
    let mut again = pair.sent[before..].iter().filter(|(path, _)| *path == 1).map(|(_, it)| it);
    assert!(again.next().is_some_and(|data| data.flags.has(Flags::SYN)));
    assert!(again.any(|data| data.len > 0));
    assert!(pair.sender.extensions.is_none());
}

#[test]
fn a_path_that_has_become_slow_is_suspended_and_used_again_when_a_probe_is_answered() {
    let second = |s: u64| Time(s * 1_000_000_000);
    let options = Options { initial_ssthresh: Some(10.0), suspend: true, ..options() };
    let mut pair = Pair::new(settings(options, Source::Bulk), "lia", vec![Span::millis(50); 2]);
    let gone = (second(4), Time(9_500_000_000)); // all data of path 1 in this time is lost
    let fate = |path: usize, data: &Data| {
        (path == 0 || data.stamp < gone.0 || data.stamp >= gone.1).then_some(Span::ZERO)
    };
    pair.run(second(4), fate);
    assert!(pair.sender.report(1).member);
    pair.run(Time(6_300_000_000), fate); // the last acknowledgements come a round trip after 4 s
    assert!(!pair.sender.report(1).member && pair.sender.report(0).member);
    let sent = pair.sent.len();
    pair.run(second(9), fate);
    let probes: Vec<Time> =
        pair.sent[sent..].iter().filter(|(path, _)| *path == 1).map(|(_, it)| it.stamp).collect();
    assert_eq!(probes.len() as u64, pair.sender.report(1).probes);
    assert!(probes.windows(2).all(|two| two[1].since(two[0]) == Span::millis(1000)), "{probes:?}");
    assert!((2..=3).contains(&probes.len()), "{probes:?}");
    pair.run(second(11), fate);
    let report = pair.sender.report(1);
    assert!(report.member && report.cwnd > 1.0, "{report:?}");
    pair.run(second(14), fate);
    assert!(pair.sender.report(1).member);
}

#[test]
fn without_another_path_that_does_better_none_is_suspended() {
    let options = Options { suspend: true, ..options() };
    let mut pair = Pair::new(settings(options, Source::Bulk), "lia", vec![Span::millis(50); 2]);
    let fate = |_: usize, data: &Data| (data.stamp < Time(4_000_000_000)).then_some(Span::ZERO);
    pair.run(Time(20_000_000_000), fate);
    let reports = [pair.sender.report(0), pair.sender.report(1)];
    assert!(reports.iter().any(|report| report.member && report.timeouts > 2), "{reports:?}");
}
