//! Polynomials for tables of few bits: the decomposition of Pulkus and Vivek (CHES 2016), as KOR+17 uses it
//! (section 3.2).
//!
//! An index is an element x of GF(2^8) whose upper bits are zero. The polynomials have only powers of x whose
//! exponents are 1, 3 or 7 times a power of two, modulo 255. Such a polynomial is the sum of a linear map of
//! x, one of x^3 and one of x^7. Every table T of DES has polynomials p1, q1 and p2 of this kind and a
//! constant c, with which the low bits of p1(x) q1(x) + p2(x) + c are T(x). q1 is chosen at random, and is
//! the same for all tables; p1, p2 and c then solve a linear system over GF(2) that has a row for each bit of
//! each value. (The paper has no constant term. Without it no table of DES has a solution, because all other
//! terms are zero at x = 0.)

use super::arithmetic::{Linear, image};
use crate::purposes;
use divisi_core::{Prg, Table};
use divisi_field::{Field, Gf8};

/// A linear map of each of x, x^3 and x^7.
pub(super) type Polynomial = [Linear; 3];

/// The seed of q1.
const SEED: [u8; 16] = *b"KOR+17 3DES-PV q";

/// How the values of a table are computed: they are the low bits of p1(x) q1(x) + p2(x) + c.
pub(super) struct Decomposition {
    pub p1: Polynomial,
    pub q1: Polynomial,
    pub p2: Polynomial,
    pub constant: Gf8,
}

/// The first columns of each part of the system: the bits of p1 come first, then those of p2, those of the
/// constant, and the right side.
const P2: usize = 3 * 64;
const CONSTANT: usize = P2 + 3 * 64;
const RIGHT: usize = CONSTANT + 8;
const WORDS: usize = RIGHT / 64 + 1;

type Row = [u64; WORDS];

/// x, x^3, x^7.
fn powers(x: Gf8) -> [Gf8; 3] {
    let (square, fourth) = (x.square(), x.square().square());
    [x, x * square, x * square * fourth]
}

/// The value of a polynomial at a public x.
fn value(p: &Polynomial, x: Gf8) -> Gf8 {
    p.iter().zip(powers(x)).map(|(map, power)| image(map, power)).sum()
}

fn set(row: &mut Row, column: usize, bit: u8) {
    row[column / 64] ^= u64::from(bit & 1) << (column % 64);
}

fn get(row: &Row, column: usize) -> bool {
    row[column / 64] >> (column % 64) & 1 == 1
}

impl Decomposition {
    /// The decomposition of a table of at most six bits; `None` if none is found. Nothing here is secret.
    pub fn of(table: &Table) -> Option<Self> {
        let mut prg = Prg::of(purposes::DECOMPOSITION, &SEED);
        // a few choices of q1, of which the first served every table so far
        (0..8).find_map(|_| {
            let mut bytes = [0; 24];
            prg.fill(&mut bytes);
            let mut q1 = [[Gf8::ZERO; 8]; 3];
            q1.iter_mut().flatten().zip(bytes).for_each(|(to, byte)| *to = Gf8(byte));
            solve(table, q1)
        })
    }

    #[cfg(test)]
    fn at(&self, x: Gf8) -> Gf8 {
        value(&self.p1, x) * value(&self.q1, x) + value(&self.p2, x) + self.constant
    }
}

/// The rows of a table's system.
fn system(table: &Table, q1: &Polynomial) -> Vec<Row> {
    let mut rows = Vec::with_capacity(table.values.len() * table.width);
    for (x, wanted) in (0..=u8::MAX).zip(table.values) {
        let q = value(q1, Gf8(x));
        for bit in 0..table.width {
            let mut row = [0; WORDS];
            for (j, power) in powers(Gf8(x)).into_iter().enumerate() {
                for column in (0..8).filter(|column| power.0 >> column & 1 == 1) {
                    let at = 64 * j + 8 * column;
                    for r in 0..8 {
                        set(&mut row, at + r, (Gf8(1 << r) * q).0 >> bit);
                    }
                    set(&mut row, P2 + at + bit, 1);
                }
            }
            set(&mut row, CONSTANT + bit, 1);
            set(&mut row, RIGHT, wanted >> bit);
            rows.push(row);
        }
    }
    rows
}

/// Gaussian elimination; unknowns that stay free are set to zero. `None` if there is no solution.
fn solve(table: &Table, q1: Polynomial) -> Option<Decomposition> {
    let mut rows = system(table, &q1);
    let mut solution = [0_u64; WORDS];
    let mut pivots = Vec::new();
    for column in 0..RIGHT {
        let done = pivots.len();
        let Some(found) = rows[done..].iter().position(|row| get(row, column)) else { continue };
        rows.swap(done, done + found);
        let pivot = rows[done];
        for (i, row) in rows.iter_mut().enumerate() {
            if i != done && get(row, column) {
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x ^= y);
            }
        }
        pivots.push(column);
    }
    let (solved, rest) = rows.split_at(pivots.len());
    if rest.iter().any(|row| get(row, RIGHT)) {
        return None;
    }
    for (row, column) in solved.iter().zip(&pivots) {
        set(&mut solution, *column, u8::from(get(row, RIGHT)));
    }
    let byte = |at: usize| Gf8((0..8).fold(0, |byte, r| byte | u8::from(get(&solution, at + r)) << r));
    let polynomial =
        |from: usize| std::array::from_fn(|j| std::array::from_fn(|column| byte(from + 64 * j + 8 * column)));
    Some(Decomposition { p1: polynomial(0), q1, p2: polynomial(P2), constant: byte(CONSTANT) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_symmetric::des::SBOXES;

    #[test]
    fn every_table_of_des_is_a_polynomial_with_the_same_q1() {
        let all = SBOXES.each_ref().map(|table| Decomposition::of(table).unwrap());
        for (table, decomposition) in SBOXES.iter().zip(&all) {
            assert_eq!(decomposition.q1, all[0].q1);
            for (x, wanted) in (0..=u8::MAX).zip(table.values) {
                assert_eq!(decomposition.at(Gf8(x)).0 & 0x0f, *wanted);
            }
        }
    }

    /// Whatever q1 is, a solution is one in every row; if q1 is zero, no table has any.
    #[test]
    fn what_is_found_is_a_solution() {
        let of_bytes = |few: usize| {
            let mut q1 = [[Gf8::ZERO; 8]; 3];
            q1.iter_mut().flatten().take(few).enumerate().for_each(|(i, x)| *x = Gf8(1 << (i % 8)));
            q1
        };
        let maps: Vec<Polynomial> = (0..=24).map(of_bytes).collect();
        let all = SBOXES.iter().flat_map(|table| maps.iter().map(move |q1| (table, solve(table, *q1))));
        let mut none = 0;
        for (table, found) in all {
            let Some(found) = found else {
                none += 1;
                continue;
            };
            for (x, wanted) in (0..=u8::MAX).zip(table.values) {
                assert_eq!(found.at(Gf8(x)).0 & 0x0f, *wanted);
            }
        }
        assert!(none >= SBOXES.len());
    }

    /// Without a constant, p1 q1 + p2 is zero at x = 0, where no S-box of DES is zero.
    #[test]
    fn a_constant_is_needed() {
        assert!(SBOXES.iter().all(|table| table.values[0] != 0));
        let without = Decomposition { constant: Gf8::ZERO, ..Decomposition::of(&SBOXES[0]).unwrap() };
        assert_eq!(without.at(Gf8::ZERO), Gf8::ZERO);
    }
}
