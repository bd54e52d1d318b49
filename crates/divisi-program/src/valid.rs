//! Evaluation in the clear that refuses inputs beyond their ranges, and values for which something that the
//! program assumes is not so. For all others a run is right: ranges are checked when a program is read. And
//! random inputs for which a run is right.

use crate::interval::Interval;
use crate::plain::{Entries, Stage, evaluate_with};
use crate::program::{Action, Input, Script, ValueKind};

/// Draws a random number below the given one.
pub type Draw<'d> = &'d mut dyn FnMut(u64) -> u64;

/// Like [`crate::plain::evaluate`], with a check of inputs and assumptions.
///
/// # Errors
/// The errors of [`crate::plain::evaluate`]; if an input is beyond its range, or a value beyond what is
/// assumed of it. The sentence has the statement's line and the value's name, and no value, because it may be
/// secret.
pub fn evaluate(program: &Script, inputs: &[Entries]) -> Result<Vec<Entries>, String> {
    for (input, entries) in program.inputs().iter().zip(inputs) {
        in_range(program, input, entries)?;
    }
    evaluate_with(program, inputs, &mut |statement, moment| {
        let at = |what: String| format!("{}: {what}", program.place_of(statement));
        match moment {
            Stage::Before(values) => {
                let Action::Assume(number) = statement.op else { return Ok(()) };
                let Some(assumed) = program.assumptions().get(number) else { return Ok(()) };
                let wrong = values.get(assumed.value.id).and_then(|entries| beyond(assumed.range, entries));
                wrong.map_or(Ok(()), |entry| {
                    let (name, range) = (program.name_of_entry(assumed.value.id, entry), assumed.range);
                    Err(at(format!(
                        "{name} is not in {range}, as is assumed here, and what follows would be wrong: give other \
                         inputs, or correct the program"
                    )))
                })
            }
            Stage::After(None) => Ok(()),
            // ranges exclude that
            Stage::After(Some(entry)) => {
                let result = statement.results.first().copied().unwrap_or_default();
                let name = program.name_of_entry(result, entry);
                let largest = program.numbers().largest();
                Err(at(format!("{name} is beyond {largest} in absolute value: report this")))
            }
        }
    })
}

/// Checks that the entries of an input are in its range; those of bits are read as unsigned numbers.
///
/// # Errors
/// A sentence that names the input, the entry and the range.
pub fn in_range(program: &Script, input: &Input, entries: &Entries) -> Result<(), String> {
    let (bounds, name) = (input.bounds(program), &input.name);
    let Some(entry) = beyond(bounds, entries) else { return Ok(()) };
    let remedy = if input.range.is_some() {
        "which the program declares for it: give other values, or scale them"
    } else {
        "in which numbers are without a declared range: scale them, or declare one, as `in LOW..HIGH`"
    };
    let (low, high) = (bounds.low(), bounds.high());
    Err(format!("value {} of the input {name} is not from {low} to {high}, the range {remedy}", entry + 1))
}

/// The first entry that is beyond an interval, if one is.
fn beyond(bounds: Interval, entries: &Entries) -> Option<usize> {
    let number = |bits: &Vec<bool>| {
        // more than 127 bits stay at the largest number
        bits.iter().rev().fold(0_i128, |n, bit| n.saturating_mul(2).saturating_add(i128::from(*bit)))
    };
    match entries {
        Entries::Num(numbers) => numbers.iter().position(|x| !bounds.contains(i128::from(*x))),
        Entries::Bits(words) => words.iter().position(|bits| !bounds.contains(number(bits))),
    }
}

/// Random inputs in their ranges.
#[must_use]
pub fn random_in(program: &Script, draw: Draw<'_>) -> Vec<Entries> {
    random_near(program, None, draw)
}

/// Random inputs in their ranges, and as near to an interval as these allow. Bits without a range are any.
fn random_near(program: &Script, near: Option<Interval>, draw: Draw<'_>) -> Vec<Entries> {
    let mut all = Vec::with_capacity(program.inputs().len());
    for input in program.inputs() {
        let entries = 0..input.value.shape().entries();
        let bounds = input.bounds(program);
        let end = |x: i128| x.clamp(bounds.low(), bounds.high());
        let (low, high) =
            near.map_or((bounds.low(), bounds.high()), |near| (end(near.low()), end(near.high())));
        let count = u64::try_from((high - low).saturating_add(1)).unwrap_or(u64::MAX);
        let mut number = || low + i128::from(draw(count));
        all.push(match input.value.kind() {
            ValueKind::Num => Entries::Num(entries.map(|_| i64::try_from(number()).unwrap_or(0)).collect()),
            ValueKind::Bits(width) if input.range.is_some() => {
                let mut word = |_| {
                    let x = number();
                    (0..width).map(|i| i < 127 && x >> i & 1 == 1).collect()
                };
                Entries::Bits(entries.map(&mut word).collect())
            }
            ValueKind::Bits(width) => {
                let mut word = |_| (0..width).map(|_| draw(2) == 1).collect();
                Entries::Bits(entries.map(&mut word).collect())
            }
        });
    }
    all
}

/// The number of bits of input numbers that is tried after their whole ranges; then smaller ones are tried.
const LARGEST_INPUT: u32 = 13;

/// Random inputs in their ranges for which all assumptions of the program hold: any bits, and numbers from
/// their whole ranges, or with as many bits as possible, of both signs if possible.
///
/// # Errors
/// If no such inputs were found.
pub fn random(program: &Script, draw: Draw<'_>) -> Result<Vec<Entries>, String> {
    let sizes = (1..=LARGEST_INPUT).rev().map(|bits| 1_i128 << bits);
    let near = sizes.flat_map(|size| [(1 - size, size - 1), (0, size - 1), (1, size)]);
    let near = near.map(|(low, high)| Interval::new(low, high));
    for near in std::iter::once(None).chain(near) {
        let inputs = random_near(program, near, draw);
        if evaluate(program, &inputs).is_ok() {
            return Ok(inputs);
        }
    }
    Err("no random inputs were found for which all that the program assumes is so".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::LARGEST;
    use crate::text;

    fn read(body: &str) -> Script {
        text::read(&format!("divisi program 1\n{body}"), &|_| Err("none".into())).unwrap()
    }

    /// A sentence names the input, or the line, and the value by its name and place; not its number.
    #[test]
    fn a_refusal_names_line_and_value() {
        let of = |body: &str, inputs: &[i64]| {
            evaluate(&read(body), &[Entries::Num(inputs.to_vec())]).map(|_| ()).map_err(|error| {
                let secret = inputs.iter().any(|x| x.abs() > 9 && error.contains(&x.to_string()));
                assert!(!secret && !error.contains('\n'), "{error}");
                error
            })
        };
        let square = "input x 1 num 3 in -5..5\ny = mul x x\nassume y below 17\noutput y 1\n";
        assert_eq!(of(square, &[-4, 0, 4]), Ok(()));
        let refused = |body: &str, inputs: &[i64], begin: &str| {
            let error = of(body, inputs).unwrap_err();
            assert!(error.starts_with(begin), "{error}");
        };
        refused(square, &[4, 5, 0], "line 4: value 2 of y is not in 0..16, as is assumed here");
        refused(
            square,
            &[4, 0, 6],
            "value 3 of the input x is not from -5 to 5, the range which the program declares",
        );
        refused(square, &[-60, 0, 1], "value 1 of the input x is not from -5 to 5");
        let undeclared = "input x 1 num\ny = add x 1\noutput y 1\n";
        assert_eq!((of(undeclared, &[(1 << 30) - 1]), of(undeclared, &[1 - (1 << 30)])), (Ok(()), Ok(())));
        for x in [1 << 30, -(1 << 30), LARGEST] {
            refused(
                undeclared,
                &[x],
                "value 1 of the input x is not from -1073741823 to 1073741823, the range in which",
            );
        }
        // bits are unsigned numbers, however many they are
        let words = read("input b 1 bits 200 2 in 5..9\noutput b 1\n");
        let word =
            |x: u32, high: bool| (0..200).map(|i| i < 32 && x >> i & 1 == 1 || i == 199 && high).collect();
        let given = |words: [(u32, bool); 2]| Entries::Bits(words.map(|(x, high)| word(x, high)).to_vec());
        let right = |given_words| evaluate(&words, &[given(given_words)]).is_ok();
        assert!(
            right([(5, false), (9, false)])
                && !right([(5, false), (10, false)])
                && !right([(5, true), (9, false)])
        );
        // a program that is no text
        let mut script = Script::new();
        let x = script.input("x", 1, ValueKind::Num, crate::shape::Shape::one()).unwrap();
        let y = script.sub(&x, 1).unwrap();
        script.assume(&y, [0, 9]).unwrap();
        script.output("y", &y, &[1]).unwrap();
        let error = evaluate(&script, &[Entries::Num(vec![0])]).unwrap_err();
        assert!(error.starts_with("statement 4: a value without a name is not in 0..9"), "{error}");
    }

    #[test]
    fn random_inputs_are_right() {
        let mut next = 0_u64;
        let mut draw = |below: u64| {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (next >> 33) % below
        };
        let table = "input x 1 num 20 in 0..2\ninput b 2 bits 9 2\nt = const 3 1 2 3\nz = lookup t x\n\
                     output z 1\noutput b 1\n";
        let inputs = random(&read(table), &mut draw).unwrap();
        let Entries::Num(places) = &inputs[0] else { panic!("no numbers") };
        assert!([0, 1, 2].iter().all(|x| places.contains(x)) && places.iter().all(|x| (0..3).contains(x)));
        let Entries::Bits(words) = &inputs[1] else { panic!("no bits") };
        // neither value is a rare one
        let ones = words.concat().iter().filter(|bit| **bit).count();
        assert!(words.len() == 2 && (4..15).contains(&ones), "{words:?}");
        let far =
            "input x 1 num 50 in 1000..1000000000\ninput b 2 bits 300 9 in 5..6\noutput x 1\noutput b 1\n";
        let inputs = random(&read(far), &mut draw).unwrap();
        assert!(inputs[0].num().iter().any(|x| *x > 1 << 20), "from the whole range");
        let Entries::Bits(words) = &inputs[1] else { panic!("no bits") };
        assert!(words.iter().all(|word| word[2] && !word[3..].contains(&true)), "{words:?}");
        // what is assumed of few of the numbers
        let quotients = "input x 1 num 50\ninput y 1 num 50\nassume y in 1..64\nz = div x y\noutput z 1\n";
        let inputs = random(&read(quotients), &mut draw).unwrap();
        assert!(inputs[1].num().iter().all(|y| (1..=64).contains(y)));
        // of so many numbers some are negative, and some are zero
        for low in [0, 1] {
            let body = format!("input x 1 num 65536\nassume x in {low}..8192\noutput x 1\n");
            let inputs = random(&read(&body), &mut draw).unwrap();
            assert_eq!(inputs[0].num().iter().min(), Some(&low));
            assert!(inputs[0].num().iter().any(|x| *x > 8000));
        }
        let never =
            "input x 1 num in 0..9\ny = gather x 0\nz = sub x y\nassume z in 1..5\nq = div 1 z\noutput q 1\n";
        assert!(random(&read(never), &mut draw).is_err());
    }

    /// The last of many values is in the range, too.
    #[test]
    fn each_of_many_values_is_in_its_range() {
        let program = read("input x 1 num 70000 in 0..9\ninput b 1 bits 4 70000 in 0..9\noutput x 1\n");
        let [x, b] = program.inputs() else { panic!() };
        let digit = |n: u8| (0..4).map(|bit| n >> bit & 1 == 1).collect::<Vec<bool>>();
        for at in [0, 255, 256, 4096, 65_536, 69_999] {
            let (mut numbers, mut words) = (vec![9; 70_000], vec![digit(9); 70_000]);
            for (wrong, number) in [(false, 9), (true, 10)] {
                (numbers[at], words[at]) = (number, digit(number as u8));
                for (input, entries) in
                    [(x, Entries::Num(numbers.clone())), (b, Entries::Bits(words.clone()))]
                {
                    let end = in_range(&program, input, &entries).err();
                    let said =
                        end.as_ref().is_some_and(|end| end.starts_with(&format!("value {} of", at + 1)));
                    assert_eq!((end.is_some(), said), (wrong, wrong), "{at}");
                }
            }
        }
    }
}
