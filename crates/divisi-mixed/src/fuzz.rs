//! Random inputs for bits and numbers in messages.

use crate::bit::Dense;
use crate::num::{pack, unpack};
use divisi_field::zp::{Modulus, P16, P32, P62};

/// Bits that `add_bytes` accepts are written again as they were.
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

/// Numbers that `unpack` accepts are below p, and `pack` writes them again as they were.
#[test]
fn random_numbers() {
    for p in [P16, P32, P62].map(|p| Modulus::new(p).unwrap()) {
        let counts = [1, 2, 3, 8, 9];
        let seeds = counts.map(|count: u64| {
            let numbers: Vec<u64> = (0..count).map(|i| p.get() - 1 - 77 * i).collect();
            pack(p, &numbers).to_vec()
        });
        divisi_fuzz::run("numbers", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let mut taken = false;
            for count in counts {
                let Some(numbers) = unpack(p, bytes, count as usize) else { continue };
                taken = true;
                if numbers.iter().any(|number| *number >= p.get()) || *pack(p, &numbers) != *bytes {
                    return Err(format!("{count} other numbers"));
                }
            }
            Ok(taken)
        });
    }
}
