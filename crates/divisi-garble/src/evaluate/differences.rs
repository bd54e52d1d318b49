//! The evaluator compares the MACs of all garblers, however many it hashes together.

use super::{Reader, Received};
use crate::batch::{Batch, Op};
use crate::hash::{Call, Name, Oracle};
use crate::labels::{Labels, Values};
use crate::masks::{Garbling, Operands};
use crate::share::{Rows, Seats, spread};
use crate::table::{GROUP, GarblingForm, Layout};
use divisi_core::testing::run;
use divisi_core::{PartyId, Prg, PublicParameters, Session};
use divisi_ot::Delta;

/// More than are hashed together.
const ANDS: usize = 40;

/// More than numbers of 16 bits can count.
const MANY: usize = (1 << 16) + 40;

/// One party garbles for `n` - 1, whose shares of masks are zero, and evaluates. Returns whether there was no
/// difference, after each change: in the table of each garbler, in its first and in its last AND, of a
/// bit of a share or of its MAC. In the end two things change together, in the same way.
fn agrees(session: &Session, form: GarblingForm, n: usize, ands: usize) -> Vec<bool> {
    let (oracle, layout) = (Oracle::new(session), Layout::new(form, n, 40));
    let mut ops = vec![Op::And { x: 0, y: 1 }; ands];
    ops.push(Op::Sum { out: 2, terms: ands as u32 });
    let batch = Batch { ops, ands };
    let parties: Vec<PartyId> = PartyId::all(n).collect();
    let calls = |from: PartyId| {
        let name = Name { call: Call::Rows, from, to: parties[n - 1], gate: 0 };
        oracle.named(session, name, layout.targets())
    };
    let zero = || {
        let rows = || Rows::zero(n - 1, ands);
        Garbling { operands: Operands { alpha: rows(), beta: rows() }, sigma: rows() }
    };
    let delta = |party: PartyId| Delta::drawn(party, |bytes| bytes.fill(7 + party.number()));
    let masked = [1, 0];
    let (mut tables, mut known) = (Vec::new(), vec![0; 2 * (n - 1)]);
    for (garbler, party) in parties[..n - 1].iter().enumerate() {
        let (inputs, delta) = ([3, 1 << 70].map(|word: u128| word + garbler as u128), delta(*party));
        for wire in 0..2 {
            known[wire * (n - 1) + garbler] = inputs[wire] ^ spread(masked[wire]) & delta.get();
        }
        let (mut labels, mut prg) = (Labels::new(3, &inputs), Prg::new(&[garbler as u8; 16]));
        tables.push(labels.garble(layout, &delta, n - 2, calls(*party), &mut prg, &batch, zero().product()));
    }
    let evaluated = |tables: &[Vec<u8>]| {
        let mut values = Values::new(Seats { me: n - 1, n }, 3, &masked, &known);
        let received: Vec<Received<'_>> =
            tables.iter().map(|table| Received::new(layout, n - 2, ands, table)).collect();
        let calls = parties[..n - 1].iter().map(|party| calls(*party)).collect();
        values.evaluate(layout, &delta(parties[n - 1]), calls, &batch, &mut zero(), &received);
        values.difference.is_zero()
    };
    let mut same = vec![evaluated(&tables)];
    let mut places = Vec::new();
    for garbler in 0..n - 1 {
        for and in [0, ands - 1] {
            let bit = if form == GarblingForm::Paper { 2 } else { 0 };
            let (mac, _) = mac_of(layout);
            let bit = 8 * layout.bytes() * ands + layout.bits() * and + bit;
            for at in [bit, 8 * (layout.bytes() * and + mac)] {
                let mut wrong = tables.clone();
                wrong[garbler][at / 8] ^= 1 << (at % 8);
                same.push(evaluated(&wrong));
                places.push((garbler, at));
            }
        }
    }
    // two bits, or the same bits of two MACs: of one garbler, and of neighbours
    for pair in places.windows(5).flat_map(|five| [[five[0], five[2]], [five[0], five[4]]]) {
        let mut wrong = tables.clone();
        pair.iter().for_each(|(garbler, at)| wrong[*garbler][at / 8] ^= 1 << (at % 8));
        same.push(evaluated(&wrong));
    }
    // each bit of the first MAC that is read
    let (mac, bits) = mac_of(layout);
    for bit in (0..bits).filter(|_| ands == ANDS && n < 4) {
        let (mut wrong, at) = (tables.clone(), 8 * mac + bit);
        wrong[0][at / 8] ^= 1 << (at % 8);
        same.push(evaluated(&wrong));
    }
    same
}

/// Where, in an AND's table, the MAC begins that is read for the masked values 1 and 0, and how many bits it
/// has: of rows the third one is read, whose last MAC is ours.
fn mac_of(layout: Layout) -> (usize, usize) {
    match layout.form {
        GarblingForm::Improved => (layout.bytes() - 3 * layout.mac_bytes, 8 * layout.mac_bytes),
        GarblingForm::Paper => (16 * (3 * layout.n - 2), 128),
    }
}

#[test]
fn a_wrong_mac_of_any_garbler_is_a_difference() {
    let sizes = [(2, ANDS), (3, ANDS), (4, ANDS), (10, ANDS), (17, ANDS), (3, MANY)];
    for ((n, ands), form) in sizes.into_iter().flat_map(|size| GarblingForm::ALL.map(|form| (size, form))) {
        let ends = run(2, &PublicParameters::new("tests of differences"), |session| {
            Ok(if session.me() == PartyId::P1 { agrees(&session, form, n, ands) } else { Vec::new() })
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let wrong = ends[0].iter().skip(1).enumerate().filter(|(_, same)| **same).map(|(case, _)| case);
        assert!(ends[0][0] && ends[0].len() > 4 * (n - 1), "{n} {form:?}");
        assert_eq!(wrong.collect::<Vec<_>>(), [0; 0], "{n} {form:?}");
    }
}

/// What is hashed at once, one garbler's labels at least, has room from the beginning: a vector that grows
/// leaves its old copy in memory.
#[test]
fn vectors_of_labels_never_grow() {
    for (n, form) in [2, 3, 17, 40, 128].into_iter().flat_map(|n| GarblingForm::ALL.map(|form| (n, form))) {
        let layout = Layout::new(form, n, 40);
        let (pads, inputs) = Reader::reserve(layout, n - 1, GROUP);
        let room = [inputs.capacity(), pads.capacity() / layout.blocks()];
        assert!(room.iter().all(|labels| *labels >= 2 * GROUP), "{n} {form:?}: {room:?}");
    }
}
