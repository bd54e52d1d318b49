//! The declassification list of these runs, against what the meter counts and the protocols' figures give.

use super::MixingWork;
use crate::openings::{HELLO, OT, OpeningList, Ran};
use divisi_mixed::checks;

/// Steps that open something of a party's own, and why everybody may know it.
const OPENINGS: &[(&str, &str)] = &[
    (
        "divisi_ot::correlate/payload",
        "whether a payload has bits beyond its width, as an honest party's has not",
    ),
    ("divisi_bgv::keys/public.down", "the public key"),
    ("divisi_bgv::keys/relinearise.1.down", "the relinearisation key's sums of round 1, which all get"),
    ("divisi_bgv::keys/relinearise.2.down", "the relinearisation key"),
    ("divisi_bgv::shares/a2e.reduced", "whether a party's own shares are below p, as they always are"),
    ("divisi_bgv::blocks/blocks.reduced", "whether a party's own shares are below p, as they always are"),
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
    "divisi_bgv::blocks/blocks.add",
    "divisi_bgv::blocks/blocks.answer",
    "divisi_bgv::blocks/blocks.ask",
    "divisi_bgv::blocks/vectors.gather",
    "divisi_bgv::blocks/vectors.tell",
    "divisi_bgv::keys/compare",
    "divisi_bgv::keys/public.up",
    "divisi_bgv::keys/relinearise.1.up",
    "divisi_bgv::keys/relinearise.2.up",
    "divisi_bgv::refresh/refresh.answer",
    "divisi_bgv::refresh/refresh.ask",
    "divisi_bgv::shares/a2e.give",
    "divisi_bgv::shares/e2a.answer",
    "divisi_bgv::shares/e2a.ask",
    "divisi_mixed::circle/pass",
    "divisi_mixed::open/open.tell",
    "divisi_mixed::private/gather",
    "divisi_mixed::tree/join",
    "divisi_mixed::vectors/vectors.pass",
];

/// The list of divisi-mixed, with divisi-bgv and divisi-ot beneath it.
pub const OF_MIXING: OpeningList =
    OpeningList { openings: OPENINGS, closed: &[CLOSED, OT, &[HELLO]], over_ot: true };

/// The differences between the two accounts of a run.
pub fn differences(work: MixingWork, ran: &Ran<'_>) -> Vec<String> {
    let sent = |step: &str| ran.sent(step);
    let n = ran.parties.len() as u64;
    let others = n - 1;
    // each party makes one batch of Boolean triples, whose payloads are single bits and have no width that is
    // looked at; all other products of transfers do
    let batches = if matches!(work, MixingWork::Numbers | MixingWork::Circuit) { n } else { 0 };
    // a message has one vector here
    let vectors = sent("divisi_bgv::blocks/vectors.gather");
    let (gathered, told) = (sent("divisi_mixed::num/open.gather"), sent("divisi_mixed::num/open.tell"));
    let own = [
        ("divisi_ot::correlate/payload", ran.checks(checks::G14).saturating_sub(batches)),
        // the party at the top of the tree declares each sum public, and each other party receives it once;
        // in round 1 there are two sums for each digit
        ("divisi_bgv::keys/public.down", sent("divisi_bgv::keys/public.down") / others),
        ("divisi_bgv::keys/relinearise.1.down", 2 * sent("divisi_bgv::keys/relinearise.1.down") / others),
        ("divisi_bgv::keys/relinearise.2.down", sent("divisi_bgv::keys/relinearise.2.down") / others),
        // declared at every party; all parties but one send their shares
        ("divisi_bgv::shares/a2e.reduced", n * (sent("divisi_bgv::shares/a2e.give") + vectors) / others),
        ("divisi_bgv::blocks/blocks.reduced", n * vectors / others),
        // each other party sends its share to one party, or a part of it to each
        ("divisi_mixed::open/open.gather", sent("divisi_mixed::open/open.gather") / others),
        ("divisi_mixed::num/open.gather", gathered / others),
        // each party sends both factors at once to each other party
        ("divisi_mixed::gmw/products", sent("divisi_mixed::gmw/products") / others),
        // each receiver gets a message of each other party; gathered numbers are told by the same step
        ("divisi_mixed::gmw/output", sent("divisi_mixed::gmw/output") / others),
        ("divisi_mixed::num/open.tell", told.saturating_sub(gathered) / others),
    ];
    let mut out = ran.differences(&OF_MIXING, &own);
    // every bit and every number that was opened, and no other: what one party adds up is counted by all n
    let bits = |step: &str| 8 * ran.bytes(step);
    let numbers = |step: &str| ran.bytes(step) / size_of::<u64>() as u64;
    let found = n * (bits("divisi_mixed::open/open.gather") + numbers("divisi_mixed::num/open.gather"))
        + bits("divisi_mixed::gmw/products")
        + bits("divisi_mixed::gmw/output")
        + numbers("divisi_mixed::num/open.tell");
    let opened = ran.opened();
    if found != opened {
        out.push(format!("{found} bits and numbers were opened, where the protocols have {opened}"));
    }
    out
}
