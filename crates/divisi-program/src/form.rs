//! How random bits shared modulo 2 and modulo p are made.

use divisi_bgv::parameters::Form;

/// How random bits shared modulo 2 and modulo p are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BitForm {
    /// By correlated transfers.
    Cot,
    /// By ciphertexts.
    Ciphertexts(Form),
}

impl BitForm {
    /// All values.
    pub const ALL: [BitForm; 4] = [
        BitForm::Cot,
        BitForm::Ciphertexts(Form::LeanTree),
        BitForm::Ciphertexts(Form::LeanRing),
        BitForm::Ciphertexts(Form::Paper),
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BitForm::Cot => "cot",
            BitForm::Ciphertexts(form) => form.name(),
        }
    }

    /// The form of the ciphertexts, if there are any. They also mask private tables.
    #[must_use]
    pub fn ciphertexts(self) -> Option<Form> {
        match self {
            BitForm::Cot => None,
            BitForm::Ciphertexts(form) => Some(form),
        }
    }

    /// The form that is fastest for this number of parties: the work of transfers grows quadratically, that
    /// of products along a tree does not. This was measured with processes over TLS on a processor with
    /// AVX-512 and IFMA, where B2A among 16 takes 116 to 122 us by transfers, and 133 to 143 by tree. Without
    /// IFMA the tree may be faster from some 16 parties on (docs/mixed.md, 11).
    #[must_use]
    pub fn by_default(parties: usize) -> BitForm {
        if parties <= 20 { BitForm::ALL[0] } else { BitForm::ALL[1] }
    }
}
