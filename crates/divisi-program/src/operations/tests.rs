//! What operations give among three parties, and how their inputs are shared and their outputs added.

#![allow(clippy::unwrap_used)]
use super::shares::words;
use super::*;
use divisi_core::testing::run;
use divisi_core::{Abort, PublicParameters, Session};
use std::collections::HashSet;
use zeroize::Zeroizing;

const PARTIES: usize = 3;

/// An operation on more items than a word has bits and than a ciphertext has slots.
fn operations(op: Op, numbers: NumberSize, form: BitForm, private: bool) -> Operations {
    let of = |count| so_many(OperationJob { op, numbers, bits: 9, entries: 8, private, count }, form);
    let one = of(1);
    let ciphertexts = matches!(op, Op::E2a | Op::A2e | Op::TripleArith).then(|| one.rings().next()).flatten();
    of(ciphertexts.map_or(70, |ring| ring.dimension() + 5))
}

fn so_many(job: OperationJob, form: BitForm) -> Operations {
    let adder = (job.op == Op::A2b).then(NumberAdder::default);
    let form = job.op.has_bits().then_some(form);
    Operations::new(job, PARTIES, SetupConfig::default(), (form, adder), true).unwrap()
}

/// Inputs that have all their bits, the last one in all places: there a lookup takes the last entry.
fn inputs(of: &Operations, call: u64) -> Vec<u64> {
    let bits = match of.job.op {
        Op::B2a => 9,
        Op::Lookup2 => 1,
        Op::Lookup => 3,
        _ => 64,
    };
    let word = |i: u64| (i * 7 + call).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let all = (1..of.job.count as u64).map(word).chain([u64::MAX]).map(|word| word >> (64 - bits));
    all.map(|x| if bits == 64 { of.plain.reduce(x) } else { x }).collect()
}

/// The outputs of each party in two batches, one after the other.
fn outputs(of: &Operations, dealt: &[Vec<Zeroizing<Vec<u8>>>; 2]) -> Vec<Vec<Zeroizing<Vec<u8>>>> {
    let parameters = PublicParameters::new("tests of operations");
    let play = |session: Session| -> Result<_, Abort> {
        let me = session.me().index();
        let mut party = OperationParty::start(of, session)?;
        let mut made = Vec::new();
        for own in dealt {
            let mut batch = OperationBatch::new(of, &mut party, of.job.count, &own[me])?;
            if !of.job.op.is_online_alone() {
                batch.preprocess()?;
            }
            batch.ready();
            if !of.job.op.is_random() {
                batch.online()?;
            }
            made.push(batch.end()?);
        }
        Ok(made)
    };
    let ends: Vec<_> = run(PARTIES, &parameters, play).into_iter().map(Result::unwrap).collect();
    (0..2).map(|call| ends.iter().map(|made| made[call].clone()).collect()).collect()
}

/// Each output row is the expected one; outputs of one call are not those of another; and of operations
/// without inputs, each bit that differs is noticed.
fn gives_what_is_expected(op: Op, numbers: NumberSize, form: BitForm, private: bool) {
    let of = operations(op, numbers, form, private);
    let given = [0, 1].map(|call| inputs(&of, call));
    let dealt = given.each_ref().map(|given| of.shares(given.iter().copied()));
    let all = outputs(&of, &dealt);
    let length = of.job.input_length();
    for (given, made) in given.iter().zip(&all) {
        let rows = of.sums(of.job.count, made).unwrap();
        let expected = given.iter().enumerate().flat_map(|(i, x)| {
            let row = &x.to_le_bytes()[..length];
            of.job.expected(i as u64, row).unwrap()
        });
        assert!(rows == expected.collect::<Vec<_>>(), "{op:?} {numbers:?} {form:?}");
        for party in 0..PARTIES {
            let mut short = made.clone();
            short[party].truncate(made[party].len() - 8);
            assert_eq!(of.sums(of.job.count, &short).err(), Some(party));
        }
    }
    assert!(all[0] != all[1], "{op:?}: twice the same");
    if op.is_random() {
        let columns = words(&all[0][0]).len();
        // half of the items of a word notice a wrong factor; in the last words few bits belong to items
        let whole = |at: &usize| op != Op::TripleBool || at.is_multiple_of(2);
        for at in (0..columns).filter(|at| at % (1 + columns / 50) == 0).filter(whole) {
            let mut wrong = all[0].clone();
            wrong[1][8 * at..8 * at + 8].iter_mut().for_each(|byte| *byte ^= 0xff);
            assert!(of.sums(of.job.count, &wrong).unwrap().contains(&0), "{op:?}: word {at}");
        }
    }
}

/// An input has as many bytes as its size of numbers takes, and what is random has none.
#[test]
fn inputs_have_the_length_of_numbers() {
    for (numbers, bytes) in [(NumberSize::Bits31, 4), (NumberSize::Bits61, 8)] {
        let length = |op| operations(op, numbers, BitForm::Cot, false).job.input_length();
        assert_eq!([Op::Dabit, Op::B2a, Op::A2b, Op::Lookup].map(length), [0, bytes, bytes, bytes]);
    }
}

#[test]
fn all_operations_give_what_is_expected() {
    for op in Op::ALL {
        gives_what_is_expected(op, NumberSize::Bits31, BitForm::Cot, false);
    }
    for form in BitForm::ALL {
        gives_what_is_expected(Op::Lookup, NumberSize::Bits31, form, true);
    }
    gives_what_is_expected(Op::Dabit, NumberSize::Bits31, BitForm::ALL[1], false);
    gives_what_is_expected(Op::A2b, NumberSize::Bits61, BitForm::Cot, false);
}

/// A batch that was not computed has no outputs, whatever lies ready for other operations.
#[test]
fn what_was_not_computed_is_refused() {
    for op in [Op::B2a, Op::A2b, Op::A2e, Op::Lookup2, Op::Lookup, Op::TripleArith] {
        let of = so_many(
            OperationJob { op, numbers: NumberSize::Bits31, bits: 9, entries: 8, private: false, count: 3 },
            BitForm::Cot,
        );
        let dealt = of.shares(inputs(&of, 0).into_iter().take(if op.is_random() { 0 } else { 3 }));
        let ends = run(PARTIES, &PublicParameters::new("not computed"), |session| {
            let me = session.me().index();
            let mut party = OperationParty::start(&of, session)?;
            OperationBatch::new(&of, &mut party, 3, &dealt[me])?.end().map(drop)
        });
        let refused = |end: &Result<(), Abort>| {
            matches!(end, Err(Abort::Misuse { what: divisi_core::Misuse::NotComputed, .. }))
        };
        assert!(ends.iter().any(refused), "{op:?}: {ends:?}");
    }
}

/// If all bits of a word belong to triples, each of them is one in some call, at each party.
#[test]
fn triples_have_all_their_bits() {
    let (op, numbers) = (Op::TripleBool, NumberSize::Bits31);
    let job = OperationJob { op, numbers, bits: 9, entries: 8, private: false, count: 64 };
    let of = so_many(job, BitForm::Cot);
    let none = [(); 2].map(|()| vec![Zeroizing::default(); PARTIES]);
    let mut ones = [[0; 3]; PARTIES];
    for made in (0..20).flat_map(|_| outputs(&of, &none)) {
        for (ones, made) in ones.iter_mut().zip(&made) {
            ones.iter_mut().zip(words(made)).for_each(|(ones, word)| *ones |= word);
        }
    }
    assert_eq!(ones, [[u64::MAX; 3]; PARTIES]);
}

/// Shares add up to the inputs, and those of all parties but one, whichever it is, have every bit and tell
/// nothing: they are others each time.
#[test]
fn inputs_are_shared_afresh() {
    for (op, numbers) in [(Op::B2a, NumberSize::Bits31), (Op::A2b, NumberSize::Bits61)] {
        let of = operations(op, numbers, BitForm::Cot, false);
        let given = inputs(&of, 0);
        let dealt = [0, 1].map(|_| of.shares(given.iter().copied()));
        let lists = dealt.each_ref().map(|dealt| dealt.iter().map(|own| words(own)).collect::<Vec<_>>());
        for lists in &lists {
            for (i, x) in given.iter().enumerate() {
                let [xor, sum] = lists.iter().fold([0, 0], |[xor, sum], list| {
                    [xor ^ list[i], of.plain.add(sum, of.plain.reduce(list[i]))]
                });
                assert_eq!(if op == Op::B2a { xor } else { sum }, *x);
            }
            let used = 8 * of.job.input_length() as u32;
            // modulo p the highest bits are rarely set
            let uniform = if op == Op::B2a { used } else { used - 3 };
            for list in lists {
                let both = |i: u32| [0, 1].map(|bit| list.iter().any(|x| x >> i & 1 == bit));
                assert!((0..uniform).all(|i| both(i) == [true; 2]), "{op:?}");
                // two of 70 shares of 32 bits may be equal
                let all: HashSet<&u64> = list.iter().collect();
                assert!(all.len() == of.job.count || numbers == NumberSize::Bits31);
            }
        }
        // a key of few bits would come again
        let many = (0..300).map(|_| words(&of.shares(given.iter().copied())[1])[..3].to_vec());
        let firsts: HashSet<Vec<u64>> = many.collect();
        assert_eq!(firsts.len(), 300);
        let twice = lists[0].iter().zip(&lists[1]);
        assert!(twice.flat_map(|(one, other)| one.iter().zip(other)).all(|(one, other)| one != other));
    }
}

#[test]
fn rows_of_another_length_are_no_inputs() {
    for (numbers, length) in [(NumberSize::Bits31, 4), (NumberSize::Bits61, 8)] {
        let job = operations(Op::A2b, numbers, BitForm::Cot, false).job;
        for other in [0, 1, 4, 8, 4 + 256, 8 + 256] {
            assert_eq!(job.input(&vec![1; other]).is_some(), other == length, "{other}");
        }
        let random = OperationJob { op: Op::Dabit, ..job };
        assert!(random.input(&[]).is_none() && random.input(&[1; 4]).is_none());
    }
}

#[test]
fn inputs_of_another_number_are_refused() {
    let of = operations(Op::B2a, NumberSize::Bits31, BitForm::Cot, false);
    let ends = run(PARTIES, &PublicParameters::new("tests of operations"), |session| {
        let mut party = OperationParty::start(&of, session)?;
        for words in [0, 69, 71, 70 + 256] {
            let own = vec![0; 8 * words];
            assert!(OperationBatch::new(&of, &mut party, of.job.count, &own).is_err(), "{words}");
        }
        Ok(())
    });
    // whoever is refused first ends the session of the others
    assert!(ends.iter().any(Result::is_ok), "{ends:?}");
}

/// A batch takes as much memory whatever its items are: the larger an item, the fewer. Items that take slots
/// of ciphertexts fill whole ones.
#[test]
fn batches_are_bounded_by_what_their_items_take() {
    let of_form = |op: Op, entries, private, form, count| {
        let job = OperationJob { op, numbers: NumberSize::Bits31, bits: 9, entries, private, count };
        let adder = (op == Op::A2b).then(NumberAdder::default);
        let form = op.has_bits().then_some(form);
        Operations::new(job, PARTIES, SetupConfig::default(), (form, adder), true).unwrap().batch()
    };
    let batch = |op, entries, private, count| of_form(op, entries, private, BitForm::Cot, count);
    let many = usize::MAX >> 8;
    for (op, entries, private, weight) in [
        (Op::Dabit, 8, false, 1),
        (Op::B2a, 8, false, 9),
        (Op::A2b, 8, false, 16),
        (Op::Lookup2, 8, false, 2),
        (Op::Lookup, 8, false, 8),
        (Op::Lookup, 256, false, 256),
    ] {
        assert_eq!(batch(op, entries, private, many), BATCH / weight, "{op:?}");
        assert_eq!([0, 1, 300].map(|count| batch(op, entries, private, count)), [1, 1, 300], "{op:?}");
    }
    for (op, weight) in [(Op::E2a, 4), (Op::A2e, 4), (Op::TripleArith, 2)] {
        let of = operations(op, NumberSize::Bits31, BitForm::Cot, false);
        let slots = of.rings().next().unwrap().dimension();
        let most = batch(op, 8, false, many);
        assert!(
            most.is_multiple_of(slots) && (BATCH / weight..BATCH / weight + slots).contains(&most),
            "{op:?}"
        );
        assert_eq!(batch(op, 8, false, 5), 5, "{op:?}");
    }
    // private tables: by triples eight numbers an entry, by ciphertexts four
    for entries in [8, 256] {
        for (form, weight) in [(BitForm::Cot, 8), (BitForm::Ciphertexts(Form::LeanTree), 4)] {
            let most = of_form(Op::Lookup, entries, true, form, many);
            assert_eq!(most, BATCH / (weight * (entries - 1)), "{form:?} {entries}");
        }
    }
}
