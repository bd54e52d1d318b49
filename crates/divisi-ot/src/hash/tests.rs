//! Hashes of a batch are those of each call; each name has its own key, each call its own tweak.

use super::keyed::Family;
use super::*;
use aes::Block;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use std::collections::HashSet;

fn party(number: u8) -> PartyId {
    PartyId::new(number).unwrap()
}

fn place(step: u8, from: u8, to: u8) -> CallSeries {
    CallSeries::new(step, party(from), party(to))
}

fn one(session: u8, place: CallSeries, targets: u64, x: u128, tweak: Tweak) -> u128 {
    let mut x = [x];
    Calls::new(&Aes::new(&[session; 32]), place, targets).hash(&mut x, |_| tweak);
    x[0]
}

#[test]
fn a_batch_of_any_length_is_the_hash_of_each() {
    let (place, targets) = (place(FIRST_STEP, 1, 2), 512);
    for first in [0, 3, (1 << 40) - 5] {
        let tweak = |i: usize| Tweak { unit: first + i as u64 / 3, row: i as u8 % 3 };
        let x: Vec<u128> =
            (0..200).map(|i| (i as u128).wrapping_mul(0x1234_5678_9abc_def0_0fed_cba9)).collect();
        let mut whole = x.clone();
        Calls::new(&Aes::new(&[7; 32]), place, targets).hash(&mut whole, tweak);
        for (i, x) in x.iter().enumerate() {
            assert_eq!(one(7, place, targets, *x, tweak(i)), whole[i]);
        }
        assert_eq!(whole.iter().collect::<HashSet<_>>().len(), 200);
    }
}

/// The key of a named hash is the expanded digest of its name, with all its bits.
#[test]
#[cfg(feature = "testing")]
fn a_named_hash_has_the_whole_key_of_its_name() {
    let ends = divisi_core::testing::run(2, &divisi_core::PublicParameters::new("names"), |session| {
        for name in 0..40 {
            let calls = TweakableHash::named(&session, &[name; 32]);
            let mut key = [0; 16];
            let mut hasher =
                blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash of a name v1");
            hasher.update(session.id().as_bytes()).update(&[name; 32]).finalize_xof().fill(&mut key);
            let (mut x, mut want) = ([5], [5]);
            let tweak = |_| Tweak { unit: 1, row: 0 };
            Calls::new(&calls.0, place(FIRST_STEP, 1, 2), 512).hash(&mut x, tweak);
            Calls::new(&Aes(Permutation::new(&key)), place(FIRST_STEP, 1, 2), 512).hash(&mut want, tweak);
            assert_eq!(x, want, "{name}");
        }
        Ok(())
    });
    ends.into_iter().for_each(Result::unwrap);
}

#[test]
fn whole_units_are_hashed_as_their_inputs_are() {
    fn compare<const ROWS: usize, const EACH: usize>() {
        let (place, targets) = (place(FIRST_STEP, 1, 2), 512);
        let per = ROWS * EACH;
        for (first, units) in [(0, 0), (0, 1), (2, 3), (5, 40), ((1 << 40) - 5, 75)] {
            let x: Vec<u128> =
                (0..units * per).map(|i| i as u128 * 0x1234_5678_9abc_def0_0fed_cba9).collect();
            let tweak = |i: usize| Tweak { unit: first + (i / per) as u64, row: (i / EACH % ROWS) as u8 };
            let (mut want, mut out) = (x.clone(), x);
            let family = Aes::new(&[7; 32]);
            let mut calls = Calls::new(&family, place, targets);
            calls.hash(&mut want, tweak);
            calls.hash_units::<ROWS, EACH>(&mut out, first);
            assert_eq!(want, out, "{ROWS} {EACH} {first} {units}");
        }
    }
    compare::<1, 1>();
    compare::<1, 2>();
    compare::<2, 1>();
    compare::<2, 2>();
    compare::<3, 5>();
}

/// A run ends before a unit of another block.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "units do not decrease")]
fn units_out_of_order_are_noticed() {
    let unit = |i: usize| [0, 5000, 0][i];
    Calls::new(&Aes::new(&[7; 32]), place(FIRST_STEP, 1, 2), 512)
        .hash(&mut [1, 2, 3], |i| Tweak { unit: unit(i), row: 0 });
}

#[test]
fn an_expansion_is_the_hash_at_each_block() {
    let family = Aes::new(&[8; 32]);
    let place = place(FIRST_STEP, 2, 1);
    let tweak = |i: usize| Tweak { unit: i as u64 + 5, row: 1 };
    for (inputs, blocks) in [(0, 3), (1, 1), (64, 2), (65, 3), (150, 5), (40, 129)] {
        let targets = 2 * blocks as u64;
        let x: Vec<u128> = (0..inputs).map(|i| i as u128 * 0x1234_5678_9abc_def0_0fed_cba9).collect();
        let mut out = vec![0; inputs * blocks];
        // the same in two calls as in one
        let (first, second) = out.split_at_mut(inputs / 2 * blocks);
        let mut calls = Calls::new(&family, place, targets);
        calls.expand(&x[..inputs / 2], blocks, tweak, first);
        calls.expand(&x[inputs / 2..], blocks, |i| tweak(inputs / 2 + i), second);
        for (i, out) in out.iter().enumerate() {
            let (unit, block) = (i / blocks + 5, i % blocks);
            let key = family.under(place.key(unit as u64 / units_of_a_key(targets)));
            let mut pi = [x[i / blocks]];
            key.permute(&mut pi);
            let mut word = [pi[0] ^ (tweak(i / blocks).word(place) + block as u128)];
            key.permute(&mut word);
            assert_eq!(word[0] ^ pi[0], *out, "{inputs} {blocks} {i}");
        }
    }
}

/// Without the feed-forward everybody who knows the key (and all parties do) could invert the hash.
#[test]
fn undoing_the_permutation_does_not_undo_the_hash() {
    // the session's key, and from it the key of one name
    let mut key = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 correlation robust hash v2");
    hasher.update(&[9; 32]).finalize_xof().fill(&mut key);
    let (place, tweak) = (place(FIRST_STEP, 1, 2), Tweak { unit: 1024 + 5, row: 3 });
    let mut name: Block = (u128::from(0x0002_0110_u32) << 64 | 1).to_le_bytes().into();
    aes::Aes128::new(&key.into()).encrypt_block(&mut name);
    let back = aes::Aes128::new(&name);
    let undo = |y: u128| {
        let mut block: Block = y.to_le_bytes().into();
        back.decrypt_block(&mut block);
        u128::from_le_bytes(block.into())
    };
    let x = 0x0123_4567_89ab_cdef_u128;
    let y = one(9, place, 1, x, tweak);
    let tweak = u128::from(0x0302_0110_u32) << 64 | (1024 + 5) << 8;
    assert_ne!(undo(undo(y) ^ tweak), x);
    assert_ne!(undo(y ^ tweak), x);
    // it is TMMO: the rest follows once pi(x) is known
    let mut pi: Block = x.to_le_bytes().into();
    back.encrypt_block(&mut pi);
    let pi = u128::from_le_bytes(pi.into());
    assert_eq!(undo(y ^ pi) ^ tweak, pi);
}

/// Each part of a name changes the hash; no two names have one key, and no two tweaks of a name are
/// equal.
#[test]
fn no_key_and_tweak_come_twice() {
    let (mut names, mut words, mut outputs) = (HashSet::new(), HashSet::new(), HashSet::new());
    let places = [(16, 1, 2), (17, 1, 2), (16, 2, 1), (16, 1, 3), (1, 128, 127)];
    // no bit of a number is cut off
    let numbers = |bits: u32| [0, 1023, (1 << bits) - 1].into_iter().chain((0..bits).map(|bit| 1 << bit));
    for place in places.map(|(step, from, to)| place(step, from, to)) {
        for block in numbers(46) {
            assert!(names.insert(place.key(block)));
        }
        for unit in numbers(56) {
            for row in [0, 1, 7] {
                let tweak = Tweak { unit, row };
                // the 256 blocks of one tweak lie below the next tweak
                assert!((0..256).all(|block| words.insert(tweak.word(place) + block)));
                assert!(outputs.insert(one(1, place, 1, 1, tweak)));
            }
        }
    }
    for session in 2..100 {
        assert!(outputs.insert(one(session, place(16, 1, 2), 1, 1, Tweak { unit: 0, row: 0 })));
    }
}

/// Under no key are there more targets than the reported security allows.
#[test]
fn every_key_keeps_its_bits() {
    assert_eq!(COMPUTATIONAL_BITS, 117);
    for targets in 1..=TARGETS {
        let of_a_key = units_of_a_key(targets) * targets;
        assert!(units_of_a_key(targets) <= 1024);
        assert!(remaining_bits(of_a_key) >= f64::from(COMPUTATIONAL_BITS), "{targets}");
    }
    assert_eq!(remaining_bits(1 << 11), 117.0);
    assert_eq!(remaining_bits(1), 128.0);
}
