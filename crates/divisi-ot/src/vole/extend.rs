//! The extension: corrections, chunk by chunk, with all peers at once.

use super::{ByGroup, CORRECT, Columns, Ends, PairRows, read, write};
use crate::delta::Deltas;
use crate::links::Links;
use crate::softspoken::layout::{Key, Layout, Width};
use crate::softspoken::{CHUNK, Holder, Maker, Sums, TILE, Tiles};
use divisi_core::{Abort, Session};
use divisi_field::transpose;
use std::ops::Range;

/// How many chunks of corrections are sent before the first ones of a peer are awaited. If this number were
/// small, the delay of a slow connection would be paid many times.
pub(crate) const AHEAD: usize = 32;
/// The same number for rows that are begun before others are finished: all chunks, because each tree makes
/// its rows in order.
pub(crate) const ALL_AHEAD: usize = usize::MAX;

/// A request for rows.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) width: Width,
    /// How many words a tile with a given number of columns takes.
    pub(crate) each: fn(usize) -> usize,
    pub(crate) tiles: usize,
    /// Which party makes rows towards which peers.
    pub(crate) links: Links,
    /// How many chunks of corrections are sent before the first ones are awaited: [`AHEAD`] or [`ALL_AHEAD`].
    pub(crate) ahead: usize,
}

/// An extension in progress: our first corrections have been sent, the peers' have not been received.
pub(crate) struct Extension {
    request: Request,
    groups: Range<usize>,
    made: PairRows<Columns>,
    sums: Sums,
    corrections: Vec<u128>,
    body: Vec<u8>,
}

impl Ends {
    /// Space for the rows of one direction with each peer; `next` gives the number of the next row, or `None`
    /// for a peer that takes no part.
    fn reserve(&self, request: &Request, next: impl Fn(usize) -> Option<u64>) -> Vec<ByGroup<Columns>> {
        let groups = self.layout.groups(request.width);
        let of = |at: usize, group: usize| {
            let next = next(at).filter(|_| groups.contains(&group))?;
            let columns = self.layout.columns(group).len();
            Some(Columns::zeros(request.tiles, columns, (request.each)(columns), next))
        };
        (0..self.makers.len()).map(|at| [of(at, 0), of(at, 1)]).collect()
    }

    /// The first part of making the next rows with every peer, which waits for nothing. `x` are our bits
    /// towards each party, one word for each tile. One round: corrections go in both directions chunk by
    /// chunk, ours well ahead of the peers'. Other messages of the same round can be sent after this part.
    pub(crate) fn begin(
        &mut self,
        session: &mut Session,
        request: Request,
        x: &[&[u128]],
    ) -> Result<Extension, Abort> {
        // as maker first: the peers may not be ready as holders yet
        let next = |j: usize| {
            let makes = request.links.makes(session, session.me().index(), j);
            self.makers[j].as_ref().filter(|_| makes).map(Maker::next)
        };
        let made = PairRows { macs: self.reserve(&request, next), keys: Vec::new() };
        let groups = self.layout.groups(request.width);
        let corrections = Vec::with_capacity(CHUNK * self.layout.trees(&groups).len());
        let mut extension =
            Extension { request, groups, made, sums: Sums::new(), corrections, body: Vec::new() };
        for chunk in 0..extension.chunks().min(request.ahead) {
            self.correct(session, &mut extension, x, chunk)?;
        }
        Ok(extension)
    }

    /// The second part, with the same bits, within the same exchange or on the same strand. Extensions must
    /// be finished in the order in which they were begun.
    pub(crate) fn finish(
        &mut self,
        session: &mut Session,
        mut extension: Extension,
        x: &[&[u128]],
        deltas: &Deltas,
    ) -> Result<PairRows<Columns>, Abort> {
        let request = extension.request;
        let next = |j: usize| {
            let makes = request.links.makes(session, j, session.me().index());
            self.holders[j].as_ref().filter(|_| makes).map(Holder::next)
        };
        extension.made.keys = self.reserve(&request, next);
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
            let next = c.saturating_add(request.ahead);
            if next < extension.chunks() {
                self.correct(session, &mut extension, x, next)?;
            }
        }
        Ok(extension.made)
    }

    /// Makes, as maker towards the party of this index, the next chunk of rows of pads for these bits, one
    /// word for each tile. `corrections` gets the corrections. Returns the number of the first row; `None` if
    /// there is no such pair. The rows are not checked.
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

    /// Makes the same rows as holder, from the maker's corrections for these tiles.
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

    /// Sends our corrections of one chunk to every peer.
    fn correct(
        &mut self,
        session: &mut Session,
        extension: &mut Extension,
        x: &[&[u128]],
        chunk: usize,
    ) -> Result<(), Abort> {
        let chunk = extension.tiles_of(chunk);
        let Extension { groups, made, sums, corrections, body, .. } = extension;
        for peer in session.peers() {
            let j = peer.index();
            let v = &mut made.macs[j];
            let (Some(maker), true) = (&mut self.makers[j], v.iter().any(Option::is_some)) else { continue };
            corrections.clear();
            let x = &x[j][chunk.clone()];
            maker.extend(sums, groups, x, tiles_in(v, &chunk), corrections);
            write(corrections, body);
            session.send(CORRECT, peer, body, 128 * corrections.len() as u64)?;
        }
        Ok(())
    }
}

/// The places of these tiles, in every group.
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

impl Extension {
    fn chunks(&self) -> usize {
        self.request.tiles.div_ceil(CHUNK)
    }

    fn tiles_of(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..self.request.tiles.min((chunk + 1) * CHUNK)
    }
}
