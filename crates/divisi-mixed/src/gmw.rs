//! Boolean circuits among n parties: Goldreich, Micali, Wigderson 1987 with triples made ahead (Beaver 1991).
//!
//! Adversary: **semi-honest**, all parties but one. For a product x y, d = x + a and e = y + b are opened;
//! they are uniform, because a and b are uniform and used once \[G7\]. Then x y = c + d b + e a + d e. An
//! owner shares its inputs without messages, by generators that it has in common with each other party.
//! Outputs are sent to their receivers only \[G11\]. Each pair of parties has its own generators and pads. So
//! all shares that a corrupt receiver sees are uniform, except that they add up to the outputs.
//!
//! Cost of an AND: a triple ([`crate::triples`]), and two bits to each peer; one round for each level of the
//! circuit (test `cost_of_circuits`). Large levels are opened in parts ([`crate::open`]): then an AND takes
//! 4 (n - 1) / n bits of a party in all, and a level two rounds (test `large_levels_are_opened_in_parts`). A
//! message has a level's products of all lanes and jobs, densely packed.

use crate::and;
use crate::bit::{Dense, GmwBit};
use crate::checks;
use crate::open::{self, OpeningRounds};
use crate::purposes;
use crate::triples::{BATCH, BitTriples, TripleStock, bit_triples};
use crate::wires::Wires;
use divisi_circuit::program::Program;
use divisi_core::{Abort, Boolean, Lanes, Misuse, PartyId, Prg, ProgramRun, Session, Step, step, taint};
use divisi_ot::{Setup, SetupConfig};
use zeroize::Zeroizing;

const PRODUCTS: Step = step!("products");
const INPUT: Step = step!("input");
const OUTPUT: Step = step!("output");

/// The phase under which the meter counts triples that are made only when products need them.
pub const PREPROCESSING: &str = "preprocessing";

/// The limit, in bytes, for the wires of a window of lanes, and in bits for the products of a level. A window
/// has at least 64 lanes, even if they take more.
const WINDOW_BYTES: usize = 32 << 20;
const WINDOW_PRODUCTS: usize = 1 << 23;

/// One party of GMW, with its session.
pub struct Gmw {
    session: Session,
    config: SetupConfig,
    /// `None` until transfers are needed.
    setup: Option<Setup>,
    stock: TripleStock,
    own: Prg,
    /// The generators in common with each other party: one for inputs of the party with the lower number, one
    /// for those of the other; `None` for ourselves.
    streams: Vec<Option<[Prg; 2]>>,
    rounds: OpeningRounds,
}

/// A generator of this party's own randomness.
pub(crate) fn own_stream(session: &Session) -> Prg {
    let mut key = Zeroizing::new([0; 16]);
    session.entropy(purposes::OWN_SEED, key.as_mut_slice());
    Prg::of(purposes::OWN, &key)
}

impl Gmw {
    /// Makes the set-up of a session: base OTs and trees. All parties call it, once for each session.
    ///
    /// # Errors
    /// It fails as [`Setup::new`] does.
    pub fn new(session: Session, config: SetupConfig) -> Result<Gmw, Abort> {
        let mut gmw = Gmw::deferred(session, config);
        gmw.set_up()?;
        Ok(gmw)
    }

    /// Like [`Gmw::new`], but the set-up is made when transfers are needed first, or by [`Gmw::set_up`]: a
    /// program without products of bits needs none, and among many parties base OTs take seconds.
    #[must_use]
    pub fn deferred(mut session: Session, config: SetupConfig) -> Gmw {
        let (own, me) = (own_stream(&session), session.me());
        let parties: Vec<PartyId> = PartyId::all(session.parties()).collect();
        let mut stream = |peer: PartyId| {
            let both = [purposes::INPUTS_OF_LOWER, purposes::INPUTS_OF_HIGHER];
            (peer != me).then(|| both.map(|purpose| session.prg(peer, purpose)))
        };
        let streams = parties.into_iter().map(&mut stream).collect();
        let (stock, rounds) = (TripleStock::default(), OpeningRounds::default());
        Gmw { session, config, setup: None, stock, own, streams, rounds }
    }

    /// Makes the set-up, unless it was made. All parties call it at the same place.
    ///
    /// # Errors
    /// It fails as [`Setup::new`] does.
    pub fn set_up(&mut self) -> Result<(), Abort> {
        self.ends().map(drop)
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The session, and its set-up for oblivious transfer, which is made now unless it was made before.
    ///
    /// # Errors
    /// It fails as [`Setup::new`] does.
    pub fn ends(&mut self) -> Result<(&mut Session, &mut Setup), Abort> {
        let (session, setup, _) = self.parts()?;
        Ok((session, setup))
    }

    fn parts(&mut self) -> Result<(&mut Session, &mut Setup, &mut Prg), Abort> {
        let made = match self.setup.take() {
            Some(setup) => setup,
            None => Setup::new(&mut self.session, self.config)?,
        };
        Ok((&mut self.session, self.setup.insert(made), &mut self.own))
    }

    /// Chooses how many rounds openings of products take. All parties must choose the same.
    pub fn set_opening_rounds(&mut self, rounds: OpeningRounds) {
        self.rounds = rounds;
    }

    /// The generator of our own randomness.
    pub(crate) fn own(&mut self) -> &mut Prg {
        &mut self.own
    }

    /// How many triples are in stock.
    #[must_use]
    pub fn triples(&self) -> usize {
        self.stock.len()
    }

    /// Removes `words` words of triples from the stock \[G7\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are fewer.
    pub fn take_triples(&mut self, words: usize) -> Result<BitTriples, Abort> {
        self.stock.take(&self.session, words)
    }

    /// Makes triples until `triples` of them are in stock: batch by batch, two rounds each.
    ///
    /// # Errors
    /// The abort that ends the session, if a link fails.
    pub fn prepare(&mut self, triples: usize) -> Result<(), Abort> {
        while self.stock.len() < triples {
            let missing = (triples - self.stock.len()).next_multiple_of(64);
            let count = missing.min(BATCH);
            let (session, setup, own) = self.parts()?;
            let made = bit_triples(session, setup, own, count)?;
            self.stock.put(made);
        }
        Ok(())
    }

    /// Shares one party's values, packed as [`GmwBit`], one in each lane. Nothing is sent. All parties call
    /// it, and the owner passes the values.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the owner passes no values, values of another number of lanes, or shares; or if
    /// there is no such party.
    pub fn input(&mut self, owner: PartyId, lanes: usize, values: Option<&GmwBit>) -> Result<GmwBit, Abort> {
        let me = self.session.me();
        let mut words = Zeroizing::new(vec![0; lanes.div_ceil(64)]);
        if owner != me {
            let stream = self.streams.get_mut(owner.index()).and_then(Option::as_mut);
            let Some(stream) = stream else {
                return Err(self.session.misuse(INPUT, Misuse::PartyUnknown));
            };
            stream[usize::from(owner > me)].words(&mut words);
            return Ok(GmwBit::new(lanes, &words).made(&self.session));
        }
        let fits = |bit: &&GmwBit| bit.lanes() == lanes && bit.is_brought();
        let Some(mut bit) = values.filter(fits).cloned() else {
            return Err(self.session.misuse(INPUT, Misuse::LengthDiffers));
        };
        for (peer, stream) in self.streams.iter_mut().enumerate() {
            let Some(stream) = stream else { continue };
            stream[usize::from(me.index() > peer)].words(&mut words);
            if !bit.add(&GmwBit::new(lanes, &words)) {
                return Err(self.session.misuse(INPUT, Misuse::LengthDiffers));
            }
        }
        Ok(bit.made(&self.session))
    }

    /// Opens values to their receivers only \[G11\]; other parties get `None`. One round.
    ///
    /// # Errors
    /// The abort that ends the session, if a link fails or a peer's message has bits set after the last one;
    /// [`Abort::Misuse`] for shares of another session.
    pub fn output(&mut self, receivers: &[PartyId], bits: &[GmwBit]) -> Result<Option<Vec<GmwBit>>, Abort> {
        self.send_to(receivers, bits)?.receive(&mut self.session)
    }

    /// The first half of an output: our shares go to the receivers \[G11\]. Outputs to several groups share
    /// a round if all are sent before one is received, in the same order at all parties.
    ///
    /// # Errors
    /// The abort that ends the session, if a link fails.
    pub fn send_to(&mut self, receivers: &[PartyId], bits: &[GmwBit]) -> Result<SentBits, Abort> {
        let session = &mut self.session;
        bits.iter().try_for_each(|bit| bit.admit(session, OUTPUT))?;
        let mut all = Dense::with_capacity(bits.iter().map(Lanes::lanes).sum());
        bits.iter().for_each(|bit| all.push(bit.words(), bit.lanes()));
        let (me, count) = (session.me(), all.len());
        let mut body = Zeroizing::new(Vec::with_capacity(count.div_ceil(8) + 8));
        all.to_bytes(&mut body);
        session.observe(checks::G11); // [G11]
        let told = |party: &PartyId| receivers.contains(party);
        for peer in session.peers().into_iter().filter(told) {
            session.send(OUTPUT, peer, &body, count as u64)?;
        }
        let lanes = bits.iter().map(Lanes::lanes).collect();
        Ok(SentBits { all, lanes, is_told: told(&me), learns: receivers.contains(&me) })
    }

    /// Shares of the products of packed bits. One round or two, and a triple for each product, in whole
    /// words, from the stock.
    ///
    /// # Errors
    /// The abort that ends the session, if a link fails; [`Abort::Misuse`] if there are fewer triples.
    fn products(&mut self, x: &Dense, y: &Dense) -> Result<Dense, Abort> {
        let (bits, words) = (x.len(), x.len().div_ceil(64));
        let session = &mut self.session;
        let [a, b, c] = self.stock.take(session, words)?.open(); // [G7]
        // d = x + a and e = y + b, opened
        let mut masked = Dense::with_capacity(2 * bits);
        [(x, &a), (y, &b)].iter().for_each(|(x, a)| masked.push(and::masked(x, a).words(), bits));
        a.first().into_iter().for_each(|a| taint::leak(PRODUCTS, *a as u8));
        let opened = open::open_factors(session, PRODUCTS, self.rounds, masked)?;
        let [d, e] = [0, bits].map(|at| opened.slice(at, bits));
        Ok(and::product([&d, &e], [&a, &b, &c], session.me().index() == 0))
    }

    /// Makes triples unless there are enough for `now` products: those for `all` products that follow, as far
    /// as they fit one batch, so that not every level of a program takes two more rounds.
    fn stock_up(&mut self, now: usize, all: usize) -> Result<(), Abort> {
        if self.stock.len() >= now {
            return Ok(());
        }
        let place = self.session.detour(PREPROCESSING);
        let made = self.prepare(all.min(BATCH).max(now).next_multiple_of(64));
        self.session.back(place);
        made
    }

    /// How many lanes a job has; the inputs must be those of its program.
    fn lanes_of(&self, job: &ProgramRun<'_, GmwBit>) -> Result<usize, Abort> {
        job.wires.iter().try_for_each(|bit| bit.admit(&self.session, INPUT))?;
        if job.wires.len() != job.program.input_bits() {
            return Err(self.session.misuse(INPUT, Misuse::CountsDiffer));
        }
        let lanes = job.wires.iter().map(Lanes::lanes).find(|lanes| *lanes != 1).unwrap_or(1);
        if job.wires.iter().any(|bit| bit.lanes() != 1 && bit.lanes() != lanes) {
            return Err(self.session.misuse(INPUT, Misuse::LanesDiffer));
        }
        Ok(lanes)
    }
}

/// An output of which our shares were sent, and those of the others are not received yet.
#[must_use]
pub struct SentBits {
    all: Dense,
    lanes: Vec<usize>,
    is_told: bool,
    learns: bool,
}

impl SentBits {
    /// The second half of an output: the values, at the receivers.
    ///
    /// # Errors
    /// It fails as [`Gmw::output`] does.
    pub fn receive(self, session: &mut Session) -> Result<Option<Vec<GmwBit>>, Abort> {
        let SentBits { mut all, lanes, is_told, learns } = self;
        if !is_told {
            return Ok(None);
        }
        let mut body = Zeroizing::new(vec![0; all.len().div_ceil(8)]);
        for peer in session.peers() {
            session.recv(OUTPUT, peer, &mut body)?;
            let right = all.add_bytes(&body);
            session.well_formed(OUTPUT, peer, body.len(), right)?;
        }
        all.mark_public(OUTPUT);
        session.meter().opened(all.len() as u64);
        let mut at = 0;
        let mut next = |lanes: &usize| {
            let mut words = Zeroizing::new(vec![0; lanes.div_ceil(64)]);
            all.pull(at, *lanes, &mut words);
            at += lanes;
            GmwBit::new(*lanes, &words)
        };
        Ok(learns.then(|| lanes.iter().map(&mut next).collect()))
    }
}

/// How many lanes of a program run at once if it is one of `jobs` jobs: a multiple of 64.
fn window(program: &Program, jobs: usize) -> usize {
    let widest = program.levels().iter().map(|level| level.and_count()).max().unwrap_or(0).max(1);
    let wires = 8 * WINDOW_BYTES / program.slots().max(1);
    (wires.min(WINDOW_PRODUCTS / widest) / jobs.max(1)).max(64) / 64 * 64
}

/// How many triples a run of this program takes in this number of lanes, if it runs alone.
#[must_use]
pub fn triples_for(program: &Program, lanes: usize) -> usize {
    triples_for_all(&[(program, lanes)])
}

/// How many triples a run of these programs takes, each in a number of lanes, if they run together: a level
/// of all of them takes full words.
#[must_use]
pub fn triples_for_all(jobs: &[(&Program, usize)]) -> usize {
    let window = jobs.iter().map(|(program, _)| window(program, jobs.len())).min().unwrap_or(64);
    let levels = jobs.iter().map(|(program, _)| program.levels().len()).max().unwrap_or(0);
    let most = jobs.iter().map(|(_, lanes)| *lanes).max().unwrap_or(0);
    let products = |first: usize, level: usize| -> usize {
        let of = |(program, lanes): &(&Program, usize)| {
            let here = lanes.saturating_sub(first).min(window);
            program.levels().get(level).map_or(0, |level| level.and_count() * here)
        };
        jobs.iter().map(of).sum::<usize>().next_multiple_of(64)
    };
    let all = (0..most).step_by(window).flat_map(|first| (0..levels).map(move |level| (first, level)));
    all.map(|(first, level)| products(first, level)).sum()
}

impl Boolean for Gmw {
    type Bit = GmwBit;

    fn public_bit(&mut self, values: &[bool]) -> GmwBit {
        let first = self.session.me().index() == 0;
        GmwBit::of(values.iter().map(|value| u64::from(*value && first))).made(&self.session)
    }

    fn join_bits(&mut self, parts: &[&GmwBit]) -> GmwBit {
        GmwBit::join(parts)
    }

    fn run(&mut self, jobs: &mut [ProgramRun<'_, GmwBit>]) -> Result<(), Abort> {
        let lanes = jobs.iter().map(|job| self.lanes_of(job)).collect::<Result<Vec<usize>, Abort>>()?;
        let window = jobs.iter().map(|job| window(job.program, jobs.len())).min().unwrap_or(64);
        let zeros = |lanes, count| vec![GmwBit::zero(lanes).made(&self.session); count];
        let mut outputs: Vec<Vec<GmwBit>> =
            jobs.iter().zip(&lanes).map(|(job, l)| zeros(*l, job.program.output_bits())).collect();
        let first_party = self.session.me().index() == 0;
        for first in (0..lanes.iter().copied().max().unwrap_or(0)).step_by(window) {
            let mut running: Vec<(usize, Wires<'_>)> = Vec::with_capacity(jobs.len());
            for (j, (job, lanes)) in jobs.iter().zip(&lanes).enumerate() {
                let here = lanes.saturating_sub(first).min(window);
                if here > 0 {
                    running.push((j, Wires::new(job, first, here)));
                }
            }
            let levels = running.iter().map(|(_, w)| w.program.levels().len()).max().unwrap_or(0);
            let of = |wires: &Wires<'_>, level: usize| {
                wires.program.levels().get(level).map_or(0, |l| l.and_count() * wires.lanes)
            };
            let counts: Vec<usize> =
                (0..levels).map(|level| running.iter().map(|(_, w)| of(w, level)).sum()).collect();
            let mut rest: usize = counts.iter().map(|bits| bits.next_multiple_of(64)).sum();
            for (level, bits) in counts.into_iter().enumerate() {
                let (mut x, mut y) = (Dense::with_capacity(bits), Dense::with_capacity(bits));
                for (_, wires) in &mut running {
                    wires.linear(level, first_party);
                    wires.factors(level, &mut x, &mut y);
                }
                if bits == 0 {
                    continue;
                }
                self.stock_up(bits, rest)?;
                rest -= bits.next_multiple_of(64);
                let z = self.products(&x, &y)?;
                let mut at = 0;
                for (_, wires) in &mut running {
                    at = wires.store(level, &z, at);
                }
            }
            for (j, wires) in &running {
                let of = outputs.get_mut(*j).into_iter().flatten().zip(wires.program.results());
                of.for_each(|(output, slot)| output.put(first, wires.slot(slot.index())));
            }
        }
        for (job, outputs) in jobs.iter_mut().zip(outputs) {
            job.wires = outputs;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
