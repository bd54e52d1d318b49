//! Small runs of divisi-mixed under memcheck, in the insecure ring of dimension 1024: all that a party draws
//! after its session has begun is secret (key shares, errors, floods, masks, choices), and so are its inputs.

pub mod openings;
mod work;

use crate::machine;
use crate::noise::{Same, together};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters};
use divisi_core::{Abort, Counts, Misuse, PublicParameters, Session, step};
use divisi_field::zp::{Modulus, P32};
use divisi_ot::SetupConfig;
use std::sync::Arc;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixingWork {
    /// Random bits in both worlds, by ciphertexts of this form or by transfers, B2A of others under them, and
    /// a lookup in a public table.
    Bits(Option<Form>),
    /// Arithmetic triples and products, masks and A2B, and a lookup in private tables by products.
    Numbers,
    /// A lookup in private tables by ciphertexts of this form.
    Tables(Form),
    /// A2E, a refresh, and E2A.
    Shares,
    /// A2E, a linear combination, and E2A.
    Combined,
    /// A shared vector times shared numbers.
    Products,
    /// A lookup in a table of two vectors.
    Vectors,
    /// Boolean triples and a circuit.
    Circuit,
}

/// What is followed.
const WORKS: [MixingWork; 13] = [
    MixingWork::Circuit,
    MixingWork::Shares,
    MixingWork::Combined,
    MixingWork::Products,
    MixingWork::Vectors,
    MixingWork::Bits(None),
    MixingWork::Bits(Some(Form::LeanTree)),
    MixingWork::Bits(Some(Form::LeanRing)),
    MixingWork::Bits(Some(Form::Paper)),
    MixingWork::Tables(Form::LeanTree),
    MixingWork::Tables(Form::LeanRing),
    MixingWork::Tables(Form::Paper),
    MixingWork::Numbers,
];

/// The runs that are followed: the number of parties, and the work. In the paper's form tables are looked up
/// by two parties alone.
pub fn runs() -> impl Iterator<Item = (usize, MixingWork)> {
    let all = WORKS.into_iter().flat_map(|work| [(2, work), (3, work)]);
    all.filter(|run| *run != (3, MixingWork::Tables(Form::Paper)))
}

/// The places where leaks are planted, each with its run, which has no leak otherwise: on a coefficient of a
/// key share and of a flood, a bit that is shared by signs and one by choices, and a triple.
pub const LEAKS: [(&str, (usize, MixingWork)); 5] = [
    ("divisi_bgv::keys/share", (2, MixingWork::Shares)),
    ("divisi_bgv::shares/flood", (2, MixingWork::Shares)),
    ("divisi_mixed::prep_lut::size2/signs", (2, MixingWork::Bits(Some(Form::LeanRing)))),
    ("divisi_mixed::cot/choices", (2, MixingWork::Bits(None))),
    ("divisi_mixed::gmw/products", (2, MixingWork::Circuit)),
];

/// The name of a run in lists.
pub fn name(parties: usize, work: MixingWork) -> String {
    let by = |form: Option<Form>| form.map_or("transfers", Form::name);
    let work = match work {
        MixingWork::Bits(form) => format!("mixed random bits by {}, b2a", by(form)),
        MixingWork::Numbers => "mixed products, a2b, private lookups by products".to_owned(),
        MixingWork::Tables(form) => format!("mixed private lookups by {}", by(Some(form))),
        MixingWork::Shares => "mixed a2e, refresh, e2a".to_owned(),
        MixingWork::Combined => "mixed a2e, linear combination, e2a".to_owned(),
        MixingWork::Products => "mixed products of vectors".to_owned(),
        MixingWork::Vectors => "mixed tables of vectors".to_owned(),
        MixingWork::Circuit => "mixed boolean triples, circuit".to_owned(),
    };
    format!("{work}, {parties} parties")
}

/// What the parties agree on before they begin.
struct Agreed {
    plain: Modulus,
    ring: Option<Arc<Ring>>,
    parameters: PublicParameters,
}

impl Agreed {
    fn new(parties: usize, work: MixingWork) -> Result<Agreed, String> {
        let ring = match work {
            MixingWork::Bits(None) | MixingWork::Circuit => None,
            MixingWork::Bits(Some(form)) => Some((Operation::Bits, form)),
            MixingWork::Numbers => Some((Operation::Triples, Form::LeanTree)),
            MixingWork::Tables(form) => Some((Operation::PrivateTables, form)),
            MixingWork::Shares => Some((Operation::Bits, Form::LeanRing)),
            MixingWork::Combined => Some((Operation::Linear { weight: 8 }, Form::LeanTree)),
            MixingWork::Products => Some((Operation::BlockProducts, Form::LeanTree)),
            MixingWork::Vectors => Some((Operation::VectorTables, Form::LeanRing)),
        };
        let make = |(operation, form)| {
            let parameters = Parameters::danger_insecure(operation, form, parties, P32);
            let ring = Ring::new(parameters.map_err(|e| e.to_string())?).ok_or("no transforms")?;
            Ok::<_, String>(Arc::new(ring))
        };
        let ring = ring.map(make).transpose()?;
        let mut parameters = SetupConfig::default().describe(PublicParameters::new("measure"));
        if let Some(ring) = &ring {
            parameters = ring.parameters().describe(parameters);
        }
        let plain = Modulus::new(P32).ok_or("no modulus")?;
        Ok(Agreed { plain, ring, parameters })
    }

    fn ring(&self, session: &Session) -> Result<&Arc<Ring>, Abort> {
        self.ring.as_ref().ok_or_else(|| session.misuse(step!("ring"), Misuse::KeyMissing))
    }
}

/// What a party ends with.
#[derive(Default)]
struct Ended {
    /// Numbers that it learned, and what they have to be.
    learned: Vec<(u64, u64)>,
    /// Shares modulo 2 of bits, and its shares of the same bits modulo p.
    bits: Vec<(u64, u64)>,
    /// Shares modulo p, and the numbers that all of them add up to.
    shares: Vec<(u64, u64)>,
}

/// Runs all parties, and returns what the meter of each counted.
///
/// # Errors
/// If a party aborts, the text of the first abort; or that a result was wrong.
pub fn run(parties: usize, work: MixingWork) -> Result<Vec<Counts>, String> {
    let agreed = Agreed::new(parties, work)?;
    let world = Arc::new(Same::default());
    let results =
        together(parties, &world, &agreed.parameters, |session| party(session, &world, &agreed, work))?;
    let (mut ends, mut counts) = (Vec::new(), Vec::new());
    for (mut ended, counted) in results {
        for list in [&mut ended.learned, &mut ended.bits, &mut ended.shares] {
            cure(list);
        }
        ends.push(ended);
        counts.push(counted);
    }
    if !are_right(&ends, agreed.plain) {
        return Err("what came out is not what the same computation gives in the clear".to_owned());
    }
    Ok(counts)
}

/// Whether the values and shares of all parties together are right.
fn are_right(ends: &[Ended], p: Modulus) -> bool {
    let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, |sum, x| p.add(sum, x));
    let learned = ends.iter().all(|end| end.learned.iter().all(|(x, expected)| x == expected));
    let (bits, shares) = (ends.iter().map(|end| &end.bits), ends.iter().map(|end| &end.shares));
    let bits = (0..bits.clone().map(Vec::len).max().unwrap_or(0)).all(|i| {
        let of = bits.clone().filter_map(|bits| bits.get(i));
        of.clone().fold(0, |x, (bit, _)| x ^ bit) == sum(&mut of.map(|(_, number)| *number))
    });
    let shares = (0..shares.clone().map(Vec::len).max().unwrap_or(0)).all(|i| {
        let of = shares.clone().filter_map(|shares| shares.get(i));
        let found = sum(&mut of.clone().map(|(share, _)| *share));
        of.map(|(_, expected)| *expected).all(|expected| expected == found)
    });
    let some = ends.iter().any(|end| end.learned.len() + end.bits.len() + end.shares.len() > 0);
    learned && bits && shares && some
}

fn party(
    session: Session,
    world: &Same,
    agreed: &Agreed,
    work: MixingWork,
) -> Result<(Ended, Counts), Abort> {
    world.is_secret();
    match work {
        MixingWork::Bits(_) => work::bits(session, agreed),
        MixingWork::Numbers => work::numbers(session, agreed),
        MixingWork::Tables(_) => work::tables(session, agreed),
        MixingWork::Shares => work::shares(session, agreed),
        MixingWork::Combined => work::combined(session, agreed),
        MixingWork::Products => work::products(session, agreed),
        MixingWork::Vectors => work::vectors(session, agreed),
        MixingWork::Circuit => work::circuit(session),
    }
}

/// Declares these values secret.
fn hide<T: Copy>(values: &mut [T]) {
    machine::poison(values.as_mut_ptr().cast(), size_of_val(values));
}

/// Declares these values public, so that the run can be checked.
fn cure<T: Copy>(values: &mut [T]) {
    machine::cure(values.as_mut_ptr().cast(), size_of_val(values));
}
