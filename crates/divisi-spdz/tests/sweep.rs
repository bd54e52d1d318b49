//! The tampering sweep over preprocessing: messages of a corrupt party are changed in every way, with two
//! parties and with three.
//!
//! Whatever happens, each honest party ends with the right output or aborts; nothing hangs and nothing
//! panics. By default a sample of the messages is changed; `cargo test -p divisi-spdz --test
//! sweep -- --ignored` changes more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::testing::{Harness, Operator, Position, links, many, party, place, salt, sent};
use divisi_core::{
    Abort, Bytes, Direction, Lanes, Lookup, Lookups, PartyId, Plain, PlainBit, PlainByte, PublicParameters,
    Session, Settles,
};
use divisi_field::{Field, Gf2, Gf8, Gf48};
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::{Bucketed, Mascot, Party, Preparation, Source, Spdz, SpdzProtocol, Tiny};
use divisi_symmetric::des::SBOXES;

/// What a session computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// S-boxes of public bytes, opened to all.
    Public,
    /// The first party's bytes through two layers of TinyTable, to the last party and to all.
    Tiny,
    /// The first party's bits through a table of DES, to the last party and to all.
    Des,
}

/// A session whose messages are changed.
#[derive(Clone, Copy, Debug)]
struct Setting {
    subject: Subject,
    n: usize,
    preparation: Preparation,
    protocol: SpdzProtocol,
    /// Whether rows are real; otherwise a dealer makes them.
    rows: bool,
}

fn values() -> Vec<u8> {
    vec![0, 0x53, 0xff]
}

/// Bits of six indices of a table of DES, plane by plane.
fn bits() -> Vec<bool> {
    (0..36).map(|i| i * i % 7 < 3).collect()
}

fn sboxes(layers: usize) -> Vec<u8> {
    let mut x = PlainByte::new(values());
    for _ in 0..layers {
        Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap();
    }
    x.values().to_vec()
}

/// The right result of a party. The last party has the output twice if it also gets an output of its own.
fn right(setting: Setting, party: PartyId) -> Vec<u8> {
    let twice = if party.index() + 1 == setting.n { 2 } else { 1 };
    match setting.subject {
        Subject::Public => sboxes(1),
        Subject::Tiny => sboxes(2).repeat(twice),
        Subject::Des => {
            let wires = bits().chunks(6).map(PlainBit::new).collect();
            let mut layer = [Lookup { table: &SBOXES[0], wires }];
            Plain.look_up(&mut layer).unwrap();
            let lanes = |wire: &PlainBit| (0..6).map(|lane| u8::from(wire.lane(lane))).collect::<Vec<_>>();
            let out: Vec<u8> = layer[0].wires.iter().flat_map(lanes).collect();
            out.repeat(twice)
        }
    }
}

/// Computes the subject of a session on an engine.
fn compute(setting: Setting, mut engine: Spdz<Gf48>) -> Result<Vec<u8>, Abort> {
    let (first, last) = (party(1), party(setting.n as u8));
    let mine = engine.session().me() == first;
    match setting.subject {
        Subject::Public => {
            let mut x = engine.public(&values());
            engine.sbox(Direction::Encrypt, &mut [&mut x])?;
            let verified = engine.settled(x)?;
            Ok(engine.output(verified)?.into_iter().map(|x: Gf8| x.0).collect())
        }
        Subject::Tiny => {
            let mut tiny = Tiny::new(engine);
            let given = values();
            let mask = tiny.engine().input_mask(first, given.len())?;
            let mut wire = Tiny::mask(mask.shares().clone());
            (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut wire]))?;
            tiny.open_indices()?;
            let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&given[..]))?);
            (0..2).try_for_each(|_| tiny.sbox(Direction::Encrypt, &mut [&mut public]))?;
            let out = tiny.output(wire, public)?;
            let verified = tiny.engine().settled(out)?;
            let own = tiny.engine().output_to(last, verified.clone())?;
            let mut all: Vec<u8> = tiny.engine().output(verified)?.into_iter().map(|x: Gf8| x.0).collect();
            all.extend(own.iter().flat_map(|own| own.iter()));
            Ok(all)
        }
        Subject::Des => {
            let given = bits();
            let x = engine.input_bits(first, mine.then_some(&given[..]), given.len())?;
            let wire = |k: usize| x.gather(&(6 * k..6 * k + 6).collect::<Vec<_>>()).unwrap();
            let mut layer = [Lookup { table: &SBOXES[0], wires: (0..6).map(wire).collect() }];
            engine.look_up(&mut layer)?;
            let [Lookup { wires, .. }] = layer;
            let (mut all, mut own) = (Vec::new(), Vec::new());
            for verified in engine.settled(wires)?.each() {
                let bits = engine.output_bits_to(last, verified.clone())?;
                own.extend(bits.iter().flat_map(|bits| bits.iter().map(|bit| u8::from(*bit))));
                all.extend(engine.output(verified)?.into_iter().map(|bit: Gf2| bit.to_bits() as u8));
            }
            all.extend(own);
            Ok(all)
        }
    }
}

/// Makes the preprocessing of a session, and computes its subject.
fn play(setting: Setting, mut session: Session) -> Result<Vec<u8>, Abort> {
    // small buckets are enough, because products are right whatever the size of buckets
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = if setting.rows {
        testing::unsound_over_field(&mut session, config, 48)?
    } else {
        testing::deal_over_field(&mut session, config, 48, 7)?
    };
    let (party, source): (Party<Gf48>, Box<dyn Source<Gf48>>) = match setting.preparation {
        Preparation::Bucketed => {
            let (party, source) = Bucketed::over(session, setup)?;
            (party, Box::new(source))
        }
        Preparation::Mascot => {
            let (party, source) = Mascot::over(session, setup)?;
            (party, Box::new(source))
        }
        other => panic!("{other:?}"),
    };
    compute(setting, Spdz::new(party, source, setting.protocol)?)
}

fn harness(setting: Setting) -> Harness {
    Harness::new(setting.n, &PublicParameters::new("sweep of preprocessing"))
}

/// Changes messages at about `positions` of all positions. Returns how many changes were tried, and how many
/// were detected.
fn sweep(setting: Setting, positions: usize) -> [usize; 2] {
    let right: Vec<Vec<u8>> = PartyId::all(setting.n).map(|party| right(setting, party)).collect();
    let honest = harness(setting);
    let recordings = honest.recordings();
    for (end, right) in honest.act(|session| play(setting, session)).iter().zip(&right) {
        assert_eq!(end.as_ref(), Ok(right), "{setting:?}");
    }
    let sent = sent(&recordings);
    let mut jobs = Vec::new();
    for (from, to) in links(setting.n) {
        for n in 0..sent[&(from, to)].len() {
            for operator in Operator::ALL {
                let salt = salt((from, to, n, operator));
                // changes after which parties wait for the time limit are tried less often
                let rare = if operator.is_slow() { 5 } else { 1 };
                if (operator != Operator::Swap || setting.n > 2) && salt % rare == 0 {
                    jobs.push((Position { from, to, n }, operator, salt));
                }
            }
        }
    }
    jobs.sort_by_key(|job| job.2.reverse_bits());
    jobs.truncate(positions);
    jobs.sort_by_key(|job| !job.1.is_slow());
    let noticed = many(jobs.len(), 8, |i| {
        let (at, operator, salt) = jobs[i];
        let harness = harness(setting);
        place(&harness, at, operator, salt, &sent[&(at.from, at.to)]);
        let ends = harness.act(|session| play(setting, session));
        let mut noticed = false;
        for (party, end) in PartyId::all(setting.n).zip(&ends).filter(|(p, _)| *p != at.from) {
            match end {
                Ok(out) => {
                    let right = &right[party.index()];
                    assert_eq!(out, right, "{setting:?} {party} {} {} {} {operator:?}", at.from, at.to, at.n)
                }
                Err(_) => noticed = true,
            }
        }
        noticed
    });
    let (tried, noticed) = (noticed.len(), noticed.into_iter().filter(|noticed| *noticed).count());
    println!("{setting:?}: {noticed} of {tried} noticed");
    [tried, noticed]
}

fn settings() -> Vec<Setting> {
    let ways = [(SpdzProtocol::Lookup, false), (SpdzProtocol::BitDecomposition, true)];
    let all = [2, 3].into_iter().flat_map(|n| Preparation::ALL.map(|preparation| (n, preparation)));
    all.flat_map(|(n, preparation)| {
        ways.map(|(protocol, rows)| Setting { subject: Subject::Public, n, preparation, protocol, rows })
    })
    .collect()
}

/// Inputs of a party, outputs to one, TinyTable, and tables of DES, from each preparation.
fn whole_sessions() -> Vec<Setting> {
    let mut all = Vec::new();
    for n in [2, 3] {
        for (subject, preparation) in [Subject::Tiny, Subject::Des].into_iter().zip(Preparation::ALL) {
            all.push(Setting { subject, n, preparation, protocol: SpdzProtocol::Lookup, rows: false });
        }
    }
    all
}

#[test]
fn no_change_gives_a_wrong_output() {
    for setting in settings() {
        let [tried, noticed] = sweep(setting, 30);
        assert!(tried == 30 && noticed > 15, "{setting:?}: {noticed} of {tried}");
    }
}

#[test]
fn no_change_of_a_whole_session_gives_a_wrong_output() {
    for setting in whole_sessions() {
        let [tried, noticed] = sweep(setting, 20);
        assert!(tried == 20 && noticed > 10, "{setting:?}: {noticed} of {tried}");
    }
}

#[test]
#[ignore = "3,000 positions"]
fn no_change_of_many_gives_a_wrong_output() {
    for setting in settings().into_iter().chain(whole_sessions()) {
        assert!(sweep(setting, 250)[0] > 200);
    }
}
