//! Short AES-GCM messages under ready keys in one call, against an ordinary library, and with a corrupt
//! party.

mod lies;

use crate::common::{bytes, engine, reference};
use divisi_core::{Abort, Misuse};
use divisi_rep3::deal::{Part, combine};
use divisi_rep3::local::{deal_all, run};
use divisi_rep3::open::Answer;
use divisi_rep3::{Protocol, Rep3};
use divisi_symmetric::aes::KeySize;
use divisi_symphony::gcm::GcmKey;
use divisi_symphony::short::{BatchOutcome, ShortMessage, ShortPayload, fits, rounds, rounds_of_keys, short};
use std::sync::Barrier;

/// A message, and what an ordinary library makes of it.
struct Case {
    key: usize,
    iv: [u8; 12],
    aad: Vec<u8>,
    plain: Vec<u8>,
    encrypt: bool,
    /// What is received, if it is decrypted.
    sealed: Vec<u8>,
}

impl Case {
    fn new(keys: &[Vec<u8>], key: usize, number: usize, lengths: [usize; 2], encrypt: bool) -> Case {
        let iv = std::array::from_fn(|i| (number >> (8 * (i % 2))) as u8 ^ i as u8);
        let (aad, plain) = (bytes(lengths[0], number + 1), bytes(lengths[1], number));
        let sealed = reference(&keys[key], iv, &aad, &plain);
        Case { key, iv, aad, plain, encrypt, sealed }
    }

    fn message<'a>(&'a self, part: &'a Part) -> ShortMessage<'a> {
        let (ciphertext, tag) = self.sealed.split_at(self.plain.len());
        let tag = tag.try_into().unwrap();
        let payload =
            if self.encrypt { ShortPayload::Plain(part) } else { ShortPayload::Cipher { ciphertext, tag } };
        ShortMessage { key: self.key, iv: self.iv, aad: &self.aad, payload }
    }
}

/// What one party has of a message: a ciphertext that all parties see, or its answer to the client.
#[derive(Clone)]
enum PartyOutcome {
    Sealed(Vec<u8>),
    Answer(Answer),
    Invalid,
}

/// The result of a message, for its client.
#[derive(Debug, PartialEq)]
enum Came {
    Sealed(Vec<u8>),
    Opened(Vec<u8>),
    Invalid,
}

/// Prepare keys, then run one call. `which` has the keys of the call, by their positions among
/// those that are prepared.
fn call(
    rep: &mut Rep3,
    size: KeySize,
    keys: &[Part],
    which: &[usize],
    cases: &[Case],
    plains: &[Part],
) -> Result<Vec<PartyOutcome>, Abort> {
    let ready = GcmKey::prepare_many(rep, size, &keys.iter().collect::<Vec<_>>())?;
    let list: Vec<&GcmKey> = which.iter().map(|k| &ready[*k]).collect();
    let messages: Vec<_> = cases.iter().zip(plains).map(|(case, part)| case.message(part)).collect();
    let outcomes = short(rep, &list, &messages)?;
    let told = |(case, outcome): (&Case, BatchOutcome)| match outcome {
        BatchOutcome::Sealed { mut ciphertext, tag } => {
            ciphertext.extend(tag);
            Ok(PartyOutcome::Sealed(ciphertext))
        }
        BatchOutcome::Opened(columns) => {
            assert_eq!(columns.get().len(), 16);
            rep.trio().answer_message(b"test", &columns, case.plain.len()).map(PartyOutcome::Answer)
        }
        BatchOutcome::Invalid => Ok(PartyOutcome::Invalid),
    };
    cases.iter().zip(outcomes).map(told).collect()
}

/// The result of each message for its client, from what the three parties have.
fn came(told: &[Vec<PartyOutcome>]) -> Vec<Came> {
    assert!(told.iter().all(|party| party.len() == told[0].len()));
    (0..told[0].len())
        .map(|k| match [0, 1, 2].map(|p| told[p][k].clone()) {
            [PartyOutcome::Sealed(one), PartyOutcome::Sealed(two), PartyOutcome::Sealed(three)] => {
                assert!(one == two && two == three, "{k}");
                Came::Sealed(one)
            }
            [PartyOutcome::Answer(one), PartyOutcome::Answer(two), PartyOutcome::Answer(three)] => {
                Came::Opened(combine(b"test", &[one, two, three]).unwrap().to_vec())
            }
            [PartyOutcome::Invalid, PartyOutcome::Invalid, PartyOutcome::Invalid] => Came::Invalid,
            _ => panic!("the parties differ about message {k}"),
        })
        .collect()
}

/// Each party's parts of the plaintexts.
fn dealt(cases: &[Case]) -> [Vec<Part>; 3] {
    deal_all(&cases.iter().map(|case| case.plain.clone()).collect::<Vec<_>>())
}

/// Run one call among three honest parties.
fn run_call(
    protocol: Protocol,
    size: KeySize,
    keys: &[Vec<u8>],
    which: &[usize],
    cases: &[Case],
) -> Vec<Came> {
    let parts = deal_all(keys);
    let plains = dealt(cases);
    let told = run(|trio| {
        let me = trio.me().index();
        call(&mut engine(trio, protocol), size, &parts[me], which, cases, &plains[me])
    });
    came(&told.unwrap())
}

fn right(case: &Case) -> Came {
    if case.encrypt { Came::Sealed(case.sealed.clone()) } else { Came::Opened(case.plain.clone()) }
}

fn keys(size: KeySize, n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|k| bytes(size.bytes(), 3 * k + 1)).collect()
}

/// Every length to 300, the longest ones, three keys of each size, both directions, in one call.
#[test]
fn every_length_that_fits_is_what_a_library_gives() {
    let longest = 16 * 1023;
    assert!(fits(0, longest) && !fits(0, longest + 1));
    let each =
        KeySize::ALL.into_iter().zip([Protocol::Gf4Circuit, Protocol::Lut16, Protocol::Lut256Additive]);
    for (size, protocol) in each {
        let keys = keys(size, 3);
        let mut cases: Vec<Case> =
            (0..=300).map(|n| Case::new(&keys, n % 3, n, [n * 5 % 47, n], n % 2 == 0)).collect();
        let edges =
            [([0, longest], true), ([0, longest], false), ([longest, 0], true), ([33, longest - 48], false)];
        for (at, (lengths, encrypt)) in edges.into_iter().enumerate() {
            assert!(fits(lengths[0], lengths[1]));
            cases.push(Case::new(&keys, at % 3, 400 + at, lengths, encrypt));
        }
        let found = run_call(protocol, size, &keys, &[0, 1, 2], &cases);
        for (k, (case, came)) in cases.iter().zip(found).enumerate() {
            assert!(came == right(case), "{size:?} message {k} of {} bytes", case.plain.len());
        }
    }
}

/// Few messages, under every protocol: alone in each direction, without a message, without anything, under
/// one key and under several.
#[test]
fn one_message_is_a_call() {
    for (protocol, size) in Protocol::ALL.iter().zip(KeySize::ALL.into_iter().cycle()) {
        let keys = keys(size, 2);
        for lengths in [[0, 0], [0, 1], [5, 0], [0, 16], [20, 33]] {
            for encrypt in [true, false] {
                let case = [Case::new(&keys, 1, 7, lengths, encrypt)];
                let found = run_call(*protocol, size, &keys, &[0, 1], &case);
                assert_eq!(found, [right(&case[0])], "{protocol} {lengths:?} {encrypt}");
            }
        }
        let cases: Vec<Case> = (0..5).map(|n| Case::new(&keys, n % 2, n, [n, 15 + n], n % 3 == 0)).collect();
        let found = run_call(*protocol, size, &keys, &[0, 1], &cases);
        assert_eq!(found, cases.iter().map(right).collect::<Vec<_>>(), "{protocol}");
    }
    assert!(run_call(Protocol::Gf4Circuit, KeySize::Aes128, &[], &[], &[]).is_empty());
}

/// Each way in which a message can be wrong, beside right ones in both directions: it alone is invalid, and
/// no byte of it is opened.
#[test]
fn a_wrong_message_is_invalid_and_harms_no_other() {
    let keys = keys(KeySize::Aes128, 2);
    for wrong in [0, 3, 6] {
        for damage in 0..5 {
            let mut cases: Vec<Case> =
                (0..7).map(|n| Case::new(&keys, n % 2, n, [9, 40], n % 3 != 0)).collect();
            let case = &mut cases[wrong];
            match damage {
                0 => case.sealed[40] ^= 1,
                1 => case.sealed[55] ^= 0x80,
                2 => case.sealed[17] ^= 4,
                3 => case.aad.push(0),
                _ => case.key ^= 1,
            }
            let parts = deal_all(&keys);
            let plains = dealt(&cases);
            let told = run(|trio| {
                let me = trio.me().index();
                let rep = &mut engine(trio, Protocol::Gf4Circuit);
                let told = call(rep, KeySize::Aes128, &parts[me], &[0, 1], &cases, &plains[me])?;
                Ok((told, rep.trio().session().meter().read().openings))
            })
            .unwrap();
            // four ciphertexts with their tags, three comparisons, two plaintexts to their clients
            assert!(told.iter().all(|(_, opened)| *opened == 4 * (40 + 16) + 3 * 16 + 2 * 40));
            let found = came(&told.into_iter().map(|(told, _)| told).collect::<Vec<_>>());
            for (k, (case, came)) in cases.iter().zip(found).enumerate() {
                let expected = if k == wrong { Came::Invalid } else { right(case) };
                assert_eq!(came, expected, "message {k}, damage {damage} of {wrong}");
            }
        }
    }
}

/// Two keys in turn, the same message and IV under both, and a list in which keys stand several times, in any
/// order, and unused.
#[test]
fn keys_are_not_confused() {
    let keys = keys(KeySize::Aes256, 4);
    let which = [2, 0, 0, 3, 2];
    let places: Vec<Vec<u8>> = which.iter().map(|k| keys[*k].clone()).collect();
    let mut cases: Vec<Case> =
        (0..40).map(|n| Case::new(&places, [4, 1, 0, 2][n % 4], n / 2, [3, 16 + n / 8], n % 8 < 4)).collect();
    // received under the other key
    cases[6].key = 1;
    let found = run_call(Protocol::Gf4Circuit, KeySize::Aes256, &keys, &which, &cases);
    for (k, (case, came)) in cases.iter().zip(found).enumerate() {
        let expected = if k == 6 { Came::Invalid } else { right(case) };
        assert_eq!(came, expected, "message {k}");
    }
}

/// What must not be computed is refused before anything is sent.
#[test]
fn misuse_is_refused_before_anything_is_sent() {
    type Wrong = fn(&mut Vec<ShortMessage<'_>>, &Part, &Part);
    let wrong: [(&str, Misuse, Wrong); 8] = [
        ("without a key", Misuse::KeyMissing, |messages, _, _| messages[1].key = 2),
        ("one IV", Misuse::NonceReused, |messages, _, _| messages[1].iv = messages[0].iv),
        ("one IV, many messages later", Misuse::NonceReused, |messages, _, _| {
            for number in 0..1100_u16 {
                let mut more = messages[1];
                more.iv[..2].copy_from_slice(&number.to_le_bytes());
                messages.push(more);
            }
            messages.push(messages[0]);
        }),
        // at another place of the list it is the same key
        ("one key twice", Misuse::NonceReused, |_, _, _| {}),
        ("not short", Misuse::TooLarge, |messages, _, _| messages[1].aad = &[0; 16 * 1022 + 1]),
        ("differ in length", Misuse::CountsDiffer, |_, _, _| {}),
        ("the second is longer", Misuse::CountsDiffer, |_, _, _| {}),
        ("different sizes", Misuse::KeyUnfit, |_, _, _| {}),
    ];
    let keys = [bytes(16, 1), bytes(16, 2), bytes(32, 3)];
    let (parts, plaintexts) = (deal_all(&keys), deal_all(&[vec![1; 16], vec![2; 16]]));
    for (words, misuse, change) in wrong {
        // the party that is first ends the session for all, so it waits until the others have their keys
        let together = Barrier::new(3);
        let results = run(|trio| {
            let me = trio.me().index();
            let rep = &mut engine(trio, Protocol::Gf4Circuit);
            let one = GcmKey::prepare(rep, KeySize::Aes128, &parts[me][0])?;
            let other = match words {
                "different sizes" => GcmKey::prepare(rep, KeySize::Aes256, &parts[me][2])?,
                _ => GcmKey::prepare(rep, KeySize::Aes128, &parts[me][1])?,
            };
            let mut uneven = plaintexts[me][1].clone();
            match words {
                "differ in length" => drop(uneven.second.pop()),
                "the second is longer" => uneven.second.push(0),
                _ => {}
            }
            let message = |key, iv: u8, part| ShortMessage {
                key,
                iv: [iv; 12],
                aad: b"",
                payload: ShortPayload::Plain(part),
            };
            // the same IV under another key is allowed
            let mut messages =
                vec![message(0, 1, &plaintexts[me][0]), message(0, 2, &uneven), message(1, 1, &uneven)];
            change(&mut messages, &plaintexts[me][0], &plaintexts[me][1]);
            together.wait();
            let sent = rep.trio().session().meter().read();
            let other = if words == "one key twice" { &one } else { &other };
            let result = short(rep, &[&one, other], &messages).map(drop);
            let after = rep.trio().session().meter().read();
            assert_eq!((sent.bits(), sent.steps), (after.bits(), after.steps), "{words}");
            Ok(result)
        });
        for result in results.unwrap() {
            let Err(Abort::Misuse { what, .. }) = result else { panic!("{words}: {result:?}") };
            assert_eq!(what, misuse, "{words}");
        }
    }
}

/// The rounds that the module's documentation tells, of preparing keys and of a call. More messages and keys
/// add levels of the verification and nothing else.
#[test]
fn cost_in_rounds() {
    let rounds = |n: usize, keys_used: usize, encrypt: fn(usize) -> bool| {
        counted(Protocol::Gf4Circuit, KeySize::Aes128, [n, 16, keys_used], encrypt)
    };
    let (all, none, half): (fn(usize) -> bool, fn(usize) -> bool, fn(usize) -> bool) =
        (|_| true, |_| false, |k| k % 2 == 0);
    assert_eq!((rounds(1, 1, all), rounds(1, 1, none)), ([133, 66], [133, 74]));
    for (keys, prepare) in [(1, 133), (5, 143)] {
        assert_eq!(rounds(64, keys, all), [prepare, 78]);
        assert_eq!(rounds(64, keys, none), [prepare, 98]);
        assert_eq!(rounds(64, keys, half), [prepare, 98]);
    }
}

/// The rounds of preparing this many keys, and of a call for this many messages of this many bytes.
fn counted(
    protocol: Protocol,
    size: KeySize,
    [n, bytes, keys_used]: [usize; 3],
    encrypt: fn(usize) -> bool,
) -> [u32; 2] {
    let keys = keys(size, keys_used);
    let parts = deal_all(&keys);
    let cases: Vec<Case> =
        (0..n).map(|k| Case::new(&keys, k % keys_used, k, [5, bytes], encrypt(k))).collect();
    let plains = dealt(&cases);
    let counts = run(|trio| {
        let me = trio.me().index();
        let rep = &mut engine(trio, protocol);
        rep.trio().session().phase("prepare");
        let ready = GcmKey::prepare_many(rep, size, &parts[me].iter().collect::<Vec<_>>())?;
        rep.trio().session().phase("call");
        let list: Vec<&GcmKey> = ready.iter().collect();
        let messages: Vec<_> = cases.iter().zip(&plains[me]).map(|(case, part)| case.message(part)).collect();
        short(rep, &list, &messages)?;
        let phases = rep.trio().session().meter().read().phases;
        Ok(["prepare", "call"].map(|phase| phases[phase].rounds))
    });
    counts.unwrap()[0]
}

/// The bounds [`rounds`] and [`rounds_of_keys`], with which a scheduler plans, hold under every protocol for
/// the smallest call and for one of as many blocks as it plans at most, and are at most twice the real
/// numbers.
#[test]
fn no_call_has_more_rounds() {
    let mut wrong = Vec::new();
    for protocol in Protocol::ALL.iter().copied() {
        for size in KeySize::ALL {
            for (n, bytes, keys) in [(1, 16, 1), (128, 31 * 16, 30)] {
                let blocks = n * (bytes / 16 + 1);
                let [made, called] = counted(protocol, size, [n, bytes, keys], |k| k % 2 == 1);
                let most = [rounds_of_keys(size, protocol), rounds(size, protocol, blocks)];
                println!("{protocol} {size:?} {blocks}: {made} of {}, {called} of {}", most[0], most[1]);
                wrong.extend([made, called].into_iter().zip(most).filter(|(counted, most)| {
                    let most = *most as u32;
                    *counted > most || most > 2 * *counted
                }));
            }
        }
        assert_eq!(rounds(KeySize::Aes128, protocol, 0), 0);
    }
    assert_eq!(wrong, []);
}
