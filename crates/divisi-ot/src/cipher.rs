//! AES-128 in the two ways this crate uses it: as a fixed permutation, and as the stream of a seed. Both use
//! the project's vector kernel if the processor has the instructions for it, and otherwise the crate `aes`;
//! the results are equal.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
use divisi_core::wipe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use divisi_field::permutation::Permutation as Vector;
use zeroize::Zeroize;

/// How many blocks are processed together.
const BATCH: usize = 64;

/// AES-128 under one key, as a permutation.
#[derive(Clone)]
pub(crate) enum Permutation {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vector(Vector),
    Blocks(Box<Aes128Enc>),
}

impl Permutation {
    pub(crate) fn new(key: &[u8; 16]) -> Permutation {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(vector) = Vector::new(key) {
            return Permutation::Vector(vector);
        }
        Permutation::Blocks(Box::new(Aes128Enc::new(&(*key).into())))
    }

    /// Replaces each block, a little-endian number, by its encryption.
    #[inline]
    pub(crate) fn permute(&self, x: &mut [u128]) {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Permutation::Vector(vector) => vector.permute(x),
            Permutation::Blocks(cipher) => permute(cipher, x),
        }
    }

    /// Replaces each x by pi(pi(x) + t) + pi(x), where t is the tweak at the same index.
    #[inline]
    pub(crate) fn hash(&self, x: &mut [u128], tweaks: &[u128]) {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Permutation::Vector(vector) => vector.hash(x, tweaks),
            Permutation::Blocks(cipher) => hash_by(|x| permute(cipher, x), x, tweaks),
        }
    }
}

/// [`Permutation::hash`] by any permutation pi of many blocks.
pub(crate) fn hash_by(pi: impl Fn(&mut [u128]), x: &mut [u128], tweaks: &[u128]) {
    let mut kept = [0; BATCH];
    let used = x.len().min(BATCH);
    for (x, tweaks) in x.chunks_mut(BATCH).zip(tweaks.chunks(BATCH)) {
        pi(x);
        let kept = &mut kept[..x.len()];
        kept.copy_from_slice(x);
        x.iter_mut().zip(tweaks).for_each(|(x, tweak)| *x ^= tweak);
        pi(x);
        x.iter_mut().zip(&*kept).for_each(|(x, pi)| *x ^= pi);
    }
    wipe::words(&mut kept[..used]);
}

fn permute(cipher: &Aes128Enc, x: &mut [u128]) {
    let mut blocks = [Block::default(); BATCH];
    let used = x.len().min(BATCH);
    for x in x.chunks_mut(BATCH) {
        let blocks = &mut blocks[..x.len()];
        for (block, x) in blocks.iter_mut().zip(&*x) {
            *block = x.to_le_bytes().into();
        }
        cipher.encrypt_blocks(blocks);
        for (x, block) in x.iter_mut().zip(&*blocks) {
            *x = u128::from_le_bytes((*block).into());
        }
    }
    blocks[..used].iter_mut().for_each(|block| block.as_mut_slice().zeroize());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_core::testing::memory::{Needle, alone};
    use divisi_field::kernel::{Kernel, with};

    /// Both implementations compute the same, so that parties may have different processors.
    #[test]
    fn the_permutation_does_not_depend_on_the_processor() {
        let of = |kernel| {
            with(kernel, || {
                let mut x: Vec<u128> = (0..150).map(|i| i * 0x0123_4567_89ab_cdef_0011_2233_4455).collect();
                Permutation::new(&[5; 16]).permute(&mut x);
                x
            })
            .unwrap()
        };
        let all: Vec<_> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).map(of).collect();
        assert!(all.iter().all(|x| *x == all[0]));
    }

    /// \[Q17\] What is kept of rows while they are hashed is wiped.
    #[test]
    fn nothing_is_left_of_what_was_hashed() {
        let _alone = alone();
        let needle = Needle::new(81, true);
        let mut bytes = [0; 16];
        needle.plant(&mut bytes);
        let mut x = [u128::from_le_bytes(bytes); BATCH];
        wipe::words(std::slice::from_mut(&mut u128::from_le_bytes(bytes)));
        bytes.zeroize();
        // a permutation that changes nothing leaves the rows in what is kept
        hash_by(|_| (), &mut x, &[0; BATCH]);
        assert_eq!(x, [0; BATCH]);
        assert_eq!(needle.copies().unwrap().len(), 0);
    }
}
