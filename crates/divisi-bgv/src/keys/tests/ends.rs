//! The count of decryptions, to its end and over all kinds of keys.

use super::tools::{all, small, with_keys};
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

/// [G12] Keys of all kinds that a session has at the same time, made beside the first ones or beside later
/// ones, have one count of partial decryptions, and one limit.
#[test]
fn all_kinds_of_keys_are_counted_together() {
    let rings = [
        Operation::Bits,
        Operation::PrivateTables,
        Operation::Triples,
        Operation::Conversions,
        Operation::Linear { weight: 9 },
        Operation::BlockProducts,
        Operation::VectorTables,
    ]
    .map(|of| small(of, Form::LeanTree, 2));
    all(&rings[0], |session, keys, _| {
        let mut kinds = vec![keys.clone()];
        for (made, ring) in rings[1..].iter().enumerate() {
            let from = if made % 2 == 0 { &kinds[0] } else { &kinds[made] };
            kinds.push(from.beside(session, ring)?);
        }
        for (before, one) in kinds.iter().enumerate() {
            one.spend(session, step!("spent"))?;
            assert!(kinds.iter().all(|kind| kind.decryptions() == before as u64 + 1), "{before}");
            assert_eq!(one.0.limit, keys.0.limit);
        }
        Ok(())
    });
}
