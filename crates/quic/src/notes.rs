//! What becomes of each packet, for a log. The stack tells it to the controllers of its paths, and
//! to nobody else: its own qlog does not say on which path a packet was lost. So a log puts an
//! observer around each controller, which passes every call on.

use crate::control::Factory;
use crate::headers::{frame_bytes, last_packet};
use crate::host::ID_BYTES;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use transport::{Note, Noted};

/// What the stack told a controller of one of its packets that ask for an acknowledgement.
#[derive(Clone, Copy, Debug)]
enum Told {
    Sent { number: u64, bytes: u16, at: Instant },
    Acked { number: u64, sent: Instant },
    Lost { number: u64, bytes: u16 },
}

/// What all controllers of a connection were told, in order, and which of them.
#[derive(Debug, Default)]
struct Heard {
    controllers: usize,
    told: Vec<(usize, Told)>,
}

type Shared = Arc<Mutex<Heard>>;

fn with<T>(shared: &Shared, act: impl FnOnce(&mut Heard) -> T) -> T {
    act(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Notes of a connection.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    heard: Shared,
    /// By the number of the controller.
    watched: Vec<Watched>,
    notes: Vec<Note>,
}

/// A controller, and the packets of application data whose fate it was not told yet.
#[derive(Debug, Default)]
struct Watched {
    /// The path that it controls; `None` before its first packet.
    path: Option<usize>,
    /// Packets by number, with size and time of sending. The handshake has numbers of its own.
    outstanding: BTreeMap<u64, (u16, Instant)>,
    /// The largest number that was acknowledged; 0 before the first.
    largest_acked: u64,
}

impl Notes {
    /// The factory, with an observer around each controller.
    pub(crate) fn around(&self, factory: Factory) -> Factory {
        Arc::new(Around { factory, heard: self.heard.clone() })
    }

    /// The stack gave `datagram` to send on `path`.
    pub(crate) fn on_datagram(&mut self, path: usize, datagram: &[u8]) {
        let mut last = None;
        for (controller, told) in self.told() {
            match told {
                Told::Sent { number, bytes, at } => last = Some((controller, number, bytes, at)),
                other => self.on_fate(controller, other),
            }
        }
        let packet = last_packet(datagram);
        let (mut number, mut payload) = (None, None);
        if let Some((controller, own, bytes, at)) = last {
            let watched = &mut self.watched[controller];
            watched.path = Some(path);
            // The last packet may be one that asks for no acknowledgement: then it is not this one.
            if packet.kind == "1RTT" && usize::from(bytes) == packet.bytes {
                watched.outstanding.insert(own, (bytes, at));
                number = Some(own);
                payload = (packet.bytes == datagram.len()).then(|| {
                    frame_bytes(packet.bytes, ID_BYTES, own, watched.largest_acked) as u32
                });
            }
        }
        let (kind, bytes) = (packet.kind, datagram.len() as u32);
        self.notes.push(Note { path, what: Noted::Sent { kind, number, bytes, payload } });
    }

    fn on_fate(&mut self, controller: usize, told: Told) {
        let Watched { path: Some(path), outstanding, largest_acked } =
            &mut self.watched[controller]
        else {
            return; // it has sent nothing
        };
        // A packet of the handshake may have the same number.
        let (number, what, same) = match told {
            Told::Sent { .. } => return,
            Told::Acked { number, sent } => {
                let same = outstanding.get(&number).is_some_and(|(_, at)| *at == sent);
                (number, Noted::Acked(number), same)
            }
            Told::Lost { number, bytes } => {
                let same = outstanding.get(&number).is_some_and(|(own, _)| *own == bytes);
                (number, Noted::Lost(number), same)
            }
        };
        if same {
            outstanding.remove(&number);
            if let Noted::Acked(number) = what {
                *largest_acked = number.max(*largest_acked);
            }
            self.notes.push(Note { path: *path, what });
        }
    }

    /// The notes since the last call.
    pub(crate) fn take(&mut self) -> Vec<Note> {
        for (controller, told) in self.told() {
            self.on_fate(controller, told);
        }
        std::mem::take(&mut self.notes)
    }

    fn told(&mut self) -> Vec<(usize, Told)> {
        let (controllers, told) =
            with(&self.heard, |heard| (heard.controllers, std::mem::take(&mut heard.told)));
        self.watched.resize_with(controllers, Watched::default);
        told
    }
}

/// A factory of observed controllers.
struct Around {
    factory: Factory,
    heard: Shared,
}

impl ControllerFactory for Around {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let controller = with(&self.heard, |heard| {
            heard.controllers += 1;
            heard.controllers - 1
        });
        let inner = self.factory.clone().build(now, current_mtu);
        Box::new(Observed { inner, controller, heard: self.heard.clone() })
    }
}

/// A controller whose calls are noted.
#[derive(Debug)]
struct Observed {
    inner: Box<dyn Controller>,
    controller: usize,
    heard: Shared,
}

impl Observed {
    fn note(&self, told: Told) {
        with(&self.heard, |heard| heard.told.push((self.controller, told)));
    }
}

impl Controller for Observed {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.note(Told::Sent { number: pn, bytes, at: now });
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
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
        self.note(Told::Acked { number: pn, sent });
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, pn: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, pn);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let persistent = is_persistent_congestion;
        self.inner.on_congestion_event(now, sent, persistent, is_ecn, lost_bytes, largest_lost_pn);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.note(Told::Lost { number: pn, bytes: lost_bytes });
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, requested_max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let Observed { inner, controller, heard } = self;
        let (inner, controller, heard) = (inner.clone_box(), *controller, heard.clone());
        Box::new(Observed { inner, controller, heard })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
