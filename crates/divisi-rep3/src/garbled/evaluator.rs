//! P3: receives every piece from both garblers, compares it, and evaluates.
//!
//! Before z it sends nothing but an abort without a reason, and no comparison depends on what it evaluated.

use super::bits::{self, spread};
use super::garbler::{ResultDigest, array};
use super::labels::{GROUP, LabelGates};
use super::pieces::{Kind, Pieces};
use super::plan::{CHUNK, CallPlan, PIECE};
use super::secrets::{self, Oracle};
use super::{DECODING, LABELS, MASKS, RESULT, SALT, TABLES};
use crate::checks;
use crate::trio::Trio;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Difference, Misuse, PartyId, Step, taint};
use divisi_ot::hash::TweakableHash;

#[cfg(test)]
mod compared;

/// The evaluator in a call.
pub(super) struct Evaluator<'t, 'h> {
    trio: &'t mut Trio,
    /// P1 and P2.
    first: PartyId,
    second: PartyId,
    oracle: Oracle<'h>,
    pieces: Pieces,
    /// The compared piece of tables in use, and how many of its gates are evaluated.
    table: WipedVec<u8>,
    done: usize,
    /// How many ANDs of this group are in later pieces.
    left: usize,
}

/// Step 2. The salt of the hash from P1, confirmed by P2 \[Y1\].
pub(super) fn receive_hash(trio: &mut Trio, plan: &CallPlan<'_>) -> Result<TweakableHash, Abort> {
    let (mut salt, mut digest) = ([0; 16], [0; 32]);
    trio.session.recv(SALT, plan.roles.first, &mut salt)?;
    trio.session.recv(SALT, plan.roles.second, &mut digest)?;
    let ours = Pieces::new(plan.name).digest(Kind::Salt, false, &salt);
    let same = trio.session.same_digest(&ours, &digest);
    trio.session.require(checks::Y1, SALT, same, None)?; // [Y1]
    Ok(secrets::hash(&trio.session, plan, &salt))
}

impl<'t, 'h> Evaluator<'t, 'h> {
    /// After the salt.
    pub(super) fn begin(
        trio: &'t mut Trio,
        hash: &'h TweakableHash,
        plan: &CallPlan<'_>,
    ) -> Evaluator<'t, 'h> {
        let mut evaluator = Evaluator::resume(trio, hash, plan, 0);
        evaluator.pieces.advance();
        evaluator.table = WipedVec::with_capacity(32 * PIECE + 32);
        evaluator
    }

    /// Step 4. Go on with a call that was garbled ahead, `from` being the first wire whose label was not
    /// hashed yet.
    pub(super) fn resume(
        trio: &'t mut Trio,
        hash: &'h TweakableHash,
        plan: &CallPlan<'_>,
        from: u64,
    ) -> Evaluator<'t, 'h> {
        let mut oracle = Oracle::new(trio, hash, plan);
        oracle.wire = from;
        Evaluator {
            trio,
            first: plan.roles.first,
            second: plan.roles.second,
            oracle,
            pieces: Pieces::new(plan.name),
            table: WipedVec::default(),
            done: 0,
            left: 0,
        }
    }

    /// The first wire whose label was not hashed yet.
    pub(super) fn wires(&self) -> u64 {
        self.oracle.wire
    }

    fn receive(&mut self, step: Step, from: PartyId, len: usize) -> Result<WipedVec<u8>, Abort> {
        let mut body = WipedVec::zeros(len);
        self.trio.session.recv(step, from, &mut body)?;
        Ok(body)
    }

    /// \[Y2\] Compare a whole list of pairs with the other garbler's digest, before any label is looked at.
    fn compare_list(&self, step: Step, kind: Kind, pairs: &[u8], theirs: &[u8]) -> Result<(), Abort> {
        let ours = self.pieces.digest(kind, false, pairs);
        let same = self.trio.session.same_digest(&ours, &array(theirs));
        self.trio.session.require(checks::Y2, step, same, None) // [Y2]
    }

    /// \[Y3\] Compare each label with the hash of its pair that our own bit selects.
    fn compare_labels(
        &mut self,
        step: Step,
        labels: &[u128],
        pairs: &[u8],
        chosen: &[u8],
        from: PartyId,
    ) -> Result<(), Abort> {
        let mut hashed = WipedVec::<u128>::with_capacity(labels.len());
        hashed.extend_from_slice(labels);
        self.oracle.pairs.hash_units::<1, 1>(&mut hashed, self.oracle.wire);
        self.oracle.wire += labels.len() as u64;
        let pairs = bits::read(pairs);
        let mut difference = Difference::default();
        for ((hashed, [zero, one]), bit) in hashed.iter().zip(pairs.as_chunks::<2>().0).zip(chosen) {
            difference.add(hashed ^ zero ^ spread(u128::from(*bit)) & (zero ^ one));
        }
        // an abort tells that one of the labels of a piece is wrong, and not which
        let same = taint::verdict(step, difference.is_zero());
        self.trio.session.require(checks::Y3, step, same, Some(from)) // [Y3]
    }

    /// Step 4. The active labels of inputs in some lanes; `x23` and `x31` are our components.
    pub(super) fn receive_inputs(&mut self, x23: &[u8], x31: &[u8]) -> Result<WipedVec<u128>, Abort> {
        let mut out = WipedVec::with_capacity(x23.len());
        for (x23, x31) in x23.chunks(CHUNK).zip(x31.chunks(CHUNK)) {
            let n = x23.len();
            let (first, second) = (self.first, self.second);
            let of_first = self.receive(LABELS, first, 48 * n + 32)?;
            let of_second = self.receive(LABELS, second, 48 * n + 32)?;
            let (u, rest) = of_first.split_at(16 * n);
            let (of_known, digest_of_sums) = rest.split_at(32 * n);
            let (known, rest) = of_second.split_at(16 * n);
            let (sums, digest_of_known) = rest.split_at(32 * n);
            self.compare_list(LABELS, Kind::Sums, sums, digest_of_sums)?;
            self.compare_list(LABELS, Kind::Known, of_known, digest_of_known)?;
            let (u, known) = (bits::read(u), bits::read(known));
            self.compare_labels(LABELS, &u, sums, x31, first)?;
            self.compare_labels(LABELS, &known, of_known, x23, second)?;
            self.pieces.advance();
            out.extend(u.iter().zip(known.iter()).map(|(u, known)| u ^ known));
        }
        Ok(out)
    }

    /// Step 4. The active labels of the masks r23.
    pub(super) fn receive_masks(&mut self, r23: &[u8]) -> Result<WipedVec<u128>, Abort> {
        let mut out = WipedVec::with_capacity(r23.len());
        for r23 in r23.chunks(CHUNK) {
            let n = r23.len();
            let (first, second) = (self.first, self.second);
            let pairs = self.receive(MASKS, first, 32 * n)?;
            let of_second = self.receive(MASKS, second, 16 * n + 32)?;
            let (known, digest) = of_second.split_at(16 * n);
            self.compare_list(MASKS, Kind::Masks, &pairs, digest)?;
            let known = bits::read(known);
            self.compare_labels(MASKS, &known, &pairs, r23, second)?;
            self.pieces.advance();
            out.extend_from_slice(&known);
        }
        Ok(out)
    }

    /// Begin a group of lanes, with this many ANDs.
    pub(super) fn expect(&mut self, ands: usize) {
        self.left = ands;
        self.table.clear();
        self.done = 0;
    }

    /// Step 3. Receive the tables of at least `most` ANDs of a group, or of all that are left, for later:
    /// they are compared, and not evaluated.
    pub(super) fn receive_tables(&mut self, most: usize) -> Result<WipedVec<u8>, Abort> {
        let most = most.min(self.left);
        let mut all = WipedVec::with_capacity(32 * most);
        while all.len() < 32 * most {
            self.receive_table()?;
            all.extend_from_slice(&self.table);
        }
        Ok(all)
    }

    /// Use these tables first in the group that follows.
    pub(super) fn hold(&mut self, tables: WipedVec<u8>) {
        (self.table, self.done) = (tables, 0);
    }

    /// Step 3. The next piece of tables: each half from one garbler, its digest from the other \[Y1\].
    fn receive_table(&mut self) -> Result<(), Abort> {
        let n = PIECE.min(self.left);
        let half = 16 * n;
        self.table.resize(2 * half + 32, 0);
        // the second half goes over the digest that follows the first one
        self.trio.session.recv(TABLES, self.first, &mut self.table[..half + 32])?;
        let digest_of_second: [u8; 32] = array(&self.table[..half + 32]);
        self.trio.session.recv(TABLES, self.second, &mut self.table[half..])?;
        let (first, rest) = self.table.split_at(half);
        let (second, digest_of_first) = rest.split_at(half);
        let session = &self.trio.session;
        let same = |kind, half: &[u8], theirs: &[u8]| {
            session.same_digest(&self.pieces.digest(kind, false, half), &array(theirs))
        };
        let same = (
            same(Kind::FirstHalf, first, digest_of_first),
            same(Kind::SecondHalf, second, &digest_of_second),
        );
        session.require(checks::Y1, TABLES, same.0 && same.1, None)?; // [Y1]
        self.table.truncate(2 * half);
        self.pieces.advance();
        self.left -= n;
        self.done = 0;
        Ok(())
    }

    /// Evaluate half-gates.
    fn half_gates(&mut self, operands: &[u128], out: &mut [u128]) {
        let hashed = &mut self.oracle.scratch[..operands.len()];
        hashed.copy_from_slice(operands);
        self.oracle.gates.hash_units::<2, 1>(hashed, self.oracle.gate);
        let table = self.table.as_chunks::<16>().0.as_chunks::<2>().0.iter().skip(self.done);
        let gates = hashed.as_chunks::<2>().0.iter().zip(operands.as_chunks::<2>().0).zip(table);
        for ((([of_a, of_b], [a, b]), [t_g, t_e]), out) in gates.zip(out.iter_mut()) {
            let (t_g, t_e) = (u128::from_le_bytes(*t_g), u128::from_le_bytes(*t_e));
            *out = of_a ^ spread(*a) & t_g ^ of_b ^ spread(*b) & (t_e ^ a);
        }
        self.oracle.gate += out.len() as u64;
        self.done += out.len();
    }

    /// Step 5. The masked decoding bits of `n` outputs \[Y4\].
    pub(super) fn receive_decoding(&mut self, n: usize, last: bool) -> Result<WipedVec<u8>, Abort> {
        let masked = self.receive(DECODING, self.first, bits::packed(n))?;
        let digest = self.receive(DECODING, self.second, 32)?;
        let ours = self.pieces.digest(Kind::Decoding, last, &masked);
        let same = self.trio.session.same_digest(&ours, &array(&digest));
        self.trio.session.require(checks::Y4, DECODING, same, None)?; // [Y4]
        self.pieces.advance();
        let bits = bits::unpack(&masked, n);
        self.trio.session.well_formed(DECODING, self.first, masked.len(), bits.is_some())?;
        Ok(bits.unwrap_or_else(|| WipedVec::zeros(n)))
    }

    /// Step 6. The digest of the active labels of all outputs, begun.
    pub(super) fn begin_result(&self) -> ResultDigest {
        ResultDigest::new(&self.pieces)
    }

    /// Step 6. After the comparisons of all pieces: z to P1, with a digest of the active labels of all
    /// outputs \[Y5\].
    pub(super) fn send_result(&mut self, z: &mut [u8], digest: ResultDigest) -> Result<(), Abort> {
        taint::public(RESULT, z);
        let mut body = Vec::with_capacity(bits::packed(z.len()) + 32);
        bits::pack(z, &mut body);
        let digest = digest.finish(&body);
        body.extend_from_slice(&digest);
        self.trio.session.send(RESULT, self.first, &body, z.len() as u64)
    }
}

impl LabelGates for Evaluator<'_, '_> {
    fn not(&self, label: u128) -> u128 {
        label
    }

    fn constant(&self, _value: bool) -> u128 {
        0
    }

    fn products(&mut self, operands: &[u128], out: &mut [u128]) -> Result<(), Abort> {
        let mut done = 0;
        while done < out.len() {
            if self.done == self.table.len() / 32 && self.left > 0 {
                self.receive_table()?;
            }
            let n = (out.len() - done).min(self.table.len() / 32 - self.done).min(GROUP);
            if n == 0 {
                return Err(self.trio.session.misuse(TABLES, Misuse::LengthDiffers));
            }
            self.half_gates(&operands[2 * done..2 * (done + n)], &mut out[done..done + n]);
            done += n;
        }
        Ok(())
    }
}
