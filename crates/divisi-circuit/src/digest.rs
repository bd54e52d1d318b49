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
    use crate::{Build, Gates, Program};

    fn program(width: usize, gate: usize) -> Program {
        let mut g = Build::new();
        let (x, y) = (g.input(width), g.input(width));
        let out: Vec<_> = x
            .iter()
            .zip(&y)
            .enumerate()
            .map(|(i, (x, y))| if i == gate { g.and(*x, *y) } else { g.xor(*x, *y) })
            .collect();
        g.output(&out);
        g.finish()
    }

    #[test]
    fn programs_that_differ_have_other_digests() {
        let all = [program(3, 0), program(3, 1), program(4, 1)];
        let mut digests: Vec<[u8; 32]> = all.iter().map(Program::digest).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
        // the same again, also for a new program, and whether or not the digest was computed before
        let again = program(3, 0);
        assert_eq!(again, all[0]);
        assert_eq!((again.digest(), all[0].clone().digest()), (all[0].digest(), all[0].digest()));
        assert_eq!(program(3, 1), all[1]);
    }
}
