//! Leaks that are planted in a toy protocol: each is found by name, and without one nothing is.

use super::bits::Fisher;
use super::{WorldNet, WorldRun, WorldShape};
use crate::testing::party;
use crate::{Abort, Prg, Session, Step, purposes, step};

const GIVE: Step = step!("give");
const MORE: Step = step!("more");
const LANES: usize = 5;

/// The first party's secret bytes.
fn secret(world: usize) -> [u8; LANES] {
    [[7, 250, 33, 0, 1], [90, 17, 33, 255, 2]][world]
}

/// The first party gives the others something that depends on its secret and on a mask.
fn toy(
    mut session: Session,
    world: usize,
    make: fn(&mut Session, &[u8; LANES]) -> [Vec<u8>; 2],
) -> Result<Vec<u8>, Abort> {
    if session.me() == party(1) {
        let given = make(&mut session, &secret(world));
        for peer in session.peers() {
            for (step, body) in [GIVE, MORE].into_iter().zip(&given) {
                session.send(step, peer, body, 0)?;
            }
        }
    } else if session.me() == party(2) {
        // the corrupt parties share a stream with the first one
        let _ = session.prg(party(1), purposes::COIN);
    }
    if session.me() != party(1) {
        for step in [GIVE, MORE] {
            session.recv(step, party(1), &mut [0; LANES])?;
        }
    }
    Ok(Vec::new())
}

fn masked(session: &mut Session, secret: &[u8; LANES]) -> Vec<u8> {
    let mut mask = [0; LANES];
    session.entropy(purposes::LINK, &mut mask);
    mask.iter().zip(secret).map(|(a, b)| a ^ b).collect()
}

fn fresh(session: &mut Session, secret: &[u8; LANES]) -> [Vec<u8>; 2] {
    [masked(session, secret), masked(session, secret)]
}

fn bare(session: &mut Session, secret: &[u8; LANES]) -> [Vec<u8>; 2] {
    let mut mine = masked(session, secret);
    mine[LANES - 1] = secret[LANES - 1];
    [masked(session, secret), mine]
}

fn shared(session: &mut Session, secret: &[u8; LANES]) -> [Vec<u8>; 2] {
    let mut mask = [0; LANES];
    session.prg(party(2), purposes::COIN).fill(&mut mask);
    [masked(session, secret), mask.iter().zip(secret).map(|(a, b)| a ^ b).collect()]
}

/// One mask for the secret and for a value that is known.
fn twice(session: &mut Session, secret: &[u8; LANES]) -> [Vec<u8>; 2] {
    let first = masked(session, secret);
    let second = first.iter().zip(secret).map(|(a, b)| a ^ b ^ 77).collect();
    [first, second]
}

/// A mask that the first party shares with the third.
fn shared_with_third(session: &mut Session, secret: &[u8; LANES]) -> [Vec<u8>; 2] {
    let mut mask = [0; LANES];
    session.prg(party(3), purposes::COIN).fill(&mut mask);
    [masked(session, secret), mask.iter().zip(secret).map(|(a, b)| a ^ b).collect()]
}

fn net(play: fn(Session, usize) -> Result<Vec<u8>, Abort>) -> Vec<String> {
    net_of(&[2, 3], play)
}

fn net_of(corrupt: &[u8], play: fn(Session, usize) -> Result<Vec<u8>, Abort>) -> Vec<String> {
    let shape = WorldShape::new("toy", 3, corrupt, move |session, run| play(session, run.world));
    WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes: vec![shape] }.judge()
}

#[test]
fn fresh_masks_tell_nothing() {
    assert_eq!(net(|session, world| toy(session, world, fresh)), [] as [String; 0]);
}

#[test]
fn planted_leaks_are_found() {
    for (what, found) in [
        ("a byte without a mask", net(|session, world| toy(session, world, bare))),
        ("a mask that a corrupt party knows", net(|session, world| toy(session, world, shared))),
        ("a mask for two values", net(|session, world| toy(session, world, twice))),
    ] {
        assert!(
            found.iter().any(|fault| fault.starts_with("toy: step ") && fault.contains(" runs")),
            "{what}: {found:#?}"
        );
    }
}

/// What two honest parties share is another value in each run, and what a corrupt one has is not.
#[test]
fn one_corrupt_party_of_three_knows_its_own_keys_alone() {
    let play = |session, world| toy(session, world, shared_with_third);
    assert_eq!(net_of(&[2], play), [] as [String; 0]);
    assert_ne!(net_of(&[3], play), [] as [String; 0]);
}

/// The first two parties have shares of the secret, the corrupt one another share in each run, and open them
/// to each other, under a mask of the first one or without one.
fn opened(session: &mut Session, run: WorldRun, is_masked: bool) -> Result<(), Abort> {
    let mut dealt = [[0; LANES]; 2];
    let mut dealer = Prg::new(&u128::from(run.seed).to_le_bytes());
    dealt.iter_mut().for_each(|share| dealer.fill(share));
    let [share, mask] = dealt;
    let peer = if session.me() == party(1) { party(2) } else { party(1) };
    let mut own = share;
    if session.me() == party(1) {
        let hidden = secret(run.world).into_iter().zip(if is_masked { mask } else { [0; LANES] });
        own.iter_mut().zip(hidden).for_each(|(own, (secret, mask))| *own ^= secret ^ mask);
    }
    if session.me() != party(3) {
        session.send(GIVE, peer, &own, 0)?;
        session.recv(GIVE, peer, &mut [0; LANES])?;
    }
    Ok(())
}

#[test]
fn a_sum_of_shares_is_looked_at() {
    let net = |is_masked| {
        let play = move |mut session: Session, run| {
            opened(&mut session, run, is_masked)?;
            Ok(Vec::new())
        };
        let shape = WorldShape::new("toy", 3, &[2], play);
        WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes: vec![shape] }.judge()
    };
    assert_eq!(net(true), [] as [String; 0]);
    assert_ne!(net(false), [] as [String; 0]);
}

/// What a party puts out must not depend on the secret: else a shape says nothing.
#[test]
fn outputs_that_differ_are_refused() {
    let found = net(|session, world| toy(session, world, fresh).map(|_| vec![world as u8]));
    assert!(found.iter().any(|fault| fault.contains("put out")), "{found:#?}");
}

#[test]
fn frequencies_are_told_apart() {
    let fisher = Fisher::of(64);
    assert!(fisher.differs(0, 64) && fisher.differs(64, 0) && fisher.differs(10, 62));
    assert!(
        !fisher.differs(32, 32)
            && !fisher.differs(20, 44)
            && !fisher.differs(0, 0)
            && !fisher.differs(64, 64)
    );
}
