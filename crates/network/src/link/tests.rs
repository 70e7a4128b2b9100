use super::*;
use crate::GilbertElliott;
use crate::queue::{Codel, DropTail, FqCodel, Red, Spacing};
use crate::testing::{Always, Lcg, Never, TestPacket};
use proptest::prelude::*;
use units::{Bytes, Packets};

fn link(rate: u64, delay_ms: u64, queue: Queue) -> Link<TestPacket> {
    Link::new(LinkSettings {
        rate: Some(Rate(rate)),
        delay: Span::millis(delay_ms),
        queue,
        ..LinkSettings::default()
    })
}

/// Offers `sizes` at time zero and returns when each came out.
fn outputs(link: &mut Link<TestPacket>, sizes: impl Iterator<Item = u32>) -> Vec<Time> {
    let mut next = None;
    for size in sizes {
        if let Offer::Wake(at) = link.offer(Time::ZERO, TestPacket::of(size), &mut Never) {
            next = Some(at);
        }
    }
    drain(link, next)
}

pub(super) fn drain(link: &mut Link<TestPacket>, mut next: Option<Time>) -> Vec<Time> {
    let mut times = Vec::new();
    while let Some(at) = next {
        times.push(at);
        next = link.deliver();
    }
    times
}

#[test]
fn what_every_hop_touches_fills_two_cache_lines() {
    assert_eq!(size_of::<Link<TestPacket>>(), 128);
}

#[test]
fn a_packet_takes_its_transmission_time_and_the_delay() {
    let mut link = link(10_000_000, 40, Queue::Unlimited);
    assert_eq!(outputs(&mut link, [1500, 1500].into_iter()), [Time(41_200_000), Time(42_400_000)]);
}

#[test]
fn the_rate_is_exact_over_a_long_run_because_remainders_are_carried() {
    // 1500 B at 7 Mb/s last 1,714,285.714… ns.
    let mut link = link(7_000_000, 0, Queue::Unlimited);
    let times = outputs(&mut link, std::iter::repeat_n(1500, 7_000));
    assert_eq!(times[6_999], Time(12_000_000_000));
}

#[test]
fn drop_tail_holds_what_waits_and_not_the_packet_in_transmission() {
    let queue = Queue::DropTail(DropTail::of(3));
    let mut link = link(10_000_000, 40, queue);
    assert_eq!(outputs(&mut link, std::iter::repeat_n(1500, 10)).len(), 4);
    assert_eq!(link.counters().queue_drops, 6);
}

#[test]
fn a_byte_limit_counts_bytes() {
    let mut link = link(
        10_000_000,
        0,
        Queue::DropTail(DropTail { bytes: Some(Bytes(3_000)), ..DropTail::default() }),
    );
    assert_eq!(outputs(&mut link, [1500, 1500, 1500, 40].into_iter()).len(), 3);
}

#[test]
fn a_new_rate_applies_to_what_is_left_of_the_packet_in_transmission_and_to_those_that_wait() {
    let mut link = link(10_000_000, 0, Queue::Unlimited);
    for _ in 0..3 {
        link.offer(Time::ZERO, TestPacket::of(1250), &mut Never); // 1 ms each
    }
    link.change(Time(500_000), Change { rate: Some(Rate(1_000_000)), ..Change::default() });
    assert_eq!(link.due(), Time(5_500_000)); // half of the first packet was left
    let next = Some(link.due());
    let times = drain(&mut link, next);
    assert_eq!(times, [Time(5_500_000), Time(15_500_000), Time(25_500_000)]);
}

#[test]
fn an_outage_holds_a_packet_and_the_rest_of_it_goes_at_the_rate_that_comes_after() {
    let mut link = link(10_000_000, 0, Queue::Unlimited);
    link.offer(Time::ZERO, TestPacket::of(1250), &mut Never); // 1 ms
    link.change(Time(250_000), Change { rate: Some(Rate(1)), ..Change::default() });
    let back = Time(2_000_000_000);
    link.change(back, Change { rate: Some(Rate(10_000_000)), ..Change::default() });
    let late = link.due().since(back).0;
    assert!((749_000..=750_000).contains(&late), "{late}"); // two bits were sent meanwhile
}

#[test]
fn packets_never_overtake_when_the_delay_shrinks() {
    let mut link = link(10_000_000, 50, Queue::Unlimited);
    link.offer(Time::ZERO, TestPacket::of(1250), &mut Never);
    link.change(Time(1_000_000), Change { delay: Some(Span::ZERO), ..Change::default() });
    link.offer(Time(2_000_000), TestPacket::of(1250), &mut Never);
    let times = drain(&mut link, Some(Time(51_000_000)));
    assert_eq!(times, [Time(51_000_000), Time(51_000_000)]);
}

#[test]
fn a_packet_takes_the_delay_that_there_is_when_its_transmission_ends() {
    let mut link = link(10_000_000, 50, Queue::Unlimited);
    for _ in 0..3 {
        link.offer(Time::ZERO, TestPacket::of(1250), &mut Never); // 1 ms each
    }
    let delay = Some(Span::millis(80));
    link.change(Time(1_500_000), Change { delay, ..Change::default() });
    let next = Some(link.due());
    let times = drain(&mut link, next);
    assert_eq!(times, [Time(51_000_000), Time(82_000_000), Time(83_000_000)]);
}

#[test]
fn more_than_an_outage_can_ever_send_waits_until_it_ends() {
    let mut link = link(1, 0, Queue::Unlimited);
    for _ in 0..600_000 {
        link.offer(Time::ZERO, TestPacket::of(1500), &mut Never); // 12,000 s each
    }
    link.change(Time(1_000_000), Change { rate: Some(Rate(1 << 40)), ..Change::default() });
    let next = Some(link.due());
    assert_eq!(drain(&mut link, next).len(), 600_000);
}

#[test]
fn loss_on_the_line_uses_capacity_and_loss_before_the_queue_does_not() {
    for (place, busy_until) in [(LossPlace::After, 1_200_000), (LossPlace::Before, 0)] {
        let mut link: Link<TestPacket> = Link::new(LinkSettings {
            rate: Some(Rate(10_000_000)),
            loss: Some(Loss { probability: 0.5, place, chain: None }),
            ..LinkSettings::default()
        });
        let (out, ..) =
            run(&mut link, std::iter::once((Time::ZERO, TestPacket::of(1500))), &mut Always);
        assert!(out.is_empty());
        assert_eq!(link.backlog(Time::ZERO).idle_since, Time(busy_until));
        assert_eq!(link.counters().losses, 1);
    }
}

#[test]
fn a_link_that_is_down_drops_every_arrival_until_it_is_up_again() {
    let mut link = link(10_000_000, 0, Queue::Unlimited);
    link.change(Time::ZERO, Change { up: Some(false), ..Change::default() });
    assert_eq!(link.offer(Time::ZERO, TestPacket::of(1500), &mut Never), Offer::Lost);
    link.change(Time(1), Change { up: Some(true), ..Change::default() });
    assert!(matches!(link.offer(Time(1), TestPacket::of(1500), &mut Never), Offer::Wake(_)));
}

/// Wakes a link until it is empty; returns packets that came out with their times, and packets
/// dropped or lost.
pub(super) fn run(
    link: &mut Link<TestPacket>,
    arrivals: impl Iterator<Item = (Time, TestPacket)>,
    rng: &mut impl crate::Rng,
) -> (Vec<(Time, u32)>, u64, u64) {
    let (mut out, mut gone, mut copies) = (Vec::new(), 0, 0);
    let mut handle = |link: &mut Link<TestPacket>, now, rng: &mut _| {
        while let Some(passage) = link.wake(now, rng) {
            match passage {
                Passage::Out(packet) => out.push((now, packet.path)),
                Passage::Copy(packet) => {
                    copies += 1;
                    out.push((now, packet.path));
                }
                Passage::Lost(_) => gone += 1,
            }
        }
        while link.take_dropped().is_some() {
            gone += 1;
        }
    };
    for (now, packet) in arrivals {
        while link.due() <= now {
            handle(link, link.due(), rng);
        }
        match link.offer(now, packet, rng) {
            Offer::Taken => handle(link, now, rng),
            Offer::Carried | Offer::Wake(_) | Offer::Dropped | Offer::Lost => {}
        }
    }
    while link.due() < Time::NEVER {
        handle(link, link.due(), rng);
    }
    (out, gone, copies)
}

#[test]
fn codel_keeps_the_delay_near_its_target_and_drop_tail_does_not() {
    // 12 Mb/s offered to 10 Mb/s in packets of 1500 B, for 20 s.
    let settings = LinkSettings {
        rate: Some(Rate(10_000_000)),
        queue: Queue::Codel(Codel::default()),
        ..LinkSettings::default()
    };
    let mut link = Link::new(settings);
    let arrivals = (0..20_000)
        .map(|i| (Time(i * 1_000_000), TestPacket { path: i as u32, ..TestPacket::of(1500) }));
    let (out, gone, _) = run(&mut link, arrivals, &mut Never);
    assert_eq!(out.len() as u64 + link.counters().queue_drops, 20_000);
    assert_eq!(gone, link.counters().queue_drops, "nothing was dropped on arrival");
    let late = out.iter().filter(|(at, _)| at.seconds() > 19.0);
    let delays: Vec<f64> = late.map(|(at, sent)| at.seconds() - 1e-3 * f64::from(*sent)).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!(mean < 0.1, "mean delay {mean} s: drop-tail would have 1.2 s");
    assert!(out.windows(2).all(|pair| pair[1].0.since(pair[0].0) >= Span(1_200_000)), "rate");
}

#[test]
fn the_transmitter_is_busy_whenever_something_waits_under_a_departing_discipline() {
    let (target, interval) = (Span::millis(500), Span::millis(1000));
    let codel = Codel { target, interval, ..Codel::default() };
    let fq = FqCodel { target, interval, queues: 16, ..FqCodel::default() };
    for queue in [Queue::Codel(codel), Queue::FqCodel(fq)] {
        let rate = Some(Rate(10_000_000));
        let delay = Span::millis(3);
        let mut link = Link::new(LinkSettings { rate, delay, queue, ..LinkSettings::default() });
        let arrivals =
            (0..100).map(|path| (Time::ZERO, TestPacket { path, ..TestPacket::of(1250) }));
        let (out, gone, _) = run(&mut link, arrivals, &mut Never);
        let expected: Vec<_> = (1..=100).map(|k| Time(1_000_000 * k + 3_000_000)).collect();
        assert_eq!((out.iter().map(|(at, _)| *at).collect::<Vec<_>>(), gone), (expected, 0));
    }
}

#[test]
fn a_packet_that_is_held_back_is_overtaken_and_comes_out_so_much_later() {
    struct Third(u32);
    impl crate::Rng for Third {
        fn uniform(&mut self) -> f64 {
            self.0 += 1;
            if self.0 == 3 { 0.0 } else { 0.9 }
        }
    }
    let reorder = Some(Reorder { probability: 0.1, delay: Span::millis(5) });
    let rate = Some(Rate(10_000_000));
    let mut link = Link::new(LinkSettings { rate, reorder, ..LinkSettings::default() });
    let arrivals = (0..6).map(|path| (Time::ZERO, TestPacket { path, ..TestPacket::of(1250) }));
    let (out, ..) = run(&mut link, arrivals, &mut Third(0));
    assert_eq!(out.iter().map(|(_, path)| *path).collect::<Vec<_>>(), [0, 1, 3, 4, 5, 2]);
    assert_eq!(out[5].0, Time(8_000_000));
}

#[test]
fn jitter_makes_packets_late_by_no_more_than_it_says_on_average_by_half_and_in_order() {
    let (rate, jitter) = (Some(Rate(8_000_000)), Span::millis(4));
    let mut link = Link::new(LinkSettings { rate, jitter, ..LinkSettings::default() });
    let mut rng = Lcg(5);
    let mut late = Vec::new();
    for number in 0..20_000_u64 {
        let now = Time(number * 10_000_000); // the line is empty again
        let Offer::Wake(at) = link.offer(now, TestPacket::of(1000), &mut rng) else {
            panic!("it was not empty");
        };
        assert!(link.wake(at, &mut rng).is_some());
        late.push(at.since(now + Span::millis(1)).seconds() * 1e3);
    }
    assert!(late.iter().all(|late| (0.0..4.0).contains(late)));
    assert!((late.iter().sum::<f64>() / 20_000.0 - 2.0).abs() < 0.02);
    // Packets that follow closely keep their order.
    let start = 300_000_000_000;
    let arrivals = (0..100).map(|path| {
        (Time(start + u64::from(path) * 1_000_000), TestPacket { path, ..TestPacket::of(1000) })
    });
    let (out, ..) = run(&mut link, arrivals, &mut rng);
    assert!(out.len() == 100 && out.iter().map(|(_, path)| path).is_sorted());
}

#[test]
fn loss_before_the_queue_strikes_once_whatever_else_the_link_has() {
    let loss = Loss { probability: 0.2, place: LossPlace::Before, chain: None };
    let queue = Queue::Codel(Codel::default());
    let mut link = Link::new(LinkSettings { loss: Some(loss), queue, ..LinkSettings::default() });
    let arrivals = (0..100_000u64).map(|i| (Time(i * 1000), TestPacket::of(1000)));
    let (out, ..) = run(&mut link, arrivals, &mut Lcg(4));
    let share = out.len() as f64 / 1e5;
    assert!((share - 0.8).abs() < 0.005, "{share}");
}

#[test]
fn a_chain_of_two_states_loses_in_bursts_on_any_link() {
    let chain = GilbertElliott { to_bad: 0.02, to_good: 0.2, good: 0.0, bad: 1.0 };
    let loss = Loss { probability: 1.0 / 11.0, place: LossPlace::Before, chain: Some(chain) };
    let mut link = Link::new(LinkSettings { loss: Some(loss), ..LinkSettings::default() });
    let mut rng = Lcg(3);
    let lost = (0..100_000u64)
        .filter(|i| link.offer(Time(i * 1000), TestPacket::of(1000), &mut rng) == Offer::Lost);
    let share = lost.count() as f64 / 1e5;
    assert!((share - 0.02 / 0.22).abs() < 0.005, "{share}");
}

proptest! {
    /// Packets that pass without events come out at the same times as with events, and are counted
    /// the same; withheld packets are not visible.
    #[test]
    fn a_link_that_nobody_wakes_does_what_one_that_is_woken_does(
        steps in prop::collection::vec((0u64..2_000_000, 40u32..1500, any::<bool>()), 1..200),
        limit in 0u64..20,
    ) {
        let [mut woken, mut passed] =
            [(); 2].map(|()| link(10_000_000, 5, Queue::DropTail(DropTail::of(limit))));
        let (mut now, mut next, mut out, mut exits) = (Time::ZERO, None::<Time>, vec![], vec![]);
        for (gap, size, look) in steps {
            now = now + Span(gap);
            while let Some(at) = next.filter(|at| *at <= now) {
                out.push(at);
                next = woken.deliver();
            }
            if let Offer::Wake(at) = woken.offer(now, TestPacket::of(size), &mut Never) {
                next = Some(at);
            }
            let mut packet = TestPacket::of(size);
            exits.extend(passed.pass(now, &mut packet, TestPacket::of(size), || Never));
            if look {
                let inside = passed.inside().count() as u32;
                passed.release(now);
                prop_assert_eq!(passed.carried(), woken.carried());
                prop_assert_eq!(passed.counters(), woken.counters());
                prop_assert_eq!(passed.backlog(now), woken.backlog(now));
                passed.withhold(1);
                let Counters { arrived, .. } = passed.counters();
                prop_assert_eq!(arrived + 1, woken.counters().arrived);
                passed.readmit(1);
                prop_assert_eq!(passed.backlog(now), woken.backlog(now));
                prop_assert!(passed.inside().count() as u32 <= inside);
            }
        }
        out.extend(drain(&mut woken, next));
        prop_assert_eq!(out, exits);
    }

    /// For arbitrary arrivals and changes: each offered packet came out, was dropped or was lost,
    /// in order, and never sooner than rate and delay allow.
    #[test]
    fn every_packet_is_accounted_for_and_order_is_kept(
        steps in prop::collection::vec((0u64..3_000_000, 40u32..1500, 0u8..12), 1..200),
        limit in 0u64..20,
    ) {
        let mut link = link(10_000_000, 5, Queue::DropTail(DropTail::of(limit)));
        let (mut now, mut next, mut out) = (Time::ZERO, None::<Time>, Vec::new());
        for (gap, size, kind) in steps {
            now = now + Span(gap);
            while let Some(at) = next.filter(|at| *at <= now) {
                out.push(at);
                next = link.deliver();
            }
            match kind {
                0 => link.change(now, Change { rate: Some(Rate(1_000_000 + gap)), ..Change::default() }),
                1 => link.change(now, Change { delay: Some(Span(gap)), ..Change::default() }),
                2 => link.change(now, Change { rate: Some(Rate(1 + gap % 1000)), ..Change::default() }),
                _ => _ = link.offer(now, TestPacket::of(size), &mut Never),
            }
            prop_assert!(link.backlog(now).packets <= limit);
            next = Some(link.due()).filter(|at| *at != Time::NEVER);
            prop_assert!(next.is_none_or(|at| at >= now));
        }
        out.extend(drain(&mut link, next));
        let Counters { arrived, queue_drops, losses, .. } = link.counters();
        prop_assert_eq!(arrived, out.len() as u64 + queue_drops + losses);
        prop_assert!(out.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert_eq!(link.carried(), 0);
    }

    /// A limit of bytes that is never reached makes the link call its queue at every arrival: the
    /// result is the same as when it calls the queue only if packets may not fit.
    #[test]
    fn a_queue_that_is_not_asked_would_have_accepted(
        steps in prop::collection::vec((0u64..2_000_000, 40u32..1500, 0u8..12), 1..200),
        limit in 1u64..20,
    ) {
        let rarely = DropTail::of(limit);
        let always = DropTail { bytes: Some(Bytes(1 << 40)), ..rarely.clone() };
        let mut links = [rarely, always].map(|queue| link(10_000_000, 5, Queue::DropTail(queue)));
        let mut now = Time::ZERO;
        for (gap, size, kind) in steps {
            now = now + Span(gap);
            let rate = (kind == 0).then_some(Rate(1_000_000 + gap));
            let [rarely, always] = links.each_mut().map(|link| {
                while link.due() <= now {
                    link.deliver();
                }
                if rate.is_some() {
                    link.change(now, Change { rate, ..Change::default() });
                }
                link.offer(now, TestPacket::of(size), &mut Never)
            });
            prop_assert_eq!(rarely, always);
        }
        prop_assert_eq!(links[0].backlog(now), links[1].backlog(now));
        prop_assert_eq!(links[0].counters(), links[1].counters());
    }

    /// RED counts arrivals at a long queue. It is told of packets that it was not asked about, also
    /// when its link is down or up again.
    #[test]
    fn red_drops_the_same_packets_whether_or_not_it_is_asked_about_all(
        steps in prop::collection::vec((0u64..2_000_000, 40u32..1500, 0u8..60), 1..300),
        seed: u64,
    ) {
        let red = Red {
            min: Packets(3.0),
            max: Packets(9.0),
            max_p: 0.5,
            gentle: true,
            weight: 1.0,
            spacing: Spacing::Count,
            ecn: false,
            limit: Packets(15.0),
        };
        let mut links = [(); 2].map(|()| link(10_000_000, 5, Queue::Red(red.clone())));
        prop_assert!(links[0].unasked > 0);
        links[1].unasked = 0;
        let mut rngs = [Lcg(seed), Lcg(seed)];
        let mut now = Time::ZERO;
        for (gap, size, kind) in steps {
            now = now + Span(gap);
            let offers: Vec<Offer> = links.iter_mut().zip(&mut rngs).map(|(link, rng)| {
                while link.wake(now, rng).is_some() {}
                if kind < 2 {
                    link.change(now, Change { up: Some(kind == 1), ..Change::default() });
                }
                link.offer(now, TestPacket::of(size), rng)
            }).collect();
            prop_assert_eq!(offers[0], offers[1]);
        }
        prop_assert_eq!(links[0].counters(), links[1].counters());
    }

    /// Every packet is accounted for with every kind of queue and every impairment that it allows.
    #[test]
    fn every_packet_of_a_link_that_is_not_plain_is_accounted_for(
        steps in prop::collection::vec((0u64..2_000_000, 40u32..1500, 0u32..5, any::<bool>()), 1..200),
        seed: u64,
        (limit, kind) in (1..20u64, any::<prop::sample::Index>()),
        (loss, before) in (0.0f64..0.3, any::<bool>()),
        (duplicate, rearranged) in (0.0f64..0.3, any::<bool>()),
        held in 0u64..20_000_000,
    ) {
        let mut queues = Queue::short(limit, seed & 1 == 0);
        let place = if before { LossPlace::Before } else { LossPlace::After };
        let mut link = Link::new(LinkSettings {
            rate: Some(Rate(3_000_000)),
            delay: Span::millis(5),
            queue: queues.swap_remove(kind.index(queues.len())),
            loss: Some(Loss { probability: loss, place, chain: None }),
            reorder: rearranged.then_some(Reorder { probability: 0.2, delay: Span(held) }),
            duplicate: if rearranged { duplicate } else { 0.0 },
            ..LinkSettings::default()
        });
        let mut now = Time::ZERO;
        let arrivals: Vec<_> = steps.iter().map(|(gap, bytes, path, capable)| {
            now = now + Span(*gap);
            (now, TestPacket { bytes: *bytes, path: *path, capable: *capable, ..TestPacket::default() })
        }).collect();
        let (out, gone, copies) = run(&mut link, arrivals.into_iter(), &mut Lcg(seed));
        let Counters { arrived, queue_drops, losses, .. } = link.counters();
        prop_assert_eq!(arrived + copies, out.len() as u64 + queue_drops + losses);
        prop_assert!(gone <= queue_drops + losses);
        prop_assert!(out.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        prop_assert_eq!(link.carried(), 0);
    }
}
