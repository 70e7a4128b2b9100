use super::*;
use crate::link::tests::run;
use crate::link::{Change, Counters, LinkSettings};
use crate::queue::{Codel, DropTail};
use crate::testing::{Lcg, Never, TestPacket};
use crate::{Loss, LossPlace, Queue, Reorder};
use proptest::prelude::*;
use units::Packets;

fn ms(ms: u64) -> Time {
    Time(ms * MILLISECOND)
}

fn opportunities(times: &[u32], start: u64) -> Opportunities {
    Opportunities::new(times.into(), Span::millis(start)).unwrap()
}

fn link(times: &[u32], start: u64, delay_ms: u64, queue: Queue) -> Link<TestPacket> {
    Link::new(LinkSettings {
        opportunities: Some(opportunities(times, start)),
        delay: Span::millis(delay_ms),
        queue,
        ..LinkSettings::default()
    })
}

/// A discipline that decides on departure and never drops a packet.
fn patient() -> Queue {
    let (target, limit) = (Span(u64::MAX / 4), Packets(f64::MAX));
    Queue::Codel(Codel { target, limit, ..Codel::default() })
}

/// Exit times of packets with these arrivals, and the numbers of their paths; no packet is lost.
fn through(mut link: Link<TestPacket>, arrivals: &[(Time, TestPacket)]) -> Vec<(Time, u32)> {
    let (out, gone, _) = run(&mut link, arrivals.iter().copied(), &mut Never);
    assert_eq!(gone, 0);
    out
}

/// When the packets inside come out.
fn times(link: &mut Link<TestPacket>) -> Vec<Time> {
    run(link, std::iter::empty(), &mut Never).0.iter().map(|(at, _)| *at).collect()
}

/// mahimahi's rule as in its source: one opportunity after the other, used or not.
fn one_by_one(times: &[u32], start: u64, arrivals: &[(Time, TestPacket)]) -> Vec<(Time, u32)> {
    let period = u64::from(times[times.len() - 1]);
    let all = (0..).flat_map(|turn| times.iter().map(move |at| turn * period + u64::from(*at)));
    let mut all = all.filter(|at| *at > start).map(|at| ms(at - start));
    let mut queue: VecDeque<(Time, u32, u32)> =
        arrivals.iter().map(|(at, packet)| (*at, packet.bytes, packet.path)).collect();
    let mut out = Vec::new();
    while !queue.is_empty() {
        let at = all.next().unwrap();
        let mut left = 1500;
        while let Some((_, bytes, path)) = queue.front_mut().filter(|(came, ..)| *came < at) {
            let sent = left.min(*bytes);
            (*bytes, left) = (*bytes - sent, left - sent);
            if *bytes > 0 {
                break;
            }
            out.push((at, *path));
            queue.pop_front();
        }
    }
    out
}

#[test]
fn what_always_waits_has_every_opportunity_at_its_very_time_and_the_trace_repeats() {
    let times = [0, 3, 3, 10];
    let arrivals: Vec<_> =
        (0..8).map(|path| (ms(0), TestPacket { path, ..TestPacket::of(1500) })).collect();
    for queue in [Queue::Unlimited, patient()] {
        let out = through(link(&times, 0, 7, queue), &arrivals);
        let at: Vec<_> = out.iter().map(|(at, _)| at.0 / MILLISECOND - 7).collect();
        // The opportunity at 0 ms had passed when they arrived; the 10 of a turn and the 0 of the
        // next coincide.
        assert_eq!(at, [3, 3, 10, 10, 13, 13, 20, 20]);
    }
}

#[test]
fn repetitions_are_exact_after_a_year() {
    let year = 365 * 86_400_000; // 21 ms into a period of 33
    let mut link = link(&[7, 7, 33], 0, 0, Queue::Unlimited);
    assert_eq!(link.offer(ms(year), TestPacket::of(1500), &mut Never), Offer::Wake(ms(year + 12)));
    link.offer(ms(year), TestPacket::of(1500), &mut Never);
    assert_eq!(times(&mut link), [year + 12, year + 19].map(ms));
}

#[test]
fn small_packets_share_an_opportunity_and_a_large_one_takes_several() {
    let sizes = [500, 500, 500, 600, 900, 3200, 1300, 40, 4000];
    let arrivals: Vec<_> = sizes.iter().map(|size| (ms(0), TestPacket::of(*size))).collect();
    for queue in [Queue::Unlimited, patient()] {
        let out = through(link(&[1], 0, 0, queue), &arrivals);
        let at: Vec<_> = out.iter().map(|(at, _)| at.0 / MILLISECOND).collect();
        // 1500 | 1500 | 1500 | 1500 | 200 + 1300 | 40 + 1460 | 1500 | 1040
        assert_eq!(at, [1, 1, 1, 2, 2, 5, 5, 6, 8]);
    }
}

#[test]
fn what_is_left_of_an_opportunity_is_for_those_that_wait_and_not_for_later_ones() {
    let arrivals = [
        (ms(0), TestPacket::of(1000)),
        (ms(1), TestPacket::of(100)), // both wait at 2 ms
        (ms(2), TestPacket::of(100)), // too late for the opportunity
        (Time(2_000_001), TestPacket::of(100)),
    ];
    for queue in [Queue::Unlimited, patient()] {
        let out = through(link(&[2, 9], 0, 0, queue), &arrivals);
        assert_eq!(out.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2, 2, 9, 9].map(ms));
    }
}

#[test]
fn a_run_may_begin_anywhere_in_the_trace_and_turns_later() {
    for (start, first) in [(0, 1), (1, 3), (3, 1), (4, 1), (5, 3), (4_000_000, 1)] {
        let mut link = link(&[1, 4], start, 0, Queue::Unlimited);
        let offer = link.offer(ms(0), TestPacket::of(40), &mut Never);
        assert_eq!(offer, Offer::Wake(ms(first)), "from {start}");
    }
}

#[test]
fn traces_that_are_none_are_refused() {
    for times in [&[][..], &[0], &[0, 0], &[3, 2]] {
        assert_eq!(Opportunities::new(times.into(), Span::ZERO), None);
    }
}

#[test]
fn a_queue_has_what_waits_for_its_first_bytes_to_go() {
    let queue = Queue::DropTail(DropTail::of(2));
    let mut link = link(&[5, 10], 0, 0, queue);
    let offers: Vec<_> =
        (0..4).map(|_| link.offer(ms(0), TestPacket::of(2000), &mut Never)).collect();
    let expected = [Offer::Wake(ms(10)), Offer::Carried, Offer::Dropped, Offer::Dropped];
    assert_eq!(offers, expected);
    assert_eq!((link.backlog(ms(4)).packets, link.clears_in(ms(4))), (2, Some(Span::millis(11))));
    assert_eq!((link.backlog(ms(5)).packets, link.backlog(ms(5)).bytes), (1, 2000));
    assert_eq!(link.offer(ms(5), TestPacket::of(100), &mut Never), Offer::Carried);
    assert_eq!(times(&mut link), [10, 15, 15].map(ms));
    assert_eq!(link.clears_in(ms(15)), Some(Span::ZERO));
}

#[test]
fn what_waits_under_a_departing_discipline_clears_when_the_trace_says() {
    let mut link = link(&[5, 10], 0, 0, patient());
    for _ in 0..4 {
        link.offer(ms(1), TestPacket::of(1000), &mut Never);
    }
    assert_eq!(link.backlog(ms(1)).packets, 4);
    assert_eq!(link.clears_in(ms(1)), Some(Span::millis(14)));
}

#[test]
fn a_new_delay_is_for_packets_that_are_not_out() {
    for queue in [Queue::Unlimited, patient()] {
        let mut link = link(&[1], 0, 50, queue);
        let mut arrivals = (0..3).map(|path| (ms(0), TestPacket { path, ..TestPacket::of(1500) }));
        for (now, packet) in arrivals.by_ref() {
            link.offer(now, packet, &mut Never);
        }
        assert_eq!(link.wake(ms(1), &mut Never), None);
        link.change(Time(1_500_000), Change { delay: Some(Span::millis(80)), ..Change::default() });
        assert_eq!(times(&mut link), [51, 82, 83].map(ms));
    }
}

proptest! {
    /// For arbitrary arrivals and traces, exits and their times follow mahimahi's rule, whether the
    /// queue decides on arrival or on departure.
    #[test]
    fn packets_come_out_as_if_each_opportunity_were_looked_at(
        mut times in prop::collection::vec(0u32..60, 1..30),
        start in 0u64..200,
        steps in prop::collection::vec((prop_oneof![Just(0u64), 0u64..20_000_000, (0u64..9).prop_map(|n| n * MILLISECOND)], 1u32..4000), 1..120),
    ) {
        times.push(60);
        times.sort_unstable();
        let mut now = Time::ZERO;
        let arrivals: Vec<_> = steps.iter().zip(0..).map(|((gap, bytes), path)| {
            now = now + Span(*gap);
            (now, TestPacket { path, ..TestPacket::of(*bytes) })
        }).collect();
        let expected = one_by_one(&times, start, &arrivals);
        prop_assert_eq!(&through(link(&times, start, 0, Queue::Unlimited), &arrivals), &expected);
        prop_assert_eq!(&through(link(&times, start, 0, patient()), &arrivals), &expected);
        let tail = Queue::DropTail(DropTail::of(1000));
        prop_assert_eq!(&through(link(&times, start, 0, tail), &arrivals), &expected);
    }

    /// The same with every other feature of a link: each offered packet came out, was dropped or
    /// was lost.
    #[test]
    fn every_frame_of_a_link_with_opportunities_is_accounted_for(
        mut times in prop::collection::vec(0u32..40, 1..30),
        steps in prop::collection::vec((0u64..3_000_000, 40u32..1600, 0u8..14), 1..200),
        seed: u64,
        kind in any::<prop::sample::Index>(),
        loss in 0.0f64..0.3,
        rearranged: bool,
    ) {
        times.push(40);
        times.sort_unstable();
        let mut queues = Queue::short(20, false);
        let queue = queues.swap_remove(kind.index(queues.len()));
        let departing = queue.decides_on_departure();
        let mut link: Link<TestPacket> = Link::new(LinkSettings {
            opportunities: Some(opportunities(&times, seed % 50)),
            delay: Span::millis(5),
            queue,
            loss: Some(Loss { probability: loss, place: LossPlace::After, chain: None }),
            reorder: rearranged.then_some(Reorder { probability: 0.2, delay: Span::millis(3) }),
            duplicate: if rearranged { 0.1 } else { 0.0 },
            ..LinkSettings::default()
        });
        let (mut now, mut rng, mut out, mut copies) = (Time::ZERO, Lcg(seed), 0, 0);
        let mut until = |link: &mut Link<TestPacket>, end: Time, rng: &mut Lcg| {
            while link.carried() > 0 && link.due() <= end {
                let at = link.due();
                while let Some(passage) = link.wake(at, rng) {
                    copies += u64::from(matches!(passage, crate::Passage::Copy(_)));
                    out += u64::from(!matches!(passage, crate::Passage::Lost(_)));
                }
                while link.take_dropped().is_some() {}
            }
        };
        for (gap, size, kind) in steps {
            now = now + Span(gap);
            until(&mut link, now, &mut rng);
            match kind {
                0 => link.change(now, Change { delay: Some(Span(gap)), ..Change::default() }),
                1 => link.change(now, Change { up: Some(gap % 2 == 0), ..Change::default() }),
                _ => _ = link.offer(now, TestPacket { path: gap as u32 % 5, ..TestPacket::of(size) }, &mut rng),
            }
            while link.take_dropped().is_some() {}
            let due = link.due();
            prop_assert!(due > now || rearranged || departing, "{due:?} at {now:?}");
        }
        until(&mut link, Time(u64::MAX - 1), &mut rng);
        let Counters { arrived, queue_drops, losses, .. } = link.counters();
        prop_assert_eq!(arrived + copies, out + queue_drops + losses);
        prop_assert_eq!(link.carried(), 0);
    }
}
