//! Arithmetic triples (shares of a, b and a b modulo p) by one product of ciphertexts: GYKW, section 3.3,
//! "Arithmetic sharings", and appendix A.3.
//!
//! Adversary: semi-honest, all parties but one. Each party draws its shares of a and b. One party, the
//! holder, gets encryptions of a and b by A2E, multiplies them, and shares the product by E2A. Answers of E2A
//! are flooded \[G4\], and common polynomials are used once \[G13\]. Another party is the holder in each
//! batch.
//!
//! Cost for a batch of N: each party sends two polynomials to the holder; then the holder sends c_1, and each
//! party an answer. Three rounds (test `cost_of_arithmetic_triples`).

use crate::num::Num;
use crate::pipeline;
use divisi_bgv::parameters::Operation;
use divisi_bgv::{Ciphertext, Keys, Sampler};
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step};

#[cfg(test)]
mod tests;

const MULTIPLY: Step = step!("triple");
/// The name under which batches are counted; the holder of a batch follows from its number.
const BATCHES: &str = "arithmetic triples";

/// One party's shares of a, b and a b modulo p. Using them consumes them \[G7\]: they are neither copied nor
/// cloned.
///
/// ```compile_fail,E0382
/// fn twice(triples: divisi_mixed::arithmetic::NumberTriples) {
///     let first = triples.open();
///     let second = triples.open();
/// }
/// ```
/// One use compiles:
/// ```
/// fn once(triples: divisi_mixed::arithmetic::NumberTriples) {
///     let first = triples.open();
/// }
/// ```
pub struct NumberTriples([Num; 3]);

impl NumberTriples {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0[0].lanes()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shares of a, b and a b.
    #[must_use]
    pub fn open(self) -> [Num; 3] {
        self.0
    }

    /// Removes the last `count` triples and returns them; `None` if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<NumberTriples> {
        let left = self.len().checked_sub(count)?;
        let split = |x: &mut Num| x.split_off(left);
        Some(NumberTriples(self.0.each_mut().map(split)))
    }

    /// All parts in one list.
    pub(crate) fn join(parts: Vec<NumberTriples>) -> NumberTriples {
        let of = |i: usize| Num::join(&parts.iter().filter_map(|part| part.0.get(i)).collect::<Vec<_>>());
        NumberTriples([of(0), of(1), of(2)])
    }
}

/// Makes a batch of N triples. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation; otherwise it fails as [`Keys::a2e`] and
/// [`Keys::e2a`] do.
pub fn triples(session: &mut Session, keys: &Keys, sampler: &mut Sampler) -> Result<NumberTriples, Abort> {
    let batch = session.count(BATCHES);
    one_batch(session, keys, sampler, batch)
}

/// Make `count` batches, in order and several at the same time: a party works on one batch while another one
/// waits for a peer.
///
/// # Errors
/// It fails as [`triples`] does.
pub fn batches(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
) -> Result<Vec<NumberTriples>, Abort> {
    pipeline::batches(
        session,
        keys,
        sampler,
        (count, BATCHES, pipeline::FEW),
        |session, keys, sampler, (_, batch)| one_batch(session, keys, sampler, batch),
    )
}

fn one_batch(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
) -> Result<NumberTriples, Abort> {
    let ring = keys.ring();
    if ring.parameters().operation() != Operation::Triples {
        return Err(session.misuse(MULTIPLY, Misuse::KeyUnfit));
    }
    let turn = (batch % session.parties().max(1) as u64) as usize;
    let Some(holder) = PartyId::all(session.parties()).nth(turn) else {
        return Err(session.misuse(MULTIPLY, Misuse::PartyCount));
    };
    // 1. <a>, <b>: each party draws its own shares
    let [a, b] = [(); 2].map(|()| sampler.elements(ring.plain(), ring.dimension()));
    // 2. [a], [b] at the holder
    let x = keys.a2e(session, sampler, holder, &a)?;
    let y = keys.a2e(session, sampler, holder, &b)?;
    // 3. [a b], switched down to the bottom
    let top = ring.parameters().top();
    let mut product = None;
    if let (Some(x), Some(y)) = (x, y) {
        product = Some(x.times(keys, session, MULTIPLY, &y)?.switch(ring, 0));
    }
    // 4. <a b>
    let factor = Ciphertext::factor_after(ring, 1, top, 0);
    let c = keys.e2a(session, sampler, holder, product.as_ref(), factor)?;
    Ok(NumberTriples([a, b, c].map(|x| Num::new(x).made(session))))
}
