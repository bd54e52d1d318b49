//! 3DES-PV: lookups by three products in GF(2^8) (KOR+17, section 3.3).

use super::arithmetic::{combine_bits, linear};
use super::bits::AuthBit;
use super::decomposition::{Decomposition, Polynomial};
use super::{AuthByte, Spdz};
use crate::part::Host;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::{Abort, Lanes, Lookup, Step, Table, step};
use divisi_field::{Field, Gf2, Gf8};
use std::ops::Range;

const NONE: Step = step!("polynomial");

/// Decompositions of the tables that were looked up.
#[derive(Default)]
pub(super) struct Known(Vec<(&'static Table, Decomposition)>);

impl Known {
    pub(super) fn find(&mut self, table: &'static Table) -> Option<usize> {
        if let Some(at) = self.0.iter().position(|(of, _)| std::ptr::eq(*of, table)) {
            return Some(at);
        }
        self.0.push((table, Decomposition::of(table)?));
        Some(self.0.len() - 1)
    }
}

/// Bits of x, x^3 and x^7, plane by plane, of all lookups side by side.
type Bits<F> = [Auth<Gf2, F>; 3];

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
            let known = known.ok_or_else(|| {
                self.party.session.misuse(NONE, "a table without a polynomial of this form")
            })?;
            let end = at + wires.first().map_or(0, Lanes::lanes);
            places.push((known, at..end));
            at = end;
        }
        // the bits of x, the upper ones zero
        let mut x = Auth::<Gf2, F>::with_room(8 * lanes);
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
        let (x7, x3) = self.multiply_and_decompose(&x3, &of_x(2))?;
        // 3.
        let x7 = self.decompose(&x7)?;
        // 4.
        let bits: Bits<F> = [x, x3, x7];
        let [p1, q1] = [|d: &Decomposition| d.p1, |d: &Decomposition| d.q1]
            .map(|of| self.evaluate(&bits, lanes, &places, of));
        let mut y = self.multiply(&[(p1.all(), q1.all())])?;
        // 5.
        let fits = y.add(&self.evaluate(&bits, lanes, &places, |d| d.p2));
        debug_assert!(fits || lanes == 0);
        let mut constants = vec![Gf8::ZERO; lanes];
        for (known, place) in &places {
            constants[place.clone()].fill(self.polynomials.0[*known].1.constant);
        }
        self.party.add_public(&mut y, &constants)?;
        let y = self.decompose(&y)?;
        for (Lookup { table, wires }, (_, place)) in layer.iter_mut().zip(places) {
            *wires =
                (0..table.width).map(|k| y.part(k * lanes + place.start..k * lanes + place.end)).collect();
        }
        Ok(())
    }

    /// The value of each lookup's polynomial, local.
    fn evaluate(
        &self,
        bits: &Bits<F>,
        lanes: usize,
        places: &[(usize, Range<usize>)],
        of: impl Fn(&Decomposition) -> Polynomial,
    ) -> AuthByte<F> {
        let mut out = AuthByte::<F>::zeros(lanes);
        for (known, place) in places {
            let images = of(&self.polynomials.0[*known].1).concat();
            let mut planes = Vec::with_capacity(images.len());
            for bits in bits {
                for k in 0..8 {
                    let plane = bits.view(k * lanes + place.start..k * lanes + place.end);
                    planes.push((plane.x, plane.m));
                }
            }
            combine_bits((&mut out.x[place.clone()], &mut out.m[place.clone()]), &planes, &images);
        }
        out
    }
}
