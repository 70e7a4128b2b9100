//! A bus: an Ethernet that stations share by listening before they send, as ns-3 models it.
//!
//! Source: the module `csma` of ns-3 (`CsmaChannel`, `CsmaNetDevice`, `Backoff`). The bus is idle,
//! then a frame is transmitted on it, then the frame propagates, then the bus is idle again. All
//! stations see its state at once, and a station begins only while it is idle. A station that finds
//! it busy tries again after a random number of slots. A packet goes `offer` → queueing discipline
//! of the host (`host.rs`) → the station's driver, which holds one packet → the bus → [`Outcome`]:
//! `Left` when its last bit has been sent, `Arrived` when that has propagated.
//!
//! **This is not CSMA/CD.** On a real shared Ethernet (IEEE 802.3 §4.2.3) a station senses a frame
//! only after the propagation delay. Two stations may begin within that delay: their frames
//! collide, and both stations jam and back off by slots of 512 bit times. Here frames do not
//! collide. Packets are lost by full queues, and by stations that have found the bus busy too
//! often.
//!
//! A station that finds a real Ethernet busy waits until it is idle. Here it draws another random
//! number of slots. So a station that has just sent gets the bus again after its gap, unless
//! another station's draw ends within that gap. Two stations with full frames take turns of 50
//! frames at 10 Mb/s, and one wait in 2500 ends without a transmission: shares are equal over many
//! seconds and not over one, and the bus loses one packet in 10⁵ that way (`bus/tests.rs`).
//!
//! Where it differs from ns-3:
//!
//! * The gap after a frame begins when the frame has propagated. In ns-3 it begins when the frame
//!   has been sent: with a delay longer than the gap the sender itself then finds the bus busy, and
//!   backs off.
//! * The number of slots is a whole number, and the largest is as likely as the others. ns-3
//!   truncates a real number below the largest, which is never drawn (but for one slot of one).
//! * What happens at one instant is ordered: the bus first, then stations in the order in which
//!   they scheduled their tries.
//! * A station that finds the bus busy draws backoffs at once until one ends after the frame on the
//!   bus: one event instead of many.

#[cfg(test)]
mod tests;

use crate::host::{HostQueue, LinkPacket};
use crate::shared::{Counters, Ends, Kind, Outcome, SharedMedium, Station};
use crate::{Packet, Rng};
use schemars::JsonSchema;
use serde::Serialize;
use units::{NANOS, Rate, Span, Time};

/// Header and frame check sequence, in bytes (IEEE 802.3 §3.1.1). Neither ns-3 nor we send a
/// preamble.
const OVERHEAD: u32 = 14 + 4;

/// Bytes that a shorter payload is padded to (IEEE 802.3 §3.2.8).
const LEAST_PAYLOAD: u32 = 46;

/// Bit times that a station waits after a frame of its own (IEEE 802.3 §4.4.2).
const GAP_BITS: u64 = 96;

/// Unit of a backoff.
const SLOT: Span = Span(1_000);

/// Most slots of one backoff.
const MOST_SLOTS: u32 = 1_000;

/// Retries after which the range of a backoff stops growing.
const CEILING: u32 = 10;

/// Retries after which a packet is given up, if the bus is busy once more.
const MOST_RETRIES: u32 = 1_000;

/// A bus of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PlanBus")]
pub struct BusSettings {
    /// Rate at which frames are sent.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Propagation delay, the same between any two stations.
    #[serde(rename = "delay_s")]
    pub delay: Span,
}

impl Kind for BusSettings {
    fn build<P: Packet>(
        &self,
        stations: &[Station],
        links: &[Ends],
        _rng: &mut dyn Rng,
    ) -> Box<dyn SharedMedium<P>> {
        Box::new(Bus::new(*self, stations, &links.iter().map(Ends::first).collect::<Vec<_>>()))
    }

    fn examples() -> Vec<Self> {
        [0, 50_000].map(|delay| BusSettings { rate: Rate(10_000_000), delay: Span(delay) }).into()
    }
}

/// The state of one station.
struct Sender<P> {
    host: HostQueue<P>,
    /// The packet that the driver tries to send.
    current: Option<LinkPacket<P>>,
    /// Number of times that it tried and the bus was busy.
    retries: u32,
    /// When it tries next.
    tries_at: Time,
    /// Order in which it scheduled that try, among all stations.
    order: u64,
    /// End of the gap after its last frame; never while it is sending.
    ready_at: Time,
    deferrals: u64,
    counters: Counters,
}

/// The frame on the bus.
#[derive(Clone, Copy, Debug)]
struct Carried<P> {
    from: u32,
    packet: LinkPacket<P>,
    /// Whether its last bit has been sent.
    sent: bool,
}

/// A bus with its stations.
pub struct Bus<P> {
    settings: BusSettings,
    stations: Vec<Sender<P>>,
    /// Sender and receiver of each link.
    links: Vec<(u32, u32)>,
    carried: Option<Carried<P>>,
    /// When the frame on the bus has been sent and, after that, when it has propagated; never while
    /// the bus is idle.
    until: Time,
    /// When the bus becomes idle, or became idle last.
    idle_at: Time,
    orders: u64,
    outcomes: Vec<Outcome<P>>,
}

/// Slots of the backoff before the `retry`-th retry, the first one being 1: uniform from 1 to
/// 2^retry − 1, or to the ends of both ranges.
fn slots(retry: u32, rng: &mut dyn Rng) -> u32 {
    let most = ((1 << retry.min(CEILING)) - 1).min(MOST_SLOTS);
    1 + (rng.uniform() * f64::from(most)) as u32
}

impl BusSettings {
    /// Duration of this many bits, rounded up to whole nanoseconds.
    fn takes(&self, bits: u64) -> Span {
        Span((bits * NANOS).div_ceil(self.rate.0))
    }

    /// Transmission time of a packet of `bytes`, with its frame.
    pub fn duration(&self, bytes: u32) -> Span {
        self.takes(8 * u64::from(bytes.max(LEAST_PAYLOAD) + OVERHEAD))
    }

    /// Gap after a station's own frame.
    pub fn gap(&self) -> Span {
        self.takes(GAP_BITS)
    }
}

impl<P: Packet> Bus<P> {
    /// A bus with `stations`, and `links` from one to another.
    ///
    /// # Panics
    /// If its rate is zero, or a link leads from or to a station that does not exist, or back to
    /// its own.
    pub fn new(settings: BusSettings, stations: &[Station], links: &[(usize, usize)]) -> Self {
        assert!(settings.rate.0 > 0, "a bus has a rate");
        let count = stations.len();
        for (number, (from, to)) in links.iter().enumerate() {
            assert!(*from < count && *to < count && from != to, "link {number}");
        }
        let station = |station: &Station| Sender {
            host: HostQueue::new(station.queue.clone()),
            current: None,
            retries: 0,
            tries_at: Time::NEVER,
            order: 0,
            ready_at: Time::ZERO,
            deferrals: 0,
            counters: Counters::default(),
        };
        Bus {
            settings,
            stations: stations.iter().map(station).collect(),
            links: links.iter().map(|(from, to)| (*from as u32, *to as u32)).collect(),
            carried: None,
            until: Time::NEVER,
            idle_at: Time::ZERO,
            orders: 0,
            outcomes: Vec::new(),
        }
    }

    /// Number of backoffs of a station from a busy bus.
    pub fn deferrals(&self, station: usize) -> u64 {
        self.stations[station].deferrals
    }

    /// A station without a packet to try takes one at the end of its gap.
    fn prepare(&mut self, now: Time, from: usize) {
        let station = &mut self.stations[from];
        let at = station.ready_at.max(now);
        if at == now {
            station.current = station.host.take(now);
        }
        let any = station.current.is_some() || station.host.len() > 0;
        station.tries_at = if any { at } else { Time::NEVER };
        station.order = self.orders;
        self.orders += 1;
    }

    /// Reports packets that the discipline of a station dropped after accepting them.
    fn report_drops(&mut self, from: usize) {
        let station = &mut self.stations[from];
        while let Some(LinkPacket { link, packet }) = station.host.dropped() {
            station.counters.queue_drops += 1;
            self.outcomes.push(Outcome::Left { link, packet, lost: true });
        }
    }

    /// Of the stations that try now, the one that scheduled its try first.
    fn first_to_try(&self, now: Time) -> Option<usize> {
        let due = (0..self.stations.len()).filter(|from| self.stations[*from].tries_at <= now);
        due.min_by_key(|from| (self.stations[*from].tries_at, self.stations[*from].order))
    }

    /// The frame on the bus has been sent, or has propagated.
    fn proceed(&mut self) {
        let now = core::mem::replace(&mut self.until, Time::NEVER);
        let Some(carried) = self.carried.as_mut() else {
            return;
        };
        let (from, LinkPacket { link, packet }) = (carried.from as usize, carried.packet);
        if carried.sent {
            self.carried = None;
            self.stations[from].counters.acknowledged += 1;
            let at = self.links[link as usize].1;
            return self.outcomes.push(Outcome::Arrived { link, at, packet });
        }
        carried.sent = true;
        self.until = self.idle_at;
        self.outcomes.push(Outcome::Left { link, packet, lost: false });
        self.stations[from].ready_at = self.idle_at + self.settings.gap();
        self.prepare(now, from);
    }

    /// A station tries to send.
    fn attempt(&mut self, now: Time, from: usize, rng: &mut dyn Rng) {
        let station = &mut self.stations[from];
        if station.current.is_none() {
            station.current = station.host.take(now);
        }
        match station.current {
            None => station.tries_at = Time::NEVER, // the discipline has dropped all its packets
            Some(_) if now < self.idle_at => self.defer(now, from, rng),
            Some(packet) => self.begin(now, from, packet),
        }
        self.report_drops(from);
    }

    /// A station sends.
    fn begin(&mut self, now: Time, from: usize, packet: LinkPacket<P>) {
        let lasts = self.settings.duration(packet.bytes());
        let station = &mut self.stations[from];
        (station.current, station.retries) = (None, 0);
        (station.tries_at, station.ready_at) = (Time::NEVER, Time::NEVER);
        station.counters.attempts += 1;
        station.counters.airtime += lasts;
        self.carried = Some(Carried { from: from as u32, packet, sent: false });
        self.until = now + lasts;
        self.idle_at = self.until + self.settings.delay;
    }

    /// A station finds the bus busy. It draws backoffs until a try falls after the present frame,
    /// or until the last retry.
    fn defer(&mut self, now: Time, from: usize, rng: &mut dyn Rng) {
        let station = &mut self.stations[from];
        if station.retries == MOST_RETRIES {
            return self.give_up(now, from);
        }
        let mut at = now;
        while at < self.idle_at && station.retries < MOST_RETRIES {
            station.retries += 1;
            station.deferrals += 1;
            at = at + Span(SLOT.0 * u64::from(slots(station.retries, rng)));
        }
        station.tries_at = at;
        station.order = self.orders;
        self.orders += 1;
    }

    /// A station is out of retries: it gives up the packet and continues with the next one at once.
    fn give_up(&mut self, now: Time, from: usize) {
        let station = &mut self.stations[from];
        station.retries = 0;
        station.counters.failures += 1;
        if let Some(LinkPacket { link, packet }) = station.current.take() {
            self.outcomes.push(Outcome::Left { link, packet, lost: true });
        }
        self.prepare(now, from);
    }
}

impl<P: Packet> SharedMedium<P> for Bus<P> {
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool {
        let from = self.links[link as usize].0 as usize;
        let station = &mut self.stations[from];
        station.counters.offered += 1;
        if !station.host.offer(now, LinkPacket { link, packet }, rng) {
            station.counters.queue_drops += 1;
            return false;
        }
        if station.tries_at == Time::NEVER && station.ready_at != Time::NEVER {
            self.prepare(now, from);
        }
        self.report_drops(from);
        true
    }

    fn wake(&mut self, now: Time, rng: &mut dyn Rng) {
        while self.until <= now {
            self.proceed();
        }
        while let Some(from) = self.first_to_try(now) {
            self.attempt(now, from, rng);
        }
    }

    fn next_wake(&self) -> Time {
        let tries = self.stations.iter().map(|station| station.tries_at);
        tries.min().unwrap_or(Time::NEVER).min(self.until)
    }

    fn outcomes(&mut self) -> &mut Vec<Outcome<P>> {
        &mut self.outcomes
    }

    /// The counters of a station. An attempt is a transmission, and all are answered, because
    /// frames do not collide. A failure is a packet given up because the bus was busy. An
    /// acknowledged packet is a received one.
    fn counters(&self, station: usize) -> Counters {
        self.stations[station].counters
    }

    /// Packets waiting in a station, including the one that it tries to send or sends.
    fn backlog(&self, station: usize) -> u32 {
        let own = |carried: &Carried<P>| carried.from as usize == station && !carried.sent;
        let sending = self.carried.as_ref().is_some_and(own);
        let station = &self.stations[station];
        station.host.len() as u32 + u32::from(station.current.is_some()) + u32::from(sending)
    }
}
