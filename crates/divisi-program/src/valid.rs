//! Evaluation in the clear that refuses values for which a run would be wrong, or which are beyond what a
//! number can be: comparisons, shifts and quotients of numbers of absolute value 2^30 or more, divisors below
//! 1, bits of negative numbers, positions after a table's end, products and sums that are reduced modulo p.
//! And random inputs without such values.

use crate::plain::{Entries, Stage, evaluate_with};
use crate::program::{Action, BOUND, LARGEST, Script, Statement, ValueKind};

/// Draws a random number below the given one.
pub type Draw<'d> = &'d mut dyn FnMut(u64) -> u64;

/// The range of an input: its name, its smallest and its largest number.
pub type InputRange = (&'static str, i64, i64);

/// Like [`crate::plain::evaluate`], with a check of every statement.
///
/// # Errors
/// The errors of [`crate::plain::evaluate`]; if a run would compute some statement wrongly, or a result is
/// reduced modulo p. The sentence has the statement's line and the value's name, and no number, because a
/// number may be secret.
pub fn evaluate(program: &Script, inputs: &[Entries]) -> Result<Vec<Entries>, String> {
    evaluate_with(program, inputs, &mut |statement, moment| {
        let at = |what: String| format!("{}: {what}", program.place_of(statement));
        match moment {
            Stage::Before(values) => right(program, statement, values).map_err(at),
            Stage::After(None) => Ok(()),
            Stage::After(Some(entry)) => {
                let result = statement.results.first().copied().unwrap_or_default();
                let name = program.name_of_entry(result, entry);
                Err(at(format!(
                    "{name} is beyond {LARGEST} in absolute value, so that it is reduced modulo p and means \
                     something else: give smaller inputs, or scale them down before this line"
                )))
            }
        }
    })
}

/// Like [`evaluate`], but results may be reduced modulo p, which they are in a run, too.
fn evaluate_modulo_p(program: &Script, inputs: &[Entries]) -> Result<Vec<Entries>, String> {
    evaluate_with(program, inputs, &mut |statement, moment| match moment {
        Stage::Before(values) => right(program, statement, values),
        Stage::After(_) => Ok(()),
    })
}

/// Checks that a run computes this statement as the evaluation in the clear does.
fn right(program: &Script, statement: &Statement, values: &[Entries]) -> Result<(), String> {
    const SMALLER: &str = "give smaller inputs, or scale them down before this line";
    let id = |i: usize| statement.args.get(i).copied().unwrap_or_default();
    let num = |i: usize| values.get(id(i)).map(Entries::num).unwrap_or_default();
    // the first entry of an argument for which a run is wrong, with the reason and the remedy
    let demand = |i: usize, fits: &dyn Fn(i64) -> bool, reason: &str, remedy: &str| match num(i)
        .iter()
        .position(|x| !fits(*x))
    {
        Some(entry) => Err(format!("{} {reason}: {remedy}", program.name_of_entry(id(i), entry))),
        None => Ok(()),
    };
    let small = |i: usize, what: &str| {
        let reason = format!("is 2^30 or more in absolute value, and a run {what} such a number wrongly");
        demand(i, &|x| x.abs() < BOUND, &reason, SMALLER)
    };
    match &statement.op {
        Action::Lt | Action::Le | Action::Eq => {
            small(0, "compares")?;
            small(1, "compares")?;
            let Some(result) = statement.results.first() else { return Ok(()) };
            let wide = |i: usize| {
                let (own, wide) = (program.value(id(i)).shape(), program.value(*result).shape());
                values.get(id(i)).map(|entries| entries.wide(own, wide))
            };
            let (Some(x), Some(y)) = (wide(0), wide(1)) else { return Ok(()) };
            let far = |(x, y): (&i64, &i64)| (x - y).abs() >= BOUND;
            match x.num().iter().zip(y.num()).position(far) {
                Some(entry) => Err(format!(
                    "the numbers that are compared for {} differ by 2^30 or more, and a run compares such numbers \
                     wrongly: {SMALLER}",
                    program.name_of_entry(*result, entry)
                )),
                None => Ok(()),
            }
        }
        Action::Min | Action::Max => small(0, "compares"),
        Action::Shift(by) if *by < 0 => small(0, "shifts"),
        Action::Div => {
            small(0, "divides")?;
            small(1, "divides by")?;
            demand(1, &|y| y > 0, "is below 1, and is a divisor", "a divisor must be from 1 to 2^30 - 1")
        }
        Action::Bits => {
            let width = statement.results.first().map(|result| program.value(*result).kind());
            // up to 30 bits are taken from the offset word, and are right for negative numbers, too
            let offset = matches!(width, Some(ValueKind::Bits(..31)));
            let reason = if offset {
                "is negative and 2^30 or more in absolute value, and a run takes its bits wrongly"
            } else {
                "is negative, and a run takes its bits wrongly"
            };
            let all_small = num(0).iter().all(|x| x.abs() < BOUND);
            demand(
                0,
                &|x| x >= 0 || offset && all_small,
                reason,
                "add a number that makes it positive before",
            )
        }
        Action::Lookup => {
            let entries = program.value(id(0)).shape().last();
            let reason =
                format!("is no place of the table, whose places are 0 to {}", entries.saturating_sub(1));
            let fits = |x: i64| usize::try_from(x).is_ok_and(|x| x < entries);
            demand(1, &fits, &reason, "give an index within the table, or a longer table")
        }
        _ => Ok(()),
    }
}

/// Checks that the entries of an input are in its range; those of bits are read as unsigned numbers.
///
/// # Errors
/// A sentence that names the input, the entry and the range.
pub fn in_range((name, low, high): InputRange, entries: &Entries) -> Result<(), String> {
    let number =
        |bits: &Vec<bool>| bits.iter().rev().fold(0_i64, |n, bit| n.saturating_mul(2) + i64::from(*bit));
    let fits = |x: i64| (low..=high).contains(&x);
    let beyond = match entries {
        Entries::Num(numbers) => numbers.iter().position(|x| !fits(*x)),
        Entries::Bits(words) => words.iter().position(|bits| !fits(number(bits))),
    };
    match beyond {
        Some(entry) => Err(format!(
            "value {} of the input {name} is not from {low} to {high}, the range for which the program is right: \
             give other values, or scale them",
            entry + 1
        )),
        None => Ok(()),
    }
}

/// Random inputs in their ranges; an input without a range gets random bits.
#[must_use]
pub fn random_in(program: &Script, ranges: &[InputRange], draw: Draw<'_>) -> Vec<Entries> {
    let mut all = Vec::with_capacity(program.inputs().len());
    for input in program.inputs() {
        let entries = 0..input.value.shape().entries();
        let range = ranges.iter().find(|(name, ..)| *name == input.name);
        let mut number = |low: i64, high: i64| low + draw((high - low) as u64 + 1) as i64;
        all.push(match (input.value.kind(), range) {
            (ValueKind::Num, range) => {
                let (low, high) = range.map_or((0, 1), |(_, low, high)| (*low, *high));
                Entries::Num(entries.map(|_| number(low, high)).collect())
            }
            (ValueKind::Bits(width), Some((_, low, high))) => {
                let mut word = |_| {
                    let x = number(*low, *high);
                    (0..width).map(|i| i < 63 && x >> i & 1 == 1).collect()
                };
                Entries::Bits(entries.map(&mut word).collect())
            }
            (ValueKind::Bits(width), None) => {
                let mut word = |_| (0..width).map(|_| number(0, 1) == 1).collect();
                Entries::Bits(entries.map(&mut word).collect())
            }
        });
    }
    all
}

/// The number of bits of input numbers that is tried first; then smaller ones are tried.
const LARGEST_INPUT: u32 = 13;

/// Random inputs for which a run computes every statement correctly: any bits, and numbers with as many bits
/// as possible, of both signs if possible.
///
/// # Errors
/// If no such inputs were found.
pub fn random(program: &Script, draw: Draw<'_>) -> Result<Vec<Entries>, String> {
    for bits in (1..=LARGEST_INPUT).rev() {
        let size = 1_i64 << bits;
        for (low, high) in [(1 - size, size), (0, size), (1, size)] {
            let inputs: Vec<Entries> = program
                .inputs()
                .iter()
                .map(|input| {
                    let entries = 0..input.value.shape().entries();
                    match input.value.kind() {
                        ValueKind::Num => {
                            let number = |_| low + draw((high - low) as u64) as i64;
                            Entries::Num(entries.map(number).collect())
                        }
                        ValueKind::Bits(width) => {
                            let mut word = |_| (0..width).map(|_| draw(2) == 1).collect();
                            Entries::Bits(entries.map(&mut word).collect())
                        }
                    }
                })
                .collect();
            if evaluate_modulo_p(program, &inputs).is_ok() {
                return Ok(inputs);
            }
        }
    }
    Err("no random inputs were found for which all comparisons, quotients and places are right".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn read(body: &str) -> Script {
        text::read(&format!("divisi program 1\n{body}"), &|_| Err("none".into())).unwrap()
    }

    #[test]
    fn what_a_run_would_get_wrong_is_refused() {
        let num = |x: i64| Entries::Num(vec![x]);
        let refused = |body: &str, inputs: &[i64]| {
            let inputs: Vec<Entries> = inputs.iter().map(|x| num(*x)).collect();
            evaluate(&read(body), &inputs).is_err()
        };
        let two = |op: &str| format!("input x 1 num\ninput y 1 num\nz = {op} x y\noutput z 1\n");
        for op in ["lt", "le", "eq"] {
            assert!(refused(&two(op), &[BOUND, 0]) && refused(&two(op), &[BOUND - 1, -1]), "{op}");
            assert!(!refused(&two(op), &[BOUND - 1, 0]), "{op}");
        }
        assert!(refused(&two("div"), &[BOUND, 1]) && refused(&two("div"), &[1, 0]));
        assert!(!refused(&two("mul"), &[BOUND, 1]) && !refused(&two("div"), &[1 - BOUND, 1]));
        let one = |op: &str| format!("input x 1 num\nz = {op}\noutput z 1\n");
        assert!(refused(&one("shift x -1"), &[-BOUND]) && !refused(&one("shift x 1"), &[BOUND / 2]));
        assert!(refused(&one("bits x 31"), &[-1]) && !refused(&one("bits x 30"), &[-1]));
        let table = "input x 1 num\nt = const 3 1 2 3\nz = lookup t x\noutput z 1\n";
        assert!(refused(table, &[3]) && refused(table, &[-1]) && !refused(table, &[2]));
    }

    /// A sentence names the line, and the value by its name and place.
    #[test]
    fn a_refusal_names_line_and_value() {
        let of = |body: &str, inputs: &[Vec<i64>]| {
            let inputs: Vec<Entries> = inputs.iter().map(|x| Entries::Num(x.clone())).collect();
            evaluate(&read(body), &inputs).map(|_| ()).unwrap_err()
        };
        let two = "input x 1 num 3\ninput y 2 num 3\n";
        let with = |line: &str| format!("{two}\n{line}\noutput z 1\n");
        let small = vec![1, 2, 3];
        let cases = [
            ("z = lt x y", vec![1, 1 << 30, 1], "line 5: value 2 of x is 2^30 or more"),
            ("z = le y x", vec![1, 1, -(1 << 30)], "line 5: value 3 of x is 2^30 or more"),
            (
                "z = eq x y",
                vec![3 - BOUND, -BOUND + 1, 1],
                "line 5: the numbers that are compared for value 2 of z",
            ),
            ("z = max x", vec![BOUND, 1, 1], "line 5: value 1 of x is 2^30 or more"),
            ("z = shift x -1", vec![1, BOUND, 1], "line 5: value 2 of x is 2^30 or more"),
            ("z = shift x 1", vec![1, BOUND, 1], "line 5: value 2 of z is beyond 1610612736"),
            ("z = div y x", vec![1, 0, 1], "line 5: value 2 of x is below 1"),
            ("z = div y x", vec![1, 1, -1], "line 5: value 3 of x is below 1"),
            ("z = bits x 32", vec![1, -1, 1], "line 5: value 2 of x is negative"),
            ("z = mul x y", vec![1, LARGEST, 1], "line 5: value 2 of z is beyond 1610612736"),
            ("z = add x y", vec![1, 1, LARGEST], "line 5: value 3 of z is beyond 1610612736"),
            ("z = sub x y", vec![1 - LARGEST, 1, 1 - LARGEST], "line 5: value 3 of z is beyond 1610612736"),
            ("z = sum x", vec![LARGEST, 1, 1], "line 5: z is beyond 1610612736"),
        ];
        for (line, x, begin) in cases {
            let error = of(&with(line), &[x.clone(), small.clone()]);
            assert!(error.starts_with(begin), "{line}: {error}");
            // no number of an input
            assert!(
                x.iter().all(|x| x.abs() < 10 || *x == LARGEST || !error.contains(&x.to_string())),
                "{error}"
            );
        }
        let matrix = "input x 1 num 2x2\nz = matmul x x\noutput z 1\n";
        let error = of(matrix, &[vec![1, 0, 40_000, 40_200]]);
        assert!(error.starts_with("line 3: value 4 of z is beyond"), "{error}");
        let table = "input x 1 num\nt = const 3 1 2 3\nz = lookup t x\noutput z 1\n";
        assert!(of(table, &[vec![3]]).starts_with("line 4: x is no place of the table"));
        let word = "input b 1 bits 32\nz = num b\noutput z 1\n";
        let error = evaluate(&read(word), &[Entries::Bits(vec![vec![true; 32]])]).unwrap_err();
        assert!(error.starts_with("line 3: z is beyond"), "{error}");
        // what is just within is right
        assert!(
            evaluate(
                &read(&with("z = add x y")),
                &[Entries::Num(vec![LARGEST - 1, 0, 0]), Entries::Num(small)]
            )
            .is_ok()
        );
        // a program that is no text
        let mut script = Script::new();
        let x = script.input("x", 1, ValueKind::Num, crate::shape::Shape::one()).unwrap();
        let y = script.mul(&x, &x).unwrap();
        script.output("y", &y, &[1]).unwrap();
        let error = evaluate(&script, &[Entries::Num(vec![1 << 20])]).unwrap_err();
        assert!(error.starts_with("statement 2: a value without a name is beyond"), "{error}");
    }

    #[test]
    fn random_inputs_are_right() {
        let mut next = 0_u64;
        let mut draw = |below: u64| {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (next >> 33) % below
        };
        let table = "input x 1 num 20\ninput b 2 bits 9 2\nt = const 3 1 2 3\nz = lookup t x\noutput z 1\noutput b 1\n";
        let inputs = random(&read(table), &mut draw).unwrap();
        let Entries::Num(places) = &inputs[0] else { panic!("no numbers") };
        assert!(places.iter().all(|x| (0..3).contains(x)));
        let quotients = "input x 1 num 50\ninput y 1 num 50\nz = div x y\noutput z 1\n";
        assert!(random(&read(quotients), &mut draw).is_ok());
        let never = "input x 1 num\ny = sub x x\nz = div 1 y\noutput z 1\n";
        assert!(random(&read(never), &mut draw).is_err());
    }
}
