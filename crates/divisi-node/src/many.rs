//! Many short messages in one go, each with its own key: what known-answer tests run, one engine call a group.
//!
//! Adversary, openings and their order as in [`crate::gcm`]; a message whose tag is wrong has nothing of it opened.

use crate::cipher;
use crate::gcm::{columns, interleave, lanes_at, tags_match, truncate};
use crate::settle::close;
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Step, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Block, Byte, Rep3};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::gcm::{self, TagLength};
use divisi_symmetric::mode::ghash::powers;
use divisi_symmetric::mode::{ctr, gcm::Padding};

const MANY: Step = step!("many");

/// One message.
pub struct Job {
    /// Our part of its key.
    pub key: Part,
    /// Its IV: the caller's, for answers that are known; a stored key draws its own.
    pub danger_iv: [u8; 12],
    /// Its associated data.
    pub aad: Vec<u8>,
    /// How long the tag is.
    pub tag_length: TagLength,
    /// What is to be done.
    pub text: Text,
}

/// Which way, and what.
pub enum Text {
    /// Encrypt our part of the plaintext.
    Plain(Part),
    /// Decrypt a ciphertext with this tag.
    Cipher {
        /// The ciphertext.
        ciphertext: Vec<u8>,
        /// The tag, as long as the job says.
        tag: Vec<u8>,
    },
}

impl Text {
    fn bytes(&self) -> usize {
        match self {
            Text::Plain(part) => part.first.len(),
            Text::Cipher { ciphertext, .. } => ciphertext.len(),
        }
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ciphertext and tag.
    Sealed(Vec<u8>, Vec<u8>),
    /// The plaintext: the tag was right.
    Opened(Vec<u8>),
    /// The tag was wrong; nothing was opened.
    Invalid,
}

/// Where a job's blocks lie among the lanes.
struct Place {
    /// The lane of E_K(J_0); the text follows.
    mask: usize,
    bytes: usize,
    ghash: Vec<u128>,
}

/// Run jobs whose keys have one size.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] for a key of another length, a message that GCM has no room for, no jobs.
pub fn many(rep: &mut Rep3, size: KeySize, jobs: &[Job]) -> Result<Vec<Outcome>, Abort> {
    if jobs.is_empty()
        || jobs.iter().any(|job| [&job.key.first, &job.key.second].iter().any(|c| c.len() != size.bytes()))
    {
        return Err(rep.trio().session().misuse(MANY, "no jobs, or keys of different sizes"));
    }
    // the keys, a lane each, and their schedules
    let mut key = Vec::with_capacity(size.bytes());
    for i in 0..size.bytes() {
        let column = |f: fn(&Part) -> &Vec<u8>| jobs.iter().map(|job| f(&job.key)[i]).collect::<Vec<u8>>();
        key.push(rep.trio().input(&Part { first: column(|p| &p.first), second: column(|p| &p.second) })?);
    }
    let keys = cipher::expand(rep, &key)?;
    // the key stream of all messages
    let mut index = Vec::new();
    let mut counters: [Vec<u8>; 16] = Default::default();
    let mut places = Vec::with_capacity(jobs.len());
    for (k, job) in jobs.iter().enumerate() {
        let blocks = job.text.bytes().div_ceil(16);
        places.push(Place { mask: index.len(), bytes: job.text.bytes(), ghash: Vec::new() });
        index.extend(std::iter::repeat_n(k, blocks + 1));
        let columns = ctr::columns(&gcm::j0(&job.danger_iv), 0, blocks + 1);
        counters.iter_mut().zip(columns).for_each(|(all, column)| all.extend(column));
    }
    let misfit = Abort::Misuse { step: MANY, what: "lanes that do not fit" };
    let stream = cipher::keystream(rep, &keys, Some(&index), &counters)?;
    let masks: Vec<usize> = places.iter().map(|place| place.mask).collect();
    let masks = gcm::tag_masks(rep, &stream, &masks)?;
    // the texts: key stream plus plaintext, or plus ciphertext
    let mut texts = Vec::with_capacity(jobs.len());
    for (job, place) in jobs.iter().zip(&places) {
        texts.push(text(rep, &stream, place, &job.text)?);
    }
    // hash keys and their powers
    let lengths = |job: &Job| gcm::Lengths::new(job.aad.len() as u64, job.text.bytes() as u64);
    let lengths: Vec<_> = jobs.iter().map(lengths).collect::<Result<_, _>>().map_err(|_| misfit.clone())?;
    let most = lengths.iter().map(|l| l.hash_blocks()).max().unwrap_or(1) as usize;
    let h = cipher::with_schedule(rep, |rep| gcm::hash_key(rep, &keys))?;
    let powers = powers(rep, &h, most)?;
    let ((texts, masks), powers) = {
        let (texts, rest) = close(rep, (texts, (masks, powers)))?.split();
        let (masks, powers) = rest.split();
        ((texts, masks), powers)
    };

    // ciphertexts of those to be encrypted are opened now: their tags hash them
    let mut texts = texts.into_inner();
    let sealed: Vec<usize> = (0..jobs.len()).filter(|k| matches!(jobs[*k].text, Text::Plain(_))).collect();
    let ciphertexts = open_texts(rep, &mut texts, &places, &sealed)?;
    let mut tags = Vec::with_capacity(jobs.len());
    for (k, job) in jobs.iter().enumerate() {
        let ciphertext = match &job.text {
            Text::Plain(_) => &ciphertexts[sealed.binary_search(&k).map_err(|_| misfit.clone())?],
            Text::Cipher { ciphertext, .. } => ciphertext,
        };
        places[k].ghash = ghash_blocks(&job.aad, ciphertext, &lengths[k]);
        let mut tag = ghash(rep, powers.get(), k, most, &places[k].ghash)?;
        let mask = masks.get().gather(&[k]).ok_or_else(|| misfit.clone())?;
        rep.add_block(&mut tag, &mask)?;
        tags.push(tag);
    }
    // tags of the sealed are opened; those of the others are compared
    let mut outcomes = vec![Outcome::Invalid; jobs.len()];
    let all = rep.join(&tags.iter().collect::<Vec<&Block>>());
    if !sealed.is_empty() {
        let mine = all.gather(&sealed).ok_or_else(|| misfit.clone())?;
        // of a short tag, nothing beyond it
        let short: Vec<_> = sealed.iter().map(|k| (jobs[*k].tag_length, 0)).collect();
        let mine = truncate(rep, mine, &short)?;
        let bytes: [Byte; 16] = rep.convert(mine)?;
        let verified = close(rep, bytes.to_vec())?;
        let opened = rep.trio().open(&verified)?;
        for (l, (k, ciphertext)) in sealed.iter().zip(ciphertexts).enumerate() {
            let tag = (0..jobs[*k].tag_length.bytes()).map(|i| opened[i][l]).collect();
            outcomes[*k] = Outcome::Sealed(ciphertext, tag);
        }
    }
    let mut others = Vec::new();
    let mut received = Vec::new();
    for (k, job) in jobs.iter().enumerate() {
        if let Text::Cipher { tag, .. } = &job.text {
            others.push(k);
            received.push((job.tag_length, job.tag_length.element(tag).ok_or_else(|| misfit.clone())?));
        }
    }
    if !others.is_empty() {
        let theirs = all.gather(&others).ok_or_else(|| misfit.clone())?;
        let valid = tags_match(rep, theirs, &received)?;
        let valid: Vec<usize> = others.iter().zip(valid).filter(|(_, ok)| *ok).map(|(k, _)| *k).collect();
        for (k, plaintext) in valid.iter().zip(open_texts(rep, &mut texts, &places, &valid)?) {
            outcomes[*k] = Outcome::Opened(plaintext);
        }
    }
    Ok(outcomes)
}

/// One text: its columns, cut to its bytes.
fn text(rep: &mut Rep3, stream: &[Byte; 16], place: &Place, text: &Text) -> Result<Vec<Byte>, Abort> {
    let misfit = Abort::Misuse { step: MANY, what: "lanes that do not fit" };
    let mut out = Vec::with_capacity(16);
    for (i, byte) in stream.iter().enumerate() {
        let lanes: Vec<usize> = (0..lanes_at(place.bytes, i)).map(|l| place.mask + 1 + l).collect();
        out.push(byte.gather(&lanes).ok_or_else(|| misfit.clone())?);
    }
    match text {
        Text::Plain(part) => {
            for (stream, plain) in out.iter_mut().zip(columns(rep, part)?) {
                rep.add(stream, &plain)?;
            }
        }
        Text::Cipher { ciphertext, .. } => {
            for (i, stream) in out.iter_mut().enumerate() {
                let column: Vec<u8> = ciphertext.iter().skip(i).step_by(16).copied().collect();
                if !column.is_empty() {
                    rep.add_public(stream, &column)?;
                }
            }
        }
    }
    Ok(out)
}

/// Open the texts of these jobs; they were verified with the whole batch.
fn open_texts(
    rep: &mut Rep3,
    texts: &mut [Vec<Byte>],
    places: &[Place],
    which: &[usize],
) -> Result<Vec<Vec<u8>>, Abort> {
    let chosen: Vec<Byte> = which.iter().flat_map(|k| std::mem::take(&mut texts[*k])).collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let verified = close(rep, chosen)?; // linear in what was verified
    let opened = rep.trio().open(&verified)?;
    Ok(which
        .iter()
        .zip(opened.chunks(16))
        .map(|(k, columns)| interleave(columns, places[*k].bytes))
        .collect())
}

/// Associated data, ciphertext and lengths as GHASH takes them.
fn ghash_blocks(aad: &[u8], ciphertext: &[u8], lengths: &gcm::Lengths) -> Vec<u128> {
    let mut blocks = Vec::new();
    let mut padding = Padding::default();
    for part in [aad, ciphertext, &lengths.length_block()] {
        blocks.extend(padding.push(part));
        blocks.extend(padding.close());
    }
    blocks
}

/// GHASH of job `k`: linear in the powers of its hash key, lanes `k most ..` of all.
fn ghash(rep: &mut Rep3, powers: &Block, k: usize, most: usize, blocks: &[u128]) -> Result<Block, Abort> {
    let lanes: Vec<usize> = (0..blocks.len()).map(|i| k * most + i).collect();
    let own = powers.gather(&lanes).ok_or(Abort::Misuse { step: MANY, what: "powers that were not made" })?;
    let falling: Vec<u128> = blocks.iter().rev().copied().collect();
    rep.combine(&own, &falling)
}
