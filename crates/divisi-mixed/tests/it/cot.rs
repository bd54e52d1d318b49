//! Random bits in both worlds by correlated transfers: right, and at the cost that the header names.

use crate::common::{agreed, honest, ones, parties};
use divisi_core::testing::run;
use divisi_field::zp::{Modulus, P16, P32, P62};
use divisi_fuzz::repetitions;
use divisi_mixed::checks;
use divisi_mixed::cot::dabit;
use divisi_ot::{Setup, SetupConfig};

/// A row and a number for each pair, at most 4.1 (n - 1) bytes a bit over n batches; n rounds. Few bits pass
/// around one circle, many around as many as there are parties.
#[test]
fn cost_of_bits_by_transfers() {
    let all = [(2, P32), (3, P32), (4, P32), (5, P32), (5, P16), (3, P62), (5, P62), (8, P32)];
    for &(n, p) in repetitions(&all[..6], &all[..]) {
        // 128 more than the circles can share equally
        for (circles, count) in [(1, 1 << 12), (n, (n << 12) + 128)] {
            cost(n, p, circles, count);
        }
    }
}

fn cost(n: usize, p: u64, circles: usize, count: usize) {
    let plain = Modulus::new(p).unwrap();
    let batches = n;
    let ends = run(n, &agreed(), |mut session| {
        let mut setup = Setup::new(&mut session, SetupConfig::default())?;
        let mut all = Vec::new();
        session.phase("bits");
        for _ in 0..batches {
            // so that the meter has the rounds of the longest batch
            let place = session.aside();
            let bits = dabit(&mut session, &mut setup, plain, count)?.open();
            session.back(place);
            all.push((bits.0.to_vec(), bits.1.to_vec()));
        }
        Ok((all, session.meter().read()))
    });
    let ends = honest(ends);
    for batch in 0..batches {
        let all: Vec<_> = ends.iter().map(|(all, _)| (&all[batch].0[..], &all[batch].1[..])).collect();
        let ones = ones(p, &all);
        assert!((ones as f64 - count as f64 / 2.0).abs() < 6.0 * (count as f64).sqrt() / 2.0);
    }
    for (_, counts) in &ends {
        let (phase, items) = (counts.phases["bits"], (batches * count) as f64);
        let bits = (n as u64 - 1) * (32 + u64::from(plain.bits())) * (batches * count) as u64 / 2;
        assert_eq!(phase.bits, bits, "over n batches all send the same");
        let most = 4.1 * (f64::from(32 + plain.bits()) / 64.0).max(1.0) * (n as f64 - 1.0);
        assert!(phase.bytes as f64 <= most * items, "{n}: {}", phase.bytes as f64 / items);
        assert_eq!(phase.rounds as usize, n);
        assert_eq!(counts.checks[&checks::G14] as usize, batches * circles * (n - 1));
    }
}

/// Several batches under way at once give each party its shares of the same bits, in n rounds.
#[test]
fn batches_under_way_at_once() {
    let plain = Modulus::new(P32).unwrap();
    for (n, count) in [(2, 700_000), (3, 400_000)] {
        let ends = honest(parties(n, plain, [None; 2], |mixed| {
            mixed.session().phase("bits");
            mixed.prepare_bits(count)?;
            let counts = mixed.session().meter().read();
            let (bits, numbers) = mixed.take_bits(count)?.open();
            Ok((bits, numbers, counts))
        }));
        ones(
            plain.get(),
            &ends.iter().map(|(bits, numbers, _)| (&bits[..], &numbers[..])).collect::<Vec<_>>(),
        );
        for (.., counts) in &ends {
            assert_eq!(counts.phases["bits"].rounds as usize, n);
            let turns = counts.checks[&checks::G14] as usize;
            assert!(turns > 2 * n * (n - 1), "more than two batches, with a circle for each party: {turns}");
        }
    }
}
