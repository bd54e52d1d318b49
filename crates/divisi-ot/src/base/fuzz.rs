//! Random inputs for group elements in messages.

use super::read;
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

/// Only the canonical encoding of an element is accepted, and never that of the neutral element.
#[test]
fn random_points() {
    let point = |k: u64| RistrettoPoint::mul_base(&Scalar::from(k)).compress().to_bytes().to_vec();
    let seeds = [point(1), point(2), point(0x9e37_79b9_7f4a_7c15), point(0)];
    divisi_fuzz::run("points", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(point) = read(bytes) else { return Ok(false) };
        if point == RistrettoPoint::identity() {
            return Err("the neutral element".into());
        }
        if point.compress().as_bytes()[..] == *bytes { Ok(true) } else { Err("another encoding".into()) }
    });
}
