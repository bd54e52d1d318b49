//! Linear relations: no bit of an element is a sum of others and of a constant, within a purpose or with an
//! element of another one that stands at the same place of the same strand.
//!
//! The matrix of the bits of all samples, with a column of ones, has full rank, unless such a relation holds
//! for all samples. Of an element as many bits are looked at together as the samples allow: those next to
//! each other, and those at equal distances.

use super::DrawNet;
use super::samples::{SamplePlace, Samples};
use std::collections::HashMap;

/// How many bits are looked at together, and in how many samples.
const BITS: usize = 512;
const SAMPLES: usize = 1024;
/// The samples beyond the number of bits: random bits look related with a probability of 2^-40.
const BEYOND: usize = 40;
/// How many bits of each of two purposes are looked at, at most.
const OF_EACH: usize = 128;

pub(super) fn judge(net: &DrawNet, all: &[Samples]) -> Vec<String> {
    let mut faults: Vec<String> = all.iter().filter_map(within).collect();
    let places: Vec<HashMap<SamplePlace, &[u8]>> = all.iter().map(places).collect();
    for (i, one) in all.iter().enumerate() {
        for (j, other) in all.iter().enumerate().skip(i + 1) {
            let judged = one.uniform_from().is_some() && other.uniform_from().is_some();
            if judged && !net.may_be_alike(one.of.name(), other.of.name()) {
                faults.extend(between([one, other], [&places[i], &places[j]]));
            }
        }
    }
    faults
}

fn places(samples: &Samples) -> HashMap<SamplePlace, &[u8]> {
    samples.all.iter().take(4 * SAMPLES).map(|(place, bytes)| (*place, bytes.as_slice())).collect()
}

/// Which bits are looked at together: windows over all of them, then bits at equal distances.
fn together(from: usize, width: usize, most: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (from..width).collect();
    if most >= all.len() {
        return vec![all];
    }
    let distance = all.len().div_ceil(most);
    let apart = (0..distance).map(|first| all.iter().copied().skip(first).step_by(distance).collect());
    all.chunks(most).map(<[usize]>::to_vec).chain(apart).collect()
}

fn within(samples: &Samples) -> Option<String> {
    let from = samples.uniform_from()?;
    let rows: Vec<&[u8]> = samples.all.iter().take(SAMPLES).map(|(_, bytes)| bytes.as_slice()).collect();
    let most = rows.len().saturating_sub(BEYOND).min(BITS);
    if most == 0 {
        return None;
    }
    together(from, 8 * samples.width, most).into_iter().find_map(|bits| {
        let rows = rows.iter().take(bits.len() + 2 * BEYOND);
        let related = is_related(rows.map(|bytes| picked(bytes, &bits)).collect(), bits.len());
        related.then(|| format!("{}: a bit is a sum of others ({})", samples.name(), shown(&bits)))
    })
}

fn between(two: [&Samples; 2], places: [&HashMap<SamplePlace, &[u8]>; 2]) -> Option<String> {
    let mut rows = Vec::new();
    for (place, one) in two[0].all.iter().take(4 * SAMPLES) {
        if let Some(other) = places[1].get(place).filter(|_| places[0].contains_key(place)) {
            rows.push([one.as_slice(), other]);
        }
        if rows.len() == SAMPLES {
            break;
        }
    }
    let most = (rows.len().saturating_sub(BEYOND) / 2).min(OF_EACH);
    if most == 0 {
        return None;
    }
    let of = |samples: &Samples| together(samples.uniform_from().unwrap_or(0), 8 * samples.width, most);
    of(two[0]).into_iter().zip(of(two[1])).find_map(|(first, second)| {
        let columns = first.len() + second.len();
        let row = |[one, other]: &[&[u8]; 2]| [picked(one, &first), picked(other, &second)].concat();
        let related = is_related(rows.iter().take(columns + 2 * BEYOND).map(row).collect(), columns);
        related.then(|| {
            let (one, other) = (two[0].name(), two[1].name());
            format!("{one}: a bit is a sum of others and of bits of {other} ({})", shown(&first))
        })
    })
}

fn shown(bits: &[usize]) -> String {
    let (first, last) = (bits.first().unwrap_or(&0), bits.last().unwrap_or(&0));
    format!("{} bits from {first} to {last}", bits.len())
}

fn picked(bytes: &[u8], bits: &[usize]) -> Vec<bool> {
    bits.iter().map(|bit| bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)).collect()
}

/// Whether the rows of so many bits, each with a one behind them, have less than full rank.
fn is_related(rows: Vec<Vec<bool>>, columns: usize) -> bool {
    let words = (columns + 1).div_ceil(64);
    let mut rows: Vec<Vec<u64>> = rows
        .into_iter()
        .map(|bits| {
            let mut row = vec![0; words];
            for (at, _) in bits.iter().chain([&true]).enumerate().filter(|(_, bit)| **bit) {
                row[at / 64] |= 1 << (at % 64);
            }
            row
        })
        .collect();
    for column in 0..=columns {
        let has = |row: &Vec<u64>| row[column / 64] >> (column % 64) & 1 == 1;
        let Some(at) = rows.iter().position(has) else { return true };
        let pivot = rows.swap_remove(at);
        for row in rows.iter_mut().filter(|row| has(row)) {
            row.iter_mut().zip(&pivot).for_each(|(word, pivot)| *word ^= pivot);
        }
    }
    false
}
