//! Derivation of the chain of moduli: from the top, each step of the computation is followed by a modulus
//! switch that reduces the noise to about what rounding adds anyway.

use super::answers::answer_bits;
use super::course::{Course, Step, refreshable, steps};
use super::cuts::{cut, cut_bottom};
use super::noise::Noise;
use super::operation::{Form, Operation, ParameterError};
use super::{Level, MOST_WEIGHT, PRIME_BITS, Parameters, security};
use divisi_field::zp::{PLAIN_BITS, prime};

/// The parameters in the ring of dimension n, with a chain that has all steps.
pub(super) fn at(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    n: usize,
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    let run = steps(operation, form, parties.max(1)).len();
    in_runs(operation, form, parties, plain, [n, run], insecure)
}

/// The parameters with as few refreshes as the ring for refreshing allows, and with the shortest chain that
/// this number of refreshes permits. Only rings of parties need it: the number of their hops grows with that
/// of the parties.
pub(super) fn refreshing(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    let hops = steps(operation, form, parties.max(1)).len();
    let n = if insecure { security::INSECURE_TEST } else { security::REFRESHING };
    let mut tried = hops;
    for runs in 2..=hops {
        let run = hops.div_ceil(runs);
        if run == tried {
            continue;
        }
        tried = run;
        match in_runs(operation, form, parties, plain, [n, run], insecure) {
            Err(ParameterError::TooLarge) => {}
            other => return other,
        }
    }
    Err(ParameterError::TooLarge)
}

/// The parameters in the ring of dimension n, with at most `run` steps between a fresh ciphertext and the
/// bottom.
pub(super) fn in_runs(
    operation: Operation,
    form: Form,
    parties: usize,
    plain: u64,
    [n, run]: [usize; 2],
    insecure: bool,
) -> Result<Parameters, ParameterError> {
    if !(2..=255).contains(&parties) {
        return Err(ParameterError::Parties);
    }
    if plain < 3 || plain >> PLAIN_BITS != 0 || !prime::is_prime(plain) {
        return Err(ParameterError::Plain);
    }
    if operation.weight().is_some_and(|weight| !(1..=MOST_WEIGHT).contains(&weight)) {
        return Err(ParameterError::Weight);
    }
    let lean = matches!(operation, Operation::BlockProducts | Operation::VectorTables);
    if lean && form == Form::Paper {
        return Err(ParameterError::Form);
    }
    if !(plain - 1).is_multiple_of(2 * n as u64) {
        return Err(ParameterError::Transform { n });
    }
    let mut steps = steps(operation, form, parties);
    let refreshes = (1..steps.len()).contains(&run);
    if refreshes && !refreshable(operation, form) {
        return Err(ParameterError::TooLarge);
    }
    if refreshes {
        steps.truncate(run);
    }
    let course = Course { noise: Noise::new(parties, n, plain), operation, form, steps, refreshes };
    // as few primes as possible, for speed, then as few bits
    let primes = |(drops, bottom): &(Vec<f64>, f64)| {
        drops.iter().chain([bottom]).map(|bits| cut(*bits, 0.0).len()).sum::<usize>()
    };
    // products of vectors send a fifth of their polynomials at the top
    let blocks = operation == Operation::BlockProducts;
    let share = if blocks { 0.2 } else { 1.0 };
    let sum = |(drops, bottom): &(Vec<f64>, f64)| share * drops.iter().sum::<f64>() + bottom;
    let (drops, bottom) = (-8..=course.most_above(n))
        .filter_map(|quarters| course.bits(f64::from(quarters) / 4.0))
        .min_by(|x, y| primes(x).cmp(&primes(y)).then(sum(x).total_cmp(&sum(y))))
        .ok_or(ParameterError::TooLarge)?;
    let answer = answer_bits(&course.noise);
    let mut cuts = vec![match cut(bottom, 0.0) {
        // answers are as short as the other prime allows
        two if two.len() == 2 && blocks => {
            let first = answer.max(bottom - PRIME_BITS);
            vec![first, bottom - first]
        }
        _ => cut_bottom(bottom, answer),
    }];
    cuts.extend(drops.iter().rev().map(|drop| cut(*drop, 0.0)));
    let limit = security::limit(n).unwrap_or(security::limit_of_tests(refreshes));
    if cuts.iter().flatten().sum::<f64>() > limit {
        return Err(ParameterError::TooLarge);
    }
    let parameters = build(&course, cuts, parties, plain, n, insecure).ok_or(ParameterError::TooLarge)?;
    if parameters.fits() && parameters.floods() { Ok(parameters) } else { Err(ParameterError::TooLarge) }
}

/// Finds the primes, and computes all bounds again with the primes that were found.
fn build(
    course: &Course,
    cuts: Vec<Vec<f64>>,
    parties: usize,
    plain: u64,
    n: usize,
    insecure: bool,
) -> Option<Parameters> {
    let (mut chain, mut limbs) = (Vec::new(), Vec::new());
    for bits in cuts {
        for bits in bits {
            let taken: Vec<u64> = chain.iter().copied().chain([plain]).collect();
            chain.push(prime::next_prime(bits.exp2().ceil() as u64, 2 * n as u64, &taken)?);
        }
        limbs.push(chain.len());
    }
    let multiplies = course.steps.iter().any(|step| step.multiplies());
    let taken: Vec<u64> = chain.iter().copied().chain([plain]).collect();
    let special = if multiplies {
        Some(prime::next_prime(PRIME_BITS.exp2().ceil() as u64, 2 * n as u64, &taken)?)
    } else {
        None
    };
    let log2 = |limbs: usize| chain.iter().take(limbs).map(|q| (*q as f64).log2()).sum::<f64>();
    let mut levels = Vec::new();
    let mut noise = course.start();
    let mut lower = limbs.iter().rev().skip(1).copied();
    let steps = course.steps.iter().copied().chain([Step::Decryption]);
    for (step, limbs) in steps.zip(limbs.iter().rev().copied()) {
        let log2_q = log2(limbs);
        let (after, floods) = course.after(step, noise)?;
        levels.push(Level { step, limbs, log2_q, noise, after, floods });
        let below = log2(lower.next().unwrap_or(0));
        noise = course.switched(step, after, log2_q - below);
        // ciphertexts may be refreshed to any level above the bottom
        if levels.len() < course.steps.len() {
            noise = noise.max(course.refreshed());
        }
    }
    levels.reverse();
    let flood = course.bottom(levels.first()?.noise)?.0;
    let (operation, form) = (course.operation, course.form);
    Some(Parameters { operation, form, parties, plain, n, chain, special, levels, flood, insecure })
}
