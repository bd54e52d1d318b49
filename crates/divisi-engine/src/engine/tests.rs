//! What is refused before a job is prepared: options that are not the engine's, numbers of parties, and kinds
//! of job; and inputs of other lengths than those of a party's wires.

use super::*;
use crate::circuit::{HeldCircuit, NamedCircuit};
use crate::evaluations::{Evaluates, Evaluations};
use crate::job::{Between, ChainJob, LargeJob, MessagesJob, Own};
use crate::{Prepared, Unwatched, Watch};
use divisi_core::{Abort, Misuse, PartyId, PublicParameters, Session, local};
use divisi_symmetric::algorithm::Settings as Use;
use divisi_symmetric::gates::Adder;

struct Fake {
    parties: RangeInclusive<usize>,
}

impl Prepares<AnswersJob> for Fake {
    fn prepare<'j>(&self, _: &'j AnswersJob, _: &EngineSettings) -> PreparedJob<'j> {
        Err(Unsupported::new("prepared"))
    }
}

impl Engine for Fake {
    fn profile(&self) -> Profile {
        let switch = |name| EngineOption::switch(name, "");
        Profile {
            options: ["first", "middle", "last"].map(switch).to_vec(),
            ..Profile::new("fake", "", self.parties.clone())
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { answers: Some(self), ..Jobs::default() }
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        if settings.threads == 0 { Err(Unsupported::new("no threads")) } else { Ok(()) }
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        &[]
    }

    fn statistical_bits(&self, _: &EngineSettings) -> Option<u32> {
        None
    }
}

fn checked(parties: RangeInclusive<usize>, settings: &EngineSettings) -> String {
    check(&Fake { parties }, settings).err().map(|e| e.to_string()).unwrap_or_default()
}

/// Each option of the engine is taken, and none that only looks like one, wherever it stands among them.
#[test]
fn options_of_other_engines_are_refused() {
    let with = |options: &[&str]| {
        options.iter().fold(EngineSettings::default(), |settings, option| settings.with(option, ""))
    };
    assert_eq!(checked(2..=5, &with(&[])), "");
    for own in [&["first"][..], &["middle"], &["last"], &["first", "last", "middle"]] {
        assert_eq!(checked(2..=5, &with(own)), "");
        assert!(own.iter().all(|option| has_option(&Fake { parties: 2..=5 }, option)));
    }
    for other in ["fir", "firsts", "fist", "mid", "lost", "lasts", "another", "zz", ""] {
        for beside in [&[][..], &["first"], &["first", "middle", "last"]] {
            let text = format!("the engine fake has no option --{other}: leave it out");
            assert_eq!(checked(2..=5, &with(&[beside, &[other]].concat())), text);
            assert!(!has_option(&Fake { parties: 2..=5 }, other));
        }
    }
    assert_eq!(checked(2..=5, &EngineSettings { threads: 0, ..with(&["last"]) }), "no threads");
}

/// As many parties as the engine can have, and its own choice near three if none is asked for.
#[test]
fn numbers_of_parties_are_those_of_the_engine() {
    let ask = |parties| EngineSettings { parties, ..EngineSettings::default() };
    for (range, wrong, text) in [
        (1..=1, &[0, 2, 3, 257][..], "has 1 party, not {}: leave --parties out"),
        (3..=3, &[0, 2, 4, 259], "has 3 parties, not {}: leave --parties out"),
        (2..=5, &[0, 1, 6, 258], "has 2 to 5 parties, not {}: give another --parties"),
    ] {
        assert_eq!(checked(range.clone(), &ask(None)), "");
        range.clone().for_each(|parties| assert_eq!(checked(range.clone(), &ask(Some(parties))), ""));
        for parties in wrong {
            let text = format!("the engine fake {}", text.replace("{}", &parties.to_string()));
            assert_eq!(checked(range.clone(), &ask(Some(*parties))), text);
        }
    }
    let chosen = |range| parties(&Fake { parties: range }, &ask(None));
    assert_eq!([chosen(1..=1), chosen(2..=5), chosen(4..=9)], [1, 3, 4]);
}

/// Chains and long data are for engines that say so; other known answers are not concerned.
#[test]
fn long_answers_are_for_engines_that_have_them() {
    let using = Use::new("sha256".parse().unwrap());
    let chain = ChainJob { using: using.clone(), steps: 1, starts: vec![1] };
    let large = LargeJob { using: using.clone(), content: 1, lengths: vec![1] };
    let messages = MessagesJob { using, key_bytes: 0, messages: Vec::new() };
    let fake = Fake { parties: 2..=5 };
    for (job, text) in [
        (JobSpec::from(chain), "a Monte Carlo test, for which the engine fake has no circuit"),
        (large.into(), "a test of large data, for which the engine fake has no circuit"),
        (messages.into(), "prepared"),
    ] {
        let settings = EngineSettings::default();
        assert_eq!(prepare(&fake, &job, &settings).err().map(|e| e.to_string()), Some(text.into()));
        assert_eq!(has(&fake, &job), text == "prepared");
    }
}

/// Evaluates nothing: a party learns what it brings.
struct Echo;

impl Evaluates for Echo {
    type Plan<'c> = ();
    type Party = Session;

    const ENGINE: &'static str = "echo";

    fn parties(&self) -> usize {
        2
    }

    fn plan(&self, _: &CircuitJob) -> Result<(), Unsupported> {
        Ok(())
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        parameters
    }

    fn subject(&self, _: &CircuitJob, (): &()) -> PublicParameters {
        PublicParameters::new("echo")
    }

    fn batch(&self, job: &CircuitJob, (): &()) -> usize {
        job.count
    }

    fn start(&self, session: Session, _: Option<(&CircuitJob, usize)>) -> Result<Session, Abort> {
        Ok(session)
    }

    fn session(session: &mut Session) -> &mut Session {
        session
    }

    fn evaluate(
        &self,
        _: &mut Session,
        _: (&CircuitJob, &()),
        _: usize,
        own: &[u8],
        _: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        Ok(Own::new(own.to_vec()))
    }
}

/// A party brings a byte for each of its wires in each evaluation, and no engine sees less or more.
#[test]
fn a_party_brings_all_of_its_wires_and_no_more() {
    let mut g = divisi_circuit::Build::new();
    [5, 3].map(|width| divisi_circuit::Build::input(&mut g, width)).iter().for_each(|value| g.output(value));
    let circuit = NamedCircuit { name: "c".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let between = Between::with_all_to(vec![PartyId::P1, PartyId::P2], &[PartyId::P1], 2);
    let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 4 };
    let evaluations = Evaluations::new(&job, Echo).unwrap();
    for (length, count, fits) in
        [(20, 4, true), (5, 1, true), (0, 4, false), (19, 4, false), (21, 4, false), (20, 3, false)]
    {
        let taken = local::run(2, &evaluations.parameters(count), |session| {
            let is_first = session.me() == PartyId::P1;
            let mut member = evaluations.start(session, count, &Own::default())?;
            let own = Own::new(vec![1; if is_first { length } else { 3 * count }]);
            member.batch(count, &own, &mut Unwatched).map(drop)
        });
        match taken {
            Ok(_) => assert!(fits, "{length} {count}"),
            Err(Abort::Misuse { what: Misuse::LengthDiffers, .. }) => assert!(!fits, "{length} {count}"),
            other => panic!("{length} {count}: {other:?}"),
        }
    }
}
