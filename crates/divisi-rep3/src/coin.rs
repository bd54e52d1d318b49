//! Coins, and values expanded from them.

use crate::purposes;
use crate::streams::uniform;
use divisi_core::Prg;
use divisi_field::{BigField, Field, Gf64};

#[cfg(test)]
mod tests;

/// A public random value of 128 bits that no party could choose or know before the values that it must follow
/// were fixed.
#[derive(Clone, Copy)]
pub struct Coin(pub(crate) [u8; 16]);

impl Coin {
    /// The coin itself.
    #[must_use]
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }

    /// A uniform field element: the coin's own bits.
    pub(crate) fn element<F: BigField>(&self) -> F {
        F::from_uniform(self.0)
    }

    /// A stream of uniform elements: AES-128 in counter mode under the coin.
    pub(crate) fn expand(&self) -> Prg {
        Prg::of(purposes::COEFFICIENTS, &self.0)
    }
}

/// The next elements of a coin's expansion over GF(2^64).
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn next_words(prg: &mut Prg, out: &mut [Gf64]) {
    let mut words = [0; 128];
    for out in out.chunks_mut(128) {
        let words = &mut words[..out.len()];
        prg.words(words);
        out.iter_mut().zip(words).for_each(|(x, w)| *x = Gf64(*w));
    }
}

/// The next elements of a coin's expansion.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn next_elements<F: Field>(prg: &mut Prg, out: &mut [F]) {
    for x in out {
        *x = uniform(prg);
    }
}
