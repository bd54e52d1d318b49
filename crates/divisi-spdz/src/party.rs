//! A party: its share of the MAC key, the values that it saw opened, and the streams that re-randomise
//! openings.

mod ledger;
mod openings;

use crate::checks;
use crate::part::{Embeds, Mac, Shareable};
use crate::purposes;
use crate::share::Auth;
use divisi_core::{Abort, Bound, Coins, Echo, Misuse, PartyId, Prg, Session, Step, step, wipe};
use divisi_field::kernel::vectorize;
use divisi_field::{BigField, Field, Gf2, Gf8};
use divisi_store::stock::{Reserve, StockError};
pub(crate) use ledger::Ledger;
pub(crate) use openings::SentShares;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

const ALPHA: Step = step!("alpha");
const MASK: Step = step!("mask");
/// How many elements are multiplied by alpha at once.
const SCRATCH: usize = 512;

/// The least number of bits of a field in which one MAC for each value is enough \[K9\].
const LEAST: usize = 40;

const VIEWS: Step = step!("check.1.views");

/// Our share of the MAC key: alpha is the sum of all parties'. It belongs to one session; an abort wipes it
/// \[K21\].
pub(crate) struct Alpha<F: Mac>(Box<Zeroizing<F>>);

impl<F: Mac> Alpha<F> {
    pub fn new(share: F) -> Self {
        Alpha(Box::new(Zeroizing::new(share)))
    }
}

/// End the session of a party whose stock cannot be used or written.
pub(crate) fn unfit(session: &Session, step: Step, why: &StockError) -> Abort {
    session.fail(Abort::Unfit { step, why: why.to_string() })
}

/// One party of a session that computes on authenticated shares.
pub struct Party<F: Mac> {
    pub(crate) session: Session,
    pub(crate) coins: Coins,
    pub(crate) ledger: Ledger<F>,
    alpha: Bound<Alpha<F>>,
    /// One stream for each peer, among three or more parties, from which sharings of zero are made.
    zeros: Vec<Prg>,
    /// One stream for each peer, for the sharings of zero in messages to clients.
    client_zeros: Vec<Prg>,
    /// The number of this party object, unique in the process.
    number: u64,
    /// The stock that alpha belongs to, if it outlives the session.
    pub(crate) reserve: Option<Arc<Reserve>>,
    /// The largest number of buckets that were made together, and the number of items in each of them.
    pub(crate) buckets: Option<(usize, usize)>,
    _last: WipesStack,
}

/// Wipes the stack when it is dropped: calls that computed with alpha left copies of it there.
struct WipesStack;

impl Drop for WipesStack {
    fn drop(&mut self) {
        wipe::stack(|| ());
    }
}

impl<F: Mac> Party<F> {
    /// A party with its share of alpha. A session has only one party, in whatever strand: there is one alpha,
    /// and one check at a time, because the sigmas of a failed check reveal what an attacker needs to forge
    /// MACs in another one \[K21\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] for the second party of a session; otherwise the abort that ends the session.
    #[inline(never)]
    pub(crate) fn new(mut session: Session, alpha: Alpha<F>) -> Result<Self, Abort> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        if !session.first("alpha") {
            // [K21]
            return Err(session.misuse(ALPHA, Misuse::SecondSetUp));
        }
        session.require(checks::K9, ALPHA, <F as Field>::BITS >= LEAST, None)?; // [K9]
        let coins = Coins::commit(&mut session)?;
        let peers = if session.parties() > 2 { session.peers() } else { Vec::new() };
        let zeros = peers.into_iter().map(|peer| session.prg(peer, purposes::ZERO)).collect();
        let peers = session.peers();
        let client_zeros = peers.into_iter().map(|peer| session.prg(peer, purposes::CLIENT_ZERO)).collect();
        let alpha = session.bind(alpha);
        let views = views(&mut session);
        let ledger = Ledger { x: Vec::new(), m: Vec::new(), views, checked: 0 };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (reserve, buckets, _last) = (None, None, WipesStack);
        Ok(Party { session, coins, ledger, alpha, zeros, client_zeros, number, reserve, buckets, _last })
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.session.me()
    }

    /// The counts of the meter so far.
    #[must_use]
    pub fn counts(&self) -> divisi_core::Counts {
        self.session.meter().read()
    }

    /// Reset the meter's counts.
    pub fn reset(&mut self) {
        self.session.meter().reset();
    }

    /// Record in the stock, if alpha belongs to one, whether somebody may know alpha if this process ends now
    /// \[K21\].
    pub(crate) fn at_risk(&self, at_risk: bool) -> Result<(), Abort> {
        match &self.reserve {
            Some(reserve) => {
                let noted = self.session.stored(ALPHA, || reserve.risk(at_risk));
                noted.map_err(|e| unfit(&self.session, ALPHA, &e))
            }
            None => Ok(()),
        }
    }

    /// The number of this party object, unique in the process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Our share of alpha.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if alpha was wiped with its session.
    pub(crate) fn alpha(&self) -> Result<F, Abort> {
        let gone = || self.session.misuse(ALPHA, Misuse::Erased);
        self.alpha.peek(|alpha| **alpha.0).ok_or_else(gone)
    }

    /// Whether we are the first party, to whose share public constants are added.
    pub(crate) fn is_first(&self) -> bool {
        self.session.me().index() == 0
    }

    /// Our share of a public value.
    pub(crate) fn constant<V: Shareable>(&self, value: V) -> V {
        if self.is_first() { value } else { V::default() }
    }

    /// \[\[x\]\] + c for a public c, which has one value for each lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if c does not have one value for each lane, or if alpha was wiped with its session.
    #[inline(never)]
    pub(crate) fn add_public<V: Shareable>(&self, x: &mut Auth<V, F>, c: &[V]) -> Result<(), Abort>
    where
        F: Embeds<V>,
    {
        if c.len() != x.len() {
            return Err(self.session.misuse(ALPHA, Misuse::CountsDiffer));
        }
        let mut scratch = Zeroizing::new([F::ZERO; SCRATCH]);
        self.add_public_with((&mut x.x, &mut x.m), c, &mut *scratch)
    }

    /// The same for shares `x` and MAC shares `m`, of as many values as there are constants. `scratch` is
    /// memory for MACs, which the caller wipes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if alpha was wiped with its session.
    pub(crate) fn add_public_with<V: Shareable>(
        &self,
        (x, m): (&mut [V], &mut [F]),
        c: &[V],
        scratch: &mut [F],
    ) -> Result<(), Abort>
    where
        F: Embeds<V>,
    {
        if self.is_first() {
            x.iter_mut().zip(c).for_each(|(x, c)| *x += *c);
        }
        let alpha = Zeroizing::new(self.alpha()?);
        let most = scratch.len().max(1);
        for (m, c) in m.chunks_mut(most).zip(c.chunks(most)) {
            let macs = &mut scratch[..c.len()];
            macs.iter_mut().zip(c).for_each(|(mac, c)| *mac = F::embedded_public(*c));
            F::scale(macs, *alpha);
            <F as BigField>::add_assign(m, macs);
        }
        Ok(())
    }

    /// Add bit k of public bytes to shared bits: to their shares `x` and the shares `m` of their MACs. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if alpha was wiped with its session.
    pub(crate) fn add_bits_of(
        &self,
        (x, m): (&mut [Gf2], &mut [F]),
        k: usize,
        bytes: &[Gf8],
    ) -> Result<(), Abort> {
        let alpha = Zeroizing::new(self.alpha()?.to_bits());
        let ours = u8::from(self.is_first());
        vectorize(
            #[inline(always)]
            || {
                for ((x, m), byte) in x.iter_mut().zip(m).zip(bytes) {
                    let bit = byte.0 >> k & 1;
                    *x += Gf2::new(bit & ours);
                    *m += F::from_low_bits(*alpha & u128::from(bit).wrapping_neg());
                }
            },
        );
        Ok(())
    }

    /// \[\[x\]\] + c, one public c for all lanes.
    #[inline(never)]
    pub(crate) fn add_constant<V: Shareable>(&self, x: &mut Auth<V, F>, c: V) -> Result<(), Abort>
    where
        F: Embeds<V>,
    {
        let (share, mac) = (self.constant(c), Zeroizing::new(self.alpha()? * F::embedded(c)));
        x.x.iter_mut().for_each(|x| *x += share);
        x.m.iter_mut().for_each(|m| *m += *mac);
        Ok(())
    }

    /// \[\[x\]\] + \[\[r\]\], where r hides x when the sum is opened, and has a lane for each lane of x.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if r has another number of lanes, even if it has only one: lanes under one mask
    /// would reveal their differences, and lanes without a mask themselves.
    pub(crate) fn mask<V: Shareable>(&self, x: &mut Auth<V, F>, r: &Auth<V, F>) -> Result<(), Abort> {
        let counted = [x.x.len(), x.m.len(), r.x.len(), r.m.len()];
        if counted == [x.len(); 4] && x.add(r) {
            Ok(())
        } else {
            Err(self.session.misuse(MASK, Misuse::CountsDiffer))
        }
    }

    /// What was opened so far, taken out: for corrupt parties of tests, which check as they like.
    #[cfg(all(test, feature = "testing"))]
    pub(crate) fn take_ledger(&mut self) -> Ledger<F> {
        let views = views(&mut self.session);
        let checked = self.ledger.opened();
        std::mem::replace(&mut self.ledger, Ledger { x: Vec::new(), m: Vec::new(), views, checked })
    }

    /// Everything that was opened so far has passed its check.
    pub(crate) fn pay_ledger(&mut self) {
        let views = views(&mut self.session);
        self.ledger.pay(views);
    }
}

fn views(session: &mut Session) -> Option<Box<Echo>> {
    (session.parties() > 2).then(|| Box::new(Echo::new(session, VIEWS)))
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use divisi_field::Gf48;
    use std::collections::BTreeSet;

    /// No two parties of a process have one number: a debt to one of them could be paid by another one.
    #[test]
    fn numbers_of_parties_do_not_return() {
        let mut numbers = BTreeSet::new();
        // more than a byte counts
        for session in 1..=150 {
            let ends = run(2, &PublicParameters::new("numbers"), |session| {
                let party = Party::new(session, Alpha::new(Gf48::ONE))?;
                Ok(party.number())
            });
            numbers.extend(ends.into_iter().map(Result::unwrap));
            assert_eq!(numbers.len(), 2 * session);
        }
    }

    /// Each pair of parties has a stream of its own for sharings of zero, and another one for those that
    /// clients get, however many parties there are: what two parties lack is known to all others together.
    #[test]
    fn each_pair_shares_streams_of_its_own() {
        for n in 2..=6 {
            let ends = run(n, &PublicParameters::new("streams of pairs"), |session| {
                let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
                let first = |prg: &mut Prg| {
                    let mut word = [0];
                    prg.words(&mut word);
                    word[0]
                };
                let [zeros, client_zeros] = [&mut party.zeros, &mut party.client_zeros];
                Ok([zeros, client_zeros].map(|prgs| prgs.iter_mut().map(first).collect::<Vec<u64>>()))
            });
            let ends: Vec<[Vec<u64>; 2]> = ends.into_iter().map(Result::unwrap).collect();
            let mut all = BTreeSet::new();
            for (purpose, has) in [(0, n > 2), (1, true)] {
                assert!(ends.iter().all(|end| end[purpose].len() == if has { n - 1 } else { 0 }), "{n}");
                for (i, j) in (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|_| has) {
                    // peers are in order, without the party itself
                    assert_eq!(ends[i][purpose][j - 1], ends[j][purpose][i], "{n}: {i} {j}");
                    assert!(all.insert(ends[i][purpose][j - 1]), "{n}: {i} {j}");
                }
            }
        }
    }
}
