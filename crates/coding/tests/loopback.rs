//! A file through the coding layer between two real sockets, over a network that loses, cuts,
//! duplicates and reorders packets.

#![expect(
    clippy::disallowed_methods,
    reason = "real sockets answer in real time, and a test must end"
)]

use coding::{Acknowledgement, Combination, Decoder, Header, MAX_WINDOW, Redundancy, Symbol};
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the file: its last segment is not full.
const FILE: usize = 3_000_017;
/// Bytes of a segment.
const SEGMENT: usize = 1400;
/// Most segments in a combination (`W`).
const WINDOW: u32 = 6;
const REDUNDANCY: f64 = 1.15;
/// Most unacknowledged segments: they fit into the buffer of a socket.
const FLIGHT: u32 = 48;
/// Segments for which the receiver has room.
const LIMIT: usize = 256;
/// Time without progress after which acknowledgements count as stalled.
const STILL: Duration = Duration::from_millis(3);
/// The test has failed if it takes longer.
const DEADLINE: Duration = Duration::from_secs(30);

/// A stream of pseudo-random numbers (xorshift64, Marsaglia 2003).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Whether an event of probability `percent` happens.
    fn percent(&mut self, percent: u64) -> bool {
        self.next() >> 32 < (percent << 32) / 100
    }
}

/// A socket behind a network that loses, cuts, duplicates and reorders.
struct Network<'a> {
    socket: &'a UdpSocket,
    rng: Rng,
    /// Delayed packets, with the number of packets that will overtake each.
    late: VecDeque<(u64, Vec<u8>)>,
    sent: usize,
    lost: usize,
    reordered: usize,
    duplicated: usize,
}

impl<'a> Network<'a> {
    fn new(socket: &'a UdpSocket, seed: u64) -> Self {
        let (rng, late) = (Rng(seed), VecDeque::new());
        Self { socket, rng, late, sent: 0, lost: 0, reordered: 0, duplicated: 0 }
    }

    fn send(&mut self, packet: &[u8]) -> Result<()> {
        self.sent += 1;
        if self.rng.percent(5) {
            self.lost += 1;
            if self.rng.percent(10) {
                self.socket.send(&packet[..packet.len() / 2])?; // too short: refused by its reader
            }
        } else if self.rng.percent(3) {
            self.reordered += 1;
            self.late.push_back((self.rng.next() % 8 + 1, packet.to_vec()));
        } else {
            self.socket.send(packet)?;
            if self.rng.percent(2) {
                self.duplicated += 1;
                self.socket.send(packet)?;
            }
        }
        self.late.iter_mut().for_each(|(overtaken, _)| *overtaken = overtaken.saturating_sub(1));
        while self.late.front().is_some_and(|(overtaken, _)| *overtaken == 0) {
            let Some((_, packet)) = self.late.pop_front() else { break };
            self.socket.send(&packet)?;
        }
        Ok(())
    }
}

/// The next packet; `None` if none comes within about a millisecond.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Result<Option<usize>> {
    match socket.recv(buffer) {
        Ok(len) => Ok(Some(len)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn in_time(until: Instant) -> Result<()> {
    match Instant::now() < until {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::TimedOut, "the file has not arrived by the deadline")),
    }
}

/// Segments of a file, each with its length before it, which is coded too.
fn segments(file: &[u8]) -> Vec<Vec<u8>> {
    let framed = |part: &[u8]| [&(part.len() as u16).to_be_bytes(), part].concat();
    file.chunks(SEGMENT).map(framed).collect()
}

/// The bytes after the length of a segment.
fn unframed(symbol: &[u8]) -> Option<&[u8]> {
    let (len, rest) = symbol.split_first_chunk()?;
    rest.get(..u16::from_be_bytes(*len).into())
}

/// The sending side of the path.
struct Sender<'a> {
    network: Network<'a>,
    segments: &'a [Vec<u8>],
    /// A new key for every packet.
    key: u32,
}

impl Sender<'_> {
    /// One packet: a new combination of the segments from `base` to `end`.
    fn combination(&mut self, base: u32, end: u32) -> Result<()> {
        self.key += 1;
        let combination = Combination { base, count: (end - base) as u8, key: self.key };
        let symbol = combination.combine(self.segments[base as usize..end as usize].iter());
        let mut packet = Vec::with_capacity(Header::LEN + symbol.len());
        Header { combination, len: symbol.len() as u16 }.encode(&mut packet);
        packet.extend(symbol);
        self.network.send(&packet)
    }

    /// Sends the file, and returns when all of it is acknowledged.
    fn run(&mut self, until: Instant) -> Result<()> {
        let (all, mut redundancy) = (self.segments.len() as u32, Redundancy::new(REDUNDANCY));
        let (mut said, mut next) = (Acknowledgement::default(), 0);
        let (mut advanced, mut buffer) = (Instant::now(), [0; 64]);
        while said.first_unseen < all {
            in_time(until)?;
            while next < all && next - said.first_unseen < FLIGHT {
                next += 1;
                let base = said.first_unseen.max(next.saturating_sub(WINDOW));
                (0..redundancy.on_segment()).try_for_each(|_| self.combination(base, next))?;
            }
            let len = receive(self.network.socket, &mut buffer)?;
            let heard = len.and_then(|len| Acknowledgement::decode(&buffer[..len]));
            if let Some(new) = heard.filter(|new| new.rank >= said.rank) {
                if new.first_unseen > said.first_unseen {
                    advanced = Instant::now();
                }
                said = new;
            }
            if advanced.elapsed() > STILL && said.first_unseen < next {
                let end = next.min(said.first_unseen + WINDOW);
                let packets = said.lost().clamp(1, WINDOW);
                (0..packets).try_for_each(|_| self.combination(said.first_unseen, end))?;
                advanced = Instant::now();
            }
        }
        Ok(())
    }
}

/// Receives packets until the sender is finished, and returns the segments.
fn receiver(
    mut network: Network<'_>,
    all: usize,
    done: &AtomicBool,
    until: Instant,
) -> Result<Vec<Vec<u8>>> {
    let mut decoder = Decoder::<Vec<u8>>::new(LIMIT);
    let (mut parts, mut delivered) = (vec![Vec::new(); all], 0);
    let (mut buffer, mut packet) = ([0; 2048], Vec::new());
    while !done.load(Ordering::Relaxed) {
        in_time(until)?;
        let Some(len) = receive(network.socket, &mut buffer)? else { continue };
        let Some((header, symbol)) = Header::decode(&buffer[..len]) else { continue };
        decoder.on_packet(header.combination, symbol.to_vec(), |number, symbol| {
            delivered += 1;
            parts[number as usize] = unframed(&symbol).unwrap_or_default().to_vec();
        });
        assert!(decoder.held() <= LIMIT + MAX_WINDOW);
        let (first_unseen, rank) = (decoder.first_unseen(), decoder.rank());
        packet.clear();
        Acknowledgement { first_unseen, rank, highest: decoder.highest() }.encode(&mut packet);
        network.send(&packet)?;
    }
    assert_eq!((delivered, decoder.pending(), decoder.rank() as usize), (all, 0, all));
    assert!(network.lost > all / 40 && network.reordered > 0 && network.duplicated > 0);
    Ok(parts)
}

#[test]
fn a_file_comes_through_a_network_that_loses_cuts_duplicates_and_reorders() -> Result<()> {
    let mut rng = Rng(0x5EED);
    let file: Vec<u8> = (0..FILE).map(|_| rng.next() as u8).collect();
    let (here, there) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    here.connect(there.local_addr()?)?;
    there.connect(here.local_addr()?)?;
    for socket in [&here, &there] {
        socket.set_read_timeout(Some(Duration::from_millis(1)))?;
    }
    let (until, done) = (Instant::now() + DEADLINE, AtomicBool::new(false));
    let segments = segments(&file);
    let mut sender = Sender { network: Network::new(&here, 1), segments: &segments, key: 0 };
    let (sent, parts) = thread::scope(|scope| {
        let network = Network::new(&there, 2);
        let hearing = scope.spawn(|| receiver(network, segments.len(), &done, until));
        let sent = sender.run(until);
        done.store(true, Ordering::Relaxed);
        (sent, hearing.join())
    });
    sent?;
    let Ok(parts) = parts else { return Err(Error::other("the receiver gave up")) };
    assert!(parts?.concat() == file, "the file has changed");
    let Network { sent, lost, reordered, duplicated, .. } = sender.network;
    assert!(lost > sent / 40 && reordered > 0 && duplicated > 0);
    println!("{} segments, {sent} packets, {lost} lost", segments.len());
    assert!(sent * 2 < segments.len() * 3, "{sent} packets for {} segments", segments.len());
    Ok(())
}

#[test]
fn a_symbol_without_its_length_is_no_segment() {
    assert_eq!(unframed(&[0, 2, 7, 8, 0, 0]), Some(&[7, 8][..]));
    assert_eq!(unframed(&[0, 2, 7]), None);
    assert_eq!(unframed(&Vec::zero()), None);
}
