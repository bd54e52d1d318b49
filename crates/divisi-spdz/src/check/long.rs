//! Checks of more values than any number of few bits counts.

use super::tests::zeros;
use super::{OPEN, combinations};
use crate::checks;
use crate::dealer::Dealer;
use crate::part::Shareable;
use crate::share::Auth;
use crate::{Spdz, SpdzProtocol};
use divisi_core::testing::{Harness, failed_check, run};
use divisi_core::{PublicParameters, Settles, Step, step};
use divisi_field::{Field, Gf2, Gf8, Gf48};
use std::collections::HashSet;

const OPENED: Step = step!("opened");

/// No two values at a distance of a power of two have the same coefficient, so that two equal errors never
/// make up for each other; nor has any value none.
#[test]
fn coefficients_do_not_return() {
    let mut list = vec![Gf48::ZERO; (1 << 17) + 8];
    let mut sum_of = |errors: &[usize]| {
        errors.iter().for_each(|at| list[*at] = Gf48::ONE);
        let [sum, _] = combinations(&[7; 16], [&list, &list]);
        errors.iter().for_each(|at| list[*at] = Gf48::ZERO);
        sum
    };
    for distance in (0..=17).map(|k| 1 << k) {
        for from in [0, 7] {
            assert_ne!(sum_of(&[from, from + distance]), Gf48::ZERO, "{from} {distance}");
        }
        assert_ne!(sum_of(&[distance]), Gf48::ZERO, "{distance}");
    }
}

/// One wrong value is found, whatever number of values was opened and checked before, and one behind as many
/// in the same opening, too: no debt is paid by an earlier check.
#[test]
fn a_single_lie_is_noticed_after_any_number_of_values() {
    for (before, apart) in (0..=17).flat_map(|k| [((1 << k) - 1, true), ((1 << k) - 1, false)]) {
        let ends = run(2, &PublicParameters::new("long checks"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 7)?;
            let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?;
            let mut zeros = Auth::<Gf48, Gf48>::zeros(before + 1);
            if e.session().me().index() == 1 {
                zeros.x[before] = Gf48::ONE;
            }
            let (party, _) = e.parts();
            for here in if apart { [0..before, before..before + 1] } else { [0..0, 0..before + 1] } {
                // the first of both is right, and what was opened is checked before the second one
                party.check()?;
                let all = zeros.part(here);
                party.open(OPENED, &all.x, &all.m)?;
            }
            e.settled(()).map(drop)
        });
        assert!(ends.iter().all(Result::is_err), "{before} {apart}");
        let found = ends.iter().any(|end| failed_check(end) == Some(checks::K4));
        assert!(found, "{before} {apart}: {ends:?}");
    }
}

/// The parts of all parties of long sharings of zero, as they are sent, add up to zero, and nothing in them
/// returns.
fn are_fresh<V: Shareable>(count: usize) {
    let ends = zeros::<V>(count);
    assert_eq!(ends.len(), 3);
    for list in [0, 1] {
        let sum = |at: usize| ends.iter().fold(0, |sum, end| sum ^ end[list][at]);
        assert!((0..ends[0][list].len()).all(|at| sum(at) == 0));
    }
    for end in &ends {
        let pieces = || end.iter().flat_map(|list| list.chunks_exact(8));
        assert_eq!(pieces().collect::<HashSet<_>>().len(), pieces().count());
    }
}

#[test]
fn long_sharings_of_zero_have_a_part_for_every_value() {
    are_fresh::<Gf2>((1 << 19) + 640);
    are_fresh::<Gf8>((1 << 17) + 64);
    are_fresh::<Gf48>((1 << 16) + 64);
}

/// If P_1 sees another value than P_3 somewhere in a long opening, the views differ.
#[test]
fn views_have_every_part_of_an_opening() {
    let count = (1 << 17) + 1;
    for at in (10..=17).map(|k| 1 << k) {
        let harness = Harness::new(3, &PublicParameters::new("long views"));
        let id = divisi_core::testing::party;
        harness.change(id(2), id(1), OPENED.name, 0, move |body| body[at] ^= 1);
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
            party.open(OPENED, &vec![Gf8::default(); count], &vec![Gf48::ZERO; count])?;
            party.check()
        });
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K1)), "{at}: {ends:?}");
        let sigmas = |i: usize| recordings[i].of(divisi_core::testing::MessageDirection::Out, OPEN.name);
        assert!([0, 2].iter().all(|honest| sigmas(*honest).is_empty()), "{at}");
    }
}
