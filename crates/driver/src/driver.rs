//! The loop that sleeps, reads packets, meets deadlines and writes packets.

use crate::couriers::Couriers;
use crate::report::{Meter, Report};
use crate::senders::Senders;
use crate::users::{Endpoints, UserState, Users};
use emulator::{Clock, PreciseSleep, sleep, thread_cpu, thread_waited};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use scenario::Plan;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{InvalidParameter, Span, Time};

/// Longest sleep, so that a stop is noticed.
const BREATH: Span = Span::millis(50);

/// Most packets read from one socket before the next one is looked at.
const BATCH: usize = 64;

/// Largest IPv4 packet in bytes.
const LARGEST: usize = 65_535;

/// The sockets of a class, one for each path. Each carries IP packets one by one, and does not
/// block.
pub struct Sockets {
    /// Those of its senders.
    pub senders: Vec<OwnedFd>,
    /// Those of its receivers, if they are here too.
    pub receivers: Option<Vec<OwnedFd>>,
}

type AllUsers = Vec<Box<dyn Users>>;

/// The users of some classes, and their sockets.
pub struct Driver {
    users: Mutex<AllUsers>,
    /// Of each class in `users`, the sockets of the senders' paths and then the receivers'.
    sockets: Vec<Vec<OwnedFd>>,
    stop: AtomicBool,
}

impl Driver {
    /// Users for the classes of `plan` in `given`: couriers where the receivers are here too,
    /// otherwise hosts that send TCP. `seed` gives keys and sequence numbers.
    ///
    /// # Errors
    /// What users of a class cannot have.
    pub fn new(
        plan: &Plan,
        given: Vec<(Endpoints, Sockets)>,
        seed: u64,
    ) -> Result<Self, InvalidParameter> {
        let (mut users, mut sockets) = (AllUsers::new(), Vec::new());
        for (ends, Sockets { senders: mut own, receivers }) in given {
            let class = &plan.classes[ends.class];
            users.push(match &receivers {
                Some(_) => Box::new(Couriers::new(class, ends, seed)?),
                None => Box::new(Senders::new(class, ends, seed)?),
            });
            own.extend(receivers.into_iter().flatten());
            sockets.push(own);
        }
        Ok(Driver { users: Mutex::new(users), sockets, stop: AtomicBool::new(false) })
    }

    /// Ends [`Driver::run`] within 50 ms.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The state of every user.
    pub fn states(&self) -> Vec<UserState> {
        self.users().iter_mut().flat_map(|users| users.states()).collect()
    }

    fn users(&self) -> MutexGuard<'_, AllUsers> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends and receives in the calling thread until it is stopped. The clock shows `elapsed` now.
    ///
    /// # Errors
    /// A socket has failed.
    pub fn run(&self, elapsed: Span) -> io::Result<Report> {
        let mut polls: Vec<PollFd<'_>> =
            self.sockets.iter().flatten().map(|it| PollFd::new(it, PollFlags::IN)).collect();
        let _precise = PreciseSleep::begin();
        let (mut meter, mut buffer) = (Meter::default(), vec![0; LARGEST]);
        let clock = Clock::beside(elapsed);
        let (began, cpu, waited) = (clock.now(), thread_cpu(), thread_waited());
        let mut promised = vec![Time::NEVER; self.sockets.len()];
        let mut looked = began;
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.work(&clock, &mut promised, &mut meter)?;
            let asleep = clock.now();
            sleep(&mut polls, next.since(asleep).min(BREATH))?;
            let woken = clock.now();
            // Packets have waited at most since the last look, without the sleep.
            let free = looked + woken.since(asleep);
            let ready = polls.iter().map(|it| !it.revents().is_empty());
            self.read(ready, &clock, free, &mut buffer, &mut meter)?;
            looked = woken;
        }
        let elapsed = clock.now().since(began).seconds();
        let fraction = |before: Span, after: Span| (after - before).seconds() / elapsed;
        Ok(Report {
            lateness: meter.lateness.get(),
            waiting: meter.waiting.get(),
            used: fraction(cpu, thread_cpu()),
            waited: waited.zip(thread_waited()).map_or(f64::NAN, |(a, b)| fraction(a, b)),
            sent: meter.sent,
            arrived: meter.arrived,
            unsent: meter.unsent,
        })
    }

    /// Meets deadlines and sends what is to be sent; returns the next deadline. `promised` has that
    /// of each class before the sleep: one that has come up since was not met late.
    fn work(&self, clock: &Clock, promised: &mut [Time], meter: &mut Meter) -> io::Result<Time> {
        let mut next = Time::NEVER;
        let mut classes = self.users();
        for ((users, sockets), promised) in classes.iter_mut().zip(&self.sockets).zip(promised) {
            let now = clock.now();
            if users.next_tick() <= now {
                users.tick(now);
            }
            let due = users.next_deadline();
            if due <= now {
                meter.lateness.add(now.since(due.max(*promised)));
                users.on_deadline(now);
            }
            flush(users.as_mut(), sockets, clock, meter)?;
            *promised = users.next_deadline();
            next = next.min(*promised).min(users.next_tick());
        }
        Ok(next)
    }

    /// Reads the packets of all sockets that are `ready`.
    fn read(
        &self,
        mut ready: impl Iterator<Item = bool>,
        clock: &Clock,
        free: Time,
        buffer: &mut [u8],
        meter: &mut Meter,
    ) -> io::Result<()> {
        for (users, sockets) in self.users().iter_mut().zip(&self.sockets) {
            for (number, socket) in sockets.iter().enumerate() {
                if !ready.next().unwrap_or(false) {
                    continue;
                }
                for _ in 0..BATCH {
                    let bytes = match rustix::io::read(socket, &mut *buffer) {
                        Ok(bytes) => bytes,
                        Err(Errno::AGAIN) => break,
                        Err(Errno::INTR) => continue,
                        Err(error) => return Err(error.into()),
                    };
                    let now = clock.now();
                    meter.arrived += 1;
                    meter.waiting.add(now.since(free));
                    users.on_packet(now, number, &buffer[..bytes]);
                }
            }
            flush(users.as_mut(), sockets, clock, meter)?;
        }
        Ok(())
    }
}

/// Sends all packets that users have.
fn flush(
    users: &mut dyn Users,
    sockets: &[OwnedFd],
    clock: &Clock,
    meter: &mut Meter,
) -> io::Result<()> {
    while let Some((number, packet)) = users.poll(clock.now()) {
        match rustix::io::write(&sockets[number], &packet) {
            Ok(_) => meter.sent += 1,
            Err(Errno::AGAIN | Errno::NOBUFS) => meter.unsent += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
