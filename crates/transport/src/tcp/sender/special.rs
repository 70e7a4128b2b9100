//! What the common case does without, and is spared the questions for: see
//! [`SenderSettings::special`](crate::SenderSettings).

use super::Sender;
use crate::endpoint::Transmit;
use crate::scheduler::{Choice, Schedule};
use crate::settings::Idle;
use crate::tcp::path::Path;
use control::CongestionController;
use units::{Span, Time};
use wire::{Ack, Data, Flags, Range};

impl<E: CongestionController> Sender<E> {
    /// An ACK of `path` arrived, whatever is on.
    #[inline(never)]
    pub(super) fn on_special_ack(&mut self, now: Time, path: usize, ack: &Ack) {
        if ack.flags.has(Flags::SYN) || ack.flags.has(Flags::CONFIRM) {
            return self.on_answer(now, path, ack);
        }
        if ack.ack > self.paths[path].board.una {
            self.control.on_delay(path, ack.transit);
        }
        self.on_plain_ack(now, path, ack);
        if self.settings.host_time != Span::ZERO {
            self.paths[path].limit_host(self.control.window(path), &self.settings);
        }
        self.refresh_siblings();
    }

    /// An answer of a handshake arrived.
    fn on_answer(&mut self, now: Time, path: usize, ack: &Ack) {
        if self.paths[path].member && self.paths[path].on_answer(now, ack) {
            self.opened = true;
            self.unsent.edge = self.unsent.edge.max(ack.window_edge);
        }
    }

    /// If control may have moved the windows of all paths, reads them.
    pub(crate) fn refresh_siblings(&mut self) {
        if self.control.needs().siblings {
            (0..self.paths.len()).for_each(|me| self.refresh(me));
        }
    }

    /// The next segment to send, whatever is on.
    #[inline(never)]
    pub(super) fn poll_special(&mut self, now: Time) -> Option<Transmit<Data>> {
        self.prepare(now)
            .or_else(|| self.poll_retransmission(now))
            .or_else(|| {
                let (me, range) = self.reinjection().or_else(|| self.special_data(now))?;
                Some(self.send(now, me, range))
            })
            .or_else(|| self.give_up_waiting(now))
            .or_else(|| self.after_stall(now))
    }

    /// The next data and its path, or help for the path that the receive window waits for.
    fn special_data(&mut self, now: Time) -> Option<(usize, Range)> {
        self.look_for_room();
        match self.choose(now)? {
            Choice::Range(me, range) => Some((me, range)),
            Choice::New(me) => match self.next_data(now) {
                Some(range) => {
                    self.scheduler.on_new(me, range);
                    Some((me, range))
                }
                None if self.paths.len() > 1 && !self.starved => self.opportunistic(now, me),
                None => None,
            },
        }
    }

    /// New data is about to be sent on `me`: its window may be too old, and it has ECN bits.
    #[inline(never)]
    pub(super) fn before_sending(&mut self, now: Time, me: usize) -> Flags {
        let path = &mut self.paths[me];
        if self.settings.idle != Idle::Keep
            && path.restart_after_idle(now, &self.settings, &mut self.control, me)
        {
            path.refresh(self.control.window(me).cwnd, self.settings.segment);
            self.refresh_siblings();
        }
        let path = &mut self.paths[me];
        path.ecn(&self.settings)
    }

    /// What a handshake sends, which paths pacing holds back, and a probe that is due.
    fn prepare(&mut self, now: Time) -> Option<Transmit<Data>> {
        self.open_closed();
        for (me, path) in self.paths.iter_mut().enumerate() {
            path.look_at_pace(now);
            if let Some(flags) = path.poll_opening(now, &self.settings) {
                let (seq, dsn) = (path.board.nxt, self.unsent.nxt);
                return Some(Transmit {
                    path: me,
                    segment: Data { seq, dsn, len: 0, stamp: now, flags },
                });
            }
        }
        self.poll_probe(now)
    }

    /// If nothing is outstanding and nothing could be sent, what control then lets out.
    fn after_stall(&mut self, now: Time) -> Option<Transmit<Data>> {
        let out = self.paths.iter().any(|path| path.board.outstanding() > 0);
        if out || self.starved || !self.control.needs().siblings {
            return None;
        }
        self.control.on_stalled();
        self.refresh_siblings();
        let (me, range) = self.special_data(now)?;
        Some(self.send(now, me, range))
    }

    /// If a path held retransmissions back in vain, the first of them.
    fn give_up_waiting(&mut self, now: Time) -> Option<Transmit<Data>> {
        match self.paths.iter_mut().any(Path::give_up_waiting) {
            true => self.poll_retransmission(now),
            false => None,
        }
    }

    /// A tail-loss probe that is due: new data if there is any, whatever the window says, or the
    /// last segment again (RFC 8985 §7.3).
    fn poll_probe(&mut self, now: Time) -> Option<Transmit<Data>> {
        let me = self.paths.iter().position(|path| path.probe_due())?;
        let new = self.next_data(now);
        let transmit = match new {
            Some(range) => {
                self.scheduler.on_new(me, range);
                self.send(now, me, range)
            }
            None => {
                let range = self.paths[me].last_segment(self.settings.segment)?;
                let dsn = self.paths[me].dsn(range.start)?;
                self.resend(now, me, range, dsn)
            }
        };
        self.paths[me].on_probed(now, new.is_none());
        Some(transmit)
    }
}
