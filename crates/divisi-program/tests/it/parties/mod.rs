//! Programs among parties of one process, compared with their evaluation in the clear.

use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_core::{Abort, Counts, PartyId, PublicParameters as Agreed, local};
use divisi_field::zp::{Modulus, P32};
use divisi_mixed::{Gmw, Mixed};
use divisi_mpgc::{GarblingContext, LookupMethod};
use divisi_ot::SetupConfig;
use divisi_program::plain::{self, Entries};
use divisi_program::{Code, Script, lower, run};
use std::sync::Arc;

/// Run a program: what each party learned, and the counts of its meter. The lattice is one for tests.
pub fn run(n: usize, program: &Script, inputs: &[Entries]) -> Vec<(Vec<Option<Entries>>, Counts)> {
    try_run(n, program, inputs).unwrap()
}

/// Like [`run`], with the abort of the run if there is one.
pub fn try_run(
    n: usize,
    program: &Script,
    inputs: &[Entries],
) -> Result<Vec<(Vec<Option<Entries>>, Counts)>, Abort> {
    let code = lower(program).unwrap();
    let (ring, agreed) = lattice_of(n, program.numbers().modulus());
    let numbers = (code.cost().triples() > 0).then_some(&ring);
    let one = |session| one(session, program, &code, numbers, inputs);
    local::run(n, &agreed, one)
}

/// The lattice, and what the parties of a session agree on.
pub fn lattice(n: usize) -> (Arc<Ring>, Agreed) {
    lattice_of(n, P32)
}

/// The same for numbers modulo another prime.
fn lattice_of(n: usize, p: u64) -> (Arc<Ring>, Agreed) {
    let ring = Parameters::danger_insecure(Operation::Triples, Form::LeanTree, n, p).unwrap();
    let ring = Arc::new(Ring::new(ring).unwrap());
    let agreed = ring.parameters().describe(Agreed::new("programs"));
    (ring, agreed)
}

/// What one party does.
pub fn one(
    mut session: divisi_core::Session,
    program: &Script,
    code: &Code,
    ring: Option<&Arc<Ring>>,
    inputs: &[Entries],
) -> Result<(Vec<Option<Entries>>, Counts), Abort> {
    session.phase("setup");
    let me = session.me();
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let p = Modulus::new(program.numbers().modulus()).unwrap();
    let mut mixed = Mixed::new(gmw, p, None, ring)?;
    mixed.session().phase("preprocessing");
    let mut context = if code.cost().garbled[0] > 0 {
        let beside = mixed.keys();
        Some(GarblingContext::new(mixed.gmw(), &LookupMethod::Transfers, beside.as_ref())?)
    } else {
        None
    };
    let ahead = run::prepare(code, &mut mixed, context.as_mut())?;
    let made = |mixed: &mut Mixed| {
        let counts = mixed.session().meter().read();
        counts.phases.get("preprocessing").map(|phase| (phase.bytes, phase.rounds))
    };
    let before = made(&mut mixed);
    mixed.session().phase("online");
    let mine = |owner: u8| PartyId::new(owner) == Some(me);
    let own: Vec<Option<Entries>> = program
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(input, entries)| mine(input.owner).then(|| entries.clone()))
        .collect();
    let out = run::run(program, code, &mut mixed, &own, ahead)?;
    assert_eq!(made(&mut mixed), before, "something is made late");
    Ok((out, mixed.session().meter().read()))
}

/// Run a program, and compare what each party learns with the evaluation in the clear.
pub fn compare(n: usize, program: &Script, inputs: &[Entries]) -> Vec<Counts> {
    let expected = plain::evaluate(program, inputs).unwrap();
    let ends = run(n, program, inputs);
    let mut counts = Vec::new();
    for (party, (learned, count)) in (1..).zip(ends) {
        for ((output, learned), expected) in program.outputs().iter().zip(learned).zip(&expected) {
            let told = output.receivers.contains(&party);
            assert_eq!(learned.is_some(), told, "party {party}, {}", output.name);
            if let Some(learned) = learned {
                assert_eq!(shown(&learned), shown(expected), "party {party}, {}", output.name);
            }
        }
        counts.push(count);
    }
    counts
}

/// Entries as text.
pub fn shown(entries: &Entries) -> String {
    match entries {
        Entries::Num(numbers) => format!("{numbers:?}"),
        Entries::Bits(bits) => {
            let word = |bits: &Vec<bool>| bits.iter().rev().map(|bit| if *bit { '1' } else { '0' }).collect();
            format!("{:?}", bits.iter().map(word).collect::<Vec<String>>())
        }
    }
}
