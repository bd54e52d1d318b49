//! Comparisons of tags and of public parameters reach to the last byte, item and chunk; and what they open.

use crate::common;
use crate::common::is_compared;
use divisi_core::{Abort, PartyId};
use divisi_rep3::adversary::harness::{MessageDirection, Recording, TrioHarness};
use divisi_rep3::checks;
use divisi_rep3::local::{self, deal_all};
use divisi_rep3::{Protocol, Rep3, Trio};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::mode::gcm::TagLength;
use divisi_symphony::Priority;
use divisi_symphony::gcm::{CHUNK, GcmKey, Opening, Sealing};
use divisi_symphony::macnifico::{Macnifico, Received, public_message};
use divisi_symphony::many::{MessageJob, Outcome, OwnedPayload, many};
use divisi_symphony::sharp::{Sharp, input_message};
use std::collections::BTreeSet;

const KEY: [u8; 16] = *b"sixteen bytes in";

fn engine(trio: Trio) -> Rep3 {
    common::engine(trio, Protocol::Gf4Circuit)
}

/// The outcomes of messages under one key, which are the same at all three parties.
fn outcomes(messages: &[(TagLength, Option<(Vec<u8>, Vec<u8>)>)], plain: &[u8]) -> Vec<Outcome> {
    let (key, message) = (deal_all(&[KEY.to_vec()]), deal_all(&[plain.to_vec()]));
    let results = local::run(|trio| {
        let me = trio.me().index();
        let job = |(tag_length, received): &(TagLength, Option<(Vec<u8>, Vec<u8>)>)| MessageJob {
            key: key[me][0].clone(),
            danger_iv: [9; 12],
            aad: b"aad".to_vec(),
            tag_length: *tag_length,
            payload: match received.clone() {
                None => OwnedPayload::Plain(message[me][0].clone()),
                Some((ciphertext, tag)) => OwnedPayload::Cipher { ciphertext, tag },
            },
        };
        let jobs: Vec<MessageJob> = messages.iter().map(job).collect();
        many(&mut engine(trio), KeySize::Aes128, &jobs)
    })
    .unwrap();
    assert!(results[0] == results[1] && results[1] == results[2]);
    results.into_iter().next().unwrap()
}

/// One byte after the other of tags of every length, in one call with the right ones.
#[test]
fn a_gcm_tag_that_differs_in_any_byte_is_wrong() {
    let plain = b"a text";
    let sealed = outcomes(&TagLength::ALL.map(|length| (length, None)), plain);
    let mut messages = Vec::new();
    for (length, outcome) in TagLength::ALL.into_iter().zip(&sealed) {
        let Outcome::Sealed(ciphertext, tag) = outcome else { panic!("{outcome:?}") };
        for at in 0..=tag.len() {
            let mut tag = tag.clone();
            // the last one is right
            tag.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x20);
            messages.push((length, Some((ciphertext.clone(), tag))));
        }
    }
    let opened = outcomes(&messages, plain);
    let mut next = opened.iter();
    for length in TagLength::ALL {
        for at in 0..length.bytes() {
            assert_eq!(*next.next().unwrap(), Outcome::Invalid, "byte {at} of {} bits", length.bits());
        }
        assert_eq!(*next.next().unwrap(), Outcome::Opened(plain.to_vec()));
    }
}

/// All bytes of the value that a comparison opens count: if only one did, it would be zero for one wrong tag
/// in 256.
#[test]
fn no_wrong_tag_of_thousands_is_right() {
    let messages: Vec<_> = (0..4096_u32)
        .map(|i| {
            let mut tag = [7; 16];
            tag[..4].copy_from_slice(&i.to_le_bytes());
            (TagLength::Bits128, Some((Vec::new(), tag.to_vec())))
        })
        .collect();
    assert!(outcomes(&messages, b"").iter().all(|outcome| *outcome == Outcome::Invalid));
}

/// The value that all three open last is no difference of tags, nor a fixed multiple of one.
#[test]
fn a_gcm_difference_is_opened_under_a_fresh_mask() {
    let Outcome::Sealed(ciphertext, tag) = outcomes(&[(TagLength::Bits128, None)], b"text").remove(0) else {
        panic!("not sealed")
    };
    let key = deal_all(&[KEY.to_vec()]);
    let mut wrong = tag.clone();
    wrong[2] ^= 0x40;
    let mut seen = BTreeSet::from([tag.iter().zip(&wrong).map(|(x, y)| x ^ y).collect::<Vec<u8>>()]);
    for _ in 0..3 {
        let harness = TrioHarness::default();
        let sent = harness.recordings();
        let results = harness.act(|trio| {
            let part = key[trio.me().index()][0].clone();
            let rep = &mut engine(trio);
            let mut key = GcmKey::prepare(rep, KeySize::Aes128, &part)?;
            let length = ciphertext.len() as u64;
            let mut opening = Opening::new(rep, &mut key, [9; 12], b"aad", length, &wrong)?;
            opening.absorb(rep, &key, &ciphertext)?;
            opening.verify(rep, &key)
        });
        assert!(results.iter().all(|valid| *valid == Ok(false)), "{results:?}");
        let last = |(me, sent): (PartyId, &Recording)| {
            sent.bodies(MessageDirection::Out, me.next(3), "divisi_rep3::open/open.bytes").pop().unwrap()
        };
        let parts: Vec<Vec<u8>> = PartyId::all(3).zip(&sent).map(last).collect();
        let value: Vec<u8> = (0..16).map(|i| parts.iter().fold(0, |sum, part| sum ^ part[i])).collect();
        assert!(value.iter().any(|byte| *byte != 0));
        assert!(seen.insert(value), "the difference itself, or the same multiple of it twice");
    }
}

/// A message of several chunks whose tag was right: no other chunk is decrypted in place of any, whichever
/// byte of it is another.
#[test]
fn the_second_reading_is_the_first_to_its_last_byte() {
    let plain: Vec<u8> = (0..4 * CHUNK + 20).map(|i| (i * 7) as u8).collect();
    let (key, message) =
        (deal_all(&[KEY.to_vec()]), deal_all(&plain.chunks(CHUNK).map(<[u8]>::to_vec).collect::<Vec<_>>()));
    let results = local::run(|trio| {
        let me = trio.me().index();
        let rep = &mut engine(trio);
        let mut key = GcmKey::prepare(rep, KeySize::Aes128, &key[me][0])?;
        let mut sealing = Sealing::new(rep, &mut key, [9; 12], b"", plain.len() as u64)?;
        let mut chunks = Vec::new();
        for part in &message[me] {
            chunks.push(sealing.chunk(rep, &key, part)?);
        }
        let tag = sealing.finish(rep, &key)?;
        let mut opening = Opening::new(rep, &mut key, [9; 12], b"", plain.len() as u64, &tag)?;
        for chunk in &chunks {
            opening.absorb(rep, &key, chunk)?;
        }
        assert!(opening.verify(rep, &key)?);
        let refused = |opening: &mut Opening, rep: &mut Rep3, chunk: &[u8]| {
            matches!(opening.chunk(rep, &key, b"context", chunk), Err(Abort::Misuse { .. }))
        };
        for at in [0, 1, 7, 8, 15, 16, 1000, CHUNK - 1] {
            let mut other = chunks[0].clone();
            other[at] ^= 1;
            assert!(refused(&mut opening, rep, &other), "byte {at} of the first chunk");
        }
        for (place, pair) in chunks[..4].windows(2).enumerate() {
            opening.chunk(rep, &key, b"context", &pair[0])?;
            let mut other = pair[1].clone();
            other[CHUNK - 1] ^= 1;
            for other in [&other, &pair[0]] {
                assert!(refused(&mut opening, rep, other), "another one behind chunk {place}");
            }
        }
        opening.chunk(rep, &key, b"context", &chunks[3])?;
        // so many changes that some digests agree with the right one in one byte
        for other in 1..6000_u32 {
            let mut chunk = chunks[4].clone();
            chunk[16..].iter_mut().zip(other.to_le_bytes()).for_each(|(x, y)| *x ^= y);
            assert!(refused(&mut opening, rep, &chunk), "change {other} of the last chunk");
        }
        opening.chunk(rep, &key, b"context", &chunks[4]).map(drop)
    });
    assert!(results.is_ok(), "{results:?}");
}

/// The tag of one message in as many lanes as it has bytes: in each another byte is wrong, and in the last
/// none.
#[test]
fn a_tag_that_differs_in_any_byte_of_any_item_is_wrong() {
    // more lanes, and more blocks of a tag, than a byte counts and a test of edges has
    for bytes in [16, 17, 40, 272] {
        let mut settings = Settings::new("kmac128".parse().unwrap());
        settings.output_bytes = bytes;
        let lanes = bytes + 1;
        let results = local::run(|trio| {
            let rep = &mut engine(trio);
            let mac = Macnifico::new(&settings, Priority::LowLatency)?;
            let key = mac.dist_key_gen(rep)?;
            let messages = vec![&b"abc"[..]; lanes];
            let m = public_message(rep, &messages)?;
            let tags = mac.tag_gen(rep, &key, &m)?;
            let mut received: Vec<Received> = mac.output_tag(rep, &tags)?;
            (0..bytes).for_each(|at| received[at].tag[at] ^= 0x11);
            let mut first_right = received.clone();
            first_right.rotate_right(1);
            Ok([mac.verify(rep, &key, &m, &received)?, mac.verify(rep, &key, &m, &first_right)?])
        });
        for result in results.unwrap() {
            for (right, answers) in [lanes - 1, 0].into_iter().zip(result) {
                for (lane, answer) in answers.into_iter().enumerate() {
                    assert_eq!(answer, lane == right, "item {lane} of {bytes} bytes");
                }
            }
        }
    }
}

#[test]
fn no_nonce_of_gmac_occurs_twice() {
    const MESSAGES: usize = 600;
    let results = local::run(|trio| {
        let rep = &mut engine(trio);
        let mac = Macnifico::new(&Settings::new("gmac-aes128".parse().unwrap()), Priority::LowLatency)?;
        let key = mac.dist_key_gen(rep)?;
        let m = public_message(rep, &[&b"abc"[..]; MESSAGES])?;
        let mut nonces = Vec::new();
        for _ in 0..2 {
            let tags = mac.tag_gen(rep, &key, &m)?;
            nonces.extend(mac.output_tag(rep, &tags)?.into_iter().filter_map(|received| received.nonce));
        }
        Ok(nonces)
    })
    .unwrap();
    let all = &results[0];
    assert!(results.iter().all(|nonces| nonces == all) && all.len() == 2 * MESSAGES);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 2 * MESSAGES, "a nonce occurs twice");
    for at in 0..12 {
        // of 1,200 bytes fewer than 40 are different with probability below 2^-100
        let values: BTreeSet<u8> = all.iter().map(|nonce| nonce[at]).collect();
        assert!(values.len() >= 40, "byte {at} has {} values", values.len());
    }
}

/// One party has other public parameters than the two others; all values but one are the same.
#[test]
fn whatever_is_public_is_compared() {
    type Use = fn(&mut Rep3, bool) -> Result<(), Abort>;
    fn hash(rep: &mut Rep3, name: &str, mode: Priority) -> Result<(), Abort> {
        let m = public_message(rep, &[b"abc"])?;
        Sharp::new(&Settings::new(name.parse().unwrap()), mode)?.hash(rep, &m).map(drop)
    }
    fn lengths(rep: &mut Rep3, odd: bool, one: usize, other: usize) -> Result<(), Abort> {
        let messages = [public_message(rep, &[&vec![0; one]])?, public_message(rep, &[&vec![0; other]])?];
        let sha = Sharp::new(&Settings::new("sha3-256".parse().unwrap()), Priority::LowLatency)?;
        sha.hash(rep, &messages[usize::from(odd)]).map(drop)
    }
    // the first party has messages of these lengths, and the odd one expects them in another order
    fn owned(rep: &mut Rep3, odd: bool, mut lengths: [usize; 3], swapped: [usize; 2]) -> Result<(), Abort> {
        let (me, owner) = (rep.trio().me(), PartyId::new(1).unwrap());
        let own = lengths.map(|length| vec![7; length]);
        let own = own.each_ref().map(Vec::as_slice);
        if odd {
            lengths.swap(swapped[0], swapped[1]);
        }
        input_message(rep, owner, &lengths, (me == owner).then_some(&own[..])).map(drop)
    }
    fn last_of_many(rep: &mut Rep3, last: &[u8]) -> Result<(), Abort> {
        let mut messages = vec![&b"abc"[..]; 1100];
        messages[1099] = last;
        public_message(rep, &messages).map(drop)
    }
    let uses: [(&str, Use); 10] = [
        ("the first lengths of an owner's messages", |rep, odd| owned(rep, odd, [1, 3, 3], [0, 1])),
        ("the last lengths of an owner's messages", |rep, odd| owned(rep, odd, [3, 1, 3], [1, 2])),
        ("the first of two messages", |rep, odd| {
            public_message(rep, &[if odd { b"abd" } else { b"abc" }, b"abc"]).map(drop)
        }),
        ("the last of two messages", |rep, odd| {
            public_message(rep, &[b"abc", if odd { b"abd" } else { b"abc" }]).map(drop)
        }),
        ("the last of many messages", |rep, odd| last_of_many(rep, if odd { b"abd" } else { b"abc" })),
        ("the length of the last of many", |rep, odd| last_of_many(rep, if odd { b"ab" } else { b"abc" })),
        ("a length that is 256 more", |rep, odd| lengths(rep, odd, 1, 257)),
        ("a length that is 65,536 more", |rep, odd| lengths(rep, odd, 0, 65_536)),
        ("an algorithm", |rep, odd| hash(rep, if odd { "sha256" } else { "sha3-256" }, Priority::LowLatency)),
        ("how it adds", |rep, odd| {
            hash(rep, "sha256", if odd { Priority::TotalThroughput } else { Priority::LowLatency })
        }),
    ];
    for (what, used) in uses {
        is_compared(checks::A25, what, &[2], |trio, odd| used(&mut engine(trio), odd));
    }
}

/// What is public about a hash or MAC is compared before it is computed, whichever part of it differs.
#[test]
fn each_setting_is_compared() {
    type Change = fn(&mut Settings);
    let changes: [(&str, &str, Change); 9] = [
        ("its name", "cshake128", |of| of.algorithm = "cshake256".parse().unwrap()),
        ("the customization", "cshake128", |of| of.customization = b"b".to_vec()),
        ("the function", "cshake128", |of| of.function = b"b".to_vec()),
        ("bytes of output", "cshake128", |of| of.output_bytes += 1),
        ("bits of output", "cshake128", |of| of.spare_output_bits = 1),
        ("the customization", "kmac128", |of| of.customization = b"b".to_vec()),
        ("bits of output", "kmac128", |of| of.spare_output_bits = 1),
        ("bits of the key", "kmac128", |of| of.spare_key_bits = 1),
        ("the other form", "kmac128", |of| of.xof = true),
    ];
    for (what, name, change) in changes {
        is_compared(checks::A25, &format!("{what} of {name}"), &[3], |trio, odd| {
            let (rep, mode) = (&mut engine(trio), Priority::LowLatency);
            let mut settings = Settings { output_bytes: 32, ..Settings::new(name.parse().unwrap()) };
            (settings.customization, settings.function) = (b"a".to_vec(), Vec::new());
            if odd {
                change(&mut settings);
            }
            if settings.algorithm.is_mac() {
                return Macnifico::new(&settings, mode)?.dist_key_gen(rep).map(drop);
            }
            let message = public_message(rep, &[b"abc"])?;
            Sharp::new(&settings, mode)?.hash(rep, &message).map(drop)
        });
    }
}
