//! The two worlds of what one party gives and alone learns again, while all others are corrupt; and of what
//! honest parties give, of whose sum a corrupt client learns something.

use super::values;
use crate::engines::{dealt, given, given_bits};
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::testing::party;
use divisi_core::{Abort, Boolean, Bytes, Direction, Lanes, Lookup, Lookups, ProgramRun, Session, Settles};
use divisi_field::Gf48;
use divisi_spdz::{AuthByte, PublicTable, Spdz, SpdzProtocol, Tiny};
use divisi_symmetric::des::SBOXES;

type Engine = Spdz<Gf48>;

/// The lanes of each call.
const CALLS: [usize; 2] = [9, 3];

/// An engine whose dealer draws something else in each run.
fn engine(session: Session, run: WorldRun, protocol: SpdzProtocol) -> Result<Engine, Abort> {
    dealt(session, run.seed as u8, protocol)
}

fn to_owner(e: &mut Engine, x: AuthByte<Gf48>) -> Result<(), Abort> {
    let verified = e.settled(x)?;
    e.output_to(party(1), verified).map(drop)
}

/// In one world all calls have the same secret, in the other one each has its own, so that a mask which
/// serves two calls tells them apart.
fn of_call(run: WorldRun, call: usize) -> u64 {
    (run.world * (call + 1)) as u64
}

/// Bytes through S-boxes, both ways, in two calls.
fn sboxes(session: Session, run: WorldRun, protocol: SpdzProtocol) -> Result<Vec<u8>, Abort> {
    let mut e = engine(session, run, protocol)?;
    for (call, lanes) in CALLS.into_iter().enumerate() {
        let mut x = given(&mut e, party(1), &values(of_call(run, call), lanes))?;
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            e.sbox(direction, &mut [&mut x])?;
        }
        to_owner(&mut e, x)?;
    }
    Ok(Vec::new())
}

/// In two calls, values in a table, of which nobody learns what was found.
fn table(session: Session, run: WorldRun) -> Result<Vec<u8>, Abort> {
    let mut e = engine(session, run, SpdzProtocol::Lookup)?;
    let table = PublicTable::new(12, (0..256).map(|i: u16| i.wrapping_mul(77) & 0xfff).collect()).unwrap();
    for (call, lanes) in CALLS.into_iter().enumerate() {
        let place = |i: usize| ((i as u64 * 37 + of_call(run, call) * 5) % 256) as u16;
        let places: Vec<u16> = (0..lanes).map(place).collect();
        let mine = (e.session().me() == party(1)).then_some(&places[..]);
        let x = e.input_values(party(1), mine, 8, lanes)?;
        let y = e.look_up_value(&table, &x)?;
        e.settled(y)?;
    }
    Ok(Vec::new())
}

/// In two calls, bits in a table of DES, and in a program.
fn bits(session: Session, run: WorldRun, protocol: SpdzProtocol) -> Result<Vec<u8>, Abort> {
    let mut e = engine(session, run, protocol)?;
    for (call, lanes) in [4, 1].into_iter().enumerate() {
        let secret: Vec<bool> = (0..6 * lanes as u64).map(|i| (i * i + of_call(run, call)) % 7 < 3).collect();
        let x = given_bits(&mut e, party(1), &secret)?;
        let wire = |k: usize| x.gather(&(k * lanes..(k + 1) * lanes).collect::<Vec<_>>()).unwrap();
        let mut layer = [Lookup { table: &SBOXES[0], wires: (0..6).map(wire).collect() }];
        e.look_up(&mut layer)?;
        let program = super::online::program();
        let mut jobs = [ProgramRun::new(&program, (0..3).map(wire).collect())];
        e.run(&mut jobs)?;
        let jobs = jobs.into_iter().flat_map(|job| job.wires);
        for wire in layer.into_iter().flat_map(|lookup| lookup.wires).chain(jobs) {
            let verified = e.settled(wire)?;
            e.output_bits_to(party(1), verified)?;
        }
    }
    Ok(Vec::new())
}

/// TinyTable, in which masks are looked up before values are known.
fn tiny(session: Session, run: WorldRun) -> Result<Vec<u8>, Abort> {
    let mut tiny = Tiny::new(engine(session, run, SpdzProtocol::Lookup)?);
    let given = values(run.world as u64, 9);
    let mask = tiny.engine().input_mask(party(1), given.len())?;
    let mut wire = Tiny::mask(mask.shares().clone());
    tiny.sbox(Direction::Encrypt, &mut [&mut wire])?;
    tiny.open_indices()?;
    let mine = tiny.engine().session().me() == party(1);
    let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&given[..]))?);
    tiny.sbox(Direction::Encrypt, &mut [&mut public])?;
    let x = tiny.output(wire, public)?;
    to_owner(tiny.engine(), x)?;
    Ok(Vec::new())
}

#[test]
fn the_others_cannot_tell_two_worlds_apart() {
    use SpdzProtocol::{BitDecomposition, Lookup, Raw, RivainProuff};
    let mut shapes = Vec::new();
    for (parties, corrupt) in [(2, &[2][..]), (3, &[2, 3])] {
        let mut add = |name: &str, play: fn(Session, WorldRun) -> Result<Vec<u8>, Abort>| {
            shapes.push(WorldShape::new(format!("{name} of {parties}"), parties, corrupt, play));
        };
        add("lookups", |session, run| sboxes(session, run, Lookup));
        add("products", |session, run| sboxes(session, run, RivainProuff));
        add("decompositions", |session, run| sboxes(session, run, BitDecomposition));
        add("values", table);
        add("tables of DES", |session, run| bits(session, run, Lookup));
        add("polynomials", |session, run| bits(session, run, BitDecomposition));
        add("powers of DES", |session, run| bits(session, run, Raw));
        add("TinyTable", tiny);
        add("a client", super::client::secret);
    }
    // the client is corrupt, and of the parties the one that it sits with
    shapes.push(WorldShape::new("what a client learns", 3, &[1], super::client::sums));
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}
