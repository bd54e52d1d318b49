//! Deviations of the maker of rows towards a holder whose Delta is known to be all ones. Every one of them
//! changes something, so the check must detect it, whatever its column, tile and bit.

use super::*;
use crate::checks;
use crate::delta::{Delta, Deltas};
use crate::links::Links;
use crate::softspoken::CHUNK;
use crate::softspoken::layout::{Width, bit};
use crate::softspoken::tree::Leaves;
use divisi_core::PublicParameters;
use divisi_core::testing::{Harness, failed_check, links, many, party};
use std::sync::atomic::{AtomicUsize, Ordering};

const COIN: [u8; 16] = [0x35; 16];

/// The holder's result for `tiles` tiles of rows with this Delta. k = 1, so that each column has its own tree
/// and its own corrections.
fn holder(
    delta: u128,
    tiles: usize,
    corrections: impl Fn(&mut [u128]) + Send + 'static,
    sums: impl Fn(&mut [u128]) + Send + 'static,
) -> Result<(), Abort> {
    // the lowest bit of Delta determines which party may hold it
    let whose = party(if delta & 1 == 1 { 1 } else { 2 });
    let delta = move || Delta::drawn(whose, |bytes| *bytes = delta.to_le_bytes());
    holder_of((Width::Macs, checks::W5), || Deltas::labels(1, delta()), tiles, corrections, sums)
}

/// The same for rows of any width and under any keys; failures are reported as `check`.
fn holder_of(
    (width, counted): (Width, Check),
    deltas: impl Fn() -> Deltas + Sync,
    tiles: usize,
    corrections: impl Fn(&mut [u128]) + Send + 'static,
    sums: impl Fn(&mut [u128]) + Send + 'static,
) -> Result<(), Abort> {
    let change = |how: Box<dyn Fn(&mut [u128]) + Send>| {
        move |body: &mut Vec<u8>| {
            let mut words = Vec::new();
            read(body, &mut words);
            how(&mut words);
            write(&words, body);
        }
    };
    let harness = Harness::new(2, &PublicParameters::new("lies of makers")).patient();
    let (correct, check) = (change(Box::new(corrections)), change(Box::new(sums)));
    harness.hand(party(1), party(2), move |mut frame| {
        if frame.step == CORRECT.id {
            correct(&mut frame.body);
        } else if frame.step == CHECK.id {
            check(&mut frame.body);
        }
        vec![frame]
    });
    let ends = harness.act(|mut session| {
        let makes = session.me().index() == 0;
        let deltas = deltas();
        let mut ends = ends_of(2, session.me(), &deltas, [makes, !makes]);
        let x: Vec<u128> =
            (0..tiles as u128).map(|t| (t + 3) * 0x1234_5678_9abc_def0_0fed_cba9_8765).collect();
        let x = [x.as_slice(), x.as_slice()];
        let request = Request { width, each: VoleRows::each, tiles, links: Links::All, ahead: AHEAD };
        let made = session.exchange(|session| {
            let begun = ends.begin(session, request, &x)?;
            ends.finish(session, begun, &x, &deltas)
        })?;
        session
            .exchange(|session| {
                made.send_sums::<VoleRows>(session, COIN, &x, &ends)?.receive(session, counted, &deltas)
            })
            .map(|_| ())
    });
    ends.into_iter().nth(1).unwrap_or_else(|| unreachable!("two parties"))
}

/// A party's ends with each of its peers, as far as it makes rows and holds them, over trees of seeds that
/// are the same for all.
fn ends_of(n: usize, me: PartyId, deltas: &Deltas, [makes, holds]: [bool; 2]) -> Ends {
    let (layout, key) = (deltas.layout(), deltas.towards(me));
    let leaves = |known: bool| -> Vec<Leaves> {
        let of = |c: usize| {
            let seeds = [2 * c as u128 + 5, 2 * c as u128 + 6];
            let unknown = (bit(&key, c) & 1) as usize;
            if known { Leaves::new(&seeds, true) } else { Leaves::new(&[seeds[1 - unknown]], true) }
        };
        (0..layout.all()).map(of).collect()
    };
    let with = |wanted: bool| PartyId::all(n).map(move |peer| wanted && peer != me);
    let makers = with(makes).map(|with| with.then(|| Maker::new(layout, leaves(true)))).collect();
    let holders = with(holds).map(|with| with.then(|| Holder::new(layout, leaves(false)))).collect();
    Ends { layout, makers, holders }
}

fn found(end: &Result<(), Abort>) -> bool {
    matches!(end, Err(Abort::CheckFailed { check: checks::W5, culprit: Some(p), .. }) if *p == party(1))
}

#[test]
fn an_honest_maker_is_believed() {
    for delta in [0, 1, u128::MAX, 0x5555 << 64] {
        assert_eq!(holder(delta, 3, |_| (), |_| ()), Ok(()));
    }
}

/// Changes one bit of one correction, in each column, and one bit of one sum.
#[test]
fn every_column_tile_and_bit_is_looked_at() {
    let tiles = 3;
    many(128, 2, |column| {
        let (tile, bit) = (column % tiles, column * 37 % 128);
        let lie = move |d: &mut [u128]| d[column * tiles + tile] ^= 1 << bit;
        assert!(found(&holder(u128::MAX, tiles, lie, |_| ())), "correction {column} {tile} {bit}");
        assert!(
            found(&holder(u128::MAX, tiles, |_| (), move |sums| sums[1 + column] ^= 1 << bit)),
            "sum {column} {bit}"
        );
        // a deviation in a column is detected exactly if that bit of Delta is one
        if column > 0 {
            assert_eq!(holder(!(1 << column), tiles, lie, |_| ()), Ok(()), "{column}");
            assert!(found(&holder(1 << column, tiles, lie, |_| ())), "{column}");
        }
    });
    for bit in 0..128 {
        assert!(found(&holder(u128::MAX, tiles, |_| (), move |sums| sums[0] ^= 1 << bit)), "X {bit}");
    }
}

/// Sums that are words of their own are looked at like all others: none, all bits, one, and what belongs to
/// other bits; in place of X, of the sums of all columns, and of both.
#[test]
fn no_sum_stands_for_any_other() {
    let tiles = 3;
    for word in [0, 1, u128::MAX, 1 << 127] {
        for at in [0..1, 1..129, 0..129] {
            let place = at.clone();
            let lie = move |sums: &mut [u128]| sums[place.clone()].fill(word);
            assert!(found(&holder(u128::MAX, tiles, |_| (), lie)), "{word:x} at {at:?}");
            // with corrections for other bits, which is what a maker would gain by it
            let bits = move |d: &mut [u128]| d.iter_mut().step_by(tiles).for_each(|d| *d ^= 1 << 99);
            let lie = move |sums: &mut [u128]| sums[at.clone()].fill(word);
            assert!(found(&holder(u128::MAX, tiles, bits, lie)), "{word:x}");
        }
    }
}

/// Deviations that would cancel out if columns, tiles or bits were added up, or if one factor served several
/// of them.
#[test]
fn lies_do_not_make_up_for_each_other() {
    let tiles = 4;
    for (a, b) in [(0, 1), (1, 2), (5, 69), (63, 64), (126, 127)] {
        let lie = move |d: &mut [u128]| [a, b].iter().for_each(|column| d[column * tiles + 1] ^= 1 << 77);
        assert!(found(&holder(u128::MAX, tiles, lie, |_| ())), "columns {a} {b}");
        assert!(found(&holder(
            u128::MAX,
            tiles,
            |_| (),
            move |s| [a, b].iter().for_each(|c| s[1 + c] ^= 1 << 100)
        )));
        let (s, t) = (a % tiles, (a % tiles + 1 + b % (tiles - 1)) % tiles);
        let lie = move |d: &mut [u128]| [s, t].iter().for_each(|tile| d[a * tiles + tile] ^= 1 << 77);
        assert!(found(&holder(u128::MAX, tiles, lie, |_| ())), "tiles {s} {t}");
    }
    let all = move |d: &mut [u128]| (0..128).for_each(|column| d[column * tiles + 2] ^= 9);
    // corrections for other bits, the same in all columns: to pass, the maker would have to change X, too
    let end = holder(u128::MAX, tiles, all, |_| ());
    assert_eq!(failed_check(&end), Some(checks::W5));
}

/// Checks every column of narrow rows, of pads, and of wide rows over a field, in corrections and in sums; no
/// bit is public. Deviations in a column of MACs and in one of pads do not cancel, and one group's X does not
/// serve the other.
#[test]
fn every_column_of_a_field_is_looked_at() {
    const F: usize = 12;
    let all = |bits: u32| Delta::uniform(bits, |bytes| *bytes = [0xff; 16]);
    let tiles = 2;
    for (width, columns) in [(Width::Macs, F), (Width::Pads, 128), (Width::Wide, F + 128)] {
        let keys = || Deltas::field(1, F as u32, all(F as u32), all(128));
        let ask = |corrections: Box<dyn Fn(&mut [u128]) + Send>, sums: Box<dyn Fn(&mut [u128]) + Send>| {
            holder_of((width, checks::K11), keys, tiles, corrections, sums)
        };
        let found = |end: &Result<(), Abort>| failed_check(end) == Some(checks::K11);
        assert_eq!(ask(Box::new(|_| ()), Box::new(|_| ())), Ok(()));
        many(columns, 2, |column| {
            let bit = column * 37 % 128;
            let lie = move |d: &mut [u128]| d[column * tiles] ^= 1 << bit;
            assert!(found(&ask(Box::new(lie), Box::new(|_| ()))), "correction {width:?} {column}");
            let sum = move |s: &mut [u128]| s[1 + column] ^= 1 << bit;
            assert!(found(&ask(Box::new(|_| ()), Box::new(sum))), "sum {width:?} {column}");
        });
        let x = |s: &mut [u128]| s[0] ^= 1 << 127;
        assert!(found(&ask(Box::new(|_| ()), Box::new(x))), "X {width:?}");
    }
    let keys = || Deltas::field(1, F as u32, all(F as u32), all(128));
    for (from, to) in [(0, F), (F, F + 128), (F - 1, F + 1), (0, F + 128)] {
        // the corrections of one group, or of both, are those of another bit
        let lie = move |d: &mut [u128]| (from..to).for_each(|column| d[column * tiles] ^= 4);
        let end = holder_of((Width::Wide, checks::K11), keys, tiles, lie, |_| ());
        assert_eq!(failed_check(&end), Some(checks::K11), "{from} {to}");
    }
}

/// Of long columns every tile is looked at, and two lies about tiles at a distance of a power of two do not
/// make up for each other.
#[test]
fn every_tile_of_long_columns_is_looked_at() {
    let tiles = (1 << 11) + 3;
    let told = |lies: Vec<usize>| {
        let message = AtomicUsize::new(0);
        let corrections = move |d: &mut [u128]| {
            let chunk = CHUNK * message.fetch_add(1, Ordering::Relaxed);
            let each = CHUNK.min(tiles - chunk);
            let here = lies.iter().filter(|tile| (chunk..chunk + each).contains(*tile));
            here.for_each(|tile| d[5 * each + tile - chunk] ^= 1 << 77);
        };
        holder(u128::MAX, tiles, corrections, |_| ())
    };
    assert_eq!(told(Vec::new()), Ok(()));
    for distance in (0..=11).map(|k| 1 << k) {
        assert!(found(&told(vec![distance])), "tile {distance}");
        assert!(found(&told(vec![distance + 2])), "tile {distance} + 2");
        assert!(found(&told(vec![1, 1 + distance])), "tiles at {distance}");
    }
}

/// One bit of a sum differs on one link of five parties: its holder names its maker, whichever they are.
#[test]
fn every_maker_is_checked_by_every_holder() {
    const PARTIES: usize = 5;
    // those of three parties are looked at wherever three parties are
    let later: Vec<_> = links(PARTIES).filter(|(from, to)| from.index().max(to.index()) > 2).collect();
    many(later.len(), 2, |i| {
        let (from, to) = later[i];
        let harness = Harness::new(PARTIES, &PublicParameters::new("lies among many")).patient();
        harness.change(from, to, CHECK.name, 0, |body| body[16] ^= 1);
        let ends = harness.act(|mut session| {
            let me = session.me();
            let deltas = Deltas::labels(1, Delta::drawn(me, |bytes| *bytes = [0x5a; 16]));
            let mut ends = ends_of(PARTIES, me, &deltas, [true; 2]);
            let x = [3, 5].map(|word: u128| word.wrapping_mul(u128::MAX / 11));
            let x = [x.as_slice(); PARTIES];
            let (width, links) = (Width::Macs, Links::All);
            let request = Request { width, each: VoleRows::each, tiles: 2, links, ahead: AHEAD };
            let session = &mut session;
            let made = session.exchange(|session| {
                let begun = ends.begin(session, request, &x)?;
                ends.finish(session, begun, &x, &deltas)
            })?;
            let sums = made.send_sums::<VoleRows>(session, COIN, &x, &ends)?;
            sums.receive(session, checks::W5, &deltas).map(drop)
        });
        let end = &ends[to.index()];
        let named = matches!(end, Err(Abort::CheckFailed { culprit: Some(maker), .. }) if *maker == from);
        assert!(named && failed_check(end) == Some(checks::W5), "{from} {to}: {ends:?}");
    });
}
