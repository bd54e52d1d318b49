//! Known answers of triple DES.

use super::vectors::{VectorCase, triple_des_vectors};
use crate::des::{self, TripleKey, bits_of, bytes_of};
use divisi_core::Direction;
use divisi_core::testing::BitLab;

/// The example of SP 800-67 and all of NIST's, in both directions, with blocks under different keys in one
/// batch.
pub fn triple_des(lab: &impl BitLab) {
    let records = triple_des_vectors();
    assert_eq!(records.len(), 17);
    answers(lab, &records);
}

/// Only the first `blocks` of these examples, for slow engines.
pub fn triple_des_samples(lab: &impl BitLab, blocks: usize) {
    answers(lab, &triple_des_vectors()[..blocks]);
}

fn answers(lab: &impl BitLab, records: &[VectorCase]) {
    let (mut keys, mut plain, mut cipher) = (Vec::new(), Vec::new(), Vec::new());
    for record in records {
        let (plaintext, ciphertext) = (record.bytes("Plaintext"), record.bytes("Ciphertext"));
        for (p, c) in plaintext.chunks(8).zip(ciphertext.chunks(8)) {
            keys.push(record.bytes("Key"));
            plain.push(p.to_vec());
            cipher.push(c.to_vec());
        }
    }
    assert_eq!(batch(lab, Direction::Encrypt, &keys, &plain), cipher, "encryption");
    assert_eq!(batch(lab, Direction::Decrypt, &keys, &cipher), plain, "decryption");
    // one key for all lanes
    let one = &keys[..1];
    assert_eq!(batch(lab, Direction::Encrypt, one, &plain[..3]), cipher[..3], "one key");
    // two keys are three of which the last equals the first
    let two = vec![keys[0][..16].to_vec()];
    let three = vec![[&keys[0][..16], &keys[0][..8]].concat()];
    let found = batch(lab, Direction::Encrypt, &two, &plain[..1]);
    assert_eq!(found, batch(lab, Direction::Encrypt, &three, &plain[..1]), "two keys");
    assert_ne!(found[0], cipher[0]);
}

/// Each block in a lane.
fn batch(lab: &impl BitLab, direction: Direction, keys: &[Vec<u8>], blocks: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let inputs: Vec<Vec<bool>> = columns(keys).into_iter().chain(columns(blocks)).collect();
    let of_key = 8 * keys[0].len();
    let opened = lab.bits(&inputs, |e, bits| {
        let (key, block) = bits.split_at(of_key);
        let key = TripleKey::new(key)?;
        let mut block: [_; 64] = block.to_vec().try_into().unwrap_or_else(|_| panic!("64 bits"));
        des::triple(e, direction, &key, &mut block)?;
        Ok(block.into())
    });
    let opened = opened.unwrap();
    (0..blocks.len()).map(|lane| bytes_of(&opened.iter().map(|bit| bit[lane]).collect::<Vec<_>>())).collect()
}

/// The bits of strings, with a lane for each string.
fn columns(strings: &[Vec<u8>]) -> Vec<Vec<bool>> {
    let bits: Vec<Vec<bool>> = strings.iter().map(|bytes| bits_of(bytes)).collect();
    (0..bits[0].len()).map(|i| bits.iter().map(|bits| bits[i]).collect()).collect()
}
