//! What parties compare before a job, and what else a job refuses: each thing that can differ has other
//! parameters, what one process sends another is what it had, and each party gets what is its own.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::{PartyId, Security};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{CircuitJob, EngineJob, Own};
use divisi_engine::name::Name;
use divisi_engine::{Between, Engine, EngineSettings, Rows};
use divisi_mixed::adders::NumberAdder;
use divisi_program::NumberSize;
use divisi_program::adapter::MixedEngine;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::adapter::manner::{INSECURE, Manner};
use divisi_program::form::BitForm;
use divisi_program::held::HeldProgram;
use divisi_program::operations::{Op, OperationJob};
use divisi_symmetric::gates::Adder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const ADDER: Adder = Adder::FewestAnds;

pub fn held(program: Program) -> Arc<HeldCircuit> {
    Arc::new(HeldCircuit::Program(NamedCircuit { name: "circuit".into(), program, file: None }))
}

fn settings() -> EngineSettings {
    EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() }.among(3)
}

/// A file of these tests.
fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agreement").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn name(path: &Path) -> Name {
    path.as_os_str().to_owned().into()
}

/// A file of a circuit of one gate.
fn gate(path: &str, gate: &str) -> PathBuf {
    file(path, &format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {gate}\n"))
}

fn program(path: &str, body: &str) -> ProgramJob {
    ProgramJob::load(&name(&file(path, &format!("divisi program 1\n{body}"))), None, 1).unwrap()
}

/// The digests of what a job's parties compare: before a session, and in one for `count` items.
fn compared(job: &dyn EngineJob, settings: &EngineSettings, count: usize) -> [Vec<[u8; 32]>; 2] {
    let prepared = MixedEngine.jobs().own.unwrap().prepare(job, settings).unwrap();
    let agreement = prepared.agreement().into_iter().map(|(_, digest)| digest).collect();
    [agreement, vec![prepared.parameters(count).digest()]]
}

/// The last byte of a text counts, and each application is its own.
#[test]
fn programs_that_differ_have_other_digests() {
    let of = |body: &str| {
        let path = file("digest.txt", &format!("divisi program 1\n{body}"));
        HeldProgram::load(name(&path)).unwrap().digest()
    };
    let own =
        divisi_program::applications::ALL.iter().map(|own| HeldProgram::load(own.name).unwrap().digest());
    let mut digests = vec![[0; 32]];
    digests.extend(own);
    digests.extend(
        ["input x 1 num\noutput x 1", "input x 1 num\noutput x 2", "input x 1 num\noutput x 1\n"].map(of),
    );
    assert_eq!(digests.iter().collect::<BTreeSet<_>>().len(), digests.len());
}

#[test]
fn operations_that_differ_have_other_parameters() {
    let numbers = NumberSize::Bits31;
    let one = OperationJob { op: Op::Lookup, numbers, bits: 8, entries: 4, private: false, count: 9 };
    let b2a = OperationJob { op: Op::B2a, ..one };
    let jobs = [
        one,
        OperationJob { private: true, ..one },
        OperationJob { entries: 8, ..one },
        OperationJob { entries: 256, ..one },
        OperationJob { bits: 9, ..one },
        OperationJob { numbers: NumberSize::Bits61, ..one },
        b2a,
        OperationJob { op: Op::Lookup2, ..one },
        OperationJob { bits: 7, ..b2a },
        OperationJob { numbers: NumberSize::Bits61, ..b2a },
    ];
    let counts = [1, 2, 257, 1 << 16, 1 + (1 << 16)];
    let all = jobs.iter().flat_map(|job| counts.map(|count| compared(job, &settings(), count)[1][0]));
    assert_eq!(all.collect::<BTreeSet<_>>().len(), jobs.len() * counts.len());
}

/// Operations that are made in another way have other parameters.
#[test]
fn operations_of_other_forms_have_other_parameters() {
    let numbers = NumberSize::Bits31;
    let lookup = OperationJob { op: Op::Lookup, numbers, bits: 8, entries: 4, private: false, count: 9 };
    let a2b = OperationJob { op: Op::A2b, ..lookup };
    let forms = BitForm::ALL.map(|form| (lookup, Manner::FORM, form.name()));
    let adders = [NumberAdder::FewestAnds, NumberAdder::LowDepth];
    let adders = adders.map(|adder| (a2b, Manner::ADDER, adder.name()));
    let ways = [&forms[..], &adders].concat();
    for parties in [2, 3] {
        let digest = |(job, option, name): &(OperationJob, &str, &str)| {
            compared(job, &settings().among(parties).with(option, name), 1)[1][0]
        };
        assert_eq!(ways.iter().map(digest).collect::<BTreeSet<_>>().len(), ways.len(), "{parties}");
    }
}

/// Another text, another circuit behind one of its names, another number of runs.
#[test]
fn programs_that_differ_have_other_parameters() {
    let (and, other) = (gate("one/gate.txt", "AND"), gate("other/gate.txt", "XOR"));
    let body = |receiver: u8| {
        let (and, other) = (and.display(), other.display());
        format!(
            "input x 1 bits 1\ninput y 2 bits 1\nc = circuit {and} x y\nd = circuit {other} x y\n\
             output c {receiver}\noutput d 2\n"
        )
    };
    let mut agreed = BTreeSet::new();
    let mut parameters = BTreeSet::new();
    for receiver in [1, 2] {
        for gates in [["AND", "XOR"], ["AND", "AND"], ["XOR", "XOR"], ["XOR", "AND"]] {
            gate("one/gate.txt", gates[0]);
            gate("other/gate.txt", gates[1]);
            let job = program("circuits.txt", &body(receiver));
            for count in [1, 2, 257, 1 << 16, 1 + (1 << 16), 1 + (1 << 32)] {
                let [agreement, of_count] = compared(&job, &settings(), count);
                // the first says that it is another program, the second that settings are others
                agreed.insert(agreement[0]);
                parameters.insert(of_count[0]);
                assert_ne!(agreement[0], agreement[1]);
            }
        }
    }
    assert_eq!((agreed.len(), parameters.len()), (8, 48));
}

fn circuit(
    gate: impl Fn(&mut Build, [divisi_circuit::BuildBit; 2]) -> divisi_circuit::BuildBit,
) -> Arc<HeldCircuit> {
    let mut g = Build::new();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let out = gate(&mut g, [x, y]);
    g.output(&[out]);
    g.output(&[x]);
    held(g.finish())
}

/// Another circuit, other owners, other receivers of one value, other settings, another number.
#[test]
fn circuits_that_differ_have_other_parameters() {
    use PartyId as P;
    let (and, or) = (
        circuit(|g, [x, y]| g.and(x, y)),
        circuit(|g, [x, y]| {
            let both = g.and(x, y);
            g.not(both)
        }),
    );
    let ways = [
        (vec![P::P1, P::P2], vec![vec![P::P1], vec![P::P2]]),
        (vec![P::P2, P::P1], vec![vec![P::P1], vec![P::P2]]),
        (vec![P::P1, P::P3], vec![vec![P::P1], vec![P::P2]]),
        (vec![P::P1, P::P2], vec![vec![P::P1], vec![P::P3]]),
        (vec![P::P1, P::P2], vec![vec![P::P1], vec![P::P2, P::P3]]),
        (vec![P::P1, P::P2], vec![vec![P::P1, P::P2], vec![P::P2]]),
    ];
    let garbled = settings().with(Manner::PROTOCOL, "mpgc");
    let all_settings = [
        settings(),
        settings().with(Manner::K, 2),
        garbled.clone(),
        garbled.clone().with(Manner::FORM, "lean-ring"),
        garbled.clone().with(Manner::FORM, "lean-tree"),
        garbled.with(Manner::FORM, "lean-tree").with(INSECURE, ""),
        settings().among(4),
    ];
    let mut parameters = BTreeSet::new();
    let mut agreed = [BTreeSet::new(), BTreeSet::new()];
    for circuit in [and, or] {
        for (owners, receivers) in &ways {
            let between = Between::Parties { owners: owners.clone(), receivers: receivers.clone() };
            let job = CircuitJob { circuit: Arc::clone(&circuit), adder: ADDER, between, count: 1 };
            for settings in &all_settings {
                let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, settings).unwrap();
                let agreement = prepared.agreement().into_iter().map(|(_, digest)| digest);
                agreed.iter_mut().zip(agreement).for_each(|(all, digest)| all.extend([digest]));
                parameters.extend([1, 257].map(|count| prepared.parameters(count).digest()));
            }
        }
    }
    // the number of parties is no parameter of its own: a session has so many
    let settings = all_settings.len() - 1;
    assert_eq!(parameters.len(), 2 * ways.len() * settings * 2);
    assert_eq!(agreed.map(|all| all.len()), [2 * ways.len(), settings]);
}

/// Where there are no ciphertexts there are no lattices of which to take those of tests.
#[test]
fn no_lattices_are_insecure_where_there_are_none() {
    let circuit = circuit(|g, [x, y]| g.and(x, y));
    let between = Between::with_all_to(vec![PartyId::P1, PartyId::P2], &[PartyId::P1], 2);
    let job = CircuitJob { circuit, adder: ADDER, between, count: 1 };
    let cot = settings().with(Manner::PROTOCOL, "mpgc").with(Manner::FORM, "cot");
    let prepare = |settings: &EngineSettings| {
        let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, settings);
        prepared.err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(prepare(&cot), "");
    assert!(prepare(&cot.with(INSECURE, "")).contains("applies to ciphertexts only"));
}

/// A job is read again as it was sent; a program whose file, or that of one of its circuits, is another one
/// by then is refused.
#[test]
fn jobs_are_read_as_they_were_sent() {
    let other = gate("sent/gate.txt", "XOR");
    let body = format!("input x 1 bits 1\ny = circuit {} x x\noutput y 1\n", other.display());
    let read = |message: &[u8]| MixedEngine.jobs().own.unwrap().read(message);
    for change in ["sent/gate.txt", "sent.txt"] {
        gate("sent/gate.txt", "XOR");
        let job = program("sent.txt", &body);
        let message = job.counted(300).message();
        let again = read(&message).unwrap();
        assert_eq!((again.count(), again.message()), (300, message.clone()));
        if change == "sent.txt" {
            program("sent.txt", &body.replace("output y 1", "output y 2"));
        } else {
            gate(change, "AND");
        }
        let error = read(&message).err().unwrap().to_string();
        assert!(error.contains("has changed meanwhile: leave it as it is"), "{error}");
    }
    let numbers = NumberSize::Bits61;
    let one = OperationJob { op: Op::Lookup, numbers, bits: 9, entries: 256, private: true, count: 300 };
    for numbers in NumberSize::ALL {
        let job = OperationJob { numbers, ..one };
        assert_eq!(read(&job.message()).unwrap().of::<OperationJob>(), Some(&job));
    }
    // numbers of 317 bits are none of 61, and those of 31 have a message of their own
    let wide = one.message();
    assert_eq!(wide[..2], [2, 61]);
    for (other, bits) in [(&[2, 0xbd, 2][..], 317), (&[2, 31], 31)] {
        let error = read(&[other, &wide[2..]].concat()).err().unwrap().to_string();
        assert!(error.contains(&format!("there are no numbers of {bits} bits")), "{error}");
    }
}

/// What is expected of a program are all its outputs, in their order.
#[test]
fn all_outputs_of_a_program_are_expected() {
    let job = program("expected.txt", "input x 1 bits 1 2\ninput y 2 bits 1\noutput y 1\noutput x 2\n");
    assert_eq!((job.input_bytes(), job.output_bytes()), (3, 3));
    assert_eq!(job.expected()(0, &[1, 0, 1]), Some(vec![1, 1, 0]));
}

/// All of a program's digest is compared when a job is read again.
#[test]
fn a_digest_that_differs_anywhere_is_another_program() {
    let job = program("anywhere.txt", "input x 1 bits 1\noutput x 1\n");
    let (message, digest) = (job.message(), job.program.digest());
    let at = message.windows(32).position(|window| window == digest).unwrap();
    for byte in 0..32 {
        let mut wrong = message.clone();
        wrong[at + byte] ^= 1;
        let error = MixedEngine.jobs().own.unwrap().read(&wrong).err().unwrap().to_string();
        assert!(error.contains("has changed meanwhile"), "byte {byte}: {error}");
    }
}

/// Each party gets the entries of its own inputs, run after run, and nothing else; and all who learn an
/// output must say the same of it, in every byte.
#[test]
fn parties_get_their_own_and_say_the_same() {
    let body = "input x 1 num 2 in 0..99\ninput y 2 num in 0..99\ninput z 1 bits 3\nw = add x y\n\
                output w 1,3\noutput z 1,2,3\noutput y 2\n";
    let job = program("parties.txt", body);
    let prepared = MixedEngine.jobs().own.unwrap().prepare(&job, &settings()).unwrap();
    let rows: Vec<Vec<u8>> = (0..3).map(|run| (0..27).map(|at| 100 * run + at).collect()).collect();
    let mut given = Rows::default();
    rows.iter().for_each(|row| given.push(&[row]));
    let of = |ranges: &[(usize, usize)]| -> Vec<u8> {
        rows.iter().flat_map(|row| ranges.iter().flat_map(|(from, to)| row[*from..*to].to_vec())).collect()
    };
    let dealt: Vec<Vec<u8>> = prepared.deal(&given).iter().map(|own| own.to_vec()).collect();
    assert_eq!(dealt, [of(&[(0, 16), (24, 27)]), of(&[(16, 24)]), Vec::new()]);

    let (w, z, y): (Vec<u8>, Vec<u8>, Vec<u8>) = ((0..16).collect(), vec![1, 0, 1], (50..58).collect());
    let told = [[&w[..], &z].concat(), [&z[..], &y].concat(), [&w[..], &z].concat()];
    let collect =
        |told: &[Vec<u8>; 3]| prepared.collect(1, told.iter().map(|bytes| Own::new(bytes.clone())).collect());
    assert_eq!(collect(&told), Ok([&w[..], &z, &y].concat()));
    for party in 0..3 {
        for at in 0..told[party].len() {
            let mut wrong = told.clone();
            wrong[party][at] ^= 1;
            // the last output goes to one party alone
            let alone = party == 1 && at >= z.len();
            assert_eq!(collect(&wrong).is_ok(), alone, "party {party}, byte {at}");
        }
        let mut short = told.clone();
        short[party].pop();
        let number = PartyId::all(3).nth(party);
        assert_eq!(collect(&short).unwrap_err().party, number);
    }
}

/// The last of several circuits counts, and the end of a long text.
#[test]
fn long_programs_that_differ_late_have_other_digests() {
    let of = |other: Option<usize>, end: &str| {
        let mut body = String::from("divisi program 1\ninput x 1 bits 1\n");
        for i in 0..5 {
            let kind = if other == Some(i) { "AND" } else { "XOR" };
            let circuit = gate(&format!("late/gate{i}.txt"), kind);
            body.push_str(&format!("y{i} = circuit {} x x\noutput y{i} 1\n", circuit.display()));
        }
        body.push_str(&"# nothing\n".repeat(10_000));
        HeldProgram::load(name(&file("late.txt", &(body + end)))).unwrap().digest()
    };
    let mut digests = vec![of(None, "# a\n"), of(None, "# b\n"), of(None, "")];
    digests.extend((0..5).map(|i| of(Some(i), "")));
    assert_eq!(digests.iter().collect::<BTreeSet<_>>().len(), digests.len());
}

/// What three parties say of a long output is compared to its end.
#[test]
fn long_outputs_are_the_same_at_all_who_learn_them() {
    let body = "input x 1 num 9000 in 0..9\noutput x 1,2,3\n";
    let job = program("long.txt", body);
    let prepared = MixedEngine.jobs().own.unwrap().prepare(&job, &settings()).unwrap();
    let told = vec![Own::new(vec![5; 72_000]); 3];
    assert_eq!(prepared.collect(1, told.clone()), Ok(vec![5; 72_000]));
    for (party, at) in (0..3).flat_map(|party| [0, 255, 256, 4096, 65_536, 71_999].map(|at| (party, at))) {
        let mut wrong = told.clone();
        wrong[party][at] ^= 1;
        // among two the second is named
        assert_eq!(prepared.collect(1, wrong).unwrap_err().party, PartyId::all(3).nth(party.max(1)));
    }
}

/// Nor is the last of many who learn an output left out.
#[test]
fn the_last_of_many_who_learn_an_output_says_the_same() {
    let job = program("seven.txt", "input x 1 num in 0..9\noutput x 1,2,3,4,5,6,7\n");
    let prepared = MixedEngine.jobs().own.unwrap().prepare(&job, &settings().among(7)).unwrap();
    let told = vec![Own::new(vec![5; 8]); 7];
    assert_eq!(prepared.collect(1, told.clone()), Ok(vec![5; 8]));
    for party in 0..7 {
        let mut wrong = told.clone();
        wrong[party][7] = 0;
        assert_eq!(prepared.collect(1, wrong).unwrap_err().party, PartyId::all(7).nth(party.max(1)));
    }
}

/// As many parties and gates as a session takes, and none more.
#[test]
fn what_is_too_much_for_a_session_is_refused() {
    let refused = |job: &dyn EngineJob, settings: &EngineSettings| {
        let prepared = MixedEngine.jobs().own.unwrap().prepare(job, settings);
        prepared.err().map_or(String::new(), |error| error.to_string())
    };
    let job = program("many.txt", "input x 1 num\noutput x 2,3\n");
    assert_eq!(refused(&job, &settings()), "");
    let error = refused(&job, &settings().among(2));
    assert!(error.contains("line 3: the program names party 3, but there are only 2"), "{error}");
    let and = gate("gate.txt", "AND");
    for (entries, fits) in [(1 << 18, true), ((1 << 18) + 1, false)] {
        let body = format!("input x 1 bits 1 {entries}\ny = garbled {} x 1\noutput y 1\n", and.display());
        let error = refused(&program(&format!("garbled-{entries}.txt"), &body), &settings());
        assert_eq!(error.is_empty(), fits, "{error}");
        assert!(fits || error.contains("line 3: the program garbles 262145 gates"), "{error}");
    }
    // gates of all instances count
    let both = circuit(|g, [x, y]| g.and(x, y));
    let garbled = settings().with(Manner::PROTOCOL, "mpgc");
    for (count, fits) in [(1 << 24, true), ((1 << 24) + 1, false)] {
        let between = Between::with_all_to(vec![PartyId::P1, PartyId::P2], &[PartyId::P1], 2);
        let job = CircuitJob { circuit: Arc::clone(&both), adder: ADDER, between, count };
        let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, &garbled);
        assert_eq!(prepared.is_ok(), fits, "{count}");
        let cot = garbled.clone().with(Manner::FORM, "cot");
        let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, &cot);
        let error = prepared.err().unwrap().to_string();
        assert!(error.contains("a session garbles at most"), "{error}");
    }
}

/// What is said of a wrong value names its place, and has nothing of it.
#[test]
fn inputs_are_given_once_in_their_ranges_and_never_shown() {
    let body = "input x 1 num 2\ninput y 1 num 2 in -5..500000\ninput b 1 bits 20\noutput x 1\n";
    let path = file("inputs.txt", &format!("divisi program 1\n{body}"));
    let held = HeldProgram::load(name(&path)).unwrap();
    let error = |given: &[&str]| {
        let given: Vec<String> = given.iter().map(|given| (*given).to_owned()).collect();
        held.inputs(&given, None).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(error(&["x=1,2", "y=-5,500000", "b=7"]), "");
    assert!(error(&["x=1,2", "y=1,2", "b=7", "y=1,2"]).contains("the input y is given twice"));
    for (input, what) in [
        ("x=1,777777x", "value 2 of the input x is not an integer"),
        ("x=1,77777777777777", "value 2 of the input x is not an integer"),
        ("x=1,1400777777", "value 2 of the input x is not from"),
        ("y=1,777777", "value 2 of the input y is not from"),
        ("b=1777777", "value 1 of the input b is not a number of 20 bits"),
        ("b=777777x", "value 1 of the input b is not a number of 20 bits"),
        ("b=777,777", "the input b takes 1 values, and 2 are given"),
    ] {
        let others = ["x=1,2", "y=1,2", "b=7"].into_iter().filter(|other| other[..1] != input[..1]);
        let error = error(&others.chain([input]).collect::<Vec<_>>());
        assert!(error.contains(what) && !error.contains("777"), "{input}: {error}");
    }
}
