//! What the driver knows of the users of a class, whatever carries their data.

use scenario::{Class, PlanPath};
use std::net::Ipv4Addr;
use transport::PathReport;
use units::{Span, Time};

/// Interval at which applications write, and paths come and go.
pub(crate) const TICK: Span = Span::millis(5);

/// Port of user 0 on each of its addresses.
pub(crate) const FIRST_PORT: u16 = 20_000;

/// What users write; nobody reads its content.
pub(crate) static CHUNK: [u8; 65_536] = [0; 65_536];

/// The ends of a class.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// Index of the class in the plan.
    pub class: usize,
    /// The address from which packets of each path are sent.
    pub addresses: Vec<Ipv4Addr>,
    /// The address of the servers; user `u` has the port `first_port + u` there.
    pub server: Ipv4Addr,
    /// The port of user 0's server.
    pub first_port: u16,
    /// When each user starts.
    pub starts: Vec<Span>,
    /// Bytes that a user writes ahead of acknowledgement, at most.
    pub send_buffer: usize,
}

/// The state of a user.
#[derive(Clone, Debug)]
pub struct UserState {
    /// Index of the class in the plan.
    pub class: usize,
    /// Its number in its class.
    pub user: usize,
    /// Each open path: its index, its sender's state, and whether it has room but no data.
    pub paths: Vec<(usize, PathReport, bool)>,
    /// Bytes that its application received, if that is here.
    pub received: Option<u64>,
    /// When the whole transfer was acknowledged, if it was.
    pub completed: Option<Time>,
    /// What went wrong; empty if nothing did.
    pub trouble: String,
}

/// The users of a class. Their packets are those of the class's sockets, by their numbers.
pub(crate) trait Users: Send {
    /// When to call [`Users::tick`].
    fn next_tick(&self) -> Time;

    /// Starts users, has paths come and go, and lets applications write.
    fn tick(&mut self, now: Time);

    /// When to call [`Users::on_deadline`].
    fn next_deadline(&self) -> Time;

    /// The deadline has come.
    fn on_deadline(&mut self, now: Time);

    /// A packet arrived at `socket`.
    fn on_packet(&mut self, now: Time, socket: usize, packet: &[u8]);

    /// The next packet, and the socket that it leaves by; call until `None`.
    fn poll(&mut self, now: Time) -> Option<(usize, Vec<u8>)>;

    /// The states of all users.
    fn states(&mut self) -> Vec<UserState>;
}

/// Whether `path` has left by `now`.
pub(crate) fn leaves(path: &PlanPath, now: Time) -> bool {
    path.leave.is_some_and(|leave| Time::ZERO + leave <= now)
}

/// Bytes that a user of `class` may have written in all, `since` its start: whole segments, where
/// its application has a rate.
pub(crate) fn allowed(class: &Class, since: Span) -> u64 {
    let whole = class.transfer.map_or(u64::MAX, |transfer| transfer.0);
    let Some(rate) = class.app_rate else { return whole };
    let segment = u64::from(class.transport.segment());
    whole.min((rate.0 as f64 * since.seconds() / 8.0) as u64 / segment * segment)
}

/// Whether a path has room for a `segment` but nothing is `unsent`.
pub(crate) fn starved(report: &PathReport, segment: u32, unsent: bool) -> bool {
    let segment = f64::from(segment);
    !unsent && report.pipe as f64 + segment <= report.cwnd * segment
}
