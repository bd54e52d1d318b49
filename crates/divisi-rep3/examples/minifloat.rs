//! The sum of two 8-bit floating-point numbers of two parties: one lookup with two inputs.
//!
//! Numbers are E4M3 of the Open Compute Project: a sign, 4 bits of exponent, 3 of fraction, up to 448, no
//! infinity. The table has all 2^16 pairs; each entry is the exact sum rounded to nearest, ties to even, and
//! NaN beyond 448. A circuit of an adder with alignment and rounding has hundreds of products in dozens of
//! rounds; this takes 125 bits ahead, 144 online, and three rounds.
//!
//! Run it: `cargo run --release -p divisi-rep3 --example minifloat`.

use divisi_core::{Abort, PartyId};
use divisi_field::Gf8;
use divisi_rep3::blackbox::BlackBox;
use divisi_rep3::ohverture::HeldTable;
use divisi_rep3::{Trio, local};
use std::error::Error;

const NAN: u8 = 0x7f;

/// The value of a number, in units of 2^-9, the smallest there is; nothing for NaN.
pub fn value(x: u8) -> Option<i32> {
    let (exponent, fraction) = (i32::from(x >> 3 & 15), i32::from(x & 7));
    if x & NAN == NAN {
        return None;
    }
    let size = if exponent == 0 { fraction } else { (8 + fraction) << (exponent - 1) };
    Some(if x >> 7 == 1 { -size } else { size })
}

/// The number nearest to a value, ties to even.
pub fn nearest(sum: i32, sign: u8) -> u8 {
    let size = sum.unsigned_abs();
    let of = |x: u8| value(x).unwrap_or(0).unsigned_abs();
    // the largest that is not above, and the next
    let below = (0..NAN).rev().find(|x| of(*x) <= size).unwrap_or(0);
    let largest = NAN - 1;
    let (under, over) = (size - of(below), if below < largest { of(below + 1) - of(below) } else { 64 << 9 });
    let near = match below {
        // what rounds beyond the largest is no number: its last place is 2^14 in these units
        _ if below == largest && under > (1 << 13) => NAN,
        _ if below < largest && (2 * under > over || (2 * under == over && below & 1 == 1)) => below + 1,
        _ => below,
    };
    near | sign << 7
}

/// What the table has for two numbers.
pub fn sum(x: u8, y: u8) -> u8 {
    match (value(x), value(y)) {
        (Some(a), Some(b)) => {
            // a sum of zero is negative if both are
            let sign = if a + b == 0 { x >> 7 & (y >> 7) } else { u8::from(a + b < 0) };
            nearest(a + b, sign)
        }
        _ => NAN,
    }
}

/// The table: the first number in the low byte of a place.
pub fn table() -> Option<HeldTable<Gf8>> {
    let entries: Vec<Gf8> = (0..=u16::MAX).map(|xy| Gf8(sum(xy as u8, (xy >> 8) as u8))).collect();
    HeldTable::new(&entries)
}

/// What one party does; the first has x, the second y.
fn party(trio: Trio, [x, y]: [&[u8]; 2], table: &HeldTable<Gf8>) -> Result<Vec<u8>, Abort> {
    let b = &mut BlackBox::new(trio);
    let me = b.me();
    let mut inputs = Vec::new();
    for (owner, numbers) in PartyId::all(3).zip([x, y]) {
        let mine: Vec<Gf8> = numbers.iter().map(|x| Gf8(*x)).collect();
        inputs.push(b.input(owner, (owner == me).then_some(&mine[..]), numbers.len())?);
    }
    let vectors = b.one_hots(table, x.len())?;
    let index: Vec<_> = inputs.iter().map(|x| (x, 8)).collect();
    let sums = b.look_up(table, &index, vectors)?;
    Ok(b.output(&sums)?.into_iter().map(|sum| sum.0).collect())
}

/// The sums of two parties' numbers, as all three learn them.
pub fn sums(x: &[u8], y: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let table = table().ok_or("no table of 2^16 entries")?;
    let out = local::run(|trio| party(trio, [x, y], &table))?;
    match &out[..] {
        [one, two, three] if one == two && two == three => Ok(one.clone()),
        _ => Err("the parties do not agree".into()),
    }
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let (x, y) = ([0x38, 0x44, 0x7e, 0x01], [0x38, 0xb0, 0x7e, 0x01]);
    let shown = |x: u8| value(x).map_or(f64::NAN, |x| f64::from(x) / 512.0);
    for ((x, y), sum) in x.iter().zip(&y).zip(sums(&x, &y)?) {
        println!("{} + {} = {}", shown(*x), shown(*y), shown(sum));
    }
    Ok(())
}
