//! A party that stalls is named by all who wait for it, also by way of others.

use crate::parties::*;
use divisi_net::{Fault, Options, step};
use std::sync::Barrier;
use std::time::Duration;

/// The time limit of the one party that loses patience: by then the others wait, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Parties wait for each other in a chain, whose first one stalls. Whoever notices first, by its own limit or
/// by a peer's word, each names the first one.
#[test]
fn a_stalled_party_is_named_by_all() {
    let [memory, tls] = &mut both(4, &Options::default()).into_iter().collect::<Vec<_>>()[..] else {
        panic!("two kinds of meshes");
    };
    let cases = [(&*memory, 2), (&*memory, 3), (&*memory, 4), (&*tls, 4)];
    for (session, (meshes, impatient)) in (1..).zip(cases) {
        let (begun, ended) = (Barrier::new(3), Barrier::new(4));
        let faults = run(meshes, |m| {
            let c = m.open(session, 0).unwrap();
            m.set_timeout(if m.me() == p(impatient) { TIMEOUT } else { Options::default().timeout });
            let fault = (m.me() != p(1)).then(|| {
                begun.wait();
                let fault = c.recv(p(m.me().number() - 1), step!("one"), &mut [0]).unwrap_err();
                c.poison_after(&fault);
                fault
            });
            ended.wait();
            fault
        });
        for (me, fault) in (1..).zip(&faults).skip(1) {
            let fault = fault.as_ref().unwrap();
            assert_eq!(fault.blames(), Some(p(1)), "{impatient} loses patience; {me}: {fault}");
            assert_eq!(matches!(fault, Fault::Stalled { .. }), me == impatient, "{fault}");
            assert!(fault.to_string().contains(&p(1).to_string()), "{fault}");
        }
    }
}
