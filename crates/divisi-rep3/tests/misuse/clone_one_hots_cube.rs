//! [E0277] A one-hot vector of three factors cannot be copied.
use divisi_rep3::ohverture::OneHotsCube;

fn copy(e: &OneHotsCube) -> OneHotsCube {
    OneHotsCube::clone(e)
}

fn main() {}
