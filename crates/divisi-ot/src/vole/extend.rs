//! The extension itself: corrections, chunk by chunk, with all peers at once.

use super::{ByGroup, CORRECT, Columns, Ends, Made, read, write};
use crate::delta::Deltas;
use crate::links::Links;
use crate::softspoken::layout::{Key, Layout, Width};
use crate::softspoken::{CHUNK, Holder, Maker, Sums, TILE, Tiles};
use divisi_core::{Abort, Session};
use divisi_field::transpose;
use std::ops::Range;

/// Chunks whose corrections are sent before the first ones are awaited: with few, a long line would be paid
/// for again and again.
const AHEAD: usize = 32;

/// What rows are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Request<'x> {
    pub(crate) width: Width,
    /// How many words a tile of so many columns has.
    pub(crate) each: fn(usize) -> usize,
    pub(crate) tiles: usize,
    /// Our bits towards each party, one word a tile.
    pub(crate) x: &'x [&'x [u128]],
    /// Who makes rows towards whom.
    pub(crate) links: Links,
}

/// An extension under way: our corrections are ahead of those of the peers.
pub(crate) struct Extension<'x> {
    request: Request<'x>,
    groups: Range<usize>,
    made: Made<Columns>,
    sums: Sums,
    corrections: Vec<u128>,
    body: Vec<u8>,
}

impl Ends {
    /// The next rows with every peer. One round: corrections go both ways chunk by chunk, ours well ahead of
    /// theirs.
    pub(crate) fn extend(
        &mut self,
        session: &mut Session,
        request: Request<'_>,
        deltas: &Deltas,
    ) -> Result<Made<Columns>, Abort> {
        session.exchange(|session| {
            let extension = self.begin(session, request)?;
            self.finish(session, extension, deltas)
        })
    }

    /// Room for one direction, from the number of the next row of each pair that takes part.
    fn room(&self, request: &Request<'_>, next: impl Fn(usize) -> Option<u64>) -> Vec<ByGroup<Columns>> {
        let groups = self.layout.groups(request.width);
        let of = |at: usize, group: usize| {
            let next = next(at).filter(|_| groups.contains(&group))?;
            let columns = self.layout.columns(group).len();
            Some(Columns::zeros(request.tiles, columns, (request.each)(columns), next))
        };
        (0..self.makers.len()).map(|at| [of(at, 0), of(at, 1)]).collect()
    }

    /// The first part of [`Ends::extend`]: nothing is awaited. What else belongs to the round can be sent
    /// after it.
    pub(crate) fn begin<'x>(
        &mut self,
        session: &mut Session,
        request: Request<'x>,
    ) -> Result<Extension<'x>, Abort> {
        // makers first: holders may not be there yet
        let next = |j: usize| {
            let makes = request.links.makes(session, session.me().index(), j);
            self.makers[j].as_ref().filter(|_| makes).map(Maker::next)
        };
        let made = Made { macs: self.room(&request, next), keys: Vec::new() };
        let groups = self.layout.groups(request.width);
        let corrections = Vec::with_capacity(CHUNK * self.layout.trees(&groups).len());
        let mut extension =
            Extension { request, groups, made, sums: Sums::new(), corrections, body: Vec::new() };
        for chunk in 0..extension.chunks().min(AHEAD) {
            self.correct(session, &mut extension, chunk)?;
        }
        Ok(extension)
    }

    /// The rest of [`Ends::extend`], within the same exchange.
    pub(crate) fn finish(
        &mut self,
        session: &mut Session,
        mut extension: Extension<'_>,
        deltas: &Deltas,
    ) -> Result<Made<Columns>, Abort> {
        let request = extension.request;
        let next = |j: usize| {
            let makes = request.links.makes(session, j, session.me().index());
            self.holders[j].as_ref().filter(|_| makes).map(Holder::next)
        };
        extension.made.keys = self.room(&request, next);
        for c in 0..extension.chunks() {
            let chunk = extension.tiles_of(c);
            let Extension { made, groups, sums, corrections, body, .. } = &mut extension;
            for peer in session.peers() {
                let j = peer.index();
                let w = &mut made.keys[j];
                let (Some(holder), true) = (&mut self.holders[j], w.iter().any(Option::is_some)) else {
                    continue;
                };
                body.resize(16 * chunk.len() * self.layout.trees(groups).len(), 0);
                session.recv(CORRECT, peer, body)?;
                corrections.clear();
                read(body, corrections);
                let key = deltas.towards(peer);
                holder.extend(sums, groups, &key, chunk.len(), corrections, tiles_in(w, &chunk));
            }
            if c + AHEAD < extension.chunks() {
                self.correct(session, &mut extension, c + AHEAD)?;
            }
        }
        Ok(extension.made)
    }

    /// The next chunk of rows of pads for these bits, one word a tile, as maker towards the party of this
    /// index; what corrects them goes into `corrections`. The number of the first row; `None` where there is
    /// no pair. No check stands behind them.
    pub(crate) fn make_pads(
        &mut self,
        index: usize,
        sums: &mut Sums,
        x: &[u128],
        rows: &mut [u128],
        corrections: &mut Vec<u128>,
    ) -> Option<u64> {
        let layout = self.layout;
        let maker = self.makers.get_mut(index)?.as_mut()?;
        let first = maker.next();
        corrections.clear();
        maker.extend(sums, &layout.groups(Width::Pads), x, pads_in(layout, rows), corrections);
        rows.as_chunks_mut().0.iter_mut().for_each(transpose::square);
        Some(first)
    }

    /// The same as holder, from the maker's corrections for so many tiles.
    pub(crate) fn hold_pads(
        &mut self,
        index: usize,
        sums: &mut Sums,
        key: &Key,
        corrections: &[u128],
        rows: &mut [u128],
    ) -> Option<u64> {
        let layout = self.layout;
        let holder = self.holders.get_mut(index)?.as_mut()?;
        let (first, tiles) = (holder.next(), rows.len() / TILE);
        holder.extend(sums, &layout.groups(Width::Pads), key, tiles, corrections, pads_in(layout, rows));
        rows.as_chunks_mut().0.iter_mut().for_each(transpose::square);
        Some(first)
    }

    /// Our corrections of one chunk to every peer.
    fn correct(
        &mut self,
        session: &mut Session,
        extension: &mut Extension<'_>,
        chunk: usize,
    ) -> Result<(), Abort> {
        let chunk = extension.tiles_of(chunk);
        let Extension { request, groups, made, sums, corrections, body } = extension;
        for peer in session.peers() {
            let j = peer.index();
            let v = &mut made.macs[j];
            let (Some(maker), true) = (&mut self.makers[j], v.iter().any(Option::is_some)) else { continue };
            corrections.clear();
            let x = &request.x[j][chunk.clone()];
            maker.extend(sums, groups, x, tiles_in(v, &chunk), corrections);
            #[cfg(feature = "fault")]
            self.deviation.correct(corrections, chunk.len());
            #[cfg(feature = "fault")]
            self.deviation.correct_pads(corrections, &chunk, self.layout.trees(&(0..1)).len());
            write(corrections, body);
            session.send(CORRECT, peer, body, 128 * corrections.len() as u64)?;
        }
        Ok(())
    }
}

/// Where these tiles of every group lie.
fn tiles_in<'a>(columns: &'a mut ByGroup<Columns>, tiles: &Range<usize>) -> Tiles<'a> {
    columns.each_mut().map(|columns| match columns {
        Some(columns) => {
            let each = columns.each();
            &mut columns.words[tiles.start * each..tiles.end * each]
        }
        None => &mut [],
    })
}

/// Tiles of the group of pads alone.
fn pads_in(layout: Layout, rows: &mut [u128]) -> Tiles<'_> {
    let mut tiles: Tiles<'_> = [&mut [], &mut []];
    tiles[layout.pads()] = rows;
    tiles
}

impl Extension<'_> {
    fn chunks(&self) -> usize {
        self.request.tiles.div_ceil(CHUNK)
    }

    fn tiles_of(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..self.request.tiles.min((chunk + 1) * CHUNK)
    }
}
