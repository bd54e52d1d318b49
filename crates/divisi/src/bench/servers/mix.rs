//! The mix of requests that the clients of a benchmark send.

/// A mix of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mix {
    /// One block, encrypted and decrypted in turn.
    OneBlock,
    /// Files of 1 MiB.
    File,
    /// Hashes of messages of 64 KiB.
    Hash,
    /// One long file, one long hash, and one block by all other clients.
    Mixed,
}

impl Mix {
    /// Every mix.
    pub const ALL: [Mix; 4] = [Mix::OneBlock, Mix::File, Mix::Hash, Mix::Mixed];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mix::OneBlock => "one-block",
            Mix::File => "file",
            Mix::Hash => "hash",
            Mix::Mixed => "mixed",
        }
    }

    /// The kinds of requests in it.
    #[must_use]
    pub fn kinds(self) -> &'static [RequestKind] {
        match self {
            Mix::OneBlock => &[RequestKind::OneBlock],
            Mix::File => &[RequestKind::File],
            Mix::Hash => &[RequestKind::Hash],
            Mix::Mixed => &[RequestKind::OneBlock, RequestKind::File, RequestKind::Hash],
        }
    }
}

/// A kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RequestKind {
    /// AES-GCM of 16 bytes.
    OneBlock,
    /// AES-GCM of a file.
    File,
    /// SHA-256 of a message.
    Hash,
}

impl RequestKind {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::OneBlock => "one-block",
            RequestKind::File => "file",
            RequestKind::Hash => "hash",
        }
    }
}
