//! The two worlds of what one party gives to a program and alone learns the results of; the others are
//! curious together.

use crate::parties::{lattice, one};
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::{Abort, Session};
use divisi_program::plain::Entries;
use divisi_program::{lower, text};

/// Products, comparisons, choices, tables, bits and back, quotients and a circuit.
const BODY: &str = "divisi program 1
input x 1 num 3 in 0..7
input y 2 num 3 in 0..200
product = mul x y
less = lt x y
chosen = select less product x
table = const 8 5 1 7 0 3 2 6 4
found = lookup table x
digits = bits chosen 11
half = shift digits -1
back = num half
part = div y 3
best place = max chosen
output found 1
output back 1
output part 1
output best 1
output place 1
";

fn play(session: Session, run: WorldRun) -> Result<Vec<u8>, Abort> {
    let program = text::read(BODY, &|name| Err(name.to_owned())).unwrap();
    let code = lower(&program).unwrap();
    let (ring, _) = lattice(session.parties());
    let secret = [[1, 7, 2], [5, 0, 3]][run.world].to_vec();
    let inputs = [Entries::Num(secret), Entries::Num(vec![200, 3, 77])];
    one(session, &program, &code, Some(&ring), &inputs)?;
    Ok(Vec::new())
}

#[test]
fn the_others_cannot_tell_two_worlds_apart() {
    let shape = WorldShape::new("everything", 2, &[2], play).agreeing(lattice(2).1);
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes: vec![shape] };
    assert_eq!(net.judge(), [] as [String; 0]);
}
