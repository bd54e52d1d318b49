//! Masks, coins and shares are uniform, bit by bit and pair by pair: what an adversary that looks for a
//! pattern would find. Every deviation stays below six standard deviations. There are so many that one does
//! not by chance once in 2,000 runs; then all of a second run must.

use crate::common::prelude::*;
use divisi_rep3::adversary::lookups::{self, opening, sets};
use divisi_rep3::deal;
use std::collections::BTreeSet;

/// A bit of each of these samples of up to 128 bits.
fn row(samples: &[u128], bit: usize) -> Vec<u64> {
    let word = |chunk: &[u128]| (0..64).fold(0, |word, i| word | ((chunk[i] >> bit & 1) as u64) << i);
    samples.chunks_exact(64).map(word).collect()
}

/// What it is, if the number of ones in these words is not less than six standard deviations off.
fn unbalanced(words: impl ExactSizeIterator<Item = u64>, what: impl Fn() -> String) -> Option<String> {
    let n = 64.0 * words.len() as f64;
    let ones: u32 = words.map(u64::count_ones).sum();
    let z = (f64::from(ones) - n / 2.0) / (n / 4.0).sqrt();
    (z.abs() >= 6.0).then(|| format!("{}: z = {z}", what()))
}

/// What is not uniform of each bit, each pair of bits, and each bit against the next sample's; and whether
/// anything returns.
fn off(what: &str, samples: &[u128], bits: usize) -> Vec<String> {
    assert!(samples.len() >= 1024);
    let mut off = Vec::new();
    let rows: Vec<Vec<u64>> = (0..bits).map(|bit| row(samples, bit)).collect();
    let steps: Vec<u128> = samples.windows(2).map(|w| w[0] ^ w[1]).collect();
    for (i, x) in rows.iter().enumerate() {
        off.extend(unbalanced(x.iter().copied(), || format!("{what}: bit {i}")));
        for (j, y) in rows.iter().enumerate().skip(i + 1) {
            let both = x.iter().zip(y).map(|(x, y)| x ^ y);
            off.extend(unbalanced(both, || format!("{what}: bits {i} and {j}")));
        }
        let next = row(&steps, i);
        off.extend(unbalanced(next.into_iter(), || format!("{what}: bit {i} and the next sample's")));
    }
    // 64 samples of a bit that return, or their complement, wherever it is
    let words = || rows.iter().flatten();
    let different: BTreeSet<u64> = words().map(|word| *word.min(&!*word)).collect();
    if different.len() != words().count() {
        off.push(format!("{what}: {} of {} words", different.len(), words().count()));
    }
    off
}

/// Asserts that nothing is off in a run, or in a second one, whose randomness is fresh, if something was in
/// the first.
fn uniform(run: impl Fn() -> Vec<String>) {
    let first = run();
    if first.is_empty() {
        return;
    }
    let second = run();
    let told = [&first, &second].map(|off| format!("{} are off, {:?} first", off.len(), off.first()));
    assert!(second.is_empty(), "{told:?}");
}

fn words(bytes: &[u8], size: usize) -> Vec<u128> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte));
    bytes.chunks_exact(size).map(word).collect()
}

/// What a party holds of blocks, a lane a sample.
fn components(e: &mut Rep3, blocks: Block) -> Result<[Vec<u128>; 2], Abort> {
    let bytes: [Byte; 16] = e.convert(blocks)?;
    let verified = e.settled(bytes.to_vec())?.into_inner();
    let mut columns = [Vec::new(), Vec::new()];
    for byte in verified {
        let settled = e.settled(byte)?;
        let part = e.trio().part(&settled)?;
        columns[0].push(part.first.clone());
        columns[1].push(part.second.clone());
    }
    Ok(columns.map(|columns| {
        let lane = |l: usize| columns.iter().fold(0, |w, c| w << 8 | u128::from(c[l]));
        (0..columns[0].len()).map(lane).collect()
    }))
}

fn party_samples<R: Send>(f: impl Fn(Trio) -> Result<R, Abort> + Sync) -> Vec<R> {
    TrioHarness::default().act(f).into_iter().collect::<Result<_, _>>().unwrap()
}

/// A message of this many planes in tiles of up to 512 lanes: one sample a lane.
fn lanes_of(body: &[u8], planes: usize, n: usize) -> Vec<u128> {
    let lanes = 512.min(n);
    let mut samples = Vec::new();
    for tile in body.chunks_exact(planes * lanes / 8) {
        for l in 0..lanes {
            let bit = |p: usize| u128::from(tile[p * lanes / 8 + l / 8] >> (l % 8) & 1);
            samples.push((0..planes).fold(0, |w, p| w | bit(p) << p));
        }
    }
    samples
}

/// What is off of all but lookups.
fn off_in_everything(n: usize) -> Vec<String> {
    let mut found = Vec::new();
    // F_rand on bytes: both components, and their sum
    let drawn = party_samples(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let x = e.random_bytes(n)?;
        let x = e.settled(x)?;
        e.trio().part(&x)
    });
    for part in &drawn {
        let both: Vec<u8> = part.first.iter().zip(&part.second).flat_map(|(a, b)| [*a, *b]).collect();
        found.extend(off("F_rand on bytes", &words(&both, 2), 16));
    }
    // three components, two of which are independent of the third
    let all: Vec<u8> = (0..n).flat_map(|l| drawn.iter().map(move |p| p.first[l])).collect();
    found.extend(off("F_rand at the three", &words(&all, 3), 24));

    // F_zero over GF(2^128): the product of zeros is nothing but the mask; also F_rand there
    let masks = party_samples(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
        let zero: [Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; n]));
        let zero = e.convert(zero)?;
        let z = e.multiply(&zero, &zero)?;
        let x = e.random_blocks(n);
        Ok((components(&mut e, z)?, components(&mut e, x)?))
    });
    for (z, x) in &masks {
        for side in z.iter().chain(x) {
            found.extend(off("F_zero and F_rand over GF(2^128)", side, 128));
        }
    }
    for l in 0..n {
        assert_eq!(masks[0].0[0][l] ^ masks[1].0[0][l] ^ masks[2].0[0][l], 0, "shares of zero");
    }

    // F_zero on planes: what an S-box layer sends when all its inputs are zero
    let harness = TrioHarness::default();
    let sent = harness.recording(party(2));
    harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::SemiHonest);
        let mut zero = e.public(&vec![0; n]);
        e.sbox(Direction::Encrypt, &mut [&mut zero])
    });
    for step in ["divisi_rep3::sbox::gf8_circuit/x3", "divisi_rep3::sbox::gf8_circuit/x14 x15"] {
        let planes = if step.ends_with("x3") { 8 } else { 16 };
        let samples = lanes_of(&sent.of(MessageDirection::Out, step)[0].frame.body, planes, n);
        assert_eq!(samples.len(), n);
        found.extend(off("F_zero on planes", &samples, planes));
    }

    // a dealer's components
    let world = divisi_net::Machine;
    let parts = deal::split(&vec![0x5a; n], |out| divisi_net::World::entropy(&world, out));
    for part in [&parts[0], &parts[2]] {
        let dealt: Vec<u8> = (0..n).flat_map(|l| [part.first[l], part.second[l]]).collect();
        found.extend(off("dealt components", &words(&dealt, 2), 16));
    }

    // coins
    let tosses = (n / 16).max(4096);
    let coins = party_samples(|mut trio| {
        let fixed = trio.barrier()?;
        let coin = |_| Ok(u128::from_le_bytes(trio.coin(&fixed)?.bytes()));
        (0..tosses).map(coin).collect::<Result<Vec<_>, Abort>>()
    });
    found.extend(off("coins", &coins[0], 128));
    found
}

/// What is off of what two layers of lookups open for one and the same value in every lane, and of what each
/// party sends for it; and of what a party holds of their one-hot vectors.
fn off_in_lookups(n: usize) -> Vec<String> {
    let mut found = Vec::new();
    for protocol in LOOKUPS {
        let harness = TrioHarness::default();
        let recordings = harness.recordings();
        let held = harness.act(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::SemiHonest);
            let mut x = e.public(&vec![0x53; n]);
            let vectors = e.vectors(2, 1, n)?;
            let held = lookups::held(&vectors[0]);
            for vectors in vectors {
                e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
            }
            Ok(held)
        });
        let planes = if protocol == Protocol::Lut16 { 4 } else { 8 };
        for layer in 0..2 {
            let share = |(me, recording): (PartyId, &Recording)| {
                let bodies = recording.bodies(MessageDirection::Out, me.next(3), opening(protocol));
                lanes_of(&bodies[layer], planes, n)
            };
            let shares: Vec<Vec<u128>> = PartyId::all(3).zip(&recordings).map(share).collect();
            let c: Vec<u128> = (0..n).map(|l| shares.iter().fold(0, |c, share| c ^ share[l])).collect();
            found.extend(off("c of a lookup", &c, planes));
            // any two shares beside c
            for (x, y) in [(0, 1), (1, 2), (2, 0)] {
                let all: Vec<u128> =
                    (0..n).map(|l| c[l] | shares[x][l] << planes | shares[y][l] << (2 * planes)).collect();
                found.extend(off("c of a lookup and two shares of it", &all, 3 * planes));
            }
        }
        // both components of every plane, some at a time; and the value that they are shares of
        let held: Vec<_> = held.into_iter().map(Result::unwrap).collect();
        let bit = |plane: &Plane, l: usize| u128::from(plane.lane(l % 512) == 1);
        let sets = sets(protocol);
        for (p, records) in held.iter().enumerate() {
            for at in (0..sets.len()).step_by(60) {
                let some = at..sets.len().min(at + 60);
                let sample = |l: usize| {
                    let planes = records[l / 512].iter().flat_map(|side| &side[some.clone()]);
                    planes.enumerate().fold(0, |w, (i, plane)| w | bit(plane, l) << i)
                };
                let samples: Vec<u128> = (0..n).map(sample).collect();
                found.extend(off("shares of a one-hot vector", &samples, 2 * some.len()));
            }
            // the vector itself is right, by the three first components
            for (plane, set) in sets.iter().enumerate() {
                for l in (0..n).step_by(97) {
                    let value = |plane: usize| {
                        held.iter().fold(0, |sum, records| sum ^ bit(&records[l / 512][0][plane], l))
                    };
                    let bits = (0..8).filter(|i| set >> i & 1 == 1);
                    let place = |i: usize| sets.iter().position(|set| *set == 1 << i).unwrap();
                    let product = bits.fold(1, |product, i| product & value(place(i)));
                    assert_eq!(value(plane), product, "party {}", p + 1);
                }
            }
        }
    }
    found
}

#[test]
fn openings_and_vectors_of_lookups_are_uniform() {
    uniform(|| off_in_lookups(1 << 13));
}

/// Vectors that are made together have shares of their own, in every layer and every tile: what a party holds
/// is balanced, and no 64 lanes return.
#[test]
fn vectors_of_many_layers_and_tiles_are_uniform() {
    uniform(|| {
        let mut found = Vec::new();
        let sizes = [(20, 1, 1024), (1, 16, 2048)];
        for (protocol, (layers, bytes, n)) in LOOKUPS.into_iter().flat_map(|p| sizes.map(|size| (p, size))) {
            let held = party_samples(|trio| {
                let mut e = Rep3::new(trio, protocol, Security::SemiHonest);
                let vectors = e.vectors(layers, bytes, n)?;
                Ok(vectors.iter().map(lookups::held).collect::<Vec<_>>())
            });
            let mut all = BTreeSet::new();
            for (layer, records) in held[0].iter().enumerate() {
                let planes = records.iter().flatten().flatten();
                let words: Vec<u64> = planes.flat_map(|plane| plane.0).collect();
                let what = || format!("{protocol}, layer {layer} of {bytes} bytes");
                let again = words.iter().filter(|word| !all.insert(**word)).count();
                found.extend((again > 0).then(|| format!("{}: {again} words return", what())));
                found.extend(unbalanced(words.into_iter(), what));
            }
        }
        found
    });
}

#[test]
#[ignore = "2^18 samples"]
fn openings_and_vectors_of_lookups_are_uniform_in_large_samples() {
    uniform(|| off_in_lookups(1 << 18));
}

#[test]
fn masks_coins_and_shares_are_uniform() {
    uniform(|| off_in_everything(repetitions(1 << 14, 1 << 16)));
}

#[test]
#[ignore = "2^20 samples"]
fn masks_coins_and_shares_are_uniform_in_large_samples() {
    uniform(|| off_in_everything(1 << 20));
}

/// The test sees what it is for: a bit that is always zero, two that are equal, one that repeats the one
/// before.
#[test]
fn a_pattern_would_be_seen() {
    let fails = |samples: Vec<u128>| !off("a pattern", &samples, 16).is_empty();
    let mut bytes = vec![0; 1 << 14];
    divisi_core::Prg::new(&[9; 16]).fill(&mut bytes);
    let good = words(&bytes, 2);
    assert!(!fails(good.clone()));
    assert!(fails(good.iter().map(|x| x & !0x80).collect()));
    assert!(fails(good.iter().map(|x| x & !2 | (x & 1) << 1).collect()));
    assert!(fails(
        good.iter()
            .enumerate()
            .map(|(i, x)| x & !1 | good[i.saturating_sub(1)] >> 15 & 1 | x & 1 << 15)
            .scan(0, |last, x| {
                let y = x & !1 | *last & 1;
                *last = y;
                Some(y)
            })
            .collect()
    ));
    // every 64th bit always zero
    assert!(fails(good.iter().enumerate().map(|(i, x)| if i % 4 == 0 { x & !1 } else { *x }).collect()));
}
