//! Correlated rows of pairs: made chunk by chunk with all peers at once, in both directions, and checked.
//!
//! Types tell what a correlation is worth: [`Columns`] came out of the extension and cannot be used; [`Rows`]
//! passed the check.
//!
//! # The check (SoftSpokenOT, section 4.1; column-wise, over GF(2^128))
//! A column of a tile is an element of GF(2^128), so a column of T tiles is t_1, .., t_T, the last tile being sacrificed. After all
//! corrections are here, a coin gives z, and h(t) = t_1 z^(T-1) + .. + t_(T-1) z + t_T: as a map over GF(2) its matrix is (R | I), so that
//! the last tile pads all 128 equations \[W2\]. The maker sends X = h(x) and V_b = h(v_b) of all 128 columns; the holder demands
//! h(w_b) = V_b + X Delta_b \[W1, W5\]. Two different x have one h(x) with probability below T / 2^128.
//! Derivation and what a cheating maker learns: docs/garbling.md.

use crate::Kept;
use crate::delta::Deltas;
use crate::softspoken::{CHUNK, Holder, Maker, Sums, TILE, pieces};
use divisi_core::{Abort, Check, PartyId, Session, Step, step, taint};
use divisi_field::{BigField, Gf128, transpose};

const CORRECT: Step = step!("correct");
/// Chunks whose corrections are sent before the first ones are awaited: with few, a long line would be paid for again and again.
const AHEAD: usize = 32;
const CHECK: Step = step!("check");

/// One word a row, of one end of a pair, checked: M of the maker, K of the holder. Wiped when dropped.
pub struct Rows {
    words: Kept<u128>,
}

impl Rows {
    /// The rows.
    #[must_use]
    pub fn words(&self) -> &[u128] {
        &self.words
    }

    /// The words themselves.
    pub(crate) fn into_words(self) -> Kept<u128> {
        self.words
    }
}

/// Tiles of 128 columns, fixed but not checked.
#[must_use = "what is not checked is worth nothing"]
pub struct Columns(Kept<u128>);

impl Columns {
    /// Rows of one tile before the check: what is committed, and worth nothing until the check passed.
    pub(crate) fn peek(&self, tile: usize) -> [u128; TILE] {
        let mut rows = [0; TILE];
        if let Some(columns) = self.0.as_chunks().0.get(tile) {
            rows = *columns;
        }
        transpose::square(&mut rows);
        rows
    }

    /// h of every column, and the rows.
    fn hash(mut self, session: &Session, z: Gf128) -> ([Gf128; TILE], Rows) {
        let mut sums = [Gf128(0); TILE];
        let last = (self.0.len() / TILE).saturating_sub(1);
        let bare = session.mutated(Check::W2);
        for (t, tile) in self.tiles().enumerate() {
            Gf128::scale(&mut sums, z);
            if !(bare && t == last) {
                sums.iter_mut().zip(&*tile).for_each(|(sum, column)| sum.0 ^= column);
            }
            transpose::square(tile);
        }
        (sums, Rows { words: self.0 })
    }

    fn tiles(&mut self) -> impl Iterator<Item = &mut [u128; TILE]> {
        self.0.as_chunks_mut().0.iter_mut()
    }
}

/// Our ends of the rows with each peer, by party index; none where there is no pair or no such direction.
pub(crate) struct Ends {
    pub(crate) k: u32,
    pub(crate) makers: Vec<Option<Maker>>,
    pub(crate) holders: Vec<Option<Holder>>,
    #[cfg(feature = "fault")]
    pub(crate) deviation: Box<crate::adversary::Deviation>,
}

/// Rows on their way: our bits and MACs as maker, our keys as holder, by party index.
pub(crate) struct Made<T> {
    pub(crate) macs: Vec<Option<T>>,
    pub(crate) keys: Vec<Option<T>>,
}

/// An extension under way: our corrections are ahead of those of the peers.
pub(crate) struct Extension<'x> {
    tiles: usize,
    /// Our bits towards each party, one word a tile.
    x: &'x [&'x [u128]],
    made: Made<Columns>,
    sums: Sums,
    corrections: Vec<u128>,
    body: Vec<u8>,
}

impl Ends {
    /// The next `tiles` of rows with every peer, our bits towards party j being `x[j]`, one word a tile. One round: corrections go
    /// both ways chunk by chunk, ours well ahead of theirs.
    pub(crate) fn extend(
        &mut self,
        session: &mut Session,
        tiles: usize,
        x: &[&[u128]],
        deltas: &Deltas,
    ) -> Result<Made<Columns>, Abort> {
        session.exchange(|session| {
            let extension = self.begin(session, tiles, x)?;
            self.finish(session, extension, deltas)
        })
    }

    /// The first part of [`Ends::extend`]: nothing is awaited. What else belongs to the round can be sent after it.
    pub(crate) fn begin<'x>(
        &mut self,
        session: &mut Session,
        tiles: usize,
        x: &'x [&'x [u128]],
    ) -> Result<Extension<'x>, Abort> {
        // makers first: holders may not be there yet
        let fresh = |there: bool| there.then(|| Columns(Kept::zeros(tiles * TILE)));
        let made =
            Made { macs: self.makers.iter().map(|maker| fresh(maker.is_some())).collect(), keys: Vec::new() };
        let corrections = Vec::with_capacity(CHUNK * pieces(self.k));
        let mut extension = Extension { tiles, x, made, sums: Sums::new(), corrections, body: Vec::new() };
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
        let tiles = extension.tiles;
        let fresh = |there: bool| there.then(|| Columns(Kept::zeros(tiles * TILE)));
        extension.made.keys = self.holders.iter().map(|holder| fresh(holder.is_some())).collect();
        for c in 0..extension.chunks() {
            let chunk = extension.tiles_of(c);
            let Extension { made, sums, corrections, body, .. } = &mut extension;
            for peer in session.peers() {
                let j = peer.index();
                let (Some(holder), Some(w)) = (&mut self.holders[j], &mut made.keys[j]) else { continue };
                body.resize(16 * chunk.len() * pieces(self.k), 0);
                session.recv(CORRECT, peer, body)?;
                corrections.clear();
                read(body, corrections);
                let rows = chunk.start * TILE..chunk.end * TILE;
                holder.extend(sums, deltas.towards(peer), corrections, &mut w.0[rows]);
            }
            if c + AHEAD < extension.chunks() {
                self.correct(session, &mut extension, c + AHEAD)?;
            }
        }
        Ok(extension.made)
    }

    /// Our corrections of one chunk to every peer.
    fn correct(
        &mut self,
        session: &mut Session,
        extension: &mut Extension<'_>,
        chunk: usize,
    ) -> Result<(), Abort> {
        let chunk = extension.tiles_of(chunk);
        let Extension { x, made, sums, corrections, body, .. } = extension;
        for peer in session.peers() {
            let j = peer.index();
            let (Some(maker), Some(v)) = (&mut self.makers[j], &mut made.macs[j]) else { continue };
            corrections.clear();
            let rows = &mut v.0[chunk.start * TILE..chunk.end * TILE];
            maker.extend(sums, &x[j][chunk.clone()], rows, corrections);
            #[cfg(feature = "fault")]
            self.deviation.correct(corrections, chunk.len());
            write(corrections, body);
            session.send(CORRECT, peer, body, 128 * corrections.len() as u64)?;
        }
        Ok(())
    }
}

impl Extension<'_> {
    fn chunks(&self) -> usize {
        self.tiles.div_ceil(CHUNK)
    }

    fn tiles_of(&self, chunk: usize) -> std::ops::Range<usize> {
        chunk * CHUNK..self.tiles.min((chunk + 1) * CHUNK)
    }
}

/// Rows that passed the check, and the sums X that every maker told us, by party index; ours is what we told that party.
pub(crate) struct Checked {
    pub(crate) rows: Made<Rows>,
    pub(crate) sums: Vec<u128>,
}

impl Made<Columns> {
    /// Check all rows with the coin that followed their corrections. One round: this tells, and [`Told::hear`] hears.
    pub(crate) fn tell(self, session: &mut Session, coin: [u8; 16], x: &[&[u128]]) -> Result<Told, Abort> {
        let z = Gf128(u128::from_le_bytes(coin));
        let tiles = x.iter().map(|x| x.len()).max().unwrap_or(0);
        session.meter().verification_error(tiles as f64 * 2f64.powi(-128));
        let mut macs = Vec::with_capacity(self.macs.len());
        let mut message = Vec::new();
        for (peer, columns) in PartyId::all(session.parties()).zip(self.macs) {
            macs.push(match columns {
                None => None,
                Some(columns) => {
                    let (v, mut rows) = columns.hash(session, z);
                    let mut told = vec![hash_bits(session, x[peer.index()], z)];
                    told.extend(v.iter().map(|v| v.0));
                    write(&told, &mut message);
                    session.send(CHECK, peer, &message, 0)?;
                    drop_last(session, &mut rows);
                    Some(rows)
                }
            });
        }
        Ok(Told { z, macs, keys: self.keys })
    }
}

/// Our part of the check is told.
pub(crate) struct Told {
    z: Gf128,
    macs: Vec<Option<Rows>>,
    keys: Vec<Option<Columns>>,
}

impl Told {
    /// Hear the peers' parts.
    ///
    /// It counts as `check`: of a first extension \[W1\], or of authenticated bits \[W5\], which is the same relation. The sums of peers
    /// are theirs to us; whether they told others the same is for the caller to compare.
    pub(crate) fn hear(self, session: &mut Session, check: Check, deltas: &Deltas) -> Result<Checked, Abort> {
        let z = self.z;
        let mut sums = vec![0; session.parties()];
        let mut rows = Made { macs: self.macs, keys: Vec::new() };
        let mut message = Vec::new();
        let mut hashed = Vec::with_capacity(self.keys.len());
        for columns in self.keys {
            hashed.push(columns.map(|columns| columns.hash(session, z)));
        }
        for (peer, hashed) in PartyId::all(session.parties()).zip(hashed) {
            let Some((w, mut keys)) = hashed else {
                rows.keys.push(None);
                continue;
            };
            message.resize(16 * (1 + TILE), 0);
            session.recv(CHECK, peer, &mut message)?;
            let mut told = Vec::with_capacity(1 + TILE);
            read(&message, &mut told);
            let (sum, delta) = (told[0], deltas.towards(peer));
            let mut wrong = 0;
            for (bit, (w, v)) in w.iter().zip(&told[1..]).enumerate() {
                wrong |= w.0 ^ v ^ sum & (delta >> bit & 1).wrapping_neg();
            }
            if check != Check::W1 {
                session.observe(Check::W1); // [W1] the extension's own check is the same relation
            }
            let right = taint::verdict(CHECK, wrong == 0);
            session.require(check, CHECK, right, Some(peer))?; // [W5] the MACs of the sums
            sums[peer.index()] = sum;
            drop_last(session, &mut keys);
            rows.keys.push(Some(keys));
        }
        Ok(Checked { rows, sums })
    }
}

/// [W6] The sacrificed tile is gone.
fn drop_last(session: &Session, rows: &mut Rows) {
    session.observe(Check::W6); // [W6]
    if session.mutated(Check::W6) {
        return; // the mutant hands the sacrificed bits out
    }
    let keep = rows.words.len().saturating_sub(TILE);
    rows.words.cut(keep);
}

/// h(x), the last word padding the others.
pub(crate) fn hash_bits(session: &Session, x: &[u128], z: Gf128) -> u128 {
    session.observe(Check::W2); // [W2]
    let sum = x.iter().fold(Gf128(0), |sum, x| sum * z + Gf128(*x));
    match x.last() {
        // the mutant's equations lack their pads
        Some(pad) if session.mutated(Check::W2) => sum.0 ^ pad,
        _ => sum.0,
    }
}

fn write(words: &[u128], out: &mut Vec<u8>) {
    out.resize(16 * words.len(), 0);
    for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

fn read(bytes: &[u8], out: &mut Vec<u128>) {
    out.extend(bytes.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word)));
}

#[cfg(test)]
mod lies;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows_tile_by_tile() {
        let columns =
            || Columns((0..2 * TILE as u128).map(|i| i * 0x0123_4567_89ab_cdef_0000_0001).collect());
        for tile in 0..2 {
            let peeked = columns().peek(tile);
            for (r, row) in peeked.iter().enumerate() {
                for c in 0..TILE {
                    assert_eq!(row >> c & 1, columns().0[tile * TILE + c] >> r & 1);
                }
            }
        }
    }
}
