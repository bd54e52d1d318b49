//! Parties of authenticated garbling that stop, as real processes over TCP, in each of the four phases: the
//! others end with a clear abort, in time.

use super::proxies;

#[test]
fn whoever_stops_in_any_phase_the_others_abort_in_time() {
    // in the online phase P_1 says little; who garbles sends labels
    let victims = [(0, [0, 2, 1, 0]), (1, [1, 0, 2, 1]), (2, [2, 1, 0, 2]), (3, [1, 2, 1, 2])];
    proxies::whoever_stops_the_others_abort("garble", &victims);
}
