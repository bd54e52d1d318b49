//! Far from the beginning: lies at the end of what is longer than 2^16 bytes, lies after many verifications
//! and coins, and masks of large batches, which do not return at any distance.

use crate::common::prelude::*;
use divisi_core::local;
use divisi_rep3::adversary::adaptive::{self, engine};
use divisi_rep3::adversary::lookups::{self, opening, sets};
use divisi_rep3::ohverture::{Cube, Dimensions, FactoredOneHots, HeldTable, LookupTable};
use std::collections::BTreeSet;

/// More bytes than a length of 16 bits tells.
const LONG: usize = (1 << 16) + 512;

/// How a lie is told: in this step, in the message with this number.
type Lie = (&'static str, usize, fn(Trio) -> Result<(), Abort>);

fn layer(trio: Trio, protocol: Protocol) -> Result<(), Abort> {
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let mut x = random_sbox(&mut e, if protocol == Protocol::Lut16 { 2 * LONG } else { LONG })?;
    e.finish(&mut [&mut x])?;
    e.settled(x).map(drop)
}

static OPENINGS: [Lie; 7] = [
    ("divisi_rep3::open/open.bytes", 0, |trio| {
        let mut e = engine(trio);
        let x = e.random_bytes(LONG)?;
        let x = e.settled(vec![x])?;
        e.trio().open(&x).map(drop)
    }),
    ("divisi_rep3::masked/open_to.component", 0, |trio| {
        let mut e = engine(trio);
        let x = e.random_bytes(LONG)?;
        let x = e.settled(x)?;
        e.trio().open_to(party(2), &x).map(drop)
    }),
    ("divisi_rep3::masked/open_masked", 0, |trio| {
        let mut e = engine(trio);
        let (x, mask) = (e.random_bytes(LONG)?, e.mask(LONG)?);
        e.open_masked(&x, mask)?;
        e.settled(()).map(drop)
    }),
    (opening(Protocol::Lut16), 0, |trio| layer(trio, Protocol::Lut16)),
    (opening(Protocol::Lut256), 0, |trio| layer(trio, Protocol::Lut256)),
    (opening(Protocol::Lut256Additive), 0, |trio| layer(trio, Protocol::Lut256Additive)),
    ("divisi_rep3::blackbox/reconst", 0, |trio| {
        let mut b = BlackBox::new(trio);
        let x = b.random::<Gf8>(LONG);
        b.reconst(&x)?;
        b.verify_recon().map(drop)
    }),
];

/// How the parties end if party 1 lies to party 2 about the last value of a message.
fn ends(&(step, nth, play): &Lie) -> Vec<Result<(), Abort>> {
    let harness = TrioHarness::default().patient();
    let recording = harness.recording(party(1));
    harness.change(party(1), party(2), step, nth, |body| {
        let last = body.len() - 1;
        body[last] ^= 1;
    });
    let ends = harness.act(play);
    assert!(recording.bodies(MessageDirection::Out, party(2), step).len() > nth, "{step}");
    ends
}

/// A digest or a view ends where its message ends.
#[test]
fn the_end_of_a_long_opening_is_compared() {
    for lie in &OPENINGS {
        let ends = ends(lie);
        let found = |end: &_| [checks::A1, checks::A2].map(Some).contains(&failed_check(end));
        assert!(ends[1].is_err() && ends.iter().any(found), "{}: {ends:?}", lie.0);
    }
}

/// Verifications and coins in a session, of which the last is the one that matters.
const LATE: usize = 40;

static LAST_COIN: Lie = ("divisi_rep3::random/coin.share", LATE - 1, |mut trio| {
    for _ in 0..LATE {
        let fixed = trio.barrier()?;
        trio.coin(&fixed)?;
    }
    Ok(())
});

#[test]
fn the_last_of_many_coins_is_compared() {
    let ends = ends(&LAST_COIN);
    assert_eq!(failed_check(&ends[1]), Some(checks::A4), "{ends:?}");
}

static LATE_PRODUCTS: [Lie; 2] = [
    (adaptive::MULTIPLY, LATE - 1, |trio| {
        let mut e = engine(trio);
        for _ in 0..LATE {
            let (x, y) = (e.random_blocks(1), e.random_blocks(1));
            let z = e.multiply(&x, &y)?;
            e.settled(z)?;
        }
        Ok(())
    }),
    ("divisi_rep3::blackbox::products/reshare", LATE - 1, |trio| {
        let mut b = BlackBox::new(trio);
        for _ in 0..LATE {
            let x = b.random::<Gf8>(1);
            let xx = b.local_mul(&x, &x)?;
            b.reshare(xx)?;
            let recon = b.verify_recon()?;
            b.verify_mul(&recon)?;
        }
        Ok(())
    }),
];

#[test]
fn products_are_verified_after_many_verifications() {
    for &(step, nth, play) in &LATE_PRODUCTS {
        let harness = TrioHarness::default().patient();
        harness.change(party(1), party(3), step, nth, |share| share[0] ^= 1);
        let ends = harness.act(play);
        assert!(ends[1..].iter().all(Result::is_err), "{step}: {ends:?}");
    }
}

/// The same error in two statements of one verification, far from each other.
#[test]
fn equal_errors_of_distant_statements_do_not_make_up_for_one_another() {
    let harness = TrioHarness::default().patient();
    let (step, mut number) = (Step::new("divisi_rep3::blackbox::products/reshare").id, 0);
    harness.hand(party(1), party(3), move |mut frame| {
        if frame.step == step {
            frame.body[0] ^= u8::from(number % 1024 == 0);
            number += 1;
        }
        vec![frame]
    });
    let ends = harness.act(|trio| {
        let mut b = BlackBox::new(trio);
        let x = b.random::<Gf8>(1);
        for _ in 0..1025 {
            let xx = b.local_mul(&x, &x)?;
            b.reshare(xx)?;
        }
        let recon = b.verify_recon()?;
        b.verify_mul(&recon).map(drop)
    });
    assert!(ends[1..].iter().all(Result::is_err), "{ends:?}");
}

/// Asserts that no word is there twice.
fn are_different(what: &str, words: impl IntoIterator<Item = u64>) {
    let mut seen = BTreeSet::new();
    let mut words = words.into_iter();
    assert!(words.all(|word| seen.insert(word)), "{what}: a word returns after {}", seen.len());
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// What a party adds to its shares of the products in its vectors: to those of two bits, and to those of
/// sets of both nibbles.
fn masks(protocol: Protocol, records: &[[Vec<Plane>; 2]]) -> Vec<u64> {
    let sets = sets(protocol);
    let plane = |set: usize| sets.iter().position(|other| *other == set).unwrap();
    let mut masks = Vec::new();
    for set in &sets {
        let part = match (set & 15, set >> 4, set.count_ones()) {
            (low, 1.., _) if low > 0 => low,
            (.., 2) => 1 << set.trailing_zeros(),
            _ => continue,
        };
        let [x, y, z] = [part, set ^ part, *set].map(plane);
        for [a, b] in records {
            let share = (a[x] & a[y]) ^ ((a[x] ^ b[x]) & (a[y] ^ b[y]));
            masks.extend((share ^ a[z]).0);
        }
    }
    masks
}

/// Shares of zero of vectors that are made together, in tiles of one layer and in layers.
#[test]
fn masks_of_the_products_of_many_vectors_do_not_return() {
    for (protocol, (layers, tiles)) in LOOKUPS.into_iter().flat_map(|p| [(1, 40), (40, 1)].map(|n| (p, n))) {
        let held = TrioHarness::default().act(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::SemiHonest);
            let vectors = e.vectors(layers, 1, 512 * tiles)?;
            Ok(vectors.iter().flat_map(lookups::held).collect::<Vec<_>>())
        });
        are_different(&protocol.to_string(), masks(protocol, held[0].as_ref().unwrap()));
    }
}

/// A product of zeros is nothing but its mask.
#[test]
fn masks_of_a_long_message_do_not_return() {
    let harness = TrioHarness::default();
    let sent = harness.recording(party(2));
    let parts = harness.act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::SemiHonest);
        let mut zero = e.public(&vec![0; 2 * LONG]);
        e.sbox(Direction::Encrypt, &mut [&mut zero])?;
        let x = e.random_bytes(2 * LONG)?;
        let x = e.settled(x)?;
        e.trio().part(&x)
    });
    let message = &sent.of(MessageDirection::Out, "divisi_rep3::sbox::gf8_circuit/x3")[0].frame.body;
    assert!(message.len() >= 2 * LONG);
    are_different("shares of zero", words(message));
    let part = parts[0].as_ref().unwrap();
    are_different("random bytes", words(&part.first).chain(words(&part.second)));
}

/// Vectors of this way whose numbers are compared: more than any tile, message or count of 16 bits holds.
const VECTORS: usize = 130 * 512;

fn numbers(way: Dimensions, k: usize) -> Vec<Gf64> {
    let entries: Vec<Gf64> = (0..1 << k).map(Gf64).collect();
    let all = local::run(3, &PublicParameters::new("numbers"), |session| {
        let b = &mut BlackBox::semi_honest(Trio::new(session)?);
        let table = LookupTable::new(&entries).unwrap();
        let sampled = match b.one_hots(&HeldTable::by(way, &entries).unwrap(), VECTORS)? {
            FactoredOneHots::One(vectors) => b.sample(&table, vectors)?,
            FactoredOneHots::Two(vectors) => {
                let sampled = b.sample_additive(&table, vectors)?;
                b.reshare(sampled)?
            }
            FactoredOneHots::Three(vectors) => {
                b.sample_cube(&Cube::new([1; 3], 1, &entries).unwrap(), vectors)?.remove(0)
            }
        };
        b.output(&sampled)
    });
    all.unwrap().swap_remove(0)
}

#[test]
fn numbers_of_many_vectors_do_not_return() {
    for (way, k) in [(Dimensions::One, 2), (Dimensions::Two, 2), (Dimensions::Three([1; 3]), 3)] {
        let numbers = numbers(way, k);
        assert_eq!(numbers.len(), VECTORS);
        let word = |some: &[Gf64]| some.iter().fold(0, |word, number| word << k | number.0);
        are_different(&format!("{way:?}"), numbers.chunks_exact(64 / k.next_power_of_two()).map(word));
    }
}

/// A share of a product of vectors has rows of zeros, as long as a half has sets. A message under a mask has
/// none, also the second one of a round.
#[test]
fn every_message_of_long_vectors_is_masked() {
    let harness = TrioHarness::default();
    let sent = harness.recording(party(1));
    harness.act(|trio| BlackBox::semi_honest(trio).rohv_rss(12, 2200).map(drop));
    let sent = sent.of(MessageDirection::Out, "divisi_rep3::ohverture::make/products");
    assert!(sent[sent.len() - 2].frame.body.len() > 1_000_000);
    for (i, message) in sent.iter().enumerate() {
        assert!(!message.frame.body.windows(6).any(|row| row == [0; 6]), "message {i}");
    }
}
