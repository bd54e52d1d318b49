//! The engine's jobs: what it refuses before there is a session, and what a client deals and collects.

use divisi_core::{Direction, Security};
use divisi_engine::job::{
    AnswersJob, BlocksJob, ChainJob, Cipher, DigestsJob, JobSpec, LargeJob, LookupJob, MessagesJob, Own,
    PublicMessage,
};
use divisi_engine::plain::InTheClear;
use divisi_engine::{Engine, EngineSettings, Rows, prepare, together};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use divisi_symphony::adapter::{CONSTANT, ROUNDS, Replicated};
use std::collections::BTreeSet;

#[test]
fn settings_that_make_no_sense_are_refused_in_one_sentence() {
    let good = EngineSettings::default();
    assert!(Replicated.check(&good).is_ok());
    for bad in [
        EngineSettings { threads: 0, ..good.clone() },
        EngineSettings { threads: 5000, ..good.clone() },
        EngineSettings { statistical: Some(0), ..good.clone() },
        EngineSettings { statistical: Some(115), ..good.clone() },
        EngineSettings { statistical: Some(57), security: Security::SemiHonest, ..good.clone() },
    ] {
        assert!(Replicated.check(&bad).is_err(), "{bad:?}");
    }
}

fn lookups(entries: usize, inputs: usize, dimensions: Option<usize>) -> JobSpec {
    JobSpec::Lookups(LookupJob { entries, inputs, dimensions, count: 10, table: None })
}

#[test]
fn what_is_no_table_is_refused_and_the_cheapest_way_is_taken() {
    let settings = EngineSettings::default();
    for (bad, what) in [
        (lookups(0, 1, None), "--entries is 0"),
        (lookups(1, 1, None), "--entries is 1"),
        (lookups(1 << 25, 1, None), "--entries is"),
        (lookups(300, 1, None), "--entries is 300"),
        (lookups(256, 0, None), "--inputs is 0"),
        (lookups(256, 4, None), "--inputs is 4"),
        (lookups(2, 2, None), "--inputs is 2"),
        (lookups(256, 1, Some(4)), "--dimensions is 4"),
        (lookups(256, 1, Some(0)), "--dimensions is 0"),
        (lookups(1 << 20, 1, Some(2)), "2 factors: give"),
        (lookups(4, 1, Some(3)), "3 factors: give"),
    ] {
        let error = prepare(&Replicated, &bad, &settings).map(drop).unwrap_err();
        assert!(error.reason.contains(what), "{}", error.reason);
    }
    for (good, factors) in [
        (lookups(2, 1, None), 1),
        (lookups(16, 2, None), 2),
        (lookups(1 << 16, 2, None), 3),
        (lookups(256, 1, Some(1)), 1),
    ] {
        let facts = prepare(&Replicated, &good, &settings).unwrap().facts();
        assert_eq!(facts["dimensions"], factors, "{facts:?}");
    }
}

#[test]
fn what_is_dealt_comes_together_again() {
    let cipher = Cipher::Aes(KeySize::Aes128);
    let job = JobSpec::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: 3 });
    let dealt = prepare(&Replicated, &job, &EngineSettings::default()).unwrap();
    let mut rows = Rows::default();
    (0..3u8).for_each(|i| rows.push(&[&[i; 15], &[7]]));
    let owns = dealt.deal(&rows);
    assert_eq!(owns.iter().map(|own| own.len()).collect::<Vec<_>>(), [96; 3]);
    // two components at each party, one behind the other
    let components = [&owns[0][..48], &owns[0][48..], &owns[1][48..]];
    let columns: Vec<u8> =
        (0..48).map(|at| components.iter().fold(0, |sum, component| sum ^ component[at])).collect();
    assert_eq!((&columns[..3], &columns[45..]), (&[0, 1, 2][..], &[7, 7, 7][..]));
    // outputs of no form
    assert!(dealt.collect(3, vec![Own::default(); 3]).is_err());
    assert!(dealt.collect(3, vec![Own::new(vec![0; 80]); 2]).is_err());
}

/// Each bit of a component that a client deals takes both values.
#[test]
fn all_bits_of_components_are_drawn() {
    let cipher = Cipher::Aes(KeySize::Aes128);
    let job = JobSpec::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: 1 });
    let dealt = prepare(&Replicated, &job, &EngineSettings::default()).unwrap();
    let mut row = Rows::default();
    row.push(&[&[7; 16]]);
    let mut seen = vec![[0_u8; 2]; 2 * 3 * 32];
    for _ in 0..64 {
        let owns = [dealt.deal(&row), dealt.deal_key(&[7; 16])].concat();
        let bytes = owns.iter().flat_map(|own| own.iter());
        seen.iter_mut().zip(bytes).for_each(|(seen, byte)| {
            seen[0] |= byte;
            seen[1] |= !byte;
        });
    }
    assert!(seen.iter().all(|seen| *seen == [0xff; 2]), "a bit that stays");
}

/// Whatever is looked up is verified, by messages of that phase, with any number of factors.
#[test]
fn what_is_looked_up_is_verified() {
    for (entries, dimensions) in [(256, Some(1)), (256, Some(2)), (1 << 9, Some(3))] {
        let mut rows = Rows::default();
        (0..10_u32).for_each(|at| rows.push(&[&(7 * at).to_le_bytes()]));
        let job = lookups(entries, 1, dimensions);
        for (security, verified) in [(Security::Malicious, true), (Security::SemiHonest, false)] {
            let settings = EngineSettings { security, ..EngineSettings::default() };
            let prepared = prepare(&Replicated, &job, &settings).unwrap();
            let (out, counts) = together(&*prepared, &[], &rows).unwrap();
            let expected: Vec<u8> = (0..10).map(|at| LookupJob::entry(7 * at)).collect();
            assert_eq!(out, expected, "{dimensions:?}");
            let sent = |phase| counts.phases.get(phase).map_or(0, |phase| phase.bytes);
            assert_eq!(sent("verification") > 0, verified, "{dimensions:?}");
        }
    }
}

/// How many values are opened for these messages: a tag each, which is made or compared.
fn opened(made: &[bool]) -> u64 {
    let message = |makes: &bool| PublicMessage {
        bytes: 3,
        spare_bits: 0,
        nonce: vec![0; 12],
        makes: *makes,
        received: (!makes).then(|| vec![7; 16]),
    };
    let using = Settings::new("cmac-aes128".parse().unwrap());
    let messages = made.iter().map(message).collect();
    let job = JobSpec::Answers(AnswersJob::Messages(MessagesJob { using, key_bytes: 16, messages }));
    let mut rows = Rows::default();
    made.iter().for_each(|_| rows.push(&[b"sixteen bytes in", b"abc"]));
    let prepared = prepare(&Replicated, &job, &EngineSettings::default()).unwrap();
    let (out, counts) = together(&*prepared, &[], &rows).unwrap();
    assert_eq!(out.len(), made.iter().map(|makes| if *makes { 16 } else { 1 }).sum::<usize>());
    counts.openings
}

/// A tag that is only compared is not opened, also beside one that is made: a message more opens as much as
/// where no tag is made.
#[test]
fn compared_tags_stay_closed() {
    let alone = opened(&[false, false]) - opened(&[false]);
    assert_eq!(opened(&[true, false, false]) - opened(&[true, false]), alone);
    assert_eq!(opened(&[true, true]) - opened(&[true]), 16);
}

/// Jobs that differ in one thing: a cipher, a direction, a setting of a function, a length, a table.
fn jobs() -> Vec<JobSpec> {
    let mut all = Vec::new();
    for size in KeySize::ALL {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            all.push(JobSpec::Blocks(BlocksJob { cipher: Cipher::Aes(size), direction, count: 5000 }));
        }
    }
    let mut digests = |using: Settings, message_bytes| {
        all.push(JobSpec::Digests(DigestsJob { using, message_bytes, count: 5000 }));
    };
    let of = |name: &str| Settings::new(name.parse().unwrap());
    digests(of("sha256"), 8);
    digests(of("sha256"), 9);
    digests(Settings { adder: Adder::LowDepth, ..of("sha256") }, 8);
    digests(of("hmac-sha256"), 8);
    // each setting by itself: a new one must be compared, too
    let Settings {
        algorithm,
        adder,
        customization,
        function,
        output_bytes,
        spare_output_bits,
        spare_key_bits,
        xof,
    } = of("kmac128");
    let kmac = || Settings { algorithm, adder, customization: customization.clone(), ..of("kmac128") };
    digests(kmac(), 8);
    digests(Settings { customization: b"x".to_vec(), ..kmac() }, 8);
    digests(Settings { function: [&function[..], b"x"].concat(), ..kmac() }, 8);
    digests(Settings { output_bytes: output_bytes + 1, ..kmac() }, 8);
    digests(Settings { spare_output_bits: spare_output_bits + 1, ..kmac() }, 8);
    digests(Settings { spare_key_bits: spare_key_bits + 1, ..kmac() }, 8);
    digests(Settings { xof: !xof, ..kmac() }, 8);
    all.extend([lookups(16, 1, None), lookups(32, 1, None), lookups(16, 2, None), lookups(16, 1, Some(1))]);
    all
}

/// What parties compare before a session tells each job and each setting from all others.
#[test]
fn all_that_is_public_about_a_job_is_compared() {
    let one = EngineSettings::default();
    let settings = [
        one.clone(),
        one.clone().with("protocol", "lut16"),
        one.clone().with(ROUNDS, CONSTANT),
        one.clone().with(ROUNDS, CONSTANT).with("on-demand", ""),
        EngineSettings { statistical: Some(58), ..one.clone() },
        EngineSettings { statistical: Some(59), ..one.clone() },
        EngineSettings { security: Security::SemiHonest, ..one.clone() },
        EngineSettings { threads: 2, ..one },
    ];
    let mut seen = BTreeSet::new();
    for (job, settings) in jobs().iter().flat_map(|job| settings.iter().map(move |of| (job, of))) {
        let tells = match job {
            // lookups run in levels and in one thread, and have no S-boxes
            JobSpec::Lookups(_) => settings.own.is_empty() && settings.threads == 1,
            JobSpec::Digests(_) => settings.own.is_empty() || settings.own.contains_key(ROUNDS),
            _ => true,
        };
        let Some(prepared) = prepare(&Replicated, job, settings).ok().filter(|_| tells) else { continue };
        assert!(seen.insert(prepared.parameters(100_000).digest()), "{job:?} {settings:?}");
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

/// Chains from starts of several lengths, and digests of several lengths, are those in the clear.
#[test]
fn each_length_has_its_own_answer() {
    let using = Settings::new("sha256".parse().unwrap());
    let starts = vec![1, 32, 40, 3];
    let lengths = vec![1, 130, 1, 70];
    let jobs: [(JobSpec, Vec<usize>); 2] = [
        (ChainJob { using: using.clone(), steps: 2, starts: starts.clone() }.into(), starts),
        (LargeJob { using, content: 5, lengths }.into(), vec![5; 4]),
    ];
    for (job, widths) in jobs {
        let bytes = (0..).map(|at: u8| at.wrapping_mul(37)).take(widths.iter().sum()).collect();
        let rows = Rows::cut(bytes, widths.into_iter());
        let answers = |engine: &dyn Engine| {
            together(&*prepare(engine, &job, &EngineSettings::default()).unwrap(), &[], &rows).unwrap().0
        };
        assert_eq!(answers(&Replicated), answers(&InTheClear), "{job:?}");
    }
}
