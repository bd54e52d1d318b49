//! The proof that products are right: one random combination of all of them, masked.

use crate::check::combinations;
use crate::checks;
use crate::part::Mac;
use crate::party::Party;
use crate::share::Auth;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Step, step};
use zeroize::Zeroizing;

const COIN: Step = step!("proof.coin");
const SUM: Step = step!("proof.sum");

/// Shares of products and of their MACs, as elements, whatever part of the field they lie in.
#[derive(Default)]
pub(super) struct Products<F: Mac> {
    x: WipedVec<F>,
    m: WipedVec<F>,
}

impl<F: Mac> Products<F> {
    /// An empty list with room for `count` products.
    pub fn with_capacity(count: usize) -> Self {
        Products { x: WipedVec::with_capacity(count), m: WipedVec::with_capacity(count) }
    }

    /// Add products.
    pub fn extend(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.x.extend(x);
        self.m.extend_from_slice(m);
    }

    /// Open r + sum chi_j z_j, with the chi_j from a coin that follows all messages of the products, and let
    /// the next check verify its MAC \[K15\]. `r` must be random, known to nobody, and used for nothing else.
    ///
    /// Let e_ij be the error of product j where the honest bit b_i is one, and f_ij that of its MAC. The sum
    /// of the sigmas is the sum of all b_i c_i, plus a constant, with c_i = sum chi_j (f_ij + alpha e_ij).
    /// The session goes on if it is zero: for a fraction 2^-rank of all b, where rank is that of the c_i over
    /// GF(2). With errors in the products of m items' bits this is 2^-m + 1/|F| on average over chi. The
    /// session goes on with a wrong product with probability 1/|F|, plus that of the check of MACs
    /// (docs/spdz.md, 7).
    ///
    /// Cost: f bits, and the bits of a coin; 2 rounds.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn prove(self, party: &mut Party<F>, r: &Auth<F, F>) -> Result<(), Abort> {
        let coin = party.coins.toss(&mut party.session, COIN)?;
        let sums = Zeroizing::new(combinations(&coin, [&self.x, &self.m]));
        let mut masked = r.clone();
        masked.x.iter_mut().for_each(|x| *x += sums[0]);
        masked.m.iter_mut().for_each(|m| *m += sums[1]);
        party.session.observe_each(checks::K15, self.x.len() as u64); // [K15]
        party.open(SUM, &masked.x, &masked.m)?;
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
pub(super) mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::source::Products as _;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection, failed_check, party};
    use divisi_field::{Field, Gf48};

    fn harness() -> Harness {
        Harness::new(2, &PublicParameters::new("proofs of products"))
    }

    /// This many random elements in the place of products.
    fn made(
        party: &mut Party<Gf48>,
        dealer: &mut Dealer<Gf48>,
        count: usize,
    ) -> Result<Auth<Gf48, Gf48>, Abort> {
        Ok(dealer.element_triples(party, count)?.b.clone())
    }

    fn all(of: &Auth<Gf48, Gf48>) -> Products<Gf48> {
        let mut products = Products::with_capacity(of.len());
        products.extend(of.x.iter().copied(), &of.m);
        products
    }

    /// The sums that two parties open.
    fn opened(recordings: &[divisi_core::testing::Recording]) -> Vec<Vec<u8>> {
        let [ours, theirs] =
            [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), SUM.name));
        let sum = |(x, y): (&Vec<u8>, &Vec<u8>)| x.iter().zip(y).map(|(x, y)| x ^ y).collect();
        ours.iter().zip(&theirs).map(sum).collect()
    }

    /// The masks of two parties' proofs: what each opened, less the combination of its products, of which
    /// both parties' shares are given.
    pub fn masks(
        recordings: &[divisi_core::testing::Recording],
        products: [&[Vec<Gf48>]; 2],
    ) -> Vec<Vec<u8>> {
        let sums = products[0].iter().zip(products[1]);
        let sums = sums.map(|(x, y)| x.iter().zip(y).map(|(x, y)| *x + *y).collect::<Vec<_>>());
        let coins = crate::prep::coins::opened(recordings, COIN);
        let parts = coins.iter().zip(sums).map(|(coin, z)| combinations(coin, [&z, &z])[0]);
        let masks = opened(recordings)
            .into_iter()
            .zip(parts)
            .map(|(sum, part)| sum.iter().zip(part.to_le_bytes().as_ref()).map(|(x, y)| x ^ y).collect());
        masks.collect()
    }

    /// P_2 adds an error to its share of any one product, or the same error to its shares of two.
    #[test]
    fn a_lie_about_any_product_is_noticed() {
        let count = 1100;
        let proven = |lies: &[usize], d: u128| {
            harness().act(|session| {
                let (mut party, mut dealer) = Dealer::deal(session, 7)?;
                let mut z = made(&mut party, &mut dealer, count)?;
                let r = made(&mut party, &mut dealer, 1)?;
                if party.me().index() == 1 {
                    lies.iter().for_each(|at| z.x[*at] += Gf48::from_low_bits(d));
                }
                all(&z).prove(&mut party, &r)?;
                party.check()
            })
        };
        assert!(proven(&[], 0).iter().all(Result::is_ok));
        let single = [0, 1, 511, 512, 1099].map(|at| vec![at]);
        let pairs = [[0, 1], [0, 511], [511, 512], [5, 517], [0, 1099]].map(|two| two.to_vec());
        for lies in single.iter().chain(&pairs) {
            for d in [1, 1 << 47] {
                let ends = proven(lies, d);
                assert!(ends.iter().all(Result::is_err), "{lies:?} {d}");
                assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{lies:?} {d}");
            }
        }
    }

    /// If all products are zero, exactly the mask is opened.
    #[test]
    fn what_is_opened_is_masked() {
        let harness = harness();
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            let mut masks = Vec::new();
            for _ in 0..3 {
                let r = made(&mut party, &mut dealer, 1)?;
                all(&Auth::zeros(9)).prove(&mut party, &r)?;
                masks.push(r.x[0]);
            }
            party.check()?;
            Ok(masks)
        });
        let ends: Vec<Vec<Gf48>> = ends.into_iter().map(Result::unwrap).collect();
        let masks = ends[0].iter().zip(&ends[1]).map(|(x, y)| (*x + *y).to_le_bytes().as_ref().to_vec());
        assert!(opened(&recordings).into_iter().eq(masks));
    }

    /// The same products under the same mask give another combination every time, also in the next session: a
    /// party that chooses them cannot know the coefficients.
    #[test]
    fn coefficients_are_not_foreseen() {
        let mut sums = std::collections::BTreeSet::new();
        for _ in 0..2 {
            let harness = harness();
            let recordings = harness.recordings();
            let ends = harness.act(|session| {
                let (mut party, mut dealer) = Dealer::deal(session, 7)?;
                let (z, r) = (made(&mut party, &mut dealer, 5)?, made(&mut party, &mut dealer, 1)?);
                (0..3).try_for_each(|_| all(&z).prove(&mut party, &r))?;
                party.check()
            });
            assert!(ends.iter().all(Result::is_ok), "{ends:?}");
            sums.extend(opened(&recordings));
        }
        assert_eq!(sums.len(), 6);
    }

    /// The coefficients of a batch are those of its own coin.
    #[test]
    fn sums_are_those_of_the_coin() {
        let harness = harness();
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, mut dealer) = Dealer::deal(session, 7)?;
            let (z, r) = (made(&mut party, &mut dealer, 5)?, made(&mut party, &mut dealer, 1)?);
            (0..2).try_for_each(|_| all(&z).prove(&mut party, &r))?;
            party.check()?;
            Ok([z.x.to_vec(), r.x.to_vec()])
        });
        let ends: Vec<[Vec<Gf48>; 2]> = ends.into_iter().map(Result::unwrap).collect();
        let sum = |i: usize| ends[0][i].iter().zip(&ends[1][i]).map(|(x, y)| *x + *y).collect::<Vec<_>>();
        let (z, r) = (sum(0), sum(1)[0]);
        let coins = crate::prep::coins::opened(&recordings, COIN);
        assert_eq!(coins.len(), 2);
        let sums = coins.iter().map(|coin| combinations(coin, [&z, &z])[0] + r);
        assert!(opened(&recordings).into_iter().eq(sums.map(|sum| sum.to_le_bytes().as_ref().to_vec())));
    }
}
