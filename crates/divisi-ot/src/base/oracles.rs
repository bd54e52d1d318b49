//! Tests that each oracle, pad, scalar and choice of base OTs is independent of the others.

use super::*;
use divisi_core::PublicParameters;
use divisi_core::testing::run;

/// C and the oracle of keys differ by session, sender and receiver. A pad depends on every bit of everything
/// that is hashed for it.
#[test]
fn oracles_serve_one_purpose() {
    let (mut elements, mut pads) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let ends = run(3, &PublicParameters::new("base ot tests"), |session| {
            let mut made = Vec::new();
            if session.me().index() == 0 {
                let strand = session.strand()?;
                for session in [&session, &strand] {
                    for (from, to) in divisi_core::testing::links(3) {
                        let oracles = Oracles::new(session, from, to);
                        let agreed = oracles.half.compress();
                        made.push((
                            agreed.to_bytes(),
                            oracles.pad(3, 2, &[4; 32], &[5; 32], &CompressedRistretto([6; 32])),
                        ));
                    }
                }
            }
            Ok(made)
        });
        let made = ends.into_iter().next().unwrap().unwrap();
        made.into_iter().for_each(|(element, pad)| {
            elements.push(element);
            pads.extend(pad);
        });
    }
    let ends = run(2, &PublicParameters::new("base ot tests"), |session| {
        let oracles = Oracles::new(&session, session.me(), session.peers()[0]);
        let mut made = Vec::new();
        for i in [0, 1, 63] {
            for e in 0..4 {
                for place in [None, Some(0), Some(31)] {
                    let changed = |this: bool| {
                        let mut bytes = [7; 32];
                        place.filter(|_| this).into_iter().for_each(|at: usize| bytes[at] = 8);
                        bytes
                    };
                    let which = if place.is_some() { 0..3 } else { 0..1 };
                    for w in which {
                        let [a, t, agreed] = [0, 1, 2].map(|of| changed(of == w));
                        made.extend(oracles.pad(i, e, &a, &t, &CompressedRistretto(agreed)));
                    }
                }
            }
        }
        Ok(made)
    });
    pads.extend(ends.into_iter().next().unwrap().unwrap());
    for (all, count) in [
        (elements.len(), {
            elements.sort_unstable();
            elements.dedup();
            elements.len()
        }),
        (pads.len(), {
            pads.sort_unstable();
            pads.dedup();
            pads.len()
        }),
    ] {
        assert_eq!(all, count);
    }
}

/// Scalars are uniform modulo the order, and all of them differ: no message T reveals how its choice differs
/// from that of another. Choices are uniform in all their bits, over a field in more than 128 of them, and no
/// two bits are related: the corrections that are sent would reveal how two bits of a key differ.
#[test]
fn scalars_and_choices_are_uniform() {
    const RUNS: usize = 64;
    let ends = run(2, &PublicParameters::new("base ot tests"), |session| {
        let peer = session.peers()[0];
        let c = Oracles::new(&session, peer, session.me()).half * Scalar::from(2_u64);
        let between: Vec<_> = (1..4_u64).map(|e| (c * Scalar::from(e)).compress()).collect();
        let (mut scalars, mut receivers, mut choices) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let over_field = Batch { count: 48 + 128, public: false };
        for run in 0..RUNS {
            let (sender, receiver) =
                (Sender::new(&session, peer), Receiver::new(&session, peer, tests::LABELS));
            scalars.push(sender.half.to_bytes());
            receivers.extend(receiver.halves.iter().map(Scalar::to_bytes));
            choices[0].push(*receiver.choices);
            choices[1].push(*Receiver::new(&session, peer, over_field).choices);
            if run == 0 {
                let t: Vec<_> = receiver.programs.chunks(32).map(|t| read(t).unwrap_or_default()).collect();
                for (a, b) in t.iter().zip(&t[1..]) {
                    let differ = [(a - b).compress(), (b - a).compress()];
                    assert!(
                        differ
                            .iter()
                            .all(|d| !between.contains(d) && *d != RistrettoPoint::identity().compress())
                    );
                }
            }
        }
        Ok((scalars, receivers, choices))
    });
    let (mut scalars, receivers, choices) = ends.into_iter().next().unwrap().unwrap();
    for scalars in [&scalars, &receivers] {
        for bit in 0..252 {
            let ones = scalars.iter().filter(|s| s[bit / 8] >> (bit % 8) & 1 == 1).count() as f64;
            // eight standard deviations
            let off = (ones - scalars.len() as f64 / 2.0).abs();
            assert!(off < 4.0 * (scalars.len() as f64).sqrt(), "{bit}");
        }
    }
    scalars.extend(receivers);
    for (choices, count) in choices.iter().zip([128, 48 + 128]) {
        let mut columns = std::collections::HashSet::from([0]);
        for bit in 0..count {
            let of = |column, choices: &Key| column << 1 | (choices[bit / 128] >> (bit % 128)) as u64 & 1;
            let column = choices.iter().fold(0_u64, of);
            // the same as another, or its complement
            assert!(columns.insert(if column & 1 == 1 { !column } else { column }), "{bit}");
        }
    }
    let all = scalars.len();
    scalars.sort_unstable();
    scalars.dedup();
    assert_eq!(scalars.len(), all);
}

/// No two scalars of a message, near or far, are related as two others are: no difference, sum or ratio
/// returns. If one followed from another, T_i and T_j together would tell how their choices differ.
#[test]
fn no_scalar_follows_from_another() {
    let ends = run(2, &PublicParameters::new("base ot tests"), |session| {
        let peer = session.peers()[0];
        Ok([(); 4].map(|()| Receiver::new(&session, peer, tests::LABELS).halves.to_vec()))
    });
    let mut seen = std::collections::HashSet::new();
    for halves in ends.into_iter().flat_map(Result::unwrap) {
        for (x, y) in [1, 2, 32].into_iter().flat_map(|apart| halves.iter().zip(&halves[apart..])) {
            let relations = [x - y, x + y, x * y.invert()];
            assert!(relations.into_iter().all(|relation| seen.insert(relation.to_bytes())));
        }
    }
}
