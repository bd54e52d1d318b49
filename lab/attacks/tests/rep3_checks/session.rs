//! The start of a session: each byte of what is said counts, each value of it is fresh, and keys depend on
//! all they must (M0.1 to M0.6, A3).

use crate::known::{SeededWorld, seed, seed_first, unseed};
use divisi_core::DrawPurpose;
use divisi_core::testing::{Harness, MessageDirection, links, many, party};
use divisi_core::{Abort, PartyId, PublicParameters, Session};
use divisi_net::memory;
use divisi_rep3::checks;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

const HELLO: &str = "divisi_core::session::agree/hello";
const ECHO: &str = "divisi_core::session::agree/echo";

fn harness() -> Harness {
    Harness::new(3, &PublicParameters::new("attacks")).patient()
}

/// Asserts that each bit is one in some samples and zero in others. For a random bit in 64 samples this fails
/// with probability 2^-63.
pub fn every_bit_varies(what: &str, samples: &[Vec<u8>]) {
    assert!(samples.len() >= 64);
    let all = |start: u8, f: fn(u8, u8) -> u8| {
        (0..samples[0].len()).map(|i| samples.iter().fold(start, |x, s| f(x, s[i]))).collect::<Vec<u8>>()
    };
    let (ones, zeros) = (all(0, |x, y| x | y), all(0xff, |x, y| x & y));
    assert!(
        ones.iter().all(|x| *x == 0xff) && zeros.iter().all(|x| *x == 0),
        "{what}: a bit is the same in all"
    );
}

/// A byte of a message of the start, changed on one link: whoever gets it ends the session.
#[test]
fn every_byte_of_the_start_counts() {
    let links: Vec<_> = links(3).collect();
    // every byte on some link, and every link at each end of a part
    let places: Vec<(usize, &str, usize)> = (0..links.len())
        .flat_map(|l| [(HELLO, 96), (ECHO, 64)].map(|(step, n)| (l, step, n)))
        .flat_map(|(l, step, n)| (0..n).map(move |byte| (l, step, byte)))
        .filter(|(l, _, byte)| byte % 32 == 31 || byte % 3 == l % 3)
        .collect();
    many(places.len(), 4, |i| {
        let (l, step, byte) = places[i];
        let (from, to) = links[l];
        let harness = harness();
        harness.change(from, to, step, 0, move |body| body[byte] ^= 1 << (byte % 8));
        let results = harness.act(|_| Ok(()));
        assert!(results[to.index()].is_err(), "{step}: byte {byte}, {from} to {to}: {results:?}");
        if (step, byte / 32) == (HELLO, 0) {
            // compared by itself: a wrong configuration is told as such, by whoever sees it
            let told = matches!(&results[to.index()], Err(Abort::Disagreement { peer, .. }) if *peer == from);
            assert!(told, "{results:?}");
        }
    });
}

/// A party's nonce is changed in the same way for both others, but not at the party itself: the id depends on
/// every byte of every party's.
#[test]
fn the_id_depends_on_every_byte_of_every_nonce() {
    many(3 * 32, 4, |i| {
        let (from, byte) = (party(1 + (i / 32) as u8), 32 + i % 32);
        let harness = harness();
        for to in PartyId::all(3).filter(|to| *to != from) {
            harness.change(from, to, HELLO, 0, move |body| body[byte] ^= 0x10);
        }
        let results = harness.act(|_| Ok(()));
        assert!(results.iter().all(Result::is_err), "{from}, byte {byte}: {results:?}");
    });
}

/// Nonces and contributions are fresh to the last bit, and no two are alike.
#[test]
fn nonces_and_contributions_are_fresh() {
    let mut samples = Vec::new();
    let mut all = Vec::new();
    for _ in 0..64 {
        let harness = harness();
        let recordings = harness.recordings();
        assert!(harness.act(|_| Ok(())).iter().all(Result::is_ok));
        let mut sample = Vec::new();
        for (p, recording) in PartyId::all(3).zip(&recordings) {
            let hellos = recording.of(MessageDirection::Out, HELLO);
            assert!(hellos[0].frame.body[32..64] == hellos[1].frame.body[32..64], "{p} has one nonce");
            all.push(hellos[0].frame.body[32..64].to_vec());
            all.extend(hellos.iter().map(|hello| hello.frame.body[64..].to_vec()));
            sample.extend(hellos.iter().flat_map(|hello| hello.frame.body[32..].to_vec()));
        }
        samples.push(sample);
    }
    every_bit_varies("hello", &samples);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 64 * 9);
}

/// The proof that a party has a pair's key is not that of its peer.
#[test]
fn a_proof_is_no_proof_of_the_other_end() {
    let harness = harness();
    let recordings = harness.recordings();
    assert!(harness.act(|_| Ok(())).iter().all(Result::is_ok));
    let proofs = recordings.iter().flat_map(|r| r.of(MessageDirection::Out, ECHO));
    let proofs: HashSet<Vec<u8>> = proofs.map(|echo| echo.frame.body[32..].to_vec()).collect();
    assert_eq!(proofs.len(), 6);
}

static ATTACKS: DrawPurpose = DrawPurpose::of_test("attacks");
static OTHER: DrawPurpose = DrawPurpose::of_test("other attacks");

/// The id and a pair's key in a session whose link secrets, nonces and contributions are known.
fn id_and_key(links: u8, nonces: u8, contributions: [u8; 3]) -> [Vec<u8>; 2] {
    seed(links, 0);
    let harness = Harness::in_world(3, &PublicParameters::new("attacks"), Arc::new(SeededWorld)).patient();
    unseed();
    let begin = |me: PartyId| {
        seed_first(nonces, me.number());
        seed(contributions[me.index()], me.number());
        PublicParameters::new("attacks")
    };
    let all = harness.act_each(begin, |session| {
        Ok([session.id().as_bytes().to_vec(), session.key(session.me().next(3), &ATTACKS).to_vec()])
    });
    all.into_iter().next().unwrap().unwrap()
}

/// A pair's key depends on the link's own secret, on both contributions and on the id.
#[test]
fn keys_depend_on_all_they_are_made_of() {
    let base = id_and_key(1, 2, [3, 3, 3]);
    assert_eq!(id_and_key(1, 2, [3, 3, 3]), base);
    for (what, links, nonces, contributions, same_id) in [
        ("the link's secret", 9, 2, [3, 3, 3], true),
        ("the nonces", 1, 9, [3, 3, 3], false),
        ("its own contribution", 1, 2, [9, 3, 3], true),
        ("its peer's contribution", 1, 2, [3, 9, 3], true),
    ] {
        let [id, key] = id_and_key(links, nonces, contributions);
        assert_eq!(id == base[0], same_id, "{what}");
        assert_ne!(key, base[1], "{what}");
    }
    // the third party's contributions are none of the pair's
    assert_eq!(id_and_key(1, 2, [3, 3, 9]), base);
}

/// Keys of another pair, purpose or strand are others, and fresh to the last bit in every session; so are
/// those of streams.
#[test]
fn keys_belong_to_one_pair_purpose_and_strand() {
    let (mut keys, mut streams) = (Vec::new(), Vec::new());
    let parameters = PublicParameters::new("attacks").recording();
    for _ in 0..64 {
        let both = Harness::new(3, &parameters).patient().act(|mut session| {
            let mut strand = session.strand()?;
            let (mut keys, next) = (Vec::new(), session.me().next(3));
            for session in [&mut session, &mut strand] {
                for purpose in [&ATTACKS, &OTHER] {
                    keys.extend(session.peers().into_iter().map(|peer| session.key(peer, purpose).to_vec()));
                    for _ in 0..2 {
                        let mut drawn = [0; 16];
                        session.prg(next, purpose).fill(&mut drawn);
                    }
                }
            }
            Ok((keys, session.draws().into_iter().map(|stream| stream.key.to_vec()).collect::<Vec<_>>()))
        });
        let (of_pairs, of_streams): (Vec<_>, Vec<_>) = both.into_iter().map(Result::unwrap).unzip();
        // each key is held by two
        let distinct: BTreeSet<&Vec<u8>> = of_pairs.iter().flatten().collect();
        assert_eq!((of_pairs.concat().len(), distinct.len()), (24, 12));
        let distinct: BTreeSet<&Vec<u8>> = of_streams.iter().flatten().collect();
        assert_eq!(distinct.len(), 24);
        keys.push(of_pairs[0].concat());
        streams.push(of_streams[0].concat());
    }
    every_bit_varies("keys", &keys);
    every_bit_varies("keys of streams", &streams);
}

/// Names and values of parameters count to their last byte.
#[test]
fn parameters_count_to_their_last_byte() {
    let digest = |name: &str, value: &[u8]| PublicParameters::new("attacks").with(name, value).digest();
    let value = [7; 40];
    let base = digest("a name that is long", &value);
    for byte in 0..40 {
        let mut other = value;
        other[byte] ^= 1;
        assert_ne!(digest("a name that is long", &other), base, "{byte}");
    }
    assert_ne!(digest("a name that is lonG", &value), base);
    assert_ne!(digest("a name that is long", &value[..39]), base);
    assert_ne!(PublicParameters::new("attackS").with("a name that is long", &value).digest(), base);
}

/// Two sessions one after the other over the same links: `f` at each of two parties.
pub fn two_sessions<R: Send>(
    f: impl Fn(Session, Session) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    std::thread::scope(|scope| {
        let f = &f;
        let start = |mesh: divisi_net::Mesh| {
            let (mesh, parameters) = (Arc::new(mesh), PublicParameters::new("attacks"));
            f(Session::start(&mesh, 1, &parameters)?, Session::start(&mesh, 2, &parameters)?)
        };
        let parties: Vec<_> =
            memory::mesh(2).into_iter().map(|mesh| scope.spawn(move || start(mesh))).collect();
        parties.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// A digest that differs in one bit of any byte, on any link, ends a comparison.
#[test]
fn every_byte_of_a_digest_counts_on_every_link() {
    const STEP: divisi_core::Step = divisi_core::step!("digest");
    let links: Vec<_> = links(3).collect();
    many(links.len() * 32, 4, |i| {
        let ((from, to), byte) = (links[i / 32], i % 32);
        let harness = harness();
        harness.change(from, to, STEP.name, 0, move |body| body[byte] ^= 0x80);
        let results = harness.act(|mut session| session.compare(checks::A2, STEP, &[7; 32]));
        assert!(
            matches!(results[to.index()], Err(Abort::CheckFailed { check: checks::A2, .. })),
            "{from} to {to}, byte {byte}: {results:?}"
        );
    });
}
