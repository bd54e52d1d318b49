//! What parameters are made for: the operation, how ciphertexts pass from party to party, and why there may
//! be no parameters.

use super::MOST_WEIGHT;
use divisi_field::zp::PLAIN_BITS;
use std::fmt;

/// The computation on ciphertexts for which parameters are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Random bits shared modulo 2 and modulo p, and lookups in public tables of size 2.
    Bits,
    /// Lookups in private tables of size 2.
    PrivateTables,
    /// Arithmetic triples.
    Triples,
    /// Shares that become ciphertexts, and ciphertexts that become shares, with no product in between.
    Conversions,
    /// The same, with linear combinations in between ([`crate::linear`]).
    Linear {
        /// How much a combination may weigh: the sum of the absolute values of its multiples. A public addend
        /// weighs as much as a ciphertext.
        weight: u32,
    },
    /// Products of shared vectors of 1,024 numbers by shared numbers, four for each vector, as they stand in
    /// the keys of garbled ANDs ([`crate::blocks`]).
    BlockProducts,
    /// Lookups in private tables of two entries, each of which is a vector of N numbers.
    VectorTables,
}

/// How ciphertexts pass from party to party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The ring of parties of Figure 6, with flooding at every hop.
    Paper,
    /// A ring of parties, with a fresh encryption of zero at every hop, and flooding at decryptions only.
    LeanRing,
    /// Products of signs along a binary tree.
    LeanTree,
}

/// The reason why there are no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterError {
    /// The number of parties is not 2 to 255.
    Parties,
    /// The plaintext modulus has no number-theoretic transform of this dimension.
    Transform {
        /// The dimension.
        n: usize,
    },
    /// The plaintext modulus is not a prime below 2^62.
    Plain,
    /// The weight of linear combinations is not 1 to 2^16.
    Weight,
    /// The operation has no floods before the decryption, as the paper's form has.
    Form,
    /// The modulus is too large for every ring of the security table.
    TooLarge,
}

impl Operation {
    /// The label of this operation's keys, of which a session has one set.
    pub(crate) fn keys(self) -> &'static str {
        match self {
            Operation::Bits => "bgv keys for random bits",
            Operation::PrivateTables => "bgv keys for private tables",
            Operation::Triples => "bgv keys for triples",
            Operation::Conversions => "bgv keys for conversions",
            Operation::Linear { .. } => "bgv keys for linear combinations",
            Operation::BlockProducts => "bgv keys for products of vectors",
            Operation::VectorTables => "bgv keys for tables of vectors",
        }
    }

    /// The operation's name; it is the one of the command line if `divisi params` knows the operation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Bits => "dabit",
            Operation::PrivateTables => "lookup",
            Operation::Triples => "triple-arith",
            Operation::Conversions => "conversions",
            Operation::Linear { .. } => "linear",
            Operation::BlockProducts => "vector-product",
            Operation::VectorTables => "vector-lookup",
        }
    }

    /// The weight that linear combinations may have; `None` for other operations.
    #[must_use]
    pub fn weight(self) -> Option<u32> {
        match self {
            Operation::Linear { weight } => Some(weight),
            _ => None,
        }
    }
}

impl Form {
    /// The form's name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Form::Paper => "paper",
            Form::LeanRing => "lean-ring",
            Form::LeanTree => "lean-tree",
        }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::Parties => write!(f, "the number of parties must be from 2 to 255"),
            ParameterError::Transform { n } => {
                write!(f, "the plaintext modulus must be 1 modulo {} to fill {n} slots", 2 * n)
            }
            ParameterError::Plain => {
                write!(f, "the plaintext modulus must be a prime below 2^{PLAIN_BITS}")
            }
            ParameterError::Weight => {
                write!(f, "a linear combination weighs from 1 to {MOST_WEIGHT}: declare such a weight")
            }
            ParameterError::Form => {
                write!(
                    f,
                    "the paper's form has floods that this operation has not: take lean-tree or lean-ring"
                )
            }
            ParameterError::TooLarge => {
                write!(
                    f,
                    "no ring of dimension up to 65536 has space for the modulus that this needs: take fewer parties, another form, or a smaller plaintext modulus"
                )
            }
        }
    }
}

impl std::error::Error for ParameterError {}
