//! The checks that a session may execute, by their ids: SECURITY.md says where their places, tests and
//! mutants are listed.

use std::fmt;

macro_rules! checks {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        /// A check by its id. Counted by the [`crate::Meter`] each time it is executed over something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Check { $($(#[$doc])* $id,)* }

        impl Check {
            /// Every check, in order.
            pub const ALL: &'static [Check] = &[$(Check::$id,)*];

            /// The id as the tables of checks write it.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Check::$id => $name,)* }
            }
        }
    };
}

checks! {
    /// Channels are authenticated, confidential and ordered, each end bound to its party.
    M0_1 = "M0.1",
    /// A coin is opened from fresh shared randomness and compared, after what it checks is fixed.
    M0_2 = "M0.2",
    /// What is broadcast is echoed and compared before the next step that depends on it.
    M0_3 = "M0.3",
    /// All parties agree on every public parameter before the first step.
    M0_4 = "M0.4",
    /// The session id has fresh randomness of every party; correlated values are used once.
    M0_5 = "M0.5",
    /// Digests are compared at full length in constant time; lengths come from public data.
    M0_6 = "M0.6",
    /// No value leaves that depends on an unverified value.
    M0_7 = "M0.7",
    /// A replicated opening is compared with its redundant holder's digest.
    A1 = "A1",
    /// Everything opened enters the view digest that all parties compare before a verification.
    A2 = "A2",
    /// Keys of the pseudo-random sharings are pairwise and belong to one session and strand.
    A3 = "A3",
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
    /// A base OT message is the canonical encoding of a group element, which is neither the neutral element
    /// nor this party's own element sent back.
    O1 = "O1",
    /// The all-but-one trees of a pair are what their maker committed to.
    O2 = "O2",
    /// OT extension: the column-wise check of SoftSpokenOT, and the public lowest bit of each Delta.
    W1 = "W1",
    /// Authenticated bits: one sacrificed bit for each equation, coefficients (R | I).
    W2 = "W2",
    /// Authenticated bits: the coin follows the corrections and is fresh for each batch.
    W3 = "W3",
    /// Authenticated bits: the checked sums are broadcast.
    W4 = "W4",
    /// Authenticated bits: the MACs of the checked sums under every Delta.
    W5 = "W5",
    /// Authenticated bits: the sacrificed bits are dropped.
    W6 = "W6",
    /// Consistency of Delta: commitments for each of the rho sacrificed bits are broadcast.
    W7 = "W7",
    /// Consistency of Delta: nothing is opened before all commitments are received.
    W8 = "W8",
    /// Consistency of Delta: exactly one of the two key sums is opened.
    W9 = "W9",
    /// Consistency of Delta: the opened key sum is the sum of the MACs, and each opened bit has its MAC.
    W10 = "W10",
    /// Consistency of Delta: rho bits, dropped afterwards.
    W11 = "W11",
    /// HaAND: the hash is tweaked by session, pair, index and step.
    W12 = "W12",
    /// LaAND: e is broadcast.
    W13 = "W13",
    /// LaAND: the H_i are committed by all, then opened.
    W14 = "W14",
    /// LaAND: the H_i sum to zero in every triple.
    W15 = "W15",
    /// aAND: buckets by a coin that follows all triples.
    W16 = "W16",
    /// aAND: d is opened with its MACs.
    W17 = "W17",
    /// aAND: the bucket size is that of the bound.
    W18 = "W18",
    /// Garbling: the row hash is tweaked by session, gate, row and garbler.
    W19 = "W19",
    /// Inputs: mask shares with MACs to the owner; the masked input is broadcast.
    W20 = "W20",
    /// Inputs: labels for the broadcast value only.
    W21 = "W21",
    /// Evaluation: the MAC of every row share.
    W22 = "W22",
    /// Evaluation: no exit inside the loop depends on anything but masked values.
    W23 = "W23",
    /// Outputs: mask shares with MACs.
    W24 = "W24",
    /// Outputs to others: a garbler accepts its own two labels only.
    W25 = "W25",
    /// Preprocessing belongs to one circuit and is used once.
    W26 = "W26",
    /// AND on given masks: d and e are opened with MACs before any table is sent.
    W27 = "W27",
    /// Masked inputs of the wire's owner only, echoed before a label leaves; output mask shares to receivers
    /// only.
    W28 = "W28",
    /// Public wires are folded; no label of one depends on Delta_i.
    W29 = "W29",
    /// Openings: the parties compare what they saw opened before they check the MACs.
    K1 = "K1",
    /// Masked tables: each is used once.
    K2 = "K2",
    /// TinyTable: the opened entries and the output masks have MACs.
    K3 = "K3",
    /// The MACs of everything opened are checked before an output and before any branch.
    K4 = "K4",
    /// Random bits are bits, and nobody knows them.
    K5 = "K5",
    /// Each product uses an authenticated triple, which is used once.
    K6 = "K6",
    /// Openings have the bits of their part of the field and no others; the MAC check covers what is
    /// reassembled from them.
    K8 = "K8",
    /// One MAC a value: the field of the MACs has at least 2^40 elements.
    K9 = "K9",
    /// The error of a MAC check is counted: n/|F|, more than the field's size alone suggests.
    K9B = "K9b",
    /// A small field whose products are used is embedded in that of the MACs by a root of its modulus.
    K10 = "K10",
    /// Rows over a field: one relation over all columns of a row, narrow or wide; X is broadcast.
    K11 = "K11",
    /// Rows over a field: one Delta_i towards all peers, on the columns of MACs.
    K12 = "K12",
    /// Products: pads and MAC of a bit are columns of one row.
    K13 = "K13",
    /// Pads and base OTs by halves come from the 128 columns of Delta', never from the few of Delta_i.
    K14 = "K14",
    /// Products of bits and vectors: the MAC of a masked random combination of all is checked; its coin
    /// follows all.
    K15 = "K15",
    /// Products of bits and vectors: buckets by a coin that follows that combination, of the size of the
    /// bound.
    K16 = "K16",
    /// The MACs of what preprocessing opens are checked before a result leaves.
    K17 = "K17",
    /// Products of MASCOT: the coins that combine them follow all of them.
    K18 = "K18",
    /// Products of MASCOT: the sacrifice is compared with zero; its coin follows both products.
    K19 = "K19",
    /// Openings and sigmas among three or more parties: a fresh sharing of zero is added.
    K20 = "K20",
    /// MAC check: sigma is committed to by all, then opened; one at a time for each alpha.
    K21 = "K21",
    /// TinyTable: every opened index and entry is checked before an output mask opens.
    K22 = "K22",
    /// Stock: all parties have the same one, for this field and these peers; nobody uses values that any
    /// party took.
    K23 = "K23",
    /// Outputs to one party: checked by their receiver.
    K24 = "K24",
    /// Mixed mode: every hop adds a fresh encryption of zero, or floods, in both components, changed or not.
    G1 = "G1",
    /// Mixed mode: flooding is as wide as the bounds of what it hides demand.
    G2 = "G2",
    /// Mixed mode: the party that refreshes a ciphertext gets masked answers, and an encryption of each mask.
    G3 = "G3",
    /// Mixed mode: every party floods its own partial decryption before it sends it.
    G4 = "G4",
    /// Mixed mode: noise fits the modulus at every level, and the whole modulus fits the ring.
    G5 = "G5",
    /// Mixed mode: of a candidate mask of A2B only d = a b c is opened, and a rejected candidate is dropped
    /// whole.
    G6 = "G6",
    /// Mixed mode: random bits, masked tables and triples are used once.
    G7 = "G7",
    /// Linear garbling: a label is used in one row, so that no public polynomial masks two under one key.
    G8 = "G8",
    /// Linear garbling: a row is the sum of exactly one contribution of every party.
    G9 = "G9",
    /// Mixed mode: a received polynomial has its length, and coefficients below their primes.
    G10 = "G10",
    /// Mixed mode: shares of an output go to its receivers and to nobody else.
    G11 = "G11",
    /// Mixed mode: the partial decryptions of a session are counted, and limited to their number.
    G12 = "G12",
    /// Mixed mode: no public polynomial is used for two messages under one key share.
    G13 = "G13",
    /// Semi-honest correlations: rows of their own type, no tweak twice, no pad for two payloads.
    G14 = "G14",
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

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
