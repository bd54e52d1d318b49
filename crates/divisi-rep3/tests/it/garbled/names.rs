//! What the parties compare of a call belongs to one session and one strand.

use super::*;
use divisi_core::testing::Harness;
use std::collections::HashSet;

const CALLS: usize = 16;

/// The same calls, one after the other, in two strands of two sessions: the digest that the second garbler
/// sends of the one masked decoding bit of a call is that of no other call, though every other time the bit
/// is the same.
#[test]
fn what_is_told_of_a_call_is_of_one_session_and_strand() {
    let mut g = Build::new();
    let (x, y) = (g.input(8), g.input(8));
    let out = g.and(x[0], y[0]);
    g.output(&[out]);
    let program = g.finish();
    let (_, parts) = transparent(3, 1);
    let parts = parts.map(|parts| parts[..2].to_vec());
    let mut told = Vec::new();
    for _ in 0..2 {
        let harness = Harness::new(3, &PublicParameters::new("names of calls"));
        let recordings = harness.recordings();
        let ends: Vec<Result<(), Abort>> = harness.act(|session| {
            let strand = session.strand()?;
            for session in [session, strand] {
                let trio = Trio::new(session)?;
                let (mut e, wires) = begin(trio, &parts, 0)?;
                for _ in 0..CALLS {
                    e.run(&mut [ProgramRun::new(&program, wires.clone())])?;
                }
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let seen = recordings.iter().flat_map(|seen| seen.of(MessageDirection::Out, DECODING));
        told.extend(seen.map(|seen| seen.frame.body).filter(|body| body.len() == 32));
    }
    assert_eq!(told.len(), 2 * 2 * CALLS);
    assert_eq!(told.iter().collect::<HashSet<_>>().len(), told.len());
}
