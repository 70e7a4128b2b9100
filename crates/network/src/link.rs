//! A link: a queue, a transmitter of some rate, a line of some delay.
//!
//! The link runs in virtual time. When a packet arrives, the time at which its transmission starts
//! and the time at which it will come out at the far end are known, because packets leave in order;
//! so a packet costs one event, or no event if the next step is known as well. A link has one event
//! pending however many packets it carries. Packets lie by value in one ring, in order, so a hop
//! reads and writes memory in sequence.
//!
//! A plain link has a rate (`rate.rs`), a delay and a queue that decides on arrival. Others have
//! one or more extras, each in a file of its own: impairments (`impairments.rs`), opportunities in
//! place of a rate (`opportunities.rs`), a queue that decides on departure (`departure.rs`). Their
//! one event stands for the first of several events (`exit.rs`).

use crate::loss::{Loss, LossPlace};
use crate::queue::{Arrival, ArrivalQueue, Backlog, Queue, State, Verdict};
use crate::ring::Ring;
use crate::{Packet, Rng, prefetch};
use departure::Departure;
use impairments::Impairments;
use opportunities::Schedule;
use rate::Transmitter;
use units::{Rate, Span, Time};

mod conveyed;
mod departure;
mod exit;
mod impairments;
mod opportunities;
mod rate;

pub use conveyed::{Conveyed, Passing};
pub use exit::Passage;
pub use impairments::Reorder;
pub use opportunities::Opportunities;

/// Settings of a link; by default a line without rate, delay, queue or fault.
#[derive(Clone, Debug, Default)]
pub struct LinkSettings {
    /// Rate of the transmitter; `None` for a pure delay, and with `opportunities`.
    pub rate: Option<Rate>,
    /// The opportunities of the transmitter, if it does not send at a rate.
    pub opportunities: Option<Opportunities>,
    /// Propagation delay.
    pub delay: Span,
    /// The queue before the transmitter.
    pub queue: Queue,
    /// Random loss, if any.
    pub loss: Option<Loss>,
    /// Reordering: packets held back on the line so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Probability that a packet comes out twice.
    pub duplicate: f64,
    /// Packets come out later by a random time up to this, and in order; not with `reorder`,
    /// `duplicate` or a queue that decides on departure.
    pub jitter: Span,
}

/// A change of a running link; a field that is `None` changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// New rate, for the rest of the packet in transmission and for waiting packets; not for a link
    /// with opportunities.
    pub rate: Option<Rate>,
    /// New propagation delay, for packets whose transmission has not ended; packets on the line
    /// keep their order.
    pub delay: Option<Span>,
    /// New loss probability, independent for each packet.
    pub loss: Option<f64>,
    /// Whether the link carries anything: a link that is down drops every arrival.
    pub up: Option<bool>,
}

/// Counters of a link since the start, in packets unless said otherwise.
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
    /// Bytes that came out at the far end, with those lost on the line.
    pub carried_bytes: u64,
}

/// The outcome of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Carried, and the link has an event pending already.
    Carried,
    /// Carried by a link without a pending event: wake the link at this time.
    Wake(Time),
    /// Taken by a link whose queue decides on departure, or that may reorder or copy packets: call
    /// [`Link::take_dropped`] until `None` now, and wake the link at [`Link::due`] at the latest.
    Taken,
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

/// A link that carries packets of type `P`. Fields used at every hop fill two cache lines: a packet
/// that comes out of a plain link needs only the first one.
#[repr(C, align(64))]
pub struct Link<P> {
    line: Ring<Carried<P>>,
    /// The queue and its drops, if it decides on arrival.
    queue: Option<Box<Counted>>,
    extras: Option<Box<Extras<P>>>,
    /// Bytes that the link has handed over: at its far end, or to a caller that keeps them
    /// (`link/conveyed.rs`).
    carried_bytes: u64,
    waiting_bytes: u64,
    /// Packets in `line` whose transmission had started when [`Link::settle`] last looked.
    started: u32,
    /// With fewer waiting packets than this, a plain link accepts every packet without a call of
    /// its queue. Zero for a link that is not plain.
    unasked: u32,

    transmitter: Transmitter,
    delay: Span,
    /// When the last packet comes out; packets keep their order.
    last_arrival: Time,
    /// Packets offered.
    arrived: u64,
}

/// A queue that decides on arrival, with its counts.
struct Counted {
    queue: ArrivalQueue,
    drops: u64,
    marks: u64,
    /// Packets offered to the link that the queue has judged, or that were lost before it. The
    /// others were accepted unasked.
    asked: u64,
}

/// The parts that a plain link does not have.
struct Extras<P> {
    impairments: Impairments<P>,
    /// The schedule of opportunities, in place of a rate.
    schedule: Option<Schedule>,
    /// The queue, if it decides on departure.
    departure: Option<Departure<P>>,
    /// Whether that queue is the only extra.
    only_departs: bool,
}

impl<P: Packet> Link<P> {
    /// A new, empty link.
    pub fn new(settings: LinkSettings) -> Self {
        let (queue, departure) = match settings.queue.start(settings.rate) {
            State::Unlimited => (None, None),
            State::Arrival(queue) => (Some(Box::new(Counted::new(queue))), None),
            State::Departure(queue) => (None, Some(Departure::new(queue))),
        };
        let impairments = Impairments::new(&settings, departure.is_some());
        let schedule = settings.opportunities.map(Schedule::new);
        let rate = settings.rate.filter(|_| schedule.is_none());
        let plain = impairments.are_none() && schedule.is_none() && departure.is_none();
        let unasked = match &queue {
            _ if !plain => 0,
            Some(counted) => counted.queue.unasked(),
            None => u32::MAX,
        };
        Link {
            extras: (!plain).then(|| Box::new(Extras::new(impairments, schedule, departure))),
            transmitter: Transmitter::new(rate),
            delay: settings.delay,
            queue,
            line: Ring::new(),
            started: 0,
            unasked,
            waiting_bytes: 0,
            last_arrival: Time::ZERO,
            arrived: 0,
            carried_bytes: 0,
        }
    }

    /// Whether it has only a rate, a delay and a queue that decides on arrival: its packets are
    /// then taken by [`Link::deliver`].
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.extras.is_none()
    }

    /// A packet arrives at `now`; times of successive calls never decrease.
    pub fn offer(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Offer {
        match self.offer_unasked(now, packet) {
            Some(offer) => offer,
            None if self.is_plain() => self.offer_asked(now, packet, rng),
            None => self.offer_extended(now, packet, rng),
        }
    }

    /// [`Link::offer`] to a plain link whose queue accepts the packet in any case; otherwise does
    /// nothing. Then [`Link::offer_asked`] must follow, or [`Link::offer_extended`] to a link that
    /// is not plain.
    #[inline(always)] // runs for every hop
    pub fn offer_unasked(&mut self, now: Time, packet: P) -> Option<Offer> {
        if !self.is_below_unasked(now) {
            return None;
        }
        self.arrived += 1;
        Some(self.carry(now, packet))
    }

    /// [`Link::offer`] to a plain link that [`Link::offer_unasked`] has declined at `now`. The
    /// packet is written to its place on the line before the queue is asked, so that it need not be
    /// kept meanwhile.
    #[inline(always)] // runs for every hop into some queues
    pub fn offer_asked(&mut self, now: Time, packet: P, rng: &mut impl Rng) -> Offer {
        self.arrived += 1;
        self.line.stage().packet = packet;
        let (bytes, ecn_capable) = (packet.bytes(), packet.ecn_capable());
        match self.verdict(now, bytes, ecn_capable, rng) {
            Verdict::Accept => {}
            Verdict::Mark => self.line.staged().into_iter().for_each(|own| own.packet.mark()),
            Verdict::Drop => return Offer::Dropped,
        }
        let starts = self.transmit(now, bytes);
        let arrives = self.last_exit();
        if let Some(staged) = self.line.staged() {
            (staged.starts, staged.arrives) = (starts, arrives);
        }
        self.admit(arrives, bytes)
    }

    /// The packet that [`Link::offer_asked`] has just dropped.
    pub fn dropped(&mut self) -> P {
        self.line.staged().map_or_else(P::default, |staged| staged.packet)
    }

    /// Whether its queue accepts a packet without being asked: of the newest `unasked` packets, the
    /// first one has started, or there are not so many. Packets are not counted, because how many
    /// have started since the last arrival is hard to predict for a processor.
    #[inline(always)] // runs for every hop
    fn is_below_unasked(&self, now: Time) -> bool {
        match self.line.nth_newest(self.unasked) {
            Some(carried) => carried.starts <= now,
            None => self.unasked > 0,
        }
    }

    /// The verdict of the queue of a plain link on the packet that arrived last.
    #[inline(always)] // runs for every hop into some queues
    fn verdict(&mut self, now: Time, bytes: u32, ecn_capable: bool, rng: &mut impl Rng) -> Verdict {
        self.settle(now);
        let Link { queue, arrived, line, started, waiting_bytes, transmitter, .. } = self;
        let Some(counted) = queue else {
            return Verdict::Accept;
        };
        // Put together by the queue, so that it need not compute what it does not read.
        let arrival = || {
            let packets = u64::from(line.len() - *started);
            let backlog =
                Backlog { packets, bytes: *waiting_bytes, idle_since: transmitter.idle_at };
            Arrival { now, bytes, ecn_capable, backlog }
        };
        counted.judge(*arrived, arrival, rng)
    }

    /// Whether the queue of a plain link accepts a packet, which it may mark.
    #[inline(never)] // keeps the code of other hops short
    fn accepts(&mut self, now: Time, packet: &mut impl Packet, rng: &mut impl Rng) -> bool {
        let verdict = self.verdict(now, packet.bytes(), packet.ecn_capable(), rng);
        if verdict == Verdict::Mark {
            packet.mark();
        }
        verdict != Verdict::Drop
    }

    /// [`Link::offer`] to a link that is unlimited.
    #[inline(always)] // runs for every hop
    pub fn offer_unlimited(&mut self, now: Time, packet: P) -> Offer {
        debug_assert!(self.is_unlimited(), "it may drop the packet");
        self.arrived += 1;
        self.carry(now, packet)
    }

    /// The same link for packets of another type; it must be plain and empty.
    pub fn retyped<Q: Packet>(self) -> Link<Q> {
        debug_assert!(self.is_plain() && self.line.len() == 0, "packets would be lost");
        let Link { queue, carried_bytes, waiting_bytes, started, unasked, .. } = self;
        let Link { transmitter, delay, last_arrival, arrived, .. } = self;
        let (line, extras) = (Ring::new(), None);
        Link {
            line,
            queue,
            extras,
            carried_bytes,
            waiting_bytes,
            started,
            unasked,
            transmitter,
            delay,
            last_arrival,
            arrived,
        }
    }

    /// [`Link::offer`] for a plain link without events: returns when the packet will come out, or
    /// `None` if it was dropped. The link keeps `kept` instead of the packet, of as many bytes. The
    /// caller must [`Link::release`] packets that have come out. `rng` is asked for only if the
    /// queue is.
    #[inline(always)] // runs for every hop
    pub fn pass<Q: Packet, R: Rng>(
        &mut self,
        now: Time,
        packet: &mut Q,
        kept: P,
        rng: impl FnOnce() -> R,
    ) -> Option<Time> {
        debug_assert_eq!(packet.bytes(), kept.bytes(), "the transmission time of another packet");
        debug_assert!(self.is_plain(), "its exit times may change");
        self.arrived += 1;
        if !self.is_below_unasked(now) && !self.accepts(now, packet, &mut rng()) {
            return None;
        }
        self.carry(now, kept);
        Some(self.last_arrival)
    }

    /// [`Link::pass`] for an unlimited link.
    #[inline(always)] // runs for every hop
    pub fn pass_unlimited(&mut self, now: Time, kept: P) -> Time {
        self.offer_unlimited(now, kept);
        self.last_arrival
    }

    /// Removes the packets that have come out of a plain link by `now`; returns how many.
    #[inline(never)] // runs seldom, for many packets
    pub fn release(&mut self, now: Time) -> u64 {
        debug_assert!(self.is_plain(), "its packets may be lost or copied");
        let (mut packets, mut bytes, mut waiting_bytes) = (0, 0, 0);
        while let Some(carried) = self.line.get(packets)
            && carried.arrives <= now
        {
            bytes += u64::from(carried.packet.bytes());
            if packets >= self.started {
                waiting_bytes += u64::from(carried.packet.bytes());
            }
            packets += 1;
        }
        if packets > 0 {
            self.carried_bytes += bytes;
            self.waiting_bytes -= waiting_bytes;
            self.started = self.started.saturating_sub(packets);
            self.line.advance(packets);
        }
        u64::from(packets)
    }

    /// [`Link::release`] if the next packet would need more memory.
    #[inline(always)] // runs for every hop
    pub fn make_room(&mut self, now: Time) -> u64 {
        match self.line.is_full() {
            true => self.release(now),
            false => 0,
        }
    }

    /// What is kept of the packets in a plain link, oldest first.
    pub fn inside(&self) -> impl Iterator<Item = &P> {
        (0..self.line.len()).filter_map(|at| self.line.get(at)).map(|carried| &carried.packet)
    }

    /// Hides the newest `packets` of a plain link, which were offered ahead of time, until
    /// [`Link::readmit`]. Nothing may be offered or delivered meanwhile.
    pub fn withhold(&mut self, packets: u32) {
        debug_assert!(self.is_plain(), "they may be elsewhere");
        self.waiting_bytes -= self.newest_bytes(packets);
        self.line.withhold(packets);
        self.arrived -= u64::from(packets);
    }

    /// Ends [`Link::withhold`] of this many packets.
    pub fn readmit(&mut self, packets: u32) {
        self.line.readmit(packets);
        self.arrived += u64::from(packets);
        self.waiting_bytes += self.newest_bytes(packets);
    }

    /// Bytes of those of the newest `packets` that wait.
    fn newest_bytes(&self, packets: u32) -> u64 {
        let waiting = packets.min(self.line.len() - self.started);
        let newest = (1..=waiting).filter_map(|number| self.line.nth_newest(number));
        newest.map(|carried| u64::from(carried.packet.bytes())).sum()
    }

    /// Whether it accepts every packet.
    pub fn is_unlimited(&self) -> bool {
        self.is_plain() && self.queue.is_none()
    }

    /// [`Link::offer`] to a link that is not plain.
    #[inline(never)] // keeps the code of other hops short
    pub fn offer_extended(&mut self, now: Time, mut packet: P, rng: &mut impl Rng) -> Offer {
        self.arrived += 1;
        if self.only_departs() {
            return self.enqueue(now, packet);
        }
        self.pass_opportunities(now);
        let mut doomed = false;
        if let Some(Extras { impairments, .. }) = self.extras.as_deref_mut() {
            if impairments.lose_before(rng) {
                self.queue.iter_mut().for_each(|counted| counted.asked += 1);
                return Offer::Lost;
            }
            doomed = impairments.strikes_early(rng);
        }
        match self.judge(now, &packet, rng) {
            Verdict::Accept => {}
            Verdict::Mark => packet.mark(),
            Verdict::Drop => return Offer::Dropped,
        }
        if self.departure().is_some() {
            return self.enqueue(now, packet);
        }
        let Some(Extras { impairments, .. }) = self.extras.as_deref_mut() else {
            return self.carry(now, packet);
        };
        if impairments.rearrange() {
            self.carry_extended(now, packet);
            return Offer::Taken;
        }
        let jitter = impairments.jitter(rng);
        let delay = self.delay;
        self.delay = delay + jitter; // for this packet the line is longer by the jitter
        let offer = self.carry_extended(now, packet);
        self.delay = delay;
        let inside = self.line.len();
        if let (true, Some(extras)) = (doomed, &mut self.extras) {
            extras.impairments.doom(inside);
        }
        offer
    }

    /// The verdict of the queue of a link that is not plain, if it decides on arrival.
    fn judge(&mut self, now: Time, packet: &P, rng: &mut impl Rng) -> Verdict {
        if self.queue.is_none() {
            return Verdict::Accept;
        }
        let backlog = self.backlog(now);
        let Some(counted) = &mut self.queue else {
            return Verdict::Accept;
        };
        let (bytes, ecn_capable) = (packet.bytes(), packet.ecn_capable());
        counted.judge(self.arrived, || Arrival { now, bytes, ecn_capable, backlog }, rng)
    }

    /// [`Link::carry`] for links that are not plain, kept apart from the code of plain links.
    #[inline(never)]
    fn carry_extended(&mut self, now: Time, packet: P) -> Offer {
        match self.schedule() {
            Some(_) => self.carry_by_opportunities(now, packet),
            None => self.carry(now, packet),
        }
    }

    /// The packet that comes out next; `None` if the link carries nothing.
    pub fn front(&self) -> Option<&P> {
        self.line.front().map(|carried| &carried.packet)
    }

    /// Prefetches the packet that comes out next into the cache.
    #[inline(always)] // called for many links in turn
    pub fn prefetch_front(&self) {
        self.front().inspect(|front| prefetch(*front));
    }

    /// Prefetches the place of the next packet that enters into the cache.
    #[inline(always)] // called for many links in turn
    pub fn prefetch_back(&self) {
        self.line.back_slot().inspect(|slot| prefetch(*slot));
    }

    /// Takes the packet at the [`Link::front`] of a plain link, at the time for which the link last
    /// asked to be woken. Returns when to wake it for the next one.
    #[inline(always)] // runs for every hop
    pub fn deliver(&mut self) -> Option<Time> {
        let bytes = self.line.front().map_or(0, |carried| u64::from(carried.packet.bytes()));
        match self.started.checked_sub(1) {
            Some(others) => self.started = others,
            None => self.waiting_bytes -= bytes,
        }
        self.carried_bytes += bytes;
        match self.line.advance(1) {
            true => None,
            false => self.line.front().map(|carried| carried.arrives),
        }
    }

    /// Packets and bytes that wait at `now`, without the packet in transmission.
    #[inline(always)] // runs for every hop into a queue
    pub fn backlog(&mut self, now: Time) -> Backlog {
        self.settle(now);
        let on_line = self.on_line();
        match &self.extras {
            None => on_line,
            Some(_) => self.backlog_with_undecided(on_line),
        }
    }

    /// The packets of the line that waited when [`Link::settle`] last looked.
    #[inline(always)] // runs for every hop into a queue
    fn on_line(&self) -> Backlog {
        Backlog {
            packets: u64::from(self.line.len() - self.started),
            bytes: self.waiting_bytes,
            idle_since: self.transmitter.idle_at,
        }
    }

    /// Packets inside: waiting, in transmission, on the line or held back.
    pub fn carried(&self) -> usize {
        let beside = self.extras.as_ref().map_or(0, |extras| {
            extras.impairments.carried() + extras.departure.as_ref().map_or(0, Departure::carried)
        });
        self.line.len() as usize + beside
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        let arrival = self.queue.as_ref().map_or((0, 0), |queue| (queue.drops, queue.marks));
        let departure = self.departure().map_or((0, 0), |queue| (queue.drops, queue.marks()));
        Counters {
            arrived: self.arrived,
            queue_drops: arrival.0 + departure.0,
            marks: arrival.1 + departure.1,
            losses: self.extras.as_ref().map_or(0, |extras| extras.impairments.losses),
            carried_bytes: self.carried_bytes,
        }
    }

    /// Changes the link at `now`. Its next wake time may move: see [`Link::due`].
    pub fn change(&mut self, now: Time, change: Change) {
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if change.loss.is_some() || change.up.is_some() {
            self.unasked = 0;
            let extras = self.extras.get_or_insert_with(|| Box::new(Extras::none()));
            extras.impairments.change(change.loss, change.up);
            extras.only_departs = false;
        }
        if self.schedule().is_some() {
            return if change.delay.is_some() {
                self.redelay_by_opportunities(now)
            };
        }
        let rate = change.rate.or(change.delay.and(self.rate()));
        if let Some(rate) = rate {
            self.rerate(now, rate);
        }
    }

    #[inline(always)] // runs for every hop
    fn carry(&mut self, now: Time, packet: P) -> Offer {
        let starts = self.transmit(now, packet.bytes());
        self.push(starts, packet)
    }

    /// Transmits `bytes` that arrive at `now`, after all before them; returns when that starts.
    #[inline(always)] // runs for every hop
    fn transmit(&mut self, now: Time, bytes: u32) -> Time {
        let starts = now.max(self.transmitter.idle_at);
        self.transmitter.send(starts, bytes);
        starts
    }

    /// When the packet comes out that the transmitter counted last: after all before it.
    #[inline(always)] // runs for every hop
    fn last_exit(&mut self) -> Time {
        self.last_arrival = (self.transmitter.idle_at + self.delay).max(self.last_arrival);
        self.last_arrival
    }

    /// Puts a packet on the line; its transmission starts at `starts` and is already counted by the
    /// transmitter.
    #[inline(always)] // runs for every hop
    fn push(&mut self, starts: Time, packet: P) -> Offer {
        let arrives = self.last_exit();
        *self.line.stage() = Carried { starts, arrives, packet };
        self.admit(arrives, packet.bytes())
    }

    /// The staged packet, of so many `bytes`, is on the line, and comes out when it `arrives`.
    #[inline(always)] // runs for every hop
    fn admit(&mut self, arrives: Time, bytes: u32) -> Offer {
        let offer = match self.line.len() {
            0 => Offer::Wake(arrives),
            _ => Offer::Carried,
        };
        self.line.admit();
        self.waiting_bytes += u64::from(bytes);
        offer
    }

    /// Counts the packets whose transmission has started by `now`.
    #[inline(always)] // runs for every hop into a queue
    fn settle(&mut self, now: Time) {
        let mut started = 0;
        self.started = self.line.find_from(self.started, |carried| {
            if carried.starts > now {
                return true;
            }
            started += u64::from(carried.packet.bytes());
            false
        });
        self.waiting_bytes -= started;
    }
}

impl Counted {
    fn new(queue: ArrivalQueue) -> Self {
        Counted { queue, drops: 0, marks: 0, asked: 0 }
    }

    /// The verdict on a packet, which is the last one of `arrived`.
    #[inline(always)] // runs for every hop into a queue
    fn judge(
        &mut self,
        arrived: u64,
        arrival: impl FnOnce() -> Arrival,
        rng: &mut impl Rng,
    ) -> Verdict {
        self.asked += 1;
        if self.asked != arrived {
            self.asked = arrived;
            self.queue.accepted_unasked();
        }
        let verdict = self.queue.judge(arrival, rng);
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => self.marks += 1,
            Verdict::Drop => self.drops += 1,
        }
        verdict
    }
}

impl<P: Packet> Extras<P> {
    fn new(
        impairments: Impairments<P>,
        schedule: Option<Schedule>,
        departure: Option<Departure<P>>,
    ) -> Self {
        let only_departs = departure.is_some() && schedule.is_none() && impairments.are_none();
        Extras { impairments, schedule, departure, only_departs }
    }

    /// Empty extras, for a plain link that is about to be impaired.
    fn none() -> Self {
        let none = Loss { probability: 0.0, place: LossPlace::After, chain: None };
        let settings = LinkSettings { loss: Some(none), ..LinkSettings::default() };
        let impairments = Impairments::new(&settings, false);
        Extras::new(impairments, None, None)
    }
}

#[cfg(test)]
mod tests;
