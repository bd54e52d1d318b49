//! A stored key on its way into one use: this server found and admitted it, then all three found it equal.

use crate::admit::Grant;
use divisi_rep3::deal::Part;
use divisi_store::{KeyInfo, KeyName};

/// A key that this server found for one use, which its own policy admits.
pub(crate) struct Found {
    name: KeyName,
    info: KeyInfo,
    part: Part,
}

impl Found {
    pub fn granted(name: KeyName, info: KeyInfo, part: Part, _: Grant) -> Found {
        Found { name, info, part }
    }

    /// What all three compare of the key \[A26\]: its public data, and this server's share.
    pub fn compared(&self) -> ([u8; 32], &Part) {
        (self.info.agreed(), &self.part)
    }

    /// The name by which the request asks for it.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    pub fn info(&self) -> &KeyInfo {
        &self.info
    }

    /// The key, after all three found it equal.
    pub fn agreed(self) -> Loaded {
        Loaded { info: self.info, part: self.part }
    }
}

/// A key that all three have, compared, for one use that all three admitted.
pub(crate) struct Loaded {
    pub info: KeyInfo,
    pub part: Part,
}
