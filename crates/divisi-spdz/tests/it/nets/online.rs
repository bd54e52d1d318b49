//! Shapes of what is computed online; a dealer makes the preprocessing.

use super::{dealt, shape, values};
use crate::engines::{given, given_bits};
use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, varied};
use divisi_core::testing::party;
use divisi_core::{
    Abort, Boolean, Bytes, Compares, Convert, Direction, Lanes, Lookup, Lookups, PartyId, ProgramRun,
    Session, Settles,
};
use divisi_field::{Field, Gf2, Gf42, Gf48};
use divisi_spdz::{AuthBit, AuthByte, Host, PublicTable, Spdz, SpdzProtocol, Tiny, TinyBits};
use divisi_symmetric::des::SBOXES;

type Out<'a> = &'a mut ShapeOutcome;

/// Lanes of two calls: three groups with a tail, and a few.
pub const CALLS: [usize; 2] = [130, 5];

/// Everything among so many parties.
pub fn shapes(parties: usize) -> Vec<NetShape> {
    vec![
        shape("lookups of bytes", parties, |session, seed, out| {
            bytes(session, seed, out, SpdzProtocol::Lookup)
        }),
        shape("lookups of bytes of two", 2, |session, seed, out| {
            bytes(session, seed, out, SpdzProtocol::Lookup)
        }),
        shape("products of bytes", parties, |session, seed, out| {
            bytes(session, seed, out, SpdzProtocol::RivainProuff)
        }),
        shape("decompositions", parties, |session, seed, out| {
            bytes(session, seed, out, SpdzProtocol::BitDecomposition)
        }),
        shape("lookups of values", parties, lookups_of_values),
        shape("tables of DES", parties, |session, seed, out| {
            tables::<Gf48>(session, seed, out, SpdzProtocol::Lookup)
        }),
        shape("polynomials", parties, |session, seed, out| {
            tables::<Gf48>(session, seed, out, SpdzProtocol::BitDecomposition)
        }),
        shape("all powers", parties, |session, seed, out| {
            tables::<Gf42>(session, seed, out, SpdzProtocol::Raw)
        }),
        shape("TinyTable", parties, tiny),
        shape("TinyTable of bits", parties, tiny_bits),
        shape("programs", parties, programs),
        shape("clients", parties, super::client::clients),
    ]
}

/// Who learns something alone: the second party, and among more than three those behind the third.
fn alone(session: &Session) -> impl Iterator<Item = PartyId> + use<> {
    PartyId::all(session.parties()).filter(|party| party.index() == 1 || party.index() > 2)
}

/// Opens bytes to all parties, and to some alone.
pub fn put<F: Host>(e: &mut Spdz<F>, out: Out<'_>, name: &'static str, x: AuthByte<F>) -> Result<(), Abort> {
    let verified = e.settled(x)?;
    for receiver in alone(e.session()).filter(|_| name == "bytes of 2") {
        if let Some(own) = e.output_to(receiver, verified.clone())? {
            out.put("own", own.to_vec());
        }
    }
    let all: Vec<u8> = e.output(verified)?.into_iter().map(|x| x.0).collect();
    out.put(name, all);
    Ok(())
}

fn put_bits<F: Host>(e: &mut Spdz<F>, out: Out<'_>, name: &'static str, x: AuthBit<F>) -> Result<(), Abort> {
    let verified = e.settled(x)?;
    for receiver in alone(e.session()) {
        if let Some(own) = e.output_bits_to(receiver, verified.clone())? {
            out.put("own bits", own.iter().map(|bit| u8::from(*bit)).collect::<Vec<u8>>());
        }
    }
    out.put(name, e.output(verified)?.into_iter().map(|bit: Gf2| bit.to_bits() as u8).collect::<Vec<u8>>());
    Ok(())
}

/// Bytes of two parties through two layers of S-boxes, both ways, opened to all and to one.
fn bytes(session: Session, seed: u64, out: Out<'_>, protocol: SpdzProtocol) -> Result<(), Abort> {
    let calls = [(1, out.lanes(130)), (2, 5)];
    through_sboxes(&mut dealt::<Gf48>(session, protocol)?, seed, out, &calls)
}

/// The same on an engine: in each call this party gives this many bytes.
pub fn through_sboxes<F: Host>(
    e: &mut Spdz<F>,
    seed: u64,
    out: Out<'_>,
    calls: &[(u8, usize)],
) -> Result<(), Abort> {
    for (owner, lanes) in calls {
        let names = ["bytes of 1", "bytes of 2", "bytes of 3"];
        let mut x = given(e, party(*owner), &values(seed + varied(seed, u64::from(*owner)), *lanes))?;
        let before = x.clone();
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        put(e, out, names[usize::from(*owner) - 1], before)?;
        let after = x.clone();
        e.sbox(Direction::Decrypt, &mut [&mut x])?;
        put(e, out, "sboxes", after)?;
    }
    Ok(())
}

/// Values of two parties in tables of 256 and of 1,024 entries.
fn lookups_of_values(session: Session, seed: u64, out: Out<'_>) -> Result<(), Abort> {
    let mut e = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let many = out.lanes(130) as u16;
    for (owner, (log, lanes)) in [(1, (8, many)), (3, (10, 5)), (2, (8, 3)), (1, (10, 2))] {
        let entry = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 20) as u16;
        let table = PublicTable::new(12, (0..1 << log).map(entry).collect()).unwrap();
        let places: Vec<u16> =
            (0..lanes).map(|i| (varied(seed, u64::from(i) * 37) + seed * 5) as u16 % (1 << log)).collect();
        let mine = (e.session().me() == party(owner)).then_some(&places[..]);
        let x = e.input_values(party(owner), mine, log, places.len())?;
        let y = e.look_up_value(&table, &x)?;
        let y = e.settled(y)?;
        let found = e.output_values(&y)?;
        out.put("entries", found.iter().flat_map(|entry| entry.to_le_bytes()).collect::<Vec<u8>>());
    }
    Ok(())
}

/// Bits of two parties in two tables of DES at once.
fn tables<F: Host>(session: Session, seed: u64, out: Out<'_>, protocol: SpdzProtocol) -> Result<(), Abort> {
    let mut e = dealt::<F>(session, protocol)?;
    for (call, lanes) in [out.lanes(67), 3].into_iter().enumerate() {
        let bits: Vec<bool> = (0..12 * lanes as u64).map(|i| (varied(seed, i * i) + seed) % 7 < 3).collect();
        let x = given_bits(&mut e, party(1 + call as u8), &bits)?;
        let wire = |k: usize| x.gather(&(k * lanes..(k + 1) * lanes).collect::<Vec<_>>()).unwrap();
        let mut layer = [
            Lookup { table: &SBOXES[0], wires: (0..6).map(wire).collect() },
            Lookup { table: &SBOXES[7], wires: (6..12).map(wire).collect() },
        ];
        e.look_up(&mut layer)?;
        for wire in layer.into_iter().flat_map(|lookup| lookup.wires) {
            put_bits(&mut e, out, "bits", wire)?;
        }
        // and whether they are all zero
        let zeros = e.vanish(&[x])?;
        out.put("zeros", zeros.into_iter().map(u8::from).collect::<Vec<u8>>());
    }
    Ok(())
}

/// Bytes that are given, and bytes that are shared already, through two layers of TinyTable.
fn tiny(session: Session, seed: u64, out: Out<'_>) -> Result<(), Abort> {
    let mut engine = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let lanes = out.lanes(CALLS[0]);
    let shared = given(&mut engine, party(2), &values(seed, 3))?;
    let mut tiny = Tiny::new(engine);
    let mut entered = tiny.enter(&[shared])?;
    let [mut own_mask, mut own_public] = entered.remove(0);
    let mask = tiny.engine().input_mask(party(1), lanes)?;
    let mut wire = Tiny::mask(mask.shares().clone());
    for d in [Direction::Encrypt, Direction::Encrypt] {
        tiny.sbox(d, &mut [&mut wire])?;
        tiny.sbox(d, &mut [&mut own_mask])?;
    }
    tiny.open_indices()?;
    let mine = tiny.engine().session().me() == party(1);
    let given = values(seed, lanes);
    let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&given[..]))?);
    for d in [Direction::Encrypt, Direction::Encrypt] {
        tiny.sbox(d, &mut [&mut public])?;
        tiny.sbox(d, &mut [&mut own_public])?;
    }
    for (mask, public) in [(wire, public), (own_mask, own_public)] {
        let x = tiny.output(mask, public)?;
        put(tiny.engine(), out, "twice", x)?;
    }
    Ok(())
}

/// The same for bits and two tables of DES.
fn tiny_bits(session: Session, seed: u64, out: Out<'_>) -> Result<(), Abort> {
    let mut engine = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let lanes = out.lanes(67);
    let bits: Vec<bool> = (0..6 * lanes as u64).map(|i| (varied(seed, i * i) + seed) % 7 < 3).collect();
    let shared = given_bits(&mut engine, party(2), &bits[..6])?;
    let planes: Vec<AuthBit<Gf48>> = (0..6).map(|k| shared.gather(&[k]).unwrap()).collect();
    let mut tiny = TinyBits::new(engine);
    let entered = tiny.enter(&planes)?;
    let masks = (0..6).map(|_| tiny.engine().bit_mask(party(1), lanes)).collect::<Result<Vec<_>, _>>()?;
    let wires: [Vec<_>; 2] = [0, 1].map(|run| entered.iter().map(|both| both[run].clone()).collect());
    let [own_masks, own_publics] = wires;
    let masked = masks.iter().map(|mask| TinyBits::mask(mask.shares().clone())).collect();
    let mut first =
        [Lookup { table: &SBOXES[0], wires: masked }, Lookup { table: &SBOXES[7], wires: own_masks }];
    tiny.look_up(&mut first)?;
    tiny.open_indices()?;
    let mine = tiny.engine().session().me() == party(1);
    let mut publics = Vec::new();
    for (mask, bits) in masks.into_iter().zip(bits.chunks(lanes)) {
        publics.push(TinyBits::masked(tiny.engine().masked_bits(mask, mine.then_some(bits))?));
    }
    let mut second =
        [Lookup { table: &SBOXES[0], wires: publics }, Lookup { table: &SBOXES[7], wires: own_publics }];
    tiny.look_up(&mut second)?;
    for (first, second) in first.into_iter().zip(second) {
        for (mask, public) in first.wires.into_iter().zip(second.wires) {
            let x = tiny.output(mask, public)?;
            put_bits(tiny.engine(), out, "bits", x)?;
        }
    }
    Ok(())
}

/// The product of three bits, and of their sums.
pub fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(3);
    let xy = g.and(x[0], x[1]);
    let xyz = g.and(xy, x[2]);
    let sum = g.xor(xyz, x[0]);
    let all = g.and(sum, x[2]);
    g.output(&[sum, all]);
    g.finish()
}

/// Two programs at once, bytes as bits and back, and comparisons of three groups.
fn programs(session: Session, seed: u64, out: Out<'_>) -> Result<(), Abort> {
    let mut e = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    let program = program();
    for call in 0..2 {
        let mut jobs = Vec::new();
        for lanes in [out.lanes(CALLS[0]), CALLS[1]] {
            let wires = (0..3).map(|k| {
                let bits: Vec<bool> = (0..lanes as u64)
                    .map(|i| (varied(seed, i * (k + 2) + call) + seed).is_multiple_of(3))
                    .collect();
                given_bits(&mut e, party(k as u8 + 1), &bits)
            });
            let wires = wires.collect::<Result<Vec<_>, Abort>>()?;
            jobs.push(ProgramRun::new(&program, wires));
        }
        e.run(&mut jobs)?;
        for wire in jobs.into_iter().flat_map(|job| job.wires) {
            put_bits(&mut e, out, "bits", wire)?;
        }
        let x = given(&mut e, party(3), &values(seed, CALLS[0]))?;
        let bits: [AuthBit<Gf48>; 8] = e.convert(x.clone())?;
        let back: AuthByte<Gf48> = e.convert(bits)?;
        put(&mut e, out, "bytes", back)?;
        let zeros = given(&mut e, party(1), &[0; 17])?;
        let one = given(&mut e, party(2), &[[0; 16], [0x80; 16]].concat())?;
        let found = e.vanish(&[x, zeros, one])?;
        out.put("zeros", found.into_iter().map(u8::from).collect::<Vec<u8>>());
    }
    Ok(())
}
