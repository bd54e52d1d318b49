//! What is drawn, and what becomes of it: coins of all three parties, vectors that a split gives out once,
//! and parts that never return.

use crate::common::prelude::*;
use divisi_core::draws::DrawnStream;
use divisi_core::local;
use divisi_rep3::ohverture::{Cube, Dimensions, FactoredOneHots, HeldTable, LookupTable};
use divisi_rep3::purposes;
use std::collections::BTreeSet;

/// Each bit of a coin is the sum of the bits that all three pairs draw, so that no party knows one before.
#[test]
fn a_coin_is_the_sum_of_what_each_pair_draws() {
    let all = local::run(3, &PublicParameters::new("coins").recording(), |session| {
        let record = session.draw_record();
        let trio = &mut Trio::new(session)?;
        let mut coins = Vec::new();
        for _ in 0..3 {
            let fixed = trio.barrier()?;
            coins.push(trio.coin(&fixed)?.bytes());
        }
        let (next, draws) = (trio.me().next(3), record.unwrap().read());
        let with_next = |stream: &&DrawnStream| stream.purpose == "rep3 F_coin" && stream.peer == next;
        let drawn = draws.pairs.iter().find(with_next).unwrap().values.clone();
        Ok((coins, drawn))
    })
    .unwrap();
    for (coins, _) in &all {
        for (i, coin) in coins.iter().enumerate() {
            let bit = |b: usize| all.iter().fold(0, |sum, (_, drawn)| sum ^ drawn[16 * i + b]);
            assert_eq!(coin.to_vec(), (0..16).map(bit).collect::<Vec<u8>>());
        }
    }
}

/// The numbers of 1,536 vectors that were made together, after these splits.
fn numbers(way: Dimensions, splits: &[usize]) -> Vec<Gf64> {
    // the entry at each place is its number, so that a sample is the number of its vector
    let entries: Vec<Gf64> = (0..64).map(Gf64).collect();
    let table = LookupTable::new(&entries).unwrap();
    let cube = Cube::new([2, 2, 2], 1, &entries).unwrap();
    let all = local::run(3, &PublicParameters::new("splits"), |session| {
        let b = &mut BlackBox::new(Trio::new(session)?);
        let mut rest = b.one_hots(&HeldTable::by(way, &entries).unwrap(), 1536)?;
        let mut parts = Vec::new();
        for n in splits {
            let [first, more] = rest.split(*n).unwrap();
            parts.push(first);
            rest = more;
        }
        parts.push(rest);
        let mut numbers = Vec::new();
        for vectors in parts {
            let sampled = match vectors {
                FactoredOneHots::One(vectors) => b.sample(&table, vectors)?,
                FactoredOneHots::Two(vectors) => {
                    let sampled = b.sample_additive(&table, vectors)?;
                    b.reshare(sampled)?
                }
                FactoredOneHots::Three(vectors) => b.sample_cube(&cube, vectors)?.remove(0),
            };
            numbers.extend(b.output(&sampled)?);
        }
        Ok(numbers)
    });
    all.unwrap().swap_remove(0)
}

/// A split gives out each vector once: one that is given out twice masks two indices.
#[test]
fn each_vector_of_a_split_is_given_out_once() {
    for way in [Dimensions::One, Dimensions::Two, Dimensions::Three([2, 2, 2])] {
        for splits in [&[][..], &[512], &[1024], &[512, 512], &[0, 1024], &[512, 0, 512]] {
            let numbers = numbers(way, splits);
            assert_eq!(numbers.len(), 1536);
            let [first, second, third] = [0, 512, 1024].map(|at| &numbers[at..at + 512]);
            assert!(first != second && second != third && third != first, "{way:?} {splits:?}");
        }
    }
}

/// No bit of a number is another one of its bits, or the opposite: the opening of an index under it would
/// tell the sum of two bits.
#[test]
fn every_bit_of_a_number_is_drawn_by_itself() {
    for way in [Dimensions::One, Dimensions::Two, Dimensions::Three([2, 2, 2])] {
        let numbers = numbers(way, &[]);
        for (i, j) in (0..6).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let differ = numbers.iter().filter(|number| (number.0 >> i ^ number.0 >> j) & 1 == 1).count();
            assert!((1..numbers.len()).contains(&differ), "{way:?} {i} {j}");
        }
    }
}

/// No part that is kept returns, however many there were: not when one or two bytes of their count are full.
/// Behind the first ones the count alone goes on.
#[test]
fn no_kept_part_returns() {
    let kept = local::run(3, &PublicParameters::new("kept"), |session| {
        let trio = &mut Trio::new(session)?;
        let mut parts = Vec::new();
        for behind in [0, 1 << 10, 1 << 16, 1 << 17] {
            while trio.session().count(purposes::KEPT.name()) < behind {}
            parts.extend((0..600).map(|_| trio.random_part(16)));
        }
        let both = parts.iter().flat_map(|part| [part.first.clone(), part.second.clone()]);
        Ok(both.collect::<Vec<_>>())
    });
    for parts in kept.unwrap() {
        let different: BTreeSet<&Vec<u8>> = parts.iter().collect();
        assert_eq!(different.len(), 4 * 2 * 600);
    }
}
