//! Tests of how items become tables, and of the memory that they take.

use super::*;
use crate::dealer::Dealer;
use crate::source::Source;
use divisi_core::PublicParameters;
use divisi_core::testing::run;
use divisi_field::{Gf40, Gf48, Gf72};
use divisi_ot::SetupConfig;

/// The bytes of the elements in all vectors of the items.
fn held<F: Mac>(items: &Items<F>) -> usize {
    let bits: usize = items.b.iter().map(|b| size_of_val(&b.x[..]) + size_of_val(&b.m[..])).sum();
    let words = items.v.iter().chain(&items.z);
    let words: usize = words.map(|v| size_of_val(&v.x[..]) + size_of_val(&v.m[..])).sum();
    bits + words + items.last.iter().map(|last| last.elements().len() * F::BYTES).sum::<usize>()
}

#[test]
fn items_have_the_bytes_that_the_bound_counts() {
    let lanes = 3;
    let ends = run(2, &PublicParameters::new("items"), |session| {
        let (mut party, mut source) = Bucketed::<Gf48>::start(session, SetupConfig::default())?;
        let mut found = Vec::new();
        for log in [6, 8] {
            let shape = Shape::new(log);
            for first in [true, false] {
                let batches = [Batch { lanes, first, all: lanes }];
                let counts = batches.iter().map(|batch| rows_of::<Gf48>(&shape, batch.lanes));
                let mut leaky = Leaky { shape: &shape, ahead: batches.iter(), made: Default::default() };
                source.rows.batches(&mut party, counts, &mut leaky)?;
                let items = &leaky.made[usize::from(!first)];
                found.push((held(items), lanes * Items::<Gf48>::bytes(&shape, first)));
            }
        }
        party.check_here()?;
        Ok(found)
    });
    for end in ends {
        end.unwrap().into_iter().for_each(|(held, counted)| assert_eq!(held, counted));
    }
}

/// Every item is in one bucket, also in pieces behind the first one.
#[test]
fn each_item_is_used_once() {
    let (shape, [tables, size]) = (Shape::new(3), [10, 4]);
    let ends = run(2, &PublicParameters::new("buckets"), |session| {
        let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
        let mut items = |count: usize| -> Result<Items<Gf48>, Abort> {
            let mut bits = || dealer.bits(&mut party, count);
            let b = (0..shape.products()).map(|_| bits()).collect::<Result<_, _>>()?;
            let mut words = || bits().map(|bits| word(&bits));
            let [v, z] = [0, 1].map(|_| shape.pieces.iter().map(|_| words()).collect::<Result<_, _>>());
            Ok(Items { b, v: v?, z: z?, last: Vec::new() })
        };
        let items = [items(tables)?, items(tables * (size - 1))?];
        let sum = |of: &Items<Gf48>| of.b.iter().flat_map(|b| &*b.m).fold(Gf48::ZERO, |sum, m| sum + *m);
        let all = sum(&items[0]) + sum(&items[1]);
        let made = gathered(&mut party, &shape, items, [tables, size], 8)?;
        Ok((made.lanes(), all == sum(&made)))
    });
    assert!(ends.iter().all(|end| *end == Ok((tables, true))), "{ends:?}");
}

/// The most tables of a lot, and the bytes of their items.
fn most<F: Mac>(log: usize, rho: u32) -> (usize, usize) {
    let shape = Shape::new(log);
    let tables = together::<F>(&shape, rho);
    (tables, bytes::<F>(&shape, tables, rho))
}

/// However many tables are announced, the items of a lot have a bounded number of bytes, and the usual
/// lots have buckets of three.
#[test]
fn memory_of_items_is_bounded() {
    assert_eq!(most::<Gf48>(8, 40), (327_680, 573_112_320));
    assert_eq!(most::<Gf48>(6, 40), (393_216, 270_139_392));
    for log in 2..=LARGEST {
        for (tables, bytes) in [most::<Gf40>(log, 40), most::<Gf48>(log, 40), most::<Gf72>(log, 64)] {
            assert!(tables >= LESS && bytes <= BYTES, "{log}: {tables} {bytes}");
        }
    }
    // blocks of AES-128 and of triple DES, asked for in parts of 256
    for (log, each, blocks, lots) in
        [(8, 160, 2_048, 1), (8, 160, 8_192, 4), (6, 384, 1_024, 1), (6, 384, 2_048, 2), (6, 384, 8_192, 8)]
    {
        let (tables, _) = most::<Gf48>(log, 40);
        let (mut foreseen, mut made) = (each * blocks, Vec::new());
        let mut there = 0;
        while foreseen > 0 {
            if there == 0 {
                there = lot(foreseen, each * 256, tables);
                made.push(there);
            }
            foreseen -= each * 256;
            there -= each * 256;
        }
        assert_eq!(made.len(), lots, "{log} {blocks}: {made:?}");
        made.iter().for_each(|tables| assert_eq!(buckets::size(*tables, 40), 3));
    }
}
