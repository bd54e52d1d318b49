//! Values that occur twice, or are small multiples of each other, and elements that repeat themselves.

use super::samples::{SamplePlace, Samples};
use crate::Distribution;
use std::collections::HashMap;

/// How many words of a purpose are looked at in each run, and how many elements for multiples.
const WORDS: usize = 4096;
const MULTIPLES: usize = 512;
/// The largest factor of a multiple.
const FACTOR: i64 = 16;
/// From how many bytes on a draw of small numbers is taken as one value.
const SEVERAL: usize = 256;

/// A word, and whose it is.
type Found = HashMap<u64, (usize, SamplePlace)>;

pub(super) fn judge(all: &[Samples]) -> Vec<String> {
    let mut faults = Vec::new();
    // values that are made of draws may be equal to these, and not to each other
    for made in [false, true] {
        let of: Vec<&Samples> = all.iter().filter(|samples| samples.is_made() == made).collect();
        faults.extend(words(&of));
        faults.extend(multiples(&of));
    }
    faults.extend(all.iter().filter_map(itself));
    faults.extend(all.iter().filter_map(small));
    faults
}

fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn twice(one: &Samples, other: &Samples, how: &str, at: SamplePlace, there: SamplePlace) -> String {
    let place = |(run, party, strand, number): SamplePlace| {
        format!("run {run}, party {}, strand {strand}, element {number}", party + 1)
    };
    format!("{}: {how} {}: {}; {}", one.name(), other.name(), place(at), place(there))
}

/// No word of 64 bits occurs twice.
fn words(of: &[&Samples]) -> Vec<String> {
    let mut found = Found::new();
    let mut faults = Vec::new();
    for (which, samples) in of.iter().enumerate().filter(|(_, samples)| samples.uniform_from().is_some()) {
        let (mut run, mut seen) = (usize::MAX, 0);
        for (place, bytes) in &samples.all {
            if place.0 != run {
                (run, seen) = (place.0, 0);
            }
            for bytes in bytes.as_chunks::<8>().0 {
                if seen == WORDS {
                    break;
                }
                seen += 1;
                if let Some((other, there)) = found.insert(u64::from_le_bytes(*bytes), (which, *place)) {
                    faults.push(twice(samples, of[other], "64 bits are those of", *place, there));
                    return faults;
                }
            }
        }
    }
    faults
}

/// No element is another one times c, for |c| <= 16, modulo 2^64.
fn multiples(of: &[&Samples]) -> Vec<String> {
    let mut found = Found::new();
    let uniform = |samples: &&Samples| samples.uniform_from() == Some(0) && samples.width >= 8;
    let first = |samples: &Samples| -> Vec<(SamplePlace, u64)> {
        let all = samples.all.iter().take(MULTIPLES);
        all.filter_map(|(place, bytes)| Some((*place, word(bytes)?))).collect()
    };
    for (which, samples) in of.iter().enumerate().filter(|(_, samples)| uniform(samples)) {
        found.extend(first(samples).into_iter().map(|(place, word)| (word, (which, place))));
    }
    let mut faults = Vec::new();
    for samples in of.iter().filter(|samples| uniform(samples)) {
        for (place, word) in first(samples) {
            for c in (-FACTOR..=FACTOR).filter(|c| *c != 0 && *c != 1) {
                if let Some((other, there)) = found.get(&word.wrapping_mul(c as u64)) {
                    let how = format!("times {c} it is");
                    faults.push(twice(samples, of[*other], &how, place, *there));
                    return faults;
                }
            }
        }
    }
    faults
}

/// No element has equal halves or thirds, or 64 bits that are equal to others of it, wherever they stand.
fn itself(samples: &Samples) -> Option<String> {
    samples.uniform_from().filter(|_| samples.width >= 16)?;
    let (place, what) = samples.all.iter().take(WORDS).find_map(|(place, bytes)| {
        let (half, third) = (bytes.len() / 2, bytes.len() / 3);
        let bits: Vec<u64> = (0..=8 * (bytes.len() - 8)).filter_map(|at| window(bytes, at)).collect();
        // the lowest bit may be public
        let first = bits.get(1)?;
        let what = match () {
            () if bytes[1..half] == bytes[half + 1..2 * half] => "halves",
            () if third >= 8 && bytes[1..third] == bytes[third + 1..2 * third] => "thirds",
            () if bits.get(2..)?.contains(first) => "shifts",
            () => return None,
        };
        Some((*place, what))
    })?;
    Some(format!("{}: an element has equal {what} (run {}, element {})", samples.name(), place.0, place.3))
}

/// The 64 bits from a bit on.
fn window(bytes: &[u8], at: usize) -> Option<u64> {
    let low = word(bytes.get(at / 8..)?)?;
    let high = u64::from(*bytes.get(at / 8 + 8).unwrap_or(&0));
    Some(if at.is_multiple_of(8) { low } else { low >> (at % 8) | high << (64 - at % 8) })
}

/// No list of small numbers occurs twice.
fn small(samples: &Samples) -> Option<String> {
    if !matches!(samples.of.distribution(), Distribution::Ternary | Distribution::Centred(_)) {
        return None;
    }
    let mut found: HashMap<Vec<&[u8]>, SamplePlace> = HashMap::new();
    let elements: Vec<_> = samples.all.iter().map(|(place, bytes)| (*place, bytes.as_slice())).collect();
    elements.chunks_exact(SEVERAL / 8).find_map(|list| {
        let place = list.first()?.0;
        let there = found.insert(list.iter().map(|(_, bytes)| *bytes).collect(), place)?;
        Some(twice(samples, samples, "numbers are those of", place, there))
    })
}
