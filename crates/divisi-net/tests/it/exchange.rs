//! Messages of all sizes, in all directions at once, over memory and TLS.

use crate::parties::*;
use divisi_fuzz::repetitions;
use divisi_net::{Emulation, Fault, Mesh, Options, Permits, memory, step};
use std::time::{Duration, Instant};

const SIZES: [usize; 4] = [0, 1, 100_000, 8_000_000];

fn ring(mesh: &Mesh, session: u32, sizes: &[usize]) -> Result<(), Fault> {
    let (n, me) = (mesh.parties(), mesh.me());
    let c = mesh.open(session, 0)?;
    for (depth, &size) in sizes.iter().enumerate() {
        let (next, prev) = (me.next(n), me.prev(n));
        c.send(next, step!("ring"), depth as u32 + 1, &pattern(me, next, size))?;
        let mut got = vec![0; size];
        assert_eq!(c.recv(prev, step!("ring"), &mut got)?, depth as u32 + 1);
        assert!(got == pattern(prev, me, size));
    }
    Ok(())
}

fn all_to_all(mesh: &Mesh, session: u32, strand: u32, times: usize, sizes: &[usize]) -> Result<(), Fault> {
    let me = mesh.me();
    let c = mesh.open(session, strand)?;
    for &size in std::iter::repeat_n(sizes, times).flatten() {
        for to in mesh.peers() {
            c.send(to, step!("all"), 1, &pattern(me, to, size))?;
        }
        for from in mesh.peers() {
            assert!(receive(&c, from, step!("all"), size)? == pattern(from, me, size));
        }
    }
    Ok(())
}

#[test]
fn ring_and_all_to_all() {
    for n in [3, 5] {
        let mut sizes = SIZES;
        sizes[3] = if n == 3 { SIZES[3] } else { repetitions(1_000_000, SIZES[3]) };
        for meshes in both(n, &Options::default()) {
            for result in run(&meshes, |m| ring(m, 1, &sizes).and_then(|()| all_to_all(m, 2, 0, 1, &sizes))) {
                result.unwrap();
            }
            for mesh in &meshes {
                let body: usize = sizes.iter().sum();
                let heads: usize = sizes.iter().map(|s| 20 * s.div_ceil(65536).max(1)).sum();
                let once = (body + heads) as u64;
                let next = mesh.me().next(n);
                assert_eq!(mesh.bytes_sent(next), 2 * once);
                assert_eq!(mesh.bytes_sent(mesh.me()), 0);
            }
        }
    }
}

#[test]
fn a_hundred_parties_fit_in_a_process() {
    for result in run(&memory::mesh(100), |m| all_to_all(m, 1, 0, 2, &[64])) {
        result.unwrap();
    }
}

#[test]
fn a_send_does_not_wait_for_the_reader() {
    for meshes in both(3, &Options::default()) {
        run(&meshes, |m| {
            let c = m.open(1, 0).unwrap();
            for i in 0..4 {
                for to in m.peers() {
                    c.send(to, step!("early"), 1, &vec![i; 8_000_000]).unwrap();
                }
            }
            for i in 0..4 {
                for from in m.peers() {
                    assert!(receive(&c, from, step!("early"), 8_000_000).unwrap() == vec![i; 8_000_000]);
                }
            }
        });
    }
}

#[test]
fn strands_interleave_under_one_permit() {
    for meshes in both(3, &Options { permits: Permits::new(2), ..Options::default() }) {
        for mesh in &meshes {
            assert_eq!(mesh.permits().total(), 2);
            mesh.set_permits(Permits::new(1));
            assert_eq!(mesh.permits().total(), 1);
        }
        run(&meshes, |m| {
            std::thread::scope(|s| {
                for strand in 0..4 {
                    s.spawn(move || {
                        let permits = m.permits();
                        let _permit = permits.enter();
                        all_to_all(m, 7, strand, 20, &[0, 16, 70_000]).unwrap();
                    });
                }
            });
        });
    }
}

#[test]
fn what_is_queued_leaves_while_the_sender_computes() {
    let meshes = tls(2, &Options::default());
    // The sender waits for this and never for its mesh: only the pump can push on what the kernel did not
    // take.
    let done = std::sync::Barrier::new(2);
    run(&meshes, |m| {
        let c = m.open(1, 0).unwrap();
        if m.me() == p(1) {
            c.send(p(2), step!("big"), 1, &vec![5; 40_000_000]).unwrap();
            done.wait();
        } else {
            let got = receive(&c, p(1), step!("big"), 40_000_000);
            done.wait();
            assert!(got.unwrap() == vec![5; 40_000_000]);
        }
    });
}

/// A strand or a session of any number carries messages; the last number alone is for the mesh's own words.
#[test]
fn strands_and_sessions_have_any_number() {
    for meshes in both(2, &Options::default()) {
        for number in (0..32).map(|bit| u32::MAX >> bit).skip(1).chain([0x1ff, 0xffff_00ff]) {
            for (session, strand) in [(1, number), (number, 1)] {
                let [a, b] = [0, 1].map(|i: usize| meshes[i].open(session, strand).unwrap());
                a.send(p(2), step!("x"), 1, &[5]).unwrap();
                assert_eq!(receive(&b, p(1), step!("x"), 1).unwrap(), [5], "{session} {strand}");
            }
        }
    }
}

#[test]
fn link_secrets_agree_in_pairs_and_differ_else() {
    for (a, b) in both(3, &Options::default()).into_iter().zip(both(3, &Options::default())) {
        let secret = |m: &[Mesh], i: u8, j: u8| *m[usize::from(i) - 1].link_secret(p(j)).unwrap();
        let mut seen = Vec::new();
        for meshes in [&a, &b] {
            for (i, j) in [(1, 2), (2, 3), (3, 1)] {
                assert_eq!(secret(meshes, i, j), secret(meshes, j, i));
                assert!(secret(meshes, i, j).chunks(8).all(|bytes| bytes != [0; 8]));
                seen.push(secret(meshes, i, j));
            }
            assert!(meshes[0].link_secret(p(1)).is_err());
            assert!(meshes[0].link_secret(p(4)).is_err());
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 6);
    }
}

#[test]
fn emulated_links_keep_time() {
    // 40 ms and 16 Mbit/s: 100,000 bytes take 50 ms and 20 ms more.
    let emulation = Emulation::new(Some(40.0), Some(16.0));
    for meshes in both(3, &Options { emulation, ..Options::default() }) {
        // The last party to end has waited for all that was due since the first began.
        let timed = |session, sizes: &[usize]| {
            let start = Instant::now();
            run(&meshes, |m| ring(m, session, sizes).unwrap());
            start.elapsed()
        };
        let small = timed(1, &[1; 5]);
        assert!(small >= Duration::from_millis(100) && small < Duration::from_secs(3), "{small:?}");
        let large = timed(2, &[100_000]);
        assert!(large >= Duration::from_millis(70) && large < Duration::from_secs(3), "{large:?}");
    }
}

#[test]
fn a_round_trip_costs_no_hand_over() {
    let meshes = tls(2, &Options::default());
    run(&meshes, |m| {
        let c = m.open(1, 0).unwrap();
        // the thread's own processor time, which other load on the machine does not change
        let used = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        let (n, start) = (2_000, used());
        for i in 0..n {
            let mut body = [0; 16];
            if m.me() == p(1) {
                c.send(p(2), step!("ping"), i, &body).unwrap();
                c.recv(p(2), step!("pong"), &mut body).unwrap();
            } else {
                c.recv(p(1), step!("ping"), &mut body).unwrap();
                c.send(p(1), step!("pong"), i, &body).unwrap();
            }
        }
        let each = (used() - start) / n;
        println!("{each:?} a round trip");
        assert!(each < Duration::from_millis(1));
    });
}
