//! The paths of a connection over its life: which there are, what they carried, and that those of a
//! client are opened again after a failure.

use crate::controllers::PATHS;
use crate::message::SendingPath;
use crate::transport::PATH_IDLE;
use noq::{
    Connection, FourTuple, PathError, PathEvent, PathId, PathStats, PathStatus, WeakPathHandle,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_stream::StreamExt;

/// Time until a path that failed is tried again; it doubles with each failure up to the second.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(8));

/// Time limit for a path to open; above [`PATH_IDLE`], at which noq gives it up by itself.
const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// Interval of pings on each path, a third of [`PATH_IDLE`].
const PING: Duration = Duration::from_secs(1);

/// Interval at which a path is tried whose connection IDs the server has not sent yet.
const CID_WAIT: Duration = Duration::from_millis(10);

/// Every path that a connection had.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths(Arc<Mutex<Vec<Seen>>>);

#[derive(Debug)]
struct Seen {
    id: PathId,
    tuple: FourTuple,
    handle: WeakPathHandle,
    last: PathStats,
    open: bool,
}

impl Seen {
    /// Its counters; the last known ones once the connection is gone.
    fn stats(&mut self) -> PathStats {
        if let Some(path) = self.handle.upgrade() {
            self.last = path.stats();
        }
        self.last
    }
}

impl Paths {
    /// Follows the paths of a connection until it ends.
    pub(crate) async fn follow(self, connection: Connection) {
        let mut events = connection.path_events();
        self.open_unseen(&connection);
        let mut tick = interval(PING);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(PathEvent::Established { id, .. })) => self.opened(&connection, id),
                    Some(Ok(PathEvent::Abandoned { id, .. })) => self.closed(id),
                    Some(Ok(_)) => self.look(),
                    Some(Err(_)) => {
                        self.open_unseen(&connection);
                        self.look();
                    }
                    None => return,
                },
                _ = tick.tick() => self.ping(),
            }
        }
    }

    /// Has every open path carry something in this direction. noq gives up a path on which nothing
    /// comes in, and a receiver acknowledges all paths on one of them; noq's own keep-alive waits
    /// for silence in both directions.
    fn ping(&self) {
        for seen in self.locked().iter().filter(|seen| seen.open) {
            if let Some(path) = seen.handle.upgrade() {
                // A path that closes just now needs no ping.
                let _ = path.ping();
            }
        }
    }

    /// Finds the paths whose events were lost: they opened before anyone listened, or events came
    /// too fast.
    fn open_unseen(&self, connection: &Connection) {
        let newest = self.locked().iter().map(|seen| seen.id).max().unwrap_or(PathId::ZERO);
        let last = newest.saturating_add(PATHS);
        let mut id = PathId::ZERO;
        while id <= last {
            self.opened(connection, id);
            id = id.saturating_add(1_u32);
        }
    }

    /// A path is open.
    pub(crate) fn opened(&self, connection: &Connection, id: PathId) {
        let Some(path) = connection.path(id) else { return };
        let Ok(tuple) = path.network_path() else { return };
        let mut all = self.locked();
        if all.iter().all(|seen| seen.id != id) {
            let (handle, last) = (path.weak_handle(), path.stats());
            all.push(Seen { id, tuple, handle, last, open: true });
        }
        balance(&all);
    }

    fn closed(&self, id: PathId) {
        let mut all = self.locked();
        for seen in all.iter_mut().filter(|seen| seen.id == id) {
            seen.open = false;
        }
        balance(&all);
    }

    /// Looks for paths that closed unseen: their events are lost when they come too fast.
    fn look(&self) {
        let mut all = self.locked();
        for seen in all.iter_mut() {
            let path = seen.handle.upgrade();
            seen.open = path.is_some_and(|path| path.status().is_ok());
        }
        balance(&all);
    }

    /// Bytes that came in over these paths, as UDP payload, and the last one's round-trip time.
    pub(crate) fn received(&self, ids: &[PathId]) -> (u64, f64) {
        let (mut bytes, mut srtt_s) = (0, 0.0);
        for seen in self.locked().iter_mut() {
            if ids.contains(&seen.id) {
                let stats = seen.stats();
                bytes += stats.udp_rx.bytes;
                srtt_s = stats.rtt.as_secs_f64();
            }
        }
        (bytes, srtt_s)
    }

    /// All of them as their sender sees them.
    pub(crate) fn sending(&self) -> Vec<SendingPath> {
        let mut all = self.locked();
        all.iter_mut()
            .map(|seen| {
                let stats = seen.stats();
                SendingPath {
                    id: seen.id.to_string(),
                    remote: seen.tuple.remote().to_string(),
                    local: seen.tuple.local_ip().map_or_else(String::new, |ip| ip.to_string()),
                    sent_bytes: stats.udp_tx.bytes,
                    sent_packets: stats.sent_packets,
                    lost_packets: stats.lost_packets,
                    congestion_events: stats.congestion_events,
                    cwnd_bytes: stats.cwnd,
                    srtt_s: stats.rtt.as_secs_f64(),
                    open: seen.open,
                }
            })
            .collect()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.0.lock().expect("no holder panics")
    }
}

/// The last path is never given up: the connection's own time limit is longer.
fn balance(all: &[Seen]) {
    let open = || all.iter().filter(|seen| seen.open);
    let limit = (open().count() > 1).then_some(PATH_IDLE);
    for path in open().filter_map(|seen| seen.handle.upgrade()) {
        // A path that closes just now needs no limit.
        let _ = path.set_max_idle_timeout(limit);
    }
}

/// A pair of addresses that a client wants a path between.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    /// `None` leaves the choice to the kernel.
    pub(crate) local: Option<IpAddr>,
    pub(crate) remote: SocketAddr,
}

/// What became of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub(crate) ids: Vec<PathId>,
    pub(crate) open: bool,
    /// How often it did not open, or ended before the connection.
    pub(crate) failures: u32,
    pub(crate) trouble: String,
}

/// The lives of all paths that a client wants, in the order of its options.
pub(crate) type Lives = Arc<Mutex<Vec<Life>>>;

/// Keeps a path open between `ends` as long as the connection lives; `first` is the connection's
/// first path, if it is this one.
pub(crate) async fn keep_open(
    connection: Connection,
    paths: Paths,
    ends: Ends,
    first: bool,
    life: impl Fn(&mut dyn FnMut(&mut Life)),
) {
    let mut wait = RETRY.0;
    let mut given = first.then_some(PathId::ZERO);
    loop {
        let mut events = connection.path_events();
        let opened = match given.take() {
            Some(id) => Ok(id),
            None => open(&connection, &ends).await,
        };
        match opened {
            Ok(id) => {
                wait = RETRY.0;
                paths.opened(&connection, id);
                life(&mut |life| {
                    life.ids.push(id);
                    life.open = true;
                });
                let why = abandoned(&connection, &mut events, id).await;
                life(&mut |life| {
                    life.open = false;
                    life.failures += 1;
                    life.trouble.clone_from(&why);
                });
            }
            Err(why) => life(&mut |life| {
                life.failures += 1;
                life.trouble.clone_from(&why);
            }),
        }
        sleep(wait).await;
        wait = (wait * 2).min(RETRY.1);
    }
}

async fn open(connection: &Connection, ends: &Ends) -> Result<PathId, String> {
    let tuple = FourTuple::new(ends.remote, ends.local);
    let began = Instant::now();
    loop {
        let opening = connection.open_path(tuple, PathStatus::Available);
        let id = opening.path_id();
        match timeout(OPEN_LIMIT, opening).await {
            Ok(Ok(path)) => return Ok(path.id()),
            Ok(Err(PathError::RemoteCidsExhausted)) if began.elapsed() < PATH_IDLE => {
                sleep(CID_WAIT).await;
            }
            Ok(Err(PathError::ValidationFailed)) => return Err("no answer".to_owned()),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => {
                if let Some(path) = id.and_then(|id| connection.path(id)) {
                    // It may have ended meanwhile.
                    let _ = path.close();
                }
                return Err("no answer".to_owned());
            }
        }
    }
}

/// Waits for the end of a path and returns its reason.
async fn abandoned(connection: &Connection, events: &mut noq::PathEvents, id: PathId) -> String {
    let gone = || connection.path(id).is_none();
    if gone() {
        return "it was closed".to_owned();
    }
    while let Some(event) = events.next().await {
        match event {
            Ok(PathEvent::Abandoned { id: ended, reason, .. }) if ended == id => {
                return format!("{reason:?}");
            }
            Err(_) if gone() => return "it was closed".to_owned(),
            _ => {}
        }
    }
    "the connection ended".to_owned()
}
