//! The chains of additively shared layers whose linear maps are not inverted yet.

use crate::record::Records;
use crate::sbox::chained::Side;
use crate::sbox::verify_sbox::SBOX_PLANES;
use divisi_field::{Field, Gf8};

/// The layers whose outputs have not come back yet.
#[derive(Default)]
pub(crate) struct Chains {
    pub(super) waiting: Vec<Waiting>,
    pub(super) layers: u64,
    /// Matrices with their inverses, kept for reuse: a cipher has two.
    inverses: Vec<(Vec<Gf8>, Vec<Gf8>)>,
}

/// A layer whose outputs are on their way.
pub(super) struct Waiting {
    pub(super) layer: u64,
    pub(super) bytes: usize,
    /// Whether its bytes stand side by side in one record.
    pub(super) is_packed: bool,
    pub(super) side: Side,
    pub(super) made: Records<SBOX_PLANES>,
}

impl Chains {
    /// Whether every layer was completed.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forget the layers that were not completed.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }
    /// The inverse of a public matrix of `n` rows; `None` if there is none.
    pub(super) fn inverse(&mut self, rows: Vec<Gf8>, n: usize) -> Option<Vec<Gf8>> {
        if let Some((_, inverse)) = self.inverses.iter().find(|(known, _)| *known == rows) {
            return Some(inverse.clone());
        }
        let inverse = invert(rows.clone(), n)?;
        self.inverses.push((rows, inverse.clone()));
        Some(inverse)
    }
}

/// The inverse of a public matrix over GF(2^8), by Gauss and Jordan.
fn invert(mut m: Vec<Gf8>, n: usize) -> Option<Vec<Gf8>> {
    if m.len() != n * n {
        return None;
    }
    let mut inverse = vec![Gf8::ZERO; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = Gf8::ONE);
    for column in 0..n {
        let pivot = (column..n).find(|row| m[row * n + column] != Gf8::ZERO)?;
        for k in 0..n {
            m.swap(pivot * n + k, column * n + k);
            inverse.swap(pivot * n + k, column * n + k);
        }
        let scale = m[column * n + column].inverse();
        for k in 0..n {
            m[column * n + k] *= scale;
            inverse[column * n + k] *= scale;
        }
        for row in (0..n).filter(|row| *row != column) {
            let factor = m[row * n + column];
            if factor == Gf8::ZERO {
                continue; // the matrix is public
            }
            for k in 0..n {
                m[row * n + k] = m[row * n + k] + factor * m[column * n + k];
                inverse[row * n + k] = inverse[row * n + k] + factor * inverse[column * n + k];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one_and_a_singular_one_has_none() {
        let n = 16;
        let m: Vec<Gf8> = (0..n * n).map(|i| Gf8((i * i * 31 + i * 7 + 1) as u8)).collect();
        let m: Vec<Gf8> = (0..n * n).map(|i| if i % (n + 1) == 0 { Gf8(0x53) } else { m[i] }).collect();
        if let Some(inverse) = invert(m.clone(), n) {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: Gf8 = (0..n).map(|k| m[i * n + k] * inverse[k * n + j]).sum();
                assert_eq!(sum, if i == j { Gf8::ONE } else { Gf8::ZERO });
            }
        } else {
            panic!("this matrix has an inverse");
        }
        assert!(invert(vec![Gf8::ONE; 4], 2).is_none());
        assert!(invert(vec![Gf8::ONE; 3], 2).is_none());
    }
}
