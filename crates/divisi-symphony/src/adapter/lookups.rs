//! Lookups at indices of one party in a public table of bytes, by OHVerture ([`divisi_rep3::ohverture`]).
//!
//! Party 1 has the indices, and all three parties learn the entries. Input and output have phases of their
//! own, which are not measured.
//!
//! Adversary: that of [`divisi_rep3`].

use super::dealt::{as_setup, with_setup};
use super::options::is_constant_round;
use super::strands::{INPUT, ONLINE, PREPROCESSING, VERIFICATION};
use super::{CHUNKS, OUTPUTS, TILE, statistical};
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_engine::job::{LookupJob, Own};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, EngineSettings, Prepared, Rows, Unsupported, Watch, alike, members,
    timed,
};
use divisi_field::{Gf8, Gf64};
use divisi_rep3::blackbox::{BlackBox, PIECE, Shared};
use divisi_rep3::ohverture::{Dimensions, FactoredOneHots, HeldTable, MAX_CUBE_BITS};
use divisi_rep3::{Passes, Security, Trio};
use serde_json::{Map, Value, json};

/// The name of the lookup protocol in JSON.
pub(super) const OHVERTURE: &str = "ohverture";
/// The fact that says how many entries the table has.
pub(super) const ENTRIES: &str = "entries";
const INPUTS: &str = "inputs";
const DIMENSIONS: &str = "dimensions";
const PARTS: &str = "parts";

/// Bits of an entry.
const WIDTH: usize = 8;
/// The largest number of lookups that go through the engine at once.
const CHUNK: usize = 8192;
/// The largest number of bytes of replicated vectors that exist at once.
const VECTOR_BYTES: usize = 1 << 25;
/// The number of lookups of a batch, whose indices a party holds at once.
const BATCH: usize = 1 << 16;
/// The largest number of inputs over which an index is split.
const MOST_INPUTS: usize = 3;
/// The largest number of lookups.
const MOST: usize = 1 << 28;

/// The JSON members of a benchmark of lookups, beside those of all benchmarks.
pub(super) fn told(facts: &Map<String, Value>) -> Map<String, Value> {
    let of = |name: &str| facts.get(name).map(|fact| (name.to_owned(), fact.clone()));
    [ENTRIES, INPUTS, DIMENSIONS, PARTS].into_iter().filter_map(of).collect()
}

/// What is measured, in words; `None` if these are not the facts of lookups.
pub(super) fn about(facts: &Map<String, Value>) -> Option<String> {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    let (entries, inputs) = (number(ENTRIES)?, number(INPUTS)?);
    let inputs = if inputs == 1 { "1 input".to_owned() } else { format!("{inputs} inputs") };
    let factors = number(DIMENSIONS)?;
    let plural = if factors == 1 { "" } else { "s" };
    Some(format!("lookups in {entries} entries of {WIDTH} bits, {inputs}, {factors} factor{plural}"))
}

/// Lookups, with everything public about them.
pub(super) struct Looker<'j> {
    job: &'j LookupJob,
    way: Dimensions,
    /// The width of an index in bits.
    k: usize,
    security: Security,
    statistical: u32,
    passes: Passes,
}

impl<'j> Looker<'j> {
    /// # Errors
    /// [`Unsupported`] for parameters that the lookups do not support.
    pub fn new(job: &'j LookupJob, settings: &EngineSettings) -> Result<Self, Unsupported> {
        let refuse = |what: String| Err(Unsupported::new(what));
        if job.table.is_some() {
            return refuse("--table belongs to the engine spdz: give --engine spdz, or --entries".into());
        }
        let k = job.entries.trailing_zeros() as usize;
        if !job.entries.is_power_of_two() || !(1..=MAX_CUBE_BITS).contains(&k) {
            let most = 1_usize << MAX_CUBE_BITS;
            return refuse(format!("--entries is {}: give a power of two from 2 to {most}", job.entries));
        }
        if !(1..=MOST_INPUTS).contains(&job.inputs) || job.inputs > k {
            let most = MOST_INPUTS.min(k);
            return refuse(format!(
                "--inputs is {}: give 1 to {most} for {} entries",
                job.inputs, job.entries
            ));
        }
        if job.count > MOST {
            return refuse(format!("--count is more than {MOST}: give less"));
        }
        if settings.threads != 1 {
            return refuse("lookups run in one thread a party: leave --threads out".into());
        }
        if is_constant_round(settings) {
            return refuse(super::PROGRAMS_ALONE.into());
        }
        let one_or_two = k <= divisi_rep3::ohverture::MAX_BITS;
        let way = match job.dimensions {
            None => Dimensions::of(k, WIDTH),
            Some(1) if one_or_two => Some(Dimensions::One),
            Some(2) if one_or_two => Some(Dimensions::Two),
            Some(3) => Dimensions::three(k, WIDTH),
            Some(1 | 2) => None,
            Some(n) => return refuse(format!("--dimensions is {n}: give 1, 2, 3 or auto")),
        };
        let Some(way) = way else {
            let n = job.dimensions.unwrap_or_default();
            let entries = job.entries;
            return refuse(format!(
                "lookups in {entries} entries cannot use {n} factors: give --dimensions auto"
            ));
        };
        let bits = statistical(settings).unwrap_or(0);
        let passes = Passes::for_bits(bits).ok_or_else(|| Unsupported::new(super::TOO_MANY_BITS))?;
        Ok(Looker { job, way, k, security: settings.security, statistical: bits, passes })
    }

    /// The number of lookups that go through the engine at once: so many that their vectors, and the terms
    /// that wait for verification, take a few tens of megabytes.
    fn chunk(&self) -> usize {
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

    /// The number of bits of an index that each input has; the first input has the lowest bits.
    fn digits(&self) -> Vec<usize> {
        let n = self.job.inputs;
        (0..n).map(|i| (self.k + i) / n).collect()
    }

    fn table(&self) -> Option<HeldTable<Gf8>> {
        let entries: Vec<Gf8> = (0..self.job.entries).map(|at| Gf8(LookupJob::entry(at))).collect();
        HeldTable::by(self.way, &entries)
    }
}

impl Prepared for Looker<'_> {
    fn parties(&self) -> usize {
        super::PARTIES
    }

    fn parameters(&self, _: usize) -> PublicParameters {
        PublicParameters::new("bench lookups")
            .with("entries", &(self.job.entries as u64).to_le_bytes())
            .with("inputs", &(self.job.inputs as u64).to_le_bytes())
            .with("way", format!("{:?}", self.way).as_bytes())
            .with("security", self.security.name().as_bytes())
            .with("statistical bits", &self.statistical.to_le_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let count = self.job.count;
        let before = warmup.saturating_mul(self.chunk()).min(count.max(1));
        BenchSchedule { batch: BATCH, warmup: (warmup.min(1), before), one_session: true }
    }

    /// Party 1 has all indices.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let places = Own::new(inputs.iter().flatten().copied().collect());
        std::iter::once(places).chain((1..super::PARTIES).map(|_| Own::default())).collect()
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let mut trio = Trio::new(session)?;
        trio.set_passes(self.passes);
        let mut b = match self.security {
            Security::Malicious => BlackBox::new(trio),
            Security::SemiHonest => BlackBox::semi_honest(trio),
        };
        let table = self.table().ok_or_else(|| b.session().misuse(INPUT, "a table without room"))?;
        // as in the other jobs, the counts of the set-up are added to those of each repetition
        let of_setup = as_setup(b.session().meter().read());
        b.session().meter().reset();
        Ok(Box::new(Member { of: self, table, b, of_setup }))
    }

    fn facts(&self) -> Map<String, Value> {
        let parts = match self.way {
            Dimensions::One => vec![self.k],
            Dimensions::Two => vec![self.k / 2, self.k.div_ceil(2)],
            Dimensions::Three(parts) => parts.to_vec(),
        };
        members(json!({
            "security": self.security.name(),
            ENTRIES: self.job.entries,
            INPUTS: self.job.inputs,
            DIMENSIONS: self.way.number(),
            PARTS: parts,
            CHUNKS: self.job.count.div_ceil(self.chunk()),
        }))
    }
}

/// One party.
struct Member<'p> {
    of: &'p Looker<'p>,
    table: HeldTable<Gf8>,
    b: BlackBox,
    of_setup: Counts,
}

impl Member<'_> {
    /// The vectors of this many lookups, verified.
    fn vectors(&mut self, lanes: usize) -> Result<FactoredOneHots, Abort> {
        self.b.session().phase(PREPROCESSING);
        let vectors = self.b.one_hots(&self.table, lanes)?;
        self.verify()?;
        Ok(vectors)
    }

    fn verify(&mut self) -> Result<(), Abort> {
        if self.of.security == Security::Malicious {
            let recon = self.b.verify_recon()?;
            self.b.verify_mul(&recon)?;
        }
        Ok(())
    }

    fn look_up(&mut self, digits: &[Shared<Gf64>], vectors: FactoredOneHots) -> Result<Shared<Gf8>, Abort> {
        self.b.session().phase(ONLINE);
        let widths = self.of.digits();
        let index: Vec<(&Shared<Gf64>, usize)> = digits.iter().zip(widths.iter().copied()).collect();
        self.b.look_up(&self.table, &index, vectors)
    }
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let first = PartyId::all(super::PARTIES).next();
        let mine = Some(self.b.me()) == first;
        if own.len() != if mine { 4 * count } else { 0 } {
            return Err(self.b.session().misuse(INPUT, "inputs of another length than declared"));
        }
        let Some(owner) = first else { return Ok(Own::default()) };
        let (chunk, widths) = (self.of.chunk(), self.of.digits());
        let mut out = Own::new(Vec::with_capacity(count));
        for start in (0..count).step_by(chunk) {
            let lanes = chunk.min(count - start);
            self.b.session().phase("places");
            let places = own.get(4 * start..4 * (start + lanes)).unwrap_or_default();
            let places = places.as_chunks::<4>().0.iter().map(|row| u32::from_le_bytes(*row));
            let places: zeroize::Zeroizing<Vec<u32>> = places.collect::<Vec<_>>().into();
            let (mut digits, mut at) = (Vec::with_capacity(widths.len()), 0);
            for bits in &widths {
                let digit = |x: &u32| Gf64(u64::from(x >> at) & ((1 << bits) - 1));
                let digit: Vec<Gf64> = places.iter().map(digit).collect();
                digits.push(self.b.input(owner, mine.then_some(&digit[..]), lanes)?);
                at += bits;
            }
            let vectors = timed(watch, PREPROCESSING, || self.vectors(lanes))?;
            let y = timed(watch, ONLINE, || self.look_up(&digits, vectors))?;
            timed(watch, VERIFICATION, || {
                self.b.session().phase(VERIFICATION);
                self.verify()
            })?;
            self.b.session().phase(OUTPUTS);
            out.extend(self.b.output(&y)?.iter().map(|entry| entry.0));
        }
        Ok(out)
    }

    fn meter(&mut self) -> Counts {
        self.b.session().meter().read()
    }

    fn counts(&mut self) -> Counts {
        let counts = self.meter();
        let counts = with_setup(&self.of_setup, counts);
        self.b.session().meter().reset();
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(entries: usize, inputs: usize, dimensions: Option<usize>) -> LookupJob {
        LookupJob { entries, inputs, dimensions, count: 10, table: None }
    }

    #[test]
    fn what_is_no_table_is_refused_and_the_cheapest_way_is_taken() {
        let settings = EngineSettings::default();
        for (bad, what) in [
            (job(0, 1, None), "--entries is 0"),
            (job(1, 1, None), "--entries is 1"),
            (job(1 << 25, 1, None), "--entries is"),
            (job(300, 1, None), "--entries is 300"),
            (job(256, 0, None), "--inputs is 0"),
            (job(256, 4, None), "--inputs is 4"),
            (job(2, 2, None), "--inputs is 2"),
            (job(256, 1, Some(4)), "--dimensions is 4"),
            (job(256, 1, Some(0)), "--dimensions is 0"),
            (job(1 << 20, 1, Some(2)), "2 factors: give"),
            (job(4, 1, Some(3)), "3 factors: give"),
        ] {
            let error = Looker::new(&bad, &settings).map(drop).unwrap_err();
            assert!(error.reason.contains(what), "{}", error.reason);
        }
        for (good, factors) in [
            (job(2, 1, None), 1),
            (job(16, 2, None), 2),
            (job(1 << 16, 2, None), 3),
            (job(256, 1, Some(1)), 1),
        ] {
            let looker = Looker::new(&good, &settings).unwrap();
            assert_eq!(looker.way.number(), factors, "{good:?}");
            assert_eq!(looker.digits().iter().sum::<usize>(), looker.k);
            assert!(looker.digits().iter().all(|bits| *bits > 0));
        }
    }

    /// With any number of factors, the vectors of a chunk need at most some tens of megabytes.
    #[test]
    fn chunks_fit_the_memory() {
        for (k, n) in (1..=24).flat_map(|k| [None, Some(1), Some(2), Some(3)].map(|n| (k, n))) {
            let job = job(1 << k, 1, n);
            let Ok(looker) = Looker::new(&job, &EngineSettings::default()) else { continue };
            let chunk = looker.chunk();
            assert!((1..=CHUNK).contains(&chunk), "{k} {n:?}");
            let terms = match looker.way {
                Dimensions::One => 1,
                Dimensions::Two => 1 << (k / 2),
                Dimensions::Three([first, second, _]) => (1 << first) + (1 << second),
            };
            assert!(((chunk * terms) as u64) < PIECE, "{k} {n:?}");
        }
    }
}
