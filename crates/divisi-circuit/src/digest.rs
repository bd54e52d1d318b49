//! A digest of a program.

use crate::program::{LinearGate, Program};

impl Program {
    /// A BLAKE3 digest of every gate in order; it differs for any two different programs. It is computed once
    /// for each program.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *self.memo.digest.get_or_init(|| digest(self))
    }
}

fn digest(program: &Program) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 circuit program v1");
    let mut words: Vec<u32> = Vec::new();
    let word = |x: usize| x as u32;
    for widths in [program.inputs(), program.outputs()] {
        words.push(word(widths.len()));
        words.extend(widths.iter().map(|width| word(*width)));
    }
    words.push(word(program.slots()));
    words.push(word(program.levels().len()));
    for level in program.levels() {
        words.push(word(level.linear().len()));
        for gate in level.linear() {
            words.extend(match gate {
                LinearGate::Constant { out, value } => [0, word(out.index()), u32::from(value), 0],
                LinearGate::Not { out, x } => [1, word(out.index()), word(x.index()), 0],
                LinearGate::Xor { out, x, y } => [2, word(out.index()), word(x.index()), word(y.index())],
            });
        }
        words.push(word(level.dot_count()));
        for (out, terms) in level.dots() {
            words.extend([word(out.index()), word(terms.len())]);
            words.extend(terms.iter().flat_map(|(x, y)| [word(x.index()), word(y.index())]));
        }
        absorb(&mut hasher, &mut words);
    }
    words.extend(program.results().iter().map(|slot| word(slot.index())));
    absorb(&mut hasher, &mut words);
    *hasher.finalize().as_bytes()
}

fn absorb(hasher: &mut blake3::Hasher, words: &mut Vec<u32>) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    hasher.update(&bytes);
    words.clear();
}

#[cfg(test)]
mod tests {
    use crate::memo::Memo;
    use crate::packed::Kinds;
    use crate::{Build, BuildBit, Gates, Level, LinearGate, Program, Slot};
    use std::collections::{BTreeMap, BTreeSet};

    type Circuit = fn(&mut Build, [BuildBit; 3]) -> Vec<BuildBit>;

    /// Circuits that differ in one thing: which wires come out, the kind of a gate, what it reads, and how
    /// products are added up.
    const CIRCUITS: [Circuit; 18] = [
        |_, [x, y, _]| vec![x, y],
        |_, [x, y, _]| vec![y, x],
        |_, [x, y, z]| vec![x, y, z],
        |_, [x, _, z]| vec![x, z],
        |g, [x, y, _]| vec![g.not(x), y],
        |g, [_, y, _]| vec![g.not(y), y],
        |g, [x, y, _]| vec![g.xor(x, y), y],
        |g, [x, y, z]| vec![g.xor(x, z), y],
        |g, [x, y, _]| vec![g.and(x, y), y],
        |g, [x, y, z]| vec![g.and(x, z), y],
        |g, [x, y, z]| vec![g.and(x, y), g.xor(y, z)],
        |g, [x, y, z]| vec![g.and(x, y), g.and(y, z)],
        |g, [x, y, z]| vec![g.dot(&[(x, y), (x, z)]), y],
        |g, [x, y, z]| vec![g.dot(&[(x, y), (y, z)]), y],
        |g, [x, y, z]| vec![g.dot(&[(x, y), (x, z), (y, z)]), y],
        |g, [_, y, _]| vec![g.constant(true), y],
        |g, [_, y, _]| vec![g.constant(false), y],
        |g, [x, y, _]| vec![g.constant(true), g.xor(x, y)],
    ];

    fn program(circuit: Circuit, [inputs, outputs]: [&[usize]; 2]) -> Program {
        let mut g = Build::new();
        let x: Vec<BuildBit> = inputs.iter().flat_map(|width| g.input(*width)).collect();
        let mut out = &circuit(&mut g, [x[0], x[1], x[2]])[..];
        for width in outputs {
            let (value, rest) = out.split_at((*width).min(out.len()));
            g.output(value);
            out = rest;
        }
        g.output(out);
        g.finish()
    }

    #[test]
    fn programs_that_differ_have_other_digests() {
        let one: [&[usize]; 2] = [&[3], &[]];
        let mut all: Vec<Program> = CIRCUITS.iter().map(|circuit| program(*circuit, one)).collect();
        // widths of inputs and of outputs
        let widths: [[&[usize]; 2]; 4] = [[&[1, 2], &[]], [&[2, 1], &[]], [&[4], &[]], [&[3], &[1]]];
        all.extend(widths.map(|widths| program(CIRCUITS[0], widths)));
        let digests: Vec<[u8; 32]> = all.iter().map(Program::digest).collect();
        for (i, digest) in digests.iter().enumerate() {
            // not a few bytes of them alone
            assert!(!digests[..i].iter().any(|other| other[8..16] == digest[8..16]), "circuit {i}");
        }
        // the same again, also for a new program, and whether or not the digest was computed before
        let again = program(CIRCUITS[0], one);
        assert_eq!(again, all[0]);
        assert_eq!((again.digest(), all[0].clone().digest()), (all[0].digest(), all[0].digest()));
        assert_eq!(program(CIRCUITS[1], one), all[1]);
    }

    /// A program in parts that a test can change, one by one.
    #[derive(Clone)]
    struct Parts {
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        slots: usize,
        levels: Vec<(Vec<LinearGate>, Sums)>,
        results: Vec<Slot>,
    }

    /// Sums of products: the slot of each result, and the terms.
    type Sums = Vec<(Slot, Vec<(Slot, Slot)>)>;

    impl Parts {
        fn program(&self) -> Program {
            let levels = self.levels.iter().map(|(linear, sums)| {
                let mut kinds = Kinds::default();
                linear.iter().for_each(|gate| kinds.push(*gate));
                let mut level = Level { local: kinds.take(), ..Level::default() };
                for (out, terms) in sums {
                    level.terms.extend(terms);
                    level.dots.push((*out, level.terms.len() as u32));
                }
                level
            });
            Program {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
                slots: self.slots,
                levels: levels.collect(),
                results: self.results.clone(),
                memo: Memo::default(),
            }
        }

        /// Each width and each slot of the program, in whatever place.
        fn numbers(&mut self) -> (Vec<&mut usize>, Vec<&mut Slot>) {
            let widths = self.inputs.iter_mut().chain(&mut self.outputs).chain([&mut self.slots]).collect();
            let mut slots: Vec<&mut Slot> = Vec::new();
            for (linear, sums) in &mut self.levels {
                for gate in linear {
                    match gate {
                        LinearGate::Constant { out, .. } => slots.push(out),
                        LinearGate::Not { out, x } => slots.extend([out, x]),
                        LinearGate::Xor { out, x, y } => slots.extend([out, x, y]),
                    }
                }
                for (out, terms) in sums {
                    slots.push(out);
                    slots.extend(terms.iter_mut().flat_map(|(x, y)| [x, y]));
                }
            }
            slots.extend(&mut self.results);
            (widths, slots)
        }
    }

    fn parts() -> Parts {
        let slot = Slot;
        let level = |at: u32| {
            let constant = |value| LinearGate::Constant { out: slot(at + u32::from(value)), value };
            let xor = |out, x, y| LinearGate::Xor { out: slot(out), x: slot(x), y: slot(y) };
            let not = |out, x| LinearGate::Not { out: slot(out), x: slot(x) };
            let linear =
                vec![constant(false), constant(true), xor(at, 1, 2), xor(4, at, 3), not(5, at), not(6, 1)];
            let one = (slot(at), vec![(slot(1), slot(2)), (slot(3), slot(at)), (slot(5), slot(6))]);
            (linear, vec![one, (slot(7), vec![(slot(at), slot(4))])])
        };
        Parts {
            inputs: vec![3, 4],
            outputs: vec![1, 3],
            slots: 12,
            levels: vec![level(8), level(9), level(10)],
            results: [8, 9, 7, 8].map(slot).to_vec(),
        }
    }

    /// The lists of a program, each without its last element, with it twice, and with its ends changed over.
    fn other_lists(of: &Parts) -> Vec<Parts> {
        fn lists<T: Clone>(of: &Parts, get: impl Fn(&mut Parts) -> &mut Vec<T>, all: &mut Vec<Parts>) {
            let changes: [fn(&mut Vec<T>); 3] =
                [|list| drop(list.pop()), |list| list.extend(list.last().cloned()), |list| list.reverse()];
            for change in changes {
                let mut other = of.clone();
                change(get(&mut other));
                all.push(other);
            }
        }
        let mut all = Vec::new();
        lists(of, |parts| &mut parts.inputs, &mut all);
        lists(of, |parts| &mut parts.outputs, &mut all);
        lists(of, |parts| &mut parts.levels, &mut all);
        lists(of, |parts| &mut parts.results, &mut all);
        for (n, (_, sums)) in of.levels.iter().enumerate() {
            lists(of, |parts| &mut parts.levels[n].0, &mut all);
            lists(of, |parts| &mut parts.levels[n].1, &mut all);
            for (m, _) in sums.iter().enumerate() {
                lists(of, |parts| &mut parts.levels[n].1[m].1, &mut all);
            }
        }
        all
    }

    /// Whatever one thing of a program is changed: any width or slot, by one or in any of its bytes, the kind
    /// or value of any gate, or the length or order of any list.
    #[test]
    fn whatever_one_thing_differs_the_digest_does() {
        let first = parts();
        let mut all = vec![first.clone()];
        for by in [1, 1 << 8, 1 << 16, 1 << 24, 1 << 31] {
            let mut count = first.clone();
            let (widths, slots) = count.numbers();
            for i in 0..widths.len() + slots.len() {
                let mut other = first.clone();
                let (mut widths, mut slots) = other.numbers();
                match i.checked_sub(widths.len()) {
                    None => *widths[i] += by as usize,
                    Some(i) => slots[i].0 += by,
                }
                all.push(other);
            }
        }
        for (n, (linear, _)) in first.levels.iter().enumerate() {
            for (m, gate) in linear.iter().enumerate() {
                let (LinearGate::Constant { out, .. }
                | LinearGate::Not { out, .. }
                | LinearGate::Xor { out, .. }) = *gate;
                let x = Slot(1);
                for other in [
                    LinearGate::Constant { out, value: false },
                    LinearGate::Constant { out, value: true },
                    LinearGate::Not { out, x },
                    LinearGate::Xor { out, x, y: Slot(0) },
                    LinearGate::Xor { out, x, y: x },
                ] {
                    all.push(first.clone());
                    all.last_mut().unwrap().levels[n].0[m] = other;
                }
            }
        }
        all.extend(other_lists(&first));
        let (mut seen, mut ones, mut zeros) = (BTreeMap::new(), [0; 32], [0; 32]);
        for parts in &all {
            let program = parts.program();
            let digest = program.digest();
            for (i, byte) in digest.iter().enumerate() {
                ones[i] |= *byte;
                zeros[i] |= !*byte;
            }
            // some changes make the program that it was
            let other = seen.entry(digest).or_insert_with(|| program.clone());
            assert_eq!(*other, program);
        }
        assert!(seen.len() > 400, "{}", seen.len());
        assert_eq!((ones, zeros), ([255; 32], [255; 32]), "a bit of the digest is always the same");
    }

    /// The same in lists of hundreds of elements, of every kind.
    #[test]
    fn long_lists_are_in_the_digest_to_their_ends() {
        let slot = |i: u32| Slot(i);
        let all = || 0..300_u32;
        let linear = all().map(|i| LinearGate::Xor { out: slot(i), x: slot(i + 1), y: slot(i + 2) });
        let terms = all().map(|i| (slot(i), slot(i + 1))).collect();
        let sums = all().map(|i| (slot(i), vec![(slot(i), slot(i + 1))])).chain([(slot(7), terms)]);
        let small = |i| (vec![LinearGate::Not { out: slot(i), x: slot(i + 1) }], vec![]);
        let first = Parts {
            inputs: vec![2; 300],
            outputs: vec![1; 300],
            slots: 9,
            levels: all().map(small).chain([(linear.collect(), sums.collect())]).collect(),
            results: all().map(slot).collect(),
        };
        let mut seen = BTreeSet::from([first.program().digest()]);
        let mut count = first.clone();
        let (widths, slots) = count.numbers();
        for place in (0..widths.len() + slots.len()).step_by(13) {
            let mut other = first.clone();
            let (mut widths, mut slots) = other.numbers();
            match place.checked_sub(widths.len()) {
                None => *widths[place] += 1,
                Some(place) => slots[place].0 += 1000,
            }
            assert!(seen.insert(other.program().digest()), "{place}");
        }
    }

    /// Lists whose elements follow each other without a gap, so that only their lengths tell where one ends:
    /// widths, sums of products, levels.
    #[test]
    fn where_a_list_ends_makes_another_digest() {
        let slots = |slots: &[u32]| slots.iter().copied().map(Slot).collect::<Vec<_>>();
        let empty = Parts { inputs: vec![], outputs: vec![], slots: 9, levels: vec![], results: vec![] };
        let differ = |one: &Parts, two: &Parts| assert_ne!(one.program().digest(), two.program().digest());
        let sums = |sums: &[(u32, &[[u32; 2]])]| {
            let sum = |(out, terms): &(u32, &[[u32; 2]])| {
                (Slot(*out), terms.iter().map(|[x, y]| (Slot(*x), Slot(*y))).collect())
            };
            Parts { levels: vec![(vec![], sums.iter().map(sum).collect())], ..empty.clone() }
        };
        for k in 0..5 {
            let widths = |inputs: &[usize], outputs: &[usize]| Parts {
                inputs: inputs.to_vec(),
                outputs: outputs.to_vec(),
                ..empty.clone()
            };
            differ(&widths(&[1, k], &[3, 3]), &widths(&[1], &[k, 3, 3]));
            // a b + c k and d e in one, a b and b k + d e in the other
            let k = k as u32;
            differ(
                &sums(&[(6, &[[0, 1], [5, k]]), (7, &[[2, 3]])]),
                &sums(&[(6, &[[0, 1]]), (5, &[[7, k], [2, 3]])]),
            );
        }
        // a product, and a negation
        let not = |out, x| LinearGate::Not { out: Slot(out), x: Slot(x) };
        let negation = Parts { levels: vec![(vec![not(6, 1)], vec![])], ..empty.clone() };
        differ(&sums(&[(6, &[[0, 0]])]), &negation);
        // two products that the first level ends with, and two negations that the second one begins with
        let product = |out, x, y| (Slot(out), vec![(Slot(x), Slot(y))]);
        let last = (vec![], vec![]);
        let products = vec![product(6, 0, 1), product(2, 3, 4), product(0, 5, 8)];
        let one = Parts { levels: vec![(vec![], products), last], ..empty.clone() };
        let second = (vec![not(3, 4), not(5, 8)], vec![]);
        let other = Parts { levels: vec![(vec![], vec![product(6, 0, 1)]), second], ..empty.clone() };
        differ(&one, &other);
        for levels in [1, 256] {
            let two = Parts { levels: vec![(vec![], vec![]); levels], ..empty.clone() };
            differ(&Parts { results: slots(&vec![0; 2 * levels]), ..empty.clone() }, &two);
        }
    }
}
