//! Random inputs for bits in messages.

use crate::bit::Dense;

/// Bits that are taken are written as they were.
#[test]
fn random_dense_bits() {
    let lengths = [1, 7, 63, 64, 65, 200];
    let seeds = lengths.map(|bits: usize| {
        let mut out = Vec::new();
        let words = (0..bits.div_ceil(64)).map(|i| match bits - 64 * i {
            rest @ ..64 => (1_u64 << rest) - 1,
            _ => 0x9e37_79b9_7f4a_7c15,
        });
        Dense::of(words.collect(), bits).to_bytes(&mut out);
        out
    });
    divisi_fuzz::run("dense-bits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        // a message has the length that its receiver made room for
        for bits in lengths.into_iter().filter(|bits| bits.div_ceil(8) == bytes.len()) {
            let mut sum = Dense::of(vec![0; bits.div_ceil(64)], bits);
            if sum.add_bytes(bytes) {
                taken = true;
                let mut again = Vec::new();
                sum.to_bytes(&mut again);
                if again != bytes {
                    return Err(format!("{bits} other bits"));
                }
            }
        }
        Ok(taken)
    });
}
