//! What a party of a test knows of lookups, and what it may do with one-hot vectors that the types forbid.
//!
//! A corrupt party holds two components of everything. With a guess of a secret it has the third, and with it
//! all that an honest party computes: these are the means to compute it, so that a test can see whether a
//! message confirms the guess.

use super::harness::{MessageDirection, Recording, TrioHarness, party};
use crate::engine::pack;
use crate::lab::deal_all;
use crate::lookup::table::{Additive, Replicated};
use crate::ohv::byte::{self, BYTE_PLANES};
use crate::ohv::nibble::{self, NIBBLES_PLANES, PLANES_OF_ONE, PLANES_OF_TWO};
use crate::sbox::chained::{Input, Side};
use crate::sbox::{Layer, LayerKind, lut256};
use crate::share::constant_component;
use crate::tile::Tile;
use crate::wire::{self, Shape};
use crate::{Byte, OneHots, Protocol, Rep3, Security};
use divisi_core::{Abort, Direction, Verified, settle};
use divisi_field::gf8::anf;
use divisi_field::kernel::run;
use divisi_field::{Plane, transpose};
use std::sync::{Mutex, PoisonError};

/// The opening of a lookup, by protocol.
#[must_use]
pub const fn opening(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Lut16 => "divisi_rep3::sbox::lut16/c",
        Protocol::Lut256 => "divisi_rep3::sbox::lut256/c",
        _ => "divisi_rep3::sbox::lut256_additive/c",
    }
}

/// The outer products of lut16.
pub const OUTER: &str = "divisi_rep3::sbox::lut16/outer";
/// The Reshare that ends a chain.
pub const FINISH: &str = "divisi_rep3::engine::chain/finish";
/// The products of a one-hot vector: of two bits, of more, and of two nibbles' monomials.
pub const PRODUCTS: [&str; 3] = [
    "divisi_rep3::ohv::nibble/r_i r_j",
    "divisi_rep3::ohv::nibble/r_i r_j r_k",
    "divisi_rep3::ohv::byte/m_S m_T",
];
/// The comparison of views between layers.
pub const VIEW: &str = "divisi_rep3::lookup/view";

/// The planes that this party holds of the vectors of one layer: S-box by S-box, our first component and our
/// second.
#[must_use]
pub fn held(vectors: &Verified<OneHots>) -> Vec<[Vec<Plane>; 2]> {
    fn planes<const K: usize>(records: &[Tile<K>]) -> Vec<[Vec<Plane>; 2]> {
        records.iter().map(|tile| tile.each_ref().map(|planes| planes.to_vec())).collect()
    }
    let made = &vectors.get().made;
    let one = made.planes(&nibble::ONE).map(|made| planes(made));
    let two = || made.planes(&nibble::TWO).map(|made| planes(made));
    let byte = || made.planes(&byte::KIND).map(|made| planes(made));
    one.or_else(two).or_else(byte).unwrap_or_default()
}

/// For each plane of a one-hot vector, the set of those bits of the position r whose product it is.
#[must_use]
pub fn sets(protocol: Protocol) -> Vec<usize> {
    let all: Vec<(usize, usize)> = match protocol {
        Protocol::Lut16 => (1..16).map(|set| (PLANES_OF_ONE[set], set)).collect(),
        Protocol::Lut256 => (1..256).map(|set| (byte::PLANES[set], set)).collect(),
        _ => (1..16).flat_map(|set| [0, 1].map(|n| (PLANES_OF_TWO[n][set], set << (4 * n)))).collect(),
    };
    let mut sets = vec![0; all.len()];
    all.into_iter().for_each(|(plane, set)| sets[plane] = set);
    sets
}

/// What `party` computes as its share of T(c + r) from two vectors of 16, before it is masked. `None` unless
/// there are as many planes as two vectors have.
#[must_use]
pub fn additive_entry(
    vectors: [&[Plane]; 2],
    c: &[Plane; 8],
    direction: Direction,
    party: divisi_core::PartyId,
) -> Option<[Plane; 8]> {
    let [first, second] = vectors;
    let tile: Tile<NIBBLES_PLANES> = [first.try_into().ok()?, second.try_into().ok()?];
    let mut out = [Plane::ZERO; 8];
    run(Additive { vectors: &tile, c, direction, constant: constant_component(party), out: &mut out });
    Some(out)
}

/// One of our components of `x + r` for a layer of one byte of up to 512 lanes.
#[must_use]
pub fn masked(x: &Byte, vectors: &Verified<OneHots>, side: usize) -> [Plane; 8] {
    let held = held(vectors);
    std::array::from_fn(|i| x.tiles[0][side][i] ^ held[0][side][i])
}

/// A layer of lookups that does not consume its vectors, which no caller can do. Its result is not a value
/// that may be used further.
///
/// # Errors
/// The abort that ends the session.
pub fn look_up_again(
    rep: &mut Rep3,
    direction: Direction,
    x: &mut [&mut Byte],
    vectors: &Verified<OneHots>,
) -> Result<(), Abort> {
    let me = rep.trio().me();
    let made = Some(&vectors.get().made);
    match vectors.get().protocol.sbox().layer_kind() {
        LayerKind::Replicated(replace) => {
            replace(rep.trio(), &mut Layer::new(x, direction, me), made, true).map(drop)
        }
        LayerKind::Chained(sboxes) => {
            let side = Side { direction, constant: constant_component(me) };
            sboxes.layer(rep.trio(), x, side, Input::Replicated, made, true).map(drop)
        }
    }
}

/// This party loses the next vectors for a layer of this many bytes and lanes, and is then at other vectors
/// than the others.
pub fn skip_vectors(rep: &mut Rep3, bytes: usize, lanes: usize) {
    let protocol = rep.protocol();
    let account = rep.calls.account.clone();
    let _ = rep.stocks.take(protocol, &pack::shape(bytes, lanes), &account);
}

/// An opening split in layer 9 of ten, and what came of it.
pub struct Split {
    /// How the parties ended.
    pub results: Vec<Result<(), Abort>>,
    /// What party 1 saw.
    pub seen: Recording,
    /// Whether what party 2 said of its view after layer 10 is what it must be under the guess; `None` if it
    /// said nothing.
    pub confirmed: Option<bool>,
}

/// What party 1 knows before layer 9: its view, its two components of the masked input, its vector.
struct Before {
    view: blake3::Hasher,
    openings: u64,
    c: [Plane; 8],
    vector: [Plane; BYTE_PLANES],
    number: u64,
}

/// Ten layers of lut256 on one secret byte in each lane. Party 1 flips the low bit of what party 2 sees
/// opened in layer 9, so that party 2 continues with another input of that layer; then party 1 guesses that
/// layer's input.
#[must_use]
pub fn split_in_layer_9(harness: TrioHarness, secret: &[u8], guess: &[u8]) -> Split {
    let (parts, lanes) = (deal_all(&[secret.to_vec()]), secret.len());
    let shape = Shape(vec![lanes]);
    let (seen, honest) = (harness.recording(party(1)), harness.recording(party(2)));
    let step = opening(Protocol::Lut256);
    let low = lanes.div_ceil(8);
    harness.change(party(1), party(2), step, 8, move |body| {
        let lies = (0..lanes).map(|l| (l / 8, 1 << (l % 8)));
        lies.for_each(|(byte, bit)| body[..low][byte] ^= bit);
    });
    let known = Mutex::new((None, None));
    let results = harness.act(|mut trio| {
        let me = trio.me();
        let mut x = trio.input(&parts[me.index()][0])?;
        let mut e = Rep3::new(trio, Protocol::Lut256, Security::Malicious);
        for (layer, vectors) in e.vectors(10, 1, lanes)?.into_iter().enumerate() {
            let made = vectors.get().made.planes(&byte::KIND);
            if let (true, 8.., Some(made)) = (me == party(1), layer, made) {
                let two = [0, 1].map(|side| lut256::masked(&x.tiles[0], &made[0], side));
                let c = xor(&two[0], &two[1]);
                let known = &mut *known.lock().unwrap_or_else(PoisonError::into_inner);
                if layer == 8 {
                    let (view, openings) = (e.trio().view.clone(), e.trio().openings);
                    let number = vectors.get().number;
                    known.0 = Some(Before { view, openings, c, vector: made[0][0], number });
                } else {
                    known.1 = Some(c);
                }
            }
            e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)?;
        }
        let pending = e.close(vec![x]);
        settle(&mut e, pending).map(drop)
    });
    // what party 2 said at the end: the first barrier is that of the vectors
    let said = honest.of(MessageDirection::Out, "divisi_rep3::views/barrier");
    let digest = said.into_iter().filter(|seen| seen.peer == party(1)).nth(1);
    let opened = |layer: usize| {
        let mut planes = Vec::new();
        let frame = seen.of(MessageDirection::In, step).into_iter().nth(layer)?;
        wire::read::<8>(&frame.frame.body, &shape, &mut planes)?;
        planes.pop()
    };
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    let confirmed = || {
        let (digest, (before, c_10)) = (digest?, known);
        let (Before { mut view, openings, c, vector, number }, c_10) = (before?, c_10?);
        let (c_9, c_10) = (xor(&c, &opened(8)?), xor(&c_10, &opened(9)?));
        let mut lie = [Plane::ZERO; 8];
        lie[0] = Plane::ONES;
        lie[0].keep(lanes);
        let false_9 = xor(&c_9, &lie);
        // party 2 computes its two components of T with the false c, and gets ours for the right one
        let mut false_10 = c_10;
        for c in [&c_9, &false_9] {
            let mut own = [Plane::ZERO; 8];
            run(Replicated { vector: &vector, c, direction: Direction::Encrypt, one: true, out: &mut own });
            own.iter_mut().for_each(|plane| plane.keep(lanes));
            false_10 = xor(&false_10, &own);
        }
        let sbox = |x: u8| anf::value(&anf::SBOX, x).0;
        let difference: Vec<u8> = guess.iter().map(|v| sbox(*v) ^ sbox(v ^ 1)).collect();
        let mut planes = [Plane::ZERO; 8];
        transpose::to_planes(&difference, &mut planes);
        let mut message = Vec::new();
        for (number, c) in (number..).zip([false_9, xor(&false_10, &planes)]) {
            wire::write(&[c], &shape, &mut message);
            // which vector, and what was opened with it
            for part in [&b"one-hot vectors"[..], &number.to_le_bytes(), b"open_layer", &message] {
                view.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        view.update(&(openings + 4).to_le_bytes());
        Some(view.finalize().as_bytes()[..] == digest.frame.body)
    };
    let confirmed = confirmed();
    Split { results, seen, confirmed }
}

fn xor<const K: usize>(x: &[Plane; K], y: &[Plane; K]) -> [Plane; K] {
    std::array::from_fn(|i| x[i] ^ y[i])
}
