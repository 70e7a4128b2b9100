//! The stack between two threads: packetdrill's main thread, and the one in which it makes calls
//! that block.
//!
//! Results must not depend on how the threads are scheduled. So time waits for a call that blocks:
//! it looks at everything that happens before more can happen, and once it is done its thread reads
//! the clock before the clock goes on.

use crate::calls::BLOCKS;
use crate::sockets::Errno;
use crate::stack::Stack;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use units::{Span, Time};

/// A packet that does not come within this time does not come. RFC 9293 §3.8.3 has 100 s at least
/// for a connection without answer; the scripts wait for a few seconds.
const PATIENCE: Span = Span::millis(300_000);

/// How long the other thread may take to reach its call, or to read the clock after it.
const MOMENT: Duration = Duration::from_millis(2);

pub(crate) struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
    main: ThreadId,
}

struct Inner {
    stack: Stack,
    /// Counts what has happened.
    happened: u64,
    /// What a call that blocks has seen of that.
    seen: Option<u64>,
    /// A thread whose call has ended, until it has read the clock.
    leaving: Option<ThreadId>,
}

impl Shared {
    /// For the thread that calls this, and one more.
    pub(crate) fn new(stack: Stack) -> Self {
        let inner = Inner { stack, happened: 0, seen: None, leaving: None };
        Shared { inner: Mutex::new(inner), changed: Condvar::new(), main: thread::current().id() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that never blocks.
    pub(crate) fn at_once<T>(
        &self,
        work: impl FnOnce(&mut Stack) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut inner = self.lock();
        let done = work(&mut inner.stack);
        inner.stack.settle();
        self.tell(&mut inner);
        done
    }

    fn tell(&self, inner: &mut Inner) {
        inner.happened += 1;
        self.changed.notify_all();
    }

    /// A call that fails with EAGAIN until something happens; if `blocks`, it waits for that, for
    /// `longest` at most.
    pub(crate) fn wait<T>(
        &self,
        blocks: impl Fn(&mut Stack) -> bool,
        longest: Option<Span>,
        mut work: impl FnMut(&mut Stack) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut inner = self.lock();
        let until = longest.map_or(Time::NEVER, |span| inner.stack.now + span);
        loop {
            let done = work(&mut inner.stack);
            inner.stack.settle();
            let again = matches!(done, Err(BLOCKS));
            if !again || !blocks(&mut inner.stack) || inner.stack.now >= until {
                if inner.seen.take().is_some() {
                    inner.leaving = Some(thread::current().id());
                }
                inner.stack.alarm = Time::NEVER;
                self.tell(&mut inner);
                return done;
            }
            inner.stack.alarm = until;
            if thread::current().id() == self.main {
                let next = inner.stack.next();
                if next == Time::NEVER {
                    return Err(Errno(libc::EDEADLK)); // nothing will ever happen
                }
                inner.stack.step(next);
            } else {
                let seen = inner.happened;
                inner.seen = Some(seen);
                self.changed.notify_all();
                let waited = self.changed.wait_while(inner, |inner| inner.happened == seen);
                inner = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Waits until the other thread has done what it can do now.
    fn together<'a>(&self, inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let behind = |inner: &mut Inner| {
            inner.seen.is_some_and(|seen| seen < inner.happened) || inner.leaving.is_some()
        };
        // A thread that ends without a look at the clock must not stop the test.
        let waited = self.changed.wait_timeout_while(inner, 100 * MOMENT, behind);
        let mut inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        inner.leaving = None;
        inner
    }

    /// Lets time pass until `to`, or until `enough`.
    fn pass(&self, to: Time, enough: impl Fn(&Stack) -> bool) {
        let mut inner = self.together(self.lock());
        while !enough(&inner.stack) && !inner.stack.step(to) {
            self.tell(&mut inner);
            inner = self.together(inner);
        }
    }

    /// Sleeps.
    pub(crate) fn sleep(&self, span: Span) {
        thread::sleep(MOMENT); // the other thread may be on its way to a call that blocks
        let to = self.lock().stack.now + span;
        self.pass(to, |_| false);
    }

    /// What the clock shows.
    pub(crate) fn clock(&self) -> Time {
        let me = thread::current().id();
        let mut inner = self.lock();
        if inner.leaving == Some(me) {
            inner.leaving = None;
            self.changed.notify_all();
            return inner.stack.now;
        }
        let to = inner.stack.after_look();
        drop(inner);
        self.pass(to, |_| false);
        self.lock().stack.now
    }

    /// The next packet that leaves, and when; `None` if none leaves soon.
    pub(crate) fn next_packet(&self) -> Option<(Time, Vec<u8>)> {
        if !self.lock().stack.has_sent() {
            thread::sleep(MOMENT); // as in `sleep`
        }
        let to = self.lock().stack.now + PATIENCE;
        self.pass(to, Stack::has_sent);
        self.lock().stack.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_call_that_blocks_ends_at_its_time_although_the_other_thread_sleeps_for_longer() {
        let shared = Shared::new(Stack::new(Ipv4Addr::LOCALHOST));
        let began = shared.clock();
        let ended = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let longest = Some(Span::millis(100));
                assert_eq!(shared.wait(|_| true, longest, |_| Err::<(), _>(BLOCKS)), Err(BLOCKS));
                shared.clock()
            });
            while shared.lock().seen.is_none() {
                thread::yield_now();
            }
            shared.sleep(Span::millis(5_000));
            waiting.join().expect("it ends")
        });
        assert_eq!(ended.since(began), Span::millis(100));
        assert!(shared.clock().since(began) >= Span::millis(5_000));
    }

    #[test]
    fn a_call_for_which_nothing_can_happen_is_an_error_and_no_standstill() {
        let shared = Shared::new(Stack::new(Ipv4Addr::LOCALHOST));
        let done = shared.wait(|_| true, None, |_| Err::<(), _>(BLOCKS));
        assert_eq!(done, Err(Errno(libc::EDEADLK)));
        assert!(shared.next_packet().is_none());
    }
}
