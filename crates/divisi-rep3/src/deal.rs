//! The dealer's side: a data owner splits its data for the three parties, and reconstructs their answers.
//!
//! Adversary: one malicious server. The parts of any one server are independent of the data: components 1 and
//! 2 are fresh randomness of the dealer, component 3 completes them. Each answered component comes from one
//! of its holders, with a digest from the other ([`crate::open::Answer`]); if they differ, one of the two
//! lies and the dealer takes neither.

use crate::open::{Answer, component_digest};
use divisi_core::PartyId;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

/// One server's part: two components.
#[derive(Clone)]
pub struct Part {
    /// Component i at server i.
    pub first: Vec<u8>,
    /// Component i+1.
    pub second: Vec<u8>,
}

/// The empty part, of an input without secret data.
pub static NOTHING: Part = Part { first: Vec::new(), second: Vec::new() };

impl Drop for Part {
    fn drop(&mut self) {
        self.first.zeroize();
        self.second.zeroize();
    }
}

/// Split bytes into the parts of the three parties, in their order. `entropy` fills a buffer with randomness
/// of the operating system.
pub fn split(data: &[u8], entropy: impl Fn(&mut [u8])) -> [Part; 3] {
    let mut x1 = Zeroizing::new(vec![0; data.len()]);
    let mut x2 = Zeroizing::new(vec![0; data.len()]);
    entropy(&mut x1);
    entropy(&mut x2);
    let x3: Zeroizing<Vec<u8>> =
        Zeroizing::new(data.iter().zip(x1.iter().zip(x2.iter())).map(|(x, (a, b))| x ^ a ^ b).collect());
    let part = |first: &[u8], second: &[u8]| Part { first: first.to_vec(), second: second.to_vec() };
    [part(&x1, &x2), part(&x2, &x3), part(&x3, &x1)]
}

/// Two parties answered differently about a component that both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagree {
    /// The party that sent the component.
    pub holder: PartyId,
    /// The party that sent its digest.
    pub witness: PartyId,
}

/// Reconstruct the bytes from the parties' answers, in the parties' order.
///
/// # Errors
/// If two parties answered differently about a component: these two parties.
pub fn combine(context: &[u8], answers: &[Answer; 3]) -> Result<Zeroizing<Vec<u8>>, Disagree> {
    let mut sum = Zeroizing::new(vec![0; answers[0].component.len()]);
    for holder in PartyId::all(3) {
        let witness = holder.prev(3);
        let answer = &answers[holder.index()];
        let digest = component_digest(context, &answer.component);
        let same = digest.ct_eq(&answers[witness.index()].digest);
        if answer.component.len() != sum.len() || !bool::from(same) {
            return Err(Disagree { holder, witness });
        }
        for (s, x) in sum.iter_mut().zip(&answer.component) {
            *s ^= x;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(data: &[u8]) -> [Answer; 3] {
        let parts = split(data, |out| out.iter_mut().enumerate().for_each(|(i, x)| *x = (i * 37 + 11) as u8));
        parts.map(|p| Answer { component: p.first.clone(), digest: component_digest(b"c", &p.second) })
    }

    #[test]
    fn what_was_split_comes_together_and_a_lie_does_not() {
        let data: Vec<u8> = (0..100).collect();
        let good = answers(&data);
        assert_eq!(combine(b"c", &good).unwrap().as_slice(), data);
        assert!(combine(b"other", &good).is_err());
        for liar in 0..3 {
            let mut bad = good.clone();
            bad[liar].component[7] ^= 1;
            assert_eq!(combine(b"c", &bad).unwrap_err().holder.index(), liar);
            let mut bad = good.clone();
            bad[liar].digest[0] ^= 1;
            assert_eq!(combine(b"c", &bad).unwrap_err().witness.index(), liar);
            let mut bad = good.clone();
            bad[liar].component.pop();
            assert!(combine(b"c", &bad).is_err());
        }
    }

    /// The components of a long text are fresh to their ends: if a piece of one returned, its two holders
    /// would learn how two pieces of the text differ.
    #[test]
    fn components_of_a_long_text_are_fresh() {
        let calls = std::cell::Cell::new(0_u8);
        let parts = split(&[0; (1 << 17) + 1000], |out| {
            calls.set(calls.get() + 1);
            for (number, out) in (0_u64..).zip(out.chunks_mut(32)) {
                let block = blake3::hash(&[&[calls.get()][..], &number.to_le_bytes()].concat());
                out.copy_from_slice(&block.as_bytes()[..out.len()]);
            }
        });
        let mut seen = std::collections::BTreeSet::new();
        for (part, next) in parts.iter().zip(parts.iter().cycle().skip(1)) {
            assert!(part.second == next.first);
            for (at, eight) in part.first.windows(8).enumerate() {
                assert!(seen.insert(eight), "eight bytes that were there before, at {at}");
            }
        }
    }

    /// Of a long answer each byte is compared.
    #[test]
    fn a_lie_at_any_place_of_a_long_answer_is_found() {
        let mut answers = answers(&[7; (1 << 18) + 1]);
        for at in (0..=18).map(|i| 1 << i).chain([0, 65_535, 131_071]) {
            answers[1].component[at] ^= 1;
            assert_eq!(combine(b"c", &answers).unwrap_err().holder.index(), 1, "byte {at}");
            answers[1].component[at] ^= 1;
        }
        assert!(combine(b"c", &answers).is_ok());
    }
}
