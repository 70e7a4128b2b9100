use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Packet(u32);
impl Frame for Packet {
    fn bytes(&self) -> u32 {
        self.0
    }
}

struct Never;
impl Chance for Never {
    fn uniform(&mut self) -> f64 {
        0.999_999
    }
}

struct Always;
impl Chance for Always {
    fn uniform(&mut self) -> f64 {
        0.0
    }
}

fn link(rate: u64, delay_ms: u64, queue: Queue) -> Link<Packet> {
    Link::new(LinkSettings {
        rate: Some(Rate(rate)),
        delay: Span::millis(delay_ms),
        queue,
        loss: None,
    })
}

/// Offers `sizes` at time zero and returns when each came out.
fn outputs(link: &mut Link<Packet>, sizes: impl Iterator<Item = u32>) -> Vec<Time> {
    let mut next = None;
    for size in sizes {
        if let Offer::Wake(at) = link.offer(Time::ZERO, Packet(size), &mut Never) {
            next = Some(at);
        }
    }
    drain(link, next)
}

fn drain(link: &mut Link<Packet>, mut next: Option<Time>) -> Vec<Time> {
    let mut times = Vec::new();
    while let Some(at) = next {
        let Delivery { lost, next: then } = link.deliver();
        if !lost {
            times.push(at);
        }
        next = then;
    }
    times
}

#[test]
fn what_every_hop_touches_fills_two_cache_lines() {
    assert_eq!(size_of::<Link<Packet>>(), 128);
}

#[test]
fn a_frame_takes_its_transmission_time_and_the_delay() {
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
fn drop_tail_holds_what_waits_and_not_the_frame_in_transmission() {
    let queue = Queue::DropTail { packets: 3, bytes: u64::MAX };
    let mut link = link(10_000_000, 40, queue);
    assert_eq!(outputs(&mut link, std::iter::repeat_n(1500, 10)).len(), 4);
    assert_eq!(link.counters().queue_drops, 6);
}

#[test]
fn a_byte_limit_counts_bytes() {
    let mut link = link(10_000_000, 0, Queue::DropTail { packets: u64::MAX, bytes: 3_000 });
    assert_eq!(outputs(&mut link, [1500, 1500, 1500, 40].into_iter()).len(), 3);
}

#[test]
fn a_new_rate_applies_to_the_frames_that_wait() {
    let mut link = link(10_000_000, 0, Queue::Unlimited);
    for _ in 0..3 {
        link.offer(Time::ZERO, Packet(1250), &mut Never); // 1 ms each
    }
    link.change(Time(500_000), Change { rate: Some(Rate(1_000_000)), ..Change::default() });
    let times = drain(&mut link, Some(Time(1_000_000)));
    assert_eq!(times, [Time(1_000_000), Time(11_000_000), Time(21_000_000)]);
}

#[test]
fn frames_never_overtake_when_the_delay_shrinks() {
    let mut link = link(10_000_000, 50, Queue::Unlimited);
    link.offer(Time::ZERO, Packet(1250), &mut Never);
    link.change(Time(1), Change { delay: Some(Span::ZERO), ..Change::default() });
    link.offer(Time(2_000_000), Packet(1250), &mut Never);
    let times = drain(&mut link, Some(Time(51_000_000)));
    assert_eq!(times, [Time(51_000_000), Time(51_000_000)]);
}

#[test]
fn loss_on_the_line_uses_capacity_and_loss_before_the_queue_does_not() {
    for (place, busy_until) in [(LossPlace::After, 1_200_000), (LossPlace::Before, 0)] {
        let mut link: Link<Packet> = Link::new(LinkSettings {
            rate: Some(Rate(10_000_000)),
            delay: Span::ZERO,
            queue: Queue::Unlimited,
            loss: Some(Loss { probability: 0.5, place }),
        });
        let next = match link.offer(Time::ZERO, Packet(1500), &mut Always) {
            Offer::Wake(at) => Some(at),
            _ => None,
        };
        assert!(drain(&mut link, next).is_empty());
        assert_eq!(link.backlog(Time::ZERO).idle_since, Time(busy_until));
        assert_eq!(link.counters().losses, 1);
    }
}

#[test]
fn a_link_that_is_down_drops_every_arrival_until_it_is_up_again() {
    let mut link = link(10_000_000, 0, Queue::Unlimited);
    link.change(Time::ZERO, Change { up: Some(false), ..Change::default() });
    assert_eq!(link.offer(Time::ZERO, Packet(1500), &mut Never), Offer::Lost);
    link.change(Time(1), Change { up: Some(true), ..Change::default() });
    assert!(matches!(link.offer(Time(1), Packet(1500), &mut Never), Offer::Wake(_)));
}

proptest! {
    /// Whatever arrives and whatever changes: what was offered came out, was dropped or was lost,
    /// in order, and never sooner than rate and delay allow.
    #[test]
    fn every_frame_is_accounted_for_and_order_is_kept(
        steps in prop::collection::vec((0u64..3_000_000, 40u32..1500, 0u8..12), 1..200),
        limit in 0u64..20,
    ) {
        let mut link = link(10_000_000, 5, Queue::DropTail { packets: limit, bytes: u64::MAX });
        let (mut now, mut next, mut out) = (Time::ZERO, None::<Time>, Vec::new());
        for (gap, size, kind) in steps {
            now = now + Span(gap);
            while let Some(at) = next.filter(|at| *at <= now) {
                out.push(at);
                next = link.deliver().next;
            }
            match kind {
                0 => link.change(now, Change { rate: Some(Rate(1_000_000 + gap)), ..Change::default() }),
                1 => link.change(now, Change { delay: Some(Span(gap)), ..Change::default() }),
                _ => if let Offer::Wake(at) = link.offer(now, Packet(size), &mut Never) { next = Some(at) },
            }
            prop_assert!(link.backlog(now).packets <= limit);
        }
        out.extend(drain(&mut link, next));
        let Counters { arrived, queue_drops, losses, .. } = link.counters();
        prop_assert_eq!(arrived, out.len() as u64 + queue_drops + losses);
        prop_assert!(out.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert_eq!(link.carried(), 0);
    }
}
