//! The declassification list of these runs, against what the meter counts and the protocols' figures give.

use super::MixingWork;
use crate::openings::Marked;
use divisi_core::{Check, Counts};
use divisi_mixed::checks;

/// Steps that open something of a party's own, and why everybody may know it.
const OPENINGS: &[(&str, &str)] = &[
    ("divisi_core::session::agree/echo", "whether a peer has the key of the pair [M0.1]"),
    ("divisi_core::session/same_digest", "whether two digests are equal [M0.6]"),
    ("divisi_ot::base/element", "the sender's element of the base OTs, which it sends"),
    ("divisi_ot::setup::pairs/trees", "whether a peer's trees are consistent [O2]"),
    ("divisi_ot::vole/check", "whether the MACs of the sums are right [W5]"),
    (
        "divisi_ot::correlate/payload",
        "whether a payload has bits beyond its width, as an honest party's has not",
    ),
    ("divisi_bgv::keys/public.down", "the public key"),
    ("divisi_bgv::keys/relinearise.1.down", "the relinearisation key's sums of round 1, which all get"),
    ("divisi_bgv::keys/relinearise.2.down", "the relinearisation key"),
    ("divisi_bgv::shares/a2e.reduced", "whether a party's own shares are below p, as they always are"),
    ("divisi_mixed::open/open.gather", "u = x + r of B2A and of lookups, under an r that is used once [G7]"),
    ("divisi_mixed::gmw/output", "outputs, to their receivers [G11]"),
    ("divisi_mixed::gmw/products", "d = x + a and e = y + b, under a triple that is used once [G7]"),
    (
        "divisi_mixed::num/open.gather",
        "x - a and y - b of products, x - r of A2B [G7]; d = a b c of its candidates [G6]; numbers",
    ),
    ("divisi_mixed::num/open.tell", "outputs, to their receivers [G11]"),
    (
        "divisi_mixed::num/reduced",
        "whether a party's own shares are below p, as they are unless a caller made a mistake",
    ),
];

/// Steps whose messages hide what they are made of, are digests of it, or hand on what was opened before.
const CLOSED: &[&str] = &[
    "divisi_bgv::keys/compare",
    "divisi_bgv::keys/public.up",
    "divisi_bgv::keys/relinearise.1.up",
    "divisi_bgv::keys/relinearise.2.up",
    "divisi_bgv::refresh/refresh.answer",
    "divisi_bgv::refresh/refresh.ask",
    "divisi_bgv::shares/a2e.give",
    "divisi_bgv::shares/e2a.answer",
    "divisi_bgv::shares/e2a.ask",
    "divisi_core::session::agree/hello",
    "divisi_mixed::circle/pass",
    "divisi_mixed::open/open.tell",
    "divisi_mixed::private/gather",
    "divisi_mixed::tree/join",
    "divisi_ot::setup::pairs/base.receiver",
    "divisi_ot::setup::pairs/base.sender",
    "divisi_ot::setup::pairs/base.tables",
    "divisi_ot::setup::pairs/flips",
    "divisi_ot::vole/correct",
];

/// Why a step is open; coins have the step of their use.
pub fn reason(step: &str) -> Option<&'static str> {
    let known = OPENINGS.iter().find(|(name, _)| *name == step).map(|(_, reason)| *reason);
    known.or_else(|| step.contains("coin").then_some("coins"))
}

/// The differences between the two accounts of a run.
pub fn differences(n: usize, work: MixingWork, marked: &Marked, parties: &[Counts]) -> Vec<String> {
    let sent = |step: &str| parties.iter().filter_map(|counts| counts.steps.get(step)).sum::<u64>();
    let checks = |id: Check| parties.iter().filter_map(|counts| counts.checks.get(&id)).sum::<u64>();
    let of = |step: &str| marked.get(step).copied().unwrap_or_default();
    let mut out: Vec<String> = marked
        .keys()
        .filter(|step| reason(step).is_none())
        .map(|step| format!("{step}: declared public, and no opening of any protocol"))
        .collect();
    for step in parties.iter().flat_map(|counts| counts.steps.keys()) {
        if !CLOSED.contains(step) && reason(step).is_none() {
            out.push(format!("{step}: messages that are known neither as openings nor as hidden"));
        }
    }
    let (n, others) = (n as u64, n as u64 - 1);
    // each party makes one batch of Boolean triples, whose payloads are single bits and have no width that is
    // looked at; all other products of transfers do
    let batches = if matches!(work, MixingWork::Numbers | MixingWork::Circuit) { n } else { 0 };
    let (gathered, told) = (sent("divisi_mixed::num/open.gather"), sent("divisi_mixed::num/open.tell"));
    let mut expected = vec![
        ("divisi_core::session::agree/echo", checks(checks::M0_1)),
        ("divisi_core::session/same_digest", checks(checks::M0_6)),
        ("divisi_ot::base/element", sent("divisi_ot::setup::pairs/base.sender")),
        ("divisi_ot::setup::pairs/trees", checks(checks::O2)),
        ("divisi_ot::vole/check", sent("divisi_ot::vole/check")),
        ("divisi_ot::correlate/payload", checks(checks::G14).saturating_sub(batches)),
        // the party at the top of the tree declares each sum public, and each other party receives it once;
        // in round 1 there are two sums for each digit
        ("divisi_bgv::keys/public.down", sent("divisi_bgv::keys/public.down") / others),
        ("divisi_bgv::keys/relinearise.1.down", 2 * sent("divisi_bgv::keys/relinearise.1.down") / others),
        ("divisi_bgv::keys/relinearise.2.down", sent("divisi_bgv::keys/relinearise.2.down") / others),
        // declared at every party; all parties but one send their shares
        ("divisi_bgv::shares/a2e.reduced", n * sent("divisi_bgv::shares/a2e.give") / others),
        // each other party sends its share to one party, or a part of it to each
        ("divisi_mixed::open/open.gather", sent("divisi_mixed::open/open.gather") / others),
        ("divisi_mixed::num/open.gather", gathered / others),
        // each party sends both factors at once to each other party
        ("divisi_mixed::gmw/products", sent("divisi_mixed::gmw/products") / others),
        // each receiver gets a message of each other party; gathered numbers are told by the same step
        ("divisi_mixed::gmw/output", sent("divisi_mixed::gmw/output") / others),
        ("divisi_mixed::num/open.tell", told.saturating_sub(gathered) / others),
    ];
    // every party receives a coin from each of its peers
    let coins = marked.keys().filter(|step| step.contains("coin"));
    expected.extend(coins.map(|step| (*step, sent(step) / others)));
    for (step, expected) in expected {
        let (calls, _) = of(step);
        if calls != expected {
            out.push(format!("{step}: {calls} openings, where the protocols have {expected}"));
        }
    }
    // every bit and every number that was opened, and no other: what one party adds up is counted by all n
    let bits = |step: &str| 8 * of(step).1;
    let numbers = |step: &str| of(step).1 / size_of::<u64>() as u64;
    let found = n * (bits("divisi_mixed::open/open.gather") + numbers("divisi_mixed::num/open.gather"))
        + bits("divisi_mixed::gmw/products")
        + bits("divisi_mixed::gmw/output")
        + numbers("divisi_mixed::num/open.tell");
    let opened = parties.iter().map(|counts| counts.openings).sum::<u64>();
    if found != opened {
        out.push(format!("{found} bits and numbers were opened, where the protocols have {opened}"));
    }
    out
}
