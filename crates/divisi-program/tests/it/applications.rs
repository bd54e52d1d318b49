//! The applications among parties, compared with plain code that is written here and shares nothing with
//! them.

use crate::parties;
use crate::parties::compare;
use divisi_fuzz::repetitions;
use divisi_program::applications::{digits, kmeans, named, table6};
use divisi_program::plain::{self, Entries};
use divisi_program::{RunCost, Script, lower, valid};

fn num(numbers: &[i64]) -> Entries {
    Entries::Num(numbers.to_vec())
}

fn numbers(entries: &Entries) -> Vec<i64> {
    let Entries::Num(numbers) = entries else { panic!("no numbers") };
    numbers.clone()
}

/// The program gives the expected outputs in the clear, and among each of these numbers of parties.
fn check(n: &[usize], program: &Script, inputs: &[Entries], expected: &[Vec<i64>]) {
    let clear: Vec<Vec<i64>> = valid::evaluate(program, inputs).unwrap().iter().map(numbers).collect();
    assert_eq!(clear, expected);
    for n in n {
        compare(*n, program, inputs);
    }
}

fn cost(program: &Script) -> RunCost {
    lower(program).unwrap().cost()
}

/// Numbers that look random.
fn some(seed: u64, count: usize, below: i64) -> Vec<i64> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64) % below
    };
    (0..count).map(next).collect()
}

fn biomatch(n: &[usize]) {
    let program = named("biomatch").unwrap().script().unwrap();
    for below in [5, 8000] {
        let (query, base) = (some(1, 4, below), some(2, 1024, below));
        // a plain search
        let mut best = (i64::MAX, 0);
        for (place, record) in base.chunks(4).enumerate() {
            let distance: i64 = record.iter().zip(&query).map(|(x, y)| (x - y) * (x - y)).sum();
            if distance < best.0 {
                best = (distance, place as i64);
            }
        }
        check(n, &program, &[num(&query), num(&base)], &[vec![best.0], vec![best.1]]);
    }
}

fn merge_db(n: &[usize]) {
    let program = named("merge-db").unwrap().script().unwrap();
    for offset in [0, -1000] {
        let tables = [3, 4].map(|seed| some(seed, 100, 1999).iter().map(|x| x + offset).collect::<Vec<_>>());
        // floating point, exact for numbers this small
        let all: Vec<f64> = tables.concat().iter().map(|x| *x as f64).collect();
        let mean = (all.iter().sum::<f64>() / 200.0).floor();
        let variance = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 200.0).floor();
        let expected = [vec![mean as i64], vec![variance as i64]];
        check(n, &program, &[num(&tables[0]), num(&tables[1])], &expected);
    }
}

fn gauss(n: &[usize]) {
    let program = named("gauss").unwrap().script().unwrap();
    let (x, mean, deviation) = ([100, 87, 143, (1 << 20) - 1, -900, 99, 60], 95, 20);
    let expected: Vec<i64> = x
        .iter()
        .map(|x: &i64| {
            let far = ((x - mean).abs() as f64 * 16.0 / f64::from(deviation)).floor().min(63.0) / 16.0;
            let share = (1024.0 * (-far * far / 2.0).exp()).round();
            ((1e6 / (2.0 * std::f64::consts::PI).sqrt()).floor() / f64::from(deviation)).floor() * share
                / 1024.0
        })
        .map(|density| density.floor() as i64)
        .collect();
    let inputs = [num(&x), num(&[mean]), num(&[i64::from(deviation)])];
    check(n, &program, &inputs, std::slice::from_ref(&expected));
    // as near to the density as its table and integers are
    for (x, found) in x.iter().zip(&expected) {
        let z = (x - mean) as f64 / f64::from(deviation);
        let density = (-z * z / 2.0).exp() / (f64::from(deviation) * (2.0 * std::f64::consts::PI).sqrt());
        assert!((density * 1e6 - *found as f64).abs() < 1e6 / 20.0 / 16.0 / 2.0, "{x}: {density} {found}");
    }
}

/// Lloyd's steps: centres, and how many points each had in the last step.
fn lloyd(start: &[i64], points: &[Vec<i64>], steps: usize) -> (Vec<i64>, Vec<i64>) {
    let features = points[0].len();
    let mut centres: Vec<Vec<i64>> = start.chunks(features).map(<[i64]>::to_vec).collect();
    let mut sizes = Vec::new();
    for _ in 0..steps {
        let mut groups: Vec<Vec<&Vec<i64>>> = vec![Vec::new(); centres.len()];
        for point in points {
            let distance =
                |centre: &Vec<i64>| -> i64 { centre.iter().zip(point).map(|(c, p)| (c - p).pow(2)).sum() };
            // the first of the smallest
            let nearest = (0..centres.len()).min_by_key(|k| distance(&centres[*k])).unwrap();
            groups[nearest].push(point);
        }
        for (centre, group) in centres.iter_mut().zip(&groups).filter(|(_, group)| !group.is_empty()) {
            for (i, coordinate) in centre.iter_mut().enumerate() {
                let sum: i64 = group.iter().map(|point| point[i]).sum();
                *coordinate = (sum as f64 / group.len() as f64).floor() as i64;
            }
        }
        sizes = groups.iter().map(|group| group.len() as i64).collect();
    }
    (centres.concat(), sizes)
}

fn iris(n: &[usize], rows: &[usize]) {
    let program = kmeans::iris(rows).unwrap();
    let inputs = kmeans::iris_inputs(rows).unwrap();
    let points: Vec<Vec<i64>> = inputs[1..]
        .iter()
        .flat_map(|block| numbers(block).chunks(4).map(<[i64]>::to_vec).collect::<Vec<_>>())
        .collect();
    let (centres, sizes) = lloyd(&numbers(&inputs[0]), &points, 5);
    if rows.iter().sum::<usize>() == 150 {
        // one group is setosa, the others are nearly the other two kinds; one more step moves no centre
        assert_eq!(sizes, [50, 56, 44]);
        assert_eq!(lloyd(&numbers(&inputs[0]), &points, 6), (centres.clone(), sizes.clone()));
    }
    check(n, &program, &inputs, &[centres, sizes]);
}

#[test]
fn the_nearest_record_is_found() {
    biomatch(&[2, 4]);
    let cost = cost(&named("biomatch").unwrap().script().unwrap());
    let paper = table6::ROWS[0];
    assert_eq!((cost.products, cost.a2b), (paper.products, paper.a2b));
    // the best one and its position, and nothing else
    assert_eq!(cost.b2a, 2);
}

#[test]
fn two_tables_have_a_mean_and_a_variance() {
    merge_db(&[2, 4]);
    let cost = cost(&named("merge-db").unwrap().script().unwrap());
    assert_eq!((cost.products, cost.a2b, cost.b2a), (table6::ROWS[4].products, 2, 2));
}

#[test]
fn densities_of_a_normal_distribution() {
    gauss(&[2, 4]);
}

#[test]
fn plants_are_grouped() {
    let plants = kmeans::plants().unwrap();
    assert_eq!((plants.len(), plants[0], plants[149]), (150, [51, 35, 14, 2], [59, 30, 51, 18]));
    iris(&[2], &[10, 14]);
    iris(&[4], &[6, 3, 3, 3]);
    // all plants, in the clear
    iris(&[], &[75, 75]);
}

/// A centre to which no point is nearest stays where it is.
#[test]
fn a_centre_without_points_stays() {
    let program = kmeans::script(&[3, 2], 2, 3, 2).unwrap();
    let start = [0, 0, 900, 900, 10, 10];
    let points = [vec![1, 2], vec![-3, 4], vec![9, 14], vec![11, 7], vec![-2, -2]];
    let (centres, sizes) = lloyd(&start, &points, 2);
    assert_eq!((&centres[2..4], sizes[1]), (&[900, 900][..], 0));
    let inputs = [num(&start), num(&points[..3].concat()), num(&points[3..].concat())];
    check(&[2], &program, &inputs, &[centres, sizes]);
}

/// The network on integers, loop by loop.
fn network(network: &digits::Network, image: &[i64]) -> Vec<i64> {
    let layers = network.layers();
    let rectify = |sum: i64, layer: usize| sum.div_euclid(1 << network.shifts()[layer]).max(0);
    let convolve = |x: &[Vec<Vec<i64>>], layer: usize| -> Vec<Vec<Vec<i64>>> {
        // x[channel][row][column]
        let (side, channels) = (x[0].len() - 4, x.len());
        let pixel = |out: usize, row: usize, column: usize| {
            let mut sum = layers[layer].biases[out];
            for (channel, x) in x.iter().enumerate() {
                for (dy, dx) in (0..25).map(|at| (at / 5, at % 5)) {
                    let weight = layers[layer].weights[((dy * 5 + dx) * channels + channel) * 16 + out];
                    sum += weight * x[row + dy][column + dx];
                }
            }
            rectify(sum, layer)
        };
        let half = side / 2;
        let largest = |out: usize, row: usize, column: usize| {
            let four = [(0, 0), (0, 1), (1, 0), (1, 1)];
            four.iter().map(|(y, x)| pixel(out, 2 * row + y, 2 * column + x)).max().unwrap()
        };
        let line = |out, row| (0..half).map(|column| largest(out, row, column)).collect();
        (0..16).map(|out| (0..half).map(|row| line(out, row)).collect()).collect()
    };
    let image = vec![image.chunks(28).map(<[i64]>::to_vec).collect()];
    let x = convolve(&convolve(&image, 0), 1);
    let flat: Vec<i64> = (0..4 * 4 * 16).map(|at| x[at % 16][at / 64][at / 16 % 4]).collect();
    let product = |x: &[i64], layer: usize| -> Vec<i64> {
        let out = layers[layer].biases.len();
        let sum =
            |k: usize| x.iter().enumerate().map(|(i, x)| x * layers[layer].weights[i * out + k]).sum::<i64>();
        (0..out).map(|k| sum(k) + layers[layer].biases[k]).collect()
    };
    let hidden: Vec<i64> = product(&flat, 2).iter().map(|sum| rectify(*sum, 2)).collect();
    product(&hidden, 3)
}

#[test]
fn most_digits_that_were_held_out_are_right() {
    let trained = digits::Network::trained().unwrap();
    let samples = digits::held_out();
    assert_eq!(samples.len(), 360);
    // by default a fourth of them, of which chance may leave some less right
    let (part, percent) = repetitions((4, 90), (1, 95));
    let chosen: Vec<_> = samples.iter().step_by(part).collect();
    let right = chosen.iter().filter(|sample| {
        let logits = network(&trained, &sample.image);
        (0..10).max_by_key(|k| logits[*k]) == Some(usize::from(sample.digit))
    });
    let (right, all) = (right.count(), chosen.len());
    assert!(right * 100 >= percent * all, "{right} of {all}");
}

/// The network has the paper's products, its powers of two fit its weights, and no sum is too large.
#[test]
fn the_network_has_the_papers_products() {
    let program = digits::script(1, 2).unwrap();
    let cost = cost(&program);
    assert_eq!(cost.products, table6::ROWS[2].products);
    // each of the values that are compared, and no others
    assert_eq!((cost.a2b, cost.b2a), (24 * 24 * 16 + 8 * 8 * 16 + 100, 12 * 12 * 16 + 4 * 4 * 16 + 100));
    let trained = digits::Network::trained().unwrap();
    let shifts = trained.shifts();
    assert_eq!(cost, lower(&digits::with_shifts(1, 2, shifts).unwrap()).unwrap().cost());
    let sample = &digits::held_out()[0];
    let inputs = digits::inputs_for(&trained, &sample.image).unwrap();
    let clear = valid::evaluate(&program, &inputs).unwrap();
    assert_eq!(numbers(&clear[0]), network(&trained, &sample.image), "shifts {shifts:?}");
    assert!(digits::inputs_for(&trained, &[17; 784]).is_err());
}

/// docs/programs.md has the counts of each application, beside those of Table 6.
#[test]
fn the_page_has_the_counts() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/programs.md")).unwrap();
    let page = page.replace(',', "");
    for row in &table6::ROWS {
        let cost = cost(&named(row.name).unwrap().script().unwrap());
        let pairs = [
            (cost.ands + cost.a2b_ands, row.ands),
            (cost.products, row.products),
            (cost.b2a, row.b2a),
            (cost.a2b, row.a2b),
        ];
        let cells: Vec<String> = pairs.iter().map(|(here, paper)| format!("{here} / {paper}")).collect();
        let line = format!("| {} | {} |", row.title, cells.join(" | "));
        assert!(page.contains(&line), "{line}");
    }
}

#[test]
fn networks_and_images_that_do_not_fit_are_refused() {
    let size = digits::LAYERS.iter().map(|[into, out]| into * out + 4 * out).sum();
    assert_eq!(size, 33_968);
    assert!(digits::Network::read(&vec![0; size]).is_ok());
    assert!(digits::Network::read(&vec![0; size - 1]).is_err());
    assert!(digits::Network::read(&vec![0; size + 1]).is_err());
    // a bias beyond 2^30
    let mut large = vec![0; size];
    large[400 + 3] = 0x40;
    assert!(digits::Network::read(&large).unwrap_err().contains("layer 1"));
    // the last layer may be larger, up to p/2
    let mut last = vec![0; size];
    last[size - 1] = 0x50;
    assert!(digits::Network::read(&last).is_ok());
    last[size - 1] = 0x70;
    assert!(digits::Network::read(&last).unwrap_err().contains("layer 4"));

    let header = |count: u8, side: u8| [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side];
    let file = |count, side, points: usize| [&header(count, side)[..], &vec![255; points][..]].concat();
    let images = digits::read_idx(&file(2, 28, 2 * 784)).unwrap();
    assert_eq!((images.len(), images[1][783]), (2, 15));
    assert!(digits::read_idx(&file(2, 28, 784)).is_err() && digits::read_idx(&file(1, 27, 729)).is_err());
    assert!(digits::read_idx(&[0, 0, 8, 1]).is_err() && digits::read_idx(&[]).is_err());

    let labels = |bytes: &[u8]| digits::read_idx_labels(bytes);
    assert_eq!(labels(&[0, 0, 8, 1, 0, 0, 0, 2, 9, 0]), Ok(vec![9, 0]));
    let wrong: [&[u8]; 6] = [
        &[],
        &[0, 0, 8, 1, 0, 0, 0],
        &[0, 0, 8, 3, 0, 0, 0, 0],
        &[0, 0, 8, 1, 0, 0, 0, 2, 9],
        &[0, 0, 8, 1, 0, 0, 0, 1, 9, 0],
        &[0, 0, 8, 1, 0, 0, 0, 1, 10],
    ];
    assert!(wrong.iter().all(|bytes| labels(bytes).is_err()));
    assert_eq!([&[-3, -1, -2][..], &[5, 7, 7], &[]].map(digits::answer), [Some(1), Some(1), None]);
}

fn logits(n: usize, images: usize) {
    let (program, trained) = (digits::script(1, 2).unwrap(), digits::Network::trained().unwrap());
    for sample in digits::held_out().iter().take(images) {
        let inputs = digits::inputs_for(&trained, &sample.image).unwrap();
        let expected = network(&trained, &sample.image);
        for (party, (learned, _)) in (1..).zip(parties::run(n, &program, &inputs)) {
            assert_eq!(
                learned[0].as_ref().map(numbers),
                (party == 2).then(|| expected.clone()),
                "party {party}"
            );
        }
    }
}

#[test]
fn a_digit_is_read_among_parties() {
    logits(2, 1);
}

/// Twenty digits.
#[test]
#[ignore = "a minute"]
fn twenty_digits_are_read_among_four() {
    logits(4, 20);
}

#[test]
#[ignore = "a minute"]
fn all_of_them_among_sixteen() {
    biomatch(&[16]);
    merge_db(&[16]);
    gauss(&[16]);
    iris(&[2, 4, 16], &[75, 75]);
    iris(&[16], &[10; 15]);
    logits(16, 1);
    let clear = |name: &str| {
        let program = named(name).unwrap().script().unwrap();
        let mut next = 7_u64;
        let inputs = named(name).unwrap().inputs(&mut |below| {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11);
            (next >> 33) % below
        });
        let inputs = inputs.unwrap();
        assert!(plain::evaluate(&program, &inputs).is_ok());
        compare(16, &program, &inputs);
    };
    clear("table4-gauss");
}
