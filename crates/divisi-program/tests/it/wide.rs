//! Numbers of 61 bits: how a program asks for them, what is proposed where 31 bits are too few, and runs at
//! the ends of their range.

use crate::parties::{compare, shown, try_run};
use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Misuse, PublicParameters, local};
use divisi_field::zp::{Modulus, P32, P62};
use divisi_mixed::{Gmw, Mixed};
use divisi_ot::SetupConfig;
use divisi_program::applications::source;
use divisi_program::plain::Entries;
use divisi_program::{NumberSize, Script, Shape, ValueKind, lower, run, text, valid};
use std::sync::Arc;

fn read(body: &str) -> Result<Script, String> {
    text::read(&format!("divisi program 1\n{body}"), &|_| Err("there are no circuits".into()))
}

fn wide(body: &str) -> Script {
    read(&format!("numbers 61\n{body}")).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

fn num(numbers: &[i64]) -> Entries {
    Entries::Num(numbers.to_vec())
}

const LARGEST: i64 = (1 << 61) - (1 << 45);
const SMALL: i64 = (1 << 60) - 1;

/// The thinnest program: sums and a product of numbers that 31 bits do not hold.
#[test]
fn sums_and_products_of_wide_numbers() {
    let program = wide(
        "input x 1 num 3 in -800000000..800000000\ninput y 2 num 3 in -800000000..800000000\n\
         sum = add x y\nproduct = mul x y\nall = sum product\nless = sub all 1\noutput sum 1,2\n\
         output product 2\noutput less 1\n",
    );
    assert_eq!(program.numbers(), NumberSize::Bits61);
    for n in [2, 3] {
        let inputs = [num(&[800_000_000, -799_999_937, 5]), num(&[-800_000_000, 123_456_789, 0])];
        compare(n, &program, &inputs);
    }
    let inputs = [num(&[800_000_000; 3]), num(&[-800_000_000; 3])];
    let out = valid::evaluate(&program, &inputs).unwrap();
    assert_eq!(out[1..], [num(&[-640_000_000_000_000_000; 3]), num(&[-1_920_000_000_000_000_001])]);
}

/// Every kind of statement on numbers whose size decides, among parties.
#[test]
fn wide_statements_are_right() {
    let ends = [SMALL, -SMALL, 0, 1, -1, 1 << 30, (1 << 30) - 1, -(1 << 31), 987_654_321_012_345_678];
    let half: Vec<i64> = ends.iter().map(|x| x / 2).collect();
    let other: Vec<i64> = half.iter().rev().copied().collect();
    let (low, high) = (-SMALL / 2, SMALL / 2);
    let program = wide(&format!(
        "input x 1 num 9 in {low}..{high}\ninput y 2 num 9 in {low}..{high}\ninput d 2 num 9 in 1..{SMALL}\n\
         input w 1 bits 60 9\n\
         a = lt x y\nb = le x y\nc = eq x x\ne = eq x y\nbest place = max x\nleast at = min y\n\
         s = shift x -17\nu = shift x 1\nq = div x d\nt = div x 1000003\nv = div y 1024\nf = bits x 60\n\
         m = num w\ng = select a x y\nz = sub m m\n\
         output a 1\noutput b 1\noutput c 1\noutput e 1\noutput best 1\noutput place 1\noutput least 2\noutput at 2\n\
         output s 1\noutput u 1,2\noutput q 1\noutput t 2\noutput v 2\noutput f 1\noutput m 2\noutput g 1\noutput z 1\n"
    ));
    let divisors: Vec<i64> = [1, 2, 3, SMALL, SMALL - 1, 7, 1 << 40, (1 << 59) + 1, 10].to_vec();
    let words =
        (0..9_u64).map(|i| (0..60).map(|j| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> j & 1 == 1).collect());
    let inputs = [num(&half), num(&other), num(&divisors), Entries::Bits(words.collect())];
    compare(2, &program, &inputs);
}

/// At the ends of all numbers: right, or refused when the program is read.
#[test]
fn numbers_at_the_wide_edges_are_right_or_refused() {
    let all = ["lt x 3", "eq x 5", "max x", "shift x -1", "shift x -60", "div x 3", "bits x 60", "bits x 62"];
    for edge in [SMALL, SMALL + 1, LARGEST, -SMALL, -SMALL - 1, -LARGEST] {
        let inputs = format!("numbers 61\ninput x 1 num in {edge}..{edge}\n");
        let mut lines = String::new();
        for (i, statement) in all.iter().enumerate() {
            let line = format!("z{i} = {statement}\noutput z{i} 1\n");
            match read(&format!("{inputs}{line}")) {
                Ok(_) => lines += &line,
                Err(error) => {
                    let signed = statement.starts_with("bits") && edge < 0;
                    assert!(error.starts_with("line 4: ") && (edge.abs() > SMALL || signed), "{error}");
                    assert!(!error.contains("numbers 61"), "{error}");
                }
            }
        }
        let program = read(&format!("{inputs}{lines}output x 1\n")).unwrap();
        compare(2, &program, &[num(&[edge])]);
    }
    // 61 and 62 bits are those of numbers that are not negative
    let program = wide(&format!(
        "input x 1 num 2 in 0..{LARGEST}\nb = bits x 62\nc = bits x 61\noutput b 1\noutput c 1\n"
    ));
    compare(2, &program, &[num(&[LARGEST, 0])]);
}

/// The application that gave a negative variance: salaries need more than 31 bits.
#[test]
fn the_variance_of_salaries() {
    let of_text = source("merge-db").unwrap();
    let salaries = of_text.replace("-1999..1999", "30000..90000").replace("799200400", "720000000000");
    let error = read(salaries.strip_prefix("divisi program 1\n").unwrap()).unwrap_err();
    assert!(error.starts_with("line 1") && error.contains("the product of from_left ("), "{error}");
    assert!(
        error.ends_with("; or write `numbers 61` below the first line: numbers of 61 bits suffice"),
        "{error}"
    );
    let program = wide(salaries.strip_prefix("divisi program 1\n").unwrap());
    let (left, right) = salaries_of_two();
    let all: Vec<i128> = left.iter().chain(&right).map(|x| i128::from(*x)).collect();
    let mean = all.iter().sum::<i128>() / 200;
    let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<i128>() / 200;
    assert_eq!(variance, 281_315_132);
    let inputs = [num(&left), num(&right)];
    let out = valid::evaluate(&program, &inputs).unwrap();
    assert_eq!(shown(&out[1]), "[281315132]");
    compare(2, &program, &inputs);
}

/// Two lists of 100 salaries whose variance is 281315132; the last two bring it there.
fn salaries_of_two() -> (Vec<i64>, Vec<i64>) {
    let all: Vec<i64> = (0..198).map(|i| 30_800 + i * 7919 % 58_401).chain([73_411, 59_299]).collect();
    let (left, right) = all.split_at(100);
    (left.to_vec(), right.to_vec())
}

/// What is said about numbers stands in the head, once.
#[test]
fn the_head_is_read() {
    let rest = "input x 1 num\noutput x 1\n";
    let size = |head: &str| read(&format!("{head}{rest}")).map(|program| program.numbers());
    assert_eq!(size(""), Ok(NumberSize::Bits31));
    assert_eq!(size("numbers 31\n"), Ok(NumberSize::Bits31));
    assert_eq!(size("# more\n\nnumbers 61 # bits\n"), Ok(NumberSize::Bits61));
    let refused = |body: &str, what: &str| {
        let error = read(body).err().unwrap_or_default();
        assert!(error.starts_with(what) && !error.contains('\n'), "{body}: {error}");
    };
    for wrong in ["numbers", "numbers 62", "numbers 61 61", "numbers x", "numbers 061"] {
        refused(&format!("{wrong}\n{rest}"), "line 2: numbers have 31 or 61 bits: write");
    }
    refused(
        &format!("numbers 61\nnumbers 61\n{rest}"),
        "line 3: `numbers` stands once, and before all other",
    );
    refused(&format!("input y 1 num\nnumbers 61\n{rest}"), "line 3: `numbers` stands once, and before");
    refused(&format!("numbers 61\nz = {}\n{rest}", 1), "line 3: 1 is not an operation");
}

/// Where 61 bits suffice for the whole program they are proposed, and nowhere else.
#[test]
fn larger_numbers_are_proposed_where_they_suffice() {
    let end = "; or write `numbers 61` below the first line: numbers of 61 bits suffice";
    let x = "input x 1 num 200 in 0..500000\n";
    for statement in ["mul x x", "add x 1610612736", "shift x 13", "bits x 40", "const 1 1610612737"] {
        let error = read(&format!("{x}y = {statement}\noutput y 1\n")).unwrap_err();
        assert!(error.starts_with("line 3: ") && error.ends_with(end), "{error}");
    }
    let error = read("input x 1 num in 0..5000000000\noutput x 1\n").unwrap_err();
    assert!(
        error.starts_with("line 2: the range 0..5000000000 is beyond") && error.ends_with(end),
        "{error}"
    );
    // neither numbers without a range, nor what is wrong otherwise or later on
    for body in [
        "input x 1 num\ny = mul x x\noutput y 1\n",
        "input x 1 num\ny = add x x\noutput y 1\n",
        "input x 1 num in 0..500000\ny = mul x x\nz = mul y y\noutput z 1\n",
        "input x 1 num in 0..500000\ny = mul x x\nz = mul y w\noutput z 1\n",
        "input x 1 num in 0..500000\ny = mul x x\n",
        "numbers 31\ninput x 1 num in 0..500000\ny = mul x x\noutput y 1\n",
    ] {
        let error = read(body).unwrap_err();
        assert!(!error.contains("numbers 61"), "{error}");
    }
}

/// A party that computes modulo another prime than the program is refused, and so is one without a context
/// for circuits that are garbled.
#[test]
fn parties_that_lack_what_a_program_needs_are_refused() {
    let mut g = Build::new();
    let (x, y) = (g.input(1)[0], g.input(1)[0]);
    let both = g.and(x, y);
    g.output(&[both]);
    let circuit = Arc::new(g.finish());
    let body = "divisi program 1\nnumbers 61\ninput x 1 num\ninput b 1 bits 1\n";
    for (rest, p, wanted) in [
        ("output x 1\n", P62, None),
        ("output x 1\n", P32, Some(Misuse::KeyUnfit)),
        ("c = garbled and b b\noutput c 1\n", P62, Some(Misuse::KeyMissing)),
    ] {
        let program = text::read(&format!("{body}{rest}"), &|_| Ok(Arc::clone(&circuit))).unwrap();
        let code = lower(&program).unwrap();
        let ends = local::run(2, &PublicParameters::new("unfit"), |session| {
            let first = session.me().index() == 0;
            let gmw = Gmw::deferred(session, SetupConfig::default());
            let mut mixed = Mixed::new(gmw, Modulus::new(p).unwrap(), None, None)?;
            let own = [num(&[7]), Entries::Bits(vec![vec![true]])].map(|own| first.then_some(own));
            let ahead = run::prepare(&code, &mut mixed, None)?;
            run::run(&program, &code, &mut mixed, &own, ahead)
        });
        match (ends, wanted) {
            (Ok(_), None) => (),
            (Err(Abort::Misuse { what, .. }), Some(wanted)) if what == wanted => (),
            (ends, _) => panic!("{rest}: {:?}", ends.err()),
        }
    }
}

/// The same by methods.
#[test]
fn scripts_have_wide_numbers() {
    let one = Shape::one;
    let mut script = Script::of_numbers(NumberSize::Bits61);
    let x = script.input_in("x", 1, ValueKind::Num, one(), [0, 3_000_000_000]).unwrap();
    let y = script.input("y", 2, ValueKind::Num, one()).unwrap();
    let product = script.mul(&x, 700_000_000).unwrap();
    let less = script.lt(&y, 5).unwrap();
    script.output("product", &product, &[1]).unwrap();
    script.output("less", &less, &[1, 2]).unwrap();
    let inputs = [num(&[3_000_000_000]), num(&[-SMALL])];
    compare(2, &script, &inputs);
    assert!(valid::evaluate(&script, &[num(&[3_000_000_001]), num(&[0])]).is_err());
    assert!(valid::evaluate(&script, &[num(&[0]), num(&[SMALL + 1])]).is_err());
    assert!(try_run(2, &script, &[num(&[0]), num(&[LARGEST])]).is_err(), "beyond its range");
    // programs without products need no keys, whatever they compare
    let cost = lower(&script).unwrap().cost();
    assert_eq!((cost.products, cost.a2b, cost.triples(), cost.mask_bits), (0, 1, 0, 62));
    let (ands, _) = divisi_mixed::adders::cost(divisi_mixed::adders::NumberAdder::LowDepth, 62);
    assert_eq!(cost.a2b_ands, ands);
}

/// Circuits, tables, matrices and garbled circuits beside wide numbers.
#[test]
fn everything_else_beside_wide_numbers() {
    let mut g = Build::new();
    let (x, y) = (g.input(4), g.input(4));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    let circuit = Arc::new(g.finish());
    let find = |_: &str| Ok(Arc::clone(&circuit));
    let body = "divisi program 1\nnumbers 61\n\
        input x 1 num 2x2 in -1000000000000..1000000000000\ninput y 2 num 2x2 in -1000..1000\n\
        input i 2 num 3 below 4\ninput b 1 bits 4 3\n\
        m = matmul x y\nr = reshape m 4\nt = const 4 1152921504606846976 -5 7 2000000000000000000\n\
        l = lookup t i\np = lookup r i\nc = circuit and b 12\nd = garbled and b 10\nn = num c\n\
        s = sum r\ng = gather r 3 0 3\nk = mul n 100000000000000\nj = add k g\n\
        output m 1,2\noutput l 1\noutput p 2\noutput c 1\noutput d 1\noutput s 2\noutput j 1\n";
    let program = text::read(body, &find).unwrap();
    let words = [5_u8, 15, 8].map(|x| (0..4).map(|j| x >> j & 1 == 1).collect());
    let inputs = [
        num(&[1_000_000_000_000, -999_999_999_999, 3, -1_000_000_000_000]),
        num(&[1000, -1000, 999, 1]),
        num(&[0, 3, 2]),
        Entries::Bits(words.to_vec()),
    ];
    compare(2, &program, &inputs);
}
