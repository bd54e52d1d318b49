//! Random inputs for the bodies of messages with polynomials.

use crate::parameters::{Form, Operation, Parameters};
use crate::ring::Ring;
use crate::wire::{length, read, write};
use divisi_field::zp::P32;

/// If `read` accepts a body, all coefficients are below their primes, and `write` gives the same body again.
/// A sound body is longer than a random input. So each input is tried as a body, which must be refused as too
/// short; and as a patch of a sound body, where its first two bytes are a position, and its other bytes
/// replace those from there on.
#[test]
fn random_polynomials() {
    let parameters = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, P32).unwrap();
    let ring = Ring::new(parameters).unwrap();
    let limbs = ring.parameters().chain().len();
    let mut sound = ring.zero(limbs, true);
    let moduli = ring.moduli(&sound);
    for (m, part) in moduli.iter().zip(sound.words_mut().chunks_exact_mut(ring.dimension())) {
        part.iter_mut().enumerate().for_each(|(i, word)| *word = m.mul(i as u64 + 1, m.get() - 1 - i as u64));
    }
    let mut whole = Vec::new();
    write(&ring, &sound, &mut whole);
    let seeds: Vec<Vec<u8>> = (0..8).map(|i| [&[0, i << 4][..], &[0; 9]].concat()).collect();
    let (mut poly, mut again) = (ring.zero(limbs, true), Vec::new());
    divisi_fuzz::run("polynomials", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        if read(&ring, bytes, &mut poly) {
            return Err("a body that is too short is taken".into());
        }
        let Some((at, patch)) = bytes.split_first_chunk::<2>() else { return Ok(false) };
        let at = usize::from(u16::from_le_bytes(*at)) % whole.len();
        let mut body = whole.clone();
        let end = (at + patch.len()).min(body.len());
        // bytes beyond the end make the body longer
        drop(body.splice(at..end, patch.iter().copied()));
        if !read(&ring, &body, &mut poly) {
            return Ok(false);
        }
        let parts = poly.words().chunks_exact(ring.dimension());
        if moduli.iter().zip(parts).any(|(m, part)| part.iter().any(|word| *word >= m.get())) {
            return Err("a coefficient that is not reduced".into());
        }
        again.clear();
        write(&ring, &poly, &mut again);
        if again == body && body.len() == length(&ring, &poly) { Ok(true) } else { Err("another one".into()) }
    });
}
