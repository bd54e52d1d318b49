//! Inputs and outputs of one party.

use crate::Differ;
use zeroize::Zeroizing;

/// A party's input to the set-up or to a batch, or its outputs, in a form that only the engine knows; wiped
/// when dropped.
pub type Own = Zeroizing<Vec<u8>>;

/// The inputs of each party, if the party with this index, from 0, has these bytes and the others nothing.
#[must_use]
pub fn given_to(index: usize, parties: usize, bytes: &[u8]) -> Vec<Own> {
    let mut owns = vec![Own::default(); parties];
    if let Some(own) = owns.get_mut(index) {
        own.extend_from_slice(bytes);
    }
    owns
}

/// The outputs, which must be the same at all parties.
///
/// # Errors
/// [`Differ`] if they are not the same.
pub fn alike(outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
    let mut outputs = outputs.into_iter();
    let first = outputs.next().unwrap_or_default();
    for output in outputs {
        if output != first {
            return Err(Differ { party: None, what: "the parties gave different outputs" });
        }
    }
    Ok(first.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_alike_at_all_parties() {
        for (length, parties) in [(2, 2), (2, 3), (2, 130), (1 << 20, 3)] {
            // the last byte counts, and the last party
            let own = |byte: u8| Own::new([vec![7; length - 1], vec![byte]].concat());
            assert!(alike(vec![own(1); parties]).is_ok_and(|all| all == *own(1)));
            for other in 0..parties {
                let owns = (0..parties).map(|i| own(u8::from(i == other)));
                assert!(alike(owns.collect()).is_err(), "{other}");
            }
        }
    }

    #[test]
    fn one_party_is_given_all_and_the_others_nothing() {
        let owns = given_to(1, 3, b"all");
        assert_eq!(owns.iter().map(|own| &own[..]).collect::<Vec<_>>(), [&b""[..], b"all", b""]);
    }
}
