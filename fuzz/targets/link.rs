//! A link of any kind under arbitrary arrivals and changes: each packet came out, was dropped, was
//! lost or is inside, and time never goes back.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use network::{
    Change, GilbertElliott, Link, LinkSettings, Loss, LossPlace, Offer, Opportunities, Packet,
    Passage, Queue, Reorder, Rng,
};
use units::{Rate, Span, Time};

#[derive(Clone, Copy, Default)]
struct Plain(u32, u32);

impl Packet for Plain {
    fn bytes(&self) -> u32 {
        self.0
    }

    fn path(&self) -> u32 {
        self.1
    }

    fn ecn_capable(&self) -> bool {
        self.1.is_multiple_of(2)
    }

    fn mark(&mut self) {}

    fn lower_effort(&self) -> bool {
        self.1.is_multiple_of(3)
    }
}

struct Lcg(u64);

impl Rng for Lcg {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Offer { gap_us: u16, bytes: u16, flow: u8 },
    Rate { kbps: u16 },
    Delay { ms: u8 },
    Fault { loss: u8, up: bool },
}

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

/// A queue of any kind of the registry.
fn queue(bytes: &mut Unstructured<'_>) -> Result<Queue> {
    let limit = u64::from(bytes.int_in_range(1..=60u8)?);
    let mut queues = Queue::short(limit, bool::arbitrary(bytes)?);
    let kind = bytes.choose_index(queues.len())?;
    Ok(queues.swap_remove(kind))
}

fn settings(bytes: &mut Unstructured<'_>) -> Result<LinkSettings> {
    let share = |bytes: &mut Unstructured<'_>| Ok(f64::from(bytes.int_in_range(0..=9u8)?) / 10.0);
    let probability = share(bytes)?;
    let chain = match bool::arbitrary(bytes)? {
        true => None,
        false => Some(GilbertElliott {
            to_bad: share(bytes)?,
            to_good: share(bytes)?,
            good: 0.0,
            bad: share(bytes)?,
        }),
    };
    let place = *bytes.choose(&[LossPlace::Before, LossPlace::After])?;
    let reorder = Reorder { probability: share(bytes)?, delay: Span::millis(7) };
    Ok(LinkSettings {
        rate: Some(Rate(1 + u64::from(u32::arbitrary(bytes)?))),
        opportunities: if bool::arbitrary(bytes)? { opportunities(bytes)? } else { None },
        delay: Span::millis(u64::from(u8::arbitrary(bytes)?)),
        queue: queue(bytes)?,
        loss: bool::arbitrary(bytes)?.then_some(Loss { probability, place, chain }),
        reorder: bool::arbitrary(bytes)?.then_some(reorder),
        duplicate: if bool::arbitrary(bytes)? { share(bytes)? } else { 0.0 },
        jitter: if bool::arbitrary(bytes)? { Span::millis(9) } else { Span::ZERO },
    })
}

/// A short trace, if the drawn numbers are a valid one.
fn opportunities(bytes: &mut Unstructured<'_>) -> Result<Option<Opportunities>> {
    let mut times = <Vec<u8>>::arbitrary(bytes)?;
    times.sort_unstable();
    let times = times.into_iter().map(u32::from).collect();
    Ok(Opportunities::new(times, Span(u64::from(u32::arbitrary(bytes)?))))
}

/// A link, and its exits.
struct World {
    link: Link<Plain>,
    /// Whether packets of a plain link are delivered, as in the simulator, or come out by wake-ups.
    by_delivery: bool,
    rng: Lcg,
    now: Time,
    out: u64,
    copies: u64,
    lost: u64,
    dropped: u64,
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let link = Link::new(settings(bytes)?);
    let rng = Lcg(u64::arbitrary(bytes)?);
    let (by_delivery, now) = (bool::arbitrary(bytes)?, Time::ZERO);
    let mut world = World { link, by_delivery, rng, now, out: 0, copies: 0, lost: 0, dropped: 0 };
    for _ in 0..400 {
        if bytes.is_empty() {
            break;
        }
        world.step(Step::arbitrary(bytes)?);
    }
    world.check();
    Ok(())
}

impl World {
    fn step(&mut self, step: Step) {
        let none = Change::default();
        let change = match step {
            Step::Offer { gap_us, bytes, flow } => {
                let arrival = self.now + Span(u64::from(gap_us) * 1000);
                self.drain(arrival);
                self.now = arrival;
                let packet = Plain(u32::from(bytes) + 1, u32::from(flow));
                match self.link.offer(self.now, packet, &mut self.rng) {
                    Offer::Dropped => self.dropped += 1,
                    Offer::Lost => self.lost += 1,
                    Offer::Taken => self.take_dropped(),
                    Offer::Carried | Offer::Wake(_) => {}
                }
                return;
            }
            Step::Rate { kbps } => {
                Change { rate: Some(Rate((u64::from(kbps) * 1000).max(1))), ..none }
            }
            Step::Delay { ms } => Change { delay: Some(Span::millis(u64::from(ms))), ..none },
            Step::Fault { loss, up } => {
                Change { loss: Some(f64::from(loss) / 256.0), up: Some(up), ..none }
            }
        };
        self.link.change(self.now, change);
    }

    fn take_dropped(&mut self) {
        while self.link.take_dropped().is_some() {
            self.dropped += 1;
        }
    }

    /// Takes all exits until `end`.
    fn drain(&mut self, end: Time) {
        for turn in 0.. {
            assert!(turn < 100_000, "it does not stop");
            let due = self.link.due();
            assert!(!self.link.is_plain() || due >= self.now, "it was due at {due:?}, before now");
            let due = due.max(self.now);
            if due > end {
                return;
            }
            self.now = due;
            if self.by_delivery && self.link.is_plain() {
                self.link.deliver();
                self.out += 1;
                continue;
            }
            while let Some(passage) = self.link.wake(self.now, &mut self.rng) {
                match passage {
                    Passage::Out(_) => self.out += 1,
                    Passage::Copy(_) => (self.out, self.copies) = (self.out + 1, self.copies + 1),
                    Passage::Lost(_) => self.lost += 1,
                }
            }
            self.take_dropped();
        }
    }

    fn check(&mut self) {
        let counters = self.link.counters();
        assert_eq!((self.dropped, self.lost), (counters.queue_drops, counters.losses));
        let inside = self.link.carried() as u64;
        assert_eq!(counters.arrived + self.copies, self.out + self.dropped + self.lost + inside);
        self.drain(Time(u64::MAX - 1));
        assert_eq!(self.link.carried(), 0, "something stays inside for ever");
    }
}
