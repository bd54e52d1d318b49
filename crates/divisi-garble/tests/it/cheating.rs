//! An adversary that spoils triples and guesses succeeds with the probability of the bound; parameters are so
//! small here that this is seen.

use divisi_core::testing::many;
use divisi_fuzz::repetitions;
use divisi_garble::adversary::{TripleLie, guess};
use divisi_garble::lab::GarbleLab;
use divisi_ot::bucket;

/// How often, in this many runs of two parties, the second one knows the x of a combined triple and was not
/// noticed.
fn successes(rho: u32, ands: usize, runs: usize) -> usize {
    let wins = many(runs, 4, |i| {
        let mut lab = GarbleLab { seed: (i % 256) as u8, ..GarbleLab::default() };
        lab.config.rho = rho;
        let ends = lab.each(2, |session, garble| {
            let lie = if session.me().index() == 1 { TripleLie::Guess } else { TripleLie::Honest };
            let known = guess(garble, session, ands, lie);
            assert_eq!(garble.is_live(), known.is_ok(), "nothing is left after an abort");
            known
        });
        // the honest one went on, and the other one knows
        matches!(ends[..], [Ok(_), Ok(true)])
    });
    wins.into_iter().filter(|win| *win).count()
}

#[test]
fn cheating_succeeds_as_often_as_the_bound_says() {
    // as many successes are expected of 6 bits in the small numbers as of 8 in the large ones
    for (rho, runs) in repetitions([(4, 1_000), (6, 1_300)], [(4, 2_000), (8, 5_000)]) {
        // where the bound is nearest to its limit
        let bits = |l: &usize| bucket::error_bits(*l, bucket::size(*l, rho));
        let ands = (4..64).min_by(|l, m| bits(l).total_cmp(&bits(m))).unwrap();
        let chance = 2_f64.powf(-bits(&ands));
        assert!(chance <= 2_f64.powi(-(rho as i32)) && chance > 2_f64.powi(-(rho as i32) - 1), "{chance}");
        // within three standard deviations; if a sample is not, which happens once in 370, a second one four
        // times as large decides, and if that is not either, a third one 16 times as large
        let fits = |runs: usize| {
            let (n, wins) = (runs as f64, successes(rho, ands, runs) as f64);
            let sigma = (n * chance * (1.0 - chance)).sqrt();
            println!("{rho} bits: {wins} of {n}, {} expected", n * chance);
            (wins - n * chance).abs() <= 3.0 * sigma
        };
        assert!(fits(runs) || fits(4 * runs) || fits(16 * runs), "{rho} bits");
    }
}
