//! Requests whose masked bits are opened together: any number of B2A and lookups take the rounds of one; so
//! do products of numbers and A2B.
//!
//! The steps are those of [`Mixed::b2a`], [`Mixed::lookup`], [`Mixed::lookup_vectors`], [`Mixed::multiply`]
//! and [`Mixed::a2b`], taken for all requests at once. Adversary: semi-honest, all but one. Only masked bits
//! are opened, u = x xor r, where each r is uniform and used once \[G7\]. Online two rounds, and two more if
//! a table is private, for the products of signs and entries (test
//! `conversions_and_lookups_share_an_opening`).

use crate::bit::{Dense, GmwBit};
use crate::mixed::Mixed;
use crate::num::{self, Num};
use crate::open;
use crate::planes;
use crate::random::Numbers;
use crate::table::{self, Signs};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes};

/// A request about shared bits.
#[expect(clippy::exhaustive_enums, reason = "each has results of its own")]
pub enum Asked<'t> {
    /// B2A, Figure 9: the number that has these bits, the lowest first ([`Mixed::b2a`]).
    B2a(Vec<GmwBit>),
    /// Figure 8, case 1: the entry of each of these public tables of 2^m numbers at every index of m bits,
    /// the lowest first ([`Mixed::lookup`]).
    PubTabLookup {
        /// The tables.
        tables: Vec<&'t [u64]>,
        /// The bits of the indices.
        index: Vec<GmwBit>,
        /// The masks of the indices, and their signs.
        signs: Signs,
    },
    /// Figure 8, case 2: the entry of a shared table at each index. There is one table for each index; the
    /// entries of table t are the lanes from t 2^m on. If entries are vectors, there are such tables for each
    /// of their numbers; one mask and one opening serve them all ([`Mixed::lookup_vectors`]).
    PriTabLookup {
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
    Public { tables: Vec<&'t [u64]>, width: usize, numbers: WipedVec<u64> },
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
        // Figure 8, step 1, of all requests
        let mut masked = Dense::default();
        for asked in asked {
            let (bits, waits) = self.mask(asked)?;
            masked.push(bits.words(), bits.len());
            waiting.push((bits.len(), waits));
        }
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        // step 2
        let u = open::open_packed(self.session(), masked)?;
        // step 3
        let plain = self.plain();
        let (mut out, mut private, mut at) = (Vec::with_capacity(waiting.len()), Vec::new(), 0);
        for (bits, waits) in waiting {
            let u = u.slice(at, bits);
            at += bits;
            out.push(match waits {
                Waiting::Number { lanes, numbers } => {
                    let numbers = planes::number_of_planes(self.session(), plain, lanes, &u, &numbers);
                    vec![Num::new(numbers).made(self.session())]
                }
                Waiting::Public { tables, width, numbers } => {
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

    /// The products x y, and the bits of the numbers z (A2B, Figure 10), which share one opening.
    ///
    /// # Errors
    /// It fails as [`Mixed::multiply`] and [`Mixed::a2b`] do.
    pub fn multiply_and_a2b(&mut self, [x, y]: [&Num; 2], z: &Num) -> Result<(Num, Vec<GmwBit>), Abort> {
        let (triple, factors) = self.mask_factors(x, y)?;
        let (masks, number) = self.mask_number(z)?;
        let mut opened = num::open(self.gmw.session(), self.plain, &Num::join(&[&factors, &number]))?;
        let u = opened.split_off(factors.lanes());
        Ok((self.product_of(&triple, &opened)?, self.add_mask(masks, &u)?))
    }

    /// The masked bits of one request, and what is needed to answer it once they are opened.
    fn mask<'t>(&mut self, asked: Asked<'t>) -> Result<(Dense, Waiting<'t>), Abort> {
        match asked {
            Asked::B2a(x) => {
                let lanes = x.first().map_or(0, Lanes::lanes);
                let (masked, numbers) = self.mask_places(&x)?;
                Ok((masked, Waiting::Number { lanes, numbers }))
            }
            Asked::PubTabLookup { tables, index, signs } => {
                let width = signs.width();
                let (masked, numbers) = self.mask_index(&tables, &index, signs)?;
                Ok((masked, Waiting::Public { tables, width, numbers }))
            }
            Asked::PriTabLookup { tables, index, signs } => {
                let width = signs.width();
                let (masked, tables) = self.mask_private_index(&tables, &index, signs)?;
                Ok((masked, Waiting::Private { tables, width }))
            }
        }
    }
}
