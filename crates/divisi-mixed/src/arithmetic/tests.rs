//! Triples that were made.

use super::*;
use divisi_core::wipe::WipedVec;

/// Triples are taken once, however many are taken at a time, and whatever is left.
#[test]
fn triples_of_numbers_are_taken_once() {
    for taken in [1, 63, 64, 65, 500] {
        let of = |part: u64| {
            Num::new(WipedVec::from(&*(0..1200).map(|at| 10_000 * part + at).collect::<Vec<_>>()))
        };
        let mut all = NumberTriples([of(0), of(1), of(2)]);
        let mut end = 1200;
        while let Some(some) = all.take(taken) {
            end -= taken;
            for (part, numbers) in (0..).zip(some.open()) {
                let right = (10_000 * part..).skip(end).take(taken);
                assert!(numbers.shares().iter().copied().eq(right), "{taken} {end}");
            }
            assert_eq!(all.len(), end);
        }
        assert!(end < taken);
    }
}
