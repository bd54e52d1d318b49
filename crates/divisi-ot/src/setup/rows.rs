//! The checked rows that a set-up makes, of any width. Those without a check are in `semi_honest`.
//!
//! Rows come from one type, [`Source`]: the trees, or a dealer in tests. Callers do not see which, so that
//! another source (for example one that expands rows from short seeds) can be added.

use super::{SETUP, Setup};
use crate::abit::produce::{Bits, Produced, produce};
use crate::pads::{Checked, Pads};
use crate::softspoken::layout::{Layout, MACS, Width};
use crate::vole::{Either, Ends, Outcome, Proven, VoleRows};
use crate::{AuthBits, MacShares};
use divisi_core::{Abort, Misuse, Session, wipe};
use zeroize::Zeroizing;

/// How rows are made.
pub(crate) enum Source {
    /// By the trees towards each peer. The flag says whether the Deltas were proven consistent.
    Trees(Ends, bool),
    /// Not at all: an abort has erased everything.
    Erased,
    /// By a dealer with a common seed: tests only.
    #[cfg(feature = "testing")]
    Dealt(Box<crate::dealer::Dealer>),
}

/// What a source makes.
pub(super) enum Given<R> {
    /// Rows from trees.
    Produced(Produced<R>),
    /// The dealer's authenticated bits and pads.
    #[cfg(feature = "testing")]
    Dealt(AuthBits, Pads<Checked>),
}

impl Given<VoleRows> {
    /// Authenticated bits and, if the rows have such columns, pads.
    pub(super) fn split(self, session: &Session) -> (AuthBits, Pads<Checked>) {
        match self {
            Given::Produced(made) => made.split(session),
            #[cfg(feature = "testing")]
            Given::Dealt(bits, pads) => (bits, pads),
        }
    }
}

impl Given<Either> {
    /// Our shares of the MACs of the sums of all parties' bits, and pads.
    pub(super) fn split(self, session: &Session, layout: Layout, delta: u128) -> WideShares {
        let (macs, pads) = match self {
            Given::Produced(made) => made.split(session, layout, delta),
            #[cfg(feature = "testing")]
            Given::Dealt(bits, pads) => (MacShares::dealt(&bits, delta, layout.columns(MACS).len()), pads),
        };
        WideShares { macs, pads }
    }
}

impl Given<Proven> {
    /// Our shares of the MACs of the sums of all parties' bits.
    pub(super) fn shares(self, delta: u128, columns: usize) -> MacShares {
        match self {
            Given::Produced(made) => MacShares::of(made, delta, columns),
            #[cfg(feature = "testing")]
            Given::Dealt(bits, _) => MacShares::dealt(&bits, delta, columns),
        }
    }
}

/// Wide rows at new positions: authenticated bits, and pads under the same bits.
///
/// A bit's pad and its MAC certainly belong to the same bit \[K13\], because both are columns of one row, and
/// one check covers all columns. Positions are always removed from both together.
pub struct WideBits {
    /// The bits with MACs and keys.
    pub bits: AuthBits,
    /// The same bits with their pads.
    pub pads: Pads<Checked>,
}

/// Like [`WideBits`], but with our shares of the MACs of the sums of all parties' bits instead of MACs and
/// keys. As in [`Setup::mac_shares`], columns are added up before they become rows. The pads belong to our
/// own bits, which `macs` also has \[K13\].
pub struct WideShares {
    /// Our bits, and our shares of the MACs of the sums.
    pub macs: MacShares,
    /// Our bits with their pads.
    pub pads: Pads<Checked>,
}

impl WideBits {
    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Removes the first `count` positions and returns them. If there are fewer: `None`, and nothing is
    /// removed.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<WideBits> {
        Some(WideBits { bits: self.bits.take(count)?, pads: self.pads.take(count)? })
    }
}

impl Setup {
    /// Makes random authenticated bits of all parties at `count` new positions, checked. The first call among
    /// three or more parties also proves that everybody's Delta is consistent.
    ///
    /// All parties call it in the same order with the same count, on any strand of the set-up's session.
    /// Memory: 32 bytes for each position and peer. Rounds: 3 between two parties, else 4, and 5 the first
    /// time.
    ///
    /// # Errors
    /// The abort that ends the session; all secrets are erased then.
    pub fn authenticated_bits(&mut self, session: &mut Session, count: usize) -> Result<AuthBits, Abort> {
        self.mac_rows(session, Bits::Random(count))
    }

    /// [`Setup::authenticated_bits`] for bits of our choice, or random ones. Both cost the same.
    ///
    /// # Errors
    /// Those of [`Setup::authenticated_bits`]; [`Abort::Misuse`] if the number of words is not the one that
    /// the bits take.
    pub fn mac_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<AuthBits, Abort> {
        let made = self.rows(session, Width::Macs, bits).map(|(bits, _)| bits);
        #[cfg(feature = "testing")]
        if let Ok(bits) = &made {
            let keys = divisi_core::PartyId::all(self.parties).flat_map(|peer| bits.keys(peer));
            crate::record::note(|records| records.made.extend(keys));
        }
        made
    }

    /// Our shares of the MACs of the sums of all parties' bits, at new positions. The rows and the check are
    /// those of [`Setup::mac_rows`]. But the columns are added up first, and the sum becomes rows only when
    /// it is read. Between two parties it takes f / 4 bytes for each position, a third of what rows take.
    ///
    /// # Errors
    /// Those of [`Setup::mac_rows`].
    pub fn mac_shares(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<MacShares, Abort> {
        let delta = Zeroizing::new(self.deltas.delta.get());
        let columns = self.layout.columns(MACS).len();
        Ok(self.checked::<Proven>(session, Width::Macs, bits)?.shares(*delta, columns))
    }

    /// Wide rows: authenticated bits with pads under the same bits. In all else they are made like those of
    /// [`Setup::mac_rows`]. Memory: 64 bytes for each position and peer.
    ///
    /// # Errors
    /// Those of [`Setup::mac_rows`]; [`Abort::Misuse`] for a set-up that is not over a field.
    pub fn wide_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<WideBits, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, Misuse::KeyMissing));
        }
        let (bits, pads) = self.rows(session, Width::Wide, bits)?;
        Ok(WideBits { bits, pads })
    }

    /// Rows of pads alone, checked like those of MACs. They are random OTs with the same bits towards all
    /// peers, as MASCOT's products need them.
    ///
    /// # Errors
    /// Those of [`Setup::wide_rows`].
    pub fn pad_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<Pads<Checked>, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, Misuse::KeyMissing));
        }
        Ok(self.rows(session, Width::Pads, bits)?.1)
    }

    /// Refuses calls that do not fit this set-up. Either all its rows are checked, or none: in unchecked rows
    /// a malicious party could learn bits of the keys that protect the checked ones \[G14\].
    pub(crate) fn enter(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        checked: bool,
    ) -> Result<(), Abort> {
        if self.session != *session.id().as_bytes() {
            return Err(session.misuse(SETUP, Misuse::OtherSession));
        }
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
        if bits.count() == 0 {
            return Err(session.misuse(SETUP, Misuse::Empty));
        }
        if !bits.are_there() {
            return Err(session.misuse(SETUP, Misuse::CountsDiffer));
        }
        self.admit_rows(session, checked)
    }

    /// Refuses rows while others are under way, because each tree makes its rows in order.
    pub(crate) fn admit_in_order(&self, session: &Session) -> Result<(), Abort> {
        if self.ahead.begun != self.ahead.finished && !matches!(self.source, Source::Erased) {
            return Err(session.misuse(SETUP, Misuse::OutOfOrder));
        }
        Ok(())
    }

    /// Refuses rows without a check beside checked ones.
    pub(super) fn admit_rows(&mut self, session: &Session, checked: bool) -> Result<(), Abort> {
        if *self.checked.get_or_insert(checked) != checked {
            return Err(session.misuse(SETUP, Misuse::SecurityDiffers));
        }
        Ok(())
    }

    /// Rows of this width that passed the check, split into authenticated bits and pads.
    fn rows(
        &mut self,
        session: &mut Session,
        width: Width,
        bits: Bits<'_>,
    ) -> Result<(AuthBits, Pads<Checked>), Abort> {
        Ok(self.checked::<VoleRows>(session, width, bits)?.split(session))
    }

    /// Rows of this width that passed the check, or their columns.
    fn checked<R: Outcome>(
        &mut self,
        session: &mut Session,
        width: Width,
        bits: Bits<'_>,
    ) -> Result<Given<R>, Abort> {
        self.enter(session, bits, true)?;
        self.admit_in_order(session)?;
        // after an error the source stays erased
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                // the proof concerns the Deltas of MACs
                let macs = width != Width::Pads;
                let prove = (self.parties > 2 && !proven && macs).then_some(self.config.rho);
                let asked = (width, bits);
                let made =
                    wipe::stack(|| produce(session, &mut ends, &self.deltas, &mut self.coins, asked, prove));
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven || macs),
                    Err(_) => self.deltas.erase(),
                }
                made.map(Given::Produced)
            }
            Source::Erased => Err(session.misuse(SETUP, Misuse::Erased)),
            #[cfg(feature = "testing")]
            Source::Dealt(mut dealer) => {
                let (bits, pads) = dealer.deal(session, bits, width);
                self.source = Source::Dealt(dealer);
                Ok(Given::Dealt(bits, pads))
            }
        }
    }
}
