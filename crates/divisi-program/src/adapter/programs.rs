//! A program on numbers and bits, with inputs that belong to parties.
//!
//! Adversary: that of [`crate::run`]: all parties but one, semi-honest.

use super::jobs::ProgramJob;
use super::manner::Manner;
use super::{ONLINE, PREPROCESSING, SETUP};
use crate::entries::{decode, encode, length};
use crate::form::BitForm;
use crate::keys::KeyLookups;
use crate::program::Input;
use crate::rings::ring;
use crate::run;
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::{Abort, Counts, Misuse, PartyId, PublicParameters, Security, Session, Step, step};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Own, Prepared, Rows, StartedParty, Unsupported, Watch, members, timed,
};
use divisi_field::zp::Modulus;
use divisi_mixed::{Gmw, Mixed};
use divisi_mpgc::GarblingContext;
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

const INPUT: Step = step!("program.inputs");
/// The most gates that a program garbles: the first party keeps 13,312 bytes of each.
const MOST_GARBLED: usize = 1 << 18;

/// A program, its settings, and the rings that it needs.
pub(super) struct Programs<'j> {
    job: &'j ProgramJob,
    manner: Manner,
    form: BitForm,
    plain: Modulus,
    bits: Option<Arc<Ring>>,
    numbers: Option<Arc<Ring>>,
    /// How keys of garbled circuits are looked up, if the program has any.
    garbled: Option<KeyLookups>,
}

impl<'j> Programs<'j> {
    /// # Errors
    /// [`Unsupported`] for a program that names more parties than there are, or garbles too many gates, and
    /// if there are no lattice parameters for it.
    pub fn new(job: &'j ProgramJob, manner: Manner) -> Result<Self, Unsupported> {
        let about = job.program.about();
        let at = |line: Option<usize>| {
            line.map_or(String::new(), |line| format!("{}, line {line}: ", job.program.name()))
        };
        if usize::from(about.parties) > manner.parties {
            let party = about.parties;
            let line = at(job.program.program().line_of_party(party));
            return Err(Unsupported::new(format!(
                "{line}the program names party {party}, but there are only {}: give --parties {party}",
                manner.parties
            )));
        }
        job.check_images()?;
        let form = manner.form.unwrap_or(BitForm::by_default(manner.parties));
        let p = job.program.program().numbers().modulus();
        let ring = |operation, form| {
            let ring = ring(operation, form, manner.parties, p, manner.insecure);
            ring.map_err(Unsupported::new)
        };
        // keys of a kind that is not used are not made
        let (has_bits, has_products) = (about.cost.random_bits() > 0, about.cost.triples() > 0);
        let bits = form.ciphertexts().filter(|_| has_bits);
        let bits = bits.map(|form| ring(Operation::Bits, form)).transpose()?;
        let numbers = has_products.then(|| ring(Operation::Triples, Form::LeanTree)).transpose()?;
        let plain = Modulus::new(p).ok_or_else(|| Unsupported::new("no modulus"))?;
        let [gates, ands] = about.cost.garbled;
        if gates > MOST_GARBLED {
            let line = at(job.program.program().line_of_garbled());
            return Err(Unsupported::new(format!(
                "{line}the program garbles {gates} gates, whose rows must all fit into memory: at most {MOST_GARBLED}, so use `circuit` for some"
            )));
        }
        let garbled = (gates > 0).then(|| manner.lookups_of_keys([gates, ands])).transpose()?;
        Ok(Programs { job, manner, form, plain, bits, numbers, garbled })
    }

    fn inputs(&self) -> &[Input] {
        self.job.program.program().inputs()
    }
}

impl Prepared for Programs<'_> {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("mixed program")
            .with("program", &self.job.program.digest())
            .with("form", self.form.name().as_bytes())
            .with("count", &(count as u64).to_le_bytes());
        let rings = self.bits.iter().chain(&self.numbers);
        let parameters = rings.fold(parameters, |all, ring| ring.parameters().describe(all));
        let garbled = self.garbled.iter().fold(parameters, |all, keys| keys.describe(all));
        self.manner.describe(garbled)
    }

    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        let program = PublicParameters::new("run.mixed.program").with("program", &self.job.program.digest());
        vec![
            ("another program, or the same with other circuits", program.digest()),
            ("the program with other settings (--form, --k, --parties)", self.parameters(0).digest()),
        ]
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        // preprocessing that a repetition leaves over would serve the next one in the same session, and not
        // be counted there
        BenchSchedule { batch: 1, warmup: (warmup.min(1), 1), one_session: false }
    }

    /// A row has the entries of all inputs, in order. Each party gets those of its own inputs.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let mut own = vec![Own::default(); self.manner.parties];
        for row in inputs.iter() {
            let mut rest = row;
            for input in self.inputs() {
                let (bytes, others) = rest.split_at(length(&input.value).min(rest.len()));
                rest = others;
                if let Some(own) = own.get_mut(usize::from(input.owner) - 1) {
                    own.extend_from_slice(bytes);
                }
            }
        }
        own
    }

    /// A row has the entries of all outputs, in order; all who learn one must have learned the same.
    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        let mut rest: Vec<&[u8]> = outputs.iter().map(|output| output.as_slice()).collect();
        let mut row = Vec::new();
        for output in self.job.program.program().outputs() {
            let mut first: Option<&[u8]> = None;
            for receiver in &output.receivers {
                let party = PartyId::new(*receiver);
                let place = rest.get_mut(usize::from(*receiver) - 1);
                let cut = place.and_then(|rest| {
                    let (own, others) = rest.split_at_checked(length(&output.value))?;
                    *rest = others;
                    Some(own)
                });
                let own = cut.ok_or(Differ { party, what: "gave outputs of a wrong form" })?;
                if first.is_some_and(|first| first != own) {
                    return Err(Differ { party, what: "learned other outputs than another party" });
                }
                first = Some(own);
            }
            row.extend_from_slice(first.unwrap_or_default());
        }
        Ok(row)
    }

    fn start<'p>(&'p self, mut session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        session.phase(SETUP);
        let gmw = Gmw::deferred(session, self.manner.config);
        let mut mixed = Mixed::new(gmw, self.plain, self.bits.as_ref(), self.numbers.as_ref())?;
        let cost = self.job.program.about().cost;
        if cost.needs_transfers(mixed.is_by_transfers()) {
            mixed.gmw().set_up()?;
        }
        let beside = mixed.keys();
        let context = |keys: &KeyLookups| GarblingContext::new(mixed.gmw(), &keys.method, beside.as_ref());
        let context = self.garbled.as_ref().map(context).transpose()?;
        Ok(Box::new(Member { of: self, mixed, context }))
    }

    fn facts(&self) -> Map<String, Json> {
        let cost = self.job.program.about().cost;
        members(json!({
            "op": "program",
            "program": self.job.program.name(),
            "and": cost.ands,
            "and_of_a2b": cost.a2b_ands,
            "products": cost.products,
            "b2a": cost.b2a,
            "a2b": cost.a2b,
            "lookups": cost.lookups,
            "garbled": cost.garbled[0],
            "garbled_and": cost.garbled[1],
            "garbled_form": self.garbled.as_ref().map(|keys| keys.form.name()),
            "protocol": "gmw",
            "security": Security::SemiHonest.name(),
            "computational_bits": COMPUTATIONAL_BITS,
            "form": self.form.name(),
            "k": self.manner.config.k,
            "insecure": self.manner.insecure,
        }))
    }
}

/// One party, with its set-up.
struct Member<'p> {
    of: &'p Programs<'p>,
    mixed: Mixed,
    /// The garbling state, for garbled circuits.
    context: Option<GarblingContext>,
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, _: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Member { of, mixed, context } = self;
        let held = &*of.job.program;
        let (program, code) = (held.program(), held.code());
        let me = mixed.session().me();
        let mut rest = own.as_slice();
        let mut mine = Vec::with_capacity(program.inputs().len());
        for input in program.inputs() {
            if PartyId::new(input.owner) != Some(me) {
                mine.push(None);
                continue;
            }
            let Some((entries, others)) = decode(&input.value, rest) else {
                return Err(mixed.session().misuse(INPUT, Misuse::LengthDiffers));
            };
            rest = others;
            mine.push(Some(entries));
        }
        let ahead = timed(watch, PREPROCESSING, || {
            mixed.session().phase(PREPROCESSING);
            run::prepare(code, mixed, context.as_mut())
        })?;
        let outputs = timed(watch, ONLINE, || {
            mixed.session().phase(ONLINE);
            run::run(program, code, mixed, &mine, ahead)
        })?;
        let mut out = Own::default();
        outputs.iter().flatten().for_each(|entries| encode(entries, &mut out));
        Ok(out)
    }

    fn meter(&mut self) -> Counts {
        self.mixed.session().meter().read()
    }
}
