//! A value that owes a verification, or has passed one.
use divisi_core::{Abort, Pending, Verified, settle};
use divisi_rep3::{Byte, Products, Rep3, Trio};

// [E0308] What is still owed a verification cannot be answered to a client.
fn answer_pending(trio: &mut Trio, x: Pending<Vec<Byte>, Products>) {
    let _ = trio.answer(b"request", &x);
}

// [E0308] A debt is not cloned: one copy settled would leave the other.
fn clone_debt_away(x: &Pending<Byte, Products>) -> Pending<Byte, Products> {
    x.clone()
}

// [private fields] Nobody but the engine says what is owed: an empty debt cannot be made.
fn construct_products(x: Vec<Byte>) -> Pending<Vec<Byte>, Products> {
    Pending::owing(x, Products { linear: true })
}

// [E0423] Nobody but a verification says that a value is verified.
fn construct_verified(x: Vec<Byte>) -> Verified<Vec<Byte>> {
    Verified(x)
}

// [E0616] A pending value has no way to look inside.
fn look_inside_pending(x: Pending<Byte, Products>) -> Byte {
    x.value
}

// [E0308] What is still owed a verification cannot be opened.
fn open_pending(trio: &mut Trio, x: Pending<Vec<Byte>, Products>) {
    let _ = trio.open(&x);
}

// [E0308] A value that is not verified cannot be opened.
fn open_unverified(trio: &mut Trio, x: Vec<Byte>) {
    let _ = trio.open(&x);
}

// [E0382] A pending value is settled once.
fn settle_twice(e: &mut Rep3, x: Pending<Byte, Products>) -> Result<(), Abort> {
    settle(e, x)?;
    settle(e, x)?;
    Ok(())
}

// [E0308] What is not verified is not worth storing.
fn store_unverified(trio: &mut Trio, x: Byte) {
    let _ = trio.part(&x);
}

// [E0308] What is owed is handed over to an engine, which keeps a ledger; a strand keeps none.
fn resume_outside(trio: &mut Trio, x: Pending<Byte, Products>) -> Byte {
    x.resume(trio)
}
