//! Sums of many bits, each with a place: counts of bits, and products of words.

use super::add;
use divisi_circuit::{Build, BuildBit, Gates};

/// The lowest bits of a sum, as many as there are columns: the bits of column i count 2^i each. Of three bits
/// in a column, one stays there and one goes to the next, until no column has more than two; these two words
/// are added.
pub(super) fn total(g: &mut Build, mut columns: Vec<Vec<BuildBit>>, low_depth: bool) -> Vec<BuildBit> {
    while columns.iter().any(|column| column.len() > 2) {
        let mut fewer: Vec<Vec<BuildBit>> = vec![Vec::new(); columns.len()];
        for (place, column) in columns.iter().enumerate() {
            for bits in column.chunks(3) {
                let [x, y, z] = bits else {
                    fewer[place].extend_from_slice(bits);
                    continue;
                };
                let sum = g.xor(*x, *y);
                fewer[place].push(g.xor(sum, *z));
                // what goes beyond the highest column is not counted
                if let Some(next) = fewer.get_mut(place + 1) {
                    next.push(g.majority(*x, *y, *z));
                }
            }
        }
        columns = fewer;
    }
    let zero = g.constant(false);
    let [x, y] = [0, 1]
        .map(|i| columns.iter().map(|column| column.get(i).copied().unwrap_or(zero)).collect::<Vec<_>>());
    add(g, &x, &y, false, low_depth).0
}

/// How many bits are 1.
pub(super) fn count(g: &mut Build, x: &[BuildBit], low_depth: bool) -> Vec<BuildBit> {
    let width = (usize::BITS - x.len().leading_zeros()) as usize;
    let mut columns = vec![Vec::new(); width];
    if let Some(first) = columns.first_mut() {
        first.extend_from_slice(x);
    }
    total(g, columns, low_depth)
}

/// x y modulo 2^W.
pub(super) fn multiply(g: &mut Build, x: &[BuildBit], y: &[BuildBit], low_depth: bool) -> Vec<BuildBit> {
    let mut columns = vec![Vec::new(); x.len()];
    for (place, column) in columns.iter_mut().enumerate() {
        for (x, y) in x.iter().take(place + 1).zip(y.iter().take(place + 1).rev()) {
            column.push(g.and(*x, *y));
        }
    }
    total(g, columns, low_depth)
}

/// Two words with the same sum as three, modulo 2^W: one AND for each bit but the highest, in one round.
pub(super) fn save(g: &mut Build, [x, y, z]: [&[BuildBit]; 3]) -> Vec<BuildBit> {
    let (mut sums, mut carries) = (Vec::with_capacity(2 * x.len()), vec![g.constant(false)]);
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        let sum = g.xor(*x, *y);
        sums.push(g.xor(sum, *z));
        carries.push(g.majority(*x, *y, *z));
    }
    carries.truncate(sums.len());
    sums.extend(carries);
    sums
}
