//! What runs of statements cost, in rounds and conversions.

use crate::parties::compare;
use crate::statements::{bits, cost, num, online, read};
use divisi_program::lower;

/// A run takes the rounds that its cost says, and makes no preprocessing online. The meter may count a few
/// rounds less: an opening takes one round for the party that adds the shares, and two for the others.
#[test]
fn costs_are_those_of_the_run() {
    let program = read(
        "input x 1 num 6 in 0..9\n\
         input i 2 bits 3 6\n\
         table = const 8 1 2 3 4 5 6 7 8\n\
         t = lookup table i\n\
         s = mul x t\n\
         l = lt s 9\n\
         c = select l s x\n\
         best at = min c\n\
         q = div c 7\n\
         output best 1\noutput at 2\noutput q 1\noutput l 2\n",
    );
    let inputs = [num(&[1, 2, 3, 4, 5, 6]), bits(3, &[7, 6, 5, 4, 3, 2])];
    let cost = lower(&program).unwrap().cost();
    let online = online(&compare(2, &program, &inputs));
    assert!(online <= cost.rounds && cost.rounds <= online + 16, "{online} {cost:?}");
}

/// The number of groups of receivers does not add rounds: all outputs are sent before one is received.
#[test]
fn outputs_to_many_groups_take_one_round() {
    let mut body = String::from("input x 1 num 3 in -40000..40000\ninput b 2 bits 4 3\n");
    for (i, receivers) in ["1", "2", "3", "1,2", "2,3", "1,2,3"].iter().enumerate() {
        body.push_str(&format!("n{i} = add x {i}\nb{i} = xor b {i}\n"));
        body.push_str(&format!("output n{i} {receivers}\noutput b{i} {receivers}\n"));
    }
    for (more, rounds) in [("", 1), ("product = mul x x\noutput product 3\n", 3)] {
        let program = read(&format!("{body}{more}"));
        assert_eq!(lower(&program).unwrap().cost().rounds, rounds);
        let counts = compare(3, &program, &[num(&[5, -6, 1 << 15]), bits(4, &[0, 9, 15])]);
        assert_eq!(online(&counts), rounds);
    }
}

/// A number that is compared, shifted or converted to bits is converted once, whatever shape it has where it
/// is used.
#[test]
fn nothing_is_converted_twice() {
    let a2b = |body: &str| cost(body).a2b;
    // a divisor of one entry is converted before it is repeated
    let all = "input x 1 num 256 in -9..99\ninput y 2 num in 1..9\nq = div x y\nl = lt x y\nm = lt y 9\n\
               output q 1\noutput l 1\noutput m 1\n";
    assert_eq!(a2b(all), 257);
    // entries gathered from a number that is compared, too, whichever comes first
    let x = "input x 1 num 4 in 0..9\ng = gather x 0 1 2\n";
    assert_eq!(a2b(&format!("{x}l = lt g 5\nm = lt x 5\noutput l 1\noutput m 1\n")), 4);
    assert_eq!(a2b(&format!("{x}m = lt x 5\nl = lt g 5\noutput l 1\noutput m 1\n")), 4);
    assert_eq!(a2b(&format!("{x}l = lt g 5\noutput l 1\n")), 3);
    let twice = "input x 1 num 9 in -9..99\ng = gather x 0 1\nh = gather x 2 3\nl = lt g 5\nm = lt h 5\n";
    assert_eq!(a2b(&format!("{twice}output l 1\noutput m 1\n")), 4);
    // all 32 bits of a number are not its offset word
    let whole = "input x 1 num below 9\na = bits x 32\nb = bits x 32\nc = bits x 31\nl = lt x 5\n";
    assert_eq!(a2b(&format!("{whole}output a 1\noutput b 2\noutput c 2\noutput l 1\n")), 2);
    // a difference that has a name, and a comparison of its terms
    let named = "input x 1 num in 0..9\ninput y 2 num in 0..9\nd = sub x y\nl = lt d 0\nm = lt x y\n";
    assert_eq!(a2b(&format!("{named}output l 1\noutput m 1\n")), 1);
    // a bit that chooses in two statements is converted once
    // the size of a number, a quotient of it, and a place in a table that was chosen: all from its bits
    let size = "input x 1 num 3 in -9..5\nl = lt x 0\nn = neg x\ns = select l n x\nq = div s 2\n\
                c = lt q 3\np = select c q 3\nt = const 4 5 6 7 8\nf = lookup t p\n";
    assert_eq!(a2b(&format!("{size}output f 1\n")), 3);
    // a bound of one entry is converted before it is repeated
    let bound = "input x 1 num 9 in -9..99\ninput y 2 num in 1..9\nl = lt x 0\nm = lt x y\n";
    assert_eq!(a2b(&format!("{bound}output l 1\noutput m 1\n")), 10);
    let bit = "input x 1 num 3\ninput c 2 bits 1\na = select c x 5\nb = select c 5 x\n";
    let both = cost(&format!("{bit}output a 1\noutput b 1\n"));
    assert_eq!((both.b2a, both.products), (1, 6));
    for body in [all.replace("256", "5").as_str(), &format!("{twice}output l 1\noutput m 2\n")] {
        let x: Vec<i64> = (0..9).map(|i| i * 4 - 7).collect();
        let inputs = if body.contains("input y") { vec![num(&x[..5]), num(&[3])] } else { vec![num(&x)] };
        compare(2, &read(body), &inputs);
    }
}

/// Statements that do not wait for each other share rounds, also if they are of different kinds: B2A with
/// lookups, products with A2B.
#[test]
fn independent_statements_share_rounds() {
    let rounds = |body: &str| cost(body).rounds;
    let table = "input i 1 bits 2 3\ninput j 2 bits 3\ninput x 2 num 3 in -99..99\ninput t 1 num 4\n\
                 a = const 4 5 6 -7 8\nb = const 4 1 2 3 4\n";
    let one = "p = lookup a i\noutput p 1\n";
    let more = "q = lookup b i\nr = num i\ns = num j\noutput q 1\noutput r 2\noutput s 2,1\n";
    let private = "u = lookup t i\noutput u 2\n";
    assert_eq!(rounds(&format!("{table}{one}")), 3);
    assert_eq!(rounds(&format!("{table}{one}{more}")), 3);
    assert_eq!(rounds(&format!("{table}{private}")), 5);
    let all = format!("{table}{one}{more}{private}m = mul x x\nl = lt x 3\noutput m 1\noutput l 2\n");
    let less = rounds("input x 2 num 3 in 0..9\nl = lt x 3\noutput l 2\n");
    assert_eq!(rounds("input x 2 num 3 in 0..9\nm = mul x x\nl = lt x 3\noutput m 1\noutput l 2\n"), less);
    assert_eq!(rounds(&all), less + 4);
    let inputs = [bits(2, &[0, 1, 2]), bits(3, &[7]), num(&[-3, 3, 2]), num(&[9, 10, 11, 12])];
    for n in [2, 3] {
        let online = online(&compare(n, &read(&all), &inputs));
        assert!(online <= rounds(&all), "{online}");
    }
    // a quotient that is not needed before another waits for it
    let quotient = "input x 1 num in 1..30\ninput y 2 num in 1..810000\nq = div y x\n";
    let alone = rounds(&format!("{quotient}output q 1\n"));
    let later = "t = mul x x\nu = mul t t\nr = div u x\ns = add q r\noutput s 1\n";
    let both = rounds(&format!("{quotient}{later}"));
    assert!(both < alone + 20, "{alone} and {both}");
}
