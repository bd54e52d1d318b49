//! Leaky authenticated AND triples: Pi_LaAND of Fig. 8, in two forms.
//!
//! Adversary: n - 1 malicious parties. Every triple that the protocol returns is right. But it leaks: the
//! adversary may guess bits of another party's x, and a right guess goes unnoticed, while a wrong one ends
//! the session. Pi_aAND removes this leak.
//!
//! *Improved* form: the parties' values x^i Phi_i + ... add up to x y Delta, where Delta is the sum of all
//! Delta_i. The lowest bits of the Delta_i are public and add up to one, so the lowest bits of the parties'
//! values are shares of x y. HaAND is not needed, nor are its messages. *Paper* form: z^i = x^i y^i + v^i
//! from Pi_HaAND. HaAND's hash has another tweak than that of step 5; the paper hashes the same key the same
//! way in both, which reveals y^i plus the lowest bit of Phi_i.
//!
//! Steps 6 and 7 check all triples at once, by a random linear combination. Its coefficients come from a coin
//! that is tossed after every U and e is sent. The parties' combinations of the H_i must add up to zero; the
//! check reveals only whether they do ([`zero`]). The error is 2^-128 (docs/garbling.md).

use crate::bits;
use crate::checks;
use crate::context::TripleContext;
use crate::haand;
use crate::hash::{Call, Named};
use crate::purposes;
use crate::share::{Seats, View, ViewMut, spread};
use crate::table::GarblingForm;
use crate::zero;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Echo, Expands, PartyId, Prg, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::{BigField, Gf128};
use divisi_ot::Setup;
use zeroize::{Zeroize, Zeroizing};

const U: Step = step!("5.u");
const E: Step = step!("3.e");
const ECHO: Step = step!("3.echo");
const COIN: Step = step!("6.coin");

/// Turns random shares of x, y and r into leaky triples. `z` holds r at first and the third share of the
/// triples in the end. Returns the seed of the partition into buckets, from a coin that was tossed after
/// every triple was fixed \[W16\]. Five rounds: U; e; a coin; commitments, with the echo of e; openings.
/// Among three or more parties six: the echo then travels with the products that the check needs.
pub(crate) fn laand(
    session: &mut Session,
    setup: &mut Setup,
    context: &TripleContext<'_>,
    x: &View<'_>,
    y: &View<'_>,
    z: &mut ViewMut<'_>,
) -> Result<[u8; 16], Abort> {
    let delta = setup.delta().get();
    let TripleContext { seats, form, .. } = *context;
    #[cfg(feature = "testing")]
    divisi_ot::record::note(|records| {
        x.keys.iter().chain(&y.keys).for_each(|keys| records.used.extend(*keys));
        z.keys.iter().for_each(|keys| records.used.extend(&**keys));
    });
    // 4. and 5., and 2. in the paper's form: G_i = x^i Phi_i + sum of K_i[x^k]_Phi_i + M_k[x^i]_Phi_k
    let mut g = WipedVec::<u128>::zeros(x.len());
    let mut cross = haand::Cross::new(session, form, x.len());
    session.exchange(|session| halves(session, context, x, y, delta, &mut g, &mut cross))?;
    // 3. z^i; e^i = z^i + r^i is sent to all
    let share: WipedVec<u8> = match form {
        GarblingForm::Improved => g.iter().map(|g| (g & 1) as u8).collect(),
        GarblingForm::Paper => cross.shares(x.bits, y.bits),
    };
    let echo = broadcast(session, seats, &share, z, delta)?;
    let coin = setup.toss(session, COIN)?; // [W15, W16]
    // 6. H_i, in the combination that nobody knew before
    session.covers(checks::W15, || 128 * g.len());
    let sum = combination(&g, &z.view(), delta, &expanded(&coin, "coefficients"));
    zero::check(session, context, &context.fresh, delta, echo, sum)?;
    session.observe(checks::W16); // [W16]
    Ok(expanded(&coin, "partition"))
}

/// Steps 4 and 5, and 2 in the paper's form, message by message: our messages do not depend on those of
/// others. One round.
fn halves(
    session: &mut Session,
    context: &TripleContext<'_>,
    x: &View<'_>,
    y: &View<'_>,
    delta: u128,
    g: &mut [u128],
    cross: &mut haand::Cross,
) -> Result<(), Abort> {
    let (me, m) = (session.me(), x.len());
    let mut phi = Zeroizing::new([0; CHUNK]);
    let mut scratch = Scratch::default();
    // for each peer a triple has one target: a pair of keys that differ by Delta
    let named = |session: &Session, holder, owner| {
        context.oracle.named(session, context.name(Call::LaAnd, holder, owner), 1)
    };
    let mut of_ours: Vec<_> = session.peers().into_iter().map(|peer| named(session, me, peer)).collect();
    let mut of_theirs: Vec<_> = session.peers().into_iter().map(|peer| named(session, peer, me)).collect();
    let mut bodies = vec![Vec::with_capacity(16 * m.min(MESSAGE)); context.seats.peers()];
    let mut body = vec![0; 16 * m.min(MESSAGE)];
    let messages = m.div_ceil(MESSAGE);
    for message in 0..messages + AHEAD {
        if message < messages {
            let at = message * MESSAGE..m.min((message + 1) * MESSAGE);
            for first in at.clone().step_by(CHUNK) {
                let at = first..at.end.min(first + CHUNK);
                // 4. Phi_i
                let phi = &mut phi[..at.len()];
                times(&y.bits[at.clone()], delta, phi);
                for words in y.keys.iter().chain(&y.macs) {
                    add(phi, &words[at.clone()]);
                }
                // 5. as the holder of the keys
                let g = &mut g[at.clone()];
                add_times(&x.bits[at.clone()], phi, g);
                for ((keys, calls), body) in x.keys.iter().zip(&mut of_ours).zip(&mut bodies) {
                    scratch.ours(calls, &keys[at.clone()], delta, phi, g, body);
                }
            }
            for (peer, body) in session.peers().into_iter().zip(&mut bodies) {
                session.send(U, peer, body, 8 * body.len() as u64)?;
                body.clear();
            }
            if message + 1 == messages {
                // 2., after the last part of step 5
                for (place, peer) in session.peers().into_iter().enumerate() {
                    cross.send(session, context, peer, x.keys[place], y.bits, delta)?;
                }
            }
        }
        // 5. as the owner of the bits
        if let Some(message) = message.checked_sub(AHEAD) {
            let at = message * MESSAGE..m.min((message + 1) * MESSAGE);
            for (place, peer) in session.peers().into_iter().enumerate() {
                body.truncate(16 * at.len());
                session.recv(U, peer, &mut body)?;
                let (macs, bits) = (&x.macs[place][at.clone()], &x.bits[at.clone()]);
                scratch.theirs(&mut of_theirs[place], macs, bits, &body, &mut g[at.clone()]);
            }
        }
    }
    for (place, peer) in session.peers().into_iter().enumerate() {
        cross.recv(session, context, peer, x.macs[place], x.bits)?;
    }
    Ok(())
}

/// Derives a seed for one purpose from a coin.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn expanded(coin: &[u8; 16], purpose: &str) -> [u8; 16] {
    let mut out = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble coin v1");
    hasher.update(coin).update(purpose.as_bytes());
    hasher.expand(purposes::OF_COIN).fill(&mut out);
    out
}

/// `out` = each bit times the word.
fn times(bits: &[u8], word: u128, out: &mut [u128]) {
    vectorize(
        #[inline(always)]
        || out.iter_mut().zip(bits).for_each(|(out, bit)| *out = spread(*bit) & word),
    );
}

/// Adds words to `sums`, one to one.
fn add(sums: &mut [u128], words: &[u128]) {
    vectorize(
        #[inline(always)]
        || sums.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word),
    );
}

/// Adds each bit times its word to `sums`.
fn add_times(bits: &[u8], words: &[u128], sums: &mut [u128]) {
    vectorize(
        #[inline(always)]
        || sums.iter_mut().zip(words).zip(bits).for_each(|((sum, word), bit)| *sum ^= word & spread(*bit)),
    );
}

/// Buffers for hashing.
#[derive(Default)]
struct Scratch {
    inputs: Vec<u128>,
    hashes: Vec<u128>,
}

impl Scratch {
    /// Step 5 as the holder of the keys: makes U for the peer, and adds K_i\[x^j\]_Phi_i to g.
    fn ours(
        &mut self,
        calls: &mut Named<'_>,
        keys: &[u128],
        delta: u128,
        phi: &[u128],
        g: &mut [u128],
        body: &mut Vec<u8>,
    ) {
        self.inputs.clear();
        self.inputs.extend(keys.iter().flat_map(|key| [*key, key ^ delta]));
        self.hashes.resize(self.inputs.len(), 0);
        calls.expand(&self.inputs, 1, |i| (i / 2, 0), &mut self.hashes);
        calls.advance(keys.len());
        let from = body.len();
        body.resize(from + 16 * keys.len(), 0);
        let words = body[from..].as_chunks_mut::<16>().0;
        let hashes = self.hashes.as_chunks::<2>().0;
        for (((hash, phi), g), word) in hashes.iter().zip(phi).zip(g).zip(words) {
            *g ^= hash[0];
            *word = (hash[0] ^ hash[1] ^ phi).to_le_bytes();
        }
    }

    /// Step 5 as the owner of the bits: adds M_k\[x^i\]_Phi_k to g.
    fn theirs(&mut self, calls: &mut Named<'_>, macs: &[u128], x: &[u8], body: &[u8], g: &mut [u128]) {
        let words = body.as_chunks::<16>().0;
        for (c, macs) in macs.chunks(CHUNK).enumerate() {
            let first = c * CHUNK;
            self.hashes.resize(macs.len(), 0);
            calls.expand(macs, 1, |i| (i, 0), &mut self.hashes);
            calls.advance(macs.len());
            let at = first..first + macs.len();
            let all = g[at.clone()].iter_mut().zip(&self.hashes).zip(&x[at.clone()]).zip(&words[at]);
            for (((g, hash), bit), word) in all {
                *g ^= hash ^ spread(*bit) & u128::from_le_bytes(*word);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.inputs.zeroize();
        self.hashes.zeroize();
    }
}

/// Keys that are hashed at once.
const CHUNK: usize = 256;
/// Words of a message of step 5.
const MESSAGE: usize = 4096;
/// Messages of step 5 that are sent before the first one of a peer is awaited. If it were small, the delay of
/// a slow connection would be paid many times.
const AHEAD: usize = 32;

/// Step 3: sends e^i = z^i + r^i to all. The shares of r become shares of z: everybody's e is added to our
/// keys.
fn broadcast(
    session: &mut Session,
    seats: Seats,
    share: &[u8],
    z: &mut ViewMut<'_>,
    delta: u128,
) -> Result<Echo, Abort> {
    let m = share.len();
    let e: Vec<u8> = share.iter().zip(&*z.bits).map(|(z, r)| z ^ r).collect();
    let mut body = Vec::with_capacity(bits::packed(m));
    bits::pack(&e, &mut body);
    for peer in session.peers() {
        session.send(E, peer, &body, m as u64)?;
    }
    z.bits.copy_from_slice(share);
    let mut told = vec![Vec::new(); seats.n];
    told[seats.me] = body;
    for (place, peer) in session.peers().into_iter().enumerate() {
        let mut body = vec![0; bits::packed(m)];
        session.recv(E, peer, &mut body)?;
        let e = bits::unpack(&body, m);
        session.well_formed(E, peer, body.len(), e.is_some())?;
        let keys = z.keys[place].iter_mut().zip(e.unwrap_or_default());
        keys.for_each(|(key, e)| *key ^= spread(e) & delta);
        told[seats.party(place)] = body;
    }
    let mut echo = Echo::new(session, ECHO);
    for (party, e) in PartyId::all(seats.n).zip(&told) {
        echo.absorb(party, e);
    }
    Ok(echo)
}

/// Step 6: our combination, with coefficients from `seed`, of the H_i = G_i + z^i Delta_i + sum of K_i\[z^k\]
/// + M_k\[z^i\].
fn combination(g: &[u128], z: &View<'_>, delta: u128, seed: &[u8; 16]) -> Gf128 {
    let mut prg = Prg::of(purposes::COEFFICIENTS, seed);
    let mut words = [0u64; 2 * CHUNK];
    let mut coefficients = [Gf128(0); CHUNK];
    let mut h = [Gf128(0); CHUNK];
    let mut sums = Zeroizing::new([0; CHUNK]);
    let mut sum = Gf128(0);
    for first in (0..g.len()).step_by(CHUNK) {
        let at = first..g.len().min(first + CHUNK);
        let (h, sums) = (&mut h[..at.len()], &mut sums[..at.len()]);
        times(&z.bits[at.clone()], delta, sums);
        add(sums, &g[at.clone()]);
        for words in z.keys.iter().chain(&z.macs) {
            add(sums, &words[at.clone()]);
        }
        h.iter_mut().zip(&*sums).for_each(|(h, sum)| h.0 = *sum);
        let words = &mut words[..2 * at.len()];
        prg.words(words);
        for (c, w) in coefficients.iter_mut().zip(words.as_chunks::<2>().0) {
            c.0 = u128::from(w[0]) | u128::from(w[1]) << 64;
        }
        sum += Gf128::dot(h, &coefficients[..at.len()]);
    }
    h.iter_mut().for_each(|h| h.0.zeroize());
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The coefficient of each of `m` triples: the change of the combination when one word of the triple
    /// changes.
    fn coefficients(seed: &[u8; 16], m: usize) -> Vec<u128> {
        let none = vec![0; m];
        let bits = vec![0; m];
        let of = |t: usize| {
            let mut g = none.clone();
            g[t] = 1;
            let z = View { bits: &bits, macs: vec![&none, &none], keys: vec![&none, &none] };
            combination(&g, &z, 0, seed).0
        };
        (0..m).map(of).collect()
    }

    /// Every triple has its own coefficient of 128 bits: none occurs twice, within a chunk, across chunks or
    /// under another seed. The coefficients of a batch span all 128 bits, and each bit is set in about half
    /// of them.
    #[test]
    fn coefficients_are_distinct_and_span_all_bits() {
        let (m, mut seen) = (3 * CHUNK + 5, HashSet::new());
        for seed in [[1; 16], [2; 16], std::array::from_fn(|i| 1 + u8::from(i == 15))] {
            let all = coefficients(&seed, m);
            for c in &all {
                assert!(seen.insert(*c), "a coefficient occurs twice");
            }
            // Gaussian elimination: each bit is the highest one of some sum of coefficients
            let mut basis: Vec<u128> = Vec::new();
            for c in &all {
                let rest = basis.iter().fold(*c, |c, b| c.min(c ^ b));
                if rest != 0 {
                    basis.push(rest);
                    basis.sort_unstable_by_key(|b| std::cmp::Reverse(*b));
                }
            }
            assert_eq!(basis.len(), 128);
            for bit in 0..128 {
                let ones = all.iter().filter(|c| *c >> bit & 1 == 1).count() as f64;
                // eight standard deviations
                assert!((ones - m as f64 / 2.0).abs() < 4.0 * (m as f64).sqrt(), "{bit}");
            }
        }
    }

    /// A long list is combined to its end, each triple with its own part of the stream: of equal coefficients
    /// two equal errors would cancel.
    #[test]
    fn a_long_list_has_a_coefficient_for_each_triple() {
        let (m, seed) = (80 * CHUNK + 3, [9; 16]);
        let mut words = vec![0; 2 * m];
        Prg::new(&seed).words(&mut words);
        let mut g = vec![0; m];
        let mut expected = Gf128(0);
        for (t, (g, w)) in g.iter_mut().zip(words.as_chunks::<2>().0).enumerate() {
            *g = (t as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            expected += Gf128(*g) * Gf128(u128::from(w[0]) | u128::from(w[1]) << 64);
        }
        let (none, bits) = (vec![0; m], vec![0; m]);
        let z = View { bits: &bits, macs: vec![&none], keys: vec![&none] };
        assert_eq!(combination(&g, &z, 0, &seed).0, expected.0);
    }

    /// Each part of a triple enters the combination with the triple's coefficient, in all bits: its sum, its
    /// bit times Delta, each peer's MAC and key.
    #[test]
    fn all_of_a_triple_is_combined() {
        let (m, seed) = (CHUNK + 3, [9; 16]);
        let all = coefficients(&seed, m);
        let peers = 3;
        for t in [0, 1, CHUNK - 1, CHUNK, m - 1] {
            for word in [1, 1 << 64, 1 << 127, 0x1234_5678_9abc_def0_0fed_cba9_8765] {
                for place in 0..2 * peers + 2 {
                    let mut g = vec![0; m];
                    let mut bits = vec![0; m];
                    let mut words = vec![vec![0; m]; 2 * peers];
                    let mut delta = 0;
                    match place.checked_sub(2) {
                        Some(k) => words[k][t] = word,
                        None if place == 0 => g[t] = word,
                        None => (bits[t], delta) = (1, word),
                    }
                    let (macs, keys) = words.split_at(peers);
                    let (macs, keys) = [macs, keys].map(|w| w.iter().map(Vec::as_slice).collect()).into();
                    let z = View { bits: &bits, macs, keys };
                    let sum = combination(&g, &z, delta, &seed);
                    assert_eq!(sum, Gf128(all[t]) * Gf128(word), "{t} {place}");
                }
            }
        }
    }

    /// Derived seeds differ by purpose and depend on the whole coin.
    #[test]
    fn a_coin_gives_another_thing_for_each_purpose() {
        let mut seen = HashSet::new();
        for byte in 0..17 {
            let mut coin = [3; 16];
            if let Some(byte) = coin.get_mut(byte) {
                *byte ^= 0x40;
            }
            for purpose in ["coefficients", "partition"] {
                assert!(seen.insert(expanded(&coin, purpose)));
            }
        }
    }
}
