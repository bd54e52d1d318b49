//! The tampering sweep over the black box and OHVerture: every message of a corrupt party, changed in every
//! way, over a run that has everything in it. Whatever happens, each honest party ends with the right output
//! or aborts; nothing hangs and nothing panics. By default a fixed sample; `cargo test -p divisi-rep3
//! --test sweep blackbox:: -- --ignored` runs all.

use super::plan::{Change, changes, must_be_noticed, positions};
use super::{all_are_tried, is_in_time};
use divisi_core::testing::{Operator, Position, Sent, place, salt, sent};
use divisi_core::{Abort, Misuse, PartyId, Step};
use divisi_field::{Field, Gf2, Gf8, Gf64, Gf128};
use divisi_fuzz::repetitions;
use divisi_net::Frame;
use divisi_rep3::Trio;
use divisi_rep3::adversary::harness::{TrioHarness, many, party};
use divisi_rep3::blackbox::{BlackBox, Element, Shared};
use divisi_rep3::ohverture::{Cube, LookupTable};
use std::time::Instant;

const INPUT: &str = "divisi_rep3::blackbox/input";
const LANES: usize = 3;

/// What a run opens, as bits.
type Opened = Vec<u128>;

fn elements<F: Field>(of: &[u8; LANES]) -> Vec<F> {
    of.iter().map(|x| F::from_low_bits(u128::from(*x) * 0x0101_0101_0101_0101_0101_0101_0101_0101)).collect()
}

/// The input of the party with this number.
fn input<F: Element>(b: &mut BlackBox, owner: u8, x: &[u8; LANES]) -> Result<Shared<F>, Abort> {
    let (mine, x) = (b.me() == party(owner), elements(x));
    b.input(party(owner), mine.then_some(&x[..]), LANES)
}

/// Products over every kind of field, lookups of every kind, openings masked and plain, two verifications and
/// outputs.
fn play(trio: Trio, secret: u8) -> Result<Opened, Abort> {
    let b = &mut BlackBox::new(trio);
    let x = [secret, 0x80, 0xff];
    let (bit, byte) = (input::<Gf2>(b, 1, &x)?, input::<Gf8>(b, 2, &x)?);
    let (word, block) = (input::<Gf64>(b, 3, &x)?, input::<Gf128>(b, 1, &x)?);
    let table = LookupTable::new(&(0..=255).map(|i| Gf8(i).inverse()).collect::<Vec<_>>()).unwrap();
    let square = b.local_mul(&byte, &byte)?;
    let replicated = b.rohv_rss(8, LANES)?;
    let (looked_up, _) = b.lookup_of_additive(&table, square, replicated)?;
    let additive = b.rohv_add(8, LANES)?;
    let looked_up = b.lookup_sqrt(&table, &looked_up, additive)?;
    let cube = Cube::new([2, 2, 4], 1, &(0..=255).map(|i| Gf8(i).inverse()).collect::<Vec<_>>());
    let Some(cube) = cube else { return Err(b.session().misuse(Step::new(INPUT), Misuse::NotMade)) };
    let three = b.rohv_cube([2, 2, 4], LANES)?;
    let looked_up = b.lookup_cube(&cube, &[(&looked_up, 8)], three)?.remove(0);
    let masks = b.mask(LANES);
    let (c, r) = b.reconst_masked(&looked_up, masks)?;
    let back = b.add_opened(&r, &c)?;
    let chosen = b.bit_mul(&bit, &back)?;
    let words = b.bit_mul(&bit, &word)?;
    let blocks = b.local_mul(&block, &block)?;
    let blocks = b.reshare(blocks)?;
    let recon = b.verify_recon()?;
    b.verify_mul(&recon)?;
    let plain = b.reconst(&back)?;
    let wide = b.local_mul(&word, &words)?;
    let wide = b.reshare(wide)?;
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    fn bits<F: Field>(x: Vec<F>) -> impl Iterator<Item = u128> {
        x.into_iter().map(F::to_bits)
    }
    let mut opened: Opened = bits(b.opened(plain, &recon, &mul)?).collect();
    opened.extend(bits(b.output(&chosen)?).chain(bits(b.output(&wide)?)));
    opened.extend(bits(b.output(&blocks)?));
    Ok(opened)
}

/// What a run must open.
fn expected(secret: u8) -> Opened {
    let x = [secret, 0x80, 0xff];
    let [bytes, bits] = [elements::<Gf8>(&x), elements::<Gf8>(&x)];
    let inverse = |x: &Gf8| (*x * *x).inverse().inverse().inverse();
    let bit = |x: &Gf8| u128::from(x.0 & 1);
    let mut out: Opened = bytes.iter().map(|x| inverse(x).to_bits()).collect();
    out.extend(bytes.iter().zip(&bits).map(|(x, b)| inverse(x).to_bits() * bit(b)));
    out.extend(elements::<Gf64>(&x).iter().zip(&bits).map(|(w, b)| (*w * *w).to_bits() * bit(b)));
    out.extend(elements::<Gf128>(&x).iter().map(|x| (*x * *x).to_bits()));
    out
}

/// An honest run: what each party sent to each other, in order.
fn honest(secret: u8) -> Sent {
    let harness = TrioHarness::default();
    let recordings = harness.recordings();
    let ends = harness.act(|trio| play(trio, secret));
    assert!(ends.iter().all(|end| *end == Ok(expected(secret))), "{ends:?}");
    sent(&recordings)
}

/// One attacked run: whether anybody aborted.
fn attack(secret: u8, change: Change, replay: &[Frame]) -> bool {
    let (at, operator, salt) = change;
    let harness = TrioHarness::default();
    place(&harness, at, operator, salt, replay);
    let begun = Instant::now();
    let ends = harness.act(|trio| play(trio, secret));
    is_in_time(begun, change);
    for (party, end) in PartyId::all(3).zip(&ends).filter(|(party, _)| *party != at.from) {
        if let Ok(opened) = end {
            assert_eq!(*opened, expected(secret), "{party} took a wrong output: {at:?} {operator:?}");
        }
    }
    ends.iter().any(Result::is_err)
}

/// Every message but those of inputs, where a corrupt owner may say what it likes.
fn all_but_inputs(sent: &Sent) -> impl Iterator<Item = Position> {
    let input = Step::new(INPUT).id;
    positions(sent).filter(move |at| sent[&(at.from, at.to)][at.n].step != input)
}

/// Try one in so many changes, and one in so many slow ones: how many were tried.
fn sweep(every: u64, every_slow: u64) -> usize {
    let sent = honest(0x53);
    let changes = changes((), all_but_inputs(&sent), (every, every_slow));
    all_are_tried(changes.iter());
    let noticed = many(changes.len(), 12, |i| {
        let (at, operator, _) = changes[i];
        let noticed = attack(0x53, changes[i], &sent[&(at.from, at.to)]);
        assert!(noticed || !must_be_noticed(operator), "nobody noticed: {at:?} {operator:?}");
        noticed
    });
    let stopped = noticed.iter().filter(|noticed| **noticed).count();
    println!("{} positions, {stopped} stopped", noticed.len());
    assert!(stopped > noticed.len() * 4 / 5);
    noticed.len()
}

#[test]
fn no_change_of_a_message_makes_a_wrong_output() {
    let (every, every_slow, least) = repetitions((4, 60, 900), (2, 40, 2_000));
    assert!(sweep(every, every_slow) >= least);
}

#[test]
#[ignore = "every position: some minutes"]
fn no_change_of_any_message_makes_a_wrong_output() {
    assert!(sweep(1, 1) >= 5_000);
}

/// Whether somebody aborts does not depend on the secrets.
#[test]
fn an_abort_tells_nothing_of_the_inputs() {
    let sent = honest(0);
    let quick =
        [Operator::FlipFirst, Operator::FlipLast, Operator::FlipRandom, Operator::Both, Operator::Extend];
    let mut changes = Vec::new();
    for at in all_but_inputs(&sent) {
        let chosen = |o: &Operator| salt((at.from, at.to, at.n, o, 2)) % repetitions(16, 8) == 0;
        changes.extend(quick.into_iter().filter(chosen).map(|o| (at, o, salt((at.from, at.n, o)))));
    }
    assert!(changes.len() > repetitions(50, 100), "{}", changes.len());
    let pattern = |secret: u8| many(changes.len(), 12, |i| attack(secret, changes[i], &[]));
    assert_eq!(pattern(0), pattern(0xa5));
}
