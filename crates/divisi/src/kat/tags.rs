//! A group of hashes or MACs through an engine: outputs that are to be made are opened, tags that are to be compared are compared inside.

use super::functions::{Group, Vector};
use super::lab::{split, three};
use super::vector::Expected;
use super::{Engine, Options};
use crate::failure::Failure;
use divisi_core::{Abort, Bytes, Lanes, Plain, Step, settle, step};
use divisi_node::tags;
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Byte, Rep3};
use divisi_symmetric::batch::{Engine as Whole, Function, Messages, SecretByte, State, bits, byte_values};

const VECTOR: Step = step!("vector");

/// What an engine says of a vector: its output, if it was to be made; whether its tag is right, if that was to be compared.
pub(super) type Answer = (Option<Vec<u8>>, Option<bool>);

impl Vector {
    pub(super) fn is_right(&self, (made, same): &Answer) -> bool {
        let made = !self.makes || made.as_ref() == Some(&self.output);
        let compared = match (self.compares, self.expected) {
            (false, _) => true,
            (true, Expected::Valid) => *same == Some(true),
            (true, Expected::Invalid) => *same == Some(false),
            (true, Expected::Acceptable) => same.is_some(),
        };
        made && compared
    }
}

/// Run one group: the answers, and how many values were opened.
pub(super) fn run(group: &Group, options: &Options) -> Result<(Vec<Answer>, u64), Failure> {
    match options.engine {
        Engine::Plain => Ok((plain(group)?, 0)),
        Engine::Rep3 => rep3(group, options),
        Engine::Garble => super::garble::functions(group, &options.garbling),
    }
}

/// Byte `j` of all vectors' strings, filled up with zeros.
fn columns(group: &Group, string: impl Fn(&Vector) -> &[u8]) -> Vec<Vec<u8>> {
    let longest = group.vectors.iter().map(|vector| string(vector).len()).max().unwrap_or(0);
    let byte = |j: usize| group.vectors.iter().map(|v| string(v).get(j).copied().unwrap_or(0)).collect();
    (0..longest).map(byte).collect()
}

/// So many bytes of each message go through at once, as far as all have as many: what they owe is settled with them.
const PIECE: usize = 2048;

/// The outputs of all vectors, a lane each. `settle` is what an engine does with a state between two pieces.
fn outputs<E: Whole>(
    e: &mut E,
    group: &Group,
    function: &Function<E>,
    mut messages: Vec<E::Byte>,
    settle: impl Fn(&mut E, State<E>) -> Result<State<E>, Abort>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let nonces: Vec<[u8; 12]> = group.vectors.iter().map(|vector| vector.nonce).collect();
    let lengths = || group.vectors.iter().map(|vector| vector.message.len());
    let piece = PIECE.next_multiple_of(function.piece());
    let mut state = function.begin(e);
    let mut before = 0;
    // something of each message is left for the end
    while before + piece < lengths().min().unwrap_or(0) {
        let now: Vec<E::Byte> = messages.drain(..piece).collect();
        let now = bits(e, now)?;
        let next = function.update(e, state, now)?;
        state = settle(e, next)?;
        before += piece;
    }
    let messages = if messages.is_empty() {
        Messages::public(e, &vec![&[][..]; group.vectors.len()])
    } else {
        Messages::new(bits(e, messages)?, lengths().map(|length| length - before).collect())?
    };
    function.finish(e, state, &messages, &nonces)
}

fn plain(group: &Group) -> Result<Vec<Answer>, Abort> {
    let e = &mut Plain;
    let key: Vec<_> = columns(group, |vector| &vector.key).iter().map(|column| e.public(column)).collect();
    let messages = columns(group, |vector| &vector.message).iter().map(|column| e.public(column)).collect();
    let function = Function::prepare(e, &group.settings, &key)?;
    let outputs = outputs(e, group, &function, messages, |_, state| Ok(state))?;
    let outputs = byte_values(e, outputs)?;
    let answer = |(lane, vector): (usize, &Vector)| {
        let output: Vec<u8> = outputs.iter().filter_map(|byte| byte.values().get(lane).copied()).collect();
        let same = vector.compares.then(|| output == vector.output);
        (vector.makes.then_some(output), same)
    };
    Ok(group.vectors.iter().enumerate().map(answer).collect())
}

fn rep3(group: &Group, options: &Options) -> Result<(Vec<Answer>, u64), Failure> {
    let mut shares: [(Vec<Part>, Vec<Part>); 3] = Default::default();
    for column in columns(group, |vector| &vector.key) {
        shares.iter_mut().zip(split(&column)).for_each(|(share, part)| share.0.push(part));
    }
    for column in columns(group, |vector| &vector.message) {
        shares.iter_mut().zip(split(&column)).for_each(|(share, part)| share.1.push(part));
    }
    three(options, shares, |rep, (key, messages)| party(rep, group, &key, &messages))
}

fn party(rep: &mut Rep3, group: &Group, key: &[Part], messages: &[Part]) -> Result<Vec<Answer>, Abort> {
    let mut input =
        |parts: &[Part]| parts.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<Byte>, _>>();
    let (key, messages) = (input(key)?, input(messages)?);
    let function = tags::prepare(rep, &group.settings, &key)?;
    let outputs = outputs(rep, group, function.get(), messages, |rep, state| {
        let pending = if rep.owes() { rep.close(state) } else { rep.close_linear(state)? };
        Ok(settle(rep, pending)?.into_inner())
    })?;
    let lanes = |wanted: fn(&Vector) -> bool| -> Vec<usize> {
        group.vectors.iter().enumerate().filter(|(_, vector)| wanted(vector)).map(|(lane, _)| lane).collect()
    };
    let mut answers: Vec<Answer> = vec![(None, None); group.vectors.len()];
    // of what is only to be compared nothing is opened
    let made = lanes(|vector| vector.makes);
    let compared = lanes(|vector| vector.compares);
    let of_made = pick(&outputs, &made)?;
    let of_compared = pick(&outputs, &compared)?;
    if !made.is_empty() {
        let bytes = byte_values(rep, of_made)?;
        let pending = if rep.owes() { rep.close(bytes) } else { rep.close_linear(bytes)? };
        let verified = settle(rep, pending)?;
        let opened = rep.trio().open(&verified)?;
        for (at, lane) in made.iter().enumerate() {
            let output: Vec<u8> = opened.iter().filter_map(|column| column.get(at).copied()).collect();
            if let Some(answer) = answers.get_mut(*lane) {
                answer.0 = Some(output);
            }
        }
    }
    if !compared.is_empty() {
        let received: Vec<Vec<u8>> =
            compared.iter().filter_map(|lane| group.vectors.get(*lane)).map(|v| v.output.clone()).collect();
        let same = tags::matches(rep, of_compared, &received)?;
        for (lane, same) in compared.iter().zip(same) {
            if let Some(answer) = answers.get_mut(*lane) {
                answer.1 = Some(same);
            }
        }
    }
    Ok(answers)
}

/// These lanes of all bytes.
fn pick(bytes: &[[Bit; 8]], lanes: &[usize]) -> Result<Vec<[Bit; 8]>, Abort> {
    let misfit = || Abort::Misuse { step: VECTOR, what: "an output for each vector" };
    let byte = |byte: &[Bit; 8]| {
        let bits: Option<Vec<Bit>> = byte.iter().map(|bit| bit.gather(lanes)).collect();
        bits.and_then(|bits| bits.try_into().ok()).ok_or_else(misfit)
    };
    bytes.iter().map(byte).collect()
}
