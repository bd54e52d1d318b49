//! Inputs are under components that never come again.

use crate::common::quick;
use divisi_rep3::adversary::harness::{MessageDirection, TrioHarness, party};
use divisi_symmetric::aes::KeySize;
use divisi_symphony::Priority;
use divisi_symphony::maestro::Maestro;
use std::collections::BTreeSet;

/// Of what an owner sends, no eight bytes come twice, in one component or in two.
#[test]
fn components_of_an_input_are_fresh_to_their_ends() {
    let harness = TrioHarness::default();
    let recording = harness.recordings().swap_remove(0);
    let ends = harness.act(|trio| {
        let own = (trio.me() == party(1)).then_some(&[[0; 16]; 300][..]);
        let aes = Maestro::new(KeySize::Aes128, Priority::LowLatency);
        let blocks = [(); 2].map(|()| own);
        let rep = &mut quick(trio);
        blocks.into_iter().try_for_each(|own| aes.input_block(rep, party(1), 300, own).map(drop))
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let sent = recording.of(MessageDirection::Out, "divisi_symphony::owner/input");
    // each of the others gets the component that both of them hold
    let components: BTreeSet<_> = sent.iter().map(|seen| seen.frame.body.to_vec()).collect();
    assert_eq!(components.len(), 2 * 3);
    let mut seen = BTreeSet::new();
    let parts = components.iter().flat_map(|component| component.as_chunks::<8>().0);
    parts.for_each(|part| assert!(seen.insert(*part), "{part:?} came twice"));
}
