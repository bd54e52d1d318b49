//! A party that sends messages of one session again in another one (1.11) ends that session, or changes
//! nothing.

use divisi_core::testing::{Harness, MessageDirection, many, party};
use divisi_core::{Abort, Bytes, Direction, PublicParameters, Session, settle};
use divisi_field::{Gf8, Gf48};
use divisi_ot::testing::unsound_over_field;
use divisi_ot::{Base, SetupConfig};
use divisi_spdz::{Bucketed, Party, Spdz, SpdzProtocol};
use std::time::Duration;

const RIGHT: [u8; 2] = [0xed, 0xb4];

fn harness() -> Harness {
    Harness::new(2, &PublicParameters::new("replays")).waiting(Duration::from_secs(10))
}

/// Two S-boxes, with rows, products and tables of their own.
fn play(mut session: Session) -> Result<Vec<u8>, Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = unsound_over_field(&mut session, config, 48)?;
    let (party, source): (Party<Gf48>, _) = Bucketed::over(session, setup)?;
    let mut engine = Spdz::new(party, Box::new(source), SpdzProtocol::BitDecomposition)?;
    let mut x = engine.public(&[0x53, 0xc6]);
    engine.sbox(Direction::Encrypt, &mut [&mut x])?;
    let pending = engine.close(x);
    let verified = settle(&mut engine, pending)?;
    Ok(engine.output(verified)?.into_iter().map(|x: Gf8| x.0).collect())
}

/// The messages from P_2 to P_1 in an honest session.
fn told() -> Vec<Vec<u8>> {
    let honest = harness();
    let recording = honest.recording(party(2));
    assert!(honest.act(play).iter().all(|end| end.as_deref() == Ok(&RIGHT[..])));
    recording
        .read()
        .into_iter()
        .filter(|seen| seen.way == MessageDirection::Out)
        .map(|seen| seen.frame.body)
        .collect()
}

/// How P_1 ends if P_2 sends these messages of the other session instead of its own.
fn replayed(old: &[Vec<u8>], places: std::ops::Range<usize>) -> Result<Vec<u8>, Abort> {
    let harness = harness();
    let (old, mut at) = (old.to_vec(), 0);
    harness.hand(party(2), party(1), move |mut frame| {
        if let Some(body) = old.get(at).filter(|_| places.contains(&at)) {
            frame.body.clone_from(body);
        }
        at += 1;
        vec![frame]
    });
    harness.act(play).into_iter().next().unwrap()
}

/// Hardly any message that is as long as a share of a MAC is the same in two sessions. A party that sends old
/// messages is detected, whether it replaces one message or all from one on.
#[test]
fn what_was_told_in_one_session_is_nothing_in_another() {
    let (old, new) = (told(), told());
    let lengths = |all: &[Vec<u8>]| all.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(&old), lengths(&new));
    // messages without secrets or randomness may be the same: parameters, or one or two bytes
    let tells = |body: &Vec<u8>| body.len() >= 6 && !new.contains(body);
    let telling = old.iter().filter(|body| tells(body)).count();
    assert!(4 * telling > 3 * old.len(), "{telling} of {}", old.len());
    let places: Vec<usize> = (0..old.len()).step_by(old.len().div_ceil(40)).collect();
    let noticed = many(places.len(), 8, |i| {
        let n = places[i];
        let noticed = |places: std::ops::Range<usize>| match replayed(&old, places.clone()) {
            Ok(out) => {
                assert!(out == RIGHT && !old[places.clone()].iter().any(tells), "{places:?}: {out:x?}");
                false
            }
            Err(_) => true,
        };
        [noticed(n..n + 1), noticed(n..old.len())]
    });
    let noticed = noticed.into_iter().flatten().filter(|noticed| *noticed).count();
    assert!(noticed > places.len(), "{noticed} of {}", 2 * places.len());
}
