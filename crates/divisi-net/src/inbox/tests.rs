//! What a peer can send, frame by frame.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::world::Machine;
use std::time::Duration;

const PEER: PartyId = PartyId::P2;
const STEP: Step = Step::new("divisi_net::inbox::tests/step");
const CAP: usize = 1 << 20;
/// Room for this many frames without a body.
const FRAMES: usize = 5;

fn inbox(cap: usize) -> Inbox {
    Inbox::new(PEER, cap, None)
}

fn frame((session, strand): Key, step: Step, len: usize, more: bool) -> (Head, Body) {
    let head = Head { session, strand, step: step.id, depth: 1, len: len as u32, more };
    (head, Body::from(&*vec![7; len]))
}

/// Delivers a frame of a session that goes on.
fn deliver(inbox: &Inbox, key: Key, len: usize, more: bool) -> Result<(), Loss> {
    let (head, body) = frame(key, STEP, len, more);
    inbox.deliver(&head, body, None, |_| false)
}

fn take(inbox: &Inbox, key: Key, len: usize) -> Result<Look, Fault> {
    inbox.take(key, STEP, &mut vec![0; len], &mut Progress::default(), &Machine)
}

fn buffered(inbox: &Inbox) -> (usize, usize) {
    let state = lock(&inbox.state);
    (state.buffered, state.unopened)
}

/// A message has the step and the length that are waited for, also if it is empty or comes in several frames.
#[test]
fn a_message_is_the_one_that_is_waited_for() {
    // steps are told apart by each bit of their numbers
    for (bit, len) in (0..32).flat_map(|bit| [0, 1, 300].map(|len| (bit, len))) {
        let inbox = inbox(CAP);
        let got = STEP.id ^ 1 << bit;
        let (head, body) = frame((1, 1), Step { id: got, ..STEP }, len, false);
        inbox.deliver(&head, body, None, |_| false).unwrap();
        let refused = take(&inbox, (1, 1), len).err();
        assert_eq!(refused, Some(Fault::WrongStep { peer: PEER, step: STEP, got }), "{bit} {len}");
    }
    // so is each frame of a message
    for odd in 0..4 {
        let inbox = inbox(CAP);
        for at in 0..4 {
            let got = STEP.id ^ u32::from(at == odd);
            let (head, body) = frame((1, 1), Step { id: got, ..STEP }, 5, at < 3);
            inbox.deliver(&head, body, None, |_| false).unwrap();
        }
        let refused = take(&inbox, (1, 1), 20).err();
        assert_eq!(refused, Some(Fault::WrongStep { peer: PEER, step: STEP, got: STEP.id ^ 1 }), "{odd}");
    }
    for (frames, want, right) in [
        (&[0][..], 0, true),
        (&[0], 1, false),
        (&[5], 5, true),
        (&[5], 4, false),
        (&[5], 6, false),
        (&[5], 5 + 256, false),
        (&[4, 3], 7, true),
        (&[4, 3], 8, false),
        (&[4, 3], 6, false),
        (&[4, 3], 4, false),
        (&[4, 0], 4, true),
        (&[4, 2, 3], 9, true),
        (&[4, 2, 3], 7, false),
    ] {
        let inbox = inbox(CAP);
        for (at, len) in frames.iter().enumerate() {
            deliver(&inbox, (1, 1), *len, at + 1 < frames.len()).unwrap();
        }
        match take(&inbox, (1, 1), want) {
            Ok(Look::Complete(depth)) => assert!(right && depth == 1, "{frames:?} {want}"),
            Err(e) => assert!(!right && matches!(e, Fault::Malformed { .. }), "{frames:?} {want}: {e}"),
            Ok(Look::Wait(_)) => assert!(frames.is_empty(), "{frames:?} {want}: it is there"),
        }
    }
}

/// Channels that this party has not opened are bounded, whether they are strands or sessions; one that is
/// opened or shut makes room for another one.
#[test]
fn so_many_channels_wait_to_be_opened() {
    let keys: [fn(u32) -> Key; 2] = [|at| (1, at), |at| (at, 0)];
    for key in keys {
        let inbox = inbox(CAP);
        let most = UNOPENED as u32;
        (0..most).for_each(|at| deliver(&inbox, key(at), 1, false).unwrap());
        deliver(&inbox, key(0), 1, false).unwrap();
        assert_eq!(deliver(&inbox, key(most), 1, false), Err(Loss::Flooded));
        assert!(inbox.open(key(0)) && !inbox.open(key(0)));
        deliver(&inbox, key(most), 1, false).unwrap();
        assert_eq!(deliver(&inbox, key(most + 1), 1, false), Err(Loss::Flooded));
        inbox.shut(key(1));
        deliver(&inbox, key(most + 1), 1, false).unwrap();
        assert_eq!(deliver(&inbox, key(most + 2), 1, false), Err(Loss::Flooded));
        (0..most + 2).for_each(|at| inbox.shut(key(at)));
        assert_eq!(buffered(&inbox), (0, 0));
    }
}

/// What waits is bounded in bytes, frames without a body included; what is read or shut makes room.
#[test]
fn what_waits_has_a_bound() {
    let inbox = inbox(FRAMES * OVERHEAD);
    inbox.open((1, 1));
    (0..FRAMES).for_each(|_| deliver(&inbox, (1, 1), 0, false).unwrap());
    assert_eq!(deliver(&inbox, (1, 1), 0, false), Err(Loss::Flooded));
    assert!(matches!(take(&inbox, (1, 1), 0), Ok(Look::Complete(_))));
    assert_eq!(deliver(&inbox, (1, 1), 1, false), Err(Loss::Flooded));
    deliver(&inbox, (1, 1), 0, false).unwrap();
    inbox.shut((1, 1));
    deliver(&inbox, (1, 2), (FRAMES - 1) * OVERHEAD, false).unwrap();
    assert_eq!(deliver(&inbox, (1, 2), 0, false), Err(Loss::Flooded));
}

/// Of a session that has ended nothing is kept: neither what comes after its end nor what waited. Of other
/// sessions everything is, also if their numbers differ in one bit.
#[test]
fn what_a_session_left_goes_with_it() {
    let inbox = inbox(CAP);
    let (head, body) = frame((1, 1), STEP, 3, false);
    inbox.deliver(&head, body, None, |session| session == 1).unwrap();
    assert_eq!(buffered(&inbox), (0, 0));
    let others = (0..32).map(|bit| 1 ^ 1 << bit);
    others.clone().chain([1]).for_each(|session| deliver(&inbox, (session, 1), 3, false).unwrap());
    inbox.open((1, 2));
    [(1, 2), (1, 3)].iter().for_each(|key| deliver(&inbox, *key, 3, false).unwrap());
    inbox.wake_session(1);
    assert!(matches!(take(&inbox, (1, 1), 3), Ok(Look::Wait(None))));
    assert!(matches!(take(&inbox, (1, 2), 3), Ok(Look::Wait(None))));
    assert_eq!(buffered(&inbox), (32 * (3 + OVERHEAD), 32));
    others.for_each(|session| assert!(matches!(take(&inbox, (session, 1), 3), Ok(Look::Complete(1)))));
}

/// What nobody has taken yet is bounded, whether it is whole messages or frames of a long one.
#[test]
fn what_waits_is_bounded() {
    for more in [false, true] {
        let inbox = inbox(10 * (100 + OVERHEAD));
        inbox.open((1, 1));
        (0..10).for_each(|_| deliver(&inbox, (1, 1), 100, more).unwrap());
        assert!(matches!(deliver(&inbox, (1, 1), 0, more), Err(Loss::Flooded)), "{more}");
        assert_eq!(buffered(&inbox).0, 10 * (100 + OVERHEAD));
    }
}

/// Whom a peer waits for is known if it was asked, and is what it says first; a question can be void.
#[test]
fn only_who_is_asked_says_whom_it_waits_for() {
    let inbox = inbox(CAP);
    inbox.open((1, 1));
    let claims = [Some((PartyId::P3, 5)), Some((PartyId::P1, 6)), None];
    inbox.answer((1, 1), claims[0]);
    assert_eq!(inbox.take_claim((1, 1)), None);
    inbox.ask((1, 1), true);
    claims.iter().for_each(|claim| inbox.answer((1, 1), *claim));
    assert_eq!(inbox.take_claim((1, 1)), Some(claims[0]));
    assert_eq!(inbox.take_claim((1, 1)), None);
    inbox.ask((1, 1), true);
    inbox.ask((1, 1), false);
    inbox.answer((1, 1), claims[1]);
    assert_eq!(inbox.take_claim((1, 1)), None);
    // and nobody hears the answer to an earlier one
    for asks_again in [false, true] {
        inbox.ask((1, 1), true);
        inbox.answer((1, 1), claims[0]);
        inbox.ask((1, 1), asks_again);
        assert_eq!(inbox.take_claim((1, 1)), None);
    }
    // whoever waits for the answer has it at once
    inbox.ask((1, 1), true);
    let begun = Machine.now();
    let until = begun + Duration::from_secs(60);
    std::thread::scope(|s| {
        s.spawn(|| inbox.wait((1, 1), STEP, Awaited::Answer, until, false, &Machine, || false));
        while lock(&inbox.state).slots.get(&(1, 1)).is_none_or(|slot| slot.asleep == 0) {
            std::thread::yield_now();
        }
        inbox.answer((1, 1), None);
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!((inbox.take_claim((1, 1)), inbox.waiting((1, 1))), (Some(None), None));
}

/// A link is gone for its first reason, and takes in nothing more; what came before can be read.
#[test]
fn a_link_is_lost_once() {
    let inbox = inbox(CAP);
    deliver(&inbox, (1, 1), 2, false).unwrap();
    inbox.lose(Loss::Garbage);
    inbox.lose(Loss::Flooded);
    deliver(&inbox, (1, 1), 2, false).unwrap();
    assert_eq!(inbox.down(), Some(Loss::Garbage));
    assert!(matches!(take(&inbox, (1, 1), 2), Ok(Look::Complete(1))));
    let lost = Fault::Lost { peer: PEER, step: STEP, reason: Loss::Garbage };
    assert_eq!(take(&inbox, (1, 1), 2).err(), Some(lost));
}

/// One thread reads the socket at a time; when it leaves, one that waits is called to take its place.
#[test]
fn a_socket_has_one_reader_and_always_one() {
    let inbox = &inbox(CAP);
    assert!(inbox.enter() && inbox.is_read() && !inbox.enter());
    inbox.leave(None);
    assert!(!inbox.is_read() && inbox.enter());
    inbox.open((1, 2));
    let begun = Machine.now();
    let until = begun + Duration::from_secs(60);
    std::thread::scope(|s| {
        let waits = s.spawn(|| inbox.wait((1, 2), STEP, Awaited::Message, until, true, &Machine, || false));
        while lock(&inbox.state).slots.get(&(1, 2)).is_none_or(|slot| slot.asleep == 0) {
            std::thread::yield_now();
        }
        inbox.leave(None);
        assert_eq!(waits.join().unwrap(), Turn::Read);
        assert!(inbox.is_read());
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
    inbox.leave(None);
    // nobody reads a link that is lost, and all that wait for it learn that it is
    let keys = [(1, 2), (1, 3), (2, 1)];
    keys.iter().for_each(|key| _ = inbox.open(*key));
    std::thread::scope(|s| {
        for key in keys {
            s.spawn(move || inbox.wait(key, STEP, Awaited::Message, until, false, &Machine, || false));
        }
        while keys.iter().any(|key| lock(&inbox.state).slots.get(key).is_none_or(|slot| slot.asleep == 0)) {
            std::thread::yield_now();
        }
        inbox.lose(Loss::Cut);
    });
    assert!(!inbox.enter() && !inbox.is_read());
    assert!(begun.elapsed() < Duration::from_secs(30));
}
