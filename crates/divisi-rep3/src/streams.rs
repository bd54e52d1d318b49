//! F_zero and F_rand (MAESTRO Figure 1, section 2.5): components that come from streams which exactly their
//! two holders have \[A3\], each stream for one purpose in one strand of one session, so that no value occurs
//! twice. Both are local. Security is that of AES-128 as a pseudo-random function: 128 bits against whoever
//! lacks the key.

use crate::checks;
use crate::packed;
use crate::purposes;
use crate::tile::Tile;
use crate::wire::Shape;
use divisi_core::{PartyId, Prg, Session};
use divisi_field::{Field, Plane};
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

/// A stream with each neighbour.
pub(crate) struct Pair {
    /// Shared with the previous: gives component i, our first.
    pub(crate) first: Prg,
    /// Shared with the next: gives component i+1, our second.
    pub(crate) second: Prg,
}

/// All streams of a strand, one pair a purpose.
pub(crate) struct Streams {
    zero: Pair,
    rand: Pair,
    /// The streams of F_coin.
    pub(crate) coin: Pair,
    input: Pair,
    /// A buffer for stream output, kept from step to step.
    scratch: [Vec<u64>; 2],
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.scratch.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl Streams {
    pub(crate) fn new(session: &mut Session, next: PartyId, prev: PartyId) -> Streams {
        session.observe(checks::A3); // [A3]
        let mut pair =
            |purpose| Pair { first: session.prg(prev, purpose), second: session.prg(next, purpose) };
        Streams {
            zero: pair(purposes::ZERO),
            rand: pair(purposes::RAND),
            coin: pair(purposes::COIN),
            input: pair(purposes::INPUT),
            scratch: Default::default(),
        }
    }

    /// F_zero on planes: adds to the tiles our share of zero, in the lanes in use.
    pub(crate) fn add_zero<const K: usize>(&mut self, z: &mut [[Plane; K]], shape: &Shape) {
        let words: usize = shape.0.iter().map(|lanes| lanes.div_ceil(64) * K).sum();
        for (stream, scratch) in
            [&mut self.zero.first, &mut self.zero.second].into_iter().zip(&mut self.scratch)
        {
            scratch.resize(words, 0);
            stream.words(scratch);
        }
        let [first, second] = &self.scratch;
        let (mut first, mut second) = (first.as_slice(), second.as_slice());
        for (tile, lanes) in z.iter_mut().zip(&shape.0) {
            let words = lanes.div_ceil(64);
            for plane in tile {
                let (a, first_rest) = first.split_at(words);
                let (b, second_rest) = second.split_at(words);
                (first, second) = (first_rest, second_rest);
                add_drawn(plane, a, b, *lanes);
            }
        }
    }

    /// F_zero on a range of planes of every tile.
    pub(crate) fn add_zero_within<const K: usize>(
        &mut self,
        tiles: &mut [Tile<K>],
        planes: Range<usize>,
        shape: &Shape,
    ) {
        let draw = shape.0.iter().map(|lanes| lanes.div_ceil(64) * planes.len()).max().unwrap_or(0);
        self.scratch.iter_mut().for_each(|scratch| scratch.resize(draw, 0));
        for (tile, lanes) in tiles.iter_mut().zip(&shape.0) {
            let words = lanes.div_ceil(64);
            let [a, b] = &mut self.scratch;
            let (a, b) = (&mut a[..words * planes.len()], &mut b[..words * planes.len()]);
            self.zero.first.words(a);
            self.zero.second.words(b);
            let drawn = a.chunks_exact(words).zip(b.chunks_exact(words));
            for (plane, (a, b)) in tile[0][planes.clone()].iter_mut().zip(drawn) {
                add_drawn(plane, a, b, *lanes);
            }
        }
    }

    /// F_rand on planes: our two components of fresh random bits, in the lanes in use.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn rand_planes<const K: usize>(
        &mut self,
        tiles: &mut [Tile<K>],
        planes: Range<usize>,
        shape: &Shape,
    ) {
        for (tile, lanes) in tiles.iter_mut().zip(&shape.0) {
            for (side, stream) in tile.iter_mut().zip([&mut self.rand.first, &mut self.rand.second]) {
                for plane in &mut side[planes.clone()] {
                    stream.words(&mut plane.0[..lanes.div_ceil(64)]);
                    plane.keep(*lanes);
                }
            }
        }
    }

    /// Add a share of zero (F_zero) to the first `bits` bits of a message.
    pub(crate) fn add_zero_bytes(&mut self, message: &mut [u8], bits: usize) {
        for stream in [&mut self.zero.first, &mut self.zero.second] {
            let mut words = [0; 64];
            for piece in message.chunks_mut(512) {
                let words = &mut words[..piece.len().div_ceil(8)];
                stream.words(words);
                for (bytes, word) in piece.chunks_mut(8).zip(words) {
                    bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(x, z)| *x ^= z);
                }
            }
            words.zeroize();
        }
        packed::clear_padding(message, bits);
    }

    /// F_rand: our two components of a fresh random element.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn rand<F: Field>(&mut self) -> (F, F) {
        (uniform(&mut self.rand.first), uniform(&mut self.rand.second))
    }

    /// The next element of the stream of inputs that we have with our previous: the first component of an
    /// input of ours.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn input_with_prev<F: Field>(&mut self) -> F {
        uniform(&mut self.input.first)
    }

    /// The next element of the stream of inputs that we have with our next: our second component of an input
    /// of theirs.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn input_with_next<F: Field>(&mut self) -> F {
        uniform(&mut self.input.second)
    }

    /// F_rand on bytes: our two components of fresh random bytes.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn rand_bytes(&mut self, components: [&mut [u8]; 2]) {
        let [a, b] = components;
        self.rand.first.fill(a);
        self.rand.second.fill(b);
    }
}

/// Adds to a plane what was drawn from both streams for it, in the lanes in use.
#[inline]
fn add_drawn(plane: &mut Plane, first: &[u64], second: &[u64], lanes: usize) {
    for (word, (a, b)) in plane.0.iter_mut().zip(first.iter().zip(second)) {
        *word ^= a ^ b;
    }
    if lanes < Plane::LANES {
        plane.keep(lanes);
    }
}

/// A uniform element: as many bytes of the stream as the field's encoding has, little-endian, cut to the
/// field's bits.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn uniform<F: Field>(prg: &mut Prg) -> F {
    let mut bytes = Zeroizing::new([0; 16]);
    prg.fill(&mut bytes[..F::BYTES]);
    F::from_low_bits(u128::from_le_bytes(*bytes))
}
