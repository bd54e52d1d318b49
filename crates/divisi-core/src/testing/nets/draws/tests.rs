//! Each judge finds the fault that is planted for it, and none where there is none.

use super::{DrawNet, DrawShape};
use crate::{Abort, Coins, DrawPurpose, Expands, Prg, PublicParameters, Session, step};

mod purposes {
    crate::purposes! {
        /// A mask.
        MASK = "mask", One, Bits(128);
        /// The share of a key.
        KEY = "share of a key", One, Bits(128);
        /// The key of a stream.
        SEED = "seed", One, Bits(128);
        /// The stream of a key.
        STREAM = "stream", One, Bits(64);
        /// What two parties share.
        SHARED = "shared", Pair, Bits(64);
        /// What a coin gives.
        OF_COIN = "of a coin", All, Bits(128);
        /// Small numbers.
        SMALL = "small", One, Ternary;
    }
}

use purposes::{KEY, MASK, OF_COIN, SEED, SHARED, SMALL, STREAM};

/// How many elements a party draws in a run.
const LANES: usize = 16;

fn net(play: fn(Session) -> Result<Vec<u8>, Abort>, purposes: &[&'static DrawPurpose]) -> DrawNet {
    let shape =
        DrawShape { name: "a shape", parties: 2, parameters: PublicParameters::new("draws"), runs: 24, play };
    DrawNet { purposes: purposes.to_vec(), shapes: vec![shape], ..DrawNet::default() }
}

fn entropy(session: &Session, purpose: &'static DrawPurpose) -> [u8; 16] {
    let mut out = [0; 16];
    session.entropy(purpose, &mut out);
    out
}

/// Send this to the peers, as a protocol sends what it masks.
fn tell(session: &mut Session, bytes: &[u8]) -> Result<Vec<u8>, Abort> {
    session.peers().into_iter().try_for_each(|peer| session.send(step!("told"), peer, bytes, 0))?;
    let mut all = bytes.to_vec();
    for peer in session.peers() {
        let mut theirs = vec![0; bytes.len()];
        session.recv(step!("told"), peer, &mut theirs)?;
        all.extend(theirs);
    }
    Ok(all)
}

fn sound(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut all = Vec::new();
    for _ in 0..LANES {
        let [mask, key] = [MASK, KEY].map(|purpose| entropy(&session, purpose));
        all.extend(mask.iter().chain(&key).copied().collect::<Vec<u8>>());
    }
    let mut numbers = vec![0; 64 * LANES];
    let mut prg = Prg::of(STREAM, &entropy(&session, SEED));
    prg.words(&mut numbers);
    for peer in session.peers() {
        let mut words = vec![0; LANES];
        session.prg(peer, SHARED).words(&mut words);
        numbers.extend(words);
    }
    let small: Vec<i64> = numbers.iter().map(|x| ((u128::from(*x) * 3) >> 64) as i64 - 1).collect();
    SMALL.drawn(|| small.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    all.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    let mut coins = Coins::commit(&mut session)?;
    all.extend(coins.toss(&mut session, step!("first coin"))?);
    let coin = coins.toss(&mut session, step!("coin"))?;
    for lane in 0..LANES {
        let mut hasher = blake3::Hasher::new();
        let mut out = [0; 16];
        hasher.update(&coin).update(&[lane as u8]).expand(OF_COIN).fill(&mut out);
        all.extend(out);
    }
    tell(&mut session, &all)
}

#[test]
fn a_sound_protocol_has_no_faults() {
    let all = [purposes::ALL, crate::purposes::ALL].concat();
    let mut net = net(sound, &all);
    net.shapes.push(DrawShape { play: commits, name: "commitments", ..net.shapes[0].clone() });
    assert_eq!(net.judge(), [] as [String; 0]);
}

/// What a commitment draws.
fn commits(mut session: Session) -> Result<Vec<u8>, Abort> {
    let (commitment, nonce) = session.commit(step!("commitment"), 0, b"payload");
    let all = [commitment.0, *nonce.as_bytes()].concat();
    tell(&mut session, &all)
}

/// Whether the net of this protocol complains, of each purpose, in these words.
fn is_found(play: fn(Session) -> Result<Vec<u8>, Abort>, of: &[&'static DrawPurpose], words: &str) {
    let faults = net(play, of).judge();
    let named = |fault: &&String| of.iter().any(|of| fault.contains(of.name())) && fault.contains(words);
    assert!(faults.iter().any(|fault| named(&fault)), "{words}: {faults:?}");
}

/// A protocol that draws the mask and the key of each lane by this function.
macro_rules! lanes {
    (|$session:ident, $lane:ident| $draw:expr) => {
        |mut $session| {
            let mut all = Vec::new();
            for $lane in 0..LANES {
                let both: [[u8; 16]; 2] = $draw;
                MASK.drawn(|| both[0]);
                KEY.drawn(|| both[1]);
                all.extend(both.concat());
            }
            let _ = LANES;
            tell(&mut $session, &all)
        }
    };
}

#[test]
fn values_that_are_equal_or_multiples_are_found() {
    let equal = lanes!(|session, _lane| [entropy(&session, MASK); 2]);
    is_found(equal, &[MASK, KEY], "64 bits are those of");
    let kept = lanes!(|session, lane| {
        let mask = if lane == 0 { [7; 16] } else { entropy(&session, MASK) };
        [mask, entropy(&session, KEY)]
    });
    is_found(kept, &[MASK], "64 bits are those of");
    let multiple = lanes!(|session, _lane| {
        let mask = entropy(&session, MASK);
        [mask, u128::from_le_bytes(mask).wrapping_mul(3).to_le_bytes()]
    });
    is_found(multiple, &[MASK, KEY], "times 3 it is");
    let negative = lanes!(|session, _lane| {
        let mask = entropy(&session, MASK);
        [mask, u128::from_le_bytes(mask).wrapping_neg().to_le_bytes()]
    });
    is_found(negative, &[MASK, KEY], "times -1 it is");
}

#[test]
fn elements_that_repeat_themselves_are_found() {
    let halves = lanes!(|session, _lane| {
        let mut mask = entropy(&session, MASK);
        mask.copy_within(..8, 8);
        [mask, entropy(&session, KEY)]
    });
    is_found(halves, &[MASK], "equal halves");
    let shifted = lanes!(|session, _lane| {
        let mask = u128::from_le_bytes(entropy(&session, MASK)) & u128::from(u64::MAX) << 24;
        [(mask | mask >> 24 & 0xff_ffff | mask << 64).to_le_bytes(), entropy(&session, KEY)]
    });
    let faults = net(shifted, &[MASK]).judge();
    assert!(faults.iter().any(|fault| fault.contains("mask (value)")), "{faults:?}");
}

#[test]
fn bits_that_are_never_drawn_and_biased_ones_are_found() {
    let never = lanes!(|session, _lane| {
        let mut mask = entropy(&session, MASK);
        mask[9] &= !4;
        [mask, entropy(&session, KEY)]
    });
    is_found(never, &[MASK], "bit 74 is always 0");
    let biased = lanes!(|session, _lane| {
        let mut mask = entropy(&session, MASK);
        mask[9] &= !4 | mask[8];
        [mask, entropy(&session, KEY)]
    });
    is_found(biased, &[MASK], "bit 74 is one");
    let few = |mut session: Session| {
        let mut mask = [0; 16];
        session.entropy(MASK, &mut mask[..8]);
        tell(&mut session, &mask)
    };
    is_found(few, &[MASK], "a draw has 8 bytes");
    let narrow = |mut session: Session| {
        SMALL.drawn(|| (0..64_i64).flat_map(|x| (x % 5 % 2).to_le_bytes()).collect::<Vec<u8>>());
        tell(&mut session, &[])
    };
    is_found(narrow, &[SMALL], "its mean is");
}

/// Small numbers, of which this one is 0 in each draw.
fn zero_at<const AT: usize>(mut session: Session) -> Result<Vec<u8>, Abort> {
    let mut errors = [0_u8; 64];
    session.entropy(MASK, &mut errors);
    errors[AT] = 1;
    SMALL.drawn(|| errors.iter().flat_map(|x| (i64::from(x % 3) - 1).to_le_bytes()).collect::<Vec<u8>>());
    tell(&mut session, &[])
}

/// A mean and a variance do not show it.
#[test]
fn an_element_that_is_the_same_in_each_draw_is_found() {
    is_found(zero_at::<0>, &[SMALL], "its first element is always the same");
    is_found(zero_at::<63>, &[SMALL], "its last element is always the same");
}

/// Few samples suffice where one of the parties lacks many bits, which the others hide.
#[test]
fn bits_that_one_party_never_draws_are_found() {
    let half = |mut session: Session| {
        let mut mask = entropy(&session, MASK);
        mask[if session.me().index() == 2 { 8 } else { 16 }..].fill(0);
        MASK.drawn(|| mask);
        tell(&mut session, &mask)
    };
    let mut net = net(half, &[]);
    (net.shapes[0].parties, net.shapes[0].runs) = (3, 8);
    let faults = net.judge();
    // by chance some more do not
    assert!(faults.iter().any(|fault| fault.contains("bits of party 3 never change")), "{faults:?}");
    assert!(!faults.iter().any(|fault| fault.contains("of party 2 never change")), "{faults:?}");
}

#[test]
fn linear_relations_are_found() {
    let within = lanes!(|session, _lane| {
        let mut mask = entropy(&session, MASK);
        mask[3] = mask[1] ^ mask[2] ^ mask[15] ^ 1;
        [mask, entropy(&session, KEY)]
    });
    is_found(within, &[MASK], "a bit is a sum of others");
    let between = lanes!(|session, _lane| {
        let (mut mask, key) = (entropy(&session, MASK), entropy(&session, KEY));
        mask[3] = key[1] ^ key[2] ^ mask[15];
        [mask, key]
    });
    is_found(between, &[MASK, KEY], "and of bits of share of a key");
}

#[test]
fn what_is_drawn_and_not_used_is_found() {
    let unused = |mut session: Session| {
        let (_mask, key) = (entropy(&session, MASK), entropy(&session, KEY));
        tell(&mut session, &key)
    };
    is_found(unused, &[MASK], "nothing depends on its draws");
    let unused = |mut session: Session| {
        let mut coin = [0; 16];
        blake3::Hasher::new().update(session.id().as_bytes()).expand(OF_COIN).fill(&mut coin);
        tell(&mut session, &[])
    };
    is_found(unused, &[OF_COIN], "nothing depends on its draws");
    is_found(sound, &[purposes::ALL, &[crate::purposes::COMMITMENT]].concat(), "no shape draws it");
}

#[test]
fn streams_of_one_key_are_found() {
    let two_purposes = |mut session: Session| {
        let key = entropy(&session, SEED);
        let mut out = [0; 32];
        let (one, other) = out.split_at_mut(16);
        Prg::of(STREAM, &key).fill(one);
        Prg::of(MASK, &key).fill(other);
        tell(&mut session, &out)
    };
    is_found(two_purposes, &[STREAM, MASK], "a stream has the key of one for");
    let twice = |mut session: Session| {
        let key = entropy(&session, SEED);
        let mut out = [0; 32];
        let (one, other) = out.split_at_mut(16);
        Prg::of(STREAM, &key).fill(one);
        Prg::of(STREAM, &key).fill(other);
        tell(&mut session, &out)
    };
    is_found(twice, &[STREAM], "too many streams of a party have one key");
    let of_all = |mut session: Session| {
        let mut out = [0; 16];
        let key = *session.id().as_bytes().first_chunk().unwrap();
        Prg::of(STREAM, &key).fill(&mut out);
        tell(&mut session, &out)
    };
    is_found(of_all, &[STREAM], "streams of too many parties");
    let constant = |mut session: Session| {
        let mut out = [0; 16];
        Prg::of(STREAM, &[3; 16]).fill(&mut out);
        tell(&mut session, &out)
    };
    is_found(constant, &[STREAM], "streams of two runs");
    let one_end = |mut session: Session| {
        let (me, peer) = (session.me().index(), session.peers()[0]);
        let mut out = [0; 16];
        session.prg(peer, SHARED).fill(&mut out[..8 + 8 * me]);
        tell(&mut session, &out)
    };
    is_found(one_end, &[SHARED], "two parties draw it differently");
}

/// Randomness that does not come through a door makes two runs of one seed differ.
#[test]
fn draws_beside_the_doors_are_found() {
    let beside = |mut session: Session| {
        let mut out = [0; 16];
        divisi_net::World::entropy(&divisi_net::Machine, &mut out);
        tell(&mut session, &out)
    };
    let faults = net(beside, &[]).judge();
    assert!(faults.iter().any(|fault| fault.contains("known randomness gives two runs")), "{faults:?}");
}

/// Of layers below there may be few draws, about which nothing is said.
#[test]
fn few_draws_of_others_are_no_fault() {
    let mut net = net(sound, &[]);
    for runs in 1..4 {
        net.shapes[0].runs = runs;
        assert_eq!(net.judge(), [] as [String; 0]);
    }
    assert!(net.shapes[0].runs * 2 < super::uniform::FEWEST);
}
