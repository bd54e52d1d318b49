//! [E0382] A wire of TinyTable becomes an output once.
use divisi_core::Abort;
use divisi_field::Gf48;
use divisi_spdz::{Tiny, TinyByte};

fn twice(t: &mut Tiny<Gf48>, x: TinyByte<Gf48>, y: TinyByte<Gf48>) -> Result<(), Abort> {
    t.output(x, y)?;
    t.output(x, y).map(drop)
}

fn main() {}
