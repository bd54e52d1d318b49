//! What the protocols cost, to the bit: the paper's counts, the verification's logarithm, and the checks by
//! formula.

mod formulas;

use crate::common::prelude::*;
use divisi_core::Compares;
use divisi_rep3::adversary::lookups::PRODUCTS;
use divisi_rep3::lab;
use divisi_symmetric::aes::KeySize;
use formulas::{COSTS, Run, Verification, census, layer, of};

/// The bits and rounds of set-up, without the two rounds in which a session starts.
fn of_the_key(counts: &Counts) -> (u64, u32) {
    let (bits, rounds) = spent(counts, "setup");
    (bits, rounds - 2)
}

#[test]
fn aes_128_costs_what_the_paper_says() {
    let table = [
        (Protocol::Gf8Circuit, 0, 5120, 30),
        (Protocol::Gf4Circuit, 0, 3200, 40),
        (Protocol::Lut16, 1760, 2560, 20),
        (Protocol::Lut256, 39520, 1280, 10),
        (Protocol::Lut256Additive, 3520, 2560, 11),
    ];
    assert_eq!(table.map(|row| row.0), COSTS.map(|cost| cost.protocol));
    for (protocol, ahead, online, rounds) in table {
        for blocks in [1, 512, 600] {
            for direction in DIRECTIONS {
                // the key schedule by a circuit, so that all preprocessing is the cipher's
                let run = Run::aes_128(protocol, Security::SemiHonest, direction, blocks);
                let counts = Run { schedule: Protocol::Gf4Circuit, ..run }.counts();
                let n = blocks as u64;
                let costs = [spent(&counts, "preprocessing"), spent(&counts, "online")];
                let expected = [(ahead * n, of(protocol).ahead_rounds), (online * n, rounds)];
                assert_eq!(costs, expected, "{protocol} {direction:?} {blocks}");
            }
        }
    }
}

/// Table 1 counts lut256-additive without the Reshare that ends the chain: ten rounds.
#[test]
fn ten_additive_layers_take_ten_rounds_before_the_end_of_the_chain() {
    for security in SECURITIES {
        let lab = Rep3Lab { protocol: Protocol::Lut256Additive, security };
        let (_, counts) = lab
            .metered(&[vec![7; 16], vec![9; 16]], |e, mut bytes| {
                e.prepare(10, 2, 16)?;
                for _ in 0..10 {
                    e.sbox(Direction::Encrypt, &mut bytes.iter_mut().collect::<Vec<_>>())?;
                }
                e.trio().session().phase("end");
                e.finish(&mut bytes.iter_mut().collect::<Vec<_>>())?;
                Ok(Outputs::bytes(bytes))
            })
            .unwrap();
        // eight bits in the first layer, whose input is replicated, and eight at the end
        assert_eq!(spent(&counts, "online"), (32 * (8 + 9 * 16), 10));
        assert_eq!(spent(&counts, "end"), (32 * 8, 1));
    }
}

#[test]
fn one_hot_vectors_cost_what_the_paper_says() {
    for cost in COSTS.iter().filter(|cost| cost.ahead > 0) {
        for (layers, bytes, lanes) in [(1, 1, 1), (3, 2, 7), (1, 3, 1000)] {
            for security in SECURITIES {
                let counts = lab::run(|trio| {
                    let mut e = Rep3::new(trio, cost.protocol, security);
                    e.trio().session().phase("vectors");
                    let vectors = e.vectors(layers, bytes, lanes)?;
                    assert_eq!(vectors.len(), layers);
                    Ok(e.trio().session().meter().read())
                });
                let counts = counts.unwrap().swap_remove(0);
                let ahead = cost.ahead * (layers * bytes * lanes) as u64;
                if security == Security::SemiHonest {
                    let expected = (ahead, cost.ahead_rounds);
                    assert_eq!(spent(&counts, "vectors"), expected, "{}", cost.protocol);
                    continue;
                }
                let verification = Verification::ahead(cost, &vec![layer(bytes, lanes); layers]);
                assert_eq!(counts.phases["vectors"].bits, ahead + verification.bits(), "{}", cost.protocol);
                let (bits, expected) = (counts.verification_error_bits, verification.error_bits());
                assert!((bits.unwrap() - expected.unwrap()).abs() < 1e-9);
            }
        }
    }
}

/// Vectors are made ahead as far as there is room, the rest when they are due: never twice.
#[test]
fn vectors_for_which_there_is_no_room_are_made_later() {
    const BYTES: usize = 500;
    let lab = Rep3Lab { protocol: Protocol::Lut256, security: Security::SemiHonest };
    let (opened, counts) = lab
        .metered(&[vec![0x52; 512]], |e, bytes| {
            let mut x = vec![bytes[0].clone(); BYTES];
            e.prepare(8, BYTES, 512)?;
            let ahead = e.trio().session().meter().read().phases["preprocessing"].bits;
            let layer = 247 * (BYTES * 512) as u64;
            assert!((3 * layer..8 * layer).contains(&ahead) && ahead % layer == 0, "{}", ahead / layer);
            for _ in 0..4 {
                e.sbox(Direction::Encrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
                e.sbox(Direction::Decrypt, &mut x.iter_mut().collect::<Vec<_>>())?;
            }
            Ok(Outputs::bytes(x))
        })
        .unwrap();
    assert!(opened.bytes.iter().all(|byte| *byte == [0x52; 512]));
    assert_eq!(counts.phases["preprocessing"].bits, 8 * 247 * (BYTES * 512) as u64);
    assert_eq!(counts.phases["online"].bits, 8 * 8 * (BYTES * 512) as u64);
}

#[test]
fn longer_keys_cost_in_proportion_to_their_rounds() {
    for cost in &COSTS {
        // also the key schedule by the protocol itself, whichever it is
        for (size, direction) in KeySize::ALL.into_iter().flat_map(|size| DIRECTIONS.map(|d| (size, d))) {
            let run = Run { size, ..Run::aes_128(cost.protocol, Security::SemiHonest, direction, 3) };
            let counts = Run { schedule: cost.protocol, ..run }.counts();
            let layers = size.rounds() as u64;
            let online = spent(&counts, "online");
            assert_eq!(online, cost.online(1, layers, 16, 3), "{}", cost.protocol);
            let subwords = [10, 8, 13][KeySize::ALL.iter().position(|s| *s == size).unwrap()];
            let setup = of_the_key(&counts);
            assert_eq!(setup, cost.online(subwords, 1, 4, 1), "{}", cost.protocol);
            let ahead = spent(&counts, "preprocessing");
            // the vectors of the key schedule, then those of the cipher
            assert_eq!(ahead, (cost.ahead * (layers * 16 * 3 + subwords * 4), 2 * cost.ahead_rounds));
            assert_eq!(counts.phases["verification"].bits, 16 * 8 * 3); // the opening
        }
    }
}

#[test]
fn the_key_schedule_of_the_lookups_of_256_goes_by_the_circuit() {
    for protocol in COSTS.map(|cost| cost.protocol) {
        let schedule = protocol.for_key_schedule();
        let has_large_tables = matches!(protocol, Protocol::Lut256 | Protocol::Lut256Additive);
        assert_eq!(schedule, if has_large_tables { Protocol::Gf4Circuit } else { protocol });
        let counts = Run::aes_128(protocol, Security::SemiHonest, Direction::Encrypt, 3).counts();
        assert_eq!(of_the_key(&counts), of(schedule).online(10, 1, 4, 1));
    }
}

#[test]
fn active_security_costs_the_same_before_the_verification() {
    for protocol in Protocol::ALL.iter().copied() {
        for direction in DIRECTIONS {
            let run = |security| Run::aes_128(protocol, security, direction, 5).counts();
            let (semi_honest, malicious) = (run(Security::SemiHonest), run(Security::Malicious));
            for phase in ["setup", "online"] {
                let costs = [&semi_honest, &malicious].map(|counts| spent(counts, phase));
                assert_eq!(costs[0], costs[1], "{protocol} {direction:?} {phase}");
            }
        }
    }
}

#[test]
fn a_verification_sends_as_many_elements_as_its_length_has_bits() {
    for cost in &COSTS {
        let mut last = 0;
        for blocks in [1, 7, 64, 600] {
            let run = Run::aes_128(cost.protocol, Security::Malicious, Direction::Encrypt, blocks);
            let counts = run.counts();
            let mut verifications = run.verifications();
            let at_the_end = verifications.pop().unwrap();
            let opening = 16 * 8 * blocks as u64;
            let sent = counts.phases["verification"].bits;
            assert_eq!(sent, at_the_end.bits() + opening, "{} {blocks}", cost.protocol);
            // what is made ahead is verified ahead
            let mut ahead = verifications.iter().map(Verification::bits).sum::<u64>();
            for (part, layers) in [(of(run.schedule), run.schedule_layers()), (cost, run.cipher_layers())] {
                ahead += part.ahead * layers.iter().flatten().sum::<u64>();
            }
            assert_eq!(spent(&counts, "preprocessing").0, ahead);
            let worst = verifications.iter().chain([&at_the_end]).filter_map(Verification::error_bits);
            let expected = worst.fold(f64::INFINITY, f64::min);
            assert!((counts.verification_error_bits.unwrap() - expected).abs() < 1e-9);
            let verified = at_the_end.bits() + verifications.iter().map(Verification::bits).sum::<u64>();
            assert!(verified > last);
            last = verified;
        }
        // ten thousand times the blocks: less than three times the bits
        let of_blocks = |blocks| {
            let run = Run::aes_128(cost.protocol, Security::Malicious, Direction::Encrypt, blocks);
            run.verifications().iter().map(Verification::bits).sum::<u64>()
        };
        assert!(of_blocks(10_000) < 3 * of_blocks(1));
    }
}

/// Two passes: twice the bits, twice the error's bits, every check of a verification twice; a lie is found as
/// before.
#[test]
fn two_passes_cost_twice_and_square_the_error() {
    for cost in COSTS.iter().filter(|cost| cost.ahead > 0) {
        let verification = Verification::ahead(cost, &vec![layer(5, 9); 2]);
        for passes in [Passes::Once, Passes::Twice] {
            let times = if passes == Passes::Twice { 2 } else { 1 };
            let run = |lies: bool| {
                let harness = TrioHarness::default().patient();
                if lies {
                    harness.change(party(3), party(2), PRODUCTS[1], 0, |share| share[0] ^= 1);
                }
                harness.act(|trio| {
                    let mut e = Rep3::new(trio, cost.protocol, Security::Malicious);
                    e.trio().set_passes(passes);
                    e.trio().session().phase("vectors");
                    e.vectors(2, 5, 9)?;
                    Ok(e.trio().session().meter().read())
                })
            };
            let counts = run(false).swap_remove(0).unwrap();
            assert_eq!(counts.phases["vectors"].bits, cost.ahead * 90 + times * verification.bits());
            let error_bits = counts.verification_error_bits.unwrap();
            assert!((error_bits - times as f64 * verification.error_bits().unwrap()).abs() < 1e-9);
            assert_eq!((counts.checks[&checks::A7], counts.checks[&checks::A8]), (times, 1));
            assert!(run(true).iter().all(Result::is_err));
        }
    }
}

/// The relations of the formulas above, which the bits of the verifications confirm: one more could add a
/// level.
#[test]
fn no_more_products_are_verified_than_in_table_3() {
    for cost in &COSTS {
        assert!(cost.relations + cost.vector_relations <= cost.table_3, "{}", cost.protocol);
    }
}

#[test]
fn a_hundred_thousand_blocks_in_one_call_leave_57_bits() {
    for cost in &COSTS {
        let run = Run::aes_128(cost.protocol, Security::Malicious, Direction::Encrypt, 100_000);
        for verification in (Run { size: KeySize::Aes256, ..run }).verifications() {
            assert!(verification.error_bits().is_none_or(|bits| bits >= 57.0), "{}", cost.protocol);
        }
    }
}

#[test]
fn every_check_is_executed_as_often_as_its_formula_says() {
    for cost in &COSTS {
        for direction in DIRECTIONS {
            let run = Run::aes_128(cost.protocol, Security::Malicious, direction, 3);
            for run in [run, Run { schedule: cost.protocol, ..run }, Run { size: KeySize::Aes192, ..run }] {
                assert_eq!(run.counts().checks, census(run), "{} {direction:?}", cost.protocol);
            }
        }
    }
}

#[test]
fn semi_honest_verifies_nothing_and_says_so() {
    for cost in &COSTS {
        let counts = Run::aes_128(cost.protocol, Security::SemiHonest, Direction::Decrypt, 3).counts();
        let only =
            [checks::M0_1, checks::M0_3, checks::M0_4, checks::M0_5, checks::M0_6, checks::A1, checks::A3];
        assert!(counts.checks.keys().all(|check| only.contains(check)), "{:?}", counts.checks);
        assert_eq!(counts.verification_error_bits, None);
    }
}

/// Each call that compares blocks with zero is counted, whatever their number.
#[test]
fn comparisons_of_blocks_are_counted() {
    let results = TrioHarness::default().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let mut seen = Vec::new();
        for lanes in [1, 3] {
            let blocks = e.random_blocks(lanes);
            assert_eq!(e.vanish_lanes(blocks)?, vec![false; lanes]);
            seen.push(times(&e.trio().session().meter().read(), checks::A23));
        }
        Ok(seen)
    });
    assert!(results.iter().all(|seen| *seen == Ok(vec![1, 2])), "{results:?}");
}
