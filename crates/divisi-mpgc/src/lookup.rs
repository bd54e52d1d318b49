//! Looking up keys by shared bits: shares of k_{w,0} + e D, with D = k_{w,1} - k_{w,0}. Figure 11, step 3,
//! where it calls PriTabLookup of F_LUT.
//!
//! There are two ways.
//!
//! *Transfers*: 1 - 2 e is the product of the signs 1 - 2 e_j of all parties' shares of e. All parties share
//! V, which begins as D; each party j in turn makes it (1 - 2 e_j) V. For e_j V it gets one correlated
//! transfer from each other party, whose payload is that party's share of V. In the end the key is k_{w,0} +
//! (D - V) / 2. For each pair and direction it takes 17 bits for each coefficient, 2,176 bytes. All lookups
//! of a call share its n turns. They are divided into parts that begin with different parties, so that in a
//! turn everybody chooses for some parts and sends to others for the rest: it sends first and receives then,
//! so that no message waits for another one of its turn.
//!
//! *Ciphertexts*: the keys of N / 1024 ANDs stand in one ciphertext of all D, which every party gets. The
//! four e of an AND are made numbers modulo p, and each party multiplies D by its shares of them
//! ([`divisi_mixed::vectors`], the special case of section 4.1). The key is k_{w,0} + e D. Its bytes hardly
//! grow with n. In the forms in which ciphertexts pass around all parties, a private table of two entries is
//! made for each coefficient ([`divisi_mixed::prep_lut`], Figures 7 and 8), for as many keys as fit the
//! ciphertexts that are made at one time.
//!
//! Adversary: semi-honest, all parties but one. Pads of transfers are within 2^-64 of uniform \[G14\], all of
//! a session together within 2^-40 ([`MOST_TRANSFERS`]), so all that a party sees of them is uniform;
//! docs/bgv.md, 5 and 11, says it of ciphertexts. The index bits that are opened are masked, each mask being
//! used once \[G7\].

use crate::parameters::{DIMENSION, LOOKED_UP, PLAIN};
use divisi_bgv::parameters::{BLOCK, FACTORS, Form, Operation, Parameters as Lattice};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_mixed::prep_lut::{at_once, prep_lut_polysize};
use divisi_mixed::{Gmw, GmwBit, Num, cot, vectors};
use divisi_ot::correlate::Long;
use divisi_ot::{Bits, Links, Pads, SemiHonest, Setup};
use std::sync::Arc;

/// The most lookups by transfers in a session, times the number of other parties. A lookup takes pads of
/// 1,024 numbers from each, and a number of 64 bits modulo p = 2^16 + 1 has the distance chi^2 < 2^-112 from
/// uniform. By Pinsker's inequality the distance of m numbers is at most sqrt(m / 2) 2^-56: 2^-40 for 2^33.
pub const MOST_TRANSFERS: u64 = 1 << 23;

const N: usize = DIMENSION;
const LOOK_UP: Step = step!("look-up");

/// The number of lookups whose results are held, and wiped, together: those of 32 ANDs.
pub(crate) const PART: usize = FACTORS * vectors::TOGETHER;
// the keys of an AND are a block of a ciphertext
const _: () = assert!(N == BLOCK);

/// How many ANDs' keys are looked up together: by transfers, or by ciphertexts with these parameters. A power
/// of two that divides [`LOOKED_UP`].
#[must_use]
pub fn ands_at_once(by: Option<&Lattice>) -> usize {
    let ciphertexts = |by: &Lattice| match by.operation() {
        Operation::BlockProducts => LOOKED_UP,
        _ => at_once(by) * by.dimension() / (4 * N),
    };
    1 << by.map_or(LOOKED_UP, ciphertexts).clamp(1, LOOKED_UP).ilog2()
}

/// Whether a session of so many parties may have this number of lookups by transfers, four for each AND.
#[must_use]
pub fn transfers_fit(parties: usize, lookups: u64) -> bool {
    lookups.saturating_mul(parties.saturating_sub(1) as u64) <= MOST_TRANSFERS
}

/// The operation on ciphertexts by which keys are looked up in this form.
#[must_use]
pub fn operation(form: Form) -> Operation {
    match form {
        Form::LeanTree => Operation::BlockProducts,
        _ => Operation::PrivateTables,
    }
}

/// How keys are looked up.
#[derive(Clone)]
#[expect(clippy::exhaustive_enums, reason = "whoever looks keys up describes its parameters to the peers")]
pub enum LookupMethod {
    /// By correlated transfers: a party sends (n - 1) x 2,176 bytes for each lookup.
    Transfers,
    /// By ciphertexts of this ring, modulo 65,537: products of vectors, or private tables.
    Ciphertexts(Arc<Ring>),
}

impl LookupMethod {
    /// The name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            LookupMethod::Transfers => "cot",
            LookupMethod::Ciphertexts(_) => "he",
        }
    }
}

/// A way of looking up, with the keys that a session needs for it.
pub(crate) enum Source {
    /// How many lookups there were.
    Transfers(u64),
    Products(Box<(Keys, Sampler)>),
    Hops(Box<(Keys, Sampler)>),
}

impl Source {
    /// Makes what the session needs. If keys are made `beside` others, the partial decryptions of both are
    /// counted together \[G12\].
    pub(crate) fn new(gmw: &mut Gmw, way: &LookupMethod, beside: Option<&Keys>) -> Result<Source, Abort> {
        let session = gmw.session();
        let LookupMethod::Ciphertexts(ring) = way else { return Ok(Source::Transfers(0)) };
        let source = match ring.parameters().operation() {
            Operation::BlockProducts => Source::Products,
            Operation::PrivateTables => Source::Hops,
            _ => return Err(session.misuse(LOOK_UP, Misuse::KeyUnfit)),
        };
        if ring.plain().get() != PLAIN {
            return Err(session.misuse(LOOK_UP, Misuse::KeyUnfit));
        }
        let keys = match beside {
            Some(keys) => keys.beside(session, ring)?, // [G12]
            None => Keys::generate(session, ring)?,
        };
        Ok(source(Box::new((keys, Sampler::new(session)))))
    }

    /// How many ANDs' keys a call of [`Source::lookup`] may look up.
    pub(crate) fn ands_at_once(&self) -> usize {
        match self {
            Source::Transfers(_) => ands_at_once(None),
            Source::Products(own) | Source::Hops(own) => ands_at_once(Some(own.0.ring().parameters())),
        }
    }

    /// Shares modulo p of the keys that the shared bits `e` select: N numbers for each lookup, in parts of
    /// [`PART`] lookups. `table(l)` has our shares of both keys of lookup l, the same for the four lookups of
    /// an AND.
    pub(crate) fn lookup<'k>(
        &mut self,
        gmw: &mut Gmw,
        e: &GmwBit,
        count: usize,
        table: impl Fn(usize) -> [&'k [i8]; 2] + Sync,
    ) -> Result<Vec<WipedVec<u32>>, Abort> {
        match self {
            Source::Transfers(all) => {
                let (session, more) = (gmw.session(), count as u64);
                *all = all.saturating_add(more);
                if !transfers_fit(session.parties(), *all) {
                    return Err(session.misuse(LOOK_UP, Misuse::TooLarge));
                }
                by_transfers(gmw, e, count, table)
            }
            Source::Products(own) => by_products(gmw, own, e, table),
            Source::Hops(own) => by_hops(gmw, own, e, count, table),
        }
    }
}

/// The modulus p.
const P: u32 = PLAIN as u32;

/// A small integer modulo p.
#[inline(always)]
fn small(c: i8) -> u32 {
    let c = i32::from(c);
    (c + (P as i32 & (c >> 31))) as u32
}

/// Half of a number modulo p.
#[inline(always)]
fn half(x: u32) -> u32 {
    (x + P * (x & 1)) >> 1
}

/// Reduces a number below 2 p.
#[inline(always)]
fn once(x: u32) -> u32 {
    x.min(x.wrapping_sub(P))
}

/// Some lookups on their way around all parties: our share of V, and our rows with every other party.
struct Part {
    v: WipedVec<u32>,
    pads: Pads<SemiHonest>,
}

impl Part {
    /// V <- V - 2 e_j V, for the bits of one party.
    fn turn(&mut self, session: &mut Session, setup: &mut Setup, chooser: PartyId) -> Result<(), Abort> {
        // [G14]
        let products =
            setup.correlate(session, &mut self.pads, Some(chooser), &Long { count: N }, &self.v)?;
        vectorize(
            #[inline(always)]
            || self.v.iter_mut().zip(products.iter()).for_each(|(v, w)| *v = once(*v + P - once(2 * *w))),
        );
        Ok(())
    }
}

fn by_transfers<'k>(
    gmw: &mut Gmw,
    e: &GmwBit,
    count: usize,
    table: impl Fn(usize) -> [&'k [i8]; 2],
) -> Result<Vec<WipedVec<u32>>, Abort> {
    let (session, setup) = gmw.ends()?;
    let pads = setup.semi_honest_rows(session, Bits::Chosen(e.words(), count), Links::All)?; // [G14]
    // V = D
    let begun = (0..).step_by(PART).zip(pads.split(PART)).map(|(first, pads)| {
        let mut v = WipedVec::<u32>::zeros(pads.len() * N);
        for (l, v) in (first..).zip(v.chunks_exact_mut(N)) {
            let [zero, one] = table(l);
            let all = v.iter_mut().zip(zero.iter().zip(one));
            vectorize(
                #[inline(always)]
                || all.for_each(|(v, (zero, one))| *v = small(one - zero)),
            );
        }
        Part { v, pads }
    });
    let mut parts: Vec<Part> = begun.collect();
    let all: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let me = session.me();
    for turn in 0..all.len() {
        let chooser = |part: usize| all.get((part + turn) % all.len()).copied().unwrap_or(me);
        session.exchange(|session| {
            for receives in [false, true] {
                for (i, part) in parts.iter_mut().enumerate() {
                    if (chooser(i) == me) == receives {
                        part.turn(session, setup, chooser(i))?;
                    }
                }
            }
            Ok(())
        })?;
    }
    // k_{w,0} + (D - V) / 2
    let mut found = Vec::with_capacity(parts.len());
    for (first, Part { mut v, .. }) in (0..).step_by(PART).zip(parts) {
        for (l, v) in (first..).zip(v.chunks_exact_mut(N)) {
            let [zero, one] = table(l);
            let all = v.iter_mut().zip(zero.iter().zip(one));
            vectorize(
                #[inline(always)]
                || {
                    all.for_each(|(v, (zero, one))| {
                        let chosen = half(once(small(one - zero) + P - *v));
                        *v = once(chosen + small(*zero));
                    });
                },
            );
        }
        found.push(v);
    }
    Ok(found)
}

/// k_{w,0} + e D, with e modulo p.
fn by_products<'k>(
    gmw: &mut Gmw,
    own: &mut (Keys, Sampler),
    e: &GmwBit,
    table: impl Fn(usize) -> [&'k [i8]; 2] + Sync,
) -> Result<Vec<WipedVec<u32>>, Abort> {
    let (keys, sampler) = own;
    let (session, setup) = gmw.ends()?;
    let numbers = cot::b2a(session, setup, keys.ring().plain(), e)?; // [G7]
    let difference = |and: usize, out: &mut [u64]| {
        let [zero, one] = table(FACTORS * and);
        let all = out.iter_mut().zip(zero.iter().zip(one));
        all.for_each(|(out, (zero, one))| *out = u64::from(small(one - zero)));
    };
    let mut found = vectors::times_numbers(session, keys, sampler, &numbers, difference)?;
    for (first, part) in (0..).step_by(PART).zip(&mut found) {
        for (l, key) in (first..).zip(part.chunks_exact_mut(N)) {
            let [zero, _] = table(l);
            let all = key.iter_mut().zip(zero);
            vectorize(
                #[inline(always)]
                || all.for_each(|(key, zero)| *key = once(*key + small(*zero))),
            );
        }
    }
    Ok(found)
}

fn by_hops<'k>(
    gmw: &mut Gmw,
    own: &mut (Keys, Sampler),
    e: &GmwBit,
    count: usize,
    table: impl Fn(usize) -> [&'k [i8]; 2],
) -> Result<Vec<WipedVec<u32>>, Abort> {
    let (keys, sampler) = own;
    let mut tables = WipedVec::zeros(2 * count * N);
    for (l, tables) in tables.chunks_exact_mut(2 * N).enumerate() {
        let [zero, one] = table(l);
        for (pair, (zero, one)) in tables.as_chunks_mut::<2>().0.iter_mut().zip(zero.iter().zip(one)) {
            *pair = [zero, one].map(|c| u64::from(small(*c)));
        }
    }
    let session = gmw.session();
    let masked = prep_lut_polysize(session, keys, sampler, 1, &[Num::new(tables)])?;
    // the same index for all coefficients of a key
    let index = GmwBit::of((0..count * N).map(|i| e.lane(i / N)));
    let found = masked.lookup(session, &[index])?; // [G7]
    let parts = found.shares().chunks(PART * N).map(|shares| {
        let mut part = WipedVec::zeros(shares.len());
        part.iter_mut().zip(shares).for_each(|(part, share)| *part = *share as u32);
        part
    });
    Ok(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use divisi_ot::SetupConfig;

    /// The pads of a session, all of them together, are within 2^-40 of uniform.
    #[test]
    fn a_session_has_so_many_transfers() {
        assert!(transfers_fit(2, MOST_TRANSFERS) && !transfers_fit(2, MOST_TRANSFERS + 1));
        let among_16 = MOST_TRANSFERS / 15;
        assert!(transfers_fit(16, among_16) && !transfers_fit(16, among_16 + 1));
        let numbers = MOST_TRANSFERS as f64 * N as f64;
        assert!((numbers / 2.0).sqrt().log2() - 56.0 <= -40.0);
        // a refusal at one party ends the session for the other one, too
        let end = local::run(2, &PublicParameters::new("look-ups"), |session| {
            let mut gmw = Gmw::deferred(session, SetupConfig::default());
            let mut source = Source::Transfers(MOST_TRANSFERS - 1);
            source.lookup(&mut gmw, &GmwBit::zero(2), 2, |_| [&[], &[]]).map(drop)
        });
        assert!(matches!(end, Err(Abort::Misuse { what: Misuse::TooLarge, .. })), "{end:?}");
    }

    #[test]
    fn small_numbers_and_halves() {
        for x in [0, 1, 2, 3, P / 2, P / 2 + 1, P - 2, P - 1] {
            assert_eq!(2 * half(x) % P, x);
            assert!(half(x) < P);
        }
        assert_eq!([-2, -1, 0, 2].map(small), [P - 2, P - 1, 0, 2]);
    }
}
