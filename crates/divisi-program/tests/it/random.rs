//! Random programs of 30 statements, of all kinds and shapes, compared with the evaluation in the clear.

use crate::parties::compare;
use divisi_circuit::{Build, Gates, Program as Circuit};
use divisi_program::plain::Entries;
use divisi_program::{Script, Shape, Value, ValueKind, valid};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;

/// Numbers stay below this, so that values and differences stay below 2^30 after every statement.
const SMALL: i64 = 1 << 12;

/// Choices, one after the other.
struct Choices<'c>(std::slice::Iter<'c, u32>);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        *self.0.next().unwrap_or(&7) as usize % bound.max(1)
    }
}

fn half_adder() -> Arc<Circuit> {
    let mut g = Build::new();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let (sum, carry) = (g.xor(x, y), g.and(x, y));
    g.output(&[sum]);
    g.output(&[carry]);
    Arc::new(g.finish())
}

/// A program with its inputs. Numbers are cut down to 12 bits after each statement that makes them grow.
fn program(choices: &[u32], parties: u8) -> (Script, Vec<Entries>) {
    let mut next = Choices(choices.iter());
    let mut program = Script::new();
    let shapes = ["1", "3", "2x3", "1x3", "2x1"].map(|text| text.parse::<Shape>().unwrap());
    let (mut values, mut inputs) = (Vec::<Value>::new(), Vec::new());
    for (i, kind) in [ValueKind::Num, ValueKind::Num, ValueKind::Bits(6), ValueKind::Bits(1), ValueKind::Num]
        .into_iter()
        .enumerate()
    {
        let shape = shapes[next.below(shapes.len())].clone();
        let entries = shape.entries();
        inputs.push(match kind {
            ValueKind::Num => {
                Entries::Num((0..entries).map(|_| next.below(2 * SMALL as usize) as i64 - SMALL).collect())
            }
            ValueKind::Bits(width) => Entries::Bits(
                (0..entries).map(|_| (0..width).map(|_| next.below(2) == 1).collect()).collect(),
            ),
        });
        let owner = 1 + next.below(usize::from(parties)) as u8;
        let name = format!("input{i}");
        values.push(if kind == ValueKind::Num {
            program.input_in(&name, owner, kind, shape, [-SMALL, SMALL]).unwrap()
        } else {
            program.input(&name, owner, kind, shape).unwrap()
        });
    }
    let table = program.constant("8".parse().unwrap(), &[3, -1, 4, 1, -5, 9, -2, 6]).unwrap();
    let circuit = half_adder();
    let mut made = 0;
    while made < 30 {
        let mut some = |kind: &dyn Fn(ValueKind) -> bool| {
            let fit: Vec<&Value> = values.iter().filter(|value| kind(value.kind())).collect();
            fit[next.below(fit.len())].clone()
        };
        let is_num = |kind| kind == ValueKind::Num;
        let is_bits = |kind| kind != ValueKind::Num;
        let is_bit = |kind| kind == ValueKind::Bits(1);
        let (x, y, w, v, c) = (some(&is_num), some(&is_num), some(&is_bits), some(&is_bits), some(&is_bit));
        let d = some(&is_bit);
        let small = |program: &mut Script, x: Value| {
            let low = program.bits(&x, 12)?;
            program.num(&low)
        };
        let one = |value: Value| vec![value];
        let tried = match next.below(33) {
            0 => program.add(&x, &y).and_then(|z| small(&mut program, z)).map(one),
            1 => program.sub(&x, &y).and_then(|z| small(&mut program, z)).map(one),
            2 => program.neg(&x).map(one),
            3 => program.mul(&x, &y).and_then(|z| small(&mut program, z)).map(one),
            4 => program.sum(&x).and_then(|z| small(&mut program, z)).map(one),
            5 => program.min(&x).map(Vec::from),
            6 => program.max(&x).map(Vec::from),
            7 => program.reshape(&x, Shape::new(&[x.shape().entries()]).unwrap()).map(one),
            8 => program.gather(&x, &[0, x.shape().entries() - 1, 0]).map(one),
            9 => program.lt(&x, &y).map(one),
            10 => program.le(&x, 17).map(one),
            11 => program.eq(&x, &y).map(one),
            12 => program.select(&c, &x, &y).map(one),
            13 => program.xor(&w, &v).map(one),
            14 => program.and(&w, &v).map(one),
            15 => program.or(&c, &d).map(one),
            16 => program.not(&w).map(one),
            17 => program.bits(&x, 6).map(one),
            18 => program.num(&w).map(one),
            19 => program.shift(&x, -(next.below(14) as i64)).map(one),
            20 => program.div(&x, 1 + next.below(300) as i64).map(one),
            21 => program.bits(&x, 3).and_then(|i| program.lookup(&table, &i)).map(one),
            22 => program.circuit(&circuit, &[(&c).into(), (&d).into()]),
            23 => program.lt(&w, &v).map(one),
            25 => program.garbled(&circuit, &[(&c).into(), (&d).into()]),
            24 => program.add(&w, &v).map(one),
            26 => program.mul(&w, &v).map(one),
            27 => program.sum(&w).map(one),
            28 => program.popcount(&w).map(one),
            29 => program.concat(&[&w, &v]).map(one),
            30 => program.slice(&w, 1, next.below(5)).map(one),
            31 => program.widen(&w, 6).map(one),
            _ => program.shift(&w, next.below(5) as i64 - 2).map(one),
        };
        // a statement whose shapes or widths do not fit adds nothing
        made += 1;
        values.extend(tried.unwrap_or_default());
    }
    for (i, value) in values.iter().rev().take(6).enumerate() {
        program
            .output(&format!("output{i}"), value, &[1 + next.below(usize::from(parties)) as u8, 1])
            .unwrap();
    }
    (program, inputs)
}

#[test]
fn random_programs_are_right() {
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let choices = prop::collection::vec(any::<u32>(), 400);
    let parties = prop::sample::select(vec![2_u8, 3, 5]);
    runner
        .run(&(choices, parties), |(choices, parties)| {
            let (program, inputs) = program(&choices, parties);
            prop_assert_eq!(valid::evaluate(&program, &inputs).map(drop), Ok(()));
            compare(usize::from(parties), &program, &inputs);
            Ok(())
        })
        .unwrap();
}
