//! Zero tests of bits, six at a time as elements of GF(2^6): for fields of MACs that do not hold GF(2^8).

use super::leave::{missed, vanished};
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
            random_rows(&mut prg, m, group.len()).iter().for_each(|row| d.append(&combined(&group, row)));
        }
        // 2.
        let lanes = m * m * groups;
        let bits = self.random_bits(BITS * lanes)?;
        let planes: Vec<_> = (0..BITS).map(|k| bits.part(k * lanes..(k + 1) * lanes)).collect();
        let r = element(&planes);
        let product = self.by_matrices_of_sixes(&r, &d)?;
        // 3.
        self.party.session.meter().verification_error(missed(BITS * m));
        let verified = self.settled(product)?;
        let opened = self.output(verified)?;
        Ok(vanished(&opened, m))
    }
}

impl<F: Host> Spdz<F> {
    /// R d for each group, by the elements of all R row by row, and of all d.
    fn by_matrices_of_sixes(&mut self, r: &Auth<Gf6, F>, d: &Auth<Gf6, F>) -> Result<Auth<Gf6, F>, Abort> {
        let m = <F as Field>::BITS.div_ceil(BITS);
        // the m products of a row and its column stand side by side
        let column: Vec<usize> = (0..r.len()).map(|i| i / (m * m) * m + i % m).collect();
        let factors = d.gather(&column);
        let factors = factors.ok_or_else(|| self.party.session.misuse(SHAPE, Misuse::CountsDiffer))?;
        let terms = self.multiply_sixes(&[(r.all(), factors.all())])?;
        let mut product = Auth::<Gf6, F>::with_capacity(d.len());
        for i in 0..d.len() {
            product.append(&combined(&terms.part(i * m..(i + 1) * m), &vec![Gf6::ONE; m]));
        }
        Ok(product)
    }
}

/// A matrix of this many rows, of the coin.
#[cfg_attr(feature = "testing", track_caller)]
fn random_rows(prg: &mut Prg, rows: usize, len: usize) -> Vec<Vec<Gf6>> {
    let mut all = vec![vec![Gf6::ZERO; len]; rows];
    for row in &mut all {
        Gf6::add_random(prg, row);
    }
    all
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

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::engine::SpdzProtocol;
    use crate::engine::leave::tests::Bare;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection, party, run};
    use divisi_field::Gf48;
    use std::collections::HashSet;

    /// Each group of elements has a matrix of its own.
    #[test]
    fn products_are_those_of_each_matrix() {
        let (m, groups) = (8, 3);
        let ends = run(2, &PublicParameters::new("matrices"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Raw)?;
            let mut random = |count: usize| -> Result<Auth<Gf6, Gf48>, Abort> {
                let bits = e.random_bits(BITS * count)?;
                Ok(element(&[0, 1, 2, 3, 4, 5].map(|k| bits.part(k * count..(k + 1) * count))))
            };
            let (r, d) = (random(m * m * groups)?, random(m * groups)?);
            let product = e.by_matrices_of_sixes(&r, &d)?;
            let mut open = |x: &Auth<Gf6, Gf48>| e.party.open(COIN, &x.x, &x.m);
            Ok([open(&r)?, open(&d)?, open(&product)?])
        });
        for end in ends {
            let [r, d, product] = end.unwrap();
            let sum = |i: usize| (0..m).map(|k| r[i * m + k] * d[i / m * m + k]).sum::<Gf6>();
            assert!(product.into_iter().eq((0..m * groups).map(sum)));
        }
    }

    /// The secret matrix of each group of each call is its own, however many groups there are.
    #[test]
    fn each_group_has_a_secret_matrix_of_its_own() {
        let (groups, calls) = (70, 2);
        let harness = Harness::new(2, &PublicParameters::new("matrices"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(Bare(dealer)), SpdzProtocol::Raw)?;
            let x = e.random_bits(7)?;
            (0..calls).try_for_each(|_| e.vanish(&vec![x.clone(); groups]).map(drop))
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let step = "divisi_spdz::multiply/multiply.element";
        let told = [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), step));
        // of each product the matrices, then the images; a row has eight elements of six bits
        assert_eq!(told[0].len(), 2 * calls);
        let mut rows = HashSet::new();
        for (ours, theirs) in told[0].iter().zip(&told[1]).step_by(2) {
            let opened: Vec<u8> = ours.iter().zip(theirs).map(|(x, y)| x ^ y).collect();
            rows.extend(opened.chunks(6).map(<[u8]>::to_vec));
        }
        assert_eq!(rows.len(), 8 * groups * calls);
    }

    /// Each row has coefficients of its own: with equal ones a group would vanish too often.
    #[test]
    fn rows_of_a_matrix_differ() {
        let mut prg = Prg::new(&[4; 16]);
        let mut all = [random_rows(&mut prg, 8, 20), random_rows(&mut prg, 8, 20)].concat();
        assert!(all.iter().all(|row| row.iter().any(|c| *c != row[0])));
        all.sort_unstable_by_key(|row| row.iter().map(|c| c.to_bits()).collect::<Vec<_>>());
        all.dedup();
        assert_eq!(all.len(), 16);
    }

    /// No two elements of a long group have the same coefficients: equal ones would vanish.
    #[test]
    fn columns_of_a_matrix_differ() {
        let (rows, lanes) = (8, 1 << 14);
        let all = random_rows(&mut Prg::new(&[4; 16]), rows, lanes);
        let column = |lane: usize| all.iter().map(|row| row[lane].to_bits()).collect::<Vec<_>>();
        let columns: HashSet<Vec<u128>> = (0..lanes).map(column).chain([vec![0; rows]]).collect();
        assert_eq!(columns.len(), lanes + 1);
    }
}
