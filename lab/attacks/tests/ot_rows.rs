//! Attacks on correlated rows and their check, each on whatever is too weak: columns, tiles, positions,
//! links, batches, the coin, the pad.

mod common;

use common::{Order, all_differ, coin_of, keeps_order, named, rank, told, word};
use divisi_core::testing::{Harness, MessageDirection, failed_check, links, many, party};
use divisi_core::{Abort, PublicParameters, Step};
use divisi_field::Gf128;
use divisi_ot::checks;
use divisi_ot::{AuthBits, Base, Setup, SetupConfig};

const RECEIVER: &str = "divisi_ot::setup::pairs/base.receiver";
const SENDER: &str = "divisi_ot::setup::pairs/base.sender";
const FLIPS: &str = "divisi_ot::setup::pairs/flips";
const TREES: &str = "divisi_ot::setup::pairs/trees";
const FIRST_COIN: &str = "divisi_ot::setup::pairs/coin";
const CORRECT: &str = "divisi_ot::vole/correct";
const CHECK: &str = "divisi_ot::vole/check";
const COIN: &str = "divisi_ot::abit::produce/coin";

fn harness(n: usize) -> Harness {
    Harness::new(n, &PublicParameters::new("attacks on rows")).patient()
}

fn config(k: u32, base: Base) -> SetupConfig {
    SetupConfig { k, rho: 40, base }
}

/// Batches of these lengths after a set-up.
fn batches(harness: Harness, config: SetupConfig, counts: &[usize]) -> Vec<Result<Vec<AuthBits>, Abort>> {
    harness.act(|mut session| {
        let mut setup = Setup::new(&mut session, config)?;
        counts.iter().map(|count| setup.authenticated_bits(&mut session, *count)).collect()
    })
}

/// A false sum is found in every batch by whoever receives it, and its sender is named.
#[test]
fn every_holder_looks_at_every_batch() {
    let jobs: Vec<_> = links(3).flat_map(|link| [0, 1, 2].map(|batch| (link, batch))).collect();
    many(jobs.len(), 3, |i| {
        let ((from, to), batch) = jobs[i];
        let harness = harness(3);
        harness.change(from, to, CHECK, batch, move |body| body[16 * (1 + 40 * batch) + 15] ^= 0x80);
        let ends = batches(harness, config(4, Base::Both), &[10, 300, 20]);
        let end = &ends[to.index()];
        assert!(named(end, checks::W5, from), "{from} {to} {batch}: {:?}", end.as_ref().err());
    });
}

/// Likewise for a false sum of first rows in a set-up by halves, and a false digest of trees.
#[test]
fn every_holder_looks_at_its_trees_and_first_rows() {
    // links on which the holder of first rows checks, and all on which there are trees
    let first = [(1, 2), (2, 3), (3, 1)].map(|(from, to)| (CHECK, party(from), party(to), checks::W1));
    let trees = links(3).map(|(from, to)| (TREES, from, to, checks::O2));
    let jobs: Vec<_> = first.into_iter().chain(trees).collect();
    many(jobs.len(), 3, |i| {
        let (step, from, to, check) = jobs[i];
        let harness = harness(3);
        // of trees the digest's last byte
        harness.change(from, to, step, 0, |body| *body.last_mut().unwrap() ^= 0x80);
        let ends = harness.act(|mut session| Setup::new(&mut session, config(4, Base::Half)).map(|_| ()));
        assert_eq!(failed_check(&ends[to.index()]), Some(check), "{step} {from} {to}");
    });
}

/// The polynomial that is zero at all of 0 .. 2^bits - 1: entry i is the coefficient of z^(2^i), and it has
/// no other terms.
fn kernel(bits: usize) -> Vec<Gf128> {
    let mut of = vec![Gf128(1)];
    for bit in 0..bits {
        let mut at = Gf128(1 << bit);
        let mut value = Gf128(0);
        for c in &of {
            value += *c * at;
            at *= at;
        }
        // P^2 + P(2^bit) P
        let mut next = vec![Gf128(0); of.len() + 1];
        for (i, c) in of.iter().enumerate() {
            next[i + 1] += *c * *c;
            next[i] += value * *c;
        }
        of = next;
    }
    of
}

/// A maker sends corrections of other bits in most pieces, with errors that vanish at every coin below 256:
/// with a coin that is known, or has eight bits, or is the same number for all tiles, it would never be
/// caught.
#[test]
fn lies_where_a_small_coin_does_not_look_are_found() {
    let of = kernel(8);
    for small in [0, 1, 2, 77, 255] {
        let mut at = Gf128(small);
        let mut value = Gf128(0);
        of.iter().for_each(|c| {
            value += *c * at;
            at *= at;
        });
        assert_eq!(value, Gf128(0));
    }
    // 256 tiles and the sacrificed one, in chunks of 128
    let (tiles, pieces) = (257, 32);
    let lies: Vec<(usize, u128)> = of.iter().enumerate().map(|(i, c)| (tiles - 1 - (1 << i), c.0)).collect();
    let harness = harness(2);
    let (id, mut chunk) = (Step::new(CORRECT).id, 0);
    harness.hand(party(1), party(2), move |mut frame| {
        if frame.step == id {
            let here = frame.body.len() / 16 / pieces;
            for (tile, lie) in &lies {
                let Some(tile) = tile.checked_sub(128 * chunk).filter(|t| *t < here) else { continue };
                for piece in frame.body.chunks_exact_mut(16 * here).skip(2) {
                    let word = word(piece, 16 * tile) ^ lie;
                    piece[16 * tile..16 * tile + 16].copy_from_slice(&word.to_le_bytes());
                }
            }
            chunk += 1;
        }
        vec![frame]
    });
    let ends = batches(harness, config(4, Base::Both), &[256 * 128]);
    assert_eq!(failed_check(&ends[1]), Some(checks::W5));
}

/// By halves: P_1 uses other bits in its first rows, with errors that vanish at a coin that it expects.
#[test]
fn nobody_foresees_the_coin_of_first_rows() {
    for expected in [[0; 16], [1; 16], [2; 16], std::array::from_fn(|i| u8::from(i == 0))] {
        let harness = harness(2);
        harness.change(party(1), party(2), CORRECT, 0, move |body| {
            // 16 pieces of two tiles, of which the first has the public bit
            for piece in body.chunks_exact_mut(32).skip(1) {
                piece[0] ^= 1;
                piece[16..].iter_mut().zip(expected).for_each(|(byte, coin)| *byte ^= coin);
            }
        });
        let ends = harness.act(|mut session| Setup::new(&mut session, config(8, Base::Half)).map(|_| ()));
        assert_eq!(failed_check(&ends[1]), Some(checks::W1), "{expected:?}");
    }
}

/// The pad of a batch's sums is uniform, also given the bits that are kept, the pads of other batches and
/// those of another party: 600 batches of one tile; that 256 of their bits, or 384 of two parties, depend on
/// each other happens once in 2^200.
#[test]
fn pads_of_sums_are_uniform() {
    const BATCHES: usize = 600;
    let harness = harness(3);
    let recordings = harness.recordings();
    let ends = batches(harness, config(8, Base::Both), &[128; BATCHES]);
    let told = |from: u8, to: u8, step| {
        recordings[usize::from(from) - 1].bodies(MessageDirection::Out, party(to), step)
    };
    let links = [told(1, 2, COIN), told(2, 3, COIN), told(3, 1, COIN)];
    let sums = [told(1, 2, CHECK), told(2, 3, CHECK)];
    let views = [0, 1].map(|i: usize| ends[i].as_ref().unwrap());
    let row = |batch: usize| {
        let coin = coin_of(&links.each_ref().map(|links| links[batch].clone()), COIN);
        let z = Gf128(u128::from_le_bytes(coin));
        let [(x, pad), (_, other)] = [0, 1].map(|i: usize| {
            let bits = views[i][batch].bits();
            let x = Gf128(u128::from(bits[0]) | u128::from(bits[1]) << 64);
            (x, Gf128(word(&sums[i][batch], 0)) + x * z)
        });
        vec![pad.0, x.0, other.0]
    };
    // the first batch has a tile for the proof
    let rows: Vec<Vec<u128>> = (1..BATCHES).map(row).collect();
    let pads = rows.iter().flat_map(|row| [row[0], row[2]]).collect();
    assert!(all_differ(pads), "a pad that pads twice");
    assert_eq!(rank(rows), 384);
}

/// Corrections hide the bits. The sum of two pieces' corrections of a tile is the sum of two streams; it
/// differs from tile to tile, in one chunk, in two, and in two batches. So no stream serves two tiles, whose
/// corrections would add up to the sum of both tiles' bits.
#[test]
fn no_stream_hides_two_tiles() {
    let harness = harness(2);
    let recording = harness.recording(party(1));
    let ends = batches(harness, config(4, Base::Both), &[130 * 128, 130 * 128]);
    assert!(ends.iter().all(Result::is_ok));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for body in recording.bodies(MessageDirection::Out, party(2), CORRECT) {
        let tiles = body.len() / 16 / 32;
        for t in 0..tiles {
            first.push(word(&body, 16 * (3 * tiles + t)));
            second.push(word(&body, 16 * (20 * tiles + t)));
        }
    }
    // with bits x and streams u, v: u + x, v + x; equal streams show as equal sums of both
    let sums: Vec<u128> = first.iter().zip(&second).map(|(a, b)| a ^ b).collect();
    assert_eq!(sums.len(), 2 * 131);
    assert!(all_differ(sums), "a stream that is used twice");
}

/// Nothing in the messages of a set-up comes twice: elements, programs, flips, sums and totals of trees,
/// digests, of all parties towards all, in both forms, over two sessions.
#[test]
fn nothing_in_a_set_up_comes_twice() {
    for base in [Base::Both, Base::Half] {
        let mut words = Vec::new();
        for _ in 0..2 {
            let harness = harness(4);
            let recordings = harness.recordings();
            let ends = harness.act(|mut session| Setup::new(&mut session, config(4, base)).map(|_| ()));
            assert!(ends.iter().all(Result::is_ok));
            for recording in recordings {
                for step in [SENDER, RECEIVER, FLIPS, TREES, CHECK] {
                    let all = recording.of(MessageDirection::Out, step);
                    words.extend(
                        all.iter().flat_map(|seen| seen.frame.body.chunks_exact(16).map(|w| word(w, 0))),
                    );
                }
            }
        }
        // for the tree of the public bit the maker sends one sum, and zero in place of the other; likewise
        // for the base OT of that bit
        let zeros = words.iter().filter(|word| **word == 0).count();
        assert_eq!(zeros, 2 * 12, "{base:?}");
        words.retain(|word| *word != 0);
        assert!(all_differ(words), "{base:?}");
    }
}

/// What may be sent when: P_1 withholds one message from P_2, and P_2 does not send the message that must
/// follow it.
#[test]
fn nothing_leaves_before_what_it_must_follow() {
    const COMMIT: &str = "divisi_core::coin/commit";
    const COINS_ECHO: &str = "divisi_core::coin/echo";
    const PROOF: &str = "divisi_ot::abit::consistency/commit";
    const PROOF_ECHO: &str = "divisi_ot::abit::consistency/echo";
    const SUMS_ECHO: &str = "divisi_ot::abit::produce/echo";
    const BITS: &str = "divisi_ot::abit::consistency/bits";
    const SUMS: &str = "divisi_ot::abit::consistency/sums";
    let both: [Order; 12] = [
        (COMMIT, 0, COIN, 0),
        (COINS_ECHO, 0, COIN, 0),
        (RECEIVER, 0, TREES, 0),
        (CORRECT, 0, COIN, 0),
        (CORRECT, 0, CHECK, 0),
        (COIN, 0, CHECK, 0),
        (CORRECT, 1, COIN, 2),
        (PROOF, 0, BITS, 0),
        (PROOF_ECHO, 0, BITS, 0),
        (SUMS_ECHO, 0, SUMS, 0),
        (BITS, 0, SUMS, 0),
        (CHECK, 0, SUMS, 0),
    ];
    // by halves P_2 holds the first rows that P_1 makes, and makes its own trees towards P_1 from them
    let half = [
        (CORRECT, 0, FIRST_COIN, 0),
        (TREES, 0, FIRST_COIN, 0),
        (FIRST_COIN, 0, CHECK, 0),
        (CHECK, 0, TREES, 1),
    ];
    let jobs: Vec<(Base, Order)> = both
        .map(|order| (Base::Both, order))
        .into_iter()
        .chain(half.map(|order| (Base::Half, order)))
        .collect();
    many(jobs.len(), 6, |i| {
        let (base, order) = jobs[i];
        keeps_order(&format!("{base:?}"), order, harness(3), |harness| {
            batches(harness, config(4, base), &[10, 10]).into_iter().map(|end| end.map(drop)).collect()
        });
    });
}

/// A set-up of one session refuses to make anything in another.
#[test]
fn a_set_up_serves_its_own_session_alone() {
    let kept: Vec<std::sync::Mutex<Option<Setup>>> = (0..2).map(|_| std::sync::Mutex::default()).collect();
    for second in [false, true] {
        let harness = harness(2);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let mut kept = kept[session.me().index()].lock().unwrap();
            match kept.as_mut() {
                Some(setup) => setup.authenticated_bits(&mut session, 10).map(|_| ()),
                None => {
                    *kept = Some(Setup::new(&mut session, config(4, Base::Both))?);
                    Ok(())
                }
            }
        });
        assert!(ends.iter().all(|end| end.is_err() == second), "{ends:?}");
        assert!(recordings.iter().all(|recording| told(recording, CORRECT) == 0));
    }
}
