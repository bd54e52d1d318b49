//! Tests of the classes of payloads.

use super::*;

#[test]
fn classes_hold_their_payloads() {
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 64, 65, usize::MAX].map(class),
        [None, Some(0), Some(1), Some(2), Some(2), Some(3), Some(6), None, None]
    );
}
