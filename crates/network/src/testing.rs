//! Packets and random numbers for tests.

use crate::{Packet, Queue, Rng};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TestPacket {
    pub(crate) bytes: u32,
    pub(crate) path: u32,
    pub(crate) number: u32,
    pub(crate) capable: bool,
    pub(crate) marked: bool,
    pub(crate) lower: bool,
}

impl TestPacket {
    pub(crate) fn of(bytes: u32) -> Self {
        TestPacket { bytes, ..TestPacket::default() }
    }
}

impl Packet for TestPacket {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn path(&self) -> u32 {
        self.path
    }

    fn ecn_capable(&self) -> bool {
        self.capable
    }

    fn mark(&mut self) {
        self.marked = true;
    }

    fn lower_effort(&self) -> bool {
        self.lower
    }
}

/// Events of probability below 1 never happen.
pub(crate) struct Never;
impl Rng for Never {
    fn uniform(&mut self) -> f64 {
        0.999_999
    }
}

/// Events of probability above 0 always happen.
pub(crate) struct Always;
impl Rng for Always {
    fn uniform(&mut self) -> f64 {
        0.0
    }
}

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Lcg(pub(crate) u64);
impl Rng for Lcg {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Queues that a host may have, short ones.
pub(crate) fn queues() -> impl Strategy<Value = Queue> {
    let hosts = |queue: &Queue| queue.fits_host() && *queue != Queue::Unlimited;
    let queues = move |limit| Queue::short(limit, true).into_iter().filter(hosts);
    (1..30u64).prop_flat_map(move |limit| prop::sample::select(queues(limit).collect::<Vec<_>>()))
}
