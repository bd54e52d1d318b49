//! Pi_aBit (WRK17, Figure 14) for all parties at once. SoftSpokenOT's check and the paper's are done as one.

use super::AuthBits;
use super::consistency::Proof;
use crate::checks;
use crate::delta::Deltas;
use crate::links::Links;
use crate::pads::{Checked, Pads, Part};
use crate::purposes;
use crate::softspoken::TILE;
use crate::softspoken::layout::Width;
use crate::vole::{
    AHEAD, ByGroup, Checked as Passed, Columns, Ends, Extension, Outcome, PairRows, Request, VoleRows,
    hash_bits,
};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Coins, Echo, Misuse, PartyId, Prg, Session, Step, step};
use divisi_field::Gf128;
use std::marker::PhantomData;
use zeroize::Zeroizing;

const COIN: Step = step!("coin");
const ECHO: Step = step!("echo");

/// Our bits at the positions that a call makes.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Bits<'a> {
    /// This number of bits, drawn at random by the call.
    Random(usize),
    /// This number of bits of our choice, packed like those of [`AuthBits::bits`]. They stay as private as
    /// random ones, because the check masks what it opens of them by random bits that it sacrifices; and we
    /// are bound to them in the same way.
    Chosen(&'a [u64], usize),
}

/// Prints the number of bits, never the bits.
impl std::fmt::Debug for Bits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bits::Random(count) => write!(f, "Random({count})"),
            Bits::Chosen(_, count) => write!(f, "Chosen({count} bits)"),
        }
    }
}

impl Bits<'_> {
    /// The number of positions.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Bits::Random(count) | Bits::Chosen(_, count) => *count,
        }
    }

    /// Whether the packed words suffice for the number of bits.
    pub(crate) fn are_there(&self) -> bool {
        match self {
            Bits::Random(_) => true,
            Bits::Chosen(words, count) => words.len() == count.div_ceil(64),
        }
    }

    /// `tiles` tiles: these bits first, then random ones.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn tiles(&self, session: &Session, tiles: usize) -> Vec<u128> {
        let mut bits = random_bits(session, tiles);
        if let Bits::Chosen(words, count) = self {
            for (t, (tile, words)) in bits.iter_mut().zip(words.chunks(2)).enumerate() {
                let word = words.iter().rev().fold(0, |all, word| all << 64 | u128::from(*word));
                let here = u128::MAX >> (128 - (count - 128 * t).min(128));
                *tile = *tile & !here | word & here;
            }
        }
        bits
    }
}

/// Rows of all pairs that passed the check, or their columns (`R`).
pub(crate) struct Produced<R = VoleRows> {
    /// Our bits, packed. Like the rows, there are more of them than `keep`.
    pub(crate) bits: Zeroizing<Vec<u64>>,
    pub(crate) rows: PairRows<R>,
    /// How many positions the caller gets.
    pub(crate) keep: usize,
}

/// Makes rows of one width for these bits, with every peer. If `prove` is a number, that many equations first
/// prove that every party uses one Delta towards all others.
///
/// Adversary: malicious, all parties but one. Cost to each peer: 16 bytes for each tile and each tree. The
/// tiles are those of 128 positions, one more, and another one for the proof. The trees are ceil(128 / k) for
/// labels; over a field ceil(f / k), ceil(128 / k), or both, by the width. The check comes on top. Rounds: 3
/// between two parties, 4 among more, 5 with the proof.
///
/// 1. P_i chooses the bits of all positions. The last tile is sacrificed to the check, one bit for each of
///    its 128 equations; the tile before it to the proof.
/// 2. Each pair makes rows, in both directions at once: P_i has M_k\[x_m\], P_k has K_k\[x_m\].
/// 3. (a) A coin z is tossed, after all corrections. (b) X = h(x) is broadcast, with (d) the MACs of its 128
///    bits under each Delta_k, which P_k checks. The echoes of all X are compared before anything depends on
///    the bits.
/// 4. The sacrificed tiles are dropped.
pub(crate) fn produce<R: Outcome>(
    session: &mut Session,
    ends: &mut Ends,
    deltas: &Deltas,
    coins: &mut Coins,
    (width, wanted): (Width, Bits<'_>),
    prove: Option<u32>,
) -> Result<Produced<R>, Abort> {
    let (begun, made) = session.exchange(|session| {
        let mut begun = begin::<R>(session, ends, (width, wanted), prove, AHEAD)?;
        let made = begun.receive(session, ends, deltas)?;
        Ok((begun, made))
    })?;
    begun.check(session, ends, deltas, coins, made)
}

/// Steps 1 and 2 up to where we would have to wait for the peers. `ahead` is that of [`Request`].
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn begin<R: Outcome>(
    session: &mut Session,
    ends: &mut Ends,
    (width, wanted): (Width, Bits<'_>),
    prove: Option<u32>,
    ahead: usize,
) -> Result<Begun<R>, Abort> {
    // 1.
    let count = wanted.count();
    let tiles = count.div_ceil(TILE) + usize::from(prove.is_some()) + 1;
    let bits = Zeroizing::new(wanted.tiles(session, tiles));
    // 2.
    let request = Request { width, each: R::each, tiles, links: Links::All, ahead };
    let extension = with_bits(session, ends, &bits, |session, ends, x| ends.begin(session, request, x))?;
    Ok(Begun { bits, extension: Some(extension), tiles, count, prove, outcome: PhantomData })
}

/// Runs `work` with our bits towards each party.
fn with_bits<T>(
    session: &mut Session,
    ends: &mut Ends,
    bits: &[u128],
    work: impl FnOnce(&mut Session, &mut Ends, &[&[u128]]) -> Result<T, Abort>,
) -> Result<T, Abort> {
    let x = vec![bits; session.parties()];
    work(session, ends, &x)
}

/// Rows whose corrections we have sent; those of the peers are not received. They are finished in the order
/// in which they were begun.
pub(crate) struct Begun<R> {
    bits: Zeroizing<Vec<u128>>,
    /// Taken when the corrections are received.
    extension: Option<Extension>,
    tiles: usize,
    count: usize,
    prove: Option<u32>,
    outcome: PhantomData<fn() -> R>,
}

impl<R: Outcome> Begun<R> {
    /// The rest of step 2, on the strand that it was begun on.
    pub(crate) fn receive(
        &mut self,
        session: &mut Session,
        ends: &mut Ends,
        deltas: &Deltas,
    ) -> Result<PairRows<Columns>, Abort> {
        let extension = self.extension.take();
        let Some(extension) = extension else {
            return Err(session.misuse(COIN, Misuse::UsedTwice));
        };
        with_bits(session, ends, &self.bits, |session, ends, x| ends.finish(session, extension, x, deltas))
    }

    /// Steps 3 and 4, after the corrections of all were received.
    pub(crate) fn check(
        self,
        session: &mut Session,
        ends: &mut Ends,
        deltas: &Deltas,
        coins: &mut Coins,
        made: PairRows<Columns>,
    ) -> Result<Produced<R>, Abort> {
        let Begun { bits, tiles, count, prove, .. } = self;
        let (n, me) = (session.parties(), session.me());
        let field = !ends.layout.public;
        // 3. (a); the proof's commitments travel in the same round, because its rows are fixed, too
        session.observe(checks::W3); // [W3]
        coins.ready(session)?;
        let (coin, proof) = session.exchange(|session| {
            let opened = coins.open(session, COIN)?;
            let commit = |rho| Proof::commit(session, rho, tiles - 2, &bits, &made, &deltas.delta);
            let proof = prove.map(commit).transpose()?;
            Ok((coins.receive(session, opened)?, proof))
        })?;
        let received = proof.map(|proof| proof.receive(session)).transpose()?;
        // 3. (b) and (d); the echo of the commitments travels in the same round
        let relation = if field { checks::K11 } else { checks::W5 };
        let (mut checked, confirmed): (Passed<R>, _) = session.exchange(|session| {
            let sums =
                with_bits(session, ends, &bits, |session, ends, x| made.send_sums(session, coin, x, ends))?;
            let confirmed = received.map(|received| received.confirm(session)).transpose()?;
            Ok((sums.receive(session, relation, deltas)?, confirmed))
        })?;
        checked.sums[me.index()] = hash_bits(session, &bits, Gf128(u128::from_le_bytes(coin)));
        let mut echo = Echo::new(session, ECHO);
        for (party, sum) in PartyId::all(n).zip(&checked.sums) {
            echo.absorb(party, &sum.to_le_bytes());
        }
        let echoed = echo.send(session)?;
        let opened = confirmed.map(|proof| proof.open_bits(session)).transpose()?;
        echoed.compare(session, checks::W4)?; // [W4]
        if let Some(opened) = opened {
            opened.settle(session, if field { checks::K12 } else { checks::W10 }, deltas)?;
        }
        // 4.
        // [W11] the positions of the proof are dropped, too
        Ok(Produced { bits: packed(&bits), rows: checked.rows, keep: count })
    }
}

/// The words of tiles as packed words of 64 bits.
pub(crate) fn packed(bits: &[u128]) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(bits.iter().flat_map(|word| [*word as u64, (*word >> 64) as u64]).collect())
}

impl Produced {
    /// Splits rows into authenticated bits and, if the rows have such columns, pads.
    pub(crate) fn split(self, session: &Session) -> (AuthBits, Pads<Checked>) {
        let Produced { bits, rows: PairRows { macs, keys }, keep } = self;
        let apart = |rows: Vec<ByGroup<VoleRows>>| {
            let mut both = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
            for [macs, pads] in rows {
                both.0.push(macs.map_or_else(WipedVec::default, VoleRows::into_words));
                both.1.push(pads.map(Part::of));
            }
            both
        };
        let ((macs, own), (keys, others)) = (apart(macs), apart(keys));
        let pads = Pads::new(session, keep, bits.to_vec(), own, others);
        (AuthBits::from_rows(session.me(), keep, bits.to_vec(), macs, keys), pads)
    }
}

/// Random bits that only we know, one word for each tile.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn random_bits(session: &Session, tiles: usize) -> Vec<u128> {
    let mut seed = Zeroizing::new([0; 16]);
    session.entropy(purposes::BITS_SEED, seed.as_mut_slice());
    let mut words = Zeroizing::new(vec![0; 2 * tiles]);
    Prg::of(purposes::BITS, &seed).words(&mut words);
    words.chunks_exact(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64).collect()
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::setup::{Base, Setup, SetupConfig, Source};
    use crate::testing::unsound;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection, party, run};
    use std::collections::HashSet;

    /// The coin of two parties, from what they opened.
    fn coin(links: [&[u8]; 2]) -> [u8; 16] {
        let share = |link: &[u8]| {
            let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
            hasher.update(link).update(&COIN.id.to_le_bytes());
            let mut share = [0; 16];
            share.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
            u128::from_le_bytes(share)
        };
        (share(links[0]) ^ share(links[1])).to_le_bytes()
    }

    /// The numbers of bits of batches.
    const COUNTS: [usize; 7] = [300, 1, 300, 1, 1, 300, 128];

    /// Each batch is checked by the coin that was tossed for it \[W3\], and its X is masked by a tile of its
    /// own \[W2\]: a coin that is known before the corrections lets wrong ones cancel, and two batches under
    /// one mask reveal the sum of what was to be masked.
    #[test]
    fn each_batch_has_a_coin_and_a_mask_of_its_own() {
        let harness = Harness::new(2, &PublicParameters::new("coins of batches")).patient();
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
            let mut setup = unsound(&mut session, config)?;
            let Setup { deltas, coins, source: Source::Trees(ends, _), .. } = &mut setup else {
                panic!("no dealer");
            };
            let (session, mut all) = (&mut session, Vec::new());
            for count in COUNTS {
                let (begun, made) = session.exchange(|session| {
                    let wanted = (Width::Macs, Bits::Random(count));
                    let mut begun = begin::<VoleRows>(session, ends, wanted, None, AHEAD)?;
                    let received = begun.receive(session, ends, deltas)?;
                    Ok((begun, received))
                })?;
                all.push(begun.bits.to_vec());
                begun.check(session, ends, deltas, coins, made)?;
            }
            Ok(all)
        });
        let ends: Vec<Vec<Vec<u128>>> = ends.into_iter().map(Result::unwrap).collect();
        let told =
            |step| [0, 1].map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), step));
        let (links, sums) = (told(COIN.name), told("divisi_ot::vole/check"));
        let mut masks = HashSet::new();
        for batch in 0..COUNTS.len() {
            let z = Gf128(u128::from_le_bytes(coin([&links[0][batch], &links[1][batch]])));
            for (x, sums) in ends.iter().zip(&sums) {
                let sum = x[batch].iter().fold(Gf128(0), |sum, x| sum * z + Gf128(*x));
                assert_eq!(sum.0.to_le_bytes(), sums[batch][..16], "batch {batch}");
                masks.insert(x[batch].last().copied());
            }
        }
        assert_eq!(masks.len(), 2 * COUNTS.len());
    }

    #[test]
    fn chosen_bits_are_not_printed() {
        let printed = |words: &[u64]| format!("{:?} {:#?}", Bits::Chosen(words, 70), Bits::Chosen(words, 70));
        assert_eq!(printed(&[0x1234_5678_9abc, 5]), printed(&[0, 0]));
        assert_eq!(printed(&[7, 7]), "Chosen(70 bits) Chosen(70 bits)");
        assert_eq!(format!("{:?}", Bits::Random(3)), "Random(3)");
    }

    /// Neither fewer words than the bits take are enough, nor more, however many.
    #[test]
    fn chosen_words_are_as_many_as_the_bits_take() {
        for words in [0, 1, 3, 258] {
            assert!(!Bits::Chosen(&vec![0; words], 70).are_there(), "{words}");
        }
        assert!(Bits::Chosen(&[0, 0], 70).are_there() && Bits::Random(70).are_there());
    }

    /// Random bits are drawn for one tile alone, in however many chunks: those that are sacrificed to the
    /// check mask nothing if another tile has them, too.
    #[test]
    fn no_two_tiles_have_the_same_bits() {
        let ends = run(2, &PublicParameters::new("random bits"), |session| {
            let many = 1 << 12;
            let tiles = many + 3;
            let all = [Bits::Random(TILE * (many + 1)), Bits::Chosen(&[], 0), Bits::Random(1)];
            Ok(all.map(|bits| packed(&bits.tiles(&session, tiles)).to_vec()).concat())
        });
        let mut words: Vec<u64> = ends.into_iter().flat_map(Result::unwrap).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }

    /// The sacrificed bits, and the bits that fill the last tile, are random even if the bits are chosen.
    #[test]
    fn chosen_bits_stand_before_random_ones() {
        let ends = run(2, &PublicParameters::new("chosen bits"), |session| {
            for (words, count) in [(vec![5], 3), (vec![u64::MAX, 0, 1 << 63], 192), (vec![7; 4], 256)] {
                let bits = Bits::Chosen(&words, count);
                let tiles = count.div_ceil(TILE) + 2;
                let made: Vec<_> = (0..40).map(|_| bits.tiles(&session, tiles)).collect();
                for at in 0..tiles * TILE {
                    let ones = made.iter().filter(|tiles| tiles[at / TILE] >> (at % TILE) & 1 == 1).count();
                    if at < count {
                        assert_eq!(ones, 40 * (words[at / 64] >> (at % 64) & 1) as usize);
                    } else {
                        assert!((1..40).contains(&ones), "{at}");
                    }
                }
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    }

    /// The proof of one Delta opens bits of the tile that is its own, and none of the tile that masks X: with
    /// each of those X tells the sum of some of the bits that stay secret.
    #[test]
    fn a_proof_opens_no_bit_of_the_mask() {
        let harness = Harness::new(3, &PublicParameters::new("tiles of a proof")).patient();
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let mut setup = unsound(&mut session, SetupConfig { k: 4, rho: 8, base: Base::Both })?;
            let Setup { deltas, coins, source: Source::Trees(ends, _), .. } = &mut setup else {
                panic!("no dealer");
            };
            let session = &mut session;
            let (begun, rows) = session.exchange(|session| {
                let wanted = (Width::Macs, Bits::Random(300));
                let mut begun = begin::<VoleRows>(session, ends, wanted, Some(40), AHEAD)?;
                let rows = begun.receive(session, ends, deltas)?;
                Ok((begun, rows))
            })?;
            let tiles = begun.bits.to_vec();
            begun.check(session, ends, deltas, coins, rows).map(|_| tiles)
        });
        for (recording, end) in recordings.iter().zip(ends) {
            let [_, _, _, proven, _] = end.unwrap()[..] else { panic!("five tiles") };
            for told in recording.of(MessageDirection::Out, "divisi_ot::abit::consistency/bits") {
                // behind the nonce
                assert_eq!(told.frame.body[32..48], (proven & ((1 << 40) - 1)).to_le_bytes());
            }
        }
    }
}
