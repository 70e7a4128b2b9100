//! The medium of one channel: transmissions on the air, the stations that sense them, and their
//! outcomes.
//!
//! An exchange has up to three events: it begins, its data ends, its acknowledgement ends (or times
//! out). At each event, the stations that sense the sender or the receiver are notified; nothing is
//! computed between events. A station that begins within a slot of another one has not noticed it:
//! that is a collision.

use super::phy::{AfterCollision, Phy, PhyKind};
use super::station_link::StationLink;

use super::pairs::{Geometry, Pairs};
use super::rates::{Arf, ModeChoice};
use super::station::{Station, exponential};
use super::together::Together;
use crate::host::LinkPacket;
use crate::radio::{self, LastReception, Radio, Threshold};
use crate::shared::{self, Common, Counters, Outcome, SharedMedium};
use crate::{Packet, Position, Rng};
use std::sync::Arc;
use units::{Span, Time};

/// Bytes of an acknowledgement.
pub(super) const ACK_BYTES: u32 = 14;

/// Settings shared by all stations of a channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelSettings {
    /// The amendment of 802.11.
    pub phy: PhyKind,
    /// How senders choose their mode.
    pub mode: ModeChoice,
    /// The mode in which broadcasts are sent.
    pub broadcast: usize,
    /// Attempts after which a packet is given up, at least 1.
    pub attempts: u32,
    /// How long a sender waits for an answer to begin; `None` is the time of the standard.
    pub ack_timeout: Option<Span>,
    /// How long other stations wait after a collision.
    pub after_collision: AfterCollision,
    /// Propagation; without it all stations sense each other, and only collisions cause errors.
    pub radio: Option<Radio>,
}

impl ChannelSettings {
    /// A channel with the standard's values, without propagation: seven attempts, broadcasts in the
    /// slowest mode.
    pub const fn new(phy: PhyKind, mode: ModeChoice) -> Self {
        ChannelSettings {
            phy,
            mode,
            broadcast: 0,
            attempts: 7,
            ack_timeout: None,
            after_collision: AfterCollision::Eifs,
            radio: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// The sender's data is on the air.
    Data,
    /// The receiver's acknowledgement is due or on the air.
    Answer,
    /// There will be no answer, and the sender waits until its timeout.
    Silence,
}

/// An exchange under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) stage: Stage,
    pub(super) until: Time,
    pub(super) from: usize,
    pub(super) to: Option<usize>,
    pub(super) link: u32,
    /// Number of packets in it: the first ones of those pending.
    pub(super) packets: usize,
    pub(super) mode: usize,
    /// Power of all other transmissions at the present receiver, in mW.
    pub(super) interference: f64,
    /// Whether the present receiver has itself sent during this transmission.
    pub(super) deaf: bool,
}

impl Exchange {
    /// The same, once the data is received; the answer lasts until `until`.
    pub(super) fn answered(self, until: Time) -> Exchange {
        let (stage, interference, deaf) = (Stage::Answer, 0.0, false);
        Exchange { stage, until, interference, deaf, ..self }
    }

    /// The station that sends now; `None` while the exchange is silent.
    pub(super) fn sender(&self) -> Option<usize> {
        match self.stage {
            Stage::Data => Some(self.from),
            Stage::Answer => self.to,
            Stage::Silence => None,
        }
    }

    /// The station that the present transmission is for; `None` for a broadcast too.
    pub(super) fn receiver(&self) -> Option<usize> {
        match self.stage {
            Stage::Data => self.to,
            Stage::Answer => Some(self.from),
            Stage::Silence => None,
        }
    }
}

/// The end of an exchange, for its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// Packets have left: acknowledged, or out of attempts.
    Done,
    /// No packet has left, because there was no answer.
    Lost,
    /// No packet has left, though there was an answer.
    Again,
}

/// A channel with its stations.
pub struct Channel<P> {
    pub(super) phy: Phy,
    pub(super) settings: ChannelSettings,
    pub(super) stations: Vec<Station<P>>,
    pub(super) links: Vec<StationLink<P>>,
    /// ARF of each link.
    arf: Vec<Arf>,
    /// Whether every station senses every other one and decodes its frames.
    pub(super) all_hear: bool,
    /// The stations with the same sensing state; empty unless [`Channel::all_hear`].
    pub(super) together: Together,
    /// All other stations, in the order of their numbers.
    pub(super) apart: Vec<u16>,
    /// For each sender the stations that sense its transmission, recorded at the beginning; stale
    /// while [`Channel::all_hear`].
    pub(super) hearers: Vec<Vec<u16>>,
    /// When each station in `apart` sends, if nothing happens before.
    pub(super) sends_at: Vec<Time>,
    pub(super) exchanges: Vec<Exchange>,
    /// The exchange of a station that has not parted from the others: see `alone.rs`.
    pub(super) alone: Option<Exchange>,
    /// Cached values of each pair of stations at their positions.
    pub(super) pairs: Pairs,
    /// Noise in mW.
    pub(super) noise: f64,
    /// Least power in mW at which a station senses another one.
    pub(super) least_power: f64,
    /// The signal-to-noise ratio that each mode needs.
    pub(super) thresholds: Vec<Threshold>,
    /// The signal-to-noise ratio from which on each mode is always received.
    pub(super) certain: Vec<Threshold>,
    arrivals: u64,
    outcomes: Vec<Outcome<P>>,
    /// The value of [`Channel::first`]; each change of it updates this.
    pub(super) next_wake: Time,
}

/// Stations between which fewer packets survive than this have no link.
pub(crate) const LEAST_SUCCESS: f64 = 0.5;

/// Bytes of a full packet on the air.
const FULL_BYTES: u32 = 1536;

/// Order of a station's first packet that waits its turn. Urgent packets have lower numbers.
const IN_TURN: u64 = 1 << 63;

impl<P: Packet> Channel<P> {
    /// A channel with `stations`, and `links` from one to another, or to all that receive it.
    ///
    /// # Panics
    /// If a link leads from or to a station that does not exist, or back to its own; or if the
    /// number of attempts is zero.
    pub fn new(
        settings: ChannelSettings,
        stations: &[shared::Station],
        links: &[(usize, Option<usize>)],
        rng: &mut dyn Rng,
    ) -> Self {
        assert!(settings.attempts > 0, "a packet is attempted at least once");
        let mut phy = Phy::new(settings.phy);
        phy.ack_timeout = settings.ack_timeout.unwrap_or(phy.ack_timeout);
        phy.after_collision = settings.after_collision;
        let count = stations.len();
        let mut medium = Channel {
            stations: stations.iter().map(|station| Station::new(station.clone(), &phy)).collect(),
            links: Vec::new(),
            arf: Vec::new(),
            all_hear: false,
            together: Together::new(),
            apart: (0..count as u16).collect(),
            hearers: vec![Vec::new(); count],
            sends_at: vec![Time::NEVER; count],
            exchanges: Vec::new(),
            alone: None,
            pairs: Pairs::new(match settings.radio {
                Some(_) => stations.iter().map(|station| station.position).collect(),
                None => Vec::new(),
            }),
            noise: settings.radio.map_or(0.0, |radio| radio::ratio(radio.noise_dbm)),
            least_power: settings.radio.map_or(0.0, |radio| radio::ratio(radio.sense_dbm)),
            certain: phy.modes.iter().map(|mode| radio::certain(mode.threshold_db)).collect(),
            thresholds: phy.modes.iter().map(|mode| Threshold::new(mode.threshold_db)).collect(),
            arrivals: 0,
            outcomes: Vec::new(),
            next_wake: Time::NEVER,
            phy,
            settings,
        };
        for (from, to) in links {
            medium.add_link(*from, *to);
        }
        for station in &mut medium.stations {
            if let Some(gap) = station.settings.noise {
                station.noise_at = Time::ZERO + exponential(gap, rng);
            }
        }
        medium.all_hear = medium.hear_all();
        medium.gather(Time::ZERO);
        medium.next_wake = medium.first();
        medium
    }

    /// Adds a link from one station to another, or to all stations that receive it; returns its
    /// number.
    ///
    /// # Panics
    /// If a station does not exist, or the link leads back to its own station.
    pub fn add_link(&mut self, from: usize, to: Option<usize>) -> u32 {
        let (number, count) = (self.links.len(), self.stations.len());
        assert!(from < count && to.is_none_or(|to| to < count && to != from), "link {number}");
        self.links.push(StationLink::new(from, to));
        self.arf.push(Arf::new(self.phy.modes.len() - 1));
        self.stations[from].links.push(number as u32);
        number as u32
    }

    /// Number of stations.
    pub fn stations(&self) -> usize {
        self.stations.len()
    }

    /// The stations at which a link begins and ends; a link for broadcasts has no end.
    pub fn ends(&self, link: u32) -> (usize, Option<usize>) {
        let StationLink { from, to, .. } = self.links[link as usize];
        (from, to)
    }

    /// Signal-to-noise ratio of `from` at `to`, in dB.
    pub fn snr_db(&self, from: usize, to: usize) -> f64 {
        radio::decibel(self.power(from, to) / self.noise)
    }

    /// Probability that `to` receives a full packet from `from` without interference.
    pub fn success(&self, from: usize, to: usize) -> f64 {
        if self.settings.radio.is_none() {
            return 1.0;
        }
        let mutual = self.stations[from].mode == self.stations[to].mode;
        self.pairs.success(from, to, mutual, || {
            if self.power(from, to) < self.least_power {
                return 0.0;
            }
            let mode = match self.choice(from) {
                ModeChoice::Fixed(mode) => mode,
                ModeChoice::Arf | ModeChoice::Ideal(_) => 0, // the most robust mode
            };
            self.received(from, to, 0.0, mode, FULL_BYTES, &LastReception::default())
        })
    }

    /// The cached values of pairs of stations.
    pub(crate) fn geometry(&self) -> &Arc<Geometry> {
        self.pairs.geometry()
    }

    /// Shares the cached values of a channel of the same kind and with the same stations.
    pub(crate) fn share_geometry(&mut self, geometry: &Arc<Geometry>) {
        self.pairs.share(geometry);
    }

    /// The number of moves until the present positions, among all channels that share values;
    /// `None` while another one is ahead.
    pub(crate) fn moves(&self) -> Option<u64> {
        self.pairs.moves()
    }

    /// The power at `to` of the signal from `from`, in mW.
    #[inline] // runs twice for every frame
    pub(super) fn power(&self, from: usize, to: usize) -> f64 {
        let Some(radio) = self.settings.radio else {
            return 1.0;
        };
        let position = |station: usize| self.stations[station].settings.position;
        let received = || radio::ratio(radio.received_dbm(position(from), position(to)));
        self.pairs.power(from, to, received)
    }

    /// Timing of its standard.
    pub fn phy(&self) -> &Phy {
        &self.phy
    }

    /// Number of transmissions that a station has begun in each mode.
    pub fn sent_in(&self, station: usize) -> &[u64] {
        &self.stations[station].sent_in
    }

    /// Offers a packet before all others of its station: it bypasses the host's queue, even a full
    /// one.
    pub fn offer_first(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) {
        let from = self.links[link as usize].from;
        self.stations[from].counters.offered += 1;
        self.links[link as usize].push(packet, self.arrivals);
        self.arrivals += 1;
        self.arrival(now, from, rng);
        self.schedule(now, from);
    }

    /// A packet reached the driver of a station.
    #[inline(always)] // runs for every packet
    fn arrival(&mut self, now: Time, from: usize, rng: &mut dyn Rng) {
        let station = &mut self.stations[from];
        station.waiting += 1;
        if station.waiting > 1 {
            return; // it has a packet to send already
        }
        match station.together {
            None => station.redraw(rng),
            Some(end) => self.arrival_together(now, from, end, rng),
        }
    }

    /// Computes when `from` sends, if that is not known.
    pub(super) fn schedule(&mut self, now: Time, from: usize) {
        let station = &self.stations[from];
        if station.together.is_none() && self.sends_at[from] == Time::NEVER {
            self.sends_at[from] = station.sends_at(now, &self.phy);
            self.next_wake = self.next_wake.min(self.sends_at[from]);
        }
    }

    /// When the first exchange moves on or the first station sends, if nothing happens before.
    #[inline] // runs for many frames
    pub(super) fn first(&self) -> Time {
        if let Some(alone) = &self.alone {
            return alone.until; // the others wait meanwhile
        }
        let ends = self.exchanges.iter().map(|exchange| exchange.until);
        let first = ends.fold(self.together.sends_at(&self.phy), Time::min);
        match self.all_hear {
            false => self.sends_at.iter().copied().fold(first, Time::min), // all are apart
            true => {
                let sends = self.apart.iter().map(|own| self.sends_at[usize::from(*own)]);
                sends.fold(first, Time::min)
            }
        }
    }

    /// The place in `apart`, from `at` on, of the next station that sends by `now`.
    fn next_due(&self, at: usize, now: Time) -> Option<usize> {
        let found = match self.all_hear {
            false => self.sends_at[at..].iter().position(|sends| *sends <= now), // all are apart
            true => {
                let due = |own: &u16| self.sends_at[usize::from(*own)] <= now;
                self.apart[at..].iter().position(due)
            }
        };
        found.map(|place| at + place)
    }

    /// The driver of a station takes packets from its host while the ring has room.
    #[inline(always)] // runs for every packet
    fn fill(&mut self, now: Time, from: usize, rng: &mut dyn Rng) {
        while self.stations[from].waiting < self.stations[from].settings.ring {
            let Some(LinkPacket { link, packet }) = self.stations[from].host.take(now) else {
                break;
            };
            self.links[link as usize].push(packet, IN_TURN + self.arrivals);
            self.arrivals += 1;
            self.arrival(now, from, rng);
        }
        let station = &mut self.stations[from];
        while let Some(LinkPacket { link, packet }) = station.host.dropped() {
            station.counters.queue_drops += 1;
            self.outcomes.push(Outcome::Left { link, packet, lost: true });
        }
    }

    /// `from` begins to send its oldest packets.
    fn begin(&mut self, now: Time, from: usize, rng: &mut dyn Rng) {
        self.sends_at[from] = Time::NEVER;
        let Some(link) = self.oldest_link(from) else {
            return; // a station without links never sends
        };
        let exchange = self.first_stage(now, link, rng);
        self.stations[from].begin(now, &self.phy);
        let index = self.exchanges.len();
        self.exchanges.push(exchange);
        self.interfere(index);
        self.tell(now, from);
    }

    /// The exchange that begins when the first station of `link` sends its oldest packets.
    #[inline(always)] // runs for every frame
    pub(super) fn first_stage(&mut self, now: Time, link: u32, rng: &mut dyn Rng) -> Exchange {
        let mode = self.mode(link);
        let (packets, bytes) = self.aggregate(link, mode);
        let own = &mut self.links[link as usize];
        let (from, to) = (own.from, own.to);
        let station = &mut self.stations[from];
        own.each_pending(packets, |waiting| {
            if waiting.attempts == 0 {
                waiting.doomed = station.dooms(now, rng);
            }
        });
        let lasts = self.phy.duration(bytes, mode);
        station.counters.attempts += 1;
        station.sent_in[mode] += 1;
        station.counters.airtime += lasts;
        let (stage, until) = (Stage::Data, now + lasts);
        let (interference, deaf) = (0.0, false);
        Exchange { stage, until, from, to, link, packets, mode, interference, deaf }
    }

    /// The link of a station whose first packet has waited longest.
    #[inline(always)] // runs for every frame
    pub(super) fn oldest_link(&self, station: usize) -> Option<u32> {
        let links = &self.stations[station].links;
        if let [only] = **links {
            return Some(only); // mostly
        }
        let order = |link: u32| self.links[link as usize].next().map(|waiting| waiting.order);
        links.iter().copied().min_by_key(|link| order(*link).unwrap_or(u64::MAX))
    }

    /// How a station chooses its mode.
    #[inline] // runs for every frame
    pub(super) fn choice(&self, station: usize) -> ModeChoice {
        self.stations[station].mode.map_or(self.settings.mode, ModeChoice::Fixed)
    }

    /// The mode in which a link sends now.
    #[inline(always)] // runs for every frame
    fn mode(&self, link: u32) -> usize {
        let StationLink { from, to, .. } = self.links[link as usize];
        let Some(to) = to else {
            return self.settings.broadcast;
        };
        match self.choice(from) {
            ModeChoice::Fixed(mode) => mode,
            ModeChoice::Arf => self.arf[link as usize].mode,
            ModeChoice::Ideal(margin) => {
                let snr = radio::decibel(self.power(from, to) / self.noise);
                let good = |mode: &usize| snr >= self.phy.modes[*mode].threshold_db + margin;
                (0..self.phy.modes.len()).rev().find(good).unwrap_or(0)
            }
        }
    }

    /// Number of packets in one transmission, and its bytes; a single packet is not an aggregate.
    #[inline(always)] // runs for every frame
    fn aggregate(&self, link: u32, mode: usize) -> (usize, u32) {
        let (phy, link) = (&self.phy, &self.links[link as usize]);
        let Some(first) = link.next().map(|waiting| waiting.packet.bytes()) else {
            return (0, 0);
        };
        // With several broadcasts in an aggregate, no answer could say which were received.
        let most = if link.to.is_none() { 1 } else { phy.most_aggregated() };
        let (mut packets, mut bytes) = (1, phy.padded(first));
        if most > 1 {
            for packet in link.pending().take(most).skip(1).map(|waiting| waiting.packet.bytes()) {
                let longer = bytes + phy.padded(packet);
                if !phy.fits(longer, mode) {
                    break;
                }
                (packets, bytes) = (packets + 1, longer);
            }
        }
        match packets {
            1 => (1, phy.framed(first)),
            _ => (packets, bytes),
        }
    }

    /// The data of an exchange ends.
    fn data_ends(&mut self, now: Time, index: usize, rng: &mut dyn Rng) {
        let exchange = self.exchanges[index];
        let Some(to) = exchange.to else {
            return self.broadcast_ends(now, index, rng);
        };
        if !self.receive(&exchange, rng) {
            return self.falls_silent(now, index);
        }
        let answer_ends = self.answer_ends_at(now, &exchange);
        self.overhear(&exchange, answer_ends);
        self.exchanges[index] = exchange.answered(answer_ends);
        self.interfere(index);
        self.answer(now, exchange.from, to);
        self.pass_on(exchange.link, to);
    }

    /// When the answer ends to data that ends now.
    pub(super) fn answer_ends_at(&self, now: Time, exchange: &Exchange) -> Time {
        let mode = &self.phy.modes[exchange.mode];
        let answer = if exchange.packets == 1 { mode.ack } else { mode.block_ack };
        now + self.phy.sifs + answer
    }

    /// The data of an exchange ends, and the receiver has received none of it.
    pub(super) fn falls_silent(&mut self, now: Time, index: usize) {
        let exchange = self.exchanges[index];
        self.overhear(&exchange, self.answer_ends_at(now, &exchange));
        let own = &mut self.exchanges[index];
        (own.stage, own.until) = (Stage::Silence, now + self.phy.ack_timeout);
        self.clear(now, exchange.from);
    }

    /// The receiver passes on the packets that are in order.
    #[inline(always)] // runs for every frame
    pub(super) fn pass_on(&mut self, link: u32, at: usize) {
        while let Some(packet) = self.links[link as usize].release() {
            self.outcomes.push(Outcome::Arrived { link, at: at as u32, packet });
        }
    }

    /// End of a broadcast: stations that heard no overlap receive it; there is no ACK.
    fn broadcast_ends(&mut self, now: Time, index: usize, rng: &mut dyn Rng) {
        let exchange = self.exchanges[index];
        self.overhear(&exchange, now);
        let link = exchange.link;
        let Some(packet) = self.links[link as usize].next().map(|waiting| waiting.packet) else {
            return;
        };
        let bytes = self.phy.framed(packet.bytes());
        let (from, mode) = (exchange.from, exchange.mode);
        let last = LastReception::default();
        let all = if self.all_hear { self.stations.len() } else { self.hearers[from].len() };
        for at in 0..all {
            let hearer = if self.all_hear { at } else { usize::from(self.hearers[from][at]) };
            if hearer == from {
                continue;
            }
            let received = self.received(from, hearer, 0.0, mode, bytes, &last);
            let clear = self.sensing(hearer).hears_clearly();
            if clear && (received >= 1.0 || rng.uniform() < received) {
                self.outcomes.push(Outcome::Arrived { link, at: hearer as u32, packet });
            }
        }
        self.clear(now, exchange.from);
        self.finish(now, index, true, rng);
    }

    /// The answer of an exchange ends.
    fn answer_ends(&mut self, now: Time, index: usize, rng: &mut dyn Rng) {
        let exchange = self.exchanges[index];
        let answered = self.arrives(&exchange, ACK_BYTES, rng);
        if let Some(to) = exchange.to {
            self.clear(now, to);
            if self.stations[to].together.is_none() {
                self.stations[to].sensing.leave();
                self.stations[to].settle(now, &mut self.sends_at[to], &self.phy);
            }
        }
        self.finish(now, index, answered, rng);
    }

    /// An exchange is over.
    #[inline(always)] // runs for every frame
    fn finish(&mut self, now: Time, index: usize, answered: bool, rng: &mut dyn Rng) {
        let exchange = self.exchanges[index];
        match index + 1 == self.exchanges.len() {
            true => self.exchanges.truncate(index), // mostly; moves nothing
            false => _ = self.exchanges.remove(index),
        }
        let from = exchange.from;
        let end = self.take_out(&exchange, answered);
        // the station has waited for the answer already
        let ifs = if answered { self.phy.difs() } else { Span::ZERO };
        self.stations[from].resolve(now, end == End::Lost, ifs, &self.phy, rng);
        if end == End::Done {
            self.refill(now, &exchange, rng);
        }
        self.sends_at[from] = self.stations[from].sends_at(now, &self.phy);
        if answered {
            self.gather(now); // it waits as long as all that heard the answer
        }
    }

    /// Packets of an exchange that are acknowledged or out of attempts have left.
    #[inline(always)] // runs for every frame
    pub(super) fn take_out(&mut self, exchange: &Exchange, answered: bool) -> End {
        let Exchange { from, to, link, packets, .. } = *exchange;
        let most = self.settings.attempts;
        let (mut acknowledged, mut failures) = (0, 0);
        let outcomes = &mut self.outcomes;
        self.links[link as usize].each_pending(packets, |waiting| {
            waiting.attempts += 1;
            let arrived = answered && (waiting.received || to.is_none());
            if arrived || waiting.attempts >= most {
                waiting.done = true;
                (acknowledged, failures) =
                    (acknowledged + u32::from(arrived), failures + u32::from(!arrived));
                let packet = waiting.packet;
                let lost = !arrived && !waiting.received;
                outcomes.push(Outcome::Left { link, packet, lost });
            }
        });
        self.arf[link as usize].told(answered, self.phy.modes.len());
        let station = &mut self.stations[from];
        station.waiting -= acknowledged + failures;
        station.counters.acknowledged += u64::from(acknowledged);
        station.counters.failures += u64::from(failures);
        station.counters.unanswered += u64::from(!answered);
        match acknowledged + failures {
            0 if answered => End::Again,
            0 => End::Lost,
            _ => End::Done,
        }
    }

    /// Packets of an exchange have left: its receiver passes on those that have waited for them,
    /// and the driver of its sender takes new ones.
    #[inline(always)] // runs for every frame
    pub(super) fn refill(&mut self, now: Time, exchange: &Exchange, rng: &mut dyn Rng) {
        let Exchange { from, to, link, .. } = *exchange;
        match to {
            Some(to) => self.pass_on(link, to),
            None => while self.links[link as usize].release().is_some() {},
        }
        self.links[link as usize].forget();
        self.fill(now, from, rng);
    }
}

impl<P: Packet> Channel<P> {
    /// Runs the events due at `now`, of any number of exchanges and stations.
    #[inline(never)] // keeps the code of a frame that nothing disturbs together
    fn wake_each(&mut self, now: Time, rng: &mut dyn Rng) {
        let mut at = 0;
        while let Some(exchange) = self.exchanges.get(at) {
            match exchange.stage {
                _ if exchange.until > now => at += 1,
                Stage::Data => self.data_ends(now, at, rng),
                Stage::Answer => self.answer_ends(now, at, rng),
                Stage::Silence => self.finish(now, at, false, rng),
            }
        }
        while let Some((station, at)) = self.together.take_before(now + Span(1), &self.phy) {
            self.part(station, at);
        }
        let ongoing = self.exchanges.len();
        let mut at = 0; // none is skipped: stations that part meanwhile begin later
        while let Some(place) = self.next_due(at, now) {
            self.begin(now, usize::from(self.apart[place]), rng);
            at = place + 1;
        }
        if ongoing < self.exchanges.len() {
            self.gather(now); // all sense the beginning, whatever they waited for before
            self.rejoin_alone(now);
        }
        self.next_wake = self.first();
    }
}

impl<P: Packet> SharedMedium<P> for Channel<P> {
    fn offer(&mut self, now: Time, link: u32, packet: P, rng: &mut dyn Rng) -> bool {
        let from = self.links[link as usize].from;
        let station = &mut self.stations[from];
        station.counters.offered += 1;
        if !station.host.offer(now, LinkPacket { link, packet }, rng) {
            station.counters.queue_drops += 1;
            return false;
        }
        self.fill(now, from, rng);
        self.schedule(now, from);
        true
    }

    /// Runs the events due at `now`. While an exchange is alone, the other stations wait, and at
    /// least an interframe space from its end on.
    fn wake(&mut self, now: Time, rng: &mut dyn Rng) {
        match self.alone {
            Some(Exchange { until, .. }) if until > now => {}
            Some(Exchange { stage: Stage::Data, .. }) => self.data_ends_alone(now, rng),
            Some(_) => self.answer_ends_alone(now, rng),
            None => {
                if !self.begins_alone(now, rng) {
                    self.wake_each(now, rng);
                }
            }
        }
    }

    fn next_wake(&self) -> Time {
        debug_assert_eq!(self.next_wake, self.first());
        self.next_wake
    }

    fn outcomes(&mut self) -> &mut Vec<Outcome<P>> {
        &mut self.outcomes
    }

    /// The counters of a station.
    fn counters(&self, station: usize) -> Counters {
        self.stations[station].counters
    }

    /// Packets in the host of a station and in its driver, including packets that are being sent.
    fn backlog(&self, station: usize) -> u32 {
        let station = &self.stations[station];
        station.waiting + station.host.len() as u32
    }

    /// Transmissions on the air are received with the power at the new positions. The stations that
    /// sense a transmission stay those that sensed its beginning.
    fn set_positions(&mut self, now: Time, positions: &[Position]) {
        let there = self.stations.iter().map(|station| station.settings.position);
        if there.eq(positions.iter().copied()) {
            return;
        }
        for (station, position) in self.stations.iter_mut().zip(positions) {
            station.settings.position = *position;
        }
        if self.settings.radio.is_some() {
            self.pairs.move_to(positions);
            self.stations.iter_mut().for_each(|station| station.moved = true);
            self.regroup(now);
            self.next_wake = self.first();
        }
    }

    fn common(&self) -> Option<Common> {
        Some(self.geometry().clone())
    }

    fn share(&mut self, common: &Common) {
        if let Ok(geometry) = common.clone().downcast() {
            self.share_geometry(&geometry);
        }
    }

    /// Whether half of all full packets arrive in both directions without interference.
    fn connected(&self, link: u32) -> Option<bool> {
        self.settings.radio?;
        let StationLink { from, to, .. } = self.links[link as usize];
        let heard = |to| self.success(from, to).min(self.success(to, from)) >= LEAST_SUCCESS;
        Some(to.is_some_and(heard))
    }
}
