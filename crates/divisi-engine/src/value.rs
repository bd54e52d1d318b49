//! Input and output values of circuits: the one place that defines the order of their bits.

use zeroize::Zeroizing;

/// A value of a circuit, as the bits of its wires, wire 0 first. It is wiped when it is dropped.
///
/// **The order of bits.** A value is written as the standard prints it, first byte first. Its *last* byte
/// holds wires 0 to 7, and the lowest bit of that byte is wire 0; the highest bit of the first byte is the
/// last wire. The files that others publish in Bristol Fashion have this order, and so have those of
/// `divisi circuit emit`. (Most files in the older Bristol format have the reverse order:
/// `--first-bit-first`.)
///
/// ```
/// use divisi_engine::WireValue;
///
/// let value = WireValue::from_bytes(&[0x80, 0x01]);
/// assert_eq!(value.bits().len(), 16);
/// assert_eq!((value.bits()[0], value.bits()[7], value.bits()[15]), (1, 0, 1));
/// assert_eq!(WireValue::from_bits(value.bits()).to_bytes()[..], [0x80, 0x01]);
/// assert_eq!(WireValue::from_hex("5", 3).unwrap().bits(), [1, 0, 1]);
/// assert_eq!(WireValue::from_bits(&[1, 0, 1]).to_hex(), "5");
/// ```
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

    /// The value of these hexadecimal digits, `width` bits wide; `0x` may stand before them.
    ///
    /// # Errors
    /// If the number of digits does not fit the width, a character is not a hexadecimal digit, or the number
    /// has more than `width` bits; in words that follow the name of the value.
    pub fn from_hex(digits: &str, width: usize) -> Result<WireValue, String> {
        let want = width.div_ceil(4);
        let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("has a character that is not a hexadecimal digit".into());
        }
        if digits.len() != want {
            return Err(format!("has {} hexadecimal digits where {width} bits need {want}", digits.len()));
        }
        let mut bits = Zeroizing::new(Vec::with_capacity(4 * want));
        for value in digits.bytes().rev().filter_map(|digit| (digit as char).to_digit(16)) {
            bits.extend((0..4).map(|i| (value >> i & 1) as u8));
        }
        if bits.iter().skip(width).any(|bit| *bit == 1) {
            return Err(format!("is larger than {width} bits"));
        }
        bits.truncate(width);
        Ok(WireValue(bits))
    }

    /// The value of these wires, wire 0 first, one to a byte; only the lowest bit of a byte counts.
    #[must_use]
    pub fn from_bits(bits: &[u8]) -> WireValue {
        WireValue(Zeroizing::new(bits.iter().map(|bit| bit & 1).collect()))
    }

    /// Its wires, one to a byte, wire 0 first.
    #[must_use]
    pub fn bits(&self) -> &[u8] {
        &self.0
    }

    /// Cut consecutive wires into values of these widths.
    #[must_use]
    pub fn cut(wires: &[u8], widths: &[usize]) -> Vec<WireValue> {
        let mut rest = wires;
        let mut value = |width: &usize| {
            let (value, after) = rest.split_at((*width).min(rest.len()));
            rest = after;
            WireValue::from_bits(value)
        };
        widths.iter().map(&mut value).collect()
    }

    /// The value with its wires in the order of a file, or the conversion back: the wires are reversed if
    /// wire 0 of the file is the first bit of a value and not the last, as in most files in the older Bristol
    /// format.
    #[must_use]
    pub fn ordered(mut self, first_bit_first: bool) -> WireValue {
        if first_bit_first {
            self.0.reverse();
        }
        self
    }

    /// The hexadecimal digits of the value.
    #[must_use]
    pub fn to_hex(&self) -> String {
        let digit = |bits: &[u8]| bits.iter().rev().fold(0, |digit, bit| digit << 1 | u32::from(*bit));
        self.0.chunks(4).rev().filter_map(|bits| char::from_digit(digit(bits), 16)).collect()
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

    /// Bytes and digits stand for the same wires, and a value gives back the bytes or digits that it was made
    /// of.
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

    #[test]
    fn digits_are_those_of_the_number() {
        let bits = |digits: &str, width| WireValue::from_hex(digits, width).unwrap().bits().to_vec();
        assert_eq!(bits("1a", 8), [0, 1, 0, 1, 1, 0, 0, 0]);
        assert_eq!(bits("5", 3), [1, 0, 1]);
        assert_eq!((bits("0x1a", 8), bits("0X5", 3)), (bits("1a", 8), bits("5", 3)));
        assert!(bits("", 0).is_empty());
        for (digits, width, what) in [
            ("1", 8, "1 hexadecimal digits"),
            ("1g", 8, "not a hexadecimal digit"),
            ("8", 3, "larger"),
            ("é", 8, "not a hexadecimal digit"),
            ("0 1", 8, "not a hexadecimal digit"),
            ("00x1", 16, "not a hexadecimal digit"),
            ("0x", 8, "0 hexadecimal digits"),
            ("0x0x", 8, "not a hexadecimal digit"),
        ] {
            assert!(WireValue::from_hex(digits, width).is_err_and(|error| error.contains(what)), "{digits}");
        }
        for (digits, width) in [("00ff1", 20), ("1", 1), ("", 0), ("3", 2), ("1ffffffff", 33)] {
            let value = WireValue::from_hex(digits, width).unwrap();
            assert_eq!(value.to_hex(), digits);
            assert!(value.clone().ordered(true).ordered(true) == value);
            assert!(value.clone().ordered(false) == value);
        }
    }

    #[test]
    fn wires_are_cut_into_values() {
        let values = WireValue::cut(&[1, 0, 1, 1, 0], &[3, 0, 2]);
        assert_eq!(values.iter().map(WireValue::to_hex).collect::<Vec<_>>(), ["5", "", "1"]);
        assert_eq!(values[2].clone().ordered(true).to_hex(), "2");
    }

    /// Digits of a circuit's value: digits that are accepted are written in the same way again.
    #[test]
    fn random_digits() {
        let seeds = ["5", "1ff", "00ff1", "DEADbeef", ""].map(|digits| digits.as_bytes().to_vec());
        divisi_fuzz::run("digits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
            let mut taken = false;
            for width in [0, 1, 3, 4, 9, 20, 32, 33] {
                let Ok(value) = WireValue::from_hex(text, width) else { continue };
                taken = true;
                if value.bits().len() != width || !value.to_hex().eq_ignore_ascii_case(text) {
                    return Err(format!("another value of {width} bits"));
                }
            }
            Ok(taken)
        });
    }
}
