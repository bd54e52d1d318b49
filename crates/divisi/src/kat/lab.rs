//! A group of vectors through the engine of three parties, each a thread, over links in memory.

use super::Options;
use super::batch::{Batch, Walk, walks};
use super::vector::{Algorithm, Answer, Answers, Group};
use crate::failure::Failure;
use divisi_core::{Abort, Direction, Parameters, Session, Step, settle, step};
use divisi_net::{Machine, Mesh, World, memory};
use divisi_node::many::{Job, Outcome, Text, many};
use divisi_rep3::deal::{self, Part};
use divisi_rep3::{Byte, Rep3, Trio};
use divisi_symmetric::mode::gcm::TagLength;
use std::sync::Arc;

const VECTORS: Step = step!("vectors");

/// What one party gives: an answer for each job, and how many values were opened.
type Given = (Vec<Answer>, u64);

/// Run one group: one call of the engine.
pub(super) fn run(group: &Group, options: &Options) -> Result<Answers, Failure> {
    let walks = walks(group);
    let (given, openings) = match group.algorithm {
        Algorithm::Gcm => gcm(group, &walks, options)?,
        Algorithm::Ecb | Algorithm::Ctr | Algorithm::Function(_) => blocks(group, &walks, options)?,
    };
    Ok(Answers::new(group, given, openings))
}

/// Run `party` at each of the three with its own inputs; what the first gives, if all give the same.
pub(super) fn three<T: Send, R: Send + PartialEq>(
    options: &Options,
    inputs: [T; 3],
    party: impl Fn(&mut Rep3, T) -> Result<R, Abort> + Sync,
) -> Result<(R, u64), Failure> {
    let protocol = options.choice.protocol();
    let parameters = Parameters::new("rep3 known answers").with("protocol", protocol.name().as_bytes());
    let one = |mesh: Mesh, input: T| {
        let session = Session::start(&Arc::new(mesh), 1, &parameters)?;
        let mut rep = Rep3::new(Trio::new(session)?, protocol, options.security);
        let answers = party(&mut rep, input)?;
        Ok((answers, rep.trio().session().meter().read().openings))
    };
    let given: Vec<Result<(R, u64), Abort>> = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = memory::mesh(3)
            .into_iter()
            .zip(inputs)
            .map(|(mesh, input)| scope.spawn(move || one(mesh, input)))
            .collect();
        let ended =
            |_| Err(Abort::Misuse { step: VECTORS, what: "a party's thread ended without an answer" });
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
    });
    let mut given = given.into_iter().collect::<Result<Vec<(R, u64)>, Abort>>()?.into_iter();
    match (given.next(), given.next(), given.next()) {
        (Some(one), Some(two), Some(three)) if one == two && two == three => Ok(one),
        _ => Err(Failure::mismatch("the parties do not give the same answers: report this with the file")),
    }
}

pub(super) fn split(data: &[u8]) -> [Part; 3] {
    deal::split(data, |out| Machine.entropy(out))
}

fn gcm(group: &Group, walks: &[Walk<'_>], options: &Options) -> Result<Given, Failure> {
    let mut jobs = [Vec::new(), Vec::new(), Vec::new()];
    for Walk { vector, direction } in walks {
        let tag_length = TagLength::from_bits(8 * vector.tag.len());
        let iv = <[u8; 12]>::try_from(vector.iv.as_slice());
        let (Ok(tag_length), Ok(danger_iv)) = (tag_length, iv) else {
            return Err(Failure::usage(
                "a vector with an IV or a tag that GCM here does not take: leave it out",
            ));
        };
        let texts = match direction {
            Direction::Encrypt => split(&vector.plaintext).map(Text::Plain),
            Direction::Decrypt => std::array::from_fn(|_| Text::Cipher {
                ciphertext: vector.ciphertext.clone(),
                tag: vector.tag.clone(),
            }),
        };
        for ((jobs, key), text) in jobs.iter_mut().zip(split(&vector.key)).zip(texts) {
            jobs.push(Job { key, danger_iv, aad: vector.aad.clone(), tag_length, text });
        }
    }
    three(options, jobs, |rep, jobs| {
        let answer = |outcome| match outcome {
            Outcome::Sealed(text, tag) => Some((text, tag)),
            Outcome::Opened(text) => Some((text, Vec::new())),
            Outcome::Invalid => None,
        };
        Ok(many(rep, group.size, &jobs)?.into_iter().map(answer).collect())
    })
}

/// What a party has of a group without tags.
struct Share {
    key: Vec<Part>,
    text: Vec<Part>,
}

fn blocks(group: &Group, walks: &[Walk<'_>], options: &Options) -> Result<Given, Failure> {
    let batch = Batch::new(group, walks);
    let mut shares: [Share; 3] = std::array::from_fn(|_| Share { key: Vec::new(), text: Vec::new() });
    for column in &batch.keys {
        shares.iter_mut().zip(split(column)).for_each(|(share, part)| share.key.push(part));
    }
    for column in &batch.text {
        shares.iter_mut().zip(split(column)).for_each(|(share, part)| share.text.push(part));
    }
    three(options, shares, |rep, share| {
        let mut input = |parts: &[Part]| {
            parts.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<Byte>, _>>()
        };
        let (key, text) = (input(&share.key)?, input(&share.text)?);
        let keys = divisi_node::cipher::expand(rep, &key)?;
        let out = batch.run(rep, &keys, text)?;
        let pending = rep.close(out);
        let verified = settle(rep, pending)?;
        let opened = rep.trio().open(&verified)?;
        Ok(batch.answers(&opened))
    })
}
