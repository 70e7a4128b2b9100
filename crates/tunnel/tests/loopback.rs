//! Both sides over loopback, with ordinary sockets as applications.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tunnel::{Carriage, Connect, ConnectOptions, Error, Listen, ListenOptions};

fn carriage() -> Carriage {
    Carriage {
        over: "udp".to_owned(),
        controller: "couple+".to_owned(),
        redundancy: Some(1.05),
        up_to: 1.5,
        window: 6,
        rate_bps: None,
        timeout_s: 15.0,
        datagram: 1400,
        streams: 64,
        spare: vec![],
    }
}

/// A directory that goes with its value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tunnel-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn keys(&self) -> (PathBuf, PathBuf, PathBuf, String) {
        let (here, there) = (self.0.join("client.key"), self.0.join("server.key"));
        let client = tunnel::new_key(&here).unwrap();
        let server = tunnel::new_key(&there).unwrap();
        let peers = self.0.join("peers");
        std::fs::write(&peers, format!("# hosts\n{client} a laptop\n")).unwrap();
        (here, there, peers, server)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that sends back what it gets, until its client has ended.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut bytes = [0; 8192];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    if stream.write_all(&bytes[..count]).is_err() {
                        return;
                    }
                }
                let _ = stream.shutdown(Shutdown::Write);
            });
        }
    });
    address
}

struct Running {
    listen: Arc<Listen>,
    connect: Arc<Connect>,
    threads: Vec<JoinHandle<Result<(), Error>>>,
    _folder: Folder,
}

impl Running {
    fn new(name: &str, allow: &[&str], forward: Option<SocketAddr>, carriage: &Carriage) -> Self {
        let folder = Folder::new(name);
        let (key, server_key, peers, peer) = folder.keys();
        let listen = Listen::new(&ListenOptions {
            key: server_key,
            peers,
            addresses: ["127.0.0.1:0", "127.0.0.2:0"].map(|it| it.parse().unwrap()).to_vec(),
            allow: allow.iter().map(|it| (*it).to_owned()).collect(),
            metrics: None,
            carriage: carriage.clone(),
        });
        let listen = Arc::new(listen.unwrap());
        let paths = listen.addresses().iter().map(|to| format!("127.0.0.1={to}")).collect();
        let connect = Connect::new(&ConnectOptions {
            key,
            peer,
            paths,
            socks: Some("127.0.0.1:0".parse().unwrap()),
            forwards: forward.iter().map(|to| format!("127.0.0.1:0={to}")).collect(),
            transparent: vec![],
            metrics: None,
            carriage: carriage.clone(),
        });
        let connect = Arc::new(connect.unwrap());
        let (one, other) = (listen.clone(), connect.clone());
        let threads = vec![thread::spawn(move || one.run()), thread::spawn(move || other.run())];
        Running { listen, connect, threads, _folder: folder }
    }

    /// A connection through SOCKS5, and the reply.
    fn socks(&self, to: SocketAddr) -> (TcpStream, u8) {
        let mut stream = TcpStream::connect(self.connect.addresses()[0]).unwrap();
        let SocketAddr::V4(to) = to else { panic!("an address of IPv4") };
        stream.write_all(&[5, 1, 0, 5, 1, 0, 1]).unwrap();
        stream.write_all(&to.ip().octets()).unwrap();
        stream.write_all(&to.port().to_be_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        (stream, answer[3])
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.connect.stop();
        self.listen.stop();
        for thread in self.threads.drain(..) {
            thread.join().unwrap().unwrap();
        }
    }
}

/// Sends `count` bytes to an echo and reads them back; whether they are the same.
fn round_trip(mut stream: TcpStream, seed: u8, count: usize) -> bool {
    let bytes: Vec<u8> =
        (0..count).map(|at| (at as u8).wrapping_mul(seed).wrapping_add(7)).collect();
    let sent = Sha256::digest(&bytes);
    let mut writer = stream.try_clone().unwrap();
    let writing = thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    Sha256::digest(&back) == sent && back.len() == count
}

#[test]
fn what_goes_through_socks_and_a_forward_comes_back_the_same() {
    let echo = echo();
    let running = Running::new("echo", &["127.0.0.1/32"], Some(echo), &carriage());
    let (stream, reply) = running.socks(echo);
    assert_eq!(reply, 0);
    assert!(round_trip(stream, 3, 3_000_000));
    let forward = running.connect.addresses()[1];
    let many: Vec<_> = (1..9)
        .map(|seed| {
            let stream = TcpStream::connect(forward).unwrap();
            thread::spawn(move || round_trip(stream, seed, 200_000))
        })
        .collect();
    assert!(many.into_iter().all(|one| one.join().unwrap()));
}

#[test]
fn without_coding_it_is_the_same() {
    let echo = echo();
    let plain = Carriage { controller: "lia".to_owned(), redundancy: None, ..carriage() };
    let running = Running::new("plain", &["127.0.0.1/32"], None, &plain);
    assert!(round_trip(running.socks(echo).0, 5, 2_000_000));
}

/// Whether this process may have raw sockets; without them there is no Multipath TCP of ours.
fn may_have_packets() -> bool {
    let raw = socket2::Type::RAW;
    socket2::Socket::new(socket2::Domain::IPV4, raw, Some(socket2::Protocol::TCP)).is_ok()
}

#[test]
fn over_multipath_tcp_it_is_the_same() {
    let over = Carriage { over: "mptcp".to_owned(), ..carriage() };
    if !may_have_packets() {
        let wrong = Folder::new("refused");
        let (_, key, peers, _) = wrong.keys();
        let addresses = vec!["127.0.0.1:0".parse().unwrap()];
        let (allow, metrics) = (vec![], None);
        let options =
            ListenOptions { key, peers, addresses, allow, metrics, carriage: over.clone() };
        let error = Listen::new(&options).err().unwrap().to_string();
        assert!(error.contains("CAP_NET_RAW"), "{error}");
        return;
    }
    let to = echo();
    let running = Running::new("mptcp", &["127.0.0.1"], Some(to), &over);
    let forward = TcpStream::connect(running.connect.addresses()[1]).unwrap();
    assert!(round_trip(forward, 3, 3_000_000));
    let (stream, reply) = running.socks(to);
    assert_eq!(reply, 0);
    assert!(round_trip(stream, 5, 3_000_000));
}

#[test]
fn a_target_that_is_not_allowed_or_not_there_is_refused_with_the_reply_of_the_rfc() {
    let echo = echo();
    let running = Running::new("refuse", &["public"], None, &carriage());
    assert_eq!(running.socks(echo).1, 2, "loopback is not allowed");
    drop(running);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let running = Running::new("closed", &["127.0.0.1/32"], None, &carriage());
    assert_eq!(running.socks(closed).1, 5);
    assert!(round_trip(running.socks(echo).0, 9, 1000), "others are not harmed");
}

#[test]
fn options_that_are_wrong_are_refused_with_field_and_value() {
    let folder = Folder::new("wrong");
    let (key, ..) = folder.keys();
    let right = ConnectOptions {
        key,
        peer: "00".repeat(32),
        paths: vec!["127.0.0.1:9".to_owned()],
        socks: None,
        forwards: vec![],
        transparent: vec![],
        metrics: None,
        carriage: carriage(),
    };
    let wrong = |options: ConnectOptions| match Connect::new(&options) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{options:?} is taken"),
    };
    let error = wrong(right.clone());
    assert!(error.starts_with("socks: ") && error.contains("--forward"), "{error}");
    let error = wrong(ConnectOptions { peer: "abc".to_owned(), ..right.clone() });
    assert!(error.starts_with("peer: ") && error.contains("abc"), "{error}");
    let error = wrong(ConnectOptions { paths: vec!["nowhere".to_owned()], ..right.clone() });
    assert!(error.starts_with("path: ") && error.contains("nowhere"), "{error}");
    let forwards = vec!["127.0.0.1:0=x".to_owned()];
    let error = wrong(ConnectOptions { forwards, ..right.clone() });
    assert!(error.starts_with("forward: ") && error.contains("HOST:PORT"), "{error}");
    let metrics = Some("0.0.0.0:0".parse().unwrap());
    let socks = Some("127.0.0.1:0".parse().unwrap());
    let error = wrong(ConnectOptions { metrics, socks, ..right.clone() });
    assert!(error.starts_with("metrics: ") && error.contains("0.0.0.0"), "{error}");
    for (name, says) in
        [("lyer", "anabranch list controllers"), ("tfrc", "--uncoded"), ("linux:cubic", "couple+")]
    {
        let carriage = Carriage { controller: name.to_owned(), ..carriage() };
        let error = wrong(ConnectOptions { carriage, ..right.clone() });
        assert!(error.starts_with("controller: ") && error.contains(says), "{error}");
    }
    let carriage = Carriage { redundancy: Some(0.5), ..carriage() };
    let error = wrong(ConnectOptions { carriage, ..right });
    assert!(error.starts_with("coding: ") && error.contains("0.5"), "{error}");
}

#[test]
fn a_secret_that_others_can_read_is_refused_and_none_is_overwritten() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("secret");
    let file = folder.0.join("own.key");
    let public = tunnel::new_key(&file).unwrap();
    assert_eq!(tunnel::public_key(&file).unwrap(), public);
    assert!(tunnel::new_key(&file).unwrap_err().to_string().contains("exists already"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(tunnel::public_key(&file).unwrap_err().to_string().contains("chmod 600"));
}
