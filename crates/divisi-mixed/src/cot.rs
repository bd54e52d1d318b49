//! Random bits shared in both worlds (modulo 2 and modulo p) by correlated oblivious transfer, without
//! ciphertexts.
//!
//! x begins at 0, and each party P_i in turn makes it x xor r_i = x + r_i - 2 r_i x. The parties that had
//! their turn share x. In a correlated transfer from each of them P_i chooses with r_i, and the payload is
//! that party's share of x; the results are shares of r_i x. Adversary: semi-honest, all parties but one. The
//! products are those of [`divisi_ot::correlate`] on semi-honest rows \[G14\]. Pads are within 2^-78 of
//! uniform, so P_i and each of these parties see only uniform values of each other.
//!
//! A batch has as many circles as parties, each with another first party: then each party chooses in one
//! circle in every turn, and all links carry payloads all the time. Several batches are under way at once, so
//! that one computes while the messages of another travel. Everything is sent and received in an order that
//! is public and the same at all parties.
//!
//! Cost for an item at k = 4, sent by a party: (n - 1) (32 + W) / 2 bits for a p of W bits, because each pair
//! sends a row one way and a number the other; n rounds (test `cost_of_bits_by_transfers`). Among few parties
//! this is less than with any ciphertexts.

use crate::bit::GmwBit;
use crate::checks;
use crate::num::Num;
use crate::open;
use crate::planes;
use crate::random::RandomBits;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step, taint};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;
use divisi_ot::correlate::{Numbers, PreprocessedProducts};
use divisi_ot::{Bits, Links, Pads, SemiHonest, SemiHonestPreprocessed, Setup};
use std::collections::VecDeque;

const FORM: Step = step!("cot");
const CHOICES: Step = step!("choices");
const MASKS: Step = step!("cot.masks");

/// The most memory, in bytes, for bits that are under way.
const BYTES: usize = 128 << 20;
/// The most batches that are under way at once: where connections are slow, their waits overlap.
const AT_ONCE: usize = 8;
/// Rows are made in tiles of this number.
const TILE: usize = 128;
/// The fewest tiles of a circle: shorter messages cost more than they save.
const LEAST: usize = 32;
/// How many tiles one turn of the cipher makes, of each stream.
const TURN: usize = 32;

/// How many bits are under way at once among this number of parties, at most.
pub(crate) fn most(parties: usize) -> usize {
    // bytes for a bit: a row towards each other party, the share, the payload and its pads
    (BYTES / (16 * parties.saturating_sub(1) + 64) / TILE).max(1) * TILE
}

/// How a request is divided into batches.
struct Batches {
    parties: usize,
    /// How many batches are under way at once.
    at_once: usize,
    /// How many tiles a batch has, at most, and the last one.
    most: usize,
    most_of_last: usize,
}

impl Batches {
    /// Circles have whole turns of the cipher, two at least, because a shorter call takes as long as one of
    /// whole turns; there are as many batches as leave at most three tenths of the memory unused.
    fn among(parties: usize) -> Batches {
        let (all, parties) = (most(parties) / TILE, parties.max(1));
        let of = |at_once: usize| (at_once, all / at_once / parties / TURN * TURN * parties);
        let fits =
            |(at_once, most): &(usize, usize)| *most >= 2 * TURN * parties && 10 * at_once * most >= 7 * all;
        let (at_once, most) = (1..=AT_ONCE).rev().map(of).find(fits).unwrap_or((1, all));
        Batches { parties, at_once, most, most_of_last: all - (at_once - 1) * most }
    }

    /// How many tiles the next batch has, if this many are missing. What would fill no circles behind a full
    /// batch is joined to it, or shared with it.
    fn next(&self, missing: usize) -> usize {
        let behind = missing.saturating_sub(self.most);
        if behind == 0 || behind >= self.parties * LEAST {
            missing.min(self.most)
        } else if missing <= self.most_of_last {
            missing
        } else {
            missing.div_ceil(2).min(self.most)
        }
    }
}

/// Makes `count` random bits, shared modulo 2 and modulo p. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if `count` is zero, or if the set-up's rows are checked; the abort that ends the
/// session, if a link fails.
pub fn dabit(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    count: usize,
) -> Result<RandomBits, Abort> {
    dabit_of(session, setup, plain, Bits::Random(count))
}

/// The same for bits that every party may choose. They are shares modulo 2; the protocol makes shares modulo
/// p of the same bits.
///
/// # Errors
/// It fails as [`dabit`] does.
pub(crate) fn dabit_of(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    bits: Bits<'_>,
) -> Result<RandomBits, Abort> {
    let mut batch = Batch::begin(session, setup, bits)?;
    while !batch.is_complete(session) {
        batch.turn(session, setup, plain)?;
    }
    Ok(batch.bits(session, plain))
}

/// Makes at least `count` random bits in batches, several at once: those that are under way take their turns
/// beside each other, so that all of them together take the rounds of one.
///
/// # Errors
/// It fails as [`dabit`] does.
pub(crate) fn batches(
    session: &mut Session,
    setup: &mut Setup,
    plain: Modulus,
    count: usize,
) -> Result<RandomBits, Abort> {
    let batches = Batches::among(session.parties());
    let (mut made, mut under_way, mut begun) = (RandomBits::default(), VecDeque::new(), 0);
    loop {
        while begun < count && under_way.len() < batches.at_once {
            let now = TILE * batches.next((count - begun).div_ceil(TILE));
            under_way.push_back(wipe::stack(|| Batch::begin(session, setup, Bits::Random(now)))?);
            begun += now;
        }
        let Some(mut batch) = under_way.pop_front() else { break };
        // once for the calls of all circles
        wipe::stack(|| batch.turn(session, setup, plain))?;
        if batch.is_complete(session) {
            made.append(batch.bits(session, plain));
        } else {
            under_way.push_back(batch);
        }
    }
    Ok(made)
}

/// Shares modulo p of bits that are shared modulo 2: B2A, Figure 9, for numbers of one bit. Each takes a
/// random bit \[G7\], all of them are opened together, masked; n rounds and two. All parties call it.
///
/// # Errors
/// [`Abort::Misuse`] if there are no bits, or another session made them; otherwise it fails as
/// [`dabit`] does.
pub fn b2a(session: &mut Session, setup: &mut Setup, plain: Modulus, x: &GmwBit) -> Result<Num, Abort> {
    x.admit(session, MASKS)?;
    let mut made = batches(session, setup, plain, x.lanes())?;
    session.observe(checks::G7); // [G7]
    let masks = made.take(x.lanes()).ok_or_else(|| session.misuse(MASKS, Misuse::TooFewMade))?;
    let (masked, numbers) = planes::mask_planes(session, std::slice::from_ref(x), masks)?;
    let u = open::open_packed(session, masked)?;
    let numbers = planes::number_of_planes(session, plain, x.lanes(), &u, &numbers);
    Ok(Num::new(numbers).made(session))
}

/// Bits under way.
struct Batch {
    circles: Vec<Circle>,
    /// How many parties had their turn.
    turns: usize,
}

/// Some of a batch's bits, which pass around the parties.
struct Circle {
    /// The index of the first party.
    first: usize,
    rows: Rows,
    /// Our shares modulo p.
    x: WipedVec<u64>,
    /// The products r_i x of the next turn, if they are under way.
    products: Option<PreprocessedProducts<SemiHonest, Numbers>>,
}

enum Rows {
    UnderWay(SemiHonestPreprocessed),
    Here(Pads<SemiHonest>),
    Nowhere,
}

impl Batch {
    /// 1. Each party's bits, in rows towards the parties before it.
    fn begin(session: &mut Session, setup: &mut Setup, bits: Bits<'_>) -> Result<Batch, Abort> {
        let (n, count) = (session.parties().max(1), bits.count());
        let number = session.count("random bits by transfers");
        let tiles = count.div_ceil(TILE);
        let circles = if tiles < n * LEAST { 1 } else { n };
        let (mut batch, mut from) = (Batch { circles: Vec::new(), turns: 0 }, 0);
        for at in 0..circles {
            let tiles = tiles / circles + usize::from(at < tiles % circles);
            let end = count.min(from + tiles * TILE);
            let bits = match bits {
                Bits::Random(_) => Bits::Random(end - from),
                Bits::Chosen(words, _) => {
                    let words = words.get(from / 64..end.div_ceil(64)).unwrap_or_default();
                    Bits::Chosen(words, end - from)
                }
            };
            let first = (number % n as u64) as usize + at;
            let rows = setup.begin_semi_honest(session, bits, Links::Before(first % n))?;
            let (rows, x) = (Rows::UnderWay(rows), WipedVec::zeros(end - from));
            batch.circles.push(Circle { first, rows, x, products: None });
            from = end;
        }
        Ok(batch)
    }

    /// Whether all parties had their turn.
    fn is_complete(&self, session: &Session) -> bool {
        self.turns == session.parties()
    }

    /// 2. x = 0, and then x <- x + r_i - 2 r_i x: the turn of one party in each circle, for which the
    ///    messages are under way.
    fn turn(&mut self, session: &mut Session, setup: &mut Setup, plain: Modulus) -> Result<(), Abort> {
        for circle in &mut self.circles {
            circle.receive(session, setup, plain)?;
        }
        for circle in &mut self.circles {
            circle.add(session, plain, self.turns)?;
        }
        self.turns += 1;
        if !self.is_complete(session) {
            for circle in &mut self.circles {
                circle.send(session, setup, plain, self.turns)?;
            }
        }
        Ok(())
    }

    /// The bits, if all parties had their turn.
    fn bits(self, session: &Session, plain: Modulus) -> RandomBits {
        let mut all = RandomBits::default();
        for circle in self.circles {
            let bits = GmwBit::new(circle.x.len(), circle.rows.bits());
            all.append(RandomBits::of(session, plain, bits, &circle.x));
        }
        all
    }
}

impl Circle {
    fn chooser(&self, session: &Session, turn: usize) -> Result<PartyId, Abort> {
        let n = session.parties();
        let none = || session.misuse(FORM, Misuse::PartyCount);
        PartyId::all(n).nth((self.first + turn) % n.max(1)).ok_or_else(none)
    }

    /// Receives the rows, or the products r_i x.
    fn receive(&mut self, session: &mut Session, setup: &mut Setup, plain: Modulus) -> Result<(), Abort> {
        match std::mem::replace(&mut self.rows, Rows::Nowhere) {
            Rows::UnderWay(ahead) => {
                let rows = setup.finish_semi_honest(session, ahead)?;
                rows.bits().first().into_iter().for_each(|bits| taint::leak(CHOICES, *bits as u8));
                self.rows = Rows::Here(rows);
            }
            rows => self.rows = rows,
        }
        if let Some(products) = self.products.take() {
            let products = setup.finish_correlate(session, products)?;
            let all = self.x.iter_mut().zip(products.iter());
            vectorize(
                #[inline(always)]
                || all.for_each(|(x, product)| *x = plain.sub(*x, plain.add(*product, *product))),
            );
        }
        Ok(())
    }

    /// x + r_i, at the party whose turn it is.
    fn add(&mut self, session: &Session, plain: Modulus, turn: usize) -> Result<(), Abort> {
        if session.me() != self.chooser(session, turn)? {
            return Ok(());
        }
        let all = self.x.chunks_mut(64).zip(self.rows.bits());
        vectorize(
            #[inline(always)]
            || {
                all.for_each(|(x, word)| {
                    (0..).zip(x).for_each(|(i, x): (u64, _)| *x = plain.add(*x, word >> i & 1));
                });
            },
        );
        Ok(())
    }

    /// Sends our payloads to the party whose turn comes.
    fn send(
        &mut self,
        session: &mut Session,
        setup: &mut Setup,
        plain: Modulus,
        turn: usize,
    ) -> Result<(), Abort> {
        let chooser = self.chooser(session, turn)?;
        let Rows::Here(pads) = &mut self.rows else {
            return Err(session.misuse(FORM, Misuse::OutOfOrder));
        };
        let payload = Numbers { modulus: plain.get(), count: 1 };
        self.products = Some(setup.begin_correlate(session, pads, Some(chooser), payload, &self.x)?); // [G14]
        Ok(())
    }
}

impl Rows {
    /// Our bits; none before the rows are here.
    fn bits(&self) -> &[u64] {
        match self {
            Rows::Here(pads) => pads.bits(),
            _ => &[],
        }
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use divisi_field::zp::{P32, P62};
    use divisi_ot::SetupConfig;

    /// Batches make as many bits as are missing within the memory, in circles of whole turns where there are
    /// enough bits, and as many of them at once as leave little of the memory unused.
    #[test]
    fn batches_have_whole_turns() {
        for parties in (2..=30).chain([32, 64, 255]) {
            let batches = Batches::among(parties);
            let Batches { at_once, most: batch, most_of_last, .. } = batches;
            assert!(((at_once - 1) * batch + most_of_last) * TILE <= most(parties) && batch > 0);
            let (all, turn) = (most(parties) / TILE, parties * TURN);
            let whole = batch.is_multiple_of(turn);
            if parties <= 20 {
                assert!(at_once > 1 && whole, "{parties}: {at_once} {batch}");
            }
            // more at once would have shorter circles, or leave more of the memory unused
            for more in if whole { at_once + 1 } else { 1 }..=AT_ONCE {
                let batch = all / more / turn * turn;
                assert!(batch < 2 * turn || 10 * more * batch < 7 * all, "{parties}: {more}, not {at_once}");
            }
            for missing in [1, batch - 1, batch, batch + 1, 3 * batch + 1, 3 * batch + parties * LEAST] {
                let mut left = missing;
                while left > 0 {
                    let now = batches.next(left);
                    let fits = now <= batch || now == left && now <= most_of_last;
                    assert!(now > 0 && now <= left && fits, "{parties}: {now} of {left}");
                    let fills = 2 * now >= parties * LEAST || missing <= batch || batch < parties * LEAST;
                    assert!(fills, "{parties}: {now} of {missing}");
                    left -= now;
                }
            }
        }
    }

    /// Bits that the parties choose keep their places, also where they pass around several circles and do not
    /// fill the last tile.
    #[test]
    fn chosen_bits_stay_in_their_places() {
        let (some, large) = (2 * TILE * LEAST + 130, 3 * TILE * LEAST + 2 * TILE + 1);
        for (n, count, p) in [(2, 70, P32), (2, some, P32), (3, large, P32), (3, large, P62)] {
            let plain = Modulus::new(p).unwrap();
            let chosen = |party: usize, at: usize| ((at * at + 7 * at + party * at) >> 3) as u64 & 1;
            let ends = run(n, &PublicParameters::new("chosen bits"), |mut session| {
                let mut setup = Setup::new(&mut session, SetupConfig::default())?;
                let me = session.me().index();
                let bits = GmwBit::of((0..count).map(|at| chosen(me, at)));
                let bits = Bits::Chosen(bits.words(), count);
                Ok(dabit_of(&mut session, &mut setup, plain, bits)?.open())
            });
            let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
            for at in 0..count {
                let r = (0..n).fold(0, |r, party| r ^ chosen(party, at));
                let x = ends.iter().fold(0, |x, (_, numbers)| plain.add(x, numbers[at]));
                assert!(ends.iter().enumerate().all(|(party, (bits, _))| bits[at] == chosen(party, at)));
                assert_eq!(x, r, "{n} parties, bit {at}");
            }
        }
    }
}
