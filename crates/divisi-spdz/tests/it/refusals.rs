//! Lanes and places that do not fit together are refused; the same with those that fit are not.

use crate::engines::{dealt, given, given_bits};
use divisi_core::testing::party;
use divisi_core::{
    Abort, Boolean, Bytes, Compares, Convert, Direction, Lanes, Lookup, LookupOnto, Lookups, Matrix, Misuse,
    ProgramRun, PublicParameters, Settles, Table, local, settle,
};
use divisi_field::{Gf42, Gf48};
use divisi_spdz::{AuthBit, AuthByte, Spdz, SpdzProtocol, Tiny, TinyBit, TinyBits};
use divisi_symmetric::des::SBOXES;
use std::sync::Mutex;

type Engine = Spdz<Gf48>;

/// What each of two parties gets.
fn ends(act: impl Fn(Engine) -> Result<(), Abort> + Sync) -> Vec<Result<(), Abort>> {
    let ends = local::run(2, &PublicParameters::new("refusals"), |session| {
        Ok(dealt::<Gf48>(session, 1, SpdzProtocol::Lookup).and_then(&act))
    });
    ends.unwrap()
}

/// All parties must refuse what `act` asks of their engines, but for one that hears first that another did.
fn refused(what: &str, act: impl Fn(Engine) -> Result<(), Abort> + Sync) {
    let ends = ends(act);
    let misuse = ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. })));
    assert!(misuse && ends.iter().all(Result::is_err), "{what}: {ends:?}");
}

/// `act` gets two numbers of lanes, and must refuse those that differ.
fn must_be_even(what: &str, act: impl Fn(Engine, usize, usize) -> Result<(), Abort> + Sync) {
    let even = ends(|e| act(e, 9, 9));
    assert!(even.iter().all(Result::is_ok), "{what}: {even:?}");
    for (m, n) in [(9, 8), (8, 9), (9, 265), (265, 9)] {
        refused(&format!("{what}, {m} and {n}"), |e| act(e, m, n));
    }
}

fn bytes(e: &mut Engine, lanes: usize) -> Result<AuthByte<Gf48>, Abort> {
    given(e, party(1), &vec![3; lanes])
}

fn bit(e: &mut Engine, lanes: usize) -> Result<AuthBit<Gf48>, Abort> {
    given_bits(e, party(1), &vec![true; lanes])
}

#[test]
fn bytes_of_different_lanes() {
    must_be_even("add", |mut e, m, n| {
        let (mut x, y) = (bytes(&mut e, m)?, bytes(&mut e, n)?);
        e.add(&mut x, &y)
    });
    must_be_even("add_public", |mut e, m, n| {
        let mut x = bytes(&mut e, m)?;
        e.add_public(&mut x, &vec![1; n])
    });
    must_be_even("linear", |mut e, m, n| {
        let mut x = [bytes(&mut e, m)?, bytes(&mut e, n)?];
        e.linear(&Matrix([[1, 2], [3, 4]]), &mut x)
    });
    must_be_even("a byte of bits", |mut e, m, n| {
        let mut x: [AuthBit<Gf48>; 8] = std::array::from_fn(|_| AuthBit::default());
        for (k, x) in x.iter_mut().enumerate() {
            *x = bit(&mut e, if k == 7 { n } else { m })?;
        }
        let byte: Result<AuthByte<Gf48>, Abort> = e.convert(x);
        byte.map(drop)
    });
}

#[test]
fn bits_of_different_lanes() {
    must_be_even("add_bit", |mut e, m, n| {
        let (mut x, y) = (bit(&mut e, m)?, bit(&mut e, n)?);
        e.add_bit(&mut x, &y)
    });
    must_be_even("a program", |mut e, m, n| {
        let program = crate::nets::online::program();
        let wires = vec![bit(&mut e, m)?, bit(&mut e, n)?, bit(&mut e, m)?];
        e.run(&mut [ProgramRun::new(&program, wires)])
    });
    must_be_even("look_up", |mut e, m, n| {
        let wires = [m, m, m, m, m, n].map(|lanes| bit(&mut e, lanes));
        let wires = wires.into_iter().collect::<Result<_, _>>()?;
        e.look_up(&mut [Lookup { table: &SBOXES[0], wires }])
    });
    must_be_even("an index of look_up_onto", |mut e, m, n| onto(&mut e, [m, n], 1, [m; 4], 6));
    must_be_even("what is added to an index", |mut e, m, n| onto(&mut e, [m, m], n, [m; 4], 6));
    must_be_even("a place of look_up_onto", |mut e, m, n| onto(&mut e, [m, m], 1, [m, m, n, m], 6));
    refused("too short an index", |mut e| onto(&mut e, [9, 9], 1, [9; 4], 5));
    refused("too long an index", |mut e| onto(&mut e, [9, 9], 1, [9; 4], 7));
}

/// A lookup in a table of DES that is added to bits of these lanes. The index has `width` bits of the first
/// number of lanes, the last one of the second; what is added to the last has `second`.
fn onto(
    e: &mut Engine,
    [first, last]: [usize; 2],
    second: usize,
    to: [usize; 4],
    width: usize,
) -> Result<(), Abort> {
    let lanes = |k: usize| if k + 1 == width { last } else { first };
    let index = (0..width).map(|k| bit(e, lanes(k))).collect::<Result<Vec<_>, _>>()?;
    let (one, added) = (bit(e, 1)?, bit(e, second)?);
    let mut state = to.into_iter().map(|lanes| bit(e, lanes)).collect::<Result<Vec<_>, _>>()?;
    let index = index.iter().enumerate().map(|(k, bit)| [bit, if k + 1 == width { &added } else { &one }]);
    let index = index.collect();
    e.look_up_onto(&[LookupOnto { table: &SBOXES[0], index, to: (0..4).collect() }], &mut state)
}

/// A program gets as many wires as it has inputs; constants have one lane, and serve all.
#[test]
fn programs_of_other_inputs() {
    let run = |mut e: Engine, wires: usize| {
        let program = crate::nets::online::program();
        let wires = (0..wires).map(|k| bit(&mut e, if k == 0 { 9 } else { 1 })).collect::<Result<_, _>>()?;
        e.run(&mut [ProgramRun::new(&program, wires)])
    };
    assert!(ends(|e| run(e, 3)).iter().all(Result::is_ok));
    for wires in [0, 2, 4, 259] {
        refused(&format!("{wires} wires"), |e| run(e, wires));
    }
}

/// Who gives an input gives a value for each lane.
#[test]
fn inputs_of_other_lanes() {
    let mine = |e: &mut Engine, count: usize| (e.session().me() == party(1)).then_some(count);
    must_be_even("bytes", |mut e, lanes, given| {
        let values = mine(&mut e, given).map(|count| vec![7; count]);
        e.input(party(1), values.as_deref(), lanes).map(drop)
    });
    must_be_even("bits", |mut e, lanes, given| {
        let values = mine(&mut e, given).map(|count| vec![true; count]);
        e.input_bits(party(1), values.as_deref(), lanes).map(drop)
    });
}

/// What an engine owes, the engine of another session does not pay.
#[test]
fn debts_of_another_engine() {
    let owed = local::run(2, &PublicParameters::new("refusals"), |session| {
        let mut e = dealt::<Gf48>(session, 1, SpdzProtocol::Lookup)?;
        let x = bytes(&mut e, 3)?;
        e.closed(x)
    });
    let owed = Mutex::new(owed.unwrap().into_iter().map(Some).collect::<Vec<_>>());
    refused("a debt of another session", |mut e| {
        let me = e.session().me().index();
        let pending = owed.lock().unwrap()[me].take().unwrap();
        settle(&mut e, pending).map(drop)
    });
}

/// MACs whose field does not have that of bytes in it do not multiply bytes.
#[test]
fn products_of_bytes_under_macs_of_other_fields() {
    let on = |act: fn(&mut Spdz<Gf42>, AuthByte<Gf42>) -> Result<(), Abort>| {
        let ends = local::run(2, &PublicParameters::new("refusals"), |session| {
            let begun = dealt::<Gf42>(session, 1, SpdzProtocol::BitDecomposition);
            Ok(begun.and_then(|mut e| {
                let x = given(&mut e, party(1), &[3; 2])?;
                act(&mut e, x)
            }))
        });
        ends.unwrap()
    };
    let all = [
        on(|e, x| e.vanish(&[x]).map(drop)),
        on(|e, mut x| e.sbox(Direction::Encrypt, &mut [&mut x])),
        on(|e, mut x| e.sbox(Direction::Decrypt, &mut [&mut x])),
    ];
    for ends in all {
        let refused = |end: &_| matches!(end, Err(Abort::Misuse { what: Misuse::Unsupported, .. }));
        assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
    }
    assert!(on(|e, x| e.settled(x).map(drop)).iter().all(Result::is_ok));
}

/// A group without bytes is no group of zeros.
#[test]
fn groups_of_nothing() {
    refused("no bytes", |mut e| {
        let groups = [bytes(&mut e, 2)?, AuthByte::default()];
        e.vanish(&groups).map(drop)
    });
}

/// Values have as many lanes as the masks that were looked up for them.
#[test]
fn values_that_no_mask_was_made_for() {
    must_be_even("public values are mixed", |e, m, n| {
        let mut tiny = Tiny::new(e);
        let shared = [bytes(tiny.engine(), m)?, bytes(tiny.engine(), n)?];
        let mut all = tiny.enter(&shared)?.into_iter().map(|[_, public]| public);
        let mut all = std::array::from_fn::<_, 2, _>(|_| all.next().unwrap());
        tiny.open_indices()?;
        tiny.linear(&Matrix([[1, 2], [3, 4]]), &mut all)
    });
    must_be_even("a constant is added", |e, m, n| {
        let mut tiny = Tiny::new(e);
        let shared = [bytes(tiny.engine(), m)?];
        let [_, mut public] = tiny.enter(&shared)?.remove(0);
        tiny.open_indices()?;
        tiny.add_public(&mut public, &vec![1; n])
    });
    must_be_even("what is public is added", |e, m, n| {
        let mut tiny = Tiny::new(e);
        let shared = [bytes(tiny.engine(), m)?, bytes(tiny.engine(), n)?];
        let all: Vec<_> = tiny.enter(&shared)?.into_iter().map(|[_, public]| public).collect();
        tiny.open_indices()?;
        tiny.add(&mut all[0].clone(), &all[1])
    });
    must_be_even("TinyTable", |e, m, n| {
        let mut tiny = Tiny::new(e);
        let mask = tiny.engine().input_mask(party(1), m)?;
        let mut wire = Tiny::mask(mask.shares().clone());
        tiny.sbox(Direction::Encrypt, &mut [&mut wire])?;
        tiny.open_indices()?;
        let other = tiny.engine().input_mask(party(1), n)?;
        let mine = (tiny.engine().session().me() == party(1)).then(|| vec![1; n]);
        let mut public = Tiny::masked(&tiny.engine().masked_input(other, mine.as_deref())?);
        tiny.sbox(Direction::Encrypt, &mut [&mut public])
    });
}

fn in_tiny_table(e: Engine, table: &'static Table) -> Result<(), Abort> {
    let mut tiny = TinyBits::new(e);
    let mask = tiny.engine().bit_mask(party(1), 3)?;
    let wires = vec![TinyBits::mask(mask.shares().clone()); table.index];
    tiny.look_up(&mut [Lookup { table, wires }])
}

/// A table has as many values as its index has places, and indices and values of 1 to 6 bits; values of
/// TinyTable have at most four.
#[test]
fn tables_of_other_sizes() {
    for width in [4, 5, 6] {
        let table: &'static Table = Box::leak(Box::new(Table { index: 6, width, values: &[0; 64] }));
        if width > 4 {
            refused("values of more bits in TinyTable", |e| in_tiny_table(e, table));
        } else {
            assert!(ends(|e| in_tiny_table(e, table)).iter().all(Result::is_ok));
        }
    }
    let sizes = [(6, 4, 63), (6, 4, 65), (6, 4, 320), (7, 4, 128), (6, 7, 64), (6, 0, 64), (0, 4, 1)];
    for (index, width, count) in sizes {
        let table: &'static Table =
            Box::leak(Box::new(Table { index, width, values: vec![0; count].leak() }));
        let what = |act: &str| format!("{act} in a table of {index}, {width}, {count}");
        refused(&what("prepare_lookups"), |mut e| e.prepare_lookups(&[(table, 3)]));
        refused(&what("look_up"), |mut e| {
            let wires = (0..index).map(|_| bit(&mut e, 3)).collect::<Result<_, _>>()?;
            e.look_up(&mut [Lookup { table, wires }])
        });
        refused(&what("look_up_onto"), |mut e| {
            let x = bit(&mut e, 3)?;
            let mut state = vec![x.clone(); width];
            let lookup = LookupOnto { table, index: vec![[&x, &x]; index], to: (0..width).collect() };
            e.look_up_onto(&[lookup], &mut state)
        });
        refused(&what("TinyTable"), |e| in_tiny_table(e, table));
    }
}

/// A lookup has wires of the same lanes, and another one in the same layer may have others.
#[test]
fn wires_of_other_lanes_in_a_tiny_circuit() {
    let look_up = |e: Engine, lanes: [usize; 6]| {
        let mut tiny = TinyBits::new(e);
        let mut wire = |lanes| Ok(TinyBits::mask(tiny.engine().bit_mask(party(1), lanes)?.shares().clone()));
        let lookups = [[3; 6], lanes, [1; 6]].map(|lanes| lanes.into_iter().map(&mut wire).collect());
        let lookups: Vec<Vec<TinyBit<Gf48>>> = lookups.into_iter().collect::<Result<_, Abort>>()?;
        let layer = lookups.into_iter().map(|wires| Lookup { table: &SBOXES[1], wires });
        tiny.look_up(&mut layer.collect::<Vec<_>>())
    };
    assert!(ends(|e| look_up(e, [5; 6])).iter().all(Result::is_ok));
    for at in 0..6 {
        let mut lanes = [3; 6];
        lanes[at] = 2;
        refused(&format!("wire {at}"), |e| look_up(e, lanes));
    }
}

/// The values of a layer go through the tables, in the number and in the lanes, that its masks went through.
#[test]
fn layers_that_no_mask_went_through() {
    let run = |e: Engine, table: usize, count: usize, lanes: usize| {
        let mut tiny = TinyBits::new(e);
        let shared = vec![bit(tiny.engine(), 9)?; 6];
        let (masks, publics): (Vec<_>, Vec<_>) =
            tiny.enter(&shared)?.into_iter().map(|[mask, public]| (mask, public)).unzip();
        let layer = |table: usize, wires: Vec<TinyBit<Gf48>>| Lookup { table: &SBOXES[table], wires };
        tiny.look_up(&mut [layer(0, masks.clone()), layer(5, masks)])?;
        tiny.open_indices()?;
        let publics: Vec<_> = publics.iter().map(|x| first_lanes(x, lanes)).collect();
        let mut all = [layer(0, publics.clone()), layer(table, publics.clone()), layer(5, publics)];
        tiny.look_up(&mut all[..count])
    };
    assert!(ends(|e| run(e, 5, 2, 9)).iter().all(Result::is_ok));
    for (table, count, lanes) in [(4, 2, 9), (5, 0, 9), (5, 1, 9), (5, 3, 9), (5, 2, 8), (5, 2, 1)] {
        refused(&format!("table {table}, {count} lookups, {lanes} lanes"), |e| run(e, table, count, lanes));
    }
}

/// Masked indices are opened once.
#[test]
fn indices_that_were_opened() {
    refused("bytes", |e| {
        let mut tiny = Tiny::new(e);
        tiny.open_indices()?;
        tiny.open_indices()
    });
    refused("bits", |e| {
        let mut tiny = TinyBits::new(e);
        tiny.open_indices()?;
        tiny.open_indices()
    });
}

/// Values that are given have 1 to 16 bits, and no more than is said.
#[test]
fn values_of_other_widths() {
    let give = |mut e: Engine, width: usize, value: u16| {
        let values = (e.session().me() == party(1)).then_some([1, value]);
        e.input_values(party(1), values.as_ref().map(|values| &values[..]), width, 2).map(drop)
    };
    for (width, value, fine) in [(1, 1, true), (16, 0xffff, true), (7, 127, true), (7, 128, false)] {
        let what = format!("{value} of {width} bits");
        if fine {
            assert!(ends(|e| give(e, width, value)).iter().all(Result::is_ok), "{what}");
        } else {
            refused(&what, |e| give(e, width, value));
        }
    }
    for width in [0, 17, 257] {
        refused(&format!("{width} bits"), |mut e| e.input_values(party(1), None, width, 2).map(drop));
    }
}

/// `act` must be refused because something was not computed.
fn not_computed(what: &str, act: impl Fn(Engine) -> Result<(), Abort> + Sync) {
    let ends = ends(act);
    let told = ends.iter().any(|end| matches!(end, Err(Abort::Misuse { what: Misuse::NotComputed, .. })));
    assert!(told && ends.iter().all(Result::is_err), "{what}: {ends:?}");
}

/// The outputs of TinyTable are those of one wire, and are given when all lookups were evaluated.
#[test]
fn outputs_that_no_run_computed() {
    let layers = |planned: usize, evaluated: usize, [m, n]: [usize; 2]| {
        move |e: Engine| {
            let mut tiny = Tiny::new(e);
            let shared = bytes(tiny.engine(), 9)?;
            let [mut mask, mut public] = tiny.enter(&[shared])?.remove(0);
            (0..planned).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut mask]))?;
            tiny.open_indices()?;
            (0..evaluated).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut public]))?;
            let [mask, public] = [(mask, m), (public, n)].map(|(x, lanes)| first_lanes(&x, lanes));
            tiny.output(mask, public).map(drop)
        }
    };
    let layers_of_bits = |planned: usize, evaluated: usize, [m, n]: [usize; 2]| {
        move |e: Engine| {
            let mut tiny = TinyBits::new(e);
            let shared = vec![bit(tiny.engine(), 9)?; 6];
            let entered = tiny.enter(&shared)?;
            let [mut masks, mut publics] =
                [0, 1].map(|run| entered.iter().map(|both| both[run].clone()).collect::<Vec<_>>());
            let through = |tiny: &mut TinyBits<Gf48>, wires: &mut Vec<TinyBit<Gf48>>| -> Result<(), Abort> {
                let mut layer = [Lookup { table: &SBOXES[0], wires: wires.clone() }];
                tiny.look_up(&mut layer)?;
                wires.splice(..4, layer[0].wires.clone());
                Ok(())
            };
            (0..planned).try_for_each(|_| through(&mut tiny, &mut masks))?;
            tiny.open_indices()?;
            (0..evaluated).try_for_each(|_| through(&mut tiny, &mut publics))?;
            let [mask, public] = [(&masks[0], m), (&publics[0], n)].map(|(x, lanes)| first_lanes(x, lanes));
            tiny.output(mask, public).map(drop)
        }
    };
    let right = [ends(layers(2, 2, [9, 9])), ends(layers_of_bits(2, 2, [9, 9]))].concat();
    assert!(right.iter().all(Result::is_ok), "{right:?}");
    for (evaluated, lanes) in [(0, [9, 9]), (1, [9, 9]), (2, [9, 8]), (2, [8, 9]), (2, [9, 1]), (2, [1, 9])] {
        let what = format!("{evaluated} of 2, {lanes:?}");
        not_computed(&format!("bytes, {what}"), layers(2, evaluated, lanes));
        not_computed(&format!("bits, {what}"), layers_of_bits(2, evaluated, lanes));
    }
}

fn first_lanes<B: Lanes>(x: &B, lanes: usize) -> B {
    x.gather(&(0..lanes).collect::<Vec<_>>()).unwrap()
}
