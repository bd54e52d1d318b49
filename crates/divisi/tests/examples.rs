//! The examples, run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../examples/encrypt_in_one_process.rs"]
mod encrypt_in_one_process;
#[path = "../examples/own_protocol.rs"]
mod own_protocol;

#[test]
fn three_servers_in_one_process_encrypt_and_decrypt() {
    let dir = tempfile::tempdir().unwrap();
    let text: Vec<u8> = (0..100_000u32).map(|i| (i * 7) as u8).collect();
    let (sealed, opened) = encrypt_in_one_process::there_and_back(&text, dir.path()).unwrap();
    assert_eq!(opened, text);
    assert_eq!(sealed.len(), 12 + text.len() + 16);
    assert!(sealed.windows(64).all(|window| !text.windows(64).step_by(1009).any(|piece| piece == window)));
}

#[test]
fn a_protocol_of_ones_own_gives_what_an_ordinary_aes_gives() {
    for seed in [0u8, 1, 0xff] {
        let keys = [[seed; 16], [seed.wrapping_add(3); 16]];
        let x = std::array::from_fn(|i| seed ^ i as u8);
        assert_eq!(own_protocol::compute(keys, x).unwrap(), own_protocol::expected(keys, x));
    }
}
