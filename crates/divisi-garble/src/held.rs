//! What a party keeps between garbling and evaluation.

use crate::batch::Batch;
use crate::circuit::Result as Output;
use crate::masks::{Garbling, Masks};
use crate::plan::Plan;
use crate::share::{Rows, Seats};
use divisi_core::Bound;
use zeroize::{Zeroize, Zeroizing};

/// Circuits that were garbled ahead. They belong to the session that made them and end with it \[M0.5\]. An
/// evaluation consumes them \[W26\], so none can be evaluated twice:
/// ```compile_fail
/// use divisi_garble::{Garble, Garbled};
/// fn twice(garble: &mut Garble, session: &mut divisi_core::Session, garbled: Garbled<'_>, inputs: [&[Vec<u8>]; 2]) {
///     let _ = garble.online(session, garbled, inputs[0]);
///     let _ = garble.online(session, garbled, inputs[1]);
/// }
/// ```
/// One evaluation compiles:
/// ```
/// use divisi_garble::{Garble, Garbled};
/// fn once(garble: &mut Garble, session: &mut divisi_core::Session, garbled: Garbled<'_>, inputs: &[Vec<u8>]) {
///     let _ = garble.online(session, garbled, inputs);
/// }
/// ```
pub struct Garbled<'p> {
    pub(crate) plan: &'p Plan<'p>,
    /// The whole circuit, in the order in which it was garbled.
    pub(crate) batch: &'p Batch,
    pub(crate) held: Bound<Vec<InstanceState>>,
}

/// What a party keeps of one instance between garbling and evaluation.
pub(crate) struct InstanceState {
    /// The index of the party that evaluates it.
    pub evaluator: usize,
    /// The masks lambda of our own input wires.
    pub owned: Zeroizing<Vec<u8>>,
    /// Our shares of the masks of the output bits.
    pub outputs: Rows,
    pub role: Role,
}

/// Our role in one instance.
pub(crate) enum Role {
    /// Our labels for zero, of the input wires and of the output wires.
    Garbler { inputs: Zeroizing<Vec<u128>>, outputs: Zeroizing<Vec<u128>> },
    /// The number of the first gate, our shares of the masks, and each garbler's table.
    Evaluator { gate: u64, garbling: Garbling, tables: Vec<Vec<u8>> },
}

/// The memory of an evaluated circuit, whose secrets are wiped. Returning it to the system takes longer than
/// a small evaluation; so it is kept until the next circuit is prepared.
pub(crate) struct Spent {
    _held: Vec<InstanceState>,
}

impl Spent {
    /// Wipes the secrets of evaluated instances.
    pub fn new(mut held: Vec<InstanceState>) -> Spent {
        for held in &mut held {
            held.owned.zeroize();
            held.outputs.wipe();
            match &mut held.role {
                Role::Garbler { inputs, outputs } => {
                    inputs.zeroize();
                    outputs.zeroize();
                }
                // wiped gate by gate during the evaluation
                Role::Evaluator { .. } => {}
            }
        }
        Spent { _held: held }
    }
}

impl InstanceState {
    pub fn output_labels(&self) -> &[u128] {
        match &self.role {
            Role::Garbler { outputs, .. } => outputs,
            Role::Evaluator { .. } => &[],
        }
    }
}

/// Our labels for zero of the output wires; zero for constants.
pub(crate) fn of_results(plan: &Plan<'_>, slots: &[u128]) -> Zeroizing<Vec<u128>> {
    let of = |result: &Output| match *result {
        Output::Wire(slot) => slots[slot],
        Output::Constant(_) => 0,
    };
    Zeroizing::new(plan.results.iter().map(of).collect())
}

/// Our shares of the masks of the output wires; shares of zero for constants.
pub(crate) fn result_masks(plan: &Plan<'_>, seats: Seats, masks: &Masks) -> Rows {
    let zero = Rows::zero(seats.peers(), 1);
    let mut rows = Rows::with_capacity(seats.peers(), plan.results.len());
    for result in &plan.results {
        match *result {
            Output::Wire(slot) => masks.push_slot(slot, &mut rows),
            Output::Constant(_) => rows.push(&zero, 0),
        }
    }
    rows
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::{InstanceState, Role, Rows, Spent};
    use crate::share::Shares;
    use divisi_core::testing::memory::{Needle, alone};
    use divisi_core::wipe::{self, WipedVec};
    use zeroize::Zeroizing;

    /// \[Q17\] After an evaluation the memory is kept, but none of its labels or mask shares.
    #[test]
    fn an_evaluated_circuit_is_wiped() {
        let _alone = alone();
        let needles = [11, 12].map(|seed| Needle::new(seed, true));
        let mut spent = None;
        wipe::stack(|| {
            let [input, output] = [0, 1].map(|i| {
                let mut bytes = [0; 16];
                needles[i].plant(&mut bytes);
                u128::from_le_bytes(bytes)
            });
            let words = || vec![WipedVec::from(&[7; 64][..])];
            let shares = Shares { bits: WipedVec::zeros(64), macs: words(), keys: words() };
            let mut outputs = Rows::with_capacity(1, 64);
            (0..64).for_each(|t| outputs.push_share(&shares, t));
            let held = InstanceState {
                evaluator: 1,
                owned: Zeroizing::new(vec![1; 9]),
                outputs,
                role: Role::Garbler {
                    inputs: Zeroizing::new(vec![input; 64]),
                    outputs: Zeroizing::new(vec![output; 64]),
                },
            };
            spent = Some(Spent::new(vec![held]));
        });
        let found: Vec<usize> = needles.iter().map(|needle| needle.copies().unwrap().len()).collect();
        assert_eq!(found, [0, 0]);
        // the rows are wiped and the vector is empty
        assert!(spent.as_ref().is_some_and(|spent| spent._held[0].outputs.len() == 0));
        drop(spent);
    }
}
