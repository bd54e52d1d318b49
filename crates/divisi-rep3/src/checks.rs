//! The checks of three parties, by their ids, beside those of the layers below.

pub use divisi_core::checks::*;

divisi_core::checks! {
    /// A replicated opening is compared with its redundant holder's digest.
    A1 = "A1",
    /// Everything opened enters the view digest that all parties compare before a verification.
    A2 = "A2",
    /// A coin is compared at once.
    A4 = "A4",
    /// CheckTriple: fresh x', r; z' before the coin.
    A5 = "A5",
    /// CheckTriple: rho is compared before sigma is made.
    A6 = "A6",
    /// CheckTriple: only the masked sigma is opened, accepted only if zero.
    A7 = "A7",
    /// The first coin of a verification follows the products and the barrier.
    A8 = "A8",
    /// Each level of the recursion has a fresh coin after its h.
    A9 = "A9",
    /// h(0) is derived, never received.
    A10 = "A10",
    /// A verification is not empty, and covers every product.
    A11 = "A11",
    /// The embeddings into GF(2^64) satisfy their relations.
    A12 = "A12",
    /// The verification runs before any output.
    A13 = "A13",
    /// Several products in one relation that fails exactly when one of them is wrong.
    A14 = "A14",
    /// All products of the inversion enter the batch.
    A15 = "A15",
    /// The opening of a lookup is re-randomised before it is sent.
    A16 = "A16",
    /// All products of a one-hot vector are verified before its use.
    A17 = "A17",
    /// Both halves of a vector of square-root size are verified; each vector is used once, at a position that
    /// all agree on.
    A18 = "A18",
    /// The Reshare that ends a chain of additive layers is re-randomised.
    A19 = "A19",
    /// VerifySbox: both equations for every S-box of a chain.
    A20 = "A20",
    /// A verification reveals one bit for the whole batch.
    A21 = "A21",
    /// Replicated openings that depend on one another are compared layer by layer.
    A22 = "A22",
    /// Decryption and all modes have the same checks; the tag's difference is never opened.
    A23 = "A23",
    /// Both holders of each secret input component compare it before its first use.
    A24 = "A24",
    /// All three compare every public input before its first use.
    A25 = "A25",
    /// Co-holders compare stored key shares when they are loaded.
    A26 = "A26",
    /// Black box: everything opened so far is compared before it is used.
    S1 = "S1",
    /// Black box: every product made so far is verified, counted product by product.
    S2 = "S2",
    /// Black box: an output is verified, or there is none.
    S3 = "S3",
    /// Black box: the parties compare what they received of an output, pair by pair, before they accept it.
    S4 = "S4",
    /// Every product of a Boolean program enters the verification: counted product by product.
    S6 = "S6",
    /// A tag is compared inside the computation: a random multiple of the difference is opened after its
    /// verification, never the difference itself.
    S7 = "S7",
    /// Constant rounds: each half of a table from one garbler, its digest from the other, before evaluation.
    Y1 = "Y1",
    /// Constant rounds: the whole list of hash pairs has the other garbler's digest, before any label is
    /// used.
    Y2 = "Y2",
    /// Constant rounds: an input label has the hash that the evaluator's own bit selects.
    Y3 = "Y3",
    /// Constant rounds: the masked decoding bits have the other garbler's digest.
    Y4 = "Y4",
    /// Constant rounds: the result comes with the digest of the output labels that it selects.
    Y5 = "Y5",
}
