//! Bits that are packed, gathered and added.

use super::*;

#[test]
fn strings_of_bits_come_back() {
    let widths = [1, 64, 63, 65, 7, 128, 130, 3, 1];
    let mut dense = Dense::default();
    let words = |i: usize, bits: usize| {
        let all: Vec<u64> = (0..bits.div_ceil(64))
            .map(|w| ((i + w + 3) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        GmwBit::new(bits, &all)
    };
    for (i, bits) in widths.iter().enumerate() {
        dense.push(words(i, *bits).words(), *bits);
    }
    assert_eq!(dense.len(), widths.iter().sum::<usize>());
    assert_eq!(dense.words().len(), dense.len().div_ceil(64));
    let mut bytes = Vec::new();
    dense.to_bytes(&mut bytes);
    assert_eq!(bytes.len(), dense.len().div_ceil(8));
    let mut again = Dense::of(vec![0; dense.words().len()], dense.len());
    assert!(again.add_bytes(&bytes));
    let mut at = 0;
    for (i, bits) in widths.iter().enumerate() {
        let mut out = vec![u64::MAX; bits.div_ceil(64)];
        again.pull(at, *bits, &mut out);
        assert_eq!(out, words(i, *bits).words(), "{i}");
        at += bits;
    }
    *bytes.last_mut().unwrap() |= 0x80;
    assert!(!again.add_bytes(&bytes));
}

/// A single lane is repeated in all lanes; of more lanes some are copied, in whole words.
#[test]
fn windows_have_their_lanes_alone() {
    for lanes in [1_usize, 65, 256, 257] {
        let words: Vec<u64> =
            (1..=lanes.div_ceil(64) as u64).map(|w: u64| w.wrapping_mul(u64::MAX / 7)).collect();
        let bit = GmwBit::new(lanes, &words);
        let mut out = [u64::MAX; 2];
        bit.window(0, 65, &mut out);
        let expected =
            if lanes == 1 { [u64::MAX * (words[0] & 1), words[0] & 1] } else { [words[0], words[1] & 1] };
        assert_eq!(out, expected, "{lanes}");
    }
}

/// Words become bits and come back, also if they do not fill the squares that are transposed together.
#[test]
fn words_become_bits_and_bits_words() {
    for (count, width) in [(1, 1), (64, 32), (65, 64), (8 * 64, 32), (3 * 8 * 64 + 70, 5)] {
        let words: Vec<u64> =
            (0..count).map(|i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) & below(width)).collect();
        let bits = GmwBit::of_words(&words, width);
        assert_eq!(bits.len(), width);
        for (lane, word) in words.iter().enumerate() {
            assert!((0..width).all(|j| bits[j].lane(lane) == word >> j & 1), "{count} {width} {lane}");
        }
        assert!(bits.iter().all(|bit| bit.lanes() == words.len()));
        assert_eq!(*GmwBit::to_words(&bits), words);
    }
    let mut bit = GmwBit::new(130, &[u64::MAX; 3]);
    bit.clear(65, 130);
    assert_eq!(bit.words(), [u64::MAX, 1, 0]);
    bit.clear(64, 65);
    assert_eq!(bit.words(), [u64::MAX, 0, 0]);
    bit.clear(64, 64);
    bit.clear(0, 64);
    assert_eq!(bit.words(), [0; 3]);
    assert!(GmwBit::of_words(&[u64::MAX; 65], 66)[64..].iter().all(|bit| bit.words() == [0; 2]));
}

#[test]
fn lanes_are_gathered_and_one_serves_all() {
    let bit = GmwBit::of([1, 0, 1, 1].into_iter());
    assert_eq!(bit.gather(&[3, 1]).unwrap().words(), [0b01]);
    assert!(bit.gather(&[4]).is_none());
    let mut out = [0; 2];
    GmwBit::of([1].into_iter()).window(0, 70, &mut out);
    assert_eq!(out, [u64::MAX, 0x3f]);
    assert_eq!(GmwBit::new(3, &[u64::MAX, 7]).words(), [7]);
}

/// A share that does not fit changes nothing: neither a lane, nor a bit after the last, nor the origin.
#[test]
fn what_does_not_fit_is_not_added() {
    use divisi_core::{PublicParameters, local};
    let agreed = PublicParameters::new("bits");
    let made = local::run(2, &agreed, |session| Ok(GmwBit::new(3, &[0b101]).made(&session))).unwrap();
    let ours = &made[0];
    let ends = local::run(2, &agreed, |session| {
        let wide = GmwBit::new(70, &[u64::MAX; 2]);
        let other = GmwBit::new(3, &[0b111]).made(&session);
        // 3 and 259 lanes are as many in eight bits
        let narrow = [2, 259].map(|lanes| GmwBit::new(lanes, &[0b11]));
        for unfit in [&wide, &wide.clone().made(&session), &other, &narrow[0], &narrow[1]] {
            let mut bit = ours.clone();
            assert!(!bit.add(unfit));
            assert_eq!((bit.words(), bit.lanes(), bit.origin), (ours.words(), 3, ours.origin));
        }
        let mut sum = ours.clone();
        assert!(sum.add(&GmwBit::new(3, &[0b110])));
        assert_eq!((sum.words(), sum.origin), (&[0b011][..], ours.origin));
        // a share that a caller made takes the other's origin
        let mut sum = GmwBit::new(3, &[0b110]);
        assert!(sum.add(ours) && sum.origin == ours.origin);
        Ok(())
    });
    assert!(ends.is_ok());
}
