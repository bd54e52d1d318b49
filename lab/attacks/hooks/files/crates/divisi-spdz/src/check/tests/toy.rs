//! How often a lie passes the check over a field of 256 elements, against the bound.

use super::OPENED;
use crate::checks;
use crate::dealer::Dealer;
use crate::source::Products;
use crate::toy::Toy;
use divisi_core::PublicParameters;
use divisi_core::testing::{Harness, many};
use divisi_field::Field;

/// Whether P_2, over a field of 256 elements, gets a lie about one value past P_1's check: it adds a guess of
/// alpha to its share of the MAC.
fn forged(seed: u64) -> bool {
    let parameters = PublicParameters::new("toy MACs").without(checks::K9);
    let harness = Harness::new(2, &parameters);
    let ends = harness.act(|session| {
        let (mut party, mut dealer) = Dealer::<Toy>::deal(session, (seed % 251) as u8)?;
        let mut x = dealer.element_triples(&mut party, 1)?.b;
        if party.me().index() == 1 {
            x.x[0] += Toy::ONE;
            x.m[0] += Toy::from_low_bits(u128::from(seed / 251 * 37 + 5));
        }
        party.open(OPENED, &x.x, &x.m)?;
        party.check()
    });
    ends[0].is_ok()
}

/// With |F| = 2^8 a lie passes with probability 2/2^8: by a coin of zero, or a right guess of alpha. The
/// measured frequency must be within three sigma of it. One sample in 370 is not by chance; then a second one,
/// four times as large, decides, and if that is not either, a third one, 16 times as large.
#[test]
fn macs_of_eight_bits_are_forged_as_often_as_the_bound_says() {
    let p = 1.0 - (1.0 - 1.0 / 256.0) * (1.0 - 1.0 / 256.0);
    let fits = |from: usize, of: usize| {
        let passed = many(of, 4, |i| forged((from + i) as u64)).into_iter().filter(|passed| *passed).count();
        let (mean, sigma) = (of as f64 * p, (of as f64 * p * (1.0 - p)).sqrt());
        println!("{passed} of {of}, {mean} expected, sigma is {sigma}");
        (passed as f64 - mean).abs() <= 3.0 * sigma
    };
    let of = 3_072;
    assert!(fits(0, of) || fits(of, 4 * of) || fits(5 * of, 16 * of));
}
