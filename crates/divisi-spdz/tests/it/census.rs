//! All checks that each party executes in a session from its set-up to its output are counted, and compared
//! with formulas.

use crate::engines::prepared;
use divisi_core::testing::run;
use divisi_core::{
    Abort, Bytes, Check, Counts, Direction, Lanes, Lookup, Lookups, PartyId, PublicParameters, Settles,
};
use divisi_field::{Gf42, Gf48};
use divisi_ot::bucket;
use divisi_spdz::{AuthByte, Host, Preparation, Spdz, SpdzProtocol, Tiny, checks};
use divisi_symmetric::des::SBOXES;
use std::collections::BTreeMap;

/// The number of lanes of a layer.
const LANES: usize = 5;

/// What a session does, from which the numbers of its checks follow.
#[derive(Default)]
struct Done {
    /// The number of inputs, which are broadcast.
    inputs: u64,
    /// The number of messages of shares to each peer.
    openings: u64,
    /// The number of further checks K8: one for each opening of pieces, whose last byte must be filled with
    /// zeros, and one for each opened value of which not all bits are sent.
    pieces: u64,
    /// The number of checks of MACs.
    checks: u64,
    /// The numbers of batches of rows: with MACs alone, with MACs and pads, with pads alone.
    rows: [u64; 3],
    /// Other checks, which the protocol makes.
    more: Vec<(Check, u64)>,
}

impl Done {
    /// The numbers of a party's checks, among `n` parties.
    fn census(&self, n: usize) -> BTreeMap<Check, u64> {
        let (peers, among_three) = (n as u64 - 1, u64::from(n > 2));
        let [narrow, wide, pads] = self.rows;
        let mut all = BTreeMap::from([
            // views are compared with every peer, and sigmas committed to and opened by every peer
            (checks::K1, among_three * peers * self.checks),
            (checks::K21, peers * self.checks),
            (checks::K4, self.checks),
            (checks::K9B, self.checks),
            // every message, and the zeros that fill the last byte
            (checks::K8, peers * self.openings + self.pieces + self.inputs),
            (checks::K9, 1),
            // rows: the relation of every batch, MACs and pads from one row; after the first ones the proof
            // of one Delta, whose openings and equations are checked for each peer
            (checks::K11, peers * (narrow + wide + pads)),
            (checks::K12, among_three * 2 * peers),
            (checks::K13, peers * wide),
            // zeros are added to every opening and every sigma
            (checks::K20, among_three * (self.openings + self.checks)),
        ]);
        all.extend(self.more.iter().copied());
        all.retain(|_, count| *count > 0);
        all
    }
}

/// How often a party made the checks of this crate, and those of rows over a field.
fn counted(counts: &Counts) -> BTreeMap<Check, u64> {
    let rows = [checks::K11, checks::K12, checks::K13];
    let of_ours = |check: &Check| checks::ALL.contains(check) || rows.contains(check);
    counts.checks.iter().map(|(check, count)| (*check, *count)).filter(|(check, _)| of_ours(check)).collect()
}

/// Among two and among three parties, every party must count the checks of `done`.
fn census<F: Host>(
    protocol: SpdzProtocol,
    prep: Preparation,
    done: &Done,
    f: impl Fn(Spdz<F>, PartyId, bool) -> Result<Spdz<F>, Abort> + Sync,
) {
    for n in [2, 3] {
        let ends = run(n, &PublicParameters::new("spdz census"), |session| {
            let mut engine = prepared::<F>(session, Some(prep), protocol)?;
            let owner = PartyId::P1;
            let mine = engine.session().me() == owner;
            let mut engine = f(engine, owner, mine)?;
            Ok(engine.session().meter().read())
        });
        for end in ends {
            assert_eq!(counted(&end.unwrap()), done.census(n), "{protocol:?} {prep:?} {n}");
        }
    }
}

/// Two layers of S-boxes.
fn two_layers<E: Bytes>(e: &mut E, x: &mut E::Byte) -> Result<(), Abort> {
    e.sbox(Direction::Encrypt, &mut [x])?;
    e.sbox(Direction::Encrypt, &mut [x])
}

fn shared(e: &mut Spdz<Gf48>, owner: PartyId, mine: bool) -> Result<AuthByte<Gf48>, Abort> {
    e.input(owner, mine.then_some(&[7; LANES][..]), LANES)
}

/// The number of openings for tables of 256 entries that are made together from buckets, and how many of them
/// are of pieces. The openings: proofs of first and of other items, D of the buckets, p + v of the seven
/// products, a decomposition.
const TABLES: [u64; 2] = [2 + 1 + 7 + 1, 1 + 7 + 1];

/// The checks for these tables, which have 11 pieces each.
fn of_tables(count: usize) -> Vec<(Check, u64)> {
    let size = bucket::size_behind_firsts(count, 40) as u64;
    let count = count as u64;
    vec![
        (checks::K5, (8 + 128) * count),
        (checks::K6, 11 * count),
        (checks::K15, 11 * count * size),
        (checks::K16, 1),
        (checks::K17, 1),
    ]
}

/// Tables that are made ahead, and an output to one party.
#[test]
fn census_of_tables() {
    let lookups = 2 * LANES;
    let mut more = of_tables(lookups);
    more.extend([(checks::K2, lookups as u64), (checks::K24, 1)]);
    let [opened, pieces] = TABLES;
    let done = Done {
        inputs: 1,
        // two layers, the output
        openings: opened + 2 + 1,
        pieces,
        // before the coin of the buckets; of the openings for tables; of the value; of its output
        checks: 4,
        // masks of input and output, v of first and other items, s_0, bits of the decomposition; b
        rows: [2 + 2 + 2, 2, 0],
        more,
    };
    census::<Gf48>(SpdzProtocol::Lookup, Preparation::Bucketed, &done, |mut e, owner, mine| {
        let mut x = shared(&mut e, owner, mine)?;
        e.preprocess(lookups)?;
        e.load(Direction::Encrypt)?;
        two_layers(&mut e, &mut x)?;
        let verified = e.settled(x)?;
        e.output_to(owner, verified)?;
        Ok(e)
    });
}

/// TinyTable: the run over masks, then the run over values.
#[test]
fn census_of_tinytable() {
    let lookups = 2 * LANES;
    let mut more = of_tables(lookups);
    let each = lookups as u64;
    more.iter_mut().filter(|(check, _)| *check == checks::K5).for_each(|(_, count)| *count += 8 * each);
    more.extend([(checks::K2, each), (checks::K3, each), (checks::K22, each)]);
    let [opened, pieces] = TABLES;
    let done = Done {
        inputs: 1,
        // all e, two layers, the output
        openings: opened + 1 + 2 + 1,
        pieces,
        checks: 4,
        // the mask of the input, masks of what two layers give
        rows: [1 + 1 + 4, 2, 0],
        more,
    };
    census::<Gf48>(SpdzProtocol::Lookup, Preparation::Bucketed, &done, |e, owner, mine| {
        let mut tiny = Tiny::new(e);
        let mask = tiny.engine().input_mask(owner, LANES)?;
        let mut wire = Tiny::mask(mask.shares().clone());
        tiny.prepare(2, 1, LANES)?;
        two_layers(&mut tiny, &mut wire)?;
        tiny.open_indices()?;
        let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&[7; LANES][..]))?);
        two_layers(&mut tiny, &mut public)?;
        let out = tiny.output(wire, public)?;
        let mut e = tiny.into_engine();
        let verified = e.settled(out)?;
        e.output(verified)?;
        Ok(e)
    });
}

/// S-boxes by products of MASCOT: four products and four decompositions each.
#[test]
fn census_of_products() {
    let lanes = LANES as u64;
    let done = Done {
        inputs: 1,
        // rho, sigma, e and d of the products; three rounds of products, each of two factors, four of
        // decompositions; the output
        openings: 4 + 3 * 2 + 4 + 1,
        // after the sacrifice, after e and d, of the value, of its output
        checks: 4,
        // the mask of the input, random bits, the bits of x and y; a, b, c, a^, c^ together; correlations of
        // a with b
        rows: [1 + 1 + 2 + 1, 0, 1],
        more: vec![
            (checks::K5, 32 * lanes),
            (checks::K6, 4 * lanes),
            (checks::K10, 1),
            (checks::K17, 1),
            (checks::K18, 4 * lanes),
            (checks::K19, 1),
        ],
        ..Done::default()
    };
    census::<Gf48>(SpdzProtocol::RivainProuff, Preparation::Mascot, &done, |mut e, owner, mine| {
        let mut x = shared(&mut e, owner, mine)?;
        e.preprocess_sboxes(LANES)?;
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let verified = e.settled(x)?;
        e.output(verified)?;
        Ok(e)
    });
}

/// A table of DES by all powers of the index, products in GF(2^6), over GF(2^42).
#[test]
fn census_of_all_powers() {
    let (products, lanes) = (61 * LANES, LANES as u64);
    let size = bucket::size_behind_firsts(products, 40);
    let done = Done {
        inputs: 1,
        // the proof, D of the buckets; six rounds of products of two factors, a decomposition; the output
        openings: 2 + 6 * 2 + 1 + 1,
        // K8 counts each value of four bits: its other bits are not sent
        pieces: lanes,
        checks: 4,
        // masks of input and output, y of the items, bits of the decomposition; x of the items
        rows: [2 + 1 + 1, 1, 0],
        more: vec![
            (checks::K5, 4 * lanes),
            (checks::K6, products as u64),
            (checks::K10, 1),
            (checks::K15, (products * size) as u64),
            (checks::K16, 1),
            (checks::K17, 1),
            (checks::K24, 1),
        ],
    };
    census::<Gf42>(SpdzProtocol::Raw, Preparation::Bucketed, &done, |mut e, owner, mine| {
        let bits = [true; 6 * LANES];
        let x = e.input_bits(owner, mine.then_some(&bits[..]), bits.len())?;
        let wire = |k: usize| x.gather(&(k * LANES..(k + 1) * LANES).collect::<Vec<_>>()).unwrap();
        e.preprocess_lookups(LANES)?;
        let mut layer = [Lookup { table: &SBOXES[0], wires: (0..6).map(wire).collect() }];
        e.look_up(&mut layer)?;
        let [Lookup { wires, .. }] = layer;
        let verified = e.settled(wires[0].clone())?;
        e.output_bits_to(owner, verified)?;
        Ok(e)
    });
}
