//! A small circuit, and a rushing party.

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::{Harness, MessageDirection};
use divisi_core::{PartyId, Step};
use std::thread::JoinHandle;
use std::time::Duration;

/// The ANDs of the bits of two inputs of this width.
pub fn ands(width: usize) -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(width), g.input(width));
    let out: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&out);
    g.finish()
}

/// In these steps `liar` sends `to` what `copied` sent it: a rushing party, whose message is later.
pub fn copies(
    harness: &Harness,
    liar: PartyId,
    to: PartyId,
    copied: PartyId,
    steps: &'static [&'static str],
) {
    let (recording, tap) = (harness.recording(liar), harness.tap(liar));
    let mut late: Option<JoinHandle<bool>> = None;
    harness.hand(liar, to, move |mut frame| {
        let step = steps.iter().find(|step| frame.step == Step::new(step).id);
        let previous = late.take();
        let Some(step) = step else {
            // a party that has gone receives no more
            let _ = previous.map(JoinHandle::join);
            return vec![frame];
        };
        // the liar's own thread receives the other's message meanwhile
        let (recording, tap, busy) = (recording.clone(), tap.clone(), tap.busy());
        late = Some(std::thread::spawn(move || {
            let _busy = busy;
            let _ = previous.map(JoinHandle::join);
            for _ in 0..2000 {
                if let Some(body) = recording.bodies(MessageDirection::In, copied, step).into_iter().next() {
                    frame.body = body;
                    return tap.inject(to, &frame).is_ok();
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            false
        }));
        vec![]
    });
}
