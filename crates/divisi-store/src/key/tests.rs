//! Tests of stored keys' names.

use super::*;

#[test]
fn names_are_names_of_files_and_nothing_else() {
    for good in ["a", "backup-2026", "k.1_x", &"x".repeat(64)] {
        assert_eq!(good.parse::<KeyName>().unwrap().as_str(), good);
    }
    for bad in ["", ".", "..", ".hidden", "a/b", "../a", "A", "a b", "a\0", "ä", &"x".repeat(65)] {
        assert!(bad.parse::<KeyName>().unwrap_err().contains("is not a key name"), "{bad:?}");
    }
}

#[test]
fn types_come_back_from_their_names() {
    for t in KeyType::ALL {
        assert_eq!(t.name().parse::<KeyType>().unwrap(), *t);
        assert_eq!(t.purpose() != Purpose::Mac, t.name().starts_with("aes"));
    }
    assert!("aes-64".parse::<KeyType>().unwrap_err().contains("aes-128, aes-192, aes-256"));
}
