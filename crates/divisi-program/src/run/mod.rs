//! One party's run of a program: layer by layer; all messages of a layer are exchanged together.
//!
//! Adversary: **semi-honest**, all parties but one, as in [`divisi_mixed`]. Only masked values are opened
//! (section 3.1, Figures 8 to 10 of GYKW), and outputs to their receivers \[G11\]. The nodes and their order
//! are public.

mod ends;
#[cfg(test)]
mod tests;

use crate::code::Code;
use crate::node::{self, Id, NOWHERE, Node};
use crate::plain::Entries;
use crate::program::Script;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Boolean, Lanes, Misuse, ProgramRun, Step, step};
use divisi_field::zp::Modulus;
use divisi_mixed::gmw::triples_for_all;
use divisi_mixed::open::OpeningRounds;
use divisi_mixed::table::Signs;
use divisi_mixed::together::Asked;
use divisi_mixed::{GmwBit, Mixed, Num};
use divisi_mpgc::{GarbledInstances, GarblingContext, evaluate};
use std::collections::{BTreeMap, VecDeque};

const NODE: Step = step!("program.node");

/// The result of a node.
enum Held {
    Num(Num),
    Word(Vec<GmwBit>),
}

/// Preprocessing, made before inputs are known, in the order of the layers and of the nodes in them: signs
/// for lookups, and garbled circuits.
pub struct PreprocessedRun {
    signs: VecDeque<Signs>,
    garbled: VecDeque<GarbledInstances>,
}

/// Makes everything that a run can make before the inputs are known. `context` is the session's context for
/// garbling, which only programs with garbled circuits need.
///
/// # Errors
/// [`Abort::Misuse`] if `context` is needed and missing; the abort that ends the session.
pub fn prepare(
    code: &Code,
    mixed: &mut Mixed,
    mut context: Option<&mut GarblingContext>,
) -> Result<PreprocessedRun, Abort> {
    let cost = code.cost();
    let mut triples = 0;
    let (mut signs, mut garbled) = (VecDeque::new(), VecDeque::new());
    let width_of = |id: &Id| match &code.nodes[*id].node {
        Node::LookUp { index, .. } | Node::LookUpPrivate { index, .. } => Some(code.nodes[*index].width),
        _ => None,
    };
    // one request for all lookups of a width, not one for each
    let mut wanted: BTreeMap<usize, usize> = BTreeMap::new();
    for id in code.layers.iter().flat_map(|layer| &layer.look_up) {
        if let Some(width) = width_of(id) {
            *wanted.entry(width).or_default() += code.nodes[*id].lanes;
        }
    }
    let mut stocks: BTreeMap<usize, Signs> = BTreeMap::new();
    for (width, lanes) in wanted {
        stocks.insert(width, mixed.prep_lut(width, lanes)?);
    }
    for layer in &code.layers {
        let lanes = code.lanes(&layer.to_bits);
        if lanes > 0 {
            mixed.set_adder(node::adder(lanes));
            triples += mixed.triples_of_a2b(lanes);
        }
        let circuits = layer.run.iter().filter_map(|id| match &code.nodes[*id].node {
            Node::Run(circuit, _) => Some((&**circuit, code.nodes[*id].lanes)),
            _ => None,
        });
        triples += triples_for_all(&circuits.collect::<Vec<_>>());
        for id in &layer.look_up {
            let Some(width) = width_of(id) else { continue };
            let taken = stocks.get_mut(&width).and_then(|stock| stock.take(code.nodes[*id].lanes));
            let none = || mixed.session().misuse(NODE, Misuse::TooFewMade);
            signs.push_back(taken.ok_or_else(none)?);
        }
        for id in &layer.garbled {
            let Node::Garbled(wiring, _) = &code.nodes[*id].node else { continue };
            let Some(context) = context.as_deref_mut() else {
                return Err(mixed.session().misuse(NODE, Misuse::KeyMissing));
            };
            garbled.push_back(context.garble(mixed.gmw(), wiring, code.nodes[*id].lanes)?);
        }
    }
    // the random bits of both in the rounds of one request
    let of_masks = mixed.bits_of_masks(cost.a2b);
    mixed.prepare_bits(cost.b2a_bits + of_masks)?;
    mixed.prepare_masks(cost.a2b)?;
    mixed.prepare_bits(cost.b2a_bits)?;
    mixed.prepare_products(cost.products)?;
    mixed.gmw().prepare(triples)?;
    Ok(PreprocessedRun { signs, garbled })
}

/// Runs a program. `own` has, for each input, the entries if it is this party's, and else `None`. Returns the
/// entries of each output that this party learns.
///
/// # Errors
/// [`Abort::Misuse`] if inputs are missing or do not fit, or if the party computes modulo another p than the
/// program; the abort that ends the session.
pub fn run(
    program: &Script,
    code: &Code,
    mixed: &mut Mixed,
    own: &[Option<Entries>],
    ahead: PreprocessedRun,
) -> Result<Vec<Option<Entries>>, Abort> {
    let first = mixed.session().me().index() == 0;
    let plain = mixed.plain();
    if plain.get() != program.numbers().modulus() {
        return Err(mixed.session().misuse(NODE, Misuse::KeyUnfit));
    }
    // one round a level, as the cost of the program says
    mixed.gmw().set_opening_rounds(OpeningRounds::One);
    let (left, held) = (code.uses.clone(), Vec::new());
    let mut run = Run { program, code, mixed, plain, first, left, held, ahead };
    run.held.resize_with(code.nodes.len(), || None);
    for layer in &code.layers {
        for id in &layer.local {
            run.local(*id, own)?;
        }
        run.numbers(&layer.to_bits, &layer.multiply)?;
        run.ask(&layer.to_number, &layer.look_up)?;
        run.circuits(&layer.run)?;
        run.garbled(&layer.garbled)?;
    }
    run.outputs()
}

struct Run<'r> {
    program: &'r Script,
    code: &'r Code,
    mixed: &'r mut Mixed,
    plain: Modulus,
    first: bool,
    /// How many uses of each node are still to come.
    left: Vec<usize>,
    held: Vec<Option<Held>>,
    ahead: PreprocessedRun,
}

/// The error for a node of an unexpected kind; [`crate::lower`] makes none.
fn unfit() -> Abort {
    Abort::Misuse { step: NODE, what: Misuse::CircuitUnfit }
}

/// The shares in these lanes; zero for a lane that does not exist.
fn gather(x: &Num, places: &[usize]) -> Result<Num, Abort> {
    let mut out = WipedVec::zeros(places.len());
    for (out, place) in out.iter_mut().zip(places).filter(|(_, place)| **place != NOWHERE) {
        *out = *x.shares().get(*place).ok_or_else(unfit)?;
    }
    Ok(Num::new(out))
}

/// Splits a value into parts with these numbers of lanes.
fn cut(x: &Num, lanes: impl Iterator<Item = usize>) -> Vec<Num> {
    let mut rest = x.shares();
    let mut parts = Vec::new();
    for lanes in lanes {
        let (part, others) = rest.split_at(lanes.min(rest.len()));
        rest = others;
        parts.push(Num::new(WipedVec::from(part)));
    }
    parts
}

impl Run<'_> {
    fn num(&self, id: Id) -> Result<&Num, Abort> {
        match self.held.get(id) {
            Some(Some(Held::Num(num))) => Ok(num),
            _ => Err(unfit()),
        }
    }

    fn word(&self, id: Id) -> Result<&[GmwBit], Abort> {
        match self.held.get(id) {
            Some(Some(Held::Word(word))) => Ok(word),
            _ => Err(unfit()),
        }
    }

    /// Stores the result of a node, which has its lanes and its bits, and drops results that nothing needs
    /// any more.
    fn keep(&mut self, id: Id, held: Held) -> Result<(), Abort> {
        let sized = &self.code.nodes[id];
        let fits = match &held {
            Held::Num(num) => num.lanes() == sized.lanes && sized.width == 0,
            Held::Word(word) => {
                word.len() == sized.width && word.iter().all(|bit| bit.lanes() == sized.lanes)
            }
        };
        if !fits {
            return Err(unfit());
        }
        self.held[id] = Some(held);
        sized.node.args().into_iter().for_each(|arg| self.let_go(arg));
        Ok(())
    }

    fn let_go(&mut self, id: Id) {
        self.left[id] = self.left[id].saturating_sub(1);
        if self.left[id] == 0 {
            self.held[id] = None;
        }
    }

    /// Shares of a public word: that of the first party is the word, all others are zero.
    fn public(&self, width: usize, lanes: usize, bit: impl Fn(usize, usize) -> bool) -> Vec<GmwBit> {
        (0..width).map(|i| GmwBit::of((0..lanes).map(|lane| u64::from(self.first && bit(i, lane))))).collect()
    }

    fn local(&mut self, id: Id, own: &[Option<Entries>]) -> Result<(), Abort> {
        let (p, me) = (self.plain, self.mixed.session().me());
        let sized = &self.code.nodes[id];
        let (lanes, width) = (sized.lanes, sized.width);
        let one = |num: Option<Num>| num.map(Held::Num).ok_or_else(unfit);
        let held = match &sized.node {
            Node::Input(place) => self.input_numbers(*place, own)?,
            Node::InputBits(place) => self.input_bits(*place, own)?,
            Node::Constant(numbers) => one(Num::zero(lanes).add_public(p, me, numbers))?,
            Node::Add(x, y) => one(self.num(*x)?.add(p, self.num(*y)?))?,
            Node::Sub(x, y) => one(self.num(*x)?.sub(p, self.num(*y)?))?,
            Node::Neg(x) => Held::Num(self.num(*x)?.scale(p, p.neg(1))),
            Node::Scale(x, factors) => match factors.as_slice() {
                [factor] => Held::Num(self.num(*x)?.scale(p, *factor)),
                factors => {
                    let mut out = WipedVec::from(self.num(*x)?.shares());
                    if factors.len() != out.len() {
                        return Err(unfit());
                    }
                    p.mul_assign(&mut out, factors);
                    Held::Num(Num::new(out))
                }
            },
            Node::Shift(x, by) => one(self.num(*x)?.add_public(p, me, &vec![*by; lanes]))?,
            Node::Gather(x, places) => Held::Num(gather(self.num(*x)?, places)?),
            Node::SumRows(x, side) => {
                let mut out = WipedVec::zeros(lanes);
                for (out, row) in out.iter_mut().zip(self.num(*x)?.shares().chunks_exact(*side)) {
                    *out = row.iter().fold(0, |sum, x| p.add(sum, *x));
                }
                Held::Num(Num::new(out))
            }
            Node::Same(bits) => Held::Word(self.public(width, lanes, |i, _| bits[i])),
            Node::Words(words) => Held::Word(self.public(width, lanes, |i, lane| words[lane] >> i & 1 == 1)),
            Node::Pick(bits) => {
                let bit = |(id, i): &(Id, usize)| self.word(*id)?.get(*i).cloned().ok_or_else(unfit);
                Held::Word(bits.iter().map(bit).collect::<Result<_, Abort>>()?)
            }
            Node::Xor(x, y) => {
                let mut out = self.word(*x)?.to_vec();
                for (out, y) in out.iter_mut().zip(self.word(*y)?) {
                    if !out.add(y) {
                        return Err(unfit());
                    }
                }
                Held::Word(out)
            }
            Node::Not(x) => {
                let ones = self.public(width, lanes, |_, _| true);
                let mut out = self.word(*x)?.to_vec();
                if !out.iter_mut().zip(&ones).all(|(out, one)| out.add(one)) {
                    return Err(unfit());
                }
                Held::Word(out)
            }
            Node::GatherWords(x, places) => {
                let bits: Option<Vec<GmwBit>> = self.word(*x)?.iter().map(|bit| bit.gather(places)).collect();
                Held::Word(bits.ok_or_else(unfit)?)
            }
            Node::Beside(x, y) => {
                let pairs: Vec<[GmwBit; 2]> = self
                    .word(*x)?
                    .iter()
                    .cloned()
                    .zip(self.word(*y)?.iter().cloned())
                    .map(<[GmwBit; 2]>::from)
                    .collect();
                let gmw = self.mixed.gmw();
                Held::Word(pairs.iter().map(|[x, y]| gmw.join_bits(&[x, y])).collect())
            }
            _ => return Err(unfit()),
        };
        self.keep(id, held)
    }

    /// A2B of all numbers of a layer and all its products, by one opening.
    fn numbers(&mut self, to_bits: &[Id], multiply: &[Id]) -> Result<(), Abort> {
        let join = |ids: &[Id], k: usize| {
            let parts = ids.iter().map(|id| self.num(self.code.nodes[*id].node.args()[k]));
            Ok::<Num, Abort>(Num::join(&parts.collect::<Result<Vec<_>, _>>()?))
        };
        let (x, y, z) = (join(multiply, 0)?, join(multiply, 1)?, join(to_bits, 0)?);
        if !to_bits.is_empty() {
            self.mixed.set_adder(node::adder(z.lanes()));
        }
        let (products, bits) = match (multiply, to_bits) {
            ([], []) => return Ok(()),
            ([], _) => (Num::zero(0), self.mixed.a2b(&z)?),
            (_, []) => (self.mixed.multiply(&x, &y)?, Vec::new()),
            _ => self.mixed.multiply_and_a2b([&x, &y], &z)?,
        };
        let mut from = 0;
        for id in to_bits {
            let places: Vec<usize> = (from..from + self.code.nodes[*id].lanes).collect();
            from += places.len();
            let word: Option<Vec<GmwBit>> = bits.iter().map(|bit| bit.gather(&places)).collect();
            self.keep(*id, Held::Word(word.ok_or_else(unfit)?))?;
        }
        let parts = cut(&products, multiply.iter().map(|id| self.code.nodes[*id].lanes));
        multiply.iter().zip(parts).try_for_each(|(id, part)| self.keep(*id, Held::Num(part)))
    }

    /// B2A of all words of a layer and all its lookups, by one opening.
    fn ask(&mut self, to_number: &[Id], look_up: &[Id]) -> Result<(), Abort> {
        let code = self.code;
        let mut asked = Vec::with_capacity(to_number.len() + look_up.len());
        for id in to_number {
            asked.push(Asked::B2a(self.word(code.nodes[*id].node.args()[0])?.to_vec()));
        }
        for id in look_up {
            let signs = self.ahead.signs.pop_front().ok_or_else(unfit)?;
            asked.push(match &code.nodes[*id].node {
                Node::LookUp { table, index } => {
                    let index = self.word(*index)?.to_vec();
                    Asked::PubTabLookup { tables: vec![table.as_slice()], index, signs }
                }
                Node::LookUpPrivate { tables, index } => {
                    let index = self.word(*index)?.to_vec();
                    Asked::PriTabLookup { tables: vec![self.num(*tables)?.clone()], index, signs }
                }
                _ => return Err(unfit()),
            });
        }
        let found = self.mixed.ask(asked)?;
        for (id, mut found) in to_number.iter().chain(look_up).zip(found) {
            self.keep(*id, Held::Num(found.pop().ok_or_else(unfit)?))?;
        }
        Ok(())
    }

    /// Runs all circuits of a layer, level by level, together.
    fn circuits(&mut self, ids: &[Id]) -> Result<(), Abort> {
        if ids.is_empty() {
            return Ok(());
        }
        let code = self.code;
        let mut jobs = Vec::with_capacity(ids.len());
        for id in ids {
            let Node::Run(circuit, words) = &code.nodes[*id].node else { return Err(unfit()) };
            let mut inputs = Vec::with_capacity(circuit.input_bits());
            for word in words {
                inputs.extend_from_slice(self.word(*word)?);
            }
            jobs.push(ProgramRun::new(circuit, inputs));
        }
        self.mixed.gmw().run(&mut jobs)?;
        let outputs: Vec<Vec<GmwBit>> = jobs.into_iter().map(|job| job.wires).collect();
        ids.iter().zip(outputs).try_for_each(|(id, bits)| self.keep(*id, Held::Word(bits)))
    }

    /// Evaluates all garbled circuits of a layer in the rounds of one.
    fn garbled(&mut self, ids: &[Id]) -> Result<(), Abort> {
        if ids.is_empty() {
            return Ok(());
        }
        let code = self.code;
        let mut all = Vec::with_capacity(ids.len());
        for id in ids {
            let Node::Garbled(_, words) = &code.nodes[*id].node else { return Err(unfit()) };
            let garbled = self.ahead.garbled.pop_front().ok_or_else(unfit)?;
            let mut inputs = Vec::new();
            for word in words {
                inputs.extend_from_slice(self.word(*word)?);
            }
            all.push((garbled, inputs));
        }
        let outputs = evaluate::evaluate(self.mixed.gmw(), all)?;
        ids.iter().zip(outputs).try_for_each(|(id, bits)| self.keep(*id, Held::Word(bits)))
    }
}
