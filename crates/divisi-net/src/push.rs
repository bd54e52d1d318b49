//! The pump: a thread that hands bytes which the kernel did not take at once to it, while all strands
//! compute.

use crate::fabric::{Fabric, Link, Out, PATIENCE, sleep};
use crate::pump::Pump;
use rustix::event::PollFlags;
use std::sync::Weak;

/// The life of the pump's thread.
pub(crate) fn run(pump: &Pump, fabric: &Weak<Fabric>) {
    while pump.wait() {
        let Some(fabric) = fabric.upgrade() else { return };
        while !pump.is_ended() && push(&fabric) {}
    }
}

/// One turn over all links that have queued bytes; true if some still have.
fn push(fabric: &Fabric) -> bool {
    let links = || {
        fabric.links().filter_map(|(_, link): (_, &Link)| match &link.out {
            Out::Tls(tls) if tls.is_pending() => Some(tls),
            _ => None,
        })
    };
    let stuck: Vec<_> = links().collect();
    let mut fds: Vec<_> = stuck.iter().map(|tls| tls.polled(PollFlags::OUT)).collect();
    if fds.is_empty() {
        return false;
    }
    sleep(&mut fds, PATIENCE);
    for tls in &stuck {
        tls.flush();
    }
    links().next().is_some()
}
