//! What a test may leave out of the protocol, and what its corrupt party may do ([`super::weak`]).

/// Something that the protocol needs and that has no check of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    /// The evaluator compares the first halves of tables alone.
    OneHalf,
    /// The evaluator does not compare the last piece of tables.
    LastPiece,
    /// The digest of output labels covers the first 64 alone.
    FewLabels,
    /// r12 is left out of the decoding bits.
    NoR12,
    /// r23 is left out of the circuit.
    NoR23,
    /// What is derived does not know its call.
    SameCall,
    /// Nothing is compared before labels are sent.
    NoBarrier,
    /// Pairs are hashed where gates are hashed.
    PairsAsGates,
    /// The gates of all lanes have the same tweaks.
    SharedTweak,
    /// What goes on with a call that was garbled ahead hashes the pairs of its inputs from the first wire on.
    WiresAnew,
    /// The digest of a list of pairs is made of the labels that are sent.
    ListOfLabels,
    /// The digest of a list of pairs covers its first half alone.
    HalfList,
    /// The digest of a list of pairs does not know in which order they stand.
    Unordered,
}

/// What a corrupt party does where a blind change of a message is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// A garbler adds Delta to the last word of its half of each table, so that a gate adds a bit to its
    /// result.
    BendGate,
    /// A garbler sends the other label of the first input wire.
    OtherInput,
    /// P1 changes the first decoding bit, and takes whatever z comes of it.
    OtherDecoding,
    /// The evaluator keeps and sends z with this bit changed.
    #[cfg_attr(not(feature = "fault"), expect(dead_code, reason = "only a test tells it"))]
    OtherResult(usize),
}

/// What of it holds.
#[derive(Clone, Copy, Default)]
#[cfg(feature = "fault")]
pub(crate) struct Plot {
    pub(crate) weakness: Option<Weakness>,
    pub(crate) lie: Option<Lie>,
    /// Delta of every call, for tests that look where it lies.
    #[cfg(feature = "testing")]
    pub(crate) delta: Option<&'static divisi_core::testing::memory::Needle>,
}
