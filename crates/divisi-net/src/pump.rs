//! The pump: pushes on what the kernel did not take while all strands compute.

use crate::fabric::{Fabric, Link, Out, PATIENCE};
use crate::link::sleep;
use crate::world::lock;
use rustix::event::PollFlags;
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// How long what the kernel did not take may lie before the pump takes care of it.
const STUCK: Duration = Duration::from_millis(1);

/// Wakes the thread that pushes on what the kernel did not take while all strands compute.
#[derive(Default)]
pub(crate) struct Pump {
    state: Mutex<Order>,
    bell: Condvar,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Order {
    #[default]
    Sleep,
    Work,
    End,
}

impl Pump {
    pub fn wake(&self) {
        let mut state = lock(&self.state);
        if *state == Order::Sleep {
            *state = Order::Work;
            self.bell.notify_all();
        }
    }

    pub fn end(&self) {
        *lock(&self.state) = Order::End;
        self.bell.notify_all();
    }

    fn is_ended(&self) -> bool {
        *lock(&self.state) == Order::End
    }

    /// The life of the pump's thread.
    pub fn run(pump: &Self, fabric: &Weak<Fabric>) {
        loop {
            let mut state = lock(&pump.state);
            while *state == Order::Sleep {
                state = pump.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if *state == Order::End {
                return;
            }
            state = pump.bell.wait_timeout(state, STUCK).unwrap_or_else(PoisonError::into_inner).0;
            if *state == Order::End {
                return;
            }
            *state = Order::Sleep;
            drop(state);
            let Some(fabric) = fabric.upgrade() else { return };
            while !pump.is_ended() && push(&fabric) {}
        }
    }
}

/// One turn over all links that hold something back; true if some still do.
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
