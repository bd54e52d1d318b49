//! All parties of a session in one process, shares of what a test knows, and how a misuse ends.

use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_circuit::{Build, Gates, Program};
pub use divisi_core::testing::refused_for;
use divisi_core::testing::{party, run};
use divisi_core::{Abort, PublicParameters as Agreed, Session};
use divisi_field::zp::{Modulus, P32};
use divisi_mixed::{Gmw, GmwBit, Mixed, Num};
use divisi_ot::SetupConfig;
use std::sync::{Arc, Barrier};

pub fn agreed() -> Agreed {
    Agreed::new("mixed tests")
}

pub fn plain() -> Modulus {
    Modulus::new(P32).unwrap()
}

/// The insecure ring for numbers below the prime of 32 bits.
pub fn small(operation: Operation, form: Form, n: usize) -> Arc<Ring> {
    ring(Parameters::danger_insecure(operation, form, n, P32).unwrap())
}

/// The same with this many hops before a ciphertext is refreshed.
pub fn in_runs(operation: Operation, form: Form, n: usize, length: usize) -> Arc<Ring> {
    ring(Parameters::danger_insecure_in_runs(operation, form, n, P32, length).unwrap())
}

pub fn ring(parameters: Parameters) -> Arc<Ring> {
    Arc::new(Ring::new(parameters).unwrap())
}

/// The product of two bits.
pub fn product() -> Program {
    let mut g = Build::new();
    let [x, y] = g.input(2)[..] else { panic!("two wires") };
    let product = g.and(x, y);
    g.output(&[product]);
    g.finish()
}

/// How `n` parties end that compute with numbers below this modulus, with rings for random bits and for
/// products.
pub fn parties<R: Send>(
    n: usize,
    plain: Modulus,
    rings: [Option<&Arc<Ring>>; 2],
    act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let agreed = rings.into_iter().flatten().fold(agreed(), |all, ring| ring.parameters().describe(all));
    run(n, &agreed, |session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        act(&mut Mixed::new(gmw, plain, rings[0], rings[1])?)
    })
}

/// How the parties of a ring end that have its keys.
pub fn with_keys<R: Send>(
    ring: &Arc<Ring>,
    act: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    run(ring.parameters().parties(), &ring.parameters().describe(agreed()), |mut session| {
        let keys = Keys::generate(&mut session, ring)?;
        let mut sampler = Sampler::new(&session);
        act(&mut session, &keys, &mut sampler)
    })
}

/// The results of honest parties.
pub fn honest<R>(ends: Vec<Result<R, Abort>>) -> Vec<R> {
    ends.into_iter().map(Result::unwrap).collect()
}

/// Demands that a party refused a call.
pub fn refused<R>(ends: Vec<Result<R, Abort>>) {
    let ends: Vec<_> = ends.into_iter().map(|end| end.map(drop)).collect();
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
}

/// Of each of two parties of another session a shared bit and four shared numbers.
pub fn foreign() -> Vec<(GmwBit, Num)> {
    honest(parties(2, plain(), [None; 2], |mixed| {
        let mine = mixed.session().me() == party(1);
        let mut input = |lanes| {
            let value = Some(GmwBit::zero(lanes)).filter(|_| mine);
            mixed.gmw().input(party(1), lanes, value.as_ref())
        };
        let (bit, four) = (input(1)?, input(4)?);
        Ok((bit, mixed.b2a(&[four])?))
    }))
}

/// Two parties that do something twice, wait for each other, and then refuse calls by themselves
/// ([`refused_for`]).
pub fn refused_after<T>(
    ring: &Arc<Ring>,
    accepted: impl Fn(&mut Session, &Keys, &mut Sampler) -> Result<T, Abort> + Sync,
    refused: impl Fn(&mut Session, &Keys, &mut Sampler, T) + Sync,
) {
    let all = Barrier::new(2);
    honest(with_keys(ring, |session, keys, sampler| {
        let first = accepted(session, keys, sampler);
        let made = first.and_then(|_| accepted(session, keys, sampler));
        all.wait();
        refused(session, keys, sampler, made?);
        Ok(())
    }));
}

/// The share of party `me` of the i-th number: those of the others are hashes, the first has the rest.
pub fn share(n: usize, me: usize, i: usize, x: u64, modulus: u64) -> u64 {
    let of = |party: usize| (i as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ party as u64) % modulus;
    if me == 0 { (1..n).fold(x, |x, party| (x + modulus - of(party)) % modulus) } else { of(me) }
}

/// Demands that the parties' shares of bits and of numbers modulo p are of the same bits. Returns how many of
/// these are one.
pub fn ones(p: u64, shares: &[(&[u64], &[u64])]) -> u64 {
    let bit = |i: usize| {
        let r = shares.iter().fold(0, |r, (bits, _)| r ^ bits[i]);
        let x = shares.iter().fold(0, |x, (_, numbers)| (x + numbers[i]) % p);
        assert!(r == x && r < 2, "{} parties, bit {i}: {r} {x}", shares.len());
        r
    };
    (0..shares[0].0.len()).map(bit).sum()
}
