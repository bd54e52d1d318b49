//! The masks that hide secrets are fresh, hide all of a secret, and are used once. The secrets are zeros
//! here, so that the opened values are the masks themselves.

use super::{act, bytes, opened};
use crate::common::{agreed, plain, product, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::testing::{Harness, MessageDirection, failed_check, links, party};
use divisi_core::{Abort, Boolean, Lanes, PartyId, ProgramRun, Step};
use divisi_field::zp::P32;
use divisi_mixed::checks;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_ot::SetupConfig;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const GATHER: &str = "divisi_mixed::num/open.gather";
const NUMBERS: &str = "divisi_mixed::num/open.tell";
const BITS: &str = "divisi_mixed::open/open.tell";
const PAYLOAD: &str = "divisi_ot::correlate/payload";

/// No group of eight bytes occurs twice in these messages, and if there are many, no bit is the same in all
/// groups.
fn are_fresh(messages: &[Vec<u8>], times: usize) {
    assert_eq!(messages.len(), times);
    let words: Vec<&[u8]> = messages.iter().flat_map(|body| body.chunks_exact(8)).collect();
    let different: BTreeSet<&[u8]> = words.iter().copied().collect();
    assert_eq!(different.len(), words.len(), "a mask that served twice");
    // in few words some bit may be the same by chance
    if words.len() >= 64 {
        let bits =
            || words.iter().map(|word| word.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte)));
        assert_eq!(bits().fold(0, |any, word| any | word), u64::MAX, "bits that are never set");
        assert_eq!(bits().fold(u64::MAX, |all, word| all & word), 0, "bits that are always set");
    }
}

/// Of the numbers in these messages hardly any occurs twice: four of some hundred less than once in 2^60.
fn differ(messages: &[Vec<u8>]) {
    let numbers = || messages.iter().flat_map(|body| body.as_chunks::<4>().0);
    let different: BTreeSet<&[u8; 4]> = numbers().collect();
    assert!(different.len() + 4 > numbers().count(), "a mask that served twice");
}

/// A2B of zeros, twice, with masks of one stock, and of two.
#[test]
fn masks_of_numbers_serve_once() {
    let (_, seen) = act(2, None, |mixed| {
        mixed.prepare_masks(40)?;
        mixed.prepare_masks(128)?;
        for _ in 0..2 {
            mixed.a2b(&Num::zero(64))?;
        }
        Ok(())
    });
    let told = opened(&seen, party(1), NUMBERS, 4 * 64);
    are_fresh(&told, 2);
    differ(&told);
}

/// Products of zeros, twice: both factors of all lanes are hidden by triples of their own.
#[test]
fn triples_of_numbers_serve_once() {
    let (_, seen) = act(2, None, |mixed| {
        for _ in 0..2 {
            mixed.multiply(&Num::zero(64), &Num::zero(64))?;
        }
        Ok(())
    });
    let told = opened(&seen, party(1), NUMBERS, 4 * 128);
    are_fresh(&told, 2);
    differ(&told);
}

/// The same where a call takes triples of two batches, and the next one what is left of the second.
#[test]
fn triples_of_two_batches_serve_once() {
    let (_, seen) = act(2, None, |mixed| {
        // a batch has 1,024
        mixed.prepare_products(2048)?;
        for _ in 0..3 {
            mixed.multiply(&Num::zero(640), &Num::zero(640))?;
        }
        Ok(())
    });
    let told = opened(&seen, party(1), NUMBERS, 4 * 2 * 640);
    are_fresh(&told, 3);
}

/// Products of bits that are zero, of some words each, one after the other: each message has the masked first
/// factors and then the second.
#[test]
fn triples_of_bits_serve_once() {
    let program = product();
    let (_, seen) = act(2, None, |mixed| {
        let gmw = mixed.gmw();
        gmw.prepare(3 * 1024)?;
        (0..3).try_for_each(|_| gmw.run(&mut [ProgramRun::new(&program, vec![GmwBit::zero(1024); 2])]))
    });
    let both = opened(&seen, party(1), "divisi_mixed::gmw/products", 256);
    let factors = |i: usize| both.iter().map(|body| body[128 * i..][..128].to_vec()).collect::<Vec<_>>();
    are_fresh(&both, 6);
    [0, 1].map(factors).iter().for_each(|of_one| are_fresh(of_one, 6));
}

/// Inputs that are zero, of either party, some words each: the other party's share is the mask.
#[test]
fn every_input_has_a_mask_of_its_own() {
    let (shares, _) = act(2, None, |mixed| {
        let me = mixed.session().me();
        let mut others = Vec::new();
        for owner in [party(1), party(2), party(1), party(2)] {
            let zero = GmwBit::zero(64 * 20);
            let share = mixed.gmw().input(owner, zero.lanes(), Some(&zero).filter(|_| me == owner))?;
            others.extend(Some(bytes(share.words())).filter(|_| me != owner));
        }
        Ok(others)
    });
    are_fresh(&shares.concat(), 4);
}

/// Among three parties only the receivers of an output, one or several, learn it \[G11\].
#[test]
fn nobody_but_receivers_is_told() {
    let sets: [&[u8]; 5] = [&[1], &[2], &[3], &[1, 3], &[2, 3]];
    let harness = Harness::new(3, &agreed()).patient();
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let mut gmw = Gmw::new(session, SetupConfig::default())?;
        for set in sets {
            let receivers: Vec<PartyId> = set.iter().copied().map(party).collect();
            let learns = receivers.contains(&gmw.session().me());
            assert_eq!(gmw.output(&receivers, &[GmwBit::zero(64)])?.is_some(), learns);
            assert_eq!(num::open_to(gmw.session(), plain(), &receivers, &Num::zero(4))?.is_some(), learns);
        }
        Ok(())
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    for (from, seen) in (1..).zip(&recordings) {
        for to in (1..=3).filter(|to| *to != from) {
            let told = sets.iter().filter(|set| set.contains(&to)).count();
            for step in ["divisi_mixed::gmw/output", NUMBERS] {
                let sent = seen.bodies(MessageDirection::Out, party(to), step).len();
                assert_eq!(sent, told, "{from} {to} {step}");
            }
        }
    }
}

/// Lookups at zero, twice: all bits of all indices are hidden, and by different masks.
#[test]
fn indices_are_hidden_whole() {
    let table: Vec<u64> = (0..16).collect();
    let (_, seen) = act(2, None, |mixed| {
        for _ in 0..2 {
            let signs = mixed.prep_lut(4, 64)?;
            mixed.lookup(&[&table], &[0; 4].map(|_| GmwBit::zero(64)), signs)?;
        }
        Ok(())
    });
    let told = opened(&seen, party(1), BITS, 32);
    are_fresh(&told, 2);
    for body in told {
        let indices: Vec<u8> = body.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
        for bit in 0..4 {
            let ones = indices.iter().filter(|index| *index >> bit & 1 == 1).count();
            // within seven standard deviations of 32
            assert!((5..60).contains(&ones), "bit {bit}: {ones} of 64");
        }
        assert!(indices.iter().collect::<BTreeSet<_>>().len() >= 8);
    }
}

/// A message with a number that is not below p, or with a bit behind the last number, is refused.
#[test]
fn numbers_are_reduced() {
    let changes: [(fn(&mut Vec<u8>), bool); 4] = [
        (|_| {}, true),
        (|body| body[4..8].copy_from_slice(&(P32 as u32 - 1).to_le_bytes()), true),
        (|body| body[4..8].copy_from_slice(&(P32 as u32).to_le_bytes()), false),
        (|body| body[..4].fill(0xff), false),
    ];
    for (i, (change, taken)) in changes.into_iter().enumerate() {
        let harness = Harness::new(2, &agreed());
        links(2).for_each(|(from, to)| harness.change(from, to, GATHER, 0, change));
        let ends = harness.act(|mut session| num::open(&mut session, plain(), &Num::zero(3)));
        assert!(ends.iter().all(|end| end.is_ok() == taken), "{i}: {ends:?}");
    }
}

/// Two parties run `f`; in the first `tries` tries, of `candidates` candidates each, what they send to open d
/// is changed: one more in every lane, as if all candidates were p or more. Returns what `f` gives, how many
/// numbers each opening had, and how many random bits were made.
fn rejected<R: Send>(
    candidates: usize,
    tries: usize,
    f: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> (Vec<Result<R, Abort>>, Vec<usize>, usize) {
    let ring = small(Operation::Triples, Form::LeanTree, 2);
    let harness = Harness::new(2, &ring.parameters().describe(agreed())).patient();
    let gather = Step::new(GATHER).id;
    // of three openings a try the last one is d, which one party sends to the other
    let count = Arc::new(AtomicUsize::new(0));
    for (from, to) in links(2) {
        let count = Arc::clone(&count);
        harness.hand(from, to, move |mut frame| {
            let an_opening = frame.step == gather && frame.body.len() == 4 * candidates;
            if an_opening && count.fetch_add(1, Ordering::SeqCst) < tries {
                for number in frame.body.as_chunks_mut::<4>().0 {
                    let one_more = (u64::from(u32::from_le_bytes(*number)) + 1) % P32;
                    *number = (one_more as u32).to_le_bytes();
                }
            }
            vec![frame]
        });
    }
    let recording = harness.recording(party(1));
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        f(&mut Mixed::new(gmw, plain(), None, Some(&ring))?)
    });
    let all = recording.read();
    let told = |step: &'static str| {
        let told = all.iter().filter(move |seen| seen.frame.step == Step::new(step).id);
        told.map(|seen| seen.frame.body.len() / 4)
    };
    // of two parties one sends the other a number for each bit
    (ends, told(NUMBERS).collect(), told(PAYLOAD).sum())
}

/// Only d is opened of the candidates for a mask, and no r of p or more is accepted, in the first try or the
/// next, whatever the other lanes are: with such an r the bits of a zero would be those of p. All candidates
/// of a try may be rejected, and none of them is used later \[G6\].
#[test]
fn masks_of_p_or_more_serve_nobody() {
    let lanes: usize = 120;
    let candidates = lanes * 4 / 3 + 8;
    for tries in [0, 1, 2] {
        let (ends, opened, _) = rejected(candidates, tries, |mixed| {
            mixed.prepare_masks(lanes)?;
            let bits = mixed.a2b(&Num::zero(lanes))?;
            mixed.gmw().output(&[party(1), party(2)], &bits)
        });
        for end in ends {
            let bits = end.unwrap().unwrap();
            assert_eq!(bits.len(), 32);
            assert!(bits.iter().all(|bit| bit.words().iter().all(|word| *word == 0)), "{tries}");
        }
        // two products, and d
        assert!(opened.len() > 3 * tries);
        for (i, numbers) in opened[..3 * (tries + 1)].iter().enumerate() {
            assert_eq!(*numbers, if i % 3 == 2 { candidates } else { 2 * candidates }, "{tries} {i}");
        }
    }
}

/// A session in which every candidate is rejected ends after 64 tries, and not before. Each try takes bits
/// that were made for it: d has told much of those of a rejected candidate.
#[test]
fn an_item_has_64_tries() {
    let candidates = 9;
    for (tries, ends_well) in [(63, true), (64, false)] {
        let (ends, opened, made) = rejected(candidates, tries, |mixed| mixed.prepare_masks(1));
        let tried = opened.iter().filter(|numbers| **numbers == candidates).count();
        assert!(tried >= 64, "{tries}: {tried}");
        assert!(made >= tried * candidates * 32, "{tries}: {made} bits for {tried} tries");
        // one party may learn that the other has ended the session before it does so itself
        assert!(ends_well || ends.iter().any(|end| failed_check(end) == Some(checks::G6)));
        for end in ends {
            assert!(end.is_ok() == ends_well && (ends_well || tried == 64), "{tries}: {tried} {end:?}");
        }
    }
}
