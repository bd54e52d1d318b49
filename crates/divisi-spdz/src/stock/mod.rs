//! Preprocessing from disk: made in one session ([`make`]), used in others, each value once ([`FromStock`]).
//!
//! All sessions on a stock use its alpha, one session after the other: a party's process has exclusive use of
//! its part ([`divisi_store::stock::Reserve`]). The argument for one check of MACs (docs/spdz.md, section 2)
//! needs that the first failed check is the last: an abort destroys the stock and its alpha at every party,
//! before the party tells anybody that the session has ended. Before a party sends its sigma, it writes to
//! disk that alpha may become known, until the check has passed; a party that finds this note at a start
//! destroys the stock (attack 1.10). A link lost at any other time reveals nothing about alpha, and leaves
//! the rest of the stock usable.

mod amounts;
#[cfg(test)]
mod fuzz;
mod make;
mod pack;
mod plan;

pub(crate) use amounts::{Needs, contents};

use crate::checks;
#[cfg(feature = "testing")]
pub(crate) use make::write;
pub use make::{Advance, make};
pub use plan::{Lots, StockPlan};

use crate::engine::LOAD_PHASE;
use crate::part::{Mac, Projects, Shareable};
use crate::party::{Alpha, Party, unfit};
use crate::share::Auth;
use crate::source::{KnownBits, Source, Triples, Units};
use divisi_core::{Abort, AtEnd, ComparedDigest, PartyId, Session, Step, step, wipe};
use divisi_field::{Field, Gf2, Gf6, Gf8};
use divisi_net::{Fault, Loss};
use divisi_store::stock::{Count, Reserve, StockError, StockInfo};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroizing;

const AGREE: Step = step!("stock.agree");
const COUNTS: Step = step!("stock.counts");
const TAKE: Step = step!("stock.take");
const USED_UP: Step = step!("stock.used_up");

/// What a party shows instead of a digest when it refuses a stock: no digest is zero.
const ENDS: [u8; 32] = [0; 32];

/// The most series of a stock: one for the bits that each of 32 parties knows, and some for other kinds.
const MOST_SERIES: usize = 48;
/// The bytes of a report about a stock.
const REPORT: usize = 33 + 16 * MOST_SERIES;

fn refused(why: impl Into<String>) -> Abort {
    Abort::Unfit { step: AGREE, why: why.into() }
}

/// Whether an abort means only that a peer is silent, is gone, or ended the session.
fn is_loss(why: &Abort) -> bool {
    matches!(
        why,
        Abort::Network(
            Fault::Stalled { .. }
                | Fault::Lost { reason: Loss::Closed | Loss::Cut | Loss::Own, .. }
                | Fault::Aborted { .. }
        )
    )
}

/// Whether a session ends because of this party's own stock: it is used up, or a file cannot be read or
/// written. No peer did anything.
fn is_unfit(why: &Abort) -> bool {
    matches!(why, Abort::Unfit { .. })
}

/// Decides about a stock when its session aborts: the stock is destroyed, unless a link was lost, or the
/// stock itself gave out, while nobody could learn alpha. Also records whether the session was interrupted:
/// if this party's own stock gave out it was not, and the state is closed with what was taken.
fn at_abort(session: &Session, reserve: &Arc<Reserve>) -> (AtEnd, Arc<AtomicBool>) {
    let (reserve, aborted) = (Arc::clone(reserve), Arc::new(AtomicBool::new(false)));
    let noted = Arc::clone(&aborted);
    let end = session.at_end(move |why| {
        noted.store(!is_unfit(why), Ordering::SeqCst);
        if !(is_loss(why) || is_unfit(why)) || reserve.state().at_risk {
            // if it cannot be removed, its state on disk still says that it is at risk, or the others, who
            // have removed theirs, refuse it
            let _ = reserve.destroy();
        }
    });
    (end, aborted)
}

/// A source that takes preprocessing from a stock on disk.
pub struct FromStock<F: Mac> {
    reserve: Arc<Reserve>,
    /// Whether the session ended by an abort that is not due to this party's own stock.
    aborted: Arc<AtomicBool>,
    _end: AtEnd,
    field: PhantomData<fn() -> F>,
}

impl<F: Mac> FromStock<F> {
    /// The party of a session with the stock's share of alpha, and the source that takes from the stock.
    ///
    /// 1. All parties exchange which stock they have, and how much of each series they made and took. 2. The
    ///    stocks must be the same one. Values that some party lacks are used by nobody, and values that one
    ///    party has taken are taken by nobody again: parties may differ if one of them was interrupted in a
    ///    session. If none was interrupted, a directory was restored from an older copy, and the stock is
    ///    refused \[K23\]. 3. All compare the result, and write it down before anything is used.
    ///
    /// Adversary: n - 1 malicious. A party whose own directory was restored from an older copy uses no value
    /// again that an honest party has recorded as taken; it is told of the copy unless some party was
    /// interrupted. Cost: two rounds.
    ///
    /// # Errors
    /// [`Abort::Unfit`] if the stock is unsuitable; nothing of it was used then. Otherwise the abort that
    /// ends the session.
    pub fn start(session: Session, reserve: Reserve) -> Result<(Party<F>, Self), Abort> {
        FromStock::start_for(session, reserve, &StockPlan::default())
    }

    /// The same for a computation that will take at least `needs`: if less is left, the stock is refused
    /// before anything is taken.
    ///
    /// # Errors
    /// Those of [`FromStock::start`]; [`Abort::Unfit`] at all parties if too little is left.
    pub fn start_for(
        mut session: Session,
        reserve: Reserve,
        needs: &StockPlan,
    ) -> Result<(Party<F>, Self), Abort> {
        let info = reserve.info().clone();
        let alpha = wipe::stack(|| fitting::<F>(&session, &info, reserve.secret()));
        let alpha = alpha.map_err(|abort| session.fail(abort))?;
        // 1.
        let state = reserve.state();
        let body = report(&info.id, state.open, &state.counts);
        for peer in session.peers() {
            session.send(AGREE, peer, &body, 0)?;
        }
        let mut theirs = Vec::new();
        for peer in session.peers() {
            let mut told = [0; REPORT];
            session.recv(AGREE, peer, &mut told)?;
            theirs.push((peer, told));
        }
        // 2.
        let (mut agreed, mut died, mut differs) = (state.counts.clone(), state.open, None);
        for (peer, told) in &theirs {
            let (id, rest) = told.split_at(32);
            if id != info.id {
                let why = format!(
                    "{peer} has another stock than this party: give all parties the parts of one stock"
                );
                return Err(end_together(&mut session, COUNTS, refused(why)));
            }
            let read = counted(rest, agreed.len());
            session.well_formed(AGREE, *peer, told.len(), read.is_some())?;
            let (open, counts) = read.unwrap_or_default();
            died |= open;
            for ((at, count), told) in agreed.iter_mut().enumerate().zip(&counts) {
                if told.taken != state.counts.get(at).map_or(0, |count| count.taken) {
                    differs = Some(*peer);
                }
                count.made = count.made.min(told.made);
                count.taken = count.taken.max(told.taken);
            }
        }
        if let (Some(peer), false) = (differs, died) {
            let why = format!(
                "the stocks of this party and {peer} differ in what was taken, and neither was interrupted: one was copied back \
                 from an older state, whose values were used already; drop it at all parties with `divisi prep drop` and make \
                 another with `divisi prep make`"
            );
            return Err(end_together(&mut session, COUNTS, refused(why)));
        }
        agreed.iter_mut().for_each(|count| count.taken = count.taken.min(count.made));
        for (kind, wanted) in needs.kinds() {
            let series = info.series.iter().position(|series| series.name == kind.name());
            let left = series.and_then(|series| agreed.get(series)).map_or(0, |count| count.left());
            if left < *wanted {
                // all parties agree on what is left, and so on this
                let why = reserve.used_up(kind.name(), *wanted, left).to_string();
                return Err(end_together(&mut session, COUNTS, refused(why)));
            }
        }
        // 3.
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 stock counts v1");
        hasher.update(&info.id);
        for count in &agreed {
            hasher.update(&count.made.to_le_bytes()).update(&count.taken.to_le_bytes());
        }
        session.compare(checks::K23, COUNTS, &hasher.to_compare())?; // [K23]
        session.stored(COUNTS, || reserve.begin(&agreed)).map_err(|e| unfit(&session, COUNTS, &e))?;
        let reserve = Arc::new(reserve);
        let (end, aborted) = at_abort(&session, &reserve);
        let mut party = Party::new(session, alpha)?;
        party.reserve = Some(Arc::clone(&reserve));
        Ok((party, FromStock { reserve, aborted, _end: end, field: PhantomData }))
    }

    /// The next values of a kind, plane by plane; the stock records them as taken before they are read.
    fn next<V: Shareable>(
        &mut self,
        party: &mut Party<F>,
        kind: Lots,
        count: usize,
    ) -> Result<Auth<V, F>, Abort> {
        let phase = party.session.detour(LOAD_PHASE);
        let values = party.session.stored(TAKE, || self.values(kind, count));
        party.session.back(phase);
        values.map_err(|e| match e {
            // all parties agreed on what is left, so that all find this at the same place
            StockError::UsedUp(..) => {
                let why = Abort::Unfit { step: TAKE, why: e.to_string() };
                end_together(&mut party.session, USED_UP, why)
            }
            _ => unfit(&party.session, TAKE, &e),
        })
    }

    fn values<V: Shareable>(&self, kind: Lots, count: usize) -> Result<Auth<V, F>, StockError> {
        let (reserve, planes) = (&self.reserve, kind.planes());
        let mut out = Auth::<V, F>::zeros(planes * count);
        if count == 0 {
            return Ok(out);
        }
        let (name, all) = (kind.name(), &reserve.info().series);
        let place = all.iter().position(|series| series.name == name);
        let series = place.ok_or_else(|| reserve.used_up(name.clone(), count as u64, 0))?;
        let lot = all.get(series).map_or(1, |series| series.lot.max(1));
        let taken = reserve.take(series, count as u64)?;
        let made = reserve.state().counts.get(series).map_or(0, |count| count.made);
        let mut at = 0;
        for number in taken.start / lot..taken.end.div_ceil(lot) {
            let body = reserve.lot(series, number)?;
            let damaged = || StockError::Damaged(name.clone().into(), "a lot is not as long as it must be");
            let (there, lanes) = pack::read::<V, F>(planes, &body).ok_or_else(damaged)?;
            let from = taken.start.saturating_sub(number * lot) as usize;
            let until = (taken.end - number * lot).min(lot) as usize;
            if until > there || from > until {
                return Err(damaged());
            }
            let here = until - from;
            for plane in 0..planes {
                let (to, of) = (plane * count + at, plane * there + from);
                out.x[to..to + here].copy_from_slice(&lanes.x[of..of + here]);
                out.m[to..to + here].copy_from_slice(&lanes.m[of..of + here]);
            }
            at += here;
            if taken.end >= ((number + 1) * lot).min(made) {
                reserve.wipe(series, number)?;
            }
        }
        Ok(out)
    }
}

/// End a session for a reason that every honest party finds by itself, from messages that it may not have
/// read yet. A session that ends delivers nothing more; so each party ends it when all have found the reason,
/// or do not answer.
fn end_together(session: &mut Session, step: Step, why: Abort) -> Abort {
    let all = session.show(step, &ENDS).and_then(|()| {
        session.peers().into_iter().try_for_each(|peer| session.recv(step, peer, &mut [0; 32]))
    });
    // whether they found it or not, the session ends for our reason
    drop(all);
    session.fail(why)
}

/// What a party tells the others: `id | whether a session was interrupted | made and taken of each series`,
/// with zeros after the last series.
fn report(id: &[u8; 32], open: bool, counts: &[Count]) -> [u8; REPORT] {
    let mut body = [0; REPORT];
    let (head, rest) = body.split_at_mut(33);
    head[..32].copy_from_slice(id);
    head[32] = u8::from(open);
    for (place, count) in rest.chunks_exact_mut(16).zip(counts) {
        place[..8].copy_from_slice(&count.made.to_le_bytes());
        place[8..].copy_from_slice(&count.taken.to_le_bytes());
    }
    body
}

/// What a peer's report says after the id, about this many series: whether a session was interrupted, and the
/// counts. `None` if the report is malformed.
fn counted(told: &[u8], series: usize) -> Option<(bool, Vec<Count>)> {
    let (open, rest) = told.split_first()?;
    let (counts, zeros) = rest.split_at_checked(16 * series)?;
    let (numbers, _) = counts.as_chunks::<8>();
    let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let of = |[made, taken]: &[u64; 2]| Count { made: *made, taken: *taken };
    let counts: Vec<Count> = numbers.as_chunks().0.iter().map(of).collect();
    let sound = *open <= 1
        && zeros.iter().all(|byte| *byte == 0)
        && counts.iter().all(|count| count.taken <= count.made);
    sound.then_some((*open == 1, counts))
}

/// Our share of alpha, if the stock belongs to this party, is for this number of parties, and has MACs in
/// this field.
fn fitting<F: Mac>(session: &Session, info: &StockInfo, secret: &[u8]) -> Result<Alpha<F>, Abort> {
    let (me, n, bits) = (session.me(), session.parties(), <F as Field>::BITS as u32);
    if info.party != me.number() {
        return Err(refused(format!(
            "the stock belongs to party {}, not to {me}: give each party its own files",
            info.party
        )));
    }
    if usize::from(info.parties) != n {
        return Err(refused(format!(
            "the stock is for {} parties, not {n}: give as many --parties",
            info.parties
        )));
    }
    if info.field_bits != bits || info.series.len() > MOST_SERIES {
        return Err(refused(format!(
            "the stock has MACs of {} bits, not {bits}: give --field {}",
            info.field_bits, info.field_bits
        )));
    }
    let alpha = <F as Field>::from_le_bytes(secret);
    alpha
        .map(Alpha::new)
        .ok_or_else(|| refused("the stock holds no share of alpha: drop it with `divisi prep drop`"))
}

impl<F: Mac> FromStock<F> {
    /// The next products of a kind, whose factors and products lie plane by plane.
    fn triples<V: Shareable>(
        &mut self,
        party: &mut Party<F>,
        kind: Lots,
        count: usize,
    ) -> Result<Triples<V, F>, Abort> {
        let all: Auth<V, F> = self.next(party, kind, count)?;
        let part = |i: usize| all.part(i * count..(i + 1) * count);
        Ok(Triples { a: part(0), b: part(1), c: part(2) })
    }
}

impl<F: Mac> Source<F> for FromStock<F> {
    fn bits(&mut self, party: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        self.next(party, Lots::Bits, count)
    }

    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort> {
        let shares: Auth<Gf2, F> = self.next(party, Lots::Known { owner }, count)?;
        let ours = party.me() == owner;
        Ok(KnownBits { values: ours.then(|| Zeroizing::new(shares.x.to_vec())), shares })
    }

    fn makes(&self) -> bool {
        false
    }

    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        let all: Auth<Gf2, F> = self.next(party, Lots::Units { log }, lanes)?;
        let s = log * lanes;
        Ok(Units { s: all.part(0..s), vector: all.part(s..all.len()), lanes })
    }

    fn byte_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>,
    {
        self.triples(party, Lots::ByteTriples, count)
    }

    fn six_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>,
    {
        self.triples(party, Lots::SixTriples, count)
    }

    fn bit_triples(&mut self, party: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        self.triples(party, Lots::BitTriples, count)
    }
}

impl<F: Mac> Drop for FromStock<F> {
    fn drop(&mut self) {
        if !self.aborted.load(Ordering::SeqCst) {
            // a state that stays open only says that it may differ from the others'
            let _ = self.reserve.close();
        }
    }
}
