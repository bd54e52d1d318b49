//! Small runs of divisi-ot and divisi-garble under memcheck: all that a party draws after its session has
//! begun is secret, and so are its inputs.

use crate::machine;
use crate::noise::{Same, mix, together};
use divisi_circuit::{Build, BuildBit, Gates, Program, plain};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_garble::{Garble, GarbleOptions, Plan};
use divisi_ot::{Setup, SetupConfig};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::Adder;
use std::sync::Arc;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarblingWork {
    /// A set-up, and authenticated bits.
    Bits,
    /// The same, and a few ANDs of bits of the first party and of the second.
    Gates,
    /// The same, and AES-128 with its key schedule, the key of the first party and the text of the second.
    Aes,
}

/// The runs that are followed: the number of parties, and the work.
pub const RUNS: [(usize, GarblingWork); 5] =
    [(2, GarblingWork::Bits), (3, GarblingWork::Bits), SMALL, (2, GarblingWork::Aes), (3, GarblingWork::Aes)];

/// The run in which leaks are planted; without them it must have no report.
pub const SMALL: (usize, GarblingWork) = (2, GarblingWork::Gates);

/// The places where leaks are planted, each on a secret: Delta, choices of base OTs, masks of wires, inputs,
/// labels.
pub const LEAKS: [&str; 5] = [
    "divisi_ot::setup/setup",
    "divisi_ot::base/choices",
    "divisi_garble::masks/masks",
    "divisi_garble::online/5.masked",
    "divisi_garble::table/labels",
];

/// How many authenticated bits are made.
const BITS: usize = 1000;

/// The name of a run in lists.
pub fn name(parties: usize, work: GarblingWork) -> String {
    let work = match work {
        GarblingWork::Bits => "set-up and authenticated bits",
        GarblingWork::Gates => "garbled gates",
        GarblingWork::Aes => "garbled aes",
    };
    format!("{work}, {parties} parties")
}

/// Run all parties, and return what the meter of each counted.
///
/// # Errors
/// If a party aborts, the text of the first abort; or that the output was wrong.
pub fn run(parties: usize, work: GarblingWork) -> Result<Vec<Counts>, String> {
    let program = circuit(work)?;
    let owners: Vec<PartyId> = PartyId::all(2).collect();
    let plan = Plan::for_all(&program, parties, &owners).map_err(|e| e.to_string())?;
    let inputs: Vec<u8> = (0..program.input_bits() as u64).map(|i| (mix(i) & 1) as u8).collect();
    let world = Arc::new(Same::default());
    let parameters = SetupConfig::default().describe(PublicParameters::new("measure"));
    let parameters = GarbleOptions::default().describe(parameters);
    let run = |session| party(session, &world, &plan, &inputs, work);
    let mut counts = Vec::new();
    for (mut output, counted) in together(parties, &world, &parameters, run)? {
        machine::cure(output.as_mut_ptr(), output.len());
        if work != GarblingWork::Bits && output != in_the_clear(&program, &inputs)? {
            return Err("the output is not what the same computation gives in the clear".to_owned());
        }
        counts.push(counted);
    }
    Ok(counts)
}

/// The circuit that is garbled.
fn circuit(work: GarblingWork) -> Result<Program, String> {
    if work == GarblingWork::Aes {
        let program = circuits::named("aes128", Adder::LowDepth).map_err(|e| e.to_string())?;
        return program.ok_or_else(|| "no circuit of AES".to_owned());
    }
    let mut build = Build::new();
    let (x, y) = (build.input(8), build.input(8));
    let products: Vec<BuildBit> = x.iter().zip(&y).map(|(x, y)| build.and(*x, *y)).collect();
    build.output(&products);
    Ok(build.finish())
}

fn in_the_clear(program: &Program, inputs: &[u8]) -> Result<Vec<u8>, String> {
    let wires: Vec<Vec<u64>> = inputs.iter().map(|bit| vec![u64::from(*bit)]).collect();
    let out = plain::run(program, &wires).map_err(|e| e.to_string())?;
    Ok(out.iter().map(|wire| wire.first().map_or(0, |word| (word & 1) as u8)).collect())
}

fn party(
    mut session: Session,
    world: &Same,
    plan: &Plan<'_>,
    inputs: &[u8],
    work: GarblingWork,
) -> Result<(Vec<u8>, Counts), Abort> {
    world.is_secret();
    let mut setup = Setup::new(&mut session, SetupConfig::default())?;
    if work == GarblingWork::Bits {
        drop(setup.authenticated_bits(&mut session, BITS)?);
        return Ok((Vec::new(), session.meter().read()));
    }
    let mut mine: Vec<u8> =
        plan.wires_of(session.me()).filter_map(|wire| inputs.get(wire).copied()).collect();
    machine::poison(mine.as_mut_ptr(), mine.len());
    let mut garble = Garble::new(&session, setup, GarbleOptions::default());
    let mut made = garble.function_independent(&mut session, plan.and_count(), plan.wires())?;
    let garbled = garble.function_dependent(&mut session, &mut made, plan, 1)?;
    let outputs = garble.online(&mut session, garbled, &[mine])?;
    let output = outputs.first().map(|output| output.to_vec()).unwrap_or_default();
    Ok((output, session.meter().read()))
}
