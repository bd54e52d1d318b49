//! Whether the values of all parties add up to zero, without revealing anything else: the end of Pi_LaAND
//! (steps 6 and 7 of Fig. 8), with a change.
//!
//! Each P_i has S_i in GF(2^128), its combination of the H_i; T is the sum of all S_i. In the figure the
//! parties commit to the H_i and open them. If a triple is wrong, the opened values reveal more than that: a
//! party that sent a wrong e moved T by a multiple of the honest Delta which it knows, and computes Delta
//! from the opening. If nothing has been garbled yet, only a session without secrets is lost. But tables of
//! an earlier batch or circuit of the session may exist. Delta decrypts all of their rows, and so reveals the
//! inputs (test `an_abort_does_not_tell_delta`). The change:
//!
//! *Two parties*: T is zero exactly if S_1 = S_2. Each party commits to a hash of its S_i and opens the hash.
//! This takes no more rounds; an adversary that is caught learns nothing that it can use without guessing
//! Delta.
//!
//! *Three or more parties*: each P_i draws r_i, and T R is opened instead, where R is the sum of all r_i. It
//! is zero if T is, and else uniform for everybody who does not know all r_i. The products S_i r_j are made
//! like those of step 5. P_i has 128 authenticated bits v_b that nobody else knows; v_i is the field element
//! with these bits, the sum of all v_b y^b for the indeterminate y. P_j sends U_b = H(K_j\[v_b\]) +
//! H(K_j\[v_b\] + Delta_j) + r_j y^b for each of them. Then H(M_j\[v_b\]) + v_b U_b and H(K_j\[v_b\]) add up
//! to v_b r_j y^b. P_i sends c_i = S_i + v_i, and P_j adds c_i r_j. This costs one round more, and 2,064
//! bytes to each peer.
//!
//! Adversary: n - 1 malicious parties, rushing. A wrong U adds a linear function of v_i; a wrong c is the
//! same as another S_i, which its sender could have had from the start. In both cases: if T is not zero, T R
//! is uniform, and zero with probability 2^-128 (docs/garbling.md, 10).

use crate::checks;
use crate::context::TripleContext;
use crate::hash::{Call, Name};
use crate::purposes;
use crate::share::{Shares, spread};
use divisi_core::{Abort, Commitment, ComparedDigest, Difference, Echo, PartyId, Session, Step, step, taint};
use divisi_field::{Field, Gf128};
use zeroize::Zeroizing;

const PRODUCT: Step = step!("6.product");
const COMMIT: Step = step!("6.commit");
const OPEN: Step = step!("6.open");

/// How many authenticated bits one check uses up.
pub(crate) fn bits(parties: usize) -> usize {
    if parties > 2 { 128 } else { 0 }
}

/// Demands that the sums of all parties, of which ours is `sum`, add up to zero \[W15\]. `fresh` has as many
/// shares as [`bits`] says, used for nothing else. Among more than two parties the first messages carry the
/// echo of step 3's broadcast, which is compared before anything depends on it \[W13\]. Two rounds between
/// two parties, three among more.
pub(crate) fn check(
    session: &mut Session,
    context: &TripleContext<'_>,
    fresh: &Shares,
    delta: u128,
    echo: Echo,
    sum: Gf128,
) -> Result<(), Abort> {
    if session.parties() == 2 {
        // there is nobody else who could have been told something else
        return two(session, sum);
    }
    let share = Zeroizing::new(product(session, context, fresh, delta, echo, sum)?.0.to_le_bytes());
    let opened = commit_and_open(session, share.as_slice())?;
    let mut total = Difference::default();
    total.add(opened.iter().fold(u128::from_le_bytes(*share), |sum, theirs| sum ^ u128_of(theirs)));
    let zero = taint::verdict(OPEN, total.is_zero());
    session.require(checks::W15, OPEN, zero, None) // [W15]
}

/// Between two parties: demands that both have the same sum.
fn two(session: &mut Session, sum: Gf128) -> Result<(), Abort> {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble zero v1");
    hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
    let index = session.count(PRODUCT.name);
    hasher.update(&index.to_le_bytes()).update(&sum.0.to_le_bytes());
    let ours = hasher.to_compare();
    let opened = commit_and_open(session, &ours)?;
    let mut same = true;
    for theirs in &opened {
        let mut digest = [0; 32];
        digest.iter_mut().zip(theirs.iter()).for_each(|(out, byte)| *out = *byte);
        same &= session.same_digest(&ours, &digest);
    }
    session.require(checks::W15, OPEN, same, None) // [W15]
}

/// Among three or more parties: our share of T R.
fn product(
    session: &mut Session,
    context: &TripleContext<'_>,
    fresh: &Shares,
    delta: u128,
    echo: Echo,
    sum: Gf128,
) -> Result<Gf128, Abort> {
    #[cfg(feature = "testing")]
    divisi_ot::record::note(|records| fresh.keys.iter().for_each(|keys| records.used.extend(&**keys)));
    let mut r = Zeroizing::new([0; 16]);
    session.entropy(purposes::FACTOR, r.as_mut_slice());
    let r = Gf128(u128::from_le_bytes(*r));
    let v = fresh.bits.iter().rev().fold(0, |word, bit| word << 1 | u128::from(*bit));
    let me = session.me();
    let name = |from: PartyId, to: PartyId| Name { call: Call::Zero, from, to, gate: context.first };
    // all bits of one check have the number of its first triple
    let targets = fresh.len();
    let mut share = sum * r;
    let echoed = echo.send(session)?;
    let (mut inputs, mut hashes) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    let mut body = Vec::with_capacity(16 * (1 + fresh.len()));
    for (place, peer) in session.peers().into_iter().enumerate() {
        inputs.clear();
        inputs.extend(fresh.keys[place].iter().flat_map(|key| [*key, key ^ delta]));
        hashes.resize(inputs.len(), 0);
        context.oracle.named(session, name(me, peer), targets).expand(
            &inputs,
            1,
            |i| (0, i / 2),
            &mut hashes,
        );
        body.clear();
        body.extend_from_slice(&(sum.0 ^ v).to_le_bytes());
        let mut power = r;
        for hash in hashes.as_chunks::<2>().0 {
            share.0 ^= hash[0];
            body.extend_from_slice(&(hash[0] ^ hash[1] ^ power.0).to_le_bytes());
            power *= Gf128::from_low_bits(2);
        }
        session.send(PRODUCT, peer, &body, 128 * (1 + fresh.len()) as u64)?;
    }
    // nothing that was made with different e goes any further
    echoed.compare(session, checks::W13)?; // [W13]
    for (place, peer) in session.peers().into_iter().enumerate() {
        body.resize(16 * (1 + fresh.len()), 0);
        session.recv(PRODUCT, peer, &mut body)?;
        hashes.resize(fresh.len(), 0);
        let mut calls = context.oracle.named(session, name(peer, me), targets);
        calls.expand(&fresh.macs[place], 1, |i| (0, i), &mut hashes);
        let words = body.as_chunks::<16>().0;
        for ((hash, bit), u) in hashes.iter().zip(&*fresh.bits).zip(&words[1..]) {
            share.0 ^= hash ^ spread(*bit) & u128::from_le_bytes(*u);
        }
        share += Gf128(u128::from_le_bytes(words[0])) * r;
    }
    Ok(share)
}

/// Every party commits to a message of the same length, and opens it when all commitments have arrived
/// \[W14\]. Returns the messages of the others.
fn commit_and_open(session: &mut Session, payload: &[u8]) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
    let index = session.count(COMMIT.name);
    let (commitment, nonce) = session.commit(COMMIT, index, payload);
    for peer in session.peers() {
        session.send(COMMIT, peer, &commitment.0, 0)?;
    }
    let mut commitments = Vec::with_capacity(session.parties());
    for peer in session.peers() {
        let mut theirs = [0; 32];
        session.recv(COMMIT, peer, &mut theirs)?;
        commitments.push(Commitment(theirs));
    }
    let mut body = Zeroizing::new(nonce.as_bytes().to_vec());
    body.extend_from_slice(payload);
    for peer in session.peers() {
        session.send(OPEN, peer, &body, 0)?;
    }
    let mut opened = Vec::with_capacity(commitments.len());
    for (peer, commitment) in session.peers().into_iter().zip(&commitments) {
        session.recv(OPEN, peer, &mut body)?;
        let (nonce, theirs) = body.split_at(32);
        let mut full = [0; 32];
        full.copy_from_slice(nonce);
        session.opened(checks::W14, COMMIT, index, peer, commitment, &full, theirs)?; // [W14]
        opened.push(Zeroizing::new(theirs.to_vec()));
    }
    Ok(opened)
}

fn u128_of(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::hash::Oracle;
    use crate::lab::GarbleLab;
    use crate::share::Seats;
    use divisi_core::testing::{MessageDirection, links, run};

    /// Two parties compare their sums and need no bits; among more each pair's product takes one
    /// authenticated bit for each bit of a sum.
    #[test]
    fn a_check_takes_a_bit_for_each_bit_of_a_sum() {
        assert_eq!([2, 3, 4, 128].map(bits), [0, 128, 128, 128]);
    }

    /// The result of the check of these sums at each party.
    fn checked(sums: &[u128]) -> Vec<Result<(), Abort>> {
        let (lab, n) = (GarbleLab::default(), sums.len());
        run(n, &lab.parameters(), |mut session| {
            let session = &mut session;
            let mut setup = divisi_ot::testing::deal(session, lab.config, lab.seed)?;
            let all = setup.authenticated_bits(session, 1 + bits(n))?;
            let fresh = Shares::of(session.me(), all).copy(1..1 + bits(n));
            let (seats, oracle) = (Seats { me: session.me().index(), n }, Oracle::new(session));
            let context = TripleContext { seats, oracle: &oracle, form: lab.options.form, first: 5, fresh };
            let mut echo = Echo::new(session, step!("broadcast"));
            PartyId::all(n).for_each(|party| echo.absorb(party, &[1]));
            let sum = Gf128(sums[session.me().index()]);
            check(session, &context, &context.fresh, setup.delta().get(), echo, sum)
        })
    }

    /// What each party sends to each other one to open T R hides all bits of its sum: here the sums are zero,
    /// and each bit takes both values.
    #[test]
    fn no_bit_of_a_sum_is_sent_bare() {
        const CHECKS: usize = 64;
        let (lab, n) = (GarbleLab::default(), 3);
        let harness = lab.harness(n);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let session = &mut session;
            let mut setup = divisi_ot::testing::deal(session, lab.config, lab.seed)?;
            let all = setup.authenticated_bits(session, CHECKS * bits(n))?;
            let (all, oracle) = (Shares::of(session.me(), all), Oracle::new(session));
            let seats = Seats { me: session.me().index(), n };
            for at in 0..CHECKS {
                let fresh = all.copy(at * bits(n)..(at + 1) * bits(n));
                let (form, first) = (lab.options.form, at as u64);
                let context = TripleContext { seats, oracle: &oracle, form, first, fresh };
                let mut echo = Echo::new(session, step!("broadcast"));
                PartyId::all(n).for_each(|party| echo.absorb(party, &[1]));
                check(session, &context, &context.fresh, setup.delta().get(), echo, Gf128(0))?;
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
        for (from, to) in links(n) {
            let sent = recordings[from.index()].bodies(MessageDirection::Out, to, PRODUCT.name);
            assert_eq!(sent.len(), CHECKS);
            for word in 0..1 + bits(n) {
                let words = || sent.iter().map(|body| u128_of(&body[16 * word..][..16]));
                assert_eq!(words().fold(0, |any, word| any | word), u128::MAX, "{from} {to} {word}");
                assert_eq!(words().fold(u128::MAX, |all, word| all & word), 0, "{from} {to} {word}");
            }
        }
    }

    #[test]
    fn zero_is_accepted_and_nothing_else_is() {
        for n in 2..=5_usize {
            let mut sums: Vec<u128> =
                (1..n as u128).map(|i| i.wrapping_mul(u128::MAX / 11) ^ i << 99).collect();
            sums.push(sums.iter().fold(0, |sum, x| sum ^ x));
            let ends = checked(&sums);
            assert!(ends.iter().all(Result::is_ok), "{n} {ends:?}");
            assert!(checked(&vec![0; n]).iter().all(Result::is_ok), "{n}");
            for bit in [0, 1, 64, 127] {
                let mut wrong = sums.clone();
                wrong[n / 2] ^= 1 << bit;
                let ends = checked(&wrong);
                assert!(ends.iter().all(Result::is_err), "{n} {bit}");
                let says = |end: &Result<(), Abort>| {
                    matches!(end, Err(Abort::CheckFailed { check: checks::W15, culprit: None, .. }))
                };
                assert!(ends.iter().any(says), "{n} {bit}: {ends:?}");
            }
        }
    }

    /// The factor R has as many bits as Delta: of T = 1 what is opened is R itself. Were it shorter, whoever
    /// knows how T depends on Delta could try all of them.
    #[test]
    fn a_factor_is_as_long_as_a_sum() {
        let (lab, n) = (GarbleLab::default(), 3);
        let (mut any, mut all) = (0, u128::MAX);
        for _ in 0..32 {
            let harness = lab.harness(n);
            let recordings = harness.recordings();
            let ends = harness.act(|mut session| {
                let session = &mut session;
                let mut setup = divisi_ot::testing::deal(session, lab.config, lab.seed)?;
                let fresh = Shares::of(session.me(), setup.authenticated_bits(session, bits(n))?);
                let (seats, oracle) = (Seats { me: session.me().index(), n }, Oracle::new(session));
                let form = lab.options.form;
                let context = TripleContext { seats, oracle: &oracle, form, first: 5, fresh };
                let mut echo = Echo::new(session, step!("broadcast"));
                PartyId::all(n).for_each(|party| echo.absorb(party, &[1]));
                let sum = Gf128(u128::from(session.me().index() == 0));
                check(session, &context, &context.fresh, setup.delta().get(), echo, sum)
            });
            assert!(ends.iter().all(Result::is_err));
            // behind the nonces
            let opened = recordings.iter().map(|seen| {
                let seen = seen.of(MessageDirection::Out, OPEN.name);
                seen.first().map_or(0, |seen| u128_of(&seen.frame.body[32..]))
            });
            let factor = opened.fold(0, |sum, share| sum ^ share);
            (any, all) = (any | factor, all & factor);
        }
        assert_eq!((any, all), (u128::MAX, 0));
    }
}
