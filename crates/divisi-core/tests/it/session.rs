//! Attacks on the start and the end of sessions among n parties (M0.1 to M0.6).

use divisi_core::DrawPurpose;
use divisi_core::checks;
use divisi_core::draws::KnownDraws;
use divisi_core::{Abort, PartyId, PublicParameters, Session, Step, step};
use divisi_net::memory::mesh_that_skips;
use divisi_net::tamper::{Intercept, Tap};
use divisi_net::{Frame, Machine, Mesh, Options};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

static TEST: DrawPurpose = DrawPurpose::of_test("a test");
static OTHER: DrawPurpose = DrawPurpose::of_test("another test");

const HELLO: &str = "divisi_core::session::agree/hello";
const COMPARED: Step = step!("compared");
const ECHO: &str = "divisi_core::session::agree/echo";

fn meshes(n: usize) -> Vec<Mesh> {
    // time limits pass at once when all parties wait, and never because the machine is busy
    let options = Options { timeout: Duration::from_secs(3600), ..Options::default() };
    mesh_that_skips(n, &options, Arc::new(Machine))
}

fn party(index: usize) -> PartyId {
    PartyId::from_index(index).unwrap()
}

/// Start session 1 at each party and run `f` in it; the results in the parties' order.
fn play<R: Send>(meshes: Vec<Mesh>, f: impl Fn(Session) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
    std::thread::scope(|scope| {
        let f = &f;
        let start = |mesh: Mesh| f(Session::start(&Arc::new(mesh), 1, &PublicParameters::new("core tests"))?);
        let parties: Vec<_> = meshes.into_iter().map(|mesh| scope.spawn(move || start(mesh))).collect();
        parties.into_iter().map(|p| p.join().unwrap()).collect()
    })
}

/// Flip one byte of the first message of a step on these links.
fn flip(meshes: &[Mesh], from: usize, to: &[usize], name: &'static str, byte: usize) {
    for &to in to {
        let mut done = false;
        let hand = move |mut frame: Frame| {
            if frame.step == Step::new(name).id && !std::mem::replace(&mut done, true) {
                frame.body[byte] ^= 1;
            }
            vec![frame]
        };
        Tap::new(&meshes[from]).intercept(party(to), Box::new(hand)).unwrap();
    }
}

/// All bits of a digest of parameters are sent: each is one for some of 16 parameters, and zero for others.
#[test]
fn parameters_are_told_by_all_bits_of_their_digest() {
    let mut digests = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"] {
        let parameters = PublicParameters::new(name);
        let meshes = meshes(2);
        let (give, take) = std::sync::mpsc::channel();
        let hand = move |frame: Frame| {
            give.send(frame.body.clone()).unwrap();
            vec![frame]
        };
        Tap::new(&meshes[0]).intercept(party(1), Box::new(hand)).unwrap();
        std::thread::scope(|scope| {
            for mesh in meshes {
                scope.spawn(|| Session::start(&Arc::new(mesh), 1, &parameters).map(drop).unwrap());
            }
        });
        assert_eq!(take.recv().unwrap()[..32], parameters.digest(), "{name}");
        digests.push(parameters.digest());
    }
    for byte in 0..32 {
        let bytes = || digests.iter().map(|digest| digest[byte]);
        assert_eq!(
            (bytes().fold(0, |x, y| x | y), bytes().fold(0xff, |x, y| x & y)),
            (0xff, 0),
            "byte {byte}"
        );
    }
}

#[test]
fn all_have_one_id_and_each_pair_its_key() {
    for n in [2, 3, 5] {
        let results = play(meshes(n), |session| {
            let keys: Vec<_> =
                PartyId::all(n).map(|p| (p != session.me()).then(|| *session.key(p, &TEST))).collect();
            Ok((*session.id().as_bytes(), keys))
        });
        let parties: Vec<_> = results.into_iter().map(Result::unwrap).collect();
        assert!(parties.iter().all(|p| p.0 == parties[0].0));
        let mut keys = HashSet::new();
        for i in 0..n {
            for j in 0..i {
                assert_eq!(parties[i].1[j], parties[j].1[i]);
                keys.insert(parties[i].1[j].unwrap());
            }
        }
        assert_eq!(keys.len(), n * (n - 1) / 2);
    }
}

/// All bytes of a session's number are part of its id: sessions of other numbers have other ids, even if the
/// same nonces were drawn in them.
#[test]
fn a_sessions_number_is_part_of_its_id() {
    let known = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
    let parameters = PublicParameters::new("core tests").drawing(known);
    let id = |number: u32| {
        std::thread::scope(|scope| {
            let start =
                |mesh: Mesh| Ok(*Session::start(&Arc::new(mesh), number, &parameters)?.id().as_bytes());
            let parties: Vec<_> =
                meshes(2).into_iter().map(|mesh| scope.spawn(move || start(mesh))).collect();
            let ids: Vec<Result<[u8; 32], Abort>> = parties.into_iter().map(|p| p.join().unwrap()).collect();
            assert_eq!(ids[0], ids[1]);
            ids[0].clone().unwrap()
        })
    };
    assert_eq!(id(1), id(1));
    let numbers = [1, 2, 1 + (1 << 8), 1 + (1 << 16), 1 + (1 << 24)];
    assert_eq!(numbers.map(id).into_iter().collect::<HashSet<_>>().len(), numbers.len());
}

/// Whoever shows another digest than this party ends the session, in each byte, also after digests that were
/// equal.
#[test]
fn digests_that_differ_end_the_session() {
    for byte in [0, 1, 31] {
        let ends = play(meshes(3), |mut session| {
            session.compare(checks::M0_3, COMPARED, &[5; 32])?;
            let mut digest = [5; 32];
            digest[byte] ^= u8::from(session.me() == party(2));
            session.compare(checks::M0_3, COMPARED, &digest)
        });
        let failed = |end| matches!(end, &Err(Abort::CheckFailed { check, .. }) if check == checks::M0_3);
        assert!(ends.iter().any(failed) && ends.iter().all(Result::is_err), "{byte}: {ends:?}");
    }
}

/// A party sends one nonce to some and another to the others: for 3 to 5 parties and every way to divide the
/// honest ones, all of them stop.
#[test]
fn a_nonce_told_differently_ends_the_start_for_every_honest_subset() {
    for n in 3..=5 {
        for subset in 1..(1 << (n - 1)) - 1 {
            let meshes = meshes(n);
            let lied_to: Vec<usize> = (1..n).filter(|i| subset >> (i - 1) & 1 == 1).collect();
            flip(&meshes, 0, &lied_to, HELLO, 40);
            let results = play(meshes, |_| Ok(()));
            assert!(results[1..].iter().all(Result::is_err), "{n} parties, {lied_to:?}: {results:?}");
            assert!(
                results.iter().any(|r| matches!(r, Err(Abort::CheckFailed { check: checks::M0_3, .. }))),
                "{results:?}"
            );
        }
    }
}

/// A nonce that is changed in the same way towards all peers is only another nonce for them, but the liar's
/// own id differs.
#[test]
fn a_nonce_of_the_liars_own_making_leaves_the_others_together() {
    let meshes = meshes(3);
    flip(&meshes, 0, &[1, 2], HELLO, 33);
    let results = play(meshes, |_| Ok(()));
    // the liar's echo gives it away
    assert!(results.iter().all(Result::is_err));
}

#[test]
fn a_false_echo_or_proof_names_the_check() {
    for (byte, check) in [(0, checks::M0_3), (31, checks::M0_3), (32, checks::M0_1), (63, checks::M0_1)] {
        let meshes = meshes(3);
        flip(&meshes, 2, &[1], ECHO, byte);
        let results = play(meshes, |_| Ok(()));
        let found = matches!(&results[1], Err(Abort::CheckFailed { check: c, .. }) if *c == check);
        assert!(found, "{:?}", results[1]);
    }
}

/// Records the messages that go out after a party has failed.
struct Listener(Arc<Mutex<(bool, Vec<u32>)>>);

impl Intercept for Listener {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        let state = &mut *self.0.lock().unwrap();
        if state.0 {
            state.1.push(frame.step);
        }
        vec![frame]
    }

    fn abort_sent(&mut self, _: u32) {
        self.0.lock().unwrap().0 = true;
    }
}

/// After an Abort no strand sends anything: neither the one that failed nor another (docs/lookups.md, 6).
#[test]
fn after_an_abort_every_strand_is_silent() {
    const LATE: Step = step!("late");
    let meshes = meshes(3);
    let received = Arc::new(Mutex::new((false, Vec::new())));
    for to in [1, 2] {
        Tap::new(&meshes[0]).intercept(party(to), Box::new(Listener(received.clone()))).unwrap();
    }
    let results = play(meshes, |session| {
        let mut strands = [session.strand()?, session.strand()?];
        if session.me() != party(0) {
            let mut body = [0; 1];
            return strands[0].recv(LATE, party(0), &mut body);
        }
        let end = session.require(checks::M0_3, LATE, false, None);
        assert!(end.is_err());
        for strand in &mut strands {
            let sent = strand.send(LATE, party(1), &[1], 8);
            assert!(sent.is_err(), "a strand of an ended session sent something");
            assert!(strand.strand().is_err() || strand.send(LATE, party(2), &[1], 8).is_err());
        }
        end
    });
    assert!(results.iter().all(Result::is_err));
    let received = received.lock().unwrap();
    assert!(received.0 && received.1.is_empty(), "{:?}", received.1);
}

/// A second request for a stream gives another stream; those of different strands and purposes differ too.
#[test]
fn no_stream_is_given_out_twice() {
    let results = play(meshes(2), |mut session| {
        let peer = session.peers()[0];
        let mut strand = session.strand()?;
        let mut all = Vec::new();
        for purpose in [&TEST, &OTHER] {
            for s in [&mut session, &mut strand] {
                for _ in 0..3 {
                    let mut out = [0; 16];
                    s.prg(peer, purpose).fill(&mut out);
                    all.push(out);
                }
            }
        }
        Ok(all)
    });
    let [a, b]: [Vec<[u8; 16]>; 2] =
        results.into_iter().map(Result::unwrap).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(a, b);
    assert_eq!(a.iter().collect::<HashSet<_>>().len(), 12);
}

const PASSED: Step = step!("passed");

/// One message to each peer, and one from each.
fn pass(session: &mut Session) -> Result<(), Abort> {
    let peers = session.peers();
    peers.iter().try_for_each(|peer| session.send(PASSED, *peer, &[1], 8))?;
    peers.iter().try_for_each(|peer| session.recv(PASSED, *peer, &mut [0]))
}

/// Rounds of each of these phases, by the meter.
fn rounds<const N: usize>(session: &Session, names: [&str; N]) -> [u32; N] {
    let counts = session.meter().read();
    names.map(|name| counts.phases.get(name).map_or(0, |phase| phase.rounds))
}

/// Detours that follow each other count as one chain, also if the phase between them begins again; what is
/// counted aside runs beside it.
#[test]
fn detours_in_a_row_are_added_up() {
    let ends = play(meshes(2), |mut session| {
        let through = |session: &mut Session, name: &'static str, rounds: usize| {
            let place = session.detour(name);
            let result = (0..rounds).try_for_each(|_| pass(session));
            session.back(place);
            result
        };
        session.phase("online");
        for rounds in [3, 1, 3] {
            through(&mut session, "ahead", rounds)?;
            pass(&mut session)?;
        }
        through(&mut session, "online", 2)?;
        let place = session.aside();
        pass(&mut session)?;
        session.back(place);
        pass(&mut session)?;
        session.phase("online");
        through(&mut session, "ahead", 2)?;
        assert!(!session.detoured("ahead").is_zero() && session.detoured("online").is_zero());
        Ok(rounds(&session, ["online", "ahead"]))
    });
    assert!(ends.iter().all(|end| *end == Ok([6, 9])), "{ends:?}");
}

/// The two rounds of the start are part of *setup*, and a phase that begins again goes on where it was.
#[test]
fn a_phase_that_comes_again_adds_its_rounds() {
    let ends = play(meshes(2), |mut session| {
        let mut all = vec![rounds(&session, ["setup", "online"])];
        for (name, times) in [("setup", 3), ("online", 2), ("setup", 1), ("setup", 1), ("online", 4)] {
            session.phase(name);
            (0..times).try_for_each(|_| pass(&mut session))?;
            all.push(rounds(&session, ["setup", "online"]));
        }
        Ok(all)
    });
    let expected = vec![[2, 0], [5, 0], [5, 2], [6, 2], [7, 2], [7, 6]];
    assert!(ends.iter().all(|end| *end == Ok(expected.clone())), "{ends:?}");
}

/// What an exchange sends is one round, however much it received before, and what it sends for the next
/// round is one more.
#[test]
fn an_exchange_is_one_round_and_its_next_round_one_more() {
    for (later, expected) in [(0, 2), (1, 3), (2, 3)] {
        let ends = play(meshes(2), |mut session| {
            session.phase("work");
            pass(&mut session)?;
            session.exchange(|session| {
                (0..3).try_for_each(|_| pass(session))?;
                (0..later).try_for_each(|_| session.next_round(pass))
            })?;
            Ok(rounds(&session, ["work"]))
        });
        assert!(ends.iter().all(|end| *end == Ok([expected])), "{later}: {ends:?}");
    }
}

/// Parties that run different engines, or other parameters of one, do not begin.
#[test]
fn parties_with_other_parameters_do_not_begin() {
    let named = |name: &str| PublicParameters::new(name);
    for (ours, theirs, fits) in [
        (named("one"), named("one"), true),
        (named("one"), named("two"), false),
        (named("one"), named("one").with("k", b"1"), false),
        (named("one").with("k", b"1"), named("one").with("k", b"2"), false),
    ] {
        let ends: Vec<bool> = std::thread::scope(|scope| {
            let start = |(mesh, parameters)| Session::start(&Arc::new(mesh), 1, parameters).is_ok();
            let parties = meshes(2).into_iter().zip([&ours, &theirs]);
            let parties: Vec<_> = parties.map(|party| scope.spawn(move || start(party))).collect();
            parties.into_iter().map(|party| party.join().unwrap()).collect()
        });
        assert_eq!(ends, [fits; 2]);
    }
}

/// Strands that run beside each other begin where the strand is that opens them, and count as long as the
/// longest; whoever waits for them follows them.
#[test]
fn of_strands_beside_each_other_the_longest_counts() {
    let ends = play(meshes(2), |mut session| {
        session.phase("work");
        (0..2).try_for_each(|_| pass(&mut session))?;
        let (mut long, mut short) = (session.strand()?, session.strand()?);
        (0..3).try_for_each(|_| pass(&mut long))?;
        pass(&mut short)?;
        pass(&mut session)?;
        let mut all = rounds(&session, ["work"]).to_vec();
        session.after_chain(long.chain());
        pass(&mut session)?;
        all.extend(rounds(&session, ["work"]));
        Ok(all)
    });
    assert!(ends.iter().all(|end| *end == Ok(vec![5, 6])), "{ends:?}");
}

/// Chunks on one strand follow each other; on several, each follows those that had come out before it began.
#[test]
fn chunks_of_a_strand_follow_each_other() {
    for (strands, expected) in [(1, 11), (2, 7), (5, 3), (8, 3)] {
        let ends = play(meshes(2), |mut session| {
            session.phase("work");
            let work = |strand: &mut Session, _: usize| (0..2).try_for_each(|_| pass(strand));
            session.stream(strands, 0..5, work, |_, ()| Ok::<_, Abort>(()))?;
            pass(&mut session)?;
            Ok(rounds(&session, ["work"]))
        });
        assert!(ends.iter().all(|end| *end == Ok([expected])), "{strands}: {ends:?}");
    }
}

/// After a reset of the meter rounds begin at zero, in all strands and phases.
#[test]
fn rounds_begin_again_after_a_reset() {
    let ends = play(meshes(2), |mut session| {
        let mut strand = session.strand()?;
        for name in ["other", "work"] {
            session.phase(name);
            (0..5).try_for_each(|_| pass(&mut session))?;
        }
        (0..3).try_for_each(|_| pass(&mut strand))?;
        session.meter().reset();
        assert_eq!((session.chain(), strand.chain()), (0, 0));
        pass(&mut session)?;
        session.phase("other");
        (0..2).try_for_each(|_| pass(&mut session))?;
        strand.phase("beside");
        pass(&mut strand)?;
        let mut all = rounds(&session, ["setup", "work", "other", "beside"]).to_vec();
        // strands of a stream follow what came after the last reset, too, however many there were
        (0..256).for_each(|_| session.meter().reset());
        session.stream(2, 0..2, |strand, _| pass(strand), |_, ()| Ok::<_, Abort>(()))?;
        all.extend(rounds(&session, ["other"]));
        Ok(all)
    });
    assert!(ends.iter().all(|end| *end == Ok(vec![0, 1, 2, 1, 1])), "{ends:?}");
}
