//! Two endpoints, one clock, and a network that does what each test says.

use super::*;
use crate::receiver::{Receiver, ReceiverSettings};
use control::{AnyLaw, Settings};
use proptest::prelude::*;
use units::{Bytes, Rate, Span};
use wire::Sacks;

const MSS: u32 = 1000;

fn settings(source: Source) -> SenderSettings {
    SenderSettings {
        segment: MSS,
        sack: true,
        limited_transmit: true,
        rto: RtoSettings::default(),
        receive_buffer: 1 << 20,
        scheduler: Scheduler::MinRtt,
        host_limit: u64::MAX,
        source,
    }
}

fn sender(settings: SenderSettings, law: &str, paths: usize) -> Sender {
    let law: AnyLaw = law.parse().unwrap();
    let control = Coupled::new(law, Settings::default(), paths);
    Sender::new(Arc::new(settings), control, paths, Time::ZERO)
}

/// What travels, in the order of arrival.
enum Moving {
    Data(usize, Data),
    Ack(usize, Ack),
}

/// A sender and a receiver with a line of fixed delay for each path and direction.
struct Pair {
    sender: Sender,
    receiver: Receiver,
    delays: Vec<Span>,
    moving: Vec<(Time, Moving)>,
    now: Time,
    sent: Vec<(usize, Data)>,
}

impl Pair {
    fn new(settings: SenderSettings, law: &str, delays: Vec<Span>) -> Self {
        let receiver = ReceiverSettings {
            sack: settings.sack,
            delayed_ack: None,
            buffer: settings.receive_buffer,
        };
        Pair {
            receiver: Receiver::new(receiver, delays.len()),
            sender: sender(settings, law, delays.len()),
            delays,
            moving: Vec::new(),
            now: Time::ZERO,
            sent: Vec::new(),
        }
    }

    /// Sends all that may be sent; `fate` says how much later than usual a segment arrives, if ever.
    fn transmit(&mut self, fate: &mut impl FnMut(usize, &Data) -> Option<Span>) {
        while let Some(Transmit { path, data }) = self.sender.poll_transmit(self.now) {
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
            self.now = at.min(deadline);
            if self.now >= end {
                return;
            }
            match index.filter(|_| at <= deadline) {
                Some(index) => self.arrive(index),
                None => self.sender.on_deadline(self.now),
            }
            self.transmit(&mut fate);
        }
    }

    fn arrive(&mut self, index: usize) {
        match self.moving.remove(index).1 {
            Moving::Data(path, data) => {
                if let Some(ack) = self.receiver.on_data(self.now, path, &data) {
                    self.moving.push((self.now + self.delays[path], Moving::Ack(path, ack)));
                }
            }
            Moving::Ack(path, ack) => self.sender.on_ack(self.now, path, &ack),
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
        let settings = SenderSettings { sack, ..settings(transfer(200)) };
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
    let mut pair = Pair::new(settings(transfer(100)), "reno", vec![Span::millis(50)]);
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
    let mut pair = Pair::new(settings(source), "reno", vec![Span::millis(50)]);
    pair.run(Time(20_000_000_000), |_, _| Some(Span::ZERO));
    let delivered = pair.receiver.delivered() / u64::from(MSS);
    assert!((1_990..=2_000).contains(&delivered), "{delivered}");
    assert!(pair.sender.report(0).cwnd <= 12.0, "{:?}", pair.sender.report(0));
}

#[test]
fn the_receive_window_is_never_exceeded() {
    let settings = SenderSettings { receive_buffer: 7_500, ..settings(transfer(50)) };
    let mut pair = Pair::new(settings, "reno", vec![Span::millis(50)]);
    pair.run(Time(1), |_, _| Some(Span::ZERO));
    assert_eq!(pair.sent.len(), 7);
    pair.run(MINUTES, |_, _| Some(Span::ZERO));
    assert_eq!(pair.receiver.delivered(), 50_000);
}

#[test]
fn the_host_limit_holds_back_what_has_not_left_the_host() {
    let settings = SenderSettings { host_limit: 3_000, ..settings(Source::Bulk) };
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
    let mut pair = Pair::new(settings(transfer(20_000)), "lia", delays);
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
fn a_path_that_leaves_hands_its_data_over_and_may_join_again() {
    let delays = vec![Span::millis(20), Span::millis(40)];
    let mut pair = Pair::new(settings(transfer(30_000)), "olia", delays);
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

/// Loss and lateness by a fixed list, again and again.
fn scripted(script: &[u8]) -> impl FnMut(usize, &Data) -> Option<Span> + '_ {
    let mut fates = script.iter().cycle();
    move |_, _| match fates.next() {
        Some(0..=2) => None,
        Some(3) => Some(Span::millis(15)),
        _ => Some(Span::ZERO),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is lost or late, every byte arrives once and in order, under every recovery.
    #[test]
    fn every_byte_arrives_under_any_loss_and_reordering(
        script in prop::collection::vec(0u8..40, 37..120),
        paths in 1usize..4,
        sack: bool,
        law in prop::sample::select(vec!["reno", "lia", "olia", "balia", "fully-coupled", "phi:0.5"]),
    ) {
        let settings = SenderSettings { sack, ..settings(transfer(300)) };
        let delays = (1..=paths).map(|i| Span::millis(10 * i as u64)).collect();
        let mut pair = Pair::new(settings, law, delays);
        pair.run(Time(3_600_000_000_000), scripted(&script));
        prop_assert_eq!(pair.receiver.delivered(), 300_000);
        prop_assert!(pair.sender.completed().is_some());
        prop_assert_eq!(pair.sender.next_deadline(), Time::NEVER);
    }

    /// A peer may acknowledge anything: no panic, and never more in flight than the windows allow.
    #[test]
    fn no_acknowledgement_makes_the_sender_panic_or_overrun_its_window(
        acks in prop::collection::vec((0u64..60, 0u64..60, 0u64..60, 0u64..60, 0usize..2, any::<bool>()), 1..80),
        sack: bool,
    ) {
        let mut sender = sender(SenderSettings { sack, ..settings(Source::Bulk) }, "olia", 2);
        let mut now = Time::ZERO;
        for (ack, data_ack, start, len, path, timeout) in acks {
            now = now + Span::millis(7);
            if timeout {
                now = now.max(sender.next_deadline().min(now + Span::millis(60_000)));
                sender.on_deadline(now);
            }
            let block = Range { start: start * 500, end: (start + len) * 500 };
            sender.on_ack(now, path, &Ack {
                ack: ack * 500,
                data_ack: data_ack * 500,
                window_edge: 1 << 20,
                echo: Time::ZERO,
                sacks: Sacks::new([block]),
            });
            while let Some(Transmit { path, data }) = sender.poll_transmit(now) {
                sender.on_sent(path, data.len);
                let report = sender.report(path);
                prop_assert!(report.cwnd.is_finite() && report.cwnd >= 1.0);
                prop_assert!(data.seq + u64::from(data.len) <= 1 << 20);
            }
        }
    }
}
