//! What the engine of the commands opens at the end of a job, by value; what it compares of circuits and
//! tables; and how secure it says they are.

use crate::common::{StockDirs, entropy, key, parameters};
use crate::engines::sums;
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::{Abort, Direction, PartyId, PublicParameters};
use divisi_engine::circuit::{HeldCircuit, NamedCircuit};
use divisi_engine::job::{
    Between, BlocksJob, Cipher, CipherMode, CircuitJob, DesKeys, JobSpec, LookupJob, ModeMessage, ModesJob,
    OneShot, Own, UserTable,
};
use divisi_engine::stock::{PEERS, PREP_FROM};
use divisi_engine::{Engine, EngineSettings, Rows, Unwatched, prepare};
use divisi_field::Gf48;
use divisi_ot::bucket;
use divisi_spdz::adapter::Authenticated;
use divisi_spdz::stock::{Lots, StockPlan};
use divisi_store::stock::{Reserve, StockInfo};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::gates::Adder;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use zeroize::Zeroizing;

const WIDTH: usize = 64;
const COUNT: usize = 4;
/// The steps in which outputs are opened to all: bits, and values; and to one party, under its mask.
const BITS: &str = "divisi_spdz::engine/output";
const VALUES: &str = "divisi_spdz::engine::values/values.output";
const MASKED: &str = "divisi_spdz::input/output.to";

/// A circuit of a sum and an AND, with two inputs and three output values.
fn circuit(owners: &[u8], receivers: [&[u8]; 3], count: usize) -> JobSpec {
    let mut g = Build::new();
    let (x, y) = (g.input(WIDTH), g.input(WIDTH));
    let mut sum: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.xor(*x, *y)).collect();
    sum[0] = g.and(x[0], y[0]);
    (0..3).for_each(|_| g.output(&sum));
    let circuit = NamedCircuit { name: "sum".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let all = |numbers: &[u8]| numbers.iter().map(|number| party(*number)).collect::<Vec<PartyId>>();
    let between = Between::Parties { owners: all(owners), receivers: receivers.map(all).to_vec() };
    JobSpec::Circuit(CircuitJob { circuit, adder: Adder::FewestAnds, between, count })
}

fn lookups(entries: usize, table: Option<Vec<u16>>) -> JobSpec {
    let table = table.map(|table| Arc::new(UserTable::new(table).unwrap()));
    JobSpec::Lookups(LookupJob { entries, inputs: 1, dimensions: None, count: COUNT, table })
}

/// What two parties open in these steps, what they learn, and what they say of the run.
fn opened<const N: usize>(
    job: &JobSpec,
    settings: &EngineSettings,
    own: [Vec<u8>; 2],
    steps: [&'static str; N],
) -> ([Vec<Vec<u8>>; N], Vec<(Vec<u8>, Map<String, Value>)>) {
    let prepared = prepare(&Authenticated, job, settings).unwrap();
    let harness = Harness::new(2, &PublicParameters::new("outputs")).patient();
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let own = Own::new(own[session.me().index()].clone());
        let mut member = prepared.start(session, COUNT, &own)?;
        let learned = member.batch(COUNT, &own, &mut Unwatched)?;
        Ok((learned.to_vec(), member.facts()))
    });
    (steps.map(|step| sums(&recordings, step)), ends.into_iter().map(Result::unwrap).collect())
}

/// Of a circuit's outputs, only what goes to all is opened without masks; and buckets are those of the
/// security that was asked for.
#[test]
fn outputs_of_circuits_are_opened_to_their_receivers() {
    let job = circuit(&[1, 2], [&[1], &[2], &[1, 2]], COUNT);
    let two = EngineSettings::default().among(2);
    for settings in [two.clone(), EngineSettings { statistical: Some(64), ..two }] {
        let own = || vec![0; WIDTH * COUNT];
        let ([all, masked], ends) = opened(&job, &settings, [own(), own()], [BITS, MASKED]);
        assert_eq!(all.concat(), vec![0; WIDTH * COUNT / 8]);
        let masked = masked.concat();
        assert_eq!(masked.len(), 2 * WIDTH * COUNT / 8);
        // each value of 64 bits is under a mask of its own
        let different: BTreeSet<&[u8]> = masked.chunks(8).chain([&[0; 8][..]]).collect();
        assert_eq!(different.len(), 2 * COUNT + 1);
        let size = bucket::size_behind_firsts(COUNT, settings.statistical.unwrap_or(40));
        for (learned, facts) in ends {
            assert_eq!((learned, &facts["bucket"]), (vec![0; 2 * WIDTH * COUNT], &json!(size)));
        }
    }
}

/// Of lookups, the entries are opened, and not the indices.
#[test]
fn of_lookups_the_entries_alone_are_opened() {
    let own: Vec<u8> = [3_u32, 0, 7, 3].into_iter().flat_map(u32::to_le_bytes).collect();
    let entries = [3, 0, 7, 3].map(LookupJob::entry).to_vec();
    let settings = EngineSettings::default().among(2);
    let ([values], ends) = opened(&lookups(8, None), &settings, [own, Vec::new()], [VALUES]);
    assert_eq!(values, std::slice::from_ref(&entries));
    ends.into_iter().for_each(|(learned, _)| assert_eq!(learned, entries));
}

fn blocks(cipher: Cipher) -> JobSpec {
    JobSpec::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: COUNT })
}

/// A session that begins for blocks opens nothing in the clear, neither a key nor what is made of it.
#[test]
fn a_set_up_opens_no_key() {
    for cipher in [Cipher::Aes(KeySize::Aes128), Cipher::TripleDes(DesKeys::Three)] {
        let job = blocks(cipher);
        let prepared = prepare(&Authenticated, &job, &EngineSettings::default().among(2)).unwrap();
        let harness = Harness::new(2, &PublicParameters::new("outputs")).patient();
        let recordings = harness.recordings();
        let keys = prepared.deal_key(&vec![7; cipher.key_bytes()]);
        let ends = harness.act(|session| {
            let key = &keys[session.me().index()];
            prepared.start(session, COUNT, key).map(drop)
        });
        assert_eq!(ends, vec![Ok(()); 2]);
        for seen in &recordings {
            let opened = [BITS, VALUES].map(|step| seen.of(MessageDirection::Out, step).len());
            assert_eq!(opened, [0; 2], "{cipher:?}");
        }
    }
}

/// Each party is handed what is its own, and nothing of another's: the first one keys and indices, the second
/// one texts.
#[test]
fn inputs_are_handed_to_their_owners_alone() {
    let ciphers = [Cipher::Aes(KeySize::Aes256), Cipher::TripleDes(DesKeys::Two)];
    let jobs = ciphers.map(|cipher| (blocks(cipher), cipher.key_bytes(), cipher.block_bytes(), 1));
    for (job, key, width, owner) in jobs.into_iter().chain([(lookups(8, None), 0, 4, 0)]) {
        let prepared = prepare(&Authenticated, &job, &EngineSettings::default()).unwrap();
        let rows = Rows::cut((0..COUNT * width).map(|at| at as u8).collect(), vec![width; COUNT].into_iter());
        let handed = |owns: Vec<Own>| owns.iter().map(|own| own.to_vec()).collect::<Vec<_>>();
        let mut expected = vec![Vec::new(); 3];
        expected[owner] = rows.bytes().to_vec();
        assert_eq!(handed(prepared.deal(&rows)), expected, "{job:?}");
        assert_eq!(handed(prepared.deal_key(&vec![7; key])), [vec![7; key], vec![], vec![]], "{job:?}");
    }
}

/// Owners, the receivers of each value, and every bit of every entry of a table are compared.
#[test]
fn circuits_and_tables_that_differ_are_told_apart() {
    let all: [&[u8]; 3] = [&[1, 2], &[1, 2], &[1, 2]];
    let some = |at: usize, one: &'static [u8]| {
        let mut receivers = all;
        receivers[at] = one;
        receivers
    };
    let circuits = [circuit(&[1, 2], all, COUNT), circuit(&[2, 1], all, COUNT)].into_iter();
    let other = (0..3).flat_map(|at| [&[1][..], &[2]].map(|one| circuit(&[1, 2], some(at, one), COUNT)));
    let tables = (0..16).flat_map(|bit| [0, 3].map(|at| (at, 1 << bit))).chain([(0, 0)]);
    let tables = tables.map(|(at, change)| {
        let mut table = vec![0x0100, 3, 2, 0x8001];
        table[at] ^= change;
        lookups(4, Some(table))
    });
    let long = [0, 255, 256, 511, 1023].map(|at| {
        let mut table = vec![0x8001; 1024];
        table[at] = 1;
        lookups(1024, Some(table))
    });
    let settings = EngineSettings::default().among(2);
    let (mut sessions, mut first, mut number) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (i, job) in circuits.chain(other).chain(tables).chain(long).enumerate() {
        let prepared = prepare(&Authenticated, &job, &settings).unwrap();
        assert!(sessions.insert(prepared.parameters(COUNT).digest()), "{i}");
        if matches!(job, JobSpec::Circuit(_)) {
            let agreement: Vec<[u8; 32]> = prepared.agreement().into_iter().map(|(_, one)| one).collect();
            first.insert(agreement.concat());
            number += 1;
        }
    }
    assert_eq!(first.len(), number);
}

/// A job says as many bits as the engine does: the fewer of the buckets and of the field.
#[test]
fn jobs_say_how_secure_they_are() {
    let one = EngineSettings::default();
    for (settings, rho, field) in [
        (one.clone().with("field", 40), 40, 40),
        (one.clone(), 40, 48),
        (EngineSettings { statistical: Some(64), ..one }, 64, 72),
    ] {
        for (parties, fewer) in [(2, 1), (3, 2), (4, 2), (5, 3), (17, 5), (32, 5)] {
            let settings = settings.clone().among(parties);
            let bits = json!(rho.min(field - fewer));
            let job = circuit(&[1, 2], [&[1], &[2], &[1, 2]], COUNT);
            let facts = prepare(&Authenticated, &job, &settings).unwrap().facts();
            assert_eq!(facts["statistical_bits"], bits, "{parties} {settings:?}");
            assert_eq!(Authenticated.facts(&settings)["statistical_bits"], bits, "{parties} {settings:?}");
        }
    }
}

/// The first of two parts of a stock.
fn info() -> StockInfo {
    StockInfo {
        id: [1; 32],
        party: 1,
        parties: 2,
        peers: [0x7a; 32],
        protocol: "aes-lt".into(),
        prep: "bucketed".into(),
        field_bits: 48,
        k: 4,
        rho: 40,
        blocks: 1,
        series: StockPlan::default().series::<Gf48>(),
    }
}

/// A stock serves with the settings with which it was made, and with peers that have all of its digest.
#[test]
fn a_stock_has_its_own_settings_and_peers() {
    let dir = tempfile::tempdir().unwrap();
    key().save(&dir.path().join("seal.key")).unwrap();
    let part = dir.path().join("party-1");
    drop(Reserve::create(&part, key(), entropy(), info(), Zeroizing::new(vec![1; 6])).unwrap());
    let cipher = Cipher::Aes(KeySize::Aes128);
    let job = JobSpec::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: 1 });
    let end = |settings: EngineSettings| prepare(&Authenticated, &job, &settings).map(drop);
    let one = EngineSettings::default().among(2).with(PREP_FROM, dir.path().display());
    let right = one.clone().with(PEERS, "7a".repeat(32));
    for same in [right.clone(), right.clone().with("k", 4).with("field", 48).with("prep", "bucketed")] {
        assert_eq!(end(same), Ok(()));
    }
    let mut others = vec![
        one.clone(),
        right.clone().among(3),
        right.clone().with("k", 3),
        right.clone().with("k", 5),
        right.clone().with("field", 40),
        right.clone().with("prep", "mascot"),
        right.clone().with("protocol", "aes-rp"),
        EngineSettings { statistical: Some(64), ..right },
    ];
    others.extend((0..64).map(|at| {
        let mut peers = "7a".repeat(32).into_bytes();
        peers[at] = b'8';
        one.clone().with(PEERS, String::from_utf8(peers).unwrap())
    }));
    for other in others {
        let refused = end(other.clone()).unwrap_err();
        assert!(refused.reason.contains("the stock in"), "{other:?}: {refused}");
    }
}

/// A stock with too little for a job is refused, and nothing is taken of it. So is one of which a part on
/// this machine is damaged, whichever part that is, before there is a session.
#[test]
fn a_stock_that_does_not_suffice_is_left_as_it_is() {
    // enough for the inputs, and not for the key schedule
    let known = [1, 2].map(|number| (Lots::Known { owner: party(number) }, 1024));
    let dirs = StockDirs { more: known.to_vec(), ..StockDirs::empty(2) };
    let made = Harness::new(2, &parameters()).act(|session| dirs.make(session));
    assert_eq!(made, vec![Ok(()); 2]);
    key().save(&dirs.root.path().join("seal.key")).unwrap();
    let settings = EngineSettings::default().among(2).with(PREP_FROM, dirs.root.path().display());
    let job = blocks(Cipher::Aes(KeySize::Aes128));
    let prepared = prepare(&Authenticated, &job, &settings).unwrap();
    let states = || [1, 2].map(|number| dirs.state(number).unwrap().counts);
    let before = states();
    let keys = prepared.deal_key(&[7; 16]);
    let ends = Harness::new(2, &PublicParameters::new("outputs")).act(|session| {
        let key = &keys[session.me().index()];
        prepared.start(session, COUNT, key).map(drop)
    });
    assert!(ends.iter().all(|end| matches!(end, Err(Abort::Unfit { .. }))), "{ends:?}");
    assert_eq!(states(), before);
    for number in [1, 2] {
        dirs.keep(number);
        for file in std::fs::read_dir(dirs.dir(number)).unwrap() {
            let file = file.unwrap().path();
            std::fs::write(&file, std::fs::read(&file).unwrap().iter().map(|byte| !byte).collect::<Vec<_>>())
                .unwrap();
        }
        let refused = prepare(&Authenticated, &job, &settings).map(drop);
        assert!(refused.is_err(), "party {number}");
        dirs.put_back(number);
        assert!(prepare(&Authenticated, &job, &settings).is_ok());
    }
}

/// Messages of these lengths, encrypted or decrypted.
fn messages(mode: CipherMode, direction: Direction, lengths: &[usize]) -> JobSpec {
    let sealed = |bytes| (direction == Direction::Decrypt).then(|| (vec![0; bytes], Vec::new()));
    let tag = if mode == CipherMode::Cmac { 16 } else { 0 };
    let message = |&bytes: &usize| ModeMessage {
        direction,
        iv: vec![0; if tag > 0 { 0 } else { 16 }],
        aad: Vec::new(),
        bytes,
        spare_bits: 0,
        tag_bytes: tag,
        sealed: sealed(bytes),
    };
    let messages = lengths.iter().map(message).collect();
    ModesJob { mode, cipher: Cipher::Aes(KeySize::Aes128), messages }.into()
}

/// Known answers, too, take nothing of a stock that does not suffice for all of them: messages of every
/// length, in both directions of the cipher.
#[test]
fn a_stock_suffices_for_all_messages_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let settings = EngineSettings::default().among(2);
    let named = settings.clone().with("protocol", "aes-lt");
    let stock = Authenticated.stock_maker().unwrap().prepare_stock(&named, 4, [0; 32]).unwrap();
    let made = Harness::new(2, &stock.parameters())
        .act(|session| stock.make(session, dir.path(), key(), &mut |_, _| {}));
    assert_eq!(made, vec![Ok(()); 2]);
    key().save(&dir.path().join("seal.key")).unwrap();
    let settings = settings.with(PREP_FROM, dir.path().display());
    let starts = |job: &JobSpec| {
        let prepared = prepare(&Authenticated, job, &settings).unwrap();
        let harness = Harness::new(2, &PublicParameters::new("outputs"));
        harness.act(|session| prepared.start(session, job.count(), &Own::default()).map(drop))
    };
    let (ctr, xts) = (CipherMode::Ctr, CipherMode::OneShot(OneShot::Xts));
    let (to, back) = (Direction::Encrypt, Direction::Decrypt);
    for (mode, direction, enough, too_much) in [
        (ctr, to, &[64][..], &[16, 48][..]),
        (ctr, to, &[16, 32], &[48, 16]),
        // whose lengths are groups of their own
        (CipherMode::Cmac, to, &[32], &[16, 48]),
        // which encrypts its tweak in both directions
        (xts, to, &[32], &[16, 32]),
        (xts, back, &[32], &[48]),
    ] {
        for (lengths, is_enough) in [(enough, true), (too_much, false)] {
            let ends = starts(&messages(mode, direction, lengths));
            let refused = |end: &Result<(), Abort>| matches!(end, Err(Abort::Unfit { .. }));
            assert!(ends.iter().all(|end| is_enough != refused(end)), "{mode:?} {lengths:?}: {ends:?}");
        }
    }
}

/// However many parts there are on a machine, each is looked at, and a damaged one is refused.
#[test]
fn each_of_many_parts_is_looked_at() {
    const PARTIES: usize = 5;
    let dir = tempfile::tempdir().unwrap();
    key().save(&dir.path().join("seal.key")).unwrap();
    let part = |party: u8| dir.path().join(format!("party-{party}"));
    for party in 1..=PARTIES as u8 {
        let info = StockInfo { party, parties: PARTIES as u8, ..info() };
        drop(Reserve::create(&part(party), key(), entropy(), info, Zeroizing::new(vec![1; 6])).unwrap());
    }
    let job = blocks(Cipher::Aes(KeySize::Aes128));
    let settings = EngineSettings::default().among(PARTIES).with(PREP_FROM, dir.path().display());
    let end = || prepare(&Authenticated, &job, &settings.clone().with(PEERS, "7a".repeat(32))).map(drop);
    assert_eq!(end(), Ok(()));
    for party in 1..=PARTIES as u8 {
        let files = || std::fs::read_dir(part(party)).unwrap().map(|file| file.unwrap().path());
        let whole: Vec<_> = files().map(|file| (std::fs::read(&file).unwrap(), file)).collect();
        for (bytes, file) in &whole {
            std::fs::write(file, bytes.iter().map(|byte| !byte).collect::<Vec<_>>()).unwrap();
        }
        assert!(end().is_err(), "party {party}");
        whole.iter().for_each(|(bytes, file)| std::fs::write(file, bytes).unwrap());
    }
    assert_eq!(end(), Ok(()));
}

/// Who makes a stock agrees on each option, the number of blocks, and all of the peers' digest.
#[test]
fn stocks_that_differ_are_told_apart() {
    let one = EngineSettings::default().among(2).with("protocol", "aes-lt");
    let settings = [
        one.clone(),
        one.clone().with("k", 2),
        one.clone().with("field", 40),
        one.clone().with("prep", "mascot"),
        one.clone().with("protocol", "3des-lt"),
        EngineSettings { statistical: Some(64), ..one.clone() },
    ];
    let digest = |settings: &EngineSettings, blocks: u64, peers: [u8; 32]| {
        let maker = Authenticated.stock_maker().unwrap();
        maker.prepare_stock(settings, blocks, peers).unwrap().parameters().digest()
    };
    let mut all: Vec<[u8; 32]> = settings.iter().map(|settings| digest(settings, 1, [0; 32])).collect();
    all.extend([2, 257, 1 << 32].map(|blocks| digest(&one, blocks, [0; 32])));
    all.extend((0..32).map(|at| digest(&one, 1, std::array::from_fn(|i| u8::from(i == at)))));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}
