//! A party that stops at a bootstrap: all others end with an abort that names a peer, and nobody waits.
//! (Every step of every phase: `nets.rs`.)
//!
//! Faults at a bootstrap are here, in one process: with the parameters of real sessions, and with the
//! insecure ones of the command line, ciphertexts are refreshed from 33 parties on, too many processes for a
//! test. Here a chain may have one hop, so that three parties refresh at each.

use crate::common::{agreed, in_runs, small};
use divisi_bgv::parameters::{Form, Operation};
use divisi_bgv::{Keys, Ring, Sampler};
use divisi_core::testing::{Harness, MessageDirection, many, party};
use divisi_core::{Abort, PartyId, Session};
use divisi_fuzz::repetitions;
use divisi_mixed::dabit::dabit;
use divisi_mixed::{Gmw, GmwBit, Mixed, num};
use divisi_ot::SetupConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PARTIES: usize = 3;

/// The time limit where a thread of a party may wait for another one of it, so that no time is skipped: a
/// hundred times what a run computes.
const LIMIT: Duration = Duration::from_secs(4);

/// The receiver of a ciphertext refuses it if its level is not that of the hop, but higher or lower.
#[test]
fn a_ciphertext_of_another_level_is_refused() {
    let ring = small(Operation::Bits, Form::LeanRing, PARTIES);
    let agreed = ring.parameters().describe(agreed());
    let step = "divisi_mixed::circle/pass";
    let act = |mut session: Session| {
        let keys = Keys::generate(&mut session, &ring)?;
        let mut sampler = Sampler::new(&session);
        dabit(&mut session, &keys, &mut sampler).map(drop)
    };
    // two parties pass it on, the second at a lower level than the first
    let harness = Harness::new(PARTIES, &agreed);
    let seen = harness.recordings();
    harness.act(act).into_iter().for_each(|end| end.unwrap());
    let passed = PartyId::all(PARTIES).zip(seen).flat_map(|(from, seen)| {
        seen.of(MessageDirection::Out, step).into_iter().map(move |seen| (from, seen.peer, seen.frame.body))
    });
    let mut passed: Vec<_> = passed.collect();
    passed.sort_by_key(|(.., body)| std::cmp::Reverse(body.len()));
    let [(_, _, high), (_, _, low)] = &passed[..] else { panic!("{} messages", passed.len()) };
    assert!(high.len() > low.len());
    for (at, other) in [low.clone(), high.clone()].into_iter().enumerate() {
        let (from, to, _) = passed[at];
        let harness = Harness::new(PARTIES, &agreed);
        harness.change(from, to, step, 0, move |body| body.clone_from(&other));
        let ends = harness.act(act);
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
        let end = &ends[to.index()];
        let Err(Abort::Network(divisi_net::Fault::Malformed { peer, .. })) = end else { panic!("{end:?}") };
        assert_eq!(*peer, from);
    }
}

/// Random bits of three batches, in each of which another party has the ciphertext refreshed; and a
/// conversion that uses them.
fn refreshed(session: Session, ring: &Arc<Ring>) -> Result<(), Abort> {
    let gmw = Gmw::new(session, SetupConfig::default())?;
    let mut mixed = Mixed::new(gmw, ring.plain(), Some(ring), None)?;
    mixed.prepare_bits(PARTIES * ring.dimension())?;
    let (me, plain) = (mixed.session().me(), ring.plain());
    let value = Some(GmwBit::of([1].into_iter())).filter(|_| me == party(2));
    let bit = mixed.gmw().input(party(2), 1, value.as_ref())?;
    let number = mixed.b2a(&[bit])?;
    assert_eq!(num::open(mixed.session(), plain, &number)?[..], [1]);
    Ok(())
}

/// How a party stops when it sends its first message of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    Killed,
    Silent,
    TooShort,
    Garbage,
}

/// Every party asks for one refresh and answers two, and parties are stopped at each of these steps in each
/// way.
#[test]
fn whoever_stops_at_a_bootstrap_the_others_abort() {
    let stops = [Stop::Killed, Stop::Silent, Stop::TooShort, Stop::Garbage];
    let steps = ["divisi_bgv::refresh/refresh.ask", "divisi_bgv::refresh/refresh.answer"];
    let mut all = Vec::new();
    for form in [Form::LeanRing, Form::Paper] {
        let ring = in_runs(Operation::Bits, form, PARTIES, 1);
        assert_eq!(ring.parameters().bootstraps(), 1);
        let agreed = ring.parameters().describe(agreed());
        let harness = Harness::new(PARTIES, &agreed);
        let seen = harness.recordings();
        harness.act(|session| refreshed(session, &ring)).into_iter().for_each(|end| end.unwrap());
        for seen in seen {
            let sent = steps.map(|step| seen.of(MessageDirection::Out, step).len());
            assert_eq!(sent, [PARTIES - 1, PARTIES - 1], "{form:?}");
        }
        // by default each step is stopped once in each way, by the parties in turn
        for (at, step) in steps.into_iter().enumerate() {
            for (way, stop) in stops.into_iter().enumerate() {
                let one = 1 + ((at + way + usize::from(form == Form::Paper)) % PARTIES) as u8;
                let parties = repetitions(one..=one, 1..=3);
                all.extend(parties.map(|broken| (ring.clone(), agreed.clone(), party(broken), step, stop)));
            }
        }
    }
    many(all.len(), 12, |i| {
        let (ring, agreed, broken, step, stop) = &all[i];
        // only where a party is silent do the others wait for the limit
        let limit = if *stop == Stop::Silent { 3 * LIMIT } else { 10 * LIMIT };
        let harness = Harness::new(PARTIES, agreed).waiting(limit);
        let id = divisi_core::Step::new(step).id;
        let others: Vec<PartyId> = PartyId::all(PARTIES).filter(|to| to != broken).collect();
        let begun = Arc::new(AtomicBool::new(false));
        for to in &others {
            let own = (harness.tap(*broken), *broken, *stop);
            let taps: Vec<_> = others.iter().map(|other| (*other, harness.tap(*other))).collect();
            let begun = begun.clone();
            harness.hand(*broken, *to, move |mut frame| {
                let (tap, broken, stop) = &own;
                let first = frame.step == id && !begun.swap(true, Ordering::Relaxed);
                if first && *stop == Stop::Killed {
                    for (other, theirs) in &taps {
                        theirs.cut(*broken);
                        tap.cut(*other);
                    }
                }
                if begun.load(Ordering::Relaxed) {
                    match stop {
                        Stop::Killed | Stop::Silent => return vec![],
                        Stop::TooShort => frame.body.truncate(frame.body.len().saturating_sub(1)),
                        Stop::Garbage => {
                            frame.body.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(7) ^ 0xa5)
                        }
                    }
                }
                vec![frame]
            });
        }
        let ends = harness.act(|session| refreshed(session, ring));
        for (p, end) in PartyId::all(PARTIES).zip(&ends).filter(|(p, _)| p != broken) {
            let named = end.as_ref().is_err_and(|abort| abort.peer().is_some());
            assert!(named, "{p} after {stop:?} of {broken} at {step}: {end:?}");
        }
        // the first party to notice names the one that stopped, or a party that says that it waits for it
        let names = |abort: &Abort| match abort {
            Abort::Network(divisi_net::Fault::Stalled { claim: Some((of, _)), .. }) if of == broken => true,
            other => other.peer() == Some(*broken),
        };
        let blamed = ends.iter().any(|end| end.as_ref().is_err_and(names));
        assert!(blamed, "nobody names {broken} after {stop:?} at {step}: {ends:?}");
    });
}
