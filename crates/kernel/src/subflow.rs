//! What the subflows under our controllers publish: `struct ab_subflow` in `bpf/status.bpf.c`.

use crate::programs::STATUS;
use crate::words::Words;
use libbpf_rs::{Error, Iter, ObjectBuilder};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// A TCP socket under one of our controllers, in any of TCP's states.
#[derive(Clone, Debug, PartialEq)]
pub struct Subflow {
    /// The controller's name in the kernel.
    pub controller: String,
    /// Whether the controller has begun on it; if not, it publishes nothing yet.
    pub begun: bool,
    /// Whether the path manager keeps it in reserve.
    pub backup: bool,
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
    /// Number that the subflows of one connection share; zero for plain TCP.
    pub connection: u64,
    /// Fraction of the window in 2^-32 segments.
    pub credit: i64,
    /// Growth per acknowledged segment at the last ACK, in 2^-32 segments; zero while not coupled.
    pub growth: i64,
    /// Segments acknowledged since the last loss.
    pub since_loss: u32,
    /// And between the last two.
    pub between_losses: u32,
    /// Congestion events.
    pub losses: u32,
    /// ACKs that passed without a callback.
    pub missed: u32,
    /// Windows and thresholds set right.
    pub repairs: u32,
    /// Usable paths of the connection at the last ACK.
    pub paths: u8,
}

/// Bytes of one record.
const RECORD: usize = 72 + 72; // the socket, and `struct ab_path`

/// The sockets under our controllers in the calling thread's network namespace.
///
/// # Errors
/// What the kernel answers when the program that reads them cannot be loaded.
pub fn subflows() -> Result<Vec<Subflow>, Error> {
    let object = ObjectBuilder::default().open_memory(STATUS)?.load()?;
    let program =
        object.progs_mut().next().ok_or_else(|| io::Error::other("status.o has no program"))?;
    let mut iter = Iter::new(&program.attach()?)?;
    let mut bytes = Vec::new();
    iter.read_to_end(&mut bytes)?;
    Ok(bytes.chunks_exact(RECORD).map(Subflow::from_bytes).collect())
}

impl Subflow {
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = Words(bytes);
        let controller = words.bytes::<16>();
        let controller = controller.split(|byte| *byte == 0).next().unwrap_or_default();
        let (local, remote) = (words.bytes::<16>(), words.bytes::<16>());
        let (local_port, remote_port, flags) = (words.u16(), words.u16(), words.u8());
        let [ipv6, begun, backup] = [1, 2, 4].map(|flag| flags & flag != 0);
        let (state, ca_state, _) = (words.u8(), words.u8(), words.u8());
        let (cwnd, ssthresh, srtt_us, delivered) =
            (words.u32(), words.u32(), words.u32(), words.u32());
        let (connection, credit, growth) = (words.u64(), words.i64(), words.i64());
        let [_, since_loss, between_losses] = [words.u32(), words.u32(), words.u32()];
        let [_, _, _, _] = [words.u32(), words.u32(), words.u32(), words.u32()]; // the shell's mirrors
        let [losses, missed, repairs] = [words.u32(), words.u32(), words.u32()];
        let [_, _, paths] = [words.u8(), words.u8(), words.u8()];
        Subflow {
            controller: String::from_utf8_lossy(controller).into_owned(),
            begun,
            backup,
            local: SocketAddr::new(address(local, ipv6), local_port),
            remote: SocketAddr::new(address(remote, ipv6), remote_port),
            state,
            ca_state,
            cwnd,
            ssthresh,
            srtt_us,
            delivered,
            connection,
            credit,
            growth,
            since_loss,
            between_losses,
            losses,
            missed,
            repairs,
            paths,
        }
    }
}

fn address(bytes: [u8; 16], ipv6: bool) -> IpAddr {
    match ipv6 {
        true => IpAddr::from(bytes).to_canonical(),
        false => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
    }
}
