//! A key is unwrapped (KW): what the verdict on its integrity value shows, and what it rests on.

use crate::common::prelude::*;
use divisi_symmetric::aes;
use divisi_symmetric::mode::one_shot::wrap::{WrapForm, unwrap, wrap};

const OPENED: &str = "divisi_rep3::open/open.bytes";
const INNER: &str = "divisi_rep3::sbox::gf4_circuit/a_h a_l";

const KEY: [u8; 16] = *b"the key of a key";
/// The wrapped key.
const SECRET: [u8; 16] = *b"sixteen secrets!";

/// The round keys of the wrapping key, in the clear.
fn round_keys() -> aes::RoundKeys<<Plain as Bytes>::Byte> {
    aes::expand(&mut Plain, &KEY.map(|byte| Plain.public(&[byte]))).unwrap()
}

fn wrapped() -> Vec<u8> {
    let secret = SECRET.map(|byte| Plain.public(&[byte]));
    let wrapped = wrap(&mut Plain, &round_keys(), WrapForm::Kw, false, &secret).unwrap();
    wrapped.iter().map(|byte| byte.values()[0]).collect()
}

/// The integrity value that a ciphertext unwraps to (RFC 3394, 2.2.2).
fn integrity_value(ciphertext: &[u8]) -> [u8; 8] {
    let key = round_keys();
    let mut halves: Vec<[u8; 8]> = ciphertext.as_chunks().0.to_vec();
    let n = halves.len() - 1;
    for t in (1..=6 * n).rev() {
        let i = (t - 1) % n + 1;
        let a = u64::from_be_bytes(halves[0]) ^ t as u64;
        let both: [u8; 16] = [a.to_be_bytes(), halves[i]].concat().try_into().unwrap();
        let mut state = both.map(|byte| Plain.public(&[byte]));
        aes::decrypt(&mut Plain, &key, &mut state).unwrap();
        let both = state.each_ref().map(|byte| byte.values()[0]);
        halves[0] = both[..8].try_into().unwrap();
        halves[i] = both[8..].try_into().unwrap();
    }
    halves[0]
}

/// The verdict on a ciphertext.
fn is_authentic(e: &mut Rep3, key: &[Part], ciphertext: &[u8]) -> Result<bool, Abort> {
    let key = key.iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
    let key = aes::expand(e, &key)?;
    let ciphertext: Vec<Byte> = ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
    let undecided = unwrap(e, &key, WrapForm::Kw, false, &ciphertext)?;
    Ok(undecided.release_one(e)?.is_some())
}

fn dealt() -> [Vec<Part>; 3] {
    deal_all(&KEY.map(|byte| vec![byte]))
}

fn engine(trio: Trio) -> Rep3 {
    Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious)
}

/// If the integrity value is opened instead of compared, a client that chooses a ciphertext and watches one
/// server learns what the cipher under the secret key makes of it.
pub fn integrity_value_in_the_open(check: Option<Check>) -> bool {
    let mut ciphertext = wrapped();
    assert_eq!(integrity_value(&ciphertext), [0xa6; 8]);
    ciphertext[5] ^= 1;
    let key = dealt();
    let harness = TrioHarness::without(check);
    let recordings = harness.recordings();
    let results = harness.act(|trio| {
        let me = trio.me().index();
        is_authentic(&mut engine(trio), &key[me], &ciphertext)
    });
    // it is not authentic, whatever is opened
    assert!(results.iter().all(|result| *result == Ok(false)), "{results:?}");
    // each server holds two of the three components, and is sent the third
    let mut opened = [0; 8];
    for seen in &recordings {
        let body = seen.of(MessageDirection::Out, OPENED).swap_remove(0).frame.body;
        opened.iter_mut().zip(body).for_each(|(x, y)| *x ^= y);
    }
    opened == integrity_value(&ciphertext).map(|byte| byte ^ 0xa6)
}

/// Party 3 lies in an S-box of the way back, so that an authentic key is refused: no verdict may rest on it.
pub fn lie_in_an_unwrapping(check: Option<Check>) -> bool {
    let (key, ciphertext) = (dealt(), wrapped());
    let harness = TrioHarness::without(check).patient();
    // the schedule has ten layers; this is of the third call of the cipher
    harness.change(party(3), party(2), INNER, 10 + 25, |share| share[0] ^= 1);
    let results = harness.act(|trio| {
        let me = trio.me();
        is_authentic(&mut engine(trio), &key[me.index()], &ciphertext)
    });
    results[..2].contains(&Ok(false))
}

/// Without a lie, an authentic key is accepted.
#[test]
fn an_honest_unwrapping_is_authentic() {
    let (key, ciphertext) = (dealt(), wrapped());
    let results = TrioHarness::default().act(|trio| {
        let me = trio.me().index();
        is_authentic(&mut engine(trio), &key[me], &ciphertext)
    });
    assert_eq!(results, [Ok(true), Ok(true), Ok(true)]);
}
