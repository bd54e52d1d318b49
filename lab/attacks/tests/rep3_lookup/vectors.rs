//! Vectors that are wrong, or not the same at all parties.

use super::*;
use divisi_rep3::adversary::lookups::skip_vectors;
use divisi_rep3::checks;

/// A party that is 256 vectors ahead of the others: noticed before anything is verified, and no garbage.
#[test]
fn a_party_that_is_many_vectors_ahead_is_an_abort() {
    const AHEAD: usize = 256;
    let protocol = Protocol::Lut16;
    let harness = TrioHarness::default().patient();
    let recordings = [1, 2, 3].map(|p| harness.recording(party(p)));
    let results = harness.act(|trio| {
        let me = trio.me();
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        let mut x = e.random_bytes(1)?;
        e.prepare(AHEAD + 1, 1, 1)?;
        if me == party(2) {
            (0..AHEAD).for_each(|_| skip_vectors(&mut e, 1, 1));
        }
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let pending = e.close(vec![x]);
        settle(&mut e, pending).map(drop)
    });
    assert!(results.iter().all(Result::is_err), "{results:?}");
    assert!(results.iter().any(|r| failed_check(r) == Some(checks::A2)), "{results:?}");
    for recording in &recordings {
        assert!(coins_after(recording, opening(protocol)) == 0);
    }
}
