//! Arithmetic of GF(2⁸) with the polynomial x⁸ + x⁴ + x³ + x² + 1 (0x11D).
//!
//! It is the polynomial of RFC 8681 §3.7.1; 2 generates the multiplicative group, which it does not with 0x11B. Addition and subtraction are both XOR.

/// The polynomial without x⁸.
const REDUCE: u8 = 0x1D;

/// Powers of 2, twice around, so that a sum of two logarithms needs no modulus.
const EXP: [u8; 510] = exponentials();
/// Logarithms to the base 2; that of 0 is not used.
const LOG: [u8; 256] = logarithms();

const fn double(a: u8) -> u8 {
    (a << 1) ^ if a & 0x80 == 0 { 0 } else { REDUCE }
}

const fn exponentials() -> [u8; 510] {
    let mut table = [1; 510];
    let mut i = 1;
    while i < 510 {
        table[i] = double(table[i - 1]);
        i += 1;
    }
    table
}

const fn logarithms() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 255 {
        table[EXP[i] as usize] = i as u8;
        i += 1;
    }
    table
}

/// The product.
pub fn mul(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    EXP[usize::from(LOG[usize::from(a)]) + usize::from(LOG[usize::from(b)])]
}

/// What `a` times gives 1; `None` for 0.
pub fn inverse(a: u8) -> Option<u8> {
    (a != 0).then(|| EXP[255 - usize::from(LOG[usize::from(a)])])
}

/// Adds `c` times `from` to `into`; if their lengths differ, the shorter one's counts.
pub fn add_scaled(into: &mut [u8], c: u8, from: &[u8]) {
    match c {
        0 => {}
        1 => into.iter_mut().zip(from).for_each(|(to, byte)| *to ^= byte),
        _ => {
            let products = products(c);
            into.iter_mut().zip(from).for_each(|(to, byte)| *to ^= times(&products, *byte));
        }
    }
}

/// Multiplies every byte by `c`.
pub fn scale(of: &mut [u8], c: u8) {
    if c != 1 {
        let products = products(c);
        of.iter_mut().for_each(|byte| *byte = times(&products, *byte));
    }
}

/// `c` times 2⁷, 2⁶, … 2⁰: what each bit of the other factor adds to a product.
fn products(c: u8) -> [u8; 8] {
    core::array::from_fn(|i| mul(c, 0x80 >> i))
}

/// The product of a byte and the factor of `products`, without a branch or a table, so that it is done for
/// as many bytes at once as a vector register has.
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
    use alloc::vec::Vec;

    /// Multiplication as at school.
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
        assert_eq!(mul(0x80, 2), 0x1D); // x⁸ is what the polynomial says
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
    fn the_shorter_slice_counts() {
        let mut into = [1, 2, 3];
        add_scaled(&mut into, 1, &[1]);
        add_scaled(&mut into, 2, &[0, 1, 0, 9]);
        assert_eq!(into, [0, 0, 3]);
    }
}
