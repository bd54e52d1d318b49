//! Errors that a party adds to what it sends, and outputs that are not the S-box's.

use super::{KEY, aes_128, parts, sent};
use crate::common::{DIRECTIONS, affine, sbox};
use divisi_core::{Abort, Bytes, Direction, Plain, PlainByte, Step, settle};
use divisi_field::{Field, Gf8};
use divisi_rep3::adversary::adaptive::OPEN;
use divisi_rep3::adversary::harness::{TrioHarness, ended_by_another, many, party};
use divisi_rep3::adversary::lookups::{FINISH, OUTER, opening};
use divisi_rep3::checks;
use divisi_rep3::{Protocol, Rep3, Security};
use divisi_symmetric::aes;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Flips a bit of one byte of a state of one block, whose bytes stand side by side in the lanes of each
/// plane.
fn flip(share: &mut [u8], byte: usize, bit: usize) {
    share[2 * bit + byte / 8] ^= 1 << (byte % 8);
}

/// How the attack on one S-box of AES went: what each honest party sent, and how it ended.
fn error_at(
    protocol: Protocol,
    at: &'static str,
    nth: usize,
    [byte, bit]: [usize; 2],
) -> Vec<Vec<(u8, u32, usize)>> {
    let (key, state) = (parts(KEY), parts([0x32; 16]));
    let harness = TrioHarness::default().patient();
    let recordings = [2, 3].map(|p| harness.recording(party(p)));
    let results = harness.act(|trio| {
        let corrupt = trio.me() == party(1);
        aes_128(trio, protocol, Direction::Encrypt, [&key, &state], |trio| {
            if corrupt {
                trio.lie_at(at, nth, move |share| flip(share, byte, bit));
            }
        })
    });
    for result in &results {
        let place = match result {
            Err(Abort::CheckFailed { check: checks::A7, step, .. }) => step.name == OPEN,
            _ => ended_by_another(result),
        };
        assert!(place, "{protocol} {at} {nth} {byte} {bit}: {result:?}");
    }
    // up to the opening of sigma, at which everybody stops: the digest that goes with it may be later than
    // another's abort
    let last = Step::new(OPEN).id;
    let until_sigma = |recording| {
        let mut all = sent(recording);
        all.truncate(1 + all.iter().rposition(|(_, step, _)| *step == last).unwrap());
        all
    };
    recordings.iter().map(until_sigma).collect()
}

/// An error in each of the 160 S-boxes of AES, in each bit: whatever the honest parties send, in number,
/// order and length, and where they stop, is the same (1.27).
fn every_error_looks_the_same(protocol: Protocol, places: &[(&'static str, usize, usize)], one_of: usize) {
    let mut jobs = Vec::new();
    for (at, times, bits) in places {
        for (nth, place) in (0..*times).flat_map(|nth| (0..16).map(move |place| (nth, place))) {
            // another bit in each place
            let bits = (0..*bits).filter(|bit| (bit + nth + place) % one_of == 0);
            jobs.extend(bits.map(|bit| (*at, nth, [place, bit])));
        }
    }
    assert!(jobs.len() >= 160, "{}", jobs.len());
    let patterns: BTreeSet<_> = many(jobs.len(), 4, |i| {
        let (at, nth, bit) = jobs[i];
        error_at(protocol, at, nth, bit)
    })
    .into_iter()
    .collect();
    assert_eq!(patterns.len(), 1, "{protocol}: {} patterns", patterns.len());
}

/// In v, a'_h and a'_l of lut16; in the outputs of a chain's layers, which are the inputs of the next or the
/// chain's end.
const PLACES_16: [(&str, usize, usize); 2] = [(opening(Protocol::Lut16), 10, 4), (OUTER, 10, 8)];
const PLACES_256: [(&str, usize, usize); 2] = [(opening(Protocol::Lut256Additive), 9, 8), (FINISH, 1, 8)];

#[test]
fn an_error_in_any_sbox_looks_like_any_other() {
    every_error_looks_the_same(Protocol::Lut16, &PLACES_16, 4);
    every_error_looks_the_same(Protocol::Lut256Additive, &PLACES_256, 8);
}

#[test]
#[ignore = "every bit of every S-box"]
fn an_error_in_any_bit_of_any_sbox_looks_like_any_other() {
    every_error_looks_the_same(Protocol::Lut16, &PLACES_16, 1);
    every_error_looks_the_same(Protocol::Lut256Additive, &PLACES_256, 1);
}

/// Errors in c, in the products and in the closing Reshare, of every party, in both directions: an abort.
#[test]
fn an_error_in_any_message_of_a_lookup_is_an_abort() {
    let (key, state) = (parts(KEY), parts([0x32; 16]));
    let mut jobs = Vec::new();
    for (protocol, at, times) in [
        (Protocol::Lut16, opening(Protocol::Lut16), 10),
        (Protocol::Lut16, OUTER, 10),
        (Protocol::Lut256Additive, opening(Protocol::Lut256Additive), 9),
        (Protocol::Lut256Additive, FINISH, 1),
    ] {
        for (i, direction) in (0..times).flat_map(|i| DIRECTIONS.map(|d| (i, d))) {
            jobs.push((protocol, at, i, direction, party(1 + (i % 3) as u8)));
        }
    }
    many(jobs.len(), 4, |i| {
        let (protocol, at, nth, direction, liar) = jobs[i];
        let results = TrioHarness::default().patient().act(|trio| {
            let corrupt = trio.me() == liar;
            aes_128(trio, protocol, direction, [&key, &state], |trio| {
                if corrupt {
                    trio.lie_at(at, nth, |share| share.iter_mut().step_by(3).for_each(|byte| *byte ^= 1));
                }
            })
        });
        assert!(results.iter().all(Result::is_err), "{protocol} {at} {nth} {direction:?}: {results:?}");
    });
}

/// A chain of two S-boxes on bytes that everybody knows, one a lane; party 1 adds an error to each output of
/// the first layer. Returns whether an honest party accepted it.
fn believed(direction: Direction, x: &[u8], errors: &[u8]) -> bool {
    let (x, lanes) = (x.to_vec(), x.len());
    let errors = errors.to_vec();
    let results = TrioHarness::default().patient().act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = Rep3::new(trio, Protocol::Lut256Additive, Security::Malicious);
        if corrupt {
            let errors = errors.clone();
            e.trio().deviate(move |step: Step, share: &mut [u8]| {
                if step.name == opening(Protocol::Lut256Additive) {
                    for (l, bit) in (0..lanes).flat_map(|l| (0..8).map(move |bit| (l, bit))) {
                        share[bit * lanes.div_ceil(8) + l / 8] ^= (errors[l] >> bit & 1) << (l % 8);
                    }
                }
            });
        }
        let mut byte = e.public(&x);
        e.prepare(2, 1, lanes)?;
        e.sbox(direction, &mut [&mut byte])?;
        e.sbox(direction, &mut [&mut byte])?;
        e.finish(&mut [&mut byte])?;
        let pending = e.close(vec![byte]);
        settle(&mut e, pending).map(drop)
    });
    results[1..].iter().any(Result::is_ok)
}

/// VerifySbox believes no pair but the S-box's: neither any y beside x = 0, nor y = 0 beside any x, nor any
/// other.
#[test]
fn no_output_but_the_right_one_is_believed() {
    // whoever tells no lie is believed
    for direction in DIRECTIONS {
        assert!(believed(direction, &[0, 1, 0x63], &[0; 3]));
    }
    let mut jobs = Vec::new();
    for y in 1..=255u8 {
        // at x = 0: the output 0x63 becomes any other; backwards the pair is (Affine^-1(x), y)
        jobs.push((Direction::Encrypt, 0x00, y));
        jobs.push((Direction::Decrypt, 0x63, y));
    }
    for x in 1..=255u8 {
        // y = 0
        jobs.push((Direction::Encrypt, x, affine(Gf8(x).inverse().0)));
        jobs.push((Direction::Decrypt, sbox(x), x));
    }
    many(jobs.len(), 4, |i| {
        let (direction, x, error) = jobs[i];
        // among lanes about which nothing is said
        assert!(!believed(direction, &[7, x, 7], &[0, error, 0]), "{direction:?} {x:02x} {error:02x}");
    });
}

/// The same in AES itself, where the input of every S-box of the first layer is 0: the plaintext is the key,
/// or the ciphertext what makes it so backwards.
#[test]
fn no_output_beside_zero_is_believed_in_the_cipher() {
    let known =
        |bytes: &[u8]| -> Vec<PlainByte> { bytes.iter().map(|byte| PlainByte::new(vec![*byte])).collect() };
    let keys = aes::expand(&mut Plain, &known(&KEY)).unwrap();
    let last = &keys.keys()[10];
    let zero_inside = [KEY, std::array::from_fn(|i| last[i].values()[0] ^ 0x63)];
    let key = parts(KEY);
    for (direction, state) in DIRECTIONS.into_iter().zip(zero_inside) {
        let state = parts(state);
        let run = |lie: Option<(usize, usize)>| {
            TrioHarness::default().patient().act(|trio| {
                let corrupt = trio.me() == party(1);
                aes_128(trio, Protocol::Lut256Additive, direction, [&key, &state], |trio| {
                    if let (true, Some((byte, bit))) = (corrupt, lie) {
                        let step = opening(Protocol::Lut256Additive);
                        trio.lie_at(step, 0, move |share| flip(share, byte, bit));
                    }
                })
            })
        };
        let honest = run(None);
        assert!(honest.iter().all(|r| *r == honest[0] && r.is_ok()));
        if direction == Direction::Decrypt {
            // the state before the last round key was 0x63 everywhere: all of the first layer's outputs are 0
            let mut again: [PlainByte; 16] = known(honest[0].as_ref().unwrap()).try_into().ok().unwrap();
            aes::encrypt(&mut Plain, &keys, &mut again).unwrap();
            assert!(again.iter().zip(last).all(|(c, k)| c.values()[0] ^ k.values()[0] == 0x63));
        }
        many(32, 4, |i| {
            let results = run(Some((i % 16, (3 * i + i / 16) % 8)));
            assert!(results.iter().all(Result::is_err), "{direction:?} {i}: {results:?}");
        });
    }
}

/// A layer there and a layer back on three bytes, opened: whether they come out as they went in. `lie` is
/// asked before each share that party 1 makes.
fn there_and_back(
    protocol: Protocol,
    lie: impl Fn(&mut [u8]) + Clone + Send + Sync + 'static,
) -> Vec<Result<bool, Abort>> {
    TrioHarness::default().patient().act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        if corrupt {
            let lie = lie.clone();
            e.trio().deviate(move |_: Step, share: &mut [u8]| lie(share));
        }
        let values = [[0, 0x63, 7], [0x53, 1, 2], [0xff, 0, 0x80]];
        let mut x = values.map(|values| e.public(&values));
        e.prepare(2, 3, 3)?;
        e.sbox(Direction::Encrypt, &mut x.each_mut())?;
        e.sbox(Direction::Decrypt, &mut x.each_mut())?;
        e.finish(&mut x.each_mut())?;
        let pending = e.close(x.to_vec());
        let verified = settle(&mut e, pending)?;
        Ok(e.trio().open(&verified)? == values)
    })
}

/// An error that its author keeps to, in each share of the whole run in turn: of vectors, openings, products,
/// and of the verifications themselves.
#[test]
fn an_error_that_its_author_keeps_to_is_an_abort_wherever_it_is() {
    for protocol in Protocol::ALL.iter().copied() {
        let shares = Arc::new(AtomicUsize::new(0));
        let counted = shares.clone();
        let honest = there_and_back(protocol, move |_| {
            counted.fetch_add(1, Relaxed);
        });
        assert!(honest.iter().all(|r| *r == Ok(true)), "{protocol}: {honest:?}");
        let shares = shares.load(Relaxed);
        assert!(shares > 10, "{protocol}: {shares}");
        many(3 * shares, 4, |i| {
            let (nth, salt) = (i % shares, i / shares);
            let count = Arc::new(AtomicUsize::new(0));
            let results = there_and_back(protocol, move |share| {
                if count.fetch_add(1, Relaxed) == nth {
                    // three lanes: the low bits of a byte are in use
                    let at = salt * 7919 % share.len();
                    share[at] ^= 1 << (salt % 3);
                }
            });
            assert!(results[1..].iter().all(Result::is_err), "{protocol}, share {nth}: {results:?}");
        });
    }
}
