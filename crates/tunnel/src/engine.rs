//! Runs a carrier on sockets: one task receives on each socket, one sends and keeps the time.
//! Everything runs on one thread, and no borrow of the state lasts over a wait.

use crate::batch::{Batch, Batches};
use crate::carrier::{Carrier, News};
use crate::metrics::{Counters, Status};
use crate::port::{Bound, PACKET, Port};
use courier::{Route, StreamId, Streams, Transmit};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use units::Time;

/// Packets that are taken from a socket before anything is sent: the acknowledgements of their
/// datagrams leave together.
const CALLS: usize = 32;
/// Time to wait for room in a socket's buffer. Then the datagrams count as lost on the way.
const FULL: Duration = Duration::from_millis(5);
/// Time to wait after an error of a socket, such as that of a missing interface.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection's number, and a stream of it.
pub(crate) type Name = (u64, StreamId);

struct State {
    carrier: Box<dyn Carrier>,
    /// Wakes the task of a stream.
    wakers: BTreeMap<Name, Rc<Notify>>,
    counters: Counters,
    connected: Option<u64>,
    log: Vec<String>,
}

/// A running carrier; clones are the same one.
#[derive(Clone)]
pub(crate) struct Engine {
    state: Rc<RefCell<State>>,
    ports: Rc<[Port]>,
    /// There may be something to send.
    work: Rc<Notify>,
    /// A connection was established, or a stream was opened by the peer.
    pub(crate) changed: Rc<Notify>,
    began: Instant,
}

impl Engine {
    /// An engine over `sockets`, whose places are the local parts of routes. Called inside a
    /// runtime.
    pub(crate) fn new(carrier: Box<dyn Carrier>, sockets: Vec<Bound>) -> io::Result<Self> {
        let ports: Vec<_> = sockets.into_iter().map(Port::new).collect::<Result<_, _>>()?;
        let state = State {
            carrier,
            wakers: BTreeMap::new(),
            counters: Counters::default(),
            connected: None,
            log: Vec::new(),
        };
        Ok(Engine {
            state: Rc::new(RefCell::new(state)),
            ports: ports.into(),
            work: Rc::default(),
            changed: Rc::default(),
            began: Instant::now(),
        })
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX >> 2))
    }

    /// Calls `what` with the streams of a connection, if it exists, and sends what follows.
    pub(crate) fn with<T>(
        &self,
        number: u64,
        what: impl FnOnce(&mut dyn Streams) -> T,
    ) -> Option<T> {
        let answer = self.state.borrow_mut().carrier.streams(number).map(what);
        self.work.notify_one();
        answer
    }

    /// The newest connection, if there is one.
    pub(crate) fn connected(&self) -> Option<u64> {
        self.state.borrow().connected
    }

    /// The next stream that a peer has opened.
    pub(crate) fn accept(&self) -> Option<(Name, Vec<u8>)> {
        let mut state = self.state.borrow_mut();
        let mut found = None;
        state.carrier.each(&mut |number, streams| {
            let next = || streams.accept().map(|(stream, request)| ((number, stream), request));
            found = found.take().or_else(next);
        });
        found
    }

    /// What wakes the task of a stream; the stream's name is forgotten with [`Engine::forget`].
    pub(crate) fn waker(&self, name: Name) -> Rc<Notify> {
        self.state.borrow_mut().wakers.entry(name).or_default().clone()
    }

    pub(crate) fn forget(&self, name: Name) {
        self.state.borrow_mut().wakers.remove(&name);
    }

    /// Counts in the metrics.
    pub(crate) fn count(&self, what: impl FnOnce(&mut Counters)) {
        what(&mut self.state.borrow_mut().counters);
    }

    /// A line for the operator.
    pub(crate) fn say(&self, line: String) {
        let log = &mut self.state.borrow_mut().log;
        if log.len() < 1000 {
            log.push(line);
        }
    }

    /// The lines since the last call.
    pub(crate) fn said(&self) -> Vec<String> {
        std::mem::take(&mut self.state.borrow_mut().log)
    }

    /// The state now.
    pub(crate) fn status(&self) -> Status {
        let mut state = self.state.borrow_mut();
        let snapshots = state.carrier.snapshots();
        Status::new(snapshots, &state.counters)
    }

    /// Tells the peers that it ends.
    pub(crate) fn close(&self) {
        self.state.borrow_mut().carrier.close();
        while let Some(Transmit { route, bytes }) = self.next() {
            // A peer that is not told finds out by its timeout.
            let _ = self.ports[route.local].try_send(route.remote, &bytes, bytes.len());
        }
    }

    fn next(&self) -> Option<Transmit> {
        self.state.borrow_mut().carrier.poll_transmit(self.now())
    }

    /// Receives on one socket, for ever.
    pub(crate) async fn receive(self, local: usize) {
        let port = &self.ports[local];
        let mut buffer = vec![0; PACKET];
        loop {
            if port.readable().await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
            let taken = (0..CALLS).try_for_each(|_| {
                let (now, carrier) = (self.now(), &mut self.state.borrow_mut().carrier);
                port.try_receive(&mut buffer, |remote, datagram| {
                    carrier.on_datagram(now, Route { local, remote }, datagram);
                })
            });
            if taken.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
                tokio::time::sleep(PAUSE).await;
            }
            self.work.notify_one();
            tokio::task::yield_now().await;
        }
    }

    /// Sends and keeps the time, for ever.
    pub(crate) async fn work(self) {
        loop {
            let now = self.now();
            self.state.borrow_mut().carrier.on_deadline(now);
            self.wake();
            let mut batches = Batches::default();
            while let Some(transmit) = self.next() {
                let most = self.ports[transmit.route.local].most();
                if let Some(batch) = batches.push(transmit, most) {
                    self.send(&batch).await;
                }
            }
            while let Some(batch) = batches.pop() {
                self.send(&batch).await;
            }
            self.wake();
            let deadline = self.state.borrow().carrier.next_deadline();
            // An hour stands for never.
            let wait = Duration::from_nanos(deadline.since(self.now()).0.min(3_600_000_000_000));
            tokio::select! {
                () = self.work.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn send(&self, batch: &Batch) {
        let (port, remote) = (&self.ports[batch.route.local], batch.route.remote);
        let whole = || port.try_send(remote, &batch.bytes, batch.segment);
        let Err(error) = whole() else { return };
        let full = error.kind() == io::ErrorKind::WouldBlock;
        if full && tokio::time::timeout(FULL, port.writable()).await.is_ok() && whole().is_ok() {
            return;
        }
        // A device that cannot segment refuses a batch, and takes its datagrams. What does not
        // leave is lost, as on any link: the endpoint sends it again.
        let alone = |datagram: &&[u8]| port.try_send(remote, datagram, datagram.len()).is_err();
        let lost = batch.datagrams().filter(alone).count();
        self.count(|counters| counters.send_errors += lost as u64);
    }

    /// Wakes the tasks of streams that have changed, and looks at the news.
    fn wake(&self) {
        let now = self.now();
        let state = &mut *self.state.borrow_mut();
        let mut changed = false; // for those who wait for connections or streams
        while let Some(news) = state.carrier.news(now) {
            changed = true;
            match news {
                News::Connected(number, peer) => {
                    state.connected = Some(number);
                    state.counters.connections += 1;
                    state.log.push(format!("connected with {peer}"));
                }
                News::Ended(number, why) => {
                    state.connected = state.connected.filter(|own| *own != number);
                    state.log.push(format!("the connection has ended: {why}"));
                    let streams =
                        state.wakers.range((number, StreamId(0))..(number + 1, StreamId(0)));
                    streams.for_each(|(_, waker)| waker.notify_waiters());
                }
            }
        }
        let (carrier, wakers) = (&mut state.carrier, &state.wakers);
        carrier.each(&mut |number, streams| {
            while let Some(stream) = streams.changed() {
                if let Some(waker) = wakers.get(&(number, stream)) {
                    waker.notify_waiters();
                }
            }
            changed |= streams.waiting() > 0;
        });
        if changed {
            self.changed.notify_waiters();
        }
    }
}
