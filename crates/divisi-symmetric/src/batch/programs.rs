//! The programs of steps, recorded and levelled when they are first used.

use crate::gates::{Adder, byte_program};
use crate::hash::Hash;
use crate::sha1;
use crate::sha2::Sha2;
use crate::sha3::{Sponge, permutation_program};
use divisi_circuit::Program;
use std::sync::OnceLock;

/// A step of a hash. Hashes that differ only in their initial state and digest share it.
pub(super) fn step(hash: Hash, adder: Adder) -> &'static Program {
    static SHA1: [OnceLock<Program>; 2] = [const { OnceLock::new() }; 2];
    static SHA2: [OnceLock<Program>; 4] = [const { OnceLock::new() }; 4];
    match hash {
        Hash::Sha1 => SHA1[usize::from(adder == Adder::LowDepth)].get_or_init(|| hash.step_program(adder)),
        Hash::Sha2(sha2) => {
            let long = !matches!(sha2, Sha2::Sha224 | Sha2::Sha256);
            let low = adder == Adder::LowDepth;
            SHA2[2 * usize::from(long) + usize::from(low)].get_or_init(|| hash.step_program(adder))
        }
        Hash::Sha3(sha3) => absorb(sha3.sponge()),
    }
}

/// The program that makes a one-time password of this many digits from a tag of this many bytes.
pub(super) fn code(tag_bytes: usize, digits: usize) -> Program {
    byte_program([tag_bytes], |g, [tag]| sha1::code(g, tag, digits))
}

/// A step of a sponge.
pub(super) fn absorb(sponge: Sponge) -> &'static Program {
    // indexed by the number of words of 64 bits in a block, which is at most 25
    static SPONGES: [OnceLock<Program>; 26] = [const { OnceLock::new() }; 26];
    SPONGES[sponge.rate() / 8].get_or_init(|| sponge.step_program())
}

/// The permutation of all sponges.
pub(super) fn permutation() -> &'static Program {
    static PERMUTATION: OnceLock<Program> = OnceLock::new();
    PERMUTATION.get_or_init(permutation_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each hash has the step of the adder that is asked for.
    #[test]
    fn steps_have_their_adder() {
        for hash in [Hash::Sha1, Hash::Sha2(Sha2::Sha256)] {
            let [few, low] = [Adder::FewestAnds, Adder::LowDepth].map(|adder| step(hash, adder));
            assert!(few.and_count() < low.and_count() && few.and_depth() > low.and_depth(), "{hash:?}");
        }
    }
}
