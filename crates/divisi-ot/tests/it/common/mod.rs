//! Set-ups of all parties in one process, how they end, and how often attacks succeed.

use divisi_core::DrawPurpose;
use divisi_core::testing::{many, run};
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_net::Fault;
use divisi_ot::record::Call;
use divisi_ot::{Setup, SetupConfig};
use std::collections::{HashMap, HashSet};

static INPUTS: DrawPurpose = DrawPurpose::of_test("inputs");

pub fn parameters() -> PublicParameters {
    PublicParameters::new("ot tests")
}

/// What a party does that makes the usual set-up, and then `act`.
pub fn set_up<R>(
    act: impl Fn(&mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> impl Fn(Session) -> Result<R, Abort> + Sync {
    move |mut session| {
        session.phase("setup");
        let mut setup = Setup::new(&mut session, SetupConfig::default())?;
        act(&mut session, &mut setup)
    }
}

/// How `n` parties end that do this.
pub fn ends<R: Send>(
    n: usize,
    act: impl Fn(&mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    run(n, &parameters(), set_up(act))
}

/// The results of honest parties.
pub fn honest<R>(ends: Vec<Result<R, Abort>>) -> Vec<R> {
    ends.into_iter().map(Result::unwrap).collect()
}

/// Demands that no party goes on, because one of them was called as it must not be.
pub fn refused<R>(ends: Vec<Result<R, Abort>>, what: &str) {
    let ends: Vec<_> = ends.into_iter().map(|end| end.map(drop)).collect();
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{what}: {ends:?}");
    assert!(ends.iter().all(Result::is_err), "{what}: {ends:?}");
}

/// Whether a party ended because of a message of this peer that is none.
pub fn malformed<R>(end: &Result<R, Abort>, by: PartyId) -> bool {
    matches!(end, Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == by)
}

/// Random words for this many bits, with zeros after the last one.
pub fn random(session: &Session, bits: usize) -> Vec<u64> {
    let mut bytes = vec![0; 8 * bits.div_ceil(64)];
    session.entropy(&INPUTS, &mut bytes);
    let mut words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    if let (Some(last), true) = (words.last_mut(), !bits.is_multiple_of(64)) {
        *last &= (1 << (bits % 64)) - 1;
    }
    words
}

/// Demands that the bits of all parties times their payloads are their shares, word by word.
pub fn are_products(views: &[[Vec<u64>; 3]]) {
    for at in 0..views[0][0].len() {
        let [x, y, z] = [0, 1, 2].map(|part| views.iter().fold(0, |sum, view| sum ^ view[part][at]));
        assert_eq!(x & y, z, "{} parties, word {at}", views.len());
    }
}

/// Demands that no two calls of the hash at party `me` have the same key and tweak, except for the two hashes
/// of a row at its holder. Returns with how many keys and tweaks it has both, and what it hashed with each.
pub fn hashed_once(me: PartyId, calls: &[Call]) -> (usize, HashMap<(u128, u128), HashSet<u128>>) {
    let mut seen = HashMap::<_, HashSet<u128>>::new();
    for call in calls {
        assert!(seen.entry((call.key, call.tweak)).or_default().insert(call.input));
    }
    let holds = |key: u128| (key >> 72) as u8 == me.number();
    assert!(seen.iter().all(|((key, _), inputs)| inputs.len() == if holds(*key) { 2 } else { 1 }));
    (seen.keys().filter(|(key, _)| holds(*key)).count(), seen)
}

/// Check that of `of` trials, which succeed with probability `p` each, the expected number succeeds, within
/// three standard deviations. Chance alone exceeds these once in 370 times; then four times as many trials
/// decide, and if they do not fit either, 16 times as many.
pub fn as_often_as(trials: impl Fn(usize) -> usize, of: usize, p: f64) {
    let fits = |of: usize| {
        let (count, mean, deviation) = (trials(of), of as f64 * p, (of as f64 * p * (1.0 - p)).sqrt());
        println!("{count} of {of}, expected {mean} +- {deviation}");
        (count as f64 - mean).abs() <= 3.0 * deviation
    };
    assert!(fits(of) || fits(4 * of) || fits(16 * of));
}

/// How many of so many trials pass. A run that ends early mostly waits.
pub fn passed(trials: usize, threads: usize, passes: &(dyn Fn() -> bool + Sync)) -> usize {
    many(trials, threads, |_| passes()).into_iter().filter(|passed| *passed).count()
}
