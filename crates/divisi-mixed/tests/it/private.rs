//! Private tables by hops: the right entries at shared indices, costs, and calls that are refused.

use crate::common::{foreign, honest, in_runs, refused_after, refused_for, share, small, with_keys};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Sampler};
use divisi_core::wipe::WipedVec;
use divisi_core::{Misuse, Session};
use divisi_field::zp::P32;
use divisi_mixed::checks;
use divisi_mixed::prep_lut::prep_lut_polysize;
use divisi_mixed::{GmwBit, Num, num};
use std::sync::Mutex;

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
            assert!(tables.len() == count && !tables.is_empty());
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
}

/// Every party refuses by itself tables and indices that do not fit or are of another session, after calls
/// that all accept. (2 and 258 lanes are as many in eight bits.)
#[test]
fn what_does_not_fit_is_refused_by_all() {
    let ring = small(Operation::PrivateTables, Form::LeanTree, 2);
    let one = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        prep_lut_polysize(session, keys, sampler, 2, &[Num::zero(4)])
    };
    let theirs = honest(with_keys(&ring, one)).into_iter().map(|masked| Mutex::new(Some(masked)));
    let (theirs, foreign) = (theirs.collect::<Vec<_>>(), foreign());
    let accepted = |session: &mut Session, keys: &Keys, sampler: &mut Sampler| {
        one(session, keys, sampler)?.lookup(session, &[GmwBit::zero(1), GmwBit::zero(1)])?;
        let vectors = prep_lut_polysize(session, keys, sampler, 1, &[Num::zero(2), Num::zero(2)])?;
        Ok((vectors, (0..8).map(|_| one(session, keys, sampler)).collect::<Result<Vec<_>, _>>()?))
    };
    refused_after(&ring, accepted, |session, keys, sampler, (vectors, masked)| {
        let me = session.me().index();
        // once for each call, of a lookup, too
        assert_eq!(session.meter().read().checks[&checks::G7], 2 * (1 + 1 + 1 + 8));
        let (bit, number) = &foreign[me];
        let theirs = theirs[me].lock().unwrap().take().unwrap();
        let zero = GmwBit::zero(1);
        refused_for([
            // not taken as numbers
            (Misuse::CountsDiffer, vectors.lookup(session, std::slice::from_ref(&zero)).map(drop)),
            (Misuse::OtherSession, theirs.lookup(session, &[zero.clone(), zero.clone()]).map(drop)),
        ]);
        let bits = |lanes: &[usize]| lanes.iter().copied().map(GmwBit::zero).collect();
        let indices: [(Misuse, Vec<GmwBit>); 8] = [
            (Misuse::OtherSession, vec![bit.clone(), zero.clone()]),
            (Misuse::OtherSession, vec![zero, bit.clone()]),
            (Misuse::CountsDiffer, bits(&[])),
            (Misuse::CountsDiffer, bits(&[1])),
            (Misuse::CountsDiffer, bits(&[1; 3])),
            (Misuse::CountsDiffer, bits(&[1, 2])),
            (Misuse::CountsDiffer, bits(&[2, 1])),
            (Misuse::CountsDiffer, bits(&[257; 2])),
        ];
        for (masked, (what, x)) in masked.into_iter().zip(indices) {
            refused_for([(what, masked.lookup(session, &x).map(drop))]);
        }
        let mut prepare = |width, tables: &[Num]| prep_lut_polysize(session, keys, sampler, width, tables);
        let (four, mut large) = (Num::zero(4), WipedVec::zeros(4));
        large[3] = P32;
        for (what, other) in [
            (Misuse::OtherSession, number.clone()),
            (Misuse::OutOfRange, Num::new(large)),
            (Misuse::CountsDiffer, Num::zero(8)),
            (Misuse::CountsDiffer, Num::zero(260)),
        ] {
            refused_for([
                (what, prepare(2, &[four.clone(), other.clone()]).map(drop)),
                (what, prepare(2, &[other, four.clone()]).map(drop)),
            ]);
        }
        for (width, lanes) in [(0, 4), (9, 512), (2, 6), (2, 0)] {
            refused_for([(Misuse::CircuitUnfit, prepare(width, &[Num::zero(lanes)]).map(drop))]);
        }
        refused_for([(Misuse::CircuitUnfit, prepare(2, &[]).map(drop))]);
    });
    for form in [Form::LeanRing, Form::LeanTree] {
        refused_after(
            &small(Operation::Bits, form, 2),
            |_, _, _| Ok(()),
            |session, keys, sampler, ()| {
                refused_for([(); 2].map(|()| (Misuse::KeyUnfit, one(session, keys, sampler).map(drop))));
            },
        );
    }
}
