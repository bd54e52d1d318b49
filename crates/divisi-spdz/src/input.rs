//! Inputs of a party, and outputs to one: by random values that it alone knows.

use crate::engine::Spdz;
use crate::part::Mac;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::{Abort, Check, Echo, PartyId, Step, Verified, step, taint};
use divisi_field::{Field, Gf2, Gf8, Holds};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");
const ECHO: Step = step!("input.echo");
const OUTPUT: Step = step!("output.to");

/// Random bytes that one party alone knows, and with which it gives one input.
pub struct InputMask<F: Mac> {
    owner: PartyId,
    values: Option<Zeroizing<Vec<u8>>>,
    shares: Auth<Gf8, F>,
}

impl<F: Mac> InputMask<F> {
    /// Its shares.
    #[must_use]
    pub fn shares(&self) -> &Auth<Gf8, F> {
        &self.shares
    }
}

impl<F: Mac + Holds<Gf8>> Spdz<F> {
    /// **Input** (KOR+17, Fig. 1): bytes of `owner`, which alone gives them, become shared: one byte with so many lanes.
    ///
    /// The owner broadcasts d = x + r, r random bytes that it alone knows, and \[\[x\]\] = \[\[r\]\] + d; what it told is compared among
    /// three or more parties before anything depends on it \[M0.3\].
    /// Adversary: n - 1 malicious. Cost: 8 bits a byte from the owner to each, one round, among three or more two.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the owner has not as many bytes as lanes; whatever ends the session.
    pub fn input(
        &mut self,
        owner: PartyId,
        values: Option<&[u8]>,
        lanes: usize,
    ) -> Result<Auth<Gf8, F>, Abort> {
        let mask = self.input_mask(owner, lanes)?;
        let d: Vec<Gf8> = self.masked_input(&mask, values)?.into_iter().map(Gf8).collect();
        let InputMask { mut shares, .. } = mask;
        self.parts().0.add_public(&mut shares, &d)?;
        Ok(shares)
    }

    /// A mask for an input of `owner`.
    ///
    /// # Errors
    /// Whatever ends the session.
    pub fn input_mask(&mut self, owner: PartyId, lanes: usize) -> Result<InputMask<F>, Abort> {
        let (party, source) = self.parts();
        let known = source.known(party, owner, 8 * lanes)?;
        let values = known.values.map(|r| known_bytes(&r, lanes));
        Ok(InputMask { owner, values, shares: bytes(&known.shares, lanes) })
    }

    /// The owner broadcasts d = x + r; what all hold of it is the same.
    ///
    /// # Errors
    /// As [`Spdz::input`].
    pub fn masked_input(&mut self, mask: &InputMask<F>, values: Option<&[u8]>) -> Result<Vec<u8>, Abort> {
        let session = self.session();
        let lanes = mask.shares.len();
        let mut d = vec![0; lanes];
        if let Some(r) = &mask.values {
            let values = values.filter(|values| values.len() == lanes);
            let values = values.ok_or_else(|| session.misuse(INPUT, "as many bytes as lanes"))?;
            d.iter_mut().zip(values).zip(r.iter()).for_each(|((d, x), r)| *d = x ^ r);
            for peer in session.peers() {
                session.send(INPUT, peer, &d, 8 * lanes as u64)?;
            }
        } else {
            session.recv(INPUT, mask.owner, &mut d)?;
        }
        taint::public(INPUT, &mut d);
        if lanes > 0 {
            let mut echo = Echo::new(session, ECHO);
            echo.absorb(mask.owner, &d);
            echo.send(session)?.compare(session, Check::M0_3)?; // [M0.3]
        }
        Ok(d)
    }

    /// **Output** to one party: y + r is opened to all, r random bytes that the receiver alone knows, and checked by all, so
    /// that the receiver checks it too \[K24\].
    ///
    /// Adversary: n - 1 malicious. Cost: 8 bits a byte to each peer, one round, and a check.
    ///
    /// # Errors
    /// Whatever ends the session.
    pub fn output_to(
        &mut self,
        receiver: PartyId,
        value: Verified<Auth<Gf8, F>>,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, Abort> {
        let (party, source) = self.parts();
        let mut y = value.into_inner();
        let known = source.known(party, receiver, 8 * y.len())?;
        let fits = y.add(&bytes(&known.shares, y.len()));
        debug_assert!(fits);
        let opened = party.open(OUTPUT, &y.x, &y.m)?;
        party.session.observe(Check::K24); // [K24]
        if !party.session.mutated(Check::K24) {
            party.check()?;
        }
        Ok(known.values.map(|r| {
            let mut values = known_bytes(&r, opened.len());
            values.iter_mut().zip(&opened).for_each(|(value, y)| *value ^= y.0);
            values
        }))
    }
}

/// Bytes of bits that lie plane by plane.
fn known_bytes(bits: &[Gf2], lanes: usize) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; lanes]);
    for (k, plane) in bits.chunks(lanes.max(1)).enumerate() {
        out.iter_mut().zip(plane).for_each(|(byte, bit)| *byte |= (bit.to_bits() as u8) << k);
    }
    out
}
