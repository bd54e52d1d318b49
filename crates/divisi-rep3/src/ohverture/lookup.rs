//! Lookups and samples: sums over one-hot vectors that are rotated by an opened index.

use super::make::{Monomials, mask, words};
use super::table::{LookupTable, entries, turn};
use super::{BlackBox, Lot, OneHotsAdd, OneHotsRss, VECTORS};
#[cfg(doc)]
use crate::blackbox::PIECE;
use crate::blackbox::{Additive, Element, Mask, Misfit, Pair, Shared, mult_local};
use crate::share::{Rep, constant_component};
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use divisi_field::Gf64;
use std::sync::Arc;
use zeroize::Zeroizing;

const LOOKUP: Step = step!("lookup");

/// The opened index c of each lane of a lookup, and how many statements it may rest on.
struct Places {
    c: Vec<usize>,
    rests_on: u64,
}

impl BlackBox {
    /// `[T(x)]` of the index in the low bits of each element of `[x]`, one vector a lane: MAESTRO Protocol 4
    /// from replicated shares (section 3.5.1). One round, k bits.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless there is a vector of the table's length for each lane; the abort that ends
    /// the session.
    pub fn lookup<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        x: &Shared<F>,
        vectors: OneHotsRss,
    ) -> Result<Shared<G>, Abort> {
        self.demand_table(table, vectors.made.k, x, vectors.count())?;
        self.take("lookup", table.k, Some(table.digest()), &vectors.lot)?;
        let places = self.open_places(x, table.k, &[(&vectors.made, 0)], &vectors.lot)?;
        Ok(self.replicated(table, &vectors.made, &vectors.lot, &places))
    }

    /// `<T(x)>` by vectors of square-root cost: MAESTRO Protocol 6 from replicated shares (section 3.5.2).
    /// One round, k bits.
    ///
    /// # Errors
    /// The errors of [`BlackBox::lookup`], and [`Abort::Misuse`] for more than [`PIECE`] products, 2^(k/2) a
    /// lane: split the vectors.
    pub fn lookup_additive<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        x: &Shared<F>,
        vectors: OneHotsAdd,
    ) -> Result<Additive<G>, Abort> {
        self.demand_table(table, vectors.k(), x, vectors.count())?;
        self.demand_products(vectors.count() << (table.k - vectors.low.k))?;
        self.take("lookup_additive", table.k, Some(table.digest()), &vectors.lot)?;
        let places = self.open_places(x, table.k, &vectors.halves(), &vectors.lot)?;
        Ok(self.additive(table, &vectors, &places))
    }

    /// `[T(x)]` by vectors of square-root cost: MAESTRO Protocol 10 (section 3.5.4). Two rounds, k bits and
    /// those of an entry.
    ///
    /// # Errors
    /// The errors of [`BlackBox::lookup_additive`].
    pub fn lookup_sqrt<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        x: &Shared<F>,
        vectors: OneHotsAdd,
    ) -> Result<Shared<G>, Abort> {
        let looked_up = self.lookup_additive(table, x, vectors)?;
        self.reshare(looked_up)
    }

    /// `[T(x)]` and `[x]` of an additive index with as many bits as its field: MAESTRO Protocol 4. One round,
    /// 2 k bits.
    ///
    /// # Errors
    /// The errors of [`BlackBox::lookup`], and [`Abort::Misuse`] unless elements of F have as many bits as
    /// the table's index.
    pub fn lookup_of_additive<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        x: Additive<F>,
        vectors: OneHotsRss,
    ) -> Result<(Shared<G>, Shared<F>), Abort> {
        self.demand_fit(table, vectors.made.k, x.lanes(), vectors.count(), F::BITS == table.k)?;
        self.take("lookup_of_additive", table.k, Some(table.digest()), &vectors.lot)?;
        let (places, x) = self.open_additive_places(x, &[(&vectors.made, 0)], &vectors.lot)?;
        Ok((self.replicated(table, &vectors.made, &vectors.lot, &places), x))
    }

    /// `<T(x)>` and `[x]` of an additive index with as many bits as its field, by vectors of square-root
    /// cost: MAESTRO Protocol 6. One round, 2 k bits.
    ///
    /// # Errors
    /// The errors of [`BlackBox::lookup_of_additive`] and [`BlackBox::lookup_additive`].
    pub fn lookup_additive_of_additive<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        x: Additive<F>,
        vectors: OneHotsAdd,
    ) -> Result<(Additive<G>, Shared<F>), Abort> {
        self.demand_fit(table, vectors.k(), x.lanes(), vectors.count(), F::BITS == table.k)?;
        self.demand_products(vectors.count() << (table.k - vectors.low.k))?;
        self.take("lookup_additive_of_additive", table.k, Some(table.digest()), &vectors.lot)?;
        let (places, x) = self.open_additive_places(x, &vectors.halves(), &vectors.lot)?;
        Ok((self.additive(table, &vectors, &places), x))
    }

    /// `[T(r)]` for the random r of each vector, which nobody knows. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless the vectors are of the table's length.
    pub fn sample<G: Element>(
        &mut self,
        table: &LookupTable<G>,
        vectors: OneHotsRss,
    ) -> Result<Shared<G>, Abort> {
        self.demand(LOOKUP, table.k == vectors.made.k, Misfit::Lanes)?;
        self.take("sample", table.k, Some(table.digest()), &vectors.lot)?;
        let places = Places { c: vec![0; vectors.count()], rests_on: 0 };
        Ok(self.replicated(table, &vectors.made, &vectors.lot, &places))
    }

    /// `<T(r)>` for the random r of each vector, which nobody knows. Local.
    ///
    /// # Errors
    /// The errors of [`BlackBox::sample`], and [`Abort::Misuse`] for too many products, as for
    /// [`BlackBox::lookup_additive`].
    pub fn sample_additive<G: Element>(
        &mut self,
        table: &LookupTable<G>,
        vectors: OneHotsAdd,
    ) -> Result<Additive<G>, Abort> {
        self.demand(LOOKUP, table.k == vectors.k(), Misfit::Lanes)?;
        self.demand_products(vectors.count() << (table.k - vectors.low.k))?;
        self.take("sample_additive", table.k, Some(table.digest()), &vectors.lot)?;
        let places = Places { c: vec![0; vectors.count()], rests_on: 0 };
        Ok(self.additive(table, &vectors, &places))
    }

    fn demand_table<F: Element, G: Element>(
        &mut self,
        table: &LookupTable<G>,
        k: usize,
        x: &Shared<F>,
        vectors: usize,
    ) -> Result<(), Abort> {
        self.demand(LOOKUP, x.origin == self.origin, Misfit::Origin)?;
        self.demand_fit(table, k, x.lanes(), vectors, k <= F::BITS)
    }

    fn demand_fit<G: Element>(
        &mut self,
        table: &LookupTable<G>,
        k: usize,
        lanes: usize,
        vectors: usize,
        index_fits: bool,
    ) -> Result<(), Abort> {
        self.demand(LOOKUP, lanes == vectors, Misfit::Lanes)?;
        if k == table.k && index_fits {
            return Ok(());
        }
        Err(self.trio.session.misuse(VECTORS, Misuse::CountsDiffer))
    }

    /// Open c = x + r: k bits a lane.
    fn open_places<F: Element>(
        &mut self,
        x: &Shared<F>,
        k: usize,
        halves: &[(&Monomials, usize)],
        lot: &Lot,
    ) -> Result<Places, Abort> {
        let r = self.numbers(halves, lot);
        let low = |x: &F, r: &Gf64| Gf64((x.to_bits() as u64 & ((1 << k) - 1)) ^ r.0);
        let side = |x: &[F], r: &[Gf64]| x.iter().zip(r).map(|(x, r)| low(x, r)).collect();
        let masked = Rep { a: side(&x.rep.a, &r.rep.a), b: side(&x.rep.b, &r.rep.b) };
        let masked = self.shared(masked, x.rests_on);
        let c = self.open(&masked, k)?;
        Ok(Places { c: c.value.iter().map(|c| c.0 as usize).collect(), rests_on: c.rests_on })
    }

    /// Open c = x + r of an additive x: 2 k bits a lane. The index that is looked up is r + c, which is
    /// `[x]`; that it equals the sum of the products in x is owed a verification.
    fn open_additive_places<F: Element>(
        &mut self,
        x: Additive<F>,
        halves: &[(&Monomials, usize)],
        lot: &Lot,
    ) -> Result<(Places, Shared<F>), Abort> {
        let r = self.numbers(halves, lot);
        let side = |r: &[Gf64]| r.iter().map(|r| F::from_low_bits(u128::from(r.0))).collect();
        let r = self.shared(Rep { a: side(&r.rep.a), b: side(&r.rep.b) }, 0);
        let (c, x) = self.reconst_additive(x, Mask(r))?;
        let places = c.value.iter().map(|c| c.to_bits() as usize).collect();
        Ok((Places { c: places, rests_on: c.rests_on }, x))
    }

    /// The entries at the opened places: sums over replicated vectors.
    fn replicated<G: Element>(
        &mut self,
        table: &LookupTable<G>,
        made: &Monomials,
        lot: &Lot,
        places: &Places,
    ) -> Shared<G> {
        let constant = constant_component(self.trio.me());
        let mut vector = Zeroizing::new(Vec::with_capacity(words(made.k)));
        let [a, b] = [0, 1].map(|side| {
            let mut sums = Vec::with_capacity(places.c.len());
            for (l, c) in lot.range.clone().zip(&places.c) {
                entries(made.vector(side, l), made.k, constant == Some(side), &mut vector);
                turn(&mut vector, *c);
                sums.push(table.sum(0, table.k, &vector));
            }
            sums
        });
        self.shared(Rep { a, b }, places.rests_on.max(lot.rests_on))
    }

    /// The inner products of the high vector with the sums over the low one, row by row.
    fn additive<G: Element>(
        &mut self,
        table: &LookupTable<G>,
        vectors: &OneHotsAdd,
        places: &Places,
    ) -> Additive<G> {
        let constant = constant_component(self.trio.me());
        let (low, lanes) = (&vectors.low, places.c.len());
        let rows = 1 << (table.k - low.k);
        let mut pairs: Vec<[Rep<G>; 2]> = (0..rows).map(|_| [Rep::zero(lanes), Rep::zero(lanes)]).collect();
        let mut vector = Zeroizing::new(Vec::with_capacity(words(low.k)));
        let mut column = Zeroizing::new(Vec::with_capacity(words(table.k - low.k)));
        for (lane, (l, c)) in vectors.lot.range.clone().zip(&places.c).enumerate() {
            let (row, within) = (c >> low.k, c & ((1 << low.k) - 1));
            for side in 0..2 {
                let constant = constant == Some(side);
                entries(low.vector(side, l), low.k, constant, &mut vector);
                turn(&mut vector, within);
                match &vectors.high {
                    Some(high) => entries(high.vector(side, l), high.k, constant, &mut column),
                    None => entries(&[0], 0, constant, &mut column),
                }
                for (i, [e, g]) in pairs.iter_mut().enumerate() {
                    let [e, g] = [e, g].map(|rep| if side == 0 { &mut rep.a } else { &mut rep.b });
                    e[lane] = G::from_low_bits(u128::from(mask(&column, i) & 1));
                    g[lane] = table.sum(i ^ row, low.k, &vector);
                }
            }
        }
        let product = |l: usize, [e, g]: &[Rep<G>; 2]| mult_local([e.a[l], e.b[l]], [g.a[l], g.b[l]]);
        let share = (0..lanes).map(|l| pairs.iter().fold(G::ZERO, |sum, pair| sum + product(l, pair)));
        let share = share.collect();
        let pairs: Vec<Pair<G>> = pairs.into_iter().map(|[e, g]| (Arc::new(e), Arc::new(g))).collect();
        Additive { share, bits: table.width, pairs, linear: Rep::zero(lanes), origin: self.origin }
    }
}
