//! Half-authenticated products: Pi_HaAND of Fig. 16, in the paper's form of LaAND only.
//!
//! Every P_i has y^i, and every P_j has the bit x^j, for which P_i holds a key. They end with additive shares
//! of x^j y^i. Its hash calls differ from those of LaAND's step 5 in the tweak \[W12\]. The paper uses one
//! hash for both; then the lowest bit of U and the two bits of step 2 would add up to y^i plus the lowest bit
//! of Phi_i.

use crate::bits;
use crate::checks;
use crate::context::TripleContext;
use crate::hash::Call;
use crate::purposes;
use crate::table::GarblingForm;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PartyId, Prg, Session, Step, step};
use zeroize::Zeroizing;

const H: Step = step!("2.h");

/// Our shares of the cross products, while they are collected. Empty in the improved form.
pub(crate) struct Cross {
    /// The generator of the bits s of step 2(a), and the sum v.
    state: Option<(Prg, Zeroizing<Vec<u8>>)>,
}

impl Cross {
    pub fn new(session: &Session, form: GarblingForm, m: usize) -> Cross {
        let state = (form == GarblingForm::Paper).then(|| {
            let mut seed = Zeroizing::new([0; 16]);
            session.entropy(purposes::HAAND_SEED, seed.as_mut_slice());
            (Prg::of(purposes::HAAND, &seed), Zeroizing::new(vec![0; m]))
        });
        Cross { state }
    }

    /// Step 2(a) towards the peer at `place`, for whose x we hold the keys: sends H_0 and H_1.
    pub fn send(
        &mut self,
        session: &mut Session,
        context: &TripleContext<'_>,
        peer: PartyId,
        keys: &[u128],
        y: &[u8],
        delta: u128,
    ) -> Result<(), Abort> {
        let Some((prg, v)) = &mut self.state else { return Ok(()) };
        let name = context.name(Call::HaAnd, session.me(), peer);
        session.observe(checks::W12); // [W12]
        let inputs: Zeroizing<Vec<u128>> =
            Zeroizing::new(keys.iter().flat_map(|key| [*key, key ^ delta]).collect());
        let mut hashes = Zeroizing::new(Vec::with_capacity(inputs.len()));
        hashes.resize(inputs.len(), 0);
        context.oracle.named(session, name, 1).expand(&inputs, 1, |i| (i / 2, 0), &mut hashes);
        let mut s = Zeroizing::new(vec![0; keys.len()]);
        prg.fill(&mut s);
        let hashes = hashes.as_chunks::<2>().0;
        let mut pairs = Vec::with_capacity(2 * keys.len());
        for (t, hash) in hashes.iter().enumerate() {
            let s = s[t] & 1;
            v[t] ^= s;
            pairs.push((hash[0] & 1) as u8 ^ s);
            pairs.push((hash[1] & 1) as u8 ^ s ^ y[t]);
        }
        let mut body = Vec::new();
        bits::pack(&pairs, &mut body);
        session.send(H, peer, &body, pairs.len() as u64)
    }

    /// Step 2(b): t, from the hash that x selects.
    pub fn recv(
        &mut self,
        session: &mut Session,
        context: &TripleContext<'_>,
        peer: PartyId,
        macs: &[u128],
        x: &[u8],
    ) -> Result<(), Abort> {
        let Some((_, v)) = &mut self.state else { return Ok(()) };
        let name = context.name(Call::HaAnd, peer, session.me());
        let mut hashes = Zeroizing::new(Vec::with_capacity(macs.len()));
        hashes.resize(macs.len(), 0);
        context.oracle.named(session, name, 1).expand(macs, 1, |i| (i, 0), &mut hashes);
        let mut body = vec![0; bits::packed(2 * x.len())];
        session.recv(H, peer, &mut body)?;
        session.well_formed(H, peer, body.len(), bits::padding_is_zero(&body, 2 * x.len()))?;
        for (t, hash) in hashes.iter().enumerate() {
            let (zero, one) = (bits::bit(&body, 2 * t), bits::bit(&body, 2 * t + 1));
            v[t] ^= zero ^ x[t] & (zero ^ one) ^ (hash & 1) as u8;
        }
        Ok(())
    }

    /// Step 3 of LaAND: z^i = x^i y^i + v^i.
    pub fn shares(&self, x: &[u8], y: &[u8]) -> WipedVec<u8> {
        let v = self.state.iter().flat_map(|(_, v)| v.iter());
        x.iter().zip(y).zip(v).map(|((x, y), v)| x & y ^ v).collect()
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::hash::Oracle;
    use crate::lab::GarbleLab;
    use crate::share::{Seats, Shares};
    use divisi_core::testing::run;
    use std::collections::HashSet;

    /// The shares add up to the products, and what a party receives from another one alone is independent of
    /// that one's y, wherever its x is one: in all triples together, and in any 48 that follow each other. So
    /// is what it receives of what somebody else does, wherever both have the same x. The bits s, which hide
    /// it, have no period.
    #[test]
    fn a_share_of_a_product_tells_nothing_of_the_other_factor() {
        const M: usize = 5000;
        /// So many random bits are all equal once in 2^47.
        const LONGEST: usize = 48;
        for n in [2, 3, 4] {
            let lab = GarbleLab::default();
            let ends = run(n, &lab.parameters(), |mut session| {
                let session = &mut session;
                let mut setup = divisi_ot::testing::deal(session, lab.config, lab.seed)?;
                let bits = Shares::of(session.me(), setup.authenticated_bits(session, 2 * M)?);
                let (seats, oracle) = (Seats { me: session.me().index(), n }, Oracle::new(session));
                let fresh = Shares::zero(n - 1, 0);
                let context =
                    TripleContext { seats, oracle: &oracle, form: GarblingForm::Paper, first: 3, fresh };
                let (x, y) = (bits.view(0..M), bits.view(M..2 * M));
                let mut cross = Cross::new(session, GarblingForm::Paper, M);
                let delta = setup.delta().get();
                for (place, peer) in session.peers().into_iter().enumerate() {
                    cross.send(session, &context, peer, x.keys[place], y.bits, delta)?;
                }
                // what each party's messages add to our share
                let mut told = vec![Vec::new(); n];
                for (place, peer) in session.peers().into_iter().enumerate() {
                    let before = cross.shares(x.bits, y.bits);
                    cross.recv(session, &context, peer, x.macs[place], x.bits)?;
                    let after = cross.shares(x.bits, y.bits);
                    told[peer.index()] = before.iter().zip(after.iter()).map(|(a, b)| a ^ b).collect();
                }
                Ok((x.bits.to_vec(), y.bits.to_vec(), cross.shares(x.bits, y.bits).to_vec(), told))
            });
            let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
            for t in 0..M {
                let [x, y, z] =
                    ends.iter().fold([0; 3], |[x, y, z], end| [x ^ end.0[t], y ^ end.1[t], z ^ end.2[t]]);
                assert_eq!(z, x & y, "{n} {t}");
            }
            let random = |agree: Vec<bool>, case: &str| {
                let (len, often) = (agree.len() as f64, agree.iter().filter(|same| **same).count());
                // eight standard deviations
                let off = (often as f64 - len / 2.0).abs();
                assert!(off < 4.0 * len.sqrt(), "{n}: {case}: {often} of {len}");
                let longest = agree.chunk_by(|one, next| one == next).map(<[_]>::len).max();
                assert!(longest < Some(LONGEST), "{n}: {case}: {longest:?} in a row");
            };
            for (i, (x, _, _, told)) in ends.iter().enumerate() {
                for (j, (_, theirs, ..)) in ends.iter().enumerate().filter(|(j, _)| *j != i) {
                    let s: Vec<u8> = (0..M).map(|t| told[j][t] ^ x[t] & theirs[t]).collect();
                    let mut seen = HashSet::new();
                    assert!(s.windows(LONGEST + 16).all(|bits| seen.insert(bits)), "{n}: {i} of {j}");
                    let of = (0..M).filter(|t| x[*t] == 1);
                    random(of.map(|t| told[j][t] == theirs[t]).collect(), &format!("{i} of {j}"));
                    for (k, (more, _, _, also)) in ends.iter().enumerate().take(i).filter(|(k, _)| *k != j) {
                        let of = (0..M).filter(|t| x[*t] == more[*t]);
                        random(
                            of.map(|t| told[j][t] == also[j][t]).collect(),
                            &format!("{i} and {k} of {j}"),
                        );
                    }
                }
            }
        }
    }
}
