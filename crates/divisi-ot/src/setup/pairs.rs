//! The set-up of all pairs at once: base OTs and trees; the commitments of the coins travel with them.
//!
//! Each pair needs trees in both directions. The trees of one direction come from 127 base OTs in which the
//! holder of a Delta chooses; over a field from f + 128, in which the holder of Delta and Delta' chooses.
//! [`Base::Both`] makes all of them with public keys:
//!
//! 1. Every sender sends A. Every receiver sends T_i, with the bits that correct its random choices to its
//!    Delta. All commit to their coins.
//! 2. Every maker sends its trees. All echo the commitments.
//!
//! [`Base::Half`] makes one direction of each pair so; every party is sender and receiver about equally
//! often. The base OTs of the other direction are rows of the first one: the maker's bit is the choice, its
//! hashed row the key of that choice, and the holder has both keys. Over a field they are rows of the columns
//! of pads, never of those of MACs \[K14\]. From a row of MACs the two keys would be hashes of K and K +
//! Delta_i, and the party that has one of them could try the other with each of 2^f Deltas (docs/ot.md, 4).
//!
//! 1. and 2. as above, for one direction. With its trees the maker sends the corrections of 128 rows and of
//!    128 sacrificed ones.
//! 3. A coin, after all corrections.
//! 4. The check of these rows. With it, the bits that correct the random choices to the maker's own Delta.
//! 5. If the check passed: trees in the other direction, from the hashes of the rows.

use super::{Base, SetupConfig};
use crate::abit::produce::random_bits;
use crate::base::{Batch, ELEMENT, Receiver, Sender};
use crate::checks;
use crate::delta::{Deltas, lowest_bit};
use crate::hash::{self, CallSeries, Tweak, TweakableHash};
use crate::links::Links;
use crate::softspoken::layout::{Key, Layout, Width};
use crate::softspoken::tree::{self, Permutations};
use crate::softspoken::{Holder, Maker, TILE};
use crate::vole::{AHEAD, Ends, Outcome, Request, VoleRows};
use divisi_core::{Abort, Coins, PartyId, Session, Step, step, taint};
use zeroize::Zeroizing;

const SENDER: Step = step!("base.sender");
const RECEIVER: Step = step!("base.receiver");
const COIN: Step = step!("coin");
const FLIPS: Step = step!("flips");
const TABLES: Step = step!("base.tables");
const TREES: Step = step!("trees");

/// Whether the base OTs from `sender` to `receiver` are made with public keys.
fn by_public_key(base: Base, sender: PartyId, receiver: PartyId) -> bool {
    match base {
        Base::Both => true,
        // one direction of each pair, and for every party about half of its pairs in either direction
        Base::Half => (sender < receiver) == (sender.index().abs_diff(receiver.index()) % 2 == 1),
    }
}

/// Makes the trees with every peer, and commits to coins.
pub(super) fn connect(
    session: &mut Session,
    config: SetupConfig,
    layout: Layout,
    deltas: &Deltas,
) -> Result<(Ends, Coins), Abort> {
    let (n, me) = (session.parties(), session.me());
    let batch = Batch { count: layout.all(), public: layout.public };
    let sends = |peer| by_public_key(config.base, me, peer);
    let receives = |peer| by_public_key(config.base, peer, me);
    let trees = (layout, tree::kept_ready(n, layout));
    let mut ends = Ends { layout, makers: none(n), holders: none(n) };

    // [K14] the columns whose rows become base OTs
    let (pads, width) = (layout.pads(), Width::Pads);

    // 1.
    let announced = Coins::announce(session)?;
    let (mut senders, mut receivers) = (none(n), none(n));
    for peer in session.peers() {
        if sends(peer) {
            let sender = Sender::new(session, peer);
            session.send(SENDER, peer, &sender.element, 0)?;
            senders[peer.index()] = Some(sender);
        }
        if receives(peer) {
            let receiver = Receiver::new(session, peer, batch);
            let mut message = Vec::with_capacity(batch.programs() + layout.bytes());
            message.extend_from_slice(receiver.programs.as_slice());
            message.extend_from_slice(&flips(layout, &receiver.choices, &deltas.towards(peer)));
            session.send(RECEIVER, peer, &message, 0)?;
            receivers[peer.index()] = Some(receiver);
        }
    }

    let coins = announced.receive(session)?;
    let (mut chosen, mut offered) = (none(n), none(n));
    for peer in session.peers() {
        let j = peer.index();
        if let Some(receiver) = receivers[j].take() {
            let mut element = [0; ELEMENT];
            session.recv(SENDER, peer, &mut element)?;
            let ours = senders[j].as_ref().is_some_and(|sender| is_of(sender, &element));
            session.require(checks::O1, SENDER, !ours, Some(peer))?; // [O1] our own element
            let read = receiver.pads(&element);
            session.require(checks::O1, SENDER, read.is_ok(), Some(peer))?; // [O1]
            chosen[j] = read.ok().map(|pads| (receiver, pads));
        }
        if let Some(sender) = senders[j].take() {
            let mut message = vec![0; batch.programs() + layout.bytes()];
            session.recv(RECEIVER, peer, &mut message)?;
            let (programs, flips) = message.split_at(batch.programs());
            let read = sender.keys(batch, programs);
            session.require(checks::O1, RECEIVER, read.is_ok(), Some(peer))?; // [O1]
            offered[j] = read.ok().map(|read| (read, key_of(flips)));
        }
    }

    // 2.
    // each peer's first rows: a random choice for each base OT, and a tile that is sacrificed
    let tiles = layout.all().div_ceil(TILE) + 1;
    // they go to those towards whom we have trees already
    let asked = |party| config.base == Base::Half && party != me && sends(party);
    let drawn = |party| if asked(party) { random_bits(session, tiles) } else { Vec::new() };
    let x: Vec<_> = PartyId::all(n).map(|party| Zeroizing::new(drawn(party))).collect();
    let x: Vec<&[u128]> = x.iter().map(|x| x.as_slice()).collect();
    let (mut coins, first) = session.exchange(|session| {
        for peer in session.peers() {
            if let Some(((keys, table), flips)) = offered[peer.index()].take() {
                session.send(TABLES, peer, table.as_slice(), 0)?;
                ends.makers[peer.index()] = Some(make(session, peer, trees, &keys, &flips)?);
            }
        }
        // the corrections of the first rows travel with the trees
        let begun = match config.base {
            Base::Both => None,
            Base::Half => {
                let (each, links) = (VoleRows::each as _, Links::All);
                let request = Request { width, each, tiles, links, ahead: AHEAD };
                Some(ends.begin(session, request, &x)?)
            }
        };
        let coins = coins.confirm(session)?;
        for peer in session.peers() {
            if let Some((receiver, pads)) = chosen[peer.index()].take() {
                let mut table = vec![0; batch.table()];
                session.recv(TABLES, peer, table.as_mut_slice())?;
                let keys = receiver.keys(&pads, &table);
                ends.holders[peer.index()] = Some(hold(session, peer, trees, &keys, &deltas.towards(peer))?);
            }
        }
        let first = begun.map(|begun| ends.finish(session, begun, &x, deltas)).transpose()?;
        Ok((coins, first))
    })?;
    let Some(first) = first else { return Ok((ends, coins)) };

    // 3.
    let coin = coins.toss(session, COIN)?;

    // 4.
    let rows = session.exchange(|session| {
        let sums = first.send_sums::<VoleRows>(session, coin, &x, &ends)?;
        for peer in session.peers().into_iter().filter(|peer| sends(*peer)) {
            let mut choices = Zeroizing::new([0; 2]);
            choices.iter_mut().zip(&x[peer.index()][..tiles - 1]).for_each(|(choice, x)| *choice = *x);
            session.send(FLIPS, peer, &flips(layout, &choices, &deltas.towards(peer)), 0)?;
        }
        Ok(sums.receive(session, checks::W1, deltas)?.rows)
    })?;

    // 5.
    let hash = TweakableHash::new(session);
    for peer in session.peers() {
        let Some(row) = &rows.keys[peer.index()][pads] else { continue };
        let mut flips = vec![0; layout.bytes()];
        session.recv(FLIPS, peer, &mut flips)?;
        if !layout.public {
            session.observe(checks::K14); // [K14] base OTs from rows under the 128 bits of Delta'
        }
        let (row, delta) = (&row.words()[..layout.all()], layout.group(&deltas.towards(peer), pads));
        let zero = hashed(session, &hash, row, 0, layout, [me, peer]);
        let one = hashed(session, &hash, row, delta, layout, [me, peer]);
        let keys =
            Zeroizing::new(zero.iter().zip(one.iter()).map(|(zero, one)| [*zero, *one]).collect::<Vec<_>>());
        ends.makers[peer.index()] = Some(make(session, peer, trees, &keys, &key_of(&flips))?);
    }
    for peer in session.peers() {
        let Some(row) = &rows.macs[peer.index()][pads] else { continue };
        let keys = hashed(session, &hash, &row.words()[..layout.all()], 0, layout, [peer, me]);
        ends.holders[peer.index()] = Some(hold(session, peer, trees, &keys, &deltas.towards(peer))?);
    }
    Ok((ends, coins))
}

/// Whether this is the element that we sent.
fn is_of(sender: &Sender, element: &[u8; ELEMENT]) -> bool {
    sender.element == *element
}

/// The bits, as bytes, that correct random choices to the complement of the key's bits; zero at a public bit.
/// The unused bits of the last byte are choices that are not used.
fn flips(layout: Layout, choices: &Key, delta: &Key) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        choices.iter().zip(delta).flat_map(|(choice, delta)| (choice ^ !delta).to_le_bytes()).collect();
    bytes[0] &= !u8::from(layout.public);
    bytes.truncate(layout.bytes());
    bytes
}

/// The key whose bits are in these bytes.
fn key_of(bytes: &[u8]) -> Key {
    let mut words = [0; 32];
    words.iter_mut().zip(bytes).for_each(|(word, byte)| *word = *byte);
    let mut key = [0; 2];
    key.iter_mut().zip(words.as_chunks().0).for_each(|(key, word)| *key = u128::from_le_bytes(*word));
    key
}

/// The keys of base OTs: the hash of each row after `offset` was added. Zero at the index of a public bit,
/// which is not used.
fn hashed(
    session: &Session,
    hash: &TweakableHash,
    rows: &[u128],
    offset: u128,
    layout: Layout,
    [sender, receiver]: [PartyId; 2],
) -> Zeroizing<Vec<u128>> {
    let mut keys = Zeroizing::new(rows.iter().map(|row| row ^ offset).collect::<Vec<_>>());
    let mut calls = hash.calls(session, CallSeries::new(hash::BASE, sender, receiver), 1);
    calls.hash(&mut keys, |i| Tweak { unit: i as u64, row: 0 });
    if let (true, Some(first)) = (layout.public, keys.first_mut()) {
        *first = 0;
    }
    keys
}

/// Makes the trees towards a peer and sends them.
#[cfg_attr(feature = "testing", track_caller)]
fn make(
    session: &mut Session,
    peer: PartyId,
    trees: (Layout, bool),
    keys: &[[u128; 2]],
    flips: &Key,
) -> Result<Maker, Abort> {
    let permutations = Permutations::new(session, session.me(), peer);
    let mut message = vec![0; tree::message_bytes(trees.0)];
    let lowest = lowest_bit(peer);
    let leaves = tree::make(session, &permutations, trees, keys, flips, lowest, &mut message);
    session.send(TREES, peer, &message, 0)?;
    Ok(Maker::new(trees.0, leaves))
}

/// Receive a peer's trees.
fn hold(
    session: &mut Session,
    peer: PartyId,
    trees: (Layout, bool),
    keys: &[u128],
    delta: &Key,
) -> Result<Holder, Abort> {
    let permutations = Permutations::new(session, peer, session.me());
    let mut message = vec![0; tree::message_bytes(trees.0)];
    session.recv(TREES, peer, &mut message)?;
    let (leaves, consistent) = tree::hold(&permutations, trees, keys, delta, &message);
    let consistent = taint::verdict(TREES, consistent);
    session.require(checks::O2, TREES, consistent, Some(peer))?; // [O2]
    Ok(Holder::new(trees.0, leaves))
}

fn none<T>(n: usize) -> Vec<Option<T>> {
    (0..n).map(|_| None).collect()
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{links, run};
    use std::collections::HashSet;

    /// A peer's element is ours only if all its bytes are: others that begin alike are taken.
    #[test]
    fn our_own_element_is_told_by_each_byte() {
        let ends = run(2, &PublicParameters::new("pairs tests"), |session| {
            let sender = Sender::new(&session, session.peers()[0]);
            assert!(is_of(&sender, &sender.element));
            for at in 0..ELEMENT {
                let mut other = sender.element;
                other[at] ^= 1;
                assert!(!is_of(&sender, &other), "{at}");
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }

    /// Keys of base OTs differ between all indices, directions, pairs and sessions, even if the rows are
    /// equal.
    #[test]
    fn keys_of_base_ots_name_their_place() {
        let mut seen = HashSet::new();
        for _ in 0..2 {
            let ends = run(3, &PublicParameters::new("pairs tests"), |session| {
                let hash = TweakableHash::new(&session);
                let of = |(from, to)| {
                    hashed(&session, &hash, &[5; 128], 0, Layout::labels(4), [from, to])[1..].to_vec()
                };
                Ok(links(3).flat_map(of).collect::<Vec<_>>())
            });
            for key in ends.into_iter().next().unwrap().unwrap() {
                assert!(seen.insert(key));
            }
        }
        assert_eq!(seen.len(), 2 * 6 * 127);
    }
}
