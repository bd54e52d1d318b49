//! What the protocols cost, to the bit: the paper's counts, the verification's logarithm, and the checks by formula.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::Outputs;
use divisi_core::{Check, Counts, Direction};
use divisi_rep3::lab::Rep3Lab;
use divisi_rep3::{Protocol, Security};
use divisi_symmetric::aes::{self, KeySize};
use std::collections::BTreeMap;

/// How many variables the first fold of a verification has.
const FOLDS: u64 = 2;
/// Relations that an S-box is verified by.
const RELATIONS: u64 = 2;
const COIN: u64 = 128;

/// Bits and rounds of one S-box.
fn sbox(protocol: Protocol) -> (u64, u32) {
    match protocol {
        Protocol::Gf8Circuit => (32, 3),
        Protocol::Gf4Circuit => (20, 4),
        other => panic!("{other} has no cost here"),
    }
}

/// AES of this size on `lanes` blocks under one key: the key schedule is counted as "setup", the cipher as "online".
fn run(protocol: Protocol, security: Security, size: KeySize, direction: Direction, lanes: usize) -> Counts {
    let lab = Rep3Lab { protocol, security };
    let key = (0..size.bytes()).map(|i| vec![i as u8]);
    let inputs: Vec<Vec<u8>> = key.chain((0..16).map(|i| vec![0x11 * i as u8; lanes])).collect();
    let (opened, counts) = lab
        .metered(&inputs, |e, bytes| {
            let (key, state) = bytes.split_at(size.bytes());
            e.trio().session().phase("setup");
            let round_keys = aes::expand(e, key)?;
            e.trio().session().phase("online");
            let mut state: [_; 16] = std::array::from_fn(|i| state[i].clone());
            match direction {
                Direction::Encrypt => aes::encrypt(e, &round_keys, &mut state)?,
                Direction::Decrypt => aes::decrypt(e, &round_keys, &mut state)?,
            }
            Ok(Outputs::bytes(state))
        })
        .unwrap();
    if (size, direction) == (KeySize::Aes128, Direction::Encrypt) {
        assert_eq!((opened.bytes[0][0], opened.bytes[15][lanes - 1]), (0x69, 0x5a)); // FIPS 197, C.1
    }
    counts
}

#[test]
fn aes_128_costs_what_the_paper_says() {
    for (protocol, bits, rounds) in [(Protocol::Gf8Circuit, 5120, 30), (Protocol::Gf4Circuit, 3200, 40)] {
        for blocks in [1, 512, 600] {
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let counts = run(protocol, Security::SemiHonest, KeySize::Aes128, direction, blocks);
                let online = counts.phases["online"];
                assert_eq!(
                    (online.bits, online.rounds),
                    (bits * blocks as u64, rounds),
                    "{protocol} {direction:?}"
                );
            }
        }
    }
}

#[test]
fn longer_keys_cost_in_proportion_to_their_rounds() {
    for protocol in Protocol::ALL.iter().copied() {
        let (bits, rounds) = sbox(protocol);
        for size in KeySize::ALL {
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let counts = run(protocol, Security::SemiHonest, size, direction, 3);
                let online = counts.phases["online"];
                let layers = size.rounds() as u64;
                assert_eq!((online.bits, online.rounds), (3 * 16 * bits * layers, rounds * layers as u32));
                let subwords = [10, 8, 13][KeySize::ALL.iter().position(|s| *s == size).unwrap()];
                let setup = counts.phases["setup"];
                assert_eq!((setup.bits, setup.rounds), (4 * bits * subwords, rounds * subwords as u32));
                assert!(
                    !counts.phases.contains_key("verification")
                        || counts.phases["verification"].bits == 16 * 8 * 3
                );
            }
        }
    }
}

#[test]
fn active_security_costs_the_same_before_the_verification() {
    for protocol in Protocol::ALL.iter().copied() {
        let cost =
            |security| run(protocol, security, KeySize::Aes128, Direction::Encrypt, 5).phases["online"];
        let (semi_honest, malicious) = (cost(Security::SemiHonest), cost(Security::Malicious));
        assert_eq!((semi_honest.bits, semi_honest.rounds), (malicious.bits, malicious.rounds));
    }
}

/// How many levels fold `n` terms to one.
fn levels(n: u64) -> u64 {
    u64::from(n.next_power_of_two().trailing_zeros())
}

/// The terms of the inner product that is left after the first fold, for records of these lanes in this order.
fn terms(records: &[u64]) -> u64 {
    records.chunks(1 << FOLDS).map(|group| group.iter().max().unwrap() * RELATIONS).sum()
}

/// The payload of a verification of so many terms: 3^k - 2^k points of the first fold, two a level, four of CheckTriple, and coins.
fn verification_bits(terms: u64) -> u64 {
    let grid = 3u64.pow(FOLDS as u32) - 2u64.pow(FOLDS as u32);
    COIN + (grid * 64 + COIN) + levels(terms) * (2 * 64 + COIN) + (4 * 64 + COIN)
}

/// The records of AES with this key and so many blocks: key schedule, then 16 bytes a round, each in tiles of 512 lanes.
fn records(size: KeySize, subwords: usize, blocks: u64) -> Vec<u64> {
    let mut all = vec![1; 4 * subwords];
    for _ in 0..16 * size.rounds() {
        all.extend((0..blocks.div_ceil(512)).map(|t| (blocks - 512 * t).min(512)));
    }
    all
}

#[test]
fn a_verification_sends_as_many_elements_as_its_length_has_bits() {
    for protocol in Protocol::ALL.iter().copied() {
        let mut last = 0;
        for blocks in [1, 7, 64, 600] {
            let counts = run(protocol, Security::Malicious, KeySize::Aes128, Direction::Encrypt, blocks);
            let n = terms(&records(KeySize::Aes128, 10, blocks as u64));
            let opening = 16 * 8 * blocks as u64;
            assert_eq!(
                counts.phases["verification"].bits,
                verification_bits(n) + opening,
                "{protocol} {blocks}"
            );
            let expected = 64.0 - ((1 + 2 * FOLDS + 2 * levels(n) + 2) as f64).log2();
            assert!((counts.verification_error_bits.unwrap() - expected).abs() < 1e-9);
            assert!(verification_bits(n) > last);
            last = verification_bits(n);
        }
        // ten thousand times the blocks: not twice the bits
        let (one, many) =
            (terms(&records(KeySize::Aes128, 10, 1)), terms(&records(KeySize::Aes128, 10, 10_000)));
        assert!(verification_bits(many) < 3 * verification_bits(one));
    }
}

#[test]
fn a_hundred_thousand_blocks_in_one_call_leave_57_bits() {
    let n = terms(&records(KeySize::Aes256, 13, 100_000));
    let bits = 64.0 - ((1 + 2 * FOLDS + 2 * levels(n) + 2) as f64).log2();
    assert!(bits >= 57.0, "{bits}");
}

/// How often each check of a run must be executed (Q22), for encryption or decryption of few blocks.
fn census(direction: Direction) -> BTreeMap<Check, u64> {
    let levels = levels(terms(&records(KeySize::Aes128, 10, 3)));
    let coins = 2 + levels + 1;
    let reconsts = 2;
    let openings = 1;
    let mut census = BTreeMap::from([
        // the start: two peers each
        (Check::M0_1, 2),
        (Check::M0_3, 2),
        (Check::M0_4, 2),
        (Check::M0_5, 1),
        (Check::A3, 1),
        // the verification: a barrier with two peers, coins, levels, one triple
        (Check::A13, 1),
        (Check::A8, 1),
        (Check::A2, 2),
        (Check::A4, coins),
        (Check::M0_2, coins),
        (Check::A9, 1 + levels),
        (Check::A10, levels),
        (Check::A5, 1),
        (Check::A6, 1),
        (Check::A7, 1),
        (Check::A21, 1),
        (Check::A11, 1),
        (Check::A12, 1),
        (Check::A14, 1),
        (Check::A15, 1),
        (Check::M0_7, 1),
        (Check::A1, reconsts + openings),
        (Check::M0_6, 2 + coins + reconsts + openings),
    ]);
    if direction == Direction::Decrypt {
        census.insert(Check::A23, 10); // an inverse layer a round
    }
    census
}

#[test]
fn every_check_is_executed_as_often_as_its_formula_says() {
    for protocol in Protocol::ALL.iter().copied() {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let counts = run(protocol, Security::Malicious, KeySize::Aes128, direction, 3);
            assert_eq!(counts.checks, census(direction), "{protocol} {direction:?}");
        }
    }
}

#[test]
fn semi_honest_verifies_nothing_and_says_so() {
    for protocol in Protocol::ALL.iter().copied() {
        let counts = run(protocol, Security::SemiHonest, KeySize::Aes128, Direction::Decrypt, 3);
        let only = [Check::M0_1, Check::M0_3, Check::M0_4, Check::M0_5, Check::M0_6, Check::A1, Check::A3];
        assert!(counts.checks.keys().all(|check| only.contains(check)), "{:?}", counts.checks);
        assert_eq!(counts.verification_error_bits, None);
    }
}
