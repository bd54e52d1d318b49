//! Guesses the format of a file that is no circuit in a known format, by its beginning, for the error
//! message.

/// The formats that can be read.
pub(super) const KNOWN: &str = "Bristol Fashion and the format before it are read";

/// The beginnings of files in other formats, in any case, and the formats' names.
const FORMS: [(&[u8], &str); 31] = [
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
    (b".i ", "a table of PLA"),
    (b"circuit ", "FIRRTL"),
    (b"(set-", "SMT-LIB"),
    (b"(declare", "SMT-LIB"),
    (b"openqasm", "OpenQASM"),
    // no more of it, because the rest, from `//` on, is a comment for the parser
    (b"version https:", "a pointer of Git LFS: fetch the file that it stands for"),
    (b"{", "JSON"),
    (b"[", "JSON"),
    (b"<", "XML or a page of the web"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xfd7zXZ", "a file compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed by zstd"),
    (b"BZh", "a file compressed by bzip2"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"%PDF", "PDF"),
    (b"\xff\xfe", "text in UTF-16: write it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16: write it as UTF-8"),
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
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let has = |byte: u8| line.contains(&byte);
    match &words[..] {
        [first, second, ..] if is_number(first) && [&b"input"[..], b"gate", b"output"].contains(second) => {
            Some("a circuit of Fairplay (SHDL)")
        }
        [numbers @ .., name] if numbers.len() > 3 && numbers.iter().all(is_number) && is_name(name) => {
            Some("a gate without a header above it")
        }
        [name, numbers @ ..] if numbers.len() > 1 && is_name(name) && numbers.iter().all(is_number) => {
            Some("a list of gates whose names come first")
        }
        [_, second, _, ..] if *second == b"sort" => Some("BTOR2"),
        _ if std::str::from_utf8(line).is_err() || line.iter().any(is_control) => Some("binary data"),
        _ if has(b'=') && has(b'(') => Some("an ISCAS bench file"),
        // a first word with digits is taken for a wrong number of a header
        [first, ..] if !first.iter().any(u8::is_ascii_digit) => Some("text that describes no circuit"),
        _ => None,
    }
}
