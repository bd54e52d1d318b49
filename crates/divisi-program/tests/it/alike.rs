//! Statements that are alike but for one thing are not taken for each other, nor are values at the ends of
//! their ranges.

use crate::parties::compare;
use divisi_circuit::{Build, Gates};
use divisi_program::plain::Entries;
use divisi_program::{lower, text};
use std::sync::Arc;

/// Pairs, in one program each, whose results differ; all of them on the same inputs.
const PAIRS: &[[&str; 2]] = &[
    ["sum p", "sum q"],
    ["gather x 0 1", "gather x 0 2"],
    ["gather x 0", "gather x 0 0"],
    ["add x y", "sub x y"],
    ["sub x y", "sub y x"],
    ["mul x 3", "mul x 5"],
    ["mul x k", "mul x l"],
    ["shift x 1", "shift x 2"],
    ["shift x -1", "shift x -2"],
    ["div x 3", "div x 5"],
    ["bits z 3", "bits z 4"],
    ["lt x y", "lt y x"],
    ["lt x y", "le y x"],
    ["select c x y", "select c y x"],
    ["lookup k z", "lookup l z"],
    ["lookup k z", "lookup l z"],
    ["max p", "max q"],
    ["min x", "max x"],
    ["slice a 0 2", "slice a 1 2"],
    ["concat a b", "concat b a"],
    ["widen a 6", "widen a 7"],
    ["shift a 1", "shift a -1"],
    ["and a b", "or a b"],
    ["sub a b", "sub b a"],
    ["const bits 4 3 1 2 3", "const bits 5 3 1 2 3"],
    ["const bits 4 2 1 1", "const bits 4 3 1 1 1"],
    ["const bits 4 2 1 1", "const bits 5 2 1 1"],
    ["const bits 65 2 1 2", "const bits 66 2 1 2"],
    ["circuit and a b", "circuit xor a b"],
    ["garbled and a b", "garbled xor a b"],
    ["garbled and a 3", "garbled and b 3"],
    ["not a", "neg a"],
];

#[test]
fn statements_that_differ_in_one_thing_differ() {
    let find = |name: &str| {
        let mut g = Build::new();
        let (x, y) = (g.input(4), g.input(4));
        let gate = |(x, y): (&_, &_), g: &mut Build| {
            let (both, one) = (g.and(*x, *y), g.xor(*x, *y));
            if name == "and" { both } else { g.xor(both, one) }
        };
        let out: Vec<_> = x.iter().zip(&y).map(|pair| gate(pair, &mut g)).collect();
        g.output(&out);
        Ok(Arc::new(g.finish()))
    };
    let mut body = String::from(
        "divisi program 1\ninput x 1 num 6 in -90..90\ninput y 2 num 6 in -90..90\ninput z 2 num 6 in 0..5\n\
         input a 1 bits 4 6\ninput b 2 bits 4 6\np = reshape x 2x3\nq = reshape x 3x2\nc = lt z 3\n\
         k = const 6 7 1 8 2 8 1\nl = const 6 8 2 8 1 8 2\n",
    );
    // what follows has numbers beyond 255
    body.push_str("n0 = add x 1\n");
    (1..300).for_each(|i| body.push_str(&format!("n{i} = add n{} y\n", i - 1)));
    body.push_str("output n299 1\n");
    for (i, pair) in PAIRS.iter().enumerate() {
        for (j, statement) in pair.iter().enumerate() {
            // one of two results
            body.push_str(&format!("r{i}x{j} = {statement}\noutput r{i}x{j} 1,2\n"));
        }
    }
    let program = text::read(&body, &find).unwrap();
    let words = |of: &dyn Fn(u32) -> u32| {
        Entries::Bits((0..6).map(|i| (0..4).map(|bit| of(i) >> bit & 1 == 1).collect()).collect())
    };
    let inputs = [
        Entries::Num(vec![-90, 7, 8, 81, -3, 90]),
        Entries::Num(vec![5, 7, -9, 80, -2, 90]),
        Entries::Num(vec![5, 0, 4, 1, 2, 3]),
        words(&|i| 5 * i + 2),
        words(&|i| 3 * i + 1),
    ];
    compare(2, &program, &inputs);
}

/// Of numbers whose ranges end at powers of two, or beside them, the size and the negative are right at the
/// ends, as numbers and in bits.
#[test]
fn sizes_and_negatives_at_the_ends_of_ranges() {
    let (mut body, mut inputs) = (String::from("divisi program 1\n"), Vec::new());
    for (i, power) in [1_i64, 8, 1 << 12].into_iter().enumerate() {
        for (j, [low, high]) in
            [[-power, power - 1], [1 - power, power], [-power, power]].into_iter().enumerate()
        {
            let (n, width) = (format!("{i}x{j}"), power.ilog2() + 1);
            body.push_str(&format!(
                "input x{n} 1 num 4 in {low}..{high}\ninput k{n} 1 bits 1 4\ns{n} = lt x{n} 0\nm{n} = neg x{n}\n\
                 a{n} = select s{n} m{n} x{n}\nb{n} = bits a{n} {width}\nc{n} = select s{n} x{n} m{n}\n\
                 d{n} = shift c{n} -1\ne{n} = lt c{n} a{n}\nf{n} = select k{n} m{n} x{n}\ng{n} = shift f{n} -1\n\
                 output a{n} 1\noutput b{n} 1\noutput c{n} 2\noutput d{n} 2\noutput e{n} 2\noutput f{n} 1\n\
                 output g{n} 2\n"
            ));
            inputs.push(Entries::Num(vec![low, high, 0, low + 1]));
            inputs.push(Entries::Bits(vec![vec![true]; 4]));
        }
    }
    let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
    assert!(lower(&program).is_some());
    compare(2, &program, &inputs);
}

/// Long lists that only differ in their last places are others.
#[test]
fn long_lists_that_differ_late_differ() {
    const LANES: usize = 300;
    let list = |at: Option<usize>| {
        let value = |i| if at == Some(i) { 2 } else { 1 };
        (0..LANES).map(|i| value(i).to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut body = format!("divisi program 1\ninput x 1 num {LANES} in -9..9\ninput a 2 bits 3 {LANES}\n");
    for (i, at) in [None, Some(0), Some(255), Some(256), Some(LANES - 1)].into_iter().enumerate() {
        let list = list(at);
        body.push_str(&format!(
            "k{i} = const {LANES} {list}\nw{i} = const bits 3 {LANES} {list}\ng{i} = gather x {list}\n\
             h{i} = gather a {list}\nm{i} = mul x k{i}\ns{i} = add x k{i}\nv{i} = xor a w{i}\n"
        ));
        for name in ["k", "w", "g", "h", "m", "s", "v"] {
            body.push_str(&format!("output {name}{i} 1,2\n"));
        }
    }
    let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
    let numbers = (0..LANES as i64).map(|i| i % 19 - 9).collect();
    let words = (0..LANES).map(|i| (0..3).map(|bit| i >> bit & 1 == 1).collect()).collect();
    compare(2, &program, &[Entries::Num(numbers), Entries::Bits(words)]);
}
