//! What was opened and is not checked yet.

use crate::part::Mac;
use divisi_core::{Echo, wipe};

/// What was opened since the last check, in the field of the MACs, with our shares of the MACs.
pub(crate) struct Ledger<F: Mac> {
    pub x: Vec<F>,
    pub m: Vec<F>,
    /// The digest of what was opened, which three or more parties compare; `None` between two. It is in a
    /// box, because a `None` of the full size would contain whatever the stack held there, and nobody would
    /// wipe it.
    pub views: Option<Box<Echo>>,
    /// The number of values that were opened and checked so far.
    pub checked: u64,
}

/// The largest ledger, in values, whose memory is kept for the next one: 32 MiB over fields of 64-bit words.
const KEPT: usize = 1 << 21;

impl<F: Mac> Ledger<F> {
    /// Make room for this many more values.
    pub fn reserve(&mut self, more: usize) {
        self.x.reserve(more);
        wipe::reserve(&mut self.m, more);
    }

    /// Note values that were opened, with our shares of their MACs.
    pub fn note(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.x.extend(x);
        wipe::reserve(&mut self.m, m.len());
        self.m.extend_from_slice(m);
    }

    /// Everything passed the check: its MAC shares are wiped, and `views` digests what is opened from now on.
    /// The memory is reused, because fresh memory costs a page fault for every 256 values.
    pub fn pay(&mut self, views: Option<Box<Echo>>) {
        (self.checked, self.views) = (self.opened(), views);
        wipe::words(&mut self.m);
        self.x.clear();
        self.m.clear();
        if self.x.capacity().max(self.m.capacity()) > KEPT {
            (self.x, self.m) = (Vec::new(), Vec::new());
        }
    }

    /// The number of values that were opened.
    pub fn opened(&self) -> u64 {
        self.checked + self.x.len() as u64
    }
}

impl<F: Mac> Drop for Ledger<F> {
    fn drop(&mut self) {
        wipe::words(&mut self.m);
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::source::Products;
    use divisi_core::testing::{memory, run};
    use divisi_core::{PublicParameters, Step, step};
    use divisi_field::{Field, Gf48};

    const OPENED: Step = step!("opened");

    /// The words at this address; zeros if there is no memory any more.
    fn words<'b>(place: usize, count: usize, bytes: &'b mut [u8]) -> impl Iterator<Item = u64> + use<'b> {
        let bytes = &mut bytes[..8 * count];
        if memory::read(place, bytes).is_err() {
            bytes.fill(0);
        }
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// \[Q17\] After a check the ledger keeps its memory, in which the MAC shares are overwritten.
    #[test]
    fn of_what_was_checked_the_room_is_left() {
        let count = 600;
        let ends = run(2, &PublicParameters::new("what is left of MACs"), |session| {
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
            let x = dealer.element_triples(&mut party, count)?.b;
            party.open(OPENED, &x.x, &x.m)?;
            let place = party.ledger.m.as_ptr() as usize;
            let mut bytes = vec![0; 8 * count];
            let there = words(place, count, &mut bytes).filter(|word| *word != 0).count();
            party.check()?;
            assert!(party.ledger.m.is_empty() && party.ledger.m.as_ptr() as usize == place);
            Ok([there, words(place, count, &mut bytes).filter(|word| *word != 0).count()])
        });
        assert!(ends.iter().all(|end| *end == Ok([count, 0])), "{ends:?}");
    }

    /// The words that are still at the place of the MAC shares after so many of them were checked.
    fn left(ledger: &mut Ledger<Gf48>, shares: &[Gf48]) -> usize {
        ledger.note(shares.iter().map(|_| Gf48::ONE), shares);
        let place = ledger.m.as_ptr() as usize;
        let mut bytes = vec![0; 8 * shares.len()];
        let there = |bytes: &mut [u8]| {
            let words = words(place, shares.len(), bytes).zip(shares);
            words.filter(|(word, share)| u128::from(*word) == share.to_bits()).count()
        };
        assert_eq!(there(&mut bytes), shares.len());
        ledger.pay(None);
        there(&mut bytes)
    }

    /// \[Q17\] However many MAC shares a check has, all of them are overwritten, also if their memory is
    /// freed then.
    #[test]
    fn of_checks_of_any_size_nothing_is_left() {
        let shares: Vec<Gf48> = (1..=(1_u128 << 18) + 1)
            .map(|i| Gf48::from_low_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 47))
            .collect();
        let empty = |x| Ledger::<Gf48> { x, m: Vec::new(), views: None, checked: 0 };
        let mut ledger = empty(Vec::new());
        for count in (0..=18).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]) {
            assert_eq!(left(&mut ledger, &shares[..count]), 0, "{count} kept");
            // so much memory of the values that the ledger keeps none
            let mut large = empty(Vec::with_capacity(KEPT + 1));
            assert_eq!(left(&mut large, &shares[..count]), 0, "{count} freed");
            assert_eq!(large.m.capacity(), 0);
        }
    }

    /// \[Q17\] If the list of MAC shares moves because it grows, nothing is left in its old memory.
    #[test]
    fn of_what_grew_nothing_is_left() {
        let shares: Vec<Gf48> = (1..=5_000_u128)
            .map(|i| Gf48::from_low_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 47))
            .collect();
        let mut ledger = Ledger::<Gf48> { x: Vec::new(), m: Vec::new(), views: None, checked: 0 };
        let mut bytes = vec![0; 8 * shares.len()];
        let mut moved = 0;
        for m in shares.chunks(50) {
            let (place, count) = (ledger.m.as_ptr() as usize, ledger.m.len());
            ledger.note(m.iter().map(|_| Gf48::ONE), m);
            if count > 0 && ledger.m.as_ptr() as usize != place {
                moved += 1;
                let left = words(place, count, &mut bytes).zip(&shares);
                assert_eq!(left.filter(|(word, share)| u128::from(*word) == share.to_bits()).count(), 0);
            }
        }
        assert!(moved > 0 && ledger.m == shares && ledger.x.len() == shares.len());
    }
}
