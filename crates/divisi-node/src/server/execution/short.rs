//! Short messages of many requests under different keys: one computation for all whose keys have one size and
//! one way to compute S-boxes.

use super::iv::{coin, iv};
use super::ready::{Gcm, Ready, ReadyKey};
use super::step::ended;
use crate::error::{Failed, Stop};
use crate::request::{IV, Item, ToClient, context};
use crate::server::admission::{into_use, key_size};
use crate::server::agreement::{Candidate, StepData};
use crate::server::found::Loaded;
use crate::server::node::Node;
use crate::server::release::{ciphertext, message_alone, unauthentic};
use crate::server::scheduling::{After, Group, Offer};
use divisi_core::Abort;
use divisi_rep3::Rep3;
use divisi_rep3::deal::Part;
use divisi_symmetric::aes::KeySize;
use divisi_symphony::gcm::GcmKey;
use divisi_symphony::short::{BatchOutcome, ShortMessage, ShortPayload, short};
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// A short message whose data and key are the same at all three servers.
struct Job {
    candidate: Candidate,
    loaded: Loaded,
    iv: [u8; IV],
}

/// Do all of them; one that fails harms no other.
pub(crate) fn run(
    node: &Node,
    rep: &mut Rep3,
    ready: &mut Ready,
    candidates: Vec<Candidate>,
) -> Result<(), Abort> {
    // drawn for the first that is encrypted, when everything public about all of them is agreed
    let mut drawn = None;
    let mut groups: Vec<(Group, Vec<Job>)> = Vec::new();
    for mut candidate in candidates {
        let Offer { connection, number, .. } = candidate.offer;
        let loaded = candidate.found.take().map(|found| into_use(node, found));
        let item = candidate.taken.item.clone();
        let (Item::Encrypt { way, .. } | Item::Decrypt { way, .. }, Some(loaded)) = (&*item, loaded) else {
            continue;
        };
        let iv = match &*item {
            Item::Decrypt { iv, .. } => *iv,
            _ => {
                let coin = match drawn {
                    Some(coin) => coin,
                    None => *drawn.insert(coin(rep)?),
                };
                iv(&coin, &loaded.info.id, &connection, number)
            }
        };
        match key_size(&loaded.info) {
            Err(failed) => ended(node, &candidate.offer, Err(Stop::Refused(failed)), Default::default())?,
            Ok(size) => {
                let job = Job { candidate, loaded, iv };
                let group = Group { size, way: *way };
                match groups.iter_mut().find(|(other, _)| *other == group) {
                    Some((_, jobs)) => jobs.push(job),
                    None => groups.push((group, vec![job])),
                }
            }
        }
    }
    for (with, jobs) in groups {
        rep.use_protocol(with.way.0);
        rep.use_account(jobs.iter().map(|job| job.candidate.taken.who.name.clone()).collect());
        group(node, rep, ready, with.size, jobs)?;
    }
    Ok(())
}

/// Compute the messages of one group.
fn group(node: &Node, rep: &mut Rep3, ready: &mut Ready, size: KeySize, jobs: Vec<Job>) -> Result<(), Abort> {
    let world = &node.world;
    let begun = world.thread_time();
    let (keys, made) = prepared(rep, ready, size, &jobs)?;
    // the clients whose keys had to be prepared pay for that
    let begun_texts = world.thread_time();
    let each = begun_texts.saturating_sub(begun) / made.iter().sum::<u32>().max(1);
    let borrowed: Vec<Ref<'_, GcmKey>> = keys.iter().map(|(_, key)| key.borrow()).collect();
    let refs: Vec<&GcmKey> = borrowed.iter().map(|key| &**key).collect();
    let empty = Part { first: Vec::new(), second: Vec::new() };
    let mut messages = Vec::with_capacity(jobs.len());
    for job in &jobs {
        let key = keys.iter().position(|(id, _)| *id == job.loaded.info.id).unwrap_or(keys.len());
        let (aad, payload) = match (&*job.candidate.taken.item, &job.candidate.data) {
            (Item::Encrypt { aad, .. }, data) => (aad, ShortPayload::Plain(data.secret().unwrap_or(&empty))),
            (Item::Decrypt { aad, tag, .. }, StepData::Public(body, _)) => {
                (aad, ShortPayload::Cipher { ciphertext: &body.0, tag: *tag })
            }
            (Item::Decrypt { aad, tag, .. }, _) => (aad, ShortPayload::Cipher { ciphertext: &[], tag: *tag }),
            _ => continue,
        };
        messages.push(ShortMessage { key, iv: job.iv, aad: &aad.0, payload });
    }
    let outcomes = short(rep, &refs, &messages)?;
    drop((messages, refs));
    drop(borrowed);
    let took = world.thread_time().saturating_sub(begun_texts) / jobs.len().max(1) as u32;
    for ((job, outcome), made) in jobs.iter().zip(outcomes).zip(made) {
        let took = took + each * made;
        let result = answer(node, rep, job, outcome)?;
        ended(node, &job.candidate.offer, result.map(|()| After::Done).map_err(Stop::Refused), took)?;
    }
    Ok(())
}

/// The keys of these jobs, each once: those that are not ready are made so in one go. Beside them, for each
/// job how many keys were made for it.
type Keys = (Vec<([u8; 16], Gcm)>, Vec<u32>);

fn prepared(rep: &mut Rep3, ready: &mut Ready, size: KeySize, jobs: &[Job]) -> Result<Keys, Abort> {
    let mut keys: Vec<([u8; 16], Gcm)> = Vec::new();
    let mut lacking: Vec<&Job> = Vec::new();
    let mut made = vec![0; jobs.len()];
    for (job, made) in jobs.iter().zip(&mut made) {
        let id = job.loaded.info.id;
        let among = |lacking: &[&Job]| lacking.iter().any(|other| other.loaded.info.id == id);
        if keys.iter().any(|(known, _)| *known == id) || among(&lacking) {
            continue;
        }
        match ready.gcm(&id) {
            Some(key) => keys.push((id, key)),
            None => {
                lacking.push(job);
                *made = 1;
            }
        }
    }
    if !lacking.is_empty() {
        let parts: Vec<&Part> = lacking.iter().map(|job| &job.loaded.part).collect();
        for (job, key) in lacking.iter().zip(GcmKey::prepare_many(rep, size, &parts)?) {
            let (info, key) = (&job.loaded.info, Rc::new(RefCell::new(key)));
            let client = &job.candidate.taken.who.name;
            ready.keep(rep, client, info.name.clone(), info.id, ReadyKey::Gcm(key.clone()));
            keys.push((info.id, key));
        }
    }
    Ok((keys, made))
}

/// Tell the client what came of its message.
fn answer(
    node: &Node,
    rep: &mut Rep3,
    job: &Job,
    outcome: BatchOutcome,
) -> Result<Result<(), Failed>, Abort> {
    let Offer { connection, number, .. } = job.candidate.offer;
    let send = |answer| node.answer(&connection, number, answer);
    let context = context(&connection, number, 0);
    match outcome {
        BatchOutcome::Sealed { ciphertext: bytes, tag } => {
            send(ToClient::Sealing { iv: job.iv, key: (&job.loaded.info).into() });
            if !bytes.is_empty() {
                send(ciphertext(node.me, &context, bytes));
            }
            send(ToClient::Tag(tag));
        }
        BatchOutcome::Opened(columns) => {
            send(ToClient::Accepted);
            match &job.candidate.data {
                StepData::Public(body, _) => {
                    send(ToClient::Accepted);
                    send(message_alone(rep, &context, &columns, body.0.len())?);
                }
                _ => send(ToClient::Valid),
            }
        }
        BatchOutcome::Invalid => return Ok(Err(unauthentic())),
    }
    Ok(Ok(()))
}
