//! Known answers of AES-GCM in a lab: of a text under a prepared key, and of many texts in one call.

use super::vectors::{VectorCase, gcm_specification_vectors};
use crate::aes::KeySize;
use crate::mode::gcm::{
    self, GcmBatch, GcmEngine, GcmItem, GcmPayload, MessagesKey, Outcome, TagLength, interleaved,
};
use crate::mode::ghash::Steps;
use divisi_core::testing::{Lab, Outputs};
use divisi_core::{Abort, Bytes, Misuse, Opens};
use std::fmt::Debug;
use std::sync::Mutex;

/// A message (plaintext or ciphertext), without its tag.
#[derive(Clone, Debug)]
pub struct GcmMessage {
    /// The key, of one of the three sizes.
    pub key: Vec<u8>,
    /// The IV; in a batch it has 96 bits.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The plaintext, or the ciphertext.
    pub text: Vec<u8>,
}

/// A ciphertext and its full tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The ciphertext.
    pub text: Vec<u8>,
    /// Its tag.
    pub tag: [u8; 16],
}

/// All test cases of the GCM specification, encrypted and decrypted: each by itself, and those with an IV of
/// 96 bits in batches, among copies whose tags are wrong. Returns the number of all test cases, and of those
/// in batches.
pub fn gcm_specification<L: Lab<Engine: GcmEngine>>(lab: &L) -> (usize, usize) {
    let vectors = gcm_specification_vectors();
    let message = |record: &VectorCase, text: &str| GcmMessage {
        key: record.bytes("Key"),
        iv: record.bytes("IV"),
        aad: record.bytes("AAD"),
        text: record.bytes(text),
    };
    let plain: Vec<GcmMessage> = vectors.iter().map(|record| message(record, "Plaintext")).collect();
    let sealed: Vec<Sealed> = vectors
        .iter()
        .map(|record| Sealed {
            text: record.bytes("Ciphertext"),
            tag: record.bytes("Tag").try_into().unwrap(),
        })
        .collect();
    // two baby steps and two giant steps, so that messages of up to seven blocks need folds
    alone(lab, Steps::new(2, 2).unwrap(), &plain, &sealed);
    let (plain, sealed): (Vec<GcmMessage>, Vec<Sealed>) =
        plain.into_iter().zip(sealed).filter(|(message, _)| message.iv.len() == gcm::IV_BYTES).unzip();
    in_batches(lab, &plain, &sealed);
    (vectors.len(), plain.len())
}

/// The messages of each key size.
fn by_size<'m>(
    plain: &'m [GcmMessage],
    sealed: &'m [Sealed],
) -> impl Iterator<Item = (KeySize, Vec<(&'m GcmMessage, &'m Sealed)>)> {
    let of = move |size: KeySize| {
        let all = plain.iter().zip(sealed);
        (size, all.filter(|(message, _)| message.key.len() == size.bytes()).collect::<Vec<_>>())
    };
    KeySize::ALL.into_iter().map(of).filter(|(_, messages)| !messages.is_empty())
}

/// The keys of messages, one in each lane.
fn keys(size: KeySize, messages: &[(&GcmMessage, &Sealed)]) -> Vec<Vec<u8>> {
    (0..size.bytes()).map(|i| messages.iter().map(|(message, _)| message.key[i]).collect()).collect()
}

/// The result of `f` in a run, which must be the same at all parties.
fn told<L: Lab, T: Debug + PartialEq + Send>(
    lab: &L,
    inputs: &[Vec<u8>],
    f: impl Fn(&mut L::Engine, Vec<<L::Engine as Bytes>::Byte>) -> Result<T, Abort> + Sync,
) -> T {
    let told = Mutex::new(Vec::new());
    let run = lab.run(inputs, |e, inputs| {
        let result = f(e, inputs)?;
        told.lock().unwrap().push(result);
        Ok(Outputs::bytes([e.public(&[0])]))
    });
    run.unwrap();
    let mut told = told.into_inner().unwrap();
    let first = told.pop().unwrap();
    assert!(told.iter().all(|other| *other == first));
    first
}

/// Encrypts each message by [`MessagesKey::seal`] and decrypts it by [`MessagesKey::open`]: the ciphertext
/// and its tag are those expected, the plaintext comes back, and a wrong tag is refused. There is one run for
/// each key size.
pub fn alone<L: Lab<Engine: GcmEngine>>(lab: &L, steps: Steps, plain: &[GcmMessage], sealed: &[Sealed]) {
    for (size, messages) in by_size(plain, sealed) {
        let column = |text: &[u8], i: usize| text.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
        let texts = messages.iter().flat_map(|(plain, _)| (0..16).map(|i| column(&plain.text, i)));
        let inputs: Vec<Vec<u8>> = keys(size, &messages).into_iter().chain(texts).collect();
        let results = told(lab, &inputs, |e, inputs| {
            let (key, texts) = inputs.split_at(size.bytes());
            let (round_keys, h) = gcm::expand(e, key)?;
            let keys = MessagesKey::each(e, round_keys, &h, steps)?;
            let mut results = Vec::new();
            for ((mut key, (plain, sealed)), text) in keys.into_iter().zip(&messages).zip(texts.chunks(16)) {
                let made = key.seal(e, &plain.iv, &plain.aad, text)?;
                let opened = key.open(e, &plain.iv, &plain.aad, &sealed.text, &sealed.tag)?;
                let opened = opened.ok_or(WRONG)?;
                let opened = if sealed.text.is_empty() { vec![Vec::new(); 16] } else { e.open(opened)? };
                let mut forged = sealed.tag;
                forged[plain.text.len() % 16] ^= 1;
                let refused = key.open(e, &plain.iv, &plain.aad, &sealed.text, &forged)?.is_none();
                results.push((made, interleaved(&opened, plain.text.len())?, refused));
            }
            Ok(results)
        });
        for ((plain, sealed), result) in messages.iter().zip(results) {
            let expected = ((sealed.text.clone(), sealed.tag), plain.text.clone(), true);
            assert_eq!(result, expected, "{plain:?}");
        }
    }
}

const WRONG: Abort = Abort::Misuse { step: divisi_core::step!("suite"), what: Misuse::NoResult };

/// All messages of a key size in one [`GcmBatch`]: each is encrypted, decrypted, and decrypted under a wrong
/// tag.
pub fn in_batches<L: Lab<Engine: GcmEngine>>(lab: &L, plain: &[GcmMessage], sealed: &[Sealed]) {
    for (size, messages) in by_size(plain, sealed) {
        let mut items = Vec::new();
        for (key, (plain, sealed)) in messages.iter().enumerate() {
            let tag = TagLength::Bits128.element(&sealed.tag).unwrap();
            let ciphertext = &sealed.text[..];
            for text in [
                GcmPayload::Plain(plain.text.len()),
                GcmPayload::Cipher { ciphertext, tag },
                GcmPayload::Cipher { ciphertext, tag: tag ^ 1 << (key % 128) },
            ] {
                let iv = plain.iv[..].try_into().unwrap();
                items.push(GcmItem {
                    key,
                    iv,
                    aad: &plain.aad,
                    tag_length: TagLength::Bits128,
                    payload: text,
                });
            }
        }
        let batch = GcmBatch::new(&items).unwrap();
        let columns = (0..16).map(|i| batch.column(i, |k| &messages[k / 3].0.text));
        let inputs: Vec<Vec<u8>> = keys(size, &messages).into_iter().chain(columns).collect();
        let outcomes = told(lab, &inputs, |e, inputs| {
            let (key, columns) = inputs.split_at(size.bytes());
            let (round_keys, h) = gcm::expand(e, key)?;
            batch.outcomes(e, &round_keys, &h, |_, i| Ok(columns[i].clone()))
        });
        for ((plain, sealed), outcomes) in messages.iter().zip(outcomes.chunks(3)) {
            let made = Outcome::Sealed(sealed.text.clone(), sealed.tag.to_vec());
            let expected = [made, Outcome::Opened(plain.text.clone()), Outcome::Invalid];
            assert_eq!(outcomes, expected, "{plain:?}");
        }
    }
}
