//! The documented sizes: moduli, rings, bytes and rounds.

use super::tests::{derive, runs_end_at_the_bottom};
use super::*;
use divisi_field::zp::{P16, P32, P62};

/// Demands, for each entry of the list (number of parties, log2 q, N), at most this modulus and exactly this
/// ring.
fn at_most(operation: Operation, form: Form, list: &[(usize, u32, usize)]) {
    for (n, bits, dimension) in list {
        let (p, name) = (derive(operation, form, *n), form.name());
        println!("{} {name} {n}: {:.1} / {}", operation.name(), p.log2_q(), p.dimension());
        assert!(p.log2_q() <= f64::from(*bits) && p.dimension() == *dimension, "{name} {n}");
    }
}

/// The documented sizes: log2 q and N, at most.
#[test]
fn sizes() {
    let ring = [(2, 140, 8192), (4, 228, 16384), (8, 396, 16384), (16, 740, 32768), (32, 1440, 65536)];
    let tree = [
        (4, 196, 16384),
        (8, 250, 16384),
        (16, 304, 16384),
        (32, 360, 16384),
        (64, 422, 32768),
        (128, 480, 32768),
    ];
    let paper = [(2, 200, 8192), (4, 400, 16384), (8, 805, 32768), (16, 1625, 65536)];
    at_most(Operation::Bits, Form::LeanRing, &ring);
    at_most(Operation::Bits, Form::LeanTree, &tree);
    at_most(Operation::Bits, Form::Paper, &paper);
}

/// The documented sizes for private tables: a level more than for bits, which may need the next ring.
#[test]
fn sizes_of_private_tables() {
    let ring = [
        (2, 173, 8192),
        (3, 214, 8192),
        (4, 257, 16384),
        (8, 420, 16384),
        (16, 751, 32768),
        (32, 1418, 65536),
    ];
    let tree = [
        (2, 189, 16384),
        (4, 240, 16384),
        (8, 292, 16384),
        (16, 344, 16384),
        (32, 401, 32768),
        (64, 456, 32768),
        (128, 512, 32768),
    ];
    let paper = [(2, 296, 16384), (4, 497, 32768), (8, 899, 65536), (16, 1690, 65536)];
    // a level has at most these bits: a lean hop, a product, a flooded hop
    for (form, list, level) in
        [(Form::LeanRing, &ring[..], 41.0), (Form::LeanTree, &tree, 55.0), (Form::Paper, &paper, 109.0)]
    {
        at_most(Operation::PrivateTables, form, list);
        for (n, _, _) in list {
            let of = |operation| derive(operation, form, *n).log2_q();
            let more = of(Operation::PrivateTables) - of(Operation::Bits);
            assert!(more > 0.0 && more <= level, "{} {n}: {more:.1}", form.name());
        }
    }
}

/// The documented sizes for wide numbers, p = 2^62 - 2^46 + 1: log2 q and N, at most.
#[test]
fn sizes_of_wide_numbers() {
    let bits = [(2, 201, 8192), (4, 284, 16384), (8, 365, 16384), (16, 450, 32768), (64, 617, 32768)];
    let triples = [(2, 199, 16384), (4, 202, 16384), (16, 207, 16384), (64, 210, 16384)];
    let mut wrong = Vec::new();
    for (operation, list) in [(Operation::Bits, &bits[..]), (Operation::Triples, &triples)] {
        for (n, most, dimension) in list {
            let p = Parameters::derive(operation, Form::LeanTree, *n, P62).unwrap();
            let (name, each) = (operation.name(), p.report().bytes_per_item);
            println!("{name} {n}: {:.1} / {}, {each:.1} bytes an item", p.log2_q(), p.dimension());
            if p.log2_q() > f64::from(*most) || p.dimension() != *dimension {
                wrong.push((name, *n));
            }
            assert!(p.answer_limbs() == 2 && p.limbs(0) > 2);
            assert!(p.chain().iter().chain(&p.special()).all(|q| q >> 50 == 0));
        }
    }
    assert_eq!(wrong, []);
    // a flooded hop would need floods of more than 128 bits
    let paper = Parameters::derive(Operation::Bits, Form::Paper, 2, P62);
    assert_eq!(paper, Err(ParameterError::TooLarge));
}

/// Conversions alone need the smallest ring.
#[test]
fn sizes_of_conversions() {
    for form in [Form::LeanTree, Form::Paper] {
        at_most(Operation::Conversions, form, &[(2, 94, 4096), (16, 100, 4096), (255, 105, 4096)]);
    }
    let report = derive(Operation::Conversions, Form::LeanTree, 3).report();
    assert!(report.levels.len() == 1 && report.rounds == 3 && report.log2_whole == report.log2_q);
    let p = derive(Operation::Bits, Form::LeanTree, 3);
    assert!(p.report().limbs.starts_with(p.chain()) && p.report().limbs.last().copied() == p.special());
}

/// The documented figures of the ring of dimension 32768: hops before a refresh, bytes that a refresh to the
/// top costs a party, for any number of parties.
#[test]
fn chains_and_refreshes_of_a_ring_of_32768() {
    let fits = |form, hops: usize| derive::at(Operation::Bits, form, hops + 1, P32, 32768, false).is_ok();
    assert!(fits(Form::LeanRing, 18) && fits(Form::Paper, 7));
    for (form, straight) in [(Form::LeanRing, 32), (Form::Paper, 16)] {
        assert_eq!(derive(Operation::Bits, form, straight).bootstraps(), 0);
        let mut least = usize::MAX;
        for n in (2..=255).rev() {
            let p = derive(Operation::Bits, form, n);
            let report = p.report();
            assert_eq!(report.rounds, n + 1 + 2 * p.bootstraps());
            if p.bootstraps() == 0 {
                least = least.min(n);
                continue;
            }
            assert!(p.dimension() == 32768 && p.log2_whole() <= 868.0);
            runs_end_at_the_bottom(&p);
            // c_1 of the asking party; an answer and an encryption from every other one
            let bytes = p.poly_bytes(0) + p.answer_bytes() + p.poly_bytes(p.top());
            let slot = (bytes * (n - 1)) as f64 / (n * p.dimension()) as f64;
            assert!(slot <= 140.0, "{slot} bytes a slot");
            if matches!(n, 33 | 40 | 64 | 100 | 255) {
                println!(
                    "{} {n}: {} refreshes, {} hops, {:.1} bits, {slot:.1} bytes a slot, {:.0} an item",
                    form.name(),
                    p.bootstraps(),
                    p.top(),
                    p.log2_whole(),
                    report.bytes_per_item
                );
            }
        }
        assert_eq!(least, 2);
    }
    let hundred = derive(Operation::Bits, Form::LeanRing, 100);
    assert!(hundred.bootstraps() <= 6, "{}", hundred.bootstraps());
    // the ring for tests does the same
    let small = Parameters::danger_insecure(Operation::Bits, Form::Paper, 100, P32).unwrap();
    assert!(small.bootstraps() > 0 && small.log2_whole() <= 868.0);
}

/// The documented bytes of a random bit and of a triple, for each party.
#[test]
fn bytes_an_item() {
    for (n, most) in [(2, 32.0), (4, 56.0), (8, 76.0), (16, 94.0), (64, 130.0)] {
        let report = derive(Operation::Bits, Form::LeanTree, n).report();
        println!("tree {n}: {:.1}", report.bytes_per_item);
        assert!(report.bytes_per_item <= most && report.rounds == n.ilog2() as usize + 2);
    }
    for n in [2, 3, 4, 8, 16, 64, 128] {
        let report = derive(Operation::Triples, Form::LeanTree, n).report();
        println!("triple {n}: {:.1}", report.bytes_per_item);
        assert!(report.bytes_per_item <= 65.0);
    }
    assert_eq!(derive(Operation::Bits, Form::LeanRing, 5).report().rounds, 6);
    // among three parties the third one has no partner at first
    let tree = |n: usize| derive(Operation::Bits, Form::LeanTree, n).report().rounds;
    assert_eq!([2, 3, 4, 5, 7, 8, 9, 128].map(tree), [3, 3, 4, 4, 4, 5, 5, 9]);
}

/// Boolean triples by three vectors of signs along the tree, with two levels more than random bits, and one
/// decryption (docs/mixed.md, 3): what a party would send, beside what it sends by transfers.
#[test]
fn boolean_triples_stay_with_transfers() {
    for (parties, least) in [(4, 110.0), (16, 190.0), (32, 220.0), (64, 255.0), (128, 290.0)] {
        let noise = Noise::new(parties, 16384, P16);
        let (form, operation, refreshes) = (Form::LeanTree, Operation::Bits, false);
        let mut steps = course::steps(operation, form, parties);
        steps.extend([Step::Product; 2]);
        let course = course::Course { noise, operation, form, steps, refreshes };
        let all = (-8..=0).filter_map(|quarters| course.bits(f64::from(quarters) / 4.0));
        let sum = |(drops, bottom): &(Vec<f64>, f64)| drops.iter().sum::<f64>() + bottom;
        let (drops, bottom) = all.min_by(|x, y| sum(x).total_cmp(&sum(y))).unwrap();
        let answer = noise.plain() + (parties as f64).log2() + 4.0;
        let cuts: Vec<Vec<f64>> = std::iter::once(cuts::cut(bottom, answer))
            .chain(drops.iter().rev().map(|drop| cuts::cut(*drop, 0.0)))
            .collect();
        // bits of a coefficient at each level
        let bits = |level: usize| cuts[..=level].iter().flatten().map(|bits| bits.ceil()).sum::<f64>();
        let top = drops.len();
        let joins = |height: usize| (parties.div_ceil(1 << height) / 2) as f64;
        let heights = parties.next_power_of_two().trailing_zeros() as usize;
        let passed: f64 = (0..heights).map(|height| joins(height) * 2.0 * bits(top - height)).sum();
        let decrypted = (parties - 1) as f64 * (bits(0) + cuts[0][0].ceil());
        let bytes = (3.0 * passed + decrypted) / parties as f64 / 8.0;
        let transfers = 33.0 * (parties - 1) as f64 / 8.0;
        println!(
            "triples of {parties}: {bytes:.0} bytes, q of {:.0}; {transfers:.0} by transfers",
            bits(top)
        );
        assert!((least..least + 20.0).contains(&bytes) && (transfers < bytes) == (parties <= 64));
    }
}
