//! Masks and random values: none is used for two things, over any axis. Where what is masked is zero, or the
//! same everywhere, the message is the mask: no 64 bits of it occur twice (A3, A16, A19).

use crate::session::every_bit_varies;
use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Direction, ProgramRun};
use divisi_field::{Field, Gf2, Gf64};
use divisi_net::Fault;
use divisi_rep3::adversary::harness::{MessageDirection, Recording, TrioHarness, party};
use divisi_rep3::adversary::lookups::{PRODUCTS as VECTORS, held};
use divisi_rep3::blackbox::BlackBox;
use divisi_rep3::deal;
use divisi_rep3::{Byte, Protocol, Rep3, Security, Trio};
use std::collections::HashSet;

const X3: &str = "divisi_rep3::sbox::gf8_circuit/x3";
const MULTIPLY: &str = "divisi_rep3::engine::blocks/multiply";
const DOT: &str = "divisi_rep3::engine::blocks/dot";
const PRODUCTS: &str = "divisi_rep3::engine::boolean/products";
const INPUT: &str = "divisi_rep3::blackbox/input";
const MASKED: &str = "divisi_rep3::masked/open_masked";
const LANES: usize = 1536;

/// Words seen so far.
#[derive(Default)]
struct Fresh(HashSet<u64>);

impl Drop for Fresh {
    /// Asserts that no bit is the same in all words.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let words: Vec<Vec<u8>> = self.0.iter().map(|word| word.to_le_bytes().to_vec()).collect();
            every_bit_varies("words of masks", &words);
        }
    }
}

impl Fresh {
    /// No word of these was seen, nor is any twice among them: of a million random words two are equal with
    /// probability 2^-25, of the few thousand here with less than 2^-40.
    fn are_new(&mut self, what: &str, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "{what}: nothing");
        for (i, word) in bytes.chunks_exact(8).enumerate() {
            assert!(
                self.0.insert(u64::from_le_bytes(word.try_into().unwrap())),
                "{what}: word {i} was used before"
            );
        }
        assert!(self.0.len() < 1 << 12);
    }
}

/// Runs `f` in two strands of two sessions. Returns the messages that each party sends at this step.
fn sent(step: &'static str, f: impl Fn(&mut Rep3) -> Result<(), Abort> + Sync) -> Vec<Vec<Vec<u8>>> {
    let mut all = vec![Vec::new(); 3];
    for _ in 0..2 {
        let harness = TrioHarness::default().patient();
        let recordings: Vec<Recording> = [1, 2, 3].map(|p| harness.recording(party(p))).into();
        let results = harness.act(|mut trio| {
            let strand = Trio::new(trio.session().strand()?)?;
            for trio in [trio, strand] {
                f(&mut Rep3::new(trio, Protocol::Gf8Circuit, Security::SemiHonest))?;
            }
            Ok(())
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        for (all, recording) in all.iter_mut().zip(&recordings) {
            all.extend(recording.of(MessageDirection::Out, step).into_iter().map(|seen| seen.frame.body));
        }
    }
    all
}

/// No mask of a message of zeros occurs twice, at one party; those of the three sum to zero.
fn masks_are_new(step: &'static str, f: impl Fn(&mut Rep3) -> Result<(), Abort> + Sync) {
    let all = sent(step, f);
    for messages in &all {
        let mut fresh = Fresh::default();
        messages.iter().for_each(|message| fresh.are_new(step, message));
    }
    for ((x, y), z) in all[0].iter().zip(&all[1]).zip(&all[2]) {
        assert!(x.iter().zip(y).zip(z).all(|((x, y), z)| x ^ y ^ z == 0), "{step}: no share of zero");
    }
}

#[test]
fn no_mask_of_planes_occurs_twice() {
    // two layers of two bytes in three tiles: eight planes of eight words each
    masks_are_new(X3, |e| {
        for _ in 0..2 {
            let mut x = [e.public(&[0; LANES / 2]), e.public(&[0; LANES / 2])];
            e.sbox(Direction::Encrypt, &mut x.each_mut())?;
        }
        Ok(())
    });
    let mut g = Build::new();
    let x = g.input(9);
    let z: Vec<_> = (0..8).map(|i| g.and(x[i], x[i + 1])).collect();
    g.output(&z);
    let program = g.finish();
    for lanes in [64, 640] {
        masks_are_new(PRODUCTS, |e| {
            let zero = e.public_bit(&vec![false; lanes]);
            for _ in 0..2 {
                e.run(&mut [ProgramRun::new(&program, vec![zero.clone(); 9])])?;
            }
            Ok(())
        });
    }
}

#[test]
fn no_mask_of_elements_occurs_twice() {
    let zeros = |e: &mut Rep3, n: usize| {
        let zero: [Byte; 16] = std::array::from_fn(|_| e.public(&vec![0; n]));
        e.convert(zero)
    };
    // longer than one piece of a message
    masks_are_new(MULTIPLY, |e| {
        let zero = zeros(e, 150)?;
        for _ in 0..2 {
            e.multiply(&zero, &zero)?;
        }
        Ok(())
    });
    masks_are_new(DOT, |e| {
        let zero = zeros(e, 3)?;
        e.dot(&[(&zero, &zero); 70]).map(drop)
    });
}

/// The products of one-hot vectors are of random bits, so their masks cannot be seen directly. But a share is
/// one in three of eight cases without a mask, and in one of two with it.
#[test]
fn products_of_vectors_are_masked() {
    for (protocol, steps) in [
        (Protocol::Lut16, &VECTORS[..2]),
        (Protocol::Lut256Additive, &VECTORS[..2]),
        (Protocol::Lut256, &VECTORS[..]),
    ] {
        let harness = TrioHarness::default().patient();
        let recording = harness.recording(party(2));
        let results = harness.act(|trio| {
            let mut e = Rep3::new(trio, protocol, Security::SemiHonest);
            let vectors = e.vectors(2, 2, LANES)?;
            Ok(vectors.iter().flat_map(held).collect::<Vec<_>>())
        });
        for step in steps {
            let messages = recording.of(MessageDirection::Out, step);
            let bytes: Vec<u8> = messages.into_iter().flat_map(|seen| seen.frame.body).collect();
            let bits = 8.0 * bytes.len() as f64;
            assert!(bits > 10_000.0);
            let ones = f64::from(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>());
            let off = (ones - bits / 2.0) / (bits / 4.0).sqrt();
            assert!(off.abs() < 9.0, "{protocol} {step}: {off} standard deviations");
            if bytes.len() < 8 << 12 {
                Fresh::default().are_new(step, &bytes);
            }
        }
        // nor do two planes of a vector hold the same at anybody, in any tile
        for held in results {
            let mut words = HashSet::new();
            for (record, sides) in held.unwrap().iter().enumerate() {
                for (side, planes) in sides.iter().enumerate() {
                    for (p, plane) in planes.iter().enumerate() {
                        let new = plane.0.iter().all(|word| words.insert(*word));
                        assert!(new, "{protocol}: record {record}, component {side}, plane {p}");
                    }
                }
            }
        }
    }
}

/// Openings under a mask of the same value in every lane: what is opened is the mask, of which no word occurs
/// twice.
#[test]
fn no_mask_of_an_opening_occurs_twice() {
    let mut fresh = Fresh::default();
    for _ in 0..2 {
        let opened = TrioHarness::default().patient().act(|mut trio| {
            let strand = Trio::new(trio.session().strand()?)?;
            let mut all = Vec::new();
            for trio in [trio, strand] {
                let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
                for _ in 0..2 {
                    let (x, mask) = (e.public(&[0; LANES]), e.mask(LANES)?);
                    let (c, r) = e.open_masked(&x, mask)?;
                    // and r is what masked it
                    let _ = r;
                    all.extend(c);
                }
                e.trio().barrier()?;
            }
            Ok(all)
        });
        let opened: Vec<_> = opened.into_iter().map(Result::unwrap).collect();
        assert!(opened.iter().all(|c| *c == opened[0]));
        fresh.are_new(MASKED, &opened[0]);
    }
}

/// No word occurs twice in random bytes and blocks, or in the masks of a dealer.
#[test]
fn nothing_random_repeats_within_itself() {
    let opened = TrioHarness::default().patient().act(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let bytes = e.random_bytes(LANES)?;
        let blocks = e.random_blocks(200);
        let columns: [Byte; 16] = e.convert(blocks)?;
        let all = [vec![bytes], columns.to_vec()].concat();
        let pending = e.close_linear(all)?;
        let verified = divisi_core::settle(&mut e, pending)?;
        e.trio().open(&verified)
    });
    let mut fresh = Fresh::default();
    let columns = opened.into_iter().next().unwrap().unwrap();
    fresh.are_new("random bytes", &columns[0]);
    for l in 0..200 {
        let block: Vec<u8> = columns[1..].iter().map(|column| column[l]).collect();
        fresh.are_new("random blocks", &block);
    }
    let world = divisi_net::Machine;
    for _ in 0..2 {
        let parts = deal::split(&[0; 320], |out| divisi_net::World::entropy(&world, out));
        parts.iter().for_each(|part| fresh.are_new("dealt", &part.first));
    }
}

/// An owner gives zeros: what the next gets is the mask that the owner has from its previous.
#[test]
fn no_mask_of_an_input_occurs_twice() {
    for owner in [1, 2, 3].map(party) {
        let mut fresh = Fresh::default();
        for _ in 0..2 {
            let harness = TrioHarness::default().patient();
            let recording = harness.recording(owner);
            let results = harness.act(|trio| {
                let mut b = BlackBox::new(trio);
                let zeros = [Gf64::ZERO; 100];
                for _ in 0..2 {
                    b.input::<Gf64>(owner, (b.me() == owner).then_some(&zeros[..]), 100)?;
                }
                Ok(())
            });
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            for message in recording.bodies(MessageDirection::Out, owner.next(3), INPUT) {
                fresh.are_new(INPUT, &message);
            }
        }
    }
}

/// A bit that is set in the padding of a message ends the session and names the sender.
#[test]
fn nothing_may_stand_in_padding() {
    const RESHARE: &str = "divisi_rep3::blackbox::products/reshare";
    for (step, bits) in [(X3, 11_usize), (RESHARE, 3)] {
        for bit in bits..bits.next_multiple_of(8) {
            let harness = TrioHarness::default().patient();
            harness.change(party(2), party(1), step, 0, move |body| body[bit / 8] ^= 1 << (bit % 8));
            let results = harness.act(|trio| {
                if step == X3 {
                    let mut e = Rep3::new(trio, Protocol::Gf8Circuit, Security::SemiHonest);
                    let mut x = e.public(&[1; 11]);
                    return e.sbox(Direction::Encrypt, &mut [&mut x]);
                }
                let mut b = BlackBox::new(trio);
                let x = b.random::<Gf2>(3);
                let product = b.local_mul(&x, &x)?;
                b.reshare(product).map(drop)
            });
            let Err(Abort::Network(Fault::Malformed { peer, .. })) = results[0] else {
                panic!("{step}, bit {bit}: {:?}", results[0])
            };
            assert_eq!(peer, party(2));
        }
    }
}
