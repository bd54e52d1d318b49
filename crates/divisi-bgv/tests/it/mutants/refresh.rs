//! Attacks on refreshes: P_1 holds the ciphertext and looks at what P_2 answers.

use super::{act, harness};
use crate::tools::*;
use divisi_bgv::checks;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, Keys, Poly, Ring, Sampler, encode, wire};
use divisi_core::testing::{MessageDirection, Recording, failed_check};
use divisi_core::{Abort, Check, Session};

const ANSWER: &str = "divisi_bgv::refresh/refresh.answer";

/// Both parts of each answer that P_2 sent, in order.
fn answers(recording: &Recording, ring: &Ring, level: usize) -> Vec<[Poly; 2]> {
    let limbs = ring.parameters().limbs(level);
    let read = |body: &Vec<u8>| {
        let [mut h, mut b] = [1, limbs].map(|limbs| ring.zero(limbs, false));
        let first = wire::length(ring, &h);
        assert!(wire::read(ring, &body[..first], &mut h) && wire::read(ring, &body[first..], &mut b));
        [h, b]
    };
    recording.bodies(MessageDirection::In, party(1), ANSWER).iter().map(read).collect()
}

/// P_1 asks for a refresh of this, and P_2 answers.
pub fn ask(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    x: &Ciphertext,
) -> Result<Option<Ciphertext>, Abort> {
    let held = Some(x).filter(|_| session.me() == party(0));
    let p = keys.ring().parameters();
    let factor = Ciphertext::factor_after(keys.ring(), 1, p.top(), 0);
    keys.refresh(session, sampler, party(0), held, factor, p.top())
}

/// P_1 has an encryption of P_2's signs refreshed: whether it reads them in the answer, with its own part of
/// the decryption.
pub fn plaintext_of_an_answer(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let (top, p) = (ring.parameters().top(), ring.plain());
    let signs = encode::signs(&ring, &bits(3, 1024));
    let harness = harness(&ring, without);
    let recording = harness.recording(party(0));
    let ends = act(harness, &ring, |session, keys, sampler| {
        if session.me() == party(1) {
            let plain = encode::coefficients(&ring, &signs);
            let x = keys.encrypt(sampler, top, Some(&plain));
            wire::send(session, &ring, PASS, party(0), &x.components())?;
            ask(session, keys, sampler, &zero(&ring, 0))?;
            return Ok(None);
        }
        let x = Ciphertext::receive(session, &ring, PASS, party(1), top, 1)?.switch(&ring, 0);
        ask(session, keys, sampler, &x)?;
        let [c0, c1] = x.components();
        let mut own = c0.clone();
        ring.add_product(&mut own, &keys.reveal(), c1);
        Ok(Some((own, x.factor())))
    });
    let (mut own, mut factor) = ends.into_iter().next().unwrap().unwrap().unwrap();
    while own.limbs() > 1 {
        factor = p.mul(factor, ring.quotient(own.limbs() - 1));
        own = ring.drop_last(&mut own);
    }
    ring.to_coefficients(&mut own);
    let [h, _] = &answers(&recording, &ring, top)[0];
    ring.add(&mut own, h);
    let first = ring.modulus(0);
    let mut read: Vec<u64> = own.words().iter().map(|c| p.of_signed(first.centred(*c))).collect();
    encode::decode(&ring, &mut read);
    p.scale(&mut read, p.invert(factor));
    read == *signs
}

/// Four refreshes in a session that has three answers: whether the fourth is answered.
pub fn one_more(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let ends = harness(&ring, without).act(|mut session| {
        let keys = Keys::limited(&mut session, &ring, 3)?;
        let mut sampler = Sampler::new(&session);
        for _ in 0..4 {
            let x = keys.encrypt(&mut sampler, ring.parameters().top(), None).switch(&ring, 0);
            ask(&mut session, &keys, &mut sampler, &x)?;
        }
        Ok(())
    });
    assert!(without.is_some() || failed_check(&ends[1]) == Some(checks::G12));
    ends.iter().all(Result::is_ok)
}

/// P_2 sends a coefficient that is not below its prime, in its encryption: whether P_1 takes it.
pub fn unreduced_coefficient(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let harness = harness(&ring, without);
    harness.change(party(1), party(0), ANSWER, 0, |body| {
        let end = body.len();
        body[end - 8..].fill(0xff);
    });
    let ends = act(harness, &ring, |session, keys, sampler| {
        let x = keys.encrypt(sampler, ring.parameters().top(), None).switch(&ring, 0);
        ask(session, keys, sampler, &x).map(drop)
    });
    let named = matches!(
        &ends[0],
        Err(Abort::CheckFailed { check: checks::G10, culprit: Some(culprit), .. }) if *culprit == party(1)
    );
    assert!(without.is_some() || named);
    ends[0].is_ok()
}

/// P_2 answers two refreshes: whether the difference of its encryptions is that of two masks and errors,
/// which the difference of its answers confirms.
pub fn difference_of_masks(without: Option<Check>) -> bool {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let (p, top) = (ring.plain(), ring.parameters().top());
    let harness = harness(&ring, without);
    let recording = harness.recording(party(0));
    honest(act(harness, &ring, |session, keys, sampler| {
        // twice the same second component
        let x = keys.encrypt(sampler, top, None).switch(&ring, 0);
        (0..2).try_for_each(|_| ask(session, keys, sampler, &x).map(drop))
    }));
    let both = answers(&recording, &ring, top);
    let [mut h, mut b] = both[0].clone();
    ring.sub(&mut h, &both[1][0]);
    ring.sub(&mut b, &both[1][1]);
    // h = p (..) - x; what b encrypts has been divided by the factor that the ciphertext had
    let limbs = ring.parameters().limbs(0);
    let factor = Ciphertext::factor_after(&ring, 1, top, 0);
    let factor = (1..limbs).fold(factor, |f, limb| p.mul(f, ring.quotient(limb)));
    let first = ring.modulus(0);
    let differences = lift(&ring, b);
    let confirmed = differences.iter().zip(h.words()).filter(|(b, h)| {
        let answered = p.neg(p.of_signed(first.centred(**h)));
        b.unsigned_abs() < 1 << 50 && p.mul(p.of_wide(**b), factor) == answered
    });
    confirmed.count() > 1000
}
