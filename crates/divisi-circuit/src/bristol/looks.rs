//! Guesses the format of a file that is no circuit in a known format, by its beginning, for the error
//! message.

/// The formats that can be read.
pub(super) const KNOWN: &str = "Bristol Fashion and the format before it are read";

/// The beginnings of files in other formats, in any case, and the formats' names.
const FORMS: [(&[u8], &str); 19] = [
    (b"aag ", "AIGER in ASCII"),
    (b"aig ", "binary AIGER"),
    (b"module", "Verilog"),
    (b"`timescale", "Verilog"),
    (b"library ", "VHDL"),
    (b"entity ", "VHDL"),
    (b".model", "BLIF"),
    (b".inputs", "BLIF"),
    (b"input(", "an ISCAS bench file"),
    (b"p cnf", "DIMACS CNF"),
    (b"(edif", "EDIF"),
    (b"{", "JSON"),
    (b"[", "JSON"),
    (b"<", "XML or a page of the web"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xfd7zXZ", "a file compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed by zstd"),
    (b"\x7fELF", "a program"),
];

/// The format that a first line seems to have.
pub(super) fn of(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii_start();
    let begins = |begin: &[u8]| line.get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin));
    if let Some((_, form)) = FORMS.into_iter().find(|(begin, _)| begins(begin)) {
        return Some(form);
    }
    let words: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(16).collect();
    let is_number = |word: &&[u8]| word.iter().all(u8::is_ascii_digit);
    let is_name = |word: &&[u8]| word.iter().all(u8::is_ascii_alphabetic);
    match &words[..] {
        [first, second, ..] if is_number(first) && [&b"input"[..], b"gate", b"output"].contains(second) => {
            Some("a circuit of Fairplay (SHDL)")
        }
        [numbers @ .., name] if numbers.len() > 3 && numbers.iter().all(is_number) && is_name(name) => {
            Some("a gate without a header above it")
        }
        _ => None,
    }
}
