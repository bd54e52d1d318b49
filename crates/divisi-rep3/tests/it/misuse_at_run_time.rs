//! Misuse that only a run can notice: one-hot vectors where they do not belong, and bytes of a chain of
//! layers taken for values. It ends as [`Abort::Misuse`] at every party, and nothing is opened.

use crate::common::prelude::*;
use divisi_core::{Lanes, Misuse};
use std::sync::Mutex;

const OPENINGS: [&str; 2] = ["divisi_rep3::open/open.bytes", "divisi_rep3::masked/open_masked"];
const LANES: usize = 5;

/// All three do this, and all three are told that it is misuse; nothing of it was opened.
fn is_misuse(what: &str, f: impl Fn(Trio) -> Result<(), Abort> + Sync) {
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

/// Two bytes in the middle of a chain.
fn chain(trio: Trio, security: Security) -> Result<(Rep3, [Byte; 2]), Abort> {
    let mut e = Rep3::new(trio, Protocol::Lut256Additive, security);
    e.prepare(3, 2, LANES)?;
    let mut x = [e.random_bytes(LANES)?, e.random_bytes(LANES)?];
    e.sbox(Direction::Encrypt, &mut x.each_mut())?;
    Ok((e, x))
}

/// A misuse of two such bytes: its name, and what is done.
type Program = (&'static str, fn(Rep3, [Byte; 2]) -> Result<(), Abort>);

fn opened(mut e: Rep3, x: Vec<Byte>) -> Result<Vec<Vec<u8>>, Abort> {
    let verified = settled(&mut e, x)?;
    e.trio().open(&verified)
}

const NEVER_VALUES: &[Program] = &[
    ("opened", |e, x| opened(e, x.into()).map(drop)),
    ("answered to a client", |mut e, x| {
        let verified = settled(&mut e, x.to_vec())?;
        e.trio().answer(b"request", &verified).map(drop)
    }),
    ("answered as a text", |mut e, x| {
        let verified = settled(&mut e, x.to_vec())?;
        e.trio().answer_message(b"request", &verified, 2 * LANES).map(drop)
    }),
    ("opened to one", |mut e, [x, _]| {
        let verified = settled(&mut e, x)?;
        e.trio().open_to(party(2), &verified).map(drop)
    }),
    ("stored", |mut e, [x, _]| {
        let verified = settled(&mut e, x)?;
        e.trio().part(&verified).map(drop)
    }),
    ("opened under a mask", |mut e, [x, _]| {
        let mask = e.mask(LANES)?;
        e.open_masked(&x, mask).map(drop)
    }),
    ("converted to a block", |mut e, [x, _]| {
        let bytes: [Byte; 16] = std::array::from_fn(|_| x.clone());
        e.convert(bytes).map(drop)
    }),
    ("converted to bits", |mut e, [x, _]| {
        let bits: Result<[Bit; 8], Abort> = e.convert(x);
        bits.map(drop)
    }),
    ("mixed with finished ones in a layer", |mut e, [mut x, _]| {
        let mut y = e.public(&[0; LANES]);
        e.prepare(1, 2, LANES)?;
        e.sbox(Direction::Encrypt, &mut [&mut x, &mut y])
    }),
    ("mixed with finished ones in a linear map", |mut e, [x, _]| {
        let y = e.public(&[0; LANES]);
        e.linear(&Matrix([[1, 1], [0, 1]]), &mut [x, y])
    }),
    ("added to more lanes than it has", |mut e, [x, _]| {
        let mut wide = e.public(&[0; 2 * LANES]);
        e.add(&mut wide, &x)
    }),
    ("of one lane, added to more", |mut e, _| {
        let mut one = e.public(&[7]);
        e.sbox(Direction::Encrypt, &mut [&mut one])?;
        let mut wide = e.public(&[0; LANES]);
        e.add(&mut wide, &one)
    }),
];

/// Misuses that only a verification can notice.
const NEVER_VERIFIED: &[Program] = &[
    ("dropped", |e, x| {
        drop(x);
        opened(e, vec![]).map(drop)
    }),
    ("dropped beside something else", |mut e, x| {
        drop(x);
        let other = e.random_bytes(LANES)?;
        opened(e, vec![other]).map(drop)
    }),
    ("closed and resumed, and something else closed", |mut e, x| {
        let unfinished = e.close(x.to_vec());
        unfinished.resume(&mut e);
        let other = e.random_bytes(LANES)?;
        opened(e, vec![other]).map(drop)
    }),
    ("joined to what is right", |mut e, x| {
        let unfinished = e.close(Vec::from(x));
        let other = e.random_bytes(LANES)?;
        let right = e.close_linear(vec![other])?;
        let all = Pending::join([right, unfinished]).unwrap();
        settle(&mut e, all).map(drop)
    }),
    ("dropped beside a product that is verified", |mut e, x| {
        drop(x);
        let block = e.random_blocks(1);
        e.multiply(&block, &block)?;
        opened(e, vec![]).map(drop)
    }),
    ("dropped, and joined with a product that is verified", |mut e, x| {
        drop(x);
        let dropped = e.close(());
        let block = e.random_blocks(1);
        e.multiply(&block, &block)?;
        let joined = [e.close(()), dropped];
        settle(&mut e, Pending::join(joined).expect("two")).map(drop)
    }),
    ("one of them dropped before the next layer", |mut e, [mut x, _]| {
        e.sbox(Direction::Encrypt, &mut [&mut x])
    }),
    ("one of them dropped before the end", |mut e, [mut x, _]| e.finish(&mut [&mut x])),
    ("one of them copied for the next layer", |mut e, [mut x, _]| {
        let mut y = x.clone();
        e.sbox(Direction::Encrypt, &mut [&mut x, &mut y])
    }),
    ("finished, and a copy of them again", |mut e, x| {
        let (mut first, mut again) = (x.clone(), x);
        e.finish(&mut first.each_mut())?;
        e.finish(&mut again.each_mut())
    }),
    ("finished, and a copy opened", |mut e, x| {
        let mut first = x.clone();
        e.finish(&mut first.each_mut())?;
        opened(e, x.into()).map(drop)
    }),
    ("finished, and a copy in another protocol's layer", |mut e, x| {
        let (mut first, mut again) = (x.clone(), x);
        e.finish(&mut first.each_mut())?;
        e.use_protocol(Protocol::Gf4Circuit);
        e.sbox(Direction::Encrypt, &mut again.each_mut())
    }),
    ("in the next layer, and a copy of them again", |mut e, x| {
        let (mut first, mut again) = (x.clone(), x);
        e.sbox(Direction::Encrypt, &mut first.each_mut())?;
        e.sbox(Direction::Encrypt, &mut again.each_mut())
    }),
    ("three of two", |mut e, [mut x, mut y]| {
        let mut z = x.clone();
        e.add(&mut z, &y)?;
        e.prepare(1, 3, LANES)?;
        e.sbox(Direction::Encrypt, &mut [&mut x, &mut y, &mut z])
    }),
    ("mapped to what does not determine them", |mut e, mut x| {
        e.linear(&Matrix([[1, 1], [1, 1]]), &mut x)?;
        e.finish(&mut x.each_mut())
    }),
    ("added to themselves", |mut e, mut x| {
        let copy = x[0].clone();
        e.add(&mut x[0], &copy)?;
        e.finish(&mut x.each_mut())
    }),
    ("added to bytes of another layer", |mut e, mut x| {
        let mut other = [e.random_bytes(LANES)?, e.random_bytes(LANES)?];
        e.sbox(Direction::Encrypt, &mut other.each_mut())?;
        e.add(&mut x[0], &other[0])?;
        e.finish(&mut x.each_mut())
    }),
    ("added to bytes of the 256th layer after theirs", |mut e, mut x| {
        for _ in 1..256 {
            let mut other = e.random_bytes(1)?;
            e.sbox(Direction::Encrypt, &mut [&mut other])?;
            e.finish(&mut [&mut other])?;
        }
        let mut other = [e.random_bytes(LANES)?, e.random_bytes(LANES)?];
        e.sbox(Direction::Encrypt, &mut other.each_mut())?;
        e.add(&mut x[0], &other[1])?;
        e.finish(&mut x.each_mut())?;
        e.finish(&mut other.each_mut())
    }),
    ("with bytes of another layer", |mut e, [mut x, _]| {
        let mut other = [e.random_bytes(LANES)?, e.random_bytes(LANES)?];
        e.sbox(Direction::Encrypt, &mut other.each_mut())?;
        let [mut y, _] = other;
        e.sbox(Direction::Encrypt, &mut [&mut x, &mut y])
    }),
    ("of a computation that was closed", |mut e, mut x| {
        let pending = e.close(());
        e.finish(&mut x.each_mut())?;
        settle(&mut e, pending).map(drop)
    }),
    ("left to another engine", |e, _| {
        // the session ended there and then
        let mut trio = e.into_trio();
        Err(trio.session().cause().expect("a reason"))
    }),
    ("closed as linear", |mut e, x| {
        let verified = linear(&mut e, x.to_vec())?;
        e.trio().open(&verified).map(drop)
    }),
];

#[test]
fn a_byte_of_a_chain_is_no_value() {
    for (what, program) in NEVER_VALUES {
        for security in SECURITIES {
            is_misuse(what, |trio| {
                let (e, x) = chain(trio, security)?;
                program(e, x)
            });
        }
    }
    let results = TrioHarness::default().patient().act(|trio| {
        let (mut e, [x, y]) = chain(trio, Security::Malicious)?;
        let finished = e.public(&[0; LANES]);
        assert!(x.gather(&[0]).is_none() && x.prefix(1).is_none());
        assert!(x.with(&y).is_none() && x.with(&finished).is_none() && finished.with(&x).is_none());
        Ok(())
    });
    assert!(results.iter().all(Result::is_ok));
}

#[test]
fn a_chain_that_cannot_be_verified_is_never_opened() {
    for (what, program) in NEVER_VERIFIED {
        is_misuse(what, |trio| {
            let (e, x) = chain(trio, Security::Malicious)?;
            program(e, x)
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

/// The control: what the programs above get wrong, done right, in the same words.
#[test]
fn a_chain_that_is_finished_is_a_value() {
    let results = TrioHarness::default().patient().act(|trio| {
        let (mut e, mut x) = chain(trio, Security::Malicious)?;
        let key = e.public(&[9]);
        e.linear(&Matrix([[2, 1], [1, 1]]), &mut x)?;
        e.add(&mut x[1], &key)?;
        e.add_public(&mut x[0], &[1])?;
        // what has one lane is added to all of them, also beside what has all
        let wide = e.public(&[3; LANES]);
        e.add(&mut x[0], &wide)?;
        e.linear(&Matrix([[1, 1], [0, 1]]), &mut x)?;
        e.sbox(Direction::Decrypt, &mut x.each_mut())?;
        e.finish(&mut x.each_mut())?;
        opened(e, x.into()).map(drop)
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

/// Bytes of different lanes are values after their layer, whichever of them has others.
#[test]
fn bytes_of_different_lanes_make_no_chain() {
    for lanes in [[4, 5, 5], [5, 4, 5], [5, 5, 4]] {
        let results = TrioHarness::default().patient().act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Lut256Additive, Security::Malicious);
            let mut x = lanes.map(|lanes| e.public(&vec![0x53; lanes]));
            e.sbox(Direction::Encrypt, &mut x.each_mut())?;
            opened(e, x.to_vec())
        });
        let expected = lanes.map(|lanes| vec![sbox(0x53); lanes]).to_vec();
        assert!(results.iter().all(|result| result.as_ref() == Ok(&expected)), "{lanes:?}: {results:?}");
    }
}

/// A layer of another protocol ends the chain before it, whoever made its vectors: the output is right.
#[test]
fn a_layer_of_another_protocol_ends_the_chain() {
    let values = [[0, 1, 0x53, 0xfe, 7], [9, 8, 0x63, 0x52, 0xff]];
    for protocol in LOOKUPS {
        for security in SECURITIES {
            let results = TrioHarness::default().patient().act(|trio| {
                let mut e = Rep3::new(trio, Protocol::Lut256Additive, security);
                let mut x = values.map(|values| e.public(&values));
                e.sbox(Direction::Encrypt, &mut x.each_mut())?;
                e.use_protocol(protocol);
                let vectors = e.vectors(1, 2, LANES)?.remove(0);
                e.sbox_with(Direction::Encrypt, &mut x.each_mut(), vectors)?;
                e.finish(&mut x.each_mut())?;
                opened(e, x.to_vec())
            });
            let expected = values.map(|x| x.map(|x| sbox(sbox(x))).to_vec()).to_vec();
            for result in results {
                assert_eq!(result.as_ref(), Ok(&expected), "{protocol} {security}");
            }
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
