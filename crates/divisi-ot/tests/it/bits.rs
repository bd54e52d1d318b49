//! Authenticated bits end to end: they are right for every number of parties and every parameter, and have
//! the cost that the modules' headers name.

use crate::common::{ends, honest, parameters, refused, set_up};
use divisi_core::testing::{Harness, MessageDirection, run};
use divisi_core::{Abort, Check, Counts, PartyId, PublicParameters, Session, Step};
use divisi_net::wire_bytes;
use divisi_ot::checks;
use divisi_ot::softspoken::{CHUNK, TILE, pieces};
use divisi_ot::testing::fit;
use divisi_ot::{AuthBits, Base, Setup, SetupConfig, lowest_bit};

/// Makes batches of these sizes from one set-up. Returns for each party its Delta with each batch, and its
/// meter's counts.
fn batches(n: usize, config: SetupConfig, counts: &[usize]) -> Vec<(Vec<(u128, AuthBits)>, Counts)> {
    honest(run(n, &config.describe(parameters()), |mut session| {
        session.phase("setup");
        session.meter().reset();
        let mut setup = Setup::new(&mut session, config)?;
        let mut made = Vec::new();
        for (count, phase) in counts.iter().zip(["first", "second", "third"]) {
            session.phase(phase);
            made.push((setup.delta().get(), setup.authenticated_bits(&mut session, *count)?));
        }
        Ok((made, session.meter().read()))
    }))
}

/// Demands that batches of these sizes are right, made from one set-up.
fn all_fit(n: usize, config: SetupConfig, counts: &[usize]) {
    let parties = batches(n, config, counts);
    let mut parties: Vec<_> = parties.into_iter().map(|(made, _)| made.into_iter()).collect();
    for count in counts {
        let views: Vec<_> = parties.iter_mut().map(|made| made.next().unwrap()).collect();
        assert!(views.iter().all(|(_, view)| view.len() == *count));
        let deltas: Vec<u128> = views.iter().map(|(delta, _)| *delta).collect();
        for (party, delta) in PartyId::all(deltas.len()).zip(&deltas) {
            assert_eq!(delta & 1, lowest_bit(party));
            assert!((30..98).contains(&delta.count_ones()));
        }
        assert_eq!(deltas.iter().fold(0, |sum, delta| sum ^ delta) & 1, 1);
        let ones: u32 = views.iter().flat_map(|(_, view)| view.bits()).map(|word| word.count_ones()).sum();
        let all = (views.len() * count) as f64;
        assert!((f64::from(ones) - all / 2.0).abs() < 6.0 * (all / 4.0).sqrt(), "{ones} ones of {all}");
        fit(&views);
    }
}

#[test]
fn bits_fit_for_two_three_and_five_parties_in_either_form() {
    for n in [2, 3, 5] {
        for base in [Base::Both, Base::Half] {
            all_fit(n, SetupConfig { base, ..SetupConfig::default() }, &[1000, 1, 128]);
        }
    }
}

/// A batch with more chunks than are sent ahead is right, and so is the next batch.
#[test]
fn bits_fit_where_corrections_go_ahead() {
    for chunks in [33, 66] {
        all_fit(2, SetupConfig::default(), &[chunks * CHUNK * TILE - 300, 129]);
    }
}

#[test]
fn bits_fit_for_every_k_and_for_64_bits_of_security() {
    for k in 1..=8 {
        all_fit(3, SetupConfig { k, rho: 64, base: Base::Half }, &[129, 640]);
    }
}

#[test]
fn a_batch_of_several_chunks_fits() {
    all_fit(2, SetupConfig::default(), &[40_000, 128 * CHUNK]);
}

/// The proof of one Delta opens bits and MACs of positions that it sacrifices, and nobody gets these.
#[test]
fn what_is_opened_is_handed_to_nobody() {
    let harness = Harness::new(3, &parameters());
    let recordings = harness.recordings();
    let ends = harness.act(set_up(|session, setup| setup.authenticated_bits(session, 300)));
    for (recording, made) in recordings.iter().zip(honest(ends)) {
        let opened = recording.of(MessageDirection::Out, "divisi_ot::abit::consistency/bits");
        // a nonce, the bits, and 40 MACs under the key of each peer
        let macs: Vec<u128> = opened
            .iter()
            .flat_map(|seen| seen.frame.body[48..].as_chunks().0)
            .map(|mac| u128::from_le_bytes(*mac))
            .collect();
        assert_eq!(macs.len(), 2 * 2 * 40);
        let mut kept = PartyId::all(3).flat_map(|peer| made.macs(peer));
        assert!(kept.all(|mac| !macs.contains(mac)), "{}", made.me());
    }
}

/// Rounds: 2 for a set-up with [`Base::Both`], 5 with [`Base::Half`]; for a batch 3 between two parties, 4
/// among more, 5 with the proof.
#[test]
fn rounds() {
    for (n, base, expected) in [
        (2, Base::Both, [2, 3, 3]),
        (3, Base::Both, [2, 5, 4]),
        (2, Base::Half, [5, 3, 3]),
        (5, Base::Half, [5, 5, 4]),
    ] {
        // several chunks travel in one round
        for counts in [[100, 100], [20_000, 20_000]] {
            let parties = batches(n, SetupConfig { base, ..SetupConfig::default() }, &counts);
            let rounds = ["setup", "first", "second"]
                .map(|phase| parties.iter().map(|(_, meter)| meter.phases[phase].rounds).max().unwrap());
            assert_eq!(rounds, expected, "{n} parties, {base:?}");
        }
    }
}

/// A bit costs ceil(128 / k) bits to each peer, for whole tiles of 128 positions and one more tile. The test
/// also counts the other bytes of a batch.
#[test]
fn bytes() {
    for (n, k) in [(2, 4), (3, 8), (3, 1), (5, 5)] {
        let config = SetupConfig { k, ..SetupConfig::default() };
        for count in [100, 128, 1280, 20_000] {
            let expected = |tiles: usize, more: usize| {
                let corrections: usize = (0..tiles)
                    .step_by(CHUNK)
                    .map(|begin| wire_bytes((tiles - begin).min(CHUNK) * pieces(k) * 16) as usize)
                    .sum();
                let (coin, check) = (wire_bytes(32) as usize, wire_bytes(16 * 129) as usize);
                let echo = if n > 2 { wire_bytes(32) as usize } else { 0 };
                ((n - 1) * (corrections + coin + check + echo + more)) as u64
            };
            let rho = 40;
            let tiles = count / 128 + usize::from(count % 128 > 0);
            let proof = (wire_bytes(rho * 64 + 32)
                + wire_bytes(32)
                + wire_bytes(32 + 16 + (n - 1) * rho * 16)
                + wire_bytes(rho * 48)) as usize;
            for (_, meter) in batches(n, config, &[count, count]) {
                let (first, second) = (meter.phases["first"], meter.phases["second"]);
                assert_eq!(second.bytes, expected(tiles + 1, 0), "{n} {k} {count}");
                assert_eq!(second.bits, ((n - 1) * (tiles + 1) * 128 * pieces(k)) as u64);
                let first_expected = if n > 2 { expected(tiles + 2, proof) } else { expected(tiles + 1, 0) };
                assert_eq!(first.bytes, first_expected, "{n} {k} {count}");
            }
        }
    }
}

/// The bytes of a set-up: with [`Base::Both`] the same at all parties; with [`Base::Half`] those of the
/// messages of either side of a pair.
#[test]
fn bytes_of_the_set_up() {
    let frames = |bodies: &[usize]| bodies.iter().map(|body| wire_bytes(*body)).sum::<u64>();
    for k in [1, 4, 5, 8] {
        let trees = 128 * 32 + 32 * pieces(k) + 32;
        let (element, programs, tables) = (32, 64 * 32 + 16, 64 * 64);
        for n in [2, 3, 5] {
            let coins = if n > 2 { frames(&[32, 32]) } else { frames(&[32]) };
            let each = coins + frames(&[element, programs, tables, trees]);
            for (_, meter) in batches(n, SetupConfig { k, base: Base::Both, ..SetupConfig::default() }, &[1])
            {
                assert_eq!(meter.phases["setup"].bytes, each * (n as u64 - 1));
            }
        }
        // P_1 sends the base OTs, makes the first rows, and gets its own trees from them
        let parties = batches(2, SetupConfig { k, base: Base::Half, ..SetupConfig::default() }, &[1]);
        let bytes = |i: usize| parties[i].1.phases["setup"].bytes;
        let (commitment, link) = (32, 32);
        let rows = 2 * 16 * pieces(k);
        assert_eq!(bytes(0), frames(&[commitment, link, element, tables, trees, rows, 16 * 129, 16]));
        assert_eq!(bytes(1), frames(&[commitment, link, programs, trees]));
    }
}

/// The checks that each party executed, by formula.
#[test]
fn census() {
    for n in [2, 3, 5] {
        let peers = n as u64 - 1;
        let more = u64::from(n > 2);
        for (_, meter) in batches(n, SetupConfig { base: Base::Both, ..SetupConfig::default() }, &[500, 500])
        {
            let times = |check: Check| meter.checks.get(&check).copied().unwrap_or(0);
            assert_eq!(times(checks::O1), 3 * peers, "own element, its reading, the receiver's");
            assert_eq!((times(checks::O2), times(checks::W3)), (peers, 2));
            assert_eq!([checks::W1, checks::W5, checks::M0_2].map(times), [2 * peers; 3]);
            assert_eq!(times(checks::W6), 4 * peers);
            assert_eq!([checks::M0_3, checks::W7].map(times), [more * peers; 2]);
            assert_eq!([checks::W4, checks::W10].map(times), [more * 2 * peers; 2]);
            assert_eq!(times(checks::W8), more * (peers + 1));
            assert_eq!(times(checks::W9), more * (40 * peers + 1));
            assert_eq!(times(checks::W11), more);
            // between two parties only the check of rows has an error; among more the proof of one Delta errs
            // with 2^-rho
            let bits = meter.verification_error_bits.unwrap();
            assert!(if n == 2 { bits > 120.0 } else { bits == 40.0 }, "{n}: {bits}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let default = SetupConfig::default();
    let ks = [0, 9].map(|k| SetupConfig { k, ..default });
    for config in ks.into_iter().chain([0, 8, 39, 65].map(|rho| SetupConfig { rho, ..default })) {
        let ends = run(2, &parameters(), |mut session| Setup::new(&mut session, config).map(drop));
        refused(ends, &format!("{config:?}"));
    }
    refused(ends(2, |session, setup| setup.authenticated_bits(session, 0).map(drop)), "no bits");
}

/// A second set-up of a session, in whatever strand, is refused: a session has one Delta, and its positions
/// are numbered once.
#[test]
fn a_second_set_up_is_refused() {
    type Again = fn(&mut Session) -> Result<Setup, Abort>;
    let dealt: Again = |session| divisi_ot::testing::deal(session, SetupConfig::default(), 1);
    let made: Again = |session| Setup::new(session, SetupConfig::default());
    for (first, second) in [(made, made), (made, dealt), (dealt, made)] {
        for strand in [false, true] {
            let ends = run(2, &parameters(), |mut session| {
                let mut setup = first(&mut session)?;
                let mut other = if strand { Some(session.strand()?) } else { None };
                let again = second(other.as_mut().unwrap_or(&mut session));
                assert!(matches!(again.map(|_| ()), Err(Abort::Misuse { .. })));
                // and the first set-up cannot be used any more
                assert!(setup.authenticated_bits(&mut session, 1).is_err());
                Ok(())
            });
            assert!(ends.iter().any(Result::is_ok), "{ends:?}");
        }
    }
}

/// If a chain of coins is used up, the parties commit to the next chain before the exchange that opens its
/// first link. Between two parties this is one more round, which is counted.
#[test]
fn a_new_chain_of_coins_is_no_part_of_an_exchange() {
    let rounds = |counts: &Counts, phase: &str| counts.phases[phase].rounds;
    // how many coins a chain has
    let whole = honest(run(2, &parameters(), |mut session| {
        let mut setup = divisi_ot::testing::deal(&mut session, SetupConfig::default(), 1)?;
        session.phase("coins");
        for toss in 0.. {
            // so that the meter has the rounds of the longest toss
            let place = session.aside();
            setup.toss(&mut session, Step::new("a coin"))?;
            session.back(place);
            if rounds(&session.meter().read(), "coins") > 1 {
                return Ok(toss);
            }
        }
        Ok(0)
    }));
    let whole = whole.into_iter().max().unwrap();
    let bits = |tosses: usize| {
        let ends = honest(run(2, &parameters(), |mut session| {
            let mut setup =
                Setup::new(&mut session, SetupConfig { base: Base::Both, ..SetupConfig::default() })?;
            for _ in 0..tosses {
                setup.toss(&mut session, Step::new("a coin"))?;
            }
            session.phase("bits");
            setup.authenticated_bits(&mut session, 100)?;
            Ok(rounds(&session.meter().read(), "bits"))
        }));
        ends.into_iter().max().unwrap()
    };
    assert_eq!((whole, bits(whole - 1), bits(whole)), (1024, 3, 4));
}

/// Different parameters have different digests, so that parties that differ stop before any secret is used.
#[test]
fn parameters_are_agreed() {
    let digest = |config: SetupConfig| config.describe(PublicParameters::new("x")).digest();
    let all = [
        SetupConfig::default(),
        SetupConfig { k: 8, ..SetupConfig::default() },
        SetupConfig { rho: 64, ..SetupConfig::default() },
        SetupConfig { base: Base::Both, ..SetupConfig::default() },
    ];
    for (i, a) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|b| digest(*a) != digest(*b)));
    }
}

/// Among many parties, leaves are kept as seeds instead of expanded keys.
#[test]
fn bits_fit_for_twenty_parties() {
    all_fit(20, SetupConfig::default(), &[100]);
}

#[test]
#[ignore = "long"]
fn bits_fit_for_128_parties() {
    all_fit(128, SetupConfig::default(), &[100]);
}
