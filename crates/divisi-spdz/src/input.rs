//! Inputs of a party, and outputs to one party, by random values that it alone knows.

use crate::checks;
use crate::engine::Spdz;
use crate::part::{Host, Mac, Shareable};
use crate::share::Auth;
use crate::source::KnownBits;
use crate::table::bytes;
use divisi_core::{Abort, Echo, Misuse, PartyId, Step, Verified, step, taint};
use divisi_field::{Field, Gf2, Gf8};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");
const ECHO: Step = step!("input.echo");
const OUTPUT: Step = step!("output.to");

/// Random bytes that one party alone knows, as the mask of one input; two inputs under one mask would reveal
/// their sum. A circuit computes with its [shares](InputMask::shares).
///
/// ```compile_fail,E0382
/// use divisi_core::Abort;
/// use divisi_field::Gf48;
/// use divisi_spdz::{InputMask, Spdz};
///
/// fn twice(engine: &mut Spdz<Gf48>, mask: InputMask<Gf48>) -> Result<(), Abort> {
///     engine.masked_input(mask, Some(&[1]))?;
///     engine.masked_input(mask, Some(&[2])).map(drop)
/// }
/// ```
pub struct InputMask<F: Mac> {
    owner: PartyId,
    values: Option<Zeroizing<Vec<u8>>>,
    shares: Auth<Gf8, F>,
}

/// Random bits that one party alone knows, as the mask of one input of bits.
///
/// ```compile_fail,E0382
/// use divisi_core::Abort;
/// use divisi_field::Gf48;
/// use divisi_spdz::{BitMask, Spdz};
///
/// fn twice(engine: &mut Spdz<Gf48>, mask: BitMask<Gf48>) -> Result<(), Abort> {
///     engine.masked_bits(mask, Some(&[true]))?;
///     engine.masked_bits(mask, Some(&[false])).map(drop)
/// }
/// ```
pub struct BitMask<F: Mac> {
    owner: PartyId,
    values: Option<Zeroizing<Vec<Gf2>>>,
    shares: Auth<Gf2, F>,
}

impl<F: Mac> BitMask<F> {
    /// The shares of the mask.
    #[must_use]
    pub fn shares(&self) -> &Auth<Gf2, F> {
        &self.shares
    }
}

impl<F: Mac> InputMask<F> {
    /// The shares of the mask.
    #[must_use]
    pub fn shares(&self) -> &Auth<Gf8, F> {
        &self.shares
    }
}

impl<F: Host> Spdz<F> {
    /// **Input** (KOR+17, Fig. 1): the shares of `lanes` bytes, which `owner` alone gives.
    ///
    /// The owner broadcasts d = x + r, r random bytes that it alone knows, and \[\[x\]\] = \[\[r\]\] + d;
    /// three or more parties compare d before anything depends on it \[M0.3\].
    /// Adversary: n - 1 malicious. Cost: 8 bits a byte from the owner to each peer; one round, among three or
    /// more parties two.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless the owner gives one byte for each lane; otherwise the abort that ends the
    /// session.
    #[inline(never)]
    pub fn input(
        &mut self,
        owner: PartyId,
        values: Option<&[u8]>,
        lanes: usize,
    ) -> Result<Auth<Gf8, F>, Abort> {
        let mask = self.input_mask(owner, lanes)?;
        let mut shares = mask.shares.clone();
        let d: Vec<Gf8> = self.masked_input(mask, values)?.into_iter().map(Gf8).collect();
        self.parts().0.add_public(&mut shares, &d)?;
        Ok(shares)
    }

    /// A mask for an input of `owner`.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn input_mask(&mut self, owner: PartyId, lanes: usize) -> Result<InputMask<F>, Abort> {
        let known = self.known(owner, 8 * lanes)?;
        let values = known.values.map(|r| known_bytes(&r, lanes));
        Ok(InputMask { owner, values, shares: bytes(&known.shares, lanes) })
    }

    /// The owner broadcasts d = x + r; the parties compare d, which is returned. Consumes the mask.
    ///
    /// # Errors
    /// Those of [`Spdz::input`].
    #[inline(never)]
    pub fn masked_input(&mut self, mask: InputMask<F>, values: Option<&[u8]>) -> Result<Vec<u8>, Abort> {
        let sum = self.sum(mask.values.as_ref().map(|r| &r[..]), values, |x, r| Gf8(x ^ r))?;
        let d = self.broadcast(mask.owner, sum, mask.shares.len())?;
        Ok(d.into_iter().map(|d| d.0).collect())
    }

    /// **Input** of bits: the shares of `lanes` bits, which `owner` alone gives, as by [`Spdz::input`].
    ///
    /// # Errors
    /// Those of [`Spdz::input`].
    #[inline(never)]
    pub fn input_bits(
        &mut self,
        owner: PartyId,
        values: Option<&[bool]>,
        lanes: usize,
    ) -> Result<Auth<Gf2, F>, Abort> {
        let mask = self.bit_mask(owner, lanes)?;
        let mut shares = mask.shares.clone();
        let d = self.masked_bits(mask, values)?;
        self.parts().0.add_public(&mut shares, &d)?;
        Ok(shares)
    }

    /// A mask for an input of bits of `owner`.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn bit_mask(&mut self, owner: PartyId, lanes: usize) -> Result<BitMask<F>, Abort> {
        let KnownBits { values, shares } = self.known(owner, lanes)?;
        Ok(BitMask { owner, values, shares })
    }

    /// The owner broadcasts the sum of its bits and their mask, as in [`Spdz::masked_input`].
    ///
    /// # Errors
    /// Those of [`Spdz::input`].
    #[inline(never)]
    pub fn masked_bits(&mut self, mask: BitMask<F>, values: Option<&[bool]>) -> Result<Vec<Gf2>, Abort> {
        let sum = self.sum(mask.values.as_ref().map(|r| &r[..]), values, |x, r| Gf2::new(u8::from(x)) + r)?;
        self.broadcast(mask.owner, sum, mask.shares.len())
    }

    /// The owner's values under their mask, which it broadcasts; `None` at the other parties, which have no
    /// mask.
    fn sum<X: Copy, R: Copy, V>(
        &mut self,
        mask: Option<&[R]>,
        values: Option<&[X]>,
        add: impl Fn(X, R) -> V,
    ) -> Result<Option<Vec<V>>, Abort> {
        let Some(mask) = mask else { return Ok(None) };
        let values = values.unwrap_or(&[]);
        if values.len() != mask.len() {
            return Err(self.session().misuse(INPUT, Misuse::CountsDiffer));
        }
        Ok(Some(values.iter().zip(mask).map(|(x, r)| add(*x, *r)).collect()))
    }

    /// The owner, who has the values, sends them masked to all; the parties compare what they received
    /// \[M0.3\].
    fn broadcast<V: Shareable>(
        &mut self,
        owner: PartyId,
        mine: Option<Vec<V>>,
        lanes: usize,
    ) -> Result<Vec<V>, Abort> {
        let session = self.session();
        let mut body = Vec::with_capacity(V::packed(lanes));
        let mut d = vec![V::default(); lanes];
        if let Some(mine) = mine {
            V::pack(&mine, &mut body);
            for peer in session.peers() {
                session.send(INPUT, peer, &body, (V::BITS * lanes) as u64)?;
            }
        } else {
            body.resize(V::packed(lanes), 0);
            session.recv(INPUT, owner, &mut body)?;
        }
        let fine = V::add_packed(&body, &mut d);
        session.require(checks::K8, INPUT, fine, Some(owner))?; // [K8]
        taint::public(INPUT, &mut d);
        if lanes > 0 {
            let mut echo = Echo::new(session, ECHO);
            echo.absorb(owner, &body);
            echo.send(session)?.compare(session, checks::M0_3)?; // [M0.3]
        }
        Ok(d)
    }

    /// **Output** to one party: y + r is opened to all parties and checked by all, where r consists of random
    /// bytes that the receiver alone knows. So the receiver checks it too \[K24\]. Returns y at the receiver,
    /// `None` at the other parties.
    ///
    /// Adversary: n - 1 malicious. Cost: 8 bits a byte to each peer, one round, and a check.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn output_to(
        &mut self,
        receiver: PartyId,
        value: Verified<Auth<Gf8, F>>,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, Abort> {
        let mut y = value.into_inner();
        let known = self.known(receiver, 8 * y.len())?;
        let (party, _) = self.parts();
        let mask = bytes(&known.shares, y.len());
        party.mask(&mut y, &mask)?;
        let opened = party.open(OUTPUT, &y.x, &y.m)?;
        party.session.observe(checks::K24); // [K24]
        party.check_here()?;
        Ok(known.values.map(|r| {
            let mut values = known_bytes(&r, opened.len());
            values.iter_mut().zip(&opened).for_each(|(value, y)| *value ^= y.0);
            values
        }))
    }
}

impl<F: Host> Spdz<F> {
    /// **Output** of bits to one party, as by [`Spdz::output_to`].
    ///
    /// # Errors
    /// The abort that ends the session.
    #[inline(never)]
    pub fn output_bits_to(
        &mut self,
        receiver: PartyId,
        value: Verified<Auth<Gf2, F>>,
    ) -> Result<Option<Zeroizing<Vec<bool>>>, Abort> {
        let mut y = value.into_inner();
        let known = self.known(receiver, y.len())?;
        let (party, _) = self.parts();
        party.mask(&mut y, &known.shares)?;
        let opened = party.open(OUTPUT, &y.x, &y.m)?;
        party.session.observe(checks::K24); // [K24]
        party.check_here()?;
        let sum = |r: Zeroizing<Vec<Gf2>>| {
            Zeroizing::new(r.iter().zip(&opened).map(|(r, y)| (*r + *y).to_bits() == 1).collect::<Vec<_>>())
        };
        Ok(known.values.map(sum))
    }
}

/// The bytes of bits that lie plane by plane.
fn known_bytes(bits: &[Gf2], lanes: usize) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; lanes]);
    for (k, plane) in bits.chunks(lanes.max(1)).enumerate() {
        out.iter_mut().zip(plane).for_each(|(byte, bit)| *byte |= (bit.to_bits() as u8) << k);
    }
    out
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::engine::SpdzProtocol;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, failed_check, party};
    use divisi_field::Gf48;

    /// An owner that tells one party another byte than the others, wherever it stands in a long input, ends
    /// the session before anything depends on it.
    #[test]
    fn long_inputs_are_compared_to_the_end() {
        let lanes = (1 << 17) + 1;
        for (at, of_bits) in [(1, false), (9, true)].into_iter().chain((10..=17).map(|k| (1 << k, false))) {
            let harness = Harness::new(3, &PublicParameters::new("long inputs"));
            harness.change(party(2), party(3), INPUT.name, 0, move |body| body[at] ^= 1);
            let ends = harness.act(|session| {
                let mine = session.me() == party(2);
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
                let owner = PartyId::P2;
                if of_bits {
                    let bits = [true; 80];
                    return e.input_bits(owner, mine.then_some(&bits[..]), bits.len()).map(drop);
                }
                // the mask is of no importance
                let values = mine.then(|| Zeroizing::new(vec![0; lanes]));
                let mask = InputMask { owner, values, shares: Auth::zeros(lanes) };
                let bytes = vec![5; lanes];
                e.masked_input(mask, mine.then_some(&bytes[..])).map(drop)
            });
            assert!(ends.iter().all(Result::is_err), "{at}");
            let found = ends.iter().any(|end| failed_check(end) == Some(checks::M0_3));
            assert!(found, "{at}: {ends:?}");
        }
    }
}
