//! Curious parties that stop, as real processes over TCP, in set-up, preprocessing and online: the others end
//! with a clear abort, in time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod proxies;

#[test]
fn whoever_stops_in_any_phase_the_others_abort_in_time() {
    let victims = [(0, [0, 2, 1, 0]), (1, [1, 0, 2, 1]), (2, [2, 1, 0, 2])];
    proxies::whoever_stops_the_others_abort("mixed", &victims);
}
