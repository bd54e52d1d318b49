//! Outputs: openings to all parties, each checked, and zero tests, which reveal only their answers.

use super::{AuthBit, AuthByte, Openings, Spdz};
use crate::part::{Host, Mac, Shareable};
use crate::purposes;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::{
    Abort, Compares, ComparesBytes, Lanes, Misuse, Opens, Pending, Prg, Settles, Step, Verified, step,
};
use divisi_field::{Field, Gf8};

const COIN: Step = step!("zero.1.coin");
const SHAPE: Step = step!("zero");

impl<F: Host> Settles for Spdz<F> {
    type Debt = Openings<F>;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Openings<F>>, Abort> {
        Ok(self.close(out))
    }
}

impl<F: Host> Opens<Vec<AuthByte<F>>> for Spdz<F> {
    type Public = Vec<Vec<u8>>;

    /// All values in one round, and one check.
    #[inline(never)]
    fn open(&mut self, x: Verified<Vec<AuthByte<F>>>) -> Result<Vec<Vec<u8>>, Abort> {
        let mut all = AuthByte::default();
        x.get().iter().for_each(|byte| all.append(byte));
        let mut rest = self.opened(&all)?.into_iter().map(|x| x.0);
        Ok(x.get().iter().map(|byte| rest.by_ref().take(byte.len()).collect()).collect())
    }
}

impl<F: Host> Opens<Vec<AuthBit<F>>> for Spdz<F> {
    type Public = Vec<Vec<bool>>;

    #[inline(never)]
    fn open(&mut self, x: Verified<Vec<AuthBit<F>>>) -> Result<Vec<Vec<bool>>, Abort> {
        let mut all = AuthBit::default();
        x.get().iter().for_each(|bit| all.append(bit));
        let mut rest = self.opened(&all)?.into_iter().map(|bit| bit.to_bits() == 1);
        Ok(x.get().iter().map(|bit| rest.by_ref().take(bit.len()).collect()).collect())
    }
}

impl<F: Host> Compares<AuthByte<F>> for Spdz<F> {
    /// For each group of bytes x_j, whether all of them are zero. (The paper has no such protocol; this one
    /// opens a random multiple of the group's image under a random linear map to a few bytes.)
    /// 1. A coin, tossed when all x_j are fixed, gives a matrix C of m rows, where m is the number of bytes
    ///    of an element of F; d = C x, local. 2. R consists of m x m random bytes that nobody knows; R d by
    ///    Beaver's method. 3. All that was opened is checked, then R d is opened, and checked.
    ///
    /// If all x_j are zero, so is R d. Otherwise d is zero with probability 2^-8m; if it is not, R d is
    /// uniform, so it reveals nothing else, and is zero with probability 2^-8m. Adversary: n - 1 malicious; a
    /// wrong answer fails a check. Cost: m^2 products of bytes and 8 m^2 random bits a group, a coin, two
    /// rounds, two checks.
    #[inline(never)]
    fn vanish(&mut self, x: &[AuthByte<F>]) -> Result<Vec<bool>, Abort> {
        if x.iter().any(Auth::is_empty) {
            return Err(self.party.session.misuse(SHAPE, Misuse::Empty));
        }
        self.multiplies_bytes()?;
        let (m, groups) = (rows::<F>(), x.len());
        // 1.
        let coin = self.party.coins.toss(&mut self.party.session, COIN)?;
        let mut prg = Prg::of(purposes::VANISHING_BYTES, &coin);
        let mut d = AuthByte::<F>::with_capacity(m * groups);
        x.iter().for_each(|group| d.append(&combined(group, &mut prg)));
        // 2.
        let lanes = m * m * groups;
        let r = bytes(&self.random_bits(8 * lanes)?, lanes);
        let product = self.by_matrices(&r, &d)?;
        // 3.
        self.party.session.meter().verification_error(missed(8 * m));
        let verified = self.settled(product)?;
        let opened = self.output(verified)?;
        Ok(vanished(&opened, m))
    }
}

/// Whether all elements of each column of `m` are zero.
pub(super) fn vanished<S: Default + PartialEq>(opened: &[S], m: usize) -> Vec<bool> {
    opened.chunks(m).map(|column| column.iter().all(|element| *element == S::default())).collect()
}

impl<F: Host> ComparesBytes for Spdz<F> {
    #[inline(never)]
    fn vanish_blocks(&mut self, x: Vec<[AuthByte<F>; 16]>) -> Result<Vec<Vec<bool>>, Abort> {
        let mut groups = Vec::new();
        for block in &x {
            for lane in 0..block[0].lanes() {
                let mut group = AuthByte::<F>::with_capacity(block.len());
                for byte in block {
                    let byte = byte.gather(&[lane]);
                    let differ = || self.party.session.misuse(SHAPE, Misuse::LanesDiffer);
                    group.append(&byte.ok_or_else(differ)?);
                }
                groups.push(group);
            }
        }
        let answers = if groups.is_empty() { Vec::new() } else { self.vanish(&groups)? };
        let mut answers = answers.into_iter();
        Ok(x.iter().map(|block| answers.by_ref().take(block[0].lanes()).collect()).collect())
    }
}

/// The probability that a zero test whose images have this many bits gives a wrong answer for a group that is
/// not zero: its image may be zero, or the random multiple of its image.
pub(crate) fn missed(bits: usize) -> f64 {
    2.0 * (-(bits as f64)).exp2()
}

/// m: the number of bytes to which a random map goes, as many as an element of F has.
pub(crate) fn rows<F: Mac>() -> usize {
    <F as Field>::BITS.div_ceil(8)
}

/// A public random matrix of m rows times a column of bytes, local.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn combined<F: Host>(x: &AuthByte<F>, prg: &mut Prg) -> AuthByte<F> {
    let mut all = AuthByte::<F>::with_capacity(rows::<F>());
    for _ in 0..rows::<F>() {
        let mut row = vec![Gf8::default(); x.len()];
        Gf8::add_random(prg, &mut row);
        let (mut sum, mut mac) = (AuthByte::<F>::zeros(1), F::ZERO);
        for (c, (x, own)) in row.iter().zip(x.x.iter().zip(&x.m)) {
            sum.x[0] += *c * *x;
            mac += F::embedded(*c) * *own;
        }
        sum.m[0] = mac;
        all.append(&sum);
    }
    all
}

impl<F: Host> Spdz<F> {
    /// Products of secret matrices and secret columns, by Beaver's method: `r` has matrices of m x m bytes,
    /// row by row, and `d` a column of m bytes for each.
    pub(crate) fn by_matrices(&mut self, r: &AuthByte<F>, d: &AuthByte<F>) -> Result<AuthByte<F>, Abort> {
        let m = rows::<F>();
        // the m products of a row and its column stand side by side
        let column: Vec<usize> = (0..r.len()).map(|i| i / (m * m) * m + i % m).collect();
        let factors =
            d.gather(&column).ok_or_else(|| self.party.session.misuse(SHAPE, Misuse::CountsDiffer))?;
        let terms = self.multiply(&[(r.all(), factors.all())])?;
        let mut product = AuthByte::<F>::with_capacity(d.len());
        for i in 0..d.len() {
            let row = terms.part(i * m..(i + 1) * m);
            let mut sum = AuthByte::<F>::zeros(1);
            sum.x[0] = row.x.iter().copied().sum();
            sum.m[0] = row.m.iter().fold(F::ZERO, |sum, m| sum + *m);
            product.append(&sum);
        }
        Ok(product)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
pub(super) mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::engine::SpdzProtocol;
    use crate::party::Party;
    use crate::source::{KnownBits, Source, Triples, Units};
    use divisi_core::testing::{Harness, MessageDirection, party, run};
    use divisi_core::{PartyId, PublicParameters};
    use divisi_field::{Gf2, Gf6, Gf48};

    /// One element of a column is enough for it not to be zero, whichever it is.
    #[test]
    fn columns_are_zero_in_all_their_elements() {
        for m in 1..10 {
            for at in 0..3 * m {
                let mut opened = vec![Gf8(0); 3 * m];
                opened[at] = Gf8(1 << (at % 8));
                let expected: Vec<bool> = (0..3).map(|column| column != at / m).collect();
                assert_eq!(vanished(&opened, m), expected, "{m} {at}");
            }
        }
    }

    /// Each group of bytes has a matrix of its own.
    #[test]
    fn products_are_those_of_each_matrix() {
        let (m, groups) = (6, 3);
        let ends = run(2, &PublicParameters::new("matrices"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let (r, d) = (e.random_bytes(m * m * groups)?, e.random_bytes(m * groups)?);
            let product = e.by_matrices(&r, &d)?;
            let mut open = |x: &AuthByte<Gf48>| e.party.open(COIN, &x.x, &x.m);
            Ok([open(&r)?, open(&d)?, open(&product)?])
        });
        for end in ends {
            let [r, d, product] = end.unwrap();
            let sum = |i: usize| (0..m).map(|k| r[i * m + k] * d[i / m * m + k]).sum::<Gf8>();
            assert!(product.into_iter().eq((0..m * groups).map(sum)));
        }
    }

    /// A dealer whose products of bytes and in GF(2^6) are of zeros, so that what a product opens are its
    /// factors.
    pub struct Bare(pub Dealer<Gf48>);

    impl Source<Gf48> for Bare {
        fn bits(&mut self, party: &mut Party<Gf48>, count: usize) -> Result<Auth<Gf2, Gf48>, Abort> {
            self.0.bits(party, count)
        }

        fn known(
            &mut self,
            party: &mut Party<Gf48>,
            owner: PartyId,
            count: usize,
        ) -> Result<KnownBits<Gf48>, Abort> {
            self.0.known(party, owner, count)
        }

        fn units(&mut self, party: &mut Party<Gf48>, log: usize, lanes: usize) -> Result<Units<Gf48>, Abort> {
            self.0.units(party, log, lanes)
        }

        fn byte_triples(&mut self, _: &mut Party<Gf48>, count: usize) -> Result<Triples<Gf8, Gf48>, Abort> {
            Ok(Triples { a: Auth::zeros(count), b: Auth::zeros(count), c: Auth::zeros(count) })
        }

        fn six_triples(&mut self, _: &mut Party<Gf48>, count: usize) -> Result<Triples<Gf6, Gf48>, Abort> {
            Ok(Triples { a: Auth::zeros(count), b: Auth::zeros(count), c: Auth::zeros(count) })
        }

        fn bit_triples(
            &mut self,
            party: &mut Party<Gf48>,
            count: usize,
        ) -> Result<Triples<Gf2, Gf48>, Abort> {
            self.0.bit_triples(party, count)
        }
    }

    /// The secret matrix of each group of each call is its own: one that serves two groups would reveal how
    /// their images are related.
    #[test]
    fn each_group_has_a_secret_matrix_of_its_own() {
        let (m, groups, calls) = (6, 70, 2);
        let harness = Harness::new(2, &PublicParameters::new("matrices"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(Bare(dealer)), SpdzProtocol::Lookup)?;
            let x = e.random_bytes(3)?;
            (0..calls).try_for_each(|_| e.vanish(&vec![x.clone(); groups]).map(drop))
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let step = "divisi_spdz::multiply/multiply.element";
        let told = [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), step));
        // of each product the matrices, then the images
        assert_eq!(told[0].len(), 2 * calls);
        let mut rows = Vec::new();
        for (ours, theirs) in told[0].iter().zip(&told[1]).step_by(2) {
            let opened: Vec<u8> = ours.iter().zip(theirs).map(|(x, y)| x ^ y).collect();
            assert_eq!(opened.len(), m * m * groups);
            rows.extend(opened.chunks(m).map(<[u8]>::to_vec));
        }
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), m * groups * calls);
    }

    /// Each combination of each group has coefficients of its own.
    #[test]
    fn rows_of_a_matrix_differ() {
        let lanes = 20;
        let mut rows = vec![Vec::new(); 12];
        for lane in 0..lanes {
            let mut x = AuthByte::<Gf48>::zeros(lanes);
            x.x[lane] = Gf8::ONE;
            let mut prg = Prg::new(&[4; 16]);
            let coefficients = [combined(&x, &mut prg), combined(&x, &mut prg)];
            let all = coefficients.iter().flat_map(|of| of.x.iter());
            rows.iter_mut().zip(all).for_each(|(row, c)| row.push(c.0));
        }
        assert!(rows.iter().all(|row| row.len() == lanes && row.iter().any(|c| *c != row[0])));
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 12);
    }

    /// Two bytes of a long group, at a distance of a power of two, do not have the same coefficients: equal
    /// ones would vanish. None has zeros.
    #[test]
    fn columns_of_a_matrix_differ() {
        let lanes = (1 << 13) + 4;
        let column = |lane: usize| {
            let mut x = AuthByte::<Gf48>::zeros(lanes);
            x.x[lane] = Gf8::ONE;
            combined(&x, &mut Prg::new(&[4; 16])).x.iter().map(|c| c.0).collect::<Vec<u8>>()
        };
        let lanes = (0..=13).map(|k| 1 << k).flat_map(|distance| [distance, distance + 3]);
        let mut columns: Vec<Vec<u8>> = [0].into_iter().chain(lanes).map(column).collect();
        columns.push(vec![0; 6]);
        columns.sort_unstable();
        let count = columns.len();
        columns.dedup();
        // 1 + 3 is 4
        assert_eq!(columns.len(), count - 1);
    }
}
