//! Making a stock: preprocessing goes to disk lot by lot, each checked before it is written.

use super::pack::body;
use super::{Lots, StockPlan, at_abort};
use crate::checks;
use crate::exact::Exact;
use crate::part::{Host, Mac, Shareable};
use crate::party::{Party, unfit};
use crate::prep::{Bucketed, Mascot, Preparation};
use crate::share::Auth;
use crate::source::{Source, Triples};
use divisi_core::{Abort, ComparedDigest, Session, Step, step, wipe};
use divisi_ot::SetupConfig;
use divisi_store::stock::{Reserve, StockError};
use std::sync::Arc;
use zeroize::Zeroizing;

const MADE: Step = step!("stock.made");

/// A callback for progress: how many turns are done, and of how many. A turn makes lots of all kinds, and
/// there are as many turns as the kind with the most lots has lots.
pub type Advance<'p> = &'p mut dyn FnMut(u64, u64);

/// Make a stock in a session of its own. The stock has the id and the alpha of this session. Only the
/// sessions that take from the stock have the same alpha. `create` creates the store, given the id and this
/// party's share of alpha.
///
/// Lots of all kinds are made in turn, so that an interrupted run leaves some values of each kind. The
/// openings of a lot are checked before it is written \[K17\]; at the end the parties compare what they have.
///
/// Adversary: that of the preparation. An abort destroys what was made. After the loss of a link it remains,
/// unless a check was in progress.
///
/// # Errors
/// [`Abort::Unfit`] if the stock cannot be written; otherwise the abort that ends the session.
pub fn make<F: Host>(
    session: Session,
    preparation: Preparation,
    config: SetupConfig,
    plan: &StockPlan,
    create: impl FnOnce([u8; 32], Zeroizing<Vec<u8>>) -> Result<Reserve, StockError>,
    progress: Advance<'_>,
) -> Result<(), Abort> {
    let (party, source): (Party<F>, Box<dyn Source<F>>) = match preparation {
        Preparation::Bucketed => {
            let (party, source) = Bucketed::start(session, config)?;
            (party, Box::new(source))
        }
        Preparation::Mascot => {
            let (party, source) = Mascot::start(session, config)?;
            (party, Box::new(source))
        }
    };
    write(party, source, plan, create, progress)
}

/// [`make`] by a party with a source of preprocessing.
pub(crate) fn write<F: Host>(
    mut party: Party<F>,
    source: Box<dyn Source<F>>,
    plan: &StockPlan,
    create: impl FnOnce([u8; 32], Zeroizing<Vec<u8>>) -> Result<Reserve, StockError>,
    progress: Advance<'_>,
) -> Result<(), Abort> {
    let mut source = Exact::new(source);
    let secret = wipe::stack(|| secret(&party))?;
    let reserve =
        create(*party.session.id().as_bytes(), secret).map_err(|e| unfit(&party.session, MADE, &e))?;
    let reserve = Arc::new(reserve);
    let (_end, _) = at_abort(&party.session, &reserve);
    party.reserve = Some(Arc::clone(&reserve));
    let made = fill(&mut party, &mut source, plan, &reserve, progress);
    if matches!(made, Err(Abort::Unfit { .. })) {
        // the stock cannot be written to the end, as a rule because the disk is full: a part of it is of no
        // use, and its room is needed
        reserve.destroy().map_err(|e| unfit(&party.session, MADE, &e))?;
    }
    made
}

/// Our share of alpha, as the stock keeps it.
fn secret<F: Host>(party: &Party<F>) -> Result<Zeroizing<Vec<u8>>, Abort> {
    let alpha = Zeroizing::new(party.alpha()?);
    Ok(Zeroizing::new(alpha.to_le_bytes().as_ref().to_vec()))
}

fn fill<F: Host>(
    party: &mut Party<F>,
    source: &mut dyn Source<F>,
    plan: &StockPlan,
    reserve: &Reserve,
    progress: Advance<'_>,
) -> Result<(), Abort> {
    let lots = |(kind, count): &(Lots, u64)| count.div_ceil(kind.lot() as u64);
    let turns = plan.kinds().iter().map(lots).max().unwrap_or(0);
    for (kind, count) in plan.kinds() {
        if let Lots::Units { log } = kind {
            source.foresee(*log, usize::try_from(*count).unwrap_or(usize::MAX));
        }
    }
    for turn in 1..=turns {
        progress(turn - 1, turns);
        for (series, of @ (kind, planned)) in plan.kinds().iter().enumerate() {
            // as many values of each kind as are due after this many turns
            let due = (u128::from(lots(of)) * u128::from(turn)).div_ceil(u128::from(turns));
            let due = u64::try_from(due).unwrap_or(u64::MAX).saturating_mul(kind.lot() as u64).min(*planned);
            let mut there: u64 = reserve.state().counts.get(series).map_or(0, |count| count.made);
            while there < due {
                let count = (due - there).min(kind.lot() as u64);
                let lot = lot(party, source, *kind, usize::try_from(count).unwrap_or(0))?;
                let put = party.session.stored(MADE, || reserve.put(series, count, &lot));
                put.map_err(|e| unfit(&party.session, MADE, &e))?;
                there += count;
            }
        }
    }
    let mut made = blake3::Hasher::new();
    for count in &reserve.state().counts {
        made.update(&count.made.to_le_bytes());
    }
    party.session.compare(checks::M0_3, MADE, &made.to_compare())?; // [M0.3]
    party.session.stored(MADE, || reserve.close()).map_err(|e| unfit(&party.session, MADE, &e))
}

/// Make values of one kind, check them, and encode them as they are stored on disk.
fn lot<F: Host>(
    party: &mut Party<F>,
    source: &mut dyn Source<F>,
    kind: Lots,
    count: usize,
) -> Result<Zeroizing<Vec<u8>>, Abort> {
    let lot = match kind {
        Lots::Units { log } => {
            let units = source.units(party, log, count)?;
            let mut all = Auth::with_capacity(units.s.len() + units.vector.len());
            all.append(&units.s);
            all.append(&units.vector);
            body(count, &all)
        }
        Lots::Bits => body(count, &source.bits(party, count)?),
        Lots::Known { owner } => body(count, &source.known(party, owner, count)?.shares),
        Lots::ByteTriples => {
            let triples = source.byte_triples(party, count)?;
            body(count, &joined(&triples))
        }
        Lots::SixTriples => {
            let triples = source.six_triples(party, count)?;
            body(count, &joined(&triples))
        }
        Lots::BitTriples => {
            let triples = source.bit_triples(party, count)?;
            body(count, &joined(&triples))
        }
    };
    party.check_opened()?; // [K17]
    Ok(lot)
}

/// The factors and then the products of all triples.
fn joined<V: Shareable, F: Mac>(triples: &Triples<V, F>) -> Auth<V, F> {
    let mut all = Auth::with_capacity(3 * triples.a.len());
    [&triples.a, &triples.b, &triples.c].into_iter().for_each(|of| all.append(of));
    all
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::source::{KnownBits, Units};
    use crate::stock::pack::read;
    use divisi_core::testing::run;
    use divisi_core::{PartyId, PublicParameters};
    use divisi_field::{Field, Gf2, Gf6, Gf8, Gf48};

    const COUNT: usize = 100;

    /// The shares of the MACs in a lot, in each of whose planes not all shares are equal.
    fn macs<V: Shareable>(kind: Lots, lot: &[u8]) -> Vec<u128> {
        let (count, all) = read::<V, Gf48>(kind.planes(), lot).unwrap();
        assert_eq!((count, all.len()), (COUNT, COUNT * kind.planes()));
        for plane in all.x.chunks(COUNT) {
            assert!(plane.iter().any(|x| *x != plane[0]), "{kind:?}");
        }
        all.m.iter().map(|m| m.to_bits()).collect()
    }

    /// \[K17\] When a lot is made, all that was opened for it is checked: it goes to disk next.
    #[test]
    fn a_lot_owes_no_check() {
        let ends = run(2, &PublicParameters::new("lots"), |session| {
            let (mut party, mut source) = Bucketed::<Gf48>::start(session, SetupConfig::default())?;
            lot(&mut party, &mut source, Lots::Units { log: 3 }, 2)?;
            Ok((party.ledger.opened(), party.ledger.checked))
        });
        for end in ends {
            let (opened, checked) = end.unwrap();
            assert!(opened > 0 && checked == opened, "{checked} of {opened}");
        }
    }

    /// A source that opens a bit whatever it is asked for, and makes nothing.
    struct Opens(Dealer<Gf48>);

    impl Opens {
        fn open(&mut self, party: &mut Party<Gf48>) -> Result<(), Abort> {
            let bit = self.0.bits(party, 1)?;
            party.open(MADE, &bit.x, &bit.m).map(drop)
        }
    }

    impl Source<Gf48> for Opens {
        fn bits(&mut self, party: &mut Party<Gf48>, _: usize) -> Result<Auth<Gf2, Gf48>, Abort> {
            self.open(party).map(|()| Auth::default())
        }

        fn known(&mut self, party: &mut Party<Gf48>, _: PartyId, _: usize) -> Result<KnownBits<Gf48>, Abort> {
            self.open(party).map(|()| KnownBits { values: None, shares: Auth::default() })
        }

        fn units(&mut self, party: &mut Party<Gf48>, _: usize, lanes: usize) -> Result<Units<Gf48>, Abort> {
            self.open(party).map(|()| Units { s: Auth::default(), vector: Auth::default(), lanes })
        }

        fn byte_triples(&mut self, party: &mut Party<Gf48>, _: usize) -> Result<Triples<Gf8, Gf48>, Abort> {
            self.open(party).map(|()| Triples::default())
        }

        fn six_triples(&mut self, party: &mut Party<Gf48>, _: usize) -> Result<Triples<Gf6, Gf48>, Abort> {
            self.open(party).map(|()| Triples::default())
        }

        fn bit_triples(&mut self, party: &mut Party<Gf48>, _: usize) -> Result<Triples<Gf2, Gf48>, Abort> {
            self.open(party).map(|()| Triples::default())
        }
    }

    /// \[K17\] The same for lots of every kind, small ones and full ones.
    #[test]
    fn no_lot_of_any_kind_and_size_owes_a_check() {
        let kinds = [Lots::Bits, Lots::ByteTriples, Lots::SixTriples, Lots::BitTriples];
        let known = [PartyId::P1, PartyId::P2].map(|owner| Lots::Known { owner });
        let units = (1..=16).map(|log| Lots::Units { log });
        let kinds: Vec<Lots> = kinds.into_iter().chain(known).chain(units).collect();
        let ends = run(2, &PublicParameters::new("lots of any size"), |session| {
            let (mut party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut source = Opens(dealer);
            let mut owing = Vec::new();
            for kind in &kinds {
                for count in [1, 2, kind.lot() / 2, kind.lot() - 1, kind.lot()] {
                    let before = party.ledger.checked;
                    lot(&mut party, &mut source, *kind, count)?;
                    if [party.ledger.opened(), party.ledger.checked] != [before + 1; 2] {
                        owing.push((*kind, count));
                    }
                }
            }
            Ok(owing)
        });
        assert!(ends.iter().all(|end| end.as_ref().is_ok_and(Vec::is_empty)), "{ends:?}");
    }

    #[test]
    fn no_two_values_of_a_lot_are_alike() {
        let ends = run(2, &PublicParameters::new("lots"), |session| {
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut all = Vec::new();
            for kind in [
                Lots::Units { log: 3 },
                Lots::Bits,
                Lots::Known { owner: PartyId::P2 },
                Lots::ByteTriples,
                Lots::SixTriples,
                Lots::BitTriples,
            ] {
                let lot = lot(&mut party, &mut dealer, kind, COUNT)?;
                all.extend(match kind {
                    Lots::ByteTriples => macs::<Gf8>(kind, &lot),
                    Lots::SixTriples => macs::<Gf6>(kind, &lot),
                    _ => macs::<Gf2>(kind, &lot),
                });
            }
            Ok(all)
        });
        for end in ends {
            let mut macs = end.unwrap();
            let count = macs.len();
            macs.sort_unstable();
            macs.dedup();
            assert_eq!(macs.len(), count);
        }
    }
}
