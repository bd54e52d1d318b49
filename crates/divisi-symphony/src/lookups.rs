//! Lookups at indices of one party in a public table of bytes, by OHVerture ([`divisi_rep3::ohverture`]),
//! chunk by chunk: the indices, vectors made ahead, the lookup, its verification, the entries.
//!
//! Adversary: that of [`divisi_rep3`].

use crate::strands::{ONLINE, PREPROCESSING, TILE, VERIFICATION};
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_field::{Gf8, Gf64};
use divisi_rep3::blackbox::{BlackBox, PIECE, Shared};
use divisi_rep3::ohverture::{Dimensions, FactoredOneHots, HeldTable, MAX_BITS};
use divisi_rep3::{Passes, Security, Trio};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");

/// Bits of an entry.
pub(crate) const WIDTH: usize = 8;
/// The largest number of lookups that go through the engine at once.
const CHUNK: usize = 8192;
/// The largest number of bytes of replicated vectors that exist at once.
const VECTOR_BYTES: usize = 1 << 25;

/// How indices are looked up: public, the same at all parties.
pub(crate) struct IndexPlan {
    /// The width of an index in bits.
    pub k: usize,
    /// The number of inputs over which the bits of an index are split.
    pub inputs: usize,
    pub way: Dimensions,
    pub security: Security,
    pub passes: Passes,
}

/// The factors of the one-hot vectors of `k` bits: this number of them, or the number that costs least.
/// `None` if so many bits cannot have it.
pub(crate) fn way(k: usize, factors: Option<usize>) -> Option<Dimensions> {
    let one_or_two = k <= MAX_BITS;
    match factors {
        None => Dimensions::of(k, WIDTH),
        Some(1) if one_or_two => Some(Dimensions::One),
        Some(2) if one_or_two => Some(Dimensions::Two),
        Some(3) => Dimensions::three(k, WIDTH),
        Some(_) => None,
    }
}

impl IndexPlan {
    /// The number of lookups that go through the engine at once: so many that their vectors, and the terms
    /// that wait for verification, take a few tens of megabytes.
    pub fn chunk(&self) -> usize {
        let most = match self.way {
            Dimensions::One => VECTOR_BYTES / (4 << self.k).max(1),
            // fewer terms than make the engine verify at once, in the time of another phase
            Dimensions::Two => (PIECE as usize - 1) >> (self.k / 2),
            Dimensions::Three([first, second, _]) => (PIECE as usize - 1) / ((1 << first) + (1 << second)),
        };
        match most.clamp(1, CHUNK) {
            few @ ..TILE => few,
            many => many / TILE * TILE,
        }
    }

    /// The number of bits of an index that each factor has.
    pub fn parts(&self) -> Vec<usize> {
        match self.way {
            Dimensions::One => vec![self.k],
            Dimensions::Two => vec![self.k / 2, self.k.div_ceil(2)],
            Dimensions::Three(parts) => parts.to_vec(),
        }
    }

    /// The number of bits of an index that each input has; the first input has the lowest bits.
    fn digits(&self) -> Vec<usize> {
        let n = self.inputs;
        (0..n).map(|i| (self.k + i) / n).collect()
    }
}

/// One party.
pub(crate) struct LookupParty<'p> {
    plan: &'p IndexPlan,
    table: HeldTable<Gf8>,
    b: BlackBox,
}

impl<'p> LookupParty<'p> {
    /// Start a party that looks up in the table with this entry at each index.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn start(plan: &'p IndexPlan, session: Session, entry: impl Fn(usize) -> u8) -> Result<Self, Abort> {
        let mut trio = Trio::new(session)?;
        trio.set_passes(plan.passes);
        let mut b = match plan.security {
            Security::Malicious => BlackBox::new(trio),
            Security::SemiHonest => BlackBox::semi_honest(trio),
        };
        let entries: Vec<Gf8> = (0..1 << plan.k).map(|at| Gf8(entry(at))).collect();
        let table = HeldTable::by(plan.way, &entries);
        let table = table.ok_or_else(|| b.session().misuse(INPUT, Misuse::TooLarge))?;
        Ok(LookupParty { plan, table, b })
    }

    pub fn session(&mut self) -> &mut Session {
        self.b.session()
    }

    /// The indices of `owner`, which has them in `own`, four bytes each, split over the inputs.
    pub fn indices(&mut self, owner: PartyId, own: &[u8], lanes: usize) -> Result<Vec<Shared<Gf64>>, Abort> {
        let (mine, mut at) = (self.b.me() == owner, 0);
        let places = own.as_chunks::<4>().0.iter().map(|row| u32::from_le_bytes(*row));
        let places: Zeroizing<Vec<u32>> = places.collect::<Vec<_>>().into();
        let mut digits = Vec::with_capacity(self.plan.inputs);
        for bits in self.plan.digits() {
            let digit = |x: &u32| Gf64(u64::from(x >> at) & ((1 << bits) - 1));
            let digit: Vec<Gf64> = places.iter().map(digit).collect();
            digits.push(self.b.input(owner, mine.then_some(&digit[..]), lanes)?);
            at += bits;
        }
        Ok(digits)
    }

    /// The vectors of this many lookups, verified.
    pub fn vectors(&mut self, lanes: usize) -> Result<FactoredOneHots, Abort> {
        self.b.session().phase(PREPROCESSING);
        let vectors = self.b.one_hots(&self.table, lanes)?;
        self.settle()?;
        Ok(vectors)
    }

    pub fn look_up(
        &mut self,
        digits: &[Shared<Gf64>],
        vectors: FactoredOneHots,
    ) -> Result<Shared<Gf8>, Abort> {
        self.b.session().phase(ONLINE);
        let widths = self.plan.digits();
        let index: Vec<(&Shared<Gf64>, usize)> = digits.iter().zip(widths).collect();
        self.b.look_up(&self.table, &index, vectors)
    }

    /// Verify what was looked up.
    pub fn verify(&mut self) -> Result<(), Abort> {
        self.b.session().phase(VERIFICATION);
        self.settle()
    }

    fn settle(&mut self) -> Result<(), Abort> {
        if self.plan.security == Security::Malicious {
            let recon = self.b.verify_recon()?;
            self.b.verify_mul(&recon)?;
        }
        Ok(())
    }

    /// Open the entries to all parties.
    pub fn entries(&mut self, y: &Shared<Gf8>) -> Result<Vec<u8>, Abort> {
        Ok(self.b.output(y)?.iter().map(|entry| entry.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With any number of factors, the vectors of a chunk need at most some tens of megabytes, and each input
    /// has some of the bits of an index.
    #[test]
    fn chunks_fit_the_memory() {
        for (k, n) in (1..=24).flat_map(|k| [None, Some(1), Some(2), Some(3)].map(|n| (k, n))) {
            let Some(way) = way(k, n) else { continue };
            let (security, passes) = (Security::Malicious, Passes::for_bits(57).unwrap());
            for inputs in 1..=k.min(3) {
                let plan = IndexPlan { k, inputs, way, security, passes };
                let chunk = plan.chunk();
                assert!((1..=CHUNK).contains(&chunk), "{k} {n:?}");
                let terms = match plan.way {
                    Dimensions::One => 1,
                    Dimensions::Two => 1 << (k / 2),
                    Dimensions::Three([first, second, _]) => (1 << first) + (1 << second),
                };
                assert!(((chunk * terms) as u64) < PIECE, "{k} {n:?}");
                assert_eq!(plan.digits().iter().sum::<usize>(), k);
                assert!(plan.digits().iter().all(|bits| *bits > 0));
            }
        }
    }
}
