//! How much processor time the parts of a run take at a party. Run it with `--ignored --nocapture`, and with
//! `--release` for figures that mean something.

use crate::engines::{dealt, given, given_bits};
use divisi_core::{Abort, Bytes, Direction, Lookups, PartyId, PublicParameters, Session, Settles, local};
use divisi_field::Gf48;
use divisi_ot::SetupConfig;
use divisi_spdz::{AuthByte, Bucketed, Mascot, Source, Spdz, SpdzProtocol};
use divisi_symmetric::aes;
use divisi_symmetric::des::{self, TripleKey};

/// How many nanoseconds this thread has run.
fn ran() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// Print the microseconds for each block from each moment to the next.
fn say(what: &str, blocks: usize, moments: &[f64]) {
    let each = moments.windows(2).map(|pair| (pair[1] - pair[0]) / 1e3 / blocks as f64);
    println!("{what}: {:.2?} us each", each.collect::<Vec<_>>());
}

fn with_engines(protocol: SpdzProtocol, f: impl Fn(&mut Spdz<Gf48>, bool) -> Result<(), Abort> + Sync) {
    all(|session| {
        let mut engine = dealt(session, 4, protocol)?;
        let first = engine.session().me() == PartyId::P1;
        f(&mut engine, first)
    });
}

/// Two parties that do this.
fn all(f: impl Fn(Session) -> Result<(), Abort> + Sync) {
    local::run(2, &PublicParameters::new("spdz speed"), f).unwrap();
}

fn bytes(engine: &mut Spdz<Gf48>, lanes: usize) -> Result<AuthByte<Gf48>, Abort> {
    given(engine, PartyId::P1, &vec![7; lanes])
}

/// The time of real preprocessing, for each table or product.
#[test]
#[ignore = "a measurement"]
fn of_preprocessing() {
    let tables = 20_000;
    all(|session| {
        let (mut party, mut source) = Bucketed::<Gf48>::start(session, SetupConfig::default())?;
        for (log, name) in [(8, "tables of 256"), (6, "tables of 64")] {
            let before = ran();
            source.units(&mut party, log, tables)?;
            party.check()?;
            say(name, tables, &[before, ran()]);
        }
        let before = ran();
        source.byte_triples(&mut party, tables)?;
        say("products of bytes", tables, &[before, ran()]);
        Ok(())
    });
    all(|session| {
        let (mut party, mut source) = Mascot::<Gf48>::start(session, SetupConfig::default())?;
        let before = ran();
        source.byte_triples(&mut party, 5_000)?;
        say("products of bytes by mascot", 5_000, &[before, ran()]);
        Ok(())
    });
}

/// The memory that two parties in one process take for the tables of 2,048 blocks, which they take in parts.
#[test]
#[ignore = "a measurement"]
fn memory_of_many_tables() {
    let (tables, part) = (327_680, 4_096);
    all(|session| {
        let (mut party, mut source) = Bucketed::<Gf48>::start(session, SetupConfig::default())?;
        source.foresee(8, tables);
        let before = ran();
        for _ in 0..tables / part {
            source.units(&mut party, 8, part)?;
            party.check()?;
        }
        say("tables of 256", tables, &[before, ran()]);
        Ok(())
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
}

#[test]
#[ignore = "a measurement"]
fn of_aes() {
    for (protocol, blocks) in [
        (SpdzProtocol::Lookup, 1024),
        (SpdzProtocol::RivainProuff, 256),
        (SpdzProtocol::BitDecomposition, 256),
    ] {
        with_engines(protocol, |engine, first| {
            let key = (0..16).map(|_| bytes(engine, 1)).collect::<Result<Vec<_>, Abort>>()?;
            let round_keys = aes::expand(engine, &key)?;
            let state = (0..16).map(|_| bytes(engine, blocks)).collect::<Result<Vec<_>, Abort>>()?;
            let state: [_; 16] = state.try_into().unwrap_or_else(|_| panic!());
            for _ in 0..2 {
                let mut moments = vec![ran()];
                if protocol == SpdzProtocol::Lookup {
                    engine.preprocess(160 * blocks)?;
                    moments.push(ran());
                    engine.load(Direction::Encrypt)?;
                    moments.push(ran());
                } else {
                    engine.prepare(10, 16, blocks)?;
                    engine.preprocess_products()?;
                    moments.push(ran());
                }
                let mut state = state.clone();
                aes::encrypt(engine, &round_keys, &mut state)?;
                moments.push(ran());
                engine.settled(state)?;
                moments.push(ran());
                if first {
                    let what = format!("{} made (loaded, of tables), online, check", protocol.name());
                    say(&what, blocks, &moments);
                }
            }
            Ok(())
        });
    }
}

#[test]
#[ignore = "a measurement"]
fn of_3des() {
    for (protocol, blocks) in [(SpdzProtocol::Lookup, 256), (SpdzProtocol::RivainProuff, 128)] {
        with_engines(protocol, |engine, first| {
            let mut bits = |lanes: usize, count: usize| -> Result<Vec<_>, Abort> {
                (0..count).map(|_| given_bits(engine, PartyId::P1, &vec![true; lanes])).collect()
            };
            let key = TripleKey::new(&bits(1, 192)?)?;
            let block: [_; 64] = bits(blocks, 64)?.try_into().unwrap_or_else(|_| panic!());
            // the tables, or the products, of all blocks are made before the clock starts
            if protocol == SpdzProtocol::Lookup {
                engine.prepare_lookups(&des::SBOXES.each_ref().map(|table| (table, 48 * blocks)))?;
                engine.load_lookups();
            } else {
                engine.foresee(&des::SBOXES.each_ref().map(|table| (table, 48 * blocks)))?;
                engine.preprocess_products()?;
            }
            let mut moments = vec![ran()];
            let mut out = block.clone();
            des::triple(engine, Direction::Encrypt, &key, &mut out)?;
            moments.push(ran());
            engine.settled(out)?;
            moments.push(ran());
            if first {
                say(&format!("3DES, {}: online, check", protocol.name()), blocks, &moments);
            }
            Ok(())
        });
    }
}
