//! What the types of the engine forbid.
use divisi_core::{Abort, Bytes, PartyId, Pending, Plain, Session, Verified, settle, step};
use divisi_field::{Gf8, Gf40, Gf48};
use divisi_spdz::stock::FromStock;
use divisi_spdz::{
    AuthBit, AuthByte, ClientMask, ForClient, InputMask, Openings, Party, Receipt, Source, Spdz,
    SpdzProtocol, Tiny, TinyByte, Triples, Units,
};
use divisi_store::stock::Reserve;

// [E0382] A client's mask hides one input.
fn client_mask_twice(e: &mut Spdz<Gf48>, mask: ClientMask<Gf48>) -> Result<(), Abort> {
    e.client_input(mask, &[1])?;
    e.client_input(mask, &[2]).map(drop)
}

// [E0308] A pending value cannot be cloned: its debt would be settled for one copy only.
fn clone_debt_away(x: &Pending<AuthByte<Gf48>, Openings<Gf48>>) -> Pending<AuthByte<Gf48>, Openings<Gf48>> {
    x.clone()
}

// [E0308] A mask cannot be cloned.
fn clone_mask(mask: &InputMask<Gf48>) -> InputMask<Gf48> {
    mask.clone()
}

// [E0308] A debt that belongs to no value cannot be cloned either.
fn clone_openings(x: &Openings<Gf48>) -> Openings<Gf48> {
    x.clone()
}

// [E0308] A party cannot be cloned: alpha lies in one place of memory.
fn clone_party(p: &Party<Gf48>) -> Party<Gf48> {
    p.clone()
}

// [E0308] Products cannot be cloned: each is used once.
fn clone_triples(triples: &Triples<Gf8, Gf48>) -> Triples<Gf8, Gf48> {
    triples.clone()
}

// [E0308] Unit vectors cannot be cloned: a table made of one serves one lookup.
fn clone_units(units: &Units<Gf48>) -> Units<Gf48> {
    units.clone()
}

// [E0369] Shares cannot be compared: control flow would depend on them.
fn compare_shares(x: &AuthByte<Gf48>, y: &AuthByte<Gf48>) -> bool {
    x == y
}

// [private fields] Only an engine can say which check a value owes.
fn construct_openings() -> Openings<Gf48> {
    Openings { opened: 0 }
}

// [private fields] Only a source can make unit vectors.
fn construct_units() -> Units<Gf48> {
    Units {}
}

// [E0423] Only a check can say that a value is verified.
fn construct_verified(x: AuthByte<Gf48>) -> Verified<AuthByte<Gf48>> {
    Verified(x)
}

// [E0616] A value that owes a check cannot be taken out without the check.
fn look_inside_pending(x: Pending<AuthByte<Gf48>, Openings<Gf48>>) -> AuthByte<Gf48> {
    x.value
}

// [E0382] A mask hides one input: two inputs under one mask would reveal their difference.
fn mask_twice(e: &mut Spdz<Gf48>, mask: InputMask<Gf48>) -> Result<(), Abort> {
    e.masked_input(mask, Some(&[1]))?;
    e.masked_input(mask, Some(&[2])).map(drop)
}

// [E0308] A byte in the clear is no shared byte.
fn mix_engines(e: &mut Spdz<Gf48>) -> Result<(), Abort> {
    let y = Plain.public(&[1]);
    let mut x = e.public(&[2]);
    e.add(&mut x, &y)
}

// [E0308] A share with MACs over one field cannot be used with MACs over another one.
fn mix_fields(e: &mut Spdz<Gf48>, x: &mut AuthByte<Gf48>, y: &AuthByte<Gf40>) -> Result<(), Abort> {
    e.add(x, y)
}

// [E0308] A share is no wire of TinyTable.
fn mix_tiny(e: &mut Tiny<Gf48>, x: &mut TinyByte<Gf48>, y: &AuthByte<Gf48>) -> Result<(), Abort> {
    e.add(x, y)
}

// [E0308] Bits that nobody verified cannot be opened to one party.
fn open_bits_unverified(e: &mut Spdz<Gf48>, to: PartyId, x: AuthBit<Gf48>) {
    let _ = e.output_bits_to(to, x);
}

// [E0308] A value that still owes a check cannot be opened.
fn open_pending(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) {
    let _ = e.output(x);
}

// [E0308] A value that still owes a check cannot be opened to one party.
fn open_pending_to_one(e: &mut Spdz<Gf48>, to: PartyId, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) {
    let _ = e.output_to(to, x);
}

// [E0308] A share that nobody verified cannot be opened.
fn open_unverified(e: &mut Spdz<Gf48>, x: AuthByte<Gf48>) {
    let _ = e.output(x);
}

// [E0382] A session has one engine and one check at a time.
fn party_twice(p: Party<Gf48>, s: Box<dyn Source<Gf48>>, t: Box<dyn Source<Gf48>>) -> Result<(), Abort> {
    Spdz::new(p, s, SpdzProtocol::Lookup)?;
    Spdz::new(p, t, SpdzProtocol::Lookup).map(drop)
}

// [E0277] A mask cannot be printed.
fn print_mask(x: &InputMask<Gf48>) {
    println!("{x:?}");
}

// [E0277] A share cannot be printed.
fn print_share(x: &AuthByte<Gf48>) {
    println!("{x:?}");
}

// [E0382] An output is proven to a client under one challenge: the secret matrix of a proof is used once.
fn prove_twice(e: &mut Spdz<Gf48>, of: ForClient<Gf48>) -> Result<(), Abort> {
    e.prove(of, &[1; 16])?;
    e.prove(of, &[2; 16]).map(drop)
}

// [E0624] The share of alpha cannot be read from outside of this crate.
fn read_alpha(p: &Party<Gf48>) -> Result<Gf48, Abort> {
    p.alpha()
}

// [E0616] A client cannot read an output that is not proven yet.
fn read_receipt(receipt: Receipt<Gf48>) -> usize {
    receipt.y.len()
}

// [E0616] Only the engine can read a share.
fn read_share(x: &AuthByte<Gf48>) -> usize {
    x.m.len()
}

// [E0616] Only the engine can read a unit vector.
fn read_units(units: &Units<Gf48>) -> usize {
    units.lanes
}

// [E0308] A share cannot be sent like bytes.
fn send_share(s: &mut Session, to: PartyId, x: &AuthByte<Gf48>) -> Result<(), Abort> {
    s.send(step!("mine"), to, x, 8)
}

// [E0271] An engine over one field cannot pay what a value of an engine over another field owes.
fn settle_elsewhere(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf40>, Openings<Gf40>>) -> Result<(), Abort> {
    settle(e, x).map(drop)
}

// [E0382] A pending value is settled once.
fn settle_twice(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) -> Result<(), Abort> {
    settle(e, x)?;
    settle(e, x)?;
    Ok(())
}

// [E0308] A share is no public value.
fn share_as_public(e: &mut Spdz<Gf48>, x: &mut AuthByte<Gf48>, y: &AuthByte<Gf48>) -> Result<(), Abort> {
    e.add_public(x, y)
}

// [E0308] A value that still owes a check cannot be shown to a client.
fn show_pending(e: &mut Spdz<Gf48>, x: Pending<AuthByte<Gf48>, Openings<Gf48>>) {
    let _ = e.show(x);
}

// [E0382] A source belongs to one engine: two engines would use the same values.
fn source_twice(p: Party<Gf48>, q: Party<Gf48>, s: Box<dyn Source<Gf48>>) -> Result<(), Abort> {
    Spdz::new(p, s, SpdzProtocol::Lookup)?;
    Spdz::new(q, s, SpdzProtocol::Lookup).map(drop)
}

// [E0382] A stock serves one session at a time.
fn stock_twice(one: Session, two: Session, stock: Reserve) -> Result<(), Abort> {
    FromStock::<Gf48>::start(one, stock)?;
    FromStock::<Gf48>::start(two, stock).map(drop)
}

// [E0382] A wire of TinyTable becomes an output once.
fn tiny_output_twice(t: &mut Tiny<Gf48>, x: TinyByte<Gf48>, y: TinyByte<Gf48>) -> Result<(), Abort> {
    t.output(x, y)?;
    t.output(x, y).map(drop)
}
