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
