//! A dealer of correlations, for tests in one process (feature `testing`; never part of a build that holds
//! real secrets).

use crate::abit::produce::Bits;
use crate::delta::Deltas;
use crate::pads::{Checked, Pads, Part, Trust};
use crate::softspoken::layout::Width;
use crate::{AuthBits, Delta};
use divisi_core::wipe::WipedVec;
use divisi_core::{PartyId, Prg, Session};

/// A party's copy of the dealer. It computes the correlations of all parties from a common seed (all but the
/// bits that other parties choose), and hands out its own party's part.
pub(crate) struct Dealer {
    me: PartyId,
    deltas: Vec<Delta>,
    /// Over a field: the number of its bits, and all parties' keys of pads.
    field: Option<(u32, Vec<Delta>)>,
    prg: Prg,
    /// How many rows of pads have been dealt.
    dealt: u64,
}

/// One group of a party's columns: MACs and keys by party index.
struct Dealt {
    bits: Vec<u64>,
    macs: Vec<Option<WipedVec<u128>>>,
    keys: Vec<Option<WipedVec<u128>>>,
}

impl Dealer {
    /// The dealer at party `me`. The Deltas of all parties, and all later randomness, come from the seed.
    pub(crate) fn new(me: PartyId, parties: usize, seed: u8) -> Dealer {
        let mut prg = Prg::new(&[seed; 16]);
        let mut delta = |party| Delta::drawn(party, |bytes| prg.fill(bytes));
        let deltas = PartyId::all(parties).map(&mut delta).collect();
        Dealer { me, deltas, field: None, prg, dealt: 0 }
    }

    /// The same for a set-up over a field of 2^f elements.
    pub(crate) fn over_field(me: PartyId, parties: usize, f: u32, seed: u8) -> Dealer {
        let mut prg = Prg::new(&[seed; 16]);
        let mut uniform =
            |bits| (0..parties).map(|_| Delta::uniform(bits, |bytes| prg.fill(bytes))).collect::<Vec<_>>();
        let (deltas, pads) = (uniform(f), uniform(128));
        Dealer { me, deltas, field: Some((f, pads)), prg, dealt: 0 }
    }

    /// Our own keys.
    pub(crate) fn deltas(&self, k: u32) -> Deltas {
        let own = |of: &[Delta], bits| {
            Delta::uniform(bits, |bytes| *bytes = of[self.me.index()].get().to_le_bytes())
        };
        match &self.field {
            None => Deltas::labels(k, own(&self.deltas, 128)),
            Some((f, pads)) => Deltas::field(k, *f, own(&self.deltas, *f), own(pads, 128)),
        }
    }

    pub(crate) fn deal(
        &mut self,
        session: &Session,
        bits: Bits<'_>,
        width: Width,
    ) -> (AuthBits, Pads<Checked>) {
        let (count, me) = (bits.count(), self.me);
        let n = self.deltas.len();
        let mut drawn = None;
        let mut auth = AuthBits::from_rows(me, count, Vec::new(), vec_of(n), vec_of(n));
        if width != Width::Pads {
            let dealt = self.rows(bits, false, None, |_, _| true);
            let own =
                |rows: Vec<Option<WipedVec<u128>>>| rows.into_iter().map(Option::unwrap_or_default).collect();
            drawn = Some(dealt.bits.clone());
            auth = AuthBits::from_rows(me, count, dealt.bits, own(dealt.macs), own(dealt.keys));
        }
        let mut pads = Pads::new(session, count, Vec::new(), Vec::new(), Vec::new());
        if width != Width::Macs && self.field.is_some() {
            pads = self.pads(session, bits, drawn.as_deref(), |_, _| true);
        }
        (auth, pads)
    }

    /// Deals rows of pads in the directions of `links`.
    pub(crate) fn deal_pads<S: Trust>(
        &mut self,
        session: &Session,
        bits: Bits<'_>,
        makes: impl Fn(usize, usize) -> bool,
    ) -> Pads<S> {
        self.pads(session, bits, None, makes)
    }

    fn pads<S: Trust>(
        &mut self,
        session: &Session,
        bits: Bits<'_>,
        drawn: Option<&[u64]>,
        makes: impl Fn(usize, usize) -> bool,
    ) -> Pads<S> {
        let dealt = self.rows(bits, true, drawn, makes);
        let first = self.dealt;
        self.dealt += bits.count().next_multiple_of(128) as u64;
        let parts = |rows: Vec<Option<WipedVec<u128>>>| {
            rows.into_iter().map(|words| words.map(|words| Part { words, first })).collect()
        };
        Pads::new(session, bits.count(), dealt.bits, parts(dealt.macs), parts(dealt.keys))
    }

    /// Deals one group of columns, of MACs or of pads. Its bits are drawn here, or were drawn for the other
    /// group, or are chosen. Only their party knows chosen bits, and keys do not depend on them.
    fn rows(
        &mut self,
        bits: Bits<'_>,
        pads: bool,
        drawn: Option<&[u64]>,
        makes: impl Fn(usize, usize) -> bool,
    ) -> Dealt {
        let (n, count) = (self.deltas.len(), bits.count());
        let none = || (0..n).map(|_| None).collect::<Vec<_>>();
        let mut dealt = Dealt { bits: Vec::new(), macs: none(), keys: none() };
        let group = match &self.field {
            Some((_, keys)) if pads => keys,
            _ => &self.deltas,
        };
        let columns = match &self.field {
            Some((f, _)) if !pads => *f,
            _ => 128,
        };
        for owner in PartyId::all(n) {
            let mut x = vec![0; count.div_ceil(64)];
            self.prg.words(&mut x);
            if owner == self.me {
                match (drawn, bits) {
                    (Some(given), _) | (None, Bits::Chosen(given, _)) => x.copy_from_slice(given),
                    (None, Bits::Random(_)) => {}
                }
            }
            for holder in PartyId::all(n).filter(|holder| *holder != owner) {
                let mut words = vec![0; 2 * count];
                self.prg.words(&mut words);
                let low = u128::MAX >> (128 - columns);
                let key = words.chunks_exact(2).map(|w| (u128::from(w[0]) | u128::from(w[1]) << 64) & low);
                if !makes(owner.index(), holder.index()) {
                    continue;
                }
                if owner == self.me {
                    let delta = &group[holder.index()];
                    let mac = key.enumerate().map(|(p, key)| key ^ delta.times(x[p / 64] >> (p % 64)));
                    dealt.macs[holder.index()] = Some(mac.collect());
                } else if holder == self.me {
                    dealt.keys[owner.index()] = Some(key.collect());
                }
            }
            if owner == self.me {
                dealt.bits = x;
            }
        }
        dealt
    }
}

fn vec_of(n: usize) -> Vec<WipedVec<u128>> {
    (0..n).map(|_| WipedVec::default()).collect()
}
