#![doc = include_str!("../README.md")]

use adapter::{Congestion, Engine, Event, FLOOR, Flight, Offered, time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use adapter::{ControllerSpec, Refused, Settings, Wanted, Window};

/// A factory of controllers, one for each connection. Connections may share it.
#[derive(Clone, Debug)]
pub struct Control {
    spec: ControllerSpec,
    settings: Settings,
}

impl Control {
    /// Controllers of this name, such as `reno` or `cubic`, or of the text of a law.
    ///
    /// # Errors
    /// If there is no such controller, if quinn does not tell what it needs, or if a setting is
    /// outside its range.
    pub fn named(controller: &str) -> Result<Arc<Control>, Refused> {
        Control::new(&controller.parse()?, Settings::default())
    }

    /// Controllers with these settings. Windows are in packets; QUIC's smallest window of two is
    /// kept (RFC 9002 §7.2).
    ///
    /// # Errors
    /// As [`Control::named`].
    pub fn new(spec: &ControllerSpec, settings: Settings) -> Result<Arc<Control>, Refused> {
        // quinn 0.11 paces by the window, whatever rate a controller shows.
        Refused::unless_fit(spec, &settings, 1, Offered::NOTHING)?;
        let settings = Settings { min_window: settings.min_window.max(FLOOR), ..settings };
        Ok(Arc::new(Control { spec: spec.clone(), settings }))
    }

    fn engine(&self) -> Engine {
        let mut engine = Engine::new(&self.spec, self.settings, 1).expect("it was found fit");
        engine.step(0, Event::Join);
        engine
    }
}

impl ControllerFactory for Control {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let (flight, engine) = (Flight::new(current_mtu), self.engine());
        let window = engine.window(0);
        Box::new(Path {
            base: now,
            initial: flight.bytes(window),
            flight,
            window,
            pacing: None,
            engine: Mutex::new(engine),
        })
    }
}

/// The controller of a connection, as quinn holds it.
#[derive(Debug)]
pub struct Path {
    base: Instant,
    flight: Flight,
    window: Window,
    /// Segments per second.
    pacing: Option<f64>,
    initial: u64,
    /// quinn wants controllers that threads share; the lock is never contended.
    engine: Mutex<Engine>,
}

impl Path {
    #[inline]
    fn step(&mut self, event: Event) {
        let engine = self.engine.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.window = engine.step(0, event);
        self.pacing = engine.pacing(0);
    }

    /// The window in packets, with its fraction.
    pub fn packets(&self) -> Window {
        self.window
    }
}

impl Controller for Path {
    fn on_sent(&mut self, _now: Instant, _bytes: u64, last_packet_number: u64) {
        self.flight.on_sent(last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let (now, sent) = (time::since(self.base, now), time::since(self.base, sent));
        let srtt = time::span(rtt.get());
        let (recovered, ack) = self.flight.on_ack(now, sent, bytes, None, app_limited, srtt);
        if recovered {
            self.step(Event::Recovered);
        }
        self.step(Event::Ack(ack));
    }

    fn on_end_acks(&mut self, _: Instant, _in_flight: u64, _: bool, largest: Option<u64>) {
        self.flight.on_end_acks(largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let event = Congestion {
            now: time::since(self.base, now),
            sent: time::since(self.base, sent),
            persistent: is_persistent_congestion,
            ecn: lost_bytes == 0, // as quinn tells of marks
        };
        if let Some(cause) = self.flight.on_congestion(event) {
            self.step(Event::Congestion(cause));
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(event) = self.flight.on_mtu(new_mtu, self.window) {
            self.step(event);
        }
    }

    fn window(&self) -> u64 {
        self.flight.bytes(self.window)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.flight.ssthresh(self.window);
        // quinn means bits per second.
        metrics.pacing_rate = self.pacing.map(|rate| self.flight.rate(rate).saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if engine.window(0) != self.window {
            engine.step(0, Event::Restart(self.window)); // a controller from outside begins anew
        }
        Box::new(Path { engine: Mutex::new(engine), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
