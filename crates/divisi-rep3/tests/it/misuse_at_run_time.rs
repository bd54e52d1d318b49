//! Misuse that only a run can notice: one-hot vectors where they do not belong, values of different lengths,
//! and a receiver that is not there. It ends as [`Abort::Misuse`] at every party, and nothing is opened.

use crate::common::prelude::*;
use divisi_core::Misuse;
use std::sync::Mutex;

const OPENINGS: [&str; 2] = ["divisi_rep3::open/open.bytes", "divisi_rep3::masked/open_masked"];
pub const LANES: usize = 5;

/// All three do this, and all three are told that it is misuse; nothing of it was opened.
pub fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
    let harness = TrioHarness::default().patient();
    let recordings = harness.recordings();
    let results = harness.act(f);
    is_misuse_of_all(what, &results);
    for recording in &recordings {
        assert!(OPENINGS.iter().all(|step| recording.of(MessageDirection::Out, step).is_empty()), "{what}");
    }
}

fn one_layer(e: &mut Rep3, bytes: usize, vectors: Verified<OneHots>) -> Result<(), Abort> {
    let mut x = (0..bytes).map(|_| e.random_bytes(LANES)).collect::<Result<Vec<_>, _>>()?;
    e.sbox_with(Direction::Encrypt, &mut x.iter_mut().collect::<Vec<_>>(), vectors)
}

#[test]
fn vectors_serve_the_layer_for_which_they_were_made() {
    for protocol in LOOKUPS {
        let engine = |trio| Rep3::new(trio, protocol, Security::Malicious);
        for (bytes, lanes) in [(1, LANES), (3, LANES), (2, LANES + 1), (2, 513), (2, 0)] {
            is_misuse("another shape", |trio| {
                let mut e = engine(trio);
                let vectors = e.vectors(1, bytes, lanes)?;
                let Some(vectors) = vectors.into_iter().next() else {
                    return Err(Abort::Misuse { step: divisi_core::step!("none"), what: Misuse::NotMade });
                };
                one_layer(&mut e, 2, vectors)
            });
        }
        for other in LOOKUPS.into_iter().filter(|other| *other != protocol) {
            is_misuse("another protocol", |trio| {
                let mut e = engine(trio);
                let vectors = e.vectors(1, 2, LANES)?.remove(0);
                e.use_protocol(other);
                one_layer(&mut e, 2, vectors)
            });
        }
        for (made, used) in
            [(Security::SemiHonest, Security::Malicious), (Security::Malicious, Security::SemiHonest)]
        {
            is_misuse("another security", |trio| {
                let mut e = Rep3::new(trio, protocol, made);
                let vectors = e.vectors(1, 2, LANES)?.remove(0);
                let mut e = Rep3::new(e.into_trio(), protocol, used);
                one_layer(&mut e, 2, vectors)
            });
        }
        let made =
            TrioHarness::default().patient().act(|trio| Ok(engine(trio).vectors(1, 2, LANES)?.remove(0)));
        let made: Vec<_> = made.into_iter().map(|made| Mutex::new(Some(made.unwrap()))).collect();
        is_misuse("another session", |trio| {
            let vectors = made[trio.me().index()].lock().unwrap().take().unwrap();
            one_layer(&mut engine(trio), 2, vectors)
        });
    }
    for protocol in [Protocol::Gf8Circuit, Protocol::Gf4Circuit] {
        is_misuse("vectors for a circuit", |trio| {
            Rep3::new(trio, protocol, Security::Malicious).vectors(1, 1, 1).map(drop)
        });
        is_misuse("a circuit with vectors", |trio| {
            let mut e = Rep3::new(trio, Protocol::Lut16, Security::Malicious);
            let vectors = e.vectors(1, 1, LANES)?.remove(0);
            e.use_protocol(protocol);
            one_layer(&mut e, 1, vectors)
        });
    }
}

#[test]
fn blocks_of_different_lanes_are_not_multiplied() {
    type Use = fn(&mut Rep3, [&Block; 2]) -> Result<Block, Abort>;
    let uses: [(&str, Use); 3] = [
        ("a product", |e, [x, y]| e.multiply(x, y)),
        ("the first of two sums", |e, [x, y]| e.dot(&[(x, y), (x, x)])),
        ("the second of two sums", |e, [x, y]| e.dot(&[(x, x), (x, y)])),
    ];
    for (what, used) in uses {
        for [x, y] in [[2, 3], [3, 2], [2, 258]] {
            is_misuse(what, |trio| {
                let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
                let [x, y] = [x, y].map(|lanes| e.random_blocks(lanes));
                used(&mut e, [&x, &x])?;
                used(&mut e, [&x, &y]).map(drop)
            });
        }
    }
}

/// What is joined has the same lanes in each of its places.
#[test]
fn what_is_joined_has_the_same_lanes() {
    let engine = |trio| Rep3::new(trio, Protocol::Gf8Circuit, Security::Malicious);
    for lanes in [LANES - 1, LANES + 1, LANES + 256] {
        is_misuse("bytes that are added", |trio| {
            let mut e = engine(trio);
            let (mut x, y) = (e.public(&[1; LANES]), e.public(&vec![1; lanes]));
            e.add(&mut x, &y)
        });
        is_misuse("bytes that are mixed", |trio| {
            let mut e = engine(trio);
            let mut x = [e.public(&[1; LANES]), e.public(&vec![1; lanes])];
            e.linear(&Matrix([[1, 2], [3, 4]]), &mut x)
        });
        is_misuse("the components of a part", |mut trio| {
            trio.input(&Part { first: vec![1; LANES], second: vec![1; lanes] }).map(drop)
        });
        is_misuse("coefficients of a block", |trio| {
            let mut e = engine(trio);
            let bytes: [Byte; 16] = std::array::from_fn(|_| e.public(&[1; LANES]));
            let block: Block = e.convert(bytes)?;
            e.combine(&block, &vec![1; lanes]).map(drop)
        });
        for odd in 0..16 {
            let of = |i: usize| if i == odd { lanes } else { LANES };
            is_misuse("bytes of a block", |trio| {
                let mut e = engine(trio);
                let bytes: [Byte; 16] = std::array::from_fn(|i| e.public(&vec![1; of(i)]));
                let block: Result<Block, Abort> = e.convert(bytes);
                block.map(drop)
            });
            if odd < 8 {
                is_misuse("bits of a byte", |trio| {
                    let mut e = engine(trio);
                    let bits: [Bit; 8] = std::array::from_fn(|i| e.public_bit(&vec![true; of(i)]));
                    let byte: Result<Byte, Abort> = e.convert(bits);
                    byte.map(drop)
                });
            }
        }
    }
}

/// A value is opened to one of the three.
#[test]
fn nothing_is_opened_to_a_fourth_party() {
    for number in [4, 5, 7, 255] {
        is_misuse("a party that is not there", |trio| {
            let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::Malicious);
            let x = e.public(&[7; LANES]);
            let verified = settled(&mut e, x)?;
            e.trio().open_to(party(number), &verified).map(drop)
        });
    }
}

/// What a strand takes in after its engine is gone is for the next engine, whatever its security is.
#[test]
fn a_strand_is_free_after_its_engine() {
    for securities in [SECURITIES, [SECURITIES[1], SECURITIES[0]]] {
        let results = TrioHarness::default().act(|trio| {
            let before = Rep3::new(trio, Protocol::Gf4Circuit, securities[0]);
            let mut trio = before.into_trio();
            let x = trio.input(&Part { first: vec![0; LANES], second: vec![0; LANES] })?;
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, securities[1]);
            let mut y = e.public(&[7; LANES]);
            e.add(&mut y, &x)?;
            let verified = linear(&mut e, vec![y])?;
            e.trio().open(&verified)
        });
        assert!(results.iter().all(|end| *end == Ok(vec![vec![7; LANES]])), "{securities:?}: {results:?}");
    }
}
