//! Zero tests: whether secrets are zero, with one verified bit as output and nothing else \[S7\].
//!
//! Adversary: one malicious party. For each group of blocks `x_1 .. x_k` fresh random blocks `r_1 .. r_k`
//! that nobody knows are drawn, the inner product `w = sum x_i r_i` is made and verified, and then `w` alone
//! is opened. If all `x_i` are zero `w` is zero; else it is uniform, whatever they are, and zero with
//! probability 2^-128. A lie that would turn one answer into the other is a wrong product: the verification,
//! which comes before the opening, ends the session and neither answer is given.

use crate::Rep3;
use crate::checks;
use crate::share::{Block, Byte};
use divisi_core::{Abort, Blocks, Convert, Lanes, Misuse, Settles, Step, step};

const ZERO: Step = step!("zero");

impl Rep3 {
    /// For each group of blocks, whether all its lanes are zero; a group has at least one lane. Settles all
    /// products owed so far.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for an empty group.
    pub fn are_zero(&mut self, groups: &[Block]) -> Result<Vec<bool>, Abort> {
        if groups.iter().any(|group| group.lanes() == 0) {
            return Err(self.trio().session().misuse(ZERO, Misuse::Empty));
        }
        let random: Vec<Block> = groups.iter().map(|group| self.random_blocks(group.lanes())).collect();
        let pairs: Vec<_> = groups.iter().zip(&random).collect();
        let masked = self.dot(&pairs)?;
        let bytes: [Byte; 16] = self.convert(masked)?;
        let verified = self.settled(bytes.to_vec())?;
        self.trio().session().observe_each(checks::S7, groups.len() as u64); // [S7]
        let opened = self.trio().open(&verified)?;
        let any = |l: usize| opened.iter().filter_map(|column| column.get(l)).fold(0, |any, byte| any | byte);
        Ok((0..groups.len()).map(|l| any(l) == 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protocol, Security, Trio};
    use divisi_core::draws::KnownDraws;
    use divisi_core::{Bytes, PublicParameters, local};
    use divisi_field::{Field, Gf128};

    const BITS: usize = 128;

    /// Run at each party of a session whose draws are the same each time.
    fn known<R: Send>(f: impl Fn(&mut Rep3) -> Result<R, Abort> + Sync) -> Vec<R> {
        let draws = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
        let parameters = PublicParameters::new("zero").drawing(draws);
        let party = |session| f(&mut Rep3::new(Trio::new(session)?, Protocol::Lut256, Security::Malicious));
        local::run(3, &parameters, party).unwrap()
    }

    /// Every bit of the opened block counts: blocks are chosen, by known r, whose products have one bit each.
    #[test]
    fn a_block_is_zero_in_all_its_bits() {
        let drawn = known(|e| Ok((0..BITS).map(|_| e.random_blocks(1).rep.a[0]).collect::<Vec<_>>()));
        let products = (0..BITS).map(|bit| {
            let r = drawn.iter().fold(Gf128::ZERO, |sum, of_party| sum + of_party[bit]);
            Gf128(1 << bit) * r.inverse()
        });
        let blocks: Vec<[u8; 16]> = products.map(Gf128::to_ghash).collect();
        let answers = known(|e| {
            let mut group = |block: &[u8; 16]| {
                let bytes = block.map(|byte| e.public(&[byte]));
                e.convert(bytes)
            };
            let groups: Vec<Block> = blocks.iter().map(&mut group).collect::<Result<_, _>>()?;
            e.are_zero(&groups)
        });
        assert_eq!(answers, vec![vec![false; BITS]; 3]);
    }
}
