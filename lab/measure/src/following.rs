//! What `poison` runs under memcheck: kernels, runs of protocols and controls, with their secrets declared
//! undefined.

use crate::calls::GarbledCall;
use crate::garbling;
use crate::lattices;
use crate::mixing;
use crate::noise::NoiseSource;
use crate::one_shot::OneShotMode;
use crate::openings::{self, Marked, OF_GARBLING, OF_THREE, OpeningList, Ran};
use crate::poison::{COMPLETE, WRONG};
use crate::runs::{EngineRun, RunWork};
use crate::subjects::{self, KernelEntry};
use crate::{Failure, machine};
use divisi_core::{Counts, Direction, Step, taint};
use divisi_field::kernel;
use divisi_rep3::deal::Part;
use divisi_rep3::{Protocol, Security};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Blocks of an AES run: one tile, and a second one of which little is in use.
const BLOCKS: usize = 512 + 13;
/// Lookups: one tile, and a second one of which little is in use.
const LOOKUPS: usize = 512 + 13;
/// Bytes of a message: whole blocks, and a rest.
const BYTES: usize = 16 * 20 + 5;

/// Hashes and MACs: of few messages of several lengths, whose wires share tiles, and of many.
const FUNCTIONS: &[(&str, usize)] = &[
    ("sha256", 3),
    ("sha256", 70),
    ("sha3-256", 3),
    ("sha3-256", 70),
    ("hmac-sha256", 3),
    ("kmac128", 3),
    ("cmac-aes128", 3),
    ("gmac-aes128", 3),
    ("sha1-for-old-data", 3),
    ("hmac-sha1-for-old-data", 3),
    ("one-time-password-sha1", 3),
];

static MARKED: Mutex<Marked> = Mutex::new(Marked::new());
/// Whether what is opened is declared defined: not in the control, which must see that secrets arrive
/// everywhere.
static OPENING: AtomicBool = AtomicBool::new(true);

/// Whether received messages are declared defined: in the runs of `garbling` and `mixing`, where only
/// each party's own randomness and inputs are secret.
static RECEIVING: AtomicBool = AtomicBool::new(false);

fn observe(mark: taint::Mark, step: Step, at: *mut u8, bytes: usize) {
    match mark {
        taint::Mark::Secret => machine::poison(at, bytes),
        taint::Mark::Received if RECEIVING.load(Ordering::Relaxed) => machine::cure(at, bytes),
        taint::Mark::Received => {}
        taint::Mark::Public => {
            if OPENING.load(Ordering::Relaxed) {
                machine::cure(at, bytes);
            }
            let mut marked = MARKED.lock().unwrap_or_else(PoisonError::into_inner);
            let (calls, sum) = marked.entry(step.name).or_default();
            *calls += 1;
            *sum += bytes as u64;
        }
    }
}

fn secret(part: &mut Part) {
    for component in [&mut part.first, &mut part.second] {
        machine::poison(component.as_mut_ptr(), component.len());
    }
}

/// Follows secrets, under memcheck, through the kernels and runs whose names contain `what`, and through
/// all controls.
pub fn child(what: &str) -> Result<(), Failure> {
    if !machine::under_valgrind() {
        return Err(Failure::Unable("this is for valgrind to run".to_owned()));
    }
    kernel::select().map_err(|e| Failure::Unable(e.to_string()))?;
    if !taint::observe(observe) {
        let what =
            "nothing marks secrets in this build: the command poison makes one in which they are marked";
        return Err(Failure::Unable(what.to_owned()));
    }
    for leak in subjects::LEAKS {
        seen(leak.name, kernel_reports(leak));
    }
    let kernels = subjects::ALL.iter().chain(lattices::ALL);
    let kernels: Vec<&KernelEntry> = kernels.filter(|entry| entry.name.contains(what)).collect();
    for entry in &kernels {
        judge(entry.name, kernel_reports(entry));
    }
    let runs: Vec<Followed> = all_runs().into_iter().filter(|run| run.name.contains(what)).collect();
    for run in &runs {
        follow(run)?;
    }
    if kernels.is_empty() && runs.is_empty() {
        return Err(Failure::Unable(format!("no kernel and no run is called {what}")));
    }
    for step in garbling::LEAKS {
        let (parties, work) = garbling::SMALL;
        planted(step, || garbling::run(parties, work))?;
    }
    for (step, (parties, work)) in mixing::LEAKS {
        planted(step, || mixing::run(parties, work))?;
    }
    control()?;
    println!("{COMPLETE}");
    Ok(())
}

/// A run that is followed.
struct Followed {
    name: String,
    /// Whether each party's own randomness and inputs are secret, and what it receives is not. Otherwise
    /// shares of inputs and the keys of pairs are secret.
    receiving: bool,
    list: &'static OpeningList,
    run: Box<dyn Fn() -> Result<Vec<Counts>, String>>,
    differences: Box<dyn Fn(&Ran<'_>) -> Vec<String>>,
}

fn all_runs() -> Vec<Followed> {
    let of_three = runs().into_iter().map(|run| Followed {
        name: run.name(),
        receiving: false,
        list: &OF_THREE,
        run: Box::new(move || run.prepare()?.execute(&secret)),
        differences: Box::new(move |ran| openings::differences(&run, ran)),
    });
    let garbled = garbling::RUNS.map(|(parties, work)| Followed {
        name: garbling::name(parties, work),
        receiving: true,
        list: &OF_GARBLING,
        run: Box::new(move || garbling::run(parties, work)),
        differences: Box::new(move |ran| openings::differences_of_garbling(work, ran)),
    });
    let mixed = mixing::runs().map(|(parties, work)| Followed {
        name: mixing::name(parties, work),
        receiving: true,
        list: &mixing::openings::OF_MIXING,
        run: Box::new(move || mixing::run(parties, work)),
        differences: Box::new(move |ran| mixing::openings::differences(work, ran)),
    });
    of_three.chain(garbled).chain(mixed).collect()
}

/// The runs of three parties of which one may be corrupt.
fn runs() -> Vec<EngineRun> {
    let works = [
        (Security::SemiHonest, RunWork::Aes(Direction::Encrypt, BLOCKS)),
        (Security::Malicious, RunWork::Aes(Direction::Encrypt, BLOCKS)),
        (Security::Malicious, RunWork::Aes(Direction::Decrypt, BLOCKS)),
        (Security::Malicious, RunWork::Gcm(BYTES)),
    ];
    let of = |(security, work)| {
        Protocol::ALL.iter().map(move |protocol| EngineRun { protocol: *protocol, security, work })
    };
    let mut runs: Vec<EngineRun> = works.into_iter().flat_map(of).collect();
    let (protocol, security) = (Protocol::Gf4Circuit, Security::Malicious);
    runs.push(EngineRun { protocol, security, work: RunWork::Openings(BYTES) });
    let of = |&(name, messages)| EngineRun { protocol, security, work: RunWork::Function(name, messages) };
    runs.extend(FUNCTIONS.iter().map(of));
    let garbled = [("sha256", 3), ("hmac-sha256", 1)].map(|(name, n)| RunWork::Garbled(name, n));
    let garbled = garbled.into_iter().chain([RunWork::GarbledFirst("hmac-sha256")]);
    let garbled = garbled.chain(GarbledCall::ALL.map(|(call, _)| RunWork::Call(call)));
    runs.extend(garbled.map(|work| EngineRun { protocol, security, work }));
    runs.extend(OneShotMode::ALL.map(|(whole, _)| EngineRun {
        protocol,
        security,
        work: RunWork::OneShot(whole),
    }));
    let lookups = [Security::SemiHonest, Security::Malicious].map(|security| {
        [2, 3].map(|factors| EngineRun { protocol, security, work: RunWork::Lookups(factors, LOOKUPS) })
    });
    runs.extend(lookups.into_iter().flatten());
    let security = Security::SemiHonest;
    runs.push(EngineRun { protocol, security, work: RunWork::Function("sha3-256", 3) });
    runs
}

/// Prints the number of reports of a control, and that it is wrong if there are none.
fn seen(name: &str, reports: u64) {
    println!("{reports:>6} reports  {name} (must be seen)");
    if reports == 0 {
        println!("{WRONG}{name}: not seen");
    }
}

fn judge(name: &str, reports: u64) {
    println!("{reports:>6} reports  {name}");
    if reports > 0 {
        println!("{WRONG}{name}: {reports} reports of a branch or an address that depends on a secret");
    }
}

/// What `f` returns, and how many errors memcheck found meanwhile.
fn reported<R>(f: impl FnOnce() -> R) -> (R, u64) {
    let before = machine::errors();
    let result = f();
    (result, machine::errors() - before)
}

fn kernel_reports(entry: &KernelEntry) -> u64 {
    let mut subject = (entry.make)();
    let mut input = vec![0; subject.words()];
    NoiseSource::new(1).fill(&mut input);
    let run = || {
        machine::poison(input.as_mut_ptr().cast(), size_of_val(input.as_slice()));
        subject.load(&input);
        subject.run();
    };
    reported(run).1
}

/// A run in which nothing that is opened is declared so: if secrets arrive where they must, the
/// comparison of digests and of outputs are branches on them.
fn control() -> Result<(), Failure> {
    let run = EngineRun {
        protocol: Protocol::Gf4Circuit,
        security: Security::Malicious,
        work: RunWork::Aes(Direction::Encrypt, 16),
    };
    OPENING.store(false, Ordering::Relaxed);
    let (ended, reports) = reported(|| run.prepare().and_then(|run| run.execute(&secret)));
    OPENING.store(true, Ordering::Relaxed);
    ended.map_err(Failure::Unable)?;
    seen(&format!("{}, with nothing declared open", run.name()), reports);
    Ok(())
}

/// A run in which what parties draw is secret, with a branch on a secret bit at this step.
fn planted(step: &'static str, run: impl FnOnce() -> Result<Vec<Counts>, String>) -> Result<(), Failure> {
    taint::plant(step);
    RECEIVING.store(true, Ordering::Relaxed);
    let (ended, reports) = reported(run);
    RECEIVING.store(false, Ordering::Relaxed);
    taint::plant("");
    ended.map_err(|e| Failure::Unable(format!("{step}: {e}")))?;
    seen(&format!("planted at {step}"), reports);
    Ok(())
}

fn follow(followed: &Followed) -> Result<(), Failure> {
    let Followed { name, receiving, list, run, differences } = followed;
    MARKED.lock().unwrap_or_else(PoisonError::into_inner).clear();
    RECEIVING.store(*receiving, Ordering::Relaxed);
    let (ended, reports) = reported(run);
    RECEIVING.store(false, Ordering::Relaxed);
    let parties = ended.map_err(|e| Failure::Unable(format!("{name}: {e}")))?;
    judge(name, reports);
    let marked = std::mem::take(&mut *MARKED.lock().unwrap_or_else(PoisonError::into_inner));
    for (step, (calls, bytes)) in &marked {
        let reason = list.reason(step).unwrap_or("?");
        println!("                  opened: {calls:>6} x, {bytes:>8} bytes  {step}: {reason}");
    }
    for difference in differences(&Ran { marked: &marked, parties: &parties }) {
        println!("{WRONG}{name}: {difference}");
    }
    Ok(())
}
