use super::security::LIMITS;
use super::*;
use divisi_field::zp::{P16, P32, P62};

pub(super) fn derive(operation: Operation, form: Form, parties: usize) -> Parameters {
    Parameters::derive(operation, form, parties, P32).unwrap()
}

#[test]
fn every_choice_fits_its_ring() {
    let all = [Operation::Bits, Operation::PrivateTables, Operation::Triples, Operation::Conversions];
    for operation in all {
        for form in [Form::LeanTree, Form::LeanRing, Form::Paper] {
            for n in [2, 3, 4, 5, 8, 12, 16, 33, 128, 255] {
                for plain in [P32, P16, P62] {
                    let p = Parameters::derive(operation, form, n, plain);
                    if plain == P62 && form == Form::Paper && course::refreshable(operation, form) {
                        assert_eq!(p, Err(ParameterError::TooLarge));
                        continue;
                    }
                    let p = p.unwrap();
                    let ring = course::refreshable(operation, form);
                    assert!(p.bootstraps() == 0 || ring && n >= 8, "{operation:?} {form:?} {n} {plain}");
                    assert!(p.fits() && p.floods() && !p.is_insecure());
                    assert!(plain == P62 || (plain as f64).log2() + p.flood.most() < 122.0);
                    assert!(plain == P62 || p.answers_are_words());
                    assert_eq!(p.answer_limbs(), if plain == P62 { 2 } else { 1 });
                    let limit = LIMITS.iter().find(|(d, _)| *d == p.dimension()).unwrap().1;
                    assert!(p.log2_whole() <= limit);
                    // a ring of half the dimension is too small for it
                    let smaller = derive::at(operation, form, n, plain, p.dimension() / 2, false);
                    assert!(p.dimension() == 4096 || smaller.is_err(), "{operation:?} {form:?} {n}");
                    let report = p.report();
                    assert!(report.levels.iter().all(|l| l.noise_bits < l.bound_bits));
                    assert_eq!(report.levels.len(), p.top() + 1);
                    assert_eq!(report.bootstraps as usize, p.bootstraps());
                    runs_end_at_the_bottom(&p);
                }
            }
        }
    }
}

/// Hops go down level by level. A ciphertext at the bottom is refreshed if more hops follow, to just the
/// level from which the next run ends at the bottom.
pub(super) fn runs_end_at_the_bottom(p: &Parameters) {
    if !course::refreshable(p.operation, p.form) {
        return;
    }
    let hops = (0..p.parties).filter_map(|position| p.hop_of(position)).count();
    let (mut level, mut refreshes) = (p.top(), 0);
    for hop in 0..hops {
        assert_eq!(p.is_refreshed(hop), level == 0);
        if level == 0 {
            refreshes += 1;
            level = p.top().min(hops - hop);
            assert!(p.bounds().shared() <= p.noise_at(level));
        }
        assert_eq!((p.level_of(hop), p.level_after(Some(hop))), (level, level - 1));
        assert_eq!(p.start_of(hop), p.top().min(hops - (hop - hop % p.top())));
        level -= 1;
    }
    assert_eq!((level, refreshes), (0, p.bootstraps()));
    assert!(!p.is_refreshed(hops) && p.level_after(None) == p.top());
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let refused = |n, plain| Parameters::derive(Operation::Bits, Form::LeanRing, n, plain).unwrap_err();
    assert_eq!(refused(1, P32), ParameterError::Parties);
    assert_eq!(refused(256, P32), ParameterError::Parties);
    assert_eq!(refused(3, P16 + 3), ParameterError::Plain);
    assert_eq!(refused(3, 2), ParameterError::Plain);
    assert_eq!(refused(3, 3_221_225_475), ParameterError::Plain);
    assert_eq!(refused(3, 1_000_003), ParameterError::Transform { n: 65536 });
    // beyond 62 bits: 2^63 + 29 is a prime
    let wide = (1 << 63) + 29;
    assert_eq!(refused(3, wide), ParameterError::Plain);
    let tree = Parameters::danger_insecure_in_runs(Operation::Bits, Form::LeanTree, 5, P32, 2);
    assert_eq!(tree, Err(ParameterError::TooLarge));
    for error in [refused(1, P32), refused(3, 15), refused(3, 1_000_003), refused(3, wide)] {
        assert!(error.to_string().len() > 30 && !error.to_string().ends_with('.'));
    }
    let test = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, P32).unwrap();
    assert!(test.is_insecure() && test.report().insecure && test.dimension() == 1024 && test.fits());
    assert!(!Parameters { n: 512, ..test.clone() }.fits(), "no ring is smaller");
    assert_eq!(test.report().log2_limit, None);
    assert!(test.hardness().is_none() && derive(Operation::Bits, Form::LeanTree, 4).hardness().is_some());
}

/// [G5], [G2]: parameters that are too weak in one place are refused.
#[test]
fn weaker_parameters_do_not_fit() {
    let p = derive(Operation::Bits, Form::LeanTree, 4);
    assert!(!Parameters { n: p.n / 2, ..p.clone() }.fits(), "a modulus beyond the table");
    assert!(!Parameters { n: 1024, ..p.clone() }.fits(), "insecure without saying so");
    assert!(!Parameters { special: Some(p.chain[1]), ..p.clone() }.fits(), "a prime twice");
    assert!(!Parameters { special: Some(p.special.unwrap() + 2), ..p.clone() }.fits(), "not a prime");
    let serves = (1..).map(|k| p.special.unwrap() + k * 2 * p.n as u64);
    let product = serves.into_iter().find(|q| !divisi_field::zp::prime::is_prime(*q));
    assert!(!Parameters { special: product, ..p.clone() }.fits(), "a product of primes");
    let ringless = (1..).map(|k| p.special.unwrap() - 2 * k).find(|q| divisi_field::zp::prime::is_prime(*q));
    assert!((ringless.unwrap() - 1) % (2 * p.n as u64) != 0);
    assert!(!Parameters { special: ringless, ..p.clone() }.fits(), "a prime without roots of unity");
    assert!(!Parameters { special: Some(p.plain), ..p.clone() }.fits(), "the plaintext modulus in the chain");
    // plaintext moduli of the right size
    let (prime, slots) = (divisi_field::zp::prime::is_prime, 2 * p.n as u64);
    let product = (1..).map(|k| P32 - k * slots).find(|plain| !prime(*plain)).unwrap();
    let slotless =
        (1..).map(|k| P32 - 2 * k).find(|plain| prime(*plain) && (plain - 1) % slots != 0).unwrap();
    for plain in [product, slotless] {
        assert!(!Parameters { plain, ..p.clone() }.fits(), "{plain}");
    }
    // noise that is almost as large as the modulus, at each level
    for level in 0..=p.top() {
        let mut noisy = p.clone();
        noisy.levels[level].after = p.levels[level].log2_q - p.bounds().plain() - 0.5;
        assert!(!noisy.fits(), "{level}");
    }
    assert!(p.hides(p.noise_at(0)) && !p.hides(p.noise_at(0) + 0.01));
    // answers that take more than a half of the modulus, if by little
    let floods = (1..12).filter_map(|d| Width::at_least(p.flood.deviation() + 0.25 * f64::from(d)));
    let wider = floods.map(|flood| Parameters { flood, ..p.clone() });
    let part = |wider: &Parameters| wider.part_of_modulus(&p.bounds());
    let half: Vec<Parameters> = wider.filter(|wider| (0.5..1.4).contains(&part(wider))).collect();
    assert!(!half.is_empty() && half.iter().all(|wider| !wider.fits()));
    // a first prime that is too short for an answer, if by half a bit
    let mut short = p.clone();
    short.levels[0].limbs = 2;
    short.chain[0] = (answers::answer_bits(&p.bounds()) - 0.5).exp2() as u64;
    assert_eq!(short.answer_limbs(), 2);
    let narrow = Width::at_least(p.flood.deviation() - 1.0).unwrap();
    assert!(!Parameters { flood: narrow, ..p.clone() }.floods());
    let wide = Width::at_least(p.flood.deviation() + 3.0).unwrap();
    assert!(Parameters { flood: wide, ..p.clone() }.floods());
    assert!(!Parameters { flood: wide, ..p.clone() }.fits(), "answers that do not decrypt");
    // a chain with room for any flood: whether 128 bits hold p times it decides how answers are computed
    let capacity = |flood| {
        let mut roomy = Parameters { flood, ..p.clone() };
        roomy.levels.iter_mut().for_each(|level| level.log2_q += 200.0);
        roomy
    };
    let plain = (p.plain as f64).log2();
    for flood in (600..1180).filter_map(|d| Width::at_least(f64::from(d) / 10.0)) {
        let large = capacity(flood);
        assert!(large.fits());
        assert!(!large.answers_are_words() || plain + flood.most() < 126.0, "an answer beyond its numbers");
        assert!(large.answers_are_words() || plain + flood.most() >= 125.9);
    }
    let beyond = divisi_field::zp::prime::is_prime;
    let long = (1..).map(|k| (1 << 50) + k * 2 * p.n as u64 + 1).find(|q| beyond(*q));
    assert!(!Parameters { special: long, ..p.clone() }.fits(), "a prime of ciphertexts of 51 bits");
    // a chain that ends where nothing can be refreshed, or that is longer than the computation
    let shorter = |p: &Parameters| {
        let mut other = p.clone();
        other.levels.pop();
        other
    };
    assert!(!shorter(&p).fits() && shorter(&derive(Operation::Bits, Form::LeanRing, 4)).fits());
    let mut longer = p.clone();
    longer.levels.push(p.levels[p.top()].clone());
    assert!(!longer.fits());
    // a refreshed ciphertext has more noise than the bound of its level
    let refreshed = derive(Operation::Bits, Form::LeanRing, 100);
    for level in 1..=refreshed.top() {
        let mut weak = refreshed.clone();
        weak.levels[level].noise = weak.bounds().shared() - 1.0;
        assert!(!weak.fits(), "{level}");
    }
    // noise as large as the modulus of its level
    for level in 0..=p.top() {
        let mut weak = p.clone();
        weak.levels[level].after = weak.levels[level].log2_q;
        assert!(!weak.fits(), "{level}");
    }
    let paper = derive(Operation::Bits, Form::Paper, 4);
    for level in 1..=paper.top() {
        let mut weak = paper.clone();
        let [first, second] = paper.levels[level].floods.unwrap();
        let narrow = Width::at_least(first.deviation() - 1.0).unwrap();
        weak.levels[level].floods = Some([narrow, second]);
        assert!(!weak.floods());
        weak.levels[level].floods = None;
        assert!(!weak.floods());
    }
}

/// The second flood of a hop is far narrower than the first one, but at least as wide as D4 requires: 2^49
/// times an error.
#[test]
fn a_narrow_second_flood_is_refused() {
    let (mut widest, mut nearest) = (0.0_f64, f64::INFINITY);
    for n in [2, 4, 8, 16] {
        let paper = derive(Operation::Bits, Form::Paper, n);
        let noise = Noise::new(n, paper.n, paper.plain);
        // 2^49 sqrt(N) 3.24, and the same times the key
        let least = 49.0 + noise.root() + 10.5_f64.log2() / 2.0;
        for level in 1..=paper.top() {
            let [first, second] = paper.levels[level].floods.unwrap();
            let with = |second: f64| {
                let mut other = paper.clone();
                other.levels[level].floods = Some([first, Width::at_least(second).unwrap()]);
                other
            };
            assert!(second.deviation() < first.deviation() && paper.floods());
            assert!(!with(8.0).floods() && !with(least - 0.5).floods(), "{n} {level}");
            assert!(with(least + 1.0).floods(), "{n} {level}");
            nearest = nearest.min(second.deviation() - least);
            widest = widest.max(first.deviation());
            assert!(first.deviation() > least + noise.key_norm() + 1.0);
        }
    }
    println!(
        "widest first flood 2^{widest:.1}; second floods at least {nearest:.1} bits above what is needed"
    );
    assert!(nearest > 30.0);
}

/// The first flood of a hop hides what is encrypted anew there, too, however little noise came in.
#[test]
fn floods_of_a_hop_hide_fresh_noise() {
    let p = derive(Operation::Bits, Form::LeanRing, 4);
    let noise = p.bounds();
    let [first, _] = needed_of_hop(&noise, -100.0);
    assert!(first >= needed(&noise, noise.fresh()) && noise.fresh() > 10.0, "{first} {}", noise.fresh());
}

/// A digit of a product ends where a level does, and the digits are all primes of products.
#[test]
fn digits_end_where_levels_do() {
    for form in [Form::LeanRing, Form::LeanTree, Form::Paper] {
        for parties in [2, 3, 8] {
            let p = derive(Operation::PrivateTables, form, parties);
            let (digits, limbs) = (p.digits(), p.limbs_of_products());
            let begins: Vec<usize> = digits.iter().map(|digit| digit.start).collect();
            let levels = p.levels.iter().map(|level| level.limbs).filter(|at| *at < limbs);
            assert!(levels.into_iter().all(|at| begins.contains(&at)), "{begins:?}");
            assert_eq!(digits.iter().map(|digit| digit.len()).sum::<usize>(), limbs);
            // no two primes are together in one if their product is a little too large
            let wide = Parameters { chain: vec![82_600_000; p.chain.len()], ..p.clone() };
            assert!(wide.digits().iter().all(|digit| digit.len() == 1));
            // also where primes are so short that those of two levels would fit in one digit
            let short = Parameters { chain: vec![12_289; p.chain.len()], ..p.clone() };
            let begins: Vec<usize> = short.digits().iter().map(|digit| digit.start).collect();
            let levels = [0].into_iter().chain(p.levels.iter().map(|level| level.limbs));
            assert_eq!(begins, levels.filter(|at| *at < limbs).collect::<Vec<_>>());
        }
    }
}

/// Parties that differ in anything that defines a computation do not begin a session \[M0.4\].
#[test]
fn every_parameter_is_agreed_on() {
    let weight = |weight| Operation::Linear { weight };
    let linear = Parameters::danger_insecure(weight(9), Form::LeanTree, 3, P32).unwrap();
    let base = derive(Operation::Bits, Form::Paper, 3);
    let digest = |p: &Parameters| p.describe(Agreed::new("bgv")).digest();
    // with more wide integers, and with a bit more of each integer
    let wider = |width: Width| [0.1, 0.99].map(|more| Width::at_least(width.deviation() + more).unwrap());
    let mut all = vec![linear.clone(), base.clone()];
    all.extend([10, 9 + 256].map(|more| Parameters { operation: weight(more), ..linear.clone() }));
    all.push(Parameters { operation: Operation::Triples, ..base.clone() });
    all.push(Parameters { form: Form::LeanRing, ..base.clone() });
    all.push(Parameters { plain: P16, ..base.clone() });
    all.push(Parameters { n: 2 * base.n, ..base.clone() });
    all.push(Parameters { special: Some(7), ..base.clone() });
    all.extend(wider(base.flood).map(|flood| Parameters { flood, ..base.clone() }));
    // the last prime of the chain as the special one
    let special = base.chain.last().copied();
    all.push(Parameters { chain: base.chain[..base.chain.len() - 1].to_vec(), special, ..base.clone() });
    for (limb, bit) in (0..base.chain.len()).flat_map(|limb| [2, 8, 40].map(|bit| (limb, bit))) {
        let mut other = base.clone();
        other.chain[limb] += 1 << bit;
        all.push(other);
    }
    for level in 0..base.levels.len() {
        let mut other = base.clone();
        other.levels[level].limbs += 1;
        all.push(other);
        for component in (0..2).filter(|_| level > 0) {
            let floods = base.levels[level].floods.unwrap();
            all.extend(wider(floods[component]).map(|flood| {
                let (mut other, mut floods) = (base.clone(), floods);
                floods[component] = flood;
                other.levels[level].floods = Some(floods);
                other
            }));
        }
    }
    let digests: std::collections::BTreeSet<[u8; 32]> = all.iter().map(digest).collect();
    assert_eq!(digests.len(), all.len());
    assert_eq!(digest(&base.clone()), digest(&base));
}
