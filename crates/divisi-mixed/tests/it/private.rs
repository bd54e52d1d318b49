//! Private tables by hops: the right entries at shared indices, costs, and calls that are refused.

use crate::common::{honest, in_runs, refused, share, small, with_keys};
use divisi_bgv::parameters::{Form, Operation};
use divisi_core::wipe::WipedVec;
use divisi_field::zp::P32;
use divisi_mixed::checks;
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::{GmwBit, Num, num};

#[test]
fn private_tables_by_hops() {
    // how many hops stand in one chain
    let all = usize::MAX;
    for (n, form, width, count, length) in [
        (2, Form::LeanRing, 1, 40, all),
        (3, Form::LeanRing, 3, 8, all),
        // two ciphertexts
        (2, Form::LeanRing, 8, 5, all),
        (4, Form::LeanRing, 2, 4, all),
        (8, Form::LeanRing, 3, 4, all),
        (2, Form::Paper, 1, 8, all),
        (3, Form::Paper, 2, 4, all),
        (4, Form::Paper, 3, 4, all),
        (5, Form::Paper, 1, 4, all),
        (8, Form::Paper, 2, 4, all),
        (2, Form::LeanTree, 1, 40, all),
        (3, Form::LeanTree, 3, 8, all),
        (5, Form::LeanTree, 2, 4, all),
        (4, Form::LeanTree, 8, 5, all),
        (8, Form::LeanTree, 2, 4, all),
        (2, Form::LeanRing, 2, 4, 1),
        (2, Form::Paper, 2, 4, 1),
        (3, Form::LeanRing, 2, 4, 2),
        (4, Form::Paper, 2, 4, 3),
        (5, Form::LeanRing, 2, 4, 2),
        // two ciphertexts
        (5, Form::Paper, 8, 5, 2),
    ] {
        let ring = in_runs(Operation::PrivateTables, form, n, length);
        let p = ring.parameters();
        let refreshes = if form == Form::LeanTree { 0 } else { n.div_ceil(length) - 1 };
        assert_eq!(p.bootstraps(), refreshes);
        let (expected_rounds, expected_bytes) = (p.report().rounds, p.report().bytes_per_item);
        let entries = 1 << width;
        // 0, 1 and p - 1 among them
        let entry = |i: usize| [0, 1, P32 - 1].get(i).copied().unwrap_or(i as u64 * 0x9e37_79b9 % P32);
        let index = |table: usize| (table * 7 + 3) % entries;
        let ends = with_keys(&ring, |session, keys, sampler| {
            let (me, plain) = (session.me().index(), keys.ring().plain());
            let shares: Vec<u64> = (0..entries * count).map(|i| share(n, me, i, entry(i), P32)).collect();
            session.phase("preprocessing");
            let own = Num::new(WipedVec::from(&*shares));
            let tables = prep_lut_polysize(session, keys, sampler, width, &[own])?;
            session.phase("online");
            let bit =
                |j: usize| GmwBit::of((0..count).map(|i| share(n, me, i, (index(i) >> j & 1) as u64, 2)));
            let x: Vec<GmwBit> = (0..width).map(bit).collect();
            let looked = tables.lookup(session, &x)?;
            let counts = session.meter().read();
            Ok((num::open(session, plain, &looked)?, counts))
        });
        let ciphertexts = ((entries - 1) * count).div_ceil(1024);
        let ends = honest(ends);
        for (values, _) in &ends {
            let expected: Vec<u64> = (0..count).map(|i| entry(i * entries + index(i))).collect();
            assert_eq!(*values, expected, "{n} {} {width}", form.name());
        }
        let rounds =
            |phase| ends.iter().map(|(_, counts)| counts.phases[phase].rounds as usize).max().unwrap();
        assert_eq!(rounds("online"), 2);
        // each party of a ring makes one hop with each ciphertext
        let hops: u64 = ends.iter().filter_map(|(_, counts)| counts.checks.get(&checks::G1)).sum();
        // along a tree, only the parties that join another party's signs to their own make one
        let each = if form == Form::LeanTree { n / 2 } else { n };
        assert_eq!(hops as usize, each * ciphertexts, "{n} {}", form.name());
        if form != Form::LeanTree {
            let given = if form == Form::Paper { n.ilog2() as usize } else { 1 };
            assert_eq!(expected_rounds, n + 1 + given + 2 * refreshes);
        }
        if form == Form::Paper && refreshes == 0 {
            // a ciphertext of shares from all but the first; then as for random bits
            let of = |step: &str| ends.iter().filter_map(|(_, counts)| counts.steps.get(step)).sum::<u64>();
            let pairs =
                ["divisi_mixed::private/gather", "divisi_mixed::circle/pass", "divisi_bgv::shares/e2a.ask"];
            let polynomials =
                2 * pairs.into_iter().map(of).sum::<u64>() + of("divisi_bgv::shares/e2a.answer");
            assert_eq!(polynomials as usize, 7 * (n - 1) * ciphertexts);
        }
        let sent: u64 = ends.iter().map(|(_, counts)| counts.phases["preprocessing"].bits / 8).sum();
        assert_eq!(sent as f64 / (n * 1024 * ciphertexts) as f64, expected_bytes, "{n} {}", form.name());
        let framed: u64 = ends.iter().map(|(_, counts)| counts.phases["preprocessing"].bytes).sum();
        assert!((sent..sent + sent / 50).contains(&framed), "{framed} bytes in frames, not {sent}");
        // ciphertexts go side by side, however many there are
        assert_eq!(rounds("preprocessing"), expected_rounds, "{n} {}, {ciphertexts}", form.name());
    }
}

/// Entries of three numbers, more than fit a ciphertext: as many bits are opened as for numbers.
#[test]
fn private_tables_of_vectors() {
    let (width, count, entries, words) = (4, 30, 16, 3);
    let entry = |word: usize, i: usize| {
        let of = |i: usize| (i + word) as u64 * 0x9e37_79b9 % P32;
        [0, 1, P32 - 1].get(i).copied().unwrap_or(of(i))
    };
    let index = |table: usize| (table * 7 + 3) % entries;
    for (n, form) in [(2, Form::LeanRing), (3, Form::LeanTree), (3, Form::Paper), (5, Form::LeanRing)] {
        let ring = small(Operation::PrivateTables, form, n);
        let ends = with_keys(&ring, |session, keys, sampler| {
            let (me, plain) = (session.me().index(), keys.ring().plain());
            let of = |word: usize| {
                let shares = (0..entries * count).map(|i| share(n, me, i + word, entry(word, i), P32));
                Num::new(WipedVec::from(&*shares.collect::<Vec<u64>>()))
            };
            let tables: Vec<Num> = (0..words).map(of).collect();
            let tables = prep_lut_polysize(session, keys, sampler, width, &tables)?;
            assert_eq!(tables.len(), count);
            session.phase("online");
            let bit =
                |j: usize| GmwBit::of((0..count).map(|i| share(n, me, i, (index(i) >> j & 1) as u64, 2)));
            let found = tables.lookup_vectors(session, &(0..width).map(bit).collect::<Vec<_>>())?;
            let online = session.meter().read().phases["online"];
            assert_eq!(found.len(), words);
            Ok((num::open(session, plain, &Num::join(&found.iter().collect::<Vec<_>>()))?, online))
        });
        let ends = honest(ends);
        let of = |word: usize| (0..count).map(move |i| entry(word, i * entries + index(i)));
        let expected: Vec<u64> = (0..words).flat_map(of).collect();
        assert!(ends.iter().all(|(found, _)| *found == expected), "{n} {}", form.name());
        let sent: u64 = ends.iter().map(|(_, online)| online.bits).sum();
        assert_eq!(sent as usize, 2 * (n - 1) * width * count);
    }
    // the last is a vector, which is not taken as a number
    for tables in [&[][..], &[Num::zero(2), Num::zero(4)], &[Num::zero(2), Num::zero(2)]] {
        let ring = small(Operation::PrivateTables, Form::LeanRing, 2);
        refused(with_keys(&ring, |session, keys, sampler| {
            let tables = prep_lut_polysize(session, keys, sampler, 1, tables)?;
            tables.lookup(session, &[GmwBit::zero(1)]).map(drop)
        }));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let tables = Operation::PrivateTables;
    // the width of an index, how many entries there are, and how many indices
    for (operation, form, width, lanes, index) in [
        (Operation::Bits, Form::LeanRing, 1, 2, 1),
        (Operation::Bits, Form::LeanTree, 1, 2, 1),
        (tables, Form::LeanRing, 9, 512, 1),
        (tables, Form::LeanRing, 2, 6, 1),
        (tables, Form::LeanRing, 2, 0, 0),
        (tables, Form::LeanRing, 2, 4, 2),
    ] {
        refused(with_keys(&small(operation, form, 2), |session, keys, sampler| {
            let tables = prep_lut_polysize(session, keys, sampler, width, &[Num::zero(lanes)])?;
            tables.lookup(session, &vec![GmwBit::zero(index); width]).map(drop)
        }));
    }
}
