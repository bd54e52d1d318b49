//! Tags of texts: some are opened, the others are compared inside the computation.

use crate::{close, tags};
use divisi_core::{Abort, Lanes as _, Step, step};
use divisi_engine::known::groups::TextGroup;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::batch;
use std::collections::BTreeMap;

const MADE: Step = step!("made");

/// The rows of tags: the bytes of a tag that is made, the verdict of a tag that is only compared with a
/// received one \[S7\]. Each row comes with the position of its text.
pub(super) fn made_or_compared(
    rep: &mut Rep3,
    group: &TextGroup<'_>,
    made: &[Byte],
) -> Result<Vec<(usize, Vec<u8>)>, Abort> {
    let misfit = || Abort::Misuse { step: MADE, what: "not one tag for each message" };
    // by whether they are only compared, and by their lengths
    let mut alike: BTreeMap<(bool, usize), Vec<(usize, usize, Vec<u8>)>> = BTreeMap::new();
    for (lane, (place, text)) in group.texts().enumerate() {
        let received = text.sealed.as_ref().map(|(_, tag)| tag.clone());
        let kind = (received.is_some(), received.as_ref().map_or(text.tag_bytes, Vec::len));
        alike.entry(kind).or_default().push((lane, place, received.unwrap_or_default()));
    }
    let mut rows = Vec::new();
    for ((compares, bytes), own) in alike {
        let lanes: Vec<usize> = own.iter().map(|(lane, ..)| *lane).collect();
        let tags: Option<Vec<Byte>> = made.iter().take(bytes).map(|byte| byte.gather(&lanes)).collect();
        let tags = tags.filter(|tags| tags.len() == bytes).ok_or_else(misfit)?;
        if compares {
            let received: Vec<Vec<u8>> = own.iter().map(|(.., tag)| tag.clone()).collect();
            let tags = batch::bits(rep, tags)?;
            let same = tags::matches(rep, tags, &received)?;
            rows.extend(own.iter().zip(same).map(|((_, place, _), same)| (*place, vec![u8::from(same)])));
            continue;
        }
        let verified = close(rep, tags)?;
        let columns = rep.trio().open(&verified)?;
        for (at, (_, place, _)) in own.iter().enumerate() {
            rows.push((*place, columns.iter().filter_map(|column| column.get(at).copied()).collect()));
        }
    }
    Ok(rows)
}
