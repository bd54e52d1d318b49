//! `poison`: whether a branch or an address depends on a secret, by memcheck.
//!
//! Memcheck follows undefined memory through every instruction and reports where a branch or an address depends on it. So inputs of
//! kernels, shares of inputs and keys are declared undefined, and what a protocol opens is declared defined again
//! ([`divisi_core::taint`]): what memcheck then reports depends on a secret (Langley, ctgrind).

use crate::Failure;
use crate::valgrind;
use divisi_field::kernel::Kernel;
#[cfg(feature = "taint")]
pub use following::child;
use std::path::Path;

/// The argument with which this program runs under memcheck.
pub const CHILD: &str = "child-poison";

/// The profiles it is built in: as it is shipped, and one level below.
const PROFILES: [(&str, &str); 2] = [("measure-o2", "opt-level 2"), ("release", "opt-level 3")];

const TOOL: [&str; 6] = [
    "--tool=memcheck",
    "--error-limit=no",
    "--leak-check=no",
    "--expensive-definedness-checks=yes",
    "--fair-sched=yes",
    "--num-callers=16",
];

/// Fail if memcheck reports anything but the planted leaks, or not these, or if something is opened that no protocol opens.
pub fn check() -> Result<(), Failure> {
    valgrind::version()?;
    let mut wrong = Vec::new();
    for (profile, level) in PROFILES {
        let program = valgrind::build(profile, "taint")?;
        for kernel in valgrind::KERNELS {
            println!("\n== kernel {kernel}, {level}");
            wrong.extend(
                follow(&program, kernel)?.into_iter().map(|what| format!("{kernel}, {level}: {what}")),
            );
        }
    }
    if wrong.is_empty() {
        println!("\nnothing but the planted leaks depends on a secret, and nothing else was opened");
        return Ok(());
    }
    Err(Failure::Broken(wrong.join("\n")))
}

/// Everything with one kernel; what is wrong.
fn follow(program: &Path, kernel: Kernel) -> Result<Vec<String>, Failure> {
    let log = program.with_file_name(format!("poison-{kernel}.log"));
    let output = valgrind::run(&TOOL, kernel, &log, program, &[CHILD, "all"])?;
    let output = valgrind::text(&output.stdout);
    print!("{output}");
    let mut wrong: Vec<String> =
        output.lines().filter_map(|line| line.strip_prefix(WRONG)).map(str::to_owned).collect();
    if !output.lines().any(|line| line == COMPLETE) {
        wrong.push("the run did not come to its end".to_owned());
    }
    println!("where: {}", log.display());
    Ok(wrong)
}

/// What a line about something wrong begins with.
const WRONG: &str = "WRONG: ";
/// The last line.
const COMPLETE: &str = "complete";

/// Without the feature nothing tells what is secret.
#[cfg(not(feature = "taint"))]
pub fn child(_: &str) -> Result<(), Failure> {
    Err(Failure::Unable("built without the feature taint: call the command poison".to_owned()))
}

#[cfg(feature = "taint")]
mod following {
    use super::{COMPLETE, WRONG};
    use crate::noise::Noise;
    use crate::openings::{self, Marked};
    use crate::runs::{Run, Work};
    use crate::subjects::{self, Entry};
    use crate::{Failure, machine};
    use divisi_core::{Direction, Step, taint};
    use divisi_field::kernel;
    use divisi_rep3::deal::Part;
    use divisi_rep3::{Protocol, Security};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// Blocks of an AES run: one tile, and a second one of which little is in use.
    const BLOCKS: usize = 512 + 13;
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
    ];

    static MARKED: Mutex<Marked> = Mutex::new(Marked::new());
    /// Whether what is opened is declared defined: not in the control, which must see that secrets arrive everywhere.
    static OPENING: AtomicBool = AtomicBool::new(true);

    fn observe(mark: taint::Mark, step: Step, at: *mut u8, bytes: usize) {
        match mark {
            taint::Mark::Secret => machine::poison(at, bytes),
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

    /// Follow secrets through all that is guarded, under memcheck.
    pub fn child(_: &str) -> Result<(), Failure> {
        if !machine::under_valgrind() {
            return Err(Failure::Unable("this is for valgrind to run".to_owned()));
        }
        kernel::select().map_err(|e| Failure::Unable(e.to_string()))?;
        taint::observe(observe);
        for leak in subjects::LEAKS {
            let reports = kernel_reports(leak);
            println!("{reports:>6} reports  {} (must be seen)", leak.name);
            if reports == 0 {
                println!("{WRONG}{}: not seen", leak.name);
            }
        }
        for entry in subjects::ALL {
            judge(entry.name, kernel_reports(entry));
        }
        let works = [
            (Security::SemiHonest, Work::Aes(Direction::Encrypt, BLOCKS)),
            (Security::Malicious, Work::Aes(Direction::Encrypt, BLOCKS)),
            (Security::Malicious, Work::Aes(Direction::Decrypt, BLOCKS)),
            (Security::Malicious, Work::Gcm(BYTES)),
        ];
        for (security, work) in works {
            for protocol in Protocol::ALL {
                follow(&Run { protocol: *protocol, security, work })?;
            }
        }
        let (protocol, security) = (Protocol::Gf4Circuit, Security::Malicious);
        follow(&Run { protocol, security, work: Work::Openings(BYTES) })?;
        for (name, messages) in FUNCTIONS {
            follow(&Run { protocol, security, work: Work::Function(name, *messages) })?;
        }
        let security = Security::SemiHonest;
        follow(&Run { protocol, security, work: Work::Function("sha3-256", 3) })?;
        // last, for memcheck tells of each place once
        control()?;
        println!("{COMPLETE}");
        Ok(())
    }

    fn judge(name: &str, reports: u64) {
        println!("{reports:>6} reports  {name}");
        if reports > 0 {
            println!("{WRONG}{name}: {reports} reports of a branch or an address that depends on a secret");
        }
    }

    fn kernel_reports(entry: &Entry) -> u64 {
        let mut subject = (entry.make)();
        let mut input = vec![0; subject.words()];
        Noise::new(1).fill(&mut input);
        let before = machine::errors();
        machine::poison(input.as_mut_ptr().cast(), size_of_val(input.as_slice()));
        subject.load(&input);
        subject.run();
        machine::errors() - before
    }

    /// A run in which nothing that is opened is declared so: if secrets arrive where they must, the comparison of digests and of
    /// outputs are branches on them.
    fn control() -> Result<(), Failure> {
        let run = Run {
            protocol: Protocol::Gf4Circuit,
            security: Security::Malicious,
            work: Work::Aes(Direction::Encrypt, 16),
        };
        OPENING.store(false, Ordering::Relaxed);
        let before = machine::errors();
        let ended = run.prepare().and_then(|run| run.execute(&secret));
        let reports = machine::errors() - before;
        OPENING.store(true, Ordering::Relaxed);
        ended.map_err(Failure::Unable)?;
        println!("{reports:>6} reports  {}, with nothing declared open (must be seen)", run.name());
        if reports == 0 {
            println!("{WRONG}secrets do not arrive in a run: not seen");
        }
        Ok(())
    }

    fn follow(run: &Run) -> Result<(), Failure> {
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
}
