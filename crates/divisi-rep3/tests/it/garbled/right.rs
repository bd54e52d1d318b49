//! Right in every role.

use super::*;
use divisi_core::Lanes;
use divisi_core::testing::{Lab, OpenedOutputs, Outputs, PlainLab};
use divisi_rep3::lab::{Rep3Lab, run};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Function, MacEngine, Messages, bits as bits_of, byte_values};
use divisi_symmetric::suite::functions::{Case, in_pieces, outputs};

/// Random programs, lanes over the edges of words, tiles and groups, every rotation of the roles.
#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    let mut noise = Noise(5);
    for (seed, lanes) in (0..).zip([1, 2, 63, 64, 65, 129, 512, 513]) {
        let program = random_program(seed, 4, 60 + noise.below(200));
        let (values, parts) = dealt(seed, 4, lanes);
        let expected = in_the_clear(&program, &values);
        for skip in 0..3 {
            let opened = run(|trio| play(trio, &program, &parts, skip)).unwrap();
            assert!(opened.iter().all(|columns| *columns == expected), "{seed} {lanes} {skip}");
        }
    }
}

/// Pieces of tables and of labels end where they end.
#[test]
fn circuits_of_several_pieces_give_what_they_give_in_the_clear() {
    for (name, bytes, lanes) in [("aes128", 32, 3), ("sha256", 96, 2), ("aes128", 32, 40)] {
        let program = circuit(name);
        let (values, parts) = dealt(7, bytes, lanes);
        let expected = in_the_clear(&program, &values);
        let opened = run(|trio| play(trio, &program, &parts, lanes % 3)).unwrap();
        assert!(opened.iter().all(|columns| *columns == expected), "{name}");
    }
}

/// Several jobs of different depth and lanes are one call; one lane serves all.
#[test]
fn jobs_of_one_call_do_not_disturb_each_other() {
    let programs = [random_program(21, 2, 80), random_program(22, 1, 70), random_program(23, 3, 150)];
    let (one, parts_one) = dealt(1, 2, 5);
    let (two, parts_two) = dealt(2, 1, 1);
    let (three, parts_three) = dealt(3, 2, 70);
    let spread: Vec<Vec<u8>> = vec![vec![two[0][0]; 70], three[0].clone(), three[1].clone()];
    let expected = [
        in_the_clear(&programs[0], &one),
        in_the_clear(&programs[1], &two),
        in_the_clear(&programs[2], &spread),
    ];
    let opened = run(|mut trio| {
        let [a, b, c] = [&parts_one, &parts_two, &parts_three].map(|parts| inputs(&mut trio, parts));
        let (a, b, c) = (a?, b?, c?);
        let mut e = engine(trio);
        let wires = [bits(&mut e, &a)?, bits(&mut e, &b)?, bits(&mut e, &[&b[..], &c].concat())?];
        let mut jobs: Vec<_> =
            programs.iter().zip(wires).map(|(program, wires)| ProgramRun::new(program, wires)).collect();
        e.run(&mut jobs)?;
        let mut opened = Vec::new();
        for job in &jobs {
            opened.push(open(&mut e, &job.wires)?);
        }
        Ok(opened)
    })
    .unwrap();
    assert!(opened.iter().all(|all| *all == expected));
}

/// What comes out goes into level-by-level programs and back, and owes what its inputs owed.
#[test]
fn shares_serve_the_other_way_and_back() {
    let programs = [random_program(31, 4, 120), random_program(32, 8, 150), random_program(33, 8, 90)];
    for skip in 0..3 {
        let (values, parts) = dealt(4 + skip as u64, 4, 66);
        let expected = programs.iter().fold(values, |values, program| in_the_clear(program, &values));
        for order in [[Rounds::OfLevels, Rounds::Constant], [Rounds::Constant, Rounds::OfLevels]] {
            let opened = run(|mut trio| {
                let secret = inputs(&mut trio, &parts)?;
                let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
                e.use_rounds(Rounds::Constant);
                turn(&mut e, skip)?;
                let mut wires = bits(&mut e, &secret)?;
                for (i, program) in programs.iter().enumerate() {
                    e.use_rounds(order[i % 2]);
                    wires = run_one(&mut e, program, wires)?;
                }
                assert!(e.owes());
                open(&mut e, &wires)
            })
            .unwrap();
            assert!(opened.iter().all(|columns| *columns == expected), "{skip} {order:?}");
        }
    }
}

/// A job without lanes has outputs without lanes, and those beside it have theirs.
#[test]
fn a_job_without_lanes_has_its_outputs() {
    let programs = [random_program(41, 2, 80), random_program(42, 2, 60)];
    let (values, parts) = dealt(6, 2, 3);
    let expected = in_the_clear(&programs[1], &values);
    let opened = run(|mut trio| {
        let none = trio.input(&Part { first: Vec::new(), second: Vec::new() })?;
        let secret = inputs(&mut trio, &parts)?;
        let mut e = engine(trio);
        let wires = [bits(&mut e, &[none.clone(), none])?, bits(&mut e, &secret)?];
        let mut jobs: Vec<_> =
            programs.iter().zip(wires).map(|(program, wires)| ProgramRun::new(program, wires)).collect();
        e.run(&mut jobs)?;
        let empty: Vec<usize> = jobs[0].wires.iter().map(Lanes::lanes).collect();
        Ok((empty, open(&mut e, &jobs[1].wires)?))
    })
    .unwrap();
    let empty = vec![0; programs[0].output_bits()];
    assert!(opened.iter().all(|(none, columns)| *none == empty && *columns == expected));
}

/// Parties whose engine has constant rounds.
struct ConstantRounds;

impl Lab for ConstantRounds {
    type Engine = Rep3;

    fn run(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Rep3, Vec<Byte>) -> Result<Outputs<Rep3>, Abort> + Sync,
    ) -> Result<OpenedOutputs, Abort> {
        let lab = Rep3Lab { protocol: Protocol::Gf4Circuit, security: Security::Malicious };
        lab.run(inputs, |e, inputs| {
            e.use_rounds(Rounds::Constant);
            f(e, inputs)
        })
    }
}

/// Here a function is one program, or one for each length of messages, and has the same outputs.
#[test]
fn functions_in_one_program_give_what_they_give_in_many() {
    for name in ["sha256", "hmac-sha256", "kmac128", "cmac-aes128"] {
        let settings = Settings::new(name.parse().unwrap());
        let key: Vec<u8> = (0..settings.algorithm.key_bytes()).map(|i| (i * i) as u8).collect();
        let case = |bytes: u8| Case { key: key.clone(), nonce: [0; 12], message: (0..bytes).collect() };
        let long = case(255);
        assert_eq!(in_pieces(&ConstantRounds, &settings, &long), in_pieces(&PlainLab, &settings, &long));
        // without bytes sha256 has no input, and one output for all
        let cases = [17, 3, 0, 17, 0, 3].map(case);
        let [one, many] =
            [outputs(&ConstantRounds, &settings, &cases), outputs(&PlainLab, &settings, &cases)];
        assert_eq!(one, many, "{name}");
    }
}

/// A key of one lane serves messages of several lengths, as often as it is used, also behind a first piece;
/// and an empty key is one.
#[test]
fn one_key_serves_messages_of_several_lengths() {
    fn tags<L: Lab<Engine: MacEngine>>(lab: &L, name: &str, key: &[u8]) -> Vec<Vec<u8>> {
        let key: Vec<Vec<u8>> = key.iter().map(|byte| vec![*byte]).collect();
        let messages: [&[u8]; 4] = [b"one", b"", b"two", b"another"];
        let run = |e: &mut L::Engine, key: &[_]| {
            let function = Function::prepare(e, &Settings::new(name.parse().unwrap()), key)?;
            let messages = Messages::public(e, &messages);
            let mut out = function.output(e, &messages, &[])?;
            out.extend(function.output(e, &messages, &[])?);
            let piece: Vec<_> = (0..function.piece()).map(|i| e.public(&[i as u8, 1, 2, 3])).collect();
            let (begun, piece) = (function.begin(e), bits_of(e, piece)?);
            let state = function.update(e, begun, piece)?;
            let tails = Messages::public(e, &[b"one", b"x", b"two", b"another"]);
            out.extend(function.finish(e, state, &tails, &[])?);
            Ok(Outputs::bytes(byte_values(e, out)?))
        };
        lab.run(&key, |e, key| run(e, &key)).unwrap().bytes
    }
    for (name, bytes) in [("hmac-sha256", 32), ("hmac-sha256", 0), ("kmac128", 16), ("cmac-aes128", 16)] {
        let key = vec![7; bytes];
        let expected = tags(&PlainLab, name, &key);
        assert_eq!(tags(&ConstantRounds, name, &key), expected, "{name} {bytes}");
        assert!(expected.iter().all(|column| column.len() == 4));
    }
}
