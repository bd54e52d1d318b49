//! MAESTRO Protocol 1, CheckTriple.
//!
//! Adversary: one malicious party. Passes with a wrong triple with probability at most 2/|F|. What is opened:
//! rho, uniform by x'; and sigma, which is 0 for a right triple and uniform for a wrong one, because the
//! error is multiplied by a fresh random r that nobody knows (without it the error itself would be opened).
//!
//! Cost: 4 field elements and one coin a party.

use super::owed::Missed;
use crate::checks;
use crate::multiply::dot_local;
use crate::share::Rep;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::{Abort, Step, step};
use divisi_field::BigField;
use zeroize::Zeroizing;

const Z_PRIME: Step = step!("triple.2");
const RHO: Step = step!("triple.4");
const SIGMA: Step = step!("triple.5");
const OPEN: Step = step!("triple.6");

/// CheckTriple([[x]], [[y]], [[z]]): verifies that xy = z. Each of the three is one element.
pub(super) fn check_triple<F: BigField>(
    trio: &mut Trio,
    fixed: &Fixed,
    x: &Rep<F>,
    y: &Rep<F>,
    z: &Rep<F>,
) -> Result<Missed, Abort> {
    let mut scratch = Zeroizing::new([Vec::new(), Vec::new()]);
    // 1. [[x']], [[r]] <- F_rand: fresh in every call [A5]
    let x_prime = rand::<F>(trio);
    let r = rand::<F>(trio);
    // 2. [[z']] <- weakMult([[x']], [[y]]), before the coin [A5]
    let z_prime = weak_mult(trio, Z_PRIME, &x_prime, y, &mut scratch)?;
    trio.session.observe(checks::A5); // [A5]
    // 3. t <- F_coin, after z' [A6]
    let t: F = trio.coin(fixed)?.element();
    // 4. rho := Reconst([[x]] + t [[x']]), compared before line 5 goes out [A6]
    let rho = trio.reconst(RHO, &combine(x, &[(t, &x_prime)]))?[0];
    trio.session.observe(checks::A6); // [A6]
    // 5. [[sigma]] := weakMult([[z]] + t [[z']] - rho [[y]], [[r]])
    let error = combine(z, &[(t, &z_prime), (rho, y)]);
    let sigma = weak_mult(trio, SIGMA, &error, &r, &mut scratch)?;
    // 6. accept iff sigma = 0 [A7, A21]
    let sigma = trio.reconst(OPEN, &sigma)?[0];
    trio.session.observe(checks::A21); // [A21]
    trio.session.require(checks::A7, OPEN, sigma.ct_eq(&F::ZERO).into(), None)?; // [A7]
    Ok(Missed::at::<F>(2))
}

/// F_rand on one element.
#[cfg_attr(feature = "testing", track_caller)]
fn rand<F: BigField>(trio: &mut Trio) -> Rep<F> {
    let (a, b) = trio.streams.rand();
    Rep { a: vec![a], b: vec![b] }
}

/// weakMult of one element.
fn weak_mult<F: BigField>(
    trio: &mut Trio,
    step: Step,
    x: &Rep<F>,
    y: &Rep<F>,
    scratch: &mut [Vec<F>; 2],
) -> Result<Rep<F>, Abort> {
    let z = dot_local([&x.a, &x.b], [&y.a, &y.b], scratch);
    trio.reshare_elements(step, vec![z])
}

/// `x + sum c_j x_j`, component by component.
fn combine<F: BigField>(x: &Rep<F>, terms: &[(F, &Rep<F>)]) -> Rep<F> {
    let mut sum = x.clone();
    for (c, y) in terms {
        sum.a[0] = sum.a[0] + *c * y.a[0];
        sum.b[0] = sum.b[0] + *c * y.b[0];
    }
    sum
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::adversary::adaptive;
    use crate::adversary::harness::{MessageDirection, TrioHarness, failed_check, party};
    use crate::share::constant_component;
    use divisi_core::PartyId;
    use divisi_field::{Field, Gf64};

    /// \[A5\] The factor r of a wrong triple's error is not x': who knows the error e would learn r from
    /// sigma = e r, and then x from rho = x + t x'.
    #[test]
    fn the_factor_of_an_error_masks_nothing_else() {
        let harness = TrioHarness::default();
        let recordings = harness.recordings();
        let ends = harness.act(|mut trio| {
            let fixed = trio.barrier()?;
            let mut one = Rep::<Gf64>::zero(1);
            match constant_component(trio.me()) {
                Some(0) => one.a[0] = Gf64::ONE,
                Some(_) => one.b[0] = Gf64::ONE,
                None => {}
            }
            check_triple(&mut trio, &fixed, &one, &one, &Rep::zero(1)).map(drop)
        });
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::A7)), "{ends:?}");
        // what is opened is the sum of what each party sends to its next
        let told = |step: &'static str| {
            PartyId::all(3).zip(&recordings).fold([0; 8], |mut sum: [u8; 8], (from, recording)| {
                let to = party(from.number() % 3 + 1);
                let bodies = recording.bodies(MessageDirection::Out, to, step);
                sum.iter_mut().zip(&bodies[0]).for_each(|(sum, byte)| *sum ^= byte);
                sum
            })
        };
        let number = |step: &'static str| Gf64(u64::from_le_bytes(told(step)));
        let (t, rho, r) =
            (number("divisi_rep3::random/coin.share"), number(adaptive::RHO), number(adaptive::OPEN));
        let x_prime = (rho + Gf64::ONE) * t.inverse();
        assert!(![Gf64::ZERO, Gf64::ONE, x_prime].contains(&r) && x_prime != Gf64::ZERO);
    }
}
