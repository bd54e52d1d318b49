//! Random inputs for what garblers send: rows and shares of keys.

use crate::key;
use crate::parameters::{DIMENSION, MODULUS, SHARE_BYTES};
use crate::scheme::{pack, unpack};

/// If `unpack` accepts a row, all its values are below q, and `pack` writes it again as it was.
#[test]
fn random_rows() {
    let row = |of: &dyn Fn(u64) -> u64| {
        let values: Vec<u64> = (0..DIMENSION as u64).map(of).collect();
        let mut out = Vec::new();
        pack(&values, &mut out);
        out
    };
    let seeds = [row(&|i| i * 0x1_0001 % MODULUS), row(&|_| MODULUS - 1)];
    let mut row = vec![0; DIMENSION];
    divisi_fuzz::run("rows", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        if !unpack(bytes, &mut row) {
            return Ok(false);
        }
        let mut again = Vec::new();
        pack(&row, &mut again);
        let reduced = row.iter().all(|word| *word < MODULUS);
        if reduced && again == bytes { Ok(true) } else { Err("another row".into()) }
    });
}

/// If `add_packed` accepts a share, it is ternary and has the colour 0, and `pack` writes it again as it was.
#[test]
fn random_shares_of_keys() {
    let mut seed = Vec::new();
    let share: Vec<i8> = (0..DIMENSION).map(|i| if i == 0 { 0 } else { (i * 5 % 3) as i8 - 1 }).collect();
    key::pack(&share, &mut seed);
    divisi_fuzz::run("shares-of-keys", env!("CARGO_MANIFEST_DIR"), &[seed], |bytes| {
        let mut sum = vec![0; DIMENSION];
        if !key::add_packed(bytes, &mut sum) {
            return Ok(false);
        }
        let (mut again, share) = (Vec::new(), sum.iter().map(|c| *c as i8).collect::<Vec<_>>());
        key::pack(&share, &mut again);
        let sound = bytes.len() == SHARE_BYTES && sum[0] == 0 && sum.iter().all(|c| c.abs() <= 1);
        if sound && again == bytes { Ok(true) } else { Err("another share".into()) }
    });
}
