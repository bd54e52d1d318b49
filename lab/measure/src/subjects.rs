//! The kernels under measurement: each with a secret input that can be loaded apart from the run.

use divisi_field::gf64::LaneWeights;
use divisi_field::kernel::vectorized;
use divisi_field::{BigField, Gf64, Gf128, Plane, gf4, gf8, gf8::tower, gf64, transpose};
use divisi_ot::guarded::GuardedMessages;
use std::hint::black_box;
use subtle::ConstantTimeEq;

/// A kernel with its memory.
pub trait Subject {
    /// How many words of secret input it takes.
    fn words(&self) -> usize;
    /// Take the secret input: copies, at places that depend on nothing.
    fn load(&mut self, secret: &[u64]);
    /// Run once.
    fn run(&mut self);
}

/// A name and how to make it.
pub struct KernelEntry {
    /// Its name in lists.
    pub name: &'static str,
    /// Makes a fresh subject.
    pub make: fn() -> Box<dyn Subject>,
}

/// An entry of a list.
pub const fn kernel(name: &'static str, make: fn() -> Box<dyn Subject>) -> KernelEntry {
    KernelEntry { name, make }
}

/// The number of elements of a vector of a large field.
const N: usize = 256;
/// The number of tiles, of 512 lanes each.
const TILES: usize = 4;

/// All kernels, by name.
pub const ALL: &[KernelEntry] = &[
    kernel("digest compare", || subject([[0_u64; 4]; 2], load_digests, compare)),
    kernel("gf128 add_assign", || vectors::<Gf128>(|x, y, _| Gf128::add_assign(x, y))),
    kernel("gf128 dot", || vectors::<Gf128>(|x, y, out| out[0] = Gf128::dot(x, y))),
    kernel("gf128 fold", || vectors::<Gf128>(|x, y, out| Gf128::fold(x, y[0], out))),
    kernel("gf128 line_products", || vectors::<Gf128>(lines)),
    kernel("gf128 mul_assign", || vectors::<Gf128>(|x, y, _| Gf128::mul_assign(x, y))),
    kernel("gf128 scale", || vectors::<Gf128>(|x, y, _| Gf128::scale(x, y[0]))),
    kernel("gf4 mul", || tiles::<4>(mul4)),
    kernel("gf64 add_assign", || vectors::<Gf64>(|x, y, _| Gf64::add_assign(x, y))),
    kernel("gf64 combine", combined),
    kernel("gf64 dot", || vectors::<Gf64>(|x, y, out| out[0] = Gf64::dot(x, y))),
    kernel("gf64 equal", || vectors::<Gf64>(equal)),
    kernel("gf64 fold", || vectors::<Gf64>(|x, y, out| Gf64::fold(x, y[0], out))),
    kernel("gf64 line_products", || vectors::<Gf64>(lines)),
    kernel("gf64 mul_assign", || vectors::<Gf64>(|x, y, _| Gf64::mul_assign(x, y))),
    kernel("gf64 scale", || vectors::<Gf64>(|x, y, _| Gf64::scale(x, y[0]))),
    kernel("gf64 weigh", weighed),
    kernel("gf8 affine", || tiles::<8>(|x, _| affine(x))),
    kernel("gf8 invert", || tiles::<8>(|x, _| invert(x))),
    kernel("gf8 mul", || tiles::<8>(mul8)),
    kernel("gf8 mul_slices", || subject([[0; 1024]; 2], load_bytes, mul_slices)),
    kernel("softspoken tree", tree),
    kernel("transpose from_planes", || subject(Transposed::new(), load_planes, from_planes)),
    kernel("transpose square", || subject([0_u128; 128], load_square, transpose::square)),
    kernel("transpose to_planes", || subject(Transposed::new(), load_text, to_planes)),
];

/// The planted leaks: a branch on a secret, and a secret index. If they are not found, it means nothing that
/// no other leak is.
pub const LEAKS: &[KernelEntry] = &[
    kernel("planted branch", || subject([0_u64; 8], |to, secret| to.copy_from_slice(secret), branch)),
    kernel("planted index", || subject(Table::default(), load_table, look_up)),
];

struct Simple<S> {
    state: S,
    words: usize,
    load: fn(&mut S, &[u64]),
    run: fn(&mut S),
}

impl<S> Subject for Simple<S> {
    fn words(&self) -> usize {
        self.words
    }

    fn load(&mut self, secret: &[u64]) {
        (self.load)(&mut self.state, secret);
    }

    fn run(&mut self) {
        (self.run)(black_box(&mut self.state));
        black_box(&self.state);
    }
}

/// A state that is nothing but secret input.
fn subject<S: 'static>(state: S, load: fn(&mut S, &[u64]), run: fn(&mut S)) -> Box<dyn Subject> {
    subject_of(size_of::<S>() / 8, state, load, run)
}

/// A state that takes this many words of secret input.
pub fn subject_of<S: 'static>(
    words: usize,
    state: S,
    load: fn(&mut S, &[u64]),
    run: fn(&mut S),
) -> Box<dyn Subject> {
    Box::new(Simple { state, words, load, run })
}

/// Writes words as bytes.
pub fn put(to: &mut [u8], words: &[u64]) {
    to.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
}

fn load_digests(to: &mut [[u64; 4]; 2], secret: &[u64]) {
    to.as_flattened_mut().copy_from_slice(secret);
}

fn bytes_of(digest: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    put(&mut bytes, digest);
    bytes
}

fn compare([x, y]: &mut [[u64; 4]; 2]) {
    black_box(bytes_of(x).ct_eq(&bytes_of(y)).unwrap_u8());
}

fn load_square(to: &mut [u128; 128], secret: &[u64]) {
    to.iter_mut().zip(secret.as_chunks::<2>().0).for_each(|(to, [low, high])| *to = wide(*low, *high));
}

fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The holder's trees, read with a secret Delta and secret keys of base OTs, and a tile of rows from them.
struct Tree {
    held: GuardedMessages,
    delta: u128,
    keys: [u128; 128],
    rows: [u128; 128],
    consistent: bool,
}

fn tree() -> Box<dyn Subject> {
    let held = GuardedMessages::new(2);
    let state = Tree { held, delta: 0, keys: [0; 128], rows: [0; 128], consistent: false };
    let load = |tree: &mut Tree, secret: &[u64]| {
        let mut words = secret.as_chunks::<2>().0.iter().map(|[low, high]| wide(*low, *high));
        tree.delta = words.next().unwrap_or_default();
        tree.keys.iter_mut().zip(words).for_each(|(key, word)| *key = word);
    };
    subject_of(2 * (1 + 128), state, load, |tree| {
        tree.consistent = tree.held.run(tree.delta, &tree.keys, &mut tree.rows);
    })
}

/// Does more if a secret bit is set.
fn branch(secret: &mut [u64; 8]) {
    if black_box(secret[0]) & 1 == 1 {
        for _ in 0..16 {
            secret.iter_mut().for_each(|word| *word = black_box(*word).rotate_left(1));
        }
    }
}

/// A table that is larger than the nearest cache, and a place in it.
struct Table {
    table: Vec<u8>,
    place: u64,
}

impl Default for Table {
    fn default() -> Self {
        Table { table: vec![1; 1 << 20], place: 0 }
    }
}

fn load_table(to: &mut Table, secret: &[u64]) {
    to.place = secret[0];
}

fn look_up(table: &mut Table) {
    let mut place = table.place;
    for _ in 0..8 {
        let entry = table.table[(place >> 44) as usize];
        place = place.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(u64::from(entry));
    }
    table.place = black_box(place);
}

/// Two vectors of a large field, and room for the results.
struct Vectors<F> {
    x: Vec<F>,
    y: Vec<F>,
    out: Vec<F>,
    run: fn(&mut [F], &[F], &mut [F]),
}

fn vectors<F: BigField>(run: fn(&mut [F], &[F], &mut [F])) -> Box<dyn Subject> {
    let state = Vectors { x: vec![F::ZERO; N], y: vec![F::ZERO; N], out: vec![F::ZERO; N / 2], run };
    let load = |vectors: &mut Vectors<F>, secret: &[u64]| {
        let elements = vectors.x.iter_mut().chain(&mut vectors.y);
        for (to, from) in elements.zip(secret.chunks_exact(F::BYTES / 8)) {
            *to = F::from_low_bits(from.iter().rev().fold(0, |bits, word| bits << 64 | u128::from(*word)));
        }
    };
    subject_of(2 * N * F::BYTES / 8, state, load, |v| (v.run)(&mut v.x, &v.y, &mut v.out))
}

fn lines<F: BigField>(x: &mut [F], y: &[F], out: &mut [F]) {
    (out[0], out[1]) = F::line_products(x, y);
}

fn equal<F: BigField>(x: &mut [F], y: &[F], _: &mut [F]) {
    x.iter().zip(y).for_each(|(x, y)| _ = black_box(x.ct_eq(y).unwrap_u8()));
}

fn load_planes_into(planes: &mut [Plane], secret: &[u64]) {
    let (words, _) = secret.as_chunks::<8>();
    planes.iter_mut().zip(words).for_each(|(plane, words)| *plane = Plane(*words));
}

/// Two elements of K bits in some tiles.
struct Tiles<const K: usize> {
    x: [[Plane; K]; TILES],
    y: [[Plane; K]; TILES],
    run: fn(&mut [[Plane; K]; TILES], &[[Plane; K]; TILES]),
}

fn tiles<const K: usize>(run: fn(&mut [[Plane; K]; TILES], &[[Plane; K]; TILES])) -> Box<dyn Subject> {
    let state = Tiles { x: [[Plane::ZERO; K]; TILES], y: [[Plane::ZERO; K]; TILES], run };
    let load = |tiles: &mut Tiles<K>, secret: &[u64]| {
        let (x, y) = secret.split_at(secret.len() / 2);
        load_planes_into(tiles.x.as_flattened_mut(), x);
        load_planes_into(tiles.y.as_flattened_mut(), y);
    };
    subject_of(2 * 8 * K * TILES, state, load, |tiles| (tiles.run)(&mut tiles.x, &tiles.y))
}

vectorized! {
    fn mul4<'a, W>(x: &'a mut [[Plane; 4]; TILES], y: &'a [[Plane; 4]; TILES]) {
        for (x, y) in x.iter_mut().zip(y) {
            W::store_all(&gf4::mul(&W::load_all(x), &W::load_all(y)), x);
        }
    }
}

vectorized! {
    fn mul8<'a, W>(x: &'a mut [[Plane; 8]; TILES], y: &'a [[Plane; 8]; TILES]) {
        for (x, y) in x.iter_mut().zip(y) {
            W::store_all(&gf8::mul(&W::load_all(x), &W::load_all(y)), x);
        }
    }
}

vectorized! {
    fn affine<'a, W>(x: &'a mut [[Plane; 8]; TILES]) {
        for x in x.iter_mut() {
            let y = gf8::add_constant(&gf8::affine_linear(&W::load_all(x)), gf8::AFFINE_CONSTANT);
            W::store_all(&y, x);
        }
    }
}

vectorized! {
    /// The inverse through GF(2^4): Eq. 1 and 2 of MAESTRO.
    fn invert<'a, W>(x: &'a mut [[Plane; 8]; TILES]) {
        for x in x.iter_mut() {
            let (h, l) = tower::phi(&W::load_all(x));
            let squares = gf4::add(&gf4::scale(&gf4::square(&h), tower::E), &gf4::square(&l));
            let v2 = gf4::square(&gf4::add(&squares, &gf4::mul(&h, &l)));
            let v4 = gf4::square(&v2);
            let inverse = gf4::mul(&gf4::mul(&v2, &v4), &gf4::square(&v4));
            let (h, l) = (gf4::mul(&h, &inverse), gf4::mul(&gf4::add(&h, &l), &inverse));
            W::store_all(&tower::phi_inverse(&h, &l), x);
        }
    }
}

fn load_bytes(to: &mut [[u8; 1024]; 2], secret: &[u64]) {
    put(to.as_flattened_mut(), secret);
}

fn mul_slices([x, y]: &mut [[u8; 1024]; 2]) {
    gf8::mul_slices(x, y);
}

/// 512 bytes and their planes.
struct Transposed {
    bytes: [u8; 512],
    planes: [Plane; 8],
}

impl Transposed {
    fn new() -> Self {
        Transposed { bytes: [0; 512], planes: [Plane::ZERO; 8] }
    }
}

fn load_text(to: &mut Transposed, secret: &[u64]) {
    put(&mut to.bytes, secret);
}

fn load_planes(to: &mut Transposed, secret: &[u64]) {
    load_planes_into(&mut to.planes, secret);
}

fn to_planes(x: &mut Transposed) {
    transpose::to_planes(&x.bytes, &mut x.planes);
}

fn from_planes(x: &mut Transposed) {
    transpose::from_planes(&x.planes, &mut x.bytes);
}

/// Weights that a verification draws from a public coin.
fn public_weights(n: usize) -> Vec<Gf64> {
    std::iter::successors(Some(Gf64(3)), |x| Some(*x * Gf64(0x9e37_79b9_7f4a_7c15))).take(n).collect()
}

/// Planes that are weighed by public weights, and what comes of it.
struct Weighed<const K: usize, W> {
    planes: [Plane; K],
    weights: W,
    out: Vec<Gf64>,
}

fn planes_under<const K: usize, W: 'static>(
    weights: W,
    out: usize,
    run: fn(&mut Weighed<K, W>),
) -> Box<dyn Subject> {
    let state = Weighed { planes: [Plane::ZERO; K], weights, out: vec![Gf64(0); out] };
    subject_of(8 * K, state, |weighed, secret| load_planes_into(&mut weighed.planes, secret), run)
}

/// `gf64::weigh`, 16 planes.
fn weighed() -> Box<dyn Subject> {
    planes_under::<16, _>(public_weights(16), Plane::LANES, |w| {
        gf64::weigh(&mut w.out, &w.planes.each_ref(), &w.weights);
    })
}

/// `gf64::combine`, 24 planes.
fn combined() -> Box<dyn Subject> {
    let drawn = public_weights(24 + 8 + 64);
    let weights = LaneWeights::new(&drawn[..24], &std::array::from_fn(|i| drawn[24 + i]));
    let coefficients: [Gf64; 64] = std::array::from_fn(|i| drawn[32 + i]);
    planes_under::<24, _>((weights, coefficients), 1, |w| {
        let (weights, coefficients) = &w.weights;
        w.out[0] = gf64::combine(&w.planes.each_ref(), weights, coefficients);
    })
}
