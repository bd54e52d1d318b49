//! Functionality F_LUT: GYKW, Figure 5, by protocol Pi_lookup, Figure 8.
//!
//! | command | function | masked tables |
//! |---|---|---|
//! | PubTabLookup | [`Mixed::lookup`] | [`Mixed::prep_lut`] |
//! | the same in tables of two entries | [`Mixed::lookup_pairs`] | random bits in both worlds, as B2A |
//! | PriTabLookup | [`Mixed::lookup_private`], [`Mixed::lookup_vectors`] | [`Mixed::prep_lut`], and triples |
//! | | [`Masked::lookup`], [`Masked::lookup_vectors`] | [`prep_lut_polysize`](crate::prep_lut::prep_lut_polysize) |
//! | | [`MaskedVectors::lookup`] | [`prep_lut_vectors`](crate::prep_lut::prep_lut_vectors) |
//!
//! [`crate::together`] has the same for several requests at once. Adversary: semi-honest, all parties but
//! one. The opened u = x xor r is uniform, because r is uniform and used once \[G7\]. Cost online, for a
//! lookup among 2^m entries: every other party sends m bits to one party and gets m bits back, in two rounds
//! (test `lookups_of_all_sizes`).

use crate::bit::{Dense, GmwBit};
use crate::mixed::Mixed;
use crate::num::Num;
use crate::open;
use crate::prep_lut::{Masked, MaskedVectors};
use crate::table::{self, INDEX, Signs};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Session, Step, step};

const PAIRS: Step = step!("pairs");
const ENTRIES: Step = step!("entries");

impl Mixed {
    /// (PubTabLookup) Figure 8, case 1: entries of public tables of 2^m numbers at shared indices of m bits,
    /// the lowest first. Each table is looked up at every index; for entries that are vectors, pass several
    /// tables. Returns a number for each table, with a lane for each index.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for indices, tables and signs that do not fit each other, and for shares of another
    /// session; the abort that ends the session, if a link or a check fails.
    pub fn lookup(&mut self, tables: &[&[u64]], x: &[GmwBit], signs: Signs) -> Result<Vec<Num>, Abort> {
        let (p, width) = (self.plain(), signs.width());
        // 1. <u> = <x> xor <r>
        let (masked, r) = self.mask_index(tables, x, signs)?;
        // 2. Open(u)
        let u = table::indices(&open::open_packed(self.session(), masked)?, width);
        // 3. <T[x]> = <T'[u]>
        Ok(table::entries(self.session(), p, tables, &u, &r))
    }

    /// Step 1 for public tables: the masked indices; and shares of <k,r> modulo p.
    pub(crate) fn mask_index(
        &mut self,
        tables: &[&[u64]],
        x: &[GmwBit],
        signs: Signs,
    ) -> Result<(Dense, WipedVec<u64>), Abort> {
        let (p, entries) = (self.plain(), 1 << signs.width());
        if tables.iter().any(|t| t.len() != entries || t.iter().any(|entry| *entry >= p.get())) {
            return Err(self.session().misuse(INDEX, Misuse::CircuitUnfit));
        }
        signs.mask(self.session(), x)
    }

    /// (PubTabLookup) Figure 8, case 1, with a public table of two entries for each lane: T\[x\] = T\[0\] + x
    /// (T\[1\] - T\[0\]), with x as a number of one bit.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not one table for each lane, or if an entry is not below p; otherwise it
    /// fails as [`Mixed::b2a`] does.
    pub fn lookup_pairs(&mut self, tables: &[[u64; 2]], x: &GmwBit) -> Result<Num, Abort> {
        let p = self.plain();
        if tables.len() != x.lanes() {
            return Err(self.session().misuse(PAIRS, Misuse::CountsDiffer));
        }
        if tables.as_flattened().iter().any(|entry| *entry >= p.get()) {
            return Err(self.session().misuse(PAIRS, Misuse::OutOfRange));
        }
        let x = self.b2a(std::slice::from_ref(x))?;
        let first = self.session().me().index() == 0;
        let mut out = WipedVec::from(x.shares());
        for (out, [zero, one]) in out.iter_mut().zip(tables) {
            *out = p.mul(*out, p.sub(*one, *zero));
            if first {
                *out = p.add(*out, *zero);
            }
        }
        Ok(Num::new(out).made(self.session()))
    }

    /// (PriTabLookup) Figures 7 and 8, case 2: the entries of shared tables, one for each index. The entries
    /// of table t are the lanes of `tables` from t 2^m on. Multiplying That\[k\] by its sign takes a triple,
    /// and does not depend on the index.
    ///
    /// # Errors
    /// It fails as [`Mixed::lookup`] and [`Mixed::multiply`] do.
    pub fn lookup_private(&mut self, tables: &Num, x: &[GmwBit], signs: Signs) -> Result<Num, Abort> {
        let found = self.lookup_vectors(std::slice::from_ref(tables), x, signs)?.pop();
        found.ok_or_else(|| self.session().misuse(INDEX, Misuse::NotComputed))
    }

    /// The same for shared tables whose entries are vectors. `tables` has an element for each number of an
    /// entry, which has this number of all tables. Masks, signs and opening are those of one lookup; each
    /// number takes 2^m - 1 triples. Returns a value for each number of an entry.
    ///
    /// # Errors
    /// It fails as [`Mixed::lookup_private`] does; [`Abort::Misuse`] for vectors of no numbers.
    pub fn lookup_vectors(&mut self, tables: &[Num], x: &[GmwBit], signs: Signs) -> Result<Vec<Num>, Abort> {
        let (p, width) = (self.plain(), signs.width());
        // 1. <u> = <x> xor <r>
        let (masked, tables) = self.mask_private_index(tables, x, signs)?;
        // 2. Open(u)
        let u = table::indices(&open::open_packed(self.session(), masked)?, width);
        // (MaskedPriTab): That[k] times its sign
        let [signs, entries] = tables.factors();
        let products = self.multiply(&signs, &entries)?;
        // 3. <T[x]> = <T'[u]>
        Ok(tables.entries(self.session(), p, &u, &products))
    }

    /// Step 1 for private tables: the masked indices; and the tables, with shares of their signs.
    pub(crate) fn mask_private_index(
        &mut self,
        tables: &[Num],
        x: &[GmwBit],
        signs: Signs,
    ) -> Result<(Dense, table::Private), Abort> {
        let (width, count, p) = (signs.width(), signs.len(), self.plain());
        if tables.is_empty() || tables.iter().any(|tables| tables.lanes() != count << width) {
            return Err(self.session().misuse(INDEX, Misuse::CountsDiffer));
        }
        tables.iter().try_for_each(|tables| tables.admit(self.session(), p, INDEX))?;
        let (masked, r) = signs.mask(self.session(), x)?;
        let first = self.session().me().index() == 0;
        Ok((masked, table::Private::new(p, first, width, tables, &r)))
    }
}

impl Masked {
    /// (PriTabLookup) Figure 8, case 2: looks up the entry of each table at its shared index of m bits, the
    /// lowest first. One opening.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not one index of m bits for each table, if another session made the
    /// shares, or if the entries are vectors; the abort that ends the session, if a link fails.
    pub fn lookup(self, session: &mut Session, x: &[GmwBit]) -> Result<Num, Abort> {
        if self.hat.len() != 1 {
            return Err(session.misuse(ENTRIES, Misuse::CountsDiffer));
        }
        let found = self.lookup_vectors(session, x)?.pop();
        found.ok_or_else(|| session.misuse(ENTRIES, Misuse::Empty))
    }

    /// The same for entries that are vectors, still by one opening. Returns a value for each number of an
    /// entry, with a lane for each table.
    ///
    /// # Errors
    /// It fails as [`Masked::lookup`] does, but takes vectors.
    pub fn lookup_vectors(self, session: &mut Session, x: &[GmwBit]) -> Result<Vec<Num>, Abort> {
        let Masked { width, plain, r, hat } = self;
        hat.iter().try_for_each(|hat| hat.admit(session, plain, ENTRIES))?;
        // 1. <u> = <x> xor <r>
        let masked = table::masked_index(session, x, [width, r.len()], |lane, j| r[lane] >> j & 1)?;
        // 2. Open(u)
        let u = table::indices(&open::open_packed(session, masked)?, width);
        // 3. <T[x]> = <T'[u]>
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

impl MaskedVectors {
    /// (PriTabLookup) Figure 8, case 2: the entry of each table at its shared index, a lane for each table.
    /// One opening.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not an index for each table, or another session made the shares; the
    /// abort that ends the session, if a link fails.
    pub fn lookup(self, session: &mut Session, x: &GmwBit) -> Result<Vec<Num>, Abort> {
        let MaskedVectors { plain, r, tables } = self;
        x.admit(session, ENTRIES)?;
        tables.as_flattened().iter().try_for_each(|table| table.admit(session, plain, ENTRIES))?;
        if x.lanes() != r.len() {
            return Err(session.misuse(ENTRIES, Misuse::CountsDiffer));
        }
        // 1. <u> = <x> xor <r>
        let masked = GmwBit::of(r.iter().enumerate().map(|(lane, r)| x.lane(lane) ^ r));
        // 2. Open(u)
        let u = open::open_packed(session, Dense::of(masked.words().to_vec(), r.len()))?;
        // 3. <T[x]> = <T'[u]> = (T[0] + T[1] +- the masked difference) / 2; u is public
        let half = plain.invert(2);
        let entry = |(at, [sum, difference]): (usize, &[Num; 2])| {
            let one = u.words().get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
            let twice = if one { sum.sub(plain, difference) } else { sum.add(plain, difference) };
            let twice = twice.ok_or_else(|| session.misuse(ENTRIES, Misuse::CountsDiffer))?;
            Ok(twice.scale(plain, half).made(session))
        };
        tables.iter().enumerate().map(entry).collect()
    }
}
