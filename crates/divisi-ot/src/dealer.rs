//! A dealer of authenticated bits in one process (feature `testing`; never part of a build that holds real secrets).

use crate::{AuthBits, Delta, Kept};
use divisi_core::{PartyId, Prg};

/// Knows everything, tells its own party's view.
pub(crate) struct Dealer {
    me: PartyId,
    deltas: Vec<Delta>,
    prg: Prg,
}

impl Dealer {
    /// The dealer of party `me`: all parties' Deltas, and what follows, come from the seed.
    pub(crate) fn new(me: PartyId, parties: usize, seed: u8) -> Dealer {
        let mut prg = Prg::new(&[seed; 16]);
        let mut delta = |party| Delta::drawn(party, |bytes| prg.fill(bytes));
        let deltas = PartyId::all(parties).map(&mut delta).collect();
        Dealer { me, deltas, prg }
    }

    /// Our own party's Delta.
    pub(crate) fn delta(&self) -> Delta {
        let ours = &self.deltas[self.me.index()];
        Delta::drawn(self.me, |bytes| *bytes = ours.get().to_le_bytes())
    }

    pub(crate) fn deal(&mut self, count: usize) -> AuthBits {
        let n = self.deltas.len();
        let none = || (0..n).map(|_| Kept::default()).collect::<Vec<Kept<u128>>>();
        let (mut bits, mut macs, mut keys) = (Vec::new(), none(), none());
        for owner in PartyId::all(n) {
            let mut x = vec![0; count.div_ceil(64)];
            self.prg.words(&mut x);
            for holder in PartyId::all(n).filter(|holder| *holder != owner) {
                let mut words = vec![0; 2 * count];
                self.prg.words(&mut words);
                let key = words.chunks_exact(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64);
                if owner == self.me {
                    let delta = &self.deltas[holder.index()];
                    macs[holder.index()] =
                        key.enumerate().map(|(p, key)| key ^ delta.times(x[p / 64] >> (p % 64))).collect();
                } else if holder == self.me {
                    keys[owner.index()] = key.collect();
                }
            }
            if owner == self.me {
                bits = x;
            }
        }
        AuthBits::from_rows(self.me, count, bits, macs, keys)
    }
}
