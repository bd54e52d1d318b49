//! [E0423] Nobody makes a coin of bytes that somebody chose.
use divisi_rep3::Coin;

fn chosen() -> Coin {
    Coin([0; 16])
}

fn main() {}
