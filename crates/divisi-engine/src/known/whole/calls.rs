//! How often the modes call the cipher, for engines that make preprocessing for these calls.

use super::{Batch, Shape};
use crate::job::{PublicText, Whole};
use divisi_symmetric::mode::whole::ccm;

impl Batch<'_> {
    /// The number of calls of the cipher, and the number of calls of its inverse, that a text takes.
    pub fn calls(&self) -> [usize; 2] {
        let Shape { decrypts, bytes, aad, iv, .. } = self.shape;
        let blocks = |bytes: usize| bytes.div_ceil(16);
        let one_way = |calls: usize, backwards: bool| if backwards { [0, calls] } else { [calls, 0] };
        match self.mode {
            Whole::Kw { inverse } | Whole::Kwp { inverse } => {
                // one semiblock of a wrapped key is the integrity value
                let halves = bytes.div_ceil(8) - usize::from(decrypts);
                one_way(if halves == 1 { 1 } else { 6 * halves }, decrypts != inverse)
            }
            Whole::Ccm => {
                let head = |text: &PublicText| {
                    let head = ccm::Head { nonce: text.iv.clone(), aad: text.aad.clone() };
                    ccm::head_blocks(&head, text.bytes, text.tag_bytes).len() / 16
                };
                let head = self.texts().next().map_or(0, head);
                one_way(head + 2 * blocks(bytes) + 1, false)
            }
            Whole::Siv => {
                // E(0) for the subkeys, and a CMAC of zeros and of each string; the text and its stream
                let strings = [Some(aad), (iv > 0).then_some(iv)].into_iter().flatten();
                let strings: usize = strings.map(|bytes| blocks(bytes).max(1)).sum();
                one_way(2 + strings + blocks(bytes).max(1) + blocks(bytes), false)
            }
            Whole::Xts if decrypts => [1, blocks(bytes)],
            Whole::Xts => [1 + blocks(bytes), 0],
            Whole::Stealing(_) => one_way(blocks(bytes), decrypts),
            Whole::Cfb1 => one_way(self.bits(), false),
            // it also takes schedules of derived keys, and no engine makes its calls ahead
            Whole::GcmSiv => [0, 0],
        }
    }
}
