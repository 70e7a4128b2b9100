//! The sender of a connection with coded paths, built around TCP's: on these paths TCP's segments
//! leave as combinations, and ACKs acknowledge degrees of freedom.

use super::{Coder, Coding};
use crate::endpoint::{PathReport, SendingEndpoint, Transmit};
use crate::tcp;
use control::{CongestionController, Decoding, Phase, See};
use units::Time;
use wire::{Ack, CodedAck, Combination, Data, Flags, Range, Sacks, Segment};

/// The receive window counts as nearly full when its free part is less than one in this many parts
/// of the buffer, or than two segments.
const NEARLY_FULL: u64 = 10;

/// A segment sent by a connection with coded paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sent {
    /// On a path without coding, or in a handshake.
    Plain(Data),
    /// On a coded path.
    Combined(Combination),
}

/// An answer of its receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// On a path without coding, or in a handshake.
    Plain(Ack),
    /// On a coded path.
    Coded(CodedAck),
}

/// The sending end of one connection under congestion control `E`.
#[derive(Debug)]
pub struct Sender<E> {
    tcp: tcp::Sender<E>,
    /// The coder of each path, if it is coded.
    coders: Box<[Option<Coder>]>,
}

impl<E: CongestionController> Sender<E> {
    /// The connection of `tcp`, which has sent nothing yet, with the coding of each of its paths.
    pub fn new(mut tcp: tcp::Sender<E>, codings: impl IntoIterator<Item = Option<Coding>>) -> Self {
        let coders: Box<[_]> = codings.into_iter().map(|it| it.map(Coder::new)).collect();
        assert_eq!(coders.len(), tcp.paths.len(), "a coding, or none, for each path");
        for (path, _) in tcp.paths.iter_mut().zip(&coders).filter(|(_, coder)| coder.is_some()) {
            // the receiver acknowledges data in the order in which it is seen
            path.recovery.sack = false;
        }
        Sender { tcp, coders }
    }

    /// The data of the connection in a combination that has just been polled, in the order of its
    /// coefficients.
    pub fn combined(&self, path: usize, combination: &Combination) -> Vec<Range> {
        self.coders[path].as_ref().map_or(Vec::new(), |coder| coder.ranges(combination))
    }

    /// Whether `path` is a backup: see [`tcp::Sender::set_backup`].
    pub fn set_backup(&mut self, path: usize, backup: bool) {
        self.tcp.set_backup(path, backup);
    }

    /// The application of a [`Source::Live`](crate::Source::Live) has written more.
    pub fn on_written(&mut self) {
        self.tcp.on_written();
    }

    /// The next combination that a path owes, if the host has room for it.
    fn poll_owed(&mut self, now: Time) -> Option<Transmit<Sent>> {
        let paths = self.coders.iter_mut().zip(self.tcp.paths.iter_mut()).enumerate();
        paths.filter(|(_, (_, own))| own.host_has_room()).find_map(|(path, (coder, own))| {
            let combination = coder.as_mut()?.poll(now)?;
            own.host.queued += u64::from(combination.len);
            Some(Transmit { path, segment: Sent::Combined(combination) })
        })
    }

    /// An acknowledgement of a coded path arrived.
    fn on_coded_ack(&mut self, now: Time, me: usize, ack: &CodedAck) {
        let path = &mut self.tcp.paths[me];
        let Some(coder) = self.coders[me].as_mut().filter(|_| path.standing.member) else {
            return;
        };
        if path.recovery.phase != Phase::Open {
            coder.on_congestion();
        }
        let before = path.board.una;
        let answer = coder.on_ack(ack, path.board.nxt);
        let advanced = answer.una > before;
        if advanced {
            self.tcp.control.on_delay(me, ack.transit);
            self.tcp.answered(now, me);
        }
        let path = &mut self.tcp.paths[me];
        if advanced || answer.innovative {
            let plain = Ack {
                ack: answer.una,
                data_ack: ack.data_ack,
                window_edge: ack.window_edge,
                echo: answer.echo,
                transit: ack.transit,
                sacks: Sacks::default(),
                flags: Flags::NONE,
            };
            path.on_ack(now, &plain, &self.tcp.settings, &mut self.tcp.control, me);
        }
        self.tcp.on_data_ack(ack.data_ack, ack.window_edge);
        self.ask_why(now, me, advanced, [answer.lost, answer.newly_lost]);
        self.tcp.refresh(me);
        self.tcp.refresh_siblings();
        let coders = &mut self.coders;
        let seen = |path: usize| coders[path].as_mut().map(Coder::take_seen).unwrap_or_default();
        self.tcp.select_paths(now, seen);
        self.tcp.look_whether_completed(now);
    }

    /// Reports the number of missing segments to the controller. If the controller takes them for
    /// congestion, recovery begins, and all of them are sent again.
    fn ask_why(&mut self, now: Time, me: usize, advanced: bool, [lost, newly_lost]: [u32; 2]) {
        let full = self.nearly_full();
        let path = &mut self.tcp.paths[me];
        let Some(coder) = self.coders[me].as_mut().filter(|_| path.recovery.phase == Phase::Open)
        else {
            return;
        };
        let (cycle, rtt) = (coder.cycle, path.rtt.latest());
        let decoding = Decoding { lost, newly_lost, advanced, rtt, cycle, full };
        if self.tcp.control.on_decoding(me, &decoding) && path.board.outstanding() > 0 {
            coder.repair();
            path.recover_now(now, &self.tcp.settings, &mut self.tcp.control, me);
        }
    }

    /// Whether the receive window limits sending: data neither in order nor in flight waits at the
    /// receiver (Xue et al., TVT 2017, §IV-C: the sending rate is limited by the receive buffer).
    fn nearly_full(&self) -> bool {
        let least = 2 * u64::from(self.tcp.settings.segment());
        let left = self.tcp.unsent.edge.saturating_sub(self.tcp.unsent.nxt);
        left < least.max(self.tcp.settings.options.first_buffer() / NEARLY_FULL)
    }
}

impl<E: CongestionController> SendingEndpoint for Sender<E> {
    type Sent = Sent;
    type Answer = Answer;

    fn on_answer(&mut self, now: Time, path: usize, answer: &Answer) {
        match answer {
            Answer::Plain(ack) => self.tcp.on_answer(now, path, ack),
            Answer::Coded(ack) => {
                self.tcp.unblock();
                self.on_coded_ack(now, path, ack);
            }
        }
    }

    /// Data seen but not decoded on a failed path may never be decoded: other paths may send it.
    fn on_deadline(&mut self, now: Time) {
        let coders = &mut self.coders;
        let seen = |path: usize| coders[path].as_mut().map(Coder::take_seen).unwrap_or_default();
        self.tcp.run_timers(now, seen);
    }

    fn on_sent(&mut self, path: usize, bytes: u32) {
        self.tcp.on_sent(path, bytes);
    }

    fn join(&mut self, path: usize) -> u64 {
        let first = self.tcp.join(path);
        self.coders[path].as_ref().map_or(first, |coder| u64::from(coder.next()))
    }

    fn leave(&mut self, path: usize) {
        let coder = &mut self.coders[path];
        self.tcp.remove(path, coder.as_mut().map(Coder::take_seen).unwrap_or_default());
        coder.iter_mut().for_each(Coder::restart);
    }

    /// Owed combinations go first; TCP's next segments leave a coded path as combinations.
    fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Sent>> {
        if let Some(combination) = self.poll_owed(now) {
            return Some(combination);
        }
        self.tcp.look_again(); // its owed combinations have entered the host's queue
        let Transmit { path, segment } = self.tcp.poll_transmit(now)?;
        match &mut self.coders[path] {
            Some(coder) if segment.len > 0 => {
                coder.on_segment(&segment);
                let own = &mut self.tcp.paths[path];
                own.host.queued = own.host.queued.saturating_sub(u64::from(segment.len));
                self.poll_owed(now)
            }
            _ => Some(Transmit { path, segment: Sent::Plain(segment) }),
        }
    }

    fn next_deadline(&self) -> Time {
        self.tcp.next_deadline()
    }

    fn start(&self) -> Time {
        self.tcp.start()
    }

    fn completed(&self) -> Option<Time> {
        self.tcp.completed()
    }

    fn paths(&self) -> usize {
        self.tcp.paths()
    }

    fn report(&self, path: usize) -> PathReport {
        self.tcp.report(path)
    }

    fn observe(&self, path: usize, see: See<'_>) {
        self.tcp.observe(path, see);
    }
}

impl From<Sent> for Segment {
    fn from(sent: Sent) -> Self {
        match sent {
            Sent::Plain(data) => data.into(),
            Sent::Combined(combination) => combination.into(),
        }
    }
}

impl TryFrom<Segment> for Sent {
    type Error = Segment;

    fn try_from(segment: Segment) -> Result<Self, Segment> {
        match segment {
            Segment::Data(data) => Ok(Sent::Plain(data)),
            Segment::Combination(combination) => Ok(Sent::Combined(combination)),
            other => Err(other),
        }
    }
}

impl From<Answer> for Segment {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Plain(ack) => ack.into(),
            Answer::Coded(ack) => ack.into(),
        }
    }
}

impl TryFrom<Segment> for Answer {
    type Error = Segment;

    fn try_from(segment: Segment) -> Result<Self, Segment> {
        match segment {
            Segment::Ack(ack) => Ok(Answer::Plain(ack)),
            Segment::CodedAck(ack) => Ok(Answer::Coded(ack)),
            other => Err(other),
        }
    }
}
