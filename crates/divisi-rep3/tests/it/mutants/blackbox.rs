//! Attacks on the black box and on lookups of any length.

use crate::common::boxes::{self, act};
use crate::common::prelude::*;
use divisi_rep3::adversary::blackbox::{components, components_of_mask};
use divisi_rep3::ohverture::{Cube, LookupTable};

const INPUT: &str = "divisi_rep3::blackbox/input";
const RECONST: &str = "divisi_rep3::blackbox/reconst";
const OUTPUT: &str = "divisi_rep3::blackbox/output";
const RESHARE: &str = "divisi_rep3::blackbox::products/reshare";
const PRODUCTS: &str = "divisi_rep3::ohverture::make/products";
const COIN: &str = "divisi_rep3::random/coin.share";

const X: [Gf8; 4] = [Gf8(2), Gf8(3), Gf8(0xff), Gf8(0)];

fn input(b: &mut BlackBox) -> Result<Shared<Gf8>, Abort> {
    boxes::input(b, 1, &X)
}

/// Whether an honest party ends with a wrong output.
fn deceives<R: PartialEq>(results: &[Result<R, Abort>], right: &R) -> bool {
    results[1..].iter().flatten().any(|out| out != right)
}

/// Party 1 sends another share than it has.
fn lie(harness: &TrioHarness, step: &'static str, nth: usize, error: u8) {
    harness.change(party(1), party(3), step, nth, move |share| share[0] ^= error);
}

/// A harness in which party 1 shows party 2 another component of what is first opened at this step.
fn split(check: Option<Check>, step: &'static str) -> TrioHarness {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), step, 0, |body| body[0] ^= 1);
    harness
}

/// Party 1 shows party 2 another component of what is opened.
pub fn split_opening(check: Option<Check>) -> bool {
    let results = act(split(check, RECONST), |b| {
        let x = input(b)?;
        let x = b.reconst(&x)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        b.opened(x, &recon, &mul)
    });
    deceives(&results, &X.to_vec())
}

/// Party 1 withholds an input from party 2: whether party 3 shows party 1 the coin of the products that rest
/// on it.
pub fn withheld_input(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let honest = harness.recording(party(3));
    let input = Step::new(INPUT).id;
    harness.hand(party(1), party(2), move |frame| if frame.step == input { Vec::new() } else { vec![frame] });
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let y = boxes::input(b, 3, &X)?;
        let recon = b.verify_recon()?;
        let x = self::input(b)?;
        let xy = b.local_mul(&x, &y)?;
        b.reshare(xy)?;
        b.verify_mul(&recon).map(drop)
    });
    assert!(results.iter().all(Result::is_err));
    !honest.of(MessageDirection::Out, COIN).is_empty()
}

/// Like [`split_opening`], with proofs from before the opening.
pub fn split_opening_with_old_proofs(check: Option<Check>) -> bool {
    let results = act(split(check, RECONST), |b| {
        let x = input(b)?;
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let x = b.reconst(&x)?;
        b.opened(x, &recon, &mul)
    });
    deceives(&results, &X.to_vec())
}

/// The squares of party 1's input.
fn square(b: &mut BlackBox) -> Result<Shared<Gf8>, Abort> {
    let x = input(b)?;
    let xx = b.local_mul(&x, &x)?;
    b.reshare(xx)
}

fn squares() -> Vec<Gf8> {
    X.map(|x| x * x).to_vec()
}

/// Party 1 makes a product wrong, which is verified before the output is asked for.
pub fn wrong_product(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    lie(&harness, RESHARE, 0, 1);
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let xx = square(b)?;
        let recon = b.verify_recon()?;
        b.verify_mul(&recon)?;
        b.output(&xx)
    });
    deceives(&results, &squares())
}

/// Party 1 makes a product wrong, which is opened under a mask with a proof from before it.
pub fn wrong_product_with_an_old_proof(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    lie(&harness, RESHARE, 0, 1);
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let recon = b.verify_recon()?;
        let mul = b.verify_mul(&recon)?;
        let xx = square(b)?;
        let mask = b.mask(X.len());
        let (c, r) = b.reconst_masked(&xx, mask)?;
        let recon = b.verify_recon()?;
        let c = b.opened(c, &recon, &mul)?;
        Ok(c.into_iter().zip(b.output(&r)?).map(|(c, r)| c + r).collect())
    });
    deceives(&results, &squares())
}

/// Party 1 makes a product wrong, and the output is asked for at once: whether party 2 opens it before it has
/// tossed a coin.
pub fn wrong_output(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    let honest = harness.recording(party(2));
    lie(&harness, RESHARE, 0, 1);
    harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let xx = square(b)?;
        b.output(&xx)
    });
    let [output, coin] = [OUTPUT, COIN].map(|name| Step::new(name).id);
    let sent = honest.read().into_iter().filter(|seen| seen.way == MessageDirection::Out);
    sent.map(|seen| seen.frame.step).take_while(|step| *step != coin).any(|step| step == output)
}

/// Party 1 makes a product wrong: whether party 2 opens it with its error.
pub fn open_error(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    let honest = harness.recording(party(2));
    lie(&harness, RESHARE, 0, 1);
    harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let xx = square(b)?;
        b.reconst(&xx).map(drop)
    });
    !honest.of(MessageDirection::Out, RECONST).is_empty()
}

/// Party 1 sends a false component of the output.
pub fn false_component(check: Option<Check>) -> bool {
    let results = act(split(check, OUTPUT), |b| {
        let xx = square(b)?;
        b.output(&xx)
    });
    deceives(&results, &squares())
}

fn inverses() -> Vec<Gf8> {
    (0..=255).map(|i| Gf8(i).inverse()).collect()
}

fn table() -> LookupTable<Gf8> {
    LookupTable::new(&inverses()).unwrap()
}

fn cube() -> Cube<Gf8> {
    Cube::new([2, 2, 4], 1, &inverses()).unwrap()
}

/// Party 1 makes a product of replicated vectors wrong.
pub fn vector(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    lie(&harness, PRODUCTS, 0, 1);
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let vectors = b.rohv_rss(8, 1)?;
        let (r, entries) = b.entries(vectors)?;
        let r = b.output(&r)?[0].0;
        let one = |j: usize| u8::from(j as u64 == r);
        Ok(b.output(&entries[0])?.iter().enumerate().all(|(j, e)| e.to_bits() == u128::from(one(j))))
    });
    deceives(&results, &true)
}

/// Party 1 makes a product of the second halves wrong.
pub fn second_half(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check).patient();
    // in the first round two parts of each half are made: the third and fourth message are the second
    // half's
    lie(&harness, PRODUCTS, 2, 0xff);
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.public(&[Gf8(7); 16])?;
        let vectors = b.rohv_add(8, 16)?;
        let y = b.lookup_sqrt(&table(), &x, vectors)?;
        b.output(&y)
    });
    deceives(&results, &vec![Gf8(7).inverse(); 16])
}

/// Party 3 is one vector ahead: whether the others begin to verify what came of it.
pub fn skipped_vector(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let honest = harness.recording(party(1));
    let results = act(harness, |b| {
        let [first, second] = b.rohv_rss(8, 8)?.split(4).unwrap();
        let vectors = if b.me() == party(3) { second } else { first };
        let y = b.sample(&table(), vectors)?;
        b.output(&y)
    });
    assert!(results[..2].iter().all(Result::is_err)); // no garbage for honest ones, in any case
    !honest.of(MessageDirection::Out, COIN).is_empty()
}

type Lookup = fn(&mut BlackBox, &Shared<Gf8>) -> Result<Shared<Gf8>, Abort>;

/// Party 1 shows party 2 another index: whether party 3 goes on to open the index of a third lookup.
fn split_index_of(check: Option<Check>, look_up: Lookup) -> bool {
    let harness = split(check, RECONST);
    let honest = harness.recording(party(3));
    let results = act(harness, |b| {
        let mut x = input(b)?;
        for _ in 0..3 {
            x = look_up(b, &x)?;
        }
        b.output(&x)
    });
    assert!(results.iter().all(Result::is_err));
    honest.of(MessageDirection::Out, RECONST).len() > 2
}

pub fn split_index(check: Option<Check>) -> bool {
    split_index_of(check, |b, x| {
        let vectors = b.rohv_rss(8, 4)?;
        b.lookup(&table(), x, vectors)
    })
}

/// Party 1 holds components 1 and 2 of x and of the mask. With a guess of x it has component 3, and with it
/// what party 2 sends it.
pub fn unmasked_additive(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let seen = harness.recording(party(1));
    let holds = act(harness, |b| {
        let secret: Vec<Gf8> = (0..64_u8).map(|l| Gf8(l.wrapping_mul(37) ^ 5)).collect();
        let x = boxes::input(b, 3, &secret)?;
        let mask = b.mask(secret.len());
        let holds = (components(&x), components_of_mask(&mask), secret);
        let xx = b.local_mul(&x, &x)?;
        b.reconst_additive(xx, mask)?;
        Ok(holds)
    });
    let ([x1, x2], [_, r2], guess) = holds[0].as_ref().unwrap();
    let of_party_2 = seen.bodies(MessageDirection::In, party(2), RECONST).remove(0);
    let share = (0..guess.len()).map(|l| {
        let x3 = guess[l] + x1[l] + x2[l];
        (x2[l] * x2[l] + (x2[l] + x3) * (x2[l] + x3) + r2[l]).0
    });
    share.eq(of_party_2)
}

/// Party 1 adds an error to a share of lookups of x by three factors.
fn cube_with(check: Option<Check>, x: Gf8, step: &'static str, nth: usize, plane: usize) -> bool {
    let harness = TrioHarness::without(check).patient();
    harness.change(party(1), party(3), step, nth, move |share| share[2 * plane] ^= 0xff);
    let results = harness.act(|trio| {
        let b = &mut BlackBox::new(trio);
        let x = b.public(&[x; 16])?;
        let vectors = b.rohv_cube([2, 2, 4], 16)?;
        let y = b.lookup_cube(&cube(), &[(&x, 8)], vectors)?.remove(0);
        b.output(&y)
    });
    deceives(&results, &vec![x.inverse(); 16])
}

const CUBE: &str = "divisi_rep3::ohverture::cube::make/products";
const SUMS: &str = "divisi_rep3::ohverture::cube::lookup/sums";
const RESULT: &str = "divisi_rep3::ohverture::cube::lookup/result";

/// Party 1 makes the product of the first vector's two bits wrong, which is the first of the first round.
pub fn first_of_three(check: Option<Check>) -> bool {
    cube_with(check, Gf8(7), CUBE, 0, 0)
}

/// Party 1 makes a product of the third vector wrong, of which there are two in the first round.
pub fn third_of_three(check: Option<Check>) -> bool {
    cube_with(check, Gf8(7), CUBE, 0, 3)
}

/// Party 1 makes a sum over two factors wrong, for an index whose first part has the bit with which it is
/// multiplied.
pub fn sums_of_three(check: Option<Check>) -> bool {
    cube_with(check, Gf8(0xc7), SUMS, 0, 0)
}

/// Party 1 makes a result wrong.
pub fn result_of_three(check: Option<Check>) -> bool {
    cube_with(check, Gf8(7), RESULT, 0, 3)
}

/// Like [`split_index`], by three factors.
pub fn split_index_of_three(check: Option<Check>) -> bool {
    split_index_of(check, |b, x| {
        let vectors = b.rohv_cube([2, 2, 4], 4)?;
        Ok(b.lookup_cube(&cube(), &[(x, 8)], vectors)?.remove(0))
    })
}
