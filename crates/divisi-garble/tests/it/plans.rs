//! What a plan takes from its lists of receivers, and what its digest covers.

use divisi_circuit::stream::Stream;
use divisi_circuit::{Build, BuildBit, Gates, Program};
use divisi_core::testing::party;
use divisi_garble::{Plan, Unfit};

/// A bit that comes out three times.
fn three_outputs() -> Program {
    let mut g = Build::new();
    let x = g.input(1);
    (0..3).for_each(|_| g.output(&x));
    g.finish()
}

/// A party that a list names twice is refused, in whichever list that is.
#[test]
fn no_list_of_receivers_names_a_party_twice() {
    let program = three_outputs();
    for at in 0..3 {
        for wrong in [[1, 2, 1], [2, 1, 1], [1, 1, 2]] {
            let mut lists = vec![vec![party(2)]; 3];
            lists[at] = wrong.map(party).to_vec();
            let refused = Plan::new(&program, 2, &[party(1)], &lists).unwrap_err();
            assert_eq!(refused, Unfit::Stranger { party: party(1) }, "{at}: {wrong:?}");
        }
    }
}

/// A list of receivers is a set: parties that name its members in another order have the same plan.
#[test]
fn the_order_in_a_list_of_receivers_changes_nothing() {
    let program = three_outputs();
    let digest = |lists: &[Vec<_>]| Plan::new(&program, 3, &[party(1)], lists).unwrap().digest();
    let sorted = vec![[1, 2, 3].map(party).to_vec(); 3];
    for at in 0..3 {
        for order in [[1, 3, 2], [3, 2, 1]] {
            let mut lists = sorted.clone();
            lists[at] = order.map(party).to_vec();
            assert_eq!(digest(&lists), digest(&sorted), "{at}: {order:?}");
        }
    }
}

/// The digest of a plan over a file covers every bit of the file's digest.
#[test]
fn a_digest_covers_all_of_that_of_the_file() {
    let mut ones = [0; 32];
    for gates in 1..20 {
        let mut text = format!("{gates} {}\n2 1 1\n1 1\n\n", gates + 2);
        (0..gates).for_each(|i| text += &format!("2 1 {i} {} {} XOR\n", i + 1, i + 2));
        let stream = Stream::open(text.into_bytes()).unwrap();
        let all = vec![party(1), party(2)];
        let plan = Plan::streamed(&stream, 2, &all, std::slice::from_ref(&all)).unwrap();
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble streamed plan v1");
        // the parties; two inputs, each of one bit and with its owner; one output of one bit, with two
        // receivers
        for word in [2_u64, 2, 1, 0, 1, 1, 1, 1, 2, 0, 1] {
            hasher.update(&word.to_le_bytes());
        }
        hasher.update(&stream.digest());
        assert_eq!(plan.digest(), *hasher.finalize().as_bytes(), "{gates}");
        ones.iter_mut().zip(stream.digest()).for_each(|(ones, byte)| *ones |= byte);
    }
    // no bit was zero each time
    assert_eq!(ones, [0xff; 32]);
}

/// The digest of a plan over a circuit in memory tells circuits apart that differ in one thing: which wires
/// come out, the kind of a gate, what it reads, and how products are added up.
#[test]
fn a_digest_covers_all_of_a_circuit() {
    type Circuit = fn(&mut Build, [BuildBit; 3]) -> [BuildBit; 2];
    let circuits: [Circuit; 14] = [
        |_, [x, y, _]| [x, y],
        |_, [x, y, _]| [y, x],
        |_, [x, _, z]| [x, z],
        |g, [x, y, _]| [g.not(x), y],
        |g, [x, y, _]| [g.xor(x, y), y],
        |g, [x, y, z]| [g.xor(x, z), y],
        |g, [x, y, _]| [g.and(x, y), y],
        |g, [x, y, z]| [g.and(x, z), y],
        |g, [x, y, z]| [g.dot(&[(x, y), (x, z)]), y],
        |g, [x, y, z]| [g.dot(&[(x, y), (y, z)]), y],
        |g, [_, y, _]| [g.constant(true), y],
        |g, [_, y, _]| [g.constant(false), y],
        |g, [_, y, _]| [g.not(y), y],
        |g, [x, y, _]| [g.constant(true), g.xor(x, y)],
    ];
    let digests = circuits.map(|circuit| {
        let mut g = Build::new();
        let x = g.input(3);
        let out = circuit(&mut g, [x[0], x[1], x[2]]);
        g.output(&out);
        Plan::for_all(&g.finish(), 2, &[party(1)]).unwrap().digest()
    });
    for (i, digest) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(digest), "circuit {i}");
    }
}
