//! AES-BD and AES-RP: S-boxes by products in GF(2^8) (KOR+17, sections 3.1 and 3.3).
//!
//! Squaring is linear over GF(2), but does not preserve MACs. x^(2^i) is a linear map of the bits of x, so an
//! element is decomposed into bits before it is squared.

use super::{AuthByte, Spdz, SpdzProtocol};
use crate::multiply::{CHUNK, Pair};
use crate::part::Host;
use crate::party::{Party, SentShares};
use crate::share::{Auth, Tail, View};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Direction, Misuse, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::{BigField, Field, Gf2, Gf8};
use std::ops::Range;

const DECOMPOSE: Step = step!("bitdec");

/// The constant of AES' affine map (FIPS 197, 5.1.1).
const CONSTANT: Gf8 = Gf8(0x63);

/// A map that is linear over GF(2): the images of 1, X, .., X^7.
pub(super) type Linear = [Gf8; 8];

/// x -> x^(2^i).
pub(super) fn frobenius(i: u32) -> Linear {
    std::array::from_fn(|k| (0..i).fold(Gf8(1 << k), |x, _| x.square()))
}

/// First `inner`, then `outer`.
fn after(outer: &Linear, inner: &Linear) -> Linear {
    inner.map(|x| image(outer, x))
}

/// The image of a public byte.
pub(super) fn image(map: &Linear, x: Gf8) -> Gf8 {
    map.iter().enumerate().filter(|(k, _)| x.0 >> k & 1 == 1).map(|(_, image)| *image).sum()
}

/// The linear part of the affine map of SubBytes (FIPS 197, 5.1.1): bit i of the image is the sum of bits i,
/// i+4, .., i+7.
fn affine() -> Linear {
    std::array::from_fn(|k| {
        let x = 1_u8 << k;
        Gf8(x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4))
    })
}

/// The inverse of [`affine`], found by trying all bytes.
fn inverse_affine() -> Linear {
    let affine = affine();
    std::array::from_fn(|k| {
        (0..=u8::MAX).map(Gf8).find(|x| image(&affine, *x) == Gf8(1 << k)).unwrap_or_default()
    })
}

/// Bytes x as masked bits: x_k is the sum of r_k and of bit k of c, which is public.
pub(super) struct Masked<F: Host> {
    /// The random bits: r_0 of all lanes, then r_1 of all lanes, and so on.
    pub r: Auth<Gf2, F>,
    pub c: Vec<Gf8>,
}

impl<F: Host> Spdz<F> {
    /// S-boxes by the powers of AES-BD or AES-RP: the inverse is x^254.
    ///
    /// Encryption ends, and decryption begins, with the affine map, which takes one decomposition. In
    /// decryption this is the decomposition that the powers need anyway.
    /// Adversary: n - 1 malicious. Cost (test `counts_of_the_powers`): AES-BD 6 products and 2 decompositions
    /// in 5 rounds, AES-RP 4 and 4 in 7; decryption one decomposition and round less.
    #[inline(never)]
    pub(super) fn powers(&mut self, d: Direction, x: &mut [&mut AuthByte<F>]) -> Result<(), Abort> {
        let mut all = AuthByte::with_capacity(x.iter().map(|x| x.len()).sum());
        x.iter().for_each(|x| all.append(x));
        let before = match d {
            Direction::Encrypt => frobenius(0),
            Direction::Decrypt => {
                self.party.add_constant(&mut all, CONSTANT)?;
                inverse_affine()
            }
        };
        let mut inverse = match self.protocol {
            SpdzProtocol::RivainProuff => self.rivain_prouff(&all, &before)?,
            SpdzProtocol::Lookup | SpdzProtocol::BitDecomposition | SpdzProtocol::Raw => {
                self.six_products(&all, &before)?
            }
        };
        if d == Direction::Encrypt {
            [inverse] = self.linear_maps(inverse.all(), [affine()])?;
            self.party.add_constant(&mut inverse, CONSTANT)?;
        }
        let mut at = 0;
        for x in x.iter_mut() {
            let lanes = at..at + x.len();
            at = lanes.end;
            x.set(inverse.view(lanes));
        }
        Ok(())
    }

    /// X^254 = ((X^2 X^4)(X^8 X^16))((X^32 X^64) X^128), all squares from one decomposition (section 3.3).
    fn six_products(&mut self, x: &AuthByte<F>, before: &Linear) -> Result<AuthByte<F>, Abort> {
        let lanes = x.len();
        let squares = [1, 2, 3, 4, 5, 6, 7].map(|i| after(&frobenius(i), before));
        let [x2, x4, x8, x16, x32, x64, x128] = self.linear_maps(x.all(), squares)?;
        let pairs = [(&x2, &x4), (&x8, &x16), (&x32, &x64)].map(|(x, y)| (x.all(), y.all()));
        let products = self.multiply(&pairs)?;
        let [x6, x24, x96] = [0, 1, 2].map(|i| products.view(i * lanes..(i + 1) * lanes));
        let products = self.multiply(&[(x6, x24), (x96, x128.all())])?;
        let [x30, x224] = [0, 1].map(|i| products.view(i * lanes..(i + 1) * lanes));
        self.multiply(&[(x30, x224)])
    }

    /// {X, X^2} -> {X^3, X^12} -> X^14; X^15, X^240 -> X^254 (section 3.1).
    fn rivain_prouff(&mut self, x: &AuthByte<F>, before: &Linear) -> Result<AuthByte<F>, Abort> {
        let lanes = x.len();
        let [x1, x2] = self.linear_maps(x.all(), [0, 1].map(|i| after(&frobenius(i), before)))?;
        let x3 = self.multiply(&[(x1.all(), x2.all())])?;
        let [x12] = self.linear_maps(x3.all(), [frobenius(2)])?;
        let both = self.multiply(&[(x12.all(), x2.all()), (x12.all(), x3.all())])?;
        let [x14, x15] = [both.view(0..lanes), both.view(lanes..2 * lanes)];
        let [x240] = self.linear_maps(x15, [frobenius(4)])?;
        self.multiply(&[(x240.all(), x14)])
    }

    /// x y for each of these pairs.
    #[inline(never)]
    pub(super) fn multiply(&mut self, pairs: &[Pair<'_, Gf8, F>]) -> Result<AuthByte<F>, Abort> {
        let count = pairs.iter().map(|(x, _)| x.len()).sum();
        let (party, _, triples) = self.fresh(0, count)?;
        party.multiply(pairs, triples)
    }

    /// x y, and x masked by random bits, in one round.
    #[inline(never)]
    pub(super) fn multiply_and_mask(
        &mut self,
        x: &AuthByte<F>,
        y: &AuthByte<F>,
    ) -> Result<(AuthByte<F>, Masked<F>), Abort> {
        let (party, mut r, triples) = self.fresh(8 * x.len(), x.len())?;
        let sent = mask_bytes(party, &mut r, x.all(), Planes::OfAll(x.len()))?;
        let pairs = [(x.all(), y.all())];
        let begun = party.begin_multiply(&pairs, triples)?;
        let c = open_masked(party, &mut r, x.all(), sent)?;
        Ok((party.end_multiply(&pairs, begun)?, Masked { r: r.copied(), c }))
    }

    /// x masked by random bits. One round.
    #[inline(never)]
    pub(super) fn masked(&mut self, x: &AuthByte<F>) -> Result<Masked<F>, Abort> {
        let (party, mut r, _) = self.fresh(8 * x.len(), 0)?;
        let sent = mask_bytes(party, &mut r, x.all(), Planes::OfAll(x.len()))?;
        let c = open_masked(party, &mut r, x.all(), sent)?;
        Ok(Masked { r: r.copied(), c })
    }

    /// The `width` lowest bits of x, plane by plane. One round.
    #[inline(never)]
    pub(super) fn decompose(&mut self, x: &AuthByte<F>, width: usize) -> Result<Auth<Gf2, F>, Abort> {
        let (party, mut r, _) = self.fresh(8 * x.len(), 0)?;
        let sent = mask_bytes(party, &mut r, x.all(), Planes::OfAll(x.len()))?;
        let c = open_masked(party, &mut r, x.all(), sent)?;
        let mut bits = r.first(width * x.len());
        for k in 0..width {
            let plane = k * x.len()..(k + 1) * x.len();
            party.add_bits_of((&mut bits.x[plane.clone()], &mut bits.m[plane]), k, &c)?;
        }
        Ok(bits)
    }

    /// The images of x under maps that are linear over GF(2), by one decomposition. One round.
    #[inline(never)]
    fn linear_maps<const N: usize>(
        &mut self,
        x: View<'_, Gf8, F>,
        maps: [Linear; N],
    ) -> Result<[AuthByte<F>; N], Abort> {
        let (party, mut r, _) = self.fresh(8 * x.len(), 0)?;
        let sent = mask_bytes(party, &mut r, x, Planes::OfChunks)?;
        map_bits(party, &mut r, x, sent, maps)
    }
}

/// Where the eight random bits r_k of each lane lie. Each bit is independent of the others and used once, so
/// any order will do if all parties use the same one.
#[derive(Clone, Copy)]
enum Planes {
    /// r_k of all lanes (of which there are this many), and then r_(k + 1): for a caller that continues with
    /// bits.
    OfAll(usize),
    /// The eight planes of a chunk, and then those of the next chunk. Memory is then read from one end to the
    /// other; planes that lie a power of two apart would displace each other in a cache.
    OfChunks,
}

impl Planes {
    /// The positions of r_k of a chunk of lanes.
    fn place(self, here: &Range<usize>, k: usize) -> Range<usize> {
        let from = match self {
            Planes::OfAll(lanes) => k * lanes + here.start,
            Planes::OfChunks => 8 * here.start + k * here.len(),
        };
        from..from + here.len()
    }
}

/// Lanes in chunks of at most this size.
pub(super) fn chunks(lanes: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..lanes).step_by(size).map(move |from| from..lanes.min(from + size))
}

/// BitDec (KOR+17, section 2.1): open x + r for eight random bits r_k of each lane; \[\[x_k\]\] =
/// \[\[r_k\]\] + that bit. One round, of which this is the first half.
fn mask_bytes<F: Host>(
    party: &mut Party<F>,
    r: &mut Tail<'_, Gf2, F>,
    x: View<'_, Gf8, F>,
    planes: Planes,
) -> Result<SentShares<Gf8>, Abort> {
    if [r.len(), 8 * x.m.len()] != [8 * x.len(); 2] {
        return Err(party.session.misuse(DECOMPOSE, Misuse::CountsDiffer));
    }
    let mut masked = WipedVec::from(x.x);
    let (bits, _) = r.parts();
    for here in chunks(x.len(), CHUNK) {
        for k in 0..8 {
            let plane = &bits[planes.place(&here, k)];
            masked[here.clone()]
                .iter_mut()
                .zip(plane)
                .for_each(|(to, bit)| to.0 ^= (bit.to_bits() as u8) << k);
        }
    }
    party.send_shares(DECOMPOSE, &masked)
}

/// Put x + r of a chunk of lanes into the next check, with our shares of their MACs. `macs` is memory for
/// these shares.
fn enter_masked<F: Host>(
    party: &mut Party<F>,
    macs: &mut [F],
    planes: &[&[F]; 8],
    x: View<'_, Gf8, F>,
    opened: &[Gf8],
) {
    let powers: [F; 8] = std::array::from_fn(|k| F::embedded(Gf8(1 << k)));
    F::combine(macs, &powers, planes);
    <F as BigField>::add_assign(macs, x.m);
    party.enter(opened.iter().map(|v| F::embedded_public(*v)), macs);
}

/// The second half of an opening of bytes that are masked by random bits, which lie plane by plane over all
/// lanes: receives what the peers sent, and notes for the next check of MACs what was opened.
fn open_masked<F: Host>(
    party: &mut Party<F>,
    r: &mut Tail<'_, Gf2, F>,
    x: View<'_, Gf8, F>,
    sent: SentShares<Gf8>,
) -> Result<Vec<Gf8>, Abort> {
    let opened = party.sum_received(sent)?;
    party.ledger.reserve(x.len());
    let mut macs = WipedVec::zeros(CHUNK.min(x.len()));
    let (_, bit_macs) = r.parts();
    for here in chunks(x.len(), CHUNK) {
        let planes = std::array::from_fn(|k| &bit_macs[Planes::OfAll(x.len()).place(&here, k)]);
        enter_masked(party, &mut macs[..here.len()], &planes, x.view(here.clone()), &opened[here.clone()]);
    }
    Ok(opened)
}

/// The second half of a decomposition that needs only images of x under linear maps L, and not its bits: L(x)
/// = L(r) + L(x + r). The data of a chunk are read once and stay in the cache.
fn map_bits<F: Host, const N: usize>(
    party: &mut Party<F>,
    r: &mut Tail<'_, Gf2, F>,
    x: View<'_, Gf8, F>,
    sent: SentShares<Gf8>,
    maps: [Linear; N],
) -> Result<[AuthByte<F>; N], Abort> {
    let lanes = x.len();
    let opened = party.sum_received(sent)?;
    party.ledger.reserve(lanes);
    let mut out = [const { Auth { x: WipedVec::new(), m: WipedVec::new() } }; N];
    out.iter_mut().for_each(|out| *out = AuthByte::zeros(lanes));
    let mut macs = WipedVec::zeros(CHUNK.min(lanes));
    let mut images = [Gf8::ZERO; CHUNK];
    let (bits, bit_macs) = r.parts();
    for here in chunks(lanes, CHUNK) {
        let place = |k: usize| Planes::OfChunks.place(&here, k);
        let opened = &opened[here.clone()];
        let macs = &mut macs[..here.len()];
        let planes = std::array::from_fn::<_, 8, _>(|k| (&bits[place(k)], &bit_macs[place(k)]));
        enter_masked(party, macs, &planes.map(|(_, m)| m), x.view(here.clone()), opened);
        for (map, out) in maps.iter().zip(&mut out) {
            let (x, m) = (&mut out.x[here.clone()], &mut out.m[here.clone()]);
            combine_bits((x, m), &planes, map);
            let images = &mut images[..here.len()];
            images.fill(Gf8::ZERO);
            add_images(images, opened, map);
            party.add_public_with((x, m), images, macs)?;
        }
    }
    Ok(out)
}

/// Add the images of public bytes under a linear map.
pub(super) fn add_images(images: &mut [Gf8], bytes: &[Gf8], map: &Linear) {
    vectorize(
        #[inline(always)]
        || {
            for (k, image) in map.iter().enumerate() {
                for (to, byte) in images.iter_mut().zip(bytes) {
                    to.0 ^= image.0 & (byte.0 >> k & 1).wrapping_neg();
                }
            }
        },
    );
}

/// The image of decomposed bytes under a linear map; local.
pub(super) fn linear<F: Host>(bits: &Auth<Gf2, F>, map: &Linear, lanes: usize) -> AuthByte<F> {
    let mut out = AuthByte::<F>::zeros(lanes);
    if bits.len() == 8 * lanes {
        let plane = |k: usize| bits.view(k * lanes..(k + 1) * lanes);
        let planes = std::array::from_fn::<_, 8, _>(|k| (plane(k).x, plane(k).m));
        combine_bits((&mut out.x, &mut out.m), &planes, map);
    }
    out
}

/// The image of decomposed bytes like that of [`linear`], written to `x` and `m`; the planes may lie
/// anywhere, one for each of the images.
pub(super) fn combine_bits<F: Host>(
    (x, m): (&mut [Gf8], &mut [F]),
    planes: &[(&[Gf2], &[F])],
    images: &[Gf8],
) {
    x.fill(Gf8::ZERO);
    vectorize(
        #[inline(always)]
        || {
            for ((plane, _), image) in planes.iter().zip(images) {
                for (x, bit) in x.iter_mut().zip(*plane) {
                    x.0 ^= image.0 & (bit.to_bits() as u8).wrapping_neg();
                }
            }
        },
    );
    let images: Vec<F> = images.iter().map(|image| F::embedded(*image)).collect();
    let rows: Vec<&[F]> = planes.iter().map(|(_, macs)| *macs).collect();
    F::combine(m, &images, &rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each random bit hides one bit of one lane, in any order of planes.
    #[test]
    fn every_random_bit_hides_one_lane() {
        for lanes in [1, CHUNK, 5 * CHUNK - 3, (1 << 17) + 1] {
            for planes in [Planes::OfAll(lanes), Planes::OfChunks] {
                let mut used = vec![false; 8 * lanes];
                let places =
                    chunks(lanes, CHUNK).flat_map(|here| (0..8).flat_map(move |k| planes.place(&here, k)));
                places.for_each(|at| assert!(!std::mem::replace(&mut used[at], true), "{lanes}: {at}"));
                assert!(used.iter().all(|used| *used), "{lanes}");
            }
        }
    }

    #[test]
    fn the_maps_are_those_of_the_standard() {
        // 5.1.1: S(0x53) = 0xed
        assert_eq!(image(&affine(), Gf8(0x53).inverse()) + CONSTANT, Gf8(0xed));
        for x in (0..=u8::MAX).map(Gf8) {
            assert_eq!(image(&after(&inverse_affine(), &affine()), x), x);
            assert_eq!(image(&frobenius(3), x), x.square().square().square());
        }
    }
}
