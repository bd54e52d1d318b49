//! [compiles] The control: what the others get wrong, done right.
use divisi_core::{Abort, Bytes, Direction, settle};
use divisi_field::Gf8;
use divisi_rep3::blackbox::{BlackBox, Shared};
use divisi_rep3::ohverture::{Cube, LookupTable};
use divisi_rep3::{Block, Byte, Coin, Rep3};

fn right(e: &mut Rep3, mut x: Byte, y: &Byte) -> Result<(Vec<Vec<u8>>, Coin), Abort> {
    e.add(&mut x, y)?;
    e.add_public(&mut x, &[1])?;
    let pending = e.close(vec![x]);
    let verified = settle(e, pending)?;
    let opened = e.trio().open(&verified)?;
    let fixed = e.trio().barrier()?;
    Ok((opened, e.trio().coin(&fixed)?))
}

fn layers(e: &mut Rep3, x: &mut Byte, y: &mut Byte) -> Result<(), Abort> {
    for vectors in e.vectors(2, 2, 1)? {
        e.sbox_with(Direction::Encrypt, &mut [x, y], vectors)?;
    }
    e.finish(&mut [x, y])
}

fn lanes(x: &Block) -> usize {
    divisi_core::Lanes::lanes(x)
}

fn black_box(b: &mut BlackBox, x: &Shared<Gf8>, t: &LookupTable<Gf8>) -> Result<(Vec<Gf8>, Vec<Gf8>), Abort> {
    let xx = b.local_mul(x, x)?;
    let xx = b.reshare(xx)?;
    let [once, twice] = [b.rohv_rss(8, 3)?, b.rohv_rss(8, 3)?];
    let y = b.lookup(t, &xx, once)?;
    let y = b.lookup(t, &y, twice)?;
    let mask = b.mask(3);
    let (c, r) = b.reconst_masked(&y, mask)?;
    let y = b.add_opened(&r, &c)?;
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    Ok((b.opened(c, &recon, &mul)?, b.output(&y)?))
}

fn three_factors(b: &mut BlackBox, x: &Shared<Gf8>, t: &Cube<Gf8>) -> Result<Vec<Gf8>, Abort> {
    let vectors = b.rohv_cube(t.parts(), 3)?;
    let y = b.lookup_cube(t, &[(x, 8)], vectors)?;
    b.output(&y[0])
}

fn main() {
    let _ = (right, layers, lanes, black_box, three_factors);
}
