//! [private fields] Nobody but the protocol makes a one-hot vector.
use divisi_rep3::OneHots;

fn chosen() -> OneHots {
    OneHots {}
}

fn main() {}
