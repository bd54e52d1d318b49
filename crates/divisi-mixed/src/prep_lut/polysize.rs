//! Protocol Pi_prep-LUT for tables of 2 to 256 shared entries: GYKW, Figure 7, case 2, in the Walsh basis
//! ([`crate::table`]).
//!
//! The Walsh coefficients That\[k\] of shared tables, for k from 1 on, are put into a ciphertext at one party
//! (A2E). Each party in turn multiplies it by its own signs (-1)^<k,r_i>, hidden as in Figure 6. The last one
//! shares the result (E2A): the coefficients of T'\[j\] = T\[r xor j\]. In the form of a tree the product of
//! all signs reaches the first party, which multiplies it with the ciphertext of the coefficients. r is
//! shared modulo 2 only; so this needs no random bits in both worlds and no triples. Unlike
//! [`Mixed::lookup_private`](crate::Mixed::lookup_private) it needs keys of its own.
//!
//! Adversary: semi-honest, all but one; privacy as in docs/bgv.md, 5, 6 and 9: a private table is one A2E and
//! one hop more \[G1, G13\]. Cost for a batch of N slots: n - 1 polynomials to the first party, 2 (n - 1) of
//! falling levels around the ring, and n - 1 times c_1 and an answer. Each refresh (`circle`) costs as much
//! as these, and a polynomial more from each other party. A batch takes n + 2 rounds, and two for each
//! refresh; several ciphertexts go side by side. In the paper's form each party gives an encryption under the
//! public key, two polynomials; these are added up along a tree to the first party, in floor(log2 n) rounds
//! instead of one, and the last party sends both components: 7 (n - 1) polynomials in all. An entry that is a
//! vector of w numbers takes the slots of w tables, with one mask and one opening. Along a tree the cost is
//! that of random bits and the n - 1 polynomials to the first party, in no more rounds (test
//! `private_tables_by_hops`).

use crate::checks;
use crate::circle::Order;
use crate::num::Num;
use crate::pipeline;
use crate::private;
use crate::table::{MOST, walsh};
use divisi_bgv::parameters::{Operation, Parameters};
use divisi_bgv::{Keys, Sampler, encode};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Session, Step, step};
use divisi_field::zp::Modulus;

const MASK: Step = step!("mask");
/// The name under which batches are counted; the parties' roles in a batch follow from its number.
const BATCHES: &str = "private tables";

/// Shares of tables T' and of their masks r. Using them consumes them \[G7\]: they are neither copied nor
/// cloned.
///
/// ```compile_fail,E0382
/// use divisi_mixed::prep_lut::Masked;
/// fn twice(session: &mut divisi_core::Session, x: &[divisi_mixed::GmwBit], tables: Masked) {
///     let first = tables.lookup(session, x);
///     let second = tables.lookup(session, x);
/// }
/// ```
/// One use compiles:
/// ```
/// use divisi_mixed::prep_lut::Masked;
/// fn once(session: &mut divisi_core::Session, x: &[divisi_mixed::GmwBit], tables: Masked) {
///     let first = tables.lookup(session, x);
/// }
/// ```
pub struct Masked {
    pub(crate) width: usize,
    pub(crate) plain: Modulus,
    /// Our share of each mask, modulo 2.
    pub(crate) r: WipedVec<u64>,
    /// For each number of an entry our shares of the Walsh coefficients of T', table by table.
    pub(crate) hat: Vec<Num>,
}

impl Masked {
    /// How many tables there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.r.len()
    }

    /// Whether there are no tables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.r.is_empty()
    }
}

/// How many ciphertexts of these parameters [`prep_lut_polysize`] makes at one time. More are made one after
/// another, in the place of those that are finished.
#[must_use]
pub fn at_once(parameters: &Parameters) -> usize {
    pipeline::MANY.at_once(parameters)
}

/// (MaskedPriTab) Masks tables of 2^width shared entries, given one after the other. Entries may be vectors:
/// `tables` has an element for each number of an entry, which has this number of all tables; all numbers of a
/// table are under one mask. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the number of entries is not a multiple of 2^width, for vectors of no numbers, if the
/// elements of `tables` differ in length, if another session made the shares, or if the keys are for another
/// operation; otherwise it fails as [`Keys::a2e`], [`Keys::e2a`] and [`divisi_bgv::wire::receive`] do.
pub fn prep_lut_polysize(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    width: usize,
    tables: &[Num],
) -> Result<Masked, Abort> {
    let (ring, plain) = (keys.ring(), keys.ring().plain());
    tables.iter().try_for_each(|tables| tables.admit(session, plain, MASK))?;
    let lanes = tables.first().map_or(0, Lanes::lanes);
    if ring.parameters().operation() != Operation::PrivateTables {
        return Err(session.misuse(MASK, Misuse::KeyUnfit));
    }
    if !(1..=MOST).contains(&width) || lanes == 0 || !lanes.is_multiple_of(1 << width) {
        return Err(session.misuse(MASK, Misuse::CircuitUnfit));
    }
    if tables.iter().any(|tables| tables.lanes() != lanes) {
        return Err(session.misuse(MASK, Misuse::CountsDiffer));
    }
    let (entries, each) = (1_usize << width, (1 << width) - 1);
    // 1. <r>: each party draws its own share
    let mut r = WipedVec::zeros(lanes / entries);
    let mut bits = WipedVec::zeros(r.len() * width);
    sampler.bits(&mut bits);
    for (r, bits) in r.iter_mut().zip(bits.chunks_exact(width)) {
        *r = bits.iter().fold(0, |r, bit| r << 1 | bit);
    }
    session.observe(checks::G7); // [G7]
    let transformed = |tables: &Num| {
        let mut hat = WipedVec::from(tables.shares());
        hat.chunks_exact_mut(entries).for_each(|table| walsh(plain, table));
        hat
    };
    let mut hat: Vec<WipedVec<u64>> = tables.iter().map(transformed).collect();
    // the coefficients of all k but 0; one ciphertext takes as many tables as fit its slots
    let slots = ring.dimension();
    let total = hat.len() * r.len() * each;
    // number by number, table by table
    let place = |i: usize| (i / each / r.len(), i / each % r.len(), i % each + 1);
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, batch): (usize, u64)| {
        let first = part * slots;
        let mut share = WipedVec::zeros(slots);
        let mut signs = signs_of_slots(sampler, slots, total.saturating_sub(first));
        let here = share.iter_mut().zip(signs.iter_mut()).zip(first..total);
        for ((share, sign), i) in here {
            let (number, table, k) = place(i);
            *share = hat[number][table * entries + k];
            *sign = u64::from((k as u64 & r[table]).count_ones() & 1);
        }
        let signs = encode::signs(ring, &signs);
        let order = Order::new(session, batch);
        // 2. [That], at P_1
        let that = private::encrypt(session, keys, sampler, &order, &share)?;
        drop(share);
        // 3. (a) to (c) at every party: [That'], at P_n or at the root of the tree
        let (holder, that, factor) = private::permute(session, keys, sampler, &order, that, &signs)?;
        // 4. E2A
        keys.e2a(session, sampler, holder, that.as_ref(), factor)
    };
    let count = (total.div_ceil(slots), BATCHES, pipeline::MANY);
    let masked = pipeline::batches(session, keys, sampler, count, one)?;
    // 5. <r> and <T'>
    for (i, masked) in masked.iter().flat_map(|part| part.iter()).take(total).enumerate() {
        let (number, table, k) = place(i);
        hat[number][table * entries + k] = *masked;
    }
    let hat = hat.into_iter().map(|hat| Num::new(hat).made(session)).collect();
    Ok(Masked { width, plain, r, hat })
}

/// Signs, as bits, of this many slots. Those behind the used ones are random, because the bounds on noise
/// assume random signs.
fn signs_of_slots(sampler: &mut Sampler, slots: usize, used: usize) -> WipedVec<u64> {
    let mut signs = WipedVec::zeros(slots);
    if let Some(unused) = signs.get_mut(used..) {
        sampler.bits(unused);
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use std::collections::BTreeSet;

    #[test]
    fn signs_of_unused_slots_are_random() {
        let ends = local::run(2, &PublicParameters::new("signs"), |session| {
            let (mut sampler, mut seen) = (Sampler::new(&session), BTreeSet::new());
            for used in [0, 1000, 0, 4096, 5000] {
                let signs = signs_of_slots(&mut sampler, 4096, used);
                assert!(signs.iter().take(used).all(|sign| *sign == 0) && signs.len() == 4096);
                for part in signs.get(used..).unwrap_or_default().chunks_exact(256) {
                    let ones = part.iter().sum::<u64>();
                    // within seven standard deviations of 128
                    assert!((72..184).contains(&ones), "{ones} of 256");
                    assert!(seen.insert(part.to_vec()), "256 signs twice");
                }
            }
            Ok(())
        });
        assert!(ends.is_ok());
    }
}
