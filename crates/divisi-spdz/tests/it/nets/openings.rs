//! What is opened of equal values is never alike: a mask that serves two lanes, chunks, tables, layers or
//! calls would open the same twice, or the same difference of neighbours. And all of it is checked.

use super::dealt;
use crate::engines::{given, given_bits};
use divisi_core::testing::nets::opened_twice;
use divisi_core::testing::{Harness, party, run, sent};
use divisi_core::{
    Abort, Boolean, Bytes, Compares, Convert, Direction, Lookup, LookupOnto, Lookups, ProgramRun,
    PublicParameters, Session, Step,
};
use divisi_field::{Gf42, Gf48};
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::{AuthBit, AuthByte, Bucketed, Host, PublicTable, Source, SpdzProtocol, Tiny, TinyBits};
use divisi_symmetric::des::SBOXES;
use std::collections::BTreeSet;

/// More lanes than any chunk has.
const LANES: usize = 300;

/// The steps whose openings are outputs, and those in which parties agree on parameters.
const PUBLIC: &[&str] = &[
    "divisi_spdz::engine/output",
    "divisi_spdz::engine::values/values.output",
    "divisi_core::session::agree/hello",
    "divisi_core::session::agree/echo",
];

/// The steps in which something occurs twice in what the parties open in a run of this.
fn twice(play: impl Fn(Session) -> Result<(), Abort> + Sync) -> BTreeSet<u32> {
    let harness = Harness::new(2, &PublicParameters::new("openings")).patient();
    let recordings = harness.recordings();
    let ends = harness.act(play);
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let public = PUBLIC.iter().map(|name| Step::new(name).id).collect();
    &opened_twice(&sent(&recordings)) - &public
}

fn layers(session: Session, protocol: SpdzProtocol) -> Result<(), Abort> {
    let mut e = dealt::<Gf48>(session, protocol)?;
    for owner in [1, 2] {
        let mut x = given(&mut e, party(owner), &[0; LANES])?;
        let mut y = given(&mut e, party(owner), &[0; LANES])?;
        for direction in [Direction::Encrypt, Direction::Encrypt, Direction::Decrypt] {
            e.sbox(direction, &mut [&mut x, &mut y])?;
        }
    }
    Ok(())
}

#[test]
fn openings_of_layers_of_bytes() {
    use SpdzProtocol::{BitDecomposition, Lookup, RivainProuff};
    for protocol in [Lookup, RivainProuff, BitDecomposition] {
        assert_eq!(twice(|session| layers(session, protocol)), BTreeSet::new(), "{protocol:?}");
    }
}

/// A table of DES twice in a layer, beside another one; layers that are added to a state; and products.
fn tables<F: Host>(session: Session, protocol: SpdzProtocol) -> Result<(), Abort> {
    let mut e = dealt::<F>(session, protocol)?;
    for _ in 0..2 {
        let x = given_bits(&mut e, party(1), &[false; LANES])?;
        let wires = || vec![x.clone(); 6];
        let places = [0, 0, 7];
        let mut layer = places.map(|table| Lookup { table: &SBOXES[table], wires: wires() });
        e.look_up(&mut layer)?;
        let index: Vec<[&AuthBit<F>; 2]> = vec![[&x, &x]; 6];
        let onto: Vec<_> = places
            .iter()
            .enumerate()
            .map(|(at, table)| LookupOnto {
                table: &SBOXES[*table],
                index: index.clone(),
                to: (4 * at..4 * at + 4).collect(),
            })
            .collect();
        let mut state = vec![x.clone(); 12];
        e.look_up_onto(&onto, &mut state)?;
        let program = super::online::program();
        let mut jobs = [0, 1].map(|_| ProgramRun::new(&program, wires()[..3].to_vec()));
        e.run(&mut jobs)?;
    }
    Ok(())
}

#[test]
fn openings_of_tables_of_bits() {
    use SpdzProtocol::{BitDecomposition, Lookup, Raw};
    assert_eq!(twice(|session| tables::<Gf48>(session, Lookup)), BTreeSet::new());
    assert_eq!(twice(|session| tables::<Gf48>(session, BitDecomposition)), BTreeSet::new());
    assert_eq!(twice(|session| tables::<Gf42>(session, Raw)), BTreeSet::new());
}

/// Two wires that are shared already and one that is given, through two layers of two tables each.
fn tiny(session: Session) -> Result<(), Abort> {
    let mut engine = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let shared = given(&mut engine, party(2), &[0; LANES])?;
    let mut tiny = Tiny::new(engine);
    let mut wires = tiny.enter(&[shared.clone(), shared])?;
    let mask = tiny.engine().input_mask(party(1), LANES)?;
    wires.push([Tiny::mask(mask.shares().clone()), Tiny::masked(&[])]);
    for _ in 0..2 {
        tiny.sbox(Direction::Encrypt, &mut wires.iter_mut().map(|[mask, _]| mask).collect::<Vec<_>>())?;
    }
    tiny.open_indices()?;
    let mine = tiny.engine().session().me() == party(1);
    wires[2][1] = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&[0; LANES][..]))?);
    for _ in 0..2 {
        tiny.sbox(Direction::Encrypt, &mut wires.iter_mut().map(|[_, public]| public).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Bits that are shared already, through a layer of three lookups in two tables.
fn tiny_bits(session: Session) -> Result<(), Abort> {
    let mut engine = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let shared = given_bits(&mut engine, party(2), &[false; LANES])?;
    let mut tiny = TinyBits::new(engine);
    let entered = tiny.enter(&vec![shared; 6])?;
    let layer = |run: usize| {
        let wires: Vec<_> = entered.iter().map(|both| both[run].clone()).collect();
        [0, 0, 7].map(|table| Lookup { table: &SBOXES[table], wires: wires.clone() })
    };
    tiny.look_up(&mut layer(0))?;
    tiny.open_indices()?;
    tiny.look_up(&mut layer(1))
}

#[test]
fn openings_of_tinytable() {
    assert_eq!(twice(tiny), BTreeSet::new());
    assert_eq!(twice(tiny_bits), BTreeSet::new());
}

/// Values in tables, bytes as bits, and comparisons of equal groups.
fn values(session: Session) -> Result<(), Abort> {
    let mut e = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let table = PublicTable::new(4, (0..64).map(|i| i % 16).collect()).unwrap();
    for _ in 0..2 {
        let mine = (e.session().me() == party(1)).then_some(&[0; LANES][..]);
        let x = e.input_values(party(1), mine, 6, LANES)?;
        e.look_up_value(&table, &x)?;
        e.look_up_value(&table, &x)?;
        let x = given(&mut e, party(2), &[7; LANES])?;
        let bits: [AuthBit<Gf48>; 8] = e.convert(x.clone())?;
        let back: AuthByte<Gf48> = e.convert(bits)?;
        e.vanish(&[x, back])?;
        let x = given_bits(&mut e, party(2), &[true; LANES])?;
        e.vanish(&[x.clone(), x])?;
    }
    Ok(())
}

#[test]
fn openings_of_values_and_comparisons() {
    assert_eq!(twice(values), BTreeSet::new());
}

/// Unit vectors of several pieces, which the parties make.
fn units(mut session: Session) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = testing::unsound_over_field(&mut session, config, 48)?;
    let (mut party, mut source) = Bucketed::<Gf48>::over(session, setup)?;
    for _ in 0..2 {
        source.units(&mut party, 8, 9)?;
    }
    Ok(())
}

#[test]
fn openings_of_preprocessing() {
    assert_eq!(twice(units), BTreeSet::new());
}

/// How many values of so many lanes are opened for the next check, in S-boxes and in tables of DES.
fn checked(protocol: SpdzProtocol, lanes: usize) -> u64 {
    let ends = run(2, &PublicParameters::new("openings"), |session| {
        let mut e = dealt::<Gf48>(session, protocol)?;
        let mut x = given(&mut e, party(1), &vec![0; lanes])?;
        let bit = given_bits(&mut e, party(1), &vec![false; lanes])?;
        e.sbox(Direction::Decrypt, &mut [&mut x])?;
        e.look_up(&mut [Lookup { table: &SBOXES[0], wires: vec![bit; 6] }])?;
        Ok(e.session().meter().read().openings)
    });
    assert_eq!(ends[0], ends[1]);
    ends[0].clone().unwrap()
}

/// Of each of many lanes as much is checked as of each of a few, also behind the first chunk.
#[test]
fn every_lane_is_checked() {
    use SpdzProtocol::{BitDecomposition, Lookup, RivainProuff};
    for protocol in [Lookup, RivainProuff, BitDecomposition] {
        assert_eq!(checked(protocol, LANES), LANES as u64 / 3 * checked(protocol, 3), "{protocol:?}");
    }
}
