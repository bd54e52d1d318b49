//! Known answers of AES-GCM, and encryption and decryption of batches in a lab.

use super::vectors::{VectorCase, gcm_specification_vectors};
use crate::aes::{self, KeySize, RoundKeys};
use crate::mode::ghash::{Powers, Steps, powers};
use crate::mode::{columns, ctr, gcm};
use divisi_core::testing::{Lab, Outputs};
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes};

/// A message (plaintext or ciphertext), without its tag.
#[derive(Clone, Debug)]
pub struct GcmMessage {
    /// The key, of one of the three sizes.
    pub key: Vec<u8>,
    /// The IV.
    pub iv: [u8; gcm::IV_BYTES],
    /// The associated data.
    pub aad: Vec<u8>,
    /// The plaintext, or the ciphertext.
    pub text: Vec<u8>,
}

/// The result for a message: its ciphertext or plaintext, and the full tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The ciphertext, or the plaintext.
    pub text: Vec<u8>,
    /// The tag of the ciphertext.
    pub tag: [u8; 16],
}

/// How many known answers were right, and which were not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// How many were right.
    pub passed: usize,
    /// The names of those that were not tried, each with the reason.
    pub unsupported: Vec<String>,
}

/// All test cases of the GCM specification with an IV of 96 bits, encrypted and decrypted; the others are
/// counted and named.
pub fn gcm_specification(lab: &impl Lab) -> Census {
    let mut census = Census::default();
    let (mut names, mut plain, mut sealed) = (Vec::new(), Vec::new(), Vec::new());
    for record in gcm_specification_vectors() {
        let name = record.text("Name");
        let Ok(iv) = record.bytes("IV").try_into() else {
            let bits = 8 * record.bytes("IV").len();
            census.unsupported.push(format!("{name}: an IV of {bits} bits"));
            continue;
        };
        names.push(name);
        plain.push(message(&record, iv, "Plaintext"));
        sealed.push(message(&record, iv, "Ciphertext"));
    }
    let tags = gcm_specification_vectors()
        .iter()
        .filter(|r| names.contains(&r.text("Name")))
        .map(tag)
        .collect::<Vec<_>>();
    assert_eq!((names.len(), census.unsupported.len()), (12, 6));

    // two baby steps and two giant steps, so that messages of up to seven blocks need folds
    let steps = Steps::new(2, 2).unwrap();
    let (to, back) = (seal(lab, steps, &plain), open(lab, steps, &sealed));
    for (i, name) in names.iter().enumerate() {
        assert_eq!(to[i], Sealed { text: sealed[i].text.clone(), tag: tags[i] }, "{name}, sealed");
        assert_eq!(back[i], Sealed { text: plain[i].text.clone(), tag: tags[i] }, "{name}, opened");
        census.passed += 1;
    }
    census
}

fn message(record: &VectorCase, iv: [u8; gcm::IV_BYTES], text: &str) -> GcmMessage {
    GcmMessage { key: record.bytes("Key"), iv, aad: record.bytes("AAD"), text: record.bytes(text) }
}

fn tag(record: &VectorCase) -> [u8; 16] {
    record.bytes("Tag").try_into().unwrap()
}

/// Encrypts and authenticates all messages. For each key size there is one run for the ciphertexts of secret
/// plaintexts, and one for the tags of the public ciphertexts.
pub fn seal(lab: &impl Lab, steps: Steps, plain: &[GcmMessage]) -> Vec<Sealed> {
    let mut sealed: Vec<GcmMessage> = plain.to_vec();
    for size in KeySize::ALL {
        let batch = Batch::new(plain, size);
        if batch.members.is_empty() {
            continue;
        }
        let plaintext = columns::from_stream(&batch.stream());
        let inputs: Vec<Vec<u8>> = batch.keys().into_iter().chain(plaintext).collect();
        let opened = lab.run(&inputs, |e, inputs| {
            let (key, plaintext) = inputs.split_at(size.bytes());
            let round_keys = aes::expand(e, key)?;
            let mut text = batch.keystream(e, &round_keys)?.each_ref().map(|byte| batch.of_text(byte));
            for (byte, plaintext) in text.iter_mut().zip(plaintext) {
                e.add(byte, plaintext)?;
            }
            Ok(Outputs::bytes(text))
        });
        for (member, text) in batch.texts(opened.unwrap().bytes) {
            sealed[member].text = text;
        }
    }
    let tags = open(lab, steps, &sealed).into_iter().map(|opened| opened.tag);
    tags.zip(sealed).map(|(tag, sealed)| Sealed { text: sealed.text, tag }).collect()
}

/// Decrypts all messages, and computes the tags that they should have, in one run for each key size.
pub fn open(lab: &impl Lab, steps: Steps, sealed: &[GcmMessage]) -> Vec<Sealed> {
    let mut plain = vec![Sealed { text: Vec::new(), tag: [0; 16] }; sealed.len()];
    for size in KeySize::ALL {
        let batch = Batch::new(sealed, size);
        if batch.members.is_empty() {
            continue;
        }
        let opened = lab.run(&batch.keys(), |e, key| {
            let round_keys = aes::expand(e, &key)?;
            let keystream = batch.keystream(e, &round_keys)?;
            let tags = batch.tags(e, steps, &round_keys, &keystream)?;
            let mut text = keystream.each_ref().map(|byte| batch.of_text(byte));
            for (byte, ciphertext) in text.iter_mut().zip(columns::from_stream(&batch.stream())) {
                e.add_public(byte, &ciphertext)?;
            }
            Ok(Outputs { bytes: text.to_vec(), blocks: tags })
        });
        let opened = opened.unwrap();
        for ((member, text), tag) in batch.texts(opened.bytes).into_iter().zip(opened.blocks) {
            plain[member] = Sealed { text, tag: tag[0] };
        }
    }
    plain
}

/// The messages under keys of one size, and the positions of their blocks in one key stream: for each message
/// first the block that masks its tag, then those of its text.
struct Batch<'m> {
    members: Vec<(usize, &'m GcmMessage)>,
    masks: Vec<usize>,
    text: Vec<usize>,
}

impl<'m> Batch<'m> {
    fn new(messages: &'m [GcmMessage], size: KeySize) -> Self {
        let members = messages.iter().enumerate().filter(|(_, message)| message.key.len() == size.bytes());
        let mut batch = Batch { members: members.collect(), masks: Vec::new(), text: Vec::new() };
        let mut lane = 0;
        for (_, message) in &batch.members {
            let blocks = message.text.len().div_ceil(16);
            batch.masks.push(lane);
            batch.text.extend(lane + 1..=lane + blocks);
            lane += 1 + blocks;
        }
        batch
    }

    /// The keys, with a lane for each message.
    fn keys(&self) -> Vec<Vec<u8>> {
        let bytes = self.members[0].1.key.len();
        (0..bytes).map(|i| self.members.iter().map(|(_, message)| message.key[i]).collect()).collect()
    }

    /// The texts one after the other, each padded to whole blocks.
    fn stream(&self) -> Vec<u8> {
        let filled = self.members.iter().flat_map(|(_, message)| {
            let mut text = message.text.clone();
            text.resize(text.len().next_multiple_of(16), 0);
            text
        });
        filled.collect()
    }

    /// The texts in opened columns, each with its message's number.
    fn texts(&self, columns: Vec<Vec<u8>>) -> Vec<(usize, Vec<u8>)> {
        let columns: [Vec<u8>; 16] = columns.try_into().unwrap();
        let stream = columns::to_stream(&columns, 16 * self.text.len()).unwrap();
        let mut rest = &stream[..];
        let texts = self.members.iter().map(|(member, message)| {
            let (text, later) = rest.split_at(message.text.len().next_multiple_of(16));
            rest = later;
            (*member, text[..message.text.len()].to_vec())
        });
        texts.collect()
    }

    /// The lanes of a key stream byte that belong to texts.
    fn of_text<B: Lanes>(&self, byte: &B) -> B {
        byte.gather(&self.text).unwrap()
    }

    fn keystream<E: Bytes>(
        &self,
        e: &mut E,
        round_keys: &RoundKeys<E::Byte>,
    ) -> Result<[E::Byte; 16], Abort> {
        let (mut counters, mut index) = (std::array::from_fn::<_, 16, _>(|_| Vec::new()), Vec::new());
        for (k, (_, message)) in self.members.iter().enumerate() {
            let blocks = 1 + message.text.len().div_ceil(16);
            for (all, own) in counters.iter_mut().zip(ctr::columns(&gcm::j0(&message.iv), 0, blocks)) {
                all.extend(own);
            }
            index.extend(vec![k; blocks]);
        }
        ctr::keystream(e, &round_keys.gather(&index).unwrap(), &counters)
    }

    /// The tags, a block in one lane for each message. The powers of all keys are made together.
    fn tags<E>(
        &self,
        e: &mut E,
        steps: Steps,
        round_keys: &RoundKeys<E::Byte>,
        keystream: &[E::Byte; 16],
    ) -> Result<Vec<E::Block>, Abort>
    where
        E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block>,
    {
        let m = steps.baby();
        let h = gcm::hash_key(e, round_keys)?;
        let baby_steps = powers(e, &h, m)?;
        let masks = gcm::tag_masks(e, keystream, &self.masks)?;
        let mut tags = Vec::with_capacity(self.members.len());
        for (k, (_, message)) in self.members.iter().enumerate() {
            let lengths = gcm::Lengths::new(message.aad.len() as u64, message.text.len() as u64).unwrap();
            let own = baby_steps.gather(&(k * m..(k + 1) * m).collect::<Vec<_>>()).unwrap();
            let powers = Powers::from_baby_steps(e, own, steps, lengths.hash_blocks())?;
            let ghash = gcm::hash(e, &powers, &message.aad, &message.text)?;
            tags.push(gcm::tag(e, ghash, &masks.gather(&[k]).unwrap())?);
        }
        Ok(tags)
    }
}
