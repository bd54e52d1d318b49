//! What the ciphers ask of an engine: layers, products and rounds, by an engine that counts.

use crate::engine::Counting;
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Plain};
use divisi_field::{Field, Gf128};
use divisi_symmetric::aes::{self, KeySize};
use divisi_symmetric::mode::gcm;
use divisi_symmetric::mode::ghash::{Ghash, Powers, Steps, powers};
use divisi_symmetric::suite::Samples;
use proptest::prelude::*;

type Byte = <Plain as Bytes>::Byte;
type Block = <Plain as Blocks>::Block;

fn key(size: KeySize) -> Vec<Byte> {
    (0..size.bytes()).map(|i| Plain.public(&[i as u8, 1])).collect()
}

/// Secret blocks with these values.
fn blocks(values: &[u128]) -> Block {
    let bytes: [Byte; 16] = std::array::from_fn(|i| {
        let column: Vec<u8> = values.iter().map(|&x| Gf128::from_low_bits(x).to_ghash()[i]).collect();
        Plain.public(&column)
    });
    Plain.convert(bytes).unwrap()
}

fn elements(samples: &mut Samples, n: usize) -> Vec<u128> {
    (0..n).map(|_| u128::from(samples.word()) << 64 | u128::from(samples.word())).collect()
}

/// GHASH as the standard defines it (SP 800-38D, algorithm 2).
fn horner(h: u128, string: &[u128]) -> u128 {
    let h = Gf128::from_low_bits(h);
    string.iter().fold(Gf128::ZERO, |y, &x| (y + Gf128::from_low_bits(x)) * h).to_bits()
}

fn misuse<R>(result: Result<R, Abort>) {
    assert!(matches!(result, Err(Abort::Misuse { .. })));
}

#[test]
fn the_schedule_has_one_layer_a_subword() {
    for (size, layers) in KeySize::ALL.into_iter().zip([10, 8, 13]) {
        let e = &mut Counting::default();
        let round_keys = aes::expand(e, &key(size)).unwrap();
        assert_eq!((e.layers, e.sboxes, round_keys.lanes()), (layers, layers * 4 * 2, 2));
    }
}

#[test]
fn the_cipher_has_one_layer_a_round() {
    for (size, rounds) in KeySize::ALL.into_iter().zip([10, 12, 14]) {
        let round_keys = aes::expand(&mut Counting::default(), &key(size)).unwrap().gather(&[1]).unwrap();
        let mut state = std::array::from_fn(|i| Plain.public(&[i as u8; 5]));
        let e = &mut Counting::default();
        aes::encrypt(e, &round_keys, &mut state).unwrap();
        assert_eq!((e.layers, e.sboxes), (rounds, rounds * 16 * 5));
        aes::decrypt(e, &round_keys, &mut state).unwrap();
        assert_eq!((e.layers, e.sboxes), (2 * rounds, 2 * rounds * 16 * 5));
        assert!(state.iter().enumerate().all(|(i, byte)| byte.values() == [i as u8; 5]));
    }
}

#[test]
fn keys_and_states_that_do_not_fit_are_misuse() {
    let e = &mut Plain;
    for bytes in [0, 15, 17, 33] {
        let key: Vec<Byte> = (0..bytes).map(|_| e.public(&[1])).collect();
        misuse(aes::expand(e, &key));
    }
    let mut uneven = key(KeySize::Aes128);
    uneven[5] = e.public(&[1]);
    misuse(aes::expand(e, &uneven));
    let round_keys = aes::expand(e, &key(KeySize::Aes128)).unwrap();
    let mut state = std::array::from_fn(|_| Plain.public(&[0; 3]));
    misuse(aes::encrypt(e, &round_keys, &mut state));
    assert!(round_keys.gather(&[2]).is_none());
}

#[test]
fn powers_cost_their_odd_exponents() {
    let samples = &mut Samples::new(7);
    for m in (0..=70).chain([127, 128, 1024]) {
        let h = elements(samples, 3);
        let e = &mut Counting::default();
        let table = powers(e, &blocks(&h), m).unwrap();
        let expected: Vec<u128> = h
            .iter()
            .flat_map(|&h| (1..=m).map(move |i| horner(h, &[&[1][..], &vec![0; i - 1]].concat())))
            .collect();
        assert_eq!(table.values(), expected, "{m}");
        let bits = (1..=m).map(usize::count_ones).max().unwrap_or(1);
        let rounds = u64::from(bits.next_power_of_two().ilog2());
        assert_eq!((e.products, e.rounds), (3 * m.div_ceil(2).saturating_sub(1), rounds), "{m}");
    }
    assert!(powers(&mut Plain, &blocks(&[]), 5).unwrap().values().is_empty());
}

#[test]
fn a_hash_of_up_to_m_blocks_is_local_and_longer_ones_take_a_round_a_fold() {
    let samples = &mut Samples::new(8);
    let h = elements(samples, 1);
    for steps in [(4, 3), (1, 1), (3, 1), (1, 3), (5, 2)].map(|(m, giant)| Steps::new(m, giant).unwrap()) {
        for n in 1..=60 {
            let string = elements(samples, n);
            let powers = Powers::new(&mut Plain, &blocks(&h), steps, n as u64).unwrap();
            let e = &mut Counting::default();
            let mut ghash = Ghash::new(steps, n as u64);
            ghash.absorb(e, &powers, &string).unwrap();
            assert_eq!(ghash.finish().unwrap().values(), [horner(h[0], &string)], "{steps:?}, {n} blocks");
            // each fold multiplies every chunk but its last one, and the result of the folds before: in all,
            // one product less than there are chunks
            let chunks = n.div_ceil(steps.baby());
            assert_eq!((e.rounds, e.products), (steps.rounds(n as u64), chunks - 1), "{steps:?}, {n} blocks");
            assert!(chunks > 1 || e.rounds == 0);
        }
    }
}

#[test]
fn the_standard_steps_reach_the_longest_message() {
    let longest = gcm::Lengths::new(0, 16 * gcm::MAX_BLOCKS).unwrap().hash_blocks();
    assert_eq!((Steps::STANDARD.giants(longest), Steps::STANDARD.rounds(longest)), (4096, 1024));
    assert_eq!((Steps::STANDARD.giants(1024), Steps::STANDARD.giants(1025)), (0, 1));
    assert_eq!(Steps::STANDARD.giants(u64::MAX), 4096);
    assert!(
        Steps::new(0, 1).is_none() && Steps::new(1, 0).is_none() && Steps::new(Steps::LIMIT + 1, 1).is_none()
    );
}

#[test]
fn strings_and_powers_that_do_not_fit_are_misuse() {
    let e = &mut Plain;
    let steps = Steps::new(4, 3).unwrap();
    let powers = Powers::new(e, &blocks(&[3]), steps, 4).unwrap();
    let mut longer = Ghash::new(steps, 2);
    misuse(longer.absorb(e, &powers, &[1, 2, 3]));
    let mut shorter = Ghash::new(steps, 3);
    shorter.absorb(e, &powers, &[1, 2]).unwrap();
    misuse(shorter.finish());
    let enough = Powers::new(e, &blocks(&[3]), steps, 17).unwrap();
    let mut folded_once = Ghash::new(steps, 17);
    folded_once.absorb(e, &enough, &[1; 5]).unwrap();
    misuse(folded_once.finish());
    misuse(Ghash::<Block>::new(steps, 0).finish());
    misuse(Ghash::new(steps, 5).absorb(e, &powers, &[1; 5])); // no giant step was made
    misuse(Ghash::new(Steps::STANDARD, 1).absorb(e, &powers, &[1]));
    misuse(Ghash::new(Steps::new(4, 2).unwrap(), 1).absorb(e, &powers, &[1]));
    for lanes in [3, 8] {
        misuse(Powers::from_baby_steps(e, blocks(&vec![1; lanes]), steps, 4));
    }

    let lengths = gcm::Lengths::new(20, 20).unwrap();
    let powers = Powers::new(e, &blocks(&[3]), steps, lengths.hash_blocks()).unwrap();
    let start = || gcm::GhashState::new(steps, lengths);
    misuse(start().aad(e, &powers, &[0; 21]));
    misuse(start().message(e, &powers, &[0; 1]));
    let mut hash = start();
    hash.aad(e, &powers, &[0; 20]).unwrap();
    hash.message(e, &powers, &[0; 7]).unwrap();
    misuse(hash.aad(e, &powers, &[]));
    misuse(hash.message(e, &powers, &[0; 14]));
    misuse(hash.finish(e, &powers));
    // an end that was not known is said once, up to the longest length, and behind what was processed
    misuse(start().end_at(20));
    let mut open = gcm::GhashState::open_ended(steps, lengths);
    misuse(open.end_at(21));
    misuse(open.end_at(256 + 20));
    open.aad(e, &powers, &[0; 20]).unwrap();
    open.end_at(20).unwrap();
    misuse(open.end_at(20));
    let mut open = gcm::GhashState::open_ended(steps, gcm::Lengths::new(0, 32).unwrap());
    open.message(e, &powers, &[0; 16]).unwrap();
    misuse(open.end_at(0));
    misuse(open.end_at(16));
    open.end_at(17).unwrap();
}

proptest! {
    #[test]
    fn any_cut_of_a_message_gives_the_same_hash(
        seed: u64,
        baby in 1usize..=5,
        giant in 1usize..=4,
        aad in 0usize..700,
        text in 0usize..1500,
        cuts in prop::collection::vec(0usize..200, 1..6),
    ) {
        let samples = &mut Samples::new(seed);
        let e = &mut Plain;
        let (aad, text) = (samples.bytes(aad), samples.bytes(text));
        let lengths = gcm::Lengths::new(aad.len() as u64, text.len() as u64).unwrap();
        let (steps, h) = (Steps::new(baby, giant).unwrap(), elements(samples, 1));
        let powers = Powers::new(e, &blocks(&h), steps, lengths.hash_blocks()).unwrap();

        let piece = |(i, cut): (usize, &usize)| if i >= cuts.len() { cut + 1 } else { *cut };
        let mut pieces = cuts.iter().cycle().enumerate().map(piece);
        let mut hash = gcm::GhashState::new(steps, lengths);
        let mut cut = |bytes: &[u8]| {
            let (mut rest, mut all) = (bytes.to_vec(), Vec::new());
            while !rest.is_empty() {
                let later = rest.split_off(rest.len().min(pieces.next().unwrap()));
                all.push(std::mem::replace(&mut rest, later));
            }
            all
        };
        cut(&aad).iter().for_each(|piece| hash.aad(e, &powers, piece).unwrap());
        cut(&text).iter().for_each(|piece| hash.message(e, &powers, piece).unwrap());
        let hashed = hash.finish(e, &powers).unwrap();

        let mut string = Vec::new();
        for part in [&aad, &text] {
            let mut filled = part.clone();
            filled.resize(part.len().next_multiple_of(16), 0);
            string.extend(filled);
        }
        string.extend(lengths.length_block());
        let string: Vec<u128> =
            string.as_chunks().0.iter().map(|block| Gf128::from_ghash(*block).to_bits()).collect();
        prop_assert_eq!(hashed.values(), [horner(h[0], &string)]);
        let whole = gcm::hash(e, &powers, &aad, &text).unwrap();
        prop_assert_eq!(whole.values(), hashed.values());
    }
}
