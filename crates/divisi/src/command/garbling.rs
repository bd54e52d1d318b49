//! What only the engine garble has a choice of, and what its benchmark prints.

use super::{Context, Done, Engine, EngineChoice};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use divisi::bench::garble::{self, Options, Report};
use divisi::calibrate::calibrate;
use divisi::failure::Failure;
use divisi::garbling::{Garbling, base_name};
use divisi::local::this_program;
use divisi_garble::Form;
use divisi_ot::Base;
use divisi_rep3::Security;

#[derive(Clone, Copy, ValueEnum)]
enum FormName {
    /// Half-gates, and smaller leaky triples
    Improved,
    /// As in the paper's figures
    Paper,
}

#[derive(Clone, Copy, ValueEnum)]
enum BaseName {
    /// Public-key base OTs in one direction of a pair, the others from a first small extension
    Half,
    /// Public-key base OTs in both directions: fewer rounds
    Both,
}

/// How circuits are garbled.
#[derive(Args, Clone, Copy)]
pub struct Manner {
    /// Of garble: which tables [default: improved]
    #[arg(long, value_enum, value_name = "NAME")]
    form: Option<FormName>,
    /// Of garble: the parameter of SoftSpokenOT, 1 to 8; more of it sends less and computes more [default: 4; 5 from 262144 ANDs on]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
    /// Of garble: how base OTs are made [default: half]
    #[arg(long, value_enum, value_name = "NAME")]
    base_ot: Option<BaseName>,
    /// Of garble: refuse to keep more MiB of tables than that [default: 1024]
    #[arg(long, value_name = "MIB")]
    budget: Option<u32>,
}

impl Manner {
    /// What is asked of the engine garble; nothing if it is another that is asked.
    pub fn get(
        self,
        engine: EngineChoice,
        security: Security,
        statistical: Option<u32>,
        streamed: bool,
    ) -> Result<Option<Garbling>, Failure> {
        let usual = Garbling::default();
        if let Engine::Rep3 = engine.engine {
            engine.check()?;
            let first = [
                ("--form", self.form.is_some()),
                ("--k", self.k.is_some()),
                ("--base-ot", self.base_ot.is_some()),
                ("--budget", self.budget.is_some()),
                ("--streamed", streamed),
            ]
            .into_iter()
            .find_map(|(name, given)| given.then_some(name));
            return match first {
                Some(name) => Err(Failure::usage(format!(
                    "{name} belongs to the engine garble: give --engine garble, or leave it out"
                ))),
                None => Ok(None),
            };
        }
        if security == Security::SemiHonest {
            return Err(Failure::usage(
                "the engine garble is for malicious parties: leave --security out, or give malicious",
            ));
        }
        let mut garbling = Garbling { streamed, parties: engine.parties.unwrap_or(usual.parties), ..usual };
        garbling.options.form = match self.form {
            Some(FormName::Paper) => Form::Paper,
            Some(FormName::Improved) => Form::Improved,
            None => usual.options.form,
        };
        garbling.options.budget =
            self.budget.map_or(usual.options.budget, |mebibytes| u64::from(mebibytes) << 20);
        garbling.config.k = self.k.unwrap_or(usual.config.k);
        garbling.any_k = self.k.is_none();
        garbling.config.rho = statistical.unwrap_or(usual.config.rho);
        garbling.config.base = match self.base_ot {
            Some(BaseName::Both) => Base::Both,
            Some(BaseName::Half) => Base::Half,
            None => usual.config.base,
        };
        garbling.check()?;
        Ok(Some(garbling))
    }
}

/// `divisi bench circuit --engine garble`.
pub fn measure(context: &Context, options: &Options) -> Result<Done, Failure> {
    options.check()?;
    let program = this_program()?;
    let calibration = calibrate()?;
    let report = garble::run(options, &program, calibration, &context.cleanup, &|_, _| {})?;
    Ok(Done::new(text(&report), report.to_json()))
}

fn text(report: &Report) -> String {
    let o = &report.options;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["phase", "ms", "CPU ms", "bytes", "bytes/AND", "rounds"]);
    let per_and =
        |bytes: u64| report.per_and(bytes as f64).map_or("-".to_owned(), |bytes| format!("{bytes:.1}"));
    for (name, phase) in &report.phases {
        table.add_row([
            (*name).to_owned(),
            format!("{:.2}", phase.seconds * 1e3),
            format!("{:.2}", phase.cpu_seconds * 1e3),
            phase.bytes.to_string(),
            per_and(phase.bytes),
            phase.rounds.to_string(),
        ]);
    }
    table.add_row([
        "total".to_owned(),
        format!("{:.2}", report.total_seconds() * 1e3),
        format!("{:.2}", report.cpu_seconds() * 1e3),
        report.total_bytes().to_string(),
        per_and(report.total_bytes()),
        String::new(),
    ]);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    let memory = report
        .peak_rss_bytes
        .map_or("unknown".into(), |bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)));
    let bucket = report.bucket().map_or("no ANDs".into(), |bucket| format!("buckets of {bucket}"));
    let waves = if report.waves > 1 { format!(", {} waves", report.waves) } else { String::new() };
    let config = &o.garbling.config;
    format!(
        "{} evaluation{} of {} ({} ANDs), garble, {} parties, form {}, k {}, base OTs {}, {} bits statistical and {} computational, {bucket}{waves}, median of {}, \
         the slowest party and the one that sends most:\n\n{table}\n\n\
         memory {memory}; all outputs checked; kernel {}; connected in {:.3} s\n{}",
        o.count,
        if o.count == 1 { "" } else { "s" },
        o.circuit,
        report.and_gates,
        o.garbling.parties,
        o.garbling.options.form.name(),
        config.k,
        base_name(config.base),
        config.rho,
        report.computational_bits.map_or("none".into(), |bits| format!("{:.0}", bits.floor())),
        o.reps,
        report.kernel,
        report.connect_seconds,
        super::bench::machine(&report.calibration),
    )
}
