//! Polynomials in messages: each coefficient takes exactly as many bits as its prime, the lowest bit first,
//! part by part.

use crate::checks;
use crate::ring::{Poly, Ring};
use divisi_core::{Abort, PartyId, Session, Step};
use divisi_field::zp::Modulus;

/// The number of coefficients in a group. A group fills whole bytes whatever the width of a coefficient. N is
/// a multiple of it.
const GROUP: usize = 8;
/// The number of bytes that hold a group of coefficients of at most 50 bits, and a word of 8 bytes that
/// begins at the last byte of the group.
const ROOM: usize = 64;

/// The length of a polynomial in bytes.
#[must_use]
pub fn length(ring: &Ring, poly: &Poly) -> usize {
    ring.moduli(poly).iter().map(|m| m.bits() as usize * ring.dimension() / GROUP).sum()
}

/// Appends a polynomial.
pub fn write(ring: &Ring, poly: &Poly, out: &mut Vec<u8>) {
    let begin = out.len();
    let end = begin + length(ring, poly);
    // room for the last group's zeros, which are cut off again: all copies have one length
    out.resize(end + ROOM, 0);
    let mut rest = &mut out[begin..];
    for (modulus, part) in ring.moduli(poly).into_iter().zip(poly.words().chunks_exact(ring.dimension())) {
        let bits = modulus.bits() as usize;
        for group in part.as_chunks::<GROUP>().0 {
            if let Some(place) = rest.first_chunk_mut::<ROOM>() {
                *place = pack(bits, group);
            }
            rest = &mut rest[bits..];
        }
    }
    out.truncate(end);
}

/// Packs eight coefficients of `bits` bits each. The other bytes are zero.
fn pack(bits: usize, group: &[u64; GROUP]) -> [u8; ROOM] {
    let mut bytes = [0; ROOM];
    let (mut waiting, mut filled, mut at) = (0, 0, 0);
    for word in group {
        // at most 7 bits are waiting, and at most 50 are added
        waiting |= word << filled;
        filled += bits;
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(waiting));
        at += filled / 8;
        waiting >>= filled / 8 * 8;
        filled %= 8;
    }
    bytes
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
    let (bits, mask) = (modulus.bits() as usize, (1_u64 << modulus.bits()) - 1);
    let mut reduced = true;
    for (i, group) in part.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let Some(rest) = body.get(i * bits..) else { return false };
        let mut bytes = [0; ROOM];
        if let Some(all) = rest.first_chunk::<ROOM>() {
            bytes = *all;
        } else {
            bytes[..rest.len()].copy_from_slice(rest);
        }
        for (k, word) in group.iter_mut().enumerate() {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[k * bits / 8..k * bits / 8 + 8]);
            *word = u64::from_le_bytes(eight) >> (k * bits % 8) & mask;
            reduced &= *word < modulus.get();
        }
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
    let mut body = Vec::with_capacity(polys.iter().map(|poly| length(ring, poly)).sum::<usize>() + ROOM);
    polys.iter().for_each(|poly| write(ring, poly, &mut body));
    let bits = 8 * body.len() as u64;
    session.send(step, to, &body, bits)
}

/// Receives polynomials of the shapes in `polys`, and overwrites them. The level determines the length, and
/// every coefficient must be below its prime \[G10\].
///
/// # Errors
/// [`Abort::CheckFailed`] that names the sender if a coefficient is not.
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

/// The same, but adds each received polynomial to the one that is there. Only one polynomial more is in
/// memory beside the message.
///
/// # Errors
/// As [`receive`].
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
    use divisi_field::zp::P32;

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
            // the last coefficient of each part, one too large
            for (part, modulus) in moduli.iter().enumerate() {
                let mut wrong = poly.clone();
                wrong.words_mut()[part * 1024 + 1023] = modulus.get();
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
