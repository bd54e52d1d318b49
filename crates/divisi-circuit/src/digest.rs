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
    use crate::program::Level;
    use crate::slot::Slot;
    use crate::{Build, BuildBit, Gates, Program};

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

    /// It is hashed where a sum of products ends: the same slots in the same order are another program if a
    /// product belongs to the next sum.
    #[test]
    fn a_product_of_another_sum_makes_another_digest() {
        let program = |terms: [[u32; 2]; 3], first: u32| {
            let level = Level {
                dots: vec![(Slot(6), first), (Slot(2), 3)],
                terms: terms.map(|[x, y]| (Slot(x), Slot(y))).to_vec(),
                ..Level::default()
            };
            Program {
                inputs: vec![6],
                outputs: vec![2],
                slots: 7,
                levels: [level].into(),
                results: vec![Slot(6), Slot(2)],
                memo: Memo::default(),
            }
        };
        // 01 + 23 and 45, or 01 and 32 + 45: the second sum is written to slot 2
        let [one, two] = [program([[0, 1], [2, 3], [4, 5]], 2), program([[0, 1], [3, 2], [4, 5]], 1)];
        assert_ne!(one.digest(), two.digest());
    }
}
