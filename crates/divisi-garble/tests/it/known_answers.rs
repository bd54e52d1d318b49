//! Published vectors: AES-128 (FIPS 197, C.1; SP 800-38A), SHA-256 (FIPS 180-4 examples), HMAC-SHA-256 (RFC
//! 4231, case 2), in both forms and modes; AES with two, three and five parties, the longer ones by default
//! with fewer.

use divisi_circuit::{Build, BuildBit, Program};
use divisi_fuzz::repetitions;
use divisi_garble::lab::{GarbleLab, in_turn};
use divisi_garble::{GarblingForm, Plan};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{Adder, public_bytes};
use divisi_symmetric::sha2::Sha2;

/// The lowest bit of each byte first.
fn bits<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> Vec<u8> {
    bytes.into_iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect()
}

/// A value as a circuit takes it: the last byte's lowest bit first.
fn value(hex: &str) -> Vec<u8> {
    bits(hex::decode(hex).unwrap().iter().rev())
}

/// How many parties there are.
const ALL: [usize; 3] = [2, 3, 5];

/// Bits that go in, and those that must come out.
type Case = (Vec<u8>, Vec<u8>);

fn everywhere(program: &Program, parties: &[usize], batch: usize, cases: &[Case]) {
    let (given, right): (Vec<_>, Vec<_>) = cases.iter().cloned().unzip();
    for form in [GarblingForm::Improved, GarblingForm::Paper] {
        for streamed in [false, true] {
            let mut lab = GarbleLab::of(form, streamed);
            lab.options.batch = batch;
            for parties in parties {
                let owners = in_turn(program.inputs().len(), *parties);
                let plan = Plan::for_all(program, *parties, &owners).unwrap();
                for (outputs, _) in lab.run(&plan, &given).unwrap() {
                    assert_eq!(outputs, right, "{parties} parties, {lab:?}");
                }
            }
        }
    }
}

#[test]
fn aes_128() {
    let program = circuits::named("aes128", Adder::FewestAnds).unwrap().unwrap();
    let cases = [
        "000102030405060708090a0b0c0d0e0f 00112233445566778899aabbccddeeff 69c4e0d86a7b0430d8cdb78070b4c55a",
        "2b7e151628aed2a6abf7158809cf4f3c 6bc1bee22e409f96e93d7e117393172a 3ad77bb40d7a3660a89ecaf32466ef97",
    ];
    let cases = cases.map(|case| {
        let [key, block, out] = case.split(' ').map(value).collect::<Vec<_>>().try_into().unwrap();
        ([key, block].concat(), out)
    });
    everywhere(&program, &ALL, 2000, &cases);
}

#[test]
fn sha_256() {
    let program = circuits::named("sha256", Adder::FewestAnds).unwrap().unwrap();
    let abc = format!("61626380{}{:016x}", "0".repeat(104), 24);
    let state = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let case = ([&abc, state].map(value).concat(), value(hash));
    everywhere(&program, repetitions(&ALL[..2], &ALL), 2000, &[case]);
}

/// HMAC-SHA-256 of a message of 28 bytes: the key, filled up to a block, of the first party, the message of
/// the second one.
fn hmac() -> Program {
    let mut g = Build::new();
    let bytes = |wires: Vec<BuildBit>| wires.as_chunks::<8>().0.to_vec();
    let (key, message) = (bytes(g.input(512)), bytes(g.input(8 * 28)));
    let mut hash = |pad: u8, message: &[[BuildBit; 8]]| {
        let pad = public_bytes(&mut g, &[pad; 64]);
        let block: Vec<[BuildBit; 8]> = key
            .iter()
            .zip(&pad)
            .map(|(k, p)| std::array::from_fn(|i| divisi_circuit::Gates::xor(&mut g, k[i], p[i])))
            .collect();
        let initial = public_bytes(&mut g, &Sha2::Sha256.initial());
        let state = Sha2::Sha256.compress(&mut g, Adder::FewestAnds, &initial, &block);
        let padding = Sha2::Sha256.padding(64 + message.len() as u64);
        let last = [message, &public_bytes(&mut g, &padding)].concat();
        Sha2::Sha256.compress(&mut g, Adder::FewestAnds, &state, &last)
    };
    let inner = hash(0x36, &message);
    let outer = hash(0x5c, &inner);
    g.output(outer.as_flattened());
    g.finish()
}

#[test]
fn hmac_sha_256() {
    let mut key = b"Jefe".to_vec();
    key.resize(64, 0);
    let want = hex::decode("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843").unwrap();
    let case = ([bits(&key), bits(b"what do ya want for nothing?")].concat(), bits(&want));
    everywhere(&hmac(), repetitions(&ALL[..1], &ALL), 1 << 13, &[case]);
}
