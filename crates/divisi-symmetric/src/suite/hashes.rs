//! Tests of hashes and MACs in batches on an engine: NIST's examples, and messages of every kind of length,
//! compared with the computation in the clear.

use super::samples::Samples;
use super::vectors::{VectorCase, hash_vectors};
use crate::batch::{self, Messages};
use crate::gates::{Adder, in_the_clear};
use crate::hash::Hash;
use crate::mac::hmac;
use crate::mac::kmac::{Kmac, OutputLength};
use crate::sha3::Xof;
use divisi_core::testing::{Lab, Outputs};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Lanes};
use std::collections::BTreeMap;

/// An engine whose bytes can be converted to bits.
pub trait Bitwise:
    Bytes
    + Blocks
    + Boolean
    + Convert<<Self as Bytes>::Byte, [<Self as Boolean>::Bit; 8]>
    + Convert<[<Self as Boolean>::Bit; 8], <Self as Bytes>::Byte>
{
}

impl<E> Bitwise for E where
    E: Bytes
        + Blocks
        + Boolean
        + Convert<<E as Bytes>::Byte, [<E as Boolean>::Bit; 8]>
        + Convert<[<E as Boolean>::Bit; 8], <E as Bytes>::Byte>
{
}

/// The bytes of messages, column by column. After the end of a message there are arbitrary bytes, which must
/// not matter.
fn columns(messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).map(|j| messages.iter().map(|m| m.get(j).copied().unwrap_or(0xa5)).collect()).collect()
}

fn lengths(messages: &[Vec<u8>]) -> Vec<usize> {
    messages.iter().map(Vec::len).collect()
}

/// Secret bytes as bits.
fn bits<E: Bitwise>(e: &mut E, bytes: &[E::Byte]) -> Result<Vec<[E::Bit; 8]>, Abort> {
    bytes.iter().map(|byte| e.convert(byte.clone())).collect()
}

fn outputs<E: Bitwise>(e: &mut E, bits: Vec<[E::Bit; 8]>) -> Result<Outputs<E>, Abort> {
    Ok(Outputs::bytes(bits.into_iter().map(|bits| e.convert(bits)).collect::<Result<Vec<E::Byte>, _>>()?))
}

/// The results of a computation on the messages: a string for each.
fn on_messages<L: Lab<Engine: Bitwise>>(
    lab: &L,
    messages: &[Vec<u8>],
    f: impl Fn(&mut L::Engine, &Messages<L::Engine>) -> Result<Vec<[<L::Engine as Boolean>::Bit; 8]>, Abort>
    + Sync,
) -> Vec<Vec<u8>> {
    let opened = lab.run(&columns(messages), |e, bytes| {
        let columns = bits(e, &bytes)?;
        let messages = if columns.is_empty() {
            Messages::public(e, &vec![&[][..]; messages.len()])
        } else {
            Messages::new(columns, lengths(messages))?
        };
        let answer = f(e, &messages)?;
        outputs(e, answer)
    });
    rows(&opened.unwrap().bytes, messages.len())
}

fn rows(columns: &[Vec<u8>], lanes: usize) -> Vec<Vec<u8>> {
    (0..lanes).map(|lane| columns.iter().map(|column| column[lane]).collect()).collect()
}

/// The digests of secret messages.
pub fn digests<L: Lab<Engine: Bitwise>>(
    lab: &L,
    hash: Hash,
    adder: Adder,
    messages: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    on_messages(lab, messages, |e, messages| batch::hash::digest(e, hash, adder, messages))
}

/// The first bytes of the outputs for secret messages.
pub fn xof_outputs<L: Lab<Engine: Bitwise>>(
    lab: &L,
    xof: &Xof,
    messages: &[Vec<u8>],
    length: usize,
) -> Vec<Vec<u8>> {
    on_messages(lab, messages, |e, messages| batch::xof::output(e, xof, messages, length))
}

/// A key and a message.
pub type KeyAndMessage = (Vec<u8>, Vec<u8>);

/// Runs `f` once for each key length, on secret keys and messages with a lane for each case. Returns the tag
/// of each case.
fn with_keys<L: Lab<Engine: Bitwise>>(
    lab: &L,
    cases: &[KeyAndMessage],
    f: impl Fn(
        &mut L::Engine,
        &[[<L::Engine as Boolean>::Bit; 8]],
        &Messages<L::Engine>,
    ) -> Result<Vec<[<L::Engine as Boolean>::Bit; 8]>, Abort>
    + Sync,
) -> Vec<Vec<u8>> {
    let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    cases.iter().enumerate().for_each(|(i, (key, _))| by_length.entry(key.len()).or_default().push(i));
    let mut tags = vec![Vec::new(); cases.len()];
    for (length, members) in by_length {
        let (keys, messages): (Vec<_>, Vec<_>) = members.iter().map(|i| cases[*i].clone()).unzip();
        let inputs = [columns(&keys), columns(&messages)].concat();
        let opened = lab.run(&inputs, |e, bytes| {
            let (key, columns) = bytes.split_at(length);
            let key = bits(e, key)?;
            let columns = bits(e, columns)?;
            let messages = if columns.is_empty() {
                Messages::public(e, &vec![&[][..]; members.len()])
            } else {
                Messages::new(columns, lengths(&messages))?
            };
            let tag = f(e, &key, &messages)?;
            outputs(e, tag)
        });
        for (i, tag) in members.iter().zip(rows(&opened.unwrap().bytes, members.len())) {
            tags[*i] = tag;
        }
    }
    tags
}

/// Full HMAC tags.
pub fn hmac_tags<L: Lab<Engine: Bitwise>>(
    lab: &L,
    hash: Hash,
    adder: Adder,
    cases: &[KeyAndMessage],
) -> Vec<Vec<u8>> {
    with_keys(lab, cases, |e, key, messages| {
        let states = batch::hmac::pad_states(e, hash, adder, key)?;
        batch::hmac::tag(e, hash, adder, &states, messages)
    })
}

/// KMAC tags.
pub fn kmac_tags<L: Lab<Engine: Bitwise>>(
    lab: &L,
    kmac: &Kmac,
    output: OutputLength,
    cases: &[KeyAndMessage],
) -> Vec<Vec<u8>> {
    with_keys(lab, cases, |e, key, messages| {
        let state = batch::kmac::key_state(e, kmac, key, 0)?;
        batch::kmac::tag(e, kmac, &state, messages, output)
    })
}

/// All examples that NIST publishes, one run for each function. Returns their number.
pub fn hash_known_answers<L: Lab<Engine: Bitwise>>(lab: &L) -> usize {
    let records = hash_vectors();
    let mut count = 0;
    for hash in Hash::ALL {
        let of: Vec<&VectorCase> =
            records.iter().filter(|r| r.has("Hash") && r.text("Hash") == hash.name()).collect();
        let messages: Vec<Vec<u8>> = of.iter().map(|r| r.bytes("Message")).collect();
        let want: Vec<Vec<u8>> = of.iter().map(|r| r.bytes("Digest")).collect();
        assert_eq!(digests(lab, hash, Adder::LowDepth, &messages), want, "{}", hash.name());
        count += want.len();
    }
    for record in &records {
        if record.has("Xof") {
            let xof = match record.text("Xof") {
                "shake128" => Xof::shake128(),
                "shake256" => Xof::shake256(),
                "cshake128" => Xof::cshake128(b"", &record.bytes("Customization")),
                name => panic!("{name} is not known here"),
            };
            let want = record.bytes("Output");
            assert_eq!(xof_outputs(lab, &xof, &[record.bytes("Message")], want.len()), [want]);
            count += 1;
        }
        if record.has("Kmac") {
            let (customization, want) = (record.bytes("Customization"), record.bytes("Tag"));
            let (kmac, output) = match record.text("Kmac") {
                "kmac128" => (Kmac::kmac128(&customization), OutputLength::Fixed(want.len())),
                "kmac256" => (Kmac::kmac256(&customization), OutputLength::Fixed(want.len())),
                "kmacxof128" => (Kmac::kmac128(&customization), OutputLength::Xof(want.len())),
                name => panic!("{name} is not known here"),
            };
            let case = (record.bytes("Key"), record.bytes("Message"));
            assert_eq!(kmac_tags(lab, &kmac, output, &[case]), [want]);
            count += 1;
        }
    }
    assert_eq!(count, 25);
    count
}

/// A shuffled batch of messages whose lengths cover every boundary of the padding, compared with the
/// computation in the clear.
pub fn hashes_of_different_lengths<L: Lab<Engine: Bitwise>>(lab: &L, hash: Hash, adder: Adder) {
    let mut samples = Samples::new(hash.block_bytes() as u64);
    let block = hash.block_bytes();
    let lengths =
        [0, 1, block - 18, block - 17, block - 9, block - 8, block - 1, block, block + 1, 2 * block + 3];
    let mut messages: Vec<Vec<u8>> = lengths.iter().map(|length| samples.bytes(*length)).collect();
    for i in (1..messages.len()).rev() {
        messages.swap(i, samples.below(i + 1));
    }
    let clear = |message: &Vec<u8>| in_the_clear(message, |g, m| hash.digest(g, Adder::FewestAnds, m));
    let want: Vec<Vec<u8>> = messages.iter().map(clear).collect();
    assert_eq!(digests(lab, hash, adder, &messages), want, "{}", hash.name());
}

/// Keys shorter and longer than a block; the state of one key is used for many messages.
pub fn hmac_of_different_lengths<L: Lab<Engine: Bitwise>>(lab: &L, hash: Hash) {
    let mut samples = Samples::new(7);
    let block = hash.block_bytes();
    let adder = Adder::FewestAnds;
    let clear = |key: &[u8], message: &[u8]| {
        in_the_clear(&[key, message].concat(), |g, bytes| {
            let (key, message) = bytes.split_at(key.len());
            let states = hmac::pad_states(g, hash, adder, key);
            hmac::tag(g, hash, adder, &states, message)
        })
    };
    let cases: Vec<KeyAndMessage> = [(0, 3), (32, block), (block, 0), (block + 1, 5), (block + 1, 2 * block)]
        .iter()
        .map(|(key, message)| (samples.bytes(*key), samples.bytes(*message)))
        .filter(|(key, _)| !key.is_empty())
        .collect();
    let want: Vec<Vec<u8>> = cases.iter().map(|(key, message)| clear(key, message)).collect();
    assert_eq!(hmac_tags(lab, hash, adder, &cases), want, "{}", hash.name());

    let key = samples.bytes(32);
    let messages: Vec<Vec<u8>> = [70, 0, 9].iter().map(|length| samples.bytes(*length)).collect();
    let inputs: Vec<Vec<u8>> = key.iter().map(|byte| vec![*byte]).chain(columns(&messages)).collect();
    let opened = lab.run(&inputs, |e, bytes| {
        let (key, columns) = bytes.split_at(32);
        let key = bits(e, key)?;
        let columns = bits(e, columns)?;
        let states = batch::hmac::pad_states(e, hash, adder, &key)?;
        assert_eq!(states.inner[0][0].lanes(), 1);
        let messages = Messages::new(columns, lengths(&messages))?;
        let tag = batch::hmac::tag(e, hash, adder, &states, &messages)?;
        outputs(e, tag)
    });
    let want: Vec<Vec<u8>> = messages.iter().map(|message| clear(&key, message)).collect();
    assert_eq!(rows(&opened.unwrap().bytes, messages.len()), want, "{}", hash.name());
}
