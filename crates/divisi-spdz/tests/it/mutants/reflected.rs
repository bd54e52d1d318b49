//! Sigmas that are sent back to the party that they come from (1.4), by one party or by all but one.

use super::{LOOKUP, OPEN, flip, harness, two_layers_and, wrong};
use divisi_core::Check;
use divisi_core::testing::{MessageDirection, party};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// P_2 opens a wrong index, and sends P_1's own sigma back to it, with the nonce of P_2's commitment to its
/// own sigma. The sum of the two equal sigmas is zero.
pub fn by_one(check: Option<Check>) -> bool {
    among(2, check)
}

/// The same among three parties. P_3 is corrupt, too, and says that its own sigma is zero once the lie is
/// told.
pub fn by_two(check: Option<Check>) -> bool {
    among(3, check)
}

fn among(n: usize, check: Option<Check>) -> bool {
    let harness = harness(n, check);
    flip(&harness, LOOKUP);
    if n > 2 {
        let (lookup, open) = (divisi_core::Step::new(LOOKUP).id, divisi_core::Step::new(OPEN).id);
        let mut lied = false;
        harness.hand(party(3), party(1), move |mut frame| {
            lied |= frame.step == lookup;
            if lied && frame.step == open {
                frame.body[32..].fill(0);
            }
            vec![frame]
        });
    }
    let (recording, tap) = (harness.recording(party(2)), harness.tap(party(2)));
    let ids = [LOOKUP, OPEN].map(|step| divisi_core::Step::new(step).id);
    let (mut lookups, mut opened) = (0, 0);
    let waiting = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&waiting);
    let mut late: Option<std::thread::JoinHandle<bool>> = None;
    harness.hand(party(2), party(1), move |mut frame| {
        if frame.step == ids[0] {
            lookups += 1;
            if lookups == 1 {
                frame.body[0] ^= 1;
            }
        }
        opened += usize::from(frame.step == ids[1]);
        if frame.step != ids[1] || lookups == 0 {
            assert!(late.take().is_none_or(|late| late.join().unwrap()));
            return vec![frame];
        }
        // P_2 is rushing: its message follows P_1's, which the thread of P_2's session receives meanwhile
        let (tap, recording, busy, number) = (tap.clone(), recording.clone(), tap.busy(), opened);
        let count = Arc::clone(&count);
        count.fetch_add(1, Ordering::AcqRel);
        late = Some(std::thread::spawn(move || {
            let _busy = busy;
            let mut sent = false;
            for _ in 0..20_000 {
                if let Some(seen) = recording.bodies(MessageDirection::In, party(1), OPEN).get(number - 1) {
                    frame.body.truncate(32);
                    frame.body.extend_from_slice(&seen[32..]);
                    sent = tap.inject(party(1), &frame).is_ok();
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            count.fetch_sub(1, Ordering::AcqRel);
            sent
        }));
        vec![]
    });
    let ends = harness.act(|session| {
        let corrupt = session.me() != party(1);
        two_layers_and(session, || {
            // P_2's last message is still to be sent
            while corrupt && waiting.load(Ordering::Acquire) > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        })
    });
    wrong(&ends[..1])
}
