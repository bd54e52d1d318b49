//! Broadcasts are point to point: if a party tells some parties one thing and others another, in any step
//! that the paper calls a broadcast, the session of all of them ends before anything depends on it (1.19).

use crate::common::ands;
use divisi_core::testing::{failed_check, many, party};
use divisi_core::{Abort, Check, PartyId};
use divisi_fuzz::repetitions;
use divisi_garble::Plan;
use divisi_garble::checks;
use divisi_garble::lab::{BitSource, GarbleLab};

/// Each broadcast, and the check that compares what was received. The sums of Figure 14 come with their MACs,
/// which fail before: a liar whose two sums both have MACs is `different_bits` in divisi-ot's mutants.
const BROADCASTS: [(&str, Check); 5] = [
    ("divisi_core::coin/commit", checks::M0_3),
    ("divisi_ot::abit::consistency/commit", checks::W7),
    ("divisi_ot::vole/check", checks::W5),
    ("divisi_garble::laand/3.e", checks::W13),
    ("divisi_garble::online/5.masked", checks::W28),
];

/// `liar` tells `others` something else than the rest: the first bit of the message differs.
fn split(
    n: usize,
    step: &'static str,
    liar: PartyId,
    others: &[PartyId],
) -> Vec<Result<Vec<Vec<u8>>, Abort>> {
    let (program, lab) = (ands(2), GarbleLab { bits: BitSource::Protocol, ..GarbleLab::default() });
    let plan = Plan::for_all(&program, n, &[party(1), PartyId::all(n).last().unwrap()]).unwrap();
    let harness = lab.harness(n);
    for to in others {
        // in set-ups by halves the first rows are checked earlier in the same step, towards one party alone
        let nth = usize::from(step.ends_with("vole/check") && makes_first_rows(liar, *to));
        harness.change(liar, *to, step, nth, |body| body[0] ^= 1);
    }
    harness.act(|mut session| lab.outputs(&mut session, &plan, &[vec![1, 0, 1, 1]]))
}

/// Whether the base OTs that `maker` sends are made by public keys, so that its first rows serve the other
/// direction.
fn makes_first_rows(maker: PartyId, holder: PartyId) -> bool {
    (maker < holder) == (maker.index().abs_diff(holder.index()) % 2 == 1)
}

#[test]
fn a_split_view_ends_the_session_of_all() {
    let mut jobs = Vec::new();
    for n in 3..=5 {
        for (step, check) in BROADCASTS {
            // the first party, or the last one; of five one of them, in turn
            let liars = [party(1), PartyId::all(n).last().unwrap()];
            let some = if n == 5 { &liars[usize::from(step.len() % 2 == 0)..][..1] } else { &liars[..] };
            for &liar in some {
                let honest: Vec<PartyId> = PartyId::all(n).filter(|p| *p != liar).collect();
                // every set of parties that receive something else, except the empty set and the set of all;
                // of five parties by default every third one
                let each = if n == 5 { repetitions(3, 1) } else { 1 };
                for set in (1..(1_u32 << honest.len()) - 1).step_by(each) {
                    let told = (0..honest.len()).filter(|i| set >> i & 1 == 1).map(|i| honest[i]);
                    jobs.push((n, step, check, liar, told.collect::<Vec<_>>()));
                }
            }
        }
    }
    assert!(jobs.len() > 100);
    many(jobs.len(), 3, |i| {
        let (n, step, check, liar, told) = &jobs[i];
        let ends = split(*n, step, *liar, told);
        let case = format!("{n} {step} {liar} {told:?}: {ends:?}");
        let honest = || PartyId::all(*n).zip(&ends).filter(|(p, _)| p != liar);
        assert!(honest().all(|(_, end)| end.is_err()), "{case}");
        // the liar's own copy of the program may be the first to compare
        assert!(ends.iter().any(|end| failed_check(end) == Some(*check)), "{case}");
        // an echo that differs accuses nobody: the one that told of it may have lied
        let blames = |end: &Result<_, _>| matches!(end, Err(Abort::CheckFailed { culprit: Some(_), .. }));
        assert!(*check == checks::W5 || !honest().any(|(_, end)| blames(end)), "{case}");
    });
}
