use super::security::LIMITS;
use super::*;
use divisi_field::zp::{P16, P32, P62};

fn derive(operation: Operation, form: Form, parties: usize) -> Parameters {
    Parameters::derive(operation, form, parties, P32).unwrap()
}

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
fn runs_end_at_the_bottom(p: &Parameters) {
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

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let refused = |n, plain| Parameters::derive(Operation::Bits, Form::LeanRing, n, plain).unwrap_err();
    assert_eq!(refused(1, P32), ParameterError::Parties);
    assert_eq!(refused(256, P32), ParameterError::Parties);
    assert_eq!(refused(3, P16 + 3), ParameterError::Plain);
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
            assert!(!with(8.0).floods() && !with(least - 1.0).floods(), "{n} {level}");
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
    let wider = |width: Width| Width::at_least(width.deviation() + 0.1).unwrap();
    let mut all = vec![linear.clone(), base.clone()];
    all.extend([10, 9 + 256].map(|more| Parameters { operation: weight(more), ..linear.clone() }));
    all.push(Parameters { operation: Operation::Triples, ..base.clone() });
    all.push(Parameters { form: Form::LeanRing, ..base.clone() });
    all.push(Parameters { plain: P16, ..base.clone() });
    all.push(Parameters { n: 2 * base.n, ..base.clone() });
    all.push(Parameters { special: Some(7), ..base.clone() });
    all.push(Parameters { flood: wider(base.flood), ..base.clone() });
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
            let mut other = base.clone();
            let mut floods = base.levels[level].floods.unwrap();
            floods[component] = wider(floods[component]);
            other.levels[level].floods = Some(floods);
            all.push(other);
        }
    }
    let digests: std::collections::BTreeSet<[u8; 32]> = all.iter().map(digest).collect();
    assert_eq!(digests.len(), all.len());
    assert_eq!(digest(&base.clone()), digest(&base));
}
