//! What is asked of a set-up: rows of any width, checked or semi-honest.
//!
//! Rows come from behind one type, [`Source`]: trees, or a dealer in tests. What asks for them does not see
//! which, so that another source (one that expands them from short seeds) can stand beside it.

use super::{SETUP, Setup};
use crate::abit::produce::{Bits, Produced, packed, produce};
use crate::links::Links;
use crate::pads::{Checked, Pads, Part, SemiHonest};
use crate::softspoken::TILE;
use crate::softspoken::layout::{MACS, Width};
use crate::vole::{ByGroup, Ends, Made, Outcome, Proven, Request, VoleRows};
use crate::{AuthBits, MacShares, wipe};
use divisi_core::{Abort, Session};
use zeroize::Zeroizing;

/// Where authenticated bits come from.
pub(crate) enum Source {
    /// The trees towards each peer; whether the Deltas were proven consistent.
    Trees(Ends, bool),
    /// An abort has erased everything.
    Erased,
    /// A common seed: tests only.
    #[cfg(feature = "testing")]
    Dealt(Box<crate::dealer::Dealer>),
}

/// What a source gives.
enum Given<R> {
    /// From trees.
    Made(Produced<R>),
    /// By the dealer, what is handed out.
    #[cfg(feature = "testing")]
    Dealt(AuthBits, Pads<Checked>),
}

/// Wide rows at new positions: authenticated bits, and pads under the same bits.
///
/// That both are columns of one row, and the check one relation over all of them, is what makes a bit's pad
/// and its MAC belong to one bit \[K13\]: positions are moved out of both together.
pub struct WideBits {
    /// The bits with MACs and keys.
    pub bits: AuthBits,
    /// The same bits with their pads.
    pub pads: Pads<Checked>,
}

impl WideBits {
    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Move the first `count` positions out; `None`, and nothing moved, if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<WideBits> {
        Some(WideBits { bits: self.bits.take(count)?, pads: self.pads.take(count)? })
    }
}

impl Setup {
    /// Random authenticated bits of all parties at `count` new positions, checked. The first call among three
    /// or more parties also proves everybody's Delta consistent.
    ///
    /// All parties call it in the same order with the same count, on any strand of the set-up's session. It
    /// holds 32 bytes a position and peer; 3 rounds between two parties, else 4, and 5 the first time.
    ///
    /// # Errors
    /// The abort that ends the session; everything secret is erased then.
    pub fn authenticated_bits(&mut self, session: &mut Session, count: usize) -> Result<AuthBits, Abort> {
        self.mac_rows(session, Bits::Random(count))
    }

    /// The same for bits of our choice too: [`Setup::authenticated_bits`]. Chosen bits cost what random ones
    /// do.
    ///
    /// # Errors
    /// As [`Setup::authenticated_bits`]; [`Abort::Misuse`] if there are fewer words than bits.
    pub fn mac_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<AuthBits, Abort> {
        let made = self.rows(session, Width::Macs, bits).map(|(bits, _)| bits);
        #[cfg(feature = "testing")]
        if let Ok(bits) = &made {
            let keys = divisi_core::PartyId::all(self.parties).flat_map(|peer| bits.keys(peer));
            crate::record::note(|records| records.made.extend(keys));
        }
        made
    }

    /// Our shares of the MACs of the sums of all parties' bits, at new positions: the same rows as
    /// [`Setup::mac_rows`], with the same check, whose columns are added up and become rows only where
    /// somebody asks for them. Of two parties it holds f / 4 bytes a position, a third of what rows take.
    ///
    /// # Errors
    /// As [`Setup::mac_rows`].
    pub fn mac_shares(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<MacShares, Abort> {
        let delta = Zeroizing::new(self.deltas.delta.get());
        let columns = self.layout.columns(MACS).len();
        Ok(match self.checked::<Proven>(session, Width::Macs, bits)? {
            Given::Made(made) => MacShares::of(made, *delta, columns),
            #[cfg(feature = "testing")]
            Given::Dealt(bits, _) => MacShares::dealt(&bits, *delta, columns),
        })
    }

    /// Wide rows: authenticated bits with pads under the same bits; otherwise as [`Setup::mac_rows`], with 64
    /// bytes a position and peer.
    ///
    /// # Errors
    /// As [`Setup::mac_rows`]; [`Abort::Misuse`] for a set-up that is not over a field.
    pub fn wide_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<WideBits, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, "wide rows in a set-up without a field"));
        }
        let (bits, pads) = self.rows(session, Width::Wide, bits)?;
        Ok(WideBits { bits, pads })
    }

    /// Rows of pads alone, checked like those of MACs: random OTs with the same bits towards all peers, as
    /// MASCOT's products need them.
    ///
    /// # Errors
    /// As [`Setup::wide_rows`].
    pub fn pad_rows(&mut self, session: &mut Session, bits: Bits<'_>) -> Result<Pads<Checked>, Abort> {
        if self.layout.public {
            return Err(session.misuse(SETUP, "checked rows of pads in a set-up without a field"));
        }
        // the mutant's pads are those of the columns that authenticate
        let apart = self.layout.hashed(session) == self.layout.pads();
        let width = if apart { Width::Pads } else { Width::Macs };
        Ok(self.rows(session, width, bits)?.1)
    }

    /// Rows of pads that no check stands behind, the next ones in the directions of `links`: for protocols in
    /// which all parties do what they should, and some of them look. One round; 16 bytes a position and
    /// direction, and ceil(128 / k) bits a position towards each peer that we have bits for. A set-up that
    /// gives such rows gives no others.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a set-up whose rows are checked.
    pub fn semi_honest_rows(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        links: Links,
    ) -> Result<Pads<SemiHonest>, Abort> {
        self.enter(session, bits, false)?;
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                let tiles = bits.count().div_ceil(TILE);
                let x = Zeroizing::new(bits.tiles(session, tiles));
                let x_of = vec![x.as_slice(); self.parties];
                let request = Request { width: Width::Pads, each: VoleRows::each, tiles, x: &x_of, links };
                let made = wipe::stack(|| ends.extend(session, request, &self.deltas));
                let rows = match made {
                    Ok(made) => made.semi_honest(),
                    Err(abort) => {
                        self.deltas.erase();
                        return Err(abort);
                    }
                };
                self.source = Source::Trees(ends, proven);
                let group = self.layout.pads();
                let of = |rows: Vec<ByGroup<VoleRows>>| {
                    rows.into_iter().map(|mut rows| rows[group].take().map(Part::of)).collect()
                };
                let Made { macs, keys } = rows;
                Ok(Pads::new(session, bits.count(), packed(&x).to_vec(), of(macs), of(keys)))
            }
            Source::Erased => Err(session.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(feature = "testing")]
            Source::Dealt(mut dealer) => {
                let dealt = dealer.deal_pads(session, bits, |from, to| links.makes(session, from, to));
                self.source = Source::Dealt(dealer);
                Ok(dealt)
            }
        }
    }

    /// Refuse what cannot be asked of this set-up. All its rows are checked, or none: who may lie in some of
    /// them learns bits of the keys that the others are under \[G14\].
    pub(crate) fn enter(
        &mut self,
        session: &mut Session,
        bits: Bits<'_>,
        checked: bool,
    ) -> Result<(), Abort> {
        if self.session != *session.id().as_bytes() {
            return Err(session.misuse(SETUP, "the set-up of another session"));
        }
        if session.cause().is_some() {
            self.source = Source::Erased;
            self.deltas.erase();
        }
        if bits.count() == 0 {
            return Err(session.misuse(SETUP, "authenticated bits at no position"));
        }
        if !bits.are_there() {
            return Err(session.misuse(SETUP, "not one word for each chosen bit"));
        }
        if *self.checked.get_or_insert(checked) != checked {
            return Err(session.misuse(SETUP, "rows with a check and without one from one set-up"));
        }
        Ok(())
    }

    /// Rows of this width, split into what authenticates and pads.
    fn rows(
        &mut self,
        session: &mut Session,
        width: Width,
        bits: Bits<'_>,
    ) -> Result<(AuthBits, Pads<Checked>), Abort> {
        Ok(match self.checked::<VoleRows>(session, width, bits)? {
            Given::Made(made) => made.split(session, self.layout),
            #[cfg(feature = "testing")]
            Given::Dealt(bits, pads) => (bits, pads),
        })
    }

    /// Rows of this width that passed the check, or their columns.
    fn checked<R: Outcome>(
        &mut self,
        session: &mut Session,
        width: Width,
        bits: Bits<'_>,
    ) -> Result<Given<R>, Abort> {
        self.enter(session, bits, true)?;
        // what fails on the way is not put back
        match std::mem::replace(&mut self.source, Source::Erased) {
            Source::Trees(mut ends, proven) => {
                // the proof is about the Deltas of MACs
                let macs = width != Width::Pads;
                let prove = (self.parties > 2 && !proven && macs).then_some(self.config.rho);
                let asked = (width, bits);
                let made =
                    wipe::stack(|| produce(session, &mut ends, &self.deltas, &mut self.coins, asked, prove));
                match made {
                    Ok(_) => self.source = Source::Trees(ends, proven || macs),
                    Err(_) => self.deltas.erase(),
                }
                made.map(Given::Made)
            }
            Source::Erased => Err(session.misuse(SETUP, "an abort has erased the set-up")),
            #[cfg(feature = "testing")]
            Source::Dealt(mut dealer) => {
                let (bits, pads) = dealer.deal(session, bits, width);
                self.source = Source::Dealt(dealer);
                Ok(Given::Dealt(bits, pads))
            }
        }
    }
}
