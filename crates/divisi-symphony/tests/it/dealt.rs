//! Jobs of a client, from inputs that are dealt to outputs that are collected.

use aes_gcm::aes::Aes128;
use aes_gcm::aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use divisi_circuit::{Build, Gates};
use divisi_core::{Counts, Direction};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{Between, BlocksJob, Cipher, CircuitJob, JobSpec};
use divisi_engine::{EngineSettings, Rows, prepare, together};
use divisi_rep3::Protocol;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::gates::Adder;
use divisi_symphony::adapter::{CONSTANT, ROUNDS, Replicated};
use std::sync::Arc;

const KEY: [u8; 16] = *b"sixteen bytes in";
const ON_DEMAND: &str = "on-demand";

fn ran(job: &JobSpec, settings: &EngineSettings, key: &[u8], inputs: &Rows) -> (Vec<u8>, Counts) {
    let prepared = prepare(&Replicated, job, settings).unwrap();
    together(&*prepared, key, inputs).unwrap()
}

/// Blocks by every protocol and in constant rounds: vectors, and calls that are not garbled on demand, are
/// made in a phase of their own.
#[test]
fn blocks_are_right_in_every_way() {
    let constant = EngineSettings::default().with(ROUNDS, CONSTANT);
    let levels = |protocol: &Protocol| {
        let settings = EngineSettings::default().with("protocol", protocol.name());
        (settings, protocol.has_vectors())
    };
    let mut ways: Vec<(EngineSettings, bool)> = Protocol::ALL.iter().map(levels).collect();
    ways.extend([(constant.clone(), true), (constant.with(ON_DEMAND, ""), false)]);
    let (blocks, aes) = ([[1; 16], [0xfe; 16], *b"another block..."], Aes128::new(&KEY.into()));
    let mut rows = Rows::default();
    blocks.iter().for_each(|block| rows.push(&[block]));
    for (settings, ahead) in ways {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let cipher = Cipher::Aes(KeySize::Aes128);
            let job = JobSpec::Blocks(BlocksJob { cipher, direction, count: blocks.len() });
            let (out, counts) = ran(&job, &settings, &KEY, &rows);
            let expected = blocks.map(|block| {
                let mut block = block.into();
                match direction {
                    Direction::Encrypt => aes.encrypt_block(&mut block),
                    Direction::Decrypt => aes.decrypt_block(&mut block),
                }
                <[u8; 16]>::from(block)
            });
            assert_eq!(out, expected.concat(), "{direction:?} {settings:?}");
            let sent = |phase| counts.phases.get(phase).map_or(0, |phase| phase.bytes);
            assert_eq!(sent("preprocessing") > 0, ahead, "{direction:?} {settings:?}");
        }
    }
}

/// Outputs that depend on no input are there in each evaluation, in every place of a byte, also if there are
/// no inputs at all.
#[test]
fn constant_outputs_come_in_every_evaluation() {
    for inputs in [0, 8] {
        let mut g = Build::new();
        let x = g.input(inputs);
        let products: Vec<_> = x.iter().map(|bit| g.and(*bit, x[0])).collect();
        let constants = [1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1].map(|bit| g.constant(bit == 1));
        g.output(&products);
        g.output(&constants);
        let circuit = NamedCircuit { name: "constants".into(), program: g.finish(), file: None };
        let job = JobSpec::Circuit(CircuitJob {
            circuit: Arc::new(HeldCircuit::Program(circuit)),
            adder: Adder::FewestAnds,
            between: Between::Client,
            count: 3,
        });
        let values = [0x5b, 0x5a, 0xff];
        let mut rows = Rows::default();
        values.iter().for_each(|value| rows.push(&[&[*value][..inputs / 8]]));
        let row = |value: u8| {
            let product = if value & 1 == 1 { value } else { 0 };
            [&[product][..inputs / 8], &[0b1110_1001, 0b110]].concat()
        };
        let expected: Vec<u8> = values.iter().flat_map(|value| row(*value)).collect();
        let levels = EngineSettings::default();
        for settings in [levels.clone(), levels.with(ROUNDS, CONSTANT)] {
            let (out, _) = ran(&job, &settings, &[], &rows);
            assert_eq!(out, expected, "{inputs} inputs, {settings:?}");
        }
    }
}
