//! One path of a group, as noq holds it.

use crate::group::Group;
use adapter::{AckEnd, Congestion, Event, Flight, Holder, Rates, Span, Window, time};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The controller of one path: what noq's callbacks tell goes to the group, and the window that
/// comes back is kept, so that noq reads it without the lock.
#[derive(Debug)]
pub struct Path {
    group: Arc<Group>,
    holder: Holder,
    base: Instant,
    flight: Flight,
    /// For a controller that is told delivery rates.
    rates: Option<Box<Rates>>,
    /// The stack's smoothed round trip; zero before the first acknowledgement.
    srtt: Span,
    window: Window,
    /// The window and its ssthresh in bytes: noq asks for them several times for each packet.
    bytes: u64,
    ssthresh: Option<u64>,
    /// Segments per second.
    pacing: Option<f64>,
    /// Whether a step of another path may move this window.
    moved_by_siblings: bool,
    initial: u64,
}

impl Path {
    pub(crate) fn new(group: Arc<Group>, now: Instant, mtu: u16) -> Self {
        let joined = group.lock().join();
        let Some((holder, window)) = joined else {
            return Path::new(group.alone(), now, mtu);
        };
        let flight = Flight::new(mtu);
        let (base, initial) = (group.base(now), flight.bytes(window));
        Path {
            rates: group.rates(),
            moved_by_siblings: group.moves_siblings(),
            group,
            holder,
            base,
            flight,
            srtt: Span::ZERO,
            window,
            bytes: initial,
            ssthresh: flight.ssthresh(window),
            pacing: None,
            initial,
        }
    }

    /// The number of the path in its group.
    pub fn slot(&self) -> usize {
        self.holder.slot
    }

    /// The group that controls it: the connection's, or one of its own if there was no slot.
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// [`Controller::on_ack`] for callers without noq's estimator, with the smoothed round trip.
    #[inline]
    pub fn acknowledged(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        srtt: Duration,
    ) {
        let (now, sent) = (time::since(self.base, now), time::since(self.base, sent));
        let srtt = time::span(srtt);
        self.srtt = srtt;
        if let Some(rates) = &mut self.rates {
            rates.on_ack(now, sent, bytes);
        }
        let (recovered, ack) = self.flight.on_ack(now, sent, bytes, Some(pn), app_limited, srtt);
        if recovered {
            self.step(Event::Recovered);
        }
        self.step(Event::Ack(ack));
    }

    #[inline]
    fn step(&mut self, event: Event) {
        let mut slots = self.group.lock();
        // Without an answer a copy of this controller speaks for the path.
        if let Some(window) = slots.step(self.holder, event) {
            self.pacing = slots.engine().pacing(self.holder.slot);
            drop(slots);
            self.keep(window);
        }
    }

    #[inline]
    fn keep(&mut self, window: Window) {
        self.window = window;
        (self.bytes, self.ssthresh) = (self.flight.bytes(window), self.flight.ssthresh(window));
    }

    /// The window now; siblings may have moved it.
    #[inline]
    fn now(&self) -> Window {
        match self.moved_by_siblings {
            false => self.window,
            true => self.group.lock().window(self.holder).unwrap_or(self.window),
        }
    }
}

impl ControllerFactory for Group {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Path::new(self, now, current_mtu))
    }
}

impl Controller for Path {
    fn on_packet_sent(&mut self, now: Instant, _bytes: u16, pn: u64) {
        self.flight.on_sent(pn);
        if let Some(rates) = &mut self.rates {
            rates.on_sent(time::since(self.base, now));
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acknowledged(now, sent, bytes, pn, app_limited, rtt.get());
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        let rtt = self.flight.on_end_acks(largest);
        let Some(rates) = &mut self.rates else {
            return;
        };
        let (now, srtt) = (time::since(self.base, now), self.srtt);
        let (mtu, phase) = (self.flight.mtu(), self.flight.phase());
        let end = AckEnd { now, in_flight, app_limited, rtt, srtt, mtu, phase };
        if let Some(delivered) = rates.on_end_acks(end) {
            self.step(Event::Delivered(delivered));
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if let Some(rates) = &mut self.rates {
            rates.on_lost(lost_bytes);
        }
        let event = Congestion {
            now: time::since(self.base, now),
            sent: time::since(self.base, sent),
            persistent: is_persistent_congestion,
            ecn: is_ecn,
        };
        if let Some(cause) = self.flight.on_congestion(event) {
            self.step(Event::Congestion(cause));
        }
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, _pn: u64, _now: Instant) {
        if lost_bytes == 0 {
            self.flight.on_uncounted_loss();
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        if self.flight.on_spurious() {
            self.step(Event::Undo);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(event) = self.flight.on_mtu(new_mtu, self.now()) {
            self.step(event);
        }
        self.keep(self.window);
    }

    fn window(&self) -> u64 {
        match self.moved_by_siblings {
            false => self.bytes,
            true => self.flight.bytes(self.now()),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        (metrics.congestion_window, metrics.ssthresh) = match self.moved_by_siblings {
            false => (self.bytes, self.ssthresh),
            true => {
                let window = self.now();
                (self.flight.bytes(window), self.flight.ssthresh(window))
            }
        };
        metrics.pacing_rate = self.pacing.map(|rate| self.flight.rate(rate));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let window = self.now();
        let holder = self.group.lock().copy(self.holder, window);
        let (group, rates) = (self.group.clone(), self.rates.clone());
        let mut copy = Path { group, holder, rates, ..*self };
        copy.keep(window);
        Box::new(copy)
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.group.lock().leave(self.holder);
    }
}
