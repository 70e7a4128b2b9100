//! A link: a queue, a transmitter of some rate, a line of some delay.
//!
//! The link runs in virtual time. When a packet arrives, the moment its transmission will start and
//! the moment it will come out at the far end are known, because packets leave in order; so a packet
//! costs one event, and a link has one event pending however many packets it carries. Packets lie by
//! value in one ring, in order, so a hop reads and writes memory in sequence. What only few links do (a
//! discipline that decides when a packet leaves, reordering, copies) is in `rare.rs`; a transmitter without a
//! rate, in `opportunities.rs`.

use crate::loss::{Loss, LossModel, LossPlace};
use crate::queue::{Backlog, Queue, Verdict};
use crate::ring::Ring;
use crate::{Packet, Rng};
use opportunities::Transmitter;
use rare::Rare;
use std::collections::VecDeque;
use units::{NANOS, Rate, Span, Time};

mod opportunities;
mod rare;

pub use opportunities::Opportunities;
pub use rare::{Passage, Reorder};

/// What a link is; by default a line without rate, delay, queue or fault.
#[derive(Clone, Debug, Default)]
pub struct LinkSettings {
    /// Rate of the transmitter; `None` for a pure delay, and with `opportunities`.
    pub rate: Option<Rate>,
    /// When the transmitter may send, if not always.
    pub opportunities: Option<Opportunities>,
    /// Propagation delay.
    pub delay: Span,
    /// The queue before the transmitter.
    pub queue: Queue,
    /// Random loss, if any.
    pub loss: Option<Loss>,
    /// Packets that are held back on the line, so that others overtake them, if any.
    pub reorder: Option<Reorder>,
    /// Probability that a packet comes out twice.
    pub duplicate: f64,
    /// Packets come out later by a random time up to this, and in order; not on links that are rare.
    pub jitter: Span,
}

/// A change of a running link; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// New rate, for what is left of the packet in transmission and for those that wait; a link with
    /// opportunities has none.
    pub rate: Option<Rate>,
    /// New propagation delay, for packets whose transmission has not ended; on the line none overtakes another.
    pub delay: Option<Span>,
    /// New loss probability, each packet by itself.
    pub loss: Option<f64>,
    /// Whether the link carries anything: a link that is down drops every arrival.
    pub up: Option<bool>,
}

/// What has happened on a link since the start, in packets unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets offered.
    pub arrived: u64,
    /// Packets dropped by the queue.
    pub queue_drops: u64,
    /// Packets marked by the queue.
    pub marks: u64,
    /// Packets lost at random, or because the link was down.
    pub losses: u64,
    /// Bytes that came out at the far end, or would have if they had not been lost on the line.
    pub carried_bytes: u64,
}

/// What became of a packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Carried, and the link has an event pending already.
    Carried,
    /// Carried, and nothing else is: call [`Link::deliver`] at this time.
    Wake(Time),
    /// Taken by a link that is [`Link::rare`]: call [`Link::shed`] now, and [`Link::wake`] at
    /// [`Link::next_wake`] at the latest.
    Rare,
    /// Dropped by the queue.
    Dropped,
    /// Lost at random before the queue, or because the link is down.
    Lost,
}

/// Later than the end of any run: 146 years.
const FAR: Time = Time(1 << 62);

#[derive(Clone, Copy, Default)]
struct Carried<P> {
    starts: Time,
    arrives: Time,
    packet: P,
}

/// What became of the packet that came out of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whether it was lost on the line after all.
    pub lost: bool,
    /// When to call [`Link::deliver`] for the next one.
    pub next: Option<Time>,
}

/// A link that carries packets of type `P`. What every hop touches fills two cache lines: a packet that
/// comes out needs the first one only.
#[repr(C, align(64))]
pub struct Link<P> {
    line: Ring<Carried<P>>,
    /// The queue and its drops; none if it takes everything.
    queue: Option<Box<Guarded>>,
    faults: Option<Box<Faults<P>>>,
    /// Bytes that came out.
    carried_bytes: u64,
    waiting_bytes: u64,
    /// Ordinal in `line` of the first packet that waited when [`Link::settle`] last looked.
    waiting: u32,

    /// Transmission time of a packet of `memo.bytes`: quotient in ns and remainder.
    memo: Transmission,
    /// Rate in bit/s; zero for a pure delay.
    rate: u64,
    /// The part of a nanosecond by which `idle_at` is too early, in units of 1/rate ns.
    remainder: u64,
    /// When the transmitter has sent everything it was given.
    idle_at: Time,
    delay: Span,
    /// When the last packet comes out; none overtakes another.
    last_arrival: Time,
    /// Packets offered.
    arrived: u64,
}

#[derive(Clone, Copy, Default)]
struct Transmission {
    bytes: u32,
    /// Whole nanoseconds; a packet that takes longer than 4 s is worked out anew each time.
    ns: u32,
    remainder: u64,
}

/// A queue that may drop.
struct Guarded {
    queue: Queue,
    drops: u64,
    marks: u64,
}

/// The uncommon part of a link, out of the way of the common one.
struct Faults<P> {
    loss: Option<Loss>,
    up: bool,
    /// Packets delivered so far, and the ordinals of carried packets that will not come out.
    delivered: u64,
    doomed: VecDeque<u64>,
    /// Packets lost at random, or because the link was down.
    losses: u64,
    /// Most by which a packet is late.
    jitter: Span,
    rare: Option<Rare<P>>,
    /// What sends in place of a rate.
    transmitter: Option<Transmitter>,
}

impl<P> Faults<P> {
    /// Whether random loss strikes the next packet.
    fn strikes(&mut self, rng: &mut impl Rng) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.model.strikes(rng))
    }

    fn new(loss: Option<Loss>, rare: Option<Rare<P>>) -> Self {
        Faults {
            loss,
            up: true,
            delivered: 0,
            doomed: VecDeque::new(),
            losses: 0,
            jitter: Span::ZERO,
            rare,
            transmitter: None,
        }
    }
}

impl<P: Packet> Link<P> {
    /// A link that carries nothing yet.
    pub fn new(settings: LinkSettings) -> Self {
        let rare = Rare::new(&settings);
        let transmitter = settings.opportunities.map(Transmitter::new);
        let rate = settings.rate.filter(|_| transmitter.is_none());
        let faulty = settings.loss.is_some() || rare.is_some() || settings.jitter > Span::ZERO;
        Link {
            faults: (faulty || transmitter.is_some()).then(|| {
                let faults = Faults::new(settings.loss, rare);
                Box::new(Faults { jitter: settings.jitter, transmitter, ..faults })
            }),
            rate: rate.map_or(0, |rate| rate.0),
            delay: settings.delay,
            queue: match settings.queue {
                Queue::Unlimited => None,
                queue => Some(Box::new(Guarded { queue, drops: 0, marks: 0 })),
            },
            line: Ring::new(),
            waiting: 0,
            waiting_bytes: 0,
            idle_at: Time::ZERO,
            last_arrival: Time::ZERO,
            remainder: 0,
            memo: Transmission::default(),
            arrived: 0,
            carried_bytes: 0,
        }
    }

    /// A packet arrives at `now`; times of successive calls never decrease.
    #[inline(always)] // on the way of every hop
    pub fn offer(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Offer {
        self.arrived += 1;
        if self.faults.is_some() {
            return self.offer_faulty(now, packet, rng);
        }
        match self.judge(now, &packet, rng) {
            Verdict::Accept => self.carry(now, packet),
            Verdict::Mark => self.carry_marked(now, packet),
            Verdict::Full | Verdict::Early => Offer::Dropped,
        }
    }

    /// What the queue, if there is one, says to a packet that arrives.
    #[inline(always)] // on the way of every hop
    fn judge(&mut self, now: Time, packet: &P, rng: &mut impl Rng) -> Verdict {
        if self.queue.is_none() {
            return Verdict::Accept;
        }
        let backlog = self.backlog(now);
        let Some(guarded) = &mut self.queue else {
            return Verdict::Accept;
        };
        let (bytes, capable) = (packet.bytes(), packet.ecn_capable());
        let verdict = guarded.queue.judge(now, bytes, capable, backlog, rng);
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => guarded.marks += 1,
            Verdict::Full | Verdict::Early => guarded.drops += 1,
        }
        verdict
    }

    #[cold]
    fn carry_marked(&mut self, now: Time, mut packet: P) -> Offer {
        packet.mark();
        self.carry(now, packet)
    }

    /// [`Link::offer`] to a link with random loss, that may be down, that is rare, or that has opportunities.
    #[inline(never)]
    fn offer_faulty(&mut self, now: Time, mut packet: P, rng: &mut impl Rng) -> Offer {
        let mut doomed = false;
        self.pass(now);
        if let Some(faults) = &mut self.faults {
            let place = faults.loss.map_or(LossPlace::After, |loss| loss.place);
            let later = faults.rare.is_some() && place == LossPlace::After; // when it comes out
            let lost = !faults.up || (!later && faults.strikes(rng));
            if lost && (!faults.up || place == LossPlace::Before) {
                faults.losses += 1;
                return Offer::Lost;
            }
            doomed = lost;
        }
        match self.judge(now, &packet, rng) {
            Verdict::Accept => {}
            Verdict::Mark => packet.mark(),
            Verdict::Full | Verdict::Early => return Offer::Dropped,
        }
        if self.rare() {
            return self.offer_rare(now, packet);
        }
        let offer = self.carry_late(now, packet, rng);
        if doomed && let Some(faults) = &mut self.faults {
            faults.doomed.push_back(faults.delivered + u64::from(self.line.len()));
        }
        offer
    }

    /// [`Link::carry`] with jitter: the line is as much longer for this packet.
    fn carry_late(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Offer {
        let jitter = self.faults.as_ref().map_or(Span::ZERO, |faults| faults.jitter);
        if jitter == Span::ZERO {
            return self.carry_somehow(now, packet);
        }
        let delay = self.delay;
        self.delay = delay + Span((rng.uniform() * jitter.0 as f64) as u64);
        let offer = self.carry_somehow(now, packet);
        self.delay = delay;
        offer
    }

    /// The packet that comes out next; `None` if the link carries nothing.
    pub fn front(&self) -> Option<&P> {
        self.line.front().map(|carried| &carried.packet)
    }

    /// The packet at the [`Link::front`] comes out, at the time for which the link last asked to be woken.
    #[inline(always)] // on the way of every hop
    pub fn deliver(&mut self) -> Delivery {
        let bytes = self.line.front().map_or(0, |carried| u64::from(carried.packet.bytes()));
        if self.queue.is_some() && self.waiting == self.line.head() {
            self.waiting = self.waiting.wrapping_add(1);
            self.waiting_bytes -= bytes;
        }
        self.carried_bytes += bytes;
        let next = match self.line.advance() {
            true => {
                self.waiting = 0;
                None
            }
            false => self.line.front().map(|carried| carried.arrives),
        };
        let lost = self.faults.is_some() && self.strikes();
        Delivery { lost, next }
    }

    /// Whether random loss has chosen the packet that comes out now.
    fn strikes(&mut self) -> bool {
        let Some(faults) = &mut self.faults else {
            return false;
        };
        faults.delivered += 1;
        let strikes = faults.doomed.front() == Some(&faults.delivered);
        if strikes {
            faults.doomed.pop_front();
            faults.losses += 1;
        }
        strikes
    }

    /// What waits at `now`, not counting the packet in transmission.
    #[inline(always)] // on the way of every hop into a queue
    pub fn backlog(&mut self, now: Time) -> Backlog {
        self.settle(now);
        let on_line = Backlog {
            packets: u64::from(self.line.tail().wrapping_sub(self.waiting)),
            bytes: self.waiting_bytes,
            idle_since: self.idle_at,
        };
        match &self.faults {
            None => on_line,
            Some(_) => self.backlog_rare(on_line),
        }
    }

    /// Packets inside: waiting, in transmission or on the line.
    pub fn carried(&self) -> usize {
        self.line.len() as usize + self.rare_carried()
    }

    /// What has happened since the start.
    pub fn counters(&self) -> Counters {
        let (dropped, marks) = self.rare_counts();
        Counters {
            arrived: self.arrived,
            queue_drops: self.queue.as_ref().map_or(0, |guarded| guarded.drops) + dropped,
            marks: self.queue.as_ref().map_or(0, |guarded| guarded.marks) + marks,
            losses: self.faults.as_ref().map_or(0, |faults| faults.losses),
            carried_bytes: self.carried_bytes,
        }
    }

    /// Change the link at `now`. What it was to be called for may have moved: see [`Link::due`].
    pub fn change(&mut self, now: Time, change: Change) {
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if change.loss.is_some() || change.up.is_some() {
            let none = Loss { model: LossModel::Independent(0.0), place: LossPlace::After };
            let faults = self.faults.get_or_insert_with(|| Box::new(Faults::new(Some(none), None)));
            if let Some(probability) = change.loss {
                faults.loss.get_or_insert(none).model = LossModel::Independent(probability);
            }
            faults.up = change.up.unwrap_or(faults.up);
        }
        if self.transmitter().is_some() {
            return if change.delay.is_some() {
                self.delay_anew(now)
            };
        }
        let rate = change.rate.or(change.delay.and(self.rate()));
        if let Some(rate) = rate {
            self.rerate(now, rate);
        }
    }

    /// The rate now; none for a pure delay, and with opportunities.
    pub fn rate(&self) -> Option<Rate> {
        (self.rate > 0).then_some(Rate(self.rate))
    }

    /// When to call for the link next, after a change that may have moved it; never if nothing is inside.
    pub fn due(&self) -> Time {
        match self.rare() {
            true => self.next_wake(),
            false => self.line.front().map_or(Time::NEVER, |carried| carried.arrives),
        }
    }

    /// Packets that wait, and what is left of the one in transmission, are timed anew at `rate` and with the
    /// present delay.
    fn rerate(&mut self, now: Time, rate: Rate) {
        self.settle(now);
        let before = std::mem::replace(&mut self.rate, rate.0);
        self.memo = Transmission::default();
        self.remainder = 0;
        let sending = self.waiting.wrapping_sub(1);
        let ends = self.line.get(self.waiting).map_or(self.idle_at, |first| first.starts);
        let earlier = self.line.get(sending.wrapping_sub(1)).map_or(now, |carried| carried.arrives);
        let mut earliest = self.line.get(sending).map_or(now, |carried| carried.arrives);
        self.idle_at = ends;
        if ends > now && before > 0 {
            let left = u128::from(ends.since(now).0) * u128::from(before);
            let left = left.div_ceil(u128::from(rate.0)).min(u128::from(FAR.0));
            self.idle_at = now + Span(left as u64);
            earliest = earlier.max(self.idle_at + self.delay);
            if let Some(carried) = self.line.get_mut(sending) {
                carried.arrives = earliest;
            }
        }
        for offset in 0..self.line.tail().wrapping_sub(self.waiting) {
            let ordinal = self.waiting.wrapping_add(offset);
            let starts = self.idle_at;
            let bytes = self.line.get(ordinal).map_or(0, |carried| carried.packet.bytes());
            self.transmit(starts, bytes);
            earliest = earliest.max(self.idle_at + self.delay);
            if let Some(carried) = self.line.get_mut(ordinal) {
                (carried.starts, carried.arrives) = (starts, earliest);
            }
        }
        self.last_arrival = earliest;
    }

    #[inline(always)] // on the way of every hop
    fn carry(&mut self, now: Time, packet: P) -> Offer {
        let bytes = packet.bytes();
        let starts = now.max(self.idle_at);
        self.transmit(starts, bytes);
        let arrives = (self.idle_at + self.delay).max(self.last_arrival);
        self.last_arrival = arrives;
        let offer = match self.line.len() {
            0 => Offer::Wake(arrives),
            _ => Offer::Carried,
        };
        self.line.push(Carried { starts, arrives, packet });
        if self.queue.is_some() {
            self.waiting_bytes += u64::from(bytes);
        }
        offer
    }

    /// Occupy the transmitter with `bytes` from `starts`; the fraction of a nanosecond is carried,
    /// so the rate is exact however long the run.
    fn transmit(&mut self, starts: Time, bytes: u32) {
        if self.rate == 0 {
            self.idle_at = starts;
            return;
        }
        if starts > self.idle_at {
            self.remainder = 0; // it was idle: nothing to carry over
        }
        let (ns, remainder) = self.transmission(bytes);
        self.remainder += remainder;
        let carry = self.remainder >= self.rate;
        if carry {
            self.remainder -= self.rate;
        }
        self.idle_at = starts + Span(ns + u64::from(carry));
    }

    /// Transmission time of `bytes`: whole nanoseconds, and the rest in units of 1/rate ns.
    fn transmission(&mut self, bytes: u32) -> (u64, u64) {
        if self.memo.bytes != bytes {
            let product = u64::from(bytes) * 8 * NANOS; // below 2^64 for packets below 2 GB
            let (whole, remainder) = (product / self.rate, product % self.rate);
            let Ok(ns) = u32::try_from(whole) else {
                // A queue that waits for an outage to end may not wait beyond the end of time.
                return if self.idle_at > FAR { (0, 0) } else { (whole, remainder) };
            };
            self.memo = Transmission { bytes, ns, remainder };
        }
        (u64::from(self.memo.ns), self.memo.remainder)
    }

    /// Count the packets whose transmission has started by `now`. Without a queue that may drop, nobody
    /// asks at every arrival, so nothing is kept up and the whole line is looked through.
    fn settle(&mut self, now: Time) {
        if self.queue.is_none() {
            self.waiting = self.line.head();
            let ordinals = (0..self.line.len()).map(|offset| self.waiting.wrapping_add(offset));
            let carried = ordinals.filter_map(|ordinal| self.line.get(ordinal));
            self.waiting_bytes = carried.map(|carried| u64::from(carried.packet.bytes())).sum();
        }
        while let Some(carried) = self.line.get(self.waiting) {
            if carried.starts > now {
                break;
            }
            self.waiting_bytes -= u64::from(carried.packet.bytes());
            self.waiting = self.waiting.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
