#![allow(clippy::unwrap_used)]

use super::*;
use crate::bulk::agrees_with_reference;

crate::field_laws!(Gf128);

#[test]
fn kernels_agree_with_the_reference() {
    agrees_with_reference(reference::mul);
}

/// Test case 2 of the GCM specification (McGrew and Viega): GHASH of one ciphertext block.
#[test]
fn ghash_of_the_specification() {
    let read = |digits: u128| Gf128::from_ghash(digits.to_be_bytes());
    let h = read(0x66e94bd4ef8a2c3b884cfa59ca342b2e);
    let c = read(0x0388dace60b6a392f328c2b971b2fe78);
    let lengths = read(128);
    let hash = (c * h + lengths) * h;
    assert_eq!(u128::from_be_bytes(hash.to_ghash()), 0xf38cbb1ad69223dcc3457ae5b6b0f885);
    assert_eq!(Gf128::dot(&[c, lengths], &[h.square(), h]), hash);
}

#[test]
fn ghash_order_puts_one_first() {
    let mut one = [0; 16];
    one[0] = 0x80;
    assert_eq!(Gf128::from_ghash(one), Gf128::ONE);
    assert_eq!(Gf128::ONE.to_ghash(), one);
}

/// Compares with single products, for numbers of columns that fill registers and others, where all or some of
/// the columns are summed.
#[test]
fn tiles_are_absorbed_column_by_column() {
    let mut state = 1_u128;
    let mut word = || {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851);
        state ^ state >> 61
    };
    let shapes = [(1, 1), (2, 2), (6, 5), (48, 48), (128, 48), (128, 128), (7, 0)];
    for (columns, summed) in shapes.into_iter().filter(|(columns, _)| !cfg!(miri) || *columns < 48) {
        for count in [0, 1, 3, TOGETHER] {
            let tiles: Vec<u128> = (0..count * columns).map(|_| word()).collect();
            let powers: Vec<Gf128> = (0..=count).map(|_| Gf128(word())).collect();
            let before: Vec<Gf128> = (0..summed).map(|_| Gf128(word())).collect();
            let expected: Vec<Gf128> = (0..summed)
                .map(|c| {
                    (0..count).fold(reference::mul(before[c], powers[0]), |sum, t| {
                        sum + reference::mul(Gf128(tiles[t * columns + c]), powers[1 + t])
                    })
                })
                .collect();
            for kernel in crate::kernel::available() {
                let mut sums = before.clone();
                crate::kernel::with(kernel, || Gf128::absorb(&mut sums, &tiles, columns, &powers)).unwrap();
                assert_eq!(sums, expected, "{kernel} {columns} {summed} {count}");
            }
        }
    }
}
