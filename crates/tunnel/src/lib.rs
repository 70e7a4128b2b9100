//! `anabranch tunnel`: ordinary TCP connections over several paths, between two hosts.
//!
//! [`Connect`] offers SOCKS5 and fixed forwards to applications, takes connections that netfilter
//! redirects, and opens a stream for each of them; [`Listen`] opens the connections that the
//! streams ask for. Between them is what gives [`courier::Streams`]: `courier` over UDP, or the
//! endpoints of `host` with Multipath TCP in packets of their own ([`Over`]).
//!
//! Both are made, then run on the calling thread until [`Stop::stop`]. Sockets are bound when they
//! are made, so a thread that has entered a network namespace serves that namespace.

mod allow;
mod batch;
mod carrier;
mod connect;
mod engine;
mod key;
mod listen;
mod metrics;
mod monitor;
mod mptcp;
mod over;
mod places;
mod port;
mod pump;
mod raw;
mod socket;
mod socks;
mod target;
mod transparent;

pub use allow::Allowed;
pub use connect::{Connect, ConnectOptions};
pub use key::{new_key, peers, public_key};
pub use listen::{Listen, ListenOptions};
pub use metrics::Status;
pub use over::Over;
pub use service::{Error, Stop};
pub use target::Target;

/// Options of a connection that both sides have, as text where a command has text.
#[derive(Clone, Debug)]
pub struct Carriage {
    /// What is under the streams: see [`Over`].
    pub over: String,
    /// The congestion controller of what this side sends.
    pub controller: String,
    /// Redundancy R of the coding at first; none: no coding.
    pub redundancy: Option<f64>,
    /// Largest redundancy.
    pub up_to: f64,
    /// W: segments that a combination covers.
    pub window: u8,
    /// Most bits per second that this side sends.
    pub rate_bps: Option<u64>,
    /// Seconds of silence after which a connection has ended.
    pub timeout_s: f64,
    /// Bytes of a full datagram.
    pub datagram: usize,
    /// Most streams at a time.
    pub streams: usize,
    /// Paths that carry data only while no other works.
    pub spare: Vec<usize>,
}

impl Carriage {
    /// What is under the streams.
    pub(crate) fn over(&self) -> Result<Over, Error> {
        self.over.parse().map_err(|why: String| Error::wrong("over", why))
    }

    /// The settings of the carrier.
    ///
    /// # Errors
    /// [`Error::Wrong`] with the option.
    pub(crate) fn settings(&self) -> Result<courier::Settings, Error> {
        let controller = self.controller.parse::<control::ControllerSpec>();
        let controller = controller.map_err(|e| Error::wrong("controller", e.to_string()))?;
        if !courier::Settings::runs(&controller) {
            let why = format!(
                "{:?} does not run outside of its own world; give one of `anabranch list \
                 controllers`, such as couple+, lia or multi-priority",
                self.controller
            );
            return Err(Error::wrong("controller", why));
        }
        if controller.needs().reports && self.redundancy.is_some() {
            let why = format!("`{controller}` goes by reports, and codes no path; give --uncoded");
            return Err(Error::wrong("controller", why));
        }
        let coding = self.redundancy.map(|redundancy| transport::coded::Coding {
            redundancy,
            window: self.window,
            up_to: Some(self.up_to),
        });
        if self.rate_bps.is_some_and(|rate| rate < 8_000) {
            return Err(Error::wrong("rate", "below 8 kb/s nothing useful is carried; give more"));
        }
        let settings = courier::Settings {
            coding,
            backup: self.spare.clone(),
            datagram: self.datagram,
            streams: self.streams,
            rate: self.rate_bps.map(units::Rate),
            timeout: units::Span::from_seconds(self.timeout_s),
            ..courier::Settings::new(controller)
        };
        settings.check().map_err(|(field, why)| Error::wrong(field, why))?;
        Ok(settings)
    }
}
