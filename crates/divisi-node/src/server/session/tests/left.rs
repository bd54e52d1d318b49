//! Clients that leave in the middle of a round.

use super::*;
use divisi_net::Frame;
use divisi_net::tamper::Tap;
use std::sync::atomic::AtomicBool;

/// A client leaves one server after that server has said what it has of a step: all three agreed on the step,
/// so that all three do it. What the request held is wiped at the end of the round.
#[test]
fn a_step_on_which_all_agreed_is_done_though_its_client_left() {
    let three = Three::new(&(Arc::new(Machine) as Arc<dyn World>));
    let name: KeyName = "k".parse().unwrap();
    let new = new_key(&name);
    let (aad, way) = (Blob(Vec::new()), SboxChoice::DEFAULT);
    let encrypt = Item::Encrypt { key: name, aad, length: 2 * crate::CHUNK as u64, way };
    for i in 0..3 {
        three.enter(i, 1);
        three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
    }
    let meshes = memory::mesh(3);
    let armed = Arc::new(AtomicBool::new(false));
    let (node, now) = (three.servers[1].node.clone(), armed.clone());
    let verdict = Step::new("divisi_rep3::input/verdict").id;
    let leave = move |frame: Frame| {
        if frame.step == verdict && now.swap(false, Ordering::SeqCst) {
            node.leave(&[1; 32]);
        }
        vec![frame]
    };
    Tap::new(&meshes[1]).intercept(leader(), Box::new(leave)).unwrap();
    let held = three.run_over(meshes, |i, state| {
        state.round(leader(), &[offer(1)]).unwrap();
        three.ask_for(i, 1, 2, encrypt.clone());
        let next = Offer { number: 2, ..offer(1) };
        state.round(leader(), &[next]).unwrap();
        // a sharing of zeros
        let data = ToServer::Data { number: 2, index: 0, body: Blob(vec![0; 2 * crate::CHUNK]) };
        three.node(i).report(|schedule, now| schedule.receive(&[1; 32], data, 40, now)).unwrap();
        if i == 1 {
            armed.store(true, Ordering::SeqCst);
        }
        state.round(leader(), &[Offer { step: 1, ..next }]).unwrap();
        state.rep.trio().barrier().unwrap();
        state.in_progress.len()
    });
    assert!(!armed.load(Ordering::SeqCst));
    assert_eq!(held, [1, 0, 1]);
}
