//! Keys of a session: a share of the secret key each, one public key, one relinearisation key.
//!
//! GYKW, appendix A.1; the relinearisation key as Mouchet, Troncoso-Pastoriza, Bossuat, Hubaux 2021 (MTBH21),
//! protocol RelinKeyGen. Adversary: semi-honest, all but one.
//! Deviations: D1, key shares and v of an encryption are uniformly ternary, which the table of moduli is for;
//! the paper's H and Z are sparser. D2, the common polynomials come from a coin of all parties after their
//! commitments. D3, sums go along a tree instead of to P_1, and all parties compare a digest of what came of
//! them. The relinearisation key encrypts s^2 under s: circular security is assumed.
//! Cost: 2 polynomials for the public key, 6 a digit for the relinearisation key, sent by a party in the
//! middle of the tree.

use crate::cipher::Ciphertext;
use crate::common::Seed;
use crate::flood::Width;
use crate::hidden::Hidden;
use crate::parameters::DECRYPTION_BITS;
use crate::parameters::noise::plus;
use crate::ring::{Poly, Ring};
use crate::sample::Sampler;
use crate::tree;
use divisi_core::{Abort, Check, Coins, Session, Step, step};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const PARAMETERS: Step = step!("parameters");
const COIN: Step = step!("coin");
const COMPARE: Step = step!("compare");

/// One party's keys of a session; strands share them.
#[derive(Clone)]
pub struct Keys(Arc<Inner>);

struct Inner {
    ring: Arc<Ring>,
    session: [u8; 32],
    /// s_i, over all primes.
    share: Poly,
    /// (b, a).
    public: [Poly; 2],
    /// For each digit.
    relinearisation: Option<Vec<[Poly; 2]>>,
    /// Partial decryptions so far, over all strands and kinds of keys.
    decryptions: Arc<AtomicU64>,
    limit: u64,
}

impl Keys {
    /// Make the keys of a session; all parties do so once for each operation. Three rounds for the coin, then
    /// twice the height of the tree for the public key and each round of the relinearisation key, which is
    /// made only for parameters that multiply ciphertexts.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a second time in a session and for another number of parties;
    /// [`Abort::CheckFailed`] of G5 or G2 for parameters that are not sound; the abort that ends the session.
    pub fn generate(session: &mut Session, ring: &Arc<Ring>) -> Result<Keys, Abort> {
        Keys::with_limit(session, ring, 1 << DECRYPTION_BITS, Arc::default())
    }

    /// The same for another operation of the session of these keys: partial decryptions of both are counted
    /// together \[G12\].
    ///
    /// # Errors
    /// As [`Keys::generate`]; [`Abort::Misuse`] for keys of another session.
    pub fn beside(&self, session: &mut Session, ring: &Arc<Ring>) -> Result<Keys, Abort> {
        self.belong(session, PARAMETERS)?;
        Keys::with_limit(session, ring, self.0.limit, Arc::clone(&self.0.decryptions))
    }

    pub(crate) fn with_limit(
        session: &mut Session,
        ring: &Arc<Ring>,
        limit: u64,
        decryptions: Arc<AtomicU64>,
    ) -> Result<Keys, Abort> {
        let parameters = ring.parameters();
        if session.parties() != parameters.parties() {
            return Err(session.misuse(PARAMETERS, "parameters for another number of parties"));
        }
        if !session.first(parameters.operation().keys()) {
            return Err(session.misuse(PARAMETERS, "a session has one set of keys for an operation"));
        }
        session.require(Check::G5, PARAMETERS, parameters.fits(), None)?; // [G5]
        session.require(Check::G2, PARAMETERS, parameters.floods(), None)?; // [G2]
        let coin = Coins::commit(session)?.toss(session, COIN)?;
        let common = |purpose, number| Seed::new(&coin, purpose, 0, number);
        let mut sampler = Sampler::new(session);
        let (n, limbs) = (ring.dimension(), parameters.chain().len());
        let multiplies = parameters.special().is_some();

        // SecKeyGen: s_i
        let share = ring.small(&sampler.ternary(n), limbs, multiplies);
        // pubKeyGen: b_i = -a s_i + p e_i, b = sum of b_i
        let a = common("public key", 0).expand(ring, limbs, false);
        let mut b = error(ring, &mut sampler, limbs, false);
        subtract_product(ring, &mut b, &a, &share);
        let sum = tree::up(session, ring, step!("public.up"), [b])?;
        let shape = [ring.zero(limbs, false)];
        let [b] = tree::down(session, ring, step!("public.down"), sum, shape)?;

        let relinearisation = if multiplies {
            let limbs = parameters.limbs_of_products();
            let at = |number| common("relinearisation", number).expand(ring, limbs, true);
            Some(relinearise(session, ring, &mut sampler, &ring.cut(&share, limbs), at)?)
        } else {
            None
        };
        let inner = Inner {
            ring: Arc::clone(ring),
            session: *session.id().as_bytes(),
            share,
            public: [b, a],
            relinearisation,
            decryptions,
            limit,
        };
        session.compare(Check::M0_3, COMPARE, &inner.digest())?; // [M0.3]
        Ok(Keys(Arc::new(inner)))
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.0.ring
    }

    pub(crate) fn share(&self) -> &Poly {
        &self.0.share
    }

    pub(crate) fn relinearisation(&self) -> Option<&[[Poly; 2]]> {
        self.0.relinearisation.as_deref()
    }

    /// These keys belong to this session.
    pub(crate) fn belong(&self, session: &Session, step: Step) -> Result<(), Abort> {
        if self.0.session == *session.id().as_bytes() {
            Ok(())
        } else {
            Err(session.misuse(step, "keys of another session"))
        }
    }

    /// One more partial decryption, or flooded hop, if the session has one left \[G12\].
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] after the last one: the session ends, and nothing is sent.
    pub(crate) fn spend(&self, session: &Session, step: Step) -> Result<(), Abort> {
        self.belong(session, step)?;
        let before = self.0.decryptions.fetch_add(1, Ordering::SeqCst);
        session.require(Check::G12, step, before < self.0.limit, None) // [G12]
    }

    /// How many partial decryptions and flooded hops this party has made.
    #[must_use]
    pub fn decryptions(&self) -> u64 {
        self.0.decryptions.load(Ordering::SeqCst)
    }

    /// Enc_pk: (b v + p e_0 + m, a v + p e_1), of a plaintext over the primes of a level.
    #[must_use]
    pub fn encrypt(&self, sampler: &mut Sampler, level: usize, plain: Option<&Poly>) -> Ciphertext {
        let ring = self.ring();
        let n = ring.dimension();
        let errors = [sampler.errors(n), sampler.errors(n)];
        let limbs = ring.parameters().limbs(level);
        let noise = ring.parameters().bounds().fresh();
        self.encrypt_with(sampler, level, noise, errors.map(|e| ring.small(&e, limbs, false)), plain)
    }

    /// The same with floods for errors (CP of appendix A.1).
    #[must_use]
    pub(crate) fn encrypt_flooded(
        &self,
        sampler: &mut Sampler,
        level: usize,
        widths: [Width; 2],
    ) -> Ciphertext {
        let ring = self.ring();
        let (n, limbs) = (ring.dimension(), ring.parameters().limbs(level));
        let bounds = ring.parameters().bounds();
        let [first, second] = widths.map(|width| width.deviation());
        let noise = plus(bounds.fresh(), bounds.flooded(first, second));
        let floods = widths.map(|width| {
            let mut flood = Hidden::zeros(n);
            width.sample(sampler.prg(), &mut flood);
            ring.wide(&flood, limbs)
        });
        self.encrypt_with(sampler, level, noise, floods, None)
    }

    fn encrypt_with(
        &self,
        sampler: &mut Sampler,
        level: usize,
        noise: f64,
        errors: [Poly; 2],
        plain: Option<&Poly>,
    ) -> Ciphertext {
        let ring = self.ring();
        let v = ring.small(&sampler.ternary(ring.dimension()), ring.parameters().limbs(level), false);
        let [mut c0, mut c1] = errors;
        for (c, key) in [&mut c0, &mut c1].into_iter().zip(&self.0.public) {
            ring.scale(c, ring.parameters().plain());
            ring.add_product(c, key, &v);
        }
        if let Some(plain) = plain {
            ring.add(&mut c0, plain);
        }
        Ciphertext::new(level, 1, noise, c0, c1)
    }
}

impl Inner {
    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 bgv keys v1");
        let keys = self.public.iter().chain(self.relinearisation.iter().flatten().flatten());
        let mut bytes = [0; 8 * 1024];
        for words in keys.flat_map(|key| key.words().chunks(1024)) {
            let places = bytes.as_chunks_mut::<8>().0.iter_mut();
            places.zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
            hasher.update(&bytes[..8 * words.len()]);
        }
        *hasher.finalize().as_bytes()
    }
}

/// p e, of a fresh error.
pub(crate) fn error(ring: &Ring, sampler: &mut Sampler, limbs: usize, extended: bool) -> Poly {
    let mut e = ring.small(&sampler.errors(ring.dimension()), limbs, extended);
    ring.scale(&mut e, ring.parameters().plain());
    e
}

/// sum - x y.
pub(crate) fn subtract_product(ring: &Ring, sum: &mut Poly, x: &Poly, y: &Poly) {
    ring.neg(sum);
    ring.add_product(sum, x, y);
    ring.neg(sum);
}

/// MTBH21, RelinKeyGen, over the primes of products: w_j is the special prime modulo the primes of digit j,
/// and 0 modulo all others. Digits travel one by one, so that a party holds a digit's messages and the key.
fn relinearise(
    session: &mut Session,
    ring: &Ring,
    sampler: &mut Sampler,
    share: &Poly,
    common: impl Fn(u64) -> Poly,
) -> Result<Vec<[Poly; 2]>, Abort> {
    let (limbs, digits) = (share.limbs(), ring.digits(share.limbs()));
    let u = ring.small(&sampler.ternary(ring.dimension()), limbs, true);
    // round 1: h_0 = -u_i a_j + w_j s_i + p e_0, h_1 = s_i a_j + p e_1
    let mut sums = Vec::new();
    for j in 0..digits {
        let a = common(j as u64);
        let mut h0 = error(ring, sampler, limbs, true);
        subtract_product(ring, &mut h0, &a, &u);
        ring.add(&mut h0, &ring.digit(share, j));
        let mut h1 = error(ring, sampler, limbs, true);
        ring.add_product(&mut h1, share, &a);
        sums.extend(tree::up(session, ring, step!("relinearise.1.up"), [h0, h1])?);
    }
    // round 2: s_i h_0 + (u_i - s_i) h_1 + p (e_2 + e_3); the sum is s^2 w_j - s h_1 up to noise
    let mut difference = u;
    ring.sub(&mut difference, share);
    let (mut second, mut kept, mut sums) = (Vec::new(), Vec::new(), sums.into_iter());
    for _ in 0..digits {
        let shape = [ring.zero(limbs, true), ring.zero(limbs, true)];
        let [h0, h1] = tree::down(session, ring, step!("relinearise.1.down"), sums.next(), shape)?;
        let mut h = error(ring, sampler, limbs, true);
        ring.add(&mut h, &error(ring, sampler, limbs, true));
        ring.add_product(&mut h, share, &h0);
        ring.add_product(&mut h, &difference, &h1);
        second.push(h);
        kept.push(h1);
    }
    let mut sums = Vec::new();
    for h in second {
        sums.extend(tree::up(session, ring, step!("relinearise.2.up"), [h])?);
    }
    let (mut key, mut sums) = (Vec::with_capacity(digits), sums.into_iter());
    for a in kept {
        let shape = [ring.zero(limbs, true)];
        let [b] = tree::down(session, ring, step!("relinearise.2.down"), sums.next(), shape)?;
        key.push([b, a]);
    }
    Ok(key)
}

/// What only tests may have.
#[cfg(feature = "testing")]
impl Keys {
    /// Our share of the key, as values over all primes.
    #[must_use]
    pub fn reveal(&self) -> Poly {
        self.0.share.clone()
    }

    /// Keys whose session ends after so many partial decryptions.
    ///
    /// # Errors
    /// As [`Keys::generate`].
    pub fn limited(session: &mut Session, ring: &Arc<Ring>, limit: u64) -> Result<Keys, Abort> {
        Keys::with_limit(session, ring, limit, Arc::default())
    }

    /// A ciphertext with chosen components, such as a curious holder may make, who says that it has no noise.
    #[must_use]
    pub fn forge(level: usize, factor: u64, c0: Poly, c1: Poly) -> Ciphertext {
        Ciphertext::new(level, factor, f64::NEG_INFINITY, c0, c1)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
