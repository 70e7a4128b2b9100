//! The server: offers files and sends them.

use crate::controllers::{self, factory};
use crate::identity::{Identity, hex};
use crate::lanes::Paths;
use crate::message::{Answer, Request, SendingPath, read, write};
use crate::shelf::Shelf;
use crate::socket::{Source, bind, sourced};
use crate::transport::{BLOCK, MOST_BLOCKS, PROTOCOL, Side, settings};
use crate::{Error, Stop};
use noq::crypto::rustls::QuicServerConfig;
use noq::{Connection, Endpoint, EndpointConfig, Incoming, SendStream, TokioRuntime, VarInt};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::time::{Instant, timeout};

/// Bytes of a file that are read, hashed and handed to noq at once: some ten microseconds of work.
const CHUNK: usize = 64 << 10;

/// Most transfers that are remembered for [`Server::served`].
const REMEMBERED: usize = 1000;

/// Time for peers to be told that the server ends.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// What to serve, and how.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// A file, or a directory with all below it.
    pub root: PathBuf,
    /// Address and port; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// A name of [`controllers`].
    pub controller: String,
    /// Folder for a qlog of each connection.
    pub qlog: Option<PathBuf>,
}

/// A transfer that ended.
#[derive(Debug, Clone, Serialize)]
pub struct Served {
    /// Address of the client's first path.
    pub peer: String,
    /// What it asked for.
    pub name: String,
    /// Bytes of the file that were sent, without those the client had before.
    pub sent_bytes: u64,
    /// Seconds from the question to the last acknowledgement.
    pub duration_s: f64,
    /// Whether the client has all of it.
    pub complete: bool,
    /// Why nothing was sent; empty if something was.
    pub refused: String,
    /// The paths of the connection since it began.
    pub paths: Vec<SendingPath>,
}

/// A server on a bound socket.
#[derive(Debug)]
pub struct Server {
    all: Arc<All>,
    socket: Mutex<Option<UdpSocket>>,
    address: SocketAddr,
    stop: Stop,
}

#[derive(Debug)]
struct All {
    shelf: Shelf,
    controller: String,
    qlog: Option<PathBuf>,
    config: noq::ServerConfig,
    served: Mutex<VecDeque<Served>>,
}

impl Server {
    /// Binds the socket, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`Error::Wrong`] for an option that cannot be, [`Error::Failed`] for a certificate.
    pub fn new(options: &ServeOptions, identity: &Identity) -> Result<Self, Error> {
        controllers::check(&options.controller)?;
        let shelf = Shelf::new(&options.root)?;
        let tls = identity.server(PROTOCOL)?;
        let crypto = QuicServerConfig::try_from(tls)
            .map_err(|e| Error::failed("the certificate cannot be used", e))?;
        let socket = bind("listen", options.listen)?;
        let address = socket.local_addr().map_err(|e| Error::failed("the socket", e))?;
        let all = Arc::new(All {
            shelf,
            controller: options.controller.clone(),
            qlog: options.qlog.clone(),
            config: noq::ServerConfig::with_crypto(Arc::new(crypto)),
            served: Mutex::default(),
        });
        let (socket, stop) = (Mutex::new(Some(socket)), Stop::default());
        Ok(Self { all, socket, address, stop })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends [`Server::run`].
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Transfers that ended since the last call.
    pub fn served(&self) -> Vec<Served> {
        let mut served = self.all.served.lock().expect("no holder panics");
        served.drain(..).collect()
    }

    /// Serves on the calling thread until [`Server::stop`].
    ///
    /// # Errors
    /// [`Error::Failed`] if the system refuses, or if it has run before.
    pub fn run(&self) -> Result<(), Error> {
        let socket = self.socket.lock().expect("no holder panics").take();
        let socket = socket.ok_or_else(|| Error::failed("the server", "it runs once"))?;
        runtime()?.block_on(self.serve(socket))
    }

    async fn serve(&self, socket: UdpSocket) -> Result<(), Error> {
        let failed = |e| Error::failed("the socket", e);
        let endpoint = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            Some(self.all.config.clone()),
            sourced(socket, Source::default()).map_err(failed)?,
            Arc::new(TokioRuntime),
        )
        .map_err(failed)?;
        loop {
            tokio::select! {
                () = self.stop.raised() => break,
                incoming = endpoint.accept() => match incoming {
                    Some(incoming) => drop(tokio::spawn(attend(self.all.clone(), incoming))),
                    None => break,
                },
            }
        }
        endpoint.close(VarInt::from_u32(0), b"the server ends");
        // Peers that are not told wait for their time limit: nothing more can be done.
        let _ = timeout(FAREWELL, endpoint.wait_all_draining()).await;
        Ok(())
    }
}

/// A runtime on the calling thread alone, which may be in a namespace of its own.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::failed("the runtime", e))
}

/// One connection, with a group of controllers of its own.
async fn attend(all: Arc<All>, incoming: Incoming) {
    let Ok(factory) = factory(&all.controller) else { return };
    let mut config = all.config.clone();
    config.transport_config(Arc::new(settings(factory, all.qlog.as_deref(), Side::Serve)));
    // Handshakes that fail are the client's to tell.
    let Ok(accepted) = incoming.accept_with(Arc::new(config)) else { return };
    let Ok(connection) = accepted.await else { return };
    let peer = connection.path(noq::PathId::ZERO).and_then(|path| path.remote_address().ok());
    let peer = peer.map_or_else(String::new, |peer| peer.to_string());
    let paths = Paths::default();
    let follower = tokio::spawn(paths.clone().follow(connection.clone()));
    let mut streams = tokio::task::JoinSet::new();
    while let Ok((sending, mut receiving)) = connection.accept_bi().await {
        let client = Client {
            all: all.clone(),
            connection: connection.clone(),
            paths: paths.clone(),
            peer: peer.clone(),
        };
        streams.spawn(async move {
            if let Ok(request) = read(&mut receiving).await {
                client.answer(request, sending).await;
            }
        });
    }
    // Each notes what it sent; their streams ended with the connection.
    while streams.join_next().await.is_some() {}
    follower.abort();
}

struct Client {
    all: Arc<All>,
    connection: Connection,
    paths: Paths,
    peer: String,
}

impl Client {
    async fn answer(&self, request: Request, mut stream: SendStream) {
        match request {
            Request::Paths => {
                let paths = self.paths.sending();
                // A client that has gone does not want to know.
                let _ = write(&mut stream, &Answer::Paths { paths }).await;
                let _ = stream.finish();
            }
            Request::Get { name, offset, prefix } => {
                let began = Instant::now();
                let mut sent_bytes = 0;
                let sent = self.send(&mut stream, &name, (offset, &prefix), &mut sent_bytes).await;
                let refused = match &sent {
                    Ok(()) => String::new(),
                    Err(why) => why.clone().unwrap_or_default(),
                };
                let served = Served {
                    peer: self.peer.clone(),
                    name,
                    sent_bytes,
                    duration_s: began.elapsed().as_secs_f64(),
                    complete: sent.is_ok(),
                    refused,
                    paths: self.paths.sending(),
                };
                let mut list = self.all.served.lock().expect("no holder panics");
                if list.len() == REMEMBERED {
                    list.pop_front();
                }
                list.push_back(served);
            }
        }
    }

    /// Sends a file from an offset on. The error is the reason of a refusal, or nothing if the
    /// client went.
    async fn send(
        &self,
        stream: &mut SendStream,
        name: &str,
        (offset, prefix): (u64, &str),
        sent_bytes: &mut u64,
    ) -> Result<(), Option<String>> {
        let found = match self.all.shelf.find(name) {
            Ok(file) => prepared(file, offset, prefix.to_owned()).await,
            Err(why) => Err(why),
        };
        let (mut file, mut hash, size) = match found {
            Ok(found) => found,
            Err(why) => {
                let _ = write(stream, &Answer::Refused { why: why.clone() }).await;
                let _ = stream.finish();
                return Err(Some(why));
            }
        };
        let controller = self.all.controller.clone();
        let gone = |_: Error| None;
        write(stream, &Answer::Found { size, controller }).await.map_err(gone)?;
        let mut blocks = VecDeque::new();
        let rest = size - offset;
        let sending = self.send_blocks(&mut file, &mut hash, rest, (sent_bytes, &mut blocks));
        let stopped = stream.stopped();
        let whole = tokio::select! {
            whole = sending => whole?,
            // The client has enough: what waits to be sent must not hold up other answers.
            _ = stopped => {
                blocks.iter_mut().for_each(|block| drop(block.reset(VarInt::from_u32(0))));
                return Err(None);
            }
        };
        if !whole {
            return Err(Some(format!("{name:?} became shorter, or cannot be read")));
        }
        let sha256 = hex(&hash.finalize());
        write(stream, &Answer::Digest { sha256 }).await.map_err(gone)?;
        stream.finish().map_err(|_| None)?;
        tokio::select! {
            stopped = stream.stopped() => match stopped {
                Ok(None) => Ok(()),
                _ => Err(None),
            },
            // The client closes once it has all, maybe before its last acknowledgement.
            ended = self.connection.closed() => match ended {
                noq::ConnectionError::ApplicationClosed(close) if close.error_code == DONE => Ok(()),
                _ => Err(None),
            },
        }
    }
}

impl Client {
    /// Sends the next `rest` bytes of a file; false if there are fewer. Counts them, and keeps the
    /// streams that the client may not have yet.
    async fn send_blocks(
        &self,
        file: &mut File,
        hash: &mut Sha256,
        rest: u64,
        (sent_bytes, blocks): (&mut u64, &mut VecDeque<SendStream>),
    ) -> Result<bool, Option<String>> {
        let mut number = 0;
        while *sent_bytes < rest {
            let length = (rest - *sent_bytes).min(u64::from(BLOCK));
            let mut block = self.connection.open_uni().await.map_err(|_| None)?;
            // Earlier blocks first, what is sent again of them included: the client waits for them.
            let _ = block.set_priority(-number);
            number = number.saturating_add(1);
            if !self.send_block(file, hash, &mut block, length).await? {
                let _ = block.reset(VarInt::from_u32(1));
                return Ok(false);
            }
            *sent_bytes += length;
            blocks.push_back(block);
            if blocks.len() > MOST_BLOCKS as usize {
                blocks.pop_front();
            }
        }
        Ok(true)
    }

    /// Sends the next bytes of a file; false if there are fewer.
    async fn send_block(
        &self,
        file: &mut File,
        hash: &mut Sha256,
        block: &mut SendStream,
        length: u64,
    ) -> Result<bool, Option<String>> {
        let mut left = usize::try_from(length).map_err(|e| Some(e.to_string()))?;
        let mut chunk = vec![0; CHUNK.min(left)];
        while left > 0 {
            let wanted = left.min(CHUNK);
            let Ok(count) = file.read(&mut chunk[..wanted]).await else { return Ok(false) };
            if count == 0 {
                return Ok(false);
            }
            hash.update(&chunk[..count]);
            block.write_all(&chunk[..count]).await.map_err(|_| None)?;
            left -= count;
        }
        block.finish().map_err(|_| None)?;
        Ok(true)
    }
}

/// Code with which a client closes that has what it wanted.
pub(crate) const DONE: VarInt = VarInt::from_u32(0);

/// Code with which a client closes that was stopped or failed.
pub(crate) const LEFT: VarInt = VarInt::from_u32(2);

/// Opens a file at an offset if what lies before it has this digest; with the hash so far.
async fn prepared(
    path: PathBuf,
    offset: u64,
    prefix: String,
) -> Result<(File, Sha256, u64), String> {
    let work = move || -> Result<(std::fs::File, Sha256, u64), String> {
        let unreadable = |_| "the file cannot be read".to_owned();
        let file = std::fs::File::open(&path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        if offset > size {
            return Err(format!("the file has {size} bytes, fewer than the {offset} to continue"));
        }
        let hash = hash_of(&path, offset).map_err(unreadable)?;
        if offset > 0 && hex(&hash.clone().finalize()) != prefix {
            let why = "the file is not the one whose beginning is to be continued";
            return Err(why.to_owned());
        }
        Ok((file, hash, size))
    };
    let done = tokio::task::spawn_blocking(work).await;
    let (file, hash, size) = done.map_err(|e| e.to_string())??;
    let mut file = File::from_std(file);
    let sought = file.seek(std::io::SeekFrom::Start(offset)).await;
    sought.map_err(|_| "the file cannot be read".to_owned())?;
    Ok((file, hash, size))
}

/// The hash of the first `length` bytes of a file.
pub(crate) fn hash_of(path: &Path, length: u64) -> std::io::Result<Sha256> {
    use std::io::Read;
    let mut hash = Sha256::new();
    let file = std::fs::File::open(path)?;
    let copied = std::io::copy(&mut file.take(length), &mut hash)?;
    if copied < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(hash)
}
