//! What `poison` runs under memcheck: kernels, runs of protocols and controls, with their secrets declared
//! undefined.

use crate::calls::GarbledCall;
use crate::garbling;
use crate::lattices;
use crate::mixing;
use crate::noise::NoiseSource;
use crate::openings::{self, Marked};
use crate::poison::{COMPLETE, WRONG};
use crate::runs::{EngineRun, RunWork};
use crate::subjects::{self, KernelEntry};
use crate::wholes::WholeMode;
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
    let runs: Vec<EngineRun> = runs().into_iter().filter(|run| run.name().contains(what)).collect();
    for run in &runs {
        follow(run)?;
    }
    let garbled = garbling::RUNS.iter().filter(|(n, work)| garbling::name(*n, *work).contains(what));
    for (parties, work) in garbled.clone() {
        garble(*parties, *work)?;
    }
    let mixed = mixing::RUNS.iter().filter(|(n, work)| mixing::name(*n, *work).contains(what));
    for (parties, work) in mixed.clone() {
        mix(*parties, *work)?;
    }
    if kernels.is_empty() && runs.is_empty() && garbled.count() + mixed.count() == 0 {
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
    let garbled = garbled.into_iter().chain([RunWork::GarbledAhead("hmac-sha256")]);
    let garbled = garbled.chain(GarbledCall::ALL.map(RunWork::Call));
    runs.extend(garbled.map(|work| EngineRun { protocol, security, work }));
    runs.extend(WholeMode::ALL.map(|whole| EngineRun { protocol, security, work: RunWork::Whole(whole) }));
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

fn kernel_reports(entry: &KernelEntry) -> u64 {
    let mut subject = (entry.make)();
    let mut input = vec![0; subject.words()];
    NoiseSource::new(1).fill(&mut input);
    let before = machine::errors();
    machine::poison(input.as_mut_ptr().cast(), size_of_val(input.as_slice()));
    subject.load(&input);
    subject.run();
    machine::errors() - before
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
    let before = machine::errors();
    let ended = run.prepare().and_then(|run| run.execute(&secret));
    let reports = machine::errors() - before;
    OPENING.store(true, Ordering::Relaxed);
    ended.map_err(Failure::Unable)?;
    seen(&format!("{}, with nothing declared open", run.name()), reports);
    Ok(())
}

/// A run in which what parties draw is secret, with a branch on a secret bit at this step.
fn planted(step: &'static str, run: impl FnOnce() -> Result<Vec<Counts>, String>) -> Result<(), Failure> {
    taint::plant(step);
    RECEIVING.store(true, Ordering::Relaxed);
    let before = machine::errors();
    let ended = run();
    RECEIVING.store(false, Ordering::Relaxed);
    taint::plant("");
    ended.map_err(|e| Failure::Unable(format!("{step}: {e}")))?;
    seen(&format!("planted at {step}"), machine::errors() - before);
    Ok(())
}

/// A run of divisi-ot and divisi-garble: what each party draws and its inputs are secret, what it
/// receives is not.
fn garble(parties: usize, work: garbling::GarblingWork) -> Result<(), Failure> {
    let differs =
        |marked: &Marked, counts: &[Counts]| openings::differences_of_garbling(parties, work, marked, counts);
    let run = || garbling::run(parties, work);
    apart(&garbling::name(parties, work), run, openings::of_garbling, differs)
}

/// The same for divisi-mixed, with divisi-bgv and divisi-ot beneath it.
fn mix(parties: usize, work: mixing::MixingWork) -> Result<(), Failure> {
    let differs = |marked: &Marked, counts: &[Counts]| mixing::differences(parties, work, marked, counts);
    let run = || mixing::run(parties, work);
    apart(&mixing::name(parties, work), run, mixing::reason, differs)
}

/// A run in which each party's own randomness and inputs are secret, and what it receives is not.
fn apart(
    name: &str,
    run: impl FnOnce() -> Result<Vec<Counts>, String>,
    reason: fn(&str) -> Option<&'static str>,
    differs: impl FnOnce(&Marked, &[Counts]) -> Vec<String>,
) -> Result<(), Failure> {
    MARKED.lock().unwrap_or_else(PoisonError::into_inner).clear();
    RECEIVING.store(true, Ordering::Relaxed);
    let before = machine::errors();
    let ended = run();
    RECEIVING.store(false, Ordering::Relaxed);
    let counts = ended.map_err(|e| Failure::Unable(format!("{name}: {e}")))?;
    judge(name, machine::errors() - before);
    let marked = std::mem::take(&mut *MARKED.lock().unwrap_or_else(PoisonError::into_inner));
    for (step, (calls, bytes)) in &marked {
        let reason = reason(step).unwrap_or("?");
        println!("                  opened: {calls:>6} x, {bytes:>8} bytes  {step}: {reason}");
    }
    for difference in differs(&marked, &counts) {
        println!("{WRONG}{name}: {difference}");
    }
    Ok(())
}

fn follow(run: &EngineRun) -> Result<(), Failure> {
    MARKED.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let before = machine::errors();
    let parties = run.prepare().and_then(|run| run.execute(&secret));
    let parties = parties.map_err(|e| Failure::Unable(format!("{}: {e}", run.name())))?;
    judge(&run.name(), machine::errors() - before);
    let marked = std::mem::take(&mut *MARKED.lock().unwrap_or_else(PoisonError::into_inner));
    for (step, (calls, bytes)) in &marked {
        let reason = openings::reason(step).unwrap_or("?");
        println!("                  opened: {calls:>6} x, {bytes:>8} bytes  {step}: {reason}");
    }
    for difference in openings::differences(run, &marked, &parties) {
        println!("{WRONG}{}: {difference}", run.name());
    }
    Ok(())
}
