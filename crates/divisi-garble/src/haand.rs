//! Half-authenticated products: Pi_HaAND of Fig. 16, in the paper's form of LaAND only.
//!
//! Every P_i has y^i, every P_j the bit x^j that P_i holds a key for: they end with shares of x^j y^i. Its hash is another one than that
//! of LaAND's step 5 \[W12\]: with one hash for both, as printed, the lowest bit of U and the two bits of step 2 add up to y.

use crate::bits;
use crate::ground::Ground;
use crate::hash::Call;
use crate::table::Form;
use divisi_core::{Abort, Check, PartyId, Prg, Session, Step, step};
use divisi_ot::Kept;
use zeroize::Zeroizing;

const H: Step = step!("2.h");

/// Our shares of the cross products, as they come together: nothing in the improved form.
pub(crate) struct Cross {
    /// The s of step 2(a), and v.
    state: Option<(Prg, Zeroizing<Vec<u8>>)>,
}

impl Cross {
    pub fn new(session: &Session, form: Form, m: usize) -> Cross {
        let state = (form == Form::Paper).then(|| {
            let mut seed = Zeroizing::new([0; 16]);
            session.entropy(seed.as_mut_slice());
            (Prg::new(&seed), Zeroizing::new(vec![0; m]))
        });
        Cross { state }
    }

    /// Step 2(a) towards the peer at a place, of whose x we hold the keys: H_0 and H_1.
    pub fn send(
        &mut self,
        session: &mut Session,
        ground: &Ground<'_>,
        peer: PartyId,
        keys: &[u128],
        y: &[u8],
        delta: u128,
    ) -> Result<(), Abort> {
        let Some((prg, v)) = &mut self.state else { return Ok(()) };
        let name = ground.name(call(session), session.me(), peer);
        session.observe(Check::W12); // [W12]
        let inputs: Zeroizing<Vec<u128>> =
            Zeroizing::new(keys.iter().flat_map(|key| [*key, key ^ delta]).collect());
        let mut hashes = Zeroizing::new(Vec::with_capacity(inputs.len()));
        ground.oracle.expand(&inputs, 1, name, |i| (i / 2, 0), &mut hashes);
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

    /// Step 2(b): t from the one that x chooses.
    pub fn recv(
        &mut self,
        session: &mut Session,
        ground: &Ground<'_>,
        peer: PartyId,
        macs: &[u128],
        x: &[u8],
    ) -> Result<(), Abort> {
        let Some((_, v)) = &mut self.state else { return Ok(()) };
        let name = ground.name(call(session), peer, session.me());
        let mut hashes = Zeroizing::new(Vec::with_capacity(macs.len()));
        ground.oracle.expand(macs, 1, name, |i| (i, 0), &mut hashes);
        let mut body = vec![0; bits::packed(2 * x.len())];
        session.recv(H, peer, &mut body)?;
        session.require(Check::W13, H, bits::padding_is_zero(&body, 2 * x.len()), Some(peer))?; // padding
        for (t, hash) in hashes.iter().enumerate() {
            let (zero, one) = (bits::bit(&body, 2 * t), bits::bit(&body, 2 * t + 1));
            v[t] ^= zero ^ x[t] & (zero ^ one) ^ (hash & 1) as u8;
        }
        Ok(())
    }

    /// Step 3 of LaAND: z^i = x^i y^i + v^i.
    pub fn shares(&self, x: &[u8], y: &[u8]) -> Kept<u8> {
        let v = self.state.iter().flat_map(|(_, v)| v.iter());
        x.iter().zip(y).zip(v).map(|((x, y), v)| x & y ^ v).collect()
    }
}

/// The step in the hash's tweak \[W12\]: the mutant's is that of LaAND's step 5, as the paper prints it.
fn call(session: &Session) -> Call {
    if session.mutated(Check::W12) { Call::LaAnd } else { Call::HaAnd }
}
