//! The page itself: one file, which fetches nothing.

use super::super::html::{document, paragraph, section};
use super::super::tables::{NONE, list, table, whole};
use super::papers::{self, COSTS, ENTRIES, LAN, MACHINES, SOURCE, Speed, TABLES, WAN};
use super::prices::{self, Material, Sizes, material};
use super::{Distance, Measurement, SpdzOutcome};

/// The whole page.
pub fn page(outcome: &SpdzOutcome) -> String {
    let title = "Divisi: AES and triple DES by masked tables among parties that trust nobody";
    let body = [
        introduction(outcome),
        section("What a block costs (Table 2)", &costs(outcome)),
        section("Near each other (Table 3)", &speeds(outcome, Distance::Near, &LAN)),
        section("Far apart (Table 4)", &speeds(outcome, Distance::Far, &WAN)),
        section("Tables (Table 5)", &sizes()),
    ];
    document(title, &body.concat())
}

fn introduction(outcome: &SpdzOutcome) -> String {
    paragraph(
        "Malicious: one of the two parties may do anything, and any deviation ends the computation or has no effect. The parties \
         are processes on one machine, joined by TLS 1.3 over loopback that is slowed down to the paper's networks; another deals \
         the inputs and checks every output after the clock has stopped. The machines differ: read the paper's figures beside ours \
         for the shape, not for a race.",
    ) + &list(&[
        outcome.conditions.line(&format!(
            "both parties, one thread each; fields of 48 bits, preprocessing in buckets, k = 4; medians of {}",
            outcome.plan.reps
        )),
        format!("{SOURCE}: {MACHINES}"),
    ])
}

/// A figure, with fewer decimals the larger it is.
fn figure(x: f64) -> String {
    match x {
        x if x >= 100.0 => whole(x),
        x if x >= 1.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}

fn shown(x: Option<f64>) -> String {
    x.map_or(NONE.into(), figure)
}

fn costs(outcome: &SpdzOutcome) -> String {
    let count = |x: Option<usize>| x.map_or(NONE.into(), |x| whole(x as f64));
    let row = |protocol: &&'static str| {
        let (paper, of) = (COSTS.iter().find(|row| row.protocol == *protocol), material(protocol));
        let here = outcome.find(protocol, Distance::Near, false);
        let blocks = usize::try_from(outcome.plan.blocks[0]).unwrap_or(usize::MAX);
        let counts = of.and_then(Material::counts);
        let printed = |of: fn(&papers::Cost) -> u32| count(paper.map(|row| of(row) as usize));
        vec![
            (*protocol).to_owned(),
            here.map_or(NONE.into(), |m| m.report.measured.phase("online").rounds.to_string()),
            printed(|row| row.rounds),
            here.map_or(NONE.into(), |m| whole(m.openings())),
            printed(|row| row.openings),
            count(counts.map(|[triples, _]| triples)),
            printed(|row| row.triples),
            count(counts.map(|[_, bits]| bits)),
            printed(|row| row.bits),
            shown(here.map(Measurement::preprocessing_megabytes)),
            shown(of.and_then(|of| of.by_buckets(Sizes::new(48, 4), blocks))),
            shown(of.and_then(|of| of.by_mascot(Sizes::new(40, 1)))),
            shown(paper.map(|row| row.megabytes)),
        ]
    };
    let header = [
        "a block, without the key schedule",
        "rounds, here",
        "rounds, paper",
        "openings, here",
        "openings, paper",
        "triples, here",
        "triples, paper",
        "random bits, here",
        "random bits, paper",
        "MB ahead, here, measured",
        "MB ahead, in buckets, by formula",
        "MB ahead, as in the paper (--prep mascot, 40 bits, k = 1), by formula",
        "MB ahead, paper",
    ];
    table(&header, outcome.plan.protocols.iter().map(row))
        + &paragraph(
            "Rounds and openings are metered. Triples of masked tables multiply a bit by an element; triples and random bits are those \
             of --prep mascot. What is measured includes what a key and whole batches take, so it is more than the formula for few \
             blocks. The buckets are those of so many blocks as a batch has. 3des-raw here has 61 products and 7 rounds an S-box; \
             the paper's openings and rounds of it follow from nothing that it says.",
        )
}

fn speeds(outcome: &SpdzOutcome, place: Distance, printed: &[Speed]) -> String {
    let row = |protocol: &&'static str| {
        let paper = printed.iter().find(|row| row.protocol == *protocol);
        let (one, batch) = (outcome.find(protocol, place, true), outcome.find(protocol, place, false));
        vec![
            (*protocol).to_owned(),
            shown(one.map(|m| m.report.latency_seconds() * 1e3)),
            shown(paper.map(|row| row.latency_ms)),
            shown(batch.map(|m| m.report.online_per_second())),
            shown(paper.map(|row| row.online)),
            shown(paper.and_then(|row| row.threaded)),
            shown(batch.map(Measurement::preprocessing_per_second)),
            shown(paper.map(|row| row.preprocessing)),
            batch.map_or(NONE.into(), |m| whole(m.report.measured.count as f64)),
        ]
    };
    let header = [
        "protocol",
        "one block, ms, here",
        "one block, ms, paper",
        "online, blocks/s, here",
        "online, blocks/s, paper",
        "the same with threads, paper",
        "ahead, blocks/s, here",
        "ahead, blocks/s, paper",
        "blocks together, here",
    ];
    let network = outcome.plan.networks[place as usize];
    let has = |name: &&&'static str| outcome.find(name, place, false).is_some();
    paragraph(&format!(
        "Here: {} ms of round trip, {} Mbit/s. Online is from shares of the inputs to verified shares of the outputs, the check of MACs \
         included.",
        network.rtt_ms, network.rate_mbit
    )) + &table(&header, outcome.plan.protocols.iter().filter(has).map(row))
}

/// Kilobytes of tables with [`ENTRIES`] entries by our formulas, for each way to make them.
pub fn tables() -> Vec<(&'static str, [f64; 5])> {
    vec![
        (
            "products of bits in buckets, 48 bits, k = 4",
            ENTRIES.map(|entries| prices::by_ands(Sizes::new(48, 4), entries)),
        ),
        (
            "mascot, 40 bits, k = 1",
            ENTRIES.map(|entries| prices::products_by_mascot(Sizes::new(40, 1), entries)),
        ),
        (
            "mascot, 48 bits, k = 4",
            ENTRIES.map(|entries| prices::products_by_mascot(Sizes::new(48, 4), entries)),
        ),
        ("the whole table in buckets, 48 bits, k = 4", ENTRIES.map(|n| prices::table(Sizes::new(48, 4), n))),
        ("the whole table in buckets, 48 bits, k = 8", ENTRIES.map(|n| prices::table(Sizes::new(48, 8), n))),
    ]
}

fn sizes() -> String {
    let line = |name: String, kilobytes: &[f64; 5]| {
        std::iter::once(name).chain(kilobytes.iter().map(|x| figure(*x))).collect::<Vec<String>>()
    };
    let printed = TABLES.iter().map(|(bits, kilobytes)| {
        let by = if *bits == 1 { "TinyOT" } else { "MASCOT" };
        line(format!("paper, {by}, {bits} bits"), kilobytes)
    });
    let here = tables();
    let here = here.iter().map(|(name, kilobytes)| line(format!("here, {name}"), kilobytes));
    let header: Vec<String> = std::iter::once("kB, one party to the other".to_owned())
        .chain(ENTRIES.map(|n| format!("N = {n}")))
        .collect();
    table(&header.iter().map(String::as_str).collect::<Vec<_>>(), here.chain(printed))
        + &paragraph(
            "All by formula; the meter confirms it for tables of 64 and 256 (docs/spdz.md). The bits are those of the field of MACs; k is \
             SoftSpokenOT's parameter (docs/ot.md). The first rows are the products alone, as \
             in the paper; ours by MASCOT include what keeps one factor a bit, and take 19 and 35 products for 512 and 1,024 entries, \
             where the paper counts 18 and 31. In buckets a table is one item, all its random bits included. Buckets have three \
             items, as in 2,048 blocks.",
        )
}
