//! The loop that sleeps, reads packets, meets deadlines and writes packets.

use crate::report::{Meter, Report};
use crate::senders::{Endpoints, Senders, UserState};
use emulator::{Clock, PreciseSleep, sleep, thread_cpu, thread_waited};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use scenario::Plan;
use std::io;
use std::net::Ipv4Addr;
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

/// The senders of some classes, and the sockets of their paths.
pub struct Driver {
    senders: Mutex<Vec<Senders>>,
    /// Of each class in `senders`, the socket of each path.
    sockets: Vec<Vec<OwnedFd>>,
    stop: AtomicBool,
}

impl Driver {
    /// Senders for the classes of `plan` in `given`, each with a socket for each path, which
    /// carries IP packets one by one and does not block. `seed` gives keys and sequence numbers.
    ///
    /// # Errors
    /// What a host of a class cannot have.
    pub fn new(
        plan: &Plan,
        given: Vec<(Endpoints, Vec<OwnedFd>)>,
        seed: u64,
    ) -> Result<Self, InvalidParameter> {
        let (mut senders, mut sockets) = (Vec::new(), Vec::new());
        for (ends, own) in given {
            senders.push(Senders::new(&plan.classes[ends.class], ends, seed)?);
            sockets.push(own);
        }
        Ok(Driver { senders: Mutex::new(senders), sockets, stop: AtomicBool::new(false) })
    }

    /// Ends [`Driver::run`] within 50 ms.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The state of every user.
    pub fn states(&self) -> Vec<UserState> {
        self.senders().iter().flat_map(Senders::states).collect()
    }

    fn senders(&self) -> MutexGuard<'_, Vec<Senders>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut looked = began;
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.work(&clock, &mut meter)?;
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

    /// Meets deadlines and sends what is to be sent; returns the next deadline.
    fn work(&self, clock: &Clock, meter: &mut Meter) -> io::Result<Time> {
        let mut next = Time::NEVER;
        for (senders, sockets) in self.senders().iter_mut().zip(&self.sockets) {
            let now = clock.now();
            if senders.next_tick() <= now {
                senders.tick(now);
            }
            let due = senders.host.next_deadline();
            if due <= now {
                meter.lateness.add(now.since(due));
                senders.host.on_deadline(now);
            }
            flush(senders, sockets, clock, meter)?;
            next = next.min(senders.host.next_deadline()).min(senders.next_tick());
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
        for (senders, sockets) in self.senders().iter_mut().zip(&self.sockets) {
            for socket in sockets {
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
                    senders.host.on_packet(now, &buffer[..bytes]);
                }
            }
            flush(senders, sockets, clock, meter)?;
        }
        Ok(())
    }
}

/// Sends all packets that the host has.
fn flush(
    senders: &mut Senders,
    sockets: &[OwnedFd],
    clock: &Clock,
    meter: &mut Meter,
) -> io::Result<()> {
    while let Some(packet) = senders.host.poll(clock.now()) {
        let source = packet.get(12..16).and_then(|it| <[u8; 4]>::try_from(it).ok());
        let path = source.and_then(|it| senders.path_of(Ipv4Addr::from(it)));
        let Some(socket) = path.map(|path| &sockets[path]) else { continue };
        match rustix::io::write(socket, &packet) {
            Ok(_) => meter.sent += 1,
            Err(Errno::AGAIN | Errno::NOBUFS) => meter.unsent += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
