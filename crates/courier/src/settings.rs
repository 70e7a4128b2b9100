//! Settings of a connection.

use crate::frame::OVERHEAD;
use crate::noise::TAG_BYTES;
use crate::{MAX_PATHS, datagram};
use control::{AnyController, ControllerSpec, Needs};
use transport::coded::Coding;
use transport::{DelayedAck, Idle, Options};
use units::{Bytes, Rate, Span};

/// Settings of one end. Ends need not agree on them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The controller of what this end sends.
    pub controller: ControllerSpec,
    /// The coding of what this end sends; without it, segments leave as they are. A controller that
    /// uses reports has none.
    pub coding: Option<Coding>,
    /// Paths on which segments leave as they are, whatever the coding of others is.
    pub uncoded: Vec<usize>,
    /// Paths that are used only while no other works.
    pub backup: Vec<usize>,
    /// The path that begins as a TCP under controllers with a base flow.
    pub base: usize,
    /// Options of the endpoint that sends. Sizes, the receiver's buffer and its ACKs, and ECN are
    /// the courier's own.
    pub transport: Options,
    /// Bytes of a full datagram: payload of UDP.
    pub datagram: usize,
    /// Bytes that wait at this end for earlier bytes; announced to the peer.
    pub buffer: u32,
    /// Most streams at a time.
    pub streams: usize,
    /// Bytes by which the windows of all streams together may exceed their smallest size.
    pub pool: u64,
    /// Most bits per second that this end sends.
    pub rate: Option<Rate>,
    /// A path is probed after this time without a datagram.
    pub keep_alive: Span,
    /// A connection without a datagram on any path for this time has ended.
    pub timeout: Span,
}

/// Segments shorter than a full one that may be unacknowledged at a time (Nagle's rule with more
/// than one): they bound the number of segments in flight.
pub(crate) const SMALL: usize = 64;

/// Bytes of a stream's window at least.
pub(crate) const STREAM_WINDOW: u32 = 64 << 10;

/// Bytes of a stream's window at most.
pub(crate) const STREAM_MOST: u32 = 4 << 20;

/// Bytes of a stream that wait at its sender.
pub(crate) const STREAM_BACKLOG: usize = 64 << 10;

/// Largest buffer that a peer is granted, whatever it announces.
pub(crate) const MOST_BUFFER: u32 = 64 << 20;

/// Largest timeout of a segment: a path that returns is noticed within this time.
const RTO_MAX: Span = Span::millis(4_000);

impl Settings {
    /// The defaults, under `controller`.
    pub fn new(controller: ControllerSpec) -> Self {
        let coded = !controller.needs().reports;
        Settings {
            controller,
            coding: coded.then_some(Coding { redundancy: 1.05, window: 6, up_to: Some(1.5) }),
            uncoded: Vec::new(),
            backup: Vec::new(),
            base: 0,
            transport: Options { idle: Idle::Decay, rto_max: RTO_MAX, ..Options::default() },
            datagram: 1400,
            buffer: 4 << 20,
            streams: 256,
            pool: 32 << 20,
            rate: None,
            keep_alive: Span::millis(5_000),
            timeout: Span::millis(15_000),
        }
    }

    /// The coding of `path`, if it has one.
    pub(crate) fn coding_of(&self, path: usize) -> Option<Coding> {
        self.coding.filter(|_| !self.uncoded.contains(&path))
    }

    /// Payload bytes of a full segment.
    pub(crate) fn segment(&self) -> u32 {
        (self.datagram - datagram::SEALED_HEADER - TAG_BYTES - OVERHEAD) as u32
    }

    /// Options of an endpoint whose receiver has a buffer of `buffer` bytes.
    pub(crate) fn options(&self, buffer: u32) -> Options {
        Options {
            packet: Bytes(self.datagram as u64 + 28), // headers of IPv4 and UDP
            payload: Bytes(u64::from(self.segment())),
            receive_buffer: Bytes(u64::from(buffer)),
            delayed_ack: DelayedAck::After(Span::ZERO),
            autotune: false,
            handshake: false,
            ecn: false,
            ..self.transport.clone()
        }
    }

    /// Segments of one path that may wait to be decoded: all that fit into the buffer, and small
    /// ones.
    pub(crate) fn most_pending(&self) -> usize {
        (self.buffer / SMALLEST_SEGMENT) as usize + 2 * SMALL + 64
    }

    /// A bound on the bytes of payload that a connection over `paths` paths holds.
    ///
    /// Of what it receives: pieces and undecoded segments within `buffer`, with the rows of the
    /// decoders, the 255 newest decoded segments of each path, and the windows of streams. Of
    /// what it sends: at most the peer's buffer on each path, and the backlog of streams.
    pub fn most_bytes(&self, paths: usize) -> u64 {
        let (pending, datagram) = (self.most_pending() as u64, self.datagram as u64);
        let decoder = (pending + 255) * datagram + pending * pending / 4;
        let streams = self.streams as u64 * u64::from(STREAM_WINDOW) + self.pool;
        let sending = (2 + 2 * paths as u64) * u64::from(MOST_BUFFER.min(self.buffer));
        let backlog = (self.streams * STREAM_BACKLOG) as u64;
        u64::from(self.buffer) + paths as u64 * decoder + streams + sending + backlog
    }

    /// Checks the values.
    ///
    /// # Errors
    /// The field that is wrong, and what is wrong with it.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !DATAGRAM.contains(&self.datagram) {
            let why = format!(
                "{} bytes are no size of a datagram; give {} to {}",
                self.datagram,
                DATAGRAM.start(),
                DATAGRAM.end()
            );
            return Err(("datagram", why));
        }
        if !BUFFER.contains(&self.buffer) {
            let (from, to) = (BUFFER.start(), BUFFER.end());
            let why = format!("{} bytes are no buffer; give {from} to {to}", self.buffer);
            return Err(("buffer", why));
        }
        if !(1..=65_536).contains(&self.streams) {
            let why = format!("{} is no number of streams; give 1 to 65536", self.streams);
            return Err(("streams", why));
        }
        if self.timeout < Span::millis(1000) || self.keep_alive >= self.timeout {
            let why = format!(
                "{:.3} s; give at least 1 s, and more than the keep-alive of {:.3} s",
                self.timeout.seconds(),
                self.keep_alive.seconds()
            );
            return Err(("timeout", why));
        }
        if let Some(path) = self.backup.iter().find(|path| **path >= MAX_PATHS) {
            return Err(("backup", format!("there is no path {path}; the first is 0")));
        }
        if self.controller.needs().reports && !self.backup.is_empty() {
            let why = format!("`{}` goes by reports, and uses every path", self.controller);
            return Err(("backup", why));
        }
        if let Some(coding) = self.coding.filter(|_| self.controller.needs().reports) {
            let why = format!(
                "redundancy {}: `{}` goes by reports, and paths without coding have them",
                coding.redundancy, self.controller
            );
            return Err(("coding", why));
        }
        let checked = self.coding.map_or(Ok(()), |coding| coding.check());
        checked.map_err(|wrong| {
            ("coding", format!("{} = {}: {}", wrong.key, wrong.value, wrong.right))
        })
    }
}

/// 1200 bytes pass everywhere (RFC 9000 §14); 1472 are what IPv4 leaves of Ethernet.
const DATAGRAM: std::ops::RangeInclusive<usize> = 600..=1472;
/// Payload of a segment in the smallest datagram, rounded down.
const SMALLEST_SEGMENT: u32 = 500;
const BUFFER: std::ops::RangeInclusive<u32> = 64 << 10..=MOST_BUFFER;

impl Settings {
    /// Whether `controller` runs in an endpoint here: not one of a kernel or of another
    /// stack.
    pub fn runs(controller: &ControllerSpec) -> bool {
        let own = Settings::new(controller.clone());
        own.control(&own.options(own.buffer), 1).is_some()
    }

    /// The controller over `paths` paths, and its needs; `None` if it does not run here.
    pub(crate) fn control(
        &self,
        options: &Options,
        paths: usize,
    ) -> Option<(AnyController, Needs)> {
        let needs = self.controller.needs();
        let control =
            AnyController::new(&self.controller, options.control(self.base.min(paths - 1)), paths);
        Some((control?, needs))
    }
}
