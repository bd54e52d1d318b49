//! The nets of mixed computation (docs/nets.md): a shape for each way in which random bits are made, and the
//! censuses over them. Whoever deviates may make results wrong; nobody waits for ever, panics, or accepts a
//! message of another length.

mod draws;
mod worlds;

use crate::common::{agreed, in_runs, product, ring, share};
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, Session};
use divisi_field::zp::{P32, P62};
use divisi_mixed::conv::{a2e, e2a};
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::vectors::{prep_lut_vectors, times_numbers};
use divisi_mixed::{Gmw, GmwBit, Mixed, Num, cot, num};
use divisi_ot::{Setup, SetupConfig};
use std::sync::Arc;

/// Chooses what default tests change.
const SEED: u64 = 1;
const PARTIES: usize = 3;

/// How random bits are made: by transfers, or in a form, with this many hops before a refresh.
type How = Option<(Form, usize)>;
const WHOLE: usize = usize::MAX;

fn small(operation: Operation, parties: usize, (form, length): (Form, usize)) -> Arc<Ring> {
    in_runs(operation, form, parties, length)
}

/// The same for numbers of 61 bits.
fn wide(operation: Operation, parties: usize) -> Arc<Ring> {
    ring(Parameters::danger_insecure(operation, Form::LeanTree, parties, P62).unwrap())
}

/// Every way among so many parties.
fn shapes(parties: usize) -> Vec<NetShape> {
    let ways: [(&'static str, usize, How); 6] = [
        ("transfers", 65, None),
        ("transfers for 130 lanes", 130, None),
        ("lean tree", 65, Some((Form::LeanTree, WHOLE))),
        ("lean ring", 65, Some((Form::LeanRing, WHOLE))),
        ("refreshed ring", 65, Some((Form::LeanRing, 1))),
        ("paper's form, refreshed", 65, Some((Form::Paper, 1))),
    ];
    let ways = ways
        .map(|(name, lanes, how)| (name, lanes, how.map(|how| small(Operation::Bits, parties, how)), false));
    let wide_ways = [("wide numbers", 65, Some(wide(Operation::Bits, parties)), true)];
    let rings =
        [small(Operation::Triples, parties, (Form::LeanTree, WHOLE)), wide(Operation::Triples, parties)];
    let mut all = Vec::new();
    for (name, lanes, bits, is_wide) in ways.into_iter().chain(wide_ways) {
        let numbers = rings[usize::from(is_wide)].clone();
        let rings = bits.iter().chain([&numbers]);
        let agreed = rings.fold(agreed(), |all, ring| ring.parameters().describe(all));
        let run = move |session: Session, seed, out: &mut ShapeOutcome| {
            whole(session, seed, out, lanes, bits.as_ref(), &numbers)
        };
        all.push(NetShape::new(name, parties, ShapeSecurity::Curious, run).agreeing(agreed));
    }
    for (name, form) in [
        ("private tables along a tree", Form::LeanTree),
        ("private tables along a ring", Form::LeanRing),
        ("private tables in the paper's form", Form::Paper),
    ] {
        let ring = small(Operation::PrivateTables, parties, (form, WHOLE));
        let agreed = ring.parameters().describe(agreed());
        let run = move |session: Session, seed, out: &mut ShapeOutcome| private(session, seed, out, &ring);
        all.push(NetShape::new(name, parties, ShapeSecurity::Curious, run).agreeing(agreed));
    }
    let more: [(&'static str, Operation, Run); 3] = [
        ("encrypted numbers", Operation::Linear { weight: 16 }, encrypted),
        ("products of vectors", Operation::BlockProducts, products),
        ("tables of vectors", Operation::VectorTables, tables),
    ];
    for (name, operation, run) in more {
        let ring = small(operation, parties, (Form::LeanTree, WHOLE));
        let agreed = ring.parameters().describe(agreed());
        let run = move |session: Session, seed, out: &mut ShapeOutcome| run(session, seed, out, &ring);
        all.push(NetShape::new(name, parties, ShapeSecurity::Curious, run).agreeing(agreed));
    }
    all
}

type Run = fn(Session, u64, &mut ShapeOutcome, &Arc<Ring>) -> Result<(), Abort>;

/// Numbers encrypted at each party, combined and shared again, unevenly.
fn encrypted(mut session: Session, seed: u64, out: &mut ShapeOutcome, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, me) = (session.parties(), session.me().index());
    for (holder, lanes) in PartyId::all(n).zip([5, 9, 1]) {
        let of = |more: u64| {
            let shares: Vec<u64> =
                (0..lanes).map(|i| share(n, me, i, varied(seed, i as u64 + more) + seed, P32)).collect();
            Num::new(WipedVec::from(&*shares))
        };
        let mut x = a2e(&mut session, &keys, &mut sampler, holder, &of(1))?;
        let y = a2e(&mut session, &keys, &mut sampler, holder, &of(2))?;
        x.scale(&session, &keys, 3)?;
        x.subtract(&session, &keys, &y)?;
        x.add_public(&session, &keys, &vec![5; lanes])?;
        let shares = e2a(&mut session, &keys, &mut sampler, &x)?;
        let opened = num::open(&mut session, ring.plain(), &shares)?;
        out.put("combined", opened.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    }
    Ok(())
}

/// Products of vectors with numbers that are made of bits, in two calls.
fn products(mut session: Session, seed: u64, out: &mut ShapeOutcome, ring: &Arc<Ring>) -> Result<(), Abort> {
    let mut setup = Setup::new(&mut session, SetupConfig::default())?;
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, me) = (session.parties(), session.me().index());
    for vectors in [2, 1] {
        let bits = (0..4 * vectors).map(|i| share(n, me, i, (varied(seed, i as u64) + seed) & 1, 2));
        let numbers = cot::b2a(&mut session, &mut setup, ring.plain(), &GmwBit::of(bits))?;
        let vector = |v: usize, out: &mut [u64]| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = (v + i + me) as u64);
        };
        let products = times_numbers(&mut session, &keys, &mut sampler, &numbers, vector)?;
        out.put("vectors", vec![products.len() as u8]);
    }
    Ok(())
}

/// A table of two vectors, and one of other vectors: a batch in each call, which takes no strand of its own.
fn tables(mut session: Session, seed: u64, out: &mut ShapeOutcome, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, me) = (session.parties(), session.me().index());
    for (call, length) in [2, 1].into_iter().enumerate() {
        let entry = |v: usize| {
            let shares: Vec<u64> = (0..length)
                .map(|i| share(n, me, 2 * i + v, varied(seed, (i + v) as u64) + seed, P32))
                .collect();
            Num::new(WipedVec::from(&*shares))
        };
        let masked = prep_lut_vectors(&mut session, &keys, &mut sampler, &[[entry(0), entry(1)]])?;
        let x = GmwBit::of([share(n, me, call, call as u64 & 1, 2)].into_iter());
        let found = masked.lookup(&mut session, &x)?;
        let opened = num::open(&mut session, ring.plain(), &Num::join(&found.iter().collect::<Vec<_>>()))?;
        out.put("entries", opened.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    }
    Ok(())
}

/// Set-up, and twice, unevenly: a circuit, conversions both ways, lookups in public and private tables,
/// products, outputs to all and to some.
fn whole(
    session: Session,
    seed: u64,
    out: &mut ShapeOutcome,
    lanes: usize,
    bits: Option<&Arc<Ring>>,
    numbers: &Arc<Ring>,
) -> Result<(), Abort> {
    let (plain, p) = (numbers.plain(), numbers.plain().get());
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let mut mixed = Mixed::new(gmw, plain, bits, Some(numbers))?;
    let (me, n) = (mixed.session().me(), mixed.session().parties());
    let all: Vec<_> = PartyId::all(n).collect();
    for (call, lanes) in [out.lanes(lanes), 1].into_iter().enumerate() {
        let owner = all[call];
        let value = GmwBit::of((0..lanes).map(|i| (varied(seed, (i * i) as u64) + seed) % 3 % 2));
        let bit = mixed.gmw().input(owner, lanes, Some(&value).filter(|_| me == owner))?;
        let program = product();
        let mut jobs = [ProgramRun::new(&program, vec![bit.clone(), bit.clone()])];
        mixed.gmw().run(&mut jobs)?;
        let number = mixed.b2a(&[bit.clone(), jobs[0].wires[0].clone()])?;
        let signs = mixed.prep_lut(1, lanes)?;
        let looked = mixed.lookup(&[&[3, 4]], std::slice::from_ref(&bit), signs)?;
        let product = mixed.multiply(&number, &looked[0])?;
        let own: Vec<u64> = (0..2 * lanes).map(|i| share(n, me.index(), i, i as u64 + 9, p)).collect();
        let signs = mixed.prep_lut_ahead(1, lanes)?;
        let tables = Num::new(WipedVec::from(&*own));
        let found = mixed.lookup_private(&tables, std::slice::from_ref(&bit), signs)?;
        let bits = mixed.a2b(&product)?;
        let opened = num::open(mixed.session(), plain, &number)?;
        out.put("opened", opened.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        num::open_to(mixed.session(), plain, &all[1..], &found)?;
        mixed.gmw().output(&all[call..], &bits)?;
    }
    Ok(())
}

/// Tables of two, of eight and of 256 entries that nobody knows.
fn private(mut session: Session, _: u64, out: &mut ShapeOutcome, ring: &Arc<Ring>) -> Result<(), Abort> {
    let keys = Keys::generate(&mut session, ring)?;
    let mut sampler = Sampler::new(&session);
    let (n, me, plain) = (session.parties(), session.me().index(), ring.plain());
    for (width, count) in [(1, 5), (3, 2), (8, 1)] {
        let entries = 1 << width;
        let own: Vec<u64> = (0..entries * count).map(|i| share(n, me, i, i as u64 * 7 % P32, P32)).collect();
        let own = Num::new(WipedVec::from(&*own));
        let tables = prep_lut_polysize(&mut session, &keys, &mut sampler, width, &[own])?;
        let bit = |j: usize| GmwBit::of((0..count).map(|i| share(n, me, i, (i >> j & 1) as u64, 2)));
        let looked = tables.lookup(&mut session, &(0..width).map(bit).collect::<Vec<_>>())?;
        let opened = num::open(&mut session, plain, &looked)?;
        out.put("entries", opened.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    }
    Ok(())
}

/// Steps with which nothing is sent.
const SILENT: &[(&str, &str)] = &[
    ("divisi_mixed::conv/a2e", "names what an A2E refuses, which is local"),
    ("divisi_mixed::encrypted/encrypted.combine", "names what combinations refuse, which are made locally"),
    ("divisi_mixed::conv/e2a", "names what an E2A refuses, which is local"),
    ("divisi_mixed::arithmetic/triple", "names what a product of ciphertexts refuses, which is local"),
    ("divisi_mixed::private/mask", "names what masked tables refuse, which are made locally"),
];

fn net() -> MessageNet<'static> {
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: shapes(PARTIES),
        crowds: shapes(5),
        silent: SILENT,
        checks: divisi_mixed::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    net().demand(Extent::sample(SEED, 2));
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
