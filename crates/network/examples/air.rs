//! Saturated stations of 802.11g that send full packets to one receiver: counts the packets
//! received.
//!
//! `cargo run --release --example air -- [stations] [seconds]`; under callgrind it gives
//! instructions per frame, as `benches/measure.py` reports them.

use network::dot11::{Channel, ChannelSettings, ModeChoice, Phy, PhyKind};
use network::{Outcome, Packet, Rng, SharedMedium, Station};
use units::{Span, Time};

#[derive(Clone, Copy, Default)]
struct Full;

impl Packet for Full {
    fn bytes(&self) -> u32 {
        1500
    }
    fn path(&self) -> u32 {
        0
    }
    fn ecn_capable(&self) -> bool {
        false
    }
    fn mark(&mut self) {}
    fn lower_effort(&self) -> bool {
        false
    }
}

/// Knuth's linear congruential generator.
struct Lcg(u64);

impl Rng for Lcg {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let stations: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let seconds: f64 = arguments.next().map_or(Ok(100.0), |text| text.parse())?;
    let phy = PhyKind::G { protected: false };
    let mode = ModeChoice::Fixed(Phy::new(phy).modes.len() - 1);
    let settings = ChannelSettings::new(phy, mode);
    let links: Vec<_> = (0..stations).map(|from| (from, Some(stations))).collect();
    let everybody = vec![Station::default(); stations + 1];
    let mut rng = Lcg(1);
    let mut medium = Channel::new(settings, &everybody, &links, &mut rng);
    for link in 0..stations as u32 {
        (0..2).for_each(|_| assert!(medium.offer(Time::ZERO, link, Full, &mut rng)));
    }
    let (mut delivered, end) = (0u64, Time::ZERO + Span::from_seconds(seconds));
    let mut outcomes = Vec::new();
    while medium.next_wake() <= end {
        let now = medium.next_wake();
        medium.wake(now, &mut rng);
        std::mem::swap(&mut outcomes, medium.outcomes());
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Arrived { .. } => delivered += 1,
                Outcome::Lost { .. } => unreachable!("a channel has single hops"),
                Outcome::Left { link, .. } => assert!(medium.offer(now, link, Full, &mut rng)),
            }
        }
    }
    println!("frames {delivered}");
    Ok(())
}
