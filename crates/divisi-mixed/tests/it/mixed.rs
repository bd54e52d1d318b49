//! Numbers: triples, products, B2A and A2B, and what they cost.

use crate::common;
use crate::common::{honest, plain, refused_for, share, small, with_keys};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId};
use divisi_field::zp::P32;
use divisi_fuzz::repetitions;
use divisi_mixed::adders::NumberAdder;
use divisi_mixed::open::OpeningRounds;
use divisi_mixed::together::Asked;
use divisi_mixed::{GmwBit, Mixed, Num, arithmetic, num};
use std::slice::from_ref;
use std::sync::Barrier;

/// How random bits are made: by transfers, or in one of these forms.
type How = Option<Form>;
const COT: How = None;
const ALL: [How; 4] = [COT, Some(Form::LeanTree), Some(Form::LeanRing), Some(Form::Paper)];

/// Whether random bits are made so by default, where every way is tried: among two and three parties each,
/// among more one of them.
fn is_chosen(n: usize, how: How) -> bool {
    n < 4
        || matches!((n, how), (4, Some(Form::Paper)) | (5, Some(Form::LeanRing)) | (8, Some(Form::LeanTree)))
}

/// All parties.
fn parties<R: Send>(
    n: usize,
    how: How,
    act: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let bits = how.map(|form| small(Operation::Bits, form, n));
    let numbers = small(Operation::Triples, Form::LeanTree, n);
    common::parties(n, plain(), [bits.as_ref(), Some(&numbers)], act)
}

fn shared(mixed: &mut Mixed, values: &[u64]) -> Num {
    let (n, me) = (mixed.session().parties(), mixed.session().me().index());
    let shares: Vec<u64> = values.iter().enumerate().map(|(i, x)| share(n, me, i, *x, P32)).collect();
    Num::new(WipedVec::from(&*shares))
}

/// 0, 1, p - 1, and numbers around every power that matters.
fn numbers() -> Vec<u64> {
    let mut all = vec![0, 1, P32 - 1, P32 - 2, 1 << 31, (1 << 31) - 1, 3 << 30, (3 << 30) - 1, 12_345_678];
    all.extend((0..60_u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % P32));
    all
}

/// Two polynomials of shares from each to the holder, c_1 and an answer back; three rounds.
#[test]
fn cost_of_arithmetic_triples() {
    for n in [2, 3, 4, 5, 8] {
        let ring = small(Operation::Triples, Form::LeanTree, n);
        let ends = honest(with_keys(&ring, |session, keys, sampler| {
            let mut all = Vec::new();
            session.phase("triples");
            for _ in 0..n {
                // so that the meter has the rounds of the longest batch
                let place = session.aside();
                let triples = arithmetic::triples(session, keys, sampler)?;
                session.back(place);
                all.push(triples.open().map(|part| part.shares().to_vec()));
            }
            Ok((all, session.meter().read()))
        }));
        let plain = ring.plain();
        for batch in 0..n {
            for at in 0..ring.dimension() {
                let of = |part: usize| ends.iter().fold(0, |s, (all, _)| plain.add(s, all[batch][part][at]));
                assert_eq!(plain.mul(of(0), of(1)), of(2), "{n} parties, batch {batch}, {at}");
            }
        }
        let report = ring.parameters().report();
        for (_, counts) in &ends {
            let phase = counts.phases["triples"];
            // over n batches everybody has sent the same
            assert_eq!(phase.bits as f64 / 8.0 / (n * ring.dimension()) as f64, report.bytes_per_item);
            assert_eq!(phase.rounds as usize, report.rounds);
            // with frames
            assert!((phase.bits / 8..phase.bits * 51 / 400).contains(&phase.bytes), "{phase:?}");
        }
    }
}

#[test]
fn products_of_numbers_and_matrices() {
    let plain = plain();
    for n in [2, 3, 4, 5, 8] {
        let (x, mut y) = (numbers(), numbers());
        y.reverse();
        let ends = parties(n, COT, |mixed| {
            let (left, right) = (shared(mixed, &x), shared(mixed, &y));
            let product = mixed.multiply(&left, &right)?;
            // 2 x 3 times 3 x 2
            let six = |mixed: &mut Mixed, from: &[u64]| shared(mixed, &from[..6]);
            let (left, right) = (six(mixed, &x), six(mixed, &y));
            let matrix = mixed.multiply_matrices([2, 3, 2], &left, &right)?;
            let all = Num::join(&[&product, &matrix]);
            num::open(mixed.session(), plain, &all)
        });
        for end in ends {
            let opened = end.unwrap();
            let (products, matrix) = opened.split_at(x.len());
            assert!(x.iter().zip(&y).zip(products).all(|((x, y), z)| plain.mul(*x, *y) == *z));
            for (at, z) in matrix.iter().enumerate() {
                let sum =
                    (0..3).fold(0, |s, k| plain.add(s, plain.mul(x[at / 2 * 3 + k], y[k * 2 + at % 2])));
                assert_eq!(sum, *z);
            }
        }
    }
}

#[test]
fn numbers_become_bits_and_bits_numbers() {
    let plain = plain();
    for (n, how) in [2, 3, 4, 5, 8].into_iter().flat_map(|n| ALL.map(|how| (n, how))) {
        if !repetitions(is_chosen(n, how), true) {
            continue;
        }
        for adder in NumberAdder::ALL {
            // the adder does not depend on how masks are made
            if adder == NumberAdder::LowDepth && how != COT {
                continue;
            }
            let x = numbers();
            let ends = parties(n, how, |mixed| {
                let all: Vec<PartyId> = PartyId::all(n).collect();
                mixed.set_adder(adder);
                mixed.gmw().set_opening_rounds(OpeningRounds::One);
                let number = shared(mixed, &x);
                mixed.session().phase("preprocessing");
                mixed.prepare_a2b(x.len())?;
                mixed.session().phase("online");
                let bits = mixed.a2b(&number)?;
                let online = mixed.session().meter().read().phases["online"];
                assert_eq!(mixed.gmw().triples(), 0, "as many as were foreseen");
                let opened = mixed.gmw().output(&all, &bits)?.unwrap();
                let back = mixed.b2a(&bits)?;
                Ok((opened, num::open(mixed.session(), plain, &back)?, online))
            });
            for end in ends {
                let (bits, back, online) = end.unwrap();
                for (i, x) in x.iter().enumerate() {
                    let number = bits.iter().rev().fold(0, |sum, bit| sum << 1 | bit.lane(i));
                    assert_eq!((number, back[i]), (*x, *x), "{n} parties, {how:?}, {adder:?}");
                }
                let rounds = if adder == NumberAdder::LowDepth { 2 + 5 + 6 } else { 2 + 31 + 31 };
                assert!(online.rounds <= rounds, "{}", online.rounds);
            }
        }
    }
}

/// [G12]: both kinds of keys count together.
#[test]
fn decryptions_are_counted_over_all_keys() {
    let ends = parties(2, Some(Form::LeanTree), |mixed| {
        mixed.prepare_bits(2048)?;
        mixed.prepare_products(2048)?;
        Ok(mixed.decryptions())
    });
    // of two batches, each party holds one and answers the other
    assert!(ends.into_iter().all(|end| end.unwrap() == 2));
}

/// Public and private tables, each also of vectors, of 2 to 256 entries: every entry, or some.
#[test]
fn lookups_of_all_sizes() {
    let plain = plain();
    let widths =
        [(2, [1, 4, 3, 2]), (3, [8, 2, 1, 3]), (4, [2, 3, 1, 4]), (5, [3, 1, 2, 1]), (8, [1, 2, 3, 2])];
    for (n, how, width) in widths
        .into_iter()
        .flat_map(|(n, widths)| ALL.into_iter().zip(widths).map(move |(how, width)| (n, how, width)))
    {
        let entries = 1_usize << width;
        let table = |c: u64| -> Vec<u64> {
            (0..entries as u64)
                .map(|j| [0, 1, P32 - 1].get(j as usize).copied().unwrap_or(c * j * j % P32))
                .collect()
        };
        let (one, other) = (table(7_919), table(104_729));
        let index: Vec<usize> = (0..entries.min(16)).map(|i| i * entries.div_ceil(16) % entries).collect();
        let ends = parties(n, how, |mixed| {
            let (me, lanes) = (mixed.session().me(), index.len());
            let mut x = Vec::new();
            for j in 0..width {
                let values = GmwBit::of(index.iter().map(|i| (i >> j & 1) as u64));
                let owner = PartyId::all(n).nth(j % n).unwrap();
                x.push(mixed.gmw().input(owner, lanes, Some(&values).filter(|_| owner == me))?);
            }
            let signs = mixed.prep_lut_ahead(width, lanes)?;
            mixed.session().phase("online");
            let looked = mixed.lookup(&[&one, &other], &x, signs)?;
            let online = mixed.session().meter().read().phases["online"];
            assert!(online.rounds <= 2 && online.bits <= ((n - 1) * width * lanes) as u64);
            // each lookup in a table of its own
            let all: Vec<u64> =
                (0..lanes as u64).flat_map(|i| one.iter().map(move |e| (e + i) % P32)).collect();
            let tables = shared(mixed, &all);
            let signs = mixed.prep_lut_ahead(width, lanes)?;
            let private = mixed.lookup_private(&tables, &x, signs)?;
            // and in tables of vectors, under one mask
            let more = shared(mixed, &all.iter().rev().copied().collect::<Vec<_>>());
            let signs = mixed.prep_lut_ahead(width, lanes)?;
            mixed.prepare_products(2 * (entries - 1) * lanes)?;
            mixed.session().phase("vectors");
            let pair = mixed.lookup_vectors(&[tables, more], &x, signs)?;
            let online = mixed.session().meter().read().phases["vectors"];
            assert!(online.rounds <= 4, "{}", online.rounds);
            let found = [&looked[0], &looked[1], &private, &pair[0], &pair[1]];
            assert_eq!(pair.len(), 2);
            num::open(mixed.session(), plain, &Num::join(&found))
        });
        for end in ends {
            let opened = end.unwrap();
            for (i, at) in index.iter().enumerate() {
                let own = |lane: usize, at: usize| (one[at] + lane as u64) % P32;
                let back = own(index.len() - 1 - i, entries - 1 - at);
                let wanted = [one[*at], other[*at], own(i, *at), own(i, *at), back];
                let got = [0, 1, 2, 3, 4].map(|part| opened[part * index.len() + i]);
                assert_eq!(got, wanted, "{n} parties, {how:?}, {entries} entries, {at}");
            }
        }
    }
}

/// Requests that are asked for together take two rounds, and two more for private tables; products and an A2B
/// share their opening, too.
#[test]
fn conversions_and_lookups_share_an_opening() {
    let plain = plain();
    let (table, n) = ([7_u64, 0, P32 - 1, 5], 3);
    for private in [false, true] {
        let ends = parties(n, COT, |mixed| {
            let me = mixed.session().me();
            let mut input = |lanes: usize, value: usize| {
                let values = GmwBit::new(lanes, &[value as u64]);
                mixed.gmw().input(PartyId::P1, lanes, Some(&values).filter(|_| me == PartyId::P1))
            };
            // places 1, 3, 0, and the numbers 5, 2 of three bits
            let x = vec![input(3, 0b011)?, input(3, 0b010)?];
            let y = vec![input(2, 0b01)?, input(2, 0b10)?, input(2, 0b01)?];
            let z = vec![input(3, 0b011)?];
            let (first, second) = (mixed.prep_lut_ahead(2, 3)?, mixed.prep_lut_ahead(2, 3)?);
            let third = mixed.prep_lut_ahead(2, 3)?;
            mixed.prepare_bits(9)?;
            mixed.prepare_products(18)?;
            let tables = shared(mixed, &[table; 3].concat());
            mixed.session().phase("online");
            let mut asked = vec![
                Asked::B2a(y),
                Asked::PubTabLookup {
                    tables: vec![&table[..], &[1, 2, 3, 4][..]],
                    index: x.clone(),
                    signs: first,
                },
                Asked::B2a(z),
            ];
            if private {
                // the bits of the index in the other order: places 2, 3, 0
                let index = x.iter().rev().cloned().collect();
                asked.push(Asked::PriTabLookup { tables: vec![tables.clone()], index, signs: third });
                asked.insert(1, Asked::PriTabLookup { tables: vec![tables], index: x, signs: second });
            }
            let found = mixed.ask(asked)?.concat();
            let rounds = mixed.session().meter().read().phases["online"].rounds;
            assert!(rounds <= if private { 4 } else { 2 }, "{rounds}");
            num::open(mixed.session(), plain, &Num::join(&found.iter().collect::<Vec<_>>()))
        });
        let looked: [&[u64]; 2] = if private { [&[0, 5, 7], &[P32 - 1, 5, 7]] } else { [&[]; 2] };
        let public: [&[u64]; 3] = [&[0, 5, 7], &[2, 4, 1], &[1, 1, 0]];
        let expected = [&[5, 2][..], looked[0], &public.concat(), looked[1]].concat();
        for end in ends {
            assert_eq!(end.unwrap(), expected);
        }
    }
    let ends = parties(n, COT, |mixed| {
        // what others were masked with is masked anew
        mixed.prepare_products(6)?;
        mixed.prepare_a2b(4)?;
        let others = [shared(mixed, &[8, 1, 2]), shared(mixed, &[4, 4, 4])];
        let bits = shared(mixed, &[1, 99]);
        mixed.multiply_and_a2b([&others[0], &others[1]], &bits)?;
        let (x, y, z) = (shared(mixed, &[3, 5, 7]), shared(mixed, &[2, 0, 9]), shared(mixed, &[6, P32 - 1]));
        mixed.session().phase("online");
        let (products, bits) = mixed.multiply_and_a2b([&x, &y], &z)?;
        let rounds = mixed.session().meter().read().phases["online"].rounds as usize;
        let alone = 2 + divisi_mixed::adders::cost(NumberAdder::default(), 32).1;
        assert!(rounds <= alone, "{rounds}, not {alone}");
        let all: Vec<PartyId> = PartyId::all(n).collect();
        let bits = mixed.gmw().output(&all, &bits)?.unwrap();
        let word = |lane: usize| bits.iter().rev().fold(0, |word, bit| word << 1 | bit.lane(lane));
        Ok((num::open(mixed.session(), plain, &products)?, [word(0), word(1)]))
    });
    for end in ends {
        assert_eq!(end.unwrap(), (vec![6, 0, 63], [6, P32 - 1]));
    }
}

/// Demands that two parties refuse calls by themselves ([`refused_for`]), after calls that they accept twice.
fn refused_after<T>(
    accepted: impl Fn(&mut Mixed) -> Result<T, Abort> + Sync,
    refused: impl Fn(&mut Mixed, T) + Sync,
) {
    let all = Barrier::new(2);
    honest(parties(2, COT, |mixed| {
        let first = accepted(mixed);
        let made = first.and_then(|_| accepted(mixed));
        all.wait();
        refused(mixed, made?);
        Ok(())
    }));
}

#[test]
fn factors_and_bits_that_do_not_fit_are_refused() {
    let accepted = |mixed: &mut Mixed| {
        let (x, bit) = (Num::zero(4), GmwBit::zero(4));
        mixed.multiply(&x, &x)?;
        mixed.multiply_matrices([16, 1, 16], &Num::zero(16), &Num::zero(16))?;
        mixed.multiply_matrices([1, 256, 1], &Num::zero(256), &Num::zero(256))?;
        mixed.b2a(&[bit.clone(), bit.clone()])?;
        mixed.lookup_pairs(&[[1, 2]; 4], &bit).map(drop)
    };
    refused_after(accepted, |mixed, ()| {
        // 4 and 260 are the same in eight bits
        let [none, one, four, more] = [0, 1, 4, 260].map(Num::zero);
        let sizes = [
            ([1, 4, 1], &four, &more),
            ([1, 4, 1], &more, &four),
            ([1, 2, 2], &four, &four),
            ([2, 2, 1], &four, &four),
            ([0, 2, 2], &none, &four),
            ([2, 0, 2], &none, &none),
            ([2, 2, 0], &four, &none),
            // their product needs more than a word
            ([1 << 62, 4, 1], &none, &four),
            ([1, 4, 1 << 62], &four, &none),
        ];
        // one after the other: what is let through must not begin with the last ones
        for (s, x, y) in sizes {
            refused_for([(Misuse::CountsDiffer, mixed.multiply_matrices(s, x, y).map(drop))]);
        }
        // more than there are triples
        let many = Num::zero(3000);
        let factors =
            [(&many, &one), (&one, &many), (&many, &none), (&four, &more), (&many, &Num::zero(3000 + 256))];
        refused_for(factors.map(|(x, y)| (Misuse::LanesDiffer, mixed.multiply(x, y).map(drop))));
        let lanes = [&[][..], &[4, 1], &[4, 1, 4], &[4, 260], &[4; 33]];
        let bits = |lanes: &[usize]| lanes.iter().copied().map(GmwBit::zero).collect::<Vec<_>>();
        refused_for(lanes.map(|lanes| (Misuse::LanesDiffer, mixed.b2a(&bits(lanes)).map(drop))));
        let bit = GmwBit::zero(4);
        for (what, pairs) in [
            (Misuse::CountsDiffer, vec![[1, 2]; 3]),
            (Misuse::CountsDiffer, vec![[1, 2]; 260]),
            (Misuse::OutOfRange, vec![[P32, 1], [1, 2], [1, 2], [1, 2]]),
            (Misuse::OutOfRange, vec![[1, 2], [1, 2], [1, 2], [1, P32]]),
        ] {
            refused_for([(what, mixed.lookup_pairs(&pairs, &bit).map(drop))]);
        }
    });
}

#[test]
fn indices_that_do_not_fit_are_refused() {
    let tables = Num::zero(8);
    let accepted = |mixed: &mut Mixed| {
        let mut signs = mixed.prep_lut(1, 256)?;
        let mut take = || signs.take(4).unwrap();
        let x = [GmwBit::zero(4)];
        mixed.lookup(&[&[1, 2], &[3, 4]], &x, take())?;
        mixed.lookup_vectors(&[tables.clone(), tables.clone()], &x, take())?;
        Ok(signs)
    };
    refused_after(accepted, |mixed, mut signs| {
        for (width, count) in [(0, 1), (9, 1), (1, 0)] {
            refused_for([(Misuse::OutOfRange, mixed.prep_lut(width, count).map(drop))]);
        }
        let mut take = || signs.take(4).unwrap();
        let bits = |lanes: &[usize]| lanes.iter().copied().map(GmwBit::zero).collect::<Vec<_>>();
        let public = |tables: &[&'static [u64]], index: &[GmwBit], signs| {
            vec![Asked::PubTabLookup { tables: tables.to_vec(), index: index.to_vec(), signs }]
        };
        let private = |tables: &[Num], index: &[GmwBit], signs| {
            vec![Asked::PriTabLookup { tables: tables.to_vec(), index: index.to_vec(), signs }]
        };
        // an index wider than its table, none, and others than there are masks
        for lanes in [&[4, 4][..], &[], &[3], &[260]] {
            let x = bits(lanes);
            refused_for([
                (Misuse::CountsDiffer, mixed.lookup(&[&[1, 2]], &x, take()).map(drop)),
                (Misuse::CountsDiffer, mixed.lookup_private(&tables, &x, take()).map(drop)),
                (Misuse::CountsDiffer, mixed.ask(public(&[&[1, 2]], &x, take())).map(drop)),
                (Misuse::CountsDiffer, mixed.ask(private(from_ref(&tables), &x, take())).map(drop)),
            ]);
        }
        let x = bits(&[4]);
        for table in [&[1][..], &[1, 2, 3], &[0; 258], &[P32, 0], &[0, P32]] {
            for tables in [[&[1, 2], table], [table, &[1, 2]]] {
                refused_for([
                    (Misuse::CircuitUnfit, mixed.lookup(&tables, &x, take()).map(drop)),
                    (Misuse::CircuitUnfit, mixed.ask(public(&tables, &x, take())).map(drop)),
                ]);
            }
        }
        refused_for([(Misuse::CountsDiffer, mixed.lookup_vectors(&[], &x, take()).map(drop))]);
        for other in [Num::zero(7), Num::zero(264)] {
            for tables in [[&tables, &other], [&other, &tables]] {
                let tables = tables.map(Num::clone);
                refused_for([
                    (Misuse::CountsDiffer, mixed.lookup_vectors(&tables, &x, take()).map(drop)),
                    (Misuse::CountsDiffer, mixed.ask(private(&tables, &x, take())).map(drop)),
                ]);
            }
        }
    });
}
