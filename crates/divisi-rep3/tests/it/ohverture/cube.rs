//! Lookups by three factors: right for all parts, widths and inputs, and they cost what their table says.

use super::*;
use divisi_rep3::ohverture::{Cube, Dimensions, HeldTable};

/// Entries of this many bits, of which at least the first four have the highest bit.
fn entries<G: Element>(n: usize, width: usize) -> Vec<G> {
    let entry = |i: usize| {
        let word = (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let top = u128::from(i < 4) << (width - 1);
        G::from_low_bits(word.rotate_right(5) & (u128::MAX >> (128 - width)) | top)
    };
    (0..n).map(entry).collect()
}

/// The bits of the products of a vector, and rounds.
fn ahead(parts: [usize; 3]) -> (u64, u32) {
    (parts.iter().map(|k| products(*k)).sum(), log2(parts.into_iter().max().unwrap()))
}

/// A table with entries of this many components, at an index in two inputs of which the first has `low` bits.
fn lookups<F: Element, G: Element>(
    parts: [usize; 3],
    components: usize,
    width: usize,
    lanes: usize,
    low: usize,
) {
    let k: usize = parts.iter().sum();
    let table: Vec<G> = entries(components << k, width);
    let cube = Cube::new(parts, components, &table).unwrap();
    assert_eq!((cube.index_bits(), cube.width(), cube.components()), (k, components * width, components));
    let x: Vec<usize> = (0..lanes).map(|l| (l * 40_503 + 7) & ((1 << k) - 1)).collect();
    let input_of = |of: &dyn Fn(usize) -> usize| -> Vec<F> {
        x.iter().map(|x| F::from_low_bits(of(*x) as u128)).collect()
    };
    // bits above those of an input are ignored
    let dirt = if low < F::BITS { 1 << low } else { 0 };
    let halves = [input_of(&|x| x & ((1 << low) - 1) | dirt), input_of(&|x| x >> low)];
    let expected: Vec<Vec<G>> =
        (0..components).map(|c| x.iter().map(|x| table[x * components + c]).collect()).collect();
    for security in [true, false] {
        let all = lab::run(|trio| {
            let b = &mut if security { BlackBox::new(trio) } else { BlackBox::semi_honest(trio) };
            let halves = [input(b, 1, &halves[0])?, input(b, 1, &halves[1])?];
            b.session().phase("ahead");
            let vectors = b.rohv_cube(parts, lanes)?;
            b.session().phase("online");
            let y = b.lookup_cube(&cube, &[(&halves[0], low), (&halves[1], k - low)], vectors)?;
            b.session().phase("more");
            let vectors = b.rohv_cube(parts, lanes)?;
            b.session().phase("sample");
            let sample = b.sample_cube(&cube, vectors)?;
            b.session().phase("verification");
            let recon = b.verify_recon()?;
            b.verify_mul(&recon)?;
            b.session().phase("rest");
            let open = |b: &mut BlackBox, all: &[Shared<G>]| {
                all.iter().map(|y| b.output(y)).collect::<Result<Vec<_>, _>>()
            };
            Ok((open(b, &y)?, open(b, &sample)?, b.session().meter().read()))
        })
        .unwrap();
        assert!(all.iter().all(|(y, ..)| *y == expected), "{parts:?} {lanes}");
        assert!(all[0].1 == all[1].1 && all[1].1 == all[2].1);
        let drawn = (0..lanes).all(|l| {
            let sample: Vec<G> = all[0].1.iter().map(|component| component[l]).collect();
            table.chunks(components).any(|entry| *entry == sample)
        });
        assert!(drawn, "a sample is an entry");
        // costs, to the bit, and what is verified
        let (n, k, w) = (lanes as u64, k as u64, (components * width) as u64);
        let counts = &all[0].2;
        assert_eq!(spent(counts, "ahead"), (ahead(parts).0 * n, ahead(parts).1), "{parts:?}");
        assert_eq!(spent(counts, "online"), (n * (k + (w << parts[0])), 3), "{parts:?}");
        assert_eq!(spent(counts, "sample"), (n * (w << parts[0]), 2), "{parts:?}");
        let vectors = parts.iter().filter(|k| **k > 1).count() as u64;
        let terms = (1 << parts[0]) + (1 << parts[1]) - 1;
        let (relations, checked) = (2 * n * vectors, 2 * n * (terms + ahead(parts).0));
        let made = [times(counts, checks::A17), times(counts, checks::S2)];
        assert_eq!(made, if security { [relations, checked] } else { [0, 0] }, "{parts:?}");
        assert_eq!(counts.verification_error_bits.is_some(), security);
        assert!(counts.verification_error_bits.is_none_or(|bits| bits > 57.0));
        if !security {
            assert_eq!(spent(counts, "verification").0, 0);
        }
    }
}

#[test]
fn three_factors_cost_what_the_table_says() {
    lookups::<Gf4, Gf2>([1, 1, 1], 1, 1, 5, 2);
    lookups::<Gf4, Gf8>([2, 1, 3], 3, 7, 70, 3);
    lookups::<Gf8, Gf64>([1, 3, 2], 2, 33, 513, 1);
    lookups::<Gf8, Gf8>([4, 6, 6], 1, 8, 9, 8);
    lookups::<Gf64, Gf128>([3, 2, 7], 1, 100, 3, 5);
    lookups::<Gf64, Gf8>([5, 6, 7], 1, 2, 2, 10);
}

/// One call looks up by whichever way is cheapest, with an index in one input or in two, and costs what that
/// way says; a table without room is refused, and so are vectors of another way.
#[test]
fn one_call_takes_the_cheapest_way() {
    for (k, factors) in [(2, 1), (4, 2), (12, 3)] {
        let table: Vec<Gf8> = entries(1 << k, 8);
        let lookups = HeldTable::new(&table).unwrap();
        assert_eq!((lookups.dimensions().number(), lookups.index_bits()), (factors, k));
        let at: [usize; 3] = [0, 1 << (k - 1), (1 << k) - 2];
        let (low, high) = (k / 2, k - k / 2);
        let (out, counts) = run(|b| {
            let digit = |shift: usize, bits: usize| at.map(|x| Gf8((x >> shift & ((1 << bits) - 1)) as u8));
            let x = input(b, 1, &digit(0, low))?;
            let y = input(b, 1, &digit(low, high))?;
            b.session().phase("ahead");
            let vectors = b.one_hots(&lookups, 3)?;
            b.session().phase("online");
            let found = b.look_up(&lookups, &[(&x, low), (&y, high)], vectors)?;
            b.session().phase("rest");
            b.output(&found)
        });
        assert_eq!(out, at.map(|x| table[x]));
        let way = lookups.dimensions();
        assert_eq!(spent(&counts, "ahead").0, 3 * way.bits_ahead(k));
        assert_eq!(spent(&counts, "online"), (3 * way.bits_online(k, 8), way.rounds_online()));
        let other =
            HeldTable::by(if factors == 1 { Dimensions::Two } else { Dimensions::One }, &table).unwrap();
        let refused = lab::run(|trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b, 1, &[Gf64(1)])?;
            let vectors = b.one_hots(&other, 1)?;
            Ok(matches!(b.look_up(&lookups, &[(&x, k)], vectors), Err(Abort::Misuse { .. })))
        });
        // whoever is not there yet is told that another one has ended the session
        assert!(refused.as_ref().map_or_else(|e| matches!(e, Abort::Network(_)), |all| *all == [true; 3]));
    }
    assert!(HeldTable::<Gf8>::new(&[Gf8(1); 3]).is_none() && HeldTable::<Gf8>::new(&[]).is_none());
    assert_eq!((Dimensions::of(24, 64), Dimensions::three(24, 33)), (None, None));
    assert!(Dimensions::of(24, 32).is_some());
}

/// A lookup sends as many bits as [`Dimensions`] says.
#[test]
fn the_cost_by_which_a_way_is_chosen_is_what_it_costs() {
    for (k, width) in [(8, 8), (10, 1), (12, 4)] {
        let table: Vec<Gf8> = entries(1 << k, width);
        let ways = [Dimensions::One, Dimensions::Two, Dimensions::three(k, width).unwrap()];
        for way in ways {
            let (out, counts) = run(|b| {
                let x = input(b, 1, &[Gf64(5); 4])?;
                b.session().phase("ahead");
                let y = match way {
                    Dimensions::Three(parts) => {
                        let vectors = b.rohv_cube(parts, 4)?;
                        b.session().phase("online");
                        b.lookup_cube(&Cube::new(parts, 1, &table).unwrap(), &[(&x, k)], vectors)?.remove(0)
                    }
                    Dimensions::Two => {
                        let vectors = b.rohv_add(k, 4)?;
                        b.session().phase("online");
                        b.lookup_sqrt(&LookupTable::new(&table).unwrap(), &x, vectors)?
                    }
                    Dimensions::One => {
                        let vectors = b.rohv_rss(k, 4)?;
                        b.session().phase("online");
                        b.lookup(&LookupTable::new(&table).unwrap(), &x, vectors)?
                    }
                };
                b.session().phase("rest");
                b.output(&y)
            });
            assert_eq!(out, [table[5]; 4]);
            assert_eq!(spent(&counts, "ahead").0, 4 * way.bits_ahead(k), "{k} {way:?}");
            assert_eq!(spent(&counts, "online"), (4 * way.bits_online(k, width), way.rounds_online()));
        }
    }
}

/// Vectors that were split serve the lanes that are theirs.
#[test]
fn vectors_are_split_at_tiles() {
    let parts = [2, 2, 2];
    let table: Vec<Gf8> = entries(64, 8);
    let cube = Cube::new(parts, 1, &table).unwrap();
    let x: Vec<Gf8> = (0..700).map(|l| Gf8((l * 11 % 64) as u8)).collect();
    let (out, _) = run(|b| {
        let vectors = b.rohv_cube(parts, 1212)?;
        assert_eq!(vectors.count(), 1212);
        let [first, second] = vectors.split(512).unwrap();
        let x = input(b, 1, &x)?;
        let of = |range: std::ops::Range<usize>| x.gather(&range.collect::<Vec<_>>()).unwrap();
        let y = b.lookup_cube(&cube, &[(&of(0..512), 6)], first)?.remove(0);
        let z = b.lookup_cube(&cube, &[(&x, 6)], second)?.remove(0);
        assert!(b.rohv_cube(parts, 600)?.split(513).is_none());
        assert!(b.rohv_cube(parts, 600)?.split(511).is_none());
        Ok([b.output(&y)?, b.output(&z)?])
    });
    let expected: Vec<Gf8> = x.iter().map(|x| table[usize::from(x.0)]).collect();
    assert!(out[0] == expected[..512] && out[1] == expected);
}

#[test]
fn what_is_no_cube_or_does_not_fit_one_is_refused() {
    let table: Vec<Gf8> = entries(64, 8);
    assert!(Cube::new([2, 2, 2], 2, &table).is_none() && Cube::new([2, 2, 1], 1, &table).is_none());
    assert!(Cube::new([0, 3, 3], 1, &table).is_none() && Cube::new([2, 2, 2], 0, &table).is_none());
    assert!(Cube::new([13, 1, 1], 1, &[Gf2::ONE; 1 << 15]).is_none());
    assert!(Cube::new([usize::MAX, 1, 1], 1, &table).is_none());
    assert!(Cube::new([1, 1, 1], 9, &[Gf128(u128::MAX); 72]).is_none());
    // 256 MB of coefficients, of which a row has two bits
    assert!(Cube::new([11, 8, 1], 1, &vec![Gf64(u64::MAX); 1 << 20]).is_none());
    let cube = Cube::new([2, 2, 2], 1, &table).unwrap();
    for (parts, count) in [([0, 1, 1], 1), ([13, 1, 1], 1), ([9, 9, 9], 1), ([2, 2, 2], 0)] {
        is_misuse("a size", |b| b.rohv_cube(parts, count).map(drop));
    }
    is_misuse("more than fits", |b| b.rohv_cube([8, 8, 8], usize::MAX).map(drop));
    for (parts, count, bits) in [([2, 2, 2], 3, 6), ([1, 2, 3], 2, 6), ([2, 2, 2], 2, 5), ([2, 2, 2], 2, 9)] {
        is_misuse("vectors or an index of another table", |b| {
            let x = input(b, 1, &[Gf8::ONE; 2])?;
            let vectors = b.rohv_cube(parts, count)?;
            b.lookup_cube(&cube, &[(&x, bits)], vectors).map(drop)
        });
    }
    for parts in [[1, 2, 3], [2, 2, 1], [3, 2, 2]] {
        is_misuse("a sample of vectors of another table", |b| {
            let vectors = b.rohv_cube(parts, 2)?;
            b.sample_cube(&cube, vectors).map(drop)
        });
    }
    is_misuse("inputs of different lanes", |b| {
        let (x, y) = (input(b, 1, &[Gf8::ONE; 2])?, input(b, 1, &[Gf8::ONE; 3])?);
        let vectors = b.rohv_cube([2, 2, 2], 2)?;
        b.lookup_cube(&cube, &[(&x, 3), (&y, 3)], vectors).map(drop)
    });
    is_misuse("another box's vectors", |b| {
        let vectors = b.rohv_cube([2, 2, 2], 1)?;
        let strand = Trio::new(b.session().strand()?)?;
        BlackBox::new(strand).sample_cube(&cube, vectors).map(drop)
    });
}
