//! Semi-honest correlations: products of one party's bits with bits, numbers and vectors of others are right
//! and have the documented cost, and broken messages are refused.

use crate::common::{
    are_products, ends, hashed_once, honest, malformed, parameters, random, refused, set_up,
};
use divisi_core::testing::{Harness, MessageDirection, party, run};
use divisi_core::{Abort, Counts, PartyId, Session};
use divisi_ot::correlate::{BitVectors, Numbers, Payload};
use divisi_ot::record;
use divisi_ot::{Bits, Links, Setup, SetupConfig};
use std::collections::BTreeSet;

const PAYLOAD: &str = "divisi_ot::correlate/payload";
const P: u64 = 3_221_225_473;

fn all<R: Send>(n: usize, act: impl Fn(&mut Session, &mut Setup) -> Result<R, Abort> + Sync) -> Vec<R> {
    honest(ends(n, act))
}

/// Everybody's bits times everybody's numbers, for moduli from 2 to the largest.
#[test]
fn shares_add_up_to_products_of_numbers() {
    let wide = (1 << 62) - (1 << 46) + 1;
    for (n, modulus, count) in [
        (2, P, 1),
        (2, 2, 3),
        (3, 65_537, 5),
        (2, u64::MAX, 2),
        (4, P, 1),
        (2, 0xffff_ffff_0000_0001, 30),
        (3, wide, 5),
    ] {
        let rows = 300;
        let numbers = Numbers { modulus, count };
        let views = all(n, |session, setup| {
            let mut pads = setup.semi_honest_rows(session, Bits::Random(rows), Links::All)?;
            let values = random(session, 64 * rows * count);
            let values: Vec<u64> = values.into_iter().map(|y| y % modulus).collect();
            let bits = pads.bits().to_vec();
            let shares = setup.correlate(session, &mut pads, None, &numbers, &values)?;
            Ok((bits, values, shares))
        });
        let sum =
            |at: usize, of: fn(&(Vec<u64>, Vec<u64>, divisi_core::wipe::WipedVec<u64>), usize) -> u64| {
                views.iter().fold(0, |sum, view| (sum + u128::from(of(view, at))) % u128::from(modulus))
            };
        for at in 0..rows * count {
            // bits are added as numbers here, because the product of each pair is shared separately
            let bits: u128 =
                views.iter().map(|v| u128::from(v.0[at / count / 64] >> (at / count % 64) & 1)).sum();
            let product = bits * sum(at, |view, at| view.1[at]) % u128::from(modulus);
            assert_eq!(sum(at, |view, at| view.2[at]), product, "{n} {modulus} {at}");
        }
    }
}

/// A Boolean triple takes a row for a and one bit of payload for b: to each peer ceil(128 / k) + 1 bits,
/// which are 4.125 bytes at k = 4, and at most 4.3 with frames.
#[test]
fn boolean_triples_cost_a_row_and_a_bit() {
    for n in [2, 3, 4, 8] {
        let count = 1 << 14;
        let ends = all(n, |session, setup| {
            session.phase("triples");
            let mut a = setup.semi_honest_rows(session, Bits::Random(count), Links::All)?;
            let b = random(session, 64 * count).into_iter();
            let b: Vec<u128> = b.map(|b| u128::from(b & 1)).collect();
            let c = setup.correlate(session, &mut a, None, &BitVectors { width: 1 }, &b)?;
            Ok((a.bits().to_vec(), b, c, session.meter().read()))
        });
        for at in 0..count {
            let a = ends.iter().fold(0, |sum, end| sum ^ end.0[at / 64] >> (at % 64)) & 1;
            let (b, c) = ends.iter().fold((0, 0), |(b, c), end| (b ^ end.1[at], c ^ end.2[at]));
            assert_eq!(c, u128::from(a) & b);
        }
        for (.., meter) in &ends {
            let phase = meter.phases["triples"];
            assert_eq!(phase.bits, ((n - 1) * count * 33) as u64);
            assert!(phase.bytes as f64 <= 4.3 * ((n - 1) * count) as f64, "{}", phase.bytes);
            assert_eq!(phase.rounds, 2);
        }
    }
}

/// A bit that is shared in both worlds: each party i in turn computes x <- x + r_i - 2 r_i x, beginning with
/// another party in each batch. This takes n rounds, the first of which makes the rows. At k = 4 each party
/// sends at most 4.1 (n - 1) bytes for each bit.
#[test]
fn bits_in_both_worlds_cost_a_row_and_a_number_a_pair() {
    let numbers = Numbers { modulus: P, count: 1 };
    for n in [2, 3, 4, 8] {
        // every party begins equally often
        let (batches, count) = (n, 1 << 13);
        let ends: Vec<(Vec<Vec<u64>>, Vec<Vec<u64>>, Counts)> = all(n, |session, setup| {
            let (mut all_bits, mut all_shares) = (Vec::new(), Vec::new());
            session.phase("bits");
            for first in 0..batches {
                let mut pads = setup.semi_honest_rows(session, Bits::Random(count), Links::Before(first))?;
                let bits = pads.bits().to_vec();
                let own = |at: usize| bits[at / 64] >> (at % 64) & 1;
                let me = session.me().index();
                let mut x = vec![0_u64; count];
                for step in 0..n {
                    let chooser = (first + step) % n;
                    if step == 0 {
                        if me == chooser {
                            (0..count).for_each(|at| x[at] = own(at));
                        }
                        continue;
                    }
                    let chosen = PartyId::all(n).nth(chooser);
                    let shares = setup.correlate(session, &mut pads, chosen, &numbers, &x)?;
                    for (at, x) in x.iter_mut().enumerate() {
                        // x + r - 2 r x, of which only the chooser has r
                        let r = if me == chooser { own(at) } else { 0 };
                        let twice = numbers.add(shares[at], shares[at]);
                        *x = numbers.sub(numbers.add(*x, r), twice);
                    }
                }
                all_bits.push(bits);
                all_shares.push(x);
            }
            Ok((all_bits, all_shares, session.meter().read()))
        });
        for batch in 0..batches {
            for at in 0..count {
                let bit = ends.iter().fold(0, |sum, end| sum ^ end.0[batch][at / 64] >> (at % 64)) & 1;
                let x = ends.iter().fold(0, |sum, end| numbers.add(sum, end.1[batch][at]));
                assert_eq!(x, bit, "{n} {batch} {at}");
            }
        }
        for (.., meter) in &ends {
            let phase = meter.phases["bits"];
            let each = phase.bytes as f64 / (batches * count) as f64;
            assert!(each <= 4.1 * (n - 1) as f64, "{n}: {each}");
            // on average, a party sends half of a row and half of a number for each of its pairs
            assert_eq!(phase.bits, (batches * count * (n - 1) * 32) as u64);
        }
        let rounds = ends.iter().map(|end| end.2.phases["bits"].rounds).max().unwrap();
        // batches in which different parties begin may overlap
        assert!((n..=n * batches).contains(&(rounds as usize)), "{rounds}");
    }
}

/// Over all batches and sizes of payloads, with checked and with semi-honest rows: no two calls of the hash
/// at a party have the same key and tweak, except for the two hashes of a row at its holder.
#[test]
fn no_row_is_hashed_twice() {
    let mut rows = 0;
    for checked in [false, true] {
        let ends = run(3, &parameters(), |mut session| {
            let mut setup = Setup::over_field(&mut session, SetupConfig::default(), 48)?;
            record::begin();
            // the longest payloads take a second message
            for width in [1, 128, 200, 8192] {
                let payload = BitVectors { width };
                let values = |count: usize| vec![0; count * payload.words()];
                if checked {
                    let mut wide = setup.wide_rows(&mut session, Bits::Random(200))?;
                    for mut wide in [wide.take(50).unwrap(), wide] {
                        let values = values(wide.len());
                        setup.correlate(&mut session, &mut wide.pads, None, &payload, &values)?;
                    }
                } else {
                    let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(200), Links::All)?;
                    for mut pads in [pads.take(30).unwrap(), pads] {
                        let values = values(pads.len());
                        setup.correlate(&mut session, &mut pads, None, &payload, &values)?;
                    }
                }
            }
            Ok((session.me(), record::end().calls))
        });
        for (me, calls) in honest(ends) {
            let (ours, seen) = hashed_once(me, &calls);
            let step = |key: u128| (key >> 64) as u8;
            assert!(seen.keys().all(|(key, _)| (step(*key) >= 9) != checked));
            // rows have 1, 1, 2 and 64 blocks, and each class has its own step
            let steps: BTreeSet<u8> = seen.keys().map(|(key, _)| step(*key)).collect();
            assert_eq!(steps, [0, 1, 6].map(|class| class + if checked { 2 } else { 9 }).into());
            assert_eq!((ours, seen.len()), (2 * 200 * 68, 4 * 200 * 68));
            rows += seen.len();
        }
    }
    assert_eq!(rows, 2 * 3 * 4 * 200 * 68);
}

/// A set-up does not make both rows with a check and rows without one.
#[test]
fn a_set_up_gives_one_kind_of_rows() {
    for first in [false, true] {
        let ends = run(2, &parameters(), |mut session| {
            let mut setup = divisi_ot::testing::deal_over_field(&mut session, SetupConfig::default(), 48, 1)?;
            for checked in [first, !first] {
                if checked {
                    setup.wide_rows(&mut session, Bits::Random(1))?;
                } else {
                    setup.semi_honest_rows(&mut session, Bits::Random(1), Links::All)?;
                }
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
    }
}

/// Rows of one session cannot be used in another session.
#[test]
fn rows_belong_to_their_session() {
    let kept = [const { std::sync::Mutex::new(None) }; 2];
    for again in [false, true] {
        let ends = run(2, &parameters(), |mut session| {
            let mut setup = divisi_ot::testing::deal(&mut session, SetupConfig::default(), 1)?;
            let pads = setup.semi_honest_rows(&mut session, Bits::Random(4), Links::All)?;
            if !again {
                *kept[session.me().index()].lock().unwrap() = Some(pads);
                return Ok(());
            }
            let mut old = kept[session.me().index()].lock().unwrap().take().unwrap();
            let width = BitVectors { width: 1 };
            setup.correlate(&mut session, &mut old, None, &width, &[1; 4]).map(|_| ())
        });
        assert!(ends.iter().all(|end| end.is_ok() != again), "{ends:?}");
    }
}

/// A peer's numbers that are not reduced, and bits after its last payload, are refused, also behind a right
/// message and behind a batch of right rows.
#[test]
fn what_is_no_payload_is_refused() {
    const ROWS: usize = 199;
    fn refused<Q: Payload + Sync>(payload: Q, value: Q::Word, change: fn(&mut Vec<u8>))
    where
        Q::Word: Copy + Sync,
    {
        let harness = Harness::new(2, &parameters());
        harness.change(party(2), party(1), PAYLOAD, 1, change);
        let ends = harness.act(set_up(|session, setup| {
            for right in [true, false] {
                let mut pads = setup.semi_honest_rows(session, Bits::Random(ROWS), Links::Before(1))?;
                let made = setup.correlate(session, &mut pads, Some(party(1)), &payload, &[value; ROWS]);
                assert!(made.is_ok() || !right);
                made?;
            }
            Ok(())
        }));
        assert!(malformed(&ends[0], party(2)), "{ends:?}");
    }
    // a number has 17 bits: one of the first batch, and the last one, become 2^16 + 1 or more
    let first = |body: &mut Vec<u8>| (body[0], body[1], body[2]) = (0xff, 0xff, body[2] | 1);
    let last = |body: &mut Vec<u8>| (body[421], body[422]) = (0xff, 0x7f);
    for not_reduced in [first, last] {
        refused(Numbers { modulus: 65_537, count: 1 }, 5, not_reduced);
    }
    let behind_the_last = |body: &mut Vec<u8>| {
        assert_eq!(body.len(), 75);
        body[74] |= 0x80;
    };
    refused(BitVectors { width: 3 }, 5, behind_the_last);
}

/// Products of packed bits are right for any number of rows. Rows that were used, and bits after the last
/// row, are refused.
#[test]
fn packed_bits_are_products_and_are_refused_alike() {
    for (n, rows) in [(2, 1), (3, 64), (2, 65), (4, 333)] {
        are_products(&all(n, |session, setup| {
            let mut pads = setup.semi_honest_rows(session, Bits::Random(rows), Links::All)?;
            let y = random(session, rows);
            let z = setup.correlate_bits(session, &mut pads, &y)?.to_vec();
            Ok([pads.bits().to_vec(), y, z])
        }));
    }
    // rows that were used; bits after the last row; too few words, and 256 too many
    for (twice, values) in [
        (true, vec![1, 1]),
        (false, vec![0, 1 << 6]),
        (false, vec![0, 1 << 63]),
        (false, vec![0]),
        (false, vec![0; 258]),
    ] {
        let ends = ends(2, |session, setup| {
            let mut pads = setup.semi_honest_rows(session, Bits::Random(70), Links::All)?;
            if twice {
                setup.correlate_bits(session, &mut pads, &values)?;
            }
            setup.correlate_bits(session, &mut pads, &values).map(drop)
        });
        refused(ends, &format!("{values:?}"));
    }
    // a peer's bit after the last row, in the first byte of its word and in the last one
    for (rows, at) in [(70, 8), (122, 15)] {
        let harness = Harness::new(2, &parameters());
        harness.change(party(1), party(2), PAYLOAD, 0, move |body| body[at] |= 0x40);
        let ends = harness.act(set_up(|session, setup| {
            let mut pads = setup.semi_honest_rows(session, Bits::Random(rows), Links::All)?;
            setup.correlate_bits(session, &mut pads, &[3, 1]).map(drop)
        }));
        assert!(malformed(&ends[1], party(1)), "{rows}: {ends:?}");
    }
}

/// A caller's word with bits beyond its width, which would be sent unmasked in the place of the next word's
/// bits, or a number that is not reduced is refused before anything is sent.
#[test]
fn words_that_are_no_payload_do_not_leave() {
    fn leave_not<Q: Payload + Sync>(payload: Q, right: Q::Word, wrong: &[Q::Word])
    where
        Q::Word: Copy + Sync,
    {
        let try_one = |word: Q::Word, at: usize| {
            let harness = Harness::new(2, &parameters());
            let recordings = harness.recordings();
            let ends = harness.act(set_up(|session, setup| {
                let mut pads = setup.semi_honest_rows(session, Bits::Random(5), Links::All)?;
                let mut values = vec![right; 5 * payload.words()];
                values[at] = word;
                setup.correlate(session, &mut pads, None, &payload, &values).map(drop)
            }));
            let sent = recordings.iter().map(|seen| seen.of(MessageDirection::Out, PAYLOAD).len());
            (ends, sent.sum::<usize>())
        };
        let last = 5 * payload.words() - 1;
        let (ends, sent) = try_one(right, last);
        assert!(ends.iter().all(Result::is_ok) && sent == 2);
        for (word, at) in wrong.iter().flat_map(|word| [(word, 0), (word, last)]) {
            let (ends, sent) = try_one(*word, at);
            refused(ends, "a word that is no payload");
            assert_eq!(sent, 0);
        }
    }
    leave_not(BitVectors { width: 40 }, (1 << 40) - 1, &[1 << 40, 1 << 127]);
    leave_not(BitVectors { width: 1 }, 1, &[2]);
    leave_not(Numbers { modulus: P, count: 2 }, P - 1, &[P, u64::MAX]);
}

/// A vector of 168 bits fills its first word of 128 bits, and 40 bits of the second one.
#[test]
fn a_last_word_has_what_is_left() {
    for (at, fits) in [(0, true), (1, false)] {
        let ends = ends(2, |session, setup| {
            let mut pads = setup.semi_honest_rows(session, Bits::Random(3), Links::All)?;
            let mut values = [0; 6];
            values[at] = 1 << 40;
            setup.correlate(session, &mut pads, None, &BitVectors { width: 168 }, &values).map(drop)
        });
        assert!(ends.iter().all(|end| end.is_ok() == fits), "{at}");
    }
}
