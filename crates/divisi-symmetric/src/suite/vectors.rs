//! The files in `tests/vectors`: records of `Name = value` lines, separated by empty lines; `#` starts a
//! comment.

/// One known answer.
#[derive(Clone, Debug)]
pub struct VectorCase(Vec<(&'static str, &'static str)>);

impl VectorCase {
    /// The value with this name.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &'static str {
        let found = self.0.iter().find(|(key, _)| *key == name);
        found.unwrap_or_else(|| panic!("{self:?} has no {name}")).1
    }

    /// The value with this name as bytes; spaces are ignored.
    ///
    /// # Panics
    /// If there is none, or it is not hexadecimal.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let digits: String = self.text(name).split_whitespace().collect();
        hex::decode(digits).unwrap_or_else(|error| panic!("{name} of {self:?}: {error}"))
    }

    /// Whether there is a value with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| *key == name)
    }
}

/// FIPS 197, appendices A, B and C.
#[must_use]
pub fn aes_fips197_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/aes_fips197.txt"))
}

/// SP 800-38A, F.1 (ECB) and F.5 (CTR).
#[must_use]
pub fn aes_sp800_38a_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/aes_sp800_38a.txt"))
}

/// The test cases of the GCM specification.
#[must_use]
pub fn gcm_specification_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/gcm_specification.txt"))
}

/// Triple DES: the example of SP 800-67, and some of NIST's.
#[must_use]
pub fn triple_des_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/triple_des.txt"))
}

/// SP 800-38A, F.2 (CBC), SP 800-38B, D (CMAC), and examples of CBC of triple DES.
#[must_use]
pub fn mode_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/modes.txt"))
}

/// NIST's examples of hashes, extendable outputs and KMAC.
#[must_use]
pub fn hash_vectors() -> Vec<VectorCase> {
    records(include_str!("../../tests/vectors/hashes.txt"))
}

fn records(file: &'static str) -> Vec<VectorCase> {
    let mut records = vec![VectorCase(Vec::new())];
    for line in file.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        match line.split_once('=') {
            Some((name, value)) => records.last_mut().unwrap().0.push((name.trim(), value.trim())),
            None if line.is_empty() => records.push(VectorCase(Vec::new())),
            None => panic!("neither a value nor a comment: {line}"),
        }
    }
    records.retain(|record| !record.0.is_empty());
    records
}
