//! A connection over one ordered stream of bytes that something else carries, as MPTCP does.
//!
//! ```text
//!   responder: greeting ─►   ◄─ first message of Noise   second message ─►   records ◄─►
//! ```
//!
//! The greeting is random and part of the handshake: a first message that somebody has recorded
//! leads nowhere. A handshake takes effect when the initiator's first record arrives. Whatever
//! carries the bytes is not trusted: its end is not the end of a stream, and bytes that the peer
//! has not sealed end the connection.

use crate::connection::Closed;
use crate::limit::Limit;
use crate::mux::{Mux, Role};
use crate::noise::{self, Begun, FIRST_BYTES, SECOND_BYTES, TAG_BYTES};
use crate::records::{Cutter, Keys, MOST_PLAIN, PREFIX, record};
use crate::streams::{Gone, Read, Refused, StreamId, Streams};
use crate::violation::Violation;
use crate::{Entropy, PublicKey, SecretKey, Settings, draw};
use std::collections::VecDeque;
use units::{Span, Time};

/// Time for a handshake.
const HANDSHAKE: Span = Span::millis(5_000);
/// First messages that a gate reads in a second: they cost three Diffie-Hellman each.
const HANDSHAKES: u32 = 200;
const GREETING: usize = 16;
/// Both ends mix it and the greeting into the handshake.
const PROLOGUE: &[u8] = b"stream/1";
/// Least bytes of what a record seals, where a rate makes records short.
const LEAST_PLAIN: usize = 1400;
/// Time of the rate that a record may take: others' bytes wait behind it.
const TURN: Span = Span::millis(10);

fn prologue(greeting: &[u8]) -> Vec<u8> {
    [PROLOGUE, greeting].concat()
}

/// Where the connection stands.
#[derive(Debug)]
enum Stage {
    /// The initiator waits for the greeting.
    Opening(SecretKey, PublicKey),
    /// The initiator waits for the second message.
    Begun(Box<Begun>),
    /// The responder waits for the first message.
    Greeted([u8; GREETING]),
    /// The first message has arrived, and nobody has read it yet.
    Asked([u8; GREETING], Vec<u8>),
    /// The responder waits for the first record, which shows that the handshake was no copy.
    Answered(Keys),
    Established(Keys),
    Over,
}

/// One end of a connection over a stream of bytes.
#[derive(Debug)]
pub struct Channel {
    stage: Stage,
    peer: Option<PublicKey>,
    cutter: Cutter,
    mux: Mux,
    /// A message of the handshake that waits to be written.
    message: Option<Vec<u8>>,
    /// Frames that are sealed next.
    frames: VecDeque<u8>,
    keep_alive: Span,
    timeout: Span,
    /// Most bytes that a record seals.
    most: usize,
    limit: Option<Limit>,
    began: Time,
    /// When the peer's last record arrived, and this end's last one left.
    heard: Time,
    sent: Time,
    /// An empty record is to be sent, so that the peer hears something.
    due: bool,
    closed: Option<Closed>,
}

/// What a responder knows: its key, and the keys of the hosts that it serves.
#[derive(Debug)]
pub struct Gate {
    secret: SecretKey,
    allowed: Vec<PublicKey>,
    settings: Settings,
    /// First messages that may still be read in the second from `second` on.
    budget: u32,
    second: Time,
}

impl Gate {
    /// A gate for the hosts with the keys `allowed`.
    pub fn new(
        secret: SecretKey,
        allowed: impl IntoIterator<Item = PublicKey>,
        settings: Settings,
        now: Time,
    ) -> Self {
        let mut allowed: Vec<_> = allowed.into_iter().collect();
        allowed.sort_unstable();
        Gate { secret, allowed, settings, budget: HANDSHAKES, second: now }
    }

    /// The responding end for a stream that somebody has opened.
    pub fn receive(&self, now: Time, entropy: &mut dyn Entropy) -> Channel {
        let greeting: [u8; GREETING] = draw(entropy);
        let stage = Stage::Greeted(greeting);
        let mut channel = Channel::new(stage, Role::Responder, &self.settings, now);
        channel.message = Some(record(&greeting));
        channel
    }

    /// Bytes of the stream of `channel` arrived, in order. A first message from a key that is not
    /// allowed, or of no key at all, ends it.
    pub fn on_bytes(
        &mut self,
        now: Time,
        channel: &mut Channel,
        bytes: &[u8],
        entropy: &mut dyn Entropy,
    ) {
        channel.on_bytes(now, bytes, entropy);
        if let Stage::Asked(..) = channel.stage {
            self.answer(now, channel, entropy);
        }
    }

    fn answer(&mut self, now: Time, channel: &mut Channel, entropy: &mut dyn Entropy) {
        let Stage::Asked(greeting, message) = std::mem::replace(&mut channel.stage, Stage::Over)
        else {
            return;
        };
        if now.since(self.second) >= Span::millis(1000) {
            (self.second, self.budget) = (now, HANDSHAKES);
        }
        let may = self.budget > 0;
        self.budget = self.budget.saturating_sub(1);
        let asked = may
            .then(|| noise::read(&self.secret, &prologue(&greeting), &message, entropy))
            .flatten()
            .filter(|asked| self.allowed.binary_search(&asked.peer).is_ok());
        let answered = asked.and_then(|asked| Some((asked.peer, asked.reply(&[])?)));
        let Some((peer, (second, keys))) = answered else {
            return channel.end(Closed::Stranger);
        };
        channel.peer = Some(peer);
        channel.message = Some(record(&second));
        channel.stage = Stage::Answered(Keys::new(keys));
    }
}

impl Channel {
    /// The initiating end for a stream to `peer`.
    pub fn initiate(secret: SecretKey, peer: PublicKey, settings: &Settings, now: Time) -> Self {
        Channel::new(Stage::Opening(secret, peer), Role::Initiator, settings, now)
    }

    fn new(stage: Stage, role: Role, settings: &Settings, now: Time) -> Self {
        let turn = |rate: units::Rate| (rate.0 as f64 / 8.0 * TURN.seconds()) as usize;
        let most = settings.rate.map_or(MOST_PLAIN, turn).clamp(LEAST_PLAIN, MOST_PLAIN);
        Channel {
            stage,
            peer: None,
            cutter: Cutter::default(),
            mux: Mux::new(role, settings.streams, settings.pool),
            message: None,
            frames: VecDeque::new(),
            keep_alive: settings.keep_alive,
            timeout: settings.timeout,
            most,
            limit: settings.rate.map(Limit::new),
            began: now,
            heard: now,
            sent: now,
            due: false,
            closed: None,
        }
    }

    /// Whether the peer has shown its key, and streams may be opened.
    pub fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Established(_))
    }

    /// The peer's key, once it was shown.
    pub fn peer(&self) -> Option<PublicKey> {
        self.peer.filter(|_| self.is_established())
    }

    /// Why it has ended, if it has.
    pub fn closed(&self) -> Option<Closed> {
        self.closed
    }

    /// Streams that are open.
    pub fn streams(&self) -> usize {
        self.mux.len()
    }

    /// Ends it: all streams are gone. The peer learns it from the end of what carries the bytes.
    pub fn end(&mut self, why: Closed) {
        if self.closed.is_none() {
            (self.closed, self.stage, self.message) = (Some(why), Stage::Over, None);
            self.mux.end();
        }
    }

    /// Bytes of the stream arrived, in order. For a responder's end, [`Gate::on_bytes`] is to be
    /// called.
    pub fn on_bytes(&mut self, now: Time, mut bytes: &[u8], entropy: &mut dyn Entropy) {
        while self.closed.is_none() {
            let most = match self.stage {
                Stage::Opening(..) => GREETING,
                Stage::Greeted(_) => FIRST_BYTES,
                Stage::Begun(_) => SECOND_BYTES,
                // Nobody sends before the answer.
                Stage::Asked(..) if bytes.is_empty() => return,
                Stage::Asked(..) | Stage::Over => return self.end(Closed::Stranger),
                Stage::Answered(_) | Stage::Established(_) => MOST_PLAIN + TAG_BYTES,
            };
            match self.cutter.next(&mut bytes, most) {
                Ok(Some(message)) => self.on_message(now, message, entropy),
                Ok(None) => return,
                Err(_) => self.end(Closed::Violation(Violation::Record.says())),
            }
        }
    }

    fn on_message(&mut self, now: Time, message: Vec<u8>, entropy: &mut dyn Entropy) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Opening(secret, peer) => {
                let prologue = prologue(&message);
                let begun = noise::begin(&secret, &peer, &prologue, &[], entropy);
                let Some((begun, first)) = begun else { return self.end(Closed::Stranger) };
                (self.peer, self.message) = (Some(peer), Some(record(&first)));
                self.stage = Stage::Begun(Box::new(begun));
            }
            Stage::Greeted(greeting) => self.stage = Stage::Asked(greeting, message),
            Stage::Begun(begun) => {
                let Some((_, keys)) = begun.finish(&message) else {
                    return self.end(Closed::Stranger);
                };
                let mut keys = Keys::new(keys);
                self.message = Some(keys.seal(&[])); // the responder waits for it
                (self.stage, self.heard, self.sent) = (Stage::Established(keys), now, now);
            }
            Stage::Answered(keys) | Stage::Established(keys) => self.on_record(now, keys, &message),
            Stage::Asked(..) | Stage::Over => self.end(Closed::Stranger),
        }
    }

    fn on_record(&mut self, now: Time, mut keys: Keys, message: &[u8]) {
        let delivered = match keys.open(message) {
            Some(frames) => self.mux.on_bytes(&frames),
            None => Err(Violation::Record),
        };
        match delivered {
            Ok(()) => (self.stage, self.heard) = (Stage::Established(keys), now),
            Err(violation) => self.end(Closed::Violation(violation.says())),
        }
    }

    /// The next bytes to write, at most `room`; `None`: there are none, or no room for them.
    pub fn poll(&mut self, now: Time, room: usize) -> Option<Vec<u8>> {
        if self.message.as_ref().is_some_and(|message| message.len() <= room) {
            return self.message.take();
        }
        let Stage::Established(keys) = &mut self.stage else { return None };
        if self.message.is_some() || self.limit.as_mut().is_some_and(|limit| limit.holds(now)) {
            return None;
        }
        let space = room.checked_sub(PREFIX + TAG_BYTES)?.min(self.most);
        if space < LEAST_PLAIN {
            return None;
        }
        self.mux.fill(space, &mut self.frames);
        if self.frames.is_empty() && !self.due {
            return None;
        }
        let bytes = keys.seal(self.frames.make_contiguous());
        self.frames.clear();
        (self.sent, self.due) = (now, false);
        if let Some(limit) = &mut self.limit {
            limit.on_sent(now, bytes.len());
        }
        Some(bytes)
    }

    /// When to call [`Channel::on_deadline`], and to poll again.
    pub fn next_deadline(&self) -> Time {
        match self.stage {
            Stage::Over => Time::NEVER,
            Stage::Established(_) => {
                let held = self.limit.map_or(Time::NEVER, |limit| limit.next_deadline());
                let quiet = if self.due { Time::NEVER } else { self.sent + self.keep_alive };
                held.min(self.heard + self.timeout).min(quiet)
            }
            _ => self.began + HANDSHAKE,
        }
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Time) {
        let due = match self.stage {
            Stage::Over => false,
            Stage::Established(_) => now.since(self.heard) >= self.timeout,
            _ => now.since(self.began) >= HANDSHAKE,
        };
        self.due |= now.since(self.sent) >= self.keep_alive;
        if due {
            self.end(Closed::Timeout);
        }
    }
}

impl Streams for Channel {
    fn open(&mut self, request: &[u8]) -> Result<StreamId, Refused> {
        match self.is_established() {
            true => self.mux.open(request),
            false => Err(Refused::Closed),
        }
    }

    fn accept(&mut self) -> Option<(StreamId, Vec<u8>)> {
        self.mux.accept()
    }

    fn waiting(&self) -> usize {
        self.mux.waiting()
    }

    fn write(&mut self, stream: StreamId, bytes: &[u8]) -> Result<usize, Gone> {
        self.mux.write(stream, bytes)
    }

    fn finish(&mut self, stream: StreamId) {
        self.mux.finish(stream);
    }

    fn read(&mut self, stream: StreamId, bytes: &mut [u8]) -> Result<Read, Gone> {
        self.mux.read(stream, bytes)
    }

    fn reset(&mut self, stream: StreamId) {
        self.mux.reset(stream);
    }

    fn changed(&mut self) -> Option<StreamId> {
        self.mux.changed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counting(mut count: u8) -> impl FnMut(&mut [u8]) {
        move |bytes: &mut [u8]| {
            for byte in bytes {
                count = count.wrapping_mul(37).wrapping_add(11);
                *byte = count;
            }
        }
    }

    fn settings() -> Settings {
        Settings::new("lia".parse().unwrap())
    }

    fn keys() -> (SecretKey, SecretKey) {
        (SecretKey([1; 32]), SecretKey([2; 32]))
    }

    /// Both ends, and what was written towards each end and has not arrived.
    struct Ends {
        one: Channel,
        other: Channel,
        gate: Gate,
        up: Vec<u8>,
        down: Vec<u8>,
        now: Time,
    }

    impl Ends {
        /// The host with `allowed` may connect; the one that connects has the first of [`keys`].
        fn new(settings: [Settings; 2], allowed: PublicKey) -> Self {
            let ((client, host), now) = (keys(), Time(7));
            let [one, other] = settings;
            let gate = Gate::new(host.clone(), [allowed], other, now);
            let one = Channel::initiate(client, host.public(), &one, now);
            let other = gate.receive(now, &mut counting(1));
            Ends { one, other, gate, up: vec![], down: vec![], now }
        }

        fn established() -> Self {
            let mut ends = Ends::new([settings(), settings()], keys().0.public());
            ends.carry(usize::MAX);
            assert!(ends.one.is_established() && ends.other.is_established());
            assert_eq!(ends.one.peer(), Some(keys().1.public()));
            assert_eq!(ends.other.peer(), Some(keys().0.public()));
            ends
        }

        fn write(&mut self) {
            self.up.extend(std::iter::from_fn(|| self.one.poll(self.now, 1 << 20)).flatten());
            self.down.extend(std::iter::from_fn(|| self.other.poll(self.now, 1 << 20)).flatten());
        }

        /// Carries everything, in parts of at most `most` bytes.
        fn carry(&mut self, most: usize) {
            loop {
                self.write();
                let up: Vec<u8> = self.up.drain(..most.min(self.up.len())).collect();
                let down: Vec<u8> = self.down.drain(..most.min(self.down.len())).collect();
                if up.is_empty() && down.is_empty() {
                    return;
                }
                self.gate.on_bytes(self.now, &mut self.other, &up, &mut counting(2));
                self.one.on_bytes(self.now, &down, &mut counting(3));
            }
        }

        fn wait(&mut self, span: Span) {
            self.now = self.now + span;
            self.one.on_deadline(self.now);
            self.other.on_deadline(self.now);
        }
    }

    fn read_all(channel: &mut Channel, id: StreamId) -> Vec<u8> {
        let (mut all, mut part) = (vec![], [0; 5000]);
        while let Ok(Read::Bytes(count)) = channel.read(id, &mut part) {
            all.extend(&part[..count]);
        }
        all
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_every_stream_gets_its_own(
            most in 1usize..3000, lengths in prop::collection::vec(1usize..30_000, 1..5),
        ) {
            let mut ends = Ends::established();
            let content = |at: usize| vec![at as u8; lengths[at]];
            let ids: Vec<_> = (0..lengths.len()).map(|_| ends.one.open(b"there").unwrap()).collect();
            for (at, id) in ids.iter().enumerate() {
                prop_assert_eq!(ends.one.write(*id, &content(at)), Ok(lengths[at]));
            }
            ends.carry(most);
            for (at, id) in ids.iter().enumerate() {
                prop_assert_eq!(ends.other.accept(), Some((*id, b"there".to_vec())));
                prop_assert_eq!(read_all(&mut ends.other, *id), content(at));
            }
        }

        #[test]
        fn a_changed_byte_ends_the_connection_and_delivers_nothing(
            at: prop::sample::Index, change in 1u8..,
        ) {
            let mut ends = Ends::established();
            let id = ends.one.open(b"there").unwrap();
            ends.one.write(id, &[9; 20_000]).unwrap();
            ends.write();
            // Of the first record; more follow it.
            let at = at.index(MOST_PLAIN);
            ends.up[at] ^= change;
            let later = std::iter::repeat_with(|| {
                ends.one.write(id, &[9; 40_000]).unwrap();
                ends.one.poll(ends.now, 1 << 20)
            });
            let later: Vec<u8> = later.take(5).flatten().flatten().collect();
            ends.up.extend(later);
            ends.carry(usize::MAX);
            prop_assert!(matches!(ends.other.closed(), Some(Closed::Violation(_))));
            prop_assert_eq!(ends.other.accept(), None);
            prop_assert_eq!(ends.other.poll(ends.now, 1 << 20), None);
        }

        #[test]
        fn whatever_a_stranger_sends_the_gate_answers_nothing_and_holds_a_message_at_most(
            bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(96), any::<u8>()], 1..400), most in 1usize..99,
        ) {
            let mut ends = Ends::new([settings(), settings()], keys().0.public());
            ends.write();
            for part in bytes.chunks(most) {
                ends.gate.on_bytes(ends.now, &mut ends.other, part, &mut counting(2));
            }
            prop_assert_eq!(ends.other.poll(ends.now, 1 << 20), None);
            prop_assert!(!ends.other.is_established());
            ends.wait(HANDSHAKE);
            prop_assert!(ends.other.closed().is_some());
        }
    }

    #[test]
    fn a_key_that_is_not_allowed_gets_no_answer() {
        let mut ends = Ends::new([settings(), settings()], SecretKey([8; 32]).public());
        ends.carry(usize::MAX);
        assert_eq!(ends.other.closed(), Some(Closed::Stranger));
        assert!(!ends.one.is_established());
        ends.wait(HANDSHAKE);
        assert_eq!(ends.one.closed(), Some(Closed::Timeout));
    }

    #[test]
    fn a_host_without_the_responders_key_is_not_established() {
        let (now, (client, host)) = (Time(7), keys());
        let mut ends = Ends::established();
        ends.one = Channel::initiate(client, SecretKey([5; 32]).public(), &settings(), now);
        ends.other = ends.gate.receive(now, &mut counting(1));
        ends.carry(usize::MAX);
        assert!(!ends.one.is_established() && !ends.other.is_established());
        assert_ne!(host.public(), SecretKey([5; 32]).public());
    }

    #[test]
    fn a_recorded_handshake_leads_nowhere() {
        let mut ends = Ends::new([settings(), settings()], keys().0.public());
        let mut recorded = vec![];
        while !ends.other.is_established() {
            ends.write();
            recorded.extend(&ends.up);
            let (up, down) = (std::mem::take(&mut ends.up), std::mem::take(&mut ends.down));
            ends.gate.on_bytes(ends.now, &mut ends.other, &up, &mut counting(2));
            ends.one.on_bytes(ends.now, &down, &mut counting(3));
        }
        let mut again = ends.gate.receive(ends.now, &mut counting(77));
        assert!(again.poll(ends.now, 1 << 20).is_some(), "its own greeting");
        ends.gate.on_bytes(ends.now, &mut again, &recorded, &mut counting(4));
        assert_eq!(again.closed(), Some(Closed::Stranger));
        assert_eq!(again.poll(ends.now, 1 << 20), None);
    }

    #[test]
    fn first_messages_are_read_at_most_two_hundred_times_a_second() {
        let mut ends = Ends::established();
        let tries = |ends: &mut Ends| {
            let all = (0..HANDSHAKES + 50).filter(|_| {
                ends.other = ends.gate.receive(ends.now, &mut counting(1));
                ends.one = Channel::initiate(keys().0, keys().1.public(), &settings(), ends.now);
                (ends.up, ends.down) = (vec![], vec![]);
                ends.carry(usize::MAX);
                ends.other.is_established()
            });
            all.count()
        };
        ends.now = ends.now + Span::millis(1000);
        assert_eq!(tries(&mut ends), HANDSHAKES as usize);
        ends.now = ends.now + Span::millis(1000);
        assert_eq!(tries(&mut ends), HANDSHAKES as usize);
    }

    #[test]
    fn an_idle_connection_lasts_and_a_silent_peer_ends_it() {
        let mut ends = Ends::established();
        let id = ends.one.open(b"x").unwrap();
        for _ in 0..100 {
            ends.wait(Span::millis(2500));
            ends.carry(usize::MAX);
        }
        assert_eq!((ends.one.closed(), ends.other.closed()), (None, None));
        let deadline = ends.one.next_deadline();
        assert!(deadline > ends.now && deadline <= ends.now + Span::millis(5000));
        ends.wait(Span::millis(14_000));
        assert_eq!(ends.one.closed(), None);
        ends.wait(Span::millis(1_100));
        assert_eq!(ends.one.closed(), Some(Closed::Timeout));
        assert_eq!(ends.one.read(id, &mut [0]), Err(Gone));
        assert_eq!(ends.one.next_deadline(), Time::NEVER);
    }

    #[test]
    fn a_record_that_waits_for_room_does_not_keep_the_driver_awake() {
        let mut ends = Ends::established();
        ends.wait(Span::millis(6000));
        assert_eq!(ends.one.poll(ends.now, 0), None);
        assert!(ends.one.next_deadline() > ends.now);
        assert!(ends.one.poll(ends.now, 1 << 20).is_some());
    }

    #[test]
    fn a_rate_limits_the_bytes_and_makes_records_short() {
        let slow = Settings { rate: Some(units::Rate(4_000_000)), ..settings() };
        let mut ends = Ends::new([slow, settings()], keys().0.public());
        ends.carry(usize::MAX);
        let id = ends.one.open(b"x").unwrap();
        let (from, mut sent) = (ends.now, 0);
        while ends.now.since(from) < Span::millis(1000) {
            let _ = ends.one.write(id, &[0; 65_536]);
            ends.write();
            sent += ends.up.len();
            assert!(ends.up.len() <= 3 * (5000 + PREFIX + TAG_BYTES), "{}", ends.up.len());
            ends.carry(usize::MAX);
            let other = &mut ends.other;
            if let Some((own, _)) = other.accept() {
                assert_eq!(own, id);
            }
            read_all(other, id);
            ends.carry(usize::MAX);
            let step = ends.one.next_deadline().since(ends.now).max(Span::millis(1));
            ends.wait(step);
        }
        // A burst, and a record that is longer than what is earned.
        assert!((480_000..=515_000).contains(&sent), "{sent}");
    }
}
