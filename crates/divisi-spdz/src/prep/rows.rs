//! Authenticated bits and elements from the rows of divisi-ot.
//!
//! alpha_i is Delta_i. So a bit x of P_i with M_j = K_j + x Delta_j for every P_j is already authenticated:
//! its share is x at P_i and zero elsewhere; its MAC's share is x Delta_i + sum M_j at P_i and K_j at P_j. A
//! sharing with shares in a part of the field costs one row for each bit of the part, and its type keeps the
//! shares in the part \[K5\].

use crate::part::{Mac, Word32};
use crate::party::{Alpha, Party};
use crate::share::Auth;
use crate::source::KnownBits;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Bound, Misuse, PartyId, Session, Step, step};
use divisi_field::kernel::vectorize;
use divisi_field::{Field, Gf2, transpose};
use divisi_ot::{AuthBits, Bits, MacShares, PreprocessedRows, Setup, SetupConfig, WideShares};
use std::ops::Range;
use zeroize::Zeroizing;

const SETUP: Step = step!("setup");

/// How many positions of rows are made at once; each takes f / 4 bytes for each peer.
const POSITIONS: usize = 1 << 18;

/// Products that are made of batches of rows, in three steps. Between the steps of one batch
/// [`Rows::batches`] does steps of other batches. Each step is done for all batches in order.
pub(super) trait Batches<F: Mac> {
    /// Products whose payloads we have sent.
    type Sent;
    /// Products that nobody has proven yet.
    type Received;

    /// Send our payloads, for rows that were checked; wait for nothing.
    fn send(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        wide: WideShares,
        narrow: MacShares,
    ) -> Result<Self::Sent, Abort>;

    /// Receive all payloads of the batch.
    fn receive(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        sent: Self::Sent,
    ) -> Result<Self::Received, Abort>;

    /// Prove the products, by a coin that follows all of their payloads, and keep them \[K15\].
    fn prove(&mut self, party: &mut Party<F>, received: Self::Received) -> Result<(), Abort>;
}

/// Where a session's rows come from.
pub(super) struct Rows {
    setup: Bound<Setup>,
    config: SetupConfig,
}

impl Rows {
    /// The set-up of a session, and the party whose share of alpha is its Delta_i.
    ///
    /// Cost: docs/ot.md, section 10.
    pub fn start<F: Mac>(mut session: Session, config: SetupConfig) -> Result<(Party<F>, Self), Abort> {
        if (<F as Field>::BITS as u32) < config.rho {
            return Err(session.misuse(SETUP, Misuse::Unsupported));
        }
        let setup = Setup::over_field(&mut session, config, <F as Field>::BITS as u32)?;
        Rows::of(session, setup)
    }

    /// [`Rows::start`] over an existing set-up.
    pub fn of<F: Mac>(session: Session, setup: Setup) -> Result<(Party<F>, Self), Abort> {
        let config = setup.config();
        let alpha = wipe::stack(|| Alpha::new(F::from_low_bits(setup.delta().get())));
        let setup = session.bind(setup);
        Ok((Party::new(session, alpha)?, Rows { setup, config }))
    }

    /// The parameters.
    pub fn config(&self) -> SetupConfig {
        self.config
    }

    /// Use the set-up, which an abort in any strand wipes; after an error it is not put back.
    pub fn with<F: Mac, R>(
        &mut self,
        party: &mut Party<F>,
        work: impl FnOnce(&mut Session, &mut Setup) -> Result<R, Abort>,
    ) -> Result<R, Abort> {
        let mut setup = self.setup.take(&party.session, SETUP)?;
        let made = work(&mut party.session, &mut setup)?;
        self.setup.put(&party.session, setup);
        Ok(made)
    }

    /// Random bits to which all parties contribute; the type keeps the shares bits \[K5\].
    ///
    /// Cost: ceil(f / k) bits each to each peer.
    pub fn bits<F: Mac>(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        let mut all = Auth::with_capacity(if count > POSITIONS { count } else { 0 });
        for from in (0..count).step_by(POSITIONS) {
            let rows = self.narrow(party, Bits::Random(POSITIONS.min(count - from)))?;
            let all_rows = 0..rows.len();
            let made = Auth::new(shares(rows.bits(), all_rows.clone()), macs(&rows, all_rows));
            if count <= POSITIONS {
                return Ok(made);
            }
            all.append(&made);
        }
        Ok(all)
    }

    /// Narrow rows: this party's bits, and its shares of the MACs of the sums.
    pub fn narrow<F: Mac>(&mut self, party: &mut Party<F>, bits: Bits<'_>) -> Result<MacShares, Abort> {
        self.with(party, |session, setup| setup.mac_shares(session, bits))
    }

    /// Make batches of rows, each with these numbers of wide and of narrow ones, and do with each what `work`
    /// says. Messages travel while we work on other batches: our corrections for the next batch are sent
    /// before this batch's are awaited, and the payloads of a batch are awaited when we have sent the
    /// corrections of the second batch after it, and received those of the first batch after it. The short
    /// messages of checks and proofs follow, when the links are empty or nearly so.
    pub fn batches<F: Mac, W: Batches<F>>(
        &mut self,
        party: &mut Party<F>,
        counts: impl Iterator<Item = [usize; 2]>,
        work: &mut W,
    ) -> Result<(), Abort> {
        // corrections have a strand of their own, so that they can overtake the messages of the batch before
        let mut strand = party.session.strand()?;
        let (mut begun, mut sent): (Option<PreprocessedRows>, Option<W::Sent>) = (None, None);
        for counts in counts.map(Some).chain([None, None]) {
            let next = match counts {
                Some([wide, narrow]) => {
                    // this thread has waited for everything that the other strand has received
                    strand.after_chain(party.session.chain());
                    Some(self.with(party, |_, setup| setup.begin_ahead(&mut strand, wide, narrow))?)
                }
                None => None,
            };
            let rows = match std::mem::replace(&mut begun, next) {
                Some(batch) => Some(self.with(party, |_, setup| setup.receive_ahead(&mut strand, batch))?),
                None => None,
            };
            let received = match sent.take() {
                Some(sent) => Some(work.receive(self, party, sent)?),
                None => None,
            };
            let rows = match rows {
                Some(rows) => Some(self.with(party, |session, setup| setup.finish_ahead(session, rows))?),
                None => None,
            };
            if let Some(received) = received {
                work.prove(party, received)?;
            }
            if let Some((wide, narrow)) = rows {
                sent = Some(work.send(self, party, wide, narrow)?);
            }
        }
        Ok(())
    }

    /// Random bits that `owner` alone knows: the other parties' bits at the same positions are dropped.
    ///
    /// Cost: that of [`Rows::bits`].
    pub fn known<F: Mac>(
        &mut self,
        party: &mut Party<F>,
        owner: PartyId,
        count: usize,
    ) -> Result<KnownBits<F>, Abort> {
        let made = self.known_each(party, &[(owner, count)])?.pop();
        made.ok_or_else(|| party.session.misuse(SETUP, Misuse::TooFewMade))
    }

    /// Random bits for each of these parties, which it alone knows. Every party has a bit of its own at each
    /// position, with MACs under all others' keys, so that the same positions serve all of them. Each party
    /// must stand there once: named twice, it would get the same bits twice.
    ///
    /// Cost: that of [`Rows::bits`] for the party with the most bits.
    pub fn known_each<F: Mac>(
        &mut self,
        party: &mut Party<F>,
        counts: &[(PartyId, usize)],
    ) -> Result<Vec<KnownBits<F>>, Abort> {
        let me = party.me();
        let mut all: Vec<_> = counts.iter().map(|(_, count)| Auth::with_capacity(*count)).collect();
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        for from in (0..most).step_by(POSITIONS) {
            let bits = Bits::Random(POSITIONS.min(most - from));
            let made = self.with(party, |session, setup| {
                let rows = setup.mac_rows(session, bits)?;
                let of = |(owner, count): &(PartyId, usize)| {
                    let here = 0..count.saturating_sub(from).min(rows.len());
                    let macs = macs_of::<F>(&rows, setup, *owner);
                    let x = if *owner == me {
                        shares(rows.bits(), here.clone())
                    } else {
                        WipedVec::zeros(here.len())
                    };
                    Auth::new(x, WipedVec::from(&macs[here]))
                };
                Ok(counts.iter().map(of).collect::<Vec<Auth<Gf2, F>>>())
            })?;
            all.iter_mut().zip(&made).for_each(|(all, made)| all.append(made));
        }
        let known = |((owner, _), shares): (&(PartyId, usize), Auth<Gf2, F>)| KnownBits {
            values: (*owner == me).then(|| Zeroizing::new(shares.x.to_vec())),
            shares,
        };
        Ok(counts.iter().zip(all).map(known).collect())
    }

    /// The sharing in which each party's share is the value that it passes here: f chosen bits an element,
    /// with MACs added up by the powers of y (COPEe, MASCOT Protocol 1). The check of the rows ensures that a
    /// bit is the same towards all peers, and each Delta_j the same in all rows \[K11, K12\].
    ///
    /// Cost: f ceil(f / k) bits an element to each peer.
    pub fn elements<F: Mac>(&mut self, party: &mut Party<F>, values: &[F]) -> Result<Auth<F, F>, Abort> {
        let width = <F as Field>::BITS;
        let mut all = Auth::with_capacity(values.len());
        for values in values.chunks((POSITIONS / width).max(1)) {
            let words = packed(values);
            let rows = self.narrow(party, Bits::Chosen(&words, values.len() * width))?;
            let macs = macs::<F>(&rows, 0..rows.len());
            all.append(&Auth::new(values.into(), sums(&macs)));
        }
        Ok(all)
    }
}

/// The bits of each element, one after the other, as words.
pub(super) fn packed<F: Mac>(values: &[F]) -> Zeroizing<Vec<u64>> {
    let width = <F as Field>::BITS;
    let mut words = Zeroizing::new(vec![0; (values.len() * width).div_ceil(64)]);
    for (i, value) in values.iter().enumerate() {
        let all = value.to_bits();
        for k in 0..width {
            let at = i * width + k;
            words[at / 64] |= ((all >> k & 1) as u64) << (at % 64);
        }
    }
    words
}

/// 1, y, y^2, ..
pub(super) fn powers<F: Mac>(count: usize) -> Vec<F> {
    (0..count).map(|k| F::from_low_bits(1 << k)).collect()
}

/// For each f consecutive values: the sum of y^k times the k-th of them.
pub(super) fn sums<F: Mac>(values: &[F]) -> WipedVec<F> {
    let powers = powers::<F>(<F as Field>::BITS);
    values.chunks_exact(powers.len()).map(|values| F::dot(&powers, values)).collect()
}

/// Our bits at these positions, which must exist.
pub(super) fn shares(bits: &[u64], positions: Range<usize>) -> WipedVec<Gf2> {
    let mut out = WipedVec::with_capacity(positions.len());
    let mut at = positions.start;
    while at < positions.end {
        let here = (64 - at % 64).min(positions.end - at);
        let word = bits[at / 64] >> (at % 64);
        out.extend((0..here).map(|k| Gf2::new((word >> k) as u8)));
        at += here;
    }
    out
}

/// Our shares of the MACs at these positions.
pub(super) fn macs<F: Mac>(rows: &MacShares, positions: Range<usize>) -> WipedVec<F> {
    rows.rows(positions, F::from_low_bits).into()
}

/// Our shares of the MACs of the owner's bits.
fn macs_of<F: Mac>(rows: &AuthBits, setup: &Setup, owner: PartyId) -> WipedVec<F> {
    if owner != rows.me() {
        return rows.keys(owner).iter().map(|key| F::from_low_bits(*key)).collect();
    }
    let mut macs = of_ours::<F>(rows, setup);
    for peer in PartyId::all(rows.parties()).filter(|peer| *peer != owner) {
        macs.iter_mut().zip(rows.macs(peer)).for_each(|(m, mac)| *m += F::from_low_bits(*mac));
    }
    macs
}

/// Our bits times Delta_i; without a branch.
fn of_ours<F: Mac>(rows: &AuthBits, setup: &Setup) -> WipedVec<F> {
    let delta = Zeroizing::new(F::from_low_bits(setup.delta().get()));
    let mut macs = WipedVec::zeros(rows.len());
    let bits = delta.to_bits();
    vectorize(
        #[inline(always)]
        || {
            for (macs, word) in macs.chunks_mut(64).zip(rows.bits()) {
                for (k, m) in macs.iter_mut().enumerate() {
                    *m = F::from_low_bits(bits & u128::from(word >> k & 1).wrapping_neg());
                }
            }
        },
    );
    macs
}

/// The bits of some planes, each of `lanes` lanes, as words that have one MAC each: the k-th plane's bits are
/// the k-th bits of the words. Plane q lies at the positions from q `lanes` on.
///
/// If planes are whole tiles, their columns are added up with their powers of y before they become rows: one
/// row for each word instead of one for each bit.
pub(super) fn words_of<F: Mac>(rows: &MacShares, planes: Range<usize>, lanes: usize) -> Auth<Word32, F> {
    if !lanes.is_multiple_of(MacShares::TILE) {
        return words_of_rows(rows, planes, lanes);
    }
    let tiles = lanes / MacShares::TILE;
    let mut made = Auth::with_capacity(lanes);
    let mut columns = Zeroizing::new(vec![0; 2 * <F as Field>::BITS]);
    let (zero, one) = columns.split_at_mut(<F as Field>::BITS);
    for first in (0..tiles).step_by(2) {
        let here = (tiles - first).min(2);
        let mut bits: [Zeroizing<Vec<u128>>; 2] = Default::default();
        for ((t, columns), bits) in (first..first + here).zip([&mut *zero, &mut *one]).zip(&mut bits) {
            let at = planes.clone().map(|q| q * tiles + t);
            F::weigh_columns(columns, &at.clone().map(|at| rows.tile(at)).collect::<Vec<_>>());
            bits.extend(at.map(|at| rows.own(at)));
        }
        let range = 0..here * MacShares::TILE;
        let [of_zero, of_one] = bits.each_ref().map(|bits| bits.as_slice());
        let more = range.len();
        made.x.append_by(more, |x| {
            transpose::rows([of_zero, of_one], range.clone(), |row| Word32(row as u32), x);
        });
        made.m.append_by(more, |m| transpose::rows([&*zero, &*one], range, F::from_low_bits, m));
    }
    made
}

/// The same for any number of lanes.
fn words_of_rows<F: Mac>(rows: &MacShares, planes: Range<usize>, lanes: usize) -> Auth<Word32, F> {
    let mut words = WipedVec::<Word32>::zeros(lanes);
    for (k, q) in planes.clone().enumerate() {
        for (block, words) in words.chunks_mut(64).enumerate() {
            let bits = word_at(rows.bits(), q * lanes + 64 * block);
            words.iter_mut().enumerate().for_each(|(l, word)| word.0 |= ((bits >> l & 1) as u32) << k);
        }
    }
    let macs = macs::<F>(rows, planes.start * lanes..planes.end * lanes);
    let planes: Vec<&[F]> = macs.chunks_exact(lanes.max(1)).collect();
    let mut m = WipedVec::zeros(lanes);
    F::combine(&mut m, &powers(planes.len()), &planes);
    Auth::new(words, m)
}

/// 64 of these bits, from this position on; zeros after the last one.
fn word_at(bits: &[u64], position: usize) -> u64 {
    let (at, shift) = (position / 64, position % 64);
    let word = |at: usize| bits.get(at).copied().unwrap_or(0);
    // a shift by 64 in two steps, which gives zero
    word(at) >> shift | word(at + 1) << 1 << (63 - shift)
}

/// The random element whose bits are the f bits from position `from` on.
pub(super) fn elements_of<F: Mac>(rows: &MacShares, from: usize) -> Auth<F, F> {
    let positions = from..from + <F as Field>::BITS;
    let bits = shares(rows.bits(), positions.clone());
    let x = bits.iter().rev().fold(0, |x, bit| x << 1 | bit.to_bits());
    let macs = macs::<F>(rows, positions);
    Auth::new(vec![F::from_low_bits(x)].into(), sums(&macs))
}

#[cfg(test)]
#[cfg(feature = "testing")]
pub(super) mod tests;
