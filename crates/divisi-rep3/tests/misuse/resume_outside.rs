//! [E0308] What is owed is handed over to an engine, which keeps a ledger; a strand keeps none.
use divisi_core::Pending;
use divisi_rep3::{Byte, Products, Trio};

fn forget(trio: &mut Trio, x: Pending<Byte, Products>) -> Byte {
    x.resume(trio)
}

fn main() {}
