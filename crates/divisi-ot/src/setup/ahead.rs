//! Rows that are begun before they are needed: our corrections travel while the caller works on something
//! else.
//!
//! A batch is a number of wide rows and a number of narrow ones, which a caller that makes products of bits
//! and vectors needs together. [`Setup::begin_ahead`] draws our bits and sends our corrections on a strand
//! that serves nothing else; it waits for nothing. [`Setup::finish_ahead`] receives the peers' corrections
//! from that strand, and checks the rows on the caller's own.
//!
//! Security: only the time at which corrections are sent differs from [`Setup::wide_rows`] and
//! [`Setup::mac_shares`]. Our corrections do not depend on any message that was received. The coin of a
//! batch's check is tossed in `finish_ahead`, after all its corrections are received, and a batch is not used
//! before its check. Each tree makes rows in the order of `begin_ahead` and holds them in that of
//! `finish_ahead`, which must be the same: a batch that is finished out of order, and other rows while a
//! batch is under way, end the session.

use super::rows::Given;
use super::{SETUP, Setup, Source, WideBits};
use crate::abit::produce::{Begun, Bits, begin};
use crate::softspoken::layout::{MACS, Width};
use crate::vole::{Proven, VoleRows};
use crate::{MacShares, wipe};
use divisi_core::{Abort, Session};
use zeroize::Zeroizing;

/// How many batches were begun and finished.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) begun: u64,
    pub(crate) finished: u64,
}

/// Wide and narrow rows under way: our corrections are sent, the peers' are not received, and nothing is
/// checked. Wiped when dropped.
#[must_use = "rows that were begun must be finished"]
pub struct RowsAhead {
    /// The number of this batch among all that were begun.
    number: u64,
    under: Under,
}

enum Under {
    Trees(Box<(Begun<VoleRows>, Begun<Proven>)>),
    /// The counts that a dealer deals later.
    #[cfg(feature = "testing")]
    Dealt(usize, usize),
}

impl Setup {
    /// Begins a batch of wide rows and narrow rows of random bits, with these numbers of rows. `strand` must
    /// be another strand of the session than the one on which they are finished, and carry nothing else. All
    /// parties begin the same batches in the same order. Waits for nothing.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a set-up without a field, another session's
    /// strand, or no positions.
    pub fn begin_ahead(
        &mut self,
        strand: &mut Session,
        wide: usize,
        narrow: usize,
    ) -> Result<RowsAhead, Abort> {
        if self.session != *strand.id().as_bytes() || self.layout.public {
            return Err(strand.misuse(SETUP, "rows ahead in a set-up of another session, or without a field"));
        }
        if wide == 0 || narrow == 0 {
            return Err(strand.misuse(SETUP, "a request for no positions"));
        }
        self.admit_rows(strand, true)?;
        let number = self.ahead.begun;
        self.ahead.begun += 1;
        let under = match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let prove = (self.parties > 2 && !proven).then_some(self.config.rho);
                let made = wipe::stack(|| {
                    strand.exchange(|strand| {
                        let wide = begin(strand, &mut ends, (Width::Wide, Bits::Random(wide)), prove)?;
                        let narrow = begin(strand, &mut ends, (Width::Macs, Bits::Random(narrow)), None)?;
                        Ok(Box::new((wide, narrow)))
                    })
                });
                match made {
                    // no row is handed out before this batch, which has the proof, is finished
                    Ok(_) => self.source = Source::Trees(ends, true),
                    Err(_) => self.deltas.erase(),
                }
                Under::Trees(made?)
            }
            Source::Erased => return Err(strand.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(feature = "testing")]
            Source::Dealt(dealer) => {
                self.source = Source::Dealt(dealer);
                Under::Dealt(wide, narrow)
            }
        };
        Ok(RowsAhead { number, under })
    }

    /// Finishes the oldest batch that was begun: receives the peers' corrections from `strand`, on which it
    /// was begun, and checks the rows on `session`. Rounds on `session`: 2 for each of both kinds of rows
    /// between two parties, else 3, and one more for the first rows of a session.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] for another batch than
    /// the oldest.
    pub fn finish_ahead(
        &mut self,
        session: &mut Session,
        strand: &mut Session,
        ahead: RowsAhead,
    ) -> Result<(WideBits, MacShares), Abort> {
        if ahead.number != self.ahead.finished || self.session != *session.id().as_bytes() {
            return Err(session.misuse(SETUP, "rows that were begun are finished out of order"));
        }
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
        self.ahead.finished += 1;
        let delta = Zeroizing::new(self.deltas.delta.get());
        let columns = self.layout.columns(MACS).len();
        let source = std::mem::replace(&mut self.source, Source::Erased);
        let (wide, narrow) = match (source, ahead.under) {
            (Source::Trees(mut ends, proven), Under::Trees(begun)) => {
                let (mut wide, mut narrow) = *begun;
                let (deltas, coins) = (&self.deltas, &mut self.coins);
                let made: Result<_, Abort> = wipe::stack(|| {
                    let received = strand.exchange(|strand| {
                        let wide = wide.receive(strand, &mut ends, deltas)?;
                        Ok((wide, narrow.receive(strand, &mut ends, deltas)?))
                    })?;
                    session.after_chain(strand.chain());
                    let wide = wide.check(session, &mut ends, deltas, coins, received.0)?;
                    Ok((wide, narrow.check(session, &mut ends, deltas, coins, received.1)?))
                });
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                let (wide, narrow) = made?;
                (Given::Made(wide), Given::Made(narrow))
            }
            #[cfg(feature = "testing")]
            (Source::Dealt(mut dealer), Under::Dealt(wide, narrow)) => {
                let wide = dealer.deal(session, Bits::Random(wide), Width::Wide);
                let narrow = dealer.deal(session, Bits::Random(narrow), Width::Macs);
                self.source = Source::Dealt(dealer);
                (Given::Dealt(wide.0, wide.1), Given::Dealt(narrow.0, narrow.1))
            }
            _ => return Err(session.misuse(SETUP, "an abort has erased the set-up")),
        };
        let (bits, pads) = wide.split(session, self.layout);
        Ok((WideBits { bits, pads }, narrow.shares(*delta, columns)))
    }
}
