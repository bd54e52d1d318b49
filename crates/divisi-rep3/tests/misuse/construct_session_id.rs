//! [E0423] Nobody chooses the id of a session.
use divisi_core::SessionId;

fn chosen() -> SessionId {
    SessionId([0; 32])
}

fn main() {}
