//! The exponential of 16-bit floating-point numbers (bfloat16) that nobody sees: a table of all 2^16 of them,
//! looked up by three factors.
//!
//! A bfloat16 is the upper half of an IEEE single: a sign, 8 bits of exponent, 7 of fraction. The index of an
//! entry is the 16 bits of a number, and the entry is that number's exponential, rounded to nearest, ties to
//! even. So the result is the nearest number for every input, infinities and NaN among them. By [`HeldTable`]
//! a lookup takes 181 bits ahead and 144 online a party, where two factors take 494 and 32.
//!
//! Run it: `cargo run --release -p divisi-rep3 --example exponential`.

use divisi_core::{Abort, PartyId};
use divisi_field::{Field, Gf64};
use divisi_rep3::blackbox::BlackBox;
use divisi_rep3::ohverture::HeldTable;
use divisi_rep3::{Trio, local};
use std::error::Error;

/// Bits of a number.
const BITS: usize = 16;

/// The nearest bfloat16, ties to even.
pub fn round(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return 0x7fc0;
    }
    // what is cut off rounds up beyond a half, and at a half if the last bit that stays is one
    let up = 0x7fff + (bits >> 16 & 1);
    (bits.wrapping_add(up) >> 16) as u16
}

/// The value of a bfloat16.
pub fn value(x: u16) -> f32 {
    f32::from_bits(u32::from(x) << 16)
}

/// The entry of the table for a number.
pub fn exponential(x: u16) -> u16 {
    round(f64::from(value(x)).exp() as f32)
}

/// The table, by the cheapest way.
pub fn table() -> Option<HeldTable<Gf64>> {
    let entries: Vec<Gf64> = (0..=u16::MAX).map(|x| Gf64(u64::from(exponential(x)))).collect();
    HeldTable::new(&entries)
}

/// What one party does; party 1 has the numbers.
fn party(trio: Trio, x: &[u16], table: &HeldTable<Gf64>) -> Result<Vec<u16>, Abort> {
    let b = &mut BlackBox::new(trio);
    let owner = PartyId::all(3).next().filter(|owner| *owner == b.me());
    let mine: Vec<Gf64> = x.iter().map(|x| Gf64(u64::from(*x))).collect();
    let first = owner.or(PartyId::all(3).next()).unwrap_or(b.me());
    let shared = b.input(first, owner.map(|_| &mine[..]), x.len())?;
    // ahead, when nobody has a number yet
    let vectors = b.one_hots(table, x.len())?;
    let looked_up = b.look_up(table, &[(&shared, BITS)], vectors)?;
    Ok(b.output(&looked_up)?.into_iter().map(|y| y.to_bits() as u16).collect())
}

/// The exponentials of party 1's numbers, as all three learn them.
pub fn exponentials(x: &[u16]) -> Result<Vec<u16>, Box<dyn Error>> {
    let table = table().ok_or("no table of 2^16 entries")?;
    let out = local::run(|trio| party(trio, x, &table))?;
    match &out[..] {
        [one, two, three] if one == two && two == three => Ok(one.clone()),
        _ => Err("the parties do not agree".into()),
    }
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let x = [0.0, 1.0, -1.0, 0.5, 80.0, -100.0].map(round);
    for (x, y) in x.iter().zip(exponentials(&x)?) {
        println!("exp({}) = {}", value(*x), value(y));
    }
    Ok(())
}
