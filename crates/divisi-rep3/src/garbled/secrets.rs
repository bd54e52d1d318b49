//! What two parties of a call have in common and the third does not: derived from the key of their pair, the
//! session, the strand, the call, its roles and circuits; never sent, and never derived twice.

use super::plan::CallPlan;
use crate::checks;
use crate::purposes;
use crate::trio::Trio;
use divisi_core::wipe::WipedVec;
use divisi_core::{DrawPurpose, ExpandedDigest, Expands, PartyId, Prg, Session, Step, step};
use divisi_ot::hash::{CallSeries, Calls, FIRST_STEP, TweakableHash};
use zeroize::{Zeroize, Zeroizing};

const SEED: Step = step!("seed");

/// The steps at which the hash is called: gates, and pairs of input labels. Authenticated garbling has other
/// steps.
const GATES: u8 = FIRST_STEP + 16;
const PAIRS: u8 = FIRST_STEP + 17;

/// Inputs of the hash that count as targets of a gate and of a pair: all that garblers hash there, though the
/// evaluator knows the values of half of them at most. With [`divisi_ot::hash::TARGETS`] a key of the
/// permutation serves 1,024 tweaks.
const OF_A_GATE: u64 = 4;
const OF_A_PAIR: u64 = 2;

/// What the garblers expand beside the stream of labels: Delta, and the salt of the hash, which the evaluator
/// gets.
pub(super) struct Seed {
    /// The difference of the two labels of a wire. Its lowest bit is set, so that the two labels differ
    /// there.
    pub(super) delta: Zeroizing<u128>,
    pub(super) salt: [u8; 16],
}

/// A stream of this call that we share with `peer` alone.
fn stream(trio: &Trio, peer: PartyId, purpose: &'static DrawPurpose, plan: &CallPlan<'_>) -> ExpandedDigest {
    let mut hasher = blake3::Hasher::new_keyed(&trio.session.key(peer, purpose));
    hasher.update(&plan.name);
    let out = hasher.expand(purpose);
    hasher.zeroize();
    out
}

/// Step 1. P1 and P2: the seed of this call, and the stream of its labels.
pub(super) fn expand(trio: &Trio, other: PartyId, plan: &CallPlan<'_>) -> (Seed, Prg) {
    trio.session.observe(checks::M0_5); // [M0.5]
    let mut out = stream(trio, other, purposes::GARBLED_SEED, plan);
    let (mut key, mut delta, mut salt) = (Zeroizing::new([0; 16]), Zeroizing::new([0; 16]), [0; 16]);
    out.fill(key.as_mut_slice());
    out.fill(delta.as_mut_slice());
    out.fill(&mut salt);
    out.zeroize();
    let mut delta = Zeroizing::new(u128::from_le_bytes(*delta) | 1);
    purposes::GARBLED_DELTA.drawn(|| delta.to_le_bytes());
    divisi_core::taint::secret(SEED, std::slice::from_mut(&mut *delta));
    (Seed { delta, salt }, Prg::of(purposes::GARBLED_LABELS, &key))
}

/// The bits of r that we share with `peer`: r12 or r23.
#[cfg_attr(feature = "testing", track_caller)]
pub(super) fn mask(trio: &Trio, peer: PartyId, plan: &CallPlan<'_>) -> Prg {
    let (mut out, mut key) = (stream(trio, peer, purposes::GARBLED_MASK, plan), Zeroizing::new([0; 16]));
    out.fill(key.as_mut_slice());
    out.zeroize();
    Prg::of(purposes::GARBLED_BITS, &key)
}

/// The hash of a call: H(session, strand, call, roles, circuits, salt).
pub(super) fn hash(session: &Session, plan: &CallPlan<'_>, salt: &[u8; 16]) -> TweakableHash {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 garbled hash v1");
    hasher.update(&plan.name).update(salt);
    TweakableHash::named(session, hasher.finalize().as_bytes())
}

/// The hash as a call uses it. Tweaks of gates and of pairs never meet, because they belong to different
/// series of calls.
pub(super) struct Oracle<'h> {
    pub(super) gates: Calls<'h>,
    pub(super) pairs: Calls<'h>,
    /// The next gate and the next wire: counted over all lanes, so that no tweak comes twice in a call.
    pub(super) gate: u64,
    pub(super) wire: u64,
    /// Scratch for labels that are hashed together.
    pub(super) scratch: WipedVec<u128>,
}

impl<'h> Oracle<'h> {
    pub(super) fn new(trio: &Trio, hash: &'h TweakableHash, plan: &CallPlan<'_>) -> Oracle<'h> {
        let place = |step| CallSeries::new(step, plan.roles.first, plan.roles.evaluator);
        Oracle {
            gates: hash.calls(&trio.session, place(GATES), OF_A_GATE),
            pairs: hash.calls(&trio.session, place(PAIRS), OF_A_PAIR),
            gate: 0,
            wire: 0,
            scratch: WipedVec::zeros(4 * super::labels::GROUP),
        }
    }
}
