//! Polynomials in messages: each coefficient takes exactly as many bits as its prime, the lowest bit first,
//! part by part.

use crate::checks;
use crate::ring::{Poly, Ring};
use divisi_core::{Abort, PartyId, Session, Step};
use divisi_field::kernel::vectorize;
use divisi_field::packed::{self, GROUP};
use divisi_field::zp::Modulus;

/// How many coefficients are unpacked before they are looked at: they stay in the nearest cache.
const AT_ONCE: usize = 512;

/// The length of a polynomial in bytes.
#[must_use]
pub fn length(ring: &Ring, poly: &Poly) -> usize {
    ring.moduli(poly).iter().map(|m| m.bits() as usize * ring.dimension() / GROUP).sum()
}

/// Appends a polynomial.
pub fn write(ring: &Ring, poly: &Poly, out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + length(ring, poly), 0);
    let mut rest = &mut out[begin..];
    for (modulus, part) in ring.moduli(poly).into_iter().zip(poly.words().chunks_exact(ring.dimension())) {
        let bits = modulus.bits() as usize;
        let (own, others) = rest.split_at_mut(bits * part.len() / GROUP);
        packed::pack(bits, part, own);
        rest = others;
    }
}

/// Reads a polynomial that [`write()`] wrote. Returns whether it has the right length and every coefficient
/// is below its prime.
#[must_use]
pub fn read(ring: &Ring, body: &[u8], poly: &mut Poly) -> bool {
    let (n, moduli) = (ring.dimension(), ring.moduli(poly));
    let (mut at, mut reduced) = (0, true);
    for (modulus, part) in moduli.into_iter().zip(poly.words_mut().chunks_exact_mut(n)) {
        let bytes = modulus.bits() as usize * n / GROUP;
        let Some(body) = body.get(at..at + bytes) else { return false };
        at += bytes;
        reduced &= unpack(modulus, body, part);
    }
    reduced && at == body.len()
}

/// Reads the coefficients modulo one prime from exactly the bytes that hold them. Returns whether all are
/// below the prime.
fn unpack(modulus: Modulus, body: &[u8], part: &mut [u64]) -> bool {
    let bits = modulus.bits() as usize;
    let mut reduced = true;
    for (words, bytes) in part.chunks_mut(AT_ONCE).zip(body.chunks(AT_ONCE / GROUP * bits)) {
        packed::unpack(bits, bytes, words);
        vectorize(
            #[inline(always)]
            || {
                for word in &*words {
                    reduced &= *word < modulus.get();
                }
            },
        );
    }
    reduced
}

/// Sends polynomials, one after the other.
///
/// # Errors
/// If the session has ended, or a link is broken.
pub fn send(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    to: PartyId,
    polys: &[&Poly],
) -> Result<(), Abort> {
    let mut body = Vec::with_capacity(polys.iter().map(|poly| length(ring, poly)).sum());
    polys.iter().for_each(|poly| write(ring, poly, &mut body));
    let bits = 8 * body.len() as u64;
    session.send(step, to, &body, bits)
}

/// Receives polynomials of the shapes in `polys`, and overwrites them. The shapes determine the length, and
/// every coefficient must be below its prime \[G10\].
///
/// # Errors
/// [`Abort::CheckFailed`], which names the sender, if a coefficient is not below its prime; the abort that
/// ends the session, if a link fails or the message has another length.
pub fn receive(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    from: PartyId,
    polys: &mut [&mut Poly],
) -> Result<(), Abort> {
    let mut body = vec![0; polys.iter().map(|poly| length(ring, poly)).sum()];
    session.recv(step, from, &mut body)?;
    let mut rest = body.as_slice();
    for poly in polys {
        let (own, others) = rest.split_at(length(ring, poly));
        let reduced = read(ring, own, poly);
        session.require(checks::G10, step, reduced, Some(from))?; // [G10]
        rest = others;
    }
    Ok(())
}

/// The same, but adds each received polynomial to the one that is there. Beside the message only one more
/// polynomial is in memory.
///
/// # Errors
/// It fails as [`receive`] does.
pub fn receive_sum(
    session: &mut Session,
    ring: &Ring,
    step: Step,
    from: PartyId,
    sums: &mut [Poly],
) -> Result<(), Abort> {
    let mut body = vec![0; sums.iter().map(|sum| length(ring, sum)).sum()];
    session.recv(step, from, &mut body)?;
    let mut rest = body.as_slice();
    for sum in sums {
        let (own, others) = rest.split_at(length(ring, sum));
        let mut theirs = ring.zero(sum.limbs(), sum.is_extended());
        let reduced = read(ring, own, &mut theirs);
        session.require(checks::G10, step, reduced, Some(from))?; // [G10]
        ring.add(sum, &theirs);
        rest = others;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{Form, Operation, Parameters};
    use divisi_core::PublicParameters;
    use divisi_field::zp::P32;

    /// Of several polynomials in a message none may have a coefficient that is not reduced, whether they are
    /// kept or added up \[G10\].
    #[test]
    fn each_polynomial_of_a_message_is_looked_at() {
        let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 2, P32).unwrap();
        let ring = Ring::new(p).unwrap();
        const STEP: Step = divisi_core::step!("several");
        for (wrong, is_sum) in [0, 1, 2, 3].into_iter().flat_map(|wrong| [(wrong, false), (wrong, true)]) {
            let ends = divisi_core::testing::run(2, &PublicParameters::new("several"), |mut session| {
                let mut polys = [(); 3].map(|()| ring.zero(1, false));
                let peer = session.peers()[0];
                if session.me().index() == 0 {
                    polys
                        .iter_mut()
                        .skip(wrong)
                        .take(1)
                        .for_each(|x| x.words_mut()[7] = ring.modulus(0).get());
                    return send(&mut session, &ring, STEP, peer, &polys.each_ref());
                }
                if is_sum {
                    receive_sum(&mut session, &ring, STEP, peer, &mut polys)
                } else {
                    receive(&mut session, &ring, STEP, peer, &mut polys.each_mut())
                }
            });
            let failed = divisi_core::testing::failed_check(&ends[1]);
            assert_eq!(failed, Some(checks::G10).filter(|_| wrong < 3), "{wrong} {is_sum}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, P32).unwrap();
        let ring = Ring::new(p).unwrap();
        for (limbs, extended) in [(1, false), (ring.parameters().chain().len(), true)] {
            let mut poly = ring.zero(limbs, extended);
            let moduli = ring.moduli(&poly);
            for (m, part) in moduli.iter().zip(poly.words_mut().chunks_exact_mut(1024)) {
                part.iter_mut()
                    .enumerate()
                    .for_each(|(i, w)| *w = m.mul(i as u64 + 1, m.get() - 1 - i as u64));
            }
            let mut body = Vec::new();
            write(&ring, &poly, &mut body);
            assert_eq!(body.len(), length(&ring, &poly));
            let mut again = ring.zero(limbs, extended);
            assert!(read(&ring, &body, &mut again) && again.words() == poly.words());
            // the first and last coefficients of each part, and around its middle, one too large
            let places = [0, AT_ONCE - 1, AT_ONCE, 1023];
            for (modulus, at) in
                moduli.iter().enumerate().flat_map(|(part, m)| places.map(|at| (m, part * 1024 + at)))
            {
                let mut wrong = poly.clone();
                wrong.words_mut()[at] = modulus.get();
                let mut body = Vec::new();
                write(&ring, &wrong, &mut body);
                assert!(!read(&ring, &body, &mut again));
            }
            assert!(!read(&ring, &body[1..], &mut again));
            body.push(0);
            assert!(!read(&ring, &body, &mut again));
        }
    }
}
