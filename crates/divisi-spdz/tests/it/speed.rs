//! How much processor time the parts of a run take at a party. Run it with `--ignored --nocapture`, and with
//! `--release` for figures that mean something.

use divisi_core::testing::run;
use divisi_core::{Abort, Bytes, Direction, Lookups, PartyId, PublicParameters, settle};
use divisi_field::Gf48;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::{Spdz, SpdzProtocol};
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
    let ends = run(2, &PublicParameters::new("spdz speed"), |session| {
        let (party, dealer) = Dealer::<Gf48>::deal(session, 4)?;
        let mut engine = Spdz::new(party, Box::new(dealer), protocol)?;
        let first = engine.session().me() == PartyId::all(1).next().unwrap();
        f(&mut engine, first)
    });
    ends.into_iter().for_each(|end| end.unwrap());
}

fn bytes(engine: &mut Spdz<Gf48>, mine: bool, lanes: usize) -> Result<divisi_spdz::AuthByte<Gf48>, Abort> {
    let values = vec![7; lanes];
    engine.input(PartyId::all(1).next().unwrap(), mine.then_some(values.as_slice()), lanes)
}

/// The time of real preprocessing, for each table or product.
#[test]
#[ignore = "a measurement"]
fn of_preprocessing() {
    let config = divisi_ot::SetupConfig::default();
    let tables = 20_000;
    let ends = run(2, &PublicParameters::new("spdz speed"), |session| {
        let (mut party, mut source) = divisi_spdz::Bucketed::<Gf48>::start(session, config)?;
        for (log, name) in [(8, "tables of 256"), (6, "tables of 64")] {
            let mut moments = vec![ran()];
            divisi_spdz::Source::units(&mut source, &mut party, log, tables)?;
            party.check()?;
            moments.push(ran());
            say(name, tables, &moments);
        }
        let moments = [ran(), {
            divisi_spdz::Source::byte_triples(&mut source, &mut party, tables)?;
            ran()
        }];
        say("products of bytes", tables, &moments);
        Ok(())
    });
    ends.into_iter().for_each(|end| end.unwrap());
    let ends = run(2, &PublicParameters::new("spdz speed"), |session| {
        let (mut party, mut source) = divisi_spdz::Mascot::<Gf48>::start(session, config)?;
        let moments = [ran(), {
            divisi_spdz::Source::byte_triples(&mut source, &mut party, 5_000)?;
            ran()
        }];
        say("products of bytes by mascot", 5_000, &moments);
        Ok(())
    });
    ends.into_iter().for_each(|end| end.unwrap());
}

/// The memory that two parties in one process take for the tables of 2,048 blocks, which they take in parts.
#[test]
#[ignore = "a measurement"]
fn memory_of_many_tables() {
    let (tables, part) = (327_680, 4_096);
    let ends = run(2, &PublicParameters::new("spdz speed"), |session| {
        let config = divisi_ot::SetupConfig::default();
        let (mut party, mut source) = divisi_spdz::Bucketed::<Gf48>::start(session, config)?;
        divisi_spdz::Source::foresee(&mut source, 8, tables);
        let moments = [ran(), {
            for _ in 0..tables / part {
                divisi_spdz::Source::units(&mut source, &mut party, 8, part)?;
                party.check()?;
            }
            ran()
        }];
        say("tables of 256", tables, &moments);
        Ok(())
    });
    ends.into_iter().for_each(|end| end.unwrap());
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
            let key = (0..16).map(|_| bytes(engine, first, 1)).collect::<Result<Vec<_>, Abort>>()?;
            let round_keys = aes::expand(engine, &key)?;
            let state = (0..16).map(|_| bytes(engine, first, blocks)).collect::<Result<Vec<_>, Abort>>()?;
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
                let pending = engine.close(state);
                settle(engine, pending)?;
                moments.push(ran());
                if first {
                    say(
                        &format!("{} made (loaded, of tables), online, check", protocol.name()),
                        blocks,
                        &moments,
                    );
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
            let owner = PartyId::all(1).next().unwrap();
            let mut bits = |lanes: usize, count: usize| -> Result<Vec<_>, Abort> {
                let values = vec![true; lanes];
                (0..count).map(|_| engine.input_bits(owner, first.then_some(&values), lanes)).collect()
            };
            let key = TripleKey::new(&bits(1, 192)?)?;
            let block: [_; 64] = bits(blocks, 64)?.try_into().unwrap_or_else(|_| panic!());
            // the tables, or the products, of all blocks are made before the clock starts
            if protocol == SpdzProtocol::Lookup {
                engine.prepare_lookups(&des::SBOXES.each_ref().map(|table| (table, 48 * blocks)))?;
                engine.load_lookups();
            }
            if protocol != SpdzProtocol::Lookup {
                engine.foresee(&des::SBOXES.each_ref().map(|table| (table, 48 * blocks)))?;
                engine.preprocess_products()?;
            }
            let mut moments = vec![ran()];
            let mut out = block.clone();
            des::triple(engine, Direction::Encrypt, &key, &mut out)?;
            moments.push(ran());
            let pending = engine.close(out);
            settle(engine, pending)?;
            moments.push(ran());
            if first {
                say(&format!("3DES, {}: online, check", protocol.name()), blocks, &moments);
            }
            Ok(())
        });
    }
}
