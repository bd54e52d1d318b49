//! How values leave: openings to all, each checked, and comparisons of which nothing but the answer leaves.

use super::{Bit, Byte, Openings, Spdz};
use crate::multiply::mask;
use crate::part::Mac;
use crate::share::Auth;
use divisi_core::{Abort, Compares, Opens, Pending, Prg, Settles, Step, Verified, step};
use divisi_field::{Field, Gf2, Gf8, Holds};

const COIN: Step = step!("zero.1.coin");
const SHAPE: Step = step!("zero");

impl<F: Mac + Holds<Gf8>> Settles for Spdz<F> {
    type Debt = Openings<F>;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Openings<F>>, Abort> {
        Ok(self.close(out))
    }
}

impl<F: Mac + Holds<Gf8>> Opens<Vec<Byte<F>>> for Spdz<F> {
    type Public = Vec<Vec<u8>>;

    /// All values in one round, and one check.
    fn open(&mut self, x: Verified<Vec<Byte<F>>>) -> Result<Vec<Vec<u8>>, Abort> {
        let mut all = Byte::default();
        x.get().iter().for_each(|byte| all.append(byte));
        let mut rest = self.opened(&all)?.into_iter().map(|x| x.0);
        Ok(x.get().iter().map(|byte| rest.by_ref().take(byte.len()).collect()).collect())
    }
}

impl<F: Mac + Holds<Gf8>> Opens<Vec<Bit<F>>> for Spdz<F> {
    type Public = Vec<Vec<bool>>;

    fn open(&mut self, x: Verified<Vec<Bit<F>>>) -> Result<Vec<Vec<bool>>, Abort> {
        let mut all = Bit::default();
        x.get().iter().for_each(|bit| all.append(bit));
        let mut rest = self.opened(&all)?.into_iter().map(|bit| bit.to_bits() == 1);
        Ok(x.get().iter().map(|bit| rest.by_ref().take(bit.len()).collect()).collect())
    }
}

impl<F: Mac + Holds<Gf8>> Compares<Byte<F>> for Spdz<F> {
    /// For each group of bytes x_j whether all are zero. (The paper has no such protocol; a random combination, and a random
    /// multiple of it.)
    ///
    /// 1. A coin, tossed when all x_j are fixed, gives chi_j of F, and D = sum chi_j x_j, local. 2. r = sum r_k y^k of random
    ///    bits that nobody knows; r D is the sum of the products r_k (y^k D). 3. All that was opened is checked, then r D is
    ///    opened, and checked.
    ///
    /// If all x_j are zero so is r D. Else D is zero with probability 1/|F|, and where it is not r D is uniform: it tells
    /// nothing else, and is zero with probability 1/|F|. Adversary: n - 1 malicious; a wrong answer fails a check.
    /// Cost: a product of a bit and an element for each bit of F, two rounds, two checks.
    fn vanish(&mut self, x: &[Byte<F>]) -> Result<Vec<bool>, Abort> {
        if x.iter().any(Auth::is_empty) {
            return Err(self.party.session.misuse(SHAPE, "a group of nothing is no secret"));
        }
        // 1.
        let party = &mut self.party;
        let mut prg = Prg::new(&party.coins.toss(&mut party.session, COIN)?);
        let mut d = Auth::<F, F>::with_room(x.len());
        for group in x {
            let mut chi = vec![F::ZERO; group.len()];
            F::add_random(&mut prg, &mut chi);
            let (mut sum, mut macs) = (F::ZERO, F::ZERO);
            for (chi, (x, m)) in chi.iter().zip(group.x.iter().zip(&group.m)) {
                // our share of the byte, bit by bit where the bits lie in the field
                for (k, power) in <F as Holds<Gf8>>::powers().iter().enumerate() {
                    let mut term = [*power * *chi];
                    mask(&mut term, &[Gf2::new(x.0 >> k)]);
                    sum += term[0];
                }
                macs += *m * *chi;
            }
            d.append(&Auth::new(vec![sum], vec![macs]));
        }
        // 2.
        let (bits, groups) = (<F as Field>::BITS as usize, x.len());
        let r = self.source.bits(party, bits * groups)?;
        let mut shifted = Auth::<F, F>::with_room(bits * groups);
        for k in 0..bits {
            let mut term = d.clone();
            let power = F::from_low_bits(1 << k);
            F::scale(&mut term.x, power);
            F::scale(&mut term.m, power);
            shifted.append(&term);
        }
        let triples = self.source.bit_triples(party, bits * groups)?;
        let terms = party.multiply_bits(&r, &shifted, triples)?;
        let mut product = Auth::<F, F>::zeros(groups);
        for k in 0..bits {
            let fits = product.add(&terms.part(k * groups..(k + 1) * groups));
            debug_assert!(fits);
        }
        // 3.
        let verified = self.settled(product)?;
        Ok(self.output(verified)?.into_iter().map(|opened| opened == F::ZERO).collect())
    }
}
