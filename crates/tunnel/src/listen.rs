//! The listening side: it opens the connections that streams ask for.

use crate::allow::Allowed;
use crate::carrier::{Carrier, Listening};
use crate::connect::{Shown, run};
use crate::engine::{Engine, Name};
use crate::monitor::bind;
use crate::over::Over;
use crate::places::ipv4;
use crate::port::Bound as Socket;
use crate::pump::{Owned, pump};
use crate::socket::listening;
use crate::socks::Reply;
use crate::target::{Host, Target};
use crate::{Carriage, Error, Status, Stop, key, mptcp, raw};
use courier::{PublicKey, Responder, SecretKey, Settings};
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, UdpSocket};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use units::Time;

/// Time to resolve a name and to connect to a target.
const CONNECT: Duration = Duration::from_secs(10);

/// Options of the listening side, as text where a command has text.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// File with the secret key.
    pub key: PathBuf,
    /// File with the public keys of the hosts that may connect.
    pub peers: PathBuf,
    /// Addresses on which it listens for datagrams.
    pub addresses: Vec<SocketAddr>,
    /// The allowed targets; none: public ones.
    pub allow: Vec<String>,
    /// Where metrics are offered.
    pub metrics: Option<SocketAddr>,
    /// What both sides have.
    pub carriage: Carriage,
}

/// A carrier, its sockets in the order in which it counts them, and where it listens.
struct Made {
    carrier: Box<dyn Carrier + Send>,
    sockets: Vec<Socket>,
    addresses: Vec<SocketAddr>,
}

/// The listening side of a tunnel.
pub struct Listen {
    bound: Mutex<Option<(Made, Option<StdListener>)>>,
    public_key: PublicKey,
    allowed: Allowed,
    addresses: Vec<SocketAddr>,
    stop: Stop,
    shown: Arc<Mutex<Shown>>,
}

impl Listen {
    /// Reads the keys and binds all sockets.
    ///
    /// # Errors
    /// The option that is wrong.
    pub fn new(options: &ListenOptions) -> Result<Self, Error> {
        let settings = options.carriage.settings()?;
        let (secret, peers) = (key::secret(&options.key)?, key::peers(&options.peers)?);
        let allowed = Allowed::new(options.allow.iter().map(String::as_str));
        let allowed = allowed.map_err(|why| Error::wrong("allow", why))?;
        if options.addresses.is_empty() {
            return Err(Error::wrong("listen", "no address is given; give ADDRESS:PORT"));
        }
        let public_key = secret.public();
        let made = match options.carriage.over()? {
            Over::Udp => datagrams(secret, peers, settings, &options.addresses)?,
            Over::Mptcp => packets(secret, &peers, settings, &options.addresses)?,
        };
        let addresses = made.addresses.clone();
        let metrics = options.metrics.map(bind).transpose()?;
        let bound = Mutex::new(Some((made, metrics)));
        let (stop, shown) = (Stop::default(), Arc::default());
        Ok(Listen { bound, public_key, allowed, addresses, stop, shown })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The public key of this side.
    pub fn public_key(&self) -> String {
        self.public_key.to_string()
    }

    /// Runs until [`Listen::stop`].
    ///
    /// # Errors
    /// It ran before, or the runtime cannot be made.
    pub fn run(&self) -> Result<(), Error> {
        let bound = self.bound.lock().expect("no holder panics").take();
        let (made, metrics) = bound.ok_or_else(|| Error::failed("the tunnel", "it runs once"))?;
        let allowed = Rc::new(self.allowed.clone());
        run(made.carrier, made.sockets, metrics, (&self.stop, &self.shown), |engine| {
            tokio::task::spawn_local(take(engine.clone(), allowed));
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

/// The carrier over UDP.
fn datagrams(
    secret: SecretKey,
    peers: Vec<PublicKey>,
    settings: Settings,
    addresses: &[SocketAddr],
) -> Result<Made, Error> {
    let bound = addresses.iter().map(|address| listening("listen", *address));
    let sockets: Vec<_> = bound.collect::<Result<_, _>>()?;
    let addresses: Result<Vec<_>, _> = sockets.iter().map(UdpSocket::local_addr).collect();
    let addresses = addresses.map_err(|e| Error::failed("a socket's address", e))?;
    let own = Responder::new(secret, peers, settings, Time::ZERO, &mut key::random);
    let sockets = sockets.into_iter().map(Socket::Datagrams).collect();
    Ok(Made { carrier: Box::new(Listening(own)), sockets, addresses })
}

/// The carrier over Multipath TCP.
fn packets(
    secret: SecretKey,
    peers: &[PublicKey],
    settings: Settings,
    addresses: &[SocketAddr],
) -> Result<Made, Error> {
    if !settings.backup.is_empty() {
        let why = "with --over mptcp the connecting side says which paths are spare, for both";
        return Err(Error::wrong("spare", why));
    }
    mptcp::check(&settings)?;
    let (mut own, mut reserved, mut sockets) = (Vec::new(), Vec::new(), Vec::new());
    for address in addresses {
        let address = ipv4("listen", *address)?;
        let (address, held) = raw::reserve(address)
            .map_err(|e| Error::wrong("listen", format!("{address} cannot be bound: {e}")))?;
        sockets.push(Socket::Packets(raw::to(address)?));
        own.push(address);
        reserved.push(held);
    }
    sockets.push(Socket::Packets(raw::too_big()?));
    let addresses = own.iter().copied().map(SocketAddr::from).collect();
    let carrier = mptcp::Listening::new(secret, peers, settings, own, reserved)?;
    Ok(Made { carrier: Box::new(carrier), sockets, addresses })
}

/// Takes the streams of all peers, for ever.
async fn take(engine: Engine, allowed: Rc<Allowed>) {
    loop {
        let changed = engine.changed.clone();
        while let Some((name, request)) = engine.accept() {
            let (engine, allowed) = (engine.clone(), allowed.clone());
            tokio::task::spawn_local(async move {
                serve(&engine, name, &request, &allowed).await;
            });
        }
        changed.notified().await;
    }
}

/// Connects a stream to its target and carries it.
async fn serve(engine: &Engine, name: Name, request: &[u8], allowed: &Allowed) {
    let stream = Owned::new(engine, name);
    let Some(target) = Target::decode(request) else { return };
    let connected = tokio::time::timeout(CONNECT, connect(&target, allowed)).await;
    let answer = match &connected {
        Ok(Ok(_)) => Reply::Succeeded,
        Ok(Err(reply)) => *reply,
        Err(_) => Reply::NoHost,
    };
    if stream.write(&[answer as u8]).await.is_err() {
        return;
    }
    match connected {
        Ok(Ok(tcp)) => pump(&stream, tcp).await,
        Ok(Err(_)) | Err(_) => {
            engine.count(|counters| counters.refused += 1);
            engine.say(format!("no connection to {target}: {answer:?}"));
            stream.finish();
            // The answer is read before the stream goes: the other side ends it.
            let _ = tokio::time::timeout(CONNECT, stream.read(&mut [0])).await;
        }
    }
}

/// Connects to the first address of `target` that answers. All of its addresses that are tried are
/// allowed ones, whatever a name server says.
async fn connect(target: &Target, allowed: &Allowed) -> Result<TcpStream, Reply> {
    let found: Vec<SocketAddr> = match &target.host {
        Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), target.port)).await;
            found.map_err(|_| Reply::NoHost)?.collect()
        }
    };
    let mut reply = Reply::NotAllowed;
    for address in found.into_iter().filter(|address| allowed.permits(*address)) {
        match TcpStream::connect(address).await {
            Ok(tcp) => return Ok(tcp),
            Err(error) => reply = reason(&error),
        }
    }
    Err(reply)
}

fn reason(error: &io::Error) -> Reply {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Reply::Refused,
        io::ErrorKind::NetworkUnreachable => Reply::NoNetwork,
        io::ErrorKind::HostUnreachable | io::ErrorKind::TimedOut => Reply::NoHost,
        _ => Reply::Failed,
    }
}
