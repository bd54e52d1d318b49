//! Messages that differ from an authentic one in a single byte of what is compared: a comparison of fewer
//! bytes would accept one of them. They are made with the key, by AES alone.

use super::*;
use divisi_rep3::lab::run;

fn xor(x: &[u8], y: &[u8]) -> Vec<u8> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

/// W (SP 800-38F, 6.1) of an integrity value of one's own choice.
fn wrapped(key: &[u8], mut a: [u8; 8], halves: &[u8]) -> Vec<u8> {
    let n = halves.len() / 8;
    let mut r: Vec<[u8; 8]> = halves.as_chunks().0.to_vec();
    for t in 1..=6 * n {
        let both: Vec<u8> = [a, r[(t - 1) % n]].concat();
        let out = block(key, Direction::Encrypt, both.try_into().unwrap());
        let (first, second) = out.split_at(8);
        a = (u64::from_be_bytes(first.try_into().unwrap()) ^ t as u64).to_be_bytes();
        r[(t - 1) % n] = second.try_into().unwrap();
    }
    [vec![a], r].concat().concat()
}

/// The key stream of SIV under an IV (RFC 5297, 2.5).
fn siv_stream(key: &[u8], iv: &[u8], bytes: usize) -> Vec<u8> {
    let mut first: [u8; 16] = iv.try_into().unwrap();
    first[8] &= 0x7f;
    first[12] &= 0x7f;
    let counters = (0..).map(|i| (u128::from_be_bytes(first) + i).to_be_bytes());
    let stream = counters.flat_map(|counter| block(&key[16..], Direction::Encrypt, counter));
    stream.take(bytes).collect()
}

/// The key stream of GCM-SIV under a tag (RFC 8452, 4).
fn gcm_siv_stream(key: &[u8], tag: &[u8], bytes: usize) -> Vec<u8> {
    let half = |i: u32| {
        let input = [&i.to_le_bytes()[..], &NONCE].concat();
        block(key, Direction::Encrypt, input.try_into().unwrap())[..8].to_vec()
    };
    let own = [half(2), half(3)].concat();
    let mut first: [u8; 16] = tag.try_into().unwrap();
    first[15] |= 0x80;
    let counters = (0..).map(|i: u32| {
        let mut counter = first;
        let count = u32::from_le_bytes(first[..4].try_into().unwrap()).wrapping_add(i);
        counter[..4].copy_from_slice(&count.to_le_bytes());
        counter
    });
    counters.flat_map(|counter| block(&own, Direction::Encrypt, counter)).take(bytes).collect()
}

/// Messages of which one byte of what is compared is wrong, each byte in turn.
fn forged(mode: Mode) -> Vec<Sealed> {
    let (key, message) = (mode.key(), mode.message());
    let wrap = |a: [u8; 8], halves: &[u8]| {
        let ciphertext = wrapped(&key, a, halves);
        Sealed { aad: AAD.to_vec(), ciphertext, tag: Vec::new() }
    };
    if mode == Mode::Kw {
        assert_eq!(wrap([0xa6; 8], &message).ciphertext, mode.sealed().ciphertext);
        let wrong = |i: usize| std::array::from_fn(|j| 0xa6 ^ u8::from(i == j) << i);
        return (0..8).map(|i| wrap(wrong(i), &message)).collect();
    }
    if mode == Mode::Kwp {
        let filled = [&message[..], &[0; 3]].concat();
        let value = |constant: [u8; 4], bytes: u32| -> [u8; 8] {
            [constant, bytes.to_be_bytes()].concat().try_into().unwrap()
        };
        let icv2 = [0xa6, 0x59, 0x59, 0xa6];
        assert_eq!(wrap(value(icv2, 29), &filled).ciphertext, mode.sealed().ciphertext);
        let constant = |i: usize| std::array::from_fn(|j| icv2[j] ^ u8::from(i == j));
        let mut all: Vec<Sealed> = (0..4).map(|i| wrap(value(constant(i), 29), &filled)).collect();
        // lengths that no message of this many semiblocks has, in each byte of them
        let lengths = [0, 24, 33, 29 ^ 1 << 8, 29 ^ 1 << 16, 29 ^ 1 << 24, 29 ^ 1 << 31];
        all.extend(lengths.map(|bytes| wrap(value(icv2, bytes), &filled)));
        // the padding must be zero: here one byte of it is not
        all.extend((29..32).map(|at| wrap(value(icv2, 29), &changed_at(&filled, at, 1))));
        return all;
    }
    let sealed = mode.sealed();
    let stream = |tag: &[u8]| match mode {
        Mode::Siv => siv_stream(&key, tag, message.len()),
        Mode::GcmSiv => gcm_siv_stream(&key, tag, message.len()),
        // the counters of CCM are those of the nonce
        _ => xor(&sealed.ciphertext, &message),
    };
    // the key stream that is made here is the right one
    assert_eq!(xor(&stream(&sealed.tag), &message), sealed.ciphertext);
    let wrong = |i: usize| {
        let tag = changed_at(&sealed.tag, i, 1 << (i % 8));
        Sealed { aad: AAD.to_vec(), ciphertext: xor(&stream(&tag), &message), tag }
    };
    (0..16).map(wrong).collect()
}

/// A message is refused, whichever byte of the compared value is wrong.
#[test]
fn every_byte_of_what_is_compared_counts() {
    for mode in ALL {
        let (key, sealed, forged) = (dealt(mode), mode.sealed(), forged(mode));
        let results = run(|trio| {
            let (mut e, key) = begun(trio, mode, &key, Security::Malicious)?;
            let forged = forged.iter().map(|forged| unsealed(&mut e, mode, &key, forged));
            let forged = forged.collect::<Result<Vec<_>, _>>()?;
            Ok((forged, unsealed(&mut e, mode, &key, &sealed)?))
        });
        for (forged, right) in results.unwrap() {
            assert_eq!(right, Some(mode.message()), "{mode:?}");
            for (i, message) in forged.into_iter().enumerate() {
                assert_eq!(message, None, "{mode:?} {i}");
            }
        }
    }
}

/// Each of several messages that are opened together has its own verdict, and only the authentic ones leave.
#[test]
fn of_several_texts_each_has_its_verdict() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        let wrong = Sealed { ciphertext: changed_at(&sealed.ciphertext, 3, 1), ..sealed.clone() };
        for rights in [[true, false, true], [false, false, true], [true, true, false], [false; 3]] {
            let all: Vec<Sealed> =
                rights.iter().map(|right| if *right { sealed.clone() } else { wrong.clone() }).collect();
            let results = run(|trio| {
                let (mut e, key) = begun(trio, mode, &key, Security::Malicious)?;
                let released = mode.open(&mut e, &key, &all)?.release(&mut e)?;
                let messages = released.messages.map(|messages| e.trio().open(&messages)).transpose()?;
                Ok((released.claims, messages))
            });
            let held = rights.map(|right| right.then_some(if mode == Mode::Kwp { 3 } else { 0 }));
            let good = rights.iter().filter(|right| **right).count();
            let mut message = mode.message();
            message.resize(message.len().next_multiple_of(if mode == Mode::Kwp { 8 } else { 1 }), 0);
            let columns = message.iter().map(|byte| vec![*byte; good]).collect::<Vec<_>>();
            for (claims, messages) in results.unwrap() {
                assert_eq!(claims, held, "{mode:?}");
                assert_eq!(messages, (good > 0).then(|| columns.clone()), "{mode:?}");
            }
        }
    }
}

/// A tag depends on every byte of its associated data, and on their number.
#[test]
fn all_that_is_authenticated_counts() {
    for mode in [Mode::Siv, Mode::Ccm, Mode::GcmSiv] {
        let (sealed, message) = (mode.sealed(), mode.message());
        let e = &mut Plain;
        let key = super::public(e, &mode.key());
        let key = mode.ready(e, &key).unwrap();
        let mut is_taken = |sealed: &Sealed| {
            let undecided = mode.open(e, &key, std::slice::from_ref(sealed)).unwrap();
            let message = undecided.release_one(e).unwrap();
            message
                .map(|message| message.into_inner().iter().map(|byte| byte.values()[0]).collect::<Vec<u8>>())
        };
        assert_eq!(is_taken(&sealed), Some(message));
        let mut others = vec![AAD[1..].to_vec(), AAD[..19].to_vec(), Vec::new()];
        others.extend([&[0][..], &[0; 12], &[0x80]].map(|end| [&AAD[..], end].concat()));
        others.extend((0..AAD.len()).map(|at| changed_at(&AAD, at, 1)));
        for aad in others {
            assert_eq!(is_taken(&Sealed { aad: aad.clone(), ..sealed.clone() }), None, "{mode:?} {aad:?}");
        }
    }
}
