//! The count of decryptions, to its end.

use super::tools::{small, with_keys};
use crate::keys::Inner;
use crate::parameters::{Form, Operation};
use divisi_core::{Abort, step};
use std::sync::atomic::Ordering;

/// [G12] The last partial decryption that a session may make is the last one, and none is forgotten before.
#[test]
fn decryptions_are_counted_to_the_end() {
    let ring = small(Operation::Bits, Form::LeanRing, 2);
    let ends = with_keys(&ring, |session, keys, _| {
        let Inner { decryptions, limit, .. } = &*keys.0;
        for before in (0..u64::from(limit.ilog2())).map(|k| (1 << k) - 1).chain([limit - 1]) {
            decryptions.store(before, Ordering::SeqCst);
            keys.spend(session, step!("spent"))?;
            assert_eq!(keys.decryptions(), before + 1);
        }
        Ok(keys.spend(session, step!("spent")).is_err())
    });
    // whoever is first ends the session, perhaps before the other one has all keys
    let ended = |end: &_| matches!(end, Ok(true) | Err(Abort::Network(_)));
    assert!(ends.contains(&Ok(true)) && ends.iter().all(ended), "{ends:?}");
}
