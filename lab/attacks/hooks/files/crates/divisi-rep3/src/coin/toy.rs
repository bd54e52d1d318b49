//! Coins for tests that measure an error: what is drawn from them has one of 256 values, and is the same in
//! every run of the test.
//!
//! GF(2^64) has a subfield of 256 elements. Every element that is drawn from a coin, and every random one
//! that nobody knows, is mapped into it, and everything else stays as it is: the same code runs, and a lie
//! that passes with probability n/2^64 there passes with probability n/256 here.

use divisi_field::Field;
use divisi_field::gf64::PSI8_POWERS;
use std::cell::Cell;

thread_local! {
    /// The number of the run in this thread, and how many coins it has tossed.
    static RUN: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Begin toy coins on this thread, which is one party of the run with that number.
pub(crate) fn begin(run: u64) {
    RUN.set(Some((run, 0)));
}

/// The toy coin in place of a tossed one. It depends only on the number of the run and on how many coins came
/// before; without [`begin`] it is the tossed coin.
pub(crate) fn coin(tossed: [u8; 16]) -> [u8; 16] {
    let Some((run, number)) = RUN.get() else { return tossed };
    RUN.set(Some((run, number + 1)));
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 toy coins");
    hasher.update(&run.to_le_bytes()).update(&number.to_le_bytes());
    let mut coin = [0; 16];
    hasher.finalize_xof().fill(&mut coin);
    coin
}

/// The element of the subfield that stands for what was drawn.
pub(crate) fn drawn<F: Field>(x: F) -> F {
    match RUN.get() {
        Some(_) if F::BITS == 64 => F::from_low_bits(u128::from(image(x.to_bits() as u8))),
        _ => x,
    }
}

/// The image of an element of GF(2^8) in GF(2^64).
pub(crate) fn image(x: u8) -> u64 {
    let powers = PSI8_POWERS.iter().enumerate();
    powers.fold(0, |sum, (i, power)| if x >> i & 1 == 1 { sum ^ power.0 } else { sum })
}
