//! Limits on sending of a path, and the record of sent segments.

use super::Path;
use crate::options::Idle;
use crate::settings::SenderSettings;
use control::{CongestionController, Phase, SegmentRate, Window};
use units::{Span, Time};
use wire::{Flags, Range};

impl Path {
    /// Applies the window set by control; returns whether it has changed.
    pub(crate) fn refresh(&mut self, cwnd: f64, settings: &SenderSettings) -> bool {
        let window = u64::from(cwnd as u32) * u64::from(settings.segment());
        std::mem::replace(&mut self.window, window) != window
    }

    /// Whether control may pace the path.
    pub(crate) fn is_paced(&self) -> bool {
        self.tracking.is_some()
    }

    /// Applies control's pacing rate in segments per second.
    pub(crate) fn set_pace(&mut self, rate: Option<SegmentRate>, settings: &SenderSettings) {
        if let Some(tracking) = &mut self.tracking {
            let bytes = rate.map(|rate| rate.0 * f64::from(settings.segment()));
            tracking.pacing.set_rate(bytes);
        }
    }

    /// When pacing permits the next segment.
    fn next_send(&self) -> Time {
        self.tracking.as_ref().map_or(Time::ZERO, |tracking| tracking.pacing.next_send)
    }

    /// Updates whether pacing holds the path back.
    pub(crate) fn look_at_pace(&mut self, now: Time) {
        self.standing.usable = self.standing.member
            && self.established()
            && !self.suspended()
            && self.next_send() <= now;
    }

    /// Whether it belongs to the connection, is established and has not failed.
    pub(crate) fn working(&self) -> bool {
        self.standing.member && self.established() && !self.suspended() && !self.standing.failed
    }

    /// Whether the byte `dsn` of the connection may be outstanding on this path: runs of bytes are
    /// forgotten as a whole.
    pub(crate) fn holds(&self, dsn: u64) -> bool {
        let sent = Range { start: self.board.una, end: self.board.nxt };
        self.mapping.as_ref().is_some_and(|mapping| mapping.holds(dsn, sent))
    }

    /// Whether the byte `dsn` of the connection is not acknowledged on this path, which sent it.
    pub(crate) fn has_outstanding(&self, dsn: u64) -> bool {
        let sent = Range { start: self.board.una, end: self.board.nxt };
        let mut data = self.mapping.iter().flat_map(|mapping| mapping.data_ranges(sent));
        data.any(|range| (range.start..range.end).contains(&dsn))
    }

    /// When pacing releases the path, if it holds it back.
    pub(crate) fn held_until(&self) -> Option<Time> {
        let held = self.established() && !self.suspended() && !self.standing.usable;
        (self.standing.member && held).then(|| self.next_send())
    }

    /// Whether a segment of `bytes` may be sent: by the window, by membership and by the host.
    #[inline(always)] // runs for every ACK in a recovery
    pub(crate) fn has_space(&self, bytes: u64, settings: &SenderSettings) -> bool {
        self.may_use_host() && self.window_has_room(bytes, settings)
    }

    /// Whether the path belongs to the connection, is not held back, and its part of the host's
    /// queue has room.
    pub(crate) fn may_use_host(&self) -> bool {
        self.standing.usable && self.host_has_room()
    }

    /// TCP Small Queues since 2013: the host may hold the data that the path sends in `time` at
    /// Linux' pacing rate, which is twice the window in a round trip in slow start and 1.2 times
    /// beyond (`tcp_small_queue_check`, `tcp_update_pacing_rate`).
    pub(crate) fn limit_host(&mut self, time: Span, window: Window, settings: &SenderSettings) {
        let srtt = self.rtt.srtt();
        if srtt == Span::ZERO {
            return;
        }
        let ratio = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let bytes = ratio * self.window as f64 * time.seconds() / srtt.seconds();
        let least = 2 * u64::from(settings.segment());
        let most = settings.options.small_queue.map_or(u64::MAX, |limit| limit.0);
        self.host.limit = (bytes as u64).max(least).min(most);
    }

    /// Whether the host may queue more of its data.
    pub(crate) fn host_has_room(&self) -> bool {
        self.host.queued < self.host.limit
    }

    /// `bytes` have left the host's queue.
    #[inline] // runs for every segment on a medium
    pub(crate) fn leave_host(&mut self, bytes: u32) {
        self.host.queued = self.host.queued.saturating_sub(u64::from(bytes));
    }

    /// `bytes` have left the host's queue, and may have made room.
    #[inline] // runs for every segment on a medium
    pub(crate) fn left_host(&mut self, bytes: u32, settings: &SenderSettings) {
        self.leave_host(bytes);
        if self.host.limit != u64::MAX {
            self.look_for_room(settings);
        }
    }

    /// Updates whether the path could carry new data. Returns the bytes that recovery or the window
    /// allows.
    #[inline(always)] // runs for every segment
    pub(crate) fn look_for_room(&mut self, settings: &SenderSettings) -> u64 {
        let room = self.room(settings);
        let enough = room >= u64::from(settings.segment());
        self.standing.cwnd_limited = !enough;
        self.standing.ready = enough && self.may_use_host();
        room
    }

    /// Whether recovery or the window allows `bytes` more.
    #[inline(always)] // runs for every ACK
    pub(crate) fn window_has_room(&self, bytes: u64, settings: &SenderSettings) -> bool {
        self.room(settings) >= bytes
    }

    /// Whether recovery or the window allows new data, or lost data, of which less than a segment
    /// may be left.
    #[inline(always)] // runs for every ACK that is not usual
    pub(crate) fn could_send(&self, settings: &SenderSettings) -> bool {
        let room = self.room(settings);
        room >= u64::from(settings.segment()) || (room > 0 && self.has_lost())
    }

    /// Bytes that recovery or the window allows now.
    #[inline(always)] // runs for every ACK
    fn room(&self, settings: &SenderSettings) -> u64 {
        if self.recovery.phase == Phase::Recovery && settings.prr {
            return self.recovery.prr.as_ref().map_or(0, |prr| prr.allowance());
        }
        // Limited transmit (RFC 3042): segments reported by duplicate ACKs make room for new data.
        let in_flight =
            match settings.options.limited_transmit || self.recovery.phase != Phase::Open {
                true => self.board.pipe(),
                false => self.board.outstanding(),
            };
        self.window_beyond(in_flight)
    }

    /// Bytes of the window that are left over with this many in flight.
    #[inline(always)] // runs for every segment
    pub(in crate::tcp) fn window_beyond(&self, in_flight: u64) -> u64 {
        self.window.saturating_sub(in_flight)
    }

    /// Whether it has lost data that it has not sent again.
    #[inline(always)] // runs for every segment
    pub(crate) fn has_lost(&self) -> bool {
        self.board.has_lost()
    }

    /// The next segment to send again, if a loss is known.
    #[inline] // runs for every ACK
    pub(crate) fn next_retransmission(&self, segment: u32) -> Option<Range> {
        let gap = self.board.next_lost()?;
        if self.tracking.as_ref().is_some_and(|tracking| tracking.holds_back()) {
            return None;
        }
        self.segment_of(gap, segment)
    }

    /// The first segment of a retransmitted range; a segment carries one mapping.
    fn segment_of(&self, range: Range, segment: u32) -> Option<Range> {
        let mut len = range.len().min(u64::from(segment));
        if let Some(mapping) = &self.mapping {
            len = len.min(mapping.find(range.start)?.1);
        }
        Some(Range { start: range.start, end: range.start + len })
    }

    /// The data sequence number of an outstanding byte.
    pub(crate) fn dsn(&self, seq: u64) -> Option<u64> {
        match &self.mapping {
            Some(mapping) => Some(mapping.find(seq)?.0),
            None => Some(seq),
        }
    }

    /// Whether a tail-loss probe is due.
    pub(crate) fn probe_due(&self) -> bool {
        let probe = self.tracking.as_ref().and_then(|tracking| tracking.probe.as_ref());
        probe.is_some_and(|probe| probe.due)
    }

    /// F-RTO waits for the answer to new data, but there is no new data to send (RFC 5682 §2.1 step
    /// 2b): it gives up. Returns whether it did.
    pub(crate) fn give_up_waiting(&mut self) -> bool {
        let nothing_out = self.board.pipe() == 0;
        let Some(tracking) = self.tracking.as_mut().filter(|tracking| tracking.holds_back()) else {
            return false;
        };
        if nothing_out && let Some(frto) = &mut tracking.frto {
            frto.forget();
        }
        nothing_out
    }

    /// A tail-loss probe was sent; `again`: it was the last segment.
    pub(crate) fn on_probed(&mut self, now: Time, again: bool) {
        self.tally.probes += 1;
        let nxt = self.board.nxt;
        if let Some(probe) = self.tracking.as_mut().and_then(|tracking| tracking.probe.as_mut()) {
            probe.on_sent(nxt, again);
        }
        self.arm(now); // for the timeout: no second probe follows an unanswered one
    }

    /// The application has nothing to send.
    pub(crate) fn on_app_limited(&mut self) {
        if self.standing.cwnd_limited {
            return; // its window is the limit
        }
        let pipe = self.board.pipe();
        if let Some(tracking) = &mut self.tracking {
            tracking.on_app_limited(pipe);
        }
    }

    /// The segment of a tail-loss probe without new data: the last one (RFC 8985 §7.3).
    pub(crate) fn last_segment(&self, segment: u32) -> Option<Range> {
        self.segment_of(self.tracking.as_ref()?.last_segment()?, segment)
    }

    /// A segment was sent at `now`.
    #[inline(always)] // runs for every segment
    pub(in crate::tcp) fn note_sent(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// A segment was handed over for transmission.
    #[inline(always)] // runs for every segment
    pub(crate) fn on_transmit(&mut self, now: Time, range: Range, settings: &SenderSettings) {
        let bytes = range.len();
        self.host.queued += bytes;
        self.last_sent = now;
        if self.recovery.phase == Phase::Recovery
            && let Some(prr) = &mut self.recovery.prr
        {
            prr.on_sent(bytes);
        }
        if self.timer.deadline == Time::NEVER {
            self.restart_timer(now, settings);
        }
        if let Some(tracking) = &mut self.tracking {
            tracking.on_transmit(now, range, self.board.pipe().saturating_sub(bytes));
            tracking.pacing.on_sent(now, bytes);
            self.arm(now);
        }
    }

    /// The ECN bits of the next new data (RFC 3168 §6.1.2); a retransmission has no ECN bits
    /// (§6.1.5).
    pub(crate) fn ecn(&mut self) -> Flags {
        let Some(ecn) = self.tracking.as_mut().and_then(|tracking| tracking.ecn.as_mut()) else {
            return Flags::NONE;
        };
        match std::mem::take(&mut ecn.reduced) {
            false => Flags::CAPABLE,
            true => Flags::CAPABLE.with(Flags::REDUCED),
        }
    }

    /// New data is about to be sent: if the path was idle for longer than its timeout, its window
    /// may be outdated. Returns whether it was changed.
    pub(crate) fn restart_after_idle(
        &mut self,
        now: Time,
        settings: &SenderSettings,
        control: &mut impl CongestionController,
        me: usize,
    ) -> bool {
        let rto = self.rtt.rto(&settings.options, self.timer.backoff);
        let idle = now.since(self.last_sent);
        if self.board.outstanding() > 0 || self.last_sent == Time::ZERO || idle <= rto {
            return false;
        }
        let Window { cwnd, ssthresh } = control.window(me);
        let restart = settings.options.initial_window.min(cwnd);
        let window = match settings.options.idle {
            Idle::Keep => return false,
            Idle::Restart => Window { cwnd: restart, ssthresh },
            Idle::Decay => {
                let halvings = (idle.0 / rto.0.max(1)).min(64);
                let decayed = (0..halvings).fold(cwnd, |cwnd, _| cwnd / 2.0);
                Window { cwnd: decayed.max(restart), ssthresh: ssthresh.max(0.75 * cwnd) }
            }
        };
        control.restart(me, window);
        true
    }

    /// Data ranges sent on this path that have not arrived and have not been offered to other paths
    /// before.
    pub(crate) fn offer(&mut self) -> Vec<Range> {
        let Some(mapping) = &mut self.mapping else {
            return Vec::new();
        };
        let offered = std::mem::replace(&mut mapping.offered, self.board.nxt);
        let beyond = |range: Range| Range { start: range.start.max(offered), end: range.end };
        let missing = self.board.missing().map(beyond).filter(|range| !range.is_empty());
        missing.flat_map(|range| mapping.data_ranges(range)).collect()
    }
}
