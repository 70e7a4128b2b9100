//! The state published by the subflows under our controllers: `struct ab_subflow` in
//! `bpf/include/intf.h`.

use crate::controller::hear;
use crate::programs::STATUS;
use libbpf_rs::{Error, Iter, Link, ObjectBuilder};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use zerocopy::FromBytes;

/// A TCP socket under one of our controllers, in any of TCP's states.
#[derive(Clone, Debug, PartialEq)]
pub struct Subflow {
    /// The controller's name in the kernel.
    pub controller: String,
    /// Whether the controller has started on it; before that it publishes nothing.
    pub begun: bool,
    /// Whether the path manager keeps it as a backup.
    pub backup: bool,
    /// Whether its controller was removed from the kernel; another one may have the name now.
    pub departed: bool,
    /// Its own address.
    pub local: SocketAddr,
    /// Its peer's address.
    pub remote: SocketAddr,
    /// TCP's state, 1 for established.
    pub state: u8,
    /// Congestion state, from 0 (open) to 4 (loss).
    pub ca_state: u8,
    /// Window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments; 2^31 − 1 is infinite.
    pub ssthresh: u32,
    /// Smoothed round-trip time in µs.
    pub srtt_us: u32,
    /// Segments delivered.
    pub delivered: u32,
    /// Round trip of the last packet that was delivered in µs, not smoothed; zero before the first.
    pub rtt_us: u32,
    /// When the newest packet that was delivered was sent, in µs since boot.
    pub sent_us: u64,
    /// Bytes of data in a segment.
    pub mss: u32,
    /// The kernel's last rate sample: so many segments were delivered in so many µs, which are
    /// zero without a sample.
    pub rate: (u32, u32),
    /// Number that the subflows of one connection share; zero for plain TCP.
    pub connection: u64,
    /// Fraction of the window in 2^-32 segments.
    pub credit: i64,
    /// Growth per acknowledged segment at the last ACK, in 2^-32 segments; zero while not coupled.
    pub growth: i64,
    /// Segments acknowledged since the last loss.
    pub since_loss: u32,
    /// Segments acknowledged between the last two losses.
    pub between_losses: u32,
    /// Congestion events.
    pub losses: u32,
    /// ACKs that passed without a callback.
    pub missed: u32,
    /// Windows and thresholds corrected.
    pub repairs: u32,
    /// Usable paths of the connection at the last ACK; under `sbd`, of its group.
    pub paths: u8,
    /// The group of subflows that it shares a bottleneck with; zero if all are coupled.
    pub group: u8,
}

impl Subflow {
    /// The delivery rate of the kernel's last sample, as `tcpi_delivery_rate`; zero without one.
    pub fn rate_bps(&self) -> f64 {
        let (segments, us) = self.rate;
        if us == 0 { 0.0 } else { f64::from(segments) * f64::from(self.mss) * 8e6 / f64::from(us) }
    }
}

/// Reads the sockets under our controllers, again and again.
///
/// It is to be kept where several namespaces are read: to load its program takes a hundred times as
/// long as to run it.
pub struct Reader(Link);

impl Reader {
    /// # Errors
    /// The kernel's error when the program that reads sockets cannot be loaded.
    pub fn new() -> Result<Self, Error> {
        hear();
        let object = ObjectBuilder::default().open_memory(STATUS)?.load()?;
        let program =
            object.progs_mut().next().ok_or_else(|| io::Error::other("status.o has no program"))?;
        Ok(Reader(program.attach()?))
    }

    /// The sockets in the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn read(&self) -> Result<Vec<Subflow>, Error> {
        let mut bytes = Vec::new();
        Iter::new(&self.0)?.read_to_end(&mut bytes)?;
        Ok(bytes
            .chunks(size_of::<Row>())
            .filter_map(|row| Row::read_from_bytes(row).ok())
            .map(Subflow::from)
            .collect())
    }
}

/// The sockets under our controllers in the calling thread's network namespace.
///
/// # Errors
/// The kernel's error when the program that reads them cannot be loaded.
pub fn subflows() -> Result<Vec<Subflow>, Error> {
    Reader::new()?.read()
}

impl From<Row> for Subflow {
    fn from(row: Row) -> Self {
        let name = row.controller.split(|byte| *byte == 0).next().unwrap_or_default();
        let has = |flag: Flag| row.flags & flag as u8 != 0;
        let ipv6 = has(Flag::Ipv6);
        let path = row.path;
        Subflow {
            controller: String::from_utf8_lossy(name).into_owned(),
            begun: has(Flag::Begun),
            backup: has(Flag::Backup),
            departed: has(Flag::Departed),
            local: SocketAddr::new(address(row.local, ipv6), row.local_port),
            remote: SocketAddr::new(address(row.remote, ipv6), row.remote_port),
            state: row.state,
            ca_state: row.ca_state,
            cwnd: row.cwnd,
            ssthresh: row.ssthresh,
            srtt_us: row.srtt_us,
            delivered: row.delivered,
            rtt_us: row.rtt_us,
            sent_us: row.sent_us,
            mss: row.mss,
            rate: (row.rate_segments, row.rate_us),
            connection: path.connection,
            credit: path.credit,
            growth: path.growth,
            since_loss: path.since_loss,
            between_losses: path.between_losses,
            losses: path.losses,
            missed: path.missed,
            repairs: path.repairs,
            paths: path.paths,
            group: path.group,
        }
    }
}

fn address(bytes: [u8; 16], ipv6: bool) -> IpAddr {
    match ipv6 {
        true => IpAddr::from(bytes).to_canonical(),
        false => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
    }
}

/// A socket in the format of the iterator.
#[derive(FromBytes)]
#[repr(C)]
struct Row {
    controller: [u8; 16],
    local: [u8; 16],
    remote: [u8; 16],
    local_port: u16,
    remote_port: u16,
    flags: u8,
    state: u8,
    ca_state: u8,
    unused: u8,
    cwnd: u32,
    ssthresh: u32,
    srtt_us: u32,
    delivered: u32,
    path: Path,
    sent_us: u64,
    rtt_us: u32,
    mss: u32,
    rate_segments: u32,
    rate_us: u32,
}
layout!(ab_subflow, Row);

/// A bit of [`Row::flags`].
#[derive(Clone, Copy)]
enum Flag {
    /// The addresses are of IPv6.
    Ipv6 = 1,
    /// The controller has started on the socket.
    Begun = 2,
    /// The path manager keeps the subflow as a backup.
    Backup = 4,
    /// The controller was removed from the kernel.
    Departed = 8,
}
layout!(ab_flag, Flag);

/// A subflow's state for itself and its siblings.
#[derive(FromBytes)]
#[repr(C)]
struct Path {
    connection: u64,
    credit: i64,
    growth: i64,
    magic: u32,
    since_loss: u32,
    between_losses: u32,
    cwnd: u32,
    ssthresh: u32,
    delivered: u32,
    reduced: u32,
    losses: u32,
    missed: u32,
    repairs: u32,
    state: u8,
    pending: u8,
    paths: u8,
    running: u8,
    breaks: u16,
    group: u8,
    unused: u8,
}
layout!(ab_path, Path);
