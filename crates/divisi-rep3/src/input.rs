//! Inputs that did not come from this protocol: a client's parts, a stored key \[A24, A25, A26\].
//!
//! Adversary: one malicious server, or any number of malicious clients. Before an input is used, both holders of each secret
//! component compare it by a digest under a key that only they hold, so that the third learns nothing from it; and all three
//! compare a digest of everything public about it. A second round tells everybody the outcome, so that honest servers go on or
//! refuse together: a difference is no abort, for it is the client's fault as likely as a server's. It ends that request and
//! nothing else. What one honest server refuses, no other accepts; but a corrupt server can turn "agreed" into a refusal at
//! one of them only. The outcome enters the view, so that this ends in an abort at the next barrier, before any output.

use crate::Trio;
use crate::deal::Part;
use crate::share::Byte;
use divisi_core::{Abort, Check, PartyId, Step, step};

const DIGESTS: Step = step!("digests");
const VERDICT: Step = step!("verdict");
const KEPT: Step = step!("part");

/// How an input was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// All three have the same public input, and the holders of each component the same component.
    Agreed,
    /// The public inputs differ: the one who sent them told different servers different things \[A25\].
    PublicDiffers,
    /// The components differ: parts that are no sharing of anything \[A24, A26\].
    SecretDiffers,
    /// A server has no such input, or refuses it.
    Missing(PartyId),
}

/// Our verdict on the wire.
const CODES: [u8; 4] = [0, 1, 2, 3];

impl Trio {
    /// Compare an input with the other two. `part` is our secret part if there is one, `None` if we lack what the others may
    /// have; `public` is a digest of all that is public about it. `check` is [`Check::A24`] for a client's parts,
    /// [`Check::A26`] for stored ones. Two rounds.
    ///
    /// # Errors
    /// Whatever a broken peer causes. A difference is no error but an [`Agreement`].
    pub fn agree_input(
        &mut self,
        check: Check,
        public: &[u8; 32],
        part: Option<&Part>,
    ) -> Result<Agreement, Abort> {
        // round 1: the public digest to both, the digest of each component to its other holder
        for (peer, component) in [(self.prev, part.map(|p| &p.first)), (self.next, part.map(|p| &p.second))] {
            let mut body = [0; 65];
            body[..32].copy_from_slice(public);
            if let Some(component) = component {
                body[32..64].copy_from_slice(&self.input_digest(peer, component));
                body[64] = 1;
            }
            self.session.send(DIGESTS, peer, &body, 0)?;
        }
        let mut verdict = if part.is_some() { Agreement::Agreed } else { Agreement::Missing(self.me()) };
        for (peer, component) in [(self.prev, part.map(|p| &p.first)), (self.next, part.map(|p| &p.second))] {
            let mut body = [0; 65];
            self.session.recv(DIGESTS, peer, &mut body)?;
            self.session.observe(Check::A25); // [A25]
            self.session.observe(check); // [A24] [A26]
            let public_same =
                self.session.same_digest(public, &part_of(&body, 0)) || self.session.mutated(Check::A25);
            let secret_same = component
                .is_some_and(|c| self.session.same_digest(&self.input_digest(peer, c), &part_of(&body, 32)))
                || self.session.mutated(check);
            if verdict == Agreement::Agreed {
                verdict = match (body[64] == 1, public_same, secret_same) {
                    (false, ..) => Agreement::Missing(peer),
                    (_, false, _) => Agreement::PublicDiffers,
                    (_, _, false) => Agreement::SecretDiffers,
                    _ => Agreement::Agreed,
                };
            }
        }
        self.share_verdict(public, verdict)
    }

    /// Round 2: everybody's verdict to everybody; the worst counts, and is compared at the next barrier.
    fn share_verdict(&mut self, public: &[u8; 32], mine: Agreement) -> Result<Agreement, Abort> {
        let encoded = encode(mine);
        for peer in [self.prev, self.next] {
            self.session.send(VERDICT, peer, &encoded, 0)?;
        }
        let mut worst = encoded;
        for peer in [self.prev, self.next] {
            let mut theirs = [0; 2];
            self.session.recv(VERDICT, peer, &mut theirs)?;
            worst = worst.max(theirs);
        }
        self.absorb("verdict", &worst); // [A2]
        let verdict = decode(worst);
        if verdict == Agreement::Agreed {
            self.absorb("agreed", public);
        }
        Ok(verdict)
    }

    fn input_digest(&self, peer: PartyId, component: &[u8]) -> [u8; 32] {
        let key = self.session.key(peer, "rep3 input");
        *blake3::keyed_hash(&key, component).as_bytes()
    }

    /// Our part of a fresh random string that nobody knows, to be kept: a new key. Each component is drawn from BLAKE3 under the
    /// 256-bit key that its two holders share, so that a long key is as strong as it is long. Local.
    pub fn random_part(&mut self, bytes: usize) -> Part {
        let number = self.session.count("rep3 kept"); // never again in this strand, whoever draws
        let draw = |peer: PartyId| {
            let mut hasher = blake3::Hasher::new_keyed(&self.session.key(peer, "rep3 kept"));
            hasher.update(&number.to_le_bytes());
            let mut component = vec![0; bytes];
            hasher.finalize_xof().fill(&mut component);
            zeroize::Zeroize::zeroize(&mut hasher);
            component
        };
        Part { first: draw(self.prev), second: draw(self.next) }
    }

    /// A part whose holders agreed, as a value: a byte a lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the components differ in length.
    pub fn input(&mut self, part: &Part) -> Result<Byte, Abort> {
        Ok(Byte::from_components([&part.first, &part.second])?.of(self.origin()))
    }

    /// Our part of a value, to be stored: only what is verified is worth storing.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a byte of a chain that was not finished, or one that was not settled here.
    pub fn part(&self, x: &divisi_core::Verified<Byte>) -> Result<Part, Abort> {
        self.demand_settled(KEPT, [x.get().origin])?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        x.get().component(0, &mut first)?;
        x.get().component(1, &mut second)?;
        Ok(Part { first, second })
    }
}

/// The digest that begins at `from`.
fn part_of(body: &[u8; 65], from: usize) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(&body[from..from + 32]);
    digest
}

fn encode(verdict: Agreement) -> [u8; 2] {
    match verdict {
        Agreement::Agreed => [CODES[0], 0],
        Agreement::SecretDiffers => [CODES[1], 0],
        Agreement::PublicDiffers => [CODES[2], 0],
        Agreement::Missing(party) => [CODES[3], party.index() as u8],
    }
}

fn decode([code, party]: [u8; 2]) -> Agreement {
    match (code, PartyId::all(3).nth(party.into())) {
        (0, _) => Agreement::Agreed,
        (1, _) => Agreement::SecretDiffers,
        (3, Some(party)) => Agreement::Missing(party),
        _ => Agreement::PublicDiffers,
    }
}
