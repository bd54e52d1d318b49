//! Circuits that are kept, and made again.

#![allow(clippy::unwrap_used)]
use super::*;
use divisi_symmetric::algorithm::Settings;

/// The circuit that was made last serves the next party that asks for it, and no message that is alike but
/// for one constant or one length.
#[test]
fn a_circuit_is_not_taken_for_the_one_before() {
    // of a hash the constant is not used, and circuits are small
    let using = Settings::new("sha1-for-old-data".parse().unwrap());
    let message = |iv: u8, bytes: usize| PublicMessage {
        bytes,
        spare_bits: 0,
        nonce: vec![1, iv],
        makes: true,
        received: None,
    };
    let messages = vec![message(1, 1), message(2, 1), message(2, 2)];
    let job = AnswersJob::Messages(MessagesJob { using, key_bytes: 0, messages });
    let drawn = Drawn::new(&job, "test").unwrap();
    let mut made: Vec<Arc<HeldCircuit>> = Vec::new();
    for number in 0..3 {
        let circuit = drawn.circuit(number).unwrap();
        assert!(made.iter().all(|other| !Arc::ptr_eq(other, &circuit)), "{number}");
        assert!(Arc::ptr_eq(&circuit, &drawn.circuit(number).unwrap()), "{number}");
        made.push(circuit);
    }
    assert_eq!(drawn.count(), made.len());
}
