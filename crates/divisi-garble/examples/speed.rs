//! What one AES-128 and one SHA-256 take among three parties in one process, with authenticated bits but
//! without the set-up: `cargo run --release -p divisi-garble --example speed`.
//!
//! Wall time is that of the slowest party, CPU time (user and system) is that of the whole process, divided
//! by the number of parties. Both are the least of many runs.

use divisi_circuit::Program;
use divisi_core::{Abort, PartyId, PublicParameters, Session, local};
use divisi_garble::{Garble, GarbleOptions, Plan};
use divisi_ot::{Setup, SetupConfig};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::Adder;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const PARTIES: usize = 3;
const RUNS: usize = 15;
const PHASES: [&str; 3] = ["function-independent", "function-dependent", "online"];

/// Wall time of each phase, and the CPU time of the process in it.
type Times = [(Duration, Duration); 3];

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

fn play(session: &mut Session, plan: &Plan<'_>, all: &Barrier) -> Result<Times, Abort> {
    let inputs = vec![vec![0; plan.wires_of(session.me()).count()]];
    let setup = Setup::new(session, SetupConfig::default())?;
    let mut garble = Garble::new(session, setup, GarbleOptions::default());
    let mut times = Times::default();
    let mut begin = (Instant::now(), cpu());
    let mut phase = |i: usize, begins: bool| {
        // the clocks of a phase start and stop when all parties are there
        let wall = begin.0.elapsed();
        all.wait();
        if begins {
            begin = (Instant::now(), cpu());
        } else {
            times[i] = (wall, cpu() - begin.1);
        }
        all.wait();
    };
    phase(0, true);
    let wires = plan.input_bits() + plan.and_count();
    let mut made = garble.function_independent(session, plan.and_count(), wires)?;
    phase(0, false);
    phase(1, true);
    let garbled = garble.function_dependent(session, &mut made, plan, 1)?;
    phase(1, false);
    phase(2, true);
    garble.online(session, garbled, &inputs)?;
    phase(2, false);
    Ok(times)
}

fn measure(name: &str, program: &Program) -> Result<(), Box<dyn Error>> {
    let parties: Vec<PartyId> = PartyId::all(PARTIES).collect();
    let owners: Vec<PartyId> = (0..program.inputs().len()).map(|i| parties[i % PARTIES]).collect();
    let plan = Plan::new(program, PARTIES, &owners, &vec![vec![parties[0]]; program.outputs().len()])?;
    let parameters = SetupConfig::default().describe(PublicParameters::new("speed"));
    let parameters = GarbleOptions::default().describe(parameters);
    let mut runs: Vec<Times> = Vec::new();
    for _ in 0..RUNS {
        let all = Barrier::new(PARTIES);
        let ends = local::run(PARTIES, &parameters, |mut session| play(&mut session, &plan, &all))?;
        let slowest = |i: usize| {
            let walls = ends.iter().map(|times| times[i].0).max().unwrap_or_default();
            (walls, ends[0][i].1 / PARTIES as u32)
        };
        runs.push([slowest(0), slowest(1), slowest(2)]);
    }
    println!("{name}, {PARTIES} parties");
    let least = |of: &dyn Fn(&Times) -> Duration| runs.iter().map(of).min().unwrap_or_default();
    for (i, phase) in PHASES.into_iter().enumerate() {
        let (wall, used) = (least(&|times| times[i].0), least(&|times| times[i].1));
        println!("  {phase}: {wall:.2?}, CPU a party {used:.2?}");
    }
    let wall = least(&|times| times.iter().map(|t| t.0).sum());
    let used = least(&|times| times.iter().map(|t| t.1).sum());
    println!("  total: {wall:.2?}, CPU a party {used:.2?}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for name in ["aes128", "sha256"] {
        let program = circuits::named(name, Adder::FewestAnds)?.ok_or("no such circuit")?;
        measure(name, &program)?;
    }
    Ok(())
}
