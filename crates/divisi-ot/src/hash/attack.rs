//! The attack because of which keys are changed, run against the construction over permutations of 2^18
//! values: all known hashes of one key go into a table, in which pi(c) + c is looked up for random c.

use super::keyed::{Cipher, Family, Keyed};
use super::{CallSeries, Tweak, remaining_bits};
use divisi_core::{PartyId, Prg};
use std::collections::HashMap;

/// The length in bits of a label of this small model.
const BITS: u32 = 18;
const VALUES: usize = 1 << BITS;
/// How many hashes of a session are known. If all have one key, about 64 guesses suffice.
const KNOWN: u64 = 1 << 12;

/// A permutation as a table.
#[derive(Clone)]
struct Toy {
    to: Vec<u32>,
    back: Vec<u32>,
}

/// Maps a block to the model's size: the tweak's bits above a label's length are folded into the lower ones,
/// so that the tweaks of many units differ.
fn fold(x: u128) -> u32 {
    (x ^ x >> BITS) as u32 & (VALUES as u32 - 1)
}

impl Cipher for Toy {
    fn permute(&self, x: &mut [u128]) {
        x.iter_mut().for_each(|x| *x = u128::from(self.to[fold(*x) as usize]));
    }
}

/// A random permutation for each name, in one session.
#[derive(Clone, Copy)]
struct Toys(u64);

impl Family for Toys {
    type Cipher = Toy;

    fn under(&self, name: u128) -> Toy {
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.0.to_le_bytes());
        seed[8..].copy_from_slice(&(name as u64).to_le_bytes());
        let mut prg = Prg::new(&seed);
        let mut to: Vec<u32> = (0..VALUES as u32).collect();
        for last in (1..VALUES).rev() {
            to.swap(last, random(&mut prg, last + 1));
        }
        let mut back = vec![0; VALUES];
        to.iter().enumerate().for_each(|(x, y)| back[*y as usize] = x as u32);
        Toy { to, back }
    }
}

fn random(prg: &mut Prg, below: usize) -> usize {
    let mut word = [0];
    prg.words(&mut word);
    ((u128::from(word[0]) * below as u128) >> 64) as usize
}

fn place() -> CallSeries {
    let [from, to] = [1, 2].map(|number| PartyId::new(number).unwrap());
    CallSeries::new(super::FIRST_STEP, from, to)
}

/// What an adversary knows of one call: the input of the pair that it has, and the hash of the other input.
struct KnownHash {
    unit: u64,
    label: u128,
    hash: u128,
}

fn tweak(unit: u64) -> Tweak {
    Tweak { unit, row: 0 }
}

/// The calls under the first key of a session with `units` units to a key, and Delta. Calls under other keys
/// do not help the table.
fn known(toys: Toys, units: u64) -> (Vec<KnownHash>, u128) {
    let mut prg = Prg::new(&[toys.0 as u8; 16]);
    let delta = 1 + random(&mut prg, VALUES - 1) as u128;
    let labels: Vec<u128> = (0..units).map(|_| random(&mut prg, VALUES) as u128).collect();
    let mut hashes: Vec<u128> = labels.iter().map(|label| label ^ delta).collect();
    Keyed::new(&toys, place(), units).hash(&mut hashes, |i| tweak(i as u64));
    let known = labels.into_iter().zip(hashes).enumerate();
    (known.map(|(i, (label, hash))| KnownHash { unit: i as u64, label, hash }).collect(), delta)
}

/// The attack on the calls of one key. Returns Delta and the number of guesses it took, at most `guesses`.
fn attack(toys: Toys, known: &[KnownHash], guesses: usize) -> Option<(u128, usize)> {
    let toy = toys.under(place().key(0));
    let mut table: HashMap<u32, Vec<&KnownHash>> = HashMap::new();
    for known in known {
        table.entry(fold(known.hash ^ tweak(known.unit).word(place()))).or_default().push(known);
    }
    let fits = |delta: u128| {
        known.iter().rev().take(3).all(|known| {
            let mut x = [known.label ^ delta];
            let mut calls = Keyed::new(&toys, place(), 1 << 20);
            // the permutation is made once, not for every guess
            calls.current = Some((0, toy.clone()));
            calls.hash(&mut x, |_| tweak(known.unit));
            x[0] == known.hash
        })
    };
    let mut prg = Prg::new(&[0x5a ^ toys.0 as u8; 16]);
    for guess in 1..=guesses {
        let c = random(&mut prg, VALUES) as u32;
        for known in table.get(&(toy.to[c as usize] ^ c)).into_iter().flatten() {
            let pi = c ^ fold(tweak(known.unit).word(place()));
            let delta = u128::from(toy.back[pi as usize]) ^ known.label;
            if fits(delta) {
                return Some((delta, guess));
            }
        }
    }
    None
}

/// 4,096 calls of a session: with one key for all of them the attack succeeds, with a new key for every four
/// calls it does not.
#[test]
fn one_table_over_a_session_gives_delta_and_one_over_a_key_does_not() {
    for toys in [1, 2, 3, 4].map(Toys) {
        let won = |units: u64| {
            let (known, delta) = known(toys, units);
            attack(toys, &known, 1024).is_some_and(|(found, _)| found == delta)
        };
        assert_eq!((won(KNOWN), won(4)), (true, false), "session {}", toys.0);
    }
}

/// The number of guesses agrees with [`remaining_bits`] of the targets under a key, whatever the number of
/// calls in the session.
#[test]
fn the_attack_takes_as_long_as_the_remaining_bits_say() {
    for units in [4, 32, 256] {
        let runs = 24;
        let mut taken = 0.0;
        for toys in (0..runs).map(|number| Toys(100 + number)) {
            let (known, delta) = known(toys, units);
            let (found, guesses) = attack(toys, &known, 64 * VALUES).unwrap();
            assert_eq!(found, delta);
            taken += guesses as f64 / runs as f64;
        }
        let expected = (remaining_bits(units) - 128.0 + f64::from(BITS)).exp2();
        assert!((0.5..1.8).contains(&(taken / expected)), "{units} units to a key: {taken} for {expected}");
    }
}
