//! How every lie in vectors and lookups ends: in an abort; and what is seen of it.

use super::*;

fn x() -> Vec<Gf8> {
    (0..LANES).map(|l| Gf8(31 * l as u8 + 2)).collect()
}

fn table() -> LookupTable<Gf8> {
    LookupTable::new(&table_entries()).unwrap()
}

/// Two lookups that feed one another, of each kind.
fn play(trio: Trio) -> Result<Vec<Gf8>, Abort> {
    let b = &mut BlackBox::new(trio);
    let table = table();
    let mut y = input(b, 1, &x())?;
    let mut z = y.clone();
    let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
    let [third, fourth] = b.rohv_add(8, 2 * LANES)?.split(LANES).unwrap();
    for vectors in [first, second] {
        y = b.lookup(&table, &y, vectors)?;
    }
    for vectors in [third, fourth] {
        z = b.lookup_sqrt(&table, &z, vectors)?;
    }
    let both = b.join(&[&y, &z])?;
    b.output(&both)
}

fn right() -> Vec<Gf8> {
    let twice = x().into_iter().map(|x| entry(entry(x)));
    twice.collect::<Vec<_>>().repeat(2)
}

#[test]
fn honest_parties_look_up() {
    assert!(lab::run(play).unwrap().iter().all(|out| *out == right()));
}

/// Bits behind the products of a message are zero: who sends others is named, by every receiver.
#[test]
fn what_follows_the_products_is_zero() {
    for corrupt in PartyId::all(3) {
        // one product, and then three
        for (nth, bit, fits) in [(0, 0, true), (0, 1, false), (1, 2, true), (1, 3, false), (1, 7, false)] {
            let harness = TrioHarness::default().patient();
            harness.change(corrupt, corrupt.prev(3), PRODUCTS, nth, move |share| {
                assert_eq!(share.len(), 1);
                share[0] ^= 1 << bit;
            });
            let ends = harness.act(|trio| BlackBox::new(trio).rohv_rss(3, 1).map(drop));
            let end = &ends[corrupt.prev(3).index()];
            let named = matches!(end, Err(Abort::Network(Fault::Malformed { peer, .. })) if *peer == corrupt);
            assert!(named != fits && end.is_ok() == fits, "message {nth}, bit {bit}: {end:?}");
        }
    }
}

/// A false share, in any message of products or results: found, at the latest when it is verified.
#[test]
fn a_wrong_product_or_share_is_an_abort_wherever_it_is() {
    for corrupt in PartyId::all(3) {
        for (step, messages) in [(PRODUCTS, 9), (RESHARE, 2)] {
            for nth in 0..messages {
                for last in [false, true] {
                    let harness = TrioHarness::default().patient();
                    harness.change(corrupt, corrupt.prev(3), step, nth, move |share| {
                        let at = if last { share.len() - 1 } else { 0 };
                        share[at] ^= 1;
                    });
                    let results = harness.act(play);
                    assert!(!ends(corrupt, &results).is_empty(), "{step} {nth} {results:?}");
                }
            }
        }
    }
}

/// A false product of long vectors, whose sets have more than eight bits: the first and the last of each
/// message, whichever half's products it has.
#[test]
fn a_wrong_product_of_a_long_vector_is_an_abort() {
    for k in [9, 10, 13, 16] {
        // of each size of part that is made one message, in the order of the rounds
        let harness = TrioHarness::default().patient();
        let seen = harness.recording(party(1));
        let play = |trio| {
            let b = &mut BlackBox::new(trio);
            let _vectors = b.rohv_rss(k, 1)?;
            let recon = b.verify_recon()?;
            b.verify_mul(&recon).map(drop)
        };
        assert!(harness.act(play).iter().all(Result::is_ok));
        for nth in 0..seen.of(MessageDirection::Out, PRODUCTS).len() {
            for last in [false, true] {
                let harness = TrioHarness::default().patient();
                harness.change(party(1), party(3), PRODUCTS, nth, move |share| {
                    let at = if last { share.len() - 1 } else { 0 };
                    share[at] ^= 1;
                });
                assert!(harness.act(play)[1..].iter().all(Result::is_err), "{k} {nth} {last}");
            }
        }
    }
}

/// Another index for one peer: found in the round of the next opening, or by verify_recon.
#[test]
fn a_split_index_is_an_abort() {
    for corrupt in PartyId::all(3) {
        for (nth, check) in [(0, checks::A22), (1, checks::A22), (2, checks::A22), (3, checks::A2)] {
            let harness = TrioHarness::default().patient();
            harness.change(corrupt, corrupt.next(3), RECONST, nth, |body| body[LANES - 1] ^= 0x10);
            assert!(ends(corrupt, &harness.act(play)).contains(&check), "{nth}");
        }
    }
}

/// A party that uses other vectors than the rest ends the run.
#[test]
fn a_party_that_is_a_vector_ahead_is_an_abort() {
    for ahead in PartyId::all(3) {
        let results = act(TrioHarness::default(), |b| {
            let x = input(b, 1, &x())?;
            let [first, second] = b.rohv_rss(8, 2 * LANES)?.split(LANES).unwrap();
            let vectors = if b.me() == ahead { second } else { first };
            let y = b.lookup(&table(), &x, vectors)?;
            b.output(&y)
        });
        assert!(results.iter().all(Result::is_err));
    }
}

/// A party that looks up in another table, or uses its vectors otherwise, is out of step: found before
/// anything is verified.
#[test]
fn a_party_with_another_table_or_call_is_an_abort() {
    let other = LookupTable::new(&(0..=255_u8).map(Gf8).collect::<Vec<_>>()).unwrap();
    let wide = LookupTable::new(
        &(0..=255_u64).map(|i| Gf64(u64::from(Gf8(i as u8).inverse().0 ^ 0x63))).collect::<Vec<_>>(),
    );
    let wide = wide.unwrap();
    for alone in PartyId::all(3) {
        for otherwise in 0..3 {
            let results = act(TrioHarness::default(), |b| {
                let vectors = b.rohv_rss(8, LANES)?;
                // all of them send and receive nothing
                match (b.me() == alone, otherwise) {
                    (true, 0) => b.sample(&other, vectors).map(drop)?,
                    (true, 1) => b.sample(&wide, vectors).map(drop)?,
                    (true, _) => b.entries(vectors).map(drop)?,
                    _ => b.sample(&table(), vectors).map(drop)?,
                }
                b.verify_recon().map(drop)
            });
            assert!(results.iter().all(Result::is_err), "{otherwise}");
            assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{otherwise} {results:?}");
        }
        let results = act(TrioHarness::default(), |b| {
            let vectors = b.rohv_add(8, LANES)?;
            let own = if b.me() == alone { &other } else { &table() };
            b.sample_additive(own, vectors)?;
            b.verify_recon().map(drop)
        });
        assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "additive: {results:?}");
    }
}

/// What is opened of an index is uniform, whatever the index is; and so is what a reshare sends of an
/// additive result.
#[test]
fn an_index_is_masked_and_a_result_too() {
    const MANY: usize = 4096;
    for index in [0, 0xff] {
        let harness = TrioHarness::default();
        let seen = harness.recording(party(2));
        let results = act(harness, |b| {
            let x = input(b, 1, &[Gf8(index); MANY])?;
            let vectors = b.rohv_add(8, MANY)?;
            let y = b.lookup_sqrt(&table(), &x, vectors)?;
            Ok(y.lanes())
        });
        assert!(results.iter().all(Result::is_ok));
        for (step, way) in [
            (RECONST, MessageDirection::In),
            (RESHARE, MessageDirection::In),
            (RESHARE, MessageDirection::Out),
        ] {
            let body = &seen.of(way, step)[0].frame.body;
            assert!(body.len() == MANY && is_uniform(body), "{step}");
        }
    }
}

/// Party 1 shows party 2 another index in the first of two lookups: what it sees of the rest, and how it
/// ends, is the same for two secrets.
#[test]
fn an_attacked_lookup_looks_the_same_for_two_secrets() {
    let off = difference(400, |which| {
        let harness = TrioHarness::default();
        harness.change(party(1), party(2), RECONST, 0, |body| body[0] ^= 1);
        let seen = harness.recording(party(1));
        let results = act(harness, |b| {
            let mut x = input(b, 2, &[Gf8([0, 0xd5][which]); LANES])?;
            for _ in 0..2 {
                let vectors = b.rohv_add(8, LANES)?;
                x = b.lookup_sqrt(&table(), &x, vectors)?;
            }
            b.output(&x).map(drop)
        });
        features(&seen, &results)
    });
    assert!(off < 1.0, "{off}");
}

/// Another additive index for each peer is found by the comparison.
#[test]
fn a_wrong_additive_index_is_an_abort() {
    let run = |harness: TrioHarness| {
        harness.act(|trio| {
            let b = &mut BlackBox::new(trio);
            let x = input(b, 1, &x())?;
            let vectors = b.rohv_rss(8, LANES)?;
            let xx = b.local_mul(&x, &x)?;
            let (y, _) = b.lookup_of_additive(&table(), xx, vectors)?;
            b.output(&y)
        })
    };
    for corrupt in PartyId::all(3) {
        for to in [corrupt.next(3), corrupt.prev(3)] {
            let harness = TrioHarness::default().patient();
            harness.change(corrupt, to, RECONST, 0, |body| body[3] ^= 0x10);
            assert!(ends(corrupt, &run(harness)).contains(&checks::A2));
        }
    }
}
