//! 3DES-PV: lookups by three products in GF(2^8) (KOR+17, section 3.3).

use super::arithmetic::{Masked, add_images, chunks, combine_bits, linear};
use super::bits::AuthBit;
use super::decomposition::Decomposition;
use super::{AuthByte, Spdz};
use crate::part::Host;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Lookup, Misuse, Step, Table, step};
use divisi_field::{Field, Gf2, Gf8};
use std::ops::Range;

const NONE: Step = step!("polynomial");

/// The decompositions of the tables that were looked up so far.
#[derive(Default)]
pub(super) struct Decompositions(Vec<(&'static Table, Decomposition)>);

impl Decompositions {
    pub(super) fn find(&mut self, table: &'static Table) -> Option<usize> {
        if let Some(at) = self.0.iter().position(|(of, _)| std::ptr::eq(*of, table)) {
            return Some(at);
        }
        self.0.push((table, Decomposition::of(table)?));
        Some(self.0.len() - 1)
    }
}

/// How many lanes' polynomials are evaluated at once, so that the MACs of their bits stay in the nearest
/// cache.
const CHUNK: usize = 128;

/// The bits of x, plane by plane, for the lanes of all lookups side by side; x^3 and x^7 as masked bits.
struct Powers<F: Host> {
    x: Auth<Gf2, F>,
    others: [Masked<F>; 2],
}

impl<F: Host> Spdz<F> {
    /// The values of tables at secret indices.
    ///
    /// 1. x^3 = x x^2. 2. x^7 = x^3 x^4; x^3 is decomposed. 3. x^7 is decomposed. 4. p1(x) q1(x), both linear
    ///    in the bits of x, x^3, x^7.
    /// 5. p1 q1 + p2 + c is decomposed; its low bits are the value.
    ///
    /// Adversary: n - 1 malicious. Cost: 3 products and 3 decompositions a lookup, 9 openings of 8 bits, five
    /// rounds (test `counts_of_3des`).
    #[inline(never)]
    pub(super) fn polynomials(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let lanes = layer.iter().map(|lookup| lookup.wires.first().map_or(0, Lanes::lanes)).sum::<usize>();
        let mut places: Vec<(usize, Range<usize>)> = Vec::with_capacity(layer.len());
        let mut at = 0;
        for Lookup { table, wires } in layer.iter() {
            let known = self.polynomials.find(table);
            let known = known.ok_or_else(|| self.party.session.misuse(NONE, Misuse::CircuitUnfit))?;
            let end = at + wires.first().map_or(0, Lanes::lanes);
            places.push((known, at..end));
            at = end;
        }
        // the bits of x, the upper ones zero
        let mut x = Auth::<Gf2, F>::with_capacity(8 * lanes);
        for k in 0..8 {
            for Lookup { wires, .. } in layer.iter() {
                match wires.get(k) {
                    Some(bit) => x.append(bit),
                    None => x.append(&Auth::zeros(wires.first().map_or(0, Lanes::lanes))),
                }
            }
        }
        let of_x = |i: u32| linear(&x, &super::arithmetic::frobenius(i), lanes);
        // 1.
        let x3 = self.multiply(&[(bytes(&x, lanes).all(), of_x(1).all())])?;
        // 2.
        let (x7, x3) = self.multiply_and_mask(&x3, &of_x(2))?;
        // 3.
        let others = [x3, self.masked(&x7)?];
        // 4.
        let [p1, q1, p2] = self.evaluate(&Powers { x, others }, lanes, &places)?;
        let mut y = self.multiply(&[(p1.all(), q1.all())])?;
        // 5.
        let fits = y.add(&p2);
        debug_assert!(fits || lanes == 0);
        let mut constants = vec![Gf8::ZERO; lanes];
        for (known, place) in &places {
            constants[place.clone()].fill(self.polynomials.0[*known].1.constant);
        }
        self.party.add_public(&mut y, &constants)?;
        let width = layer.iter().map(|lookup| lookup.table.width).max().unwrap_or(0).min(8);
        let y = self.decompose(&y, width)?;
        for (Lookup { table, wires }, (_, place)) in layer.iter_mut().zip(places) {
            *wires =
                (0..table.width).map(|k| y.part(k * lanes + place.start..k * lanes + place.end)).collect();
        }
        Ok(())
    }

    /// p1, q1 and p2 of each lookup, local: for masked bits, the image of the masks r plus that of the public
    /// c.
    fn evaluate(
        &self,
        of: &Powers<F>,
        lanes: usize,
        places: &[(usize, Range<usize>)],
    ) -> Result<[AuthByte<F>; 3], Abort> {
        let mut out = [(); 3].map(|()| AuthByte::<F>::zeros(lanes));
        let mut images = [Gf8::ZERO; CHUNK];
        let mut macs = WipedVec::zeros(CHUNK);
        for (known, place) in places {
            let (table, d) = &self.polynomials.0[*known];
            let bits = table.index.min(8);
            for here in chunks(place.len(), CHUNK) {
                let here = place.start + here.start..place.start + here.end;
                let mut planes = Vec::with_capacity(24);
                for (r, bits) in [(&of.x, bits), (&of.others[0].r, 8), (&of.others[1].r, 8)] {
                    planes.extend((0..bits).map(|k| {
                        let plane = r.view(k * lanes + here.start..k * lanes + here.end);
                        (plane.x, plane.m)
                    }));
                }
                for (p, out) in [&d.p1, &d.q1, &d.p2].into_iter().zip(&mut out) {
                    let (x, m) = (&mut out.x[here.clone()], &mut out.m[here.clone()]);
                    let coefficients = [&p[0][..bits], &p[1], &p[2]].concat();
                    combine_bits((&mut *x, &mut *m), &planes, &coefficients);
                    let images = &mut images[..here.len()];
                    images.fill(Gf8::ZERO);
                    for (power, map) in of.others.iter().zip(&p[1..]) {
                        add_images(images, &power.c[here.clone()], map);
                    }
                    self.party.add_public_with((x, m), images, &mut macs)?;
                }
            }
        }
        Ok(out)
    }
}
