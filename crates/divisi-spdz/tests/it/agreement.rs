//! If parties differ in a parameter, they end before anything secret is used (1.20).

use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_core::{Direction, PartyId, PublicParameters};
use divisi_engine::job::{AnswersJob, BlocksJob, Cipher, CipherMode, DesKeys, JobSpec, LookupJob, ModesJob};
use divisi_engine::{EngineSettings, FileCipher, prepare};
use divisi_field::{Gf40, Gf42, Gf48, Gf72};
use divisi_ot::SetupConfig;
use divisi_spdz::adapter::Authenticated;
use divisi_spdz::{Preparation, lab};
use divisi_symmetric::aes::KeySize;
use std::collections::BTreeSet;

const DEFAULT: Preparation = Preparation::Bucketed;

/// Numbers of instances, some of which are alike in their lowest bytes.
const COUNTS: [usize; 4] = [3, 4, 259, 3 + (1 << 32)];

/// The parameters of the odd party.
fn said(how: &str) -> PublicParameters {
    let (config, parameters) = (SetupConfig::default(), PublicParameters::new("agreement"));
    match how {
        "prep" => Preparation::Mascot.describe::<Gf48>(config, parameters),
        "k" => DEFAULT.describe::<Gf48>(SetupConfig { k: 2, ..config }, parameters),
        "rho" => DEFAULT.describe::<Gf48>(SetupConfig { rho: 30, ..config }, parameters),
        "40" => DEFAULT.describe::<Gf40>(config, parameters),
        "42" => DEFAULT.describe::<Gf42>(config, parameters),
        "72" => DEFAULT.describe::<Gf72>(config, parameters),
        _ => DEFAULT.describe::<Gf48>(config, parameters),
    }
}

#[test]
fn parties_that_differ_begin_nothing() {
    for (n, odd) in [(2, 1), (2, 2), (3, 2)] {
        for how in ["as all", "prep", "k", "rho", "40", "42", "72"] {
            let harness = Harness::new(n, &PublicParameters::new("agreement"));
            let recordings = harness.recordings();
            let parameters = |who: PartyId| said(if who == party(odd) { how } else { "" });
            let ends =
                harness.act_each(parameters, |session| lab::begin::<Gf48>(session, Some(DEFAULT)).map(drop));
            // each party told every peer its own part of the agreement, and that it ends the session
            let told = |seen: &Recording| {
                seen.read().iter().filter(|seen| seen.way == MessageDirection::Out).count()
            };
            let few = |seen: &Recording| told(seen) <= 4 * (n - 1);
            if how == "as all" {
                assert!(ends.iter().all(Result::is_ok) && !recordings.iter().any(few));
            } else {
                assert!(ends.iter().all(Result::is_err) && recordings.iter().all(few), "{n} {how}");
            }
        }
    }
}

/// What parties compare before a session tells each job and each option from all others.
#[test]
fn all_that_is_public_about_a_job_is_compared() {
    let aes = KeySize::ALL.map(Cipher::Aes);
    let ciphers = aes.into_iter().chain([DesKeys::Two, DesKeys::Three].map(Cipher::TripleDes));
    let one = EngineSettings::default();
    let settings = [
        one.clone(),
        one.clone().with("k", 2),
        one.clone().with("field", 40),
        one.clone().with("prep", "mascot"),
        EngineSettings { statistical: Some(64), ..one.clone() },
    ];
    let mut seen = BTreeSet::new();
    let mut new = |parameters: PublicParameters, what: String| {
        assert!(seen.insert(parameters.digest()), "{what}");
    };
    let of_ciphers = ciphers.flat_map(|cipher| settings.iter().map(move |of| (cipher, of)));
    for (cipher, settings) in of_ciphers {
        for bytes in [48, 96] {
            let file = Authenticated.prepare_file(settings, cipher).unwrap();
            new(file.parameters(bytes), format!("{bytes} bytes in a file, {cipher:?}, {settings:?}"));
        }
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let job = JobSpec::Blocks(BlocksJob { cipher, direction, count: 3 });
            let prepared = prepare(&Authenticated, &job, settings).unwrap();
            for count in COUNTS {
                new(prepared.parameters(count), format!("{count} {job:?} {settings:?}"));
            }
        }
    }
    for entries in [16, 512, 1024] {
        let job = JobSpec::Lookups(LookupJob { entries, inputs: 1, dimensions: None, count: 3, table: None });
        for settings in &settings {
            let prepared = prepare(&Authenticated, &job, settings).unwrap();
            for count in COUNTS {
                new(prepared.parameters(count), format!("{count} {job:?} {settings:?}"));
            }
        }
    }
    for settings in &settings {
        let (cipher, mode) = (Cipher::Aes(KeySize::Aes128), CipherMode::Ecb);
        let job = ModesJob { mode, cipher, messages: Vec::new() };
        let job = JobSpec::Answers(AnswersJob::Modes(job));
        let prepared = prepare(&Authenticated, &job, settings).unwrap();
        for count in COUNTS {
            new(prepared.parameters(count), format!("{count} known answers {settings:?}"));
        }
    }
}
