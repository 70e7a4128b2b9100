//! Whole transfers over loopback, whose addresses 127.0.0.2 and 127.0.0.3 are two paths.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "the link between both ends delays by the clock")]

use std::collections::VecDeque;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use transfer::{Error, Fetch, FetchOptions, Identity, Report, ServeOptions, Server, Trust, sha256};

/// A directory that is served, a place for what is fetched, and an identity.
struct World {
    folder: TempDir,
    identity: Identity,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("shelf/deep")).unwrap();
        fs::write(folder.path().join("secret"), "s").unwrap();
        let identity = Identity::kept_in(&folder.path().join("identity")).unwrap();
        Self { folder, identity }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn server(&self, controller: &str) -> Server {
        let options = ServeOptions {
            root: self.at("shelf"),
            listen: ([127, 0, 0, 1], 0).into(),
            controller: controller.to_owned(),
            qlog: None,
        };
        Server::new(&options, &self.identity).unwrap()
    }

    fn options(&self, server: &Server, name: &str) -> FetchOptions {
        FetchOptions {
            target: format!("{}/{name}", server.address()),
            output: Some(self.at("out")),
            via: vec!["127.0.0.2".to_owned(), "127.0.0.3".to_owned()],
            to: Vec::new(),
            port: 0,
            trust: Trust::fingerprint(&self.identity.fingerprint()).unwrap(),
            resume: false,
            duration_s: None,
            warm_up_s: 0.0,
            qlog: None,
        }
    }
}

/// Runs `server` for the time of `client`.
fn serving<T>(server: &Server, client: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let running = scope.spawn(|| server.run());
        let done = client();
        server.stop();
        running.join().unwrap().unwrap();
        done
    })
}

/// Runs `client` with an address from which everything comes to `server` and back 5 ms later. Over
/// loopback alone the window of one path may never be full, and the other path carries nothing.
fn delaying<T>(server: SocketAddr, client: impl FnOnce(SocketAddr) -> T) -> T {
    let front = UdpSocket::bind("127.0.0.1:0").unwrap();
    front.set_nonblocking(true).unwrap();
    let (address, stop) = (front.local_addr().unwrap(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| relay(&front, server, &stop));
        let done = client(address);
        stop.store(true, Ordering::Relaxed);
        done
    })
}

/// Each address of the client has a socket of its own to the server, as behind a NAT.
fn relay(front: &UdpSocket, server: SocketAddr, stop: &AtomicBool) {
    let mut ways: Vec<(SocketAddr, UdpSocket)> = Vec::new();
    let mut line: VecDeque<(Instant, usize, bool, Vec<u8>)> = VecDeque::new();
    let mut buffer = vec![0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        let due = Instant::now() + Duration::from_millis(5);
        while let Ok((length, from)) = front.recv_from(&mut buffer) {
            let known = ways.iter().position(|(client, _)| *client == from);
            let way = known.unwrap_or_else(|| {
                let out = UdpSocket::bind("127.0.0.1:0").unwrap();
                out.connect(server).unwrap();
                out.set_nonblocking(true).unwrap();
                ways.push((from, out));
                ways.len() - 1
            });
            line.push_back((due, way, true, buffer[..length].to_vec()));
        }
        for (way, (_, out)) in ways.iter().enumerate() {
            while let Ok(length) = out.recv(&mut buffer) {
                line.push_back((due, way, false, buffer[..length].to_vec()));
            }
        }
        while line.front().is_some_and(|(due, ..)| *due <= Instant::now()) {
            let (_, way, forth, packet) = line.pop_front().unwrap();
            let (client, out) = &ways[way];
            // A full buffer loses the packet, as a queue would.
            let _ = if forth { out.send(&packet) } else { front.send_to(&packet, *client) };
        }
        thread::sleep(Duration::from_micros(200));
    }
}

fn fetched(options: &FetchOptions) -> Result<Report, Error> {
    Fetch::new(options)?.run()
}

/// Bytes that no two places of a file share.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at ^ (at >> 8) ^ (at >> 16).wrapping_mul(31)) as u8).collect()
}

fn written(place: &Path, length: usize) -> Vec<u8> {
    let bytes = content(length);
    fs::write(place, &bytes).unwrap();
    bytes
}

#[test]
fn a_file_comes_over_two_paths_byte_for_byte() {
    let world = World::new();
    let bytes = written(&world.at("shelf/deep/a"), 20_000_000);
    let server = world.server("noq:newreno");
    let report = serving(&server, || {
        delaying(server.address(), |relay| {
            let target = format!("{relay}/deep/a");
            fetched(&FetchOptions { target, ..world.options(&server, "") })
        })
    });
    let report = report.unwrap();
    assert!(report.complete);
    assert!(fs::read(world.at("out")).unwrap() == bytes);
    assert_eq!(report.sha256, Some(sha256(&bytes)));
    assert_eq!(report.received_bytes, 20_000_000);
    assert!(!world.at("out.part").exists());
    for lane in &report.lanes {
        assert_eq!((lane.opened, lane.failures), (1, 0), "{}", lane.trouble);
        assert!(lane.received_bytes > 10_000, "{lane:?}");
        assert!(lane.sent_packets > 0);
    }
    let served = server.served();
    assert_eq!((served.len(), served[0].complete), (1, true));
    assert_eq!(served[0].paths.len(), 2);
}

#[test]
fn every_controller_transfers() {
    let world = World::new();
    let bytes = written(&world.at("shelf/a"), 1_000_000);
    for name in ["noq:newreno", "noq:cubic", "noq:bbr3", "lia", "olia", "balia", "reno"] {
        let server = world.server(name);
        let report = serving(&server, || fetched(&world.options(&server, "a"))).unwrap();
        assert_eq!((report.controller.as_str(), report.complete), (name, true));
        assert!(fs::read(world.at("out")).unwrap() == bytes);
    }
}

#[test]
fn no_name_leads_out_of_what_is_served() {
    let world = World::new();
    std::os::unix::fs::symlink("../secret", world.at("shelf/link")).unwrap();
    let server = world.server("noq:newreno");
    serving(&server, || {
        for name in ["../secret", "deep/../../secret", "link", "deep", "/etc/hostname", "none"] {
            let error = fetched(&world.options(&server, name)).unwrap_err();
            assert!(error.to_string().contains("refuses"), "{name}: {error}");
            assert!(!world.at("out.part").exists());
        }
    });
    assert!(!world.at("out").exists());
    assert_eq!(server.served().len(), 6);
}

#[test]
fn another_server_is_refused_by_its_fingerprint() {
    let world = World::new();
    written(&world.at("shelf/a"), 1000);
    let server = world.server("noq:newreno");
    let other = Identity::new().unwrap().fingerprint();
    let mut options = world.options(&server, "a");
    options.trust = Trust::fingerprint(&other).unwrap();
    let error = serving(&server, || fetched(&options)).unwrap_err();
    assert!(matches!(error, Error::Wrong { field: "fingerprint", .. }), "{error}");
    assert!(error.to_string().contains(&world.identity.fingerprint()));
    assert!(!world.at("out").exists());
    assert!(server.served().is_empty());
}

#[test]
fn an_identity_is_made_once_and_kept() {
    let world = World::new();
    let again = Identity::kept_in(&world.at("identity")).unwrap();
    assert_eq!(again.fingerprint(), world.identity.fingerprint());
    assert_ne!(Identity::new().unwrap().fingerprint(), again.fingerprint());
}

#[test]
fn a_part_is_continued_where_it_ends() {
    let world = World::new();
    let bytes = written(&world.at("shelf/a"), 3_000_000);
    fs::write(world.at("out.part"), &bytes[..1_234_567]).unwrap();
    let server = world.server("noq:newreno");
    let mut options = world.options(&server, "a");
    let refused = Fetch::new(&options).unwrap_err();
    assert!(matches!(refused, Error::Wrong { field: "output", .. }), "{refused}");
    options.resume = true;
    let report = serving(&server, || fetched(&options)).unwrap();
    assert_eq!(report.resumed_at_bytes, 1_234_567);
    assert_eq!(report.received_bytes, 3_000_000 - 1_234_567);
    assert_eq!(report.sha256, Some(sha256(&bytes)));
    assert!(fs::read(world.at("out")).unwrap() == bytes);
}

#[test]
fn a_part_of_another_file_is_not_continued() {
    let world = World::new();
    written(&world.at("shelf/a"), 3000);
    let server = world.server("noq:newreno");
    let mut options = world.options(&server, "a");
    options.resume = true;
    for part in [vec![7; 1000], vec![7; 4000]] {
        fs::write(world.at("out.part"), &part).unwrap();
        let error = serving_again(&world, &options);
        assert!(error.to_string().contains("refuses"), "{error}");
        assert_eq!(fs::read(world.at("out.part")).unwrap(), part);
    }
}

/// The error of a fetch from a new server at any port.
fn serving_again(world: &World, options: &FetchOptions) -> Error {
    let server = world.server("noq:newreno");
    let mut options = options.clone();
    options.target = format!("{}/a", server.address());
    serving(&server, || fetched(&options)).unwrap_err()
}

#[test]
fn a_transfer_that_is_stopped_keeps_what_came() {
    let world = World::new();
    let bytes = written(&world.at("shelf/a"), 60_000_000);
    let server = world.server("noq:newreno");
    let mut options = world.options(&server, "a");
    let fetch = Fetch::new(&options).unwrap();
    let report = serving(&server, || {
        thread::scope(|scope| {
            let running = scope.spawn(|| fetch.run());
            while fetch.progress().received_bytes == 0 {
                thread::yield_now();
            }
            fetch.stop();
            running.join().unwrap()
        })
    })
    .unwrap();
    assert!(!report.complete && report.sha256.is_none());
    let part = fs::read(world.at("out.part")).unwrap();
    assert!(!part.is_empty() && part.len() < bytes.len());
    assert!(part == bytes[..part.len()]);
    let server = world.server("noq:newreno");
    options.target = format!("{}/a", server.address());
    options.resume = true;
    assert!(serving(&server, || fetched(&options)).unwrap().complete);
    assert!(fs::read(world.at("out")).unwrap() == bytes);
}

#[test]
fn a_measurement_ends_in_time_and_keeps_nothing() {
    let world = World::new();
    let sparse = fs::File::create(world.at("shelf/a")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let server = world.server("noq:newreno");
    let mut options = world.options(&server, "a");
    options.output = None;
    options.duration_s = Some(1.0);
    options.warm_up_s = 0.4;
    let report = serving(&server, || fetched(&options)).unwrap();
    assert!(!report.complete);
    assert!(report.measured_s > 0.3 && report.measured_s < 0.9, "{}", report.measured_s);
    assert!(report.goodput_bps > 0.0);
    let shares: f64 = report.lanes.iter().map(|lane| lane.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert!(report.lanes.iter().any(|lane| lane.sent_packets > 0), "the server told nothing");
    assert!(!world.at("out").exists() && !world.at("out.part").exists());
}
