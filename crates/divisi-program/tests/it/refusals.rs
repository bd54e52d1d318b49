//! What is refused: texts, statements that a caller makes, and inputs.

use crate::statements::circuits;
use divisi_circuit::Build;
use divisi_program::plain::{self, Entries};
use divisi_program::program::{LARGEST_PROGRAM, WIDEST};
use divisi_program::{Script, Shape, ValueKind, text, valid};
use std::sync::Arc;

#[test]
fn what_does_not_stand_is_refused_with_its_line() {
    let refused = |body: &str, what: &str| {
        let error = text::read(&format!("divisi program 1\n{body}"), &circuits).err().unwrap_or_default();
        assert!(error.contains(what) && error.starts_with("line "), "{body:?}: {error:?}, not {what:?}");
        assert!(!error.contains('\n') && error.len() < 300, "{error}");
    };
    refused("input x 1 num\ninput x 2 num\n", "line 3: the name x is used already");
    refused("input x 1 num\nx = add x 1\n", "used already");
    refused("y = add x 1\n", "line 2: x is used before it is defined");
    refused("input x 1 num 2\ninput y 1 num 3\nz = add x y\n", "line 4: the shapes 2 and 3 do not fit");
    refused("input x 1 bits 4\ny = div x x\n", "div takes numbers");
    refused("input x 1 bits 4\ny = bits x 3\n", "bits takes numbers");
    refused("input x 1 num\ny = not x\n", "not takes bits");
    refused("input x 1 num\ninput b 1 bits 4\ny = add x b\n", "a number and bits do not fit");
    refused("t = const 4 1 2 3 4\ninput i 1 bits 3\ny = lookup t i\n", "is too wide");
    refused("t = const 1 1\ninput i 1 bits 3\ny = lookup t i\n", "2 to 256");
    refused("t = const 1 1610612737\n", "beyond p/2");
    refused("t = const 4 1 2 3 4\ni = const 2 3 4\ny = lookup t i\n", "line 4: the table has no place 4");
    refused("t = const 4 1 2 3 4\ni = const 1 -1\nj = reshape i 1x1\ny = lookup t j\n", "no place -1");
    refused("t = const 4 1 2 3 4\ny = lookup t 9\n", "line 3: the table has no place 9");
    let gathered = "t = const 4 1 2 3 4\ni = const 2 3 4\na = gather i 0\nb = gather i 1 0\n";
    refused(&format!("{gathered}y = lookup t b\n"), "line 6: the table has no place 4");
    refused("input x 1 num\noutput x 1,\n", "line 3: a party is missing beside a comma");
    refused("input x 1 num\noutput x ,\n", "a party is missing");
    refused("input x 1 num\ny = bits x -5\n", "and -5 are asked for");
    refused("y = not 5\n", "the width of 5 is unknown");
    refused("input x 1 num\ny = select 2 x x\n", "2 is no number of 1 bits");
    refused("input x 1 num\ny = add x 99999999999999999999\n", "is beyond p/2");
    refused("input x 1 num\ny = add x 9e9\n", "9e9 is not an integer");
    refused("input x 1 bits 70\ny = add x 0x400000000000000000\n", "is no number of 70 bits");
    refused("input x 0 num\n", "0 is not a party: give a number from 1 to 255");
    refused("input x 256 num\n", "not a party");
    refused("input x 1 num\noutput x\n", "has no receiver");
    refused("input x 1 num\noutput x 1,0\n", "not a party");
    refused("input x 1 num\n", "has no output");
    refused("input x 1 num\ny = garbage x\n", "not an operation");
    refused("input x 1 num\ny = circuit half x x\n", "has 4 bits");
    refused("input x 1 bits 4\ny = circuit half x x\n", "gives 2 values");
    refused("input x 1 bits 4\ny z = circuit half x\n", "takes 2 values");
    refused("input x 1 bits 4\ny z = circuit none x x\n", "no circuit none");
    refused("input x 1 num\ny z = garbled half x x\n", "has 4 bits");
    refused("input x 1 bits 4\ny = garbled half x x\n", "gives 2 values");
    refused("input x 1 bits 4\ny z = garbled\n", "garbled takes the name of a circuit");
    refused("input x 1 num\ny = div x 0\n", "division by 0");
    refused("input x 1 num\ny = shift x 31\n", "at most 30");
    refused("input x 1 num\ny = bits x 33\n", "1 to 32 bits");
    refused("input x 1 num 3\ny = gather x 3\n", "no place 3");
    refused("input x 1 num 3\ny = reshape x 2\n", "do not go into");
    refused("input x 1 num 3x\n", "a shape is");
    refused("input x 1 num 99999999\n", "a shape is");
    refused("input x 1 bits 0\n", "1 to 65536");
    let many: String = (0..9).map(|i| format!("y{i} = add x {i}\n")).collect();
    refused(&format!("input x 1 num 16777216\n{many}"), "in all");
    refused("input 1x 1 num\n", "not a name");
    refused("input _x 1 num\n", "not a name");
    refused("input x-y 1 num\n", "not a name");
    refused("input xy- 1 num\n", "not a name");
    refused("what is this\n", "not a statement");
    refused(&format!("x = const 1 {}\n", "1 ".repeat(600_000)), "a line of");
    refused("input a 1 num 1024x1024\ninput b 2 num 1024x1024\nc = matmul a b\n", "too large: split it");
    refused("input c 1 num\ny = select c 1 2\n", "line 3: select chooses by bits of width 1");
    refused("input c 1 bits 2\ny = select c 1 2\n", "line 3: select chooses by bits of width 1");
    for _ in 0..2 {
        refused("input a 1 num 2x3\ninput b 2 num 2x4\nc = matmul a b\n", "3 and 2 differ");
        refused("input t 1 num 3x4\ninput i 1 bits 2 2\ny = lookup t i\n", "3 tables do not go with indices");
    }
    refused(
        "input t 1 num 256\ninput i 1 bits 8 65800\ny = lookup t i\n",
        "line 4: too many lookups at once",
    );
    for _ in 0..2 {
        refused("x = const bits 4 3 1 2\n", "2 numbers are given, and the shape 3 has 3 entries");
    }
    refused(&format!("input {}x 1 num\n", "x".repeat(64)), "is too long for a name");
    assert!(text::read("", &circuits).unwrap_err().starts_with("line 1"));
    assert!(text::read("divisi program 2\n", &circuits).unwrap_err().contains("divisi program 1"));
}

/// A line has so many bytes, and none more; words of bits are as wide as the caller says.
#[test]
fn the_longest_line_is_read_and_words_have_one_width() {
    let line = |bytes: usize| {
        let body = format!("divisi program 1\n#{}\ninput x 1 num\noutput x 1\n", "x".repeat(bytes - 1));
        text::read(&body, &circuits).map(drop)
    };
    assert_eq!(line(text::LINE), Ok(()));
    assert!(line(text::LINE + 1).unwrap_err().contains("a line of 1048577 bytes"));
    let mut program = Script::new();
    let mut constant = |widths: [usize; 2]| {
        program.constant_bits(4, Shape::new(&[2]).unwrap(), &widths.map(|width| vec![true; width]))
    };
    assert!(constant([4, 4]).is_ok());
    for widths in [[5, 4], [4, 3]] {
        assert!(constant(widths).unwrap_err().ends_with("bits is given, and 4 are wanted"));
    }
}

/// The values of a circuit are as wide as a value can be, each of them.
#[test]
fn circuits_with_values_that_are_too_wide_are_refused() {
    let called = |inputs: [usize; 2], outputs: [usize; 2]| {
        let mut g = Build::new();
        let [x, _] = inputs.map(|width| g.input(width));
        outputs.iter().for_each(|width| g.output(&vec![x[0]; *width]));
        Script::new().circuit(&Arc::new(g.finish()), &[0.into(), 0.into()]).map(drop)
    };
    assert_eq!(called([1, WIDEST], [2, WIDEST]), Ok(()));
    let wide = WIDEST + 1;
    for (inputs, outputs) in
        [([wide, 1], [1, 1]), ([1, wide], [1, 1]), ([1, 1], [wide, 1]), ([1, 1], [1, wide])]
    {
        let refused = called(inputs, outputs).unwrap_err();
        assert!(refused.contains("1 to 65536"), "{inputs:?} {outputs:?}: {refused}");
    }
}

/// A program has so many numbers, bits and ANDs of products, and none more.
#[test]
fn the_largest_program_is_read() {
    let size = |bits: usize, factors: usize, numbers: usize| {
        let mut script = Script::new();
        let shape = |n| Shape::new(&[n]).unwrap();
        let x = script.input("x", 1, ValueKind::Bits(bits), shape(factors)).unwrap();
        script.mul(&x, &x).unwrap();
        for (i, left) in (0..numbers).step_by(1 << 24).enumerate() {
            let entries = (numbers - left).min(1 << 24);
            script.input(&format!("n{i}"), 1, ValueKind::Num, shape(entries)).unwrap();
        }
        script.check_size()
    };
    // bits of x and of the product, and its ANDs
    let of_product = |bits, factors| factors * (2 * bits + bits * bits);
    for (bits, factors) in [(1, 1), (9, 5), (64, 1 << 10)] {
        let rest = LARGEST_PROGRAM - of_product(bits, factors);
        assert_eq!(size(bits, factors, rest), Ok(()));
        assert!(size(bits, factors, rest + 1).is_err_and(|error| error.contains("in all")));
    }
    // words of every width count as many bits as they have
    for bits in (0..=16).map(|log| 1 << log).chain([WIDEST - 1, WIDEST]) {
        let words = LARGEST_PROGRAM / bits;
        let size = |words: usize| {
            let mut script = Script::new();
            script.input("x", 1, ValueKind::Bits(bits), Shape::new(&[words.min(1 << 24)]).unwrap()).unwrap();
            for i in 1..words.div_ceil(1 << 24) {
                let left = (words - (i << 24)).min(1 << 24);
                script
                    .input(&format!("x{i}"), 1, ValueKind::Bits(bits), Shape::new(&[left]).unwrap())
                    .unwrap();
            }
            script.check_size().is_ok()
        };
        assert_eq!([size(words), size(words + 1)], [true, false], "{bits}");
    }
}

/// Names are used once, and parties are counted from 1: also where a caller makes the statements.
#[test]
fn inputs_and_outputs_have_names_of_their_own_and_parties() {
    let mut program = Script::new();
    let mut input = |name, owner| program.input(name, owner, ValueKind::Num, Shape::one());
    let x = input("x", 1).unwrap();
    assert!(input("y", 0).unwrap_err().contains("no party 0"));
    assert!(input("x", 2).unwrap_err().contains("an input x already"));
    for (receivers, why) in [(&[][..], "has no receiver"), (&[0], "no party 0"), (&[2, 0], "no party 0")] {
        assert!(program.output("x", &x, receivers).unwrap_err().contains(why), "{receivers:?}");
    }
    program.output("x", &x, &[1]).unwrap();
    assert!(program.output("x", &x, &[2]).unwrap_err().contains("is an output already"));
}

/// Values for the inputs are as many as there are inputs, of their kinds, widths and shapes.
#[test]
fn inputs_that_do_not_fit_are_refused() {
    let body = "divisi program 1\ninput x 1 num 2\ninput b 2 bits 3 2\ny = div x 7\noutput y 1\noutput b 1\n";
    let program = text::read(body, &circuits).unwrap();
    let ends = |inputs: &[Entries]| plain::evaluate(&program, inputs);
    let num = |numbers: &[i64]| Entries::Num(numbers.to_vec());
    let bits = |widths: &[usize]| Entries::Bits(widths.iter().map(|width| vec![true; *width]).collect());
    let right = [num(&[8, -1]), bits(&[3, 3])];
    assert_eq!(ends(&right), Ok(vec![num(&[1, -1]), bits(&[3, 3])]));
    let [x, b] = right;
    for (wrong, why) in [
        (vec![x.clone()], "1 inputs are given"),
        (vec![x.clone(), b.clone(), b.clone()], "3 inputs are given"),
        (vec![num(&[8]), b.clone()], "takes 2 values, and 1 are given"),
        (vec![num(&[8, i64::MAX]), b.clone()], "values of another kind"),
        (vec![b.clone(), b.clone()], "values of another kind"),
        (vec![x.clone(), x.clone()], "values of another kind"),
        (vec![x.clone(), bits(&[3, 2])], "values of another kind"),
        (vec![x.clone(), bits(&[4, 3])], "values of another kind"),
    ] {
        assert!(ends(&wrong).is_err_and(|error| error.contains(why)), "{wrong:?}");
    }
}

/// What is assumed, and is not so, is told with its own line.
#[test]
fn an_assumption_that_is_wrong_has_its_line() {
    let body = "divisi program 1\ninput x 1 num\ninput y 2 num\nassume x in 0..9\ns = add x y\nassume y in 0..5\noutput s 1\n";
    let program = text::read(body, &circuits).unwrap();
    for (x, y, words) in [(10, 0, "line 4: x is not in 0..9"), (9, 6, "line 6: y is not in 0..5")] {
        let error = valid::evaluate(&program, &[Entries::Num(vec![x]), Entries::Num(vec![y])]).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    }
}

/// A divisor that is shared is above 0 in each place.
#[test]
fn divisors_are_above_zero() {
    let body =
        "divisi program 1\ninput x 1 num 2 in 0..99\ninput y 2 num 2 in 1..9\nz = div x y\noutput z 1\n";
    let program = text::read(body, &circuits).unwrap();
    for divisors in [[0, 3], [3, 0], [3, -1]] {
        let ends = plain::evaluate(&program, &[Entries::Num(vec![7, 8]), Entries::Num(divisors.to_vec())]);
        assert!(ends.is_err(), "{divisors:?}");
    }
}
