//! 3DES-Raw: lookups by all powers of the index in GF(2^6), the baseline of KOR+17's comparison (appendix).
//!
//! An index of six bits is an element x of GF(2^6), and a table of DES is a polynomial in it, of degree 62 at
//! most: each value occurs equally often, so that their sum, the coefficient of x^63, is zero. Squares take
//! products as all other powers do, because squaring is linear over GF(2) but does not preserve MACs.

use super::Spdz;
use super::bits::AuthBit;
use crate::checks;
use crate::part::{Embeds, Host, Mac, Shareable, Small, places};
use crate::share::Auth;
use divisi_core::{Abort, Lanes, Lookup, Misuse, Step, Table, step};
use divisi_field::{Field, Gf2, Gf6};

const DECOMPOSE: Step = step!("raw.bitdec");
const NONE: Step = step!("raw");

/// The highest power that a polynomial has.
const DEGREE: usize = 62;

/// Products that a lookup takes: x^2, .., x^62.
pub(super) const PRODUCTS: usize = DEGREE - 1;

/// Bits of a value.
const WIDTH: usize = 4;

/// The coefficients of 1, x, .., x^62.
type Coefficients = [Gf6; DEGREE + 1];

/// Polynomials of the tables that were looked up.
#[derive(Default)]
pub(super) struct Polynomials(Vec<(&'static Table, Coefficients)>);

impl Polynomials {
    pub(super) fn find(&mut self, table: &'static Table) -> Option<Coefficients> {
        if let Some((_, known)) = self.0.iter().find(|(of, _)| std::ptr::eq(*of, table)) {
            return Some(*known);
        }
        let made = interpolate(table)?;
        self.0.push((table, made));
        Some(made)
    }
}

/// The polynomial of a table of six bits in and four out; `None` if it has a term x^63. Lagrange, over a
/// field of q elements: the coefficient of x^j, 0 < j < q, is the sum of T(x) x^(q-1-j) over all x, 0^0 = 1.
fn interpolate(table: &Table) -> Option<Coefficients> {
    if table.index != 6 || table.width > WIDTH || table.values.len() != 64 {
        return None;
    }
    let points = || (0..64_u8).zip(table.values).map(|(x, value)| (Gf6::new(x), Gf6::new(*value)));
    if points().fold(Gf6::ZERO, |sum, (_, value)| sum + value) != Gf6::ZERO {
        return None;
    }
    let mut made = [Gf6::ZERO; DEGREE + 1];
    made[0] = Gf6::new(*table.values.first()?);
    for (x, value) in points() {
        // from x^62 down: times 1, x, x^2, ..; x^62 = x^(q-2) takes T(x) x
        let mut power = value * x;
        for to in made[1..].iter_mut().rev() {
            *to += power;
            power *= x;
        }
    }
    Some(made)
}

impl<F: Host> Spdz<F> {
    /// The values of tables at secret indices.
    ///
    /// 1. x = sum x_k g^k, g the root of x^6 + x^4 + x^3 + x + 1; local. 2. x^2; x^3 and x^4; x^5 to x^8; and
    ///    so on: x^(m + j) = x^m x^j, j = 1, .., m, for m = 1, 2, 4, .. 3. y = sum c_j x^j; local. 4. BitDec:
    ///    with random bits r_k open y + sum r_k g^k, of which only the value's four bits are sent \[K8\].
    ///
    /// (The paper multiplies by x again and again, 62 times one after the other. It prints y^42 + y^21 + 1
    /// for the field of its MACs, which is no field: GF(2^42) here is that of y^42 + y^7 + 1.)
    ///
    /// Adversary: n - 1 malicious. Cost: 61 products of six bits and one decomposition of four a lookup, 123
    /// openings, seven rounds (test `counts_of_3des`).
    #[inline(never)]
    pub(super) fn raw(&mut self, layer: &mut [Lookup<AuthBit<F>>]) -> Result<(), Abort> {
        let lanes = |lookup: &Lookup<AuthBit<F>>| lookup.wires.first().map_or(0, Lanes::lanes);
        let all: usize = layer.iter().map(lanes).sum();
        let mut polynomials = Vec::with_capacity(layer.len());
        for lookup in layer.iter() {
            let known = self.interpolated.find(lookup.table);
            let known = known.ok_or_else(|| self.party.session.misuse(NONE, Misuse::CircuitUnfit))?;
            polynomials.push((known, lanes(lookup)));
        }
        // 1.
        let mut x = Auth::<Gf6, F>::with_capacity(all);
        for lookup in layer.iter() {
            x.append(&element(&lookup.wires));
        }
        // 2. power j lies in the `all` lanes from (j - 1) all on
        let mut powers = x;
        while powers.len() < DEGREE * all {
            let known = powers.len() / all;
            let wanted = known.min(DEGREE - known);
            let power = |j: usize| powers.view((j - 1) * all..j * all);
            let pairs: Vec<_> = (1..=wanted).map(|j| (power(known), power(j))).collect();
            let products = self.multiply_sixes(&pairs)?;
            powers.append(&products);
        }
        // 3.
        let mut y = Auth::<Gf6, F>::zeros(all);
        let mut constants = Vec::with_capacity(all);
        let mut from = 0;
        for (coefficients, lanes) in &polynomials {
            let place = from..from + lanes;
            let rows: Vec<&[F]> = (0..DEGREE).map(|j| &powers.m[j * all..][place.clone()]).collect();
            let embedded: Vec<F> = coefficients[1..].iter().map(|c| F::embedded(*c)).collect();
            F::combine(&mut y.m[place.clone()], &embedded, &rows);
            for (j, c) in coefficients[1..].iter().enumerate() {
                let power = &powers.x[j * all..][place.clone()];
                y.x[place.clone()].iter_mut().zip(power).for_each(|(y, x)| *y += *c * *x);
            }
            constants.resize(constants.len() + lanes, coefficients[0]);
            from = place.end;
        }
        self.party.add_public(&mut y, &constants)?;
        // 4.
        let bits = self.value_bits(&y)?;
        let mut from = 0;
        for (lookup, (_, lanes)) in layer.iter_mut().zip(&polynomials) {
            let bit = |k: usize| bits.part(k * all + from..k * all + from + lanes);
            lookup.wires = (0..lookup.table.width).map(bit).collect();
            from += lanes;
        }
        Ok(())
    }

    /// BitDec of elements in which only the low bits can be one. These bits are opened under a mask, and the
    /// MAC is checked for the element that they form. The other bits of the shares add up to zero if all
    /// parties are honest; if they do not, the check of MACs finds a wrong opening.
    fn value_bits(&mut self, y: &Auth<Gf6, F>) -> Result<Auth<Gf2, F>, Abort> {
        let lanes = y.len();
        let mut r = self.random_bits(WIDTH * lanes)?;
        let planes: Vec<AuthBit<F>> = (0..WIDTH).map(|k| r.part(k * lanes..(k + 1) * lanes)).collect();
        let mut masked = element::<F>(&planes);
        self.party.mask(&mut masked, y)?;
        let own: Vec<Small<WIDTH>> = masked.x.iter().map(|x| Small::new(x.to_bits() as u8)).collect();
        let sent = self.party.send_shares(DECOMPOSE, &own)?;
        self.party.session.observe_each(checks::K8, lanes as u64); // [K8]
        let opened = self.party.receive_by(sent, &masked.m, |v| F::embedded_public(Gf6::new(v.bits())))?;
        let bit = |k: usize| opened.iter().map(move |v| Gf2::new(v.bits() >> k));
        let public: Vec<Gf2> = (0..WIDTH).flat_map(bit).collect();
        self.party.add_public(&mut r, &public)?;
        Ok(r)
    }
}

/// \[\[sum x_k g^k\]\], local.
pub(super) fn element<F: Mac + Embeds<Gf6>>(bits: &[AuthBit<F>]) -> Auth<Gf6, F> {
    let lanes = bits.first().map_or(0, Auth::len);
    let mut out = Auth::<Gf6, F>::zeros(lanes);
    for (k, bit) in bits.iter().enumerate() {
        out.x.iter_mut().zip(&bit.x).for_each(|(x, bit)| *x += Gf6::new((bit.to_bits() as u8) << k));
    }
    let rows: Vec<&[F]> = bits.iter().map(|bit| bit.m.as_slice()).collect();
    F::combine(&mut out.m, &places::<Gf6, F>()[..rows.len().min(<Gf6 as Shareable>::BITS)], &rows);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &'static [u8]) -> Table {
        Table { index: 6, width: 4, values }
    }

    /// A table that consists of four permutations of 16 values, like those of DES, and one that is no
    /// polynomial of degree 62.
    #[test]
    fn polynomials_go_through_their_tables() {
        static ALL: [u8; 64] = {
            let (mut all, mut i) = ([0; 64], 0);
            while i < 64 {
                all[i as usize] = (i * 3 + i / 16 * 5) % 16;
                i += 1;
            }
            all
        };
        let made = interpolate(&table(&ALL)).unwrap();
        for (x, value) in (0..64_u8).zip(ALL) {
            let at = made.iter().rev().fold(Gf6::ZERO, |sum, c| sum * Gf6::new(x) + *c);
            assert_eq!(at, Gf6::new(value));
        }
        static ONE: [u8; 64] = {
            let mut one = [0; 64];
            one[5] = 1;
            one
        };
        // and that is found whenever it is asked
        (0..3).for_each(|_| assert!(interpolate(&table(&ONE)).is_none()));
        // a table of another size is no polynomial over this field
        let others = [(5, 4, 32), (6, 5, 64), (6, 4, 32), (7, 4, 128), (6 + 256, 4, 64), (6, 4, 64 + 256)];
        for (index, width, count) in others {
            let table = Table { index, width, values: vec![1; count].leak() };
            assert!(interpolate(&table).is_none(), "{index} {width} {count}");
        }
    }
}
