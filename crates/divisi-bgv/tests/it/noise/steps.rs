//! The noise of every step, against its bounds: where it is largest, before the switch of the modulus, and
//! where the ciphertext arrives at the next level; and the noise of the sum of all answers. All are measured
//! in the ring for tests, and in rings that sessions have.

use super::{Measured, judge, play};
use crate::tools::*;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Ring, Sampler, encode, wire};
use divisi_core::{Abort, Session};
use divisi_field::zp::{P16, P62};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is seen of a run: the name of a place in it, the bound there, and the ciphertext there.
type Seen = (String, f64, Ciphertext);

/// The largest noise at each place.
fn measure(ring: &Ring, name: &str, key: &divisi_bgv::Poly, made: &[Vec<Seen>]) -> Vec<Measured> {
    let mut all: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (place, bound, x) in made.iter().flatten() {
        let (_, most) = all.entry(place).or_insert((*bound, f64::MIN));
        *most = most.max(noise(ring, key, x));
    }
    let row = |(place, (bound, most)): (&str, _)| Measured { what: format!("{name}, {place}"), bound, most };
    all.into_iter().map(row).collect()
}

fn name(ring: &Ring) -> String {
    let p = ring.parameters();
    let (n, plain) = (p.dimension(), p.plain());
    format!("{} {} of {} modulo {plain} in {n}", p.operation().name(), p.form().name(), p.parties())
}

/// Shares of numbers as a ciphertext at the holder, as its form makes it.
fn given(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    holder: usize,
    seed: u64,
) -> Result<Option<Ciphertext>, Abort> {
    let (ring, me) = (keys.ring(), session.me().index());
    let p = ring.parameters();
    let share = elements(seed + me as u64, p.plain(), ring.dimension());
    if p.form() != Form::Paper {
        return keys.a2e(session, sampler, party(holder), &share);
    }
    let x = keys.encrypt(sampler, p.top(), Some(&encode::coefficients(ring, &share)));
    x.add_up(session, ring, PASS, party(holder))
}

/// A ring of parties: noise where a ciphertext arrives, after the hop, and after its switch. Signs are
/// (-1)^`exponents`.
fn around(ring: &Arc<Ring>, exponents: impl Fn(u64, usize) -> Vec<u64> + Sync, batches: u64) {
    let (p, dimension, n) = (ring.parameters(), ring.dimension(), ring.parameters().parties());
    let private = p.operation() == Operation::PrivateTables;
    let (key, made) = play(ring, |session, keys, sampler| {
        let me = session.me().index();
        let mut seen = Vec::new();
        for batch in 0..batches {
            let signs = encode::signs(ring, &exponents(batch * 100 + me as u64, dimension));
            let first = if private { given(session, keys, sampler, 0, batch * 1000)? } else { None };
            let hop = p.hop_of(me);
            let level = hop.map_or(p.top(), |hop| p.level_of(hop));
            let mut x = match first {
                Some(x) => x,
                None if me == 0 => keys.encrypt(sampler, p.top(), Some(&encode::coefficients(ring, &signs))),
                None => {
                    let factor = Ciphertext::factor_after(ring, 1, p.top(), level);
                    Ciphertext::receive(session, ring, PASS, party(me - 1), level, factor)?
                }
            };
            seen.push((format!("at {level:02}"), p.noise_at(level), x.clone()));
            if hop.is_some() {
                let before = keys.hop_before_its_switch(session, sampler, x.clone(), &signs)?;
                seen.push((format!("after the hop at {level:02}"), p.noise_after(level), before));
                x = keys.hop(session, sampler, x, &signs)?;
                seen.push((format!("at {:02}", level - 1), p.noise_at(level - 1), x.clone()));
            }
            if me + 1 < n {
                wire::send(session, ring, PASS, party(me + 1), &x.components())?;
            }
        }
        Ok(seen)
    });
    judge(&measure(ring, &name(ring), &key, &made));
    if private {
        return;
    }
    // the last of each batch is the product of all signs
    let last = made.last().unwrap().iter().filter(|(place, _, _)| place == "at 00");
    for (batch, (_, _, x)) in last.enumerate() {
        let all: Vec<Vec<u64>> = (0..n).map(|i| exponents((batch * 100 + i) as u64, dimension)).collect();
        let expected: Vec<u64> =
            (0..dimension).map(|i| all.iter().map(|list| list[i]).sum::<u64>() & 1).collect();
        assert_eq!(decrypt(ring, &key, x), *encode::signs(ring, &expected), "{}", name(ring));
    }
}

fn of_wide_tables(seed: u64, n: usize) -> Vec<u64> {
    characters(seed, n, 8)
}

#[test]
fn lean_rings_keep_their_bounds() {
    [2, 3, 5, 8, 16].into_iter().for_each(|n| around(&small(Operation::Bits, Form::LeanRing, n), bits, 6));
    around(&small_of(Operation::Bits, Form::LeanRing, 4, P16), bits, 6);
    around(&small_of(Operation::Bits, Form::LeanRing, 4, P62), bits, 6);
}

#[test]
fn paper_rings_keep_their_bounds() {
    [2, 3, 5, 12].into_iter().for_each(|n| around(&small(Operation::Bits, Form::Paper, n), bits, 6));
    around(&small_of(Operation::Bits, Form::Paper, 3, P16), bits, 6);
}

/// Shares that pass around the parties, times characters of each party's masks.
#[test]
fn private_tables_keep_their_bounds() {
    for form in [Form::LeanRing, Form::Paper] {
        for n in [2, 3, 9] {
            around(&small(Operation::PrivateTables, form, n), of_wide_tables, 6);
        }
        around(&small(Operation::PrivateTables, form, 2), |seed, n| characters(seed, n, 2), 6);
        around(&small_of(Operation::PrivateTables, form, 2, P16), of_wide_tables, 6);
    }
    around(&small_of(Operation::PrivateTables, Form::LeanRing, 3, P62), of_wide_tables, 6);
}

/// Products of ciphertexts of squared signs, with relinearisation, down to the bottom; for private tables the
/// last product is that with a ciphertext of shares.
fn along(ring: &Arc<Ring>) {
    let (p, dimension) = (ring.parameters(), ring.dimension());
    let private = p.operation() == Operation::PrivateTables;
    let (key, made) = play(ring, |session, keys, sampler| {
        let (me, top) = (session.me().index(), p.top());
        let mut own = None;
        let holders = if private { p.parties() } else { 0 };
        for holder in 0..holders {
            own = own.or(given(session, keys, sampler, holder, 7)?);
        }
        // independent ciphertexts after their hop, from which each party computes a tree of products alone
        let mut stock = Vec::new();
        for i in 0..2_u64.pow((top - 1 - usize::from(private)) as u32) {
            let signs = encode::signs(ring, &bits(10 * i + me as u64, dimension));
            let plain = encode::coefficients(ring, &signs);
            let x = keys.encrypt(sampler, top, Some(&plain));
            stock.push(keys.hop(session, sampler, x, &signs)?);
        }
        let mut seen = vec![(format!("at {:02}", top - 1), p.noise_at(top - 1), stock[0].clone())];
        let place =
            |x: &Ciphertext| (format!("after the product at {:02}", x.level()), p.noise_after(x.level()));
        while stock.len() > 1 {
            let pairs = stock.chunks_exact(2);
            let products: Result<Vec<_>, Abort> =
                pairs.map(|pair| pair[0].times(keys, session, PASS, &pair[1])).collect();
            let products = products?;
            let ((what, bound), level) = (place(&products[0]), products[0].level() - 1);
            seen.push((what, bound, products[0].clone()));
            stock = products.into_iter().map(|x| x.switch(ring, level)).collect();
            // all slots are 1: the hop multiplied signs by themselves
            seen.push((format!("at {level:02}"), p.noise_at(level), stock[0].clone()));
        }
        if let Some(own) = own {
            let product = stock[0].times(keys, session, PASS, &own.switch(ring, 1))?;
            let (what, bound) = place(&product);
            seen.push((what, bound, product.clone()));
            seen.push(("at 00".to_owned(), p.noise_at(0), product.switch(ring, 0)));
        }
        Ok(seen)
    });
    judge(&measure(ring, &name(ring), &key, &made));
    // numbers of 128 bits hold all but the product of wide numbers before its switch
    let fits = |bound: f64| bound + (p.plain() as f64).log2() < 125.0;
    for (_, _, x) in made[0].iter().filter(|(_, bound, _)| !private && fits(*bound)) {
        assert!(decrypt(ring, &key, x).iter().all(|x| *x == 1));
    }
}

/// Triples: the noise of a shared factor, of the product of both, and of the product after its switch.
fn triples(ring: &Arc<Ring>, batches: u64) {
    let (p, top) = (ring.parameters(), ring.parameters().top());
    let (key, made) = play(ring, |session, keys, sampler| {
        let mut seen = Vec::new();
        for batch in 0..batches {
            let holder = batch as usize % p.parties();
            let x = given(session, keys, sampler, holder, 1000 * batch)?;
            let y = given(session, keys, sampler, holder, 1000 * batch + 500)?;
            let (Some(x), Some(y)) = (x, y) else { continue };
            let product = x.times(keys, session, PASS, &y)?;
            seen.push((format!("at {top:02}"), p.noise_at(top), x));
            seen.push(("after the product".to_owned(), p.noise_after(top), product.clone()));
            seen.push(("at 00".to_owned(), p.noise_at(0), product.switch(ring, 0)));
        }
        Ok(seen)
    });
    judge(&measure(ring, &name(ring), &key, &made));
}

#[test]
fn products_keep_their_bounds() {
    for n in [3, 8, 16] {
        along(&small(Operation::Bits, Form::LeanTree, n));
        triples(&small(Operation::Triples, Form::LeanTree, n), 8);
    }
    [2, 5, 9].into_iter().for_each(|n| along(&small(Operation::PrivateTables, Form::LeanTree, n)));
    along(&small_of(Operation::Bits, Form::LeanTree, 4, P16));
    triples(&small_of(Operation::Triples, Form::LeanTree, 2, P16), 8);
    along(&small_of(Operation::Bits, Form::LeanTree, 4, P62));
    along(&small_of(Operation::PrivateTables, Form::LeanTree, 3, P62));
    triples(&small_of(Operation::Triples, Form::LeanTree, 3, P62), 8);
    // in rings that sessions have
    along(&secure(Operation::Bits, Form::LeanTree, 4));
    triples(&secure(Operation::Triples, Form::LeanTree, 2), 4);
}

/// The sum of all answers, which the holder reduces modulo p: its largest coefficient against the bound in
/// the report, which `fits` asserts to be below half of the modulus.
fn answers(ring: &Arc<Ring>, batches: u64) {
    let (p, limbs) = (ring.parameters(), ring.parameters().limbs(0));
    let (_, made) = play(ring, |session, keys, sampler| {
        let mut seen = Vec::new();
        for _ in 0..batches {
            if session.me() != party(0) {
                let mut c1 = ring.zero(limbs, false);
                wire::receive(session, ring, PASS, party(0), &mut [&mut c1])?;
                let h = keys.partial_decryption(session, sampler, c1)?;
                wire::send(session, ring, PASS, party(0), &[&h])?;
                continue;
            }
            let x = keys.encrypt(sampler, p.top(), None).switch(ring, 0);
            let [c0, c1] = x.components();
            for peer in session.peers() {
                wire::send(session, ring, PASS, peer, &[c1])?;
            }
            let mut sum = c0.clone();
            ring.add_product(&mut sum, &keys.reveal(), c1);
            ring.to_coefficients(&mut sum);
            for peer in session.peers() {
                let mut h = ring.zero(limbs, false);
                wire::receive(session, ring, PASS, peer, &mut [&mut h])?;
                ring.add(&mut sum, &h);
            }
            seen.push(lift_real(ring, &sum).into_iter().map(f64::abs).fold(0.0, f64::max).log2());
        }
        Ok(seen)
    });
    let report = p.report();
    let level = report.levels.last().unwrap();
    assert!(level.noise_bits < level.bound_bits);
    let most = made[0].iter().copied().fold(f64::MIN, f64::max);
    judge(&[Measured { what: format!("{}, answers", name(ring)), bound: level.noise_bits, most }]);
}

#[test]
fn answers_keep_their_bound() {
    for n in [2, 3, 9, 16] {
        answers(&small(Operation::Bits, Form::LeanRing, n), 6);
        answers(&small(Operation::PrivateTables, Form::Paper, n), 4);
        answers(&small(Operation::Conversions, Form::LeanTree, n), 4);
        answers(&small(Operation::VectorTables, Form::LeanTree, n), 4);
    }
    answers(&small_of(Operation::Bits, Form::LeanTree, 4, P16), 4);
    answers(&small_of(Operation::Bits, Form::LeanTree, 4, P62), 4);
    answers(&small_of(Operation::Triples, Form::LeanTree, 3, P62), 4);
    answers(&secure(Operation::Bits, Form::LeanRing, 2), 2);
}

/// All of it in rings that sessions have.
#[test]
#[ignore = "a quarter of a minute"]
fn rings_in_use_keep_their_bounds() {
    for (n, form) in
        [(2, Form::LeanRing), (4, Form::LeanRing), (8, Form::LeanRing), (2, Form::Paper), (4, Form::Paper)]
    {
        around(&secure(Operation::Bits, form, n), bits, 2);
        around(&secure(Operation::PrivateTables, form, n), of_wide_tables, 2);
        answers(&secure(Operation::Bits, form, n), 2);
    }
    for n in [2, 3, 8] {
        along(&secure(Operation::Bits, Form::LeanTree, n));
        along(&secure(Operation::PrivateTables, Form::LeanTree, n));
        triples(&secure(Operation::Triples, Form::LeanTree, n), 4);
        answers(&secure(Operation::Triples, Form::LeanTree, n), 2);
        answers(&secure(Operation::Conversions, Form::LeanTree, n), 2);
    }
    for n in [2, 4] {
        along(&secure_of(Operation::Bits, Form::LeanTree, n, P62));
        triples(&secure_of(Operation::Triples, Form::LeanTree, n, P62), 4);
        answers(&secure_of(Operation::Triples, Form::LeanTree, n, P62), 2);
    }
}
