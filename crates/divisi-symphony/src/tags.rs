//! Hashes and MACs on the three-party engine: functions are prepared with a key, and tags are compared inside
//! the computation, so that only one verified bit is opened \[S7\].

use crate::cipher;
use crate::settle::close;
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Misuse, Step, Verified, step};
use divisi_field::Gf128;
use divisi_rep3::{Bit, Block, Byte, Rep3};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Function, bits};
use std::collections::BTreeMap;

const TAGS: Step = step!("tags");

/// Prepare a hash or MAC: what depends on its key alone is computed and verified here, once, before its first
/// use. `key` has the bytes of the key; it is empty for a hash.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for settings that make no sense.
pub fn prepare(rep: &mut Rep3, settings: &Settings, key: &[Byte]) -> Result<Verified<Function<Rep3>>, Abort> {
    let function = cipher::with_schedule(rep, |rep| Function::prepare(rep, settings, key))?;
    close(rep, function)
}

/// For each lane whether the tag, whose bytes `tags` has for all lanes, is the one received. Settles all that
/// is owed so far, and opens nothing but a random multiple of the difference ([`Rep3::are_zero`]).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if tags differ in length from those received, or are
/// empty.
pub fn matches(rep: &mut Rep3, tags: Vec<[Bit; 8]>, received: &[Vec<u8>]) -> Result<Vec<bool>, Abort> {
    let misfit = Abort::Misuse { step: TAGS, what: Misuse::LengthDiffers };
    if tags.is_empty() || received.iter().any(|tag| tag.len() != tags.len()) {
        return Err(misfit);
    }
    let zero = rep.public(&vec![0; received.len()]);
    let blocks = tags.len().div_ceil(16);
    let mut differences: Vec<Block> = Vec::with_capacity(blocks);
    let mut tags = tags.into_iter();
    for number in 0..blocks {
        let mut block = Vec::with_capacity(16);
        for _ in 0..16 {
            block.push(match tags.next() {
                Some(bits) => rep.convert(bits)?,
                None => zero.clone(),
            });
        }
        let block = <[Byte; 16]>::try_from(block).map_err(|_| misfit.clone())?;
        let mut block = rep.convert(block)?;
        let own = |tag: &Vec<u8>| {
            let piece = tag.get(16 * number..).unwrap_or_default();
            Gf128::from_ghash(std::array::from_fn(|i| piece.get(i).copied().unwrap_or(0)))
        };
        let received: Vec<u128> = received.iter().map(|tag| own(tag).0).collect();
        rep.add_public_block(&mut block, &received)?;
        differences.push(block);
    }
    let all = rep.join(&differences.iter().collect::<Vec<_>>());
    let n = received.len();
    let group = |lane: usize| {
        let places: Vec<usize> = (0..blocks).map(|block| block * n + lane).collect();
        all.gather(&places)
    };
    let groups: Option<Vec<Block>> = (0..n).map(group).collect();
    rep.are_zero(&groups.ok_or(misfit)?)
}

/// For each lane what is learned of its tag: its first bytes, as many as `wanted` says, or the verdict if it
/// is only compared with a received one \[S7\].
pub(crate) fn made_or_compared(
    rep: &mut Rep3,
    wanted: &[(usize, Option<&[u8]>)],
    made: &[Byte],
) -> Result<Vec<Vec<u8>>, Abort> {
    let misfit = || Abort::Misuse { step: TAGS, what: Misuse::CountsDiffer };
    // by whether they are only compared, and by their lengths
    let mut alike: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for (lane, (bytes, received)) in wanted.iter().enumerate() {
        let kind = (received.is_some(), received.map_or(*bytes, <[u8]>::len));
        alike.entry(kind).or_default().push(lane);
    }
    let mut rows = vec![Vec::new(); wanted.len()];
    for ((compares, bytes), lanes) in alike {
        let tags: Option<Vec<Byte>> = made.iter().take(bytes).map(|byte| byte.gather(&lanes)).collect();
        let tags = tags.filter(|tags| tags.len() == bytes).ok_or_else(misfit)?;
        let learned: Vec<Vec<u8>> = if compares {
            let received = lanes.iter().filter_map(|lane| wanted.get(*lane)?.1);
            let received: Vec<Vec<u8>> = received.map(<[u8]>::to_vec).collect();
            let tags = bits(rep, tags)?;
            let same = matches(rep, tags, &received)?;
            same.into_iter().map(|same| vec![u8::from(same)]).collect()
        } else {
            let verified = close(rep, tags)?;
            let columns = rep.trio().open(&verified)?;
            let row = |at: usize| columns.iter().filter_map(|column| column.get(at).copied()).collect();
            (0..lanes.len()).map(row).collect()
        };
        for (lane, learned) in lanes.into_iter().zip(learned) {
            rows.get_mut(lane).into_iter().for_each(|row| row.clone_from(&learned));
        }
    }
    Ok(rows)
}
