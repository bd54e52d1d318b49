//! What hides a secret is fresh, whole, and serves once: of zeros the masks themselves are opened.

use super::{act, opened, plain};
use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, Convert, PublicParameters};
use divisi_field::zp::P32;
use divisi_mixed::{GmwBit, Num, num};
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
