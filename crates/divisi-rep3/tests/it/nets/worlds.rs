//! The two worlds of what the three parties compute: none of them learns what the components say that it does
//! not hold.

use crate::common::prelude::*;
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_rep3::Rounds;

/// The lanes of each call.
const CALLS: [usize; 2] = [9, 3];

/// The secret of each world in each call: in one world all calls have the same, in the other one each has its
/// own, so that a mask which serves two calls tells them apart.
fn secret(run: WorldRun, call: usize, lanes: usize) -> Vec<u8> {
    (0..lanes).map(|i| [i * 41 + 3, (i * i * 7 + 0x80) ^ (call * 0xb7)][run.world] as u8).collect()
}

/// The part of this party, if the corrupt one holds the components 1 and 2, which are known.
fn part(me: PartyId, secret: &[u8], corrupt: u8) -> Part {
    let parts = divisi_rep3::deal::split(secret, |out| out.fill(0x5c));
    let place = (me.index() + 4 - usize::from(corrupt)) % 3;
    parts.into_iter().nth(place).unwrap()
}

/// In two calls, S-boxes both ways, a masked opening and an output to an honest party.
fn level_by_level(
    session: Session,
    run: WorldRun,
    corrupt: u8,
    protocol: Protocol,
    security: Security,
) -> Result<Vec<u8>, Abort> {
    let mut e = Rep3::new(Trio::new(session)?, protocol, security);
    for (call, lanes) in CALLS.into_iter().enumerate() {
        let mine = part(e.trio().me(), &secret(run, call, lanes), corrupt);
        let mut x = e.trio().input(&mine)?;
        for direction in DIRECTIONS {
            e.sbox(direction, &mut [&mut x])?;
        }
        if security == Security::Malicious {
            let mask = e.mask(lanes)?;
            e.open_masked(&x, mask)?;
        }
        let verified = settled(&mut e, x)?;
        e.trio().open_to(party(1 + corrupt % 3), &verified)?;
    }
    Ok(Vec::new())
}

/// A program in constant rounds, opened to an honest party.
fn constant_rounds(session: Session, run: WorldRun, corrupt: u8) -> Result<Vec<u8>, Abort> {
    let mut e = Rep3::new(Trio::new(session)?, Protocol::Gf4Circuit, Security::Malicious);
    e.use_rounds(Rounds::Constant);
    let program = byte_product(2);
    // each party has each role
    for call in 0..3 {
        let mine = part(e.trio().me(), &secret(run, call, CALLS[0]), corrupt);
        let secret = [e.trio().input(&mine)?, e.trio().input(&mine)?];
        let wires = bits(&mut e, &secret)?;
        let results = run_one(&mut e, &program, wires)?;
        let results = bytes(&mut e, &results)?.swap_remove(0);
        let verified = linear(&mut e, results)?;
        e.trio().open_to(party(1 + corrupt % 3), &verified)?;
    }
    Ok(Vec::new())
}

/// In two calls, an input of an honest party to the black box, its square and its cube.
fn black_box(session: Session, run: WorldRun, corrupt: u8) -> Result<Vec<u8>, Abort> {
    let owner = party(1 + corrupt % 3);
    let mut b = BlackBox::new(Trio::new(session)?);
    for (call, lanes) in CALLS.into_iter().enumerate() {
        let secret = secret(run, call, lanes);
        let elements: Vec<Gf128> = secret.into_iter().map(|x| Gf128(u128::from(x) << 3)).collect();
        let mine = (b.me() == owner).then_some(&elements[..]);
        let x = b.input(owner, mine, lanes)?;
        let product = b.local_mul(&x, &x)?;
        let product = b.reshare(product)?;
        b.local_mul(&product, &x)?;
    }
    Ok(Vec::new())
}

#[test]
fn no_party_can_tell_two_worlds_apart() {
    // a chain of layers with additive shares ends in a cipher: those of divisi-symphony
    let protocols = Protocol::ALL.iter().filter(|protocol| **protocol != Protocol::Lut256Additive);
    let mut shapes = Vec::new();
    for (corrupt, protocol) in [1, 2, 3].into_iter().cycle().zip(protocols) {
        let name = format!("{protocol:?}, party {corrupt} corrupt");
        shapes.push(WorldShape::new(name, 3, &[corrupt], move |session, run| {
            level_by_level(session, run, corrupt, *protocol, Security::Malicious)
        }));
    }
    for corrupt in 1..=3 {
        let mut add = |name: &str, play: fn(Session, WorldRun, u8) -> Result<Vec<u8>, Abort>| {
            let name = format!("{name}, party {corrupt} corrupt");
            shapes
                .push(WorldShape::new(name, 3, &[corrupt], move |session, run| play(session, run, corrupt)));
        };
        add("constant rounds", constant_rounds);
        add("black box", black_box);
        add("curious", |session, run, corrupt| {
            level_by_level(session, run, corrupt, Protocol::Lut256, Security::SemiHonest)
        });
    }
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}
