//! Bytes of a chain of layers that are taken for values, or used in a way that nothing could verify: misuse
//! at every party, before anything is opened.

use crate::common::prelude::*;
use crate::misuse_at_run_time::{LANES, is_misuse};
use divisi_core::Lanes;

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
    ("of a layer of one, as many as make the matrix of a layer of two that was finished", |mut e, mut x| {
        e.finish(&mut x.each_mut())?;
        let mut one = e.random_bytes(LANES)?;
        e.sbox(Direction::Encrypt, &mut [&mut one])?;
        let mut zero = one.clone();
        e.add(&mut zero, &one)?;
        let [mut first, mut second, mut third] = [zero.clone(), zero, one.clone()];
        e.finish(&mut [&mut one, &mut first, &mut second, &mut third])
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
        // a byte of their own layer first
        let own = x[1].clone();
        e.add(&mut x[0], &own)?;
        e.add(&mut x[0], &other[1])?;
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
