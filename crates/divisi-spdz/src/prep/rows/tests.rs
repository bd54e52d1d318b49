//! Tests that nothing of a set-up's rows serves twice.

use super::*;
use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_field::Gf48;
use std::collections::HashSet;

/// A party over rows that a dealer makes.
fn dealt(mut session: Session) -> Result<(Party<Gf48>, Rows), Abort> {
    let setup = divisi_ot::testing::deal_over_field(&mut session, SetupConfig::default(), 48, 9)?;
    Rows::of(session, setup)
}

/// Bits of a second piece are others than those of the first.
#[test]
fn pieces_of_bits_differ() {
    let ends = run(2, &PublicParameters::new("pieces"), |session| {
        let (mut party, mut rows) = dealt(session)?;
        let made = rows.bits(&mut party, POSITIONS + 300)?;
        let (first, second) = made.m.split_at(POSITIONS);
        let first: HashSet<u128> = first.iter().map(|m| m.to_bits()).collect();
        Ok((made.len(), second.iter().any(|m| first.contains(&m.to_bits()))))
    });
    assert!(ends.iter().all(|end| *end == Ok((POSITIONS + 300, false))), "{ends:?}");
}
