//! Input wires of other sessions.

use super::*;
use divisi_circuit::{Build, Gates};
use divisi_core::{PublicParameters, local};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The sum of so many bits, which needs no messages.
fn sum(inputs: usize) -> Program {
    let mut g = Build::new();
    let wires = g.input(inputs);
    let sum = wires[1..].iter().fold(wires[0], |sum, wire| g.xor(sum, *wire));
    g.output(&[sum]);
    g.finish()
}

/// A wire of another session is refused wherever it is: in a long list of wires, and in each of many jobs.
#[test]
fn wires_of_another_session_are_refused_anywhere() {
    let (agreed, looked) = (PublicParameters::new("wires"), AtomicUsize::new(0));
    let others = local::run(2, &agreed, |session| Ok(GmwBit::zero(1).made(&session))).unwrap();
    let (long, short) = (sum(300), sum(2));
    let lists = [vec![&long], vec![&short; 100]];
    // whoever is first ends the session, perhaps before the other one is in it
    let _ = local::run(2, &agreed, |session| {
        let (other, own) = (&others[session.me().index()], GmwBit::zero(1).made(&session));
        let mut gmw = Gmw::deferred(session, SetupConfig::default());
        let jobs = |programs: &[&Program]| -> Vec<Vec<GmwBit>> {
            programs.iter().map(|program| vec![own.clone(); program.input_bits()]).collect()
        };
        let mut run = |programs: &[&Program], wires: Vec<Vec<GmwBit>>| {
            let pairs = programs.iter().zip(wires);
            let mut jobs: Vec<_> = pairs.map(|(program, wires)| ProgramRun::new(program, wires)).collect();
            gmw.run(&mut jobs)
        };
        for programs in &lists {
            run(programs, jobs(programs))?;
        }
        for programs in &lists {
            for (job, at) in
                (0..programs.len()).flat_map(|job| (0..programs[job].input_bits()).map(move |at| (job, at)))
            {
                let mut wires = jobs(programs);
                wires[job][at] = other.clone();
                let end = run(programs, wires);
                let refused = matches!(end, Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
                assert!(refused, "wire {at} of job {job}: {end:?}");
                looked.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    assert!(looked.into_inner() >= 500);
}
