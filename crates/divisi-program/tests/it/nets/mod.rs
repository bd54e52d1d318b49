//! The nets over programs (docs/nets.md). The census of messages runs a whole program: inputs of each party,
//! every kind of statement, outputs to one, to some and to all. Whoever deviates may make results wrong;
//! nobody waits for ever, panics, or accepts a message of another length. Garbled circuits have their shapes
//! in divisi-mpgc.

mod draws;
mod worlds;

use crate::parties::{lattice, one};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::{Abort, Session};
use divisi_program::plain::Entries;
use divisi_program::{Code, Script, lower, text};

/// Chooses what default tests change.
const SEED: u64 = 1;
const PARTIES: usize = 3;

/// Numbers and bits of each party, unevenly, in two layers of each operation that sends something.
const BODY: &str = "divisi program 1
input x 1 num 3 in 0..7
input y 2 num 3 in 0..200
input z 3 num 1 in 1..9
input b 3 bits 4 3
input c 1 bits 4
product = mul x y
again = mul product z
less = lt x y
chosen = select less product x
table = const 8 5 1 7 0 3 2 6 4
found = lookup table x
best place = max chosen
digits = bits again 14
both = and b c
sum = add both b
number = num sum
part = div y z
output found 1
output again 2,3
output number 1,2,3
output both 3
output sum 1,2
output part 2
output digits 1
output best 3
output place 1
";

/// 130 numbers and words, looked up in tables of 256 and of 200 entries.
fn many() -> String {
    let table = |entries: u64| (0..entries).map(|i| format!(" {}", i * i % 251)).collect::<String>();
    format!(
        "divisi program 1
input x 1 num 130 in 0..255
input y 2 num 130 in 0..199
input b 3 bits 4 130
small = const 256{}
large = const 200{}
one = lookup small x
other = lookup large y
product = mul one other
both = and b b
output product 2
output one 1,3
output both 3
",
        table(256),
        table(200)
    )
}

fn play(
    session: Session,
    seed: u64,
    out: &mut ShapeOutcome,
    (program, code): &(Script, Code),
    inputs: impl Fn(u64) -> Vec<Entries>,
) -> Result<(), Abort> {
    let (ring, _) = lattice(session.parties());
    let (learned, _) = one(session, program, code, Some(&ring), &inputs(seed))?;
    for entries in &learned {
        let bytes = match entries {
            None => vec![0],
            Some(Entries::Num(numbers)) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Some(Entries::Bits(bits)) => bits.concat().into_iter().map(u8::from).collect(),
        };
        out.put("learned", bytes);
    }
    Ok(())
}

fn numbers(seed: u64, most: u64, count: u64) -> Entries {
    Entries::Num((0..count).map(|i| ((varied(seed, i * 5) + seed) % most) as i64).collect())
}

fn words(seed: u64, count: u64) -> Entries {
    let word = |i: u64| (0..4).map(|bit| (varied(seed, i * 7) + seed) >> bit & 1 == 1).collect();
    Entries::Bits((0..count).map(word).collect())
}

/// Steps with which no shape sends anything.
const SILENT: &[(&str, &str)] = &[];

fn net() -> MessageNet<'static> {
    let shape = |name, parties, body: &str, inputs: fn(u64) -> Vec<Entries>| {
        let program = text::read(body, &|name| Err(name.to_owned())).unwrap();
        let code = lower(&program).unwrap();
        let both = (program, code);
        let run =
            move |session: Session, seed, out: &mut ShapeOutcome| play(session, seed, out, &both, inputs);
        NetShape::new(name, parties, ShapeSecurity::Curious, run).agreeing(lattice(parties).1)
    };
    let kinds = |seed: u64| {
        let divisor = Entries::Num(vec![1 + (seed % 9) as i64]);
        vec![numbers(seed, 8, 3), numbers(seed, 201, 3), divisor, words(seed, 3), words(seed, 1)]
    };
    let for_five = BODY
        .replace(" 1,2,3", " 1,2,3,4,5")
        .replace(" 2,3", " 2,4,5")
        .replace("output both 3", "output both 5");
    let lanes = |seed| vec![numbers(seed, 256, 130), numbers(seed, 200, 130), words(seed, 130)];
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: vec![shape("a program", PARTIES, BODY, kinds), shape("130 lanes", PARTIES, &many(), lanes)],
        crowds: vec![shape("a program", 5, &for_five, kinds)],
        silent: SILENT,
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    net().demand(Extent::sample(SEED, 1));
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
