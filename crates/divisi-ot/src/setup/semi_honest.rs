//! Rows of pads without a check, for protocols against semi-honest parties.
//!
//! [`Setup::begin_semi_honest`] draws our bits and sends our corrections, and waits for nothing;
//! [`Setup::finish_semi_honest`] receives those of the peers. Our corrections do not depend on any message
//! that was received, so only the time at which the peers' are read differs from
//! [`Setup::semi_honest_rows`]. Each tree makes its rows in the order of beginning, so rows are finished in
//! this order too; another order ends the session.

use super::{SETUP, Setup, Source};
use crate::abit::produce::{Bits, packed};
use crate::links::Links;
use crate::pads::{Pads, Part, SemiHonest};
use crate::softspoken::TILE;
use crate::softspoken::layout::Width;
use crate::vole::{AHEAD, ALL_AHEAD, ByGroup, Columns, Extension, Outcome, PairRows, Request, VoleRows};
use divisi_core::{Abort, Misuse, Session, wipe};
use zeroize::Zeroizing;

/// Unchecked rows under way: our corrections are sent, the peers' are not received. Wiped when dropped.
#[must_use = "rows that were begun must be finished"]
pub struct SemiHonestPreprocessed {
    session: [u8; 32],
    /// The number among all rows of the set-up that were begun.
    number: u64,
    under: Under,
}

enum Under {
    /// How many rows there are, and our bits, one word for each tile.
    Trees(Box<Extension>, usize, Zeroizing<Vec<u128>>),
    #[cfg(feature = "testing")]
    Dealt(Pads<SemiHonest>),
}

impl Setup {
    /// Rows of pads without a check, in the directions of `links`, for protocols against semi-honest parties.
    /// One round. Memory: 16 bytes for each position and direction. Cost: ceil(128 / k) bits for each
    /// position, to each peer towards which we have bits. A set-up that makes such rows makes no others.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if this set-up makes rows with a check.
    pub fn semi_honest_rows(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        links: Links,
    ) -> Result<Pads<SemiHonest>, Abort> {
        self.enter(session, bits, false)?;
        self.admit_in_order(session)?;
        session.exchange(|session| {
            let ahead = self.correct(session, bits, links, AHEAD)?;
            self.finish_semi_honest(session, ahead)
        })
    }

    /// The first half of [`Setup::semi_honest_rows`]: sends our corrections for all rows. All parties begin
    /// and finish the same rows in the same order. What is sent to a peer in between, on the same strand, it
    /// receives in between too. All of our corrections may be on their way at once, so there should not be
    /// many of them.
    ///
    /// # Errors
    /// Those of [`Setup::semi_honest_rows`].
    pub fn begin_semi_honest(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        links: Links,
    ) -> Result<SemiHonestPreprocessed, Abort> {
        self.enter(session, bits, false)?;
        self.correct(session, bits, links, ALL_AHEAD)
    }

    /// Draws our bits, and sends at most `ahead` chunks of corrections.
    #[cfg_attr(feature = "testing", track_caller)]
    fn correct(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        links: Links,
        ahead: usize,
    ) -> Result<SemiHonestPreprocessed, Abort> {
        let number = self.ahead.begun;
        self.ahead.begun += 1;
        let (count, tiles) = (bits.count(), bits.count().div_ceil(TILE));
        let under = match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let x = Zeroizing::new(bits.tiles(session, tiles));
                let x_of = vec![x.as_slice(); self.parties];
                let request = Request { width: Width::Pads, each: VoleRows::each, tiles, links, ahead };
                let begun = wipe::stack(|| session.exchange(|session| ends.begin(session, request, &x_of)));
                match begun {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                Under::Trees(Box::new(begun?), count, x)
            }
            Source::Erased => return Err(session.misuse(SETUP, Misuse::Erased)),
            #[cfg(feature = "testing")]
            Source::Dealt(mut dealer) => {
                let dealt = dealer.deal_pads(session, bits, |from, to| links.makes(session, from, to));
                self.source = Source::Dealt(dealer);
                Under::Dealt(dealt)
            }
        };
        Ok(SemiHonestPreprocessed { session: self.session, number, under })
    }

    /// The second half: receives the peers' corrections.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] for another session's
    /// rows, and for others than the oldest that were begun.
    pub fn finish_semi_honest(
        &mut self,
        session: &mut Session,
        ahead: SemiHonestPreprocessed,
    ) -> Result<Pads<SemiHonest>, Abort> {
        let of = *session.id().as_bytes();
        if self.session != of || ahead.session != of || ahead.number != self.ahead.finished {
            return Err(session.misuse(SETUP, Misuse::OutOfOrder));
        }
        self.erase_after_abort(session);
        self.ahead.finished += 1;
        match (std::mem::replace(&mut self.source, Source::Erased), ahead.under) {
            (Source::Trees(mut ends, proven), Under::Trees(begun, count, x)) => {
                let x_of = vec![x.as_slice(); self.parties];
                let made: Result<PairRows<Columns>, Abort> =
                    wipe::stack(|| ends.finish(session, *begun, &x_of, &self.deltas));
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                let PairRows { macs, keys } = made?.semi_honest();
                let group = self.layout.pads();
                let of = |rows: Vec<ByGroup<VoleRows>>| {
                    rows.into_iter().map(|mut rows| rows[group].take().map(Part::of)).collect()
                };
                Ok(Pads::new(session, count, packed(&x).to_vec(), of(macs), of(keys)))
            }
            #[cfg(feature = "testing")]
            (Source::Dealt(dealer), Under::Dealt(dealt)) => {
                self.source = Source::Dealt(dealer);
                Ok(dealt)
            }
            _ => Err(session.misuse(SETUP, Misuse::Erased)),
        }
    }
}
