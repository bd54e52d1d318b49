//! What a client is charged for: the time that a server computes for it, and not the time that the server
//! waits for another one.

use super::*;
use divisi_net::Frame;
use divisi_net::tamper::Tap;

/// A short message, whose key is prepared for it, and a hash: server 3 stalls in the middle of the computing
/// of each, and no server charges the client for that.
#[test]
fn nothing_is_charged_for_waiting() {
    const STALL: Duration = Duration::from_millis(700);
    let three = Three::new(&(Arc::new(Machine) as Arc<dyn World>));
    let name: KeyName = "k".parse().unwrap();
    let new = new_key(&name);
    let (aad, way) = (Blob(Vec::new()), SboxChoice::DEFAULT);
    let encrypt = Item::Encrypt { key: name, aad, length: 0, way };
    let settings = divisi_symmetric::algorithm::Settings::new("sha256".parse().unwrap());
    let hash = Item::Hash { asked: (&settings).into(), length: 0 };
    for i in 0..3 {
        three.enter(i, 1);
        three.ask_for(i, 1, 1, Item::KeyNew(new.clone()));
    }
    let finish = |i: usize, number: u64| {
        let message = ToServer::Finish { number };
        three.node(i).report(|schedule, now| schedule.receive(&[1; 32], message, 8, now)).unwrap();
    };
    let meshes = memory::mesh(3);
    // in the first S-box or AND gate after it was armed
    let sbox = Step::new("divisi_rep3::sbox::gf4_circuit/outer").id;
    let and = Step::new("divisi_rep3::engine::boolean/products").id;
    let stalls = Arc::new(Mutex::new(0));
    let armed = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for peer in [1, 2] {
        let (armed, stalls) = (armed.clone(), stalls.clone());
        let stall = move |frame: Frame| {
            if [sbox, and].contains(&frame.step) && armed.swap(false, Ordering::SeqCst) {
                std::thread::sleep(STALL);
                *stalls.lock().unwrap() += 1;
            }
            vec![frame]
        };
        Tap::new(&meshes[2]).intercept(PartyId::new(peer).unwrap(), Box::new(stall)).unwrap();
    }
    let charged = three.run_over(meshes, |i, state| {
        let mut charged = Vec::new();
        let mut round = |number: u64, step: u64, stalls: bool| {
            if i == 2 && stalls {
                armed.store(true, Ordering::SeqCst);
            }
            let computed = || three.node(i).schedule(|schedule, _| schedule.computed("alice"));
            let (begun, before) = (Instant::now(), computed());
            state.round(leader(), &[Offer { number, step, ..offer(1) }]).unwrap();
            charged.push((computed() - before, begun.elapsed()));
        };
        round(1, 0, false);
        three.ask_for(i, 1, 2, encrypt.clone());
        finish(i, 2);
        round(2, 0, true);
        three.ask_for(i, 1, 3, hash.clone());
        round(3, 0, false);
        finish(i, 3);
        round(3, 1, true);
        charged
    });
    assert_eq!(*stalls.lock().unwrap(), 2);
    for steps in &charged {
        for (step, (computed, lasted)) in steps.iter().enumerate() {
            assert!(*computed < STALL / 2 && (*lasted >= STALL || ![1, 3].contains(&step)), "{charged:?}");
        }
        // what is computed is charged
        assert!(steps[1].0 > Duration::ZERO && steps[3].0 > Duration::ZERO, "{charged:?}");
    }
}
