//! Zero tests of bits, six at a time as elements of GF(2^6): for fields of MACs that do not hold GF(2^8).

use super::leave::missed;
use super::raw::element;
use super::{AuthBit, Spdz};
use crate::part::{Host, Shareable};
use crate::purposes;
use crate::share::Auth;
use divisi_core::{Abort, Compares, Lanes, Misuse, Prg, Settles, Step, step};
use divisi_field::{Field, Gf6};

const COIN: Step = step!("zero6.1.coin");
const SHAPE: Step = step!("zero6");

/// Bits of an element.
const BITS: usize = <Gf6 as Shareable>::BITS;

impl<F: Host> Compares<AuthBit<F>> for Spdz<F> {
    /// For each group of bits, whether all of them are zero: the protocol for bytes, with GF(2^6) in place of
    /// GF(2^8).
    ///
    /// 1. Bits 6i to 6i + 5 of a group are an element x_i, the last one filled up with zeros; local. A coin,
    ///    tossed when all x_i are fixed, gives a matrix C of m rows, where m is the least number with 6 m at
    ///    least the number of bits of F; d = C x. 2. R consists of m x m random elements that nobody knows; R
    ///    d by Beaver's method. 3. All that was opened is checked, then R d is opened, and checked.
    ///
    /// If all bits are zero, so is R d. Otherwise d is zero with probability 2^-6m; if it is not, R d is
    /// uniform, so it reveals nothing else, and is zero with probability 2^-6m. Adversary: n - 1 malicious; a
    /// wrong answer fails a check. Cost: m^2 products in GF(2^6) and 6 m^2 random bits a group, a coin, two
    /// rounds, two checks. A field of MACs that does not hold GF(2^6) has no such products \[K10\].
    #[inline(never)]
    fn vanish(&mut self, x: &[AuthBit<F>]) -> Result<Vec<bool>, Abort> {
        if x.iter().any(Auth::is_empty) {
            return Err(self.party.session.misuse(SHAPE, Misuse::Empty));
        }
        let (m, groups) = (<F as Field>::BITS.div_ceil(BITS), x.len());
        // 1.
        let coin = self.party.coins.toss(&mut self.party.session, COIN)?;
        let mut prg = Prg::of(purposes::VANISHING_BITS, &coin);
        let mut d = Auth::<Gf6, F>::with_capacity(m * groups);
        for group in x {
            let Some(group) = sixes(group) else {
                return Err(self.party.session.misuse(SHAPE, Misuse::CircuitUnfit));
            };
            for _ in 0..m {
                let mut row = vec![Gf6::ZERO; group.len()];
                Gf6::add_random(&mut prg, &mut row);
                d.append(&combined(&group, &row));
            }
        }
        // 2. the m products of a row and its column stand side by side
        let lanes = m * m * groups;
        let bits = self.random_bits(BITS * lanes)?;
        let planes: Vec<_> = (0..BITS).map(|k| bits.part(k * lanes..(k + 1) * lanes)).collect();
        let r = element(&planes);
        let column: Vec<usize> = (0..lanes).map(|i| i / (m * m) * m + i % m).collect();
        let factors = d.gather(&column);
        let factors = factors.ok_or_else(|| self.party.session.misuse(SHAPE, Misuse::CountsDiffer))?;
        let terms = self.multiply_sixes(&[(r.all(), factors.all())])?;
        let mut product = Auth::<Gf6, F>::with_capacity(m * groups);
        for i in 0..m * groups {
            product.append(&combined(&terms.part(i * m..(i + 1) * m), &vec![Gf6::ONE; m]));
        }
        // 3.
        self.party.session.meter().verification_error(missed(BITS * m));
        let verified = self.settled(product)?;
        let opened = self.output(verified)?;
        Ok(opened.chunks(m).map(|elements| elements.iter().all(|x| *x == Gf6::ZERO)).collect())
    }
}

/// Bits as elements, local.
fn sixes<F: Host>(bits: &AuthBit<F>) -> Option<Auth<Gf6, F>> {
    let count = bits.len().div_ceil(BITS);
    let mut all = bits.clone();
    all.append(&Auth::zeros(count * BITS - bits.len()));
    let plane = |k: usize| all.gather(&(0..count).map(|i| BITS * i + k).collect::<Vec<_>>());
    Some(element(&(0..BITS).map(plane).collect::<Option<Vec<_>>>()?))
}

/// A public row times a column, local.
fn combined<F: Host>(x: &Auth<Gf6, F>, row: &[Gf6]) -> Auth<Gf6, F> {
    let mut sum = Auth::<Gf6, F>::zeros(1);
    for (c, (x, own)) in row.iter().zip(x.x.iter().zip(&x.m)) {
        sum.x[0] += *c * *x;
        sum.m[0] += F::embedded(*c) * *own;
    }
    sum
}
