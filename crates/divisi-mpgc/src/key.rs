//! Shares of the two keys of each wire: Figure 11, step 1.

use crate::parameters::{DIMENSION, SHARE_BYTES};
use divisi_bgv::Sampler;
use divisi_core::wipe::WipedVec;

const N: usize = DIMENSION;

/// One party's shares k^i_{w,0}, k^i_{w,1} of the keys of some wires. They are uniformly ternary, except for
/// coefficient 0, the colour, by which the evaluator selects rows: there all parties' shares add up to 0 for
/// k_{w,0} and to 1 for k_{w,1}.
///
/// The paper allows shares uniform modulo p. With such keys rows cannot be decrypted: the evaluator would
/// know the sum of the shares only modulo p, and the row is encrypted under their sum as integers (test
/// `uniform_shares_do_not_decrypt`).
pub struct WireKeys(WipedVec<i8>);

impl WireKeys {
    /// Fresh shares for `wires` wires. The first party's shares of k_{w,1} have the colour 1.
    #[must_use]
    pub fn new(sampler: &mut Sampler, wires: usize, first: bool) -> WireKeys {
        let mut all = WipedVec::zeros(2 * wires * N);
        for (i, share) in all.chunks_exact_mut(N).enumerate() {
            let ternary = sampler.ternary(N);
            share.iter_mut().zip(ternary.iter()).for_each(|(share, c)| *share = *c as i8);
            if let Some(colour) = share.first_mut() {
                *colour = i8::from(first && i % 2 == 1);
            }
        }
        WireKeys(all)
    }

    /// k^i_{w,b}, of an existing wire and for a public b.
    #[must_use]
    pub fn share(&self, wire: usize, b: usize) -> &[i8] {
        let at = (2 * wire + b) * N;
        &self.0[at..at + N]
    }

    /// A copy of the shares of the first `wires` wires, which are needed later.
    #[must_use]
    pub(crate) fn first(&self, wires: usize) -> WireKeys {
        WireKeys(WipedVec::from(&self.0[..2 * wires * N]))
    }
}

/// Appends a share, with two bits for each coefficient.
pub(crate) fn pack(share: &[i8], out: &mut Vec<u8>) {
    for four in share.as_chunks::<4>().0 {
        out.push(four.iter().rev().fold(0, |byte, c| byte << 2 | (c + 1) as u8));
    }
}

/// Adds a share of a key, encoded by [`pack`], to `key`. Returns false if it is not a valid share of a party
/// other than the first.
#[must_use]
pub(crate) fn add_packed(body: &[u8], key: &mut [i16]) -> bool {
    let mut right = body.len() == SHARE_BYTES && key.len() == N;
    for (byte, four) in body.iter().zip(key.as_chunks_mut::<4>().0) {
        for (i, sum) in four.iter_mut().enumerate() {
            let digit = byte >> (2 * i) & 3;
            right &= digit < 3;
            *sum += i16::from(digit) - 1;
        }
    }
    // only the first party's shares may have the colour 1
    right && body.first().is_some_and(|byte| byte & 3 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::draws::KnownDraws;
    use divisi_core::{PublicParameters, local};

    /// A share is what is drawn for it, but for its colour, whichever wire it belongs to: nothing is made of
    /// another share.
    #[test]
    fn shares_are_what_is_drawn_for_them() {
        const WIRES: usize = 300;
        let known = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
        let parameters = PublicParameters::new("drawn").drawing(known);
        let keys = local::run(2, &parameters, |session| {
            let keys = WireKeys::new(&mut Sampler::new(&session), WIRES, false);
            let shares = (0..2 * WIRES).map(|i| keys.share(i / 2, i % 2)[1..].to_vec());
            Ok(shares.collect::<Vec<Vec<i8>>>())
        });
        let drawn = local::run(2, &parameters, |session| {
            let mut sampler = Sampler::new(&session);
            let mut share = || sampler.ternary(N)[1..].iter().map(|c| *c as i8).collect();
            Ok((0..2 * WIRES).map(|_| share()).collect::<Vec<Vec<i8>>>())
        });
        assert!(keys.unwrap() == drawn.unwrap());
    }

    /// Each quarter of each share takes all three values, of every wire, and no two shares are alike.
    #[test]
    fn shares_are_ternary_from_end_to_end() {
        let of = |session| Ok(WireKeys::new(&mut Sampler::new(&session), 40, false));
        let ends = local::run(2, &PublicParameters::new("keys"), of).unwrap();
        let keys = &ends[0];
        let shares: Vec<&[i8]> = (0..40).flat_map(|wire| [0, 1].map(|b| keys.share(wire, b))).collect();
        for (i, share) in shares.iter().enumerate() {
            for quarter in share.chunks(N / 4) {
                // a third of 256 is expected, and the deviation is 7.5
                let often = |value: i8| quarter.iter().filter(|c| **c == value).count();
                assert!([-1, 0, 1].into_iter().all(|value| (35..=136).contains(&often(value))), "{i}");
            }
            assert!(!shares[..i].contains(share), "{i}");
        }
        for at in 1..N {
            assert!(shares.iter().any(|share| share[at] != shares[0][at]), "{at}");
        }
    }

    #[test]
    fn shares_come_back_and_nothing_else_is_one() {
        let share: Vec<i8> = (0..N).map(|i| (i * i % 3) as i8 - 1).map(|c| c.clamp(-1, 1)).collect();
        let mut share = share;
        share[0] = 0;
        let mut body = Vec::new();
        pack(&share, &mut body);
        assert_eq!(body.len(), SHARE_BYTES);
        let mut key = vec![2; N];
        assert!(add_packed(&body, &mut key));
        assert!(key.iter().zip(&share).all(|(key, c)| *key == 2 + i16::from(*c)));
        assert!(!add_packed(&body[..SHARE_BYTES - 1], &mut key));
        for more in [1, 256] {
            assert!(!add_packed(&[&body[..], &body[..more]].concat(), &mut key));
        }
        for len in [N - 4, N + 256] {
            assert!(!add_packed(&body, &mut vec![2; len]), "{len}");
        }
        for (at, byte) in [(0, 0b10), (7, 0b11)] {
            let mut wrong = body.clone();
            wrong[at] = byte;
            assert!(!add_packed(&wrong, &mut key), "{at}");
        }
    }
}
