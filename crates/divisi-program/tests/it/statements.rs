//! Every statement among parties, compared with the evaluation in the clear.

use crate::parties::compare;
use divisi_circuit::{Build, Gates, Program as Circuit};
use divisi_core::Counts;
use divisi_program::plain::Entries;
use divisi_program::{RunCost, Script, lower, text};
use std::sync::Arc;

/// A sum of four bits with its carry, and nothing else.
pub fn circuits(name: &str) -> Result<Arc<Circuit>, String> {
    let mut g = Build::new();
    // negations alone, which are not garbled
    if name == "not" {
        let x = g.input(4);
        let out: Vec<_> = x.iter().map(|x| g.not(*x)).collect();
        g.output(&out);
        return Ok(Arc::new(g.finish()));
    }
    if name != "half" {
        return Err(format!("there is no circuit {name}"));
    }
    let (x, y) = (g.input(4), g.input(4));
    let sums: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.xor(*x, *y)).collect();
    let products: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    // outputs of four bits and of two
    let mut g2 = g;
    g2.output(&sums);
    g2.output(&products[..2]);
    Ok(Arc::new(g2.finish()))
}

pub fn read(body: &str) -> Script {
    text::read(&format!("divisi program 1\n{body}"), &circuits).unwrap()
}

pub fn num(numbers: &[i64]) -> Entries {
    Entries::Num(numbers.to_vec())
}

pub fn bits(width: usize, words: &[u64]) -> Entries {
    Entries::Bits(words.iter().map(|word| (0..width).map(|i| word >> i & 1 == 1).collect()).collect())
}

/// The most rounds that a party took with the inputs.
pub fn online(counts: &[Counts]) -> usize {
    counts.iter().map(|counts| counts.phases["online"].rounds as usize).max().unwrap()
}

pub fn cost(body: &str) -> RunCost {
    lower(&read(body)).unwrap().cost()
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let body = "divisi program 1\ninput x 1 num\noutput x 1\n";
    assert!(text::read(&format!("\u{feff}{body}"), &circuits).is_ok());
    assert!(text::read(&format!("\u{feff}\u{feff}{body}"), &circuits).is_err());
}

#[test]
fn a_circuit_is_found_once() {
    let found = std::cell::Cell::new(0);
    let count = |name: &str| {
        found.set(found.get() + 1);
        circuits(name)
    };
    let body = "divisi program 1\ninput x 1 bits 4\ny = circuit not x\nz = garbled not y\nw = circuit not z\n\
                a b = circuit half w x\nc d = circuit half a x\noutput c 1\n";
    text::read(body, &count).unwrap();
    assert_eq!(found.get(), 2);
}

#[test]
fn statements_on_numbers() {
    let program = read(
        "input x 1 num 8 in -20000..20000\n\
         input y 2 num 8 in -20000..20000\n\
         s = add x y\n\
         d = sub x 3\n\
         n = neg y\n\
         m = mul x y\n\
         t = mul x -2\n\
         matrix = reshape x 2x4\n\
         rows = sum matrix\n\
         other = reshape y 4x2\n\
         product = matmul matrix other\n\
         few = gather x 7 0 3\n\
         a = const 1x3 1 -2 3\n\
         b = mul a few\n\
         output s 1\noutput d 1,2\noutput n 2\noutput m 1\noutput t 1\noutput rows 2\noutput product 1\noutput b 1\n",
    );
    let x = [0, 1, -1, 5, -7, 20_000, -20_000, 1 << 12];
    compare(2, &program, &[num(&x), num(&[3, -4, 20_000, -20_000, 0, 2, -1, 77])]);
}

#[test]
fn comparisons_shifts_and_quotients() {
    let program = read(
        "input x 1 num 8\n\
         input y 2 num 8\n\
         input z 2 num 8 in 1..1048577\n\
         half = div x 2\n\
         other = div y 2\n\
         l = lt half other\n\
         le = le half other\n\
         e = eq half other\n\
         small = lt x 5\n\
         same = eq x -7\n\
         c = select l x y\n\
         down = shift x -3\n\
         all = shift x -30\n\
         up = shift z 4\n\
         q = div x z\n\
         third = div y 3\n\
         fourth = div q 4\n\
         again = lt fourth third\n\
         output half 1\noutput l 1\noutput le 1\noutput e 1\noutput small 2\noutput same 2\noutput c 1\n\
         output down 1\noutput all 1\noutput up 1\noutput q 1\noutput third 1\noutput again 1\n",
    );
    let x = [0, 1, -1, 5, -7, (1 << 30) - 1, 1 - (1 << 30), 1 << 20];
    let y = [0, -1, 1, 5, 7, 1 - (1 << 30), (1 << 30) - 1, (1 << 20) - 1];
    compare(3, &program, &[num(&x), num(&y), num(&[1, 2, 3, 7, 2, 1 << 10, 999, (1 << 20) + 1])]);
}

#[test]
fn statements_on_bits() {
    let program = read(
        "input x 1 bits 7 4\n\
         input y 2 bits 7 4\n\
         s = add x y\n\
         d = sub x y\n\
         n = neg x\n\
         l = lt x y\n\
         le = le x 77\n\
         e = eq x y\n\
         c = select e x 3\n\
         o = xor x y\n\
         a = and x y\n\
         r = or x 96\n\
         t = not x\n\
         up = shift x 2\n\
         down = shift x -6\n\
         number = num x\n\
         back = bits number 5\n\
         more = add number 1\n\
         full = bits more 31\n\
         best place = max x\n\
         one = reshape y 1x4\n\
         least = min one\n\
         output s 1\noutput d 1\noutput n 1\noutput l 1\noutput le 1\noutput e 1\noutput c 1\noutput o 1\n\
         output a 1\noutput r 1\noutput t 1\noutput up 1\noutput down 1\noutput number 1\noutput back 1\n\
         output full 2\noutput best 1\noutput place 1,2\noutput least 2\n",
    );
    compare(2, &program, &[bits(7, &[0, 77, 127, 64]), bits(7, &[127, 77, 1, 65])]);
}

#[test]
fn the_best_of_rows_and_its_first_place() {
    for side in [1, 2, 3, 5, 8] {
        let program = read(&format!(
            "input x 1 num 3x{side} in -9..1073741814\n\
             least at = min x\n\
             most there = max x\n\
             both = add at there\n\
             near = lt least most\n\
             output least 1\noutput at 1\noutput most 2\noutput there 2\noutput both 1\noutput near 1\n"
        ));
        let x: Vec<i64> =
            (0..3 * side).map(|i| [4, -9, 4, 0, -9, (1 << 30) - 10][(i * i + i / 3) as usize % 6]).collect();
        compare(2, &program, &[num(&x)]);
    }
}

/// Every kind of statement after three hundred others: their values have large numbers in the program.
#[test]
fn statements_far_into_a_program_are_right() {
    let many: String = (0..300).map(|i| format!("a{i} = add x {i}\nb{i} = eq a{i} 7\n")).collect();
    let program = read(&format!(
        "input x 1 num 2x3 in -99..99\ninput w 2 bits 9 3\ninput t 2 num 1x4\ninput i 1 num 3 in 0..3\n{many}\
         best place = max a299\ncount least = min a7\nl = lt x 5\nc = select b7 x a1\nd = div a250 7\n\
         r = shift a255 -3\nb = bits i 32\nm = mul a3 a256\nf = lookup t i\ng = gather a9 5 0 1\ns = sum x\n\
         h = mul w w\nn = num h\nv = popcount w\nq = add w 200\nz = shift q -2\n\
         output best 1\noutput place 1\noutput count 1\noutput least 1\noutput l 1\noutput c 2\n\
         output d 1\noutput r 1\noutput b 1\noutput m 1\noutput f 1\noutput g 1\noutput s 1\noutput n 1\n\
         output v 1\noutput z 1\n"
    ));
    let inputs = [num(&[3, -99, 7, 99, 0, 6]), bits(9, &[5, 0, 500]), num(&[9, -8, 7, 6]), num(&[3, 0, 1])];
    compare(2, &program, &inputs);
}

#[test]
fn lookups_in_tables_of_all_kinds() {
    let program = read(
        "input i 1 num 3 in 0..4\n\
         input j 2 bits 2 3\n\
         input t 2 num 1x5\n\
         input own 1 num 3x5\n\
         public = const 5 10 -20 30 -40 50\n\
         a = lookup public i\n\
         b = lookup t i\n\
         c = lookup own i\n\
         d = lookup public j\n\
         e = lookup t j\n\
         input k 2 num 4 in 0..8\n\
         more = const 9 1 2 4 8 16 32 64 128 256\n\
         f = lookup more k\n\
         each = const 3x3 1 -2 3 -4 5 -6 7 -8 9\n\
         input l 1 num 3 in 0..2\n\
         g = lookup each l\n\
         output g 2\noutput a 1\noutput b 1\noutput c 1\noutput d 1\noutput e 1\noutput f 1\n",
    );
    let own: Vec<i64> = (0..15).map(|i| i * i - 30).collect();
    let [k, l] = [num(&[8, 0, 5, 3]), num(&[2, 0, 1])];
    let own = num(&own);
    compare(2, &program, &[num(&[4, 0, 3]), bits(2, &[3, 0, 1]), num(&[7, 6, 5, 4, -3]), own, k, l]);
}

#[test]
fn circuits_on_many_entries() {
    let program = read(
        "input x 1 bits 4 3\n\
         input y 2 bits 4\n\
         low high = circuit half x y\n\
         with rest = circuit half 9 low\n\
         output low 1\noutput high 1\noutput with 2\n",
    );
    compare(3, &program, &[bits(4, &[3, 9, 15]), bits(4, &[10])]);
}

/// The example of the README, at its size.
#[test]
fn the_nearest_of_256_records() {
    let program = read(
        "input  query  1  num 1x4    in -9000..1000   # party 1's\n\
         input  base   2  num 256x4  below 501\n\
         diff       = sub base query\n\
         square     = mul diff diff\n\
         dist       = sum square\n\
         best place = min dist\n\
         near       = lt best 1000\n\
         shown      = select near place -1\n\
         output shown 1,3\n",
    );
    let base: Vec<i64> = (0..1024_i64).map(|i| i * i * 37 % 501).collect();
    for query in [[100, 7, 300, 2], [-9000, 0, 0, 0]] {
        compare(3, &program, &[num(&query), num(&base)]);
    }
    let cost = lower(&program).unwrap().cost();
    // 1,024 squares; 256 distances are converted to bits; the best one is compared as bits; one choice
    assert_eq!((cost.a2b, cost.products, cost.b2a, cost.lookups), (256, 1025, 2, 0));
}

/// Garbled circuits in the middle of a program: their inputs were computed, and their outputs are computed
/// with. Two circuits of one layer share rounds, and an integer and a side of 1 are repeated.
#[test]
fn garbled_circuits_in_the_middle_of_a_program() {
    let program = read(
        "input x 1 bits 4 3\n\
         input y 2 bits 4\n\
         input z 3 num 3 below 16\n\
         low = bits z 4\n\
         xy = and x y\n\
         s p = garbled half xy y\n\
         t q = garbled half xy 5\n\
         u = add s t\n\
         v w = garbled half u low\n\
         n = num w\n\
         m = mul n z\n\
         output s 1\noutput p 2\noutput q 1,3\noutput v 1\noutput m 2\n",
    );
    let cost = lower(&program).unwrap().cost();
    // four XORs, and the two ANDs whose results are used: three times, in three lanes each
    assert_eq!(cost.garbled, [54, 18]);
    for n in [3, 4] {
        let counts = compare(n, &program, &[bits(4, &[15, 6, 9]), bits(4, &[11]), num(&[3, 14, 0])]);
        let rounds = online(&counts);
        assert!(rounds <= cost.rounds, "{rounds} {cost:?}");
    }
}

/// A circuit of negations has no gate to be garbled, alone or beside one that has.
#[test]
fn circuits_without_gates_are_garbled_for_nothing() {
    let inputs = "input x 1 bits 4\ninput y 2 bits 4\n";
    for (more, gates) in [("", 0), ("s p = garbled half x y\noutput s 1\n", 6)] {
        let program = read(&format!("{inputs}n = garbled not x\noutput n 2\n{more}"));
        let cost = lower(&program).unwrap().cost();
        assert_eq!((cost.garbled[0], cost.needs_transfers(false)), (gates, gates > 0));
        compare(2, &program, &[bits(4, &[5]), bits(4, &[3])]);
    }
}

/// All quotients of small numbers, with as many entries as each form of a division has, and large ones.
#[test]
fn quotients_of_all_ranges() {
    let all = |x: std::ops::RangeInclusive<i64>, y: i64| -> Vec<[i64; 2]> {
        x.flat_map(|x| (1..=y).map(move |y| [x, y])).collect()
    };
    let ends = |x: i64, y: i64| vec![[x, y], [x - 1, y], [y - 1, y], [1 - y, y]];
    let most = (1 << 30) - 1;
    let mut cases = vec![all(0..=7, 3), all(-8..=7, 3), all(0..=15, 15), all(-9..=8, 15)];
    cases.extend(
        [(most, 1), (most, 3), (most, most), (1000, 999), (7, 7), (8, 7), (0, 12), (-6, 5)]
            .map(|(x, y)| ends(x, y)),
    );
    for pairs in cases {
        let [x, y] = [0, 1].map(|i| pairs.iter().map(|pair| pair[i]).collect::<Vec<i64>>());
        let range = |x: &[i64]| format!("{}..{}", x.iter().min().unwrap(), x.iter().max().unwrap());
        let lanes = pairs.len();
        let inputs =
            format!("input x 1 num {lanes} in {}\ninput y 2 num {lanes} in {}\n", range(&x), range(&y));
        let quotients: Vec<i64> = pairs.iter().map(|[x, y]| x.div_euclid(*y)).collect();
        let known = format!("q = div x y\nassume q in {}\noutput q 1\n", range(&quotients));
        for body in [format!("{inputs}q = div x y\noutput q 1\n"), format!("{inputs}{known}")] {
            compare(2, &read(&body), &[num(&x), num(&y)]);
        }
    }
    // what a quotient can be decides what it costs
    let cost = |body: &str| cost(&format!("input x 1 num 7 in 0..1000000\ninput y 2 num in 1..1000\n{body}"));
    let (whole, known) =
        (cost("q = div x y\noutput q 1\n"), cost("q = div x y\nassume q below 4\noutput q 1\n"));
    assert!(3 * known.ands < whole.ands && known.rounds + 40 < whole.rounds, "{known:?} {whole:?}");
    assert_eq!((whole.b2a_bits, known.b2a_bits), (7 * 20, 7 * 2));
}

/// `select` chooses between words where it can: negatives, bounds and constants, of both signs.
#[test]
fn words_are_chosen() {
    let program = read(
        "input x 1 num 8 in -1073741823..1073741823\n\
         input y 2 num in -5..1000\n\
         l = lt x 0\n\
         n = neg x\n\
         size = select l n x\n\
         other = select l x n\n\
         q = div size 3\n\
         near = lt size 100\n\
         far = le other -100\n\
         z = lt y 7\n\
         least = select z y 7\n\
         same = eq least 7\n\
         half = shift least -1\n\
         sum = add size 1\n\
         output size 1\noutput other 1\noutput q 2\noutput near 2\noutput far 1\noutput least 2\noutput same 1\n\
         output half 1\noutput sum 1\n",
    );
    let most = (1 << 30) - 1;
    for y in [-5, 6, 7, 1000] {
        compare(2, &program, &[num(&[0, 1, -1, 99, -100, 101, most, -most]), num(&[y])]);
    }
}

#[test]
fn integers_stand_for_any_argument() {
    let program = read(
        "t = const 4 5 6 7 8\n\
         a = lookup t 3\nb = bits 77 8\nc = shift 5 2\nd = sum 9\ne = reshape 4 1x1\nf = gather 6 0\n\
         g = select 1 a c\nh at = min 12\n\
         output a 1\noutput b 1\noutput c 1\noutput d 1\noutput e 1\noutput f 1\noutput g 2\noutput h 1\n",
    );
    compare(2, &program, &[]);
}

/// Divisors that are public, powers of two and others, alike and not.
#[test]
fn public_divisors_are_right() {
    for divisors in ["4 4 4", "4 8 4", "4 2 2", "3 3 3", "3 3 5", "1 1 1", "1073741823 1 7"] {
        let body = format!(
            "divisi program 1\ninput x 1 num 3 in -100..1000000\nd = const 3 {divisors}\nz = div x d\noutput z 1\n"
        );
        let program = text::read(&body, &|_| Err("there are no circuits".into())).unwrap();
        for x in [[-100, 999_999, 8], [7, -1, 1_000_000]] {
            compare(2, &program, &[Entries::Num(x.to_vec())]);
        }
    }
}

/// All statements on more than 256 entries, and behind more than 256 other statements.
#[test]
fn long_lists_are_right() {
    let others: String = (0..300).map(|i| format!("o{i} = add x {i}\noutput o{i} 1\n")).collect();
    let head = "divisi program 1\ninput x 1 num 300 in -500..500\ninput y 2 num 300 in 1..9\n\
                input b 2 bits 5 300\nadded = add x y\nproduct = mul added x\nless = lt x y\n\
                chosen = select less product y\nnegative = neg chosen\nby = div negative 3\nq = div x y\n\
                third = div y 3\noutput third 1\n\
                half = shift added -1\nlow = bits y 4\nwords = xor low 5\nback = num words\n\
                t = const 16 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225\nfound = lookup t words\n\
                wider = concat b low\ncut = slice wider 3 5\nnumbers = num cut\nfew = gather found 299 0 257\n\
                total = sum numbers\noutput by 1\noutput q 2\noutput half 1\noutput back 2\noutput few 1\n\
                output total 2\n";
    let (first, rest) = head.split_at(head.find("added").unwrap());
    let body = [first, &others, rest].concat();
    let program = text::read(&body, &|_| Err("there are no circuits".into())).unwrap();
    let x = (0..300).map(|i| (i * 37) % 1001 - 500).collect();
    let y = (0..300).map(|i| i % 9 + 1).collect();
    let b = (0..300).map(|i| (0..5).map(|at| (i * 7) >> at & 1 == 1).collect()).collect();
    compare(2, &program, &[Entries::Num(x), Entries::Num(y), Entries::Bits(b)]);
}
