//! What a client is charged for: the time that a server computes for it, and not the time that the server
//! waits for another one.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A short message, whose key is prepared for it, and a hash: server 3 stalls in the middle of the computing
/// of each, and no server charges the client for that.
#[test]
fn nothing_is_charged_for_waiting() {
    const STALL: Duration = Duration::from_millis(700);
    let three = Three::asked_for_key();
    let meshes = meshes();
    let (armed, stalls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    for peer in [PartyId::P1, PartyId::P2] {
        let (armed, stalls) = (armed.clone(), stalls.clone());
        // in the first S-box or AND gate after it was armed
        let steps = ["divisi_rep3::sbox::gf4_circuit/outer", "divisi_rep3::engine::boolean/products"];
        change(&meshes[2], peer, &steps, move |_| {
            if armed.swap(false, Ordering::SeqCst) {
                std::thread::sleep(STALL);
                stalls.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    let charged = three.run_over(meshes, |i, state| {
        let mut charged = Vec::new();
        let mut round = |number: u64, step: u64, stalls: bool| {
            if i == 2 && stalls {
                armed.store(true, Ordering::SeqCst);
            }
            let computed = || three.node(i).schedule(|schedule, _| schedule.computed("alice"));
            let (begun, before) = (Instant::now(), computed());
            state.round(LEADER, &[step_of(number, step)]).unwrap();
            charged.push((computed() - before, begun.elapsed()));
        };
        round(1, 0, false);
        three.ask_for(i, 1, 2, encrypt(0));
        three.say(i, 1, ToServer::Finish { number: 2 });
        round(2, 0, true);
        three.ask_for(i, 1, 3, sha256(0));
        round(3, 0, false);
        three.say(i, 1, ToServer::Finish { number: 3 });
        round(3, 1, true);
        charged
    });
    assert_eq!(stalls.load(Ordering::SeqCst), 2);
    for steps in &charged {
        for (step, (computed, lasted)) in steps.iter().enumerate() {
            assert!(*computed < STALL / 2 && (*lasted >= STALL || ![1, 3].contains(&step)), "{charged:?}");
        }
        // what is computed is charged
        assert!(steps[1].0 > Duration::ZERO && steps[3].0 > Duration::ZERO, "{charged:?}");
    }
}

/// What is computed before a request is refused is charged, too: of a short message, and of a step by itself.
#[test]
fn what_is_refused_after_computing_is_charged() {
    let three = Three::asked_for_key();
    let decrypt = |aad: usize| {
        let (aad, way) = (Blob(vec![0; aad]), SboxChoice::DEFAULT);
        Item::Decrypt { key: key(), aad, length: 0, iv: [0; 12], tag: [0; 16], way }
    };
    let charged = three.run(|i, state| {
        let computed = || three.node(i).schedule(|schedule, _| schedule.computed("alice"));
        state.round(LEADER, &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, decrypt(0));
        three.say(i, 1, ToServer::Finish { number: 2 });
        let mut times = vec![computed()];
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        times.push(computed());
        three.ask_for(i, 1, 3, decrypt(17_000));
        state.round(LEADER, &[step_of(3, 0)]).unwrap();
        three.say(i, 1, ToServer::Finish { number: 3 });
        times.push(computed());
        state.round(LEADER, &[step_of(3, 1)]).unwrap();
        times.push(computed());
        times
    });
    assert!(charged.iter().all(|times| times[1] > times[0] && times[3] > times[2]), "{charged:?}");
    for i in 0..3 {
        let refused: Vec<u64> = three.refusals(i, 1).iter().map(|(number, _)| *number).collect();
        assert_eq!(refused, [2, 3]);
    }
}
