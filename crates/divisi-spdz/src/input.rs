//! Inputs of a party, and outputs to one: by random values that it alone knows.

use crate::engine::Spdz;
use crate::part::Mac;
use crate::share::Auth;
use crate::table::bytes;
use divisi_core::{Abort, Check, Echo, PartyId, Step, Verified, step};
use divisi_field::{Field, Gf2, Gf8, Holds};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");
const ECHO: Step = step!("input.echo");
const OUTPUT: Step = step!("output.to");

impl<F: Mac + Holds<Gf8>> Spdz<F> {
    /// **Input** (KOR+17, Fig. 1): bytes of `owner`, which alone gives them, become shared: one byte with so many lanes.
    ///
    /// The owner broadcasts d = x + r, r random bytes that it alone knows, and [[x]] = [[r]] + d; what it told is compared among
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
        let (party, source) = self.parts();
        let known = source.known(party, owner, 8 * lanes)?;
        let session = &mut party.session;
        let mut d = vec![0; lanes];
        if let Some(r) = known.values {
            let values = values.filter(|values| values.len() == lanes);
            let values = values.ok_or_else(|| session.misuse(INPUT, "as many bytes as lanes"))?;
            d.copy_from_slice(values);
            d.iter_mut().zip(known_bytes(&r, lanes).iter()).for_each(|(d, r)| *d ^= r);
            for peer in session.peers() {
                session.send(INPUT, peer, &d, 8 * lanes as u64)?;
            }
        } else {
            session.recv(INPUT, owner, &mut d)?;
        }
        if lanes > 0 {
            let mut echo = Echo::new(session, ECHO);
            echo.absorb(owner, &d);
            echo.send(session)?.compare(session, Check::M0_3)?; // [M0.3]
        }
        let mut x = bytes(&known.shares, lanes);
        let d: Vec<Gf8> = d.into_iter().map(Gf8).collect();
        party.add_public(&mut x, &d)?;
        Ok(x)
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
        party.check()?;
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
