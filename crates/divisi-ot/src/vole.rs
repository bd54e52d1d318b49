//! Correlated rows of pairs: made chunk by chunk, with all peers at once and in both directions, and checked.
//!
//! The type of a correlation says whether it was checked. [`Columns`] come from the extension and cannot be
//! used. [`VoleRows`] passed the check.
//!
//! # The check (SoftSpokenOT, section 4.1; column-wise, over GF(2^128))
//! A column of a tile is read as an element of GF(2^128), so a column of T tiles is t_1, .., t_T; the last
//! tile is sacrificed. After all corrections are here a coin gives z, and h(t) = t_1 z^(T-1) + .. +
//! t_(T-1) z + t_T. As a map over GF(2) its matrix is (R | I), so that the last tile masks all 128 equations
//! \[W2\].
//! The maker sends X = h(x) and V_b = h(v_b) of all 128 columns, and the holder demands h(w_b) = V_b + X
//! Delta_b \[W1, W5\]. Two different x have the same h(x) with probability below T / 2^128. Rows over a field
//! have f columns, or 128 columns of pads, or both: one X serves all of them \[K11, K13\]. docs/garbling.md,
//! 4, has the derivation and says what a cheating maker learns; docs/ot.md, 1, does so for columns over a
//! field.

mod columns;
mod extend;

use crate::checks;
use crate::delta::Deltas;
use crate::softspoken::layout::{Layout, MOST};
use crate::softspoken::{Holder, Maker};
use columns::drop_last;
pub use columns::{Columns, VoleRows};
pub(crate) use columns::{Either, Outcome, Proven};
use divisi_core::{Abort, Check, Difference, PartyId, Session, Step, step, taint};
use divisi_field::Gf128;
pub(crate) use extend::{AHEAD, ALL_AHEAD, Extension, Request};

pub(crate) const CORRECT: Step = step!("correct");
const CHECK: Step = step!("check");

/// One value for each group of columns; `None` if the rows do not have the group.
pub(crate) type ByGroup<T> = [Option<T>; 2];

/// The states of makers and holders, by party index; `None` if there is no such pair or direction.
pub(crate) struct Ends {
    pub(crate) layout: Layout,
    pub(crate) makers: Vec<Option<Maker>>,
    pub(crate) holders: Vec<Option<Holder>>,
}

/// Rows with all peers: our MACs as maker and our keys as holder, by party index and group.
pub(crate) struct PairRows<T> {
    pub(crate) macs: Vec<ByGroup<T>>,
    pub(crate) keys: Vec<ByGroup<T>>,
}

/// Rows that passed the check, and every maker's sum X, by party index. At our own index is the X that we
/// sent.
pub(crate) struct Checked<R> {
    pub(crate) rows: PairRows<R>,
    pub(crate) sums: Vec<u128>,
}

impl PairRows<Columns> {
    /// The first half of the check, by the coin that was tossed after the corrections: sends our sums.
    /// [`SentSums::receive`] is the second half. One round.
    ///
    /// One X serves the columns of all groups \[K13\], so that the MACs and pads of a row belong to the same
    /// bit.
    pub(crate) fn send_sums<R: Outcome>(
        self,
        session: &mut Session,
        coin: [u8; 16],
        x: &[&[u128]],
        ends: &Ends,
    ) -> Result<SentSums<R>, Abort> {
        let z = Gf128(u128::from_le_bytes(coin));
        let tiles = x.iter().map(|x| x.len()).max().unwrap_or(0);
        session.meter().verification_error(tiles as f64 * 2f64.powi(-128));
        let mut macs = Vec::with_capacity(self.macs.len());
        let mut message = Vec::new();
        for (peer, groups) in PartyId::all(session.parties()).zip(self.macs) {
            let mut rows: ByGroup<R> = [None, None];
            let mut told = Vec::with_capacity(1 + MOST);
            for (group, columns) in groups.into_iter().enumerate() {
                let Some(columns) = columns else { continue };
                if told.is_empty() {
                    told.push(hash_bits(session, x[peer.index()], z));
                }
                let (v, mut made) = columns.hash::<R>(z);
                told.extend(v.iter().map(|v| v.0));
                drop_last(session, &mut made);
                rows[group] = Some(made);
            }
            if !told.is_empty() {
                write(&told, &mut message);
                session.send(CHECK, peer, &message, 0)?;
            }
            macs.push(rows);
        }
        Ok(SentSums { z, macs, keys: self.keys, layout: ends.layout })
    }

    /// All rows without a check, for semi-honest protocols.
    pub(crate) fn semi_honest(self) -> PairRows<VoleRows> {
        let of = |rows: Vec<ByGroup<Columns>>| {
            rows.into_iter().map(|groups| groups.map(|columns| columns.map(Columns::semi_honest))).collect()
        };
        PairRows { macs: of(self.macs), keys: of(self.keys) }
    }
}

/// The state when our part of the check has been sent.
pub(crate) struct SentSums<R> {
    z: Gf128,
    layout: Layout,
    macs: Vec<ByGroup<R>>,
    keys: Vec<ByGroup<Columns>>,
}

impl<R: Outcome> SentSums<R> {
    /// The second half of the check: receives the peers' sums and verifies them.
    ///
    /// Failures are reported as `check`: \[W1\] for a first extension, \[W5\] for authenticated bits, \[K11\]
    /// for rows over a field; the relation is the same. The sums in the result are those that each peer sent
    /// to us; the caller compares whether others received the same.
    pub(crate) fn receive(
        self,
        session: &mut Session,
        check: Check,
        deltas: &Deltas,
    ) -> Result<Checked<R>, Abort> {
        let z = self.z;
        let mut sums = vec![0; session.parties()];
        let mut rows = PairRows { macs: self.macs, keys: Vec::new() };
        let mut message = Vec::new();
        let mut hashed = Vec::with_capacity(self.keys.len());
        for groups in self.keys {
            let hash = |columns: Columns| {
                session.covers(check, || columns.bits());
                columns.hash::<R>(z)
            };
            hashed.push(groups.map(|columns| columns.map(hash)));
        }
        for (peer, hashed) in PartyId::all(session.parties()).zip(hashed) {
            let each: usize = hashed.iter().flatten().map(|(w, _)| w.len()).sum();
            if each == 0 {
                rows.keys.push([None, None]);
                continue;
            }
            message.resize(16 * (1 + each), 0);
            session.recv(CHECK, peer, &mut message)?;
            let mut told = Vec::with_capacity(1 + each);
            read(&message, &mut told);
            let (sum, mut told) = (told[0], &told[1..]);
            let key = deltas.towards(peer);
            sums[peer.index()] = sum;
            let mut wrong = Difference::default();
            for (group, (w, _)) in hashed.iter().enumerate().filter_map(|(g, h)| Some((g, h.as_ref()?))) {
                let (ours, rest) = told.split_at(w.len());
                told = rest;
                let delta = self.layout.group(&key, group);
                for (bit, (w, v)) in w.iter().zip(ours).enumerate() {
                    wrong.add(w.0 ^ v ^ sum & (delta >> bit & 1).wrapping_neg());
                }
            }
            if check != checks::W1 {
                session.observe(checks::W1); // [W1] SoftSpokenOT's check is the same relation
            }
            if hashed.iter().all(Option::is_some) {
                session.observe(checks::K13); // [K13] one X for MACs and pads
            }
            let right = taint::verdict(CHECK, wrong.is_zero());
            session.require(check, CHECK, right, Some(peer))?; // [W5] [K11] the MACs of the sums
            rows.keys.push(hashed.map(|hashed| {
                hashed.map(|(_, mut keys)| {
                    drop_last(session, &mut keys);
                    keys
                })
            }));
        }
        Ok(Checked { rows, sums })
    }
}

/// h(x), in which the last word masks the others.
pub(crate) fn hash_bits(session: &Session, x: &[u128], z: Gf128) -> u128 {
    session.observe(checks::W2); // [W2]
    x.iter().fold(Gf128(0), |sum, x| sum * z + Gf128(*x)).0
}

pub(crate) fn write(words: &[u128], out: &mut Vec<u8>) {
    out.resize(16 * words.len(), 0);
    for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

pub(crate) fn read(bytes: &[u8], out: &mut Vec<u128>) {
    out.extend(bytes.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word)));
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod lies;
