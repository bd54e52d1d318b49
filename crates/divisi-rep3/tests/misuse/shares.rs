//! Shares, which are neither read nor compared nor printed.
use divisi_core::{Abort, Bytes, PartyId, Plain, Session, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Block, Byte, ByteMask, Rep3};

// [E0369] Shared bits are not compared.
fn compare_bits(x: &Bit, y: &Bit) -> bool {
    x == y
}

// [E0369] Shares are not compared: control flow would depend on them.
fn compare_shares(x: &Byte, y: &Byte) -> bool {
    x == y
}

// [E0277] A shared bit does not print.
fn print_bit(x: &Bit) {
    println!("{x:?}");
}

// [E0277] A shared block does not print.
fn print_block(x: &Block) {
    println!("{x:?}");
}

// [E0277] A dealer's part does not print.
fn print_part(x: &Part) {
    println!("{x:?}");
}

// [E0277] A share does not print.
fn print_share(x: &Byte) {
    println!("{x:?}");
}

// [E0616] The components of a share are the engine's.
fn read_planes(x: &Byte) -> usize {
    x.tiles.len()
}

// [E0308] A share is no public value.
fn share_as_public(e: &mut Rep3, x: &mut Byte, y: &Byte) -> Result<(), Abort> {
    e.add_public(x, y)
}

// [E0308] A share is no bytes to be sent.
fn send_share(s: &mut Session, to: PartyId, x: &Byte) -> Result<(), Abort> {
    s.send(step!("mine"), to, x, 8)
}

// [E0308] A byte in the clear is no shared byte.
fn mix_engines(e: &mut Rep3) -> Result<(), Abort> {
    let y = Plain.public(&[1]);
    let mut x = e.public(&[2]);
    e.add(&mut x, &y)
}

// [E0382] A mask hides one value: two openings under one would show their difference.
fn mask_twice(e: &mut Rep3, x: &Byte, y: &Byte, r: ByteMask) -> Result<(), Abort> {
    e.open_masked(x, r)?;
    e.open_masked(y, r)?;
    Ok(())
}
