//! A stock after an abort in any phase (1.10), after kills and restarts (1.11), and on a disk that is full
//! while it is used: no value is given out twice, and nothing of a stock survives a lie.

use crate::common::{Ends, INPUT, LOOKUP, SIGMA, StockDirs, Trouble, entropy, key, parameters};
use crate::engines::sent;
use divisi_core::DrawPurpose;
use divisi_core::testing::{Harness, failed_check, party};
use divisi_core::{Abort, Bytes, Direction, Session, SessionId, Settles, Step, step};
use divisi_field::{Field, Gf48};
use divisi_spdz::stock::FromStock;
use divisi_spdz::{Source, Spdz, SpdzProtocol, Tiny, lab};
use divisi_store::stock::Reserve;
use divisi_store::{Disk, MachineDisk};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

static RESTARTS: DrawPurpose = DrawPurpose::of_test("restarts");

const COIN: &str = "divisi_spdz::check/check.2.coin";
const COMMIT: &str = "divisi_spdz::check/check.3.commit";
const OUTPUT: &str = "divisi_spdz::engine/output";
const OUTPUT_TO: &str = "divisi_spdz::input/output.to";
const INDICES: &str = "divisi_spdz::engine::tiny/tinytable.e";
const ENTRIES: &str = "divisi_spdz::engine::tiny/tinytable.entry";

/// P_2 lies to P_1, and does not end the session over it: it receives no sigma any more.
fn lied(
    step: &'static str,
    nth: usize,
    f: impl Fn(Session) -> Result<(), Abort> + Sync,
) -> Vec<Result<(), Abort>> {
    let harness = Harness::new(2, &parameters()).waiting(Duration::from_secs(5));
    // every byte is changed: a lie about one item of a bucket alone is undetected in half of all cases
    let told = Arc::new(AtomicBool::new(false));
    let lied = Arc::clone(&told);
    harness.change(party(2), party(1), step, nth, move |body| {
        lied.store(true, Ordering::SeqCst);
        body.iter_mut().for_each(|byte| *byte ^= 1);
    });
    let sigma = Step::new(SIGMA).id;
    harness.hand(party(1), party(2), move |frame| {
        if frame.step == sigma && told.load(Ordering::SeqCst) { vec![] } else { vec![frame] }
    });
    harness.act(f)
}

/// Whether nothing of a party's stock can be used any more: the head has alpha, and the secret without which
/// no other file can be opened.
fn gone(dirs: &StockDirs, number: u8) -> bool {
    dirs.state(number).is_err() && !dirs.dir(number).join("head").exists()
}

/// A lie while a stock is made, in rows, payloads or a check, destroys the stock. These stocks are made with
/// small buckets, by which a lie about few items in a payload is found with some probability only: which
/// message is the second one depends on the strands. If no check of P_1 failed, such a lie is told again.
#[test]
fn a_lie_while_a_stock_is_made_leaves_none() {
    let steps = ["divisi_ot::vole/correct", "divisi_ot::correlate/payload", SIGMA, COMMIT];
    for (step, nth) in steps.into_iter().flat_map(|step| [(step, 0), (step, 1)]) {
        let destroyed = (0..4).any(|_| {
            let dirs = StockDirs::empty(2);
            let ends = lied(step, nth, |session| dirs.make(session));
            assert!(ends[0].is_err(), "{step} {nth}: {ends:?}");
            let destroyed = gone(&dirs, 1);
            let unnoticed = step.ends_with("payload") && failed_check(&ends[0]).is_none();
            assert!(destroyed || unnoticed, "{step} {nth}: {ends:?}");
            // what P_2 still has cannot be used
            assert!(!destroyed || dirs.all(0x53).iter().all(Result::is_err), "{step} {nth}");
            destroyed
        });
        assert!(destroyed, "{step} {nth}");
    }
}

/// An input, an S-box, and outputs to all and to one.
fn lookups(dirs: &StockDirs, session: Session) -> Result<(), Abort> {
    let mine = session.me() == party(1);
    let mut engine = dirs.begin(session)?;
    let mut byte = engine.input(party(1), mine.then_some(&[0x53]), 1)?;
    engine.sbox(Direction::Encrypt, &mut [&mut byte])?;
    let verified = engine.settled(byte)?;
    engine.output_to(party(1), verified.clone())?;
    assert_eq!(engine.output(verified)?[0].0, 0xed);
    Ok(())
}

/// The same by TinyTable.
fn tiny(dirs: &StockDirs, session: Session) -> Result<(), Abort> {
    let mine = session.me() == party(1);
    let mut tiny = Tiny::new(dirs.begin(session)?);
    let mask = tiny.engine().input_mask(party(1), 1)?;
    let mut wire = Tiny::mask(mask.shares().clone());
    tiny.sbox(Direction::Encrypt, &mut [&mut wire])?;
    tiny.open_indices()?;
    let mut public = Tiny::masked(&tiny.engine().masked_input(mask, mine.then_some(&[0x53]))?);
    tiny.sbox(Direction::Encrypt, &mut [&mut public])?;
    let out = tiny.output(wire, public)?;
    let verified = tiny.engine().settled(out)?;
    assert_eq!(tiny.engine().output(verified)?[0].0, 0xed);
    Ok(())
}

/// A lie while a stock is used, in its load, its openings, its check or its outputs, destroys the stock:
/// alpha is wiped, and the liar's own part, of which it kept a copy, is useless.
#[test]
fn a_lie_in_any_phase_destroys_the_stock() {
    type Use = fn(&StockDirs, Session) -> Result<(), Abort>;
    let phases: [(&'static str, Use); 9] = [
        (INDICES, tiny),
        (ENTRIES, tiny),
        (LOOKUP, lookups),
        (INPUT, lookups),
        (COIN, lookups),
        (COMMIT, lookups),
        (SIGMA, lookups),
        (OUTPUT_TO, lookups),
        (OUTPUT, lookups),
    ];
    for (step, how) in phases {
        let dirs = StockDirs::new(2);
        dirs.keep(2);
        let ends = lied(step, 0, |session| how(&dirs, session));
        // between two parties, a false input is just another input
        if step == INPUT {
            assert!(ends[0].is_ok());
            continue;
        }
        assert!(failed_check(&ends[0]).is_some(), "{step}: {ends:?}");
        assert!(gone(&dirs, 1), "{step}: {:?}", dirs.state(1).err());
        dirs.put_back(2);
        assert!(dirs.all(0x53).iter().all(Result::is_err), "{step}");
    }
    for how in [lookups as Use, tiny] {
        let dirs = StockDirs::new(2);
        let ends = Harness::new(2, &parameters()).act(|session| how(&dirs, session));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }
}

/// What the parties were given in all sessions so far.
#[derive(Default)]
struct Given {
    /// Shares of unit vectors, by party: 264 bits each.
    units: HashSet<(u8, Vec<u8>)>,
    /// The sessions.
    ids: HashSet<SessionId>,
    /// The keys of streams that two parties share.
    keys: HashSet<[u8; 16]>,
    /// What was given twice.
    twice: Vec<String>,
}

/// A session that takes a unit vector, on the disk that `disk` gives.
fn take(
    dirs: &StockDirs,
    session: Session,
    given: &Mutex<Given>,
    disk: &(dyn Fn(u8) -> Box<dyn Disk> + Sync),
) -> Result<(), Abort> {
    let (me, mut session) = (session.me(), session);
    if me == party(1) {
        let mut key = [0; 16];
        session.prg(party(2), &RESTARTS).fill(&mut key);
        let mut given = given.lock().unwrap();
        if !given.ids.insert(session.id()) || !given.keys.insert(key) {
            given.twice.push("a session".into());
        }
    }
    let reserve = Reserve::open_on(disk(me.number()), &dirs.dir(me.number()), key(), entropy(), me.number());
    let unfit = |e: divisi_store::stock::StockError| Abort::Unfit { step: step!("test"), why: e.to_string() };
    let reserve = reserve.map_err(|e| session.fail(unfit(e)))?;
    let (mut party, mut source) = FromStock::<Gf48>::start(session, reserve)?;
    let units = source.units(&mut party, 8, 1)?;
    let shares = lab::unit_shares(&units).concat().iter().map(|bit| bit.to_bits() as u8).collect();
    {
        let mut given = given.lock().unwrap();
        if !given.units.insert((me.number(), shares)) {
            given.twice.push(format!("a unit of {me}"));
        }
    }
    party.check()?;
    Spdz::new(party, Box::new(source), SpdzProtocol::Lookup)?.rest()
}

fn takes(
    dirs: &StockDirs,
    given: &Mutex<Given>,
    disk: &(dyn Fn(u8) -> Box<dyn Disk> + Sync),
) -> Vec<Result<(), Abort>> {
    Harness::new(2, &parameters()).act(|session| take(dirs, session, given, disk))
}

fn machine(_: u8) -> Box<dyn Disk> {
    Box::new(MachineDisk)
}

/// In some sessions one of the parties is killed at some write; then all start again.
fn restarts(times: usize) {
    let dirs = StockDirs::with(2, times as u64 + 8);
    let given = Mutex::new(Given::default());
    let (mut killed, mut whole) = (0, 0);
    for i in 0..times {
        let dies = |number: u8| match (i % 3, number) {
            (0, 1) | (1, 2) => Ends::after(i / 3 % 6, Trouble::Dead),
            _ => machine(number),
        };
        let ends = takes(&dirs, &given, &dies);
        if ends.iter().all(Result::is_ok) { whole += 1 } else { killed += 1 }
    }
    // the stock can still be used
    assert!(takes(&dirs, &given, &machine).iter().all(Result::is_ok));
    let given = given.into_inner().unwrap();
    assert!(given.twice.is_empty(), "{:?}", given.twice);
    assert_eq!((given.ids.len(), given.keys.len()), (times + 1, times + 1));
    assert!(killed >= times / 4 && whole >= times / 3, "{killed} {whole}");
    assert!(given.units.len() >= 2 * whole, "{} {whole}", given.units.len());
}

/// The control: the test detects values that are given twice. All parties' directories are copied back, which
/// is out of scope by SECURITY.md.
#[test]
fn what_is_given_twice_is_noticed() {
    let (dirs, given) = (StockDirs::new(2), Mutex::new(Given::default()));
    [1, 2].into_iter().for_each(|number| dirs.keep(number));
    for _ in 0..2 {
        assert!(takes(&dirs, &given, &machine).iter().all(Result::is_ok));
        [1, 2].into_iter().for_each(|number| dirs.put_back(number));
    }
    assert_eq!(given.into_inner().unwrap().twice.len(), 2);
}

#[test]
fn kills_and_restarts_give_nothing_twice() {
    restarts(36);
}

#[test]
#[ignore = "1,000 restarts"]
fn a_thousand_restarts_give_nothing_twice() {
    restarts(1000);
}

/// The disk of a party is full after some number of writes. The party says so, and no value that was given
/// before is given again when there is folder.
#[test]
fn a_full_disk_in_use_gives_nothing_twice() {
    for how in [Trouble::Full, Trouble::Half] {
        let dirs = StockDirs::new(2);
        [1, 2].into_iter().for_each(|number| dirs.keep(number));
        let mut folder = 0;
        loop {
            [1, 2].into_iter().for_each(|number| dirs.put_back(number));
            let given = Mutex::new(Given::default());
            let disk = |number| if number == 2 { Ends::after(folder, how) } else { machine(number) };
            let ends = takes(&dirs, &given, &disk);
            if ends.iter().all(Result::is_ok) {
                break;
            }
            // the party reports the trouble of its disk, for which the command's exit code is 2
            let says = matches!(&ends[1], Err(Abort::Unfit { why, .. }) if why.contains("storage"));
            assert!(says, "{how:?} {folder}: {ends:?}");
            let after = takes(&dirs, &given, &machine);
            // half of a file may make a stock useless
            assert!(how == Trouble::Half || after.iter().all(Result::is_ok), "{how:?} {folder}: {after:?}");
            let given = given.into_inner().unwrap();
            assert!(given.twice.is_empty(), "{how:?} {folder}: {:?}", given.twice);
            folder += 1;
            assert!(folder < 40);
        }
        assert!(folder > 1, "{how:?} {folder}");
    }
}

/// The disk of a party is full at some write, also in the middle of a check of MACs, where the stock records
/// that alpha is at risk: no sigma leaves before this is on the disk. The session is over then: a second
/// attempt verifies nothing.
#[test]
fn a_full_disk_in_a_check_leaves_nothing_verified() {
    let dirs = StockDirs::new(2);
    [1, 2].into_iter().for_each(|number| dirs.keep(number));
    let checks = AtomicUsize::new(0);
    let (mut folder, mut sigmas) = (0, Vec::new());
    let work = |session: Session, folder: usize| {
        let number = session.me().number();
        let disk = if number == 2 { Ends::after(folder, Trouble::Full) } else { machine(number) };
        let reserve = Reserve::open_on(disk, &dirs.dir(number), key(), entropy(), number);
        let mut engine = dirs.begin_with(session, reserve)?;
        let mut byte = engine.input(party(1), (number == 1).then_some(&[0x53]), 1)?;
        engine.sbox(Direction::Encrypt, &mut [&mut byte])?;
        let again = byte.clone();
        match engine.settled(byte) {
            Ok(verified) => engine.output(verified).map(|out| assert_eq!(out[0].0, 0xed)),
            Err(why) => {
                assert!(engine.settled(again).is_err(), "{why}");
                assert!(engine.session().cause().is_some(), "{why}");
                checks.fetch_add(usize::from(number == 2), Ordering::AcqRel);
                Err(why)
            }
        }
    };
    loop {
        let harness = Harness::new(2, &parameters());
        let (recording, before) = (harness.recording(party(2)), checks.load(Ordering::Acquire));
        let ends = harness.act(|session| work(session, folder));
        if ends.iter().all(Result::is_ok) {
            break;
        }
        if checks.load(Ordering::Acquire) > before {
            sigmas.push(sent(&recording, SIGMA));
        }
        assert!(matches!(&ends[1], Err(Abort::Unfit { .. })), "{folder}: {ends:?}");
        [1, 2].into_iter().for_each(|number| dirs.put_back(number));
        folder += 1;
        assert!(folder < 40);
    }
    // before our sigma was sent, and after everybody's was right
    assert_eq!(sigmas, [0, 1], "{folder}");
}

/// No sigma leaves before it is on the disk that alpha is at risk, in the first check of a session or a later
/// one.
#[test]
fn every_sigma_is_sent_at_a_noted_risk() {
    for how in [lookups, tiny] {
        let dirs = Arc::new(StockDirs::new(2));
        let noted = Arc::new(Mutex::new(Vec::new()));
        let harness = Harness::new(2, &parameters());
        let (of, risks, sigma) = (Arc::clone(&dirs), Arc::clone(&noted), Step::new(SIGMA).id);
        harness.hand(party(1), party(2), move |frame| {
            if frame.step == sigma {
                risks.lock().unwrap().push(of.state(1).is_ok_and(|state| state.at_risk));
            }
            vec![frame]
        });
        let ends = harness.act(|session| how(&dirs, session));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let noted = noted.lock().unwrap();
        assert!(noted.len() >= 2 && noted.iter().all(|noted| *noted), "{noted:?}");
        assert!((1..=2).all(|number| !dirs.state(number).unwrap().at_risk));
    }
}
