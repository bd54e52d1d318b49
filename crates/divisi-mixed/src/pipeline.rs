//! Batches of ciphertexts on several strands: while one batch waits for a peer, the party works on another.
//!
//! GYKW, section 7.1, "Pipelining": a party is not idle after its own part of a batch, nor while a refresh is
//! under way.

use divisi_bgv::{Keys, Sampler};
use divisi_core::{Abort, Session};

/// The largest number of batches at one time.
const STRANDS: usize = 4;
/// The most memory, in bytes, for batches at one time, if there is more than one.
const ROOM: usize = 64 << 20;

/// How many batches run at one time: a public number, the same at all parties.
fn strands(keys: &Keys, batches: usize) -> usize {
    let p = keys.ring().parameters();
    // a batch takes about eight polynomials at the top: a ciphertext, an encryption of zero with its errors
    // and v, a plaintext
    let polynomials = 8;
    let batch = polynomials * size_of::<u64>() * p.limbs(p.top()) * p.dimension();
    (ROOM / batch.max(1)).clamp(1, STRANDS).min(batches.max(1))
}

/// So many batches in order, each of them counted as a chunk of the current phase. `one` makes one of them,
/// by its place among these and its number among all of this purpose.
pub(crate) fn batches<R: Send>(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    (count, purpose): (usize, &'static str),
    one: impl Fn(&mut Session, &Keys, &mut Sampler, (usize, u64)) -> Result<R, Abort> + Sync,
) -> Result<Vec<R>, Abort> {
    let numbers: Vec<(usize, u64)> = (0..count).map(|place| (place, session.count(purpose))).collect();
    let (strands, phase) = (strands(keys, count), session.current_phase());
    let mut made = Vec::with_capacity(count);
    if strands == 1 {
        for number in numbers {
            session.phase(phase);
            made.push(one(session, keys, sampler, number)?);
        }
        return Ok(made);
    }
    let work = |strand: &mut Session, number| {
        strand.phase(phase);
        one(strand, keys, &mut Sampler::new(strand), number)
    };
    session.stream(strands, numbers.into_iter(), work, |_, batch| {
        made.push(batch);
        Ok(())
    })?;
    Ok(made)
}
