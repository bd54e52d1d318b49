//! A client that sits with party 1: what the parties send it and what it says go over their links, so that
//! nets change and compare that, too.

use super::dealt;
use crate::engines;
use divisi_core::testing::nets::ShapeOutcome;
use divisi_core::testing::nets::worlds::WorldRun;
use divisi_core::testing::party;
use divisi_core::{Abort, Bytes, Direction, Misuse, Session, Settles, Step, step};
use divisi_field::Gf48;
use divisi_spdz::{ForClient, Receipt, Spdz, SpdzProtocol};

type Engine = Spdz<Gf48>;

const TO_CLIENT: Step = step!("to");
const CLIENT_SAYS: Step = step!("says");

/// The steps that give something to a client.
pub const GIVES: &str = "it::nets::client/to";

/// At the client, the messages of all parties, in their order; at others nothing.
fn gathered(session: &mut Session, body: &[u8]) -> Result<Vec<Vec<u8>>, Abort> {
    let client = party(1);
    if session.me() != client {
        session.send(TO_CLIENT, client, body, 0)?;
        return Ok(Vec::new());
    }
    let mut all = vec![body.to_vec()];
    for peer in session.peers() {
        let mut theirs = vec![0; body.len()];
        session.recv(TO_CLIENT, peer, &mut theirs)?;
        all.push(theirs);
    }
    Ok(all)
}

/// What the client says to all parties.
fn heard(session: &mut Session, says: Vec<u8>) -> Result<Vec<u8>, Abort> {
    let (client, mut says) = (party(1), says);
    if session.me() == client {
        session.peers().into_iter().try_for_each(|peer| session.send(CLIENT_SAYS, peer, &says, 0))?;
    } else {
        session.recv(CLIENT_SAYS, client, &mut says)?;
    }
    Ok(says)
}

/// Gives the client this many bytes and proves them. The client's bytes; at others zeros.
fn give(
    e: &mut Engine,
    of: ForClient<Gf48>,
    body: &[u8],
    lanes: usize,
    challenge: [u8; 16],
) -> Result<Vec<u8>, Abort> {
    let refused = |e: &mut Engine| e.session().misuse(TO_CLIENT, Misuse::NoResult);
    let all = gathered(e.session(), body)?;
    let first: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    let receipt = Receipt::<Gf48>::new(&first, lanes, challenge).ok();
    let said = receipt.as_ref().map_or([0; 16], Receipt::challenge);
    let said = *heard(e.session(), said.to_vec())?.first_chunk().unwrap();
    let proof = e.prove(of, &said)?;
    let all = gathered(e.session(), &proof)?;
    let Some(receipt) = receipt else { return Ok(vec![0; lanes]) };
    let last: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    receipt.accept(&last).map(|bytes| bytes.to_vec()).map_err(|_| refused(e))
}

/// The client's bytes go through an S-box and back to the client. At the client, what it received.
fn there_and_back(e: &mut Engine, x: &[u8], challenge: u8) -> Result<Vec<u8>, Abort> {
    let lanes = x.len();
    let (mask, of, body) = e.client_mask(lanes)?;
    let r = give(e, of, &body, lanes, [challenge; 16])?;
    let sum = heard(e.session(), x.iter().zip(&r).map(|(x, r)| x ^ r).collect())?;
    let mut y = e.client_input(mask, &sum)?;
    e.sbox(Direction::Encrypt, &mut [&mut y])?;
    let verified = e.settled(y)?;
    let (of, body) = e.show(verified)?;
    give(e, of, &body, lanes, [challenge + 1; 16])
}

/// Two clients, both with party 1.
pub fn clients(session: Session, seed: u64, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut e = dealt::<Gf48>(session, SpdzProtocol::Lookup)?;
    for (client, lanes) in [out.lanes(130), 5].into_iter().enumerate() {
        let received = there_and_back(&mut e, &super::values(seed, lanes), 2 * client as u8)?;
        if e.session().me() == party(1) {
            out.put("received", received);
        }
    }
    Ok(())
}

/// In two calls, bytes that the client alone knows.
pub fn secret(session: Session, run: WorldRun) -> Result<Vec<u8>, Abort> {
    let mut e = engines::dealt::<Gf48>(session, run.seed as u8, SpdzProtocol::Lookup)?;
    for (call, lanes) in [9, 3].into_iter().enumerate() {
        let x = super::values((run.world * (call + 1)) as u64, lanes);
        there_and_back(&mut e, &x, 2 * call as u8)?;
    }
    Ok(Vec::new())
}

/// In two calls, the client alone learns of the bytes of two parties what their sum goes to.
pub fn sums(session: Session, run: WorldRun) -> Result<Vec<u8>, Abort> {
    let mut e = engines::dealt::<Gf48>(session, run.seed as u8, SpdzProtocol::Lookup)?;
    let mut learned = Vec::new();
    for (call, lanes) in [9, 3].into_iter().enumerate() {
        let one = super::values((run.world * (call + 1)) as u64, lanes);
        let sum = super::values(9, lanes);
        let other: Vec<u8> = one.iter().zip(&sum).map(|(x, y)| x ^ y).collect();
        let mut x = engines::given(&mut e, party(2), &one)?;
        let y = engines::given(&mut e, party(3), &other)?;
        e.add(&mut x, &y)?;
        e.sbox(Direction::Encrypt, &mut [&mut x])?;
        let verified = e.settled(x)?;
        let (of, body) = e.show(verified)?;
        let told = give(&mut e, of, &body, lanes, [call as u8; 16])?;
        if e.session().me() == party(1) {
            assert_eq!(told, super::sboxes(&sum));
            learned.extend(told);
        }
    }
    Ok(learned)
}
