//! An ordinary library's AES-GCM, the engine of a party, and how the comparison of parameters ends.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use divisi_core::{Abort, Check};
use divisi_rep3::adversary::harness::{TrioHarness, failed_check, party};
use divisi_rep3::{Protocol, Rep3, Security, Trio};
use divisi_symphony::Priority;

pub fn bytes(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 31 + (i >> 8) * 7 + seed * 101) as u8 ^ seed as u8).collect()
}

/// Ciphertext and tag.
pub fn reference(key: &[u8], iv: [u8; 12], aad: &[u8], plain: &[u8]) -> Vec<u8> {
    type Aes192Gcm = aes_gcm::AesGcm<aes_gcm::aes::Aes192, U12>;
    let (iv, payload) = (&iv.into(), Payload { msg: plain, aad });
    match key.len() {
        16 => aes_gcm::Aes128Gcm::new_from_slice(key).unwrap().encrypt(iv, payload),
        32 => aes_gcm::Aes256Gcm::new_from_slice(key).unwrap().encrypt(iv, payload),
        _ => Aes192Gcm::new_from_slice(key).unwrap().encrypt(iv, payload),
    }
    .unwrap()
}

pub fn engine(trio: Trio, protocol: Protocol) -> Rep3 {
    Rep3::new(trio, protocol, Security::Malicious)
}

/// The engine with the protocol of short runs.
pub fn quick(trio: Trio) -> Rep3 {
    engine(trio, Priority::LowLatency.protocol())
}

/// Demands that all parties end, one of them because of this check: who notices first ends the session for
/// the others.
pub fn all_end<R>(ends: Vec<Result<R, Abort>>, check: Check, what: &str) {
    let ends: Vec<_> = ends.into_iter().map(|end| end.map(drop)).collect();
    assert!(ends.iter().all(Result::is_err), "{what}: {ends:?}");
    assert!(ends.iter().any(|end| failed_check(end) == Some(check)), "{what}: {ends:?}");
}

/// Demands that this check ends the session if one of these parties does what is odd, and nothing else does.
pub fn is_compared(
    check: Check,
    what: &str,
    odd_ones: &[u8],
    act: impl Fn(Trio, bool) -> Result<(), Abort> + Sync,
) {
    let honest = TrioHarness::default().act(|trio| act(trio, false));
    assert!(honest.iter().all(Result::is_ok), "{what}: {honest:?}");
    for odd in odd_ones.iter().map(|number| party(*number)) {
        let ends = TrioHarness::default().act(|trio| {
            let is_odd = trio.me() == odd;
            act(trio, is_odd)
        });
        all_end(ends, check, what);
    }
}
