//! From a vector at place r and the opened c = v + r to shares of T(v): local.
//!
//! T is given by its monomials ([`divisi_field::gf8::anf`]), the vector by those of r. For a public c the
//! monomials of v = c + r are `n_U = prod over U of (c_i + r_i)`: for each index bit i in U,
//! `n_U += c_i n_{U - i}`. Then T(v) is a sum of them. It is the same sum as Protocol 4's over e^(r) with
//! entries T_{c + j}, in another order. No index depends on a share or on c.

use crate::ohv::byte::{self, BYTE_PLANES};
use crate::ohv::nibble::{self, NIBBLES_PLANES};
use crate::tile::Tile;
use divisi_core::Direction;
use divisi_field::gf8::anf;
use divisi_field::kernel::Task;
use divisi_field::{Plane, Word};

/// The constant 1 in one of our components: ones if that component carries public constants, else zeros.
#[inline(always)]
pub(crate) fn one<W: Word>(constant: Option<usize>, side: usize) -> W {
    W::splat(u64::from(constant == Some(side)))
}

/// The monomials of c + r, the empty one first, from those of a nibble r that lie in these planes.
#[inline(always)]
pub(crate) fn turned<W: Word, const K: usize>(
    planes: &[Plane; K],
    sets: &[usize; 16],
    c: &[W; 4],
    one: W,
) -> [W; 16] {
    let mut n = [one; 16];
    let mut set = 1;
    while set < 16 {
        n[set] = W::load(&planes[sets[set]]);
        set += 1;
    }
    turn(&mut n, c);
    n
}

/// `n_U += c_i n_{U - i}` for each of four index bits.
#[inline(always)]
fn turn<W: Word>(n: &mut [W; 16], c: &[W; 4]) {
    let mut i = 0;
    while i < 4 {
        let mut set = 0;
        while set < 16 {
            if set >> i & 1 == 1 {
                let less = n[set ^ 1 << i];
                n[set] ^= less & c[i];
            }
            set += 1;
        }
        i += 1;
    }
}

/// The inverse in GF(2^4) from the monomials.
#[inline(always)]
pub(crate) fn small_inverse<W: Word>(n: &[W; 16]) -> [W; 4] {
    let mut out = [W::zero(); 4];
    let mut set = 0;
    while set < 16 {
        let mut bit = 0;
        while bit < 4 {
            if anf::GF4_INVERSE[set] >> bit & 1 == 1 {
                out[bit] ^= n[set];
            }
            bit += 1;
        }
        set += 1;
    }
    out
}

/// The monomials of an S-box: for each output bit their sets, by which they are indexed in a scratch of 256,
/// and how many there are.
struct Sets {
    sets: [[u8; 256]; 8],
    len: [usize; 8],
}

static FORWARD: Sets = sets(&anf::SBOX);
static INVERSE: Sets = sets(&anf::INVERSE_SBOX);

const fn sets(anf: &[u8; 256]) -> Sets {
    let mut all = Sets { sets: [[0; 256]; 8], len: [0; 8] };
    let mut set = 0;
    while set < 256 {
        let mut bit = 0;
        while bit < 8 {
            if anf[set] >> bit & 1 == 1 {
                all.sets[bit][all.len[bit]] = set as u8;
                all.len[bit] += 1;
            }
            bit += 1;
        }
        set += 1;
    }
    all
}

/// One component of T(c + r) for an S-box, from a replicated vector of 256.
pub(crate) struct Replicated<'a> {
    pub(crate) vector: &'a [Plane; BYTE_PLANES],
    pub(crate) c: &'a [Plane; 8],
    pub(crate) direction: Direction,
    /// Whether this component carries public constants.
    pub(crate) one: bool,
    pub(crate) out: &'a mut [Plane; 8],
}

impl Task for Replicated<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let c: [W; 8] = W::load_all(self.c);
        let (low, high) = ([c[0], c[1], c[2], c[3]], [c[4], c[5], c[6], c[7]]);
        let mut n = [W::zero(); 256];
        // the low index bits, for each set of high ones
        for top in 0..16 {
            let mut row = [W::zero(); 16];
            for (set, row) in row.iter_mut().enumerate() {
                let set = top << 4 | set;
                *row = if set == 0 {
                    W::splat(u64::from(self.one))
                } else {
                    W::load(&self.vector[byte::PLANES[set]])
                };
            }
            turn(&mut row, &low);
            n[16 * top..16 * top + 16].copy_from_slice(&row);
        }
        // the high ones, for each set of low ones
        for bottom in 0..16 {
            let mut column: [W; 16] = core::array::from_fn(
                #[inline(always)]
                |top| n[16 * top + bottom],
            );
            turn(&mut column, &high);
            for (top, column) in column.iter().enumerate() {
                n[16 * top + bottom] = *column;
            }
        }
        let sets = match self.direction {
            Direction::Encrypt => &FORWARD,
            Direction::Decrypt => &INVERSE,
        };
        for (bit, out) in self.out.iter_mut().enumerate() {
            // four sums side by side, so that one XOR need not wait for the last
            let mut sums = [W::zero(); 4];
            let (fours, rest) = sets.sets[bit][..sets.len[bit]].as_chunks::<4>();
            for four in fours {
                for (sum, set) in sums.iter_mut().zip(four) {
                    *sum ^= n[usize::from(*set)];
                }
            }
            for (sum, set) in sums.iter_mut().zip(rest) {
                *sum ^= n[usize::from(*set)];
            }
            (sums[0] ^ sums[1] ^ sums[2] ^ sums[3]).store(out);
        }
    }
}

/// For each set of high index bits and each output bit, the sets of low ones that make a monomial with it:
/// bit L of the word for set L.
type Halves = [[u16; 8]; 16];

static FORWARD_HALVES: Halves = halves(&anf::SBOX);
static INVERSE_HALVES: Halves = halves(&anf::INVERSE_SBOX);

const fn halves(anf: &[u8; 256]) -> Halves {
    let mut out = [[0; 8]; 16];
    let mut set = 0;
    while set < 256 {
        let mut bit = 0;
        while bit < 8 {
            out[set >> 4][bit] |= ((anf[set] >> bit & 1) as u16) << (set & 15);
            bit += 1;
        }
        set += 1;
    }
    out
}

/// Our additive share of T(c + r) for an S-box, from two vectors of 16: Protocol 6, steps 6 and 7, as
/// `sum over H of n'_H (sum over L of a_{H,L} n_L)`, a local product for each H and output bit.
pub(crate) struct Additive<'a> {
    pub(crate) vectors: &'a Tile<NIBBLES_PLANES>,
    pub(crate) c: &'a [Plane; 8],
    pub(crate) direction: Direction,
    pub(crate) constant: Option<usize>,
    pub(crate) out: &'a mut [Plane; 8],
}

impl Task for Additive<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let c: [W; 8] = W::load_all(self.c);
        let (low, high) = ([c[0], c[1], c[2], c[3]], [c[4], c[5], c[6], c[7]]);
        let halves = match self.direction {
            Direction::Encrypt => &FORWARD_HALVES,
            Direction::Decrypt => &INVERSE_HALVES,
        };
        let mut out = [W::zero(); 8];
        let ones = [one::<W>(self.constant, 0), one::<W>(self.constant, 1)];
        let [low_sets, high_sets] = &nibble::PLANES_OF_TWO;
        // MultLocal: x_i y_i, then (x_i + x_{i+1}) (y_i + y_{i+1})
        let mut l = turned(&self.vectors[0], low_sets, &low, ones[0]);
        let mut h = turned(&self.vectors[0], high_sets, &high, ones[0]);
        products(&l, &h, halves, &mut out);
        let l1 = turned(&self.vectors[1], low_sets, &low, ones[1]);
        let h1 = turned(&self.vectors[1], high_sets, &high, ones[1]);
        for set in 0..16 {
            l[set] ^= l1[set];
            h[set] ^= h1[set];
        }
        products(&l, &h, halves, &mut out);
        W::store_all(&out, self.out);
    }
}

/// `out_b += sum over H of h_H (sum over L of a l_L)`: the inner sums are looked up among those of four
/// monomials at a time.
#[inline(always)]
fn products<W: Word>(l: &[W; 16], h: &[W; 16], halves: &Halves, out: &mut [W; 8]) {
    let mut sums = [[W::zero(); 16]; 4];
    for (quarter, sums) in sums.iter_mut().enumerate() {
        for i in 0..4 {
            for set in 0..1 << i {
                sums[set | 1 << i] = sums[set] ^ l[4 * quarter + i];
            }
        }
    }
    for (h, halves) in h.iter().zip(halves) {
        for (out, half) in out.iter_mut().zip(halves) {
            let sum = |quarter: usize| sums[quarter][usize::from(half >> (4 * quarter) & 15)];
            *out ^= *h & (sum(0) ^ sum(1) ^ sum(2) ^ sum(3));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::kernel::run;

    fn vector(r: usize) -> [Plane; BYTE_PLANES] {
        let mut planes = [Plane::ZERO; BYTE_PLANES];
        for set in 1..256usize {
            planes[byte::plane(set)] = Plane::splat(u64::from(r & set == set));
        }
        planes
    }

    fn spread(c: usize) -> [Plane; 8] {
        std::array::from_fn(|i| Plane::splat((c >> i & 1) as u64))
    }

    fn byte_of(planes: &[Plane; 8]) -> u8 {
        (0..8).fold(0, |x, i| x | (planes[i].lane(511) as u8) << i)
    }

    /// T(c + r) at every place, in the clear: one component that is the value, the other zero.
    #[test]
    fn a_lookup_gives_the_entry() {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let anf = if direction == Direction::Encrypt { &anf::SBOX } else { &anf::INVERSE_SBOX };
            for r in 0..256 {
                let c = (r * 7 + 3) & 255;
                let mut out = [Plane::ZERO; 8];
                run(Replicated { vector: &vector(r), c: &spread(c), direction, one: true, out: &mut out });
                let right = anf::value(anf, (c ^ r) as u8).0;
                assert_eq!(byte_of(&out), right);
                let mut vectors = [[Plane::ZERO; NIBBLES_PLANES]; 2];
                for set in 1..16 {
                    for half in 0..2 {
                        let bit = u64::from(r >> (4 * half) & set == set);
                        vectors[0][nibble::plane(2, half, set)] = Plane::splat(bit);
                    }
                }
                // P1 holds the value first, and P3 second: the shares of three parties add up
                let third = [[Plane::ZERO; NIBBLES_PLANES], vectors[0]];
                let mut sum = 0;
                for (vectors, constant) in
                    [(&vectors, Some(0)), (&[[Plane::ZERO; NIBBLES_PLANES]; 2], None), (&third, Some(1))]
                {
                    run(Additive { vectors, c: &spread(c), direction, constant, out: &mut out });
                    sum ^= byte_of(&out);
                }
                assert_eq!(sum, right, "{direction:?} {r}");
            }
        }
    }

    #[test]
    fn the_small_inverse_is_the_entry() {
        for (v, c) in (0..16u64).flat_map(|v| (0..16u64).map(move |c| (v, c))) {
            let r = v ^ c;
            let mut planes = [Plane::ZERO; nibble::NIBBLE_PLANES];
            for set in 1..16 {
                planes[nibble::plane(1, 0, set)] = Plane::splat(u64::from(r as usize & set == set));
            }
            let c_planes = std::array::from_fn(|i| Plane::splat(c >> i & 1));
            let n = turned::<Plane, { nibble::NIBBLE_PLANES }>(
                &planes,
                &nibble::PLANES_OF_ONE,
                &c_planes,
                Plane::ONES,
            );
            let inverse = small_inverse(&n);
            let bits = (0..4).fold(0, |x, i| x | (inverse[i].lane(0) as u8) << i);
            assert_eq!(bits, anf::value(&anf::GF4_INVERSE, v as u8).0);
        }
    }
}
