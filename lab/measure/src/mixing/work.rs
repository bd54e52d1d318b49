//! What a party does in these runs. There are as many lanes as a word has bits, so that opened bits fill
//! words.

use super::{Agreed, Ended, hide};
use crate::noise::mix;
use divisi_bgv::parameters::{BLOCK, FACTORS};
use divisi_bgv::{Ciphertext, Keys, Sampler};
use divisi_circuit::{Build, BuildBit, Gates, Program, plain};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, Counts, Misuse, PartyId, ProgramRun, Session, step};
use divisi_field::zp::Modulus;
use divisi_mixed::conv::{a2e, e2a};
use divisi_mixed::dabit::RandomBits;
use divisi_mixed::gmw::triples_for;
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::vectors::{prep_lut_vectors, times_numbers};
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, num};
use divisi_ot::SetupConfig;

/// The number of instances of everything but lookups.
const LANES: usize = 64;
/// The number of lookups. Each has an index of [`INDEX`] bits.
const LOOKUPS: usize = 32;
/// Bits of an index, and entries of a table.
const INDEX: usize = 2;
const ENTRIES: usize = 1 << INDEX;
/// Bits of a number that B2A makes.
const WIDTH: usize = 4;

/// Value i of input `which`: the values on which runs compute.
fn value(which: u64, i: usize) -> u64 {
    mix(which << 32 | i as u64)
}

/// Secret inputs of one party, in 64 lanes.
fn input(gmw: &mut Gmw, owner: PartyId, mut bits: u64) -> Result<GmwBit, Abort> {
    hide(std::slice::from_mut(&mut bits));
    let own = gmw.session().me() == owner;
    let brought = GmwBit::new(LANES, &[bits]);
    gmw.input(owner, LANES, Some(&brought).filter(|_| own))
}

/// This party's secret share modulo p of a value: those of the others are hashes, the first has the rest.
fn share(session: &Session, p: Modulus, which: u64, i: usize, x: u64) -> u64 {
    let of = |party: usize| p.reduce(value(which ^ (party as u64 + 1) << 16, i));
    let me = session.me().index();
    if me > 0 { of(me) } else { (1..session.parties()).fold(x, |x, party| p.sub(x, of(party))) }
}

/// Shared numbers.
fn shared(session: &Session, p: Modulus, which: u64, numbers: &[u64]) -> Num {
    Num::new(shares_of(session, p, which, numbers))
}

fn shares_of(session: &Session, p: Modulus, which: u64, numbers: &[u64]) -> WipedVec<u64> {
    let mut shares = WipedVec::zeros(numbers.len());
    for (i, (share_of, x)) in shares.iter_mut().zip(numbers).enumerate() {
        *share_of = share(session, p, which, i, *x);
    }
    hide(&mut shares);
    shares
}

/// Shared indices of [`INDEX`] bits, and their values.
fn indices(session: &Session) -> (Vec<GmwBit>, Vec<usize>) {
    let (n, me) = (session.parties(), session.me().index());
    let of = |party: usize, j: usize| value(100 + party as u64, j);
    let bit = |j: usize| {
        let mut word = of(me, j);
        hide(std::slice::from_mut(&mut word));
        GmwBit::new(LOOKUPS, &[word])
    };
    let index = |lane: usize| {
        let bit = |j: usize| (0..n).fold(0, |sum, party| sum ^ of(party, j) >> lane & 1) as usize;
        (0..INDEX).fold(0, |index, j| index | bit(j) << j)
    };
    ((0..INDEX).map(bit).collect(), (0..LOOKUPS).map(index).collect())
}

/// Numbers below p.
fn numbers_of(p: Modulus, which: u64, count: usize) -> Vec<u64> {
    (0..count).map(|i| p.reduce(value(which, i))).collect()
}

fn pairs(found: &[u64], expected: &[u64]) -> Vec<(u64, u64)> {
    // a missing value counts as wrong
    let found = found.iter().copied().chain(std::iter::repeat(u64::MAX));
    found.zip(expected.iter().copied()).collect()
}

/// The numbers whose bits these planes have, a lane each.
fn numbers_in(planes: &[u64]) -> Vec<u64> {
    let bit = |lane: usize, j: usize| (planes[j] >> lane & 1) << j;
    (0..LANES).map(|lane| (0..planes.len()).fold(0, |number, j| number | bit(lane, j))).collect()
}

/// Our shares of random bits, modulo 2 and modulo p.
fn both_worlds(bits: RandomBits) -> Vec<(u64, u64)> {
    let (bits, numbers) = bits.open();
    bits.iter().copied().zip(numbers.iter().copied()).collect()
}

/// Random bits in both worlds, by transfers or by ciphertexts; B2A; lookups in a public table.
pub(super) fn bits(session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let mut mixed = Mixed::new(gmw, p, agreed.ring.as_ref(), None)?;
    mixed.prepare_bits(LANES + WIDTH * LANES)?;
    let bits = both_worlds(mixed.take_bits(LANES)?);
    let planes: Vec<u64> = (0..WIDTH).map(|j| value(1, j)).collect();
    let owner = first(mixed.session())?;
    let x = planes.iter().map(|plane| input(mixed.gmw(), owner, *plane)).collect::<Result<Vec<_>, _>>()?;
    let number = mixed.b2a(&x)?;
    let mut learned = pairs(&num::open(mixed.session(), p, &number)?, &numbers_in(&planes));
    let table = numbers_of(p, 2, ENTRIES);
    let (x, index) = indices(mixed.session());
    let signs = mixed.prep_lut(INDEX, LOOKUPS)?;
    for found in mixed.lookup(&[&table], &x, signs)? {
        let expected: Vec<u64> = index.iter().map(|at| table[*at]).collect();
        learned.extend(pairs(&num::open(mixed.session(), p, &found)?, &expected));
    }
    Ok((Ended { learned, bits, ..Ended::default() }, mixed.session().meter().read()))
}

/// Arithmetic triples and products; A2B; lookups in private tables, whose results the first party learns.
pub(super) fn numbers(session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let mut mixed = Mixed::new(gmw, p, None, agreed.ring.as_ref())?;
    let (left, right) = (numbers_of(p, 1, LANES), numbers_of(p, 2, LANES));
    let [x, y] = [(1, &left), (2, &right)].map(|(which, x)| shared(mixed.session(), p, which, x));
    let z = mixed.multiply(&x, &y)?;
    let expected: Vec<u64> = left.iter().zip(&right).map(|(x, y)| p.mul(*x, *y)).collect();
    let mut learned = pairs(&num::open(mixed.session(), p, &z)?, &expected);

    mixed.prepare_a2b(LANES)?;
    let bits = mixed.a2b(&x)?;
    let all: Vec<PartyId> = PartyId::all(mixed.session().parties()).collect();
    let opened = mixed.gmw().output(&all, &bits)?.unwrap_or_default();
    let number = |lane: usize| opened.iter().rev().fold(0, |number, bit| number << 1 | bit.lane(lane));
    learned.extend(pairs(&(0..LANES).map(number).collect::<Vec<_>>(), &left));

    let entries = numbers_of(p, 3, ENTRIES * LOOKUPS);
    let tables = shared(mixed.session(), p, 3, &entries);
    let (x, index) = indices(mixed.session());
    let signs = mixed.prep_lut(INDEX, LOOKUPS)?;
    let found = mixed.lookup_private(&tables, &x, signs)?;
    let receiver = first(mixed.session())?;
    if let Some(found) = num::open_to(mixed.session(), p, &[receiver], &found)? {
        let expected: Vec<u64> =
            index.iter().enumerate().map(|(lane, at)| entries[lane * ENTRIES + at]).collect();
        learned.extend(pairs(&found, &expected));
    }
    Ok((Ended { learned, ..Ended::default() }, mixed.session().meter().read()))
}

fn first(session: &Session) -> Result<PartyId, Abort> {
    let none = || session.misuse(step!("first"), Misuse::PartyCount);
    PartyId::all(session.parties()).next().ok_or_else(none)
}

/// Lookups in private tables by ciphertexts.
pub(super) fn tables(mut session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let ring = agreed.ring(&session)?;
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let entries = numbers_of(p, 1, ENTRIES * LOOKUPS);
    let tables = shared(&session, p, 1, &entries);
    let masked = prep_lut_polysize(&mut session, &keys, &mut sampler, INDEX, &[tables])?;
    let (x, index) = indices(&session);
    let found = masked.lookup(&mut session, &x)?;
    let expected: Vec<u64> =
        index.iter().enumerate().map(|(lane, at)| entries[lane * ENTRIES + at]).collect();
    let learned = pairs(&num::open(&mut session, p, &found)?, &expected);
    Ok((Ended { learned, ..Ended::default() }, session.meter().read()))
}

/// A2E to the first party; a refresh of what it switched down; E2A.
pub(super) fn shares(mut session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let ring = agreed.ring(&session)?;
    let keys = Keys::generate(&mut session, ring)?;
    let (ring, mut sampler) = (keys.ring(), Sampler::new(&session));
    let (top, holder) = (ring.parameters().top(), first(&session)?);
    let slots = numbers_of(p, 1, ring.dimension());
    let share = shares_of(&session, p, 1, &slots);
    let x = keys.a2e(&mut session, &mut sampler, holder, &share)?;
    let (x, factor) = (x.map(|x| x.switch(ring, 0)), Ciphertext::factor_after(ring, 1, top, 0));
    let x = keys.refresh(&mut session, &mut sampler, holder, x.as_ref(), factor, top)?;
    let x = x.map(|x| x.switch(ring, 0));
    let found = keys.e2a(&mut session, &mut sampler, holder, x.as_ref(), factor)?;
    Ok((Ended { shares: pairs(&found, &slots), ..Ended::default() }, session.meter().read()))
}

/// A2E to the first party, 3 x - y + 5, and E2A.
pub(super) fn combined(mut session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let ring = agreed.ring(&session)?;
    let keys = Keys::generate(&mut session, ring)?;
    let (mut sampler, holder) = (Sampler::new(&session), first(&session)?);
    let [left, right] = [1, 2].map(|which| numbers_of(p, which, LANES));
    let [x, y] = [(1, &left), (2, &right)].map(|(which, x)| shared(&session, p, which, x));
    let mut x = a2e(&mut session, &keys, &mut sampler, holder, &x)?;
    let y = a2e(&mut session, &keys, &mut sampler, holder, &y)?;
    x.scale(&session, &keys, 3)?;
    x.subtract(&session, &keys, &y)?;
    x.add_public(&session, &keys, &[5; LANES])?;
    let found = e2a(&mut session, &keys, &mut sampler, &x)?;
    let of = |(x, y): (&u64, &u64)| p.add(p.sub(p.mul(3, *x), *y), 5);
    let expected: Vec<u64> = left.iter().zip(&right).map(of).collect();
    let shares = pairs(found.shares(), &expected);
    Ok((Ended { shares, ..Ended::default() }, session.meter().read()))
}

/// A vector times four numbers.
pub(super) fn products(mut session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let ring = agreed.ring(&session)?;
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (factors, vector) = (numbers_of(p, 1, FACTORS), numbers_of(p, 2, BLOCK));
    let (numbers, own) = (shared(&session, p, 1, &factors), shares_of(&session, p, 2, &vector));
    let of = |_: usize, out: &mut [u64]| out.copy_from_slice(&own);
    let found = times_numbers(&mut session, &keys, &mut sampler, &numbers, of)?;
    let found: Vec<u64> = found.iter().flat_map(|part| part.iter().map(|x| u64::from(*x))).collect();
    let expected = factors.iter().flat_map(|factor| vector.iter().map(|x| p.mul(*x, *factor)));
    let shares = pairs(&found, &expected.collect::<Vec<_>>());
    Ok((Ended { shares, ..Ended::default() }, session.meter().read()))
}

/// A lookup in each of as many tables of two numbers as a word has bits.
pub(super) fn vectors(mut session: Session, agreed: &Agreed) -> Result<(Ended, Counts), Abort> {
    let p = agreed.plain;
    let ring = agreed.ring(&session)?;
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let entries = [1, 2].map(|which| numbers_of(p, which, LANES));
    let own = [0, 1].map(|j: usize| shares_of(&session, p, j as u64 + 1, &entries[j]));
    let table = |i: usize| [0, 1].map(|j: usize| Num::new(WipedVec::from(&own[j][i..i + 1])));
    let tables: Vec<[Num; 2]> = (0..LANES).map(table).collect();
    let masked = prep_lut_vectors(&mut session, &keys, &mut sampler, &tables)?;
    let of = |party: usize| value(100 + party as u64, 0);
    let mut word = of(session.me().index());
    hide(std::slice::from_mut(&mut word));
    let found = masked.lookup(&mut session, &GmwBit::new(LANES, &[word]))?;
    let found = num::open(&mut session, p, &Num::join(&found.iter().collect::<Vec<_>>()))?;
    let index = (0..session.parties()).fold(0, |index, party| index ^ of(party));
    let expected: Vec<u64> = (0..LANES).map(|i| entries[(index >> i & 1) as usize][i]).collect();
    Ok((Ended { learned: pairs(&found, &expected), ..Ended::default() }, session.meter().read()))
}

/// Products of two levels, of bits of the first two parties.
fn program() -> Program {
    let mut build = Build::new();
    let (x, y) = (build.input(8), build.input(8));
    let products: Vec<BuildBit> = x.iter().zip(&y).map(|(x, y)| build.and(*x, *y)).collect();
    let sums: Vec<BuildBit> = products.iter().zip(&x).map(|(z, x)| build.xor(*z, *x)).collect();
    let again: Vec<BuildBit> = sums.iter().zip(sums.iter().skip(1)).map(|(x, y)| build.and(*x, *y)).collect();
    build.output(&sums);
    build.output(&again);
    build.finish()
}

/// Boolean triples, and a circuit whose outputs the last party learns.
pub(super) fn circuit(session: Session) -> Result<(Ended, Counts), Abort> {
    let program = program();
    let mut gmw = Gmw::new(session, SetupConfig::default())?;
    gmw.prepare(triples_for(&program, LANES))?;
    let planes: Vec<u64> = (0..program.input_bits()).map(|i| value(1, i)).collect();
    let parties: Vec<PartyId> = PartyId::all(gmw.session().parties()).collect();
    let of = |i: usize| parties[i / 8 % parties.len()];
    let inputs = planes.iter().enumerate().map(|(i, plane)| input(&mut gmw, of(i), *plane));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let mut jobs = [ProgramRun::new(&program, inputs)];
    gmw.run(&mut jobs)?;
    let [ProgramRun { wires, .. }] = jobs;
    let last = &parties[parties.len() - 1..];
    let mut learned = Vec::new();
    if let Some(opened) = gmw.output(last, &wires)? {
        let words: Vec<u64> = opened.iter().map(|bit| bit.words().first().copied().unwrap_or(0)).collect();
        let wires: Vec<Vec<u64>> = planes.iter().map(|plane| vec![*plane]).collect();
        let none = |_| Abort::Misuse { step: step!("clear"), what: Misuse::CircuitUnfit };
        let expected = plain::run(&program, &wires).map_err(none)?;
        let expected: Vec<u64> = expected.iter().map(|wire| wire.first().copied().unwrap_or(0)).collect();
        learned = pairs(&words, &expected);
    }
    Ok((Ended { learned, ..Ended::default() }, gmw.session().meter().read()))
}
