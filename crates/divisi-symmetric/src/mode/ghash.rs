//! GHASH of a public string under a secret hash key (SP 800-38D, 6.4), in bounded memory and few rounds.
//!
//! `GHASH(X_1 .. X_n)` is the sum of `X_i H^(n+1-i)`. The blocks are public (associated data, ciphertext,
//! lengths), so the sum is linear in the powers of `H`, and needs no communication once these exist. But a
//! message would need as many powers as it has blocks. Baby steps and giant steps reduce their number: with
//! `m` baby steps `H^1 .. H^m` and `G = H^m`, every exponent is `a + m j` with `a` in `1..=m`, and
//!
//! ```text
//!     GHASH = sum_j G^j S_j,      S_j = sum_a X_(n+1-a-mj) H^a     (local)
//! ```
//!
//! is one inner product of the `S_j` with the giant steps `G^j`, in one round. `S_0` needs no product. The
//! chunks come in decreasing order of `j`. After every `J` of them the sums are folded by Horner's rule in
//! `G^J`,
//!
//! ```text
//!     acc <- acc G^J + sum_(1 <= t < J) S_(t + J s) G^t + S_(J s),
//! ```
//!
//! which is again one inner product of `J` terms, verified like any other. So `J` giant steps suffice for
//! messages of any length.
//!
//! If the number of blocks is not known before the last one ([`Ghash::open_ended`]), chunks are counted from
//! the first block: the sums of full chunks are folded in the same way, and at the end the result is
//! multiplied by `H^r` for the `r` blocks of an incomplete chunk, in one more round.
//!
//! **Memory.** With [`Steps::STANDARD`] (`m` = 1024, `J` = 4096) a message of any length, up to GCM's 2^32 -
//! 2 blocks (64 GiB), needs 1024 lanes of baby steps, at most 4096 lanes of giant steps, at most 4096 lanes
//! of chunk sums, and 16 KiB of public coefficients. On an engine whose lane has 32 bytes (two components)
//! this is 32 KiB + 128 KiB + 128 KiB. There is one fold (one round) for every 4,194,304 blocks (64 MiB).
//! Without folds, the sums and giant steps of 2^32 blocks would take 2^22 lanes each, together 256 MiB.

use divisi_core::{Abort, Blocks, Lanes, Misuse, Step, step};

const POWERS: Step = step!("powers");
const GHASH: Step = step!("ghash");

/// The numbers of baby steps and giant steps: public, and the same at all parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    baby: usize,
    giant: usize,
}

impl Steps {
    /// For messages of any length: 1024 baby steps, and at most 4096 giant steps (32 KiB and 128 KiB if a
    /// lane has 32 bytes). One round for every 64 MiB of message is negligible; the baby steps cost 511
    /// products for each key.
    pub const STANDARD: Steps = Steps { baby: 1024, giant: 4096 };

    /// The largest number of either.
    pub const LIMIT: usize = 1 << 16;

    /// `m` baby steps and at most `J` giant steps; `None` unless both are in `1..=LIMIT`.
    #[must_use]
    pub fn new(baby: usize, giant: usize) -> Option<Self> {
        let possible = 1..=Self::LIMIT;
        (possible.contains(&baby) && possible.contains(&giant)).then_some(Steps { baby, giant })
    }

    /// `m`, the number of baby steps.
    #[must_use]
    pub fn baby(self) -> usize {
        self.baby
    }

    /// How many giant steps a string of this many blocks needs: one less than it has chunks of `m` blocks, at
    /// most `J`.
    #[must_use]
    pub fn giants(self, blocks: u64) -> usize {
        let others = blocks.div_ceil(self.baby as u64).saturating_sub(1);
        usize::try_from(others).map_or(self.giant, |others| others.min(self.giant))
    }

    /// How many rounds the hash of this many blocks takes, without those for the powers: one for each fold
    /// with a product.
    #[must_use]
    pub fn rounds(self, blocks: u64) -> u64 {
        let chunks = blocks.div_ceil(self.baby as u64);
        let folds = chunks.div_ceil(self.giant as u64);
        // the first fold has no product if it has only one chunk
        let first = chunks.saturating_sub(folds.saturating_sub(1).saturating_mul(self.giant as u64));
        folds.saturating_sub(u64::from(first <= 1))
    }
}

/// The powers of all hash keys, as a table: from `h` with K lanes, K m lanes of which lane `k m + i - 1` is
/// `h_k^i`.
///
/// Squaring needs no communication, so only odd powers are multiplied: one product for each odd `i` in
/// `3..=m` and each key. Round `r` makes all powers whose exponent has at most `2^r` bits set, each as a
/// product of two whose exponents have half as many. If `b` is the largest number of bits set in an exponent
/// up to `m`, there are `ceil(log2 b)` rounds: 4 for `m` = 1024, where doubling would take 10 (test
/// `powers_cost_their_odd_exponents`).
///
/// # Errors
/// The abort that ends the session.
pub fn powers<E: Blocks + ?Sized>(e: &mut E, h: &E::Block, m: usize) -> Result<E::Block, Abort> {
    let mut table = Table { keys: h.lanes(), exponents: Vec::new(), values: h.clone() };
    if m > 0 {
        table.exponents.push(1);
        table.square_up(e, 0, m)?;
    }
    let mut bits = 1;
    loop {
        let wanted: Vec<usize> =
            (3..=m).step_by(2).filter(|i| (bits + 1..=2 * bits).contains(&i.count_ones())).collect();
        if wanted.is_empty() {
            break;
        }
        let upper: Vec<usize> =
            wanted.iter().map(|&i| (0..bits).fold(i, |rest, _| rest & rest.wrapping_sub(1))).collect();
        let lower: Vec<usize> = wanted.iter().zip(&upper).map(|(i, upper)| i ^ upper).collect();
        let (lower, upper) = (table.select(&lower)?, table.select(&upper)?);
        let product = e.multiply(&lower, &upper)?;
        let fresh = table.exponents.len();
        table.append(e, wanted, &product);
        table.square_up(e, fresh, m)?;
        bits *= 2;
    }
    // reorders from power by power to key by key
    let sorted = table.select(&(1..=m).collect::<Vec<_>>())?;
    let keys = table.keys;
    pick(&sorted, (0..keys).flat_map(|k| (0..m).map(move |i| i * keys + k)))
}

/// Powers in the order in which they were made, each with one lane for each key.
struct Table<B> {
    keys: usize,
    exponents: Vec<usize>,
    values: B,
}

impl<B: Lanes> Table<B> {
    /// The powers with these exponents, in this order.
    fn select(&self, exponents: &[usize]) -> Result<B, Abort> {
        let mut place = vec![0; self.exponents.iter().max().map_or(0, |max| max + 1)];
        for (at, &exponent) in self.exponents.iter().enumerate() {
            place[exponent] = at;
        }
        let places = exponents.iter().map(|&i| place[i]);
        pick(&self.values, places.flat_map(|at| at * self.keys..(at + 1) * self.keys))
    }

    fn append<E: Blocks<Block = B> + ?Sized>(&mut self, e: &mut E, exponents: Vec<usize>, values: &B) {
        self.exponents.extend(exponents);
        self.values = e.join(&[&self.values, values]);
    }

    /// Squares the powers from position `from` on, as long as the exponent is at most `m`.
    fn square_up<E: Blocks<Block = B> + ?Sized>(
        &mut self,
        e: &mut E,
        from: usize,
        m: usize,
    ) -> Result<(), Abort> {
        let mut fresh: Vec<usize> =
            self.exponents.iter().skip(from).copied().filter(|i| 2 * i <= m).collect();
        while !fresh.is_empty() {
            let squares = e.square(&self.select(&fresh)?);
            fresh.iter_mut().for_each(|i| *i *= 2);
            self.append(e, fresh.clone(), &squares);
            fresh.retain(|i| 2 * i <= m);
        }
        Ok(())
    }
}

/// The powers of one hash key: baby steps, which are kept with the key, and as many giant steps as the
/// longest message needs.
#[derive(Clone)]
pub struct Powers<B> {
    steps: Steps,
    baby: B,
    giant: B,
}

impl<B: Lanes + Clone> Powers<B> {
    /// All powers that strings of up to this many blocks need, from the hash key in one lane.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if `h` does not have one lane.
    pub fn new<E: Blocks<Block = B> + ?Sized>(
        e: &mut E,
        h: &B,
        steps: Steps,
        blocks: u64,
    ) -> Result<Self, Abort> {
        let baby = powers(e, h, steps.baby)?;
        Self::from_baby_steps(e, baby, steps, blocks)
    }

    /// The given baby steps, and the giant steps that strings of up to this many blocks need.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if `baby` does not have `m` lanes.
    pub fn from_baby_steps<E: Blocks<Block = B> + ?Sized>(
        e: &mut E,
        baby: B,
        steps: Steps,
        blocks: u64,
    ) -> Result<Self, Abort> {
        if baby.lanes() != steps.baby {
            return Err(Abort::Misuse { step: POWERS, what: Misuse::NotMade });
        }
        let base = pick(&baby, [steps.baby - 1])?;
        let giant = powers(e, &base, steps.giants(blocks))?;
        Ok(Powers { steps, baby, giant })
    }

    /// The numbers of baby steps and giant steps.
    #[must_use]
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// The baby steps `H^1 .. H^m`.
    #[must_use]
    pub fn baby_steps(&self) -> &B {
        &self.baby
    }
}

/// From where the blocks of a string are counted.
enum Count {
    /// How many blocks are still to come; the next one is multiplied by this power of `H`.
    Remaining(u64),
    /// How many blocks there were; the number of all is not known.
    Done(u64),
}

/// GHASH of one string, in pieces.
pub struct Ghash<B> {
    steps: Steps,
    count: Count,
    /// The blocks of the current chunk, each at the lane of its baby step. If the number of blocks is known,
    /// only the first chunk can be incomplete: its missing blocks are zero, and every later chunk overwrites
    /// all lanes.
    coefficients: Vec<u128>,
    /// The sums of the chunks since the last fold.
    sums: Vec<B>,
    /// The result of the folds so far.
    folded: Option<B>,
}

impl<B: Lanes + Clone> Ghash<B> {
    /// Begins the hash of a string of exactly this many blocks.
    #[must_use]
    pub fn new(steps: Steps, blocks: u64) -> Self {
        Self::counted(steps, Count::Remaining(blocks))
    }

    /// Begins the hash of a string whose number of blocks is not known yet. It needs the powers of a string
    /// of any length.
    #[must_use]
    pub fn open_ended(steps: Steps) -> Self {
        Self::counted(steps, Count::Done(0))
    }

    fn counted(steps: Steps, count: Count) -> Self {
        Ghash { steps, count, coefficients: vec![0; steps.baby], sums: Vec::new(), folded: None }
    }

    /// Processes the next blocks of the string, in pieces of any length, as elements in the order of
    /// [`Gf128::from_ghash`](divisi_field::Gf128::from_ghash).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the string is longer than announced, or the
    /// powers do not fit.
    pub fn absorb<E: Blocks<Block = B> + ?Sized>(
        &mut self,
        e: &mut E,
        powers: &Powers<B>,
        blocks: &[u128],
    ) -> Result<(), Abort> {
        if powers.steps != self.steps {
            return Err(misuse(Misuse::NotMade));
        }
        let m = self.steps.baby as u64;
        for &block in blocks {
            let (lane, is_last) = match &mut self.count {
                // this block's exponent is a + m j: a - 1 and j are the remainder and the quotient of
                // (exponent - 1) by m
                Count::Remaining(left) => {
                    *left = left.checked_sub(1).ok_or(misuse(Misuse::LengthDiffers))?;
                    ((*left % m) as usize, (*left / m).is_multiple_of(self.steps.giant as u64))
                }
                Count::Done(done) => {
                    let lane = m - 1 - *done % m;
                    *done = done.checked_add(1).ok_or(misuse(Misuse::TooLarge))?;
                    (lane as usize, self.sums.len() + 1 == self.steps.giant)
                }
            };
            self.coefficients[lane] = block;
            if lane == 0 {
                self.sums.push(e.combine(&powers.baby, &self.coefficients)?);
                if is_last {
                    self.fold(e, &powers.giant)?;
                }
            }
        }
        Ok(())
    }

    /// One step of Horner's rule: adds the sums times giant steps (the last sum needs no product) to the
    /// previous result.
    fn fold<E: Blocks<Block = B> + ?Sized>(&mut self, e: &mut E, giant: &B) -> Result<(), Abort> {
        let mut acc = self.sums.pop().ok_or(misuse(Misuse::Empty))?;
        let terms: Vec<B> = self.sums.drain(..).rev().chain(self.folded.take()).collect();
        if !terms.is_empty() {
            let steps = giant.gather(&(0..terms.len()).collect::<Vec<_>>()).ok_or(misuse(Misuse::NotMade))?;
            let terms = e.join(&terms.iter().collect::<Vec<_>>());
            let products = e.dot(&[(&terms, &steps)])?;
            e.add_block(&mut acc, &products)?;
        }
        self.folded = Some(acc);
        Ok(())
    }

    /// The hash, in one lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the string is empty, shorter than announced, or of unknown length.
    pub fn finish(self) -> Result<B, Abort> {
        match (self.folded, self.count) {
            (Some(hash), Count::Remaining(0)) => Ok(hash),
            _ => Err(misuse(Misuse::LengthDiffers)),
        }
    }

    /// The hash of a string that ends here, whether its length was announced or not, in one lane.
    ///
    /// # Errors
    /// The abort that ends the session; those of [`Ghash::finish`] for a string of known length;
    /// [`Abort::Misuse`] if the string is empty, or the powers do not fit.
    pub fn finish_here<E: Blocks<Block = B> + ?Sized>(
        mut self,
        e: &mut E,
        powers: &Powers<B>,
    ) -> Result<B, Abort> {
        let Count::Done(done) = self.count else { return self.finish() };
        if powers.steps != self.steps {
            return Err(misuse(Misuse::NotMade));
        }
        if !self.sums.is_empty() {
            self.fold(e, &powers.giant)?;
        }
        let rest = (done % self.steps.baby as u64) as usize;
        if rest == 0 {
            return self.folded.ok_or(misuse(Misuse::Empty));
        }
        // the blocks of the incomplete chunk are those of the highest lanes; the last one belongs to H^1
        let mut last = self.coefficients.split_off(self.steps.baby - rest);
        last.resize(self.steps.baby, 0);
        let mut hash = e.combine(&powers.baby, &last)?;
        if let Some(folded) = &self.folded {
            let shifted = e.dot(&[(folded, &pick(&powers.baby, [rest - 1])?)])?;
            e.add_block(&mut hash, &shifted)?;
        }
        Ok(hash)
    }
}

fn pick<B: Lanes>(x: &B, lanes: impl IntoIterator<Item = usize>) -> Result<B, Abort> {
    let index: Vec<usize> = lanes.into_iter().collect();
    x.gather(&index).ok_or(Abort::Misuse { step: POWERS, what: Misuse::NotMade })
}

fn misuse(what: Misuse) -> Abort {
    Abort::Misuse { step: GHASH, what }
}
