//! Arithmetic of GF(2⁸) with the polynomial x⁸ + x⁴ + x³ + x² + 1 (0x11D).
//!
//! It is the polynomial of RFC 8681 §3.7.1; 2 generates the multiplicative group, unlike with
//! 0x11B. Addition and subtraction are both XOR.
//!
//! Bytes in bulk are multiplied without tables, in forms that the compiler turns into vector code.
//! Measured with 1448 bytes on x86-64 with registers of 128 bits, beside a row of 256 products for
//! each coefficient (2.9 GB/s in the best of three forms): [`add_scaled`] is 1.5 times as fast,
//! [`add_combination`] 3.5 times with 6 terms and 4 to 5 times with 32; eight bytes in a word,
//! multiplied bit by bit, 0.7 times; logarithms 0.5 times. `cargo bench -p coding` measures the
//! forms that are kept.

use alloc::{vec, vec::Vec};

/// The polynomial without x⁸.
const REDUCE: u8 = 0x1D;

/// Bytes of a combination that are summed at once: the capacity of eight registers of 16 bytes.
const BLOCK: usize = 128;
/// Terms that are summed at once.
pub(crate) const GROUP: usize = 32;

/// Bytes that are multiplied one by one, because they are too few for the preparation.
const FEW: usize = 16;

/// Largest length for [`add_short_combination`], whose buckets take 32 times as much memory.
pub(crate) const SHORT: usize = 32;

/// Bytes of a row: a row has whole blocks, because a rest would take as long as several of them.
pub(crate) type Block = [u8; SHORT];

/// Powers of 2, twice, so that a sum of two logarithms needs no modulus; then zeros, for sums with
/// the logarithm of 0.
const EXP: [u8; 1024] = exponentials();
/// Logarithms to the base 2; the logarithm of 0 is greater than a sum of two others.
const LOG: [u16; 256] = logarithms();
/// The logarithm of 0.
const LOG_ZERO: u16 = 510;
/// Each `c` times 2⁷, 2⁶, … 2⁰: the contribution of each bit of the other factor to a product.
static PRODUCTS: [[u8; 8]; 256] = products();

/// Twice `a`, without a branch, so that the compiler can vectorise it.
#[inline(always)]
const fn double(a: u8) -> u8 {
    (a << 1) ^ ((a as i8 >> 7) as u8 & REDUCE)
}

const fn exponentials() -> [u8; 1024] {
    let mut table = [0; 1024];
    table[0] = 1;
    let mut i = 1;
    while i < LOG_ZERO as usize {
        table[i] = double(table[i - 1]);
        i += 1;
    }
    table
}

const fn logarithms() -> [u16; 256] {
    let mut table = [LOG_ZERO; 256];
    let mut i = 0;
    while i < 255 {
        table[EXP[i] as usize] = i as u16;
        i += 1;
    }
    table
}

const fn products() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut c = 0;
    while c < 256 {
        table[c][7] = c as u8;
        let mut bit = 7;
        while bit > 0 {
            table[c][bit - 1] = double(table[c][bit]);
            bit -= 1;
        }
        c += 1;
    }
    table
}

/// The product.
pub fn mul(a: u8, b: u8) -> u8 {
    EXP[usize::from(LOG[usize::from(a)] + LOG[usize::from(b)]) % EXP.len()]
}

/// The multiplicative inverse of `a`; `None` for 0.
pub fn inverse(a: u8) -> Option<u8> {
    (a != 0).then(|| EXP[255 - usize::from(LOG[usize::from(a)])])
}

/// Adds `c` times `from` to `into`, over the shorter of the two lengths.
pub fn add_scaled(into: &mut [u8], c: u8, from: &[u8]) {
    match c {
        0 => {}
        1 => add(into, from),
        _ if from.len() < FEW => {
            into.iter_mut().zip(from).for_each(|(to, byte)| *to ^= mul(c, *byte));
        }
        _ => {
            let products = &PRODUCTS[usize::from(c)];
            into.iter_mut().zip(from).for_each(|(to, byte)| *to ^= times(products, *byte));
        }
    }
}

fn add(into: &mut [u8], from: &[u8]) {
    into.iter_mut().zip(from).for_each(|(to, byte)| *to ^= byte);
}

/// Adds a coefficient times `N` bytes for each of `terms`; for few bytes and many terms.
///
/// Terms whose coefficients have the same upper or the same lower half are added up first
/// (Pippenger's buckets). The buckets are then combined as in [`add_combination`], from bit 7 down.
pub fn add_short_combination<'a, const N: usize>(
    into: &mut [u8; N],
    terms: impl Iterator<Item = (u8, &'a [u8; N])>,
) {
    let mut upper_and_lower = [[[0; N]; 16]; 2];
    for (c, from) in terms {
        add(&mut upper_and_lower[0][usize::from(c >> 4)], from);
        add(&mut upper_and_lower[1][usize::from(c & 15)], from);
    }
    let mut sum = [0; N];
    for half in &upper_and_lower {
        for bit in [8, 4, 2, 1] {
            sum.iter_mut().for_each(|byte| *byte = double(*byte));
            let with = half.iter().enumerate().filter(|(value, _)| value & bit != 0);
            with.for_each(|(_, bucket)| add(&mut sum, bucket));
        }
    }
    add(into, &sum);
}

/// Multiples of one row, from which any multiple is added to many others in two steps.
pub(crate) struct Multiples {
    /// Length of the row.
    blocks: usize,
    /// 0 to 15 times the row, then 0, 16, … 240 times.
    rows: Vec<Block>,
}

impl Multiples {
    /// Those of `row`; they take 32 times its memory.
    pub(crate) fn new(row: &[Block]) -> Self {
        let blocks = row.len();
        let mut rows = vec![[0; SHORT]; 32 * blocks];
        let mut power = row.to_vec();
        for (half, bit) in (0..2).flat_map(|half| [1, 2, 4, 8].map(|bit| (half, bit))) {
            let (less, more) = rows[16 * half * blocks..].split_at_mut(bit * blocks);
            for (at, block) in more[..bit * blocks].iter_mut().enumerate() {
                *block = less[at];
                add(block, &power[at % blocks]);
            }
            power.as_flattened_mut().iter_mut().for_each(|byte| *byte = double(*byte));
        }
        Self { blocks, rows }
    }

    /// Length of the row.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Adds `c` times the row to another one, which is at least as long.
    pub(crate) fn add_to(&self, into: &mut [Block], c: u8) {
        let times = |value: u8| &self.rows[usize::from(value) * self.blocks..][..self.blocks];
        let halves = times(c & 15).iter().zip(times(16 + (c >> 4)));
        for (to, (lower, upper)) in into.iter_mut().zip(halves) {
            add(to, lower);
            add(to, upper);
        }
    }
}

/// Adds a coefficient times bytes for each of `terms`: the same as [`add_scaled`] term by term,
/// several times as fast.
///
/// The bytes of terms whose coefficients have bit 7 are added, and the sum is doubled; then follow
/// terms with bit 6, and so on (Horner's rule). This takes seven doublings for all terms together,
/// and XOR for the rest.
pub fn add_combination(into: &mut [u8], terms: &[(u8, &[u8])]) {
    for terms in terms.chunks(GROUP) {
        let common = terms.iter().map(|(_, from)| from.len()).fold(into.len(), usize::min);
        let mut planes = [Plane { from: [&[]; GROUP], terms: 0 }; 8];
        for (c, from) in terms {
            let has = |bit: usize| c << bit & 0x80 != 0;
            (0..8).filter(|bit| has(*bit)).for_each(|bit| planes[bit].push(&from[..common]));
        }
        let (mut done, whole) = (0, if common < BLOCK { 0 } else { common });
        while done < whole {
            let from = done.min(whole - BLOCK); // the last block overlaps the previous one
            let sum = sum(&planes, from);
            let ahead = &mut into[done..from + BLOCK];
            ahead.iter_mut().zip(&sum[done - from..]).for_each(|(to, byte)| *to ^= byte);
            done = from + BLOCK;
        }
        for (c, from) in terms {
            add_scaled(&mut into[done..], *c, &from[done..]); // the part beyond the shortest term
        }
    }
}

/// The bytes of the terms whose coefficients have a given bit.
#[derive(Clone, Copy)]
struct Plane<'a> {
    from: [&'a [u8]; GROUP],
    terms: usize,
}

impl<'a> Plane<'a> {
    fn push(&mut self, from: &'a [u8]) {
        self.from[self.terms] = from;
        self.terms += 1;
    }
}

/// The combination of the block of bytes at `at`.
#[inline(always)]
fn sum(planes: &[Plane<'_>; 8], at: usize) -> [u8; BLOCK] {
    let mut sum = [0; BLOCK];
    for plane in planes {
        sum.iter_mut().for_each(|byte| *byte = double(*byte));
        for from in &plane.from[..plane.terms] {
            sum.iter_mut().zip(&from[at..at + BLOCK]).for_each(|(to, byte)| *to ^= byte);
        }
    }
    sum
}

/// Multiplies every byte by `c`.
pub fn scale(of: &mut [u8], c: u8) {
    if c != 1 {
        let products = &PRODUCTS[usize::from(c)];
        of.iter_mut().for_each(|byte| *byte = times(products, *byte));
    }
}

/// The product of a byte and the factor of `products`, without a branch or a table, so that the
/// compiler can vectorise it.
#[inline(always)]
fn times(products: &[u8; 8], byte: u8) -> u8 {
    let (mut bits, mut product) = (byte as i8, 0);
    for each in products {
        product ^= each & (bits >> 7) as u8; // all ones if the highest bit is set
        bits <<= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication bit by bit.
    fn by_hand(mut a: u8, b: u8) -> u8 {
        let mut product = 0;
        for bit in 0..8 {
            product ^= if b >> bit & 1 == 1 { a } else { 0 };
            a = double(a);
        }
        product
    }

    #[test]
    fn products_are_those_of_polynomials() {
        for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
            assert_eq!(mul(a, b), by_hand(a, b), "{a} · {b}");
        }
        assert_eq!(mul(0x80, 2), 0x1D); // x⁸ is reduced by the polynomial
    }

    #[test]
    fn it_is_a_field() {
        for a in 0..=255 {
            assert_eq!((mul(a, 1), mul(a, 0)), (a, 0));
            match inverse(a) {
                Some(inverse) => assert_eq!(mul(a, inverse), 1),
                None => assert_eq!(a, 0),
            }
            for b in 0..=255 {
                assert_eq!(mul(a, b), mul(b, a));
                assert_eq!(mul(a, b) == 0, a == 0 || b == 0);
                for c in 0..=255 {
                    assert_eq!(mul(a, b ^ c), mul(a, b) ^ mul(a, c));
                    assert_eq!(mul(a, mul(b, c)), mul(mul(a, b), c));
                }
            }
        }
    }

    #[test]
    fn two_generates_every_element_but_zero() {
        let mut powers = EXP[..255].to_vec();
        powers.sort_unstable();
        assert_eq!(powers, (1..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn slices_are_multiplied_byte_by_byte() {
        let from: Vec<u8> = (0..=255).chain(0..77).collect();
        for c in 0..=255 {
            let mut into: Vec<u8> = from.iter().rev().copied().collect();
            let expected: Vec<u8> = into.iter().zip(&from).map(|(a, b)| a ^ mul(c, *b)).collect();
            add_scaled(&mut into, c, &from);
            assert_eq!(into, expected);
            let mut of = from.clone();
            scale(&mut of, c);
            assert!(of.iter().zip(&from).all(|(a, b)| *a == mul(c, *b)));
        }
    }

    #[test]
    fn a_combination_is_the_sum_of_its_terms() {
        let bytes = |len: usize, k: usize| (0..len).map(move |i| (i * 31 + k * i / 7 + k) as u8);
        for (len, count) in
            [0, 1, 127, 128, 129, 200, 256, 391].into_iter().zip([0, 1, 5, 32, 33, 70, 9, 40])
        {
            // Every third term is shorter, every seventh longer.
            let longer = |k: usize| {
                (len + 2 * usize::from(k % 7 == 2)) - (len / 5) * usize::from(k % 3 == 1)
            };
            let terms: Vec<Vec<u8>> = (0..count).map(|k| bytes(longer(k), k).collect()).collect();
            let terms: Vec<_> =
                terms.iter().enumerate().map(|(k, from)| ((k * 67) as u8, &from[..])).collect();
            let mut one: Vec<u8> = bytes(len, 3).collect();
            let mut other = one.clone();
            terms.iter().for_each(|(c, from)| add_scaled(&mut one, *c, from));
            add_combination(&mut other, &terms);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn a_combination_of_few_bytes_is_the_sum_of_its_terms() {
        let terms: Vec<(u8, [u8; 12])> =
            (0..=255).map(|c| (c, core::array::from_fn(|i| (i * 37) as u8 ^ mul(c, 11)))).collect();
        for count in [0, 1, 5, 90, 256] {
            let mut one = [7; 12];
            let mut other = one;
            terms[..count].iter().for_each(|(c, from)| add_scaled(&mut one, *c, from));
            add_short_combination(&mut other, terms[..count].iter().map(|(c, from)| (*c, from)));
            assert_eq!(one, other);
        }
    }

    #[test]
    fn a_multiple_is_added_as_byte_by_byte() {
        for blocks in 0..4 {
            let row: Vec<Block> =
                (0..blocks).map(|k| core::array::from_fn(|i| (k * 89 + i * 41) as u8)).collect();
            let multiples = Multiples::new(&row);
            assert_eq!(multiples.blocks(), blocks);
            for c in 0..=255 {
                let mut one = vec![[5; SHORT]; blocks + 1];
                let mut other = one.clone();
                add_scaled(one.as_flattened_mut(), c, row.as_flattened());
                multiples.add_to(&mut other, c);
                assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn the_shorter_slice_counts() {
        let mut into = [1, 2, 3];
        add_scaled(&mut into, 1, &[1]);
        add_scaled(&mut into, 2, &[0, 1, 0, 9]);
        assert_eq!(into, [0, 0, 3]);
    }
}
