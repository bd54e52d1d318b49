//! Compares the files of known answers with other people's implementations, so that a typing error in a file
//! is found.

use aes::cipher::{BlockCipherEncrypt, KeyInit, consts};
use aes_gcm::AesGcm;
use aes_gcm::aead::{Aead, Payload};
use divisi_symmetric::suite::{
    VectorCase, aes_fips197_vectors, aes_sp800_38a_vectors, gcm_specification_vectors,
};

fn encrypt(key: &[u8], block: [u8; 16]) -> [u8; 16] {
    let mut block = block.into();
    match key.len() {
        16 => aes::Aes128::new_from_slice(key).unwrap().encrypt_block(&mut block),
        24 => aes::Aes192::new_from_slice(key).unwrap().encrypt_block(&mut block),
        32 => aes::Aes256::new_from_slice(key).unwrap().encrypt_block(&mut block),
        length => panic!("a key of {length} bytes"),
    }
    block.into()
}

/// AES from a key expansion alone, by the single rounds that the crate `aes` offers.
fn encrypt_expanded(expansion: &[u8], mut block: [u8; 16]) -> [u8; 16] {
    let (keys, rest) = expansion.as_chunks::<16>();
    assert!(rest.is_empty());
    let xor = |block: &mut [u8; 16], key: &[u8; 16]| block.iter_mut().zip(key).for_each(|(x, k)| *x ^= k);
    xor(&mut block, &keys[0]);
    for key in &keys[1..] {
        let mut state = block.into();
        aes::hazmat::cipher_round(&mut state, &[0; 16].into());
        if key == &keys[keys.len() - 1] {
            aes::hazmat::inv_mix_columns(&mut state);
        }
        block = state.into();
        xor(&mut block, key);
    }
    block
}

fn blocks(record: &VectorCase, name: &str) -> Vec<[u8; 16]> {
    let bytes = record.bytes(name);
    let (blocks, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    blocks.to_vec()
}

#[test]
fn fips_197() {
    let mut sizes = Vec::new();
    for record in aes_fips197_vectors() {
        let key = record.bytes("Key");
        sizes.push(key.len());
        if record.has("Expansion") {
            let expansion = record.bytes("Expansion");
            assert_eq!(expansion.len(), 16 * (key.len() / 4 + 7));
            assert_eq!(expansion[..key.len()], key);
            let block = *b"any sixteen byte";
            assert_eq!(encrypt_expanded(&expansion, block), encrypt(&key, block), "{}", record.text("Name"));
        } else {
            let (from, to) = (blocks(&record, "Plaintext"), blocks(&record, "Ciphertext"));
            assert_eq!([encrypt(&key, from[0])], to[..], "{}", record.text("Name"));
        }
    }
    assert_eq!(sizes, [16, 24, 32, 16, 16, 24, 32]);
}

#[test]
fn sp_800_38a() {
    let mut sizes = Vec::new();
    for record in aes_sp800_38a_vectors() {
        let key = record.bytes("Key");
        sizes.push(key.len());
        let mut expected = blocks(&record, "Plaintext");
        if record.has("Counter") {
            let counter = u128::from_be_bytes(blocks(&record, "Counter")[0]);
            for (i, block) in expected.iter_mut().enumerate() {
                let stream = encrypt(&key, counter.wrapping_add(i as u128).to_be_bytes());
                block.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream);
            }
        } else {
            expected.iter_mut().for_each(|block| *block = encrypt(&key, *block));
        }
        assert_eq!((expected.len(), expected), (4, blocks(&record, "Ciphertext")), "{}", record.text("Name"));
    }
    assert_eq!(sizes, [16, 24, 32, 16, 24, 32]);
}

#[test]
fn gcm() {
    macro_rules! seal {
        ($cipher:ident, $length:ident, $record:ident) => {{
            let [msg, aad, iv, key] = ["Plaintext", "AAD", "IV", "Key"].map(|name| $record.bytes(name));
            let cipher = AesGcm::<aes::$cipher, consts::$length>::new_from_slice(&key).unwrap();
            cipher.encrypt(iv.as_slice().try_into().unwrap(), Payload { msg: &msg, aad: &aad }).unwrap()
        }};
    }
    let records = gcm_specification_vectors();
    for record in &records {
        let sealed = match (record.bytes("Key").len(), record.bytes("IV").len()) {
            (16, 8) => seal!(Aes128, U8, record),
            (16, 12) => seal!(Aes128, U12, record),
            (16, 60) => seal!(Aes128, U60, record),
            (24, 8) => seal!(Aes192, U8, record),
            (24, 12) => seal!(Aes192, U12, record),
            (24, 60) => seal!(Aes192, U60, record),
            (32, 8) => seal!(Aes256, U8, record),
            (32, 12) => seal!(Aes256, U12, record),
            (32, 60) => seal!(Aes256, U60, record),
            other => panic!("{}: lengths of key and IV are {other:?}", record.text("Name")),
        };
        let expected = [record.bytes("Ciphertext"), record.bytes("Tag")].concat();
        assert_eq!(sealed, expected, "{}", record.text("Name"));
    }
    let names: Vec<String> = records.iter().map(|record| record.text("Name").to_owned()).collect();
    assert_eq!(names, (1..=18).map(|case| format!("Test Case {case}")).collect::<Vec<_>>());
}
