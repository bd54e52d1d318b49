//! Pieces of a call, and their digests: H(domain, session, call, roles, circuit, check, piece, lengths,
//! payload).

use divisi_core::ComparedDigest;

/// What a digest covers. A digest of one kind cannot be taken for one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The salt: 128 bits that the garblers choose for the hash of the call.
    Salt = 1,
    /// The first half of a piece of tables.
    FirstHalf,
    /// The second half of a piece of tables.
    SecondHalf,
    /// The hash pairs of the wires u = x12 + x31.
    Sums,
    /// The hash pairs of the wires x23.
    Known,
    /// The hash pairs of the wires r23.
    Masks,
    /// Decoding bits.
    Decoding,
    /// The labels of all outputs, with z.
    Result,
}

/// Numbers the pieces of a call, in the order in which all three go through them.
pub(super) struct Pieces {
    name: [u8; 32],
    number: u64,
}

impl Pieces {
    pub(super) fn new(name: [u8; 32]) -> Pieces {
        Pieces { name, number: 0 }
    }

    /// The digest of something in the present piece; `last` says that nothing comes after it but z.
    pub(super) fn digest(&self, kind: Kind, last: bool, payload: &[u8]) -> [u8; 32] {
        let mut hasher = self.hasher(kind);
        hasher.update(&[u8::from(last)]).update(&(payload.len() as u64).to_le_bytes()).update(payload);
        hasher.to_compare()
    }

    fn hasher(&self, kind: Kind) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 garbled piece v1");
        hasher.update(&self.name).update(&[kind as u8]).update(&self.number.to_le_bytes());
        hasher
    }

    /// The beginning of a digest that belongs to the call, and to none of its pieces.
    pub(super) fn of_the_call(&self, kind: Kind) -> blake3::Hasher {
        Pieces { name: self.name, number: u64::MAX }.hasher(kind)
    }

    /// Go on to the next piece.
    pub(super) fn advance(&mut self) {
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest is of one call, one kind, one place, one length and one payload.
    #[test]
    fn no_digest_serves_elsewhere() {
        let at = |name: u8, number: u64| Pieces { name: [name; 32], number };
        let all = [
            at(1, 0).digest(Kind::Known, false, b"12"),
            at(2, 0).digest(Kind::Known, false, b"12"),
            at(1, 1).digest(Kind::Known, false, b"12"),
            at(1, 1 << 8).digest(Kind::Known, false, b"12"),
            at(1, 1 << 32).digest(Kind::Known, false, b"12"),
            at(1, 0).digest(Kind::Sums, false, b"12"),
            at(1, 0).digest(Kind::Known, true, b"12"),
            at(1, 0).digest(Kind::Known, false, b"21"),
            at(1, 0).digest(Kind::Known, false, b"120"),
            *at(1, 0).hasher(Kind::Known).finalize().as_bytes(),
            *at(1, 0).of_the_call(Kind::Known).finalize().as_bytes(),
            *at(2, 0).of_the_call(Kind::Known).finalize().as_bytes(),
        ];
        let mut different = all.to_vec();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), all.len());
    }

    /// Nor does one of any other piece of a long call.
    #[test]
    fn no_number_of_a_piece_returns() {
        let mut pieces = Pieces::new([1; 32]);
        let mut seen = std::collections::HashSet::new();
        for piece in 0..70_000 {
            assert!(seen.insert(pieces.digest(Kind::Known, false, b"12")), "{piece}");
            pieces.advance();
        }
    }
}
