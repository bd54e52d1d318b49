//! A mutant for each check, and for each thing that the protocol needs and that has no check of its own: with
//! it in place a named attack is stopped, without it the same attack comes through. The mutants are made in
//! the copy of `lab/attacks`, where `kills` runs the attack on them, too.

use super::attacks::{self, Gap, LANES, Lie, Weakness, comes_through};
use super::seen::{self, Garbled, split_opening};
use super::selective::{INS, Spoiled, is_selective};
use super::{EVALUATOR, FIRST, SECOND, ahead};
use Gap::{Weak, Without};
use divisi_rep3::checks;

fn kills(gap: Gap, attack: fn(Gap) -> bool) {
    assert!(!attack(Gap::Nothing), "{gap:?}: the attack succeeds against the protocol");
}

macro_rules! mutants {
    ($($name:ident: $gap:expr, $attack:expr;)*) => {
        $(#[test] fn $name() { kills($gap, $attack); })*

        /// What is missing, and the test that notices.
        const MUTANTS: &[(Gap, &str)] = &[$(($gap, stringify!($name)),)*];
    };
}

mutants! {
    a_bent_gate_is_noticed: Without(checks::Y1), |gap| comes_through(gap, SECOND, Lie::BendGate);
    a_bent_gate_of_the_first_is_noticed: Without(checks::Y1), |gap| comes_through(gap, FIRST, Lie::BendGate);
    // P1 spoils a pair of x23, P2 one of u, P1 one of r23, with which it has a bit of the output
    a_spoiled_pair_tells_nothing: Without(checks::Y2), |gap| is_selective(gap, Spoiled::Known(3));
    a_spoiled_pair_of_sums_tells_nothing: Without(checks::Y2), |gap| is_selective(gap, Spoiled::Sums(3));
    a_spoiled_pair_of_masks_tells_nothing: Without(checks::Y2), |gap| is_selective(gap, Spoiled::Masks(3));
    // P2 sends the other label of x23, P1 that of u
    another_label_is_noticed: Without(checks::Y3),
        |gap| [SECOND, FIRST].into_iter().all(|liar| comes_through(gap, liar, Lie::OtherInput));
    another_decoding_is_noticed: Without(checks::Y4), |gap| comes_through(gap, FIRST, Lie::OtherDecoding);
    another_result_is_noticed: Without(checks::Y5), |gap| comes_through(gap, EVALUATOR, Lie::OtherResult(0));
    both_halves_are_compared: Weak(Weakness::OneHalf), |gap| comes_through(gap, SECOND, Lie::BendGate);
    the_last_piece_is_compared: Weak(Weakness::LastPiece), |gap| comes_through(gap, SECOND, Lie::BendGate);
    // beyond the first 64 outputs
    all_output_labels_count: Weak(Weakness::FewLabels),
        |gap| comes_through(gap, EVALUATOR, Lie::OtherResult(70));
    the_evaluator_lacks_r12: Weak(Weakness::NoR12), |gap| seen::sees_output(gap, EVALUATOR, false);
    the_first_lacks_r23: Weak(Weakness::NoR23), |gap| seen::sees_output(gap, FIRST, false);
    no_call_returns: Weak(Weakness::SameCall), seen::delta_of_two_calls;
    no_mask_returns: Weak(Weakness::SameCall), seen::sum_of_two_calls;
    labels_wait_for_the_barrier: Weak(Weakness::NoBarrier), |gap| split_opening(gap, Garbled::Now);
    pairs_have_tweaks_of_their_own: Weak(Weakness::PairsAsGates), |gap| attacks::tweaks_return(gap, false);
    lanes_have_tweaks_of_their_own: Weak(Weakness::SharedTweak), |gap| attacks::tweaks_return(gap, false);
    the_list_is_of_pairs: Weak(Weakness::ListOfLabels), |gap| is_selective(gap, Spoiled::Known(3));
    // P1 changes the order of what is in the list alone: the run aborts unless two bits of P3 are one
    the_list_has_an_order: Weak(Weakness::Unordered),
        |gap| is_selective(gap, Spoiled::Swapped(5, 2 * LANES + 1));
    tables_of_another_call_serve_nothing: Without(checks::Y5), ahead::stolen_tables;
    tables_of_another_session_serve_nothing: Without(checks::Y5), ahead::stolen_tables_of_another_session;
    labels_ahead_wait_for_the_barrier: Weak(Weakness::NoBarrier), |gap| split_opening(gap, Garbled::Ahead);
    labels_of_known_inputs_wait_for_the_barrier: Weak(Weakness::NoBarrier),
        |gap| split_opening(gap, Garbled::Known);
    both_halves_have_tweaks_of_their_own: Weak(Weakness::WiresAnew), |gap| attacks::tweaks_return(gap, true);
    the_evaluator_lacks_r12_ahead: Weak(Weakness::NoR12), |gap| seen::sees_output(gap, EVALUATOR, true);
    // in the second half of the list
    the_list_is_whole: Weak(Weakness::HalfList), |gap| is_selective(gap, Spoiled::Known(INS * LANES - 1));
}

#[test]
fn every_check_has_a_mutant_that_the_page_names() {
    let page = include_str!("../../../../../docs/constant-round.md");
    for check in checks::ALL.iter().filter(|check| check.id().starts_with('Y')) {
        assert!(MUTANTS.iter().any(|(gap, _)| *gap == Without(*check)), "{check}");
    }
    for (gap, name) in MUTANTS {
        let row = match gap {
            Without(check) => page.lines().find(|line| line.starts_with(&format!("| {check} |"))),
            _ => page.lines().find(|line| line.starts_with("| ") && line.contains(name)),
        };
        assert!(row.is_some_and(|row| row.contains(name)), "docs/constant-round.md lacks {gap:?}: {name}");
    }
}
