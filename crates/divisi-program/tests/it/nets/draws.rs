//! The census of what programs draw.

use crate::parties::{lattice, one};
use divisi_core::testing::nets::draws::{DrawNet, DrawShape};
use divisi_core::testing::nets::parts::PartNet;
use divisi_core::{Abort, Session};
use divisi_program::plain::Entries;
use divisi_program::{lower, purposes, text};

/// Products of numbers of each party, which both learn.
fn products(session: Session) -> Result<Vec<u8>, Abort> {
    let body = "divisi program 1\n\
                input x 1 num 70 in 0..99\n\
                input y 2 num 70 in 0..99\n\
                input z 1 num 3\n\
                p = mul x y\n\
                output p 1,2\n\
                output z 2\n";
    let program = text::read(body, &|name| Err(name.to_owned())).unwrap();
    let code = lower(&program).unwrap();
    let (ring, _) = lattice(session.parties());
    let entries = |count| Entries::Num((0..count).collect());
    let inputs = [entries(70), entries(70), entries(3)];
    let (learned, _) = one(session, &program, &code, Some(&ring), &inputs)?;
    let numbers = learned.iter().flatten().flat_map(|entries| match entries {
        Entries::Num(numbers) => numbers.clone(),
        Entries::Bits(_) => Vec::new(),
    });
    Ok(numbers.flat_map(i64::to_le_bytes).collect())
}

#[test]
fn everything_is_drawn_for_one_purpose_and_used() {
    let (name, parameters) = ("products", lattice(2).1);
    let why = "it is drawn before any session, for a command";
    let net = DrawNet {
        purposes: purposes::ALL.to_vec(),
        shapes: vec![DrawShape { name, parties: 2, parameters, runs: 2, play: products }],
        spared: vec![("program examples", why), ("program shares", why)],
        again: vec![("ot hash", 4, "a session has one hash")],
        ..DrawNet::default()
    };
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// The first and the last part of what is drawn first and last anywhere is sent, or changes what is.
#[test]
fn each_part_of_what_is_drawn_is_used() {
    let shapes = super::net().shapes;
    let net =
        PartNet { folder: env!("CARGO_MANIFEST_DIR"), packages: &["divisi-program"], shapes, idle: &[] };
    assert_eq!(net.judge(1), [] as [String; 0]);
}
