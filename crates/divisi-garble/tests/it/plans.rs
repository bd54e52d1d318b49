//! What a plan takes from its lists of receivers, and what its digest covers.

use divisi_circuit::stream::Stream;
use divisi_circuit::{Build, Gates, Program};
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

/// So does that of a plan over a circuit in memory: of all of the circuit's own digest.
#[test]
fn a_digest_covers_all_of_a_circuit() {
    let digests = [true, false].map(|value| {
        let mut g = Build::new();
        let x = g.input(2);
        let constant = g.constant(value);
        g.output(&[x[0], constant]);
        let program = g.finish();
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble plan v2");
        // the parties; an input of two bits and its owner; an output of two bits, with two receivers
        for word in [2, 1, 2, 0, 1, 2, 2, 0, 1_u64] {
            hasher.update(&word.to_le_bytes());
        }
        hasher.update(&program.digest());
        let digest = Plan::for_all(&program, 2, &[party(1)]).unwrap().digest();
        assert_eq!(digest, *hasher.finalize().as_bytes());
        digest
    });
    assert_ne!(digests[0], digests[1]);
}
