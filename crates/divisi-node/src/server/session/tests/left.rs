//! Clients that leave in the middle of a round.

use super::*;
use std::sync::atomic::AtomicBool;

/// A client leaves one server after that server has said what it has of a step: all three agreed on the step,
/// so that all three do it. What the request held is wiped at the end of the round.
#[test]
fn a_step_on_which_all_agreed_is_done_though_its_client_left() {
    let three = Three::asked_for_key();
    let meshes = meshes();
    let armed = Arc::new(AtomicBool::new(false));
    let (node, now) = (three.servers[1].node.clone(), armed.clone());
    change(&meshes[1], LEADER, &[VERDICT], move |_| {
        if now.swap(false, Ordering::SeqCst) {
            node.leave(&[1; 32]);
        }
    });
    let held = three.run_over(meshes, |i, state| {
        state.round(LEADER, &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, encrypt(2 * crate::CHUNK as u64));
        state.round(LEADER, &[step_of(2, 0)]).unwrap();
        // a sharing of zeros
        three.say(i, 1, ToServer::Data { number: 2, index: 0, body: Blob(vec![0; 2 * crate::CHUNK]) });
        if i == 1 {
            armed.store(true, Ordering::SeqCst);
        }
        state.round(LEADER, &[step_of(2, 1)]).unwrap();
        state.rep.trio().barrier().unwrap();
        state.in_progress.len()
    });
    assert!(!armed.load(Ordering::SeqCst));
    assert_eq!(held, [1, 0, 1]);
}
