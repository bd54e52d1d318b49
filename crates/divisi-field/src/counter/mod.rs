//! AES-128 in counter mode with the processor's AES instructions. All correlated random values come from such
//! streams.
//!
//! `new` returns `None` on a processor without VAES (or, on Arm, without the instructions of the kernel
//! `neon`). Callers then use the crate `aes`, which makes the same stream.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

#[cfg(target_arch = "aarch64")]
pub use neon::Counter;
#[cfg(target_arch = "x86_64")]
pub use x86::Counter;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};
    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    #[test]
    fn the_stream_is_that_of_the_aes_crate() {
        let key = core::array::from_fn(|i| (i * 37 + 5) as u8);
        let cipher = Aes128::new(&key.into());
        for counter in
            available().into_iter().filter_map(|kernel| with(kernel, || Counter::new(&key)).unwrap())
        {
            for (start, n) in
                [(0, 1), (0, 2), (7, 63), (1 << 40, 64), (3, 65), (0xffff_fffe, 129), (9, 1000), (5, 0)]
            {
                let mut out = vec![0; n];
                counter.words(start, &mut out);
                for (w, word) in out.iter().enumerate() {
                    let mut block = u128::from(start + w as u64 / 2).to_le_bytes().into();
                    cipher.encrypt_block(&mut block);
                    let halves = block.as_chunks::<8>().0;
                    assert_eq!(*word, u64::from_le_bytes(halves[w % 2]), "{start} {n} {w}");
                }
            }
        }
    }
}
