//! Batches of ciphertexts on several strands: while one batch waits for a peer, the party works on another.
//!
//! GYKW, section 7.1, "Pipelining": a party is not idle after its own part of a batch, nor while a refresh is
//! under way.

use divisi_bgv::parameters::Parameters;
use divisi_bgv::{Keys, Sampler};
use divisi_core::{Abort, Session};

/// How many batches run at one time, if there is room for them.
#[derive(Clone, Copy)]
pub(crate) struct Strands {
    /// The largest number of batches.
    most: usize,
    /// The most memory, in bytes, if more than one batch runs.
    capacity: usize,
}

/// Few: while one batch waits, another one computes.
pub(crate) const FEW: Strands = Strands { most: 4, capacity: 64 << 20 };
/// Several, for batches that have more polynomials each.
pub(crate) const SEVERAL: Strands = Strands { most: 8, capacity: 128 << 20 };
/// Many: the batches of a moderate number of items wait at the same time, not one after the other.
pub(crate) const MANY: Strands = Strands { most: 16, capacity: 128 << 20 };

impl Strands {
    /// The largest number of batches.
    pub(crate) fn most(self) -> usize {
        self.most
    }

    /// The number for these parameters: public, the same at all parties.
    pub(crate) fn at_once(self, p: &Parameters) -> usize {
        // a batch takes about eight polynomials at the top: during a product, two ciphertexts and the parts
        // of their product
        let polynomials = 8;
        let batch = polynomials * size_of::<u64>() * p.limbs(p.top()) * p.dimension();
        (self.capacity / batch.max(1)).clamp(1, self.most)
    }
}

/// Make `count` batches, several at the same time, and return them in order. `one` makes a batch, given its
/// position among these and its number among all batches for this purpose.
pub(crate) fn batches<R: Send>(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    (count, purpose, strands): (usize, &'static str, Strands),
    one: impl Fn(&mut Session, &Keys, &mut Sampler, (usize, u64)) -> Result<R, Abort> + Sync,
) -> Result<Vec<R>, Abort> {
    let numbers: Vec<(usize, u64)> = (0..count).map(|place| (place, session.count(purpose))).collect();
    let strands = strands.at_once(keys.ring().parameters()).min(count.max(1));
    if strands == 1 {
        return numbers.into_iter().map(|number| one(session, keys, sampler, number)).collect();
    }
    let mut made = Vec::with_capacity(count);
    let work = |strand: &mut Session, number| {
        let mut sampler = Sampler::new(strand);
        one(strand, keys, &mut sampler, number)
    };
    session.stream(strands, numbers.into_iter(), work, |_, batch| {
        made.push(batch);
        Ok::<_, Abort>(())
    })?;
    Ok(made)
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_bgv::Ring;
    use divisi_bgv::parameters::{Form, Operation};
    use divisi_core::{PublicParameters, local};
    use divisi_field::zp::P32;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Each batch draws secrets of its own, in whatever strand, at each party and in each session.
    #[test]
    fn secrets_of_batches_are_their_own() {
        let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 2, P32).unwrap();
        let ring = Arc::new(Ring::new(p).unwrap());
        let mut seen = BTreeSet::new();
        for _ in 0..2 {
            let agreed = ring.parameters().describe(PublicParameters::new("pipeline"));
            let ends = local::run(2, &agreed, |mut session| {
                let keys = Keys::generate(&mut session, &ring)?;
                let mut sampler = Sampler::new(&session);
                let drawn =
                    |_: &mut Session, _: &Keys, sampler: &mut Sampler, _| Ok(sampler.ternary(128).to_vec());
                let mut all = Vec::new();
                for strands in [1, 3] {
                    let strands = Strands { most: strands, capacity: usize::MAX };
                    all.extend(batches(&mut session, &keys, &mut sampler, (9, "tests", strands), drawn)?);
                }
                Ok(all)
            });
            assert!(ends.unwrap().into_iter().flatten().all(|secret| seen.insert(secret)));
        }
        assert_eq!(seen.len(), 2 * 2 * 18);
    }

    /// As many batches run at one time as the memory holds: one at least, and no more than are allowed.
    #[test]
    fn batches_fill_the_memory_and_no_more() {
        for form in [Form::LeanTree, Form::LeanRing, Form::Paper] {
            let p = Parameters::danger_insecure(Operation::Bits, form, 3, P32).unwrap();
            // eight polynomials of words of eight bytes
            let batch = 8 * 8 * p.limbs(p.top()) * p.dimension();
            let of = |most, capacity| Strands { most, capacity }.at_once(&p);
            for count in [2, 100, 1000] {
                assert_eq!(of(2000, count * batch), count);
                assert_eq!(of(2000, count * batch - 1), count - 1);
                assert_eq!(of(count - 1, count * batch), count - 1);
            }
            assert_eq!(of(4, 0), 1);
        }
    }
}
