//! Operations on words, bit by bit.

use divisi_circuit::plain::Words;
use divisi_circuit::{Build, BuildBit, Gates, Program};

/// A public string of bytes.
pub fn public_bytes<G: Gates>(g: &mut G, bytes: &[u8]) -> Vec<[G::Bit; 8]> {
    let mut byte = |value: u8| std::array::from_fn(|i| g.constant(value >> i & 1 == 1));
    bytes.iter().map(|&value| byte(value)).collect()
}

/// The result of a function over gates for a public string of bytes, computed in the clear.
pub fn in_the_clear(bytes: &[u8], f: impl FnOnce(&mut Words, &[[u64; 8]]) -> Vec<[u64; 8]>) -> Vec<u8> {
    let input = public_bytes(&mut Words, bytes);
    let byte = |bits: [u64; 8]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | (bit & 1) as u8);
    f(&mut Words, &input).into_iter().map(byte).collect()
}

/// The program of a function on strings of bytes. Each string is an input value, and the result is the output
/// value; bytes are in order, the lowest bit of each first.
pub(crate) fn byte_program<const N: usize>(
    lengths: [usize; N],
    f: impl FnOnce(&mut Build, [&[[BuildBit; 8]]; N]) -> Vec<[BuildBit; 8]>,
) -> Program {
    let mut g = Build::new();
    let inputs = lengths.map(|bytes| g.input(8 * bytes));
    let output = f(&mut g, inputs.each_ref().map(|bits| bits.as_chunks().0));
    g.output(output.as_flattened());
    g.finish()
}

/// A public word.
pub(crate) fn constant<G: Gates>(g: &mut G, value: u64, width: usize) -> Vec<G::Bit> {
    (0..width).map(|i| g.constant(value >> i & 1 == 1)).collect()
}

pub(crate) fn xor<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit]) -> Vec<G::Bit> {
    x.iter().zip(y).map(|(&x, &y)| g.xor(x, y)).collect()
}

/// Bit by bit `x` if `c` is 1, else `y`: `Ch` of FIPS 180-4.
pub(crate) fn choose<G: Gates>(g: &mut G, c: &[G::Bit], x: &[G::Bit], y: &[G::Bit]) -> Vec<G::Bit> {
    c.iter().zip(x).zip(y).map(|((&c, &x), &y)| g.choose(c, x, y)).collect()
}

/// The majority of three words, bit by bit: `Maj` of FIPS 180-4.
pub(crate) fn majority<G: Gates>(g: &mut G, x: &[G::Bit], y: &[G::Bit], z: &[G::Bit]) -> Vec<G::Bit> {
    x.iter().zip(y).zip(z).map(|((&x, &y), &z)| g.majority(x, y, z)).collect()
}

/// `ROTR^n` of FIPS 180-4; it only renames bits.
pub(crate) fn rotate_right<B: Copy>(x: &[B], n: usize) -> Vec<B> {
    let mut y = x.to_vec();
    y.rotate_left(n);
    y
}

/// `SHR^n` of FIPS 180-4.
pub(crate) fn shift_right<G: Gates>(g: &mut G, x: &[G::Bit], n: usize) -> Vec<G::Bit> {
    let zero = g.constant(false);
    let mut y = x[n..].to_vec();
    y.resize(x.len(), zero);
    y
}

/// The word of these bytes in big-endian order.
pub(crate) fn from_big_endian<B: Copy>(bytes: &[[B; 8]]) -> Vec<B> {
    bytes.iter().rev().flatten().copied().collect()
}

/// The word of these bytes in little-endian order.
pub(crate) fn from_little_endian<B: Copy>(bytes: &[[B; 8]]) -> Vec<B> {
    bytes.as_flattened().to_vec()
}

/// The bytes of a word in big-endian order.
pub(crate) fn to_big_endian<B: Copy>(word: &[B]) -> Vec<[B; 8]> {
    let mut bytes = to_little_endian(word);
    bytes.reverse();
    bytes
}

/// The bytes of a word in little-endian order.
pub(crate) fn to_little_endian<B: Copy>(word: &[B]) -> Vec<[B; 8]> {
    word.as_chunks().0.to_vec()
}
