//! Programs in a constant number of rounds: two parties garble with common randomness, the third evaluates
//! (the idea of Mohassel, Rosulek and Zhang, CCS 2015, on the shares of this crate). docs/constant-round.md
//! has the proof for each corrupt role, in the letters used here.
//!
//! Adversary: one malicious party of three, in any role. No statistical error: computational security alone,
//! as many bits as the meter tells.
//!
//! x = x12 + x23 + x31, each summand known to the two parties that its name has; so are the masks r12 and r23
//! of the output, which are drawn from keys of those pairs. P1 and P2 garble, P3 evaluates:
//!
//! 1. All: the next call's number, roles and name; a barrier begins, if something was opened that no barrier
//!    has compared. P1, P2: a seed from the key of their pair and the name; from it Delta, labels, and a salt
//!    of the hash.
//! 2. P1 sends the salt, P2 its digest \[Y1\].
//! 3. Tables, piece by piece: half of each from P1 and half from P2, with the digest of the other half
//!    \[Y1\]. The first ones leave beside the barrier, if there is one (section 6); then views are compared.
//! 4. Inputs, before the other tables of their group: labels of u = x12 + x31 and of x23, pairs of hashes of
//!    both labels of each, digests of the lists of pairs \[Y2\]; a label must have the hash that P3's own
//!    bit selects \[Y3\]. The masks r23 go in as x23 does.
//! 5. Outputs y + r23: decoding bits with r12 added from P1, their digest from P2 \[Y4\]. P3 learns z = y +
//!    r12 + r23.
//! 6. P3 sends z and a digest of the active output labels to P1, which recomputes it for z + r12 \[Y5\].
//!    Shares of y: y12 = r12, y23 = r23, y31 = z.
//!
//! A call may be made in two halves (`store`): first all but the inputs, as soon as there is time, and then
//! steps 4 and 6 for the inputs. It is secure also if these are chosen by what P3 has seen (section 13).
//!
//! Cost: 16 bytes an AND from each garbler, 96 bytes an input bit, 48 bytes and two bits an output bit, for
//! each lane; a digest of 32 bytes for each list and each half of a piece; 2 one-way messages
//! (tests/garbled).
//!
//! Deviations: D1 P1 keeps the labels of all outputs until z has come, 16 bytes a bit.

pub(crate) mod ahead;
mod beside;
pub(crate) mod bits;
mod choice;
mod evaluator;
mod garbler;
mod labels;
mod pieces;
pub(crate) mod plan;
pub(crate) mod run;
mod secrets;
pub(crate) mod stock;
#[cfg(feature = "testing")]
pub(crate) mod stolen;
pub(crate) mod store;

pub use ahead::Ahead;
pub use choice::{FAR, LANES_EACH, RoundsChoice};

use divisi_core::{Step, step};

const SALT: Step = step!("salt");
const TABLES: Step = step!("tables");
const LABELS: Step = step!("labels");
const MASKS: Step = step!("masks");
const DECODING: Step = step!("decoding");
const RESULT: Step = step!("result");

/// How programs on secret bits run; the same at all three parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rounds {
    /// One round for each level of products: the fewest bytes.
    #[default]
    OfLevels,
    /// Two rounds for a program of any depth, by garbling: for parties with long round trips.
    Constant,
}

#[cfg(test)]
mod tests {
    use super::garbler::{Garbler, ResultDigest};
    use super::pieces::Pieces;
    use super::plan::{CallPlan, Handles, Role, When};
    use super::{RESULT, secrets};
    use crate::Trio;
    use divisi_circuit::Build;
    use divisi_core::{Abort, Prg, PublicParameters, Session, local};
    use divisi_net::{Fault, Mesh, memory};
    use std::collections::HashSet;
    use std::sync::Arc;

    /// A z with a padding bit is refused each time, also if P3 hashed the right labels and the padding.
    #[test]
    fn a_result_with_padding_that_is_not_zero_is_refused_each_time() {
        let mut g = Build::new();
        let wires = g.input(3);
        g.output(&wires);
        let (program, labels) = (g.finish(), [1, 2, 3]);
        let call = |mesh: &Arc<Mesh>, z: u8| {
            let mut trio = Trio::new(Session::start(mesh, 1, &PublicParameters::new("padding"))?)?;
            let mut handles = Handles::default();
            let plan = CallPlan::next(&mut trio.session, &mut handles, When::Now, &[(&program, 1)])?;
            match plan.roles.role(trio.me()) {
                Role::First => {
                    let hash = secrets::hash(&trio.session, &plan, &[0; 16]);
                    let mut garbler = Garbler::resume(&mut trio, Role::First, 9, &hash, &plan, 0);
                    garbler.receive_result(&labels, &[0; 3]).map(|z| Some(z.to_vec()))
                }
                Role::Second => Ok(None),
                Role::Evaluator => {
                    let mut digest = ResultDigest::new(&Pieces::new(plan.name));
                    labels.iter().for_each(|label| digest.add(*label));
                    let body = [&[z][..], &digest.finish(&[z])].concat();
                    trio.session.send(RESULT, plan.roles.first, &body, 3).map(|()| None)
                }
            }
        };
        // each party has all calls in one thread, over a mesh for each
        let calls = [0, 1 << 3, 1 << 7];
        let mut meshes: Vec<Vec<(Arc<Mesh>, u8)>> = (0..3).map(|_| Vec::new()).collect();
        for z in calls {
            meshes.iter_mut().zip(memory::mesh(3)).for_each(|(of, mesh)| of.push((Arc::new(mesh), z)));
        }
        let all = |meshes: &[(Arc<Mesh>, u8)]| {
            meshes.iter().map(|(mesh, z)| call(mesh, *z)).collect::<Vec<Result<Option<Vec<u8>>, Abort>>>()
        };
        let all = &all;
        let ends = std::thread::scope(|scope| {
            let threads: Vec<_> = meshes.iter().map(|meshes| scope.spawn(move || all(meshes))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        // P1 of the first call of a session is the first party
        let [right, padded @ ..] = &ends[0][..] else { unreachable!("three calls") };
        assert_eq!(*right, Ok(Some(vec![0; 3])));
        let refused = |end: &Result<_, Abort>| matches!(end, Err(Abort::Network(Fault::Malformed { .. })));
        assert!(padded.iter().all(refused), "{padded:?}");
    }

    /// The salt, which the evaluator gets, is neither the key of the labels nor Delta. No call has the salt,
    /// the Delta or the labels of another one.
    #[test]
    fn the_salt_tells_nothing_of_the_seed() {
        const CALLS: usize = 6;
        let mut g = Build::new();
        let wires = g.input(3);
        g.output(&wires);
        let program = g.finish();
        let ends = local::run(3, &PublicParameters::new("salts"), |session| {
            let mut trio = Trio::new(session)?;
            let (mut handles, mut all) = (Handles::default(), Vec::new());
            for _ in 0..CALLS {
                let plan = CallPlan::next(&mut trio.session, &mut handles, When::Now, &[(&program, 1)])?;
                let role = plan.roles.role(trio.me());
                if role == Role::Evaluator {
                    continue;
                }
                let (seed, labels) = secrets::expand(&trio, plan.roles.other(role), &plan);
                all.extend([u128::from_le_bytes(seed.salt) | 1, *seed.delta]);
                for mut prg in [labels, Prg::new(&seed.salt)] {
                    let mut word = [0; 16];
                    prg.fill(&mut word);
                    all.push(u128::from_le_bytes(word) | 1);
                }
            }
            Ok(all)
        });
        for all in ends.unwrap() {
            // two calls of three are garbled by this party
            assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (16, 16));
        }
    }
}
