//! Attacks on the proof that each party uses one Delta: on each equation, each prover, each verifier, each
//! commitment.

mod common;

use common::named;
use divisi_core::testing::{Harness, MessageDirection, Recording, failed_check, links, many, party};
use divisi_core::{Abort, Check, PartyId, PublicParameters};
use divisi_ot::adversary::Deviation;
use divisi_ot::checks;
use divisi_ot::{AuthBits, Base, Bits, Setup, SetupConfig};

const COMMIT: &str = "divisi_ot::abit::consistency/commit";
const BITS: &str = "divisi_ot::abit::consistency/bits";
const SUMS: &str = "divisi_ot::abit::consistency/sums";
const RHO: usize = 40;

fn parameters() -> PublicParameters {
    PublicParameters::new("attacks on the proof")
}

/// A set-up and one batch, in which the corrupt party deviates; it does not make the check that would stop
/// it.
fn play(harness: Harness, corrupt: PartyId, how: &Deviation) -> Vec<Result<AuthBits, Abort>> {
    let config = SetupConfig { k: 4, rho: RHO as u32, base: Base::Both };
    let deviates = *how != Deviation::default();
    let parameters = |p| match p == corrupt && deviates {
        true => parameters().without(checks::W10),
        false => parameters(),
    };
    harness.patient().act_each(parameters, |mut session| {
        let mut setup = match session.me() == corrupt {
            true => Setup::corrupt(&mut session, config, how.clone())?,
            false => Setup::new(&mut session, config)?,
        };
        setup.authenticated_bits(&mut session, 200)
    })
}

/// The same for wide rows over a field of 40 bits \[K12\].
fn play_over_field(harness: Harness, corrupt: PartyId, how: &Deviation) -> Vec<Result<AuthBits, Abort>> {
    let config = SetupConfig { k: 4, rho: RHO as u32, base: Base::Both };
    let deviates = *how != Deviation::default();
    let parameters = |p| match p == corrupt && deviates {
        true => parameters().without(checks::K12),
        false => parameters(),
    };
    harness.patient().act_each(parameters, |mut session| {
        let mut setup = match session.me() == corrupt {
            true => Setup::corrupt_over_field(&mut session, config, 40, how.clone())?,
            false => Setup::over_field(&mut session, config, 40)?,
        };
        Ok(setup.wide_rows(&mut session, Bits::Random(200))?.bits)
    })
}

fn harness() -> Harness {
    Harness::new(3, &parameters())
}

fn fails(end: &Result<AuthBits, Abort>, check: Check) -> bool {
    failed_check(end) == Some(check)
}

/// One false equation of 40 is found, whichever it is, and whoever the prover is.
#[test]
fn every_equation_is_looked_at() {
    many(RHO + 6, 3, |i| {
        let (r, prover) =
            if i < RHO { (i, party(1)) } else { ((i % 2) * (RHO - 1), party((i % 3) as u8 + 1)) };
        let how = Deviation { false_sums: vec![r], ..Deviation::default() };
        let ends = play(harness(), prover, &how);
        for honest in PartyId::all(3).filter(|p| *p != prover) {
            assert!(ends[honest.index()].is_err(), "{r} of {prover} at {honest}");
        }
        assert!(ends.iter().any(|end| fails(end, checks::W10)), "{r} of {prover}");
    });
}

/// Two equations with the same error do not cancel.
#[test]
fn equations_do_not_make_up_for_each_other() {
    let how = Deviation { false_sums: vec![3, 9], ..Deviation::default() };
    let ends = play(harness(), party(1), &how);
    assert!(ends[1..].iter().all(Result::is_err) && ends[1..].iter().any(|end| fails(end, checks::W10)));
}

/// Both verifiers check every prover: each of them finds a wrong MAC that it alone receives.
#[test]
fn every_bit_has_its_mac_for_everybody() {
    let mut jobs: Vec<_> = links(3).flat_map(|link| [0, RHO / 2, RHO - 1].map(|r| (link, r))).collect();
    jobs.extend((0..RHO).step_by(3).map(|r| ((party(1), party(2)), r)));
    many(jobs.len(), 3, |i| {
        let ((prover, verifier), r) = jobs[i];
        let how = Deviation { false_mac: Some((verifier, r)), ..Deviation::default() };
        let ends = play(harness(), prover, &how);
        // by name: the MAC itself is wrong, and no sum was looked at
        assert!(
            named(&ends[verifier.index()], checks::W10, prover),
            "{prover} to {verifier}, {r}: {:?}",
            ends[verifier.index()].as_ref().err()
        );
    });
}

/// A party that was told a wrong MAC opens none of its sums: it stops first \[W9\].
#[test]
fn no_sum_is_opened_before_every_bit_was_looked_at() {
    for (prover, verifier) in links(3) {
        let harness = harness();
        let recording = harness.recording(verifier);
        let how = Deviation { false_mac: Some((verifier, 0)), ..Deviation::default() };
        let ends = play(harness, prover, &how);
        assert!(recording.of(MessageDirection::Out, SUMS).is_empty(), "{prover} to {verifier}");
        assert!(fails(&ends[verifier.index()], checks::W10), "{prover} to {verifier}");
    }
}

/// A bit that is opened flipped, with the MACs of the true one, is found whichever it is.
#[test]
fn every_opened_bit_is_looked_at() {
    let at: Vec<usize> = (0..RHO).step_by(4).chain([RHO - 1]).collect();
    many(at.len(), 3, |i| {
        let how = Deviation { flipped_opening: Some(at[i]), ..Deviation::default() };
        let ends = play(harness(), party(1), &how);
        for end in &ends[1..] {
            assert!(end.is_err(), "{}", at[i]);
        }
        assert!(ends[1..].iter().any(|end| named(end, checks::W10, party(1))), "{}", at[i]);
    });
}

/// All commitments of every party are echoed, to their last byte.
#[test]
fn every_commitment_is_broadcast_whole() {
    let bytes = 32 * (2 * RHO + 1);
    let jobs: Vec<_> =
        links(3).flat_map(|link| [0, 31, bytes / 2, bytes - 33, bytes - 1].map(|at| (link, at))).collect();
    many(jobs.len(), 3, |i| {
        let ((from, to), at) = jobs[i];
        let harness = harness();
        harness.change(from, to, COMMIT, 0, move |body| body[at] ^= 0x80);
        let ends = play(harness, party(1), &Deviation::default());
        assert!(ends.iter().any(|end| fails(end, checks::W7)), "{from} {to} {at}");
        assert!(ends.iter().all(Result::is_err), "{from} {to} {at}");
    });
}

/// What is opened is what was committed to: any other bit, MAC or sum is refused by name.
#[test]
fn openings_are_what_was_committed() {
    let jobs: Vec<_> = links(3)
        .flat_map(|link| {
            [
                (BITS, 0, checks::W8),
                (BITS, 32, checks::W8),
                (BITS, 32 + 16 + 2 * RHO * 16 - 1, checks::W8),
                (SUMS, 0, checks::W9),
                (SUMS, 47, checks::W9),
                (SUMS, 48 * RHO - 1, checks::W9),
            ]
            .map(|(step, at, check)| (link, step, at, check))
        })
        .collect();
    many(jobs.len(), 3, |i| {
        let ((from, to), step, at, check) = jobs[i];
        let harness = harness();
        harness.change(from, to, step, 0, move |body| body[at] ^= 1);
        let ends = play(harness, party(1), &Deviation::default());
        let end = &ends[to.index()];
        assert!(named(end, check, from), "{from} {to} {step} {at}: {:?}", end.as_ref().err());
    });
}

/// A second Delta of 40 bits is found, whichever party uses it, towards whomever, and in whichever bit it
/// differs.
#[test]
fn a_second_delta_of_a_field_is_found() {
    let jobs: Vec<_> =
        links(3).flat_map(|link| [0, 7, 8, 31, 32, 39].map(|bit| (link, 1_u128 << bit))).collect();
    many(jobs.len(), 3, |i| {
        let ((prover, towards), difference) = jobs[i];
        let how = Deviation { other_delta: Some((towards, difference)), ..Deviation::default() };
        let ends = play_over_field(harness(), prover, &how);
        for honest in PartyId::all(3).filter(|p| *p != prover) {
            assert!(ends[honest.index()].is_err(), "{prover} towards {towards}, {difference:x}, at {honest}");
        }
        assert!(ends.iter().any(|end| fails(end, checks::K12)), "{prover} towards {towards}, {difference:x}");
    });
}

/// Over a field, too, every opened bit has its MAC, whoever opens it to whom.
#[test]
fn every_bit_has_its_mac_over_a_field() {
    let jobs: Vec<_> = links(3).flat_map(|link| [0, RHO / 2, RHO - 1].map(|r| (link, r))).collect();
    many(jobs.len(), 3, |i| {
        let ((prover, verifier), r) = jobs[i];
        let how = Deviation { false_mac: Some((verifier, r)), ..Deviation::default() };
        let ends = play_over_field(harness(), prover, &how);
        let end = &ends[verifier.index()];
        assert!(named(end, checks::K12, prover), "{prover} to {verifier}, {r}: {:?}", end.as_ref().err());
        // and flipped, with the MAC of the true one
        let how = Deviation { flipped_opening: Some(r), ..Deviation::default() };
        let ends = play_over_field(harness(), prover, &how);
        assert!(ends.iter().any(|end| named(end, checks::K12, prover)), "{prover}, {r}");
        assert!(ends[verifier.index()].is_err(), "{prover}, {r}");
    });
}

/// The bits that the proof opens are none of those that are handed out; and it opens as many as the bound
/// asks for. Over a field as well.
#[test]
fn what_the_proof_opens_is_not_handed_out() {
    for play in [play, play_over_field] {
        let harness = harness();
        let recordings = harness.recordings();
        handed_out_and_opened(&play(harness, party(1), &Deviation::default()), &recordings);
    }
}

fn handed_out_and_opened(ends: &[Result<AuthBits, Abort>], recordings: &[Recording]) {
    for (p, end) in ends.iter().enumerate() {
        let to = party(if p == 0 { 2 } else { 1 });
        let told = recordings[p].bodies(MessageDirection::Out, to, BITS).pop().unwrap();
        assert_eq!(told.len(), 32 + 16 + 2 * RHO * 16);
        let x = u128::from_le_bytes(told[32..48].try_into().unwrap());
        // its MACs are those of no position that is handed out
        let view = end.as_ref().unwrap();
        let macs: Vec<u128> =
            told[48..].chunks(16).map(|mac| u128::from_le_bytes(mac.try_into().unwrap())).collect();
        for peer in PartyId::all(3).filter(|q| q.index() != p) {
            assert!(view.macs(peer).iter().all(|mac| !macs.contains(mac)), "{}", p + 1);
        }
        assert_eq!(x >> RHO, 0);
        let mut sorted = macs;
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 2 * RHO, "no equation stands for two");
    }
}
