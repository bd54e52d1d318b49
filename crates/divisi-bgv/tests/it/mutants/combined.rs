//! Attacks on products with shares, on exchanges, and on linear combinations.

use super::{act, differ, harness, starts};
use crate::tools::*;
use divisi_bgv::flood::Width;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Ciphertext, checks, encode, wire};
use divisi_core::Check;
use divisi_core::testing::MessageDirection;
use divisi_core::wipe::WipedVec;
use divisi_field::zp::{P16, P32};

/// P_1 has the ciphertext that P_2 multiplies by its share of a number, and two guesses at this share:
/// whether the component that P_2 sends tells which is right.
pub fn second_component_of_products(without: Option<Check>) -> bool {
    let ring = small_of(Operation::BlockProducts, Form::LeanTree, 2, P16);
    let (harness, guesses) = (harness(&ring, without), [1234, 1235]);
    let seen = harness.recording(party(0));
    let ends = act(harness, &ring, |session, keys, sampler| {
        let share = WipedVec::from(&*elements(session.me().index() as u64, P16, 1024));
        let x = keys.a2e_to_all(session, sampler, party(0), &[share])?;
        let factors = [vec![WipedVec::from(&guesses[1..])]];
        keys.times_shares(session, sampler, party(0), &x, &factors)?;
        Ok(x)
    });
    let x = &ends[0].as_ref().unwrap()[0];
    let body = seen.bodies(MessageDirection::In, party(1), "divisi_bgv::blocks/blocks.add").remove(0);
    let mut sent = ring.zero(ring.parameters().limbs(0), false);
    assert!(wire::read(&ring, &body, &mut sent));
    let told = |guess: u64| {
        let mut x = x.clone();
        x.times_random_plain(&ring, &encode::encode(&ring, &[guess; 1024], x.components()[0].limbs()));
        x.switch(&ring, 0).components()[1].words() == sent.words()
    };
    assert!(!told(guesses[0]), "the wrong guess is never confirmed");
    told(guesses[1])
}

/// P_1 gives P_2 a ciphertext to keep or exchange, of which it knows everything: whether the second component
/// of what comes back tells P_2's bit.
pub fn second_component_of_exchanges(without: Option<Check>) -> bool {
    let ring = small_of(Operation::VectorTables, Form::LeanRing, 2, P16);
    let ends = act(harness(&ring, without), &ring, |session, keys, sampler| {
        let share = elements(session.me().index() as u64, P16, 1024);
        let x = keys.a2e(session, sampler, party(0), &share)?;
        if let Some(x) = x {
            wire::send(session, &ring, PASS, party(1), &x.components())?;
            let y = Ciphertext::receive(session, &ring, PASS, party(1), 0, 1)?;
            return Ok(Some([x, y]));
        }
        let x = Ciphertext::receive(session, &ring, PASS, party(0), 0, 1)?;
        let y = keys.keep_or_exchange(session, sampler, x, 1)?;
        wire::send(session, &ring, PASS, party(0), &y.components())?;
        Ok(None)
    });
    let [x, y] = ends.into_iter().next().unwrap().unwrap().unwrap();
    let mut negative = x.components()[1].clone();
    ring.neg(&mut negative);
    negative.words() == y.components()[1].words()
}

/// A flood that hides a ciphertext of shares, but not a combination of the weight for which the parameters
/// are.
pub fn flood_of_a_summand(without: Option<Check>) -> bool {
    let of =
        |weight| Parameters::danger_insecure(Operation::Linear { weight }, Form::LeanTree, 2, P32).unwrap();
    let (one, sums): (Parameters, Parameters) = (of(1), of(1024));
    let flood: Width = one.flood();
    assert!(sums.flood().deviation() > flood.deviation() + 9.0);
    starts(sums.with_flood(flood), checks::G2, without)
}

/// The mean square of the noise in P_2's answers to a ciphertext of shares, or to 1,024 times as much. P_1
/// has all keys but P_2's, and sees answers before their lowest bits are dropped (D6).
fn noise_of(multiple: i64, count: u64, without: Option<Check>) -> f64 {
    let ring = small(Operation::Linear { weight: 1024 }, Form::LeanTree, 2);
    let (p, limbs) = (ring.parameters().plain(), ring.parameters().limbs(0));
    let ends = act(harness(&ring, without), &ring, |session, keys, sampler| {
        let mut squares = 0.0;
        for number in 0..count {
            let share = elements(number * 2 + session.me().index() as u64, p, 1024);
            let Some(mut x) = keys.a2e(session, sampler, party(0), &share)? else {
                let mut c1 = ring.zero(limbs, false);
                wire::receive(session, &ring, PASS, party(0), &mut [&mut c1])?;
                let h = keys.partial_decryption(session, sampler, c1)?;
                wire::send(session, &ring, PASS, party(0), &[&h])?;
                continue;
            };
            x.scale(&ring, session, PASS, multiple)?;
            let [c0, c1] = x.components();
            wire::send(session, &ring, PASS, party(1), &[c1])?;
            // c_0 + s_1 c_1 + h_2 = m - x_2 + p (E + e_2)
            let mut sum = c0.clone();
            ring.add_product(&mut sum, &keys.reveal(), c1);
            ring.to_coefficients(&mut sum);
            let mut h = ring.zero(limbs, false);
            wire::receive(session, &ring, PASS, party(1), &mut [&mut h])?;
            ring.add(&mut sum, &h);
            let of = |x: &f64| (*x / p as f64).powi(2);
            squares += lift_real(&ring, &sum).iter().map(of).sum::<f64>();
        }
        Ok(squares / (1024 * count) as f64)
    });
    ends.into_iter().next().unwrap().unwrap()
}

/// Whether the noise of answers tells what weighs much from what weighs little.
pub fn noise_of_combinations(without: Option<Check>) -> bool {
    let count = 1 << 4;
    differ("combinations", [1, 1024].map(|multiple| noise_of(multiple, count, without)), count)
}
