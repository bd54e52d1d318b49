//! Tests that nothing of a set-up's rows serves twice.

use super::*;
use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_field::Gf48;
use std::collections::HashSet;

/// A party over rows that a dealer makes.
pub(in crate::prep) fn dealt(mut session: Session) -> Result<(Party<Gf48>, Rows), Abort> {
    let setup = divisi_ot::testing::deal_over_field(&mut session, SetupConfig::default(), 48, 9)?;
    Rows::of(session, setup)
}

/// Demands of two batches with these numbers of rows that their masks differ, and are not among the bits of
/// either. `work` returns the mask and all bits of a batch.
pub(in crate::prep) fn own_masks(
    [wide, narrow]: [usize; 2],
    work: impl Fn(
        &mut Rows,
        &mut Party<Gf48>,
        WideShares,
        MacShares,
    ) -> Result<(Auth<Gf48, Gf48>, Vec<bool>), Abort>
    + Sync,
) {
    let ends = run(2, &PublicParameters::new("masks"), |session| {
        let (mut party, mut rows) = dealt(session)?;
        let mut strand = party.session.strand()?;
        let (mut masks, mut bits) = (HashSet::new(), Vec::new());
        for _ in 0..2 {
            let begun = rows.with(&mut party, |_, setup| setup.begin_ahead(&mut strand, wide, narrow))?;
            let here = rows.with(&mut party, |_, setup| setup.receive_ahead(&mut strand, begun))?;
            let (wide, narrow) = rows.with(&mut party, |session, setup| setup.finish_ahead(session, here))?;
            let (mask, all) = work(&mut rows, &mut party, wide, narrow)?;
            masks.insert((0..48).map(|k| mask.x[0].to_bits() >> k & 1 == 1).collect::<Vec<bool>>());
            bits.push(all);
        }
        // nobody ends before the other one has everything
        party.coins.toss(&mut party.session, SETUP)?;
        let among = bits.iter().flat_map(|bits| bits.windows(48)).any(|bits| masks.contains(bits));
        Ok((masks.len(), bits[0].len() >= 48, among))
    });
    assert!(ends.iter().all(|end| *end == Ok((2, true, false))), "{ends:?}");
}

/// Bits of a second piece are others than those of the first.
#[test]
fn pieces_of_bits_differ() {
    let ends = run(2, &PublicParameters::new("pieces"), |session| {
        let (mut party, mut rows) = dealt(session)?;
        let made = rows.bits(&mut party, POSITIONS + 300)?;
        let known = rows.known_each(&mut party, &[(PartyId::P1, POSITIONS + 300), (PartyId::P2, 300)])?;
        let elements = rows.elements(&mut party, &vec![Gf48::ONE; POSITIONS / 48 + 3])?;
        let macs = [&made.m, &known[0].shares.m, &known[1].shares.m, &elements.m];
        let macs = || macs.iter().flat_map(|m| m.iter().map(|m| m.to_bits()));
        Ok((made.len(), macs().count() - macs().collect::<HashSet<_>>().len()))
    });
    assert!(ends.iter().all(|end| *end == Ok((POSITIONS + 300, 0))), "{ends:?}");
}
