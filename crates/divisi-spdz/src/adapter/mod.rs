//! The engine `spdz` of the commands: AES and triple DES by masked tables, and Boolean circuits, among any
//! number of parties, of which all but one may be corrupt.

mod answers;
mod begin;
mod blocks;
mod circuits;
mod file;
mod how;
mod lookups;
mod one_shot;
mod options;
mod place;
mod stock;

use crate::ciphers::SETUP;
use crate::ciphers::run::ONLINE;
use crate::protocol::{MacField, by_field};
use crate::{LOAD_PHASE, PREPROCESSING_PHASE, VERIFICATION_PHASE};
use answers::KnownAnswers;
use blocks::Work;
use circuits::Circuits;
use divisi_engine::evaluations::Evaluations;
use divisi_engine::job::{AnswersJob, BlocksJob, CircuitJob, LookupJob};
use divisi_engine::stock::statistical_bits;
use divisi_engine::{
    Adversary, Clock, Demonstration, Engine, EngineSettings, Jobs, Measured, Page, PreparedJob, Prepares,
    Profile, SecurityClaim, StockMaker, Unsupported, members, phases_page,
};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use how::How;
use serde_json::{Map, Value, json};
use std::marker::PhantomData;

/// The engine of authenticated shares.
pub struct Authenticated;

const PHASES: &[Clock] = &[
    Clock::apart(SETUP, &[SETUP]),
    Clock::ahead(PREPROCESSING_PHASE, &[PREPROCESSING_PHASE]),
    Clock::ahead(LOAD_PHASE, &[LOAD_PHASE]),
    Clock::online(ONLINE, &[ONLINE]),
    Clock::online(VERIFICATION_PHASE, &[VERIFICATION_PHASE]),
];

const MOST_PARTIES: usize = 32;

impl Engine for Authenticated {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::AllButOne,
            claims: || vec![claim()],
            options: options::options(),
            statistical_choice: "40 or 64",
            ciphers: &["aes", "des3"],
            blocks: 2048,
            // a circuit without products has nothing to verify
            verifies_online: true,
            ..Profile::new(
                "spdz",
                "Masked tables over authenticated shares among n = 2 to 32 parties, secure against up to n - 1 malicious ones: AES, triple DES, circuits",
                2..=MOST_PARTIES,
            )
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs {
            circuits: Some(self),
            blocks: Some(self),
            lookups: Some(self),
            answers: Some(self),
            long_answers: true,
            ..Jobs::default()
        }
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        How::new(settings).map(drop)
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    /// The bits of the field less the logarithm of the number of parties (rounded up), or those of the
    /// buckets: the smaller number counts.
    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32> {
        let how = How::new(settings).ok()?;
        Some(how.statistical_bits())
    }

    fn demonstration(&self) -> Option<Demonstration> {
        Some(Demonstration::Parties(&Authenticated))
    }

    fn stock_maker(&self) -> Option<&'static dyn StockMaker> {
        Some(&Authenticated)
    }

    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        let Ok(how) = How::new(settings) else { return Map::new() };
        members(json!({
            "security": settings.security.name(),
            "protocol": how.named().map(|named| named.name),
            "field_bits": how.field.bits(),
            "prep": how.prep.name(),
            "k": how.config.k,
            "statistical_bits": self.statistical_bits(settings),
            "computational_bits": COMPUTATIONAL_BITS,
        }))
    }

    fn report(&self, measured: &Measured) -> Map<String, Value> {
        let mut all = self.facts(&measured.settings);
        let [online, total] = measured.rates();
        all.extend(members(json!({
            "mode": null,
            "phases": measured.phases_json(),
            "openings": measured.facts.get("openings"),
            "bucket": measured.facts.get("bucket"),
            "online_per_second": online,
            "total_per_second": total,
            // of a stock the bound counts: the session that made it reported its own figure
            "computational_bits": measured.computational_bits.unwrap_or(f64::from(COMPUTATIONAL_BITS)),
        })));
        all.extend(measured.members_of_job(["algorithm", "direction", "key_bits", "message_bytes"]));
        for member in lookups::FACTS {
            all.extend(measured.facts.get(member).map(|fact| (member.to_owned(), fact.clone())));
        }
        if let Some(name) = measured.facts.get("protocol") {
            all.insert("protocol".into(), name.clone());
        }
        all
    }

    fn page(&self, measured: &Measured) -> Page {
        let name = measured.facts.get("protocol").and_then(Value::as_str).unwrap_or("circuit");
        let how = How::new(&measured.settings);
        let made = how.map_or(String::new(), |how| {
            format!(", GF(2^{}), {}, k = {}", how.field.bits(), how.prep.name(), how.config.k)
        });
        let [rate, _] = measured.rates();
        Page {
            above: format!(
                "{} {}s, spdz, {name}{made}, {} parties",
                measured.count, measured.unit, measured.parties
            ),
            below: format!(
                "online {rate:.0}/s; {} values opened online; memory {}; all outputs checked",
                measured.number("openings"),
                measured.memory()
            ),
            ..phases_page(measured)
        }
    }
}

/// What the engine claims: the least among all numbers of parties, for each field that leaves fewer bits than
/// can be chosen.
fn claim() -> SecurityClaim {
    let [least, most] = how::STATISTICAL;
    let among = |field: MacField, parties| statistical_bits(least, field.bits(), parties);
    let of = |field| {
        let (two, all) = (among(field, 2), among(field, MOST_PARTIES));
        format!("{two} between two parties to {all} among {MOST_PARTIES}")
    };
    SecurityClaim::new("spdz", &(2..=MOST_PARTIES))
        .statistical(format!(
            "{least} bits, {most} on request with GF(2^72); with `--field 40` {}, with `--field 42` {}; \
             reported by the meter",
            of(MacField::F40),
            of(MacField::F42),
        ))
        .computational(format!("{COMPUTATIONAL_BITS} bits"))
}

impl Prepares<CircuitJob> for Authenticated {
    fn prepare<'j>(&self, job: &'j CircuitJob, settings: &EngineSettings) -> PreparedJob<'j> {
        let how = How::new(settings)?;
        by_field!(how.field, F => {
            Ok(Box::new(Evaluations::new(job, Circuits::<F> { how, field: PhantomData })?))
        })
    }
}

impl Prepares<BlocksJob> for Authenticated {
    fn prepare<'j>(&self, job: &'j BlocksJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(Work::new(job, How::new(settings)?)?))
    }
}

impl Prepares<LookupJob> for Authenticated {
    fn prepare<'j>(&self, job: &'j LookupJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(lookups::Looker::new(job, How::new(settings)?)?))
    }
}

impl Prepares<AnswersJob> for Authenticated {
    fn prepare<'j>(&self, job: &'j AnswersJob, settings: &EngineSettings) -> PreparedJob<'j> {
        Ok(Box::new(KnownAnswers::new(job, How::new(settings)?)?))
    }
}
