//! The circuits with a name: what they cost, what they compute, and that a file keeps all of it.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use divisi_circuit::{Program, bristol, plain};
use divisi_core::Direction;
use divisi_core::testing::PlainLab;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::circuits::{LONGEST_MESSAGE, NAMES, aes, compression, function, keccak, named};
use divisi_symmetric::gates::{Adder, SBOX_ANDS};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use divisi_symmetric::suite::functions::{Case, outputs};
use divisi_symmetric::suite::triple_des_vectors;

fn costs(program: &Program) -> (usize, usize) {
    (program.and_count(), program.and_depth())
}

fn named_program(name: &str, adder: Adder) -> Program {
    named(name, adder).unwrap().unwrap()
}

/// The wires of a value: the lowest bit of its last byte first.
fn value(bytes: &[u8]) -> Vec<Vec<u64>> {
    bytes.iter().rev().flat_map(|byte| (0..8).map(move |i| vec![u64::from(byte >> i & 1)])).collect()
}

/// The bytes of all outputs in lane 0.
fn run(program: &Program, inputs: &[&[u8]]) -> Vec<u8> {
    let wires: Vec<_> = inputs.iter().flat_map(|input| value(input)).collect();
    let outputs = plain::run(program, &wires).unwrap();
    let byte = |wires: &[Vec<u64>]| wires.iter().rev().fold(0, |byte, wire| byte << 1 | (wire[0] & 1) as u8);
    outputs.chunks(8).rev().map(byte).collect()
}

/// An S-box has 32 ANDs in 6 levels. There are 16 S-boxes in a round, and 4 in a SubWord of the key schedule,
/// which keeps pace with the rounds (encryption) or comes before them (decryption).
#[test]
fn aes_costs() {
    for (size, ands, encrypt, decrypt) in [
        (KeySize::Aes128, 6_400, 60, 120),
        (KeySize::Aes192, 7_168, 72, 120),
        (KeySize::Aes256, 8_832, 84, 162),
    ] {
        assert_eq!(ands, SBOX_ANDS * (16 * size.rounds() + 4 * size.sub_words()));
        assert_eq!(costs(&aes(size, Direction::Encrypt).unwrap()), (ands, encrypt));
        assert_eq!(costs(&aes(size, Direction::Decrypt).unwrap()), (ands, decrypt));
    }
}

#[test]
fn sha2_with_fewest_ands() {
    for (hash, ands, depth) in [(Sha2::Sha256, 22_573, 1_607), (Sha2::Sha512, 57_947, 3_303)] {
        let program = compression(Hash::Sha2(hash), Adder::FewestAnds);
        assert_eq!(costs(&program), (ands, depth));
        assert_eq!(program.dot_count(), ands);
    }
}

#[test]
fn sha2_with_low_depth() {
    for (hash, depth) in [(Sha2::Sha256, 457), (Sha2::Sha512, 650)] {
        assert_eq!(compression(Hash::Sha2(hash), Adder::LowDepth).and_depth(), depth);
    }
}

#[test]
fn keccak_f_costs() {
    assert_eq!(costs(&keccak()), (38_400, 24));
}

/// A step of a hash costs what the circuit with its name costs.
#[test]
fn steps_cost_what_circuits_cost() {
    for hash in Hash::ALL {
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            let step = hash.step_program(adder);
            let circuit = match hash {
                Hash::Sha1 | Hash::Sha2(_) => compression(hash, adder),
                Hash::Sha3(_) => keccak(),
                other => panic!("{other:?}"),
            };
            assert_eq!(costs(&step), costs(&circuit));
            assert_eq!(step.inputs(), [8 * hash.state_bytes(), 8 * hash.block_bytes()]);
        }
    }
}

#[test]
fn aes_is_aes_in_both_directions() {
    let key: Vec<u8> = (0..32).collect();
    let block: Vec<u8> = (0..16).map(|i| 0x11 * i).collect();
    for size in KeySize::ALL {
        let key = &key[..size.bytes()];
        let [mut encrypted, mut decrypted] = [(); 2].map(|()| aes::Block::try_from(&block[..]).unwrap());
        macro_rules! theirs {
            ($cipher:ty) => {{
                let cipher = <$cipher>::new_from_slice(key).unwrap();
                cipher.encrypt_block(&mut encrypted);
                cipher.decrypt_block(&mut decrypted);
            }};
        }
        match size {
            KeySize::Aes128 => theirs!(aes::Aes128),
            KeySize::Aes192 => theirs!(aes::Aes192),
            KeySize::Aes256 => theirs!(aes::Aes256),
        }
        let circuit = |direction| run(&aes(size, direction).unwrap(), &[key, &block]);
        assert_eq!(circuit(Direction::Encrypt), encrypted[..]);
        assert_eq!(circuit(Direction::Decrypt), decrypted[..]);
        let program = named_program(&format!("aes{}", size.bits()), Adder::FewestAnds);
        assert_eq!(program.inputs(), [size.bits(), 128]);
    }
}

/// The padded "abc" is one block of each hash. The circuits of SHA-1 and SHA-2 take the block and the initial
/// state; Keccak-f takes the sum of both, which is the block followed by zeros.
#[test]
fn compressions_take_the_block_first() {
    for (name, digest) in [
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        ("sha3-256", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        ("sha1-for-old-data", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ] {
        let hash = Hash::from_name(name).unwrap();
        let mut block = b"abc".to_vec();
        block.extend(hash.padding(3));
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            let got = match hash {
                Hash::Sha1 | Hash::Sha2(_) => run(&named_program(name, adder), &[&block, &hash.initial()]),
                Hash::Sha3(_) => {
                    let mut state = block.clone();
                    state.resize(hash.state_bytes(), 0);
                    run(&named_program("keccak-f", adder), &[&state])
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(hex::encode(&got[..hash.digest_bytes()]), digest);
        }
    }
}

#[test]
fn files_keep_everything() {
    for name in NAMES {
        for adder in [Adder::FewestAnds, Adder::LowDepth] {
            let program = named_program(name, adder);
            let mut file = Vec::new();
            let counts = bristol::write(&program, &mut file).unwrap();
            let read = bristol::read(&file).unwrap();
            assert_eq!((read.counts, counts.and, counts.eqw), (counts, program.and_count(), 0), "{name}");
            assert_eq!(costs(&read.program), costs(&program));
            let bytes = |width: &usize| (0..width / 8).map(|i| (7 * i) as u8).collect::<Vec<u8>>();
            let inputs: Vec<Vec<u8>> = program.inputs().iter().map(bytes).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            assert_eq!(run(&read.program, &inputs), run(&program, &inputs), "{name}");
        }
    }
    assert!(named("sha1", Adder::FewestAnds).unwrap().is_none());
}

/// The circuit has at most 36 ANDs for an S-box, and three levels for each of the 46 layers; it gives the
/// known answers.
#[test]
fn triple_des_costs() {
    let program = named_program("des3", Adder::FewestAnds);
    assert_eq!(costs(&program), (13_248, 138));
    for record in triple_des_vectors() {
        let (key, plain) = (record.bytes("Key"), record.bytes("Plaintext"));
        assert_eq!(run(&program, &[&key, &plain[..8]]), record.bytes("Ciphertext")[..8]);
    }
}

/// Every hash and MAC as a circuit gives what it gives on an engine.
#[test]
fn functions_are_those_of_the_engines() {
    let short = ["sha256", "hmac-sha256", "kmac128", "cmac-aes128", "gmac-aes128"];
    for algorithm in Algorithm::hashes().chain(Algorithm::macs()) {
        let output_bytes = if algorithm.has_any_length() { 200 } else { algorithm.output_bytes() };
        let customization =
            if matches!(algorithm, Algorithm::Kmac(_)) { b"here".to_vec() } else { Vec::new() };
        let settings = Settings { output_bytes, customization, ..Settings::new(algorithm) };
        let lengths: &[usize] = if short.contains(&algorithm.name().as_str()) { &[0, 17, 64] } else { &[17] };
        for &message_bytes in lengths {
            let bytes =
                |seed: u8, n: usize| (0..n).map(|i| seed.wrapping_mul(i as u8 ^ 0x5d)).collect::<Vec<u8>>();
            let (key, nonce) = (bytes(7, algorithm.key_bytes()), bytes(11, algorithm.nonce_bytes()));
            let message = bytes(13, message_bytes);
            let circuit = function(&settings, key.len(), message_bytes).unwrap();
            let inputs = [&key, &nonce, &message].map(Vec::as_slice).into_iter();
            let inputs: Vec<&[u8]> = inputs.filter(|value| !value.is_empty()).collect();
            assert_eq!(circuit.inputs(), inputs.iter().map(|value| 8 * value.len()).collect::<Vec<_>>());
            let mut padded = [0; 12];
            padded[..nonce.len()].copy_from_slice(&nonce);
            let case = Case { key: key.clone(), nonce: padded, message: message.clone() };
            let expected = &outputs(&PlainLab, &settings, &[case])[0];
            assert_eq!(run(&circuit, &inputs), *expected, "{algorithm}, {message_bytes}");
        }
    }
}

/// What a function costs follows from its parts.
#[test]
fn functions_cost_what_their_steps_cost() {
    let ands = |name: &str, message_bytes: usize| {
        let settings = Settings::new(name.parse().unwrap());
        function(&settings, settings.algorithm.key_bytes(), message_bytes).unwrap().and_count()
    };
    // constants in the state or the padding save some of a step's ANDs
    assert!(ands("sha3-256", 135) <= 38_400);
    assert!(ands("sha256", 55) <= 22_573 && ands("sha256", 64) <= 2 * 22_573);
    assert!(ands("hmac-sha256", 32) <= 4 * 22_573);
    assert!(ands("kmac128", 32) <= 3 * 38_400);
    // in the encryption of the block of zeros the first S-boxes are those of the key's bytes; the key
    // schedule has four of them as well, and these are computed once
    assert_eq!(ands("cmac-aes128", 32), 6_400 + 2 * 5_120 - 4 * SBOX_ANDS);
    // two blocks of the cipher and a key schedule; two products, of the message and of the lengths
    assert!(ands("gmac-aes128", 16) <= 6_400 + 5_120 + 2 * 2_187);
    let settings = Settings::new("sha256".parse().unwrap());
    assert!(function(&settings, 0, LONGEST_MESSAGE + 1).is_err());
    for name in ["cmac-aes128", "gmac-aes128"] {
        let settings = Settings::new(name.parse().unwrap());
        assert!(function(&settings, 17, 1).is_err() && function(&settings, 32, 1).is_err());
        assert!(function(&Settings { output_bytes: 0, ..settings.clone() }, 16, 1).is_err());
    }
    let hmac = Settings::new("hmac-sha256".parse().unwrap());
    assert!(function(&hmac, 1 << 40, 1).is_err());
}
