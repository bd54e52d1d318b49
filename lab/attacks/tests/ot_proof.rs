//! Attacks on the proof that each party uses one Delta: on each equation, each prover, each verifier, each
//! commitment.

mod common;

use common::{all_differ, named};
use divisi_core::testing::{Harness, MessageDirection, Recording, failed_check, links, many, party};
use divisi_core::{Abort, Check, PartyId, PublicParameters};
use divisi_ot::checks;
use divisi_ot::{AuthBits, Base, Bits, Setup, SetupConfig};

const COMMIT: &str = "divisi_ot::abit::consistency/commit";
const BITS: &str = "divisi_ot::abit::consistency/bits";
const SUMS: &str = "divisi_ot::abit::consistency/sums";
const RHO: usize = 40;

fn parameters() -> PublicParameters {
    PublicParameters::new("attacks on the proof")
}

/// A set-up and one batch.
fn play(harness: Harness) -> Vec<Result<AuthBits, Abort>> {
    let config = SetupConfig { k: 4, rho: RHO as u32, base: Base::Both };
    harness.patient().act(|mut session| {
        let mut setup = Setup::new(&mut session, config)?;
        setup.authenticated_bits(&mut session, 200)
    })
}

/// The same for wide rows over a field of 40 bits \[K12\].
fn play_over_field(harness: Harness) -> Vec<Result<AuthBits, Abort>> {
    let config = SetupConfig { k: 4, rho: RHO as u32, base: Base::Both };
    harness.patient().act(|mut session| {
        let mut setup = Setup::over_field(&mut session, config, 40)?;
        Ok(setup.wide_rows(&mut session, Bits::Random(200))?.bits)
    })
}

fn harness() -> Harness {
    Harness::new(3, &parameters())
}

fn fails(end: &Result<AuthBits, Abort>, check: Check) -> bool {
    failed_check(end) == Some(check)
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
        let ends = play(harness);
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
        let ends = play(harness);
        let end = &ends[to.index()];
        assert!(named(end, check, from), "{from} {to} {step} {at}: {:?}", end.as_ref().err());
    });
}

/// The bits that the proof opens are none of those that are handed out; and it opens as many as the bound
/// asks for. Over a field as well.
#[test]
fn what_the_proof_opens_is_not_handed_out() {
    for play in [play, play_over_field] {
        let harness = harness();
        let recordings = harness.recordings();
        handed_out_and_opened(&play(harness), &recordings);
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
        assert_eq!(macs.len(), 2 * RHO);
        assert!(all_differ(macs), "no equation stands for two");
    }
}
