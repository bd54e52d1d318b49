//! What a caller can do wrong, one variant for each thing that it would do about it.

use std::fmt;

/// What was wrong with a call that ended a session ([`Abort::Misuse`](crate::Abort::Misuse)).
///
/// The step beside it says which call it was; the sentence, what was wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// Values of one operation have different numbers of lanes.
    LanesDiffer,
    /// Lists that belong together have different numbers of items, such as keys and messages.
    CountsDiffer,
    /// There is nothing to work on.
    Empty,
    /// A length, or a number of items, that the algorithm does not take.
    LengthUnsupported,
    /// A length other than announced or declared.
    LengthDiffers,
    /// A block, a message or an IV that is not whole blocks.
    BlockLength,
    /// More than the algorithm, the memory or the budget allows at once.
    TooLarge,
    /// A number out of its range: a parameter, an index, a share that is no element of its field.
    OutOfRange,
    /// There is no key, field or garbler for the operation: none was made, or none is named so.
    KeyMissing,
    /// A key, a ring or a state that was made for something else.
    KeyUnfit,
    /// Powers, masks or one-hot vectors that were not made, or were made for something else.
    NotMade,
    /// Fewer preprocessed items than the computation takes.
    TooFewMade,
    /// Something that serves once was used before.
    UsedTwice,
    /// A second set-up, MAC key or garbler, of which a session has one.
    SecondSetUp,
    /// A second count of decryptions, which would not see those of the first.
    SecondCount,
    /// Two messages under one key with one IV.
    NonceReused,
    /// The name of a key stood for another key before.
    NameReused,
    /// A ciphertext whose noise a decryption would not hide.
    NoiseTooHigh,
    /// A ciphertext at a level, or with a factor, that the operation does not take.
    LevelUnfit,
    /// An owner or a receiver that is no party of the session.
    PartyUnknown,
    /// The session has another number of parties than the protocol or its parameters.
    PartyCount,
    /// An input that its owner did not give, or that another party gave.
    NotTheOwner,
    /// Inputs that must be the same differ, between parties or between two readings.
    InputsDiffer,
    /// Something that another session made.
    OtherSession,
    /// Something of another strand or engine that was not settled there.
    OtherStrand,
    /// Values with and without active security in one computation.
    SecurityDiffers,
    /// The session has ended, and what is asked for was erased with it.
    Erased,
    /// A value that nobody computed.
    NotComputed,
    /// A product was made while programs are only foreseen.
    Foreseeing,
    /// Values leave, or are left behind, whose computation was not settled.
    NotSettled,
    /// Values rest on products that nobody has verified.
    NotVerified,
    /// A proof from before what it must cover was made.
    ProofTooOld,
    /// Something was opened that no barrier has compared since.
    NotCompared,
    /// A verification of no products, or of only some of them.
    VerificationEmpty,
    /// Bytes of a chain of layers that are neither finished nor whole layers.
    ChainUnfinished,
    /// An additive value of too many products.
    ReshareFirst,
    /// The message of a tag that was not found right before.
    TagNotVerified,
    /// A call before the one that it must follow, or after the one that it must precede.
    OutOfOrder,
    /// An algorithm, a field or a setting that is not supported here.
    Unsupported,
    /// Messages that their mode does not take.
    MessageUnfit,
    /// A circuit, a program or a table that the engine cannot take.
    CircuitUnfit,
    /// A circuit in its file, for an engine or a mode that needs it in memory.
    CircuitInFile,
    /// The file of the circuit cannot be read any more.
    FileUnreadable,
    /// The file of the circuit has changed since the run began.
    FileChanged,
    /// The caller's own work ended without its result, or with another one.
    NoResult,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misuse::LanesDiffer => "values with different numbers of lanes",
            Misuse::CountsDiffer => "lists that belong together with different numbers of items",
            Misuse::Empty => "nothing to work on: an empty list, group, table or message",
            Misuse::LengthUnsupported => "a length, or a number of items, that is not supported",
            Misuse::LengthDiffers => "another length than announced or declared",
            Misuse::BlockLength => "a block, a message or an IV that is not whole blocks",
            Misuse::TooLarge => "more than the algorithm, the memory or the budget allows at once: split it",
            Misuse::OutOfRange => "a number out of its range",
            Misuse::KeyMissing => "no key, field or garbler for this operation: make one first",
            Misuse::KeyUnfit => "a key, a ring or a state that was made for something else",
            Misuse::NotMade => "powers, masks or one-hot vectors that were not made for this",
            Misuse::TooFewMade => "fewer preprocessed items than needed: make more of them first",
            Misuse::UsedTwice => "something that serves once and was used before",
            Misuse::SecondSetUp => {
                "a second set-up, MAC key or garbler in one session, which has one: open another session"
            }
            Misuse::SecondCount => {
                "a second count of decryptions in one session: make further keys with `Keys::beside`"
            }
            Misuse::NonceReused => "two messages under one key with one IV",
            Misuse::NameReused => "a name that stood for another key before: give each key its own",
            Misuse::NoiseTooHigh => {
                "a ciphertext with more noise than floods hide: declare a larger weight, or convert each summand"
            }
            Misuse::LevelUnfit => "a ciphertext at a level, or with a factor, that the operation does not take",
            Misuse::PartyUnknown => "an owner or a receiver that is no party of this session",
            Misuse::PartyCount => "another number of parties than the protocol or its parameters have",
            Misuse::NotTheOwner => "an input that its owner did not give, or that another party gave",
            Misuse::InputsDiffer => "inputs that differ where they must be the same",
            Misuse::OtherSession => "something that another session made",
            Misuse::OtherStrand => "something of another strand, engine or black box that was not settled there",
            Misuse::SecurityDiffers => "values with and without active security in one computation",
            Misuse::Erased => "something that was erased when its session ended: open another session",
            Misuse::NotComputed => {
                "a value that nobody computed: its call was only foreseen, has failed, or was not made"
            }
            Misuse::Foreseeing => "products made while programs are only foreseen",
            Misuse::NotSettled => "values or products that are not settled: close and settle them first",
            Misuse::NotVerified => "unverified products: verify them first, or mask what depends on them",
            Misuse::ProofTooOld => "a proof that is older than what it must cover: compare and verify again",
            Misuse::NotCompared => "openings that no barrier has compared: call one first",
            Misuse::VerificationEmpty => "a verification of no products, or of only some of them",
            Misuse::ChainUnfinished => {
                "bytes of an unfinished chain of layers: finish it, or pass on all bytes of a layer, each once"
            }
            Misuse::ReshareFirst => "an additive value of too many products: reshare it first",
            Misuse::TagNotVerified => "a message whose tag was not verified",
            Misuse::OutOfOrder => "a call out of order: another one belongs before it",
            Misuse::Unsupported => "an algorithm, a field or a setting that is not supported here",
            Misuse::MessageUnfit => {
                "messages that their mode does not take: of wrong lengths, shapes or IVs, or not the longest first"
            }
            Misuse::CircuitUnfit => "a circuit, a program or a table that the engine cannot take",
            Misuse::CircuitInFile => "a circuit that stays in its file, which only the streamed mode can run",
            Misuse::FileUnreadable => {
                "the file of the circuit cannot be read any more: leave it in its place until the run has ended"
            }
            Misuse::FileChanged => {
                "the file of the circuit has changed since the run began: do not change it before the run has ended"
            }
            Misuse::NoResult => "work that ended without the result expected of it",
        })
    }
}
