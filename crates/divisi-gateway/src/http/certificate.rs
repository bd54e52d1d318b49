//! The dates between which a certificate is valid: the one part of it that the gateway looks at itself, to
//! say so before clients do.

/// Seconds since 1970, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub start: u64,
    pub end: u64,
}

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The tag, content and rest of what stands first.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let count = usize::from(*first & 0x7f);
        if !(1..=4).contains(&count) {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(count)?;
        (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

fn sequence(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == SEQUENCE).then_some((content, rest))
}

/// The dates of a certificate (RFC 5280, 4.1): they follow the version, if there is one, the serial number,
/// the algorithm and the issuer.
pub(super) fn validity(der: &[u8]) -> Option<Validity> {
    let (certificate, _) = sequence(der)?;
    let (mut rest, _) = sequence(certificate)?;
    let (first, _, after) = element(rest)?;
    if first == 0xa0 {
        rest = after;
    }
    for _ in 0..3 {
        (_, _, rest) = element(rest)?;
    }
    let (dates, _) = sequence(rest)?;
    let (tag, start, rest) = element(dates)?;
    let start = time(tag, start)?;
    let (tag, end, _) = element(rest)?;
    Some(Validity { start, end: time(tag, end)? })
}

fn time(tag: u8, text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: u64 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let mut parts = [0_u64; 5];
    let mut rest = rest;
    for part in &mut parts {
        let (digits, after) = rest.split_at_checked(2)?;
        *part = digits.parse().ok()?;
        rest = after;
    }
    let [month, day, hour, minute, second] = parts;
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) || !rest.is_empty() {
        return None;
    }
    // days of years that begin in March
    let (shifted, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, u8::try_from(content.len()).unwrap()][..], content].concat()
    }

    #[test]
    fn dates_are_found_behind_the_version() {
        let dates = [wrap(UTC_TIME, b"700101000000Z"), wrap(GENERALIZED_TIME, b"20261121022945Z")].concat();
        let name = wrap(SEQUENCE, b"");
        for version in [Vec::new(), wrap(0xa0, &wrap(2, &[2]))] {
            let body = [version, wrap(2, &[1]), name.clone(), name.clone(), wrap(SEQUENCE, &dates)].concat();
            let der = wrap(SEQUENCE, &wrap(SEQUENCE, &body));
            assert_eq!(validity(&der), Some(Validity { start: 0, end: 1_795_228_185 }));
            for cut in 0..der.len() {
                assert_eq!(validity(der.get(..cut).unwrap()), None);
            }
            // a set is no sequence
            assert_eq!(validity(&wrap(SEQUENCE + 1, &wrap(SEQUENCE, &body))), None);
            assert_eq!(validity(&wrap(SEQUENCE, &wrap(SEQUENCE + 1, &body))), None);
        }
        // lengths of one to four bytes have so many digits
        for (length, fine) in [
            (&[0x81, 1][..], true),
            (&[0x82, 0, 1], true),
            (&[0x84, 0, 0, 0, 1], true),
            (&[0x80], false),
            (&[0x85, 0, 0, 0, 0, 1], false),
            (&[0x82, 1], false),
        ] {
            let bytes = [&[2], length, &[7, 8]].concat();
            let found = Some((2, &[7][..], &[8][..]));
            assert_eq!(element(&bytes), found.filter(|_| fine), "{length:?}");
        }
        for wrong in [&b"701301000000Z"[..], b"700001000000Z", b"700132000000Z", b"700100000000Z"] {
            assert_eq!(time(UTC_TIME, wrong), None);
        }
        for wrong in [&b"19691231235959Z"[..], b"2026112102294500Z", b"20261121022945.5Z"] {
            assert_eq!(time(GENERALIZED_TIME, wrong), None);
        }
        // the first and the last day of each month of a year with 365 days and of one with 366
        for (year, february) in [(2023, 28), (2024, 29)] {
            let mut days = if year == 2023 { 19_358 } else { 19_723 };
            for (month, last) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                for day in [1, last] {
                    let text = format!("{year}{month:02}{day:02}000001Z");
                    let expected = Some((days + day - 1) * 86_400 + 1);
                    assert_eq!(time(GENERALIZED_TIME, text.as_bytes()), expected, "{text}");
                }
                days += last;
            }
        }
        assert_eq!(time(GENERALIZED_TIME, b"20000229000000Z"), Some(951_782_400));
    }
}
