//! Files of tokens, and what each token may do.

use super::*;

fn file(keys: &str, operations: &str) -> String {
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(b"secret"));
    format!("[[token]]\nname = \"a\"\nsha256 = \"{hash}\"\nkeys = {keys}\noperations = {operations}\n")
}

#[test]
fn a_token_is_found_by_its_hash_and_permits_what_its_file_says() {
    let tokens = Tokens::parse(&file("[\"transit/app-*\"]", "[\"encrypt\", \"random\"]")).unwrap();
    assert!(tokens.find(b"secre").is_none() && tokens.find(b"").is_none());
    let token = tokens.find(b"secret").unwrap();
    assert!(!token.is_root());
    assert!(token.permits(Permission::Encrypt, "transit", Some("app-1")));
    assert!(!token.permits(Permission::Encrypt, "transit", Some("other")));
    assert!(!token.permits(Permission::Encrypt, "t2", Some("app-1")));
    assert!(!token.permits(Permission::Decrypt, "transit", Some("app-1")));
    assert!(token.permits(Permission::Random, "transit", None));
    let root = Tokens::parse(&file("[\"*\"]", "[\"*\"]")).unwrap();
    assert!(root.find(b"secret").unwrap().is_root());
    let root = Tokens::parse(&file("[\"transit/a\", \"*\"]", "[\"*\"]")).unwrap();
    assert!(root.find(b"secret").unwrap().is_root(), "at whatever place the pattern for all stands");
    let odd = Tokens::parse(&file("[\"*\"]", "[\"*e\"]"));
    assert!(odd.is_err(), "an operation that only begins as all do");
    for (keys, operations) in
        [("[\"transit/*\"]", "[\"*\"]"), ("[\"*/app\"]", "[\"*\"]"), ("[\"*\"]", "[\"encrypt\"]")]
    {
        let tokens = Tokens::parse(&file(keys, operations)).unwrap();
        assert!(!tokens.find(b"secret").unwrap().is_root(), "{keys} {operations}");
    }
}

/// Names and hashes may begin alike, but none of them occurs twice.
#[test]
fn names_and_hashes_occur_once() {
    let both = |name: &str, hash: &str| {
        let one = |name: &str, hash: &str| {
            format!(
                "[[token]]\nname = \"{name}\"\nsha256 = \"{hash}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n"
            )
        };
        Tokens::parse(&(one("app", &"ab".repeat(32)) + &one(name, hash))).map(|tokens| tokens.count())
    };
    let (same, alike) = ("ab".repeat(32), "ab".repeat(31) + "ac");
    assert_eq!(both("apq", &alike), Ok(2));
    for (name, hash) in [("app", &alike), ("apq", &same)] {
        assert!(both(name, hash).is_err_and(|why| why.contains("there twice")), "{name} {hash}");
    }
    // nor that of a token behind the first one
    let three = ["a", "b", "b"].iter().enumerate();
    let three = three.map(|(at, name)| {
        let hash = format!("e3b0c442{at:056x}");
        format!("[[token]]\nname = \"{name}\"\nsha256 = \"{hash}\"\nkeys = [\"*\"]\noperations = [\"*\"]\n")
    });
    let three: Vec<String> = three.collect();
    // a hash that begins like that of an empty text is one like others
    let two = Tokens::parse(&three[..2].concat()).unwrap();
    assert_eq!(two.count(), 2);
    let [one, other] = [0, 1].map(|at| two.tokens[at].accessor());
    assert_ne!(one, other);
    let digits: std::collections::BTreeSet<&[u8]> = one.as_bytes().chunks(2).collect();
    assert!(digits.len() > 6, "{one}");
    assert!(Tokens::parse(&three.concat()).is_err_and(|why| why.contains("there twice")));
}

/// A token is found by its whole hash, and has its own rights and no other's.
#[test]
fn a_hash_that_differs_in_any_byte_is_another_token() {
    let whole: [u8; 32] = Sha256::digest(b"secret").into();
    let of = |name: &str, sha256| Token { name: name.into(), sha256, ..Token::of_the_socket() };
    for place in 0..whole.len() {
        let mut other = whole;
        other[place] ^= 1;
        let tokens = Tokens { tokens: vec![of("other", other)] };
        assert!(tokens.find(b"secret").is_none(), "byte {place}");
        let tokens = Tokens { tokens: vec![of("other", other), of("a", whole), of("another", [7; 32])] };
        assert_eq!(tokens.find(b"secret").unwrap().name(), "a");
    }
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    std::fs::write(&path, file("[\"*\"]", "[\"*\"]")).unwrap();
    for (mode, fits) in [(0o600, true), (0o400, true), (0o640, false), (0o620, false), (0o604, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        match Tokens::load(&path) {
            Ok(_) => assert!(fits, "{mode:o}"),
            Err(why) => assert!(!fits && why.contains("run `chmod 600"), "{mode:o}: {why}"),
        }
    }
    // neither is one that is longer than any file of the gateway
    for (length, fits) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        std::fs::write(&path, vec![b'a'; length]).unwrap();
        let read = read_text(&path, "it", Readers::All);
        assert_eq!(read.is_ok(), fits, "{length}");
    }
}

#[test]
fn patterns_match_the_entire_path() {
    for (pattern, text, fits) in [
        ("*", "a/b", true),
        ("a/b", "a/b", true),
        ("a/b", "a/bc", false),
        ("a/*", "a/", true),
        ("a/*-k", "a/x-k-k", true),
        ("a/*x*y", "a/xyxy", true),
        ("a/*x*y", "a/yx", false),
        ("a*a", "a", false),
        ("", "a", false),
        // names of keys and mounts differ by case
        ("a/b", "a/B", false),
        ("a/B", "a/b", false),
        ("A/*", "a/b", false),
        ("a/*-B", "a/x-b", false),
    ] {
        assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
    }
}

/// However many pieces a pattern has, each of them stands in the path, in their order, and no two overlap.
#[test]
fn pieces_of_a_pattern_stand_in_their_order_and_apart() {
    let letters = "abcdefghijklmnopqrstu";
    for count in 1..letters.len() {
        // each ends with what the next one begins with
        let pieces: Vec<&str> = (0..count).map(|at| &letters[at..at + 2]).collect();
        let fits = |path: &[&str]| {
            [("*", "", ""), ("t/*-", "t/x", "y-"), ("*-z", "", "-x-z")].map(|(around, before, after)| {
                let (first, last) = around.split_once('*').unwrap();
                let pattern = format!("{first}*{}*{last}", pieces.join("*"));
                ["", "-"].map(|between| matches(&pattern, &format!("{before}{}{after}", path.join(between))))
            })
        };
        assert_eq!(fits(&pieces), [[true; 2]; 3], "{pieces:?}");
        for at in 0..count {
            let mut lacks = pieces.clone();
            lacks.remove(at);
            assert_eq!(fits(&lacks), [[false; 2]; 3], "{lacks:?}");
            if at + 1 < count {
                let mut swapped = pieces.clone();
                swapped.swap(at, at + 1);
                assert_eq!(fits(&swapped), [[false; 2]; 3], "{swapped:?}");
                let mut overlap = pieces.clone();
                overlap.splice(at..at + 2, [&letters[at..at + 3]]);
                assert_eq!(fits(&overlap), [[false; 2]; 3], "{overlap:?}");
            }
        }
    }
}

#[test]
fn errors_name_the_line() {
    let wrong = |text: &str, what: &str| {
        let error = Tokens::parse(text).unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    wrong("", "line 1");
    wrong(&file("[\"*\"]", "[\"sing\"]"), "line 2: token a has the operation \"sing\"");
    let choose = "line 2: token a has an operation that is no text: choose encrypt, decrypt,";
    wrong(&file("[\"*\"]", "[1]"), choose);
    wrong(&file("[\"*\"]", "\"encrypt\""), "line 2: token a has operations that are no list: choose");
    wrong(&file("[\"*\"]", "[\"*\"]\ncolour = 1"), "line 6");
    wrong(&format!("{0}{0}", file("[\"*\"]", "[\"*\"]")), "line 7: token a is there twice");
    for name in ["", "a b", "a/b", "a!", "é", &"a".repeat(65)] {
        let text = file("[\"*\"]", "[\"*\"]").replace("\"a\"", &format!("\"{name}\""));
        wrong(&text, "line 2: a token's name is 1 to 64 letters");
    }
    wrong("[[token]]\nname = \"a\"\nsha256 = \"ab\"\nkeys = []\noperations = []\n", "line 3");
}

#[test]
fn no_token_is_no_token_of_the_file() {
    let hash = |text: &[u8]| data_encoding::HEXLOWER.encode(&Sha256::digest(text));
    let text = file("[\"*\"]", "[\"*\"]").replace(&hash(b"secret"), &hash(b""));
    let error = Tokens::parse(&text).unwrap_err();
    assert!(error.starts_with("line 3: sha256 is that of an empty text"), "{error}");
    let token = Token { sha256: Sha256::digest(b"").into(), ..Token::of_the_socket() };
    assert!(Tokens { tokens: vec![token] }.find(b"").is_none());
}

#[test]
fn the_sentence_names_every_operation() {
    for word in CHOICES.replace(" or ", ", ").split(", ") {
        let all = operations(&toml::Value::Array(vec![word.into()])).unwrap().unwrap();
        assert_eq!(format!("{all:?}").to_lowercase(), format!("[{word}]"));
    }
    // the last one of the enum
    assert_eq!(
        CHOICES.split([',', ' ']).filter(|word| word.len() > 2).count(),
        Permission::Manage as usize + 1
    );
}

#[test]
fn a_file_that_is_a_pipe_does_not_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
    let (told, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(Tokens::load(&path)));
    let loaded = hears.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
    assert!(loaded.unwrap_err().contains("it is no file"));
}
