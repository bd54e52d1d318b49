//! How every lie in vectors and lookups of three factors ends: in an abort; and what is seen of it.

use super::*;
use divisi_rep3::ohverture::Cube;

const VECTORS: &str = "divisi_rep3::ohverture::cube::make/products";
const SUMS: &str = "divisi_rep3::ohverture::cube::lookup/sums";
const RESULT: &str = "divisi_rep3::ohverture::cube::lookup/result";

const PARTS: [usize; 3] = [2, 2, 4];
/// More than a tile, and lanes in several words of each.
const MANY: usize = 600;

fn cube() -> Cube<Gf8> {
    Cube::new(PARTS, 1, &table_entries()).unwrap()
}

fn x() -> Vec<Gf8> {
    (0..MANY).map(|l| Gf8((31 * l + 2) as u8)).collect()
}

/// Two lookups, the second at what the first found, and a sample in the end.
fn play(trio: Trio) -> Result<Vec<Gf8>, Abort> {
    let b = &mut BlackBox::new(trio);
    let cube = cube();
    let mut y = input(b, 1, &x())?;
    for _ in 0..2 {
        let vectors = b.rohv_cube(PARTS, MANY)?;
        y = b.lookup_cube(&cube, &[(&y, 8)], vectors)?.remove(0);
    }
    let vectors = b.rohv_cube(PARTS, 3)?;
    let sample = b.sample_cube(&cube, vectors)?.remove(0);
    b.output(&sample)?;
    b.output(&y)
}

fn right() -> Vec<Gf8> {
    x().into_iter().map(|x| entry(entry(x))).collect()
}

#[test]
fn honest_parties_look_up() {
    assert!(lab::run(play).unwrap().iter().all(|out| *out == right()));
}

/// Another index for one peer: found in the round of the next opening, or by verify_recon.
#[test]
fn a_split_index_is_an_abort() {
    for corrupt in PartyId::all(3) {
        for (nth, check) in [(0, checks::A22), (1, checks::A2)] {
            let harness = TrioHarness::default().patient();
            harness.change(corrupt, corrupt.next(3), RECONST, nth, |body| body[MANY - 1] ^= 0x10);
            assert!(ends(corrupt, &harness.act(play)).contains(&check), "{nth}");
        }
    }
}

/// A party that uses other vectors than the rest, another table, or a table over another field is out of
/// step: found before anything is verified.
#[test]
fn a_party_with_other_vectors_or_another_table_is_an_abort() {
    let entries: Vec<Gf8> = (0..=255).map(Gf8).collect();
    let mut last = entries.clone();
    last[255].0 ^= 1;
    let table = Cube::new(PARTS, 1, &entries).unwrap();
    let other = Cube::new(PARTS, 1, &last).unwrap();
    let wide =
        Cube::new(PARTS, 1, &entries.iter().map(|e| Gf64(u64::from(e.0))).collect::<Vec<_>>()).unwrap();
    for alone in PartyId::all(3) {
        for otherwise in 0..3 {
            let results = act(TrioHarness::default(), |b| {
                let [first, second] = b.rohv_cube(PARTS, 1024)?.split(512).unwrap();
                match (b.me() == alone, otherwise) {
                    (true, 0) => b.sample_cube(&table, second).map(drop)?,
                    (true, 1) => b.sample_cube(&other, first).map(drop)?,
                    (true, _) => b.sample_cube(&wide, first).map(drop)?,
                    _ => b.sample_cube(&table, first).map(drop)?,
                }
                b.verify_recon().map(drop)
            });
            assert!(results.iter().all(Result::is_err), "{otherwise}");
            assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{otherwise} {results:?}");
        }
    }
}

/// What is opened of an index is uniform, whatever the index is, and so is what both Reshares and the
/// products send.
#[test]
fn everything_that_is_sent_is_uniform() {
    const LOTS: usize = 4096;
    for index in [0, 0xff] {
        let harness = TrioHarness::default();
        let seen = harness.recording(party(2));
        let results = act(harness, |b| {
            let x = input(b, 1, &[Gf8(index); LOTS])?;
            let vectors = b.rohv_cube(PARTS, LOTS)?;
            Ok(b.lookup_cube(&cube(), &[(&x, 8)], vectors)?.len())
        });
        assert!(results.iter().all(Result::is_ok));
        for step in [VECTORS, RECONST, SUMS, RESULT] {
            for way in [MessageDirection::In, MessageDirection::Out] {
                let body = &seen.of(way, step)[0].frame.body;
                assert!(body.len() >= 2048 && is_uniform(body), "{step}");
            }
        }
    }
}

/// Lookups of one value by two lots of vectors: what is opened has nothing in common, lane by lane.
#[test]
fn every_lookup_of_three_factors_has_a_place_of_its_own() {
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    let results = act(harness, |b| {
        let x = b.public(&[Gf8(0x17); 512])?;
        let [first, second] = b.rohv_cube(PARTS, 1024)?.split(512).unwrap();
        for vectors in [first, second] {
            b.lookup_cube(&cube(), &[(&x, 8)], vectors)?;
        }
        Ok(())
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let opened = |nth: usize| -> Vec<u8> {
        let mut c = vec![0; 512];
        for recording in &recordings {
            let body = &recording.of(MessageDirection::Out, RECONST)[nth].frame.body;
            c.iter_mut().zip(body).for_each(|(c, x)| *c ^= x);
        }
        c
    };
    for recording in &recordings {
        // the components that a party sends are not all alike
        let body = &recording.of(MessageDirection::Out, RECONST)[0].frame.body;
        assert!(body.iter().collect::<std::collections::BTreeSet<_>>().len() > 100);
    }
    let both = [opened(0), opened(1)];
    for i in 0..8 {
        // each bit of a place takes both values, and is not that of another
        let bit = |c: &u8| c >> i & 1;
        assert!(both[0].iter().any(|c| bit(c) == 0) && both[0].iter().any(|c| bit(c) == 1), "{i}");
        for j in 0..i {
            let same = both[0].iter().filter(|c| bit(c) == *c >> j & 1).count();
            assert!((128..384).contains(&same), "{i} {j} {same}");
        }
    }
    for (at, c) in both.iter().enumerate() {
        // neighbours, words and halves differ: all of some eight by chance with probability 2^-64
        for distance in [1, 8, 64, 256] {
            assert!((0..8).any(|l| c[l] != c[l + distance]), "{at} {distance}");
        }
    }
    assert!((0..512).any(|l| both[0][l] != both[1][l]));
}

/// Party 1 sends a false share of the sums, or lies about an index: what it sees of the rest, and how it
/// ends, is the same for two secrets.
#[test]
fn an_attacked_lookup_looks_the_same_for_two_secrets() {
    for lies_of_sums in [false, true] {
        let off = difference(200, |which| {
            let harness = TrioHarness::default().patient();
            if lies_of_sums {
                harness.change(party(1), party(3), SUMS, 0, |body| body[0] ^= 1);
            } else {
                harness.change(party(1), party(2), RECONST, 0, |body| body[0] ^= 1);
            }
            let seen = harness.recording(party(1));
            let results = harness.act(|trio| {
                let b = &mut BlackBox::new(trio);
                let mut x = input(b, 2, &[Gf8([0, 0xd5][which]); LANES])?;
                for _ in 0..2 {
                    let vectors = b.rohv_cube(PARTS, LANES)?;
                    x = b.lookup_cube(&cube(), &[(&x, 8)], vectors)?.remove(0);
                }
                b.output(&x).map(drop)
            });
            features(&seen, &results)
        });
        assert!(off < 1.0, "{lies_of_sums} {off}");
    }
}
