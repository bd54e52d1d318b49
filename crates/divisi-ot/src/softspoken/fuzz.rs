//! Random inputs for the trees of a maker.

use super::layout::{Layout, bit};
use super::tree::{Leaves, Permutations, grow, hold, message_bytes};

const DELTA: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834;

/// An altered message that is accepted gives the leaves of the sound message: only bytes that the holder does
/// not read were altered. Messages are longer than random inputs. So an input has a position, in two bytes,
/// and the bytes that overwrite those of a sound message from there on.
#[test]
#[cfg_attr(miri, ignore = "a message takes thousands of calls of AES")]
fn random_trees() {
    for (layout, high) in [(Layout::labels(2), 0), (Layout::field(2, 42), DELTA >> 86)] {
        let (all, delta, permutations) = (layout.all(), [DELTA, high], Permutations::fixed());
        let key = |i: usize, side: u128| 1000 * side + i as u128;
        let keys: Vec<[u128; 2]> = (0..all).map(|i| [key(i, 1), key(i, 2)]).collect();
        // the choice is the complement of the bit; at a public bit there is no choice
        let chosen = |i: usize| key(i, 2 - (bit(&delta, i) & 1));
        let chosen: Vec<u128> =
            (0..all).map(|i| if layout.public && i == 0 { 0 } else { chosen(i) }).collect();
        let roots: Vec<u8> = (0..16 * layout.pieces()).map(|i| (i * 41 + 3) as u8).collect();
        let mut sound = vec![0; message_bytes(layout)];
        grow(&roots, &permutations, (layout, false), &keys, &[0; 2], delta[0] & 1, &mut sound);
        let held = |message: &[u8]| {
            let (leaves, consistent) = hold(&permutations, (layout, false), &chosen, &delta, message);
            let seeds = |leaves: &Leaves| match leaves {
                Leaves::Seeds(seeds) => seeds.to_vec(),
                _ => Vec::new(),
            };
            (leaves.iter().map(seeds).collect::<Vec<_>>(), consistent)
        };
        let (leaves, consistent) = held(&sound);
        assert!(consistent && leaves.iter().all(|tree| !tree.is_empty()));
        let place = |at: usize| [&(at as u16).to_le_bytes()[..], &[0x55; 20]].concat();
        // sums, totals, the digest
        let seeds = [vec![0, 0], place(100), place(32 * all + 40), place(sound.len() - 30)];
        divisi_fuzz::run("trees", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Some((at, patch)) = bytes.split_first_chunk::<2>() else { return Ok(false) };
            let mut message = sound.clone();
            let at = usize::from(u16::from_le_bytes(*at)) % message.len();
            message[at..].iter_mut().zip(patch).for_each(|(byte, patch)| *byte = *patch);
            let (found, consistent) = held(&message);
            if consistent && found != leaves { Err("other leaves".into()) } else { Ok(consistent) }
        });
    }
}
