//! What hides a secret is fresh, whole, and serves once: of zeros the masks themselves are opened.

use super::{act, opened, plain};
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, Way, party};
use divisi_core::{Abort, Boolean, Convert, PartyId, ProgramRun, PublicParameters};
use divisi_field::zp::P32;
use divisi_mixed::{Gmw, GmwBit, Num, num};
use divisi_ot::SetupConfig;
use std::collections::BTreeSet;

const NUMBERS: &str = "divisi_mixed::num/open.tell";
const BITS: &str = "divisi_mixed::convert/open.tell";

/// No eight bytes of these messages are there twice, and no bit is the same in all of them.
fn are_fresh(messages: &[Vec<u8>], times: usize) {
    assert_eq!(messages.len(), times);
    let words: Vec<&[u8]> = messages.iter().flat_map(|body| body.chunks_exact(8)).collect();
    let different: BTreeSet<&[u8]> = words.iter().copied().collect();
    assert_eq!(different.len(), words.len(), "a mask that served twice");
}

/// A2B of zeros, twice.
#[test]
fn masks_of_numbers_serve_once() {
    let (_, seen) = act(2, None, |mixed| {
        mixed.prepare_masks(128)?;
        for _ in 0..2 {
            let _: Vec<GmwBit> = mixed.convert(Num::zero(64))?;
        }
        Ok(())
    });
    are_fresh(&opened(&seen, party(1), NUMBERS, 4 * 64), 2);
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
    are_fresh(&opened(&seen, party(1), NUMBERS, 4 * 128), 2);
}

/// Products of bits that are zero, of some words each, one after the other.
#[test]
fn triples_of_bits_serve_once() {
    let mut g = Build::new();
    let [x, y] = g.input(2)[..] else { panic!("two wires") };
    let product = g.and(x, y);
    g.output(&[product]);
    let program = g.finish();
    let (_, seen) = act(2, None, |mixed| {
        let gmw = mixed.gmw();
        gmw.prepare(512)?;
        (0..3).try_for_each(|_| gmw.run(&mut [ProgramRun::new(&program, vec![GmwBit::zero(128); 2])]))
    });
    are_fresh(&opened(&seen, party(1), "divisi_mixed::gmw/products", 32), 6);
}

/// Of three parties none is told an output but its receivers, one or several \[G11\].
#[test]
fn nobody_but_receivers_is_told() {
    let sets: [&[u8]; 5] = [&[1], &[2], &[3], &[1, 3], &[2, 3]];
    let harness = Harness::new(3, &PublicParameters::new("mixed attacks")).patient();
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
            for step in ["divisi_mixed::gmw/output", "divisi_mixed::num/open.tell"] {
                assert_eq!(seen.bodies(Way::Out, party(to), step).len(), told, "{from} {to} {step}");
            }
        }
    }
}

/// Lookups at zero, twice: all bits of all indices are hidden, and not all alike.
#[test]
fn indices_are_hidden_whole() {
    let table: Vec<u64> = (0..16).collect();
    let (_, seen) = act(2, None, |mixed| {
        for _ in 0..2 {
            let signs = mixed.signs(4, 64)?;
            mixed.look_up(&[&table], &[0; 4].map(|_| GmwBit::zero(64)), signs)?;
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

/// A number that is not below p, and a bit behind the last number, are nobody's share.
#[test]
fn numbers_are_reduced() {
    let opened = |change: fn(&mut Vec<u8>)| -> Vec<Result<Vec<u64>, Abort>> {
        let harness = Harness::new(2, &PublicParameters::new("mixed attacks"));
        harness.change(party(1), party(2), "divisi_mixed::num/open.gather", 0, change);
        harness.change(party(2), party(1), "divisi_mixed::num/open.gather", 0, change);
        harness.act(|mut session| num::open(&mut session, plain(), &Num::zero(3)))
    };
    assert!(opened(|_| {}).iter().all(Result::is_ok));
    assert!(
        opened(|body| body[4..8].copy_from_slice(&(P32 as u32 - 1).to_le_bytes())).iter().all(Result::is_ok)
    );
    assert!(
        opened(|body| body[4..8].copy_from_slice(&(P32 as u32).to_le_bytes())).iter().all(Result::is_err)
    );
    assert!(opened(|body| body[..4].fill(0xff)).iter().all(Result::is_err));
}
