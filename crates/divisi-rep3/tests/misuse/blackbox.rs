//! The black box, and its lookups.
use divisi_core::Abort;
use divisi_field::Gf8;
use divisi_rep3::blackbox::{Additive, BlackBox, Mask, Shared, Unverified, VerifiedMul, VerifiedRecon};
use divisi_rep3::ohverture::{Cube, LookupTable, OneHotsAdd, OneHotsCube, OneHotsRss};

// [E0382] A mask hides one value.
fn mask_twice(b: &mut BlackBox, x: &Shared<Gf8>, y: &Shared<Gf8>, r: Mask<Gf8>) -> Result<(), Abort> {
    b.reconst_masked(x, r)?;
    b.reconst_masked(y, r).map(drop)
}

// [E0277] A one-hot vector cannot be copied.
fn clone_rss(e: &OneHotsRss) -> OneHotsRss {
    OneHotsRss::clone(e)
}

// [E0277] A one-hot vector of three factors cannot be copied.
fn clone_cube(e: &OneHotsCube) -> OneHotsCube {
    OneHotsCube::clone(e)
}

// [E0277] A copy of an opening would outlive its proof.
fn clone_opened(c: &Unverified<Gf8>) -> Unverified<Gf8> {
    Unverified::clone(c)
}

// [E0369] What reconst gives cannot be compared: no branch depends on it.
fn compare_opened(c: &Unverified<Gf8>, d: &Unverified<Gf8>) -> bool {
    *c == *d
}

// [E0451] Only verify_mul proves products.
fn construct_proof() -> VerifiedMul {
    VerifiedMul { origin: unreachable!(), owed: u64::MAX }
}

// [E0382] A one-hot vector serves one lookup.
fn add_twice(b: &mut BlackBox, t: &LookupTable<Gf8>, x: &Shared<Gf8>, e: OneHotsAdd) -> Result<(), Abort> {
    b.lookup_sqrt(t, x, e)?;
    b.sample_additive(t, e).map(drop)
}

// [E0382] One-hot vectors of three factors serve one lookup.
fn cube_twice(b: &mut BlackBox, t: &Cube<Gf8>, x: &Shared<Gf8>, e: OneHotsCube) -> Result<(), Abort> {
    b.lookup_cube(t, &[(x, 8)], e)?;
    b.sample_cube(t, e).map(drop)
}

// [E0382] A one-hot vector serves one lookup.
fn rss_twice(b: &mut BlackBox, t: &LookupTable<Gf8>, x: &Shared<Gf8>, e: OneHotsRss) -> Result<(), Abort> {
    b.lookup(t, x, e)?;
    b.lookup(t, x, e).map(drop)
}

// [E0308] What reconst gives is no public value.
fn opened_as_public(b: &mut BlackBox, x: &Shared<Gf8>, c: &Unverified<Gf8>) -> Result<Shared<Gf8>, Abort> {
    b.add_public(x, c)
}

// [E0308] An opening counts when products are verified too.
fn opened_alone(b: &mut BlackBox, c: Unverified<Gf8>, recon: &VerifiedRecon) -> Result<Vec<Gf8>, Abort> {
    b.opened(c, recon, recon)
}

// [E0308] An additive share is opened only after a reshare.
fn output_additive(b: &mut BlackBox, x: &Additive<Gf8>) -> Result<Vec<Gf8>, Abort> {
    b.output(x)
}

// [E0308] What reconst gives is no output.
fn output_opened(b: &mut BlackBox, c: &Unverified<Gf8>) -> Result<Vec<Gf8>, Abort> {
    b.output(c)
}

// [E0277] The result of `reconst` cannot be printed.
fn print_opened(c: &Unverified<Gf8>) {
    println!("{c:?}");
}

// [E0277] A share cannot be printed.
fn print_shared(x: &Shared<Gf8>) {
    println!("{x:?}");
}

// [E0616] What reconst gives cannot be read.
fn read_opened(c: Unverified<Gf8>) -> Vec<Gf8> {
    c.value
}

// [E0616] A share cannot be read.
fn read_shared(x: &Shared<Gf8>) {
    let _ = &x.rep;
}

// [E0308] An additive share is opened only after a reshare.
fn reconst_additive(b: &mut BlackBox, x: &Additive<Gf8>) -> Result<(), Abort> {
    b.reconst(x).map(drop)
}

// [E0382] An additive share is reshared once.
fn reshare_twice(b: &mut BlackBox, x: Additive<Gf8>) -> Result<(), Abort> {
    b.reshare(x)?;
    b.reshare(x).map(drop)
}
