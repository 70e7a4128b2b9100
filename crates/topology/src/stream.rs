//! Named random streams, one for each component, so that adding a component changes no other
//! stream.

use network::Rng;
use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use units::Span;

/// The random stream of one component in one run.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

/// FNV-1a, a hash of names that is the same everywhere and in every version.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// SplitMix64 (Steele, Lea and Flood 2014): spreads similar inputs over all bits.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream of the component of a `kind` called `name`, its `copy`-th instance, in the run
    /// with `seed`. The kind separates a link from a class of the same name.
    pub fn new(seed: u64, kind: &str, name: &str, copy: u64) -> Self {
        let full = kind.bytes().chain([b'/']).chain(name.bytes());
        let low = mix(seed ^ mix(fnv1a(full) ^ mix(copy)));
        let high = mix(low);
        Stream(Pcg64Mcg::new((u128::from(high) << 64) | u128::from(low)))
    }

    /// Uniform in `0..=span`.
    pub fn within(&mut self, span: Span) -> Span {
        Span::from_seconds(self.uniform() * span.seconds()).min(span)
    }
}

impl Rng for Stream {
    #[inline]
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// One of many streams, looked up at its first draw: most hops draw nothing.
pub struct LazyStream<'a> {
    /// All streams.
    pub streams: &'a mut [Stream],
    /// The index of this stream.
    pub index: u32,
}

impl Rng for LazyStream<'_> {
    #[inline]
    fn uniform(&mut self) -> f64 {
        self.streams[self.index as usize].uniform()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_by_name_and_by_copy_and_repeat_exactly() {
        let first = |seed, name, copy| Stream::new(seed, "link", name, copy).uniform();
        assert_ne!(first(1, "u", 0), Stream::new(1, "flow", "u", 0).uniform());
        assert_eq!(first(1, "ap1", 0), first(1, "ap1", 0));
        assert_ne!(first(1, "ap1", 0), first(2, "ap1", 0));
        assert_ne!(first(1, "ap1", 0), first(1, "ap2", 0));
        assert_ne!(first(1, "ap1", 0), first(1, "ap1", 1));
    }

    #[test]
    fn draws_are_uniform() {
        let mut stream = Stream::new(7, "link", "x", 0);
        let mean = (0..100_000).map(|_| stream.uniform()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
