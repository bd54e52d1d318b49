//! Garbling with all shares in one place, against the clear; and ways to misuse rows, with what they cost.

use divisi_bgv::Sampler;
use divisi_core::DrawPurpose;
use divisi_core::testing::run;
use divisi_core::{Prg, PublicParameters};
use divisi_mpgc::key::WireKeys;
use divisi_mpgc::label::Label;
use divisi_mpgc::parameters::{DIMENSION, MODULUS, PLAIN, failure_bits};
use divisi_mpgc::scheme::Scheme;

static KEY: DrawPurpose = DrawPurpose::of_test("the key of rows");

const N: usize = DIMENSION;

/// With the scheme of a session, and randomness of its own.
fn with(test: impl Fn(&Scheme, &mut Sampler, &mut Prg) + Sync) {
    let ends = run(2, &PublicParameters::new("rows"), |session| {
        if session.me().index() == 0 {
            let mut key = [0; 16];
            session.entropy(&KEY, &mut key);
            test(&Scheme::new(&session).unwrap(), &mut Sampler::new(&session), &mut Prg::new(&key));
        }
        Ok(())
    });
    ends.into_iter().for_each(|end| end.unwrap());
}

fn word(prg: &mut Prg) -> u64 {
    let mut word = [0];
    prg.words(&mut word);
    word[0]
}

fn residue(x: i64) -> i64 {
    let x = x.rem_euclid(PLAIN as i64);
    if x > PLAIN as i64 / 2 { x - PLAIN as i64 } else { x }
}

/// One contribution.
fn encrypt(scheme: &Scheme, sampler: &mut Sampler, label: u64, secret: &[i64], message: &[i64]) -> Vec<u64> {
    let (mut values, mut row) = (vec![0; N], vec![0; N]);
    scheme.values(secret.iter().copied(), &mut values);
    scheme.encrypt(Label::danger_any(label), &values, message, sampler, &mut row);
    row
}

fn decrypt(scheme: &Scheme, label: u64, row: &[u64], secret: &[i64]) -> Vec<i64> {
    let (mut values, mut out) = (vec![0; N], vec![0; N]);
    scheme.values(secret.iter().copied(), &mut values);
    scheme.decrypt(&Label::danger_any(label), row, &values, &mut out);
    out
}

fn sum(rows: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
    rows.fold(vec![0; N], |sum, row| sum.iter().zip(row).map(|(x, y)| (x + y) % MODULUS).collect())
}

/// A list of numbers modulo p as n shares, which are uniform except for their sum.
fn shares(prg: &mut Prg, n: usize, list: &[i64]) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> =
        (1..n).map(|_| (0..N).map(|_| residue((word(prg) % PLAIN) as i64)).collect()).collect();
    let last = (0..N).map(|c| residue(list[c] - all.iter().map(|share| share[c]).sum::<i64>())).collect();
    all.push(last);
    all
}

/// k_{w,b} of all parties.
fn key(parties: &[WireKeys], wire: usize, b: usize) -> Vec<i64> {
    (0..N).map(|c| parties.iter().map(|keys| i64::from(keys.share(wire, b)[c])).sum()).collect()
}

fn add(x: &[i64], y: &[i64]) -> Vec<i64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The four rows of a gate with wires 0, 1 and 2, whose table is `e`.
fn garble(
    scheme: &Scheme,
    sampler: &mut Sampler,
    prg: &mut Prg,
    parties: &[WireKeys],
    e: [usize; 4],
) -> Vec<Vec<u64>> {
    let share = |keys: &WireKeys, wire, b| -> Vec<i64> {
        keys.share(wire, b).iter().map(|c| i64::from(*c)).collect()
    };
    (0..4)
        .map(|row| {
            let messages = shares(prg, parties.len(), &key(parties, 2, e[row]));
            let rows = parties.iter().zip(messages).map(|(keys, message)| {
                let secret = add(&share(keys, 0, row >> 1), &share(keys, 1, row & 1));
                encrypt(scheme, sampler, row as u64, &secret, &message)
            });
            sum(rows.collect::<Vec<_>>().into_iter())
        })
        .collect()
}

#[test]
fn gates_in_one_place_agree_with_the_clear() {
    with(|scheme, sampler, prg| {
        for n in [1, 2, 3, 7] {
            let parties: Vec<WireKeys> = (0..n).map(|i| WireKeys::new(sampler, 3, i == 0)).collect();
            for table in 0..8_usize {
                // all masks, and both kinds of gates
                let masks = [table & 1, table >> 1 & 1, table >> 2];
                for and in [false, true] {
                    let e: [usize; 4] = std::array::from_fn(|row| {
                        let (x, y) = (row >> 1 ^ masks[0], row & 1 ^ masks[1]);
                        (if and { x & y } else { x ^ y }) ^ masks[2]
                    });
                    let rows = garble(scheme, sampler, prg, &parties, e);
                    for row in 0..4 {
                        let secret = add(&key(&parties, 0, row >> 1), &key(&parties, 1, row & 1));
                        let found = decrypt(scheme, row as u64, &rows[row], &secret);
                        assert_eq!(found, key(&parties, 2, e[row]), "{n} parties, row {row}");
                        assert_eq!(found[0], e[row] as i64);
                    }
                }
            }
        }
    });
}

/// The rows outside the active path decrypt under nothing that the evaluator has: neither under the keys of
/// the active row, nor under one of them alone.
#[test]
fn inactive_rows_stay_closed() {
    with(|scheme, sampler, prg| {
        let n = 3;
        let parties: Vec<WireKeys> = (0..n).map(|i| WireKeys::new(sampler, 3, i == 0)).collect();
        let rows = garble(scheme, sampler, prg, &parties, [0, 0, 0, 1]);
        let (u, v) = (key(&parties, 0, 0), key(&parties, 1, 0));
        let zero = vec![0; N];
        let known = [add(&u, &v), u.clone(), v.clone(), zero];
        let like_a_key = |found: &[i64]| found.iter().filter(|c| c.abs() <= n).count();
        for (row, cells) in rows.iter().enumerate().skip(1) {
            for secret in &known {
                let found = decrypt(scheme, row as u64, cells, secret);
                // of N residues 7 of 65,537 are small
                assert!(like_a_key(&found) < 8, "row {row}");
            }
        }
        assert_eq!(like_a_key(&decrypt(scheme, 0, &rows[0], &known[0])), N);
    });
}

/// Control: with key shares that are uniform modulo p, which the text allows, nothing decrypts: the evaluator
/// has their sum modulo p only, and a times the difference to their sum as integers is not small.
#[test]
fn uniform_shares_do_not_decrypt() {
    with(|scheme, sampler, prg| {
        let (n, runs) = (3, 20);
        let mut right = [0; 2];
        for run in 0..runs {
            for (ternary, right) in [false, true].into_iter().zip(&mut right) {
                let secrets: Vec<Vec<i64>> = (0..n)
                    .map(|_| {
                        let bound = if ternary { 3 } else { PLAIN };
                        (0..N).map(|_| (word(prg) % bound) as i64 - bound as i64 / 2).collect()
                    })
                    .collect();
                let message: Vec<i64> = (0..N as i64).map(|c| c % 7 - 3).collect();
                let shares = shares(prg, n, &message);
                let rows = secrets.iter().zip(&shares);
                let row = sum(rows
                    .map(|(secret, m)| encrypt(scheme, sampler, run, secret, m))
                    .collect::<Vec<_>>()
                    .into_iter());
                let lifted: Vec<i64> =
                    (0..N).map(|c| residue(secrets.iter().map(|secret| secret[c]).sum())).collect();
                *right += usize::from(decrypt(scheme, run, &row, &lifted) == message);
            }
        }
        assert_eq!(right, [0, 20]);
    });
}

/// Control of G8: the contributions of two messages under one key and one label reveal the difference of the
/// messages. An attacker that knows one of them, a key share that the active path shows, has the other.
#[test]
fn one_label_twice_gives_a_key_share() {
    with(|scheme, sampler, _| {
        let keys = WireKeys::new(sampler, 4, false);
        let share = |wire, b| -> Vec<i64> { keys.share(wire, b).iter().map(|c| i64::from(*c)).collect() };
        let secret = add(&share(0, 1), &share(1, 1));
        let (known, hidden) = (share(2, 0), share(3, 1));
        let recovered = |labels: [u64; 2], sampler: &mut Sampler| -> Vec<i64> {
            let rows = [&known, &hidden].into_iter().zip(labels);
            let rows: Vec<Vec<u64>> =
                rows.map(|(message, label)| encrypt(scheme, sampler, label, &secret, message)).collect();
            let difference = scheme.difference(&rows[1], &rows[0]);
            difference.iter().zip(&known).map(|(d, k)| residue(d + k)).collect()
        };
        assert_eq!(recovered([9, 9], sampler), hidden);
        let other = recovered([9, 10], sampler);
        assert!(other.iter().zip(&hidden).filter(|(x, y)| x == y).count() < 8);
    });
}

/// Noise of a sum of many contributions lies under the bound, and within a few bits of it.
#[test]
fn noise_is_as_wide_as_its_bound_says() {
    with(|scheme, sampler, prg| {
        let n = 100;
        let zero = vec![0; N];
        let messages = shares(prg, n, &zero);
        let rows: Vec<Vec<u64>> = messages.iter().map(|m| encrypt(scheme, sampler, 5, &zero, m)).collect();
        let noise = scheme.difference(&sum(rows.into_iter()), &zero.iter().map(|_| 0).collect::<Vec<u64>>());
        assert!(noise.iter().all(|x| x % PLAIN as i64 == 0));
        let largest = noise.iter().map(|x| x.abs()).max().unwrap() / PLAIN as i64;
        // the deviation is 32.5: of 1024 values the largest is at 3.3 of them
        assert!((70..200).contains(&largest), "{largest}");
        assert!(failure_bits(n, 1) > 64.0);
    });
}
