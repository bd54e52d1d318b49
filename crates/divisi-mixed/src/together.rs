//! Requests whose masked bits are opened together: any number of B2A and lookups take the rounds of one.
//!
//! Adversary: semi-honest, all but one. Only masked bits are opened, u = x xor r, where each r is uniform and
//! used once \[G7\]. Online two rounds, and two more if a table is private, for the products of signs and
//! entries (test `conversions_and_lookups_share_an_opening`).

use crate::bit::{Dense, GmwBit};
use crate::convert;
use crate::mixed::Mixed;
use crate::num::Num;
use crate::open;
use crate::random::{NARROW, Numbers};
use crate::table::{self, Signs};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Convert, Lanes, Misuse, Step, step};

const BITS: Step = step!("b2a");
const PAIRS: Step = step!("pairs");

/// A request about shared bits.
#[expect(clippy::exhaustive_enums, reason = "each has results of its own")]
pub enum Asked<'t> {
    /// B2A, Figure 9: the number that has these bits, the lowest first: at most 32 of them, or as many as p
    /// has.
    Number(Vec<GmwBit>),
    /// Figure 8, case 1: the entry of each of these public tables of 2^m numbers at every index of m bits,
    /// the lowest first.
    LookUp {
        /// The tables.
        tables: Vec<&'t [u64]>,
        /// The bits of the indices.
        index: Vec<GmwBit>,
        /// The masks of the indices, and their signs.
        signs: Signs,
    },
    /// Figure 8, case 2: the entry of a shared table at each index. There is one table for each index; the
    /// entries of table t are the lanes from t 2^m on. If entries are vectors, there are such tables for each
    /// of their numbers; one mask and one opening serve them all.
    LookUpPrivate {
        /// The tables.
        tables: Vec<Num>,
        /// The bits of the indices.
        index: Vec<GmwBit>,
        /// The masks of the indices, and their signs.
        signs: Signs,
    },
}

/// A request that waits for the opening of its masked bits.
enum Waiting<'t> {
    Number { lanes: usize, numbers: Numbers },
    LookUp { tables: Vec<&'t [u64]>, width: usize, numbers: WipedVec<u64> },
    Private { tables: table::Private, width: usize },
}

impl Mixed {
    /// Answers all these requests with one opening: B2A with one number, a lookup with a number for each of
    /// its tables. All parties make the same requests in the same order.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for numbers of too many bits or of different lanes, for indices, tables and
    /// signs that do not fit each other, and for shares of another session; the abort that ends the session,
    /// if a link or a check fails.
    pub fn ask(&mut self, asked: Vec<Asked<'_>>) -> Result<Vec<Vec<Num>>, Abort> {
        let mut waiting = Vec::with_capacity(asked.len());
        let mut masked = Dense::default();
        for asked in asked {
            let (bits, waits) = self.mask(asked)?;
            masked.push(bits.words(), bits.len());
            waiting.push((bits.len(), waits));
        }
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let u = open::open_packed(self.session(), masked)?;
        let plain = self.plain();
        let (mut out, mut private, mut at) = (Vec::with_capacity(waiting.len()), Vec::new(), 0);
        for (bits, waits) in waiting {
            let u = u.slice(at, bits);
            at += bits;
            out.push(match waits {
                Waiting::Number { lanes, numbers } => {
                    let numbers = convert::of_planes(self.session(), plain, lanes, &u, &numbers);
                    vec![Num::new(numbers).made(self.session())]
                }
                Waiting::LookUp { tables, width, numbers } => {
                    table::entries(self.session(), plain, &tables, &table::indices(&u, width), &numbers)
                }
                Waiting::Private { tables, width } => {
                    private.push((out.len(), tables, table::indices(&u, width)));
                    Vec::new()
                }
            });
        }
        if private.is_empty() {
            return Ok(out);
        }
        // That[k] times its sign, of all private tables at once
        let factors: Vec<[Num; 2]> = private.iter().map(|(_, tables, _)| tables.factors()).collect();
        let [signs, entries] =
            [0, 1].map(|side| Num::join(&factors.iter().map(|pair| &pair[side]).collect::<Vec<_>>()));
        drop(factors);
        let mut products = self.multiply(&signs, &entries)?;
        for (place, tables, u) in private {
            let rest = products.split_off(tables.products());
            let found = tables.entries(self.session(), plain, &u, &products);
            products = rest;
            if let Some(out) = out.get_mut(place) {
                *out = found;
            }
        }
        Ok(out)
    }

    /// Figure 8, case 1, with a public table of size 2 for each lane: T\[x\] = T\[0\] + x (T\[1\] - T\[0\]),
    /// with x as a number of one bit.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there is not one table for each lane, or if an entry is not below p; otherwise it
    /// fails as [`Mixed::ask`] does.
    pub fn look_up_pairs(&mut self, tables: &[[u64; 2]], x: GmwBit) -> Result<Num, Abort> {
        let p = self.plain();
        if tables.len() != x.lanes() {
            return Err(self.session().misuse(PAIRS, Misuse::CountsDiffer));
        }
        if tables.as_flattened().iter().any(|entry| *entry >= p.get()) {
            return Err(self.session().misuse(PAIRS, Misuse::OutOfRange));
        }
        let x: Num = self.convert(vec![x])?;
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

    /// Figure 8, case 1: entries of public tables of 2^m numbers at shared indices of m bits, the lowest
    /// first. Each table is looked up at every index; for entries that are vectors, pass several tables.
    /// Returns a number for each table, with a lane for each index.
    ///
    /// # Errors
    /// It fails as [`Mixed::ask`] does.
    pub fn look_up(&mut self, tables: &[&[u64]], x: &[GmwBit], signs: Signs) -> Result<Vec<Num>, Abort> {
        let asked = Asked::LookUp { tables: tables.to_vec(), index: x.to_vec(), signs };
        Ok(self.ask(vec![asked])?.pop().unwrap_or_default())
    }

    /// Figures 7 and 8, case 2: the same for private tables, one for each index. The entries of table t are
    /// the lanes of `tables` from t 2^m on. Multiplying That\[k\] by its sign takes a triple, and does not
    /// depend on the index.
    ///
    /// # Errors
    /// It fails as [`Mixed::ask`] and [`Mixed::multiply`] do.
    pub fn look_up_private(&mut self, tables: &Num, x: &[GmwBit], signs: Signs) -> Result<Num, Abort> {
        let found = self.look_up_vectors(std::slice::from_ref(tables), x, signs)?.pop();
        found.ok_or_else(|| self.session().misuse(table::INDEX, Misuse::NotComputed))
    }

    /// The same for private tables whose entries are vectors. `tables` has an element for each number of an
    /// entry, which has this number of all tables. Masks, signs and opening are those of one lookup; each
    /// number takes 2^m - 1 triples. Returns a value for each number of an entry.
    ///
    /// # Errors
    /// It fails as [`Mixed::look_up_private`] does; [`Abort::Misuse`] for vectors of no numbers.
    pub fn look_up_vectors(&mut self, tables: &[Num], x: &[GmwBit], signs: Signs) -> Result<Vec<Num>, Abort> {
        let asked = Asked::LookUpPrivate { tables: tables.to_vec(), index: x.to_vec(), signs };
        Ok(self.ask(vec![asked])?.pop().unwrap_or_default())
    }

    /// The masked bits of one request, and what is needed to answer it once they are opened.
    fn mask<'t>(&mut self, asked: Asked<'t>) -> Result<(Dense, Waiting<'t>), Abort> {
        match asked {
            Asked::Number(x) => {
                let lanes = x.first().map_or(0, Lanes::lanes);
                let most = self.plain().bits().max(NARROW) as usize;
                if x.is_empty() || x.len() > most || x.iter().any(|bit| bit.lanes() != lanes) {
                    return Err(self.session().misuse(BITS, Misuse::LanesDiffer));
                }
                x.iter().try_for_each(|bit| bit.admit(self.session(), BITS))?;
                let masks = self.take_bits(x.len() * lanes)?;
                let (masked, numbers) = convert::mask_planes(self.session(), &x, masks)?;
                Ok((masked, Waiting::Number { lanes, numbers }))
            }
            Asked::LookUp { tables, index, signs } => {
                let (p, entries) = (self.plain(), 1 << signs.width());
                if tables.iter().any(|t| t.len() != entries || t.iter().any(|entry| *entry >= p.get())) {
                    return Err(self.session().misuse(table::INDEX, Misuse::CircuitUnfit));
                }
                let width = signs.width();
                let (masked, numbers) = signs.mask(self.session(), &index)?;
                Ok((masked, Waiting::LookUp { tables, width, numbers }))
            }
            Asked::LookUpPrivate { tables, index, signs } => {
                let (width, count, plain) = (signs.width(), signs.len(), self.plain());
                if tables.is_empty() || tables.iter().any(|tables| tables.lanes() != count << width) {
                    return Err(self.session().misuse(table::INDEX, Misuse::CountsDiffer));
                }
                tables.iter().try_for_each(|tables| tables.admit(self.session(), plain, table::INDEX))?;
                let (masked, numbers) = signs.mask(self.session(), &index)?;
                let first = self.session().me().index() == 0;
                let tables = table::Private::new(plain, first, width, &tables, &numbers);
                Ok((masked, Waiting::Private { tables, width }))
            }
        }
    }
}

impl Convert<Vec<GmwBit>, Num> for Mixed {
    /// B2A, Figure 9, from the bits of a number, the lowest first ([`Asked::Number`]).
    fn convert(&mut self, x: Vec<GmwBit>) -> Result<Num, Abort> {
        let number = self.ask(vec![Asked::Number(x)])?.pop().and_then(|mut one| one.pop());
        number.ok_or_else(|| self.session().misuse(BITS, Misuse::NotComputed))
    }
}
