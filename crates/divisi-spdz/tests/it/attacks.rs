//! How often lies about the products of preprocessing pass, and that no strand has rows of its own.

use divisi_core::testing::{Harness, many, party};
use divisi_core::{Abort, PublicParameters, Session};
use divisi_field::{Field, Gf2, Gf48};
use divisi_ot::{Base, Bits, SetupConfig, testing};
use divisi_spdz::{Bucketed, Party, Source, lab};

const PAYLOAD: &str = "divisi_ot::correlate/payload";

fn harness(n: usize) -> Harness {
    Harness::new(n, &PublicParameters::new("attacks on preprocessing"))
}

/// P_1's share of s_1, or `None` if P_1 aborts, when P_2 alters the payloads of this many of the three other
/// items of a bucket of four.
fn altered(items: usize, seed: u8) -> Option<Gf2> {
    let harness = harness(2);
    harness.change(party(2), party(1), PAYLOAD, 1, move |body| {
        // each payload has two bits and a MAC
        (0..items).for_each(|row| body[row * 50 / 8] ^= 1 << (row * 50 % 8));
    });
    let ends = harness.act(|mut session| {
        let config = SetupConfig { rho: 4, ..SetupConfig::default() };
        let setup = testing::deal_over_field(&mut session, config, 48, seed)?;
        let (mut party, mut source) = Bucketed::<Gf48>::over(session, setup)?;
        let units = source.units(&mut party, 2, 1)?;
        party.check()?;
        Ok(lab::unit_shares(&units)[0][1])
    });
    ends[0].as_ref().ok().copied()
}

/// Altered payloads of t items pass with probability 2^-t. If the bits b of all items but the first are then
/// known to be zero, b of the bucket is as uniform as before.
#[test]
fn altered_payloads_pass_with_2_to_the_minus_t() {
    let of = 200;
    let near = |count: usize, of: usize, p: f64| {
        let (mean, deviation) = (of as f64 * p, (of as f64 * p * (1.0 - p)).sqrt());
        assert!((count as f64 - mean).abs() <= 3.0 * deviation, "{count} of {of}, not {mean}");
    };
    for t in 0..=3 {
        let ends: Vec<Gf2> = many(of, 8, |seed| altered(t, seed as u8)).into_iter().flatten().collect();
        near(ends.len(), of, 0.5_f64.powi(t as i32));
        let ones = ends.iter().filter(|bit| bit.to_bits() == 1).count();
        near(ones, ends.len(), 0.5);
    }
}

/// Makes tables in a second strand, with rows that were made in both strands.
fn in_two_strands(mut session: Session) -> Result<(), Abort> {
    let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
    let mut setup = testing::unsound_over_field(&mut session, config, 48)?;
    setup.mac_rows(&mut session, Bits::Random(100))?;
    let strand = session.strand()?;
    let (mut party, mut source): (Party<Gf48>, _) = Bucketed::over(strand, setup)?;
    source.units(&mut party, 2, 4)?;
    party.check()
}

/// 1.32: a second strand works with the set-up of the first, and a second set-up ends the session.
#[test]
fn a_strand_has_no_delta_of_its_own() {
    for n in [2, 3] {
        assert!(harness(n).act(in_two_strands).iter().all(Result::is_ok));
        let again = harness(n).act(|mut session| {
            let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
            let first = testing::unsound_over_field(&mut session, config, 48)?;
            let mut strand = session.strand()?;
            let second = testing::unsound_over_field(&mut strand, config, 48);
            assert!(second.is_err());
            // and the session ends
            Bucketed::<Gf48>::over(session, first).map(drop)
        });
        assert!(again.iter().all(Result::is_err), "{n}");
    }
}
