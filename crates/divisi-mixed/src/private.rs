//! Lookups in private tables of 2 to 256 entries by ciphertexts: GYKW, Figures 7 and 8, case 2, in the Walsh
//! basis ([`crate::table`]).
//!
//! The Walsh coefficients That\[k\] of shared tables, for k from 1 on, are put into a ciphertext at one party
//! (A2E). Each party in turn multiplies it by its own signs (-1)^<k,r_i>, hidden as in Figure 6. The last one
//! shares the result (E2A): the coefficients of T'\[j\] = T\[r xor j\]. In the form of a tree the product of
//! all signs reaches the first party, which multiplies it with the ciphertext of the coefficients. r is
//! shared modulo 2 only; so this needs no random bits in both worlds and no triples. Unlike
//! [`Mixed::look_up_private`](crate::Mixed::look_up_private) it needs keys of its own.
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

use crate::bit::GmwBit;
use crate::checks;
use crate::circle::{self, Order, Product};
use crate::num::Num;
use crate::open;
use crate::pipeline;
use crate::table::{self, MOST, walsh};
use crate::tree;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, Keys, Sampler, encode};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step};

const MASK: Step = step!("mask");
const GATHER: Step = step!("gather");
const ENTRIES: Step = step!("entries");
/// The name under which batches are counted; the parties' roles in a batch follow from its number.
const BATCHES: &str = "private tables";

/// Shares of tables T' and of their masks r. Using them consumes them \[G7\]: they are neither copied nor
/// cloned.
///
/// ```compile_fail,E0382
/// fn twice(session: &mut divisi_core::Session, x: &[divisi_mixed::GmwBit], tables: divisi_mixed::private::Masked) {
///     let first = tables.look_up(session, x);
///     let second = tables.look_up(session, x);
/// }
/// ```
/// One use compiles:
/// ```
/// fn once(session: &mut divisi_core::Session, x: &[divisi_mixed::GmwBit], tables: divisi_mixed::private::Masked) {
///     let first = tables.look_up(session, x);
/// }
/// ```
pub struct Masked {
    width: usize,
    plain: divisi_field::zp::Modulus,
    /// Our share of each mask, modulo 2.
    r: WipedVec<u64>,
    /// For each number of an entry our shares of the Walsh coefficients of T', table by table.
    hat: Vec<Num>,
}

/// How many ciphertexts of these parameters [`Masked::new`] makes at one time. More are made one after
/// another, in the place of those that are finished.
#[must_use]
pub fn at_once(parameters: &Parameters) -> usize {
    pipeline::MANY.at_once(parameters)
}

impl Masked {
    /// Figure 7: masks tables of 2^width shared entries, given one after the other. All parties call it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the number of entries is not a multiple of 2^width, if another session made the
    /// shares, or if the keys are for another operation; otherwise it fails as [`Keys::from_shares`],
    /// [`Keys::to_shares`] and [`divisi_bgv::wire::receive`] do.
    pub fn new(
        session: &mut Session,
        keys: &Keys,
        sampler: &mut Sampler,
        width: usize,
        tables: &Num,
    ) -> Result<Masked, Abort> {
        Masked::vectors(session, keys, sampler, width, std::slice::from_ref(tables))
    }

    /// The same for tables whose entries are vectors: `tables` has an element for each number of an entry,
    /// which has this number of all tables. All numbers of a table are under one mask.
    ///
    /// # Errors
    /// It fails as [`Masked::new`] does; [`Abort::Misuse`] for vectors of no numbers, and if the elements of
    /// `tables` differ in length.
    pub fn vectors(
        session: &mut Session,
        keys: &Keys,
        sampler: &mut Sampler,
        width: usize,
        tables: &[Num],
    ) -> Result<Masked, Abort> {
        let (ring, plain) = (keys.ring(), keys.ring().plain());
        tables.iter().try_for_each(|tables| tables.admit(session, plain, MASK))?;
        let lanes = tables.first().map_or(0, Lanes::lanes);
        let p = ring.parameters();
        if p.operation() != Operation::PrivateTables {
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
        // 2. to 4. the signs of all k but 0; one ciphertext takes as many tables as fit its slots
        let slots = ring.dimension();
        let total = hat.len() * r.len() * each;
        // number by number, table by table
        let place = |i: usize| (i / each / r.len(), i / each % r.len(), i % each + 1);
        let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler, (part, batch): (usize, u64)| {
            let first = part * slots;
            let mut share = WipedVec::zeros(slots);
            // unused slots get random signs, because the bounds on noise assume random signs
            let mut signs = WipedVec::zeros(slots);
            sampler.bits(&mut signs);
            let here = share.iter_mut().zip(signs.iter_mut()).zip(first..total);
            for ((share, sign), i) in here {
                let (number, table, k) = place(i);
                *share = hat[number][table * entries + k];
                *sign = u64::from((k as u64 & r[table]).count_ones() & 1);
            }
            pass(session, keys, sampler, batch, &share, &encode::signs(ring, &signs))
        };
        let masked =
            pipeline::batches(session, keys, sampler, (total.div_ceil(slots), BATCHES, pipeline::MANY), one)?;
        for (i, masked) in masked.iter().flat_map(|part| part.iter()).take(total).enumerate() {
            let (number, table, k) = place(i);
            hat[number][table * entries + k] = *masked;
        }
        let hat = hat.into_iter().map(|hat| Num::new(hat).made(session)).collect();
        Ok(Masked { width, plain, r, hat })
    }

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

    /// Figure 8, case 2: looks up the entry of each table at its shared index of m bits, the lowest first.
    /// One opening.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not one index of m bits for each table, if another session made the
    /// shares, or if the entries are vectors; the abort that ends the session, if a link fails.
    pub fn look_up(self, session: &mut Session, x: &[GmwBit]) -> Result<Num, Abort> {
        if self.hat.len() != 1 {
            return Err(session.misuse(ENTRIES, Misuse::CountsDiffer));
        }
        let found = self.look_up_vectors(session, x)?.pop();
        found.ok_or_else(|| session.misuse(ENTRIES, Misuse::Empty))
    }

    /// The same for entries that are vectors, still by one opening. Returns a value for each number of an
    /// entry, with a lane for each table.
    ///
    /// # Errors
    /// It fails as [`Masked::look_up`] does, but takes vectors.
    pub fn look_up_vectors(self, session: &mut Session, x: &[GmwBit]) -> Result<Vec<Num>, Abort> {
        let Masked { width, plain, r, hat } = self;
        hat.iter().try_for_each(|hat| hat.admit(session, plain, ENTRIES))?;
        // 1. u = x xor r, opened
        let masked = table::masked_index(session, x, [width, r.len()], |lane, j| r[lane] >> j & 1)?;
        let u = table::indices(&open::open_packed(session, masked)?, width);
        // 2. T'[u]
        let scale = plain.invert(1 << width);
        let of = |hat: &Num| {
            let mut out = WipedVec::zeros(r.len());
            for ((out, hat), u) in out.iter_mut().zip(hat.shares().chunks_exact(1 << width)).zip(&u) {
                *out = table::entry(plain, scale, hat.iter().copied(), *u);
            }
            Num::new(out).made(session)
        };
        Ok(hat.iter().map(of).collect())
    }
}

/// Multiplies shared values by the signs of all parties: they are put into a ciphertext, pass around the ring
/// (or meet the product of signs that comes along a tree), and are shared again. Each batch begins with
/// another party.
fn pass(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    batch: u64,
    share: &[u64],
    signs: &[u64],
) -> Result<WipedVec<u64>, Abort> {
    let order = Order::new(session, batch);
    // the encryption of That, at the first party
    let first = order.at(session, 0)?;
    let form = keys.ring().parameters().form();
    let x = if form == Form::Paper {
        gather(session, keys, sampler, first, share)?
    } else {
        keys.from_shares(session, sampler, first, share)? // [G13]
    };
    let (holder, product, factor) = if form == Form::LeanTree {
        times_tree(session, keys, sampler, &order, x, signs)?
    } else {
        circle::around(session, keys, sampler, &order, x, signs)?
    };
    keys.to_shares(session, sampler, holder, product.as_ref(), factor)
}

/// The ciphertext of the shares as in Figure 7: the sum of one encryption under the public key by each party,
/// along a tree. If all came to the first party at once, it would have those of all others in memory.
fn gather(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    first: PartyId,
    share: &[u64],
) -> Result<Option<Ciphertext>, Abort> {
    let (ring, top) = (keys.ring(), keys.ring().parameters().top());
    // a party waits for those below it in the tree, which wait for others
    session.set_patience(session.parties());
    let plain = encode::coefficients(ring, share);
    let x = keys.encrypt(sampler, top, Some(&plain));
    drop(plain);
    x.add_up(session, ring, GATHER, first) // [G10]
}

/// At the first party: the ciphertext of the shares, times the product of all signs.
fn times_tree(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    shared: Option<Ciphertext>,
    signs: &[u64],
) -> Result<Product, Abort> {
    let ring = keys.ring();
    let (holder, product, factor) = tree::along(session, keys, sampler, order, signs)?;
    // both factors must be at the same level: the one above the bottom, which the product of signs has
    let of_shares = Ciphertext::factor_after(ring, 1, ring.parameters().top(), 1);
    let factor = Ciphertext::factor_after(ring, ring.plain().mul(factor, of_shares), 1, 0);
    let masked = match (product, shared) {
        (Some(product), Some(shared)) => {
            Some(product.times(keys, session, MASK, &shared.switch(ring, 1))?.switch(ring, 0))
        }
        _ => None,
    };
    Ok((holder, masked, factor))
}
