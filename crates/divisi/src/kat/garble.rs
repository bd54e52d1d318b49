//! A group of vectors through authenticated garbling: parties that are threads, over links in memory, one session a group.
//!
//! Each function becomes a circuit, vectors of equal lengths are instances of one circuit and are garbled together. Input
//! values belong to the parties in turn (key, then text, then what it is compared with), and every party learns the outputs: they
//! must be the same at all. Of a tag that is only to be compared one bit is opened.

use super::batch::{Walk, walks};
use super::functions::{self, Vector as Tagged};
use super::tags;
use super::vector::{Algorithm, Answer, Answers, Group};
use crate::failure::Failure;
use crate::garbling::Garbling;
use divisi_circuit::{Bit, Build, Gates, Program};
use divisi_core::{Abort, Bytes, Direction, Parameters, PartyId, Session, Step, step};
use divisi_garble::{Garble, Plan, SETUP_PHASE};
use divisi_net::{Machine, Mesh, Options as Net, memory};
use divisi_ot::Setup;
use divisi_symmetric::aes;
use divisi_symmetric::batch::{Function, Messages, bits, byte_values};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{GateByte, GateBytes};
use divisi_symmetric::mode::ctr;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const VECTORS: Step = step!("vectors");

/// Why a chain of digests does not run.
pub(super) const CHAIN: &str = "a Monte Carlo test, of which the engine garble has no circuit";

/// No circuit is drawn for a longer message: the gates of a hash would fill the memory.
const LONGEST_MESSAGE: usize = 1 << 10;
/// ANDs that are garbled together.
const TOGETHER: usize = 1 << 19;

/// Instances of one circuit: the bytes of each input value of each.
struct Task {
    program: Program,
    instances: Vec<Vec<Vec<u8>>>,
}

/// What the engine has no circuit of.
pub(super) fn lacks(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::Gcm => Some("a mode of which the engine garble has no circuit"),
        Algorithm::Ecb | Algorithm::Ctr | Algorithm::Function(_) => None,
    }
}

/// Take the vectors out of a group that are too long for a circuit: how many they are, and why.
pub(super) fn shorten(group: &functions::Group) -> (functions::Group, Option<(String, u64)>) {
    let mut short = group.clone();
    short.vectors.retain(|vector| vector.message.len() <= LONGEST_MESSAGE);
    let gone = (group.vectors.len() - short.vectors.len()) as u64;
    (short, (gone > 0).then(|| (format!("a message of more than {LONGEST_MESSAGE} bytes"), gone)))
}

/// Blocks of AES: those of all vectors at once.
pub(super) fn blocks(group: &Group, garbling: &Garbling) -> Result<Answers, Failure> {
    let walks = walks(group);
    let ctr = group.algorithm == Algorithm::Ctr;
    let mut given: Vec<Option<Vec<u8>>> = vec![None; walks.len()];
    let (mut tasks, mut places) = (Vec::new(), Vec::new());
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let (mut instances, mut of) = (Vec::new(), Vec::new());
        for (i, walk) in walks.iter().enumerate().filter(|(_, walk)| walk.direction == direction) {
            let counters = counters(walk, ctr)?;
            for (k, block) in walk.text().chunks(16).enumerate() {
                let mut block = block.to_vec();
                block.resize(16, 0);
                let counter = counters.get(k).map(|counter| counter.to_vec());
                instances.push([walk.vector.key.clone(), block].into_iter().chain(counter).collect());
                of.push(i);
            }
        }
        if instances.is_empty() {
            continue;
        }
        let inputs = [group.size.bytes(), 16, 16];
        let program = circuits::drawn(&inputs[..if ctr { 3 } else { 2 }], |e, values| {
            let keys = aes::expand(e, &values[0])?;
            let misfit = |_| Abort::Misuse { step: VECTORS, what: "a block of 16 bytes" };
            let mut state = values.last().cloned().unwrap_or_default().try_into().map_err(misfit)?;
            match direction {
                // the counter's cipher is the pad, whichever way
                _ if ctr => aes::encrypt(e, &keys, &mut state)?,
                Direction::Encrypt => aes::encrypt(e, &keys, &mut state)?,
                Direction::Decrypt => aes::decrypt(e, &keys, &mut state)?,
            }
            if ctr {
                state.iter_mut().zip(&values[1]).try_for_each(|(pad, text)| e.add(pad, text))?;
            }
            Ok(vec![state.to_vec()])
        })?;
        tasks.push(Task { program, instances });
        places.push(of);
    }
    let (outputs, openings) = run(&tasks, garbling)?;
    for (places, outputs) in places.iter().zip(&outputs) {
        for (place, block) in places.iter().zip(outputs) {
            given[*place].get_or_insert_default().extend(block);
        }
    }
    let answer = |(walk, text): (&Walk<'_>, Option<Vec<u8>>)| -> Answer {
        let mut text = text?;
        text.truncate(walk.text().len());
        Some((text, Vec::new()))
    };
    Ok(Answers::new(group, walks.iter().zip(given).map(answer).collect(), openings))
}

/// The counter blocks of a walk: none of a mode without.
fn counters(walk: &Walk<'_>, ctr: bool) -> Result<Vec<[u8; 16]>, Abort> {
    if !ctr {
        return Ok(Vec::new());
    }
    let misfit = |_| Abort::Misuse { step: VECTORS, what: "a counter of 16 bytes" };
    let first = <[u8; 16]>::try_from(walk.vector.iv.as_slice()).map_err(misfit)?;
    let count = walk.text().len().div_ceil(16);
    let columns = ctr::columns_128(&first, 0, count);
    Ok((0..count).map(|block| std::array::from_fn(|i| columns[i][block])).collect())
}

/// Hashes and MACs: what is to be made is opened, what is to be compared is compared inside.
pub(super) fn functions(
    group: &functions::Group,
    garbling: &Garbling,
) -> Result<(Vec<tags::Answer>, u64), Failure> {
    let mut answers: Vec<tags::Answer> = vec![(None, None); group.vectors.len()];
    // one circuit for each length and nonce, and for each of the two purposes
    let mut alike: BTreeMap<(bool, usize, [u8; 12]), Vec<usize>> = BTreeMap::new();
    for (i, vector) in group.vectors.iter().enumerate() {
        for (compares, wanted) in [(false, vector.makes), (true, vector.compares)] {
            if wanted {
                alike.entry((compares, vector.message.len(), vector.nonce)).or_default().push(i);
            }
        }
    }
    let mut openings = 0;
    // one after the other: a circuit is as large as its message is long
    for ((compares, length, nonce), members) in &alike {
        let first = members.first().and_then(|member| group.vectors.get(*member));
        let key = first.map_or(0, |vector| vector.key.len());
        let widths = [key, *length, if *compares { group.settings.output_bytes } else { 0 }];
        let program = circuits::drawn(&widths, |e, values| {
            let function = Function::prepare(e, &group.settings, &values[0])?;
            let message = bits(e, values[1].clone())?;
            let output = function.output(e, &Messages::even(message, 1)?, &[*nonce])?;
            let output = byte_values(e, output)?;
            Ok(vec![if *compares { vec![same(e, &output, &values[2])] } else { output }])
        })?;
        let values = |vector: &Tagged| {
            let all = [&vector.key, &vector.message, &vector.output];
            all.into_iter()
                .zip(widths)
                .filter(|(_, width)| *width > 0)
                .map(|(value, _)| value.clone())
                .collect()
        };
        let instances = members.iter().filter_map(|i| group.vectors.get(*i)).map(values).collect();
        let (outputs, opened) = run(&[Task { program, instances }], garbling)?;
        openings += opened;
        for (member, output) in members.iter().zip(outputs.into_iter().flatten()) {
            match answers.get_mut(*member) {
                Some(answer) if *compares => answer.1 = Some(output.first() == Some(&1)),
                Some(answer) => answer.0 = Some(output),
                None => {}
            }
        }
    }
    Ok((answers, openings))
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

/// All tasks in one session: the outputs of each instance, if all parties learn the same; how many values were opened.
fn run(tasks: &[Task], garbling: &Garbling) -> Result<(Vec<Vec<Vec<u8>>>, u64), Failure> {
    let parties: Vec<PartyId> = PartyId::all(garbling.parties).collect();
    // what does not fit the budget is streamed
    let manner = Garbling { streamed: true, ..*garbling };
    let mut plans = Vec::with_capacity(tasks.len());
    for task in tasks {
        let owners: Vec<PartyId> =
            parties.iter().copied().cycle().take(task.program.inputs().len()).collect();
        plans.push(manner.plan(&task.program, &owners, &parties, 1)?);
    }
    // many parties share few processors
    let timeout = Duration::from_secs(20).max(Duration::from_secs(2 * garbling.parties as u64));
    let net = Net { timeout, ..Net::default() };
    let one = |mesh: Mesh| party(&Arc::new(mesh), garbling, tasks, &plans);
    let given: Vec<Result<Vec<Vec<Vec<u8>>>, Abort>> = std::thread::scope(|scope| {
        let one = &one;
        let meshes = memory::mesh_with(garbling.parties, &net, Arc::new(Machine));
        let threads: Vec<_> = meshes.into_iter().map(|mesh| scope.spawn(move || one(mesh))).collect();
        let ended =
            |_| Err(Abort::Misuse { step: VECTORS, what: "a party's thread ended without an answer" });
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
    });
    let mut given = given.into_iter().collect::<Result<Vec<_>, Abort>>()?.into_iter();
    let Some(first) = given.next() else { return Ok((Vec::new(), 0)) };
    if given.any(|other| other != first) {
        return Err(Failure::mismatch("the parties do not give the same answers: report this with the file"));
    }
    let opened = first.iter().flatten().map(|output| output.len() as u64).sum();
    Ok((first, opened))
}

/// One party's part.
fn party(
    mesh: &Arc<Mesh>,
    garbling: &Garbling,
    tasks: &[Task],
    plans: &[Plan<'_>],
) -> Result<Vec<Vec<Vec<u8>>>, Abort> {
    let mut parameters = garbling.describe(Parameters::new("garble known answers"));
    for (task, plan) in tasks.iter().zip(plans) {
        parameters = parameters.with("plan", &plan.digest());
        parameters = parameters.with("instances", &(task.instances.len() as u64).to_le_bytes());
    }
    let mut session = Session::start(mesh, 1, &parameters)?;
    session.phase(SETUP_PHASE);
    let setup = Setup::new(&mut session, garbling.config)?;
    let mut garble = Garble::new(&session, setup, garbling.options);
    let (me, parties) = (session.me().index(), garbling.parties);
    let mut all = Vec::with_capacity(tasks.len());
    for (task, plan) in tasks.iter().zip(plans) {
        let mut outputs = Vec::with_capacity(task.instances.len());
        for instances in task.instances.chunks((TOGETHER / plan.and_count().max(1)).max(1)) {
            let own = |instance: &Vec<Vec<u8>>| {
                instance.iter().skip(me).step_by(parties).flat_map(|value| to_bits(value)).collect()
            };
            let own: Vec<Vec<u8>> = instances.iter().map(own).collect();
            let count = own.len();
            let learned = if garbling.options.admit(plan, garbling.config.rho, count).is_err() {
                garble.streamed(&mut session, plan, &own)?
            } else {
                let mut made = garble.function_independent(
                    &mut session,
                    count * plan.and_count(),
                    count * plan.wires(),
                )?;
                let garbled = garble.function_dependent(&mut session, &mut made, plan, count)?;
                garble.online(&mut session, garbled, &own)?
            };
            outputs.extend(learned.iter().map(|bits| from_bits(bits)));
        }
        all.push(outputs);
    }
    Ok(all)
}
