//! Random inputs for the words of payloads.

use super::wire::{PayloadWord, Reader, Writer};

/// Words of `bits` bits, after one word of `before` bits: a body that is accepted is written to the same
/// bytes again. Whole groups, which are read in another way than single words, give the same words.
fn words<W: PayloadWord + PartialEq>(bits: u32, before: u32) {
    let counts = [1, 63, 64, 65, 130];
    let written = |first: u64, words: &[W]| {
        let mut body = Vec::new();
        let mut writer = Writer::new(&mut body, 0);
        writer.push(first, before);
        writer.push_all(words, bits);
        writer.end();
        body
    };
    let seeds = counts.map(|count: u64| {
        let word = |i: u64| (i + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits.min(64));
        written(0, &(0..count).map(|i| W::of(word(i), 0)).collect::<Vec<_>>())
    });
    divisi_fuzz::run("payloads", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for count in counts.map(|count| count as usize) {
            // a message always has the length that its receiver expects
            if bytes.len() != (before as usize + bits as usize * count).div_ceil(8) {
                continue;
            }
            let (mut reader, mut single) = (Reader::new(bytes), Reader::new(bytes));
            let (first, same) = (reader.pull::<u64>(before), single.pull::<u64>(before));
            let mut all = vec![W::default(); count];
            reader.pull_all(bits, &mut all);
            let each: Vec<W> = (0..count).map(|_| single.pull(bits)).collect();
            if first != same || all != each || reader.ends() != single.ends() {
                return Err(format!("groups are not their words: {count} of {bits} bits"));
            }
            if !reader.ends() {
                continue;
            }
            taken = true;
            if written(first, &all) != bytes {
                return Err(format!("{count} other words of {bits} bits"));
            }
        }
        Ok(taken)
    });
}

#[test]
fn random_payloads() {
    // widths that are packed in groups, and others
    for bits in [17, 32, 1, 21] {
        words::<u32>(bits, 0);
    }
    for bits in [17, 32, 40, 48, 56, 50, 64] {
        words::<u64>(bits, 0);
    }
    for bits in [48, 65, 128] {
        words::<u128>(bits, 0);
    }
    // after another word, groups begin within a byte
    words::<u64>(48, 1);
    words::<u32>(17, 3);
}
