//! [private fields] Nobody but an engine says what is owed.
use divisi_field::Gf48;
use divisi_spdz::Openings;

fn nothing() -> Openings<Gf48> {
    Openings { opened: 0 }
}

fn main() {}
