//! The wall clock, sleep, and the cost of the thread. The only file of the project that reads them
//! in a run.

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};
use units::{NANOS, Span, Time};

/// Time since a run began.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Starts the clock at zero.
    #[expect(clippy::disallowed_methods, reason = "the emulator runs on the wall clock")]
    pub fn start() -> Self {
        Clock(Instant::now())
    }

    /// The same clock as one that shows `elapsed` now.
    pub fn beside(elapsed: Span) -> Self {
        let now = Clock::start().0;
        Clock(now.checked_sub(Duration::from_nanos(elapsed.0)).unwrap_or(now))
    }

    /// The time; it never decreases.
    #[expect(clippy::disallowed_methods, reason = "the emulator runs on the wall clock")]
    pub fn now(&self) -> Time {
        let elapsed = Instant::now().duration_since(self.0);
        Time(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Sleeps until a file of `polls` can be read, but at most `longest`.
///
/// # Errors
/// The system refuses.
pub fn sleep(polls: &mut [PollFd<'_>], longest: Span) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: (longest.0 / NANOS) as i64,
        tv_nsec: (longest.0 % NANOS) as i64, // below a second
    };
    match poll(polls, Some(&timeout)) {
        Ok(_) => Ok(()),
        Err(Errno::INTR) => {
            polls.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Processor time used by the calling thread.
pub fn thread_cpu() -> Span {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Span(time.tv_sec as u64 * NANOS + time.tv_nsec as u64)
}

/// How long the calling thread has been ready to run without a processor; `None` if the kernel does
/// not report it.
pub fn thread_waited() -> Option<Span> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_ascii_whitespace().nth(1)?.parse().ok().map(Span)
}

/// While this value lives, the calling thread is woken as soon as its sleep is over. Linux
/// otherwise adds up to 50 µs to a sleep of a thread without real-time priority, so that wake-ups
/// coincide.
#[derive(Debug)]
pub struct PreciseSleep {
    before: Option<u64>,
}

impl PreciseSleep {
    /// Begins it.
    pub fn begin() -> Self {
        let before = rustix::thread::current_timer_slack().ok();
        // If it is refused, sleeps are less precise, which the measured lateness shows.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).ok();
        PreciseSleep { before }
    }
}

impl Drop for PreciseSleep {
    fn drop(&mut self) {
        if let Some(slack) = self.before {
            rustix::thread::set_current_timer_slack(NonZeroU64::new(slack)).ok();
        }
    }
}
