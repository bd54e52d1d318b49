//! Why a coin is tossed, and not hashed from the transcript (1.31): a party that can try alone finds a
//! transcript whose hash lets its lie pass.
//!
//! The tests use a small model of the check of `vole`: bits are elements of GF(2^8), the coin has 8 bits, and
//! for this coin an error in one tile must be cancelled by an error in the sacrificed tile. With a tossed
//! coin each try is a session, and passes with probability 2^-8. With a hashed one all tries are made before
//! anything is sent.

use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::{Coins, PublicParameters, Step, step};
use divisi_field::Gf8;
use std::collections::HashSet;

/// A maker's corrections towards one party, in the clear: the right ones, and the errors that it adds to
/// them.
struct Lie {
    corrections: [u8; 4],
    error: [u8; 2],
}

impl Lie {
    /// Lie number `i`: an error in the first tile, and one in the sacrificed tile that cancels it for one
    /// coin.
    fn number(i: u32) -> Lie {
        let hidden = blake3::hash(&i.to_le_bytes());
        let bytes = hidden.as_bytes();
        Lie { corrections: [bytes[0], bytes[1], bytes[2], bytes[3]], error: [bytes[4] | 1, bytes[5]] }
    }

    /// What everybody sees.
    fn transcript(&self) -> [u8; 4] {
        let [a, b, c, d] = self.corrections;
        [a ^ self.error[0], b, c, d ^ self.error[1]]
    }

    /// Whether a check with this coin z does not detect the lie: t_1 z + t_2 of the errors is zero.
    fn passes(&self, coin: u8) -> bool {
        (Gf8(self.error[0]) * Gf8(coin)).0 ^ self.error[1] == 0
    }
}

/// A coin that is hashed from the transcript, which would save a round.
fn hashed(transcript: &[u8]) -> u8 {
    blake3::hash(transcript).as_bytes()[0]
}

#[test]
fn a_hashed_coin_is_ground_out() {
    // offline, before anything is sent, each of a hundred liars finds a lie that passes, with some 256 tries
    let mut tries = Vec::new();
    for liar in 0..100_u32 {
        let found = (0..4096).position(|i| {
            let lie = Lie::number(liar << 12 | i);
            lie.passes(hashed(&lie.transcript()))
        });
        tries.push(found.expect("a lie that passes") + 1);
    }
    let mean = tries.iter().sum::<usize>() as f64 / 100.0;
    assert!((180.0..350.0).contains(&mean), "{mean}");
}

const TOSS: Step = step!("toss");

/// A liar that expects the coin to be a hash of its own messages is right as often as one that guesses.
#[test]
fn a_tossed_coin_is_nobodys_function() {
    let mut coins = HashSet::new();
    let mut passed = 0;
    for i in 0..64_u32 {
        // the liar searches for a lie that passes with the coin to which its own messages hash
        let harness = Harness::new(2, &PublicParameters::new("hashed coins"));
        let recording = harness.recording(party(1));
        let ends = harness.act(|mut session| {
            let mut coins = Coins::commit(&mut session)?;
            coins.toss(&mut session, TOSS)
        });
        let coin = *ends[0].as_ref().unwrap();
        assert_eq!(Ok(coin), ends[1]);
        let own: Vec<u8> = recording.bodies(MessageDirection::Out, party(2), TOSS.name).concat();
        let view = hashed(&own);
        let lie = (0..).map(|j| Lie::number(i << 16 | j)).find(|lie| lie.passes(view)).unwrap();
        passed += u32::from(lie.passes(coin[0]));
        assert!(coins.insert(coin));
    }
    // each passes with probability 1/256: nine of 64 do so once in 200,000,000,000 runs
    assert!(passed < 9, "{passed}");
}
