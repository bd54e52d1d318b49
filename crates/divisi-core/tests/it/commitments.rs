//! Commitments and echoes: what opens, what does not, and who is named.

use divisi_core::checks;
use divisi_core::testing::{Harness, failed_check, party};
use divisi_core::{Abort, Echo, PartyId, PublicParameters, Session, Step, step};

const ONE: Step = step!("one");
const OTHER: Step = step!("other");
const ECHO: Step = step!("echo");

fn alone<R: Send>(f: impl Fn(Session) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
    Harness::new(2, &PublicParameters::new("commitment tests")).act(f)
}

/// A commitment opens where it was made and nowhere else: not for another party (a reflection), step, index,
/// strand, payload or length.
#[test]
fn a_commitment_opens_in_its_place_only() {
    for lie in 0..8 {
        let ends = alone(|session| {
            let (me, peer) = (session.me(), session.peers()[0]);
            let strand = session.strand()?;
            let (commitment, nonce) = session.commit(ONE, 3, b"payload");
            let opened = |s: &Session, step, index, from, nonce: &[u8; 32], payload: &[u8]| {
                s.opened(checks::M0_2, step, index, from, &commitment, nonce, payload)
            };
            let mut other = *nonce.as_bytes();
            other[31] ^= 1;
            let nonce = nonce.as_bytes();
            // what was opened before changes nothing
            opened(&session, ONE, 3, me, nonce, b"payload")?;
            match lie {
                0 => opened(&session, ONE, 3, me, nonce, b"payload"),
                1 => opened(&session, ONE, 3, peer, nonce, b"payload"),
                2 => opened(&session, OTHER, 3, me, nonce, b"payload"),
                3 => opened(&session, ONE, 4, me, nonce, b"payload"),
                4 => opened(&session, ONE, 3, me, nonce, b"payloae"),
                5 => opened(&session, ONE, 3, me, nonce, b"payload\0"),
                6 => opened(&session, ONE, 3, me, &other, b"payload"),
                _ => opened(&strand, ONE, 3, me, nonce, b"payload"),
            }
        });
        // the first to fail ends the session of both
        let failed = ends.iter().any(|end| failed_check(end) == Some(checks::M0_2));
        assert_eq!(failed, lie != 0, "{lie}: {ends:?}");
    }
}

#[test]
fn commitments_to_the_same_differ() {
    let ends = alone(|session| Ok(session.commit(ONE, 0, b"x").0 != session.commit(ONE, 0, b"x").0));
    assert!(ends.into_iter().all(|end| end.unwrap()));
}

/// Say one byte to all, and compare what everybody said; P_1 tells the parties in `lied_to` another one.
fn broadcast(n: usize, lied_to: usize) -> Vec<Result<(), Abort>> {
    Harness::new(n, &PublicParameters::new("echo tests")).act(|mut session| {
        let mut said = vec![0; n];
        said[session.me().index()] = session.me().number();
        for peer in session.peers() {
            let lie = session.me() == party(1) && lied_to >> peer.index() & 1 == 1;
            session.send(ONE, peer, &[session.me().number() ^ u8::from(lie)], 0)?;
        }
        for peer in session.peers() {
            let mut byte = [0];
            session.recv(ONE, peer, &mut byte)?;
            said[peer.index()] = byte[0];
        }
        let mut echo = Echo::new(&mut session, ECHO);
        for (party, said) in PartyId::all(n).zip(&said) {
            echo.absorb(party, &[*said]);
        }
        echo.send(&mut session)?.compare(&mut session, checks::M0_3)
    })
}

/// Every way to split the honest parties: all of them stop, and nobody is named, for the liar's echo may be a
/// lie too.
#[test]
fn a_split_broadcast_ends_for_every_honest_subset() {
    for n in 3..=5 {
        assert!(broadcast(n, 0).iter().all(Result::is_ok));
        for subset in 1..(1 << (n - 1)) - 1 {
            let ends = broadcast(n, subset << 1);
            assert!(ends[1..].iter().all(Result::is_err), "{n} {subset:b} {ends:?}");
            assert!(ends.iter().all(|end| !matches!(end, Err(Abort::CheckFailed { culprit: Some(_), .. }))));
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::M0_3)));
        }
    }
}

#[test]
fn an_echo_of_nothing_is_no_comparison() {
    let ends = alone(|mut session| Echo::new(&mut session, ECHO).send(&mut session).map(|_| ()));
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))));
}
