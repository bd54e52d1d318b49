//! The measured part of a batch, chunk by chunk: preprocessing, the cipher or circuit, its verification.
//!
//! Each chunk is verified before its strand begins the next one, so that the debt stays bounded, and the
//! preprocessing of a chunk is made just before it. All strands make their preprocessing at the same time,
//! then wait for one another and for the other parties, so that phases are separated in time. The
//! verification of one chunk overlaps the work on others.

use crate::strands::{
    Columns, ONLINE, Outputs, PREPROCESSING, Ready, Task, VERIFICATION, at_once, compute, make_ahead, verify,
};
use divisi_core::Abort;
use divisi_engine::{Moment, Watch};
use divisi_net::Permits;
use divisi_rep3::Rep3;
use std::sync::{Mutex, PoisonError};

/// Run all chunks of a batch; the time of its first phase runs from `start`. After the preprocessing of a
/// chunk, `watch` waits until all parties have made theirs. So the time of *preprocessing* runs until the
/// slowest party has finished, and its delay is counted in no other phase.
pub(super) fn segment(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    start: Moment,
    permits: &Permits,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    match engines {
        [only] => one_strand(only, task, ready, chunks, start, watch),
        many => strands_at_once(many, task, ready, chunks, start, permits, watch),
    }
}

/// Run all chunks in this thread. The time is divided among preprocessing, computing and verifying. What has
/// to be verified meanwhile, because it takes too much memory, is verification too, as for the meter; its CPU
/// time is not known apart.
fn one_strand(
    rep: &mut Rep3,
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Moment,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    let mut outputs = Vec::with_capacity(chunks.len());
    for columns in chunks {
        if task.makes_ahead() {
            make_ahead(rep, task, ready, columns)?;
            watch.meet(PREPROCESSING)?;
            let made = Moment::now();
            watch.took(PREPROCESSING, start.until(made));
            start = made;
        }
        let before = rep.trio().session().detoured(VERIFICATION);
        let (pending, is_all) = compute(rep, task, ready, columns)?;
        let computed = Moment::now();
        let meanwhile = rep.trio().session().detoured(VERIFICATION) - before;
        outputs.push(verify(rep, pending)?);
        let verified = Moment::now();
        let computed = if is_all { verified } else { computed };
        let mut online = start.until(computed);
        watch.took(VERIFICATION, online.split(meanwhile));
        watch.took(ONLINE, online);
        watch.took(VERIFICATION, computed.until(verified));
        start = verified;
    }
    Ok(outputs)
}

/// Run the chunks in k strands, each of which takes every k-th chunk. *online* lasts until the last chunk has
/// its output shares, and *verification* is the rest, until all strands have finished. If the job has
/// preprocessing, the strands take one chunk each at a time, and wait for each other after making its
/// preprocessing and after verifying it; otherwise they wait for each other only at the end of the batch.
fn strands_at_once(
    engines: &mut [Rep3],
    task: &Task,
    ready: &Ready,
    chunks: &[Columns],
    mut start: Moment,
    permits: &Permits,
    watch: &mut dyn Watch,
) -> Result<Outputs, Abort> {
    let (k, ahead) = (engines.len(), task.makes_ahead());
    let mut outputs = Vec::with_capacity(chunks.len());
    for batch in chunks.chunks(if ahead { k } else { chunks.len() }.max(1)) {
        if ahead {
            at_once(engines, permits, |s, rep| {
                batch.get(s).map_or(Ok(()), |columns| make_ahead(rep, task, ready, columns))
            })?;
            watch.meet(PREPROCESSING)?;
            let made = Moment::now();
            watch.took(PREPROCESSING, start.until(made));
            start = made;
        }
        let computed = Mutex::new(start);
        let strands = at_once(engines, permits, |s, rep| {
            let mut outputs = Vec::new();
            for columns in batch.iter().skip(s).step_by(k) {
                let (pending, is_all) = compute(rep, task, ready, columns)?;
                *computed.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
                outputs.push(verify(rep, pending)?);
                if is_all {
                    *computed.lock().unwrap_or_else(PoisonError::into_inner) = Moment::now();
                }
            }
            Ok(outputs)
        })?;
        let (end, computed) = (Moment::now(), *computed.lock().unwrap_or_else(PoisonError::into_inner));
        watch.took(ONLINE, start.until(computed));
        watch.took(VERIFICATION, computed.until(end));
        start = end;
        let mut strands: Vec<_> = strands.into_iter().map(Vec::into_iter).collect();
        outputs.extend((0..batch.len()).filter_map(|c| strands.get_mut(c % k).and_then(Iterator::next)));
    }
    Ok(outputs)
}
