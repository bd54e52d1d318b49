//! Noise for differential privacy that nobody knows: three parties add up their counts and a number from a
//! discrete Laplace or Gaussian distribution, and open the noisy sums alone.
//!
//! The noise is drawn through a table of quantiles at a uniform place of 16 bits that no party knows: entry i
//! is the least v with F(v) >= (i + 1/2) / 2^16, F the distribution function. A random one-hot vector *is*
//! such a place, so that a sample takes no opening: 494 bits of preprocessing and 32 bits of one Reshare a
//! party (MAESTRO section 3.5.4; secure sampling is the slides' first use of one-hot vectors). The sum is
//! made bit by bit in the black box: two carry-save steps and one ripple.
//!
//! **How far from the distribution.** Of the 2^16 places, those of a value v lie in an interval of length
//! p(v), so that their number is less than one off 2^16 p(v); what is beyond the table's M values has mass
//! 2^-16 at most. So the statistical distance is at most (M + 1) / 2^17: below 2^-11 for a Gaussian of
//! standard deviation 4, below 2^-10 for a Laplace of scale 4. (The test computes both.) A release adds at
//! least that to its delta, and a value beyond the table never occurs: for a delta as small as is usual, take
//! several such samples and more index bits.
//!
//! **A finer table.** Of 2^20 places, by three factors, the distance is at most (M + 1) / 2^21, below 2^-14
//! for both: 393 bits ahead where two factors of 10 bits would take 2,026, and 256 bits for the sample. Its
//! entries have 8 bits; each party extends their sign on its shares.
//!
//! Run it: `cargo run --release -p divisi-rep3 --example noise`.

use divisi_core::{Abort, Lanes, Misuse, PartyId, step};
use divisi_field::{Gf2, Gf8, Gf64};
use divisi_rep3::blackbox::{BlackBox, Linear, Shared};
use divisi_rep3::ohverture::{Cube, Dimensions, LookupTable};
use divisi_rep3::{Trio, local};
use std::error::Error;

/// Bits of a place.
pub const INDEX: usize = 16;
/// Bits of a place in the fine table, and of its entries.
pub const FINE_INDEX: usize = 20;
const FINE_WIDTH: usize = 8;
/// Bits of a sum.
const BITS: usize = 32;

/// The distribution of the noise.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_enums, reason = "an example is no library")]
pub enum Noise {
    /// p(v) in proportion to exp(-|v| / scale).
    Laplace {
        /// 1 / epsilon, for a count.
        scale: f64,
    },
    /// p(v) in proportion to exp(-v^2 / (2 sigma^2)).
    Gaussian {
        /// About the standard deviation.
        sigma: f64,
    },
}

impl Noise {
    /// v and p(v), in order, except for a mass far below 2^-40.
    pub fn distribution(self) -> Vec<(i32, f64)> {
        let (width, weight): (f64, Box<dyn Fn(f64) -> f64>) = match self {
            Noise::Laplace { scale } => (40.0 * scale, Box::new(move |v: f64| (-v.abs() / scale).exp())),
            Noise::Gaussian { sigma } => {
                (10.0 * sigma, Box::new(move |v: f64| (-v * v / (2.0 * sigma * sigma)).exp()))
            }
        };
        let width = width.ceil() as i32;
        let total: f64 = (-width..=width).map(|v| weight(f64::from(v))).sum();
        (-width..=width).map(|v| (v, weight(f64::from(v)) / total)).collect()
    }

    /// The quantiles at 2^index places.
    pub fn quantiles(self, index: usize) -> Vec<i32> {
        let mut distribution = self.distribution().into_iter();
        let (mut v, mut below) = distribution.next().unwrap_or((0, 1.0));
        let place = |i: usize| (i as f64 + 0.5) / (1_u64 << index) as f64;
        (0..1 << index)
            .map(|i| {
                while below < place(i) {
                    let Some((next, p)) = distribution.next() else { break };
                    (v, below) = (next, below + p);
                }
                v
            })
            .collect()
    }

    /// The same as a public table, each value as two's complement of 32 bits.
    pub fn table(self) -> Option<LookupTable<Gf64>> {
        LookupTable::new(
            &self.quantiles(INDEX).iter().map(|v| Gf64(u64::from(*v as u32))).collect::<Vec<_>>(),
        )
    }
}

/// Where noise is drawn from.
#[allow(clippy::exhaustive_enums, reason = "an example is no library")]
pub enum Source {
    /// 2^16 places, by two factors.
    Two(LookupTable<Gf64>),
    /// 2^20 places, by three.
    Three(Cube<Gf8>),
}

impl Source {
    /// The finer of both: values as two's complement of 8 bits.
    pub fn fine(noise: Noise) -> Option<Source> {
        let Some(Dimensions::Three(parts)) = Dimensions::of(FINE_INDEX, FINE_WIDTH) else { return None };
        let quantiles = noise.quantiles(FINE_INDEX);
        let entries: Option<Vec<Gf8>> =
            quantiles.iter().map(|v| Some(Gf8(i8::try_from(*v).ok()? as u8))).collect();
        Some(Source::Three(Cube::new(parts, 1, &entries?)?))
    }

    /// The bits of `lanes` random numbers that nobody knows.
    fn draw(&self, b: &mut BlackBox, lanes: usize) -> Result<Number, Abort> {
        match self {
            Source::Two(table) => {
                let places = b.rohv_add(INDEX, lanes)?;
                let noise = b.sample_additive(table, places)?;
                let noise = b.reshare(noise)?;
                bits(b, &noise)
            }
            Source::Three(cube) => {
                let places = b.rohv_cube(cube.parts(), lanes)?;
                let noise = b.sample_cube(cube, places)?;
                let [noise] = &noise[..] else { return Err(misfit()) };
                // the highest bit is the sign, which is spread
                (0..BITS).map(|i| b.linop(&Linear::bit(i.min(FINE_WIDTH - 1)), &[noise])).collect()
            }
        }
    }
}

/// Numbers as bits, the lowest bit first; each bit has all lanes.
type Number = Vec<Shared<Gf2>>;

fn misfit() -> Abort {
    Abort::Misuse { step: step!("noise"), what: Misuse::CountsDiffer }
}

/// The bits of numbers in the low bits of elements.
fn bits(b: &mut BlackBox, x: &Shared<Gf64>) -> Result<Number, Abort> {
    (0..BITS).map(|i| b.linop(&Linear::bit(i), &[x])).collect()
}

/// Bit by bit the majority of three, in one round: `(x + y)(x + z) + x`.
fn majority(b: &mut BlackBox, [x, y, z]: [&Number; 3]) -> Result<Number, Abort> {
    let lanes = x.first().map_or(0, Lanes::lanes);
    let [x, y, z] = [x, y, z].map(|number| b.join(&number.iter().collect::<Vec<_>>()));
    let (x, y, z) = (x?, y?, z?);
    let (xy, xz) = (b.add(&x, &y)?, b.add(&x, &z)?);
    let product = b.local_mul(&xy, &xz)?;
    let product = b.add_shared(product, &x)?;
    let all = b.reshare(product)?;
    let bit = |i: usize| all.gather(&(i * lanes..(i + 1) * lanes).collect::<Vec<_>>()).ok_or_else(misfit);
    (0..BITS).map(bit).collect()
}

/// Two numbers whose sum is that of these three.
fn carry_save(b: &mut BlackBox, three: [&Number; 3]) -> Result<[Number; 2], Abort> {
    let mut carries = majority(b, three)?;
    let lanes = carries.first().map_or(0, Lanes::lanes);
    carries.pop();
    carries.insert(0, b.public(&vec![Gf2::new(0); lanes])?);
    let [x, y, z] = three;
    let sums = x.iter().zip(y).zip(z).map(|((x, y), z)| {
        let xy = b.add(x, y)?;
        b.add(&xy, z)
    });
    Ok([sums.collect::<Result<_, _>>()?, carries])
}

/// The sum of two numbers: a carry a round.
fn sum(b: &mut BlackBox, x: &Number, y: &Number) -> Result<Number, Abort> {
    let mut carry = b.public(&vec![Gf2::new(0); x.first().map_or(0, Lanes::lanes)])?;
    let mut out = Vec::with_capacity(BITS);
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let (xc, yc) = (b.add(x, &carry)?, b.add(y, &carry)?);
        out.push(b.add(&xc, y)?);
        if i + 1 < BITS {
            let both = b.local_mul(&xc, &yc)?;
            let both = b.add_shared(both, &carry)?;
            carry = b.reshare(both)?;
        }
    }
    Ok(out)
}

/// What one party does: its counts, one for each sum; the noisy sums come out.
fn party(trio: Trio, counts: &[u32], source: &Source) -> Result<Vec<i32>, Abort> {
    let b = &mut BlackBox::new(trio);
    let mine: Vec<Gf64> = counts.iter().map(|count| Gf64(u64::from(*count))).collect();
    let me = b.me();
    let mut inputs = Vec::new();
    for owner in PartyId::all(3) {
        let x = b.input(owner, (owner == me).then_some(&mine[..]), mine.len())?;
        inputs.push(bits(b, &x)?);
    }
    let [x, y, z] = &inputs[..] else { return Err(misfit()) };
    // a number from the distribution for each sum, that nobody knows
    let noise = source.draw(b, mine.len())?;
    let [x, y] = carry_save(b, [x, y, z])?;
    let [x, y] = carry_save(b, [&x, &y, &noise])?;
    let noisy = sum(b, &x, &y)?;
    // all of it is verified before the first bit is opened
    let noisy = b.join(&noisy.iter().collect::<Vec<_>>())?;
    let opened = b.output(&noisy)?;
    let number = |l: usize| {
        let bits = opened.iter().skip(l).step_by(mine.len()).enumerate();
        bits.fold(0_u32, |number, (i, bit)| number | u32::from(*bit == Gf2::new(1)) << i) as i32
    };
    Ok((0..mine.len()).map(number).collect())
}

/// The noisy sums of three parties' counts.
pub fn noisy_sums(counts: &[Vec<u32>; 3], noise: Noise) -> Result<Vec<i32>, Box<dyn Error>> {
    noisy_sums_of(counts, &Source::Two(noise.table().ok_or("a table of another length")?))
}

/// The noisy sums of three parties' counts, with noise from there.
pub fn noisy_sums_of(counts: &[Vec<u32>; 3], source: &Source) -> Result<Vec<i32>, Box<dyn Error>> {
    let opened = local::run(|trio| {
        let mine = &counts[trio.me().index()];
        party(trio, mine, source)
    })?;
    match &opened[..] {
        [one, two, three] if one == two && two == three => Ok(one.clone()),
        _ => Err("the parties do not agree".into()),
    }
}

#[allow(dead_code, reason = "a test uses the functions above")]
fn main() -> Result<(), Box<dyn Error>> {
    let counts = [vec![1200, 7], vec![801, 30], vec![455, 2]];
    for noise in [Noise::Laplace { scale: 4.0 }, Noise::Gaussian { sigma: 4.0 }] {
        println!("{noise:?}: noisy sums {:?}", noisy_sums(&counts, noise)?);
        let fine = Source::fine(noise).ok_or("a table of another length")?;
        println!("of the finer table {:?}", noisy_sums_of(&counts, &fine)?);
    }
    Ok(())
}
