//! Strands, their coins and their ids.
use divisi_core::{Abort, SessionId};
use divisi_rep3::blackbox::BlackBox;
use divisi_rep3::{Coin, Trio};

// [E0308] A strand is not cloned: its streams would be read twice.
fn clone_trio(trio: &Trio) -> Trio {
    trio.clone()
}

// [E0423] Nobody makes a coin of bytes that somebody chose.
fn construct_coin() -> Coin {
    Coin([0; 16])
}

// [E0423] Nobody chooses the id of a session.
fn construct_session_id() -> SessionId {
    SessionId([0; 32])
}

// [private] A coin demands the proof that views were compared.
fn toss_without_barrier(trio: &mut Trio) -> Result<Coin, Abort> {
    trio.coin(&divisi_rep3::Fixed(()))
}

// [E0599] A black box keeps its strand: proofs of another one would do for its own coins.
fn trio_of_a_black_box(b: &mut BlackBox, other: &mut Trio) {
    std::mem::swap(b.trio(), other);
}
