//! Looking up keys by shared bits: shares of k_{w,0} + e D, with D = k_{w,1} - k_{w,0}. Figure 11, step 3(b).
//!
//! There are two ways.
//!
//! *Transfers*: 1 - 2 e is the product of the signs 1 - 2 e_j of all parties' shares of e. All parties share
//! V, which begins as D; each party j in turn makes it (1 - 2 e_j) V. For e_j V it gets one correlated
//! transfer from each other party, whose payload is that party's share of V. In the end the key is k_{w,0} +
//! (D - V) / 2. For each pair and direction it takes 17 bits for each coefficient, 2,176 bytes.
//!
//! *Hops*: a private table of two entries for each coefficient ([`divisi_mixed::private`], Figures 7 and 8).
//! Its bytes hardly grow with n.
//!
//! Adversary: semi-honest, all parties but one. Pads of transfers are within 2^-64 of uniform \[G14\], so all
//! that a party sees is uniform. What hops open is masked by a bit that is used once \[G7\].

use crate::parameters::{DIMENSION, PLAIN};
use divisi_bgv::hidden::Hidden;
use divisi_bgv::parameters::Operation;
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::{Abort, PartyId, Step, step};
use divisi_mixed::private::Masked;
use divisi_mixed::{Gmw, GmwBit, Num};
use divisi_ot::correlate::Long;
use divisi_ot::{Bits, Kept, Links};
use std::sync::Arc;

const N: usize = DIMENSION;
const LOOK_UP: Step = step!("look-up");

/// How keys are looked up.
#[derive(Clone)]
pub enum Way {
    /// By correlated transfers: a party sends (n - 1) x 2,176 bytes for each lookup.
    Transfers,
    /// By private tables in ciphertexts of this ring, modulo 65,537.
    Hops(Arc<Ring>),
}

impl Way {
    /// The name in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Way::Transfers => "cot",
            Way::Hops(_) => "he",
        }
    }
}

/// A way of looking up, with what a session needs for it.
pub(crate) enum Source {
    Transfers,
    Hops(Box<(Keys, Sampler)>),
}

impl Source {
    /// Makes what the session needs. Keys that are made `beside` others are counted with their partial
    /// decryptions \[G12\].
    pub(crate) fn new(gmw: &mut Gmw, way: &Way, beside: Option<&Keys>) -> Result<Source, Abort> {
        let session = gmw.session();
        let Way::Hops(ring) = way else { return Ok(Source::Transfers) };
        if ring.parameters().operation() != Operation::PrivateTables || ring.plain().get() != PLAIN {
            return Err(session.misuse(LOOK_UP, "a ring for other tables or numbers"));
        }
        let keys = match beside {
            Some(keys) => keys.beside(session, ring)?, // [G12]
            None => Keys::generate(session, ring)?,
        };
        Ok(Source::Hops(Box::new((keys, Sampler::new(session)))))
    }

    /// Shares modulo p of the keys that the shared bits `e` select: N numbers for each lookup. `table(l)` has
    /// our shares of both keys of lookup l.
    pub(crate) fn look_up<'k>(
        &mut self,
        gmw: &mut Gmw,
        e: &GmwBit,
        count: usize,
        table: impl Fn(usize) -> [&'k [i8]; 2],
    ) -> Result<Kept<u64>, Abort> {
        match self {
            Source::Transfers => by_transfers(gmw, e, count, table),
            Source::Hops(own) => by_hops(gmw, own, e, count, table),
        }
    }
}

/// A small integer modulo p.
fn small(c: i64) -> u64 {
    (c + (PLAIN as i64 & (c >> 63))) as u64
}

/// Half of a number modulo p.
fn half(x: u64) -> u64 {
    (x + PLAIN * (x & 1)) >> 1
}

fn once(x: u64) -> u64 {
    x.min(x.wrapping_sub(PLAIN))
}

fn by_transfers<'k>(
    gmw: &mut Gmw,
    e: &GmwBit,
    count: usize,
    table: impl Fn(usize) -> [&'k [i8]; 2],
) -> Result<Kept<u64>, Abort> {
    let (session, setup) = gmw.ends();
    let mut pads = setup.semi_honest_rows(session, Bits::Chosen(e.words(), count), Links::All)?; // [G14]
    // V = D
    let mut v = Kept::<u64>::zeros(count * N);
    for (l, v) in v.chunks_exact_mut(N).enumerate() {
        let [zero, one] = table(l);
        v.iter_mut().zip(zero.iter().zip(one)).for_each(|(v, (zero, one))| {
            *v = small(i64::from(*one) - i64::from(*zero));
        });
    }
    // V <- V - 2 e_j V
    for chooser in PartyId::all(session.parties()) {
        let products = setup.correlate(session, &mut pads, Some(chooser), &Long { count: N }, &v)?;
        v.iter_mut().zip(products.iter()).for_each(|(v, product)| {
            *v = once(*v + PLAIN - once(2 * product));
        });
    }
    // k_{w,0} + (D - V) / 2
    for (l, v) in v.chunks_exact_mut(N).enumerate() {
        let [zero, one] = table(l);
        for (v, (zero, one)) in v.iter_mut().zip(zero.iter().zip(one)) {
            let [zero, one] = [zero, one].map(|c| i64::from(*c));
            let chosen = half(once(small(one - zero) + PLAIN - *v));
            *v = once(chosen + small(zero));
        }
    }
    Ok(v)
}

fn by_hops<'k>(
    gmw: &mut Gmw,
    own: &mut (Keys, Sampler),
    e: &GmwBit,
    count: usize,
    table: impl Fn(usize) -> [&'k [i8]; 2],
) -> Result<Kept<u64>, Abort> {
    let (keys, sampler) = own;
    let mut tables = Hidden::zeros(2 * count * N);
    for (l, tables) in tables.chunks_exact_mut(2 * N).enumerate() {
        let [zero, one] = table(l);
        for (pair, (zero, one)) in tables.as_chunks_mut::<2>().0.iter_mut().zip(zero.iter().zip(one)) {
            *pair = [zero, one].map(|c| small(i64::from(*c)));
        }
    }
    let session = gmw.session();
    let masked = Masked::new(session, keys, sampler, 1, &Num::new(tables))?;
    // the same index for all coefficients of a key
    let index = GmwBit::of((0..count * N).map(|i| e.lane(i / N)));
    let found = masked.look_up(session, &[index])?; // [G7]
    Ok(Kept::from(found.shares()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_and_halves() {
        for x in [0, 1, 2, 3, PLAIN / 2, PLAIN / 2 + 1, PLAIN - 2, PLAIN - 1] {
            assert_eq!(2 * half(x) % PLAIN, x);
            assert!(half(x) < PLAIN);
        }
        assert_eq!([-2, -1, 0, 2].map(small), [PLAIN - 2, PLAIN - 1, 0, 2]);
    }
}
