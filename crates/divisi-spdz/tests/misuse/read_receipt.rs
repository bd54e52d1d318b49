//! [E0616] A client cannot read an output that is not proven yet.
use divisi_field::Gf48;
use divisi_spdz::Receipt;

fn look(receipt: Receipt<Gf48>) -> usize {
    receipt.y.len()
}

fn main() {}
