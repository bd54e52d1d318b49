//! AES-128 under one key as a permutation of many blocks, with the processor's AES instructions.
//! Correlation-robust hashes and trees of seeds are made from it.
//!
//! `new` returns `None` on a processor without VAES (or, on Arm, without the instructions of the kernel
//! `neon`). Callers then use the crate `aes`, which computes the same permutation.

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub use neon::Permutation;
#[cfg(target_arch = "x86_64")]
pub use x86::Permutation;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};
    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    #[test]
    fn a_hash_is_two_permutations_and_what_is_between() {
        let key = core::array::from_fn(|i| (i * 29 + 5) as u8);
        let x: Vec<u128> =
            (1..=200_u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).collect();
        let tweaks: Vec<u128> = (0..200_u128).map(|i| i << 8 | (i % 3) << 88).collect();
        for permutation in
            available().into_iter().filter_map(|kernel| with(kernel, || Permutation::new(&key)).unwrap())
        {
            let mut pi = x.clone();
            permutation.permute(&mut pi);
            let mut want: Vec<u128> = pi.iter().zip(&tweaks).map(|(pi, tweak)| pi ^ tweak).collect();
            permutation.permute(&mut want);
            want.iter_mut().zip(&pi).for_each(|(want, pi)| *want ^= pi);
            for n in (0..=70).chain([127, 128, 129, 200]) {
                let mut out = x.clone();
                permutation.hash(&mut out[..n], &tweaks[..n]);
                assert_eq!(out, [&want[..n], &x[n..]].concat(), "{n}");
            }
        }
    }

    #[test]
    fn the_permutation_is_that_of_the_aes_crate() {
        let key = core::array::from_fn(|i| (i * 41 + 3) as u8);
        let cipher = Aes128::new(&key.into());
        let x: Vec<u128> =
            (1..=200_u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).collect();
        for permutation in
            available().into_iter().filter_map(|kernel| with(kernel, || Permutation::new(&key)).unwrap())
        {
            let permutation = permutation.clone();
            for n in (0..=70).chain([127, 128, 129, 200]) {
                let mut out = x.clone();
                permutation.permute(&mut out[..n]);
                for (i, (x, out)) in x.iter().zip(&out).enumerate() {
                    let mut block = x.to_le_bytes().into();
                    cipher.encrypt_block(&mut block);
                    let want = if i < n { u128::from_le_bytes(block.into()) } else { *x };
                    assert_eq!(*out, want, "{n} {i}");
                }
            }
        }
    }
}
