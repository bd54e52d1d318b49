//! A party: its share of the MAC key, the values that it saw opened, and the streams that re-randomise
//! openings.

mod ledger;

use crate::checks;
use crate::part::{Embeds, Mac, Shareable, Word32};
use crate::share::{Auth, Wiped};
use divisi_core::{Abort, Bound, Check, Coins, Echo, PartyId, Prg, Session, Step, step, taint};
use divisi_field::kernel::vectorize;
use divisi_field::{BigField, Field, Gf2, Gf8};
use divisi_store::stock::{Reserve, StockError};
pub(crate) use ledger::Ledger;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

const ALPHA: Step = step!("alpha");
const MASK: Step = step!("mask");
/// Elements that are multiplied by alpha at once.
const ROOM: usize = 512;

/// The fewest bits of a field under whose MACs one a value is enough \[K9\].
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

/// What is wrong with a stock, which ends our part and nothing else.
pub(crate) fn unfit(step: Step, why: &StockError) -> Abort {
    Abort::Unfit { step, why: why.to_string() }
}

/// One party of a session that computes on authenticated shares.
pub struct Party<F: Mac> {
    pub(crate) session: Session,
    pub(crate) coins: Coins,
    pub(crate) ledger: Ledger<F>,
    alpha: Bound<Alpha<F>>,
    /// One stream for each peer, among three or more parties.
    zeros: Vec<Prg>,
    /// One stream for each peer, for messages to clients.
    client_zeros: Vec<Prg>,
    /// The number of this party object, unique in the process.
    number: u64,
    /// The stock that alpha belongs to, if it outlives the session.
    pub(crate) reserve: Option<Arc<Reserve>>,
    /// Of the most buckets that were made at once their number, and how many items each has.
    pub(crate) buckets: Option<(usize, usize)>,
}

/// Values whose shares were sent to all.
#[must_use = "what was told is heard"]
pub(crate) struct Told<V: Shareable> {
    step: Step,
    ours: Wiped<V>,
}

impl<F: Mac> Party<F> {
    /// A party with its share of alpha. One a session, in whatever strand: there is one alpha, and one check
    /// of it at a time, for the sigmas of one that fails tell what forges in another one \[K21\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] for the second; the abort that ends the session.
    #[inline(never)]
    pub(crate) fn new(mut session: Session, alpha: Alpha<F>) -> Result<Self, Abort> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        if !session.first("alpha") && !session.mutated(checks::K21) {
            // [K21]
            return Err(session.misuse(ALPHA, "a second MAC key of a session"));
        }
        session.require(checks::K9, ALPHA, <F as Field>::BITS >= LEAST, None)?; // [K9]
        let coins = Coins::commit(&mut session)?;
        let peers = if session.parties() > 2 { session.peers() } else { Vec::new() };
        let zeros = peers.into_iter().map(|peer| session.prg(peer, "spdz zero")).collect();
        let peers = session.peers();
        let client_zeros = peers.into_iter().map(|peer| session.prg(peer, "spdz client zero")).collect();
        let alpha = session.bind(alpha);
        let views = views(&mut session);
        let ledger = Ledger { x: Vec::new(), m: Vec::new(), views, checked: 0 };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Party { session, coins, ledger, alpha, zeros, client_zeros, number, reserve: None, buckets: None })
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

    /// Write down, where alpha outlives the session, whether the end of this process may mean that somebody
    /// knows it \[K21\].
    pub(crate) fn at_risk(&self, at_risk: bool) -> Result<(), Abort> {
        match &self.reserve {
            Some(reserve) => reserve.risk(at_risk).map_err(|e| unfit(ALPHA, &e)),
            None => Ok(()),
        }
    }

    /// Which party of this process this is.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Our share of alpha.
    ///
    /// # Errors
    /// [`Abort::Misuse`] when it went with the session.
    pub(crate) fn alpha(&self) -> Result<F, Abort> {
        let gone = || self.session.misuse(ALPHA, "the MAC key was wiped with its session");
        self.alpha.peek(|alpha| **alpha.0).ok_or_else(gone)
    }

    /// Whether we are the party whose share takes public constants.
    pub(crate) fn is_first(&self) -> bool {
        self.session.me().index() == 0
    }

    /// The share that we have of a public value.
    pub(crate) fn constant<V: Shareable>(&self, value: V) -> V {
        if self.is_first() { value } else { V::default() }
    }

    /// \[\[x\]\] + c, c public: one value for each lane.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the lanes do not fit.
    #[inline(never)]
    pub(crate) fn add_public<V: Shareable>(&self, x: &mut Auth<V, F>, c: &[V]) -> Result<(), Abort>
    where
        F: Embeds<V>,
    {
        if c.len() != x.len() {
            return Err(self.session.misuse(ALPHA, "not one constant for each lane"));
        }
        let mut room = Zeroizing::new([F::ZERO; ROOM]);
        self.add_public_with((&mut x.x, &mut x.m), c, &mut *room)
    }

    /// The same for shares and MAC shares of as many values as there are constants; with room for MACs, which
    /// the caller wipes.
    ///
    /// # Errors
    /// [`Abort::Misuse`] when alpha went with the session.
    pub(crate) fn add_public_with<V: Shareable>(
        &self,
        (x, m): (&mut [V], &mut [F]),
        c: &[V],
        room: &mut [F],
    ) -> Result<(), Abort>
    where
        F: Embeds<V>,
    {
        if self.is_first() {
            x.iter_mut().zip(c).for_each(|(x, c)| *x += *c);
        }
        let alpha = Zeroizing::new(self.alpha()?);
        let most = room.len().max(1);
        for (m, c) in m.chunks_mut(most).zip(c.chunks(most)) {
            let macs = &mut room[..c.len()];
            macs.iter_mut().zip(c).for_each(|(mac, c)| *mac = F::embedded_public(*c));
            F::scale(macs, *alpha);
            <F as BigField>::add_assign(m, macs);
        }
        Ok(())
    }

    /// Add bit k of public bytes to shared bits, their shares `x` and those of their MACs `m`. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] when alpha went with the session.
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

    /// \[\[x\]\] + \[\[r\]\], r what hides x when the sum is opened: a lane for each.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for another number of lanes, one alone included: lanes under one mask would tell
    /// their differences, and lanes under none themselves.
    pub(crate) fn mask<V: Shareable>(&self, x: &mut Auth<V, F>, r: &Auth<V, F>) -> Result<(), Abort> {
        let counted = [x.x.len(), x.m.len(), r.x.len(), r.m.len()];
        if counted == [x.len(); 4] && x.add(r) {
            Ok(())
        } else {
            Err(self.session.misuse(MASK, "not one mask for each lane"))
        }
    }

    /// Send our shares of what is opened to all. Of three or more parties they are re-randomised by a fresh
    /// sharing of zero, so that they tell nothing but their sum \[K20\].
    #[inline(never)]
    pub(crate) fn tell<V: Shareable>(&mut self, step: Step, x: &[V]) -> Result<Told<V>, Abort> {
        let mut ours = Wiped::new(x.to_vec());
        self.randomise(&mut ours);
        let mut body = Vec::with_capacity(V::packed(x.len()));
        V::pack(&ours, &mut body);
        let body = Wiped::new(body);
        if !x.is_empty() {
            for peer in self.session.peers() {
                self.session.send(step, peer, &body, (x.len() * V::BITS) as u64)?;
            }
        }
        Ok(Told { step, ours })
    }

    /// Add our part of a fresh sharing of zero \[K20\].
    pub(crate) fn randomise<V: Shareable>(&mut self, x: &mut [V]) {
        if self.session.mutated(checks::K20) || x.is_empty() || self.zeros.is_empty() {
            return;
        }
        self.session.observe(checks::K20); // [K20]
        self.zeros.iter_mut().for_each(|prg| V::add_random(prg, x));
    }

    /// Our shares of what a client is told, re-randomised, whatever the number of parties \[K20\].
    pub(crate) fn for_client<V: Shareable>(&mut self, x: &[V], body: &mut Vec<u8>) {
        let mut ours = Zeroizing::new(x.to_vec());
        self.session.observe(checks::K20); // [K20]
        self.client_zeros.iter_mut().for_each(|prg| V::add_random(prg, &mut ours));
        V::pack(&ours, body);
    }

    /// Open what was told: F_ABB's **Open** (Fig. 1), in which the adversary chooses what comes out. With the
    /// shares `m` of the MACs it goes into the next check \[K1\].
    #[inline(never)]
    pub(crate) fn hear<V: Shareable>(&mut self, told: Told<V>, m: &[F]) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        self.hear_by(told, m, F::embedded_public)
    }

    /// The same where the caller knows how the values lie in the field.
    pub(crate) fn hear_by<V: Shareable>(
        &mut self,
        told: Told<V>,
        m: &[F],
        embed: impl Fn(V) -> F,
    ) -> Result<Vec<V>, Abort> {
        let opened = self.received(told)?;
        self.enter(opened.iter().map(|x| embed(*x)), m);
        Ok(opened)
    }

    /// Put opened values into the next check, with our shares of their MACs.
    pub(crate) fn enter(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.ledger.note(x, m);
        self.session.meter().opened(m.len() as u64);
    }

    /// Open pieces of so many bits each, of which exactly these are sent, in one round: lane by lane of the
    /// first, then of the others.
    #[inline(never)]
    pub(crate) fn open_pieces(
        &mut self,
        step: Step,
        pieces: &[Auth<Word32, F>],
        widths: &[usize],
    ) -> Result<Vec<Vec<Word32>>, Abort> {
        let all: Vec<(&Auth<Word32, F>, usize)> = pieces.iter().zip(widths.iter().copied()).collect();
        let bits: usize = all.iter().map(|(piece, width)| piece.len() * width).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(bits / 8 + 8));
        let (mut room, mut used) = (0_u64, 0);
        for (piece, width) in &all {
            for word in &piece.x {
                room |= u64::from(word.0) << used;
                used += width;
                while used >= 8 {
                    bytes.push(Gf8(room as u8));
                    room >>= 8;
                    used -= 8;
                }
            }
        }
        if used > 0 {
            bytes.push(Gf8(room as u8));
        }
        let told = self.tell(step, &bytes)?;
        let opened = self.received(told)?;
        let mut next = opened.iter();
        let (mut room, mut used) = (0_u64, 0);
        let mut out = Vec::with_capacity(all.len());
        for (piece, width) in &all {
            let mut words = Vec::with_capacity(piece.len());
            for _ in 0..piece.len() {
                while used < *width {
                    room |= u64::from(next.next().map_or(0, |byte| byte.0)) << used;
                    used += 8;
                }
                words.push(Word32((room & ((1 << width) - 1)) as u32));
                room >>= width;
                used -= width;
            }
            self.enter(words.iter().map(|word| F::embedded(*word)), &piece.m);
            out.push(words);
        }
        // what fills the last byte is a sharing of zero
        self.session.require(checks::K8, step, room == 0, None)?; // [K8]
        Ok(out)
    }

    /// What all told: our part and everybody's.
    #[inline(never)]
    pub(crate) fn received<V: Shareable>(&mut self, told: Told<V>) -> Result<Vec<V>, Abort> {
        let Told { step, ours } = told;
        // to which all others are added
        let mut opened = ours.into_vec();
        if opened.is_empty() {
            return Ok(opened);
        }
        let mut body = vec![0; V::packed(opened.len())];
        for peer in self.session.peers() {
            self.session.recv(step, peer, &mut body)?;
            let fine = V::add_packed(&body, &mut opened);
            self.session.require(checks::K8, step, fine, Some(peer))?; // [K8]
        }
        taint::public(step, &mut opened);
        if let Some(views) = &mut self.ledger.views {
            body.clear();
            V::pack(&opened, &mut body);
            // the sum of what all told: as if the first party had told it
            views.absorb(PartyId::all(1).next().unwrap_or(self.session.me()), &body);
        }
        Ok(opened)
    }

    /// A mutant's: what was opened last is in no check.
    pub(crate) fn forget(&mut self, check: Check, count: usize) {
        if self.session.mutated(check) {
            let left = self.ledger.x.len().saturating_sub(count);
            self.ledger.x.truncate(left);
            self.ledger.m.truncate(left);
        }
    }

    /// Open, in one round.
    #[inline(never)]
    pub(crate) fn open<V: Shareable>(&mut self, step: Step, x: &[V], m: &[F]) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        let told = self.tell(step, x)?;
        self.hear(told, m)
    }

    /// What was opened so far, taken out to be checked.
    pub(crate) fn take_ledger(&mut self) -> Ledger<F> {
        let views = views(&mut self.session);
        let checked = self.ledger.opened();
        std::mem::replace(&mut self.ledger, Ledger { x: Vec::new(), m: Vec::new(), views, checked })
    }
}

fn views(session: &mut Session) -> Option<Echo> {
    (session.parties() > 2).then(|| Echo::new(session, VIEWS))
}
