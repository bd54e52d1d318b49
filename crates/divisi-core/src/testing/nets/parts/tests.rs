//! The census of parts, of protocols with faults.

use super::*;
use crate::testing::nets::{ShapeOutcome, ShapeSecurity};
use crate::{Coins, DrawPurpose, Session, step};

#[expect(dead_code, reason = "nobody asks for all of them")]
mod purposes {
    crate::purposes! {
        /// A mask.
        MASK = "mask of a part", One, Bits(128);
        /// Small numbers.
        SMALL = "small numbers of a part", One, Ternary;
    }
}

/// What is wrong, and what depends on which draw.
fn judged(
    idle: &[(&str, &str, IdlePart, &str)],
    of: impl Fn(&Session, u8) -> Vec<u8> + Copy + Send + Sync + 'static,
) -> [Vec<String>; 2] {
    let run = move |mut session: Session, input: u64, out: &mut ShapeOutcome| {
        let told = of(&session, input as u8);
        for peer in session.peers() {
            session.send(step!("told"), peer, &told, 0)?;
            session.recv(step!("told"), peer, &mut told.clone())?;
        }
        out.put("done", vec![1]);
        Ok(())
    };
    let shape = || NetShape::new("parts", 2, ShapeSecurity::Curious, run);
    let net = PartNet { folder: "no folder", packages: &["divisi-core"], shapes: vec![shape()], idle };
    let (mut listed, faults): (Vec<_>, _) = net
        .judge_parts(1, &mut Amounts::default())
        .into_iter()
        .partition(|fault| fault.contains(" depends on: "));
    listed.retain(|line| !line.contains(" depends on: session "));
    [faults, listed]
}

fn faults(idle: &[(&str, &str, IdlePart, &str)], of: fn(&Session) -> Vec<u8>) -> Vec<String> {
    let [faults, _] = judged(idle, move |session, _| of(session));
    faults
}

fn mask(session: &Session, purpose: &'static DrawPurpose) -> [u8; 16] {
    let mut out = [0; 16];
    session.entropy(purpose, &mut out);
    out
}

fn small() -> Vec<u8> {
    let mut small = [-1_i64, 0, 1, 0];
    purposes::SMALL.numbers(&mut small, |x, _| if x == 1 { -1 } else { x + 1 });
    small.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn what_is_used_from_the_first_to_the_last_has_no_fault() {
    let whole = |session: &Session| [mask(session, purposes::MASK).to_vec(), small()].concat();
    assert_eq!(faults(&[], whole), [] as [String; 0]);
}

#[test]
fn the_steps_that_depend_on_a_draw_are_listed() {
    let [_, listed] = judged(&[], |session, _| mask(session, purposes::MASK).to_vec());
    let [one] = &listed[..] else { panic!("{listed:?}") };
    assert!(one.contains("/told depends on: mask of a part, testing/nets/parts/tests.rs;"), "{one}");
    // the second mask reaches no message
    let [_, listed] = judged(&[], |session, _| {
        small();
        mask(session, purposes::MASK).to_vec()
    });
    assert_eq!(listed.len(), 1, "{listed:?}");
}

#[test]
fn an_input_that_nothing_masks_is_found() {
    let bare = |masked: fn(u8, u8) -> [u8; 2]| {
        let of = move |session: &Session, input| masked(mask(session, purposes::MASK)[0] & 1, input).to_vec();
        let [_, listed] = judged(&[], of);
        listed.iter().any(|line| line.contains("/told depends on: inputs and no draw;"))
    };
    assert!(bare(|_, input| [0, input]));
    // one bit hides one bit
    assert!(!bare(|mask, input| [0, (input & 1) ^ mask]));
    assert!(!bare(|mask, input| [mask, input]));
}

#[test]
fn parts_that_are_cut_off_are_found() {
    let found = |of: fn(&Session) -> Vec<u8>, words: &str| {
        let faults = faults(&[], of);
        assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
    };
    let last = "mask of a part: nothing depends on the last part";
    found(|session| mask(session, purposes::MASK)[..15].to_vec(), last);
    // the second draw is not used: the first one is; or the other way round
    let first = "mask of a part: nothing depends on the first part";
    found(|session| [(); 2].map(|()| mask(session, purposes::MASK))[1].to_vec(), first);
    found(|session| [mask(session, purposes::MASK), mask(session, purposes::MASK)][0].to_vec(), last);
    let middle = "mask of a part: nothing depends on the middle part";
    let hollow = |session: &Session| {
        let mut mask = mask(session, purposes::MASK);
        mask[4..12].fill(0);
        mask.to_vec()
    };
    found(hollow, middle);
    let of_two = |session: &Session| {
        let [one, _, three] = [(); 3].map(|()| mask(session, purposes::MASK));
        [one, one, three].concat()
    };
    found(of_two, middle);
    let later = |session: &Session| [&mask(session, purposes::MASK)[..], &small()[8..]].concat();
    found(later, "small numbers of a part: nothing depends on the first part");
    // no part is left out, but a bit of the last one is
    let short = |session: &Session| {
        let mut mask = mask(session, purposes::MASK);
        mask[15] &= 0x7f;
        mask.to_vec()
    };
    found(short, "1 draws do not use their highest bit: mask of a part");
    let of_one = |session: &Session| {
        let mut mask = mask(session, purposes::MASK);
        if session.me().index() == 1 {
            mask[8..].fill(0);
        }
        mask.to_vec()
    };
    found(of_one, last);
}

/// Of an opened coin, too, each part is used: what parties send to open it is the same then.
#[test]
fn a_coin_that_is_cut_off_is_found() {
    let judged = |used: std::ops::Range<usize>| {
        let run = move |mut session: Session, _: u64, _: &mut ShapeOutcome| {
            let coin = Coins::commit(&mut session)?.toss(&mut session, step!("coin"))?;
            let told = &coin[used.clone()];
            session.peers().into_iter().try_for_each(|peer| session.send(step!("told"), peer, told, 0))?;
            let mut theirs = told.to_vec();
            session.peers().into_iter().try_for_each(|peer| session.recv(step!("told"), peer, &mut theirs))
        };
        let shapes = vec![NetShape::new("coins", 2, ShapeSecurity::Curious, run)];
        let net = PartNet { folder: "no folder", packages: &["divisi-core"], shapes, idle: &[] };
        let mut faults = net.judge_parts(1, &mut Amounts::default());
        faults.retain(|fault| fault.starts_with("coin: nothing depends on"));
        faults
    };
    assert_eq!(judged(0..16), [""; 0]);
    assert!(judged(0..15)[0].contains("the last part") && judged(1..16)[0].contains("the first part"));
}

/// What is said of a draw if two messages depend on one half of it each, or both on all of it.
fn divided(
    draw: impl Fn(&mut Session) -> Result<[u8; 16], Abort> + Copy + Send + Sync + 'static,
    said: &str,
) -> [usize; 2] {
    [false, true].map(|halves| {
        let run = move |mut session: Session, _: u64, _: &mut ShapeOutcome| {
            let drawn = draw(&mut session)?;
            let sums = [&drawn[..8], &drawn[8..]].map(|half| half.iter().fold(0, |sum, byte| sum ^ byte));
            for (step, half) in [step!("one"), step!("other")].into_iter().zip(sums) {
                let told = [if halves { half } else { sums[0] ^ sums[1] }];
                for peer in session.peers() {
                    session.send(step, peer, &told, 0)?;
                    session.recv(step, peer, &mut told.clone())?;
                }
            }
            Ok(())
        };
        let shapes = vec![NetShape::new("halves", 2, ShapeSecurity::Curious, run)];
        let net = PartNet { folder: "no folder", packages: &["divisi-core"], shapes, idle: &[] };
        net.judge_parts(1, &mut Amounts::default()).iter().filter(|fault| fault.contains(said)).count()
    })
}

#[test]
fn a_coin_whose_parts_serve_one_purpose_each_is_found() {
    let coin = |session: &mut Session| Coins::commit(session)?.toss(session, step!("coin"));
    assert_eq!(divided(coin, "depends on a part of"), [0, 2]);
}

#[test]
fn a_draw_whose_parts_serve_one_purpose_each_is_listed() {
    let drawn = |session: &mut Session| Ok(mask(session, purposes::MASK));
    assert_eq!(divided(drawn, "other messages depend on the last part than on the first, 1 lines"), [0, 1]);
}

#[test]
fn what_is_spared_must_be_there() {
    let of = |name, part| (name, "parts/tests.rs", part, "a test");
    let short = |session: &Session| mask(session, purposes::MASK)[..15].to_vec();
    let spared = [of("mask of a part", IdlePart::Last), of("no mask", IdlePart::Any)];
    assert_eq!(faults(&spared, short), ["no mask: parts/tests.rs is spared for nothing"]);
    // of what is spared in part the rest is judged
    assert_eq!(faults(&[of("mask of a part", IdlePart::First)], short).len(), 1);
    assert_eq!(faults(&[of("mask of a part", IdlePart::Any)], short), [""; 0]);
    // up to the bits at the end
    assert_eq!(faults(&[of("mask of a part", IdlePart::End(8))], short), [""; 0]);
    let fault = "mask of a part: nothing depends on the last part";
    assert!(faults(&[of("mask of a part", IdlePart::End(7))], short)[0].starts_with(fault));
}
