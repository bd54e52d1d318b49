//! Engines of all parties, the inputs that one of them gives, and what a step opens.

use divisi_core::testing::{MessageDirection, Recording, party};
use divisi_core::{Abort, PartyId, Session, Settles};
use divisi_field::Gf48;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::lab::begin;
use divisi_spdz::{AuthBit, AuthByte, Host, Preparation, Spdz, SpdzProtocol};

/// An engine whose preprocessing a dealer makes from a seed.
pub fn dealt<F: Host>(session: Session, seed: u8, protocol: SpdzProtocol) -> Result<Spdz<F>, Abort> {
    let (party, dealer) = Dealer::deal(session, seed)?;
    Spdz::new(party, Box::new(dealer), protocol)
}

/// An engine whose preprocessing is made in this way, or by a dealer.
pub fn prepared<F: Host>(
    session: Session,
    preparation: Option<Preparation>,
    protocol: SpdzProtocol,
) -> Result<Spdz<F>, Abort> {
    let (party, source) = begin::<F>(session, preparation)?;
    Spdz::new(party, source, protocol)
}

/// Bytes that this party gives.
pub fn given<F: Host>(e: &mut Spdz<F>, owner: PartyId, bytes: &[u8]) -> Result<AuthByte<F>, Abort> {
    let mine = e.session().me() == owner;
    e.input(owner, mine.then_some(bytes), bytes.len())
}

/// Bits that this party gives.
pub fn given_bits<F: Host>(e: &mut Spdz<F>, owner: PartyId, bits: &[bool]) -> Result<AuthBit<F>, Abort> {
    let mine = e.session().me() == owner;
    e.input_bits(owner, mine.then_some(bits), bits.len())
}

/// The bytes, opened to all.
pub fn opened(e: &mut Spdz<Gf48>, x: AuthByte<Gf48>) -> Result<Vec<u8>, Abort> {
    let verified = e.settled(x)?;
    Ok(e.output(verified)?.into_iter().map(|x| x.0).collect())
}

/// How many messages of a step a party sent.
pub fn sent(recording: &Recording, step: &'static str) -> usize {
    recording.of(MessageDirection::Out, step).len()
}

/// What two parties open in a step: message by message the sum of what both send.
pub fn sums(recordings: &[Recording], step: &'static str) -> Vec<Vec<u8>> {
    let [ours, theirs] =
        [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), step));
    assert!(!ours.is_empty() && ours.len() == theirs.len(), "{step}");
    let sum = |(x, y): (&Vec<u8>, &Vec<u8>)| x.iter().zip(y).map(|(x, y)| x ^ y).collect();
    ours.iter().zip(&theirs).map(sum).collect()
}
