//! [E0382] A stock serves one session at a time.
use divisi_core::{Abort, Session};
use divisi_field::Gf48;
use divisi_spdz::stock::FromStock;
use divisi_store::stock::Reserve;

fn twice(one: Session, two: Session, stock: Reserve) -> Result<(), Abort> {
    FromStock::<Gf48>::start(one, stock)?;
    FromStock::<Gf48>::start(two, stock).map(drop)
}

fn main() {}
