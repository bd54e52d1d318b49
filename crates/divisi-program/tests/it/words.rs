//! Statements on bits of any width among parties, against integers; constants of bits; the order of bytes of
//! circuits; inputs beyond their ranges in a run.

use crate::parties::{compare, shown, try_run};
use divisi_core::{Abort, Misuse};
use divisi_program::plain::{Entries, evaluate};
use divisi_program::{Script, Shape, ValueKind, lower, text};
use divisi_symmetric::gates::Adder;
use std::sync::Arc;

fn read(body: &str) -> Result<Script, String> {
    let find = |name: &str| {
        let circuit =
            divisi_engine::circuit::load(name, Adder::FewestAnds).map_err(|failure| failure.to_string())?;
        Ok(Arc::new(circuit.program))
    };
    text::read(&format!("divisi program 1\n{body}"), &find)
}

fn word(width: usize, number: u128) -> Vec<bool> {
    (0..width).map(|i| i < 128 && number >> i & 1 == 1).collect()
}

fn words(width: usize, numbers: &[u128]) -> Entries {
    Entries::Bits(numbers.iter().map(|number| word(width, *number)).collect())
}

/// Runs a program in the clear and among two, and returns the outputs.
fn outputs(body: &str, inputs: &[Entries]) -> Vec<Entries> {
    let program = read(body).unwrap_or_else(|error| panic!("{error}\n{body}"));
    compare(2, &program, inputs);
    evaluate(&program, inputs).unwrap()
}

#[test]
fn words_are_cut_and_joined() {
    let x = [0x1234_5678_9abc_def0_1122_u128, u128::MAX >> 48];
    let found = outputs(
        "input x 1 bits 80 2\n\
         input y 2 bits 5\n\
         low = slice x 0 16\n\
         some = slice x 13 50\n\
         all = slice x 0 80\n\
         top = slice x 79 1\n\
         both = concat y low y\n\
         wide = widen x 200\n\
         same = widen y 5\n\
         ones = popcount x\n\
         more = popcount wide\n\
         one = popcount top\n\
         far = widen x 300\n\
         near = slice far 0 44\n\
         output low 1\noutput some 1\noutput all 1\noutput top 2\noutput both 2\noutput wide 1\noutput same 1\n\
         output ones 1\noutput more 1\noutput one 1\noutput near 2\n",
        &[words(80, &x), words(5, &[19])],
    );
    let of = |width, f: &dyn Fn(u128) -> u128| words(width, &x.map(f));
    let expected = [
        of(16, &|x| x & 0xffff),
        of(50, &|x| x >> 13 & ((1 << 50) - 1)),
        of(80, &|x| x),
        of(1, &|x| x >> 79),
        of(26, &|x| 19 | (x & 0xffff) << 5 | 19 << 21),
        of(200, &|x| x),
        words(5, &[19]),
        of(7, &|x| x.count_ones().into()),
        of(8, &|x| x.count_ones().into()),
        of(1, &|x| x >> 79),
        of(44, &|x| x & ((1 << 44) - 1)),
    ];
    assert!(found.iter().zip(&expected).all(|(found, expected)| shown(found) == shown(expected)));
    assert_eq!(found.len(), expected.len());
}

/// Bits in another order are another word, wherever the order differs; and what is below a constant whose
/// low bits are zero is not what is negative.
#[test]
fn words_in_another_order_and_round_numbers_are_not_mistaken() {
    let x = 0b0110_0010;
    let found = outputs(
        "input x 1 bits 8\ninput n 2 num 3 in -999..999\n\
         a = slice x 0 1\nb = slice x 1 3\nc = slice x 4 4\ny = concat a c b\n\
         d = slice x 0 6\ne = slice x 6 1\nf = slice x 7 1\nz = concat d f e\n\
         l = lt n 256\nm = lt n 0\noutput y 1\noutput z 1\noutput l 1\noutput m 1\n",
        &[words(8, &[x]), Entries::Num(vec![-3, 5, 300])],
    );
    let expected =
        [words(8, &[0b0010_1100]), words(8, &[0b1010_0010]), words(1, &[1, 1, 0]), words(1, &[1, 0, 0])];
    assert!(found.iter().map(shown).eq(expected.iter().map(shown)), "{found:?}");
}

/// Sums over rows of every length up to eight, and products, modulo 2^W. They wrap.
#[test]
fn words_are_added_and_multiplied() {
    for (side, width) in [(1, 9), (2, 9), (3, 64), (4, 9), (5, 9), (6, 1), (7, 64), (8, 33)] {
        let numbers: Vec<u128> = (0..3 * side)
            .map(|i| ((i as u128 + 3).pow(9) * 0x9e37_79b9_7f4a_7c15) & ((1 << width) - 1))
            .collect();
        let found = outputs(
            &format!(
                "input x 1 bits {width} 3x{side}\nz = sum x\ny = mul x x\nw = mul x 1\noutput z 1\noutput y 2\noutput w 1\n"
            ),
            &[words(width, &numbers)],
        );
        let mask = |x: u128| x & ((1 << width) - 1);
        let sums: Vec<u128> = numbers.chunks(side).map(|row| mask(row.iter().sum())).collect();
        let squares: Vec<u128> = numbers.iter().map(|x| mask(x.wrapping_mul(*x))).collect();
        assert!(
            found == [words(width, &sums), words(width, &squares), words(width, &numbers)],
            "{side} {width}"
        );
    }
}

/// A sum takes one round for each step from three words to two, and those of one adder.
#[test]
fn sums_of_words_take_few_rounds() {
    let cost = |side: usize| {
        let body = format!("input x 1 bits 16 {side}\nz = sum x\noutput z 1\n");
        lower(&read(&body).unwrap()).unwrap().cost()
    };
    let two = cost(2);
    assert_eq!([3, 4, 6, 9, 13, 19, 28].map(|side| cost(side).rounds - two.rounds), [1, 2, 3, 4, 5, 6, 7]);
    // all but two words are reduced away, each by an AND for every bit that has a carry
    assert_eq!(cost(28).ands - two.ands, 26 * 15);
}

#[test]
fn constants_have_any_width_and_notation() {
    let digits = "0x0123456789abcdef0123456789abcdef0123456789ABCDEF";
    let body = format!(
        "input x 1 bits 192\n\
         k = const bits 192 1x3 {digits} 0xff 340282366920938463463374607431768211455\n\
         one = const bits 70 1 0x200000000000000001\n\
         y = xor x k\n\
         z = xor x {digits}\n\
         e = eq z 0\n\
         low = slice z 0 70\n\
         s = and low one\n\
         t = const 1x3 0x10 -0x10 7\n\
         n = num e\n\
         m = mul t n\n\
         output y 1\noutput e 1\noutput s 1\noutput m 1\n"
    );
    let whole: Vec<bool> = digits[2..]
        .chars()
        .rev()
        .flat_map(|c| (0..4).map(move |i| c.to_digit(16).unwrap() >> i & 1 == 1))
        .collect();
    let inverse =
        |word: &[bool], other: &[bool]| word.iter().zip(other).map(|(x, y)| x ^ y).collect::<Vec<bool>>();
    let found = outputs(&body, &[Entries::Bits(vec![whole.clone()])]);
    let others =
        [vec![false; 192], inverse(&whole, &word(192, 0xff)), inverse(&whole, &word(192, u128::MAX))];
    assert!(found[0] == Entries::Bits(others.to_vec()));
    assert!(found[1..] == [words(1, &[1]), words(70, &[0]), Entries::Num(vec![16, -16, 7])]);
    // of several words that differ all bits are in the program
    let all = [0x3f_0123_4567_89ab_cdef, 0x15_fedc_ba98_7654_3210, 0x20_0000_0000_0000_0100_u128];
    let text: Vec<String> = all.iter().map(|word| format!("{word:#x}")).collect();
    let body =
        format!("input x 1 bits 70 3\nk = const bits 70 3 {}\ny = xor x k\noutput y 1\n", text.join(" "));
    assert!(outputs(&body, &[words(70, &[0; 3])]) == [words(70, &all)]);
    // one after the other, in more nodes than a byte can count
    let mut body = "input x 1 bits 9 2\ny0 = xor x 0\n".to_owned();
    for i in 1..=300 {
        body += &format!("k{i} = const bits 9 2 {i} {}\ny{i} = xor y{} k{i}\n", 511 - i, i - 1);
    }
    let sum = |word: fn(u128) -> u128| (1..=300).map(word).fold(0, |sum, word| sum ^ word);
    let all = [sum(|i| i), sum(|i| 511 - i)];
    assert!(outputs(&(body + "output y300 1\n"), &[words(9, &[0; 2])]) == [words(9, &all)]);
}

/// The first byte of a text or key of AES is the highest of its word, as the standard writes them in digits.
#[test]
fn bytes_of_circuits_are_in_the_order_of_digits() {
    let body = "input key 1 bits 128\n\
                input first 2 bits 8\n\
                input rest 2 bits 120\n\
                block = concat rest first\n\
                c = circuit aes128 key block\n\
                head = slice c 120 8\n\
                tail = slice c 0 8\n\
                output head 1\noutput tail 1\n";
    let key = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
    let inputs = [words(128, &[key]), words(8, &[0]), words(120, &[0x11_2233_4455_6677_8899_aabb_ccdd_eeff])];
    // 69c4e0d86a7b0430d8cdb78070b4c55a
    assert!(outputs(body, &inputs) == [words(8, &[0x69]), words(8, &[0x5a])]);
}

/// Words that are wider than a number become numbers if their ranges say that they are small enough.
#[test]
fn wide_words_of_small_numbers_become_numbers() {
    for head in ["", "numbers 61\n"] {
        let body = format!(
            "{head}input x 1 bits 64 2 in 0..1610612736\ninput y 2 bits 200 2\nassume y in 5..1000000\n\
             n = num x\nm = num y\nl = lt m 77\noutput n 1\noutput m 1,2\noutput l 2\n"
        );
        let inputs = [words(64, &[1_610_612_736, 3]), words(200, &[5, 1_000_000])];
        let found = outputs(&body, &inputs);
        let numbers = [[1_610_612_736, 3], [5, 1_000_000]].map(|numbers| Entries::Num(numbers.to_vec()));
        assert!(found == [&numbers[..], &[words(1, &[1, 0])]].concat(), "{head}");
    }
}

/// Whatever is done to words of any width, each result is in the range that the program derives for it; an
/// interval that ends at the largest number of 128 bits stands for all larger ones, too.
#[test]
fn words_are_within_their_ranges() {
    let mut state = 7_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..40 {
        let mut script = Script::new();
        let (mut all, mut inputs) = (Vec::new(), Vec::new());
        for (i, width) in [4, 64, 126, 127, 128, 200].into_iter().enumerate() {
            let low = below(9) as i64;
            let high = low + below(7) as i64;
            let bits = ValueKind::Bits(width);
            all.push(script.input_in(&format!("x{i}"), 1, bits, Shape::one(), [low, high]).unwrap());
            inputs.push(words(width, &[[low, high][below(2)] as u128]));
        }
        for _ in 0..60 {
            let (x, y) = (all[below(all.len())].clone(), all[below(all.len())].clone());
            let ValueKind::Bits(width) = x.kind() else { continue };
            let far = below(2 * width + 1) as i64 - width as i64;
            let made = match below(12) {
                0 => script.add(&x, &y),
                1 => script.sub(&x, &y),
                2 if width <= 200 => script.mul(&x, &y),
                3 => script.and(&x, &y),
                4 => script.or(&x, &y),
                5 => script.xor(&x, &y),
                6 | 7 => script.not(&x),
                8 => script.shift(&x, far),
                9 => script.concat(&[&x, &y, &x]),
                10 => script.popcount(&x),
                11 => script.lt(&x, &y).and_then(|less| script.select(&less, &x, &y)),
                _ => script.widen(&x, width + 130),
            };
            // words of two widths do not fit
            let Ok(made) = made else { continue };
            let ValueKind::Bits(width) = made.kind() else { continue };
            let from = below(width);
            all.extend(script.slice(&made, from, (width - from).min(1 + below(140))));
            all.push(made);
        }
        for (i, value) in all.iter().enumerate() {
            script.output(&format!("z{i}"), value, &[1]).unwrap();
        }
        for (value, entries) in all.iter().zip(evaluate(&script, &inputs).unwrap()) {
            let range = script.range(value);
            let Entries::Bits(found) = &entries else { panic!("no bits") };
            for word in found {
                let high = word.iter().rposition(|bit| *bit).map_or(0, |at| at + 1);
                let low = word.iter().take(127).rev().fold(0, |n, bit| n << 1 | i128::from(*bit));
                let is = if high > 127 { i128::MAX } else { low };
                assert!(range.contains(is), "{} bits: {is} is not in {range}", word.len());
            }
        }
    }
}

/// A run shares no value that is beyond its range, whoever calls it.
#[test]
fn values_beyond_their_ranges_are_not_shared() {
    let body = "input x 1 num 2 in -5..5\ninput b 2 bits 4 in 3..9\noutput x 1\noutput b 2\n";
    let program = read(body).unwrap();
    let num = |x: i64| Entries::Num(vec![0, x]);
    compare(2, &program, &[num(-5), words(4, &[9])]);
    for (x, b) in [(6, 9), (-6, 9), (5, 10), (5, 2)] {
        let aborted = try_run(2, &program, &[num(x), words(4, &[b])]).unwrap_err();
        assert!(matches!(aborted, Abort::Misuse { what: Misuse::OutOfRange, .. }), "{x} {b}: {aborted}");
    }
}

/// A run shares no word of another width, wherever it stands.
#[test]
fn words_of_another_width_are_not_shared() {
    let program = read("input b 1 bits 4 3 in 0..9\noutput b 2\n").unwrap();
    for widths in [[3, 4, 4], [4, 3, 4], [4, 4, 5]] {
        let wrong = Entries::Bits(widths.iter().map(|width| word(*width, 3)).collect());
        let aborted = try_run(2, &program, &[wrong]).unwrap_err();
        assert!(
            matches!(aborted, Abort::Misuse { what: Misuse::LengthDiffers, .. }),
            "{widths:?}: {aborted}"
        );
    }
}

#[test]
fn statements_on_bits_that_do_not_stand_are_refused() {
    let refused = |body: &str, what: &str| {
        let error = read(body).err().unwrap_or_default();
        assert!(error.starts_with(what) && error.len() < 300 && !error.contains('\n'), "{body:?}: {error:?}");
    };
    let x = "input x 1 bits 8 3\ninput n 1 num\n";
    let line = |statement: &str| format!("{x}y = {statement}\n");
    for op in ["slice n 0 1", "concat n x", "widen n 40", "popcount n"] {
        let name = op.split(' ').next().unwrap();
        refused(&line(op), &format!("line 4: {name} takes bits, and this is num 1: convert it with `bits`"));
    }
    for op in ["slice 3 0 1", "concat 3 x", "widen 3 40", "popcount 3", "num 3", "not 3"] {
        refused(&line(op), "line 4: the width of 3 is unknown: name it by `const bits W`");
    }
    refused(&line("slice x 0 9"), "line 4: 9 bits from bit 0 on: the word has the bits 0 to 7");
    refused(&line("slice x 8 1"), "line 4: 1 bits from bit 8 on: the word has the bits 0 to 7");
    refused(&line("slice x 18446744073709551615 2"), "line 4: 2 bits from bit 18446744073709551615 on");
    refused(&line("slice x 3 0"), "line 4: a value of 0 bits: it has 1 to 65536");
    refused(&line("slice x 3"), "line 4: slice takes a name, the lowest bit, from 0, and how many bits");
    refused(&line("slice x -1 3"), "line 4: slice takes a name");
    refused(&line("widen x 7"), "line 4: widen to 7 bits: the word has 8, of which `slice` takes some");
    refused(&line("widen x 65537"), "line 4: a value of 65537 bits: it has 1 to 65536");
    refused(&line("widen x -7"), "line 4: a value of -7 bits: it has 1 to 65536");
    refused(&line("widen x"), "line 4: widen takes a name and an integer");
    refused(&line("concat"), "line 4: a value of 0 bits");
    refused(&line("concat x 5"), "line 4: the width of 5 is unknown: name it by `const bits W`");
    refused("input x 1 bits 40000\ny = concat x x\n", "line 3: 80000 bits in all: a word has at most 65536");
    refused(
        "input x 1 bits 4 2\ninput z 1 bits 4 3\ny = concat x z\n",
        "line 4: the shapes 2 and 3 do not fit",
    );
    refused(
        "input x 1 bits 513\ny = mul x x\n",
        "line 3: words of 513 bits are too wide for mul, which takes up to 512",
    );
    refused("input x 1 bits 512 600\ny = mul x x\n", "line 3: the program has more than");
    refused(
        "input x 1 bits 9\ninput z 1 bits 8\ny = mul x z\n",
        "line 4: words of 9 and of 8 bits do not fit: both must",
    );
    refused("k = const bits 8 2 255 256\n", "line 2: 256 is no number of 8 bits: give decimal digits, or 0x");
    refused("k = const bits 8 2 255 -1\n", "line 2: -1 is no number of 8 bits");
    refused("k = const bits 8 2 255\n", "line 2: 1 numbers are given, and the shape 2 has 2 entries");
    refused(
        "k = const bits 8\n",
        "line 2: const takes a shape and its numbers, as `const 1x3 1 2 3`, or for bits",
    );
    refused("k = const bits 0 1 0\n", "line 2: a value of 0 bits");
    refused("k = const bits x 1 0\n", "line 2: x is not a width");
    refused("k = const bits 65536 16777216\n", "line 2: 0 numbers are given");
    let many = format!("k = const bits 65536 65{}\n", " 0".repeat(65));
    refused(&many, "line 2: a constant of more than 4194304 bits in all: make several");
    refused("k = const\n", "line 2: const takes a shape and its numbers");
    refused("k = const 1 0xffffffff\n", "line 2: 4294967295 is beyond p/2");
    refused("input x 1 bits 8\ny = xor x 0x100\n", "line 3: 256 is no number of 8 bits");
    refused("input x 1 bits 8\ny = xor x -1\n", "line 3: -1 is no number of 8 bits");
    read("input x 1 bits 70\ny = xor x 1180591620717411303423\noutput y 1\n").unwrap();
    refused(
        "input x 1 bits 70\ny = xor x 1180591620717411303424\n",
        "line 3: an integer of more than 64 bits is no number of 70 bits",
    );
    refused("y = xor 1 2\n", "line 2: xor of two integers: name one by `const bits W`");
    refused("input x 1 bits 100\ny = xor x 0x1g\n", "line 3: 0x1g is not an integer: give decimal digits");
    refused(
        "input x 1 num\ny = bits x 64\n",
        "line 3: a number has 1 to 32 bits, and 64 are asked for: `widen` makes",
    );
}

/// The programs of docs/programs.md are accepted.
#[test]
fn the_programs_of_the_page_are_right() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/programs.md");
    let page = std::fs::read_to_string(page).unwrap();
    let programs: Vec<&str> = page.split("```text\ndivisi program 1\n").skip(1).collect();
    assert_eq!(programs.len(), 3);
    for program in programs {
        let body = program.split("```").next().unwrap();
        assert!(read(body).is_ok(), "{}\n{body}", read(body).err().unwrap_or_default());
    }
}

/// Words of more bits, and lookups in more tables, than a byte counts.
#[test]
fn more_bits_and_tables_than_a_byte_counts() {
    let tables: String = (0..2 * 257).map(|entry| format!(" {}", 3 * entry)).collect();
    let [x, y] = [5, 11].map(|by| Entries::Bits(vec![(0..300).map(|i| i * by % 7 < 3).collect()]));
    let index = words(1, &(0..257).map(|i| i % 3 % 2).collect::<Vec<_>>());
    let found = outputs(
        &format!(
            "input x 1 bits 300\ninput y 2 bits 300\ninput i 2 bits 1 257\n\
             z = xor x y\nless = lt x y\nt = const 257x2{tables}\nfound = lookup t i\n\
             output x 2\noutput z 1\noutput less 2\noutput found 1\n"
        ),
        &[x.clone(), y, index],
    );
    assert!(found[0] == x);
    assert_eq!(found[3], Entries::Num((0..257).map(|i| 3 * (2 * i + i % 3 % 2)).collect()));
}
