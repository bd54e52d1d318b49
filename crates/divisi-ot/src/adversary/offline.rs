//! Offline search for a key of few bits: a party tries all keys on the messages that it received (docs/ot.md,
//! section 4).
//!
//! On messages of the real protocols these searches find nothing. On those of K14's mutant, which makes pads
//! from the columns under Delta_i, each of them finds Delta_i.

use crate::hash::{self, CallSeries, Tweak, TweakableHash};
use crate::record::Call;
use crate::softspoken::layout::Layout;
use crate::softspoken::tree::Permutations;
use divisi_core::{PartyId, Session};
use std::collections::HashSet;

/// Our rows of the base OTs from which `peer` made its trees, in order: read from the inputs of our own hash
/// calls.
#[must_use]
pub fn first_rows(calls: &[Call], session: &Session, peer: PartyId) -> Vec<u128> {
    let place = u128::from(u32::from_le_bytes([hash::BASE, peer.number(), session.me().number(), 0]));
    calls.iter().filter(|call| call.key >> 64 == place).map(|call| call.input).collect()
}

fn hashed(session: &Session, place: CallSeries, row: u128, unit: u64) -> u128 {
    let mut word = [row];
    TweakableHash::new(session).calls(session, place, 1).hash(&mut word, |_| Tweak { unit, row: 0 });
    word[0]
}

/// The guesses of the peer's f-bit Delta that are consistent with its trees, for pieces of one bit over a
/// field. With a right guess, the hash of our row plus the guess is the key that we did not choose in a base
/// OT. It decrypts the other leaf, which the tree's total confirms.
#[must_use]
pub fn fit_trees(session: &Session, peer: PartyId, f: u32, trees: &[u8], rows: &[u128]) -> Vec<u128> {
    let layout = Layout::field(1, f);
    let permutations = Permutations::new(session, peer, session.me());
    let place = CallSeries::new(hash::BASE, peer, session.me());
    let word = |at: usize| u128::from_le_bytes(*trees[at..].first_chunk().unwrap_or(&[0; 16]));
    let fits = |guess: u128, c: usize| {
        let said = [word(32 * c), word(32 * c + 16)];
        let keys =
            [hashed(session, place, rows[c], c as u64), hashed(session, place, rows[c] ^ guess, c as u64)];
        let total = [word(32 * (layout.all() + c)), word(32 * (layout.all() + c) + 16)];
        (0..2).any(|e| {
            let leaves = [said[0] ^ keys[e], said[1] ^ keys[1 - e]];
            let (_, checked) = permutations.leaves(&leaves);
            [0, 1].map(|half| checked[0][half] ^ checked[1][half]) == total
        })
    };
    (1..1 << f).filter(|guess| (0..4).all(|c| fits(*guess, c))).collect()
}

/// The guesses that are consistent with a message of payloads of `width` bits (at most 128), which are the
/// same in all rows. `rows` are our rows, and `first` is the number of the first one.
#[must_use]
pub fn fit_payloads(
    session: &Session,
    peer: PartyId,
    (f, width): (u32, usize),
    body: &[u8],
    rows: &[u128],
    first: u64,
) -> Vec<u128> {
    let place = CallSeries::new(hash::CHECKED, peer, session.me());
    let low = u128::MAX >> (128 - width);
    let told = |row: usize| {
        (0..width).fold(0, |word, bit| {
            let at = row * width + bit;
            word | u128::from(body[at / 8] >> (at % 8) & 1) << bit
        })
    };
    // the sum of both pads is the same for either value of our bit
    let payload = |guess: u128, row: usize| {
        let pad = |word| hashed(session, place, word, first + row as u64);
        (told(row) ^ pad(rows[row]) ^ pad(rows[row] ^ guess)) & low
    };
    (1..1 << f).filter(|guess| (1..6).all(|row| payload(*guess, row) == payload(*guess, 0))).collect()
}

/// The guesses for which the hash of (one of our rows plus the guess), for any step from the peer to us and
/// for any of the numbers `units`, occurs somewhere in the bytes that we received.
#[must_use]
pub fn stands_in(
    session: &Session,
    peer: PartyId,
    f: u32,
    received: &[Vec<u8>],
    rows: &[(u64, u128)],
) -> Vec<u128> {
    let windows: HashSet<u128> = received
        .iter()
        .flat_map(|body| body.windows(16))
        .filter_map(|w| w.first_chunk().copied())
        .map(u128::from_le_bytes)
        .collect();
    let steps = [hash::BASE, hash::CHECKED, hash::SEMI_HONEST];
    let places: Vec<CallSeries> =
        steps.iter().map(|step| CallSeries::new(*step, peer, session.me())).collect();
    let stands = |guess: u128| {
        rows.iter().any(|(unit, row)| {
            places.iter().any(|place| windows.contains(&hashed(session, *place, row ^ guess, *unit)))
        })
    };
    (1..1 << f).filter(|guess| stands(*guess)).collect()
}
