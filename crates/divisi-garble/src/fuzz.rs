//! Random inputs for bits in messages.

use crate::bits::{pack, unpack};

/// Bits that are taken are written as they were.
#[test]
fn random_bits() {
    let lengths = [1, 7, 8, 9, 64, 65];
    let seeds = lengths.map(|len| {
        let mut out = Vec::new();
        pack(&(0..len).map(|i| u8::from(i % 3 == 0)).collect::<Vec<_>>(), &mut out);
        out
    });
    divisi_fuzz::run("bits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for len in lengths {
            let Some(bits) = unpack(bytes, len) else { continue };
            taken = true;
            let mut again = Vec::new();
            pack(&bits, &mut again);
            if bits.len() != len || again != bytes {
                return Err(format!("{len} other bits"));
            }
        }
        Ok(taken)
    });
}
