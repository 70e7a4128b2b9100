//! What a sender does on coded paths: its TCP's segments leave as combinations, and what is acknowledged are
//! degrees of freedom.

use super::{Sender, Transmit};
use crate::coded::{Coder, Coding};
use control::{CongestionController, Decoding, Phase};
use units::Time;
use wire::{Ack, Data, Flags, Range, Sacks};

/// The receive window leaves hardly anything when less than one part in so many of the buffer is left of it, or than
/// two segments.
const NEARLY_FULL: u64 = 10;

impl<E: CongestionController> Sender<E> {
    /// `path` is coded from now on; nothing has been sent on it yet.
    pub fn set_coding(&mut self, path: usize, coding: Coding) {
        self.special = true;
        self.paths[path].coder = Some(Box::new(Coder::new(coding)));
        self.paths[path].sack = false; // what arrives is acknowledged in the order in which it is seen
    }

    /// The data of the connection that the combination `data`, which has just been polled, is made of, in the order
    /// of its coefficients.
    pub fn combined(&self, path: usize, data: &Data) -> Vec<Range> {
        self.paths[path].coder.as_ref().map_or(Vec::new(), |coder| coder.ranges(data))
    }

    /// The next combination that some path owes.
    pub(super) fn poll_coded(&mut self, now: Time) -> Option<Transmit> {
        self.paths.iter_mut().enumerate().find_map(|(me, path)| {
            if path.coder.is_none() || path.queued >= path.host_limit() {
                return None;
            }
            let data = path.coder.as_mut()?.poll(now)?;
            path.queued += u64::from(data.len);
            Some(Transmit { path: me, data })
        })
    }

    /// What TCP sends leaves a coded path as combinations.
    pub(super) fn encode(&mut self, now: Time, transmit: Transmit) -> Option<Transmit> {
        let path = &mut self.paths[transmit.path];
        match &mut path.coder {
            Some(coder) if transmit.data.len > 0 => {
                coder.on_segment(&transmit.data);
                path.queued = path.queued.saturating_sub(u64::from(transmit.data.len));
                self.poll_coded(now)
            }
            _ => Some(transmit),
        }
    }

    /// An acknowledgement of a coded path arrived.
    pub(super) fn on_coded_ack(&mut self, now: Time, me: usize, ack: &Ack) {
        let path = &mut self.paths[me];
        let Some(coder) = path.coder.as_mut().filter(|_| path.member) else {
            return;
        };
        let before = path.board.una;
        let answer = coder.on_ack(ack, path.board.nxt);
        let advanced = answer.una > before;
        if advanced {
            self.control.on_delay(me, ack.transit.seconds());
        }
        if advanced || answer.innovative {
            let (sacks, flags) = (Sacks::default(), Flags::NONE);
            let plain = Ack { ack: answer.una, echo: answer.echo, sacks, flags, ..*ack };
            path.on_ack(now, &plain, &self.settings, &mut self.control, me);
        }
        self.data_una = self.data_una.max(ack.data_ack.min(self.data_nxt));
        self.edge = self.edge.max(ack.window_edge);
        self.ask_why(now, me, advanced, [answer.lost, answer.newly_lost]);
        self.refresh(me);
        self.refresh_siblings();
        self.look_whether_completed(now);
    }

    /// Control learns of what is missing; if it finds congestion in it, recovery begins, and all of it is sent anew.
    fn ask_why(&mut self, now: Time, me: usize, advanced: bool, [lost, newly_lost]: [u32; 2]) {
        let full = self.nearly_full();
        let path = &mut self.paths[me];
        let Some(coder) = path.coder.as_mut().filter(|_| path.phase == Phase::Open) else {
            return;
        };
        let (cycle, rtt_ns) = (coder.cycle, path.rtt.latest().0);
        let decoding = Decoding { lost, newly_lost, advanced, rtt_ns, cycle, full };
        if self.control.on_decoding(me, &decoding) && path.board.outstanding() > 0 {
            coder.repair();
            path.recover_now(now, &self.settings, &mut self.control, me);
        }
    }

    /// Whether the receive window hardly lets anything out: what is neither in order nor in flight waits at the receiver
    /// (Xue et al., TVT 2017, §IV-C: the sending rate is limited by the receive buffer).
    fn nearly_full(&self) -> bool {
        let least = 2 * u64::from(self.settings.segment);
        let left = self.edge.saturating_sub(self.data_nxt);
        left < least.max(self.settings.receive_buffer / NEARLY_FULL)
    }
}
