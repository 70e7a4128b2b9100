//! Observers of a run: the log of events, a capture, a qlog. They do not change the run.

mod capture;
mod log;
mod qlog;
mod subflow;

use crate::trace::{Event, Trace};
use capture::Capture;
use log::Log;
use qlog::Qlog;
pub use qlog::QlogForm;
use scenario::Plan;
use std::io::{self, Write};
use transport::{Note, PathReport};
use units::Time;
use wire::{Range, Segment};

/// The recordings written during a run; each is complete at its end.
#[derive(Default)]
pub struct Recording {
    /// A capture at the hosts that send, as pcapng.
    pub pcap: Option<Box<dyn Write + Send>>,
    /// A log of every path, as qlog.
    pub qlog: Option<Box<dyn Write + Send>>,
    /// The version and serialization of that log.
    pub qlog_form: QlogForm,
    /// Events after this time are not written.
    pub until: Option<Time>,
    /// Bytes of each packet that a capture keeps; `None` keeps all.
    pub keep: Option<usize>,
}

/// The observers of a run.
#[derive(Default)]
pub(crate) struct Watch {
    log: Option<Log>,
    capture: Option<Capture>,
    qlog: Option<Qlog>,
    until: Time,
}

impl Watch {
    /// A log of up to `events` entries, and the recordings of `recording`; `None` if nothing is
    /// requested.
    pub(crate) fn new(
        plan: &Plan,
        seed: u64,
        events: Option<usize>,
        recording: Recording,
    ) -> io::Result<Option<Self>> {
        let Recording { pcap, qlog, qlog_form, until, keep } = recording;
        if events.is_none() && pcap.is_none() && qlog.is_none() {
            return Ok(None);
        }
        let keep = keep.unwrap_or(usize::MAX);
        Ok(Some(Watch {
            log: events.map(Log::new),
            capture: pcap.map(|out| Capture::new(out, plan, seed, keep)).transpose()?,
            qlog: qlog.map(|out| Qlog::new(out, qlog_form, plan, seed)),
            until: until.unwrap_or(Time::NEVER),
        }))
    }

    /// Adds to the log of events.
    pub(crate) fn note(&mut self, event: Event) {
        if let Some(log) = &mut self.log {
            log.note(event);
        }
    }

    /// A sender has sent `segment`; for a combination, `ranges` has its data.
    pub(crate) fn sent(&mut self, now: Time, path: u32, segment: &Segment, ranges: &[Range]) {
        if now > self.until {
            return;
        }
        if let Some(capture) = &mut self.capture {
            capture.sent(now, path, segment, ranges);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.sent(now, path, segment);
        }
    }

    /// Whether senders shall keep notes.
    pub(crate) fn reads_notes(&self) -> bool {
        self.qlog.is_some()
    }

    /// Notes of the sender whose first path is `first_path`.
    pub(crate) fn notes(&mut self, now: Time, first_path: u32, notes: &[Note]) {
        if let Some(qlog) = self.qlog.as_mut().filter(|_| now <= self.until) {
            qlog.notes(now, first_path, notes);
        }
    }

    /// A receiver has sent `answer`.
    pub(crate) fn answered(&mut self, now: Time, path: u32, answer: &Segment) {
        if let Some(capture) = &mut self.capture {
            capture.answered(now, path, answer);
        }
    }

    /// `answer` arrived at the sender.
    pub(crate) fn heard(&mut self, now: Time, path: u32, answer: &Segment) {
        if let Some(capture) = &mut self.capture {
            capture.heard(now, path, answer, now <= self.until);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| now <= self.until) {
            qlog.heard(now, path, answer);
        }
    }

    /// The state of `path` after an event of its sender.
    pub(crate) fn state(&mut self, now: Time, path: u32, report: &PathReport) {
        if let Some(log) = &mut self.log {
            log.state(now, path, report);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| now <= self.until) {
            qlog.state(now, path, report);
        }
    }

    /// `answer` was lost.
    pub(crate) fn gone(&mut self, path: u32, answer: &Segment) {
        if let Some(capture) = &mut self.capture {
            capture.gone(path, answer);
        }
    }

    /// `answer` was duplicated.
    pub(crate) fn copied(&mut self, path: u32, answer: &Segment) {
        if let Some(capture) = &mut self.capture {
            capture.copied(path, answer);
        }
    }

    /// `path` has joined and numbers its bytes from `seq` on.
    pub(crate) fn joined(&mut self, path: u32, seq: u64) {
        if let Some(capture) = &mut self.capture {
            capture.joined(path, seq);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.joined(path);
        }
    }

    /// `path` has left.
    pub(crate) fn left(&mut self, now: Time, path: u32) {
        if let Some(capture) = self.capture.as_mut().filter(|_| now <= self.until) {
            capture.left(now, path);
        }
        if let Some(qlog) = self.qlog.as_mut().filter(|_| now <= self.until) {
            qlog.left(now, path);
        }
    }

    /// The run has ended: completes the recordings. Returns the log of events.
    pub(crate) fn finish(self) -> io::Result<Option<Box<Trace>>> {
        if let Some(capture) = self.capture {
            capture.finish()?;
        }
        if let Some(qlog) = self.qlog {
            qlog.finish()?;
        }
        Ok(self.log.map(Log::finish))
    }
}
