//! The engine `spdz` of the commands: AES and triple DES by masked tables, and Boolean circuits, among any
//! number of parties, of which all but one may be corrupt.

mod begin;
mod blocks;
mod cipher;
mod circuit;
mod evaluate;
mod file;
mod how;
mod known;
mod lookups;
mod needs;
mod options;
mod place;
mod stock;
mod wholes;

use crate::{LOAD_PHASE, PREPROCESSING_PHASE, VERIFICATION_PHASE};
use begin::{ONLINE, SETUP};
use blocks::Work;
use circuit::Circuit;
use divisi_core::{Abort, PartyId, Session, Step, step};
use divisi_engine::job::{BlocksJob, CircuitJob, Job, LookupJob};
use divisi_engine::stock::statistical_bits;
use divisi_engine::{
    Adversary, Clock, Demonstration, Engine, EngineSettings, Jobs, Measured, Page, Prepared, Prepares,
    Profile, SecurityClaim, StockMaker, Unsupported, members, phases_page,
};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use how::How;
use known::KnownAnswers;
use serde_json::{Map, Value, json};

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
const PARTY: Step = step!("party");

/// The party with this index, from 0, among those of a session.
fn party_of(session: &mut Session, place: usize) -> Result<PartyId, Abort> {
    let party = PartyId::all(session.parties()).nth(place);
    party.ok_or_else(|| session.misuse(PARTY, "no party of that number"))
}

/// Evaluates an expression in which `$name` is the type of the field `$field`.
macro_rules! by_field {
    ($field:expr, $name:ident => $body:expr) => {
        match $field {
            $crate::adapter::how::Field::F40 => {
                type $name = divisi_field::Gf40;
                $body
            }
            $crate::adapter::how::Field::F42 => {
                type $name = divisi_field::Gf42;
                $body
            }
            $crate::adapter::how::Field::F48 => {
                type $name = divisi_field::Gf48;
                $body
            }
            $crate::adapter::how::Field::F72 => {
                type $name = divisi_field::Gf72;
                $body
            }
        }
    };
}
use by_field;

impl Engine for Authenticated {
    fn profile(&self) -> Profile {
        Profile {
            adversary: Adversary::AllButOne,
            claims: vec![claim()],
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
            "protocol": how.name(),
            "field_bits": how.field.bits(),
            "prep": how.prep.name(),
            "k": how.config.k,
            "statistical_bits": self.statistical_bits(settings),
            "computational_bits": COMPUTATIONAL_BITS,
        }))
    }

    fn report(&self, measured: &Measured) -> Map<String, Value> {
        let mut all = self.facts(&measured.settings);
        let rate = |seconds: f64| measured.count as f64 / seconds;
        all.extend(members(json!({
            "mode": null,
            "phases": measured.phases_json(),
            "openings": measured.facts.get("openings"),
            "bucket": measured.facts.get("bucket"),
            "online_per_second": rate(measured.online_seconds()),
            "total_per_second": rate(measured.total_seconds()),
            // of a stock the bound counts: the session that made it reported its own figure
            "computational_bits": measured.computational_bits.unwrap_or(f64::from(COMPUTATIONAL_BITS)),
        })));
        for member in ["algorithm", "direction", "key_bits", "message_bytes"] {
            all.insert(member.into(), measured.about.get(member).cloned().unwrap_or(Value::Null));
        }
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
        let rate = measured.count as f64 / measured.online_seconds();
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
    let among = |field: how::Field, parties| statistical_bits(least, field.bits(), parties);
    let of = |field| {
        let (two, all) = (among(field, 2), among(field, MOST_PARTIES));
        format!("{two} between two parties to {all} among {MOST_PARTIES}")
    };
    SecurityClaim::new("spdz", &(2..=MOST_PARTIES))
        .statistical(format!(
            "{least} bits, {most} on request with GF(2^72); with `--field 40` {}, with `--field 42` {}; \
             reported by the meter",
            of(how::Field::F40),
            of(how::Field::F42),
        ))
        .computational(format!("{COMPUTATIONAL_BITS} bits"))
}

impl Prepares<CircuitJob> for Authenticated {
    fn prepare<'j>(
        &self,
        job: &'j CircuitJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        Ok(Box::new(Circuit::new(job, How::new(settings)?)?))
    }
}

impl Prepares<BlocksJob> for Authenticated {
    fn prepare<'j>(
        &self,
        job: &'j BlocksJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        Ok(Box::new(Work::new(job, How::new(settings)?)?))
    }
}

impl Prepares<LookupJob> for Authenticated {
    fn prepare<'j>(
        &self,
        job: &'j LookupJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        Ok(Box::new(lookups::Looker::new(job, How::new(settings)?)?))
    }
}

impl Prepares<Job> for Authenticated {
    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        Ok(Box::new(KnownAnswers::new(job, How::new(settings)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::how::Field::{F40, F42, F48, F72};
    use super::*;

    /// The claim names each field that leaves fewer bits than the least that can be chosen among some number
    /// of parties, with the least among all numbers of them.
    #[test]
    fn the_claim_has_the_least_of_all_fields_and_parties() {
        let chosen = how::STATISTICAL[0];
        let bits = |field: how::Field| {
            (2..=MOST_PARTIES).map(move |parties| statistical_bits(chosen, field.bits(), parties))
        };
        let least = |field| bits(field).min().unwrap_or(0);
        let claim = claim().statistical;
        for field in [F40, F42, F48, F72] {
            let (most, least) = (bits(field).max().unwrap_or(0), least(field));
            let says = format!("`--field {}` {most} between two parties to {least} among 32", field.bits());
            assert_eq!(claim.contains(&says), least < chosen, "{field:?}: {says}");
        }
        assert_eq!([F40, F42, F48, F72].map(least), [35, 37, 40, 40]);
        assert_eq!([F40, F42, F48, F72].into_iter().flat_map(bits).min(), Some(35));
    }
}
