//! The declassification list: compares what a run opened, according to the marks in the engine's code, with
//! what its protocols open.
//!
//! There are two independent accounts: the marks ([`divisi_core::taint`]) say where memory was declared
//! public; the meter says which messages were sent at which steps, and how many checks were made. Every step
//! must be known here, as an opening or as one whose messages are masked, so that a new message has to be
//! thought about.

use crate::calls::GarbledCall;
use crate::garbling;
use crate::runs::{EngineRun, RunWork};
use divisi_core::{Check, Counts};
use divisi_rep3::checks;
use divisi_rep3::{Protocol, Security};
use std::collections::BTreeMap;

/// The number of openings and of opened bytes, by step.
pub type Marked = BTreeMap<&'static str, (u64, u64)>;

/// Steps, each with why everybody may know what it opens.
pub(crate) type Reasons = &'static [(&'static str, &'static str)];

/// The declassification list of some protocols, beside what every session opens.
pub struct OpeningList {
    pub(crate) openings: Reasons,
    /// The other steps: their messages hide what they are made of, or are digests of it.
    pub(crate) closed: &'static [&'static [&'static str]],
    /// Whether they run over divisi-ot, whose openings are then on the list, too, and so are coins, at the
    /// step of their use.
    pub(crate) over_ot: bool,
}

/// The list of three parties of which one may be corrupt.
pub const OF_THREE: OpeningList =
    OpeningList { openings: OPENINGS, closed: &[CLOSED, PLANES, &[HELLO]], over_ot: false };

/// The list of divisi-ot and divisi-garble.
pub const OF_GARBLING: OpeningList = OpeningList {
    openings: OPENINGS_OF_GARBLING,
    closed: &[CLOSED_OF_GARBLING, OT, &[HELLO]],
    over_ot: true,
};

pub(crate) const HELLO: &str = "divisi_core::session::agree/hello";
/// Closed steps of divisi-ot.
pub(crate) const OT: &[&str] = &[
    "divisi_ot::setup::pairs/base.receiver",
    "divisi_ot::setup::pairs/base.sender",
    "divisi_ot::setup::pairs/base.tables",
    "divisi_ot::setup::pairs/flips",
    "divisi_ot::vole/correct",
];

/// What every session opens.
const OPENINGS_OF_SESSIONS: Reasons = &[
    ("divisi_core::session::agree/echo", "whether a peer has the key of the pair [M0.1]"),
    ("divisi_core::session/same_digest", "whether two digests are equal [M0.6]"),
];

/// What divisi-ot opens.
const OPENINGS_OF_OT: Reasons = &[
    ("divisi_ot::base/element", "the sender's element of the base OTs, which it sends"),
    ("divisi_ot::setup::pairs/trees", "whether a peer's trees are consistent [O2]"),
    ("divisi_ot::vole/check", "whether the MACs of the sums are right [W5]"),
];

impl OpeningList {
    /// Why a step is open.
    pub fn reason(&self, step: &str) -> Option<&'static str> {
        let ot = if self.over_ot { OPENINGS_OF_OT } else { &[] };
        let mut known = OPENINGS_OF_SESSIONS.iter().chain(ot).chain(self.openings);
        let known = known.find(|(name, _)| *name == step).map(|(_, reason)| *reason);
        known.or((self.over_ot && step.contains("coin")).then_some("coins"))
    }
}

/// What a run declared public, and what its parties' meters counted.
pub struct Ran<'r> {
    /// The marks.
    pub marked: &'r Marked,
    /// The counts of each party.
    pub parties: &'r [Counts],
}

impl Ran<'_> {
    /// The messages of a step.
    pub fn sent(&self, step: &str) -> u64 {
        self.parties.iter().filter_map(|counts| counts.steps.get(step)).sum()
    }

    /// How often a check was made.
    pub fn checks(&self, id: Check) -> u64 {
        self.parties.iter().filter_map(|counts| counts.checks.get(&id)).sum()
    }

    /// How many bytes a step declared public.
    pub fn bytes(&self, step: &str) -> u64 {
        self.marked.get(step).map_or(0, |(_, bytes)| *bytes)
    }

    /// The values that all parties opened.
    pub fn opened(&self) -> u64 {
        self.parties.iter().map(|counts| counts.openings).sum()
    }

    /// The differences between the two accounts of the run: steps that the list does not have, and those that
    /// opened something more or less often than they ought to. `own` are the numbers of the protocols'
    /// openings, without those of sessions and of divisi-ot.
    pub fn differences(&self, list: &OpeningList, own: &[(&str, u64)]) -> Vec<String> {
        let mut out = Vec::new();
        for step in self.marked.keys().filter(|step| list.reason(step).is_none()) {
            out.push(format!("{step}: declared public, and no opening of any protocol"));
        }
        for step in self.parties.iter().flat_map(|counts| counts.steps.keys()) {
            if list.reason(step).is_none() && !list.closed.iter().any(|steps| steps.contains(step)) {
                out.push(format!("{step}: messages that are known neither as openings nor as hidden"));
            }
        }
        let mut expected = vec![
            ("divisi_core::session::agree/echo", self.checks(checks::M0_1)),
            ("divisi_core::session/same_digest", self.checks(checks::M0_6)),
        ];
        expected.extend(own);
        if list.over_ot {
            expected.extend([
                ("divisi_ot::base/element", self.sent("divisi_ot::setup::pairs/base.sender")),
                ("divisi_ot::setup::pairs/trees", self.checks(divisi_ot::checks::O2)),
                ("divisi_ot::vole/check", self.sent("divisi_ot::vole/check")),
            ]);
            // every party receives a coin from each of its peers
            let others = self.parties.len() as u64 - 1;
            let coins = self.marked.keys().filter(|step| step.contains("coin"));
            expected.extend(coins.map(|step| (*step, self.sent(step) / others)));
        }
        for (step, expected) in expected {
            let calls = self.marked.get(step).map_or(0, |(calls, _)| *calls);
            if calls != expected {
                out.push(format!("{step}: {calls} openings, where the protocols have {expected}"));
            }
        }
        out
    }
}

/// Steps of three parties that open something, and why everybody may know it.
const OPENINGS: Reasons = &[
    ("divisi_rep3::garbled::stock/same", "whether the name of a key stands for the bits that it stood for"),
    ("divisi_rep3::blackbox/output", "verified outputs [S3]"),
    ("divisi_rep3::blackbox/reconst", "c = x + r of a lookup, under an r that is used once [A22]"),
    ("divisi_rep3::garbled/labels", "whether labels have the hashes that P3's bits select [Y3]"),
    ("divisi_rep3::garbled/masks", "the same of the masks r23 [Y3]"),
    ("divisi_rep3::garbled/result", "z = y + r12 + r23, under masks that are used once"),
    ("divisi_rep3::masked/open_masked", "c = x + r under a mask that is used once"),
    ("divisi_rep3::masked/open_to.component", "verified outputs, to one party"),
    ("divisi_rep3::open/open.bytes", "verified outputs, and the masked difference of a tag [A1, A23]"),
    ("divisi_rep3::random/coin.share", "coins"),
    ("divisi_rep3::verify::triple/triple.4", "rho = x + t x', masked by x' (Protocol 1, line 4)"),
    ("divisi_rep3::verify::triple/triple.6", "sigma, 0 or masked by r (Protocol 1, line 6)"),
    ("divisi_rep3::sbox::lut16/c", "c = v + r of a lookup (Protocol 4)"),
    ("divisi_rep3::sbox::lut256/c", "c = v + r of a lookup (section 3.5.1)"),
    ("divisi_rep3::sbox::lut256_additive/c", "c = v + r of a lookup (Protocol 6)"),
    ("divisi_rep3::packed/padding", "whether the bits after an element's last are zero"),
    ("divisi_rep3::wire/padding", "whether the bits after a message's last are zero"),
];

/// Steps whose messages are planes, masked by F_zero or opened: the receiver looks at the padding of each.
const PLANES: &[&str] = &[
    "divisi_rep3::engine::boolean/products",
    "divisi_rep3::engine::chain/finish",
    "divisi_rep3::masked/open_masked",
    "divisi_rep3::ohv::byte/m_S m_T",
    "divisi_rep3::ohv::nibble/r_i r_j",
    "divisi_rep3::ohv::nibble/r_i r_j r_k",
    "divisi_rep3::ohverture::cube::lookup/result",
    "divisi_rep3::ohverture::cube::lookup/sums",
    "divisi_rep3::ohverture::cube::make/products",
    "divisi_rep3::sbox::gf4_circuit/a_h a_l",
    "divisi_rep3::sbox::gf4_circuit/outer",
    "divisi_rep3::sbox::gf4_circuit/v14",
    "divisi_rep3::sbox::gf4_circuit/v6",
    "divisi_rep3::sbox::gf8_circuit/x14 x15",
    "divisi_rep3::sbox::gf8_circuit/x254",
    "divisi_rep3::sbox::gf8_circuit/x3",
    "divisi_rep3::sbox::lut16/c",
    "divisi_rep3::sbox::lut16/outer",
    "divisi_rep3::sbox::lut256/c",
    "divisi_rep3::sbox::lut256_additive/c",
];

/// Steps whose messages are elements masked by F_zero, or digests of what their receiver holds: nothing is
/// opened there.
const CLOSED: &[&str] = &[
    "divisi_rep3::blackbox/input",
    "divisi_rep3::blackbox::products/reshare",
    "divisi_rep3::engine::blocks/dot",
    "divisi_rep3::engine::blocks/multiply",
    "divisi_rep3::garbled/decoding",
    "divisi_rep3::garbled/salt",
    "divisi_rep3::garbled/tables",
    "divisi_rep3::input/digests",
    "divisi_rep3::input/verdict",
    "divisi_rep3::lookup/view",
    "divisi_rep3::masked/open_to.digest",
    "divisi_rep3::ohverture::make/products",
    "divisi_rep3::open/open.digest",
    "divisi_rep3::random/coin.digest",
    "divisi_rep3::verify::ands/ands.h",
    "divisi_rep3::verify::inner_product/inner_product.11",
    "divisi_rep3::verify::planes/planes.h",
    "divisi_rep3::verify::triple/triple.2",
    "divisi_rep3::verify::triple/triple.5",
    "divisi_rep3::views/barrier",
];

/// Steps of divisi-garble, and of proofs of its Deltas, that open something of a party's own.
const OPENINGS_OF_GARBLING: Reasons = &[
    (
        "divisi_ot::abit::consistency/bits",
        "bits that are opened and dropped; whether their MACs are right [W10]",
    ),
    ("divisi_ot::abit::consistency/sums", "whether the opened sums are right [W10]"),
    ("divisi_garble::zero/6.open", "whether all combinations add up to zero [W15]"),
    ("divisi_garble::online/5.masked", "whether inputs are bits; masked inputs"),
    ("divisi_garble::online/7b", "whether every MAC of the tables was right [W22]"),
];

/// Steps whose messages hide what they are made of, are digests of it, or are bits under masks that are used
/// once (d and e of products, masked outputs): their sender decides nothing by them.
const CLOSED_OF_GARBLING: &[&str] = &[
    "divisi_garble::aand/3.d",
    "divisi_garble::laand/3.e",
    "divisi_garble::laand/3.echo",
    "divisi_garble::laand/5.u",
    "divisi_garble::online/5.echo",
    "divisi_garble::online/6.labels",
    "divisi_garble::online/8.result",
    "divisi_garble::run/4a.d",
    "divisi_garble::run/4d.table",
    "divisi_garble::zero/6.commit",
    "divisi_garble::zero/6.product",
    "divisi_ot::abit::consistency/commit",
    "divisi_ot::abit::consistency/echo",
    "divisi_ot::abit::produce/echo",
];

/// The differences between the two accounts of such a run.
pub fn differences_of_garbling(work: garbling::GarblingWork, ran: &Ran<'_>) -> Vec<String> {
    let n = ran.parties.len() as u64;
    let pairs = n * (n - 1);
    let garbled = u64::from(work != garbling::GarblingWork::Bits);
    // Deltas are proven consistent among three or more
    let proven = u64::from(n > 2);
    let own = [
        // what each party opens, and its verdict on each peer's
        ("divisi_ot::abit::consistency/bits", proven * (n + pairs)),
        ("divisi_ot::abit::consistency/sums", proven * pairs),
        // two parties compare digests instead
        ("divisi_garble::zero/6.open", proven * ran.checks(divisi_garble::checks::W15)),
        ("divisi_garble::online/5.masked", garbled * n),
        ("divisi_garble::online/7b", ran.checks(divisi_garble::checks::W22)),
    ];
    ran.differences(&OF_GARBLING, &own)
}

/// The differences between the two accounts of a run of three parties.
pub fn differences(run: &EngineRun, ran: &Ran<'_>) -> Vec<String> {
    let sent = |step: &str| ran.sent(step);
    let triples = sent("divisi_rep3::verify::triple/triple.2");
    let levels = sent("divisi_rep3::verify::inner_product/inner_product.11");
    let grids = sent("divisi_rep3::verify::planes/planes.h") + sent("divisi_rep3::verify::ands/ands.h");
    let otherwise = matches!(run.work, RunWork::Openings(_));
    // what is garbled owes nothing; the comparison of tags makes products
    let garbled = matches!(run.work, RunWork::Garbled(..) | RunWork::GarbledFirst(_) | RunWork::Call(_));
    let compared = run.work.settings().is_some_and(|settings| settings.algorithm.is_mac());
    let verified = run.security == Security::Malicious && !otherwise && (!garbled || compared);
    // the second and the third run under a key compare its bits, at each of three parties
    let under_a_key = matches!(run.work, RunWork::GarbledFirst(_) | RunWork::Call(GarbledCall::Stock));
    let is_table = matches!(run.work, RunWork::Lookups(..));
    let own = [
        // for a chunk each garbler sends a message; of labels two lists are compared, of masks one
        ("divisi_rep3::garbled/labels", sent("divisi_rep3::garbled/labels")),
        ("divisi_rep3::garbled/masks", sent("divisi_rep3::garbled/masks") / 2),
        ("divisi_rep3::garbled/result", sent("divisi_rep3::garbled/result")),
        ("divisi_rep3::garbled::stock/same", if under_a_key { 6 } else { 0 }),
        // each party's message completes one opening at its receiver
        ("divisi_rep3::blackbox/reconst", sent("divisi_rep3::blackbox/reconst")),
        ("divisi_rep3::blackbox/output", if is_table { 3 } else { 0 }),
        ("divisi_rep3::masked/open_masked", if otherwise { 3 } else { 0 }),
        ("divisi_rep3::masked/open_to.component", if otherwise { 1 } else { 0 }),
        ("divisi_rep3::open/open.bytes", sent("divisi_rep3::open/open.bytes")),
        // coefficients, the point of a grid, a point each level, and t of a triple
        ("divisi_rep3::random/coin.share", 2 * triples + grids + levels),
        ("divisi_rep3::verify::triple/triple.4", triples),
        ("divisi_rep3::verify::triple/triple.6", triples),
        ("divisi_rep3::sbox::lut16/c", lookups(run, Protocol::Lut16)),
        ("divisi_rep3::sbox::lut256/c", lookups(run, Protocol::Lut256)),
        ("divisi_rep3::sbox::lut256_additive/c", lookups(run, Protocol::Lut256Additive)),
        // elements are packed, and the padding behind them is looked at in another place
        ("divisi_rep3::wire/padding", PLANES.iter().map(|step| sent(step)).sum()),
    ];
    let mut out = ran.differences(&OF_THREE, &own);
    if verified != (triples > 0) {
        out.push("a verification ran that was not needed, or a needed one did not run".to_owned());
    }
    // every byte that was opened to all, and no other
    let opened = ran.opened() - to_one(run);
    let bytes = ran.bytes("divisi_rep3::open/open.bytes") + ran.bytes("divisi_rep3::blackbox/output");
    if bytes != opened {
        out.push(format!("open.bytes: {bytes} bytes were opened, where the protocols have {opened}"));
    }
    out
}

/// How many layers of S-boxes three parties look up in this way: ten a cipher, and ten a key schedule.
fn lookups(run: &EngineRun, protocol: Protocol) -> u64 {
    if run.protocol != protocol {
        return 0;
    }
    let schedule = u64::from(protocol.for_key_schedule() == protocol);
    3 * 10
        * match run.work {
            // modes that take a text as a whole run by the circuit alone
            RunWork::Openings(_) | RunWork::Function(..) | RunWork::OneShot(_) => 0,
            RunWork::Garbled(..) | RunWork::GarbledFirst(_) | RunWork::Call(_) | RunWork::Lookups(..) => 0,
            RunWork::Aes(..) => 1 + schedule,
            // the text when it is sealed and when it is opened, and twice the mask of the tag alone; if key
            // schedules use this protocol, too, the schedule and the hash key
            RunWork::Gcm(_) => 4 + 2 * schedule,
        }
}

/// The bytes that only one party or client learns. A client gets a component from each of the three.
fn to_one(run: &EngineRun) -> u64 {
    match run.work {
        RunWork::Aes(..) | RunWork::Function(..) | RunWork::OneShot(_) => 0,
        RunWork::Garbled(..) | RunWork::GarbledFirst(_) | RunWork::Call(_) | RunWork::Lookups(..) => 0,
        RunWork::Openings(bytes) => bytes as u64,
        RunWork::Gcm(bytes) => 3 * bytes as u64,
    }
}
