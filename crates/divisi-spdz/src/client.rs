//! Inputs of clients, who are none of the parties, and outputs to them.
//!
//! A client shares no MAC key and hears no opening. What it is told it checks by itself: of random sums of
//! what it got, which it chose when it had it, the parties prove the product with a secret matrix. How
//! messages go between a client and each party is the caller's: over a channel that is authenticated and
//! confidential.
//!
//! **To a client**, of bytes y, m the bytes of the MACs' field:
//!
//! 1. The parties make u, m random bytes, and V, m x m, of which nobody knows any. Each sends the client its
//!    shares of y and u, re-randomised ([`Spdz::show`]).
//! 2. The client, which has y and u now, draws a challenge and sends it to all ([`Receipt::challenge`]).
//! 3. The parties compare what they got. It gives C, m rows; d = C y + u, local; W = V d by Beaver's method.
//!    What was opened is checked, and each sends its shares of V and W ([`Spdz::prove`]).
//! 4. The client takes y if V (C y + u) = W ([`Receipt::accept`]) \[K24\].
//!
//! **From a client**, of bytes x: it is told random bytes r that nobody knows, as above, and sends x + r to
//! all parties, which compare it \[M0.3\]: \[\[x\]\] = \[\[r\]\] + (x + r).
//!
//! Adversary: n - 1 of the parties, other clients with them. Whoever adds something to y or u adds e to C y +
//! u, and e is zero with probability 2^-8m, for C is chosen later; if it is not, V e is uniform, and what is
//! added to V and W, too, makes the equation right with probability 2^-8m. Whether a client goes on tells
//! nothing of y: whatever is added to V and W, the answer depends on y through C y + u alone, in which u is
//! uniform.

use crate::engine::{AuthByte, Spdz, combined, rows};
use crate::part::{Host, Shareable};
use divisi_core::{Abort, Check, Prg, Settles, Step, Verified, step};
use divisi_field::Gf8;
use std::fmt;
use std::marker::PhantomData;
use zeroize::Zeroizing;

const CHALLENGE: Step = step!("client.challenge");
const INPUT: Step = step!("client.input");

/// What a party keeps of an output between what it tells the client first and last. It serves one challenge.
#[must_use = "the client waits for the proof"]
pub struct ForClient<F: Host> {
    y: AuthByte<F>,
    u: AuthByte<F>,
    v: AuthByte<F>,
}

/// Random bytes that a client was told, with which it gives one input.
pub struct ClientMask<F: Host>(AuthByte<F>);

/// What a client does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFault {
    /// Not as many messages as parties, of which there are two or more.
    Parties,
    /// A party's message has another length.
    Malformed {
        /// Its place, from 0.
        place: usize,
        /// Bytes that it should have.
        want: usize,
        /// Bytes that it has.
        got: usize,
    },
    /// Some party lied: what was told is worth nothing, and whose lie it was nobody can tell.
    False,
}

impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientFault::Parties => f.write_str("not as many messages as parties"),
            ClientFault::Malformed { place, want, got } => {
                write!(f, "party {} told {got} bytes and not {want}", place + 1)
            }
            ClientFault::False => f.write_str("a party lied: ask again, of other parties"),
        }
    }
}

impl std::error::Error for ClientFault {}

impl<F: Host> Spdz<F> {
    /// To a client, step 1: what we keep, and our message to it.
    ///
    /// Cost: 8 (m + m^2) random bits; the bytes of y and m to the client.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn show(&mut self, y: Verified<AuthByte<F>>) -> Result<(ForClient<F>, Zeroizing<Vec<u8>>), Abort> {
        self.multiplies_bytes()?;
        let (y, m) = (y.into_inner(), rows::<F>());
        let both = self.random_bytes(m + m * m)?;
        let (u, v) = (both.part(0..m), both.part(m..m + m * m));
        // random bits may owe a check of what was opened for them
        let (u, v) = self.settled((u, v))?.into_inner();
        let mut body = Zeroizing::new(Vec::with_capacity(y.len() + m));
        let (party, _) = self.parts();
        party.session.observe(Check::M0_7); // [M0.7]
        party.for_client(&y.x, &mut body);
        party.for_client(&u.x, &mut body);
        Ok((ForClient { y, u, v }, body))
    }

    /// To a client, step 3: our last message to it.
    ///
    /// Cost: m^2 products of bytes, m^2 + m bytes to the client; two rounds, and a check.
    ///
    /// # Errors
    /// The abort that ends the session: also if the client told others another challenge.
    pub fn prove(&mut self, of: ForClient<F>, challenge: &[u8; 16]) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let ForClient { y, u, v } = of;
        let digest = blake3::Hasher::new_derive_key("divisi 2026 spdz client challenge v1")
            .update(challenge)
            .finalize();
        self.session().compare(Check::M0_3, CHALLENGE, digest.as_bytes())?; // [M0.3]
        let mut d = combined(&y, &mut Prg::new(challenge));
        let fits = d.add(&u);
        debug_assert!(fits);
        let w = self.by_matrices(&v, &d)?;
        let w = self.settled(w)?.into_inner();
        let mut body = Zeroizing::new(Vec::with_capacity(v.len() + w.len()));
        let (party, _) = self.parts();
        party.for_client(&v.x, &mut body);
        party.for_client(&w.x, &mut body);
        Ok(body)
    }

    /// From a client: random bytes for so many of its own, as an output to it, of which [`Spdz::prove`] is
    /// still to come.
    ///
    /// # Errors
    /// The abort that ends the session.
    #[allow(clippy::type_complexity)]
    pub fn client_mask(
        &mut self,
        lanes: usize,
    ) -> Result<(ClientMask<F>, ForClient<F>, Zeroizing<Vec<u8>>), Abort> {
        let r = self.random_bytes(lanes)?;
        let r = self.settled(r)?;
        let mask = ClientMask(r.get().clone());
        let (of, body) = self.show(r)?;
        Ok((mask, of, body))
    }

    /// From a client: its bytes, of which it told us the sum with its mask. The mask is gone then.
    ///
    /// # Errors
    /// The abort that ends the session: also if the client told others another sum, or not as many bytes.
    pub fn client_input(&mut self, mask: ClientMask<F>, sum: &[u8]) -> Result<AuthByte<F>, Abort> {
        let ClientMask(mut x) = mask;
        let digest =
            blake3::Hasher::new_derive_key("divisi 2026 spdz client input v1").update(sum).finalize();
        self.session().compare(Check::M0_3, INPUT, digest.as_bytes())?; // [M0.3]
        let sum: Vec<Gf8> = sum.iter().copied().map(Gf8).collect();
        self.parts().0.add_public(&mut x, &sum)?;
        Ok(x)
    }
}

/// At a client: what the parties told, which is not to be used before it is [accepted](Receipt::accept).
pub struct Receipt<F: Host> {
    y: Zeroizing<Vec<Gf8>>,
    u: Zeroizing<Vec<Gf8>>,
    challenge: [u8; 16],
    parties: usize,
    field: PhantomData<fn() -> F>,
}

impl<F: Host> Receipt<F> {
    /// So many bytes, from the first messages of all parties; `challenge` is drawn now: 16 fresh uniform
    /// bytes.
    ///
    /// # Errors
    /// A message of another length.
    pub fn new(told: &[&[u8]], lanes: usize, challenge: [u8; 16]) -> Result<Self, ClientFault> {
        let mut all = summed(told, lanes + rows::<F>())?;
        let u = Zeroizing::new(all.split_off(lanes));
        Ok(Receipt { y: all, u, challenge, parties: told.len(), field: PhantomData })
    }

    /// What all parties are to be told.
    #[must_use]
    pub fn challenge(&self) -> [u8; 16] {
        self.challenge
    }

    /// The bytes, if the last messages of all parties prove them \[K24\].
    ///
    /// # Errors
    /// [`ClientFault::False`] if a party lied, now or before; a message of another length.
    pub fn accept(self, told: &[&[u8]]) -> Result<Zeroizing<Vec<u8>>, ClientFault> {
        let m = rows::<F>();
        if told.len() != self.parties {
            return Err(ClientFault::Parties);
        }
        let both = summed(told, m * m + m)?;
        let (v, w) = both.split_at(m * m);
        let mut prg = Prg::new(&self.challenge);
        let mut d = self.u.clone();
        for d in d.iter_mut() {
            let mut row = vec![Gf8::default(); self.y.len()];
            Gf8::add_random(&mut prg, &mut row);
            *d += row.iter().zip(self.y.iter()).map(|(c, y)| *c * *y).sum::<Gf8>();
        }
        let product = |row: &[Gf8]| row.iter().zip(d.iter()).map(|(v, d)| *v * *d).sum::<Gf8>();
        // all of it, wherever it differs first
        let differs = v.chunks(m).zip(w).fold(0, |differs, (row, w)| differs | (product(row) + *w).0);
        if differs != 0 {
            return Err(ClientFault::False); // [K24]
        }
        Ok(Zeroizing::new(self.y.iter().map(|y| y.0).collect()))
    }
}

/// The sum of what all parties told, so many bytes each.
fn summed(told: &[&[u8]], want: usize) -> Result<Zeroizing<Vec<Gf8>>, ClientFault> {
    if told.len() < 2 {
        return Err(ClientFault::Parties);
    }
    let mut sum = Zeroizing::new(vec![Gf8::default(); want]);
    for (place, told) in told.iter().enumerate() {
        if !Gf8::add_packed(told, &mut sum) {
            return Err(ClientFault::Malformed { place, want, got: told.len() });
        }
    }
    Ok(sum)
}
