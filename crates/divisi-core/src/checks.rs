//! The checks of every session, whatever protocol it runs.

crate::checks! {
    /// Channels are authenticated, confidential and ordered, each end bound to its party.
    M0_1 = "M0.1",
    /// A coin is made of fresh randomness of all parties, compared with their commitments, and opened only
    /// after everything that it checks is fixed.
    M0_2 = "M0.2",
    /// What is broadcast is echoed and compared before the next step that depends on it.
    M0_3 = "M0.3",
    /// All parties agree on every public parameter before the first step.
    M0_4 = "M0.4",
    /// The session id depends on fresh randomness of every party; correlated values are used once.
    M0_5 = "M0.5",
    /// Digests are compared at full length in constant time; lengths come from public data.
    M0_6 = "M0.6",
    /// No value leaves that depends on an unverified value.
    M0_7 = "M0.7",
    /// Keys of the pseudo-random sharings are pairwise and belong to one session and strand.
    A3 = "A3",
}
