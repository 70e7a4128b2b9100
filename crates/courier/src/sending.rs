//! The endpoint of `transport` that sends: one whose controller sets windows, over paths that may
//! be coded, or TFRC's, whose controller sets rates and goes by reports.

use crate::Settings;
use control::AnyController;
use std::sync::Arc;
use transport::coded::{self, Sent};
use transport::{
    PathReport, SenderSettings, SendingEndpoint, Source, Transmit, Written, tcp, tfrc,
};
use units::Time;
use wire::{Combination, Data, TfrcData};

/// A segment to send.
#[derive(Debug)]
pub(crate) enum Segment {
    Combined(Combination),
    Plain(Data),
    Timed(TfrcData),
}

/// The endpoint.
#[derive(Debug)]
pub(crate) enum Sender {
    Windows(Box<coded::Sender<AnyController>>),
    Rates(Box<tfrc::Sender<AnyController>>),
}

impl Sender {
    /// An endpoint over `paths` paths that sends what is `written`, to a peer with a buffer of
    /// `buffer` bytes. `None` for a controller that does not run here.
    pub(crate) fn new(
        settings: &Settings,
        (paths, buffer): (usize, u32),
        written: Written,
        now: Time,
    ) -> Option<Self> {
        let options = settings.options(buffer);
        let (control, needs) = settings.control(&options, paths)?;
        let source = Source::Live(written);
        if needs.reports {
            let (segment, receive_buffer) = (settings.segment(), u64::from(buffer));
            let own = Arc::new(tfrc::Settings { segment, source, receive_buffer });
            return Some(Sender::Rates(Box::new(tfrc::Sender::new(own, control, paths, now))));
        }
        let own = Arc::new(SenderSettings::new(options, needs, source));
        let tcp = tcp::Sender::new(own, control, paths, now);
        let mut sender = coded::Sender::new(tcp, (0..paths).map(|path| settings.coding_of(path)));
        for path in settings.backup.iter().filter(|path| **path < paths) {
            sender.set_backup(*path, true);
        }
        Some(Sender::Windows(Box::new(sender)))
    }

    /// The next segment and its path.
    pub(crate) fn poll(&mut self, now: Time) -> Option<(usize, Segment)> {
        match self {
            Sender::Windows(sender) => {
                let Transmit { path, segment } = sender.poll_transmit(now)?;
                let (len, segment) = match segment {
                    Sent::Combined(what) => (what.len, Segment::Combined(what)),
                    Sent::Plain(data) => (data.len, Segment::Plain(data)),
                };
                sender.on_sent(path, len);
                Some((path, segment))
            }
            Sender::Rates(sender) => {
                let Transmit { path, segment } = sender.poll_transmit(now)?;
                sender.on_sent(path, segment.len);
                Some((path, Segment::Timed(segment)))
            }
        }
    }

    /// The application has written more.
    pub(crate) fn on_written(&mut self) {
        match self {
            Sender::Windows(sender) => sender.on_written(),
            Sender::Rates(sender) => sender.on_written(),
        }
    }

    /// `path` joins; returns the first of its numbers.
    pub(crate) fn join(&mut self, path: usize) -> u64 {
        match self {
            Sender::Windows(sender) => sender.join(path),
            Sender::Rates(sender) => sender.join(path),
        }
    }

    /// `path` leaves.
    pub(crate) fn leave(&mut self, path: usize) {
        match self {
            Sender::Windows(sender) => sender.leave(path),
            Sender::Rates(sender) => sender.leave(path),
        }
    }

    /// The counters of a path.
    pub(crate) fn report(&self, path: usize) -> PathReport {
        match self {
            Sender::Windows(sender) => sender.report(path),
            Sender::Rates(sender) => sender.report(path),
        }
    }

    /// When to call [`Sender::on_deadline`], or to poll again.
    pub(crate) fn next_deadline(&self) -> Time {
        match self {
            Sender::Windows(sender) => sender.next_deadline(),
            Sender::Rates(sender) => sender.next_deadline(),
        }
    }

    /// The deadline has come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        match self {
            Sender::Windows(sender) => sender.on_deadline(now),
            Sender::Rates(sender) => sender.on_deadline(now),
        }
    }
}
