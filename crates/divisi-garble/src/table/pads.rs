//! Everything in a table is hidden by a pad of its own, and no label of a result serves twice.

use super::{GarblingForm, Layout, Product, word};
use crate::batch::{Batch, Op};
use crate::bits;
use crate::hash::{Call, Name, Oracle};
use crate::labels::{Labels, random_words};
use crate::run::random_labels;
use crate::share::Rows;
use divisi_core::testing::run;
use divisi_core::{PartyId, Prg, PublicParameters, Session};
use divisi_ot::Delta;
use std::collections::HashSet;

/// So many that they are hashed in several groups.
const ANDS: usize = 128;

/// Many more than anything may count modulo a power of two, or keep.
const MANY: usize = 20_000;

/// This many ANDs of inputs of their own, and the sum of each.
fn batch(ands: usize) -> Batch {
    let all = 0..ands as u32;
    let products = all.clone().map(|t| Op::And { x: 2 * t, y: 2 * t + 1 });
    let sums = all.map(|t| Op::Sum { out: 2 * ands as u32 + t, terms: 1 });
    Batch { ops: products.chain(sums).collect(), ands }
}

/// The table of so many ANDs among so many parties, whose shares are all zero, and the results' labels.
fn garbled(session: &Session, form: GarblingForm, n: usize, ands: usize) -> (Layout, Vec<u8>, Vec<u128>) {
    let (oracle, layout) = (Oracle::new(session), Layout::new(form, n, 40));
    let name = Name { call: Call::Rows, from: session.me(), to: PartyId::P2, gate: 9 };
    let calls = oracle.named(session, name, layout.targets());
    let mut prg = Prg::new(&[n as u8; 16]);
    let inputs: Vec<u128> = (0..2 * ands as u128).map(|i| (i + 1).wrapping_mul(u128::MAX / 0x1357)).collect();
    let delta = Delta::drawn(session.me(), |bytes| bytes.fill(0x5a));
    let zero = Rows::zero(n - 1, ands);
    let product = Product { alpha: &zero, beta: &zero, sigma: &zero };
    let mut labels = Labels::new(3 * ands, &inputs);
    let table = labels.garble(layout, &delta, 0, calls, &mut prg, &batch(ands), product);
    (layout, table, labels.slots[2 * ands..].to_vec())
}

/// Of each AND what is encrypted, each as a word, with the number of its bytes; and the bits.
fn entries(layout: Layout, table: &[u8]) -> Vec<(Vec<(u128, usize)>, Vec<u8>)> {
    let (gates, packed) = table.split_at(layout.bytes() * ANDS);
    let told = bits::unpack(packed, layout.bits() * ANDS).unwrap();
    let whole = layout.bytes() - if layout.form == GarblingForm::Improved { 3 * layout.mac_bytes } else { 0 };
    let of = |(gate, bits): (&[u8], &[u8])| {
        let (whole, short) = gate.split_at(whole);
        let short = short.chunks_exact(layout.mac_bytes).map(|mac| {
            let mut bytes = [0; 16];
            bytes[..mac.len()].copy_from_slice(mac);
            (u128::from_le_bytes(bytes), mac.len())
        });
        let words = (0..whole.len() / 16).map(|at| (word(whole, 16 * at), 16));
        (words.chain(short).collect(), bits.to_vec())
    };
    gates.chunks_exact(layout.bytes()).zip(told.chunks_exact(layout.bits())).map(of).collect()
}

/// Whether no sum of some of these words is zero.
fn are_independent(words: impl Iterator<Item = u64>) -> bool {
    let mut basis: Vec<u64> = Vec::new();
    words.into_iter().all(|word| {
        let rest = basis.iter().fold(word, |rest, own| rest.min(rest ^ own));
        basis.push(rest);
        basis.sort_unstable_by_key(|own| std::cmp::Reverse(*own));
        rest != 0
    })
}

/// Where all shares are zero, a table is made of pads and of labels alone: two parts of an AND's table under
/// one pad would add up to a sum of shares, or to Delta. Here no parts of some ANDs' tables add up to zero,
/// and no two bits of a table are the same, or each other's negation, in all ANDs.
#[test]
fn each_part_of_a_table_has_a_pad_of_its_own() {
    for (n, form) in [2, 3, 4, 5].into_iter().flat_map(|n| GarblingForm::ALL.map(|form| (n, form))) {
        let ends = run(2, &PublicParameters::new("tests of pads"), |session| {
            let (layout, table, _) = garbled(&session, form, n, ANDS);
            let all = entries(layout, &table);
            for (words, _) in &all[..4] {
                // MACs have eight bytes; of other words the upper ones are looked at
                let high = |(word, bytes): &(u128, usize)| (word >> (8 * bytes - 64)) as u64;
                assert!(are_independent(words.iter().map(high)), "{n} {form:?}");
            }
            let mut seen = HashSet::new();
            let mut new = |of: &dyn Fn(&(Vec<(u128, usize)>, Vec<u8>)) -> u8| {
                let column = all.iter().fold(0_u128, |column, and| column << 1 | u128::from(of(and) & 1));
                seen.insert(if column & 1 == 1 { !column } else { column })
            };
            let (words, told) = &all[0];
            for (at, (_, bytes)) in words.iter().enumerate() {
                for bit in 0..8 * bytes {
                    assert!(new(&|(words, _)| (words[at].0 >> bit) as u8), "{n} {form:?}: word {at}, {bit}");
                }
            }
            for at in 0..told.len() {
                assert!(new(&|(_, told)| told[at]), "{n} {form:?}: bit {at}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}

/// All labels of results differ, and no two pairs of them by the same word: by two labels of one wire, or of
/// two wires that differ in the same way, an evaluator would know Delta.
#[test]
fn labels_of_results_are_unrelated() {
    for form in GarblingForm::ALL {
        let ends = run(2, &PublicParameters::new("tests of labels"), |session| {
            let (.., labels) = garbled(&session, form, 3, ANDS);
            let pairs =
                labels.iter().enumerate().flat_map(|(i, one)| labels[..i].iter().map(move |l| one ^ l));
            let mut seen = HashSet::from([0]);
            assert!(pairs.into_iter().all(|difference| seen.insert(difference)), "{form:?}");
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}

/// In a long batch no label of a result is another one, nor another one with something added, as it would be
/// if labels had a period; in the paper's form they are what the generator gives, in order.
#[test]
fn labels_of_many_results_are_unrelated() {
    for form in GarblingForm::ALL {
        let ends = run(2, &PublicParameters::new("tests of labels"), |session| {
            let (.., labels) = garbled(&session, form, 3, MANY);
            let sums = labels.windows(2).map(|pair| pair[0] ^ pair[1]);
            let mut seen = HashSet::new();
            assert!(labels.iter().copied().chain(sums).all(|word| seen.insert(word)), "{form:?}");
            let mut drawn = vec![0; MANY];
            random_words(&mut Prg::new(&[3; 16]), &mut drawn);
            assert_eq!(labels == drawn, form == GarblingForm::Paper);
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}

/// So are the labels of many inputs.
#[test]
fn labels_of_inputs_are_what_is_drawn() {
    let mut drawn = vec![0; MANY];
    random_words(&mut Prg::new(&[5; 16]), &mut drawn);
    assert_eq!(*random_labels(&mut Prg::new(&[5; 16]), MANY), drawn);
    let mut seen = HashSet::new();
    assert!(drawn.into_iter().all(|label| seen.insert(label)));
}

/// Also among many parties no two parts of a table have the same pad.
#[test]
fn each_part_of_a_large_table_has_a_pad_of_its_own() {
    for (n, form) in [20, 40].into_iter().flat_map(|n| GarblingForm::ALL.map(|form| (n, form))) {
        let ends = run(2, &PublicParameters::new("tests of pads"), |session| {
            let (layout, table, _) = garbled(&session, form, n, ANDS);
            // what two parts have in common is not in the sum of both: in no two pairs is it the same
            let (words, _) = &entries(layout, &table)[0];
            let mut seen = HashSet::from([0]);
            let all = words.iter().enumerate();
            let mut pairs = all.flat_map(|(i, (one, _))| words[..i].iter().map(move |(word, _)| one ^ word));
            assert!(pairs.all(|sum| seen.insert(sum)), "{n} {form:?}");
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }
}
