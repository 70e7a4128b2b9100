//! MB/s of coding and decoding, compared with a published Reed-Solomon code and with a naive field
//! kernel.
//!
//! `cargo bench -p coding`. Every figure is the best of some runs, in bytes of segments: the
//! payload of a path, not the bytes multiplied by the kernels. For a byte of data the online code,
//! in which every packet is a combination, multiplies `R · W` bytes. The block code sends its data
//! unchanged and multiplies only as many bytes as there are parities. So the kernels are compared
//! in bytes that are multiplied.

#![expect(clippy::disallowed_methods, reason = "what is measured is time")]

use coding::{Combination, Decoder, Redundancy, field};
use reed_solomon_erasure::galois_8::{ReedSolomon, mul_slice_xor};
use std::hint::black_box;
use std::time::Instant;

/// Bytes of a segment.
const SEGMENT: usize = 1448;
/// Segments of a run.
const SEGMENTS: usize = 4000;
/// Runs of each measurement; the best one counts.
const RUNS: usize = 15;

/// A stream of pseudo-random numbers (xorshift64, Marsaglia 2003).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// MB/s at which `run` processes `bytes`.
fn rate(bytes: usize, mut run: impl FnMut()) -> f64 {
    let seconds = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    bytes as f64 / 1e6 / seconds.fold(f64::INFINITY, f64::min)
}

fn segments() -> Vec<Vec<u8>> {
    let mut rng = Rng(0x5EED);
    (0..SEGMENTS).map(|_| (0..SEGMENT).map(|_| rng.next() as u8).collect()).collect()
}

/// The combinations that a sender makes of all segments, one window after another.
fn combinations(window: usize, r: f64) -> Vec<Combination> {
    let mut redundancy = Redundancy::new(r);
    let ends = (1..=SEGMENTS).flat_map(|end| vec![end; redundancy.on_segment() as usize]);
    let numbered = ends.enumerate().map(|(key, end)| {
        let base = end.saturating_sub(window);
        Combination { base: base as u32, count: (end - base) as u8, key: key as u32 }
    });
    numbered.collect()
}

fn combine(what: Combination, segments: &[Vec<u8>]) -> Vec<u8> {
    what.combine(segments[what.base as usize..].iter())
}

/// The same, byte by byte with logarithms.
fn combine_naively(what: Combination, segments: &[Vec<u8>]) -> Vec<u8> {
    let mut sum = vec![0; SEGMENT];
    for (c, segment) in what.coefficients().zip(&segments[what.base as usize..]) {
        for (to, byte) in sum.iter_mut().zip(segment) {
            *to ^= field::mul(c, *byte);
        }
    }
    sum
}

/// Rates of coding, of decoding after losses, and of naive coding.
fn online(segments: &[Vec<u8>], window: usize, r: f64, loss: f64) {
    let bytes = SEGMENTS * SEGMENT;
    let sent = combinations(window, r);
    let encode = rate(bytes, || {
        sent.iter().for_each(|what| _ = black_box(combine(*what, segments)));
    });
    let naive = rate(bytes, || {
        sent.iter().for_each(|what| _ = black_box(combine_naively(*what, segments)));
    });
    let mut rng = Rng(7);
    let arrives = |_: &&Combination| (rng.next() >> 32) as f64 / 4_294_967_296.0 >= loss;
    let arrived: Vec<_> =
        sent.iter().filter(arrives).map(|w| (*w, combine(*w, segments))).collect();
    let mut decoded = 0;
    let decode = rate(bytes, || {
        decoded = 0;
        let mut decoder = Decoder::new(SEGMENTS);
        for (what, symbol) in &arrived {
            decoder.on_packet(*what, symbol.clone(), |number, symbol| {
                debug_assert!(symbol == segments[number as usize]);
                decoded += black_box(symbol).len();
            });
        }
    });
    let name = format!("online, W = {window}, R = {r}, loss {:.0} %", loss * 100.0);
    let share = decoded as f64 / bytes as f64 * 100.0;
    println!("{name:38} {encode:9.0} {decode:9.0} {naive:9.0} {share:9.1}");
}

/// Rates of Reed-Solomon blocks of `k` segments with `parity` more; in every block `lost` segments
/// are repaired.
fn blocks(segments: &[Vec<u8>], k: usize, parity: usize, lost: usize) {
    let Ok(code) = ReedSolomon::new(k, parity) else { return };
    let blocks: Vec<_> = segments.chunks_exact(k).collect();
    let bytes = blocks.len() * k * SEGMENT;
    let mut coded = vec![vec![0; SEGMENT]; parity];
    let encode = rate(bytes, || {
        for block in &blocks {
            let done = code.encode_sep(block, &mut coded);
            assert!(black_box(done).is_ok());
        }
    });
    let whole: Vec<Vec<Vec<u8>>> = blocks
        .iter()
        .map(|block| {
            let done = code.encode_sep(block, &mut coded);
            assert!(done.is_ok());
            [block, &coded[..]].concat()
        })
        .collect();
    let decode = rate(bytes, || {
        for block in &whole {
            // Copies the arriving packets, as the decoder of the online code gets them.
            let arrived =
                block.iter().enumerate().map(|(i, s)| (i % k >= lost || i >= k).then(|| s.clone()));
            let mut arrived: Vec<Option<Vec<u8>>> = arrived.collect();
            assert!(code.reconstruct_data(&mut arrived).is_ok());
            black_box(arrived);
        }
    });
    let name = format!("Reed-Solomon, {k} + {parity}, {lost} lost");
    println!("{name:38} {encode:9.0} {decode:9.0} {:>9} {:9.1}", "", 100.0);
}

/// Rates of the kernels alone, in bytes that are multiplied.
fn kernels(segments: &[Vec<u8>]) {
    let mut into = vec![0; SEGMENT];
    let all = 200 * SEGMENT;
    let naive = rate(all, || {
        for (c, from) in (2..202).zip(segments) {
            for (to, byte) in into.iter_mut().zip(from) {
                *to ^= field::mul(black_box(c), *byte);
            }
        }
        black_box(&mut into);
    });
    let single = rate(all, || {
        for (c, from) in (2..202).zip(segments) {
            field::add_scaled(black_box(&mut into), c, from);
        }
    });
    let peer = rate(all, || {
        for (c, from) in (2..202).zip(segments) {
            mul_slice_xor(c, from, black_box(&mut into));
        }
    });
    println!(
        "\nMB/s multiplied: logarithms {naive:.0}, reed-solomon-erasure {peer:.0}, add_scaled {single:.0}"
    );
    for window in [6, 32] {
        let terms = segments.iter().take(200 / window * window).map(|from| &from[..]);
        let terms: Vec<_> = (2..202).zip(terms).collect();
        let rate = rate(terms.len() * SEGMENT, || {
            for window in terms.chunks(window) {
                field::add_combination(black_box(&mut into), window);
            }
        });
        println!("MB/s multiplied: add_combination of {window} segments {rate:.0}");
    }
}

fn main() {
    let segments = segments();
    println!("{:38} {:>9} {:>9} {:>9} {:>9}", "MB/s", "encode", "decode", "naive enc", "% decoded");
    for (r, loss) in [(1.05, 0.01), (1.25, 0.1)] {
        for window in [6, 32] {
            online(&segments, window, r, loss);
        }
    }
    for (k, parity, lost) in [(20, 1, 1), (32, 8, 3), (32, 8, 8)] {
        blocks(&segments, k, parity, lost);
    }
    kernels(&segments);
}
