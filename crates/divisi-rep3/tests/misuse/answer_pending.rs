//! [E0308] What is still owed a verification cannot be answered to a client.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products, Trio};

fn leak(trio: &mut Trio, x: Pending<Vec<Byte>, Products>) {
    let _ = trio.answer(b"request", &x);
}

fn main() {}
