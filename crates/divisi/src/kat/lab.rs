//! A group of vectors through the engine of three parties, each a thread, over links in memory.

use super::{Algorithm, Answer, Answers, Group, Options, Vector};
use crate::failure::Failure;
use divisi_core::{Abort, Bytes, Direction, Parameters, Session, Step, settle, step};
use divisi_net::{Machine, Mesh, World, memory};
use divisi_node::many::{Job, Outcome, Text, many};
use divisi_rep3::deal::{self, Part};
use divisi_rep3::{Byte, Rep3, Trio};
use divisi_symmetric::aes;
use divisi_symmetric::mode::gcm::TagLength;
use divisi_symmetric::mode::{columns, ctr};
use std::sync::Arc;

const VECTORS: Step = step!("vectors");

/// What one party gives: an answer for each job, and how many values were opened.
type Given = (Vec<Answer>, u64);

/// A vector walked one way.
struct Walk<'v> {
    vector: &'v Vector,
    direction: Direction,
}

/// Run one group: one call of the engine.
pub(super) fn run(group: &Group, options: &Options) -> Result<Answers, Failure> {
    let walk = |direction| move |vector| Walk { vector, direction };
    let encrypt = group.vectors.iter().filter(|v| v.encrypts()).map(walk(Direction::Encrypt));
    let decrypt = group.vectors.iter().filter(|v| v.decrypts()).map(walk(Direction::Decrypt));
    let walks: Vec<Walk<'_>> = encrypt.chain(decrypt).collect();
    let (given, openings) = match group.algorithm {
        Algorithm::Gcm => gcm(group, &walks, options)?,
        Algorithm::Ecb | Algorithm::Ctr => blocks(group, &walks, options)?,
    };
    let mut given = given.into_iter();
    // In the order of the walks; a vector that was not walked that way has no answer.
    let mut take = |walked: bool| if walked { given.next().flatten() } else { None };
    let encrypted = group.vectors.iter().map(|v| take(v.encrypts())).collect();
    let decrypted = group.vectors.iter().map(|v| take(v.decrypts())).collect();
    Ok(Answers { encrypted, decrypted, openings })
}

/// Run `party` at each of the three with its own inputs; what the first gives, if all give the same.
fn three<T: Send>(
    options: &Options,
    inputs: [T; 3],
    party: impl Fn(&mut Rep3, T) -> Result<Vec<Answer>, Abort> + Sync,
) -> Result<Given, Failure> {
    let parameters = Parameters::new("rep3 known answers").with("protocol", options.protocol.name().as_bytes());
    let one = |mesh: Mesh, input: T| {
        let session = Session::start(&Arc::new(mesh), 1, &parameters)?;
        let mut rep = Rep3::new(Trio::new(session)?, options.protocol, options.security);
        let answers = party(&mut rep, input)?;
        Ok((answers, rep.trio().session().meter().read().openings))
    };
    let given: Vec<Result<Given, Abort>> = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> =
            memory::mesh(3).into_iter().zip(inputs).map(|(mesh, input)| scope.spawn(move || one(mesh, input))).collect();
        let ended = |_| Err(Abort::Misuse { step: VECTORS, what: "a party's thread ended without an answer" });
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(ended)).collect()
    });
    let mut given = given.into_iter().collect::<Result<Vec<Given>, Abort>>()?.into_iter();
    match (given.next(), given.next(), given.next()) {
        (Some(one), Some(two), Some(three)) if one == two && two == three => Ok(one),
        _ => Err(Failure::mismatch("the parties do not give the same answers: report this with the file")),
    }
}

fn split(data: &[u8]) -> [Part; 3] {
    deal::split(data, |out| Machine.entropy(out))
}

fn gcm(group: &Group, walks: &[Walk<'_>], options: &Options) -> Result<Given, Failure> {
    let mut jobs = [Vec::new(), Vec::new(), Vec::new()];
    for Walk { vector, direction } in walks {
        let tag_length = TagLength::from_bits(8 * vector.tag.len());
        let iv = <[u8; 12]>::try_from(vector.iv.as_slice());
        let (Ok(tag_length), Ok(danger_iv)) = (tag_length, iv) else {
            return Err(Failure::usage("a vector with an IV or a tag that GCM here does not take: leave it out"));
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
    /// A lane a vector.
    key: Vec<Part>,
    /// A lane a block.
    text: Vec<Part>,
}

/// ECB and CTR: all blocks of all vectors side by side, those of one direction after those of the other.
fn blocks(group: &Group, walks: &[Walk<'_>], options: &Options) -> Result<Given, Failure> {
    let text = |walk: &Walk<'_>| match walk.direction {
        Direction::Encrypt => walk.vector.plaintext.clone(),
        Direction::Decrypt => walk.vector.ciphertext.clone(),
    };
    let texts: Vec<Vec<u8>> = walks.iter().map(text).collect();
    let lanes: Vec<usize> = texts.iter().map(|text| text.len().div_ceil(16)).collect();
    let mut stream = Vec::new();
    for (text, lanes) in texts.iter().zip(&lanes) {
        let end = stream.len() + 16 * lanes;
        stream.extend_from_slice(text);
        stream.resize(end, 0);
    }
    let mut shares: [Share; 3] = std::array::from_fn(|_| Share { key: Vec::new(), text: Vec::new() });
    for i in 0..group.size.bytes() {
        let column: Vec<u8> = walks.iter().map(|walk| walk.vector.key.get(i).copied().unwrap_or(0)).collect();
        shares.iter_mut().zip(split(&column)).for_each(|(share, part)| share.key.push(part));
    }
    for column in columns::from_stream(&stream) {
        shares.iter_mut().zip(split(&column)).for_each(|(share, part)| share.text.push(part));
    }
    let opened = three(options, shares, |rep, share| {
        let key = share.key.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
        let text = share.text.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
        let out = cipher(rep, group.algorithm, walks, &lanes, &key, text)?;
        let pending = rep.close(out);
        let verified = settle(rep, pending)?;
        let opened = rep.trio().open(&verified)?;
        let misfit = Abort::Misuse { step: VECTORS, what: "a block that has not 16 bytes" };
        let columns: [Vec<u8>; 16] = opened.try_into().map_err(|_| misfit)?;
        let stream = columns::to_stream(&columns, 16 * lanes.iter().sum::<usize>()).unwrap_or_default();
        Ok(vec![Some((stream, Vec::new()))])
    })?;
    let (whole, openings) = opened;
    let stream = whole.into_iter().flatten().next().map(|(stream, _)| stream).unwrap_or_default();
    let mut rest = stream.as_slice();
    let mut answers = Vec::with_capacity(walks.len());
    for (text, lanes) in texts.iter().zip(&lanes) {
        let (now, later) = rest.split_at((16 * lanes).min(rest.len()));
        answers.push(now.get(..text.len()).map(|text| (text.to_vec(), Vec::new())));
        rest = later;
    }
    Ok((answers, openings))
}

/// The texts' blocks, enciphered or deciphered under their vectors' keys, on any engine.
fn cipher<E: Bytes>(
    e: &mut E,
    algorithm: Algorithm,
    walks: &[Walk<'_>],
    lanes: &[usize],
    key: &[E::Byte],
    text: Vec<E::Byte>,
) -> Result<Vec<E::Byte>, Abort> {
    let misfit = || Abort::Misuse { step: VECTORS, what: "lanes that do not fit" };
    let index = |direction: Option<Direction>| {
        let chosen = walks.iter().zip(lanes).enumerate().filter(move |(_, (w, _))| direction.is_none_or(|d| d == w.direction));
        chosen.flat_map(|(k, (_, n))| std::iter::repeat_n(k, *n)).collect::<Vec<usize>>()
    };
    let keys = aes::expand(e, key)?;
    if algorithm == Algorithm::Ctr {
        let mut counters: [Vec<u8>; 16] = Default::default();
        for (walk, n) in walks.iter().zip(lanes) {
            let initial = <[u8; 16]>::try_from(walk.vector.iv.as_slice()).map_err(|_| misfit())?;
            counters.iter_mut().zip(ctr::columns_128(&initial, 0, *n)).for_each(|(all, own)| all.extend(own));
        }
        let keys = keys.gather(&index(None)).ok_or_else(misfit)?;
        let mut stream = ctr::keystream(e, &keys, &counters)?;
        for (stream, text) in stream.iter_mut().zip(&text) {
            e.add(stream, text)?;
        }
        return Ok(stream.into());
    }
    // The walks that encrypt come first, so their blocks do.
    use divisi_core::Lanes;
    let total: usize = lanes.iter().sum();
    let first = index(Some(Direction::Encrypt)).len();
    let mut out: Vec<Vec<E::Byte>> = Vec::new();
    for (direction, range) in [(Direction::Encrypt, 0..first), (Direction::Decrypt, first..total)] {
        if range.is_empty() {
            continue;
        }
        let positions: Vec<usize> = range.collect();
        let part = text.iter().map(|byte| byte.gather(&positions)).collect::<Option<Vec<_>>>();
        let mut state: [E::Byte; 16] = part.and_then(|part| part.try_into().ok()).ok_or_else(misfit)?;
        let keys = keys.gather(&index(Some(direction))).ok_or_else(misfit)?;
        match direction {
            Direction::Encrypt => aes::encrypt(e, &keys, &mut state)?,
            Direction::Decrypt => aes::decrypt(e, &keys, &mut state)?,
        }
        out.push(state.into());
    }
    match out.len() {
        1 => Ok(out.remove(0)),
        _ => Err(Abort::Misuse { step: VECTORS, what: "a group that walks both ways at once" }),
    }
}
