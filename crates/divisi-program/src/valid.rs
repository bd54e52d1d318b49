//! Evaluation in the clear that refuses values for which a run would be wrong: comparisons, shifts and
//! quotients of numbers of absolute value 2^30 or more, bits of negative numbers, positions after a table's
//! end. And random inputs without such values.

use crate::plain::{Entries, evaluate_with};
use crate::program::{Action, BOUND, Script, Statement, ValueKind};

/// Draws a random number below the given one.
pub type Draw<'d> = &'d mut dyn FnMut(u64) -> u64;

/// Like [`crate::plain::evaluate`], with a check of every statement.
///
/// # Errors
/// The errors of [`crate::plain::evaluate`]; if a run would compute some statement wrongly.
pub fn evaluate(program: &Script, inputs: &[Entries]) -> Result<Vec<Entries>, String> {
    evaluate_with(program, inputs, &mut |statement, values| right(program, statement, values))
}

/// Checks that a run computes this statement as the evaluation in the clear does.
fn right(program: &Script, statement: &Statement, values: &[Entries]) -> Result<(), String> {
    let num = |i: usize| match statement.args.get(i).and_then(|arg| values.get(*arg)) {
        Some(Entries::Num(numbers)) => numbers.as_slice(),
        _ => &[],
    };
    let small = |i: usize| num(i).iter().all(|x| x.abs() < BOUND);
    let ends = |i: usize| (num(i).iter().min(), num(i).iter().max());
    let fits = match &statement.op {
        Action::Lt | Action::Le | Action::Eq => {
            let far = match (ends(0), ends(1)) {
                ((Some(low), Some(high)), (Some(other_low), Some(other_high))) => {
                    (high - other_low).max(other_high - low)
                }
                _ => 0,
            };
            small(0) && small(1) && far < BOUND
        }
        Action::Min | Action::Max => small(0),
        Action::Shift(by) => *by >= 0 || small(0),
        Action::Div => small(0) && small(1),
        Action::Bits => {
            let width = statement.results.first().map(|result| program.value(*result).kind());
            // up to 30 bits are taken from the offset word, and are right for negative numbers, too
            matches!(width, Some(ValueKind::Bits(..31))) && small(0) || num(0).iter().all(|x| *x >= 0)
        }
        Action::Lookup => {
            let entries = statement.args.first().map_or(0, |table| program.value(*table).shape().last());
            num(1).iter().all(|x| usize::try_from(*x).is_ok_and(|x| x < entries))
        }
        _ => true,
    };
    if fits { Ok(()) } else { Err("a value is too large or negative for its operation".into()) }
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
            if evaluate(program, &inputs).is_ok() {
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
        assert!(refused(&one("shift x -1"), &[-BOUND]) && !refused(&one("shift x 1"), &[BOUND]));
        assert!(refused(&one("bits x 31"), &[-1]) && !refused(&one("bits x 30"), &[-1]));
        let table = "input x 1 num\nt = const 3 1 2 3\nz = lookup t x\noutput z 1\n";
        assert!(refused(table, &[3]) && refused(table, &[-1]) && !refused(table, &[2]));
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
