//! One emulation: the loop that sleeps, reads and writes.

use crate::capture::Capture;
use crate::clock::{Clock, PreciseSleep, sleep, thread_cpu, thread_waited};
use crate::device::{Device, SetupError};
use crate::forward::{Forwarder, Outside, Settings};
use crate::report::{Processor, Report};
use rustix::event::{PollFd, PollFlags};
use scenario::Plan;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::{Span, Time};

/// Progress of an emulation, and the request to stop; shared with the thread that watches it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Nanoseconds since the start of the clock.
    elapsed: AtomicU64,
    stop: AtomicBool,
}

impl Watch {
    /// Seconds since the start of the clock.
    pub fn elapsed_s(&self) -> f64 {
        Span(self.elapsed.load(Ordering::Relaxed)).seconds()
    }

    /// Ends the emulation within 50 ms; its result is the measurements until then.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Longest sleep of the emulator, so that it notices a stop.
const BREATH: Span = Span::millis(50);

/// The network of a plan between devices, ready to run once.
pub struct Emulator {
    devices: Vec<Device>,
    forwarder: Forwarder,
    duration: Span,
}

impl Emulator {
    /// Builds the network of `plan` between `devices`, which become non-blocking.
    ///
    /// # Errors
    /// A path lacks a device or has two, a device belongs to no path, or there are too few ports.
    pub fn new(
        plan: &Plan,
        devices: Vec<Device>,
        settings: Settings,
    ) -> Result<Emulator, SetupError> {
        let forwarder = Forwarder::new(plan, &devices, settings)?;
        Ok(Emulator { devices, forwarder, duration: plan.duration })
    }

    /// Writes packets at the senders' devices to `out` as pcapng, with the first `keep` bytes of
    /// each; `plan` is the emulator's own. The clock is that of the emulation.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn record(
        &mut self,
        plan: &Plan,
        out: Box<dyn Write + Send>,
        keep: usize,
    ) -> io::Result<()> {
        self.forwarder.capture = Some(Capture::new(out, plan, &self.devices, keep)?);
        Ok(())
    }

    /// Moves packets in the calling thread for `duration`, by default the plan's duration, or until
    /// it is stopped. The clock starts with the call.
    ///
    /// # Errors
    /// A device has failed, or a capture cannot be written.
    ///
    /// # Panics
    /// If packets appear or vanish: that is a fault of the emulator.
    pub fn run(self, watch: &Watch, duration: Option<Span>) -> io::Result<Report> {
        let Emulator { devices, mut forwarder, duration: planned } = self;
        let end = Time::ZERO + duration.unwrap_or(planned);
        let mut polls: Vec<PollFd<'_>> =
            devices.iter().map(|device| PollFd::new(&device.fd, PollFlags::IN)).collect();
        let _precise = PreciseSleep::begin();
        let clock = Clock::start();
        let (cpu, waited) = (thread_cpu(), thread_waited());
        let outside = Outside { devices: &devices, clock: &clock };
        let mut looked = clock.now();
        loop {
            let now = clock.now();
            forwarder.advance(now.min(end), outside);
            watch.elapsed.store(now.min(end).0, Ordering::Relaxed);
            if now >= end || watch.stop.load(Ordering::Relaxed) {
                break;
            }
            let asleep = clock.now();
            sleep(&mut polls, forwarder.next().min(end).since(asleep).min(BREATH))?;
            let woken = clock.now();
            read_all(&mut forwarder, &polls, outside, looked + woken.since(asleep), end)?;
            looked = woken;
        }
        let counts = forwarder.conservation();
        let buffers = forwarder.buffers();
        assert!(
            counts.holds() && counts.in_flight == buffers,
            "packets were lost track of: {counts:?}, {buffers} buffers in use"
        );
        if let Some(capture) = forwarder.capture.take() {
            capture.finish()?;
        }
        let elapsed = clock.now().seconds();
        let fraction = |before: Span, after: Span| (after - before).seconds() / elapsed;
        Ok(forwarder.finish(Processor {
            used: fraction(cpu, thread_cpu()),
            waited: waited.zip(thread_waited()).map_or(f64::NAN, |(a, b)| fraction(a, b)),
        }))
    }
}

/// Reads a batch from every device with packets. Each batch is stamped with the time at which its
/// reading began, after all events due until then, so that time never goes back for a link. `free`
/// is the time of the last look plus the sleep: packets have waited at most since then, or arrived
/// during the sleep.
fn read_all(
    forwarder: &mut Forwarder,
    polls: &[PollFd<'_>],
    outside: Outside<'_>,
    free: Time,
    end: Time,
) -> io::Result<()> {
    for (index, polled) in polls.iter().enumerate() {
        let ready = polled.revents();
        if ready.is_empty() {
            continue;
        }
        let now = outside.clock.now();
        if now >= end {
            break;
        }
        forwarder.advance(now, outside);
        let device = &outside.devices[index];
        let read =
            forwarder.read(index, now.since(free), outside).map_err(|error| gone(device, error))?;
        if !read && !ready.contains(PollFlags::IN) {
            return Err(gone(device, io::ErrorKind::BrokenPipe.into()));
        }
    }
    Ok(())
}

fn gone(device: &Device, error: io::Error) -> io::Error {
    let Device { class, path, side, .. } = device;
    io::Error::new(
        error.kind(),
        format!("the {side}'s device of class {class}, path {path} cannot be read: {error}"),
    )
}

#[cfg(test)]
mod tests;
