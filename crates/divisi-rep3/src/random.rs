//! F_zero, F_rand and F_coin (MAESTRO Figure 1, section 2.5).
//!
//! Adversary: one malicious party of three. F_zero and F_rand are local: components come from streams that exactly their two
//! holders have \[A3\], each stream for one purpose in one strand of one session, so that no value occurs twice. Security is
//! that of AES-128 as a pseudo-random function: 128 bits against whoever lacks the key.
//!
//! F_coin opens a fresh F_rand. Three rules keep it honest (docs/lookups.md, 6):
//! - it demands a [`Fixed`], the proof that all views were compared after everything the coin must follow \[A8\];
//! - a party sends its component only to its next, from which the Reshare message before came, so that whoever withholds a
//!   message does not see the coin: component i goes from party i to i+1, and the only other holder, i-1, sends nothing but
//!   a digest, one step later;
//! - that digest is compared at once, before the coin is used \[A4, M0.2\]; inside a verification, where the coin's first use is
//!   a message under a mask, right after that message and before any other.

#[cfg(all(test, feature = "fault", feature = "testing"))]
pub(crate) mod toy;

use crate::Trio;
use crate::packed;
use crate::share::Tile;
use crate::views::Fixed;
use crate::wire::Shape;
use divisi_core::{Abort, Check, PartyId, Prg, Session, Step, step, taint};
use divisi_field::{BigField, Field, Gf64, Plane};
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

#[cfg(all(test, feature = "fault", feature = "testing"))]
use toy::drawn;

/// What was drawn from a coin, as it was drawn.
#[cfg(not(all(test, feature = "fault", feature = "testing")))]
#[inline(always)]
fn drawn<F>(x: F) -> F {
    x
}

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
    coin: Pair,
    input: Pair,
    /// Where the streams are drawn to; kept from step to step.
    scratch: [Vec<u64>; 2],
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.scratch.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl Streams {
    pub(crate) fn new(session: &mut Session, next: PartyId, prev: PartyId) -> Streams {
        session.observe(Check::A3); // [A3]
        let mut pair =
            |purpose| Pair { first: session.prg(prev, purpose), second: session.prg(next, purpose) };
        Streams {
            zero: pair("rep3 F_zero"),
            rand: pair("rep3 F_rand"),
            coin: pair("rep3 F_coin"),
            input: pair("rep3 input"),
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

    /// F_zero on the first bits of a message.
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
    pub(crate) fn rand<F: Field>(&mut self) -> (F, F) {
        (uniform(&mut self.rand.first), uniform(&mut self.rand.second))
    }

    /// The next element of the stream of inputs that we have with our previous: the first component of an input of ours.
    pub(crate) fn input_with_prev<F: Field>(&mut self) -> F {
        uniform(&mut self.input.first)
    }

    /// The same of our next's input.
    pub(crate) fn input_with_next<F: Field>(&mut self) -> F {
        uniform(&mut self.input.second)
    }

    /// F_rand on bytes: our two components of fresh random bytes.
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

/// A uniform element: one whole little-endian encoding of the stream, cut to the field's bits.
fn uniform<F: Field>(prg: &mut Prg) -> F {
    let mut bytes = Zeroizing::new([0; 16]);
    prg.fill(&mut bytes[..F::BYTES]);
    F::from_low_bits(u128::from_le_bytes(*bytes))
}

/// A public random value of 128 bits that nobody could choose, and nobody knew before what it follows was fixed.
#[derive(Clone, Copy)]
pub struct Coin([u8; 16]);

impl Coin {
    /// The coin itself.
    #[must_use]
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }

    /// A coin that an adversary of a test has seen.
    #[cfg(feature = "fault")]
    pub(crate) fn seen(coin: [u8; 16]) -> Coin {
        Coin(coin)
    }

    /// A uniform field element: the coin's own bits.
    pub(crate) fn element<F: BigField>(&self) -> F {
        drawn(F::from_uniform(self.0))
    }

    /// As many uniform elements as are asked for: AES-128 in counter mode under the coin.
    pub(crate) fn expand(&self) -> Prg {
        Prg::new(&self.0)
    }
}

/// The next elements of a coin's expansion over GF(2^64).
pub(crate) fn next_words(prg: &mut Prg, out: &mut [Gf64]) {
    let mut words = [0; 128];
    for out in out.chunks_mut(128) {
        let words = &mut words[..out.len()];
        prg.words(words);
        out.iter_mut().zip(words).for_each(|(x, w)| *x = drawn(Gf64(*w)));
    }
}

/// The next elements of a coin's expansion.
pub(crate) fn next_elements<F: Field>(prg: &mut Prg, out: &mut [F]) {
    for x in out {
        *x = drawn(uniform(prg));
    }
}

const SHARE: Step = step!("coin.share");
const DIGEST: Step = step!("coin.digest");

impl Trio {
    /// F_coin. Two rounds, 128 payload bits.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A4 if the two holders of a component do not send the same.
    pub fn coin(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        self.demand_fixed(after)?;
        if self.session.mutated(Check::M0_2) {
            // the mutant hashes its own view: whoever has the same view knows the coin before it is tossed
            self.view.update(b"coin");
            let mut coin = [0; 16];
            self.view.finalize_xof().fill(&mut coin);
            return Ok(Coin(coin));
        }
        let coin = self.toss()?;
        self.confirm_coin()?;
        Ok(coin)
    }

    /// F_coin inside a verification, where a Reshare of elements follows: the redundant holders' digests ride along with it, and are
    /// compared before anything else is sent ([`Trio::confirm_coin`]; docs/lookups.md, 6). One round. What is sent before the comparison
    /// is masked by F_zero, so that parties whose coins differ tell nothing by it.
    pub(crate) fn coin_ahead(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        self.demand_fixed(after)?;
        if self.session.mutated(Check::M0_2) {
            return self.coin(after);
        }
        self.toss()
    }

    /// A coin is about to be tossed: everything that was opened before must be what a barrier has fixed.
    fn demand_fixed(&mut self, after: &Fixed) -> Result<(), Abort> {
        if *after != self.fixed() || self.uncompared {
            return Err(self.session.misuse(SHARE, "a coin after something that no barrier has fixed"));
        }
        Ok(())
    }

    fn toss(&mut self) -> Result<Coin, Abort> {
        self.confirm_coin()?;
        let (mut a, mut b, mut c) = ([0u8; 16], [0u8; 16], [0u8; 16]);
        self.streams.coin.first.fill(&mut a);
        self.streams.coin.second.fill(&mut b);
        // the component goes to the next, from which the message before came [A8, A9]
        self.session.send(SHARE, self.next, &a, 128)?;
        self.session.recv(SHARE, self.prev, &mut c)?;
        // its redundant holder's digest follows one step later
        let digest = self.coin_digest(&b);
        self.session.send(DIGEST, self.prev, &digest, 0)?;
        self.unconfirmed = Some(self.coin_digest(&c));
        let mut coin = [0; 16];
        for (i, x) in coin.iter_mut().enumerate() {
            *x = a[i] ^ b[i] ^ c[i];
        }
        taint::public(SHARE, &mut coin);
        #[cfg(all(test, feature = "fault", feature = "testing"))]
        let coin = toy::coin(coin);
        self.view.update(b"coin").update(&coin);
        #[cfg(feature = "fault")]
        self.deviation.saw_coin(coin);
        Ok(Coin(coin))
    }

    /// Compare the last coin, if that was not done yet.
    pub(crate) fn confirm_coin(&mut self) -> Result<(), Abort> {
        let Some(digest) = self.unconfirmed.take() else { return Ok(()) };
        let mut theirs = [0; 32];
        self.session.recv(DIGEST, self.next, &mut theirs)?;
        let same = self.session.same_digest(&digest, &theirs);
        self.session.require(Check::A4, DIGEST, same, None)?; // [A4] [M0.2]
        self.session.observe(Check::M0_2); // [M0.2]
        Ok(())
    }

    /// The first coin of a verification, which gives the coefficients \[A8\].
    pub(crate) fn first_coin(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        #[cfg(feature = "fault")]
        if self.session.mutated(Check::A8) {
            // the mutant tosses one coin for all verifications: later products can be chosen by it
            let coin = match self.deviation.reused {
                Some(coin) => coin,
                None => self.coin_ahead(after)?,
            };
            self.deviation.reused = Some(coin);
            return Ok(coin);
        }
        self.coin_ahead(after)
    }

    fn coin_digest(&self, component: &[u8; 16]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 coin v1");
        hasher.update(self.session.id().as_bytes()).update(component);
        *hasher.finalize().as_bytes()
    }
}
