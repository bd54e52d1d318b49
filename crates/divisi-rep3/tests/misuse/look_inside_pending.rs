//! [E0616] A pending value has no way to look inside.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products};

fn look(x: Pending<Byte, Products>) -> Byte {
    x.value
}

fn main() {}
