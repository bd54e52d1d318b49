//! Lookups and their vectors: shares that confirm a guess, views that leave something out, vectors that are
//! wrong or not the same.

#[path = "../common/mod.rs"]
mod common;
mod guesses;
mod vectors;
mod views;

use divisi_core::{Abort, Bytes, Direction, PartyId, Step, settle};
use divisi_rep3::adversary::harness::{MessageDirection, Recording, TrioHarness, failed_check, many, party};
use divisi_rep3::adversary::lookups::opening;
use divisi_rep3::{Protocol, Rep3, Security};

const COIN: &str = "divisi_rep3::random/coin.share";

const LOOKUPS: [Protocol; 3] = [Protocol::Lut16, Protocol::Lut256, Protocol::Lut256Additive];

/// More than a tile.
const LANES: usize = 600;

/// Two layers on a random value, settled.
fn two_layers(e: &mut Rep3, lanes: usize) -> Result<(), Abort> {
    let mut x = e.random_bytes(lanes)?;
    e.prepare(2, 1, lanes)?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    e.finish(&mut [&mut x])?;
    let pending = e.close(vec![x]);
    settle(e, pending).map(drop)
}

#[test]
fn honest_lookups_are_right() {
    for protocol in LOOKUPS {
        for lanes in [1, LANES] {
            let results = TrioHarness::default()
                .patient()
                .act(|trio| two_layers(&mut Rep3::new(trio, protocol, Security::Malicious), lanes));
            assert!(results.iter().all(Result::is_ok), "{protocol}: {results:?}");
        }
    }
}

/// How many shares of coins a party sent after its last message of a step.
fn coins_after(recording: &Recording, step: &'static str) -> usize {
    let sent: Vec<u32> = recording
        .read()
        .into_iter()
        .filter(|seen| seen.way == MessageDirection::Out)
        .map(|seen| seen.frame.step)
        .collect();
    let [step, coin] = [step, COIN].map(|name| Step::new(name).id);
    let last = sent.iter().rposition(|sent| *sent == step).unwrap_or(0);
    sent[last..].iter().filter(|sent| **sent == coin).count()
}
