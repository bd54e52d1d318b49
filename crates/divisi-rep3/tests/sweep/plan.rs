//! Which messages of a run a sweep changes, and how.

use divisi_core::testing::{Operator, Position, Sent, salt};
use divisi_rep3::adversary::harness::links;
use std::hash::Hash;

/// A change of one message: where, how, and a number that the operator chooses by.
pub type Change = (Position, Operator, u64);

/// All messages of a run that was recorded.
pub fn positions(sent: &Sent) -> impl Iterator<Item = Position> + '_ {
    links().flat_map(|(from, to)| (0..sent[&(from, to)].len()).map(move |n| Position { from, to, n }))
}

/// One in so many changes of these messages that are quick, and of those that are slow because a party has to
/// wait; these come first. `run` is the name of the run.
pub fn changes(
    run: impl Hash + Copy,
    positions: impl Iterator<Item = Position>,
    (every, every_slow): (u64, u64),
) -> Vec<Change> {
    let mut all = Vec::new();
    for at in positions {
        let Position { from, to, n } = at;
        // those that are quick by turns, so that as many messages as can be are changed
        let mut turn = salt((run, from, to, n)) % every;
        for operator in Operator::ALL {
            let salt = salt((run, from, to, n, operator));
            turn += u64::from(!operator.is_slow());
            if if operator.is_slow() { salt % every_slow == 0 } else { turn % every == 0 } {
                all.push((at, operator, salt));
            }
        }
    }
    all.sort_by_key(|change| !change.1.is_slow());
    all
}

/// Whether somebody must notice: what comes twice, late, or where something equal was due may be the same to
/// its receiver; a changed message never is.
pub fn must_be_noticed(operator: Operator) -> bool {
    use Operator::{Both, Drop, Empty, Extend, FlipFirst, FlipLast, FlipRandom, Oversize, Truncate};
    matches!(operator, FlipFirst | FlipLast | FlipRandom | Both | Truncate | Empty | Extend | Oversize | Drop)
}
