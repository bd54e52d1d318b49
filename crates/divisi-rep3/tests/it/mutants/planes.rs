//! Lies about S-boxes that only their verification in planes stops.

use crate::common::prelude::*;
use divisi_rep3::adversary::adaptive::deceived;
use divisi_rep3::adversary::lookups::OUTER as OUTER_16;

/// A layer of this many bytes of some lanes.
#[derive(Clone, Copy)]
struct SboxLayer {
    bytes: usize,
    lanes: usize,
}

/// Run layers of S-boxes one after the other on random bytes, verify and open the result; returns whether it
/// is right.
fn substituted(e: &mut Rep3, layer: SboxLayer, layers: usize) -> Result<bool, Abort> {
    let x = (0..layer.bytes).map(|_| e.random_bytes(layer.lanes)).collect::<Result<Vec<_>, _>>()?;
    let mut y = x.clone();
    for _ in 0..layers {
        e.sbox(Direction::Encrypt, &mut y.iter_mut().collect::<Vec<_>>())?;
    }
    e.finish(&mut y.iter_mut().collect::<Vec<_>>())?;
    let opened = e.reveal([x, y].concat())?;
    let (x, y) = opened.split_at(layer.bytes);
    let right = |x: u8| (0..layers).fold(x, |x, _| sbox(x));
    Ok(x.iter().flatten().zip(y.iter().flatten()).all(|(x, y)| right(*x) == *y))
}

/// A lie about the last product of this layer of lut16, in its last lane.
fn lie_in_the_last(check: Option<Check>, layer: SboxLayer) -> bool {
    let harness = TrioHarness::without(check).patient();
    harness.change(party(1), party(3), OUTER_16, 0, move |share| {
        *share.last_mut().unwrap() ^= 1 << ((layer.lanes - 1) % 8);
    });
    let results =
        harness.act(|trio| substituted(&mut Rep3::new(trio, Protocol::Lut16, Security::Malicious), layer, 1));
    assert!(check.is_some() || results[1..].iter().all(Result::is_err), "{results:?}");
    deceived(&results, party(1))
}

/// One S-box has one relation: nothing but the corner says what its product must be.
pub fn lie_at_a_corner(check: Option<Check>) -> bool {
    lie_in_the_last(check, SboxLayer { bytes: 1, lanes: 1 })
}

/// The last of nine S-boxes is a group by itself, because nine times 57 lanes do not fit one tile.
pub fn lie_in_the_last_group(check: Option<Check>) -> bool {
    lie_in_the_last(check, SboxLayer { bytes: 9, lanes: 57 })
}
