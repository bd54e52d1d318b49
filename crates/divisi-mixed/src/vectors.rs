//! Shared vectors at shared indices: the special case of GYKW, section 4.1.
//!
//! Two protocols, for two sizes of vectors.
//!
//! *1,024 numbers, as the keys of linear garbling have them* ([`times_numbers`]). With an index e of one bit
//! the entry is T\[0\] + e (T\[1\] - T\[0\]). One ciphertext has N / 1024 differences; every party gets it,
//! and multiplies each by its share modulo p of e, for each of the four indices that have the same table.
//! There is no chain of messages, whatever the number of parties ([`divisi_bgv::blocks`]).
//!
//! *N numbers, as many as a ciphertext has slots* ([`prep_lut_vectors`]). A ciphertext of the difference
//! passes around the parties; each keeps or exchanges the entries by a sign, and adds a fresh encryption of
//! zero ([`divisi_bgv::exchange`]). The index is shared modulo 2.
//!
//! Adversary: semi-honest, all parties but one. Private as docs/bgv.md, 11 and 12, says; the index bits that
//! are opened are masked, each mask being used once \[G7\]. Cost, of all parties together, in polynomials: of
//! the first 2 (n - 1) at the top for N / 1024 vectors, and for each product 2 (n - 1) at the bottom and n -
//! 1 answers, in five rounds; of the second 4 (n - 1) and n - 1 answers for a table, in n + 2 rounds, and one
//! opened bit (tests `products_of_vectors`, `tables_of_vectors`).

use crate::checks;
use crate::circle::Order;
use crate::num::Num;
use crate::pipeline;
use crate::random::NARROW;
use divisi_bgv::parameters::{BLOCK, FACTORS, Operation};
use divisi_bgv::{Ciphertext, Keys, Sampler, wire};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Session, Step, step};
use divisi_field::zp::Modulus;

const MULTIPLY: Step = step!("vectors.multiply");
const MASK: Step = step!("vectors.mask");
const PASS: Step = step!("vectors.pass");
/// The names under which batches are counted; the parties' roles in a batch follow from its number.
const PRODUCTS: &str = "products of vectors";
const TABLES: &str = "tables of vectors";

/// How many vectors are multiplied with one chain of messages. Their products are returned together.
pub const TOGETHER: usize = 32;

/// How many chains of messages there are for the products of this number of vectors, one after another.
#[must_use]
pub fn chains(vectors: usize) -> usize {
    vectors.div_ceil(TOGETHER).div_ceil(pipeline::SEVERAL.most())
}

/// Shares modulo p of vectors of 1,024 numbers, each times four shared numbers: the numbers of the first
/// vector come first. `vector(v, out)` writes our shares of the v-th vector. Returns the products of 32
/// vectors after those of another: vector by vector, number by number. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation, the modulus has more than 32 bits, there are not
/// four numbers for each vector, or another session made their shares; otherwise it fails as
/// [`Keys::a2e_to_all`] and [`Keys::times_shares`] do.
pub fn times_numbers(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    numbers: &Num,
    vector: impl Fn(usize, &mut [u64]) + Sync,
) -> Result<Vec<WipedVec<u32>>, Abort> {
    let (ring, p) = (keys.ring(), keys.ring().parameters());
    if p.operation() != Operation::BlockProducts {
        return Err(session.misuse(MULTIPLY, Misuse::KeyUnfit));
    }
    // shares of a larger one do not fit
    if ring.plain().bits() > NARROW {
        return Err(session.misuse(MULTIPLY, Misuse::OutOfRange));
    }
    numbers.admit(session, ring.plain(), MULTIPLY)?;
    let count = numbers.lanes() / FACTORS;
    if count == 0 || !numbers.lanes().is_multiple_of(FACTORS) {
        return Err(session.misuse(MULTIPLY, Misuse::CountsDiffer));
    }
    let (blocks, slots) = (p.blocks(), ring.dimension());
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (unit, batch): (usize, u64)| {
        // everybody waits for one party, which waits for everybody
        session.set_patience(session.parties());
        let order = Order::new(session, batch);
        let (adder, holder) = (order.at(session, 0)?, order.at(session, order.parties.len() - 1)?);
        let all = unit * TOGETHER..count.min((unit + 1) * TOGETHER);
        let firsts = all.clone().step_by(blocks);
        // 1. [D]
        let shares = firsts.clone().map(|first| {
            let mut share = WipedVec::zeros(slots);
            let vectors = share.chunks_exact_mut(BLOCK).zip(first..all.end);
            vectors.for_each(|(out, v)| vector(v, out));
            share
        });
        let x = keys.a2e_to_all(session, sampler, adder, &shares.collect::<Vec<_>>())?; // [G13]
        // 2. and 3. shares of e D, for four e; unused blocks are multiplied by zero
        let of = |first: usize, k: usize| {
            let mut factors = WipedVec::zeros(blocks);
            for (factor, v) in factors.iter_mut().zip(first..all.end) {
                *factor = numbers.shares().get(v * FACTORS + k).copied().unwrap_or(0);
            }
            factors
        };
        let factors: Vec<Vec<_>> = firsts.map(|first| (0..FACTORS).map(|k| of(first, k)).collect()).collect();
        let products = keys.times_shares(session, sampler, holder, &x, &factors)?; // [G1, G4]
        let mut out = WipedVec::<u32>::zeros(all.len() * FACTORS * BLOCK);
        for (v, out) in out.chunks_exact_mut(FACTORS * BLOCK).enumerate() {
            let products = products.iter().skip(v / blocks * FACTORS);
            for (out, product) in out.chunks_exact_mut(BLOCK).zip(products) {
                let product = product.iter().skip(v % blocks * BLOCK);
                out.iter_mut().zip(product).for_each(|(out, x)| *out = *x as u32);
            }
        }
        Ok(out)
    };
    let units = (count.div_ceil(TOGETHER), PRODUCTS, pipeline::SEVERAL);
    pipeline::batches(session, keys, sampler, units, one)
}

/// Shares of tables T' of two vectors, T'\[j\] = T\[r xor j\], and of their masks r. Using them consumes them
/// \[G7\]: they are neither copied nor cloned.
///
/// ```compile_fail,E0382
/// use divisi_mixed::vectors::MaskedVectors;
/// fn twice(session: &mut divisi_core::Session, x: &divisi_mixed::GmwBit, tables: MaskedVectors) {
///     let first = tables.lookup(session, x);
///     let second = tables.lookup(session, x);
/// }
/// ```
/// One use compiles:
/// ```
/// use divisi_mixed::vectors::MaskedVectors;
/// fn once(session: &mut divisi_core::Session, x: &divisi_mixed::GmwBit, tables: MaskedVectors) {
///     let first = tables.lookup(session, x);
/// }
/// ```
pub struct MaskedVectors {
    pub(crate) plain: Modulus,
    /// Our share of each mask, modulo 2.
    pub(crate) r: WipedVec<u64>,
    /// Our shares of the sum and of the masked difference of the entries of each table.
    pub(crate) tables: Vec<[Num; 2]>,
}

impl MaskedVectors {
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

/// (MaskedPriTab) Figure 6, case 2, with the special case of section 4.1: masks tables of two shared vectors
/// of at most N numbers each. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if the keys are for another operation, there are no tables, entries of a table
/// differ in length or have more numbers than a ciphertext has slots, or another session made the shares;
/// otherwise it fails as [`Keys::a2e`], [`Keys::e2a`] and [`wire::receive`] do.
pub fn prep_lut_vectors(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    tables: &[[Num; 2]],
) -> Result<MaskedVectors, Abort> {
    let (ring, plain) = (keys.ring(), keys.ring().plain());
    if ring.parameters().operation() != Operation::VectorTables {
        return Err(session.misuse(MASK, Misuse::KeyUnfit));
    }
    tables.as_flattened().iter().try_for_each(|entry| entry.admit(session, plain, MASK))?;
    let pairs = tables.iter().map(|[zero, one]| Some([zero.add(plain, one)?, zero.sub(plain, one)?]));
    let pairs: Option<Vec<[Num; 2]>> = pairs.collect();
    let fits = |[sum, _]: &[Num; 2]| (1..=ring.dimension()).contains(&sum.lanes());
    let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty() && pairs.iter().all(fits)) else {
        return Err(session.misuse(MASK, Misuse::CountsDiffer));
    };
    // 1. <r>: each party draws its own share
    let mut r = WipedVec::zeros(pairs.len());
    sampler.bits(&mut r);
    session.observe(checks::G7); // [G7]
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (at, batch): (usize, u64)| {
        let (difference, r) = (pairs.get(at).map(|[_, d]| d.shares()), r.get(at).copied());
        let mut share = WipedVec::zeros(ring.dimension());
        let all = share.iter_mut().zip(difference.unwrap_or_default());
        all.for_each(|(out, x)| *out = *x);
        exchange(session, keys, sampler, batch, &share, r.unwrap_or(0))
    };
    let count = (pairs.len(), TABLES, pipeline::MANY);
    let masked = pipeline::batches(session, keys, sampler, count, one)?;
    let tables = pairs.into_iter().zip(masked).map(|([sum, _], masked)| {
        let masked = WipedVec::from(masked.get(..sum.lanes()).unwrap_or_default());
        [sum.made(session), Num::new(masked).made(session)]
    });
    Ok(MaskedVectors { plain, r, tables: tables.collect() })
}

/// Steps 2 to 4 for one table: multiplies the difference of its entries by the signs of all parties, which it
/// passes one after the other.
fn exchange(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
    share: &[u64],
    r: u64,
) -> Result<WipedVec<u64>, Abort> {
    let order = Order::new(session, batch);
    // a party late in the order waits while all before it take their turns
    session.set_patience(order.parties.len());
    let (me, last) = (order.me, order.parties.len().saturating_sub(1));
    // 2. the ciphertext of the difference, at the first party
    let first = order.at(session, 0)?;
    let given = keys.a2e(session, sampler, first, share)?; // [G13]
    // 3. (a) get c_{i-1}
    let x = match (given, me.checked_sub(1)) {
        (_, Some(before)) => {
            let before = order.at(session, before)?;
            Ciphertext::receive(session, keys.ring(), PASS, before, 0, 1)? // [G10]
        }
        (Some(x), None) => x,
        (None, None) => return Err(session.misuse(PASS, Misuse::NotTheOwner)),
    };
    // (b) and (c) keep or exchange, and hide it
    let mut x = Some(keys.keep_or_exchange(session, sampler, x, r)?); // [G1]
    if me < last {
        let next = order.at(session, me + 1)?;
        x.take().map_or(Ok(()), |x| wire::send(session, keys.ring(), PASS, next, &x.components()))?;
    }
    // 4. E2A, by the last party
    let holder = order.at(session, last)?;
    keys.e2a(session, sampler, holder, x.as_ref(), 1) // [G4]
}
