//! Strands of a session: chunks overlap, results come in order, a failure ends all of them.

use divisi_core::DrawPurpose;
use divisi_core::{Abort, Misuse, PublicParameters, Session, step};
use divisi_net::{Machine, Options, Permits, memory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Every party's result of `f` in a session of three.
fn each<R: Send>(threads: usize, f: impl Fn(&mut Session) -> R + Sync) -> Vec<R> {
    // time limits pass at once when all parties wait, and never because the machine is busy
    let options = Options { timeout: Duration::from_secs(3600), ..Options::default() };
    let meshes = memory::mesh_that_skips(3, &options, Arc::new(Machine));
    std::thread::scope(|scope| {
        let parties: Vec<_> = meshes
            .into_iter()
            .map(|mesh| {
                mesh.set_permits(Permits::new(threads));
                let f = &f;
                scope.spawn(move || {
                    let permits = mesh.permits();
                    let _permit = permits.enter();
                    f(&mut Session::start(&Arc::new(mesh), 1, &PublicParameters::new("strands")).unwrap())
                })
            })
            .collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// One round around the ring: returns the value of the previous party.
fn ring(session: &mut Session, value: u64) -> Result<u64, Abort> {
    let (next, prev) = (session.me().next(3), session.me().prev(3));
    session.send(step!("ring"), next, &value.to_le_bytes(), 64)?;
    let mut bytes = [0; 8];
    session.recv(step!("ring"), prev, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[test]
fn results_come_in_order_whatever_the_number_of_strands_and_threads() {
    for (strands, threads) in [(1, 1), (2, 1), (3, 2), (5, 1), (8, 3)] {
        let results = each(threads, |session| {
            let me = session.me().index() as u64;
            let mut got = Vec::new();
            let work = |strand: &mut Session, c: u64| ring(strand, 100 * c + me);
            let sink = |session: &mut Session, value| {
                got.push((value, ring(session, value)?));
                Ok::<_, Abort>(())
            };
            session.stream(strands, 0..23, work, sink).map(|()| got)
        });
        for (party, result) in results.into_iter().enumerate() {
            let prev = |p: usize| (p as u64 + 2) % 3;
            let expected: Vec<_> =
                (0..23).map(|c| (100 * c + prev(party), 100 * c + prev(prev(party) as usize))).collect();
            assert_eq!(result.unwrap(), expected, "{strands} strands, {threads} threads");
        }
    }
}

#[test]
fn no_more_threads_run_than_there_are_permits() {
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    each(1, |session| {
        // in practice the three parties are three processes: count the threads of one of them
        let counted = session.me().index() == 0;
        let work = |strand: &mut Session, c: u64| {
            if counted {
                most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(2));
                inside.fetch_sub(1, Ordering::SeqCst);
            }
            ring(strand, c)
        };
        session.stream(4, 0..12, work, |_, _| Ok::<_, Abort>(())).unwrap();
    });
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_failure_of_one_chunk_ends_the_stream_at_all_parties() {
    let results = each(2, |session| {
        let corrupt = session.me().index() == 1;
        let work = |strand: &mut Session, c: u64| {
            if corrupt && c == 5 {
                return Err(strand.misuse(step!("chunk"), Misuse::NoResult));
            }
            // twice around the ring: what comes was sent by a party that had received from the third one.
            // So all have started their sessions before the first chunk ends, and chunk 5 begins after that
            let from_prev = ring(strand, c)?;
            ring(strand, from_prev)
        };
        session.stream(3, 0..50, work, |_, _| Ok::<_, Abort>(()))
    });
    assert!(matches!(&results[1], Err(Abort::Misuse { .. })));
    for honest in [0, 2] {
        assert!(matches!(&results[honest], Err(Abort::Network(_))), "{:?}", results[honest]);
    }
}

static TEST: DrawPurpose = DrawPurpose::of_test("a test");

#[test]
fn strands_have_streams_of_their_own_and_peers_share_them() {
    let drawn = each(4, |session| {
        let me = session.me();
        let second = session.strand().unwrap();
        let draw = |s: &mut Session, peer| {
            let mut out = [0; 16];
            s.prg(peer, &TEST).fill(&mut out);
            out
        };
        let mut second = second;
        let peers = session.peers();
        let first: Vec<_> = peers.iter().map(|p| ((me.min(*p), me.max(*p)), draw(session, *p))).collect();
        let other: Vec<_> = peers.iter().map(|p| ((me.min(*p), me.max(*p)), draw(&mut second, *p))).collect();
        (first, other)
    });
    let mut all = std::collections::BTreeMap::new();
    for (strand, side) in drawn.iter().flat_map(|(a, b)| [(0, a), (1, b)]) {
        for (pair, bytes) in side {
            assert_eq!(*all.entry((strand, *pair)).or_insert(*bytes), *bytes, "both ends draw the same");
        }
    }
    let distinct: std::collections::BTreeSet<_> = all.values().collect();
    assert_eq!((all.len(), distinct.len()), (6, 6));
}
