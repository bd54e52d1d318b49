//! Fuzz targets for values as text, and for the padding of a decrypted text.

use crate::padding::{add, remove};
use crate::program::{entries, shown};
use crate::value::WireValue;
use divisi_program::plain::Entries;
use divisi_program::program::LARGEST;
use divisi_program::{ValueKind, text};

/// Values of a program's input, as they are given in a file or as an argument: values that are accepted have
/// the input's shape and range, and are the same when they are read again from the text by which they are
/// shown.
#[test]
fn random_values() {
    let body = "divisi program 1\ninput x 1 num 2x2\ninput y 1 bits 7 3\ninput z 1 bits 130 1\noutput x 1\n";
    let program = text::read(body, &|_| Err("no circuits".into())).unwrap();
    let seeds = [
        "1, -2\n3,4",
        "0,127, 0x7f",
        "0x3ffffffffffffffffffffffffffffffff",
        "340282366920938463463374607431768211455",
    ];
    let seeds = seeds.map(|text| text.as_bytes().to_vec());
    divisi_fuzz::golden("values", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("values", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
        let mut taken = false;
        for input in program.inputs() {
            let Ok(found) = entries(input, text) else { continue };
            taken = true;
            let count = input.value.shape().entries();
            let fits = match (&found, input.value.kind()) {
                (Entries::Num(all), ValueKind::Num) => {
                    all.len() == count && all.iter().all(|x| x.unsigned_abs() <= LARGEST as u64)
                }
                (Entries::Bits(all), ValueKind::Bits(width)) => {
                    all.len() == count && all.iter().all(|word| word.len() == width)
                }
                _ => false,
            };
            if !fits || entries(input, &shown(&found).join(",")).ok().as_ref() != Some(&found) {
                return Err(format!("other values of {}", input.name));
            }
        }
        Ok(taken)
    });
}

/// Digits of a circuit's value: digits that are accepted are written in the same way again.
#[test]
fn random_digits() {
    let seeds = ["5", "1ff", "00ff1", "DEADbeef", ""].map(|digits| digits.as_bytes().to_vec());
    divisi_fuzz::run("digits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
        let mut taken = false;
        for width in [0, 1, 3, 4, 9, 20, 32, 33] {
            let Ok(value) = WireValue::from_hex(text, width) else { continue };
            taken = true;
            if value.bits().len() != width || !value.to_hex().eq_ignore_ascii_case(text) {
                return Err(format!("another value of {width} bits"));
            }
        }
        Ok(taken)
    });
}

/// A padding that is accepted is the one that the client would add.
#[test]
fn random_paddings() {
    let seeds = [add(b"", 16), add(b"a text", 16), add(&[16; 16], 16), add(&[1; 7], 8)];
    divisi_fuzz::run("paddings", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for block in [8, 16] {
            let Some(text) = remove(bytes, block) else { continue };
            taken = true;
            if add(&text, block) != bytes {
                return Err(format!("another padding of blocks of {block} bytes"));
            }
        }
        Ok(taken)
    });
}
