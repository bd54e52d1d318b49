//! Hashes and MACs by their names in commands, files and stored keys, with the public parameters of a call.

use crate::aes::KeySize;
use crate::gates::Adder;
use crate::hash::Hash;
use crate::sha2::Sha2;
use std::fmt;
use std::str::FromStr;

/// The security strength, in bits, of a function whose output may have any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum Strength {
    /// 128 bits: a rate of 168 bytes.
    S128,
    /// 256 bits: a rate of 136 bytes.
    S256,
}

/// A hash, an extendable-output function, or a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Algorithm {
    /// A digest of fixed length.
    Hash(Hash),
    /// SHAKE (FIPS 202).
    Shake(Strength),
    /// cSHAKE (SP 800-185).
    Cshake(Strength),
    /// HMAC (FIPS 198-1).
    Hmac(Hash),
    /// A one-time password (RFC 4226, RFC 6238): digits of HMAC. The message is the counter.
    Otp(Hash),
    /// KMAC (SP 800-185).
    Kmac(Strength),
    /// CMAC (SP 800-38B) over AES.
    Cmac(KeySize),
    /// GMAC (SP 800-38D) over AES: the message is associated data; each message has a nonce of 96 bits.
    Gmac(KeySize),
}

const STRENGTHS: [Strength; 2] = [Strength::S128, Strength::S256];
/// The hashes for one-time passwords.
const OTPS: [Hash; 3] = [Hash::Sha1, Hash::Sha2(Sha2::Sha256), Hash::Sha2(Sha2::Sha512)];
/// How many digits a one-time password has.
pub const DIGITS: std::ops::RangeInclusive<usize> = 6..=8;
const SIZES: [KeySize; 2] = [KeySize::Aes128, KeySize::Aes256];

impl Algorithm {
    /// All hashes and extendable-output functions.
    pub fn hashes() -> impl Iterator<Item = Algorithm> {
        let xofs = STRENGTHS.map(Algorithm::Shake).into_iter().chain(STRENGTHS.map(Algorithm::Cshake));
        Hash::ALL.into_iter().map(Algorithm::Hash).chain(xofs)
    }

    /// All MACs.
    pub fn macs() -> impl Iterator<Item = Algorithm> {
        let hmacs = Hash::ALL.into_iter().map(Algorithm::Hmac);
        let aes = SIZES.map(Algorithm::Cmac).into_iter().chain(SIZES.map(Algorithm::Gmac));
        let hmacs = hmacs.chain(OTPS.map(Algorithm::Otp));
        hmacs.chain(STRENGTHS.map(Algorithm::Kmac)).chain(aes)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        let strength = |strength| match strength {
            Strength::S128 => "128",
            Strength::S256 => "256",
        };
        match self {
            Algorithm::Hash(hash) => hash.name().to_owned(),
            Algorithm::Shake(s) => format!("shake{}", strength(s)),
            Algorithm::Cshake(s) => format!("cshake{}", strength(s)),
            Algorithm::Hmac(hash) => format!("hmac-{}", hash.name()),
            Algorithm::Otp(Hash::Sha1) => "one-time-password-sha1".to_owned(),
            Algorithm::Otp(hash) => format!("one-time-password-{}", hash.name()),
            Algorithm::Kmac(s) => format!("kmac{}", strength(s)),
            Algorithm::Cmac(size) => format!("cmac-aes{}", size.bits()),
            Algorithm::Gmac(size) => format!("gmac-aes{}", size.bits()),
        }
    }

    /// Whether it takes a key.
    #[must_use]
    pub const fn is_mac(self) -> bool {
        !matches!(self, Algorithm::Hash(_) | Algorithm::Shake(_) | Algorithm::Cshake(_))
    }

    /// Whether the caller may choose the length of the output.
    #[must_use]
    pub const fn has_any_length(self) -> bool {
        matches!(self, Algorithm::Shake(_) | Algorithm::Cshake(_) | Algorithm::Kmac(_))
    }

    /// The default length of the output in bytes; a one-time password has a byte for each digit.
    #[must_use]
    pub const fn output_bytes(self) -> usize {
        match self {
            Algorithm::Hash(hash) | Algorithm::Hmac(hash) => hash.digest_bytes(),
            Algorithm::Shake(s) | Algorithm::Cshake(s) | Algorithm::Kmac(s) => match s {
                Strength::S128 => 32,
                Strength::S256 => 64,
            },
            Algorithm::Cmac(_) | Algorithm::Gmac(_) => 16,
            Algorithm::Otp(_) => *DIGITS.start(),
        }
    }

    /// The length of the key in bytes; if any length is allowed, that of a new key.
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        match self {
            Algorithm::Hash(_) | Algorithm::Shake(_) | Algorithm::Cshake(_) => 0,
            Algorithm::Hmac(hash) | Algorithm::Otp(hash) => hash.digest_bytes(),
            Algorithm::Kmac(Strength::S128) => 16,
            Algorithm::Kmac(Strength::S256) => 32,
            Algorithm::Cmac(size) | Algorithm::Gmac(size) => size.bytes(),
        }
    }

    /// The length in bytes of the nonce of a message; 0 if there is none.
    #[must_use]
    pub const fn nonce_bytes(self) -> usize {
        if matches!(self, Algorithm::Gmac(_)) { 12 } else { 0 }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = || Algorithm::hashes().chain(Algorithm::macs());
        all().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
            let known: Vec<String> = all().map(Algorithm::name).collect();
            format!("unknown algorithm {name:?}: choose one of {}", known.join(", "))
        })
    }
}

/// The longest output in bytes.
pub const LONGEST_OUTPUT: usize = 1 << 20;

/// The public parameters of an algorithm, except the length and the nonce of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Which adder SHA-2 uses.
    pub adder: Adder,
    /// The customization string of cSHAKE and KMAC.
    pub customization: Vec<u8>,
    /// The function name of cSHAKE.
    pub function: Vec<u8>,
    /// The length of the output in bytes.
    pub output_bytes: usize,
    /// How many bits of the output's last byte, at its high end, are not wanted: they are set to zero.
    pub spare_output_bits: usize,
    /// For KMAC: how many bits of the key's last byte do not belong to the key.
    pub spare_key_bits: usize,
    /// Whether KMACXOF is meant instead of KMAC.
    pub xof: bool,
}

impl Settings {
    /// An algorithm with default parameters.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        Settings {
            algorithm,
            adder: Adder::FewestAnds,
            customization: Vec::new(),
            function: Vec::new(),
            output_bytes: algorithm.output_bytes(),
            spare_output_bits: 0,
            spare_key_bits: 0,
            xof: false,
        }
    }

    /// Checks that the algorithm supports every parameter that is set.
    ///
    /// # Errors
    /// A sentence that names the parameter that the algorithm does not support.
    pub fn check(&self) -> Result<(), String> {
        let algorithm = self.algorithm;
        let whole = if let Algorithm::Otp(_) = algorithm { *DIGITS.end() } else { algorithm.output_bytes() };
        let takes = |what: &str| Err(format!("{algorithm} takes no {what}: leave it out"));
        match algorithm {
            Algorithm::Cshake(_) => {}
            _ if !self.function.is_empty() => return takes("function name"),
            Algorithm::Kmac(_) => {}
            _ if !self.customization.is_empty() => return takes("customization"),
            _ => {}
        }
        if self.xof && !matches!(algorithm, Algorithm::Kmac(_)) {
            return takes("other form");
        }
        if self.spare_output_bits > 7 || (self.spare_output_bits > 0 && !algorithm.has_any_length()) {
            return takes("output of that many bits");
        }
        if self.spare_key_bits > 7 || (self.spare_key_bits > 0 && !matches!(algorithm, Algorithm::Kmac(_))) {
            return takes("key of that many bits");
        }
        if self.output_bytes == 0 {
            return Err("an output of 0 bytes is useless: ask for at least 1".into());
        }
        if self.output_bytes > LONGEST_OUTPUT {
            return Err(format!("an output has at most {LONGEST_OUTPUT} bytes: ask for fewer"));
        }
        if matches!(algorithm, Algorithm::Otp(_)) && !DIGITS.contains(&self.output_bytes) {
            return Err(format!("{algorithm} has 6 to 8 digits: ask for 6, 7 or 8"));
        }
        if !algorithm.has_any_length() && self.output_bytes > whole {
            return Err(format!("{algorithm} has {whole} bytes of output: ask for no more"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_those_of_the_command_line() {
        let all: Vec<Algorithm> = Algorithm::hashes().chain(Algorithm::macs()).collect();
        assert_eq!(all.len(), 15 + 17 + 3);
        for algorithm in &all {
            assert_eq!(algorithm.name().parse(), Ok(*algorithm));
            assert_eq!(algorithm.is_mac(), algorithm.key_bytes() > 0);
        }
        for name in ["sha512-256", "cshake128", "hmac-sha3-224", "kmac256", "cmac-aes128", "gmac-aes256"] {
            assert_eq!(name.parse::<Algorithm>().unwrap().name(), name);
        }
        assert!("md5".parse::<Algorithm>().unwrap_err().contains("hmac-sha512-256"));
    }

    #[test]
    fn what_an_algorithm_has_not_is_refused() {
        let new = |name: &str| Settings::new(name.parse().unwrap());
        assert!(new("kmac128").check().is_ok() && new("sha256").check().is_ok());
        let customized = |name| Settings { customization: b"c".to_vec(), ..new(name) }.check();
        assert!(
            customized("cshake128").is_ok()
                && customized("kmac256").is_ok()
                && customized("shake128").is_err()
        );
        let named = |name| Settings { function: b"f".to_vec(), ..new(name) }.check();
        assert!(named("cshake256").is_ok() && named("kmac128").is_err());
        let long = |name, output_bytes| Settings { output_bytes, ..new(name) }.check();
        assert!(
            long("shake128", 1000).is_ok() && long("sha256", 33).is_err() && long("hmac-sha256", 16).is_ok()
        );
        assert!(long("shake128", 0).is_err() && long("shake128", usize::MAX).is_err());
        let xof = |name| Settings { xof: true, ..new(name) }.check();
        assert!(xof("kmac128").is_ok() && xof("hmac-sha256").is_err());
    }
}
