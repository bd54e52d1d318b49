//! Boolean triples by semi-honest correlated oblivious transfer: shares of bits a, b and a b.
//!
//! Adversary: semi-honest, all parties but one. In transfers between each two parties, one chooses with its
//! share of a, and the other's payload is its share of b (Gilboa 1999, on rows of SoftSpokenOT). The results
//! add up to a b. Check \[G14\]: the rows have the type of semi-honest ones, no tweak is used twice, and a
//! row is used for one payload.
//!
//! Cost of a triple to each peer: ceil(128 / k) bits for its row and one for the payload. At k = 4 these are
//! 4.125 bytes, and at most 4.3 with frames. Two rounds for each batch (test `cost_of_boolean_triples`). A
//! row is hashed right after it was made and not kept; only three bits of each triple stay in memory.

use crate::bit::last;
use crate::checks;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Misuse, Prg, Session, Step, step};
use divisi_ot::Setup;

const TRIPLES: Step = step!("triples");

/// The largest number of triples in a batch, of which a few bits each are in memory.
pub const BATCH: usize = 1 << 24;

/// One party's shares of triples, packed. Using them consumes them, each once \[G7\].
///
/// ```compile_fail,E0382
/// fn twice(triples: divisi_mixed::triples::BitTriples) {
///     let first = triples.open();
///     let second = triples.open();
/// }
/// ```
/// One use compiles:
/// ```
/// fn once(triples: divisi_mixed::triples::BitTriples) {
///     let first = triples.open();
/// }
/// ```
pub struct BitTriples {
    len: usize,
    words: [WipedVec<u64>; 3],
}

impl BitTriples {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The shares of a, b and a b, 64 in a word.
    #[must_use]
    pub fn open(self) -> [WipedVec<u64>; 3] {
        self.words
    }
}

/// Makes `count` triples in two rounds. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if `count` is zero, or if the set-up's rows are checked; the abort that ends the
/// session, if a link fails.
pub fn bit_triples(
    session: &mut Session,
    setup: &mut Setup,
    own: &mut Prg,
    count: usize,
) -> Result<BitTriples, Abort> {
    let mut b = WipedVec::zeros(count.div_ceil(64));
    own.words(&mut b);
    if let Some(word) = b.last_mut() {
        *word &= last(count);
    }
    let [a, c] = setup.random_products(session, count, &b)?; // [G14]
    Ok(BitTriples { len: count, words: [a, b, c] })
}

/// Triples in stock, in the order in which they were made. The order is the same at all parties.
#[derive(Default)]
pub struct TripleStock {
    batches: std::collections::VecDeque<(usize, [WipedVec<u64>; 3])>,
    words: usize,
}

impl TripleStock {
    /// How many triples are in stock: a multiple of 64.
    #[must_use]
    pub fn len(&self) -> usize {
        64 * self.words
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// Adds a batch to the stock. Triples that do not fill a word are dropped.
    pub fn put(&mut self, triples: BitTriples) {
        let words = triples.len / 64;
        if words > 0 {
            let mut batch = triples.open();
            batch.iter_mut().for_each(|part| part.cut(words));
            self.words += words;
            self.batches.push_back((0, batch));
        }
    }

    /// Removes `words` words of triples from the stock \[G7\].
    ///
    /// # Errors
    /// [`Abort::Misuse`] if there are fewer.
    pub fn take(&mut self, session: &Session, words: usize) -> Result<BitTriples, Abort> {
        if words > self.words {
            return Err(session.misuse(TRIPLES, Misuse::TooFewMade));
        }
        session.observe(checks::G7); // [G7]
        let mut out: [WipedVec<u64>; 3] = std::array::from_fn(|_| WipedVec::with_capacity(words));
        let mut missing = words;
        while missing > 0 {
            let Some((from, batch)) = self.batches.front_mut() else { break };
            let there = batch[0].len() - *from;
            let now = there.min(missing);
            for (out, batch) in out.iter_mut().zip(batch.iter_mut()) {
                let given = &mut batch[*from..*from + now];
                out.extend_from_slice(given);
                wipe::words(given);
            }
            missing -= now;
            *from += now;
            if now == there {
                self.batches.pop_front();
            }
        }
        self.words -= words;
        Ok(BitTriples { len: 64 * words, words: out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};

    /// What is taken out of several batches at once is gone from all of them, few words or many, and the next
    /// words are those behind it.
    #[test]
    fn triples_of_several_batches_are_taken_once() {
        const PARTS: [u64; 3] = [0, 1 << 32, 2 << 32];
        let ends = local::run(2, &PublicParameters::new("triples"), |session| {
            for scale in [1_u64, 70, 1000, 1 << 14] {
                let mut stock = TripleStock::default();
                for (first, words) in [(0, 5), (5, 2), (7, 5), (12, 5)] {
                    let words_of =
                        |part| (0..5 * scale).map(|at| part + first * scale + at).collect::<Vec<u64>>();
                    let of = |part| WipedVec::from(&*words_of(part));
                    stock.put(BitTriples { len: (64 * words * scale) as usize, words: PARTS.map(of) });
                }
                let mut from = 0;
                for count in [3, 6, 1, 7].map(|count| count * scale) {
                    let taken = stock.take(&session, count as usize)?.open();
                    for (part, words) in PARTS.into_iter().zip(&taken) {
                        assert!(words.iter().copied().eq(part + from..part + from + count), "{from} {count}");
                    }
                    from += count;
                }
                assert!(stock.is_empty());
            }
            Ok(())
        });
        assert!(ends.is_ok());
    }

    #[test]
    fn what_has_no_triples_is_empty() {
        for words in [0, 1, 255, 256, 257] {
            let made =
                BitTriples { len: 64 * words, words: [0; 3].map(|word| WipedVec::from(&*vec![word; words])) };
            assert_eq!(made.is_empty(), words == 0);
            let mut stock = TripleStock::default();
            stock.put(made);
            assert_eq!((stock.is_empty(), stock.len()), (words == 0, 64 * words));
        }
    }

    #[test]
    fn more_triples_than_there_are_is_misuse() {
        for (made, taken) in [(0, 1), (5, 6), (5, 261)] {
            let ends = local::run(2, &PublicParameters::new("triples"), |session| {
                let mut stock = TripleStock::default();
                let words = [0; 3].map(|word| WipedVec::from(&*vec![word; made]));
                stock.put(BitTriples { len: 64 * made, words });
                stock.take(&session, taken).map(drop)
            });
            assert!(matches!(ends, Err(Abort::Misuse { what: Misuse::TooFewMade, .. })), "{made} {taken}");
        }
    }

    /// Whatever is taken is wiped in the stock at once, in each call, and what is left stays.
    #[test]
    fn triples_are_wiped_when_they_are_taken() {
        let word = |part: u64, at: usize| 100 * part + at as u64;
        let ends = local::run(2, &PublicParameters::new("triples"), |session| {
            let of = |part| WipedVec::from(&*(0..10).map(|at| word(part, at)).collect::<Vec<u64>>());
            let mut stock = TripleStock::default();
            stock.put(BitTriples { len: 640, words: [1, 2, 3].map(of) });
            let mut gone = 0;
            for count in [3, 1, 4] {
                let taken = stock.take(&session, count)?.open();
                let (_, left) = &stock.batches[0];
                for (part, (taken, left)) in (1..).zip(taken.iter().zip(left)) {
                    assert!(taken.iter().copied().eq((gone..gone + count).map(|at| word(part, at))));
                    let now = (0..10).map(|at| if at < gone + count { 0 } else { word(part, at) });
                    assert!(left.iter().copied().eq(now), "part {part}, {count} behind {gone}: {left:?}");
                }
                gone += count;
            }
            Ok(())
        });
        assert!(ends.is_ok());
    }
}
