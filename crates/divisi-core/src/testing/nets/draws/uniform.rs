//! The distribution of each purpose.

use super::DrawNet;
use super::samples::Samples;
use crate::Distribution;
use std::collections::BTreeSet;

/// From fewer samples nothing can be said: a bit that is uniform has the same value in all of them with a
/// probability of 2^-43.
pub(super) const FEWEST: usize = 44;
/// How many standard deviations are too many.
const TOO_FAR: f64 = 8.0;

pub(super) fn judge(net: &DrawNet, all: &[Samples]) -> Vec<String> {
    let own = |samples: &Samples| net.purposes.iter().any(|of| of.name() == samples.of.name());
    let alone = all.iter().filter_map(of_one_party);
    let ends = all.iter().filter_map(end);
    let faults = all.iter().filter_map(|samples| fault(samples, own(samples))).chain(alone).chain(ends);
    faults.map(|(name, what)| format!("{name}: {what}")).collect()
}

/// How probable it may be, as a binary logarithm, that uniform samples of a party have so many bits that
/// never change.
const RARE: f64 = -60.0;

/// What is wrong with the samples of one of the parties, in which the others' are as they should be: more of
/// their bits never change than do by chance, which a few samples suffice to see.
fn of_one_party(samples: &Samples) -> Option<(String, String)> {
    let first = samples.uniform_from()?;
    let parties: BTreeSet<usize> = samples.all.iter().map(|((_, party, ..), _)| *party).collect();
    parties.into_iter().find_map(|party| {
        let own = || samples.all.iter().filter(move |((_, of, ..), _)| *of == party).map(|(_, bytes)| bytes);
        let bits = 8 * samples.width - first;
        // of b bits k never change with a probability of at most (e b 2^(1 - m) / k)^k
        let (mut ones, mut zeros) = (vec![u8::MAX; samples.width], vec![u8::MAX; samples.width]);
        for bytes in own() {
            ones.iter_mut().zip(bytes).for_each(|(all, byte)| *all &= byte);
            zeros.iter_mut().zip(bytes).for_each(|(all, byte)| *all &= !byte);
        }
        let stay: u32 = ones.iter().zip(&zeros).map(|(ones, zeros)| (ones | zeros).count_ones()).sum();
        let k = f64::from(stay) - first as f64;
        let one = (std::f64::consts::E * bits as f64 / k).log2() + 1.0 - own().count() as f64;
        let rare = k >= 1.0 && k * one < RARE;
        rare.then(|| (samples.name(), format!("{k} bits of party {} never change", party + 1)))
    })
}

/// What is wrong if the first element of every draw, or the last one, has the same value: so many draws agree
/// by chance less often than `RARE` says.
fn end(samples: &Samples) -> Option<(String, String)> {
    // what one element tells, in bits, at least
    let each = match samples.of.distribution() {
        Distribution::Bits(_) | Distribution::OddOrEven => 8.0,
        Distribution::Below(p) => (p as f64).log2(),
        Distribution::Ternary => 3_f64.log2(),
        Distribution::Centred(thousandths) => {
            (std::f64::consts::TAU * thousandths as f64 / 1000.0).log2() / 2.0
        }
    };
    let constant = |all: &Vec<Vec<u8>>| {
        (all.len() as f64 - 1.0) * each > -RARE && all.windows(2).all(|two| two[0] == two[1])
    };
    let place = samples.ends.iter().position(constant)?;
    Some((samples.name(), format!("its {} element is always the same", ["first", "last"][place])))
}

/// What is wrong with these. Those of layers below, whose nets judge them, may be few.
fn fault(samples: &Samples, own: bool) -> Option<(String, String)> {
    let what = if let Some(odd) = samples.odd.first() {
        Some(format!("a draw has {odd} bytes, and an element {}", samples.width))
    } else if samples.all.len() < FEWEST {
        own.then(|| format!("there are {} samples, too few to judge it", samples.all.len()))
    } else {
        match samples.of.distribution() {
            Distribution::Bits(_) | Distribution::OddOrEven => bits(samples),
            Distribution::Below(p) => moments(samples, p as f64 / 2.0 - 0.5, square(p as f64) / 12.0)
                .or_else(|| words(samples).any(|x| x as u64 >= p).then(|| format!("{p} is not above it"))),
            Distribution::Ternary => moments(samples, 0.0, 2.0 / 3.0),
            Distribution::Centred(thousandths) => moments(samples, 0.0, thousandths as f64 / 1000.0),
        }
    };
    what.map(|what| (samples.name(), what))
}

fn square(x: f64) -> f64 {
    x * x
}

/// Each bit is zero as often as one, give or take, and at least once.
fn bits(samples: &Samples) -> Option<String> {
    let m = samples.all.len();
    (samples.uniform_from()?..8 * samples.width).find_map(|bit| {
        let is_one = |bytes: &[u8]| bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        let ones = samples.all.iter().filter(|(_, bytes)| is_one(bytes)).count();
        if ones == 0 || ones == m {
            return Some(format!("bit {bit} is always {}", usize::from(ones > 0)));
        }
        let far = (2.0 * ones as f64 - m as f64).abs() / (m as f64).sqrt();
        (far > TOO_FAR).then(|| format!("bit {bit} is one {ones} times of {m}"))
    })
}

fn words(samples: &Samples) -> impl Iterator<Item = i64> {
    samples.all.iter().filter_map(|(_, bytes)| bytes.first_chunk().map(|word| i64::from_le_bytes(*word)))
}

/// Mean and variance are what they must be, give or take. No distribution here has a heavier tail than a
/// Gaussian, whose fourth moment is three times the square of its variance.
fn moments(samples: &Samples, mean: f64, variance: f64) -> Option<String> {
    let m = samples.all.len() as f64;
    let of = |x: i64| x as f64 - mean;
    let found = words(samples).map(of).sum::<f64>() / m;
    if found.abs() > TOO_FAR * (variance / m).sqrt() {
        return Some(format!("its mean is {}, and not {mean}", found + mean));
    }
    let found = words(samples).map(|x| square(of(x))).sum::<f64>() / m;
    let far = (found - variance).abs() > TOO_FAR * variance * (2.0 / m).sqrt();
    far.then(|| format!("its variance is {found}, and not {variance}"))
}
