//! Input and output values of circuits: the one place that defines the order of their bits.
//!
//! **The order of bits.** A value is written as the standard prints it, first byte first. Its *last* byte
//! holds wires 0 to 7, and the lowest bit of that byte is wire 0; the highest bit of the first byte is the
//! last wire. So are the wires of files that others publish in Bristol Fashion, and of `divisi circuit emit`.
//! (Files of the format before have it the other way round: `--first-bit-first`.)
//!
//! ```
//! use divisi::WireValue;
//!
//! let value = WireValue::from_bytes(&[0x80, 0x01]);
//! assert_eq!(value.bits().len(), 16);
//! assert_eq!((value.bits()[0], value.bits()[7], value.bits()[15]), (1, 0, 1));
//! assert_eq!(WireValue::from_bits(value.bits()).to_bytes()[..], [0x80, 0x01]);
//! assert_eq!(WireValue::from_hex("5", 3).unwrap().bits(), [1, 0, 1]);
//! ```

use crate::circuit;
use zeroize::Zeroizing;

/// The wires of a value, one to a byte, wire 0 first. It is wiped when it is dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct WireValue(Zeroizing<Vec<u8>>);

impl WireValue {
    /// The value of these bytes, as the standard prints them.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> WireValue {
        let mut bits = Zeroizing::new(Vec::with_capacity(8 * bytes.len()));
        for byte in bytes.iter().rev() {
            bits.extend((0..8).map(|i| byte >> i & 1));
        }
        WireValue(bits)
    }

    /// The value of these hexadecimal digits, `width` bits wide.
    ///
    /// # Errors
    /// What is wrong with the digits.
    pub fn from_hex(digits: &str, width: usize) -> Result<WireValue, String> {
        let bits = circuit::from_hex(digits, width)?;
        Ok(WireValue(Zeroizing::new(bits.iter().map(|bit| u8::from(*bit)).collect())))
    }

    /// The value of these wires, one to a byte, of which the lowest bit counts.
    #[must_use]
    pub fn from_bits(bits: &[u8]) -> WireValue {
        WireValue(Zeroizing::new(bits.iter().map(|bit| bit & 1).collect()))
    }

    /// Its wires, one to a byte, wire 0 first.
    #[must_use]
    pub fn bits(&self) -> &[u8] {
        &self.0
    }

    /// The bytes of the value; the first byte is padded with zeros at its high end.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
        Zeroizing::new(self.0.chunks(8).rev().map(byte).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and digits name the same wires, and give back what they were made of.
    #[test]
    fn bytes_and_digits_are_one_order() {
        for bytes in [&[][..], &[0x01], &[0x80, 0x01], &[0xde, 0xad, 0xbe, 0xef, 0x00]] {
            let value = WireValue::from_bytes(bytes);
            assert!(value == WireValue::from_hex(&hex::encode(bytes), 8 * bytes.len()).unwrap());
            assert_eq!(value.to_bytes()[..], *bytes);
            assert!(WireValue::from_bits(value.bits()) == value);
        }
        assert_eq!(WireValue::from_hex("1ff", 9).unwrap().to_bytes()[..], [0x01, 0xff]);
        assert!(WireValue::from_hex("1ff", 8).is_err_and(|what| what.contains("3 hexadecimal digits")));
        assert!(WireValue::from_hex("1ff", 9).unwrap() != WireValue::from_hex("0ff", 9).unwrap());
    }
}
