//! The tables of the page, with their units.

use super::cells::{NONE, cpu, latency_of, list, milliseconds, online, phase_of, table, total, whole};
use super::escape::escape;
use super::matrix::RunGroup;
use super::outcome::{MatrixOutcome, MeasuredRun, Point};
use super::papers;
use super::rounds::Rounds;
use crate::bench::direction_name;
use crate::engine::JobSpec;
use divisi_rep3::{Protocol, Security};

fn error(measured: &MeasuredRun) -> String {
    measured.report.measured.verification_error_bits.map_or(NONE.into(), |bits| format!("{bits:.1}"))
}

fn memory(measured: &MeasuredRun) -> String {
    measured
        .report
        .measured
        .peak_rss_bytes
        .map_or(NONE.into(), |bytes| format!("{:.0}", bytes as f64 / 2f64.powi(20)))
}

/// The rounds of the online phase and of the verification.
fn rounds(measured: &MeasuredRun) -> String {
    format!("{} + {}", measured.phase("online").rounds, measured.phase("verification").rounds)
}

fn name(measured: &MeasuredRun) -> String {
    format!("{}, {}", measured.protocol(), measured.report.options.security)
}

/// Encryption by every protocol.
pub fn throughput<'o>(runs: impl Iterator<Item = &'o MeasuredRun>) -> String {
    let row = |m: &MeasuredRun| {
        let blocks = m.report.options.count() as f64;
        let printed = papers::bits(m.protocol()).map(|(ahead, online)| format!("{ahead} + {online}"));
        let phases = ["preprocessing", "online", "verification"].map(|name| m.phase(name));
        let sum = |figure: fn(&crate::bench::Phase) -> f64| phases.iter().map(figure).sum::<f64>() / blocks;
        vec![
            name(m),
            online(&m.report),
            total(&m.report),
            cpu(&m.report),
            phases.map(|phase| format!("{:.1}", phase.bits as f64 / blocks)).join(" + "),
            printed.unwrap_or(NONE.into()),
            whole(sum(|phase| phase.bytes as f64)),
            rounds(m),
            memory(m),
            error(m),
        ]
    };
    table(
        &[
            "protocol",
            "online, blocks/s",
            "total, blocks/s",
            "CPU, us a block and party",
            "bits a block and party: preprocessing + online + verification",
            "MAESTRO Table 1: preprocessing + online",
            "bytes a block and party",
            "rounds: online + verification",
            "memory, MiB a party",
            "error, bits",
        ],
        runs.map(row),
    )
}

/// One block alone.
pub fn one_block<'o>(runs: impl Iterator<Item = &'o MeasuredRun>) -> String {
    let row = |m: &MeasuredRun| {
        let phase = |name| phase_of(&m.report, name);
        vec![
            name(m),
            latency_of(&m.report),
            phase("online"),
            phase("verification"),
            phase("preprocessing"),
            phase("setup"),
            rounds(m),
            m.report.options.reps.to_string(),
        ]
    };
    let header = [
        "protocol",
        "latency, ms",
        "online, ms",
        "verification, ms",
        "preprocessing, ms",
        "setup, ms",
        "rounds: online + verification",
        "repetitions",
    ];
    table(&header, runs.map(row))
}

/// The latency figure's points.
pub fn latency(points: &[Point<'_>]) -> String {
    let row = |p: &Point<'_>| {
        vec![
            p.measured.report.options.choice.to_string(),
            format!("{}", p.rtt_ms),
            latency_of(&p.measured.report),
            milliseconds(p.expected_seconds()),
            if p.seconds() <= p.expected_seconds() { "yes" } else { "no" }.into(),
            rounds(p.measured),
            milliseconds(p.loopback_seconds),
            phase_of(&p.measured.report, "preprocessing"),
            p.measured.report.options.reps.to_string(),
        ]
    };
    let header = [
        "protocol (mode)",
        "round trip, ms",
        "latency, ms",
        "expected, ms",
        "within",
        "rounds: online + verification",
        "over loopback, ms",
        "preprocessing, ms",
        "repetitions",
    ];
    table(&header, points.iter().map(row))
}

/// Runs compared with encryption by one thread under a key of 128 bits.
pub fn variations(outcome: &MatrixOutcome, runs: &[&MeasuredRun]) -> String {
    let row = |m: &&MeasuredRun| {
        let (o, r) = (&m.report.options, &m.report);
        let default = outcome.throughput(m.protocol(), o.security);
        let beside = default.map_or(NONE.into(), |default| {
            let per = 100.0 * r.total_per_second() / default.report.total_per_second();
            format!("{per:.0} %")
        });
        let what = match &o.job {
            JobSpec::Blocks(job) => {
                format!("AES-{} {}", 8 * job.cipher.key_bytes(), direction_name(job.direction))
            }
            job => format!("{}s", job.unit()),
        };
        vec![
            format!("{}, {what}", name(m)),
            whole(o.count() as f64),
            o.threads.to_string(),
            online(r),
            total(r),
            beside,
            cpu(r),
            memory(m),
        ]
    };
    let header = [
        "protocol",
        "blocks",
        "threads",
        "online, blocks/s",
        "total, blocks/s",
        "total, of encryption above",
        "CPU, us a block and party",
        "memory, MiB a party",
    ];
    table(&header, runs.iter().map(row))
}

/// Lookups by three factors and by two.
pub fn lookups(runs: &[&MeasuredRun]) -> String {
    let row = |m: &&MeasuredRun| {
        let factors = m.report.options.factors().map_or(NONE.into(), |factors| factors.to_string());
        vec![factors, online(&m.report), total(&m.report), cpu(&m.report), memory(m)]
    };
    let header =
        ["factors", "online, items/s", "total, items/s", "CPU, us an item and party", "memory, MiB a party"];
    table(&header, runs.iter().map(row))
}

/// Figures of this project, of MAESTRO in its fastest network, and of Symphony.
pub fn beside_papers(outcome: &MatrixOutcome) -> String {
    let row = |m: &MeasuredRun| {
        let security = m.report.options.security;
        let of_table = papers::throughput(m.protocol(), security).map(|row| row.per_second[0]);
        let slide =
            papers::SLIDES.iter().find(|s| s.protocol == m.protocol() && security == Security::Malicious);
        let printed = |figure: Option<u32>| figure.map_or(NONE.into(), |figure| whole(f64::from(figure)));
        vec![
            name(m),
            online(&m.report),
            total(&m.report),
            printed(of_table.map(|(online, _)| online)),
            printed(of_table.map(|(_, total)| total)),
            printed(slide.map(|slide| slide.per_second.0)),
            printed(slide.map(|slide| slide.per_second.1)),
        ]
    };
    let settings = &papers::SETTINGS[0];
    let machines = list(&[
        format!(
            "here: {}, {} cores for all three parties, one thread each",
            outcome.host.processor, outcome.host.cores
        ),
        format!("{}: {}; {}", papers::TABLE_5_SOURCE, settings.machines, settings.network),
        format!("{}: {}", papers::SLIDES_SOURCE, papers::SLIDES_MACHINES),
    ]);
    let header = [
        "blocks/s",
        "online, here",
        "total, here",
        "online, MAESTRO",
        "total, MAESTRO",
        "online, Symphony",
        "total, Symphony",
    ];
    let megabytes = |s: &papers::Slide| {
        let ahead = s
            .preprocessing
            .map_or(String::new(), |(seconds, mb)| format!("preprocessing {seconds} s and {mb} MB, "));
        format!("{} ({}): {ahead}online {} s and about {} MB", s.name, s.protocol, s.online.0, s.online.1)
    };
    let note = papers::SLIDES.iter().map(megabytes).collect::<Vec<_>>().join("; ");
    machines
        + &table(&header, outcome.of(RunGroup::Throughput).map(row))
        + &format!("<p class=\"soft\">The slide's times and data: {}.</p>\n", escape(&note))
}

/// Metered rounds, those of MAESTRO's Table 1, and the reasons where they differ; nothing if there are none.
pub fn beside_rounds(all: &[Rounds]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let header = [
        "protocol",
        "preprocessing, here",
        "preprocessing, MAESTRO",
        "online, here",
        "online, MAESTRO",
        "verification, here",
        "why they differ",
    ];
    table(&header, all.iter().map(rounds_row))
}

fn rounds_row(rounds: &Rounds) -> Vec<String> {
    let [ahead, online, verification] = rounds.here.map(|rounds| rounds.to_string());
    let (printed_ahead, printed_online) = rounds.paper.unzip();
    let printed = |rounds: Option<u32>| rounds.map_or(NONE.into(), |rounds| rounds.to_string());
    let reasons = rounds.reasons().join(". ");
    vec![
        format!("{}, {}", rounds.protocol, rounds.security),
        ahead,
        printed(printed_ahead.flatten()),
        online,
        printed(printed_online),
        verification,
        if reasons.is_empty() { NONE.into() } else { format!("{reasons}.") },
    ]
}

/// MAESTRO, Table 5, complete.
pub fn networks() -> String {
    let place = |setting: &papers::Setting| format!("{}: {}", setting.network, setting.machines);
    let machines = list(&papers::SETTINGS.each_ref().map(place));
    let columns = ["MAESTRO, Table 5: online / total, blocks/s", "here called"];
    let header: Vec<&str> =
        columns.into_iter().chain(papers::SETTINGS.iter().map(|setting| setting.network)).collect();
    let row = |row: &papers::Throughput| {
        let figures = row
            .per_second
            .map(|(online, total)| format!("{} / {}", whole(f64::from(online)), whole(f64::from(total))));
        let ours = row.protocol.map_or(NONE, Protocol::name).to_owned();
        [format!("{}, {}", row.name, row.security), ours].into_iter().chain(figures).collect()
    };
    machines + &table(&header, papers::TABLE_5.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_stand_beside_the_papers_with_the_reason() {
        let of = |protocol: Protocol, security, here| Rounds {
            protocol,
            security,
            here,
            paper: papers::rounds(protocol),
        };
        let row = rounds_row(&of(Protocol::Lut256Additive, Security::SemiHonest, [3, 11, 0]));
        assert_eq!(row[..6], ["lut256-additive, semi-honest", "3", "2", "11", "10", "0"]);
        assert!(row[6].contains("step 8") && row[6].ends_with("inputs."), "{}", row[6]);
        let row = rounds_row(&of(Protocol::Gf8Circuit, Security::Malicious, [0, 30, 46]));
        assert_eq!(row[1..], ["0", NONE, "30", "30", "46", NONE]);
        assert_eq!(beside_rounds(&[]), "");
    }

    #[test]
    fn the_whole_table_of_the_paper_is_there() {
        let html = networks();
        assert_eq!(html.matches("<tr>").count(), 1 + papers::TABLE_5.len());
        assert!(html.contains("775,697 / 320,622") && html.contains("5,056 / 3,289"));
    }
}
