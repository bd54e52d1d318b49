//! A mutant for each check, and for each thing that the protocol needs and that has no check of its own: with
//! it in place a named attack is stopped, without it the same attack comes through. The mutants are made in
//! the copy of `lab/attacks`, where `kills` runs the attack on them, too.

use super::attacks::{self, Gap, Weakness};
use super::{ahead, seen, selective};
use Gap::{Weak, Without};
use divisi_rep3::checks;

fn kills(gap: Gap, attack: fn(Gap) -> bool) {
    assert!(!attack(Gap::Nothing), "{gap:?}: the attack succeeds against the protocol");
}

macro_rules! mutants {
    ($($name:ident: $gap:expr, $attack:path;)*) => {
        $(#[test] fn $name() { kills($gap, $attack); })*

        /// What is missing, and the test that notices.
        const MUTANTS: &[(Gap, &str)] = &[$(($gap, stringify!($name)),)*];
    };
}

mutants! {
    a_bent_gate_is_noticed: Without(checks::Y1), attacks::bent_gate;
    a_bent_gate_of_the_first_is_noticed: Without(checks::Y1), attacks::bent_gate_of_first;
    a_spoiled_pair_tells_nothing: Without(checks::Y2), selective::of_known;
    a_spoiled_pair_of_sums_tells_nothing: Without(checks::Y2), selective::of_sums;
    a_spoiled_pair_of_masks_tells_nothing: Without(checks::Y2), selective::of_masks;
    another_label_is_noticed: Without(checks::Y3), attacks::other_input;
    another_decoding_is_noticed: Without(checks::Y4), attacks::other_decoding;
    another_result_is_noticed: Without(checks::Y5), attacks::other_result;
    both_halves_are_compared: Weak(Weakness::OneHalf), attacks::bent_gate;
    the_last_piece_is_compared: Weak(Weakness::LastPiece), attacks::bent_gate;
    all_output_labels_count: Weak(Weakness::FewLabels), attacks::other_result_late;
    the_evaluator_lacks_r12: Weak(Weakness::NoR12), seen::evaluator_sees_output;
    the_first_lacks_r23: Weak(Weakness::NoR23), seen::first_sees_output;
    no_call_returns: Weak(Weakness::SameCall), seen::delta_of_two_calls;
    no_mask_returns: Weak(Weakness::SameCall), seen::sum_of_two_calls;
    labels_wait_for_the_barrier: Weak(Weakness::NoBarrier), seen::split_opening;
    pairs_have_tweaks_of_their_own: Weak(Weakness::PairsAsGates), attacks::tweaks_return;
    lanes_have_tweaks_of_their_own: Weak(Weakness::SharedTweak), attacks::tweaks_return;
    the_list_is_of_pairs: Weak(Weakness::ListOfLabels), selective::of_known;
    the_list_has_an_order: Weak(Weakness::Unordered), selective::of_order;
    tables_of_another_call_serve_nothing: Without(checks::Y5), ahead::stolen_tables;
    tables_of_another_session_serve_nothing: Without(checks::Y5), ahead::stolen_tables_of_another_session;
    labels_ahead_wait_for_the_barrier: Weak(Weakness::NoBarrier), seen::split_opening_ahead;
    labels_of_known_inputs_wait_for_the_barrier: Weak(Weakness::NoBarrier), seen::split_opening_known;
    both_halves_have_tweaks_of_their_own: Weak(Weakness::WiresAnew), attacks::tweaks_return_ahead;
    the_evaluator_lacks_r12_ahead: Weak(Weakness::NoR12), seen::evaluator_sees_output_ahead;
    the_list_is_whole: Weak(Weakness::HalfList), selective::late;
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
