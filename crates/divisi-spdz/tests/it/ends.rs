//! Computations with more lanes than any chunk, list or counter of them is likely to end at: the last value
//! of every message is checked.

use crate::engines::{dealt, given, given_bits};
use divisi_core::testing::{Harness, failed_check, party, sent};
use divisi_core::{
    Abort, Boolean, Bytes, Convert, Direction, Lookup, LookupOnto, Lookups, ProgramRun, PublicParameters,
    Session, Settles,
};
use divisi_field::{Gf42, Gf48};
use divisi_spdz::{AuthBit, Host, PublicTable, Spdz, SpdzProtocol, Tiny, TinyBits, checks};
use divisi_symmetric::des::SBOXES;

/// Lanes of what takes no tables.
const MANY: usize = (1 << 16) + 320;
/// Lanes of what does.
const TABLES: usize = 4_160;

/// The number of the message that P_2 changes, among those that it sends to P_1, if there is one.
type Changed = Option<usize>;

/// How a run ends in which P_2 changes the last value of a message, and how long its messages are.
fn ends(
    run: &(impl Fn(Session) -> Result<(), Abort> + Sync),
    changed: Changed,
) -> (Vec<Result<(), Abort>>, Vec<usize>) {
    let harness = Harness::new(2, &PublicParameters::new("ends")).patient();
    let recordings = harness.recordings();
    let mut number = 0;
    harness.hand(party(2), party(1), move |mut frame| {
        if let (true, Some(last)) = (changed == Some(number), frame.body.last_mut()) {
            *last ^= 1;
        }
        number += 1;
        vec![frame]
    });
    let ends = harness.act(run);
    let lengths = sent(&recordings)[&(party(2), party(1))].iter().map(|frame| frame.body.len()).collect();
    (ends, lengths)
}

/// Demands that a lie about the last value of any message of at least `least` bytes fails a check of MACs at
/// the latest when the run is over.
fn all_ends_are_checked(least: usize, what: &str, run: impl Fn(Session) -> Result<(), Abort> + Sync) {
    let (honest, lengths) = ends(&run, None);
    assert!(honest.iter().all(Result::is_ok), "{what}: {honest:?}");
    let long = lengths.iter().enumerate().filter(|(_, length)| **length >= least);
    let numbers: Vec<usize> = long.map(|(number, _)| number).collect();
    assert!(!numbers.is_empty(), "{what}: {lengths:?}");
    for number in numbers {
        let (ends, _) = ends(&run, Some(number));
        assert!(ends.iter().all(Result::is_err), "{what}: {number} of {lengths:?}");
        let found = ends.iter().any(|end| failed_check(end) == Some(checks::K4));
        assert!(found, "{what}: {number} of {lengths:?}: {ends:?}");
    }
}

fn engine<F: Host>(session: Session, protocol: SpdzProtocol) -> Result<Spdz<F>, Abort> {
    dealt(session, 5, protocol)
}

fn bytes(session: Session, protocol: SpdzProtocol, lanes: usize) -> Result<(), Abort> {
    let mut e = engine::<Gf48>(session, protocol)?;
    let mut x = given(&mut e, party(1), &vec![0x53; lanes])?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    e.sbox(Direction::Decrypt, &mut [&mut x])?;
    let verified = e.settled(x)?;
    e.output(verified).map(drop)
}

#[test]
fn ends_of_layers_of_bytes() {
    use SpdzProtocol::{BitDecomposition, Lookup, RivainProuff};
    for (protocol, lanes) in [(Lookup, TABLES), (RivainProuff, TABLES), (BitDecomposition, MANY)] {
        all_ends_are_checked(lanes, "bytes", |session| bytes(session, protocol, lanes));
    }
}

fn bits<F: Host>(session: Session, protocol: SpdzProtocol, lanes: usize) -> Result<(), Abort> {
    let mut e = engine::<F>(session, protocol)?;
    let x = given_bits(&mut e, party(1), &vec![true; lanes])?;
    let mut layer = [Lookup { table: &SBOXES[3], wires: vec![x.clone(); 6] }];
    e.look_up(&mut layer)?;
    let index: Vec<[&AuthBit<F>; 2]> = vec![[&x, &layer[0].wires[0]]; 6];
    let onto = [LookupOnto { table: &SBOXES[5], index, to: vec![0, 1, 2, 3] }];
    e.look_up_onto(&onto, &mut vec![x.clone(); 4])?;
    e.settled(()).map(drop)
}

#[test]
fn ends_of_tables_of_bits() {
    use SpdzProtocol::{BitDecomposition, Lookup, Raw};
    let least = TABLES / 8;
    all_ends_are_checked(least, "tables", |session| bits::<Gf48>(session, Lookup, TABLES));
    all_ends_are_checked(least, "polynomials", |session| bits::<Gf48>(session, BitDecomposition, TABLES));
    all_ends_are_checked(least, "powers", |session| bits::<Gf42>(session, Raw, TABLES));
}

#[test]
fn ends_of_programs_and_conversions() {
    all_ends_are_checked(MANY / 8, "programs", |session| {
        let mut e = engine::<Gf48>(session, SpdzProtocol::Lookup)?;
        let x = given_bits(&mut e, party(1), &vec![true; MANY])?;
        let program = crate::nets::online::program();
        e.run(&mut [ProgramRun::new(&program, vec![x; 3])])?;
        let x = given(&mut e, party(1), &vec![7; MANY])?;
        let bits: [AuthBit<Gf48>; 8] = e.convert(x)?;
        let verified = e.settled(bits[7].clone())?;
        e.output(verified).map(drop)
    });
}

#[test]
fn ends_of_lookups_of_values() {
    for (log, lanes) in [(1, MANY), (6, TABLES)] {
        all_ends_are_checked(lanes / 8, "values", |session| {
            let mut e = engine::<Gf48>(session, SpdzProtocol::Lookup)?;
            let table = PublicTable::new(3, (0..1 << log).map(|i| i % 8).collect()).unwrap();
            let mine = e.session().me() == party(1);
            let x = e.input_values(party(1), mine.then_some(&vec![1; lanes][..]), log, lanes)?;
            let y = e.look_up_value(&table, &x)?;
            let verified = e.settled(y)?;
            e.output_values(&verified).map(drop)
        });
    }
}

#[test]
fn ends_of_tinytable() {
    all_ends_are_checked(TABLES, "TinyTable", |session| {
        let mut e = engine::<Gf48>(session, SpdzProtocol::Lookup)?;
        let x = given(&mut e, party(1), &vec![9; TABLES])?;
        let mut tiny = Tiny::new(e);
        let [mut mask, mut public] = tiny.enter(&[x])?.remove(0);
        tiny.sbox(Direction::Encrypt, &mut [&mut mask])?;
        tiny.open_indices()?;
        tiny.sbox(Direction::Encrypt, &mut [&mut public])?;
        tiny.engine().settled(()).map(drop)
    });
    all_ends_are_checked(TABLES / 8, "TinyTable of bits", |session| {
        let mut e = engine::<Gf48>(session, SpdzProtocol::Lookup)?;
        let x = given_bits(&mut e, party(1), &vec![true; TABLES])?;
        let mut tiny = TinyBits::new(e);
        let entered = tiny.enter(&vec![x; 6])?;
        let [mut first, mut second] = [0, 1].map(|run| {
            let wires = entered.iter().map(|both| both[run].clone()).collect();
            [Lookup { table: &SBOXES[2], wires }]
        });
        tiny.look_up(&mut first)?;
        tiny.open_indices()?;
        tiny.look_up(&mut second)?;
        tiny.engine().settled(()).map(drop)
    });
}
