//! A mutant for each check of this crate: with the check in place a named attack is stopped, without it the
//! same attack succeeds. The attacker follows the protocol, and only looks at what it sees.

mod constant;
mod fresh;
mod large;
mod tables;

use crate::common::{agreed, honest, plain, product, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_core::{Abort, Boolean, Check, PartyId, ProgramRun};
use divisi_field::zp::P32;
use divisi_mixed::checks;
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_ot::SetupConfig;

/// All parties on a harness, and what the last one sees.
fn act<R: Send>(
    n: usize,
    without: Option<Check>,
    f: impl Fn(&mut Mixed) -> Result<R, Abort> + Sync,
) -> (Vec<R>, Recording) {
    let ring = small(Operation::Triples, Form::LeanTree, n);
    let harness = Harness::without(n, &ring.parameters().describe(agreed()), without).patient();
    let seen = harness.recording(party(n as u8));
    let ends = harness.act(|session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        f(&mut Mixed::new(gmw, plain(), None, Some(&ring))?)
    });
    (honest(ends), seen)
}

/// All messages of a step, of this length, between the recorded party and `peer`.
fn opened(seen: &Recording, peer: PartyId, step: &'static str, len: usize) -> Vec<Vec<u8>> {
    let both = [MessageDirection::In, MessageDirection::Out]
        .into_iter()
        .flat_map(|way| seen.bodies(way, peer, step));
    both.filter(|body| body.len() == len).collect()
}

/// Attack (d): a chi-square test of the u that A2B of zeros opens, over twelve parts of Z_p.
fn chi_square_of_u(without: Option<Check>) -> bool {
    let count = 1200;
    let (_, seen) = act(2, without, |mixed| {
        mixed.a2b(&Num::zero(count))?;
        Ok(())
    });
    let body = opened(&seen, party(1), "divisi_mixed::num/open.tell", 4 * count).pop().unwrap();
    let mut bins = [0_u32; 12];
    for u in body.as_chunks::<4>().0 {
        let u = u64::from(u32::from_le_bytes(*u));
        bins[(u128::from(u) * 12 / u128::from(P32)) as usize] += 1;
    }
    let mean = count as f64 / 12.0;
    let square: f64 = bins.iter().map(|bin| (f64::from(*bin) - mean).powi(2) / mean).sum();
    // eleven degrees of freedom: 2^-20 at 50
    square > 50.0
}

/// Pseudo-random bits, in words of 64 lanes: a secret input of the first party.
fn secret(seed: u64) -> Vec<u64> {
    (1..=4).map(|i| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn xor(x: &[u8], y: &[u8]) -> Vec<u8> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

/// Conversions of two secrets: whether the openings reveal how the secrets differ.
fn difference_of_conversions(without: Option<Check>) -> bool {
    let secrets = [3, 17].map(|seed| GmwBit::new(256, &secret(seed)));
    let (_, seen) = act(2, without, |mixed| {
        // as many as two conversions take
        mixed.prepare_bits(512)?;
        for secret in &secrets {
            let mine = mixed.session().me() == party(1);
            let bit = mixed.gmw().input(party(1), 256, Some(secret).filter(|_| mine))?;
            mixed.b2a(&[bit])?;
        }
        Ok(())
    });
    let told = opened(&seen, party(1), "divisi_mixed::open/open.tell", 32);
    let [first, second] = &told[..] else { panic!("two openings") };
    xor(first, second) == xor(&bytes(secrets[0].words()), &bytes(secrets[1].words()))
}

/// Products of two secrets with one factor: whether the openings reveal how the secrets differ.
fn difference_of_products(without: Option<Check>) -> bool {
    let program = product();
    let secrets = [5, 29].map(|seed| GmwBit::new(256, &secret(seed)));
    let (shares, seen) = act(2, without, |mixed| {
        let mine = mixed.session().me() == party(1);
        let gmw = mixed.gmw();
        gmw.prepare(512)?;
        let mut own = Vec::new();
        for secret in &secrets {
            let x = gmw.input(party(1), 256, Some(secret).filter(|_| mine))?;
            own.push(x.words().to_vec());
            gmw.run(&mut [ProgramRun::new(&program, vec![x, GmwBit::zero(256)])])?;
        }
        Ok(own)
    });
    // the first party's share of d, which is its share of x under its share of a mask
    let theirs = opened(&seen, party(1), "divisi_mixed::gmw/products", 64);
    xor(&theirs[0][..32], &theirs[1][..32]) == xor(&bytes(&shares[0][0]), &bytes(&shares[0][1]))
}

/// An output goes to the first of three parties, and the third must learn nothing about it: whether the third
/// can compute it.
fn output_of_another(without: Option<Check>) -> bool {
    let value = GmwBit::new(256, &secret(1));
    let (shares, seen) = act(3, without, |mixed| {
        let mine = mixed.session().me() == party(1);
        let bit = mixed.gmw().input(party(1), 256, Some(&value).filter(|_| mine))?;
        mixed.gmw().output(&[party(1)], std::slice::from_ref(&bit))?;
        Ok(bit.words().to_vec())
    });
    let mut sum = bytes(&shares[2]);
    for peer in [party(1), party(2)] {
        for body in seen.bodies(MessageDirection::In, peer, "divisi_mixed::gmw/output") {
            sum = xor(&sum, &body);
        }
    }
    sum == bytes(value.words())
}

/// The same of numbers.
fn number_of_another(without: Option<Check>) -> bool {
    let (_, seen) =
        act(3, without, |mixed| num::open_to(mixed.session(), plain(), &[party(1)], &Num::zero(4)).map(drop));
    [party(1), party(2)]
        .iter()
        .all(|peer| !seen.bodies(MessageDirection::In, *peer, "divisi_mixed::num/open.tell").is_empty())
}

divisi_core::mutants! {
    masks_are_uniform: G6, "keeps rejected masks", chi_square_of_u;
    random_bits_serve_once: G7, "leaves in the stock what it hands out", difference_of_conversions;
    triples_serve_once: G7, "leaves in the stock what it hands out", difference_of_products;
    masked_tables_serve_once: G7, "masks all tables alike", tables::difference_of_indices;
    masked_vectors_serve_once: G7, "masks all tables alike", tables::difference_of_indices_of_vectors;
    outputs_go_to_their_receivers: G11, "tells everybody", output_of_another;
    numbers_go_to_their_receivers: G11, "tells everybody", number_of_another;
}

/// docs/mixed.md names every check of this crate with the tests that kill its mutants.
#[test]
fn the_table_of_checks_is_complete() {
    let table = include_str!("../../../../../docs/mixed.md");
    for (check, _, name) in MUTANTS {
        let row = table.lines().find(|line| line.starts_with(&format!("| {check} |")) && line.contains(name));
        assert!(row.is_some(), "docs/mixed.md lacks {check}: {name}");
    }
}

/// Census: every check of the figures that are implemented has a mutant in one of three crates, and the
/// crate's page names the test that kills it. G8 and G9 belong to garbling (divisi-mpgc).
#[test]
fn every_check_of_the_paper_has_a_mutant() {
    let tests = [
        include_str!("../../../../divisi-ot/tests/it/mutants/mod.rs"),
        include_str!("../../../../divisi-bgv/tests/it/mutants/mod.rs"),
        include_str!("mod.rs"),
    ];
    let pages = [
        include_str!("../../../../../docs/ot.md"),
        include_str!("../../../../../docs/bgv.md"),
        include_str!("../../../../../docs/mixed.md"),
    ];
    // G14 is of divisi-ot
    let all = [checks::ALL, divisi_bgv::checks::ALL, &[checks::G14]].concat();
    let built: Vec<_> = all.into_iter().filter(|check| check.id().starts_with('G')).collect();
    assert_eq!(built.len(), 12);
    for check in built {
        let killed = tests.iter().zip(pages).any(|(tests, page)| {
            let mut of = tests.lines().filter_map(|line| line.trim().split_once(": "));
            of.any(|(name, rest)| {
                let row = |row: &str| row.starts_with(&format!("| {check} |")) && row.contains(name);
                rest.starts_with(&format!("{check}, \"")) && page.lines().any(row)
            })
        });
        assert!(killed, "{check} has no mutant, or its page does not name the test");
    }
}

/// Control for G6, attack (e): if a b is opened first, and c only where a b is 1, everybody sees that an
/// accepted r is p - 1, and then u tells x. With d = a b c this r looks like any other accepted one.
#[test]
fn two_steps_would_tell_a_mask() {
    let (p, x) = (plain(), 123_456_789);
    let candidate = |r: u64| {
        let (ab, c) = (r >> 31 & r >> 30 & 1, u64::from((r & ((1 << 30) - 1)).count_ones()));
        (ab, ab * c)
    };
    let r = P32 - 1;
    let u = p.sub(x, r);
    let (ab, d) = candidate(r);
    // r is accepted either way; two steps show that a b = 1 for an accepted mask, which holds for p - 1 only
    assert_eq!((ab, d), (1, 0));
    assert_eq!(p.add(u, P32 - 1), x);
    assert_eq!((0..1 << 16).map(|i| (P32 - 1) ^ i << 14).filter(|r| candidate(*r) == (1, 0)).count(), 1);
    // and d is zero exactly below p
    for r in [0, 1, (1 << 31) - 1, 1 << 31, (3 << 30) - 1, 3 << 30, (3 << 30) + 1, u64::from(u32::MAX)] {
        assert_eq!(candidate(r).1 == 0, r < P32, "{r}");
    }
}
