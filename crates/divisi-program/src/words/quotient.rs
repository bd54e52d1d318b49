//! Quotients: the steps of a division by a shared word, and the division by a public number.

use super::add;
use divisi_circuit::{Build, BuildBit, Gates};

/// 3 y, 5 y and so on up to (2^digit - 1) y, each of `digit` bits more than y. Digits have at most three
/// bits, so that every multiple is a sum or difference of y and a shifted y.
pub(super) fn multiples(g: &mut Build, y: &[BuildBit], digit: usize, low_depth: bool) -> Vec<Vec<BuildBit>> {
    let (whole, zero) = (y.len() + digit, g.constant(false));
    let of = |i: usize| y.get(i).copied().unwrap_or(zero);
    let mut all = Vec::new();
    for odd in (3_usize..1 << digit).step_by(2) {
        // 2^places + 1, or 2^places - 1
        let (places, less) = if odd == 7 { (3, true) } else { ((odd - 1).ilog2() as usize, false) };
        let shifted: Vec<BuildBit> = (0..whole).map(|i| i.checked_sub(places).map_or(zero, of)).collect();
        let other: Vec<BuildBit> = (0..whole).map(|i| if less { g.not(of(i)) } else { of(i) }).collect();
        all.push(add(g, &shifted, &other, less, low_depth).0);
    }
    all
}

/// A step of a restoring division, for x below 2^digit y: the lowest bits of x - q y, as many as the shorter
/// one of x and y has, if the `rest` is wanted; then q, the quotient, the lowest bit first. `odd` has y and
/// its [`multiples`], 2^(digit-1) words in all. x is compared with every multiple m y at once: where m y fits
/// in x, so do all smaller ones, so the rest is x with the difference of two neighbouring rests added for
/// every m that fits.
pub(super) fn step(
    g: &mut Build,
    x: &[BuildBit],
    odd: &[Vec<BuildBit>],
    rest: bool,
    low_depth: bool,
) -> Vec<BuildBit> {
    let digit = odd.len().ilog2() as usize + 1;
    let of_y = odd.first().map_or(0, Vec::len);
    let (whole, zero) = (of_y + digit, g.constant(false));
    let kept = if rest { x.len().min(of_y) } else { 0 };
    let x: Vec<BuildBit> = (0..whole).map(|i| x.get(i).copied().unwrap_or(zero)).collect();
    let mut rests = vec![x.clone()];
    let mut fits = Vec::new();
    for m in 1_usize..1 << digit {
        let places = m.trailing_zeros() as usize;
        let multiple = odd.get(m >> places >> 1).map_or(&[][..], Vec::as_slice);
        let bit = |i: usize| i.checked_sub(places).and_then(|i| multiple.get(i)).copied().unwrap_or(zero);
        // x - m y has no borrow exactly if x + (not m y) + 1 has a carry
        let less: Vec<BuildBit> = (0..whole).map(|i| g.not(bit(i))).collect();
        let (difference, carry) = add(g, &x, &less, true, low_depth);
        rests.push(difference);
        fits.push(carry);
    }
    let mut out = Vec::with_capacity(kept + digit);
    for i in 0..kept {
        let mut terms = Vec::with_capacity(fits.len());
        for (fits, pair) in fits.iter().zip(rests.windows(2)) {
            if let [before, after] = pair {
                terms.push((*fits, g.xor(before[i], after[i])));
            }
        }
        let change = g.dot(&terms);
        out.push(g.xor(x[i], change));
    }
    for place in 0..digit {
        // of the multiples that fit, those where this bit of m is another than that of m - 1
        let mut bit = zero;
        for (m, fits) in (1_usize..).zip(&fits) {
            if (m ^ (m - 1)) >> place & 1 == 1 {
                bit = g.xor(bit, *fits);
            }
        }
        out.push(bit);
    }
    out
}

/// Let x have W bits, and 2^(L-1) < d <= 2^L. The quotient is x m / 2^(W+L) rounded down, where m is 2^(W+L)
/// / d rounded up, because m d exceeds 2^(W+L) by less than 2^L. The product is a sum of shifted copies of x,
/// one for each digit of m's signed representation; three summands are reduced to two until two are left.
/// Words and divisors have at most 60 bits.
pub(super) fn divide_by(g: &mut Build, x: &[BuildBit], divisor: u64, low_depth: bool) -> Vec<BuildBit> {
    let divisor = u128::from(divisor.max(1));
    let (width, zero) = (x.len(), g.constant(false));
    let behind = width + (u128::BITS - (divisor - 1).leading_zeros()) as usize;
    let whole = 2 * width + 1;
    let bit = |x: Option<&BuildBit>| x.copied().unwrap_or(zero);
    let (mut digits, mut place, mut ones) = ((1_u128 << behind).div_ceil(divisor), 0, 0_u128);
    let mut rows: Vec<Vec<BuildBit>> = Vec::new();
    while digits > 0 {
        if digits & 1 == 1 {
            let mut row: Vec<BuildBit> =
                (0..whole).map(|i| bit(i.checked_sub(place).and_then(|i| x.get(i)))).collect();
            if digits & 3 == 3 {
                // the summand is -x: all bits inverted, plus 1
                row.iter_mut().for_each(|bit| *bit = g.not(*bit));
                ones += 1;
                digits += 1;
            } else {
                digits -= 1;
            }
            rows.push(row);
        }
        (digits, place) = (digits >> 1, place + 1);
    }
    if ones > 0 {
        rows.push((0..whole).map(|i| g.constant(ones >> i & 1 == 1)).collect());
    }
    while rows.len() > 2 {
        let mut fewer = Vec::with_capacity(rows.len());
        for three in rows.chunks(3) {
            let [x, y, z] = three else {
                fewer.extend_from_slice(three);
                continue;
            };
            let (mut sums, mut carries) = (Vec::with_capacity(whole), vec![zero]);
            for ((x, y), z) in x.iter().zip(y).zip(z) {
                let sum = g.xor(*x, *y);
                sums.push(g.xor(sum, *z));
                carries.push(g.majority(*x, *y, *z));
            }
            carries.truncate(whole);
            fewer.extend([sums, carries]);
        }
        rows = fewer;
    }
    let product = match rows.as_slice() {
        [x, y] => add(g, x, y, false, low_depth).0,
        [x] => x.clone(),
        _ => Vec::new(),
    };
    (0..width).map(|i| bit(product.get(behind + i))).collect()
}
