//! P1 and P2: both compute the same garbling from their common seed, and each sends half of it, with digests
//! of the other half.

use super::bits::{self, spread};
use super::labels::{GROUP, LabelGates};
use super::pieces::{Kind, Pieces};
use super::plan::{AHEAD, CHUNK, CallPlan, PIECE, Role};
use super::secrets::{Oracle, Seed};
use super::{DECODING, LABELS, MASKS, RESULT, SALT, TABLES};
use crate::checks;
use crate::trio::Trio;
use crate::views::Begun;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, ComparedDigest, Misuse, PartyId};
use divisi_ot::hash::TweakableHash;
use zeroize::{Zeroize, Zeroizing};

/// A garbler in a call: its Delta, the hash with the numbers of the next gate and wire, and the tables that
/// are not sent yet.
pub(super) struct Garbler<'t, 'h> {
    trio: &'t mut Trio,
    role: Role,
    /// P3.
    to: PartyId,
    delta: Zeroizing<u128>,
    oracle: Oracle<'h>,
    pieces: Pieces,
    /// The piece of tables that is being filled, with room for a digest, and how many ANDs of this group are
    /// not garbled yet.
    table: WipedVec<u8>,
    filled: usize,
    left: usize,
}

/// The labels of inputs x = u + x23 for zero, wire by wire.
pub(super) struct InputLabels {
    /// Those of u = x12 + x31.
    pub(super) sums: WipedVec<u128>,
    /// Those of x23.
    pub(super) known: WipedVec<u128>,
}

impl InputLabels {
    /// The labels of x.
    pub(super) fn of_inputs(&self) -> WipedVec<u128> {
        self.sums.iter().zip(self.known.iter()).map(|(u, known)| u ^ known).collect()
    }

    /// The first `at` labels, counted over wires and lanes, and the rest.
    pub(super) fn split(&self, at: usize) -> [InputLabels; 2] {
        let (sums, known) = (self.sums.split_at(at), self.known.split_at(at));
        [(sums.0, known.0), (sums.1, known.1)]
            .map(|(sums, known)| InputLabels { sums: WipedVec::from(sums), known: WipedVec::from(known) })
    }
}

/// A garbler's message of two parts: what it sends, with room for a digest, and the digest.
fn with_digest(mut body: WipedVec<u8>, digest: &[u8; 32]) -> WipedVec<u8> {
    body.extend_from_slice(digest);
    body
}

impl<'t, 'h> Garbler<'t, 'h> {
    /// Step 1, 2. With the seed expanded, send the salt of the hash, or its digest \[Y1\].
    pub(super) fn begin(
        trio: &'t mut Trio,
        role: Role,
        seed: &Seed,
        hash: &'h TweakableHash,
        plan: &CallPlan<'_>,
    ) -> Result<Garbler<'t, 'h>, Abort> {
        let mut garbler = Garbler::new(trio, role, *seed.delta, hash, plan);
        let to = plan.roles.evaluator;
        match role {
            Role::First => garbler.trio.session.send(SALT, to, &seed.salt, 0)?,
            _ => {
                let digest = garbler.pieces.digest(Kind::Salt, false, &seed.salt);
                garbler.trio.session.send(SALT, to, &digest, 0)?;
            }
        }
        garbler.pieces.advance();
        garbler.table = WipedVec::zeros(32 * PIECE + 32);
        Ok(garbler)
    }

    /// Step 4. Go on with a call that was garbled ahead, `from` being the first wire whose pair was not
    /// hashed yet.
    pub(super) fn resume(
        trio: &'t mut Trio,
        role: Role,
        delta: u128,
        hash: &'h TweakableHash,
        plan: &CallPlan<'_>,
        from: u64,
    ) -> Garbler<'t, 'h> {
        let mut garbler = Garbler::new(trio, role, delta, hash, plan);
        garbler.oracle.wire = from;
        garbler
    }

    fn new(
        trio: &'t mut Trio,
        role: Role,
        delta: u128,
        hash: &'h TweakableHash,
        plan: &CallPlan<'_>,
    ) -> Garbler<'t, 'h> {
        let oracle = Oracle::new(trio, hash, plan);
        Garbler {
            trio,
            role,
            to: plan.roles.evaluator,
            delta: Zeroizing::new(delta),
            oracle,
            pieces: Pieces::new(plan.name),
            table: WipedVec::default(),
            filled: 0,
            left: 0,
        }
    }

    /// The first wire whose pair was not hashed yet.
    pub(super) fn wires(&self) -> u64 {
        self.oracle.wire
    }

    fn is_first(&self) -> bool {
        self.role == Role::First
    }

    /// Delta if the bit is set, else zero.
    fn times(&self, bit: u8) -> u128 {
        spread(u128::from(bit)) & *self.delta
    }

    /// For each wire the hashes of both its labels, as an ordered pair: `first` has the label that comes
    /// first.
    fn pairs(&mut self, first: &[u128]) -> WipedVec<u8> {
        let mut hashed = WipedVec::<u128>::with_capacity(2 * first.len());
        let delta = *self.delta;
        hashed.extend(first.iter().flat_map(|label| [*label, label ^ delta]));
        let from = self.oracle.wire;
        self.oracle.pairs.hash_units::<1, 2>(&mut hashed, from);
        self.oracle.wire += first.len() as u64;
        let mut out = WipedVec::with_capacity(32 * first.len());
        out.append_by(32 * first.len(), |out| bits::write(hashed.iter().copied(), out));
        out
    }

    /// The digest of a list of pairs, all of it.
    fn list(&self, kind: Kind, pairs: &[u8]) -> [u8; 32] {
        self.pieces.digest(kind, false, pairs)
    }

    /// Step 4. Send the labels of inputs x = u + x23 in some lanes; `labels` has those for zero. For each
    /// wire P1 sends the active label of u = x12 + x31 and the pair of x23, P2 the active label of x23 and
    /// the pair of u in the order of x31, each with a digest of the other's list \[Y2\]. `first` and `second`
    /// are our components.
    pub(super) fn send_inputs(
        &mut self,
        labels: &InputLabels,
        first: &[u8],
        second: &[u8],
    ) -> Result<(), Abort> {
        let labels = labels.sums.chunks(CHUNK).zip(labels.known.chunks(CHUNK));
        for ((u, known), (first, second)) in labels.zip(first.chunks(CHUNK).zip(second.chunks(CHUNK))) {
            let n = u.len();
            // x12 is P1's second component and P2's first
            let x12 = if self.is_first() { second } else { first };
            let ordered: WipedVec<u128> =
                u.iter().zip(x12).map(|(label, x)| label ^ self.times(*x)).collect();
            let sums = self.pairs(&ordered);
            let of_known = self.pairs(known);
            let mut body = WipedVec::with_capacity(48 * n + 32);
            let digest;
            if self.is_first() {
                let active: WipedVec<u128> =
                    ordered.iter().zip(first).map(|(label, x31)| label ^ self.times(*x31)).collect();
                body.append_by(16 * n, |body| bits::write(active.iter().copied(), body));
                digest = self.list(Kind::Sums, &sums);
                body.extend_from_slice(&of_known);
            } else {
                let active: WipedVec<u128> =
                    known.iter().zip(second).map(|(label, x23)| label ^ self.times(*x23)).collect();
                body.append_by(16 * n, |body| bits::write(active.iter().copied(), body));
                digest = self.list(Kind::Known, &of_known);
                body.extend_from_slice(&sums);
            }
            self.trio.session.send(LABELS, self.to, &with_digest(body, &digest), 48 * 8 * n as u64)?;
            self.pieces.advance();
        }
        Ok(())
    }

    /// Step 4. Send the labels of the masks r23 of outputs, which are entered like x23; `labels` has those
    /// for zero. P1 sends the pairs; P2, who knows r23, sends the active labels and the digest of the pairs.
    pub(super) fn send_masks(&mut self, labels: &[u128], r23: Option<&[u8]>) -> Result<(), Abort> {
        for (at, known) in (0..).zip(labels.chunks(CHUNK)) {
            let k = known.len();
            let pairs = self.pairs(known);
            let body = match r23 {
                None => pairs,
                Some(r23) => {
                    let mut body = WipedVec::with_capacity(16 * k + 32);
                    let active = known.iter().zip(&r23[at * CHUNK..at * CHUNK + k]);
                    let active = active.map(|(label, r)| label ^ self.times(*r));
                    body.append_by(16 * k, |body| bits::write(active, body));
                    let digest = self.list(Kind::Masks, &pairs);
                    with_digest(body, &digest)
                }
            };
            let bits = if r23.is_some() { 128 } else { 256 };
            self.trio.session.send(MASKS, self.to, &body, bits * k as u64)?;
            self.pieces.advance();
        }
        Ok(())
    }

    /// The other half of the barrier that was begun before the call.
    pub(super) fn compare_views(&mut self, views: Begun) -> Result<(), Abort> {
        self.trio.end_barrier(views).map(drop)
    }

    /// Begin a group of lanes, with this many ANDs.
    pub(super) fn expect(&mut self, ands: usize) {
        self.left = ands;
    }

    /// Step 3. Half-gates (Zahur, Rosulek, Evans 2015, Figure 2) with free XOR, two tweaks a gate.
    #[inline(never)]
    fn half_gates(&mut self, operands: &[u128], out: &mut [u128]) {
        let delta = *self.delta;
        let operands = operands.as_chunks::<2>().0;
        let hashed = &mut self.oracle.scratch[..4 * out.len()];
        for (hashed, [a, b]) in hashed.as_chunks_mut::<4>().0.iter_mut().zip(operands) {
            *hashed = [*a, a ^ delta, *b, b ^ delta];
        }
        self.oracle.gates.hash_units::<2, 2>(hashed, self.oracle.gate);
        let gates = hashed.as_chunks::<4>().0.iter().zip(operands);
        let table = self.table[32 * self.filled..].as_chunks_mut::<16>().0.as_chunks_mut::<2>().0;
        for ((([a0, a1, b0, b1], [a, b]), out), row) in gates.zip(out.iter_mut()).zip(table) {
            let (of_a, of_b) = (spread(*a), spread(*b));
            let t_g = a0 ^ a1 ^ of_b & delta;
            let t_e = b0 ^ b1 ^ a;
            *out = a0 ^ of_a & t_g ^ b0 ^ of_b & (t_e ^ a);
            *row = [t_g.to_le_bytes(), t_e.to_le_bytes()];
        }
        self.filled += out.len();
        self.oracle.gate += out.len() as u64;
    }

    /// Step 3. Send our half of a piece of tables, and the digest of the other half \[Y1\].
    #[inline(never)]
    fn send_table(&mut self) -> Result<(), Abort> {
        let half = 16 * self.filled;
        let (first, second) = self.table[..2 * half].split_at(half);
        // the digest goes behind our half: P1 writes it over the half that it does not send
        let (own, digest) = if self.is_first() {
            (0..half, self.pieces.digest(Kind::SecondHalf, false, second))
        } else {
            (half..2 * half, self.pieces.digest(Kind::FirstHalf, false, first))
        };
        let body = &mut self.table[own.start..own.end + 32];
        body[half..].copy_from_slice(&digest);
        // a garbler that is faster than the evaluator waits here, and does not hold all tables
        self.trio.session.wait_for_capacity(TABLES, self.to, AHEAD)?;
        self.trio.session.send(TABLES, self.to, body, 128 * self.filled as u64)?;
        self.pieces.advance();
        self.left -= self.filled;
        self.filled = 0;
        Ok(())
    }

    /// Step 5. P1 sends the decoding bits of outputs with r12 added, P2 a digest of them; `zeros` are the
    /// labels of the outputs for zero \[Y4\].
    pub(super) fn send_decoding(&mut self, zeros: &[u128], r12: &[u8], last: bool) -> Result<(), Abort> {
        let masked: WipedVec<u8> = zeros.iter().zip(r12).map(|(label, r)| *label as u8 & 1 ^ *r).collect();
        let mut body = Vec::with_capacity(bits::packed(zeros.len()));
        bits::pack(&masked, &mut body);
        if self.is_first() {
            self.trio.session.send(DECODING, self.to, &body, zeros.len() as u64)?;
        } else {
            let digest = self.pieces.digest(Kind::Decoding, last, &body);
            self.trio.session.send(DECODING, self.to, &digest, 0)?;
        }
        self.pieces.advance();
        Ok(())
    }

    /// Step 6. P1 receives z and the digest of the labels that z selects from P3, and compares the digest
    /// \[Y5\]. `zeros` are the labels of all outputs for zero, `r12` their masks. Returns z.
    pub(super) fn receive_result(&mut self, zeros: &[u128], r12: &[u8]) -> Result<WipedVec<u8>, Abort> {
        let n = zeros.len();
        let mut body = WipedVec::zeros(bits::packed(n) + 32);
        self.trio.session.recv(RESULT, self.to, &mut body)?;
        let (packed, theirs) = body.split_at(bits::packed(n));
        let (bits, len) = (bits::unpack(packed, n), body.len());
        let sound = bits.is_some();
        let z = bits.unwrap_or_else(|| WipedVec::zeros(n));
        let mut digest = ResultDigest::new(&self.pieces);
        for ((label, z), r) in zeros.iter().zip(z.iter()).zip(r12) {
            digest.add(label ^ self.times(z ^ r));
        }
        let same = self.trio.session.same_digest(&digest.finish(packed), &array(theirs));
        self.trio.session.require(checks::Y5, RESULT, same, Some(self.to))?; // [Y5]
        self.trio.session.well_formed(RESULT, self.to, len, sound)?;
        Ok(z)
    }
}

/// A digest at the end of a message.
pub(super) fn array(bytes: &[u8]) -> [u8; 32] {
    bytes.last_chunk().copied().unwrap_or_default()
}

/// The digest of the active labels of all outputs, and z: as P3 makes it, and P1 again.
pub(super) struct ResultDigest {
    hasher: blake3::Hasher,
    count: u64,
}

impl ResultDigest {
    pub(super) fn new(pieces: &Pieces) -> ResultDigest {
        ResultDigest { hasher: pieces.of_the_call(Kind::Result), count: 0 }
    }

    pub(super) fn add(&mut self, label: u128) {
        let mut bytes = label.to_le_bytes();
        self.hasher.update(&bytes);
        bytes.zeroize();
        self.count += 1;
    }

    /// Finish with z, packed eight bits to a byte.
    pub(super) fn finish(mut self, z: &[u8]) -> [u8; 32] {
        self.hasher.update(&self.count.to_le_bytes());
        self.hasher.update(z);
        let digest = self.hasher.to_compare();
        self.hasher.zeroize();
        digest
    }
}

impl LabelGates for Garbler<'_, '_> {
    fn not(&self, label: u128) -> u128 {
        label ^ *self.delta
    }

    fn constant(&self, value: bool) -> u128 {
        self.times(u8::from(value))
    }

    fn products(&mut self, operands: &[u128], out: &mut [u128]) -> Result<(), Abort> {
        let mut done = 0;
        while done < out.len() {
            let n = (out.len() - done).min(PIECE.min(self.left) - self.filled).min(GROUP);
            if n == 0 {
                return Err(self.trio.session.misuse(TABLES, Misuse::LengthDiffers));
            }
            self.half_gates(&operands[2 * done..2 * (done + n)], &mut out[done..done + n]);
            done += n;
            if self.filled == PIECE.min(self.left) {
                // an abort that is made where Delta lay on the stack would carry it along in bytes that it
                // does not use, so the stack is wiped; garbling a piece calls few functions
                wipe::few_calls(|| ());
                self.send_table()?;
            }
        }
        Ok(())
    }
}
