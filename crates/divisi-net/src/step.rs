//! Steps of protocols: the names that frames, faults, traces and attacks share.

use std::fmt;

/// A step of a protocol: a name for people, and its 32-bit hash on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// The full name, `module/step`.
    pub name: &'static str,
    /// FNV-1a of the name.
    pub id: u32,
}

impl Step {
    /// The step of this name.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0x811c_9dc5_u32;
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
            i += 1;
        }
        Self { name, id: hash }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The [`Step`] of this name in the calling module, as a constant: `step!("mul.3")`.
#[macro_export]
macro_rules! step {
    ($name:literal) => {{
        const STEP: $crate::Step = $crate::Step::new(concat!(module_path!(), "/", $name));
        STEP
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_fnv_1a() {
        // The function's published check values.
        assert_eq!(Step::new("").id, 0x811c_9dc5);
        assert_eq!(Step::new("a").id, 0xe40c_292c);
        assert_eq!(Step::new("foobar").id, 0xbf9c_f968);
    }

    #[test]
    fn the_macro_names_the_module() {
        assert_eq!(step!("mul.3").to_string(), "divisi_net::step::tests/mul.3");
    }
}
