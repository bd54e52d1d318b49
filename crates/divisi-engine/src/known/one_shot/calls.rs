//! How often the modes call the cipher, for engines that make preprocessing for these calls.

use super::{Batch, Shape};
use crate::job::{ModeMessage, OneShot};
use divisi_symmetric::mode::one_shot::ccm;

impl Batch<'_> {
    /// The number of calls of the cipher, and the number of calls of its inverse, that a message takes.
    pub fn calls(&self) -> [usize; 2] {
        let Shape { decrypts, bytes, aad, iv, .. } = self.shape;
        let blocks = |bytes: usize| bytes.div_ceil(16);
        let one_way = |calls: usize, backwards: bool| if backwards { [0, calls] } else { [calls, 0] };
        match self.mode {
            OneShot::Kw { inverse } | OneShot::Kwp { inverse } => {
                // one semiblock of a wrapped key is the integrity value
                let halves = bytes.div_ceil(8) - usize::from(decrypts);
                one_way(if halves == 1 { 1 } else { 6 * halves }, decrypts != inverse)
            }
            OneShot::Ccm => {
                let head = |message: &ModeMessage| {
                    let head = ccm::Head { nonce: message.iv.clone(), aad: message.aad.clone() };
                    ccm::head_blocks(&head, message.bytes, message.tag_bytes).len() / 16
                };
                let head = self.messages().next().map_or(0, head);
                one_way(head + 2 * blocks(bytes) + 1, false)
            }
            OneShot::Siv => {
                // E(0) for the subkeys, and a CMAC of zeros and of each string; the message and its stream
                let strings = [Some(aad), (iv > 0).then_some(iv)].into_iter().flatten();
                let strings: usize = strings.map(|bytes| blocks(bytes).max(1)).sum();
                one_way(2 + strings + blocks(bytes).max(1) + blocks(bytes), false)
            }
            OneShot::Xts if decrypts => [1, blocks(bytes)],
            OneShot::Xts => [1 + blocks(bytes), 0],
            OneShot::Stealing(_) => one_way(blocks(bytes), decrypts),
            OneShot::Cfb1 => one_way(self.bits(), false),
            // it also takes schedules of derived keys, and no engine makes its calls ahead
            OneShot::GcmSiv => [0, 0],
        }
    }
}
