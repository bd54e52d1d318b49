//! One-hot vectors of layers, which serve one layer each.
use divisi_core::{Abort, Direction, Pending, Verified};
use divisi_rep3::{Byte, OneHots, Products, Rep3};

// [E0308] One-hot vectors are not cloned.
fn clone_vectors(vectors: &OneHots) -> OneHots {
    vectors.clone()
}

// [E0308] Verified one-hot vectors are not cloned either.
fn clone_verified_vectors(vectors: &Verified<OneHots>) -> Verified<OneHots> {
    vectors.clone()
}

// [private fields] Nobody but the protocol makes a one-hot vector.
fn construct_vectors() -> OneHots {
    OneHots {}
}

// [E0308] One-hot vectors are not lent to a layer.
fn lend_vectors(e: &mut Rep3, x: &mut Byte, vectors: &Verified<OneHots>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

// [E0308] One-hot vectors whose products are still owed serve no layer.
fn pending_vectors(e: &mut Rep3, x: &mut Byte, vectors: Pending<OneHots, Products>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

// [E0277] A one-hot vector does not print.
fn print_vectors(vectors: &OneHots) {
    println!("{vectors:?}");
}

// [E0616] What is in a one-hot vector is the engine's.
fn read_vectors(vectors: OneHots) {
    let _ = vectors.made;
}

// [E0308] One-hot vectors that are not verified serve no layer.
fn unverified_vectors(e: &mut Rep3, x: &mut Byte, vectors: OneHots) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)
}

// [E0382] One-hot vectors serve one layer: two openings under one would show their difference.
fn vectors_twice(e: &mut Rep3, x: &mut Byte, y: &mut Byte, vectors: Verified<OneHots>) -> Result<(), Abort> {
    e.sbox_with(Direction::Encrypt, &mut [x], vectors)?;
    e.sbox_with(Direction::Encrypt, &mut [y], vectors)
}
