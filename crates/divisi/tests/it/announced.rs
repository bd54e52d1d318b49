//! What every engine says before any party runs: what it claims; which jobs it does in which settings, in how
//! many parts, with which facts; what it refuses, and in which words; and what it makes of the figures of a
//! benchmark.
//!
//! `announced.txt` has what was said, as often as it was. After a change that is meant:
//! `DIVISI_NETS=write cargo test -p divisi --test it -- announced`

use crate::agreement::{KINDS, bases, settings};
use divisi::engine::{
    Calibration, Engine, EngineSettings, JobSpec, Measured, Phase, Prepared, Profile, StockMaker,
    Unsupported, all, at_once, check, has, prepare,
};
use divisi::layers::core::Security;
use divisi::layers::program::adapter::jobs::ProgramJob;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

const HEAD: &str = "# What engines say, and how often; written by the test of this name.\n";
/// The most jobs of a kind.
const MOST: usize = 10;

/// A program with its samples.
fn programs() -> Vec<JobSpec> {
    let program = ProgramJob::load(&"mnist".into(), None, 1).unwrap();
    vec![JobSpec::Own(Arc::new(program))]
}

/// Settings one by one: those in which something differs, those at the ends of what is allowed, and those
/// that do not go together.
fn tried(engine: &dyn Engine) -> Vec<EngineSettings> {
    let mut tried = Vec::new();
    for base in bases(engine) {
        let values = settings(engine, &base).into_iter().flat_map(|(_, values)| values);
        // of numbers some are enough
        let some =
            |value: &str| value.parse().map_or(true, |n: u32| n < 10 || n.is_multiple_of(8) || n == 42);
        tried.extend(values.filter(|(value, _)| some(value)).map(|(_, settings)| settings));
        for threads in [0, 1024, 1025] {
            tried.push(EngineSettings { threads, ..base.clone() });
        }
        for security in [Security::SemiHonest, Security::Malicious] {
            for bits in [None, Some(0), Some(57), Some(58), Some(114), Some(115), Some(256)] {
                tried.push(EngineSettings { security, statistical: bits, ..base.clone() });
            }
        }
        tried.push(base.clone().among(256).with("unknown", "1"));
        tried.push(base.among(256));
    }
    tried
}

/// Figures of which no two are alike.
fn measured(
    engine: &dyn Engine,
    job: &JobSpec,
    settings: &EngineSettings,
    prepared: &dyn Prepared,
) -> Measured {
    let clocks = engine.phases(settings);
    let phase = |i: usize| Phase {
        seconds: 0.25 * (i + 1) as f64,
        cpu_seconds: 0.125 * (i + 2) as f64,
        bits: 1_000 * (i as u64 + 3),
        bytes: 100 * (i as u64 + 4),
        rounds: i as u32 + 5,
    };
    let parties = prepared.parties();
    let bytes = |party| (0..clocks.len()).map(|i| phase(i).bytes - party as u64).collect();
    Measured {
        settings: settings.clone(),
        about: job.about(),
        count: job.count() as u64,
        unit: job.unit(),
        facts: prepared.facts(),
        parties,
        reps: 5,
        connect_seconds: 0.0625,
        clocks,
        phases: clocks.iter().enumerate().map(|(i, clock)| (clock.name, phase(i))).collect(),
        repetitions: Vec::new(),
        bytes_by_party: (0..parties).map(bytes).collect(),
        peak_rss_bytes: Some(3 << 20),
        verification_error_bits: engine.statistical_bits(settings).map(|bits| f64::from(bits) + 0.5),
        computational_bits: engine.statistical_bits(settings).is_none().then_some(100.75),
        checks: BTreeMap::new(),
        kernel: "safe".into(),
        calibration: Calibration { aes_ctr_gb_s: 1.5, loopback_gbit_s: 2.5, clmul_ns: 3.5 },
    }
}

/// A refusal without the number that is refused.
fn without_number(refused: &str) -> String {
    let number = refused
        .split_once(" is ")
        .map(|(option, rest)| (option, rest.trim_start_matches(|c: char| c.is_ascii_digit()), rest));
    match number {
        Some((option, behind, rest)) if behind.len() < rest.len() => format!("{option} is …{behind}"),
        _ => refused.to_owned(),
    }
}

/// A line of the list, or several if it is long.
fn filled(text: &str) -> String {
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        if column + word.len() > 106 {
            lines.push_str("\n  ");
            column = 2;
        }
        let between = if column == 0 { "" } else { " " };
        lines.push_str(between);
        lines.push_str(word);
        column += between.len() + word.len();
    }
    lines + "\n"
}

/// JSON in which logarithms do not depend on the machine that takes them, nor the order of members on how
/// maps are built.
fn rounded(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name:?}:{}", rounded(value));
            let members: BTreeSet<_> = members.iter().map(member).collect();
            format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(rounded).collect::<Vec<_>>().join(",")),
        Value::Number(number) if number.is_f64() => format!("{:.5e}", number.as_f64().unwrap()),
        value => value.to_string(),
    }
}

/// What is said of these tests' files is the same wherever they are.
fn without_folder(text: &str) -> String {
    text.replace(concat!(env!("CARGO_TARGET_TMPDIR"), "/"), "")
}

/// What is listed word by word, and what is too long for that.
#[derive(Default)]
struct Said {
    short: BTreeMap<String, usize>,
    long: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl Said {
    fn short(&mut self, text: &str) {
        *self.short.entry(without_folder(text)).or_default() += 1;
    }

    fn long(&mut self, what: &'static str, text: &str) {
        *self.long.entry(what).or_default().entry(without_folder(text)).or_default() += 1;
    }

    fn refused(&mut self, why: &Unsupported) {
        self.short(&format!("refuses: {}", without_number(&why.to_string())));
    }

    /// What an engine is, and what it makes of settings; those with which it can do something.
    fn of_engine(&mut self, engine: &dyn Engine) -> Vec<EngineSettings> {
        let Profile { parties, adversary, security, deals, verifies_online, claims, .. } = engine.profile();
        self.short(&format!(
            "{parties:?} parties, {adversary:?}, {security:?}, deals {deals}, verifies {verifies_online}"
        ));
        claims().iter().for_each(|claim| self.short(&format!("{claim:?}")));
        let mut fine = tried(engine);
        fine.retain(|settings| check(engine, settings).map_err(|why| self.refused(&why)).is_ok());
        for settings in &fine {
            self.short(&format!("statistical {:?}", engine.statistical_bits(settings)));
            self.long("facts", &rounded(&json!(engine.facts(settings))));
        }
        if let Some(maker) = engine.stock_maker() {
            let blocks = [0, 1, 1 << 32, (1 << 32) + 1];
            tried(engine).iter().for_each(|with| blocks.iter().for_each(|n| self.stock(maker, with, *n)));
        }
        fine
    }

    /// How a stock of so many blocks is made, or why not.
    fn stock(&mut self, maker: &dyn StockMaker, settings: &EngineSettings, blocks: u64) {
        match maker.prepare_stock(settings, blocks, [7; 32]) {
            Ok(stock) => self.short(&format!("a stock of {} parties", stock.parties())),
            Err(why) => self.refused(&why),
        }
    }

    /// How a job is prepared, or why not.
    fn prepared(&mut self, engine: &dyn Engine, job: &JobSpec, settings: &EngineSettings) {
        let prepared = match prepare(engine, job, settings) {
            Ok(prepared) => prepared,
            Err(why) => return self.refused(&why),
        };
        for warmup in [0, 1, 3] {
            self.short(&format!("{:?}", prepared.bench_schedule(warmup)));
        }
        self.short(&format!("at once {}", at_once(engine, job, settings)));
        self.long("facts", &rounded(&json!(prepared.facts())));
    }

    /// What is made of figures.
    fn reported(&mut self, engine: &dyn Engine, job: &JobSpec, settings: &EngineSettings) {
        let Ok(prepared) = prepare(engine, job, settings) else { return };
        let figures = measured(engine, job, settings, &*prepared);
        self.long("report", &rounded(&json!(engine.report(&figures))));
        self.long("page", &format!("{:?}", engine.page(&figures)));
    }
}

/// The list, and all that it has digests of.
#[derive(Default)]
struct Lists {
    short: String,
    whole: String,
}

impl Lists {
    fn add(&mut self, head: &str, said: &Said) {
        if said.short.is_empty() {
            return;
        }
        [&mut self.short, &mut self.whole].into_iter().for_each(|list| writeln!(list, "\n{head}").unwrap());
        said.short.iter().for_each(|(text, times)| self.short.push_str(&filled(&format!("{times} {text}"))));
        for (what, texts) in &said.long {
            let all: String = texts.iter().map(|(text, times)| format!("{times} {what} {text}\n")).collect();
            let digest = blake3::hash(all.as_bytes()).to_hex();
            writeln!(self.short, "{what}: {} different, {digest}", texts.len()).unwrap();
            self.whole.push_str(&all);
        }
    }
}

#[test]
fn engines_say_what_they_said() {
    let mut lists = Lists { short: HEAD.into(), ..Lists::default() };
    let programs = ("programs", programs());
    for engine in all() {
        let mut said = Said::default();
        let fine = said.of_engine(engine);
        lists.add(engine.name(), &said);
        let bases = bases(engine);
        for (kind, jobs) in KINDS.iter().chain([&programs]) {
            let mut said = Said::default();
            for job in jobs.iter().filter(|job| has(engine, job)).take(MOST) {
                for job in [1, 300_000].map(|count| job.clone().counted(count)) {
                    fine.iter().for_each(|settings| said.prepared(engine, &job, settings));
                    bases.iter().for_each(|settings| said.reported(engine, &job, settings));
                }
            }
            lists.add(&format!("{}, {kind}", engine.name()), &said);
        }
    }
    let Lists { short: list, whole } = lists;
    let of_this = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name);
    if std::env::var_os("DIVISI_NETS").is_some_and(|value| value == "write") {
        std::fs::write(of_this("announced.txt"), &list).unwrap();
    }
    let known = std::fs::read_to_string(of_this("announced.txt")).unwrap_or_default();
    if list != known {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("announced-whole.txt");
        std::fs::write(&all, &whole).unwrap();
        let lines = |of: &str| of.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let (new, old) = (lines(&list), lines(&known));
        let differ: Vec<_> = new.difference(&old).map(|line| format!("now {line}")).collect();
        let gone: Vec<_> = old.difference(&new).map(|line| format!("not {line}")).collect();
        panic!(
            "engines say otherwise; {} has all facts and reports:\n{}",
            all.display(),
            [differ, gone].concat().join("\n")
        );
    }
}
