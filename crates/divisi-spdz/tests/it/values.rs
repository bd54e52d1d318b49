//! Lookups of values in public tables of many sizes (KOR+17, Fig. 3), and what they cost.

use crate::engines::{dealt, prepared};
use divisi_core::testing::{Harness, failed_check, party, run};
use divisi_core::{Abort, PublicParameters, Session, Settles, local};
use divisi_field::{Gf40, Gf48, Gf72};
use divisi_spdz::{Host, PREPROCESSING_PHASE, Preparation, PublicTable, SpdzProtocol, checks};

fn table(index: usize, width: usize) -> PublicTable {
    let entry = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> (32 - width)) as u16;
    PublicTable::new(width, (1..=1 << index).map(entry).collect()).unwrap()
}

/// The entries at these places, which party 2 gives.
fn looked_up<F: Host>(session: Session, table: &PublicTable, places: &[u16]) -> Result<Vec<u16>, Abort> {
    let mut e = dealt::<F>(session, 6, SpdzProtocol::Lookup)?;
    let mine = (e.session().me() == party(2)).then_some(places);
    let x = e.input_values(party(2), mine, table.index(), places.len())?;
    e.preprocess_values(table.index(), places.len())?;
    e.session().meter().reset();
    e.session().phase("online");
    let y = e.look_up_value(table, &x)?;
    let phase = e.session().meter().read().phases["online"];
    let peers = e.session().parties() as u64 - 1;
    let bits = (places.len() * table.index()).next_multiple_of(8) as u64;
    assert_eq!((phase.rounds, phase.bits), (1, bits * peers));
    let y = e.settled(y)?;
    e.output_values(&y)
}

/// Every entry of tables of each size, from 2 to 1,024 entries of 1 to 16 bits: those of Table 1 too.
#[test]
fn tables_of_many_sizes() {
    for (n, index, width) in [(2, 1, 1), (2, 4, 16), (3, 7, 9), (2, 9, 16), (3, 10, 3), (2, 10, 16)] {
        let table = table(index, width);
        let places: Vec<u16> = (0..1 << index).step_by(1 << index.saturating_sub(6)).map(|i| i ^ 1).collect();
        let ends = local::run(n, &PublicParameters::new("values"), |session| match index {
            4 => looked_up::<Gf40>(session, &table, &places),
            7 => looked_up::<Gf72>(session, &table, &places),
            _ => looked_up::<Gf48>(session, &table, &places),
        });
        let right: Vec<u16> = places.iter().map(|place| table.entry(usize::from(*place))).collect();
        assert_eq!(ends, Ok(vec![right; n]), "{n} {index} {width}");
    }
}

/// Vectors that the parties make themselves, from two entries on.
#[test]
fn tables_of_the_smallest_sizes_from_buckets() {
    for (n, index) in [(2, 1), (3, 1), (2, 2)] {
        let table = table(index, 7);
        let places: Vec<u16> = (0..1 << index).rev().collect();
        let ends = local::run(n, &PublicParameters::new("values"), |session| {
            let mut e = prepared::<Gf48>(session, Some(Preparation::Bucketed), SpdzProtocol::Lookup)?;
            let mine = (e.session().me() == party(2)).then_some(&places[..]);
            let x = e.input_values(party(2), mine, index, places.len())?;
            let y = e.look_up_value(&table, &x)?;
            let y = e.settled(y)?;
            e.output_values(&y)
        });
        let right: Vec<u16> = places.iter().map(|place| table.entry(usize::from(*place))).collect();
        assert_eq!(ends, Ok(vec![right; n]), "{n} {index}");
    }
}

/// Vectors that were made ahead serve one lookup after the other, in tables of each size; others are made
/// only when they are used up.
#[test]
fn vectors_made_ahead_are_used_up_first() {
    let tables = [table(3, 5), table(9, 16)];
    let places = [[5, 0, 7], [500, 0, 257]];
    let ends = local::run(2, &PublicParameters::new("values"), |session| {
        let mut e = dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?;
        let mine = e.session().me() == party(1);
        let mut x = Vec::new();
        for (table, places) in tables.iter().zip(&places) {
            x.push(e.input_values(party(1), mine.then_some(&places[..]), table.index(), 3)?);
            e.preprocess_values(table.index(), 7)?;
        }
        e.session().meter().reset();
        let mut made = Vec::new();
        for _ in 0..3 {
            for ((table, x), places) in tables.iter().zip(&x).zip(&places) {
                let y = e.look_up_value(table, x)?;
                let phases = e.session().meter().read().phases;
                made.push(phases.get(PREPROCESSING_PHASE).map_or(0, |phase| phase.bits));
                let y = e.settled(y)?;
                assert_eq!(e.output_values(&y)?, places.map(|place| table.entry(usize::from(place))));
            }
        }
        Ok(made)
    });
    for made in ends.unwrap() {
        assert!(made[..4] == [0; 4] && 0 < made[4] && made[4] < made[5], "{made:?}");
    }
}

/// A wrong opened index fails the check of MACs before the entry leaves.
#[test]
fn a_false_index_of_a_value_is_noticed() {
    let harness = Harness::new(2, &PublicParameters::new("values"));
    harness.change(party(2), party(1), "divisi_spdz::engine::values/values.2", 0, |body| body[0] ^= 1);
    let table = table(9, 12);
    let ends = harness.act(|session| looked_up::<Gf48>(session, &table, &[300]));
    assert!(ends.iter().all(Result::is_err), "{ends:?}");
    assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{ends:?}");
}

/// What is no table, and a value that is no index, are refused.
#[test]
fn what_is_no_table_is_refused() {
    for (width, values) in [(8, 0), (8, 1), (8, 3), (8, 2048), (0, 4), (17, 4)] {
        assert_eq!(PublicTable::new(width, vec![0; values]), None, "{width} {values}");
    }
    assert_eq!(PublicTable::new(3, vec![7, 8]), None);
    assert!(PublicTable::new(4, vec![7, 8]).is_some());
    let end = run(2, &PublicParameters::new("values"), |session| {
        let mut e = dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?;
        let mine = (e.session().me() == party(1)).then_some(&[3][..]);
        let x = e.input_values(party(1), mine, 2, 1)?;
        e.look_up_value(&table(3, 3), &x).map(drop)
    });
    assert!(end.iter().all(|end| end.is_err()), "{end:?}");
    // neither are vectors made for indices that no table has
    for (log, fine) in [(1, true), (10, true), (0, false), (11, false), (256, false), (257, false)] {
        let ends = run(2, &PublicParameters::new("values"), |session| {
            dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?.preprocess_values(log, 2)
        });
        assert!(ends.iter().all(|end| end.is_ok() == fine), "{log}: {ends:?}");
    }
}
