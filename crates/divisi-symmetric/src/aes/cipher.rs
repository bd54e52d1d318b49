//! The cipher and the inverse cipher of AES (FIPS 197, 5.1 and 5.3).

use super::RoundKeys;
use divisi_core::{Abort, Bytes, Direction, Lanes, Matrix};

/// The matrix of MixColumns (FIPS 197, 5.1.3).
const MIX: Matrix<4> = circulant([0x02, 0x03, 0x01, 0x01]);

/// The matrix of InvMixColumns (FIPS 197, 5.3.3).
const INVERSE_MIX: Matrix<4> = circulant([0x0e, 0x0b, 0x0d, 0x09]);

/// Cipher (FIPS 197, algorithm 1), in place, on every lane of the state.
///
/// Cost: `Nr` S-box layers of 16 bytes (test `the_cipher_has_one_layer_a_round`).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the round keys have neither one lane nor as many as
/// the state.
pub fn encrypt<E: Bytes + ?Sized>(
    e: &mut E,
    round_keys: &RoundKeys<E::Byte>,
    state: &mut [E::Byte; 16],
) -> Result<(), Abort> {
    let nr = round_keys.size().rounds();
    e.prepare(nr, 16, state[0].lanes())?;
    for (round, round_key) in round_keys.keys().iter().enumerate() {
        if round > 0 {
            sub_bytes(e, Direction::Encrypt, state)?;
            shift_rows(state);
        }
        if (1..nr).contains(&round) {
            mix_columns(e, &MIX, state)?;
        }
        add_round_key(e, state, round_key)?;
    }
    e.finish(&mut state.each_mut())
}

/// InvCipher (FIPS 197, algorithm 3), in place, on every lane of the state. Same cost as [`encrypt`].
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the round keys have neither one lane nor as many as
/// the state.
pub fn decrypt<E: Bytes + ?Sized>(
    e: &mut E,
    round_keys: &RoundKeys<E::Byte>,
    state: &mut [E::Byte; 16],
) -> Result<(), Abort> {
    let nr = round_keys.size().rounds();
    e.prepare(nr, 16, state[0].lanes())?;
    for (round, round_key) in round_keys.keys().iter().enumerate().rev() {
        add_round_key(e, state, round_key)?;
        if (1..nr).contains(&round) {
            mix_columns(e, &INVERSE_MIX, state)?;
        }
        if round > 0 {
            inverse_shift_rows(state);
            sub_bytes(e, Direction::Decrypt, state)?;
        }
    }
    e.finish(&mut state.each_mut())
}

/// SubBytes and InvSubBytes: one layer.
fn sub_bytes<E: Bytes + ?Sized>(e: &mut E, d: Direction, state: &mut [E::Byte; 16]) -> Result<(), Abort> {
    e.sbox(d, &mut state.each_mut())
}

/// ShiftRows: row `r` rotates left by `r`. Only names of bytes change, nothing is copied.
fn shift_rows<B>(state: &mut [B; 16]) {
    for r in 1..4 {
        turn_row_left(state, r, r);
    }
}

/// InvShiftRows: row `r` rotates right by `r`, that is left by `4 - r`.
fn inverse_shift_rows<B>(state: &mut [B; 16]) {
    for r in 1..4 {
        turn_row_left(state, r, 4 - r);
    }
}

fn turn_row_left<B>(state: &mut [B; 16], r: usize, by: usize) {
    for _ in 0..by {
        for c in 0..3 {
            state.swap(r + 4 * c, r + 4 * (c + 1));
        }
    }
}

/// MixColumns and InvMixColumns.
fn mix_columns<E: Bytes + ?Sized>(
    e: &mut E,
    matrix: &Matrix<4>,
    state: &mut [E::Byte; 16],
) -> Result<(), Abort> {
    let (columns, _) = state.as_chunks_mut::<4>();
    columns.iter_mut().try_for_each(|column| e.linear(matrix, column))
}

/// AddRoundKey.
fn add_round_key<E: Bytes + ?Sized>(
    e: &mut E,
    state: &mut [E::Byte; 16],
    round_key: &[E::Byte; 16],
) -> Result<(), Abort> {
    state.iter_mut().zip(round_key).try_for_each(|(byte, key)| e.add(byte, key))
}

/// The circulant matrix with this first row: each row is the one above it, rotated right by one.
const fn circulant(first: [u8; 4]) -> Matrix<4> {
    let mut rows = [first; 4];
    let mut r = 1;
    while r < 4 {
        let mut c = 0;
        while c < 4 {
            rows[r][c] = first[(c + 4 - r) % 4];
            c += 1;
        }
        r += 1;
    }
    Matrix(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Plain;

    #[test]
    fn the_matrices_are_those_of_the_standard_and_inverse_to_each_other() {
        assert_eq!(MIX.0, [[2, 3, 1, 1], [1, 2, 3, 1], [1, 1, 2, 3], [3, 1, 1, 2]]);
        let unit = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
        let mut columns = unit.map(|row: [u8; 4]| Plain.public(&row));
        Plain.linear(&MIX, &mut columns).unwrap();
        Plain.linear(&INVERSE_MIX, &mut columns).unwrap();
        for (column, row) in columns.iter().zip(&unit) {
            assert_eq!((column.values(), column.lanes()), (&row[..], 4));
        }
    }

    #[test]
    fn rows_turn_as_in_figure_9() {
        // byte r + 4c of the new state was byte r + 4 ((c + r) mod 4)
        let mut state: [usize; 16] = std::array::from_fn(|i| i);
        shift_rows(&mut state);
        assert_eq!(state, std::array::from_fn(|i| i % 4 + 4 * ((i / 4 + i % 4) % 4)));
        inverse_shift_rows(&mut state);
        assert_eq!(state, std::array::from_fn(|i| i));
    }
}
