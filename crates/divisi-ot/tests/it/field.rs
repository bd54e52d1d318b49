//! Rows over a field end to end: they are right for every field, width, number of parties and k, have the
//! cost that the modules' headers name, and lies about them are detected as often as docs/ot.md says.

use crate::common;
use crate::common::{as_often_as, ends, honest, passed, refused};
use divisi_core::DrawPurpose;
use divisi_core::testing::{Harness, failed_check, many, party, run};
use divisi_core::{Abort, Check, Counts, PartyId, PublicParameters, Session};
use divisi_ot::checks;
use divisi_ot::correlate::{BitVectors, Long, Numbers, Payload, gadget};
use divisi_ot::testing::{deal_over_field, fit, unsound_over_field};
use divisi_ot::{AuthBits, Base, Bits, FIELDS, Setup, SetupConfig};

static INPUTS: DrawPurpose = DrawPurpose::of_test("inputs");

const CORRECT: &str = "divisi_ot::vole/correct";

fn parameters(config: SetupConfig, f: u32) -> PublicParameters {
    Setup::describe_field(f, config.describe(common::parameters()))
}

fn all<R: Send>(
    n: usize,
    config: SetupConfig,
    f: u32,
    act: impl Fn(&mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> Vec<R> {
    honest(run(n, &parameters(config, f), |mut session| {
        session.phase("setup");
        let mut setup = Setup::over_field(&mut session, config, f)?;
        act(&mut session, &mut setup)
    }))
}

/// Demands that the sum of all parties' shares of products is the sum of all bits times the sum of all
/// payloads.
fn products_are_right(views: &[(Vec<u64>, Vec<u128>, Vec<u128>)]) {
    let words = views[0].1.len();
    for at in 0..words {
        let bits = views.iter().fold(0, |sum, (bits, ..)| sum ^ bits[at / 64] >> (at % 64)) & 1;
        let payloads = views.iter().fold(0, |sum, (_, payloads, _)| sum ^ payloads[at]);
        let shares = views.iter().fold(0, |sum, (.., shares)| sum ^ shares[at]);
        assert_eq!(shares, payloads * u128::from(bits), "{at}");
    }
}

fn payloads(session: &Session, count: usize, width: u32) -> Vec<u128> {
    let mut bytes = vec![0; 16 * count];
    session.entropy(&INPUTS, &mut bytes);
    bytes.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word) >> (128 - width)).collect()
}

/// Narrow rows, wide ones and pads alone, random bits and chosen ones, in one set-up.
#[test]
fn rows_fit_for_every_field_width_and_number_of_parties() {
    let mut cases: Vec<(usize, u32, u32, Base)> = Vec::new();
    cases.extend(FIELDS.iter().map(|f| (2, *f, 4, Base::Half)));
    cases.extend((1..=8).map(|k| (2, 48, k, Base::Half)));
    cases.extend([
        (2, 48, 4, Base::Both),
        (3, 48, 4, Base::Half),
        (3, 72, 5, Base::Both),
        (5, 40, 4, Base::Half),
    ]);
    many(cases.len(), 2, |case| {
        let (n, f, k, base) = cases[case];
        let ends = all(n, SetupConfig { k, base, ..SetupConfig::default() }, f, |session, setup| {
            let delta = setup.delta().get();
            assert!(setup.mac_bits() == f && delta >> f == 0 && delta.count_ones() > 4);
            let narrow = setup.mac_rows(session, Bits::Random(300))?;
            let mut wide = setup.wide_rows(session, Bits::Random(130))?;
            let chosen: Vec<u64> = vec![0x5555_0000_ffff_1234; 4];
            let given = setup.mac_rows(session, Bits::Chosen(&chosen, 200))?;
            assert_eq!(given.bits(), [chosen[0], chosen[1], chosen[2], chosen[3] & 0xff]);
            let mut pads = setup.pad_rows(session, Bits::Chosen(&chosen, 256))?;
            assert_eq!(pads.bits(), chosen);
            // a part of the rows is used first, and then the rest
            let mut made = Vec::new();
            assert!(wide.take(131).is_none() && wide.len() == 130);
            let front = wide.take(70).unwrap();
            for mut part in [front, wide] {
                assert_eq!(part.bits.bits(), part.pads.bits());
                let values = payloads(session, part.len(), 48);
                let width = BitVectors { width: 48 };
                let shares = setup.correlate(session, &mut part.pads, None, &width, &values)?;
                made.push((part.bits.bits().to_vec(), values, shares.to_vec(), Some(part.bits)));
            }
            let values = payloads(session, 256, 101);
            let shares = setup.correlate(session, &mut pads, None, &BitVectors { width: 101 }, &values)?;
            made.push((pads.bits().to_vec(), values, shares.to_vec(), None));
            Ok((delta, vec![narrow, given], made))
        });
        let mut authenticated: Vec<Vec<(u128, AuthBits)>> = Vec::new();
        let mut products = vec![Vec::new(); 3];
        for (delta, bits, made) in ends {
            let mut of: Vec<_> = bits.into_iter().map(|bits| (delta, bits)).collect();
            for (at, (bits, values, shares, auth)) in made.into_iter().enumerate() {
                products[at].push((bits, values, shares));
                of.extend(auth.map(|auth| (delta, auth)));
            }
            authenticated.push(of);
        }
        for _ in 0..4 {
            fit(&authenticated.iter_mut().map(|of| of.remove(0)).collect::<Vec<_>>());
        }
        products.iter().for_each(|views| products_are_right(views));
    });
}

/// How many positions there are is told by more than a byte: parts of 256 of them are parts, and not empty.
#[test]
fn parts_of_many_positions_are_parts() {
    let ends = run(2, &common::parameters(), |mut session| {
        let mut setup = deal_over_field(&mut session, SetupConfig::default(), 48, 3)?;
        let mut rest = setup.wide_rows(&mut session, Bits::Random(768))?;
        for left in [512, 256, 0] {
            let part = rest.take(256).unwrap();
            for (rows, len) in [(&part, 256), (&rest, left)] {
                assert_eq!([rows.len(), rows.bits.len(), rows.pads.len()], [len; 3]);
                let empty = [rows.is_empty(), rows.bits.is_empty(), rows.pads.is_empty()];
                assert_eq!(empty, [len == 0; 3]);
            }
        }
        assert!(rest.take(1).is_none());
        Ok(())
    });
    honest(ends);
}

/// The first rows of MACs prove that everybody has one Delta, once, also after rows of pads, which prove
/// nothing.
#[test]
fn the_first_rows_of_macs_are_those_that_prove() {
    let config = SetupConfig { base: Base::Both, ..SetupConfig::default() };
    let ends = all(3, config, 48, |session, setup| {
        session.phase("pads");
        setup.pad_rows(session, Bits::Random(100))?;
        session.phase("first");
        setup.wide_rows(session, Bits::Random(100))?;
        session.phase("second");
        setup.mac_rows(session, Bits::Random(100))?;
        Ok(session.meter().read())
    });
    let rounds = ["pads", "first", "second"]
        .map(|phase| ends.iter().map(|meter| meter.phases[phase].rounds).max().unwrap());
    assert_eq!(rounds, [4, 5, 4]);
}

/// Rows from a dealer fit like those that the protocols make.
#[test]
fn dealt_rows_fit() {
    for n in [2, 3] {
        let ends = run(n, &common::parameters(), |mut session| {
            let mut setup = deal_over_field(&mut session, SetupConfig::default(), 48, 3)?;
            let mut wide = setup.wide_rows(&mut session, Bits::Random(200))?;
            let chosen = [session.me().index() as u64 * 77; 2];
            let given = setup.mac_rows(&mut session, Bits::Chosen(&chosen, 128))?;
            assert_eq!(given.bits(), chosen);
            let values = payloads(&session, 200, 40);
            let width = BitVectors { width: 40 };
            let shares = setup.correlate(&mut session, &mut wide.pads, None, &width, &values)?;
            let view = (wide.bits.bits().to_vec(), values, shares.to_vec());
            Ok((view, (setup.delta().get(), wide.bits), (setup.delta().get(), given)))
        });
        let (mut products, mut wide, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for (p, w, g) in honest(ends) {
            products.push(p);
            wide.push(w);
            given.push(g);
        }
        fit(&wide);
        fit(&given);
        products_are_right(&products);
    }
}

/// A narrow row costs ceil(f / k) bits to each peer, a wide one ceil(128 / k) bits more, and a payload its
/// bits; there are whole tiles of rows, and one more. So a triple of MASCOT at k = 1 costs tau f (128 + f) +
/// 5 f^2 bits and a random bit f, both as in Table 5 of KOR+17.
#[test]
fn costs() {
    let (tau, triples) = (4, 64);
    for (n, f, k) in [(2, 40, 1), (2, 48, 4), (3, 42, 5), (2, 72, 8)] {
        let config = SetupConfig { k, ..SetupConfig::default() };
        let (fk, pk) = ((f as usize).div_ceil(k as usize), 128_usize.div_ceil(k as usize));
        let ends = all(n, config, f, |session, setup| {
            let f = f as usize;
            let bits = |session: &Session, phase: &str| session.meter().read().phases[phase].bits as usize;
            // the first batch includes the proof
            setup.mac_rows(session, Bits::Random(1))?;
            session.phase("narrow");
            setup.mac_rows(session, Bits::Random(1280))?;
            assert_eq!(bits(session, "narrow"), (n - 1) * 128 * 11 * fk);
            session.phase("wide");
            setup.wide_rows(session, Bits::Random(1200))?;
            assert_eq!(bits(session, "wide"), (n - 1) * 128 * 11 * (fk + pk));
            session.phase("triples");
            let mut a = setup.pad_rows(session, Bits::Random(triples * tau * f))?;
            let b = vec![3; triples * tau * f];
            let shares = setup.correlate(session, &mut a, None, &BitVectors { width: f }, &b)?;
            assert_eq!(gadget(&shares, f as u32, 5).len(), triples * tau);
            let words = vec![0; (5 * triples * f).div_ceil(64)];
            setup.mac_rows(session, Bits::Chosen(&words, 5 * triples * f))?;
            let each = tau * f * (pk + f) + 5 * f * fk;
            // whole tiles, and a sacrificed one of each width
            assert_eq!(bits(session, "triples"), (n - 1) * (triples * each + 128 * (pk + fk)));
            if (f, k) == (40, 1) {
                assert_eq!(each, 34_880, "4,360 bytes");
            }
            Ok(session.meter().read())
        });
        // a batch takes three or four rounds, and a correlation one
        let rounds: Vec<u64> = ["narrow", "wide", "triples"]
            .iter()
            .map(|phase| ends.iter().map(|meter| u64::from(meter.phases[*phase].rounds)).max().unwrap())
            .collect();
        let batch = if n > 2 { 4 } else { 3 };
        assert_eq!(rounds, [batch, batch, 2 * batch + 1]);
    }
}

/// The checks that each party executed, by formula.
#[test]
fn census() {
    for (n, base) in [(2, Base::Both), (2, Base::Half), (3, Base::Half), (5, Base::Both)] {
        let peers = n as u64 - 1;
        let more = u64::from(n > 2);
        let ends = all(n, SetupConfig { base, ..SetupConfig::default() }, 48, |session, setup| {
            setup.mac_rows(session, Bits::Random(200))?;
            let mut wide = setup.wide_rows(session, Bits::Random(300))?;
            setup.pad_rows(session, Bits::Random(100))?;
            setup.correlate(session, &mut wide.pads, None, &BitVectors { width: 8 }, &[1; 300])?;
            Ok(session.meter().read())
        });
        let made = |meter: &Counts, check: Check| meter.checks.get(&check).copied().unwrap_or(0);
        for (party, meter) in PartyId::all(n).zip(&ends) {
            let times = |check: Check| made(meter, check);
            // by halves each pair has one direction of first rows
            let halves = if base == Base::Half {
                PartyId::all(n)
                    .filter(|p| *p != party)
                    .filter(|peer| (party < *peer) != (party.index().abs_diff(peer.index()) % 2 == 1))
                    .count() as u64
            } else {
                0
            };
            assert_eq!([checks::K11, checks::K13].map(times), [3 * peers, peers]);
            assert_eq!([checks::K12, checks::W4].map(times), [more * 2 * peers, more * 3 * peers]);
            assert_eq!([checks::K14, checks::W1].map(times), [halves + 1, 3 * peers + halves]);
            assert_eq!([checks::W3, checks::W5, checks::W10].map(times), [3, 0, 0]);
            // between two parties only the check of rows has an error; among more the proof of one Delta errs
            // with 2^-rho
            let bits = meter.verification_error_bits.unwrap();
            assert!(if n == 2 { bits > 120.0 } else { bits == 40.0 }, "{n}: {bits}");
        }
    }
}

/// Corrections of another bit in t pieces of one bit each, of MACs, of pads, or of both, pass if these bits
/// of the keys are all zero. This holds for the first piece, too, because no bit is public.
#[test]
fn lies_in_t_pieces_pass_with_2_to_the_minus_t() {
    let f = 12;
    for pieces in [vec![0], vec![13], vec![0, 11], vec![3, 12, 139]] {
        let t = pieces.len() as i32;
        let passes = || {
            let harness = Harness::new(2, &common::parameters());
            let pieces = pieces.clone();
            // the first message with corrections belongs to the set-up
            harness.change(party(1), party(2), CORRECT, 1, move |body| {
                // 12 + 128 pieces, each with two words: one for each tile
                assert_eq!(body.len(), 32 * 140);
                pieces.iter().for_each(|piece| body[32 * piece] ^= 1);
            });
            let ends = harness.act(|mut session| {
                let config = SetupConfig { k: 1, ..SetupConfig::default() };
                let mut setup = unsound_over_field(&mut session, config, f)?;
                setup.wide_rows(&mut session, Bits::Random(100)).map(|_| ())
            });
            assert!(ends[1].is_ok() || failed_check(&ends[1]) == Some(checks::K11), "{:?}", ends[1]);
            ends[1].is_ok()
        };
        as_often_as(|trials| passed(trials, 8, &passes), 48, 0.5_f64.powi(t));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for f in [0, 7, 8, 38, 41, 74, 128] {
        let open =
            |mut session: Session| Setup::over_field(&mut session, SetupConfig::default(), f).map(drop);
        refused(run(2, &common::parameters(), open), &format!("a field of {f} bits"));
    }
    type Ask = fn(&mut Session, &mut Setup) -> Result<(), Abort>;
    let labels: [Ask; 2] = [
        |session, setup| setup.wide_rows(session, Bits::Random(1)).map(drop),
        |session, setup| setup.pad_rows(session, Bits::Random(1)).map(drop),
    ];
    labels.into_iter().for_each(|ask| refused(ends(2, ask), "rows of labels"));
    let macs: [(&[u64], usize); 2] = [(&[1], 65), (&[1, 2], 64)];
    let macs = macs.map(|(bits, count)| Bits::Chosen(bits, count));
    for bits in macs.into_iter().chain([Bits::Random(0)]) {
        refused(over_field(|session, setup| setup.mac_rows(session, bits).map(drop)), "rows of MACs");
    }
    // the width of payloads, and how many words they have for two rows
    for (width, words) in [(0, 0), (3, 3), (128 * 64 + 1, 130)] {
        let ends = over_field(|session, setup| {
            let mut pads = setup.pad_rows(session, Bits::Random(2))?;
            setup.correlate(session, &mut pads, None, &BitVectors { width }, &vec![1; words]).map(drop)
        });
        refused(ends, &format!("payloads of {width} bits in {words} words"));
    }
    let empty: [Ask; 3] = [
        |session, setup| no_payload(session, setup, &Long { count: 0 }),
        |session, setup| no_payload(session, setup, &Numbers { modulus: 5, count: 0 }),
        |session, setup| no_payload(session, setup, &BitVectors { width: 0 }),
    ];
    empty.into_iter().for_each(|ask| refused(over_field(ask), "payloads of nothing"));
    let twice = over_field(|session, setup| {
        let mut pads = setup.pad_rows(session, Bits::Random(2))?;
        setup.correlate(session, &mut pads, None, &BitVectors { width: 3 }, &[1; 2])?;
        setup.correlate(session, &mut pads, None, &BitVectors { width: 3 }, &[2; 2]).map(drop)
    });
    refused(twice, "rows that were used");
}

fn no_payload<P: Payload>(session: &mut Session, setup: &mut Setup, payload: &P) -> Result<(), Abort> {
    let mut pads = setup.pad_rows(session, Bits::Random(2))?;
    setup.correlate(session, &mut pads, None, payload, &[]).map(drop)
}

/// How two parties end with dealt rows over a field of 40 bits.
fn over_field(ask: impl Fn(&mut Session, &mut Setup) -> Result<(), Abort> + Sync) -> Vec<Result<(), Abort>> {
    run(2, &common::parameters(), |mut session| {
        let mut setup = deal_over_field(&mut session, SetupConfig::default(), 40, 1)?;
        ask(&mut session, &mut setup)
    })
}

/// Different fields have different digests of parameters, so that parties that differ stop before any secret
/// is used.
#[test]
fn the_field_is_agreed() {
    let digests: Vec<_> = FIELDS.iter().map(|f| parameters(SetupConfig::default(), *f).digest()).collect();
    assert!((0..4).all(|i| (0..i).all(|j| digests[i] != digests[j])));
}
