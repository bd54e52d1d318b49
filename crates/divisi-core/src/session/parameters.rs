//! The public parameters that all parties must share before the first step \[M0.4\].

/// A list of named public parameters with an unambiguous digest: every name and value is hashed with its
/// length.
#[derive(Clone)]
pub struct PublicParameters {
    hasher: blake3::Hasher,
    #[cfg(feature = "testing")]
    pub(crate) recorded: bool,
    #[cfg(feature = "testing")]
    known: Option<crate::draws::KnownDraws>,
}

impl PublicParameters {
    /// Parameters of a protocol family, beginning with the version of this library's protocols.
    #[must_use]
    pub fn new(engine: &str) -> Self {
        let hasher = blake3::Hasher::new_derive_key("divisi 2026 session parameters v1");
        let new = PublicParameters {
            hasher,
            #[cfg(feature = "testing")]
            recorded: false,
            #[cfg(feature = "testing")]
            known: None,
        };
        new.with("version", env!("CARGO_PKG_VERSION").as_bytes()).with("engine", engine.as_bytes())
    }

    /// Add a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        for part in [name.as_bytes(), value] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
        self
    }

    /// Parameters of a session that records what is drawn ([`Session::draws`], [`Session::draw_record`]).
    ///
    /// [`Session::draws`]: crate::Session::draws
    /// [`Session::draw_record`]: crate::Session::draw_record
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.recorded = true;
        self
    }

    /// Parameters of a session that records what is drawn, and draws known randomness.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn drawing(mut self, known: crate::draws::KnownDraws) -> Self {
        self.known = Some(known);
        self.recording()
    }

    /// A party's record of draws, if it is to have one.
    #[cfg(feature = "testing")]
    pub(crate) fn record(&self, me: crate::PartyId) -> Option<crate::draws::DrawRecord> {
        self.recorded.then(|| crate::draws::DrawRecord::new(me, self.known.as_ref()))
    }

    /// The digest that the parties compare.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *self.hasher.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::each_byte_counts;

    /// Names and values from their first byte to their last, however long they are, are what is agreed on.
    #[test]
    fn all_of_the_parameters_is_agreed_on() {
        let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        each_byte_counts(|value| PublicParameters::new("x").with("n", value).with("o", &[1]).digest());
        each_byte_counts(|name| PublicParameters::new("x").with(&text(name), &[1]).digest());
        each_byte_counts(|engine| PublicParameters::new(&text(engine)).digest());
    }

    #[test]
    fn names_and_values_cannot_run_into_each_other() {
        let digest = |parts: &[(&str, &[u8])]| {
            parts.iter().fold(PublicParameters::new("x"), |p, (n, v)| p.with(n, v)).digest()
        };
        let all = [
            digest(&[("ab", b"c")]),
            digest(&[("a", b"bc")]),
            digest(&[("abc", b"")]),
            digest(&[("", b"abc")]),
            digest(&[("a", b"b"), ("c", b"")]),
        ];
        for (i, x) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|y| x != y));
        }
        assert_eq!(digest(&[("ab", b"c")]), all[0]);
    }
}
