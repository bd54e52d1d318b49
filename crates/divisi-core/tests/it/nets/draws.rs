//! The census of what every session draws: nonces, keys of pairs, coins and commitments.

use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::PartNet;
use divisi_core::testing::nets::{NetShape, ShapeSecurity};
use divisi_core::{Abort, Coins, Commitment, PublicParameters, Session, Step, checks, purposes, step};

const COMMIT: Step = step!("commit");
const OPEN: Step = step!("open");
const COIN: Step = step!("coin");

/// Coins of two chains, and commitments to the same, in a session and a strand of it.
fn play(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut told = Vec::new();
    let mut strand = session.strand()?;
    for session in [&mut session, &mut strand] {
        for _ in 0..2 {
            let mut coins = Coins::commit(session)?;
            for _ in 0..3 {
                told.extend(coins.toss(session, COIN)?);
            }
        }
        for index in 0..3 {
            let (commitment, nonce) = session.commit(COMMIT, index, b"payload");
            let mut theirs = Vec::new();
            for peer in session.peers() {
                session.send(COMMIT, peer, &commitment.0, 0)?;
            }
            for peer in session.peers() {
                let mut bytes = [0; 32];
                session.recv(COMMIT, peer, &mut bytes)?;
                theirs.push((peer, Commitment(bytes)));
            }
            for peer in session.peers() {
                session.send(OPEN, peer, nonce.as_bytes(), 0)?;
            }
            for (peer, commitment) in theirs {
                let mut nonce = [0; 32];
                session.recv(OPEN, peer, &mut nonce)?;
                session.opened(checks::M0_2, COMMIT, index, peer, &commitment, &nonce, b"payload")?;
            }
        }
    }
    Ok(told)
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let shape = |name, parties, runs| DrawShape {
        name,
        parties,
        parameters: PublicParameters::new("census of draws"),
        runs,
        play,
    };
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![shape("two parties", 2, 40), shape("three parties", 3, 20)],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let shape = NetShape::new("coins and commitments", 3, ShapeSecurity::AllButOne, |session, _, out| {
        out.put("coins", play(session)?);
        Ok(())
    });
    let net = PartNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        packages: &["divisi-core"],
        shapes: vec![shape],
        idle: &[],
    };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
