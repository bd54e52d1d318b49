//! Every draw of randomness of a set-up and its batches: how many there are, how long each is, and that each
//! of its bytes has an effect.

mod common;

use common::{Byte, all_count, all_sent, bytes_of, draw_as, known};
use divisi_core::PublicParameters;
use divisi_ot::{Base, Setup, SetupConfig};

/// What a run shows: all that its parties sent, in order, and what they end with.
type Shown = Vec<(Vec<Vec<u8>>, u128, Vec<u64>)>;

fn run(n: usize, config: SetupConfig, batches: usize, other: Option<Byte>) -> (Shown, Vec<Vec<usize>>) {
    let parameters = PublicParameters::new("draws of a set-up");
    known(n, &parameters, other, |harness| {
        let recordings = harness.recordings();
        let ends = harness.act_each(
            |party| {
                draw_as(party);
                parameters.clone()
            },
            |mut session| {
                let mut setup = Setup::new(&mut session, config)?;
                let mut bits = Vec::new();
                for _ in 0..batches {
                    bits.extend_from_slice(setup.authenticated_bits(&mut session, 100)?.bits());
                }
                Ok((setup.delta().get(), bits))
            },
        );
        let ends = ends.into_iter().map(Result::unwrap);
        recordings.iter().map(all_sent).zip(ends).map(|(sent, (delta, bits))| (sent, delta, bits)).collect()
    })
}

/// Each draw at its length, in order: Delta; coins; of every pair a sender's scalar, a receiver's seed; bits
/// of first rows towards whom trees were made from public keys; roots of trees; bits of each batch; with the
/// proof a nonce for each of 81 commitments.
#[test]
fn draws_are_as_many_and_as_long_as_they_must_be() {
    let roots = 16 * 32;
    let config = |base| SetupConfig { k: 4, rho: 40, base };
    let (_, draws) = run(2, config(Base::Half), 2, None);
    assert!(draws[0].ends_with(&[16, 32, 64, 16, roots, 16, 16]), "{:?}", draws[0]);
    assert!(draws[1].ends_with(&[16, 32, 32, roots, 16, 16]), "{:?}", draws[1]);
    let (_, draws) = run(3, config(Base::Both), 2, None);
    for draws in draws {
        let mut all = vec![16, 32, 64, 32, 64, 32, roots, roots, 16];
        all.extend([32; 81]);
        all.push(16);
        assert!(draws.ends_with(&all), "{draws:?}");
    }
}

/// A change of one byte in eight of every draw that is used changes what is sent or what comes out.
#[test]
fn every_byte_that_is_drawn_counts() {
    let config = SetupConfig { k: 4, rho: 40, base: Base::Half };
    let (as_it_is, draws) = run(2, config, 1, None);
    let mut bytes = Vec::new();
    for (party, draws) in draws.iter().enumerate() {
        // Delta, coins, base OTs, of the first party bits of first rows, roots, one batch
        let own = if party == 0 { 6 } else { 5 };
        bytes.extend(bytes_of(draws, party, draws.len() - own));
    }
    assert!(bytes.len() > 150);
    all_count(&as_it_is, &bytes, |other| run(2, config, 1, other).0);
}
