//! The process beside a controller that decides which subflows are coupled: `bpf/sense.h`.

use crate::controller::{Controller, senses};
use crate::operations::failed;
use crate::pins;
use libbpf_rs::{Error, ErrorKind, Iter, Link, MapCore, MapFlags, MapHandle};
use sharing::{AnyDetector, Detection, Sample};
use std::collections::BTreeMap;
use std::io::Read;
use units::{Span, Time};
use zerocopy::FromBytes;

/// Width of a bin of round trips, and number of bins: `AB_BIN` and `AB_BINS`.
const BIN: Span = Span(10_000_000);
const BINS: usize = 128;

/// Most subflows of a connection that are told apart; further ones are in one group with the first.
const MOST: usize = 16;

/// The detection of shared bottlenecks over all connections of a controller with
/// [`Settings::sbd`](crate::Settings::sbd).
///
/// [`Coupler::pass`] is to be called several times a second: subflows keep their round trips of the
/// last 1.28 s, and a group that is not told again counts for 5 s.
pub struct Coupler {
    /// The controller's own, after those that it has replaced and that sockets still have.
    sets: Vec<Set>,
    /// The name of a pinned controller, which may be replaced.
    pinned: Option<String>,
    connections: BTreeMap<u64, Connection>,
}

/// What reads the subflows of a controller, and what tells them their groups.
struct Set {
    exchange: Link,
    groups: MapHandle,
    /// That of the pin; zero without one.
    number: u64,
}

/// The subflows of a connection, in places that are reused.
struct Connection {
    places: [Option<Place>; MOST],
    detection: Detection,
    seen: bool,
}

/// A subflow: its name, and what it had felt at the last pass.
#[derive(Clone, Copy)]
struct Place {
    born: u64,
    /// The newest bin that was complete.
    bin: u32,
    losses: u32,
    seen: bool,
}

impl Connection {
    fn new() -> Self {
        let mut detection = Detection::new(AnyDetector::DEFAULT, MOST);
        (0..MOST).for_each(|place| detection.set_member(place, false));
        Connection { places: [None; MOST], detection, seen: true }
    }

    /// The place of a subflow, a new one if it has none; `None` if all are taken.
    fn place(&mut self, sense: &Sense) -> Option<usize> {
        let own = |place: &Option<Place>| place.is_some_and(|place| place.born == sense.born);
        if let Some(found) = self.places.iter().position(own) {
            return Some(found);
        }
        let free = self.places.iter().position(Option::is_none)?;
        let bin = sense.newest().unwrap_or_default().wrapping_sub(BINS as u32);
        let losses = sense.losses;
        self.places[free] = Some(Place { born: sense.born, bin, losses, seen: true });
        self.detection.set_member(free, true);
        Some(free)
    }

    /// Takes in what a subflow felt since the last pass.
    fn feel(&mut self, sense: &Sense) {
        self.seen = true;
        let Some(number) = self.place(sense) else { return };
        let Some(place) = &mut self.places[number] else { return };
        place.seen = true;
        let rtt = Span(u64::from(sense.srtt) * 1_000);
        let Some(newest) = sense.newest() else { return };
        let mut bins: Vec<&Bin> = sense.bin.iter().filter(|bin| bin.count > 0).collect();
        bins.sort_by_key(|bin| newest.wrapping_sub(bin.number));
        let since = |bin: &Bin| bin.number.wrapping_sub(place.bin) as i32;
        // The newest bin may still grow: the next pass takes it.
        for bin in bins.iter().rev().filter(|bin| bin.number != newest && since(bin) > 0) {
            let sent = Time(u64::from(bin.number) * BIN.0 + BIN.0 / 2);
            let delay = Span(bin.sum * 1_000 / u64::from(bin.count));
            self.detection.on_delay(number, &Sample { sent, delay, rtt });
        }
        place.bin = newest.wrapping_sub(1);
        let now = Time(u64::from(newest) * BIN.0) + rtt;
        if sense.losses != place.losses {
            place.losses = sense.losses;
            self.detection.on_loss(number, now);
        }
        self.detection.look(now);
    }

    /// The group of each subflow, from 1; forgets those that are gone.
    fn told(&mut self) -> Vec<(u64, u32)> {
        let mut told = Vec::new();
        for number in 0..MOST {
            match &mut self.places[number] {
                Some(place) if place.seen => {
                    place.seen = false;
                    told.push((place.born, self.detection.group(number) as u32 + 1));
                }
                Some(_) => {
                    self.places[number] = None;
                    self.detection.set_member(number, false);
                }
                None => {}
            }
        }
        told
    }
}

impl Set {
    fn pinned(kernel_name: &str) -> Result<Self, Error> {
        let number = pins::exchange_number(kernel_name)?.unwrap_or_default();
        let (exchange, groups) = pins::senses(kernel_name)?;
        Ok(Set { exchange, groups, number })
    }
}

impl Coupler {
    /// Beside a controller of this process.
    ///
    /// # Errors
    /// The kernel's error, or that the controller was loaded without `sbd`.
    pub fn new(controller: &mut Controller) -> Result<Self, Error> {
        let senses = senses(&mut controller.object)?;
        let (exchange, groups) = senses.ok_or_else(|| {
            failed("the controller couples all subflows: it was loaded without sbd")
        })?;
        let sets = vec![Set { exchange, groups, number: 0 }];
        Ok(Coupler { sets, pinned: None, connections: BTreeMap::new() })
    }

    /// Beside a controller that is pinned under this name. If another one replaces it, the coupler
    /// goes on beside both, until no socket has the first one.
    ///
    /// # Errors
    /// `NotFound` if no controller with `sbd` is pinned under it; otherwise the kernel's error, or
    /// the directory that is not root's alone.
    pub fn pinned(kernel_name: &str) -> Result<Self, Error> {
        let sets = vec![Set::pinned(kernel_name)?];
        Ok(Coupler { sets, pinned: Some(kernel_name.to_owned()), connections: BTreeMap::new() })
    }

    /// Adds the set of a controller that has replaced the one before. Returns the number of the set
    /// of the one that is loaded now; `None` if that is one without `sbd`.
    fn follow(&mut self) -> Result<Option<u64>, Error> {
        let Some(name) = &self.pinned else { return Ok(Some(0)) };
        let number = pins::exchange_number(name)?;
        if number.is_some() && self.sets.iter().all(|set| Some(set.number) != number) {
            match Set::pinned(name) {
                Err(error) if error.kind() == ErrorKind::NotFound => {} // unloaded meanwhile
                set => self.sets.push(set?),
            }
        }
        Ok(number)
    }

    /// Reads what the subflows felt since the last call, and tells them their groups; those that it
    /// finds now count from the next call on. Returns the groups of each connection's subflows, in
    /// the order in which they joined.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn pass(&mut self) -> Result<Vec<Vec<u32>>, Error> {
        let now = self.follow()?;
        let mut senses: Vec<Sense> = Vec::new();
        for set in std::mem::take(&mut self.sets) {
            let mut bytes = Vec::new();
            Iter::new(&set.exchange)?.read_to_end(&mut bytes)?;
            let rows = bytes.chunks_exact(size_of::<Sense>());
            senses.extend(rows.filter_map(|row| Sense::read_from_bytes(row).ok()));
            // That of an earlier controller goes with its last socket.
            if !bytes.is_empty() || Some(set.number) == now {
                self.sets.push(set);
            }
        }
        for sense in senses.iter().filter(|sense| sense.connection != 0) {
            let connection =
                self.connections.entry(sense.connection).or_insert_with(Connection::new);
            connection.feel(sense);
        }
        for set in &self.sets {
            for key in set.groups.keys().collect::<Vec<_>>() {
                set.groups.delete(&key)?;
            }
        }
        self.connections.retain(|_, connection| std::mem::take(&mut connection.seen));
        let mut found = Vec::new();
        for mut told in self.connections.values_mut().map(Connection::told) {
            for ((born, group), set) in
                told.iter().flat_map(|row| self.sets.iter().map(move |set| (row, set)))
            {
                set.groups.update(&born.to_ne_bytes(), &group.to_ne_bytes(), MapFlags::ANY)?;
            }
            told.sort_unstable();
            found.push(told.into_iter().map(|(_, group)| group).collect());
        }
        Ok(found)
    }
}

/// `struct ab_bin`.
#[derive(Clone, Copy, FromBytes)]
#[repr(C)]
struct Bin {
    number: u32,
    count: u32,
    sum: u64,
}
layout!(ab_bin, Bin);

/// `struct ab_sense`.
#[derive(FromBytes)]
#[repr(C)]
struct Sense {
    born: u64,
    told: u64,
    connection: u64,
    srtt: u32,
    losses: u32,
    group: u32,
    unused: u32,
    bin: [Bin; BINS],
}
layout!(ab_sense, Sense);

impl Sense {
    /// The number of the newest bin; `None` without a round trip.
    fn newest(&self) -> Option<u32> {
        let mut filled = self.bin.iter().filter(|bin| bin.count > 0).map(|bin| bin.number);
        let first = filled.next()?;
        Some(filled.fold(first, |newest, number| {
            if number.wrapping_sub(newest) as i32 > 0 { number } else { newest }
        }))
    }
}
