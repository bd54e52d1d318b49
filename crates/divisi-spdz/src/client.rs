//! Inputs from clients that are no parties, and outputs to them.
//!
//! A client has no share of a MAC key and sees no opening. It checks an output itself: the parties prove the
//! product of a secret matrix and random linear combinations of the output, which the client chooses after it
//! has received the output. The caller carries the messages between a client and each party, over an
//! authenticated and confidential channel.
//!
//! **To a client**, of bytes y; m is the number of bytes of the MACs' field:
//!
//! 1. The parties make m random bytes u and an m x m matrix V that nobody knows. Each sends the client its
//!    shares of y and u, re-randomised ([`Spdz::show`]).
//! 2. The client, which now has y and u, draws a challenge and sends it to all ([`Receipt::challenge`]).
//! 3. The parties compare the challenges that they received. A challenge determines a matrix C of m rows. d =
//!    C y + u, local; W = V d by Beaver's method. The parties check what was opened, and each sends its
//!    shares of V and W ([`Spdz::prove`]).
//! 4. The client accepts y if V (C y + u) = W ([`Receipt::accept`]) \[K24\].
//!
//! **From a client**, of bytes x: the client receives random bytes r that nobody else knows, as above, and
//! sends x + r to all parties, which compare it \[M0.3\]: \[\[x\]\] = \[\[r\]\] + (x + r).
//!
//! Adversary: n - 1 of the parties, together with other clients. Errors in y or u add e to C y + u, and e is
//! zero with probability 2^-8m, because C is chosen later. If e is not zero, V e is uniform, and errors in V
//! and W make the equation hold with probability 2^-8m. Whether the client accepts reveals nothing about y:
//! whatever is added to V and W, the outcome depends on y only through C y + u, in which u is uniform.

use crate::checks;
use crate::engine::{AuthByte, Spdz, combined, rows};
use crate::part::{Host, Shareable};
use crate::purposes;
use divisi_core::{Abort, ComparedDigest, Prg, Settles, Step, Verified, step};
use divisi_field::Gf8;
use std::fmt;
use std::marker::PhantomData;
use zeroize::Zeroizing;

const CHALLENGE: Step = step!("client.challenge");
const INPUT: Step = step!("client.input");

/// A party's state for an output to a client, between the party's first and last message. It is used for one
/// challenge.
#[must_use = "the client waits for the proof"]
pub struct ForClient<F: Host> {
    y: AuthByte<F>,
    u: AuthByte<F>,
    v: AuthByte<F>,
}

/// Random bytes that one client knows, as the mask of one input.
pub struct ClientMask<F: Host>(AuthByte<F>);

/// Why a client rejects an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFault {
    /// The number of messages is not that of the parties, or below two.
    Parties,
    /// A party's message has a wrong length.
    Malformed {
        /// The position of the message, from 0.
        place: usize,
        /// The right length in bytes.
        want: usize,
        /// The actual length in bytes.
        got: usize,
    },
    /// A party lied: the output is worthless, and nobody can tell which party it was.
    False,
}

impl fmt::Display for ClientFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientFault::Parties => f.write_str("the number of messages is not that of the parties"),
            ClientFault::Malformed { place, want, got } => {
                write!(f, "party {} sent {got} bytes, not {want}", place + 1)
            }
            ClientFault::False => {
                f.write_str("a party lied, and nobody can tell which one: ask other parties")
            }
        }
    }
}

impl std::error::Error for ClientFault {}

impl<F: Host> Spdz<F> {
    /// To a client, step 1: this party's state, and its message to the client.
    ///
    /// Cost: 8 (m + m^2) random bits; to the client as many bytes as y has, and m more.
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
        party.session.observe(checks::M0_7); // [M0.7]
        party.for_client(&y.x, &mut body);
        party.for_client(&u.x, &mut body);
        Ok((ForClient { y, u, v }, body))
    }

    /// To a client, step 3: this party's last message to the client.
    ///
    /// Cost: m^2 products of bytes, m^2 + m bytes to the client; two rounds, and a check.
    ///
    /// # Errors
    /// The abort that ends the session, also if the client sent other parties another challenge.
    pub fn prove(&mut self, of: ForClient<F>, challenge: &[u8; 16]) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let ForClient { y, u, v } = of;
        let digest = blake3::Hasher::new_derive_key("divisi 2026 spdz client challenge v1")
            .update(challenge)
            .to_compare();
        self.session().compare(checks::M0_3, CHALLENGE, &digest)?; // [M0.3]
        let mut d = combined(&y, &mut Prg::of(purposes::CHALLENGE, challenge));
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

    /// From a client: random bytes as the mask of `lanes` bytes. Returns the mask, the state for
    /// [`Spdz::prove`], and this party's message to the client. The mask is proven to the client like an
    /// output, so [`Spdz::prove`] has to follow.
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

    /// From a client: shares of its bytes x. `sum` is x plus the bytes of the mask, as the client sent it to
    /// all parties. Consumes the mask.
    ///
    /// # Errors
    /// The abort that ends the session, also if the client sent other parties another sum, or if `sum` has a
    /// wrong number of bytes.
    pub fn client_input(&mut self, mask: ClientMask<F>, sum: &[u8]) -> Result<AuthByte<F>, Abort> {
        let ClientMask(mut x) = mask;
        let digest =
            blake3::Hasher::new_derive_key("divisi 2026 spdz client input v1").update(sum).to_compare();
        self.session().compare(checks::M0_3, INPUT, &digest)?; // [M0.3]
        let sum: Vec<Gf8> = sum.iter().copied().map(Gf8).collect();
        self.parts().0.add_public(&mut x, &sum)?;
        Ok(x)
    }
}

/// At a client: the parties' output, which must not be used before it is [accepted](Receipt::accept).
pub struct Receipt<F: Host> {
    y: Zeroizing<Vec<Gf8>>,
    u: Zeroizing<Vec<Gf8>>,
    challenge: [u8; 16],
    parties: usize,
    field: PhantomData<fn() -> F>,
}

impl<F: Host> Receipt<F> {
    /// The output of `lanes` bytes, from the first messages of all parties. `challenge` must be drawn after
    /// they arrived: 16 fresh uniform bytes.
    ///
    /// # Errors
    /// [`ClientFault::Malformed`] for a message of a wrong length; [`ClientFault::Parties`] for fewer than
    /// two messages.
    pub fn new(told: &[&[u8]], lanes: usize, challenge: [u8; 16]) -> Result<Self, ClientFault> {
        let mut all = summed(told, lanes + rows::<F>())?;
        let u = Zeroizing::new(all.split_off(lanes));
        Ok(Receipt { y: all, u, challenge, parties: told.len(), field: PhantomData })
    }

    /// The challenge, to be sent to all parties.
    #[must_use]
    pub fn challenge(&self) -> [u8; 16] {
        self.challenge
    }

    /// The bytes, if the last messages of all parties prove them \[K24\].
    ///
    /// # Errors
    /// [`ClientFault::False`] if a party lied, now or before; [`ClientFault::Malformed`] for a message of a
    /// wrong length; [`ClientFault::Parties`] for another number of messages than before.
    pub fn accept(self, told: &[&[u8]]) -> Result<Zeroizing<Vec<u8>>, ClientFault> {
        let m = rows::<F>();
        if told.len() != self.parties {
            return Err(ClientFault::Parties);
        }
        let both = summed(told, m * m + m)?;
        let (v, w) = both.split_at(m * m);
        let mut prg = Prg::of(purposes::CHALLENGE, &self.challenge);
        let mut d = self.u.clone();
        for d in d.iter_mut() {
            let mut row = vec![Gf8::default(); self.y.len()];
            Gf8::add_random(&mut prg, &mut row);
            *d += row.iter().zip(self.y.iter()).map(|(c, y)| *c * *y).sum::<Gf8>();
        }
        let product = |row: &[Gf8]| row.iter().zip(d.iter()).map(|(v, d)| *v * *d).sum::<Gf8>();
        // everything is compared, wherever the first difference is
        let differs = v.chunks(m).zip(w).fold(0, |differs, (row, w)| differs | (product(row) + *w).0);
        if differs != 0 {
            return Err(ClientFault::False); // [K24]
        }
        Ok(Zeroizing::new(self.y.iter().map(|y| y.0).collect()))
    }
}

/// The sum of the parties' messages, which must have this many bytes each.
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

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "testing")]
    use crate::dealer::Dealer;
    #[cfg(feature = "testing")]
    use divisi_core::{PublicParameters, testing::run};
    use divisi_field::{Gf40, Gf48};

    const CHALLENGE: [u8; 16] = [5; 16];

    /// The messages of two parties to a client, in two rounds, and the bytes that they prove.
    struct Told {
        y: Vec<Gf8>,
        first: [Vec<u8>; 2],
        last: [Vec<u8>; 2],
    }

    fn random(seed: u8, count: usize) -> Vec<Gf8> {
        let mut bytes = vec![Gf8::default(); count];
        Gf8::add_random(&mut Prg::new(&[seed; 16]), &mut bytes);
        bytes
    }

    fn told(lanes: usize) -> Told {
        let m = rows::<Gf40>();
        let product = |x: &[Gf8], y: &[Gf8]| x.iter().zip(y).map(|(x, y)| *x * *y).sum::<Gf8>();
        let (y, u, v) = (random(1, lanes), random(2, m), random(3, m * m));
        let mut prg = Prg::new(&CHALLENGE);
        let d: Vec<Gf8> = u
            .iter()
            .map(|u| {
                let mut row = vec![Gf8::default(); lanes];
                Gf8::add_random(&mut prg, &mut row);
                *u + product(&row, &y)
            })
            .collect();
        let w: Vec<Gf8> = v.chunks(m).map(|row| product(row, &d)).collect();
        // one party's shares are random, and the other's are the rest
        let shared = |seed: u8, values: Vec<Gf8>| {
            let one = random(seed, values.len());
            let other: Vec<Gf8> = one.iter().zip(&values).map(|(one, value)| *one + *value).collect();
            [one, other].map(|share| share.iter().map(|x| x.0).collect::<Vec<u8>>())
        };
        let (first, last) = (shared(8, [y.clone(), u].concat()), shared(9, [v, w].concat()));
        Told { y, first, last }
    }

    fn received(lanes: usize, told: &Told) -> Result<Zeroizing<Vec<u8>>, ClientFault> {
        let Told { first: [a, b], last: [c, d], .. } = told;
        Receipt::<Gf40>::new(&[a, b], lanes, CHALLENGE)?.accept(&[c, d])
    }

    /// However many bytes an output has, no byte of any message can be another one.
    #[test]
    fn every_byte_counts_in_outputs_of_every_length() {
        for lanes in (0..=9).chain([63, 64, 65, 130]) {
            let mut told = told(lanes);
            assert!(received(lanes, &told).unwrap().iter().eq(told.y.iter().map(|y| &y.0)), "{lanes}");
            for message in 0..4 {
                for at in 0..[&told.first, &told.last][message / 2][message % 2].len() {
                    let flip = |told: &mut Told| {
                        [&mut told.first, &mut told.last][message / 2][message % 2][at] ^= 1 << (at % 8);
                    };
                    flip(&mut told);
                    let end = received(lanes, &told);
                    assert_eq!(end, Err(ClientFault::False), "byte {at} of message {message} of {lanes}");
                    flip(&mut told);
                }
            }
        }
    }

    /// Of a long output, too, each byte has coefficients of its own: those of the challenge.
    #[test]
    fn long_outputs_have_all_coefficients() {
        for lanes in [300, 5_000] {
            assert!(received(lanes, &told(lanes)).is_ok(), "{lanes}");
        }
    }

    /// A client that tells one party another byte than the others, wherever it stands in a long input, ends
    /// the session.
    #[cfg(feature = "testing")]
    #[test]
    fn long_sums_are_compared_to_the_end() {
        let lanes = (1 << 17) + 1;
        for at in [0].into_iter().chain((4..=17).map(|k| 1 << k)) {
            let ends = run(3, &PublicParameters::new("long sums"), |session| {
                let mut sum = vec![1; lanes];
                sum[at] ^= u8::from(session.me().index() == 2);
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), crate::SpdzProtocol::Lookup)?;
                // the mask is of no importance
                e.client_input(ClientMask(AuthByte::zeros(lanes)), &sum).map(drop)
            });
            assert!(ends.iter().all(Result::is_err), "{at}");
        }
    }

    /// What hides one output, and the matrix that proves it, belong to no other output.
    #[cfg(feature = "testing")]
    #[test]
    fn every_output_has_masks_and_a_matrix_of_its_own() {
        let (m, outputs, lanes) = (rows::<Gf48>(), 5, 3);
        let ends = run(2, &PublicParameters::new("several outputs"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), crate::SpdzProtocol::Lookup)?;
            let mut told = Vec::new();
            for _ in 0..outputs {
                let y = e.settled(AuthByte::zeros(lanes))?;
                let (of, first) = e.show(y)?;
                let last = e.prove(of, &CHALLENGE)?;
                told.push([&first[lanes..], &last[..m * m]].concat());
            }
            Ok(told.concat())
        });
        let told: Vec<Vec<u8>> = ends.into_iter().map(Result::unwrap).collect();
        let values: Vec<u8> = told[0].iter().zip(&told[1]).map(|(x, y)| x ^ y).collect();
        // u of each output, and each row of V
        let mut all: Vec<&[u8]> = values.chunks(m).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), outputs * (m + 1));
    }

    /// Random inputs for the messages of two parties to a client, in two rounds: the client accepts no wrong
    /// bytes.
    #[test]
    fn random_receipts() {
        const LANES: usize = 3;
        let Told { y, first, last } = told(LANES);
        let cuts = [first[0].len(), first[1].len(), last[0].len()];
        let seeds = [[first.concat(), last.concat()].concat()];
        divisi_fuzz::run("receipts", env!("CARGO_MANIFEST_DIR"), &seeds, |mut rest| {
            let mut next = |len: usize| {
                let (now, later) = rest.split_at(len.min(rest.len()));
                rest = later;
                now
            };
            let [a, b, c] = cuts.map(&mut next);
            let Ok(receipt) = Receipt::<Gf40>::new(&[a, b], LANES, CHALLENGE) else { return Ok(false) };
            match receipt.accept(&[c, next(usize::MAX)]) {
                Ok(found) if found.iter().zip(&y).all(|(found, y)| *found == y.0) => Ok(true),
                Ok(_) => Err("other bytes are accepted".into()),
                Err(_) => Ok(false),
            }
        });
    }
}
