//! An engine for a test: any number of parties who tell each other everything, and circuits of XORs and NOTs
//! alone.

use divisi_core::{Abort, Counts, Misuse, PartyId, PublicParameters, Session, Step, step};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::{Between, Cipher, CircuitJob};
use divisi_engine::{
    BenchSchedule, Clock, Demonstration, Differ, Engine, EngineOption, EngineParty, EngineSettings,
    FileCipher, Jobs, Own, Prepared, PreparedFile, PreparedStock, Prepares, Profile, Rows, StockMaker,
    Unsupported, Watch, members, timed,
};
use serde_json::{Map, Value, json};

const TELL: Step = step!("toy.tell");
const ONLINE: &str = "online";
const PHASES: &[Clock] = &[Clock::online(ONLINE, &[ONLINE])];
/// How often everything is told.
const TIMES: &str = "times";

pub struct Toy;

impl Engine for Toy {
    fn profile(&self) -> Profile {
        let times =
            EngineOption::number(TIMES, "N", "how often everything is told, 1 to 9").with_default("1");
        Profile {
            options: vec![times],
            ..Profile::new("toy", "Nothing is secret, and nothing is multiplied", 2..=7)
        }
    }

    fn jobs(&self) -> Jobs<'_> {
        Jobs { circuits: Some(self), ..Jobs::default() }
    }

    fn phases(&self, _: &EngineSettings) -> &'static [Clock] {
        PHASES
    }

    fn demonstration(&self) -> Option<Demonstration> {
        Some(Demonstration::Parties(&Toy))
    }

    fn stock_maker(&self) -> Option<&'static dyn StockMaker> {
        Some(&Toy)
    }

    fn statistical_bits(&self, _: &EngineSettings) -> Option<u32> {
        None
    }

    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported> {
        times(settings).map(drop)
    }
}

impl Prepares<CircuitJob> for Toy {
    fn prepare<'j>(
        &self,
        job: &'j CircuitJob,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
        if job.circuit.and_count() > 0 || !matches!(job.between, Between::Parties { .. }) {
            return Err(Unsupported::new("toys have no ANDs and no clients: give another circuit"));
        }
        let HeldCircuit::Program(_) = *job.circuit else {
            return Err(Unsupported::new("toys read no streams"));
        };
        let (parties, times) = (divisi_engine::parties(self, settings), times(settings)?);
        Ok(Box::new(Play { job, parties, times }))
    }
}

impl FileCipher for Toy {
    fn prepare_file(&self, _: &EngineSettings, _: Cipher) -> Result<Box<dyn PreparedFile>, Unsupported> {
        Err(Unsupported::new("toys encrypt no file"))
    }
}

impl StockMaker for Toy {
    fn prepare_stock(
        &self,
        _: &EngineSettings,
        _: u64,
        _: [u8; 32],
    ) -> Result<Box<dyn PreparedStock>, Unsupported> {
        Err(Unsupported::new("toys keep nothing"))
    }
}

fn times(settings: &EngineSettings) -> Result<u64, Unsupported> {
    let given = settings.own.get(TIMES).map_or(Ok(1), |times| times.parse());
    let times = given.ok().filter(|times| (1..=9).contains(times));
    times.ok_or_else(|| Unsupported::new("toys tell everything 1 to 9 times: give another --times"))
}

struct Play<'j> {
    job: &'j CircuitJob,
    parties: usize,
    times: u64,
}

impl Prepared for Play<'_> {
    fn parties(&self) -> usize {
        self.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("toy").with("circuit", &self.job.circuit.digest());
        parameters.with("count", &(count as u64).to_le_bytes()).with(TIMES, &self.times.to_le_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: 3, warmup: (warmup, self.job.count), one_session: true }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.parties, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        Ok(Box::new(Child { of: self, session }))
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ TIMES: self.times }))
    }
}

struct Child<'p> {
    of: &'p Play<'p>,
    session: Session,
}

impl EngineParty for Child<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Child { of, session } = self;
        session.phase(ONLINE);
        timed(watch, ONLINE, || {
            for peer in (0..of.times).flat_map(|_| session.peers()).collect::<Vec<_>>() {
                session.send(TELL, peer, own, own.len() as u64)?;
            }
            let bytes = of.job.circuit.inputs().iter().sum::<usize>().div_ceil(8);
            let mut rows = vec![vec![0; bytes]; count];
            for party in PartyId::all(of.parties) {
                let wires = of.job.wires_of(party);
                let mut bits = own.to_vec();
                if party != session.me() {
                    bits = vec![0; wires.len() * count];
                    for _ in 0..of.times {
                        session.recv(TELL, party, &mut bits)?;
                    }
                }
                for (row, bits) in rows.iter_mut().zip(bits.chunks(wires.len().max(1))) {
                    wires.iter().zip(bits).for_each(|(wire, bit)| row[wire / 8] |= bit << (wire % 8));
                }
            }
            let mut all = Rows::default();
            rows.iter().for_each(|row| all.push(&[row]));
            let columns = of.job.circuit.columns(count, &all.columns(0..count, bytes));
            let columns = columns.map_err(|_| session.misuse(TELL, Misuse::CircuitUnfit))?;
            let wires = of.job.results_of(session.me());
            let bit = |lane: usize, wire: usize| columns[wire / 8 * count + lane] >> (wire % 8) & 1;
            Ok(Own::new((0..count).flat_map(|lane| wires.iter().map(move |wire| bit(lane, *wire))).collect()))
        })
    }

    fn meter(&mut self) -> Counts {
        self.session.meter().read()
    }
}
