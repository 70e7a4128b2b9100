//! The connecting side: it takes connections of applications, and opens a stream for each.

use crate::carrier::{Carrier, Connecting};
use crate::engine::Engine;
use crate::monitor::{bind, bind_tcp, serve};
use crate::mptcp::{self, Way};
use crate::over::Over;
use crate::places::Places;
use crate::port::Bound as Socket;
use crate::pump::{Owned, pump};
use crate::socket::{Local, connecting};
use crate::socks::{self, Reply};
use crate::target::{Host, Target};
use crate::{Carriage, Error, Status, Stop, key, raw, transparent};
use courier::{Initiator, MAX_PATHS, PublicKey, Route, SecretKey, Settings};
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;

/// Time for an application to say where it wants to go.
const ASK: Duration = Duration::from_secs(10);
/// Time to wait for a tunnel that is being established, and for the other side's answer.
const ESTABLISH: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// Options of the connecting side, as text where a command has text.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// File with the secret key.
    pub key: PathBuf,
    /// The listening side's public key.
    pub peer: String,
    /// The paths: `REMOTE`, or `LOCAL=REMOTE` with an address or an interface.
    pub paths: Vec<String>,
    /// Where SOCKS5 is offered.
    pub socks: Option<SocketAddr>,
    /// Forwards: `ADDRESS:PORT=HOST:PORT`.
    pub forwards: Vec<String>,
    /// Where connections arrive that netfilter redirects.
    pub transparent: Vec<SocketAddr>,
    /// Where metrics are offered.
    pub metrics: Option<SocketAddr>,
    /// What both sides have.
    pub carriage: Carriage,
}

/// What a listener leads to.
#[derive(Clone)]
enum Entrance {
    Socks,
    Fixed(Target),
    /// To where each connection was going.
    Transparent,
}

/// What is bound before it runs.
struct Bound {
    carrier: Box<dyn Carrier + Send>,
    sockets: Vec<Socket>,
    entrances: Vec<(StdListener, Entrance)>,
    metrics: Option<StdListener>,
}

/// The connecting side of a tunnel.
pub struct Connect {
    bound: Mutex<Option<Bound>>,
    addresses: Vec<SocketAddr>,
    stop: Stop,
    shown: Arc<Mutex<Shown>>,
}

/// What other threads see of a running tunnel.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) status: Status,
    pub(crate) log: Vec<String>,
}

impl Connect {
    /// Reads the key and binds all sockets.
    ///
    /// # Errors
    /// The option that is wrong.
    pub fn new(options: &ConnectOptions) -> Result<Self, Error> {
        let settings = options.carriage.settings()?;
        let (secret, peer) = (key::secret(&options.key)?, key::public("peer", &options.peer)?);
        if options.paths.is_empty() || options.paths.len() > MAX_PATHS {
            let why = format!("{} are given; give 1 to {MAX_PATHS}", options.paths.len());
            return Err(Error::wrong("path", why));
        }
        let paths = options.paths.iter().map(|text| path(text)).collect::<Result<Vec<_>, _>>()?;
        let (carrier, sockets) = match options.carriage.over()? {
            Over::Udp => datagrams(secret, peer, settings, &paths)?,
            Over::Mptcp => packets(secret, peer, settings, paths)?,
        };
        let entrances = entrances(options)?;
        let address = |own: &(StdListener, Entrance)| own.0.local_addr();
        let addresses: Result<Vec<_>, _> = entrances.iter().map(address).collect();
        let addresses = addresses.map_err(|e| Error::failed("a listener's address", e))?;
        let metrics = options.metrics.map(bind).transpose()?;
        let bound = Mutex::new(Some(Bound { carrier, sockets, entrances, metrics }));
        let (stop, shown) = (Stop::default(), Arc::default());
        Ok(Connect { bound, addresses, stop, shown })
    }

    /// Where it listens: SOCKS5 first, if it is offered, then the forwards, then the transparent
    /// ones.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Runs until [`Connect::stop`].
    ///
    /// # Errors
    /// It ran before, or the runtime cannot be made.
    pub fn run(&self) -> Result<(), Error> {
        let bound = self.bound.lock().expect("no holder panics").take();
        let bound = bound.ok_or_else(|| Error::failed("the tunnel", "it runs once"))?;
        run(bound.carrier, bound.sockets, bound.metrics, (&self.stop, &self.shown), |engine| {
            for (listener, entrance) in bound.entrances {
                let listener = TcpListener::from_std(listener)?;
                tokio::task::spawn_local(take(engine.clone(), listener, entrance));
            }
            Ok(())
        })
    }

    /// Ends it from another thread.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Its state, at most a second old.
    pub fn status(&self) -> Status {
        self.shown.lock().expect("no holder panics").status.clone()
    }

    /// The lines for the operator since the last call.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.shown.lock().expect("no holder panics").log)
    }
}

/// A carrier, and its sockets in the order in which it counts them.
type Made = (Box<dyn Carrier + Send>, Vec<Socket>);

/// The carrier over UDP.
fn datagrams(
    secret: SecretKey,
    peer: PublicKey,
    settings: Settings,
    paths: &[(Local, SocketAddr)],
) -> Result<Made, Error> {
    let bound = paths.iter().map(|(own, remote)| connecting(own, *remote).map(Socket::Datagrams));
    let sockets = bound.collect::<Result<_, _>>()?;
    let to = paths.iter().enumerate();
    let routes: Vec<_> = to.map(|(local, &(_, remote))| Route { local, remote }).collect();
    let initiator = Initiator::new(secret, peer, settings, &routes);
    Ok((Box::new(Connecting::new(initiator, peer.to_string())), sockets))
}

/// The carrier over Multipath TCP.
fn packets(
    secret: SecretKey,
    peer: PublicKey,
    settings: Settings,
    paths: Vec<(Local, SocketAddr)>,
) -> Result<Made, Error> {
    mptcp::check(&settings)?;
    let places = Places::new(paths)?;
    let mut sockets = places.sockets()?;
    sockets.push(Socket::Packets(raw::too_big()?));
    let spare = |path: usize| settings.backup.contains(&path);
    let ways = places.remotes().enumerate();
    let ways: Vec<_> = ways.map(|(at, remote)| Way { remote, spare: spare(at) }).collect();
    let own = mptcp::Connecting::new(secret, peer, settings, &ways, Box::new(places))?;
    Ok((Box::new(own), sockets))
}

/// Runs an engine with what `begin` adds to it, until it is stopped.
pub(crate) fn run(
    carrier: Box<dyn Carrier + Send>,
    sockets: Vec<Socket>,
    metrics: Option<StdListener>,
    (stop, shown): (&Stop, &Mutex<Shown>),
    begin: impl FnOnce(&Engine) -> std::io::Result<()>,
) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::failed("the tunnel", e);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    LocalSet::new().block_on(&runtime.map_err(failed)?, async {
        let count = sockets.len();
        let engine = Engine::new(carrier, sockets).map_err(failed)?;
        begin(&engine).map_err(failed)?;
        if let Some(listener) = metrics {
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            tokio::task::spawn_local(serve(engine.clone(), listener));
        }
        for local in 0..count {
            tokio::task::spawn_local(engine.clone().receive(local));
        }
        tokio::task::spawn_local(engine.clone().work());
        let show = || {
            let mut shown = shown.lock().expect("no holder panics");
            shown.status = engine.status();
            shown.log.extend(engine.said());
        };
        loop {
            tokio::select! {
                () = stop.raised() => break,
                () = tokio::time::sleep(Duration::from_millis(200)) => show(),
            }
        }
        engine.close();
        show();
        Ok(())
    })
}

/// The two ends of a path.
fn path(text: &str) -> Result<(Local, SocketAddr), Error> {
    let (local, remote) = text.split_once('=').unwrap_or(("", text));
    let found = remote.to_socket_addrs().ok().and_then(|mut all| {
        let own: Option<std::net::IpAddr> = local.parse().ok();
        all.find(|it| own.is_none_or(|own| own.is_ipv4() == it.is_ipv4()))
    });
    let remote = found.ok_or_else(|| {
        let why = format!(
            "{text:?} leads nowhere; give HOST:PORT, or ADDRESS=HOST:PORT or INTERFACE=HOST:PORT, as \
             in 192.0.2.7=198.51.100.1:4500"
        );
        Error::wrong("path", why)
    })?;
    Ok((Local::new(local), remote))
}

fn entrances(options: &ConnectOptions) -> Result<Vec<(StdListener, Entrance)>, Error> {
    let mut all = Vec::new();
    if let Some(address) = options.socks {
        all.push((bind_tcp("socks", address)?, Entrance::Socks));
    }
    for text in &options.forwards {
        let wrong = |why: &str| {
            let right = "give ADDRESS:PORT=HOST:PORT, as in 127.0.0.1:8080=192.0.2.9:80";
            Error::wrong("forward", format!("{text:?}: {why}; {right}"))
        };
        let (from, to) = text.split_once('=').ok_or_else(|| wrong("there is no ="))?;
        let from = from.parse().map_err(|_| wrong("no address and port before ="))?;
        let to = to.parse().map_err(|why: String| wrong(&why))?;
        all.push((bind_tcp("forward", from)?, Entrance::Fixed(to)));
    }
    for address in &options.transparent {
        all.push((bind_tcp("transparent", *address)?, Entrance::Transparent));
    }
    if all.is_empty() {
        let why = "nothing is offered; give --socks, --forward or --transparent";
        return Err(Error::wrong("socks", why));
    }
    Ok(all)
}

/// Takes connections of applications, for ever.
async fn take(engine: Engine, listener: TcpListener, entrance: Entrance) {
    let entrance = Rc::new(entrance);
    loop {
        match listener.accept().await {
            Ok((tcp, _)) => {
                let (engine, entrance) = (engine.clone(), entrance.clone());
                tokio::task::spawn_local(async move { enter(engine, tcp, &entrance).await });
            }
            // Too many open files, for instance: connections wait until some have ended.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Carries one connection of an application.
async fn enter(engine: Engine, mut tcp: TcpStream, entrance: &Entrance) {
    let target = match entrance {
        Entrance::Fixed(target) => target.clone(),
        Entrance::Socks => match tokio::time::timeout(ASK, socks::request(&mut tcp)).await {
            Ok(Ok(target)) => target,
            Ok(Err(_)) | Err(_) => return engine.count(|counters| counters.refused += 1),
        },
        Entrance::Transparent => match transparent::original(&tcp) {
            Some(to) => Target { host: Host::Address(to.ip()), port: to.port() },
            None => return engine.count(|counters| counters.refused += 1),
        },
    };
    let socks = matches!(entrance, Entrance::Socks);
    let (stream, reply) = match open(&engine, &target).await {
        Ok(stream) => (Some(stream), Reply::Succeeded),
        Err(reply) => (None, reply),
    };
    if socks && socks::reply(&mut tcp, reply).await.is_err() {
        return;
    }
    match stream {
        Some(stream) => pump(&stream, tcp).await,
        None => {
            engine.count(|counters| counters.refused += 1);
            engine.say(format!("no connection to {target}: {reply:?}"));
            if matches!(entrance, Entrance::Transparent) {
                transparent::reset(&tcp);
            }
        }
    }
}

/// A stream to `target`, when the other side has connected it.
async fn open(engine: &Engine, target: &Target) -> Result<Owned, Reply> {
    let established = async {
        loop {
            match engine.connected() {
                Some(number) => return number,
                None => engine.changed.notified().await,
            }
        }
    };
    let number = tokio::time::timeout(ESTABLISH, established).await;
    let number = number.map_err(|_| Reply::NoNetwork)?;
    let opened = engine.with(number, |streams| streams.open(&target.encode()));
    let stream = opened.ok_or(Reply::NoNetwork)?.map_err(|_| Reply::Failed)?;
    let stream = Owned::new(engine, (number, stream));
    let mut reply = [0];
    match tokio::time::timeout(ANSWER, stream.read(&mut reply)).await {
        Ok(Ok(Some(_))) if reply[0] == Reply::Succeeded as u8 => Ok(stream),
        Ok(Ok(Some(_))) => Err(Reply::of(reply[0])),
        Ok(Ok(None) | Err(_)) | Err(_) => Err(Reply::Failed),
    }
}
