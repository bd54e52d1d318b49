//! Attack (b): P_1 has all keys but P_2's, and measures the noise of what P_2 answers: whether it tells zeros
//! from random bits. P_1 sees answers before their lowest bits are dropped (D6), which is more than a holder
//! gets.

use super::refresh::ask;
use super::{act, harness};
use crate::tools::*;
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Ciphertext, encode, wire};
use divisi_core::Check;

/// What P_2 answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// An E2A of a ciphertext that it multiplied by its signs.
    Decryption,
    /// A refresh of such a ciphertext.
    Refresh,
    /// An E2A of a refreshed ciphertext that it multiplied by its signs.
    DecryptionOfRefreshed,
}

/// The mean squares of the noise in answers to `count` ciphertexts that P_2 multiplied by signs of zeros, and
/// to as many with signs of random bits, under the same keys, in turn.
fn noise_of(answer: Answer, count: u64, without: Option<Check>) -> [f64; 2] {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let (p, top, limbs) = (ring.parameters().plain(), ring.parameters().top(), ring.parameters().limbs(0));
    let factor = Ciphertext::factor_after(&ring, 1, top, 0);
    let plain = encode::coefficients(&ring, &encode::signs(&ring, &bits(3, 1024)));
    let ends = act(harness(&ring, without), &ring, |session, keys, sampler| {
        let mut squares = [0.0; 2];
        for number in 0..2 * count {
            let random = number % 2 == 1;
            let fresh = keys.encrypt(sampler, top, Some(&plain));
            let first = match answer {
                Answer::DecryptionOfRefreshed => ask(session, keys, sampler, &fresh.switch(&ring, 0))?,
                Answer::Decryption | Answer::Refresh => Some(fresh),
            };
            if session.me() == party(1) {
                let r = if random { bits(number, 1024) } else { vec![0; 1024] };
                let x = Ciphertext::receive(session, &ring, PASS, party(0), top, 1)?;
                let x = keys.hop(session, sampler, x, &encode::signs(&ring, &r))?;
                let c1 = x.components()[1].clone();
                let h = match answer {
                    Answer::Refresh => keys.answer_of_refresh(session, sampler, c1, factor)?,
                    _ => keys.partial_decryption(session, sampler, c1)?,
                };
                wire::send(session, &ring, PASS, party(0), &[x.components()[0], x.components()[1], &h])?;
                continue;
            }
            let mut x = first.expect("the first party holds it");
            // the rounding of the switch would hide honest noise
            x.add(&ring, session, PASS, &at_its_bound(&ring, top, 1))?;
            wire::send(session, &ring, PASS, party(1), &x.components())?;
            let [mut c0, mut c1, mut h] = [(); 3].map(|()| ring.zero(limbs, false));
            wire::receive(session, &ring, PASS, party(1), &mut [&mut c0, &mut c1, &mut h])?;
            // c_0 + s_1 c_1 + h_2 = m - x_2 + p (E' + e_2)
            ring.add_product(&mut c0, &keys.reveal(), &c1);
            ring.to_coefficients(&mut c0);
            ring.add(&mut c0, &h);
            squares[usize::from(random)] +=
                lift_coefficients(&ring, &c0).iter().map(|x| (*x as f64 / p as f64).powi(2)).sum::<f64>();
        }
        Ok(squares.map(|sum| sum / (1024 * count) as f64))
    });
    ends.into_iter().next().unwrap().unwrap()
}

/// Whether two mean squares of this many coefficients differ by six deviations. The variance of the square of
/// a Gaussian is twice the square of its mean.
pub fn differ(what: &str, [zeros, random]: [f64; 2], count: u64) -> bool {
    let deviation = (4.0 / (1024 * count) as f64).sqrt();
    println!("{what}, {count}: {:.4} bits, deviation {deviation:.1e}", (random / zeros).log2() / 2.0);
    (random / zeros - 1.0).abs() > 6.0 * deviation
}

/// Whether the noise of answers tells zeros from random bits.
fn tells(answer: Answer, count: u64, without: Option<Check>) -> bool {
    differ(&format!("{answer:?}"), noise_of(answer, count, without), count)
}

pub fn of_decryptions(without: Option<Check>) -> bool {
    tells(Answer::Decryption, 1 << 6, without)
}

pub fn of_refreshes(without: Option<Check>) -> bool {
    tells(Answer::Refresh, 1 << 6, without)
}

pub fn after_refreshes(without: Option<Check>) -> bool {
    tells(Answer::DecryptionOfRefreshed, 1 << 7, without)
}

/// The mean squares of the noise of ciphertexts that P_2 multiplied by its signs, which are all zero bits in
/// every other one and random bits in the rest, before P_1 has them refreshed and afterwards, for one who has
/// all keys. Both kinds have the same keys: the noise of what is switched depends on them, too.
fn noise_around_refreshes(count: u64) -> [[f64; 2]; 2] {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let top = ring.parameters().top();
    let factor = Ciphertext::factor_after(&ring, 1, top, 0);
    let ends = act(harness(&ring, None), &ring, |session, keys, sampler| {
        let mut all = Vec::new();
        for number in 0..2 * count {
            if session.me() == party(1) {
                let r = if number % 2 == 1 { bits(number, 1024) } else { vec![0; 1024] };
                let x = Ciphertext::receive(session, &ring, PASS, party(0), top, 1)?;
                let x = keys.hop(session, sampler, x, &encode::signs(&ring, &r))?;
                wire::send(session, &ring, PASS, party(0), &x.components())?;
                ask(session, keys, sampler, &x)?;
                continue;
            }
            let plain = encode::coefficients(&ring, &encode::signs(&ring, &bits(3, 1024)));
            let mut x = keys.encrypt(sampler, top, Some(&plain));
            x.add(&ring, session, PASS, &at_its_bound(&ring, top, 1))?;
            wire::send(session, &ring, PASS, party(1), &x.components())?;
            let before = Ciphertext::receive(session, &ring, PASS, party(1), 0, factor)?;
            let after = ask(session, keys, sampler, &before)?;
            all.extend(after.map(|after| [before, after]));
        }
        Ok((keys.reveal(), all))
    });
    let (shares, all): (Vec<_>, Vec<_>) = honest(ends).into_iter().unzip();
    let key = sum(&ring, &shares);
    let square = |at: usize, kind: usize| -> f64 {
        let of_kind = all[0].iter().skip(kind).step_by(2);
        of_kind.map(|pair| (2.0 * noise(&ring, &key, &pair[at])).exp2()).sum::<f64>()
    };
    [0, 1].map(|at| [0, 1].map(|kind| square(at, kind) / (1024 * count) as f64))
}

/// Even for one who has all keys the noise of a refreshed ciphertext is that of its own errors, where that of
/// the ciphertext before tells P_2's signs (control).
#[test]
fn refreshed_noise_tells_no_signs() {
    let count = 1 << 5;
    let [before, after] = noise_around_refreshes(count);
    assert!(differ("before a refresh", before, count));
    assert!(!differ("after a refresh", after, count));
}

/// Attack (b) on 2^11 ciphertexts of each kind: nothing is seen with floods, and, in the copy of lab/attacks,
/// something without.
#[test]
fn noise_tells_no_signs_in_answers() {
    assert!(!tells(Answer::Decryption, 1 << 11, None));
}

/// The same on 2^14 ciphertexts of each kind, for all that P_2 answers.
#[test]
#[ignore = "minutes"]
fn noise_tells_no_signs_in_many_answers() {
    for answer in [Answer::Decryption, Answer::Refresh, Answer::DecryptionOfRefreshed] {
        assert!(!tells(answer, 1 << 14, None), "{answer:?}");
    }
}
