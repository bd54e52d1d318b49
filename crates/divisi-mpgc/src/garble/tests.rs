//! Garbled instances of all parties, put together: whoever has all keys opens every row, and sees what each
//! one hides, under which label, and with which errors.

use super::*;
use crate::checks;
use crate::evaluate::open_rows;
use crate::parameters::PLAIN;
use crate::scheme::{pack, unpack};
use crate::wiring::Wire;
use divisi_bgv::sample::ERROR_VARIANCE;
use divisi_circuit::{Build, Gates};
use divisi_core::draws::KnownDraws;
use divisi_core::testing::failed_check;
use divisi_core::{PublicParameters, local};
use divisi_ot::SetupConfig;
use std::collections::HashSet;

/// More than the two that have to differ in what they do.
const PARTIES: usize = 3;

/// ANDs and XORs of inputs and of each other, negated and not.
fn wiring() -> Wiring {
    let mut g = Build::new();
    let x = g.input(3);
    let not = g.not(x[1]);
    let (and, xor) = (g.and(x[0], not), g.xor(x[1], x[2]));
    let both = g.and(and, xor);
    let sum = g.xor(both, and);
    let last = g.and(sum, x[2]);
    g.output(&[and, sum, last]);
    Wiring::new(&g.finish())
}

/// What all parties garbled, call by call, from gate `start` of the session on; keys are looked up, and
/// instances garbled together, up to these numbers of ANDs and wires.
fn garbled(wiring: &Wiring, start: u64, most: [usize; 2], calls: &[usize]) -> Vec<Vec<GarbledInstances>> {
    let ends = local::run(PARTIES, &PublicParameters::new("all rows"), |session| {
        let gmw = Gmw::new(session, SetupConfig::default())?;
        let mut garbler = Garbler::new(gmw, LookupMethod::Transfers)?;
        garbler.own.labels.skip_to(start);
        garbler.own.most = most;
        calls.iter().map(|lanes| garbler.garble(wiring, *lanes)).collect()
    });
    ends.unwrap()
}

type Key = Vec<i64>;

fn sum(x: &[i64], y: &[i64]) -> Key {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn is_key(x: &[i64]) -> bool {
    x.iter().all(|c| c.unsigned_abs() <= PARTIES as u64) && (0..=1).contains(&x[0])
}

/// An instance with the keys and masks of all its wires.
struct Opened {
    keys: Vec<[Key; 2]>,
    masks: Vec<u8>,
}

/// A row with its label, and a sum of keys under which it may be opened.
struct Row<'s> {
    scheme: &'s Scheme,
    label: Label,
    values: Vec<u64>,
}

impl Row<'_> {
    /// The row without its product with this secret, as coefficients.
    fn under(&self, secret: &[i64]) -> Key {
        let (mut values, mut rest) = (vec![0; N], [0; N]);
        self.scheme.values(secret.iter().copied(), &mut values);
        self.scheme.phase(&self.label, &self.values, &values, &mut rest);
        rest.iter().map(|x| self.scheme.modulus().centred(*x)).collect()
    }

    /// The message, if it is a key and errors are as wide as those of all parties.
    fn open(&self, secret: &[i64]) -> Option<Key> {
        let p = self.scheme.plain();
        let phase = self.under(secret);
        let key: Key = phase.iter().map(|x| p.centred(p.of_signed(*x))).collect();
        let errors = phase.iter().zip(&key).map(|(x, k)| (x - k) / PLAIN as i64);
        let variance = errors.map(|e| (e * e) as f64).sum::<f64>() / N as f64;
        // of 1,024 errors it deviates by 5 per cent; shares of messages wrap around, which adds 2 per cent
        let part = variance / (PARTIES as f64 * ERROR_VARIANCE);
        (is_key(&key) && (0.75..1.4).contains(&part)).then_some(key)
    }
}

/// Opens all rows of instance i of what all parties garbled, whose first gate has this number.
fn open(all: &[&GarbledInstances], i: usize, first: u64) -> Opened {
    let parts: Vec<&Instance> = all.iter().map(|garbled| &garbled.instances[i]).collect();
    let (wiring, scheme) = (&all[0].wiring, &all[0].scheme);
    let input = |w: usize, b: usize| -> Key {
        let shares = parts.iter().map(|part| part.keys.share(w, b).iter().map(|c| i64::from(*c)).collect());
        shares.reduce(|x: Key, y: Key| sum(&x, &y)).unwrap()
    };
    let mut keys: Vec<[Key; 2]> = (0..wiring.inputs).map(|w| [0, 1].map(|b| input(w, b))).collect();
    let mask = |w: usize| parts.iter().fold(0, |mask, part| mask ^ part.inputs[w]);
    let mut masks: Vec<u8> = (0..wiring.inputs).map(mask).collect();
    for (g, gate) in wiring.gates.iter().enumerate() {
        let [u, v] = gate.operands();
        let secrets = [0, 1, 2, 3].map(|row| sum(&keys[u][row >> 1], &keys[v][row & 1]));
        let found = [0, 1, 2, 3].map(|at| {
            let (mut values, from) = (vec![0; N], (4 * g + at) * ROW_BYTES);
            assert!(unpack(&parts[0].rows[from..from + ROW_BYTES], &mut values));
            let row = Row { scheme, label: Label::of(first + g as u64, at as u64), values };
            let key = row.open(&secrets[at]);
            if g + 1 == wiring.gates() {
                // neither one key alone, nor those of another row
                let others = secrets.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, s)| s);
                let alone = [&keys[u][at >> 1], &keys[v][at & 1]];
                let closed = others.chain(alone).all(|secret| row.open(secret).is_none());
                assert!(closed, "gate {g} row {at}");
            }
            key.unwrap_or_else(|| panic!("gate {g} row {at} has no key, or not everybody's errors"))
        });
        let e = [0, 1, 2, 3].map(|row| found[row][0] as u8);
        let lambda = |wire: Wire| masks[wire.at] ^ u8::from(wire.negated);
        let result = |row: u8| match *gate {
            Gate::Xor(u, v) => (row >> 1 ^ masks[u]) ^ (row & 1 ^ masks[v]),
            Gate::And(u, v) => (row >> 1 ^ lambda(u)) & (row & 1 ^ lambda(v)),
        };
        // the mask of the output is the same in all rows
        let own = e[0] ^ result(0);
        assert!((0..4).all(|row| e[usize::from(row)] == result(row) ^ own), "gate {g}");
        masks.push(own);
        let of = |b: u8| found[e.iter().position(|e| *e == b).unwrap()].clone();
        keys.push([of(0), of(1)]);
        assert!(found.iter().zip(e).all(|(key, e)| *key == of(e)), "gate {g} has more than two keys");
    }
    Opened { keys, masks }
}

/// Whether no sum of columns, of bits of many instances, is zero or one in all of them.
fn independent(mut columns: Vec<u64>, all: u64) -> bool {
    columns.push(all);
    let mut basis: Vec<u64> = Vec::new();
    columns.into_iter().all(|column| {
        let rest = basis.iter().fold(column, |rest, base| rest.min(rest ^ base));
        basis.push(rest);
        rest != 0
    })
}

/// Every row of every instance hides the key that the gate's table says, under the label of its own number
/// and under the sum of both operands' keys, with errors of all parties; masks of inputs and of products are
/// independent of each other, and no key returns: also where numbers take another byte, and where keys are
/// looked up, and instances garbled, in more than one chain of messages.
#[test]
fn all_rows_are_what_they_ought_to_be() {
    let wiring = wiring();
    let gates = wiring.gates() as u64;
    assert_eq!((gates, wiring.ands()), (5, 3));
    let calls = [3, 38];
    for (start, most) in [((1 << 16) - 22, [LOOKED_UP, TOGETHER_WIRES]), (0, [7, 64]), (1 << 20, [2, 1])] {
        // of few ANDs, few instances
        let calls = if most[0] == LOOKED_UP { calls } else { [1, 4] };
        let ends = garbled(&wiring, start, most, &calls);
        let (mut next, mut keys) = (start, HashSet::new());
        let (mut columns, mut lanes) = (vec![0_u64; wiring.inputs + wiring.gates()], 0);
        for (call, count) in calls.into_iter().enumerate() {
            let all: Vec<&GarbledInstances> = ends.iter().map(|end| &end[call]).collect();
            for i in 0..count {
                let opened = open(&all, i, next);
                next += gates;
                for key in opened.keys.into_iter().flatten() {
                    assert!(keys.insert(key[1..].to_vec()), "a key twice");
                }
                columns.iter_mut().zip(opened.masks).for_each(|(c, mask)| *c |= u64::from(mask) << lanes);
                lanes += 1;
                for w in 0..wiring.inputs {
                    let shares = all.iter().flat_map(|all| [0, 1].map(|b| all.instances[i].keys.share(w, b)));
                    let shares = shares.map(|share| share[1..].iter().map(|c| i64::from(*c)).collect());
                    assert!(shares.into_iter().all(|share: Key| keys.insert(share)), "a share twice");
                }
            }
        }
        if lanes > 40 {
            let drawn = wiring.gates.iter().zip(wiring.inputs..).filter(|(gate, _)| gate.is_and());
            let drawn = (0..wiring.inputs).chain(drawn.map(|(_, w)| w)).map(|w| columns[w]).collect();
            assert!(independent(drawn, (1 << lanes) - 1), "masks depend on each other");
        }
    }
}

/// Each share of each key of a group is drawn for it alone.
#[test]
fn shares_of_a_group_are_all_different() {
    let wiring = wiring();
    let ends = local::run(2, &PublicParameters::new("group"), |session| {
        let group = Group::new(&session, &mut Sampler::new(&session), &wiring, 3);
        let wires = wiring.inputs + wiring.gates();
        let places = (0..3 * wires).flat_map(|at| [0, 1].map(|b| (at / wires, at % wires, b)));
        Ok(places.map(|(i, wire, b)| group.keys[i].share(wire, b)[1..].to_vec()).collect::<Vec<_>>())
    });
    let shares = ends.unwrap().concat();
    assert_eq!(shares.iter().collect::<HashSet<_>>().len(), shares.len());
}

/// Masks and shares of keys are what each party draws for them, in order, whichever wire, instance and group
/// they belong to: nothing is made of another one.
#[test]
fn masks_and_keys_of_groups_are_what_is_drawn() {
    let wide = |width: usize| {
        let mut g = Build::new();
        let x = g.input(width);
        let outputs: Vec<_> = (0..width).map(|i| g.and(x[i], x[(i + 1) % width])).collect();
        g.output(&outputs);
        Wiring::new(&g.finish())
    };
    let (wide, wider) = (wide(150), wide(1500));
    let groups = [(&wide, 3), (&wiring(), 150), (&wide, 1), (&wiring(), 70), (&wider, 1)];
    let known = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
    let parameters = PublicParameters::new("groups").drawing(known);
    let made = local::run(PARTIES, &parameters, |session| {
        let mut sampler = Sampler::new(&session);
        let made = groups.map(|(wiring, instances)| {
            let group = Group::new(&session, &mut sampler, wiring, instances);
            let wires = wiring.inputs + wiring.gates();
            let masks: Vec<Vec<u8>> = group.masks.iter().map(|masks| masks.lambda.to_vec()).collect();
            let places = (0..instances).flat_map(|i| (0..2 * wires).map(move |at| (i, at)));
            let keys = places.map(|(i, at)| group.keys[i].share(at / 2, at % 2)[1..].to_vec());
            (masks, keys.collect::<Vec<Vec<i8>>>())
        });
        Ok(made)
    });
    let drawn = local::run(PARTIES, &parameters, |session| {
        let mut sampler = Sampler::new(&session);
        let drawn = groups.map(|(wiring, instances)| {
            let wires = wiring.inputs + wiring.gates();
            let masks = (0..instances).map(|_| {
                let mut bits = vec![0_u64; wires];
                sampler.bits(&mut bits);
                let mut lambda: Vec<u8> = bits.iter().map(|bit| *bit as u8).collect();
                for (w, gate) in (wiring.inputs..).zip(&wiring.gates) {
                    if let Gate::Xor(u, v) = *gate {
                        lambda[w] = lambda[u] ^ lambda[v];
                    }
                }
                lambda
            });
            let masks = masks.collect();
            let share = |_| sampler.ternary(N)[1..].iter().map(|c| *c as i8).collect();
            (masks, (0..2 * wires * instances).map(share).collect())
        });
        Ok(drawn)
    });
    assert!(made.unwrap() == drawn.unwrap());
}

/// Masks and keys of a group of many instances: nothing returns, however far it is away.
#[test]
fn no_instance_of_a_large_group_is_another_one() {
    const INSTANCES: usize = 600;
    let mut g = Build::new();
    let x = g.input(64);
    g.output(&x);
    let wiring = Wiring::new(&g.finish());
    let ends = local::run(2, &PublicParameters::new("group"), |session| {
        let group = Group::new(&session, &mut Sampler::new(&session), &wiring, INSTANCES);
        let masks = group.masks.iter().map(|masks| masks.lambda.to_vec());
        let keys = group.keys.iter().flat_map(|keys| [0, 1].map(|b| keys.share(63, b)[1..].to_vec()));
        Ok((masks.collect::<Vec<_>>(), keys.collect::<Vec<_>>()))
    });
    let (masks, keys): (Vec<_>, Vec<_>) = ends.unwrap().into_iter().unzip();
    let (masks, keys) = (masks.concat(), keys.concat());
    assert_eq!(masks.iter().collect::<HashSet<_>>().len(), 2 * INSTANCES);
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 4 * INSTANCES);
}

/// A row of any gate that hides no key in any of its coefficients ends the session, also if no other gate
/// reads its wire \[G9\].
#[test]
fn the_evaluator_takes_nothing_but_keys() {
    let mut g = Build::new();
    let x = g.input(3);
    let outputs = [g.and(x[0], x[1]), g.xor(x[1], x[2]), g.and(x[0], x[2])];
    g.output(&outputs);
    takes_nothing_but_keys(&Wiring::new(&g.finish()), 0);
}

/// So does a row of a gate behind many others.
#[test]
fn the_evaluator_takes_nothing_but_keys_in_the_end() {
    let mut g = Build::new();
    let x = g.input(40);
    let outputs: Vec<_> =
        (1..40).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (x[i], x[j])).collect();
    let outputs: Vec<_> = outputs.into_iter().map(|(x, y)| g.xor(x, y)).collect();
    g.output(&outputs);
    let wiring = Wiring::new(&g.finish());
    assert_eq!(wiring.gates(), 780);
    takes_nothing_but_keys(&wiring, wiring.gates() - 1);
}

/// Changes rows of each gate from this one on.
fn takes_nothing_but_keys(wiring: &Wiring, from: usize) {
    let mut ends = garbled(wiring, 0, [LOOKED_UP, TOGETHER_WIRES], &[1]);
    let mut parts: Vec<Instance> = ends.iter_mut().map(|end| end[0].instances.remove(0)).collect();
    let sessions = local::run(PARTIES, &PublicParameters::new("rows"), Ok).unwrap();
    let scheme = &ends[0][0].scheme;
    let rows = std::mem::take(&mut parts[0].rows);
    let mut open = |rows: Vec<u8>| {
        let mut keys = vec![0; N * (wiring.inputs + wiring.gates())];
        for (w, key) in keys.chunks_exact_mut(N).take(wiring.inputs).enumerate() {
            for part in &parts {
                key.iter_mut().zip(part.keys.share(w, 0)).for_each(|(key, c)| *key += i16::from(*c));
            }
        }
        parts[0].rows = rows;
        open_rows(&sessions[0], scheme, wiring, &mut parts[0], &mut keys)
    };
    assert!(open(rows.clone()).is_ok());
    // a colour of less than 0 is small enough for a coefficient
    let too_large = 2 * PARTIES as i64 + 1;
    let ways = [(0, too_large), (1, too_large), (N / 2, too_large), (N - 1, too_large), (0, -2)];
    for (gate, (at, by)) in (from..wiring.gates()).flat_map(|gate| ways.map(|way| (gate, way))) {
        let mut difference = vec![0; N];
        scheme.values((0..N).map(|i| if i == at { by } else { 0 }), &mut difference);
        let mut changed = Vec::new();
        for (i, packed) in rows.chunks_exact(ROW_BYTES).enumerate() {
            let mut row = vec![0; N];
            assert!(unpack(packed, &mut row));
            if i / 4 == gate {
                scheme.modulus().add_assign(&mut row, &difference);
            }
            pack(&row, &mut changed);
        }
        assert_eq!(failed_check(&open(changed)), Some(checks::G9), "gate {gate}, coefficient {at} by {by}");
    }
}
