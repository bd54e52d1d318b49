//! The keys of a session: each party's share of the secret key, one public key, one relinearisation key.
//!
//! GYKW, appendix A.1; the relinearisation key as in Mouchet, Troncoso-Pastoriza, Bossuat, Hubaux 2021
//! (MTBH21), protocol RelinKeyGen. Adversary: semi-honest, all parties but one.
//!
//! Deviations from the paper. D1: key shares, and v of an encryption, are uniformly ternary, which the table
//! of secure moduli assumes; the paper's distributions H and Z are sparser. D2: the common polynomials come
//! from a coin of all parties, tossed after their commitments. D3: sums go along a tree instead of to P_1,
//! and all parties compare a digest of the results. The relinearisation key encrypts s^2 under s, so circular
//! security is assumed.
//!
//! Cost: a party with two others below it in the tree sends 3 polynomials for the public key, and 9 for each
//! digit of the relinearisation key; on average a party sends fewer than 2, and fewer than 6.

use crate::checks;
use crate::cipher::Ciphertext;
use crate::common::Seed;
use crate::flood::Width;
use crate::parameters::DECRYPTION_BITS;
use crate::parameters::noise::plus;
use crate::ring::{Poly, Ring};
use crate::sample::Sampler;
use crate::tree;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Coins, ComparedDigest, Misuse, Session, Step, step, taint};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const PARAMETERS: Step = step!("parameters");
const COIN: Step = step!("coin");
const COMPARE: Step = step!("compare");
const SHARE: Step = step!("share");

/// One party's keys of a session, shared by its strands.
#[derive(Clone)]
pub struct Keys(Arc<Inner>);

struct Inner {
    ring: Arc<Ring>,
    session: [u8; 32],
    /// Our share s_i of the secret key, over all primes.
    share: Poly,
    /// The public key (b, a).
    public: [Poly; 2],
    /// The relinearisation key: a pair for each digit.
    relinearisation: Option<Vec<[Poly; 2]>>,
    /// How many partial decryptions this party has made, over all strands and kinds of keys.
    decryptions: Arc<AtomicU64>,
    limit: u64,
}

impl Keys {
    /// Makes the first keys of a session. All parties call it, once; keys for other operations are made
    /// beside these ([`Keys::beside`]), so that a session has one count of partial decryptions \[G12\]. The
    /// coin takes three rounds; then the public key takes twice the height of the tree, and so does each of
    /// the two rounds of the relinearisation key, which is made only if the parameters multiply ciphertexts.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the session has keys already, for any operation, or if the parameters are for
    /// another number of parties; [`Abort::CheckFailed`] of G5 or G2 if the parameters are not sound, of M0.3
    /// if the parties have received different keys, and of G10; the abort that ends the session, if a link
    /// fails.
    pub fn generate(session: &mut Session, ring: &Arc<Ring>) -> Result<Keys, Abort> {
        Keys::first(session, ring, 1 << DECRYPTION_BITS)
    }

    /// Makes keys for another operation in the same session. Partial decryptions with both kinds of keys are
    /// counted together \[G12\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] if these keys belong to another session, or if the session has keys for the
    /// operation already; otherwise it fails as [`Keys::generate`] does.
    pub fn beside(&self, session: &mut Session, ring: &Arc<Ring>) -> Result<Keys, Abort> {
        self.belong(session, PARAMETERS)?;
        Keys::with_limit(session, ring, self.0.limit, Arc::clone(&self.0.decryptions))
    }

    /// The first keys of a session, with a count of partial decryptions that begins at zero \[G12\].
    fn first(session: &mut Session, ring: &Arc<Ring>, limit: u64) -> Result<Keys, Abort> {
        if !session.first("bgv keys") {
            return Err(session.misuse(PARAMETERS, Misuse::SecondCount));
        }
        Keys::with_limit(session, ring, limit, Arc::default())
    }

    fn with_limit(
        session: &mut Session,
        ring: &Arc<Ring>,
        limit: u64,
        decryptions: Arc<AtomicU64>,
    ) -> Result<Keys, Abort> {
        let parameters = ring.parameters();
        if session.parties() != parameters.parties() {
            return Err(session.misuse(PARAMETERS, Misuse::PartyCount));
        }
        if !session.first(parameters.operation().keys()) {
            return Err(session.misuse(PARAMETERS, Misuse::SecondSetUp));
        }
        session.require(checks::G5, PARAMETERS, parameters.fits(), None)?; // [G5]
        session.require(checks::G2, PARAMETERS, parameters.floods(), None)?; // [G2]
        let coin = Coins::commit(session)?.toss(session, COIN)?;
        let common = |purpose, number| Seed::new(&coin, purpose, 0, number);
        let mut sampler = Sampler::new(session);
        let (n, limbs) = (ring.dimension(), parameters.chain().len());
        let multiplies = parameters.special().is_some();

        // SecKeyGen: our share s_i
        let secret = sampler.ternary(n);
        secret.first().into_iter().for_each(|s| taint::leak(SHARE, *s as u8));
        let share = ring.small(&secret, limbs, multiplies);
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
        session.compare(checks::M0_3, COMPARE, &inner.digest())?; // [M0.3]
        Ok(Keys(Arc::new(inner)))
    }

    /// The ring of these keys.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.0.ring
    }

    pub(crate) fn public(&self) -> &[Poly; 2] {
        &self.0.public
    }

    pub(crate) fn share(&self) -> &Poly {
        &self.0.share
    }

    pub(crate) fn relinearisation(&self) -> Option<&[[Poly; 2]]> {
        self.0.relinearisation.as_deref()
    }

    /// Demands that these keys belong to this session.
    pub(crate) fn belong(&self, session: &Session, step: Step) -> Result<(), Abort> {
        if self.0.session == *session.id().as_bytes() {
            Ok(())
        } else {
            Err(session.misuse(step, Misuse::OtherSession))
        }
    }

    /// Counts one more partial decryption, or flooded hop, if the session has one left \[G12\].
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if none is left: the session ends, and nothing is sent; [`Abort::Misuse`] in
    /// another session.
    pub(crate) fn spend(&self, session: &Session, step: Step) -> Result<(), Abort> {
        self.belong(session, step)?;
        let before = self.0.decryptions.fetch_add(1, Ordering::SeqCst);
        session.require(checks::G12, step, before < self.0.limit, None) // [G12]
    }

    /// How many partial decryptions and flooded hops this party has made.
    #[must_use]
    pub fn decryptions(&self) -> u64 {
        self.0.decryptions.load(Ordering::SeqCst)
    }

    /// Enc_pk: (b v + p e_0 + m, a v + p e_1). `plain` has the coefficients of m, of absolute value at most p
    /// / 2; without it m is zero.
    #[must_use]
    pub fn encrypt(&self, sampler: &mut Sampler, level: usize, plain: Option<&[i64]>) -> Ciphertext {
        let (ring, n) = (self.ring(), self.ring().dimension());
        let limbs = ring.parameters().limbs(level);
        let [c0, c1] = ring.fresh(self.public(), &sampler.hiding(n), plain, limbs);
        Ciphertext::new(level, 1, ring.parameters().bounds().fresh(), c0, c1)
    }

    /// The components of an encryption of zero with floods in place of the errors (CP of appendix A.1), and
    /// the bound on its noise. Where it hides a product it is secret: the sum minus it is the product.
    #[must_use]
    pub(crate) fn encrypt_flooded(
        &self,
        sampler: &mut Sampler,
        level: usize,
        widths: [Width; 2],
    ) -> ([Poly; 2], f64) {
        let ring = self.ring();
        let (n, limbs) = (ring.dimension(), ring.parameters().limbs(level));
        let bounds = ring.parameters().bounds();
        let [first, second] = widths.map(|width| width.deviation());
        let noise = plus(bounds.fresh(), bounds.flooded(first, second));
        let floods = widths.map(|width| {
            let mut flood = WipedVec::zeros(n);
            width.sample(sampler.prg(), &mut flood);
            ring.wide(&flood, limbs)
        });
        let v = ring.small(&sampler.ternary(n), limbs, false);
        let [mut c0, mut c1] = floods;
        for (c, key) in [&mut c0, &mut c1].into_iter().zip(self.public()) {
            ring.scale(c, ring.parameters().plain());
            ring.add_product(c, key, &v);
        }
        ([c0, c1], noise)
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
        hasher.to_compare()
    }
}

/// p e, with a fresh error e.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn error(ring: &Ring, sampler: &mut Sampler, limbs: usize, extended: bool) -> Poly {
    let mut e = ring.small(&sampler.errors(ring.dimension()), limbs, extended);
    ring.scale(&mut e, ring.parameters().plain());
    e
}

/// Subtracts x y from `sum`.
pub(crate) fn subtract_product(ring: &Ring, sum: &mut Poly, x: &Poly, y: &Poly) {
    ring.neg(sum);
    ring.add_product(sum, x, y);
    ring.neg(sum);
}

/// MTBH21, RelinKeyGen, over the primes of products: w_j is the special prime modulo the primes of digit j,
/// and 0 modulo all other primes. The digits travel one by one, so that a party holds no more than the key
/// and the messages of one digit.
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

/// Functions for tests only.
#[cfg(feature = "testing")]
impl Keys {
    /// Our share of the secret key, as values over all primes.
    #[must_use]
    pub fn reveal(&self) -> Poly {
        self.0.share.clone()
    }

    /// Keys whose session ends after `limit` partial decryptions.
    ///
    /// # Errors
    /// It fails as [`Keys::generate`] does.
    pub fn limited(session: &mut Session, ring: &Arc<Ring>, limit: u64) -> Result<Keys, Abort> {
        Keys::first(session, ring, limit)
    }

    /// A ciphertext with chosen components, such as a corrupt holder may make, which claims to have no noise.
    #[must_use]
    pub fn forge(level: usize, factor: u64, c0: Poly, c1: Poly) -> Ciphertext {
        Ciphertext::new(level, factor, f64::NEG_INFINITY, c0, c1)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
