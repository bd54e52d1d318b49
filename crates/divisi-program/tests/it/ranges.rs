//! Ranges: what is refused when a program is read, with its line, the interval and what helps; and that what
//! is accepted is right at the ends of its ranges.

use crate::parties::compare;
use divisi_program::plain::Entries;
use divisi_program::{Interval, Script, Shape, ValueKind, text, valid};

fn read(body: &str) -> Result<Script, String> {
    text::read(&format!("divisi program 1\n{body}"), &|_| Err("there are no circuits".into()))
}

fn num(numbers: &[i64]) -> Entries {
    Entries::Num(numbers.to_vec())
}

/// The largest number, and the largest one that is compared.
const LARGEST: i64 = 1_610_612_736;
const SMALL: i64 = (1 << 30) - 1;

/// Reads a program of three lines of inputs and one statement: accepted, or refused at the statement's line.
fn accepts(inputs: &str, statement: &str) -> bool {
    let body = format!("{inputs}\n# what is tried\nz = {statement}\noutput z 1\n");
    let line = body.lines().position(|line| line.starts_with("z =")).unwrap() + 2;
    match read(&body) {
        Ok(_) => true,
        Err(error) => {
            assert!(error.starts_with(&format!("line {line}: ")) && !error.contains('\n'), "{body}: {error}");
            assert!(error.contains("..") && error.len() < 450, "no interval: {error}");
            false
        }
    }
}

/// Each statement at the largest range that it takes, and one beyond it, at either end.
#[test]
fn each_statement_has_its_limit() {
    let half = LARGEST / 2;
    // inputs with the two ends of x and y as X, V and Y, W; the statement; the largest ranges
    let cases: [(&str, &str, [i64; 4]); 23] = [
        ("num", "add x y", [-half, half, -half, half]),
        ("num", "sub x y", [-half, half, -half, half]),
        ("num", "mul x y", [-1, 1, -LARGEST, LARGEST]),
        ("num", "mul x y", [-32768, 32768, -49152, 49152]),
        ("num", "add x 7", [-LARGEST, LARGEST - 7, 0, 0]),
        ("num 3", "sum x", [-LARGEST / 3, LARGEST / 3, 0, 0]),
        ("num 2x2", "matmul x y", [-16384, 16384, -49152, 49152]),
        ("num", "lt x y", [0, SMALL, 0, SMALL]),
        ("num", "le x y", [-(SMALL / 2), SMALL / 2, -(SMALL / 2) - 1, SMALL / 2 + 1]),
        ("num", "eq x y", [1, SMALL, 0, 1]),
        ("num", "lt x 5", [-SMALL, SMALL, 0, 0]),
        ("num 4", "min x", [-SMALL, SMALL, 0, 0]),
        ("num", "shift x -3", [-SMALL, SMALL, 0, 0]),
        ("num", "shift x 3", [-LARGEST / 8, LARGEST / 8, 0, 0]),
        ("num", "div x 3", [-SMALL, SMALL, 0, 0]),
        ("num", "div 7 x", [1, SMALL, 0, 0]),
        ("num", "bits x 30", [-SMALL, LARGEST, 0, 0]),
        ("num", "bits x 31", [0, LARGEST, 0, 0]),
        ("num", "lookup t x", [0, 4, 0, 0]),
        ("bits 3", "lookup t x", [0, 4, 0, 0]),
        ("bits 40", "num x", [0, LARGEST, 0, 0]),
        ("num", "select c x y", [-LARGEST, LARGEST, -LARGEST, LARGEST]),
        ("num", "neg x", [-LARGEST, LARGEST, 0, 0]),
    ];
    for (kind, statement, ends) in cases {
        let with = |[x, v, y, w]: [i64; 4]| {
            format!(
                "input x 1 {kind} in {x}..{v}\ninput y 2 {kind} in {y}..{w}\ninput c 1 bits 1\nt = const 5 9 8 7 6 5"
            )
        };
        assert!(accepts(&with(ends), statement), "{kind} {statement} {ends:?}");
        let mut refused = 0;
        for (i, by) in [(0, -1), (1, 1), (2, -1), (3, 1)] {
            let mut beyond = ends;
            beyond[i] += by;
            // a range beyond what its kind can be is refused where it is declared
            if read(&format!("{}\noutput x 1\n", with(beyond))).is_ok() {
                refused += usize::from(!accepts(&with(beyond), statement));
            }
        }
        let free = matches!(statement.split(' ').next(), Some("select" | "neg"));
        assert!(free || refused > 0, "{kind} {statement} {ends:?} {refused}");
    }
}

/// Lowest bits of numbers are taken that are not small enough to be compared. `select` of such numbers is
/// right, whatever other statements want of their bits, and of what it gives.
#[test]
fn choices_beyond_small_numbers_are_right() {
    let large = "b = bits x 1\ns = select c x 0\nd = bits s 1\noutput s 1\noutput d 1\n";
    let sum =
        "y = add x x\nb = bits y 1\ns = select c y 0\nd = bits s 1\nz = sub s 1\noutput z 1\noutput d 1\n";
    let both =
        "y = add x 0\nb = bits x 1\ne = bits y 9\ns = select c x y\nd = bits s 30\noutput s 1\noutput d 1\n";
    let negative = "b = bits x 3\nn = neg x\nm = select c n x\nassume m in -1073741823..1073741825\nd = bits m 2\noutput m 1\n";
    for (range, body, values) in [
        (format!("0..{LARGEST}"), large, vec![SMALL, SMALL + 1, LARGEST, 1_500_000_000]),
        (format!("-5..{}", SMALL + 1), large, vec![-5, SMALL, SMALL + 1]),
        ("0..800000000".into(), sum, vec![SMALL / 2, SMALL / 2 + 1, 700_000_000]),
        (format!("0..{LARGEST}"), both, vec![SMALL + 1, LARGEST]),
        (format!("0..{}", SMALL + 2), negative, vec![SMALL + 2]),
    ] {
        let program = read(&format!("input x 1 num in {range}\ninput c 2 bits 1\n{body}")).unwrap();
        for value in values {
            for chosen in [true, false] {
                // the assumption holds where it is not the negative that is chosen
                if body != negative || !chosen {
                    compare(2, &program, &[num(&[value]), Entries::Bits(vec![vec![chosen]])]);
                }
            }
        }
    }
    let most = (1_i64 << 61) - (1 << 45);
    let wide = format!("divisi program 1\nnumbers 61\ninput x 1 num in 0..{most}\ninput c 2 bits 1\n{large}");
    let wide = text::read(&wide, &|_| Err("there are no circuits".into())).unwrap();
    for value in [(1 << 60) - 1, 1 << 60, most] {
        compare(2, &wide, &[num(&[value]), Entries::Bits(vec![vec![true]])]);
    }
}

/// What `lt`, `eq`, `max`, `shift` and `div` do with the numbers at which they were wrong once: right among
/// parties, or refused when the program is read, or before a number is shared.
#[test]
fn numbers_at_the_edges_are_right_or_refused() {
    let edges = [SMALL, SMALL + 1, LARGEST, -SMALL, -SMALL - 1, -LARGEST];
    let all = [
        "lt x 3",
        "lt 3 x",
        "le x -7",
        "eq x 5",
        "eq x x",
        "max x",
        "min x",
        "shift x -1",
        "shift x -30",
        "div x 3",
        "div x 4",
        "bits x 30",
        "bits x 31",
        "bits x 32",
        "select b x 3",
    ];
    for edge in edges {
        // without a range, and with one that has this number alone
        for declared in [String::new(), format!(" in {edge}..{edge}")] {
            let mut lines = Vec::new();
            for (i, statement) in all.iter().enumerate() {
                let line = format!("z{i} = {statement}\noutput z{i} 1\n");
                let inputs = format!("input x 1 num{declared}\ninput b 2 bits 1\n");
                match read(&format!("{inputs}{line}")) {
                    Ok(_) => lines.push(line),
                    Err(error) => {
                        // more bits than 30 are those of numbers that are not negative
                        let signed = i > all.len() - 4 && (declared.is_empty() || edge < 0);
                        let large = edge.abs() > SMALL && !declared.is_empty();
                        assert!(error.starts_with("line 4: ") && (large || signed), "{error}");
                    }
                }
            }
            let program =
                read(&format!("input x 1 num{declared}\ninput b 2 bits 1\n{}output x 1\n", lines.concat()));
            let (program, inputs) = (program.unwrap(), [num(&[edge]), Entries::Bits(vec![vec![true]])]);
            match valid::evaluate(&program, &inputs) {
                Ok(_) => drop(compare(2, &program, &inputs)),
                Err(error) => {
                    assert!(declared.is_empty() && edge.abs() > SMALL, "{error}");
                    assert!(error.starts_with("value 1 of the input x is not from"), "{error}");
                }
            }
        }
    }
}

/// Without ranges sums, products and comparisons of two numbers are refused, with the line that mends it.
#[test]
fn without_ranges_little_is_proved() {
    let two = "input x 1 num 2\ninput y 2 num";
    for statement in ["add x y", "sub x y", "mul x y", "mul x x", "lt x y", "eq x y", "sum x", "div x y"] {
        assert!(!accepts(two, statement), "{statement}");
    }
    for statement in
        ["add x 1", "neg x", "lt x 1", "eq 1 x", "min x", "shift x -1", "div x 3", "sub 1 x", "bits x 30"]
    {
        assert!(accepts(two, statement), "{statement}");
    }
    let error = read(&format!("{two}\nz = add x x\noutput z 1\n")).unwrap_err();
    assert_eq!(
        error,
        "line 4: the sum of x (-1073741823..1073741823) and x (-1073741823..1073741823) can be \
         -2147483646..2147483646, and numbers are -1610612736..1610612736: x has no range and can be any number \
         below 2^30, so declare one, as `input x 1 num 2 in LOW..HIGH`"
    );
    // the input is found behind other statements, and one with a range is not blamed
    let body = "input a 1 num below 9\ninput b 2 num\nc = add a b\nd = sub 5 c\ne = mul d a\noutput e 1\n";
    let error = read(body).unwrap_err();
    assert!(
        error.starts_with("line 6: the product of d (-1073741826..1073741828) and a (0..8) can be"),
        "{error}"
    );
    assert!(error.ends_with("as `input b 2 num in LOW..HIGH`"), "{error}");
    // bits need no range, and are not blamed
    let error = read("input b 1 bits 30\nn = num b\nm = mul n n\noutput m 1\n").unwrap_err();
    assert!(error.contains("declare smaller ranges") && !error.contains("no range"), "{error}");
    let error = read("input a 1 num below 99999\nb = mul a a\noutput b 1\n").unwrap_err();
    assert!(
        error.contains("or say what you know, as `assume a in LOW..HIGH`; or write `numbers 61`"),
        "{error}"
    );
}

/// What is derived: the last line's name, and its interval.
fn derived(body: &str) -> Interval {
    let program = read(&format!("{body}\noutput z 1\n")).unwrap();
    program.range(&program.outputs()[0].value)
}

#[test]
fn intervals_are_as_narrow_as_statements_show() {
    let (x, y) = ("input x 1 num 4 in -5..9\n", "input y 2 num in -3..2\n");
    let is = |body: &str, low: i128, high: i128| {
        assert_eq!(derived(&format!("{x}{y}{body}")), Interval::new(low, high).unwrap(), "{body}");
    };
    is("z = mul x x", 0, 81);
    is("z = mul x y", -27, 18);
    is("z = sub x x", 0, 0);
    is("z p = min x", -5, 9);
    is("p z = min x", 0, 3);
    is("z = sum x", -20, 36);
    is("z = div x 4", -2, 2);
    is("z = shift x -1", -3, 4);
    is("t = const 1x4 7 -2 3 3\nz = mul t x", -35, 63);
    is("t = const 4 7 -2 3 3\ni = const 2 0 1\nz = lookup t i", -2, 7);
    // the larger and the smaller one, sizes, and what is cut off, however they are chosen
    is("l = lt x y\nz = select l x y", -5, 2);
    is("l = lt x y\nz = select l y x", -3, 9);
    is("l = le x y\nz = select l y x", -3, 9);
    is("l = lt y x\nz = select l y x", -5, 2);
    is("l = lt x 0\nn = neg x\nz = select l n x", 0, 9);
    is("l = le 0 x\nn = neg x\nz = select l x n", 0, 9);
    is("l = lt x 0\nm = not l\nz = select m x 0", 0, 9);
    is("l = lt x 7\nz = select l x 7", -5, 7);
    is("l = lt x 100\nz = select l x 1000", -5, 9);
    is("e = eq x -5\nz = select e 3 x", -4, 9);
    is("e = eq x y\nz = select e x 0", -3, 2);
    // ends that are alike in eight bits are not the same
    is("e = eq x 251\nz = select e 3 x", -5, 9);
    is("e = eq x 265\nz = select e 3 x", -5, 9);
    is("input w 2 num in -5..251\ne = eq x w\nz = select e 3 x", -5, 9);
    is("input w 1 num in -5..255\nl = lt w 0\nn = neg w\nz = select l n w", 0, 255);
    // through 64 negations
    let nots: String = (1..=64).map(|i| format!("l{i} = not l{}\n", i - 1)).collect();
    is(&format!("input w 1 num in -5..255\nl0 = lt w 0\n{nots}n = neg w\nz = select l64 n w"), 0, 255);
    is("input b 1 bits 9 in 4..255\nc = add b 1\nz = num c", 5, 256);
    // of another value than the one that is compared nothing is known
    is("l = lt x 0\nw = add x 0\nz = select l 0 w", -5, 9);
    is("b = bits x 4\nz = num b", 0, 15);
    is("l = lt x 0\nr = select l 0 x\nb = bits r 6\nz = num b", 0, 9);
    is("assume x in 1..100\nz = mul x x", 1, 81);
    is("input b 1 bits 9 3 in 4..20\ns = sum b\nz = num s", 12, 60);
    is("input b 1 bits 9 in 4..20\nc = concat b b\nd = slice c 9 5\nz = num d", 4, 20);
    is("input b 1 bits 9 in 4..20\nc = mul b 3\nd = add c 1\ne = widen d 15\nz = num e", 13, 61);
    is("input b 1 bits 9 in 4..20\nc = shift b -2\nd = and c 3\nz = num d", 0, 3);
    is("input b 1 bits 9 in 4..20\nc = mul b 30\nd = slice c 0 9\nz = num d", 0, 511);
    is("input b 1 bits 9 in 4..20\nc = sub b 5\nz = num c", 0, 511);
    is("input b 1 bits 9 in 4..20\nc = not b\nz = num c", 491, 507);
    is("input b 1 bits 300 in 4..20\nc = not b\nd = slice c 110 20\nz = num d", 0, (1 << 20) - 1);
    is("input b 1 bits 300\nl = le 77 b\nc = select l 5 b\nd = slice c 299 1\nz = num d", 0, 1);
    // a public word is as large as its highest bit says
    is("k = const bits 64 1 0x7fffffffffffffff\ns = shift k -60\nc = slice s 0 9\nz = num c", 7, 7);
    is("k = const bits 64 1 0x8000000000000000\ns = shift k -60\nc = slice s 0 9\nz = num c", 0, 15);
    is("k = const bits 66 1 0x10000000000000000\ns = shift k -60\nc = slice s 0 9\nz = num c", 0, 63);
    is("input b 1 bits 300\nc = popcount b\nz = num c", 0, 300);
    is("input b 1 bits 300\nc = slice b 120 9\nz = num c", 0, 511);
    is("input b 1 bits 300\ninput d 1 bits 2\nc = concat d b\ne = slice c 124 9\nz = num e", 0, 511);
    // bits are never negative, and their negatives are modulo 2^W
    is("input b 1 bits 40 4\nc p = min b\nd = slice c 0 9\nz = num d", 0, 511);
    is("input b 1 bits 40 4 in 5..9\nc p = max b\nz = num c", 5, 9);
    is("input b 1 bits 9 in 4..20\nc = neg b\nz = num c", 0, 511);
    is("input b 1 bits 9 in 4..20\nl = lt b 10\nn = neg b\nc = select l n b\nz = num c", 0, 511);
    is("input b 1 bits 9 in 4..20\nc = and b 3\nd = and b 300\nz = num d", 0, 20);
    for (x, y) in [("b", "w"), ("w", "b")] {
        let wide = "input b 1 bits 300 in 4..20\ninput w 1 bits 300\n";
        is(&format!("{wide}c = add {x} {y}\nd = slice c 0 9\nz = num d"), 0, 511);
        is(&format!("{wide}l = lt {x} {y}\nc = select l b 5\nd = slice c 0 9\nz = num d"), 4, 20);
    }
    is("input b 1 bits 300\nl = lt b 77\nc = select l b 5\nd = slice c 299 1\nz = num d", 0, 1);
}

/// Values far apart in a long program are told apart.
#[test]
fn values_are_not_taken_for_each_other() {
    for between in 248..260 {
        let others: String = (0..between).map(|i| format!("o{i} = neg x\n")).collect();
        let begin = "input x 1 num in -5..9\nl = lt x 0\nm = lt 0 x\n";
        let body = |end: &str| format!("{begin}{others}w = add x 0\nn = neg w\n{end}");
        let is = |end: &str, low: i128, high: i128| {
            assert_eq!(derived(&body(end)), Interval::new(low, high).unwrap(), "{end} after {between}");
        };
        is("z = select l 0 w", -5, 9);
        is("z = select m w 0", -5, 9);
        is("z = select l n 0", -9, 5);
        is("z = select m n 0", -9, 5);
        is("p = lt x w\nz = select p w 0", -4, 9);
        is("p = lt x w\nz = select p n 0", -9, 4);
        is("z = sub x w", -14, 14);
        is("z = mul x w", -45, 81);
        // and a difference from itself is small only of the same value
        let far = format!("input x 1 num in -{SMALL}..{SMALL}\n{others}w = add x 0\n");
        assert!(!accepts(&far, "lt x w") && accepts(&far, "lt x x"));
    }
}

/// A dividend that is never negative costs no sign.
#[test]
fn quotients_pay_for_what_their_ranges_leave_open() {
    let cost = |ends: &str, divisor: &str| {
        let body = format!("input x 1 num in {ends}\ninput y 2 num in 1..9\nz = div x {divisor}\noutput z 1");
        let cost = divisi_program::lower(&read(&body).unwrap()).unwrap().cost();
        cost.ands + cost.b2a_bits
    };
    for divisor in ["3", "y"] {
        let all = ["0..511", "0..1023", "-1..1023"].map(|ends| cost(ends, divisor));
        assert!(all.is_sorted_by(|less, more| less < more), "{divisor}: {all:?}");
    }
}

/// Lines that are wrong: the line, the cause and the remedy.
#[test]
fn declarations_that_do_not_stand_are_refused() {
    let refused = |body: &str, what: &str| {
        let error = read(body).err().unwrap_or_default();
        assert!(error.starts_with(what) && error.len() < 400 && !error.contains('\n'), "{body:?}: {error:?}");
    };
    refused(
        "input x 1 num in 5..1\n",
        "line 2: there is no number in the range 5..1: give the smaller end first",
    );
    refused("input x 1 num below 0\n", "line 2: there is no number in the range 0..-1");
    refused("input x 1 num below -3\n", "line 2: there is no number");
    refused("input x 1 num below\n", "line 2: a range is `in LOW..HIGH`, both included");
    refused("input x 1 num in\n", "line 2: a range is `in LOW..HIGH`");
    refused("input x 1 num in 5\n", "line 2: 5 is no range: a range is `in LOW..HIGH`");
    refused("input x 1 num in 1..2 3\n", "line 2: a range is `in LOW..HIGH`");
    refused("input x 1 num in 1..x\n", "line 2: x is no end of a range");
    refused("input x 1 num in ..5\n", "line 2:  is no end of a range");
    refused("input x 1 num in 1..0x\n", "line 2: 0x is no end of a range: a range is");
    refused(
        "input x 1 num in 1..99999999999999999999\n",
        "line 2: 99999999999999999999 is no end of a range: it has more",
    );
    refused(
        "input x 1 num in 0..1610612737\n",
        "line 2: the range 0..1610612737 is beyond -1610612736..1610612736, which num can be",
    );
    refused("input x 1 bits 4 in 0..16\n", "line 2: the range 0..16 is beyond 0..15, which bits 4 can be");
    refused("input x 1 bits 4 in -1..5\n", "line 2: the range -1..5 is beyond 0..15");
    refused("input x 1 num 2 2 below 5\n", "line 2: an input is `input NAME PARTY num SHAPE`");
    refused("input x 1 in 0..5\n", "line 2: an input is");
    let x = "input x 1 num in 0..9\n";
    refused(&format!("{x}assume\n"), "line 3: an assumption is `assume NAME in LOW..HIGH`");
    refused(&format!("{x}assume x\n"), "line 3: a range is");
    refused(&format!("{x}assume y in 0..5\n"), "line 3: y is used before it is defined");
    refused(&format!("{x}assume 5 in 0..5\n"), "line 3: 5 is not a name");
    refused(
        &format!("{x}assume x in 10..12\n"),
        "line 3: x (0..9) is never in 10..12: assume what is possible",
    );
    refused(&format!("{x}y = assume x in 0..5\n"), "line 3: assume is not an operation");
    refused(
        &format!("{x}q = div 5 x\noutput q 1\n"),
        "line 3: x (0..9) can be below 1, and is a divisor: declare smaller",
    );
    refused(
        &format!("{x}t = const 3 1 2 3\nz = lookup t x\n"),
        "line 4: x (0..9) can be no place of the table, whose places are 0..2: declare smaller ranges",
    );
    refused(
        "t = const 3 1 2 3\ninput i 1 bits 2\nz = lookup t i\n",
        "line 4: i (0..3) can be no place of the table, whose places are 0..2",
    );
    refused(
        "input x 1 num\ny = bits x 31\n",
        "line 3: x (-1073741823..1073741823) can be negative, and only the lowest 30 bits of such a number are taken: x \
         has no range",
    );
    refused(
        "input x 1 num in -1073741824..0\ny = bits x 3\n",
        "line 3: x (-1073741824..0) can be below -1073741823",
    );
    refused(
        "input x 1 num in 0..1073741824\ny = lt x 5\n",
        "line 3: x (0..1073741824) can be beyond -1073741823..1073741823, and only those are compared: declare smaller",
    );
    refused(
        "input x 1 num in 0..9\ny = lt x 1073741824\n",
        "line 3: 1073741824 can be beyond -1073741823..1073741823, and only those are compared: give a smaller number",
    );
    refused(
        "input x 1 num in -9..1073741823\ninput y 1 num in -1..9\nl = lt x y\n",
        "line 4: x (-9..1073741823) and y (-1..9) can differ by more than 1073741823, and such numbers are not compared",
    );
    // bits do not send their user in a circle
    refused(
        "input x 1 bits 64\ny = num x\n",
        "line 3: as a number x (0..18446744073709551615) could be beyond 1610612736: compute with the bits, which \
         `add`, `mul`, `sum` and `lt` take, too; or cut them into pieces of up to 30 by `slice`; or say what you know, as \
         `assume x in 0..1610612736`",
    );
    refused(
        "input x 1 bits 64\ny = div x 3\n",
        "line 3: div takes numbers, and this is bits 64 1: cut it into pieces",
    );
    refused(
        "input x 1 bits 64\ninput y 1 num\nz = add x y\n",
        "line 4: a number and bits do not fit: make bits of the",
    );
    assert!(read("input x 1 bits 64\nassume x in 0..1610612736\ny = num x\noutput y 1\n").is_ok());
}

/// The same by methods, without a text.
#[test]
fn scripts_have_ranges_too() {
    let mut script = Script::new();
    let one = Shape::one;
    let x = script.input_in("x", 1, ValueKind::Num, one(), [-3, 50_000]).unwrap();
    let y = script.input("y", 2, ValueKind::Num, one()).unwrap();
    assert!(
        script.mul(&x, &x).unwrap_err().starts_with("the product of x (-3..50000) and x (-3..50000) can be")
    );
    let error = script.add(&y, &y).unwrap_err();
    assert!(error.contains("declare one, as `input y 2 num in LOW..HIGH`"), "{error}");
    assert!(script.assume(&y, [5, 4]).is_err() && script.assume(&x, [50_001, 60_000]).is_err());
    script.assume(&y, [0, 10]).unwrap();
    // a value without a name is described by what it can be
    let sum = script.add(&x, &x).unwrap();
    let error = script.mul(&sum, &sum).unwrap_err();
    let what = "a value without a name (-6..100000)";
    assert!(error.starts_with(&format!("the product of {what} and {what} can be")), "{error}");
    let z = script.mul(&x, &y).unwrap();
    assert_eq!((script.range(&z).low(), script.range(&z).high()), (-30, 500_000));
    script.output("z", &z, &[1]).unwrap();
    script.name(&z, "product");
    assert_eq!((script.name_of(&z), script.assumptions().len()), (Some("product"), 1));
    assert!(script.input_in("w", 1, ValueKind::Bits(3), one(), [0, 8]).is_err());
    // what a run does with inputs beyond their ranges is tested by
    // `values_beyond_their_ranges_are_not_shared`
    compare(2, &script, &[num(&[-3]), num(&[10])]);
}
