//! Opening of packed bits to all parties, in three ways, which differ in messages, bytes and rounds.
//!
//! Adversary: semi-honest, all parties but one. What is opened is uniform: bits under a mask that is used
//! once \[G7\]. So it makes no difference who adds the shares up.
//!
//! For S bytes among n parties, the bytes that a party sends, its messages, and the rounds:
//!
//! | way | bytes | messages | rounds |
//! |---|---|---|---|
//! | to each other party | (n - 1) S | n - 1 | 1 |
//! | through one party (section 3.1), another one each time | S, the adder (n - 1) S | 1, the adder n - 1 | 2 |
//! | in n parts, each through another party | 2 S (n - 1) / n | 2 (n - 1) | 2 |

use crate::bit::Dense;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use std::ops::Range;

const GATHER: Step = step!("open.gather");
const TELL: Step = step!("open.tell");

/// An opening in two rounds goes in parts if each part has at least this many bytes: with shorter parts, the
/// additional messages cost more than the adder's bytes. This is an estimate, like [`SPARED_BYTES`].
const PART_BYTES: usize = 4 << 10;

/// Factors of products are opened in two rounds instead of one if n - 2 parties would send at least this many
/// bytes: with fewer, another round and n - 1 messages cost more than the bytes that are spared. This is an
/// estimate for one machine: some 5 us a message, 1.5 ns a byte that is sent and received.
const SPARED_BYTES: usize = 128 << 10;

/// How many rounds an opening of products takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpeningRounds {
    /// Two where this spares so many bytes that another round costs less, else one.
    #[default]
    OneOrTwo,
    /// Always one: for parties far apart.
    One,
}

impl OpeningRounds {
    /// Whether an opening of this many bits among `parties` parties takes two rounds.
    #[must_use]
    pub fn are_two(self, bits: usize, parties: usize) -> bool {
        self == OpeningRounds::OneOrTwo && bits / 8 * parties.saturating_sub(2) >= SPARED_BYTES
    }
}

/// Opens the masked factors of products: in one round, with messages of this step, or in two rounds.
///
/// # Errors
/// The abort that ends the session, if a link fails or a peer's message has bits set after the last one.
pub(crate) fn open_factors(
    session: &mut Session,
    step: Step,
    rounds: OpeningRounds,
    share: Dense,
) -> Result<Dense, Abort> {
    if rounds.are_two(share.len(), session.parties()) {
        open_in_parts(session, share)
    } else {
        open_directly(session, step, share)
    }
}

/// Opens in two rounds: through one party, or in parts if these are large.
///
/// # Errors
/// The abort that ends the session, if a link fails or a peer's message has bits set after the last one.
pub(crate) fn open_packed(session: &mut Session, share: Dense) -> Result<Dense, Abort> {
    if share.len() / 8 >= PART_BYTES * session.parties() {
        open_in_parts(session, share)
    } else {
        open_through_one(session, share)
    }
}

/// Every party sends its shares to each other one. One round.
fn open_directly(session: &mut Session, step: Step, mut sum: Dense) -> Result<Dense, Abort> {
    let bits = sum.len();
    let mut body = sum.bytes();
    for peer in session.peers() {
        session.send(step, peer, &body, bits as u64)?;
    }
    for peer in session.peers() {
        add_from(session, step, peer, &mut body, &mut sum)?;
    }
    sum.mark_public(step);
    session.meter().opened(bits as u64);
    Ok(sum)
}

/// Section 3.1: every party sends its shares to one party, which adds them up and sends the sum to all.
/// Another party does so in each opening. Two rounds.
fn open_through_one(session: &mut Session, mut sum: Dense) -> Result<Dense, Abort> {
    let turn = session.count("open bits") as usize % session.parties().max(1);
    let Some(adder) = PartyId::all(session.parties()).nth(turn) else {
        return Err(session.misuse(GATHER, Misuse::PartyCount));
    };
    let bits = sum.len();
    let mut body = sum.bytes();
    if session.me() == adder {
        for peer in session.peers() {
            add_from(session, GATHER, peer, &mut body, &mut sum)?;
        }
        sum.mark_public(GATHER);
        body = sum.bytes();
        for peer in session.peers() {
            session.send(TELL, peer, &body, bits as u64)?;
        }
    } else {
        session.send(GATHER, adder, &body, bits as u64)?;
        sum = Dense::zeros(bits);
        add_from(session, TELL, adder, &mut body, &mut sum)?;
    }
    session.meter().opened(bits as u64);
    Ok(sum)
}

/// The same in n parts, one for each party to add up. Two rounds.
fn open_in_parts(session: &mut Session, mut sum: Dense) -> Result<Dense, Abort> {
    let (bits, n, me) = (sum.len(), session.parties(), session.me());
    // to a party whose part has no words nobody sends a message, and it sends none; all know this, because
    // parts are public
    let part = |party: PartyId| part(bits, n, party.index());
    let peers = || PartyId::all(n).filter(move |peer| *peer != me);
    // 1. each party's part of our shares goes to it
    for peer in peers().filter(|peer| !part(*peer).is_empty()) {
        let share = sum.part(part(peer));
        session.send(GATHER, peer, &share.bytes(), share.len() as u64)?;
    }
    // 2. the sum of our part goes to all
    let mut own = sum.part(part(me));
    if !part(me).is_empty() {
        let mut body = own.bytes();
        for peer in peers() {
            add_from(session, GATHER, peer, &mut body, &mut own)?;
        }
        own.mark_public(GATHER);
        body = own.bytes();
        for peer in peers() {
            session.send(TELL, peer, &body, own.len() as u64)?;
        }
    }
    sum.put(part(me), &own);
    for peer in peers().filter(|peer| !part(*peer).is_empty()) {
        let mut told = Dense::zeros(sum.part(part(peer)).len());
        let mut body = told.bytes();
        add_from(session, TELL, peer, &mut body, &mut told)?;
        sum.put(part(peer), &told);
    }
    session.meter().opened(bits as u64);
    Ok(sum)
}

/// The words, of a string of `bits` bits, that the party with this index adds up.
fn part(bits: usize, parties: usize, index: usize) -> Range<usize> {
    let words = bits.div_ceil(64);
    words * index / parties..words * (index + 1) / parties
}

/// Adds the packed bits that a peer sends. `body` is the buffer for the message, and has its length.
fn add_from(
    session: &mut Session,
    step: Step,
    from: PartyId,
    body: &mut [u8],
    sum: &mut Dense,
) -> Result<(), Abort> {
    session.recv(step, from, body)?;
    let right = sum.add_bytes(body);
    session.well_formed(step, from, body.len(), right)
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;

    /// Bits behind the last one are refused in every message, not in the first alone.
    #[test]
    fn bits_behind_the_last_one_are_refused_in_each_message() {
        let ends = run(2, &PublicParameters::new("parts"), |mut session| {
            let Some(peer) = session.peers().into_iter().find(|peer| peer.index() == 0) else {
                let (peer, mut sum) = (PartyId::all(2).last().unwrap(), Dense::zeros(3));
                return (0..2).try_for_each(|_| add_from(&mut session, GATHER, peer, &mut [0], &mut sum));
            };
            [7, 8].iter().try_for_each(|byte| session.send(GATHER, peer, &[*byte], 3))
        });
        assert!(matches!(&ends[0], Err(Abort::Network(_))), "{ends:?}");
    }

    /// Parts without words are neither sent nor told, and the sum is that of all shares, in every call.
    #[test]
    fn parts_without_words_take_no_messages() {
        for n in [2_usize, 3, 5] {
            let share = |party: usize, bits: usize| {
                let word = |at: usize| ((party + 9 * at + bits) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut dense = Dense::zeros(0);
                let words: Vec<u64> = (0..bits.div_ceil(64)).map(word).collect();
                dense.push(crate::GmwBit::new(bits, &words).words(), bits);
                dense
            };
            let ends = run(n, &PublicParameters::new("parts"), |mut session| {
                let (me, mut sent) = (session.me().index(), [0, 0]);
                let lens = [1, 70, 64 * n, 64 * n + 1, 3];
                for bits in lens {
                    let sum = open_in_parts(&mut session, share(me, bits))?;
                    let mut expected = Dense::zeros(bits);
                    (0..n).for_each(|party| expected.add(share(party, bits).words()));
                    assert_eq!(
                        (sum.len(), sum.words()),
                        (bits, expected.words()),
                        "{n} parties, {bits} bits"
                    );
                    let has = |party: &usize| !part(bits, n, *party).is_empty();
                    sent[0] += (0..n).filter(|party| *party != me && has(party)).count();
                    sent[1] += if has(&me) { n - 1 } else { 0 };
                }
                let steps = session.meter().read().steps;
                let count = |end: &str| {
                    steps.iter().filter(|(name, _)| name.ends_with(end)).map(|(_, count)| count).sum::<u64>()
                };
                assert_eq!(["gather", "tell"].map(count), sent.map(|sent| sent as u64), "{n} parties, {me}");
                assert_eq!(session.meter().read().openings, lens.iter().sum::<usize>() as u64);
                Ok(())
            });
            ends.into_iter().for_each(Result::unwrap);
        }
    }
}
