//! Attacks on preprocessing from oblivious transfer. Rows come from a dealer, because these attacks are on
//! what is made of rows.

use super::harness;
use crate::engines::sent;
use divisi_core::testing::{Harness, MessageDirection, failed_check, party};
use divisi_core::{Abort, Check, Direction, Session};
use divisi_field::{Field, Gf2, Gf48};
use divisi_ot::{Base, SetupConfig, testing};
use divisi_spdz::checks;
use divisi_spdz::dealer::Dealer;
use divisi_spdz::{Bucketed, Mascot, Party, Source, Spdz, SpdzProtocol, lab};

const PAYLOAD: &str = "divisi_ot::correlate/payload";
const DIFFERENCES: &str = "divisi_spdz::prep::bucketed::tables/tables.d";
const OF_TRIPLES: &str = "divisi_spdz::prep::bucketed::triples/triples.d";
const MASKED: &str = "divisi_spdz::prep::bucketed::tables/tables.p+v";
const DECOMPOSE: &str = "divisi_spdz::prep::bucketed::tables/tables.bitdec";

/// A party whose rows a dealer makes from a seed.
pub fn bucketed(mut session: Session, rho: u32, seed: u8) -> Result<(Party<Gf48>, Bucketed<Gf48>), Abort> {
    let config = SetupConfig { rho, ..SetupConfig::default() };
    let setup = testing::deal_over_field(&mut session, config, 48, seed)?;
    Bucketed::over(session, setup)
}

/// A party with products of elements, over rows that a dealer makes.
pub fn mascot(mut session: Session) -> Result<(Party<Gf48>, Mascot<Gf48>), Abort> {
    let setup = testing::deal_over_field(&mut session, SetupConfig::default(), 48, 3)?;
    Mascot::over(session, setup)
}

/// P_2 sends wrong payloads for the first row of every item of a table of four entries. Whether P_1 continues
/// in one of the sessions, so that P_2 knows its share of s_1.
pub fn spoiled_bucket(check: Option<Check>) -> bool {
    let rho = 8;
    (0..12).any(|seed| {
        let harness = harness(2, check);
        spoil(&harness, rho as usize, &[0]);
        let ends = harness.act(|session| {
            let (mut party, mut source) = bucketed(session, rho, seed)?;
            let units = source.units(&mut party, 2, 1)?;
            party.check()?;
            Ok(lab::unit_shares(&units)[0][1])
        });
        // if P_1 continues, its bit is known
        ends[0].as_ref().is_ok_and(|s_1| {
            assert_eq!(*s_1, Gf2::new(0));
            true
        })
    })
}

/// P_2 sends wrong payloads for the only bit of items: for the items `of_first` of the first message (first
/// items of buckets), and for all `items` - 1 of the second (the others).
fn spoil(harness: &Harness, items: usize, of_first: &'static [usize]) {
    let payload = divisi_core::Step::new(PAYLOAD).id;
    let mut messages = 0;
    harness.hand(party(2), party(1), move |mut frame| {
        if frame.step == payload {
            // each payload has two bits and a MAC
            let rows = if messages == 0 { of_first.to_vec() } else { (0..items - 1).collect() };
            rows.into_iter().for_each(|row| frame.body[row * 50 / 8] ^= 1 << (row * 50 % 8));
            messages += 1;
        }
        vec![frame]
    });
}

/// Whether P_1 opens the same differences in two sessions with the same rows, so that the bucket of each item
/// was known before.
pub fn foreseen_buckets(check: Option<Check>) -> bool {
    let told = [(); 2].map(|()| {
        let harness = harness(2, check);
        let recording = harness.recording(party(1));
        let ends = harness.act(|session| {
            let (mut party, mut source) = bucketed(session, 8, 5)?;
            source.units(&mut party, 3, 20)?;
            party.check()
        });
        assert!(ends.iter().all(Result::is_ok));
        recording.bodies(MessageDirection::Out, party(2), DIFFERENCES)
    });
    assert!(!told[0].is_empty());
    told[0] == told[1]
}

/// Whether the same elements have the same combination in two sessions.
pub fn foreseen_combination(check: Option<Check>) -> bool {
    let made = [(); 2].map(|()| {
        let ends = harness(2, check).act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 9)?;
            let a: Vec<Gf48> = (1..41).map(Gf48::from_low_bits).collect();
            Mascot::combination(&mut party, &a)
        });
        ends.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    });
    assert!(made.iter().all(|made| made[0].iter().all(|a| a.len() == 10) && made[0] == made[1]));
    made[0] == made[1]
}

/// Whether P_1 accepts a wrong product, of which P_2 sent wrong payloads for 40 bits of a.
pub fn false_product(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    harness.change(party(2), party(1), PAYLOAD, 0, |body| (0..40).for_each(|row| body[6 * row] ^= 1));
    let ends = harness.act(|session| {
        let (mut party, mut source) = mascot(session)?;
        let triples = source.byte_triples(&mut party, 1)?;
        party.check()?;
        Ok(lab::triple_shares(&triples).map(|share| share[0]))
    });
    match (&ends[0], &ends[1]) {
        (Ok(ours), Ok(theirs)) => {
            let [x, y, z] = [0, 1, 2].map(|i| ours[i] + theirs[i]);
            x * y != z
        }
        _ => false,
    }
}

/// P_2 sends wrong payloads for one of three products, and is detected whichever product it is.
#[test]
fn every_product_is_sacrificed() {
    for product in 0..3 {
        let harness = harness(2, None);
        harness.change(party(2), party(1), PAYLOAD, 0, move |body| {
            // a product has four elements a of 48 bits, and 48 bits of payload for each of these bits
            (0..40).for_each(|row| body[6 * (192 * product + row)] ^= 1);
        });
        let ends = harness.act(|session| {
            let (mut party, mut source) = mascot(session)?;
            source.byte_triples(&mut party, 3).map(drop)
        });
        // the party that detects it first tells the other one
        let found = ends.iter().any(|end| failed_check(end) == Some(checks::K19));
        assert!(found && ends.iter().all(Result::is_err), "{product}: {ends:?}");
    }
}

/// P_2 lies about D of buckets, about p + v, or about a decomposition. Whether P_1 makes lookups with the
/// resulting tables, whichever it is.
pub fn false_difference(check: Option<Check>) -> bool {
    let lies = |step: &'static str, n: usize| {
        let harness = harness(n, check);
        let recording = harness.recording(party(1));
        super::flip(&harness, step);
        harness.act(|session| {
            let (party, source) = bucketed(session, 40, 6)?;
            let mut engine = Spdz::new(party, Box::new(source), SpdzProtocol::Lookup)?;
            let mut x = super::shared(&mut engine)?;
            divisi_core::Bytes::sbox(&mut engine, Direction::Encrypt, &mut [&mut x])
        });
        let looked = sent(&recording, super::LOOKUP) > 0;
        assert!(check.is_some() || !looked);
        looked
    };
    [(MASKED, 2), (DECOMPOSE, 3), (DIFFERENCES, 2)].into_iter().all(|(step, n)| lies(step, n))
}

/// Whether P_1 accepts products of bits that were made with a wrong difference from P_2.
pub fn false_bit_triple(check: Option<Check>) -> bool {
    let harness = harness(2, check);
    super::flip(&harness, OF_TRIPLES);
    let ends = harness.act(|session| {
        let (mut party, mut source) = bucketed(session, 8, 6)?;
        source.bit_triples(&mut party, 5).map(drop)
    });
    ends[0].is_ok()
}

/// How often P_1 opens its link of a coin if P_2 withholds a message that the coin must follow.
fn coins_without(
    withheld: (&'static str, usize),
    coin: &'static str,
    run: fn(Session) -> Result<(), Abort>,
) -> usize {
    let harness = harness(2, None);
    let recording = harness.recording(party(1));
    let (id, mut count) = (divisi_core::Step::new(withheld.0).id, 0);
    harness.hand(party(2), party(1), move |frame| {
        let here = frame.step == id;
        count += usize::from(here);
        if here && count == withheld.1 + 1 { vec![] } else { vec![frame] }
    });
    let ends = harness.act(run);
    assert!(ends[0].is_err() || withheld.1 == usize::MAX - 1, "{withheld:?}: nothing was withheld");
    sent(&recording, coin)
}

fn two_tables(session: Session) -> Result<(), Abort> {
    let (mut party, mut source) = bucketed(session, 8, 5)?;
    source.units(&mut party, 2, 2)?;
    party.check()
}

/// The same over real rows.
fn one_product_of_rows(mut session: Session) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let setup = testing::unsound_over_field(&mut session, config, 48)?;
    let (mut party, mut source) = Mascot::<Gf48>::over(session, setup)?;
    source.byte_triples(&mut party, 1)?;
    party.check()
}

fn one_product(session: Session) -> Result<(), Abort> {
    let (mut party, mut source) = mascot(session)?;
    source.byte_triples(&mut party, 1)?;
    party.check()
}

/// A coin must not be tossed too early: a party that knows it before payloads are sent, or before items are
/// proven, can make lies that cancel or that fall into one bucket. P_1 opens no coin while the values that
/// the coin checks are missing.
#[test]
fn coins_follow_what_they_judge() {
    const NONE: usize = usize::MAX - 1;
    const PROOF: &str = "divisi_spdz::prep::bucketed::proof/proof.coin";
    const SUM: &str = "divisi_spdz::prep::bucketed::proof/proof.sum";
    const BUCKETS: &str = "divisi_spdz::prep::bucketed::buckets/buckets.coin";
    const CHECKED: &str = "divisi_spdz::check/check.2.coin";
    const COMBINE: &str = "divisi_spdz::prep::mascot::triple/combine.1";
    let tables = |withheld, coin| coins_without(withheld, coin, two_tables);
    // the first items of buckets and the others are proven separately
    assert_eq!(tables((PAYLOAD, NONE), PROOF), 2);
    assert_eq!([0, 1].map(|n| tables((PAYLOAD, n), PROOF)), [0, 1]);
    // all items are proven and checked before they are put into buckets
    assert_eq!(tables((PAYLOAD, NONE), BUCKETS), 1);
    assert_eq!([0, 1].map(|n| tables((PAYLOAD, n), BUCKETS)), [0, 0]);
    assert_eq!([0, 1].map(|n| tables((SUM, n), BUCKETS)), [0, 0]);
    assert_eq!(tables((super::COMMIT, 0), BUCKETS), 0);
    assert_eq!(tables((super::OPEN, 0), BUCKETS), 0);
    // and all of that before the coin of the check
    assert_eq!([0, 1].map(|n| tables((SUM, n), CHECKED)), [0, 0]);
    // MASCOT's combination
    let product = |withheld| coins_without(withheld, COMBINE, one_product);
    assert_eq!([product((PAYLOAD, NONE)), product((PAYLOAD, 0))], [1, 0]);
    // MASCOT's sacrifice follows the rows by which a, b, c, a^ and c^ are authenticated, the last ones
    const CORRECT: &str = "divisi_ot::vole/correct";
    const SACRIFICE: &str = "divisi_spdz::prep::mascot::triple/sacrifice.1";
    let honest = harness(2, None);
    let recording = honest.recording(party(2));
    assert!(honest.act(one_product_of_rows).iter().all(Result::is_ok));
    let rows = sent(&recording, CORRECT);
    let sacrifice = |withheld| coins_without(withheld, SACRIFICE, one_product_of_rows);
    assert_eq!([sacrifice((CORRECT, NONE)), sacrifice((CORRECT, rows - 1))], [1, 0]);
}
