//! Lies about S-boxes that only their verification in planes stops.

use super::until_the_last_coin;
use divisi_core::{Abort, Bytes, Check, Direction, Step, settle};
use divisi_field::{Field, Gf8};
use divisi_rep3::adversary::adaptive::{Adaptive, deceived};
use divisi_rep3::adversary::harness::{TrioHarness, party};
use divisi_rep3::adversary::lookups::{FINISH, OUTER as OUTER_16, opening};
use divisi_rep3::adversary::planes::{BitFlip, H, OUTER, SboxLayer};
use divisi_rep3::{Protocol, Rep3, Security};

fn sbox(x: u8) -> u8 {
    let y = Gf8(x).inverse().0;
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4) ^ 0x63
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
    let pending = e.close([x, y].concat());
    let verified = settle(e, pending)?;
    let opened = e.trio().open(&verified)?;
    let (x, y) = opened.split_at(layer.bytes);
    let right = |x: u8| (0..layers).fold(x, |x, _| sbox(x));
    Ok(x.iter().flatten().zip(y.iter().flatten()).all(|(x, y)| right(*x) == *y))
}

/// Run `f` with a corrupt party 1 that tells these lies.
fn adapt<L: FnMut(&[[u8; 16]], &str, &mut [u8]) + Send + 'static>(
    check: Option<Check>,
    protocol: Protocol,
    lies: impl Fn() -> L + Sync,
    f: impl Fn(&mut Rep3) -> Result<bool, Abort> + Sync,
) -> Vec<Result<bool, Abort>> {
    let results = TrioHarness::without(check).patient().act(|trio| {
        let corrupt = trio.me() == party(1);
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        if corrupt {
            e.trio().deviate(Adaptive::new(lies()));
        }
        f(&mut e)
    });
    assert!(check.is_some() || results[1..].iter().all(Result::is_err), "{results:?}");
    results
}

/// Knowing the coefficients before the products, errors whose words are dependent cancel.
pub fn old_coefficients(check: Option<Check>) -> bool {
    let layer = SboxLayer { bytes: 1, lanes: 9 };
    let lies = || {
        let mut batch = 0;
        move |coins: &[[u8; 16]], step: &str, share: &mut [u8]| {
            if step == OUTER {
                batch += 1;
                if batch == 2 {
                    let errors = layer.cancelling(coins[0]);
                    assert!(!errors.is_empty());
                    layer.lie(share, &errors);
                }
            }
        }
    };
    let results = adapt(check, Protocol::Gf4Circuit, lies, |e| {
        assert!(substituted(e, layer, 1)?);
        substituted(e, layer, 1)
    });
    deceived(&results, party(1))
}

/// Knowing the point before h, a lie about h at infinity cancels there what lies about products added to h at
/// corners.
pub fn known_point(check: Option<Check>) -> bool {
    let layer = SboxLayer { bytes: 11, lanes: 49 };
    // at three corners of two groups, in lanes of several bytes
    let errors = [(2, 1, 8), (7, 6, 0), (9, 4, 3)].map(|(byte, plane, lane)| BitFlip { byte, plane, lane });
    let lies = || {
        move |coins: &[[u8; 16]], step: &str, share: &mut [u8]| match (step, coins) {
            (OUTER, _) => layer.lie(share, &errors),
            // the last coin that is known is the mutant's point
            (H, [first, .., point] | [first @ point]) => layer.hide(share, &errors, [*first, *point]),
            _ => {}
        }
    };
    let results = adapt(check, Protocol::Gf4Circuit, lies, |e| substituted(e, layer, 1));
    deceived(&results, party(1))
}

/// A lie about the last product of this layer of lut16, in its last lane.
fn lie_in_the_last(check: Option<Check>, layer: SboxLayer) -> bool {
    let lies = || {
        move |_: &[[u8; 16]], step: &str, share: &mut [u8]| {
            if step == OUTER_16 {
                *share.last_mut().unwrap() ^= 1 << ((layer.lanes - 1) % 8);
            }
        }
    };
    let results = adapt(check, Protocol::Lut16, lies, |e| substituted(e, layer, 1));
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

/// Whether what an honest party sends before the abort reveals in which of two layers the lie was.
fn where_the_lie_is(check: Option<Check>, protocol: Protocol, places: [(&'static str, usize); 2]) -> bool {
    let [first, second] = places.map(|(at, nth)| {
        let harness = TrioHarness::without(check).patient();
        let honest = harness.recording(party(2));
        let results = harness.act(|trio| {
            let corrupt = trio.me() == party(1);
            let mut e = Rep3::new(trio, protocol, Security::Malicious);
            if corrupt {
                let mut count = 0;
                e.trio().deviate(move |step: Step, share: &mut [u8]| {
                    if step.name == at {
                        share[0] ^= u8::from(count == nth);
                        count += 1;
                    }
                });
            }
            substituted(&mut e, SboxLayer { bytes: 2, lanes: 3 }, 2)
        });
        assert!(results.iter().all(Result::is_err), "{results:?}");
        until_the_last_coin(&honest)
    });
    first != second
}

pub fn where_the_lie_is_gf4(check: Option<Check>) -> bool {
    where_the_lie_is(check, Protocol::Gf4Circuit, [(OUTER, 0), (OUTER, 1)])
}

/// In the output of the first layer, which is the input of the second, or in that of the second (1.27).
pub fn where_the_lie_is_additive(check: Option<Check>) -> bool {
    let places = [(opening(Protocol::Lut256Additive), 0), (FINISH, 0)];
    where_the_lie_is(check, Protocol::Lut256Additive, places)
}
