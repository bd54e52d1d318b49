//! [compiles] The control: the right use of what the other programs misuse.
use divisi_core::{Abort, Bytes, Direction, PartyId, settle};
use divisi_field::{Gf8, Gf48};
use divisi_spdz::{AuthByte, ClientMask, InputMask, Receipt, Source, Spdz, Tiny, TinyByte, Units};
use divisi_store::stock::Reserve;

fn right(e: &mut Spdz<Gf48>, mut x: AuthByte<Gf48>, y: &AuthByte<Gf48>) -> Result<Vec<Gf8>, Abort> {
    e.add(&mut x, y)?;
    e.add_public(&mut x, &[1])?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    let pending = e.close(x);
    let verified = settle(e, pending)?;
    e.output(verified)
}

fn masked(e: &mut Spdz<Gf48>, r: InputMask<Gf48>, s: ClientMask<Gf48>) -> Result<Vec<u8>, Abort> {
    e.client_input(s, &[3])?;
    e.masked_input(r, Some(&[1]))
}

fn tiny(t: &mut Tiny<Gf48>, x: TinyByte<Gf48>, y: TinyByte<Gf48>) -> Result<AuthByte<Gf48>, Abort> {
    t.output(x, y)
}

fn received(mine: Receipt<Gf48>) -> bool {
    mine.accept(&[]).is_ok()
}

fn kept(units: Units<Gf48>) -> Units<Gf48> {
    units
}

fn made(s: Box<dyn Source<Gf48>>, stock: Reserve) -> (Box<dyn Source<Gf48>>, Reserve, Option<PartyId>) {
    (s, stock, PartyId::new(1))
}

fn main() {
    let _ = (right, masked, tiny, received, kept, made);
}
