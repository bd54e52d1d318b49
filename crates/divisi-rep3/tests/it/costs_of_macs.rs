//! What hashes and MACs leave to verify: the products over GF(2) of the circuit that is emitted, each \[S6\],
//! and for GMAC one product over GF(2^128) a block \[S5\].

use crate::common::prelude::*;
use divisi_circuit::bristol;
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, bits, byte_values};
use divisi_symmetric::circuits::named;
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;

/// A coin of 128 bits, as its holder sends it.
const COIN: u64 = 128;

fn lab() -> Rep3Lab {
    Rep3Lab { protocol: Protocol::Gf4Circuit, security: Security::Malicious }
}

/// The ANDs of a circuit, counted in the file that `circuit emit` writes.
fn emitted(name: &str) -> u64 {
    let program = named(name, Adder::FewestAnds).unwrap().unwrap();
    let mut file = Vec::new();
    bristol::write(&program, &mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    text.lines().filter(|line| line.trim_end().ends_with(" AND")).count() as u64
}

/// The circuit of one step, and how many steps there are for a key of this many bytes and a message of this
/// many.
fn steps(algorithm: Algorithm, key: usize, message: usize) -> (&'static str, u64) {
    let circuit = |hash: Hash| match hash {
        Hash::Sha1 => "sha1-for-old-data",
        Hash::Sha2(_) if hash.block_bytes() == 64 => "sha256",
        Hash::Sha2(_) => "sha512",
        Hash::Sha3(_) => "keccak-f",
        _ => panic!("a hash without a circuit"),
    };
    let of_hash = |hash: Hash, bytes: usize| {
        let padding = hash.padding(bytes as u64).len();
        ((bytes + padding) / hash.block_bytes()) as u64
    };
    match algorithm {
        Algorithm::Hash(hash) => (circuit(hash), of_hash(hash, message)),
        // two states of the key, what follows them, the outer digest
        Algorithm::Hmac(hash) => {
            let block = hash.block_bytes();
            let inner = of_hash(hash, block + message) - 1;
            let outer = of_hash(hash, block + hash.digest_bytes()) - 1;
            assert!(key <= block);
            (circuit(hash), 2 + inner + outer)
        }
        // bytepad(encode_string(key)) is a block; the function's name is public
        Algorithm::Kmac(_) => ("keccak-f", 1 + 1),
        Algorithm::Shake(_) | Algorithm::Cshake(_) => ("keccak-f", 1),
        Algorithm::Cmac(_) | Algorithm::Gmac(_) | Algorithm::Otp(_) => ("keccak-f", 0),
        other => panic!("{other}"),
    }
}

/// A message of this many bytes under a key that is prepared and settled before: what was counted.
fn run(settings: &Settings, message: usize) -> Counts {
    let key = settings.algorithm.key_bytes();
    let inputs: Vec<Vec<u8>> = (0..key + message).map(|i| vec![i as u8]).collect();
    let (_, counts) = lab()
        .metered(&inputs, |e: &mut Rep3, mut secret| {
            let text = secret.split_off(key);
            e.trio().session().phase("setup");
            let mut function = Function::prepare(e, settings, &secret)?;
            if key > 0 {
                let pending = e.close(function);
                function = settle(e, pending)?.into_inner();
            }
            e.trio().session().phase("online");
            let messages = Messages::even(bits(e, text)?, 1)?;
            let output = function.output(e, &messages, &[[1; 12]])?;
            Ok(Outputs::bytes(byte_values(e, output)?))
        })
        .unwrap();
    counts
}

/// Every product of every hash and MAC is checked: as many as the ANDs of the circuit in the file, for each
/// step.
#[test]
fn the_products_that_are_checked_are_the_ands_of_the_emitted_circuit() {
    // writing a circuit takes longer than running it
    let circuits = ["sha256", "sha512", "keccak-f", "sha1-for-old-data"].map(|name| (name, emitted(name)));
    let of = |circuit: &str| circuits.iter().find(|(name, _)| *name == circuit).unwrap().1;
    assert_eq!(["sha256", "sha512", "keccak-f"].map(of), [22_573, 57_947, 38_400]);
    // one-time passwords have more products than their tag, because they are made from it
    let is_password = |algorithm: &Algorithm| matches!(algorithm, Algorithm::Otp(_));
    let all = Algorithm::hashes().chain(Algorithm::macs());
    for algorithm in all.filter(|algorithm| !is_password(algorithm)) {
        for message in repetitions(vec![40], vec![3, 40]) {
            let settings = Settings { adder: Adder::FewestAnds, ..Settings::new(algorithm) };
            let counts = run(&settings, message);
            let (circuit, steps) = steps(algorithm, algorithm.key_bytes(), message);
            let ands = steps * of(circuit);
            assert_eq!(times(&counts, checks::S6), ands, "{algorithm}, {message} bytes"); // [S6]
        }
    }
}

/// GMAC takes a product over GF(2^128) for each block of the message and for the block of lengths, all in one
/// sum and one round. They are checked as one inner product over GF(2^128), which costs less than two
/// products over GF(2^64) for each of them.
#[test]
fn gmac_checks_one_product_a_block() {
    let settings = Settings::new("gmac-aes128".parse().unwrap());
    // the mask of the tag is a block of AES, whatever the message
    let base = run(&settings, 0);
    for blocks in [1_u64, 2, 3, 7, 31, 63] {
        let counts = run(&settings, 16 * blocks as usize - 5);
        let [online, before] = [&counts, &base].map(|counts| counts.phases["online"]);
        // one Reshare of a block a message, as for none: the sum of products is local
        assert_eq!(online.bits, before.bits, "{blocks}");
        let products = blocks + 1;
        let levels = |n: u64| u64::from(n.next_power_of_two().trailing_zeros());
        let [bits, of_one] = [&counts, &base].map(|counts| counts.phases["verification"].bits);
        // a level more for each doubling: two elements of 128 bits and a coin, and no more than two inner
        // products over GF(2^64) would have
        assert_eq!(bits - of_one, (levels(products) - levels(1)) * (2 * 128 + COIN), "{blocks}"); // [S5]
    }
}
