//! Named random streams, one for each component, so that adding a component changes no other
//! stream.

use network::{Rng, reserve_in_huge_pages};
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

/// The streams of the links that may draw, in ascending order of the links. Private lines mostly
/// draw nothing and have none.
#[derive(Clone, Debug, Default)]
pub struct Streams(Vec<LinkStream>);

#[derive(Clone, Debug)]
struct LinkStream {
    link: u32,
    stream: Stream,
}

impl Streams {
    /// Adds the stream of `link`, whose number is above those of the links before.
    pub(crate) fn push(&mut self, link: u32, stream: Stream) {
        debug_assert!(self.0.last().is_none_or(|last| last.link < link), "not in order");
        self.0.push(LinkStream { link, stream });
    }

    /// Reserves memory for the streams of `more` links.
    pub(crate) fn reserve(&mut self, more: usize) {
        reserve_in_huge_pages(&mut self.0, more);
    }

    /// The number of streams.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The stream of `link`.
    ///
    /// # Panics
    /// If the link draws nothing by its plan: that is a fault of the caller.
    pub fn of(&mut self, link: u32) -> &mut Stream {
        let found = self.0.binary_search_by_key(&link, |at| at.link);
        &mut self.0[found.expect("a link that may draw has a stream")].stream
    }

    /// A draw for `link`.
    #[inline(never)] // keeps the code of links that come first short
    fn search_and_draw(&mut self, link: u32) -> f64 {
        self.of(link).uniform()
    }
}

/// The stream of a link, looked up at its first draw: most hops draw nothing.
pub struct LazyStream<'a> {
    /// All streams.
    pub streams: &'a mut Streams,
    /// The number of the link.
    pub index: u32,
}

impl Rng for LazyStream<'_> {
    #[inline(always)] // runs for every hop into some queues
    fn uniform(&mut self) -> f64 {
        match self.streams.0.get_mut(self.index as usize) {
            Some(at) if at.link == self.index => at.stream.uniform(), // so do all links before it
            _ => self.streams.search_and_draw(self.index),
        }
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
    fn a_link_that_draws_has_its_own_stream_wherever_links_without_one_are() {
        let fresh = |link: u32| Stream::new(1, "link", "x", u64::from(link));
        let mut streams = Streams::default();
        [0, 1, 4, 9].into_iter().for_each(|link| streams.push(link, fresh(link)));
        for link in [0, 1, 4, 9] {
            assert_eq!(streams.of(link).uniform(), fresh(link).uniform());
        }
    }

    #[test]
    fn draws_are_uniform() {
        let mut stream = Stream::new(7, "link", "x", 0);
        let mean = (0..100_000).map(|_| stream.uniform()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
