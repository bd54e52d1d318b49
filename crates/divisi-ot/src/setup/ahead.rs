//! Rows that are begun before they are needed: our corrections travel while the caller works on something
//! else.
//!
//! A batch is a number of wide rows and a number of narrow ones, which a caller that makes products of bits
//! and vectors needs together. [`Setup::begin_ahead`] draws our bits and sends our corrections on a strand
//! that serves nothing else; it waits for nothing. [`Setup::receive_ahead`] receives the peers' corrections
//! from that strand, and [`Setup::finish_ahead`] checks the rows on the caller's own.
//!
//! Security: only the time at which corrections are sent differs from [`Setup::wide_rows`] and
//! [`Setup::mac_shares`]. Our corrections do not depend on any message that was received. The coin of a
//! batch's check is tossed in `finish_ahead`, which needs the result of `receive_ahead`: so all corrections
//! of the batch were received before. A batch is not used before its check. Each tree makes rows in the order
//! of `begin_ahead` and holds them in that of `receive_ahead`, which must be the same: a batch that is
//! received or finished out of order, and other rows while a batch is under way, end the session.
//!
//! The columns of MACs of wide rows are added up like those of narrow ones, and only their sum becomes rows.

use super::rows::Given;
use super::{SETUP, Setup, Source, WideShares};
use crate::MacShares;
use crate::abit::produce::{Begun, Bits, begin};
use crate::softspoken::TILE;
use crate::softspoken::layout::{MACS, Width};
use crate::vole::{ALL_AHEAD, Columns, Either, PairRows, Proven};
use divisi_core::{Abort, Misuse, Session, wipe};
use zeroize::Zeroizing;

/// How many batches were begun, received and finished; how many products with payloads were begun and
/// finished in two halves.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) begun: u64,
    pub(crate) received: u64,
    pub(crate) finished: u64,
    pub(crate) products_begun: u64,
    pub(crate) products_finished: u64,
}

/// Wide and narrow rows under way: our corrections are sent, the peers' are not received, and nothing is
/// checked. Wiped when dropped.
#[must_use = "rows that were begun must be finished"]
pub struct PreprocessedRows {
    session: [u8; 32],
    /// The number of this batch among all that were begun.
    number: u64,
    under: Under,
}

/// Rows of which all corrections are here, and nothing is checked. Wiped when dropped.
#[must_use = "rows that were received must be finished"]
pub struct RowsReceived {
    session: [u8; 32],
    number: u64,
    /// The length of the longest chain of messages after which they were received, for the count of rounds.
    chain: u32,
    of: Of,
}

enum Of {
    Trees(Box<(Begun<Either>, Begun<Proven>, [PairRows<Columns>; 2])>),
    #[cfg(feature = "testing")]
    Dealt(usize, usize),
}

enum Under {
    Trees(Box<(Begun<Either>, Begun<Proven>)>),
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
    ) -> Result<PreprocessedRows, Abort> {
        if self.session != *strand.id().as_bytes() {
            return Err(strand.misuse(SETUP, Misuse::OtherSession));
        }
        if self.layout.public {
            return Err(strand.misuse(SETUP, Misuse::KeyMissing)); // there are no fields
        }
        if wide == 0 || narrow == 0 {
            return Err(strand.misuse(SETUP, Misuse::Empty));
        }
        if self.layout.columns(MACS).len() >= TILE {
            return Err(strand.misuse(SETUP, Misuse::Unsupported));
        }
        self.admit_rows(strand, true)?;
        let number = self.ahead.begun;
        self.ahead.begun += 1;
        let under = match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let prove = (self.parties > 2 && !proven).then_some(self.config.rho);
                let made = wipe::stack(|| {
                    strand.exchange(|strand| {
                        let (wide, narrow) = (Bits::Random(wide), Bits::Random(narrow));
                        let wide = begin(strand, &mut ends, (Width::Wide, wide), prove, ALL_AHEAD)?;
                        let narrow = begin(strand, &mut ends, (Width::Macs, narrow), None, ALL_AHEAD)?;
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
            Source::Erased => return Err(strand.misuse(SETUP, Misuse::Erased)),
            #[cfg(feature = "testing")]
            Source::Dealt(dealer) => {
                self.source = Source::Dealt(dealer);
                Under::Dealt(wide, narrow)
            }
        };
        Ok(PreprocessedRows { session: self.session, number, under })
    }

    /// Receives the peers' corrections of the oldest batch that was begun, from the strand on which it was.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] for another batch than
    /// the oldest, and for another session's.
    pub fn receive_ahead(
        &mut self,
        strand: &mut Session,
        ahead: PreprocessedRows,
    ) -> Result<RowsReceived, Abort> {
        let of = *strand.id().as_bytes();
        if self.session != of || ahead.session != of || ahead.number != self.ahead.received {
            return Err(strand.misuse(SETUP, Misuse::OutOfOrder));
        }
        self.erase_after_abort(strand);
        self.ahead.received += 1;
        let number = ahead.number;
        let of = match (std::mem::replace(&mut self.source, Source::Erased), ahead.under) {
            (Source::Trees(mut ends, proven), Under::Trees(begun)) => {
                let (mut wide, mut narrow) = *begun;
                let deltas = &self.deltas;
                let received: Result<_, Abort> = wipe::stack(|| {
                    strand.exchange(|strand| {
                        let wide = wide.receive(strand, &mut ends, deltas)?;
                        Ok([wide, narrow.receive(strand, &mut ends, deltas)?])
                    })
                });
                match received {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                Of::Trees(Box::new((wide, narrow, received?)))
            }
            #[cfg(feature = "testing")]
            (Source::Dealt(dealer), Under::Dealt(wide, narrow)) => {
                self.source = Source::Dealt(dealer);
                Of::Dealt(wide, narrow)
            }
            _ => return Err(strand.misuse(SETUP, Misuse::Erased)),
        };
        Ok(RowsReceived { session: self.session, number, chain: strand.chain(), of })
    }

    /// Erases all secrets if the session has ended.
    pub(super) fn erase_after_abort(&mut self, session: &Session) {
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
    }

    /// Checks the rows of the oldest batch that was begun. Rounds: 2 for each of both kinds of rows between
    /// two parties, else 3, and one more for the first rows of a session.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] for another batch than
    /// the oldest, and for another session's.
    pub fn finish_ahead(
        &mut self,
        session: &mut Session,
        ahead: RowsReceived,
    ) -> Result<(WideShares, MacShares), Abort> {
        let of = *session.id().as_bytes();
        if self.session != of || ahead.session != of || ahead.number != self.ahead.finished {
            return Err(session.misuse(SETUP, Misuse::OutOfOrder));
        }
        self.erase_after_abort(session);
        self.ahead.finished += 1;
        session.after_chain(ahead.chain);
        let delta = Zeroizing::new(self.deltas.delta.get());
        let columns = self.layout.columns(MACS).len();
        let source = std::mem::replace(&mut self.source, Source::Erased);
        let (wide, narrow) = match (source, ahead.of) {
            (Source::Trees(mut ends, proven), Of::Trees(received)) => {
                let (wide, narrow, [of_wide, of_narrow]) = *received;
                let (deltas, coins) = (&self.deltas, &mut self.coins);
                let made: Result<_, Abort> = wipe::stack(|| {
                    let wide = wide.check(session, &mut ends, deltas, coins, of_wide)?;
                    Ok((wide, narrow.check(session, &mut ends, deltas, coins, of_narrow)?))
                });
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven),
                    Err(_) => self.deltas.erase(),
                }
                let (wide, narrow) = made?;
                (Given::Produced(wide), Given::Produced(narrow))
            }
            #[cfg(feature = "testing")]
            (Source::Dealt(mut dealer), Of::Dealt(wide, narrow)) => {
                let wide = dealer.deal(session, Bits::Random(wide), Width::Wide);
                let narrow = dealer.deal(session, Bits::Random(narrow), Width::Macs);
                self.source = Source::Dealt(dealer);
                (Given::Dealt(wide.0, wide.1), Given::Dealt(narrow.0, narrow.1))
            }
            _ => return Err(session.misuse(SETUP, Misuse::Erased)),
        };
        Ok((wide.split(session, self.layout, *delta), narrow.shares(*delta, columns)))
    }
}
