//! The client: takes a file over several paths.

use crate::controllers::factory;
use crate::identity::{Pin, SERVER_NAME, Trust, client, hex};
use crate::lanes::{Ends, Life, Lives, Paths, keep_open};
use crate::message::{Answer, Request, SendingPath, read, write};
use crate::output::Output;
use crate::report::{Lane, Meter, Report, lanes};
use crate::serve::{DONE, FAREWELL, LEFT, runtime};
use crate::socket::{Source, bind, sourced};
use crate::target::Target;
use crate::transport::{BLOCK, PROTOCOL, Side, settings};
use crate::{Error, Stop};
use bytes::Bytes;
use noq::crypto::rustls::QuicClientConfig;
use noq::{ClientConfig, Connection, Endpoint, EndpointConfig, RecvStream, TokioRuntime, VarInt};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// Most bytes that are taken out of the stream at once.
const CHUNK: usize = 1 << 20;

/// Time for the server to answer over one pair of addresses before the next one is tried.
const CONNECT: Duration = Duration::from_secs(5);

/// Time for the server to tell of its paths.
const ASK: Duration = Duration::from_secs(3);

/// Interval of progress and of the limits in time.
const TICK: Duration = Duration::from_millis(100);

/// What to fetch, and how.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// HOST:PORT/NAME.
    pub target: String,
    /// Where the file goes; `None` throws the bytes away.
    pub output: Option<PathBuf>,
    /// Local addresses, one for each path; none leaves one path to the kernel.
    pub via: Vec<String>,
    /// Addresses of the server, one for each path, instead of the target's.
    pub to: Vec<String>,
    /// Local UDP port of all paths; 0 lets the system choose.
    pub port: u16,
    /// Which server is accepted.
    pub trust: Trust,
    /// Whether a part of an earlier transfer is continued.
    pub resume: bool,
    /// Ends the transfer after that many seconds, complete or not.
    pub duration_s: Option<f64>,
    /// Seconds at the beginning that are not measured.
    pub warm_up_s: f64,
    /// Folder for a qlog of the connection.
    pub qlog: Option<PathBuf>,
}

/// How far a transfer is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Bytes of the file that are here.
    pub received_bytes: u64,
    /// Bytes of the file; 0 until the server has answered.
    pub size_bytes: u64,
    /// The paths.
    pub lanes: Vec<Lane>,
}

/// A transfer on a bound socket.
#[derive(Debug)]
pub struct Fetch {
    options: FetchOptions,
    target: Target,
    ready: Mutex<Option<(UdpSocket, Output)>>,
    progress: Mutex<Progress>,
    stop: Stop,
}

impl Fetch {
    /// Binds the socket, in the network namespace of the calling thread, and opens the output.
    ///
    /// # Errors
    /// [`Error::Wrong`] for an option that cannot be.
    pub fn new(options: &FetchOptions) -> Result<Self, Error> {
        let target = Target::read(&options.target, &options.via, &options.to)?;
        if options.resume && options.output.is_none() {
            return Err(Error::wrong("continue", "there is no file to continue"));
        }
        checked_times(options)?;
        for local in target.ends.iter().filter_map(|ends| ends.local) {
            drop(bind("via", (local, 0).into())?);
        }
        let socket = bind("port", target.wildcard(options.port))?;
        let output = Output::open(options.output.as_deref(), options.resume)?;
        Ok(Self {
            options: options.clone(),
            target,
            ready: Mutex::new(Some((socket, output))),
            progress: Mutex::default(),
            stop: Stop::default(),
        })
    }

    /// Ends [`Fetch::run`], which then reports what it has.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.progress.lock().expect("no holder panics").clone()
    }

    /// Fetches on the calling thread, to the end, to its limit in time, or until [`Fetch::stop`].
    ///
    /// # Errors
    /// [`Error::Failed`] if the server, the network or the file does not do it; what has come is
    /// kept in a part beside the output.
    pub fn run(&self) -> Result<Report, Error> {
        let ready = self.ready.lock().expect("no holder panics").take();
        let (socket, output) = ready.ok_or_else(|| Error::failed("a fetch", "it runs once"))?;
        runtime()?.block_on(self.fetch(socket, output))
    }

    async fn fetch(&self, socket: UdpSocket, output: Output) -> Result<Report, Error> {
        let (tls, pin) = client(&self.options.trust, PROTOCOL)?;
        let crypto = QuicClientConfig::try_from(tls)
            .map_err(|e| Error::failed("TLS 1.3 cannot be used", e))?;
        let source = Source::default();
        let failed = |e| Error::failed("the socket", e);
        let endpoint = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            sourced(socket, source.clone()).map_err(failed)?,
            Arc::new(TokioRuntime),
        )
        .map_err(failed)?;
        // A receiver sends hardly more than acknowledgements, whatever its controller is.
        let controller = factory("noq:newreno")?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        let qlog = self.options.qlog.as_deref();
        config.transport_config(Arc::new(settings(controller, qlog, Side::Fetch)));
        let connected = tokio::select! {
            connected = self.connect(&endpoint, &config, &source, &pin) => connected,
            () = self.stop.raised() => Err(Error::failed("the transfer", "it was stopped")),
        };
        let (connection, first) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                output.keep(0)?;
                return Err(error);
            }
        };
        let report = self.transfer(&connection, first, output, &pin).await;
        let complete = report.as_ref().is_ok_and(|report| report.complete);
        connection.close(if complete { DONE } else { LEFT }, b"");
        // A server that is not told waits for its time limit: nothing more can be done.
        let _ = timeout(FAREWELL, endpoint.wait_all_draining()).await;
        report
    }

    /// Connects over the first pair of addresses that answers.
    async fn connect(
        &self,
        endpoint: &Endpoint,
        config: &ClientConfig,
        source: &Source,
        pin: &Pin,
    ) -> Result<(Connection, usize), Error> {
        let mut troubles = Vec::new();
        for (number, Ends { local, remote }) in self.target.ends.iter().enumerate() {
            source.set(*local);
            let connecting = endpoint
                .connect_with(config.clone(), *remote, SERVER_NAME)
                .map_err(|e| Error::failed(remote, e))?;
            let trouble = match timeout(CONNECT, connecting).await {
                Ok(Ok(connection)) => return Ok((connection, number)),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            if let Some(shown) = pin.refused() {
                let why = format!("the server at {remote} has another one: {shown}");
                return Err(Error::wrong("fingerprint", why));
            }
            let from = local.map_or_else(String::new, |local| format!(" from {local}"));
            troubles.push(format!("{remote}{from}: {trouble}"));
        }
        Err(Error::Failed(format!("no connection: {}", troubles.join("; "))))
    }

    async fn transfer(
        &self,
        connection: &Connection,
        first: usize,
        mut output: Output,
        pin: &Pin,
    ) -> Result<Report, Error> {
        let (paths, lives) = (Paths::default(), self.lives());
        let mut tasks = JoinSet::new();
        tasks.spawn(paths.clone().follow(connection.clone()));
        for (number, ends) in self.target.ends.iter().enumerate() {
            let lives = lives.clone();
            let life = move |change: &mut dyn FnMut(&mut Life)| {
                change(&mut lives.lock().expect("no holder panics")[number]);
            };
            let (connection, paths) = (connection.clone(), paths.clone());
            tasks.spawn(keep_open(connection, paths, ends.clone(), number == first, life));
        }
        let look = || lanes(&self.target.ends, &lives.lock().expect("no holder panics"), &paths);
        let mut meter = Meter::new(self.options.warm_up_s);
        let received = self.receive(connection, &mut output, &mut meter, &look).await;
        let sending = match &received {
            Ok(_) => self.ask(connection).await,
            Err(_) => Vec::new(),
        };
        let lanes = crate::report::with_sending(look(), &sending);
        let (offset, got) = (output.offset, meter.received_bytes);
        let ended = match received {
            Ok(Some(sha256)) => self.whole(output, sha256).map(Some),
            Ok(None) => output.keep(got).map(|_| None),
            Err(error) => Err(kept(error, output, got)?),
        };
        let sha256 = ended?;
        let progress = self.progress();
        Ok(meter.report(Report {
            target: self.options.target.clone(),
            complete: sha256.is_some(),
            size_bytes: progress.size_bytes,
            resumed_at_bytes: offset,
            sha256,
            fingerprint: pin.shown().unwrap_or_default(),
            lanes,
            ..Report::default()
        }))
    }

    /// Receives until the end, whose digest it returns; `None` if it was ended before.
    async fn receive(
        &self,
        connection: &Connection,
        output: &mut Output,
        meter: &mut Meter,
        look: &dyn Fn() -> Vec<Lane>,
    ) -> Result<Option<String>, Error> {
        let (mut asking, mut stream) = opened(connection).await?;
        let request = Request::Get {
            name: self.target.name.clone(),
            offset: output.offset,
            prefix: if output.offset > 0 { output.digest() } else { String::new() },
        };
        write(&mut asking, &request).await?;
        let size = tokio::select! {
            answer = read(&mut stream) => match answer? {
                Answer::Found { size, controller } => {
                    meter.controller = controller;
                    size
                }
                Answer::Refused { why } => return Err(Error::failed("the server refuses", why)),
                _ => return Err(Error::failed("the server", "its answer fits no question")),
            },
            () = self.stop.raised() => return Ok(None),
        };
        self.told(output.offset, size, look());
        meter.start(look());
        let mut blocks = Blocks { open: None, left: size - output.offset };
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let began = Instant::now();
        let limit = self.options.duration_s.map(Duration::from_secs_f64);
        while output.offset + meter.received_bytes < size {
            tokio::select! {
                biased;
                () = self.stop.raised() => return left_off(&mut stream),
                _ = tick.tick() => {
                    let lanes = look();
                    meter.tick(&lanes);
                    self.told(output.offset + meter.received_bytes, size, lanes);
                    if limit.is_some_and(|limit| began.elapsed() >= limit) {
                        meter.end(look());
                        return left_off(&mut stream);
                    }
                }
                bytes = blocks.next(connection) => {
                    let bytes = bytes?;
                    meter.received_bytes += bytes.len() as u64;
                    output.write(&bytes)?;
                }
            }
        }
        meter.end(look());
        self.told(size, size, look());
        match read(&mut stream).await? {
            Answer::Digest { sha256 } => Ok(Some(sha256)),
            _ => Err(Error::failed("the server", "its answer fits no question")),
        }
    }

    /// Compares digests and moves the file to its place.
    fn whole(&self, output: Output, sha256: String) -> Result<String, Error> {
        let own = output.digest();
        if own == sha256 {
            output.finish()?;
            return Ok(own);
        }
        output.remove();
        let why = format!("SHA-256 is {own} here and {sha256} there; the part was removed");
        Err(Error::failed(&self.options.target, why))
    }

    /// The server's view of its paths; nothing if it does not answer in time.
    async fn ask(&self, connection: &Connection) -> Vec<SendingPath> {
        let asked = async {
            let (mut asking, mut stream) = opened(connection).await?;
            write(&mut asking, &Request::Paths).await?;
            read(&mut stream).await
        };
        match timeout(ASK, asked).await {
            Ok(Ok(Answer::Paths { paths })) => paths,
            _ => Vec::new(),
        }
    }

    fn lives(&self) -> Lives {
        Arc::new(Mutex::new(vec![Life::default(); self.target.ends.len()]))
    }

    fn told(&self, received_bytes: u64, size_bytes: u64, lanes: Vec<Lane>) {
        let mut progress = self.progress.lock().expect("no holder panics");
        *progress = Progress { received_bytes, size_bytes, lanes };
    }
}

fn checked_times(options: &FetchOptions) -> Result<(), Error> {
    let possible = |seconds: f64| seconds.is_finite() && (0.0..1e9).contains(&seconds);
    if let Some(seconds) = options.duration_s.filter(|s| !possible(*s) || *s == 0.0) {
        let why = format!("it is {seconds} s; it must be above 0 and below 1e9");
        return Err(Error::wrong("duration", why));
    }
    let seconds = options.warm_up_s;
    if !possible(seconds) || options.duration_s.is_some_and(|all| seconds >= all) {
        let why = format!("it is {seconds} s; it must be at least 0 and below the duration");
        return Err(Error::wrong("warm-up", why));
    }
    Ok(())
}

async fn opened(connection: &Connection) -> Result<(noq::SendStream, RecvStream), Error> {
    let opened = connection.open_bi().await;
    opened.map_err(|e| Error::failed("the connection ended", e))
}

fn left_off(stream: &mut RecvStream) -> Result<Option<String>, Error> {
    // The server may have finished meanwhile.
    let _ = stream.stop(VarInt::from_u32(0));
    Ok(None)
}

/// The blocks of a file, one after the other; later ones wait in noq.
struct Blocks {
    /// The stream of the block that is read, and bytes that it still has.
    open: Option<(RecvStream, u64)>,
    /// Bytes of the blocks after it.
    left: u64,
}

impl Blocks {
    /// The next bytes. Nothing is lost if it is dropped before it is ready.
    async fn next(&mut self, connection: &Connection) -> Result<Bytes, Error> {
        loop {
            if self.open.is_none() {
                let stream = connection.accept_uni().await;
                let stream = stream.map_err(|e| Error::failed("the connection ended", e))?;
                let length = self.left.min(u64::from(BLOCK));
                self.left -= length;
                self.open = Some((stream, length));
            }
            let Some((stream, left)) = &mut self.open else { continue };
            match stream.read_chunk(CHUNK).await {
                Ok(Some(bytes)) if bytes.len() as u64 <= *left => {
                    *left -= bytes.len() as u64;
                    return Ok(bytes);
                }
                Ok(None) if *left == 0 => self.open = None,
                Ok(_) => return Err(Error::failed("the server", "a block has another length")),
                Err(error) => return Err(ended(connection, error)),
            }
        }
    }
}

/// An error of a stream; if the connection ended, the reason for that.
fn ended(connection: &Connection, error: noq::ReadError) -> Error {
    match connection.close_reason() {
        Some(reason) => Error::failed("the connection ended", reason),
        None => Error::failed("the transfer ended", error),
    }
}

/// An error with what is left to continue.
fn kept(error: Error, output: Output, received: u64) -> Result<Error, Error> {
    let part: Option<PathBuf> = output.keep(received)?;
    Ok(match part.as_deref().map(Path::display) {
        Some(part) => Error::Failed(format!(
            "{error}\nhelp: what came is in {part}: the same command with --continue goes on from there"
        )),
        None => error,
    })
}

/// Digest of bytes, for those who check.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex(&sha2::Sha256::digest(bytes))
}
