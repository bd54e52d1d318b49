//! Known answers through authenticated garbling: each function becomes a circuit, texts or messages of equal lengths are instances of one
//! circuit and are garbled together, all in one session.
//!
//! Input values belong to the parties in turn (key, then text, then what it is compared with), and every party learns the outputs: they must
//! be the same at all. Of a tag that is only to be compared one bit is opened.

use super::super::job::{Job, Message, Messages, Mode, Own, Texts};
use super::super::{Course, Differ, Party, Prepared, Rows, Unsupported, Watch, alike};
use super::garbling::Garbling;
use crate::cleanup::lock;
use divisi_circuit::{Bit, Build, Gates, Program};
use divisi_core::{Abort, Bytes, Counts, Direction, Parameters, PartyId, Session, Step, step};
use divisi_garble::{Garble, Plan, SETUP_PHASE};
use divisi_ot::Setup;
use divisi_symmetric::aes;
use divisi_symmetric::batch::{Function, Messages as Batch, bits, byte_values};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{GateByte, GateBytes};
use divisi_symmetric::mode::ctr;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

const KNOWN: Step = step!("known");

/// No circuit is drawn for a longer message: the gates of a hash would fill the memory.
const LONGEST_MESSAGE: usize = 1 << 10;
/// ANDs that are garbled together.
const TOGETHER: usize = 1 << 19;

/// One circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Drawing {
    /// A block of AES: key and text, or key, text and counter.
    Block { counter: bool, decrypt: bool },
    /// A hash or MAC of so many bytes: key and message, and the tag that is compared.
    Message { compares: bool, bytes: usize, nonce: [u8; 12] },
}

/// Texts or messages, and the circuits that they need: of each the instances, by their places among the texts or messages, and within.
pub(super) struct Known<'j> {
    job: &'j Job,
    garbling: Garbling,
    drawings: Vec<(Drawing, Vec<(usize, usize)>)>,
    /// The circuit that was drawn last, and which it is: a circuit is as large as its message is long, so that one after the other is.
    drawn: Mutex<Option<(usize, Arc<Program>)>>,
}

impl<'j> Known<'j> {
    /// # Errors
    /// A mode or a message that there is no circuit of.
    pub fn new(job: &'j Job, garbling: Garbling) -> Result<Self, Unsupported> {
        let mut drawings: BTreeMap<Drawing, Vec<(usize, usize)>> = BTreeMap::new();
        let mut instances = Vec::new();
        match job {
            Job::Texts(texts) => {
                if texts.cipher.aes().is_none() || !matches!(texts.mode, Mode::Ecb | Mode::Ctr) {
                    return Err(Unsupported::new("a mode of which the engine garble has no circuit"));
                }
                let counter = texts.mode == Mode::Ctr;
                for (i, text) in texts.texts.iter().enumerate() {
                    // the counter's cipher is the pad, whichever way
                    let decrypt = text.direction == Direction::Decrypt && !counter;
                    let places = drawings.entry(Drawing::Block { counter, decrypt }).or_default();
                    places.extend((0..text.bytes.div_ceil(16)).map(|block| (i, block)));
                }
            }
            Job::Messages(messages) => {
                for (i, message) in messages.messages.iter().enumerate() {
                    if message.bytes > LONGEST_MESSAGE {
                        instances.push(i);
                    }
                    let wanted = [(false, message.makes), (true, message.received.is_some())];
                    for (compares, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
                        let Message { bytes, nonce, .. } = *message;
                        drawings.entry(Drawing::Message { compares, bytes, nonce }).or_default().push((i, 0));
                    }
                }
            }
            Job::Circuit(_) | Job::Blocks(_) | Job::Digests(_) | Job::Chain(_) => {
                return Err(Unsupported::new("no texts and no messages"));
            }
        }
        if !instances.is_empty() {
            let reason = format!("a message of more than {LONGEST_MESSAGE} bytes");
            return Err(Unsupported { reason, instances });
        }
        Ok(Known { job, garbling, drawings: drawings.into_iter().collect(), drawn: Mutex::default() })
    }

    /// The widths of the input values of a circuit, in bytes.
    fn widths(&self, drawing: Drawing) -> Vec<usize> {
        match (drawing, self.job) {
            (Drawing::Block { counter, .. }, Job::Texts(texts)) => {
                [texts.cipher.key_bytes(), 16, 16][..if counter { 3 } else { 2 }].to_vec()
            }
            (Drawing::Message { compares, bytes, .. }, Job::Messages(messages)) => {
                let tag = if compares { messages.using.output_bytes } else { 0 };
                vec![messages.key_bytes, bytes, tag]
            }
            _ => Vec::new(),
        }
    }

    /// A circuit by its number; whoever of the parties comes first draws it.
    fn program(&self, number: usize) -> Result<Arc<Program>, Abort> {
        let misfit = || Abort::Misuse { step: KNOWN, what: "a circuit that is not among those needed" };
        let mut last = lock(&self.drawn);
        if let Some((_, program)) = last.as_ref().filter(|(drawn, _)| *drawn == number) {
            return Ok(Arc::clone(program));
        }
        *last = None;
        let (drawing, _) = self.drawings.get(number).ok_or_else(misfit)?;
        let widths = self.widths(*drawing);
        let program = match (*drawing, self.job) {
            (Drawing::Block { counter, decrypt }, _) => block(&widths, counter, decrypt)?,
            (Drawing::Message { compares, nonce, .. }, Job::Messages(job)) => {
                message(&widths, job, compares, nonce)?
            }
            _ => return Err(misfit()),
        };
        let program = Arc::new(program);
        *last = Some((number, Arc::clone(&program)));
        Ok(program)
    }

    /// The input values of an instance that have any bits, in order, from the row that belongs to it.
    fn values(&self, drawing: Drawing, row: &[u8], (i, block): (usize, usize)) -> Vec<Vec<u8>> {
        let (key, text) = row.split_at(self.key_bytes().min(row.len()));
        let mut values = match (drawing, self.job) {
            (Drawing::Block { counter, .. }, Job::Texts(job)) => {
                let mut own = text.chunks(16).nth(block).unwrap_or_default().to_vec();
                own.resize(16, 0);
                let iv = job.texts.get(i).and_then(|text| <[u8; 16]>::try_from(text.iv.as_slice()).ok());
                let columns = ctr::columns_128(&iv.unwrap_or_default(), block as u128, 1);
                let counted = columns.iter().filter_map(|column| column.first().copied()).collect();
                [key.to_vec(), own].into_iter().chain(counter.then_some(counted)).collect()
            }
            (Drawing::Message { compares, .. }, Job::Messages(job)) => {
                let received = job.messages.get(i).and_then(|message| message.received.clone());
                let received = received.filter(|_| compares).unwrap_or_default();
                vec![key.to_vec(), text.to_vec(), received]
            }
            _ => Vec::new(),
        };
        values.retain(|value| !value.is_empty());
        values
    }

    fn key_bytes(&self) -> usize {
        match self.job {
            Job::Texts(Texts { cipher, .. }) => cipher.key_bytes(),
            Job::Messages(Messages { key_bytes, .. }) => *key_bytes,
            _ => 0,
        }
    }
}

impl Prepared for Known<'_> {
    fn parties(&self) -> usize {
        self.garbling.parties
    }

    fn parameters(&self, count: usize) -> Parameters {
        let drawings = blake3::hash(format!("{:?}", self.drawings).as_bytes());
        let parameters = Parameters::new("garble known answers").with("circuits", drawings.as_bytes());
        self.garbling.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    fn course(&self, warmup: usize) -> Course {
        Course { batch: self.job.count(), warmup: (warmup, self.job.count()), one_session: false }
    }

    /// Of each instance of each circuit the values whose turn is a party's, as the circuit takes them.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let mut owns = vec![Own::default(); self.garbling.parties];
        for (drawing, places) in &self.drawings {
            for place in places {
                let values = Zeroizing::new(self.values(*drawing, inputs.row(place.0), *place));
                for (i, value) in values.iter().enumerate() {
                    if let Some(own) = owns.get_mut(i % self.garbling.parties) {
                        own.extend(to_bits(value));
                    }
                }
            }
        }
        owns
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, mut session: Session, _: usize, _: &Own) -> Result<Box<dyn Party + 'p>, Abort> {
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, self.garbling.config)?;
        let garble = Garble::new(&session, setup, self.garbling.options);
        Ok(Box::new(Learner { of: self, session, garble, openings: 0 }))
    }
}

/// One party, which learns all outputs.
struct Learner<'p> {
    of: &'p Known<'p>,
    session: Session,
    garble: Garble,
    /// Bytes that it learned.
    openings: u64,
}

impl Learner<'_> {
    /// All instances of one circuit, as many together as are not too many; what is left of our own values after them.
    fn instances<'o>(&mut self, number: usize, own: &'o [u8]) -> Result<(Vec<Vec<u8>>, &'o [u8]), Abort> {
        let Learner { of, session, garble, .. } = self;
        let misfit = || Abort::Misuse { step: KNOWN, what: "values that no circuit takes" };
        let program = of.program(number)?;
        let all: Vec<PartyId> = PartyId::all(of.garbling.parties).collect();
        let owners: Vec<PartyId> = all.iter().copied().cycle().take(program.inputs().len()).collect();
        // what does not fit the budget is streamed
        let manner = Garbling { streamed: true, ..of.garbling };
        let plan: Plan<'_> = manner.plan(&program, &owners, &all, 1).map_err(|_| misfit())?;
        let count = of.drawings.get(number).map_or(0, |(_, places)| places.len());
        let width = plan.wires_of(session.me()).count();
        let (now, rest) = own.split_at_checked(count * width).ok_or_else(misfit)?;
        let mut outputs = Vec::with_capacity(count);
        let most = (TOGETHER / plan.and_count().max(1)).max(1);
        for first in (0..count).step_by(most) {
            let count = most.min(count - first);
            let inputs = (first..first + count)
                .map(|i| now.get(i * width..(i + 1) * width).unwrap_or_default().to_vec());
            let inputs: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(inputs.collect());
            let learned = if of.garbling.options.admit(&plan, of.garbling.config.rho, count).is_err() {
                garble.streamed(session, &plan, &inputs)?
            } else {
                let (ands, wires) = (count * plan.and_count(), count * plan.wires());
                let mut made = garble.function_independent(session, ands, wires)?;
                let garbled = garble.function_dependent(session, &mut made, &plan, count)?;
                garble.online(session, garbled, &inputs)?
            };
            outputs.extend(learned.iter().map(|bits| from_bits(bits)));
        }
        Ok((outputs, rest))
    }
}

impl Party for Learner<'_> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let mut rest = own.as_slice();
        let mut rows = vec![Vec::new(); count];
        // what is made comes before what is compared, and blocks come in their order
        for (number, (_, places)) in self.of.drawings.iter().enumerate() {
            let (outputs, later) = self.instances(number, rest)?;
            rest = later;
            self.openings += outputs.iter().map(|output| output.len() as u64).sum::<u64>();
            for ((i, _), output) in places.iter().zip(outputs) {
                if let Some(row) = rows.get_mut(*i) {
                    row.extend(output);
                }
            }
        }
        for (i, row) in rows.iter_mut().enumerate() {
            row.truncate(self.of.job.output_bytes(i));
        }
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        Counts { openings: self.openings, ..self.session.meter().read() }
    }
}

/// A block of AES; with a counter, its cipher is added to the block.
fn block(widths: &[usize], counter: bool, decrypt: bool) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let keys = aes::expand(e, &values[0])?;
        let misfit = |_| Abort::Misuse { step: KNOWN, what: "a block of 16 bytes" };
        let mut state = values.last().cloned().unwrap_or_default().try_into().map_err(misfit)?;
        if decrypt {
            aes::decrypt(e, &keys, &mut state)?;
        } else {
            aes::encrypt(e, &keys, &mut state)?;
        }
        if counter {
            state.iter_mut().zip(&values[1]).try_for_each(|(pad, text)| e.add(pad, text))?;
        }
        Ok(vec![state.to_vec()])
    })
}

/// A hash or MAC; where it compares, whether it is the last value.
fn message(widths: &[usize], job: &Messages, compares: bool, nonce: [u8; 12]) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let function = Function::prepare(e, &job.using, &values[0])?;
        let message = bits(e, values[1].clone())?;
        let output = function.output(e, &Batch::even(message, 1)?, &[nonce])?;
        let output = byte_values(e, output)?;
        Ok(vec![if compares { vec![same(e, &output, &values[2])] } else { output }])
    })
}

/// One bit that tells whether two values of one lane are the same, as a byte.
fn same(e: &mut GateBytes<'_, Build>, x: &[GateByte<Bit>], y: &[GateByte<Bit>]) -> GateByte<Bit> {
    let wires = |value: &[GateByte<Bit>]| -> Vec<Bit> {
        value.iter().flat_map(|byte| byte.bits()).flatten().copied().collect()
    };
    let (x, y, g) = (wires(x), wires(y), e.gates());
    let mut equal: Vec<Bit> = Vec::with_capacity(x.len());
    for (x, y) in x.iter().zip(&y) {
        let differs = g.xor(*x, *y);
        equal.push(g.not(differs));
    }
    while equal.len() > 1 {
        equal = equal.chunks(2).map(|pair| if let [x, y] = *pair { g.and(x, y) } else { pair[0] }).collect();
    }
    let [none, all] = [false, true].map(|value| g.constant(value));
    let mut byte = [none; 8];
    byte[0] = if x.len() == y.len() { equal.first().copied().unwrap_or(all) } else { none };
    GateByte::new(vec![byte])
}

/// Bytes as a circuit takes them: the last one's lowest bit first.
fn to_bits(value: &[u8]) -> impl Iterator<Item = u8> + '_ {
    value.iter().rev().flat_map(|byte| (0..8).map(move |i| byte >> i & 1))
}

fn from_bits(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).rev().map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect()
}
