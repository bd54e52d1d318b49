//! Known answers of AES: key schedule, both directions, ECB and CTR.

use super::samples::Samples;
use super::vectors::{aes_fips197_vectors, aes_sp800_38a_vectors};
use crate::aes::{self, KeySize};
use crate::mode::{block, columns};
use divisi_core::testing::ByteLab;
use divisi_core::{Bytes, Direction, Lanes};

/// Whole blocks under one key.
struct Case {
    key: Vec<u8>,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// FIPS 197: the key expansions of appendix A, and appendices B and C in both directions.
pub fn aes_fips197(lab: &impl ByteLab) {
    let vectors = aes_fips197_vectors();
    let (expansions, blocks): (Vec<_>, Vec<_>) = vectors.iter().partition(|record| record.has("Expansion"));
    assert_eq!((expansions.len(), blocks.len()), (3, 4));

    for record in expansions {
        let key = record.bytes("Key");
        let inputs: Vec<Vec<u8>> = key.iter().map(|&byte| vec![byte]).collect();
        let opened = lab.bytes(&inputs, |e, key| {
            let round_keys = aes::expand(e, &key)?;
            Ok(round_keys.keys().iter().flatten().cloned().collect())
        });
        let expansion: Vec<u8> = opened.unwrap().concat();
        assert_eq!(expansion, record.bytes("Expansion"), "{}", record.text("Name"));
    }

    let case = |record: &&super::VectorCase| Case {
        key: record.bytes("Key"),
        input: record.bytes("Plaintext"),
        output: record.bytes("Ciphertext"),
    };
    both_directions(lab, blocks.iter().map(case).collect());
}

/// SP 800-38A: F.1.1 to F.1.6 (ECB) and F.5.1 to F.5.6 (CTR), encryption and decryption.
pub fn aes_sp800_38a(lab: &impl ByteLab) {
    let vectors = aes_sp800_38a_vectors();
    let (counter, ecb): (Vec<_>, Vec<_>) = vectors.iter().partition(|record| record.has("Counter"));
    assert_eq!((counter.len(), ecb.len()), (3, 3));

    let case = |record: &&super::VectorCase| Case {
        key: record.bytes("Key"),
        input: record.bytes("Plaintext"),
        output: record.bytes("Ciphertext"),
    };
    both_directions(lab, ecb.iter().map(case).collect());

    for record in counter {
        let (plaintext, ciphertext) = (record.bytes("Plaintext"), record.bytes("Ciphertext"));
        let initial = record.bytes("Counter");
        let key = record.bytes("Key");
        let inputs: Vec<Vec<u8>> =
            key.iter().map(|&byte| vec![byte]).chain(columns::from_stream(&plaintext)).collect();
        let opened = lab.bytes(&inputs, |e, inputs| {
            let (key, secret) = inputs.split_at(key.len());
            let round_keys = aes::expand(e, key)?;
            let counters = block::counters(&initial, plaintext.len() / 16);
            let keystream = block::keystream(e, &round_keys, &counters)?;
            // encryption adds a secret plaintext, decryption a public ciphertext
            let (mut encrypted, mut decrypted) = (keystream.clone(), keystream);
            for (byte, secret) in encrypted.iter_mut().zip(secret) {
                e.add(byte, secret)?;
            }
            for (byte, public) in decrypted.iter_mut().zip(columns::from_stream(&ciphertext)) {
                e.add_public(byte, &public)?;
            }
            Ok(encrypted.into_iter().chain(decrypted).collect())
        });
        let opened = opened.unwrap();
        let stream = |from: usize| {
            let columns: [&Vec<u8>; 16] = std::array::from_fn(|i| &opened[from + i]);
            columns::to_stream(&columns, plaintext.len()).unwrap()
        };
        assert_eq!((stream(0), stream(16)), (ciphertext, plaintext.clone()), "{}", record.text("Name"));
    }
}

/// Random blocks under random keys of every size, in both directions, compared with the crate `aes`: `lanes`
/// blocks under one key for all lanes, and as many under three keys, each lane with one of them.
pub fn aes_random(lab: &impl ByteLab, seed: u64, lanes: usize) {
    let samples = &mut Samples::new(seed);
    for size in KeySize::ALL {
        for keys in [1, 3] {
            let cases = (0..keys).map(|k| {
                let key = samples.bytes(size.bytes());
                let input = samples.bytes(16 * ((lanes + k) / keys));
                let output = input.as_chunks().0.iter().flat_map(|block| reference(&key, *block)).collect();
                Case { key, input, output }
            });
            both_directions(lab, cases.collect());
        }
    }
}

/// Encrypts one block with the crate `aes`.
fn reference(key: &[u8], block: [u8; 16]) -> [u8; 16] {
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
    let mut block = block.into();
    match key.len() {
        16 => ::aes::Aes128::new_from_slice(key).unwrap().encrypt_block(&mut block),
        24 => ::aes::Aes192::new_from_slice(key).unwrap().encrypt_block(&mut block),
        _ => ::aes::Aes256::new_from_slice(key).unwrap().encrypt_block(&mut block),
    }
    block.into()
}

/// All cases of one key size in one batch, in both directions.
fn both_directions(lab: &impl ByteLab, cases: Vec<Case>) {
    assert!(!cases.is_empty());
    for size in KeySize::ALL {
        let cases: Vec<&Case> = cases.iter().filter(|case| case.key.len() == size.bytes()).collect();
        if cases.is_empty() {
            continue;
        }
        let inputs: Vec<u8> = cases.iter().flat_map(|case| &case.input).copied().collect();
        let outputs: Vec<u8> = cases.iter().flat_map(|case| &case.output).copied().collect();
        assert_eq!(batch(lab, Direction::Encrypt, &cases, &inputs), outputs, "{size:?}, encryption");
        assert_eq!(batch(lab, Direction::Decrypt, &cases, &outputs), inputs, "{size:?}, decryption");
    }
}

/// All blocks in one batch, each under the key of its case.
fn batch(lab: &impl ByteLab, direction: Direction, cases: &[&Case], blocks: &[u8]) -> Vec<u8> {
    let bytes = cases[0].key.len();
    let keys = (0..bytes).map(|i| cases.iter().map(|case| case.key[i]).collect());
    let inputs: Vec<Vec<u8>> = keys.chain(columns::from_stream(blocks)).collect();
    let index: Vec<usize> =
        cases.iter().enumerate().flat_map(|(k, case)| vec![k; case.input.len() / 16]).collect();
    let opened = lab.bytes(&inputs, |e, inputs| {
        let (key, state) = inputs.split_at(bytes);
        let mut round_keys = aes::expand(e, key)?;
        if round_keys.lanes() > 1 {
            round_keys = round_keys.gather(&index).unwrap();
        }
        let mut state: [_; 16] = std::array::from_fn(|i| state[i].clone());
        match direction {
            Direction::Encrypt => aes::encrypt(e, &round_keys, &mut state)?,
            Direction::Decrypt => aes::decrypt(e, &round_keys, &mut state)?,
        }
        Ok(state.into())
    });
    let columns: [Vec<u8>; 16] = opened.unwrap().try_into().unwrap();
    columns::to_stream(&columns, blocks.len()).unwrap()
}
