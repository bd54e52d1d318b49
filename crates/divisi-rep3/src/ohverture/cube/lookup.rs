//! Lookups and samples by three factors.

use super::grid::Grid;
use super::make::{Pairs, mult_local, reshare, shifted, starts};
use super::relation::{Lookups, Tile};
use super::{Cube, OneHotsCube};
use crate::bit::used;
#[cfg(doc)]
use crate::blackbox::PIECE;
use crate::blackbox::{BlackBox, Element, Misfit, Shared, TERM_BYTES};
use crate::share::Rep;
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::plane::LANES;
use divisi_field::{Gf64, Plane};
use std::sync::Arc;
use zeroize::Zeroizing;

const LOOKUP: Step = step!("lookup");
const SUMS: Step = step!("sums");
const RESULT: Step = step!("result");

impl BlackBox {
    /// `[T(x)]` by the lookup of three factors, component by component of the entries. The index x is given
    /// by several inputs: `bits` low bits of each, the first input as the lowest bits. Three rounds, k + 2^k1
    /// w bits.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless there is a vector of the table's parts for each lane, and the inputs have as
    /// many bits as its index; for more than [`PIECE`] products, 2^k1 + 2^k2 - 1 a lane: split the vectors;
    /// the abort that ends the session.
    pub fn lookup_cube<F: Element, G: Element>(
        &mut self,
        cube: &Cube<G>,
        index: &[(&Shared<F>, usize)],
        vectors: OneHotsCube,
    ) -> Result<Vec<Shared<G>>, Abort> {
        for (x, _) in index {
            self.demand(LOOKUP, x.origin == self.origin, Misfit::Origin)?;
            self.demand(LOOKUP, x.lanes() == vectors.count(), Misfit::Lanes)?;
        }
        let bits = index.iter().fold(0_usize, |sum, (_, bits)| sum.saturating_add(*bits));
        let fit = index.iter().all(|(_, bits)| *bits <= F::BITS) && bits == cube.index_bits();
        self.demand_cube(cube, &vectors, fit)?;
        self.take("lookup_cube", cube.index_bits(), Some(&cube.digest), &vectors.lot)?;
        // 1. c = x + r
        let (first, lanes) = (vectors.lot.range.start, vectors.count());
        let side = |side: usize| {
            let mut c: Vec<Gf64> =
                vectors.made.numbers(side, first, lanes).iter().map(|r| Gf64(*r)).collect();
            let mut at = 0;
            for (x, bits) in index {
                let x = if side == 0 { &x.rep.a } else { &x.rep.b };
                let mask = if *bits < 64 { (1 << bits) - 1 } else { u64::MAX };
                c.iter_mut().zip(x).for_each(|(c, x)| c.0 ^= (x.to_bits() as u64 & mask) << at);
                at += bits;
            }
            c
        };
        let rests_on = index.iter().map(|(x, _)| x.rests_on).max().unwrap_or(0);
        let masked = self.shared(Rep { a: side(0), b: side(1) }, rests_on);
        let c = self.open(&masked, cube.index_bits())?;
        let c: Vec<u64> = c.value.iter().map(|c| c.0).collect();
        self.contract(cube, &vectors, Some(&c))
    }

    /// `[T(r)]`, component by component of the entries, for the random r of each vector, which nobody knows.
    /// Two rounds, 2^k1 w bits.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless the vectors are of the table's parts, and for more than [`PIECE`] products,
    /// 2^k1 + 2^k2 - 1 a lane: split the vectors; the abort that ends the session.
    pub fn sample_cube<G: Element>(
        &mut self,
        cube: &Cube<G>,
        vectors: OneHotsCube,
    ) -> Result<Vec<Shared<G>>, Abort> {
        self.demand_cube(cube, &vectors, true)?;
        self.take("sample_cube", cube.index_bits(), Some(&cube.digest), &vectors.lot)?;
        self.contract(cube, &vectors, None)
    }

    fn demand_cube<G: Element>(
        &mut self,
        cube: &Cube<G>,
        vectors: &OneHotsCube,
        fit: bool,
    ) -> Result<(), Abort> {
        if !fit || cube.parts() != vectors.made.bits {
            return Err(self.trio.session.misuse(LOOKUP, Misuse::CountsDiffer));
        }
        self.demand_products(terms(&cube.grid, vectors.count()))
    }

    /// Steps 2 to 4, for the products of x = c + r, or of r.
    fn contract<G: Element>(
        &mut self,
        cube: &Cube<G>,
        vectors: &OneHotsCube,
        c: Option<&[u64]>,
    ) -> Result<Vec<Shared<G>>, Abort> {
        let (grid, made, lanes) = (&cube.grid, &*vectors.made, vectors.count());
        let (starts, width, me) = (starts(grid.bits), grid.width, self.trio.me());
        let kept = width << grid.bits[0];
        // 2., 3. the table contracted by the third factor and the second
        let tiles = made.tiles_of(vectors.lot.range.start, lanes);
        let mut m: Vec<Pairs> = Vec::with_capacity(tiles.len());
        let mut shares = Zeroizing::new(Vec::with_capacity(tiles.len() * kept));
        for (t, tile) in tiles.iter().enumerate() {
            let c = c.map(|c| &c[LANES * t..LANES * t + used(lanes, t)]);
            let tile = shifted(tile, grid.bits, c, used(lanes, t), me);
            grid.contract(&tile.0[starts[1]..starts[2]], &tile.0[starts[2]..], &mut shares);
            m.push(tile);
        }
        let mut sent = Zeroizing::new(Vec::with_capacity(shares.len()));
        shares.chunks_exact(kept).for_each(|tile| sent.extend_from_slice(&tile[width..]));
        let h = reshare(&mut self.trio, SUMS, sent, lanes)?;
        // 4. and by the first
        let mut results = Zeroizing::new(Vec::with_capacity(tiles.len() * width));
        for ((m, h), share) in m.iter().zip(&h).zip(shares.chunks_exact(kept)) {
            vectorize(
                #[inline(always)]
                || {
                    for b in 0..width {
                        let products = m.0[1..starts[1]].iter().zip(h.0.chunks_exact(width));
                        results.push([products.fold(share[b][0], |sum, (m, h)| sum ^ mult_local(m, &h[b]))]);
                    }
                },
            );
        }
        drop(shares);
        let t = reshare(&mut self.trio, RESULT, results, lanes)?;
        let components = elements::<G>(&cube.widths, &t, lanes);
        self.owe_lookups(grid, lanes, m, h, t)?;
        Ok(components.into_iter().map(|rep| self.shared(rep, self.statements)).collect())
    }

    /// Owe the verification of what was reshared \[S2\].
    fn owe_lookups(
        &mut self,
        grid: &Arc<Grid>,
        lanes: usize,
        m: Vec<Pairs>,
        h: Vec<Pairs>,
        t: Vec<Pairs>,
    ) -> Result<(), Abort> {
        let terms = terms(grid, lanes);
        let planes = starts(grid.bits)[3] + (grid.width << grid.bits[0]);
        let held = 2 * Plane::BYTES * planes * m.len() / TERM_BYTES;
        let tiles = m.into_iter().zip(h).zip(t).map(|((m, h), t)| Tile { m, h, t }).collect();
        let statement = Box::new(Lookups { grid: Arc::clone(grid), lanes, tiles });
        self.owe::<Gf64>(statement, terms as u64, terms.max(held) as u64)
    }
}

/// How many products the verification of lookups has.
fn terms(grid: &Grid, lanes: usize) -> usize {
    lanes.saturating_mul((1 << grid.bits[0]) + (1 << grid.bits[1]) - 1)
}

/// The components of the entries, put together from their bits.
fn elements<G: Element>(widths: &[usize], t: &[Pairs], lanes: usize) -> Vec<Rep<G>> {
    let mut first = 0;
    let mut component = |width: &usize| {
        let planes = first..first + width;
        first += width;
        let [a, b] = [0, 1].map(|side| {
            let lane = |l: usize| {
                let bits = t[l / LANES].0[planes.clone()].iter().enumerate();
                let bits = bits.fold(0, |bits, (b, pair)| bits | u128::from(pair[side].lane(l % LANES)) << b);
                G::from_low_bits(bits)
            };
            (0..lanes).map(lane).collect()
        });
        Rep { a, b }
    };
    widths.iter().map(&mut component).collect()
}
