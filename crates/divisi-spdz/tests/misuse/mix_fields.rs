//! [E0308] A share with MACs over one field cannot be used with MACs over another one.
use divisi_core::{Abort, Bytes};
use divisi_field::{Gf40, Gf48};
use divisi_spdz::{AuthByte, Spdz};

fn mix(e: &mut Spdz<Gf48>, x: &mut AuthByte<Gf48>, y: &AuthByte<Gf40>) -> Result<(), Abort> {
    e.add(x, y)
}

fn main() {}
